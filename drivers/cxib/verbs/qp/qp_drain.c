// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draining send queues (InfiniBand Architecture Specification volume 1, 10.3.1,
 * the state SQD).
 *
 * The device has no RTS2SQD command. The driver stops ringing the SQ doorbell and waits for the CQE
 * of the last WQE that it has announced. If that WQE is unsignaled, the driver posts a signaled NOP
 * WQE after it; poll_cq() consumes the CQE of the NOP without reporting it.
 *
 * A device with drain_sigerr moves a QP to SQD after a signature error. The event SQ_DRAINED
 * reports that no WQE is in progress.
 */
#include <kunit/visibility.h>
#include <linux/slab.h>

#include "compat/workqueue.h"
#include "hw/commands_queue_pairs.h"
#include "hw/work_queue.h"
#include "verbs/cq/cq_poll.h"
#include "verbs/qp/post.h"
#include "verbs/qp/qp.h"

/*
 * The driver polls for the CQE of the last WQE, which raises no event. So the period is the maximum
 * delay of IB_EVENT_SQ_DRAINED.
 */
#define POLL_INTERVAL	msecs_to_jiffies(2)

static bool drain_is_done(struct cxib_qp *qp, u32 end, u16 last)
{
	struct cxib_cq *cq = cxib_send_cq(qp);
	unsigned long flags;
	bool done;

	spin_lock_irqsave(&cq->lock, flags);
	done = (s32)(qp->sq.cons_index - end) >= 0 || cxib_cq_has_send_cqe(cq, qp->qpn, last);
	spin_unlock_irqrestore(&cq->lock, flags);
	return done;
}

/**
 * cxib_sq_is_drained() - whether a QP is in SQD by request and no WQE is in progress
 * @qp: QP
 *
 * A WQE with a CQE is no longer in progress, whether or not the CQE was polled. If the device has
 * stopped the SQ, the announced WQEs that it has not started do not complete before the QP is in
 * RTS, so the SQ is drained. With signature pipelining they complete after the driver has handled
 * the stop; until then the SQ is not drained.
 */
bool cxib_sq_is_drained(struct cxib_qp *qp)
{
	u32 end;
	u16 last;

	scoped_guard(spinlock_irqsave, &qp->sq.lock) {
		if (!(qp->sq.state & CXIB_SQ_HELD))
			return false;
		if (qp->sq.state & CXIB_SQ_STOPPED)
			return !qp->sq.is_pipelined;
		end = qp->drain->end;
		last = qp->drain->last;
	}
	return !qp->has_sq || drain_is_done(qp, end, last);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_sq_is_drained);

/* Each transition to SQD with notification raises one event. */
static bool drain_test_and_clear_notify(struct cxib_qp *qp)
{
	unsigned long flags;
	bool wanted;

	spin_lock_irqsave(&qp->sq.lock, flags);
	wanted = qp->sq.state & CXIB_SQ_HELD && qp->drain->notify;
	qp->drain->notify = false;
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	return wanted;
}

static void drain_work_fn(struct work_struct *work)
{
	struct cxib_drain *drain = container_of(to_delayed_work(work), struct cxib_drain, work);
	struct cxib_qp *qp = drain->qp;
	struct ib_event event = {
		.device = qp->ib.device,
		.element.qp = &qp->ib,
		.event = IB_EVENT_SQ_DRAINED,
	};

	if (!(READ_ONCE(qp->sq.state) & CXIB_SQ_HELD))
		return;
	if (!cxib_sq_is_drained(qp))
		queue_delayed_work(system_percpu_wq, &drain->work, POLL_INTERVAL);
	else if (drain_test_and_clear_notify(qp) && qp->ib.event_handler)
		qp->ib.event_handler(&event, qp->ib.qp_context);
}

static int drain_prepare(struct cxib_qp *qp)
{
	if (qp->drain)
		return 0;
	qp->drain = kzalloc(sizeof(*qp->drain), GFP_KERNEL);
	if (!qp->drain)
		return -ENOMEM;
	qp->drain->qp = qp;
	INIT_DELAYED_WORK(&qp->drain->work, drain_work_fn);
	return 0;
}

