// SPDX-License-Identifier: GPL-2.0-only
/* Send WQEs in the ring of an SQ. */
#include <rdma/ib_mad.h>

#include "fake_queue_pair.h"
#include "verbs/qp/post.h"

#define SEGMENTS_MAX	8

#define ADDRESS		0x100000000ULL
#define LENGTH		16
#define LKEY		0x500
#define RLID		0x77
#define WR_ID		42
#define REMOTE_QPN	0xaaaaaa
#define IMMEDIATE	0xdeadbeef

/* Control segment and AV fill the first WQEBB. Each further WQEBB has 4 SGEs. */
#define HEADER_DS	4
#define SGES		5
#define WQEBBS		DIV_ROUND_UP(HEADER_DS + SGES, CXIB_DS_PER_WQEBB)
#define LAST_BLOCK	(BIT(FAKE_LOG_BLOCKS) - 1)

struct wr {
	struct fake_queue_pair *fake;
	struct cxib_ah ah;
	struct ib_sge sge[SEGMENTS_MAX + 1];
	struct ib_ud_wr ud;
};

static struct wr *make_wr(struct kunit *test, unsigned int segments)
{
	struct wr *wr = kunit_kzalloc(test, sizeof(*wr), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, wr);
	wr->fake = fake_queue_pair_create(test);
	for (i = 0; i < segments; i++)
		wr->sge[i] = (struct ib_sge){
			.addr = ADDRESS + i, .length = LENGTH + i, .lkey = LKEY + i,
		};
	hw_av_set_rlid(&wr->ah.vector, RLID);
	wr->ud = (struct ib_ud_wr){
		.wr = {
			.wr_id = WR_ID,
			.num_sge = segments,
			.sg_list = wr->sge,
			.opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
		},
		.ah = &wr->ah.ib,
		.remote_qpn = REMOTE_QPN,
		.remote_qkey = IB_QP1_QKEY,
	};
	return wr;
}

static int build(struct wr *wr)
{
	return cxib_build_send_wqe(&wr->fake->qp, &wr->ud.wr);
}

static void send_wqe_begins_with_ctrl_and_av(struct kunit *test)
{
	struct wr *wr = make_wr(test, 1);
	struct hw_wqe_ctrl_seg *control = fake_block(wr->fake, 0);
	struct hw_av *vector = (void *)(control + 1);

	KUNIT_ASSERT_EQ(test, 0, build(wr));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_SEND, hw_wqe_ctrl_seg_get_opcode(control));
	KUNIT_EXPECT_EQ(test, 0, hw_wqe_ctrl_seg_get_wqe_index(control));
	KUNIT_EXPECT_EQ(test, FAKE_QPN, hw_wqe_ctrl_seg_get_qpn(control));
	KUNIT_EXPECT_EQ(test, FAKE_SEND_DS, hw_wqe_ctrl_seg_get_ds(control));
	KUNIT_EXPECT_EQ(test, HW_COMPLETION_MODE_CQ_UPDATE, hw_wqe_ctrl_seg_get_ce(control));
	KUNIT_EXPECT_EQ(test, 0, hw_wqe_ctrl_seg_get_se(control));
	KUNIT_EXPECT_EQ(test, IB_QP1_QKEY, hw_av_get_qkey(vector));
	KUNIT_EXPECT_EQ(test, REMOTE_QPN, hw_av_get_dqp_dct(vector));
	KUNIT_EXPECT_EQ(test, 1, hw_av_get_extended(vector));
	KUNIT_EXPECT_EQ(test, RLID, hw_av_get_rlid(vector));
}

static void send_wqe_data_segs_follow_av(struct kunit *test)
{
	struct wr *wr = make_wr(test, 2);
	struct hw_wqe_data_seg *segment = fake_block(wr->fake, 1);

	KUNIT_ASSERT_EQ(test, 0, build(wr));
	KUNIT_EXPECT_EQ(test, LENGTH, hw_wqe_data_seg_get_byte_count(&segment[0]));
	KUNIT_EXPECT_EQ(test, LKEY, hw_wqe_data_seg_get_lkey(&segment[0]));
	KUNIT_EXPECT_EQ(test, ADDRESS, hw_wqe_data_seg_get_addr(&segment[0]));
	KUNIT_EXPECT_EQ(test, LENGTH + 1, hw_wqe_data_seg_get_byte_count(&segment[1]));
}

