// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that change memory keys: the control segment for it fills the rest
 * of the first block, what the key shall be the second one.
 */
#include <kunit/visibility.h>

#include "hw/work_queue.h"
#include "verbs/qp/post.h"
#include "verbs/qp/qp.h"

#define ANY_QUEUE_PAIR	0xffffff
#define VARIANT_MASK	0xff

static __always_inline void fill_key(struct hw_mkey_seg *segment, const struct cxib_mr *mr,
				     u32 access, u32 key, u32 xlt_octowords)
{
	segment->dw[0] = hw_mkey_seg_pack_00(0, 0, 0, 0, 1, !!(access & IB_ACCESS_REMOTE_ATOMIC),
					     !!(access & IB_ACCESS_REMOTE_WRITE),
					     !!(access & IB_ACCESS_REMOTE_READ),
					     !!(access & IB_ACCESS_LOCAL_WRITE), 1,
					     mr->is_indirect ? HW_MKEY_ACCESS_MODE_KLMS :
							       HW_MKEY_ACCESS_MODE_MTT, 0);
	segment->dw[1] = hw_mkey_seg_pack_04(ANY_QUEUE_PAIR, key & VARIANT_MASK);
	segment->dw[2] = 0;
	segment->dw[3] = hw_mkey_seg_pack_0c(0, 0, 0, 0, 1, 0);
	hw_set_u64(&segment->dw[4], mr->ib.iova);
	hw_set_u64(&segment->dw[6], mr->ib.length);
	hw_set_u64(&segment->dw[8], 0);
	hw_set_u64(&segment->dw[10], 0);
	segment->dw[12] = 0;
	segment->dw[13] = hw_mkey_seg_pack_34(xlt_octowords);
	segment->dw[14] = hw_mkey_seg_pack_38(0, mr->log_page_size);
	segment->dw[15] = 0;
}

/* Words that were written before cannot be left as they are. */
static void fill_free_key(struct hw_mkey_seg *segment)
{
	size_t i;

	segment->dw[0] = hw_mkey_seg_pack_00(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	segment->dw[1] = 0;
	for (i = 2; i < ARRAY_SIZE(segment->dw); i += 2)
		hw_set_u64(&segment->dw[i], 0);
}

/**
 * cxib_registration_mask() - what IB_WR_REG_MR changes of an mkey
 * @caps: what the device can do
 *
 * Where UMR cannot change the atomic right, it is left out: the device would refuse every
 * registration. One that asks for that right has it in its mask, and is refused.
 *
 * Return: HW_MKEY_MASK_…
 */
u64 cxib_registration_mask(const struct cxib_device_caps *caps)
{
	const u64 mask = HW_MKEY_MASK_LEN | HW_MKEY_MASK_PAGE_SIZE | HW_MKEY_MASK_START_ADDR |
			 HW_MKEY_MASK_EN_RINVAL | HW_MKEY_MASK_KEY | HW_MKEY_MASK_LR |
			 HW_MKEY_MASK_LW | HW_MKEY_MASK_RR | HW_MKEY_MASK_RW |
			 HW_MKEY_MASK_SMALL_FENCE | HW_MKEY_MASK_FREE;

	return caps->umr_modify_atomic_disabled ? mask : mask | HW_MKEY_MASK_A;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_registration_mask);

/* @check: enum hw_umr_flags: what is demanded of the key */
static __always_inline u32 write_registration(struct cxib_qp *qp, const struct cxib_mr *mr,
					      u32 access, u32 key, u32 check,
					      struct hw_wqe_ctrl_seg *control)
{
	const u64 atomic = access & IB_ACCESS_REMOTE_ATOMIC ? HW_MKEY_MASK_A : 0;
	const u64 mask = qp->sq.key_mask | atomic;
	const u32 xlt_octowords = mr->xlt_octowords;
	u32 block = qp->sq.prod_index;
	void *at;

	hw_wqe_umr_ctrl_seg_pack((struct hw_wqe_umr_ctrl_seg *)(control + 1),
				 check, xlt_octowords, 0, mask, 0);
	at = cxib_sq_next_wqebb(qp, control, block + 1);
	fill_key(at, mr, access, key, xlt_octowords);
	at = cxib_sq_next_wqebb(qp, at, block + 2);
	hw_wqe_data_seg_pack(at, 0, xlt_octowords * CXIB_DS_SIZE, qp->ib.pd->local_dma_lkey,
			     mr->desc_map);
	return CXIB_REG_MR_DS;
}

/**
 * cxib_write_reg_mr() - what a request that registers memory consists of
 * @qp: queue pair; its send queue is locked
 * @wr: the request
 * @control: where it begins
 *
 * Return: octwords of the request.
 */
u32 cxib_write_reg_mr(struct cxib_qp *qp, const struct ib_reg_wr *wr,
		      struct hw_wqe_ctrl_seg *control)
{
	return write_registration(qp, to_mr(wr->mr), wr->access, wr->key,
				  HW_UMR_FLAGS_CHECK_NOT_FREE, control);
}

/**
 * cxib_write_klm_umr() - what a request that lists pieces of memory consists of
 * @qp: queue pair; its send queue is locked
 * @mr: with the list
 * @key: key that stands for all of them; it may be in use, but not by a transfer
 * @control: where it begins
 *
 * Only other keys refer to this one, so it allows what is done here.
 *
 * Return: octwords of the request.
 */
u32 cxib_write_klm_umr(struct cxib_qp *qp, const struct cxib_mr *mr, u32 key,
		       struct hw_wqe_ctrl_seg *control)
{
	return write_registration(qp, mr, IB_ACCESS_LOCAL_WRITE, key, 0, control);
}

/**
 * cxib_write_local_inv() - what a request that invalidates a key consists of
 * @qp: queue pair; its send queue is locked
 * @control: where it begins
 *
 * Return: octwords of the request.
 */
u32 cxib_write_local_inv(struct cxib_qp *qp, struct hw_wqe_ctrl_seg *control)
{
	hw_wqe_umr_ctrl_seg_pack((struct hw_wqe_umr_ctrl_seg *)(control + 1), HW_UMR_FLAGS_INLINE,
				 0, 0, HW_MKEY_MASK_FREE, 0);
	fill_free_key(cxib_sq_next_wqebb(qp, control, qp->sq.prod_index + 1));
	return CXIB_LOCAL_INV_DS;
}
