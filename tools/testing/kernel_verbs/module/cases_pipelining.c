// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signature pipelining: a target whose blocks are wrong at times, and what its client gets. A response
 * says whether the blocks were right; one that says so of a wrong block is the fault that must
 * never happen.
 */
#include "pipelined_target.h"

static int run_many(struct kverbs_target *target)
{
	return kverbs_target_commands(target, 60);
}

/* The seed chooses what the target is like. Its ring wraps every few commands. */
static int run_seed(struct kverbs_report *report, const struct kverbs_settings *settings, bool may_die)
{
	struct kverbs_target_spec spec = { .may_die = may_die };
	struct rnd_state random;
	u32 round;
	int err = 0;

	prandom_seed_state(&random, settings->seed);
	for (round = 0; round < settings->rounds && !err; round++) {
		spec.manual = prandom_u32_state(&random) % 2;
		spec.depth = 1 + prandom_u32_state(&random) % KVERBS_TARGET_DEPTH;
		spec.num_mrs = 1 + prandom_u32_state(&random) % KVERBS_TARGET_MRS;
		spec.bad_chance = prandom_u32_state(&random) % 60;
		spec.reads = prandom_u32_state(&random) % 2;
		spec.pooled = prandom_u32_state(&random) % 2;
		spec.seed = prandom_u32_state(&random);
		err = kverbs_target_run(report, &spec, run_many);
		if (err)
			return kverbs_fail(report, "%s, depth %u, %u MRs, %u%% bad, reads %d, CQs of the pool %d",
					   spec.manual ? "manual" : "automatic", spec.depth,
					   spec.num_mrs, spec.bad_chance, spec.reads, spec.pooled);
	}
	return 0;
}

static int run_random(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_seed(report, settings, false);
}

static int run_dying(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_seed(report, settings, true);
}

static int all_good(struct kverbs_target *target)
{
	int err = kverbs_target_commands(target, 200);

	if (!err && (target->good != 200 || target->cancelled))
		err = kverbs_fail(target->pair->report, "%u of 200 responses are good, %u cancelled",
				  target->good, target->cancelled);
	return err;
}

static int run_good(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .depth = KVERBS_TARGET_DEPTH, .num_mrs = 1, .seed = 1 };

	return kverbs_target_run(report, &spec, all_good);
}

static int all_bad(struct kverbs_target *target)
{
	int err = kverbs_target_commands(target, 100);

	if (!err && (target->good || target->cancelled != 100))
		err = kverbs_fail(target->pair->report, "%u of 100 responses are good, %u cancelled",
				  target->good, target->cancelled);
	return err;
}

static int run_bad(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = {
		.depth = KVERBS_TARGET_DEPTH,
		.num_mrs = KVERBS_TARGET_MRS,
		.bad_chance = 100,
		.seed = 2,
	};

	return kverbs_target_run(report, &spec, all_bad);
}

/*
 * What twin_mlx5dv.py does, too, by libmlx5: bursts of four commands, each posted when the one
 * before is answered; every third command has a wrong block.
 */
static int all_bursts(struct kverbs_target *target)
{
	int err = 0, i;

	for (i = 0; i < 6 && !err; i++)
		err = kverbs_target_commands(target, target->spec.depth);
	/* 24 commands, of which 8 are bad. */
	if (!err && (target->good != 16 || target->cancelled != 8))
		err = kverbs_fail(target->pair->report, "%u of 24 responses are good, %u cancelled",
				  target->good, target->cancelled);
	return err;
}

static int run_bursts(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = {
		.manual = true,
		.depth = 4,
		.num_mrs = 1,
		.bad_every = 3,
		.seed = 8,
	};

	return kverbs_target_run(report, &spec, all_bursts);
}

const struct kverbs_case kverbs_pipelining_cases[] = {
	{ "pipelining_good", run_good },
	{ "pipelining_bad", run_bad },
	{ "pipelining_bursts", run_bursts },
	{ "pipelining_random", run_random },
	{ "pipelining_random_ends", run_dying },
	{}
};
