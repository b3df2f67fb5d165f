// SPDX-License-Identifier: GPL-2.0-only
/* QP and multicast commands. */
#include <kunit/visibility.h>
#include <linux/device.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "hw/buffer.h"
#include "hw/command_interface.h"
#include "hw/command_queue.h"
#include "hw/commands_port.h"
#include "hw/commands_queue_pairs.h"
#include "hw/names.h"
#include "hw/qp.h"

#define LOG_PAGE_SIZE	(PAGE_SHIFT - CXIB_LOG_DEVICE_PAGE)

/**
 * cxib_cmd_create_qp() - CREATE_QP: creates a QP in state RST
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @context: QP context, without its pages
 * @buffer: RQ, then SQ
 * @qpn: output: QPN
 */
int cxib_cmd_create_qp(struct cxib_command_queue *queue, u16 uid, const struct hw_qpc *context,
		       const struct cxib_buffer *buffer, u32 *qpn)
{
	struct hw_create_qp_out out;
	struct hw_create_qp_in *in;
	struct cxib_command command = { .out = &out, .out_length = sizeof(out) };
	int err;

	in = cxib_command_alloc_in(&command, struct_size(in, pas, buffer->page_count));
	if (!in)
		return -ENOMEM;
	hw_create_qp_in_set_opcode(in, HW_CMD_CREATE_QP);
	hw_create_qp_in_set_uid(in, uid);
	*hw_create_qp_in_qpc(in) = *context;
	hw_qpc_set_log_page_size(hw_create_qp_in_qpc(in), LOG_PAGE_SIZE);
	hw_qpc_set_page_offset(hw_create_qp_in_qpc(in), buffer->offset / CXIB_BUFFER_ALIGNMENT);
	cxib_buffer_list(buffer, in->pas);
	err = cxib_cmd_exec(queue, &command);
	*qpn = hw_create_qp_out_get_qpn(&out);
	kvfree(in);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_create_qp);

/**
 * cxib_cmd_destroy_qp() - DESTROY_QP: destroys a QP
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @qpn: QPN
 */
int cxib_cmd_destroy_qp(struct cxib_command_queue *queue, u16 uid, u32 qpn)
{
	struct hw_destroy_qp_in in = {};
	struct hw_destroy_qp_out out;

	hw_destroy_qp_in_set_opcode(&in, HW_CMD_DESTROY_QP);
	hw_destroy_qp_in_set_uid(&in, uid);
	hw_destroy_qp_in_set_qpn(&in, qpn);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_destroy_qp);

/* Transitions with a context have the same input and output layout. */
static_assert(sizeof(struct hw_rst2init_qp_in) == sizeof(struct hw_init2init_qp_in));
static_assert(sizeof(struct hw_rst2init_qp_in) == sizeof(struct hw_init2rtr_qp_in));
static_assert(sizeof(struct hw_rst2init_qp_in) == sizeof(struct hw_rtr2rts_qp_in));
static_assert(sizeof(struct hw_rst2init_qp_in) == sizeof(struct hw_rts2rts_qp_in));
static_assert(sizeof(struct hw_rst2init_qp_in) == sizeof(struct hw_sqerr2rts_qp_in));
static_assert(sizeof(struct hw_rst2init_qp_in) == sizeof(struct hw_sqd2rts_qp_in));

/**
 * cxib_cmd_modify_qp() - RST2INIT_QP, INIT2RTR_QP, …: modifies a QP
 * @queue: command queue
 * @transition: the transition
 */
int cxib_cmd_modify_qp(struct cxib_command_queue *queue,
		       const struct cxib_qp_transition *transition)
{
	struct hw_rst2init_qp_in in = {};
	struct hw_rst2init_qp_out out;
	struct cxib_command command = {
		.in = &in, .in_length = sizeof(in), .out = &out, .out_length = sizeof(out),
		.no_log = transition->may_be_stopped,
	};
	int err;

	hw_rst2init_qp_in_set_opcode(&in, transition->opcode);
	hw_rst2init_qp_in_set_uid(&in, transition->uid);
	hw_rst2init_qp_in_set_qpn(&in, transition->qpn);
	hw_rst2init_qp_in_set_opt_param_mask(&in, transition->optional);
	*hw_rst2init_qp_in_qpc(&in) = transition->context;
	err = cxib_cmd_exec(queue, &command);
	if (command.no_log && command.status && command.status != HW_COMMAND_STATUS_BAD_QP_STATE)
		dev_err(queue->dev,
			"QP 0x%x: change of attributes failed: %s (status 0x%x), syndrome 0x%x\n",
			transition->qpn, hw_command_status_name(command.status), command.status,
			command.syndrome);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_modify_qp);

