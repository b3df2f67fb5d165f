// SPDX-License-Identifier: GPL-2.0-only
/* The command queue with a device whose completions are correct, bad, late or missing. */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fake_hca.h"
#include "hw/command_queue.h"
#include "hw/commands_device.h"
#include "hw/commands_port.h"
#include "kernel_kunit.h"

#define SHORT_MS	20

/* Firmware needs MANAGE_PAGES to complete other commands, so the last slot is for it. */
#define ORDINARY_SLOTS	(FAKE_SLOTS - 1)
#define PAGES_SLOT	ORDINARY_SLOTS

struct fixture {
	struct cxib_command_queue queue;
	struct fake_hca *hca;
};

static void announce(struct fake_hca *hca, u32 slots)
{
	struct fixture *fixture = hca->test->priv;

	cxib_command_queue_complete(&fixture->queue, slots);
}

static int command_queue_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->hca = fake_hca_create(test);
	fake_hca_start_queue(fixture->hca, &fixture->queue);
	test->priv = fixture;
	return 0;
}

static void command_queue_exit(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	if (!fixture)
		return;
	for (i = 0; i < FAKE_SLOTS; i++)
		cancel_work_sync(&fixture->hca->slots[i].work);
	KUNIT_EXPECT_EQ(test, fixture->hca->complaints, 0);
}

static void use_events(struct fixture *fixture)
{
	fixture->hca->announce = announce;
	cxib_command_queue_use_events(&fixture->queue);
}

static int exec_nop_as(struct fixture *fixture, struct cxib_command command)
{
	struct hw_nop_out out;
	struct hw_nop_in in = {};

	command.in = &in;
	command.in_length = sizeof(in);
	command.out = &out;
	command.out_length = sizeof(out);
	command.timeout_ms = SHORT_MS;
	hw_nop_in_set_opcode(&in, HW_CMD_NOP);
	return cxib_cmd_exec(&fixture->queue, &command);
}

static int exec_nop(struct fixture *fixture, bool optional)
{
	return exec_nop_as(fixture, (struct cxib_command){ .optional = optional });
}

static int run_nop_for_user(struct fixture *fixture)
{
	return exec_nop_as(fixture, (struct cxib_command){ .for_user = true });
}

static int run_nop(struct fixture *fixture)
{
	return exec_nop(fixture, false);
}

static unsigned int slots_in(struct fixture *fixture, enum cxib_slot_state state)
{
	unsigned int count = 0;
	unsigned int i;

	for (i = 0; i < fixture->queue.slot_count; i++)
		count += fixture->queue.slots[i].state == state;
	return count;
}

/* Sends @length bytes after the command header and expects the same bytes as output. */
static void expect_echo(struct kunit *test, struct fixture *fixture, size_t length, u8 seed)
{
	size_t size = sizeof(struct hw_access_register_in) + length;
	u8 *in = kvzalloc(size, GFP_KERNEL);
	u8 *out = kvzalloc(size, GFP_KERNEL);
	struct cxib_command command = {
		.in = in, .in_length = size, .out = out, .out_length = size,
	};
	size_t i;

	if (!in || !out) {
		KUNIT_FAIL(test, "no memory");
		goto free;
	}
	hw_access_register_in_set_opcode((void *)in, HW_CMD_ACCESS_REGISTER);
	for (i = sizeof(struct hw_access_register_in); i < size; i++)
		in[i] = seed + i * 7 + (i >> 8);
	KUNIT_EXPECT_EQ(test, 0, cxib_cmd_exec(&fixture->queue, &command));
	KUNIT_EXPECT_MEMEQ(test, in + sizeof(struct hw_access_register_in),
			   out + sizeof(struct hw_access_register_in), length);
free:
	kvfree(in);
	kvfree(out);
}

static void cmd_nop_completes_and_frees_slot(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, 0, run_nop(fixture));
	KUNIT_EXPECT_EQ(test, fixture->hca->commands, 1);
	KUNIT_EXPECT_EQ(test, fixture->hca->log[0], HW_CMD_NOP);
	KUNIT_EXPECT_EQ(test, slots_in(fixture, CXIB_SLOT_FREE), FAKE_SLOTS);
}

