// SPDX-License-Identifier: GPL-2.0-only
/* Send requests in the ring of a send queue. */
#include "fake_queue_pair.h"
#include "verbs/qp/post.h"

#define SEGMENTS_MAX	8

struct request {
	struct fake_queue_pair *fake;
	struct cxib_ah ah;
	struct ib_sge sge[SEGMENTS_MAX + 1];
	struct ib_ud_wr ud;
};

static struct request *make_request(struct kunit *test, unsigned int segments)
{
	struct request *request = kunit_kzalloc(test, sizeof(*request), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, request);
	request->fake = fake_queue_pair_create(test);
	for (i = 0; i < segments; i++)
		request->sge[i] = (struct ib_sge){
			.addr = 0x100000000ULL + i, .length = 16 + i, .lkey = 0x500 + i,
		};
	hw_av_set_rlid(&request->ah.vector, 0x77);
	request->ud = (struct ib_ud_wr){
		.wr = {
			.wr_id = 42,
			.num_sge = segments,
			.sg_list = request->sge,
			.opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
		},
		.ah = &request->ah.ib,
		.remote_qpn = 0xaaaaaa,
		.remote_qkey = 0x80010000,
	};
	return request;
}

static int build(struct request *request)
{
	return cxib_build_send_wqe(&request->fake->qp, &request->ud.wr);
}

static void begins_with_control_and_address(struct kunit *test)
{
	struct request *request = make_request(test, 1);
	struct hw_wqe_ctrl_seg *control = fake_block(request->fake, 0);
	struct hw_av *vector = (void *)(control + 1);

	KUNIT_ASSERT_EQ(test, 0, build(request));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_SEND, hw_wqe_ctrl_seg_get_opcode(control));
	KUNIT_EXPECT_EQ(test, 0, hw_wqe_ctrl_seg_get_wqe_index(control));
	KUNIT_EXPECT_EQ(test, FAKE_QPN, hw_wqe_ctrl_seg_get_qpn(control));
	KUNIT_EXPECT_EQ(test, 5, hw_wqe_ctrl_seg_get_ds(control));
	KUNIT_EXPECT_EQ(test, HW_COMPLETION_MODE_CQ_UPDATE, hw_wqe_ctrl_seg_get_ce(control));
	KUNIT_EXPECT_EQ(test, 0, hw_wqe_ctrl_seg_get_se(control));
	KUNIT_EXPECT_EQ(test, 0x80010000, hw_av_get_qkey(vector));
	KUNIT_EXPECT_EQ(test, 0xaaaaaa, hw_av_get_dqp_dct(vector));
	KUNIT_EXPECT_EQ(test, 1, hw_av_get_extended(vector));
	KUNIT_EXPECT_EQ(test, 0x77, hw_av_get_rlid(vector));
}

static void data_segments_follow(struct kunit *test)
{
	struct request *request = make_request(test, 2);
	struct hw_wqe_data_seg *segment = fake_block(request->fake, 1);

	KUNIT_ASSERT_EQ(test, 0, build(request));
	KUNIT_EXPECT_EQ(test, 16, hw_wqe_data_seg_get_byte_count(&segment[0]));
	KUNIT_EXPECT_EQ(test, 0x500, hw_wqe_data_seg_get_lkey(&segment[0]));
	KUNIT_EXPECT_EQ(test, 0x100000000ULL, hw_wqe_data_seg_get_addr(&segment[0]));
	KUNIT_EXPECT_EQ(test, 17, hw_wqe_data_seg_get_byte_count(&segment[1]));
}

static void flags_and_immediate_data_are_in_the_control_segment(struct kunit *test)
{
	struct request *request = make_request(test, 1);
	struct hw_wqe_ctrl_seg *control = fake_block(request->fake, 0);

	request->ud.wr.opcode = IB_WR_SEND_WITH_IMM;
	request->ud.wr.ex.imm_data = cpu_to_be32(0xdeadbeef);
	request->ud.wr.send_flags = IB_SEND_SOLICITED | IB_SEND_FENCE;
	KUNIT_ASSERT_EQ(test, 0, build(request));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_SEND_IMM, hw_wqe_ctrl_seg_get_opcode(control));
	KUNIT_EXPECT_EQ(test, 0xdeadbeef, hw_wqe_ctrl_seg_get_imm(control));
	KUNIT_EXPECT_EQ(test, 1, hw_wqe_ctrl_seg_get_se(control));
	KUNIT_EXPECT_EQ(test, HW_FENCE_MODE_FENCE, hw_wqe_ctrl_seg_get_fm(control));
	KUNIT_EXPECT_EQ(test, HW_COMPLETION_MODE_ONLY_ERROR, hw_wqe_ctrl_seg_get_ce(control));
}

