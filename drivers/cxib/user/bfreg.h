/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Doorbells of libraries that do not allocate pages of them: some pages come
 * with a context and are mapped by their place, and the driver says which
 * register on them a queue pair has.
 */
#ifndef CXIB_USER_BFREG_H
#define CXIB_USER_BFREG_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "user/user.h"

/* What the library counts on each page, for what it asks for and is given. */
#define CXIB_BFREGS_PER_UAR	2

/* That a context can come with, and that a program can add. */
#define CXIB_BFREGS_MAX	512
#define CXIB_BFREGS_DYN	512

#define CXIB_PAGES_ADDED	(CXIB_BFREGS_DYN / CXIB_BFREGS_PER_UAR)
#define CXIB_PAGES_MAX		(CXIB_BFREGS_MAX / CXIB_BFREGS_PER_UAR + CXIB_PAGES_ADDED)

/**
 * struct cxib_bfregs - the doorbells of a context
 * @count: registers that came with the context; whole pages
 * @num_low_latency: the last ones of these: each has one queue pair at most
 * @lock: protects the users and pages that are added
 * @qp_count: by register: queue pairs that have it
 * @uars: of doorbells: those that came with the context, which stay until it
 *	goes, behind them those that were added; NULL if there is none
 */
struct cxib_bfregs {
	unsigned int count;
	unsigned int num_low_latency;
	struct mutex lock; /* see above */
	u32 qp_count[CXIB_BFREGS_MAX];
	struct rdma_user_mmap_entry *uars[CXIB_PAGES_MAX];
};

int cxib_bfregs_init(struct cxib_bfregs *registers, u32 count, u32 exclusive);
unsigned int cxib_bfreg_alloc(struct cxib_bfregs *registers);
void cxib_bfreg_free(struct cxib_bfregs *registers, unsigned int number);
u32 cxib_bfreg_index(unsigned int number);

int cxib_bfregs_create(struct cxib_ucontext *context, u32 count, u32 exclusive);
void cxib_bfregs_destroy(struct cxib_ucontext *context);
struct rdma_user_mmap_entry *cxib_bfregs_uar(const struct cxib_bfregs *registers,
					     unsigned long place);
struct rdma_user_mmap_entry *cxib_bfregs_dyn_uar(struct cxib_ucontext *context,
						 unsigned long place);
int cxib_bfregs_dyn_uar_index(struct cxib_bfregs *registers, u32 added, u32 *page);

#endif
