// SPDX-License-Identifier: GPL-2.0-or-later
/* One request at a time. */
#include <linux/slab.h>

#include "single.h"

/**
 * ulp_with_pair() - a test of two ends
 * @report: where to say what is wrong
 * @spec: what they are like
 * @test: the test
 *
 * Return: 0 or an error.
 */
int ulp_with_pair(struct ulp_report *report, const struct ulp_spec *spec,
		  int (*test)(struct ulp_pair *pair))
{
	struct ulp_pair *pair = kzalloc(sizeof(*pair), GFP_KERNEL);
	int err;

	if (!pair)
		return -ENOMEM;
	err = ulp_pair_create(pair, spec, report);
	if (!err)
		err = test(pair);
	ulp_pair_destroy(pair);
	kfree(pair);
	return err;
}

/**
 * ulp_single_send() - a message from the local area
 * @single: filled
 * @end: who sends
 * @wr_id: of the request
 * @length: bytes
 */
void ulp_single_send(struct ulp_single *single, struct ulp_end *end, u64 wr_id, u32 length)
{
	*single = (struct ulp_single){
		.send = {
			.wr_id = wr_id,
			.sg_list = &single->sge,
			.num_sge = 1,
			.opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
		},
		.sge = { end->dma + ULP_LOCAL, length, end->pd->local_dma_lkey },
	};
}

/**
 * ulp_single_write() - a write from the local area
 * @single: filled
 * @end: who writes
 * @wr_id: of the request
 * @address: where to
 * @rkey: key of that
 * @length: bytes
 */
void ulp_single_write(struct ulp_single *single, struct ulp_end *end, u64 wr_id, u64 address,
		      u32 rkey, u32 length)
{
	ulp_single_send(single, end, wr_id, length);
	single->send.opcode = IB_WR_RDMA_WRITE;
	single->rdma.remote_addr = address;
	single->rdma.rkey = rkey;
}

/**
 * ulp_post_single() - posts a request that has to be taken
 * @pair: with the report
 * @end: who posts
 * @single: the request
 *
 * Return: 0, or an error after ulp_fail().
 */
int ulp_post_single(struct ulp_pair *pair, struct ulp_end *end, struct ulp_single *single)
{
	const struct ib_send_wr *bad;
	int err = ib_post_send(end->qp, &single->send, &bad);

	if (!err)
		return 0;
	return ulp_fail(pair->report, "request %llu (opcode %d) is refused with error %d",
			single->send.wr_id, single->send.opcode, err);
}

/**
 * ulp_post_slot() - posts a receive request that has to be taken
 * @pair: with the report
 * @end: who posts
 * @wr_id: of the request, and number of the slot
 * @length: bytes that it has room for
 *
 * Return: 0, or an error after ulp_fail().
 */
int ulp_post_slot(struct ulp_pair *pair, struct ulp_end *end, u64 wr_id, u32 length)
{
	struct ib_sge sge = {
		.addr = end->dma + ULP_RECEIVES + (wr_id % ULP_SLOTS) * ULP_SLOT_SIZE,
		.length = length,
		.lkey = end->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;
	int err = ulp_post_receive(end, &wr, &bad);

	if (!err)
		return 0;
	return ulp_fail(pair->report, "receive request %llu is refused with error %d", wr_id, err);
}

/**
 * ulp_register() - registers memory and waits for it
 * @pair: with the report
 * @end: whose memory
 * @mr: key, which is free
 * @dma: begin of the memory
 * @length: its bytes
 * @access: IB_ACCESS_…
 *
 * Return: 0, or an error after ulp_fail().
 */
int ulp_register(struct ulp_pair *pair, struct ulp_end *end, struct ib_mr *mr, u64 dma,
		 u32 length, int access)
{
	struct ulp_single single = {};
	int err;

	err = ulp_map_key(mr, dma, length);
	if (err)
		return ulp_fail(pair->report, "memory cannot be mapped: error %d", err);
	single.send.opcode = IB_WR_REG_MR;
	single.send.wr_id = mr->rkey;
	single.send.send_flags = IB_SEND_SIGNALED;
	single.reg.mr = mr;
	single.reg.key = mr->rkey;
	single.reg.access = access;
	err = ulp_post_single(pair, end, &single);
	return err ?: ulp_await_status(pair, end->send_cq, mr->rkey, IB_WC_SUCCESS);
}

/**
 * ulp_reconnect() - from any state to a new connection
 * @pair: two ends
 *
 * Return: 0, or an error after ulp_fail().
 */
int ulp_reconnect(struct ulp_pair *pair)
{
	int i, err;

	for (i = 0; i < 2; i++) {
		err = ulp_to_state(&pair->ends[i], IB_QPS_RESET);
		if (err)
			return ulp_fail(pair->report, "end %d cannot be reset: error %d", i, err);
	}
	return ulp_connect(pair);
}
