// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns of the CQs of one vector, on a clock that the test moves: waits, shares of the time, debts,
 * wrong clocks, entries that are removed.
 */
#include <linux/prandom.h>

#include "kernel_kunit.h"
#include "ulp/poll_list.h"

#define US		NSEC_PER_USEC
#define QUANTUM_NS	(50 * US)
#define MAX_CQS		24
#define NEVER		S64_MAX

/**
 * struct model_cq - a CQ and the ULP that fills it
 * @entry: what is tested
 * @cost_ns: a completion costs up to this, and at least @min_cost_ns
 * @min_cost_ns: see @cost_ns
 * @period_ns: time between two completions, half more or less; 0: the CQ is always full
 * @arrival: when the next one arrives
 * @pending: completions that have arrived
 * @waiting_since: when it began to wait for its turn
 * @waits: it waits
 * @allowed_ns: what it may wait this time
 * @ran_ns: time that its completions have taken
 * @longest_turn_ns: the longest turn
 * @longest_wait_ns: the longest wait
 * @too_long: waits that were longer than @allowed_ns
 * @turns: turns
 */
struct model_cq {
	struct cxib_poll_entry entry;
	u32 cost_ns;
	u32 min_cost_ns;
	u64 period_ns;
	s64 arrival;
	u64 pending;
	s64 waiting_since;
	bool waits;
	u64 allowed_ns;
	u64 ran_ns;
	u64 longest_turn_ns;
	u64 longest_wait_ns;
	u64 too_long;
	u64 turns;
};

/**
 * struct model - a vector
 * @list: what is tested
 * @random: costs and arrivals
 * @now: the clock
 * @cqs: the CQs
 * @count: number of @cqs
 * @round: of the list, when last seen
 * @went_back: how often the list's round was smaller than before
 */
struct model {
	struct cxib_poll_list list;
	struct rnd_state random;
	s64 now;
	struct model_cq cqs[MAX_CQS];
	unsigned int count;
	unsigned long round;
	unsigned int went_back;
};

static int poll_list_init(struct kunit *test)
{
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, model);
	cxib_poll_list_init(&model->list, QUANTUM_NS);
	prandom_seed_state(&model->random, 1);
	test->priv = model;
	return 0;
}

static struct model_cq *to_model_cq(struct cxib_poll_entry *entry)
{
	return container_of(entry, struct model_cq, entry);
}

static u64 random_below(struct model *model, u64 limit)
{
	u64 value = (u64)prandom_u32_state(&model->random) << 32;

	return limit ? (value | prandom_u32_state(&model->random)) % limit : 0;
}

/* What one turn of the CQ may take when its completions always cost the same. */
static u64 turn_and_done_ns(const struct model *model, const struct model_cq *cq)
{
	return (u64)model->list.quantum_ns * cq->entry.weight + cq->cost_ns;
}

static u64 others_ns(const struct model *model, const struct model_cq *cq)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < model->count; i++)
		if (&model->cqs[i] != cq)
			sum += turn_and_done_ns(model, &model->cqs[i]);
	return sum;
}

static struct model_cq *add_cq(struct model *model, u32 cost_ns, u32 weight, u64 period_ns)
{
	struct model_cq *cq = &model->cqs[model->count++];

	cxib_poll_entry_init(&cq->entry, weight);
	cq->cost_ns = cost_ns;
	cq->min_cost_ns = cost_ns;
	cq->period_ns = period_ns;
	cq->arrival = period_ns ? model->now + random_below(model, period_ns) : NEVER;
	cq->pending = period_ns ? 0 : 1;
	cq->allowed_ns = U64_MAX;
	return cq;
}

static void wait_for_turn(struct model *model, struct model_cq *cq, s64 since)
{
	cq->waits = true;
	cq->waiting_since = since;
}

/* Completions that have arrived by now; the first one in an empty CQ raises the event. */
static void arrive(struct model *model)
{
	unsigned int i;

	for (i = 0; i < model->count; i++) {
		struct model_cq *cq = &model->cqs[i];

		while (cq->arrival <= model->now) {
			if (!cq->pending++ && !cq->waits)
				wait_for_turn(model, cq, cq->arrival);
			cq->arrival += cq->period_ns / 2 + random_below(model, cq->period_ns);
		}
	}
}

/* In the order of their arrival. */
static void raise_events(struct model *model, const struct model_cq *running)
{
	struct model_cq *first;
	unsigned int i;

	do {
		first = NULL;
		for (i = 0; i < model->count; i++) {
			struct model_cq *cq = &model->cqs[i];

			if (cq != running && cq->waits && list_empty(&cq->entry.node) &&
			    (!first || cq->waiting_since < first->waiting_since))
				first = cq;
		}
		if (first)
			cxib_poll_list_add(&model->list, &first->entry);
	} while (first);
}

