// SPDX-License-Identifier: GPL-2.0-only
/* MEMIC commands. */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/minmax.h>

#include "hw/command_queue.h"
#include "hw/commands_memory.h"
#include "hw/memic.h"

/**
 * cxib_cmd_alloc_memic() - ALLOC_MEMIC: allocates MEMIC
 * @queue: command queue
 * @params: attributes of the allocation
 * @address: output: offset in BAR 0
 *
 * Return: -EAGAIN when the range has no space.
 */
int cxib_cmd_alloc_memic(struct cxib_command_queue *queue,
			 const struct cxib_memic_params *params, u64 *address)
{
	const unsigned int log_alignment = max(params->log_alignment, CXIB_MEMIC_LOG_UNIT);
	struct hw_alloc_memic_in in = {};
	struct hw_alloc_memic_out out;
	struct cxib_command command = {
		.in = &in, .in_length = sizeof(in), .out = &out, .out_length = sizeof(out),
		/* The range may be full, which is no error to log. */
		.no_log = true,
	};
	int err;

	hw_alloc_memic_in_set_opcode(&in, HW_CMD_ALLOC_MEMIC);
	hw_alloc_memic_in_set_log_memic_addr_alignment(&in,
						       log_alignment - CXIB_MEMIC_LOG_UNIT);
	hw_alloc_memic_in_set_range_start_addr(&in, params->start);
	hw_alloc_memic_in_set_range_size(&in, params->range);
	hw_alloc_memic_in_set_memic_size(&in, params->length);
	err = cxib_cmd_exec(queue, &command);
	*address = hw_alloc_memic_out_get_memic_start_addr(&out);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_alloc_memic);

/**
 * cxib_cmd_dealloc_memic() - DEALLOC_MEMIC: undo cxib_cmd_alloc_memic()
 * @queue: command queue
 * @address: offset in BAR 0
 * @length: length of the allocation, bytes
 */
int cxib_cmd_dealloc_memic(struct cxib_command_queue *queue, u64 address, u32 length)
{
	struct hw_dealloc_memic_in in = {};
	struct hw_dealloc_memic_out out;

	hw_dealloc_memic_in_set_opcode(&in, HW_CMD_DEALLOC_MEMIC);
	hw_dealloc_memic_in_set_memic_start_addr(&in, address);
	hw_dealloc_memic_in_set_memic_size(&in, length);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_dealloc_memic);

static int memic_modify(struct cxib_command_queue *queue, enum hw_modify_memic_op_mod op_mod,
			u64 address, u8 operation, struct hw_modify_memic_out *out)
{
	struct hw_modify_memic_in in = {};

	hw_modify_memic_in_set_opcode(&in, HW_CMD_MODIFY_MEMIC);
	hw_modify_memic_in_set_op_mod(&in, op_mod);
	hw_modify_memic_in_set_memic_operation_type(&in, operation);
	hw_modify_memic_in_set_memic_start_addr(&in, address);
	return cxib_cmd_exec_inout(queue, in, *out);
}

/**
 * cxib_cmd_alloc_memic_op() - MODIFY_MEMIC: allocates the address of a memic operation
 * @queue: command queue
 * @address: MEMIC allocation, offset in BAR 0
 * @operation: enum hw_memic_operation_type
 * @operation_address: output: offset in BAR 0; accesses there execute the
 *	operation
 */
int cxib_cmd_alloc_memic_op(struct cxib_command_queue *queue, u64 address, u8 operation,
			    u64 *operation_address)
{
	struct hw_modify_memic_out out;
	int err = memic_modify(queue, HW_MODIFY_MEMIC_OP_MOD_ALLOC, address, operation, &out);

	*operation_address = hw_modify_memic_out_get_memic_operation_addr(&out);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_alloc_memic_op);

/**
 * cxib_cmd_dealloc_memic_op() - MODIFY_MEMIC: undo cxib_cmd_alloc_memic_op()
 * @queue: command queue
 * @address: MEMIC allocation, offset in BAR 0
 * @operation: enum hw_memic_operation_type
 */
int cxib_cmd_dealloc_memic_op(struct cxib_command_queue *queue, u64 address, u8 operation)
{
	struct hw_modify_memic_out out;

	return memic_modify(queue, HW_MODIFY_MEMIC_OP_MOD_DEALLOC, address, operation, &out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_dealloc_memic_op);
