// SPDX-License-Identifier: GPL-2.0-or-later
/* Signature pipelining: a single stop, and what a ULP or the connection may do meanwhile. */
#include <linux/delay.h>

#include "pipelined_target.h"

#define READ_BYTES	64

static int await_stop(struct kverbs_target *target)
{
	const unsigned long limit = jiffies + KVERBS_PATIENCE;

	while (READ_ONCE(target_end(target)->last_event) != IB_EVENT_SQ_DRAINED) {
		if (time_after(jiffies, limit))
			return kverbs_fail(target->pair->report, "the queue pair does not stop");
		usleep_range(20, 200);
	}
	return 0;
}

/* One command with a wrong block; the queue pair is stopped afterwards. */
static int stop_at_bad(struct kverbs_target *target)
{
	int err;

	target->spec.bad_chance = 100;
	WRITE_ONCE(target_end(target)->last_event, -1);
	err = kverbs_target_start(target, &target->slots[0]);
	return err ?: await_stop(target);
}

static int expect(struct kverbs_target *target, const char *what, int found, int expected)
{
	return found == expected ? 0 : kverbs_fail(target->pair->report, "%s: %d, should be %d", what,
						   found, expected);
}

static struct kverbs_command *only_command(struct kverbs_target *target)
{
	return &target->slots[0];
}

/* What a ULP does with one failed MR. */
static int fetch_and_cancel(struct kverbs_target *target)
{
	struct ib_qp *qp = target_end(target)->qp;
	struct ib_sig_err error;
	int err;

	err = expect(target, "the failed MR",
		     target->table->next_failed(qp, &error) == only_command(target)->mrs[0], true);
	if (!err)
		err = expect(target, "the second one", !target->table->next_failed(qp, &error), true);
	return err ?: expect(target, "cancel",
			     target->table->cancel(qp, &only_command(target)->cqe), 1);
}

static int cancel_and_resume(struct kverbs_target *target)
{
	int err = fetch_and_cancel(target);

	WRITE_ONCE(target_end(target)->last_event, -1);
	return err ?: expect(target, "resume", target->table->resume(target_end(target)->qp), 0);
}

/* The next completion has to be that of the first response. */
static int await_response(struct kverbs_target *target, enum ib_wc_status status, bool cancelled)
{
	struct ib_wc wc;
	int err = kverbs_await(target->pair, target_end(target)->send_cq, &wc);

	if (!err)
		err = expect(target, "completion of the response",
			     wc.wr_cqe == &only_command(target)->cqe, true);
	if (!err)
		err = expect(target, "status of the response", wc.status, status);
	if (!err)
		err = expect(target, "mark of the response", cxib_wc_is_cancelled(&wc), cancelled);
	only_command(target)->posted = false;
	return err;
}

/* The second response is sent, and everything else ends. */
static int end_with_error(struct kverbs_target *target)
{
	int err = kverbs_target_answer_error(target, only_command(target));

	return err ?: kverbs_target_commands(target, 0);
}

/*
 * How many of the three MRs fail before the device stops is its own affair; a device that stops at
 * the fence finds both errors first. The response is cancelled once.
 */
static int three_mrs(struct kverbs_target *target)
{
	const u32 commands = 10;
	int err = kverbs_target_commands(target, commands);

	if (!err)
		err = expect(target, "failed MRs", target->failed, 2 * commands);
	if (!err)
		err = expect(target, "cancelled responses", target->cancelled, commands);
	if (!err)
		err = expect(target, "good responses", target->good, 0);
	if (!err)
		kverbs_say(target->pair->report, "%u stops for %u commands", target->stops, commands);
	return err;
}

static int run_three_mrs(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = {
		.manual = true,
		.depth = 1,
		.num_mrs = 3,
		.bad_mrs = BIT(1) | BIT(2),
		.seed = 9,
	};

	return kverbs_target_run(report, &spec, three_mrs);
}

/*
 * The response goes out as it was posted: the ULP has not cancelled it. Only the MR tells, and the ULP
 * has to end the connection.
 */
