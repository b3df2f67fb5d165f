// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paging on demand: a region whose key begins without pages. A transfer that
 * meets one that is missing waits, the page comes in, and the key gets it. When
 * the kernel wants the page back, the key loses it first.
 *
 * Locks: that of the umem protects what the key has; it is taken where memory is
 * reclaimed, and keys are changed with it held.
 */
#include <linux/mmu_notifier.h>
#include <linux/overflow.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_umem_odp.h>

#include "hw/mkey.h"
#include "verbs/mr/umr.h"
#include "verbs/odp/odp.h"
#include "verbs/qp/qp.h"

#define KEY_SHIFT	8

#ifdef CXIB_KERNEL_CAN_PAGE

/**
 * struct update - pages of a region that its key gets or loses
 * @memory: the memory of the region
 * @gone_from: pages from here on are not there, although they are still mapped
 * @gone_to: up to here
 */
struct update {
	struct ib_umem_odp *memory;
	u64 gone_from;
	u64 gone_to;
};

static void fill_entries(void *context, __be64 *entries, const struct cxib_umr_change *change)
{
	const struct update *update = context;
	const u64 first = change->xlt_offset;
	unsigned int i;

	for (i = 0; i < change->xlt_count; i++)
		if (first + i < update->gone_from || first + i >= update->gone_to)
			entries[i] = cpu_to_be64(update->memory->dma_list[first + i]);
}

/* The key gets what is known of the pages from @from to @to, and of their neighbours. */
static int update_key(struct cxib_odp_mr *odp_mr, struct update *update, u64 from, u64 to)
{
	const u64 max = ib_umem_odp_num_pages(update->memory);
	struct cxib_ibdev *ibdev = to_ibdev(odp_mr->mr.ib.device);
	const struct cxib_mkey_params params = {};
	struct cxib_umr_change change = { .key = odp_mr->mr.ib.lkey, .params = &params };
	int err = 0;

	lockdep_assert_held(&update->memory->umem_mutex);

	for (from = ALIGN_DOWN(from, CXIB_UMR_MTT_ALIGN); from < to && !err;
	     from += CXIB_UMR_MTT_MAX) {
		change.xlt_offset = from;
		change.xlt_count = min_t(u64, CXIB_UMR_MTT_MAX,
					 min(ALIGN(to, CXIB_UMR_MTT_ALIGN), max) - from);
		err = cxib_umr_execute(ibdev, &change, fill_entries, update);
	}
	return err;
}

/*
 * The kernel takes the pages whether the device lets go of them or not. One that was
 * given up cannot reach them.
 */
static void enforce(struct cxib_ibdev *ibdev)
{
	if (cxib_verbs_dma_off(ibdev))
		return;
	ibdev_err(&ibdev->ib, "the device does not let go of pages\n");
	cxib_hw_set_fatal(ibdev->hw);
	cxib_hw_dma_off(ibdev->hw);
}

static void take_away(struct cxib_odp_mr *odp_mr, struct ib_umem_odp *memory, u64 start, u64 end)
{
	struct update update = {
		.memory = memory,
		.gone_from = (start - ib_umem_start(memory)) >> memory->page_shift,
		.gone_to = (end - ib_umem_start(memory)) >> memory->page_shift,
	};

	lockdep_assert_held(&memory->umem_mutex);

	/* A request that another one has swept along can be tried again. */
	if (update_key(odp_mr, &update, update.gone_from, update.gone_to) &&
	    update_key(odp_mr, &update, update.gone_from, update.gone_to))
		enforce(to_ibdev(odp_mr->mr.ib.device));
	atomic64_add(update.gone_to - update.gone_from,
		     odp_mr->parent ? &odp_mr->parent->invalidations : &odp_mr->invalidations);
}

static bool has_pages(const struct ib_umem_odp *memory, u64 start, u64 end)
{
	u64 i = (start - memory->notifier.interval_tree.start) >> memory->page_shift;

	for (; start < end; start += BIT_ULL(memory->page_shift), i++)
		if (memory->dma_list[i])
			return true;
	return false;
}

