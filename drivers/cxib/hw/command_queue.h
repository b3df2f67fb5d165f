/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command queue: a page of slots through which the driver sends commands to firmware. Any
 * number of threads may execute commands concurrently; each sleeps until its command completes.
 *
 * A slot is owned by software (FREE, FILLING, COMPLETED, LATE) or by hardware (ISSUED, TIMED_OUT).
 * A timed-out command holds its slot and mailboxes until its completion arrives or the function is
 * reset, because firmware may still DMA into them. If a timed-out command creates an object, its
 * slot is LATE from the completion until hw/pending_creates.c has destroyed the object.
 */
#ifndef CXIB_HW_COMMAND_QUEUE_H
#define CXIB_HW_COMMAND_QUEUE_H

#include <linux/ktime.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "hw/command_interface.h"
#include "hw/commands_objects.h"
#include "hw/pending_creates.h"
#include "hw/mailbox.h"

struct cxib_bus;
struct dentry;
struct device;
struct dma_pool;

/* The doorbell and the completion event have one bit for each slot. */
#define CXIB_COMMAND_SLOTS_MAX		32
/* Default timeout of commands, as in mlx5_core: some commands, such as a teardown, take seconds. */
#define CXIB_COMMAND_TIMEOUT_MS		60000
/*
 * The first bytes of an input and of an output are in the queue entry: length of this inline data.
 */
#define CXIB_COMMAND_INLINE		16

/**
 * enum cxib_slot_state - state and owner of a slot
 * @CXIB_SLOT_FREE: unused
 * @CXIB_SLOT_FILLING: owned by a caller that prepares a command or reads its output
 * @CXIB_SLOT_ISSUED: owned by the device; the caller waits for the completion
 * @CXIB_SLOT_COMPLETED: owned by the caller, which must check the output
 * @CXIB_SLOT_TIMED_OUT: owned by the device; the caller has returned
 * @CXIB_SLOT_LATE: completed after a timeout; owned by the work item that destroys the object
 */
enum cxib_slot_state {
	CXIB_SLOT_FREE,
	CXIB_SLOT_FILLING,
	CXIB_SLOT_ISSUED,
	CXIB_SLOT_COMPLETED,
	CXIB_SLOT_TIMED_OUT,
	CXIB_SLOT_LATE,
};

/**
 * struct cxib_command_statistics - statistics of the commands with one opcode
 * @opcode: the opcode
 * @count: completed commands
 * @failures: completed commands that failed
 * @timeouts: commands that timed out
 * @total_ns: sum of the latencies of completed commands, doorbell to completion, nanoseconds
 * @max_ns: maximum of these latencies
 */
struct cxib_command_statistics {
	u16 opcode;
	u64 count;
	u64 failures;
	u64 timeouts;
	u64 total_ns;
	u64 max_ns;
};

/**
 * struct cxib_command_slot - one entry of the queue
 * @state: state and owner
 * @number: index in the queue
 * @token: token of the command
 * @opcode: opcode of the command
 * @op_mod: op_mod of the command
 * @head: first words of the input
 * @create_kind: the kind of object that the command creates; NULL: no object
 * @out_size: length in bytes of the output buffer
 * @issued: when the doorbell was rung
 * @completed: when the completion was noticed
 * @input: mailboxes of the input
 * @output: mailboxes of the output
 * @statistics: statistics of the opcode; NULL if they could not be allocated
 * @wait: the caller waits here for the completion
 *
 * The queue lock protects @state. Only the owner of the slot accesses the other members; they do
 * not change while the device owns the slot.
 */
struct cxib_command_slot {
	enum cxib_slot_state state;
	u8 number;
	u8 token;
	u16 opcode;
	u16 op_mod;
	struct hw_general_obj_in_cmd_hdr head;
	const struct cxib_create_kind *create_kind;
	u32 out_size;
	ktime_t issued;
	ktime_t completed;
	struct cxib_mailbox_chain input;
	struct cxib_mailbox_chain output;
	struct cxib_command_statistics *statistics;
	wait_queue_head_t wait;
};

/**
 * struct cxib_slot_class - slots for one kind of commands
 * @members: bit n: slot n is in the class
 * @wait: callers wait here for a free slot
 */
struct cxib_slot_class {
	unsigned long members;
	wait_queue_head_t wait;
};

