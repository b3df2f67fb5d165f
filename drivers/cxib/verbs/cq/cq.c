// SPDX-License-Identifier: GPL-2.0-only
/* CQs: create, modify, destroy; events of CQs. */
#include <kunit/visibility.h>
#include <linux/log2.h>
#include <rdma/uverbs_ioctl.h>

#include "hw/commands_events.h"
#include "hw/names.h"
#include "verbs/cq/cq.h"
#include "verbs/signature/integrity.h"
#include "verbs/trace.h"

static void cq_invalidate_cqe(struct hw_cqe64 *cqe)
{
	hw_cqe64_set_opcode(cqe, HW_CQE_OPCODE_INVALID);
}

/**
 * cxib_cq_invalidate() - set the opcode of each CQE of a new ring to invalid
 * @ring: the ring
 * @log_size: log2 of its number of CQEs
 */
void cxib_cq_invalidate(const struct cxib_buffer *ring, unsigned int log_size)
{
	size_t i;

	for (i = 0; i < BIT(log_size); i++)
		cq_invalidate_cqe(cxib_buffer_at(ring, i * sizeof(struct hw_cqe64)));
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cq_invalidate);

static int cq_check_attributes(struct cxib_ibdev *ibdev, const struct ib_cq_init_attr *attr)
{
	if (!attr->cqe || attr->cqe > ibdev->ib.attrs.max_cqe) {
		ibdev_dbg(&ibdev->ib, "create CQ: cqe %u out of range [1, %d]\n",
			  attr->cqe, ibdev->ib.attrs.max_cqe);
		return -EINVAL;
	}
	if (attr->comp_vector >= ibdev->ib.num_comp_vectors) {
		ibdev_dbg(&ibdev->ib, "create CQ: comp_vector %u out of range [0, %d]\n",
			  attr->comp_vector, ibdev->ib.num_comp_vectors - 1);
		return -EINVAL;
	}
	return 0;
}

static int cq_alloc_memory(struct cxib_ibdev *ibdev, struct cxib_cq *cq)
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

/* @err: result of the command that passed the memory to the device; 0: CQ destroyed */
static void cq_free_memory(struct cxib_ibdev *ibdev, struct cxib_cq *cq, int err)
{
	cxib_free_queue_memory(ibdev, &cq->buffer, &cq->dbr, err);
}

/**
 * cxib_cq_init() - initialise the software state of a CQ
 * @ib: CQ allocated by the RDMA core
 * @attr: attributes; the function checks all but the flags
 *
 * Return: 0; -EINVAL if cqe or comp_vector is out of range.
 */
int cxib_cq_init(struct ib_cq *ib, const struct ib_cq_init_attr *attr)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_cq *cq = to_cq(ib);
	int err;

	err = cq_check_attributes(ibdev, attr);
	if (err)
		return err;
	/*
	 * One CQE stays unused, because cons_index alone does not distinguish a full ring from an
	 * empty one.
	 */
	cq->log_size = order_base_2(attr->cqe + 1);
	cq->eq = &ibdev->hw->comp_eqs[attr->comp_vector];
	ib->cqe = BIT(cq->log_size) - 1;
	cq->last_qpn = CXIB_NO_QPN;
	mutex_init(&cq->resize_lock);
	spin_lock_init(&cq->lock);
	xa_init_flags(&cq->queue_pairs, XA_FLAGS_LOCK_IRQ);
	INIT_LIST_HEAD(&cq->send_qps);
	INIT_LIST_HEAD(&cq->recv_qps);
	INIT_LIST_HEAD(&cq->poll_node);
	cxib_reference_init(&cq->reference);
	return 0;
}

/**
 * cxib_cq_create_hw() - create a CQ in the device
 * @cq: CQ with memory
 * @params: the caller sets uar and options; the function fills the rest
 *
 * Nothing can refer to the CQ before cxib_cq_publish(), so until then
 * cxib_cq_abort() always destroys it.
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
 * cxib_cq_publish() - insert a CQ for event lookup and DEVX commands
 * @cq: CQ created by cxib_cq_create_hw()
 *
 * This must be the last step of the creation that can fail. Afterwards user space may guess the CQN
 * and make a DEVX object refer to the CQ, which then cannot be destroyed.
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
 * cxib_cq_abort() - undo cxib_cq_create_hw()
 * @cq: CQ that is not published
 * @udata: driver data of the request that has created the CQ; NULL: kernel object
 */
void cxib_cq_abort(struct cxib_cq *cq, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(cq->ib.device);
	const struct cxib_destroy destroy =
		cxib_destroy_object(HW_CMD_DESTROY_CQ, cq->uid, cq->cqn);

	cxib_discard_object(ibdev, cxib_udata_context(udata), &destroy,
			    cq->user ? &cq->user->pinned : NULL,
			    cxib_cmd_destroy_cq(commands_of(ibdev), cq->uid, cq->cqn));
}

