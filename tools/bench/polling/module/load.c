// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CQs that are always full (the hogs), and one that is mostly idle. done() of a hog works for a
 * given time and posts the next WR. One timer posts the WRs of the idle CQ, and another one ends
 * the measurement, both in interrupt context: nothing else is certain to run while the hogs do.
 *
 * The latency of an idle CQ's completion starts at the interrupt that reports it. If an earlier
 * completion of the CQ still waits, no interrupt follows, and the latency starts when a hog or the
 * timer sees the CQE. The time between posting and interrupt is excluded, because an emulated
 * device has to wait for a processor. An interrupt may come for another CQ when the idle CQ's CQE
 * exists but moderation delays its event.
 */
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "polling.h"

struct cxib_cq;

#define CALIBRATION_LOOPS	1000000
#define WINDOW_MS		1000
/*
 * Outstanding WRs of a hog: more than a cheap done() completes while an emulated device waits for a
 * processor, or in one time slice of the scheduler. Otherwise a hog would sometimes be empty.
 */
#define HOG_DEPTH		1024
/* Maximum of outstanding WRs of the idle CQ: more than any context lets it wait for. */
#define IDLE_DEPTH		2048

/**
 * struct hog - a CQ that is always full
 * @endpoint: its CQ and QP
 * @load: measurement of the hog
 * @loops: work of done()
 * @posted: WRs posted; written before the first completion, then by done() only
 * @completed: number of completions
 */
struct hog {
	struct polling_endpoint endpoint;
	struct load *load;
	u64 loops;
	u64 posted;
	u64 completed;
};

/**
 * struct load - a measurement
 * @settings: what to measure
 * @hogs: the hogs
 * @idle: CQ that is mostly idle
 * @timer: posts WRs to the idle CQ
 * @posted: number of WRs posted to the idle CQ
 * @delayed: number of timer expirations at which the idle CQ's send queue was full
 * @latencies_ns: for each WR the start of its completion's wait, then the time from there to done()
 * @noted: number of WRs whose completions have begun to wait; protected by disabled interrupts
 * @interrupted_ns: time of the last interrupt
 * @is_reported: the last interrupt has brought an event of the idle CQ
 * @reports: number of such interrupts
 * @completed: number of valid entries in @latencies_ns
 * @room: number of entries in @latencies_ns
 * @holder: hog whose done() has run last
 * @held_since: start of the first done() of @holder in a row
 * @longest_hold_ns: longest time in which only done() of one hog ran while all hogs were full
 * @sampler: timer that fills @windows
 * @windows: completions of each hog at the end of each second
 * @window_count: number of @windows
 * @started: all hogs are full
 * @stopping: done() posts no more WRs
 * @open: number of outstanding WRs, plus 1 until the measurement ends
 * @drained: completed when @open is 0
 * @enough: number of CQs with enough completions to end the measurement
 * @ended: completed when @enough is reached or something has failed
 * @err: first error
 */
struct load {
	const struct polling_settings *settings;
	struct hog hogs[POLLING_MAX_HOGS];
	struct polling_endpoint idle;
	struct hrtimer timer;
	u32 posted;
	u32 delayed;
	u64 *latencies_ns;
	u32 noted;
	u64 interrupted_ns;
	bool is_reported;
	u32 reports;
	u32 completed;
	u32 room;
	struct hog *holder;
	u64 held_since;
	u64 longest_hold_ns;
	struct hrtimer sampler;
	u64 windows[POLLING_MAX_SECONDS][POLLING_MAX_HOGS];
	u32 window_count;
	bool started;
	bool stopping;
	atomic_t open;
	struct completion drained;
	atomic_t enough;
	struct completion ended;
	int err;
};

/* Counts iterations, not time, so that interruption and preemption do not reduce the work. */
static noinline void work(u64 loops)
{
	while (loops--)
		barrier();
}

