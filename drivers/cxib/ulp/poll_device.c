// SPDX-License-Identifier: GPL-2.0-only
/*
 * The polling contexts of an RDMA device and of its CQs: life time, and which runner the next event
 * of a CQ goes to.
 */
#include <cxib/poll_context.h>
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

/* Stopped with the device. */
static int poll_need_vector_thread(struct cxib_poll_device *polling,
				   struct cxib_poll_vector *vector)
{
	if (vector->thread.task)
		return 0;
	return cxib_poll_thread_create(&vector->thread, polling->ibdev, "comp",
				       vector - polling->vectors);
}

/* The slice of a CQ's own thread is the turn of the CQ. */
static void poll_set_slice(struct cxib_poll_cq *poll)
{
	u64 quantum_ns = poll->thread.runner.list.quantum_ns;

	cxib_poll_thread_set_slice(&poll->thread, quantum_ns * poll->weight);
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
	poll_set_slice(poll);
	return 0;
}

static int poll_need_workqueue(struct cxib_poll_device *polling, bool is_unbound)
{
	return cxib_poll_workqueue(polling, is_unbound) ? 0 : -ENOMEM;
}

/* Creates the thread or workqueue behind a target, so that the interrupt need not. */
static int poll_prepare(struct cxib_poll_device *polling, struct cxib_poll_cq *poll,
			enum cxib_poll_target target)
{
	lockdep_assert_held(&polling->policy->lock);

	switch (target) {
	case CXIB_POLL_THREAD:
		return poll_need_vector_thread(polling, poll->vector);
	case CXIB_POLL_OWN_THREAD:
		return poll_need_own_thread(polling, poll);
	case CXIB_POLL_WORKQUEUE:
		return poll_need_workqueue(polling, false);
	case CXIB_POLL_UNBOUND:
		return poll_need_workqueue(polling, true);
	default:
		return 0;
	}
}

static struct cxib_poll_runner *poll_use_work(struct cxib_poll_device *polling,
					      struct cxib_poll_cq *poll, bool is_unbound)
{
	scoped_guard(spinlock_irqsave, &poll->vector->lock) {
		WRITE_ONCE(poll->work.workqueue, is_unbound ? polling->unbound : polling->bound);
		poll->work.runner.target = is_unbound ? CXIB_POLL_UNBOUND : CXIB_POLL_WORKQUEUE;
	}
	return &poll->work.runner;
}

/* Runner of a target that is prepared; NULL: the RDMA core. */
static struct cxib_poll_runner *poll_runner_of(struct cxib_poll_device *polling,
					       struct cxib_poll_cq *poll,
					       enum cxib_poll_target target)
{
	switch (target) {
	case CXIB_POLL_SOFTIRQ:
		return &poll->vector->softirq;
	case CXIB_POLL_THREAD:
		return &poll->vector->thread.runner;
	case CXIB_POLL_OWN_THREAD:
		return &poll->thread.runner;
	case CXIB_POLL_WORKQUEUE:
		return poll_use_work(polling, poll, false);
	case CXIB_POLL_UNBOUND:
		return poll_use_work(polling, poll, true);
	default:
		return NULL;
	}
}

static void poll_use_target(struct cxib_poll_device *polling, struct cxib_poll_cq *poll,
			    enum cxib_poll_target target)
{
	poll->target = target;
	cxib_poll_runner_change(poll, poll_runner_of(polling, poll, target));
}

static void poll_stop_own_thread(struct cxib_poll_device *polling, struct cxib_poll_cq *poll)
{
	cxib_poll_thread_stop(&poll->thread);
	polling->num_threads--;
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
	struct cxib_poll_cq *poll;
	bool is_busy = false;

	guard(mutex)(&polling->policy->lock);
	list_for_each_entry(poll, &polling->cqs, node) {
		if (!poll->thread.task || poll->target == CXIB_POLL_OWN_THREAD)
			continue;
		if (cxib_poll_runner_is_active(&poll->thread.runner))
			is_busy = true;
		else
			poll_stop_own_thread(polling, poll);
	}
	if (is_busy)
		schedule_delayed_work(&polling->stop_threads, HZ / 10);
}

static bool poll_may_sleep(const struct cxib_poll_cq *poll)
{
	return poll->cq->ib.poll_ctx != IB_POLL_SOFTIRQ;
}

static enum cxib_poll_target poll_policy_target(const struct cxib_poll_cq *poll,
						const struct cxib_poll_settings *settings)
{
	return poll_may_sleep(poll) ? settings->process : settings->softirq;
}