static bool invalidate(struct mmu_interval_notifier *notifier,
		       const struct mmu_notifier_range *range, unsigned long sequence)
{
	struct ib_umem_odp *memory = container_of(notifier, struct ib_umem_odp, notifier);
	struct cxib_odp_mr *odp_mr;
	u64 start, end;

	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&memory->umem_mutex);
	mmu_interval_set_seq(notifier, sequence);
	odp_mr = memory->private;
	start = ALIGN_DOWN(max_t(u64, ib_umem_start(memory), range->start),
			   BIT_ULL(memory->page_shift));
	/* The end of everything is no address that could be rounded up. */
	end = ALIGN(min_t(u64, ib_umem_end(memory), range->end), BIT_ULL(memory->page_shift));
	if (memory->npages && has_pages(memory, start, end)) {
		if (odp_mr->live)
			take_away(odp_mr, memory, start, end);
		ib_umem_odp_unmap_dma_pages(memory, start, end);
	}
	mutex_unlock(&memory->umem_mutex);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = { .invalidate = invalidate };

/**
 * cxib_odp_insert_mkey() - page faults that name a key are faults of a region from now on
 * @odp_mr: the region, or a part of one
 * @key: a key of it
 *
 * One that is about to go may have had the same index.
 *
 * Return: 0 or -ENOMEM.
 */
int cxib_odp_insert_mkey(struct cxib_odp_mr *odp_mr, u32 key)
{
	struct cxib_ibdev *ibdev = to_ibdev(odp_mr->mr.ib.device);

	return xa_err(xa_store(&ibdev->paging.regions, key >> KEY_SHIFT, odp_mr, GFP_KERNEL));
}

/**
 * cxib_odp_erase_mkey() - the reverse
 * @odp_mr: the region, or a part of one
 * @key: a key of it
 */
void cxib_odp_erase_mkey(struct cxib_odp_mr *odp_mr, u32 key)
{
	struct cxib_ibdev *ibdev = to_ibdev(odp_mr->mr.ib.device);

	xa_cmpxchg(&ibdev->paging.regions, key >> KEY_SHIFT, odp_mr, NULL, GFP_KERNEL);
}

/* The region that has a key, or a part with that key; NULL also when it is going. */
static struct cxib_odp_mr *find_region(struct xarray *regions, u32 key)
{
	struct cxib_odp_mr *odp_mr = xa_load(regions, key >> KEY_SHIFT);

	lockdep_assert_held(&regions->xa_lock);

	if (!odp_mr || (odp_mr->mr.ib.lkey != key &&
			!(odp_mr->has_null_key && odp_mr->null_mkey == key)))
		return NULL;
	/* Who knows a part has no reference to the region of it yet. */
	odp_mr = odp_mr->parent ?: odp_mr;
	return xa_load(regions, odp_mr->mr.ib.lkey >> KEY_SHIFT) == odp_mr ? odp_mr : NULL;
}

/**
 * cxib_odp_get_fault_mr() - the region that a page fault is about
 * @ibdev: RDMA device
 * @key: anything; may be a key that only the driver and the device know
 *
 * Return: the region, not a part of one, to be given back with cxib_reference_put();
 * NULL if there is none.
 */
struct cxib_odp_mr *cxib_odp_get_fault_mr(struct cxib_ibdev *ibdev, u32 key)
{
	struct xarray *regions = &ibdev->paging.regions;
	struct cxib_odp_mr *odp_mr;

	xa_lock(regions);
	odp_mr = find_region(regions, key);
	if (odp_mr)
		refcount_inc(&odp_mr->reference.count);
	xa_unlock(regions);
	return odp_mr;
}

