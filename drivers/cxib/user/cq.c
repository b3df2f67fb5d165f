// SPDX-License-Identifier: GPL-2.0-only
/* CQs of user space. */
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>

#include "user/bfreg.h"
#include "user/user.h"
#include "verbs/cq/cq.h"

#define UVERBS_MODULE_NAME cxib
#include <rdma/uverbs_named_ioctl.h>

/* Shortest request of any libmlx5 version: up to the CQE compression format. */
#define MIN_REQ_SIZE	offsetofend(struct mlx5_ib_create_cq, cqe_comp_res_format)

#define CQ_FLAGS	(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | \
			 IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)

static int ucq_entry_size(u32 bytes, bool padded, enum hw_cqe_size *size)
{
	if (padded) {
		*size = HW_CQE_SIZE_128_BYTES_PAD;
		return bytes == 128 ? 0 : -EINVAL;
	}
	switch (bytes) {
	case 64:
		*size = HW_CQE_SIZE_64_BYTES;
		return 0;
	case 128:
		*size = HW_CQE_SIZE_128_BYTES;
		return 0;
	default:
		return -EINVAL;
	}
}

/* libmlx5 must choose a mini-CQE format, although the formats matter for Ethernet only. */
static int ucq_choose_compression(const struct cxib_device_caps *caps,
				  const struct mlx5_ib_create_cq *request,
				  struct cxib_cq_params *params)
{
	if (!request->cqe_comp_en)
		return 0;
	params->compress = true;
	if (!(request->cqe_size == 64 ? caps->cqe_compression : caps->cqe_compression_128))
		return -EOPNOTSUPP;
	switch (request->cqe_comp_res_format) {
	case MLX5_IB_CQE_RES_FORMAT_HASH:
		params->format = HW_MINI_CQE_FORMAT_HASH;
		return 0;
	case MLX5_IB_CQE_RES_FORMAT_CSUM:
		params->format = HW_MINI_CQE_FORMAT_CSUM;
		return 0;
	case MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX:
		params->format = HW_MINI_CQE_FORMAT_CSUM_STRIDX;
		return caps->mini_cqe_resp_stride_index ? 0 : -EOPNOTSUPP;
	default:
		return -EINVAL;
	}
}

static int ucq_check_request(struct ib_device *ib, const struct ib_cq_init_attr *attr,
			     const struct mlx5_ib_create_cq *request)
{
	u32 known = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX;
	u32 flags = attr->flags;

	if (flags & ~CQ_FLAGS) {
		ibdev_dbg(ib, "create CQ: unsupported flags 0x%x (mask 0x%x)\n",
			  flags, CQ_FLAGS);
		return -EOPNOTSUPP;
	}
	if (flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN && !to_ibdev(ib)->hw->caps.cq_oi)
		return -EOPNOTSUPP;
	if (to_ibdev(ib)->hw->caps.cqe_128_always)
		known |= MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD;
	if (request->flags & ~known) {
		ibdev_dbg(ib, "create CQ: unsupported driver flags 0x%x (mask 0x%x)\n",
			  request->flags, known);
		return -EOPNOTSUPP;
	}
	if (request->cqe_comp_en > 1 || request->reserved0 || request->reserved1)
		return -EOPNOTSUPP;
	return 0;
}

/* Refuses buffers in the memory of other devices. */
static int ucq_refuse_buffers(struct ib_device *ib, const struct uverbs_attr_bundle *attrs)
{
	static const u16 ids[] = {
#ifndef CXIB_LACKS_CQ_BUFFER_ATTRIBUTES
		UVERBS_ATTR_CREATE_CQ_BUFFER_VA,
		UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH,
		UVERBS_ATTR_CREATE_CQ_BUFFER_FD,
		UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET,
#endif
#ifndef CXIB_LACKS_BUFFER_ATTRIBUTES
		UVERBS_ATTR_CREATE_CQ_BUF_UMEM,
#endif
	};

	return cxib_refuse_attributes(ib, "create CQ", attrs, ids, ARRAY_SIZE(ids));
}

static int ucq_uar_attribute(struct uverbs_attr_bundle *attrs, u32 *number)
{
#ifdef CXIB_LACKS_CQ_UAR_ATTRIBUTE
	return -ENOENT;
#else
	return uverbs_copy_from(number, attrs, MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX);
#endif
}

