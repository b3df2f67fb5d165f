// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posting send WRs.
 *
 * A WQE consists of data segments (DS) of 16 bytes that are consecutive in the ring of
 * the SQ and wrap around at its end. A WQEBB, four DS, never crosses a page.
 */
#include <kunit/visibility.h>

#include "hw/doorbell.h"
#include "hw/work_queue.h"
#include "verbs/port/gsi.h"
#include "verbs/qp/pipelining.h"
#include "verbs/qp/post.h"
#include "verbs/qp/qp.h"

/* Inline data follows the word with its byte count. */
#define INLINE_HEADER	sizeof(struct hw_wqe_inline_seg)

/*
 * What a WQE contains between its control or datagram segment and its data segments, in order of
 * frequency.
 */
enum send_body {
	BODY_DATA,
	BODY_REMOTE,
	BODY_ATOMIC,
	BODY_REGISTRATION,
	BODY_INVALIDATION,
};

/* Content of the last word of the control segment. */
enum send_extra {
	EXTRA_NONE,
	EXTRA_IMMEDIATE,
	EXTRA_RKEY,
	EXTRA_KEY,
};

/*
 * Properties of a WR by enum ib_wr_opcode:
 * - opcode of the WQE, and of the completion;
 * - DS before the data segments on a connected QP;
 * - whether the WR has data to send, and whether its WQE is a UMR WQE;
 * - opmod, which is the operand size of a masked atomic.
 */
static const struct operation {
	u8 opcode;
	u8 completion;
	u8 ds;
	u8 body;
	u8 extra;
	bool has_data;
	bool changes_key;
	u8 opmod;
} __aligned(8) operations[] = {
	[IB_WR_RDMA_WRITE] = { HW_WQE_OPCODE_RDMA_WRITE, IB_WC_RDMA_WRITE, 2, BODY_REMOTE,
			       .has_data = true },
	[IB_WR_RDMA_WRITE_WITH_IMM] = { HW_WQE_OPCODE_RDMA_WRITE_IMM, IB_WC_RDMA_WRITE, 2,
					BODY_REMOTE, EXTRA_IMMEDIATE, .has_data = true },
	[IB_WR_SEND] = { HW_WQE_OPCODE_SEND, IB_WC_SEND, 1, .has_data = true },
	[IB_WR_SEND_WITH_IMM] = { HW_WQE_OPCODE_SEND_IMM, IB_WC_SEND, 1, BODY_DATA,
				  EXTRA_IMMEDIATE, .has_data = true },
	[IB_WR_RDMA_READ] = { HW_WQE_OPCODE_RDMA_READ, IB_WC_RDMA_READ, 2, BODY_REMOTE },
	[IB_WR_ATOMIC_CMP_AND_SWP] = { HW_WQE_OPCODE_ATOMIC_CS, IB_WC_COMP_SWAP, 3, BODY_ATOMIC },
	[IB_WR_ATOMIC_FETCH_AND_ADD] = { HW_WQE_OPCODE_ATOMIC_FA, IB_WC_FETCH_ADD, 3,
					 BODY_ATOMIC },
	[IB_WR_SEND_WITH_INV] = { HW_WQE_OPCODE_SEND_INVAL, IB_WC_SEND, 1, BODY_DATA, EXTRA_RKEY,
				  .has_data = true },
	[IB_WR_LOCAL_INV] = { HW_WQE_OPCODE_UMR, IB_WC_LOCAL_INV, CXIB_LOCAL_INV_DS,
			      BODY_INVALIDATION, EXTRA_RKEY, .changes_key = true },
	[IB_WR_MASKED_ATOMIC_CMP_AND_SWP] = { HW_WQE_OPCODE_ATOMIC_MASKED_CS,
					      IB_WC_MASKED_COMP_SWAP, 4, BODY_ATOMIC,
					      .opmod = HW_MASKED_ATOMIC_OPMOD_BYTES_8 },
	[IB_WR_MASKED_ATOMIC_FETCH_AND_ADD] = { HW_WQE_OPCODE_ATOMIC_MASKED_FA,
						IB_WC_MASKED_FETCH_ADD, 3, BODY_ATOMIC,
						.opmod = HW_MASKED_ATOMIC_OPMOD_BYTES_8 },
	[IB_WR_REG_MR] = { HW_WQE_OPCODE_UMR, IB_WC_REG_MR, CXIB_REG_MR_DS,
			   BODY_REGISTRATION, EXTRA_KEY, .changes_key = true },
};