/**
 * struct cxib_command_queue - the command queue of one device
 * @bus: bus access to the device
 * @dev: @dev of @bus
 * @pool: DMA pool of mailboxes
 * @entries: the queue, one page
 * @dma: DMA address of @entries
 * @slot_count: number of slots
 * @log_stride: log2 of the distance of entries in bytes
 * @ordinary: slots for all commands except MANAGE_PAGES
 * @user: the upper half of @ordinary: the only slots for threads of user space
 * @pages: the slot for MANAGE_PAGES: firmware may need pages to complete the commands in all
 *	other slots
 * @statistics: struct cxib_command_statistics by opcode
 * @timeout_ms: timeout of commands that do not set their own
 * @messages: rate limit of the device's messages about commands
 * @late_work: work item that checks late outputs and destroys the objects that they report
 * @create_wait: woken when @num_pending has decreased
 * @lock: protects the members below, the state of every slot and the contents of @statistics;
 *	taken in interrupts
 * @slots: the slots
 * @last_token: token of the last command
 * @polled: polling mode: completions raise no event
 * @issued: number of commands issued
 * @late_completions: number of completions after a timeout
 * @missed_events: number of completions found by polling in event mode
 * @num_pending: number of pending creates: the driver does not know whether their object exists
 * @late_deadline: time in jiffies until which the driver waits for their late completions
 * @pending_memory: struct cxib_pending_memory that are kept while @num_pending is not 0
 */
struct cxib_command_queue {
	struct cxib_bus *bus;
	struct device *dev;
	struct dma_pool *pool;
	void *entries;
	dma_addr_t dma;
	unsigned int slot_count;
	unsigned int log_stride;
	struct cxib_slot_class ordinary;
	struct cxib_slot_class user;
	struct cxib_slot_class pages;
	struct xarray statistics;
	unsigned int timeout_ms;
	struct ratelimit_state messages;
	struct work_struct late_work;
	wait_queue_head_t create_wait;

	spinlock_t lock; /* slots, statistics, pending creates */
	struct cxib_command_slot slots[CXIB_COMMAND_SLOTS_MAX];
	u8 last_token;
	bool polled;
	u64 issued;
	u64 late_completions;
	u64 missed_events;
	unsigned int num_pending;
	unsigned long late_deadline;
	struct list_head pending_memory;
};

/**
 * struct cxib_slot_description - description of a slot for debugfs and devlink
 * @state: name of its state
 * @command: name of its command; NULL in a free slot
 * @opcode: opcode of the command
 * @op_mod: op_mod of the command
 * @token: token of the command
 * @age_ms: time since the doorbell was rung
 */
struct cxib_slot_description {
	const char *state;
	const char *command;
	u16 opcode;
	u16 op_mod;
	u8 token;
	s64 age_ms;
};

/**
 * struct cxib_command - a command to execute
 * @in: input, starts with the opcode
 * @in_length: length of @in in bytes, at least 16
 * @out: filled with the output; zeroed when there was no valid output
 * @out_length: length of @out in bytes, at least 12
 * @timeout_ms: timeout; 0: that of the queue
 * @no_log: do not log a bad status
 * @for_user: user space has requested the command. A bad status is an error of user space, not of
 *	the driver or device, and is logged as a debug message.
 * @optional: the caller can continue without the command: each refusal by firmware is -EREMOTEIO
 * @is_cleanup: the command destroys the object of a late completion, so it does not wait for other
 *	late completions
 * @status: filled: status in the output
 * @syndrome: filled: syndrome in the output
 */
struct cxib_command {
	const void *in;
	size_t in_length;
	void *out;
	size_t out_length;
	unsigned int timeout_ms;
	bool no_log;
	bool for_user;
	bool optional;
	bool is_cleanup;
	u8 status;
	u32 syndrome;
};

int cxib_command_queue_create(struct cxib_command_queue *queue, struct cxib_bus *bus);
void cxib_command_queue_destroy(struct cxib_command_queue *queue);
int cxib_command_queue_start(struct cxib_command_queue *queue);
int cxib_cmd_exec(struct cxib_command_queue *queue, struct cxib_command *command);
void cxib_command_queue_use_events(struct cxib_command_queue *queue);
void cxib_command_queue_use_polling(struct cxib_command_queue *queue);
void cxib_command_queue_complete(struct cxib_command_queue *queue, u32 slots);
void cxib_command_queue_set_fatal(struct cxib_command_queue *queue);
bool cxib_command_queue_is_busy(struct cxib_command_queue *queue);
bool cxib_command_queue_is_fatal(const struct cxib_command_queue *queue);
void cxib_command_queue_stop_late_work(struct cxib_command_queue *queue);
void cxib_command_release_slot(struct cxib_command_queue *queue, struct cxib_command_slot *slot);
unsigned int cxib_command_queue_reap_late(struct cxib_command_queue *queue);
unsigned int cxib_command_queue_timed_out(struct cxib_command_queue *queue);

