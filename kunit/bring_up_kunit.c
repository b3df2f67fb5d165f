// SPDX-License-Identifier: GPL-2.0-only
/* Bring-up and tear-down of a device that works, and of one that fails at any point. */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/slab.h>

#include "fake_hca.h"
#include "hw/commands_device.h"
#include "hw/commands_events.h"
#include "hw/hw.h"

#define SHORT_MS		20
/* What probing a device may cost. */
#define COMMANDS_MAX		150
/* Byte order, version, identity, event queues but the first three. */
#define OPTIONAL_MAX		(3 + FAKE_VECTORS - 3)

static int bring_up_init(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(test);

	hca->dma = false;
	test->priv = hca;
	return 0;
}

/* For cases that bring a device up once for each of its commands. */
static struct fake_hca *make_small(struct kunit *test)
{
	struct fake_hca *hca = test->priv;

	fake_hca_want_few_pages(hca);
	return hca;
}

static struct cxib_hw *make_hw(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = kunit_kzalloc(test, sizeof(*hw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hw);
	hw->bus = &hca->bus;
	return hw;
}

static void brings_a_device_up_and_tears_it_down(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = make_hw(test);

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	KUNIT_EXPECT_TRUE(test, hca->initialized);
	KUNIT_EXPECT_EQ(test, hca->page_count, 26);
	KUNIT_EXPECT_EQ(test, hw->pages.count, 26);
	KUNIT_EXPECT_EQ(test, hw->firmware.firmware_major, 16);
	KUNIT_EXPECT_STREQ(test, hw->adapter.board_id, "FAKE_0000000001");
	KUNIT_EXPECT_FALSE(test, hw->commands.polled);

	cxib_hw_tear_down(hw);
	fake_hca_expect_clean(hca);
	KUNIT_EXPECT_EQ(test, hca->resets, 0);
	KUNIT_EXPECT_LE(test, hca->commands, COMMANDS_MAX);
}

static void brings_a_device_up_many_times(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		struct cxib_hw *hw = make_hw(test);

		KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
		cxib_hw_tear_down(hw);
		fake_hca_expect_clean(hca);
	}
	KUNIT_EXPECT_EQ(test, hca->resets, 0);
}

/* They can be moved from there; the kernel moves them when the processor goes offline. */
static void completion_vectors_start_on_processors_of_their_own(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = make_hw(test);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	KUNIT_EXPECT_GT(test, hw->completion_eq_count, 0);
	for (i = 0; i < CXIB_SHARED_VECTORS; i++)
		KUNIT_EXPECT_LT(test, hca->irqs[i].cpu, 0);
	for (i = 0; i < hw->completion_eq_count; i++)
		KUNIT_EXPECT_EQ(test, cpumask_local_spread(i, dev_to_node(hca->bus.dev)),
				hca->irqs[CXIB_SHARED_VECTORS + i].cpu);
	cxib_hw_tear_down(hw);
}

static unsigned int commands_of_bring_up(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = make_hw(test);
	unsigned int before = hca->commands;
	unsigned int count;

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	count = hca->commands - before;
	cxib_hw_tear_down(hw);
	return count;
}

/* Faults that make any command fail, whatever its answer is made of. */
static const enum fake_fault faults[] = {
	FAKE_FAULT_STATUS, FAKE_FAULT_UNKNOWN_STATUS, FAKE_FAULT_DELIVERY,
	FAKE_FAULT_TOKEN, FAKE_FAULT_LONG, FAKE_FAULT_SHORT, FAKE_FAULT_NEVER,
};

