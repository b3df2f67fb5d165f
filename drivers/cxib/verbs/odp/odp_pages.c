// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of an ODP MR: the driver writes their MTTs after it has faulted in the pages, and
 * invalidates the MTTs before the kernel reclaims the pages.
 */
#include <kunit/visibility.h>
#include <linux/mmu_notifier.h>
#include <rdma/ib_umem_odp.h>

#include "hw/mkey.h"
#include "verbs/odp/odp_dma.h"
#include "verbs/odp/odp_mr.h"

#ifdef CXIB_KERNEL_CAN_PAGE

/**
 * struct odp_update - change of the MTTs of an MR
 * @memory: memory of the MR
 * @gone_from: first page whose MTT is invalidated; the page may still be DMA-mapped
 * @gone_to: end of the invalidated pages
 */
struct odp_update {
	struct ib_umem_odp *memory;
	u64 gone_from;
	u64 gone_to;
};

static void odp_fill_entries(void *context, __be64 *entries, const struct cxib_umr_change *change)
{
	const struct odp_update *update = context;
	const u64 first = change->xlt_offset;
	unsigned int i;

	for (i = 0; i < change->xlt_count; i++)
		if (first + i < update->gone_from || first + i >= update->gone_to)
			entries[i] = cpu_to_be64(cxib_odp_mtt(update->memory, first + i));
}

/**
 * cxib_odp_umr() - modify the mkey of an MR by a UMR WQE
 * @odp_mr: the MR
 * @change: the change
 * @fill: as for cxib_umr_execute()
 * @context: for @fill
 *
 * The function retries a failed WQE once, because a CQE may be wrong. If the retry fails, the
 * process that owns the mkey has changed it, so the driver posts no further WQE for the mkey.
 *
 * Context: as cxib_umr_execute(); umem_mutex of @odp_mr is held.
 * Return: as cxib_umr_execute().
 */
int cxib_odp_umr(struct cxib_odp_mr *odp_mr, const struct cxib_umr_change *change,
		 cxib_fill_entries fill, void *context)
{
	struct cxib_ibdev *ibdev = to_ibdev(odp_mr->mr.ib.device);
	int err;

	lockdep_assert_held(&to_ib_umem_odp(odp_mr->mr.umem)->umem_mutex);

	if (odp_mr->is_unusable)
		return -EIO;
	err = cxib_umr_execute(ibdev, change, fill, context) ?
		      cxib_umr_execute(ibdev, change, fill, context) : 0;
	odp_mr->is_unusable = err;
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_umr);

/* Writes the MTTs of pages @from to @to, and of the neighbours in their units. */
static int odp_update_key(struct cxib_odp_mr *odp_mr, struct odp_update *update, u64 from, u64 to)
{
	const u64 max = ib_umem_odp_num_pages(update->memory);
	const struct cxib_mkey_params params = {};
	struct cxib_umr_change change = { .key = odp_mr->mr.ib.lkey, .params = &params };
	int err = 0;

	lockdep_assert_held(&update->memory->umem_mutex);

	for (from = ALIGN_DOWN(from, CXIB_UMR_MTT_ALIGN); from < to && !err;
	     from += CXIB_UMR_MTT_MAX) {
		change.xlt_offset = from;
		change.xlt_count = min_t(u64, CXIB_UMR_MTT_MAX,
					 min(ALIGN(to, CXIB_UMR_MTT_ALIGN), max) - from);
		err = cxib_odp_umr(odp_mr, &change, odp_fill_entries, update);
	}
	return err;
}

/**
 * cxib_odp_write_mtts() - write the MTTs of pages
 * @odp_mr: MR with an mkey
 * @first: number of the first page
 * @end: number of the last page, plus 1
 *
 * Context: as cxib_odp_umr().
 * Return: as cxib_odp_umr().
 */
int cxib_odp_write_mtts(struct cxib_odp_mr *odp_mr, u64 first, u64 end)
{
	struct odp_update update = { .memory = to_ib_umem_odp(odp_mr->mr.umem) };

	return odp_update_key(odp_mr, &update, first, end);
}

/*
 * The kernel reclaims the pages even if their MTTs could not be invalidated, so the driver turns
 * DMA off.
 */
static void odp_stop_dma(struct cxib_ibdev *ibdev)
{
	if (cxib_verbs_dma_off(ibdev))
		return;
	ibdev_err(&ibdev->ib, "ODP invalidation failed\n");
	cxib_hw_set_fatal(ibdev->hw);
	cxib_hw_dma_off(ibdev->hw);
}

