// SPDX-License-Identifier: GPL-2.0-only
/* Send WQEs of RC QPs. */
#include "fake_queue_pair.h"
#include "verbs/qp/post.h"

#define IMMEDIATE	0x1234
#define REMOTE		0xdeadbeef00ULL
#define RKEY		0x77
#define PD_LKEY		0x42
#define LIST		0x8000

/* WQE lengths are in units of 16 bytes. A WQEBB has four units. */
#define DS(bytes)	((bytes) / CXIB_DS_SIZE)

/* A UMR WQE: control, UMR control and mkey segments, which fill two WQEBBs, and the list. */
#define UMR_DS		DS(sizeof(struct hw_wqe_ctrl_seg) +		\
			   sizeof(struct hw_wqe_umr_ctrl_seg) +		\
			   sizeof(struct hw_mkey_seg) + sizeof(struct hw_wqe_data_seg))

/* The device reads lists in units of 64 bytes. */
#define LIST_UNIT	64

static struct fake_queue_pair *make_rc_qp(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	fake->qp.ib.qp_type = IB_QPT_RC;
	fake->qp.sq.opcode_mask = U64_MAX;
	fake->qp.sq.umr_fence = HW_FENCE_MODE_STRONG_ORDERING;
	fake->qp.sq.av_ds = 0;
	return fake;
}

static void build(struct kunit *test, struct fake_queue_pair *fake, const struct ib_send_wr *wr)
{
	KUNIT_ASSERT_EQ(test, 0, cxib_build_send_wqe(&fake->qp, wr));
}

static u32 fence_of(struct fake_queue_pair *fake, u32 block)
{
	return hw_wqe_ctrl_seg_get_fm(fake_block(fake, block));
}

static void rdma_write_and_read_fill_raddr_seg(struct kunit *test)
{
	struct fake_queue_pair *fake = make_rc_qp(test);
	struct ib_sge sge = { .addr = 0x1000, .length = 8, .lkey = 5 };
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_WRITE_WITH_IMM, .num_sge = 1, .sg_list = &sge,
			.ex.imm_data = cpu_to_be32(IMMEDIATE) },
		.remote_addr = REMOTE, .rkey = RKEY,
	};
	struct hw_wqe_ctrl_seg *control = fake_block(fake, 0);
	struct hw_wqe_raddr_seg *remote = (void *)(control + 1);

	build(test, fake, &wr.wr);
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_RDMA_WRITE_IMM, hw_wqe_ctrl_seg_get_opcode(control));
	KUNIT_EXPECT_EQ(test, IMMEDIATE, hw_wqe_ctrl_seg_get_imm(control));
	KUNIT_EXPECT_EQ(test, DS(sizeof(*control) + sizeof(*remote) +
				 sizeof(struct hw_wqe_data_seg)), hw_wqe_ctrl_seg_get_ds(control));
	KUNIT_EXPECT_EQ(test, REMOTE, hw_wqe_raddr_seg_get_raddr(remote));
	KUNIT_EXPECT_EQ(test, RKEY, hw_wqe_raddr_seg_get_rkey(remote));
	wr.wr.opcode = IB_WR_RDMA_READ;
	build(test, fake, &wr.wr);
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_RDMA_READ,
			hw_wqe_ctrl_seg_get_opcode(fake_block(fake, 1)));
	KUNIT_EXPECT_EQ(test, IB_WC_RDMA_READ, fake->qp.sq.entries[1].opcode);
}

static void read_and_atomic_inline_return_einval(struct kunit *test)
{
	struct fake_queue_pair *fake = make_rc_qp(test);
	struct ib_sge sge = { .addr = 0x1000, .length = 8, .lkey = 5 };
	struct ib_atomic_wr wr = {
		.wr = { .num_sge = 1, .sg_list = &sge, .send_flags = IB_SEND_INLINE },
	};
	static const enum ib_wr_opcode opcodes[] = {
		IB_WR_RDMA_READ, IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD,
		IB_WR_MASKED_ATOMIC_CMP_AND_SWP, IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
	};
	size_t i;

	fake->qp.sq.max_inline = 64;
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		wr.wr.opcode = opcodes[i];
		KUNIT_EXPECT_EQ(test, -EINVAL, cxib_build_send_wqe(&fake->qp, &wr.wr));
	}
	KUNIT_EXPECT_EQ(test, 0, fake->qp.sq.prod_index);
}

