// SPDX-License-Identifier: GPL-2.0-only
/*
 * The polling contexts of an RDMA device and of its CQs: life time, and which runner the next event
 * of a CQ goes to.
 */
#include <cxib/poll_context.h>
#include <kunit/visibility.h>
#include <linux/debugfs.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "hw/hw.h"
#include "ulp/poll.h"

static struct cxib_poll_vector *poll_vector_of(const struct cxib_cq *cq)
{
	const struct cxib_ibdev *ibdev = to_ibdev(cq->ib.device);

	return &ibdev->poll_device->vectors[cq->eq - ibdev->hw->comp_eqs];
}

static int poll_need_own_thread(struct cxib_poll_device *polling, struct cxib_poll_cq *poll)
{
	int err;

	if (poll->thread.task)
		return 0;
	if (polling->num_threads == CXIB_POLL_THREADS_MAX)
		return -ENOSPC;
	err = cxib_poll_thread_create(&poll->thread, polling->ibdev, "cq", poll->cq->cqn);
	if (err)
		return err;
	polling->num_threads++;
	cxib_poll_thread_set_slice(poll);
	return 0;
}

/* From now on the scheduler gets the events of the CQ. */
static int poll_need_cq(const struct cxib_poll_device *polling, struct cxib_cq *cq)
{
	u32 quantum_us = polling->policy->settings.quantum_us;
	struct cxib_poll_cq *poll;

	if (cq->poll)
		return 0;
	poll = kzalloc_node(sizeof(*poll), GFP_KERNEL, dev_to_node(cq->ib.device->dev.parent));
	if (!poll)
		return -ENOMEM;
	poll->cq = cq;
	poll->vector = poll_vector_of(cq);
	cxib_reference_init(&poll->reference);
	atomic_set(&poll->phase, CXIB_POLL_ARMED);
	poll->weight = 1;
	cxib_poll_entry_init(&poll->entry, 1);
	cxib_poll_runner_init(&poll->thread.runner, poll->vector, CXIB_POLL_OWN_THREAD, quantum_us);
	cxib_poll_work_init(&poll->work, poll->vector, quantum_us);
	/* Pairs with the dependent reads of those who read cq->poll once, without the lock. */
	smp_store_release(&cq->poll, poll);
	return 0;
}

/* Creates what a target needs, so that the interrupt need not. */
static int poll_prepare(struct cxib_poll_device *polling, struct cxib_cq *cq,
			enum cxib_poll_target target)
{
	struct cxib_poll_vector *vector;

	lockdep_assert_held(&polling->policy->lock);

	if (target == CXIB_POLL_CORE)
		return 0;
	if (poll_need_cq(polling, cq))
		return -ENOMEM;
	vector = cq->poll->vector;
	switch (target) {
	case CXIB_POLL_THREAD:
		/* Stopped with the device. */
		return cxib_poll_thread_create(&vector->thread, polling->ibdev, "comp",
					       vector - polling->vectors);
	case CXIB_POLL_OWN_THREAD:
		return poll_need_own_thread(polling, cq->poll);
	case CXIB_POLL_WORKQUEUE:
	case CXIB_POLL_UNBOUND:
		return cxib_poll_workqueue(polling, target == CXIB_POLL_UNBOUND) ? 0 : -ENOMEM;
	default:
		return 0;
	}
}

/* Runner of a target that is prepared; NULL: the RDMA core. */
static struct cxib_poll_runner *poll_select_runner(struct cxib_poll_device *polling,
						   struct cxib_poll_cq *poll,
						   enum cxib_poll_target target)
{
	struct cxib_poll_work *work = &poll->work;

	lockdep_assert_held(&poll->vector->lock);

