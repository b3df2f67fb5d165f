/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Polling contexts of cxib: where and how fairly the done() handlers of a CQ run.
 *
 * cxib_alloc_cq() is ib_alloc_cq() with a choice of contexts. The CQ is polled, resized, moderated
 * and freed through the functions of the RDMA core. A module that includes this header does not
 * depend on cxib.ko (functions.h). On a device of another driver cxib_alloc_cq() returns
 * -EOPNOTSUPP, and the ULP calls ib_alloc_cq() instead.
 *
 * What reaches a CQ: a CQ of cxib_alloc_cq() has the context that its ULP has chosen. The devlink
 * parameters cq_softirq_context, cq_process_context and cq_busy_poll_us apply to CQs of
 * ib_alloc_cq() and of the pool of the RDMA core (ib_cq_pool_get()), whose users share a CQ and are
 * served in the order of its CQEs; cq_quantum_us applies to all of these. None of them reaches a CQ
 * of ib_create_cq(), whose ULP polls it itself (IPoIB, RDS, SMC), a CQ in direct context, or one of
 * user space. Scheduling policy, nice value and CPUs of a thread are the administrator's: chrt,
 * renice, taskset.
 */
#ifndef CXIB_POLL_CONTEXT_H
#define CXIB_POLL_CONTEXT_H

#include <cxib/functions.h>
#include <linux/err.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

/* Version of struct cxib_poll_contexts. */
#define CXIB_POLL_CONTEXTS_ABI		1

/* comp_vector: nearest to the calling CPU, then the one with the fewest CQs. */
#define CXIB_ANY_VECTOR			(-1)

/* Limits of struct cxib_cq_options. */
#define CXIB_CQ_WEIGHT_MAX		16
#define CXIB_CQ_BUSY_POLL_US_MAX	1000

/**
 * enum cxib_cq_context - where the done() handlers of a CQ run
 * @CXIB_CQ_DIRECT: in the caller of ib_process_cq_direct(); the CQ has no events
 * @CXIB_CQ_SOFTIRQ: in softirq context, must not sleep
 * @CXIB_CQ_THREAD: in the thread of the completion vector with bottom halves disabled, must not
 *	sleep; with %CXIB_CQ_OWN_THREAD in a thread of the CQ, may sleep
 * @CXIB_CQ_WORKQUEUE: in a work item on the CPU of the interrupt, may sleep
 * @CXIB_CQ_UNBOUND_WORKQUEUE: in a work item on any CPU of the workqueue's cpumask, may sleep
 * @CXIB_CQ_DEVICE_SETTINGS: as the devlink parameters of the device say, also when they change;
 *	cxib_cq_set_context() only, which undoes an earlier choice with it
 *
 * The done() handlers of one CQ never run concurrently.
 */
enum cxib_cq_context {
	CXIB_CQ_DIRECT,
	CXIB_CQ_SOFTIRQ,
	CXIB_CQ_THREAD,
	CXIB_CQ_WORKQUEUE,
	CXIB_CQ_UNBOUND_WORKQUEUE,
	CXIB_CQ_DEVICE_SETTINGS,
};

/* Flag of struct cxib_cq_options: the CQ has a thread of its own; %CXIB_CQ_THREAD only. */
#define CXIB_CQ_OWN_THREAD		BIT(0)

/**
 * struct cxib_cq_options - polling context of a CQ
 * @context: where the done() handlers run
 * @flags: 0 or %CXIB_CQ_OWN_THREAD
 * @weight: length of a turn in quanta (cq_quantum_us), 1 to %CXIB_CQ_WEIGHT_MAX; 0: 1. Of CQs that
 *	are always full, each gets this share of the time of their softirq or vector thread, or of
 *	the work items of a CPU. For a thread of the CQ it is the slice of the thread. For
 *	unbound work items it is only the length of a turn: the scheduler chooses the next CQ.
 * @busy_poll_us: how long a thread polls an empty CQ before it arms it, in microseconds, 0 to
 *	%CXIB_CQ_BUSY_POLL_US_MAX; %CXIB_CQ_THREAD only
 */
struct cxib_cq_options {
	enum cxib_cq_context context;
	u32 flags;
	u32 weight;
	u32 busy_poll_us;
};

/**
 * struct cxib_poll_contexts - functions of a device of cxib
 * @abi: %CXIB_POLL_CONTEXTS_ABI of the driver
 * @alloc_cq: as cxib_alloc_cq(), with the name of the caller's module
 * @set_context: as cxib_cq_set_context()
 */
