// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stops of an SQ with signature pipelining.
 *
 * The device resumes the SQ at SQD2RTS_QP. cxib_qp_resume() is the only function that sends that
 * command for such a QP, and only for a stop whose signature errors are all known and handled: by
 * cancelled responses, or by the ULP. Any other stop ends in ERR.
 *
 * A stop is handled with the mutex of the QP, so it does not meet modify_qp and query_qp. An SQ is
 * collected when the errors found before its stop are listed: from then until it is resumed, the
 * ULP may cancel WQEs.
 */
#include <kunit/visibility.h>
#include <linux/slab.h>

#include "hw/commands_queue_pairs.h"
#include "hw/qp.h"
#include "verbs/cq/cq_poll.h"
#include "verbs/qp/pipelining.h"
#include "verbs/qp/post.h"
#include "verbs/signature/integrity.h"

/* Time for the device to finish the WQEs that it has started, before the QP is queried again. */
#define STOP_DRAIN_INTERVAL	msecs_to_jiffies(2)

static bool stop_is_collected(const struct cxib_qp *qp)
{
	return READ_ONCE(qp->sq.state) & CXIB_SQ_COLLECTED;
}

/**
 * cxib_qp_is_gone() - whether a QP with signature pipelining works no more
 * @qp: QP
 *
 * With the lock of the SQ held the result stays false until the lock is released, but for a device
 * that becomes fatal.
 *
 * Context: any.
 */
bool cxib_qp_is_gone(const struct cxib_qp *qp)
{
	u8 state = READ_ONCE(qp->state);

	return state == IB_QPS_ERR || state == IB_QPS_RESET ||
	       READ_ONCE(qp->sq.state) & CXIB_SQ_FAILED ||
	       cxib_verbs_dma_off(to_ibdev(qp->ib.device));
}

/**
 * cxib_qp_resume() - resume a QP that the device has stopped
 * @qp: QP with signature pipelining; its stop was handled, cxib_end_failures() has returned 0
 *
 * The QP stays in SQD if the ULP has requested SQD, too. The state is set before the command: the
 * device may stop the QP again before the command completes.
 *
 * Context: process context, may sleep.
 * Return: 0, or as cxib_cmd_modify_qp(): then the QP is to be moved to ERR.
 */
int cxib_qp_resume(struct cxib_qp *qp)
{
	const struct ib_qp_attr attr = { .cur_qp_state = IB_QPS_SQD, .qp_state = IB_QPS_RTS };
	struct cxib_qp_transition transition;
	int err;

	lockdep_assert_held(&qp->mutex);

	err = cxib_qp_transition(qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE, &transition);
	if (err)
		return err;
	cxib_qp_discard_stop(qp);
	return cxib_cmd_modify_qp(commands_of(to_ibdev(qp->ib.device)), &transition);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_qp_resume);

/* As modify_qp does; a fatal device executes no command, and stops DMA. */
static void stop_move_to_error(struct cxib_qp *qp)
{
	struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);
	int err = cxib_cmd_2err_qp(commands_of(ibdev), cxib_qp_uid(qp), qp->qpn);

	if (err && !cxib_command_queue_is_fatal(commands_of(ibdev)))
		return;
	if (err)
		cxib_hw_dma_off(ibdev->hw);
	cxib_sq_resume(qp);
	cxib_qp_enter_state(qp, IB_QPS_ERR);
}

/**
 * cxib_qp_close() - move a QP to ERR that must not be resumed
 * @qp: QP with signature pipelining
 *
 * Otherwise a good response for bad data might be sent. If the device refuses the command, the QP
 * stays stopped. The work item raises IB_EVENT_QP_FATAL.
 */
void cxib_qp_close(struct cxib_qp *qp)
{
	struct cxib_pipelining *pipelining = qp->pipelining;

	lockdep_assert_held(&qp->mutex);

	if (!pipelining->is_closed)
		pipelining->raises_fatal = true;
	pipelining->is_closed = true;
	stop_move_to_error(qp);
	if (pipelining->raises_fatal)
		cxib_pipelining_stopped(qp);
}

/**
 * cxib_sq_pause() - do not announce the WQEs that are posted from now on
 * @qp: QP with signature pipelining
 *
 * The device stops the SQ at most once for each WQE announced before.
 */
void cxib_sq_pause(struct cxib_qp *qp)
{
	scoped_guard(spinlock_irqsave, &qp->sq.lock)
		qp->pipelining->num_pauses++;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_sq_pause);

/**
 * cxib_sq_unpause() - undo cxib_sq_pause() and announce the WQEs posted meanwhile
 * @qp: QP
 */
void cxib_sq_unpause(struct cxib_qp *qp)
{
	scoped_guard(spinlock_irqsave, &qp->sq.lock)
		if (!--qp->pipelining->num_pauses && !(qp->sq.state & CXIB_SQ_HELD))
			cxib_sq_ring_db(qp);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_sq_unpause);

