/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dynamically connected transport (DC). Initiators (DCIs) are queue pairs
 * without a peer of their own: each request says which target it is for.
 * Targets (DCTs) receive by shared receive queues and have no queues of their
 * own; the device knows of one from its transition to RTR on.
 */
#ifndef CXIB_VERBS_QP_DC_H
#define CXIB_VERBS_QP_DC_H

#include "verbs/qp/qp.h"

/**
 * struct cxib_dct - what a target has instead of queues
 * @context: what the device is told of it
 * @exists: the device knows it, by the number of the queue pair
 * @draining: the device was told to end its connections
 * @drained: it has
 *
 * Protected by the queue pair's mutex.
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
int cxib_dct_destroy(struct cxib_qp *qp, const struct ib_udata *udata);

#endif
