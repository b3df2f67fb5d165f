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

/* After a signature error without SQ_DRAINED event, so long until the QP is queried. */
#define CXIB_LOST_STOP_DELAY	HZ

/**
 * struct cxib_pipelining - signature pipelining of a QP
 * @qp: the QP
 * @policy: enum cxib_signature_policy
 * @work: handles a stop; queued by the SQ_DRAINED event
 * @failed: struct cxib_sig_mr with a signature error that was neither fetched nor checked;
 *	protected by the xa_lock of sig_mrs
 * @resume: index of the first WQE that the device has not started; protected by the lock of the
 *	SQ, valid with %CXIB_SQ_COLLECTED
 * @stops: number of stops; protected by the mutex of the QP
 * @cancelled: number of WRs cancelled; protected by the lock of the SQ
 * @spurious: number of SQ_DRAINED events of a QP that was not stopped; protected by the mutex of
 *	the QP
 */
struct cxib_pipelining {
	struct cxib_qp *qp;
	u8 policy;
	struct delayed_work work;
	struct list_head failed;
	u32 resume;
	u32 stops;
	u32 cancelled;
	u32 spurious;
};

/* The device has stopped the SQ. Returns false if the QP has no signature pipelining. */
static inline bool cxib_pipelining_stopped(struct cxib_qp *qp)
{
	struct cxib_pipelining *pipelining = READ_ONCE(qp->pipelining);

	if (!pipelining)
		return false;
	mod_delayed_work(to_ibdev(qp->ib.device)->workqueue, &pipelining->work, 0);
	return true;
}

/* A signature error was polled. Between a stop and its end the work item looks for them itself. */
static inline void cxib_pipelining_failed(const struct cxib_qp *qp)
{
	struct cxib_pipelining *pipelining = READ_ONCE(qp->pipelining);

	if (pipelining && !(READ_ONCE(qp->sq.state) & CXIB_SQ_STOPPED))
		queue_delayed_work(to_ibdev(qp->ib.device)->workqueue, &pipelining->work,
				   CXIB_LOST_STOP_DELAY);
}

/* ulp/signature_pipelining.c */
extern bool cxib_pipelining_is_offered;
extern const struct cxib_signature_pipelining cxib_signature_functions;

/* sq_cancel.c */
int cxib_sq_find_resume(const struct cxib_qp *qp, u16 counter, u32 *resume);
int cxib_sq_cancel(struct cxib_qp *qp, u32 from, u64 wr_id);
int cxib_sq_cancel_response(struct cxib_qp *qp, u32 resume, u32 key);

#endif
