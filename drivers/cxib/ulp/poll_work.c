// SPDX-License-Identifier: GPL-2.0-only
/* Work items of CQs: one turn each, then behind the other work items of the CPU. */
#include "compat/workqueue.h"
#include "hw/hw.h"
#include "ulp/poll.h"

/* Whether the CQ does without a turn, because its earlier turns were too long. */
static bool poll_work_repay(struct cxib_poll_runner *runner)
{
	bool has_paid;

	scoped_guard(spinlock_irqsave, &runner->vector->lock)
		has_paid = cxib_poll_list_repay(&runner->list);
	return has_paid;
}

static void poll_work_fn(struct work_struct *item)
{
	struct cxib_poll_work *work = container_of(item, struct cxib_poll_work, work);

	/* Queued behind the work items of other CQs of the CPU, so that their turns alternate. */
	if (poll_work_repay(&work->runner) || cxib_poll_runner_turn(&work->runner))
		queue_work(READ_ONCE(work->workqueue), &work->work);
}

/**
 * cxib_poll_work_init() - initialise the work item of a CQ
 * @work: work item; its workqueue is set before a CQ is queued
 * @vector: completion vector of the CQ
 * @quantum_us: as cxib_poll_runner_init()
 */
void cxib_poll_work_init(struct cxib_poll_work *work, struct cxib_poll_vector *vector,
			 u32 quantum_us)
{
	cxib_poll_runner_init(&work->runner, vector, CXIB_POLL_WORKQUEUE, quantum_us);
	INIT_WORK(&work->work, poll_work_fn);
}

/**
 * cxib_poll_work_stop() - wait for the work item of a CQ
 * @work: work item whose CQ is not queued any more
 *
 * Context: process context, may sleep.
 */
void cxib_poll_work_stop(struct cxib_poll_work *work)
{
	cancel_work_sync(&work->work);
}

/*
 * The name is that of the PCI function: the RDMA device may be renamed, and another one may get the
 * name that sysfs has for the workqueue. It has at most 23 characters in Linux 6.1.
 */
static struct workqueue_struct *poll_work_allocate(const struct cxib_poll_device *polling,
						   bool is_unbound)
{
	const char *name = dev_name(polling->ibdev->hw->bus->dev);

	if (is_unbound)
		return alloc_workqueue("cxib-cq-%s",
				       WQ_UNBOUND | WQ_SYSFS | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0,
				       name);
	return alloc_workqueue("cxib-cpu-%s", WQ_PERCPU | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0, name);
}

/**
 * cxib_poll_workqueue() - the workqueue for CQs of a device, created when it is first needed
 * @polling: device
 * @is_unbound: its work items run on any CPU
 *
 * Context: process context, may sleep; the caller holds the policy lock.
 * Return: the workqueue, or NULL without memory.
 */
struct workqueue_struct *cxib_poll_workqueue(struct cxib_poll_device *polling, bool is_unbound)
{
	struct workqueue_struct **workqueue = is_unbound ? &polling->unbound : &polling->bound;

	lockdep_assert_held(&polling->policy->lock);

	if (!*workqueue)
		*workqueue = poll_work_allocate(polling, is_unbound);
	return *workqueue;
}
