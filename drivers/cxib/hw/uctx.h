/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands about user contexts and the memory that is registered for them: one
 * function for each, parameters in, results out. Errors are those of
 * cxib_cmd_exec() unless another is named; all of them sleep.
 *
 * A command in the name of a user context reaches objects of the same context,
 * and none of another one.
 */
#ifndef CXIB_HW_UCTX_H
#define CXIB_HW_UCTX_H

#include <linux/types.h>

struct cxib_command_queue;

/**
 * struct cxib_user_memory_params - memory that commands of a user context name
 * @uid: the user context
 * @pages: bus addresses of its pages, with the access that each one allows
 * @page_count: their number
 * @log_page_size: log2 of the bytes of each; 12 at least
 * @offset: where in the first page it begins
 */
struct cxib_user_memory_params {
	u16 uid;
	const __be64 *pages;
	size_t page_count;
	unsigned int log_page_size;
	u32 offset;
};

/* The lowest bits of the address of a page say what may be done with it. */
#define CXIB_PAGE_READ	BIT_ULL(0)
#define CXIB_PAGE_WRITE	BIT_ULL(1)

int cxib_cmd_create_uctx(struct cxib_command_queue *queue, u32 rights, u16 *uid);
int cxib_cmd_destroy_uctx(struct cxib_command_queue *queue, u16 uid);
int cxib_cmd_create_umem(struct cxib_command_queue *queue,
			 const struct cxib_user_memory_params *params, u32 *number);
int cxib_cmd_destroy_umem(struct cxib_command_queue *queue, u16 uid, u32 number);

#endif
