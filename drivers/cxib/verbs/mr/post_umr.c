// SPDX-License-Identifier: GPL-2.0-only
/*
 * WQEs that modify mkeys. The UMR control segment fills the rest of the first WQEBB, and the mkey
 * segment fills the second WQEBB.
 */
#include <kunit/visibility.h>

#include "hw/work_queue.h"
#include "verbs/qp/post.h"
#include "verbs/qp/qp.h"

#define ANY_QP	0xffffff
#define VARIANT_MASK	0xff

static __always_inline void umr_wqe_fill_key(struct hw_mkey_seg *segment, const struct cxib_mr *mr,
					     u32 access, u32 key, u32 xlt_octowords)
{
	segment->dw[0] = hw_mkey_seg_pack_00(0, 0, 0, 0, 1, !!(access & IB_ACCESS_REMOTE_ATOMIC),
					     !!(access & IB_ACCESS_REMOTE_WRITE),
					     !!(access & IB_ACCESS_REMOTE_READ),
					     !!(access & IB_ACCESS_LOCAL_WRITE), 1,
					     mr->is_indirect ? HW_MKEY_ACCESS_MODE_KLMS :
							       HW_MKEY_ACCESS_MODE_MTT, 0);
	segment->dw[1] = hw_mkey_seg_pack_04(ANY_QP, key & VARIANT_MASK);
	segment->dw[2] = 0;
	segment->dw[3] = hw_mkey_seg_pack_0c(0, 0, 0, 0, 1, 0);
	hw_mkey_seg_set_start_addr(segment, mr->ib.iova);
	hw_mkey_seg_set_len(segment, mr->ib.length);
	hw_set_u64(&segment->dw[8], 0);
	hw_set_u64(&segment->dw[10], 0);
	segment->dw[12] = 0;
	segment->dw[13] = hw_mkey_seg_pack_34(xlt_octowords);
	segment->dw[14] = hw_mkey_seg_pack_38(0, mr->log_page_size);
	segment->dw[15] = 0;
}

/* The WQEBB contains an old WQE, so the function writes all words. */
static void umr_wqe_fill_free_key(struct hw_mkey_seg *segment)
{
	size_t i;

	segment->dw[0] = hw_mkey_seg_pack_00(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	segment->dw[1] = 0;
	for (i = 2; i < ARRAY_SIZE(segment->dw); i += 2)
		hw_set_u64(&segment->dw[i], 0);
}

/**
 * cxib_registration_mask() - mkey fields that IB_WR_REG_MR modifies
 * @caps: device capabilities
 *
 * If UMR cannot modify the atomic right, the mask omits it; otherwise the device would reject every
 * registration. A WR that requests the right adds it to its mask, and the device rejects this WR
 * only.
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

/* @check: enum hw_umr_flags: the free state that the mkey must have */
static __always_inline u32 umr_wqe_write_registration(struct cxib_qp *qp, const struct cxib_mr *mr,
						      u32 access, u32 key, u32 check,
						      struct hw_wqe_ctrl_seg *control)
{
	const u64 atomic = access & IB_ACCESS_REMOTE_ATOMIC ? HW_MKEY_MASK_A : 0;
	const u64 mask = qp->sq.key_mask | atomic;
	const u32 xlt_octowords = mr->xlt_octowords;
	u32 wqebb = qp->sq.prod_index;
	void *seg;

	hw_wqe_umr_ctrl_seg_pack((struct hw_wqe_umr_ctrl_seg *)(control + 1),
				 check, xlt_octowords, 0, mask, 0);
	seg = cxib_sq_next_wqebb(qp, control, wqebb + 1);
	umr_wqe_fill_key(seg, mr, access, key, xlt_octowords);
	seg = cxib_sq_next_wqebb(qp, seg, wqebb + 2);
	hw_wqe_data_seg_pack(seg, 0, xlt_octowords * CXIB_DS_SIZE, qp->ib.pd->local_dma_lkey,
			     mr->desc_map);
	return CXIB_REG_MR_DS;
}

/**
 * cxib_write_reg_mr() - build the WQE of IB_WR_REG_MR
 * @qp: QP; sq.lock is held
 * @wr: the WR
 * @control: control segment of the WQE
 *
 * Return: DS of the WQE.
 */
u32 cxib_write_reg_mr(struct cxib_qp *qp, const struct ib_reg_wr *wr,
		      struct hw_wqe_ctrl_seg *control)
{
	return umr_wqe_write_registration(qp, to_mr(wr->mr), wr->access, wr->key,
					  HW_UMR_FLAGS_CHECK_NOT_FREE, control);
}

/**
 * cxib_write_klm_umr() - build a UMR WQE that replaces the KLMs of an mkey
 * @qp: QP; sq.lock is held
 * @mr: MR with the KLM list
 * @key: mkey, possibly valid, that no transfer uses
 * @control: control segment of the WQE
 *
 * The mkey gets only local write access, because only other mkeys refer to it.
 *
 * Return: DS of the WQE.
 */
u32 cxib_write_klm_umr(struct cxib_qp *qp, const struct cxib_mr *mr, u32 key,
		       struct hw_wqe_ctrl_seg *control)
{
	return umr_wqe_write_registration(qp, mr, IB_ACCESS_LOCAL_WRITE, key, 0, control);
}

/**
 * cxib_write_local_inv() - build the WQE of IB_WR_LOCAL_INV
 * @qp: QP; sq.lock is held
 * @control: control segment of the WQE
 *
 * Return: DS of the WQE.
 */
u32 cxib_write_local_inv(struct cxib_qp *qp, struct hw_wqe_ctrl_seg *control)
{
	hw_wqe_umr_ctrl_seg_pack((struct hw_wqe_umr_ctrl_seg *)(control + 1), HW_UMR_FLAGS_INLINE,
				 0, 0, HW_MKEY_MASK_FREE, 0);
	umr_wqe_fill_free_key(cxib_sq_next_wqebb(qp, control, qp->sq.prod_index + 1));
	return CXIB_LOCAL_INV_DS;
}