/* @consumed: cons_index before the QP was queried */
static int stop_find_resume(struct cxib_pipelining *pipelining, const struct hw_qpc *context,
			    u32 consumed)
{
	u16 counter = hw_qpc_get_hw_sq_wqebb_counter(context);
	struct cxib_qp *qp = pipelining->qp;
	int err = 0;

	scoped_guard(spinlock_irqsave, &qp->sq.lock)
		err = cxib_sq_find_resume(qp, counter, consumed, &pipelining->resume);
	if (err != -EIO)
		return err;
	ibdev_err(qp->ib.device, "QP 0x%x: no WQE begins at hw_sq_wqebb_counter: 0x%x (0x%x)\n",
		  qp->qpn, counter, READ_ONCE(qp->sq.prod_index) & U16_MAX);
	cxib_health_set_fatal(&to_ibdev(qp->ib.device)->hw->health,
			      "hw_sq_wqebb_counter of a QP out of range");
	return err;
}

/*
 * Cancels the response of the transfer whose MR, with mkey @key, has the signature error, and what
 * follows later transfers of the MR: the device does not check them.
 */
static int stop_cancel_response(struct cxib_pipelining *pipelining, u32 key)
{
	struct cxib_qp *qp = pipelining->qp;
	int cancelled = 0, later = 0;

	scoped_guard(spinlock_irqsave, &qp->sq.lock) {
		cancelled = cxib_sq_cancel_response(qp, pipelining->resume, key);
		if (cxib_sig_mkey_has_failed(to_ibdev(qp->ib.device), key))
			later = cxib_sq_cancel_unchecked(qp, pipelining->resume, key);
		if (cancelled >= 0 && later >= 0)
			pipelining->cancelled += cancelled + later;
	}
	if (cancelled >= 0 && later >= 0)
		return 0;
	ibdev_err(qp->ib.device, "QP 0x%x: no response to cancel for failed mkey: 0x%x\n",
		  qp->qpn, key);
	return -ENOENT;
}

static enum cxib_stop stop_fail(struct cxib_qp *qp)
{
	cxib_qp_close(qp);
	return CXIB_STOP_FAILED;
}

static enum cxib_stop stop_fail_unknown(struct cxib_pipelining *pipelining)
{
	struct cxib_qp *qp = pipelining->qp;

	ibdev_err(qp->ib.device,
		  "QP 0x%x: stopped without known signature error: %u errors (%u of unknown MRs)\n",
		  qp->qpn, READ_ONCE(pipelining->num_errors), READ_ONCE(pipelining->num_unknown));
	cxib_distrust_sig_mrs(to_ibdev(qp->ib.device), cxib_send_cq(qp)->cqn, qp->qpn);
	return stop_fail(qp);
}

static enum cxib_stop stop_cancel_and_resume(struct cxib_pipelining *pipelining)
{
	struct cxib_qp *qp = pipelining->qp;
	struct ib_sig_err error;
	int err;

	do {
		while (cxib_take_failed_mr(pipelining, &error))
			if (stop_cancel_response(pipelining, error.key))
				return stop_fail(qp);
		/* Last, because an MR may be deregistered before it is taken. */
		err = cxib_end_failures(pipelining);
	} while (err == -EBUSY);
	if (err)
		return stop_fail_unknown(pipelining);
	return cxib_qp_resume(qp) ? stop_fail(qp) : CXIB_STOP_RESUMED;
}

static enum cxib_stop stop_hand_to_ulp(struct cxib_pipelining *pipelining)
{
	struct cxib_qp *qp = pipelining->qp;

	if (!cxib_failures_are_known(pipelining))
		return stop_fail_unknown(pipelining);
	scoped_guard(spinlock_irqsave, &qp->sq.lock) {
		if (qp->sq.state & CXIB_SQ_FAILED)
			return CXIB_STOP_NONE;
		qp->sq.state |= CXIB_SQ_COLLECTED;
		cxib_qp_set_state(qp, IB_QPS_SQD);
	}
	pipelining->raises_drained = true;
	cxib_pipelining_stopped(qp);
	return CXIB_STOP_COLLECTED;
}

static enum cxib_stop stop_collect(struct cxib_pipelining *pipelining,
				   const struct hw_qpc *context, u32 consumed)
{
	struct cxib_qp *qp = pipelining->qp;
	int err = stop_find_resume(pipelining, context, consumed);

	if (err == -EIO)
		return CXIB_STOP_NONE;
	if (err)
		return stop_fail(qp);
	cxib_cq_note_signature_errors(cxib_send_cq(qp), qp);
	pipelining->stops++;
	return pipelining->is_manual ? stop_hand_to_ulp(pipelining) :
				       stop_cancel_and_resume(pipelining);
}

