/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signature pipelining: the device stops the SQ after a signature error, see
 * include/cxib/signature_pipelining.h.
 */
#ifndef CXIB_VERBS_QP_PIPELINING_H
#define CXIB_VERBS_QP_PIPELINING_H

#include <linux/workqueue.h>

#include "verbs/qp/qp.h"

struct cxib_signature_pipelining;

/*
 * Time from a signature error without SQ_DRAINED event to a query of the QP. A QP is queried only
 * if the event is lost.
 */
#define CXIB_LOST_STOP_DELAY	HZ

/**
 * enum cxib_stop - what cxib_qp_handle_stop() has found
 * @CXIB_STOP_NONE: the device executes WQEs, or the QP is in a state without stops
 * @CXIB_STOP_DRAINING: the device has not finished the WQEs that it has started
 * @CXIB_STOP_COLLECTED: the ULP must cancel WRs and resume the QP
 * @CXIB_STOP_RESUMED: the driver has handled the stop, and the device executes WQEs again
 * @CXIB_STOP_FAILED: the driver cannot handle the stop, and the QP is in ERR
 */
enum cxib_stop {
	CXIB_STOP_NONE,
	CXIB_STOP_DRAINING,
	CXIB_STOP_COLLECTED,
	CXIB_STOP_RESUMED,
	CXIB_STOP_FAILED,
};

/**
 * struct cxib_pipelining - signature pipelining of a QP
 * @qp: the QP
 * @is_manual: the policy is %CXIB_SIGNATURE_MANUAL: the ULP cancels and resumes
 * @is_closed: the driver could not handle a stop, so the QP is not resumed before RESET; protected
 *	by the mutex of the QP
 * @raises_drained: the work item must raise IB_EVENT_SQ_DRAINED; protected by the mutex of the QP
 * @raises_fatal: the work item must raise IB_EVENT_QP_FATAL; protected by the mutex of the QP
 * @work: handles a stop and raises events; queued by the SQ_DRAINED event
 * @failed: list of struct cxib_sig_mr with a signature error, until they are taken; protected by
 *	the xa_lock of sig_mrs
 * @num_errors: number of signature errors since the SQ was resumed; protected by the xa_lock of
 *	sig_mrs
 * @num_unknown: number of these errors whose MR is unknown, or was deregistered before it was
 *	taken; protected by the xa_lock of sig_mrs
 * @resume: index of the first WQE that the device has not started; protected by the lock of the
 *	SQ, valid with %CXIB_SQ_COLLECTED
 * @num_pauses: number of callers of modify_qp that wait for the end of stops: the doorbell is not
 *	rung; protected by the lock of the SQ
 * @stops: number of stops; protected by the mutex of the QP
 * @cancelled: number of WRs cancelled; protected by the lock of the SQ
 * @spurious: number of SQ_DRAINED events of a QP that was not stopped; protected by the mutex of
 *	the QP
 */
struct cxib_pipelining {
	struct cxib_qp *qp;
	bool is_manual;
	bool is_closed;
	bool raises_drained;
	bool raises_fatal;
	struct delayed_work work;
	struct list_head failed;
	u32 num_errors;
	u32 num_unknown;
	u32 resume;
	u32 num_pauses;
	u32 stops;
	u32 cancelled;
	u32 spurious;
};

/*
 * Starts the work item after the device has stopped the SQ. Returns false if the QP has no
 * signature pipelining.
 */
static inline bool cxib_pipelining_stopped(struct cxib_qp *qp)
{
	struct cxib_pipelining *pipelining = READ_ONCE(qp->pipelining);

	if (!pipelining)
		return false;
	mod_delayed_work(to_ibdev(qp->ib.device)->workqueue, &pipelining->work, 0);
	return true;
}

/*
 * Queries the QP some time after a signature error was polled, in case the SQ_DRAINED event is
 * lost. While the SQ is stopped, the work item itself looks for signature errors.
 */
static inline void cxib_pipelining_failed(const struct cxib_qp *qp)
{
	struct cxib_pipelining *pipelining = READ_ONCE(qp->pipelining);

	if (pipelining && !(READ_ONCE(qp->sq.state) & CXIB_SQ_STOPPED))
		queue_delayed_work(to_ibdev(qp->ib.device)->workqueue, &pipelining->work,
				   CXIB_LOST_STOP_DELAY);
}

static inline bool cxib_qp_is_manual(const struct cxib_qp *qp)
{
	const struct cxib_pipelining *pipelining = READ_ONCE(qp->pipelining);

	return pipelining && pipelining->is_manual;
}

/* ulp/signature_pipelining.c */
extern bool cxib_pipelining_is_offered;
extern const struct cxib_signature_pipelining cxib_signature_functions;
const struct cxib_signature_pipelining *cxib_find_signature_pipelining(struct ib_device *device);

/* qp_stop.c */
struct cxib_pipelining *cxib_pipelining_alloc(struct cxib_qp *qp, bool is_manual);
enum cxib_stop cxib_qp_handle_stop(struct cxib_qp *qp);
void cxib_qp_close(struct cxib_qp *qp);
bool cxib_qp_is_gone(const struct cxib_qp *qp);
int cxib_qp_resume(struct cxib_qp *qp);
void cxib_sq_pause(struct cxib_qp *qp);
void cxib_sq_unpause(struct cxib_qp *qp);

/* qp.c */
void cxib_pipelining_free(struct cxib_qp *qp);

/* send_rule.c */
int cxib_qp_check_send_wrs(const struct cxib_qp *qp, const struct ib_send_wr *wr);
bool cxib_qp_transfers_failed_mr(const struct cxib_qp *qp, const struct ib_send_wr *wr);

/* sq_cancel.c */
int cxib_sq_find_resume(const struct cxib_qp *qp, u16 counter, u32 consumed, u32 *resume);
int cxib_sq_cancel(struct cxib_qp *qp, u32 from, u64 wr_id);
int cxib_sq_cancel_response(struct cxib_qp *qp, u32 resume, u32 key);
int cxib_sq_cancel_unchecked(struct cxib_qp *qp, u32 resume, u32 key);

#endif
