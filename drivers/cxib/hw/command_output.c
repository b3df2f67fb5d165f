// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the device has answered: checked before anybody uses it, turned into
 * an error number, and explained in the kernel log.
 */
#include <kunit/visibility.h>
#include <linux/device.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "hw/command_interface.h"
#include "hw/command_queue.h"
#include "hw/commands_objects.h"
#include "hw/names.h"

/* The status and the syndrome; ENABLE_HCA answers no more than 12 bytes. */
#define SHORTEST_OUTPUT		8

/**
 * cxib_command_status_to_errno() - the error number for a status
 * @status: status in the output of a command
 *
 * Return: 0 for success, otherwise a negative error number; -EIO for a status
 * that the interface does not know.
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
static int malformed(struct cxib_command_queue *queue, const struct cxib_command_slot *slot,
		     const char *format, ...)
{
	struct va_format text;
	va_list args;

	va_start(args, format);
	text.fmt = format;
	text.va = &args;
	if (__ratelimit(&queue->messages))
		dev_err(queue->dev,
			"answer to command %s (0x%03x, op_mod 0x%x) in slot %u makes no sense: %pV\n",
			hw_cmd_name(slot->opcode), slot->opcode, slot->op_mod, slot->number,
			&text);
	va_end(args);
	return -EBADMSG;
}

static int check_delivery(struct cxib_command_queue *queue, const struct cxib_command_slot *slot,
			  const struct hw_cmd_queue_entry *entry)
{
	u32 delivery = hw_cmd_queue_entry_get_status(entry);

	if (!delivery)
		return 0;
	if (__ratelimit(&queue->messages))
		dev_err(queue->dev,
			"command %s (0x%03x, op_mod 0x%x) in slot %u was not delivered: %s (delivery status 0x%x)\n",
			hw_cmd_name(slot->opcode), slot->opcode, slot->op_mod, slot->number,
			hw_command_delivery_status_name(delivery), delivery);
	return -EIO;
}

static int check_entry(struct cxib_command_queue *queue, const struct cxib_command_slot *slot,
		       const struct hw_cmd_queue_entry *entry)
{
	u32 length = hw_cmd_queue_entry_get_output_length(entry);
	u32 token = hw_cmd_queue_entry_get_token(entry);

	if (token != slot->token)
		return malformed(queue, slot, "its token is 0x%02x, the command's is 0x%02x",
				 token, slot->token);
	if (length < SHORTEST_OUTPUT || length > slot->out_size)
		return malformed(queue, slot, "its output has %u bytes, %u to %u are possible",
				 length, SHORTEST_OUTPUT, slot->out_size);
	return check_delivery(queue, slot, entry);
}

static int copy_output(struct cxib_command_queue *queue, const struct cxib_command_slot *slot,
		       const struct hw_cmd_queue_entry *entry, struct cxib_command *command)
{
	size_t head = min_t(size_t, command->out_length, CXIB_COMMAND_INLINE);

	memcpy(command->out, hw_cmd_queue_entry_get_command_output_inline_data(entry), head);
	if (cxib_mailbox_chain_read(&slot->output, slot->token, command->out + head,
				    command->out_length - head))
		return malformed(queue, slot,
				 "a mailbox of its output does not carry the command's token 0x%02x",
				 slot->token);
	return 0;
}

/*
 * What a program has made by its commands can refer to what it has from verbs.
 * That this cannot end then is the program's doing, as often as it likes: it is
 * told so, the kernel log is not.
 */
static bool is_user_error(const struct cxib_command *command)
{
	return hw_general_obj_in_cmd_hdr_get_uid(command->in) &&
	       (command->status == HW_COMMAND_STATUS_RESOURCE_BUSY ||
		command->status == HW_COMMAND_STATUS_BAD_RESOURCE_STATE);
}

static bool should_log(struct cxib_command_queue *queue, const struct cxib_command *command)
{
	return command->status && !command->no_log && !is_user_error(command) &&
	       __ratelimit(&queue->messages);
}

static int check_status(struct cxib_command_queue *queue, const struct cxib_command_slot *slot,
			struct cxib_command *command)
{
	const struct hw_cmd_out *out = command->out;

	command->status = hw_cmd_out_get_status(out);
	command->syndrome = hw_cmd_out_get_syndrome(out);
	if (should_log(queue, command))
		dev_err(queue->dev,
			"command %s (0x%03x, op_mod 0x%x) failed: %s (status 0x%x), syndrome 0x%x\n",
			hw_cmd_name(slot->opcode), slot->opcode, slot->op_mod,
			hw_command_status_name(command->status), command->status,
			command->syndrome);
	return cxib_command_status_to_errno(command->status);
}

/**
 * cxib_command_check_output() - checks the answer in a slot and hands it over
 * @queue: the queue
 * @slot: a slot whose command was answered, and which belongs to the caller
 * @command: gets output, status and syndrome
 *
 * Whatever is wrong is said in the kernel log, and the output is zeros then.
 *
 * Return: 0, or
 *	-EBADMSG when token or length of the answer are not the command's,
 *	-EIO when the device could not take the command, or failed,
 *	what cxib_command_status_to_errno() says of the status otherwise.
 */
int cxib_command_check_output(struct cxib_command_queue *queue,
			      const struct cxib_command_slot *slot, struct cxib_command *command)
{
	struct hw_cmd_queue_entry entry;
	int err;

	/* Once only: what was checked must be what is used. */
	memcpy(&entry, cxib_command_entry(queue, slot), sizeof(entry));
	err = check_entry(queue, slot, &entry);
	if (!err)
		err = copy_output(queue, slot, &entry, command);
	if (!err)
		err = check_status(queue, slot, command);
	if (err)
		memset(command->out, 0, command->out_length);
	return err;
}
