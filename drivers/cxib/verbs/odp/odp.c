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
	const u64 first = change->first_entry;
	unsigned int i;

	for (i = 0; i < change->entry_count; i++)
		if (first + i < update->gone_from || first + i >= update->gone_to)
			entries[i] = cpu_to_be64(update->memory->dma_list[first + i]);
}

/* The key gets what is known of the pages from @from to @to, and of their neighbours. */
static int update_key(struct cxib_odp_mr *paged, struct update *update, u64 from, u64 to)
{
	const u64 most = ib_umem_odp_num_pages(update->memory);
	struct cxib_ibdev *verbs = to_ibdev(paged->mr.ib.device);
	const struct cxib_mkey_params params = {};
	struct cxib_umr_change change = { .key = paged->mr.ib.lkey, .params = &params };
	int err = 0;

	lockdep_assert_held(&update->memory->umem_mutex);

	for (from = ALIGN_DOWN(from, CXIB_UMR_MTT_ALIGN); from < to && !err;
	     from += CXIB_UMR_MTT_MAX) {
		change.first_entry = from;
		change.entry_count = min_t(u64, CXIB_UMR_MTT_MAX,
					   min(ALIGN(to, CXIB_UMR_MTT_ALIGN), most) - from);
		err = cxib_umr_execute(verbs, &change, fill_entries, update);
	}
	return err;
}

/*
 * The kernel takes the pages whether the device lets go of them or not. One that was
 * given up cannot reach them.
 */
static void enforce(struct cxib_ibdev *verbs)
{
	if (cxib_verbs_dma_off(verbs))
		return;
	ibdev_err(&verbs->ib, "the device does not let go of pages\n");
	cxib_hw_set_fatal(verbs->hw);
	cxib_hw_dma_off(verbs->hw);
}

static void take_away(struct cxib_odp_mr *paged, struct ib_umem_odp *memory, u64 start, u64 end)
{
	struct update update = {
		.memory = memory,
		.gone_from = (start - ib_umem_start(memory)) >> memory->page_shift,
		.gone_to = (end - ib_umem_start(memory)) >> memory->page_shift,
	};

	lockdep_assert_held(&memory->umem_mutex);

	/* A request that another one has swept along can be tried again. */
	if (update_key(paged, &update, update.gone_from, update.gone_to) &&
	    update_key(paged, &update, update.gone_from, update.gone_to))
		enforce(to_ibdev(paged->mr.ib.device));
	atomic64_add(update.gone_to - update.gone_from,
		     paged->whole ? &paged->whole->invalidations : &paged->invalidations);
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
	struct cxib_odp_mr *paged;
	u64 start, end;

	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&memory->umem_mutex);
	mmu_interval_set_seq(notifier, sequence);
	paged = memory->private;
	start = ALIGN_DOWN(max_t(u64, ib_umem_start(memory), range->start),
			   BIT_ULL(memory->page_shift));
	/* The end of everything is no address that could be rounded up. */
	end = ALIGN(min_t(u64, ib_umem_end(memory), range->end), BIT_ULL(memory->page_shift));
	if (memory->npages && has_pages(memory, start, end)) {
		if (paged->has_key)
			take_away(paged, memory, start, end);
		ib_umem_odp_unmap_dma_pages(memory, start, end);
	}
	mutex_unlock(&memory->umem_mutex);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = { .invalidate = invalidate };

/**
 * cxib_odp_insert_mkey() - page faults that name a key are faults of a region from now on
 * @paged: the region, or a part of one
 * @key: a key of it
 *
 * One that is about to go may have had the same index.
 *
 * Return: 0 or -ENOMEM.
 */
int cxib_odp_insert_mkey(struct cxib_odp_mr *paged, u32 key)
{
	struct cxib_ibdev *verbs = to_ibdev(paged->mr.ib.device);

	return xa_err(xa_store(&verbs->paging.regions, key >> KEY_SHIFT, paged, GFP_KERNEL));
}

/**
 * cxib_odp_erase_mkey() - the reverse
 * @paged: the region, or a part of one
 * @key: a key of it
 */
void cxib_odp_erase_mkey(struct cxib_odp_mr *paged, u32 key)
{
	struct cxib_ibdev *verbs = to_ibdev(paged->mr.ib.device);

	xa_cmpxchg(&verbs->paging.regions, key >> KEY_SHIFT, paged, NULL, GFP_KERNEL);
}

