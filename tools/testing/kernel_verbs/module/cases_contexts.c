// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Polling contexts of cxib: each completion once and in order, done() in the context that was asked for,
 * while the context changes, while CQs are resized, and when QPs are drained.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "single.h"

#define LENGTH		64
#define WINDOW		16
#define MESSAGES	1000
/* done() handlers that may sleep do so once in so many. */
#define SLEEP_EVERY	16
/* Each ring has room for the completions of a window. */
#define ENTRIES_MIN	(2 * WINDOW)
#define LOG_GROWTH_MAX	5

struct context_test;

/**
 * struct context_queue - WRs of a direction
 * @test: test
 * @cqe: done() handler of each WR
 * @posted: number of WRs posted
 * @done: number of completions
 * @is_busy: a done() handler is running
 */
struct context_queue {
	struct context_test *test;
	struct ib_cqe cqe[WINDOW];
	u32 posted;
	u32 done;
	atomic_t is_busy;
};

/**
 * struct context_test - sends from the first end to the second one
 * @pair: ends
 * @may_sleep: done() handlers may sleep
 * @fixed: the context, which does not change meanwhile; NULL: it does
 * @is_flushed: completions are expected to be flushed
 * @send: send WRs of the first end
 * @receive: receive WRs of the second end
 * @total: number of messages
 * @window: number of messages that may be under way, 1 to WINDOW
 * @finished: completed with the last receive completion
 * @result: first error; 0: none
 */
struct context_test {
	struct kverbs_pair pair;
	bool may_sleep;
	const struct cxib_cq_options *fixed;
	bool is_flushed;
	struct context_queue send;
	struct context_queue receive;
	u32 total;
	u32 window;
	struct completion finished;
	int result;
};

static void context_fail(struct context_test *test, const char *text, u32 number)
{
	if (!test->result)
		test->result = kverbs_fail(test->pair.report, "%s: completion %u", text, number);
	complete(&test->finished);
}

/* Threads are named after the device, and what they poll. */
static bool is_thread(const char *kind)
{
	return !in_serving_softirq() && current->flags & PF_KTHREAD && strstr(current->comm, kind);
}

/**
 * kverbs_is_in_context() - where a done() handler runs
 * @options: where it should. The settings of the HCA are those of the RDMA core.
 *
 * Return: true if the caller runs there.
 */
bool kverbs_is_in_context(const struct cxib_cq_options *options)
{
	switch (options->context) {
	case CXIB_CQ_SOFTIRQ:
		return in_serving_softirq();
	case CXIB_CQ_THREAD:
		return is_thread(options->flags & CXIB_CQ_OWN_THREAD ? "/cq" : "/comp");
	case CXIB_CQ_WORKQUEUE:
	case CXIB_CQ_UNBOUND_WORKQUEUE:
		return current->flags & PF_WQ_WORKER;
	case CXIB_CQ_DEVICE_SETTINGS:
		return in_serving_softirq() || current->flags & PF_WQ_WORKER;
	default:
		return !in_serving_softirq();
	}
}

/* Where done() runs must be as include/cxib/poll_context.h says. */
static void check_execution(struct context_test *test, u32 number)
{
	if (test->fixed && !kverbs_is_in_context(test->fixed))
		context_fail(test, "done() runs in another context", number);
	if (test->may_sleep) {
		if (in_serving_softirq() || softirq_count() || in_hardirq() || irqs_disabled())
			context_fail(test, "done() cannot sleep", number);
		else if (number % SLEEP_EVERY == 0)
			usleep_range(10, 50);
	} else if (!softirq_count() || in_hardirq()) {
		context_fail(test, "done() runs with bottom halves enabled", number);
	}
}

static void note_completion(struct context_queue *queue, struct ib_wc *wc)
{
	struct context_test *test = queue->test;
	enum ib_wc_status expected = test->is_flushed ? IB_WC_WR_FLUSH_ERR : IB_WC_SUCCESS;

	if (atomic_xchg(&queue->is_busy, 1))
		context_fail(test, "done() runs twice at a time", queue->done);
	if (wc->status != expected)
		context_fail(test, ib_wc_status_msg(wc->status), queue->done);
	if (wc->wr_cqe != &queue->cqe[queue->done % WINDOW])
		context_fail(test, "out of order", queue->done);
	check_execution(test, queue->done);
	atomic_set(&queue->is_busy, 0);
	smp_store_release(&queue->done, queue->done + 1);
}

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_end *end = cq->cq_context;
	struct kverbs_pair *pair = container_of(end, struct kverbs_pair, ends[0]);

	note_completion(&container_of(pair, struct context_test, pair)->send, wc);
}