static void *send_ds_at(const struct cxib_qp *qp, u32 ds)
{
	return cxib_sq_wqebb(qp, ds / CXIB_DS_PER_WQEBB) +
	       ds % CXIB_DS_PER_WQEBB * CXIB_DS_SIZE;
}

static __always_inline __be32 send_extra_word(const struct operation *operation,
					      const struct ib_send_wr *wr)
{
	if (likely(operation->extra == EXTRA_NONE))
		return 0;
	switch (operation->extra) {
	case EXTRA_IMMEDIATE:
		return wr->ex.imm_data;
	case EXTRA_RKEY:
		return hw_wqe_ctrl_seg_pack_0c(wr->ex.invalidate_rkey);
	default:
		return hw_wqe_ctrl_seg_pack_0c(reg_wr(wr)->key);
	}
}

/* @fence: fence mode that the WQE would have without IB_SEND_FENCE */
static noinline enum hw_fence_mode send_fence_for_reads(const struct cxib_sq *sq,
							enum hw_fence_mode fence)
{
	return fence == HW_FENCE_MODE_NONE && !sq->is_pipelined ? HW_FENCE_MODE_FENCE :
								  HW_FENCE_MODE_SMALL_AND_FENCE;
}

/* A WQE may use the mkey of a UMR WQE before it, so it waits until the mkey is updated. */
static __always_inline enum hw_fence_mode send_choose_fence(struct cxib_sq *sq,
							    const struct operation *operation,
							    const struct ib_send_wr *wr)
{
	enum hw_fence_mode fence = sq->next_fence;

	if (unlikely(operation->changes_key)) {
		sq->next_fence = HW_FENCE_MODE_INITIATOR_SMALL;
		return sq->umr_fence;
	}
	sq->next_fence = HW_FENCE_MODE_NONE;
	if (likely(!(wr->send_flags & IB_SEND_FENCE)))
		return fence;
	return send_fence_for_reads(sq, fence);
}

static __always_inline void send_write_control(struct cxib_qp *qp, struct hw_wqe_ctrl_seg *control,
					       const struct operation *operation,
					       const struct ib_send_wr *wr, u32 block, u32 ds)
{
	const u32 flags = wr->send_flags | qp->sq.flags;
	const bool signalled = flags & IB_SEND_SIGNALED;
	const u32 solicited = (flags & IB_SEND_SOLICITED) / IB_SEND_SOLICITED; /* 0 or 1 */
	enum hw_fence_mode fence = send_choose_fence(&qp->sq, operation, wr);

	control->dw[0] = hw_wqe_ctrl_seg_pack_00(operation->opmod, block & U16_MAX,
						 operation->opcode);
	control->dw[1] = hw_wqe_ctrl_seg_pack_04(qp->qpn, ds);
	control->dw[2] = hw_wqe_ctrl_seg_pack_08(0, fence,
						 signalled ? HW_COMPLETION_MODE_CQ_UPDATE :
							     HW_COMPLETION_MODE_ONLY_ERROR,
						 solicited);
	control->dw[3] = send_extra_word(operation, wr);
}

/*
 * Writes the data segments. @ds is the index of a DS in the WQE, and @at the address of this DS.
 * The pages of the ring need not be contiguous, so the function computes the address at each WQEBB.
 * It skips empty SGEs, because a byte count of 0 means 2 GiB. Returns the DS of the WQE.
 */
