// SPDX-License-Identifier: GPL-2.0-only
/*
 * Implicit ODP MRs: the mkey has a list of KSMs, each of which names the mkey of a child MR or the
 * null mkey. The driver creates a child MR when it faults in memory in the range of the child that
 * user space has mapped. It destroys the child MR after its last page is invalidated, because the
 * lists of a child take megabytes.
 */
#include <kunit/visibility.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_umem_odp.h>

#include "hw/mkey.h"
#include "hw/work_queue.h"
#include "verbs/mkey.h"
#include "verbs/mr/umr.h"
#include "verbs/odp/odp_mr.h"

#ifdef CXIB_KERNEL_CAN_PAGE

/* mmap() returns addresses below this limit unless user space passes a higher address as hint. */
#if defined(CONFIG_X86_64)
#define LOG_SPACE	47
#elif defined(CONFIG_ARM64)
#define LOG_SPACE	VA_BITS_MIN
#else
#define LOG_SPACE	48
#endif

/*
 * log2 of the bytes that a child MR covers. The lists of a child take 4 MiB and its MTTs 2 MiB,
 * even for one page. With smaller children the parent would need more KSMs, which take 2 MiB for an
 * address space of 47 bits.
 */
#define LOG_CHILD	30
#define CHILD_SIZE	BIT_ULL(LOG_CHILD)
#define NUM_CHILDREN	BIT(LOG_SPACE - LOG_CHILD)

/*
 * Time from condemning a child to destroying it. A page fault that the device has reported before
 * may still name the child, but no event waits this long in the EQ.
 */
#define CONDEMNED_TIME	(5 * HZ)

/* struct cxib_umr_change counts words of 8 bytes; a KSM has two. */
#define KLM_WORDS	(sizeof(struct hw_ksm) / sizeof(__be64))
#define KLMS_PER_UNIT	(CXIB_UMR_MTT_ALIGN / KLM_WORDS)

/**
 * cxib_odp_can_implicit() - whether the device supports implicit ODP MRs
 * @ibdev: RDMA device with ODP
 *
 * log_max_klm_list_size does not limit a list of KSMs: adapters report 16, and mlx5_ib creates a
 * list of 2^17 KSMs on them.
 */
bool cxib_odp_can_implicit(const struct cxib_ibdev *ibdev)
{
	const struct cxib_device_caps *caps = &ibdev->hw->caps;

	return caps->null_mkey && caps->fixed_buffer_size &&
	       caps->umr_extended_translation_offset && !caps->umr_indirect_mkey_disabled;
}

/*
 * A memory page fault that names the null mkey of the device would not identify the MR. So the MR
 * has its own null mkey, which never gets a page.
 */
static int implicit_create_null_key(struct cxib_odp_mr *parent, struct ib_pd *pd)
{
	static const __be64 nothing[CXIB_UMR_MTT_ALIGN];
	struct cxib_mkey_params params = {
		.length = BIT_ULL(LOG_SPACE),
		.log_page_size = LOG_SPACE,
		.pages = nothing,
		.page_count = ARRAY_SIZE(nothing),
		.odp = true,
	};
	struct cxib_mr absent = { .access = parent->mr.access };
	int err;

	err = cxib_mr_create_mkey(&absent, pd, &params);
	if (err)
		return err;
	parent->null_mkey = absent.ib.lkey;
	parent->has_null_key = true;
	return cxib_odp_insert_mkey(parent, parent->null_mkey);
}

static void implicit_destroy_null_key(struct cxib_odp_mr *parent)
{
	if (!parent->has_null_key)
		return;
	cxib_odp_erase_mkey(parent, parent->null_mkey);
	cxib_discard_mkey(parent->mr.ib.pd, parent->null_mkey);
	parent->has_null_key = false;
}

static int implicit_get_null_key(struct cxib_odp_mr *parent, struct ib_pd *pd)
{
	struct cxib_ibdev *ibdev = to_ibdev(pd->device);
	struct cxib_special_keys keys;
	int err;

	if (!ibdev->hw->caps.mem_page_fault) {
		err = cxib_cmd_query_special_contexts(commands_of(ibdev), false, &keys);
		if (!err)
			parent->null_mkey = keys.null_mkey;
		return err;
	}
	err = implicit_create_null_key(parent, pd);
	if (err)
		implicit_destroy_null_key(parent);
	return err;
}

