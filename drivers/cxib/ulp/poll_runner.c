// SPDX-License-Identifier: GPL-2.0-only
/* Runners of the polling contexts: queue CQs, and poll one at a time for its share of the time. */
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

static struct cxib_poll_cq *runner_from_state(struct cxib_poll_state *state)
{
	return container_of(state, struct cxib_poll_cq, state);
}

static int runner_poll_batch(struct cxib_poll_state *state, int budget)
{
	struct cxib_poll_cq *poll = runner_from_state(state);
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
	poll->runner->turn_completed += completed;
	return completed;
}

static unsigned int runner_batch_size(struct cxib_poll_state *state)
{
	return cxib_poll_entry_batch(&runner_from_state(state)->entry);
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

static bool runner_charge(struct cxib_poll_state *state, int completions)
{
	struct cxib_poll_cq *poll = runner_from_state(state);
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
static bool runner_linger(struct cxib_poll_state *state)
{
	struct cxib_poll_cq *poll = runner_from_state(state);
	u64 busy_poll_ns = READ_ONCE(poll->busy_poll_ns);
	u64 now;

	if (!busy_poll_ns || !runner_is_thread(poll->runner))
		return false;
	now = local_clock();
	if (!poll->linger_until)
		poll->linger_until = now + busy_poll_ns;
	if (now >= poll->linger_until || need_resched() ||
	    runner_has_others(poll->runner))
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

/* Once the CQ is armed, an event may queue it with another runner. */
static int runner_arm(struct cxib_poll_state *state)
{
	struct cxib_poll_cq *poll = runner_from_state(state);
	int missed;

	cxib_poll_entry_emptied(&poll->entry);
	runner_feed_dim(poll);
	poll->completed = 0;
	poll->linger_until = 0;
	missed = ib_req_notify_cq(&poll->cq->ib, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS);
	trace_cq_arm(poll->cq, missed);
	if (missed)
		poll->statistics.missed++;
	return missed;
}

static const struct cxib_poll_ops turn_ops = {
	.poll = runner_poll_batch,
	.batch = runner_batch_size,
	.charge = runner_charge,
	.linger = runner_linger,
	.arm = runner_arm,
};

/* Returns the time between queueing and turn in nanoseconds. */
static u64 runner_count_wait(struct cxib_poll_cq *poll)
{
	struct cxib_poll_statistics *statistics = &poll->statistics;
	s64 waited = poll->batch_start - poll->queued_at;
	u32 wait_us;

	/* The clocks of two CPUs may differ slightly. */
	waited = max(waited, 0LL);
	wait_us = min_t(u64, div_u64(waited, NSEC_PER_USEC), U32_MAX);
	statistics->turns++;
	statistics->wait_us_max = max(statistics->wait_us_max, wait_us);
	return waited;
}

static struct cxib_poll_thread *runner_thread_of(struct cxib_poll_runner *runner)
{
	return container_of(runner, struct cxib_poll_thread, runner);
}

static struct cxib_poll_work *runner_work_of(struct cxib_poll_runner *runner)
{
	return container_of(runner, struct cxib_poll_work, runner);
}

/* The runner was idle: its entity calls cxib_poll_runner_turn() until that returns false. */
static void runner_kick(struct cxib_poll_runner *runner)
{
	lockdep_assert_held(&runner->vector->lock);

	if (runner->target == CXIB_POLL_SOFTIRQ)
		irq_poll_sched(&runner->vector->iop);
	else if (runner_is_thread(runner))
		wake_up_process(runner_thread_of(runner)->task);
	else
		queue_work(runner_work_of(runner)->workqueue, &runner_work_of(runner)->work);
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

/**
 * cxib_poll_runner_queue() - queue a CQ after an event
 * @poll: CQ whose arming was taken
 *
 * Context: any.
 * Return: true if a runner polls the CQ until it arms it; false if the RDMA core is to.
 */
bool cxib_poll_runner_queue(struct cxib_poll_cq *poll)
{
	struct cxib_poll_runner *runner;
	unsigned long flags;

	spin_lock_irqsave(&poll->vector->lock, flags);
	runner = poll->next_runner;
	if (!runner) {
		if (cxib_poll_is_armed(&poll->state))
			poll->runner = NULL;
	} else if (cxib_poll_event(&poll->state)) {
		refcount_inc(&poll->reference.count);
		trace_cq_queue(poll->cq);
		runner_link_cq(runner, poll, false);
	}
	spin_unlock_irqrestore(&poll->vector->lock, flags);
	return runner;
}

/**
 * cxib_poll_runner_change() - let another runner have a CQ from its next event or turn on
 * @poll: CQ
 * @next: the runner, whose entity exists; NULL: the RDMA core
 *
 * Context: any.
 */
void cxib_poll_runner_change(struct cxib_poll_cq *poll, struct cxib_poll_runner *next)
{
	scoped_guard(spinlock_irqsave, &poll->vector->lock)
		poll->next_runner = next;
}

/**
 * cxib_poll_runner_current() - what polls a CQ
 * @cq: CQ that a runner can poll; the caller holds the policy lock
 *
 * Context: any.
 * Return: what polls the CQ now, or after the next event if nothing does.
 */
enum cxib_poll_target cxib_poll_runner_current(const struct cxib_cq *cq)
{
	struct cxib_poll_cq *poll = cq->poll;
	enum cxib_poll_target target;

	if (!poll)
		return CXIB_POLL_CORE;
	target = poll->target;
	scoped_guard(spinlock_irqsave, &poll->vector->lock) {
		if (!cxib_poll_is_armed(&poll->state))
			target = poll->runner ? poll->runner->target : target;
		else if (!poll->runner && !cxib_arming_is_set(&cq->arming))
			target = CXIB_POLL_CORE;
	}
	return target;
}

/**
 * cxib_poll_runner_remove() - end the turns of a CQ
 * @poll: CQ without events
 *
 * A turn may still be running: it holds a reference to @poll.
 *
 * Context: process context.
 */
void cxib_poll_runner_remove(struct cxib_poll_cq *poll)
{
	bool is_linked;

	scoped_guard(spinlock_irqsave, &poll->vector->lock) {
		is_linked = cxib_poll_free(&poll->state);
		if (is_linked)
			list_del_init(&poll->entry.node);
	}
	if (is_linked)
		cxib_reference_put(&poll->reference);
}

/**
 * cxib_poll_runner_synchronize() - wait for the done() handlers of a CQ that are running
 * @poll: CQ; its done() handlers do not call this
 *
 * The lock of the CQ orders the beginning of a batch and what the caller did before: a batch that
 * this does not see takes its CQEs after the caller has cleaned the ring.
 *
 * Context: process context, may sleep.
 */
void cxib_poll_runner_synchronize(const struct cxib_poll_cq *poll)
{
	/* Pairs with runner_poll_batch(). */
	u32 batch = smp_load_acquire(&poll->batch);

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

static struct cxib_poll_cq *runner_begin_turn(struct cxib_poll_runner *runner)
{
	struct cxib_poll_entry *entry;
	struct cxib_poll_cq *poll = NULL;

	scoped_guard(spinlock_irqsave, &runner->vector->lock) {
		entry = cxib_poll_list_next(&runner->list);
		if (entry) {
			poll = container_of(entry, struct cxib_poll_cq, entry);
			/* cxib_poll_runner_remove() unlinks CQs that are freed. */
			WARN_ON_ONCE(!cxib_poll_begin(&poll->state));
		} else {
			runner_set_idle(runner);
		}
	}
	return poll;
}

/*
 * Returns whether the CQ has to be handed over. A CQ that has completions left stays with its
 * runner, unless it was given to another one meanwhile: it may never be empty.
 */
static bool runner_requeue_or_release(struct cxib_poll_runner *runner, struct cxib_poll_cq *poll,
				      enum cxib_poll_end end, bool *is_linked)
{
	lockdep_assert_held(&poll->vector->lock);

	*is_linked = false;
	if (poll->next_runner != runner)
		return cxib_poll_release(&poll->state, end);
	*is_linked = cxib_poll_requeue(&poll->state, end);
	if (*is_linked)
		runner_link_cq(runner, poll, end == CXIB_POLL_END_QUANTUM);
	return false;
}

/* Returns whether another CQ waits. An event may have queued @poll with another runner by now. */
static bool runner_end_turn(struct cxib_poll_runner *runner, struct cxib_poll_cq *poll,
			    enum cxib_poll_end end)
{
	bool is_linked, is_released, is_idle;

	if (end == CXIB_POLL_END_QUANTUM)
		poll->statistics.quantum_ends++;
	scoped_guard(spinlock_irqsave, &runner->vector->lock) {
		is_released = runner_requeue_or_release(runner, poll, end, &is_linked);
		is_idle = cxib_poll_list_idle(&runner->list);
		if (is_idle)
			runner_set_idle(runner);
	}
	if (is_released)
		cxib_cq_hand_over(poll->cq);
	if (!is_linked)
		cxib_reference_put(&poll->reference);
	return !is_idle;
}

/**
 * cxib_poll_runner_turn() - poll the next CQ for its share of the time
 * @runner: runner; only its entity calls this
 *
 * Context: that of the entity; done() handlers run.
 * Return: true if there is another CQ to poll; false if the runner is idle.
 */
bool cxib_poll_runner_turn(struct cxib_poll_runner *runner)
{
	struct cxib_poll_cq *poll = runner_begin_turn(runner);
	enum cxib_poll_end end;
	u64 waited, start;

	if (!poll)
		return false;
	start = local_clock();
	runner_start_batch(poll, start);
	waited = runner_count_wait(poll);
	runner->turn_completed = 0;
	end = cxib_poll_turn(&poll->state, &turn_ops);
	trace_cq_run(poll->cq, waited, local_clock() - start, runner->turn_completed, end);
	return runner_end_turn(runner, poll, end);
}

/**
 * cxib_poll_runner_init() - initialise an idle runner
 * @runner: zeroed
 * @vector: completion vector of its CQs
 * @target: what it is
 * @quantum_us: time of a CQ of weight 1 in a turn, in microseconds
 */
void cxib_poll_runner_init(struct cxib_poll_runner *runner, struct cxib_poll_vector *vector,
			   enum cxib_poll_target target, u32 quantum_us)
{
	runner->vector = vector;
	runner->target = target;
	cxib_poll_list_init(&runner->list, quantum_us * NSEC_PER_USEC);
}
