// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns of a CQ whose device and ULP follow a script: what the runner polls, how a turn ends, and
 * what an event, a change of the context or the destruction of the CQ does in the middle.
 */
#include <linux/sched.h>
#include <linux/sched/clock.h>

#include "fake_queue_pair.h"
#include "ulp/poll.h"

/* Far longer than a turn of these cases: only the script uses it up. */
#define QUANTUM_US	(4 * USEC_PER_SEC)
#define WEIGHT		16
#define BUSY_POLL_NS	(10ull * NSEC_PER_SEC)
/* A tick that wants to reschedule ends busy polling. */
#define ATTEMPTS	100

/**
 * struct script - a turn
 * @calls: calls of poll_cq and req_notify_cq, with what they return and what happens in them
 * @phase: phase of the CQ after the turn
 * @quantum_ends: whether the turn ends because the quantum is used up
 * @missed: whether a completion was missed
 * @handed_over: number of calls of comp_handler
 *
 * poll_cq returns so many completions: 0 to 8. A batch takes two calls with 8 completions each;
 * fewer say that the CQ is empty. Spaces separate batches. req_notify_cq says that the CQ
 * is armed (a) or that a completion
 * was missed (m). Then follow in the same call: the quantum is used up (o), the CQ may be busy
 * polled (l), an event (e), the CQ is given to the RDMA core (c) or to another runner (r), another
 * CQ waits for the runner (w), the CQ is being destroyed (d).
 */
struct script {
	const char *calls;
	enum cxib_poll_phase phase;
	bool quantum_ends;
	bool missed;
	unsigned int handed_over;
};

/**
 * struct fixture - a CQ and its runner
 * @test: the running case
 * @fake: the CQ and its device
 * @vector: completion vector
 * @other: another runner
 * @waiting: another CQ
 * @poll: scheduling of the CQ
 * @cqe: of all completions
 * @next: rest of the script
 * @differs: a call was not the next one of the script
 * @empty_deficit_ns: time left when the CQ was last found empty; S64_MIN: it was not
 * @num_done: number of completions
 * @handed_over: number of calls of comp_handler
 */
struct fixture {
	struct kunit *test;
	struct fake_queue_pair *fake;
	struct cxib_poll_vector vector;
	struct cxib_poll_runner other;
	struct cxib_poll_entry waiting;
	struct cxib_poll_cq poll;
	struct ib_cqe cqe;
	const char *next;
	bool differs;
	s64 empty_deficit_ns;
	unsigned int num_done;
	unsigned int handed_over;
};

static struct fixture *fixture;

static struct cxib_poll_runner *runner_of_fixture(void)
{
	return &fixture->vector.thread.runner;
}

static void expect_phase(enum cxib_poll_phase expected)
{
	KUNIT_EXPECT_EQ(fixture->test, expected, atomic_read(&fixture->poll.phase));
}

/* An event is never left to the RDMA core while the CQ has a runner. */
static void send_event(void)
{
	KUNIT_EXPECT_EQ(fixture->test, !!fixture->poll.next_runner,
			cxib_poll_runner_queue(&fixture->fake->cq));
}

static void happen(char what)
{
	struct cxib_poll_cq *poll = &fixture->poll;

	switch (what) {
	case 'o':
		poll->entry.deficit_ns = 0;
		break;
	case 'l':
		poll->busy_poll_ns = BUSY_POLL_NS;
		cond_resched();
		break;
	case 'e':
		send_event();
		break;
	case 'c':
		poll->next_runner = NULL;
		break;
	case 'r':
		poll->next_runner = &fixture->other;
		break;
	case 'w':
		cxib_poll_list_add(&runner_of_fixture()->list, &fixture->waiting);
		break;
	default:
		cxib_poll_runner_remove(poll);
	}
}

/* Returns what the script says of this call, which is one of @calls; 0: the script differs. */
static char follow_script(const char *calls)
{
	char result;

	fixture->next = skip_spaces(fixture->next);
	result = *fixture->next;
	if (!result || !strchr(calls, result)) {
		fixture->differs = true;
		return 0;
	}
	fixture->poll.busy_poll_ns = 0;
	for (fixture->next++; *fixture->next && strchr("olecrwd", *fixture->next); fixture->next++)
		happen(*fixture->next);
	return result;
}

static void count_done(struct ib_cq *cq, struct ib_wc *wc)
{
	fixture->num_done++;
}