static const size_t data_lengths[] = { 0, 4, 512, 516, 1024, 4096, 100000 };

static void describe_length(const size_t *length, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "%zu bytes", *length);
}

KUNIT_ARRAY_PARAM(data_length, data_lengths, describe_length);

static void cmd_any_length_echoes_data(struct kunit *test)
{
	const size_t *length = test->param_value;

	expect_echo(test, test->priv, *length, 3);
}

static void cmd_token_is_never_0(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	/* The fake HCA complains about token 0. */
	for (i = 0; i < 600; i++)
		KUNIT_ASSERT_EQ(test, 0, run_nop(fixture));
}

static void cmd_event_completes_slot(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	use_events(fixture);
	KUNIT_EXPECT_EQ(test, 0, run_nop(fixture));
	KUNIT_EXPECT_EQ(test, fixture->queue.missed_events, 0);
}

static void cmd_lost_event_polls_slot(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_nop_out out;
	struct hw_nop_in in = {};

	cxib_command_queue_use_events(&fixture->queue);
	fixture->hca->asynchronous = true;
	hw_nop_in_set_opcode(&in, HW_CMD_NOP);
	KUNIT_EXPECT_EQ(test, 0, cxib_cmd_exec_inout(&fixture->queue, in, out));
}

static void cmd_event_of_incomplete_slot_is_ignored(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	use_events(fixture);
	fixture->hca->hold = true;
	cxib_command_queue_complete(&fixture->queue, ~0U);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, run_nop(fixture));
	cxib_command_queue_complete(&fixture->queue, ~0U);
	KUNIT_EXPECT_EQ(test, slots_in(fixture, CXIB_SLOT_TIMED_OUT), 1);
	fake_hca_release(fixture->hca);
}

struct expectation {
	enum fake_fault fault;
	int err;
};

static const struct expectation expectations[] = {
	{ FAKE_FAULT_STATUS, -EIO },
	{ FAKE_FAULT_UNKNOWN_STATUS, -EIO },
	{ FAKE_FAULT_DELIVERY, -EIO },
	{ FAKE_FAULT_TOKEN, -EBADMSG },
	{ FAKE_FAULT_LONG, -EBADMSG },
	{ FAKE_FAULT_SHORT, -EBADMSG },
	{ FAKE_FAULT_NEVER, -ETIMEDOUT },
};

static void describe_expectation(const struct expectation *expectation, char *description)
{
	strscpy(description, fake_fault_name(expectation->fault), KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(expectation, expectations, describe_expectation);

static void cmd_bad_output_returns_error(struct kunit *test)
{
	const struct expectation *expectation = test->param_value;
	struct fixture *fixture = test->priv;

	fake_hca_fail(fixture->hca, expectation->fault, 0);
	KUNIT_EXPECT_EQ(test, expectation->err, run_nop(fixture));
	/* The next command is not affected by the fault. */
	KUNIT_EXPECT_EQ(test, 0, run_nop(fixture));
}

static void cmd_bad_status_returns_syndrome(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_nop_out out;
	struct hw_nop_in in = {};
	struct cxib_command command = {
		.in = &in, .in_length = sizeof(in), .out = &out, .out_length = sizeof(out),
	};

	hw_nop_in_set_opcode(&in, HW_CMD_NOP);
	fake_hca_fail(fixture->hca, FAKE_FAULT_STATUS, 0);
	KUNIT_EXPECT_EQ(test, -EIO, cxib_cmd_exec(&fixture->queue, &command));
	KUNIT_EXPECT_EQ(test, command.status, HW_COMMAND_STATUS_BAD_SYSTEM_STATE);
	KUNIT_EXPECT_EQ(test, command.syndrome, FAKE_STATUS_SYND);
	KUNIT_EXPECT_EQ(test, hw_nop_out_get_syndrome(&out), 0);
}

static void cmd_mailbox_wrong_token_returns_ebadmsg(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	u8 in[64] = {}, out[64];
	struct cxib_command command = {
		.in = in, .in_length = sizeof(in), .out = out, .out_length = sizeof(out),
	};

	hw_access_register_in_set_opcode((void *)in, HW_CMD_ACCESS_REGISTER);
	fake_hca_fail(fixture->hca, FAKE_FAULT_MAILBOX_TOKEN, 0);
	KUNIT_EXPECT_EQ(test, -EBADMSG, cxib_cmd_exec(&fixture->queue, &command));
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(out, 0, sizeof(out)), NULL);
}

/* A slot has 16 bytes of inline input. An output has at least status and syndrome. */
static void cmd_short_input_or_output_returns_einval(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	u8 in[CXIB_COMMAND_INLINE] = {}, out[CXIB_COMMAND_INLINE];
	struct cxib_command command = {
		.in = in, .in_length = sizeof(in) - 1, .out = out, .out_length = sizeof(out),
	};

	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_cmd_exec(&fixture->queue, &command));
	command.in_length = sizeof(in);
	command.out_length = sizeof(struct hw_cmd_out) - 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_cmd_exec(&fixture->queue, &command));
	KUNIT_EXPECT_EQ(test, fixture->hca->commands, 0);
}