	switch (target) {
	case CXIB_POLL_SOFTIRQ:
		return &poll->vector->softirq;
	case CXIB_POLL_THREAD:
		return &poll->vector->thread.runner;
	case CXIB_POLL_OWN_THREAD:
		return &poll->thread.runner;
	case CXIB_POLL_WORKQUEUE:
	case CXIB_POLL_UNBOUND:
		WRITE_ONCE(work->workqueue,
			   target == CXIB_POLL_UNBOUND ? polling->unbound : polling->bound);
		work->runner.target = target;
		return &work->runner;
	default:
		return NULL;
	}
}

/* Lets a target that is prepared have the CQ from its next event or turn on. */
static void poll_use(struct cxib_poll_device *polling, struct cxib_cq *cq,
		     enum cxib_poll_target target, u32 weight, u32 busy_poll_us)
{
	struct cxib_poll_cq *poll = cq->poll;

	/* The RDMA core has always polled the CQ, and goes on. */
	if (!poll)
		return;
	WRITE_ONCE(poll->weight, weight);
	cxib_poll_thread_set_slice(poll);
	WRITE_ONCE(poll->busy_poll_ns, (u64)busy_poll_us * NSEC_PER_USEC);
	scoped_guard(spinlock_irqsave, &poll->vector->lock)
		poll->next_runner = poll_select_runner(polling, poll, target);
}

/*
 * Own threads of CQs that have another context now. Each has its CQ until the end of the turn that
 * is running, in which a done() handler may want the lock, or be the one that has changed the
 * context; an idle one is stopped at once.
 */
static void poll_stop_threads(struct work_struct *work)
{
	struct cxib_poll_device *polling = container_of(to_delayed_work(work),
							struct cxib_poll_device, stop_threads);
	struct cxib_cq *cq;
	bool is_busy = false;

	guard(mutex)(&polling->policy->lock);
	list_for_each_entry(cq, &polling->cqs, poll_node) {
		struct cxib_poll_cq *poll = cq->poll;

		if (!poll || !poll->thread.task ||
		    poll->next_runner == &poll->thread.runner)
			continue;
		if (READ_ONCE(poll->thread.runner.is_active)) {
			is_busy = true;
			continue;
		}
		cxib_poll_thread_stop(&poll->thread);
		polling->num_threads--;
	}
	if (is_busy)
		schedule_delayed_work(&polling->stop_threads, HZ / 10);
}

static void poll_set_runner_quantum(struct cxib_poll_runner *runner, u32 quantum_us)
{
	scoped_guard(spinlock_irqsave, &runner->vector->lock)
		runner->list.quantum_ns = quantum_us * NSEC_PER_USEC;
}

static void poll_set_quantum(struct cxib_poll_device *polling, u32 quantum_us)
{
	struct cxib_cq *cq;
	unsigned int i;

	for (i = 0; i < polling->num_vectors; i++) {
		poll_set_runner_quantum(&polling->vectors[i].softirq, quantum_us);
		poll_set_runner_quantum(&polling->vectors[i].thread.runner, quantum_us);
	}
	list_for_each_entry(cq, &polling->cqs, poll_node) {
		if (!cq->poll)
			continue;
		poll_set_runner_quantum(&cq->poll->thread.runner, quantum_us);
		poll_set_runner_quantum(&cq->poll->work.runner, quantum_us);
		cxib_poll_thread_set_slice(cq->poll);
	}
}

/*
 * A CQ whose target cannot be prepared is left to the RDMA core: a ULP may create it while memory
 * is reclaimed, and there may be too many threads.
 */
static void poll_follow(struct cxib_poll_device *polling, struct cxib_cq *cq,
			const struct cxib_poll_settings *settings)
{
	enum cxib_poll_target target = cxib_poll_settings_target(cq, settings);

	if (poll_prepare(polling, cq, target))
		target = CXIB_POLL_CORE;
	poll_use(polling, cq, target, 1, settings->busy_poll_us);
}

