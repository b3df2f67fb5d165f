// SPDX-License-Identifier: GPL-2.0-only
/* UMR WQEs that modify mkeys. */
#include "fake_queue_pair.h"
#include "hw/mkey.h"
#include "verbs/mr/umr.h"
#include "verbs/qp/post.h"

#define MKEY		0x1207
#define LIST		0x8000
#define LOCAL_LKEY	0x42
#define PDN		0x33
#define WR_ID		100

/* MTTs of 8 bytes; xlt_octowords and xlt_offset count 16 bytes: mlx5_ifc.h, mlx5_ib/umr.c. */
#define MTTS_OF_OCTOWORD	2

/* An MTT whose offset in octowords exceeds the 16 bits of xlt_offset. */
#define FAR_MTT		(BIT(18) + CXIB_UMR_MTT_ALIGN)
#define FAR_OCTOWORD	(FAR_MTT / MTTS_OF_OCTOWORD)

/* Control, UMR control and mkey segments fill two WQEBBs. The list is in a third one. */
#define UMR_DS		((sizeof(struct hw_wqe_ctrl_seg) +		\
			  sizeof(struct hw_wqe_umr_ctrl_seg) +		\
			  sizeof(struct hw_mkey_seg)) / CXIB_DS_SIZE)
#define UMR_WQEBBS	2
#define LIST_DS		(UMR_DS + sizeof(struct hw_wqe_data_seg) / CXIB_DS_SIZE)
#define LIST_WQEBBS	3

static struct fake_queue_pair *make_umr_qp(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_pd *pd = kunit_kzalloc(test, sizeof(*pd), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pd);
	pd->local_dma_lkey = LOCAL_LKEY;
	fake->qp.ib.qp_type = CXIB_QPT_UMR;
	fake->qp.ib.pd = pd;
	fake->qp.sq.av_ds = 0;
	return fake;
}

static void umr_access_change_uses_inline_mkey_seg(struct kunit *test)
{
	struct fake_queue_pair *fake = make_umr_qp(test);
	const struct cxib_mkey_params params = { .pd = PDN, .remote_read = true };
	const u64 mask = HW_MKEY_MASK_PD | HW_MKEY_MASK_RR | HW_MKEY_MASK_RW;
	const struct cxib_umr_change change = { .key = MKEY, .mask = mask, .params = &params };
	const struct hw_wqe_ctrl_seg *control = cxib_umr_write(&fake->qp, WR_ID, &change, 0);
	const struct hw_wqe_umr_ctrl_seg *umr = (const void *)(control + 1);
	const struct hw_mkey_seg *segment = fake_block(fake, 1);

	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_UMR, hw_wqe_ctrl_seg_get_opcode(control));
	KUNIT_EXPECT_EQ(test, MKEY, hw_wqe_ctrl_seg_get_imm(control));
	KUNIT_EXPECT_EQ(test, UMR_DS, hw_wqe_ctrl_seg_get_ds(control));
	KUNIT_EXPECT_EQ(test, HW_UMR_FLAGS_INLINE, hw_wqe_umr_ctrl_seg_get_flags(umr));
	KUNIT_EXPECT_EQ(test, 0, hw_wqe_umr_ctrl_seg_get_xlt_octowords(umr));
	KUNIT_EXPECT_EQ(test, mask, hw_wqe_umr_ctrl_seg_get_mkey_mask(umr));
	KUNIT_EXPECT_EQ(test, PDN, hw_mkey_seg_get_pd(segment));
	KUNIT_EXPECT_EQ(test, 1, hw_mkey_seg_get_rr(segment));
	KUNIT_EXPECT_EQ(test, 0, hw_mkey_seg_get_rw(segment));
	KUNIT_EXPECT_EQ(test, 0, hw_mkey_seg_get_free(segment));
	/* mlx5_ib does this in its UMRs. */
	KUNIT_EXPECT_EQ(test, 0, hw_mkey_seg_get_umr_en(segment));
	KUNIT_EXPECT_EQ(test, 0, hw_mkey_seg_get_access_mode_1_0(segment));
	KUNIT_EXPECT_EQ(test, HW_FENCE_MODE_INITIATOR_SMALL, hw_wqe_ctrl_seg_get_fm(control));
	KUNIT_EXPECT_EQ(test, UMR_WQEBBS, fake->qp.sq.prod_index);
}

