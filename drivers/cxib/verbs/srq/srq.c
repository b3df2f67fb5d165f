// SPDX-License-Identifier: GPL-2.0-only
/* SRQs: create, modify, query, destroy; events of SRQs. */
#include <kunit/visibility.h>
#include <linux/bitmap.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "hw/commands_receive_queues.h"
#include "hw/srq.h"
#include "hw/work_queue.h"
#include "verbs/lookup.h"
#include "verbs/qp/qp.h"
#include "verbs/srq/srq.h"

static int srq_refuse(struct cxib_srq *srq, const char *name, u32 value, u32 min, u32 max)
{
	ibdev_dbg(srq->ib.device, "SRQ: %s %u out of range [%u, %u]\n", name, value, min, max);
	return -EINVAL;
}

/**
 * struct srq_commands - commands of an SRQ type
 * @create: create an SRQ
 * @destroy: destroy an SRQ
 * @destroy_opcode: opcode of @destroy
 * @arm: arm the limit event
 * @query: read the limit
 */
struct srq_commands {
	int (*create)(struct cxib_command_queue *queue,
		      const struct cxib_srq_params *params, u32 *srqn);
	int (*destroy)(struct cxib_command_queue *queue, u16 uid, u32 srqn);
	u16 destroy_opcode;
	int (*arm)(struct cxib_command_queue *queue, u16 uid, u32 srqn, u16 limit);
	int (*query)(struct cxib_command_queue *queue, u16 uid, u32 srqn, u16 *limit);
};

static const struct srq_commands types[] = {
	[IB_SRQT_BASIC] = {
		cxib_cmd_create_rmp, cxib_cmd_destroy_rmp, HW_CMD_DESTROY_RMP,
		cxib_cmd_arm_rmp, cxib_cmd_query_rmp,
	},
	[IB_SRQT_XRC] = {
		cxib_cmd_create_xrc_srq, cxib_cmd_destroy_xrc_srq, HW_CMD_DESTROY_XRC_SRQ,
		cxib_cmd_arm_xrc_srq, cxib_cmd_query_xrc_srq,
	},
	[IB_SRQT_TM] = {
		cxib_cmd_create_xrq, cxib_cmd_destroy_xrq, HW_CMD_DESTROY_XRQ,
		cxib_cmd_arm_xrq, cxib_cmd_query_xrq,
	},
};

static const struct srq_commands *srq_type_of(const struct cxib_srq *srq)
{
	return &types[srq->ib.srq_type];
}

static bool srq_is_supported(const struct cxib_srq *srq, enum ib_srq_type type)
{
	const struct cxib_device_caps *caps = &to_ibdev(srq->ib.device)->hw->caps;

	switch (type) {
	case IB_SRQT_BASIC:
		return true;
	case IB_SRQT_XRC:
		return caps->xrc;
	case IB_SRQT_TM:
		return caps->tag_matching && caps->log_max_xrq && srq->is_user;
	default:
		return false;
	}
}

static int srq_size_tag_list(struct cxib_srq *srq, u32 count)
{
	const u32 max = srq->ib.device->attrs.tm_caps.max_num_tags;

	if (count < 1 || count > max)
		return srq_refuse(srq, "max_num_tags", count, 1, max);
	srq->log_tags = order_base_2(count + 1);
	return 0;
}

/**
 * cxib_srq_init() - initialise the software state of an SRQ
 * @srq: SRQ allocated by the RDMA core; @is_user is set
 * @init: attributes
 *
 * Return: 0; -EOPNOTSUPP for an unsupported type; -EINVAL for a value out of range.
 */
int cxib_srq_init(struct cxib_srq *srq, const struct ib_srq_init_attr *init)
{
	const struct ib_device_attr *max = &srq->ib.device->attrs;
	u32 stride;
	int err;

	if (!srq_is_supported(srq, init->srq_type)) {
		ibdev_dbg(srq->ib.device, "create SRQ: unsupported type %d\n",
			  init->srq_type);
		return -EOPNOTSUPP;
	}
	if (init->attr.max_wr > max->max_srq_wr)
		return srq_refuse(srq, "max_wr", init->attr.max_wr, 0, max->max_srq_wr);
	if (init->attr.max_sge > max->max_srq_sge)
		return srq_refuse(srq, "max_sge", init->attr.max_sge, 0, max->max_srq_sge);
	if (init->srq_type == IB_SRQT_TM) {
		err = srq_size_tag_list(srq, init->ext.tag_matching.max_num_tags);
		if (err)
			return err;
	}
	/* One WQE is never posted, because the next WQE to be retired is linked to it. */
	srq->log_size = order_base_2(init->attr.max_wr + 1);
	stride = sizeof(struct hw_wqe_srq_next_seg) +
		 max(init->attr.max_sge, 1U) * sizeof(struct hw_wqe_data_seg);
	srq->log_stride = order_base_2(stride);
	srq->max_sge = (BIT(srq->log_stride) - sizeof(struct hw_wqe_srq_next_seg)) /
		       sizeof(struct hw_wqe_data_seg);
	spin_lock_init(&srq->lock);
	cxib_reference_init(&srq->reference);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_srq_init);