/* The region that has a key, or a part with that key; NULL also when it is going. */
static struct cxib_odp_mr *find_region(struct xarray *regions, u32 key)
{
	struct cxib_odp_mr *paged = xa_load(regions, key >> KEY_SHIFT);

	lockdep_assert_held(&regions->xa_lock);

	if (!paged || (paged->mr.ib.lkey != key &&
		       !(paged->has_null_key && paged->null_key == key)))
		return NULL;
	/* Who knows a part has no reference to the region of it yet. */
	paged = paged->whole ?: paged;
	return xa_load(regions, paged->mr.ib.lkey >> KEY_SHIFT) == paged ? paged : NULL;
}

/**
 * cxib_odp_get_fault_mr() - the region that a page fault is about
 * @verbs: RDMA device
 * @key: anything; may be a key that only the driver and the device know
 *
 * Return: the region, not a part of one, to be given back with cxib_reference_put();
 * NULL if there is none.
 */
struct cxib_odp_mr *cxib_odp_get_fault_mr(struct cxib_ibdev *verbs, u32 key)
{
	struct xarray *regions = &verbs->paging.regions;
	struct cxib_odp_mr *paged;

	xa_lock(regions);
	paged = find_region(regions, key);
	if (paged)
		refcount_inc(&paged->reference.count);
	xa_unlock(regions);
	return paged;
}

/**
 * cxib_odp_get_mr() - the region that a key stands for
 * @verbs: RDMA device
 * @key: anything
 *
 * Return: the region, to be given back with cxib_reference_put(); NULL if there is
 * none, or its pages do not come in on demand.
 */
struct cxib_odp_mr *cxib_odp_get_mr(struct cxib_ibdev *verbs, u32 key)
{
	struct cxib_odp_mr *paged = cxib_odp_get_fault_mr(verbs, key);

	if (!paged || paged->mr.ib.lkey == key)
		return paged;
	/* Programs are not told keys of parts. */
	cxib_reference_put(&paged->reference);
	return NULL;
}

/**
 * cxib_odp_find_range() - where memory of a region is in the address space of the program
 * @paged: region that somebody keeps
 * @range: anything
 * @start: filled
 *
 * Return: 0; -EFAULT when not all of it is in the region.
 */
int cxib_odp_find_range(const struct cxib_odp_mr *paged, const struct cxib_odp_range *range,
		    u64 *start)
{
	const struct ib_mr *ib = &paged->mr.ib;
	u64 offset = range->address - ib->iova;

	if (range->address < ib->iova || offset > ib->length ||
	    range->length > ib->length - offset) {
		ibdev_dbg(ib->device,
			  "key 0x%x: no 0x%llx bytes at 0x%llx, there are 0x%llx at 0x%llx\n",
			  ib->lkey, range->length, range->address, ib->length, ib->iova);
		return -EFAULT;
	}
	*start = paged->mr.umem->address + offset;
	return 0;
}

/**
 * cxib_odp_fault_in() - pages come in, and the key of their region gets them
 * @paged: region that somebody keeps
 * @range: which ones
 *
 * Context: process context, may sleep; without locks that are taken where memory
 * is reclaimed.
 * Return: number of pages that are there; -EFAULT when the region or the program
 * has no such memory, -EIO when the key cannot be changed, or an error of
 * ib_umem_odp_map_dma_and_lock().
 */
int cxib_odp_fault_in(struct cxib_odp_mr *paged, const struct cxib_odp_range *range)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(paged->mr.umem);
	struct update update = { .memory = memory };
	u64 access = ODP_READ_ALLOWED_BIT;
	u64 start, first;
	int pages, err;

	if (cxib_odp_is_implicit(paged))
		return cxib_odp_fault_in_implicit(paged, range, cxib_odp_fault_in);
	err = cxib_odp_find_range(paged, range, &start);
	if (err || !range->length)
		return err;
	if (range->for_writing && memory->umem.writable)
		access |= ODP_WRITE_ALLOWED_BIT;
	guard(mutex)(&paged->seeking);
	pages = ib_umem_odp_map_dma_and_lock(memory, start, range->length, access, true);
	if (pages < 0)
		return pages;
	first = (start - ib_umem_start(memory)) >> memory->page_shift;
	if (paged->has_key)
		err = update_key(paged, &update, first, first + pages);
	mutex_unlock(&memory->umem_mutex);
	return err ?: pages;
}

