/* SPDX-License-Identifier: GPL-2.0-only */
/* XRC domains (XRCDs), and the objects that all XRC QPs share. */
#ifndef CXIB_VERBS_XRC_XRC_H
#define CXIB_VERBS_XRC_XRC_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "hw/buffer.h"
#include "hw/dbr.h"

struct cxib_ibdev;

/**
 * struct cxib_xrc - objects that fill mandatory fields of XRC QP contexts
 * @lock: protects the members below
 * @ready: the objects exist; the driver creates them for the first XRC QP
 * @pd: PDN of XRC_TGT QPs
 * @xrcd: XRCDN of XRC_INI QPs
 * @cqn: CQN of the placeholder CQ, which receives no CQEs
 * @srqn: SRQN of the placeholder SRQ in @xrcd, which receives no packets
 * @buffer: memory of both queues
 * @dbrs: doorbell records of the queues
 */
struct cxib_xrc {
	struct mutex lock; /* creation of the objects below */
	bool ready;
	u32 pd;
	u32 xrcd;
	u32 cqn;
	u32 srqn;
	struct cxib_buffer buffer;
	struct cxib_dbr dbrs[2];
};

/**
 * struct cxib_xrcd - an XRC domain
 * @ib: the RDMA core's XRCD
 * @xrcdn: XRCDN
 */
struct cxib_xrcd {
	struct ib_xrcd ib;
	u32 xrcdn;
};

static inline struct cxib_xrcd *to_xrcd(struct ib_xrcd *ib)
{
	return container_of(ib, struct cxib_xrcd, ib);
}

int cxib_alloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata);
int cxib_dealloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata);
int cxib_xrc_init(struct cxib_ibdev *ibdev);
void cxib_xrc_destroy(struct cxib_ibdev *ibdev);

#endif