/* Packs a KSM without a child MR. */
static void implicit_pack_absent(const struct cxib_odp_mr *parent, struct hw_ksm *ksm, u64 number)
{
	hw_ksm_pack(ksm, parent->null_mkey, parent->has_null_key ? number << LOG_CHILD : 0);
}

static void implicit_fill_ksms(void *context, __be64 *entries, const struct cxib_umr_change *change)
{
	const u64 first = change->xlt_offset / KLM_WORDS;
	struct hw_ksm *ksms = (void *)entries;
	struct cxib_odp_mr *parent = context;
	unsigned int i;

	for (i = 0; i < change->xlt_count / KLM_WORDS; i++) {
		const struct cxib_odp_mr *child = xa_load(&parent->implicit_children, first + i);

		if (child)
			hw_ksm_pack(&ksms[i], child->mr.ib.lkey, child->mr.ib.iova);
		else
			implicit_pack_absent(parent, &ksms[i], first + i);
	}
}

/**
 * cxib_odp_create_implicit_mkey() - create the mkey of an implicit ODP MR, without children
 * @parent: the MR
 * @pd: protection domain
 *
 * Return: as cxib_cmd_query_special_contexts(), cxib_cmd_create_mkey(), cxib_umr_enable().
 */
int cxib_odp_create_implicit_mkey(struct cxib_odp_mr *parent, struct ib_pd *pd)
{
	struct cxib_mkey_params params = {
		.length = BIT_ULL(LOG_SPACE),
		.log_page_size = LOG_CHILD,
		.ksm = true,
	};
	int err;

	err = implicit_get_null_key(parent, pd);
	if (err)
		return err;
	err = cxib_odp_create_empty_mkey(parent, pd, &params, NUM_CHILDREN * KLM_WORDS,
					 implicit_fill_ksms);
	if (err)
		implicit_destroy_null_key(parent);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_create_implicit_mkey);

/* Writes the KSM of a child MR that was inserted or erased, and of its neighbours. */
static int implicit_write_ksm(struct cxib_odp_mr *parent, u64 number)
{
	const struct cxib_mkey_params params = {};
	const struct cxib_umr_change change = {
		.key = parent->mr.ib.lkey,
		.params = &params,
		.xlt_offset = ALIGN_DOWN(number, KLMS_PER_UNIT) * KLM_WORDS,
		.xlt_count = CXIB_UMR_MTT_ALIGN,
	};
	struct ib_umem_odp *memory = to_ib_umem_odp(parent->mr.umem);
	int err = -EFAULT;

	lockdep_assert_held(&parent->fault_mutex);

	/*
	 * While the MR is being destroyed, a fault may still be handled, but UMR of the free mkey
	 * would fail.
	 */
	mutex_lock(&memory->umem_mutex);
	if (parent->live)
		err = cxib_odp_umr(parent, &change, implicit_fill_ksms, parent);
	mutex_unlock(&memory->umem_mutex);
	return err;
}

static bool implicit_child_has_pages(const struct cxib_odp_mr *child)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(child->mr.umem);

	guard(mutex)(&memory->umem_mutex);
	return memory->npages;
}

/*
 * If UMR cannot write the KSM of the child, the parent is unusable, so the stale KSM does no harm.
 */
static void implicit_condemn_child(struct cxib_odp_mr *parent, struct cxib_odp_mr *child,
				   unsigned long number)
{
	lockdep_assert_held(&parent->fault_mutex);

	xa_erase(&parent->implicit_children, number);
	implicit_write_ksm(parent, number);
	child->condemned_at = jiffies;
	list_add_tail(&child->condemned_node, &parent->condemned);
}

static void implicit_condemn_children(struct cxib_odp_mr *parent)
{
	struct cxib_odp_mr *child;
	unsigned long number;

	xa_for_each(&parent->implicit_children, number, child)
		if (!child->users && !implicit_child_has_pages(child))
			implicit_condemn_child(parent, child, number);
}

static void implicit_destroy_condemned(struct list_head *condemned)
{
	struct cxib_odp_mr *child, *next;

	list_for_each_entry_safe(child, next, condemned, condemned_node)
		cxib_odp_destroy_child(child);
}

