// SPDX-License-Identifier: GPL-2.0-only
/*
 * All interleavings of one CQ's events, arming, polling, flushing and freeing. The search makes
 * every move in every world that it reaches, breadth-first, until it finds no new one, and checks
 * each world.
 */
#include <linux/jhash.h>
#include <linux/mm.h>

#include "kernel_kunit.h"
#include "poll_world.h"

/* The largest search below has less than two thirds as many worlds. */
#define MAX_WORLDS	(3 * BIT(16))
#define NUM_BUCKETS	BIT(16)

static const char *const violation_names[] = {
	[NO_VIOLATION] = "none",
	[TWO_OWNERS] = "two owners",
	[MORE_EVENTS_THAN_ARMS] = "more events than arms",
	[TOUCHED_WITHOUT_OWNING] = "touched without owning",
	[TOUCHED_AFTER_FREE] = "touched after free",
	[NOT_GONE] = "not gone after its end in the scheduler",
	[LOST_COMPLETION] = "lost completion",
	[FREE_NEVER_ENDS] = "free never ends",
	[OUT_OF_BOUNDS] = "model out of bounds",
};

static const char *const move_names[] = {
	[HANDLE_EVENT] = "event", [READ_DOORBELL] = "doorbell", [FLUSH] = "flush", [CORE] = "core",
	[CORE_BUDGET] = "core-budget", [RUNNER_0] = "run0", [RUNNER_0_CHOICE] = "run0-yes",
	[RUNNER_1] = "run1", [RUNNER_1_CHOICE] = "run1-yes", [FREE] = "free", [WRITE_CQE] = "cqe",
	[STOP_DEVICE] = "stop", [FLIP] = "flip", [ARM_AS_ULP] = "arm",
};

/**
 * struct node - a world that the search has reached
 * @world: world
 * @parent: index of the world before
 * @next: index of the next one with the same hash; 0: none
 * @move: the move between them
 */
struct node {
	struct world world;
	u32 parent;
	u32 next;
	u8 move;
};

/**
 * struct search - a search
 * @nodes: worlds, the oldest first
 * @buckets: index of the newest world by hash; 0: none
 * @count: number of @nodes
 * @found: a violation
 * @found_at: index of the world that has it
 */
static struct search {
	struct node *nodes;
	u32 *buckets;
	u32 count;
	enum violation found;
	u32 found_at;
} search;

static void add_world(const struct world *w, u32 parent, enum move move)
{
	u32 *bucket = &search.buckets[jhash(w, sizeof(*w), 0) % NUM_BUCKETS];
	struct node *node;
	u32 index;

	for (index = *bucket; index; index = search.nodes[index].next)
		if (!memcmp(&search.nodes[index].world, w, sizeof(*w)))
			return;
	if (search.count == MAX_WORLDS) {
		search.found = OUT_OF_BOUNDS;
		search.found_at = parent;
		return;
	}
	node = &search.nodes[search.count];
	memcpy(&node->world, w, sizeof(*w));
	node->parent = parent;
	node->move = move;
	node->next = *bucket;
	*bucket = search.count++;
	if (w->violation) {
		search.found = w->violation;
		search.found_at = search.count - 1;
	}
}

static void expand(u32 index)
{
	bool has_ended = true;
	struct world w;
	enum move move;

	for (move = 0; move < NUM_MOVES && !search.found; move++) {
		memcpy(&w, &search.nodes[index].world, sizeof(w));
		if (!poll_world_move(&w, move))
			continue;
		if (move < WRITE_CQE || search.nodes[index].world.intruder.step)
			has_ended = false;
		poll_world_check(&w);
		add_world(&w, index, move);
	}
	if (!has_ended || search.found)
		return;
	memcpy(&w, &search.nodes[index].world, sizeof(w));
	poll_world_check_end(&w);
	search.found = w.violation;
	search.found_at = index;
}

