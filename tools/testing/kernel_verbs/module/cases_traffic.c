// SPDX-License-Identifier: GPL-2.0-or-later
/* Random lists of WRs by service and kind of operation. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "traffic.h"

/* Number of lists in each direction and round. */
#define LISTS	40

#define SENDS	(BIT_ULL(IB_WR_SEND) | BIT_ULL(IB_WR_SEND_WITH_IMM))
#define WRITES	(BIT_ULL(IB_WR_RDMA_WRITE) | BIT_ULL(IB_WR_RDMA_WRITE_WITH_IMM))
#define READS	BIT_ULL(IB_WR_RDMA_READ)
#define ATOMICS	(BIT_ULL(IB_WR_ATOMIC_CMP_AND_SWP) | BIT_ULL(IB_WR_ATOMIC_FETCH_AND_ADD))
#define MASKED	(BIT_ULL(IB_WR_MASKED_ATOMIC_CMP_AND_SWP) | \
		 BIT_ULL(IB_WR_MASKED_ATOMIC_FETCH_AND_ADD))

static void make_flow(struct kverbs_traffic *traffic, int index, u8 *models[2],
		      struct kverbs_message *messages)
{
	struct kverbs_flow *flow = &traffic->flows[index];

	flow->traffic = traffic;
	flow->from = &traffic->pair.ends[index];
	flow->to = &traffic->pair.ends[!index];
	flow->own = models[index];
	flow->remote = models[!index];
	flow->messages = messages;
}

static int make_flows(struct kverbs_traffic *traffic)
{
	u8 *models[2];
	int i;

	for (i = 0; i < 2; i++) {
		models[i] = kvmalloc(KVERBS_MODEL_SIZE, GFP_KERNEL);
		traffic->flows[i].own = models[i];
		traffic->flows[i].messages = kvcalloc(KVERBS_SLOTS, sizeof(struct kverbs_message),
						      GFP_KERNEL);
		if (!models[i] || !traffic->flows[i].messages)
			return -ENOMEM;
		prandom_bytes_state(&traffic->random, models[i], KVERBS_MODEL_SIZE);
		memcpy(traffic->pair.ends[i].memory, models[i], KVERBS_MODEL_SIZE);
		kverbs_to_device(&traffic->pair.ends[i]);
	}
	for (i = 0; i < 2; i++)
		make_flow(traffic, i, models, traffic->flows[i].messages);
	return 0;
}

static void free_flows(struct kverbs_traffic *traffic)
{
	int i;

	for (i = 0; i < 2; i++) {
		kvfree(traffic->flows[i].own);
		kvfree(traffic->flows[i].messages);
	}
}

/* Registers the exposed memory before the peer uses it. */
static int register_exposed(struct kverbs_traffic *traffic)
{
	int i, err;

	for (i = 0; i < 2; i++) {
		struct kverbs_flow *flow = &traffic->flows[i];

		err = kverbs_map_key(flow->from->exposed_key, flow->from->dma + KVERBS_EXPOSED,
				  KVERBS_AREA_SIZE);
		if (!err)
			err = kverbs_post_key(flow, IB_WR_REG_MR, flow->from->exposed_key);
		if (err)
			return err;
	}
	return kverbs_drain(traffic);
}

/* Registers the local memory: an end's own WRs only need an earlier registration WR. */
static int register_local(struct kverbs_flow *flow)
{
	int err;

	err = kverbs_map_key(flow->from->local_key, flow->from->dma + KVERBS_LOCAL, KVERBS_AREA_SIZE);
	flow->has_local_key = true;
	return err ?: kverbs_post_key(flow, IB_WR_REG_MR, flow->from->local_key);
}

static int invalidate(struct kverbs_flow *flow)
{
	int err;

	flow->has_local_key = false;
	err = kverbs_post_key(flow, IB_WR_LOCAL_INV, flow->from->local_key);
	if (err)
		return err;
	if (kverbs_random(flow->traffic, 2))
		return kverbs_post_key(flow, IB_WR_LOCAL_INV, flow->from->exposed_key);
	/* The peer posts this WR in its own direction. */
	flow = &flow->traffic->flows[flow == &flow->traffic->flows[0]];
	return kverbs_post_key(flow, IB_WR_SEND_WITH_INV, flow->to->exposed_key);
}

