// SPDX-License-Identifier: GPL-2.0-or-later
/* Random lists of requests, by service and kind of operation. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "traffic.h"

/* Lists of each direction in a round. */
#define LISTS	40

#define SENDS	(BIT_ULL(IB_WR_SEND) | BIT_ULL(IB_WR_SEND_WITH_IMM))
#define WRITES	(BIT_ULL(IB_WR_RDMA_WRITE) | BIT_ULL(IB_WR_RDMA_WRITE_WITH_IMM))
#define READS	BIT_ULL(IB_WR_RDMA_READ)
#define ATOMICS	(BIT_ULL(IB_WR_ATOMIC_CMP_AND_SWP) | BIT_ULL(IB_WR_ATOMIC_FETCH_AND_ADD))
#define MASKED	(BIT_ULL(IB_WR_MASKED_ATOMIC_CMP_AND_SWP) | \
		 BIT_ULL(IB_WR_MASKED_ATOMIC_FETCH_AND_ADD))

static void make_flow(struct ulp_traffic *traffic, int index, u8 *models[2],
		      struct ulp_message *messages)
{
	struct ulp_flow *flow = &traffic->flows[index];

	flow->traffic = traffic;
	flow->from = &traffic->pair.ends[index];
	flow->to = &traffic->pair.ends[!index];
	flow->own = models[index];
	flow->remote = models[!index];
	flow->messages = messages;
}

static int make_flows(struct ulp_traffic *traffic)
{
	u8 *models[2];
	int i;

	for (i = 0; i < 2; i++) {
		models[i] = kvmalloc(ULP_MODEL_SIZE, GFP_KERNEL);
		traffic->flows[i].own = models[i];
		traffic->flows[i].messages = kvcalloc(ULP_SLOTS, sizeof(struct ulp_message),
						      GFP_KERNEL);
		if (!models[i] || !traffic->flows[i].messages)
			return -ENOMEM;
		prandom_bytes_state(&traffic->random, models[i], ULP_MODEL_SIZE);
		memcpy(traffic->pair.ends[i].memory, models[i], ULP_MODEL_SIZE);
		ulp_to_device(&traffic->pair.ends[i]);
	}
	for (i = 0; i < 2; i++)
		make_flow(traffic, i, models, traffic->flows[i].messages);
	return 0;
}

static void free_flows(struct ulp_traffic *traffic)
{
	int i;

	for (i = 0; i < 2; i++) {
		kvfree(traffic->flows[i].own);
		kvfree(traffic->flows[i].messages);
	}
}

/* What the peer uses is registered before it does. */
static int register_exposed(struct ulp_traffic *traffic)
{
	int i, err;

	for (i = 0; i < 2; i++) {
		struct ulp_flow *flow = &traffic->flows[i];

		err = ulp_map_key(flow->from->exposed_key, flow->from->dma + ULP_EXPOSED,
				  ULP_AREA_SIZE);
		if (!err)
			err = ulp_post_key(flow, IB_WR_REG_MR, flow->from->exposed_key);
		if (err)
			return err;
	}
	return ulp_drain(traffic);
}

/* What the end uses itself needs only be registered by an earlier request. */
static int register_local(struct ulp_flow *flow)
{
	int err;

	err = ulp_map_key(flow->from->local_key, flow->from->dma + ULP_LOCAL, ULP_AREA_SIZE);
	flow->has_local_key = true;
	return err ?: ulp_post_key(flow, IB_WR_REG_MR, flow->from->local_key);
}

static int invalidate(struct ulp_flow *flow)
{
	int err;

	flow->has_local_key = false;
	err = ulp_post_key(flow, IB_WR_LOCAL_INV, flow->from->local_key);
	if (err)
		return err;
	if (ulp_random(flow->traffic, 2))
		return ulp_post_key(flow, IB_WR_LOCAL_INV, flow->from->exposed_key);
	/* By the other end, in a direction of its own. */
	flow = &flow->traffic->flows[flow == &flow->traffic->flows[0]];
	return ulp_post_key(flow, IB_WR_SEND_WITH_INV, flow->to->exposed_key);
}

static int exchange(struct ulp_traffic *traffic)
{
	int i, list, err = 0;

	for (list = 0; list < LISTS; list++)
		for (i = 0; i < 2; i++) {
			err = ulp_fill_receives(&traffic->flows[i]);
			if (!err)
				err = ulp_post_list(&traffic->flows[i]);
			if (!err)
				err = ulp_poll_flow(&traffic->flows[i]);
			if (err)
				return err;
		}
	return ulp_drain(traffic);
}

