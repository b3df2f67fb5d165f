// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CQs that the RDMA core polls and whose moderation it adapts to the traffic (DIM). With any
 * moderation each completion arrives once and in order.
 */
#include <linux/delay.h>
#include <linux/dim.h>
#include <linux/slab.h>

#include "single.h"

#define LENGTH		64
/* DIM measures over 64 events, so this number is enough for several measurements. */
#define MESSAGES	1000
#define WINDOW_MAX	16
/* A duplicate completion would arrive within this time. */
#define LATE_MS		20

struct kverbs_stream;

/**
 * struct kverbs_turn - a WR of a stream, which is reposted
 * @done: called by the RDMA core for the completion
 * @stream: stream of the WR
 */
struct kverbs_turn {
	struct ib_cqe done;
	struct kverbs_stream *stream;
};

/**
 * struct kverbs_stream - WRs of one queue
 * @turns: the WRs in the order of their completions
 * @completed: number of completed WRs
 * @wrong: number of completions out of order or with an error
 * @moderated: the moderation of the CQ has differed from its initial value
 * @slowest: completions per millisecond, rounded up, in the slowest measurement; 0: none
 * @fastest: the same in the fastest measurement
 */
struct kverbs_stream {
	struct kverbs_turn turns[KVERBS_SLOTS];
	atomic_t completed;
	atomic_t wrong;
	bool moderated;
	int slowest;
	int fastest;
};

/**
 * struct kverbs_flow - messages from the first end to the second
 * @pair: two ends
 * @sends: stream of the first end
 * @receives: stream of the second end
 * @sent: number of messages sent
 */
struct kverbs_flow {
	struct kverbs_pair *pair;
	struct kverbs_stream sends;
	struct kverbs_stream receives;
	u32 sent;
};

static void note_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_turn *turn = container_of(wc->wr_cqe, struct kverbs_turn, done);
	struct kverbs_stream *stream = turn->stream;
	u32 number = atomic_read(&stream->completed);

	if (wc->status != IB_WC_SUCCESS || turn != &stream->turns[number % KVERBS_SLOTS])
		atomic_inc(&stream->wrong);
	atomic_inc(&stream->completed);
}

static void start_stream(struct kverbs_stream *stream)
{
	unsigned int i;

	for (i = 0; i < KVERBS_SLOTS; i++)
		stream->turns[i] = (struct kverbs_turn){ .done.done = note_done, .stream = stream };
}

static u32 completed(struct kverbs_flow *flow)
{
	return min(atomic_read(&flow->sends.completed), atomic_read(&flow->receives.completed));
}

static int await_completions(struct kverbs_flow *flow, u32 count)
{
	const unsigned long limit = jiffies + KVERBS_PATIENCE;

	while (completed(flow) < count) {
		if (time_after(jiffies, limit))
			return kverbs_fail(flow->pair->report, "completions are lost: %d of sends and %d of receives came, %u should have",
					atomic_read(&flow->sends.completed),
					atomic_read(&flow->receives.completed), count);
		usleep_range(5, 50);
	}
	return 0;
}