static void receive_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_end *end = cq->cq_context;
	struct kverbs_pair *pair = container_of(end, struct kverbs_pair, ends[1]);
	struct context_test *test = container_of(pair, struct context_test, pair);

	note_completion(&test->receive, wc);
	if (test->receive.done == test->total)
		complete(&test->finished);
}

static int post_receive(struct context_test *test)
{
	struct context_queue *queue = &test->receive;
	struct kverbs_end *end = &test->pair.ends[1];
	u32 slot = queue->posted % WINDOW;
	struct ib_sge sge = {
		.addr = end->dma + KVERBS_RECEIVES + slot * KVERBS_SLOT_SIZE,
		.length = LENGTH,
		.lkey = end->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &queue->cqe[slot], .sg_list = &sge, .num_sge = 1 };
	int err = ib_post_recv(end->qp, &wr, NULL);

	if (err)
		return kverbs_fail(test->pair.report, "receive WR %u: error %d", queue->posted, err);
	queue->posted++;
	return 0;
}

static int post_send(struct context_test *test)
{
	struct context_queue *queue = &test->send;
	struct kverbs_end *end = &test->pair.ends[0];
	struct kverbs_single single;
	int err;

	kverbs_single_send(&single, end, 0, LENGTH);
	single.send.wr_cqe = &queue->cqe[queue->posted % WINDOW];
	err = ib_post_send(end->qp, &single.send, NULL);
	if (err)
		return kverbs_fail(test->pair.report, "send WR %u: error %d", queue->posted, err);
	queue->posted++;
	return 0;
}

static u32 outstanding(const struct context_queue *queue)
{
	return queue->posted - smp_load_acquire(&queue->done);
}

/* CQs in direct context are polled here; the others by their runner. */
static void poll_direct(struct context_test *test)
{
	if (test->pair.spec.options->context != CXIB_CQ_DIRECT)
		return;
	local_bh_disable();
	ib_process_cq_direct(test->pair.ends[0].send_cq, -1);
	ib_process_cq_direct(test->pair.ends[1].recv_cq, -1);
	local_bh_enable();
}

/* The limit is for the next completion, not for all of them: a machine may be slow. */
static int exchange(struct context_test *test)
{
	unsigned long limit = jiffies + KVERBS_PATIENCE;
	u32 done, seen = 0;
	int err = 0;

	while (!err && !test->result) {
		done = smp_load_acquire(&test->receive.done);
		if (done == test->total)
			break;
		if (done != seen)
			limit = jiffies + KVERBS_PATIENCE;
		seen = done;
		while (!err && test->send.posted < test->total &&
		       outstanding(&test->receive) < test->window &&
		       outstanding(&test->send) < test->window)
			err = post_receive(test) ?: post_send(test);
		poll_direct(test);
		if (time_after(jiffies, limit))
			return kverbs_fail(test->pair.report, "%u of %u messages received, %u sent",
					   test->receive.done, test->total, test->send.done);
		usleep_range(5, 50);
	}
	return err ?: test->result;
}

static int await_sends(struct context_test *test)
{
	const unsigned long limit = jiffies + KVERBS_PATIENCE;

	while (!test->result && outstanding(&test->send)) {
		poll_direct(test);
		if (time_after(jiffies, limit))
			return kverbs_fail(test->pair.report, "%u of %u sends complete",
					   test->send.done, test->send.posted);
		usleep_range(20, 200);
	}
	return test->result;
}

static void init_queue(struct context_test *test, struct context_queue *queue,
		       void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	unsigned int i;

	queue->test = test;
	for (i = 0; i < WINDOW; i++)
		queue->cqe[i].done = done;
}

static bool options_may_sleep(const struct cxib_cq_options *options)
{
	return options->flags & CXIB_CQ_OWN_THREAD || options->context == CXIB_CQ_WORKQUEUE ||
	       options->context == CXIB_CQ_UNBOUND_WORKQUEUE;
}

static int run_traffic(struct context_test *test, u64 seed);

