// SPDX-License-Identifier: GPL-2.0-only
/* Integrity MRs: BSF, registration WQEs, and signature errors. */
#include <linux/scatterlist.h>

#include "fake_queue_pair.h"
#include "hw/commands_memory.h"
#include "hw/mkey.h"
#include "scripted_hca.h"
#include "verbs/cq/cq.h"
#include "verbs/qp/post.h"
#include "verbs/signature/integrity.h"

#define SIG_MR_KEY	0x123400
#define KLM_MKEY	0x567800
#define DMA_MKEY	0x42
#define RESD_LKEY	0x300
#define WIRE_PSV	0x11
#define MEMORY_PSV	0x22
#define WR_ID		77
#define WRS		100
#define VARIANT		5
#define DATA		0x10000
#define METADATA	0x80000

/* 16 blocks of 512 bytes; T10-DIF adds a tuple of 8 bytes to each: SBC-3, 4.22. */
#define BLOCKS		16
#define BLOCK		512
#define TUPLE		8
#define DATA_BYTES	(BLOCKS * BLOCK)

/* T10-DIF: a guard of 16 bits, an application tag of 16, a reference tag of 32. */
#define APP_TAG		0x1234
#define REF_TAG		0x56789abc
#define APP_TAG_MASK	0xff00
#define ALL_DIF_BYTES	(HW_BSF_DIF_BYTES_GUARD | HW_BSF_DIF_BYTES_APP | HW_BSF_DIF_BYTES_REF)

/*
 * WQEs of a registration, by their first WQEBB. KLMs: control, UMR control and mkey segments and
 * the list, 9 DS. Signature MR: the same without the list, block descriptors of 64 bytes, and a BSF
 * of 64, 16 DS. Then a SET_PSV WQE of one WQEBB for each PSV, that of memory first. Of one data SGE
 * there are no KLMs.
 */
#define KLM_WQEBBS	3
#define SIG_WQEBBS	4
#define SIG_DS		(SIG_WQEBBS * CXIB_DS_PER_WQEBB)
#define AT_SIG		KLM_WQEBBS
#define AT_FIRST_PSV	(AT_SIG + SIG_WQEBBS)
#define AT_SECOND_PSV	(AT_FIRST_PSV + 1)
#define ALL_WQEBBS	(AT_SECOND_PSV + 1)
static_assert(ALL_WQEBBS == CXIB_SIG_REG_WQEBBS);

/* Of a signature error. */
#define EXPECTED_GUARD	0x1111
#define EXPECTED_APP	0x2222
#define ACTUAL_GUARD	0x3333
#define ACTUAL_APP	0x4444
#define EXPECTED_REF	0x55555555
#define ACTUAL_REF	0x66666666
#define ERROR_AT	0x123456789aULL

#define PDN		0x42
#define FIRST_PSV	0x123456
#define SECOND_PSV	0x234567

/**
 * struct sig_mr - an integrity MR of %BLOCKS blocks
 * @fake: an RC QP
 * @pd: its PD
 * @mr: the MR
 * @attrs: sig_attrs of the MR
 * @data: data entries
 * @metadata: metadata entry
 */
struct sig_mr {
	struct fake_queue_pair *fake;
	struct cxib_pd pd;
	struct cxib_sig_mr mr;
	struct ib_sig_attrs attrs;
	struct scatterlist data[2];
	struct scatterlist metadata;
};

static struct ib_sig_domain dif_of(u16 interval)
{
	return (struct ib_sig_domain){
		.sig_type = IB_SIG_TYPE_T10_DIF,
		.sig.dif = {
			.pi_interval = interval, .app_tag = APP_TAG, .ref_tag = REF_TAG,
			.ref_remap = true, .apptag_check_mask = APP_TAG_MASK,
		},
	};
}

static void free_sig_mr(void *data)
{
	struct sig_mr *sig_mr = data;

	xa_destroy(&sig_mr->fake->ibdev.sig_mrs);
	cxib_mr_free_descs(&sig_mr->fake->ibdev.ib, &sig_mr->mr.mr);
}

static struct sig_mr *make_sig_mr(struct kunit *test)
{
	struct sig_mr *sig_mr = kunit_kzalloc(test, sizeof(*sig_mr), GFP_KERNEL);
	struct cxib_sig_mr *mr = &sig_mr->mr;

