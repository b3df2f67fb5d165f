// SPDX-License-Identifier: GPL-2.0-only
/* The functions of include/cxib/signature_pipelining.h; verbs/qp/qp_stop.c handles a stop. */
#include <cxib/signature_pipelining.h>
#include <kunit/visibility.h>
#include <linux/slab.h>

#include "ulp/functions.h"
#include "verbs/qp/pipelining.h"
#include "verbs/signature/integrity.h"

/* Of all devices, set through debugfs: if false, ULPs find no functions from then on. */
bool cxib_pipelining_is_offered = true;

static bool sigpipe_is_supported(struct ib_device *device)
{
	const struct cxib_device_caps *caps = &to_ibdev(device)->hw->caps;

	return caps->sho && caps->drain_sigerr;
}

static int sigpipe_check_enable(const struct cxib_qp *qp, enum cxib_signature_policy policy)
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

static int sigpipe_enable_locked(struct cxib_qp *qp, enum cxib_signature_policy policy)
{
	struct cxib_pipelining *pipelining;
	int err;

	lockdep_assert_held(&qp->mutex);

	if (!sigpipe_is_supported(qp->ib.device))
		return -EOPNOTSUPP;
	err = sigpipe_check_enable(qp, policy);
	if (err)
		return err;
	pipelining = cxib_pipelining_alloc(qp, policy == CXIB_SIGNATURE_MANUAL);
	if (!pipelining)
		return -ENOMEM;
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

static int sigpipe_enable(struct ib_qp *ib, enum cxib_signature_policy policy)
{
	if (!cxib_owns_device(ib->device))
		return -EOPNOTSUPP;
	guard(mutex)(&to_qp(ib)->mutex);
	return sigpipe_enable_locked(to_qp(ib), policy);
}

static bool sigpipe_is_manual(struct ib_qp *ib)
{
	return cxib_owns_device(ib->device) && cxib_qp_is_manual(to_qp(ib));
}

/*
 * The lock keeps another thread from resuming the QP in between: the MR would be one of the next
 * stop, which the caller can neither cancel nor fetch again.
 */
static struct ib_mr *sigpipe_next_failed(struct ib_qp *ib, struct ib_sig_err *error)
{
	struct cxib_qp *qp = to_qp(ib);
	struct ib_mr *mr = NULL;

	if (!sigpipe_is_manual(ib))
		return NULL;
	scoped_guard(spinlock_irqsave, &qp->sq.lock)
		if (qp->sq.state & CXIB_SQ_COLLECTED) {
			mr = cxib_take_failed_mr(qp->pipelining, error);
			if (!mr)
				qp->sq.state |= CXIB_SQ_FETCHED;
		}
	return mr;
}

static int sigpipe_cancel(struct ib_qp *ib, struct ib_cqe *cqe)
{
	const struct ib_send_wr wr = { .wr_cqe = cqe };
	struct cxib_qp *qp = to_qp(ib);
	unsigned long flags;
	int result;

	if (!cqe || !sigpipe_is_manual(ib))
		return -EINVAL;
	spin_lock_irqsave(&qp->sq.lock, flags);
	if (cxib_qp_is_gone(qp))
		result = -ENOTCONN;
	else if (!(qp->sq.state & CXIB_SQ_COLLECTED))
		result = -EBUSY;
	else
		result = cxib_sq_cancel(qp, qp->pipelining->resume, wr.wr_id);
	if (result > 0)
		qp->pipelining->cancelled += result;
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	return result;
}

static int sigpipe_resume(struct ib_qp *ib)
{
	struct cxib_qp *qp = to_qp(ib);
	u8 state;
	int err;

	if (!sigpipe_is_manual(ib))
		return -EINVAL;
	guard(mutex)(&qp->mutex);
	if (cxib_qp_is_gone(qp))
		return -ENOTCONN;
	state = READ_ONCE(qp->sq.state);
	if (!(state & CXIB_SQ_COLLECTED))
		return -EINVAL;
	/* Another thread may have fetched an MR whose response it has still to cancel. */
	if (!(state & CXIB_SQ_FETCHED))
		return -EBUSY;
	err = cxib_end_failures(qp->pipelining);
	if (err == -EBUSY)
		return err;
	if (!err)
		err = cxib_qp_resume(qp);
	if (err)
		cxib_qp_close(qp);
	return err;
}

const struct cxib_signature_pipelining cxib_signature_functions = {
	.abi = CXIB_SIGNATURE_PIPELINING_ABI,
	.enable = sigpipe_enable,
	.next_failed = sigpipe_next_failed,
	.cancel = sigpipe_cancel,
	.resume = sigpipe_resume,
};
EXPORT_SYMBOL_IF_KUNIT(cxib_signature_functions);

/**
 * cxib_find_signature_pipelining() - the functions for the QPs of a device
 * @device: RDMA device
 *
 * ULPs call cxib_signature_pipelining().
 *
 * Context: any.
 * Return: the functions; NULL if @device lacks signature pipelining, or if the administrator does
 * not want it.
 */
const struct cxib_signature_pipelining *cxib_find_signature_pipelining(struct ib_device *device)
{
	if (!sigpipe_is_supported(device))
		return NULL;
	return READ_ONCE(cxib_pipelining_is_offered) ? &cxib_signature_functions : NULL;
}