static int exchange(struct kverbs_traffic *traffic)
{
	int i, list, err = 0;

	for (list = 0; list < LISTS; list++)
		for (i = 0; i < 2; i++) {
			err = kverbs_fill_receives(&traffic->flows[i]);
			if (!err)
				err = kverbs_post_list(&traffic->flows[i]);
			if (!err)
				err = kverbs_poll_flow(&traffic->flows[i]);
			if (err)
				return err;
		}
	return kverbs_drain(traffic);
}

static int do_round(struct kverbs_traffic *traffic)
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
		err = kverbs_fill_receives(&traffic->flows[0]) ?:
		      kverbs_fill_receives(&traffic->flows[1]);
	if (!err && has_keys)
		err = invalidate(&traffic->flows[0]);
	if (!err && has_keys)
		err = invalidate(&traffic->flows[1]);
	if (!err)
		err = kverbs_drain(traffic);
	if (!err)
		err = kverbs_await_nothing(&traffic->pair);
	return err ?: kverbs_compare(traffic);
}

static int run(struct kverbs_report *report, const struct kverbs_settings *settings,
	       const struct kverbs_spec *spec, u64 operations)
{
	struct kverbs_traffic *traffic = kvzalloc(sizeof(*traffic), GFP_KERNEL);
	u32 round;
	int err;

	if (!traffic)
		return -ENOMEM;
	prandom_seed_state(&traffic->random, settings->seed);
	traffic->operations = operations;
	err = kverbs_pair_create(&traffic->pair, spec, report);
	if (!err)
		err = make_flows(traffic);
	for (round = 0; round < settings->rounds && !err; round++) {
		err = do_round(traffic);
		if (err)
			kverbs_fail(report, "in round %u of seed %llu: %u segments, %u bytes inline, MTU %d, depth %u",
				 round, settings->seed, spec->max_sge, spec->max_inline,
				 ib_mtu_enum_to_int(spec->mtu), spec->depth);
		cond_resched();
	}
	kverbs_pair_destroy(&traffic->pair);
	free_flows(traffic);
	kvfree(traffic);
	return err;
}

/* Varies path MTU, number of SGEs and inline size. */
static struct kverbs_spec vary(const struct kverbs_settings *settings, enum ib_qp_type type)
{
	struct kverbs_spec spec = kverbs_usual;
	struct rnd_state random;

	prandom_seed_state(&random, ~settings->seed);
	spec.type = type;
	spec.mtu = IB_MTU_256 + prandom_u32_state(&random) % 5;
	spec.max_sge = 1 + prandom_u32_state(&random) % KVERBS_SGE_MAX;
	spec.max_inline = prandom_u32_state(&random) % 3 ? prandom_u32_state(&random) % KVERBS_INLINE_MAX : 0;
	spec.depth = 1 + prandom_u32_state(&random) % 16;
	spec.max_wr = KVERBS_SLOTS;
	return spec;
}

static int run_on(struct kverbs_report *report, const struct kverbs_settings *settings,
		  enum ib_qp_type type, bool shared, u64 operations)
{
	struct kverbs_spec spec = vary(settings, type);

	spec.shared = shared;
	return run(report, settings, &spec, operations);
}

static int rc_sends(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_on(report, settings, IB_QPT_RC, false, SENDS);
}

static int rc_writes(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_on(report, settings, IB_QPT_RC, false, WRITES);
}

static int rc_reads(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_on(report, settings, IB_QPT_RC, false, READS | WRITES);
}

static int rc_atomics(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_on(report, settings, IB_QPT_RC, false, ATOMICS);
}

static int rc_masked_atomics(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_on(report, settings, IB_QPT_RC, false, MASKED);
}

static int rc_everything(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_on(report, settings, IB_QPT_RC, false, SENDS | WRITES | READS | ATOMICS | MASKED);
}

static int rc_shared_receives(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_on(report, settings, IB_QPT_RC, true, SENDS | WRITES | READS | ATOMICS);
}

static int uc_everything(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_on(report, settings, IB_QPT_UC, false, SENDS | WRITES);
}

static int ud_sends(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_on(report, settings, IB_QPT_UD, false, SENDS);
}

static int ud_shared_receives(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_on(report, settings, IB_QPT_UD, true, SENDS);
}

const struct kverbs_case kverbs_traffic_cases[] = {
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