static int with_context(struct kverbs_report *report, const struct kverbs_settings *settings,
			const struct cxib_cq_options *options,
			int (*run)(struct context_test *test, u64 seed))
{
	struct context_test *test = kzalloc(sizeof(*test), GFP_KERNEL);
	struct kverbs_spec spec = kverbs_usual;
	int err;

	if (!test)
		return -ENOMEM;
	spec.core_polls = true;
	spec.options = options;
	test->may_sleep = options_may_sleep(options);
	test->fixed = run == run_traffic ? options : NULL;
	test->total = MESSAGES * settings->rounds;
	test->window = WINDOW;
	init_completion(&test->finished);
	init_queue(test, &test->send, send_done);
	init_queue(test, &test->receive, receive_done);
	err = kverbs_pair_create(&test->pair, &spec, report);
	if (!err)
		err = run(test, settings->seed);
	kverbs_pair_destroy(&test->pair);
	kfree(test);
	return err;
}

static int run_traffic(struct context_test *test, u64 seed)
{
	return exchange(test) ?: await_sends(test);
}

/* Contexts between which a CQ may change: done() may sleep in all, or in none of them. */
static const struct cxib_cq_options sleeping[] = {
	{ .context = CXIB_CQ_WORKQUEUE },
	{ .context = CXIB_CQ_UNBOUND_WORKQUEUE, .weight = CXIB_CQ_WEIGHT_MAX },
	{ .context = CXIB_CQ_THREAD, .flags = CXIB_CQ_OWN_THREAD },
	{ .context = CXIB_CQ_THREAD, .flags = CXIB_CQ_OWN_THREAD, .busy_poll_us = 20 },
};

static const struct cxib_cq_options not_sleeping[] = {
	{ .context = CXIB_CQ_SOFTIRQ },
	{ .context = CXIB_CQ_THREAD, .weight = 3 },
	{ .context = CXIB_CQ_THREAD, .busy_poll_us = 20 },
	{ .context = CXIB_CQ_SOFTIRQ, .weight = CXIB_CQ_WEIGHT_MAX },
};

/**
 * struct context_changer - changes the CQs of a test at random
 * @test: test
 * @random: random numbers
 * @resizes: resizes the CQs, too
 * @started: completed with the first change
 */
struct context_changer {
	struct context_test *test;
	struct rnd_state random;
	bool resizes;
	struct completion started;
};

static int change_once(struct context_changer *changer)
{
	struct context_test *test = changer->test;
	u32 number = prandom_u32_state(&changer->random);
	struct ib_cq *cq = number & 1 ? test->pair.ends[1].recv_cq : test->pair.ends[0].send_cq;
	u32 choice = number >> 1 & 3;

#ifdef KVERBS_RESIZING
	if (changer->resizes && number & 0x100)
		return ib_resize_cq(cq, ENTRIES_MIN << (number >> 1) % LOG_GROWTH_MAX);
#endif
	return cxib_cq_set_context(cq, test->may_sleep ? &sleeping[choice] : &not_sleeping[choice]);
}

static int change_at_random(void *data)
{
	struct context_changer *changer = data;
	int err = 0;

	while (!kthread_should_stop()) {
		if (!err)
			err = change_once(changer);
		complete(&changer->started);
		usleep_range(20, 500);
	}
	return err;
}

static int with_changes(struct context_test *test, u64 seed, bool resizes)
{
	struct context_changer changer = { .test = test, .resizes = resizes };
	struct task_struct *thread;
	int err, failed;

	BUILD_BUG_ON(ARRAY_SIZE(sleeping) != 4 || ARRAY_SIZE(not_sleeping) != 4);
	prandom_seed_state(&changer.random, seed);
	init_completion(&changer.started);
	thread = kthread_run(change_at_random, &changer, "cxib_kverbs");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	/* A thread that is stopped before it has run does nothing. */
	wait_for_completion(&changer.started);
	err = run_traffic(test, seed);
	failed = kthread_stop(thread);
	if (!err && failed)
		err = kverbs_fail(test->pair.report, "a change fails with error %d", failed);
	return err;
}

static int run_changes(struct context_test *test, u64 seed)
{
	return with_changes(test, seed, false);
}

#ifdef KVERBS_RESIZING
/* With one message under way, no later one makes up for a lost event. */
static int run_resizes(struct context_test *test, u64 seed)
{
	if (seed & 1)
		test->window = 1;
	return with_changes(test, seed, true);
}
#endif

/* ib_drain_qp() returns when the done() handler of each WR has run. */
static int run_drain(struct context_test *test, u64 seed)
{
	unsigned int i;
	int err = 0;

	test->is_flushed = true;
	for (i = 0; i < WINDOW && !err; i++)
		err = post_receive(test);
	if (err)
		return err;
	ib_drain_qp(test->pair.ends[1].qp);
	if (!test->result && test->receive.done != WINDOW)
		return kverbs_fail(test->pair.report, "%u of %u receive WRs flushed",
				   test->receive.done, WINDOW);
	return test->result;
}