static __always_inline u32 send_write_data_segs(const struct cxib_qp *qp,
						const struct ib_send_wr *wr, void *at, u32 ds)
{
	const struct ib_sge *sge = wr->sg_list;
	int left = wr->num_sge;

	for (; left > 0; left--, sge++) {
		if (unlikely(!sge->length))
			continue;
		if (unlikely(ds % CXIB_DS_PER_WQEBB == 0))
			at = cxib_sq_wqebb(qp, qp->sq.prod_index +
						 ds / CXIB_DS_PER_WQEBB);
		hw_wqe_data_seg_pack(at, 0, sge->length, sge->lkey, sge->addr);
		at += CXIB_DS_SIZE;
		ds++;
	}
	return ds;
}

/* Copies an SGE DS by DS into the SQ, beginning @offset bytes after the DS @first. */
static size_t send_copy_inline(const struct cxib_qp *qp, u32 first, size_t offset,
			       const struct ib_sge *sge)
{
	const void *from = (const void *)(uintptr_t)sge->addr;
	size_t left = sge->length;

	while (left) {
		size_t within = offset & (CXIB_DS_SIZE - 1);
		size_t count = min(left, CXIB_DS_SIZE - within);

		memcpy(send_ds_at(qp, first + (offset >> CXIB_LOG_DS_SIZE)) + within, from,
		       count);
		from += count;
		offset += count;
		left -= count;
	}
	return offset;
}

static u32 send_write_inline(const struct cxib_qp *qp, const struct ib_send_wr *wr, u32 ds)
{
	u32 first = qp->sq.prod_index * CXIB_DS_PER_WQEBB + ds;
	struct hw_wqe_inline_seg *header = send_ds_at(qp, first);
	size_t offset = INLINE_HEADER;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		offset = send_copy_inline(qp, first, offset, &wr->sg_list[i]);
	if (offset == INLINE_HEADER)
		return ds;
	header->dw[0] = hw_wqe_inline_seg_pack_00(1, offset - INLINE_HEADER);
	return ds + DIV_ROUND_UP(offset, CXIB_DS_SIZE);
}

static __always_inline u32 send_write_data(const struct cxib_qp *qp, const struct ib_send_wr *wr,
					   void *at, u32 ds)
{
	if (unlikely(wr->send_flags & IB_SEND_INLINE))
		return send_write_inline(qp, wr, ds);
	return send_write_data_segs(qp, wr, at, ds);
}

static u32 send_inline_length(const struct ib_send_wr *wr)
{
	size_t length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	return min_t(size_t, length, U32_MAX);
}

/*
 * Returns the DS of the inline data of a WR; 0 if the data exceeds max_inline or the opcode takes
 * no inline data.
 */
static noinline u32 send_inline_ds(const struct cxib_qp *qp, const struct ib_send_wr *wr)
{
	u32 length = send_inline_length(wr);

	if (length > qp->sq.max_inline || !operations[wr->opcode].has_data)
		return 0;
	return DIV_ROUND_UP(INLINE_HEADER + length, CXIB_DS_SIZE);
}

/* Writes the AV of the AH with the Q_Key and the QPN of the WR. */
static noinline u32 send_write_datagram(struct cxib_qp *qp, const struct ib_send_wr *wr,
					struct hw_wqe_ctrl_seg *control)
{
	struct hw_wqe_datagram_seg *segment = (struct hw_wqe_datagram_seg *)(control + 1);
	struct hw_av *vector = hw_wqe_datagram_seg_av(segment);
	const struct ib_ud_wr *ud = ud_wr(wr);

	*vector = to_ah(ud->ah)->vector;
	vector->dw[0] = hw_av_pack_00(ud->remote_qkey);
	vector->dw[2] = hw_av_pack_08(1, ud->remote_qpn);
	return send_write_data(qp, wr, control, CXIB_DS_PER_WQEBB);
}

static noinline u32 send_write_atomic(struct cxib_qp *qp, const struct ib_send_wr *wr,
				      struct hw_wqe_ctrl_seg *control)
{
	const struct ib_atomic_wr *atomic = atomic_wr(wr);
	struct hw_wqe_raddr_seg *remote = (struct hw_wqe_raddr_seg *)(control + 1);
	void *operands = remote + 1;

