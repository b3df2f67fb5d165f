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
#define CXIB_REGISTERS_OF_PAGE	2

/* That a context can come with, and that a program can add. */
#define CXIB_REGISTERS_MAX	512
#define CXIB_REGISTERS_ADDED	512

#define CXIB_PAGES_ADDED	(CXIB_REGISTERS_ADDED / CXIB_REGISTERS_OF_PAGE)
#define CXIB_PAGES_MAX		(CXIB_REGISTERS_MAX / CXIB_REGISTERS_OF_PAGE + CXIB_PAGES_ADDED)

/**
 * struct cxib_registers - the doorbells of a context
 * @count: registers that came with the context; whole pages
 * @exclusive: the last ones of these: each has one queue pair at most
 * @lock: protects the users and pages that are added
 * @users: by register: queue pairs that have it
 * @pages: of doorbells: those that came with the context, which stay until it
 *	goes, behind them those that were added; NULL if there is none
 */
struct cxib_registers {
	unsigned int count;
	unsigned int exclusive;
	struct mutex lock; /* see above */
	u32 users[CXIB_REGISTERS_MAX];
	struct rdma_user_mmap_entry *pages[CXIB_PAGES_MAX];
};

int cxib_registers_prepare(struct cxib_registers *registers, u32 count, u32 exclusive);
unsigned int cxib_register_take(struct cxib_registers *registers);
void cxib_register_put(struct cxib_registers *registers, unsigned int number);
u32 cxib_register_name(unsigned int number);

int cxib_registers_open(struct cxib_context *context, u32 count, u32 exclusive);
void cxib_registers_close(struct cxib_context *context);
struct rdma_user_mmap_entry *cxib_registers_page(const struct cxib_registers *registers,
						 unsigned long place);
struct rdma_user_mmap_entry *cxib_registers_added_page(struct cxib_context *context,
						       unsigned long place);
int cxib_registers_number_of_page(struct cxib_registers *registers, u32 added, u32 *page);

#endif
