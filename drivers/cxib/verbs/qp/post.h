/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing WQEs into work queues. */
#ifndef CXIB_VERBS_QP_POST_H
#define CXIB_VERBS_QP_POST_H

#include "hw/work_queue.h"
#include "verbs/qp/qp.h"

struct hw_bsf;

/* DS of UMR WQEs. */
#define CXIB_REG_MR_DS	9
#define CXIB_LOCAL_INV_DS	8

/*
 * Maximum WQEBBs of IB_WR_REG_MR_INTEGRITY: a UMR WQE for the KLMs, a UMR WQE for the
 * signature MR, and a SET_PSV WQE for each of its two PSVs.
 */
#define CXIB_SIG_REG_WQEBBS	(3 + 4 + 1 + 1)

/* @block is a WQEBB index that is not reduced to the size of the ring. */
static __always_inline void *cxib_sq_wqebb(const struct cxib_qp *qp, u32 block)
{
	size_t at = (size_t)(block & qp->sq.mask) << CXIB_LOG_WQEBB_SIZE;

	return cxib_buffer_at(&qp->buffer, qp->sq.offset + at);
}

/* Returns true if the device writes a CQE when the WQE that begins at @block succeeds. */
static __always_inline bool cxib_sq_is_signaled(const struct cxib_qp *qp, u32 block)
{
	return hw_wqe_ctrl_seg_get_ce(cxib_sq_wqebb(qp, block)) == HW_COMPLETION_MODE_CQ_UPDATE;
}

/* Returns the WQEBB after that at @at. The pages of the ring need not be contiguous. */
static __always_inline void *cxib_sq_next_wqebb(const struct cxib_qp *qp, void *at, u32 block)
{
	at += CXIB_WQEBB_SIZE;
	if (likely(block & qp->sq.mask && offset_in_page(at)))
		return at;
	return cxib_sq_wqebb(qp, block);
}

int cxib_build_send_wqe(struct cxib_qp *qp, const struct ib_send_wr *wr);
/* UMR WQEs: cxib_write_X() writes all but the control segment and returns the DS. */
u64 cxib_registration_mask(const struct cxib_device_caps *caps);
u32 cxib_write_reg_mr(struct cxib_qp *qp, const struct ib_reg_wr *wr,
		      struct hw_wqe_ctrl_seg *control);
u32 cxib_write_klm_umr(struct cxib_qp *qp, const struct cxib_mr *mr, u32 key,
		       struct hw_wqe_ctrl_seg *control);
u32 cxib_write_local_inv(struct cxib_qp *qp, struct hw_wqe_ctrl_seg *control);

/* WRs that need several WQEs. */
int cxib_begin_sig_reg(const struct cxib_qp *qp, const struct ib_reg_wr *wr, struct hw_bsf *bsf);
void cxib_undo_sig_reg(const struct ib_reg_wr *wr);
int cxib_build_sig_reg_wqes(struct cxib_qp *qp, const struct ib_reg_wr *wr);

/* Draining uses this with the SQ locked. */
bool cxib_post_nop(struct cxib_qp *qp);
void cxib_sq_ring_db(struct cxib_qp *qp);

/* Writes the data segments of a receive WQE, at most @max. Returns their total length. */
static __always_inline u64 cxib_write_scatter_list(struct hw_wqe_data_seg *segments,
						   unsigned int max, const struct ib_recv_wr *wr)
{
	unsigned int used = 0;
	u64 length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		/* The device takes a byte count of 0 for 2 GiB. */
		if (!sge->length)
			continue;
		length += sge->length;
		hw_wqe_data_seg_pack(&segments[used++], 0, sge->length, sge->lkey, sge->addr);
	}
	if (used < max)
		hw_wqe_data_seg_pack(&segments[used], 0, 0,
				     HW_SPECIAL_LKEY_TERMINATE_SCATTER_LIST, 0);
	return length;
}

int cxib_build_recv_wqe(struct cxib_qp *qp, const struct ib_recv_wr *wr);

#endif
