// SPDX-License-Identifier: GPL-2.0-only
/*
 * Late completions of creating commands: a work item destroys the object that the device has
 * created.
 *
 * cxib_command_queue_reap_late() notices the completion. That function must not wait for another
 * command, so a work item takes over the slot.
 */
#include <kunit/visibility.h>
#include <linux/device.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "hw/command_queue.h"
#include "hw/commands_device.h"
#include "hw/commands_memory.h"
#include "hw/commands_objects.h"
#include "hw/pending_creates.h"

#define NUMBER_MASK	0xffffff
/* The output of CREATE_PSV, the longest one with object numbers. */
#define OUTPUT_WORDS	8

static struct cxib_command_slot *pending_take_late(struct cxib_command_queue *queue)
{
	struct cxib_command_slot *found = NULL;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&queue->lock, flags);
	for (i = 0; i < queue->slot_count && !found; i++)
		if (queue->slots[i].state == CXIB_SLOT_LATE)
			found = &queue->slots[i];
	if (found)
		found->state = CXIB_SLOT_FILLING;
	spin_unlock_irqrestore(&queue->lock, flags);
	return found;
}

/* Closes one pending create. The last one frees the memory that was kept. */
static void pending_close_one(struct cxib_command_queue *queue)
{
	unsigned long flags;
	bool was_last;

	spin_lock_irqsave(&queue->lock, flags);
	was_last = !--queue->num_pending;
	spin_unlock_irqrestore(&queue->lock, flags);
	if (was_last)
		cxib_pending_creates_free(queue);
	wake_up_all(&queue->create_wait);
}

static int pending_destroy_one(struct cxib_command_queue *queue,
			       const struct cxib_create_kind *kind,
			       const struct hw_general_obj_in_cmd_hdr *created_by, u32 number)
{
	struct hw_general_obj_in_cmd_hdr in = {};
	struct hw_general_obj_out_cmd_hdr out;
	struct cxib_command command = {
		.in = &in, .in_length = sizeof(in),
		.out = &out, .out_length = sizeof(out),
		.is_cleanup = true,
	};
	u16 type = 0;

	hw_general_obj_in_cmd_hdr_set_opcode(&in, kind->destroy);
	hw_general_obj_in_cmd_hdr_set_uid(&in, hw_general_obj_in_cmd_hdr_get_uid(created_by));
	if (kind->create == HW_CMD_CREATE_GENERAL_OBJECT)
		type = hw_general_obj_in_cmd_hdr_get_obj_type(created_by);
	else
		number &= NUMBER_MASK;
	hw_general_obj_in_cmd_hdr_set_obj_type(&in, type);
	hw_general_obj_in_cmd_hdr_set_obj_id(&in, number);
	return cxib_cmd_exec(queue, &command);
}

/* Only CREATE_PSV creates more than one object. */
static unsigned int pending_count_objects(const struct hw_general_obj_in_cmd_hdr *created_by)
{
	const struct hw_create_psv_in *psv = (const struct hw_create_psv_in *)created_by;

	static_assert(sizeof(*psv) == sizeof(*created_by));
	if (hw_general_obj_in_cmd_hdr_get_opcode(created_by) != HW_CMD_CREATE_PSV)
		return 1;
	return min_t(u32, hw_create_psv_in_get_num_psv(psv), OUTPUT_WORDS - CXIB_PSV_WORD);
}

/* Frees the slot. The create stays pending if its object cannot be destroyed. */
static void pending_resolve_one(struct cxib_command_queue *queue, struct cxib_command_slot *slot)
{
	const struct cxib_create_kind *kind = slot->create_kind;
	const struct hw_general_obj_in_cmd_hdr created_by = slot->head;
	__be32 out[OUTPUT_WORDS];
	struct cxib_command command = {
		.in = &created_by,
		.out = out, .out_length = min_t(size_t, slot->out_size, sizeof(out)),
		.no_log = true,
	};
	unsigned int i;
	int err;

	err = cxib_command_check_output(queue, slot, &command);
	cxib_command_release_slot(queue, slot);
	if (err == -EBADMSG)
		return;
	for (i = 0; !err && i < pending_count_objects(&created_by); i++) {
		if (pending_destroy_one(queue, kind, &created_by, be32_to_cpu(out[kind->word + i])))
			return;
	}
	pending_close_one(queue);
}

/**
 * cxib_pending_creates_work_fn() - destroys the objects of late completions
 * @work: @late_work of the command queue
 */
void cxib_pending_creates_work_fn(struct work_struct *work)
{
	struct cxib_command_queue *queue = container_of(work, struct cxib_command_queue, late_work);
	struct cxib_command_slot *slot;

	while ((slot = pending_take_late(queue)))
		pending_resolve_one(queue, slot);
}

/**
 * cxib_pending_creates_keep() - frees memory as soon as no create is pending
 * @queue: the queue
 * @memory: the memory; the queue becomes its owner and may free it at once
 *
 * Context: process context, may sleep.
 */
void cxib_pending_creates_keep(struct cxib_command_queue *queue, struct cxib_pending_memory *memory)
{
	unsigned long flags;
	bool keep;

	spin_lock_irqsave(&queue->lock, flags);
	keep = queue->num_pending;
	if (keep)
		list_add_tail(&memory->node, &queue->pending_memory);
	spin_unlock_irqrestore(&queue->lock, flags);
	if (!keep)
		memory->free(memory);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pending_creates_keep);

/**
 * cxib_has_pending_creates() - whether the device may have objects that the driver does not know
 * @queue: the queue
 *
 * The function first destroys the objects of late completions that have arrived.
 *
 * Context: process context, may sleep.
 * Return: true if a create is pending.
 */
bool cxib_has_pending_creates(struct cxib_command_queue *queue)
{
	cxib_command_queue_reap_late(queue);
	flush_work(&queue->late_work);
	return READ_ONCE(queue->num_pending);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_has_pending_creates);

/**
 * cxib_pending_creates_free() - frees all memory that is kept
 * @queue: the queue; no create is pending, or bus mastering is cleared
 *
 * Context: process context, may sleep.
 */
void cxib_pending_creates_free(struct cxib_command_queue *queue)
{
	struct cxib_pending_memory *memory, *next;
	unsigned long flags;
	LIST_HEAD(all);

	spin_lock_irqsave(&queue->lock, flags);
	list_splice_init(&queue->pending_memory, &all);
	spin_unlock_irqrestore(&queue->lock, flags);
	list_for_each_entry_safe(memory, next, &all, node)
		memory->free(memory);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pending_creates_free);