	KUNIT_ASSERT_NOT_NULL(test, sig_mr);
	sig_mr->fake = fake_queue_pair_create(test);
	sig_mr->fake->qp.ib.qp_type = IB_QPT_RC;
	sig_mr->fake->qp.ib.integrity_en = true;
	sig_mr->fake->qp.ib.pd = &sig_mr->pd.ib;
	sig_mr->fake->qp.sq.av_ds = 0;
	sig_mr->fake->qp.sq.umr_fence = HW_FENCE_MODE_STRONG_ORDERING;
	sig_mr->pd.ib.local_dma_lkey = RESD_LKEY;
	sig_mr->pd.key = DMA_MKEY;
	sig_mr->attrs = (struct ib_sig_attrs){
		.check_mask = ALL_DIF_BYTES, .wire = dif_of(BLOCK), .mem = dif_of(BLOCK),
	};
	mr->mr.ib = (struct ib_mr){
		.device = &sig_mr->fake->ibdev.ib, .pd = &sig_mr->pd.ib, .lkey = SIG_MR_KEY,
		.rkey = SIG_MR_KEY, .type = IB_MR_TYPE_INTEGRITY, .page_size = SZ_4K,
		.sig_attrs = &sig_mr->attrs,
	};
	mr->mr.is_indirect = true;
	mr->mr.desc_size = sizeof(struct hw_klm);
	mr->mr.max_descs = 3;
	mr->klm_mkey = KLM_MKEY;
	mr->wire_psv = WIRE_PSV;
	mr->memory_psv = MEMORY_PSV;
	mr->sigerr_count = 1;
	INIT_LIST_HEAD(&mr->failed_node);
	spin_lock_init(&mr->lock);
	KUNIT_ASSERT_EQ(test, 0, cxib_mr_alloc_descs(&sig_mr->fake->ibdev.ib, &mr->mr));
	xa_init_flags(&sig_mr->fake->ibdev.sig_mrs, XA_FLAGS_LOCK_IRQ);
	/* By the index of the mkey, without its variant of 8 bits. */
	KUNIT_ASSERT_EQ(test, 0, xa_insert_irq(&sig_mr->fake->ibdev.sig_mrs,
					       SIG_MR_KEY >> 8, mr, GFP_KERNEL));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_sig_mr, sig_mr));
	return sig_mr;
}

static int map(struct sig_mr *sig_mr, int klms, int metadata)
{
	int i;

	sg_init_table(sig_mr->data, ARRAY_SIZE(sig_mr->data));
	sg_init_table(&sig_mr->metadata, 1);
	for (i = 0; i < klms; i++) {
		sg_dma_address(&sig_mr->data[i]) = DATA * (i + 1);
		sg_dma_len(&sig_mr->data[i]) = DATA_BYTES / klms;
	}
	sg_dma_address(&sig_mr->metadata) = METADATA;
	sg_dma_len(&sig_mr->metadata) = BLOCKS * TUPLE;
	return cxib_map_mr_sg_pi(&sig_mr->mr.mr.ib, sig_mr->data, klms, NULL, &sig_mr->metadata,
				 metadata, NULL);
}

static int post(struct sig_mr *sig_mr, u64 wr_id)
{
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR_INTEGRITY, .wr_id = wr_id,
			.send_flags = IB_SEND_SIGNALED },
		.mr = &sig_mr->mr.mr.ib, .key = SIG_MR_KEY + VARIANT,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ,
	};
	struct cxib_qp *qp = &sig_mr->fake->qp;
	unsigned long flags;
	int err;

	spin_lock_irqsave(&qp->sq.lock, flags);
	err = cxib_build_send_wqe(qp, &wr.wr);
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	return err;
}

static void check(struct kunit *test, struct sig_mr *sig_mr, struct ib_mr_status *status)
{
	KUNIT_ASSERT_EQ(test, 0, cxib_check_mr_status(&sig_mr->mr.mr.ib, IB_MR_CHECK_SIG_STATUS,
						      status));
}

static u32 opcode_at(struct sig_mr *sig_mr, u32 block)
{
	return hw_wqe_ctrl_seg_get_opcode(fake_block(sig_mr->fake, block));
}

static u32 fence_at(struct sig_mr *sig_mr, u32 block)
{
	return hw_wqe_ctrl_seg_get_fm(fake_block(sig_mr->fake, block));
}

