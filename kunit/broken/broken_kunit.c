// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cases that are wrong on purpose. They prove that a failed expectation, an out-of-bounds write and
 * a value that its hardware field cannot hold make a run fail. They are not in the module of the
 * suites.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "hw/contexts.h"

#define BUFFER_SIZE	24

static void passes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 1 + 1, 2);
}

static void fails_an_expectation(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 1 + 1, 3);
}

static void writes_behind_a_buffer(struct kunit *test)
{
	u8 *buffer = kunit_kmalloc(test, BUFFER_SIZE, GFP_KERNEL);
	size_t position = BUFFER_SIZE;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	OPTIMIZER_HIDE_VAR(position);
	WRITE_ONCE(buffer[position], 0xa5);
}

/* The case passes, but a debug build warns that the setter truncates the value. */
static void sets_a_field_to_more_than_it_holds(struct kunit *test)
{
	struct hw_cqc context = {};
	u64 status = 0x1a;

	OPTIMIZER_HIDE_VAR(status);
	hw_cqc_set_status(&context, status);
	KUNIT_EXPECT_EQ(test, hw_cqc_get_status(&context), 0xa);
	hw_cqc_set_status(&context, 0);
	KUNIT_EXPECT_TRUE(test, mem_is_zero(&context, sizeof(context)));
}

static struct kunit_case broken_cases[] = {
	KUNIT_CASE(passes),
	KUNIT_CASE(fails_an_expectation),
	KUNIT_CASE(sets_a_field_to_more_than_it_holds),
	KUNIT_CASE(writes_behind_a_buffer),
	{}
};

static struct kunit_suite broken_suite = {
	.name = "broken",
	.test_cases = broken_cases,
};

kunit_test_suite(broken_suite);

MODULE_DESCRIPTION("KUnit cases that must fail");
MODULE_LICENSE("GPL");