struct cxib_poll_contexts {
	u32 abi;
	struct ib_cq *(*alloc_cq)(struct ib_device *ib, void *private, int nr_cqe, int comp_vector,
				  const struct cxib_cq_options *options, const char *caller);
	int (*set_context)(struct ib_cq *ib, const struct cxib_cq_options *options);
};

/**
 * cxib_poll_contexts() - find the functions
 * @device: RDMA device, registered by any driver
 *
 * No reference to cxib is kept: its module cannot be unloaded before the ULP's ib_client has
 * destroyed all CQs of @device.
 *
 * Context: any.
 * Return: the functions, valid as long as @device; NULL if it has no polling contexts.
 */
static inline const struct cxib_poll_contexts *cxib_poll_contexts(struct ib_device *device)
{
	const struct cxib_functions *functions = cxib_functions(device);
	const struct cxib_poll_contexts *table = functions ? functions->poll_contexts : NULL;

	return table && table->abi == CXIB_POLL_CONTEXTS_ABI ? table : NULL;
}

static inline struct ib_cq *__cxib_alloc_cq(struct ib_device *ib, void *private, int nr_cqe,
					    int comp_vector, const struct cxib_cq_options *options,
					    const char *caller)
{
	const struct cxib_poll_contexts *table = cxib_poll_contexts(ib);

	if (!table)
		return ERR_PTR(-EOPNOTSUPP);
	return table->alloc_cq(ib, private, nr_cqe, comp_vector, options, caller);
}

/**
 * cxib_alloc_cq() - allocate a CQ with a polling context
 * @ib: RDMA device
 * @private: cq_context, for the caller
 * @nr_cqe: minimum number of CQEs, 1 to max_cqe of the device
 * @comp_vector: completion vector below num_comp_vectors of the device, or %CXIB_ANY_VECTOR
 * @options: polling context, read during the call
 *
 * All WRs that complete in the CQ must have a wr_cqe. Freed by ib_free_cq(), which must not be
 * called in a done() handler of the CQ.
 *
 * Context: process context, may sleep.
 * Return: the CQ, or an ERR_PTR:
 *	-EOPNOTSUPP: @ib is a device of another driver, or cxib has another version of this header,
 *	-EINVAL: an argument is out of range or a member of @options does not fit its context,
 *	-ENOMEM: without memory or thread; a device has 512 own threads of CQs at most,
 *	-EINTR: a signal has killed the caller while the thread was created,
 *	or an error of the device.
 */
#define cxib_alloc_cq(ib, private, nr_cqe, comp_vector, options) \
	__cxib_alloc_cq(ib, private, nr_cqe, comp_vector, options, KBUILD_MODNAME)

/**
 * cxib_cq_set_context() - change the polling context of a CQ
 * @cq: CQ of cxib_alloc_cq() or ib_alloc_cq()
 * @options: polling context, read during the call
 *
 * The CQ moves at the end of its turn or at its next event; one that the RDMA core polls moves at
 * its next event. A thread of the CQ ends when the CQ has left it. The context of a CQ whose done()
 * handlers may sleep can be changed to %CXIB_CQ_WORKQUEUE, %CXIB_CQ_UNBOUND_WORKQUEUE or
 * %CXIB_CQ_THREAD with %CXIB_CQ_OWN_THREAD, that of another one to %CXIB_CQ_SOFTIRQ or
 * %CXIB_CQ_THREAD without, and each of them to %CXIB_CQ_DEVICE_SETTINGS. The caller must not free
 * the CQ meanwhile.
 *
 * Context: process context, may sleep.
 * Return: 0, or with the CQ as it was
 *	-EOPNOTSUPP: the CQ is owned by another driver or by the pool of the RDMA core,
 *	-EINVAL: the CQ has no events or done() handlers, or @options do not fit it or are invalid,
 *	-ENOMEM: without memory or thread; a device has 512 own threads of CQs at most,
 *	-EINTR: a signal has killed the caller while the thread was created.
 */
static inline int cxib_cq_set_context(struct ib_cq *cq, const struct cxib_cq_options *options)
{
	const struct cxib_poll_contexts *table = cxib_poll_contexts(cq->device);

	return table ? table->set_context(cq, options) : -EOPNOTSUPP;
}

#endif
