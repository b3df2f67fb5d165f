// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits for completions. */
#include <linux/delay.h>
#include <linux/jiffies.h>

#include "kverbs.h"

/* Time in which an unexpected completion would arrive. */
#define GRACE_MS	20

/**
 * kverbs_await() - waits for the next completion
 * @pair: two ends, with the report
 * @cq: CQ
 * @wc: filled
 *
 * Return: 0, or an error after kverbs_fail() if no completion arrives.
 */
int kverbs_await(struct kverbs_pair *pair, struct ib_cq *cq, struct ib_wc *wc)
{
	const unsigned long limit = jiffies + KVERBS_PATIENCE;
	int polled;

	for (;;) {
		polled = ib_poll_cq(cq, 1, wc);
		if (polled < 0)
			return kverbs_fail(pair->report, "polling fails with error %d", polled);
		if (polled)
			return 0;
		if (time_after(jiffies, limit))
			return kverbs_fail(pair->report, "a completion does not come");
		usleep_range(20, 200);
	}
}

/**
 * kverbs_await_status() - waits for a completion with an expected status
 * @pair: two ends, with the report
 * @cq: CQ
 * @wr_id: expected wr_id
 * @status: expected status
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_await_status(struct kverbs_pair *pair, struct ib_cq *cq, u64 wr_id,
		     enum ib_wc_status status)
{
	struct ib_wc wc;
	int err;

	err = kverbs_await(pair, cq, &wc);
	if (err)
		return err;
	if (wc.wr_id != wr_id || wc.status != status)
		return kverbs_fail(pair->report, "request %llu completes with '%s' (vendor syndrome 0x%x), request %llu should with '%s'",
				wc.wr_id, ib_wc_status_msg(wc.status), wc.vendor_err, wr_id,
				ib_wc_status_msg(status));
	return 0;
}

static int check_empty(struct kverbs_pair *pair, struct ib_cq *cq, const char *name)
{
	struct ib_wc wc;

	if (!ib_poll_cq(cq, 1, &wc))
		return 0;
	return kverbs_fail(pair->report, "request %llu of the %s has a completion that should not be: '%s'",
			wc.wr_id, name, ib_wc_status_msg(wc.status));
}

/**
 * kverbs_await_nothing() - checks that no completion is left
 * @pair: two ends
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_await_nothing(struct kverbs_pair *pair)
{
	int i, err;

	msleep(GRACE_MS);
	for (i = 0; i < 2; i++) {
		err = check_empty(pair, pair->ends[i].send_cq, "send queue");
		if (!err)
			err = check_empty(pair, pair->ends[i].recv_cq, "receive queue");
		if (err)
			return err;
	}
	return 0;
}
