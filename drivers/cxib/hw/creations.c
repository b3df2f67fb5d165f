// SPDX-License-Identifier: GPL-2.0-only
/*
 * Late answers of commands that make something: what was made is destroyed.
 *
 * The answer is noticed by cxib_command_queue_reap_late(), which may not wait for
 * another command; a work item takes over the slot from there.
 */
#include <kunit/visibility.h>
#include <linux/array_size.h>
#include <linux/device.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "hw/command_queue.h"
#include "hw/commands_device.h"
#include "hw/commands_events.h"
#include "hw/commands_memory.h"
#include "hw/commands_objects.h"
#include "hw/commands_queue_pairs.h"
#include "hw/commands_receive_queues.h"
#include "hw/creations.h"

#define NUMBER_WORD	2
#define PSV_WORD	4
#define NUMBER_MASK	0xffffff
/* The answer of CREATE_PSV, the longest one that numbers are in. */
#define OUTPUT_WORDS	8

/* How often one looks for late answers who waits for them. */
#define RECHECK_MS	100

static const struct cxib_creation creations[] = {
	{ HW_CMD_CREATE_MKEY, HW_CMD_DESTROY_MKEY, NUMBER_WORD, false },
	{ HW_CMD_CREATE_PSV, HW_CMD_DESTROY_PSV, PSV_WORD, false },
	{ HW_CMD_CREATE_CQ, HW_CMD_DESTROY_CQ, NUMBER_WORD, true },
	{ HW_CMD_CREATE_QP, HW_CMD_DESTROY_QP, NUMBER_WORD, false },
	{ HW_CMD_CREATE_DCT, HW_CMD_DESTROY_DCT, NUMBER_WORD, false },
	{ HW_CMD_CREATE_RMP, HW_CMD_DESTROY_RMP, NUMBER_WORD, true },
	{ HW_CMD_CREATE_XRC_SRQ, HW_CMD_DESTROY_XRC_SRQ, NUMBER_WORD, true },
	{ HW_CMD_CREATE_XRQ, HW_CMD_DESTROY_XRQ, NUMBER_WORD, true },
	{ HW_CMD_CREATE_UMEM, HW_CMD_DESTROY_UMEM, NUMBER_WORD, true },
	{ HW_CMD_CREATE_GENERAL_OBJECT, HW_CMD_DESTROY_GENERAL_OBJECT, NUMBER_WORD, false },
	{ HW_CMD_CREATE_UCTX, HW_CMD_DESTROY_UCTX, NUMBER_WORD, true },
	{ HW_CMD_ALLOC_PD, HW_CMD_DEALLOC_PD, NUMBER_WORD, true },
	{ HW_CMD_ALLOC_XRCD, HW_CMD_DEALLOC_XRCD, NUMBER_WORD, true },
	{ HW_CMD_ALLOC_UAR, HW_CMD_DEALLOC_UAR, NUMBER_WORD, true },
};

/**
 * cxib_creation_find() - what a command makes
 * @opcode: any
 *
 * Return: NULL if it makes nothing that could refer to memory, or be referred to.
 * Event queues and pages of the firmware have books of their own.
 */
const struct cxib_creation *cxib_creation_find(u16 opcode)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(creations); i++)
		if (creations[i].create == opcode)
			return &creations[i];
	return NULL;
}

static bool destroys_parent(u16 opcode)
{
	unsigned int i;

	/* A region can lie in it, and nothing but the region's key says so. */
	if (opcode == HW_CMD_DEALLOC_MEMIC)
		return true;
	for (i = 0; i < ARRAY_SIZE(creations); i++)
		if (creations[i].destroy == opcode)
			return creations[i].has_children;
	return false;
}

static bool is_settled(struct cxib_command_queue *queue)
{
	return !READ_ONCE(queue->open) || READ_ONCE(queue->fatal);
}

/**
 * cxib_creations_await() - before a command destroys what open ones may refer to
 * @queue: the queue
 * @opcode: of the command
 *
 * The device would refuse it as long as it has a late object. It gets as much time
 * once more as the command that was not answered had.
 *
 * Context: process context, may sleep.
 */
void cxib_creations_await(struct cxib_command_queue *queue, u16 opcode)
{
	const long recheck = msecs_to_jiffies(RECHECK_MS);
	long left;

	if (is_settled(queue) || !destroys_parent(opcode))
		return;
	for (;;) {
		left = READ_ONCE(queue->late_deadline) - jiffies;
		if (left <= 0 || is_settled(queue))
			return;
		cxib_command_queue_reap_late(queue);
		wait_event_timeout(queue->settled, is_settled(queue), min(left, recheck));
	}
}

static struct cxib_command_slot *take_late(struct cxib_command_queue *queue)
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