/*
 * Revokes the mkey. Afterwards the device reaches no page through it, so invalidations need no UMR
 * WQE.
 */
static void odp_revoke(struct cxib_odp_mr *odp_mr)
{
	struct cxib_ibdev *ibdev = to_ibdev(odp_mr->mr.ib.device);
	const u32 key = odp_mr->mr.ib.lkey;

	lockdep_assert_held(&to_ib_umem_odp(odp_mr->mr.umem)->umem_mutex);

	if (!odp_mr->live)
		return;
	if (cxib_umr_revoke(ibdev, key) && cxib_umr_revoke(ibdev, key) &&
	    !cxib_umr_has_revoked(ibdev, key))
		odp_stop_dma(ibdev);
	odp_mr->live = false;
}

/*
 * A process may be able to make each WQE for its own mkey fail. Then it loses its MR, and other
 * processes are not affected.
 */
static void odp_invalidate_mtts(struct cxib_odp_mr *odp_mr, struct ib_umem_odp *memory, u64 start,
				u64 end)
{
	struct odp_update update = {
		.memory = memory,
		.gone_from = (start - ib_umem_start(memory)) >> memory->page_shift,
		.gone_to = (end - ib_umem_start(memory)) >> memory->page_shift,
	};

	lockdep_assert_held(&memory->umem_mutex);

	if (odp_update_key(odp_mr, &update, update.gone_from, update.gone_to)) {
		odp_mr->is_unusable = true;
		odp_revoke(odp_mr);
	}
	atomic64_add(update.gone_to - update.gone_from,
		     odp_mr->parent ? &odp_mr->parent->invalidations : &odp_mr->invalidations);
}

static bool odp_has_pages(const struct ib_umem_odp *memory, u64 start, u64 end)
{
	u64 i = (start - memory->notifier.interval_tree.start) >> memory->page_shift;

	for (; start < end; start += BIT_ULL(memory->page_shift), i++)
		if (cxib_odp_is_mapped(memory, i))
			return true;
	return false;
}

static bool odp_invalidate(struct mmu_interval_notifier *notifier,
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
	/* ib_umem_end() must not be aligned up for a region that ends at the last address. */
	end = ALIGN(min_t(u64, ib_umem_end(memory), range->end), BIT_ULL(memory->page_shift));
	if (memory->npages && odp_has_pages(memory, start, end)) {
		if (odp_mr->live)
			odp_invalidate_mtts(odp_mr, memory, start, end);
		ib_umem_odp_unmap_dma_pages(memory, start, end);
		if (odp_mr->parent && !memory->npages)
			cxib_odp_reap_later(odp_mr->parent);
	}
	mutex_unlock(&memory->umem_mutex);
	return true;
}

const struct mmu_interval_notifier_ops cxib_odp_notifier_ops = { .invalidate = odp_invalidate };

/**
 * cxib_odp_find_range() - convert addresses of an MR to user addresses
 * @odp_mr: MR with a reference
 * @range: range of the MR; untrusted
 * @start: filled in: user address of its first byte
 *
 * Return: 0; -EFAULT if the range is not within the MR.
 */
int cxib_odp_find_range(const struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range,
			u64 *start)
{
	const struct ib_mr *ib = &odp_mr->mr.ib;
	u64 offset = range->address - ib->iova;

	if (range->address < ib->iova || offset > ib->length ||
	    range->length > ib->length - offset) {
		ibdev_dbg(ib->device,
			  "mkey 0x%x: 0x%llx bytes at 0x%llx out of range (0x%llx bytes at 0x%llx)\n",
			  ib->lkey, range->length, range->address, ib->length, ib->iova);
		return -EFAULT;
	}
	*start = odp_mr->mr.umem->address + offset;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_find_range);

/**
 * cxib_odp_revoke() - free the mkey of an MR, which still exists
 * @odp_mr: the MR
 *
 * Afterwards neither the device nor the process can use the mkey, so invalidations need no UMR WQE.
 */
void cxib_odp_revoke(struct cxib_odp_mr *odp_mr)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(odp_mr->mr.umem);

	mutex_lock(&memory->umem_mutex);
	odp_revoke(odp_mr);
	mutex_unlock(&memory->umem_mutex);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_revoke);

#endif