/*
 * The scheduler allocates memory with its lock held, so memory reclaim must not wait for that lock.
 * But it may wait for the recovery of the UMR QP, which creates and destroys a CQ. So the scheduler
 * does not get the CQ of the UMR QP.
 */
static bool cq_is_schedulable(const struct cxib_ibdev *ibdev, const struct cxib_cq *cq)
{
	return ibdev->polling && cq->ib.cq_context != &ibdev->umr;
}

static void cq_create_poll(struct cxib_ibdev *ibdev, struct cxib_cq *cq)
{
	if (cq_is_schedulable(ibdev, cq))
		ibdev->polling->create_cq(cq);
}

static void cq_destroy_poll(struct cxib_ibdev *ibdev, struct cxib_cq *cq)
{
	if (cq_is_schedulable(ibdev, cq))
		ibdev->polling->destroy_cq(cq);
}

int cxib_create_cq_kernel(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_cq_params params = { .uar = ibdev->hw->uar_index };
	struct cxib_cq *cq = to_cq(ib);
	int err;

	if (attr->flags) {
		ibdev_dbg(ib->device, "create CQ: unsupported flags 0x%x\n",
			  attr->flags);
		return -EOPNOTSUPP;
	}
	err = cxib_cq_init(ib, attr);
	if (err)
		return err;
	err = cq_alloc_memory(ibdev, cq);
	if (err)
		return err;
	err = cxib_cq_create_hw(cq, &params);
	if (err)
		goto free_memory;
	cq_create_poll(ibdev, cq);
	err = cxib_cq_publish(cq);
	if (err)
		goto destroy_poll;
	return 0;

destroy_poll:
	cq_destroy_poll(ibdev, cq);
	cxib_cq_abort(cq, NULL);
free_memory:
	cq_free_memory(ibdev, cq, err);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_create_cq_kernel);

/**
 * cxib_cq_deliver_event() - have a CQ polled
 * @cq: CQ whose arming the caller has taken, or CQ of user space
 *
 * This is the only caller of comp_handler, because the scheduler may poll in its place. The
 * function is inlined, since the test delays each event of a CQ that the RDMA core polls
 * (performance/policy.rst).
 *
 * Context: interrupts are off, unless the CQ is a user CQ or one of ib_alloc_cq().
 */
