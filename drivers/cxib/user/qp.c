// SPDX-License-Identifier: GPL-2.0-only
/* Queue pairs of programs. */
#include <linux/log2.h>
#include <rdma/mlx5-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "user/bfreg.h"
#include "user/user.h"
#include "verbs/qp/dc.h"
#include "verbs/qp/qp.h"

/* What every library sends: up to the page of doorbells. */
#define MIN_REQ_SIZE	offsetofend(struct mlx5_ib_create_qp, bfreg_index)

/* That data may come in completions is an offer, which is not taken. */
#define OFFERS		(MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE)

/* How a library says which page of doorbells it uses; if not, it is told. */
#define PAGE_FLAGS	(MLX5_QP_FLAG_UAR_PAGE_INDEX | MLX5_QP_FLAG_BFREG_INDEX)

#define QP_FLAGS	(OFFERS | PAGE_FLAGS)
#define DCI_FLAGS	(QP_FLAGS | MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_DCI_STREAM)
#define DCT_FLAGS	(OFFERS | MLX5_QP_FLAG_TYPE_DCT)

/* What queue pairs of dynamically connected transport can be, of which each is one. */
#define DC_TYPES	(MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT)

static int check_flags(struct ib_device *ib, u32 flags, u32 known)
{
	if (!(flags & ~known))
		return 0;
	ibdev_dbg(ib, "the library wants a queue pair with the flags 0x%x, only those of 0x%x are supported\n",
		  flags, known);
	return -EOPNOTSUPP;
}

static int check_dc_type(struct ib_device *ib, u32 flags)
{
	if (hweight32(flags & DC_TYPES) == 1)
		return 0;
	ibdev_dbg(ib, "flags 0x%x of a queue pair do not say whether it is an initiator or a target\n",
		  flags);
	return -EINVAL;
}

static int check_user_index(struct ib_device *ib, const struct cxib_ucontext *context, u32 index)
{
	if (index <= CXIB_NO_USER_INDEX && (context->cqe_version || index == CXIB_NO_USER_INDEX))
		return 0;
	ibdev_dbg(ib, "user index 0x%x of a queue pair is not possible\n", index);
	return -EINVAL;
}

static int check_page(struct ib_device *ib, const struct cxib_ucontext *context,
		      const struct mlx5_ib_create_qp *request)
{
	u32 flags = request->flags & PAGE_FLAGS;

	if (flags == MLX5_QP_FLAG_UAR_PAGE_INDEX)
		return 0;
	if (context->registers && flags == MLX5_QP_FLAG_BFREG_INDEX)
		return 0;
	if (context->registers && !flags && !request->bfreg_index)
		return 0;
	ibdev_dbg(ib, "flags 0x%x of a queue pair do not say which page of doorbells it has\n",
		  request->flags);
	return -EINVAL;
}

static int check_request(struct ib_device *ib, const struct cxib_ucontext *context,
			 const struct mlx5_ib_create_qp *request, u32 known)
{
	int err = check_flags(ib, request->flags, known);

	if (err)
		return err;
	err = check_page(ib, context, request);
	if (err)
		return err;
	if (request->sq_buf_addr || request->ece_options || request->reserved)
		return -EOPNOTSUPP;
	return check_user_index(ib, context, request->uidx);
}

static int refuse(struct ib_device *ib, const char *name, u32 value, u32 limit)
{
	ibdev_dbg(ib, "%s %u of a queue pair: only powers of two up to %u are possible\n", name,
		  value, limit);
	return -EINVAL;
}

static int size_sq(struct cxib_qp *qp, const struct mlx5_ib_create_qp *request)
{
	u32 max = BIT(to_ibdev(qp->ib.device)->hw->caps.log_max_qp_sz);

	qp->has_sq = request->sq_wqe_count;
	if (!qp->has_sq)
		return 0;
	if (request->sq_wqe_count > max || !is_power_of_2(request->sq_wqe_count))
		return refuse(qp->ib.device, "sq_wqe_count", request->sq_wqe_count, max);
	qp->sq.log_size = ilog2(request->sq_wqe_count);
	return 0;
}