static void run_search(const struct model *explored)
{
	static struct world first;
	u32 index;

	memset(search.buckets, 0, NUM_BUCKETS * sizeof(*search.buckets));
	search.count = 1;
	search.found = NO_VIOLATION;
	poll_world_init(&first, explored);
	add_world(&first, 0, NUM_MOVES);
	for (index = 1; index < search.count && !search.found; index++) {
		expand(index);
		cond_resched();
	}
}

/* The moves that led to what was found, the last one first. */
static void show_path(struct kunit *test)
{
	u32 index;

	for (index = search.found_at; index > 1; index = search.nodes[index].parent)
		kunit_info(test, "%s\n", move_names[search.nodes[index].move]);
}

static void expect_no_violation(struct kunit *test, const struct model *explored)
{
	run_search(explored);
	kunit_info(test, "%u worlds\n", search.count - 1);
	KUNIT_EXPECT_STREQ(test, violation_names[NO_VIOLATION], violation_names[search.found]);
	if (search.found)
		show_path(test);
}

static void expect_violation(struct kunit *test, const struct model *explored,
			     enum violation violation)
{
	run_search(explored);
	KUNIT_EXPECT_STREQ(test, violation_names[violation], violation_names[search.found]);
}

/* The scheduler alone, two runners, an event that comes during the arming. */
static void turn_and_events_lose_no_completion(struct kunit *test)
{
	expect_no_violation(test, &(const struct model){
		.completions = 2, .lingers = 1, .batch = 1, .num_runners = 2, .starts_fair = true,
	});
}

static void turn_of_batches_loses_no_completion(struct kunit *test)
{
	expect_no_violation(test, &(const struct model){
		.completions = 2, .batch = 2, .num_runners = 2, .starts_fair = true,
	});
}

static void arming_by_ulp_makes_no_second_owner(struct kunit *test)
{
	expect_no_violation(test, &(const struct model){
		.completions = 1, .batch = 1, .num_runners = 2, .starts_fair = true,
		.intruders = 1,
	});
}

static void events_to_changing_pollers_lose_no_completion(struct kunit *test)
{
	expect_no_violation(test, &(const struct model){
		.completions = 2, .flips = 2, .batch = 1, .num_runners = 1,
	});
}

/* A turn whose CQ is given to the RDMA core, and comes back with an event. */
static void released_cq_loses_no_completion(struct kunit *test)
{
	expect_no_violation(test, &(const struct model){
		.completions = 2, .flips = 2, .batch = 1, .num_runners = 1, .starts_fair = true,
	});
}

/* The arm_sn has two bits: after four events for one arming it would be the same again. */
static void repeated_events_lose_no_completion(struct kunit *test)
{
	expect_no_violation(test, &(const struct model){
		.completions = 2, .repeats = 3, .batch = 1, .num_runners = 1,
	});
}

static void flush_of_dma_off_loses_no_completion(struct kunit *test)
{
	expect_no_violation(test, &(const struct model){
		.completions = 2, .flips = 1, .batch = 2, .num_runners = 1, .can_fail = true,
	});
}

static void free_cq_in_order_ends_untouched(struct kunit *test)
{
	expect_no_violation(test, &(const struct model){
		.completions = 2, .flips = 2, .batch = 2, .num_runners = 1,
		.free_steps = FREE_IN_ORDER,
	});
}

static void free_cq_of_dma_off_ends_untouched(struct kunit *test)
{
	expect_no_violation(test, &(const struct model){
		.completions = 1, .batch = 1, .num_runners = 1, .starts_fair = true,
		.can_fail = true, .free_steps = FREE_IN_ORDER,
	});
}

/* Today's protocol of the RDMA core, with changing pollers. */
static void events_without_arming_have_two_owners(struct kunit *test)
{
	expect_violation(test, &(const struct model){
		.completions = 3, .flips = 2, .batch = 1, .num_runners = 1, .ignores_arming = true,
	}, TWO_OWNERS);
}

/* On kernels without pre_destroy_cq, without what cxib_destroy_cq_kernel() does about it. */
static void free_cq_cancel_first_touches_freed_cq(struct kunit *test)
{
	expect_violation(test, &(const struct model){
		.completions = 1, .batch = 1, .num_runners = 1, .free_steps = FREE_CANCEL_FIRST,
	}, TOUCHED_AFTER_FREE);
}

