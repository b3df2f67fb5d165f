// SPDX-License-Identifier: GPL-2.0-only
/*
 * Polling CQs.
 *
 * A CQE is copied before it is checked, so that the device cannot change it between check and use.
 * A CQE is unexpected if it refers to a WQE that is not outstanding; it makes the device fatal.
 */
#include <cxib/signature_pipelining.h>
#include <kunit/visibility.h>
#include <rdma/ib_cache.h>

#include "hw/doorbell.h"
#include "hw/names.h"
#include "verbs/cq/cq_poll.h"
#include "verbs/lookup.h"
#include "verbs/qp/pipelining.h"
#include "verbs/qp/post.h"
#include "verbs/signature/integrity.h"
#include "verbs/srq/srq.h"

#define PATH_BITS	0x7f

/* Words of a CQE. */
#define LENGTH_WORD	11
#define QPN_WORD	14
#define LAST_WORD	15
#define SEQUENCE_MASK	3

/**
 * cxib_completion_status() - convert the syndrome of an error CQE
 * @syndrome: enum hw_cqe_syndrome
 *
 * Return: the status; IB_WC_GENERAL_ERR for an unknown syndrome.
 */
enum ib_wc_status cxib_completion_status(u32 syndrome)
{
	switch (syndrome) {
	case HW_CQE_SYNDROME_LOCAL_LENGTH_ERR:
		return IB_WC_LOC_LEN_ERR;
	case HW_CQE_SYNDROME_LOCAL_QP_OP_ERR:
		return IB_WC_LOC_QP_OP_ERR;
	case HW_CQE_SYNDROME_LOCAL_PROT_ERR:
		return IB_WC_LOC_PROT_ERR;
	case HW_CQE_SYNDROME_WR_FLUSH_ERR:
		return IB_WC_WR_FLUSH_ERR;
	case HW_CQE_SYNDROME_MW_BIND_ERR:
		return IB_WC_MW_BIND_ERR;
	case HW_CQE_SYNDROME_BAD_RESP_ERR:
		return IB_WC_BAD_RESP_ERR;
	case HW_CQE_SYNDROME_LOCAL_ACCESS_ERR:
		return IB_WC_LOC_ACCESS_ERR;
	case HW_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR:
		return IB_WC_REM_INV_REQ_ERR;
	case HW_CQE_SYNDROME_REMOTE_ACCESS_ERR:
		return IB_WC_REM_ACCESS_ERR;
	case HW_CQE_SYNDROME_REMOTE_OP_ERR:
		return IB_WC_REM_OP_ERR;
	case HW_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR:
		return IB_WC_RETRY_EXC_ERR;
	case HW_CQE_SYNDROME_RNR_RETRY_EXC_ERR:
		return IB_WC_RNR_RETRY_EXC_ERR;
	case HW_CQE_SYNDROME_REMOTE_ABORTED_ERR:
		return IB_WC_REM_ABORT_ERR;
	default:
		return IB_WC_GENERAL_ERR;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_completion_status);

static __always_inline bool cqe_retire_send(struct cxib_qp *qp, u16 index, struct ib_wc *wc)
{
	struct cxib_sq *sq = &qp->sq;
	u32 consumed = sq->cons_index;
	u16 ahead = index - (u16)consumed;
	const struct cxib_sq_entry *entry;
	u32 blocks;

	/* Pairs with the release in send_remember(): the entry was written before prod_index. */
	if (unlikely(ahead >= smp_load_acquire(&sq->prod_index) - consumed))
		return false;
	entry = &sq->entries[index & sq->mask];
	blocks = entry->blocks;
	if (unlikely(!blocks))
		return false;
	wc->wr_id = entry->wr_id;
	wc->opcode = entry->opcode;
	/* Pairs with the acquire in send_make_room(): a consumed entry may be overwritten. */
	smp_store_release(&sq->cons_index, consumed + ahead + blocks);
	return true;
}

/**
 * cxib_retire_send_wqe() - retire a send WQE and all WQEs before it
 * @qp: QP; its send CQ is locked
 * @index: index of the first WQEBB of the WQE, from the CQE
 * @wc: wr_id and opcode are filled
 *
 * Return: false if no outstanding WQE begins at @index.
 */
bool cxib_retire_send_wqe(struct cxib_qp *qp, u16 index, struct ib_wc *wc)
{
	return cqe_retire_send(qp, index, wc);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_retire_send_wqe);

/**
 * cxib_retire_recv_wqe() - retire the oldest receive WQE
 * @qp: QP; its receive CQ is locked
 * @entry: filled with the RQ entry of the WQE
 *
 * Return: false if no receive WQE is outstanding.
 */
bool cxib_retire_recv_wqe(struct cxib_qp *qp, struct cxib_rq_entry *entry)
{
	struct cxib_rq *rq = &qp->rq;

	/* Pairs with cxib_build_recv_wqe(): the entry was written before prod_index. */
	if (!qp->has_rq || smp_load_acquire(&rq->prod_index) == rq->cons_index)
		return false;
	*entry = rq->entries[rq->cons_index & (BIT(rq->log_size) - 1)];
	/* Pairs with cxib_build_recv_wqe(): a consumed entry may be overwritten. */
	smp_store_release(&rq->cons_index, rq->cons_index + 1);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_retire_recv_wqe);

/**
 * cxib_decode_receive() - decode a responder CQE without error
 * @entry: the CQE
 * @wc: filled, except wr_id, qp and pkey_index
 */
void cxib_decode_receive(const struct hw_cqe64 *entry, struct ib_wc *wc)
{
	wc->opcode = IB_WC_RECV;
	wc->byte_len = hw_cqe64_get_byte_cnt(entry);
	wc->src_qp = hw_cqe64_get_rqpn(entry);
	wc->slid = hw_cqe64_get_slid(entry);
	wc->sl = hw_cqe64_get_sl(entry);
	wc->dlid_path_bits = hw_cqe64_get_ml_path(entry) & PATH_BITS;
	wc->wc_flags = hw_cqe64_get_grh(entry) == HW_CQE_GRH_LOCATION_NONE ? 0 : IB_WC_GRH;
	switch (hw_cqe64_get_opcode(entry)) {
	case HW_CQE_OPCODE_RESP_WR_IMM:
		wc->opcode = IB_WC_RECV_RDMA_WITH_IMM;
		fallthrough;
	case HW_CQE_OPCODE_RESP_SEND_IMM:
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = cpu_to_be32(hw_cqe64_get_immediate(entry));
		break;
	case HW_CQE_OPCODE_RESP_SEND_INV:
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = hw_cqe64_get_inval_rkey(entry);
		break;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_decode_receive);

/* The GSI QP receives MADs of all partitions in one RQ. */
static void cqe_find_pkey_index(struct cxib_qp *qp, const struct hw_cqe64 *entry, struct ib_wc *wc)
{
	if (qp->ib.qp_type == IB_QPT_GSI)
		ib_find_cached_pkey(qp->ib.device, qp->port, hw_cqe64_get_pkey(entry),
				    &wc->pkey_index);
}

static bool cqe_takes_xrc_here(const struct cxib_srq *srq, const struct cxib_cq *cq)
{
	return !srq->is_user && srq->ib.srq_type == IB_SRQT_XRC && to_cq(srq->ib.ext.cq) == cq;
}

/*
 * The remote peer of an XRC_TGT QP selects the SRQ. A faulty device may name an SRQ that does not
 * exist, or that is being destroyed under the lock of another CQ, so the function takes a
 * reference.
 */
static bool cqe_retire_xrc_receive(struct cxib_cq *cq, const struct hw_cqe64 *entry,
				   struct cxib_rq_entry *rq_entry)
{
	struct cxib_srq *srq = cxib_get_srq(to_ibdev(cq->ib.device), hw_cqe64_get_srqn(entry));
	bool retired;

	if (!srq)
		return false;
	retired = cqe_takes_xrc_here(srq, cq) &&
		  cxib_srq_retire_wqe(srq, hw_cqe64_get_wqe_counter(entry), rq_entry);
	cxib_reference_put(&srq->reference);
	return retired;
}

static bool cqe_retire_any_receive(struct cxib_cq *cq, struct cxib_qp *qp,
				   const struct hw_cqe64 *entry, struct cxib_rq_entry *rq_entry)
{
	if (qp->ib.qp_type == IB_QPT_XRC_TGT)
		return cqe_retire_xrc_receive(cq, entry, rq_entry);
	if (!qp->ib.srq)
		return cxib_retire_recv_wqe(qp, rq_entry);
	return cxib_srq_retire_wqe(to_srq(qp->ib.srq), hw_cqe64_get_wqe_counter(entry),
				   rq_entry);
}

static void cqe_fill_error(const struct hw_cqe64 *entry, struct ib_wc *wc)
{
	const struct hw_err_cqe *error = (const struct hw_err_cqe *)entry;

	wc->status = cxib_completion_status(hw_err_cqe_get_syndrome(error));
	wc->vendor_err = hw_err_cqe_get_vendor_err_synd(error);
}

/*
 * The ULP reads byte_len bytes, so it must not get a byte_cnt that exceeds the WQE. But the WQE is
 * retired, so its completion must be reported.
 */
static noinline void cqe_report_length_error(struct cxib_cq *cq, const struct hw_cqe64 *entry,
					     u64 length, struct ib_wc *wc)
{
	struct cxib_ibdev *ibdev = to_ibdev(cq->ib.device);

	ibdev_err_ratelimited(&ibdev->ib,
			      "CQ 0x%x: QP 0x%x: byte_cnt %u exceeds WQE (%llu)\n",
			      cq->cqn, hw_cqe64_get_qpn(entry), wc->byte_len, length);
	cxib_health_set_fatal(&ibdev->hw->health, "byte_cnt of a CQE exceeds the WQE");
	wc->status = IB_WC_LOC_LEN_ERR;
	wc->byte_len = 0;
}

static bool cqe_take_receive(struct cxib_cq *cq, struct cxib_qp *qp, const struct hw_cqe64 *entry,
			     struct ib_wc *wc)
{
	struct cxib_rq_entry rq_entry;

	if (!cqe_retire_any_receive(cq, qp, entry, &rq_entry))
		return false;
	wc->wr_id = rq_entry.wr_id;
	cxib_decode_receive(entry, wc);
	cqe_find_pkey_index(qp, entry, wc);
	/* The data of an RDMA write with immediate is not in the buffer of the WQE. */
	if (unlikely(wc->byte_len > rq_entry.length) && wc->opcode == IB_WC_RECV)
		cqe_report_length_error(cq, entry, rq_entry.length, wc);
	return true;
}

static bool cqe_take_failed_receive(struct cxib_cq *cq, struct cxib_qp *qp,
				    const struct hw_cqe64 *entry, struct ib_wc *wc)
{
	struct cxib_rq_entry rq_entry;

	if (!cqe_retire_any_receive(cq, qp, entry, &rq_entry))
		return false;
	wc->wr_id = rq_entry.wr_id;
	wc->opcode = IB_WC_RECV;
	cqe_fill_error(entry, wc);
	return true;
}

/* A failed sub-WQE completes the WR, so the CQEs of the flushed sub-WQEs that follow are hidden. */
static void cqe_hide_rest(struct cxib_sq *sq)
{
	u32 at = sq->cons_index;

	while (sq->entries[at & sq->mask].opcode == CXIB_WC_SUB_WQE)
		at += sq->entries[at & sq->mask].blocks;
	sq->entries[at & sq->mask].opcode = CXIB_WC_NOP;
}

static bool cqe_retire_failed(struct cxib_qp *qp, u16 index, struct ib_wc *wc)
{
	if (!cqe_retire_send(qp, index, wc))
		return false;
	if (wc->opcode == CXIB_WC_SUB_WQE && wc->status != IB_WC_WR_FLUSH_ERR) {
		cqe_hide_rest(&qp->sq);
		wc->opcode = IB_WC_REG_MR;
	}
	return true;
}

static bool cqe_take_by_opcode(struct cxib_cq *cq, struct cxib_qp *qp, const struct hw_cqe64 *entry,
			       struct ib_wc *wc)
{
	switch (hw_cqe64_get_opcode(entry)) {
	case HW_CQE_OPCODE_RESP_WR_IMM:
	case HW_CQE_OPCODE_RESP_SEND:
	case HW_CQE_OPCODE_RESP_SEND_IMM:
	case HW_CQE_OPCODE_RESP_SEND_INV:
		return cqe_take_receive(cq, qp, entry, wc);
	case HW_CQE_OPCODE_REQ_ERR:
		cqe_fill_error(entry, wc);
		return cqe_retire_failed(qp, hw_cqe64_get_wqe_counter(entry), wc);
	case HW_CQE_OPCODE_RESP_ERR:
		return cqe_take_failed_receive(cq, qp, entry, wc);
	default:
		return false;
	}
}

static bool cqe_reports_here(const struct cxib_qp *qp, const struct cxib_cq *cq,
			     const struct hw_cqe64 *entry)
{
	u32 opcode = hw_cqe64_get_opcode(entry);

	if (opcode == HW_CQE_OPCODE_REQ_ERR)
		return cxib_send_cq(qp) == cq;
	/* For XRC_TGT, the SRQ that the CQE names determines the CQ. */
	return qp->ib.qp_type == IB_QPT_XRC_TGT || cxib_recv_cq(qp) == cq;
}

static void cqe_report_unexpected(struct cxib_cq *cq, const struct hw_cqe64 *entry)
{
	struct cxib_ibdev *ibdev = to_ibdev(cq->ib.device);
	u32 opcode = hw_cqe64_get_opcode(entry);

	/* For example the RESIZE_CQ CQE of a RESIZE_CQ whose result is unknown. */
	if (cxib_health_is_fatal(&ibdev->hw->health))
		return;
	ibdev_err_ratelimited(&ibdev->ib,
			      "CQ 0x%x: unexpected CQE %s (0x%x) for QP 0x%x, WQE 0x%x\n",
			      cq->cqn, hw_cqe_opcode_name(opcode), opcode,
			      hw_cqe64_get_qpn(entry), hw_cqe64_get_wqe_counter(entry));
	cxib_health_set_fatal(&ibdev->hw->health, "unexpected CQE");
}

/* Result of processing one CQE. cqe_report_special() decides whether a special CQE is reported. */
enum cqe_outcome {
	OUTCOME_TAKEN,
	OUTCOME_PASSED_OVER,
	OUTCOME_SPECIAL,
	OUTCOME_NONE,
};

/*
 * Handles a CQE that completes no WR:
 * - RESIZE_CQ or SIG_ERR;
 * - a CQE of an XRC SRQ that is being destroyed;
 * - an unexpected CQE.
 */
static enum cqe_outcome cqe_refuse(struct cxib_cq *cq, const struct cxib_qp *qp,
				   const struct hw_cqe64 *entry)
{
	if (hw_cqe64_get_opcode(entry) == HW_CQE_OPCODE_RESIZE_CQ && cq->resizing) {
		cq->cons_index--;
		return OUTCOME_NONE;
	}
	if (hw_cqe64_get_opcode(entry) == HW_CQE_OPCODE_SIG_ERR) {
		cxib_note_signature_error(to_ibdev(cq->ib.device), qp,
					  (const struct hw_sig_err_cqe *)entry);
		/* If the mkey is 0, cxib_cq_note_signature_errors() has recorded the error. */
		if (qp && hw_sig_err_cqe_get_mkey((const struct hw_sig_err_cqe *)entry))
			cxib_pipelining_failed(qp);
		return OUTCOME_PASSED_OVER;
	}
	if (cq->num_xrc_srqs_unpublished && qp && qp->ib.qp_type == IB_QPT_XRC_TGT)
		return OUTCOME_PASSED_OVER;
	cqe_report_unexpected(cq, entry);
	cxib_cq_update_ci(cq);
	return OUTCOME_NONE;
}

/*
 * A QP is detached from the CQ with the lock held, so an attached QP is valid here. A faulty device
 * may name a QP of another CQ, which may be freed meanwhile, so the QP is not looked up in
 * ibdev->qps.
 */
static noinline bool cqe_change_qp(struct cxib_cq *cq, u32 qpn)
{
	struct cxib_qp *qp = xa_load(&cq->queue_pairs, qpn);

	lockdep_assert_held(&cq->lock);

	if (!qp)
		return false;
	cq->last_qpn = qpn;
	cq->last_qp = qp;
	return true;
}

/* Returns true for a completion that the driver consumes, or of a cancelled WR. */
static __always_inline bool cqe_is_special(const struct ib_wc *wc)
{
	return wc->opcode >= CXIB_WC_CANCELLED;
}

/*
 * A cancelled WR was not sent, so the ULP gets a flush error with a special vendor_err. A cancelled
 * WR that the device or the driver has flushed is reported like other flushed WRs, because the QP
 * no longer works.
 *
 * Returns false if the completion is not to be reported.
 */
static bool cqe_unmask(struct ib_wc *wc)
{
	if (wc->opcode >= CXIB_WC_SUB_WQE)
		return false;
	wc->opcode &= ~CXIB_WC_CANCELLED;
	if (wc->status == IB_WC_SUCCESS) {
		wc->status = IB_WC_WR_FLUSH_ERR;
		wc->vendor_err = CXIB_VENDOR_ERR_CANCELLED;
	}
	return true;
}

static enum cqe_outcome cqe_take_for(struct cxib_cq *cq, struct cxib_qp *qp,
				     const struct hw_cqe64 *entry, struct ib_wc *wc)
{
	if (!qp || !cqe_reports_here(qp, cq, entry) || !cqe_take_by_opcode(cq, qp, entry, wc))
		return cqe_refuse(cq, qp, entry);
	wc->qp = qp->wc_qp;
	return cqe_is_special(wc) ? OUTCOME_SPECIAL : OUTCOME_TAKEN;
}

/* XRC_TGT QPs are attached to no CQ: their CQEs arrive in the CQs of XRC SRQs. */
static enum cqe_outcome cqe_take_for_any(struct cxib_cq *cq, const struct hw_cqe64 *entry,
					 struct ib_wc *wc)
{
	struct cxib_qp *qp = cxib_get_qp(to_ibdev(cq->ib.device), hw_cqe64_get_qpn(entry));
	enum cqe_outcome outcome;

	if (!qp)
		return cqe_refuse(cq, NULL, entry);
	outcome = cqe_take_for(cq, qp->ib.qp_type == IB_QPT_XRC_TGT ? qp : NULL, entry, wc);
	cxib_reference_put(&qp->reference);
	return outcome;
}

/* Handles all CQEs except those of send WQEs without error. */
static noinline enum cqe_outcome cqe_take_other(struct cxib_cq *cq, struct ib_wc *wc)
{
	struct hw_cqe64 entry;
	u32 qpn;

	memcpy(&entry, cxib_cq_cqe(cq, cq->cons_index), sizeof(entry));
	cq->cons_index++;
	*wc = (struct ib_wc){};
	qpn = hw_cqe64_get_qpn(&entry);
	if (cq->last_qpn == qpn || cqe_change_qp(cq, qpn))
		return cqe_take_for(cq, cq->last_qp, &entry, wc);
	return cqe_take_for_any(cq, &entry, wc);
}

static noinline enum cqe_outcome cqe_refuse_send(struct cxib_cq *cq)
{
	struct hw_cqe64 entry;

	memcpy(&entry, cxib_cq_cqe(cq, cq->cons_index - 1), sizeof(entry));
	return cqe_refuse(cq, NULL, &entry);
}

/* Reads each word once, so that the device cannot change it between check and use. */
static __always_inline enum cqe_outcome cqe_take_send(struct cxib_cq *cq, u32 consumer,
						      const struct hw_cqe64 *place, u32 counter,
						      struct ib_wc *wc)
{
	struct hw_cqe64 entry;
	struct cxib_qp *qp;
	u32 qpn;

	entry.dw[QPN_WORD] = READ_ONCE(place->dw[QPN_WORD]);
	entry.dw[LENGTH_WORD] = READ_ONCE(place->dw[LENGTH_WORD]);
	cq->cons_index = consumer + 1;
	qpn = hw_cqe64_get_qpn(&entry);
	if (unlikely(cq->last_qpn != qpn) && !cqe_change_qp(cq, qpn))
		return cqe_refuse_send(cq);
	qp = cq->last_qp;
	if (unlikely(qp->ib.send_cq != &cq->ib || !cqe_retire_send(qp, counter, wc)))
		return cqe_refuse_send(cq);
	wc->status = IB_WC_SUCCESS;
	wc->vendor_err = 0;
	wc->byte_len = hw_cqe64_get_byte_cnt(&entry);
	wc->qp = qp->wc_qp;
	wc->wc_flags = 0;
	return unlikely(cqe_is_special(wc)) ? OUTCOME_SPECIAL : OUTCOME_TAKEN;
}

static __always_inline enum cqe_outcome cqe_take_next(struct cxib_cq *cq, u32 consumer,
						      struct ib_wc *wc)
{
	const struct hw_cqe64 *place = cxib_cq_cqe(cq, consumer);
	struct hw_cqe64 entry;

	lockdep_assert_held(&cq->lock);

	entry.dw[LAST_WORD] = READ_ONCE(place->dw[LAST_WORD]);
	if (hw_cqe64_get_owner(&entry) != (consumer >> cq->log_size & 1))
		return OUTCOME_NONE;
	/* The owner bit must be read before the rest of the CQE. */
	dma_rmb();
	if (likely(hw_cqe64_get_opcode(&entry) == HW_CQE_OPCODE_REQ))
		return cqe_take_send(cq, consumer, place, hw_cqe64_get_wqe_counter(&entry), wc);
	if (hw_cqe64_get_opcode(&entry) == HW_CQE_OPCODE_INVALID)
		return OUTCOME_NONE;
	return cqe_take_other(cq, wc);
}

/* Returns true if the CQE is reported; otherwise the caller continues with the next CQE. */
static noinline bool cqe_report_special(struct cxib_cq *cq, enum cqe_outcome outcome,
					struct ib_wc *wc)
{
	if (outcome == OUTCOME_SPECIAL && cqe_unmask(wc))
		return true;
	cxib_cq_update_ci(cq);
	return false;
}

/*
 * Consumes CQEs up to the next CQE to report. Returns false if there is none.
 * @consumer: local copy of cq->cons_index, which saves reading it again
 */
static __always_inline bool cqe_poll_one(struct cxib_cq *cq, u32 *consumer, struct ib_wc *wc)
{
	enum cqe_outcome outcome;

	for (;;) {
		outcome = cqe_take_next(cq, *consumer, wc);
		++*consumer;
		if (likely(outcome == OUTCOME_TAKEN))
			return true;
		if (outcome == OUTCOME_NONE)
			return false;
		if (cqe_report_special(cq, outcome, wc))
			return true;
	}
}

/**
 * cxib_cq_note_signature_errors() - record the signature errors of a QP that were not polled
 * @cq: send CQ of @qp
 * @qp: QP that the device has stopped
 *
 * Clears the mkey in the CQEs of these errors, so that polling does not record them again.
 *
 * Context: process context, may sleep.
 */
void cxib_cq_note_signature_errors(struct cxib_cq *cq, struct cxib_qp *qp)
{
	u32 at;

	/* resize_lock excludes a resize, so all CQEs of the QP are in one ring. */
	guard(mutex)(&cq->resize_lock);
	spin_lock_irq(&cq->lock);
	for (at = cq->cons_index; at - cq->cons_index < BIT(cq->log_size); at++) {
		struct hw_sig_err_cqe *place = (struct hw_sig_err_cqe *)cxib_cq_cqe(cq, at);
		struct hw_sig_err_cqe entry;

		if (!cxib_cqe_is_sw_owned(cq, at))
			break;
		memcpy(&entry, place, sizeof(entry));
		if (hw_cqe64_get_opcode((struct hw_cqe64 *)&entry) != HW_CQE_OPCODE_SIG_ERR ||
		    hw_cqe64_get_qpn((struct hw_cqe64 *)&entry) != qp->qpn)
			continue;
		cxib_note_signature_error(to_ibdev(cq->ib.device), qp, &entry);
		hw_sig_err_cqe_set_mkey(place, 0);
	}
	spin_unlock_irq(&cq->lock);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cq_note_signature_errors);

/**
 * cxib_cq_has_send_cqe() - whether the CQ holds the CQE of a send WQE
 * @cq: CQ, locked
 * @qpn: QPN of the QP
 * @index: index of the first WQEBB of the WQE
 */
bool cxib_cq_has_send_cqe(const struct cxib_cq *cq, u32 qpn, u16 index)
{
	const u32 end = cq->cons_index + BIT(cq->log_size);
	u32 at;

	lockdep_assert_held(&cq->lock);

	for (at = cq->cons_index; at != end && cxib_cqe_is_sw_owned(cq, at); at++) {
		const struct hw_cqe64 *entry = cxib_cq_cqe(cq, at);
		u32 opcode = hw_cqe64_get_opcode(entry);

		if (hw_cqe64_get_qpn(entry) == qpn && hw_cqe64_get_wqe_counter(entry) == index &&
		    (opcode == HW_CQE_OPCODE_REQ || opcode == HW_CQE_OPCODE_REQ_ERR))
			return true;
	}
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cq_has_send_cqe);

/*
 * ib_cm takes a flush error of a MAD for the result of its own cancellation and does not report it.
 * So a ULP that waits for the response would never learn that its connection is lost. ib_cm reports
 * any other error.
 */
static enum ib_wc_status cqe_flush_status(const struct cxib_qp *qp)
{
	return cxib_qp_is_mad(qp) ? IB_WC_FATAL_ERR : IB_WC_WR_FLUSH_ERR;
}

/* MADs are flushed only up to mad_flush_index, see CXIB_MAD_FLUSH_DELAY. */
static bool cqe_can_flush_sq(const struct cxib_qp *qp)
{
	u32 end = cxib_qp_is_mad(qp) ? qp->mad_flush_index : READ_ONCE(qp->sq.prod_index);

	return qp->has_sq && (s32)(end - qp->sq.cons_index) > 0;
}

/*
 * Returns true for an unsignaled WR that is retired without a completion.
 *
 * The driver does not know whether the device has executed an unsignaled WR. It assumes that the
 * device has executed an invalidation or a registration. The ULP may have freed the wr_cqe of such
 * a WR after the WRs that use the MR have completed, as ib_srp does before it drains the QP. All
 * other WRs are flushed, because ib_drain_qp() waits for an unsignaled WR.
 */
static bool cqe_is_silent(const struct cxib_qp *qp, u32 at)
{
	u8 opcode = qp->sq.entries[at & qp->sq.mask].opcode;

	return (opcode == IB_WC_LOCAL_INV || opcode == IB_WC_REG_MR) &&
	       !cxib_sq_is_signaled(qp, at);
}

static bool cqe_flush_send(struct cxib_qp *qp, struct ib_wc *wc)
{
	bool silent;

	do {
		if (!cqe_can_flush_sq(qp))
			return false;
		wc->status = cqe_flush_status(qp);
		silent = cqe_is_silent(qp, qp->sq.cons_index);
		if (!cxib_retire_send_wqe(qp, qp->sq.cons_index, wc))
			return false;
	} while (silent || (cqe_is_special(wc) && !cqe_unmask(wc)));
	return true;
}

static bool cqe_flush_receive(struct cxib_qp *qp, struct ib_wc *wc)
{
	struct cxib_rq_entry rq_entry;

	if (!cxib_retire_recv_wqe(qp, &rq_entry))
		return false;
	wc->wr_id = rq_entry.wr_id;
	wc->status = IB_WC_WR_FLUSH_ERR;
	wc->opcode = IB_WC_RECV;
	return true;
}

/* With DMA off the device writes no CQEs, so the driver flushes the outstanding WRs. */
static bool cqe_flush_one(struct cxib_cq *cq, struct ib_wc *wc)
{
	struct cxib_qp *qp;

	lockdep_assert_held(&cq->lock);

	*wc = (struct ib_wc){};
	list_for_each_entry(qp, &cq->send_qps, send_node) {
		wc->qp = qp->wc_qp;
		if (cqe_flush_send(qp, wc))
			return true;
	}
	list_for_each_entry(qp, &cq->recv_qps, recv_node) {
		wc->qp = &qp->ib;
		if (cqe_flush_receive(qp, wc))
			return true;
	}
	return false;
}

static noinline int cqe_flush(struct cxib_cq *cq, int count, struct ib_wc *wc)
{
	int flushed = 0;

	while (flushed < count && cqe_flush_one(cq, &wc[flushed]))
		flushed++;
	return flushed;
}

int cxib_poll_cq(struct ib_cq *ib, int count, struct ib_wc *wc)
{
	struct cxib_cq *cq = to_cq(ib);
	unsigned long flags;
	int polled = 0;
	u32 consumer;
	bool dma_off;

	spin_lock_irqsave(&cq->lock, flags);
	/*
	 * dma_off is read before the ring, so that CQEs that the device wrote before DMA was off
	 * are reported first.
	 */
	dma_off = cxib_verbs_dma_off(to_ibdev(cq->ib.device));
	consumer = cq->cons_index;
	for (; polled < count && cqe_poll_one(cq, &consumer, wc); wc++)
		polled++;
	if (polled)
		cxib_cq_update_ci(cq);
	if (unlikely(dma_off))
		polled += cqe_flush(cq, count - polled, wc);
	spin_unlock_irqrestore(&cq->lock, flags);
	return polled;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_cq);

static bool cqe_has_rq(const struct cxib_qp *qp)
{
	return qp->has_rq && READ_ONCE(qp->rq.prod_index) != qp->rq.cons_index;
}

static bool cqe_has_completions(struct cxib_cq *cq)
{
	struct cxib_qp *qp;

	lockdep_assert_held(&cq->lock);

	if (cxib_cqe_is_sw_owned(cq, cq->cons_index))
		return true;
	list_for_each_entry(qp, &cq->send_qps, send_node)
		if (cqe_can_flush_sq(qp))
			return true;
	list_for_each_entry(qp, &cq->recv_qps, recv_node)
		if (cqe_has_rq(qp))
			return true;
	return false;
}

/**
 * cxib_peek_cq() - count the CQEs to poll
 * @ib: CQ
 * @count: maximum to count
 *
 * The count includes hidden CQEs, such as those of sub-WQEs. With DMA off, it is 1 for any number
 * of WRs to flush.
 *
 * Context: any.
 * Return: the number of CQEs, at most @count; -EINVAL if @count is negative.
 */
int cxib_peek_cq(struct ib_cq *ib, int count)
{
	struct cxib_cq *cq = to_cq(ib);
	unsigned long flags;
	int found = 0;

	if (count < 0)
		return -EINVAL;
	spin_lock_irqsave(&cq->lock, flags);
	count = min(count, cq->ib.cqe + 1);
	while (found < count && cxib_cqe_is_sw_owned(cq, cq->cons_index + found))
		found++;
	if (!found && count && cxib_verbs_dma_off(to_ibdev(ib->device)) && cqe_has_completions(cq))
		found = 1;
	spin_unlock_irqrestore(&cq->lock, flags);
	return found;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_peek_cq);

/**
 * cxib_cq_flush_mads() - let poll_cq flush the MADs posted so far
 * @cq: CQ of a device with DMA off
 *
 * Context: any.
 */
void cxib_cq_flush_mads(struct cxib_cq *cq)
{
	struct cxib_qp *qp;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	list_for_each_entry(qp, &cq->send_qps, send_node)
		qp->mad_flush_index = READ_ONCE(qp->sq.prod_index);
	spin_unlock_irqrestore(&cq->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cq_flush_mads);

/**
 * cxib_cq_event_due() - take the arming if a completion event is due
 * @cq: CQ of a device with DMA off
 *
 * As with a working device, each req_notify_cq causes one event, and a CQ that is only polled gets
 * none. User CQs get no event, because user space gets the fatal event instead.
 *
 * Context: any.
 * Return: true if the CQ is armed and there is a completion to poll. Then the caller must deliver
 * the event, and the function returns false until the CQ is armed again.
 */
bool cxib_cq_event_due(struct cxib_cq *cq)
{
	unsigned long flags;
	bool due;

	spin_lock_irqsave(&cq->lock, flags);
	/*
	 * The ring of a user CQ has no kernel address, and its doorbell record belongs to user
	 * space.
	 */
	due = !cq->is_user && cqe_has_completions(cq) && cxib_arming_take(&cq->arming);
	spin_unlock_irqrestore(&cq->lock, flags);
	return due;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cq_event_due);

/* Writes the doorbell record, which the device reads when it gets the doorbell. */
static void cqe_arm(struct cxib_ibdev *ibdev, struct cxib_cq *cq)
{
	u32 sequence = cxib_arming_sn(&cq->arming) & SEQUENCE_MASK;
	u32 consumer = cq->cons_index & CXIB_CQ_COUNTER_MASK;
	union cxib_doorbell doorbell;

	lockdep_assert_held(&cq->lock);

	cq->num_arms = min(cq->num_arms + 1, 2);
	doorbell.words[0] = hw_cq_doorbell_pack_00(sequence, cq->arm_command, consumer);
	doorbell.words[1] = hw_cq_doorbell_pack_04(cq->cqn);
	WRITE_ONCE(cq->dbr.words[CXIB_CQ_DBR_ARM], doorbell.words[0]);
	cxib_doorbell_ring(ibdev->hw->uar + HW_UAR_OFFSET_CQ_DOORBELL, doorbell);
}

/**
 * cxib_cq_count_own_event() - count an event of a CQ whose ULP has its own comp_handler
 * @ibdev: of the CQ
 * @cq: CQ
 *
 * A ULP may arm the CQ again before the event of its last arming is delivered. The device ignores
 * the second arming, because it has the arm_sn of the event. The ULP may ignore the event, because
 * it has disabled its handler meanwhile, as ipoib_ib_dev_stop_default() does with its NAPI. Then
 * nothing would wake up the ULP. So this function repeats the second arming with the next arm_sn;
 * the arming is already set.
 *
 * Context: interrupt of the CQ's EQ. Takes the lock of the CQ, so each arming either precedes the
 * event and is counted, or has the arm_sn that follows the event.
 */
void cxib_cq_count_own_event(struct cxib_ibdev *ibdev, struct cxib_cq *cq)
{
	unsigned long flags;
	bool again;

	spin_lock_irqsave(&cq->lock, flags);
	again = cq->num_arms > 1 && !cq->is_stopped;
	cq->num_arms = 0;
	cxib_arming_count_event(&cq->arming);
	if (again)
		cqe_arm(ibdev, cq);
	spin_unlock_irqrestore(&cq->lock, flags);
}

/*
 * If a CQE is in the ring when the device reads the doorbell, the device raises an event at once,
 * whether or not the driver reports the CQE as missed. A ULP with its own comp_handler may rely on
 * that event and not arm again, so its arming stays. For a CQ of ib_alloc_cq(), the event must not
 * start a second poller in addition to the caller, so the arming is taken back.
 */
static bool cqe_report_missed(struct cxib_cq *cq)
{
	lockdep_assert_held(&cq->lock);

	if (cq->is_arm_deferred || !cxib_cqe_is_sw_owned(cq, cq->cons_index))
		return false;
	return !cxib_cq_is_core_polled(cq) || cxib_arming_take(&cq->arming);
}

/* Whether the poller waits for the new ring. */
static bool cqe_is_at_resize(const struct cxib_cq *cq)
{
	return cq->resizing && cxib_cqe_is_sw_owned(cq, cq->cons_index) &&
	       hw_cqe64_get_opcode(cxib_cq_cqe(cq, cq->cons_index)) == HW_CQE_OPCODE_RESIZE_CQ;
}

/*
 * The device would raise an event at once for the RESIZE_CQ CQE, which nobody can poll yet: the
 * poller would be called again and again until the command is complete. A ULP with its own
 * comp_handler may have several armings, so those are not deferred.
 */
static void cqe_arm_or_defer(struct cxib_ibdev *ibdev, struct cxib_cq *cq)
{
	lockdep_assert_held(&cq->lock);

	cq->is_arm_deferred = cqe_is_at_resize(cq) && cxib_cq_is_core_polled(cq);
	if (!cq->is_arm_deferred)
		cqe_arm(ibdev, cq);
}

/**
 * cxib_cq_end_resize() - poll the ring that a CQ has after a resize
 * @cq: CQ; its lock is held
 *
 * The device raises no event for CQEs that it has reported before. If it has reported those of the
 * new ring while the poller could get none, a deferred arming has to find them here.
 *
 * Context: any.
 * Return: true if the caller must call cxib_cq_hand_over() after it has dropped the lock.
 */
bool cxib_cq_end_resize(struct cxib_cq *cq)
{
	bool is_due = false;

	lockdep_assert_held(&cq->lock);

	cq->resizing = false;
	if (cq->is_arm_deferred) {
		cqe_arm(to_ibdev(cq->ib.device), cq);
		is_due = cxib_cqe_is_sw_owned(cq, cq->cons_index) && cxib_arming_take(&cq->arming);
	}
	cq->is_arm_deferred = false;
	return is_due;
}

/**
 * cxib_req_notify_cq() - arm a CQ
 * @ib: kernel CQ
 * @flags: which CQEs raise an event, and whether to report CQEs that are already in the ring
 *
 * When this returns 0, the event may already have been delivered and started another poller. So the
 * poller of a CQ of ib_alloc_cq() must not access the CQ after it has got 0.
 *
 * Context: any.
 * Return: 1 if %IB_CQ_REPORT_MISSED_EVENTS is set and there is a CQE; 0 otherwise. After 1, no
 * event of a CQ of ib_alloc_cq() is delivered until the CQ is armed again.
 */
int cxib_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags)
{
	struct cxib_cq *cq = to_cq(ib);
	unsigned long irq_flags;
	bool missed = false;

	spin_lock_irqsave(&cq->lock, irq_flags);
	if (unlikely(cq->is_stopped)) {
		spin_unlock_irqrestore(&cq->lock, irq_flags);
		return 0;
	}
	if (cxib_cq_is_core_polled(cq))
		cxib_arming_set(&cq->arming);
	else
		cxib_arming_add(&cq->arming);
	cq->arm_command = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED ?
			  HW_CQ_ARM_COMMAND_REQ_NOT_SOL : HW_CQ_ARM_COMMAND_REQ_NOT;
	cqe_arm_or_defer(to_ibdev(ib->device), cq);
	if (flags & IB_CQ_REPORT_MISSED_EVENTS)
		missed = cqe_report_missed(cq);
	spin_unlock_irqrestore(&cq->lock, irq_flags);
	if (cxib_verbs_dma_off(to_ibdev(ib->device)))
		cxib_flush_later(to_ibdev(ib->device));
	return missed;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_req_notify_cq);

/* Copies a CQE. The target keeps its owner bit, which depends on the pass over the ring. */
static void cqe_move_entry(struct cxib_cq *cq, u32 from, u32 to)
{
	struct hw_cqe64 *target = cxib_cq_cqe(cq, to);
	u32 owner = hw_cqe64_get_owner(target);

	memcpy(target, cxib_cq_cqe(cq, from), sizeof(*target));
	hw_cqe64_set_owner(target, owner);
}

static bool cqe_is_receive(const struct hw_cqe64 *entry)
{
	u32 opcode = hw_cqe64_get_opcode(entry);

	return opcode != HW_CQE_OPCODE_REQ && opcode != HW_CQE_OPCODE_REQ_ERR &&
	       opcode != HW_CQE_OPCODE_SIG_ERR;
}

/* A removed CQE is never polled, so this function retires its SRQ WQE. */
static void cqe_free_srq_wqe(struct cxib_cq *cq, const struct cxib_qp *qp,
			     const struct hw_cqe64 *entry)
{
	struct cxib_rq_entry unused;

	if (!cqe_is_receive(entry))
		return;
	if (qp->ib.qp_type == IB_QPT_XRC_TGT)
		cqe_retire_xrc_receive(cq, entry, &unused);
	else if (qp->ib.srq)
		cxib_srq_retire_wqe(to_srq(qp->ib.srq), hw_cqe64_get_wqe_counter(entry),
				    &unused);
}

/**
 * struct cqe_cq_filter - the CQEs to remove
 * @qp: remove the CQEs of this QP; NULL: those of an XRC SRQ
 * @srqn: SRQN of the XRC SRQ
 */
struct cqe_cq_filter {
	struct cxib_qp *qp;
	u32 srqn;
};

static bool cqe_matches(struct cxib_cq *cq, const struct cqe_cq_filter *cq_filter,
			const struct hw_cqe64 *entry)
{
	if (!cq_filter->qp)
		return cqe_is_receive(entry) && hw_cqe64_get_srqn(entry) == cq_filter->srqn;
	if (hw_cqe64_get_qpn(entry) != cq_filter->qp->qpn)
		return false;
	/* The MR outlives the QP, and its error count must match that of the device. */
	if (hw_cqe64_get_opcode(entry) == HW_CQE_OPCODE_SIG_ERR)
		cxib_note_signature_error(to_ibdev(cq->ib.device), cq_filter->qp,
					  (const struct hw_sig_err_cqe *)entry);
	cqe_free_srq_wqe(cq, cq_filter->qp, entry);
	return true;
}

static void cqe_remove_completions(struct cxib_cq *cq, const struct cqe_cq_filter *cq_filter)
{
	u32 end, from, kept;

	lockdep_assert_held(&cq->resize_lock);
	lockdep_assert_held(&cq->lock);

	for (end = cq->cons_index; cxib_cqe_is_sw_owned(cq, end); end++)
		if (end - cq->cons_index == BIT(cq->log_size))
			break;
	/*
	 * The CQEs that are kept move to the end of the used part of the ring, beginning with the
	 * newest.
	 */
	kept = end;
	for (from = end; from != cq->cons_index; from--)
		if (!cqe_matches(cq, cq_filter, cxib_cq_cqe(cq, from - 1)) && --kept != from - 1)
			cqe_move_entry(cq, from - 1, kept);
	if (kept != cq->cons_index) {
		cq->cons_index = kept;
		cxib_cq_update_ci(cq);
	}
}

/**
 * cxib_cq_clean() - remove the CQEs of a QP
 * @cq: CQ
 * @qp: QP for which the device writes no more CQEs
 *
 * Context: process context.
 */
void cxib_cq_clean(struct cxib_cq *cq, struct cxib_qp *qp)
{
	const struct cqe_cq_filter cq_filter = { .qp = qp };

	/* resize_lock excludes a resize, so all CQEs of the QP are in one ring. */
	guard(mutex)(&cq->resize_lock);
	spin_lock_irq(&cq->lock);
	cqe_remove_completions(cq, &cq_filter);
	spin_unlock_irq(&cq->lock);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cq_clean);

/**
 * cxib_cq_clean_srq() - remove the CQEs of an XRC SRQ
 * @cq: CQ of the SRQ
 * @srqn: SRQN; the device writes no more CQEs for it
 *
 * Decrements num_xrc_srqs_unpublished, which counted the SRQ so that polling skipped its CQEs.
 *
 * Context: process context.
 */
void cxib_cq_clean_srq(struct cxib_cq *cq, u32 srqn)
{
	const struct cqe_cq_filter cq_filter = { .srqn = srqn };

	guard(mutex)(&cq->resize_lock);
	spin_lock_irq(&cq->lock);
	cqe_remove_completions(cq, &cq_filter);
	cq->num_xrc_srqs_unpublished--;
	spin_unlock_irq(&cq->lock);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cq_clean_srq);
