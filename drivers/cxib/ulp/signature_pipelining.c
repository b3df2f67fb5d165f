// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of include/cxib/signature_pipelining.h, and what happens when the device has
 * stopped an SQ.
 *
 * All of the work is done in process context with the mutex of the QP, so it does not meet
 * modify_qp and query_qp. An SQ is collected when the errors found before its stop are listed:
 * from then until it is resumed, WQEs may be cancelled.
 */
#include <cxib/signature_pipelining.h>
#include <kunit/visibility.h>
#include <linux/slab.h>

#include "hw/qp.h"
#include "verbs/cq/cq_poll.h"
#include "verbs/qp/pipelining.h"
#include "verbs/signature/integrity.h"

/* Of all devices, set through debugfs: if false, ULPs find no functions from then on. */
bool cxib_pipelining_is_offered = true;

/* Time for the device to finish the WQEs that it has started, before the QP is queried again. */
#define DRAIN_INTERVAL	msecs_to_jiffies(2)

/* What handling a stop has led to. */
enum outcome {
	OUTCOME_NOTHING,
	OUTCOME_COLLECTED,
	OUTCOME_FAILED,
};

static bool is_collected(struct cxib_qp *qp)
{
	return READ_ONCE(qp->sq.state) & CXIB_SQ_COLLECTED;
}

static int find_resume(struct cxib_pipelining *pipelining, const struct hw_qpc *context)
{
	u16 counter = hw_qpc_get_hw_sq_wqebb_counter(context);
	struct cxib_qp *qp = pipelining->qp;
	int err = 0;

	scoped_guard(spinlock_irqsave, &qp->sq.lock)
		err = cxib_sq_find_resume(qp, counter, &pipelining->resume);
	if (!err)
		return 0;
	ibdev_err(qp->ib.device, "QP 0x%x: no WQE begins at hw_sq_wqebb_counter: 0x%x (0x%x)\n",
		  qp->qpn, counter, READ_ONCE(qp->sq.prod_index) & U16_MAX);
	cxib_health_set_fatal(&to_ibdev(qp->ib.device)->hw->health,
			      "hw_sq_wqebb_counter of a QP out of range");
	return err;
}

/* Cancels the response of the transfer whose MR, with mkey @key, has the signature error. */
static int cancel_response(struct cxib_pipelining *pipelining, u32 key)
{
	struct cxib_qp *qp = pipelining->qp;
	int cancelled = 0;

	scoped_guard(spinlock_irqsave, &qp->sq.lock) {
		cancelled = cxib_sq_cancel_response(qp, pipelining->resume, key);
		if (cancelled > 0)
			pipelining->cancelled += cancelled;
	}
	if (cancelled >= 0)
		return 0;
	ibdev_err(qp->ib.device, "QP 0x%x: no response to cancel for failed mkey: 0x%x\n",
		  qp->qpn, key);
	return cancelled;
}

static enum outcome handle_failed(struct cxib_pipelining *pipelining)
{
	struct ib_sig_err error;

	while (cxib_take_failed_mr(pipelining, &error))
		if (cancel_response(pipelining, error.key))
			return OUTCOME_FAILED;
	return cxib_qp_resume(pipelining->qp) ? OUTCOME_FAILED : OUTCOME_NOTHING;
}

static enum outcome collect(struct cxib_pipelining *pipelining, const struct hw_qpc *context)
{
	struct cxib_qp *qp = pipelining->qp;

	if (find_resume(pipelining, context))
		return OUTCOME_NOTHING;
	cxib_cq_note_signature_errors(cxib_send_cq(qp), qp);
	pipelining->stops++;
	if (pipelining->policy == CXIB_SIGNATURE_AUTOMATIC)
		return handle_failed(pipelining);
	scoped_guard(spinlock_irqsave, &qp->sq.lock)
		qp->sq.state |= CXIB_SQ_COLLECTED;
	return OUTCOME_COLLECTED;
}