static void pass(struct model *model, s64 ns, const struct model_cq *running)
{
	model->now += ns;
	arrive(model);
	raise_events(model, running);
}

static u64 batch_cost(struct model *model, struct model_cq *cq, unsigned int completions)
{
	u64 cost = 0;

	while (completions--)
		cost += cq->min_cost_ns + random_below(model, cq->cost_ns - cq->min_cost_ns + 1);
	return cost;
}

static void note_wait(struct model *model, struct model_cq *cq)
{
	u64 waited = model->now - cq->waiting_since;

	cq->waits = false;
	cq->turns++;
	cq->longest_wait_ns = max(cq->longest_wait_ns, waited);
	cq->too_long += waited > cq->allowed_ns;
}

/* One turn of the next CQ; the clock moves on by its length. */
static void run_turn(struct model *model, struct model_cq *cq)
{
	s64 start = model->now;
	bool is_over = false;

	note_wait(model, cq);
	while (!is_over && cq->pending) {
		unsigned int batch = cxib_poll_entry_batch(&cq->entry);
		u64 cost;

		if (cq->period_ns)
			batch = min_t(u64, batch, cq->pending);
		cost = batch_cost(model, cq, batch);
		if (cq->period_ns)
			cq->pending -= batch;
		cq->ran_ns += cost;
		pass(model, cost, cq);
		is_over = cxib_poll_entry_charge(&cq->entry, batch, cost);
	}
	cq->longest_turn_ns = max_t(u64, cq->longest_turn_ns, model->now - start);
	if (cq->pending) {
		wait_for_turn(model, cq, model->now);
		cxib_poll_list_requeue(&model->list, &cq->entry);
	}
	raise_events(model, NULL);
}

static s64 next_arrival(const struct model *model)
{
	s64 next = NEVER;
	unsigned int i;

	for (i = 0; i < model->count; i++)
		next = min(next, model->cqs[i].arrival);
	return next;
}

static void start(struct model *model)
{
	unsigned int i;

	for (i = 0; i < model->count; i++)
		if (model->cqs[i].pending)
			wait_for_turn(model, &model->cqs[i], model->now);
	pass(model, 0, NULL);
}

static void run_for(struct model *model, u64 ns)
{
	s64 end = model->now + ns;

	while (model->now < end) {
		struct cxib_poll_entry *entry = cxib_poll_list_next(&model->list);

		model->went_back += model->list.round < model->round;
		model->round = model->list.round;
		if (entry)
			run_turn(model, to_model_cq(entry));
		else
			pass(model, next_arrival(model) - model->now, NULL);
	}
}

static u64 total_ns(const struct model *model)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < model->count; i++)
		sum += model->cqs[i].ran_ns;
	return sum;
}

/* Each CQ has had the share of the time that its weight gives it, within 5 %. */
static void expect_shares(struct kunit *test, const struct model *model)
{
	u64 weights = 0;
	unsigned int i;

	for (i = 0; i < model->count; i++)
		weights += model->cqs[i].entry.weight;
	for (i = 0; i < model->count; i++) {
		const struct model_cq *cq = &model->cqs[i];
		u64 due = div_u64(total_ns(model) * cq->entry.weight, weights);

		KUNIT_EXPECT_GE_MSG(test, cq->ran_ns * 100, due * 95, "CQ %u", i);
		KUNIT_EXPECT_LE_MSG(test, cq->ran_ns * 100, due * 105, "CQ %u", i);
	}
}

/* Ten turns only show that each CQ was served; all loads here give it more. */
static void expect_waits_allowed(struct kunit *test, const struct model *model)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(test, 0, model->went_back);
	for (i = 0; i < model->count; i++) {
		const struct model_cq *cq = &model->cqs[i];

		KUNIT_EXPECT_GT_MSG(test, cq->turns, 10, "CQ %u", i);
		KUNIT_EXPECT_EQ_MSG(test, cq->too_long, 0, "CQ %u waited up to %llu ns of %llu", i,
				    cq->longest_wait_ns, cq->allowed_ns);
	}
}

static void next_empty_list_returns_null(struct kunit *test)
{
	struct model *model = test->priv;

	KUNIT_EXPECT_NULL(test, cxib_poll_list_next(&model->list));
}

static void add_idle_cq_is_served_before_full_ones(struct kunit *test)
{
	struct model *model = test->priv;
	struct model_cq *full = add_cq(model, US, 1, 0);
	struct model_cq *idle = add_cq(model, US, 1, 0);

	cxib_poll_list_requeue(&model->list, &full->entry);
	cxib_poll_list_add(&model->list, &idle->entry);
	KUNIT_EXPECT_PTR_EQ(test, &idle->entry, cxib_poll_list_next(&model->list));
	KUNIT_EXPECT_PTR_EQ(test, &full->entry, cxib_poll_list_next(&model->list));
}

