/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory in quarantine: memory that a command with an unknown result has passed to the device. The
 * command timed out or has a malformed output, so the device may execute it later and access the
 * memory. So the memory stays pinned and mapped until the object that the command creates is
 * destroyed (hw/pending_creates.h), or DMA is off.
 */
#ifndef CXIB_VERBS_QUARANTINE_H
#define CXIB_VERBS_QUARANTINE_H

#include <linux/refcount.h>
#include <linux/types.h>

struct cxib_buffer;
struct cxib_dbr;
struct cxib_ibdev;
struct cxib_pinned;
struct ib_umem;

bool cxib_result_is_unknown(struct cxib_ibdev *ibdev, int err);
void cxib_release_umem(struct cxib_ibdev *ibdev, struct ib_umem *umem, int err);
void cxib_release_shared_umem(struct cxib_ibdev *ibdev, struct ib_umem *umem, refcount_t *users,
			      int err);
void cxib_release_pinned(struct cxib_ibdev *ibdev, struct cxib_pinned *pinned, int err);
void cxib_free_queue_memory(struct cxib_ibdev *ibdev, struct cxib_buffer *buffer,
			    struct cxib_dbr *dbr, int err);
void cxib_quarantine_end(struct cxib_ibdev *ibdev);

#endif