/* @stops: num_stops of the SQ before the QP was queried */
static enum cxib_stop stop_ignore_event(struct cxib_pipelining *pipelining, u32 stops)
{
	struct cxib_qp *qp = pipelining->qp;
	bool is_spurious = false;

	scoped_guard(spinlock_irqsave, &qp->sq.lock)
		if (qp->sq.num_stops == stops && qp->sq.state & CXIB_SQ_STOPPED) {
			qp->sq.state &= ~CXIB_SQ_STOPPED;
			is_spurious = true;
		}
	pipelining->spurious += is_spurious;
	return CXIB_STOP_NONE;
}

static enum cxib_stop stop_handle_state(struct cxib_pipelining *pipelining,
					const struct hw_qpc *context, u32 stops, u32 consumed)
{
	struct cxib_qp *qp = pipelining->qp;

	switch (hw_qpc_get_state(context)) {
	case HW_QP_STATE_SQD:
		/* The SQ_DRAINED event is lost, or still to come. */
		if (!(READ_ONCE(qp->sq.state) & CXIB_SQ_STOPPED))
			cxib_sq_stop(qp);
		return stop_collect(pipelining, context, consumed);
	case HW_QP_STATE_SQ_DRAINING:
		queue_delayed_work(to_ibdev(qp->ib.device)->workqueue, &pipelining->work,
				   STOP_DRAIN_INTERVAL);
		return CXIB_STOP_DRAINING;
	case HW_QP_STATE_RTS:
		return stop_ignore_event(pipelining, stops);
	default:
		return CXIB_STOP_NONE;
	}
}

static bool stop_is_possible(const struct cxib_qp *qp)
{
	return (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD) &&
	       !(READ_ONCE(qp->sq.state) & CXIB_SQ_FAILED);
}

/**
 * cxib_qp_handle_stop() - handle a stop of the SQ, if the device has stopped it
 * @qp: QP with signature pipelining
 *
 * Context: process context, may sleep.
 * Return: what was found and done.
 */
enum cxib_stop cxib_qp_handle_stop(struct cxib_qp *qp)
{
	struct cxib_pipelining *pipelining = qp->pipelining;
	struct cxib_command_queue *commands = commands_of(to_ibdev(qp->ib.device));
	u32 stops = READ_ONCE(qp->sq.num_stops);
	/* Pairs with cqe_retire_send(). */
	u32 consumed = smp_load_acquire(&qp->sq.cons_index);
	struct hw_qpc context;
	int err;

	lockdep_assert_held(&qp->mutex);

	if (!stop_is_possible(qp))
		return CXIB_STOP_NONE;
	if (pipelining->is_closed)
		return stop_fail(qp);
	if (stop_is_collected(qp))
		return CXIB_STOP_COLLECTED;
	err = cxib_cmd_query_qp(commands, cxib_qp_uid(qp), qp->qpn, &context);
	if (!err)
		return stop_handle_state(pipelining, &context, stops, consumed);
	return cxib_command_queue_is_fatal(commands) ? CXIB_STOP_NONE : stop_fail(qp);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_qp_handle_stop);

static void stop_raise_event(struct cxib_qp *qp, enum ib_event_type type)
{
	struct ib_event event = { .device = qp->ib.device, .element.qp = &qp->ib, .event = type };

	if (qp->ib.event_handler)
		qp->ib.event_handler(&event, qp->ib.qp_context);
}

static void stop_work_fn(struct work_struct *work)
{
	struct cxib_pipelining *pipelining =
		container_of(to_delayed_work(work), struct cxib_pipelining, work);
	struct cxib_qp *qp = pipelining->qp;
	bool raises_drained = false, raises_fatal = false;

	scoped_guard(mutex, &qp->mutex) {
		cxib_qp_handle_stop(qp);
		/* The ULP may have resumed the QP before it was notified of the stop. */
		raises_drained = pipelining->raises_drained && stop_is_collected(qp);
		raises_fatal = pipelining->raises_fatal;
		pipelining->raises_drained = false;
		pipelining->raises_fatal = false;
	}
	if (raises_drained)
		stop_raise_event(qp, IB_EVENT_SQ_DRAINED);
	if (raises_fatal)
		stop_raise_event(qp, IB_EVENT_QP_FATAL);
}

/**
 * cxib_pipelining_alloc() - allocate the signature pipelining of a QP
 * @qp: QP
 * @is_manual: the policy
 *
 * Return: NULL without memory.
 */
struct cxib_pipelining *cxib_pipelining_alloc(struct cxib_qp *qp, bool is_manual)
{
	struct cxib_pipelining *pipelining = kzalloc(sizeof(*pipelining), GFP_KERNEL);

	if (!pipelining)
		return NULL;
	pipelining->qp = qp;
	pipelining->is_manual = is_manual;
	INIT_LIST_HEAD(&pipelining->failed);
	INIT_DELAYED_WORK(&pipelining->work, stop_work_fn);
	return pipelining;
}