static void add_twice_per_round_waits_for_full_cqs(struct kunit *test)
{
	struct model *model = test->priv;
	struct model_cq *full = add_cq(model, US, 1, 0);
	struct model_cq *idle = add_cq(model, US, 1, 0);

	cxib_poll_list_requeue(&model->list, &full->entry);
	cxib_poll_list_add(&model->list, &idle->entry);
	KUNIT_ASSERT_PTR_EQ(test, &idle->entry, cxib_poll_list_next(&model->list));
	cxib_poll_list_add(&model->list, &idle->entry);
	KUNIT_EXPECT_PTR_EQ(test, &full->entry, cxib_poll_list_next(&model->list));
	/* Both were waiting when this round began: the CQ that empties has had no turn in it. */
	cxib_poll_list_requeue(&model->list, &full->entry);
	KUNIT_EXPECT_PTR_EQ(test, &idle->entry, cxib_poll_list_next(&model->list));
}

static void add_once_per_round_is_always_fresh(struct kunit *test)
{
	struct model *model = test->priv;
	struct model_cq *full = add_cq(model, US, 1, 0);
	struct model_cq *idle = add_cq(model, US, 1, 0);
	unsigned int i;

	cxib_poll_list_requeue(&model->list, &full->entry);
	for (i = 0; i < 5; i++) {
		KUNIT_ASSERT_PTR_EQ(test, &full->entry, cxib_poll_list_next(&model->list));
		cxib_poll_list_requeue(&model->list, &full->entry);
		cxib_poll_list_add(&model->list, &idle->entry);
		KUNIT_ASSERT_PTR_EQ(test, &idle->entry, cxib_poll_list_next(&model->list));
	}
}

static void batch_of_unknown_cost_is_1(struct kunit *test)
{
	struct model *model = test->priv;
	struct model_cq *cq = add_cq(model, US, 16, 0);

	cxib_poll_list_add(&model->list, &cq->entry);
	cxib_poll_list_next(&model->list);
	KUNIT_EXPECT_EQ(test, 1, cxib_poll_entry_batch(&cq->entry));
}

struct batch {
	const char *name;
	unsigned int completions;
	u64 ns;
	unsigned int batch;
};

/* Charged so far of a turn of 50 us, and what fits the rest. */
static const struct batch batches[] = {
	{ "1 of 1 us: the limit", 1, US, 16 },
	{ "1 of 5 us: 45 us are left", 1, 5 * US, 9 },
	{ "1 of 20 us: 30 us are left", 1, 20 * US, 1 },
	{ "2 of 10 us: 30 us are left", 2, 20 * US, 3 },
	{ "1 of 49 us: 1 us is left", 1, 49 * US, 1 },
	{ "1 of 60 us: nothing is left", 1, 60 * US, 1 },
	{ "0 in 10 us: still unknown", 0, 10 * US, 1 },
};

