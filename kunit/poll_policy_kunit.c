// SPDX-License-Identifier: GPL-2.0-only
/* Settings of the polling contexts. */
#include "kernel_kunit.h"
#include "ulp/poll_policy.h"

static void policy_init_leaves_cqs_to_core(struct kunit *test)
{
	struct cxib_poll_policy policy = {};

	cxib_poll_policy_init(&policy);
	KUNIT_EXPECT_EQ(test, CXIB_POLL_CORE, policy.settings.softirq);
	KUNIT_EXPECT_EQ(test, CXIB_POLL_CORE, policy.settings.process);
	KUNIT_EXPECT_EQ(test, CXIB_POLL_QUANTUM_US_DEFAULT, policy.settings.quantum_us);
	KUNIT_EXPECT_EQ(test, 0, policy.settings.busy_poll_us);
	mutex_destroy(&policy.lock);
}

/* The device may be recovering: the settings apply when it is registered anew. */
static void policy_set_without_device_is_kept(struct kunit *test)
{
	const struct cxib_poll_settings chosen = {
		.softirq = CXIB_POLL_THREAD,
		.process = CXIB_POLL_UNBOUND,
		.quantum_us = CXIB_POLL_QUANTUM_US_MAX,
		.busy_poll_us = 1,
	};
	struct cxib_poll_policy policy = {};

	cxib_poll_policy_init(&policy);
	KUNIT_EXPECT_EQ(test, 0, cxib_poll_policy_set(&policy, &chosen));
	KUNIT_EXPECT_MEMEQ(test, &chosen, &policy.settings, sizeof(chosen));
	mutex_destroy(&policy.lock);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(policy_init_leaves_cqs_to_core),
	KUNIT_CASE(policy_set_without_device_is_kept),
	{}
};

static struct kunit_suite suite = {
	.name = "poll_policy",
	.test_cases = cases,
};

kunit_test_suite(suite);