/* Operands follow the control and the remote address segment. */
#define OPERANDS	(sizeof(struct hw_wqe_ctrl_seg) + sizeof(struct hw_wqe_raddr_seg))

static void atomic_wqe_has_operands(struct kunit *test)
{
	struct fake_queue_pair *fake = make_rc_qp(test);
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP, .compare_add = 1, .swap = 2,
	};
	struct hw_wqe_atomic_seg *operands;

	build(test, fake, &wr.wr);
	operands = fake_block(fake, 0) + OPERANDS;
	KUNIT_EXPECT_EQ(test, wr.swap, hw_wqe_atomic_seg_get_swap_add(operands));
	KUNIT_EXPECT_EQ(test, wr.compare_add, hw_wqe_atomic_seg_get_compare(operands));
	KUNIT_EXPECT_EQ(test, 0, hw_wqe_ctrl_seg_get_opmod(fake_block(fake, 0)));
	wr.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
	build(test, fake, &wr.wr);
	operands = fake_block(fake, 1) + OPERANDS;
	KUNIT_EXPECT_EQ(test, wr.compare_add, hw_wqe_atomic_seg_get_swap_add(operands));
	KUNIT_EXPECT_EQ(test, 0, hw_wqe_atomic_seg_get_compare(operands));
	KUNIT_EXPECT_EQ(test, 0, hw_wqe_ctrl_seg_get_opmod(fake_block(fake, 1)));
}

static struct ib_sge atomic_sge = { .addr = 0x1122334455667788ULL, .length = 8, .lkey = PD_LKEY };

static struct ib_atomic_wr masked_wr(enum ib_wr_opcode opcode)
{
	return (struct ib_atomic_wr){
		.wr = { .opcode = opcode, .num_sge = 1, .sg_list = &atomic_sge,
			.send_flags = IB_SEND_SIGNALED },
		.remote_addr = REMOTE, .rkey = RKEY,
		.compare_add = 0xc1c2c3c4c5c6c7c8ULL, .swap = 0x5152535455565758ULL,
		.compare_add_mask = 0x9192939495969798ULL, .swap_mask = 0xa1a2a3a4a5a6a7a8ULL,
	};
}

/* The words come from public code: UCX posts masked atomics in this form. */
static void expect_words(struct kunit *test, const void *wqe, const u32 *words, size_t count)
{
	const __be32 *dw = wqe;
	size_t i;

	for (i = 0; i < count; i++)
		KUNIT_EXPECT_EQ_MSG(test, words[i], be32_to_cpu(dw[i]), "word %zu", i);
}

/* opmod 9, swap, compare, swap mask, compare mask; the data segment begins the second WQEBB. */
static void masked_cmp_swp_wqe_has_four_operands(struct kunit *test)
{
	struct fake_queue_pair *fake = make_rc_qp(test);
	struct ib_atomic_wr wr = masked_wr(IB_WR_MASKED_ATOMIC_CMP_AND_SWP);
	const u32 block[] = {
		0x09000014, fake->qp.qpn << 8 | 5, 0x8, 0, 0xde, 0xadbeef00, RKEY, 0,
		0x51525354, 0x55565758, 0xc1c2c3c4, 0xc5c6c7c8,
		0xa1a2a3a4, 0xa5a6a7a8, 0x91929394, 0x95969798,
	};
	static const u32 data[] = { 8, PD_LKEY, 0x11223344, 0x55667788 };

	build(test, fake, &wr.wr);
	KUNIT_EXPECT_EQ(test, 2, fake->qp.sq.prod_index);
	expect_words(test, fake_block(fake, 0), block, ARRAY_SIZE(block));
	expect_words(test, fake_block(fake, 1), data, ARRAY_SIZE(data));
}