/**
 * cxib_odp_get_mr() - the region that a key stands for
 * @ibdev: RDMA device
 * @key: anything
 *
 * Return: the region, to be given back with cxib_reference_put(); NULL if there is
 * none, or its pages do not come in on demand.
 */
struct cxib_odp_mr *cxib_odp_get_mr(struct cxib_ibdev *ibdev, u32 key)
{
	struct cxib_odp_mr *odp_mr = cxib_odp_get_fault_mr(ibdev, key);

	if (!odp_mr || odp_mr->mr.ib.lkey == key)
		return odp_mr;
	/* Programs are not told keys of parts. */
	cxib_reference_put(&odp_mr->reference);
	return NULL;
}

/**
 * cxib_odp_find_range() - where memory of a region is in the address space of the program
 * @odp_mr: region that somebody keeps
 * @range: anything
 * @start: filled
 *
 * Return: 0; -EFAULT when not all of it is in the region.
 */
int cxib_odp_find_range(const struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range,
			u64 *start)
{
	const struct ib_mr *ib = &odp_mr->mr.ib;
	u64 offset = range->address - ib->iova;

	if (range->address < ib->iova || offset > ib->length ||
	    range->length > ib->length - offset) {
		ibdev_dbg(ib->device,
			  "key 0x%x: no 0x%llx bytes at 0x%llx, there are 0x%llx at 0x%llx\n",
			  ib->lkey, range->length, range->address, ib->length, ib->iova);
		return -EFAULT;
	}
	*start = odp_mr->mr.umem->address + offset;
	return 0;
}

/**
 * cxib_odp_fault_in() - pages come in, and the key of their region gets them
 * @odp_mr: region that somebody keeps
 * @range: which ones
 *
 * Context: process context, may sleep; without locks that are taken where memory
 * is reclaimed.
 * Return: number of pages that are there; -EFAULT when the region or the program
 * has no such memory, -EIO when the key cannot be changed, or an error of
 * ib_umem_odp_map_dma_and_lock().
 */
int cxib_odp_fault_in(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(odp_mr->mr.umem);
	struct update update = { .memory = memory };
	u64 access = ODP_READ_ALLOWED_BIT;
	u64 start, first;
	int pages, err;

	if (cxib_odp_is_implicit(odp_mr))
		return cxib_odp_fault_in_implicit(odp_mr, range, cxib_odp_fault_in);
	err = cxib_odp_find_range(odp_mr, range, &start);
	if (err || !range->length)
		return err;
	if (range->for_writing && memory->umem.writable)
		access |= ODP_WRITE_ALLOWED_BIT;
	guard(mutex)(&odp_mr->fault_mutex);
	pages = ib_umem_odp_map_dma_and_lock(memory, start, range->length, access, true);
	if (pages < 0)
		return pages;
	first = (start - ib_umem_start(memory)) >> memory->page_shift;
	if (odp_mr->live)
		err = update_key(odp_mr, &update, first, first + pages);
	mutex_unlock(&memory->umem_mutex);
	return err ?: pages;
}

/* The first region of this kind: from now on faults are told and handled. */
static int prepare(struct cxib_ibdev *ibdev)
{
	struct cxib_odp *paging = &ibdev->paging;
	int err;

	err = cxib_umr_prepare(ibdev);
	if (err)
		return err;
	guard(mutex)(&paging->lock);
	if (paging->workqueue)
		return 0;
	paging->workqueue = alloc_workqueue("cxib_faults", WQ_HIGHPRI | WQ_UNBOUND | WQ_MEM_RECLAIM,
					    0);
	if (!paging->workqueue)
		return -ENOMEM;
	err = cxib_hw_create_pf_eq(ibdev->hw, paging->workqueue);
	if (err) {
		destroy_workqueue(paging->workqueue);
		paging->workqueue = NULL;
	}
	return err;
}

static void destroy_key(struct cxib_odp_mr *odp_mr)
{
	struct cxib_ibdev *ibdev = to_ibdev(odp_mr->mr.ib.device);

	cxib_end_in_device(ibdev, NULL,
			   cxib_cmd_destroy_mkey(commands_of(ibdev), odp_mr->mr.ib.lkey));
}

