// SPDX-License-Identifier: GPL-2.0-only
/* Health: evaluation of the health registers, and fatal errors. */
#include <linux/bitfield.h>

#include "fake_hca.h"
#include "hw/command_queue.h"
#include "hw/commands_device.h"
#include "hw/health.h"
#include "kernel_kunit.h"

#define INTERFACE	(HW_INITIAL_SEG_OFFSET_NIC_INTERFACE / 4)
#define INTERFACE_MODE	(HW_INITIAL_SEG_MASK_NIC_INTERFACE_2 | HW_INITIAL_SEG_MASK_NIC_INTERFACE)
#define SEVERITY	((HW_INITIAL_SEG_OFFSET_HEALTH_BUFFER + HW_HEALTH_BUFFER_OFFSET_RFR) / 4)
#define SYNDROME	((HW_INITIAL_SEG_OFFSET_HEALTH_BUFFER + HW_HEALTH_BUFFER_OFFSET_SYND) / 4)
#define AT_SYNDROME(value)	((value) << __bf_shf(HW_HEALTH_BUFFER_MASK_SYND))
#define COUNTER		(HW_INITIAL_SEG_OFFSET_HEALTH_COUNTER / 4)

struct fixture {
	struct fake_hca *hca;
	struct cxib_command_queue queue;
	struct cxib_health health;
	unsigned int changes;
};

static void count_change(struct cxib_health *health)
{
	container_of(health, struct fixture, health)->changes++;
}

static const struct cxib_health_handlers handlers = { .changed = count_change };

static int health_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->hca = fake_hca_create(test);
	fake_hca_start_queue(fixture->hca, &fixture->queue);
	cxib_health_start(&fixture->health, &fixture->hca->bus, &fixture->queue, &handlers);
	/* The cases call cxib_health_check() themselves. */
	cxib_health_stop(&fixture->health);
	test->priv = fixture;
	return 0;
}

/* Lets firmware increment its health counter, then runs the check. */
static void advance_and_check(struct fixture *fixture)
{
	fixture->hca->registers[COUNTER]++;
	cxib_health_check(&fixture->health);
}

static void health_counter_advancing_is_not_fatal(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	for (i = 0; i < 50; i++)
		advance_and_check(fixture);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fixture->health));
	KUNIT_EXPECT_EQ(test, fixture->health.stalls, 0);
}

static void health_counter_stalled_sets_fatal(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	for (i = 0; i < CXIB_HEALTH_STALL_MAX; i++) {
		cxib_health_check(&fixture->health);
		KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fixture->health));
	}
	cxib_health_check(&fixture->health);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->health));
}

static void health_counter_resumed_is_not_fatal(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < CXIB_HEALTH_STALL_MAX - 1; i++)
			cxib_health_check(&fixture->health);
		advance_and_check(fixture);
	}
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fixture->health));
}

static void health_reads_all_ones_sets_fatal(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	advance_and_check(fixture);
	fixture->hca->gone = true;
	cxib_health_check(&fixture->health);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->health));
	KUNIT_EXPECT_TRUE(test, cxib_command_queue_is_fatal(&fixture->queue));
}

static void health_syndrome_with_rfr_sets_fatal(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->hca->registers[SEVERITY] = HW_HEALTH_BUFFER_MASK_RFR;
	fixture->hca->registers[SYNDROME] = AT_SYNDROME(HW_HEALTH_SYNDROME_HW_FATAL_ERR);
	advance_and_check(fixture);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->health));
}

static void health_syndrome_before_rfr_sets_fatal_at_rfr(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->hca->registers[SYNDROME] = AT_SYNDROME(HW_HEALTH_SYNDROME_HW_FATAL_ERR);
	advance_and_check(fixture);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fixture->health));
	fixture->hca->registers[SEVERITY] = HW_HEALTH_BUFFER_MASK_RFR;
	advance_and_check(fixture);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->health));
}

static void health_rfr_without_syndrome_is_not_fatal(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->hca->registers[SEVERITY] = HW_HEALTH_BUFFER_MASK_RFR;
	advance_and_check(fixture);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fixture->health));
	fixture->hca->registers[SYNDROME] = AT_SYNDROME(HW_HEALTH_SYNDROME_HW_FATAL_ERR);
	advance_and_check(fixture);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->health));
}

