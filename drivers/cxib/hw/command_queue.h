/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command queue: a page of slots through which the driver sends commands
 * to the firmware. Any number of threads may have commands carried out at the
 * same time; each one sleeps until its answer is there.
 *
 * A slot belongs to nobody (free), to a caller (filling, answered), to the
 * device (issued), or to the device after its caller gave up (abandoned). An
 * abandoned slot and its mailboxes stay as they are until the answer comes,
 * because the device may still write to them. If the command makes something,
 * the slot is "late" from then on, until hw/creations.c has looked at the answer.
 */
#ifndef CXIB_HW_COMMAND_QUEUE_H
#define CXIB_HW_COMMAND_QUEUE_H

#include <linux/ktime.h>
#include <linux/ratelimit.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "hw/command_interface.h"
#include "hw/commands_objects.h"
#include "hw/creations.h"
#include "hw/mailbox.h"

struct cxib_bus;
struct dentry;
struct device;
struct dma_pool;

/* The doorbell and the completion event have one bit for each slot. */
#define CXIB_COMMAND_SLOTS_MAX		32
/* The time that the firmware may take for a command, unless told otherwise. */
#define CXIB_COMMAND_TIMEOUT_MS		60000
/* Bytes at the start of an input or output that lie in the slot itself. */
#define CXIB_COMMAND_INLINE		16

/**
 * enum cxib_slot_state - whose slot it is
 * @CXIB_SLOT_FREE: nobody's
 * @CXIB_SLOT_FILLING: a caller's, who prepares a command
 * @CXIB_SLOT_ISSUED: the device's
 * @CXIB_SLOT_COMPLETED: the caller's, who has to look at the answer
 * @CXIB_SLOT_TIMED_OUT: the device's; nobody waits for the answer
 * @CXIB_SLOT_LATE: of the work item that destroys what such a command has made
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
 * struct cxib_command_statistics - how the commands of one opcode went
 * @opcode: the opcode
 * @count: commands that were answered
 * @failures: of these, those answered with an error
 * @timeouts: commands that were not answered in time
 * @total_ns: time from doorbell to answer, of all answered ones, nanoseconds
 * @max_ns: the longest of these
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
 * @state: whose it is
 * @number: its place in the queue
 * @token: token of the command
 * @opcode: of the command
 * @op_mod: of the command
 * @head: first words of its input
 * @creation: what it makes; NULL: nothing
 * @out_size: bytes that the output may have
 * @issued: when the doorbell was rung
 * @completed: when the answer was seen
 * @input: mailboxes of the input
 * @output: mailboxes of the output
 * @statistics: where the outcome is counted; NULL if there was no memory for it
 * @wait: where the caller waits for the answer
 *
 * @state is protected by the lock of the queue. The rest belongs to whom the
 * slot belongs to, and does not change while the device has it.
 */
struct cxib_command_slot {
	enum cxib_slot_state state;
	u8 number;
	u8 token;
	u16 opcode;
	u16 op_mod;
	struct hw_general_obj_in_cmd_hdr head;
	const struct cxib_creation *creation;
	u32 out_size;
	ktime_t issued;
	ktime_t completed;
	struct cxib_mailbox_chain input;
	struct cxib_mailbox_chain output;
	struct cxib_command_statistics *statistics;
	wait_queue_head_t wait;
};

/**
 * struct cxib_slot_class - slots that serve the same kind of commands
 * @members: bit n: slot n is one of them
 * @wait: where callers wait for a free one
 */
struct cxib_slot_class {
	unsigned long members;
	wait_queue_head_t wait;
};

