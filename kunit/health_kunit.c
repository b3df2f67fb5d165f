// SPDX-License-Identifier: GPL-2.0-only
/* Health: what the registers say, and when the device is given up. */
#include <kunit/test.h>

#include "fake_hca.h"
#include "hw/command_queue.h"
#include "hw/commands_device.h"
#include "hw/health.h"

#define INTERFACE	(0x14 / 4)
#define SEVERITY	(0x238 / 4)
#define SYNDROME	(0x23c / 4)
#define COUNTER		(0x1010 / 4)

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
	KUNIT_ASSERT_EQ(test, 0, cxib_command_queue_create(&fixture->queue, &fixture->hca->bus));
	KUNIT_ASSERT_EQ(test, 0, cxib_command_queue_start(&fixture->queue));
	cxib_health_start(&fixture->health, &fixture->hca->bus, &fixture->queue, &handlers);
	/* The cases look themselves. */
	cxib_health_stop(&fixture->health);
	test->priv = fixture;
	return 0;
}

static void health_exit(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	if (fixture)
		cxib_command_queue_destroy(&fixture->queue);
}

/* The firmware lives for a while, then one looks. */
static void live_and_look(struct fixture *fixture)
{
	fixture->hca->registers[COUNTER]++;
	cxib_health_check(&fixture->health);
}

static void is_content_with_a_device_that_lives(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	for (i = 0; i < 50; i++)
		live_and_look(fixture);
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

static void forgives_a_counter_that_moves_again(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < CXIB_HEALTH_STALL_MAX - 1; i++)
			cxib_health_check(&fixture->health);
		live_and_look(fixture);
	}
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fixture->health));
}

static void gives_up_a_device_that_was_pulled_out(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	live_and_look(fixture);
	fixture->hca->gone = true;
	cxib_health_check(&fixture->health);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->health));
	KUNIT_EXPECT_TRUE(test, cxib_command_queue_is_fatal(&fixture->queue));
}

static void gives_up_a_device_that_reports_a_fatal_fault(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->hca->registers[SEVERITY] = 0x80000000;
	fixture->hca->registers[SYNDROME] = HW_HEALTH_SYNDROME_HW_FATAL_ERR << 16;
	live_and_look(fixture);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->health));
}

static void syndrome_before_rfr_is_fatal_when_rfr_follows(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->hca->registers[SYNDROME] = HW_HEALTH_SYNDROME_HW_FATAL_ERR << 16;
	live_and_look(fixture);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fixture->health));
	fixture->hca->registers[SEVERITY] = 0x80000000;
	live_and_look(fixture);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->health));
}

static void rfr_without_syndrome_is_not_fatal(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->hca->registers[SEVERITY] = 0x80000000;
	live_and_look(fixture);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fixture->health));
	fixture->hca->registers[SYNDROME] = HW_HEALTH_SYNDROME_HW_FATAL_ERR << 16;
	live_and_look(fixture);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->health));
}

static void goes_on_with_a_device_that_reports_a_lesser_fault(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->hca->registers[SYNDROME] = HW_HEALTH_SYNDROME_HIGH_TEMP_ERR << 16;
	live_and_look(fixture);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fixture->health));
	KUNIT_EXPECT_EQ(test, fixture->health.syndrome, HW_HEALTH_SYNDROME_HIGH_TEMP_ERR);
}

static void tells_of_faults_that_come_and_go(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	live_and_look(fixture);
	KUNIT_EXPECT_EQ(test, fixture->changes, 1);
	live_and_look(fixture);
	KUNIT_EXPECT_EQ(test, fixture->changes, 1);
	fixture->hca->registers[SYNDROME] = HW_HEALTH_SYNDROME_HIGH_TEMP_ERR << 16;
	live_and_look(fixture);
	live_and_look(fixture);
	KUNIT_EXPECT_EQ(test, fixture->changes, 2);
	fixture->hca->registers[SYNDROME] = 0;
	live_and_look(fixture);
	KUNIT_EXPECT_EQ(test, fixture->changes, 3);
}

static void tells_of_commands_that_are_not_answered(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_slot_description slot;
	struct hw_enable_hca_in in = {};
	struct hw_enable_hca_out out;

	hw_enable_hca_in_set_opcode(&in, HW_CMD_ENABLE_HCA);
	live_and_look(fixture);
	fixture->queue.timeout_ms = 20;
	fake_hca_fail(fixture->hca, FAKE_FAULT_NEVER, fixture->hca->commands);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, cxib_cmd_exec_inout(&fixture->queue, in, out));
	live_and_look(fixture);
	KUNIT_EXPECT_EQ(test, fixture->changes, 2);
	KUNIT_EXPECT_EQ(test, fixture->health.timed_out, 1);

	cxib_command_queue_describe(&fixture->queue, 0, &slot);
	KUNIT_EXPECT_STREQ(test, slot.state, "abandoned");
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

static void gives_up_a_device_whose_interface_was_taken_away(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const u32 *mode = test->param_value;

	fixture->hca->registers[INTERFACE] |= *mode << 8;
	live_and_look(fixture);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->health));
}

static void gives_up_a_device_whose_command_queue_is_stuck(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	cxib_command_queue_set_fatal(&fixture->queue);
	live_and_look(fixture);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->health));
}

static void stays_broken(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	cxib_health_set_fatal(&fixture->health, "the test says so");
	live_and_look(fixture);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->health));
}

static struct kunit_case health_cases[] = {
	KUNIT_CASE(is_content_with_a_device_that_lives),
	KUNIT_CASE(health_counter_stalled_sets_fatal),
	KUNIT_CASE(forgives_a_counter_that_moves_again),
	KUNIT_CASE(gives_up_a_device_that_was_pulled_out),
	KUNIT_CASE(gives_up_a_device_that_reports_a_fatal_fault),
	KUNIT_CASE(syndrome_before_rfr_is_fatal_when_rfr_follows),
	KUNIT_CASE(rfr_without_syndrome_is_not_fatal),
	KUNIT_CASE(goes_on_with_a_device_that_reports_a_lesser_fault),
	KUNIT_CASE(tells_of_faults_that_come_and_go),
	KUNIT_CASE(tells_of_commands_that_are_not_answered),
	KUNIT_CASE_PARAM(gives_up_a_device_whose_interface_was_taken_away, mode_gen_params),
	KUNIT_CASE(gives_up_a_device_whose_command_queue_is_stuck),
	KUNIT_CASE(stays_broken),
	{}
};

static struct kunit_suite health_suite = {
	.name = "health",
	.init = health_init,
	.exit = health_exit,
	.test_cases = health_cases,
};

kunit_test_suite(health_suite);