static void send_with_imm_fills_ctrl_seg(struct kunit *test)
{
	struct wr *wr = make_wr(test, 1);
	struct hw_wqe_ctrl_seg *control = fake_block(wr->fake, 0);

	wr->ud.wr.opcode = IB_WR_SEND_WITH_IMM;
	wr->ud.wr.ex.imm_data = cpu_to_be32(IMMEDIATE);
	wr->ud.wr.send_flags = IB_SEND_SOLICITED | IB_SEND_FENCE;
	KUNIT_ASSERT_EQ(test, 0, build(wr));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_SEND_IMM, hw_wqe_ctrl_seg_get_opcode(control));
	KUNIT_EXPECT_EQ(test, IMMEDIATE, hw_wqe_ctrl_seg_get_imm(control));
	KUNIT_EXPECT_EQ(test, 1, hw_wqe_ctrl_seg_get_se(control));
	KUNIT_EXPECT_EQ(test, HW_FENCE_MODE_FENCE, hw_wqe_ctrl_seg_get_fm(control));
	KUNIT_EXPECT_EQ(test, HW_COMPLETION_MODE_ONLY_ERROR, hw_wqe_ctrl_seg_get_ce(control));
}

static void sq_sig_all_wr_sets_cq_update(struct kunit *test)
{
	struct wr *wr = make_wr(test, 1);

	wr->ud.wr.send_flags = 0;
	wr->fake->qp.sq.flags = IB_SEND_SIGNALED;
	KUNIT_ASSERT_EQ(test, 0, build(wr));
	KUNIT_EXPECT_EQ(test, HW_COMPLETION_MODE_CQ_UPDATE,
			hw_wqe_ctrl_seg_get_ce(fake_block(wr->fake, 0)));
}

static void post_send_empty_sge_is_skipped(struct kunit *test)
{
	struct wr *wr = make_wr(test, 3);
	struct hw_wqe_data_seg *segment = fake_block(wr->fake, 1);

	wr->sge[0].length = 0;
	wr->sge[2].length = 0;
	KUNIT_ASSERT_EQ(test, 0, build(wr));
	KUNIT_EXPECT_EQ(test, FAKE_SEND_DS, hw_wqe_ctrl_seg_get_ds(fake_block(wr->fake, 0)));
	KUNIT_EXPECT_EQ(test, LENGTH + 1, hw_wqe_data_seg_get_byte_count(&segment[0]));
}

static void send_wqe_begins_at_wqebb(struct kunit *test)
{
	struct wr *wr = make_wr(test, SGES);
	struct cxib_sq *sq = &wr->fake->qp.sq;

	KUNIT_ASSERT_EQ(test, 0, build(wr));
	KUNIT_EXPECT_EQ(test, WQEBBS, sq->prod_index);
	KUNIT_ASSERT_EQ(test, 0, build(wr));
	KUNIT_EXPECT_EQ(test, WQEBBS, hw_wqe_ctrl_seg_get_wqe_index(fake_block(wr->fake, WQEBBS)));
	KUNIT_EXPECT_EQ(test, WQEBBS, sq->entries[0].blocks);
	KUNIT_EXPECT_EQ(test, 0, sq->entries[1].blocks);
	KUNIT_EXPECT_EQ(test, WQEBBS, sq->entries[WQEBBS].blocks);
	KUNIT_EXPECT_EQ(test, WR_ID, sq->entries[WQEBBS].wr_id);
}

