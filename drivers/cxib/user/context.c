// SPDX-License-Identifier: GPL-2.0-only
/* User contexts. */
#include <kunit/visibility.h>
#include <linux/bitmap.h>
#include <linux/cache.h>
#include <linux/sched/task.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>

#include "hw/bounce.h"
#include "user/bfreg.h"
#include "user/clock.h"
#include "user/devx.h"
#include "user/dm.h"
#include "user/user.h"

/* Shortest request of any libmlx5 version: up to max_cqe_version. */
#define MIN_REQ_SIZE	offsetof(struct mlx5_ib_alloc_ucontext_req_v2, max_cqe_version)

static int ucontext_check_request(struct ib_device *ib,
				  const struct mlx5_ib_alloc_ucontext_req_v2 *request)
{
	if (request->comp_mask || request->reserved0 || request->reserved1 ||
	    request->reserved2) {
		ibdev_dbg(ib, "alloc ucontext: unsupported attributes (comp_mask 0x%x)\n",
			  request->comp_mask);
		return -EOPNOTSUPP;
	}
	if (request->flags & ~MLX5_IB_ALLOC_UCTX_DEVX) {
		ibdev_dbg(ib, "alloc ucontext: unsupported flags 0x%x\n", request->flags);
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Fills all fields of the response of alloc_ucontext except response_length. */
void cxib_fill_ucontext_resp(const struct cxib_ucontext *context,
			     struct mlx5_ib_alloc_ucontext_resp *response)
{
	struct cxib_ibdev *ibdev = to_ibdev(context->ib.device);
	const struct cxib_device_caps *caps = &ibdev->hw->caps;
	const struct cxib_bfregs *bfregs = context->bfregs;
	bool has_clock = cxib_clock_page(ibdev);

	*response = (struct mlx5_ib_alloc_ucontext_resp){
		.qp_tab_size = BIT(caps->log_max_qp),
		/*
		 * If this is not 0, libmlx5 creates QPs only on dedicated WC UARs. But static UARs
		 * are mapped non-cached.
		 */
		.bf_reg_size = !bfregs && cxib_wc_supported(ibdev) ?
			       BIT(caps->log_bf_reg_size) : 0,
		/* 0 for a context with dynamic UARs only. */
		.tot_bfregs = bfregs ? bfregs->count : 0,
		.cache_line_size = cache_line_size(),
		.max_sq_desc_sz = caps->max_wqe_sz_sq,
		.max_rq_desc_sz = caps->max_wqe_sz_rq,
		.max_send_wqebb = BIT(caps->log_max_qp_sz),
		.max_recv_wr = BIT(caps->log_max_qp_sz),
		.max_srq_recv_wr = BIT(caps->log_max_srq_sz),
		.num_ports = caps->num_ports,
		.cqe_version = context->cqe_version,
		.comp_mask = cxib_core_clock_is_mappable(PAGE_SIZE) ?
			     MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET : 0,
		.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE,
		.clock_info_versions = has_clock ? BIT(MLX5_IB_CLOCK_INFO_V1) : 0,
		/* The timer is at the start of a page of the init segment. */
		.hca_core_clock_offset = 0,
		.log_uar_size = CXIB_LOG_UAR_SIZE,
		.num_uars_per_page = 1,
		.num_dyn_bfregs = bfregs ? CXIB_BFREGS_DYN : 0,
		.dump_fill_mkey = ibdev->dump_fill_mkey,
	};
	/* Without drain_sigerr, user QPs cannot enter SQD. */
	if (caps->drain_sigerr)
		response->comp_mask |= MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS;
	if (ibdev->dump_fill_mkey)
		response->comp_mask |= MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_fill_ucontext_resp);

static int ucontext_copy_resp(const struct cxib_ucontext *context, struct ib_udata *udata)
{
	struct mlx5_ib_alloc_ucontext_resp response;

	cxib_fill_ucontext_resp(context, &response);
	response.response_length = min(sizeof(response), udata->outlen);
	return cxib_copy_resp(udata, &response, response.response_length);
}

/* Returns the response that the creator of a context got to a process that imports the context. */
static int cxib_query_ucontext(struct ib_ucontext *ib, struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ib_alloc_ucontext_resp response;

	cxib_fill_ucontext_resp(to_ucontext(ib), &response);
	response.response_length = sizeof(response);
	return uverbs_copy_to_struct_or_zero(attrs, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX,
					     &response, sizeof(response));
}

static int ucontext_fill(struct ib_ucontext *ib, struct ib_udata *udata)
{
	const struct cxib_device_caps *caps = &to_ibdev(ib->device)->hw->caps;
	struct cxib_ucontext *context = to_ucontext(ib);
	struct mlx5_ib_alloc_ucontext_req_v2 request = {};
	int err;

	if (cxib_bounces_dma(to_ibdev(ib->device)->hw->bus->dev)) {
		ibdev_dbg(ib->device, "alloc ucontext: DMA is bounced (swiotlb)\n");
		return -EOPNOTSUPP;
	}
	if (udata->inlen < MIN_REQ_SIZE) {
		ibdev_dbg(ib->device, "alloc ucontext: request length %zu below minimum %zu\n",
			  udata->inlen, MIN_REQ_SIZE);
		return -EINVAL;
	}
	err = ib_copy_from_udata(&request, udata, min(sizeof(request), udata->inlen));
	if (!err)
		err = ucontext_check_request(ib->device, &request);
	if (err)
		return err;
	context->cqe_version = min_t(u32, caps->cqe_version, request.max_cqe_version);
	if (request.flags & MLX5_IB_ALLOC_UCTX_DEVX)
		err = cxib_devx_open(context);
	if (err)
		return err;
	xa_init(&context->domains);
	xa_init(&context->devx_objects);
	init_rwsem(&context->references);
	xa_init(&context->uars);
	mutex_init(&context->resize_lock);
	mutex_init(&context->lock);
	INIT_LIST_HEAD(&context->record_pages);
	mutex_init(&context->registrations_lock);
	xa_init_flags(&context->registrations, XA_FLAGS_ACCOUNT);
	if (!(request.lib_caps & MLX5_LIB_CAP_DYN_UAR))
		err = cxib_bfregs_create(context, request.total_num_bfregs,
					 request.num_low_latency_bfregs);
	if (!err)
		err = ucontext_copy_resp(context, udata);
	if (err) {
		cxib_bfregs_destroy(context);
		cxib_devx_close(context);
		cxib_orphans_close(to_ibdev(ib->device), ib);
	}
	return err;
}

/*
 * The RDMA core takes a reference to the task before it calls alloc_ucontext. If the ioctl
 * UVERBS_METHOD_GET_CONTEXT fails, the RDMA core frees the context without dropping the reference;
 * only the write() command drops it. So the driver drops the reference, or user space could leak
 * memory at will.
 */
static void ucontext_put_task(struct ib_ucontext *ib)
{
	if (ib->res.task)
		put_task_struct(ib->res.task);
	ib->res.task = NULL;
}

static int cxib_alloc_ucontext(struct ib_ucontext *ib, struct ib_udata *udata)
{
	int err = ucontext_fill(ib, udata);

	if (err)
		ucontext_put_task(ib);
	return err;
}

/*
 * All resources of a context are uobjects, which the RDMA core destroys before the context.
 * Resources that firmware has refused to destroy are orphans.
 */
static void cxib_dealloc_ucontext(struct ib_ucontext *ib)
{
	struct cxib_ucontext *context = to_ucontext(ib);

	cxib_bfregs_destroy(context);
	cxib_devx_close(context);
	cxib_detach_records(context);
	cxib_orphans_close(to_ibdev(ib->device), ib);
	WARN_ON(!xa_empty(&context->uars));
	WARN_ON(!xa_empty(&context->domains) || !xa_empty(&context->devx_objects));
	WARN_ON(!xa_empty(&context->registrations));
	/* An entry that could not be allocated may leave empty nodes. */
	xa_destroy(&context->uars);
	xa_destroy(&context->domains);
	xa_destroy(&context->devx_objects);
	xa_destroy(&context->registrations);
	mutex_destroy(&context->registrations_lock);
	mutex_destroy(&context->lock);
	mutex_destroy(&context->resize_lock);
}

/* The RDMA core has zapped the mappings; user space sees the error at its next call. */
static void ucontext_disassociate(struct ib_ucontext *ib)
{
}

static int ucontext_start(struct cxib_ibdev *ibdev)
{
	unsigned int pages = ibdev->hw->caps.memic_bar_size >> PAGE_SHIFT;
	int err;

	if (cxib_bounces_dma(ibdev->hw->bus->dev))
		dev_warn(ibdev->hw->bus->dev, "user contexts: disabled: DMA is bounced (swiotlb)\n");
	mutex_init(&ibdev->memic_lock);
	ibdev->memic_pages = bitmap_zalloc(max(pages, 1U), GFP_KERNEL);
	if (!ibdev->memic_pages)
		return -ENOMEM;
	err = cxib_devx_start(ibdev);
	if (err) {
		bitmap_free(ibdev->memic_pages);
		return err;
	}
	cxib_clock_start(ibdev);
	return 0;
}

static void ucontext_stop(struct cxib_ibdev *ibdev)
{
	cxib_clock_stop(ibdev);
	cxib_devx_stop(ibdev);
	bitmap_free(ibdev->memic_pages);
	mutex_destroy(&ibdev->memic_lock);
}

static const struct ib_device_ops ops = {
	.alloc_dm = cxib_alloc_dm,
	.alloc_pd = cxib_alloc_pd,
	.alloc_ucontext = cxib_alloc_ucontext,
	.create_qp = cxib_create_qp,
	.create_srq = cxib_create_srq,
	.dealloc_dm = cxib_dealloc_dm,
	.dealloc_pd = cxib_dealloc_pd,
	.dealloc_ucontext = cxib_dealloc_ucontext,
	.destroy_cq = cxib_destroy_cq,
	.destroy_qp = cxib_destroy_qp,
	.destroy_srq = cxib_destroy_srq,
	.disassociate_ucontext = ucontext_disassociate,
	.mmap = cxib_mmap,
	.mmap_free = cxib_mmap_free,
	.modify_qp = cxib_modify_qp,
	.query_device = cxib_query_device,
	.query_ucontext = cxib_query_ucontext,
	.reg_dm_mr = cxib_reg_dm_mr,

	INIT_RDMA_OBJ_SIZE(ib_ucontext, cxib_ucontext, ib),
};

const struct cxib_user_interface cxib_user_interface = {
	.ops = &ops,
	.cq_ops = &cxib_cq_ops,
	.definitions = cxib_user_definitions,
	.start = ucontext_start,
	.stop = ucontext_stop,
	.unpin_record = cxib_unpin_record,
	.free_dm = cxib_free_dm,
	.completion = cxib_devx_completion,
	.event = cxib_devx_event,
};
EXPORT_SYMBOL_IF_KUNIT(cxib_user_interface);