/**
 * struct cxib_command_queue - the queue of one device
 * @bus: the way to the device
 * @dev: shorthand for the bus's device
 * @pool: mailboxes
 * @entries: memory of the queue, one page
 * @dma: its bus address
 * @slot_count: number of slots
 * @log_stride: log2 of the bytes from one entry to the next
 * @ordinary: slots for all commands but MANAGE_PAGES
 * @pages: the slot for MANAGE_PAGES: the firmware may need pages to finish the
 *	commands in all other slots
 * @statistics: struct cxib_command_statistics by opcode
 * @timeout_ms: time limit of commands that do not set their own
 * @messages: how often the kernel log gets something about commands of this
 *	device, whatever others have to say
 * @settle: looks at late answers of commands that make something
 * @settled: where one waits for that
 * @lock: protects what follows, the state of every slot and the contents of
 *	@statistics. Taken in interrupts.
 * @slots: the slots
 * @last_token: token of the youngest command
 * @polled: answers are looked for, no event tells of them
 * @fatal: no command is issued any more and nobody waits for an answer
 * @issued: commands issued so far
 * @late_completions: answers that came after their caller gave up
 * @missed_events: answers that were found without an event in event mode
 * @open: creating commands whose object the driver does not know, if there is one
 * @late_deadline: until then, in jiffies, it is worth while to wait for them
 * @kept: struct cxib_kept: memory that is kept as long as there are any
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
	struct cxib_slot_class pages;
	struct xarray statistics;
	unsigned int timeout_ms;
	struct ratelimit_state messages;
	struct work_struct settle;
	wait_queue_head_t settled;

	spinlock_t lock; /* slots, see above */
	struct cxib_command_slot slots[CXIB_COMMAND_SLOTS_MAX];
	u8 last_token;
	bool polled;
	bool fatal;
	u64 issued;
	u64 late_completions;
	u64 missed_events;
	unsigned int open;
	unsigned long late_deadline;
	struct list_head kept;
};

/**
 * struct cxib_slot_description - what a slot of the queue is used for
 * @state: whose it is, in words
 * @command: the command in it, by name; NULL in a free slot
 * @opcode: of the command
 * @op_mod: of the command
 * @token: of the command
 * @age_ms: since the doorbell was rung
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
 * struct cxib_command - a command to be carried out
 * @in: input, begins with the opcode
 * @in_length: its length in bytes, at least 16
 * @out: where the output goes; zeros when there was no proper answer
 * @out_length: room for it in bytes, at least 12
 * @timeout_ms: time limit; 0 stands for that of the queue
 * @no_log: a bad status is no news for the kernel log
 * @settles: destroys what a late answer tells of; does not wait for other late answers
 * @status: filled: status of the answer
 * @syndrome: filled: syndrome of the answer
 */
struct cxib_command {
	const void *in;
	size_t in_length;
	void *out;
	size_t out_length;
	unsigned int timeout_ms;
	bool no_log;
	bool settles;
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
bool cxib_command_queue_is_fatal(struct cxib_command_queue *queue);
void cxib_command_queue_stop_settling(struct cxib_command_queue *queue);
void cxib_command_release_slot(struct cxib_command_queue *queue, struct cxib_command_slot *slot);
unsigned int cxib_command_queue_reap_late(struct cxib_command_queue *queue);
unsigned int cxib_command_queue_timed_out(struct cxib_command_queue *queue);

/* The entry of a slot. */
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

/* Carries out the command in the structure @in and puts the answer into @out. */
#define cxib_cmd_exec_inout(queue, in, out) \
	cxib_cmd_exec_buf((queue), &(in), sizeof(in), &(out), sizeof(out))

/* command_answer.c */
int cxib_command_check_output(struct cxib_command_queue *queue,
			      const struct cxib_command_slot *slot, struct cxib_command *command);
int cxib_command_status_to_errno(u8 status);

/* command_debugfs.c */
void cxib_command_queue_describe(struct cxib_command_queue *queue, unsigned int number,
				 struct cxib_slot_description *description);
void cxib_command_queue_debugfs(struct cxib_command_queue *queue, struct dentry *directory);

/**
 * cxib_command_is_refusal() - whether the device refused a command and goes on
 * @err: how a command has ended
 *
 * Whoever can do without may go on then: the kernel log has the command, its status and
 * syndrome. A device that does not answer, or with bad output, is out of order.
 */
static inline bool cxib_command_is_refusal(int err)
{
	return err && err != -ETIMEDOUT && err != -EBADMSG;
}

/* For a command that a start can do without. */
static inline int cxib_command_optional(int err)
{
	return cxib_command_is_refusal(err) ? 0 : err;
}

#endif
