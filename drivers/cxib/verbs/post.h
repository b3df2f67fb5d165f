/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing requests into work queues. */
#ifndef CXIB_VERBS_POST_H
#define CXIB_VERBS_POST_H

#include <linux/types.h>

struct cxib_qp;
struct hw_wqe_ctrl_seg;
struct ib_recv_wr;
struct ib_reg_wr;
struct ib_send_wr;

/* Octwords of requests that change memory keys. */
#define CXIB_REGISTRATION_OCTWORDS	9
#define CXIB_INVALIDATION_OCTWORDS	8

int cxib_build_send(struct cxib_qp *qp, const struct ib_send_wr *wr,
		    const struct hw_wqe_ctrl_seg **control);
/* How the body of a request is written; return its octwords. */
u32 cxib_write_datagram(struct cxib_qp *qp, const struct ib_send_wr *wr);
u32 cxib_write_connected(struct cxib_qp *qp, const struct ib_send_wr *wr);
u32 cxib_write_registration(struct cxib_qp *qp, const struct ib_reg_wr *wr);
u32 cxib_write_invalidation(struct cxib_qp *qp);
void *cxib_send_octword(const struct cxib_qp *qp, u32 octword);

/* For draining; the send queue is locked. */
bool cxib_post_mark(struct cxib_qp *qp);
void cxib_ring_sends(struct cxib_qp *qp, const struct hw_wqe_ctrl_seg *control);

int cxib_build_receive(struct cxib_qp *qp, const struct ib_recv_wr *wr);

#endif
