// SPDX-License-Identifier: GPL-2.0-or-later
/* A CQ and a QP that is connected to itself. */
#include "polling.h"

static struct ib_qp *create_qp(struct ib_pd *pd, struct ib_cq *cq, u32 depth)
{
	struct ib_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {
			.max_send_wr = depth,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.qp_type = IB_QPT_RC,
	};

	return ib_create_qp(pd, &attr);
}

static int to_init(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = POLLING_PORT,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS);
}

static int to_rtr(struct ib_qp *qp, u16 lid)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = qp->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.ah_attr = { .type = RDMA_AH_ATTR_TYPE_IB },
	};

	rdma_ah_set_dlid(&attr.ah_attr, lid);
	rdma_ah_set_port_num(&attr.ah_attr, POLLING_PORT);
	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
			    IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
}

static int to_rts(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT |
			    IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC);
}

static int connect_to_itself(struct ib_qp *qp)
{
	struct ib_port_attr port;
	int err;

	err = ib_query_port(qp->device, POLLING_PORT, &port);
	if (!err)
		err = to_init(qp);
	if (!err)
		err = to_rtr(qp, port.lid);
	return err ?: to_rts(qp);
}

/**
 * polling_endpoint_create() - creates a CQ and a QP
 * @endpoint: filled; must be passed to polling_endpoint_destroy() even after an error
 * @pd: PD of the QP
 * @context: polling context of the CQ
 * @depth: maximum number of outstanding WRs
 * @done: called for each completion
 *
 * Return: 0 or an error
 */
int polling_endpoint_create(struct polling_endpoint *endpoint, struct ib_pd *pd,
			    const struct polling_context *context, u32 depth,
			    void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct ib_cq *cq;
	struct ib_qp *qp;

	endpoint->cqe.done = done;
	cq = context->alloc(context, pd->device, endpoint, depth + 1);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	endpoint->cq = cq;
	qp = create_qp(pd, cq, depth);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	endpoint->qp = qp;
	return connect_to_itself(qp);
}

/**
 * polling_endpoint_destroy() - frees what polling_endpoint_create() has created
 * @endpoint: without outstanding WRs; may be incomplete or empty
 */
void polling_endpoint_destroy(struct polling_endpoint *endpoint)
{
	if (endpoint->qp)
		ib_destroy_qp(endpoint->qp);
	if (endpoint->cq)
		ib_free_cq(endpoint->cq);
}

/**
 * polling_endpoint_post() - posts an RDMA WRITE without data, which completes at once
 * @endpoint: with a free WQE
 *
 * Context: any.
 * Return: result of ib_post_send()
 */
int polling_endpoint_post(struct polling_endpoint *endpoint)
{
	struct ib_rdma_wr write = {
		.wr = { .wr_cqe = &endpoint->cqe, .opcode = IB_WR_RDMA_WRITE },
	};

	return ib_post_send(endpoint->qp, &write.wr, NULL);
}
