/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User context and umem commands. Errors are those of cxib_cmd_exec() unless
 * another is named; all functions sleep.
 *
 * A command with the uid of a user context can access only objects of that uid and shared objects.
 */
#ifndef CXIB_HW_UCTX_H
#define CXIB_HW_UCTX_H

#include <linux/types.h>

#include "hw/device_caps.h"

struct cxib_command_queue;

/* Uid of objects that the commands of all user contexts may name. */
#define CXIB_SHARED_UID	0xffff

/**
 * cxib_shared_uid() - returns the uid of kernel objects that the objects of user contexts refer to
 * @caps: device capabilities
 *
 * Return: %CXIB_SHARED_UID; 0 if the device has no user contexts.
 */
static inline u16 cxib_shared_uid(const struct cxib_device_caps *caps)
{
	return caps->log_max_uctx ? CXIB_SHARED_UID : 0;
}

/**
 * struct cxib_user_memory_params - attributes of a umem
 * @uid: owner uid
 * @pages: DMA addresses of the pages, with access bits
 * @page_count: number of pages
 * @log_page_size: log2 of the bytes of each page; 12 at least
 * @offset: offset of the first byte in the first page
 */
struct cxib_user_memory_params {
	u16 uid;
	const __be64 *pages;
	size_t page_count;
	unsigned int log_page_size;
	u32 offset;
};

/* Access bits: the lowest bits of a page's address. */
#define CXIB_PAGE_READ	BIT_ULL(0)
#define CXIB_PAGE_WRITE	BIT_ULL(1)

int cxib_cmd_create_uctx(struct cxib_command_queue *queue, u32 rights, u16 *uid);
int cxib_cmd_destroy_uctx(struct cxib_command_queue *queue, u16 uid);
int cxib_cmd_create_umem(struct cxib_command_queue *queue,
			 const struct cxib_user_memory_params *params, u32 *number);
int cxib_cmd_destroy_umem(struct cxib_command_queue *queue, u16 uid, u32 number);

#endif
