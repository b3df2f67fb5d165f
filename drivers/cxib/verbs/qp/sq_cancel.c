// SPDX-License-Identifier: GPL-2.0-only
/*
 * WQEs of an SQ that the device has stopped: the one that it resumes at, and those that are
 * cancelled, which become NOPs.
 *
 * Indices are those of struct cxib_sq, not reduced to the size of the ring nor to the 16 bits
 * that the device has of them. The lock of the SQ is held, so no WQE between cons_index and
 * prod_index is overwritten.
 */
#include <kunit/visibility.h>

#include "hw/work_queue.h"
#include "verbs/qp/pipelining.h"
#include "verbs/qp/post.h"

/* An mkey is its index and a variant of 8 bits, which each registration may change. */
#define KEY_VARIANT	GENMASK(7, 0)

static struct cxib_sq_entry *sq_entry_at(const struct cxib_qp *qp, u32 at)
{
	return &qp->sq.entries[at & qp->sq.mask];
}

/* WQEBBs of the WQE at @at, of those before @end; 0: no WQE begins there. */
static u32 sq_blocks_at(const struct cxib_qp *qp, u32 at, u32 end)
{
	u32 blocks = sq_entry_at(qp, at)->blocks;

	return blocks <= end - at ? blocks : 0;
}

/**
 * cxib_sq_find_resume() - convert the device's counter of started WQEBBs
 * @qp: QP whose SQ the device has stopped; the SQ is locked
 * @counter: hw_sq_wqebb_counter of the QP context, untrusted
 * @consumed: cons_index before the QP was queried
 * @resume: set to the index of the first WQE that the device has not started
 *
 * Return: 0; -EIO if no outstanding WQE begins at @counter, nor does the next one to be posted;
 * -ENOTCONN if the WQE at @counter was completed meanwhile: the device flushes, because the QP is
 * in ERR.
 */
int cxib_sq_find_resume(const struct cxib_qp *qp, u16 counter, u32 consumed, u32 *resume)
{
	const struct cxib_sq *sq = &qp->sq;
	u32 waiting = (u16)(sq->prod_index - counter);
	/* Pairs with cqe_retire_send(): the entries were read before cons_index moved. */
	u32 outstanding = sq->prod_index - smp_load_acquire(&sq->cons_index);

	lockdep_assert_held(&sq->lock);

	if (waiting > sq->prod_index - consumed)
		return -EIO;
	if (waiting > outstanding)
		return -ENOTCONN;
	*resume = sq->prod_index - waiting;
	return waiting && !sq_entry_at(qp, *resume)->blocks ? -EIO : 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_sq_find_resume);

static bool sq_is_cancelled(const struct cxib_sq_entry *entry)
{
	return entry->opcode >= CXIB_WC_CANCELLED && entry->opcode < CXIB_WC_SUB_WQE;
}

/* A registration or invalidation that the ULP relies on, of one WQE or several. */
static bool sq_changes_key(const struct cxib_sq_entry *entry)
{
	return entry->opcode == IB_WC_REG_MR || entry->opcode == IB_WC_LOCAL_INV ||
	       entry->opcode == CXIB_WC_SUB_WQE;
}

/* Only the opcode changes: a WQE of several WQEBBs becomes a NOP of this length. */
static void sq_cancel_at(struct cxib_qp *qp, u32 at)
{
	struct hw_wqe_ctrl_seg *control = cxib_sq_wqebb(qp, at);
	struct cxib_sq_entry *entry = sq_entry_at(qp, at);

	control->dw[0] = hw_wqe_ctrl_seg_pack_00(0, at & U16_MAX, HW_WQE_OPCODE_NOP);
	entry->opcode |= CXIB_WC_CANCELLED;
}

/**
 * cxib_sq_cancel() - cancel the WRs of a wr_id
 * @qp: QP whose SQ the device has stopped; the SQ is locked
 * @from: index of the first WQE that the device has not started
 * @wr_id: wr_id of the WRs; those that are cancelled already do not count
 *
 * Return: their number; -EOPNOTSUPP if one of them changes an mkey: then none is cancelled;
 * -ENOTCONN if the WQE at @from was completed: a stopped device completes none, so the QP is in
 * ERR.
 */
int cxib_sq_cancel(struct cxib_qp *qp, u32 from, u64 wr_id)
{
	const u32 end = qp->sq.prod_index;
	int cancelled = 0;
	u32 at, blocks;

	lockdep_assert_held(&qp->sq.lock);

	/* Pairs with cqe_retire_send(). */
	if ((s32)(smp_load_acquire(&qp->sq.cons_index) - from) > 0)
		return -ENOTCONN;
	for (at = from; at != end; at += blocks) {
		blocks = sq_blocks_at(qp, at, end);
		if (!blocks)
			return -ENOTCONN;
		if (sq_entry_at(qp, at)->wr_id == wr_id && sq_changes_key(sq_entry_at(qp, at)))
			return -EOPNOTSUPP;
	}
	for (at = from; at != end; at += sq_entry_at(qp, at)->blocks) {
		const struct cxib_sq_entry *entry = sq_entry_at(qp, at);

		if (entry->wr_id != wr_id || entry->opcode >= CXIB_WC_CANCELLED)
			continue;
		sq_cancel_at(qp, at);
		cancelled++;
	}
	return cancelled;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_sq_cancel);

/* DS before the data segments of a WQE that transfers data; 0: it has none. */
static u32 sq_first_data_ds(u32 opcode)
{
	switch (opcode) {
	case HW_WQE_OPCODE_RDMA_WRITE:
	case HW_WQE_OPCODE_RDMA_WRITE_IMM:
	case HW_WQE_OPCODE_RDMA_READ:
		return 2;
	case HW_WQE_OPCODE_SEND:
	case HW_WQE_OPCODE_SEND_IMM:
	case HW_WQE_OPCODE_SEND_INVAL:
		return 1;
	default:
		return 0;
	}
}

