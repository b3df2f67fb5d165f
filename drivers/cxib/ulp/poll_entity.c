// SPDX-License-Identifier: GPL-2.0-only
/*
 * The entities that run the turns of runners: softirq and thread of a completion vector, thread and
 * work item of a CQ.
 */
#include <linux/bottom_half.h>
#include <linux/irq_poll.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/isolation.h>
#include <uapi/linux/sched/types.h>

#include "compat/kthread.h"
#include "compat/workqueue.h"
#include "hw/hw.h"
#include "ulp/poll.h"

/* A call counts as this much of the budget of 256 that a softirq has. */
#define SOFTIRQ_WEIGHT		64

/*
 * The whole budget: the softirq calls again. Less: irq_poll_complete() was called. Turns of CQs
 * that were soon empty share a call, so that many quiet CQs do not use up the budget.
 */
static int entity_poll_softirq(struct irq_poll *iop, int budget)
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
static bool entity_run_thread_turn(struct cxib_poll_runner *runner)
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
static void entity_let_others_run(const struct cxib_poll_runner *runner)
{
	if (runner->target == CXIB_POLL_OWN_THREAD)
		schedule();
	else
		cond_resched_tasks_rcu_qs();
}

static int entity_thread_fn(void *data)
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
		while (entity_run_thread_turn(runner))
			entity_let_others_run(runner);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* CPUs of the NUMA node of the device that are not isolated; without a node, of all nodes. */
static void entity_set_cpus(struct task_struct *task, int node)
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

/*
 * Creates the task of a thread unless it has one, with the policy lock held. It is named after the
 * device, @kind and @number, and is not bound to CPUs, so an administrator can move it. Returns 0,
 * -ENOMEM, or -EINTR if the caller has been killed.
 */
int cxib_poll_thread_create(struct cxib_poll_thread *thread, const struct cxib_ibdev *ibdev,
			    const char *kind, u32 number)
{
	int node = dev_to_node(ibdev->hw->bus->dev);
	struct task_struct *task;

	if (thread->task)
		return 0;
	task = kthread_create_on_node(entity_thread_fn, &thread->runner, node, "%s/%s%x",
				      dev_name(&ibdev->ib.dev), kind, number);
	if (IS_ERR(task))
		return PTR_ERR(task);
	entity_set_cpus(task, node);
	wake_up_process(task);
	thread->task = task;
	return 0;
}

/*
 * Lets the own thread of a CQ, if it has one, run for a turn of the CQ before another one of its
 * priority may. The scheduler takes the nearest time from 0.1 to 100 ms. A real-time thread has no
 * slice. Kernels before 6.12 ignore the slice: there, schedule() takes the thread that ran least.
 */
void cxib_poll_thread_set_slice(struct cxib_poll_cq *poll)
{
	struct sched_attr attr = {
		.sched_policy = SCHED_NORMAL,
		.sched_runtime = (u64)poll->thread.runner.list.quantum_ns * poll->weight,
	};
	struct task_struct *task = poll->thread.task;

	if (!task || task->policy != SCHED_NORMAL)
		return;
	attr.sched_nice = task_nice(task);
	WARN_ON_ONCE(sched_setattr_nocheck(task, &attr));
}

/* Stops a thread, which may have no task. No CQ is queued with it any more. */
void cxib_poll_thread_stop(struct cxib_poll_thread *thread)
{
	if (thread->task)
		kthread_stop(thread->task);
	thread->task = NULL;
}

static void entity_work_fn(struct work_struct *item)
{
	struct cxib_poll_work *work = container_of(item, struct cxib_poll_work, work);
	bool has_paid;

	/* The CQ does without a turn if its earlier turns were too long. */
	scoped_guard(spinlock_irqsave, &work->runner.vector->lock)
		has_paid = cxib_poll_list_repay(&work->runner.list);
	/* Queued behind the work items of other CQs of the CPU, so that their turns alternate. */
	if (has_paid || cxib_poll_runner_turn(&work->runner))
		queue_work(READ_ONCE(work->workqueue), &work->work);
}

/* Initialises the work item of a CQ. Its workqueue is set before the CQ is queued with it. */
void cxib_poll_work_init(struct cxib_poll_work *work, struct cxib_poll_vector *vector,
			 u32 quantum_us)
{
	cxib_poll_runner_init(&work->runner, vector, CXIB_POLL_WORKQUEUE, quantum_us);
	INIT_WORK(&work->work, entity_work_fn);
}

/*
 * Returns the workqueue whose work items run on any CPU or on that of the interrupt; creates it
 * when it is first needed, with the policy lock held. NULL: no memory.
 *
 * The name is that of the PCI function: the RDMA device may be renamed, and another one may get the
 * name that sysfs has for the workqueue. It has at most 23 characters in Linux 6.1.
 */
struct workqueue_struct *cxib_poll_workqueue(struct cxib_poll_device *polling, bool is_unbound)
{
	const char *name = dev_name(polling->ibdev->hw->bus->dev);

	lockdep_assert_held(&polling->policy->lock);

	if (is_unbound && !polling->unbound)
		polling->unbound = alloc_workqueue("cxib-cq-%s", WQ_UNBOUND | WQ_SYSFS |
						   WQ_HIGHPRI | WQ_MEM_RECLAIM, 0, name);
	if (!is_unbound && !polling->bound)
		polling->bound = alloc_workqueue("cxib-cpu-%s", WQ_PERCPU | WQ_HIGHPRI |
						 WQ_MEM_RECLAIM, 0, name);
	return is_unbound ? polling->unbound : polling->bound;
}

/* Initialises the runners of a completion vector, which is zeroed. */
void cxib_poll_vector_init(struct cxib_poll_vector *vector, u32 quantum_us)
{
	spin_lock_init(&vector->lock);
	cxib_poll_runner_init(&vector->softirq, vector, CXIB_POLL_SOFTIRQ, quantum_us);
	irq_poll_init(&vector->iop, SOFTIRQ_WEIGHT, entity_poll_softirq);
	cxib_poll_runner_init(&vector->thread.runner, vector, CXIB_POLL_THREAD, quantum_us);
}

/* Stops the runners of a completion vector without CQs. */
void cxib_poll_vector_stop(struct cxib_poll_vector *vector)
{
	irq_poll_disable(&vector->iop);
	cxib_poll_thread_stop(&vector->thread);
}
