// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes pages of a process present for page faults and prefetches, and has them mapped for the
 * device. The process can delay this for any time, for example by a FUSE file that it serves
 * itself. So the work item that waits for the process holds only the address space, and nothing of
 * the device or of an MR. When an MR or its device is removed, the page fault fails at once, and
 * the work item goes on alone.
 */
#include <kunit/visibility.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "verbs/odp/odp_mr.h"

#ifdef CXIB_KERNEL_CAN_PAGE

/*
 * Maximum number of tries to map pages. The pages can be absent again each time, if memory is short
 * or if the process removes them.
 */
#define TRIES_MAX	1000

/**
 * struct cxib_odp_pager - workqueue that makes pages of a user present, on all devices
 * @node: entry in @pagers
 * @uid: the user
 * @users: number of struct cxib_odp_user and of works that refer to this
 * @workqueue: executes struct cxib_odp_populate
 */
struct cxib_odp_pager {
	struct list_head node;
	kuid_t uid;
	atomic_t users;
	struct workqueue_struct *workqueue;
};

static DEFINE_MUTEX(pagers_lock); /* pagers */
static LIST_HEAD(pagers);

/**
 * struct cxib_odp_populate - range of an address space whose pages are made present
 * @work: makes them present
 * @users: the page fault that waits, and the work
 * @pager: of the user
 * @mm: address space; holds the structure, not the memory
 * @absent: first address that must be made present
 * @end: end of the range
 * @step: bytes of a page
 * @flags: FAULT_FLAG_…
 * @map: maps the pages; called with the lock of the address space
 * @context: for @map; owned by the page fault
 * @lock: protects @is_left, and is held while @map is called. So a page fault whose wait has been
 *	ended waits for @map before it frees @context.
 * @is_left: the page fault no longer waits
 * @result: of @map, or an error
 * @done: the pages are mapped, or the page fault no longer waits for them
 * @node: entry in the list of the MR while the page fault waits
 */
struct cxib_odp_populate {
	struct work_struct work;
	refcount_t users;
	struct cxib_odp_pager *pager;
	struct mm_struct *mm;
	u64 absent;
	u64 end;
	u64 step;
	unsigned int flags;
	cxib_odp_map_fn map;
	void *context;
	struct mutex lock; /* is_left */
	bool is_left;
	int result;
	struct completion done;
	struct list_head node;
};

static struct cxib_odp_pager *populate_create_pager(kuid_t uid)
{
	struct cxib_odp_pager *pager = kzalloc(sizeof(*pager), GFP_KERNEL_ACCOUNT);

	lockdep_assert_held(&pagers_lock);

	if (!pager)
		return NULL;
	pager->uid = uid;
	/* Destroyed by a worker with WQ_MEM_RECLAIM, which must not wait for one without. */
	pager->workqueue = alloc_workqueue("cxib_pages_%u",
					   WQ_HIGHPRI | WQ_UNBOUND | WQ_MEM_RECLAIM,
					   CXIB_ODP_WORKERS_MAX, from_kuid(&init_user_ns, uid));
	if (!pager->workqueue) {
		kfree(pager);
		return NULL;
	}
	list_add(&pager->node, &pagers);
	return pager;
}

/* On return no work of the pager is executed. */
static void populate_destroy_pager(struct cxib_odp_pager *pager)
{
	lockdep_assert_held(&pagers_lock);

	list_del(&pager->node);
	destroy_workqueue(pager->workqueue);
	kfree(pager);
}

/**
 * cxib_odp_get_pager() - get or create the workqueue that makes pages of a user present
 * @uid: the user
 *
 * It outlives the device, together with the works that the user delays. So a user who removes MRs
 * and registers new ones gets no further workers.
 *
 * Context: process context, may sleep.
 * Return: to be released by cxib_odp_put_pager(); NULL without memory.
 */
struct cxib_odp_pager *cxib_odp_get_pager(kuid_t uid)
{
	struct cxib_odp_pager *pager;

