// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A user with a small RLIMIT_MEMLOCK. Expected: no page beyond the limit is pinned. The pages of
 * MRs, reregistered MRs and resized queues, and of objects whose creation failed, are released with
 * them. A child that uses the parent's context has its own account.
 */
#include "verbs_pair.h"

#define LIMIT (2UL << 20)
#define UNPRIVILEGED_ID 65534
#define ROUNDS 20
#define ENTRIES_BEYOND_LIMIT (1 << 16) /* of 64 bytes */

static long pinned(void)
{
	char line[256];
	FILE *file = NEED(fopen("/proc/self/status", "r"));
	long value = -1;

	while (fgets(line, sizeof(line), file))
		sscanf(line, "VmPin: %ld", &value);
	fclose(file);
	return value;
}

static void expect(long wanted, const char *after)
{
	if (pinned() != wanted)
		fail("%ld kB are pinned after %s, before there were %ld", pinned(), after, wanted);
}

static void register_again_and_again(struct end *end)
{
	struct ibv_mr *mr;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		mr = NEED(ibv_reg_mr(end->pd, end->memory, LIMIT / 2, ALL_ACCESS));
		if (ibv_reg_mr(end->pd, end->memory, LIMIT, ALL_ACCESS))
			fail("more than the limit can be registered");
		MUST(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, end->memory + LIMIT / 4, LIMIT / 8, 0));
		if (!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, end->memory, LIMIT + LIMIT / 2, 0))
			fail("more than the limit can be registered again");
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE);
		MUST(ibv_dereg_mr(mr));
	}
}

static void resize_again_and_again(struct end *end)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(end->context, 100, NULL, NULL, 0));
	int i;

	for (i = 0; i < ROUNDS; i++) {
		MUST(ibv_resize_cq(cq, 4000));
		if (!ibv_resize_cq(cq, ENTRIES_BEYOND_LIMIT))
			fail("a CQ beyond the limit is accepted");
		MUST(ibv_resize_cq(cq, 100));
		/*
		 * The device counts the CQEs that end the old rings until the CI doorbell passes
		 * them.
		 */
		if (ibv_poll_cq(cq, 1, &(struct ibv_wc){}))
			fail("a completion comes out of an empty queue");
	}
	MUST(ibv_destroy_cq(cq));
}

static void create_again_and_again(struct end *end)
{
	struct ibv_srq_init_attr beyond_limit = { .attr = { 30000, 8, 0 } }, small = { .attr = { 100, 1, 0 } };
	int i;

	for (i = 0; i < ROUNDS; i++) {
		if (ibv_create_cq(end->context, ENTRIES_BEYOND_LIMIT, NULL, NULL, 0))
			fail("a CQ beyond the limit is accepted");
		if (ibv_create_srq(end->pd, &beyond_limit))
			fail("an SRQ beyond the limit is accepted");
		MUST(ibv_destroy_srq(NEED(ibv_create_srq(end->pd, &small))));
		MUST(ibv_destroy_qp(make_qp(end, IBV_QPT_RC)));
	}
}

static void register_in_child(struct end *end)
{
	struct ibv_mr *mr;
	int status;

	if (!fork()) {
		mr = ibv_reg_mr(end->pd, end->memory, LIMIT / 2, ALL_ACCESS);
		_exit(!mr || ibv_dereg_mr(mr) || pinned());
	}
	wait(&status);
	if (status)
		fail("a child cannot register within its own limit, or something stays");
}

int main(void)
{
	struct rlimit limit = { LIMIT, LIMIT };
	struct end end = {};
	long before;

	shell("chmod 666 /dev/infiniband/uverbs*");
	MUST(setrlimit(RLIMIT_MEMLOCK, &limit));
	MUST(setgid(UNPRIVILEGED_ID));
	MUST(setuid(UNPRIVILEGED_ID));
	set_up(&end, 0, 1, 0, -1, IBV_QPT_RC);
	if (pinned() <= 0)
		fail("the memory of queues is not counted");
	end.memory = NEED(mmap(NULL, 2 * LIMIT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	before = pinned();
	register_again_and_again(&end);
	expect(before, "regions");
	resize_again_and_again(&end);
	expect(before, "resized queues");
	create_again_and_again(&end);
	expect(before, "objects that could not be made");
	register_in_child(&end);
	expect(before, "a child");
	pass("the limit is given back");
}