static void bsf_equal_tags_set_copy_mask(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);
	const struct hw_bsf_inl *wire, *memory;
	const struct hw_bsf_basic *basic;
	struct hw_bsf format;

	sig_mr->attrs.mem.sig.dif.bg_type = IB_T10DIF_CSUM;
	sig_mr->attrs.mem.sig.dif.app_escape = true;
	KUNIT_ASSERT_EQ(test, 0, map(sig_mr, 1, 1));
	KUNIT_ASSERT_EQ(test, 0, cxib_fill_bsf(&format, &sig_mr->mr));
	basic = hw_bsf_get_basic(&format);
	wire = hw_bsf_get_w_inl(&format);
	memory = hw_bsf_get_m_inl(&format);
	KUNIT_EXPECT_EQ(test, HW_BSF_SIZE_WITH_INLINE, hw_bsf_basic_get_bsf_size(basic));
	KUNIT_EXPECT_EQ(test, 1, hw_bsf_basic_get_sbs(basic));
	KUNIT_EXPECT_EQ(test, HW_BSF_DIF_BYTES_APP | HW_BSF_DIF_BYTES_REF,
			hw_bsf_basic_get_wire_copy_byte_mask(basic));
	KUNIT_EXPECT_EQ(test, ALL_DIF_BYTES, hw_bsf_basic_get_check_byte_mask(basic));
	KUNIT_EXPECT_EQ(test, HW_BSF_BLOCK_SIZE_BLOCK_512, hw_bsf_basic_get_mem_bs_selector(basic));
	KUNIT_EXPECT_EQ(test, DATA_BYTES, hw_bsf_basic_get_raw_data_size(basic));
	KUNIT_EXPECT_EQ(test, WIRE_PSV, hw_bsf_basic_get_w_psv(basic));
	KUNIT_EXPECT_EQ(test, MEMORY_PSV, hw_bsf_basic_get_m_psv(basic));
	KUNIT_EXPECT_EQ(test, HW_BSF_SIG_TYPE_DIF_CRC, hw_bsf_inl_get_sig_type(wire));
	KUNIT_EXPECT_EQ(test, HW_BSF_SIG_TYPE_DIF_IPCS, hw_bsf_inl_get_sig_type(memory));
	KUNIT_EXPECT_EQ(test, HW_BSF_ESCAPE_NONE, hw_bsf_inl_get_escape(wire));
	KUNIT_EXPECT_EQ(test, HW_BSF_ESCAPE_APPTAG, hw_bsf_inl_get_escape(memory));
	KUNIT_EXPECT_EQ(test, APP_TAG, hw_bsf_inl_get_dif_apptag(wire));
	KUNIT_EXPECT_EQ(test, REF_TAG, hw_bsf_inl_get_dif_reftag(memory));
	KUNIT_EXPECT_EQ(test, 1, hw_bsf_inl_get_inc_reftag(wire));
	KUNIT_EXPECT_EQ(test, APP_TAG_MASK, hw_bsf_inl_get_dif_app_bitmask_check(wire));
	KUNIT_EXPECT_EQ(test, 1, hw_bsf_inl_get_repeat_block(wire));
}

/* Block by block in one range. */
static void bsf_interleaved_pi_is_part_of_raw_data_size(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);
	struct hw_bsf format;

	KUNIT_ASSERT_EQ(test, 0, map(sig_mr, 1, 0));
	sig_mr->mr.data.length = BLOCKS * (BLOCK + CXIB_DIF_SIZE);
	KUNIT_ASSERT_EQ(test, 0, cxib_fill_bsf(&format, &sig_mr->mr));
	KUNIT_EXPECT_EQ(test, BLOCKS * (BLOCK + CXIB_DIF_SIZE),
			hw_bsf_basic_get_raw_data_size(hw_bsf_get_basic(&format)));
}

static void bsf_memory_without_pi_has_no_inline(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);
	const struct hw_bsf_basic *basic;
	struct hw_bsf format;

	sig_mr->attrs.mem.sig_type = IB_SIG_TYPE_NONE;
	KUNIT_ASSERT_EQ(test, 0, map(sig_mr, 1, 0));
	KUNIT_ASSERT_EQ(test, 0, cxib_fill_bsf(&format, &sig_mr->mr));
	basic = hw_bsf_get_basic(&format);
	KUNIT_EXPECT_EQ(test, 0, hw_bsf_basic_get_sbs(basic));
	KUNIT_EXPECT_EQ(test, HW_BSF_BLOCK_SIZE_BLOCK_512,
			hw_bsf_basic_get_wire_bs_selector(basic));
	KUNIT_EXPECT_EQ(test, 0, hw_bsf_basic_get_mem_bs_selector(basic));
	KUNIT_EXPECT_EQ(test, 0, hw_bsf_inl_get_valid(hw_bsf_get_m_inl(&format)));
}

