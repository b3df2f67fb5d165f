// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads of a process change its address space all the time, so its lock is rarely free. Meanwhile
 * the process discards pages of an ODP MR and prefetches them. Expected: each prefetch succeeds.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "verbs_pair.h"

#define THREADS 8
#define ROUNDS 100

static atomic_bool done;

static void *change(void *unused)
{
	while (!atomic_load(&done)) {
		char *at = NEED(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

		*at = 1;
		MUST(munmap(at, PAGE));
	}
	return unused;
}

int main(void)
{
	struct ibv_sge sge = { .length = PAGE };
	pthread_t threads[THREADS];
	struct ibv_mr *mr;
	struct ibv_pd *pd;
	int i;

	pd = NEED(ibv_alloc_pd(open_device(0)));
	sge.addr = (uintptr_t)NEED(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	mr = NEED(ibv_reg_mr(pd, (void *)sge.addr, PAGE, ALL_ACCESS | IBV_ACCESS_ON_DEMAND));
	sge.lkey = mr->lkey;
	for (i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, change, NULL));
	for (i = 0; i < ROUNDS; i++) {
		MUST(madvise((void *)sge.addr, PAGE, MADV_DONTNEED));
		MUST(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1));
	}
	atomic_store(&done, true);
	for (i = 0; i < THREADS; i++)
		MUST(pthread_join(threads[i], NULL));
	pass("each prefetch succeeds");
}
