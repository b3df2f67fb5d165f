// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command queue: slots, issuing commands, waiting for completions.
 *
 * A command completion event is only a hint: the ownership bit of the entry decides whether a
 * command has completed. So a late, duplicate or missing event does no harm, and the queue can
 * switch between polling mode and event mode while commands are outstanding.
 */
#include <kunit/visibility.h>
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/errno.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat/workqueue.h"
#include "hw/bus.h"
#include "hw/command_interface.h"
#include "hw/command_queue.h"
#include "hw/commands_device.h"
#include "hw/names.h"
#include "hw/state.h"
#include "hw/trace.h"

#define QUEUE_SIZE		SZ_4K
#define LOG_QUEUE_SIZE		12
#define LOG_ENTRY_SIZE		6
#define LOG_SLOTS_MAX		5
/* Two slots: one for MANAGE_PAGES and one for all other commands. */
#define LOG_SLOTS_MIN		1

/* Poll period of the ownership bit in polling mode, which bring-up and tear-down use. */
#define POLL_MIN_US		20
#define POLL_MAX_US		100
/*
 * Poll period in event mode, in case an event was lost. Lost events are rare, so a command may take
 * a second longer then.
 */
#define RECHECK_MS		1000
/* Poll period for late completions, which raise no event, while waiting for a free slot. */
#define SLOT_RECHECK_MS		100

/*
 * Maximum number of messages about commands in %DEFAULT_RATELIMIT_INTERVAL: about one for each
 * slot.
 */
#define MESSAGE_BURST	30

/* Returns the signature that makes the XOR of all bytes of @entry 0xff. */
static u8 command_signature_of(const struct hw_cmd_queue_entry *entry)
{
	const u8 *bytes = (const u8 *)entry;
	u8 sum = 0xff;
	size_t i;

	for (i = 0; i < sizeof(*entry); i++)
		sum ^= bytes[i];
	return sum;
}

static bool command_is_owned_by_device(const struct cxib_command_queue *queue,
				       const struct cxib_command_slot *slot)
{
	const struct hw_cmd_queue_entry *entry = cxib_command_entry(queue, slot);
	__be32 last = READ_ONCE(entry->dw[ARRAY_SIZE(entry->dw) - 1]);

	/* The rest of the output is valid only once this word is owned by software. */
	dma_rmb();
	return be32_to_cpu(last) & HW_COMMAND_OWNER_HARDWARE;
}

static bool command_is_for_pages(u16 opcode)
{
	return opcode == HW_CMD_MANAGE_PAGES;
}

/*
 * Kernel threads work for the driver and ULPs. Any other thread belongs to user space, where many
 * threads can repeat the system call that has led here.
 */
static bool command_is_user(const struct cxib_command *command)
{
	return command->for_user || !(current->flags & PF_KTHREAD);
}

static struct cxib_slot_class *command_choose_class(struct cxib_command_queue *queue, u16 opcode,
						    const struct cxib_command *command)
{
	if (command_is_for_pages(opcode))
		return &queue->pages;
	return command_is_user(command) ? &queue->user : &queue->ordinary;
}

/* A slot may belong to several classes. */
static void command_wake_callers(struct cxib_command_queue *queue,
				 const struct cxib_command_slot *slot)
{
	struct cxib_slot_class *classes[] = {
		&queue->ordinary, &queue->user, &queue->pages,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(classes); i++)
		if (BIT(slot->number) & classes[i]->members)
			wake_up(&classes[i]->wait);
}

static void command_free_mailboxes(struct cxib_command_queue *queue, struct cxib_command_slot *slot)
{
	cxib_mailbox_chain_destroy(queue->pool, &slot->input);
	cxib_mailbox_chain_destroy(queue->pool, &slot->output);
}

/**
 * cxib_command_release_slot() - frees a slot and its mailboxes
 * @queue: the queue
 * @slot: slot owned by the caller
 *
 * Context: process context; takes the queue lock.
 */
