// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares completions and memory with the model. */
#include <linux/delay.h>
#include <linux/jiffies.h>

#include "traffic.h"

#define POLLED_MAX	5

static int check_send(struct kverbs_flow *flow, const struct ib_wc *wc)
{
	struct kverbs_report *report = flow->traffic->pair.report;
	const struct kverbs_completion *expected;

	if (flow->expected_done == flow->expected_posted)
		return kverbs_fail(report, "send request %llu has a completion too many", wc->wr_id);
	expected = &flow->expected[flow->expected_done++ % KVERBS_EXPECTED];
	if (wc->status != IB_WC_SUCCESS)
		return kverbs_fail(report, "send request %llu fails with '%s' (vendor syndrome 0x%x)",
				wc->wr_id, ib_wc_status_msg(wc->status), wc->vendor_err);
	if (wc->wr_id != expected->number || wc->opcode != expected->opcode)
		return kverbs_fail(report, "send request %llu (completion opcode %d) is done, next should be %llu (%d)",
				wc->wr_id, wc->opcode, expected->number, expected->opcode);
	if (wc->qp != flow->from->qp)
		return kverbs_fail(report, "send request %llu is said to be of another queue pair",
				wc->wr_id);
	flow->done = wc->wr_id + 1;
	if (flow->done == flow->posted) {
		flow->brought.count = 0;
		flow->fetched.count = 0;
	}
	return 0;
}

static u32 received_word(const struct ib_wc *wc)
{
	return wc->wc_flags & IB_WC_WITH_INVALIDATE ? wc->ex.invalidate_rkey :
						      be32_to_cpu(wc->ex.imm_data);
}

static int check_datagram(struct kverbs_flow *flow, const struct ib_wc *wc)
{
	struct kverbs_report *report = flow->traffic->pair.report;

	if (wc->src_qp != flow->from->qp->qp_num || wc->slid != flow->from->lid)
		return kverbs_fail(report, "a datagram comes from queue pair 0x%x of LID %u, should come from 0x%x of %u",
				wc->src_qp, wc->slid, flow->from->qp->qp_num, flow->from->lid);
	return 0;
}

static int check_message(struct kverbs_flow *flow, const struct ib_wc *wc,
			 const struct kverbs_message *message)
{
	const u32 header = flow->traffic->pair.spec.type == IB_QPT_UD ? KVERBS_GRH : 0;
	const u8 *data = flow->to->memory + KVERBS_RECEIVES + wc->wr_id * KVERBS_SLOT_SIZE + header;
	const int known = IB_WC_WITH_IMM | IB_WC_WITH_INVALIDATE;
	struct kverbs_report *report = flow->traffic->pair.report;

	if (wc->opcode != message->opcode || (wc->wc_flags & known) != message->flags)
		return kverbs_fail(report, "message %llu has completion opcode %d and flags 0x%x, should have %d and 0x%x",
				flow->received, wc->opcode, wc->wc_flags, message->opcode,
				message->flags);
	if (message->flags && received_word(wc) != message->word)
		return kverbs_fail(report, "message %llu has immediate or key 0x%x, should have 0x%x",
				flow->received, received_word(wc), message->word);
	if (wc->byte_len != message->length + header)
		return kverbs_fail(report, "message %llu has %u bytes, should have %u", flow->received,
				wc->byte_len, message->length + header);
	if (message->has_data && memcmp(data, message->data, message->length))
		return kverbs_fail(report, "message %llu of %u bytes is not what was sent",
				flow->received, message->length);
	return header ? check_datagram(flow, wc) : 0;
}