static int size_rq(struct cxib_qp *qp, const struct ib_qp_init_attr *init,
		   const struct mlx5_ib_create_qp *request)
{
	const struct cxib_device_caps *caps = &to_ibdev(qp->ib.device)->hw->caps;
	u32 max = BIT(caps->log_max_qp_sz);

	qp->has_rq = init->cap.max_recv_wr && !init->srq && !cxib_qp_is_xrc(qp);
	if (!qp->has_rq)
		return 0;
	if (request->rq_wqe_count > max || !is_power_of_2(request->rq_wqe_count))
		return refuse(qp->ib.device, "rq_wqe_count", request->rq_wqe_count, max);
	if (request->rq_wqe_shift < CXIB_LOG_DS_SIZE ||
	    request->rq_wqe_shift > ilog2(caps->max_wqe_sz_rq)) {
		ibdev_dbg(qp->ib.device, "rq_wqe_shift %u of a queue pair is not possible, %u to %u are\n",
			  request->rq_wqe_shift, CXIB_LOG_DS_SIZE, ilog2(caps->max_wqe_sz_rq));
		return -EINVAL;
	}
	qp->rq.log_size = ilog2(request->rq_wqe_count);
	qp->rq.log_stride = request->rq_wqe_shift;
	qp->sq.offset = BIT(qp->rq.log_size + qp->rq.log_stride);
	if (qp->has_sq && !IS_ALIGNED(qp->sq.offset, CXIB_WQEBB_SIZE)) {
		ibdev_dbg(qp->ib.device, "a receive queue of %zu bytes leaves no place for the send queue\n",
			  qp->sq.offset);
		return -EINVAL;
	}
	return 0;
}

static int hold_uar(struct cxib_qp *qp, struct cxib_ucontext *context, u32 number)
{
	qp->uar = number;
	qp->user.uar = cxib_hold_uar(context, number);
	if (!qp->user.uar) {
		ibdev_dbg(qp->ib.device, "the program has no page of doorbells 0x%x\n", number);
		return -EINVAL;
	}
	return 0;
}

static void take_register(struct cxib_qp *qp, struct cxib_ucontext *context, u32 *page)
{
	struct cxib_bfregs *registers = context->registers;
	unsigned int number = cxib_bfreg_alloc(registers);

	qp->user.registers = registers;
	qp->user.register_number = number;
	*page = cxib_uar_index(registers->uars[number / CXIB_BFREGS_PER_UAR]);
}

static int hold_doorbells(struct cxib_qp *qp, struct cxib_ucontext *context,
			  const struct mlx5_ib_create_qp *request)
{
	u32 page = request->bfreg_index;
	int err = 0;

	if (request->flags & MLX5_QP_FLAG_BFREG_INDEX)
		err = cxib_bfregs_dyn_uar_index(context->registers, request->bfreg_index,
						&page);
	else if (!(request->flags & MLX5_QP_FLAG_UAR_PAGE_INDEX))
		take_register(qp, context, &page);
	return err ?: hold_uar(qp, context, page);
}

/* The register that was chosen: none where the library has said which page it uses. */
static u32 register_name(const struct cxib_qp *qp)
{
	if (qp->user.registers)
		return cxib_bfreg_index(qp->user.register_number);
	/* A library that looks it up although there are no doorbells has to find one. */
	return qp->user.uar ? U32_MAX : 0;
}

static int start(struct cxib_qp *qp, const struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct mlx5_ib_create_qp_resp response = { .bfreg_index = register_name(qp) };
	int err;

	err = cxib_qp_create_hw(qp, init);
	if (err)
		return err;
	if (qp->has_rq)
		qp->cap.max_recv_wr = BIT(qp->rq.log_size);
	err = cxib_copy_resp(udata, &response, sizeof(response));
	if (err)
		cxib_destroy_qp_kernel(&qp->ib, NULL);
	return err;
}