static int expect_misuse(struct kverbs_target *target)
{
	struct kverbs_end *client = client_end(target);
	struct ib_wc wc;
	int err;

	err = await_response(target, IB_WC_SUCCESS, false);
	if (!err)
		err = kverbs_await(target->pair, client->recv_cq, &wc);
	if (!err)
		err = expect(target, "status of the client's receive", wc.status, IB_WC_SUCCESS);
	return err ?: expect(target, "MRs with an error",
			     kverbs_target_find_bad(target, only_command(target)), 1);
}

/* The way back to RTS is resume(), whatever the ULP or its connection manager modifies meanwhile. */
static int modify_while_stopped(struct kverbs_target *target)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS, .cur_qp_state = IB_QPS_SQD, .min_rnr_timer = 1 };
	struct kverbs_end *end = target_end(target);
	int err = stop_at_bad(target);

	if (!err)
		err = expect(target, "way to RTS", kverbs_to_state(end, IB_QPS_RTS), -EBUSY);
	if (!err)
		err = expect(target, "other attributes",
			     ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_MIN_RNR_TIMER), -EBUSY);
	if (!err)
		err = expect(target, "way from SQD",
			     ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE), -EBUSY);
	if (!err)
		err = cancel_and_resume(target);
	if (!err)
		err = expect(target, "other attributes later",
			     ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_MIN_RNR_TIMER), 0);
	return err ?: kverbs_target_commands(target, 0);
}

static int run_modify_qp(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .manual = true, .depth = 1, .num_mrs = 1, .seed = 10 };

	return kverbs_target_run(report, &spec, modify_while_stopped);
}

static int resume_without_cancel(struct kverbs_target *target)
{
	struct ib_qp *qp = target_end(target)->qp;
	struct ib_sig_err error;
	int err = stop_at_bad(target);

	if (!err)
		err = expect(target, "the failed MR", !target->table->next_failed(qp, &error), false);
	if (!err)
		err = expect(target, "resume before all are fetched", target->table->resume(qp), -EBUSY);
	if (!err)
		err = expect(target, "the second one", !target->table->next_failed(qp, &error), true);
	if (!err)
		err = expect(target, "resume", target->table->resume(qp), 0);
	return err ?: expect_misuse(target);
}

static int run_no_cancel(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .manual = true, .depth = 1, .num_mrs = 1, .seed = 11 };

	return kverbs_target_run(report, &spec, resume_without_cancel);
}

/* A cancelled response that is not signaled says nothing: the next completion is the second one's. */
static int unsignaled_response(struct kverbs_target *target)
{
	int err = stop_at_bad(target);

	if (!err)
		err = cancel_and_resume(target);
	only_command(target)->posted = false;
	return err ?: end_with_error(target);
}

static int run_unsignaled(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = {
		.manual = true,
		.depth = 1,
		.num_mrs = 1,
		.unsignaled = true,
		.seed = 12,
	};

	return kverbs_target_run(report, &spec, unsignaled_response);
}

/* The target reads the client's memory by the key that its responses invalidate. */
static int read_by_key(struct kverbs_target *target, enum ib_wc_status status)
{
	struct kverbs_end *end = target_end(target), *client = client_end(target);
	struct kverbs_single single;
	int err;

	kverbs_single_write(&single, end, 1, client->dma + KVERBS_EXPOSED, client->exposed_key->rkey,
			    READ_BYTES);
	single.send.opcode = IB_WR_RDMA_READ;
	err = kverbs_post_single(target->pair, end, &single);
	return err ?: kverbs_await_status(target->pair, end->send_cq, 1, status);
}

static int invalidates_later(struct kverbs_target *target)
{
	struct kverbs_end *client = client_end(target);
	int err;

	err = kverbs_register(target->pair, client, client->exposed_key, client->dma + KVERBS_EXPOSED,
			      KVERBS_AREA_SIZE, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ);
	if (!err)
		err = stop_at_bad(target);
	if (!err)
		err = cancel_and_resume(target);
	if (!err)
		err = await_response(target, IB_WC_WR_FLUSH_ERR, true);
	if (!err)
		err = read_by_key(target, IB_WC_SUCCESS);
	if (!err)
		err = end_with_error(target);
	return err ?: read_by_key(target, IB_WC_REM_ACCESS_ERR);
}

