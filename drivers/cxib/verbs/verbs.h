/* SPDX-License-Identifier: GPL-2.0-only */
/* The RDMA device of an HCA and its objects, as all directories of verbs/ share them. */
#ifndef CXIB_VERBS_VERBS_H
#define CXIB_VERBS_VERBS_H

#include "verbs/ah.h"
#include "verbs/destroy.h"
#include "verbs/ibdev.h"
#include "verbs/orphans.h"
#include "verbs/mr/mr.h"
#include "verbs/pd.h"
#include "verbs/quarantine.h"
#include "verbs/queue.h"
#include "verbs/reference.h"

/* device.c */
extern struct attribute *cxib_attributes[];
struct cxib_ibdev *cxib_verbs_register(struct cxib_hw *hw,
				       const struct cxib_user_interface *user,
				       const struct ib_device_ops *ulp_ops,
				       const struct cxib_poll_interface *polling,
				       struct cxib_poll_policy *policy);
void cxib_verbs_unregister(struct cxib_ibdev *ibdev);
int cxib_fill_device_attr(struct ib_device *ib, struct ib_device_attr *attr,
			  struct ib_udata *udata);
int cxib_modify_device(struct ib_device *ib, int mask, struct ib_device_modify *change);
void cxib_get_dev_fw_str(struct ib_device *ib, char *text);

/* counters.c */
int cxib_counters_create(struct cxib_ibdev *ibdev);
void cxib_counters_destroy(struct cxib_ibdev *ibdev);
u8 cxib_port_q_counter(const struct cxib_ibdev *ibdev, u32 port);

/* write_combining.c */
bool cxib_wc_supported(struct cxib_ibdev *ibdev);

#endif
