// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages that a program has at the moment come in; the others are not made for it.
 *
 * ib_umem_odp_map_dma_and_lock() could look for them, too. But munmap() takes
 * memory out of the address space and lets others look at that before it tells of
 * it, and what is missing then although it is mapped for DMA is a bug for the core.
 * So the look here is only a guess, and bringing in what was seen a request like
 * any other.
 */
#include <linux/hmm.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <rdma/ib_umem_odp.h>

#include "verbs/odp/odp.h"

#ifdef CXIB_KERNEL_CAN_PAGE

#define PAGES_AT_ONCE	64
#define ATTEMPTS	8

/* What is looked at; the rest is not. */
#define RIGHTS		(HMM_PFN_VALID | HMM_PFN_WRITE)

static int look_once(struct hmm_range *range)
{
	struct mm_struct *mm = range->notifier->mm;
	int err;

	range->notifier_seq = mmu_interval_read_begin(range->notifier);
	mmap_read_lock(mm);
	err = hmm_range_fault(range);
	mmap_read_unlock(mm);
	return err;
}

/* Which of @count pages from @start on there are, and can be written to. */
static int look(struct ib_umem_odp *memory, u64 start, unsigned int count, unsigned long *pages)
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
		err = look_once(&range);
	} while (err == -EBUSY && --attempts);
	mmput(mm);
	return err;
}

static unsigned int same_rights(const unsigned long *pages, unsigned int count)
{
	unsigned int i = 1;

	while (i < count && !((pages[i] ^ pages[0]) & RIGHTS))
		i++;
	return i;
}

/* @address is where the first page begins in requests. */
static int bring_in_seen(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range,
			 u64 address, const unsigned long *pages, unsigned int count)
{
	int total = 0;
	unsigned int i, run;

	for (i = 0; i < count; i += run) {
		u64 from = max(address + i * PAGE_SIZE, range->address);
		struct cxib_odp_range part = {
			.address = from, .for_writing = pages[i] & HMM_PFN_WRITE,
		};
		int brought;

		run = same_rights(&pages[i], count - i);
		if (!(pages[i] & HMM_PFN_VALID))
			continue;
		part.length = min(address + (i + run) * PAGE_SIZE,
				  range->address + range->length) - from;
		brought = cxib_odp_fault_in(odp_mr, &part);
		if (brought < 0)
			return brought;
		total += brought;
	}
	return total;
}

/**
 * cxib_odp_fault_in_present() - the key of a region gets pages that the program has
 * @odp_mr: region that somebody keeps
 * @range: which ones
 *
 * Context: as cxib_odp_fault_in().
 * Return: number of pages that are there; as cxib_odp_fault_in() otherwise.
 */
int cxib_odp_fault_in_present(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(odp_mr->mr.umem);
	unsigned long pages[PAGES_AT_ONCE] = {};
	u64 start, at, end;
	int total = 0;
	int err;

	if (cxib_odp_is_implicit(odp_mr))
		return cxib_odp_fault_in_implicit(odp_mr, range, cxib_odp_fault_in_present);
	err = cxib_odp_find_range(odp_mr, range, &start);
	if (err)
		return err;
	end = ALIGN(start + range->length, PAGE_SIZE);
	for (at = ALIGN_DOWN(start, PAGE_SIZE); at < end; at += PAGES_AT_ONCE * PAGE_SIZE) {
		unsigned int count = min_t(u64, PAGES_AT_ONCE, (end - at) / PAGE_SIZE);

		err = look(memory, at, count, pages);
		/* They come and go. */
		if (err == -EBUSY)
			continue;
		if (!err)
			err = bring_in_seen(odp_mr, range, range->address - (start - at), pages,
					    count);
		if (err < 0)
			return err;
		total += err;
	}
	return total;
}

#endif