static void describe_batch(const struct batch *batch, char *description)
{
	strscpy(description, batch->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(batch, batches, describe_batch);

static void batch_fits_rest_of_turn(struct kunit *test)
{
	const struct batch *batch = test->param_value;
	struct model *model = test->priv;
	struct model_cq *cq = add_cq(model, US, 1, 0);

	cxib_poll_list_add(&model->list, &cq->entry);
	cxib_poll_list_next(&model->list);
	cxib_poll_entry_charge(&cq->entry, batch->completions, batch->ns);
	KUNIT_EXPECT_EQ(test, batch->batch, cxib_poll_entry_batch(&cq->entry));
}

/* The estimate rises with one batch, so the next one does not overrun the turn by a multiple. */
static void batch_after_costs_rose_is_small(struct kunit *test)
{
	struct model *model = test->priv;
	struct model_cq *cq = add_cq(model, US, 16, 0);
	unsigned int i;

	cxib_poll_list_add(&model->list, &cq->entry);
	cxib_poll_list_next(&model->list);
	for (i = 0; i < 10; i++)
		cxib_poll_entry_charge(&cq->entry, 16, 16 * US);
	KUNIT_EXPECT_EQ(test, 16, cxib_poll_entry_batch(&cq->entry));
	cxib_poll_entry_charge(&cq->entry, 1, 400 * US);
	/* 16 quanta of 50 us, less 160 and 400: 240 us are left. */
	KUNIT_EXPECT_EQ(test, 1, cxib_poll_entry_batch(&cq->entry));
	KUNIT_EXPECT_FALSE(test, cxib_poll_entry_charge(&cq->entry, 1, 239 * US));
	KUNIT_EXPECT_TRUE(test, cxib_poll_entry_charge(&cq->entry, 1, US));
}

/* A CQ that costs little again after one slow completion has full batches again. */
static void batch_after_costs_fell_grows(struct kunit *test)
{
	struct model *model = test->priv;
	struct model_cq *cq = add_cq(model, US, 16, 0);
	unsigned int i;

	cxib_poll_list_add(&model->list, &cq->entry);
	cxib_poll_list_next(&model->list);
	cxib_poll_entry_charge(&cq->entry, 1, 400 * US);
	for (i = 0; i < 100; i++)
		cxib_poll_entry_charge(&cq->entry, 1, US);
	KUNIT_EXPECT_EQ(test, 16, cxib_poll_entry_batch(&cq->entry));
}

/* As poll_list.h says: the only fresh CQ waits for the running turn. */
static void idle_cq_among_full_ones_waits_for_one_turn(struct kunit *test)
{
	static const u32 costs_us[] = { 5, 5, 10, 20, 20, 50, 100 };
	struct model *model = test->priv;
	struct model_cq *idle;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(costs_us); i++)
		add_cq(model, costs_us[i] * US, 1, 0);
	idle = add_cq(model, 2 * US, 1, 5 * NSEC_PER_MSEC);
	idle->allowed_ns = QUANTUM_NS + 100 * US;
	start(model);
	run_for(model, NSEC_PER_SEC);
	KUNIT_EXPECT_GT(test, idle->turns, 100);
	KUNIT_EXPECT_EQ(test, 0, model->went_back);
	KUNIT_EXPECT_EQ_MSG(test, 0, idle->too_long, "waited up to %llu ns",
			    idle->longest_wait_ns);
	/* The full ones share what is left. */
	model->count = ARRAY_SIZE(costs_us);
	expect_shares(test, model);
}

static void full_cq_among_full_ones_waits_for_one_turn_of_each(struct kunit *test)
{
	static const u32 costs_us[] = { 1, 5, 10, 20, 30, 45, 50 };
	struct model *model = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(costs_us); i++)
		add_cq(model, costs_us[i] * US, 1 + i % 3, 0);
	for (i = 0; i < model->count; i++)
		model->cqs[i].allowed_ns = others_ns(model, &model->cqs[i]);
	start(model);
	run_for(model, NSEC_PER_SEC);
	expect_waits_allowed(test, model);
	for (i = 0; i < model->count; i++)
		KUNIT_EXPECT_LE(test, model->cqs[i].longest_turn_ns,
				turn_and_done_ns(model, &model->cqs[i]));
}

static void add_random_cq(struct model *model)
{
	u32 cost_ns = 100 + random_below(model, QUANTUM_NS - 100);
	u32 weight = 1 + random_below(model, 4);
	u64 period_ns = 10 * US + random_below(model, NSEC_PER_MSEC);

	add_cq(model, cost_ns, weight, random_below(model, 3) ? period_ns : 0);
}

/* A CQ that empties may have two turns between two of one that stays full, see poll_list.h. */
static void random_arrivals_starve_no_cq(struct kunit *test)
{
	struct model *model = test->priv;
	unsigned int seed;

	for (seed = 1; seed <= 30; seed++) {
		unsigned int i;

		*model = (struct model){};
		cxib_poll_list_init(&model->list, QUANTUM_NS);
		prandom_seed_state(&model->random, seed);
		while (model->count < 4 + seed % 20)
			add_random_cq(model);
		for (i = 0; i < model->count; i++)
			model->cqs[i].allowed_ns = 2 * others_ns(model, &model->cqs[i]);
		start(model);
		run_for(model, 300 * NSEC_PER_MSEC);
		expect_waits_allowed(test, model);
	}
}

/* A batch may overrun its turn when costs vary, so this is about shares, not about single waits. */
static void weights_with_random_costs_are_kept(struct kunit *test)
{
	static const u32 weights[] = { 1, 2, 4, 16, 1, 3 };
	static const u32 costs_us[] = { 100, 5, 50, 20, 1, 70 };
	struct model *model = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(weights); i++)
		add_cq(model, costs_us[i] * US, weights[i], 0)->min_cost_ns = 100;
	start(model);
	run_for(model, NSEC_PER_SEC);
	expect_shares(test, model);
}

static void weight_change_applies_from_next_turn(struct kunit *test)
{
	struct model *model = test->priv;
	struct model_cq *cq = add_cq(model, 5 * US, 1, 0);
	struct model_cq *other = add_cq(model, 5 * US, 1, 0);

	start(model);
	run_for(model, 100 * NSEC_PER_MSEC);
	cq->entry.weight = 16;
	cq->ran_ns = 0;
	other->ran_ns = 0;
	run_for(model, 500 * NSEC_PER_MSEC);
	expect_shares(test, model);
}

