// SPDX-License-Identifier: GPL-2.0-only
/*
 * State that the ODP MRs of a user context share, and state that those of a user share. The RDMA
 * core and firmware allocate the lists of pages of MRs without charging them to the process, so the
 * driver limits their length. The limit is one of the user, because a process can open any number
 * of user contexts.
 */
#include <kunit/visibility.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#include "verbs/odp/odp_mr.h"

#ifdef CXIB_KERNEL_CAN_PAGE

/*
 * The MRs of a user cover at most 8 times the memory of the host, plus 32 GiB. Their lists take
 * 16 bytes per page, so at most 1/32 of the memory of the host, plus 128 MiB.
 */
#define COVERED_TIMES	8
#define COVERED_BASE	(32ULL * SZ_1G)

static struct cxib_odp_context *odp_context_find(struct cxib_odp *odp,
						 const struct ib_ucontext *owner)
{
	struct cxib_odp_context *context;

	lockdep_assert_held(&odp->lock);

	list_for_each_entry(context, &odp->contexts, node)
		if (context->owner == owner)
			return context;
	return NULL;
}

static void odp_context_free_user_fn(struct work_struct *work)
{
	struct cxib_odp_user *user = container_of(work, struct cxib_odp_user, free_work);

	cxib_odp_destroy_user(user);
	kfree(user);
}

/**
 * cxib_odp_init_user() - initialize the state that the ODP MRs of a user share
 * @user: filled
 * @uid: the user
 *
 * Each user has a workqueue of its own: workers of the kernel that one user stalls must not be
 * missing to another one.
 *
 * Return: 0, or -ENOMEM.
 */
int cxib_odp_init_user(struct cxib_odp_user *user, kuid_t uid)
{
	user->uid = uid;
	INIT_LIST_HEAD(&user->node);
	INIT_WORK(&user->free_work, odp_context_free_user_fn);
	user->workqueue = alloc_workqueue("cxib_faults_%u",
					  WQ_HIGHPRI | WQ_UNBOUND | WQ_MEM_RECLAIM,
					  CXIB_ODP_WORKERS_MAX, from_kuid(&init_user_ns, uid));
	if (!user->workqueue)
		return -ENOMEM;
	user->pager = cxib_odp_get_pager(uid);
	if (user->pager)
		return 0;
	destroy_workqueue(user->workqueue);
	return -ENOMEM;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_init_user);

/**
 * cxib_odp_destroy_user() - undo cxib_odp_init_user()
 * @user: user without MRs
 */
void cxib_odp_destroy_user(struct cxib_odp_user *user)
{
	destroy_workqueue(user->workqueue);
	cxib_odp_put_pager(user->pager);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_destroy_user);

/**
 * cxib_odp_uid() - UID that a process in a user namespace counts as
 * @ns: the user namespace
 * @uid: UID of the process
 *
 * A process can take any UID of its user namespace, so all of them count as one: as the creator of
 * the namespace, or, if root has created it for a container, as the root user of the container.
 *
 * Return: @uid in the initial user namespace.
 */
kuid_t cxib_odp_uid(struct user_namespace *ns, kuid_t uid)
{
	kuid_t root;

	for (; ns->parent; ns = ns->parent) {
		root = make_kuid(ns, 0);
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			uid = ns->owner;
		else if (uid_valid(root))
			uid = root;
	}
	return uid;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_uid);

/**
 * cxib_odp_init_context() - initialize the state that the ODP MRs of a user context share
 * @context: filled, with one user
 * @owner: the user context; NULL: none
 * @user: user of the context
 */
void cxib_odp_init_context(struct cxib_odp_context *context, const struct ib_ucontext *owner,
			   struct cxib_odp_user *user)
{
	context->owner = owner;
	context->user = user;
	refcount_set(&context->users, 1);
	INIT_LIST_HEAD(&context->node);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_init_context);

static struct cxib_odp_user *odp_context_get_user(struct cxib_odp *odp, kuid_t uid)
{
	struct cxib_odp_user *user;

	lockdep_assert_held(&odp->lock);

	list_for_each_entry(user, &odp->users, node)
		if (uid_eq(user->uid, uid))
			goto found;
	user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
	if (!user)
		return NULL;
	if (cxib_odp_init_user(user, uid)) {
		kfree(user);
		return NULL;
	}
	list_add(&user->node, &odp->users);
found:
	user->contexts++;
	return user;
}

static void odp_context_put_user(struct cxib_odp *odp, struct cxib_odp_user *user)
{
	lockdep_assert_held(&odp->lock);

	if (--user->contexts)
		return;
	list_del(&user->node);
	WARN_ON(atomic64_read(&user->pages) || atomic_read(&user->faults));
	/* A worker of the user may be the caller. */
	queue_work(odp->workqueue, &user->free_work);
	wake_up_var(&odp->users);
}