	hw_wqe_raddr_seg_pack(remote, atomic->remote_addr, atomic->rkey);
	switch (wr->opcode) {
	case IB_WR_ATOMIC_CMP_AND_SWP:
		hw_wqe_atomic_seg_pack(operands, atomic->swap, atomic->compare_add);
		return send_write_data_segs(qp, wr, operands + CXIB_DS_SIZE, 3);
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		hw_wqe_atomic_seg_pack(operands, atomic->compare_add, 0);
		return send_write_data_segs(qp, wr, operands + CXIB_DS_SIZE, 3);
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
		hw_wqe_masked_atomic_seg_pack(operands, atomic->swap, atomic->compare_add,
					      atomic->swap_mask, atomic->compare_add_mask);
		return send_write_data_segs(qp, wr, NULL, 4);
	default:
		hw_wqe_masked_fetch_add_seg_pack(operands, atomic->compare_add,
						 atomic->compare_add_mask);
		return send_write_data_segs(qp, wr, operands + CXIB_DS_SIZE, 3);
	}
}

/*
 * Control segment, remote address and operands are in the first WQEBB, so they do not wrap around.
 */
static __always_inline u32 send_write_connected(struct cxib_qp *qp,
						const struct operation *operation,
						const struct ib_send_wr *wr,
						struct hw_wqe_ctrl_seg *control)
{
	void *at = control + 1;
	u32 ds = 1;

	if (likely(operation->body <= BODY_REMOTE)) {
		if (operation->body == BODY_REMOTE) {
			hw_wqe_raddr_seg_pack(at, rdma_wr(wr)->remote_addr, rdma_wr(wr)->rkey);
			at += CXIB_DS_SIZE;
			ds++;
		}
		return send_write_data(qp, wr, at, ds);
	}
	switch (operation->body) {
	case BODY_REGISTRATION:
		return cxib_write_reg_mr(qp, reg_wr(wr), control);
	case BODY_INVALIDATION:
		return cxib_write_local_inv(qp, control);
	default:
		return send_write_atomic(qp, wr, control);
	}
}

/*
 * The SQ entries must be written before prod_index covers them. Only the entry of the
 * first WQEBB of a WQE has a block count.
 */
static __always_inline void send_remember(struct cxib_qp *qp, const struct operation *operation,
					  const struct ib_send_wr *wr, u32 first, u32 blocks)
{
	struct cxib_sq *sq = &qp->sq;
	u32 i;

	for (i = 1; i < blocks; i++)
		sq->entries[(first + i) & sq->mask].blocks = 0;
	sq->entries[first & sq->mask] = (struct cxib_sq_entry){
		.wr_id = wr->wr_id,
		.blocks = blocks,
		.opcode = operation->completion,
	};
	/* Pairs with cqe_retire_send(). */
	smp_store_release(&sq->prod_index, first + blocks);
}

/*
 * Reads cons_index again after prod_index has reached prod_limit. Returns false if the SQ is full.
 */
static noinline bool send_make_room(struct cxib_qp *qp, u32 end)
{
	struct cxib_sq *sq = &qp->sq;

	/* Pairs with cqe_retire_send(): poll_cq has read the entries before cons_index moved. */
	sq->prod_limit = smp_load_acquire(&sq->cons_index) + sq->mask + 1;
	return (s32)(end - sq->prod_limit) <= 0;
}

/* Builds WQEs of opcodes that are not in opcode_mask. */
static noinline int send_build_other(struct cxib_qp *qp, const struct ib_send_wr *wr)
{
	if (!qp->has_sq)
		return -EINVAL;
	if (wr->opcode == IB_WR_REG_MR_INTEGRITY && qp->ib.integrity_en)
		return cxib_build_sig_reg_wqes(qp, reg_wr(wr));
	return -EOPNOTSUPP;
}