static void send_wqe_wraps_at_ring_end(struct kunit *test)
{
	struct wr *wr = make_wr(test, SGES);
	struct cxib_sq *sq = &wr->fake->qp.sq;
	struct hw_wqe_data_seg *segment;

	/*
	 * wqe_index has the low 16 bits of the index (mlx5_ifc.h), the ring FAKE_LOG_BLOCKS of
	 * them.
	 */
	sq->prod_index = BIT(16) | U16_MAX;
	sq->cons_index = sq->prod_index;
	KUNIT_ASSERT_EQ(test, 0, build(wr));
	KUNIT_EXPECT_EQ(test, U16_MAX,
			hw_wqe_ctrl_seg_get_wqe_index(fake_block(wr->fake, LAST_BLOCK)));
	segment = fake_block(wr->fake, 0);
	KUNIT_EXPECT_EQ(test, LENGTH, hw_wqe_data_seg_get_byte_count(&segment[0]));
	segment = fake_block(wr->fake, 1);
	KUNIT_EXPECT_EQ(test, LENGTH + CXIB_DS_PER_WQEBB,
			hw_wqe_data_seg_get_byte_count(&segment[0]));
}

static void post_send_sq_full_returns_enomem(struct kunit *test)
{
	struct wr *wr = make_wr(test, 1);
	unsigned int i;

	for (i = 0; i < BIT(FAKE_LOG_BLOCKS) / FAKE_SEND_WQEBBS; i++)
		KUNIT_ASSERT_EQ(test, 0, build(wr));
	KUNIT_EXPECT_EQ(test, -ENOMEM, build(wr));
	wr->fake->qp.sq.cons_index = FAKE_SEND_WQEBBS;
	KUNIT_EXPECT_EQ(test, 0, build(wr));
	KUNIT_EXPECT_EQ(test, -ENOMEM, build(wr));
}

/* The driver compares the free WQEBBs with the size of this WQE, not of the longest one. */
static void post_send_last_wqebbs_fit_short_wqe(struct kunit *test)
{
	struct wr *wr = make_wr(test, SGES);
	struct cxib_sq *sq = &wr->fake->qp.sq;

	sq->prod_index = BIT(FAKE_LOG_BLOCKS) - (WQEBBS - 1);
	KUNIT_EXPECT_EQ(test, -ENOMEM, build(wr));
	wr->ud.wr.num_sge = SGES - 1;
	KUNIT_EXPECT_EQ(test, 0, build(wr));
	KUNIT_EXPECT_EQ(test, BIT(FAKE_LOG_BLOCKS), sq->prod_index);
}

static void post_send_too_many_sges_returns_einval(struct kunit *test)
{
	struct wr *wr = make_wr(test, SEGMENTS_MAX + 1);

	KUNIT_EXPECT_EQ(test, -EINVAL, build(wr));
	KUNIT_EXPECT_EQ(test, 0, wr->fake->qp.sq.prod_index);
}

static void send_inline_wraps_at_ring_end(struct kunit *test)
{
	struct wr *wr = make_wr(test, 2);
	struct cxib_sq *sq = &wr->fake->qp.sq;
	static const char text[] = "0123456789abcdefghij", more[] = "abcdefghij!";
	const size_t half = (sizeof(text) - 1) / 2;
	const struct hw_wqe_inline_seg *header;

	sq->max_inline = 2 * half;
	sq->prod_index = LAST_BLOCK;
	sq->cons_index = LAST_BLOCK;
	wr->sge[0] = (struct ib_sge){ .addr = (uintptr_t)text, .length = half };
	wr->sge[1] = (struct ib_sge){ .addr = (uintptr_t)more, .length = half };
	wr->ud.wr.send_flags = IB_SEND_INLINE;
	KUNIT_ASSERT_EQ(test, 0, build(wr));
	KUNIT_EXPECT_EQ(test, HEADER_DS + DIV_ROUND_UP(sizeof(*header) + 2 * half, CXIB_DS_SIZE),
			hw_wqe_ctrl_seg_get_ds(fake_block(wr->fake, LAST_BLOCK)));
	header = fake_block(wr->fake, 0);
	KUNIT_EXPECT_EQ(test, 1, hw_wqe_inline_seg_get_inline_seg(header));
	KUNIT_EXPECT_EQ(test, 2 * half, hw_wqe_inline_seg_get_byte_count(header));
	KUNIT_EXPECT_MEMEQ(test, header + 1, text, 2 * half);
	wr->sge[1].length++;
	KUNIT_EXPECT_EQ(test, -EINVAL, build(wr));
}