static int do_round(struct ulp_traffic *traffic)
{
	const bool has_keys = traffic->pair.spec.type == IB_QPT_RC;
	int err = 0;

	if (has_keys)
		err = register_exposed(traffic);
	if (!err && has_keys)
		err = register_local(&traffic->flows[0]);
	if (!err && has_keys)
		err = register_local(&traffic->flows[1]);
	if (!err)
		err = exchange(traffic);
	if (!err && has_keys)
		err = ulp_fill_receives(&traffic->flows[0]) ?:
		      ulp_fill_receives(&traffic->flows[1]);
	if (!err && has_keys)
		err = invalidate(&traffic->flows[0]);
	if (!err && has_keys)
		err = invalidate(&traffic->flows[1]);
	if (!err)
		err = ulp_drain(traffic);
	if (!err)
		err = ulp_await_nothing(&traffic->pair);
	return err ?: ulp_compare(traffic);
}

static int run(struct ulp_report *report, const struct ulp_settings *settings,
	       const struct ulp_spec *spec, u64 operations)
{
	struct ulp_traffic *traffic = kvzalloc(sizeof(*traffic), GFP_KERNEL);
	u32 round;
	int err;

	if (!traffic)
		return -ENOMEM;
	prandom_seed_state(&traffic->random, settings->seed);
	traffic->operations = operations;
	err = ulp_pair_create(&traffic->pair, spec, report);
	if (!err)
		err = make_flows(traffic);
	for (round = 0; round < settings->rounds && !err; round++) {
		err = do_round(traffic);
		if (err)
			ulp_fail(report, "in round %u of seed %llu: %u segments, %u bytes inline, MTU %d, depth %u",
				 round, settings->seed, spec->max_sge, spec->max_inline,
				 ib_mtu_enum_to_int(spec->mtu), spec->depth);
		cond_resched();
	}
	ulp_pair_destroy(&traffic->pair);
	free_flows(traffic);
	kvfree(traffic);
	return err;
}

/* Paths, segments and inline data of all sizes. */
static struct ulp_spec vary(const struct ulp_settings *settings, enum ib_qp_type type)
{
	struct ulp_spec spec = ulp_usual;
	struct rnd_state random;

	prandom_seed_state(&random, ~settings->seed);
	spec.type = type;
	spec.mtu = IB_MTU_256 + prandom_u32_state(&random) % 5;
	spec.max_sge = 1 + prandom_u32_state(&random) % ULP_SGE_MOST;
	spec.max_inline = prandom_u32_state(&random) % 3 ? prandom_u32_state(&random) % ULP_INLINE_MOST : 0;
	spec.depth = 1 + prandom_u32_state(&random) % 16;
	spec.max_wr = ULP_SLOTS;
	return spec;
}

static int run_on(struct ulp_report *report, const struct ulp_settings *settings,
		  enum ib_qp_type type, bool shared, u64 operations)
{
	struct ulp_spec spec = vary(settings, type);

	spec.shared = shared;
	return run(report, settings, &spec, operations);
}

static int rc_sends(struct ulp_report *report, const struct ulp_settings *settings)
{
	return run_on(report, settings, IB_QPT_RC, false, SENDS);
}

static int rc_writes(struct ulp_report *report, const struct ulp_settings *settings)
{
	return run_on(report, settings, IB_QPT_RC, false, WRITES);
}

static int rc_reads(struct ulp_report *report, const struct ulp_settings *settings)
{
	return run_on(report, settings, IB_QPT_RC, false, READS | WRITES);
}

static int rc_atomics(struct ulp_report *report, const struct ulp_settings *settings)
{
	return run_on(report, settings, IB_QPT_RC, false, ATOMICS);
}

static int rc_masked_atomics(struct ulp_report *report, const struct ulp_settings *settings)
{
	return run_on(report, settings, IB_QPT_RC, false, MASKED);
}

static int rc_everything(struct ulp_report *report, const struct ulp_settings *settings)
{
	return run_on(report, settings, IB_QPT_RC, false, SENDS | WRITES | READS | ATOMICS | MASKED);
}

static int rc_shared_receives(struct ulp_report *report, const struct ulp_settings *settings)
{
	return run_on(report, settings, IB_QPT_RC, true, SENDS | WRITES | READS | ATOMICS);
}

static int uc_everything(struct ulp_report *report, const struct ulp_settings *settings)
{
	return run_on(report, settings, IB_QPT_UC, false, SENDS | WRITES);
}

static int ud_sends(struct ulp_report *report, const struct ulp_settings *settings)
{
	return run_on(report, settings, IB_QPT_UD, false, SENDS);
}

static int ud_shared_receives(struct ulp_report *report, const struct ulp_settings *settings)
{
	return run_on(report, settings, IB_QPT_UD, true, SENDS);
}

const struct ulp_case ulp_traffic_cases[] = {
	{ "rc_sends", rc_sends },
	{ "rc_writes", rc_writes },
	{ "rc_reads", rc_reads },
	{ "rc_atomics", rc_atomics },
	{ "rc_masked_atomics", rc_masked_atomics },
	{ "rc_everything", rc_everything },
	{ "rc_shared_receives", rc_shared_receives },
	{ "uc_everything", uc_everything },
	{ "ud_sends", ud_sends },
	{ "ud_shared_receives", ud_shared_receives },
	{}
};