void cxib_command_release_slot(struct cxib_command_queue *queue, struct cxib_command_slot *slot)
{
	unsigned long flags;

	command_free_mailboxes(queue, slot);
	spin_lock_irqsave(&queue->lock, flags);
	slot->state = CXIB_SLOT_FREE;
	spin_unlock_irqrestore(&queue->lock, flags);
	command_wake_callers(queue, slot);
}

static struct cxib_command_slot *command_try_slot(struct cxib_command_queue *queue,
						  const struct cxib_slot_class *class)
{
	struct cxib_command_slot *slot = NULL;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&queue->lock, flags);
	for_each_set_bit(i, &class->members, CXIB_COMMAND_SLOTS_MAX) {
		if (queue->slots[i].state != CXIB_SLOT_FREE)
			continue;
		slot = &queue->slots[i];
		slot->state = CXIB_SLOT_FILLING;
		/* Token 0 means "no token". */
		if (!++queue->last_token)
			queue->last_token = 1;
		slot->token = queue->last_token;
		break;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return slot;
}

/* Callers get slots in FIFO order. Returns NULL after @deadline, or when the queue is fatal. */
static struct cxib_command_slot *command_take_slot(struct cxib_command_queue *queue,
						   struct cxib_slot_class *class,
						   unsigned long deadline)
{
	struct cxib_command_slot *slot;
	DEFINE_WAIT(wait);

	for (;;) {
		slot = command_try_slot(queue, class);
		if (slot || cxib_command_queue_is_fatal(queue) || time_after(jiffies, deadline))
			return slot;

		cxib_command_queue_reap_late(queue);
		prepare_to_wait_exclusive(&class->wait, &wait, TASK_UNINTERRUPTIBLE);
		slot = command_try_slot(queue, class);
		if (!slot && !cxib_command_queue_is_fatal(queue))
			schedule_timeout(msecs_to_jiffies(SLOT_RECHECK_MS));
		finish_wait(&class->wait, &wait);
		if (!slot)
			continue;
		/* This caller may have consumed the wake-up for another free slot. */
		wake_up(&class->wait);
		return slot;
	}
}

static struct cxib_command_statistics *command_find_statistics(struct cxib_command_queue *queue,
							       u16 opcode)
{
	struct cxib_command_statistics *statistics = xa_load(&queue->statistics, opcode);
	struct cxib_command_statistics *other;

	if (statistics)
		return statistics;
	statistics = kzalloc(sizeof(*statistics), GFP_KERNEL);
	if (!statistics)
		return NULL;
	statistics->opcode = opcode;
	other = xa_cmpxchg(&queue->statistics, opcode, NULL, statistics, GFP_KERNEL);
	if (!other)
		return statistics;
	kfree(statistics);
	return xa_is_err(other) ? NULL : other;
}

static int command_prepare_slot(struct cxib_command_queue *queue, struct cxib_command_slot *slot,
				const struct cxib_command *command)
{
	const size_t head = CXIB_COMMAND_INLINE;
	int err;

	slot->opcode = hw_cmd_in_get_opcode(command->in);
	slot->op_mod = hw_cmd_in_get_op_mod(command->in);
	memcpy(&slot->head, command->in, sizeof(slot->head));
	slot->create_kind = cxib_create_kind_find(slot->opcode);
	slot->out_size = command->out_length;
	slot->statistics = command_find_statistics(queue, slot->opcode);
	err = cxib_mailbox_chain_create(queue->pool, command->in_length - head, slot->token,
					&slot->input);
	if (err)
		return err;
	err = cxib_mailbox_chain_create(queue->pool,
					max(command->out_length, head) - head, slot->token,
					&slot->output);
	if (err) {
		cxib_mailbox_chain_destroy(queue->pool, &slot->input);
		return err;
	}
	cxib_mailbox_chain_write(&slot->input, command->in + head,
				 command->in_length - head);
	return 0;
}

static void command_compose_entry(const struct cxib_command_slot *slot,
				  const struct cxib_command *command,
				  struct hw_cmd_queue_entry *entry)
{
	u64 input = cxib_mailbox_chain_start(&slot->input);
	u64 output = cxib_mailbox_chain_start(&slot->output);