static void cmd_timeout_holds_slot(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->hca->hold = true;
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, run_nop(fixture));
	KUNIT_EXPECT_EQ(test, slots_in(fixture, CXIB_SLOT_TIMED_OUT), 1);

	fixture->hca->hold = false;
	KUNIT_EXPECT_EQ(test, 0, run_nop(fixture));
	KUNIT_EXPECT_EQ(test, 0, cxib_command_queue_reap_late(&fixture->queue));
	KUNIT_EXPECT_EQ(test, slots_in(fixture, CXIB_SLOT_TIMED_OUT), 1);
}

static void cmd_late_completion_frees_slot(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->hca->hold = true;
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, run_nop(fixture));
	fake_hca_release(fixture->hca);

	KUNIT_EXPECT_EQ(test, 1, cxib_command_queue_reap_late(&fixture->queue));
	KUNIT_EXPECT_EQ(test, slots_in(fixture, CXIB_SLOT_FREE), FAKE_SLOTS);
	KUNIT_EXPECT_EQ(test, fixture->queue.late_completions, 1);
}

static void cmd_late_completions_free_timed_out_slots(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	fixture->hca->hold = true;
	for (i = 0; i < ORDINARY_SLOTS - 1; i++)
		KUNIT_ASSERT_EQ(test, -ETIMEDOUT, run_nop(fixture));
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_fatal(&fixture->queue));
	fixture->hca->hold = false;
	KUNIT_EXPECT_EQ(test, 0, run_nop(fixture));
	fake_hca_release(fixture->hca);
	KUNIT_EXPECT_EQ(test, ORDINARY_SLOTS - 1, cxib_command_queue_reap_late(&fixture->queue));
}

static void cmd_all_slots_timed_out_sets_fatal(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	fixture->hca->hold = true;
	for (i = 0; i < ORDINARY_SLOTS; i++)
		KUNIT_ASSERT_EQ(test, -ETIMEDOUT, run_nop(fixture));
	KUNIT_EXPECT_TRUE(test, cxib_command_queue_is_fatal(&fixture->queue));
	KUNIT_EXPECT_EQ(test, -EIO, run_nop(fixture));
	KUNIT_EXPECT_EQ(test, fixture->hca->commands, 0);
}

static void set_ordinary_slots(struct cxib_command_queue *queue, enum cxib_slot_state state)
{
	unsigned int i;

	for (i = 0; i < ORDINARY_SLOTS; i++)
		queue->slots[i].state = state;
}

/*
 * Commands of user space get half of the slots, so that kernel threads of the driver and of ULPs
 * always have others.
 */
static void cmd_of_user_have_half_of_slots(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	fixture->hca->hold = true;
	for (i = 0; i < ORDINARY_SLOTS / 2 - 1; i++)
		KUNIT_ASSERT_EQ(test, -ETIMEDOUT, run_nop_for_user(fixture));
	/* One slot more is in use: its owner has not finished with it. */
	fixture->queue.slots[ORDINARY_SLOTS - 1].state = CXIB_SLOT_FILLING;
	KUNIT_EXPECT_EQ(test, -EBUSY, run_nop_for_user(fixture));
	fixture->hca->hold = false;
	for (i = 0; i < ORDINARY_SLOTS; i++)
		KUNIT_EXPECT_EQ(test, 0, run_nop(fixture));
	KUNIT_EXPECT_EQ(test, -EBUSY, run_nop_for_user(fixture));
	fixture->queue.slots[ORDINARY_SLOTS - 1].state = CXIB_SLOT_FREE;
	KUNIT_EXPECT_EQ(test, 0, run_nop_for_user(fixture));
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_fatal(&fixture->queue));
	fake_hca_release(fixture->hca);
}