/* @stops: num_stops of the SQ before the QP was queried */
static void handle_running(struct cxib_pipelining *pipelining, u32 stops)
{
	struct cxib_qp *qp = pipelining->qp;

	if (READ_ONCE(qp->sq.num_stops) != stops) {
		mod_delayed_work(to_ibdev(qp->ib.device)->workqueue, &pipelining->work, 0);
	} else if (READ_ONCE(qp->sq.state) & CXIB_SQ_STOPPED) {
		pipelining->spurious++;
		cxib_qp_discard_stop(qp);
	}
}

static enum outcome handle_stop(struct cxib_pipelining *pipelining)
{
	struct cxib_qp *qp = pipelining->qp;
	struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);
	u32 stops = READ_ONCE(qp->sq.num_stops);
	struct hw_qpc context;
	int err;

	lockdep_assert_held(&qp->mutex);

	if ((qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD) || is_collected(qp))
		return OUTCOME_NOTHING;
	err = cxib_cmd_query_qp(commands_of(ibdev), cxib_qp_uid(qp), qp->qpn, &context);
	if (err)
		return cxib_command_queue_is_fatal(commands_of(ibdev)) ? OUTCOME_NOTHING :
									 OUTCOME_FAILED;
	switch (hw_qpc_get_state(&context)) {
	case HW_QP_STATE_SQD:
		/* The SQ_DRAINED event is lost, or still to come. */
		if (!(READ_ONCE(qp->sq.state) & CXIB_SQ_STOPPED))
			cxib_sq_stop(qp);
		return collect(pipelining, &context);
	case HW_QP_STATE_SQ_DRAINING:
		queue_delayed_work(ibdev->workqueue, &pipelining->work, DRAIN_INTERVAL);
		return OUTCOME_NOTHING;
	case HW_QP_STATE_RTS:
		handle_running(pipelining, stops);
		return OUTCOME_NOTHING;
	default:
		return OUTCOME_NOTHING;
	}
}

static void raise_event(struct cxib_qp *qp, enum ib_event_type type)
{
	struct ib_event event = { .device = qp->ib.device, .element.qp = &qp->ib, .event = type };

	if (qp->ib.event_handler)
		qp->ib.event_handler(&event, qp->ib.qp_context);
}

/* The connection ends, because otherwise a good response for bad data might be sent. */
static void fail(struct cxib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	cxib_modify_qp_kernel(&qp->ib, &attr, IB_QP_STATE, NULL);
	raise_event(qp, IB_EVENT_QP_FATAL);
}

static void stop_work_fn(struct work_struct *work)
{
	struct cxib_pipelining *pipelining =
		container_of(to_delayed_work(work), struct cxib_pipelining, work);
	struct cxib_qp *qp = pipelining->qp;
	enum outcome outcome = OUTCOME_NOTHING;

	scoped_guard(mutex, &qp->mutex)
		outcome = handle_stop(pipelining);
	if (outcome == OUTCOME_COLLECTED)
		raise_event(qp, IB_EVENT_SQ_DRAINED);
	else if (outcome == OUTCOME_FAILED)
		fail(qp);
}

static bool is_supported(struct ib_device *device)
{
	const struct cxib_device_caps *caps = &to_ibdev(device)->hw->caps;

	return caps->sho && caps->drain_sigerr;
}

static int check_enable(const struct cxib_qp *qp, enum cxib_signature_policy policy)
{
	if (qp->pipelining)
		return -EALREADY;
	if (qp->is_user || qp->ib.qp_type != IB_QPT_RC || !qp->ib.integrity_en)
		return -EINVAL;
	if (qp->state != IB_QPS_RESET && qp->state != IB_QPS_INIT)
		return -EINVAL;
	if (policy == CXIB_SIGNATURE_MANUAL)
		return 0;
	return policy != CXIB_SIGNATURE_AUTOMATIC || qp->sq.flags & IB_SEND_SIGNALED ? -EINVAL : 0;
}