static void quantum_change_applies_from_next_turn(struct kunit *test)
{
	static const u32 quanta_us[] = { 10, 2000, 50, 2000, 10 };
	struct model *model = test->priv;
	unsigned int i, j;

	for (i = 0; i < 5; i++)
		add_cq(model, (1 + 2 * i) * US, 1 + i, 0);
	start(model);
	for (i = 0; i < ARRAY_SIZE(quanta_us); i++) {
		model->list.quantum_ns = quanta_us[i] * US;
		/* The running turn has been requeued: after one round all waits are new. */
		run_for(model, 100 * NSEC_PER_MSEC);
		for (j = 0; j < model->count; j++) {
			struct model_cq *cq = &model->cqs[j];

			cq->allowed_ns = others_ns(model, cq);
			cq->longest_turn_ns = 0;
			cq->ran_ns = 0;
		}
		run_for(model, 2 * NSEC_PER_SEC);
		expect_waits_allowed(test, model);
		expect_shares(test, model);
		for (j = 0; j < model->count; j++) {
			KUNIT_EXPECT_LE(test, model->cqs[j].longest_turn_ns,
					turn_and_done_ns(model, &model->cqs[j]));
			model->cqs[j].allowed_ns = U64_MAX;
		}
	}
}

struct extreme {
	u32 weight;
	u32 quantum_us;
	u32 cost_ns;
};

/* The limits of weight and quantum; completions that cost less and more than any should. */
static const struct extreme extremes[] = {
	{ 1, 10, 1 },
	{ 1, 10, 10 * NSEC_PER_MSEC },
	{ 1, 2000, 1 },
	{ 1, 2000, 10 * NSEC_PER_MSEC },
	{ 16, 10, 1 },
	{ 16, 10, 10 * NSEC_PER_MSEC },
	{ 16, 2000, 1 },
	{ 16, 2000, 10 * NSEC_PER_MSEC },
};

static void describe_extreme(const struct extreme *extreme, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "weight %u, quantum %u us, done() %u ns",
		 extreme->weight, extreme->quantum_us, extreme->cost_ns);
}

KUNIT_ARRAY_PARAM(extreme, extremes, describe_extreme);

static void extreme_values_starve_no_cq(struct kunit *test)
{
	const struct extreme *extreme = test->param_value;
	struct model *model = test->priv;
	struct model_cq *extreme_cq, *plain;

	model->list.quantum_ns = extreme->quantum_us * US;
	extreme_cq = add_cq(model, extreme->cost_ns, extreme->weight, 0);
	plain = add_cq(model, 20 * US, 1, 0);
	start(model);
	if (extreme->cost_ns >= CXIB_POLL_MIN_COST_NS) {
		run_for(model, 400 * turn_and_done_ns(model, extreme_cq));
		expect_shares(test, model);
	} else {
		/* Charged as CXIB_POLL_MIN_COST_NS: a turn takes 1/16 of its time. */
		run_for(model, 4 * (turn_and_done_ns(model, extreme_cq) / CXIB_POLL_MIN_COST_NS +
				    turn_and_done_ns(model, plain)));
	}
	KUNIT_EXPECT_GT(test, extreme_cq->turns, 2);
	KUNIT_EXPECT_GT(test, plain->turns, 2);
	KUNIT_EXPECT_LE(test, plain->longest_wait_ns, turn_and_done_ns(model, extreme_cq));
}

/* Between its single completions the CQ is empty, but each is longer than many quanta. */
static void expensive_cq_that_empties_has_its_share_only(struct kunit *test)
{
	struct model *model = test->priv;
	struct model_cq *expensive;
	unsigned int i;

	for (i = 0; i < 3; i++)
		add_cq(model, 10 * US, 1, 0);
	expensive = add_cq(model, 5 * NSEC_PER_MSEC, 1, NSEC_PER_MSEC);
	expensive->arrival = NEVER;
	start(model);
	for (i = 0; i < 100; i++) {
		/* At once, or after the others have had one more turn each. */
		if (i % 2)
			run_for(model, 3 * QUANTUM_NS);
		expensive->arrival = model->now;
		pass(model, 0, NULL);
		expensive->arrival = NEVER;
		while (expensive->pending)
			run_for(model, 1);
	}
	expect_shares(test, model);
}