/**
 * cxib_odp_wait_for_users() - wait until no page fault or prefetch is queued
 * @odp: on-demand paging of a device without MRs, whose events are no longer delivered
 *
 * The wait is short: without MRs, page faults and prefetches do not wait for user space.
 */
void cxib_odp_wait_for_users(struct cxib_odp *odp)
{
	wait_var_event(&odp->users, list_empty_careful(&odp->users));
	/* The last user is removed and its work item queued with the lock held. */
	mutex_lock(&odp->lock);
	mutex_unlock(&odp->lock);
}

static struct cxib_odp_context *odp_context_create(struct cxib_odp *odp,
						   const struct ib_ucontext *owner)
{
	struct cxib_odp_context *context = kzalloc(sizeof(*context), GFP_KERNEL_ACCOUNT);
	struct cxib_odp_user *user;

	if (!context)
		return NULL;
	user = odp_context_get_user(odp, cxib_odp_uid(current_user_ns(), current_uid()));
	if (!user) {
		kfree(context);
		return NULL;
	}
	cxib_odp_init_context(context, owner, user);
	list_add(&context->node, &odp->contexts);
	return context;
}

/**
 * cxib_odp_get_context() - get or create the state that the ODP MRs of a user context share
 * @ibdev: RDMA device
 * @owner: user context of the new MR
 *
 * Return: the state, to be released by cxib_odp_put_context(); NULL without memory.
 */
struct cxib_odp_context *cxib_odp_get_context(struct cxib_ibdev *ibdev,
					      const struct ib_ucontext *owner)
{
	struct cxib_odp *odp = &ibdev->odp;
	struct cxib_odp_context *context;

	guard(mutex)(&odp->lock);
	context = odp_context_find(odp, owner);
	if (!context)
		return odp_context_create(odp, owner);
	refcount_inc(&context->users);
	return context;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_get_context);

/**
 * cxib_odp_find_context() - get the state that the ODP MRs of a user context share
 * @ibdev: RDMA device
 * @owner: the user context, or NULL
 *
 * Return: the state, to be released by cxib_odp_put_context(). If the user context has no ODP MRs,
 * the state for page faults without a user context. Never NULL.
 */
struct cxib_odp_context *cxib_odp_find_context(struct cxib_ibdev *ibdev,
					       const struct ib_ucontext *owner)
{
	struct cxib_odp_context *context;

	guard(mutex)(&ibdev->odp.lock);
	context = odp_context_find(&ibdev->odp, owner) ?: &ibdev->odp.others;
	refcount_inc(&context->users);
	return context;
}

/**
 * cxib_odp_put_context() - undo cxib_odp_get_context()
 * @ibdev: RDMA device
 * @context: context of an MR that was destroyed, or of a page fault that was handled
 */
void cxib_odp_put_context(struct cxib_ibdev *ibdev, struct cxib_odp_context *context)
{
	might_lock(&ibdev->odp.lock);
	if (!refcount_dec_and_mutex_lock(&context->users, &ibdev->odp.lock))
		return;
	list_del(&context->node);
	odp_context_put_user(&ibdev->odp, context->user);
	mutex_unlock(&ibdev->odp.lock);
	kfree(context);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_put_context);

/**
 * cxib_odp_pages_max() - returns the limit of the pages in the lists of a user
 * @memory: memory of the host, bytes
 *
 * Return: number of pages, present or not.
 */
u64 cxib_odp_pages_max(u64 memory)
{
	return (memory * COVERED_TIMES + COVERED_BASE) >> PAGE_SHIFT;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_pages_max);

/**
 * cxib_odp_charge() - charge a list of pages to its user
 * @odp_mr: MR or child MR, with its context
 * @pages: length of the list
 *
 * Return: 0, to be undone by cxib_odp_uncharge(); -ENOMEM: the user has reached the limit.
 */
int cxib_odp_charge(struct cxib_odp_mr *odp_mr, u64 pages)
{
	const u64 max = cxib_odp_pages_max((u64)totalram_pages() << PAGE_SHIFT);
	struct cxib_odp_user *user = odp_mr->context->user;

	if (atomic64_add_return(pages, &user->pages) <= max) {
		odp_mr->charged = pages;
		return 0;
	}
	atomic64_sub(pages, &user->pages);
	ibdev_dbg(odp_mr->mr.ib.device, "ODP MR: %llu more pages exceed limit %llu of a user\n",
		  pages, max);
	return -ENOMEM;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_charge);

/**
 * cxib_odp_uncharge() - undo cxib_odp_charge()
 * @odp_mr: MR or child MR whose list was freed
 */
void cxib_odp_uncharge(struct cxib_odp_mr *odp_mr)
{
	atomic64_sub(odp_mr->charged, &odp_mr->context->user->pages);
	odp_mr->charged = 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_uncharge);

#endif