static int run_invalidate(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = {
		.manual = true,
		.depth = 1,
		.num_mrs = 1,
		.invalidates = true,
		.seed = 13,
	};

	return kverbs_target_run(report, &spec, invalidates_later);
}

static int functions_of_a_stop(struct kverbs_target *target)
{
	struct ib_qp *qp = target_end(target)->qp;
	struct kverbs_command *slot = &target->slots[0];
	struct ib_sig_err error;
	int err;

	err = kverbs_target_commands(target, target->spec.depth);
	if (!err)
		err = expect(target, "resume a running QP", target->table->resume(qp), -EINVAL);
	if (!err)
		err = expect(target, "cancel in a running QP", target->table->cancel(qp, &slot->cqe), -EBUSY);
	if (!err)
		err = expect(target, "enable again", target->table->enable(qp, CXIB_SIGNATURE_MANUAL),
			     -EALREADY);
	if (!err)
		err = stop_at_bad(target);
	if (!err)
		err = expect(target, "resume before the MR is fetched", target->table->resume(qp), -EBUSY);
	if (!err)
		err = expect(target, "the failed MR", target->table->next_failed(qp, &error) == slot->mrs[0],
			     true);
	if (!err)
		err = expect(target, "the second one", !target->table->next_failed(qp, &error), true);
	if (!err)
		err = expect(target, "cancel NULL", target->table->cancel(qp, NULL), -EINVAL);
	if (!err)
		err = expect(target, "cancel a finished response",
			     target->table->cancel(qp, &target->slots[1].cqe), 0);
	if (!err)
		err = expect(target, "cancel a foreign cqe", target->table->cancel(qp, &slot->error_cqe), 0);
	if (!err)
		err = expect(target, "cancel", target->table->cancel(qp, &slot->cqe), 1);
	if (!err)
		err = expect(target, "cancel again", target->table->cancel(qp, &slot->cqe), 0);
	if (!err)
		err = expect(target, "resume", target->table->resume(qp), 0);
	WRITE_ONCE(target_end(target)->last_event, -1);
	return err ?: kverbs_target_commands(target, 20);
}

static int run_functions(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .manual = true, .depth = 2, .num_mrs = 1, .seed = 3 };

	return kverbs_target_run(report, &spec, functions_of_a_stop);
}

/* The response completes once and without mark: the queue pair does not work any more. */
static int error_while_stopped(struct kverbs_target *target)
{
	struct kverbs_end *end = target_end(target);
	struct ib_wc wc;
	int err;

	err = stop_at_bad(target);
	if (!err)
		err = kverbs_to_state(end, IB_QPS_ERR);
	if (!err)
		err = expect(target, "cancel in ERR",
			     target->table->cancel(end->qp, &target->slots[0].cqe), -ENOTCONN);
	do {
		if (!err)
			err = kverbs_await(target->pair, end->send_cq, &wc);
	} while (!err && wc.wr_cqe != &target->slots[0].cqe);
	if (!err)
		err = expect(target, "status of the response", wc.status, IB_WC_WR_FLUSH_ERR);
	if (!err)
		err = expect(target, "mark of the response", cxib_wc_is_cancelled(&wc), false);
	if (!err)
		err = kverbs_await_nothing(target->pair);
	return err ?: expect(target, "MRs with an error",
			     kverbs_target_find_bad(target, only_command(target)), 1);
}

static int run_error(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .manual = true, .depth = 1, .num_mrs = 1, .seed = 4 };

	return kverbs_target_run(report, &spec, error_while_stopped);
}

/* done() once and without mark, and nothing at the client. */
static int core_drains_while_stopped(struct kverbs_target *target)
{
	const struct ib_wc *wc = &target->arrived[0];
	int err = stop_at_bad(target);

	if (err)
		return err;
	ib_drain_qp(target_end(target)->qp);
	err = expect(target, "completions with done()", target->num_arrived, 1);
	if (!err)
		err = expect(target, "completion of the response",
			     wc->wr_cqe == &only_command(target)->cqe, true);
	if (!err)
		err = expect(target, "status of the response", wc->status, IB_WC_WR_FLUSH_ERR);
	if (!err)
		err = expect(target, "mark of the response", cxib_wc_is_cancelled(wc), false);
	if (!err)
		err = expect(target, "MRs with an error",
			     kverbs_target_find_bad(target, only_command(target)), 1);
	return err ?: kverbs_await_nothing(target->pair);
}