static void a_queue_pair_can_signal_all(struct kunit *test)
{
	struct request *request = make_request(test, 1);

	request->ud.wr.send_flags = 0;
	request->fake->qp.sq.flags = IB_SEND_SIGNALED;
	KUNIT_ASSERT_EQ(test, 0, build(request));
	KUNIT_EXPECT_EQ(test, HW_COMPLETION_MODE_CQ_UPDATE,
			hw_wqe_ctrl_seg_get_ce(fake_block(request->fake, 0)));
}

static void segments_without_data_are_left_out(struct kunit *test)
{
	struct request *request = make_request(test, 3);
	struct hw_wqe_data_seg *segment = fake_block(request->fake, 1);

	request->sge[0].length = 0;
	request->sge[2].length = 0;
	KUNIT_ASSERT_EQ(test, 0, build(request));
	KUNIT_EXPECT_EQ(test, 5, hw_wqe_ctrl_seg_get_ds(fake_block(request->fake, 0)));
	KUNIT_EXPECT_EQ(test, 17, hw_wqe_data_seg_get_byte_count(&segment[0]));
}

static void each_request_begins_at_a_block(struct kunit *test)
{
	struct request *request = make_request(test, 5);
	struct cxib_sq *sq = &request->fake->qp.sq;

	KUNIT_ASSERT_EQ(test, 0, build(request));
	KUNIT_EXPECT_EQ(test, 3, sq->prod_index);
	KUNIT_ASSERT_EQ(test, 0, build(request));
	KUNIT_EXPECT_EQ(test, 3, hw_wqe_ctrl_seg_get_wqe_index(fake_block(request->fake, 3)));
	KUNIT_EXPECT_EQ(test, 3, sq->entries[0].blocks);
	KUNIT_EXPECT_EQ(test, 0, sq->entries[1].blocks);
	KUNIT_EXPECT_EQ(test, 3, sq->entries[3].blocks);
	KUNIT_EXPECT_EQ(test, 42, sq->entries[3].wr_id);
}

static void goes_on_at_the_start_of_the_ring(struct kunit *test)
{
	struct request *request = make_request(test, 5);
	struct cxib_sq *sq = &request->fake->qp.sq;
	struct hw_wqe_data_seg *segment;

	/* The index of a request has 16 bits, the ring has 7. */
	sq->prod_index = 0x1ffff;
	sq->cons_index = 0x1ffff;
	KUNIT_ASSERT_EQ(test, 0, build(request));
	KUNIT_EXPECT_EQ(test, 0xffff,
			hw_wqe_ctrl_seg_get_wqe_index(fake_block(request->fake, 0x7f)));
	segment = fake_block(request->fake, 0);
	KUNIT_EXPECT_EQ(test, 16, hw_wqe_data_seg_get_byte_count(&segment[0]));
	segment = fake_block(request->fake, 1);
	KUNIT_EXPECT_EQ(test, 20, hw_wqe_data_seg_get_byte_count(&segment[0]));
}

static void a_full_ring_takes_nothing(struct kunit *test)
{
	struct request *request = make_request(test, 1);
	unsigned int i;

	for (i = 0; i < BIT(FAKE_LOG_BLOCKS) / 2; i++)
		KUNIT_ASSERT_EQ(test, 0, build(request));
	KUNIT_EXPECT_EQ(test, -ENOMEM, build(request));
	request->fake->qp.sq.cons_index = 2;
	KUNIT_EXPECT_EQ(test, 0, build(request));
	KUNIT_EXPECT_EQ(test, -ENOMEM, build(request));
}

/* What is left at the end counts, not what the longest request would take. */
static void a_request_takes_the_blocks_that_it_needs(struct kunit *test)
{
	struct request *request = make_request(test, 5);
	struct cxib_sq *sq = &request->fake->qp.sq;

	sq->prod_index = BIT(FAKE_LOG_BLOCKS) - 2;
	KUNIT_EXPECT_EQ(test, -ENOMEM, build(request));
	request->ud.wr.num_sge = 4;
	KUNIT_EXPECT_EQ(test, 0, build(request));
	KUNIT_EXPECT_EQ(test, BIT(FAKE_LOG_BLOCKS), sq->prod_index);
}

static void more_segments_than_agreed_are_refused(struct kunit *test)
{
	struct request *request = make_request(test, SEGMENTS_MAX + 1);

	KUNIT_EXPECT_EQ(test, -EINVAL, build(request));
	KUNIT_EXPECT_EQ(test, 0, request->fake->qp.sq.prod_index);
}

