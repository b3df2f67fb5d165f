// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process frees the mkeys of its implicit ODP MRs (LOCAL_INV) and prefetches their pages.
 * Expected: ODP MRs and registrations of another process keep working, and the device reports no
 * error.
 */
#include "verbs_pair.h"
#include <stdatomic.h>
#include <sys/prctl.h>

#define ATTACKERS 4
#define VICTIMS 2
#define ATTACKS 100
#define PREFETCHES 150
#define REGISTRATIONS 15
#define PAGES 64
#define GB (1UL << 30)
#define FIRST_ADDRESS (100 * GB)
/* UMR registers more than 8192 pages. */
#define LARGE (40UL << 20)

static atomic_int fatal;

static void drop_privileges(void)
{
	MUST(setgid(65534));
	MUST(setuid(65534));
	MUST(prctl(PR_SET_PDEATHSIG, SIGKILL));
}

static int prefetch(struct ibv_mr *mr, void *at, size_t length)
{
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = length, .lkey = mr->lkey };

	return ibv_advise_mr(mr->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
}

static void free_key(struct end *e, uint32_t rkey)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED,
					.invalidate_rkey = rkey };

	pthread_mutex_lock(&lock);
	MUST(ibv_post_send(e->qp, &wr, &bad));
	if (await(e->cq).status)
		fail("LOCAL_INV failed");
	pthread_mutex_unlock(&lock);
}

struct attack {
	struct end *end;
	long number;
};

/* The results are ignored. */
static void *attack(void *argument)
{
	const struct attack *attack = argument;
	void *at = NEED(mmap((void *)(FIRST_ADDRESS + attack->number * GB), PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
	struct ibv_mr *mr = NEED(ibv_reg_mr(attack->end->pd, NULL, SIZE_MAX, ALL_ACCESS | IBV_ACCESS_ON_DEMAND));
	int i;

	free_key(attack->end, mr->rkey);
	for (i = 0; i < ATTACKS; i++) {
		prefetch(mr, at, 64);
		madvise(at, PAGE, MADV_DONTNEED);
	}
	return NULL;
}

static void attacker(void)
{
	struct attack attacks[ATTACKERS];
	pthread_t threads[ATTACKERS];
	struct end e = {};
	long i;

	drop_privileges();
	set_up(&e, 0, 1, PAGE, -1, IBV_QPT_RC);
	MUST(connect_with(e.qp, path_to(&e, &e)));
	for (i = 0; i < ATTACKERS; i++) {
		attacks[i] = (struct attack){ &e, i };
		MUST(pthread_create(&threads[i], NULL, attack, &attacks[i]));
	}
	for (i = 0; i < ATTACKERS; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

/* Each prefetch causes an invalidation as well. */
static void *victim(void *pd)
{
	char *memory = NEED(mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, memory, PAGES * PAGE, ALL_ACCESS | IBV_ACCESS_ON_DEMAND));
	int i;

	for (i = 0; i < PREFETCHES; i++) {
		memset(memory, 1, PAGES * PAGE);
		MUST(prefetch(mr, memory, PAGES * PAGE));
		MUST(madvise(memory, PAGES * PAGE, MADV_DONTNEED));
	}
	MUST(ibv_dereg_mr(mr));
	return NULL;
}

static void *registrar(void *pd)
{
	char *memory = NEED(mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	int i;

	for (i = 0; i < REGISTRATIONS; i++)
		MUST(ibv_dereg_mr(NEED(ibv_reg_mr(pd, memory, LARGE, ALL_ACCESS | IBV_ACCESS_ON_DEMAND))));
	return NULL;
}

static void *watch(void *context)
{
	struct ibv_async_event event;

	while (!ibv_get_async_event(context, &event)) {
		if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			atomic_store(&fatal, 1);
		ibv_ack_async_event(&event);
	}
	return NULL;
}

int main(void)
{
	pthread_t victims[VICTIMS], other, watcher;
	struct ibv_context *context;
	struct ibv_pd *pd;
	pid_t pid = fork();
	int i, status;

	if (!pid)
		attacker();
	context = open_device(0);
	pd = NEED(ibv_alloc_pd(context));
	MUST(pthread_create(&watcher, NULL, watch, context));
	for (i = 0; i < VICTIMS; i++)
		MUST(pthread_create(&victims[i], NULL, victim, pd));
	MUST(pthread_create(&other, NULL, registrar, pd));
	for (i = 0; i < VICTIMS; i++)
		pthread_join(victims[i], NULL);
	pthread_join(other, NULL);
	if (waitpid(pid, &status, 0) != pid || status)
		fail("the other program ended with status 0x%x", status);
	if (atomic_load(&fatal))
		fail("the device has become fatal");
	pass("MRs of one program are not affected by another one");
}