static int enable_locked(struct cxib_qp *qp, enum cxib_signature_policy policy)
{
	struct cxib_pipelining *pipelining;
	int err;

	lockdep_assert_held(&qp->mutex);

	if (!is_supported(qp->ib.device))
		return -EOPNOTSUPP;
	err = check_enable(qp, policy);
	if (err)
		return err;
	pipelining = kzalloc(sizeof(*pipelining), GFP_KERNEL);
	if (!pipelining)
		return -ENOMEM;
	pipelining->qp = qp;
	pipelining->policy = policy;
	INIT_LIST_HEAD(&pipelining->failed);
	INIT_DELAYED_WORK(&pipelining->work, stop_work_fn);
	if (qp->state == IB_QPS_INIT)
		err = cxib_qp_enable_drain_sigerr(qp);
	if (err) {
		kfree(pipelining);
		return err;
	}
	qp->sq.is_pipelined = true;
	WRITE_ONCE(qp->pipelining, pipelining);
	return 0;
}

static int enable(struct ib_qp *ib, enum cxib_signature_policy policy)
{
	guard(mutex)(&to_qp(ib)->mutex);
	return enable_locked(to_qp(ib), policy);
}

static bool is_manual(const struct cxib_qp *qp)
{
	return qp->pipelining && qp->pipelining->policy == CXIB_SIGNATURE_MANUAL;
}

static bool is_gone(const struct cxib_qp *qp)
{
	u8 state = READ_ONCE(qp->state);

	return state == IB_QPS_ERR || state == IB_QPS_RESET ||
	       cxib_verbs_dma_off(to_ibdev(qp->ib.device));
}

static struct ib_mr *next_failed(struct ib_qp *ib, struct ib_sig_err *error)
{
	struct cxib_qp *qp = to_qp(ib);

	if (!is_manual(qp) || !is_collected(qp))
		return NULL;
	return cxib_take_failed_mr(qp->pipelining, error);
}

static int cancel(struct ib_qp *ib, struct ib_cqe *cqe)
{
	const struct ib_send_wr wr = { .wr_cqe = cqe };
	struct cxib_qp *qp = to_qp(ib);
	int result = -EBUSY;

	if (!cqe || !is_manual(qp))
		return -EINVAL;
	if (is_gone(qp))
		return -ENOTCONN;
	scoped_guard(spinlock_irqsave, &qp->sq.lock) {
		if (is_collected(qp))
			result = cxib_sq_cancel(qp, qp->pipelining->resume, wr.wr_id);
		if (result > 0)
			qp->pipelining->cancelled += result;
	}
	return result;
}

static int resume(struct ib_qp *ib)
{
	struct cxib_qp *qp = to_qp(ib);
	int err = 0;

	if (!is_manual(qp))
		return -EINVAL;
	scoped_guard(mutex, &qp->mutex) {
		if (is_gone(qp))
			return -ENOTCONN;
		if (!is_collected(qp))
			return -EINVAL;
		if (cxib_has_failed_mr(qp->pipelining))
			return -EBUSY;
		err = cxib_qp_resume(qp);
	}
	if (err)
		fail(qp);
	return err;
}

const struct cxib_signature_pipelining cxib_signature_functions = {
	.abi = CXIB_SIGNATURE_PIPELINING_ABI,
	.enable = enable,
	.next_failed = next_failed,
	.cancel = cancel,
	.resume = resume,
};
EXPORT_SYMBOL_IF_KUNIT(cxib_signature_functions);

/**
 * cxib_find_signature_pipelining() - the functions for the QPs of a device
 * @device: RDMA device of any driver
 *
 * ULPs call cxib_signature_pipelining().
 *
 * Context: any.
 * Return: the functions; NULL if @device is one of another driver or lacks signature pipelining, or
 * if the administrator does not want it.
 */
const struct cxib_signature_pipelining *cxib_find_signature_pipelining(struct ib_device *device)
{
	/* The driver id is that of mlx5_ib. */
	if (device->ops.owner != THIS_MODULE || !is_supported(device))
		return NULL;
	return READ_ONCE(cxib_pipelining_is_offered) ? &cxib_signature_functions : NULL;
}
EXPORT_SYMBOL_GPL(cxib_find_signature_pipelining);
