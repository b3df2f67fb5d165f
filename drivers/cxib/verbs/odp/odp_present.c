// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps pages of an ODP MR that are present in the process. cxib_odp_populate() makes absent pages
 * present, because its wait for the process can be ended. The wait of
 * ib_umem_odp_map_dma_and_lock() cannot. Nothing in this file waits for the process.
 */
#include <linux/hmm.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_umem_odp.h>

#include "verbs/odp/odp_dma.h"
#include "verbs/odp/odp_mr.h"

#ifdef CXIB_KERNEL_CAN_PAGE

/* Maximum number of pages of a batch: 8 KiB for their look-up. */
#define PAGES_BATCH	1024

/**
 * struct present_batch - pages that are mapped together
 * @odp_mr: MR with a reference, not an implicit one
 * @memory: memory of the MR
 * @present_only: map those pages that are present
 * @for_writing: all pages must be writable
 * @first: number of the first page
 * @count: number of pages
 * @pfns: pages and rights, as hmm_range_fault() returns them
 */
struct present_batch {
	struct cxib_odp_mr *odp_mr;
	struct ib_umem_odp *memory;
	bool present_only;
	bool for_writing;
	u64 first;
	unsigned int count;
	unsigned long *pfns;
};

static u64 present_address(const struct present_batch *batch, unsigned int i)
{
	return ib_umem_start(batch->memory) + ((batch->first + i) << batch->memory->page_shift);
}

static int present_walk_part(const struct present_batch *batch, unsigned int i, unsigned int count,
			     unsigned long sequence)
{
	struct hmm_range range = {
		.notifier = &batch->memory->notifier,
		.notifier_seq = sequence,
		.start = present_address(batch, i),
		.end = present_address(batch, i) + count * PAGE_SIZE,
		.hmm_pfns = &batch->pfns[i],
	};

	return hmm_range_fault(&range);
}

/* Of a huge page, only the first PAGE_SIZE bytes are looked up. */
static int present_walk(const struct present_batch *batch, unsigned long sequence)
{
	unsigned int i;
	int err = 0;

	memset(batch->pfns, 0, batch->count * sizeof(*batch->pfns));
	if (batch->memory->page_shift == PAGE_SHIFT)
		return present_walk_part(batch, 0, batch->count, sequence);
	for (i = 0; i < batch->count && !err; i++)
		err = present_walk_part(batch, i, 1, sequence);
	return err;
}

/* Returns -EBUSY if pages must be made present, from address @absent on. */
static int present_check(const struct present_batch *batch, u64 *absent)
{
	const unsigned int order = batch->memory->page_shift - PAGE_SHIFT;
	const unsigned long needed = HMM_PFN_VALID | (batch->for_writing ? HMM_PFN_WRITE : 0);
	unsigned int i;

	for (i = 0; i < batch->count; i++) {
		const unsigned long pfn = batch->pfns[i];

		if (pfn & HMM_PFN_VALID && hmm_pfn_to_map_order(pfn) < order)
			return -EINVAL;
		if (batch->present_only)
			continue;
		if (pfn & HMM_PFN_ERROR)
			return -EFAULT;
		if ((pfn & needed) == needed)
			continue;
		*absent = present_address(batch, i);
		return -EBUSY;
	}
	return 0;
}

/* Returns the number of pages. */
static int present_map_dma(const struct present_batch *batch)
{
	struct ib_umem_odp *memory = batch->memory;
	unsigned int i;
	int pages = 0;

	lockdep_assert_held(&memory->umem_mutex);

	for (i = 0; i < batch->count; i++) {
		unsigned long pfn = batch->pfns[i];

		if (!(pfn & HMM_PFN_VALID))
			continue;
		if (!memory->umem.writable)
			pfn &= ~HMM_PFN_WRITE;
		if (cxib_odp_map(memory, batch->first + i, pfn))
			return -EFAULT;
		pages++;
	}
	return pages;
}

