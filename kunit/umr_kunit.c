// SPDX-License-Identifier: GPL-2.0-only
/* UMR WQEs that modify mkeys. */
#include "fake_queue_pair.h"
#include "hw/mkey.h"
#include "verbs/mr/umr.h"
#include "verbs/qp/post.h"

#define MKEY		0x1207
#define LIST		0x8000
#define LOCAL_LKEY	0x42

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
	const struct cxib_mkey_params params = { .pd = 0x33, .remote_read = true };
	const u64 mask = HW_MKEY_MASK_PD | HW_MKEY_MASK_RR | HW_MKEY_MASK_RW;
	const struct cxib_umr_change change = { .key = MKEY, .mask = mask, .params = &params };
	const struct hw_wqe_ctrl_seg *control = cxib_umr_write(&fake->qp, 100, &change, 0);
	const struct hw_wqe_umr_ctrl_seg *umr = (const void *)(control + 1);
	const struct hw_mkey_seg *segment = fake_block(fake, 1);

	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_UMR, hw_wqe_ctrl_seg_get_opcode(control));
	KUNIT_EXPECT_EQ(test, MKEY, hw_wqe_ctrl_seg_get_imm(control));
	KUNIT_EXPECT_EQ(test, 8, hw_wqe_ctrl_seg_get_ds(control));
	KUNIT_EXPECT_EQ(test, HW_UMR_FLAGS_INLINE, hw_wqe_umr_ctrl_seg_get_flags(umr));
	KUNIT_EXPECT_EQ(test, 0, hw_wqe_umr_ctrl_seg_get_xlt_octowords(umr));
	KUNIT_EXPECT_EQ(test, mask, hw_wqe_umr_ctrl_seg_get_mkey_mask(umr));
	KUNIT_EXPECT_EQ(test, 0x33, hw_mkey_seg_get_pd(segment));
	KUNIT_EXPECT_EQ(test, 1, hw_mkey_seg_get_rr(segment));
	KUNIT_EXPECT_EQ(test, 0, hw_mkey_seg_get_rw(segment));
	KUNIT_EXPECT_EQ(test, 0, hw_mkey_seg_get_free(segment));
	KUNIT_EXPECT_EQ(test, 2, fake->qp.sq.prod_index);
}

/* List length and offset are octowords, in units of CXIB_UMR_MTT_ALIGN MTTs. */
static void umr_mtts_use_xlt_offset_and_list(struct kunit *test)
{
	struct fake_queue_pair *fake = make_umr_qp(test);
	const struct cxib_mkey_params params = {};
	const struct cxib_umr_change change = {
		.key = MKEY, .params = &params, .xlt_offset = 0x40000 + 8, .xlt_count = 9,
	};
	const struct hw_wqe_ctrl_seg *control = cxib_umr_write(&fake->qp, 100, &change, LIST);
	const struct hw_wqe_umr_ctrl_seg *umr = (const void *)(control + 1);
	const struct hw_wqe_data_seg *list = fake_block(fake, 2);

	KUNIT_EXPECT_EQ(test, 9, hw_wqe_ctrl_seg_get_ds(control));
	KUNIT_EXPECT_EQ(test, HW_UMR_FLAGS_CHECK_FREE | HW_UMR_FLAGS_TRANSLATION_OFFSET_EN,
			hw_wqe_umr_ctrl_seg_get_flags(umr));
	KUNIT_EXPECT_EQ(test, 8, hw_wqe_umr_ctrl_seg_get_xlt_octowords(umr));
	KUNIT_EXPECT_EQ(test, 4, hw_wqe_umr_ctrl_seg_get_xlt_offset(umr));
	KUNIT_EXPECT_EQ(test, 2, hw_wqe_umr_ctrl_seg_get_xlt_offset_47_16(umr));
	KUNIT_EXPECT_EQ(test, 16 * sizeof(__be64), hw_wqe_data_seg_get_byte_count(list));
	KUNIT_EXPECT_EQ(test, LOCAL_LKEY, hw_wqe_data_seg_get_lkey(list));
	KUNIT_EXPECT_EQ(test, LIST, hw_wqe_data_seg_get_addr(list));
	KUNIT_EXPECT_EQ(test, 3, fake->qp.sq.prod_index);
}

/* Writes the MTTs of a free mkey, then enables it. */
static void umr_free_mkey_sets_check_not_free(struct kunit *test)
{
	struct fake_queue_pair *fake = make_umr_qp(test);
	const struct cxib_mkey_params params = {};
	const struct cxib_umr_change change = {
		.key = MKEY, .params = &params, .is_free = true, .xlt_count = 8,
	};
	const struct cxib_umr_change enable = {
		.key = MKEY, .params = &params, .mask = HW_MKEY_MASK_KEY | HW_MKEY_MASK_FREE,
	};
	const struct hw_wqe_ctrl_seg *control = cxib_umr_write(&fake->qp, 100, &change, LIST);
	const struct hw_mkey_seg *segment = fake_block(fake, 4);

	KUNIT_EXPECT_EQ(test, HW_UMR_FLAGS_CHECK_NOT_FREE | HW_UMR_FLAGS_TRANSLATION_OFFSET_EN,
			hw_wqe_umr_ctrl_seg_get_flags((const void *)(control + 1)));
	control = cxib_umr_write(&fake->qp, 101, &enable, 0);
	KUNIT_EXPECT_EQ(test, HW_UMR_FLAGS_INLINE,
			hw_wqe_umr_ctrl_seg_get_flags((const void *)(control + 1)));
	KUNIT_EXPECT_EQ(test, 0, hw_mkey_seg_get_free(segment));
	KUNIT_EXPECT_EQ(test, MKEY & 0xff, hw_mkey_seg_get_mkey_7_0(segment));
}

static void umr_set_free_writes_free_bit(struct kunit *test)
{
	struct fake_queue_pair *fake = make_umr_qp(test);
	const struct cxib_mkey_params params = {};
	const struct cxib_umr_change change = {
		.key = MKEY, .params = &params, .mask = HW_MKEY_MASK_FREE, .set_free = true,
	};

	cxib_umr_write(&fake->qp, 100, &change, 0);
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

	cxib_umr_write(&fake->qp, 100, &change, LIST);
	cxib_umr_write(&fake->qp, 101, &change, LIST);
	entry = fake_completion(fake, HW_CQE_OPCODE_REQ);
	hw_cqe64_set_wqe_counter(entry, 3);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_EQ(test, 101, wc.wr_id);
	KUNIT_EXPECT_EQ(test, 6, fake->qp.sq.cons_index);
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
