/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Polling contexts of cxib: where and how fairly the done() handlers of a CQ run.
 *
 * cxib_alloc_cq() is ib_alloc_cq() with a choice of contexts. The CQ is polled, resized, moderated
 * and freed through the functions of the RDMA core.
 */
#ifndef CXIB_POLL_CONTEXT_H
#define CXIB_POLL_CONTEXT_H

#include <linux/cpumask.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

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
 *
 * The done() handlers of one CQ never run concurrently.
 */
enum cxib_cq_context {
	CXIB_CQ_DIRECT,
	CXIB_CQ_SOFTIRQ,
	CXIB_CQ_THREAD,
	CXIB_CQ_WORKQUEUE,
	CXIB_CQ_UNBOUND_WORKQUEUE,
};

/* Flag of struct cxib_cq_options: the CQ has a thread of its own; %CXIB_CQ_THREAD only. */
#define CXIB_CQ_OWN_THREAD		BIT(0)

/**
 * enum cxib_thread_policy - scheduling policy of a CQ's own thread
 * @CXIB_THREAD_NORMAL: SCHED_NORMAL with a nice value
 * @CXIB_THREAD_FIFO_LOW: as sched_set_fifo_low()
 * @CXIB_THREAD_FIFO: as sched_set_fifo()
 */
enum cxib_thread_policy {
	CXIB_THREAD_NORMAL,
	CXIB_THREAD_FIFO_LOW,
	CXIB_THREAD_FIFO,
};

/**
 * struct cxib_cq_options - polling context of a CQ
 * @context: where the done() handlers run
 * @flags: 0 or %CXIB_CQ_OWN_THREAD
 * @weight: share of the vector's time relative to other CQs, 1 to %CXIB_CQ_WEIGHT_MAX; 0: 1
 * @busy_poll_us: how long a thread polls an empty CQ before it arms it, in microseconds, 0 to
 *	%CXIB_CQ_BUSY_POLL_US_MAX; %CXIB_CQ_THREAD only
 * @policy: scheduling policy; with %CXIB_CQ_OWN_THREAD only, else 0
 * @nice: nice value, -20 to 19; with %CXIB_CQ_OWN_THREAD and %CXIB_THREAD_NORMAL only, else 0
 * @cpus: CPUs of the thread, read during the call; NULL: the housekeeping CPUs of the device's NUMA
 *	node; with %CXIB_CQ_OWN_THREAD only, else NULL
 */
struct cxib_cq_options {
	enum cxib_cq_context context;
	u32 flags;
	u32 weight;
	u32 busy_poll_us;
	enum cxib_thread_policy policy;
	int nice;
	const struct cpumask *cpus;
};

struct ib_cq *__cxib_alloc_cq(struct ib_device *ib, void *private, int nr_cqe, int comp_vector,
			      const struct cxib_cq_options *options, const char *caller);

/**
 * cxib_alloc_cq() - allocate a CQ with a polling context
 * @ib: device of cxib
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
 *	-EOPNOTSUPP: @ib is a device of another driver,
 *	-EINVAL: an argument is out of range or a member of @options does not fit its context,
 *	-ENOMEM: without memory or thread,
 *	-EINTR: a signal has killed the caller while the thread was created,
 *	or an error of the device.
 */
#define cxib_alloc_cq(ib, private, nr_cqe, comp_vector, options) \
	__cxib_alloc_cq(ib, private, nr_cqe, comp_vector, options, KBUILD_MODNAME)

int cxib_cq_set_context(struct ib_cq *ib, const struct cxib_cq_options *options);

#endif
