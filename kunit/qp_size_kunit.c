// SPDX-License-Identifier: GPL-2.0-only
/* How large the queues of a queue pair become. */
#include "fake_queue_pair.h"

static int size(struct fake_queue_pair *fake, struct ib_qp_init_attr *init)
{
	fake->qp.sq.offset = 0;
	return cxib_qp_size(&fake->ibdev, &fake->qp, init);
}

static void there_is_as_much_as_was_wanted_or_more(struct kunit *test)
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

static void a_small_receive_queue_fills_a_block(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_qp_init_attr init = { .cap = {
		.max_send_wr = 1, .max_recv_wr = 1, .max_recv_sge = 1,
	} };

	KUNIT_ASSERT_EQ(test, 0, size(fake, &init));
	KUNIT_EXPECT_EQ(test, 4, init.cap.max_recv_wr);
	KUNIT_EXPECT_EQ(test, 64, fake->qp.sq.offset);
}

static void a_queue_can_be_missing(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_qp_init_attr init = { .cap = { .max_send_wr = 1, .max_recv_sge = 3 } };

	KUNIT_ASSERT_EQ(test, 0, size(fake, &init));
	KUNIT_EXPECT_FALSE(test, fake->qp.has_rq);
	KUNIT_EXPECT_EQ(test, 0, init.cap.max_recv_sge);
	KUNIT_EXPECT_EQ(test, 0, fake->qp.sq.offset);
}

static void what_the_device_cannot_do_is_refused(struct kunit *test)
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

static void the_limits_themselves_are_possible(struct kunit *test)
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
	KUNIT_CASE(there_is_as_much_as_was_wanted_or_more),
	KUNIT_CASE(a_small_receive_queue_fills_a_block),
	KUNIT_CASE(a_queue_can_be_missing),
	KUNIT_CASE(what_the_device_cannot_do_is_refused),
	KUNIT_CASE(the_limits_themselves_are_possible),
	{}
};

static struct kunit_suite suite = {
	.name = "qp_size",
	.test_cases = cases,
};

kunit_test_suite(suite);
