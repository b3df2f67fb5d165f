// SPDX-License-Identifier: GPL-2.0-or-later
/* Completion queues: events that wait for more completions, and too many completions. */
#include <linux/delay.h>

#include "single.h"

#define LENGTH		64
#define ROUNDS		20
#define TOGETHER	4
#define PERIOD_MOST	4095
#define MANY		12
#define FEW_ENTRIES	3

static int send(struct ulp_pair *pair, u64 number, int flags)
{
	struct ulp_single single;
	int err;

	err = ulp_post_slot(pair, &pair->ends[1], number % ULP_SLOTS, LENGTH);
	if (err)
		return err;
	ulp_single_send(&single, &pair->ends[0], number, LENGTH);
	single.send.send_flags = flags;
	return ulp_post_single(pair, &pair->ends[0], &single);
}

static int await_event(struct ulp_pair *pair, struct ulp_end *end, int events)
{
	const unsigned long limit = jiffies + ULP_PATIENCE;

	while (atomic_read(&end->completion_events) == events) {
		if (time_after(jiffies, limit))
			return ulp_fail(pair->report, "no event after %d", events);
		usleep_range(50, 500);
	}
	return 0;
}

/* However few there are, somebody is told; and not more often than he has asked to be. */
static int exchange(struct ulp_pair *pair, unsigned int count)
{
	struct ulp_end *end = &pair->ends[0];
	int events = atomic_read(&end->completion_events);
	unsigned int i;
	int err = 0;

	if (ib_req_notify_cq(end->send_cq, IB_CQ_NEXT_COMP))
		return ulp_fail(pair->report, "a completion queue cannot be armed");
	for (i = 0; i < count && !err; i++)
		err = send(pair, i, IB_SEND_SIGNALED);
	if (!err)
		err = await_event(pair, end, events);
	for (i = 0; i < count && !err; i++)
		err = ulp_await_status(pair, end->send_cq, i, IB_WC_SUCCESS) ?:
		      ulp_await_status(pair, pair->ends[1].recv_cq, i % ULP_SLOTS, IB_WC_SUCCESS);
	if (!err && atomic_read(&end->completion_events) != events + 1)
		err = ulp_fail(pair->report, "%d events instead of one",
			       atomic_read(&end->completion_events) - events);
	return err;
}

static int moderation(struct ulp_pair *pair)
{
	struct ib_cq *cq = pair->ends[0].send_cq;
	unsigned int i;
	int err = 0;

	if (rdma_set_cq_moderation(cq, TOGETHER, PERIOD_MOST + 1) != -EINVAL)
		return ulp_fail(pair->report, "a period that is impossible is not refused");
	for (i = 0; i < ROUNDS && !err; i++) {
		err = rdma_set_cq_moderation(cq, i % (TOGETHER + 2), i * PERIOD_MOST / ROUNDS);
		if (err)
			return ulp_fail(pair->report, "no moderation: error %d", err);
		err = exchange(pair, 1 + i % (2 * TOGETHER));
	}
	return err ?: ulp_await_nothing(pair);
}

/* The user of the queue hears of it; all of it can go then. */
static int overrun(struct ulp_pair *pair)
{
	const unsigned long limit = jiffies + ULP_PATIENCE;
	struct ulp_end *peer = &pair->ends[1];
	int i, err;

	err = ib_resize_cq(peer->recv_cq, FEW_ENTRIES);
	if (err)
		return ulp_fail(pair->report, "a completion queue cannot be resized: error %d", err);
	for (i = 0; i < MANY && !err; i++)
		err = send(pair, i, 0);
	while (!err && !atomic_read(&peer->cq_errors)) {
		if (time_after(jiffies, limit))
			err = ulp_fail(pair->report, "nobody is told that a queue of %d entries has got %d",
				       peer->recv_cq->cqe, MANY);
		usleep_range(100, 1000);
	}
	return err;
}

static int await_peeked(struct ulp_pair *pair, struct ib_cq *cq, int expected)
{
	const unsigned long limit = jiffies + ULP_PATIENCE;
	int found;

	for (;;) {
		found = cq->device->ops.peek_cq(cq, MANY);
		if (found == expected)
			return 0;
		if (found < 0 || found > expected || time_after(jiffies, limit))
			return ulp_fail(pair->report, "%d completions are seen instead of %d",
					found, expected);
		usleep_range(50, 500);
	}
}

/* They are counted, and stay. */
static int peek(struct ulp_pair *pair)
{
	struct ib_cq *cq = pair->ends[0].send_cq;
	int i, err;

	if (!cq->device->ops.peek_cq)
		return ulp_fail(pair->report, "completions cannot be counted");
	err = await_peeked(pair, cq, 0);
	for (i = 0; i < TOGETHER && !err; i++)
		err = send(pair, i, IB_SEND_SIGNALED);
	err = err ?: await_peeked(pair, cq, TOGETHER);
	if (!err && cq->device->ops.peek_cq(cq, TOGETHER - 1) != TOGETHER - 1)
		err = ulp_fail(pair->report, "more completions are counted than asked for");
	for (i = 0; i < TOGETHER && !err; i++)
		err = ulp_await_status(pair, cq, i, IB_WC_SUCCESS) ?:
		      ulp_await_status(pair, pair->ends[1].recv_cq, i, IB_WC_SUCCESS) ?:
		      await_peeked(pair, cq, TOGETHER - 1 - i);
	return err ?: ulp_await_nothing(pair);
}

static int run_peek(struct ulp_report *report, const struct ulp_settings *settings)
{
	return ulp_with_pair(report, &ulp_usual, peek);
}

static int run_moderation(struct ulp_report *report, const struct ulp_settings *settings)
{
	return ulp_with_pair(report, &ulp_usual, moderation);
}

static int run_overrun(struct ulp_report *report, const struct ulp_settings *settings)
{
	return ulp_with_pair(report, &ulp_usual, overrun);
}

const struct ulp_case ulp_cq_cases[] = {
	{ "completions_together", run_moderation },
	{ "completion_queue_overrun", run_overrun },
	{ "completions_peeked_at", run_peek },
	{}
};
