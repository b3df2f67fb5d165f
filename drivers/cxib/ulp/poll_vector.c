// SPDX-License-Identifier: GPL-2.0-only
/* Softirq and thread of a completion vector, and the threads of CQs. */
#include <linux/bottom_half.h>
#include <linux/irq_poll.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/isolation.h>
#include <uapi/linux/sched/types.h>

#include "compat/kthread.h"
#include "hw/hw.h"
#include "ulp/poll.h"

/* A call counts as this much of the budget of 256 that a softirq has. */
#define SOFTIRQ_WEIGHT		64

/*
 * The whole budget: the softirq calls again. Less: irq_poll_complete() was called. Turns of CQs
 * that were soon empty share a call, so that many quiet CQs do not use up the budget.
 */
static int vector_poll_softirq(struct irq_poll *iop, int budget)
{
	struct cxib_poll_vector *vector = container_of(iop, struct cxib_poll_vector, iop);
	struct cxib_poll_runner *runner = &vector->softirq;
	u64 end = local_clock() + READ_ONCE(runner->list.quantum_ns);
	bool is_active;

	do {
		is_active = cxib_poll_runner_turn(runner);
	} while (is_active && local_clock() < end);
	return is_active ? budget : 0;
}

/*
 * done() handlers of a CQ that was allocated for softirq context take locks that others take with
 * bottom halves disabled.
 */
static bool vector_run_thread_turn(struct cxib_poll_runner *runner)
{
	bool is_active;

	if (runner->target == CXIB_POLL_OWN_THREAD)
		return cxib_poll_runner_turn(runner);
	local_bh_disable();
	is_active = cxib_poll_runner_turn(runner);
	local_bh_enable();
	return is_active;
}

/*
 * A thread of one CQ competes with those of other CQs: it lets the scheduler choose after each
 * turn, and does not wait for the tick. One of a vector may never switch, which RCU tasks wait for.
 */
static void vector_let_others_run(const struct cxib_poll_runner *runner)
{
	if (runner->target == CXIB_POLL_OWN_THREAD)
		schedule();
	else
		cond_resched_tasks_rcu_qs();
}

static int vector_thread_fn(void *data)
{
	struct cxib_poll_runner *runner = data;

	for (;;) {
		/* A full barrier: runner_kick() follows the store of is_active. */
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		if (!READ_ONCE(runner->is_active)) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		while (vector_run_thread_turn(runner))
			vector_let_others_run(runner);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* CPUs of the NUMA node of the device that are not isolated; without a node, of all nodes. */
static void vector_set_cpus(struct task_struct *task, int node)
{
	const struct cpumask *near = node == NUMA_NO_NODE ? cpu_possible_mask :
							    cpumask_of_node(node);
	cpumask_var_t cpus;

	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return;
	cpumask_and(cpus, near, housekeeping_cpumask(HK_TYPE_DOMAIN));
	cpumask_and(cpus, cpus, housekeeping_cpumask(HK_TYPE_KTHREAD));
	if (cpumask_intersects(cpus, cpu_online_mask))
		cxib_prefer_cpus(task, cpus);
	free_cpumask_var(cpus);
}

/**
 * cxib_poll_thread_create() - create a thread
 * @thread: thread without a task
 * @ibdev: its device, whose name begins that of the thread
 * @kind: second part of its name
 * @number: third part of its name, hexadecimal
 *
 * The thread is not bound to CPUs, so an administrator can move it. Its caller holds the policy
 * lock.
 *
 * Context: process context, may sleep.
 * Return: 0, -ENOMEM, or -EINTR if the caller has been killed.
 */
int cxib_poll_thread_create(struct cxib_poll_thread *thread, const struct cxib_ibdev *ibdev,
			    const char *kind, u32 number)
{
	int node = dev_to_node(ibdev->hw->bus->dev);
	struct task_struct *task;

	task = kthread_create_on_node(vector_thread_fn, &thread->runner, node, "%s/%s%x",
				      dev_name(&ibdev->ib.dev), kind, number);
	if (IS_ERR(task))
		return PTR_ERR(task);
	vector_set_cpus(task, node);
	wake_up_process(task);
	thread->task = task;
	return 0;
}

/**
 * cxib_poll_thread_set_slice() - set how long a thread runs before another one of its priority may
 * @thread: thread with or without a task
 * @slice_ns: time in nanoseconds; the scheduler takes 0.1 to 100 ms, and what is nearest otherwise
 *
 * A real-time thread has no slice. Kernels before 6.12 ignore @slice_ns: there, schedule() takes
 * the thread that ran least.
 *
 * Context: process context, may sleep.
 */
void cxib_poll_thread_set_slice(struct cxib_poll_thread *thread, u64 slice_ns)
{
	struct task_struct *task = thread->task;
	struct sched_attr attr = { .sched_policy = SCHED_NORMAL, .sched_runtime = slice_ns };

	if (!task || task->policy != SCHED_NORMAL)
		return;
	attr.sched_nice = task_nice(task);
	WARN_ON_ONCE(sched_setattr_nocheck(task, &attr));
}

/**
 * cxib_poll_thread_stop() - stop a thread
 * @thread: thread with or without a task; no CQ is queued with it any more
 *
 * Context: process context, may sleep.
 */
void cxib_poll_thread_stop(struct cxib_poll_thread *thread)
{
	if (thread->task)
		kthread_stop(thread->task);
	thread->task = NULL;
}

/**
 * cxib_poll_vector_init() - initialise the runners of a completion vector
 * @vector: zeroed
 * @quantum_us: as cxib_poll_runner_init()
 */
void cxib_poll_vector_init(struct cxib_poll_vector *vector, u32 quantum_us)
{
	spin_lock_init(&vector->lock);
	cxib_poll_runner_init(&vector->softirq, vector, CXIB_POLL_SOFTIRQ, quantum_us);
	irq_poll_init(&vector->iop, SOFTIRQ_WEIGHT, vector_poll_softirq);
	cxib_poll_runner_init(&vector->thread.runner, vector, CXIB_POLL_THREAD, quantum_us);
}

/**
 * cxib_poll_vector_stop() - stop the runners of a completion vector
 * @vector: vector without CQs
 *
 * Context: process context, may sleep.
 */
void cxib_poll_vector_stop(struct cxib_poll_vector *vector)
{
	irq_poll_disable(&vector->iop);
	cxib_poll_thread_stop(&vector->thread);
}