/* Freed with completions that the test does not await, while an event may be on its way. */
static int run_free(struct context_test *test, u64 seed)
{
	struct rnd_state random;
	int err = 0;
	u32 i, count;

	prandom_seed_state(&random, seed);
	count = 1 + prandom_u32_state(&random) % WINDOW;
	for (i = 0; i < count && !err; i++)
		err = post_receive(test) ?: post_send(test);
	udelay(prandom_u32_state(&random) % 100);
	/* The ends are destroyed one after the other: what completes from here on does not matter. */
	WRITE_ONCE(test->result, -ECANCELED);
	return err;
}

#define OPTIONS(value, ...)	{ .context = CXIB_CQ_##value, __VA_ARGS__ }
#define CASE(name, function, value, ...)						\
	static int run_##name(struct kverbs_report *report,				\
			      const struct kverbs_settings *settings)			\
	{										\
		static const struct cxib_cq_options options = OPTIONS(value, __VA_ARGS__);	\
											\
		return with_context(report, settings, &options, function);		\
	}

CASE(direct_traffic, run_traffic, DIRECT)
CASE(softirq_traffic, run_traffic, SOFTIRQ)
CASE(thread_traffic, run_traffic, THREAD)
CASE(own_thread_traffic, run_traffic, THREAD, .flags = CXIB_CQ_OWN_THREAD)
CASE(workqueue_traffic, run_traffic, WORKQUEUE)
CASE(unbound_traffic, run_traffic, UNBOUND_WORKQUEUE)
CASE(softirq_changes, run_changes, SOFTIRQ)
CASE(sleeping_changes, run_changes, WORKQUEUE)
#ifdef KVERBS_RESIZING
CASE(softirq_resizes, run_resizes, SOFTIRQ)
CASE(sleeping_resizes, run_resizes, WORKQUEUE)
#endif
CASE(softirq_drain, run_drain, SOFTIRQ)
CASE(thread_drain, run_drain, THREAD)
CASE(own_thread_drain, run_drain, THREAD, .flags = CXIB_CQ_OWN_THREAD)
CASE(workqueue_drain, run_drain, WORKQUEUE)
CASE(unbound_drain, run_drain, UNBOUND_WORKQUEUE)
CASE(softirq_free, run_free, SOFTIRQ)
CASE(thread_free, run_free, THREAD)
CASE(own_thread_free, run_free, THREAD, .flags = CXIB_CQ_OWN_THREAD)
CASE(workqueue_free, run_free, WORKQUEUE)
CASE(unbound_free, run_free, UNBOUND_WORKQUEUE)

const struct kverbs_case kverbs_context_cases[] = {
	{ "context_direct_traffic", run_direct_traffic },
	{ "context_softirq_traffic", run_softirq_traffic },
	{ "context_thread_traffic", run_thread_traffic },
	{ "context_own_thread_traffic", run_own_thread_traffic },
	{ "context_workqueue_traffic", run_workqueue_traffic },
	{ "context_unbound_traffic", run_unbound_traffic },
	{ "context_softirq_changes", run_softirq_changes },
	{ "context_sleeping_changes", run_sleeping_changes },
#ifdef KVERBS_RESIZING
	{ "context_softirq_resizes", run_softirq_resizes },
	{ "context_sleeping_resizes", run_sleeping_resizes },
#endif
	{ "context_softirq_drain", run_softirq_drain },
	{ "context_thread_drain", run_thread_drain },
	{ "context_own_thread_drain", run_own_thread_drain },
	{ "context_workqueue_drain", run_workqueue_drain },
	{ "context_unbound_drain", run_unbound_drain },
	{ "context_softirq_free", run_softirq_free },
	{ "context_thread_free", run_thread_free },
	{ "context_own_thread_free", run_own_thread_free },
	{ "context_workqueue_free", run_workqueue_free },
	{ "context_unbound_free", run_unbound_free },
	{ "context_full_softirq", kverbs_context_full_softirq },
	{ "context_full_sleeping", kverbs_context_full_sleeping },
	{ "context_invalid_options", kverbs_context_input },
	{ "context_killed_caller", kverbs_context_killed },
	{ "context_no_options", kverbs_context_no_options },
	{}
};