/* Lets the CQs of ULPs that have not chosen a context follow new settings; or changes nothing. */
static int poll_apply(struct cxib_poll_device *polling, const struct cxib_poll_settings *settings)
{
	struct cxib_cq *cq;
	int err;

	lockdep_assert_held(&polling->policy->lock);

	schedule_delayed_work(&polling->stop_threads, 0);
	list_for_each_entry(cq, &polling->cqs, poll_node) {
		if (cxib_poll_is_explicit(cq))
			continue;
		err = poll_prepare(polling, cq, cxib_poll_settings_target(cq, settings));
		if (err && err != -ENOSPC)
			return err;
	}
	poll_set_quantum(polling, settings->quantum_us);
	list_for_each_entry(cq, &polling->cqs, poll_node)
		if (!cxib_poll_is_explicit(cq))
			poll_follow(polling, cq, settings);
	return 0;
}

/* Sets the defaults in the policy of an HCA, which is zeroed. */
void cxib_poll_policy_init(struct cxib_poll_policy *policy)
{
	mutex_init(&policy->lock);
	policy->settings.quantum_us = CXIB_POLL_QUANTUM_US_DEFAULT;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_policy_init);

/**
 * cxib_poll_policy_set() - change the settings; the CQs follow at their next event
 * @policy: policy of an HCA
 * @settings: settings within their limits
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM or -EINTR if a thread or workqueue could not be created: the settings stay.
 */
int cxib_poll_policy_set(struct cxib_poll_policy *policy,
			 const struct cxib_poll_settings *settings)
{
	int err = 0;

	guard(mutex)(&policy->lock);
	if (policy->device)
		err = poll_apply(policy->device, settings);
	if (!err)
		policy->settings = *settings;
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_policy_set);

static enum cxib_poll_target poll_options_target(const struct cxib_cq_options *options)
{
	switch (options->context) {
	case CXIB_CQ_SOFTIRQ:
		return CXIB_POLL_SOFTIRQ;
	case CXIB_CQ_THREAD:
		return options->flags & CXIB_CQ_OWN_THREAD ? CXIB_POLL_OWN_THREAD :
							     CXIB_POLL_THREAD;
	case CXIB_CQ_WORKQUEUE:
		return CXIB_POLL_WORKQUEUE;
	case CXIB_CQ_UNBOUND_WORKQUEUE:
		return CXIB_POLL_UNBOUND;
	default:
		return CXIB_POLL_CORE;
	}
}

/**
 * cxib_poll_device_set_options() - set the context that a ULP has chosen
 * @cq: CQ that a runner can poll
 * @options: options that fit the CQ
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM or -EINTR if a thread or workqueue could not be created: nothing has changed.
 */
int cxib_poll_device_set_options(struct cxib_cq *cq, const struct cxib_cq_options *options)
{
	bool is_explicit = options->context != CXIB_CQ_DEVICE_SETTINGS;
	struct cxib_poll_device *polling = polling_of(cq);
	const struct cxib_poll_settings *settings = &polling->policy->settings;
	enum cxib_poll_target target;
	int err;

	guard(mutex)(&polling->policy->lock);
	schedule_delayed_work(&polling->stop_threads, 0);
	target = is_explicit ? poll_options_target(options) :
			       cxib_poll_settings_target(cq, settings);
	err = poll_prepare(polling, cq, target);
	if (err == -ENOSPC)
		err = is_explicit ? -ENOMEM : 0;
	if (err)
		return err;
	if (cq->poll)
		cq->poll->is_explicit = is_explicit;
	if (is_explicit)
		poll_use(polling, cq, target, options->weight ?: 1, options->busy_poll_us);
	else
		poll_follow(polling, cq, settings);
	return 0;
}

/* For CXIB_ANY_VECTOR: of the vectors nearest to the calling CPU, the one with the fewest CQs. */
unsigned int cxib_poll_device_choose_vector(struct cxib_poll_device *polling)
{
	const struct cxib_hw *hw = polling->ibdev->hw;
	int cpu, distance, nearest = INT_MAX;
	unsigned int i, chosen = 0;

	guard(mutex)(&polling->policy->lock);
	for (i = 0; i < polling->num_vectors; i++) {
		cpu = hw->bus->ops->vector_cpu(hw->bus, hw->comp_eqs[i].vector);
		distance = node_distance(numa_mem_id(), cpu_to_node(cpu));
		if (distance > nearest || (distance == nearest &&
					   polling->vectors[i].num_cqs >=
					   polling->vectors[chosen].num_cqs))
			continue;
		nearest = distance;
		chosen = i;
	}
	return chosen;
}

