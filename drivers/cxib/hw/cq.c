// SPDX-License-Identifier: GPL-2.0-only
/* CQ commands. */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "hw/buffer.h"
#include "hw/command_interface.h"
#include "hw/command_queue.h"
#include "hw/commands_events.h"
#include "hw/cq.h"

#define LOG_PAGE_SIZE	(PAGE_SHIFT - CXIB_LOG_DEVICE_PAGE)

/**
 * cxib_cmd_create_cq() - CREATE_CQ: creates a CQ, not armed
 * @queue: command queue
 * @params: attributes of the CQ
 * @cqn: output: CQN
 */
int cxib_cmd_create_cq(struct cxib_command_queue *queue, const struct cxib_cq_params *params,
		       u32 *cqn)
{
	struct hw_create_cq_out out;
	struct hw_create_cq_in *in;
	struct cxib_command command = { .out = &out, .out_length = sizeof(out) };
	struct hw_cqc *context;
	int err;

	in = cxib_command_alloc_in(&command, struct_size(in, pas, params->buffer->page_count));
	if (!in)
		return -ENOMEM;
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
 * cxib_cmd_destroy_cq() - DESTROY_CQ: destroys a CQ
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @cqn: CQN of a CQ that no QP refers to
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
 * cxib_cmd_modify_cq_moderation() - MODIFY_CQ: sets the event moderation of a CQ
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @cqn: CQN
 * @count: number of completions before an event
 * @microseconds: max time from the first of them to the event; at most 4095. If
 *	both are 0 or 1, each completion raises an event.
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
 * cxib_cmd_resize_cq() - MODIFY_CQ: switches a CQ to another ring
 * @queue: command queue
 * @cqn: CQN
 * @params: only @buffer, @log_size and @entry_size are used
 * @status: output: HW_COMMAND_STATUS_… of the command; 0 if it did not complete
 *
 * The last CQE in the old ring has the opcode RESIZE_CQ.
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
	in = cxib_command_alloc_in(&command, struct_size(in, pas, params->buffer->page_count));
	if (!in)
		return -ENOMEM;
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