/* Returns the index of the first WQEBB of the last WQE; prod_index if no WQE is outstanding. */
static u32 drain_find_last(const struct cxib_sq *sq)
{
	u32 at, last = sq->prod_index;

	lockdep_assert_held(&sq->lock);

	for (at = READ_ONCE(sq->cons_index); at != sq->prod_index;
	     at += sq->entries[at & sq->mask].blocks)
		last = at;
	return last;
}

/*
 * Chooses the WQE whose CQE ends the drain. Returns -ENOMEM if the SQ has no WQEBB for a NOP WQE.
 */
static int drain_choose_last(struct cxib_qp *qp)
{
	struct cxib_sq *sq = &qp->sq;
	u32 last = drain_find_last(sq);

	if (last != sq->prod_index && !cxib_sq_is_signaled(qp, last)) {
		last = sq->prod_index;
		if (!cxib_post_nop(qp))
			return -ENOMEM;
	}
	qp->drain->end = sq->prod_index;
	qp->drain->last = last;
	return 0;
}

/* Holds the SQ: from here on, its doorbell is not rung. */
static int drain_hold(struct cxib_qp *qp, bool notify)
{
	unsigned long flags;
	int err;

	spin_lock_irqsave(&qp->sq.lock, flags);
	/* WRs that were posted while the SQ was paused must complete, too. */
	cxib_sq_ring_db(qp);
	err = drain_choose_last(qp);
	if (!err) {
		qp->drain->notify = notify;
		qp->sq.state |= CXIB_SQ_HELD;
	}
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	return err;
}

/**
 * cxib_sq_drain() - transition from RTS to SQD
 * @qp: kernel QP
 * @notify: raise IB_EVENT_SQ_DRAINED when the SQ is drained
 *
 * Context: process context, may sleep.
 * Return: 0; -EOPNOTSUPP for a user QP, because user space rings its doorbell;
 * -ENOMEM, also if the SQ is full and its last WQE is unsignaled.
 */
int cxib_sq_drain(struct cxib_qp *qp, bool notify)
{
	int err;

	lockdep_assert_held(&qp->mutex);

	if (qp->is_user) {
		ibdev_dbg(qp->ib.device, "QP 0x%x: SQD not supported for user QPs\n",
			  qp->qpn);
		return -EOPNOTSUPP;
	}
	err = drain_prepare(qp);
	if (!err)
		err = drain_hold(qp, notify);
	if (!err && notify)
		queue_delayed_work(system_percpu_wq, &qp->drain->work, 0);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_sq_drain);

/**
 * cxib_sq_resume() - undo cxib_sq_drain() and announce the WQEs posted meanwhile
 * @qp: QP; no effect unless its SQ is held by cxib_sq_drain()
 */
void cxib_sq_resume(struct cxib_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->sq.lock, flags);
	qp->sq.state &= ~CXIB_SQ_HELD;
	cxib_sq_ring_db(qp);
	spin_unlock_irqrestore(&qp->sq.lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_sq_resume);

/**
 * cxib_sq_stop() - record that the device has stopped the SQ of a QP
 * @qp: QP; no effect unless it is in RTS or SQD, because the event may be older than its state
 *
 * The state of the QP changes only with its mutex held, see cxib_qp_adopt_stop().
 *
 * Context: any.
 */
void cxib_sq_stop(struct cxib_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->sq.lock, flags);
	if (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD) {
		qp->sq.state |= CXIB_SQ_STOPPED;
		qp->sq.num_stops++;
	}
	spin_unlock_irqrestore(&qp->sq.lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_sq_stop);

/*
 * Returns true if the ULP sees SQD and must resume the QP. With signature pipelining this is so
 * after the driver has collected the stop. A program sees SQD only if it queries the QP.
 */
static bool drain_is_stopped_for_ulp(const struct cxib_qp *qp)
{
	if (qp->is_user)
		return false;
	return qp->sq.state & (qp->sq.is_pipelined ? CXIB_SQ_COLLECTED : CXIB_SQ_STOPPED);
}

