// SPDX-License-Identifier: GPL-2.0-or-later
/* One request at a time. */
#include <linux/slab.h>

#include "single.h"

/**
 * kverbs_with_pair() - runs a test with two ends
 * @report: report of the case
 * @spec: attributes of the ends
 * @test: the test
 *
 * Return: 0 or an error.
 */
int kverbs_with_pair(struct kverbs_report *report, const struct kverbs_spec *spec,
		  int (*test)(struct kverbs_pair *pair))
{
	struct kverbs_pair *pair = kzalloc(sizeof(*pair), GFP_KERNEL);
	int err;

	if (!pair)
		return -ENOMEM;
	err = kverbs_pair_create(pair, spec, report);
	if (!err)
		err = test(pair);
	kverbs_pair_destroy(pair);
	kfree(pair);
	return err;
}

/**
 * kverbs_single_send() - builds a SEND from the local area
 * @single: filled
 * @end: end that sends
 * @wr_id: wr_id of the WR
 * @length: bytes
 */
void kverbs_single_send(struct kverbs_single *single, struct kverbs_end *end, u64 wr_id, u32 length)
{
	*single = (struct kverbs_single){
		.send = {
			.wr_id = wr_id,
			.sg_list = &single->sge,
			.num_sge = 1,
			.opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
		},
		.sge = { end->dma + KVERBS_LOCAL, length, end->pd->local_dma_lkey },
	};
}

/**
 * kverbs_single_write() - builds an RDMA WRITE from the local area
 * @single: filled
 * @end: end that writes
 * @wr_id: wr_id of the WR
 * @address: remote address
 * @rkey: remote key
 * @length: bytes
 */
void kverbs_single_write(struct kverbs_single *single, struct kverbs_end *end, u64 wr_id, u64 address,
		      u32 rkey, u32 length)
{
	kverbs_single_send(single, end, wr_id, length);
	single->send.opcode = IB_WR_RDMA_WRITE;
	single->rdma.remote_addr = address;
	single->rdma.rkey = rkey;
}

/**
 * kverbs_post_single() - posts a WR that must be accepted
 * @pair: two ends, with the report
 * @end: end that posts the WR
 * @single: the WR
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_post_single(struct kverbs_pair *pair, struct kverbs_end *end, struct kverbs_single *single)
{
	const struct ib_send_wr *bad;
	int err = ib_post_send(end->qp, &single->send, &bad);

	if (!err)
		return 0;
	return kverbs_fail(pair->report, "request %llu (opcode %d) is refused with error %d",
			single->send.wr_id, single->send.opcode, err);
}

/**
 * kverbs_try_slot() - posts a receive WR
 * @end: end that posts the WR
 * @wr_id: wr_id of the WR, and number of its slot
 * @length: bytes of its buffer
 *
 * Return: 0 or the error of the verb.
 */
int kverbs_try_slot(struct kverbs_end *end, u64 wr_id, u32 length)
{
	struct ib_sge sge = {
		.addr = end->dma + KVERBS_RECEIVES + (wr_id % KVERBS_SLOTS) * KVERBS_SLOT_SIZE,
		.length = length,
		.lkey = end->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;

	return kverbs_post_receive(end, &wr, &bad);
}

/**
 * kverbs_post_slot() - posts a receive WR that must be accepted
 * @pair: two ends, with the report
 * @end: end that posts the WR
 * @wr_id: wr_id of the WR, and number of its slot
 * @length: bytes of its buffer
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_post_slot(struct kverbs_pair *pair, struct kverbs_end *end, u64 wr_id, u32 length)
{
	int err = kverbs_try_slot(end, wr_id, length);

	if (!err)
		return 0;
	return kverbs_fail(pair->report, "receive request %llu is refused with error %d", wr_id, err);
}

/**
 * kverbs_register() - registers an MR and waits for the completion
 * @pair: two ends, with the report
 * @end: owner of the memory
 * @mr: MR, not registered
 * @dma: start of the memory
 * @length: bytes of the memory
 * @access: IB_ACCESS_…
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_register(struct kverbs_pair *pair, struct kverbs_end *end, struct ib_mr *mr, u64 dma,
		 u32 length, int access)
{
	struct kverbs_single single = {};
	int err;

	err = kverbs_map_key(mr, dma, length);
	if (err)
		return kverbs_fail(pair->report, "memory cannot be mapped: error %d", err);
	single.send.opcode = IB_WR_REG_MR;
	single.send.wr_id = mr->rkey;
	single.send.send_flags = IB_SEND_SIGNALED;
	single.reg.mr = mr;
	single.reg.key = mr->rkey;
	single.reg.access = access;
	err = kverbs_post_single(pair, end, &single);
	return err ?: kverbs_await_status(pair, end->send_cq, mr->rkey, IB_WC_SUCCESS);
}

/**
 * kverbs_reconnect() - brings both QPs from any state to a new connection
 * @pair: two ends
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_reconnect(struct kverbs_pair *pair)
{
	int i, err;

	for (i = 0; i < 2; i++) {
		err = kverbs_to_state(&pair->ends[i], IB_QPS_RESET);
		if (err)
			return kverbs_fail(pair->report, "end %d cannot be reset: error %d", i, err);
	}
	return kverbs_connect(pair);
}