static void poll_set_quantum(struct cxib_poll_device *polling, u32 quantum_us)
{
	struct cxib_poll_cq *poll;
	unsigned int i;

	for (i = 0; i < polling->num_vectors; i++) {
		cxib_poll_runner_set_quantum(&polling->vectors[i].softirq, quantum_us);
		cxib_poll_runner_set_quantum(&polling->vectors[i].thread.runner, quantum_us);
	}
	list_for_each_entry(poll, &polling->cqs, node) {
		cxib_poll_runner_set_quantum(&poll->thread.runner, quantum_us);
		cxib_poll_runner_set_quantum(&poll->work.runner, quantum_us);
		poll_set_slice(poll);
	}
}

/*
 * A CQ that gets no thread or workqueue is left to the RDMA core: a ULP may create it while memory
 * is reclaimed, and there may be too many threads.
 */
static void poll_follow(struct cxib_poll_device *polling, struct cxib_poll_cq *poll,
			const struct cxib_poll_settings *settings)
{
	enum cxib_poll_target target = poll_policy_target(poll, settings);

	poll->is_left_to_core = poll_prepare(polling, poll, target);
	WRITE_ONCE(poll->busy_poll_ns, (u64)settings->busy_poll_us * NSEC_PER_USEC);
	poll_use_target(polling, poll, poll->is_left_to_core ? CXIB_POLL_CORE : target);
}

/**
 * cxib_poll_device_apply() - let the CQs of ULPs that have not chosen a context follow new settings
 * @polling: RDMA device
 * @settings: settings within their limits
 *
 * Context: process context, may sleep; the caller holds the policy lock.
 * Return: 0; -ENOMEM or -EINTR if a thread or workqueue could not be created: nothing has changed.
 */
int cxib_poll_device_apply(struct cxib_poll_device *polling,
			   const struct cxib_poll_settings *settings)
{
	struct cxib_poll_cq *poll;
	int err;

	lockdep_assert_held(&polling->policy->lock);

	schedule_delayed_work(&polling->stop_threads, 0);
	list_for_each_entry(poll, &polling->cqs, node) {
		if (poll->is_explicit)
			continue;
		err = poll_prepare(polling, poll, poll_policy_target(poll, settings));
		if (err && err != -ENOSPC)
			return err;
	}
	poll_set_quantum(polling, settings->quantum_us);
	list_for_each_entry(poll, &polling->cqs, node)
		if (!poll->is_explicit)
			poll_follow(polling, poll, settings);
	return 0;
}

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

/* The settings of the HCA apply again. */
static int poll_reset_options(struct cxib_poll_device *polling, struct cxib_poll_cq *poll)
{
	const struct cxib_poll_settings *settings = &polling->policy->settings;
	int err = poll_prepare(polling, poll, poll_policy_target(poll, settings));

	if (err && err != -ENOSPC)
		return err;
	WRITE_ONCE(poll->weight, 1);
	poll_set_slice(poll);
	poll->is_explicit = false;
	poll_follow(polling, poll, settings);
	return 0;
}

/**
 * cxib_poll_device_set_options() - set the context that a ULP has chosen
 * @poll: CQ
 * @options: options that fit the CQ
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM or -EINTR if a thread or workqueue could not be created: nothing has changed.
 */
int cxib_poll_device_set_options(struct cxib_poll_cq *poll, const struct cxib_cq_options *options)
{
	struct cxib_poll_device *polling = polling_of(poll);
	enum cxib_poll_target target = poll_options_target(options);
	int err;

	guard(mutex)(&polling->policy->lock);
	schedule_delayed_work(&polling->stop_threads, 0);
	if (options->context == CXIB_CQ_DEVICE_SETTINGS)
		return poll_reset_options(polling, poll);
	err = poll_prepare(polling, poll, target);
	if (err == -ENOSPC)
		err = -ENOMEM;
	if (err)
		return err;
	WRITE_ONCE(poll->weight, options->weight ?: 1);
	poll_set_slice(poll);
	poll->is_explicit = true;
	poll->is_left_to_core = false;
	WRITE_ONCE(poll->busy_poll_ns, (u64)options->busy_poll_us * NSEC_PER_USEC);
	poll_use_target(polling, poll, target);
	return 0;
}

static int poll_vector_node(struct cxib_poll_device *polling, unsigned int index)
{
	struct cxib_bus *bus = polling->ibdev->hw->bus;

	return cpu_to_node(bus->ops->vector_cpu(bus, polling->ibdev->hw->comp_eqs[index].vector));
}

