// SPDX-License-Identifier: GPL-2.0-only
/* Receive WQEs in the ring of an RQ. */
#include "fake_queue_pair.h"
#include "verbs/qp/post.h"

static struct hw_wqe_data_seg *wqe_at(struct fake_queue_pair *fake, unsigned int slot)
{
	return cxib_buffer_at(&fake->qp.buffer, slot << fake->qp.rq.log_stride);
}

static void post_recv_short_list_adds_terminator(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct hw_wqe_data_seg *segment = wqe_at(fake, 0);

	fake_post_recvs(test, fake, 1);
	KUNIT_EXPECT_EQ(test, FAKE_RECV_SIZE, hw_wqe_data_seg_get_byte_count(&segment[0]));
	KUNIT_EXPECT_EQ(test, FAKE_RECV_LKEY, hw_wqe_data_seg_get_lkey(&segment[0]));
	KUNIT_EXPECT_EQ(test, 0, hw_wqe_data_seg_get_byte_count(&segment[1]));
	KUNIT_EXPECT_EQ(test, HW_SPECIAL_LKEY_TERMINATE_SCATTER_LIST,
			hw_wqe_data_seg_get_lkey(&segment[1]));
}

static void post_recv_full_list_omits_terminator(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_sge sge[2] = { { .length = 1, .lkey = 1 }, { .length = 2, .lkey = 2 } };
	struct ib_recv_wr wr = { .num_sge = 2, .sg_list = sge };
	struct hw_wqe_data_seg *segment = wqe_at(fake, 0);

	KUNIT_ASSERT_EQ(test, 0, cxib_build_recv_wqe(&fake->qp, &wr));
	KUNIT_EXPECT_EQ(test, 2, hw_wqe_data_seg_get_lkey(&segment[1]));
}

static void post_recv_empty_sge_is_skipped(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_sge sge[2] = { { .length = 0, .lkey = 1 }, { .length = 2, .lkey = 2 } };
	struct ib_recv_wr wr = { .num_sge = 2, .sg_list = sge };
	struct hw_wqe_data_seg *segment = wqe_at(fake, 0);

	KUNIT_ASSERT_EQ(test, 0, cxib_build_recv_wqe(&fake->qp, &wr));
	KUNIT_EXPECT_EQ(test, 2, hw_wqe_data_seg_get_lkey(&segment[0]));
	KUNIT_EXPECT_EQ(test, HW_SPECIAL_LKEY_TERMINATE_SCATTER_LIST,
			hw_wqe_data_seg_get_lkey(&segment[1]));
}

static void post_recv_rq_full_returns_enomem(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_recv_wr wr = {};

	fake_post_recvs(test, fake, BIT(FAKE_LOG_RQ_SIZE));
	KUNIT_EXPECT_EQ(test, -ENOMEM, cxib_build_recv_wqe(&fake->qp, &wr));
	fake->qp.rq.cons_index++;
	KUNIT_EXPECT_EQ(test, 0, cxib_build_recv_wqe(&fake->qp, &wr));
}

static void post_recv_too_many_sges_returns_einval(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_recv_wr wr = { .num_sge = FAKE_RQ_SGE + 1 };

	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_build_recv_wqe(&fake->qp, &wr));
	KUNIT_EXPECT_EQ(test, 0, fake->qp.rq.prod_index);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(post_recv_short_list_adds_terminator),
	KUNIT_CASE(post_recv_full_list_omits_terminator),
	KUNIT_CASE(post_recv_empty_sge_is_skipped),
	KUNIT_CASE(post_recv_rq_full_returns_enomem),
	KUNIT_CASE(post_recv_too_many_sges_returns_einval),
	{}
};

static struct kunit_suite suite = {
	.name = "post_recv",
	.test_cases = cases,
};

kunit_test_suite(suite);