/* The sizes that bs_selector of mlx5_ib has codes for: bs_selector() in its wr.c. */
static void bsf_unsupported_block_size_returns_einval(struct kunit *test)
{
	static const struct {
		u16 interval;
		u32 code;
	} sizes[] = {
		{ 512, HW_BSF_BLOCK_SIZE_BLOCK_512 }, { 520, HW_BSF_BLOCK_SIZE_BLOCK_520 },
		{ 4048, HW_BSF_BLOCK_SIZE_BLOCK_4048 }, { 4096, HW_BSF_BLOCK_SIZE_BLOCK_4096 },
		{ 4160, HW_BSF_BLOCK_SIZE_BLOCK_4160 }, { 0, 0 }, { 511, 0 }, { 1024, 0 },
	};
	struct sig_mr *sig_mr = make_sig_mr(test);
	const struct hw_bsf_basic *basic;
	struct hw_bsf format;
	size_t i;

	sig_mr->fake->hw.caps.sig_block_4048 = 1;
	sig_mr->attrs.mem.sig_type = IB_SIG_TYPE_NONE;
	KUNIT_ASSERT_EQ(test, 0, map(sig_mr, 1, 0));
	basic = hw_bsf_get_basic(&format);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		sig_mr->attrs.wire = dif_of(sizes[i].interval);
		KUNIT_EXPECT_EQ(test, sizes[i].code ? 0 : -EINVAL,
				cxib_fill_bsf(&format, &sig_mr->mr));
		if (sizes[i].code)
			KUNIT_EXPECT_EQ(test, sizes[i].code,
					hw_bsf_basic_get_wire_bs_selector(basic));
	}
}

/* libmlx5 offers the size by the same capability. */
static void bsf_4048_bytes_without_capability_returns_einval(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);
	struct hw_bsf format;

	sig_mr->attrs.mem.sig_type = IB_SIG_TYPE_NONE;
	KUNIT_ASSERT_EQ(test, 0, map(sig_mr, 1, 0));
	sig_mr->attrs.wire = dif_of(4048);
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_fill_bsf(&format, &sig_mr->mr));
}

static void reg_mr_integrity_bad_sig_attrs_returns_einval(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);

	KUNIT_ASSERT_EQ(test, 0, map(sig_mr, 1, 1));
	sig_mr->attrs.wire.sig.dif.bg = 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, post(sig_mr, 1));
	sig_mr->attrs.wire.sig.dif.bg = 0;
	sig_mr->attrs.mem.sig.dif.pi_interval = 4096;
	KUNIT_EXPECT_EQ(test, -EINVAL, post(sig_mr, 1));
	sig_mr->attrs.mem = dif_of(BLOCK);
	sig_mr->attrs.wire.sig_type = IB_SIG_TYPE_T10_DIF + 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, post(sig_mr, 1));
	sig_mr->attrs.wire = dif_of(BLOCK);
	sig_mr->mr.mr.ib.type = IB_MR_TYPE_MEM_REG;
	KUNIT_EXPECT_EQ(test, -EINVAL, post(sig_mr, 1));
	sig_mr->mr.mr.ib.type = IB_MR_TYPE_INTEGRITY;
	sig_mr->fake->qp.ib.integrity_en = false;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, post(sig_mr, 1));
	KUNIT_EXPECT_EQ(test, 0, sig_mr->fake->qp.sq.prod_index);
	sig_mr->fake->qp.ib.integrity_en = true;
	KUNIT_EXPECT_EQ(test, 0, post(sig_mr, 1));
}

static void map_mr_sg_pi_too_many_sges_returns_enomem(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);

	KUNIT_EXPECT_EQ(test, -EINVAL, map(sig_mr, 0, 1));
	sig_mr->mr.mr.max_descs = 2;
	KUNIT_EXPECT_EQ(test, -ENOMEM, map(sig_mr, 2, 1));
	KUNIT_EXPECT_EQ(test, 0, map(sig_mr, 2, 0));
	KUNIT_EXPECT_EQ(test, DATA_BYTES, sig_mr->mr.mr.ib.length);
}

