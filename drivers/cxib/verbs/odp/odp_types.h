/* SPDX-License-Identifier: GPL-2.0-only */
/* State of on-demand paging (ODP) of an RDMA device. */
#ifndef CXIB_VERBS_ODP_ODP_TYPES_H
#define CXIB_VERBS_ODP_ODP_TYPES_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

struct cxib_odp_pager;
struct ib_ucontext;
struct mm_struct;

/**
 * struct cxib_odp_user - state that the ODP MRs of a user share
 * @node: entry in the list of the device
 * @uid: the user
 * @contexts: number of user contexts that refer to this
 * @pages: sum of the lengths of the MRs' lists of pages
 * @workqueue: handles the page faults and prefetches of the user
 * @pager: makes pages of the user present
 * @faults: number of page faults that are queued or in progress
 * @prefetches: number of prefetches that are queued or in progress
 * @free_work: calls cxib_odp_destroy_user() and frees this
 */
struct cxib_odp_user {
	struct list_head node;
	kuid_t uid;
	unsigned int contexts;
	atomic64_t pages;
	struct workqueue_struct *workqueue;
	struct cxib_odp_pager *pager;
	atomic_t faults;
	atomic_t prefetches;
	struct work_struct free_work;
};

/**
 * struct cxib_odp_context - state that the ODP MRs of a user context share
 * @node: entry in the list of the device
 * @owner: the user context; only compared
 * @user: the user that registered the first MR
 * @mm: address space that has been prepared for MMU notifiers; only compared
 * @users: MRs, without children, and page faults
 */
struct cxib_odp_context {
	struct list_head node;
	const struct ib_ucontext *owner;
	struct cxib_odp_user *user;
	const struct mm_struct *mm;
	refcount_t users;
};

/**
 * struct cxib_odp - on-demand paging
 * @lock: protects the creation of @workqueue, @contexts, and @users with their @contexts
 * @workqueue: handles the events of the page fault EQ and frees users; NULL until the first ODP MR
 * @regions: struct cxib_odp_mr by index of its mkeys, including those of implicit children. An MR
 *	whose first mkey is not in the table is being destroyed.
 * @contexts: struct cxib_odp_context of each user context with ODP MRs
 * @users: struct cxib_odp_user of each user with an entry of @contexts
 * @others: stands for the user context of page faults whose MR is not known yet
 * @unknown_user: user of @others
 * @is_ending: the device is being removed
 */
struct cxib_odp {
	struct mutex lock; /* workqueue, contexts */
	struct workqueue_struct *workqueue;
	struct xarray regions;
	struct list_head contexts;
	struct list_head users;
	struct cxib_odp_context others;
	struct cxib_odp_user unknown_user;
	bool is_ending;
};

#endif