/**
 * cxib_create_empty_key() - a region gets its key, whose translations are written later
 * @odp_mr: the region
 * @pd: protection domain
 * @params: of the key, without @ds
 * @entry_count: room for translations; a multiple of %CXIB_UMR_MTT_ALIGN
 * @fill: as for cxib_umr_enable()
 *
 * The program chooses how large the region is, and needs no memory for that: the list
 * is not part of the command, which would need several times as much as the list.
 *
 * Return: as cxib_cmd_create_mkey(), cxib_umr_enable().
 */
int cxib_create_empty_key(struct cxib_odp_mr *odp_mr, struct ib_pd *pd,
			  struct cxib_mkey_params *params, u64 entry_count, cxib_fill_entries fill)
{
	int err;

	params->xlt_octowords = entry_count * sizeof(__be64) / CXIB_DS_SIZE;
	err = cxib_mr_create_mkey(&odp_mr->mr, pd, params);
	if (err)
		return err;
	err = cxib_umr_enable(to_ibdev(pd->device), odp_mr->mr.ib.lkey, entry_count, fill, odp_mr);
	if (err)
		destroy_key(odp_mr);
	return err;
}

static int create_key(struct cxib_odp_mr *odp_mr, struct ib_pd *pd)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(odp_mr->mr.umem);
	const u64 entry_count = ALIGN(ib_umem_odp_num_pages(memory), CXIB_UMR_MTT_ALIGN);
	struct cxib_mkey_params params = {
		.start_addr = odp_mr->mr.ib.iova,
		.length = odp_mr->mr.ib.length,
		.log_page_size = memory->page_shift,
		.odp = true,
	};

	return cxib_create_empty_key(odp_mr, pd, &params, entry_count, NULL);
}

/**
 * cxib_odp_is_implicit() - whether a region is that of a whole address space
 * @odp_mr: the region
 */
bool cxib_odp_is_implicit(const struct cxib_odp_mr *odp_mr)
{
	return to_ib_umem_odp(odp_mr->mr.umem)->is_implicit_odp;
}

static void set_has_key(struct cxib_odp_mr *odp_mr)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(odp_mr->mr.umem);

	mutex_lock(&memory->umem_mutex);
	odp_mr->live = true;
	mutex_unlock(&memory->umem_mutex);
}

/* From here on faults find it. */
static int publish(struct cxib_odp_mr *odp_mr)
{
	set_has_key(odp_mr);
	return cxib_odp_insert_mkey(odp_mr, odp_mr->mr.ib.lkey);
}

/*
 * Where the device takes no more than the lower 16 bits of an offset, in octwords, a
 * request about a page behind them would change another one: invalidations, too. And
 * the core warns of a driver's fault where its own lists would exceed INT_MAX bytes.
 */
static int check_length(struct ib_device *ib, u64 start, u64 length, int access)
{
	const unsigned int shift = access & IB_ACCESS_HUGETLB ? HPAGE_SHIFT : PAGE_SHIFT;
	u64 max = INT_MAX / sizeof(__be64);
	u64 end, pages;

	if (!length || check_add_overflow(start, length, &end))
		return -EINVAL;
	if (!to_ibdev(ib)->hw->caps.umr_extended_translation_offset)
		max = CXIB_ENTRIES_REACHED;
	pages = ((end - 1) >> shift) - (start >> shift) + 1;
	if (pages <= max)
		return 0;
	ibdev_dbg(ib, "ODP MR: %llu pages out of range [1, %llu]\n", pages, max);
	return -EINVAL;
}

