// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks lists of send WRs for a QP with signature pipelining, which accepts a list only if its
 * responses can be cancelled.
 */
#include <kunit/visibility.h>

#include "verbs/qp/pipelining.h"
#include "verbs/signature/integrity.h"

/**
 * struct send_rule - state of cxib_qp_check_send_wrs()
 * @needs_response: a transfer was posted, and its response must follow
 * @is_signaled: a signaled transfer was posted, which the ULP checks at its completion
 */
struct send_rule {
	bool needs_response;
	bool is_signaled;
};

/*
 * Only WRITE and READ are accepted. A SEND, or a WRITE with immediate data, notifies the remote ULP
 * together with the data, so no response could be cancelled.
 */
static bool send_rule_is_transfer(const struct ib_send_wr *wr)
{
	return wr->opcode == IB_WR_RDMA_WRITE || wr->opcode == IB_WR_RDMA_READ;
}

static bool send_rule_has_integrity(const struct cxib_qp *qp, const struct ib_send_wr *wr)
{
	struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);
	int i;

	if (wr->send_flags & IB_SEND_INLINE)
		return false;
	for (i = 0; i < wr->num_sge; i++)
		if (wr->sg_list[i].length && cxib_is_sig_mkey(ibdev, wr->sg_list[i].lkey))
			return true;
	return false;
}

/* A WR that changes an mkey does not count as fenced, because its WQE has another fence. */
static bool send_rule_is_fenced(const struct ib_send_wr *wr)
{
	return wr->send_flags & IB_SEND_FENCE && wr->opcode != IB_WR_LOCAL_INV &&
	       wr->opcode != IB_WR_REG_MR && wr->opcode != IB_WR_REG_MR_INTEGRITY;
}

static bool send_rule_accepts(struct send_rule *rule, const struct cxib_qp *qp,
			      const struct ib_send_wr *wr)
{
	bool is_signaled = wr->send_flags & IB_SEND_SIGNALED;

	if (send_rule_is_fenced(wr)) {
		if (rule->is_signaled || (rule->needs_response && !is_signaled))
			return false;
		rule->needs_response = false;
	}
	/* The completion of this WR would retire the transfer before the response. */
	if (rule->needs_response && is_signaled)
		return false;
	if (!send_rule_has_integrity(qp, wr))
		return true;
	if (!send_rule_is_transfer(wr))
		return false;
	rule->is_signaled |= is_signaled;
	rule->needs_response |= !is_signaled;
	return true;
}

/**
 * cxib_qp_check_send_wrs() - whether the response of each transfer can be cancelled
 * @qp: QP with %CXIB_SIGNATURE_AUTOMATIC
 * @wr: list of send WRs
 *
 * Return: 0; -EINVAL if the list contains
 *	- a WR with an integrity MR that is neither an RDMA WRITE nor an RDMA READ,
 *	- an unsignaled transfer of an integrity MR that is not followed by a signaled response with
 *	  IB_SEND_FENCE, or that is followed by another signaled WR before the response,
 *	- a signaled transfer of an integrity MR that is followed by a WR with IB_SEND_FENCE: the
 *	  device may execute that WR before the ULP has checked the MR.
 */
int cxib_qp_check_send_wrs(const struct cxib_qp *qp, const struct ib_send_wr *wr)
{
	struct send_rule rule = {};

	for (; wr; wr = wr->next)
		if (!send_rule_accepts(&rule, qp, wr))
			return -EINVAL;
	return rule.needs_response ? -EINVAL : 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_qp_check_send_wrs);

/**
 * cxib_qp_transfers_failed_mr() - whether a WR has an integrity MR with a signature error
 * @qp: QP with signature pipelining; sq.lock is held, so that cxib_sq_cancel_response() finds the
 *	WR if the error is recorded later
 * @wr: send WR
 *
 * Context: any.
 */
bool cxib_qp_transfers_failed_mr(const struct cxib_qp *qp, const struct ib_send_wr *wr)
{
	int i;

	lockdep_assert_held(&qp->sq.lock);

	if (wr->send_flags & IB_SEND_INLINE)
		return false;
	for (i = 0; i < wr->num_sge; i++)
		if (wr->sg_list[i].length &&
		    cxib_sig_mkey_has_failed(to_ibdev(qp->ib.device), wr->sg_list[i].lkey))
			return true;
	return false;
}
