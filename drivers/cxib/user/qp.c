// SPDX-License-Identifier: GPL-2.0-only
/* QPs of user space. */
#include <linux/log2.h>
#include <rdma/mlx5-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "user/bfreg.h"
#include "user/user.h"
#include "verbs/qp/dc.h"
#include "verbs/qp/qp.h"

/* Shortest request of any libmlx5 version: up to the bfreg index. */
#define MIN_REQ_SIZE	offsetofend(struct mlx5_ib_create_qp, bfreg_index)

/* The driver ignores the flags for scatter to CQE, which is optional. */
#define OPTIONAL_FLAGS	(MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE)

/* libmlx5 selects a UAR by one of these flags; without them, the driver assigns a bfreg. */
#define UAR_FLAGS	(MLX5_QP_FLAG_UAR_PAGE_INDEX | MLX5_QP_FLAG_BFREG_INDEX)

#define QP_FLAGS	(OPTIONAL_FLAGS | UAR_FLAGS)
#define DCI_FLAGS	(QP_FLAGS | MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_DCI_STREAM)
#define DCT_FLAGS	(OPTIONAL_FLAGS | MLX5_QP_FLAG_TYPE_DCT)

/* A DC QP has exactly one of these. */
#define DC_TYPES	(MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT)

static int uqp_check_flags(struct ib_device *ib, u32 flags, u32 known)
{
	if (!(flags & ~known))
		return 0;
	ibdev_dbg(ib, "create QP: unsupported flags 0x%x (mask 0x%x)\n",
		  flags, known);
	return -EOPNOTSUPP;
}

static int uqp_check_dc_type(struct ib_device *ib, u32 flags)
{
	if (hweight32(flags & DC_TYPES) == 1)
		return 0;
	ibdev_dbg(ib, "create QP: flags 0x%x not exactly one of DCI and DCT\n",
		  flags);
	return -EINVAL;
}

static int uqp_check_user_index(struct ib_device *ib, const struct cxib_ucontext *context,
				u32 index)
{
	if (index <= CXIB_NO_USER_INDEX && (context->cqe_version || index == CXIB_NO_USER_INDEX))
		return 0;
	ibdev_dbg(ib, "create QP: invalid user index 0x%x\n", index);
	return -EINVAL;
}

static int uqp_check_uar(struct ib_device *ib, const struct cxib_ucontext *context,
			 const struct mlx5_ib_create_qp *request)
{
	u32 flags = request->flags & UAR_FLAGS;

	if (flags == MLX5_QP_FLAG_UAR_PAGE_INDEX)
		return 0;
	if (context->bfregs && flags == MLX5_QP_FLAG_BFREG_INDEX)
		return 0;
	if (context->bfregs && !flags && !request->bfreg_index)
		return 0;
	ibdev_dbg(ib, "create QP: flags 0x%x select no UAR\n",
		  request->flags);
	return -EINVAL;
}

static int uqp_check_request(struct ib_device *ib, const struct cxib_ucontext *context,
			     const struct mlx5_ib_create_qp *request, u32 known)
{
	int err = uqp_check_flags(ib, request->flags, known);

	if (err)
		return err;
	err = uqp_check_uar(ib, context, request);
	if (err)
		return err;
	if (request->sq_buf_addr || request->ece_options || request->reserved)
		return -EOPNOTSUPP;
	return uqp_check_user_index(ib, context, request->uidx);
}

static int uqp_invalid_size(struct ib_device *ib, const char *name, u32 value, u32 limit)
{
	ibdev_dbg(ib, "create QP: %s %u not a power of two up to %u\n", name,
		  value, limit);
	return -EINVAL;
}

static int uqp_size_sq(struct cxib_qp *qp, const struct mlx5_ib_create_qp *request)
{
	u32 max = BIT(to_ibdev(qp->ib.device)->hw->caps.log_max_qp_sz);

	qp->has_sq = request->sq_wqe_count;
	if (!qp->has_sq)
		return 0;
	if (request->sq_wqe_count > max || !is_power_of_2(request->sq_wqe_count))
		return uqp_invalid_size(qp->ib.device, "sq_wqe_count", request->sq_wqe_count, max);
	qp->sq.log_size = ilog2(request->sq_wqe_count);
	return 0;
}

