/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MEMIC commands. Errors are those of cxib_cmd_exec(); all functions sleep.
 * Addresses are offsets in BAR 0.
 */
#ifndef CXIB_HW_MEMIC_H
#define CXIB_HW_MEMIC_H

#include <linux/types.h>

struct cxib_command_queue;

/*
 * An alignment n in a command or capability means 2^(n + 6) bytes. Each allocation is aligned to
 * 2^6 bytes.
 */
#define CXIB_MEMIC_LOG_UNIT	6U

/**
 * struct cxib_memic_params - attributes of a MEMIC allocation
 * @start: first allowed address, page-aligned
 * @range: bytes from @start that the allocation must be within
 * @length: length, bytes
 * @log_alignment: log2 of its alignment, bytes
 */
struct cxib_memic_params {
	u64 start;
	u32 range;
	u32 length;
	unsigned int log_alignment;
};

int cxib_cmd_alloc_memic(struct cxib_command_queue *queue,
			 const struct cxib_memic_params *params, u64 *address);
int cxib_cmd_dealloc_memic(struct cxib_command_queue *queue, u64 address, u32 length);
int cxib_cmd_alloc_memic_op(struct cxib_command_queue *queue, u64 address, u8 operation,
			    u64 *operation_address);
int cxib_cmd_dealloc_memic_op(struct cxib_command_queue *queue, u64 address, u8 operation);

#endif
