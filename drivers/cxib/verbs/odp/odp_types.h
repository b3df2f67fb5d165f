/* SPDX-License-Identifier: GPL-2.0-only */
/* State of on-demand paging (ODP) of an RDMA device. */
#ifndef CXIB_VERBS_ODP_ODP_TYPES_H
#define CXIB_VERBS_ODP_ODP_TYPES_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/xarray.h>

struct ib_ucontext;
struct workqueue_struct;

/**
 * struct cxib_odp_user - state that the page faults of a user share
 * @node: entry in the list of the device
 * @uid: the user
 * @contexts: number of user contexts that refer to this
 * @fault_lock: protects the members below
 * @running: number of page faults that are being handled or are queued for a worker
 * @waiting: page faults beyond that
 * @waiting_count: length of @waiting
 */
struct cxib_odp_user {
	struct list_head node;
	kuid_t uid;
	unsigned int contexts;
	spinlock_t fault_lock; /* running and waiting faults */
	unsigned int running;
	struct list_head waiting;
	unsigned int waiting_count;
};

/**
 * struct cxib_odp_context - state that the ODP MRs of a user context share
 * @node: entry in the list of the device
 * @owner: the user context; only compared
 * @user: the user that registered the first MR
 * @users: MRs, without children, and page faults
 * @pages: sum of the lengths of the MRs' lists of pages
 */
struct cxib_odp_context {
	struct list_head node;
	const struct ib_ucontext *owner;
	struct cxib_odp_user *user;
	refcount_t users;
	atomic64_t pages;
};

/**
 * struct cxib_odp - on-demand paging
 * @lock: protects the creation of @workqueue, @contexts, and @users with their @contexts
 * @workqueue: handles page faults and prefetches; NULL until the first ODP MR
 * @regions: struct cxib_odp_mr by index of its mkeys, including those of implicit children. An MR
 *	whose first mkey is not in the table is being destroyed.
 * @contexts: struct cxib_odp_context of each user context with ODP MRs
 * @users: struct cxib_odp_user of each user with an entry of @contexts
 * @others: takes the place of the user context for page faults without one
 * @unknown_user: user of @others
 * @prefetches: number of prefetches queued or in progress
 */
struct cxib_odp {
	struct mutex lock; /* workqueue, contexts */
	struct workqueue_struct *workqueue;
	struct xarray regions;
	struct list_head contexts;
	struct list_head users;
	struct cxib_odp_context others;
	struct cxib_odp_user unknown_user;
	atomic_t prefetches;
};

#endif
