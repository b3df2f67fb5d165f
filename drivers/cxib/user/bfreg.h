/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BlueFlame registers (bfregs) of user contexts without dynamic UARs: static
 * UARs are allocated with the context and mapped by index, and the driver
 * assigns a bfreg on them to each QP.
 */
#ifndef CXIB_USER_BFREG_H
#define CXIB_USER_BFREG_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "user/user.h"

/* Number of bfregs per UAR page that libmlx5 counts in requests and uses for QPs. */
#define CXIB_BFREGS_PER_UAR	2

/* Limits per context: bfregs on static UARs and on dynamic UARs, 256 UAR pages each. */
#define CXIB_BFREGS_MAX	512
#define CXIB_BFREGS_DYN	512

#define CXIB_PAGES_ADDED	(CXIB_BFREGS_DYN / CXIB_BFREGS_PER_UAR)
#define CXIB_PAGES_MAX		(CXIB_BFREGS_MAX / CXIB_BFREGS_PER_UAR + CXIB_PAGES_ADDED)

/**
 * struct cxib_bfregs - bfregs of a user context
 * @count: bfregs on static UARs; a multiple of %CXIB_BFREGS_PER_UAR
 * @num_low_latency: number of bfregs at the end of the static UARs that have at most one QP each
 * @lock: protects @qp_count and the dynamic part of @uars
 * @qp_count: number of QPs by bfreg
 * @uars: first the static UARs, constant while the context exists, then the dynamic UARs; an entry
 *	is NULL until its UAR is allocated
 */
struct cxib_bfregs {
	unsigned int count;
	unsigned int num_low_latency;
	struct mutex lock; /* qp_count, dynamic uars */
	u32 qp_count[CXIB_BFREGS_MAX];
	struct rdma_user_mmap_entry *uars[CXIB_PAGES_MAX];
};

int cxib_bfregs_init(struct cxib_bfregs *bfregs, u32 count, u32 num_low_latency);
unsigned int cxib_bfreg_alloc(struct cxib_bfregs *bfregs);
void cxib_bfreg_free(struct cxib_bfregs *bfregs, unsigned int number);
u32 cxib_bfreg_index(unsigned int number);

int cxib_bfregs_create(struct cxib_ucontext *context, u32 count, u32 num_low_latency);
void cxib_bfregs_destroy(struct cxib_ucontext *context);
struct rdma_user_mmap_entry *cxib_bfregs_uar(const struct cxib_bfregs *bfregs,
					     unsigned long place);
struct rdma_user_mmap_entry *cxib_bfregs_dyn_uar(struct cxib_ucontext *context,
						 unsigned long place);
int cxib_bfregs_dyn_uar_index(struct cxib_bfregs *bfregs, u32 added, u32 *page);

#endif