/* opmod 9, addend, field boundary; the data segment ends the only WQEBB. */
static void masked_fetch_add_wqe_has_two_operands(struct kunit *test)
{
	struct fake_queue_pair *fake = make_rc_qp(test);
	struct ib_atomic_wr wr = masked_wr(IB_WR_MASKED_ATOMIC_FETCH_AND_ADD);
	const u32 block[] = {
		0x09000015, fake->qp.qpn << 8 | 4, 0x8, 0, 0xde, 0xadbeef00, RKEY, 0,
		0xc1c2c3c4, 0xc5c6c7c8, 0x91929394, 0x95969798,
		8, PD_LKEY, 0x11223344, 0x55667788,
	};

	build(test, fake, &wr.wr);
	KUNIT_EXPECT_EQ(test, 1, fake->qp.sq.prod_index);
	expect_words(test, fake_block(fake, 0), block, ARRAY_SIZE(block));
}

/* The list has 3 MTTs. The low 8 bits of an mkey are its variant. */
static void reg_mr_fills_mkey_seg(struct kunit *test)
{
	struct fake_queue_pair *fake = make_rc_qp(test);
	struct ib_pd pd = { .local_dma_lkey = PD_LKEY };
	struct cxib_mr mr = {
		.ib = { .iova = 0x5000, .length = 3 * SZ_4K, .page_size = SZ_4K },
		.desc_map = LIST, .desc_size = sizeof(struct hw_mtt),
	};
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR, .mr = &mr.ib, .key = 0x1207,
		.access = IB_ACCESS_REMOTE_READ,
	};
	struct hw_mkey_seg *key;
	struct hw_wqe_data_seg *list;

	cxib_mr_set_ndescs(&mr, 3);
	fake->qp.ib.pd = &pd;
	build(test, fake, &wr.wr);
	key = fake_block(fake, 1);
	list = fake_block(fake, 2);
	KUNIT_EXPECT_EQ(test, wr.key, hw_wqe_ctrl_seg_get_imm(fake_block(fake, 0)));
	KUNIT_EXPECT_EQ(test, UMR_DS, hw_wqe_ctrl_seg_get_ds(fake_block(fake, 0)));
	KUNIT_EXPECT_EQ(test, wr.key & 0xff, hw_mkey_seg_get_mkey_7_0(key));
	KUNIT_EXPECT_EQ(test, mr.ib.iova, hw_mkey_seg_get_start_addr(key));
	KUNIT_EXPECT_EQ(test, mr.ib.length, hw_mkey_seg_get_len(key));
	KUNIT_EXPECT_EQ(test, ilog2(SZ_4K), hw_mkey_seg_get_log_page_size(key));
	KUNIT_EXPECT_EQ(test, 1, hw_mkey_seg_get_rr(key));
	KUNIT_EXPECT_EQ(test, 0, hw_mkey_seg_get_rw(key));
	KUNIT_EXPECT_EQ(test, 0, hw_mkey_seg_get_free(key));
	KUNIT_EXPECT_EQ(test, LIST_UNIT, hw_wqe_data_seg_get_byte_count(list));
	KUNIT_EXPECT_EQ(test, PD_LKEY, hw_wqe_data_seg_get_lkey(list));
}

/*
 * Without the capability the mask has A only if the WR requests atomic access, so that the device
 * rejects it.
 */
static void reg_mr_atomic_mask_follows_capability(struct kunit *test)
{
	static const struct {
		u32 disabled, access;
		bool expected;
	} cases[] = {
		{ 0, IB_ACCESS_REMOTE_READ, true },
		{ 0, IB_ACCESS_REMOTE_ATOMIC, true },
		{ 1, IB_ACCESS_REMOTE_READ, false },
		{ 1, IB_ACCESS_REMOTE_ATOMIC, true },
	};
	struct fake_queue_pair *fake = make_rc_qp(test);
	struct ib_pd pd = { .local_dma_lkey = PD_LKEY };
	struct cxib_mr mr = {
		.ib.page_size = SZ_4K, .desc_map = LIST, .desc_size = sizeof(struct hw_mtt),
	};
	struct ib_reg_wr wr = { .wr.opcode = IB_WR_REG_MR, .mr = &mr.ib };
	struct hw_wqe_umr_ctrl_seg *control;
	u64 mask;
	int i;

	cxib_mr_set_ndescs(&mr, 1);
	fake->qp.ib.pd = &pd;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		fake->hw.caps.umr_modify_atomic_disabled = cases[i].disabled;
		fake->qp.sq.key_mask = cxib_registration_mask(&fake->hw.caps);
		wr.access = cases[i].access;
		control = fake_block(fake, fake->qp.sq.prod_index) +
			  sizeof(struct hw_wqe_ctrl_seg);
		build(test, fake, &wr.wr);
		mask = hw_wqe_umr_ctrl_seg_get_mkey_mask(control);
		KUNIT_EXPECT_TRUE(test, mask & HW_MKEY_MASK_RW);
		KUNIT_EXPECT_EQ(test, cases[i].expected, !!(mask & HW_MKEY_MASK_A));
	}
}

