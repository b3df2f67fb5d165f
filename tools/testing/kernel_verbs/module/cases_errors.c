// SPDX-License-Identifier: GPL-2.0-or-later
/* Errors of the responder, of the requester, and of ib_post_send(). */
#include <linux/delay.h>

#include "single.h"

#define LENGTH	1000
#define FEW	5

/* A message does not fit the receive WR that it consumes: both ends get an error completion. */
static int mismatched(struct kverbs_pair *pair, u32 room, bool wrong_key,
		      enum ib_wc_status receiver, enum ib_wc_status sender)
{
	struct kverbs_end *end = &pair->ends[0], *peer = &pair->ends[1];
	struct ib_sge sge = {
		.addr = peer->dma + KVERBS_RECEIVES,
		.length = room,
		.lkey = peer->pd->local_dma_lkey ^ wrong_key,
	};
	struct ib_recv_wr receive = { .wr_id = 7, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;
	struct kverbs_single single;
	int err;

	err = kverbs_post_receive(peer, &receive, &bad);
	if (err)
		return kverbs_fail(pair->report, "a receive request is refused with error %d", err);
	kverbs_single_send(&single, end, 8, LENGTH);
	err = kverbs_post_single(pair, end, &single);
	if (!err)
		err = kverbs_await_status(pair, peer->recv_cq, 7, receiver);
	return err ?: kverbs_await_status(pair, end->send_cq, 8, sender);
}

static int too_long_message(struct kverbs_pair *pair)
{
	return mismatched(pair, LENGTH - 1, false, IB_WC_LOC_LEN_ERR, IB_WC_REM_INV_REQ_ERR);
}

static int wrong_key_of_receiver(struct kverbs_pair *pair)
{
	return mismatched(pair, LENGTH, true, IB_WC_LOC_PROT_ERR, IB_WC_REM_OP_ERR);
}

/*
 * The WR with the wrong key completes with its error, and the following WRs are flushed in order.
 */
static int wrong_key_of_sender(struct kverbs_pair *pair)
{
	struct kverbs_end *end = &pair->ends[0];
	struct kverbs_single requests[FEW];
	int i, err;

	for (i = 0; i < FEW; i++) {
		kverbs_single_send(&requests[i], end, i, LENGTH);
		if (i)
			requests[i - 1].send.next = &requests[i].send;
	}
	requests[0].sge.lkey ^= 1;
	err = kverbs_post_single(pair, end, &requests[0]);
	if (!err)
		err = kverbs_await_status(pair, end->send_cq, 0, IB_WC_LOC_PROT_ERR);
	for (i = 1; i < FEW && !err; i++)
		err = kverbs_await_status(pair, end->send_cq, i, IB_WC_WR_FLUSH_ERR);
	return err;
}

static int no_receive_request(struct kverbs_pair *pair)
{
	struct kverbs_end *end = &pair->ends[0];
	struct kverbs_single single;
	int err;

	kverbs_single_send(&single, end, 1, LENGTH);
	err = kverbs_post_single(pair, end, &single);
	return err ?: kverbs_await_status(pair, end->send_cq, 1, IB_WC_RNR_RETRY_EXC_ERR);
}

static int late_receive_request(struct kverbs_pair *pair)
{
	struct kverbs_end *end = &pair->ends[0], *peer = &pair->ends[1];
	struct kverbs_single single;
	int err;

	kverbs_single_send(&single, end, 1, LENGTH);
	err = kverbs_post_single(pair, end, &single);
	msleep(50);
	if (!err)
		err = kverbs_post_slot(pair, peer, 2, LENGTH);
	if (!err)
		err = kverbs_await_status(pair, peer->recv_cq, 2, IB_WC_SUCCESS);
	return err ?: kverbs_await_status(pair, end->send_cq, 1, IB_WC_SUCCESS);
}

static int silent_peer(struct kverbs_pair *pair)
{
	struct kverbs_end *end = &pair->ends[0];
	struct kverbs_single single;
	int err;

	err = kverbs_to_state(&pair->ends[1], IB_QPS_RESET);
	if (err)
		return kverbs_fail(pair->report, "no reset: error %d", err);
	kverbs_single_send(&single, end, 1, LENGTH);
	err = kverbs_post_single(pair, end, &single);
	return err ?: kverbs_await_status(pair, end->send_cq, 1, IB_WC_RETRY_EXC_ERR);
}

/* The WRs of both queues, including those posted in ERR, are flushed once and in order. */
static int flushed(struct kverbs_pair *pair)
{
	struct kverbs_end *end = &pair->ends[0];
	struct kverbs_single single;
	int i, err = 0;

	for (i = 0; i < FEW && !err; i++)
		err = kverbs_post_slot(pair, end, i, LENGTH);
	if (!err)
		err = kverbs_to_state(end, IB_QPS_ERR);
	for (i = 0; i < FEW && !err; i++) {
		kverbs_single_send(&single, end, i, LENGTH);
		err = kverbs_post_single(pair, end, &single) ?:
		      kverbs_post_slot(pair, end, FEW + i, LENGTH);
	}
	for (i = 0; i < FEW && !err; i++)
		err = kverbs_await_status(pair, end->send_cq, i, IB_WC_WR_FLUSH_ERR);
	for (i = 0; i < 2 * FEW && !err; i++)
		err = kverbs_await_status(pair, end->recv_cq, i, IB_WC_WR_FLUSH_ERR);
	return err ?: kverbs_await_nothing(pair);
}

static int works(struct kverbs_pair *pair)
{
	struct kverbs_end *end = &pair->ends[0], *peer = &pair->ends[1];
	struct kverbs_single single;
	int err;

	memset(end->memory + KVERBS_LOCAL, 0x5a, LENGTH);
	err = kverbs_post_slot(pair, peer, 3, LENGTH);
	if (err)
		return err;
	kverbs_single_send(&single, end, 4, LENGTH);
	err = kverbs_post_single(pair, end, &single);
	if (!err)
		err = kverbs_await_status(pair, peer->recv_cq, 3, IB_WC_SUCCESS);
	if (!err)
		err = kverbs_await_status(pair, end->send_cq, 4, IB_WC_SUCCESS);
	if (err)
		return err;
	kverbs_to_cpu(peer);
	if (memcmp(peer->memory + KVERBS_RECEIVES + 3 * KVERBS_SLOT_SIZE, end->memory, LENGTH))
		return kverbs_fail(pair->report, "a message is not what was sent");
	return 0;
}

/* RESET discards all outstanding WRs, and both queues start empty. */
static int reset_and_reconnected(struct kverbs_pair *pair)
{
	int i, err = 0;

	for (i = 0; i < 20 && !err; i++) {
		err = kverbs_post_slot(pair, &pair->ends[i & 1], i, LENGTH);
		if (!err && i % 3 == 0)
			err = kverbs_to_state(&pair->ends[0], IB_QPS_ERR);
		if (!err)
			err = kverbs_reconnect(pair);
		if (!err)
			err = kverbs_await_nothing(pair);
		if (!err)
			err = works(pair);
	}
	return err;
}

static int post_until_full(struct kverbs_end *end, u32 max_wr, struct kverbs_single *single, u32 *count)
{
	const struct ib_send_wr *bad;
	int err = 0;

	for (*count = 0; *count <= max_wr; (*count)++) {
		bad = NULL;
		single->send.wr_id = *count;
		err = ib_post_send(end->qp, &single->send, &bad);
		if (err)
			return bad == &single->send ? err : -EBADMSG;
	}
	return 0;
}

/* A queue accepts as many WRs as it has promised, refuses the next one, and loses none. */
static int overrun(struct kverbs_pair *pair)
{
	struct kverbs_end *end = &pair->ends[0], *peer = &pair->ends[1];
	struct kverbs_single single;
	u32 count, i;
	int err;

	/* The peer posts no receive WR, so it does not acknowledge the message. */
	kverbs_single_send(&single, end, 0, LENGTH);
	err = post_until_full(end, 16 * end->cap.max_send_wr, &single, &count);
	if (err != -ENOMEM || count < end->cap.max_send_wr)
		return kverbs_fail(pair->report, "posting ends after %u requests with error %d; %u have to fit in",
				count, err, end->cap.max_send_wr);
	err = 0;
	for (i = 0; i < count && !err; i++) {
		err = kverbs_post_slot(pair, peer, i, LENGTH);
		if (!err)
			err = kverbs_await_status(pair, peer->recv_cq, i, IB_WC_SUCCESS);
		if (!err)
			err = kverbs_await_status(pair, end->send_cq, i, IB_WC_SUCCESS);
	}
	return err ?: works(pair);
}

static int overrun_of_receives(struct kverbs_pair *pair)
{
	struct kverbs_end *end = &pair->ends[0];
	const u32 max_wr = end->cap.max_recv_wr;
	struct ib_recv_wr wr = { .wr_id = max_wr };
	const struct ib_recv_wr *bad = NULL;
	u32 i;
	int err = 0;

	for (i = 0; i < max_wr && !err; i++)
		err = kverbs_post_slot(pair, end, i, LENGTH);
	if (err)
		return err;
	err = ib_post_recv(end->qp, &wr, &bad);
	if (err != -ENOMEM || bad != &wr)
		return kverbs_fail(pair->report, "receive request %u of a queue for %u gives error %d",
				max_wr, max_wr, err);
	return 0;
}

static int expect_refusal(struct kverbs_pair *pair, struct kverbs_single *single, int expected,
			  const char *what)
{
	struct kverbs_end *end = &pair->ends[0];
	const struct ib_send_wr *bad = NULL;
	int err = ib_post_send(end->qp, &single->send, &bad);

	if (err != expected || bad != &single->send)
		return kverbs_fail(pair->report, "%s gives error %d, should give %d", what, err,
				expected);
	return 0;
}

static int refused_requests(struct kverbs_pair *pair)
{
	struct kverbs_end *end = &pair->ends[0];
	struct kverbs_single single;
	int err;

	kverbs_single_send(&single, end, 1, LENGTH);
	single.send.num_sge = end->cap.max_send_sge + 1;
	err = expect_refusal(pair, &single, -EINVAL, "a request with too many segments");
	if (err)
		return err;
	kverbs_single_send(&single, end, 1, end->cap.max_inline_data + 1);
	single.send.send_flags |= IB_SEND_INLINE;
	err = expect_refusal(pair, &single, -EINVAL, "too much inline data");
	if (err)
		return err;
	kverbs_single_send(&single, end, 1, 8);
	single.send.opcode = IB_WR_RDMA_READ;
	single.send.send_flags |= IB_SEND_INLINE;
	err = expect_refusal(pair, &single, -EINVAL, "a read of inline data");
	if (err)
		return err;
	kverbs_single_send(&single, end, 1, 8);
	single.send.opcode = 77;
	err = expect_refusal(pair, &single, -EOPNOTSUPP, "an unknown operation");
	return err ?: works(pair);
}

/*
 * On a busy machine the interrupt that reports the event arrives long after the CQE has been
 * polled.
 */
static void await_limit_event(struct kverbs_end *end)
{
	const unsigned long limit = jiffies + KVERBS_PATIENCE;

	while (READ_ONCE(end->last_event) != IB_EVENT_SRQ_LIMIT_REACHED && !time_after(jiffies, limit))
		usleep_range(50, 500);
}

/* The event comes once, when fewer WRs than the limit are left. */
static int srq_limit(struct kverbs_pair *pair)
{
	struct kverbs_end *end = &pair->ends[0], *peer = &pair->ends[1];
	struct ib_srq_attr attr = { .srq_limit = 3 };
	struct kverbs_single single;
	int i, err = 0;

	for (i = 0; i < FEW && !err; i++)
		err = kverbs_post_slot(pair, peer, i, LENGTH);
	if (!err)
		err = ib_modify_srq(peer->srq, &attr, IB_SRQ_LIMIT);
	for (i = 0; i < FEW && !err; i++) {
		bool expected = FEW - i < attr.srq_limit;

		if (expected)
			await_limit_event(peer);
		else
			msleep(20);
		if ((READ_ONCE(peer->last_event) == IB_EVENT_SRQ_LIMIT_REACHED) != expected)
			return kverbs_fail(pair->report, "with %d requests left and a limit of %u the last event is %d",
					FEW - i, attr.srq_limit, peer->last_event);
		kverbs_single_send(&single, end, i, LENGTH);
		err = kverbs_post_single(pair, end, &single);
		if (!err)
			err = kverbs_await_status(pair, peer->recv_cq, i, IB_WC_SUCCESS);
	}
	if (err)
		return err;
	err = ib_query_srq(peer->srq, &attr);
	if (err || attr.srq_limit)
		return kverbs_fail(pair->report, "after the event the limit is %u (error %d)",
				attr.srq_limit, err);
	return 0;
}

static int run_too_long(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, too_long_message);
}