static u64 loops_per_us(void)
{
	u64 start = ktime_get_ns();

	work(CALIBRATION_LOOPS);
	return div64_u64((u64)CALIBRATION_LOOPS * NSEC_PER_USEC, ktime_get_ns() - start) ?: 1;
}

static u64 period_ns(const struct load *load)
{
	return (u64)load->settings->period_us * NSEC_PER_USEC;
}

static void fail(struct load *load, int err)
{
	if (!cmpxchg(&load->err, 0, err))
		complete(&load->ended);
}

static void close_one(struct load *load)
{
	if (atomic_dec_and_test(&load->open))
		complete(&load->drained);
}

/* Called for each completion of a CQ. `enough` is reached once; 0 is never reached. */
static void note_progress(struct load *load, u64 completed, u32 enough)
{
	if (completed == enough &&
	    atomic_inc_return(&load->enough) == load->settings->hogs + 1)
		complete(&load->ended);
}

/* Records that the completions in the idle CQ's ring have begun to wait. */
static void note_waiting(struct load *load, u64 since_ns)
{
	struct ib_cq *cq = load->idle.cq;
	unsigned long flags;
	int visible;

	local_irq_save(flags);
	visible = cq->device->ops.peek_cq(cq, IDLE_DEPTH);
	while (visible > 0 && load->noted < load->completed + visible)
		load->latencies_ns[load->noted++] = since_ns;
	local_irq_restore(flags);
}

static void on_interrupt(void *data, int irq, struct irqaction *action)
{
	struct load *load = data;

	load->interrupted_ns = ktime_get_ns();
	load->is_reported = false;
}

/*
 * The caller holds the lock of the idle CQ's polling context, so this function must not access the
 * CQ.
 */
static void on_event(struct load *load, const void *cq)
{
	if (cq == load->idle.cq)
		load->is_reported = true;
}

static void on_core_event(void *data, struct ib_cq *cq)
{
	on_event(data, cq);
}

/* struct cxib_cq starts with its struct ib_cq. */
static void on_cxib_event(void *data, const struct cxib_cq *cq)
{
	on_event(data, cq);
}

static void on_interrupt_end(void *data, int irq, struct irqaction *action, int result)
{
	struct load *load = data;

	if (!load->is_reported)
		return;
	load->is_reported = false;
	load->reports++;
	note_waiting(load, load->interrupted_ns);
}

/* Tracepoints that report events of the idle CQ. Each CQ has one of the two. */
static const struct {
	const char *name;
	void *probe;
} watched[] = {
	{ "irq_handler_entry", on_interrupt },
	{ "irq_handler_exit", on_interrupt_end },
	{ "cq_schedule", on_core_event },
	{ "cq_queue", on_cxib_event },
};

/* An armed CQ will get an interrupt. A CQ whose completions already wait will not. */
static void note_without_interrupt(struct load *load)
{
	if (READ_ONCE(load->noted) > READ_ONCE(load->completed))
		note_waiting(load, ktime_get_ns());
}

static void note_holder(struct hog *hog, u64 start)
{
	struct load *load = hog->load;

	if (!READ_ONCE(load->started) || READ_ONCE(load->stopping))
		return;
	if (load->holder != hog) {
		load->holder = hog;
		load->held_since = start;
	}
	load->longest_hold_ns = max(load->longest_hold_ns, ktime_get_ns() - load->held_since);
}

/* The new WR takes the WQE of the completed one. */
static bool repost(struct hog *hog)
{
	struct load *load = hog->load;
	int err;

	if (READ_ONCE(load->stopping) || READ_ONCE(load->err))
		return false;
	err = polling_endpoint_post(&hog->endpoint);
	if (err)
		fail(load, err);
	else
		hog->posted++;
	return !err;
}