static void expensive_cq_after_idle_list_is_fresh(struct kunit *test)
{
	struct model *model = test->priv;
	struct model_cq *expensive = add_cq(model, US, 1, 0);
	struct model_cq *full = add_cq(model, US, 1, 0);

	cxib_poll_list_add(&model->list, &expensive->entry);
	cxib_poll_list_next(&model->list);
	cxib_poll_entry_charge(&expensive->entry, 1, S64_MAX);
	KUNIT_ASSERT_NULL(test, cxib_poll_list_next(&model->list));
	cxib_poll_list_requeue(&model->list, &full->entry);
	cxib_poll_list_add(&model->list, &expensive->entry);
	KUNIT_EXPECT_PTR_EQ(test, &expensive->entry, cxib_poll_list_next(&model->list));
}

/* Of a CQ that has used 60 us of its 50, and a full one, which has had a number of turns since. */
static struct model_cq *make_debtor(struct kunit *test, struct model_cq *full, unsigned int turns)
{
	struct model *model = test->priv;
	struct model_cq *debtor = add_cq(model, US, 1, 0);

	cxib_poll_list_requeue(&model->list, &full->entry);
	cxib_poll_list_add(&model->list, &debtor->entry);
	KUNIT_ASSERT_PTR_EQ(test, &debtor->entry, cxib_poll_list_next(&model->list));
	cxib_poll_entry_charge(&debtor->entry, 1, 60 * US);
	while (turns--) {
		KUNIT_ASSERT_PTR_EQ(test, &full->entry, cxib_poll_list_next(&model->list));
		cxib_poll_list_requeue(&model->list, &full->entry);
	}
	cxib_poll_list_add(&model->list, &debtor->entry);
	return debtor;
}

/* In the next round it would have a turn of 40 us. The round after that pays the debt. */
static void debtor_in_next_round_is_not_fresh(struct kunit *test)
{
	struct model *model = test->priv;
	struct model_cq *full = add_cq(model, US, 1, 0);
	struct model_cq *debtor = make_debtor(test, full, 1);

	KUNIT_EXPECT_PTR_EQ(test, &full->entry, cxib_poll_list_next(&model->list));
	KUNIT_EXPECT_PTR_EQ(test, &debtor->entry, cxib_poll_list_next(&model->list));
	KUNIT_EXPECT_EQ(test, QUANTUM_NS, debtor->entry.deficit_ns);
}

static void debtor_after_round_without_turn_is_fresh(struct kunit *test)
{
	struct model *model = test->priv;
	struct model_cq *full = add_cq(model, US, 1, 0);
	struct model_cq *debtor = make_debtor(test, full, 2);

	KUNIT_EXPECT_PTR_EQ(test, &debtor->entry, cxib_poll_list_next(&model->list));
	KUNIT_EXPECT_EQ(test, QUANTUM_NS, debtor->entry.deficit_ns);
}

/* 100 us of 50: one quantum pays the debt, and does not buy a turn as well. */
static void debt_of_one_quantum_costs_one_turn(struct kunit *test)
{
	struct model *model = test->priv;
	struct model_cq *debtor = add_cq(model, US, 1, 0);
	struct model_cq *full = add_cq(model, US, 1, 0);

	cxib_poll_list_add(&model->list, &debtor->entry);
	cxib_poll_list_next(&model->list);
	cxib_poll_entry_charge(&debtor->entry, 1, 2 * QUANTUM_NS);
	cxib_poll_list_requeue(&model->list, &debtor->entry);
	cxib_poll_list_requeue(&model->list, &full->entry);
	KUNIT_EXPECT_PTR_EQ(test, &full->entry, cxib_poll_list_next(&model->list));
	cxib_poll_list_requeue(&model->list, &full->entry);
	KUNIT_EXPECT_PTR_EQ(test, &debtor->entry, cxib_poll_list_next(&model->list));
}

/* 160 us of 50 leave a debt of two quanta and 10 us, which shorten the turn after that. */
static void repay_lone_debtor_takes_call_per_quantum(struct kunit *test)
{
	struct model *model = test->priv;
	struct model_cq *debtor = add_cq(model, US, 1, 0);

	KUNIT_EXPECT_FALSE(test, cxib_poll_list_repay(&model->list));
	cxib_poll_list_add(&model->list, &debtor->entry);
	KUNIT_EXPECT_FALSE(test, cxib_poll_list_repay(&model->list));
	cxib_poll_list_next(&model->list);
	cxib_poll_entry_charge(&debtor->entry, 1, 3 * QUANTUM_NS + 10 * US);
	cxib_poll_list_requeue(&model->list, &debtor->entry);
	KUNIT_EXPECT_TRUE(test, cxib_poll_list_repay(&model->list));
	KUNIT_EXPECT_TRUE(test, cxib_poll_list_repay(&model->list));
	KUNIT_EXPECT_FALSE(test, cxib_poll_list_repay(&model->list));
	KUNIT_EXPECT_PTR_EQ(test, &debtor->entry, cxib_poll_list_next(&model->list));
	KUNIT_EXPECT_EQ(test, QUANTUM_NS - 10 * US, debtor->entry.deficit_ns);
}