static int uqp_size_rq(struct cxib_qp *qp, const struct ib_qp_init_attr *init,
		       const struct mlx5_ib_create_qp *request)
{
	const struct cxib_device_caps *caps = &to_ibdev(qp->ib.device)->hw->caps;
	u32 max = BIT(caps->log_max_qp_sz);

	qp->has_rq = init->cap.max_recv_wr && !init->srq && !cxib_qp_is_xrc(qp);
	if (!qp->has_rq)
		return 0;
	if (request->rq_wqe_count > max || !is_power_of_2(request->rq_wqe_count))
		return uqp_invalid_size(qp->ib.device, "rq_wqe_count", request->rq_wqe_count, max);
	if (request->rq_wqe_shift < CXIB_LOG_DS_SIZE ||
	    request->rq_wqe_shift > ilog2(caps->max_wqe_sz_rq)) {
		ibdev_dbg(qp->ib.device, "create QP: rq_wqe_shift %u out of range [%u, %u]\n",
			  request->rq_wqe_shift, CXIB_LOG_DS_SIZE, ilog2(caps->max_wqe_sz_rq));
		return -EINVAL;
	}
	qp->rq.log_size = ilog2(request->rq_wqe_count);
	qp->rq.log_stride = request->rq_wqe_shift;
	qp->sq.offset = BIT(qp->rq.log_size + qp->rq.log_stride);
	if (qp->has_sq && !IS_ALIGNED(qp->sq.offset, CXIB_WQEBB_SIZE)) {
		ibdev_dbg(qp->ib.device, "create QP: RQ size %zu not a multiple of the WQEBB size\n",
			  qp->sq.offset);
		return -EINVAL;
	}
	return 0;
}

static int uqp_hold_uar(struct cxib_qp *qp, struct cxib_ucontext *context, u32 number)
{
	qp->uar = number;
	qp->user.uar = cxib_hold_uar(context, number);
	if (!qp->user.uar) {
		ibdev_dbg(qp->ib.device, "create QP: UAR 0x%x not owned by the context\n", number);
		return -EINVAL;
	}
	return 0;
}

static void uqp_alloc_bfreg(struct cxib_qp *qp, struct cxib_ucontext *context, u32 *page)
{
	struct cxib_bfregs *bfregs = context->bfregs;
	unsigned int number = cxib_bfreg_alloc(bfregs);

	qp->user.bfregs = bfregs;
	qp->user.bfreg_index = number;
	*page = cxib_uar_index(bfregs->uars[number / CXIB_BFREGS_PER_UAR]);
}

static int uqp_hold_qp_uar(struct cxib_qp *qp, struct cxib_ucontext *context,
			   const struct mlx5_ib_create_qp *request)
{
	u32 page = request->bfreg_index;
	int err = 0;

	if (request->flags & MLX5_QP_FLAG_BFREG_INDEX)
		err = cxib_bfregs_dyn_uar_index(context->bfregs, request->bfreg_index,
						&page);
	else if (!(request->flags & MLX5_QP_FLAG_UAR_PAGE_INDEX))
		uqp_alloc_bfreg(qp, context, &page);
	return err ?: uqp_hold_uar(qp, context, page);
}

/* Returns the bfreg that the driver assigned, or an invalid index if libmlx5 selected the UAR. */
static u32 uqp_resp_bfreg_index(const struct cxib_qp *qp)
{
	if (qp->user.bfregs)
		return cxib_bfreg_index(qp->user.bfreg_index);
	/* libmlx5 also looks up the bfreg of a QP without UAR, for which 0 is always valid. */
	return qp->user.uar ? U32_MAX : 0;
}

static int uqp_create_hw(struct cxib_qp *qp, const struct ib_qp_init_attr *init,
			 struct ib_udata *udata)
{
	struct mlx5_ib_create_qp_resp response = { .bfreg_index = uqp_resp_bfreg_index(qp) };
	int err;

	err = cxib_qp_create_hw(qp, init);
	if (err)
		return err;
	if (qp->has_rq)
		qp->cap.max_recv_wr = BIT(qp->rq.log_size);
	err = cxib_copy_resp(udata, &response, sizeof(response));
	if (err)
		cxib_destroy_qp_kernel(&qp->ib, udata);
	return err;
}

