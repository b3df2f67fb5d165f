// SPDX-License-Identifier: GPL-2.0-only
/* Step lists: order, and the undo of steps after a failure. */
#include <linux/string.h>

#include "hw/hw.h"
#include "hw/steps.h"
#include "kernel_kunit.h"

/**
 * struct fixture - record of a list of four steps
 * @hw: argument of the steps
 * @record: 'a' to 'd' for a step taken, 'A' to 'D' for a step undone
 * @length: characters in @record
 * @fails: the step that fails
 */
struct fixture {
	struct cxib_hw hw;
	char record[16];
	unsigned int length;
	char fails;
};

static int note(struct cxib_hw *hw, char what)
{
	struct fixture *fixture = container_of(hw, struct fixture, hw);

	fixture->record[fixture->length++] = what;
	return what == fixture->fails ? -EBUSY : 0;
}

static int take_a(struct cxib_hw *hw)
{
	return note(hw, 'a');
}

static int take_b(struct cxib_hw *hw)
{
	return note(hw, 'b');
}

static int take_c(struct cxib_hw *hw)
{
	return note(hw, 'c');
}

static int take_d(struct cxib_hw *hw)
{
	return note(hw, 'd');
}

static void undo_a(struct cxib_hw *hw)
{
	note(hw, 'A');
}

static void undo_b(struct cxib_hw *hw)
{
	note(hw, 'B');
}

static void undo_d(struct cxib_hw *hw)
{
	note(hw, 'D');
}

static const struct cxib_step steps[] = {
	{ "a", take_a, undo_a },
	{ "b", take_b, undo_b },
	{ "c", take_c, NULL },
	{ "d", take_d, undo_d },
};

static const struct cxib_step_list list = { steps, ARRAY_SIZE(steps) };

static int steps_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct fixture), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, test->priv);
	return 0;
}

static void steps_take_runs_in_order(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int taken;

	KUNIT_EXPECT_EQ(test, 0, cxib_steps_take(&list, &fixture->hw, &taken));
	KUNIT_EXPECT_EQ(test, taken, ARRAY_SIZE(steps));
	KUNIT_EXPECT_STREQ(test, fixture->record, "abcd");
}

static void steps_undo_runs_in_reverse(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	cxib_steps_undo(&list, &fixture->hw, list.count);
	KUNIT_EXPECT_STREQ(test, fixture->record, "DBA");
}

struct failure {
	char at;
	unsigned int taken;
	const char *record;
};

static const struct failure failures[] = {
	{ 'a', 0, "a" },
	{ 'b', 1, "abA" },
	{ 'c', 2, "abcBA" },
	{ 'd', 3, "abcdBA" },
};

static void describe_failure(const struct failure *failure, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "step %c", failure->at);
}

KUNIT_ARRAY_PARAM(failure, failures, describe_failure);

static void steps_take_failure_undoes_taken_steps(struct kunit *test)
{
	const struct failure *failure = test->param_value;
	struct fixture *fixture = test->priv;
	unsigned int taken;

	fixture->fails = failure->at;
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_steps_take(&list, &fixture->hw, &taken));
	KUNIT_EXPECT_EQ(test, taken, failure->taken);
	KUNIT_EXPECT_STREQ(test, fixture->record, failure->record);
}

static struct kunit_case steps_cases[] = {
	KUNIT_CASE(steps_take_runs_in_order),
	KUNIT_CASE(steps_undo_runs_in_reverse),
	KUNIT_CASE_PARAM(steps_take_failure_undoes_taken_steps, failure_gen_params),
	{}
};

static struct kunit_suite steps_suite = {
	.name = "steps",
	.init = steps_init,
	.test_cases = steps_cases,
};

kunit_test_suite(steps_suite);
