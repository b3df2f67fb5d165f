// SPDX-License-Identifier: GPL-2.0-or-later
/* Creates, connects, modifies and destroys two ends. */
#include <linux/gfp.h>

#include "kverbs.h"

const struct kverbs_spec kverbs_usual = {
	.type = IB_QPT_RC,
	.max_wr = 32,
	.max_sge = 4,
	.max_inline = 64,
	.mtu = IB_MTU_1024,
	.depth = 4,
	.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
		  IB_ACCESS_REMOTE_ATOMIC,
	.retries = 7,
	.rnr_retries = 7,
};

static void note_completion(struct ib_cq *cq, void *context)
{
	struct kverbs_end *end = context;

	atomic_inc(&end->completion_events);
}

static void note_event(struct ib_event *event, void *context)
{
	struct kverbs_end *end = context;

	if (event->event == IB_EVENT_CQ_ERR)
		atomic_inc(&end->cq_errors);
	WRITE_ONCE(end->last_event, event->event);
}

static struct ib_cq *create_cq(struct kverbs_end *end, const struct kverbs_spec *spec)
{
	const struct ib_cq_init_attr attr = { .cqe = 2 * spec->max_wr };

	if (end->pooled)
		return ib_cq_pool_get(end->device, attr.cqe, 0, IB_POLL_WORKQUEUE);
	if (spec->options)
		return cxib_alloc_cq(end->device, end, attr.cqe, 0, spec->options);
	if (spec->core_polls)
		return ib_alloc_cq(end->device, end, attr.cqe, 0, spec->context);
	return ib_create_cq(end->device, note_completion, note_event, end, &attr);
}

static int make_memory(struct kverbs_end *end)
{
	struct page *pages = alloc_pages(GFP_KERNEL | __GFP_ZERO, get_order(KVERBS_MEMORY_SIZE));

	if (!pages)
		return -ENOMEM;
	end->memory = page_address(pages);
	end->dma = ib_dma_map_single(end->device, end->memory, KVERBS_MEMORY_SIZE, DMA_BIDIRECTIONAL);
	if (!ib_dma_mapping_error(end->device, end->dma))
		return 0;
	__free_pages(pages, get_order(KVERBS_MEMORY_SIZE));
	end->memory = NULL;
	return -ENOMEM;
}

/* Each object is NULL, an error, or valid; kverbs_pair_destroy() distinguishes them. */
static int make_queues(struct kverbs_end *end, const struct kverbs_spec *spec)
{
	end->pd = ib_alloc_pd(end->device, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(end->pd))
		return PTR_ERR(end->pd);
	end->send_cq = create_cq(end, spec);
	if (IS_ERR(end->send_cq))
		return PTR_ERR(end->send_cq);
	end->recv_cq = create_cq(end, spec);
	if (IS_ERR(end->recv_cq))
		return PTR_ERR(end->recv_cq);
	if (spec->shared) {
		struct ib_srq_init_attr attr = {
			.event_handler = note_event,
			.srq_context = end,
			.attr = { .max_wr = spec->max_wr, .max_sge = spec->max_sge },
			.srq_type = IB_SRQT_BASIC,
		};

		end->srq = ib_create_srq(end->pd, &attr);
	}
	return PTR_ERR_OR_ZERO(end->srq);
}

static int make_keys(struct kverbs_end *end, const struct kverbs_spec *spec)
{
	if (spec->type != IB_QPT_RC)
		return 0;
	end->local_key = ib_alloc_mr(end->pd, IB_MR_TYPE_MEM_REG, KVERBS_AREA_SIZE / PAGE_SIZE);
	if (IS_ERR(end->local_key))
		return PTR_ERR(end->local_key);
	end->exposed_key = ib_alloc_mr(end->pd, IB_MR_TYPE_MEM_REG, KVERBS_AREA_SIZE / PAGE_SIZE);
	return PTR_ERR_OR_ZERO(end->exposed_key);
}