/* All slots of user space have timed out, so user space could issue no command any more. */
static void cmd_all_of_user_timed_out_sets_fatal(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	fixture->hca->hold = true;
	for (i = 0; i < ORDINARY_SLOTS / 2; i++)
		KUNIT_ASSERT_EQ(test, -ETIMEDOUT, run_nop_for_user(fixture));
	KUNIT_EXPECT_TRUE(test, cxib_command_queue_is_fatal(&fixture->queue));
}

/* The command was not issued, so the device is unchanged. */
static void cmd_without_slot_returns_ebusy(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	int err;

	set_ordinary_slots(&fixture->queue, CXIB_SLOT_FILLING);
	err = run_nop(fixture);
	set_ordinary_slots(&fixture->queue, CXIB_SLOT_FREE);
	KUNIT_EXPECT_EQ(test, -EBUSY, err);
	KUNIT_EXPECT_FALSE(test, cxib_command_is_unknown(err));
	KUNIT_EXPECT_EQ(test, 0, fixture->queue.issued);
}

static void manage_pages_uses_reserved_slot(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_manage_pages_in in = {};
	struct hw_manage_pages_out out;
	unsigned int i;

	fixture->hca->hold = true;
	for (i = 0; i < ORDINARY_SLOTS - 1; i++)
		KUNIT_ASSERT_EQ(test, -ETIMEDOUT, run_nop(fixture));
	KUNIT_EXPECT_EQ(test, fixture->queue.slots[PAGES_SLOT].state, CXIB_SLOT_FREE);

	fixture->hca->hold = false;
	hw_manage_pages_in_set_opcode(&in, HW_CMD_MANAGE_PAGES);
	KUNIT_EXPECT_EQ(test, 0, cxib_cmd_exec_inout(&fixture->queue, in, out));
	KUNIT_EXPECT_EQ(test, fixture->queue.slots[PAGES_SLOT].opcode, HW_CMD_MANAGE_PAGES);
}

/* Sleeps until kthread_stop() collects the result. */
static void await_stop(void)
{
	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
}

static int call_nop(void *context)
{
	struct hw_nop_out out;
	struct hw_nop_in in = {};
	struct fixture *fixture = context;
	int err;

	hw_nop_in_set_opcode(&in, HW_CMD_NOP);
	err = cxib_cmd_exec_inout(&fixture->queue, in, out);
	await_stop();
	return err;
}

static struct task_struct *start_caller(struct kunit *test, int (*run)(void *))
{
	struct task_struct *caller = kthread_run(run, test->priv, "caller");

	KUNIT_ASSERT_FALSE(test, IS_ERR(caller));
	return caller;
}

static void await_held(struct fixture *fixture, unsigned int count)
{
	while (hweight_long(READ_ONCE(fixture->hca->held)) < count)
		usleep_range(100, 1000);
}

static void cmd_outstanding_set_fatal_returns_eio(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct task_struct *caller;

	use_events(fixture);
	fixture->hca->hold = true;
	caller = start_caller(test, call_nop);
	await_held(fixture, 1);
	cxib_command_queue_set_fatal(&fixture->queue);

	KUNIT_EXPECT_EQ(test, -EIO, kthread_stop(caller));
	KUNIT_EXPECT_EQ(test, slots_in(fixture, CXIB_SLOT_TIMED_OUT), 1);
}

static void cmd_outstanding_use_polling_completes(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct task_struct *caller;

	use_events(fixture);
	fixture->hca->hold = true;
	caller = start_caller(test, call_nop);
	await_held(fixture, 1);
	fixture->hca->announce = NULL;
	cxib_command_queue_use_polling(&fixture->queue);
	fake_hca_release(fixture->hca);

	KUNIT_EXPECT_EQ(test, 0, kthread_stop(caller));
	KUNIT_EXPECT_EQ(test, fixture->queue.missed_events, 0);
}