static int uqp_invalid_streams(const struct cxib_qp *qp, const char *name, u32 value, u32 limit)
{
	ibdev_dbg(qp->ib.device, "create DCI: %s %u exceeds limit %u\n", name,
		  value, limit);
	return -EINVAL;
}

/* A DCI has an SQ and no RQ; its streams are optional. */
static int uqp_init_dci(struct cxib_qp *qp, const struct ib_qp_init_attr *init,
			const struct mlx5_ib_create_qp *request)
{
	const struct mlx5_ib_create_qp_dci_streams *streams = &request->dci_streams;
	const struct cxib_device_caps *caps = &to_ibdev(qp->ib.device)->hw->caps;
	bool has_streams = request->flags & MLX5_QP_FLAG_DCI_STREAM;
	u32 max = has_streams ? caps->log_max_dci_stream_channels : 0;
	u32 max_errored = has_streams ? caps->log_max_dci_errored_streams : 0;

	if (!request->sq_wqe_count || (init->cap.max_recv_wr && !init->srq)) {
		ibdev_dbg(qp->ib.device, "create DCI: no send WQEs, or receive WRs requested\n");
		return -EINVAL;
	}
	if (streams->log_num_concurent > max)
		return uqp_invalid_streams(qp, "log_num_concurent", streams->log_num_concurent,
					   max);
	if (streams->log_num_errored > max_errored)
		return uqp_invalid_streams(qp, "log_num_errored", streams->log_num_errored,
					   max_errored);
	qp->log_dci_streams = streams->log_num_concurent;
	qp->log_dci_errored = streams->log_num_errored;
	return 0;
}

static u32 uqp_known_flags(const struct cxib_device_caps *caps, enum ib_qp_type type)
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

static int uqp_init(struct cxib_qp *qp, const struct ib_qp_init_attr *init,
		    const struct cxib_ucontext *context, const struct mlx5_ib_create_qp *request)
{
	const struct cxib_device_caps *caps = &to_ibdev(qp->ib.device)->hw->caps;
	int err;

	err = uqp_check_request(qp->ib.device, context, request,
				uqp_known_flags(caps, init->qp_type));
	if (!err)
		err = cxib_qp_init(qp, init);
	if (!err && init->qp_type == IB_QPT_DRIVER)
		err = uqp_init_dci(qp, init, request);
	if (!err)
		err = uqp_size_sq(qp, request);
	if (!err)
		err = uqp_size_rq(qp, init, request);
	qp->is_user = true;
	qp->user_index = request->uidx;
	qp->packet_based_credit = request->flags & MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE;
	return err;
}

static int uqp_create_with_queues(struct cxib_qp *qp, struct ib_qp_init_attr *init,
				  const struct mlx5_ib_create_qp *request, struct ib_udata *udata)
{
	struct cxib_ucontext *context = rdma_udata_to_drv_context(udata, struct cxib_ucontext, ib);
	struct cxib_user_memory memory;
	int err;

	err = uqp_init(qp, init, context, request);
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
	err = uqp_hold_qp_uar(qp, context, request);
	if (!err)
		err = uqp_create_hw(qp, init, udata);
	if (err)
		cxib_unpin_failed_queue(qp->ib.device, &qp->user, &qp->buffer, err);
	return err;
}

static int uqp_check_dct(struct ib_device *ib, const struct cxib_ucontext *context,
			 const struct mlx5_ib_create_qp *request)
{
	int err = uqp_check_flags(ib, request->flags, DCT_FLAGS);

	if (err)
		return err;
	if (request->ece_options || request->reserved)
		return -EOPNOTSUPP;
	if (request->buf_addr || request->db_addr || request->sq_wqe_count ||
	    request->rq_wqe_count || request->rq_wqe_shift || request->bfreg_index ||
	    request->dci_streams.log_num_concurent || request->dci_streams.log_num_errored) {
		ibdev_dbg(ib, "create DCT: queue attributes not 0\n");
		return -EINVAL;
	}
	return uqp_check_user_index(ib, context, request->uidx);
}