	*entry = (struct hw_cmd_queue_entry){};
	hw_cmd_queue_entry_set_type(entry, HW_COMMAND_QUEUE_ENTRY_TYPE_PCIE_CMD_IF_TRANSPORT);
	hw_cmd_queue_entry_set_input_length(entry, command->in_length);
	hw_cmd_queue_entry_set_input_mailbox_pointer_63_32(entry, upper_32_bits(input));
	hw_cmd_queue_entry_set_input_mailbox_pointer_31_9(entry, lower_32_bits(input) >> 9);
	memcpy(hw_cmd_queue_entry_command_input_inline_data(entry), command->in,
	       CXIB_COMMAND_INLINE);
	hw_cmd_queue_entry_set_output_mailbox_pointer_63_32(entry, upper_32_bits(output));
	hw_cmd_queue_entry_set_output_mailbox_pointer_31_9(entry, lower_32_bits(output) >> 9);
	hw_cmd_queue_entry_set_output_length(entry, command->out_length);
	hw_cmd_queue_entry_set_token(entry, slot->token);
	hw_cmd_queue_entry_set_ownership(entry, HW_COMMAND_OWNER_HARDWARE);
	hw_cmd_queue_entry_set_signature(entry, command_signature_of(entry));
}

/*
 * The word with the ownership bit is written last, then the doorbell. The completion may arrive
 * right after the doorbell, so state and time are set first, under the lock.
 */
static int command_issue(struct cxib_command_queue *queue, struct cxib_command_slot *slot,
			 const struct cxib_command *command)
{
	struct hw_cmd_queue_entry *place = cxib_command_entry(queue, slot);
	const size_t last = ARRAY_SIZE(place->dw) - 1;
	struct hw_cmd_queue_entry entry;
	unsigned long flags;

	command_compose_entry(slot, command, &entry);
	trace_cmd_issue(queue->dev, slot, command->in_length);

	spin_lock_irqsave(&queue->lock, flags);
	if (cxib_command_queue_is_fatal(queue)) {
		spin_unlock_irqrestore(&queue->lock, flags);
		return -EIO;
	}
	memcpy(place, &entry, last * sizeof(u32));
	dma_wmb();
	WRITE_ONCE(place->dw[last], entry.dw[last]);
	slot->state = CXIB_SLOT_ISSUED;
	slot->issued = ktime_get();
	queue->issued++;
	spin_unlock_irqrestore(&queue->lock, flags);

	cxib_bus_write(queue->bus, HW_INITIAL_SEG_OFFSET_COMMAND_DOORBELL_VECTOR,
		       BIT(slot->number));
	return 0;
}

/* Returns true if the command in @slot has just completed; then its caller must be woken up. */
static bool command_complete_slot(struct cxib_command_queue *queue, struct cxib_command_slot *slot)
{
	lockdep_assert_held(&queue->lock);

	if (slot->state != CXIB_SLOT_ISSUED || command_is_owned_by_device(queue, slot))
		return false;
	slot->completed = ktime_get();
	slot->state = CXIB_SLOT_COMPLETED;
	return true;
}

static bool command_is_settled(struct cxib_command_queue *queue, struct cxib_command_slot *slot)
{
	return READ_ONCE(slot->state) != CXIB_SLOT_ISSUED || cxib_command_queue_is_fatal(queue);
}

/* Polls the ownership bit. Returns true if the caller need not wait any longer. */
static bool command_poll_slot(struct cxib_command_queue *queue, struct cxib_command_slot *slot)
{
	unsigned long flags;

	if (command_is_settled(queue, slot))
		return true;
	spin_lock_irqsave(&queue->lock, flags);
	if (command_complete_slot(queue, slot) && !queue->polled)
		queue->missed_events++;
	spin_unlock_irqrestore(&queue->lock, flags);
	return command_is_settled(queue, slot);
}

