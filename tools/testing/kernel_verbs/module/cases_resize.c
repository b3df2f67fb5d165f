// SPDX-License-Identifier: GPL-2.0-or-later
/* Resizes CQs that contain CQEs, and CQs that get CQEs at the same time. */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/prandom.h>

#include "single.h"

#define LENGTH		64
#define WINDOW		16
#define MESSAGES	500
/* A CQ always has room for the maximum number of completions. */
#define ENTRIES_MIN	(2 * WINDOW)
#define LOG_MAX	6
/* Minimum number of resizes during the exchange of messages. */
#define CHANGES_MIN	2

static int resize(struct kverbs_pair *pair, struct ib_cq *cq, int entries)
{
	int err = ib_resize_cq(cq, entries);

	if (err)
		return kverbs_fail(pair->report, "a completion queue of %d entries cannot become one of %d: error %d",
				cq->cqe, entries, err);
	if (cq->cqe < entries)
		return kverbs_fail(pair->report, "a completion queue that was resized to %d entries has %d",
				entries, cq->cqe);
	return 0;
}

static int send_and_wait(struct kverbs_pair *pair, u64 number)
{
	struct kverbs_end *end = &pair->ends[0];
	struct kverbs_single single;
	int err;

	err = kverbs_post_slot(pair, &pair->ends[1], number % KVERBS_SLOTS, LENGTH);
	if (err)
		return err;
	kverbs_single_send(&single, end, number, LENGTH);
	err = kverbs_post_single(pair, end, &single);
	return err ?: kverbs_await_status(pair, end->send_cq, number, IB_WC_SUCCESS);
}

/* CQEs that the receiver has not polled yet survive the resize. */
static int with_completions(struct kverbs_pair *pair)
{
	const int sizes[] = { 500, 20, 100, 4000, 17, 64 };
	struct ib_cq *cq = pair->ends[1].recv_cq;
	u64 sent = 0, received = 0;
	int i, k, err = 0;

	for (i = 0; i < ARRAY_SIZE(sizes) && !err; i++) {
		for (k = 0; k < WINDOW - i && !err; k++)
			err = send_and_wait(pair, sent++);
		if (!err)
			err = resize(pair, cq, sizes[i]);
		for (k = 0; k < WINDOW - 2 * i && !err; k++)
			err = kverbs_await_status(pair, cq, received++ % KVERBS_SLOTS, IB_WC_SUCCESS);
		while (!err && sent - received > WINDOW - 3)
			err = kverbs_await_status(pair, cq, received++ % KVERBS_SLOTS, IB_WC_SUCCESS);
	}
	while (!err && received < sent)
		err = kverbs_await_status(pair, cq, received++ % KVERBS_SLOTS, IB_WC_SUCCESS);
	return err ?: kverbs_await_nothing(pair);
}

/* The driver refuses a size that is too small for the CQEs, and loses none of them. */
static int too_small(struct kverbs_pair *pair)
{
	struct ib_cq *cq = pair->ends[1].recv_cq;
	int i, err = 0, size = cq->cqe;

	for (i = 0; i < WINDOW && !err; i++)
		err = send_and_wait(pair, i);
	if (err)
		return err;
	if (!ib_resize_cq(cq, 3) || cq->cqe != size)
		return kverbs_fail(pair->report, "a completion queue with %d completions gets %d entries",
				WINDOW, cq->cqe);
	if (ib_resize_cq(cq, 0) != -EINVAL || ib_resize_cq(cq, INT_MAX) != -EINVAL)
		return kverbs_fail(pair->report, "a size that is impossible is not refused as such");
	for (i = 0; i < WINDOW && !err; i++)
		err = kverbs_await_status(pair, cq, i, IB_WC_SUCCESS);
	return err ?: kverbs_await_nothing(pair);
}

/**
 * struct resizer - resizes the CQs of a receiver and a sender at random
 * @pair: two ends, the first one sends
 * @random: state of the random numbers
 * @changes: number of resizes
 * @result: 0 or an error
 */
struct resizer {
	struct kverbs_pair *pair;
	struct rnd_state random;
	u32 changes;
	int result;
};

static int resize_at_random(void *data)
{
	struct resizer *resizer = data;
	struct kverbs_pair *pair = resizer->pair;

	while (!kthread_should_stop()) {
		u32 number = prandom_u32_state(&resizer->random);
		struct ib_cq *cq = number & 1 ? pair->ends[1].recv_cq : pair->ends[0].send_cq;

		if (!resizer->result)
			resizer->result = resize(pair, cq, ENTRIES_MIN <<
						 (number >> 1) % LOG_MAX);
		WRITE_ONCE(resizer->changes, resizer->changes + 1);
		usleep_range(50, 500);
	}
	return 0;
}

static int exchange(struct kverbs_pair *pair, u32 messages)
{
	struct kverbs_end *end = &pair->ends[0], *peer = &pair->ends[1];
	u32 sent = 0, received = 0;
	struct kverbs_single single;
	int err = 0;

	while (received < messages && !err) {
		while (sent < messages && sent - received < WINDOW && !err) {
			err = kverbs_post_slot(pair, peer, sent % KVERBS_SLOTS, LENGTH);
			kverbs_single_send(&single, end, sent++, LENGTH);
			if (!err)
				err = kverbs_post_single(pair, end, &single);
		}
		if (!err)
			err = kverbs_await_status(pair, peer->recv_cq, received % KVERBS_SLOTS,
					       IB_WC_SUCCESS);
		if (!err)
			err = kverbs_await_status(pair, end->send_cq, received, IB_WC_SUCCESS);
		received++;
	}
	return err ?: kverbs_await_nothing(pair);
}

static int run_traffic(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	struct kverbs_pair pair;
	struct resizer resizer = { .pair = &pair };
	struct task_struct *thread;
	int err;

	prandom_seed_state(&resizer.random, settings->seed);
	err = kverbs_pair_create(&pair, &kverbs_usual, report);
	if (err)
		goto destroy;
	thread = kthread_run(resize_at_random, &resizer, "cxib_kverbs");
	err = PTR_ERR_OR_ZERO(thread);
	if (err)
		goto destroy;
	/*
	 * The resizing thread may not be scheduled during a whole exchange, which is then repeated.
	 */
	do
		err = exchange(&pair, MESSAGES * settings->rounds);
	while (!err && READ_ONCE(resizer.changes) < CHANGES_MIN);
	kthread_stop(thread);
	if (!err)
		err = resizer.result;

destroy:
	kverbs_pair_destroy(&pair);
	return err;
}

static int run_completions(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, with_completions);
}

static int run_small(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, too_small);
}

const struct kverbs_case kverbs_resize_cases[] = {
	{ "resize_with_completions", run_completions },
	{ "resize_too_small", run_small },
	{ "resizing_traffic", run_traffic },
	{}
};
