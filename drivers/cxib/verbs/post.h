/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing requests into work queues. */
#ifndef CXIB_VERBS_POST_H
#define CXIB_VERBS_POST_H

struct cxib_qp;
struct hw_wqe_ctrl_seg;
struct ib_recv_wr;
struct ib_send_wr;

int cxib_build_send(struct cxib_qp *qp, const struct ib_send_wr *wr,
		    const struct hw_wqe_ctrl_seg **control);
int cxib_build_receive(struct cxib_qp *qp, const struct ib_recv_wr *wr);

#endif
