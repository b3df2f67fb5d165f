// SPDX-License-Identifier: GPL-2.0-only
/* Which doorbells queue pairs get whose library does not choose them. */
#include <kunit/test.h>

#include "user/bfreg.h"

static struct cxib_bfregs *make(struct kunit *test, u32 count, u32 exclusive)
{
	struct cxib_bfregs *registers = kunit_kzalloc(test, sizeof(*registers), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, registers);
	KUNIT_ASSERT_EQ(test, 0, cxib_bfregs_init(registers, count, exclusive));
	return registers;
}

static void only_what_is_possible_is_granted(struct kunit *test)
{
	static const u32 impossible[][2] = {
		{ 0, 0 }, { CXIB_BFREGS_MAX + 1, 4 }, { U32_MAX, 4 }, { 16, 16 }, { 16, 17 },
		{ 16, U32_MAX }, { 0, U32_MAX }, { 1, 2 },
	};
	struct cxib_bfregs *registers = kunit_kzalloc(test, sizeof(*registers), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, registers);
	for (i = 0; i < ARRAY_SIZE(impossible); i++)
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL,
				    cxib_bfregs_init(registers, impossible[i][0],
						     impossible[i][1]),
				    "%u, %u exclusive", impossible[i][0], impossible[i][1]);
}

static void there_are_whole_pages(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 2, make(test, 1, 0)->count);
	KUNIT_EXPECT_EQ(test, 16, make(test, 15, 4)->count);
	KUNIT_EXPECT_EQ(test, 16, make(test, 16, 15)->count);
	KUNIT_EXPECT_EQ(test, CXIB_BFREGS_MAX,
			make(test, CXIB_BFREGS_MAX - 1, 4)->count);
}

static void exclusive_ones_come_first(struct kunit *test)
{
	struct cxib_bfregs *registers = make(test, 16, 4);

	KUNIT_EXPECT_EQ(test, 12, cxib_bfreg_alloc(registers));
	KUNIT_EXPECT_EQ(test, 13, cxib_bfreg_alloc(registers));
	KUNIT_EXPECT_EQ(test, 14, cxib_bfreg_alloc(registers));
	KUNIT_EXPECT_EQ(test, 15, cxib_bfreg_alloc(registers));
	KUNIT_EXPECT_EQ(test, 1, cxib_bfreg_alloc(registers));
}

static void the_others_are_shared_evenly(struct kunit *test)
{
	struct cxib_bfregs *registers = make(test, 4, 1);
	unsigned int i;

	KUNIT_EXPECT_EQ(test, 3, cxib_bfreg_alloc(registers));
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, 1, cxib_bfreg_alloc(registers));
		KUNIT_EXPECT_EQ(test, 2, cxib_bfreg_alloc(registers));
	}
	cxib_bfreg_free(registers, 2);
	KUNIT_EXPECT_EQ(test, 2, cxib_bfreg_alloc(registers));
	KUNIT_EXPECT_EQ(test, 1, cxib_bfreg_alloc(registers));
}

/* Two queue pairs on one of them would write to it at the same time. */
static void exclusive_ones_have_one_queue_pair(struct kunit *test)
{
	struct cxib_bfregs *registers = make(test, 8, 3);
	unsigned int i;

	for (i = 0; i < 100; i++)
		cxib_bfreg_alloc(registers);
	for (i = 5; i < 8; i++)
		KUNIT_EXPECT_EQ(test, 1, registers->qp_count[i]);
	cxib_bfreg_free(registers, 6);
	KUNIT_EXPECT_EQ(test, 6, cxib_bfreg_alloc(registers));
}

static void the_first_one_is_for_all_where_none_is_shared(struct kunit *test)
{
	struct cxib_bfregs *registers = make(test, 2, 1);

	KUNIT_EXPECT_EQ(test, 1, cxib_bfreg_alloc(registers));
	KUNIT_EXPECT_EQ(test, 0, cxib_bfreg_alloc(registers));
	KUNIT_EXPECT_EQ(test, 0, cxib_bfreg_alloc(registers));
}

/* The library keeps room for two more of each page. */
static void names_count_four_of_each_page(struct kunit *test)
{
	static const u32 names[] = { 0, 1, 4, 5, 8, 9 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		KUNIT_EXPECT_EQ(test, names[i], cxib_bfreg_index(i));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(only_what_is_possible_is_granted),
	KUNIT_CASE(there_are_whole_pages),
	KUNIT_CASE(exclusive_ones_come_first),
	KUNIT_CASE(the_others_are_shared_evenly),
	KUNIT_CASE(exclusive_ones_have_one_queue_pair),
	KUNIT_CASE(the_first_one_is_for_all_where_none_is_shared),
	KUNIT_CASE(names_count_four_of_each_page),
	{}
};

static struct kunit_suite suite = {
	.name = "bfreg",
	.test_cases = cases,
};

kunit_test_suite(suite);
