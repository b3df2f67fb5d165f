// SPDX-License-Identifier: GPL-2.0-only
/* Commands about completion queues and queue pairs. */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "hw/buffer.h"
#include "hw/command_interface.h"
#include "hw/command_queue.h"
#include "hw/commands_events.h"
#include "hw/commands_port.h"
#include "hw/commands_queue_pairs.h"
#include "hw/qp.h"

#define LOG_PAGE_SIZE	(PAGE_SHIFT - CXIB_LOG_DEVICE_PAGE)

/**
 * cxib_cmd_create_cq() - CREATE_CQ: a completion queue, not armed
 * @queue: command queue
 * @params: what it shall be like
 * @cqn: filled: its number
 */
int cxib_cmd_create_cq(struct cxib_command_queue *queue, const struct cxib_cq_params *params,
		       u32 *cqn)
{
	struct hw_create_cq_out out;
	struct hw_create_cq_in *in;
	struct cxib_command command = { .out = &out, .out_length = sizeof(out) };
	struct hw_cqc *context;
	int err;

	command.in_length = struct_size(in, pas, params->buffer->page_count);
	in = kvzalloc(command.in_length, GFP_KERNEL);
	if (!in)
		return -ENOMEM;
	command.in = in;
	hw_create_cq_in_set_opcode(in, HW_CMD_CREATE_CQ);
	hw_create_cq_in_set_uid(in, params->uid);
	context = hw_create_cq_in_cq_context(in);
	hw_cqc_set_cqe_sz(context, params->entry_size);
	hw_cqc_set_cqe_comp_en(context, params->compress);
	hw_cqc_set_mini_cqe_res_format(context, params->format);
	hw_cqc_set_oi(context, params->ignore_overrun);
	hw_cqc_set_log_cq_size(context, params->log_size);
	hw_cqc_set_uar_page(context, params->uar);
	hw_cqc_set_c_eqn_or_apu_element(context, params->eqn);
	hw_cqc_set_log_page_size(context, LOG_PAGE_SIZE);
	hw_cqc_set_page_offset(context, params->buffer->offset / CXIB_BUFFER_ALIGNMENT);
	hw_cqc_set_dbr_addr(context, params->dbr);
	cxib_buffer_list(params->buffer, in->pas);
	err = cxib_cmd_exec(queue, &command);
	*cqn = hw_create_cq_out_get_cqn(&out);
	kvfree(in);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_create_cq);

/**
 * cxib_cmd_destroy_cq() - DESTROY_CQ: the device does not use it any more
 * @queue: command queue
 * @uid: user context that it belongs to; 0: the kernel's
 * @cqn: number of a completion queue that no queue pair refers to
 */
int cxib_cmd_destroy_cq(struct cxib_command_queue *queue, u16 uid, u32 cqn)
{
	struct hw_destroy_cq_in in = {};
	struct hw_destroy_cq_out out;

	hw_destroy_cq_in_set_opcode(&in, HW_CMD_DESTROY_CQ);
	hw_destroy_cq_in_set_uid(&in, uid);
	hw_destroy_cq_in_set_cqn(&in, cqn);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_destroy_cq);

/**
 * cxib_cmd_modify_cq_moderation() - MODIFY_CQ: when a completion queue reports an event
 * @queue: command queue
 * @uid: user context that it belongs to; 0: the kernel's
 * @cqn: its number
 * @count: after this many completions
 * @microseconds: or this time after the first one; at most 4095. When both
 *	are 0 or 1, every completion is reported.
 */
int cxib_cmd_modify_cq_moderation(struct cxib_command_queue *queue, u16 uid, u32 cqn, u16 count,
				  u16 microseconds)
{
	struct hw_modify_cq_in in = {};
	struct hw_modify_cq_out out;
	struct hw_modify_field_select *select =
		hw_modify_cq_in_modify_field_select_resize_field_select_modify_field_select(&in);

	hw_modify_cq_in_set_opcode(&in, HW_CMD_MODIFY_CQ);
	hw_modify_cq_in_set_uid(&in, uid);
	hw_modify_cq_in_set_op_mod(&in, HW_MODIFY_CQ_OP_MOD_MODIFY_CQ);
	hw_modify_cq_in_set_cqn(&in, cqn);
	hw_modify_field_select_set_modify_field_select(select,
						       HW_CQ_MODIFY_FIELD_SELECT_CQ_PERIOD |
						       HW_CQ_MODIFY_FIELD_SELECT_CQ_MAX_COUNT);
	hw_cqc_set_cq_period(hw_modify_cq_in_cq_context(&in), microseconds);
	hw_cqc_set_cq_max_count(hw_modify_cq_in_cq_context(&in), count);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_modify_cq_moderation);

/**
 * cxib_cmd_resize_cq() - MODIFY_CQ: entries go to another buffer from now on
 * @queue: command queue
 * @cqn: number of the completion queue
 * @params: @buffer, @log_size and @entry_size count
 * @status: filled: HW_COMMAND_STATUS_… of the answer; 0 without one
 *
 * The last entry in the old buffer says so: it is of the kind RESIZE_CQ.
 */