static int refuse_streams(const struct cxib_qp *qp, const char *name, u32 value, u32 limit)
{
	ibdev_dbg(qp->ib.device, "%s %u of an initiator is not possible, the limit is %u\n", name,
		  value, limit);
	return -EINVAL;
}

/* It sends, whatever else was asked for, by streams of which some may fail. */
static int prepare_initiator(struct cxib_qp *qp, const struct ib_qp_init_attr *init,
			     const struct mlx5_ib_create_qp *request)
{
	const struct mlx5_ib_create_qp_dci_streams *streams = &request->dci_streams;
	const struct cxib_device_caps *caps = &to_ibdev(qp->ib.device)->hw->caps;
	bool has_streams = request->flags & MLX5_QP_FLAG_DCI_STREAM;
	u32 max = has_streams ? caps->log_max_dci_stream_channels : 0;
	u32 max_errored = has_streams ? caps->log_max_dci_errored_streams : 0;

	if (!request->sq_wqe_count || (init->cap.max_recv_wr && !init->srq)) {
		ibdev_dbg(qp->ib.device, "an initiator of dynamic connections sends, and does not receive\n");
		return -EINVAL;
	}
	if (streams->log_num_concurent > max)
		return refuse_streams(qp, "log_num_concurent", streams->log_num_concurent, max);
	if (streams->log_num_errored > max_errored)
		return refuse_streams(qp, "log_num_errored", streams->log_num_errored,
				      max_errored);
	qp->log_dci_streams = streams->log_num_concurent;
	qp->log_dci_errored = streams->log_num_errored;
	return 0;
}

static u32 known_flags(const struct cxib_device_caps *caps, enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_DRIVER:
		return DCI_FLAGS;
	case IB_QPT_RC:
		if (caps->qp_packet_based)
			return QP_FLAGS | MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE;
		fallthrough;
	default:
		return QP_FLAGS;
	}
}

static int prepare(struct cxib_qp *qp, const struct ib_qp_init_attr *init,
		   const struct cxib_ucontext *context, const struct mlx5_ib_create_qp *request)
{
	const struct cxib_device_caps *caps = &to_ibdev(qp->ib.device)->hw->caps;
	int err;

	err = check_request(qp->ib.device, context, request, known_flags(caps, init->qp_type));
	if (!err)
		err = cxib_qp_init(qp, init);
	if (!err && init->qp_type == IB_QPT_DRIVER)
		err = prepare_initiator(qp, init, request);
	if (!err)
		err = size_sq(qp, request);
	if (!err)
		err = size_rq(qp, init, request);
	qp->is_user = true;
	qp->user_index = request->uidx;
	qp->packet_based_credit = request->flags & MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE;
	return err;
}

static int create_with_queues(struct cxib_qp *qp, struct ib_qp_init_attr *init,
			      const struct mlx5_ib_create_qp *request, struct ib_udata *udata)
{
	struct cxib_ucontext *context = rdma_udata_to_drv_context(udata, struct cxib_ucontext, ib);
	struct cxib_user_memory memory;
	int err;

	err = prepare(qp, init, context, request);
	if (err)
		return err;
	memory = (struct cxib_user_memory){
		.buffer = request->buf_addr,
		.size = cxib_qp_buffer_size(qp),
		.dbr = request->db_addr,
	};
	err = cxib_pin_queue(context, &memory, &qp->user, &qp->buffer, &qp->dbr.dma);
	if (err)
		return err;
	err = hold_doorbells(qp, context, request);
	if (!err)
		err = start(qp, init, udata);
	if (err)
		cxib_unpin_failed_queue(qp->ib.device, &qp->user, &qp->buffer, err);
	return err;
}

static int check_target(struct ib_device *ib, const struct cxib_ucontext *context,
			const struct mlx5_ib_create_qp *request)
{
	int err = check_flags(ib, request->flags, DCT_FLAGS);

	if (err)
		return err;
	if (request->ece_options || request->reserved)
		return -EOPNOTSUPP;
	if (request->buf_addr || request->db_addr || request->sq_wqe_count ||
	    request->rq_wqe_count || request->rq_wqe_shift || request->bfreg_index ||
	    request->dci_streams.log_num_concurent || request->dci_streams.log_num_errored) {
		ibdev_dbg(ib, "a target of dynamic connections has no queues of its own\n");
		return -EINVAL;
	}
	return check_user_index(ib, context, request->uidx);
}