static bool srq_is_xrc(const struct cxib_srq *srq)
{
	return srq->ib.srq_type == IB_SRQT_XRC;
}

/* Processes share XRC SRQs, so uid 0 owns them. */
static u16 srq_uid_of(const struct cxib_srq *srq)
{
	return srq_is_xrc(srq) ? 0 : to_pd(srq->ib.pd)->uid;
}

static int srq_create_in_device(struct cxib_ibdev *ibdev, struct cxib_srq *srq)
{
	struct cxib_srq_params params = {
		.uid = srq_uid_of(srq),
		.buffer = &srq->buffer,
		.log_size = srq->log_size,
		.log_stride = srq->log_stride,
		.pd = to_pd(srq->ib.pd)->pdn,
		.dbr = srq->dbr.dma,
		.user_index = srq->user_index,
		.log_tm_list_size = srq->log_tags,
		.rndv_offload = ibdev->hw->caps.rndv_offload_rc,
	};
	int err;

	if (ib_srq_has_cq(srq->ib.srq_type))
		params.cqn = to_cq(srq->ib.ext.cq)->cqn;
	if (srq_is_xrc(srq))
		params.xrcd = to_xrcd(srq->ib.ext.xrc.xrcd)->xrcdn;
	err = srq_type_of(srq)->create(commands_of(ibdev), &params, &srq->srqn);
	if (srq_is_xrc(srq))
		srq->ib.ext.xrc.srq_num = srq->srqn;
	return err;
}

static bool srq_reports_to_kernel(const struct cxib_srq *srq)
{
	return srq_is_xrc(srq) && !srq->is_user;
}

/**
 * cxib_srq_publish() - insert an SRQ for events, poll_cq and DEVX commands
 * @srq: SRQ created by cxib_srq_create_hw()
 *
 * This must be the last step of the creation that can fail. Afterwards user space may guess the
 * SRQN and make a DEVX object refer to the SRQ, which then cannot be destroyed.
 *
 * Context: process context, may sleep.
 * Return: 0, -EBUSY or -ENOMEM.
 */
int cxib_srq_publish(struct cxib_srq *srq)
{
	struct cxib_ibdev *ibdev = to_ibdev(srq->ib.device);
	int err = xa_insert_irq(&ibdev->srqs, srq->srqn, srq, GFP_KERNEL);
	struct cxib_cq *cq;

	if (err || !srq_reports_to_kernel(srq))
		return err;
	cq = to_cq(srq->ib.ext.cq);
	spin_lock_irq(&cq->lock);
	cq->num_xrc_srqs++;
	spin_unlock_irq(&cq->lock);
	return 0;
}

/* From here on lookups fail, and the device may reuse the SRQN. */
static void srq_unpublish(struct cxib_ibdev *ibdev, struct cxib_srq *srq)
{
	struct cxib_cq *cq;

	if (!srq_reports_to_kernel(srq)) {
		xa_erase_irq(&ibdev->srqs, srq->srqn);
		return;
	}
	cq = to_cq(srq->ib.ext.cq);
	spin_lock_irq(&cq->lock);
	cq->num_xrc_srqs--;
	cq->num_xrc_srqs_unpublished++;
	xa_erase(&ibdev->srqs, srq->srqn);
	spin_unlock_irq(&cq->lock);
}

static struct cxib_destroy srq_destroy_of(const struct cxib_srq *srq)
{
	return cxib_destroy_object(srq_type_of(srq)->destroy_opcode, srq_uid_of(srq), srq->srqn);
}

static int srq_destroy_in_device(struct cxib_ibdev *ibdev, const struct cxib_srq *srq,
				 struct ib_udata *udata, struct cxib_pinned *pinned)
{
	const struct cxib_destroy destroy = srq_destroy_of(srq);
	int err = cxib_orphans_check(ibdev, cxib_udata_context(udata), &destroy) ?:
		  srq_type_of(srq)->destroy(commands_of(ibdev), srq_uid_of(srq), srq->srqn);

	return cxib_finish_user_destroy(ibdev, udata, &destroy, pinned, err);
}

/**
 * cxib_srq_create_hw() - create an SRQ in the device
 * @srq: SRQ with memory
 *
 * Nothing can refer to the SRQ before cxib_srq_publish(), so until then
 * cxib_srq_abort() always destroys it.
 *
 * Context: process context, may sleep.
 * Return: 0, or as cxib_cmd_create_rmp().
 */
int cxib_srq_create_hw(struct cxib_srq *srq)
{
	return srq_create_in_device(to_ibdev(srq->ib.device), srq);
}

/**
 * cxib_srq_abort() - undo cxib_srq_create_hw()
 * @srq: SRQ that is not published
 * @udata: driver data of the request that has created the SRQ; NULL: kernel object
 */
void cxib_srq_abort(struct cxib_srq *srq, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(srq->ib.device);
	const struct cxib_destroy destroy = srq_destroy_of(srq);

	cxib_discard_object(ibdev, cxib_udata_context(udata), &destroy, &srq->user.pinned,
			    srq_type_of(srq)->destroy(commands_of(ibdev), srq_uid_of(srq),
						      srq->srqn));
}

