/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands about completion queues and queue pairs: one function for each,
 * parameters in, results out. Errors are those of cxib_cmd_exec() unless
 * another is named; all of them sleep.
 */
#ifndef CXIB_HW_QP_H
#define CXIB_HW_QP_H

#include <linux/types.h>

#include "hw/contexts.h"

struct cxib_buffer;
struct cxib_command_queue;

/**
 * struct cxib_cq_params - what a completion queue shall be like
 * @uid: user context that it belongs to; 0: the kernel's
 * @buffer: its memory, with entries that say that they are invalid
 * @log_size: log2 of its entries
 * @entry_size: how long they are
 * @compress: several completions in a row may share an entry
 * @format: what such a completion says, beside its length
 * @ignore_overrun: entries that were not taken may be overwritten
 * @uar: UAR page with its doorbell
 * @eqn: event queue that is told of completions
 * @dbr: bus address of its doorbell record
 */
struct cxib_cq_params {
	u16 uid;
	const struct cxib_buffer *buffer;
	unsigned int log_size;
	enum hw_cqe_size entry_size;
	bool compress;
	enum hw_mini_cqe_format format;
	bool ignore_overrun;
	u32 uar;
	u32 eqn;
	dma_addr_t dbr;
};

/**
 * struct cxib_qp_transition - a change of a queue pair's state or attributes
 * @uid: user context that the queue pair belongs to; 0: the kernel's
 * @opcode: the command, %HW_CMD_RST2INIT_QP and its like
 * @qpn: the queue pair
 * @optional: HW_QP_OPTIONAL_PARAMETERS_…: fields of @context that are changed
 *	beyond those that the transition always takes
 * @context: the fields
 */
struct cxib_qp_transition {
	u16 uid;
	u16 opcode;
	u32 qpn;
	u32 optional;
	struct hw_qpc context;
};

int cxib_cmd_create_cq(struct cxib_command_queue *queue, const struct cxib_cq_params *params,
		       u32 *cqn);
int cxib_cmd_destroy_cq(struct cxib_command_queue *queue, u16 uid, u32 cqn);
int cxib_cmd_modify_cq_moderation(struct cxib_command_queue *queue, u16 uid, u32 cqn, u16 count,
				  u16 microseconds);
int cxib_cmd_resize_cq(struct cxib_command_queue *queue, u32 cqn,
		       const struct cxib_cq_params *params, u8 *status);

int cxib_cmd_create_qp(struct cxib_command_queue *queue, u16 uid, const struct hw_qpc *context,
		       const struct cxib_buffer *buffer, u32 *qpn);
int cxib_cmd_destroy_qp(struct cxib_command_queue *queue, u16 uid, u32 qpn);
int cxib_cmd_modify_qp(struct cxib_command_queue *queue,
		       const struct cxib_qp_transition *transition);
int cxib_cmd_2err_qp(struct cxib_command_queue *queue, u16 uid, u32 qpn);
int cxib_cmd_2rst_qp(struct cxib_command_queue *queue, u16 uid, u32 qpn);
int cxib_cmd_query_qp(struct cxib_command_queue *queue, u16 uid, u32 qpn, struct hw_qpc *context);

int cxib_cmd_attach_to_mcg(struct cxib_command_queue *queue, u16 uid, u32 qpn, const u8 gid[16]);
int cxib_cmd_detach_from_mcg(struct cxib_command_queue *queue, u16 uid, u32 qpn,
			     const u8 gid[16]);

#endif
