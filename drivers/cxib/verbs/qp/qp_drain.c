// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draining send queues (InfiniBand Architecture Specification volume 1, 10.3.1,
 * the state SQD).
 *
 * No command takes a queue pair there, so the driver does not tell the device of
 * what is posted from then on, and waits for the last request that it was told
 * of. One that has no completion gets an empty one behind it, the mark, whose
 * completion nobody sees.
 */
#include <kunit/visibility.h>
#include <linux/slab.h>

#include "hw/commands_queue_pairs.h"
#include "hw/work_queue.h"
#include "verbs/cq/cq_poll.h"
#include "verbs/qp/post.h"
#include "verbs/qp/qp.h"

/* Who waits for an event waits so much longer, at most. */
#define POLL_INTERVAL	msecs_to_jiffies(2)

static bool is_done(struct cxib_qp *qp, u32 end, u16 last)
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
 * cxib_sq_is_drained() - nothing is under way in the send queue
 * @qp: queue pair
 *
 * What has completed counts, whether it was polled or not.
 */
bool cxib_sq_is_drained(struct cxib_qp *qp)
{
	u32 end;
	u16 last;

	scoped_guard(spinlock_irqsave, &qp->sq.lock) {
		if (!qp->sq.sqd_hold)
			return false;
		end = qp->drain->end;
		last = qp->drain->last;
	}
	return !qp->has_sq || is_done(qp, end, last);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_sq_is_drained);

/* Each time that draining was asked for there is one event. */
static bool take_notice(struct cxib_qp *qp)
{
	unsigned long flags;
	bool wanted;

	spin_lock_irqsave(&qp->sq.lock, flags);
	wanted = qp->sq.sqd_hold && qp->drain->notify;
	qp->drain->notify = false;
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	return wanted;
}

static void await_end(struct work_struct *work)
{
	struct cxib_drain *drain = container_of(to_delayed_work(work), struct cxib_drain, work);
	struct cxib_qp *qp = drain->qp;
	struct ib_event event = {
		.device = qp->ib.device,
		.element.qp = &qp->ib,
		.event = IB_EVENT_SQ_DRAINED,
	};

	if (!READ_ONCE(qp->sq.sqd_hold))
		return;
	if (!cxib_sq_is_drained(qp))
		queue_delayed_work(system_wq, &drain->work, POLL_INTERVAL);
	else if (take_notice(qp) && qp->ib.event_handler)
		qp->ib.event_handler(&event, qp->ib.qp_context);
}

static int prepare(struct cxib_qp *qp)
{
	if (qp->drain)
		return 0;
	qp->drain = kzalloc(sizeof(*qp->drain), GFP_KERNEL);
	if (!qp->drain)
		return -ENOMEM;
	qp->drain->qp = qp;
	INIT_DELAYED_WORK(&qp->drain->work, await_end);
	return 0;
}

/* Block at which the youngest request begins. */
static u32 find_last(const struct cxib_sq *sq)
{
	u32 at, last = sq->prod_index;

	lockdep_assert_held(&sq->lock);

	for (at = READ_ONCE(sq->cons_index); at != sq->prod_index;
	     at += sq->entries[at & sq->mask].blocks)
		last = at;
	return last;
}

static bool is_signalled(const struct cxib_qp *qp, u32 block)
{
	const struct hw_wqe_ctrl_seg *control = cxib_sq_wqebb(qp, block);

	return hw_wqe_ctrl_seg_get_ce(control) == HW_COMPLETION_MODE_CQ_UPDATE;
}

/* Says what is waited for. Returns -ENOMEM if there is no room for a mark. */
static int choose_last(struct cxib_qp *qp)
{
	struct cxib_sq *sq = &qp->sq;
	u32 last = find_last(sq);

	if (last != sq->prod_index && !is_signalled(qp, last)) {
		last = sq->prod_index;
		if (!cxib_post_nop(qp))
			return -ENOMEM;
	}
	qp->drain->end = sq->prod_index;
	qp->drain->last = last;
	return 0;
}

/* Stops posting in its tracks. */
static int hold(struct cxib_qp *qp, bool notify)
{
	unsigned long flags;
	int err;

	spin_lock_irqsave(&qp->sq.lock, flags);
	err = choose_last(qp);
	if (!err) {
		qp->drain->notify = notify;
		qp->sq.sqd_hold = true;
	}
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	return err;
}

/**
 * cxib_sq_drain() - from RTS to SQD
 * @qp: queue pair of the kernel
 * @notify: tell with an event when the send queue is drained
 *
 * Context: process context, may sleep.
 * Return: 0; -EOPNOTSUPP for a queue pair of a program, which rings its doorbell
 * itself; -ENOMEM, also when the send queue is full of requests without
 * completion.
 */
int cxib_sq_drain(struct cxib_qp *qp, bool notify)
{
	int err;

	lockdep_assert_held(&qp->mutex);

	if (qp->is_user) {
		ibdev_dbg(qp->ib.device, "queue pair 0x%x cannot be drained: its doorbell is the program's\n",
			  qp->qpn);
		return -EOPNOTSUPP;
	}
	err = prepare(qp);
	if (!err)
		err = hold(qp, notify);
	if (!err && notify)
		queue_delayed_work(system_wq, &qp->drain->work, 0);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_sq_drain);

/**
 * cxib_sq_resume() - the device is told of what was posted meanwhile
 * @qp: queue pair; nothing happens unless it is in SQD because of the driver
 */
void cxib_sq_resume(struct cxib_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->sq.lock, flags);
	qp->sq.sqd_hold = false;
	cxib_sq_ring_db(qp);
	spin_unlock_irqrestore(&qp->sq.lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_sq_resume);

/**
 * cxib_drain_destroy() - no event comes any more
 * @qp: queue pair that is about to go
 */
void cxib_drain_destroy(struct cxib_qp *qp)
{
	if (!qp->drain)
		return;
	WRITE_ONCE(qp->sq.sqd_hold, false);
	cancel_delayed_work_sync(&qp->drain->work);
	kfree(qp->drain);
	qp->drain = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_drain_destroy);