static int check_receive(struct kverbs_flow *flow, const struct ib_wc *wc)
{
	struct kverbs_report *report = flow->traffic->pair.report;
	int err;

	if (wc->status != IB_WC_SUCCESS)
		return kverbs_fail(report, "receive request %llu fails with '%s' (vendor syndrome 0x%x)",
				wc->wr_id, ib_wc_status_msg(wc->status), wc->vendor_err);
	if (flow->received == flow->sent)
		return kverbs_fail(report, "receive request %llu has a message that was not sent",
				wc->wr_id);
	if (wc->wr_id != flow->received % KVERBS_SLOTS)
		return kverbs_fail(report, "message %llu is in receive request %llu", flow->received,
				wc->wr_id);
	kverbs_to_cpu(flow->to);
	err = check_message(flow, wc, &flow->messages[flow->received % KVERBS_SLOTS]);
	kverbs_to_device(flow->to);
	flow->received++;
	return err;
}

static int poll_with(struct kverbs_flow *flow, struct ib_cq *cq,
		     int (*check)(struct kverbs_flow *flow, const struct ib_wc *wc))
{
	struct ib_wc wcs[POLLED_MAX];
	int polled, i, err;

	polled = ib_poll_cq(cq, 1 + kverbs_random(flow->traffic, POLLED_MAX), wcs);
	if (polled < 0)
		return kverbs_fail(flow->traffic->pair.report, "polling fails with error %d", polled);
	for (i = 0; i < polled; i++) {
		err = check(flow, &wcs[i]);
		if (err)
			return err;
	}
	return 0;
}

/**
 * kverbs_poll_flow() - polls and checks some completions
 * @flow: direction
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_poll_flow(struct kverbs_flow *flow)
{
	int err;

	err = poll_with(flow, flow->from->send_cq, check_send);
	return err ?: poll_with(flow, flow->to->recv_cq, check_receive);
}

static bool is_done(const struct kverbs_flow *flow)
{
	return flow->expected_done == flow->expected_posted && flow->received == flow->sent;
}

/**
 * kverbs_drain() - waits until all posted WRs are done
 * @traffic: both directions
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_drain(struct kverbs_traffic *traffic)
{
	const unsigned long limit = jiffies + KVERBS_PATIENCE;
	int err;

	while (!is_done(&traffic->flows[0]) || !is_done(&traffic->flows[1])) {
		err = kverbs_poll_flow(&traffic->flows[0]);
		if (!err)
			err = kverbs_poll_flow(&traffic->flows[1]);
		if (err)
			return err;
		if (time_after(jiffies, limit))
			return kverbs_fail(traffic->pair.report, "requests are not done: %llu and %llu completions, %llu and %llu messages are missing",
					traffic->flows[0].expected_posted - traffic->flows[0].expected_done,
					traffic->flows[1].expected_posted - traffic->flows[1].expected_done,
					traffic->flows[0].sent - traffic->flows[0].received,
					traffic->flows[1].sent - traffic->flows[1].received);
		usleep_range(10, 100);
	}
	return 0;
}

static int compare_end(struct kverbs_traffic *traffic, const struct kverbs_end *end, const u8 *model)
{
	u32 from, to;

	if (!memcmp(end->memory, model, KVERBS_MODEL_SIZE))
		return 0;
	for (from = 0; end->memory[from] == model[from]; from++)
		;
	for (to = from; to < KVERBS_MODEL_SIZE && end->memory[to] != model[to]; to++)
		;
	return kverbs_fail(traffic->pair.report, "%s area of end %d: bytes from 0x%x to 0x%x are wrong: 0x%02x, should be 0x%02x",
			from < KVERBS_EXPOSED ? "local" : "exposed", end == &traffic->pair.ends[1],
			from % KVERBS_AREA_SIZE, to % KVERBS_AREA_SIZE, end->memory[from], model[from]);
}

/**
 * kverbs_compare() - compares the memory with the model
 * @traffic: both directions, without outstanding WRs
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_compare(struct kverbs_traffic *traffic)
{
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		kverbs_to_cpu(traffic->flows[i].from);
		err = compare_end(traffic, traffic->flows[i].from, traffic->flows[i].own);
		kverbs_to_device(traffic->flows[i].from);
	}
	return err;
}
