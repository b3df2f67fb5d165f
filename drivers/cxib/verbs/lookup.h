/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds objects by the numbers that the device reports. Each look-up takes a reference. */
#ifndef CXIB_VERBS_LOOKUP_H
#define CXIB_VERBS_LOOKUP_H

#include <linux/types.h>

struct cxib_ibdev;
struct cxib_qp;
struct cxib_srq;

struct cxib_qp *cxib_get_qp(struct cxib_ibdev *ibdev, u32 qpn);
struct cxib_srq *cxib_get_srq(struct cxib_ibdev *ibdev, u32 srqn);

#endif