/* The event after the arming finds the CQ RUNNING, and is dropped. */
static void turn_that_arms_first_loses_completion(struct kunit *test)
{
	expect_violation(test, &(const struct model){
		.completions = 2, .batch = 1, .num_runners = 1, .starts_fair = true,
		.arms_first = true,
	}, LOST_COMPLETION);
}

/* Each end of a turn and the end of all turns in each phase: whether the phase changes. */
struct transition {
	enum cxib_poll_phase from;
	bool quantum, missed, free;
};

static const struct transition transitions[] = {
	{ .from = CXIB_POLL_ARMED, .missed = true },
	{ .from = CXIB_POLL_QUEUED, .free = true },
	{ .from = CXIB_POLL_RUNNING, .quantum = true },
	{ .from = CXIB_POLL_GONE },
};

static void expect_leave(struct kunit *test, enum cxib_poll_phase from, enum cxib_poll_end end,
			 bool has_left)
{
	static const enum cxib_poll_phase nexts[] = { CXIB_POLL_QUEUED, CXIB_POLL_ARMED };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(nexts); i++) {
		atomic_t phase = ATOMIC_INIT(from);

		KUNIT_EXPECT_EQ(test, has_left, cxib_poll_leave(&phase, end, nexts[i]));
		KUNIT_EXPECT_EQ(test, has_left ? nexts[i] : from, atomic_read(&phase));
	}
}

static void transitions_from_each_phase(struct kunit *test)
{
	const struct transition *t;

	for (t = transitions; t < transitions + ARRAY_SIZE(transitions); t++) {
		atomic_t phase = ATOMIC_INIT(t->from);

		expect_leave(test, t->from, CXIB_POLL_END_QUANTUM, t->quantum);
		expect_leave(test, t->from, CXIB_POLL_END_MISSED, t->missed);
		/* The event or who frees the CQ has it. */
		expect_leave(test, t->from, CXIB_POLL_END_ARMED, false);
		expect_leave(test, t->from, CXIB_POLL_END_GONE, false);
		KUNIT_EXPECT_EQ(test, t->free, cxib_poll_free(&phase));
		KUNIT_EXPECT_EQ(test, CXIB_POLL_GONE, atomic_read(&phase));
	}
}

static int poll_state_init(struct kunit *test)
{
	search.nodes = kvmalloc_array(MAX_WORLDS, sizeof(*search.nodes), GFP_KERNEL);
	search.buckets = kvmalloc_array(NUM_BUCKETS, sizeof(*search.buckets), GFP_KERNEL);
	return search.nodes && search.buckets ? 0 : -ENOMEM;
}

static void poll_state_exit(struct kunit *test)
{
	kvfree(search.buckets);
	kvfree(search.nodes);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(transitions_from_each_phase),
	KUNIT_CASE_SLOW(turn_and_events_lose_no_completion),
	KUNIT_CASE_SLOW(turn_of_batches_loses_no_completion),
	KUNIT_CASE_SLOW(arming_by_ulp_makes_no_second_owner),
	KUNIT_CASE_SLOW(events_to_changing_pollers_lose_no_completion),
	KUNIT_CASE_SLOW(released_cq_loses_no_completion),
	KUNIT_CASE_SLOW(repeated_events_lose_no_completion),
	KUNIT_CASE_SLOW(flush_of_dma_off_loses_no_completion),
	KUNIT_CASE_SLOW(free_cq_in_order_ends_untouched),
	KUNIT_CASE_SLOW(free_cq_of_dma_off_ends_untouched),
	KUNIT_CASE(events_without_arming_have_two_owners),
	KUNIT_CASE(free_cq_cancel_first_touches_freed_cq),
	KUNIT_CASE(turn_that_arms_first_loses_completion),
	{}
};

static struct kunit_suite suite = {
	.name = "poll_state",
	.init = poll_state_init,
	.exit = poll_state_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