static void on_hog_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct hog *hog = container_of(wc->wr_cqe, struct hog, endpoint.cqe);
	struct load *load = hog->load;
	u64 start = ktime_get_ns();

	work(hog->loops);
	note_holder(hog, start);
	note_without_interrupt(load);
	WRITE_ONCE(hog->completed, hog->completed + 1);
	if (wc->status != IB_WC_SUCCESS)
		fail(load, -EIO);
	note_progress(load, hog->completed, load->settings->completions);
	if (!repost(hog))
		close_one(load);
}

static void on_idle_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct load *load = container_of(wc->wr_cqe, struct load, idle.cqe);

	unsigned long flags;

	local_irq_save(flags);
	/* A completion that is polled before its interrupt has not waited. */
	if (load->noted == load->completed)
		load->latencies_ns[load->noted++] = ktime_get_ns();
	load->latencies_ns[load->completed] = ktime_get_ns() - load->latencies_ns[load->completed];
	load->holder = NULL;
	local_irq_restore(flags);
	/* The timer loads this value first and may then post another WR. */
	smp_store_release(&load->completed, load->completed + 1);
	if (wc->status != IB_WC_SUCCESS)
		fail(load, -EIO);
	note_progress(load, load->completed, !!load->settings->completions);
	close_one(load);
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	struct load *load = container_of(timer, struct load, timer);
	int err;

	hrtimer_forward_now(timer, ns_to_ktime(period_ns(load)));
	if (load->posted == load->room)
		return HRTIMER_NORESTART;
	if (load->posted - smp_load_acquire(&load->completed) == IDLE_DEPTH) {
		load->delayed++;
		return HRTIMER_RESTART;
	}
	note_without_interrupt(load);
	atomic_inc(&load->open);
	load->posted++;
	err = polling_endpoint_post(&load->idle);
	if (!err)
		return HRTIMER_RESTART;
	fail(load, err);
	close_one(load);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart on_sample(struct hrtimer *timer)
{
	struct load *load = container_of(timer, struct load, sampler);
	u32 i;

	hrtimer_forward_now(timer, ms_to_ktime(WINDOW_MS));
	for (i = 0; i < load->settings->hogs; i++)
		load->windows[load->window_count][i] = READ_ONCE(load->hogs[i].completed);
	if (++load->window_count < load->settings->seconds)
		return HRTIMER_RESTART;
	WRITE_ONCE(load->stopping, true);
	complete(&load->ended);
	return HRTIMER_NORESTART;
}

static int create_endpoints(struct load *load, struct ib_pd *pd)
{
	const struct polling_settings *settings = load->settings;
	u64 per_us = loops_per_us();
	u32 i;
	int err;

	for (i = 0; i < settings->hogs; i++) {
		struct hog *hog = &load->hogs[i];

		hog->load = load;
		hog->loops = settings->costs_us[i] * per_us;
		err = polling_endpoint_create(&hog->endpoint, pd, settings->context, HOG_DEPTH,
					      on_hog_done);
		if (err)
			return err;
	}
	return polling_endpoint_create(&load->idle, pd, settings->context, IDLE_DEPTH, on_idle_done);
}

static void destroy_endpoints(struct load *load)
{
	u32 i;

	for (i = 0; i < load->settings->hogs; i++)
		polling_endpoint_destroy(&load->hogs[i].endpoint);
	polling_endpoint_destroy(&load->idle);
}

/* Fills the CQ. The counters are set first, because done() may run before this function returns. */
static int fill(struct hog *hog)
{
	struct ib_rdma_wr *list = kcalloc(HOG_DEPTH, sizeof(*list), GFP_KERNEL);
	const struct ib_send_wr *bad = NULL;
	unsigned int i;
	int err;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < HOG_DEPTH; i++) {
		list[i].wr.wr_cqe = &hog->endpoint.cqe;
		list[i].wr.opcode = IB_WR_RDMA_WRITE;
		list[i].wr.next = i + 1 < HOG_DEPTH ? &list[i + 1].wr : NULL;
	}
	hog->posted = HOG_DEPTH;
	atomic_add(HOG_DEPTH, &hog->load->open);
	err = ib_post_send(hog->endpoint.qp, &list[0].wr, &bad);
	if (err)
		atomic_sub(HOG_DEPTH - (rdma_wr(bad) - list), &hog->load->open);
	kfree(list);
	return err;
}