static int present_map_batch(const struct present_batch *batch, u64 *absent)
{
	struct cxib_odp_mr *odp_mr = batch->odp_mr;
	int pages, err;

	err = odp_mr->is_unusable ? -EIO : present_check(batch, absent);
	if (err)
		return err;
	pages = present_map_dma(batch);
	if (pages > 0 && odp_mr->live)
		err = cxib_odp_write_mtts(odp_mr, batch->first, batch->first + batch->count);
	return err ?: pages;
}

/*
 * Threads of the process that change the address space wait for the lock meanwhile, so only memory
 * reclaim and threads that discard pages invalidate pages between the look-up and the mapping.
 * mmu_interval_read_begin() waits for the end of such an invalidation, which does not need the
 * lock: most of them are made with the lock held.
 */
static int present_map(void *context, u64 *absent)
{
	const struct present_batch *batch = context;
	struct mmu_interval_notifier *notifier = &batch->memory->notifier;
	unsigned long sequence;
	int err;

	lockdep_assert_held(&notifier->mm->mmap_lock);

	sequence = mmu_interval_read_begin(notifier);
	err = present_walk(batch, sequence);
	if (err)
		return err;
	guard(mutex)(&batch->memory->umem_mutex);
	return mmu_interval_read_retry(notifier, sequence) ?
		-EBUSY : present_map_batch(batch, absent);
}

static int present_fault_in_batch(struct present_batch *batch)
{
	return cxib_odp_populate(batch->odp_mr, present_address(batch, batch->count),
				 batch->for_writing, present_map, batch);
}

static int present_fault_in_batches(struct present_batch *batch, u64 end)
{
	const unsigned int max = batch->count;
	int total = 0;
	int pages;

	for (; batch->first < end; batch->first += batch->count) {
		batch->count = min_t(u64, max, end - batch->first);
		pages = present_fault_in_batch(batch);
		if (pages < 0)
			return pages;
		total += pages;
	}
	return total;
}

static int present_fault_in(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range,
			    bool present_only)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(odp_mr->mr.umem);
	struct present_batch batch = {
		.odp_mr = odp_mr, .memory = memory, .present_only = present_only,
		.for_writing = range->for_writing && memory->umem.writable && !present_only,
	};
	u64 start, end;
	int pages, err;

	err = cxib_odp_find_range(odp_mr, range, &start);
	if (err || !range->length)
		return err;
	start -= ib_umem_start(memory);
	batch.first = start >> memory->page_shift;
	end = ((start + range->length - 1) >> memory->page_shift) + 1;
	batch.count = min_t(u64, end - batch.first, PAGES_BATCH);
	batch.pfns = kvmalloc_array(batch.count, sizeof(*batch.pfns), GFP_KERNEL);
	if (!batch.pfns)
		return -ENOMEM;
	pages = present_fault_in_batches(&batch, end);
	kvfree(batch.pfns);
	return pages;
}

/**
 * cxib_odp_fault_in_pages() - fault in pages and write their MTTs
 * @odp_mr: MR with a reference, not an implicit one
 * @range: range of the MR
 *
 * Context: process context, may sleep; without locks that memory reclaim takes. The wait for user
 * space ends as in cxib_odp_populate().
 * Return: number of pages that are present; -EFAULT if the range is not within the MR or
 * not mapped in user space or for DMA, -EIO if UMR failed, -EINVAL if a huge page is smaller than
 * the pages of the MR, -EBUSY if the pages do not remain present, or an error of
 * cxib_odp_populate().
 */
int cxib_odp_fault_in_pages(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range)
{
	return present_fault_in(odp_mr, range, false);
}

static int present_fault_in_range(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range)
{
	return present_fault_in(odp_mr, range, true);
}

/**
 * cxib_odp_fault_in_present() - fault in the pages that are present in user space
 * @odp_mr: MR with a reference
 * @range: range of the MR; parts of an implicit ODP MR that are not mapped are skipped
 *
 * Context: as cxib_odp_fault_in().
 * Return: number of pages that are present; as cxib_odp_fault_in() otherwise.
 */
int cxib_odp_fault_in_present(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range)
{
	if (cxib_odp_is_implicit(odp_mr))
		return cxib_odp_fault_in_implicit(odp_mr, range, present_fault_in_range, 0);
	return present_fault_in_range(odp_mr, range);
}

#endif
