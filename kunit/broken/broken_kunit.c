// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cases that are wrong on purpose: the proof that a failed expectation and a
 * write out of bounds make a run fail. Never part of the module of the suites.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/slab.h>

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

static struct kunit_case broken_cases[] = {
	KUNIT_CASE(passes),
	KUNIT_CASE(fails_an_expectation),
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
