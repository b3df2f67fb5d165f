// SPDX-License-Identifier: GPL-2.0-only
/* SQ drain: announced WQEs complete, later WQEs are held, no WQE is lost. */
#include "compat/workqueue.h"
#include "fake_queue_pair.h"
#include "verbs/cq/cq_poll.h"

static unsigned int events;

static void count_event(struct ib_event *event, void *context)
{
	if (event->event == IB_EVENT_SQ_DRAINED)
		events++;
}

static struct fake_queue_pair *with_sq(struct kunit *test, unsigned int count, bool signalled)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	events = 0;
	mutex_init(&fake->qp.mutex);
	fake->qp.ib.event_handler = count_event;
	cxib_qp_set_state(&fake->qp, IB_QPS_RTS);
	fake->qp.sq.flags = signalled ? IB_SEND_SIGNALED : 0;
	fake_post_sq(test, fake, count);
	return fake;
}

static int drain(struct fake_queue_pair *fake, bool notify)
{
	guard(mutex)(&fake->qp.mutex);
	return cxib_sq_drain(&fake->qp, notify);
}

static u32 sq_dbr(const struct fake_queue_pair *fake)
{
	return be32_to_cpu(fake->dbr[1]);
}

/* Posts one more WR with cxib_post_send(). */
static void post(struct kunit *test, struct fake_queue_pair *fake)
{
	struct ib_sge sge = { .addr = 0x1000, .length = 8, .lkey = 5 };
	const struct ib_send_wr *bad;
	struct cxib_ah ah = {};
	struct ib_ud_wr ud = {
		.wr = { .wr_id = 300, .num_sge = 1, .sg_list = &sge, .opcode = IB_WR_SEND },
		.ah = &ah.ib,
	};

	KUNIT_ASSERT_EQ(test, 0, cxib_post_send(&fake->qp.ib, &ud.wr, &bad));
}

static void sq_drain_idle_is_drained(struct kunit *test)
{
	struct fake_queue_pair *fake = with_sq(test, 0, false);

	KUNIT_EXPECT_FALSE(test, cxib_sq_is_drained(&fake->qp));
	KUNIT_ASSERT_EQ(test, 0, drain(fake, false));
	KUNIT_EXPECT_TRUE(test, cxib_sq_is_drained(&fake->qp));
	cxib_drain_destroy(&fake->qp);
}

static void sq_drain_unpolled_last_cqe_is_drained(struct kunit *test)
{
	struct fake_queue_pair *fake = with_sq(test, 2, true);
	struct ib_wc wc[2];

	KUNIT_ASSERT_EQ(test, 0, drain(fake, false));
	hw_cqe64_set_wqe_counter(fake_completion(fake, HW_CQE_OPCODE_REQ), 0);
	KUNIT_EXPECT_FALSE(test, cxib_sq_is_drained(&fake->qp));
	hw_cqe64_set_wqe_counter(fake_completion(fake, HW_CQE_OPCODE_REQ), FAKE_SEND_WQEBBS);
	KUNIT_EXPECT_TRUE(test, cxib_sq_is_drained(&fake->qp));
	KUNIT_EXPECT_EQ(test, 2, cxib_poll_cq(&fake->cq.ib, 2, wc));
	KUNIT_EXPECT_TRUE(test, cxib_sq_is_drained(&fake->qp));
	cxib_drain_destroy(&fake->qp);
}

static void sq_drain_unsignaled_wr_posts_nop(struct kunit *test)
{
	struct fake_queue_pair *fake = with_sq(test, 2, false);
	const struct hw_wqe_ctrl_seg *nop = fake_block(fake, 2 * FAKE_SEND_WQEBBS);
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, 0, drain(fake, false));
	KUNIT_EXPECT_EQ(test, 2 * FAKE_SEND_WQEBBS + 1, sq_dbr(fake));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_NOP, hw_wqe_ctrl_seg_get_opcode(nop));
	KUNIT_EXPECT_FALSE(test, cxib_sq_is_drained(&fake->qp));
	hw_cqe64_set_wqe_counter(fake_completion(fake, HW_CQE_OPCODE_REQ), 2 * FAKE_SEND_WQEBBS);
	/* The CQE of the NOP is not reported, but the CQ consumer index advances. */
	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_EQ(test, 1, be32_to_cpu(fake->cq_record[0]));
	KUNIT_EXPECT_TRUE(test, cxib_sq_is_drained(&fake->qp));
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fake->hw.health));
	cxib_drain_destroy(&fake->qp);
}