	guard(mutex)(&pagers_lock);
	list_for_each_entry(pager, &pagers, node)
		if (uid_eq(pager->uid, uid))
			goto found;
	pager = populate_create_pager(uid);
	if (!pager)
		return NULL;
found:
	atomic_inc(&pager->users);
	return pager;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_get_pager);

/**
 * cxib_odp_put_pager() - undo cxib_odp_get_pager()
 * @pager: pager of a user
 *
 * Context: process context, may sleep; does not wait for user space.
 */
void cxib_odp_put_pager(struct cxib_odp_pager *pager)
{
	struct cxib_odp_pager *next;

	guard(mutex)(&pagers_lock);
	atomic_dec(&pager->users);
	/* Works do not destroy their pager, so there may be others without users. */
	list_for_each_entry_safe(pager, next, &pagers, node)
		if (!atomic_read(&pager->users))
			populate_destroy_pager(pager);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_put_pager);

/**
 * cxib_odp_exit() - wait for user space to deliver all pages
 *
 * Context: the module is being removed, and there is no device.
 */
void cxib_odp_exit(void)
{
	struct cxib_odp_pager *pager, *next;

	guard(mutex)(&pagers_lock);
	list_for_each_entry_safe(pager, next, &pagers, node)
		populate_destroy_pager(pager);
}

static void populate_put(struct cxib_odp_populate *populate)
{
	if (!refcount_dec_and_test(&populate->users))
		return;
	mmdrop(populate->mm);
	kfree(populate);
}

static int populate_fault_in(struct cxib_odp_populate *populate)
{
	bool unlocked = false;
	int err = 0;
	u64 at;

	lockdep_assert_held(&populate->mm->mmap_lock);

	for (at = populate->absent; at < populate->end && !err; at += populate->step) {
		if (completion_done(&populate->done))
			return -ENODEV;
		err = fixup_user_fault(populate->mm, at, populate->flags, &unlocked);
		cond_resched();
	}
	return err;
}

static int populate_map(struct cxib_odp_populate *populate)
{
	guard(mutex)(&populate->lock);
	if (populate->is_left)
		return -ENODEV;
	populate->absent = populate->end;
	return populate->map(populate->context, &populate->absent);
}

/* The lock is dropped after each try, so that threads of the process can get it. */
static int populate_try(struct cxib_odp_populate *populate)
{
	int result;

	mmap_read_lock(populate->mm);
	result = populate_fault_in(populate) ?: populate_map(populate);
	mmap_read_unlock(populate->mm);
	return result;
}

static int populate_repeat(struct cxib_odp_populate *populate)
{
	unsigned int tries = TRIES_MAX;
	int result;

	do {
		result = populate_try(populate);
		cond_resched();
	} while (result == -EBUSY && --tries && !completion_done(&populate->done));
	return result;
}

/* The decrement is the last access: afterwards only the end of the work keeps the module. */
static void populate_work_fn(struct work_struct *work)
{
	struct cxib_odp_populate *populate = container_of(work, struct cxib_odp_populate, work);
	struct cxib_odp_pager *pager = populate->pager;

	populate->result = -EFAULT;
	if (mmget_not_zero(populate->mm)) {
		populate->result = populate_repeat(populate);
		mmput_async(populate->mm);
	}
	complete_all(&populate->done);
	populate_put(populate);
	atomic_dec(&pager->users);
}

static struct cxib_odp_populate *populate_create(struct cxib_odp_mr *odp_mr, u64 end,
						 bool for_writing)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(odp_mr->mr.umem);
	struct cxib_odp_populate *populate = kzalloc(sizeof(*populate), GFP_KERNEL_ACCOUNT);

	if (!populate)
		return NULL;
	INIT_WORK(&populate->work, populate_work_fn);
	refcount_set(&populate->users, 1);
	populate->pager = odp_mr->context->user->pager;
	populate->mm = memory->umem.owning_mm;
	mmgrab(populate->mm);
	populate->absent = end;
	populate->end = end;
	populate->step = BIT_ULL(memory->page_shift);
	populate->flags = FAULT_FLAG_REMOTE | (for_writing ? FAULT_FLAG_WRITE : 0);
	mutex_init(&populate->lock);
	init_completion(&populate->done);
	return populate;
}