static int make_queue_pair(struct kverbs_end *end, const struct kverbs_spec *spec)
{
	struct ib_qp_init_attr attr = {
		.event_handler = note_event,
		.qp_context = end,
		.send_cq = end->send_cq,
		.recv_cq = end->recv_cq,
		.srq = end->srq,
		.cap = {
			.max_send_wr = spec->max_wr,
			.max_recv_wr = spec->shared ? 0 : spec->max_wr,
			.max_send_sge = spec->max_sge,
			.max_recv_sge = spec->shared ? 0 : spec->max_sge,
			.max_inline_data = spec->max_inline,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = spec->type,
		.create_flags = spec->is_signed ? IB_QP_CREATE_INTEGRITY_EN : 0,
	};

	end->qp = ib_create_qp(end->pd, &attr);
	end->cap = attr.cap;
	return PTR_ERR_OR_ZERO(end->qp);
}

static int make_end(struct kverbs_end *end, struct ib_device *device, const struct kverbs_spec *spec)
{
	struct ib_port_attr port;
	int err;

	end->device = device;
	end->last_event = -1;
	err = ib_query_port(device, KVERBS_PORT, &port);
	if (err)
		return err;
	end->lid = port.lid;
	err = make_memory(end);
	if (err)
		return err;
	err = make_queues(end, spec);
	if (err)
		return err;
	err = make_keys(end, spec);
	return err ?: make_queue_pair(end, spec);
}

static void destroy_cq(const struct kverbs_end *end, struct ib_cq *cq, const struct kverbs_spec *spec)
{
	if (IS_ERR_OR_NULL(cq))
		return;
	if (end->pooled)
		ib_cq_pool_put(cq, 2 * spec->max_wr);
	else if (spec->core_polls)
		ib_free_cq(cq);
	else
		ib_destroy_cq(cq);
}

static void destroy_end(struct kverbs_end *end, const struct kverbs_spec *spec)
{
	if (!IS_ERR_OR_NULL(end->ah))
		rdma_destroy_ah(end->ah, RDMA_DESTROY_AH_SLEEPABLE);
	if (!IS_ERR_OR_NULL(end->qp))
		ib_destroy_qp(end->qp);
	if (!IS_ERR_OR_NULL(end->exposed_key))
		ib_dereg_mr(end->exposed_key);
	if (!IS_ERR_OR_NULL(end->local_key))
		ib_dereg_mr(end->local_key);
	if (!IS_ERR_OR_NULL(end->srq))
		ib_destroy_srq(end->srq);
	destroy_cq(end, end->recv_cq, spec);
	destroy_cq(end, end->send_cq, spec);
	if (!IS_ERR_OR_NULL(end->pd))
		ib_dealloc_pd(end->pd);
	if (!end->memory)
		return;
	ib_dma_unmap_single(end->device, end->dma, KVERBS_MEMORY_SIZE, DMA_BIDIRECTIONAL);
	free_pages((unsigned long)end->memory, get_order(KVERBS_MEMORY_SIZE));
}

/**
 * kverbs_pair_create() - creates two connected ends
 * @pair: filled; must be passed to kverbs_pair_destroy() even after an error
 * @spec: attributes of the ends
 * @report: report of the case
 *
 * Return: 0 or an error.
 */
int kverbs_pair_create(struct kverbs_pair *pair, const struct kverbs_spec *spec, struct kverbs_report *report)
{
	int i, err;

	*pair = (struct kverbs_pair){ .spec = *spec, .report = report };
	pair->ends[1].pooled = spec->pooled;
	for (i = 0; i < 2; i++) {
		err = make_end(&pair->ends[i], kverbs_device(i), spec);
		if (err)
			return kverbs_fail(report, "cannot make end %d: error %d", i, err);
	}
	err = spec->prepare ? spec->prepare(pair) : 0;
	return err ?: kverbs_connect(pair);
}

/**
 * kverbs_pair_destroy() - destroys what kverbs_pair_create() has created
 * @pair: two ends, possibly incomplete
 */
void kverbs_pair_destroy(struct kverbs_pair *pair)
{
	destroy_end(&pair->ends[1], &pair->spec);
	destroy_end(&pair->ends[0], &pair->spec);
}

static void fill_address(const struct kverbs_end *peer, struct rdma_ah_attr *attr)
{
	*attr = (struct rdma_ah_attr){ .type = RDMA_AH_ATTR_TYPE_IB };
	rdma_ah_set_dlid(attr, peer->lid);
	rdma_ah_set_port_num(attr, KVERBS_PORT);
}

static int to_init(const struct kverbs_pair *pair, struct kverbs_end *end)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = KVERBS_PORT,
		.qp_access_flags = pair->spec.access,
		.qkey = KVERBS_QKEY,
	};
	int mask = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT;

	mask |= pair->spec.type == IB_QPT_UD ? IB_QP_QKEY : IB_QP_ACCESS_FLAGS;
	return ib_modify_qp(end->qp, &attr, mask);
}

