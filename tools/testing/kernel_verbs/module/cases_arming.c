// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arming races: one thread sends at random moments, another one polls, arms the CQ and sleeps until
 * the completion event. No event may be lost, and none may arrive for a CQ that is not armed.
 */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/pci.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "single.h"

#define MESSAGES	1000
/* Maximum number of outstanding messages, each with a posted receive WR. */
#define WINDOW		16
#define BURST_MAX	6
#define PAUSE_MAX	60 /* microseconds */

/**
 * struct kverbs_race - an arming race
 * @pair: two ends, the first one sends
 * @producer_random: state of the sender's random numbers
 * @consumer_random: state of the receiver's random numbers
 * @messages: number of messages to send
 * @solicited: only the last message of each burst is solicited
 * @received: number of messages received
 * @armed: number of times that the receiver has armed the CQ
 * @result: result of the sender
 */
struct kverbs_race {
	struct kverbs_pair *pair;
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
	u32 pause = prandom_u32_state(random) % (2 * PAUSE_MAX);

	if (pause < PAUSE_MAX)
		udelay(pause);
}

static int send_one(struct kverbs_race *race, u32 number, bool is_last)
{
	struct kverbs_end *end = &race->pair->ends[0];
	struct kverbs_single single;
	int err;

	kverbs_single_send(&single, end, number, 16);
	if (is_last)
		single.send.send_flags |= IB_SEND_SOLICITED;
	err = kverbs_post_single(race->pair, end, &single);
	return err ?: kverbs_await_status(race->pair, end->send_cq, number, IB_WC_SUCCESS);
}

static int send_burst(struct kverbs_race *race, u32 *number)
{
	u32 count = 1 + prandom_u32_state(&race->producer_random) % BURST_MAX;
	int err = 0;

	count = min(count, race->messages - *number);
	for (; count && !err; count--, (*number)++)
		err = send_one(race, *number, count == 1);
	pause_randomly(&race->producer_random);
	return err;
}