static void reg_mr_integrity_scattered_registers_klms_first(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);
	struct fake_queue_pair *fake = sig_mr->fake;
	const struct hw_stride_block_entry *entry;
	const struct hw_mkey_seg *key;
	const struct hw_klm *klms = sig_mr->mr.mr.descs;

	KUNIT_ASSERT_EQ(test, 0, map(sig_mr, 2, 1));
	KUNIT_ASSERT_EQ(test, 0, post(sig_mr, WR_ID));
	KUNIT_EXPECT_EQ(test, ALL_WQEBBS, fake->qp.sq.prod_index);
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_UMR, opcode_at(sig_mr, 0));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_UMR, opcode_at(sig_mr, AT_SIG));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_SET_PSV, opcode_at(sig_mr, AT_FIRST_PSV));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_SET_PSV, opcode_at(sig_mr, AT_SECOND_PSV));
	KUNIT_EXPECT_EQ(test, HW_FENCE_MODE_STRONG_ORDERING, fence_at(sig_mr, AT_SIG));
	KUNIT_EXPECT_EQ(test, HW_FENCE_MODE_INITIATOR_SMALL, fake->qp.sq.next_fence);
	KUNIT_EXPECT_EQ(test, KLM_MKEY, hw_wqe_ctrl_seg_get_imm(fake_block(fake, 0)));
	KUNIT_EXPECT_EQ(test, METADATA, hw_klm_get_va(&klms[2]));
	KUNIT_EXPECT_EQ(test, SIG_DS, hw_wqe_ctrl_seg_get_ds(fake_block(fake, AT_SIG)));
	KUNIT_EXPECT_EQ(test, SIG_MR_KEY + VARIANT,
			hw_wqe_ctrl_seg_get_imm(fake_block(fake, AT_SIG)));
	key = fake_block(fake, AT_SIG + 1);
	KUNIT_EXPECT_EQ(test, VARIANT, hw_mkey_seg_get_mkey_7_0(key));
	KUNIT_EXPECT_EQ(test, 1, hw_mkey_seg_get_bsf_en(key));
	KUNIT_EXPECT_EQ(test, 1, hw_mkey_seg_get_expected_sigerr_count(key));
	KUNIT_EXPECT_EQ(test, BLOCKS * (BLOCK + TUPLE), hw_mkey_seg_get_len(key));
	KUNIT_EXPECT_EQ(test, 1, hw_mkey_seg_get_rr(key));
	KUNIT_EXPECT_EQ(test, 0, hw_mkey_seg_get_rw(key));
	entry = fake_block(fake, AT_SIG + 2) + sizeof(struct hw_stride_block_ctrl_seg);
	KUNIT_EXPECT_EQ(test, BLOCK, hw_stride_block_entry_get_bcount(&entry[0]));
	KUNIT_EXPECT_EQ(test, KLM_MKEY, hw_stride_block_entry_get_key(&entry[1]));
	KUNIT_EXPECT_EQ(test, DATA_BYTES, hw_stride_block_entry_get_va(&entry[1]));
}

static void reg_mr_integrity_single_sge_skips_klms(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);
	struct fake_queue_pair *fake = sig_mr->fake;
	const struct hw_stride_block_entry *entry;
	const struct hw_seg_set_psv *state;

	sig_mr->attrs.wire.sig.dif.bg = U16_MAX;
	KUNIT_ASSERT_EQ(test, 0, map(sig_mr, 1, 1));
	KUNIT_ASSERT_EQ(test, 0, post(sig_mr, WR_ID));
	KUNIT_EXPECT_EQ(test, ALL_WQEBBS - KLM_WQEBBS, fake->qp.sq.prod_index);
	entry = fake_block(fake, 2) + sizeof(struct hw_stride_block_ctrl_seg);
	KUNIT_EXPECT_EQ(test, DMA_MKEY, hw_stride_block_entry_get_key(&entry[0]));
	KUNIT_EXPECT_EQ(test, DATA, hw_stride_block_entry_get_va(&entry[0]));
	KUNIT_EXPECT_EQ(test, METADATA, hw_stride_block_entry_get_va(&entry[1]));
	state = fake_block(fake, AT_SECOND_PSV - KLM_WQEBBS) + sizeof(struct hw_wqe_ctrl_seg);
	KUNIT_EXPECT_EQ(test, WIRE_PSV, hw_seg_set_psv_get_psv_num(state));
	/* The guard is above the application tag: seg_set_psv in mlx5_ifc.h. */
	KUNIT_EXPECT_EQ(test, (u32)U16_MAX << 16 | APP_TAG,
			hw_seg_set_psv_get_transient_sig(state));
	KUNIT_EXPECT_EQ(test, REF_TAG, hw_seg_set_psv_get_ref_tag(state));
	KUNIT_EXPECT_EQ(test, HW_COMPLETION_MODE_ONLY_ERROR,
			hw_wqe_ctrl_seg_get_ce(fake_block(fake, AT_FIRST_PSV - KLM_WQEBBS)));
	KUNIT_EXPECT_EQ(test, HW_COMPLETION_MODE_CQ_UPDATE,
			hw_wqe_ctrl_seg_get_ce(fake_block(fake, AT_SECOND_PSV - KLM_WQEBBS)));
}

