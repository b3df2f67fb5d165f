/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What programs reach: their contexts and pages of doorbells. Requests,
 * responses and numbers are those of the in-tree driver's interface, so that
 * its user library works.
 */
#ifndef CXIB_USER_USER_H
#define CXIB_USER_USER_H

#include <rdma/uverbs_ioctl.h>

#include "verbs/verbs.h"

/**
 * struct cxib_context - a program's context
 * @ib: as the RDMA core sees it
 */
struct cxib_context {
	struct ib_ucontext ib;
};

/* context.c */
extern const struct ib_device_ops cxib_user_ops;

/* uar.c */
extern const struct uapi_definition cxib_user_definitions[];
int cxib_map_uar(struct ib_ucontext *ib, struct vm_area_struct *vma);
void cxib_free_uar(struct rdma_user_mmap_entry *entry);

#endif