/**
 * cxib_cmd_2err_qp() - 2ERR_QP: moves a QP to ERR, which flushes its WQEs
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @qpn: QPN
 */
int cxib_cmd_2err_qp(struct cxib_command_queue *queue, u16 uid, u32 qpn)
{
	struct hw_qp_2err_in in = {};
	struct hw_qp_2err_out out;

	hw_qp_2err_in_set_opcode(&in, HW_CMD_2ERR_QP);
	hw_qp_2err_in_set_uid(&in, uid);
	hw_qp_2err_in_set_qpn(&in, qpn);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_2err_qp);

/**
 * cxib_cmd_2rst_qp() - 2RST_QP: moves a QP to RST, which discards its WQEs
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @qpn: QPN
 */
int cxib_cmd_2rst_qp(struct cxib_command_queue *queue, u16 uid, u32 qpn)
{
	struct hw_qp_2rst_in in = {};
	struct hw_qp_2rst_out out;

	hw_qp_2rst_in_set_opcode(&in, HW_CMD_2RST_QP);
	hw_qp_2rst_in_set_uid(&in, uid);
	hw_qp_2rst_in_set_qpn(&in, qpn);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_2rst_qp);

/**
 * cxib_cmd_query_qp() - QUERY_QP: reads the context of a QP
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @qpn: QPN
 * @context: output
 */
int cxib_cmd_query_qp(struct cxib_command_queue *queue, u16 uid, u32 qpn, struct hw_qpc *context)
{
	struct hw_query_qp_in in = {};
	/* The output omits the PAS list that follows the context. */
	struct hw_query_qp_out out;
	int err;

	hw_query_qp_in_set_opcode(&in, HW_CMD_QUERY_QP);
	hw_query_qp_in_set_uid(&in, uid);
	hw_query_qp_in_set_qpn(&in, qpn);
	err = cxib_cmd_exec_inout(queue, in, out);
	*context = *hw_query_qp_out_qpc(&out);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_qp);

/**
 * cxib_cmd_attach_to_mcg() - ATTACH_TO_MCG: attaches a QP to a multicast group
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @qpn: QPN
 * @gid: MGID
 */
int cxib_cmd_attach_to_mcg(struct cxib_command_queue *queue, u16 uid, u32 qpn, const u8 gid[16])
{
	struct hw_attach_to_mcg_in in = {};
	struct hw_attach_to_mcg_out out;

	hw_attach_to_mcg_in_set_opcode(&in, HW_CMD_ATTACH_TO_MCG);
	hw_attach_to_mcg_in_set_uid(&in, uid);
	hw_attach_to_mcg_in_set_qpn(&in, qpn);
	memcpy(hw_attach_to_mcg_in_multicast_gid(&in), gid, 16);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_attach_to_mcg);

/**
 * cxib_cmd_detach_from_mcg() - DETACH_FROM_MCG: undo cxib_cmd_attach_to_mcg()
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @qpn: QPN
 * @gid: MGID
 */
int cxib_cmd_detach_from_mcg(struct cxib_command_queue *queue, u16 uid, u32 qpn,
			     const u8 gid[16])
{
	struct hw_detach_from_mcg_in in = {};
	struct hw_detach_from_mcg_out out;

	hw_detach_from_mcg_in_set_opcode(&in, HW_CMD_DETACH_FROM_MCG);
	hw_detach_from_mcg_in_set_uid(&in, uid);
	hw_detach_from_mcg_in_set_qpn(&in, qpn);
	memcpy(hw_detach_from_mcg_in_multicast_gid(&in), gid, 16);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_detach_from_mcg);