static int scripted_poll_cq(struct ib_cq *ib, int count, struct ib_wc *wc)
{
	struct cxib_poll_entry *entry = &fixture->poll.entry;
	int i, completed;
	char result;

	KUNIT_EXPECT_EQ(fixture->test, 1, fixture->poll.batch & 1);
	KUNIT_EXPECT_PTR_EQ(fixture->test, current, fixture->poll.done_task);
	/* A look at an empty CQ is free. */
	if (fixture->empty_deficit_ns != S64_MIN)
		KUNIT_EXPECT_EQ(fixture->test, fixture->empty_deficit_ns, entry->deficit_ns);
	result = follow_script("012345678");
	completed = result ? result - '0' : 0;
	KUNIT_ASSERT_LE(fixture->test, completed, count);
	for (i = 0; i < completed; i++)
		wc[i] = (struct ib_wc){ .wr_cqe = &fixture->cqe };
	fixture->empty_deficit_ns = completed ? S64_MIN : entry->deficit_ns;
	return completed;
}

/* The event that takes the arming expects the CQ to be ARMED. */
static int scripted_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags)
{
	KUNIT_EXPECT_EQ(fixture->test, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS, flags);
	KUNIT_EXPECT_FALSE(fixture->test, fixture->poll.batch & 1);
	expect_phase(CXIB_POLL_ARMED);
	return follow_script("am") == 'm';
}

static void count_handed_over(struct ib_cq *cq, void *context)
{
	fixture->handed_over++;
}

/* The case is the entity of both runners: they are active, and need no kick. */
static void reset_runner(struct cxib_poll_runner *runner)
{
	enum cxib_poll_target target = runner->target;

	*runner = (struct cxib_poll_runner){};
	cxib_poll_runner_init(runner, &fixture->vector, target, QUANTUM_US);
	runner->is_active = true;
}

static void reset(void)
{
	struct cxib_poll_cq *poll = &fixture->poll;

	reset_runner(runner_of_fixture());
	reset_runner(&fixture->other);
	cxib_poll_entry_init(&fixture->waiting, 1);
	*poll = (struct cxib_poll_cq){
		.cq = &fixture->fake->cq,
		.vector = &fixture->vector,
		.next_runner = runner_of_fixture(),
		.weight = WEIGHT,
	};
	cxib_reference_init(&poll->reference);
	cxib_poll_entry_init(&poll->entry, WEIGHT);
	fixture->differs = false;
	fixture->empty_deficit_ns = S64_MIN;
	fixture->num_done = 0;
	fixture->handed_over = 0;
}

static void run_turn(const char *calls)
{
	struct cxib_poll_list *list = &runner_of_fixture()->list;
	bool has_others;

	reset();
	send_event();
	expect_phase(CXIB_POLL_QUEUED);
	/* Batches are as long as can be. */
	fixture->poll.entry.cost_ns = 1;
	fixture->next = calls;
	has_others = cxib_poll_runner_turn(runner_of_fixture());
	KUNIT_EXPECT_EQ(fixture->test, has_others,
			!list_empty(&list->fresh) || !list_empty(&list->old));
	KUNIT_EXPECT_EQ(fixture->test, has_others, runner_of_fixture()->is_active);
}

static void expect_turn(const struct script *script)
{
	const struct cxib_poll_cq *poll = &fixture->poll;
	struct kunit *test = fixture->test;
	unsigned int attempt = 0;

	do {
		run_turn(script->calls);
	} while (fixture->differs && strchr(script->calls, 'l') && ++attempt < ATTEMPTS);
	KUNIT_EXPECT_FALSE_MSG(test, fixture->differs, "%s", script->calls);
	KUNIT_EXPECT_STREQ_MSG(test, "", fixture->next, "%s", script->calls);
	KUNIT_EXPECT_EQ_MSG(test, script->phase, atomic_read(&poll->phase), "%s", script->calls);
	KUNIT_EXPECT_EQ_MSG(test, script->phase == CXIB_POLL_QUEUED,
			    !list_empty(&poll->entry.node), "%s", script->calls);
	KUNIT_EXPECT_EQ_MSG(test, 1 + (script->phase == CXIB_POLL_QUEUED),
			    refcount_read(&poll->reference.count), "%s", script->calls);
	KUNIT_EXPECT_EQ_MSG(test, script->handed_over, fixture->handed_over, "%s", script->calls);
	KUNIT_EXPECT_EQ(test, 1, poll->statistics.turns);
	KUNIT_EXPECT_EQ(test, script->quantum_ends, poll->statistics.quantum_ends);
	KUNIT_EXPECT_EQ(test, script->missed, poll->statistics.missed);
	KUNIT_EXPECT_EQ(test, fixture->num_done, poll->statistics.completed);
	KUNIT_EXPECT_NULL(test, poll->done_task);
}