/* The first region of this kind: from now on faults are told and handled. */
static int prepare(struct cxib_ibdev *verbs)
{
	struct cxib_odp *paging = &verbs->paging;
	int err;

	err = cxib_umr_prepare(verbs);
	if (err)
		return err;
	guard(mutex)(&paging->lock);
	if (paging->workqueue)
		return 0;
	paging->workqueue = alloc_workqueue("cxib_faults", WQ_HIGHPRI | WQ_UNBOUND | WQ_MEM_RECLAIM,
					    0);
	if (!paging->workqueue)
		return -ENOMEM;
	err = cxib_hw_create_pf_eq(verbs->hw, paging->workqueue);
	if (err) {
		destroy_workqueue(paging->workqueue);
		paging->workqueue = NULL;
	}
	return err;
}

static void destroy_key(struct cxib_odp_mr *paged)
{
	struct cxib_ibdev *verbs = to_ibdev(paged->mr.ib.device);

	cxib_end_in_device(verbs, NULL, cxib_cmd_destroy_mkey(commands_of(verbs), paged->mr.ib.lkey));
}

/**
 * cxib_create_empty_key() - a region gets its key, whose translations are written later
 * @paged: the region
 * @pd: protection domain
 * @params: of the key, without @octwords
 * @entry_count: room for translations; a multiple of %CXIB_UMR_MTT_ALIGN
 * @fill: as for cxib_umr_enable()
 *
 * The program chooses how large the region is, and needs no memory for that: the list
 * is not part of the command, which would need several times as much as the list.
 *
 * Return: as cxib_cmd_create_mkey(), cxib_umr_enable().
 */
int cxib_create_empty_key(struct cxib_odp_mr *paged, struct ib_pd *pd,
			  struct cxib_mkey_params *params, u64 entry_count, cxib_fill_entries fill)
{
	int err;

	params->octwords = entry_count * sizeof(__be64) / CXIB_DS_SIZE;
	err = cxib_mr_create_mkey(&paged->mr, pd, params);
	if (err)
		return err;
	err = cxib_umr_enable(to_ibdev(pd->device), paged->mr.ib.lkey, entry_count, fill, paged);
	if (err)
		destroy_key(paged);
	return err;
}

static int create_key(struct cxib_odp_mr *paged, struct ib_pd *pd)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(paged->mr.umem);
	const u64 entry_count = ALIGN(ib_umem_odp_num_pages(memory), CXIB_UMR_MTT_ALIGN);
	struct cxib_mkey_params params = {
		.start = paged->mr.ib.iova,
		.length = paged->mr.ib.length,
		.log_page_size = memory->page_shift,
		.is_paged = true,
	};

	return cxib_create_empty_key(paged, pd, &params, entry_count, NULL);
}

/**
 * cxib_odp_is_implicit() - whether a region is that of a whole address space
 * @paged: the region
 */
bool cxib_odp_is_implicit(const struct cxib_odp_mr *paged)
{
	return to_ib_umem_odp(paged->mr.umem)->is_implicit_odp;
}

static void set_has_key(struct cxib_odp_mr *paged)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(paged->mr.umem);

	mutex_lock(&memory->umem_mutex);
	paged->has_key = true;
	mutex_unlock(&memory->umem_mutex);
}

/* From here on faults find it. */
static int publish(struct cxib_odp_mr *paged)
{
	set_has_key(paged);
	return cxib_odp_insert_mkey(paged, paged->mr.ib.lkey);
}

/*
 * Where the device takes no more than the lower 16 bits of an offset, in octwords, a
 * request about a page behind them would change another one: invalidations, too. And
 * the core warns of a driver's fault where its own lists would exceed INT_MAX bytes.
 */
static int check_length(struct ib_device *ib, u64 start, u64 length, int access)
{
	const unsigned int shift = access & IB_ACCESS_HUGETLB ? HPAGE_SHIFT : PAGE_SHIFT;
	u64 most = INT_MAX / sizeof(__be64);
	u64 end, pages;

	if (!length || check_add_overflow(start, length, &end))
		return -EINVAL;
	if (!to_ibdev(ib)->hw->caps.umr_extended_translation_offset)
		most = CXIB_ENTRIES_REACHED;
	pages = ((end - 1) >> shift) - (start >> shift) + 1;
	if (pages <= most)
		return 0;
	ibdev_dbg(ib, "ODP MR: %llu pages out of range [1, %llu]\n", pages, most);
	return -EINVAL;
}

