// SPDX-License-Identifier: GPL-2.0-only
/* Commands about user contexts and the memory that is registered for them. */
#include <kunit/visibility.h>
#include <linux/device.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "hw/buffer.h"
#include "hw/command_queue.h"
#include "hw/commands_objects.h"
#include "hw/uctx.h"

/**
 * cxib_cmd_create_uctx() - CREATE_UCTX: a user context
 * @queue: command queue
 * @rights: what it may do beyond the usual; bits of the capability uctx_cap
 * @uid: filled: its number
 *
 * Return: -EBADMSG when that is the number of the kernel itself.
 */
int cxib_cmd_create_uctx(struct cxib_command_queue *queue, u32 rights, u16 *uid)
{
	struct hw_create_uctx_in in = {};
	struct hw_create_uctx_out out;
	int err;

	hw_create_uctx_in_set_opcode(&in, HW_CMD_CREATE_UCTX);
	hw_uctx_set_cap(hw_create_uctx_in_uctx(&in), rights);
	err = cxib_cmd_exec_inout(queue, in, out);
	*uid = hw_create_uctx_out_get_uid(&out);
	if (err || *uid)
		return err;
	dev_err(queue->dev, "the device has given a program the rights of the kernel\n");
	return -EBADMSG;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_create_uctx);

/**
 * cxib_cmd_destroy_uctx() - DESTROY_UCTX: no command can be in its name any more
 * @queue: command queue
 * @uid: its number; it has no objects any more
 */
int cxib_cmd_destroy_uctx(struct cxib_command_queue *queue, u16 uid)
{
	struct hw_destroy_uctx_in in = {};
	struct hw_destroy_uctx_out out;

	hw_destroy_uctx_in_set_opcode(&in, HW_CMD_DESTROY_UCTX);
	hw_destroy_uctx_in_set_uid(&in, uid);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_destroy_uctx);

/**
 * cxib_cmd_create_umem() - CREATE_UMEM: memory that commands can name
 * @queue: command queue
 * @params: what it is
 * @number: filled: its number
 *
 * Return: -ENOMEM also when there are too many pages for a command.
 */
int cxib_cmd_create_umem(struct cxib_command_queue *queue,
			 const struct cxib_user_memory_params *params, u32 *number)
{
	size_t list = size_mul(params->page_count, sizeof(*params->pages));
	struct hw_create_umem_out out;
	struct hw_create_umem_in *in;
	struct cxib_command command = { .out = &out, .out_length = sizeof(out) };
	struct hw_umem *memory;
	int err;

	command.in_length = size_add(sizeof(*in), list);
	in = kvzalloc(command.in_length, GFP_KERNEL);
	if (!in)
		return -ENOMEM;
	command.in = in;
	hw_create_umem_in_set_opcode(in, HW_CMD_CREATE_UMEM);
	hw_create_umem_in_set_uid(in, params->uid);
	memory = hw_create_umem_in_umem(in);
	hw_umem_set_log_page_size(memory, params->log_page_size - CXIB_LOG_DEVICE_PAGE);
	hw_umem_set_page_offset(memory, params->offset);
	hw_umem_set_num_of_mtt(memory, params->page_count);
	memcpy(memory->mtt, params->pages, list);
	err = cxib_cmd_exec(queue, &command);
	*number = hw_create_umem_out_get_umem_id(&out);
	kvfree(in);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_create_umem);

/**
 * cxib_cmd_destroy_umem() - DESTROY_UMEM: the device does not use it any more
 * @queue: command queue
 * @uid: user context that it belongs to
 * @number: its number
 *
 * The program may have objects that refer to it. It is told so, the kernel log
 * is not.
 *
 * Return: -EBUSY when there are such objects; otherwise as cxib_cmd_exec().
 */
int cxib_cmd_destroy_umem(struct cxib_command_queue *queue, u16 uid, u32 number)
{
	struct hw_destroy_umem_in in = {};
	struct hw_destroy_umem_out out;
	struct cxib_command command = {
		.in = &in, .in_length = sizeof(in), .out = &out, .out_length = sizeof(out),
		.no_log = true,
	};

	hw_destroy_umem_in_set_opcode(&in, HW_CMD_DESTROY_UMEM);
	hw_destroy_umem_in_set_uid(&in, uid);
	hw_destroy_umem_in_set_umem_id(&in, number);
	return cxib_cmd_exec(queue, &command);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_destroy_umem);
