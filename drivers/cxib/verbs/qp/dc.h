/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dynamically connected transport (DC). A DC initiator (DCI) is a QP without a fixed peer: each WQE
 * names the DCT to which it sends. A DC target (DCT) receives through an SRQ and has no work
 * queues. The driver creates it in the device at the transition to RTR.
 */
#ifndef CXIB_VERBS_QP_DC_H
#define CXIB_VERBS_QP_DC_H

#include "verbs/qp/qp.h"

/**
 * struct cxib_dct - state of a DCT
 * @context: DC context, as modified so far
 * @exists: the DCT exists in the device, with the number qpn of the QP
 * @draining: DRAIN_DCT has succeeded
 * @drained: completed by the DCT_DRAINED event
 *
 * Protected by the mutex of the QP.
 */
struct cxib_dct {
	struct hw_dctc context;
	bool exists;
	bool draining;
	struct completion drained;
};

bool cxib_dc_modify_is_ok(const struct cxib_qp *qp, enum ib_qp_state from, enum ib_qp_state to,
			  int mask);
int cxib_dct_create(struct cxib_qp *qp, u64 access_key, u32 user_index);
int cxib_dct_change(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask);
void cxib_dct_take_back(struct cxib_qp *qp);
int cxib_dct_query(struct cxib_qp *qp, struct ib_qp_attr *attr);
int cxib_dct_destroy(struct cxib_qp *qp, struct ib_udata *udata);

#endif
