/* SPDX-License-Identifier: GPL-2.0-only */
/* Mkeys: functions that PDs, MRs, MWs and integrity MRs share. */
#ifndef CXIB_VERBS_MKEY_H
#define CXIB_VERBS_MKEY_H

#include <linux/types.h>

#include "verbs/orphans.h"

struct cxib_hw;
struct cxib_ibdev;
struct cxib_mkey_params;
struct cxib_mr;
struct ib_pd;
struct ib_udata;

u8 cxib_next_mkey_variant(struct cxib_ibdev *ibdev);
void cxib_mkey_relax_ordering(const struct cxib_hw *hw, struct cxib_mkey_params *params);
void cxib_mkey_set_access(const struct cxib_hw *hw, struct cxib_mkey_params *params, int access);
struct cxib_destroy cxib_mkey_destroy(u32 key);
void cxib_discard_mkey(struct ib_pd *pd, u32 key);
int cxib_mr_destroy_mkey(struct cxib_mr *mr, struct ib_udata *udata, struct cxib_pinned *pinned);
int cxib_create_mkey(struct cxib_mr *mr, struct ib_pd *pd, struct cxib_mkey_params *params);
int cxib_mr_create_mkey(struct cxib_mr *mr, struct ib_pd *pd, struct cxib_mkey_params *params);

#endif
