// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registration of an integrity MR: up to four WQEs for one WR of the ULP. Only the last
 * one is signaled.
 */
#include <linux/spinlock.h>

#include "hw/work_queue.h"
#include "verbs/qp/post.h"
#include "verbs/signature/integrity.h"

#define ANY_QP	0xffffff
#define VARIANT_MASK	0xff

/* WQEBBs of the UMR WQE of the MR. */
#define KEY_BLOCK	1
#define RANGES_BLOCK	2
#define BSF_BLOCK	3
#define UMR_BSF_DS	16

#define SET_PSV_DS	2

/* Entries of a strided block: the data, the metadata. */
#define STRIDED_ENTRIES	2

/**
 * struct sig_wqe_sub_wqe - one of the WQEs of the WR
 * @opcode: enum hw_wqe_opcode
 * @fence: fence mode
 * @ds: length
 * @key: mkey that it modifies; 0: none
 */
struct sig_wqe_sub_wqe {
	enum hw_wqe_opcode opcode;
	enum hw_fence_mode fence;
	u32 ds;
	u32 key;
};

/* Unsignaled: a CQE is written on error only. */
static void sig_wqe_write_control(struct cxib_qp *qp, const struct sig_wqe_sub_wqe *wqe)
{
	struct hw_wqe_ctrl_seg *control = cxib_sq_wqebb(qp, qp->sq.prod_index);

	control->dw[0] = hw_wqe_ctrl_seg_pack_00(0, qp->sq.prod_index & U16_MAX, wqe->opcode);
	control->dw[1] = hw_wqe_ctrl_seg_pack_04(qp->qpn, wqe->ds);
	control->dw[2] = hw_wqe_ctrl_seg_pack_08(0, wqe->fence, HW_COMPLETION_MODE_ONLY_ERROR, 0);
	control->dw[3] = hw_wqe_ctrl_seg_pack_0c(wqe->key);
}

/* sq->entries are written before prod_index makes them visible to poll_cq. */
static void sig_wqe_finish(struct cxib_qp *qp, const struct sig_wqe_sub_wqe *wqe, u64 wr_id,
			   u8 completion)
{
	struct cxib_sq *sq = &qp->sq;
	u32 blocks = DIV_ROUND_UP(wqe->ds, CXIB_DS_PER_WQEBB);
	u32 i;

	sig_wqe_write_control(qp, wqe);
	for (i = 1; i < blocks; i++)
		sq->entries[(sq->prod_index + i) & sq->mask].blocks = 0;
	sq->entries[sq->prod_index & sq->mask] = (struct cxib_sq_entry){
		.wr_id = wr_id,
		.blocks = blocks,
		.opcode = completion,
	};
	/* Pairs with cxib_retire_send_wqe(). */
	smp_store_release(&sq->prod_index, sq->prod_index + blocks);
}

static void sig_wqe_register_klms(struct cxib_qp *qp, const struct cxib_sig_mr *mr, u64 wr_id)
{
	struct sig_wqe_sub_wqe wqe = {
		.opcode = HW_WQE_OPCODE_UMR,
		.fence = qp->sq.umr_fence,
		.key = mr->klm_mkey,
	};

	wqe.ds = cxib_write_klm_umr(qp, &mr->mr, mr->klm_mkey,
				    cxib_sq_wqebb(qp, qp->sq.prod_index));
	sig_wqe_finish(qp, &wqe, wr_id, CXIB_WC_SUB_WQE);
}

/* Length of the MR in the memory domain. */
static u32 sig_wqe_length_in_memory(const struct cxib_sig_mr *mr)
{
	if (mr->mr.ib.sig_attrs->mem.sig_type == IB_SIG_TYPE_NONE)
		return mr->data.length;
	return mr->data.length + mr->metadata.length;
}

