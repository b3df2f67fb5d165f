// SPDX-License-Identifier: GPL-2.0-only
/* The public functions of include/cxib/poll_context.h, and the checks of their arguments. */
#include <cxib/poll_context.h>
#include <linux/module.h>
#include <linux/topology.h>

#include "ulp/poll.h"

static bool has_own_thread(const struct cxib_cq_options *options)
{
	return options->flags & CXIB_CQ_OWN_THREAD;
}

static int check_thread_options(struct ib_device *ib, const struct cxib_cq_options *options)
{
	if (options->policy > CXIB_THREAD_FIFO) {
		ibdev_dbg(ib, "CQ context: policy %u out of range [0, %u]\n", options->policy,
			  CXIB_THREAD_FIFO);
		return -EINVAL;
	}
	if (options->nice < MIN_NICE || options->nice > MAX_NICE) {
		ibdev_dbg(ib, "CQ context: nice %d out of range [%d, %d]\n", options->nice,
			  MIN_NICE, MAX_NICE);
		return -EINVAL;
	}
	if (options->nice && options->policy != CXIB_THREAD_NORMAL) {
		ibdev_dbg(ib, "CQ context: nice %d with policy %u (nice needs policy %u)\n",
			  options->nice, options->policy, CXIB_THREAD_NORMAL);
		return -EINVAL;
	}
	if (options->cpus && !cpumask_intersects(options->cpus, cpu_online_mask)) {
		ibdev_dbg(ib, "CQ context: no online CPU in cpus %*pbl (online: %*pbl)\n",
			  cpumask_pr_args(options->cpus), cpumask_pr_args(cpu_online_mask));
		return -EINVAL;
	}
	return 0;
}

static int check_no_thread_options(struct ib_device *ib, const struct cxib_cq_options *options)
{
	if (options->policy || options->nice || options->cpus) {
		ibdev_dbg(ib, "CQ context: policy %u, nice %d or cpus set without flag 0x%lx\n",
			  options->policy, options->nice, CXIB_CQ_OWN_THREAD);
		return -EINVAL;
	}
	return 0;
}

static int check_options(struct ib_device *ib, const struct cxib_cq_options *options)
{
	if (options->context > CXIB_CQ_UNBOUND_WORKQUEUE) {
		ibdev_dbg(ib, "CQ context: context %u out of range [0, %u]\n", options->context,
			  CXIB_CQ_UNBOUND_WORKQUEUE);
		return -EINVAL;
	}
	if (options->flags & ~CXIB_CQ_OWN_THREAD) {
		ibdev_dbg(ib, "CQ context: unsupported flags 0x%x (mask 0x%lx)\n", options->flags,
			  CXIB_CQ_OWN_THREAD);
		return -EINVAL;
	}
	if (has_own_thread(options) && options->context != CXIB_CQ_THREAD) {
		ibdev_dbg(ib, "CQ context: flags 0x%x with context %u (need context %u)\n",
			  options->flags, options->context, CXIB_CQ_THREAD);
		return -EINVAL;
	}
	if (options->weight > CXIB_CQ_WEIGHT_MAX) {
		ibdev_dbg(ib, "CQ context: weight %u out of range [0, %u]\n", options->weight,
			  CXIB_CQ_WEIGHT_MAX);
		return -EINVAL;
	}
	if (options->busy_poll_us > CXIB_CQ_BUSY_POLL_US_MAX) {
		ibdev_dbg(ib, "CQ context: busy_poll_us %u out of range [0, %u]\n",
			  options->busy_poll_us, CXIB_CQ_BUSY_POLL_US_MAX);
		return -EINVAL;
	}
	if (options->busy_poll_us && options->context != CXIB_CQ_THREAD) {
		ibdev_dbg(ib, "CQ context: busy_poll_us %u with context %u (needs context %u)\n",
			  options->busy_poll_us, options->context, CXIB_CQ_THREAD);
		return -EINVAL;
	}
	return has_own_thread(options) ? check_thread_options(ib, options) :
					 check_no_thread_options(ib, options);
}

static int check_queue(struct ib_device *ib, int nr_cqe, int comp_vector)
{
	if (nr_cqe < 1 || nr_cqe > ib->attrs.max_cqe) {
		ibdev_dbg(ib, "allocate CQ: nr_cqe %d out of range [1, %d]\n", nr_cqe,
			  ib->attrs.max_cqe);
		return -EINVAL;
	}
	if (comp_vector < CXIB_ANY_VECTOR || comp_vector >= ib->num_comp_vectors) {
		ibdev_dbg(ib, "allocate CQ: comp_vector %d out of range [%d, %d]\n", comp_vector,
			  CXIB_ANY_VECTOR, ib->num_comp_vectors - 1);
		return -EINVAL;
	}
	return 0;
}

