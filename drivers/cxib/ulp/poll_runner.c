// SPDX-License-Identifier: GPL-2.0-only
/* Runners of the polling contexts: queue CQs, and poll one at a time for its share of the time. */
#include <kunit/visibility.h>
#include <linux/delay.h>
#include <linux/dim.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <rdma/ib_verbs.h>

#include "ulp/poll.h"
#include "ulp/trace.h"

/* Returns the number of completions, less than @budget if the CQ was empty. */
static int runner_poll_batch(struct cxib_poll_cq *poll, int budget)
{
	int completed;

	WRITE_ONCE(poll->done_task, current);
	WRITE_ONCE(poll->batch, poll->batch + 1);
	completed = ib_process_cq_direct(&poll->cq->ib, budget);
	/* Pairs with cxib_poll_runner_synchronize(). */
	smp_store_release(&poll->batch, poll->batch + 1);
	WRITE_ONCE(poll->done_task, NULL);
	if (completed)
		poll->linger_until = 0;
	poll->completed += completed;
	WRITE_ONCE(poll->statistics.completed, poll->statistics.completed + completed);
	return completed;
}

static unsigned long runner_count_switches(void)
{
	return current->nvcsw + current->nivcsw;
}

static void runner_start_batch(struct cxib_poll_cq *poll, u64 now)
{
	poll->batch_start = now;
	poll->batch_ran = current->se.sum_exec_runtime;
	poll->batch_switches = runner_count_switches();
}

/*
 * A CQ pays for the processor, not for the time in which its done() handlers sleep or other tasks
 * run. The kernel counts the time of a task when it switches tasks, so without a switch in between
 * the clock is exact, and with one it is an upper limit. A softirq runs in any task, and does not
 * switch.
 */
static s64 runner_batch_cost(const struct cxib_poll_cq *poll, u64 now)
{
	s64 cost = now - poll->batch_start;

	if (poll->batch_switches != runner_count_switches())
		cost = min_t(s64, cost, current->se.sum_exec_runtime - poll->batch_ran);
	return cost;
}

/* Returns whether the quantum is used up. */
static bool runner_charge(struct cxib_poll_cq *poll, int completions)
{
	u64 now = local_clock();
	s64 cost = runner_batch_cost(poll, now);

	runner_start_batch(poll, now);
	return cxib_poll_entry_charge(&poll->entry, completions, cost);
}

/* Read without the lock: a CQ that is linked meanwhile is seen at the next look. */
static bool runner_has_others(struct cxib_poll_runner *runner)
{
	return !list_empty_careful(&runner->list.fresh) || !list_empty_careful(&runner->list.old);
}

static bool runner_is_thread(const struct cxib_poll_runner *runner)
{
	return runner->target == CXIB_POLL_THREAD || runner->target == CXIB_POLL_OWN_THREAD;
}

/* The CQ is empty. Other CQs of the runner and other tasks of the CPU take precedence. */
static bool runner_linger(struct cxib_poll_cq *poll)
{
	u64 busy_poll_ns = READ_ONCE(poll->busy_poll_ns);
	u64 now;

	if (!busy_poll_ns || !runner_is_thread(poll->runner))
		return false;
	now = local_clock();
	if (!poll->linger_until)
		poll->linger_until = now + busy_poll_ns;
	if (now >= poll->linger_until || need_resched() || runner_has_others(poll->runner))
		return false;
	cpu_relax();
	runner_start_batch(poll, now);
	return true;
}

/* As the RDMA core does when its poller has found the CQ empty. */
static void runner_feed_dim(struct cxib_poll_cq *poll)
{
#ifndef CXIB_LACKS_CQ_PRE_DESTROY
	if (poll->cq->ib.dim)
		rdma_dim(poll->cq->ib.dim, poll->completed);
#endif
}

static enum cxib_poll_end runner_arm(struct cxib_poll_cq *poll)
{
	int missed;

	/*
	 * ARMED before the arming is set, since the event that takes the arming expects it, and may
	 * queue the CQ with another runner. Both are full barriers, as is taking the arming.
	 */
	if (!cxib_poll_change(&poll->phase, CXIB_POLL_RUNNING, CXIB_POLL_ARMED))
		return CXIB_POLL_END_GONE;
	runner_feed_dim(poll);
	poll->completed = 0;
	poll->linger_until = 0;
	missed = ib_req_notify_cq(&poll->cq->ib, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS);
	trace_cq_arm(poll->cq, missed);
	if (missed <= 0)
		return CXIB_POLL_END_ARMED;
	poll->statistics.missed++;
	return CXIB_POLL_END_MISSED;
}