/**
 * cxib_qp_adopt_stop() - enter SQD if the device has stopped the SQ of a kernel QP
 * @qp: QP
 */
void cxib_qp_adopt_stop(struct cxib_qp *qp)
{
	lockdep_assert_held(&qp->mutex);

	scoped_guard(spinlock_irqsave, &qp->sq.lock)
		if (qp->state == IB_QPS_RTS && drain_is_stopped_for_ulp(qp))
			cxib_qp_set_state(qp, IB_QPS_SQD);
}

/**
 * cxib_sq_fail() - record that the device has reported an error that moves the QP to ERR
 * @qp: QP with signature pipelining; no effect unless it is in RTS or SQD
 *
 * Afterwards the ULP may neither cancel WRs nor resume the QP.
 *
 * Context: any.
 */
void cxib_sq_fail(struct cxib_qp *qp)
{
	scoped_guard(spinlock_irqsave, &qp->sq.lock)
		if (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD) {
			qp->sq.state |= CXIB_SQ_FAILED;
			qp->sq.state &= ~CXIB_SQ_COLLECTED;
		}
}

/**
 * cxib_sq_clear_stop() - record that the device is about to execute WQEs again
 * @qp: QP
 *
 * Called before SQD2RTS_QP: the device may stop the SQ again before the command completes,
 * and that stop must not be cleared.
 *
 * Return: argument of cxib_sq_restore_stop() if the command fails.
 */
u8 cxib_sq_clear_stop(struct cxib_qp *qp)
{
	u8 stop = 0;

	scoped_guard(spinlock_irqsave, &qp->sq.lock) {
		stop = qp->sq.state & ~CXIB_SQ_HELD;
		qp->sq.state &= CXIB_SQ_HELD;
	}
	return stop;
}

/**
 * cxib_sq_restore_stop() - undo cxib_sq_clear_stop()
 * @qp: QP
 * @stop: result of cxib_sq_clear_stop()
 */
void cxib_sq_restore_stop(struct cxib_qp *qp, u8 stop)
{
	scoped_guard(spinlock_irqsave, &qp->sq.lock)
		qp->sq.state |= stop;
}

/**
 * cxib_qp_discard_stop() - record that the device has not stopped the SQ, so its event was wrong
 * @qp: QP
 */
void cxib_qp_discard_stop(struct cxib_qp *qp)
{
	lockdep_assert_held(&qp->mutex);

	cxib_sq_clear_stop(qp);
	cxib_qp_enter_state(qp, READ_ONCE(qp->sq.state) & CXIB_SQ_HELD ? IB_QPS_SQD : IB_QPS_RTS);
}

/**
 * cxib_qp_enter_state() - set the state of a QP after a command has succeeded
 * @qp: QP
 * @state: target state of the command
 *
 * The QP enters SQD instead of RTS if the device has stopped the SQ during the command and the ULP
 * handles the stop. An SQ is stopped in RTS and SQD only.
 */
void cxib_qp_enter_state(struct cxib_qp *qp, enum ib_qp_state state)
{
	unsigned long flags;

	lockdep_assert_held(&qp->mutex);

	spin_lock_irqsave(&qp->sq.lock, flags);
	if (state == IB_QPS_RTS && drain_is_stopped_for_ulp(qp))
		state = IB_QPS_SQD;
	else if (state != IB_QPS_SQD && state != IB_QPS_RTS)
		qp->sq.state &= CXIB_SQ_HELD;
	cxib_qp_set_state(qp, state);
	spin_unlock_irqrestore(&qp->sq.lock, flags);
}

/**
 * cxib_drain_destroy() - stop the work item that waits for the drain
 * @qp: QP that is being destroyed
 */
void cxib_drain_destroy(struct cxib_qp *qp)
{
	if (!qp->drain)
		return;
	WRITE_ONCE(qp->sq.state, 0);
	cancel_delayed_work_sync(&qp->drain->work);
	kfree(qp->drain);
	qp->drain = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_drain_destroy);
