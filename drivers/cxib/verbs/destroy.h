/* SPDX-License-Identifier: GPL-2.0-only */
/* The end of an object: what the result of its destroy command means. */
#ifndef CXIB_VERBS_DESTROY_H
#define CXIB_VERBS_DESTROY_H

struct cxib_ibdev;
struct ib_udata;

int cxib_finish_destroy(struct cxib_ibdev *ibdev, const struct ib_udata *udata, int err);

#endif
