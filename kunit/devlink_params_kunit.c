// SPDX-License-Identifier: GPL-2.0-only
/* devlink parameters: each has a range and its own member of the settings. */
#include <net/devlink.h>

#include "devlink_params.h"
#include "kernel_kunit.h"

/* Candidate values; some of them are valid for each parameter. */
static const char *const names[] = {
	"core", "softirq", "workqueue", "unbound", "thread",
};

static const u32 numbers[] = { 0, 1, 10, 11, 50, 1000, 2000 };

static bool is_string(const struct cxib_param *param)
{
	return param->devlink.type == DEVLINK_PARAM_TYPE_STRING;
}

static unsigned int count_candidates(const struct cxib_param *param)
{
	return is_string(param) ? ARRAY_SIZE(names) : ARRAY_SIZE(numbers);
}

static union devlink_param_value candidate(const struct cxib_param *param, unsigned int i)
{
	union devlink_param_value value = {};

	if (is_string(param))
		strscpy(value.vstr, names[i], sizeof(value.vstr));
	else
		value.vu32 = numbers[i];
	return value;
}

static void expect_same(struct kunit *test, const struct cxib_param *param,
			const union devlink_param_value *expected,
			const union devlink_param_value *value)
{
	if (is_string(param))
		KUNIT_EXPECT_STREQ_MSG(test, expected->vstr, value->vstr, "%s",
				       param->devlink.name);
	else
		KUNIT_EXPECT_EQ_MSG(test, expected->vu32, value->vu32, "%s",
				    param->devlink.name);
}

static void expect_others_unchanged(struct kunit *test, const struct cxib_param *changed,
				    const struct cxib_poll_settings *before,
				    const struct cxib_poll_settings *after)
{
	const struct cxib_param *param;
	unsigned int i;

	for (i = 0; (param = cxib_param_at(i)); i++) {
		union devlink_param_value old = {}, new = {};

		if (param == changed)
			continue;
		KUNIT_EXPECT_EQ(test, 0, cxib_param_load(before, param->devlink.id, &old));
		KUNIT_EXPECT_EQ(test, 0, cxib_param_load(after, param->devlink.id, &new));
		expect_same(test, param, &old, &new);
	}
}

/* Returns the number of valid candidates. */
static unsigned int store_each(struct kunit *test, const struct cxib_param *param)
{
	const u32 id = param->devlink.id;
	struct cxib_poll_settings settings = {};
	unsigned int i, valid = 0;

	for (i = 0; i < count_candidates(param); i++) {
		const struct cxib_poll_settings before = settings;
		const union devlink_param_value value = candidate(param, i);
		union devlink_param_value loaded = {};

		if (cxib_param_check(id, &value, NULL))
			continue;
		KUNIT_EXPECT_EQ(test, 0, cxib_param_store(&settings, id, &value));
		KUNIT_EXPECT_EQ(test, 0, cxib_param_load(&settings, id, &loaded));
		expect_same(test, param, &value, &loaded);
		expect_others_unchanged(test, param, &before, &settings);
		valid++;
	}
	return valid;
}

static void param_store_changes_its_own_member_only(struct kunit *test)
{
	const struct cxib_param *param;
	unsigned int i;

	for (i = 0; (param = cxib_param_at(i)); i++) {
		KUNIT_ASSERT_PTR_EQ(test, param, cxib_param_find(param->devlink.id));
		KUNIT_ASSERT_NOT_NULL(test, param->check);
		KUNIT_EXPECT_EQ(test, is_string(param), !!param->contexts);
		/* A parameter with a single valid value could not change. */
		KUNIT_EXPECT_GE_MSG(test, store_each(test, param), 2, "%s", param->devlink.name);
	}
	KUNIT_EXPECT_GT(test, i, 0);
}

/* Values of cq_softirq_context and cq_process_context: Documentation/tuning.rst. */
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

static const struct cxib_param *param_named(const char *name)
{
	const struct cxib_param *param;
	unsigned int i;

	for (i = 0; (param = cxib_param_at(i)); i++)
		if (!strcmp(param->devlink.name, name))
			break;
	return param;
}

/* Stores a value; returns the target, or the error of both the check and the store. */
static int target_of(struct kunit *test, const char *name, const char *string)
{
	const struct cxib_param *param = param_named(name);
	struct cxib_poll_settings settings = {};
	union devlink_param_value value = {};
	int err;

	KUNIT_ASSERT_NOT_NULL(test, param);
	strscpy(value.vstr, string, sizeof(value.vstr));
	err = cxib_param_store(&settings, param->devlink.id, &value);
	KUNIT_EXPECT_EQ(test, err, cxib_param_check(param->devlink.id, &value, NULL));
	return err ?: *(enum cxib_poll_target *)((void *)&settings + param->offset);
}

static void target_of_value_fits_its_class(struct kunit *test)
{
	const struct target_case *expected = test->param_value;

	KUNIT_EXPECT_EQ(test, expected->softirq,
			target_of(test, "cq_softirq_context", expected->value));
	KUNIT_EXPECT_EQ(test, expected->process,
			target_of(test, "cq_process_context", expected->value));
}

static void expect_unknown(struct kunit *test, u32 id)
{
	const struct cxib_poll_settings before = {
		.softirq = CXIB_POLL_THREAD,
		.process = CXIB_POLL_UNBOUND,
		.quantum_us = CXIB_POLL_QUANTUM_US_MAX,
		.busy_poll_us = 1,
	};
	struct cxib_poll_settings settings = before;
	union devlink_param_value value = { .vu32 = CXIB_POLL_QUANTUM_US_MIN };

	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_param_check(id, &value, NULL));
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_param_store(&settings, id, &value));
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_param_load(&settings, id, &value));
	KUNIT_EXPECT_MEMEQ(test, &before, &settings, sizeof(settings));
}

static void param_unknown_is_refused_and_changes_nothing(struct kunit *test)
{
	unsigned int count = 0;

	while (cxib_param_at(count))
		count++;
	KUNIT_ASSERT_GT(test, count, 0);
	expect_unknown(test, cxib_param_at(0)->devlink.id - 1);
	expect_unknown(test, cxib_param_at(count - 1)->devlink.id + 1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(param_store_changes_its_own_member_only),
	KUNIT_CASE_PARAM(target_of_value_fits_its_class, target_gen_params),
	KUNIT_CASE(param_unknown_is_refused_and_changes_nothing),
	{}
};

static struct kunit_suite suite = {
	.name = "devlink_params",
	.test_cases = cases,
};

kunit_test_suite(suite);
