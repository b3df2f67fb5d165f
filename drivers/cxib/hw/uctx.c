// SPDX-License-Identifier: GPL-2.0-only
/* User context and umem commands. */
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
 * cxib_cmd_create_uctx() - CREATE_UCTX: creates a user context
 * @queue: command queue
 * @rights: HW_UCTX_CAP_…, a subset of uctx_cap
 * @uid: output: uid
 *
 * Return: -EBADMSG when the uid is 0, the uid of the kernel.
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
	dev_err(queue->dev, "create_uctx: uid 0 (kernel)\n");
	return -EBADMSG;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_create_uctx);

/**
 * cxib_cmd_destroy_uctx() - DESTROY_UCTX: undo cxib_cmd_create_uctx()
 * @queue: command queue
 * @uid: uid without objects
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
 * cxib_cmd_create_umem() - CREATE_UMEM: creates a umem
 * @queue: command queue
 * @params: attributes of the umem
 * @number: output: umem id
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

	in = cxib_command_alloc_in(&command, size_add(sizeof(*in), list));
	if (!in)
		return -ENOMEM;
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
 * cxib_cmd_destroy_umem() - DESTROY_UMEM: destroys a umem
 * @queue: command queue
 * @uid: owner uid
 * @number: umem id
 *
 * User space may have objects that refer to the umem, so errors are returned but not logged.
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
