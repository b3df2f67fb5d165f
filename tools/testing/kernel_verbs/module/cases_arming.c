// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arming races: one thread sends at random moments, another polls, arms and
 * sleeps until it is told. No event may be lost, none may come without having
 * been asked for.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "single.h"

#define MESSAGES	1000
/* Messages under way at most: receive requests are there for them. */
#define WINDOW		16
#define BURST_MOST	6
#define PAUSE_MOST	60 /* microseconds */

/**
 * struct ulp_race - a race
 * @pair: two ends, the first one sends
 * @producer_random: numbers of the sender
 * @consumer_random: numbers of the receiver
 * @messages: how many there will be
 * @solicited: only the last message of each burst asks for an event
 * @received: messages so far
 * @armed: how often the receiver has asked to be told
 * @result: of the sender
 */
struct ulp_race {
	struct ulp_pair *pair;
	struct rnd_state producer_random;
	struct rnd_state consumer_random;
	u32 messages;
	bool solicited;
	atomic_t received;
	int armed;
	int result;
};

static void pause_randomly(struct rnd_state *random)
{
	u32 pause = prandom_u32_state(random) % (2 * PAUSE_MOST);

	if (pause < PAUSE_MOST)
		udelay(pause);
}

static int send_one(struct ulp_race *race, u32 number, bool is_last)
{
	struct ulp_end *end = &race->pair->ends[0];
	struct ulp_single single;
	int err;

	ulp_single_send(&single, end, number, 16);
	if (is_last)
		single.send.send_flags |= IB_SEND_SOLICITED;
	err = ulp_post_single(race->pair, end, &single);
	return err ?: ulp_await_status(race->pair, end->send_cq, number, IB_WC_SUCCESS);
}

static int send_burst(struct ulp_race *race, u32 *number)
{
	u32 count = 1 + prandom_u32_state(&race->producer_random) % BURST_MOST;
	int err = 0;

	count = min(count, race->messages - *number);
	for (; count && !err; count--, (*number)++)
		err = send_one(race, *number, count == 1);
	pause_randomly(&race->producer_random);
	return err;
}

static int produce(void *data)
{
	struct ulp_race *race = data;
	u32 number = 0;

	while (number < race->messages && !race->result && !kthread_should_stop()) {
		if (number - atomic_read(&race->received) > WINDOW)
			usleep_range(10, 100);
		else
			race->result = send_burst(race, &number);
	}
	while (!kthread_should_stop())
		usleep_range(100, 1000);
	return 0;
}

/* Returns how many there were, or an error after ulp_fail(). */
static int poll_all(struct ulp_race *race)
{
	struct ulp_end *end = &race->pair->ends[1];
	struct ib_wc wc;
	int polled = 0, err = 0;

	while (!err && ib_poll_cq(end->recv_cq, 1, &wc)) {
		if (wc.status != IB_WC_SUCCESS ||
		    wc.wr_id != atomic_read(&race->received) % ULP_SLOTS)
			return ulp_fail(race->pair->report, "message %d is in receive request %llu, with '%s'",
					atomic_read(&race->received), wc.wr_id,
					ib_wc_status_msg(wc.status));
		err = ulp_post_slot(race->pair, end, wc.wr_id, 64);
		atomic_inc(&race->received);
		polled++;
	}
	return err ?: polled;
}

static int await_event(struct ulp_race *race, int events)
{
	struct ulp_end *end = &race->pair->ends[1];
	const unsigned long limit = jiffies + ULP_PATIENCE;

	while (atomic_read(&end->completion_events) == events) {
		if (race->result)
			return race->result;
		if (time_after(jiffies, limit))
			return ulp_fail(race->pair->report, "an event is lost: message %d of %u, armed %d times, %d events",
					atomic_read(&race->received), race->messages, race->armed,
					events);
		usleep_range(5, 50);
	}
	return 0;
}

/*
 * The two ways to sleep: poll once more after arming, or have arming say that
 * something is there already.
 */
static int arm_and_sleep(struct ulp_race *race)
{
	struct ulp_end *end = &race->pair->ends[1];
	enum ib_cq_notify_flags flags = race->solicited ? IB_CQ_SOLICITED : IB_CQ_NEXT_COMP;
	bool wants_missed = prandom_u32_state(&race->consumer_random) % 2;
	int events = atomic_read(&end->completion_events);
	int there;

	if (events > race->armed)
		return ulp_fail(race->pair->report, "%d events, although armed %d times", events,
				race->armed);
	race->armed++;
	there = ib_req_notify_cq(end->recv_cq,
				 flags | (wants_missed ? IB_CQ_REPORT_MISSED_EVENTS : 0));
	if (there < 0)
		return ulp_fail(race->pair->report, "arming fails with error %d", there);
	pause_randomly(&race->consumer_random);
	if (!wants_missed)
		there = poll_all(race);
	if (there < 0)
		return there;
	return there ? 0 : await_event(race, events);
}

static int consume(struct ulp_race *race)
{
	int polled, err = 0;

	while (atomic_read(&race->received) < race->messages && !err) {
		polled = poll_all(race);
		if (polled < 0)
			return polled;
		if (atomic_read(&race->received) == race->messages)
			break;
		pause_randomly(&race->consumer_random);
		if (!polled)
			err = arm_and_sleep(race);
	}
	return err;
}

static int race(struct ulp_pair *pair, const struct ulp_settings *settings, bool solicited)
{
	struct ulp_race race = {
		.pair = pair,
		.messages = MESSAGES * settings->rounds,
		.solicited = solicited,
	};
	struct task_struct *producer;
	int i, err = 0;

	prandom_seed_state(&race.producer_random, settings->seed);
	prandom_seed_state(&race.consumer_random, ~settings->seed);
	for (i = 0; i < ULP_SLOTS && !err; i++)
		err = ulp_post_slot(pair, &pair->ends[1], i, 64);
	if (err)
		return err;
	producer = kthread_run(produce, &race, "cxib_ulp");
	if (IS_ERR(producer))
		return PTR_ERR(producer);
	err = consume(&race);
	kthread_stop(producer);
	return err ?: race.result;
}

static int run(struct ulp_report *report, const struct ulp_settings *settings, bool solicited)
{
	struct ulp_pair *pair = kzalloc(sizeof(*pair), GFP_KERNEL);
	int err;

	if (!pair)
		return -ENOMEM;
	err = ulp_pair_create(pair, &ulp_usual, report);
	if (!err)
		err = race(pair, settings, solicited);
	ulp_pair_destroy(pair);
	kfree(pair);
	return err;
}

static int run_next(struct ulp_report *report, const struct ulp_settings *settings)
{
	return run(report, settings, false);
}

static int run_solicited(struct ulp_report *report, const struct ulp_settings *settings)
{
	return run(report, settings, true);
}

const struct ulp_case ulp_arming_cases[] = {
	{ "arming_next", run_next },
	{ "arming_solicited", run_solicited },
	{}
};
