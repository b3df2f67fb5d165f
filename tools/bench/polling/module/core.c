// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures the cost of an event and of the arming after it if the RDMA core's workqueue polls: from
 * the interrupt to comp_handler, and from done() to the end of the work item, which arms the CQ. No
 * other task runs in between.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/timex.h>
#include <linux/workqueue.h>

#include "polling.h"

/* After this time the work item has ended and the processor is idle. */
#define PAUSE_MS	2

/**
 * struct core - one CQ
 * @endpoint: its CQ and QP
 * @interrupted: time stamp of the last interrupt
 * @scheduled: time stamp of comp_handler
 * @polled: time stamp of done(); 0: it has not run
 * @armed: time stamp of the end of the work item
 * @status: status of the completion
 * @done: the work item has ended
 */
struct core {
	struct polling_endpoint endpoint;
	cycles_t interrupted;
	cycles_t scheduled;
	cycles_t polled;
	cycles_t armed;
	enum ib_wc_status status;
	struct completion done;
};

static void on_interrupt(void *data, int irq, struct irqaction *action)
{
	struct core *core = data;

	core->interrupted = get_cycles();
}

static void on_schedule(void *data, struct ib_cq *cq)
{
	struct core *core = data;

	if (cq == core->endpoint.cq)
		core->scheduled = get_cycles() - core->interrupted;
}

static void on_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct core *core = container_of(wc->wr_cqe, struct core, endpoint.cqe);

	core->status = wc->status;
	core->polled = get_cycles();
}

static void on_work_end(void *data, struct work_struct *work, work_func_t function)
{
	struct core *core = data;

	if (work != &core->endpoint.cq->work || !core->polled)
		return;
	core->armed = get_cycles() - core->polled;
	core->polled = 0;
	complete(&core->done);
}

static int sample(struct core *core)
{
	int err;

	msleep(PAUSE_MS);
	err = polling_endpoint_post(&core->endpoint);
	if (err)
		return err;
	if (!wait_for_completion_timeout(&core->done, POLLING_PATIENCE))
		return -ETIMEDOUT;
	if (core->status != IB_WC_SUCCESS)
		return -EIO;
	polling_say("core %llu %llu", (u64)core->scheduled, (u64)core->armed);
	return 0;
}

static const struct {
	const char *name;
	void *probe;
} watched[] = {
	{ "irq_handler_entry", on_interrupt },
	{ "cq_schedule", on_schedule },
	{ "workqueue_execute_end", on_work_end },
};

static int sample_all(struct core *core, u32 samples)
{
	unsigned int count;
	int err = 0;
	u32 i;

	for (count = 0; count < ARRAY_SIZE(watched); count++) {
		err = polling_watch(watched[count].name, watched[count].probe, core);
		if (err)
			break;
	}
	for (i = 0; i < samples && !err; i++)
		err = sample(core);
	while (count--)
		polling_ignore(watched[count].name, watched[count].probe, core);
	return err;
}

/**
 * polling_measure_core() - measures event and arming of completions that come one at a time
 * @pd: PD of the QP
 * @settings: samples; the context is core-workqueue
 *
 * Reports a line "core CYCLES CYCLES" for each sample: event, arming.
 *
 * Return: 0 or an error
 */
int polling_measure_core(struct ib_pd *pd, const struct polling_settings *settings)
{
	struct core core = {};
	int err;

	if (settings->context->core != IB_POLL_WORKQUEUE)
		return -EINVAL;
	init_completion(&core.done);
	err = polling_endpoint_create(&core.endpoint, pd, settings->context, 1, on_done);
	if (!err)
		err = sample_all(&core, settings->samples);
	polling_endpoint_destroy(&core.endpoint);
	return err;
}