static int uqp_create_dct(struct cxib_qp *qp, struct ib_qp_init_attr *init,
			  const struct mlx5_ib_create_qp *request, struct ib_udata *udata)
{
	struct cxib_ucontext *context = rdma_udata_to_drv_context(udata, struct cxib_ucontext, ib);
	struct mlx5_ib_create_qp_resp response = { .bfreg_index = uqp_resp_bfreg_index(qp) };
	int err;

	err = uqp_check_dct(qp->ib.device, context, request);
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
		cxib_dct_destroy(qp, udata);
	return err;
}

/* Refuses buffers in the memory of other devices. */
static int uqp_refuse_buffers(struct ib_device *ib, struct ib_udata *udata)
{
	static const u16 ids[] = {
#ifndef CXIB_LACKS_BUFFER_ATTRIBUTES
		UVERBS_ATTR_CREATE_QP_BUF_UMEM,
		UVERBS_ATTR_CREATE_QP_RQ_BUF_UMEM,
		UVERBS_ATTR_CREATE_QP_SQ_BUF_UMEM,
#endif
	};

	return cxib_refuse_attributes(ib, "create QP", rdma_udata_to_uverbs_attr_bundle(udata),
				      ids, ARRAY_SIZE(ids));
}

static int uqp_create_user(struct cxib_qp *qp, struct ib_qp_init_attr *init,
			   struct ib_udata *udata)
{
	struct mlx5_ib_create_qp request;
	int err;

	err = uqp_refuse_buffers(qp->ib.device, udata);
	if (!err)
		err = cxib_copy_req(udata, &request, sizeof(request), MIN_REQ_SIZE);
	if (!err && init->qp_type == IB_QPT_DRIVER)
		err = uqp_check_dc_type(qp->ib.device, request.flags);
	if (err)
		return err;
	if (init->qp_type == IB_QPT_DRIVER && request.flags & MLX5_QP_FLAG_TYPE_DCT)
		return uqp_create_dct(qp, init, &request, udata);
	return uqp_create_with_queues(qp, init, &request, udata);
}

/*
 * An XRC_TGT QP has neither queues nor a UAR, even if libmlx5 has allocated them. Several processes
 * may open the QP, so it belongs to no user context.
 */
static int uqp_create_xrc_tgt(struct cxib_qp *qp, struct ib_qp_init_attr *init)
{
	int err;

	err = cxib_qp_init(qp, init);
	if (err)
		return err;
	init->cap = (struct ib_qp_cap){};
	qp->is_user = true;
	qp->uar = to_ibdev(qp->ib.device)->hw->uar_index;
	qp->user_index = CXIB_NO_USER_INDEX;
	return cxib_qp_create_hw(qp, init);
}

/*
 * The RDMA core passes no udata for XRC_TGT QPs of user space. They have no PD, unlike those of
 * ULPs.
 */
static bool uqp_is_user_xrc_tgt(const struct ib_qp *ib)
{
	return ib->qp_type == IB_QPT_XRC_TGT && !ib->pd;
}

int cxib_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	if (uqp_is_user_xrc_tgt(ib))
		return uqp_create_xrc_tgt(to_qp(ib), init);
	if (!udata)
		return cxib_create_qp_kernel(ib, init, NULL);
	return uqp_create_user(to_qp(ib), init, udata);
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

static bool uqp_creates_dct(const struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	return qp->dct && mask & IB_QP_STATE && attr->qp_state == IB_QPS_RTR;
}

/* A DCT gets its DCTN in the transition to RTR; the response contains the DCTN. */
static int uqp_modify_dct_to_rtr(struct cxib_qp *qp, struct ib_qp_attr *attr, int mask,
				 struct ib_udata *udata)
{
	struct mlx5_ib_modify_qp_resp response = {};
	int err;

	if (udata->outlen < offsetofend(typeof(response), dctn)) {
		ibdev_dbg(qp->ib.device, "modify DCT: response too short for dctn\n");
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

	if (udata && uqp_creates_dct(qp, attr, mask))
		return uqp_modify_dct_to_rtr(qp, attr, mask, udata);
	return cxib_modify_qp_kernel(ib, attr, mask, udata);
}