#define CALLERS			48
#define COMMANDS_PER_CALLER	10

static int call_many(void *context)
{
	struct fixture *fixture = context;
	int failures = 0;
	unsigned int i;

	for (i = 0; i < COMMANDS_PER_CALLER; i++) {
		struct hw_nop_out out;
		struct hw_nop_in in = {};

		hw_nop_in_set_opcode(&in, HW_CMD_NOP);
		failures += !!cxib_cmd_exec_inout(&fixture->queue, in, out);
	}
	await_stop();
	return failures;
}

static void run_callers(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct task_struct *callers[CALLERS];
	unsigned int i;

	fixture->hca->asynchronous = true;
	for (i = 0; i < CALLERS; i++)
		callers[i] = start_caller(test, call_many);
	for (i = 0; i < CALLERS; i++)
		KUNIT_EXPECT_EQ(test, 0, kthread_stop(callers[i]));
	KUNIT_EXPECT_EQ(test, fixture->hca->commands, CALLERS * COMMANDS_PER_CALLER);
	KUNIT_EXPECT_EQ(test, slots_in(fixture, CXIB_SLOT_FREE), FAKE_SLOTS);
}

static void cmd_more_callers_than_slots_complete_by_event(struct kunit *test)
{
	use_events(test->priv);
	run_callers(test);
}

static void cmd_more_callers_than_slots_complete_by_polling(struct kunit *test)
{
	run_callers(test);
}

struct geometry {
	unsigned int log_size;
	unsigned int log_stride;
	int err;
};

/*
 * An entry has 64 bytes. The doorbell has one bit for each of at most 32 slots, of which the driver
 * needs two. All entries are in the 4 KiB page whose address the driver writes.
 */
static const struct geometry geometries[] = {
	{ 5, 6, 0 }, { 5, 7, 0 }, { 1, 6, 0 }, { 2, 10, 0 }, { 1, 11, 0 },
	{ 0, 0, -EPROTO }, { 0, 6, -EPROTO }, { 6, 6, -EPROTO }, { 5, 5, -EPROTO },
	{ 5, 8, -EPROTO }, { 15, 15, -EPROTO }, { 1, 12, -EPROTO },
};

static void describe_geometry(const struct geometry *geometry, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "2^%u entries of 2^%u bytes",
		 geometry->log_size, geometry->log_stride);
}

KUNIT_ARRAY_PARAM(geometry, geometries, describe_geometry);

static void cmd_queue_start_checks_geometry(struct kunit *test)
{
	const struct geometry *geometry = test->param_value;
	struct fixture *fixture = test->priv;

	fixture->hca->log_size = geometry->log_size;
	fixture->hca->log_stride = geometry->log_stride;
	fixture->hca->registers[HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_31_12 / 4] =
		geometry->log_size << 4 | geometry->log_stride;
	KUNIT_EXPECT_EQ(test, geometry->err, cxib_command_queue_start(&fixture->queue));
	if (!geometry->err)
		KUNIT_EXPECT_EQ(test, 0, run_nop(fixture));
}

static void cmd_status_maps_to_errno(struct kunit *test)
{
	unsigned int status;

	KUNIT_EXPECT_EQ(test, 0, cxib_command_status_to_errno(0));
	for (status = 1; status <= U8_MAX; status++)
		KUNIT_EXPECT_LT(test, cxib_command_status_to_errno(status), 0);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			cxib_command_status_to_errno(HW_COMMAND_STATUS_BAD_OPERATION));
	KUNIT_EXPECT_EQ(test, -EBUSY,
			cxib_command_status_to_errno(HW_COMMAND_STATUS_RESOURCE_BUSY));
	KUNIT_EXPECT_EQ(test, -ENOMEM,
			cxib_command_status_to_errno(HW_COMMAND_STATUS_NO_RESOURCES));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			cxib_command_status_to_errno(HW_COMMAND_STATUS_BAD_INDEX));
	KUNIT_EXPECT_EQ(test, -EAGAIN,
			cxib_command_status_to_errno(HW_COMMAND_STATUS_NOT_READY));
}

