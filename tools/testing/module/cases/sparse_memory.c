// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process touches one page in each GiB of its memory and prefetches it through an implicit ODP
 * MR. For each GiB the kernel allocates megabytes that are not charged to the process. Expected:
 * the process may do this for any number of pages one after another, and for a limited number at
 * the same time.
 */
#include "verbs_pair.h"

#define GB (1UL << 30)
#define FIRST 100
/* Limit according to Documentation/tuning.rst: eight times the host's memory, plus 32 GiB. */
#define TIMES 8
#define BASE 32

static int prefetch(struct ibv_mr *mr, void *at)
{
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = 8, .lkey = mr->lkey };

	return ibv_advise_mr(mr->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
}

static char *touch(long number)
{
	char *at = NEED(mmap((void *)((FIRST + number) * GB), PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));

	*at = 1;
	return at;
}

static long limit(void)
{
	const double memory = (double)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);

	return (long)(memory * TIMES / GB) + BASE;
}

int main(void)
{
	struct ibv_context *context;
	struct ibv_mr *mr;
	long i, max = limit();
	char *at;

	MUST(setgid(65534));
	MUST(setuid(65534));
	context = open_device(0);
	mr = NEED(ibv_reg_mr(NEED(ibv_alloc_pd(context)), NULL, SIZE_MAX, ALL_ACCESS | IBV_ACCESS_ON_DEMAND));
	/* One after another. */
	for (i = 0; i < max + max / 2; i++) {
		at = touch(i);
		MUST(prefetch(mr, at));
		MUST(munmap(at, PAGE));
	}
	/* At the same time. */
	for (i = 0; i <= max + 1 && !prefetch(mr, touch(i)); i++)
		;
	if (i < max - 1 || i > max + 1)
		fail("pages in %ld GiB at a time, not %ld", i, max);
	MUST(munmap((void *)(FIRST * GB), PAGE));
	MUST(prefetch(mr, touch(max + 2)));
	MUST(ibv_dereg_mr(mr));
	pass("pages in %ld GiB at a time", i);
}