static int srq_alloc_memory(struct cxib_ibdev *ibdev, struct cxib_srq *srq)
{
	struct device *dev = ibdev->hw->bus->dev;
	int err = -ENOMEM;

	srq->entries = kvcalloc(BIT(srq->log_size), sizeof(*srq->entries), GFP_KERNEL);
	if (!srq->entries)
		return err;
	srq->outstanding = bitmap_zalloc(BIT(srq->log_size), GFP_KERNEL);
	if (!srq->outstanding)
		goto free_entries;
	err = cxib_buffer_create(&srq->buffer, dev, BIT(srq->log_size + srq->log_stride));
	if (err)
		goto free_bitmap;
	err = cxib_dbr_alloc(ibdev->hw, &srq->dbr);
	if (err)
		goto destroy_buffer;
	cxib_srq_link_wqes(srq);
	return 0;

destroy_buffer:
	cxib_buffer_destroy(&srq->buffer, dev);
free_bitmap:
	bitmap_free(srq->outstanding);
free_entries:
	kvfree(srq->entries);
	return err;
}

/* @err: result of the command that passed the memory to the device; 0: SRQ destroyed */
static void srq_free_memory(struct cxib_ibdev *ibdev, struct cxib_srq *srq, int err)
{
	cxib_free_queue_memory(ibdev, &srq->buffer, &srq->dbr, err);
	bitmap_free(srq->outstanding);
	kvfree(srq->entries);
}

int cxib_create_srq_kernel(struct ib_srq *ib, struct ib_srq_init_attr *init)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_srq *srq = to_srq(ib);
	int err;

	err = cxib_srq_init(srq, init);
	if (err)
		return err;
	err = cxib_pd_create_dma_mkey(ib->pd);
	if (err)
		return err;
	srq->user_index = CXIB_NO_USER_INDEX;
	err = srq_alloc_memory(ibdev, srq);
	if (err)
		return err;
	err = cxib_srq_create_hw(srq);
	if (err)
		goto free_memory;
	err = cxib_srq_publish(srq);
	if (err)
		goto abort;
	init->attr.max_wr = BIT(srq->log_size) - 1;
	init->attr.max_sge = srq->max_sge;
	return 0;

abort:
	cxib_srq_abort(srq, NULL);
free_memory:
	srq_free_memory(ibdev, srq, err);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_create_srq_kernel);

int cxib_destroy_srq_kernel(struct ib_srq *ib, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_srq *srq = to_srq(ib);
	struct cxib_pinned pinned = srq->user.pinned;
	int err;

	/* The SRQ is erased before the device can reuse the SRQN. */
	srq_unpublish(ibdev, srq);
	err = srq_destroy_in_device(ibdev, srq, udata, &pinned);
	if (err) {
		/*
		 * A DEVX object of the process still refers to the SRQ, so the SRQ is inserted
		 * again.
		 */
		xa_store_irq(&ibdev->srqs, srq->srqn, srq, GFP_KERNEL | __GFP_NOFAIL);
		return err;
	}
	if (srq_reports_to_kernel(srq))
		cxib_cq_clean_srq(to_cq(srq->ib.ext.cq), srq->srqn);
	cxib_reference_end(&srq->reference);
	srq->user.pinned = pinned;
	if (!srq->is_user)
		srq_free_memory(ibdev, srq, 0);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_destroy_srq_kernel);

int cxib_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		    struct ib_udata *udata)
{
	struct cxib_srq *srq = to_srq(ib);

	if (mask & ~IB_SRQ_LIMIT)
		return -EOPNOTSUPP;
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit >= BIT(srq->log_size))
		return srq_refuse(srq, "srq_limit", attr->srq_limit, 0, BIT(srq->log_size) - 1);
	return srq_type_of(srq)->arm(commands_of(to_ibdev(ib->device)), srq_uid_of(srq), srq->srqn,
				     attr->srq_limit);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_modify_srq);

int cxib_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr)
{
	struct cxib_srq *srq = to_srq(ib);
	u16 limit;
	int err;

	err = srq_type_of(srq)->query(commands_of(to_ibdev(ib->device)), srq_uid_of(srq), srq->srqn,
				      &limit);
	if (err)
		return err;
	attr->srq_limit = limit;
	attr->max_wr = BIT(srq->log_size) - 1;
	attr->max_sge = srq->max_sge;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_query_srq);

/* Called in process context. */
void cxib_srq_event(struct cxib_ibdev *ibdev, u32 srqn, enum ib_event_type type)
{
	struct ib_event event = { .device = &ibdev->ib, .event = type };
	struct cxib_srq *srq = cxib_get_srq(ibdev, srqn);

	if (!srq)
		return;
	event.element.srq = &srq->ib;
	if (srq->ib.event_handler)
		srq->ib.event_handler(&event, srq->ib.srq_context);
	cxib_reference_put(&srq->reference);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_srq_event);
