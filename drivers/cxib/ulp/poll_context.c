// SPDX-License-Identifier: GPL-2.0-only
/* The public functions of include/cxib/poll_context.h, and the checks of their arguments. */
#include <cxib/poll_context.h>
#include <linux/module.h>
#include <linux/topology.h>

#include "ulp/functions.h"
#include "ulp/poll.h"

static int context_check_options(struct ib_device *ib, const struct cxib_cq_options *options)
{
	if (!cxib_owns_device(ib))
		return -EOPNOTSUPP;
	if (WARN_ON_ONCE(!options))
		return -EINVAL;
	if (options->context > CXIB_CQ_DEVICE_SETTINGS) {
		ibdev_dbg(ib, "CQ context: context %u out of range [0, %u]\n", options->context,
			  CXIB_CQ_DEVICE_SETTINGS);
		return -EINVAL;
	}
	if (options->flags & ~CXIB_CQ_OWN_THREAD) {
		ibdev_dbg(ib, "CQ context: unsupported flags 0x%x (mask 0x%lx)\n", options->flags,
			  CXIB_CQ_OWN_THREAD);
		return -EINVAL;
	}
	if (options->flags & CXIB_CQ_OWN_THREAD && options->context != CXIB_CQ_THREAD) {
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
	if (options->weight && options->context == CXIB_CQ_DEVICE_SETTINGS) {
		ibdev_dbg(ib, "CQ context: weight %u with context %u (needs another context)\n",
			  options->weight, options->context);
		return -EINVAL;
	}
	return 0;
}

/* A CQ whose done() handlers may sleep is a workqueue CQ for the RDMA core. */
static enum ib_poll_context context_core(const struct cxib_cq_options *options)
{
	switch (options->context) {
	case CXIB_CQ_DIRECT:
		return IB_POLL_DIRECT;
	case CXIB_CQ_WORKQUEUE:
		return IB_POLL_WORKQUEUE;
	case CXIB_CQ_UNBOUND_WORKQUEUE:
		return IB_POLL_UNBOUND_WORKQUEUE;
	case CXIB_CQ_THREAD:
		return options->flags & CXIB_CQ_OWN_THREAD ? IB_POLL_WORKQUEUE : IB_POLL_SOFTIRQ;
	default:
		return IB_POLL_SOFTIRQ;
	}
}

static int context_check_allocation(struct ib_device *ib, int nr_cqe, int comp_vector,
				    const struct cxib_cq_options *options)
{
	int err = context_check_options(ib, options);

	if (err)
		return err;
	if (options->context == CXIB_CQ_DEVICE_SETTINGS) {
		ibdev_dbg(ib, "allocate CQ: context %u (needs ib_alloc_cq())\n",
			  options->context);
		return -EINVAL;
	}
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

static struct ib_cq *context_alloc_cq(struct ib_device *ib, void *private, int nr_cqe,
				      int comp_vector, const struct cxib_cq_options *options,
				      const char *caller)
{
	int err = context_check_allocation(ib, nr_cqe, comp_vector, options);
	struct ib_cq *cq;

	if (err)
		return ERR_PTR(err);
	if (comp_vector == CXIB_ANY_VECTOR)
		comp_vector = cxib_poll_device_choose_vector(to_ibdev(ib)->poll_device);
	cq = __ib_alloc_cq(ib, private, nr_cqe, comp_vector, context_core(options), caller);
	if (IS_ERR(cq) || options->context == CXIB_CQ_DIRECT)
		return cq;
	/* A core that sets wc later than its drivers expect. */
	err = cxib_poll_is_possible(to_cq(cq)) ? cxib_poll_device_set_options(to_cq(cq), options) :
						 -EOPNOTSUPP;
	if (err) {
		ib_free_cq(cq);
		return ERR_PTR(err);
	}
	return cq;
}

static bool context_may_sleep(enum ib_poll_context context)
{
	return context == IB_POLL_WORKQUEUE || context == IB_POLL_UNBOUND_WORKQUEUE;
}

static int context_check_change(struct ib_cq *ib, const struct cxib_cq_options *options)
{
	bool may_sleep = context_may_sleep(ib->poll_ctx);

	if (!cxib_poll_is_possible(to_cq(ib))) {
		ibdev_dbg(ib->device, "CQ context: not a CQ with events and done() handlers\n");
		return -EINVAL;
	}
	if (ib->shared) {
		ibdev_dbg(ib->device, "CQ context: CQ of the pool of the RDMA core\n");
		return -EOPNOTSUPP;
	}
	if (options->context == CXIB_CQ_DEVICE_SETTINGS)
		return 0;
	if (options->context != CXIB_CQ_DIRECT &&
	    context_may_sleep(context_core(options)) == may_sleep)
		return 0;
	ibdev_dbg(ib->device, "CQ context: context %u flags 0x%x for a CQ whose done() %s\n",
		  options->context, options->flags, may_sleep ? "may sleep" : "must not sleep");
	return -EINVAL;
}

static int context_change(struct ib_cq *ib, const struct cxib_cq_options *options)
{
	int err = context_check_options(ib->device, options);

	if (!err)
		err = context_check_change(ib, options);
	return err ?: cxib_poll_device_set_options(to_cq(ib), options);
}

const struct cxib_poll_contexts cxib_poll_functions = {
	.abi = CXIB_POLL_CONTEXTS_ABI,
	.alloc_cq = context_alloc_cq,
	.set_context = context_change,
};
