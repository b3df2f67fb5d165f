// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether what has happened is what the model says. */
#include <linux/delay.h>
#include <linux/jiffies.h>

#include "traffic.h"

#define POLLED_MOST	5

static int check_send(struct ulp_flow *flow, const struct ib_wc *wc)
{
	struct ulp_report *report = flow->traffic->pair.report;
	const struct ulp_completion *expected;

	if (flow->expected_done == flow->expected_posted)
		return ulp_fail(report, "send request %llu has a completion too many", wc->wr_id);
	expected = &flow->expected[flow->expected_done++ % ULP_EXPECTED];
	if (wc->status != IB_WC_SUCCESS)
		return ulp_fail(report, "send request %llu fails with '%s' (vendor syndrome 0x%x)",
				wc->wr_id, ib_wc_status_msg(wc->status), wc->vendor_err);
	if (wc->wr_id != expected->number || wc->opcode != expected->opcode)
		return ulp_fail(report, "send request %llu (completion opcode %d) is done, next should be %llu (%d)",
				wc->wr_id, wc->opcode, expected->number, expected->opcode);
	if (wc->qp != flow->from->qp)
		return ulp_fail(report, "send request %llu is said to be of another queue pair",
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

static int check_datagram(struct ulp_flow *flow, const struct ib_wc *wc)
{
	struct ulp_report *report = flow->traffic->pair.report;

	if (wc->src_qp != flow->from->qp->qp_num || wc->slid != flow->from->lid)
		return ulp_fail(report, "a datagram comes from queue pair 0x%x of LID %u, should come from 0x%x of %u",
				wc->src_qp, wc->slid, flow->from->qp->qp_num, flow->from->lid);
	return 0;
}

static int check_message(struct ulp_flow *flow, const struct ib_wc *wc,
			 const struct ulp_message *message)
{
	const u32 header = flow->traffic->pair.spec.type == IB_QPT_UD ? ULP_GRH : 0;
	const u8 *data = flow->to->memory + ULP_RECEIVES + wc->wr_id * ULP_SLOT_SIZE + header;
	const int known = IB_WC_WITH_IMM | IB_WC_WITH_INVALIDATE;
	struct ulp_report *report = flow->traffic->pair.report;

	if (wc->opcode != message->opcode || (wc->wc_flags & known) != message->flags)
		return ulp_fail(report, "message %llu has completion opcode %d and flags 0x%x, should have %d and 0x%x",
				flow->received, wc->opcode, wc->wc_flags, message->opcode,
				message->flags);
	if (message->flags && received_word(wc) != message->word)
		return ulp_fail(report, "message %llu has immediate or key 0x%x, should have 0x%x",
				flow->received, received_word(wc), message->word);
	if (wc->byte_len != message->length + header)
		return ulp_fail(report, "message %llu has %u bytes, should have %u", flow->received,
				wc->byte_len, message->length + header);
	if (message->has_data && memcmp(data, message->data, message->length))
		return ulp_fail(report, "message %llu of %u bytes is not what was sent",
				flow->received, message->length);
	return header ? check_datagram(flow, wc) : 0;
}

static int check_receive(struct ulp_flow *flow, const struct ib_wc *wc)
{
	struct ulp_report *report = flow->traffic->pair.report;
	int err;

	if (wc->status != IB_WC_SUCCESS)
		return ulp_fail(report, "receive request %llu fails with '%s' (vendor syndrome 0x%x)",
				wc->wr_id, ib_wc_status_msg(wc->status), wc->vendor_err);
	if (flow->received == flow->sent)
		return ulp_fail(report, "receive request %llu has a message that was not sent",
				wc->wr_id);
	if (wc->wr_id != flow->received % ULP_SLOTS)
		return ulp_fail(report, "message %llu is in receive request %llu", flow->received,
				wc->wr_id);
	ulp_to_cpu(flow->to);
	err = check_message(flow, wc, &flow->messages[flow->received % ULP_SLOTS]);
	ulp_to_device(flow->to);
	flow->received++;
	return err;
}

static int poll_with(struct ulp_flow *flow, struct ib_cq *cq,
		     int (*check)(struct ulp_flow *flow, const struct ib_wc *wc))
{
	struct ib_wc wcs[POLLED_MOST];
	int polled, i, err;

	polled = ib_poll_cq(cq, 1 + ulp_random(flow->traffic, POLLED_MOST), wcs);
	if (polled < 0)
		return ulp_fail(flow->traffic->pair.report, "polling fails with error %d", polled);
	for (i = 0; i < polled; i++) {
		err = check(flow, &wcs[i]);
		if (err)
			return err;
	}
	return 0;
}

/**
 * ulp_poll_flow() - takes some completions and checks them
 * @flow: direction
 *
 * Return: 0, or an error after ulp_fail().
 */
int ulp_poll_flow(struct ulp_flow *flow)
{
	int err;

	err = poll_with(flow, flow->from->send_cq, check_send);
	return err ?: poll_with(flow, flow->to->recv_cq, check_receive);
}

static bool is_done(const struct ulp_flow *flow)
{
	return flow->expected_done == flow->expected_posted && flow->received == flow->sent;
}

/**
 * ulp_drain() - waits until all that was posted is done
 * @traffic: both directions
 *
 * Return: 0, or an error after ulp_fail().
 */
int ulp_drain(struct ulp_traffic *traffic)
{
	const unsigned long limit = jiffies + ULP_PATIENCE;
	int err;

	while (!is_done(&traffic->flows[0]) || !is_done(&traffic->flows[1])) {
		err = ulp_poll_flow(&traffic->flows[0]);
		if (!err)
			err = ulp_poll_flow(&traffic->flows[1]);
		if (err)
			return err;
		if (time_after(jiffies, limit))
			return ulp_fail(traffic->pair.report, "requests are not done: %llu and %llu completions, %llu and %llu messages are missing",
					traffic->flows[0].expected_posted - traffic->flows[0].expected_done,
					traffic->flows[1].expected_posted - traffic->flows[1].expected_done,
					traffic->flows[0].sent - traffic->flows[0].received,
					traffic->flows[1].sent - traffic->flows[1].received);
		usleep_range(10, 100);
	}
	return 0;
}

static int compare_end(struct ulp_traffic *traffic, const struct ulp_end *end, const u8 *model)
{
	u32 from, to;

	if (!memcmp(end->memory, model, ULP_MODEL_SIZE))
		return 0;
	for (from = 0; end->memory[from] == model[from]; from++)
		;
	for (to = from; to < ULP_MODEL_SIZE && end->memory[to] != model[to]; to++)
		;
	return ulp_fail(traffic->pair.report, "%s area of end %d: bytes from 0x%x to 0x%x are wrong: 0x%02x, should be 0x%02x",
			from < ULP_EXPOSED ? "local" : "exposed", end == &traffic->pair.ends[1],
			from % ULP_AREA_SIZE, to % ULP_AREA_SIZE, end->memory[from], model[from]);
}

/**
 * ulp_compare() - memory has to be what the model says
 * @traffic: both directions, with nothing under way
 *
 * Return: 0, or an error after ulp_fail().
 */
int ulp_compare(struct ulp_traffic *traffic)
{
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		ulp_to_cpu(traffic->flows[i].from);
		err = compare_end(traffic, traffic->flows[i].from, traffic->flows[i].own);
		ulp_to_device(traffic->flows[i].from);
	}
	return err;
}
