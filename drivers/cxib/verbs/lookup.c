// SPDX-License-Identifier: GPL-2.0-only
/* Finds objects by the numbers that the device reports. Each look-up takes a reference. */

#include "verbs/lookup.h"
#include "verbs/qp/qp.h"
#include "verbs/srq/srq.h"

/**
 * cxib_get_qp() - look up a QP by its QPN
 * @ibdev: RDMA device
 * @qpn: QPN, unchecked
 *
 * Context: any.
 * Return: the QP with a reference, to be dropped by cxib_reference_put(); NULL if there
 * is none.
 */
struct cxib_qp *cxib_get_qp(struct cxib_ibdev *ibdev, u32 qpn)
{
	struct cxib_qp *qp;
	unsigned long flags;

	xa_lock_irqsave(&ibdev->qps, flags);
	qp = xa_load(&ibdev->qps, qpn);
	if (qp)
		refcount_inc(&qp->reference.count);
	xa_unlock_irqrestore(&ibdev->qps, flags);
	return qp;
}

/**
 * cxib_get_srq() - look up an SRQ by its SRQN
 * @ibdev: RDMA device
 * @srqn: SRQN, unchecked
 *
 * Context: any.
 * Return: the SRQ with a reference, to be dropped by cxib_reference_put(); NULL if there
 * is none.
 */
struct cxib_srq *cxib_get_srq(struct cxib_ibdev *ibdev, u32 srqn)
{
	struct cxib_srq *srq;
	unsigned long flags;

	xa_lock_irqsave(&ibdev->srqs, flags);
	srq = xa_load(&ibdev->srqs, srqn);
	if (srq)
		refcount_inc(&srq->reference.count);
	xa_unlock_irqrestore(&ibdev->srqs, flags);
	return srq;
}
