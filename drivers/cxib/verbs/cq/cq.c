// SPDX-License-Identifier: GPL-2.0-only
/* Completion queues: made, changed, destroyed; their events. */
#include <kunit/visibility.h>
#include <linux/log2.h>
#include <rdma/uverbs_ioctl.h>

#include "hw/names.h"
#include "verbs/cq/cq.h"

static void invalidate(struct hw_cqe64 *entry)
{
	hw_cqe64_set_opcode(entry, HW_CQE_OPCODE_INVALID);
}

/**
 * cxib_cq_invalidate() - says that a new ring has no entries
 * @ring: its memory
 * @log_size: log2 of its entries
 */
void cxib_cq_invalidate(const struct cxib_buffer *ring, unsigned int log_size)
{
	size_t i;

	for (i = 0; i < BIT(log_size); i++)
		invalidate(cxib_buffer_at(ring, i * sizeof(struct hw_cqe64)));
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cq_invalidate);

static int check_attributes(struct cxib_ibdev *ibdev, const struct ib_cq_init_attr *attr)
{
	if (!attr->cqe || attr->cqe > ibdev->ib.attrs.max_cqe) {
		ibdev_dbg(&ibdev->ib, "a completion queue of %u entries is not possible, 1 to %d are\n",
			  attr->cqe, ibdev->ib.attrs.max_cqe);
		return -EINVAL;
	}
	if (attr->comp_vector >= ibdev->ib.num_comp_vectors) {
		ibdev_dbg(&ibdev->ib, "there is no completion vector %u, 0 to %d are there\n",
			  attr->comp_vector, ibdev->ib.num_comp_vectors - 1);
		return -EINVAL;
	}
	return 0;
}

static int make_memory(struct cxib_ibdev *ibdev, struct cxib_cq *cq)
{
	int err;

	err = cxib_buffer_create(&cq->buffer, ibdev->hw->bus->dev,
				 sizeof(struct hw_cqe64) << cq->log_size);
	if (err)
		return err;
	cxib_cq_invalidate(&cq->buffer, cq->log_size);
	err = cxib_dbr_alloc(ibdev->hw, &cq->dbr);
	if (err)
		cxib_buffer_destroy(&cq->buffer, ibdev->hw->bus->dev);
	return err;
}

/* @err: how the command has ended that told the device of the memory; 0: it uses it no more */
static void free_memory(struct cxib_ibdev *ibdev, struct cxib_cq *cq, int err)
{
	cxib_free_queue_memory(ibdev, &cq->buffer, &cq->dbr, err);
}

/**
 * cxib_cq_init() - the first half of making a completion queue
 * @ib: as the RDMA core has made it
 * @attr: what is wanted; all but its flags is checked
 *
 * Return: 0; -EINVAL when more is wanted than the device can do.
 */
int cxib_cq_init(struct ib_cq *ib, const struct ib_cq_init_attr *attr)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_cq *cq = to_cq(ib);
	int err;

	err = check_attributes(ibdev, attr);
	if (err)
		return err;
	/* A full ring could not be told from an empty one by what was taken. */
	cq->log_size = order_base_2(attr->cqe + 1);
	cq->eq = &ibdev->hw->comp_eqs[attr->comp_vector];
	ib->cqe = BIT(cq->log_size) - 1;
	cq->last_qpn = CXIB_NO_QPN;
	mutex_init(&cq->resize_lock);
	spin_lock_init(&cq->lock);
	xa_init_flags(&cq->queue_pairs, XA_FLAGS_LOCK_IRQ);
	INIT_LIST_HEAD(&cq->send_qps);
	INIT_LIST_HEAD(&cq->recv_qps);
	cxib_reference_init(&cq->reference);
	return 0;
}

/**
 * cxib_cq_create_hw() - the second half: the device uses the queue
 * @cq: completion queue with memory
 * @params: what the memory does not say; the rest is filled
 *
 * Nothing can refer to the queue before cxib_cq_publish(), so until then
 * cxib_cq_abort() always ends it.
 *
 * Context: process context, may sleep.
 * Return: 0, or as cxib_cmd_create_cq().
 */