static __always_inline int send_build(struct cxib_qp *qp, const struct ib_send_wr *wr)
{
	struct cxib_sq *sq = &qp->sq;
	const u32 first = sq->prod_index;
	const struct operation *operation;
	struct hw_wqe_ctrl_seg *control;
	u32 ds, end;

	/* With a single condition, gcc would not emit a bit test, but three more instructions. */
	if (unlikely(wr->opcode >= ARRAY_SIZE(operations)))
		return send_build_other(qp, wr);
	if (unlikely(!(sq->opcode_mask & BIT_ULL(wr->opcode))))
		return send_build_other(qp, wr);
	operation = &operations[wr->opcode];
	ds = wr->num_sge;
	if (unlikely(ds > sq->max_sge))
		return -EINVAL;
	if (unlikely(wr->send_flags & IB_SEND_INLINE)) {
		ds = send_inline_ds(qp, wr);
		if (!ds)
			return -EINVAL;
	}
	ds += sq->av_ds + operation->ds;
	end = first + DIV_ROUND_UP(ds, CXIB_DS_PER_WQEBB);
	if (unlikely((s32)(end - sq->prod_limit) > 0) && !send_make_room(qp, end))
		return -ENOMEM;

	control = cxib_sq_wqebb(qp, first);
	if (unlikely(sq->av_ds))
		ds = send_write_datagram(qp, wr, control);
	else
		ds = send_write_connected(qp, operation, wr, control);
	send_write_control(qp, control, operation, wr, first, ds);
	send_remember(qp, operation, wr, first, DIV_ROUND_UP(ds, CXIB_DS_PER_WQEBB));
	sq->last = control;
	return 0;
}

/**
 * cxib_build_send_wqe() - write a send WR into the SQ
 * @qp: QP; its SQ is locked
 * @wr: send WR
 *
 * Return: 0, or
 *	-EOPNOTSUPP if the QP does not support the opcode,
 *	-EINVAL if the QP has no SQ, num_sge exceeds max_send_sge, the inline data exceeds
 *	max_inline_data, or the opcode takes no inline data; also as cxib_build_sig_reg_wqes(),
 *	-ENOMEM if the SQ is full.
 */
int cxib_build_send_wqe(struct cxib_qp *qp, const struct ib_send_wr *wr)
{
	return send_build(qp, wr);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_build_send_wqe);

/**
 * cxib_sq_ring_db() - ring the SQ doorbell if WQEs were posted after the last doorbell
 * @qp: QP; its SQ is locked
 *
 * The doorbell value is the first two words of the control segment of the last WQE.
 */
void cxib_sq_ring_db(struct cxib_qp *qp)
{
	const struct hw_wqe_ctrl_seg *last = qp->sq.last;
	union cxib_doorbell doorbell;

	if (unlikely(!last))
		return;
	doorbell.words[0] = last->dw[0];
	doorbell.words[1] = last->dw[1];
	qp->sq.last = NULL;
	/* The WQEs must be written before the doorbell record. */
	dma_wmb();
	WRITE_ONCE(qp->dbr.words[CXIB_SND_DBR], cpu_to_be32(qp->sq.prod_index & U16_MAX));
	cxib_doorbell_ring(qp->sq.doorbell, doorbell);
}

/**
 * cxib_post_nop() - post a signaled NOP WQE
 * @qp: QP; its SQ is locked
 *
 * poll_cq consumes its CQE without reporting it.
 *
 * Return: false if the SQ is full.
 */
bool cxib_post_nop(struct cxib_qp *qp)
{
	struct cxib_sq *sq = &qp->sq;
	struct hw_wqe_ctrl_seg *control;

	lockdep_assert_held(&sq->lock);

	/* Pairs with cqe_retire_send(): poll_cq has read the entry before cons_index moved. */
	if (sq->prod_index - smp_load_acquire(&sq->cons_index) > sq->mask)
		return false;
	control = cxib_sq_wqebb(qp, sq->prod_index);
	control->dw[0] = hw_wqe_ctrl_seg_pack_00(0, sq->prod_index & U16_MAX, HW_WQE_OPCODE_NOP);
	control->dw[1] = hw_wqe_ctrl_seg_pack_04(qp->qpn, 1);
	control->dw[2] = hw_wqe_ctrl_seg_pack_08(0, HW_FENCE_MODE_NONE,
						 HW_COMPLETION_MODE_CQ_UPDATE, 0);
	control->dw[3] = 0;
	sq->entries[sq->prod_index & sq->mask] = (struct cxib_sq_entry){
		.blocks = 1,
		.opcode = CXIB_WC_NOP,
	};
	/* Pairs with cqe_retire_send(). */
	smp_store_release(&sq->prod_index, sq->prod_index + 1);
	sq->last = control;
	cxib_sq_ring_db(qp);
	return true;
}