static void command_await_completion(struct cxib_command_queue *queue,
				     struct cxib_command_slot *slot, unsigned int limit_ms)
{
	const unsigned long limit = msecs_to_jiffies(limit_ms);
	const unsigned long recheck = min(limit, msecs_to_jiffies(RECHECK_MS));
	const unsigned long deadline = jiffies + limit;

	while (!command_is_settled(queue, slot)) {
		if (READ_ONCE(queue->polled))
			usleep_range(POLL_MIN_US, POLL_MAX_US);
		else
			wait_event_timeout(slot->wait,
					   command_is_settled(queue, slot) ||
						   READ_ONCE(queue->polled),
					   recheck);
		if (command_poll_slot(queue, slot) || time_after(jiffies, deadline))
			return;
	}
}

static void command_count_completion(struct cxib_command_slot *slot, int err)
{
	struct cxib_command_statistics *statistics = slot->statistics;
	u64 elapsed = ktime_to_ns(ktime_sub(slot->completed, slot->issued));

	if (!statistics)
		return;
	statistics->count++;
	statistics->failures += !!err;
	statistics->total_ns += elapsed;
	statistics->max_ns = max(statistics->max_ns, elapsed);
}

/*
 * Returns true if timed-out commands hold all slots of user space, which can issue no command then.
 */
static bool command_all_timed_out(const struct cxib_command_queue *queue)
{
	unsigned int i;

	lockdep_assert_held(&queue->lock);

	for_each_set_bit(i, &queue->user.members, CXIB_COMMAND_SLOTS_MAX)
		if (queue->slots[i].state != CXIB_SLOT_TIMED_OUT)
			return false;
	return true;
}

static void command_log_timeout(struct cxib_command_queue *queue,
				const struct cxib_command_slot *slot, unsigned int limit_ms)
{
	trace_cmd_timeout(queue->dev, slot);
	if (__ratelimit(&queue->messages))
		dev_err(queue->dev,
			"command %s (0x%03x, op_mod 0x%x): timed out after %u ms, slot %u held until late completion\n",
			hw_cmd_name(slot->opcode), slot->opcode, slot->op_mod, limit_ms,
			slot->number);
}

/*
 * Counts a create whose result is unknown: firmware may have executed the command, or may still
 * do so.
 */
static void command_count_pending_create(struct cxib_command_queue *queue,
					 const struct cxib_command_slot *slot,
					 unsigned int limit_ms)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(limit_ms);

	lockdep_assert_held(&queue->lock);

	if (!slot->create_kind)
		return;
	/* Bad output (@limit_ms 0) must not shorten the wait for late completions. */
	if (!queue->num_pending++ || time_after(deadline, queue->late_deadline))
		WRITE_ONCE(queue->late_deadline, deadline);
}

/*
 * Ends the wait for a command. Returns false if the command has completed by now. Otherwise the
 * device owns the slot, and @err is -EIO if the queue is fatal, else -ETIMEDOUT.
 */
static bool command_time_out_slot(struct cxib_command_queue *queue, struct cxib_command_slot *slot,
				  unsigned int limit_ms, int *err)
{
	bool stuck = false;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	command_complete_slot(queue, slot);
	if (slot->state == CXIB_SLOT_COMPLETED) {
		spin_unlock_irqrestore(&queue->lock, flags);
		return false;
	}
	slot->state = CXIB_SLOT_TIMED_OUT;
	command_count_pending_create(queue, slot, limit_ms);
	if (slot->statistics)
		slot->statistics->timeouts += !cxib_command_queue_is_fatal(queue);
	*err = cxib_command_queue_is_fatal(queue) ? -EIO : -ETIMEDOUT;
	if (!cxib_command_queue_is_fatal(queue) && command_all_timed_out(queue))
		stuck = true;
	spin_unlock_irqrestore(&queue->lock, flags);

	if (stuck) {
		dev_err(queue->dev,
			"command queue: all %u commands timed out\n",
			(unsigned int)hweight_long(queue->user.members));
		cxib_command_queue_set_fatal(queue);
	}
	return true;
}

static int command_finish(struct cxib_command_queue *queue, struct cxib_command_slot *slot,
			  struct cxib_command *command)
{
	unsigned long flags;
	int err;

