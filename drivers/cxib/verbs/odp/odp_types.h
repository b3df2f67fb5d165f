/* SPDX-License-Identifier: GPL-2.0-only */
/* State of ODP of an RDMA device. */
#ifndef CXIB_VERBS_ODP_ODP_TYPES_H
#define CXIB_VERBS_ODP_ODP_TYPES_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/xarray.h>

struct workqueue_struct;

/**
 * struct cxib_odp - on-demand paging
 * @lock: protects the creation of @workqueue
 * @workqueue: handles page faults and prefetches; NULL until the first ODP MR
 * @regions: struct cxib_odp_mr by index of its mkeys, including those of implicit
 *	children. An MR without its first mkey here is being destroyed
 * @faults: number of page faults queued or in progress
 * @fault_done: woken when @faults decreases
 * @prefetches: number of prefetches queued or in progress
 */
struct cxib_odp {
	struct mutex lock; /* see above */
	struct workqueue_struct *workqueue;
	struct xarray regions;
	atomic_t faults;
	wait_queue_head_t fault_done;
	atomic_t prefetches;
};

#endif
