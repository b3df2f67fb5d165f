// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * XRC: a receive QP and SRQs of the kernel. A kernel WR cannot name an XRC SRQ, so a user-space
 * process sends. The test therefore consists of steps; the process acts between them.
 */
#include <linux/gfp.h>

#include "single.h"

#define QUEUES		2
#define REQUESTS	16
#define SLOT_SIZE	256
#define MEMORY_SIZE	(QUEUES * REQUESTS * SLOT_SIZE)
/* Bytes of message n. */
#define LENGTH(n)	(100 + (n))

/**
 * struct receiver - the receiving objects; each is NULL, an error, or valid
 * @device: HCA
 * @pd: PD
 * @xrcd: XRC domain
 * @cq: CQ of all queues
 * @queues: SRQs
 * @qp: XRC receive QP
 * @memory: buffer for the messages
 * @dma: DMA address of @memory
 */
static struct receiver {
	struct ib_device *device;
	struct ib_pd *pd;
	struct ib_xrcd *xrcd;
	struct ib_cq *cq;
	struct ib_srq *queues[QUEUES];
	struct ib_qp *qp;
	u8 *memory;
	u64 dma;
} receiver;

static int make_memory(void)
{
	unsigned long pages = __get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(MEMORY_SIZE));

	if (!pages)
		return -ENOMEM;
	receiver.dma = ib_dma_map_single(receiver.device, (void *)pages, MEMORY_SIZE,
					 DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(receiver.device, receiver.dma)) {
		free_pages(pages, get_order(MEMORY_SIZE));
		return -ENOMEM;
	}
	receiver.memory = (u8 *)pages;
	return 0;
}

static int post_all(unsigned int queue)
{
	struct ib_sge sge = { .length = SLOT_SIZE, .lkey = receiver.pd->local_dma_lkey };
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;
	int i, err = 0;

	for (i = 0; i < REQUESTS && !err; i++) {
		wr.wr_id = queue * REQUESTS + i;
		sge.addr = receiver.dma + wr.wr_id * SLOT_SIZE;
		err = ib_post_srq_recv(receiver.queues[queue], &wr, &bad);
	}
	return err;
}

static int make_queue(unsigned int index)
{
	struct ib_srq_init_attr attr = {
		.attr = { .max_wr = REQUESTS, .max_sge = 1 },
		.srq_type = IB_SRQT_XRC,
		.ext = { .cq = receiver.cq, .xrc.xrcd = receiver.xrcd },
	};
	struct ib_srq *srq = ib_create_srq_user(receiver.pd, &attr, NULL, NULL);

	receiver.queues[index] = srq;
	return IS_ERR(srq) ? PTR_ERR(srq) : post_all(index);
}

static int make_objects(void)
{
	const struct ib_cq_init_attr cq = { .cqe = QUEUES * REQUESTS };
	struct ib_qp_init_attr qp = { .qp_type = IB_QPT_XRC_TGT };
	int i, err = 0;

	receiver.pd = ib_alloc_pd(receiver.device, 0);
	if (IS_ERR(receiver.pd))
		return PTR_ERR(receiver.pd);
	receiver.xrcd = ib_alloc_xrcd_user(receiver.device, NULL, NULL);
	if (IS_ERR(receiver.xrcd))
		return PTR_ERR(receiver.xrcd);
	receiver.cq = ib_create_cq(receiver.device, NULL, NULL, NULL, &cq);
	if (IS_ERR(receiver.cq))
		return PTR_ERR(receiver.cq);
	for (i = 0; i < QUEUES && !err; i++)
		err = make_queue(i);
	if (err)
		return err;
	qp.xrcd = receiver.xrcd;
	receiver.qp = ib_create_qp(receiver.pd, &qp);
	return PTR_ERR_OR_ZERO(receiver.qp);
}