/* Inline data, which may look like any mkey, are of a WQE that has nothing else. */
static bool sq_transfers(const struct cxib_qp *qp, u32 at, u32 key)
{
	const struct hw_wqe_ctrl_seg *control = cxib_sq_wqebb(qp, at);
	u32 ds = sq_first_data_ds(hw_wqe_ctrl_seg_get_opcode(control));
	u32 end = hw_wqe_ctrl_seg_get_ds(control);

	for (; ds && ds < end; ds++) {
		const struct hw_wqe_data_seg *segment =
			cxib_sq_wqebb(qp, at + ds / CXIB_DS_PER_WQEBB) +
			ds % CXIB_DS_PER_WQEBB * CXIB_DS_SIZE;

		if (hw_wqe_data_seg_get_inline_seg(segment))
			return false;
		if (!((hw_wqe_data_seg_get_lkey(segment) ^ key) & ~KEY_VARIANT))
			return true;
	}
	return false;
}

/* Finds the newest transfer with mkey @key that the device has started; false without one. */
static bool sq_find_transfer(const struct cxib_qp *qp, u32 resume, u32 key, u32 *transfer)
{
	bool found = false;
	/* Pairs with cqe_retire_send(): the entries were read before cons_index moved. */
	u32 blocks, at = smp_load_acquire(&qp->sq.cons_index);

	for (; (s32)(resume - at) > 0; at += blocks) {
		blocks = sq_blocks_at(qp, at, resume);
		if (!blocks)
			return false;
		if (!sq_transfers(qp, at, key))
			continue;
		*transfer = at;
		found = true;
	}
	return found;
}

static bool sq_waits_for_reads(const struct cxib_qp *qp, u32 at)
{
	u32 fence = hw_wqe_ctrl_seg_get_fm(cxib_sq_wqebb(qp, at));

	return fence == HW_FENCE_MODE_FENCE || fence == HW_FENCE_MODE_SMALL_AND_FENCE;
}

/* Cancels a WR unless it is cancelled already. Returns the number of those cancelled. */
static int sq_cancel_once(struct cxib_qp *qp, u32 at)
{
	if (sq_is_cancelled(sq_entry_at(qp, at)))
		return 0;
	sq_cancel_at(qp, at);
	return 1;
}

/* The next WQE with a fence; false: none was posted. */
static bool sq_find_response(const struct cxib_qp *qp, u32 transfer, u32 *response)
{
	const u32 end = qp->sq.prod_index;
	u32 blocks, at = transfer;

	do {
		blocks = sq_blocks_at(qp, at, end);
		at += blocks;
		if (!blocks || at == end)
			return false;
	} while (!sq_waits_for_reads(qp, at));
	*response = at;
	return true;
}

/*
 * Cancels the WR whose success would mean that the data are good: a signaled transfer, or the
 * response of one that is not signaled.
 */
static int sq_cancel_success(struct cxib_qp *qp, u32 resume, u32 transfer)
{
	u32 at = transfer;

	if (!cxib_sq_is_signaled(qp, transfer) && !sq_find_response(qp, transfer, &at))
		return -ENOENT;
	if ((s32)(at - resume) < 0 || !cxib_sq_is_signaled(qp, at) ||
	    sq_changes_key(sq_entry_at(qp, at)))
		return -ENOENT;
	return sq_cancel_once(qp, at);
}

/**
 * cxib_sq_cancel_response() - cancel the response of a transfer with a signature error
 * @qp: QP whose SQ the device has stopped; the SQ is locked
 * @resume: index of the first WQE that the device has not started
 * @key: mkey of the MR
 *
 * The response is the next WQE with a fence behind the transfer. The ULP checks the MR of a
 * signaled transfer when that completes, before it posts a response, and so does the ULP if the
 * transfer has completed: cxib_qp_check_send_wrs() accepts no signaled WR between a transfer that
 * is not signaled and its response.
 *
 * Return: number of WRs cancelled: 0 if there was no response, or it was cancelled before;
 * -ENOENT if it may have been sent, cannot be reported to the ULP, or was not posted.
 */
int cxib_sq_cancel_response(struct cxib_qp *qp, u32 resume, u32 key)
{
	u32 transfer;

	lockdep_assert_held(&qp->sq.lock);

	if (!sq_find_transfer(qp, resume, key, &transfer) || cxib_sq_is_signaled(qp, transfer))
		return 0;
	return sq_cancel_success(qp, resume, transfer);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_sq_cancel_response);

/**
 * cxib_sq_cancel_unchecked() - cancel the responses of the transfers that the device will not check
 * @qp: QP whose SQ the device has stopped; the SQ is locked
 * @resume: index of the first WQE that the device has not started
 * @key: mkey of an MR with a signature error, which was not registered again
 *
 * The device reports one error of a registration. Transfers of the MR that are signaled are
 * cancelled themselves.
 *
 * Return: as cxib_sq_cancel_response().
 */
int cxib_sq_cancel_unchecked(struct cxib_qp *qp, u32 resume, u32 key)
{
	const u32 end = qp->sq.prod_index;
	int cancelled = 0, err;
	u32 at, blocks;

	lockdep_assert_held(&qp->sq.lock);

	for (at = resume; at != end; at += blocks) {
		blocks = sq_blocks_at(qp, at, end);
		if (!blocks)
			return -ENOENT;
		if (!sq_transfers(qp, at, key))
			continue;
		err = sq_cancel_success(qp, resume, at);
		if (err < 0)
			return err;
		cancelled += err;
	}
	return cancelled;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_sq_cancel_unchecked);
