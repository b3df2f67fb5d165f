// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prefetches that fault in only pages that are present in user space.
 *
 * ib_umem_odp_map_dma_and_lock() has such a mode. But munmap() unmaps pages before it calls the MMU
 * notifier, and in that mode the RDMA core warns if a page is missing that is still DMA-mapped. So
 * the look-up in this file is only a hint, and the pages that it finds are faulted in like all
 * other pages.
 */
#include <linux/hmm.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <rdma/ib_umem_odp.h>

#include "verbs/odp/odp_mr.h"

#ifdef CXIB_KERNEL_CAN_PAGE

/* Maximum number of pages of one look-up: 512 bytes of the stack. */
#define PAGES_BATCH	64
/*
 * Maximum number of look-ups while the page tables change. Then the prefetch, which is only advice,
 * skips these pages.
 */
#define ATTEMPTS	8

/* Flags that are equal for all pages of a run. */
#define RIGHTS		(HMM_PFN_VALID | HMM_PFN_WRITE)

static int present_lookup_once(struct hmm_range *range)
{
	struct mm_struct *mm = range->notifier->mm;
	int err;

	range->notifier_seq = mmu_interval_read_begin(range->notifier);
	mmap_read_lock(mm);
	err = hmm_range_fault(range);
	mmap_read_unlock(mm);
	return err;
}

/* Looks up which of @count pages from @start on are present, and which are writable. */
static int present_lookup(struct ib_umem_odp *memory, u64 start, unsigned int count,
			  unsigned long *pages)
{
	struct hmm_range range = {
		.notifier = &memory->notifier,
		.start = start,
		.end = start + count * PAGE_SIZE,
		.hmm_pfns = pages,
	};
	struct mm_struct *mm = memory->umem.owning_mm;
	int attempts = ATTEMPTS;
	int err;

	if (!mmget_not_zero(mm))
		return -EFAULT;
	do {
		err = present_lookup_once(&range);
	} while (err == -EBUSY && --attempts);
	mmput(mm);
	return err;
}

static unsigned int present_same_rights(const unsigned long *pages, unsigned int count)
{
	unsigned int i = 1;

	while (i < count && !((pages[i] ^ pages[0]) & RIGHTS))
		i++;
	return i;
}

/* @address is the address of the first page in WQEs. */
static int present_fault_in_seen(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range,
				 u64 address, const unsigned long *pages, unsigned int count)
{
	int total = 0;
	unsigned int i, run;

	for (i = 0; i < count; i += run) {
		u64 from = max(address + i * PAGE_SIZE, range->address);
		struct cxib_odp_range run_range = {
			.address = from, .for_writing = pages[i] & HMM_PFN_WRITE,
		};
		int faulted;

		run = present_same_rights(&pages[i], count - i);
		if (!(pages[i] & HMM_PFN_VALID))
			continue;
		run_range.length = min(address + (i + run) * PAGE_SIZE,
				       range->address + range->length) - from;
		faulted = cxib_odp_fault_in_pages(odp_mr, &run_range);
		if (faulted < 0)
			return faulted;
		total += faulted;
	}
	return total;
}

/* Faults in a range of an MR that is not an implicit ODP MR. */
static int present_fault_in_range(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(odp_mr->mr.umem);
	unsigned long pages[PAGES_BATCH] = {};
	u64 start, at, end;
	int total = 0;
	int err;

	err = cxib_odp_find_range(odp_mr, range, &start);
	if (err)
		return err;
	end = ALIGN(start + range->length, PAGE_SIZE);
	for (at = ALIGN_DOWN(start, PAGE_SIZE); at < end; at += PAGES_BATCH * PAGE_SIZE) {
		unsigned int count = min_t(u64, PAGES_BATCH, (end - at) / PAGE_SIZE);

		err = present_lookup(memory, at, count, pages);
		/* The page tables still change, so the prefetch skips these pages. */
		if (err == -EBUSY)
			continue;
		if (!err)
			err = present_fault_in_seen(odp_mr, range, range->address - (start - at),
						    pages, count);
		if (err < 0)
			return err;
		total += err;
	}
	return total;
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
