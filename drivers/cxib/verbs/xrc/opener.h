/* SPDX-License-Identifier: GPL-2.0-only */
/* Handles of XRC_TGT QPs for registrations. */
#ifndef CXIB_VERBS_XRC_OPENER_H
#define CXIB_VERBS_XRC_OPENER_H

#include <rdma/ib_verbs.h>

/**
 * struct cxib_xrc_opener - the QP handle of a registration
 * @qp: handle that ib_open_qp() has returned; the QP exists until its last handle is destroyed
 * @qpn: QPN
 * @events: receives the events of the QP as unaffiliated events; protected by qp_open_list_lock
 */
struct cxib_xrc_opener {
	struct ib_qp *qp;
	u32 qpn;
	struct ib_event_handler *events;
};

/**
 * struct cxib_xrc_handles - numbers of handles of an XRC_TGT QP
 * @num_registrations: number of handles of registrations
 * @num_openers: number of the other handles, of processes that have created or opened the QP
 */
struct cxib_xrc_handles {
	u32 num_registrations;
	u32 num_openers;
};

int cxib_xrc_open(struct cxib_xrc_opener *opener, struct ib_xrcd *xrcd);
void cxib_xrc_set_events(struct cxib_xrc_opener *opener, struct ib_event_handler *events);
void cxib_xrc_close(struct cxib_xrc_opener *opener);
struct cxib_xrc_handles cxib_xrc_count_handles(struct ib_qp *qp);

#endif