	err = cxib_command_check_output(queue, slot, command);
	trace_cmd_done(queue->dev, slot, command->status, command->syndrome, err);
	spin_lock_irqsave(&queue->lock, flags);
	command_count_completion(slot, err);
	/* The create stays pending until reset: no further output will arrive. */
	if (err == -EBADMSG)
		command_count_pending_create(queue, slot, 0);
	spin_unlock_irqrestore(&queue->lock, flags);
	return err;
}

static int command_run_in_slot(struct cxib_command_queue *queue, struct cxib_command_slot *slot,
			       struct cxib_command *command, unsigned int limit_ms)
{
	int err;

	err = command_prepare_slot(queue, slot, command);
	if (!err) {
		err = command_issue(queue, slot, command);
		if (err)
			command_free_mailboxes(queue, slot);
	}
	if (err) {
		cxib_command_release_slot(queue, slot);
		return err;
	}

	command_await_completion(queue, slot, limit_ms);
	if (command_time_out_slot(queue, slot, limit_ms, &err)) {
		if (err == -ETIMEDOUT)
			command_log_timeout(queue, slot, limit_ms);
		return err;
	}
	err = command_finish(queue, slot, command);
	cxib_command_release_slot(queue, slot);
	return err;
}

static bool command_has_no_pending_create(struct cxib_command_queue *queue)
{
	return !READ_ONCE(queue->num_pending) || cxib_command_queue_is_fatal(queue);
}

/*
 * Firmware refuses to destroy a parent while it has a child, even a child that the driver does not
 * know. So a command that destroys a parent waits for pending creates, but at most until the
 * timeout of each creating command has passed twice.
 */
static void command_await_pending_creates(struct cxib_command_queue *queue, u16 opcode)
{
	const long recheck = msecs_to_jiffies(SLOT_RECHECK_MS);
	long left;

	if (command_has_no_pending_create(queue) || !cxib_command_destroys_parent(opcode))
		return;
	for (;;) {
		left = READ_ONCE(queue->late_deadline) - jiffies;
		if (left <= 0 || command_has_no_pending_create(queue))
			return;
		cxib_command_queue_reap_late(queue);
		wait_event_timeout(queue->create_wait, command_has_no_pending_create(queue),
				   min(left, recheck));
	}
}

/**
 * cxib_cmd_exec() - executes a firmware command
 * @queue: a started queue
 * @command: input, output buffer and options; @out, @status and @syndrome are filled
 *
 * Sleeps until the command has completed or timed out. MANAGE_PAGES has its own slot. All other
 * commands share the other slots; each command waits for a free slot at most as long as its
 * timeout. Threads of user space get about half of the shared slots, so that the driver and ULPs do
 * not wait for user space.
 *
 * Context: process context, may sleep, not interruptible by signals.
 * Return: 0, or
 *	-EINVAL when input or output are too short for a command,
 *	-ENOMEM when there is no memory for mailboxes,
 *	-EBUSY when no slot became free in time: the command was not issued,
 *	-ETIMEDOUT when no completion arrived in time: firmware may still execute the command,
 *	-EIO when the device is fatal, the command was not delivered, or firmware failed,
 *	-EBADMSG when the output is malformed,
 *	-EREMOTEIO when the command is @optional and firmware refused it, otherwise
 *	cxib_command_status_to_errno() of the status; status and syndrome are then in @command and
 *	in the kernel log.
 */
