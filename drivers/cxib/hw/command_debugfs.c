// SPDX-License-Identifier: GPL-2.0-only
/* debugfs files of the command queue: statistics by opcode, and the slots. */
#include <kunit/visibility.h>
#include <linux/debugfs.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/string_helpers.h>

#include "hw/command_queue.h"
#include "hw/names.h"

static const char * const slot_states[] = {
	[CXIB_SLOT_FREE] = "free",
	[CXIB_SLOT_FILLING] = "filling",
	[CXIB_SLOT_ISSUED] = "issued",
	[CXIB_SLOT_COMPLETED] = "completed",
	[CXIB_SLOT_TIMED_OUT] = "timed out",
	[CXIB_SLOT_LATE] = "late",
};

static void command_copy_statistics(struct cxib_command_queue *queue, unsigned long opcode,
				    struct cxib_command_statistics *copy)
{
	const struct cxib_command_statistics *statistics = xa_load(&queue->statistics, opcode);
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	*copy = *statistics;
	spin_unlock_irqrestore(&queue->lock, flags);
}

static int commands_show(struct seq_file *file, void *unused)
{
	struct cxib_command_queue *queue = file->private;
	struct cxib_command_statistics *entry, copy;
	unsigned long opcode;

	seq_puts(file, "opcode command                      completed   failures   timeouts    mean_us     max_us\n");
	xa_for_each(&queue->statistics, opcode, entry) {
		command_copy_statistics(queue, opcode, &copy);
		seq_printf(file, "0x%03x  %-28s %9llu  %9llu  %9llu  %9llu  %9llu\n", copy.opcode,
			   hw_cmd_name(copy.opcode), copy.count, copy.failures, copy.timeouts,
			   copy.count ? div64_u64(copy.total_ns, copy.count * NSEC_PER_USEC) : 0,
			   div_u64(copy.max_ns, NSEC_PER_USEC));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(commands);

/* The caller holds the queue lock. */
static void command_describe(const struct cxib_command_slot *slot,
			     struct cxib_slot_description *description)
{
	*description = (struct cxib_slot_description){ .state = slot_states[slot->state] };
	if (slot->state == CXIB_SLOT_FREE)
		return;
	description->command = hw_cmd_name(slot->opcode);
	description->opcode = slot->opcode;
	description->op_mod = slot->op_mod;
	description->token = slot->token;
	description->age_ms = ktime_ms_delta(ktime_get(), slot->issued);
}

/**
 * cxib_command_queue_describe() - describes a slot
 * @queue: a started queue
 * @number: slot number, below @queue->slot_count
 * @description: filled
 */
void cxib_command_queue_describe(struct cxib_command_queue *queue, unsigned int number,
				 struct cxib_slot_description *description)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	command_describe(&queue->slots[number], description);
	spin_unlock_irqrestore(&queue->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_command_queue_describe);

static void command_show_slot(struct seq_file *file, struct cxib_command_queue *queue,
			      const struct cxib_command_slot *slot)
{
	const struct hw_cmd_queue_entry *entry = cxib_command_entry(queue, slot);
	struct cxib_slot_description description;
	unsigned int i;

	command_describe(slot, &description);
	seq_printf(file, "slot %u: %s", slot->number, description.state);
	if (description.command)
		seq_printf(file, ", %s (0x%03x), token 0x%02x, issued %lld ms ago",
			   description.command, description.opcode, description.token,
			   description.age_ms);
	for (i = 0; i < ARRAY_SIZE(entry->dw); i++)
		seq_printf(file, "%s%08x", i % 8 ? " " : "\n    ", be32_to_cpu(entry->dw[i]));
	seq_putc(file, '\n');
}

static int command_queue_show(struct seq_file *file, void *unused)
{
	struct cxib_command_queue *queue = file->private;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&queue->lock, flags);
	seq_printf(file,
		   "slots: %u\nmode: %s\nfatal: %s\nissued: %llu\nlate completions: %llu\nmissed events: %llu\n",
		   queue->slot_count, queue->polled ? "polling" : "events",
		   str_yes_no(cxib_command_queue_is_fatal(queue)), queue->issued,
		   queue->late_completions,
		   queue->missed_events);
	for (i = 0; i < queue->slot_count; i++)
		command_show_slot(file, queue, &queue->slots[i]);
	spin_unlock_irqrestore(&queue->lock, flags);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(command_queue);

/**
 * cxib_command_queue_debugfs() - creates the debugfs files "commands" and "command_queue"
 * @queue: a created queue, which outlives the files
 * @directory: debugfs directory of the device
 */
void cxib_command_queue_debugfs(struct cxib_command_queue *queue, struct dentry *directory)
{
	debugfs_create_file("commands", 0400, directory, queue, &commands_fops);
	debugfs_create_file("command_queue", 0400, directory, queue, &command_queue_fops);
}