/* The list consists of units of CXIB_UMR_MTT_ALIGN MTTs: two units for 9 MTTs. */
static void umr_mtts_use_xlt_offset_and_list(struct kunit *test)
{
	struct fake_queue_pair *fake = make_umr_qp(test);
	const struct cxib_mkey_params params = {};
	const struct cxib_umr_change change = {
		.key = MKEY, .params = &params, .xlt_offset = FAR_MTT,
		.xlt_count = CXIB_UMR_MTT_ALIGN + 1,
	};
	const u32 mtts = 2 * CXIB_UMR_MTT_ALIGN;
	const struct hw_wqe_ctrl_seg *control = cxib_umr_write(&fake->qp, WR_ID, &change, LIST);
	const struct hw_wqe_umr_ctrl_seg *umr = (const void *)(control + 1);
	const struct hw_wqe_data_seg *list = fake_block(fake, 2);

	KUNIT_EXPECT_EQ(test, LIST_DS, hw_wqe_ctrl_seg_get_ds(control));
	/*
	 * check_free is not set: a process can free the mkeys of its MRs, and the WQE would then
	 * fail.
	 */
	KUNIT_EXPECT_EQ(test, HW_UMR_FLAGS_TRANSLATION_OFFSET_EN,
			hw_wqe_umr_ctrl_seg_get_flags(umr));
	KUNIT_EXPECT_EQ(test, mtts / MTTS_OF_OCTOWORD, hw_wqe_umr_ctrl_seg_get_xlt_octowords(umr));
	KUNIT_EXPECT_EQ(test, FAR_OCTOWORD & U16_MAX, hw_wqe_umr_ctrl_seg_get_xlt_offset(umr));
	KUNIT_EXPECT_EQ(test, FAR_OCTOWORD >> 16, hw_wqe_umr_ctrl_seg_get_xlt_offset_47_16(umr));
	KUNIT_EXPECT_EQ(test, mtts * sizeof(__be64), hw_wqe_data_seg_get_byte_count(list));
	KUNIT_EXPECT_EQ(test, LOCAL_LKEY, hw_wqe_data_seg_get_lkey(list));
	KUNIT_EXPECT_EQ(test, LIST, hw_wqe_data_seg_get_addr(list));
	KUNIT_EXPECT_EQ(test, LIST_WQEBBS, fake->qp.sq.prod_index);
}

/* Writes the MTTs of a free mkey, then enables it. */
static void umr_free_mkey_sets_check_not_free(struct kunit *test)
{
	struct fake_queue_pair *fake = make_umr_qp(test);
	const struct cxib_mkey_params params = {};
	const struct cxib_umr_change change = {
		.key = MKEY, .params = &params, .is_free = true, .xlt_count = CXIB_UMR_MTT_ALIGN,
	};
	const struct cxib_umr_change enable = {
		.key = MKEY, .params = &params, .mask = HW_MKEY_MASK_KEY | HW_MKEY_MASK_FREE,
	};
	const struct hw_wqe_ctrl_seg *control = cxib_umr_write(&fake->qp, WR_ID, &change, LIST);
	const struct hw_mkey_seg *segment = fake_block(fake, LIST_WQEBBS + 1);

	KUNIT_EXPECT_EQ(test, HW_UMR_FLAGS_CHECK_NOT_FREE | HW_UMR_FLAGS_TRANSLATION_OFFSET_EN,
			hw_wqe_umr_ctrl_seg_get_flags((const void *)(control + 1)));
	control = cxib_umr_write(&fake->qp, WR_ID + 1, &enable, 0);
	KUNIT_EXPECT_EQ(test, HW_UMR_FLAGS_INLINE,
			hw_wqe_umr_ctrl_seg_get_flags((const void *)(control + 1)));
	KUNIT_EXPECT_EQ(test, 0, hw_mkey_seg_get_free(segment));
	/* The variant of an mkey has 8 bits. */
	KUNIT_EXPECT_EQ(test, MKEY & U8_MAX, hw_mkey_seg_get_mkey_7_0(segment));
}

static void umr_set_free_writes_free_bit(struct kunit *test)
{
	struct fake_queue_pair *fake = make_umr_qp(test);
	const struct cxib_mkey_params params = {};
	const struct cxib_umr_change change = {
		.key = MKEY, .params = &params, .mask = HW_MKEY_MASK_FREE, .set_free = true,
	};

	cxib_umr_write(&fake->qp, WR_ID, &change, 0);
	KUNIT_EXPECT_EQ(test, 1, hw_mkey_seg_get_free(fake_block(fake, 1)));
}

static void poll_cq_umr_wqe_returns_wr_id(struct kunit *test)
{
	struct fake_queue_pair *fake = make_umr_qp(test);
	const struct cxib_mkey_params params = {};
	const struct cxib_umr_change change = {
		.key = MKEY, .params = &params, .xlt_count = 1,
	};
	struct hw_cqe64 *entry;
	struct ib_wc wc;

	cxib_umr_write(&fake->qp, WR_ID, &change, LIST);
	cxib_umr_write(&fake->qp, WR_ID + 1, &change, LIST);
	entry = fake_completion(fake, HW_CQE_OPCODE_REQ);
	hw_cqe64_set_wqe_counter(entry, LIST_WQEBBS);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_EQ(test, WR_ID + 1, wc.wr_id);
	KUNIT_EXPECT_EQ(test, 2 * LIST_WQEBBS, fake->qp.sq.cons_index);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(umr_access_change_uses_inline_mkey_seg),
	KUNIT_CASE(umr_mtts_use_xlt_offset_and_list),
	KUNIT_CASE(umr_free_mkey_sets_check_not_free),
	KUNIT_CASE(umr_set_free_writes_free_bit),
	KUNIT_CASE(poll_cq_umr_wqe_returns_wr_id),
	{}
};

static struct kunit_suite suite = {
	.name = "umr",
	.test_cases = cases,
};

kunit_test_suite(suite);
