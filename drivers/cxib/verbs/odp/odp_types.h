/* SPDX-License-Identifier: GPL-2.0-only */
/* State of ODP of an RDMA device. */
#ifndef CXIB_VERBS_ODP_ODP_TYPES_H
#define CXIB_VERBS_ODP_ODP_TYPES_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/xarray.h>

struct ib_ucontext;
struct workqueue_struct;

/**
 * struct cxib_odp_context - what the ODP MRs of a user context share
 * @node: entry in the list of the device
 * @owner: the user context; only compared
 * @mrs: number of MRs, without children; protected by the lock of struct cxib_odp
 * @pages: sum of the lengths of their lists of pages
 */
struct cxib_odp_context {
	struct list_head node;
	const struct ib_ucontext *owner;
	unsigned int mrs;
	atomic64_t pages;
};

/**
 * struct cxib_odp - on-demand paging
 * @lock: protects the creation of @workqueue, and @contexts
 * @workqueue: handles page faults and prefetches; NULL until the first ODP MR
 * @regions: struct cxib_odp_mr by index of its mkeys, including those of implicit
 *	children. An MR without its first mkey here is being destroyed
 * @contexts: struct cxib_odp_context of each user context with ODP MRs
 * @faults: number of page faults queued or in progress
 * @fault_done: woken when @faults decreases
 * @prefetches: number of prefetches queued or in progress
 */
struct cxib_odp {
	struct mutex lock; /* see above */
	struct workqueue_struct *workqueue;
	struct xarray regions;
	struct list_head contexts;
	atomic_t faults;
	wait_queue_head_t fault_done;
	atomic_t prefetches;
};

#endif
