// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command outputs: checked before the caller uses them, converted to an errno, and logged.
 */
#include <kunit/visibility.h>
#include <linux/device.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "hw/command_interface.h"
#include "hw/command_queue.h"
#include "hw/commands_objects.h"
#include "hw/names.h"
#include "hw/uctx.h"

/* Status and syndrome: the output of ENABLE_HCA has only 12 bytes. */
#define SHORTEST_OUTPUT		8

/**
 * cxib_command_status_to_errno() - converts a command status to an errno
 * @status: any status of a command output
 *
 * Return: 0 for success, otherwise a negative errno; -EIO for an unknown status.
 */
int cxib_command_status_to_errno(u8 status)
{
	switch (status) {
	case HW_COMMAND_STATUS_OK:
		return 0;
	case HW_COMMAND_STATUS_BAD_OPERATION:
		return -EOPNOTSUPP;
	case HW_COMMAND_STATUS_BAD_PARAMETER:
	case HW_COMMAND_STATUS_BAD_RESOURCE:
	case HW_COMMAND_STATUS_BAD_RESOURCE_STATE:
	case HW_COMMAND_STATUS_BAD_INDEX:
	case HW_COMMAND_STATUS_BAD_QP_STATE:
	case HW_COMMAND_STATUS_BAD_PACKET:
	case HW_COMMAND_STATUS_BAD_SIZE_WITH_OUTSTANDING_CQES:
		return -EINVAL;
	case HW_COMMAND_STATUS_RESOURCE_BUSY:
		return -EBUSY;
	case HW_COMMAND_STATUS_NOT_READY:
		return -EAGAIN;
	case HW_COMMAND_STATUS_EXCEEDS_LIMIT:
	case HW_COMMAND_STATUS_NO_RESOURCES:
		return -ENOMEM;
	default:
		return -EIO;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_command_status_to_errno);

__printf(3, 4)
static int output_malformed(struct cxib_command_queue *queue, const struct cxib_command_slot *slot,
			    const char *format, ...)
{
	struct va_format text;
	va_list args;

	va_start(args, format);
	text.fmt = format;
	text.va = &args;
	if (__ratelimit(&queue->messages))
		dev_err(queue->dev,
			"command %s (0x%03x, op_mod 0x%x) in slot %u: bad output: %pV\n",
			hw_cmd_name(slot->opcode), slot->opcode, slot->op_mod, slot->number,
			&text);
	va_end(args);
	return -EBADMSG;
}

static int output_check_delivery(struct cxib_command_queue *queue,
				 const struct cxib_command_slot *slot,
				 const struct hw_cmd_queue_entry *entry)
{
	u32 delivery = hw_cmd_queue_entry_get_status(entry);

	if (!delivery)
		return 0;
	if (__ratelimit(&queue->messages))
		dev_err(queue->dev,
			"command %s (0x%03x, op_mod 0x%x) in slot %u: not delivered: %s (delivery status 0x%x)\n",
			hw_cmd_name(slot->opcode), slot->opcode, slot->op_mod, slot->number,
			hw_command_delivery_status_name(delivery), delivery);
	return -EIO;
}

static int output_check_entry(struct cxib_command_queue *queue,
			      const struct cxib_command_slot *slot,
			      const struct hw_cmd_queue_entry *entry)
{
	u32 length = hw_cmd_queue_entry_get_output_length(entry);
	u32 token = hw_cmd_queue_entry_get_token(entry);

	if (token != slot->token)
		return output_malformed(queue, slot, "token 0x%02x, expected 0x%02x",
					token, slot->token);
	if (length < SHORTEST_OUTPUT || length > slot->out_size)
		return output_malformed(queue, slot, "output length %u out of range [%u, %u]",
					length, SHORTEST_OUTPUT, slot->out_size);
	return output_check_delivery(queue, slot, entry);
}

static int output_copy(struct cxib_command_queue *queue, const struct cxib_command_slot *slot,
		       const struct hw_cmd_queue_entry *entry, struct cxib_command *command)
{
	size_t head = min_t(size_t, command->out_length, CXIB_COMMAND_INLINE);

	memcpy(command->out, hw_cmd_queue_entry_get_command_output_inline_data(entry), head);
	if (cxib_mailbox_chain_read(&slot->output, slot->token, command->out + head,
				    command->out_length - head))
		return output_malformed(queue, slot, "output mailbox without token 0x%02x",
					slot->token);
	return 0;
}

/*
 * User space can repeat at will a command that exceeds a limit, or that destroys an object to which
 * a DEVX object refers. It gets the error, but must not fill the kernel log. The driver's own
 * objects may have the shared uid; their commands fail for other reasons, which are logged.
 */
static bool output_is_user_error(const struct cxib_command *command)
{
	u16 uid = hw_general_obj_in_cmd_hdr_get_uid(command->in);

	return command->for_user || (uid && uid != CXIB_SHARED_UID) ||
	       (uid && (command->status == HW_COMMAND_STATUS_RESOURCE_BUSY ||
			command->status == HW_COMMAND_STATUS_BAD_RESOURCE_STATE));
}

static void output_log_status(struct cxib_command_queue *queue,
			      const struct cxib_command_slot *slot,
			      const struct cxib_command *command)
{
	const char *name = hw_cmd_name(slot->opcode);
	const char *status = hw_command_status_name(command->status);

	if (output_is_user_error(command))
		dev_dbg(queue->dev,
			"command %s (0x%03x) of user space failed: %s (status 0x%x), syndrome 0x%x\n",
			name, slot->opcode, status, command->status, command->syndrome);
	else if (__ratelimit(&queue->messages))
		dev_err(queue->dev,
			"command %s (0x%03x, op_mod 0x%x) failed: %s (status 0x%x), syndrome 0x%x\n",
			name, slot->opcode, slot->op_mod, status, command->status,
			command->syndrome);
}

static int output_check_status(struct cxib_command_queue *queue,
			       const struct cxib_command_slot *slot, struct cxib_command *command)
{
	const struct hw_cmd_out *out = command->out;

	command->status = hw_cmd_out_get_status(out);
	command->syndrome = hw_cmd_out_get_syndrome(out);
	if (command->status && !command->no_log)
		output_log_status(queue, slot, command);
	return cxib_command_status_to_errno(command->status);
}

/**
 * cxib_command_check_output() - checks and copies the output of a completed command
 * @queue: the queue
 * @slot: slot of the completed command, owned by the caller
 * @command: @out, @status and @syndrome are filled
 *
 * An error is logged, and zeroes the output.
 *
 * Return: 0, or
 *	-EBADMSG when token or length of the output do not match the command,
 *	-EREMOTEIO when the command is optional, and firmware reports a status other than success or
 *	that the command was not delivered,
 *	-EIO when the command was not delivered, or firmware failed,
 *	otherwise cxib_command_status_to_errno() of the status.
 */
int cxib_command_check_output(struct cxib_command_queue *queue,
			      const struct cxib_command_slot *slot, struct cxib_command *command)
{
	struct hw_cmd_queue_entry entry;
	int err;

	/* One copy: the device may change the entry between check and use. */
	memcpy(&entry, cxib_command_entry(queue, slot), sizeof(entry));
	err = output_check_entry(queue, slot, &entry);
	if (!err)
		err = output_copy(queue, slot, &entry, command);
	if (!err)
		err = output_check_status(queue, slot, command);
	/*
	 * -EREMOTEIO stands for a status only; the errno may also mean a failure of the driver
	 * (-ENOMEM).
	 */
	if (err && err != -EBADMSG && command->optional)
		err = -EREMOTEIO;
	if (err)
		memset(command->out, 0, command->out_length);
	return err;
}