/* Its own pages, in the address space of the program. */
static int attach_memory(struct cxib_odp_mr *paged, struct ib_device *ib, u64 start, u64 length)
{
	struct ib_umem_odp *memory;
	int err;

	err = check_length(ib, start, length, paged->mr.access);
	if (err)
		return err;
	memory = ib_umem_odp_get(ib, start, length, paged->mr.access, &notifier_ops);
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	memory->private = paged;
	paged->mr.umem = &memory->umem;
	if (!((start ^ paged->mr.ib.iova) & (BIT_ULL(memory->page_shift) - 1)))
		return 0;
	ibdev_dbg(ib, "memory at 0x%llx cannot be registered as 0x%llx: they differ within a page\n",
		  start, paged->mr.ib.iova);
	ib_umem_odp_release(memory);
	return -EINVAL;
}

/*
 * All that the program has, and will have; its parts come later. The core keeps the
 * address space for each part only, and a part may be wanted when the program is gone
 * and a child of it still has the file.
 */
static int attach_whole(struct cxib_odp_mr *paged, struct ib_device *ib)
{
	struct ib_umem_odp *memory = ib_umem_odp_alloc_implicit(ib, paged->mr.access);

	if (IS_ERR(memory))
		return PTR_ERR(memory);
	mmgrab(memory->umem.owning_mm);
	paged->mr.umem = &memory->umem;
	return 0;
}

/* The reverse of either. */
static void detach_memory(struct cxib_odp_mr *paged)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(paged->mr.umem);
	struct mm_struct *whole = memory->is_implicit_odp ? memory->umem.owning_mm : NULL;

	ib_umem_odp_release(memory);
	if (whole)
		mmdrop(whole);
}

static int register_in(struct cxib_odp_mr *paged, struct ib_pd *pd, u64 start, u64 length)
{
	bool whole = length == U64_MAX;
	int err;

	err = whole ? attach_whole(paged, pd->device) :
		      attach_memory(paged, pd->device, start, length);
	if (err)
		return err;
	err = whole ? cxib_odp_create_implicit_mkey(paged, pd) : create_key(paged, pd);
	if (err)
		goto detach;
	err = publish(paged);
	if (err)
		goto destroy_key;
	return 0;

destroy_key:
	destroy_key(paged);
	cxib_odp_destroy_children(paged);
detach:
	detach_memory(paged);
	return err;
}

static struct cxib_odp_mr *allocate(struct ib_device *ib, u64 address, u64 length, int access)
{
	struct cxib_odp_mr *paged = kzalloc(sizeof(*paged), GFP_KERNEL_ACCOUNT);

	if (!paged)
		return NULL;
	cxib_reference_init(&paged->reference);
	mutex_init(&paged->seeking);
	xa_init(&paged->parts);
	paged->mr.access = access;
	paged->mr.ib.iova = address;
	paged->mr.ib.length = length;
	paged->mr.ib.device = ib;
	return paged;
}

/**
 * cxib_odp_create_child() - a part of a region of a whole address space
 * @whole: the region
 * @start: where it begins
 * @length: its bytes
 *
 * Return: the part, or an ERR_PTR(): -EFAULT when the address space is going away.
 */
struct cxib_odp_mr *cxib_odp_create_child(struct cxib_odp_mr *whole, u64 start, u64 length)
{
	struct cxib_odp_mr *part;
	struct ib_umem_odp *memory;
	int err;

	part = allocate(whole->mr.ib.device, start, length, whole->mr.access);
	if (!part)
		return ERR_PTR(-ENOMEM);
	part->whole = whole;
	part->mr.ib.pd = whole->mr.ib.pd;
	memory = ib_umem_odp_alloc_child(to_ib_umem_odp(whole->mr.umem), start, length,
					 &notifier_ops);
	if (IS_ERR(memory)) {
		err = PTR_ERR(memory);
		goto free_part;
	}
	memory->private = part;
	part->mr.umem = &memory->umem;
	err = create_key(part, whole->mr.ib.pd);
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
	struct cxib_ibdev *verbs = to_ibdev(ib->device);
	struct cxib_odp_mr *paged;
	int err;