/*
 * Polls a CQ until its quantum is used up or it is empty, then arms it. An empty CQ may be polled
 * for longer than its quantum: runner_linger() looks after the others.
 */
static enum cxib_poll_end runner_poll(struct cxib_poll_cq *poll, unsigned int *completed)
{
	bool is_empty, is_over;
	int budget, polled;

	do {
		budget = cxib_poll_entry_batch(&poll->entry);
		polled = runner_poll_batch(poll, budget);
		*completed += polled;
		is_empty = polled < budget;
		/* A look at an empty CQ is free. */
		is_over = polled && runner_charge(poll, polled);
		if (is_over && !is_empty)
			return CXIB_POLL_END_QUANTUM;
	} while (!is_empty || runner_linger(poll));
	return runner_arm(poll);
}

/* Returns the time between queueing and turn. The clocks of two CPUs may differ slightly. */
static u64 runner_count_wait_ns(struct cxib_poll_cq *poll)
{
	u64 waited_ns = max_t(s64, poll->batch_start - poll->queued_at, 0);
	struct cxib_poll_statistics *statistics = &poll->statistics;

	statistics->turns++;
	statistics->wait_us_max = clamp_t(u64, div_u64(waited_ns, NSEC_PER_USEC),
					  statistics->wait_us_max, U32_MAX);
	return waited_ns;
}

/* The runner was idle: its entity calls cxib_poll_runner_turn() until that returns false. */
static void runner_kick(struct cxib_poll_runner *runner)
{
	struct cxib_poll_work *work;

	lockdep_assert_held(&runner->vector->lock);

	if (runner->target == CXIB_POLL_SOFTIRQ) {
		irq_poll_sched(&runner->vector->iop);
	} else if (runner_is_thread(runner)) {
		wake_up_process(container_of(runner, struct cxib_poll_thread, runner)->task);
	} else {
		work = container_of(runner, struct cxib_poll_work, runner);
		queue_work(work->workqueue, &work->work);
	}
}

/* The quantum is used up: the CQ waits behind the others. Else it was empty, or new. */
static void runner_link_cq(struct cxib_poll_runner *runner, struct cxib_poll_cq *poll,
			   bool is_backlogged)
{
	lockdep_assert_held(&poll->vector->lock);

	poll->queued_at = local_clock();
	/* Rounds are those of one list. */
	if (poll->runner != runner)
		cxib_poll_entry_init(&poll->entry, READ_ONCE(poll->weight));
	/* The RDMA core has polled the CQ, and counts for itself. */
	if (!poll->runner)
		poll->completed = 0;
	poll->runner = runner;
	poll->entry.weight = READ_ONCE(poll->weight);
	if (is_backlogged)
		cxib_poll_list_requeue(&runner->list, &poll->entry);
	else
		cxib_poll_list_add(&runner->list, &poll->entry);
	if (runner->is_active)
		return;
	runner->is_active = true;
	runner_kick(runner);
}

/*
 * Queues a CQ with cq->poll after an event, usually in the interrupt, which has taken the arming.
 * Returns true if a runner polls the CQ until it arms it; false if the RDMA core is to.
 */
bool cxib_poll_runner_queue(struct cxib_cq *cq)
{
	struct cxib_poll_cq *poll = READ_ONCE(cq->poll);
	struct cxib_poll_runner *runner;

	scoped_guard(spinlock_irqsave, &poll->vector->lock) {
		runner = poll->next_runner;
		if (!runner && cxib_poll_is_armed(&poll->phase))
			poll->runner = NULL;
		if (runner && cxib_poll_change(&poll->phase, CXIB_POLL_ARMED, CXIB_POLL_QUEUED)) {
			refcount_inc(&poll->reference.count);
			trace_cq_queue(cq);
			runner_link_cq(runner, poll, false);
		}
	}
	return runner;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_runner_queue);

/* Ends the turns of a CQ without events. One may still be running: it holds a reference. */
void cxib_poll_runner_remove(struct cxib_poll_cq *poll)
{
	bool is_linked;

	scoped_guard(spinlock_irqsave, &poll->vector->lock) {
		is_linked = cxib_poll_free(&poll->phase);
		if (is_linked)
			list_del_init(&poll->entry.node);
	}
	if (is_linked)
		cxib_reference_put(&poll->reference);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_runner_remove);