int cxib_cmd_resize_cq(struct cxib_command_queue *queue, u32 cqn,
		       const struct cxib_cq_params *params, u8 *status)
{
	struct hw_modify_cq_out out;
	struct hw_modify_cq_in *in;
	struct cxib_command command = { .out = &out, .out_length = sizeof(out) };
	struct hw_resize_field_select *select;
	struct hw_cqc *context;
	int err;

	*status = HW_COMMAND_STATUS_OK;
	command.in_length = struct_size(in, pas, params->buffer->page_count);
	in = kvzalloc(command.in_length, GFP_KERNEL);
	if (!in)
		return -ENOMEM;
	command.in = in;
	hw_modify_cq_in_set_opcode(in, HW_CMD_MODIFY_CQ);
	hw_modify_cq_in_set_uid(in, params->uid);
	hw_modify_cq_in_set_op_mod(in, HW_MODIFY_CQ_OP_MOD_RESIZE_CQ);
	hw_modify_cq_in_set_cqn(in, cqn);
	select = hw_modify_cq_in_modify_field_select_resize_field_select_resize_field_select(in);
	hw_resize_field_select_set_resize_field_select(select,
						       HW_CQ_RESIZE_FIELD_SELECT_LOG_CQ_SIZE |
						       HW_CQ_RESIZE_FIELD_SELECT_PAGE_OFFSET |
						       HW_CQ_RESIZE_FIELD_SELECT_LOG_PAGE_SIZE);
	context = hw_modify_cq_in_cq_context(in);
	hw_cqc_set_cqe_sz(context, params->entry_size);
	hw_cqc_set_log_cq_size(context, params->log_size);
	hw_cqc_set_log_page_size(context, LOG_PAGE_SIZE);
	hw_cqc_set_page_offset(context, params->buffer->offset / CXIB_BUFFER_ALIGNMENT);
	cxib_buffer_list(params->buffer, in->pas);
	err = cxib_cmd_exec(queue, &command);
	*status = command.status;
	kvfree(in);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_resize_cq);

/**
 * cxib_cmd_create_qp() - CREATE_QP: a queue pair in the state RST
 * @queue: command queue
 * @uid: user context that it belongs to; 0: the kernel's
 * @context: what it shall be like, except for its memory
 * @buffer: its memory: receive queue, then send queue
 * @qpn: filled: its number
 */
int cxib_cmd_create_qp(struct cxib_command_queue *queue, u16 uid, const struct hw_qpc *context,
		       const struct cxib_buffer *buffer, u32 *qpn)
{
	struct hw_create_qp_out out;
	struct hw_create_qp_in *in;
	struct cxib_command command = { .out = &out, .out_length = sizeof(out) };
	int err;

	command.in_length = struct_size(in, pas, buffer->page_count);
	in = kvzalloc(command.in_length, GFP_KERNEL);
	if (!in)
		return -ENOMEM;
	command.in = in;
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
 * cxib_cmd_destroy_qp() - DESTROY_QP: the device does not use it any more
 * @queue: command queue
 * @uid: user context that it belongs to; 0: the kernel's
 * @qpn: number of the queue pair
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

/* The commands that carry a context have inputs and outputs of the same layout. */
static_assert(sizeof(struct hw_rst2init_qp_in) == sizeof(struct hw_init2init_qp_in));
static_assert(sizeof(struct hw_rst2init_qp_in) == sizeof(struct hw_init2rtr_qp_in));
static_assert(sizeof(struct hw_rst2init_qp_in) == sizeof(struct hw_rtr2rts_qp_in));
static_assert(sizeof(struct hw_rst2init_qp_in) == sizeof(struct hw_rts2rts_qp_in));
static_assert(sizeof(struct hw_rst2init_qp_in) == sizeof(struct hw_sqerr2rts_qp_in));
static_assert(sizeof(struct hw_rst2init_qp_in) == sizeof(struct hw_sqd2rts_qp_in));

/**
 * cxib_cmd_modify_qp() - RST2INIT_QP, INIT2RTR_QP, …: changes a queue pair
 * @queue: command queue
 * @transition: what is changed
 */
int cxib_cmd_modify_qp(struct cxib_command_queue *queue,
		       const struct cxib_qp_transition *transition)
{
	struct hw_rst2init_qp_in in = {};
	struct hw_rst2init_qp_out out;

	hw_rst2init_qp_in_set_opcode(&in, transition->opcode);
	hw_rst2init_qp_in_set_uid(&in, transition->uid);
	hw_rst2init_qp_in_set_qpn(&in, transition->qpn);
	hw_rst2init_qp_in_set_opt_param_mask(&in, transition->optional);
	*hw_rst2init_qp_in_qpc(&in) = transition->context;
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_modify_qp);

/**
 * cxib_cmd_2err_qp() - 2ERR_QP: all its requests are flushed
 * @queue: command queue
 * @uid: user context that it belongs to; 0: the kernel's
 * @qpn: number of the queue pair
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
 * cxib_cmd_2rst_qp() - 2RST_QP: all its requests are forgotten
 * @queue: command queue
 * @uid: user context that it belongs to; 0: the kernel's
 * @qpn: number of the queue pair
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
 * cxib_cmd_query_qp() - QUERY_QP: the context of a queue pair
 * @queue: command queue
 * @uid: user context that it belongs to; 0: the kernel's
 * @qpn: number of the queue pair
 * @context: filled
 */
int cxib_cmd_query_qp(struct cxib_command_queue *queue, u16 uid, u32 qpn, struct hw_qpc *context)
{
	struct hw_query_qp_in in = {};
	/* The list of pages behind the context is cut off. */
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
 * cxib_cmd_attach_to_mcg() - ATTACH_TO_MCG: the group's packets come to a queue pair
 * @queue: command queue
 * @uid: user context that it belongs to; 0: the kernel's
 * @qpn: number of the queue pair
 * @gid: GID of the group
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
 * cxib_cmd_detach_from_mcg() - DETACH_FROM_MCG: the reverse
 * @queue: command queue
 * @uid: user context that it belongs to; 0: the kernel's
 * @qpn: number of the queue pair
 * @gid: GID of the group
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