static const struct script turns[] = {
	/* Empty at once: armed; a completion came in between. */
	{ "0a", CXIB_POLL_ARMED },
	{ "0m", CXIB_POLL_QUEUED, .missed = true },
	/* Less than a batch: the CQ was empty. */
	{ "3a", CXIB_POLL_ARMED },
	{ "83a", CXIB_POLL_ARMED },
	/* Full batches, until the quantum is used up. */
	{ "88 88 88o", CXIB_POLL_QUEUED, .quantum_ends = true },
	{ "88 88 0a", CXIB_POLL_ARMED },
	/* Empty, with the quantum used up: not queued again; lingering costs no other CQ. */
	{ "3oa", CXIB_POLL_ARMED },
	{ "3om", CXIB_POLL_QUEUED, .missed = true },
	{ "3ol 1", CXIB_POLL_QUEUED, .quantum_ends = true },
	/* Lingering finds completions; until then it is not charged. */
	{ "0l 0l 88 1l 0m", CXIB_POLL_QUEUED, .missed = true },
	{ "0l 0l 0a", CXIB_POLL_ARMED },
};

static void turn_polls_until_empty_or_over(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(turns); i++)
		expect_turn(&turns[i]);
}

/* The CQ is polled to the end of the turn, but not armed; nothing but the reference is left. */
static const struct script turns_of_destroyed_cq[] = {
	{ "88d 0", CXIB_POLL_GONE },
	{ "88 0dl 0", CXIB_POLL_GONE },
	{ "88d 88o", CXIB_POLL_GONE, .quantum_ends = true },
	{ "0ad", CXIB_POLL_GONE },
	{ "0md", CXIB_POLL_GONE, .missed = true },
	{ "88dc 88o", CXIB_POLL_GONE, .quantum_ends = true },
	/* The event has linked the CQ during the arming. */
	{ "0aed", CXIB_POLL_GONE },
};

static void turn_of_destroyed_cq_drops_reference(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(turns_of_destroyed_cq); i++)
		expect_turn(&turns_of_destroyed_cq[i]);
}

static const struct script turns_with_events[] = {
	/* Of the arming. */
	{ "0ae", CXIB_POLL_QUEUED },
	/* A ULP has armed the CQ while the runner polls it. */
	{ "0ea", CXIB_POLL_ARMED },
	{ "88e 88o", CXIB_POLL_QUEUED, .quantum_ends = true },
	{ "0em", CXIB_POLL_QUEUED, .missed = true },
};

static void turn_with_event_queues_armed_cq_only(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(turns_with_events); i++)
		expect_turn(&turns_with_events[i]);
}

/* What is left goes to the RDMA core like an event; an armed CQ has its own. */
static const struct script turns_of_released_cq[] = {
	{ "88c 88o", CXIB_POLL_ARMED, .quantum_ends = true, .handed_over = 1 },
	{ "0cm", CXIB_POLL_ARMED, .missed = true, .handed_over = 1 },
	{ "0ca", CXIB_POLL_ARMED },
};

static void turn_of_released_cq_hands_over_what_is_left(struct kunit *test)
{
	static const struct script to_other_runner = {
		"88r 88o", CXIB_POLL_QUEUED, .quantum_ends = true,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(turns_of_released_cq); i++)
		expect_turn(&turns_of_released_cq[i]);
	expect_turn(&to_other_runner);
	KUNIT_EXPECT_PTR_EQ(test, &fixture->other, fixture->poll.runner);
	KUNIT_EXPECT_PTR_EQ(test, &fixture->poll.entry, cxib_poll_list_next(&fixture->other.list));
}

/* Other CQs take precedence, and only threads poll an empty CQ. */
static void turn_lingers_in_thread_without_others_only(struct kunit *test)
{
	static const struct script others = { "0lwa", CXIB_POLL_ARMED };
	static const struct script no_thread = { "0la", CXIB_POLL_ARMED };

	expect_turn(&others);
	runner_of_fixture()->target = CXIB_POLL_WORKQUEUE;
	expect_turn(&no_thread);
}

