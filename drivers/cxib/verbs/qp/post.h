/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing requests into work queues. */
#ifndef CXIB_VERBS_QP_POST_H
#define CXIB_VERBS_QP_POST_H

#include "hw/work_queue.h"
#include "verbs/qp/qp.h"

/* Octwords of requests that change memory keys. */
#define CXIB_REG_MR_DS	9
#define CXIB_LOCAL_INV_DS	8

/*
 * Blocks that the registration of a region with signatures takes at most: for the
 * pieces, for the region, and for the state of its two signatures.
 */
#define CXIB_SIG_REG_WQEBBS	(3 + 4 + 1 + 1)

/* A block of the send queue, counted on when the ring begins anew. */
static __always_inline void *cxib_sq_wqebb(const struct cxib_qp *qp, u32 block)
{
	size_t at = (size_t)(block & qp->sq.mask) << CXIB_LOG_WQEBB_SIZE;

	return cxib_buffer_at(&qp->buffer, qp->sq.offset + at);
}

/* Where a block is that follows one at @at: mostly behind it. */
static __always_inline void *cxib_sq_next_wqebb(const struct cxib_qp *qp, void *at, u32 block)
{
	at += CXIB_WQEBB_SIZE;
	if (likely(block & qp->sq.mask && offset_in_page(at)))
		return at;
	return cxib_sq_wqebb(qp, block);
}

int cxib_build_send_wqe(struct cxib_qp *qp, const struct ib_send_wr *wr);
/* Requests that change memory keys: all but the control segment. Return their octwords. */
u64 cxib_registration_mask(const struct cxib_device_caps *caps);
u32 cxib_write_reg_mr(struct cxib_qp *qp, const struct ib_reg_wr *wr,
		      struct hw_wqe_ctrl_seg *control);
u32 cxib_write_klm_umr(struct cxib_qp *qp, const struct cxib_mr *mr, u32 key,
		       struct hw_wqe_ctrl_seg *control);
u32 cxib_write_local_inv(struct cxib_qp *qp, struct hw_wqe_ctrl_seg *control);

/* Requests that are several for the device. */
int cxib_build_sig_reg_wqes(struct cxib_qp *qp, const struct ib_reg_wr *wr);

/* For draining; the send queue is locked. */
bool cxib_post_nop(struct cxib_qp *qp);
void cxib_sq_ring_db(struct cxib_qp *qp);

/* Data segments of a request to receive; there is room for @max. Returns their bytes. */
static __always_inline u64 cxib_write_scatter_list(struct hw_wqe_data_seg *segments,
						   unsigned int max, const struct ib_recv_wr *wr)
{
	unsigned int used = 0;
	u64 room = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		/* An entry of no bytes would mean 2 GiB. */
		if (!sge->length)
			continue;
		room += sge->length;
		hw_wqe_data_seg_pack(&segments[used++], 0, sge->length, sge->lkey, sge->addr);
	}
	if (used < max)
		hw_wqe_data_seg_pack(&segments[used], 0, 0,
				     HW_SPECIAL_LKEY_TERMINATE_SCATTER_LIST, 0);
	return room;
}

int cxib_build_recv_wqe(struct cxib_qp *qp, const struct ib_recv_wr *wr);

#endif