static void poll_cq_reg_mr_integrity_returns_one_wc(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);
	struct ib_wc wc[2];

	KUNIT_ASSERT_EQ(test, 0, map(sig_mr, 2, 1));
	KUNIT_ASSERT_EQ(test, 0, post(sig_mr, WR_ID));
	hw_cqe64_set_wqe_counter(fake_completion(sig_mr->fake, HW_CQE_OPCODE_REQ), AT_SECOND_PSV);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&sig_mr->fake->cq.ib, 2, wc));
	KUNIT_EXPECT_EQ(test, WR_ID, wc[0].wr_id);
	KUNIT_EXPECT_EQ(test, IB_WC_REG_MR, wc[0].opcode);
	KUNIT_EXPECT_EQ(test, ALL_WQEBBS, sig_mr->fake->qp.sq.cons_index);
}

static void fail_sub_wqe(struct sig_mr *sig_mr, u32 block, enum hw_cqe_syndrome syndrome)
{
	struct hw_cqe64 *entry = fake_completion(sig_mr->fake, HW_CQE_OPCODE_REQ_ERR);

	hw_cqe64_set_wqe_counter(entry, block);
	hw_err_cqe_set_syndrome((struct hw_err_cqe *)entry, syndrome);
}

static void poll_cq_failed_sub_wqe_returns_one_wc(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);
	struct ib_wc wc[4];

	KUNIT_ASSERT_EQ(test, 0, map(sig_mr, 2, 1));
	KUNIT_ASSERT_EQ(test, 0, post(sig_mr, WR_ID));
	fail_sub_wqe(sig_mr, AT_SIG, HW_CQE_SYNDROME_MW_BIND_ERR);
	fail_sub_wqe(sig_mr, AT_FIRST_PSV, HW_CQE_SYNDROME_WR_FLUSH_ERR);
	fail_sub_wqe(sig_mr, AT_SECOND_PSV, HW_CQE_SYNDROME_WR_FLUSH_ERR);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&sig_mr->fake->cq.ib, ARRAY_SIZE(wc), wc));
	KUNIT_EXPECT_EQ(test, WR_ID, wc[0].wr_id);
	KUNIT_EXPECT_EQ(test, IB_WC_MW_BIND_ERR, wc[0].status);
	KUNIT_EXPECT_EQ(test, ALL_WQEBBS, sig_mr->fake->qp.sq.cons_index);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&sig_mr->fake->hw.health));
}

static void poll_cq_flushed_sub_wqes_return_one_wc(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);
	struct ib_wc wc[4];

	KUNIT_ASSERT_EQ(test, 0, map(sig_mr, 1, 1));
	KUNIT_ASSERT_EQ(test, 0, post(sig_mr, WR_ID));
	fail_sub_wqe(sig_mr, 0, HW_CQE_SYNDROME_WR_FLUSH_ERR);
	fail_sub_wqe(sig_mr, AT_FIRST_PSV - KLM_WQEBBS, HW_CQE_SYNDROME_WR_FLUSH_ERR);
	fail_sub_wqe(sig_mr, AT_SECOND_PSV - KLM_WQEBBS, HW_CQE_SYNDROME_WR_FLUSH_ERR);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&sig_mr->fake->cq.ib, ARRAY_SIZE(wc), wc));
	KUNIT_EXPECT_EQ(test, WR_ID, wc[0].wr_id);
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, wc[0].status);
}

static void reg_mr_integrity_sq_full_returns_enomem(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);
	struct ib_mr_status status;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, map(sig_mr, 2, 1));
	for (i = 0; i < BIT(FAKE_LOG_BLOCKS) / CXIB_SIG_REG_WQEBBS; i++) {
		KUNIT_ASSERT_EQ(test, 0, post(sig_mr, i));
		check(test, sig_mr, &status);
	}
	KUNIT_EXPECT_EQ(test, -ENOMEM, post(sig_mr, i));
}

/* As if the MR had been registered before. */
static struct hw_sig_err_cqe *report_sig_err(struct sig_mr *sig_mr, u32 syndrome)
{
	struct hw_sig_err_cqe *entry = (void *)fake_completion(sig_mr->fake,
							       HW_CQE_OPCODE_SIG_ERR);

