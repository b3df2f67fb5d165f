// SPDX-License-Identifier: GPL-2.0-only
/* Sizes of the SQ and RQ of a UD QP. */
#include <linux/log2.h>

#include "fake_queue_pair.h"
#include "hw/work_queue.h"

/* An SGE is a data segment of 16 bytes. An SQ WQE consists of WQEBBs of 64 bytes. */
#define SGE_BYTES	sizeof(struct hw_wqe_data_seg)
#define SGES_OF_WQEBB	(CXIB_WQEBB_SIZE / SGE_BYTES)
#define MAX_RECV_SGE	(FAKE_MAX_RQ_WQE / SGE_BYTES)

/* Control segment and AV of a UD QP fill one WQEBB, so a WQE with an SGE has two WQEBBs. */
#define HEADER_BYTES	(sizeof(struct hw_wqe_ctrl_seg) + sizeof(struct hw_wqe_datagram_seg))
#define WQEBBS		2

/* The SQ has up to 2^15 WQEBBs, and the longest WQE, of 30 SGEs (CXIB_SEND_SGE_MAX), nine. */
#define MAX_SEND_WR	(BIT(FAKE_LOG_MAX_WQES) / WQEBBS)
#define LONGEST_WQEBBS	DIV_ROUND_UP(HEADER_BYTES + CXIB_SEND_SGE_MAX * SGE_BYTES, CXIB_WQEBB_SIZE)

/* Inline data may use the rest of the longest WQE after its headers. */
#define MAX_INLINE	(FAKE_MAX_SQ_WQE - HEADER_BYTES - sizeof(struct hw_wqe_inline_seg))

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
	const u32 send_wrs = roundup_pow_of_two(init.cap.max_send_wr);
	const u32 recv_wrs = roundup_pow_of_two(init.cap.max_recv_wr);

	KUNIT_ASSERT_EQ(test, 0, size(fake, &init));
	KUNIT_EXPECT_EQ(test, ilog2(send_wrs * WQEBBS), fake->qp.sq.log_size);
	KUNIT_EXPECT_EQ(test, send_wrs, init.cap.max_send_wr);
	KUNIT_EXPECT_EQ(test, SGES_OF_WQEBB, init.cap.max_send_sge);
	KUNIT_EXPECT_EQ(test, ilog2(recv_wrs), fake->qp.rq.log_size);
	KUNIT_EXPECT_EQ(test, ilog2(SGE_BYTES), fake->qp.rq.log_stride);
	KUNIT_EXPECT_EQ(test, recv_wrs, init.cap.max_recv_wr);
	/* The SQ follows the RQ. */
	KUNIT_EXPECT_EQ(test, recv_wrs * SGE_BYTES, fake->qp.sq.offset);
	KUNIT_EXPECT_EQ(test, recv_wrs * SGE_BYTES + send_wrs * WQEBBS * CXIB_WQEBB_SIZE,
			cxib_qp_buffer_size(&fake->qp));
}

/* The SQ starts after the RQ at a multiple of the WQEBB size. */
static void qp_size_small_rq_fills_wqebb(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_qp_init_attr init = { .cap = {
		.max_send_wr = 1, .max_recv_wr = 1, .max_recv_sge = 1,
	} };

	KUNIT_ASSERT_EQ(test, 0, size(fake, &init));
	KUNIT_EXPECT_EQ(test, SGES_OF_WQEBB, init.cap.max_recv_wr);
	KUNIT_EXPECT_EQ(test, CXIB_WQEBB_SIZE, fake->qp.sq.offset);
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
		{ .max_send_wr = 1, .max_send_sge = CXIB_SEND_SGE_MAX + 1 },
		{ .max_send_wr = BIT(FAKE_LOG_MAX_WQES) + 1 },
		{ .max_send_wr = MAX_SEND_WR + 1, .max_send_sge = 1 },
		{ .max_recv_wr = BIT(FAKE_LOG_MAX_WQES) + 1 },
		{ .max_recv_wr = 1, .max_recv_sge = MAX_RECV_SGE + 1 },
		{ .max_send_wr = 1, .max_inline_data = MAX_INLINE + 1 },
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
		.max_send_wr = MAX_SEND_WR, .max_send_sge = 1,
		.max_recv_wr = BIT(FAKE_LOG_MAX_WQES), .max_recv_sge = MAX_RECV_SGE,
	} };

	KUNIT_ASSERT_EQ(test, 0, size(fake, &init));
	KUNIT_EXPECT_EQ(test, FAKE_LOG_MAX_WQES, fake->qp.sq.log_size);
	init.cap.max_send_wr = BIT(FAKE_LOG_MAX_WQES) / LONGEST_WQEBBS;
	init.cap.max_send_sge = CXIB_SEND_SGE_MAX;
	KUNIT_ASSERT_EQ(test, 0, size(fake, &init));
	KUNIT_EXPECT_EQ(test, CXIB_SEND_SGE_MAX, fake->qp.sq.max_sge);
	init.cap = (struct ib_qp_cap){ .max_send_wr = 1, .max_inline_data = MAX_INLINE };
	KUNIT_EXPECT_EQ(test, 0, size(fake, &init));
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
