// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures the time from the interrupt to done() on a vector without other traffic. The time stamp
 * counter is read before the driver's handler runs, and in done().
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/timex.h>

#include "polling.h"

/* After this time the processor is idle again, as between two messages. */
#define PAUSE_MS	2

/**
 * struct alone - one CQ
 * @endpoint: its CQ and QP
 * @interrupted: time stamp of the last interrupt
 * @cycles: cycles from the interrupt to done()
 * @status: status of the completion
 * @done: done() has run
 */
struct alone {
	struct polling_endpoint endpoint;
	cycles_t interrupted;
	cycles_t cycles;
	enum ib_wc_status status;
	struct completion done;
};

static void on_interrupt(void *data, int irq, struct irqaction *action)
{
	struct alone *alone = data;

	WRITE_ONCE(alone->interrupted, get_cycles());
}

static void on_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct alone *alone = container_of(wc->wr_cqe, struct alone, endpoint.cqe);

	alone->cycles = get_cycles() - READ_ONCE(alone->interrupted);
	alone->status = wc->status;
	complete(&alone->done);
}

static int sample(struct alone *alone)
{
	int err;

	msleep(PAUSE_MS);
	err = polling_endpoint_post(&alone->endpoint);
	if (err)
		return err;
	if (!wait_for_completion_timeout(&alone->done, POLLING_PATIENCE))
		return -ETIMEDOUT;
	if (alone->status != IB_WC_SUCCESS)
		return -EIO;
	polling_say("alone %llu", (u64)alone->cycles);
	return 0;
}

static int sample_all(struct alone *alone, u32 samples)
{
	u32 i;
	int err;

	err = polling_watch("irq_handler_entry", on_interrupt, alone);
	if (err)
		return err;
	for (i = 0; i < samples && !err; i++)
		err = sample(alone);
	polling_ignore("irq_handler_entry", on_interrupt, alone);
	return err;
}

/**
 * polling_measure_alone() - measures completions that come one at a time
 * @pd: PD of the QP
 * @settings: context and samples
 *
 * Reports a line "alone CYCLES" for each sample.
 *
 * Return: 0 or an error
 */
int polling_measure_alone(struct ib_pd *pd, const struct polling_settings *settings)
{
	struct alone alone = {};
	int err;

	init_completion(&alone.done);
	err = polling_endpoint_create(&alone.endpoint, pd, settings->context, 1, on_done);
	if (!err)
		err = sample_all(&alone, settings->samples);
	polling_endpoint_destroy(&alone.endpoint);
	return err;
}