static int send(struct kverbs_flow *flow, u32 number)
{
	struct kverbs_end *end = &flow->pair->ends[0], *peer = &flow->pair->ends[1];
	struct kverbs_turn *turn = &flow->receives.turns[number % KVERBS_SLOTS];
	struct ib_sge sge = { peer->dma + KVERBS_RECEIVES, LENGTH, peer->pd->local_dma_lkey };
	struct ib_recv_wr receive = { .wr_cqe = &turn->done, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;
	struct kverbs_single single;
	int err;

	err = ib_post_recv(peer->qp, &receive, &bad);
	if (err)
		return kverbs_fail(flow->pair->report, "receive request %u is refused with error %d",
				number, err);
	kverbs_single_send(&single, end, number, LENGTH);
	single.send.wr_cqe = &flow->sends.turns[number % KVERBS_SLOTS].done;
	return kverbs_post_single(flow->pair, end, &single);
}

static void look_at_stream(struct kverbs_stream *stream, const struct dim *dim)
{
	const int rate = READ_ONCE(dim->prev_stats.cpms);

	if (READ_ONCE(dim->profile_ix))
		stream->moderated = true;
	stream->slowest = min_not_zero(stream->slowest, rate);
	stream->fastest = max(stream->fastest, rate);
}

static void look_at_moderation(struct kverbs_flow *flow)
{
	look_at_stream(&flow->sends, flow->pair->ends[0].send_cq->dim);
	look_at_stream(&flow->receives, flow->pair->ends[1].recv_cq->dim);
}

/*
 * DIM changes the moderation if the rate changes by more than a tenth. On a machine that is too
 * slow for more than one completion per millisecond DIM measures, but has no reason to change.
 */
static bool has_adapted(const struct kverbs_stream *stream)
{
	return stream->moderated || (stream->fastest && stream->fastest * 10 <= stream->slowest * 11);
}

/* Sends `count` more messages, with at most `window` of them outstanding. */
static int send_more(struct kverbs_flow *flow, u32 count, u32 window)
{
	const u32 end = flow->sent + count;
	int err = 0;

	for (; flow->sent < end && !err; flow->sent++) {
		if (flow->sent >= window)
			err = await_completions(flow, flow->sent - window + 1);
		if (!err)
			err = send(flow, flow->sent);
		look_at_moderation(flow);
	}
	return err ?: await_completions(flow, end);
}

/*
 * Alternates between single messages and bursts, so that DIM has a reason to change the moderation.
 */
static int send_until_moderated(struct kverbs_flow *flow)
{
	const unsigned long limit = jiffies + KVERBS_PATIENCE;
	u32 round;
	int err;

	for (round = 0; !flow->sends.moderated || !flow->receives.moderated; round++) {
		err = send_more(flow, MESSAGES, round % 2 ? WINDOW_MAX : 1);
		if (err)
			return err;
		if (!time_after(jiffies, limit))
			continue;
		if (has_adapted(&flow->sends) && has_adapted(&flow->receives))
			break;
		return kverbs_fail(flow->pair->report, "after %u messages, %d to %d sends and %d to %d receives a millisecond, the moderation is as it was",
				flow->sent, flow->sends.slowest, flow->sends.fastest,
				flow->receives.slowest, flow->receives.fastest);
	}
	return send_more(flow, MESSAGES, WINDOW_MAX);
}

static int check_stream(struct kverbs_flow *flow, struct kverbs_stream *stream, const char *name)
{
	const u32 wrong = atomic_read(&stream->wrong), count = atomic_read(&stream->completed);

	if (!wrong && count == flow->sent)
		return 0;
	return kverbs_fail(flow->pair->report, "%u %s have %u completions, %u of which were not the next one or no success",
			flow->sent, name, count, wrong);
}

static int adapts(struct kverbs_pair *pair)
{
	struct kverbs_flow *flow;
	int err;

	if (!pair->ends[0].send_cq->dim || !pair->ends[1].recv_cq->dim)
		return kverbs_fail(pair->report, "the RDMA core does not adapt moderation");
	flow = kzalloc(sizeof(*flow), GFP_KERNEL);
	if (!flow)
		return -ENOMEM;
	flow->pair = pair;
	start_stream(&flow->sends);
	start_stream(&flow->receives);
	err = send_until_moderated(flow);
	msleep(LATE_MS);
	if (!err)
		err = check_stream(flow, &flow->sends, "sends") ?:
		      check_stream(flow, &flow->receives, "receives");
	ib_drain_qp(pair->ends[0].qp);
	ib_drain_qp(pair->ends[1].qp);
	kfree(flow);
	return err;
}

static int run_polled(struct kverbs_report *report, enum ib_poll_context context)
{
	struct kverbs_spec spec = kverbs_usual;

	spec.core_polls = true;
	spec.context = context;
	return kverbs_with_pair(report, &spec, adapts);
}

/* cxib's polling contexts report to DIM what they have polled, as the RDMA core does. */
static int run_in_context(struct kverbs_report *report, enum cxib_cq_context context, u32 flags)
{
	const struct cxib_cq_options options = { .context = context, .flags = flags };
	struct kverbs_spec spec = kverbs_usual;

	spec.core_polls = true;
	spec.options = &options;
	return kverbs_with_pair(report, &spec, adapts);
}

static int run_cxib_softirq(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_in_context(report, CXIB_CQ_SOFTIRQ, 0);
}

static int run_cxib_thread(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_in_context(report, CXIB_CQ_THREAD, 0);
}

static int run_cxib_own_thread(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_in_context(report, CXIB_CQ_THREAD, CXIB_CQ_OWN_THREAD);
}

static int run_cxib_workqueue(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_in_context(report, CXIB_CQ_WORKQUEUE, 0);
}

static int run_cxib_unbound(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_in_context(report, CXIB_CQ_UNBOUND_WORKQUEUE, 0);
}

static int run_softirq(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_polled(report, IB_POLL_SOFTIRQ);
}

static int run_workqueue(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_polled(report, IB_POLL_WORKQUEUE);
}

const struct kverbs_case kverbs_moderation_cases[] = {
	{ "moderation_in_softirq", run_softirq },
	{ "moderation_in_workqueue", run_workqueue },
	{ "context_softirq_moderation", run_cxib_softirq },
	{ "context_thread_moderation", run_cxib_thread },
	{ "context_own_thread_moderation", run_cxib_own_thread },
	{ "context_workqueue_moderation", run_cxib_workqueue },
	{ "context_unbound_moderation", run_cxib_unbound },
	{}
};