/* Returns false if the MR or its device is being removed. */
static bool populate_begin(struct cxib_odp_mr *root, struct cxib_odp_populate *populate)
{
	bool is_ending;

	spin_lock(&root->populate_lock);
	is_ending = root->is_ending || READ_ONCE(to_ibdev(root->mr.ib.device)->odp.is_ending);
	if (!is_ending) {
		list_add(&populate->node, &root->populates);
		refcount_inc(&populate->users);
		atomic_inc(&populate->pager->users);
		queue_work(populate->pager->workqueue, &populate->work);
	}
	spin_unlock(&root->populate_lock);
	return !is_ending;
}

/* A work that has not begun must not wait in the queue behind works that the user delays. */
static int populate_end(struct cxib_odp_mr *root, struct cxib_odp_populate *populate,
			bool is_killed)
{
	bool is_ending;

	spin_lock(&root->populate_lock);
	list_del(&populate->node);
	is_ending = root->is_ending;
	spin_unlock(&root->populate_lock);
	if (!is_killed && !is_ending)
		return populate->result;
	complete_all(&populate->done);
	scoped_guard(mutex, &populate->lock)
		populate->is_left = true;
	if (cancel_work(&populate->work)) {
		populate_put(populate);
		atomic_dec(&populate->pager->users);
	}
	return is_killed ? -EINTR : -ENODEV;
}

/**
 * cxib_odp_populate() - make pages of an MR present in the process and map them
 * @odp_mr: MR with a reference
 * @end: user address; end of the pages
 * @for_writing: make them writable
 * @map: maps the pages that are present. Called in a work item, with the lock of the address space,
 *	as often as necessary; not called after this function has returned. Must not wait for user
 *	space. If it returns -EBUSY, the pages from its @absent on are made present before the next
 *	call; @end, as set before the call: none.
 * @context: for @map
 *
 * The caller cannot take the lock of the address space itself: a wait for it cannot be ended, and a
 * try fails as long as threads of the process change their address space. Without the lock, these
 * threads could make the pages absent again before @map is called.
 *
 * Context: process context, may sleep; without locks that memory reclaim takes. The wait ends when
 * the process is killed, or when cxib_odp_end_populates() is called for the MR or its parent.
 * Return: result of @map; -EBUSY if the pages do not remain present; -ENODEV if the MR or its
 * device is being removed, -EINTR if the process is killed, -EFAULT if the process has exited,
 * -ENOMEM, or an error of fixup_user_fault().
 */
int cxib_odp_populate(struct cxib_odp_mr *odp_mr, u64 end, bool for_writing, cxib_odp_map_fn map,
		      void *context)
{
	struct cxib_odp_mr *root = odp_mr->parent ?: odp_mr;
	struct cxib_odp_populate *populate = populate_create(odp_mr, end, for_writing);
	int result = -ENODEV;

	if (!populate)
		return -ENOMEM;
	populate->map = map;
	populate->context = context;
	if (populate_begin(root, populate)) {
		result = wait_for_completion_killable(&populate->done);
		result = populate_end(root, populate, result);
	}
	populate_put(populate);
	return result;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_populate);

/**
 * cxib_odp_end_populates() - let all calls of cxib_odp_populate() for an MR return, now and later
 * @odp_mr: MR that is being destroyed, not a child MR
 *
 * Context: any but interrupts.
 */
void cxib_odp_end_populates(struct cxib_odp_mr *odp_mr)
{
	struct cxib_odp_populate *populate;

	spin_lock(&odp_mr->populate_lock);
	odp_mr->is_ending = true;
	list_for_each_entry(populate, &odp_mr->populates, node)
		complete_all(&populate->done);
	spin_unlock(&odp_mr->populate_lock);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_end_populates);

#endif
