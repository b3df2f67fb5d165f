// SPDX-License-Identifier: GPL-2.0-only
/* XRC domains, and the objects that all XRC QPs share. */
#include <kunit/visibility.h>
#include <linux/log2.h>

#include "hw/commands_objects.h"
#include "hw/pd.h"
#include "hw/srq.h"
#include "hw/work_queue.h"
#include "verbs/cq/cq.h"
#include "verbs/qp/qp.h"
#include "verbs/verbs.h"

/* The placeholder CQ and SRQ have one page and one doorbell record each. */
enum { CQ_PAGE, SRQ_PAGE };

#define LOG_CQ_ENTRIES	(PAGE_SHIFT - const_ilog2(sizeof(struct hw_cqe64)))
#define LOG_SRQ_STRIDE	5
#define LOG_SRQ_SIZE	(PAGE_SHIFT - LOG_SRQ_STRIDE)

int cxib_alloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);

	if (!ibdev->hw->caps.xrc) {
		ibdev_dbg(ib->device, "alloc XRCD: no xrc capability\n");
		return -EOPNOTSUPP;
	}
	return cxib_cmd_alloc_xrcd(commands_of(ibdev), &to_xrcd(ib)->xrcdn);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_alloc_xrcd);

int cxib_dealloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	const u32 xrcdn = to_xrcd(ib)->xrcdn;
	const struct cxib_destroy destroy = cxib_destroy_object(HW_CMD_DEALLOC_XRCD, 0, xrcdn);
	int err = cxib_orphans_check(ibdev, cxib_udata_context(udata), &destroy) ?:
		  cxib_cmd_dealloc_xrcd(commands_of(ibdev), xrcdn);

	return cxib_finish_user_destroy(ibdev, udata, &destroy, NULL, err);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_dealloc_xrcd);

static struct cxib_buffer xrcd_queue_page(struct cxib_xrc *xrc, unsigned int page)
{
	return (struct cxib_buffer){ .pages = &xrc->buffer.pages[page], .page_count = 1 };
}

static int xrcd_create_cq(struct cxib_ibdev *ibdev, struct cxib_xrc *xrc)
{
	const struct cxib_buffer buffer = xrcd_queue_page(xrc, CQ_PAGE);
	const struct cxib_cq_params params = {
		.buffer = &buffer,
		.log_size = LOG_CQ_ENTRIES,
		.uar = ibdev->hw->uar_index,
		.eqn = ibdev->hw->comp_eqs[0].eqn,
		.dbr = xrc->dbrs[CQ_PAGE].dma,
	};
	struct hw_cqe64 *cqes = cxib_buffer_at(&buffer, 0);
	size_t i;

	for (i = 0; i < BIT(LOG_CQ_ENTRIES); i++)
		hw_cqe64_set_opcode(&cqes[i], HW_CQE_OPCODE_INVALID);
	return cxib_cmd_create_cq(commands_of(ibdev), &params, &xrc->cqn);
}

static int xrcd_create_srq(struct cxib_ibdev *ibdev, struct cxib_xrc *xrc)
{
	const struct cxib_buffer buffer = xrcd_queue_page(xrc, SRQ_PAGE);
	const struct cxib_srq_params params = {
		.buffer = &buffer,
		.log_size = LOG_SRQ_SIZE,
		.log_stride = LOG_SRQ_STRIDE,
		.pd = xrc->pd,
		.dbr = xrc->dbrs[SRQ_PAGE].dma,
		.xrcd = xrc->xrcd,
		.cqn = xrc->cqn,
		.user_index = CXIB_NO_USER_INDEX,
	};

	return cxib_cmd_create_xrc_srq(commands_of(ibdev), &params, &xrc->srqn);
}

