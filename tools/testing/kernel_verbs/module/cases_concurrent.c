// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One thread posts to full queues while another one polls their CQs, so that each WQE is
 * overwritten as soon as it has completed.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "single.h"
#include "traffic.h"

#define WRS		2000
#define LENGTH		32
/* A small queue is full nearly all the time. */
#define MAX_WR		8
#define POLLED_MAX	4

/**
 * struct kverbs_sequence - random send WRs; both threads draw the same sequence
 * @random: state of the random numbers
 * @number: wr_id of the last WR drawn, counted from 1
 * @sends: number of WRs that arrive at the peer's receive queue
 * @registered: the local key is registered after these WRs
 * @opcode: opcode of the last WR drawn
 * @signaled: whether the last WR drawn is signaled
 */
struct kverbs_sequence {
	struct rnd_state random;
	u32 number;
	u32 sends;
	bool registered;
	enum ib_wr_opcode opcode;
	bool signaled;
};

/**
 * struct kverbs_concurrent - two threads and a QP
 * @pair: two ends, the first one sends
 * @wrs: number of send WRs
 * @to_post: sequence of the posting thread
 * @to_complete: sequence of the polling thread
 * @received: number of completed receive WRs
 * @refused: error of the refused WR of @to_post; the poster stores it with release
 *	semantics, the poller loads it with acquire semantics
 */
struct kverbs_concurrent {
	struct kverbs_pair *pair;
	u32 wrs;
	struct kverbs_sequence to_post;
	struct kverbs_sequence to_complete;
	u32 received;
	int refused;
};

static void draw(struct kverbs_sequence *sequence, u32 wrs)
{
	u32 random = prandom_u32_state(&sequence->random);

	sequence->number++;
	/*
	 * A full queue must contain a signaled WR, because unsignaled WRs are freed by the next
	 * signaled one.
	 */
	sequence->signaled = random % 3 == 0 || sequence->number % MAX_WR == 0 ||
			     sequence->number == wrs;
	switch (random / 3 % 4) {
	case 0:
		sequence->opcode = IB_WR_RDMA_WRITE;
		break;
	case 1:
		sequence->opcode = sequence->registered ? IB_WR_LOCAL_INV : IB_WR_REG_MR;
		sequence->registered = !sequence->registered;
		break;
	default:
		sequence->opcode = IB_WR_SEND;
		sequence->sends++;
	}
}

static void make_wr(struct kverbs_concurrent *run, struct kverbs_single *single)
{
	struct kverbs_end *end = &run->pair->ends[0], *peer = &run->pair->ends[1];
	const struct kverbs_sequence *sequence = &run->to_post;

	kverbs_single_write(single, end, sequence->number, peer->dma + KVERBS_EXPOSED,
			    peer->exposed_key->rkey, LENGTH);
	single->send.opcode = sequence->opcode;
	single->send.send_flags = sequence->signaled ? IB_SEND_SIGNALED : 0;
	if (sequence->opcode == IB_WR_REG_MR) {
		single->send.num_sge = 0;
		single->reg.mr = end->local_key;
		single->reg.key = end->local_key->rkey;
		single->reg.access = IB_ACCESS_LOCAL_WRITE;
	} else if (sequence->opcode == IB_WR_LOCAL_INV) {
		single->send.num_sge = 0;
		single->send.ex.invalidate_rkey = end->local_key->rkey;
	}
}

static int post_send(struct kverbs_concurrent *run)
{
	const struct ib_send_wr *bad;
	struct kverbs_single single;

	make_wr(run, &single);
	return ib_post_send(run->pair->ends[0].qp, &single.send, &bad);
}

/* Returns whether to post again: the queue is full and the other thread still frees entries. */
static bool is_full(struct kverbs_concurrent *run, int err, unsigned long limit)
{
	if (err != -ENOMEM || time_after(jiffies, limit) || kthread_should_stop())
		return false;
	cond_resched();
	return true;
}

/* Posts the receive WR first, so that the message finds it. */
static int post_one(struct kverbs_concurrent *run)
{
	const unsigned long limit = jiffies + KVERBS_PATIENCE;
	int err = 0;

	if (run->to_post.opcode == IB_WR_SEND) {
		do
			err = kverbs_try_slot(&run->pair->ends[1], run->to_post.sends, LENGTH);
		while (is_full(run, err, limit));
	}
	if (err)
		return err;
	do
		err = post_send(run);
	while (is_full(run, err, limit));
	return err;
}

static int post_all(void *data)
{
	struct kverbs_concurrent *run = data;
	int err = 0;

	while (run->to_post.number < run->wrs && !err && !kthread_should_stop()) {
		draw(&run->to_post, run->wrs);
		err = post_one(run);
	}
	if (err)
		smp_store_release(&run->refused, err);
	while (!kthread_should_stop())
		usleep_range(50, 500);
	return 0;
}