	sig_mr->mr.has_failed = false;
	hw_sig_err_cqe_set_mkey(entry, SIG_MR_KEY + VARIANT);
	hw_sig_err_cqe_set_syndrome(entry, syndrome);
	hw_sig_err_cqe_set_expected_trans_sig(entry, EXPECTED_GUARD << 16 | EXPECTED_APP);
	hw_sig_err_cqe_set_actual_trans_sig(entry, ACTUAL_GUARD << 16 | ACTUAL_APP);
	hw_sig_err_cqe_set_expected_reftag(entry, EXPECTED_REF);
	hw_sig_err_cqe_set_actual_reftag(entry, ACTUAL_REF);
	hw_sig_err_cqe_set_err_offset(entry, ERROR_AT);
	return entry;
}

static void check_mr_status_returns_error_once(struct kunit *test)
{
	static const struct {
		u32 syndrome;
		enum ib_sig_err_type type;
		u32 expected, actual;
	} errors[] = {
		{ HW_CQE_SIG_SYNDROME_GUARD, IB_SIG_BAD_GUARD, EXPECTED_GUARD, ACTUAL_GUARD },
		{ HW_CQE_SIG_SYNDROME_APPTAG, IB_SIG_BAD_APPTAG, EXPECTED_APP, ACTUAL_APP },
		{ HW_CQE_SIG_SYNDROME_REFTAG, IB_SIG_BAD_REFTAG, EXPECTED_REF, ACTUAL_REF },
		/* As mlx5_ib. */
		{ HW_CQE_SIG_SYNDROME_APPTAG | HW_CQE_SIG_SYNDROME_REFTAG, IB_SIG_BAD_REFTAG,
		  EXPECTED_REF, ACTUAL_REF },
	};
	struct sig_mr *sig_mr = make_sig_mr(test);
	struct ib_mr_status status;
	struct ib_wc wc;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		report_sig_err(sig_mr, errors[i].syndrome);
		KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&sig_mr->fake->cq.ib, 1, &wc));
		KUNIT_EXPECT_EQ(test, i % 2, sig_mr->mr.sigerr_count);
		check(test, sig_mr, &status);
		KUNIT_EXPECT_EQ(test, IB_MR_CHECK_SIG_STATUS, status.fail_status);
		KUNIT_EXPECT_EQ(test, errors[i].type, status.sig_err.err_type);
		KUNIT_EXPECT_EQ(test, errors[i].expected, status.sig_err.expected);
		KUNIT_EXPECT_EQ(test, errors[i].actual, status.sig_err.actual);
		KUNIT_EXPECT_EQ(test, ERROR_AT, status.sig_err.sig_err_offset);
		check(test, sig_mr, &status);
		KUNIT_EXPECT_EQ(test, 0, status.fail_status);
	}
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&sig_mr->fake->hw.health));
}

static void sig_err_unknown_mkey_is_ignored(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);
	struct ib_wc wc;

	hw_sig_err_cqe_set_mkey(report_sig_err(sig_mr, HW_CQE_SIG_SYNDROME_GUARD), 0x99999900);
	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&sig_mr->fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&sig_mr->fake->hw.health));
	KUNIT_EXPECT_FALSE(test, sig_mr->mr.sig_err_exists);
}

static void cq_clean_records_sig_err(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);

	report_sig_err(sig_mr, HW_CQE_SIG_SYNDROME_GUARD);
	cxib_cq_clean(&sig_mr->fake->cq, &sig_mr->fake->qp);
	KUNIT_EXPECT_TRUE(test, sig_mr->mr.sig_err_exists);
	KUNIT_EXPECT_EQ(test, 0, sig_mr->mr.sigerr_count);
}

static void reg_mr_integrity_unchecked_returns_einval(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);
	struct ib_mr_status status;

	KUNIT_ASSERT_EQ(test, 0, map(sig_mr, 1, 1));
	KUNIT_ASSERT_EQ(test, 0, post(sig_mr, 1));
	KUNIT_EXPECT_EQ(test, -EINVAL, post(sig_mr, 2));
	check(test, sig_mr, &status);
	KUNIT_EXPECT_EQ(test, 0, post(sig_mr, 2));
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_check_mr_status(&sig_mr->mr.mr.ib, 2, &status));
}

static void cq_error_refuses_mrs_in_use(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);
	struct ib_mr_status status;

	KUNIT_ASSERT_EQ(test, 0, map(sig_mr, 1, 1));
	KUNIT_ASSERT_EQ(test, 0, post(sig_mr, 1));
	cxib_distrust_sig_mrs(&sig_mr->fake->ibdev, sig_mr->fake->cq.cqn + 1, 0);
	check(test, sig_mr, &status);
	KUNIT_ASSERT_EQ(test, 0, post(sig_mr, 2));
	cxib_distrust_sig_mrs(&sig_mr->fake->ibdev, sig_mr->fake->cq.cqn, 0);
	KUNIT_EXPECT_EQ(test, -EIO, cxib_check_mr_status(&sig_mr->mr.mr.ib,
							 IB_MR_CHECK_SIG_STATUS, &status));
	KUNIT_EXPECT_EQ(test, -EIO, post(sig_mr, 2));
}

