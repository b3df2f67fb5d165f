/* SPDX-License-Identifier: GPL-2.0-only */
/* MEMIC of user space. */
#ifndef CXIB_USER_DM_H
#define CXIB_USER_DM_H

#include "user/user.h"

struct ib_dm *cxib_alloc_dm(struct ib_device *ib, struct ib_ucontext *context,
			    struct ib_dm_alloc_attr *attr,
			    struct uverbs_attr_bundle *attrs);
void cxib_free_dm(struct cxib_dm *memory);
int cxib_dealloc_dm(struct ib_dm *ib, struct uverbs_attr_bundle *attrs);
struct ib_mr *cxib_reg_dm_mr(struct ib_pd *ib, struct ib_dm *dm, struct ib_dm_mr_attr *attr,
			     struct uverbs_attr_bundle *attrs);

extern const struct uapi_definition cxib_dm_definitions[];

#endif