static int check(struct kverbs_concurrent *run, const struct ib_wc *wc, u32 number,
		 enum ib_wc_opcode opcode)
{
	if (wc->wr_id == number && wc->status == IB_WC_SUCCESS && wc->opcode == opcode)
		return 0;
	return kverbs_fail(run->pair->report, "request %llu completes as opcode %d with '%s' (vendor syndrome 0x%x), request %u should as opcode %d",
			   wc->wr_id, wc->opcode, ib_wc_status_msg(wc->status), wc->vendor_err,
			   number, opcode);
}

static int check_send(struct kverbs_concurrent *run, const struct ib_wc *wc)
{
	struct kverbs_sequence *sequence = &run->to_complete;

	if (sequence->number == run->wrs)
		return kverbs_fail(run->pair->report, "request %llu completes after the last one", wc->wr_id);
	do
		draw(sequence, run->wrs);
	while (!sequence->signaled);
	return check(run, wc, sequence->number, kverbs_completions[sequence->opcode]);
}

/* Returns the number of completions, or an error after kverbs_fail(). */
static int poll_both(struct kverbs_concurrent *run)
{
	struct ib_wc wcs[POLLED_MAX];
	int i, sends, receives, err = 0;

	sends = ib_poll_cq(run->pair->ends[0].send_cq, POLLED_MAX, wcs);
	for (i = 0; i < sends && !err; i++)
		err = check_send(run, &wcs[i]);
	if (sends < 0 || err)
		return err ?: kverbs_fail(run->pair->report, "polling fails with error %d", sends);
	receives = ib_poll_cq(run->pair->ends[1].recv_cq, POLLED_MAX, wcs);
	for (i = 0; i < receives && !err; i++)
		err = check(run, &wcs[i], ++run->received, IB_WC_RECV);
	if (receives < 0 || err)
		return err ?: kverbs_fail(run->pair->report, "polling fails with error %d", receives);
	return sends + receives;
}

static int poll_all(struct kverbs_concurrent *run)
{
	unsigned long limit = jiffies + KVERBS_PATIENCE;
	int polled, refused;

	while (run->to_complete.number < run->wrs || run->received < run->to_complete.sends) {
		polled = poll_both(run);
		if (polled < 0)
			return polled;
		refused = smp_load_acquire(&run->refused);
		if (polled)
			limit = jiffies + KVERBS_PATIENCE;
		else if (refused)
			return kverbs_fail(run->pair->report, "request %u (opcode %d) is refused with error %d",
					   run->to_post.number, run->to_post.opcode, refused);
		else if (time_after(jiffies, limit))
			return kverbs_fail(run->pair->report, "no completion comes after request %u of %u and %u messages; request %u is posted last (opcode %d, %u messages)",
					   run->to_complete.number, run->wrs, run->received,
					   run->to_post.number, run->to_post.opcode, run->to_post.sends);
		cond_resched();
	}
	return 0;
}

static int run_both(struct kverbs_concurrent *run)
{
	struct task_struct *poster = kthread_run(post_all, run, "cxib_kverbs");
	int err;

	if (IS_ERR(poster))
		return PTR_ERR(poster);
	err = poll_all(run);
	kthread_stop(poster);
	return err ?: kverbs_await_nothing(run->pair);
}

static int test(struct kverbs_report *report, const struct kverbs_settings *settings, bool shared)
{
	struct kverbs_spec spec = kverbs_usual;
	struct kverbs_pair pair;
	struct kverbs_concurrent run = { .pair = &pair, .wrs = WRS * settings->rounds };
	int err;

	spec.shared = shared;
	spec.max_wr = MAX_WR;
	prandom_seed_state(&run.to_post.random, settings->seed);
	prandom_seed_state(&run.to_complete.random, settings->seed);
	err = kverbs_pair_create(&pair, &spec, report);
	if (!err)
		err = kverbs_register(&pair, &pair.ends[1], pair.ends[1].exposed_key,
				      pair.ends[1].dma + KVERBS_EXPOSED, KVERBS_AREA_SIZE,
				      IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	if (!err)
		err = kverbs_map_key(pair.ends[0].local_key, pair.ends[0].dma + KVERBS_LOCAL,
				     KVERBS_AREA_SIZE);
	if (!err)
		err = run_both(&run);
	kverbs_pair_destroy(&pair);
	return err;
}

static int run_own(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return test(report, settings, false);
}

static int run_shared(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return test(report, settings, true);
}

const struct kverbs_case kverbs_concurrent_cases[] = {
	{ "concurrent_own_receives", run_own },
	{ "concurrent_shared_receives", run_shared },
	{}
};