static int xrcd_alloc_memory(struct cxib_ibdev *ibdev, struct cxib_xrc *xrc)
{
	struct device *dev = ibdev->hw->bus->dev;
	int err;

	err = cxib_buffer_create(&xrc->buffer, dev, ARRAY_SIZE(xrc->dbrs) * PAGE_SIZE);
	if (err)
		return err;
	err = cxib_dbr_alloc(ibdev->hw, &xrc->dbrs[CQ_PAGE]);
	if (err)
		goto destroy_buffer;
	err = cxib_dbr_alloc(ibdev->hw, &xrc->dbrs[SRQ_PAGE]);
	if (err)
		goto free_dbr;
	return 0;

free_dbr:
	cxib_dbr_free(ibdev->hw, &xrc->dbrs[CQ_PAGE]);
destroy_buffer:
	cxib_buffer_destroy(&xrc->buffer, dev);
	return err;
}

/* @err: result of the command that passed the memory to the device; 0: queues destroyed */
static void xrcd_free_memory(struct cxib_ibdev *ibdev, struct cxib_xrc *xrc, int err)
{
	struct cxib_buffer none = {};

	cxib_free_queue_memory(ibdev, &none, &xrc->dbrs[SRQ_PAGE], err);
	cxib_free_queue_memory(ibdev, &xrc->buffer, &xrc->dbrs[CQ_PAGE], err);
}

static int xrcd_create_queues(struct cxib_ibdev *ibdev, struct cxib_xrc *xrc)
{
	int err;

	err = xrcd_create_cq(ibdev, xrc);
	if (err)
		return err;
	err = xrcd_create_srq(ibdev, xrc);
	if (err)
		cxib_finish_destroy(ibdev,
				    cxib_cmd_destroy_cq(commands_of(ibdev), 0, xrc->cqn));
	return err;
}

static int xrcd_create_shared(struct cxib_ibdev *ibdev, struct cxib_xrc *xrc)
{
	struct cxib_command_queue *commands = commands_of(ibdev);
	int err;

	lockdep_assert_held(&xrc->lock);

	err = xrcd_alloc_memory(ibdev, xrc);
	if (err)
		return err;
	err = cxib_cmd_alloc_pd(commands, 0, &xrc->pd);
	if (err)
		goto free_memory;
	err = cxib_cmd_alloc_xrcd(commands, &xrc->xrcd);
	if (err)
		goto dealloc_pd;
	err = xrcd_create_queues(ibdev, xrc);
	if (err)
		goto dealloc_xrcd;
	return 0;

dealloc_xrcd:
	cxib_finish_destroy(ibdev, cxib_cmd_dealloc_xrcd(commands, xrc->xrcd));
dealloc_pd:
	cxib_finish_destroy(ibdev, cxib_cmd_dealloc_pd(commands, 0, xrc->pd));
free_memory:
	xrcd_free_memory(ibdev, xrc, err);
	return err;
}

/**
 * cxib_xrc_init() - create the objects that XRC QPs share, unless they exist
 * @ibdev: RDMA device
 *
 * Context: process context, may sleep.
 * Return: 0; -EOPNOTSUPP if the device has no xrc capability; an error of a command;
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
	err = xrcd_create_shared(ibdev, xrc);
	xrc->ready = !err;
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_xrc_init);

/**
 * cxib_xrc_destroy() - undo cxib_xrc_init()
 * @ibdev: RDMA device without QPs
 */
void cxib_xrc_destroy(struct cxib_ibdev *ibdev)
{
	struct cxib_command_queue *commands = commands_of(ibdev);
	struct cxib_xrc *xrc = &ibdev->xrc;

	mutex_destroy(&xrc->lock);
	if (!xrc->ready)
		return;
	cxib_finish_destroy(ibdev, cxib_cmd_destroy_xrc_srq(commands, 0, xrc->srqn));
	cxib_finish_destroy(ibdev, cxib_cmd_destroy_cq(commands, 0, xrc->cqn));
	cxib_finish_destroy(ibdev, cxib_cmd_dealloc_xrcd(commands, xrc->xrcd));
	cxib_finish_destroy(ibdev, cxib_cmd_dealloc_pd(commands, 0, xrc->pd));
	xrcd_free_memory(ibdev, xrc, 0);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_xrc_destroy);