int cxib_cq_create_hw(struct cxib_cq *cq, struct cxib_cq_params *params)
{
	struct cxib_ibdev *ibdev = to_ibdev(cq->ib.device);

	params->uid = cq->uid;
	params->buffer = &cq->buffer;
	params->log_size = cq->log_size;
	params->eqn = cq->eq->eqn;
	params->dbr = cq->dbr.dma;
	return cxib_cmd_create_cq(commands_of(ibdev), params, &cq->cqn);
}

/**
 * cxib_cq_publish() - the last step: events find the queue, DEVX commands may name it
 * @cq: completion queue that was started
 *
 * The creation of the queue must not fail afterwards: a program may guess its
 * number and have the device refer to it, and then it cannot be destroyed.
 *
 * Context: process context, may sleep.
 * Return: 0, -EBUSY or -ENOMEM.
 */
int cxib_cq_publish(struct cxib_cq *cq)
{
	struct cxib_ibdev *ibdev = to_ibdev(cq->ib.device);

	return xa_insert_irq(&ibdev->cqs, cq->cqn, cq, GFP_KERNEL);
}

/**
 * cxib_cq_abort() - undoes cxib_cq_create_hw()
 * @cq: completion queue that is not published
 */
void cxib_cq_abort(struct cxib_cq *cq)
{
	struct cxib_ibdev *ibdev = to_ibdev(cq->ib.device);

	cxib_end_in_device(ibdev, NULL,
			   cxib_cmd_destroy_cq(commands_of(ibdev), cq->uid, cq->cqn));
}

/* For the kernel. */
int cxib_create_cq_kernel(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_cq_params params = { .uar = ibdev->hw->uar_index };
	struct cxib_cq *cq = to_cq(ib);
	int err;

	if (attr->flags) {
		ibdev_dbg(ib->device, "flags 0x%x of a completion queue are not supported\n",
			  attr->flags);
		return -EOPNOTSUPP;
	}
	err = cxib_cq_init(ib, attr);
	if (err)
		return err;
	err = make_memory(ibdev, cq);
	if (err)
		return err;
	err = cxib_cq_create_hw(cq, &params);
	if (err)
		goto free_memory;
	err = cxib_cq_publish(cq);
	if (err)
		goto abort;
	return 0;

abort:
	cxib_cq_abort(cq);
free_memory:
	free_memory(ibdev, cq, err);
	return err;
}

/* A queue that commands of the program have made still reports here. */
static void put_back(struct cxib_ibdev *ibdev, struct cxib_cq *cq)
{
	xa_store_irq(&ibdev->cqs, cq->cqn, cq, GFP_KERNEL | __GFP_NOFAIL);
	/* For an event that has not found it. */
	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

int cxib_destroy_cq_kernel(struct ib_cq *ib, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_cq *cq = to_cq(ib);
	int err;

	/* Before the device can give its number to another one. */
	xa_erase_irq(&ibdev->cqs, cq->cqn);
	err = cxib_end_in_device(ibdev, udata,
				 cxib_cmd_destroy_cq(commands_of(ibdev), cq->uid, cq->cqn));
	if (err) {
		put_back(ibdev, cq);
		return err;
	}
	cxib_eq_synchronize(cq->eq);
	cxib_reference_end(&cq->reference);
	mutex_destroy(&cq->resize_lock);
	if (!cq->is_user)
		free_memory(ibdev, cq, 0);
	return 0;
}

int cxib_modify_cq(struct ib_cq *ib, u16 count, u16 microseconds)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_cq *cq = to_cq(ib);

	if (!ibdev->hw->caps.cq_moderation)
		return -EOPNOTSUPP;
	if (microseconds > CXIB_MODERATION_US_MAX) {
		ibdev_dbg(ib->device, "a moderation period of %u us is not possible, at most %u us are\n",
			  microseconds, CXIB_MODERATION_US_MAX);
		return -EINVAL;
	}
	return cxib_cmd_modify_cq_moderation(commands_of(ibdev), cq->uid, cq->cqn, count,
					     microseconds);
}