/* A CQ whose done() handlers may sleep is a workqueue CQ for the RDMA core. */
static enum ib_poll_context core_context(const struct cxib_cq_options *options)
{
	switch (options->context) {
	case CXIB_CQ_DIRECT:
		return IB_POLL_DIRECT;
	case CXIB_CQ_WORKQUEUE:
		return IB_POLL_WORKQUEUE;
	case CXIB_CQ_UNBOUND_WORKQUEUE:
		return IB_POLL_UNBOUND_WORKQUEUE;
	case CXIB_CQ_THREAD:
		return has_own_thread(options) ? IB_POLL_WORKQUEUE : IB_POLL_SOFTIRQ;
	default:
		return IB_POLL_SOFTIRQ;
	}
}

/**
 * __cxib_alloc_cq() - cxib_alloc_cq() with the name of the caller's module
 * @ib: as cxib_alloc_cq()
 * @private: as cxib_alloc_cq()
 * @nr_cqe: as cxib_alloc_cq()
 * @comp_vector: as cxib_alloc_cq()
 * @options: as cxib_alloc_cq()
 * @caller: name of the module, for 'rdma resource show cq'
 *
 * Context: process context, may sleep.
 * Return: as cxib_alloc_cq().
 */
struct ib_cq *__cxib_alloc_cq(struct ib_device *ib, void *private, int nr_cqe, int comp_vector,
			      const struct cxib_cq_options *options, const char *caller)
{
	struct cxib_poll_device *polling;
	struct ib_cq *cq;
	int err;

	/* The driver id is that of mlx5_ib. */
	if (ib->ops.owner != THIS_MODULE) {
		ibdev_dbg(ib, "allocate CQ: not a device of %s\n", KBUILD_MODNAME);
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (WARN_ON_ONCE(!options))
		return ERR_PTR(-EINVAL);
	err = check_options(ib, options);
	if (!err)
		err = check_queue(ib, nr_cqe, comp_vector);
	if (err)
		return ERR_PTR(err);
	polling = to_ibdev(ib)->poll_device;
	if (comp_vector == CXIB_ANY_VECTOR)
		comp_vector = cxib_poll_device_choose_vector(polling);
	cq = __ib_alloc_cq(ib, private, nr_cqe, comp_vector, core_context(options), caller);
	if (IS_ERR(cq) || options->context == CXIB_CQ_DIRECT)
		return cq;
	err = cxib_poll_device_set_options(to_cq(cq)->poll, options);
	if (err) {
		ib_free_cq(cq);
		return ERR_PTR(err);
	}
	return cq;
}
EXPORT_SYMBOL_GPL(__cxib_alloc_cq);

static bool may_sleep(enum ib_poll_context context)
{
	return context == IB_POLL_WORKQUEUE || context == IB_POLL_UNBOUND_WORKQUEUE;
}

static int check_change(struct ib_cq *ib, const struct cxib_cq_options *options)
{
	if (!to_cq(ib)->poll) {
		ibdev_dbg(ib->device, "CQ context: not a CQ with events and done() handlers\n");
		return -EINVAL;
	}
	if (ib->shared) {
		ibdev_dbg(ib->device, "CQ context: CQ of the pool of the RDMA core\n");
		return -EOPNOTSUPP;
	}
	if (options->context == CXIB_CQ_DIRECT ||
	    may_sleep(core_context(options)) != may_sleep(ib->poll_ctx)) {
		ibdev_dbg(ib->device, "CQ context: context %u flags 0x%x for a CQ whose done() %s\n",
			  options->context, options->flags,
			  may_sleep(ib->poll_ctx) ? "may sleep" : "must not sleep");
		return -EINVAL;
	}
	return 0;
}

/**
 * cxib_cq_set_context() - change the polling context of a CQ
 * @ib: CQ of cxib_alloc_cq() or ib_alloc_cq()
 * @options: polling context, read during the call
 *
 * The CQ moves at its next event. The context of a CQ whose done() handlers may sleep can be
 * changed to %CXIB_CQ_WORKQUEUE, %CXIB_CQ_UNBOUND_WORKQUEUE or %CXIB_CQ_THREAD with
 * %CXIB_CQ_OWN_THREAD, that of another one to %CXIB_CQ_SOFTIRQ or %CXIB_CQ_THREAD without. The
 * caller must not free the CQ meanwhile.
 *
 * Context: process context, may sleep.
 * Return: 0, or with the CQ as it was
 *	-EOPNOTSUPP: the CQ is owned by another driver or by the pool of the RDMA core,
 *	-EINVAL: the CQ has no events or done() handlers, or @options do not fit it or are invalid,
 *	-ENOMEM: without memory or thread,
 *	-EINTR: a signal has killed the caller while the thread was created.
 */
int cxib_cq_set_context(struct ib_cq *ib, const struct cxib_cq_options *options)
{
	int err;

	if (ib->device->ops.owner != THIS_MODULE) {
		ibdev_dbg(ib->device, "CQ context: not a device of %s\n", KBUILD_MODNAME);
		return -EOPNOTSUPP;
	}
	if (WARN_ON_ONCE(!options))
		return -EINVAL;
	err = check_options(ib->device, options);
	if (!err)
		err = check_change(ib, options);
	if (err)
		return err;
	return cxib_poll_device_set_options(to_cq(ib)->poll, options);
}
EXPORT_SYMBOL_GPL(cxib_cq_set_context);