/* If the request names no UAR, the CQ uses the first static UAR of the context. */
static int ucq_choose_uar(const struct cxib_ucontext *context, struct uverbs_attr_bundle *attrs,
			  const struct mlx5_ib_create_cq *request, u32 *number)
{
	struct rdma_user_mmap_entry *first = cxib_bfregs_uar(context->bfregs, 0);
	int err = ucq_uar_attribute(attrs, number);

	if (err != -ENOENT)
		return err;
	if (request->flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX)
		*number = request->uar_page_index;
	else if (first)
		*number = cxib_uar_index(first);
	else
		return -EINVAL;
	return 0;
}

static int ucq_hold_uar(struct cxib_cq *cq, struct cxib_ucontext *context,
			struct uverbs_attr_bundle *attrs, const struct mlx5_ib_create_cq *request,
			u32 *number)
{
	int err = ucq_choose_uar(context, attrs, request, number);

	if (err)
		return err;
	cq->user->uar = cxib_hold_uar(context, *number);
	if (!cq->user->uar) {
		ibdev_dbg(cq->ib.device, "create CQ: UAR 0x%x not owned by the context\n", *number);
		return -EINVAL;
	}
	return 0;
}

static int ucq_create_hw(struct cxib_cq *cq, struct ib_udata *udata, struct cxib_cq_params *params)
{
	struct mlx5_ib_create_cq_resp response = {};
	int err;

	err = cxib_cq_create_hw(cq, params);
	if (err)
		return err;
	response.cqn = cq->cqn;
	err = cxib_copy_resp(udata, &response, sizeof(response.cqn));
	if (!err)
		err = cxib_cq_publish(cq);
	if (err)
		cxib_cq_abort(cq, udata);
	return err;
}

static int ucq_create_user(struct cxib_cq *cq, const struct ib_cq_init_attr *attr,
			   struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = &attrs->driver_udata;
	struct cxib_ucontext *context = rdma_udata_to_drv_context(udata, struct cxib_ucontext, ib);
	struct cxib_cq_params params = {
		.ignore_overrun = attr->flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN,
	};
	struct mlx5_ib_create_cq request;
	struct cxib_user_memory memory;
	int err;

	err = ucq_refuse_buffers(cq->ib.device, attrs);
	if (!err)
		err = cxib_copy_req(udata, &request, sizeof(request), MIN_REQ_SIZE);
	if (!err)
		err = ucq_check_request(cq->ib.device, attr, &request);
	if (!err)
		err = ucq_entry_size(request.cqe_size,
				     request.flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD,
				     &params.entry_size);
	if (!err)
		err = ucq_choose_compression(&to_ibdev(cq->ib.device)->hw->caps, &request, &params);
	if (!err)
		err = cxib_cq_init(&cq->ib, attr);
	if (err)
		return err;
	cq->is_user = true;
	cq->uid = context->uid;
	cq->user_entry = params.entry_size;
	memory = (struct cxib_user_memory){
		.buffer = request.buf_addr,
		.size = (size_t)request.cqe_size << cq->log_size,
		.dbr = request.db_addr,
	};
	cq->user = kzalloc(sizeof(*cq->user), GFP_KERNEL_ACCOUNT);
	if (!cq->user)
		return -ENOMEM;
	err = cxib_pin_queue(context, &memory, cq->user, &cq->buffer, &cq->dbr.dma);
	if (err)
		goto free_user;
	err = ucq_hold_uar(cq, context, attrs, &request, &params.uar);
	if (!err)
		err = ucq_create_hw(cq, udata, &params);
	if (!err)
		return 0;
	cxib_unpin_failed_queue(cq->ib.device, cq->user, &cq->buffer, err);
free_user:
	kfree(cq->user);
	return err;
}

/**
 * cxib_create_cq() - create a CQ of the kernel or of user space
 * @ib: zeroed CQ
 * @attr: attributes
 * @attrs: attributes of the request of user space; NULL: a CQ of the kernel
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL or -EOPNOTSUPP for a request that is not valid; an error of pinning memory,
 * of a copy from or to user space, or of CREATE_CQ.
 */
int cxib_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs)
{
	if (!attrs)
		return cxib_create_cq_kernel(ib, attr, NULL);
	return ucq_create_user(to_cq(ib), attr, attrs);
}