static void init_timer(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *))
{
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer->function = function;
}

static void run_timers(struct load *load)
{
	WRITE_ONCE(load->started, true);
	hrtimer_start(&load->sampler, ms_to_ktime(WINDOW_MS), HRTIMER_MODE_REL_HARD);
	hrtimer_start(&load->timer, ns_to_ktime(period_ns(load)), HRTIMER_MODE_REL_HARD);
	wait_for_completion(&load->ended);
	hrtimer_cancel(&load->timer);
	hrtimer_cancel(&load->sampler);
}

static int run(struct load *load)
{
	u32 i;
	int err = 0;

	for (i = 0; i < load->settings->hogs && !err; i++)
		err = fill(&load->hogs[i]);
	if (!err)
		run_timers(load);
	WRITE_ONCE(load->stopping, true);
	close_one(load);
	if (!wait_for_completion_timeout(&load->drained, POLLING_PATIENCE))
		return -ETIMEDOUT;
	return err ?: load->err;
}

static int run_watched(struct load *load)
{
	unsigned int count;
	int err = 0;

	for (count = 0; count < ARRAY_SIZE(watched); count++) {
		err = polling_watch(watched[count].name, watched[count].probe, load);
		if (err)
			break;
	}
	if (!err)
		err = run(load);
	while (count--)
		polling_ignore(watched[count].name, watched[count].probe, load);
	return err;
}

static void report(const struct load *load)
{
	u32 i, window;

	for (i = 0; i < load->settings->hogs; i++)
		polling_say("hog %u cost_us %u posted %llu completed %llu", i,
			    load->settings->costs_us[i], load->hogs[i].posted, load->hogs[i].completed);
	for (window = 0; window < load->window_count; window++)
		for (i = 0; i < load->settings->hogs; i++)
			polling_say("window %u hog %u completed %llu", window, i,
				    load->windows[window][i]);
	polling_say("longest_hold_ns %llu", load->longest_hold_ns);
	polling_say("idle posted %u completed %u delayed %u reports %u", load->posted,
		    load->completed, load->delayed, load->reports);
	for (i = 0; i < load->completed; i++)
		polling_say("latency_ns %llu", load->latencies_ns[i]);
}

static struct load *alloc_load(const struct polling_settings *settings)
{
	struct load *load = kvzalloc(sizeof(*load), GFP_KERNEL);

	if (!load)
		return NULL;
	load->settings = settings;
	/* One WR per period, and one for a timer that expires early. */
	load->room = div_u64((u64)settings->seconds * USEC_PER_SEC, settings->period_us) + 1;
	load->latencies_ns = vcalloc(load->room, sizeof(*load->latencies_ns));
	init_completion(&load->drained);
	init_completion(&load->ended);
	init_timer(&load->timer, on_timer);
	init_timer(&load->sampler, on_sample);
	atomic_set(&load->open, 1);
	return load;
}

/**
 * polling_measure_load() - measures latency of an idle CQ and shares of full CQs
 * @pd: PD of the QPs
 * @settings: what to measure
 *
 * Reports lines with a name and pairs of words and numbers, see report().
 *
 * Return: 0 or an error
 */
int polling_measure_load(struct ib_pd *pd, const struct polling_settings *settings)
{
	struct load *load = alloc_load(settings);
	int err;

	if (!load)
		return -ENOMEM;
	err = load->latencies_ns ? create_endpoints(load, pd) : -ENOMEM;
	if (!err)
		err = run_watched(load);
	if (!err)
		report(load);
	destroy_endpoints(load);
	vfree(load->latencies_ns);
	kvfree(load);
	return err;
}
