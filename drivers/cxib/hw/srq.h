/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SRQ commands: RMP (basic SRQ), XRC SRQ, XRQ (SRQ with tag matching). Errors
 * are those of cxib_cmd_exec() unless another is named; all functions sleep.
 */
#ifndef CXIB_HW_SRQ_H
#define CXIB_HW_SRQ_H

#include <linux/types.h>

struct cxib_buffer;
struct cxib_command_queue;

/**
 * struct cxib_srq_params - attributes of an SRQ
 * @uid: owner uid; 0: kernel, or shared by the user contexts of an XRC domain
 * @buffer: ring, a linked list of WQEs
 * @log_size: log2 of the number of WQEs
 * @log_stride: log2 of the bytes of a WQE
 * @pd: PDN of the mkeys in its WQEs
 * @dbr: DMA address of the doorbell record
 * @xrcd: XRCDN, for cxib_cmd_create_xrc_srq()
 * @cqn: CQN for receive completions, for cxib_cmd_create_xrc_srq() and
 *	cxib_cmd_create_xrq()
 * @user_index: user index in CQEs, for cxib_cmd_create_xrc_srq() and cxib_cmd_create_xrq()
 * @log_tm_list_size: log2 of the tag list, for cxib_cmd_create_xrq()
 * @rndv_offload: the device reads the data of a rendezvous, for
 *	cxib_cmd_create_xrq()
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
