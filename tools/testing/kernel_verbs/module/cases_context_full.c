// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A CQ that is never empty: each done() handler posts the next WR, and waits until the CQ has another CQE. No event is
 * needed for it to be polled, so none brings it to another context.
 */
#include <linux/completion.h>
#include <linux/ktime.h>
#include <linux/processor.h>
#include <linux/slab.h>

#include "kverbs.h"

#define WRS		4
/* A WR takes the emulator less. The CQ is empty for a moment if it does not. */
#define CQE_LIMIT_US	(20 * USEC_PER_MSEC)

/**
 * struct full_cq - the CQ of the sends of the first end
 * @pair: ends
 * @cqe: done() handler of all WRs
 * @wanted: context that done() handlers are to be run in; NULL: none, or they have been
 * @arrived: completed when they are
 * @is_ending: no more WRs
 * @num_done: number of completions
 * @num_posted: number of WRs
 * @result: first error; 0: none
 */
struct full_cq {
	struct kverbs_pair pair;
	struct ib_cqe cqe;
	const struct cxib_cq_options *wanted;
	struct completion arrived;
	bool is_ending;
	u32 num_done;
	u32 num_posted;
	int result;
};

static int post_write(struct full_cq *full)
{
	struct ib_rdma_wr wr = {
		.wr = {
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
			.wr_cqe = &full->cqe,
		},
	};
	int err = ib_post_send(full->pair.ends[0].qp, &wr.wr, NULL);

	if (!err)
		full->num_posted++;
	return err;
}

static void await_cqe(struct ib_cq *cq)
{
	const ktime_t limit = ktime_add_us(ktime_get(), CQE_LIMIT_US);

	while (!cq->device->ops.peek_cq(cq, 1) && ktime_before(ktime_get(), limit))
		cpu_relax();
}

static void write_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_end *end = cq->cq_context;
	struct kverbs_pair *pair = container_of(end, struct kverbs_pair, ends[0]);
	struct full_cq *full = container_of(pair, struct full_cq, pair);
	const struct cxib_cq_options *wanted = smp_load_acquire(&full->wanted);

	if (wanted && kverbs_is_in_context(wanted)) {
		WRITE_ONCE(full->wanted, NULL);
		complete(&full->arrived);
	}
	if (!READ_ONCE(full->is_ending) && wc->status == IB_WC_SUCCESS && !full->result) {
		full->result = post_write(full);
		await_cqe(cq);
	}
	smp_store_release(&full->num_done, full->num_done + 1);
}

static int change(struct full_cq *full, const struct cxib_cq_options *options)
{
	u32 before = READ_ONCE(full->num_done);
	int err;

	reinit_completion(&full->arrived);
	err = cxib_cq_set_context(full->pair.ends[0].send_cq, options);
	if (err)
		return kverbs_fail(full->pair.report, "context %u: error %d", options->context, err);
	smp_store_release(&full->wanted, options);
	if (wait_for_completion_timeout(&full->arrived, KVERBS_PATIENCE))
		return 0;
	return kverbs_fail(full->pair.report, "context %u: not in %u completions after the change", options->context,
			   READ_ONCE(full->num_done) - before);
}

static int end_writes(struct full_cq *full)
{
	const unsigned long limit = jiffies + KVERBS_PATIENCE;

	WRITE_ONCE(full->is_ending, true);
	while (smp_load_acquire(&full->num_done) != READ_ONCE(full->num_posted)) {
		if (time_after(jiffies, limit))
			return kverbs_fail(full->pair.report, "%u of %u writes complete", full->num_done,
					   full->num_posted);
		schedule_timeout_idle(1);
	}
	return full->result ? kverbs_fail(full->pair.report, "a write fails with error %d", full->result) : 0;
}

/* The first of the contexts is that of the CQ. */
static int run_full(struct full_cq *full, const struct cxib_cq_options *contexts, unsigned int count)
{
	struct kverbs_spec spec = kverbs_usual;
	int err, ended;
	unsigned int i;

	spec.core_polls = true;
	spec.options = &contexts[0];
	err = kverbs_pair_create(&full->pair, &spec, full->pair.report);
	for (i = 0; i < WRS && !err; i++)
		err = post_write(full);
	for (i = 1; i < count && !err; i++)
		err = change(full, &contexts[i]);
	ended = full->pair.ends[0].qp ? end_writes(full) : 0;
	kverbs_pair_destroy(&full->pair);
	return err ?: ended;
}

static int with_full(struct kverbs_report *report, const struct cxib_cq_options *contexts, unsigned int count)
{
	struct full_cq *full = kzalloc(sizeof(*full), GFP_KERNEL);
	int err;

	if (!full)
		return -ENOMEM;
	full->pair.report = report;
	full->cqe.done = write_done;
	init_completion(&full->arrived);
	err = run_full(full, contexts, count);
	kfree(full);
	return err;
}

/**
 * kverbs_context_full_softirq() - the case of a full CQ whose done() handlers must not sleep
 * @report: report
 * @settings: unused
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_context_full_softirq(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	static const struct cxib_cq_options contexts[] = {
		{ .context = CXIB_CQ_SOFTIRQ },
		{ .context = CXIB_CQ_THREAD },
		{ .context = CXIB_CQ_SOFTIRQ },
		{ .context = CXIB_CQ_THREAD, .busy_poll_us = CXIB_CQ_BUSY_POLL_US_MAX },
		{ .context = CXIB_CQ_DEVICE_SETTINGS },
	};

	return with_full(report, contexts, ARRAY_SIZE(contexts));
}

/**
 * kverbs_context_full_sleeping() - the case of a full CQ whose done() handlers may sleep
 * @report: report
 * @settings: unused
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_context_full_sleeping(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	static const struct cxib_cq_options contexts[] = {
		{ .context = CXIB_CQ_WORKQUEUE },
		{ .context = CXIB_CQ_THREAD, .flags = CXIB_CQ_OWN_THREAD },
		{ .context = CXIB_CQ_UNBOUND_WORKQUEUE },
		{ .context = CXIB_CQ_THREAD, .flags = CXIB_CQ_OWN_THREAD },
		{ .context = CXIB_CQ_DEVICE_SETTINGS },
	};

	return with_full(report, contexts, ARRAY_SIZE(contexts));
}