static void describe_fault(const enum fake_fault *fault, char *description)
{
	strscpy(description, fake_fault_name(*fault), KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(fault, faults, describe_fault);

/* The device says so itself, and the next command finds it in order. */
static bool is_refusal(enum fake_fault fault)
{
	return fault == FAKE_FAULT_STATUS || fault == FAKE_FAULT_UNKNOWN_STATUS ||
	       fault == FAKE_FAULT_DELIVERY;
}

/* A start can do without few of them: test_command_faults.py says which. */
static void unwinds_when_any_command_fails(struct kunit *test)
{
	const enum fake_fault *fault = test->param_value;
	struct fake_hca *hca = make_small(test);
	unsigned int count = commands_of_bring_up(test);
	unsigned int optional = 0;
	unsigned int at;

	for (at = 0; at < count; at++) {
		struct cxib_hw *hw = make_hw(test);

		hw->command_timeout_ms = SHORT_MS;
		fake_hca_fail(hca, *fault, hca->commands + at);
		if (!cxib_hw_bring_up(hw)) {
			KUNIT_EXPECT_TRUE_MSG(test, is_refusal(*fault), "command %u", at);
			cxib_hw_tear_down(hw);
			optional++;
		}
		fake_hca_expect_clean(hca);
	}
	KUNIT_EXPECT_LE(test, optional, OPTIONAL_MAX);
	/* The next probe works. */
	KUNIT_EXPECT_EQ(test, count, commands_of_bring_up(test));
	fake_hca_expect_clean(hca);
}

static void survives_garbage_in_any_answer(struct kunit *test)
{
	struct fake_hca *hca = make_small(test);
	unsigned int count = commands_of_bring_up(test);
	unsigned int at;

	for (at = 0; at < count; at++) {
		struct cxib_hw *hw = make_hw(test);

		/* Every command is answered. */
		fake_hca_fail(hca, FAKE_FAULT_GARBAGE, hca->commands + at);
		if (!cxib_hw_bring_up(hw))
			cxib_hw_tear_down(hw);
		/* The number of an object that was made up does not exist. */
		hca->complaints = 0;
		fake_hca_reset(hca);
	}
	KUNIT_EXPECT_EQ(test, count, commands_of_bring_up(test));
}

static void tears_down_a_device_that_fails_at_any_command(struct kunit *test)
{
	const enum fake_fault *fault = test->param_value;
	struct fake_hca *hca = make_small(test);
	unsigned int at;

	for (at = 0; ; at++) {
		struct cxib_hw *hw = make_hw(test);
		unsigned int before;

		hw->command_timeout_ms = SHORT_MS;
		fake_hca_fail(hca, FAKE_FAULT_NONE, 0);
		KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
		before = hca->commands;
		fake_hca_fail(hca, *fault, before + at);
		cxib_hw_tear_down(hw);
		fake_hca_expect_clean(hca);
		if (before + at >= hca->commands)
			return;
	}
}

static void unwinds_when_the_device_stops_answering_at_any_point(struct kunit *test)
{
	struct fake_hca *hca = make_small(test);
	unsigned int count = commands_of_bring_up(test);
	unsigned int at;

	for (at = 0; at < count; at++) {
		struct cxib_hw *hw = make_hw(test);

		hw->command_timeout_ms = 5;
		fake_hca_fail(hca, FAKE_FAULT_NEVER, hca->commands + at);
		hca->always = true;
		KUNIT_EXPECT_NE(test, 0, cxib_hw_bring_up(hw));
		fake_hca_expect_clean(hca);
		KUNIT_EXPECT_GT(test, hca->resets, 0);
	}
}

static void tears_down_a_broken_device_without_asking_it(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = make_hw(test);
	unsigned int before;

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	cxib_health_set_fatal(&hw->health, "the test says so");
	before = hca->commands;
	cxib_hw_tear_down(hw);
	KUNIT_EXPECT_EQ(test, hca->commands, before);
	KUNIT_EXPECT_EQ(test, hca->resets, 1);
	fake_hca_expect_clean(hca);
}

static unsigned int times_given_up;

static void count_given_up(struct cxib_hw *hw)
{
	times_given_up++;
}

static void leaves_a_device_silent_when_the_kernel_ends(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = make_hw(test);
	unsigned int before;

	times_given_up = 0;
	hw->on_fatal = count_given_up;
	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	before = hca->commands;
	cxib_hw_shut_down(hw);
	KUNIT_EXPECT_EQ(test, hca->commands, before);
	KUNIT_EXPECT_EQ(test, hca->resets, 1);
	KUNIT_EXPECT_FALSE(test, hca->dma);

	/* Its users learn of it. */
	flush_workqueue(hw->workqueue);
	KUNIT_EXPECT_EQ(test, times_given_up, 1);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&hw->health));

	cxib_hw_tear_down(hw);
	fake_hca_expect_clean(hca);
}