int cxib_cmd_exec(struct cxib_command_queue *queue, struct cxib_command *command)
{
	unsigned int limit_ms = command->timeout_ms ?: queue->timeout_ms;
	struct cxib_command_slot *slot;
	u16 opcode;

	if (command->in_length < CXIB_COMMAND_INLINE ||
	    command->out_length < sizeof(struct hw_cmd_out)) {
		dev_err(queue->dev,
			"command: input length %zu or output length %zu below minimum (%u, %zu)\n",
			command->in_length, command->out_length, CXIB_COMMAND_INLINE,
			sizeof(struct hw_cmd_out));
		return -EINVAL;
	}
	memset(command->out, 0, command->out_length);
	if (cxib_command_queue_is_fatal(queue))
		return -EIO;

	opcode = hw_cmd_in_get_opcode(command->in);
	if (!command->is_cleanup)
		command_await_pending_creates(queue, opcode);
	slot = command_take_slot(queue, command_choose_class(queue, opcode, command),
				 jiffies + msecs_to_jiffies(limit_ms));
	if (slot)
		return command_run_in_slot(queue, slot, command, limit_ms);
	if (cxib_command_queue_is_fatal(queue))
		return -EIO;
	if (__ratelimit(&queue->messages))
		dev_err(queue->dev,
			"command %s (0x%03x): no free slot within %u ms\n",
			hw_cmd_name(opcode), opcode, limit_ms);
	return -EBUSY;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_exec);

/**
 * cxib_command_queue_complete() - handles a command completion event
 * @queue: the queue
 * @slots: bit n: the command in slot n has completed. A bit has no effect if its slot has no
 *	outstanding command, or if the device still owns the slot.
 *
 * Context: any, also interrupts.
 */
void cxib_command_queue_complete(struct cxib_command_queue *queue, u32 slots)
{
	unsigned long wanted = slots & GENMASK(queue->slot_count - 1, 0);
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&queue->lock, flags);
	for_each_set_bit(i, &wanted, CXIB_COMMAND_SLOTS_MAX)
		if (command_complete_slot(queue, &queue->slots[i]))
			wake_up(&queue->slots[i].wait);
	spin_unlock_irqrestore(&queue->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_command_queue_complete);

static struct cxib_command_slot *command_find_late(struct cxib_command_queue *queue)
{
	struct cxib_command_slot *found = NULL;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&queue->lock, flags);
	for (i = 0; i < queue->slot_count && !found; i++) {
		struct cxib_command_slot *slot = &queue->slots[i];

		if (slot->state == CXIB_SLOT_TIMED_OUT && !command_is_owned_by_device(queue, slot))
			found = slot;
	}
	if (found) {
		found->state = CXIB_SLOT_FILLING;
		queue->late_completions++;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return found;
}

static void command_destroy_later(struct cxib_command_queue *queue, struct cxib_command_slot *slot)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	slot->state = CXIB_SLOT_LATE;
	spin_unlock_irqrestore(&queue->lock, flags);
	queue_work(system_dfl_wq, &queue->late_work);
}

/**
 * cxib_command_queue_stop_late_work() - cancels the work item that destroys late objects
 * @queue: a queue that executes no further commands
 *
 * Context: process context, may sleep.
 */
void cxib_command_queue_stop_late_work(struct cxib_command_queue *queue)
{
	cancel_work_sync(&queue->late_work);
}

/**
 * cxib_command_queue_reap_late() - reaps timed-out commands that have completed since
 * @queue: the queue
 *
 * Frees the slots of these commands. If such a command has created an object, a work item destroys
 * the object before it frees the slot.
 *
 * Context: process context.
 * Return: number of commands reaped.
 */
unsigned int cxib_command_queue_reap_late(struct cxib_command_queue *queue)
{
	struct cxib_command_slot *slot;
	unsigned int count = 0;

	while ((slot = command_find_late(queue))) {
		trace_cmd_late(queue->dev, slot);
		if (__ratelimit(&queue->messages))
			dev_warn(queue->dev,
				 "command %s (0x%03x): late completion after %lld ms, slot %u released\n",
				 hw_cmd_name(slot->opcode), slot->opcode,
				 ktime_ms_delta(ktime_get(), slot->issued), slot->number);
		if (slot->create_kind)
			command_destroy_later(queue, slot);
		else
			cxib_command_release_slot(queue, slot);
		count++;
	}
	return count;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_command_queue_reap_late);

static void command_wake_all(struct cxib_command_queue *queue)
{
	unsigned int i;

	for (i = 0; i < queue->slot_count; i++)
		wake_up(&queue->slots[i].wait);
	wake_up_all(&queue->ordinary.wait);
	wake_up_all(&queue->user.wait);
	wake_up_all(&queue->pages.wait);
	wake_up_all(&queue->create_wait);
}