static void sig_wqe_fill_key(struct hw_mkey_seg *segment, const struct cxib_sig_mr *mr,
			     const struct ib_reg_wr *wr)
{
	const u32 access = wr->access;

	segment->dw[0] = hw_mkey_seg_pack_00(0, 0, 0, 0, 1, 0, !!(access & IB_ACCESS_REMOTE_WRITE),
					     !!(access & IB_ACCESS_REMOTE_READ),
					     !!(access & IB_ACCESS_LOCAL_WRITE), 1,
					     HW_MKEY_ACCESS_MODE_KLMS, 0);
	segment->dw[1] = hw_mkey_seg_pack_04(ANY_QP, wr->key & VARIANT_MASK);
	segment->dw[2] = 0;
	segment->dw[3] = hw_mkey_seg_pack_0c(0, 1, 0, mr->sigerr_count, 1, 0);
	hw_mkey_seg_set_start_addr(segment, mr->mr.ib.iova);
	hw_mkey_seg_set_len(segment, sig_wqe_length_in_memory(mr));
	segment->dw[8] = hw_mkey_seg_pack_20(sizeof(struct hw_bsf) / CXIB_DS_SIZE);
	segment->dw[9] = 0;
	hw_set_u64(&segment->dw[10], 0);
	segment->dw[12] = 0;
	segment->dw[13] = hw_mkey_seg_pack_34(CXIB_DS_PER_WQEBB);
	segment->dw[14] = hw_mkey_seg_pack_38(0, 0);
	segment->dw[15] = 0;
}

/* In memory, the metadata of each block follows it, wherever it is stored. */
static void sig_wqe_fill_strided_block(void *ranges, const struct cxib_sig_mr *mr)
{
	const u32 interval = mr->mr.ib.sig_attrs->mem.sig.dif.pi_interval;
	struct hw_stride_block_ctrl_seg *header = ranges;
	struct hw_stride_block_entry *entry = ranges + sizeof(*header);

	hw_stride_block_ctrl_seg_pack(header, interval + CXIB_DIF_SIZE, HW_STRIDE_BLOCK_OP_REPEAT,
				      mr->data.length / interval, STRIDED_ENTRIES);
	hw_stride_block_entry_pack(&entry[0], interval, interval, mr->data.key, mr->data.address);
	hw_stride_block_entry_pack(&entry[1], CXIB_DIF_SIZE, CXIB_DIF_SIZE, mr->metadata.key,
				   mr->metadata.address);
}

static void sig_wqe_fill_ranges(void *ranges, const struct cxib_sig_mr *mr)
{
	memset(ranges, 0, CXIB_WQEBB_SIZE);
	if (sig_wqe_length_in_memory(mr) != mr->data.length)
		sig_wqe_fill_strided_block(ranges, mr);
	else
		hw_klm_pack(ranges, mr->data.length, mr->data.key, mr->data.address);
}

/* The WQE needs klm_mkey registered, and earlier WQEs must have stopped using the mkey. */
static enum hw_fence_mode sig_wqe_mr_fence(const struct cxib_sq *sq)
{
	return sq->umr_fence == HW_FENCE_MODE_NONE ? HW_FENCE_MODE_INITIATOR_SMALL :
							sq->umr_fence;
}