static void takes_memory_from_a_device_that_cannot_be_reset_when_the_kernel_ends(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = make_hw(test);

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	hca->reset_error = -ENOTTY;
	cxib_hw_shut_down(hw);
	KUNIT_EXPECT_EQ(test, hca->resets, 1);
	KUNIT_EXPECT_FALSE(test, hca->dma);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&hw->health));

	hca->reset_error = 0;
	cxib_hw_tear_down(hw);
	fake_hca_expect_clean(hca);
}

/* It may write to memory of a kernel before, or of a life before, as soon as it can. */
static void unclean_device_is_reset_before_it_may_access_memory(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = make_hw(test);

	hw->is_unclean = true;
	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	KUNIT_EXPECT_EQ(test, hca->resets, 1);
	KUNIT_EXPECT_FALSE(test, hca->dma_at_reset);
	KUNIT_EXPECT_FALSE(test, hw->is_unclean);
	cxib_hw_tear_down(hw);
	KUNIT_EXPECT_EQ(test, hca->resets, 1);
	KUNIT_EXPECT_FALSE(test, hw->is_unclean);
	fake_hca_expect_clean(hca);
}

static void unclean_device_without_reset_is_refused(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = make_hw(test);

	hw->is_unclean = true;
	hca->reset_error = -ENOTTY;
	KUNIT_EXPECT_EQ(test, -ENOTTY, cxib_hw_bring_up(hw));
	KUNIT_EXPECT_FALSE(test, hca->dma);
	KUNIT_EXPECT_EQ(test, hca->commands, 0);
	KUNIT_EXPECT_TRUE(test, hw->is_unclean);
	fake_hca_expect_clean(hca);
}

static void failed_reset_leaves_device_unclean(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = make_hw(test);

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	cxib_health_set_fatal(&hw->health, "the test says so");
	hca->reset_error = -ENOTTY;
	cxib_hw_tear_down(hw);
	KUNIT_EXPECT_EQ(test, hca->resets, 1);
	KUNIT_EXPECT_TRUE(test, hw->is_unclean);
	/* It may know memory; what the fake has, the next case does not see. */
	fake_hca_reset(hca);
}

static void answers_page_requests_of_the_firmware(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = make_hw(test);

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	fake_hca_request_pages(hca, 300);
	flush_workqueue(hw->workqueue);
	flush_work(&hw->pages.work);
	KUNIT_EXPECT_EQ(test, hca->page_count, 326);

	fake_hca_request_pages(hca, -100);
	flush_workqueue(hw->workqueue);
	flush_work(&hw->pages.work);
	KUNIT_EXPECT_EQ(test, hca->page_count, 226);
	KUNIT_EXPECT_EQ(test, hw->pages.count, 226);

	cxib_hw_tear_down(hw);
	fake_hca_expect_clean(hca);
	KUNIT_EXPECT_EQ(test, hca->resets, 0);
}

static void resets_a_device_that_keeps_pages(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = make_hw(test);

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	hca->keep_pages = true;
	cxib_hw_tear_down(hw);
	KUNIT_EXPECT_EQ(test, hca->resets, 1);
	fake_hca_expect_clean(hca);
}

static void refuses_firmware_without_the_interface_step(struct kunit *test)
{
	static const u32 supported[] = { 0, 1, 4 };
	struct fake_hca *hca = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(supported); i++) {
		hca->issi = supported[i];
		KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, cxib_hw_bring_up(make_hw(test)));
		fake_hca_expect_clean(hca);
	}
}

