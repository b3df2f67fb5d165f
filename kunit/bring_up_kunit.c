// SPDX-License-Identifier: GPL-2.0-only
/* Bring-up and tear-down of a working device, and with a fault in each command. */
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/slab.h>

#include "fake_hca.h"
#include "hw/commands_device.h"
#include "hw/commands_events.h"
#include "hw/hw.h"
#include "hw/uctx.h"
#include "kernel_kunit.h"
#include "sample.h"

#define SHORT_MS		20
#define ADDED_PAGES		300
#define RETURNED_PAGES		100

/*
 * Maximum number of commands of a bring-up with tear-down: several times two commands per EQ and
 * one or two per other step. More commands mean that the driver repeats some.
 */
#define COMMANDS_MAX		150
/* SET_HOST_ENDIANNESS, SET_DRIVER_VERSION, QUERY_ADAPTER, and all EQs except the first three. */
#define OPTIONAL_MAX		(3 + FAKE_VECTORS - 3)

static int bring_up_init(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(test);

	hca->dma = false;
	test->priv = hca;
	return 0;
}

/* A device for cases that run one bring-up per command. */
static struct fake_hca *with_few_pages(struct kunit *test)
{
	struct fake_hca *hca = test->priv;

	fake_hca_want_few_pages(hca);
	return hca;
}

static struct cxib_hw *alloc_hw(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = kunit_kzalloc(test, sizeof(*hw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hw);
	hw->bus = &hca->bus;
	return hw;
}

static void bring_up_tear_down_leaves_device_clean(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = alloc_hw(test);

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	KUNIT_EXPECT_TRUE(test, hca->initialized);
	KUNIT_EXPECT_EQ(test, hca->page_count, FAKE_BOOT_PAGES + FAKE_INIT_PAGES);
	KUNIT_EXPECT_EQ(test, hw->pages.count, FAKE_BOOT_PAGES + FAKE_INIT_PAGES);
	KUNIT_EXPECT_EQ(test, hw->firmware.firmware_major, FAKE_FIRMWARE_MAJOR);
	KUNIT_EXPECT_STREQ(test, hw->adapter.board_id, FAKE_BOARD_ID);
	KUNIT_EXPECT_FALSE(test, hw->commands.polled);

	cxib_hw_tear_down(hw);
	fake_hca_expect_clean(hca);
	KUNIT_EXPECT_EQ(test, hca->resets, 0);
	KUNIT_EXPECT_LE(test, hca->commands, COMMANDS_MAX);
}

static void bring_up_repeated_leaves_device_clean(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		struct cxib_hw *hw = alloc_hw(test);

		KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
		cxib_hw_tear_down(hw);
		fake_hca_expect_clean(hca);
	}
	KUNIT_EXPECT_EQ(test, hca->resets, 0);
}

/* The affinity is only initial: user space and CPU hotplug may change it. */
static void comp_vectors_spread_over_local_cpus(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = alloc_hw(test);
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
	struct cxib_hw *hw = alloc_hw(test);
	unsigned int before = hca->commands;
	unsigned int count;

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	count = hca->commands - before;
	cxib_hw_tear_down(hw);
	return count;
}

/* Faults that make any command fail, whatever its output is. */
static const enum fake_fault faults[] = {
	FAKE_FAULT_STATUS, FAKE_FAULT_UNKNOWN_STATUS, FAKE_FAULT_DELIVERY,
	FAKE_FAULT_TOKEN, FAKE_FAULT_LONG, FAKE_FAULT_SHORT, FAKE_FAULT_NEVER,
};

