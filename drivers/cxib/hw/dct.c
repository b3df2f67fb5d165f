// SPDX-License-Identifier: GPL-2.0-only
/* DCT commands. */
#include <kunit/visibility.h>
#include <linux/export.h>

#include "hw/command_queue.h"
#include "hw/commands_queue_pairs.h"
#include "hw/dct.h"

/**
 * cxib_cmd_create_dct() - CREATE_DCT: creates a DCT
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @context: DCT context
 * @dctn: output: DCTN, from the number space of QPNs
 */
int cxib_cmd_create_dct(struct cxib_command_queue *queue, u16 uid, const struct hw_dctc *context,
			u32 *dctn)
{
	struct hw_create_dct_in in = {};
	struct hw_create_dct_out out;
	int err;

	hw_create_dct_in_set_opcode(&in, HW_CMD_CREATE_DCT);
	hw_create_dct_in_set_uid(&in, uid);
	*hw_create_dct_in_dct_context_entry(&in) = *context;
	err = cxib_cmd_exec_inout(queue, in, out);
	*dctn = hw_create_dct_out_get_dctn(&out);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_create_dct);

/**
 * cxib_cmd_drain_dct() - DRAIN_DCT: closes connections and accepts no new ones
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @dctn: DCTN
 *
 * An event %HW_EVENT_TYPE_DCT_DRAINED reports the end of the drain.
 */
int cxib_cmd_drain_dct(struct cxib_command_queue *queue, u16 uid, u32 dctn)
{
	struct hw_drain_dct_in in = {};
	struct hw_drain_dct_out out;

	hw_drain_dct_in_set_opcode(&in, HW_CMD_DRAIN_DCT);
	hw_drain_dct_in_set_uid(&in, uid);
	hw_drain_dct_in_set_dctn(&in, dctn);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_drain_dct);

/**
 * cxib_cmd_destroy_dct() - DESTROY_DCT: destroys a DCT
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @dctn: DCTN of a drained DCT
 */
int cxib_cmd_destroy_dct(struct cxib_command_queue *queue, u16 uid, u32 dctn)
{
	struct hw_destroy_dct_in in = {};
	struct hw_destroy_dct_out out;

	hw_destroy_dct_in_set_opcode(&in, HW_CMD_DESTROY_DCT);
	hw_destroy_dct_in_set_uid(&in, uid);
	hw_destroy_dct_in_set_dctn(&in, dctn);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_destroy_dct);

/**
 * cxib_cmd_query_dct() - QUERY_DCT: reads the context of a DCT
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @dctn: DCTN
 * @context: output
 */
int cxib_cmd_query_dct(struct cxib_command_queue *queue, u16 uid, u32 dctn, struct hw_dctc *context)
{
	struct hw_query_dct_in in = {};
	struct hw_query_dct_out out;
	int err;

	hw_query_dct_in_set_opcode(&in, HW_CMD_QUERY_DCT);
	hw_query_dct_in_set_uid(&in, uid);
	hw_query_dct_in_set_dctn(&in, dctn);
	err = cxib_cmd_exec_inout(queue, in, out);
	*context = *hw_query_dct_out_get_dct_context_entry(&out);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_dct);

/**
 * cxib_cmd_arm_dct() - ARM_DCT: requests an event for the next DC access key violation
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @dctn: DCTN
 *
 * A single event %HW_EVENT_TYPE_DCT_KEY_VIOLATION reports any number of
 * violations.
 *
 * Return: 0; -EREMOTEIO when firmware refuses: the DCT works, but violations raise no event;
 *	otherwise as cxib_cmd_exec().
 */
int cxib_cmd_arm_dct(struct cxib_command_queue *queue, u16 uid, u32 dctn)
{
	struct hw_arm_dct_in in = {};
	struct hw_arm_dct_out out;

	hw_arm_dct_in_set_opcode(&in, HW_CMD_ARM_DCT);
	hw_arm_dct_in_set_uid(&in, uid);
	hw_arm_dct_in_set_dct_number(&in, dctn);
	return cxib_cmd_exec_optional(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_arm_dct);