static void data_in_the_request_is_copied_across_the_end_of_the_ring(struct kunit *test)
{
	struct request *request = make_request(test, 2);
	struct cxib_sq *sq = &request->fake->qp.sq;
	static const char first[] = "0123456789", second[] = "abcdefghij";
	const struct hw_wqe_inline_seg *header;

	sq->max_inline = 20;
	sq->prod_index = 0x7f;
	sq->cons_index = 0x7f;
	request->sge[0] = (struct ib_sge){ .addr = (uintptr_t)first, .length = 10 };
	request->sge[1] = (struct ib_sge){ .addr = (uintptr_t)second, .length = 10 };
	request->ud.wr.send_flags = IB_SEND_INLINE;
	KUNIT_ASSERT_EQ(test, 0, build(request));
	KUNIT_EXPECT_EQ(test, 6, hw_wqe_ctrl_seg_get_ds(fake_block(request->fake, 0x7f)));
	header = fake_block(request->fake, 0);
	KUNIT_EXPECT_EQ(test, 1, hw_wqe_inline_seg_get_inline_seg(header));
	KUNIT_EXPECT_EQ(test, 20, hw_wqe_inline_seg_get_byte_count(header));
	KUNIT_EXPECT_MEMEQ(test, header + 1, "0123456789abcdefghij", 20);
	request->sge[1].length = 11;
	KUNIT_EXPECT_EQ(test, -EINVAL, build(request));
}

static void operations_that_are_not_for_datagrams_are_refused(struct kunit *test)
{
	struct request *request = make_request(test, 1);

	request->ud.wr.opcode = IB_WR_RDMA_WRITE;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, build(request));
	request->ud.wr.opcode = U8_MAX;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, build(request));
}

static void without_a_send_queue_nothing_is_sent(struct kunit *test)
{
	struct request *request = make_request(test, 1);
	struct cxib_qp *qp = &request->fake->qp;
	const struct ib_send_wr *bad = NULL;

	qp->has_sq = false;
	qp->sq.opcode_mask = 0;
	cxib_qp_set_state(qp, IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_post_send(&qp->ib, &request->ud.wr, &bad));
	KUNIT_EXPECT_PTR_EQ(test, &request->ud.wr, bad);
}

/* One that has failed takes requests, which the device flushes. */
static void requests_are_taken_in_states_that_send(struct kunit *test)
{
	struct request *request = make_request(test, 1);
	struct cxib_qp *qp = &request->fake->qp;
	const struct ib_send_wr *bad;
	u8 state;

	for (state = IB_QPS_RESET; state <= IB_QPS_ERR; state++) {
		cxib_qp_set_state(qp, state);
		bad = NULL;
		KUNIT_EXPECT_EQ(test, state < IB_QPS_RTS ? -EINVAL : 0,
				cxib_post_send(&qp->ib, &request->ud.wr, &bad));
		KUNIT_EXPECT_PTR_EQ(test, state < IB_QPS_RTS ? &request->ud.wr : NULL, bad);
	}
}

/* Each request goes to the queue pair for its P_Key, which may be this one. */
static void gsi_post_send_selects_pkey_qp(struct kunit *test)
{
	struct request *request = make_request(test, 1);
	struct cxib_qp *qp = &request->fake->qp;
	const struct ib_send_wr *bad;
	u32 some;

	qp->gsi = (struct cxib_gsi *)&some;
	cxib_qp_set_state(qp, IB_QPS_RTS);
	KUNIT_EXPECT_FALSE(test, qp->sq.can_post);
	KUNIT_EXPECT_EQ(test, 0, cxib_qp_post_send(qp, &request->ud.wr, &bad));
	cxib_qp_set_state(qp, IB_QPS_RTR);
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_qp_post_send(qp, &request->ud.wr, &bad));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(begins_with_control_and_address),
	KUNIT_CASE(data_segments_follow),
	KUNIT_CASE(flags_and_immediate_data_are_in_the_control_segment),
	KUNIT_CASE(a_queue_pair_can_signal_all),
	KUNIT_CASE(segments_without_data_are_left_out),
	KUNIT_CASE(each_request_begins_at_a_block),
	KUNIT_CASE(goes_on_at_the_start_of_the_ring),
	KUNIT_CASE(a_full_ring_takes_nothing),
	KUNIT_CASE(a_request_takes_the_blocks_that_it_needs),
	KUNIT_CASE(more_segments_than_agreed_are_refused),
	KUNIT_CASE(data_in_the_request_is_copied_across_the_end_of_the_ring),
	KUNIT_CASE(operations_that_are_not_for_datagrams_are_refused),
	KUNIT_CASE(without_a_send_queue_nothing_is_sent),
	KUNIT_CASE(requests_are_taken_in_states_that_send),
	KUNIT_CASE(gsi_post_send_selects_pkey_qp),
	{}
};

static struct kunit_suite suite = {
	.name = "post_send",
	.test_cases = cases,
};

kunit_test_suite(suite);