static int to_rtr(const struct kverbs_pair *pair, struct kverbs_end *end, const struct kverbs_end *peer)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = pair->spec.mtu,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = peer->qp->qp_num & 0xffffff,
		.max_dest_rd_atomic = pair->spec.depth,
		.min_rnr_timer = 1,
	};
	int mask = IB_QP_STATE;

	fill_address(peer, &attr.ah_attr);
	if (pair->spec.type != IB_QPT_UD)
		mask |= IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN;
	if (pair->spec.type == IB_QPT_RC)
		mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	return ib_modify_qp(end->qp, &attr, mask);
}

static int to_rts(const struct kverbs_pair *pair, struct kverbs_end *end)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.sq_psn = end->qp->qp_num & 0xffffff,
		.timeout = 10,
		.retry_cnt = pair->spec.retries,
		.rnr_retry = pair->spec.rnr_retries,
		.max_rd_atomic = pair->spec.depth,
	};
	int mask = IB_QP_STATE | IB_QP_SQ_PSN;

	if (pair->spec.type == IB_QPT_RC)
		mask |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
	return ib_modify_qp(end->qp, &attr, mask);
}

static int connect_end(struct kverbs_pair *pair, struct kverbs_end *end)
{
	struct kverbs_end *peer = kverbs_peer(pair, end);
	struct rdma_ah_attr attr;
	int err;

	err = to_init(pair, end);
	if (!err)
		err = to_rtr(pair, end, peer);
	if (!err)
		err = to_rts(pair, end);
	if (err || pair->spec.type != IB_QPT_UD || end->ah)
		return err;
	fill_address(peer, &attr);
	end->ah = rdma_create_ah(end->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	return PTR_ERR_OR_ZERO(end->ah);
}

/**
 * kverbs_connect() - brings both QPs from RESET to RTS
 * @pair: two ends with QPs in RESET
 *
 * Return: 0 or an error.
 */
int kverbs_connect(struct kverbs_pair *pair)
{
	int i, err;

	for (i = 0; i < 2; i++) {
		err = connect_end(pair, &pair->ends[i]);
		if (err)
			return kverbs_fail(pair->report, "cannot connect end %d: error %d", i, err);
	}
	return 0;
}

/**
 * kverbs_to_state() - modifies a QP to a state without further attributes
 * @end: owner of the QP
 * @state: new state
 *
 * Return: result of ib_modify_qp().
 */
int kverbs_to_state(struct kverbs_end *end, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return ib_modify_qp(end->qp, &attr, IB_QP_STATE);
}

/**
 * kverbs_map_key() - sets the memory that a registration will use
 * @mr: MR, not registered
 * @dma: start of the memory
 * @length: bytes of the memory
 *
 * Return: 0 or an error.
 */
int kverbs_map_key(struct ib_mr *mr, u64 dma, u32 length)
{
	struct scatterlist list;
	int mapped;

	sg_init_table(&list, 1);
	sg_dma_address(&list) = dma;
	sg_dma_len(&list) = length;
	mapped = ib_map_mr_sg(mr, &list, 1, NULL, PAGE_SIZE);
	if (mapped != 1)
		return mapped < 0 ? mapped : -ENOMEM;
	ib_update_fast_reg_key(mr, mr->rkey + 1);
	return 0;
}

/**
 * kverbs_to_device() - makes memory written by the CPU visible to the device
 * @end: owner of the memory
 */
void kverbs_to_device(struct kverbs_end *end)
{
	ib_dma_sync_single_for_device(end->device, end->dma, KVERBS_MEMORY_SIZE, DMA_BIDIRECTIONAL);
}

/**
 * kverbs_to_cpu() - makes memory written by the device visible to the CPU
 * @end: owner of the memory
 */
void kverbs_to_cpu(struct kverbs_end *end)
{
	ib_dma_sync_single_for_cpu(end->device, end->dma, KVERBS_MEMORY_SIZE, DMA_BIDIRECTIONAL);
}

/**
 * kverbs_post_receive() - posts to the receive queue or SRQ of an end
 * @end: end that receives
 * @wr: WRs
 * @bad: set to the refused WR
 *
 * Return: result of ib_post_recv() or ib_post_srq_recv().
 */
int kverbs_post_receive(struct kverbs_end *end, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad)
{
	if (end->srq)
		return ib_post_srq_recv(end->srq, wr, bad);
	return ib_post_recv(end->qp, wr, bad);
}