/* The builder is inlined in cxib_post_send(); the other callers call it. */
static __always_inline int send_post(struct cxib_qp *qp, const struct ib_send_wr *wr,
				     const struct ib_send_wr **bad,
				     int (*builder)(struct cxib_qp *, const struct ib_send_wr *))
{
	struct cxib_sq *sq = &qp->sq;
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&sq->lock, flags);
	for (; wr; wr = wr->next) {
		err = builder(qp, wr);
		if (unlikely(err)) {
			*bad = wr;
			break;
		}
	}
	if (likely(!(sq->state & CXIB_SQ_HELD)))
		cxib_sq_ring_db(qp);
	spin_unlock_irqrestore(&sq->lock, flags);
	if (cxib_verbs_dma_off(to_ibdev(qp->ib.device)))
		cxib_flush_later(to_ibdev(qp->ib.device));
	return err;
}

/**
 * cxib_qp_post_send() - post to the SQ of a QP, even if it is the GSI QP
 * @qp: QP
 * @wr: list of send WRs
 * @bad: set to the first WR that was not posted
 *
 * Return: 0; -EINVAL if the QP is not in RTS or a later state, or has no SQ;
 * otherwise as cxib_build_send_wqe().
 */
int cxib_qp_post_send(struct cxib_qp *qp, const struct ib_send_wr *wr,
		      const struct ib_send_wr **bad)
{
	if (READ_ONCE(qp->state) < IB_QPS_RTS) {
		*bad = wr;
		return -EINVAL;
	}
	return send_post(qp, wr, bad, cxib_build_send_wqe);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_qp_post_send);

static struct cxib_qp *send_find_tx_qp(const struct cxib_gsi *gsi, u16 pkey_index)
{
	lockdep_assert_held(&gsi->lock);

	return pkey_index == gsi->pkey_index ? gsi->qp : gsi->tx_qps[pkey_index];
}

static int send_post_mad(struct cxib_gsi *gsi, const struct ib_ud_wr *wr)
{
	const struct ib_send_wr *bad;
	struct cxib_qp *tx_qp;
	unsigned long flags;
	int err = -EAGAIN;

	if (wr->pkey_index >= gsi->count)
		return -EINVAL;
	spin_lock_irqsave(&gsi->lock, flags);
	tx_qp = send_find_tx_qp(gsi, wr->pkey_index);
	if (tx_qp)
		err = cxib_qp_post_send(tx_qp, &wr->wr, &bad);
	spin_unlock_irqrestore(&gsi->lock, flags);
	return err;
}

/*
 * Posts each MAD to the QP of its P_Key. Returns -EINVAL if the port has no such P_Key index;
 * -EAGAIN if there is no send QP, because the P_Key is invalid or has only just become valid.
 */
static int send_post_mads(struct cxib_qp *qp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad)
{
	int err = 0;

	for (; wr && !err; wr = wr->next) {
		struct ib_ud_wr single = *ud_wr(wr);

		single.wr.next = NULL;
		err = send_post_mad(qp->gsi, &single);
		if (err)
			*bad = wr;
	}
	return err;
}

/*
 * Maximum number of WQEBBs that cxib_build_send_wqe() takes for a WR, or an error as it returns;
 * integrity MRs are not checked.
 */