/**
 * cxib_command_queue_set_fatal() - stops issuing commands
 * @queue: the queue
 *
 * Outstanding and later commands fail with -EIO. The slots of outstanding commands are held until
 * the queue is destroyed.
 *
 * Context: any that may wake up tasks.
 */
void cxib_command_queue_set_fatal(struct cxib_command_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	cxib_hw_state_raise(queue->bus, CXIB_HW_FATAL);
	spin_unlock_irqrestore(&queue->lock, flags);
	command_wake_all(queue);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_command_queue_set_fatal);

/**
 * cxib_command_queue_is_fatal() - whether cxib_command_queue_set_fatal() was called
 * @queue: the queue
 *
 * Return: true if no further command is issued.
 */
bool cxib_command_queue_is_fatal(const struct cxib_command_queue *queue)
{
	return cxib_hw_state(queue->bus) >= CXIB_HW_FATAL;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_command_queue_is_fatal);

/**
 * cxib_command_queue_is_busy() - whether the device may still write to the queue
 * @queue: the queue
 *
 * Return: true if a slot is in use or held by a timed-out command, if the device may have an object
 * that the driver does not know, or if the device has had a fatal error.
 */
bool cxib_command_queue_is_busy(struct cxib_command_queue *queue)
{
	unsigned long flags;
	unsigned int i;
	bool busy;

	spin_lock_irqsave(&queue->lock, flags);
	busy = cxib_command_queue_is_fatal(queue) || queue->num_pending;
	for (i = 0; i < queue->slot_count; i++)
		busy |= queue->slots[i].state != CXIB_SLOT_FREE;
	spin_unlock_irqrestore(&queue->lock, flags);
	return busy;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_command_queue_is_busy);

/**
 * cxib_command_queue_timed_out() - counts slots held by timed-out commands
 * @queue: the queue
 *
 * Return: number of slots that wait for a late completion.
 */
unsigned int cxib_command_queue_timed_out(struct cxib_command_queue *queue)
{
	unsigned int count = 0;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&queue->lock, flags);
	for (i = 0; i < queue->slot_count; i++)
		count += queue->slots[i].state == CXIB_SLOT_TIMED_OUT;
	spin_unlock_irqrestore(&queue->lock, flags);
	return count;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_command_queue_timed_out);

static void command_set_polled(struct cxib_command_queue *queue, bool polled)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	queue->polled = polled;
	spin_unlock_irqrestore(&queue->lock, flags);
	command_wake_all(queue);
}

/**
 * cxib_command_queue_use_events() - switches to event mode
 * @queue: a queue whose command EQ exists
 */
void cxib_command_queue_use_events(struct cxib_command_queue *queue)
{
	command_set_polled(queue, false);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_command_queue_use_events);

/**
 * cxib_command_queue_use_polling() - switches to polling mode
 * @queue: a queue whose command EQ is about to be destroyed, or was destroyed
 */
void cxib_command_queue_use_polling(struct cxib_command_queue *queue)
{
	command_set_polled(queue, true);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_command_queue_use_polling);

static void command_init_slots(struct cxib_command_queue *queue)
{
	unsigned int i;

	for (i = 0; i < CXIB_COMMAND_SLOTS_MAX; i++) {
		queue->slots[i].number = i;
		init_waitqueue_head(&queue->slots[i].wait);
	}
	init_waitqueue_head(&queue->ordinary.wait);
	init_waitqueue_head(&queue->user.wait);
	init_waitqueue_head(&queue->pages.wait);
}