static void health_syndrome_without_rfr_is_not_fatal(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->hca->registers[SYNDROME] = AT_SYNDROME(HW_HEALTH_SYNDROME_HIGH_TEMP_ERR);
	advance_and_check(fixture);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fixture->health));
	KUNIT_EXPECT_EQ(test, fixture->health.syndrome, HW_HEALTH_SYNDROME_HIGH_TEMP_ERR);
}

static void health_syndrome_change_is_reported(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	advance_and_check(fixture);
	KUNIT_EXPECT_EQ(test, fixture->changes, 1);
	advance_and_check(fixture);
	KUNIT_EXPECT_EQ(test, fixture->changes, 1);
	fixture->hca->registers[SYNDROME] = AT_SYNDROME(HW_HEALTH_SYNDROME_HIGH_TEMP_ERR);
	advance_and_check(fixture);
	advance_and_check(fixture);
	KUNIT_EXPECT_EQ(test, fixture->changes, 2);
	fixture->hca->registers[SYNDROME] = 0;
	advance_and_check(fixture);
	KUNIT_EXPECT_EQ(test, fixture->changes, 2 + 1);
}

static void health_timed_out_cmd_is_reported(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_slot_description slot;
	struct hw_enable_hca_in in = {};
	struct hw_enable_hca_out out;

	hw_enable_hca_in_set_opcode(&in, HW_CMD_ENABLE_HCA);
	advance_and_check(fixture);
	fixture->queue.timeout_ms = 20;
	fake_hca_fail(fixture->hca, FAKE_FAULT_NEVER, fixture->hca->commands);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, cxib_cmd_exec_inout(&fixture->queue, in, out));
	advance_and_check(fixture);
	KUNIT_EXPECT_EQ(test, fixture->changes, 2);
	KUNIT_EXPECT_EQ(test, fixture->health.timed_out, 1);

	cxib_command_queue_describe(&fixture->queue, 0, &slot);
	KUNIT_EXPECT_STREQ(test, slot.state, "timed out");
	KUNIT_EXPECT_STREQ(test, slot.command, "enable_hca");
	cxib_command_queue_describe(&fixture->queue, 1, &slot);
	KUNIT_EXPECT_STREQ(test, slot.state, "free");
	KUNIT_EXPECT_NULL(test, slot.command);
}

static const u32 lost_modes[] = {
	HW_NIC_INTERFACE_DISABLED,
	HW_NIC_INTERFACE_REQUEST_SW_RESET,
};

static void describe_mode(const u32 *mode, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "interface mode %u", *mode);
}

KUNIT_ARRAY_PARAM(mode, lost_modes, describe_mode);

static void health_nic_interface_disabled_sets_fatal(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const u32 *mode = test->param_value;

	fixture->hca->registers[INTERFACE] |= FIELD_PREP(INTERFACE_MODE, *mode);
	advance_and_check(fixture);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->health));
}

static void health_command_queue_fatal_sets_fatal(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	cxib_command_queue_set_fatal(&fixture->queue);
	advance_and_check(fixture);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->health));
}

static void health_fatal_is_permanent(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	cxib_health_set_fatal(&fixture->health, "test");
	advance_and_check(fixture);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->health));
}

static struct kunit_case health_cases[] = {
	KUNIT_CASE(health_counter_advancing_is_not_fatal),
	KUNIT_CASE(health_counter_stalled_sets_fatal),
	KUNIT_CASE(health_counter_resumed_is_not_fatal),
	KUNIT_CASE(health_reads_all_ones_sets_fatal),
	KUNIT_CASE(health_syndrome_with_rfr_sets_fatal),
	KUNIT_CASE(health_syndrome_before_rfr_sets_fatal_at_rfr),
	KUNIT_CASE(health_rfr_without_syndrome_is_not_fatal),
	KUNIT_CASE(health_syndrome_without_rfr_is_not_fatal),
	KUNIT_CASE(health_syndrome_change_is_reported),
	KUNIT_CASE(health_timed_out_cmd_is_reported),
	KUNIT_CASE_PARAM(health_nic_interface_disabled_sets_fatal, mode_gen_params),
	KUNIT_CASE(health_command_queue_fatal_sets_fatal),
	KUNIT_CASE(health_fatal_is_permanent),
	{}
};

static struct kunit_suite health_suite = {
	.name = "health",
	.init = health_init,
	.test_cases = health_cases,
};

kunit_test_suite(health_suite);