static int produce(void *data)
{
	struct kverbs_race *race = data;
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

/* Returns the number of completions, or an error after kverbs_fail(). */
static int poll_all(struct kverbs_race *race)
{
	struct kverbs_end *end = &race->pair->ends[1];
	struct ib_wc wc;
	int polled = 0, err = 0;

	while (!err && ib_poll_cq(end->recv_cq, 1, &wc)) {
		if (wc.status != IB_WC_SUCCESS ||
		    wc.wr_id != atomic_read(&race->received) % KVERBS_SLOTS)
			return kverbs_fail(race->pair->report, "message %d is in receive request %llu, with '%s'",
					atomic_read(&race->received), wc.wr_id,
					ib_wc_status_msg(wc.status));
		err = kverbs_post_slot(race->pair, end, wc.wr_id, 64);
		atomic_inc(&race->received);
		polled++;
	}
	return err ?: polled;
}

static int await_event(struct kverbs_race *race, int events)
{
	struct kverbs_end *end = &race->pair->ends[1];
	const unsigned long limit = jiffies + KVERBS_PATIENCE;

	while (atomic_read(&end->completion_events) == events) {
		if (race->result)
			return race->result;
		if (time_after(jiffies, limit))
			return kverbs_fail(race->pair->report, "an event is lost: message %d of %u, armed %d times, %d events",
					atomic_read(&race->received), race->messages, race->armed,
					events);
		usleep_range(5, 50);
	}
	return 0;
}

/*
 * Before sleeping, the receiver either polls once more after arming, or lets arming report missed
 * events.
 */
static int arm_and_sleep(struct kverbs_race *race)
{
	struct kverbs_end *end = &race->pair->ends[1];
	enum ib_cq_notify_flags flags = race->solicited ? IB_CQ_SOLICITED : IB_CQ_NEXT_COMP;
	bool wants_missed = prandom_u32_state(&race->consumer_random) % 2;
	int events = atomic_read(&end->completion_events);
	int there;

	if (events > race->armed)
		return kverbs_fail(race->pair->report, "%d events, although armed %d times", events,
				race->armed);
	race->armed++;
	there = ib_req_notify_cq(end->recv_cq,
				 flags | (wants_missed ? IB_CQ_REPORT_MISSED_EVENTS : 0));
	if (there < 0)
		return kverbs_fail(race->pair->report, "arming fails with error %d", there);
	pause_randomly(&race->consumer_random);
	if (!wants_missed)
		there = poll_all(race);
	if (there < 0)
		return there;
	return there ? 0 : await_event(race, events);
}

static int consume(struct kverbs_race *race)
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

static int race(struct kverbs_pair *pair, const struct kverbs_settings *settings, bool solicited)
{
	struct kverbs_race race = {
		.pair = pair,
		.messages = MESSAGES * settings->rounds,
		.solicited = solicited,
	};
	struct task_struct *producer;
	int i, err = 0;

	prandom_seed_state(&race.producer_random, settings->seed);
	prandom_seed_state(&race.consumer_random, ~settings->seed);
	for (i = 0; i < KVERBS_SLOTS && !err; i++)
		err = kverbs_post_slot(pair, &pair->ends[1], i, 64);
	if (err)
		return err;
	producer = kthread_run(produce, &race, "cxib_kverbs");
	if (IS_ERR(producer))
		return PTR_ERR(producer);
	err = consume(&race);
	kthread_stop(producer);
	return err ?: race.result;
}

static int run(struct kverbs_report *report, const struct kverbs_settings *settings, bool solicited)
{
	struct kverbs_pair *pair = kzalloc(sizeof(*pair), GFP_KERNEL);
	int err;

	if (!pair)
		return -ENOMEM;
	err = kverbs_pair_create(pair, &kverbs_usual, report);
	if (!err)
		err = race(pair, settings, solicited);
	kverbs_pair_destroy(pair);
	kfree(pair);
	return err;
}

static int run_next(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run(report, settings, false);
}

static int run_solicited(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run(report, settings, true);
}

/* The interrupt controller keeps an interrupt that is disabled pending until it is enabled. */
static void enable_interrupts(struct ib_device *device, bool enable)
{
	struct pci_dev *pdev = to_pci_dev(device->dev.parent);
	int i, irq;

	for (i = 0; i < pci_msix_vec_count(pdev); i++) {
		irq = pci_irq_vector(pdev, i);
		if (irq >= 0 && enable)
			enable_irq(irq);
		else if (irq >= 0)
			disable_irq(irq);
	}
}

static int await_events(struct kverbs_pair *pair, int events)
{
	struct kverbs_end *end = &pair->ends[1];
	const unsigned long limit = jiffies + KVERBS_PATIENCE;

	while (atomic_read(&end->completion_events) < events) {
		if (time_after(jiffies, limit))
			return kverbs_fail(pair->report, "%d events instead of %d",
					   atomic_read(&end->completion_events), events);
		usleep_range(50, 500);
	}
	return 0;
}

static int send_number(struct kverbs_pair *pair, u64 number)
{
	struct kverbs_single single;
	int err;

	kverbs_single_send(&single, &pair->ends[0], number, 16);
	err = kverbs_post_single(pair, &pair->ends[0], &single);
	return err ?: kverbs_await_status(pair, pair->ends[0].send_cq, number, IB_WC_SUCCESS);
}

/* Does what a ULP does that stops its handler, polls the CQ, arms it, and restarts its handler. */
static int arm_beside_event(struct kverbs_pair *pair)
{
	struct kverbs_end *end = &pair->ends[1];
	int err;

	if (ib_req_notify_cq(end->recv_cq, IB_CQ_NEXT_COMP))
		return kverbs_fail(pair->report, "a completion queue cannot be armed");
	enable_interrupts(end->device, false);
	err = send_number(pair, 0);
	if (!err)
		err = kverbs_await_status(pair, end->recv_cq, 0, IB_WC_SUCCESS);
	if (!err && ib_req_notify_cq(end->recv_cq, IB_CQ_NEXT_COMP))
		err = kverbs_fail(pair->report, "a completion queue cannot be armed again");
	enable_interrupts(end->device, true);
	return err;
}

static int next_completion_raises_event(struct kverbs_pair *pair)
{
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++)
		err = kverbs_post_slot(pair, &pair->ends[1], i, 64);
	if (!err)
		err = arm_beside_event(pair);
	if (!err)
		err = await_events(pair, 1);
	if (!err)
		err = send_number(pair, 1);
	return err ?: await_events(pair, 2);
}

static int run_pending(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, next_completion_raises_event);
}

const struct kverbs_case kverbs_arming_cases[] = {
	{ "arming_next", run_next },
	{ "pending_event", run_pending },
	{ "arming_solicited", run_solicited },
	{}
};
