/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands about shared receive queues, which the device calls receive memory
 * pools, about those of XRC domains, and about those that match tags, which it
 * calls extended: one function for each, parameters in, results out. Errors are
 * those of cxib_cmd_exec() unless another is named; all of them sleep.
 */
#ifndef CXIB_HW_SRQ_H
#define CXIB_HW_SRQ_H

#include <linux/types.h>

struct cxib_buffer;
struct cxib_command_queue;

/**
 * struct cxib_srq_params - what a shared receive queue shall be like
 * @uid: user context that it belongs to; 0: the kernel's, or an XRC domain's
 * @buffer: its memory: requests that name the next one
 * @log_size: log2 of its requests
 * @log_stride: log2 of the bytes of one
 * @pd: protection domain of the memory that its requests name
 * @dbr: bus address of its doorbell record
 * @xrcd: XRC domain, for cxib_cmd_create_xrc_srq()
 * @cqn: completion queue for what it receives, for cxib_cmd_create_xrc_srq() and
 *	cxib_cmd_create_xrq()
 * @user_index: what its completions call it, for the same
 * @log_tm_list_size: log2 of its tags, for cxib_cmd_create_xrq()
 * @rndv_offload: the device reads what a message with a tag has announced,
 *	for cxib_cmd_create_xrq()
 */
struct cxib_srq_params {
	u16 uid;
	const struct cxib_buffer *buffer;
	unsigned int log_size;
	unsigned int log_stride;
	u32 pd;
	dma_addr_t dbr;
	u32 xrcd;
	u32 cqn;
	u32 user_index;
	unsigned int log_tm_list_size;
	bool rndv_offload;
};

int cxib_cmd_create_rmp(struct cxib_command_queue *queue,
			const struct cxib_srq_params *params, u32 *number);
int cxib_cmd_destroy_rmp(struct cxib_command_queue *queue, u16 uid, u32 number);
int cxib_cmd_arm_rmp(struct cxib_command_queue *queue, u16 uid, u32 number, u16 limit);
int cxib_cmd_query_rmp(struct cxib_command_queue *queue, u16 uid, u32 number, u16 *limit);

int cxib_cmd_create_xrc_srq(struct cxib_command_queue *queue,
			    const struct cxib_srq_params *params, u32 *number);
int cxib_cmd_destroy_xrc_srq(struct cxib_command_queue *queue, u16 uid, u32 number);
int cxib_cmd_arm_xrc_srq(struct cxib_command_queue *queue, u16 uid, u32 number, u16 limit);
int cxib_cmd_query_xrc_srq(struct cxib_command_queue *queue, u16 uid, u32 number, u16 *limit);

int cxib_cmd_create_xrq(struct cxib_command_queue *queue,
			const struct cxib_srq_params *params, u32 *number);
int cxib_cmd_destroy_xrq(struct cxib_command_queue *queue, u16 uid, u32 number);
int cxib_cmd_arm_xrq(struct cxib_command_queue *queue, u16 uid, u32 number, u16 limit);
int cxib_cmd_query_xrq(struct cxib_command_queue *queue, u16 uid, u32 number, u16 *limit);

#endif