/* One that was open is not any more: with the last one all that is kept is free. */
static void close_one(struct cxib_command_queue *queue)
{
	unsigned long flags;
	bool was_last;

	spin_lock_irqsave(&queue->lock, flags);
	was_last = !--queue->open;
	spin_unlock_irqrestore(&queue->lock, flags);
	if (was_last)
		cxib_creations_free(queue);
	wake_up_all(&queue->settled);
}

static int destroy_one(struct cxib_command_queue *queue, const struct cxib_creation *creation,
		       const struct hw_general_obj_in_cmd_hdr *made_by, u32 number)
{
	struct hw_general_obj_in_cmd_hdr in = {};
	struct hw_general_obj_out_cmd_hdr out;
	struct cxib_command command = {
		.in = &in, .in_length = sizeof(in),
		.out = &out, .out_length = sizeof(out),
		.settles = true,
	};
	u16 type = 0;

	hw_general_obj_in_cmd_hdr_set_opcode(&in, creation->destroy);
	hw_general_obj_in_cmd_hdr_set_uid(&in, hw_general_obj_in_cmd_hdr_get_uid(made_by));
	if (creation->create == HW_CMD_CREATE_GENERAL_OBJECT)
		type = hw_general_obj_in_cmd_hdr_get_obj_type(made_by);
	else
		number &= NUMBER_MASK;
	hw_general_obj_in_cmd_hdr_set_obj_type(&in, type);
	hw_general_obj_in_cmd_hdr_set_obj_id(&in, number);
	return cxib_cmd_exec(queue, &command);
}

/* Only CREATE_PSV makes more than one object. */
static unsigned int count_objects(const struct hw_general_obj_in_cmd_hdr *made_by)
{
	const struct hw_create_psv_in *psv = (const struct hw_create_psv_in *)made_by;

	static_assert(sizeof(*psv) == sizeof(*made_by));
	if (hw_general_obj_in_cmd_hdr_get_opcode(made_by) != HW_CMD_CREATE_PSV)
		return 1;
	return min_t(u32, hw_create_psv_in_get_num_psv(psv), OUTPUT_WORDS - PSV_WORD);
}

/* Takes over the slot. An object that cannot be destroyed leaves the command open. */
static void settle_one(struct cxib_command_queue *queue, struct cxib_command_slot *slot)
{
	const struct cxib_creation *creation = slot->creation;
	const struct hw_general_obj_in_cmd_hdr made_by = slot->head;
	__be32 out[OUTPUT_WORDS];
	struct cxib_command command = {
		.in = &made_by,
		.out = out, .out_length = min_t(size_t, slot->out_size, sizeof(out)),
		.no_log = true,
	};
	unsigned int i;
	int err;

	err = cxib_command_check_output(queue, slot, &command);
	cxib_command_release_slot(queue, slot);
	if (err == -EBADMSG)
		return;
	for (i = 0; !err && i < count_objects(&made_by); i++) {
		if (destroy_one(queue, creation, &made_by, be32_to_cpu(out[creation->word + i])))
			return;
	}
	close_one(queue);
}

/**
 * cxib_creations_settle() - destroys what late answers tell of
 * @work: @settle of the command queue
 */
void cxib_creations_settle(struct work_struct *work)
{
	struct cxib_command_queue *queue = container_of(work, struct cxib_command_queue, settle);
	struct cxib_command_slot *slot;

	while ((slot = take_late(queue)))
		settle_one(queue, slot);
}

/**
 * cxib_creations_keep() - lets go of memory as soon as no creation is open
 * @queue: the queue
 * @kept: the memory; goes over. That may be at once.
 *
 * Context: process context, may sleep.
 */
void cxib_creations_keep(struct cxib_command_queue *queue, struct cxib_kept *kept)
{
	unsigned long flags;
	bool stays;

	spin_lock_irqsave(&queue->lock, flags);
	stays = queue->open;
	if (stays)
		list_add_tail(&kept->node, &queue->kept);
	spin_unlock_irqrestore(&queue->lock, flags);
	if (!stays)
		kept->free(kept);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_creations_keep);

/**
 * cxib_creations_are_open() - whether the device may have objects that the driver does not know
 * @queue: the queue
 *
 * Late answers that are there are served first.
 *
 * Context: process context, may sleep.
 */
bool cxib_creations_are_open(struct cxib_command_queue *queue)
{
	cxib_command_queue_reap_late(queue);
	flush_work(&queue->settle);
	return READ_ONCE(queue->open);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_creations_are_open);

/**
 * cxib_creations_free() - lets go of all memory that is kept
 * @queue: the queue; no creation is open, or the device has lost its access to memory
 *
 * Context: process context, may sleep.
 */
void cxib_creations_free(struct cxib_command_queue *queue)
{
	struct cxib_kept *kept, *next;
	unsigned long flags;
	LIST_HEAD(all);

	spin_lock_irqsave(&queue->lock, flags);
	list_splice_init(&queue->kept, &all);
	spin_unlock_irqrestore(&queue->lock, flags);
	list_for_each_entry_safe(kept, next, &all, node)
		kept->free(kept);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_creations_free);