/* The list is in the order in which the children were condemned. */
static void implicit_take_old_children(struct cxib_odp_mr *parent, struct list_head *old)
{
	struct cxib_odp_mr *child, *next;

	lockdep_assert_held(&parent->fault_mutex);

	list_for_each_entry_safe(child, next, &parent->condemned, condemned_node) {
		if (time_before(jiffies, child->condemned_at + CONDEMNED_TIME))
			break;
		list_move_tail(&child->condemned_node, old);
	}
	if (!list_empty(&parent->condemned))
		cxib_odp_reap_later(parent);
}

/**
 * cxib_odp_reap() - condemn child MRs without pages, and destroy children condemned earlier
 * @parent: implicit ODP MR
 *
 * Context: process context, may sleep; without locks that memory reclaim takes.
 */
void cxib_odp_reap(struct cxib_odp_mr *parent)
{
	LIST_HEAD(old);

	mutex_lock(&parent->fault_mutex);
	implicit_condemn_children(parent);
	implicit_take_old_children(parent, &old);
	mutex_unlock(&parent->fault_mutex);
	implicit_destroy_condemned(&old);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_reap);

static void implicit_reap_work_fn(struct work_struct *work)
{
	cxib_odp_reap(container_of(to_delayed_work(work), struct cxib_odp_mr, reap_work));
}

/**
 * cxib_odp_init_reap() - initialize the work item that destroys child MRs
 * @parent: implicit ODP MR without child MRs
 */
void cxib_odp_init_reap(struct cxib_odp_mr *parent)
{
	INIT_DELAYED_WORK(&parent->reap_work, implicit_reap_work_fn);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_init_reap);

/* If the context is at its limit, destroys children without pages at once, and tries again. */
static struct cxib_odp_mr *implicit_create_charged_child(struct cxib_odp_mr *parent, u64 number)
{
	const u64 start = number << LOG_CHILD;
	struct cxib_odp_mr *child = cxib_odp_create_child(parent, start, CHILD_SIZE);

	lockdep_assert_held(&parent->fault_mutex);

	if (child != ERR_PTR(-ENOMEM))
		return child;
	implicit_condemn_children(parent);
	if (list_empty(&parent->condemned))
		return child;
	implicit_destroy_condemned(&parent->condemned);
	INIT_LIST_HEAD(&parent->condemned);
	return cxib_odp_create_child(parent, start, CHILD_SIZE);
}

static struct cxib_odp_mr *implicit_create_child(struct cxib_odp_mr *parent, u64 number)
{
	struct cxib_odp_mr *child = implicit_create_charged_child(parent, number);
	int err;

	if (IS_ERR(child))
		return child;
	err = xa_err(xa_store(&parent->implicit_children, number, child, GFP_KERNEL));
	if (err)
		goto destroy_child;
	err = implicit_write_ksm(parent, number);
	if (err)
		goto erase;
	return child;

erase:
	/* The next fault in the range tries to create the child again. */
	xa_erase(&parent->implicit_children, number);
destroy_child:
	cxib_odp_destroy_child(child);
	return ERR_PTR(err);
}

/**
 * struct implicit_range - range of a child MR
 * @mm: address space
 * @start: first address
 * @is_mapped: user space has mapped memory there
 */
struct implicit_range {
	struct mm_struct *mm;
	u64 start;
	bool is_mapped;
};

static int implicit_look_up(void *context, u64 *absent)
{
	struct implicit_range *range = context;

	range->is_mapped = find_vma_intersection(range->mm, range->start,
						 range->start + CHILD_SIZE);
	return 0;
}

/*
 * Returns true if user space has mapped memory in the range of a child MR. The remote peer and the
 * device may name any address, and a child MR takes megabytes, so no child is created for other
 * ranges.
 */
static int implicit_range_is_mapped(struct cxib_odp_mr *parent, u64 number)
{
	struct implicit_range range = {
		.mm = to_ib_umem_odp(parent->mr.umem)->umem.owning_mm,
		.start = number << LOG_CHILD,
	};
	int err = cxib_odp_populate(parent, 0, false, implicit_look_up, &range);

	/* -EFAULT: the process has exited, and its memory is gone. */
	return err == -EFAULT ? false : err ?: range.is_mapped;
}