/* Closes the receiver, possibly with unpolled completions. */
static int run_close(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	int i;

	/* QP and SRQs can be destroyed in any order. */
	if (settings->seed % 2 && !IS_ERR_OR_NULL(receiver.qp))
		ib_destroy_qp(receiver.qp);
	for (i = 0; i < QUEUES; i++)
		if (!IS_ERR_OR_NULL(receiver.queues[i]))
			ib_destroy_srq(receiver.queues[i]);
	if (settings->seed % 2 == 0 && !IS_ERR_OR_NULL(receiver.qp))
		ib_destroy_qp(receiver.qp);
	if (!IS_ERR_OR_NULL(receiver.cq))
		ib_destroy_cq(receiver.cq);
	if (!IS_ERR_OR_NULL(receiver.xrcd))
		ib_dealloc_xrcd_user(receiver.xrcd, NULL);
	if (!IS_ERR_OR_NULL(receiver.pd))
		ib_dealloc_pd(receiver.pd);
	if (receiver.memory) {
		ib_dma_unmap_single(receiver.device, receiver.dma, MEMORY_SIZE, DMA_FROM_DEVICE);
		free_pages((unsigned long)receiver.memory, get_order(MEMORY_SIZE));
	}
	receiver = (struct receiver){};
	return 0;
}

/* Reports what the sender must know. */
static int run_open(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	struct ib_port_attr port;
	int err;

	receiver.device = kverbs_device(1);
	err = make_memory();
	if (!err)
		err = make_objects();
	if (!err)
		err = ib_query_port(receiver.device, KVERBS_PORT, &port);
	if (err) {
		run_close(report, settings);
		return kverbs_fail(report, "no receiver: error %d", err);
	}
	kverbs_say(report, "device %s lid %u qp %u queue0 %u queue1 %u",
		dev_name(&kverbs_device(0)->dev), port.lid, receiver.qp->qp_num,
		receiver.queues[0]->ext.xrc.srq_num, receiver.queues[1]->ext.xrc.srq_num);
	return 0;
}

/* @seed is the number of the send QP, @rounds the LID of its port. */
static int run_connect(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = KVERBS_PORT,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = settings->seed,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
	};
	int err;

	rdma_ah_set_dlid(&attr.ah_attr, settings->rounds);
	rdma_ah_set_port_num(&attr.ah_attr, KVERBS_PORT);
	err = ib_modify_qp(receiver.qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			   IB_QP_ACCESS_FLAGS);
	if (err)
		return kverbs_fail(report, "the receiver does not get to INIT: error %d", err);
	attr.qp_state = IB_QPS_RTR;
	err = ib_modify_qp(receiver.qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			   IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
			   IB_QP_MIN_RNR_TIMER);
	return err ? kverbs_fail(report, "the receiver does not get to RTR: error %d", err) : 0;
}

static int check_message(struct kverbs_pair *pair, unsigned int number)
{
	u32 slot = number % QUEUES * REQUESTS + number / QUEUES;
	const u8 *message = receiver.memory + slot * SLOT_SIZE;
	struct ib_wc wc;
	int err;

	err = kverbs_await(pair, receiver.cq, &wc);
	if (err)
		return err;
	if (wc.status != IB_WC_SUCCESS || wc.wr_id != slot || wc.byte_len != LENGTH(number) ||
	    wc.qp != receiver.qp)
		return kverbs_fail(pair->report, "message %u has %u bytes in request %llu of %s queue pair, with '%s'",
				number, wc.byte_len, wc.wr_id,
				wc.qp == receiver.qp ? "the" : "another",
				ib_wc_status_msg(wc.status));
	ib_dma_sync_single_for_cpu(receiver.device, receiver.dma, MEMORY_SIZE, DMA_FROM_DEVICE);
	if (message[0] != number || message[LENGTH(number) - 1] != number)
		return kverbs_fail(pair->report, "message %u is not what was sent", number);
	return 0;
}

/* The messages went to the SRQs in turn; @rounds is their number. */
static int run_check(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	struct kverbs_pair pair = { .report = report };
	unsigned int i;
	int err = 0;

	for (i = 0; i < settings->rounds && !err; i++)
		err = check_message(&pair, i);
	return err;
}

const struct kverbs_case kverbs_xrc_cases[] = {
	{ "xrc_open", run_open },
	{ "xrc_connect", run_connect },
	{ "xrc_check", run_check },
	{ "xrc_close", run_close },
	{}
};
