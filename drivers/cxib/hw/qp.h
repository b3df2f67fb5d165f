/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * QP and multicast commands. Errors are those of cxib_cmd_exec() unless another is
 * named; all functions sleep.
 */
#ifndef CXIB_HW_QP_H
#define CXIB_HW_QP_H

#include <linux/types.h>

#include "hw/contexts.h"

struct cxib_buffer;
struct cxib_command_queue;

/**
 * struct cxib_qp_transition - a modification of a QP
 * @uid: owner uid; 0: kernel
 * @opcode: %HW_CMD_RST2INIT_QP or another transition
 * @qpn: QPN
 * @optional: HW_QP_OPTIONAL_PARAMETERS_…: fields of @context to change beyond
 *	the required ones of the transition
 * @may_be_stopped: the device may have stopped the SQ meanwhile: that it refuses the command
 *	because of the state of the QP is not logged
 * @context: new values
 */
struct cxib_qp_transition {
	u16 uid;
	u16 opcode;
	u32 qpn;
	u32 optional;
	bool may_be_stopped;
	struct hw_qpc context;
};

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