static inline struct hw_cmd_queue_entry *
cxib_command_entry(const struct cxib_command_queue *queue, const struct cxib_command_slot *slot)
{
	return queue->entries + ((size_t)slot->number << queue->log_stride);
}

static inline int cxib_cmd_exec_buf(struct cxib_command_queue *queue, const void *in,
				    size_t in_length, void *out, size_t out_length)
{
	struct cxib_command command = {
		.in = in, .in_length = in_length, .out = out, .out_length = out_length,
	};

	return cxib_cmd_exec(queue, &command);
}

/**
 * cxib_command_alloc_in() - allocates the input of a command with a list
 * @command: gets the input and its length
 * @length: length in bytes; user space may choose it
 *
 * Return: the input, zeroed, to be freed with kvfree(); NULL without memory.
 */
static inline void *cxib_command_alloc_in(struct cxib_command *command, size_t length)
{
	command->in_length = length;
	command->in = kvzalloc(length, GFP_KERNEL | __GFP_NOWARN);
	return (void *)command->in;
}

/**
 * cxib_command_alloc_out() - allocates the output of a command with a list
 * @command: gets the output buffer and its length
 * @length: length in bytes
 *
 * Return: the buffer, to be freed with kvfree(); NULL without memory.
 */
static inline void *cxib_command_alloc_out(struct cxib_command *command, size_t length)
{
	command->out_length = length;
	command->out = kvzalloc(length, GFP_KERNEL);
	return command->out;
}

/* Executes the command in the structure @in and fills the structure @out. */
#define cxib_cmd_exec_inout(queue, in, out) \
	cxib_cmd_exec_buf((queue), &(in), sizeof(in), &(out), sizeof(out))

static inline int cxib_cmd_exec_optional_buf(struct cxib_command_queue *queue, const void *in,
					     size_t in_length, void *out, size_t out_length)
{
	struct cxib_command command = {
		.in = in, .in_length = in_length, .out = out, .out_length = out_length,
		.optional = true,
	};

	return cxib_cmd_exec(queue, &command);
}

/* As cxib_cmd_exec_inout(), for an optional command. */
#define cxib_cmd_exec_optional(queue, in, out) \
	cxib_cmd_exec_optional_buf((queue), &(in), sizeof(in), &(out), sizeof(out))

/* command_output.c */
int cxib_command_check_output(struct cxib_command_queue *queue,
			      const struct cxib_command_slot *slot, struct cxib_command *command);
int cxib_command_status_to_errno(u8 status);

/* command_debugfs.c */
void cxib_command_queue_describe(struct cxib_command_queue *queue, unsigned int number,
				 struct cxib_slot_description *description);
void cxib_command_queue_debugfs(struct cxib_command_queue *queue, struct dentry *directory);

/**
 * cxib_command_is_refusal() - whether firmware refused an optional command and still works
 * @err: what cxib_cmd_exec() returned for a command with @optional
 *
 * After a refusal, which is logged, the caller may continue. After other errors it must not
 * continue: if there was no memory for the command, the driver has learned nothing about the
 * device; after a timeout or a malformed output, the device is unreliable.
 */
static inline bool cxib_command_is_refusal(int err)
{
	return err == -EREMOTEIO;
}

/* Turns the refusal of an optional command into success. */
static inline int cxib_command_optional(int err)
{
	return cxib_command_is_refusal(err) ? 0 : err;
}

/**
 * cxib_command_is_unknown() - whether firmware may still execute a failed command, or has done so
 * @err: what cxib_cmd_exec() returned; the device is not fatal
 *
 * A command that found no free slot (-EBUSY) has changed nothing, like a command that was refused.
 */
static inline bool cxib_command_is_unknown(int err)
{
	return err == -ETIMEDOUT || err == -EBADMSG;
}

#endif