static void cq_error_keeps_mrs_not_in_use(struct kunit *test)
{
	struct sig_mr *sig_mr = make_sig_mr(test);
	struct ib_mr_status status;

	KUNIT_ASSERT_EQ(test, 0, map(sig_mr, 1, 1));
	KUNIT_ASSERT_EQ(test, 0, post(sig_mr, 1));
	check(test, sig_mr, &status);
	cxib_distrust_sig_mrs(&sig_mr->fake->ibdev, sig_mr->fake->cq.cqn, 0);
	KUNIT_EXPECT_EQ(test, 0, post(sig_mr, 2));
}

static void qp_size_integrity_fits_registrations(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .create_flags = IB_QP_CREATE_INTEGRITY_EN,
		.cap = { .max_send_wr = WRS, .max_send_sge = 1 },
	};

	fake->qp.ib.qp_type = IB_QPT_RC;
	KUNIT_ASSERT_EQ(test, 0, cxib_qp_size(&fake->ibdev, &fake->qp, &init));
	KUNIT_EXPECT_GE(test, BIT(fake->qp.sq.log_size),
			init.cap.max_send_wr * CXIB_SIG_REG_WQEBBS);
	KUNIT_EXPECT_GE(test, init.cap.max_send_wr, WRS);
}

static void create_psv_returns_two_numbers(struct kunit *test)
{
	struct scripted_hca *scripted = scripted_hca_create(test);
	u32 numbers[CXIB_PSV_COUNT];

	hw_create_psv_out_set_psv0_index(scripted->out, FIRST_PSV);
	hw_create_psv_out_set_psv1_index(scripted->out, SECOND_PSV);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_create_psv(&scripted->queue, PDN, numbers));
	KUNIT_EXPECT_EQ(test, HW_CMD_CREATE_PSV, hw_create_psv_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, CXIB_PSV_COUNT, hw_create_psv_in_get_num_psv(scripted->in));
	KUNIT_EXPECT_EQ(test, PDN, hw_create_psv_in_get_pd(scripted->in));
	KUNIT_EXPECT_EQ(test, FIRST_PSV, numbers[0]);
	KUNIT_EXPECT_EQ(test, SECOND_PSV, numbers[1]);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_destroy_psv(&scripted->queue, numbers[1]));
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_PSV, hw_destroy_psv_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, SECOND_PSV, hw_destroy_psv_in_get_psvn(scripted->in));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(bsf_equal_tags_set_copy_mask),
	KUNIT_CASE(bsf_interleaved_pi_is_part_of_raw_data_size),
	KUNIT_CASE(bsf_memory_without_pi_has_no_inline),
	KUNIT_CASE(bsf_unsupported_block_size_returns_einval),
	KUNIT_CASE(bsf_4048_bytes_without_capability_returns_einval),
	KUNIT_CASE(reg_mr_integrity_bad_sig_attrs_returns_einval),
	KUNIT_CASE(map_mr_sg_pi_too_many_sges_returns_enomem),
	KUNIT_CASE(reg_mr_integrity_scattered_registers_klms_first),
	KUNIT_CASE(reg_mr_integrity_single_sge_skips_klms),
	KUNIT_CASE(poll_cq_reg_mr_integrity_returns_one_wc),
	KUNIT_CASE(poll_cq_failed_sub_wqe_returns_one_wc),
	KUNIT_CASE(poll_cq_flushed_sub_wqes_return_one_wc),
	KUNIT_CASE(reg_mr_integrity_sq_full_returns_enomem),
	KUNIT_CASE(check_mr_status_returns_error_once),
	KUNIT_CASE(sig_err_unknown_mkey_is_ignored),
	KUNIT_CASE(cq_clean_records_sig_err),
	KUNIT_CASE(reg_mr_integrity_unchecked_returns_einval),
	KUNIT_CASE(cq_error_refuses_mrs_in_use),
	KUNIT_CASE(cq_error_keeps_mrs_not_in_use),
	KUNIT_CASE(qp_size_integrity_fits_registrations),
	KUNIT_CASE(create_psv_returns_two_numbers),
	{}
};

static struct kunit_suite suite = {
	.name = "signatures",
	.test_cases = cases,
};

kunit_test_suite(suite);