static inline void cxib_cq_deliver_event(struct cxib_cq *cq)
{
	struct cxib_ibdev *ibdev = to_ibdev(cq->ib.device);

	if (unlikely(READ_ONCE(cq->poll)) && ibdev->polling->queue(cq))
		return;
	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

/**
 * cxib_cq_hand_over() - have a CQ polled by what is to poll it now
 * @cq: CQ of ib_alloc_cq() whose arming the caller, another poller, has taken and gives away
 *
 * Context: any; comp_handler of such a CQ only queues it.
 */
void cxib_cq_hand_over(struct cxib_cq *cq)
{
	cxib_cq_deliver_event(cq);
}

/*
 * Makes the CQ available again: the destroy command failed, because a DEVX object of the process
 * still refers to the CQ.
 */
static void cq_republish(struct cxib_ibdev *ibdev, struct cxib_cq *cq)
{
	xa_store_irq(&ibdev->cqs, cq->cqn, cq, GFP_KERNEL | __GFP_NOFAIL);
	/* An event may have been missed while the CQ was not in the table. */
	cxib_cq_deliver_event(cq);
}

/* On success no further event is delivered, and the scheduler does not refer to the CQ. */
static int cq_destroy_in_device(struct cxib_cq *cq, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(cq->ib.device);
	const struct cxib_destroy destroy =
		cxib_destroy_object(HW_CMD_DESTROY_CQ, cq->uid, cq->cqn);
	struct cxib_pinned pinned = {};
	int err;

	if (cq->user)
		pinned = cq->user->pinned;
	/* The CQ is erased before the device can reuse the CQN. */
	xa_erase_irq(&ibdev->cqs, cq->cqn);
	err = cxib_orphans_check(ibdev, cxib_udata_context(udata), &destroy) ?:
	      cxib_cmd_destroy_cq(commands_of(ibdev), cq->uid, cq->cqn);
	err = cxib_finish_user_destroy(ibdev, udata, &destroy, &pinned, err);
	if (err) {
		cq_republish(ibdev, cq);
		return err;
	}
	/* A faulty device may name the CQ in events of any completion EQ. */
	cxib_hw_synchronize_comp_eqs(ibdev->hw);
	cxib_reference_end(&cq->reference);
	if (cq->user)
		cq->user->pinned = pinned;
	if (!cq->is_user)
		cq_destroy_poll(ibdev, cq);
	return 0;
}

/**
 * cxib_pre_destroy_cq() - destroy a CQ of the kernel in the device, but keep its ring
 * @ib: CQ of the kernel
 *
 * ib_free_cq() calls this before it cancels the work of the CQ, because an event would queue the
 * work again. Until the work is cancelled a poller may run. It finds the ring unchanged, and its
 * request to arm the CQ has no effect.
 *
 * Context: process context, may sleep.
 * Return: 0.
 */
int cxib_pre_destroy_cq(struct ib_cq *ib)
{
	struct cxib_cq *cq = to_cq(ib);

	/*
	 * The RDMA core adapts the moderation (DIM) until ib_free_cq() stops it, after this call.
	 */
	mutex_lock(&cq->resize_lock);
	spin_lock_irq(&cq->lock);
	cq->is_stopped = true;
	spin_unlock_irq(&cq->lock);
	mutex_unlock(&cq->resize_lock);
	return cq_destroy_in_device(cq, NULL);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pre_destroy_cq);

int cxib_destroy_cq_kernel(struct ib_cq *ib, struct ib_udata *udata)
{
	struct cxib_cq *cq = to_cq(ib);
	int err = 0;

	if (cq->is_user)
		err = cq_destroy_in_device(cq, udata);
	else if (!cq->is_stopped)
		err = cxib_pre_destroy_cq(ib);
	if (err)
		return err;
#ifdef CXIB_LACKS_CQ_PRE_DESTROY
	/* ib_free_cq() has cancelled the work, but the last event may have queued it again. */
	if (ib->comp_wq)
		cancel_work_sync(&ib->work);
#endif
	/* A QP that could not be attached may have left empty nodes. */
	xa_destroy(&cq->queue_pairs);
	mutex_destroy(&cq->resize_lock);
	if (!cq->is_user)
		cq_free_memory(to_ibdev(ib->device), cq, 0);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_destroy_cq_kernel);

static bool cq_has_work(const struct cxib_cq *cq)
{
	return cq->ib.poll_ctx == IB_POLL_WORKQUEUE ||
	       cq->ib.poll_ctx == IB_POLL_UNBOUND_WORKQUEUE;
}

/**
 * cxib_cq_synchronize() - wait for the done() handlers of a CQ that are running
 * @cq: kernel CQ; not one that the RDMA core polls in a softirq
 *
 * A handler that begins after this call gets a CQE that is in the ring now or later. An event may
 * move a CQ from the RDMA core to the scheduler, so the function waits for both. A done() handler
 * of the CQ must not call it.
 *
 * Context: process context, may sleep.
 */
void cxib_cq_synchronize(struct cxib_cq *cq)
{
	const struct cxib_poll_interface *polling = to_ibdev(cq->ib.device)->polling;

	if (!cxib_cq_is_core_polled(cq))
		return;
	if (cq_has_work(cq))
		flush_work(&cq->ib.work);
	if (polling)
		polling->synchronize(cq);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cq_synchronize);

int cxib_modify_cq(struct ib_cq *ib, u16 count, u16 microseconds)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_cq *cq = to_cq(ib);

	if (!ibdev->hw->caps.cq_moderation)
		return -EOPNOTSUPP;
	if (microseconds > CXIB_MODERATION_US_MAX) {
		ibdev_dbg(ib->device, "modify CQ: cq_period %u us out of range [0, %u]\n",
			  microseconds, CXIB_MODERATION_US_MAX);
		return -EINVAL;
	}
	/* Another CQ may have the CQN of a stopped CQ. */
	guard(mutex)(&cq->resize_lock);
	if (cq->is_stopped)
		return -EINVAL;
	return cxib_cmd_modify_cq_moderation(commands_of(ibdev), cq->uid, cq->cqn, count,
					     microseconds);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_modify_cq);

/* The device has raised the event while the CQ was being destroyed, or the device is faulty. */
static void cq_drop_unknown(struct cxib_ibdev *ibdev, u32 cqn)
{
	atomic_inc(&ibdev->num_unknown_cq_events);
	trace_cq_late(ibdev, cqn, false);
}

static void cq_drop_late(struct cxib_cq *cq)
{
	WRITE_ONCE(cq->arming.num_late, cq->arming.num_late + 1);
	trace_cq_late(to_ibdev(cq->ib.device), cq->cqn, true);
}

/*
 * ib_alloc_cq() arms the CQ before it sets the workqueue that comp_handler uses. No QP uses the CQ
 * until then, so only a faulty device raises an event.
 */
static bool cq_is_ready(const struct cxib_cq *cq)
{
	return READ_ONCE(cq->ib.comp_wq) || !cxib_cq_is_core_polled(cq) || !cq_has_work(cq);
}

/*
 * Returns true if the caller must deliver the event. A faulty device may raise an event before the
 * RDMA core has set comp_handler, but then there is no arming.
 */
