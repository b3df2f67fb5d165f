// SPDX-License-Identifier: GPL-2.0-or-later
/* State SQD: WQEs in progress complete, later WQEs wait, and IB_EVENT_SQ_DRAINED is raised. */
#include <linux/delay.h>
#include <linux/slab.h>

#include "single.h"

#define LENGTH	500
#define FEW	4

static int to_drained(struct kverbs_pair *pair, struct kverbs_end *end)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_SQD, .en_sqd_async_notify = 1 };
	int err;

	WRITE_ONCE(end->last_event, -1);
	err = ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY);
	return err ? kverbs_fail(pair->report, "no way from RTS to SQD: error %d", err) : 0;
}

static int await_drained(struct kverbs_pair *pair, struct kverbs_end *end)
{
	const unsigned long limit = jiffies + KVERBS_PATIENCE;

	while (READ_ONCE(end->last_event) != IB_EVENT_SQ_DRAINED) {
		if (time_after(jiffies, limit))
			return kverbs_fail(pair->report, "no event says that the send queue is drained, the last one is %d",
					end->last_event);
		usleep_range(100, 1000);
	}
	return 0;
}

static int expect_state(struct kverbs_pair *pair, struct kverbs_end *end, enum ib_qp_state state,
			bool draining)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	int err;

	err = ib_query_qp(end->qp, &attr, IB_QP_STATE, &init);
	if (err)
		return kverbs_fail(pair->report, "a queue pair cannot be queried: error %d", err);
	if (attr.qp_state == state && attr.cur_qp_state == state && attr.sq_draining == draining)
		return 0;
	return kverbs_fail(pair->report, "the queue pair is in state %d (%d), %sdraining; it should be in state %d, %sdraining",
			attr.qp_state, attr.cur_qp_state, attr.sq_draining ? "" : "not ", state,
			draining ? "" : "not ");
}

static int send(struct kverbs_pair *pair, u64 wr_id, int flags)
{
	struct kverbs_end *end = &pair->ends[0], *peer = &pair->ends[1];
	struct kverbs_single single;

	kverbs_single_send(&single, end, wr_id, LENGTH);
	single.send.send_flags = flags;
	if (pair->spec.type == IB_QPT_UD) {
		single.ud.ah = end->ah;
		single.ud.remote_qpn = peer->qp->qp_num;
		single.ud.remote_qkey = KVERBS_QKEY;
	}
	return kverbs_post_single(pair, end, &single);
}

static int receive(struct kverbs_pair *pair, u64 wr_id)
{
	return kverbs_await_status(pair, pair->ends[1].recv_cq, wr_id, IB_WC_SUCCESS);
}

/* The first half of the WRs is executed; the second half waits for the return to RTS. */
static int holds_back(struct kverbs_pair *pair, int flags)
{
	struct kverbs_end *end = &pair->ends[0], *peer = &pair->ends[1];
	int i, err = 0;

	for (i = 0; i < 2 * FEW && !err; i++)
		err = kverbs_post_slot(pair, peer, i, LENGTH + 40);
	for (i = 0; i < FEW && !err; i++)
		err = send(pair, i, flags);
	if (!err)
		err = to_drained(pair, end);
	for (i = FEW; i < 2 * FEW && !err; i++)
		err = send(pair, i, IB_SEND_SIGNALED);
	if (!err)
		err = await_drained(pair, end);
	if (!err)
		err = expect_state(pair, end, IB_QPS_SQD, false);
	for (i = 0; i < FEW && !err; i++)
		err = receive(pair, i);
	for (i = 0; i < FEW && !err && flags & IB_SEND_SIGNALED; i++)
		err = kverbs_await_status(pair, end->send_cq, i, IB_WC_SUCCESS);
	if (!err)
		err = kverbs_await_nothing(pair);
	if (!err)
		err = kverbs_to_state(end, IB_QPS_RTS);
	if (err)
		return err;
	for (i = FEW; i < 2 * FEW && !err; i++)
		err = receive(pair, i) ?: kverbs_await_status(pair, end->send_cq, i, IB_WC_SUCCESS);
	if (!err)
		err = expect_state(pair, end, IB_QPS_RTS, false);
	return err ?: kverbs_await_nothing(pair);
}

/* Repeats the test with signaled and unsignaled WRs. */
static int holds_back_often(struct kverbs_pair *pair)
{
	int i, err = 0;

	for (i = 0; i < 10 && !err; i++)
		err = holds_back(pair, i % 2 ? IB_SEND_SIGNALED : 0);
	return err;
}

