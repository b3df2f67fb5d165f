// SPDX-License-Identifier: GPL-2.0-or-later
/* CQs: moderated events and overruns. */
#include <linux/delay.h>

#include "single.h"

#define LENGTH		64
#define ROUNDS		20
#define TOGETHER	4
#define PERIOD_MAX	4095
#define MANY		12
#define FEW_ENTRIES	3

static int send(struct kverbs_pair *pair, u64 number, int flags)
{
	struct kverbs_single single;
	int err;

	err = kverbs_post_slot(pair, &pair->ends[1], number % KVERBS_SLOTS, LENGTH);
	if (err)
		return err;
	kverbs_single_send(&single, &pair->ends[0], number, LENGTH);
	single.send.send_flags = flags;
	return kverbs_post_single(pair, &pair->ends[0], &single);
}

static int await_event(struct kverbs_pair *pair, struct kverbs_end *end, int events)
{
	const unsigned long limit = jiffies + KVERBS_PATIENCE;

	while (atomic_read(&end->completion_events) == events) {
		if (time_after(jiffies, limit))
			return kverbs_fail(pair->report, "no event after %d", events);
		usleep_range(50, 500);
	}
	return 0;
}

/* An armed CQ raises one completion event even if it gets fewer CQEs than its moderation count. */
static int exchange(struct kverbs_pair *pair, unsigned int count)
{
	struct kverbs_end *end = &pair->ends[0];
	int events = atomic_read(&end->completion_events);
	unsigned int i;
	int err = 0;

	if (ib_req_notify_cq(end->send_cq, IB_CQ_NEXT_COMP))
		return kverbs_fail(pair->report, "a completion queue cannot be armed");
	for (i = 0; i < count && !err; i++)
		err = send(pair, i, IB_SEND_SIGNALED);
	if (!err)
		err = await_event(pair, end, events);
	for (i = 0; i < count && !err; i++)
		err = kverbs_await_status(pair, end->send_cq, i, IB_WC_SUCCESS) ?:
		      kverbs_await_status(pair, pair->ends[1].recv_cq, i % KVERBS_SLOTS, IB_WC_SUCCESS);
	if (!err && atomic_read(&end->completion_events) != events + 1)
		err = kverbs_fail(pair->report, "%d events instead of one",
			       atomic_read(&end->completion_events) - events);
	return err;
}

static int moderation(struct kverbs_pair *pair)
{
	struct ib_cq *cq = pair->ends[0].send_cq;
	unsigned int i;
	int err = 0;

	if (rdma_set_cq_moderation(cq, TOGETHER, PERIOD_MAX + 1) != -EINVAL)
		return kverbs_fail(pair->report, "a period that is impossible is not refused");
	for (i = 0; i < ROUNDS && !err; i++) {
		err = rdma_set_cq_moderation(cq, i % (TOGETHER + 2), i * PERIOD_MAX / ROUNDS);
		if (err)
			return kverbs_fail(pair->report, "no moderation: error %d", err);
		err = exchange(pair, 1 + i % (2 * TOGETHER));
	}
	return err ?: kverbs_await_nothing(pair);
}

#ifdef KVERBS_RESIZING
/* The owner of an overrun CQ gets an error event and can destroy all objects afterwards. */
static int overrun(struct kverbs_pair *pair)
{
	const unsigned long limit = jiffies + KVERBS_PATIENCE;
	struct kverbs_end *peer = &pair->ends[1];
	int i, err;

	err = ib_resize_cq(peer->recv_cq, FEW_ENTRIES);
	if (err)
		return kverbs_fail(pair->report, "a completion queue cannot be resized: error %d", err);
	for (i = 0; i < MANY && !err; i++)
		err = send(pair, i, 0);
	while (!err && !atomic_read(&peer->cq_errors)) {
		if (time_after(jiffies, limit))
			err = kverbs_fail(pair->report, "no error event of a CQ of %d entries that has got %d",
				       peer->recv_cq->cqe, MANY);
		usleep_range(100, 1000);
	}
	return err;
}
#endif

static int await_peeked(struct kverbs_pair *pair, struct ib_cq *cq, int expected)
{
	const unsigned long limit = jiffies + KVERBS_PATIENCE;
	int found;

	for (;;) {
		found = cq->device->ops.peek_cq(cq, MANY);
		if (found == expected)
			return 0;
		if (found < 0 || found > expected || time_after(jiffies, limit))
			return kverbs_fail(pair->report, "%d completions are seen instead of %d",
					found, expected);
		usleep_range(50, 500);
	}
}

/* Peeking leaves the counted completions in the CQ. */
static int peek(struct kverbs_pair *pair)
{
	struct ib_cq *cq = pair->ends[0].send_cq;
	int i, err;

	if (!cq->device->ops.peek_cq)
		return kverbs_fail(pair->report, "completions cannot be counted");
	err = await_peeked(pair, cq, 0);
	for (i = 0; i < TOGETHER && !err; i++)
		err = send(pair, i, IB_SEND_SIGNALED);
	err = err ?: await_peeked(pair, cq, TOGETHER);
	if (!err && cq->device->ops.peek_cq(cq, TOGETHER - 1) != TOGETHER - 1)
		err = kverbs_fail(pair->report, "more completions are counted than asked for");
	for (i = 0; i < TOGETHER && !err; i++)
		err = kverbs_await_status(pair, cq, i, IB_WC_SUCCESS) ?:
		      kverbs_await_status(pair, pair->ends[1].recv_cq, i, IB_WC_SUCCESS) ?:
		      await_peeked(pair, cq, TOGETHER - 1 - i);
	return err ?: kverbs_await_nothing(pair);
}

static int run_peek(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, peek);
}

static int run_moderation(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, moderation);
}

#ifdef KVERBS_RESIZING
static int run_overrun(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, overrun);
}
#endif

const struct kverbs_case kverbs_cq_cases[] = {
	{ "completions_coalesced", run_moderation },
#ifdef KVERBS_RESIZING
	{ "completion_queue_overrun", run_overrun },
#endif
	{ "completions_peeked", run_peek },
	{}
};
