// SPDX-License-Identifier: GPL-2.0-only
/* Sizes of the SQ and RQ of a QP. */
#include "fake_queue_pair.h"

static int size(struct fake_queue_pair *fake, struct ib_qp_init_attr *init)
{
	fake->qp.sq.offset = 0;
	return cxib_qp_size(&fake->ibdev, &fake->qp, init);
}

static void qp_size_rounds_up_to_power_of_2(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_qp_init_attr init = { .cap = {
		.max_send_wr = 100, .max_send_sge = 2, .max_recv_wr = 300, .max_recv_sge = 1,
	} };

	KUNIT_ASSERT_EQ(test, 0, size(fake, &init));
	KUNIT_EXPECT_EQ(test, 8, fake->qp.sq.log_size);
	KUNIT_EXPECT_EQ(test, 128, init.cap.max_send_wr);
	KUNIT_EXPECT_EQ(test, 4, init.cap.max_send_sge);
	KUNIT_EXPECT_EQ(test, 9, fake->qp.rq.log_size);
	KUNIT_EXPECT_EQ(test, 4, fake->qp.rq.log_stride);
	KUNIT_EXPECT_EQ(test, 512, init.cap.max_recv_wr);
	KUNIT_EXPECT_EQ(test, 512 * 16, fake->qp.sq.offset);
	KUNIT_EXPECT_EQ(test, 512 * 16 + 256 * 64, cxib_qp_buffer_size(&fake->qp));
}

static void qp_size_small_rq_fills_wqebb(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_qp_init_attr init = { .cap = {
		.max_send_wr = 1, .max_recv_wr = 1, .max_recv_sge = 1,
	} };

	KUNIT_ASSERT_EQ(test, 0, size(fake, &init));
	KUNIT_EXPECT_EQ(test, 4, init.cap.max_recv_wr);
	KUNIT_EXPECT_EQ(test, 64, fake->qp.sq.offset);
}

static void qp_size_max_recv_wr_0_has_no_rq(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_qp_init_attr init = { .cap = { .max_send_wr = 1, .max_recv_sge = 3 } };

	KUNIT_ASSERT_EQ(test, 0, size(fake, &init));
	KUNIT_EXPECT_FALSE(test, fake->qp.has_rq);
	KUNIT_EXPECT_EQ(test, 0, init.cap.max_recv_sge);
	KUNIT_EXPECT_EQ(test, 0, fake->qp.sq.offset);
}

static void qp_size_beyond_caps_returns_einval(struct kunit *test)
{
	static const struct ib_qp_cap caps[] = {
		{ .max_send_wr = 1, .max_send_sge = 31 },
		{ .max_send_wr = 32769 },
		{ .max_send_wr = 16385, .max_send_sge = 1 },
		{ .max_recv_wr = 32769 },
		{ .max_recv_wr = 1, .max_recv_sge = 33 },
		{ .max_send_wr = 1, .max_inline_data = 1024 },
		{ .max_send_wr = U32_MAX, .max_send_sge = 1 },
		{ .max_recv_wr = U32_MAX, .max_recv_sge = 1 },
	};
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(caps); i++) {
		struct ib_qp_init_attr init = { .cap = caps[i] };

		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, size(fake, &init), "size %zu", i);
	}
}

static void qp_size_at_limits_returns_0(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_qp_init_attr init = { .cap = {
		.max_send_wr = 16384, .max_send_sge = 1, .max_recv_wr = 32768, .max_recv_sge = 32,
	} };

	KUNIT_ASSERT_EQ(test, 0, size(fake, &init));
	KUNIT_EXPECT_EQ(test, 15, fake->qp.sq.log_size);
	init.cap.max_send_wr = 32768 / 9;
	init.cap.max_send_sge = 30;
	KUNIT_ASSERT_EQ(test, 0, size(fake, &init));
	KUNIT_EXPECT_EQ(test, 30, fake->qp.sq.max_sge);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(qp_size_rounds_up_to_power_of_2),
	KUNIT_CASE(qp_size_small_rq_fills_wqebb),
	KUNIT_CASE(qp_size_max_recv_wr_0_has_no_rq),
	KUNIT_CASE(qp_size_beyond_caps_returns_einval),
	KUNIT_CASE(qp_size_at_limits_returns_0),
	{}
};

static struct kunit_suite suite = {
	.name = "qp_size",
	.test_cases = cases,
};

kunit_test_suite(suite);