/* Its own pages, in the address space of the program. */
static int attach_memory(struct cxib_odp_mr *odp_mr, struct ib_device *ib, u64 start, u64 length)
{
	struct ib_umem_odp *memory;
	int err;

	err = check_length(ib, start, length, odp_mr->mr.access);
	if (err)
		return err;
	memory = ib_umem_odp_get(ib, start, length, odp_mr->mr.access, &notifier_ops);
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	memory->private = odp_mr;
	odp_mr->mr.umem = &memory->umem;
	if (!((start ^ odp_mr->mr.ib.iova) & (BIT_ULL(memory->page_shift) - 1)))
		return 0;
	ibdev_dbg(ib, "memory at 0x%llx cannot be registered as 0x%llx: they differ within a page\n",
		  start, odp_mr->mr.ib.iova);
	ib_umem_odp_release(memory);
	return -EINVAL;
}

/*
 * All that the program has, and will have; its parts come later. The core keeps the
 * address space for each part only, and a part may be wanted when the program is gone
 * and a child of it still has the file.
 */
static int attach_implicit(struct cxib_odp_mr *odp_mr, struct ib_device *ib)
{
	struct ib_umem_odp *memory = ib_umem_odp_alloc_implicit(ib, odp_mr->mr.access);

	if (IS_ERR(memory))
		return PTR_ERR(memory);
	mmgrab(memory->umem.owning_mm);
	odp_mr->mr.umem = &memory->umem;
	return 0;
}

/* The reverse of either. */
static void detach_memory(struct cxib_odp_mr *odp_mr)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(odp_mr->mr.umem);
	struct mm_struct *parent = memory->is_implicit_odp ? memory->umem.owning_mm : NULL;

	ib_umem_odp_release(memory);
	if (parent)
		mmdrop(parent);
}

static int register_in(struct cxib_odp_mr *odp_mr, struct ib_pd *pd, u64 start, u64 length)
{
	bool parent = length == U64_MAX;
	int err;

	err = parent ? attach_implicit(odp_mr, pd->device) :
		      attach_memory(odp_mr, pd->device, start, length);
	if (err)
		return err;
	err = parent ? cxib_odp_create_implicit_mkey(odp_mr, pd) : create_key(odp_mr, pd);
	if (err)
		goto detach;
	err = publish(odp_mr);
	if (err)
		goto destroy_key;
	return 0;

destroy_key:
	destroy_key(odp_mr);
	cxib_odp_destroy_children(odp_mr);
detach:
	detach_memory(odp_mr);
	return err;
}

static struct cxib_odp_mr *allocate(struct ib_device *ib, u64 address, u64 length, int access)
{
	struct cxib_odp_mr *odp_mr = kzalloc(sizeof(*odp_mr), GFP_KERNEL_ACCOUNT);

	if (!odp_mr)
		return NULL;
	cxib_reference_init(&odp_mr->reference);
	mutex_init(&odp_mr->fault_mutex);
	xa_init(&odp_mr->implicit_children);
	odp_mr->mr.access = access;
	odp_mr->mr.ib.iova = address;
	odp_mr->mr.ib.length = length;
	odp_mr->mr.ib.device = ib;
	return odp_mr;
}

/**
 * cxib_odp_create_child() - a part of a region of a whole address space
 * @parent: the region
 * @start: where it begins
 * @length: its bytes
 *
 * Return: the part, or an ERR_PTR(): -EFAULT when the address space is going away.
 */
struct cxib_odp_mr *cxib_odp_create_child(struct cxib_odp_mr *parent, u64 start, u64 length)
{
	struct cxib_odp_mr *part;
	struct ib_umem_odp *memory;
	int err;

	part = allocate(parent->mr.ib.device, start, length, parent->mr.access);
	if (!part)
		return ERR_PTR(-ENOMEM);
	part->parent = parent;
	part->mr.ib.pd = parent->mr.ib.pd;
	memory = ib_umem_odp_alloc_child(to_ib_umem_odp(parent->mr.umem), start, length,
					 &notifier_ops);
	if (IS_ERR(memory)) {
		err = PTR_ERR(memory);
		goto free_part;
	}
	memory->private = part;
	part->mr.umem = &memory->umem;
	err = create_key(part, parent->mr.ib.pd);
	if (err)
		goto release;
	err = publish(part);
	if (err)
		goto destroy_key;
	return part;

destroy_key:
	destroy_key(part);
release:
	ib_umem_odp_release(memory);
free_part:
	kfree(part);
	return ERR_PTR(err);
}

