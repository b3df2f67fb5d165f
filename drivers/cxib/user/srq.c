// SPDX-License-Identifier: GPL-2.0-only
/* SRQs of user space. */
#include <rdma/mlx5-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "user/user.h"
#include "verbs/qp/qp.h"
#include "verbs/srq/srq.h"

/* Shortest request of any libmlx5 version: up to the flags. */
#define MIN_REQ_SIZE	offsetofend(struct mlx5_ib_create_srq, flags)

static int usrq_check_request(const struct cxib_srq *srq, const struct cxib_ucontext *context,
			      const struct mlx5_ib_create_srq *request)
{
	struct ib_device *ib = srq->ib.device;

	if (request->flags || request->reserved0 || request->reserved1) {
		ibdev_dbg(ib, "create SRQ: unsupported driver flags 0x%x\n",
			  request->flags);
		return -EOPNOTSUPP;
	}
	if (ib_srq_has_cq(srq->ib.srq_type) && context->cqe_version &&
	    request->uidx > CXIB_NO_USER_INDEX) {
		ibdev_dbg(ib, "create SRQ: invalid user index 0x%x\n",
			  request->uidx);
		return -EINVAL;
	}
	return 0;
}

/* Refuses buffers in the memory of other devices. */
static int usrq_refuse_buffers(struct ib_device *ib, struct ib_udata *udata)
{
	static const u16 ids[] = {
#ifndef CXIB_LACKS_BUFFER_ATTRIBUTES
		UVERBS_ATTR_CREATE_SRQ_BUF_UMEM,
#endif
	};

	return cxib_refuse_attributes(ib, "create SRQ", rdma_udata_to_uverbs_attr_bundle(udata),
				      ids, ARRAY_SIZE(ids));
}

static int usrq_create_hw(struct cxib_srq *srq, struct ib_udata *udata)
{
	struct mlx5_ib_create_srq_resp response = {};
	int err;

	err = cxib_srq_create_hw(srq);
	if (err)
		return err;
	response.srqn = srq->srqn;
	err = cxib_copy_resp(udata, &response, sizeof(response.srqn));
	if (!err)
		err = cxib_srq_publish(srq);
	if (err)
		cxib_srq_abort(srq, udata);
	return err;
}

static int usrq_create_user(struct cxib_srq *srq, struct ib_srq_init_attr *init,
			    struct ib_udata *udata)
{
	struct cxib_ucontext *context = rdma_udata_to_drv_context(udata, struct cxib_ucontext, ib);
	struct mlx5_ib_create_srq request;
	struct cxib_user_memory memory;
	int err;

	srq->is_user = true;
	err = usrq_refuse_buffers(srq->ib.device, udata);
	if (!err)
		err = cxib_copy_req(udata, &request, sizeof(request), MIN_REQ_SIZE);
	if (!err)
		err = usrq_check_request(srq, context, &request);
	if (!err)
		err = cxib_srq_init(srq, init);
	if (err)
		return err;
	srq->user_index = context->cqe_version ? request.uidx : CXIB_NO_USER_INDEX;
	memory = (struct cxib_user_memory){
		.buffer = request.buf_addr,
		.size = BIT(srq->log_size + srq->log_stride),
		.dbr = request.db_addr,
	};
	err = cxib_pin_queue(context, &memory, &srq->user, &srq->buffer, &srq->dbr.dma);
	if (err)
		return err;
	err = usrq_create_hw(srq, udata);
	if (err)
		cxib_unpin_failed_queue(srq->ib.device, &srq->user, &srq->buffer, err);
	init->attr.max_wr = BIT(srq->log_size) - 1;
	return err;
}

int cxib_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *init, struct ib_udata *udata)
{
	if (!udata)
		return cxib_create_srq_kernel(ib, init);
	return usrq_create_user(to_srq(ib), init, udata);
}

int cxib_destroy_srq(struct ib_srq *ib, struct ib_udata *udata)
{
	struct cxib_ucontext *context;
	struct cxib_srq *srq = to_srq(ib);
	int err;

	if (!srq->is_user)
		return cxib_destroy_srq_kernel(ib, udata);
	context = rdma_udata_to_drv_context(udata, struct cxib_ucontext, ib);
	guard(rwsem_write)(&context->references);
	err = cxib_destroy_srq_kernel(ib, udata);
	if (!err)
		cxib_unpin_queue(&srq->user, &srq->buffer);
	return err;
}