	if (!cxib_hw_has_odp(verbs->hw))
		return ERR_PTR(-EOPNOTSUPP);
	if (length == U64_MAX && (start || address || !cxib_odp_can_implicit(verbs)))
		return ERR_PTR(-EOPNOTSUPP);
	err = prepare(verbs);
	if (err)
		return ERR_PTR(err);
	paged = allocate(ib->device, address, length, access);
	if (!paged)
		return ERR_PTR(-ENOMEM);
	/* The core sets it, too, but faults may come before. */
	paged->mr.ib.pd = ib;
	err = register_in(paged, ib, start, length);
	if (err) {
		kfree(paged);
		return ERR_PTR(err);
	}
	return &paged->mr.ib;
}

/* From here on the device uses no page of the region, and needs not be told of any. */
static void revoke(struct cxib_odp_mr *paged)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(paged->mr.umem);
	struct cxib_ibdev *verbs = to_ibdev(paged->mr.ib.device);
	const struct cxib_mkey_params params = {};
	const struct cxib_umr_change change = {
		.key = paged->mr.ib.lkey, .params = &params, .mask = HW_MKEY_MASK_FREE,
		.becomes_free = true,
	};

	mutex_lock(&memory->umem_mutex);
	if (paged->has_key && cxib_umr_execute(verbs, &change, NULL, NULL) &&
	    cxib_umr_execute(verbs, &change, NULL, NULL))
		enforce(verbs);
	paged->has_key = false;
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
	struct cxib_ibdev *verbs = to_ibdev(ib->device);
	struct cxib_odp_mr *paged = to_paged_mr(ib);
	int err;

	revoke(paged);
	err = cxib_end_in_device(verbs, udata, cxib_cmd_destroy_mkey(commands_of(verbs), ib->lkey));
	if (err)
		return err;
	cxib_odp_erase_mkey(paged, ib->lkey);
	cxib_reference_end(&paged->reference);
	cxib_odp_destroy_children(paged);
	detach_memory(paged);
	kfree(paged);
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
 * @verbs: RDMA device
 * @attr: filled
 */
void cxib_describe_paging(const struct cxib_ibdev *verbs, struct ib_device_attr *attr)
{
	const struct cxib_device_caps *caps = &verbs->hw->caps;

	if (!cxib_hw_has_odp(verbs->hw) || !caps->imaicl)
		return;
	attr->kernel_cap_flags |= IBK_ON_DEMAND_PAGING;
	attr->odp_caps.general_caps = IB_ODP_SUPPORT;
	if (cxib_odp_can_implicit(verbs))
		attr->odp_caps.general_caps |= IB_ODP_SUPPORT_IMPLICIT;
	attr->odp_caps.per_transport_caps.rc_odp_caps =
		operations(hw_odp_scheme_cap_get_rc_odp_caps(&caps->paging));
	attr->odp_caps.per_transport_caps.ud_odp_caps =
		operations(hw_odp_scheme_cap_get_ud_odp_caps(&caps->paging));
	attr->odp_caps.per_transport_caps.xrc_odp_caps =
		operations(hw_odp_scheme_cap_get_xrc_odp_caps(&caps->paging));
}

#else

struct cxib_odp_mr *cxib_odp_get_mr(struct cxib_ibdev *verbs, u32 key)
{
	return NULL;
}

struct cxib_odp_mr *cxib_odp_get_fault_mr(struct cxib_ibdev *verbs, u32 key)
{
	return NULL;
}

int cxib_odp_fault_in(struct cxib_odp_mr *paged, const struct cxib_odp_range *range)
{
	return -EFAULT;
}

int cxib_odp_fault_in_present(struct cxib_odp_mr *paged, const struct cxib_odp_range *range)
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

bool cxib_odp_is_implicit(const struct cxib_odp_mr *paged)
{
	return false;
}

void cxib_describe_paging(const struct cxib_ibdev *verbs, struct ib_device_attr *attr)
{
}

#endif

/**
 * cxib_odp_init() - there can be regions whose pages come in on demand, later
 * @verbs: RDMA device
 */
void cxib_odp_init(struct cxib_ibdev *verbs)
{
	mutex_init(&verbs->paging.lock);
	xa_init(&verbs->paging.regions);
	init_waitqueue_head(&verbs->paging.room);
}

/**
 * cxib_odp_destroy() - faults are not handled any more
 * @verbs: RDMA device without users
 */
void cxib_odp_destroy(struct cxib_ibdev *verbs)
{
	struct cxib_odp *paging = &verbs->paging;

	if (!paging->workqueue)
		return;
	cxib_hw_destroy_pf_eq(verbs->hw);
	destroy_workqueue(paging->workqueue);
	WARN_ON(!xa_empty(&paging->regions));
}