/**
 * cxib_poll_device_choose_vector() - completion vector for %CXIB_ANY_VECTOR
 * @polling: RDMA device
 *
 * Context: process context, may sleep.
 * Return: of the vectors nearest to the calling CPU, the one with the fewest CQs.
 */
unsigned int cxib_poll_device_choose_vector(struct cxib_poll_device *polling)
{
	unsigned int i, chosen = 0;
	int distance, nearest = INT_MAX;

	guard(mutex)(&polling->policy->lock);
	for (i = 0; i < polling->num_vectors; i++) {
		distance = node_distance(numa_mem_id(), poll_vector_node(polling, i));
		if (distance > nearest || (distance == nearest &&
					   polling->vectors[i].num_cqs >=
					   polling->vectors[chosen].num_cqs))
			continue;
		nearest = distance;
		chosen = i;
	}
	return chosen;
}

static struct cxib_poll_cq *poll_alloc(struct cxib_cq *cq, u32 quantum_us)
{
	struct cxib_poll_cq *poll = kzalloc_node(sizeof(*poll), GFP_KERNEL,
						 dev_to_node(cq->ib.device->dev.parent));

	if (!poll)
		return NULL;
	poll->cq = cq;
	poll->vector = poll_vector_of(cq);
	cxib_reference_init(&poll->reference);
	cxib_poll_init(&poll->state);
	poll->weight = 1;
	cxib_poll_entry_init(&poll->entry, 1);
	cxib_poll_runner_init(&poll->thread.runner, poll->vector, CXIB_POLL_OWN_THREAD, quantum_us);
	cxib_poll_work_init(&poll->work, poll->vector, quantum_us);
	return poll;
}

/* Only CQs of ib_alloc_cq() with events have done() handlers that a runner can call. */
static bool poll_is_schedulable(const struct ib_cq *ib)
{
	return ib->wc && ib->poll_ctx != IB_POLL_DIRECT;
}

static int poll_create_cq(struct cxib_cq *cq)
{
	struct cxib_poll_device *polling = to_ibdev(cq->ib.device)->poll_device;
	struct cxib_poll_settings *settings = &polling->policy->settings;
	struct cxib_poll_cq *poll;

	if (!poll_is_schedulable(&cq->ib))
		return 0;
	guard(mutex)(&polling->policy->lock);
	poll = poll_alloc(cq, settings->quantum_us);
	if (!poll)
		return -ENOMEM;
	list_add_tail(&poll->node, &polling->cqs);
	poll->vector->num_cqs++;
	cq->poll = poll;
	poll_follow(polling, poll, settings);
	return 0;
}

/* No event arrives any more. The runner that owns the CQ drops its reference after its turn. */
static void poll_destroy_cq(struct cxib_cq *cq)
{
	struct cxib_poll_cq *poll = cq->poll;
	struct cxib_poll_device *polling;

	if (!poll)
		return;
	/* A done() handler that frees its own CQ waits for itself. */
	WARN_ON_ONCE(READ_ONCE(poll->done_task) == current);
	cxib_poll_runner_remove(poll);
	cxib_reference_end(&poll->reference);
	polling = polling_of(poll);
	scoped_guard(mutex, &polling->policy->lock) {
		list_del(&poll->node);
		poll->vector->num_cqs--;
		polling->num_threads -= !!poll->thread.task;
		/* The resource tracker may still look at the CQ. */
		WRITE_ONCE(cq->poll, NULL);
	}
	cxib_poll_thread_stop(&poll->thread);
	cxib_poll_work_stop(&poll->work);
	kfree(poll);
}

static void poll_synchronize_cq(struct cxib_cq *cq)
{
	if (cq->poll)
		cxib_poll_runner_synchronize(cq->poll);
}

/* Called in the interrupt, which has taken the arming. */
static bool poll_queue_cq(struct cxib_cq *cq)
{
	return cxib_poll_runner_queue(cq->poll);
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

static int poll_fill_res_cq(struct sk_buff *message, struct cxib_cq *cq)
{
	struct cxib_poll_device *polling = to_ibdev(cq->ib.device)->poll_device;

	/* poll_destroy_cq() frees cq->poll while the resource tracker still lists the CQ. */
	guard(mutex)(&polling->policy->lock);
	return cq->poll ? cxib_poll_fill_res_cq(message, cq->poll) : 0;
}

const struct cxib_poll_interface cxib_poll_interface = {
	.start = poll_start,
	.stop = poll_stop,
	.create_cq = poll_create_cq,
	.destroy_cq = poll_destroy_cq,
	.synchronize = poll_synchronize_cq,
	.fill_res_cq = poll_fill_res_cq,
	.queue = poll_queue_cq,
};
