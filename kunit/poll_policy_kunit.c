// SPDX-License-Identifier: GPL-2.0-only
/* Settings of the polling contexts. */
#include "kernel_kunit.h"
#include "ulp/poll_policy.h"

/* Values of devlink's cq_softirq_context and cq_process_context: Documentation/tuning.rst. */
struct target_case {
	const char *value;
	int softirq;
	int process;
};

static const struct target_case target_cases[] = {
	{ "core", CXIB_POLL_CORE, CXIB_POLL_CORE },
	{ "softirq", CXIB_POLL_SOFTIRQ, -EINVAL },
	{ "thread", CXIB_POLL_THREAD, CXIB_POLL_OWN_THREAD },
	{ "workqueue", -EINVAL, CXIB_POLL_WORKQUEUE },
	{ "unbound", -EINVAL, CXIB_POLL_UNBOUND },
	{ "", -EINVAL, -EINVAL },
	{ "Core", -EINVAL, -EINVAL },
	{ "threads", -EINVAL, -EINVAL },
	{ "own thread", -EINVAL, -EINVAL },
};

static void describe(const struct target_case *test_case, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "'%s'", test_case->value);
}

KUNIT_ARRAY_PARAM(target, target_cases, describe);

static void expect_target(struct kunit *test, const char *value, int expected, int target)
{
	KUNIT_EXPECT_EQ(test, expected, target);
	if (target >= 0)
		KUNIT_EXPECT_STREQ(test, value, cxib_poll_target_value(target));
}

static void target_of_value_fits_its_class(struct kunit *test)
{
	const struct target_case *expected = test->param_value;
	const char *value = expected->value;

	expect_target(test, value, expected->softirq, cxib_poll_softirq_target(value));
	expect_target(test, value, expected->process, cxib_poll_process_target(value));
}

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
	KUNIT_CASE_PARAM(target_of_value_fits_its_class, target_gen_params),
	KUNIT_CASE(policy_init_leaves_cqs_to_core),
	KUNIT_CASE(policy_set_without_device_is_kept),
	{}
};

static struct kunit_suite suite = {
	.name = "poll_policy",
	.test_cases = cases,
};

kunit_test_suite(suite);