static int send_count_wqebbs(const struct cxib_qp *qp, const struct ib_send_wr *wr)
{
	u32 ds = wr->num_sge;

	if (!qp->has_sq)
		return -EINVAL;
	if (wr->opcode == IB_WR_REG_MR_INTEGRITY && qp->ib.integrity_en)
		return CXIB_SIG_REG_WQEBBS;
	if (wr->opcode >= ARRAY_SIZE(operations) || !(qp->sq.opcode_mask & BIT_ULL(wr->opcode)))
		return -EOPNOTSUPP;
	if (ds > qp->sq.max_sge)
		return -EINVAL;
	if (wr->send_flags & IB_SEND_INLINE) {
		ds = send_inline_ds(qp, wr);
		if (!ds)
			return -EINVAL;
	}
	ds += qp->sq.av_ds + operations[wr->opcode].ds;
	return DIV_ROUND_UP(ds, CXIB_DS_PER_WQEBB);
}

/* @space: WQEBBs that are free */
static int send_prepare_wr(const struct cxib_qp *qp, const struct ib_send_wr *wr, u32 *space)
{
	int blocks = send_count_wqebbs(qp, wr);
	struct hw_bsf bsf;

	if (blocks < 0)
		return blocks;
	if (blocks > *space)
		return -ENOMEM;
	if (cxib_qp_transfers_failed_mr(qp, wr))
		return -EINVAL;
	*space -= blocks;
	return wr->opcode == IB_WR_REG_MR_INTEGRITY ? cxib_begin_sig_reg(qp, reg_wr(wr), &bsf) : 0;
}

static void send_undo_prepare(const struct ib_send_wr *wr, const struct ib_send_wr *end)
{
	for (; wr != end; wr = wr->next)
		if (wr->opcode == IB_WR_REG_MR_INTEGRITY)
			cxib_undo_sig_reg(reg_wr(wr));
}

/* Checks all that may prevent a list of WRs from being posted, and notes the registrations. */
static int send_prepare_all(const struct cxib_qp *qp, const struct ib_send_wr *wr)
{
	const struct cxib_sq *sq = &qp->sq;
	/* Pairs with cqe_retire_send(): poll_cq has read the entries before cons_index moved. */
	u32 space = smp_load_acquire(&sq->cons_index) + sq->mask + 1 - sq->prod_index;
	const struct ib_send_wr *at;
	int err;

	for (at = wr; at; at = at->next) {
		err = send_prepare_wr(qp, at, &space);
		if (err) {
			send_undo_prepare(wr, at);
			return err;
		}
	}
	return 0;
}

/*
 * Posts all WRs or none: a ULP that got the response of a posted transfer refused, and posted it
 * later, would send it after the signature error of the transfer was handled.
 */
static int send_build_all(struct cxib_qp *qp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad)
{
	int err = send_prepare_all(qp, wr);

	for (; wr && !err; wr = wr->next) {
		*bad = wr;
		err = cxib_build_send_wqe(qp, wr);
	}
	return err;
}

static int send_post_pipelined(struct cxib_qp *qp, const struct ib_send_wr *wr,
			       const struct ib_send_wr **bad)
{
	int err = cxib_qp_is_manual(qp) ? 0 : cxib_qp_check_send_wrs(qp, wr);

	*bad = wr;
	if (err || READ_ONCE(qp->state) < IB_QPS_RTS)
		return err ?: -EINVAL;
	scoped_guard(spinlock_irqsave, &qp->sq.lock) {
		err = send_build_all(qp, wr, bad);
		if (!(qp->sq.state & CXIB_SQ_HELD) && !qp->pipelining->num_pauses)
			cxib_sq_ring_db(qp);
	}
	if (cxib_verbs_dma_off(to_ibdev(qp->ib.device)))
		cxib_flush_later(to_ibdev(qp->ib.device));
	return err;
}

static noinline int send_post_closed(struct cxib_qp *qp, const struct ib_send_wr *wr,
				     const struct ib_send_wr **bad)
{
	if (qp->sq.is_pipelined)
		return send_post_pipelined(qp, wr, bad);
	return qp->gsi ? send_post_mads(qp, wr, bad) : cxib_qp_post_send(qp, wr, bad);
}

int cxib_post_send(struct ib_qp *ib, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	struct cxib_qp *qp = to_qp(ib);

	if (unlikely(!READ_ONCE(qp->sq.can_post)))
		return send_post_closed(qp, wr, bad);
	return send_post(qp, wr, bad, send_build);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_post_send);