static void sig_wqe_register_mr(struct cxib_qp *qp, const struct cxib_sig_mr *mr,
				const struct ib_reg_wr *wr, const struct hw_bsf *bsf)
{
	const u64 mask = HW_MKEY_MASK_LEN | HW_MKEY_MASK_PAGE_SIZE | HW_MKEY_MASK_START_ADDR |
			 HW_MKEY_MASK_EN_RINVAL | HW_MKEY_MASK_EN_SIGERR | HW_MKEY_MASK_BSF_EN |
			 HW_MKEY_MASK_KEY | HW_MKEY_MASK_LR | HW_MKEY_MASK_LW | HW_MKEY_MASK_RR |
			 HW_MKEY_MASK_RW | HW_MKEY_MASK_SMALL_FENCE | HW_MKEY_MASK_FREE;
	const struct sig_wqe_sub_wqe wqe = {
		.opcode = HW_WQE_OPCODE_UMR,
		.fence = sig_wqe_mr_fence(&qp->sq),
		.ds = UMR_BSF_DS,
		.key = wr->key,
	};
	const u32 first = qp->sq.prod_index;
	struct hw_wqe_ctrl_seg *control = cxib_sq_wqebb(qp, first);

	/* Without TRANSLATION_OFFSET_EN the field of the offset is the length of the BSF. */
	hw_wqe_umr_ctrl_seg_pack((struct hw_wqe_umr_ctrl_seg *)(control + 1),
				 HW_UMR_FLAGS_INLINE | HW_UMR_FLAGS_CHECK_NOT_FREE,
				 CXIB_DS_PER_WQEBB, sizeof(*bsf) / CXIB_DS_SIZE, mask, 0);
	sig_wqe_fill_key(cxib_sq_wqebb(qp, first + KEY_BLOCK), mr, wr);
	sig_wqe_fill_ranges(cxib_sq_wqebb(qp, first + RANGES_BLOCK), mr);
	memcpy(cxib_sq_wqebb(qp, first + BSF_BLOCK), bsf, sizeof(*bsf));
	sig_wqe_finish(qp, &wqe, wr->wr.wr_id, CXIB_WC_SUB_WQE);
}

/* Sets the seed of the first block. */
static void sig_wqe_set_psv(struct cxib_qp *qp, u32 psv, const struct ib_sig_domain *domain,
			    u64 wr_id, u8 completion)
{
	const struct sig_wqe_sub_wqe wqe = {
		.opcode = HW_WQE_OPCODE_SET_PSV,
		.fence = HW_FENCE_MODE_INITIATOR_SMALL,
		.ds = SET_PSV_DS,
	};
	struct hw_wqe_ctrl_seg *control = cxib_sq_wqebb(qp, qp->sq.prod_index);
	const struct ib_t10_dif_domain *dif = &domain->sig.dif;
	u32 signature = 0, tag = 0;

	if (domain->sig_type == IB_SIG_TYPE_T10_DIF) {
		signature = (u32)dif->bg << 16 | dif->app_tag;
		tag = dif->ref_tag;
	}
	hw_seg_set_psv_pack((struct hw_seg_set_psv *)(control + 1), psv, 0, 0, signature,
			    tag);
	sig_wqe_finish(qp, &wqe, wr_id, completion);
}

/* Only the last WQE of the WR is reported to the ULP. */
static void sig_wqe_set_completion(struct cxib_qp *qp, const struct ib_send_wr *wr,
				   struct hw_wqe_ctrl_seg *control)
{
	const u32 flags = wr->send_flags | qp->sq.flags;

	if (flags & IB_SEND_SIGNALED)
		hw_wqe_ctrl_seg_set_ce(control, HW_COMPLETION_MODE_CQ_UPDATE);
	if (flags & IB_SEND_SOLICITED)
		hw_wqe_ctrl_seg_set_se(control, 1);
}

static void sig_wqe_write_wqes(struct cxib_qp *qp, const struct cxib_sig_mr *mr,
			       const struct ib_reg_wr *wr, const struct hw_bsf *bsf)
{
	const struct ib_sig_attrs *attrs = mr->mr.ib.sig_attrs;
	const u64 wr_id = wr->wr.wr_id;
	struct hw_wqe_ctrl_seg *last;

	if (mr->mr.ndescs)
		sig_wqe_register_klms(qp, mr, wr_id);
	sig_wqe_register_mr(qp, mr, wr, bsf);
	sig_wqe_set_psv(qp, mr->memory_psv, &attrs->mem, wr_id, CXIB_WC_SUB_WQE);
	last = cxib_sq_wqebb(qp, qp->sq.prod_index);
	sig_wqe_set_psv(qp, mr->wire_psv, &attrs->wire, wr_id, IB_WC_REG_MR);
	sig_wqe_set_completion(qp, &wr->wr, last);
	qp->sq.last = last;
	qp->sq.next_fence = HW_FENCE_MODE_INITIATOR_SMALL;
}