/* Only the first is needed: a function may have fewer event queues than the device. */
static void goes_on_without_completion_eq_that_is_refused(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = make_hw(test);
	unsigned int last = commands_of_bring_up(test) - 1;

	if (num_online_cpus() < 2)
		kunit_skip(test, "one processor has one completion event queue");
	fake_hca_fail(hca, FAKE_FAULT_STATUS, hca->commands + last);
	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	KUNIT_EXPECT_EQ(test, num_online_cpus() - 1, hw->completion_eq_count);
	cxib_hw_tear_down(hw);
	fake_hca_expect_clean(hca);
}

static void takes_no_more_eqs_than_function_may_have(struct kunit *test)
{
	static const u32 max[] = { 1, 3, 4 };
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw;
	int i;

	for (i = 0; i < ARRAY_SIZE(max); i++) {
		hw = make_hw(test);
		hw_cmd_hca_cap_set_max_num_eqs(hca->current_caps, max[i]);
		KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
		KUNIT_EXPECT_LE(test, CXIB_SHARED_VECTORS + hw->completion_eq_count,
				max(3U, max[i]));
		KUNIT_EXPECT_GE(test, hw->completion_eq_count, 1);
		cxib_hw_tear_down(hw);
		fake_hca_expect_clean(hca);
	}
}

static void refuses_a_device_with_too_few_vectors(struct kunit *test)
{
	struct fake_hca *hca = test->priv;

	hca->vectors = 2;
	KUNIT_EXPECT_EQ(test, -ENOSPC, cxib_hw_bring_up(make_hw(test)));
	fake_hca_expect_clean(hca);
}

static void refuses_a_port_in_ethernet_mode(struct kunit *test)
{
	struct fake_hca *hca = test->priv;

	hw_cmd_hca_cap_set_port_type(hca->current_caps, HW_PORT_TYPE_ETHERNET);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, cxib_hw_bring_up(make_hw(test)));
	fake_hca_expect_clean(hca);
}

static void refuses_firmware_that_wants_too_many_pages(struct kunit *test)
{
	struct fake_hca *hca = test->priv;

	hca->init_pages = CXIB_PAGES_LIMIT;
	KUNIT_EXPECT_EQ(test, -ENOSPC, cxib_hw_bring_up(make_hw(test)));
	fake_hca_expect_clean(hca);
}

static struct kunit_case bring_up_cases[] = {
	KUNIT_CASE(brings_a_device_up_and_tears_it_down),
	KUNIT_CASE(brings_a_device_up_many_times),
	KUNIT_CASE(completion_vectors_start_on_processors_of_their_own),
	KUNIT_CASE_PARAM(unwinds_when_any_command_fails, fault_gen_params),
	KUNIT_CASE(survives_garbage_in_any_answer),
	KUNIT_CASE_PARAM(tears_down_a_device_that_fails_at_any_command, fault_gen_params),
	KUNIT_CASE(unwinds_when_the_device_stops_answering_at_any_point),
	KUNIT_CASE(tears_down_a_broken_device_without_asking_it),
	KUNIT_CASE(unclean_device_is_reset_before_it_may_access_memory),
	KUNIT_CASE(unclean_device_without_reset_is_refused),
	KUNIT_CASE(failed_reset_leaves_device_unclean),
	KUNIT_CASE(leaves_a_device_silent_when_the_kernel_ends),
	KUNIT_CASE(takes_memory_from_a_device_that_cannot_be_reset_when_the_kernel_ends),
	KUNIT_CASE(answers_page_requests_of_the_firmware),
	KUNIT_CASE(resets_a_device_that_keeps_pages),
	KUNIT_CASE(refuses_firmware_without_the_interface_step),
	KUNIT_CASE(goes_on_without_completion_eq_that_is_refused),
	KUNIT_CASE(takes_no_more_eqs_than_function_may_have),
	KUNIT_CASE(refuses_a_device_with_too_few_vectors),
	KUNIT_CASE(refuses_a_port_in_ethernet_mode),
	KUNIT_CASE(refuses_firmware_that_wants_too_many_pages),
	{}
};

static struct kunit_suite bring_up_suite = {
	.name = "bring_up",
	.init = bring_up_init,
	.test_cases = bring_up_cases,
};

kunit_test_suite(bring_up_suite);