/* Only a refusal by firmware says that the device lacks the command. */
static void cmd_optional_refused_returns_eremoteio(struct kunit *test)
{
	static const struct {
		enum fake_fault fault;
		int err;
	} faults[] = {
		{ FAKE_FAULT_NONE, 0 },
		{ FAKE_FAULT_STATUS, -EREMOTEIO },
		{ FAKE_FAULT_UNKNOWN_STATUS, -EREMOTEIO },
		{ FAKE_FAULT_DELIVERY, -EREMOTEIO },
		{ FAKE_FAULT_TOKEN, -EBADMSG },
		{ FAKE_FAULT_LONG, -EBADMSG },
		{ FAKE_FAULT_NEVER, -ETIMEDOUT },
	};
	struct fixture *fixture = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		fake_hca_fail(fixture->hca, faults[i].fault, fixture->hca->commands);
		KUNIT_EXPECT_EQ_MSG(test, faults[i].err, exec_nop(fixture, true), "%s",
				    fake_fault_name(faults[i].fault));
	}
	cxib_command_queue_set_fatal(&fixture->queue);
	KUNIT_EXPECT_EQ(test, -EIO, exec_nop(fixture, true));
}

static void cmd_statistics_count_completions_and_timeouts(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_command_statistics *statistics;

	KUNIT_EXPECT_EQ(test, 0, run_nop(fixture));
	fake_hca_fail(fixture->hca, FAKE_FAULT_STATUS, 1);
	KUNIT_EXPECT_EQ(test, -EIO, run_nop(fixture));
	fake_hca_fail(fixture->hca, FAKE_FAULT_NEVER, 2);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, run_nop(fixture));

	statistics = xa_load(&fixture->queue.statistics, HW_CMD_NOP);
	KUNIT_ASSERT_NOT_NULL(test, statistics);
	KUNIT_EXPECT_EQ(test, statistics->count, 2);
	KUNIT_EXPECT_EQ(test, statistics->failures, 1);
	KUNIT_EXPECT_EQ(test, statistics->timeouts, 1);
	KUNIT_EXPECT_GE(test, statistics->total_ns, statistics->max_ns);
	KUNIT_EXPECT_GT(test, statistics->max_ns, 0);
}

/**
 * struct next_caller - waits for a slot after the caller of the case
 * @wait: entry in the list of the slot class
 * @is_woken: it was woken
 * @was_woken_first: it was woken before the device got the caller's command
 */
struct next_caller {
	struct wait_queue_entry wait;
	bool is_woken;
	bool was_woken_first;
};

static int note_wake_up(struct wait_queue_entry *wait, unsigned int mode, int flags, void *key)
{
	WRITE_ONCE(container_of(wait, struct next_caller, wait)->is_woken, true);
	list_del_init(&wait->entry);
	return 1;
}

static u8 note_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
		       u32 out_length)
{
	struct next_caller *next = hca->script_context;

	next->was_woken_first = READ_ONCE(next->is_woken);
	return HW_COMMAND_STATUS_OK;
}

/* The caller passes from one section with the lock of the queue to the next in this time. */
#define CALLER_US		500
#define CALLER_TRIES		20000
#define CALLER_TIMEOUT_MS	600000

static bool has_queued_caller(struct wait_queue_head *list)
{
	/* No barrier: the caller looks again if it is false. */
	return waitqueue_active(list);
}

/*
 * A queued caller needs the lock to look for a slot again. If it has queued itself while this
 * thread holds the lock, the function frees one slot, which the caller will find, and then another
 * one, whose wake-up goes to the caller as the first in the list.
 */
static bool free_slots_for_queued_caller(struct cxib_command_queue *queue,
					 struct next_caller *next)
{
	struct wait_queue_head *list = &queue->ordinary.wait;
	bool is_caught, was_queued;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&queue->lock, flags);
	was_queued = has_queued_caller(list);
	for (i = 0; i < CALLER_US && has_queued_caller(list) == was_queued; i++)
		udelay(1);
	is_caught = !was_queued && has_queued_caller(list);
	if (is_caught) {
		add_wait_queue_exclusive(list, &next->wait);
		queue->slots[0].state = CXIB_SLOT_FREE;
		queue->slots[1].state = CXIB_SLOT_FREE;
		wake_up(list);
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return is_caught;
}