/**
 * cxib_reg_odp_mr() - a region whose pages come in on demand
 * @ib: protection domain
 * @start: where it begins in the program's address space
 * @length: its bytes
 * @address: where it begins in requests
 * @access: IB_ACCESS_…, checked
 *
 * Return: the region, or an ERR_PTR(): -EOPNOTSUPP when the device cannot do it.
 */
struct ib_mr *cxib_reg_odp_mr(struct ib_pd *ib, u64 start, u64 length, u64 address,
			      int access)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_odp_mr *odp_mr;
	int err;

	if (!cxib_hw_has_odp(ibdev->hw))
		return ERR_PTR(-EOPNOTSUPP);
	if (length == U64_MAX && (start || address || !cxib_odp_can_implicit(ibdev)))
		return ERR_PTR(-EOPNOTSUPP);
	err = prepare(ibdev);
	if (err)
		return ERR_PTR(err);
	odp_mr = allocate(ib->device, address, length, access);
	if (!odp_mr)
		return ERR_PTR(-ENOMEM);
	/* The core sets it, too, but faults may come before. */
	odp_mr->mr.ib.pd = ib;
	err = register_in(odp_mr, ib, start, length);
	if (err) {
		kfree(odp_mr);
		return ERR_PTR(err);
	}
	return &odp_mr->mr.ib;
}

/* From here on the device uses no page of the region, and needs not be told of any. */
static void revoke(struct cxib_odp_mr *odp_mr)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(odp_mr->mr.umem);
	struct cxib_ibdev *ibdev = to_ibdev(odp_mr->mr.ib.device);
	const struct cxib_mkey_params params = {};
	const struct cxib_umr_change change = {
		.key = odp_mr->mr.ib.lkey, .params = &params, .mask = HW_MKEY_MASK_FREE,
		.set_free = true,
	};

	mutex_lock(&memory->umem_mutex);
	if (odp_mr->live && cxib_umr_execute(ibdev, &change, NULL, NULL) &&
	    cxib_umr_execute(ibdev, &change, NULL, NULL))
		enforce(ibdev);
	odp_mr->live = false;
	mutex_unlock(&memory->umem_mutex);
}

/**
 * cxib_odp_destroy_child() - the reverse of cxib_odp_create_child()
 * @part: part of a region whose key has been destroyed
 */
void cxib_odp_destroy_child(struct cxib_odp_mr *part)
{
	revoke(part);
	cxib_odp_erase_mkey(part, part->mr.ib.lkey);
	destroy_key(part);
	ib_umem_odp_release(to_ib_umem_odp(part->mr.umem));
	kfree(part);
}

/**
 * cxib_dereg_odp_mr() - the reverse of cxib_reg_odp_mr()
 * @ib: the region; freed
 * @udata: as for cxib_end_in_device()
 *
 * Transfers that wait for its pages fail.
 *
 * Return: 0 or the error of the command: then nobody can use the region, but it is
 * still there.
 */
int cxib_dereg_odp_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_odp_mr *odp_mr = to_odp_mr(ib);
	int err;

	revoke(odp_mr);
	err = cxib_end_in_device(ibdev, udata, cxib_cmd_destroy_mkey(commands_of(ibdev), ib->lkey));
	if (err)
		return err;
	cxib_odp_erase_mkey(odp_mr, ib->lkey);
	cxib_reference_end(&odp_mr->reference);
	cxib_odp_destroy_children(odp_mr);
	detach_memory(odp_mr);
	kfree(odp_mr);
	return 0;
}