static void describe_fault(const enum fake_fault *fault, char *description)
{
	strscpy(description, fake_fault_name(*fault), KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(fault, faults, describe_fault);

/* With these faults the device reports the failure, and the next command succeeds. */
static bool is_refusal(enum fake_fault fault)
{
	return fault == FAKE_FAULT_STATUS || fault == FAKE_FAULT_UNKNOWN_STATUS ||
	       fault == FAKE_FAULT_DELIVERY;
}

/* test_command_faults.py lists the few commands that are optional. */
static void bring_up_failed_cmd_unwinds(struct kunit *test)
{
	const enum fake_fault *fault = test->param_value;
	struct fake_hca *hca = with_few_pages(test);
	unsigned int count = commands_of_bring_up(test);
	unsigned int optional = 0;
	unsigned int at;

	for (at = (fault - faults) % kunit_sample; at < count; at += kunit_sample) {
		struct cxib_hw *hw = alloc_hw(test);

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
	/* The next bring-up succeeds. */
	KUNIT_EXPECT_EQ(test, count, commands_of_bring_up(test));
	fake_hca_expect_clean(hca);
}

static void bring_up_garbage_output_allows_next_bring_up(struct kunit *test)
{
	struct fake_hca *hca = with_few_pages(test);
	unsigned int count = commands_of_bring_up(test);
	unsigned int at;

	for (at = 0; at < count; at += kunit_sample) {
		struct cxib_hw *hw = alloc_hw(test);

		/* Every command completes. */
		fake_hca_fail(hca, FAKE_FAULT_GARBAGE, hca->commands + at);
		if (!cxib_hw_bring_up(hw))
			cxib_hw_tear_down(hw);
		/* Garbage object numbers do not exist in the device, so it complains about them. */
		hca->complaints = 0;
		fake_hca_reset(hca);
	}
	KUNIT_EXPECT_EQ(test, count, commands_of_bring_up(test));
}

static void tear_down_failed_cmd_leaves_device_clean(struct kunit *test)
{
	const enum fake_fault *fault = test->param_value;
	struct fake_hca *hca = with_few_pages(test);
	unsigned int at;

	for (at = (fault - faults) % kunit_sample; ; at += kunit_sample) {
		struct cxib_hw *hw = alloc_hw(test);
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

static void bring_up_cmd_timeouts_reset_device(struct kunit *test)
{
	struct fake_hca *hca = with_few_pages(test);
	unsigned int count = commands_of_bring_up(test);
	unsigned int at;

	for (at = 0; at < count; at++) {
		struct cxib_hw *hw = alloc_hw(test);

		hw->command_timeout_ms = 5;
		fake_hca_fail(hca, FAKE_FAULT_NEVER, hca->commands + at);
		hca->always = true;
		KUNIT_EXPECT_NE(test, 0, cxib_hw_bring_up(hw));
		fake_hca_expect_clean(hca);
		KUNIT_EXPECT_GT(test, hca->resets, 0);
	}
}

static void tear_down_fatal_issues_no_commands(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = alloc_hw(test);
	unsigned int before;

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	cxib_health_set_fatal(&hw->health, "test");
	before = hca->commands;
	cxib_hw_tear_down(hw);
	KUNIT_EXPECT_EQ(test, hca->commands, before);
	KUNIT_EXPECT_EQ(test, hca->resets, 1);
	fake_hca_expect_clean(hca);
}

static unsigned int fatal_count;

static void count_fatal(struct cxib_hw *hw)
{
	fatal_count++;
}

static void shut_down_resets_and_issues_no_commands(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = alloc_hw(test);
	unsigned int before;

	fatal_count = 0;
	hw->on_fatal = count_fatal;
	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	before = hca->commands;
	cxib_hw_shut_down(hw);
	KUNIT_EXPECT_EQ(test, hca->commands, before);
	KUNIT_EXPECT_EQ(test, hca->resets, 1);
	KUNIT_EXPECT_FALSE(test, hca->dma);

	/* on_fatal runs from the workqueue. */
	flush_workqueue(hw->workqueue);
	KUNIT_EXPECT_EQ(test, fatal_count, 1);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&hw->health));

	cxib_hw_tear_down(hw);
	fake_hca_expect_clean(hca);
}

static void shut_down_failed_reset_turns_dma_off(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = alloc_hw(test);

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

/*
 * With bus mastering on, the function could write to addresses from a previous kernel or driver
 * instance.
 */
static void bring_up_unclean_resets_before_dma(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = alloc_hw(test);

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

static void bring_up_unclean_failed_reset_returns_enotty(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = alloc_hw(test);

	hw->is_unclean = true;
	hca->reset_error = -ENOTTY;
	KUNIT_EXPECT_EQ(test, -ENOTTY, cxib_hw_bring_up(hw));
	KUNIT_EXPECT_FALSE(test, hca->dma);
	KUNIT_EXPECT_EQ(test, hca->commands, 0);
	KUNIT_EXPECT_TRUE(test, hw->is_unclean);
	fake_hca_expect_clean(hca);
}

/*
 * The next instance may be another module or another kernel than the one that could not reset the
 * function.
 */
static void expect_next_instance_resets(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = alloc_hw(test);

	hca->resets = 0;
	KUNIT_EXPECT_EQ(test, -ENOTTY, cxib_hw_bring_up(hw));
	KUNIT_EXPECT_EQ(test, hca->resets, 1);
	KUNIT_EXPECT_FALSE(test, hca->dma_at_reset);
	KUNIT_EXPECT_FALSE(test, hca->dma);

	hca->reset_error = 0;
	hw = alloc_hw(test);
	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	cxib_hw_tear_down(hw);
	KUNIT_EXPECT_EQ(test, hca->resets, 2);

	/* A reset function is clean. */
	hw = alloc_hw(test);
	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	cxib_hw_tear_down(hw);
	KUNIT_EXPECT_EQ(test, hca->resets, 2);
	fake_hca_expect_clean(hca);
}

static void tear_down_failed_reset_makes_next_instance_reset(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = alloc_hw(test);

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	cxib_health_set_fatal(&hw->health, "test");
	hca->reset_error = -ENOTTY;
	cxib_hw_tear_down(hw);
	expect_next_instance_resets(test);
}

static void shut_down_failed_reset_makes_next_instance_reset(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = alloc_hw(test);

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	hca->reset_error = -ENOTTY;
	cxib_hw_shut_down(hw);
	/* Stands for the end of the kernel: frees what the case has allocated. */
	cxib_hw_tear_down(hw);
	expect_next_instance_resets(test);
}

static void tear_down_failed_reset_sets_unclean(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = alloc_hw(test);

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	cxib_health_set_fatal(&hw->health, "test");
	hca->reset_error = -ENOTTY;
	cxib_hw_tear_down(hw);
	KUNIT_EXPECT_EQ(test, hca->resets, 1);
	KUNIT_EXPECT_TRUE(test, hw->is_unclean);
	/* Drop the pages that the fake device still holds. */
	fake_hca_reset(hca);
}

static void page_request_event_changes_page_count(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = alloc_hw(test);
	u32 expected = FAKE_BOOT_PAGES + FAKE_INIT_PAGES + ADDED_PAGES;

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	fake_hca_request_pages(hca, ADDED_PAGES);
	flush_workqueue(hw->workqueue);
	flush_work(&hw->pages.work);
	KUNIT_EXPECT_EQ(test, hca->page_count, expected);

	expected -= RETURNED_PAGES;
	fake_hca_request_pages(hca, -RETURNED_PAGES);
	flush_workqueue(hw->workqueue);
	flush_work(&hw->pages.work);
	KUNIT_EXPECT_EQ(test, hca->page_count, expected);
	KUNIT_EXPECT_EQ(test, hw->pages.count, expected);

	cxib_hw_tear_down(hw);
	fake_hca_expect_clean(hca);
	KUNIT_EXPECT_EQ(test, hca->resets, 0);
}

static void tear_down_unreturned_pages_reset_device(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = alloc_hw(test);

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	hca->keep_pages = true;
	cxib_hw_tear_down(hw);
	KUNIT_EXPECT_EQ(test, hca->resets, 1);
	fake_hca_expect_clean(hca);
}

/* QUERY_ISSI is unknown, or its mask has only ISSI 0 or 2. */
static void bring_up_without_issi_1_returns_eopnotsupp(struct kunit *test)
{
	static const u32 supported[] = { 0, BIT(0), BIT(2) };
	struct fake_hca *hca = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(supported); i++) {
		hca->issi = supported[i];
		KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, cxib_hw_bring_up(alloc_hw(test)));
		fake_hca_expect_clean(hca);
	}
}

/* Only the first completion EQ is required: a function may have fewer EQs than the device. */
static void bring_up_refused_comp_eq_continues(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw = alloc_hw(test);
	unsigned int last = commands_of_bring_up(test) - 1;

	if (num_online_cpus() < 2)
		kunit_skip(test, "one CPU has one completion EQ");
	fake_hca_fail(hca, FAKE_FAULT_STATUS, hca->commands + last);
	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	KUNIT_EXPECT_EQ(test, num_online_cpus() - 1, hw->completion_eq_count);
	cxib_hw_tear_down(hw);
	fake_hca_expect_clean(hca);
}

/* Firmware refuses a CQ of a user context that names one of the kernel's EQs. */
static void comp_eqs_shared_where_user_contexts_exist(struct kunit *test)
{
	static const u32 log_max[] = { 0, 5 };
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(log_max); i++) {
		u16 uid = log_max[i] ? CXIB_SHARED_UID : 0;

		hw = alloc_hw(test);
		hw_cmd_hca_cap_set_log_max_uctx(hca->current_caps, log_max[i]);
		KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
		for (k = 0; k < FAKE_EQS; k++)
			if (hca->eqs[k].live)
				KUNIT_EXPECT_EQ(test, hca->eqs[k].events ? 0 : uid,
						hca->eqs[k].uid);
		cxib_hw_tear_down(hw);
		fake_hca_expect_clean(hca);
	}
}

/* The minimum is one EQ for commands, one for asynchronous events, and one for completions. */
static void comp_eqs_limited_by_max_num_eqs(struct kunit *test)
{
	static const u32 max[] = { 1, 3, 4 };
	struct fake_hca *hca = test->priv;
	struct cxib_hw *hw;
	int i;

	for (i = 0; i < ARRAY_SIZE(max); i++) {
		hw = alloc_hw(test);
		hw_cmd_hca_cap_set_max_num_eqs(hca->current_caps, max[i]);
		KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
		KUNIT_EXPECT_LE(test, CXIB_SHARED_VECTORS + hw->completion_eq_count,
				max(CXIB_SHARED_VECTORS + 1U, max[i]));
		KUNIT_EXPECT_GE(test, hw->completion_eq_count, 1);
		cxib_hw_tear_down(hw);
		fake_hca_expect_clean(hca);
	}
}

static void bring_up_too_few_vectors_returns_enospc(struct kunit *test)
{
	struct fake_hca *hca = test->priv;

	hca->vectors = CXIB_SHARED_VECTORS;
	KUNIT_EXPECT_EQ(test, -ENOSPC, cxib_hw_bring_up(alloc_hw(test)));
	fake_hca_expect_clean(hca);
}

static void bring_up_ethernet_port_returns_eopnotsupp(struct kunit *test)
{
	struct fake_hca *hca = test->priv;

	hw_cmd_hca_cap_set_port_type(hca->current_caps, HW_PORT_TYPE_ETHERNET);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, cxib_hw_bring_up(alloc_hw(test)));
	fake_hca_expect_clean(hca);
}

static void bring_up_too_many_pages_returns_enospc(struct kunit *test)
{
	struct fake_hca *hca = test->priv;

	hca->init_pages = S32_MAX;
	KUNIT_EXPECT_EQ(test, -ENOSPC, cxib_hw_bring_up(alloc_hw(test)));
	fake_hca_expect_clean(hca);
}

static struct kunit_case bring_up_cases[] = {
	KUNIT_CASE(bring_up_tear_down_leaves_device_clean),
	KUNIT_CASE(bring_up_repeated_leaves_device_clean),
	KUNIT_CASE(comp_vectors_spread_over_local_cpus),
	KUNIT_CASE_PARAM(bring_up_failed_cmd_unwinds, fault_gen_params),
	KUNIT_CASE(bring_up_garbage_output_allows_next_bring_up),
	KUNIT_CASE_PARAM(tear_down_failed_cmd_leaves_device_clean, fault_gen_params),
	KUNIT_CASE(bring_up_cmd_timeouts_reset_device),
	KUNIT_CASE(tear_down_fatal_issues_no_commands),
	KUNIT_CASE(bring_up_unclean_resets_before_dma),
	KUNIT_CASE(bring_up_unclean_failed_reset_returns_enotty),
	KUNIT_CASE(tear_down_failed_reset_sets_unclean),
	KUNIT_CASE(tear_down_failed_reset_makes_next_instance_reset),
	KUNIT_CASE(shut_down_failed_reset_makes_next_instance_reset),
	KUNIT_CASE(shut_down_resets_and_issues_no_commands),
	KUNIT_CASE(shut_down_failed_reset_turns_dma_off),
	KUNIT_CASE(page_request_event_changes_page_count),
	KUNIT_CASE(tear_down_unreturned_pages_reset_device),
	KUNIT_CASE(bring_up_without_issi_1_returns_eopnotsupp),
	KUNIT_CASE(bring_up_refused_comp_eq_continues),
	KUNIT_CASE(comp_eqs_shared_where_user_contexts_exist),
	KUNIT_CASE(comp_eqs_limited_by_max_num_eqs),
	KUNIT_CASE(bring_up_too_few_vectors_returns_enospc),
	KUNIT_CASE(bring_up_ethernet_port_returns_eopnotsupp),
	KUNIT_CASE(bring_up_too_many_pages_returns_enospc),
	{}
};

static struct kunit_suite bring_up_suite = {
	.name = "bring_up",
	.init = bring_up_init,
	.test_cases = bring_up_cases,
};

kunit_test_suite(bring_up_suite);