static int create_dct(struct cxib_qp *qp, struct ib_qp_init_attr *init,
		      const struct mlx5_ib_create_qp *request, struct ib_udata *udata)
{
	struct cxib_ucontext *context = rdma_udata_to_drv_context(udata, struct cxib_ucontext, ib);
	struct mlx5_ib_create_qp_resp response = { .bfreg_index = register_name(qp) };
	int err;

	err = check_target(qp->ib.device, context, request);
	if (!err)
		err = cxib_qp_init(qp, init);
	if (err)
		return err;
	qp->is_user = true;
	init->cap = (struct ib_qp_cap){};
	err = cxib_dct_create(qp, request->access_key, request->uidx);
	if (err)
		return err;
	err = cxib_copy_resp(udata, &response, sizeof(response));
	if (err)
		cxib_dct_destroy(qp, NULL);
	return err;
}

static int create_qp_user(struct cxib_qp *qp, struct ib_qp_init_attr *init,
			  struct ib_udata *udata)
{
	struct mlx5_ib_create_qp request;
	int err;

	err = cxib_copy_req(udata, &request, sizeof(request), MIN_REQ_SIZE);
	if (!err && init->qp_type == IB_QPT_DRIVER)
		err = check_dc_type(qp->ib.device, request.flags);
	if (err)
		return err;
	if (init->qp_type == IB_QPT_DRIVER && request.flags & MLX5_QP_FLAG_TYPE_DCT)
		return create_dct(qp, init, &request, udata);
	return create_with_queues(qp, init, &request, udata);
}

/* It has neither queues nor doorbells, whatever the library has made for it. */
static int create_xrc_tgt_qp(struct cxib_qp *qp, const struct ib_qp_init_attr *init,
			     struct ib_udata *udata)
{
	int err;

	err = cxib_qp_init(qp, init);
	if (err)
		return err;
	qp->is_user = true;
	qp->uar = to_ibdev(qp->ib.device)->hw->uar_index;
	qp->user_index = CXIB_NO_USER_INDEX;
	return start(qp, init, udata);
}

int cxib_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	if (!udata)
		return cxib_create_qp_kernel(ib, init, NULL);
	if (init->qp_type == IB_QPT_XRC_TGT)
		return create_xrc_tgt_qp(to_qp(ib), init, udata);
	return create_qp_user(to_qp(ib), init, udata);
}

int cxib_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct cxib_qp *qp = to_qp(ib);
	int err;

	err = cxib_destroy_qp_kernel(ib, udata);
	if (!err && qp->is_user)
		cxib_unpin_queue(&qp->user, &qp->buffer);
	return err;
}

static bool makes_target(const struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	return qp->dct && mask & IB_QP_STATE && attr->qp_state == IB_QPS_RTR;
}

/* A target gets its number with the transition to RTR, and the program gets it as the answer. */
static int create_number(struct cxib_qp *qp, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata)
{
	struct mlx5_ib_modify_qp_resp response = {};
	int err;

	if (udata->outlen < offsetofend(typeof(response), dctn)) {
		ibdev_dbg(qp->ib.device, "there is no room for the number of a target\n");
		return -EINVAL;
	}
	err = cxib_modify_qp_kernel(&qp->ib, attr, mask, udata);
	if (err)
		return err;
	response.response_length = min(sizeof(response), udata->outlen);
	response.dctn = qp->qpn;
	err = cxib_copy_resp(udata, &response, response.response_length);
	if (err)
		cxib_dct_take_back(qp);
	return err;
}

int cxib_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		   struct ib_udata *udata)
{
	struct cxib_qp *qp = to_qp(ib);

	if (udata && makes_target(qp, attr, mask))
		return create_number(qp, attr, mask, udata);
	return cxib_modify_qp_kernel(ib, attr, mask, udata);
}