/* The QP cannot return to RTS while a message is outstanding that the peer has not accepted. */
static int waits_for_the_peer(struct kverbs_pair *pair)
{
	struct kverbs_end *end = &pair->ends[0], *peer = &pair->ends[1];
	int err;

	err = send(pair, 1, IB_SEND_SIGNALED);
	if (!err)
		err = to_drained(pair, end);
	msleep(20);
	if (!err)
		err = expect_state(pair, end, IB_QPS_SQD, true);
	if (!err && READ_ONCE(end->last_event) == IB_EVENT_SQ_DRAINED)
		err = kverbs_fail(pair->report, "an event says that the send queue is drained, and it is not");
	if (!err && kverbs_to_state(end, IB_QPS_RTS) != -EBUSY)
		err = kverbs_fail(pair->report, "a queue pair that is not drained yet goes on");
	if (!err)
		err = kverbs_post_slot(pair, peer, 2, LENGTH);
	if (!err)
		err = await_drained(pair, end);
	if (!err)
		err = expect_state(pair, end, IB_QPS_SQD, false);
	if (!err)
		err = receive(pair, 2);
	if (!err)
		err = kverbs_await_status(pair, end->send_cq, 1, IB_WC_SUCCESS);
	return err ?: kverbs_to_state(end, IB_QPS_RTS);
}

/* The transition to ERR flushes each waiting WR once. */
static int flushes_what_waits(struct kverbs_pair *pair)
{
	struct kverbs_end *end = &pair->ends[0];
	int i, err;

	err = to_drained(pair, end);
	for (i = 0; i < FEW && !err; i++)
		err = send(pair, i, 0);
	if (!err)
		err = await_drained(pair, end);
	if (!err)
		err = kverbs_to_state(end, IB_QPS_ERR);
	for (i = 0; i < FEW && !err; i++)
		err = kverbs_await_status(pair, end->send_cq, i, IB_WC_WR_FLUSH_ERR);
	if (!err)
		err = expect_state(pair, end, IB_QPS_ERR, false);
	return err ?: kverbs_await_nothing(pair);
}

/* A new connection after RESET does not wait for an earlier drain. */
static int is_forgotten(struct kverbs_pair *pair)
{
	struct kverbs_end *end = &pair->ends[0];
	int err;

	err = to_drained(pair, end);
	if (!err)
		err = send(pair, 1, 0);
	if (!err)
		err = kverbs_reconnect(pair);
	if (!err)
		err = expect_state(pair, end, IB_QPS_RTS, false);
	return err ?: holds_back(pair, IB_SEND_SIGNALED);
}

/* The attributes of a connection that can be modified in SQD. */
static int changes_meanwhile(struct kverbs_pair *pair)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_SQD,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE,
		.timeout = 3,
	};
	struct kverbs_end *end = &pair->ends[0];
	struct ib_qp_init_attr init;
	int err;

	err = to_drained(pair, end);
	if (!err)
		err = await_drained(pair, end);
	if (err)
		return err;
	err = ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_ACCESS_FLAGS);
	if (err)
		return kverbs_fail(pair->report, "access cannot be changed: error %d", err);
	if (ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT) != -EOPNOTSUPP)
		return kverbs_fail(pair->report, "what the device cannot change is not refused");
	err = ib_query_qp(end->qp, &attr, IB_QP_ACCESS_FLAGS, &init);
	if (err || attr.qp_access_flags != IB_ACCESS_REMOTE_WRITE)
		return kverbs_fail(pair->report, "access is 0x%x (error %d)", attr.qp_access_flags, err);
	err = kverbs_to_state(end, IB_QPS_RTS);
	return err ?: holds_back(pair, 0);
}

/* The QP is destroyed before the drained event; nothing may wait for the event afterwards. */
static int goes_while_draining(struct kverbs_pair *pair)
{
	int err = send(pair, 1, 0);

	return err ?: to_drained(pair, &pair->ends[0]);
}

static int run_type(struct kverbs_report *report, enum ib_qp_type type)
{
	struct kverbs_spec spec = kverbs_usual;

	spec.type = type;
	return kverbs_with_pair(report, &spec, holds_back_often);
}

static int run_rc(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_type(report, IB_QPT_RC);
}

static int run_uc(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_type(report, IB_QPT_UC);
}

static int run_ud(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_type(report, IB_QPT_UD);
}

static int run_waits(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, waits_for_the_peer);
}

static int run_flushes(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, flushes_what_waits);
}

static int run_forgotten(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, is_forgotten);
}

static int run_changes(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, changes_meanwhile);
}

static int run_goes(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, goes_while_draining);
}

const struct kverbs_case kverbs_drain_cases[] = {
	{ "drain_rc", run_rc },
	{ "drain_uc", run_uc },
	{ "drain_ud", run_ud },
	{ "drain_waits_for_peer", run_waits },
	{ "drain_and_flush", run_flushes },
	{ "drain_and_reconnect", run_forgotten },
	{ "drain_and_change", run_changes },
	{ "drain_and_destroy", run_goes },
	{}
};