/* The second page of the ring begins with WQEBB 62. */
static void reg_mr_wqe_continues_across_ring_end(struct kunit *test)
{
	static const u32 places[] = {
		60, 61, BIT(FAKE_LOG_BLOCKS) - 2, BIT(FAKE_LOG_BLOCKS) - 1,
	};
	struct fake_queue_pair *fake = make_rc_qp(test);
	struct ib_pd pd = { .local_dma_lkey = PD_LKEY };
	struct cxib_mr mr = { .ib.page_size = SZ_4K, .desc_size = sizeof(struct hw_mtt) };
	struct ib_reg_wr wr = { .wr.opcode = IB_WR_REG_MR, .mr = &mr.ib };
	size_t i;

	cxib_mr_set_ndescs(&mr, 3);
	fake->qp.ib.pd = &pd;
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		fake->qp.sq.prod_index = places[i];
		fake->qp.sq.cons_index = places[i];
		mr.ib.iova = (i + 1) * SZ_4K;
		mr.desc_map = (i + 1) * SZ_64K;
		build(test, fake, &wr.wr);
		KUNIT_EXPECT_EQ(test, mr.ib.iova,
				hw_mkey_seg_get_start_addr(fake_block(fake, places[i] + 1)));
		KUNIT_EXPECT_EQ(test, mr.desc_map,
				hw_wqe_data_seg_get_addr(fake_block(fake, places[i] + 2)));
	}
}

/* The invalidations take the WQEBBs 0 and 1, 5 and 6. Each send takes one WQEBB. */
static void send_after_umr_sets_fence(struct kunit *test)
{
	struct fake_queue_pair *fake = make_rc_qp(test);
	struct ib_send_wr invalidate = { .opcode = IB_WR_LOCAL_INV, .ex.invalidate_rkey = RKEY };
	struct ib_send_wr send = { .opcode = IB_WR_SEND };

	build(test, fake, &invalidate);
	KUNIT_EXPECT_EQ(test, RKEY, hw_wqe_ctrl_seg_get_imm(fake_block(fake, 0)));
	KUNIT_EXPECT_EQ(test, 1, hw_mkey_seg_get_free(fake_block(fake, 1)));
	build(test, fake, &send);
	build(test, fake, &send);
	send.send_flags = IB_SEND_FENCE;
	build(test, fake, &send);
	build(test, fake, &invalidate);
	build(test, fake, &send);
	KUNIT_EXPECT_EQ(test, HW_FENCE_MODE_STRONG_ORDERING, fence_of(fake, 0));
	KUNIT_EXPECT_EQ(test, HW_FENCE_MODE_INITIATOR_SMALL, fence_of(fake, 2));
	KUNIT_EXPECT_EQ(test, HW_FENCE_MODE_NONE, fence_of(fake, 3));
	KUNIT_EXPECT_EQ(test, HW_FENCE_MODE_FENCE, fence_of(fake, 4));
	KUNIT_EXPECT_EQ(test, HW_FENCE_MODE_SMALL_AND_FENCE, fence_of(fake, 7));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(rdma_write_and_read_fill_raddr_seg),
	KUNIT_CASE(read_and_atomic_inline_return_einval),
	KUNIT_CASE(atomic_wqe_has_operands),
	KUNIT_CASE(masked_cmp_swp_wqe_has_four_operands),
	KUNIT_CASE(masked_fetch_add_wqe_has_two_operands),
	KUNIT_CASE(reg_mr_fills_mkey_seg),
	KUNIT_CASE(reg_mr_atomic_mask_follows_capability),
	KUNIT_CASE(reg_mr_wqe_continues_across_ring_end),
	KUNIT_CASE(send_after_umr_sets_fence),
	{}
};

static struct kunit_suite suite = {
	.name = "post_connected",
	.test_cases = cases,
};

kunit_test_suite(suite);
