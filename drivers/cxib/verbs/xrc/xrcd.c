// SPDX-License-Identifier: GPL-2.0-only
/* XRC domains, and what all XRC queue pairs share. */
#include <linux/log2.h>

#include "hw/mkey.h"
#include "hw/srq.h"
#include "hw/work_queue.h"
#include "verbs/cq/cq.h"
#include "verbs/qp/qp.h"
#include "verbs/verbs.h"

/* The queues that get nothing have one page each, and a record each. */
enum { CQ_PART, SRQ_PART };

#define LOG_CQ_ENTRIES	(PAGE_SHIFT - const_ilog2(sizeof(struct hw_cqe64)))
#define LOG_SRQ_STRIDE	5
#define LOG_SRQ_SIZE	(PAGE_SHIFT - LOG_SRQ_STRIDE)

int cxib_alloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);

	if (!ibdev->hw->caps.xrc) {
		ibdev_dbg(ib->device, "the device has no XRC domains\n");
		return -EOPNOTSUPP;
	}
	return cxib_cmd_alloc_xrcd(commands_of(ibdev), &to_xrcd(ib)->xrcdn);
}

int cxib_dealloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);

	return cxib_end_in_device(ibdev, udata,
				  cxib_cmd_dealloc_xrcd(commands_of(ibdev), to_xrcd(ib)->xrcdn));
}

static struct cxib_buffer part(struct cxib_xrc *xrc, unsigned int page)
{
	return (struct cxib_buffer){ .pages = &xrc->buffer.pages[page], .page_count = 1 };
}

static int create_cq(struct cxib_ibdev *ibdev, struct cxib_xrc *xrc)
{
	const struct cxib_buffer buffer = part(xrc, CQ_PART);
	const struct cxib_cq_params params = {
		.buffer = &buffer,
		.log_size = LOG_CQ_ENTRIES,
		.uar = ibdev->hw->uar_index,
		.eqn = ibdev->hw->comp_eqs[0].eqn,
		.dbr = xrc->dbrs[CQ_PART].dma,
	};
	struct hw_cqe64 *entries = cxib_buffer_at(&buffer, 0);
	size_t i;

	for (i = 0; i < BIT(LOG_CQ_ENTRIES); i++)
		hw_cqe64_set_opcode(&entries[i], HW_CQE_OPCODE_INVALID);
	return cxib_cmd_create_cq(commands_of(ibdev), &params, &xrc->cqn);
}

static int create_srq(struct cxib_ibdev *ibdev, struct cxib_xrc *xrc)
{
	const struct cxib_buffer buffer = part(xrc, SRQ_PART);
	const struct cxib_srq_params params = {
		.buffer = &buffer,
		.log_size = LOG_SRQ_SIZE,
		.log_stride = LOG_SRQ_STRIDE,
		.pd = xrc->pd,
		.dbr = xrc->dbrs[SRQ_PART].dma,
		.xrcd = xrc->xrcd,
		.cqn = xrc->cqn,
		.user_index = CXIB_NO_USER_INDEX,
	};

	return cxib_cmd_create_xrc_srq(commands_of(ibdev), &params, &xrc->srqn);
}

static int make_memory(struct cxib_ibdev *ibdev, struct cxib_xrc *xrc)
{
	struct device *dev = ibdev->hw->bus->dev;
	int err;

	err = cxib_buffer_create(&xrc->buffer, dev, ARRAY_SIZE(xrc->dbrs) * PAGE_SIZE);
	if (err)
		return err;
	err = cxib_dbr_alloc(ibdev->hw, &xrc->dbrs[CQ_PART]);
	if (err)
		goto destroy_buffer;
	err = cxib_dbr_alloc(ibdev->hw, &xrc->dbrs[SRQ_PART]);
	if (err)
		goto destroy_record;
	return 0;

destroy_record:
	cxib_dbr_free(ibdev->hw, &xrc->dbrs[CQ_PART]);
destroy_buffer:
	cxib_buffer_destroy(&xrc->buffer, dev);
	return err;
}

/* @err: how the command has ended that told the device of the memory; 0: it uses it no more */
static void free_memory(struct cxib_ibdev *ibdev, struct cxib_xrc *xrc, int err)
{
	struct cxib_buffer none = {};

	cxib_free_queue_memory(ibdev, &none, &xrc->dbrs[SRQ_PART], err);
	cxib_free_queue_memory(ibdev, &xrc->buffer, &xrc->dbrs[CQ_PART], err);
}

static int make_queues(struct cxib_ibdev *ibdev, struct cxib_xrc *xrc)
{
	int err;

	err = create_cq(ibdev, xrc);
	if (err)
		return err;
	err = create_srq(ibdev, xrc);
	if (err)
		cxib_end_in_device(ibdev, NULL,
				   cxib_cmd_destroy_cq(commands_of(ibdev), 0, xrc->cqn));
	return err;
}

static int make(struct cxib_ibdev *ibdev, struct cxib_xrc *xrc)
{
	struct cxib_command_queue *commands = commands_of(ibdev);
	int err;

	lockdep_assert_held(&xrc->lock);

	err = make_memory(ibdev, xrc);
	if (err)
		return err;
	err = cxib_cmd_alloc_pd(commands, 0, &xrc->pd);
	if (err)
		goto free_memory;
	err = cxib_cmd_alloc_xrcd(commands, &xrc->xrcd);
	if (err)
		goto dealloc_pd;
	err = make_queues(ibdev, xrc);
	if (err)
		goto dealloc_xrcd;
	return 0;

dealloc_xrcd:
	cxib_end_in_device(ibdev, NULL, cxib_cmd_dealloc_xrcd(commands, xrc->xrcd));
dealloc_pd:
	cxib_end_in_device(ibdev, NULL, cxib_cmd_dealloc_pd(commands, 0, xrc->pd));
free_memory:
	free_memory(ibdev, xrc, err);
	return err;
}

/**
 * cxib_xrc_init() - sees to it that there is what XRC queue pairs share
 * @ibdev: RDMA device
 *
 * Context: process context, may sleep.
 * Return: 0; -EOPNOTSUPP when the device has no XRC; an error of a command,
 * -ENOMEM.
 */
int cxib_xrc_init(struct cxib_ibdev *ibdev)
{
	struct cxib_xrc *xrc = &ibdev->xrc;
	int err;

	if (!ibdev->hw->caps.xrc)
		return -EOPNOTSUPP;
	guard(mutex)(&xrc->lock);
	if (xrc->ready)
		return 0;
	err = make(ibdev, xrc);
	xrc->ready = !err;
	return err;
}

/**
 * cxib_xrc_destroy() - the reverse
 * @ibdev: RDMA device without users
 */
void cxib_xrc_destroy(struct cxib_ibdev *ibdev)
{
	struct cxib_command_queue *commands = commands_of(ibdev);
	struct cxib_xrc *xrc = &ibdev->xrc;

	mutex_destroy(&xrc->lock);
	if (!xrc->ready)
		return;
	cxib_end_in_device(ibdev, NULL, cxib_cmd_destroy_xrc_srq(commands, 0, xrc->srqn));
	cxib_end_in_device(ibdev, NULL, cxib_cmd_destroy_cq(commands, 0, xrc->cqn));
	cxib_end_in_device(ibdev, NULL, cxib_cmd_dealloc_xrcd(commands, xrc->xrcd));
	cxib_end_in_device(ibdev, NULL, cxib_cmd_dealloc_pd(commands, 0, xrc->pd));
	free_memory(ibdev, xrc, 0);
}
