// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that change memory keys: the control segment for it fills the rest
 * of the first block, what the key shall be the second one.
 */
#include "hw/work_queue.h"
#include "verbs/post.h"
#include "verbs/qp.h"

#define ANY_QUEUE_PAIR	0xffffff
#define VARIANT_MASK	0xff

/* Lists of translations are read in such units. */
#define LIST_UNIT	64

#define KEY_SEGMENT	4
#define LIST_SEGMENT	8

static void fill_access(struct hw_mkey_seg *segment, int access)
{
	hw_mkey_seg_set_lr(segment, 1);
	hw_mkey_seg_set_lw(segment, !!(access & IB_ACCESS_LOCAL_WRITE));
	hw_mkey_seg_set_rr(segment, !!(access & IB_ACCESS_REMOTE_READ));
	hw_mkey_seg_set_rw(segment, !!(access & IB_ACCESS_REMOTE_WRITE));
	hw_mkey_seg_set_a(segment, !!(access & IB_ACCESS_REMOTE_ATOMIC));
	hw_mkey_seg_set_umr_en(segment, 1);
}

static void fill_key(struct hw_mkey_seg *segment, const struct cxib_mr *mr,
		     const struct ib_reg_wr *wr, u32 octwords)
{
	*segment = (struct hw_mkey_seg){};
	fill_access(segment, wr->access);
	hw_mkey_seg_set_access_mode_1_0(segment, mr->is_indirect ? HW_MKEY_ACCESS_MODE_KLMS :
								   HW_MKEY_ACCESS_MODE_MTT);
	segment->dw[1] = hw_mkey_seg_pack_04(ANY_QUEUE_PAIR, wr->key & VARIANT_MASK);
	hw_mkey_seg_set_en_rinval(segment, 1);
	hw_mkey_seg_set_start_addr(segment, mr->ib.iova);
	hw_mkey_seg_set_len(segment, mr->ib.length);
	segment->dw[13] = hw_mkey_seg_pack_34(octwords);
	hw_mkey_seg_set_log_page_size(segment, ilog2(mr->ib.page_size));
}

/**
 * cxib_write_registration() - what a request that registers memory consists of
 * @qp: queue pair; its send queue is locked
 * @wr: the request
 *
 * Return: octwords of the request.
 */
u32 cxib_write_registration(struct cxib_qp *qp, const struct ib_reg_wr *wr)
{
	const u64 mask = HW_MKEY_MASK_LEN | HW_MKEY_MASK_PAGE_SIZE | HW_MKEY_MASK_START_ADDR |
			 HW_MKEY_MASK_EN_RINVAL | HW_MKEY_MASK_KEY | HW_MKEY_MASK_LR |
			 HW_MKEY_MASK_LW | HW_MKEY_MASK_RR | HW_MKEY_MASK_RW |
			 HW_MKEY_MASK_SMALL_FENCE | HW_MKEY_MASK_FREE | HW_MKEY_MASK_A;
	u32 first = qp->sends.produced * CXIB_OCTWORDS_IN_BLOCK;
	const struct cxib_mr *mr = to_mr(wr->mr);
	size_t length = ALIGN(mr->entry_count * mr->entry_size, LIST_UNIT);
	u32 octwords = length / CXIB_OCTWORD;

	hw_wqe_umr_ctrl_seg_pack(cxib_send_octword(qp, first + 1), HW_UMR_FLAGS_CHECK_NOT_FREE,
				 octwords, 0, mask, 0);
	fill_key(cxib_send_octword(qp, first + KEY_SEGMENT), mr, wr, octwords);
	hw_wqe_data_seg_pack(cxib_send_octword(qp, first + LIST_SEGMENT), 0, length,
			     qp->ib.pd->local_dma_lkey, mr->list_dma);
	return CXIB_REGISTRATION_OCTWORDS;
}

/**
 * cxib_write_invalidation() - what a request that invalidates a key consists of
 * @qp: queue pair; its send queue is locked
 *
 * Return: octwords of the request.
 */
u32 cxib_write_invalidation(struct cxib_qp *qp)
{
	u32 first = qp->sends.produced * CXIB_OCTWORDS_IN_BLOCK;
	struct hw_mkey_seg *segment = cxib_send_octword(qp, first + KEY_SEGMENT);

	hw_wqe_umr_ctrl_seg_pack(cxib_send_octword(qp, first + 1), HW_UMR_FLAGS_INLINE, 0, 0,
				 HW_MKEY_MASK_FREE, 0);
	*segment = (struct hw_mkey_seg){};
	hw_mkey_seg_set_free(segment, 1);
	return CXIB_INVALIDATION_OCTWORDS;
}