/*
 * In the interrupt of the queue's event queue. Whoever destroys the queue waits
 * for that to end, so the queue stays as long as this runs.
 */
void cxib_completion_event(void *context, u32 cqn)
{
	struct cxib_ibdev *ibdev = context;
	struct cxib_cq *cq = xa_load(&ibdev->cqs, cqn);

	/* An event that was on its way while the queue was destroyed. */
	if (!cq)
		return;
	WRITE_ONCE(cq->arm_sn, cq->arm_sn + 1);
	/* The core sets the handler of a queue later than the device can lie. */
	if (cq->is_user || READ_ONCE(cq->is_armed))
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_completion_event);

static struct cxib_cq *get_cq(struct cxib_ibdev *ibdev, u32 cqn)
{
	struct cxib_cq *cq;
	unsigned long flags;

	xa_lock_irqsave(&ibdev->cqs, flags);
	cq = xa_load(&ibdev->cqs, cqn);
	if (cq)
		refcount_inc(&cq->reference.count);
	xa_unlock_irqrestore(&ibdev->cqs, flags);
	return cq;
}

static void have_polled(struct cxib_ibdev *ibdev, struct cxib_cq *cq)
{
	lockdep_assert_held(&ibdev->flush_lock);

	if (cxib_cq_event_due(cq))
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

/* Of a device that was given up, requests are flushed when somebody polls. */
void cxib_flush_cqs(struct work_struct *work)
{
	struct cxib_ibdev *ibdev = container_of(work, struct cxib_ibdev, flush);
	unsigned long number;
	struct cxib_cq *cq;

	xa_for_each(&ibdev->cqs, number, cq) {
		cq = get_cq(ibdev, number);
		if (!cq)
			continue;
		/* The handlers are made for interrupts. */
		spin_lock_irq(&ibdev->flush_lock);
		have_polled(ibdev, cq);
		spin_unlock_irq(&ibdev->flush_lock);
		cxib_reference_put(&cq->reference);
	}
}

/* Of a device that was given up, datagrams of the management fail later than other requests. */
void cxib_flush_mads(struct work_struct *work)
{
	struct cxib_ibdev *ibdev = container_of(to_delayed_work(work), struct cxib_ibdev,
						fail_datagrams);
	unsigned long number;
	struct cxib_cq *cq;

	xa_for_each(&ibdev->cqs, number, cq) {
		cq = get_cq(ibdev, number);
		if (!cq)
			continue;
		cxib_cq_flush_mads(cq);
		cxib_reference_put(&cq->reference);
	}
	queue_work(ibdev->workqueue, &ibdev->flush);
}

/**
 * cxib_clean_xrc_tgt_cqes() - removes completions of a receiving XRC queue pair
 * @ibdev: RDMA device
 * @qp: queue pair for which the device writes no completions any more
 *
 * They can be in the queue of any XRC shared receive queue.
 *
 * Context: process context.
 */
void cxib_clean_xrc_tgt_cqes(struct cxib_ibdev *ibdev, struct cxib_qp *qp)
{
	unsigned long number;
	struct cxib_cq *cq;

	xa_for_each(&ibdev->cqs, number, cq) {
		cq = get_cq(ibdev, number);
		if (!cq)
			continue;
		if (!cq->is_user && READ_ONCE(cq->shared_queues))
			cxib_cq_clean(cq, qp);
		cxib_reference_put(&cq->reference);
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_clean_xrc_tgt_cqes);

void cxib_cq_error_event(void *context, u32 cqn, u32 syndrome)
{
	struct cxib_ibdev *ibdev = context;
	struct ib_event event = { .device = &ibdev->ib, .event = IB_EVENT_CQ_ERR };
	struct cxib_cq *cq = get_cq(ibdev, cqn);

	ibdev_err_ratelimited(&ibdev->ib, "completion queue 0x%x has stopped: %s (syndrome 0x%x)\n",
			      cqn, hw_cq_error_syndrome_name(syndrome), syndrome);
	if (!cq)
		return;
	event.element.cq = &cq->ib;
	if (cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);
	cxib_reference_put(&cq->reference);
}
