/* SPDX-License-Identifier: GPL-2.0-only */
/* GSI: sending MADs with any P_Key of the port. */
#ifndef CXIB_VERBS_PORT_GSI_H
#define CXIB_VERBS_PORT_GSI_H

#include "verbs/qp/qp.h"

/**
 * struct cxib_gsi - per-P_Key GSI send QPs of a port
 * @qp: the GSI QP
 * @port: its port
 * @pkey_work: creates QPs for new P_Keys, then dispatches IB_EVENT_PKEY_CHANGE
 * @mutex: serializes changes; protects the fields below
 * @can_tx: the GSI QP is in RTS, so the send QPs must exist
 * @lock: writers of the fields below hold @mutex and @lock, readers hold one of them. Taken in any
 *	context.
 * @pkey_index: P_Key index of @qp itself
 * @count: number of P_Key indices of the port; constant
 * @tx_qps: send QP of each P_Key index, or NULL
 */
struct cxib_gsi {
	struct cxib_qp *qp;
	struct cxib_port *port;
	struct work_struct pkey_work;
	struct mutex mutex; /* writers of the fields below */
	bool can_tx;
	spinlock_t lock; /* tx_qps and pkey_index while posting */
	u16 pkey_index;
	unsigned int count;
	struct cxib_qp *tx_qps[];
};

int cxib_gsi_create(struct cxib_qp *qp);
void cxib_gsi_stop(struct cxib_qp *qp);
void cxib_gsi_destroy(struct cxib_qp *qp);
void cxib_gsi_modify(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask);
bool cxib_gsi_recover_sqe(struct cxib_qp *qp);
bool cxib_gsi_defers_pkey_event(struct cxib_port *port);

#endif