/* Returns the child MR, to be released by implicit_put_child(), or NULL. */
static struct cxib_odp_mr *implicit_find_or_create_child(struct cxib_odp_mr *parent, u64 number,
							 bool may_create)
{
	struct cxib_odp_mr *child;

	guard(mutex)(&parent->fault_mutex);
	child = xa_load(&parent->implicit_children, number);
	if (!child && may_create)
		child = READ_ONCE(parent->is_unusable) ? ERR_PTR(-EIO) :
							 implicit_create_child(parent, number);
	if (!IS_ERR_OR_NULL(child))
		child->users++;
	return child;
}

/*
 * Returns the child MR, to be released by implicit_put_child(); NULL if user space has mapped
 * nothing in its range.
 */
static struct cxib_odp_mr *implicit_get_child(struct cxib_odp_mr *parent, u64 number)
{
	struct cxib_odp_mr *child = implicit_find_or_create_child(parent, number, false);
	int is_mapped;

	if (child)
		return child;
	is_mapped = implicit_range_is_mapped(parent, number);
	if (is_mapped < 0)
		return ERR_PTR(is_mapped);
	return implicit_find_or_create_child(parent, number, is_mapped);
}

/* The child may have no pages, because they could not be faulted in or are invalid again. */
static void implicit_put_child(struct cxib_odp_mr *parent, struct cxib_odp_mr *child)
{
	guard(mutex)(&parent->fault_mutex);
	if (!--child->users && !implicit_child_has_pages(child))
		cxib_odp_reap_later(parent);
}

static int implicit_fault_in_child(struct cxib_odp_mr *parent, struct cxib_odp_mr *child,
				   const struct cxib_odp_range *range,
				   cxib_odp_fault_in_fn fault_in)
{
	int pages = fault_in(child, range);

	implicit_put_child(parent, child);
	return pages;
}

/**
 * cxib_odp_destroy_children() - destroy the child MRs and the null mkey
 * @parent: implicit ODP MR without users; for other MRs this does nothing
 */
void cxib_odp_destroy_children(struct cxib_odp_mr *parent)
{
	struct cxib_odp_mr *child;
	unsigned long number;
	LIST_HEAD(all);

	mutex_lock(&parent->fault_mutex);
	list_splice_init(&parent->condemned, &all);
	xa_for_each(&parent->implicit_children, number, child)
		list_add(&child->condemned_node, &all);
	xa_destroy(&parent->implicit_children);
	mutex_unlock(&parent->fault_mutex);
	implicit_destroy_condemned(&all);
	/*
	 * No child is left that could queue the work again. But the work may still be destroying
	 * children.
	 */
	if (cxib_odp_is_implicit(parent))
		cancel_delayed_work_sync(&parent->reap_work);
	implicit_destroy_null_key(parent);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_destroy_children);

/**
 * cxib_odp_fault_in_implicit() - fault in pages of an implicit ODP MR
 * @parent: MR with a reference
 * @range: range of the MR
 * @fault_in: called for the range in each child MR
 * @absent: result for a range that user space has not mapped; if it is negative, the function stops
 *	there
 *
 * Context: as cxib_odp_fault_in().
 * Return: number of pages that are present; -EFAULT if the range is beyond the address space;
 * @absent if it is negative and user space has not mapped a part; an error of @fault_in or
 * cxib_odp_create_child().
 */
int cxib_odp_fault_in_implicit(struct cxib_odp_mr *parent, const struct cxib_odp_range *range,
			       cxib_odp_fault_in_fn fault_in, int absent)
{
	struct cxib_odp_range rest = *range;
	int total = 0;

	if (range->address >= BIT_ULL(LOG_SPACE) ||
	    range->length > BIT_ULL(LOG_SPACE) - range->address)
		return -EFAULT;
	while (rest.length) {
		struct cxib_odp_mr *child = implicit_get_child(parent, rest.address >> LOG_CHILD);
		struct cxib_odp_range part = rest;
		int pages;

		if (IS_ERR(child))
			return PTR_ERR(child);
		part.length = min(rest.length, CHILD_SIZE - (rest.address & (CHILD_SIZE - 1)));
		pages = child ? implicit_fault_in_child(parent, child, &part, fault_in) : absent;
		if (pages < 0)
			return pages;
		total += pages;
		rest.address += part.length;
		rest.length -= part.length;
	}
	return total;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_fault_in_implicit);

#endif