/* Runs call_nop() on the other processor, because the thread of the case spins on this one. */
static struct task_struct *start_caller_elsewhere(struct kunit *test)
{
	struct task_struct *caller = kthread_create(call_nop, test->priv, "caller");

	KUNIT_ASSERT_FALSE(test, IS_ERR(caller));
	kthread_bind(caller, cpumask_any_but(cpu_online_mask, smp_processor_id()));
	wake_up_process(caller);
	return caller;
}

/* Otherwise the next caller would sleep although a slot is free. */
static void cmd_caller_passes_wake_up_on(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_command_queue *queue = &fixture->queue;
	struct next_caller next = {};
	struct task_struct *caller;
	unsigned int tries = 0;
	bool is_caught = false;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two processors");
	init_waitqueue_func_entry(&next.wait, note_wake_up);
	INIT_LIST_HEAD(&next.wait.entry);
	fixture->hca->script = note_command;
	fixture->hca->script_context = &next;
	/* The caller may need many rounds to be caught. */
	queue->timeout_ms = CALLER_TIMEOUT_MS;
	set_ordinary_slots(queue, CXIB_SLOT_FILLING);
	migrate_disable();
	caller = start_caller_elsewhere(test);
	while (!is_caught && tries++ < CALLER_TRIES)
		is_caught = free_slots_for_queued_caller(queue, &next);
	migrate_enable();
	if (!is_caught)
		set_ordinary_slots(queue, CXIB_SLOT_FREE);
	KUNIT_EXPECT_EQ(test, 0, kthread_stop(caller));
	KUNIT_EXPECT_TRUE(test, is_caught);
	KUNIT_EXPECT_TRUE(test, next.was_woken_first);
	KUNIT_EXPECT_TRUE(test, next.is_woken);
	set_ordinary_slots(queue, CXIB_SLOT_FREE);
}

static struct kunit_case command_queue_cases[] = {
	KUNIT_CASE(cmd_nop_completes_and_frees_slot),
	KUNIT_CASE_PARAM(cmd_any_length_echoes_data, data_length_gen_params),
	KUNIT_CASE(cmd_token_is_never_0),
	KUNIT_CASE(cmd_event_completes_slot),
	KUNIT_CASE(cmd_lost_event_polls_slot),
	KUNIT_CASE(cmd_event_of_incomplete_slot_is_ignored),
	KUNIT_CASE_PARAM(cmd_bad_output_returns_error, expectation_gen_params),
	KUNIT_CASE(cmd_bad_status_returns_syndrome),
	KUNIT_CASE(cmd_mailbox_wrong_token_returns_ebadmsg),
	KUNIT_CASE(cmd_short_input_or_output_returns_einval),
	KUNIT_CASE(cmd_timeout_holds_slot),
	KUNIT_CASE(cmd_late_completion_frees_slot),
	KUNIT_CASE(cmd_late_completions_free_timed_out_slots),
	KUNIT_CASE(cmd_all_slots_timed_out_sets_fatal),
	KUNIT_CASE(cmd_of_user_have_half_of_slots),
	KUNIT_CASE(cmd_all_of_user_timed_out_sets_fatal),
	KUNIT_CASE(cmd_without_slot_returns_ebusy),
	KUNIT_CASE(manage_pages_uses_reserved_slot),
	KUNIT_CASE(cmd_outstanding_set_fatal_returns_eio),
	KUNIT_CASE(cmd_outstanding_use_polling_completes),
	KUNIT_CASE(cmd_more_callers_than_slots_complete_by_event),
	KUNIT_CASE(cmd_more_callers_than_slots_complete_by_polling),
	KUNIT_CASE_SLOW(cmd_caller_passes_wake_up_on),
	KUNIT_CASE_PARAM(cmd_queue_start_checks_geometry, geometry_gen_params),
	KUNIT_CASE(cmd_status_maps_to_errno),
	KUNIT_CASE(cmd_optional_refused_returns_eremoteio),
	KUNIT_CASE(cmd_statistics_count_completions_and_timeouts),
	{}
};

static struct kunit_suite command_queue_suite = {
	.name = "command_queue",
	.init = command_queue_init,
	.exit = command_queue_exit,
	.test_cases = command_queue_cases,
};

kunit_test_suite(command_queue_suite);