static int run_wrong_receiver(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, wrong_key_of_receiver);
}

static int run_wrong_sender(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, wrong_key_of_sender);
}

static int run_no_receive(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	struct kverbs_spec spec = kverbs_usual;

	spec.rnr_retries = 1;
	return kverbs_with_pair(report, &spec, no_receive_request);
}

static int run_late_receive(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, late_receive_request);
}

static int run_silent(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	struct kverbs_spec spec = kverbs_usual;

	spec.retries = 1;
	return kverbs_with_pair(report, &spec, silent_peer);
}

static int run_flushed(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, flushed);
}

static int run_reset(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, reset_and_reconnected);
}

static int run_overrun(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, overrun);
}

static int run_receive_overrun(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, overrun_of_receives);
}

static int run_refused(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, refused_requests);
}

static int run_srq_limit(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	struct kverbs_spec spec = kverbs_usual;

	spec.shared = true;
	return kverbs_with_pair(report, &spec, srq_limit);
}

const struct kverbs_case kverbs_error_cases[] = {
	{ "message_too_long", run_too_long },
	{ "receive_key_invalid", run_wrong_receiver },
	{ "send_key_invalid", run_wrong_sender },
	{ "receive_missing", run_no_receive },
	{ "receive_posted_late", run_late_receive },
	{ "silent_peer", run_silent },
	{ "flushed", run_flushed },
	{ "reset_and_reconnected", run_reset },
	{ "send_queue_overrun", run_overrun },
	{ "receive_queue_overrun", run_receive_overrun },
	{ "refused_requests", run_refused },
	{ "srq_limit", run_srq_limit },
	{}
};