/**
 * cxib_command_queue_create() - allocates a command queue
 * @queue: filled
 * @bus: bus access; no register is accessed yet
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int cxib_command_queue_create(struct cxib_command_queue *queue, struct cxib_bus *bus)
{
	*queue = (struct cxib_command_queue){
		.bus = bus,
		.dev = bus->dev,
		.timeout_ms = CXIB_COMMAND_TIMEOUT_MS,
		.polled = true,
	};
	spin_lock_init(&queue->lock);
	INIT_WORK(&queue->late_work, cxib_pending_creates_work_fn);
	init_waitqueue_head(&queue->create_wait);
	INIT_LIST_HEAD(&queue->pending_memory);
	ratelimit_state_init(&queue->messages, DEFAULT_RATELIMIT_INTERVAL, MESSAGE_BURST);
	xa_init(&queue->statistics);
	command_init_slots(queue);

	queue->pool = cxib_mailbox_pool_create(queue->dev);
	if (!queue->pool)
		return -ENOMEM;
	queue->entries = dma_alloc_coherent(queue->dev, QUEUE_SIZE, &queue->dma, GFP_KERNEL);
	if (!queue->entries) {
		dma_pool_destroy(queue->pool);
		return -ENOMEM;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_command_queue_create);

static bool command_is_geometry_supported(unsigned int log_size, unsigned int log_stride)
{
	return log_size >= LOG_SLOTS_MIN && log_size <= LOG_SLOTS_MAX &&
	       log_stride >= LOG_ENTRY_SIZE && log_size + log_stride <= LOG_QUEUE_SIZE;
}

/**
 * cxib_command_queue_start() - writes the address of the queue to the init segment
 * @queue: a created queue; firmware is initialized
 *
 * Context: process context.
 * Return: 0, or -EPROTO when the device requires an unsupported queue size or stride.
 */
int cxib_command_queue_start(struct cxib_command_queue *queue)
{
	u32 word = cxib_bus_read(queue->bus, HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_31_12);
	unsigned int log_size = FIELD_GET(HW_INITIAL_SEG_MASK_LOG_CMDQ_SIZE, word);
	unsigned int log_stride = FIELD_GET(HW_INITIAL_SEG_MASK_LOG_CMDQ_STRIDE, word);

	if (!command_is_geometry_supported(log_size, log_stride)) {
		dev_err(queue->dev,
			"command queue: log_size %u, log_stride %u not supported (init segment word 0x%x = 0x%08x, log_size [%u, %u], log_stride >= %u, size <= %u bytes)\n",
			log_size, log_stride, HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_31_12, word,
			LOG_SLOTS_MIN, LOG_SLOTS_MAX, LOG_ENTRY_SIZE, QUEUE_SIZE);
		return -EPROTO;
	}
	queue->slot_count = 1U << log_size;
	queue->log_stride = log_stride;
	queue->pages.members = BIT(queue->slot_count - 1);
	queue->ordinary.members = queue->pages.members - 1;
	/* User space gets the upper half, because other commands take the lower slots first. */
	queue->user.members = queue->ordinary.members &
				  ~GENMASK(queue->slot_count / 2 - 1, 0) ?:
				  queue->ordinary.members;

	cxib_bus_write(queue->bus, HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_63_32,
		       upper_32_bits(queue->dma));
	cxib_bus_write(queue->bus, HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_31_12,
		       lower_32_bits(queue->dma));
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_command_queue_start);

static void command_free_statistics(struct cxib_command_queue *queue)
{
	struct cxib_command_statistics *statistics;
	unsigned long opcode;

	xa_for_each(&queue->statistics, opcode, statistics)
		kfree(statistics);
	xa_destroy(&queue->statistics);
}

/**
 * cxib_command_queue_destroy() - undo cxib_command_queue_create()
 * @queue: a queue without callers; bus mastering is cleared, or all commands have completed
 *
 * Context: process context, may sleep.
 */
void cxib_command_queue_destroy(struct cxib_command_queue *queue)
{
	unsigned int i;

	cxib_command_queue_stop_late_work(queue);
	for (i = 0; i < CXIB_COMMAND_SLOTS_MAX; i++)
		command_free_mailboxes(queue, &queue->slots[i]);
	dma_free_coherent(queue->dev, QUEUE_SIZE, queue->entries, queue->dma);
	dma_pool_destroy(queue->pool);
	command_free_statistics(queue);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_command_queue_destroy);