static void ud_post_send_rdma_returns_eopnotsupp(struct kunit *test)
{
	struct wr *wr = make_wr(test, 1);

	wr->ud.wr.opcode = IB_WR_RDMA_WRITE;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, build(wr));
	wr->ud.wr.opcode = U8_MAX;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, build(wr));
}

static void post_send_without_sq_returns_einval(struct kunit *test)
{
	struct wr *wr = make_wr(test, 1);
	struct cxib_qp *qp = &wr->fake->qp;
	const struct ib_send_wr *bad = NULL;

	qp->has_sq = false;
	qp->sq.opcode_mask = 0;
	cxib_qp_set_state(qp, IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_post_send(&qp->ib, &wr->ud.wr, &bad));
	KUNIT_EXPECT_PTR_EQ(test, &wr->ud.wr, bad);
}

/* A QP in SQE or ERR accepts WRs, which the device flushes. */
static void post_send_before_rts_returns_einval(struct kunit *test)
{
	struct wr *wr = make_wr(test, 1);
	struct cxib_qp *qp = &wr->fake->qp;
	const struct ib_send_wr *bad;
	u8 state;

	for (state = IB_QPS_RESET; state <= IB_QPS_ERR; state++) {
		cxib_qp_set_state(qp, state);
		bad = NULL;
		KUNIT_EXPECT_EQ(test, state < IB_QPS_RTS ? -EINVAL : 0,
				cxib_post_send(&qp->ib, &wr->ud.wr, &bad));
		KUNIT_EXPECT_PTR_EQ(test, state < IB_QPS_RTS ? &wr->ud.wr : NULL, bad);
	}
}

/* cxib_gsi_post_send() selects the QP of the P_Key, which may be this one. */
static void gsi_post_send_selects_pkey_qp(struct kunit *test)
{
	struct wr *wr = make_wr(test, 1);
	struct cxib_qp *qp = &wr->fake->qp;
	const struct ib_send_wr *bad;
	u32 some;

	qp->gsi = (struct cxib_gsi *)&some;
	cxib_qp_set_state(qp, IB_QPS_RTS);
	KUNIT_EXPECT_FALSE(test, qp->sq.can_post);
	KUNIT_EXPECT_EQ(test, 0, cxib_qp_post_send(qp, &wr->ud.wr, &bad));
	cxib_qp_set_state(qp, IB_QPS_RTR);
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_qp_post_send(qp, &wr->ud.wr, &bad));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(send_wqe_begins_with_ctrl_and_av),
	KUNIT_CASE(send_wqe_data_segs_follow_av),
	KUNIT_CASE(send_with_imm_fills_ctrl_seg),
	KUNIT_CASE(sq_sig_all_wr_sets_cq_update),
	KUNIT_CASE(post_send_empty_sge_is_skipped),
	KUNIT_CASE(send_wqe_begins_at_wqebb),
	KUNIT_CASE(send_wqe_wraps_at_ring_end),
	KUNIT_CASE(post_send_sq_full_returns_enomem),
	KUNIT_CASE(post_send_last_wqebbs_fit_short_wqe),
	KUNIT_CASE(post_send_too_many_sges_returns_einval),
	KUNIT_CASE(send_inline_wraps_at_ring_end),
	KUNIT_CASE(ud_post_send_rdma_returns_eopnotsupp),
	KUNIT_CASE(post_send_without_sq_returns_einval),
	KUNIT_CASE(post_send_before_rts_returns_einval),
	KUNIT_CASE(gsi_post_send_selects_pkey_qp),
	{}
};

static struct kunit_suite suite = {
	.name = "post_send",
	.test_cases = cases,
};

kunit_test_suite(suite);