static int run_core_drain(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = {
		.manual = true,
		.depth = 1,
		.num_mrs = 1,
		.core_polls = true,
		.seed = 14,
	};

	return kverbs_target_run(report, &spec, core_drains_while_stopped);
}

/* RST2INIT_QP clears what the policy needs from the device. */
static int reset_while_stopped(struct kverbs_target *target)
{
	struct kverbs_command *slot = &target->slots[0];
	struct ib_mr_status status;
	int err;

	err = stop_at_bad(target);
	if (!err)
		err = kverbs_reconnect(target->pair);
	if (err)
		return err;
	err = ib_check_mr_status(slot->mrs[0], IB_MR_CHECK_SIG_STATUS, &status);
	if (err)
		return kverbs_fail(target->pair->report, "the status cannot be checked: error %d", err);
	slot->busy = false;
	slot->posted = false;
	WRITE_ONCE(target_end(target)->last_event, -1);
	target->spec.bad_chance = 50;
	return kverbs_target_commands(target, 50);
}

static int run_reset(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .manual = true, .depth = 1, .num_mrs = 1, .seed = 5 };

	return kverbs_target_run(report, &spec, reset_while_stopped);
}

static int run_destroy(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .manual = true, .depth = 1, .num_mrs = 1, .seed = 6 };

	return kverbs_target_run(report, &spec, stop_at_bad);
}

/*
 * No peer acknowledges the data of the failed transfer, so the device cannot finish what it has
 * started: the QP goes to ERR instead of SQD.
 */
static int peer_gone(struct kverbs_target *target)
{
	struct kverbs_end *end = target_end(target);
	struct kverbs_command *command = only_command(target);
	struct ib_wc wc, first = { .status = IB_WC_SUCCESS };
	int err = kverbs_to_state(client_end(target), IB_QPS_ERR);

	target->spec.bad_chance = 100;
	WRITE_ONCE(end->last_event, -1);
	if (!err)
		err = kverbs_target_start(target, command);
	do {
		if (!err)
			err = kverbs_await(target->pair, end->send_cq, &wc);
		if (!err && first.status == IB_WC_SUCCESS)
			first = wc;
	} while (!err && wc.wr_cqe != &command->cqe);
	if (!err)
		err = expect(target, "status of the transfer", first.status, IB_WC_RETRY_EXC_ERR);
	if (!err)
		err = expect(target, "status of the response", wc.status, IB_WC_WR_FLUSH_ERR);
	if (!err)
		err = expect(target, "mark of the response", cxib_wc_is_cancelled(&wc), false);
	return err ?: expect(target, "resume", target->table->resume(end->qp), -EINVAL);
}

static int run_peer_gone(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .manual = true, .depth = 1, .num_mrs = 1, .seed = 15 };

	return kverbs_target_run(report, &spec, peer_gone);
}

/* The ULP moves the QP to SQD before the stop: each of the two ends for itself. */
static int drain_around_stop(struct kverbs_target *target)
{
	struct kverbs_end *end = target_end(target);
	struct ib_sig_err error;
	int err, i;

	for (i = 0; i < 10; i++) {
		target->spec.bad_chance = 100;
		WRITE_ONCE(end->last_event, -1);
		err = kverbs_target_start(target, &target->slots[0]);
		if (!err)
			err = kverbs_to_state(end, IB_QPS_SQD);
		if (!err)
			err = await_stop(target);
		if (!err)
			err = expect(target, "the failed MR", !target->table->next_failed(end->qp, &error),
				     false);
		if (!err)
			err = expect(target, "cancel",
				     target->table->cancel(end->qp, &target->slots[0].cqe), 1);
		if (!err)
			err = expect(target, "the second one", !target->table->next_failed(end->qp, &error),
				     true);
		if (!err)
			err = expect(target, "way to RTS before the stop is handled",
				     kverbs_to_state(end, IB_QPS_RTS), -EBUSY);
		WRITE_ONCE(end->last_event, -1);
		if (!err)
			err = expect(target, "resume", target->table->resume(end->qp), 0);
		/* The WQEs behind the stop have to complete first. */
		while (!err && (err = kverbs_to_state(end, IB_QPS_RTS)) == -EBUSY) {
			usleep_range(20, 200);
			err = 0;
		}
		if (!err)
			err = kverbs_target_commands(target, 0);
		if (err)
			return kverbs_fail(target->pair->report, "round %d: error %d", i, err);
	}
	return 0;
}

