// SPDX-License-Identifier: GPL-2.0-only
/* Selection of a bfreg for QPs for which libmlx5 selects none. */
#include "kernel_kunit.h"
#include "user/bfreg.h"

/*
 * libmlx5 uses 16 bfregs by default, 4 of them with low latency. The cases work with any even
 * number.
 */
#define COUNT		16
#define LOW_LATENCY	4

static struct cxib_bfregs *make(struct kunit *test, u32 count, u32 low_latency)
{
	struct cxib_bfregs *bfregs = kunit_kzalloc(test, sizeof(*bfregs), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bfregs);
	KUNIT_ASSERT_EQ(test, 0, cxib_bfregs_init(bfregs, count, low_latency));
	return bfregs;
}

static void bfregs_init_bad_count_returns_einval(struct kunit *test)
{
	static const u32 bad[][2] = {
		{ 0, 0 }, { CXIB_BFREGS_MAX + 1, LOW_LATENCY }, { U32_MAX, LOW_LATENCY },
		{ COUNT, COUNT }, { COUNT, COUNT + 1 }, { COUNT, U32_MAX }, { 0, U32_MAX },
		{ 1, 2 },
	};
	struct cxib_bfregs *bfregs = kunit_kzalloc(test, sizeof(*bfregs), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, bfregs);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL,
				    cxib_bfregs_init(bfregs, bad[i][0],
						     bad[i][1]),
				    "%u, %u low_latency", bad[i][0], bad[i][1]);
}

static void bfregs_init_rounds_up_to_uars(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, CXIB_BFREGS_PER_UAR, make(test, 1, 0)->count);
	KUNIT_EXPECT_EQ(test, COUNT, make(test, COUNT - 1, LOW_LATENCY)->count);
	KUNIT_EXPECT_EQ(test, COUNT, make(test, COUNT, COUNT - 1)->count);
	KUNIT_EXPECT_EQ(test, CXIB_BFREGS_MAX,
			make(test, CXIB_BFREGS_MAX - 1, LOW_LATENCY)->count);
}

/*
 * The last bfregs have low latency. Bfreg 0 is only for contexts that have no other bfreg to share.
 */
static void bfreg_alloc_low_latency_first(struct kunit *test)
{
	struct cxib_bfregs *bfregs = make(test, COUNT, LOW_LATENCY);
	unsigned int i;

	for (i = COUNT - LOW_LATENCY; i < COUNT; i++)
		KUNIT_EXPECT_EQ(test, i, cxib_bfreg_alloc(bfregs));
	KUNIT_EXPECT_EQ(test, 1, cxib_bfreg_alloc(bfregs));
}

/* Of 4 bfregs, bfreg 3 has low latency, and bfregs 1 and 2 are shared. */
static void bfreg_alloc_shares_others_evenly(struct kunit *test)
{
	struct cxib_bfregs *bfregs = make(test, 4, 1);
	unsigned int i;

	KUNIT_EXPECT_EQ(test, bfregs->count - 1, cxib_bfreg_alloc(bfregs));
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, 1, cxib_bfreg_alloc(bfregs));
		KUNIT_EXPECT_EQ(test, 2, cxib_bfreg_alloc(bfregs));
	}
	cxib_bfreg_free(bfregs, 2);
	KUNIT_EXPECT_EQ(test, 2, cxib_bfreg_alloc(bfregs));
	KUNIT_EXPECT_EQ(test, 1, cxib_bfreg_alloc(bfregs));
}

/* Two QPs on a low-latency bfreg would write to it at the same time. */
static void bfreg_low_latency_has_one_qp(struct kunit *test)
{
	struct cxib_bfregs *bfregs = make(test, COUNT, LOW_LATENCY);
	unsigned int i;

	for (i = 0; i < 10 * COUNT; i++)
		cxib_bfreg_alloc(bfregs);
	for (i = COUNT - LOW_LATENCY; i < COUNT; i++)
		KUNIT_EXPECT_EQ(test, 1, bfregs->qp_count[i]);
	cxib_bfreg_free(bfregs, COUNT - 2);
	KUNIT_EXPECT_EQ(test, COUNT - 2, cxib_bfreg_alloc(bfregs));
}

static void bfreg_alloc_without_shared_returns_0(struct kunit *test)
{
	struct cxib_bfregs *bfregs = make(test, 2, 1);

	KUNIT_EXPECT_EQ(test, 1, cxib_bfreg_alloc(bfregs));
	KUNIT_EXPECT_EQ(test, 0, cxib_bfreg_alloc(bfregs));
	KUNIT_EXPECT_EQ(test, 0, cxib_bfreg_alloc(bfregs));
}

/* libmlx5 counts four bfregs per UAR. The driver uses two of them. */
static void bfreg_index_counts_4_per_uar(struct kunit *test)
{
	static const u32 indices[] = { 0, 1, 4, 5, 8, 9 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(indices); i++)
		KUNIT_EXPECT_EQ(test, indices[i], cxib_bfreg_index(i));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(bfregs_init_bad_count_returns_einval),
	KUNIT_CASE(bfregs_init_rounds_up_to_uars),
	KUNIT_CASE(bfreg_alloc_low_latency_first),
	KUNIT_CASE(bfreg_alloc_shares_others_evenly),
	KUNIT_CASE(bfreg_low_latency_has_one_qp),
	KUNIT_CASE(bfreg_alloc_without_shared_returns_0),
	KUNIT_CASE(bfreg_index_counts_4_per_uar),
	{}
};

static struct kunit_suite suite = {
	.name = "bfreg",
	.test_cases = cases,
};

kunit_test_suite(suite);
