/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that a device was told of by a command whose end is unknown: it was not answered in
 * time, or with what makes no sense. The device may carry it out later, and use the memory.
 * So it stays pinned and mapped until what the command has made is destroyed (hw/creations.h),
 * or the device has lost its access to memory.
 */
#ifndef CXIB_VERBS_QUARANTINE_H
#define CXIB_VERBS_QUARANTINE_H

#include <linux/types.h>

struct cxib_buffer;
struct cxib_dbr;
struct cxib_ibdev;
struct ib_umem;

bool cxib_may_come_true(struct cxib_ibdev *ibdev, int err);
void cxib_release_umem(struct cxib_ibdev *ibdev, struct ib_umem *umem, int err);
void cxib_free_queue_memory(struct cxib_ibdev *ibdev, struct cxib_buffer *buffer,
			    struct cxib_dbr *record, int err);
void cxib_quarantine_end(struct cxib_ibdev *ibdev);

#endif