static bool cq_take_event(struct cxib_ibdev *ibdev, struct cxib_cq *cq)
{
	if (cq->is_user) {
		cxib_arming_count_event(&cq->arming);
		return true;
	}
	if (!cxib_cq_is_core_polled(cq)) {
		cxib_cq_count_own_event(ibdev, cq);
		return cxib_arming_take_one(&cq->arming);
	}
	cxib_arming_count_event(&cq->arming);
	return cq_is_ready(cq) && cxib_arming_take(&cq->arming);
}

/*
 * Called in the interrupt of the EQ. cq_destroy_in_device() synchronizes with the interrupts of all
 * EQs, so the CQ is not freed while this runs. Events of the CQ are accepted from its own EQ only,
 * whose interrupt serializes them.
 */
void cxib_completion_event(void *context, const struct cxib_eq *eq, u32 cqn)
{
	struct cxib_ibdev *ibdev = context;
	struct cxib_cq *cq = xa_load(&ibdev->cqs, cqn);

	if (!cq && ibdev->user && ibdev->user->completion(ibdev, cqn))
		return;
	if (!cq || cq->eq != eq) {
		cq_drop_unknown(ibdev, cqn);
		return;
	}
	if (cq_take_event(ibdev, cq))
		cxib_cq_deliver_event(cq);
	else
		cq_drop_late(cq);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_completion_event);

static struct cxib_cq *cq_get(struct cxib_ibdev *ibdev, u32 cqn)
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

static void cq_raise_due_event(struct cxib_ibdev *ibdev, struct cxib_cq *cq)
{
	lockdep_assert_held(&ibdev->flush_lock);

	if (cq_is_ready(cq) && cxib_cq_event_due(cq))
		cxib_cq_deliver_event(cq);
}

/* DMA is off, and poll_cq flushes WRs, so the work item raises an event for each armed CQ. */
void cxib_flush_cqs(struct work_struct *work)
{
	struct cxib_ibdev *ibdev = container_of(work, struct cxib_ibdev, flush);
	unsigned long number;
	struct cxib_cq *cq;

	xa_for_each(&ibdev->cqs, number, cq) {
		cq = cq_get(ibdev, number);
		if (!cq)
			continue;
		/* comp_handler expects interrupts to be off. */
		spin_lock_irq(&ibdev->flush_lock);
		cq_raise_due_event(ibdev, cq);
		spin_unlock_irq(&ibdev->flush_lock);
		cxib_reference_put(&cq->reference);
	}
}

/* DMA is off. The work item flushes MADs CXIB_MAD_FLUSH_DELAY later than other WRs. */
void cxib_flush_mads(struct work_struct *work)
{
	struct cxib_ibdev *ibdev = container_of(to_delayed_work(work), struct cxib_ibdev,
						flush_mads_work);
	unsigned long number;
	struct cxib_cq *cq;

	xa_for_each(&ibdev->cqs, number, cq) {
		cq = cq_get(ibdev, number);
		if (!cq)
			continue;
		cxib_cq_flush_mads(cq);
		cxib_reference_put(&cq->reference);
	}
	queue_work(ibdev->workqueue, &ibdev->flush);
}

/**
 * cxib_clean_xrc_tgt_cqes() - remove the CQEs of an XRC_TGT QP
 * @ibdev: RDMA device
 * @qp: QP for which the device writes no more CQEs
 *
 * These CQEs can be in the CQ of any XRC SRQ.
 *
 * Context: process context.
 */
void cxib_clean_xrc_tgt_cqes(struct cxib_ibdev *ibdev, struct cxib_qp *qp)
{
	unsigned long number;
	struct cxib_cq *cq;

	xa_for_each(&ibdev->cqs, number, cq) {
		cq = cq_get(ibdev, number);
		if (!cq)
			continue;
		if (!cq->is_user && READ_ONCE(cq->num_xrc_srqs))
			cxib_cq_clean(cq, qp);
		cxib_reference_put(&cq->reference);
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_clean_xrc_tgt_cqes);

void cxib_cq_error_event(void *context, u32 cqn, u32 syndrome)
{
	struct cxib_ibdev *ibdev = context;
	struct ib_event event = { .device = &ibdev->ib, .event = IB_EVENT_CQ_ERR };
	struct cxib_cq *cq = cq_get(ibdev, cqn);

	ibdev_err_ratelimited(&ibdev->ib, "CQ 0x%x: error event: %s (syndrome 0x%x)\n",
			      cqn, hw_cq_error_syndrome_name(syndrome), syndrome);
	if (!cq)
		return;
	cxib_distrust_sig_mrs(ibdev, cqn, 0);
	event.element.cq = &cq->ib;
	if (cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);
	cxib_reference_put(&cq->reference);
}