static u32 operations(const struct hw_odp_per_transport_service_cap *caps)
{
	u32 able = 0;

	if (hw_odp_per_transport_service_cap_get_send(caps))
		able |= IB_ODP_SUPPORT_SEND;
	if (hw_odp_per_transport_service_cap_get_receive(caps))
		able |= IB_ODP_SUPPORT_RECV;
	if (hw_odp_per_transport_service_cap_get_write(caps))
		able |= IB_ODP_SUPPORT_WRITE;
	if (hw_odp_per_transport_service_cap_get_read(caps))
		able |= IB_ODP_SUPPORT_READ;
	if (hw_odp_per_transport_service_cap_get_atomic(caps))
		able |= IB_ODP_SUPPORT_ATOMIC;
	if (hw_odp_per_transport_service_cap_get_srq_receive(caps))
		able |= IB_ODP_SUPPORT_SRQ_RECV;
	return able;
}

/**
 * cxib_describe_paging() - what can be paged on demand
 * @ibdev: RDMA device
 * @attr: filled
 */
void cxib_describe_paging(const struct cxib_ibdev *ibdev, struct ib_device_attr *attr)
{
	const struct cxib_device_caps *caps = &ibdev->hw->caps;

	if (!cxib_hw_has_odp(ibdev->hw) || !caps->imaicl)
		return;
	attr->kernel_cap_flags |= IBK_ON_DEMAND_PAGING;
	attr->odp_caps.general_caps = IB_ODP_SUPPORT;
	if (cxib_odp_can_implicit(ibdev))
		attr->odp_caps.general_caps |= IB_ODP_SUPPORT_IMPLICIT;
	attr->odp_caps.per_transport_caps.rc_odp_caps =
		operations(hw_odp_scheme_cap_get_rc_odp_caps(&caps->paging));
	attr->odp_caps.per_transport_caps.ud_odp_caps =
		operations(hw_odp_scheme_cap_get_ud_odp_caps(&caps->paging));
	attr->odp_caps.per_transport_caps.xrc_odp_caps =
		operations(hw_odp_scheme_cap_get_xrc_odp_caps(&caps->paging));
}

#else

struct cxib_odp_mr *cxib_odp_get_mr(struct cxib_ibdev *ibdev, u32 key)
{
	return NULL;
}

struct cxib_odp_mr *cxib_odp_get_fault_mr(struct cxib_ibdev *ibdev, u32 key)
{
	return NULL;
}

int cxib_odp_fault_in(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range)
{
	return -EFAULT;
}

int cxib_odp_fault_in_present(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range)
{
	return -EFAULT;
}

struct ib_mr *cxib_reg_odp_mr(struct ib_pd *ib, u64 start, u64 length, u64 address,
			      int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

int cxib_dereg_odp_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	return -EOPNOTSUPP;
}

bool cxib_odp_is_implicit(const struct cxib_odp_mr *odp_mr)
{
	return false;
}

void cxib_describe_paging(const struct cxib_ibdev *ibdev, struct ib_device_attr *attr)
{
}

#endif

/**
 * cxib_odp_init() - there can be regions whose pages come in on demand, later
 * @ibdev: RDMA device
 */
void cxib_odp_init(struct cxib_ibdev *ibdev)
{
	mutex_init(&ibdev->paging.lock);
	xa_init(&ibdev->paging.regions);
	init_waitqueue_head(&ibdev->paging.fault_done);
}

/**
 * cxib_odp_destroy() - faults are not handled any more
 * @ibdev: RDMA device without users
 */
void cxib_odp_destroy(struct cxib_ibdev *ibdev)
{
	struct cxib_odp *paging = &ibdev->paging;

	if (!paging->workqueue)
		return;
	cxib_hw_destroy_pf_eq(ibdev->hw);
	destroy_workqueue(paging->workqueue);
	WARN_ON(!xa_empty(&paging->regions));
}
