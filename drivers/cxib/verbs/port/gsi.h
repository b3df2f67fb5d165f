/* SPDX-License-Identifier: GPL-2.0-only */
/* Management datagrams with any P_Key. */
#ifndef CXIB_VERBS_PORT_GSI_H
#define CXIB_VERBS_PORT_GSI_H

#include "verbs/qp/qp.h"

int cxib_gsi_create(struct cxib_qp *qp);
void cxib_gsi_stop(struct cxib_qp *qp);
void cxib_gsi_destroy(struct cxib_qp *qp);
void cxib_gsi_modify(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask);
bool cxib_gsi_recover_sqe(struct cxib_qp *qp);
bool cxib_gsi_defers_pkey_event(struct cxib_port *port);
int cxib_gsi_post_send(struct cxib_qp *qp, const struct ib_send_wr *wr,
		       const struct ib_send_wr **bad);

#endif