/**
 * cxib_poll_runner_synchronize() - wait for the done() handlers of a CQ that are running
 * @cq: CQ; its done() handlers do not call this
 *
 * The lock of the CQ orders the beginning of a batch and what the caller did before: a batch that
 * this does not see takes its CQEs after the caller has cleaned the ring.
 *
 * Context: process context, may sleep.
 */
void cxib_poll_runner_synchronize(struct cxib_cq *cq)
{
	const struct cxib_poll_cq *poll = READ_ONCE(cq->poll);
	u32 batch;

	if (!poll)
		return;
	/* Pairs with runner_poll_batch(). */
	batch = smp_load_acquire(&poll->batch);
	/* Pairs with runner_poll_batch(). */
	while (batch & 1 && smp_load_acquire(&poll->batch) == batch)
		usleep_range(USEC_PER_MSEC, 2 * USEC_PER_MSEC);
}

/* The next event kicks the runner, and finds a softirq ready to be scheduled. */
static void runner_set_idle(struct cxib_poll_runner *runner)
{
	lockdep_assert_held(&runner->vector->lock);

	runner->is_active = false;
	if (runner->target == CXIB_POLL_SOFTIRQ)
		irq_poll_complete(&runner->vector->iop);
}

/* The CQ is QUEUED, since cxib_poll_runner_remove() unlinks CQs that are freed. */
static struct cxib_poll_cq *runner_begin_turn(struct cxib_poll_runner *runner)
{
	struct cxib_poll_entry *entry;
	struct cxib_poll_cq *poll;

	scoped_guard(spinlock_irqsave, &runner->vector->lock) {
		entry = cxib_poll_list_next(&runner->list);
		poll = entry ? container_of(entry, struct cxib_poll_cq, entry) : NULL;
		if (poll)
			WARN_ON_ONCE(!cxib_poll_change(&poll->phase, CXIB_POLL_QUEUED,
						       CXIB_POLL_RUNNING));
		else
			runner_set_idle(runner);
	}
	return poll;
}

/*
 * A CQ that has completions left stays with its runner, unless it was given to another one
 * meanwhile: it may never be empty. Returns whether another CQ waits. An event may have queued
 * @poll with another runner by now.
 */
static bool runner_end_turn(struct cxib_poll_runner *runner, struct cxib_poll_cq *poll,
			    enum cxib_poll_end end)
{
	bool stays, has_left, is_idle;

	if (end == CXIB_POLL_END_QUANTUM)
		poll->statistics.quantum_ends++;
	scoped_guard(spinlock_irqsave, &runner->vector->lock) {
		stays = poll->next_runner == runner;
		has_left = cxib_poll_leave(&poll->phase, end,
					   stays ? CXIB_POLL_QUEUED : CXIB_POLL_ARMED);
		if (has_left && stays)
			runner_link_cq(runner, poll, end == CXIB_POLL_END_QUANTUM);
		is_idle = cxib_poll_list_idle(&runner->list);
		if (is_idle)
			runner_set_idle(runner);
	}
	if (has_left && !stays)
		cxib_cq_hand_over(poll->cq);
	if (!has_left || !stays)
		cxib_reference_put(&poll->reference);
	return !is_idle;
}

/*
 * Polls the next CQ for its share of the time. Only the entity of the runner calls this, and done()
 * handlers run in its context. Returns false if the runner is idle, with no other CQ to poll.
 */
bool cxib_poll_runner_turn(struct cxib_poll_runner *runner)
{
	struct cxib_poll_cq *poll = runner_begin_turn(runner);
	unsigned int completed = 0;
	enum cxib_poll_end end;
	u64 waited_ns, start;

	if (!poll)
		return false;
	start = local_clock();
	runner_start_batch(poll, start);
	waited_ns = runner_count_wait_ns(poll);
	end = runner_poll(poll, &completed);
	trace_cq_run(poll->cq, waited_ns, local_clock() - start, completed, end);
	return runner_end_turn(runner, poll, end);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_runner_turn);

/* Makes a zeroed runner idle. A CQ of weight 1 has turns of @quantum_us microseconds. */
void cxib_poll_runner_init(struct cxib_poll_runner *runner, struct cxib_poll_vector *vector,
			   enum cxib_poll_target target, u32 quantum_us)
{
	runner->vector = vector;
	runner->target = target;
	cxib_poll_list_init(&runner->list, quantum_us * NSEC_PER_USEC);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_runner_init);