static void poll_create_cq(struct cxib_cq *cq)
{
	struct cxib_poll_device *polling = polling_of(cq);

	/* Only CQs of ib_alloc_cq() with events have done() handlers that a runner can call. */
	if (!cq->ib.wc || cq->ib.poll_ctx == IB_POLL_DIRECT)
		return;
	guard(mutex)(&polling->policy->lock);
	list_add_tail(&cq->poll_node, &polling->cqs);
	poll_vector_of(cq)->num_cqs++;
	poll_follow(polling, cq, &polling->policy->settings);
}

static void poll_destroy_cq(struct cxib_cq *cq)
{
	struct cxib_poll_device *polling = polling_of(cq);
	struct cxib_poll_cq *poll;

	if (!cxib_poll_is_possible(cq))
		return;
	/* From now on nobody looks at the CQ but its runner. */
	scoped_guard(mutex, &polling->policy->lock) {
		list_del_init(&cq->poll_node);
		poll_vector_of(cq)->num_cqs--;
		poll = cq->poll;
		polling->num_threads -= poll && poll->thread.task;
	}
	if (!poll)
		return;
	/* A done() handler that frees its own CQ waits for itself. */
	WARN_ON_ONCE(READ_ONCE(poll->done_task) == current);
	/* No event arrives any more. The runner that owns the CQ drops its reference afterwards. */
	cxib_poll_runner_remove(poll);
	cxib_reference_end(&poll->reference);
	cxib_poll_thread_stop(&poll->thread);
	cancel_work_sync(&poll->work.work);
	kfree(poll);
	cq->poll = NULL;
}

static int poll_start(struct cxib_ibdev *ibdev)
{
	struct cxib_poll_policy *policy = ibdev->poll_policy;
	unsigned int i, num_vectors = ibdev->hw->completion_eq_count;
	struct cxib_poll_device *polling;

	polling = kvzalloc(struct_size(polling, vectors, num_vectors), GFP_KERNEL);
	if (!polling)
		return -ENOMEM;
	polling->ibdev = ibdev;
	polling->policy = policy;
	polling->num_vectors = num_vectors;
	INIT_LIST_HEAD(&polling->cqs);
	INIT_DELAYED_WORK(&polling->stop_threads, poll_stop_threads);
	guard(mutex)(&policy->lock);
	for (i = 0; i < num_vectors; i++)
		cxib_poll_vector_init(&polling->vectors[i], policy->settings.quantum_us);
	polling->debugfs = cxib_poll_debugfs(polling);
	ibdev->poll_device = polling;
	policy->device = polling;
	return 0;
}

static void poll_stop(struct cxib_ibdev *ibdev)
{
	struct cxib_poll_device *polling = ibdev->poll_device;
	unsigned int i;

	debugfs_remove(polling->debugfs);
	scoped_guard(mutex, &polling->policy->lock)
		polling->policy->device = NULL;
	cancel_delayed_work_sync(&polling->stop_threads);
	for (i = 0; i < polling->num_vectors; i++)
		cxib_poll_vector_stop(&polling->vectors[i]);
	if (polling->bound)
		destroy_workqueue(polling->bound);
	if (polling->unbound)
		destroy_workqueue(polling->unbound);
	kvfree(polling);
}

const struct cxib_poll_interface cxib_poll_interface = {
	.start = poll_start,
	.stop = poll_stop,
	.create_cq = poll_create_cq,
	.destroy_cq = poll_destroy_cq,
	.synchronize = cxib_poll_runner_synchronize,
	.fill_res_cq = cxib_poll_fill_res_cq,
	.queue = cxib_poll_runner_queue,
};