/* Saved time would let a CQ that was idle for long take all of it at once. */
static void unused_time_of_turn_is_not_saved(struct kunit *test)
{
	struct model *model = test->priv;
	struct model_cq *cq = add_cq(model, US, 2, 0);
	unsigned int i;

	for (i = 0; i < 5; i++) {
		cxib_poll_list_add(&model->list, &cq->entry);
		cxib_poll_list_next(&model->list);
		KUNIT_EXPECT_EQ(test, 2 * QUANTUM_NS, cq->entry.deficit_ns);
		cxib_poll_entry_charge(&cq->entry, 1, US);
	}
	for (i = 0; i < 5; i++) {
		cxib_poll_list_requeue(&model->list, &cq->entry);
		cxib_poll_list_next(&model->list);
		KUNIT_EXPECT_EQ(test, 2 * QUANTUM_NS, cq->entry.deficit_ns);
		cxib_poll_entry_charge(&cq->entry, 1, US);
	}
}

static void charge_of_clock_that_does_not_advance_ends_turn(struct kunit *test)
{
	static const s64 readings[] = { 0, -1, -NSEC_PER_SEC, S64_MIN };
	struct model *model = test->priv;
	struct model_cq *cq = add_cq(model, US, 1, 0);
	unsigned int i;

	cxib_poll_list_add(&model->list, &cq->entry);
	for (i = 0; i < ARRAY_SIZE(readings); i++) {
		u64 completions = 0;
		bool is_over;

		cxib_poll_list_next(&model->list);
		do {
			completions += 16;
			is_over = cxib_poll_entry_charge(&cq->entry, 16, readings[i]);
		} while (!is_over && completions < 100000);
		/* 50 us at 16 ns each, rounded up to whole batches. */
		KUNIT_EXPECT_EQ(test, 3136, completions);
		cxib_poll_list_requeue(&model->list, &cq->entry);
		cq->entry.deficit_ns = 0;
	}
}

/* The CQ that a guest was polling when it was stopped for a year. */
static void charge_of_clock_that_jumped_is_limited(struct kunit *test)
{
	static const s64 readings[] = { NSEC_PER_SEC, 365ll * 86400 * NSEC_PER_SEC, S64_MAX };
	struct model *model = test->priv;
	struct model_cq *victim = add_cq(model, 10 * US, 1, 0);
	struct model_cq *other = add_cq(model, 10 * US, 1, 0);
	unsigned int i;

	start(model);
	for (i = 0; i < ARRAY_SIZE(readings); i++) {
		run_for(model, 10 * NSEC_PER_MSEC);
		while (cxib_poll_list_next(&model->list) != &victim->entry)
			run_turn(model, other);
		victim->waits = false;
		victim->longest_wait_ns = 0;
		KUNIT_EXPECT_TRUE(test, cxib_poll_entry_charge(&victim->entry, 16, readings[i]));
		cxib_poll_list_requeue(&model->list, &victim->entry);
		wait_for_turn(model, victim, model->now);
		run_for(model, NSEC_PER_SEC);
		KUNIT_EXPECT_GT(test, victim->longest_wait_ns, 9 * NSEC_PER_MSEC);
		/* The debt, the turn that pays the last bit of it, and one done(). */
		KUNIT_EXPECT_LE(test, victim->longest_wait_ns,
				CXIB_POLL_MAX_DEBT_NS + QUANTUM_NS + 10 * US);
	}
	KUNIT_EXPECT_EQ(test, 0, model->went_back);
}