static bool sig_wqe_has_space(const struct cxib_sq *sq)
{
	u32 end = sq->prod_index + CXIB_SIG_REG_WQEBBS;

	/* Pairs with the release of poll_cq, which has read the entries before. */
	return end - smp_load_acquire(&sq->cons_index) <= sq->mask + 1;
}

static int sig_wqe_check_wr(const struct ib_reg_wr *wr)
{
	const int mask = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;

	return wr->mr->type != IB_MR_TYPE_INTEGRITY || wr->wr.num_sge || wr->access & ~mask ?
	       -EINVAL : 0;
}

static int sig_wqe_note_registration(const struct cxib_qp *qp, struct cxib_sig_mr *mr)
{
	int err = 0;

	spin_lock(&mr->lock);
	if (mr->is_unreliable) {
		err = -EIO;
	} else if (mr->is_unchecked) {
		/* With a pending error the expected number is wrong: new errors would be lost. */
		err = -EINVAL;
	} else {
		mr->is_unchecked = true;
		mr->had_failed = mr->has_failed;
		mr->has_failed = false;
		mr->cqn = cxib_send_cq(qp)->cqn;
		mr->qpn = qp->qpn;
	}
	spin_unlock(&mr->lock);
	return err;
}

/**
 * cxib_begin_sig_reg() - check IB_WR_REG_MR_INTEGRITY, and note that the MR is registered
 * @qp: QP; sq.lock is held
 * @wr: the WR
 * @bsf: filled
 *
 * Return: as cxib_build_sig_reg_wqes(); without -ENOMEM.
 */
int cxib_begin_sig_reg(const struct cxib_qp *qp, const struct ib_reg_wr *wr, struct hw_bsf *bsf)
{
	int err;

	lockdep_assert_held(&qp->sq.lock);

	err = sig_wqe_check_wr(wr);
	if (!err)
		err = cxib_fill_bsf(bsf, to_sig_mr(wr->mr));
	return err ?: sig_wqe_note_registration(qp, to_sig_mr(wr->mr));
}

/**
 * cxib_undo_sig_reg() - undo cxib_begin_sig_reg(): the WR is not posted
 * @wr: the WR
 */
void cxib_undo_sig_reg(const struct ib_reg_wr *wr)
{
	struct cxib_sig_mr *mr = to_sig_mr(wr->mr);

	spin_lock(&mr->lock);
	/* A signature error meanwhile was reported twice, because the ULP had checked the MR. */
	mr->is_unreliable |= mr->has_failed;
	mr->has_failed |= mr->had_failed;
	mr->is_unchecked = false;
	spin_unlock(&mr->lock);
}

/**
 * cxib_build_sig_reg_wqes() - build the WQEs of IB_WR_REG_MR_INTEGRITY
 * @qp: QP with IB_QP_CREATE_INTEGRITY_EN; sq.lock is held
 * @wr: the WR; with signature pipelining cxib_begin_sig_reg() was called for it
 *
 * Return: 0;
 *	-EINVAL for an MR of another type, for access other than local write, remote
 *	read and remote write, for sig_attrs or metadata that cxib_fill_bsf() rejects,
 *	and if the ULP has not checked the status since the last registration,
 *	-EIO if signature errors of the MR may be lost,
 *	-ENOMEM if the SQ is full.
 */
int cxib_build_sig_reg_wqes(struct cxib_qp *qp, const struct ib_reg_wr *wr)
{
	struct cxib_sig_mr *mr = to_sig_mr(wr->mr);
	struct hw_bsf bsf;
	int err;

	lockdep_assert_held(&qp->sq.lock);

	if (!sig_wqe_has_space(&qp->sq))
		return -ENOMEM;
	err = qp->sq.is_pipelined ? cxib_fill_bsf(&bsf, mr) : cxib_begin_sig_reg(qp, wr, &bsf);
	if (err)
		return err;
	scoped_guard(spinlock, &mr->lock)
		sig_wqe_write_wqes(qp, mr, wr, &bsf);
	return 0;
}