int cxib_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	struct cxib_ucontext *context;
	struct cxib_cq *cq = to_cq(ib);
	int err;

	if (!cq->is_user)
		return cxib_destroy_cq_kernel(ib, udata);
	context = rdma_udata_to_drv_context(udata, struct cxib_ucontext, ib);
	guard(rwsem_write)(&context->references);
	err = cxib_destroy_cq_kernel(ib, udata);
	if (err)
		return err;
	cxib_unpin_queue(cq->user, &cq->buffer);
	kfree(cq->user);
	return 0;
}

static u32 ucq_bytes_of_entry(const struct cxib_cq *cq)
{
	return cq->user_entry == HW_CQE_SIZE_64_BYTES ? 64 : 128;
}

static int ucq_check_resize(const struct cxib_cq *cq, unsigned int entries,
			    const struct mlx5_ib_resize_cq *request)
{
	struct ib_device *ib = cq->ib.device;

	if (request->reserved0 || request->reserved1)
		return -EOPNOTSUPP;
	if (request->cqe_size != ucq_bytes_of_entry(cq)) {
		ibdev_dbg(ib, "resize CQ: CQE size changes from %u to %u\n",
			  ucq_bytes_of_entry(cq), request->cqe_size);
		return -EINVAL;
	}
	if (entries < 1 || entries > ib->attrs.max_cqe) {
		ibdev_dbg(ib, "resize CQ: cqe %u out of range [1, %d]\n",
			  entries, ib->attrs.max_cqe);
		return -EINVAL;
	}
	return 0;
}

/* libmlx5 copies the CQEs that it has not polled. A RESIZE_CQ CQE ends the old ring. */
static int ucq_move_queue(struct cxib_cq *cq, u64 address, unsigned int log_size)
{
	struct cxib_ibdev *ibdev = to_ibdev(cq->ib.device);
	const struct cxib_user_memory memory = {
		.buffer = address,
		.size = (size_t)ucq_bytes_of_entry(cq) << log_size,
	};
	struct cxib_user_queue user = {};
	struct cxib_buffer buffer = {};
	const struct cxib_cq_params params = {
		.uid = cq->uid,
		.buffer = &buffer,
		.log_size = log_size,
		.entry_size = cq->user_entry,
	};
	u8 status;
	int err;

	err = cxib_pin_buffer(cq->ib.device, &memory, &user, &buffer);
	if (err)
		return err;
	err = cxib_cmd_resize_cq(commands_of(ibdev), cq->cqn, &params, &status);
	if (!err) {
		swap(cq->user->pinned.umem, user.pinned.umem);
		swap(cq->buffer, buffer);
		cq->log_size = log_size;
		cq->ib.cqe = BIT(log_size) - 1;
	} else {
		cxib_resize_failed(cq, err, status);
	}
	cxib_unpin_queue(&user, &buffer);
	return err;
}

/**
 * cxib_resize_cq_user() - resize a CQ of user space
 * @ib: CQ of user space
 * @entries: minimum number of CQEs; untrusted
 * @udata: request with the new buffer
 *
 * Context: process context, may sleep.
 * Return: 0; -EOPNOTSUPP if the device has no cq_resize capability; -EINVAL if @entries is out of
 * range or the request is not valid; an error of pinning memory or of the command.
 */
int cxib_resize_cq_user(struct ib_cq *ib, unsigned int entries, struct ib_udata *udata)
{
	struct cxib_ucontext *context = rdma_udata_to_drv_context(udata, struct cxib_ucontext, ib);
	struct cxib_cq *cq = to_cq(ib);
	unsigned int log_size;
	struct mlx5_ib_resize_cq request;
	int err;

	if (!to_ibdev(cq->ib.device)->hw->caps.cq_resize)
		return -EOPNOTSUPP;
	err = cxib_copy_req(udata, &request, sizeof(request), sizeof(request));
	if (!err)
		err = ucq_check_resize(cq, entries, &request);
	if (err)
		return err;
	log_size = order_base_2(entries + 1);
	guard(mutex)(&context->resize_lock);
	return log_size == cq->log_size ? 0 : ucq_move_queue(cq, request.buf_addr, log_size);
}

#ifndef CXIB_LACKS_CQ_UAR_ATTRIBUTE
ADD_UVERBS_ATTRIBUTES_SIMPLE(cxib_create_cq_attributes, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE,
			     UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX,
						UVERBS_ATTR_TYPE(u32), UA_OPTIONAL));
#endif

const struct uapi_definition cxib_cq_definitions[] = {
#ifndef CXIB_LACKS_CQ_UAR_ATTRIBUTE
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_CQ, &cxib_create_cq_attributes),
#endif
	{},
};