static int run_drain(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .manual = true, .depth = 1, .num_mrs = 1, .seed = 7 };

	return kverbs_target_run(report, &spec, drain_around_stop);
}

/* What is posted in SQD waits for RTS, the stop comes then. */
static int drain_before_stop(struct kverbs_target *target)
{
	struct kverbs_end *end = target_end(target);
	int err = expect(target, "way to SQD", kverbs_to_state(end, IB_QPS_SQD), 0);

	target->spec.bad_chance = 100;
	WRITE_ONCE(end->last_event, -1);
	if (!err)
		err = kverbs_target_start(target, only_command(target));
	if (!err)
		err = kverbs_await_nothing(target->pair);
	if (!err)
		err = expect(target, "way to RTS", kverbs_to_state(end, IB_QPS_RTS), 0);
	if (!err)
		err = await_stop(target);
	if (!err)
		err = cancel_and_resume(target);
	return err ?: kverbs_target_commands(target, 0);
}

static int run_drain_before(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .manual = true, .depth = 1, .num_mrs = 1, .seed = 16 };

	return kverbs_target_run(report, &spec, drain_before_stop);
}

/*
 * resume() ends the device's reason to stand, not the ULP's: what was announced before SQD completes,
 * what is posted in SQD waits for RTS.
 */
static int drain_after_stop(struct kverbs_target *target)
{
	struct kverbs_end *end = target_end(target);
	int err = stop_at_bad(target);

	if (!err)
		err = expect(target, "way to SQD", kverbs_to_state(end, IB_QPS_SQD), 0);
	if (!err)
		err = cancel_and_resume(target);
	if (!err)
		err = await_response(target, IB_WC_WR_FLUSH_ERR, true);
	if (!err)
		err = kverbs_target_answer_error(target, only_command(target));
	if (!err)
		err = kverbs_await_nothing(target->pair);
	if (!err)
		err = expect(target, "way to RTS", kverbs_to_state(end, IB_QPS_RTS), 0);
	return err ?: kverbs_target_commands(target, 0);
}

static int run_drain_after(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .manual = true, .depth = 1, .num_mrs = 1, .seed = 17 };

	return kverbs_target_run(report, &spec, drain_after_stop);
}

/* On a device of another driver, whether cxib is loaded, is not, or is just going. */
static int find_nothing(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	u32 i;

	for (i = 0; i < settings->rounds; i++) {
		if (cxib_signature_pipelining(kverbs_device(1)))
			return kverbs_fail(report, "there are functions for a device of another driver");
		cond_resched();
	}
	return 0;
}

const struct kverbs_case kverbs_pipelining_stop_cases[] = {
	{ "pipelining_functions", run_functions },
	{ "pipelining_three_mrs_fail_together", run_three_mrs },
	{ "pipelining_modify_while_stopped", run_modify_qp },
	{ "pipelining_misuse_resume_without_cancel", run_no_cancel },
	{ "pipelining_unsignaled_response", run_unsignaled },
	{ "pipelining_send_with_invalidate", run_invalidate },
	{ "pipelining_error_while_stopped", run_error },
	{ "pipelining_core_drains_while_stopped", run_core_drain },
	{ "pipelining_reset_while_stopped", run_reset },
	{ "pipelining_destroy_while_stopped", run_destroy },
	{ "pipelining_peer_gone_while_draining", run_peer_gone },
	{ "pipelining_drain_around_stop", run_drain },
	{ "pipelining_drain_before_stop", run_drain_before },
	{ "pipelining_drain_after_stop", run_drain_after },
	{ "pipelining_finder_finds_nothing", find_nothing },
	{}
};