/* Rounds in which all pay pass at once, in whichever order the CQs wait. */
static void debts_of_all_delay_nothing(struct kunit *test)
{
	struct model *model = test->priv;
	unsigned int last;

	for (last = 0; last < 2; last++) {
		struct model_cq *debtors = &model->cqs[model->count];
		struct model_cq *idle, *first;

		cxib_poll_list_init(&model->list, 10 * US);
		add_cq(model, US, 1, 0);
		add_cq(model, US, 1, 0);
		idle = add_cq(model, US, 1, 0);
		cxib_poll_list_add(&model->list, &debtors[0].entry);
		cxib_poll_list_add(&model->list, &debtors[1].entry);
		cxib_poll_list_add(&model->list, &idle->entry);
		while (cxib_poll_list_next(&model->list) != &idle->entry)
			;
		cxib_poll_entry_charge(&idle->entry, 1, NSEC_PER_MSEC);
		cxib_poll_entry_charge(&debtors[0].entry, 1, 5 * NSEC_PER_MSEC);
		cxib_poll_entry_charge(&debtors[1].entry, 1, S64_MAX);
		cxib_poll_list_requeue(&model->list, &debtors[!last].entry);
		cxib_poll_list_requeue(&model->list, &debtors[last].entry);
		first = to_model_cq(cxib_poll_list_next(&model->list));
		KUNIT_ASSERT_PTR_EQ(test, &debtors[0], first);
		/* A debt of 4,990 us is 499 rounds; in the 500th the CQ has a turn again. */
		KUNIT_EXPECT_EQ(test, 10 * US, first->entry.deficit_ns);
		cxib_poll_entry_charge(&first->entry, 1, 10 * US);
		cxib_poll_list_requeue(&model->list, &first->entry);
		/* The same rounds have paid the 990 us of the idle CQ: it is fresh. */
		cxib_poll_list_add(&model->list, &idle->entry);
		KUNIT_EXPECT_PTR_EQ(test, &idle->entry, cxib_poll_list_next(&model->list));
		KUNIT_EXPECT_PTR_EQ(test, &first->entry, cxib_poll_list_next(&model->list));
		KUNIT_EXPECT_PTR_EQ(test, &debtors[1].entry, cxib_poll_list_next(&model->list));
	}
}

static void del_at_each_position_keeps_order_of_others(struct kunit *test)
{
	struct model *model = test->priv;
	unsigned int removed, i;

	/* CQs 0 to 2 are fresh, 3 to 5 wait for the next round. */
	for (i = 0; i < 6; i++)
		add_cq(model, US, 1, 0);
	for (removed = 0; removed < 6; removed++) {
		cxib_poll_list_init(&model->list, QUANTUM_NS);
		for (i = 0; i < 6; i++) {
			cxib_poll_entry_init(&model->cqs[i].entry, 1);
			if (i < 3)
				cxib_poll_list_add(&model->list, &model->cqs[i].entry);
			else
				cxib_poll_list_requeue(&model->list, &model->cqs[i].entry);
		}
		list_del_init(&model->cqs[removed].entry.node);
		KUNIT_EXPECT_TRUE(test, list_empty(&model->cqs[removed].entry.node));
		for (i = 0; i < 6; i++)
			if (i != removed)
				KUNIT_EXPECT_PTR_EQ(test, &model->cqs[i].entry,
						    cxib_poll_list_next(&model->list));
		KUNIT_EXPECT_NULL(test, cxib_poll_list_next(&model->list));
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(next_empty_list_returns_null),
	KUNIT_CASE(add_idle_cq_is_served_before_full_ones),
	KUNIT_CASE(add_twice_per_round_waits_for_full_cqs),
	KUNIT_CASE(add_once_per_round_is_always_fresh),
	KUNIT_CASE(batch_of_unknown_cost_is_1),
	KUNIT_CASE_PARAM(batch_fits_rest_of_turn, batch_gen_params),
	KUNIT_CASE(batch_after_costs_rose_is_small),
	KUNIT_CASE(batch_after_costs_fell_grows),
	KUNIT_CASE(idle_cq_among_full_ones_waits_for_one_turn),
	KUNIT_CASE(full_cq_among_full_ones_waits_for_one_turn_of_each),
	KUNIT_CASE_SLOW(random_arrivals_starve_no_cq),
	KUNIT_CASE(weights_with_random_costs_are_kept),
	KUNIT_CASE(weight_change_applies_from_next_turn),
	KUNIT_CASE_SLOW(quantum_change_applies_from_next_turn),
	KUNIT_CASE_PARAM(extreme_values_starve_no_cq, extreme_gen_params),
	KUNIT_CASE(expensive_cq_that_empties_has_its_share_only),
	KUNIT_CASE(expensive_cq_after_idle_list_is_fresh),
	KUNIT_CASE(debtor_in_next_round_is_not_fresh),
	KUNIT_CASE(debtor_after_round_without_turn_is_fresh),
	KUNIT_CASE(debt_of_one_quantum_costs_one_turn),
	KUNIT_CASE(repay_lone_debtor_takes_call_per_quantum),
	KUNIT_CASE(unused_time_of_turn_is_not_saved),
	KUNIT_CASE(charge_of_clock_that_does_not_advance_ends_turn),
	KUNIT_CASE(charge_of_clock_that_jumped_is_limited),
	KUNIT_CASE(debts_of_all_delay_nothing),
	KUNIT_CASE(del_at_each_position_keeps_order_of_others),
	{}
};

static struct kunit_suite suite = {
	.name = "poll_list",
	.init = poll_list_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