/* What an event does in each phase: the phase after it, and the references to the CQ. */
static void event_queues_armed_cq_only(struct kunit *test)
{
	static const enum cxib_poll_phase after[] = {
		[CXIB_POLL_ARMED] = CXIB_POLL_QUEUED,
		[CXIB_POLL_QUEUED] = CXIB_POLL_QUEUED,
		[CXIB_POLL_RUNNING] = CXIB_POLL_RUNNING,
		[CXIB_POLL_GONE] = CXIB_POLL_GONE,
	};
	struct cxib_poll_cq *poll = &fixture->poll;
	unsigned int phase;

	for (phase = 0; phase < ARRAY_SIZE(after); phase++) {
		reset();
		atomic_set(&poll->phase, phase);
		send_event();
		expect_phase(after[phase]);
		KUNIT_EXPECT_EQ(test, phase == CXIB_POLL_ARMED, !list_empty(&poll->entry.node));
		KUNIT_EXPECT_EQ(test, 1 + (phase == CXIB_POLL_ARMED),
				refcount_read(&poll->reference.count));
	}
}

/* The RDMA core polls an armed CQ; a CQ that a runner has stays with it until its turn ends. */
static void event_of_cq_of_core_leaves_phase(struct kunit *test)
{
	struct cxib_poll_cq *poll = &fixture->poll;
	unsigned int phase;

	for (phase = CXIB_POLL_ARMED; phase <= CXIB_POLL_GONE; phase++) {
		reset();
		atomic_set(&poll->phase, phase);
		poll->runner = runner_of_fixture();
		poll->next_runner = NULL;
		send_event();
		expect_phase(phase);
		KUNIT_EXPECT_EQ(test, phase == CXIB_POLL_ARMED, !poll->runner);
		KUNIT_EXPECT_EQ(test, 1, refcount_read(&poll->reference.count));
	}
}

static void remove_of_queued_cq_unlinks_it(struct kunit *test)
{
	reset();
	send_event();
	cxib_poll_runner_remove(&fixture->poll);
	expect_phase(CXIB_POLL_GONE);
	KUNIT_EXPECT_TRUE(test, list_empty(&fixture->poll.entry.node));
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&fixture->poll.reference.count));
	KUNIT_EXPECT_FALSE(test, cxib_poll_runner_turn(runner_of_fixture()));
	KUNIT_EXPECT_FALSE(test, runner_of_fixture()->is_active);
	KUNIT_EXPECT_EQ(test, 0, fixture->poll.statistics.turns);
}

/* The clocks of two CPUs may differ. */
static void wait_of_clock_that_went_back_is_0(struct kunit *test)
{
	reset();
	send_event();
	fixture->poll.queued_at = local_clock() + NSEC_PER_SEC;
	fixture->next = "0a";
	cxib_poll_runner_turn(runner_of_fixture());
	KUNIT_EXPECT_EQ(test, 0, fixture->poll.statistics.wait_us_max);
	runner_of_fixture()->is_active = true;
	send_event();
	fixture->poll.queued_at = local_clock() - NSEC_PER_SEC;
	fixture->next = "0a";
	cxib_poll_runner_turn(runner_of_fixture());
	KUNIT_EXPECT_GE(test, fixture->poll.statistics.wait_us_max, USEC_PER_SEC);
}

static int poll_runner_init(struct kunit *test)
{
	static const struct cxib_poll_interface polling = { .queue = cxib_poll_runner_queue };

	fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->test = test;
	fixture->fake = fake_queue_pair_create(test);
	fixture->fake->ibdev.ib.ops.poll_cq = scripted_poll_cq;
	fixture->fake->ibdev.ib.ops.req_notify_cq = scripted_req_notify_cq;
	fixture->fake->ibdev.polling = &polling;
	fixture->fake->cq.ib.comp_handler = count_handed_over;
	fixture->fake->cq.poll = &fixture->poll;
	fixture->cqe.done = count_done;
	spin_lock_init(&fixture->vector.lock);
	runner_of_fixture()->target = CXIB_POLL_THREAD;
	fixture->other.target = CXIB_POLL_THREAD;
	return 0;
}

static void poll_runner_exit(struct kunit *test)
{
	fixture->fake->cq.poll = NULL;
}

static struct kunit_case cases[] = {
	KUNIT_CASE(turn_polls_until_empty_or_over),
	KUNIT_CASE(turn_of_destroyed_cq_drops_reference),
	KUNIT_CASE(turn_with_event_queues_armed_cq_only),
	KUNIT_CASE(turn_of_released_cq_hands_over_what_is_left),
	KUNIT_CASE(turn_lingers_in_thread_without_others_only),
	KUNIT_CASE(event_queues_armed_cq_only),
	KUNIT_CASE(event_of_cq_of_core_leaves_phase),
	KUNIT_CASE(remove_of_queued_cq_unlinks_it),
	KUNIT_CASE(wait_of_clock_that_went_back_is_0),
	{}
};

static struct kunit_suite suite = {
	.name = "poll_runner",
	.init = poll_runner_init,
	.exit = poll_runner_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