static void poll_cq_skips_nop_cqe(struct kunit *test)
{
	struct fake_queue_pair *fake = with_sq(test, 1, false);
	struct ib_wc wc;

	fake_post_recvs(test, fake, 1);
	KUNIT_ASSERT_EQ(test, 0, drain(fake, false));
	hw_cqe64_set_wqe_counter(fake_completion(fake, HW_CQE_OPCODE_REQ), FAKE_SEND_WQEBBS);
	fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_EQ(test, FAKE_RECV_ID, wc.wr_id);
	cxib_drain_destroy(&fake->qp);
}

static void sq_drain_full_sq_returns_enomem(struct kunit *test)
{
	struct fake_queue_pair *fake =
		with_sq(test, BIT(FAKE_LOG_BLOCKS) / FAKE_SEND_WQEBBS, false);

	KUNIT_EXPECT_EQ(test, -ENOMEM, drain(fake, false));
	KUNIT_EXPECT_FALSE(test, fake->qp.sq.state & CXIB_SQ_HELD);
	cxib_drain_destroy(&fake->qp);
}

/* One of the WQEBBs is the NOP that the drain posts after the first, unsignaled send. */
static void sq_resume_rings_db_of_held_wqes(struct kunit *test)
{
	struct fake_queue_pair *fake = with_sq(test, 0, false);

	post(test, fake);
	KUNIT_EXPECT_EQ(test, FAKE_SEND_WQEBBS, sq_dbr(fake));
	KUNIT_ASSERT_EQ(test, 0, drain(fake, false));
	post(test, fake);
	post(test, fake);
	KUNIT_EXPECT_EQ(test, FAKE_SEND_WQEBBS + 1, sq_dbr(fake));
	cxib_sq_resume(&fake->qp);
	KUNIT_EXPECT_EQ(test, 3 * FAKE_SEND_WQEBBS + 1, sq_dbr(fake));
	post(test, fake);
	KUNIT_EXPECT_EQ(test, 4 * FAKE_SEND_WQEBBS + 1, sq_dbr(fake));
	cxib_drain_destroy(&fake->qp);
}

static void sq_drained_event_raised_once(struct kunit *test)
{
	struct fake_queue_pair *fake = with_sq(test, 1, true);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, drain(fake, true));
	flush_delayed_work(&fake->qp.drain->work);
	KUNIT_EXPECT_EQ(test, 0, events);
	hw_cqe64_set_wqe_counter(fake_completion(fake, HW_CQE_OPCODE_REQ), 0);
	for (i = 0; i < 3; i++) {
		mod_delayed_work(system_percpu_wq, &fake->qp.drain->work, 0);
		flush_delayed_work(&fake->qp.drain->work);
	}
	KUNIT_EXPECT_EQ(test, 1, events);
	cxib_drain_destroy(&fake->qp);
}

static void sq_resume_suppresses_drained_event(struct kunit *test)
{
	struct fake_queue_pair *fake = with_sq(test, 1, true);

	KUNIT_ASSERT_EQ(test, 0, drain(fake, true));
	cxib_sq_resume(&fake->qp);
	hw_cqe64_set_wqe_counter(fake_completion(fake, HW_CQE_OPCODE_REQ), 0);
	mod_delayed_work(system_percpu_wq, &fake->qp.drain->work, 0);
	flush_delayed_work(&fake->qp.drain->work);
	KUNIT_EXPECT_EQ(test, 0, events);
	cxib_drain_destroy(&fake->qp);
}

static void sq_drain_user_qp_returns_eopnotsupp(struct kunit *test)
{
	struct fake_queue_pair *fake = with_sq(test, 0, false);

	fake->qp.is_user = true;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, drain(fake, true));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(sq_drain_idle_is_drained),
	KUNIT_CASE(sq_drain_unpolled_last_cqe_is_drained),
	KUNIT_CASE(sq_drain_unsignaled_wr_posts_nop),
	KUNIT_CASE(poll_cq_skips_nop_cqe),
	KUNIT_CASE(sq_drain_full_sq_returns_enomem),
	KUNIT_CASE(sq_resume_rings_db_of_held_wqes),
	KUNIT_CASE(sq_drained_event_raised_once),
	KUNIT_CASE(sq_resume_suppresses_drained_event),
	KUNIT_CASE(sq_drain_user_qp_returns_eopnotsupp),
	{}
};

static struct kunit_suite suite = {
	.name = "qp_drain",
	.test_cases = cases,
};

kunit_test_suite(suite);
