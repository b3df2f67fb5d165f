/* SPDX-License-Identifier: GPL-2.0-only */
/* What the entries of completion queues mean. */
#ifndef CXIB_VERBS_CQ_POLL_H
#define CXIB_VERBS_CQ_POLL_H

#include <rdma/ib_verbs.h>

#include "hw/completion.h"

struct cxib_qp;

enum ib_wc_status cxib_completion_status(u32 syndrome);
bool cxib_retire_send(struct cxib_qp *qp, u16 index, struct ib_wc *wc);
bool cxib_retire_receive(struct cxib_qp *qp, struct ib_wc *wc);
void cxib_decode_receive(const struct hw_cqe64 *entry, struct ib_wc *wc);

#endif
