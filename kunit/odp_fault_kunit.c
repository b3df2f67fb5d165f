// SPDX-License-Identifier: GPL-2.0-only
/* Page faults: decoding of their events, and the memory that the faulting WQE uses. */
#include <linux/log2.h>
#include <linux/sizes.h>

#include "hw/commands_memory.h"
#include "hw/contexts.h"
#include "hw/page_faults.h"
#include "hw/work_queue.h"
#include "kernel_kunit.h"
#include "scripted_hca.h"
#include "verbs/odp/odp.h"
#include "verbs/odp/odp_fault.h"
#include "verbs/qp/qp.h"

/* Words with reserved bits in a WQE event and in a memory event. */
#define TOKEN_BYTE	0xc
#define RESERVED_BYTE	0xc
#define RANGES_MAX	4

/* Tokens of WQE and RDMA faults have 24 bits, those of memory faults 48 bits: mlx5_ifc.h. */
#define TOKEN		0x123456
#define LONG_TOKEN	0x1234cafe5678ULL
#define QPN		0x777777
#define WQE_INDEX	0x1234
#define COMMITTED	0x100
#define PACKET		0x80
#define MKEY		0x1207
#define OPERATION	0x2000
#define ADDRESS		0xdeadbeef000ULL
#define OTHER_ADDRESS	0x7f1234567890ULL

/* Pages of memory faults have 4 KiB, whatever the page size of the MR. */
#define FAULT_PAGE	SZ_4K
#define MISSING		5
#define PAGES_BEFORE	2
#define PAGES_AFTER	3

/* demand_fault_pages has 20 bits, pre_ and post_demand_fault_pages have 16. */
#define MISSING_MAX	GENMASK(19, 0)
#define AHEAD_MAX	GENMASK(15, 0)

static void decode_wqe_fault_returns_qpn_and_wqe_index(struct kunit *test)
{
	struct hw_eqe entry = {};
	struct hw_wqe_associated_page_fault_event *event =
		hw_eqe_event_data_wqe_associated_page_fault_event(&entry);
	struct cxib_page_fault fault;

	hw_eqe_set_event_sub_type(&entry, HW_PAGE_FAULT_SUBTYPE_WQE);
	hw_wqe_associated_page_fault_event_set_bytes_committed(event, COMMITTED);
	hw_wqe_associated_page_fault_event_set_wqe_index(event, WQE_INDEX);
	hw_wqe_associated_page_fault_event_set_len(event, PACKET);
	hw_wqe_associated_page_fault_event_set_requestor(event, 1);
	hw_wqe_associated_page_fault_event_set_qpn(event, QPN);
	/* The high byte of the word is not part of the token. */
	event->dw[TOKEN_BYTE / sizeof(__be32)] = cpu_to_be32(GENMASK(31, 24) | TOKEN);
	KUNIT_ASSERT_TRUE(test, cxib_page_fault_decode(&entry, &fault));
	KUNIT_EXPECT_EQ(test, HW_PAGE_FAULT_FLAGS_REQUESTOR, fault.operation);
	KUNIT_EXPECT_EQ(test, TOKEN, fault.token);
	KUNIT_EXPECT_EQ(test, QPN, fault.queue);
	KUNIT_EXPECT_EQ(test, COMMITTED, fault.bytes_committed);
	KUNIT_EXPECT_EQ(test, PACKET, fault.packet_size);
	KUNIT_EXPECT_EQ(test, WQE_INDEX, fault.wqe_index);
}

/* The token of an RDMA fault is its QPN. */
static void decode_rdma_fault_returns_rkey_and_address(struct kunit *test)
{
	struct hw_eqe entry = {};
	struct hw_rdma_page_fault_event *event = hw_eqe_event_data_rdma_page_fault_event(&entry);
	struct cxib_page_fault fault;

	hw_eqe_set_event_sub_type(&entry, HW_PAGE_FAULT_SUBTYPE_RDMA);
	hw_rdma_page_fault_event_set_r_key(event, MKEY);
	hw_rdma_page_fault_event_set_rdma_op_len(event, OPERATION);
	hw_rdma_page_fault_event_set_rdma_va(event, ADDRESS);
	hw_rdma_page_fault_event_set_rdma(event, 1);
	hw_rdma_page_fault_event_set_write(event, 1);
	hw_rdma_page_fault_event_set_qp_number(event, QPN);
	KUNIT_ASSERT_TRUE(test, cxib_page_fault_decode(&entry, &fault));
	KUNIT_EXPECT_EQ(test, HW_PAGE_FAULT_FLAGS_RDMA | HW_PAGE_FAULT_FLAGS_WRITE,
			fault.operation);
	KUNIT_EXPECT_EQ(test, QPN, fault.token);
	KUNIT_EXPECT_EQ(test, QPN, fault.queue);
	KUNIT_EXPECT_EQ(test, MKEY, fault.key);
	KUNIT_EXPECT_EQ(test, OPERATION, fault.length);
	KUNIT_EXPECT_EQ(test, ADDRESS, fault.address);
}

static void decode_unknown_subtype_returns_false(struct kunit *test)
{
	struct cxib_page_fault fault;
	struct hw_eqe entry = {};

	hw_eqe_set_event_sub_type(&entry, HW_PAGE_FAULT_SUBTYPE_MEMORY + 1);
	KUNIT_EXPECT_FALSE(test, cxib_page_fault_decode(&entry, &fault));
	hw_eqe_set_event_sub_type(&entry, U8_MAX);
	KUNIT_EXPECT_FALSE(test, cxib_page_fault_decode(&entry, &fault));
}

static void decode_memory_fault_returns_mkey_and_pages(struct kunit *test)
{
	struct hw_eqe entry = {};
	struct hw_memory_page_fault_event *event =
		hw_eqe_event_data_memory_page_fault_event(&entry);
	struct cxib_page_fault fault;

	hw_eqe_set_event_sub_type(&entry, HW_PAGE_FAULT_SUBTYPE_MEMORY);
	/* The bits below demand_fault_pages are reserved. */
	event->dw[RESERVED_BYTE / sizeof(__be32)] = cpu_to_be32(GENMASK(11, 0));
	hw_memory_page_fault_event_set_last(event, 1);
	hw_memory_page_fault_event_set_post_demand_fault_pages(event, PAGES_AFTER);
	hw_memory_page_fault_event_set_pre_demand_fault_pages(event, PAGES_BEFORE);
	hw_memory_page_fault_event_set_fault_token_47_32(event, LONG_TOKEN >> 32);
	hw_memory_page_fault_event_set_fault_token_31_0(event, lower_32_bits(LONG_TOKEN));
	hw_memory_page_fault_event_set_demand_fault_pages(event, MISSING);
	hw_memory_page_fault_event_set_mkey(event, MKEY);
	hw_memory_page_fault_event_set_va(event, OTHER_ADDRESS);
	KUNIT_ASSERT_TRUE(test, cxib_page_fault_decode(&entry, &fault));
	KUNIT_EXPECT_TRUE(test, fault.last);
	KUNIT_EXPECT_EQ(test, LONG_TOKEN, fault.token);
	KUNIT_EXPECT_EQ(test, MKEY, fault.key);
	KUNIT_EXPECT_EQ(test, OTHER_ADDRESS, fault.address);
	KUNIT_EXPECT_EQ(test, MISSING * FAULT_PAGE, fault.length);
	KUNIT_EXPECT_EQ(test, PAGES_BEFORE * FAULT_PAGE, fault.before);
	KUNIT_EXPECT_EQ(test, PAGES_AFTER * FAULT_PAGE, fault.after);
}

static void decode_memory_fault_without_pages_returns_one_page(struct kunit *test)
{
	struct hw_eqe entry = {};
	struct cxib_page_fault fault;

	hw_eqe_set_event_sub_type(&entry, HW_PAGE_FAULT_SUBTYPE_MEMORY);
	KUNIT_ASSERT_TRUE(test, cxib_page_fault_decode(&entry, &fault));
	KUNIT_EXPECT_FALSE(test, fault.last);
	KUNIT_EXPECT_EQ(test, FAULT_PAGE, fault.length);
	memset(hw_eqe_event_data_memory_page_fault_event(&entry), 0xff,
	       sizeof(struct hw_memory_page_fault_event));
	KUNIT_ASSERT_TRUE(test, cxib_page_fault_decode(&entry, &fault));
	KUNIT_EXPECT_EQ(test, MISSING_MAX * FAULT_PAGE, fault.length);
	KUNIT_EXPECT_EQ(test, AHEAD_MAX * FAULT_PAGE, fault.before);
	KUNIT_EXPECT_EQ(test, AHEAD_MAX * FAULT_PAGE, fault.after);
}

static void page_fault_resume_uses_format_of_subtype(struct kunit *test)
{
	struct scripted_hca *scripted = scripted_hca_create(test);
	const struct cxib_page_fault wqe_fault = {
		.subtype = HW_PAGE_FAULT_SUBTYPE_WQE, .operation = HW_PAGE_FAULT_FLAGS_WRITE,
		.token = TOKEN, .queue = QPN,
	};
	const struct cxib_page_fault mem_fault = {
		.subtype = HW_PAGE_FAULT_SUBTYPE_MEMORY, .token = LONG_TOKEN,
	};
	const struct hw_trans_page_fault_info *wqe_info =
		hw_page_fault_resume_in_get_page_fault_info_trans_page_fault_info(scripted->in);
	const struct hw_mem_page_fault_info *mem_info =
		hw_page_fault_resume_in_get_page_fault_info_mem_page_fault_info(scripted->in);

	KUNIT_EXPECT_EQ(test, 0, cxib_cmd_page_fault_resume(&scripted->queue, &wqe_fault, true));
	KUNIT_EXPECT_EQ(test, 1, hw_trans_page_fault_info_get_error(wqe_info));
	KUNIT_EXPECT_EQ(test, HW_PAGE_FAULT_FLAGS_WRITE,
			hw_trans_page_fault_info_get_page_fault_type(wqe_info));
	KUNIT_EXPECT_EQ(test, QPN, hw_trans_page_fault_info_get_wq_number(wqe_info));
	KUNIT_EXPECT_EQ(test, TOKEN, hw_trans_page_fault_info_get_fault_token(wqe_info));
	KUNIT_EXPECT_EQ(test, 0, cxib_cmd_page_fault_resume(&scripted->queue, &mem_fault, false));
	KUNIT_EXPECT_EQ(test, 0, hw_mem_page_fault_info_get_error(mem_info));
	/* Reserved bits of the words are 0. */
	KUNIT_EXPECT_EQ(test, LONG_TOKEN >> 32, be32_to_cpu(mem_info->dw[0]));
	KUNIT_EXPECT_EQ(test, lower_32_bits(LONG_TOKEN), be32_to_cpu(mem_info->dw[1]));
	KUNIT_EXPECT_EQ(test, 0, cxib_cmd_page_fault_resume(&scripted->queue, &mem_fault, true));
	KUNIT_EXPECT_EQ(test, 1, hw_mem_page_fault_info_get_error(mem_info));
	KUNIT_EXPECT_EQ(test, LONG_TOKEN >> 32,
			hw_mem_page_fault_info_get_fault_token_47_32(mem_info));
}

/* The page that is missing, and an address in it. */
#define PAGE_AT		0x11000
#define IN_PAGE		(PAGE_AT + 0x234)

/* The fault suggests one page before the missing page and one after. */
static struct cxib_page_fault missing_page(void)
{
	return (struct cxib_page_fault){
		.subtype = HW_PAGE_FAULT_SUBTYPE_MEMORY, .address = IN_PAGE, .length = FAULT_PAGE,
		.before = FAULT_PAGE, .after = FAULT_PAGE,
	};
}

static void mr_range_ahead_adds_suggested_pages(struct kunit *test)
{
	const struct cxib_page_fault fault = missing_page();
	struct cxib_odp_range range;

	KUNIT_ASSERT_TRUE(test, cxib_pf_mr_range(&fault, 0, U64_MAX, false, &range));
	KUNIT_EXPECT_EQ(test, PAGE_AT, range.address);
	KUNIT_EXPECT_EQ(test, FAULT_PAGE, range.length);
	KUNIT_EXPECT_TRUE(test, range.for_writing);
	KUNIT_ASSERT_TRUE(test, cxib_pf_mr_range(&fault, 0, U64_MAX, true, &range));
	KUNIT_EXPECT_EQ(test, PAGE_AT - FAULT_PAGE, range.address);
	KUNIT_EXPECT_EQ(test, FAULT_PAGE + FAULT_PAGE + FAULT_PAGE, range.length);
}

/*
 * MRs: one inside the page, one that starts in the page before; then one after the page, one before
 * it, and an empty one.
 */
static void mr_range_beyond_mr_is_clamped(struct kunit *test)
{
	const struct cxib_page_fault fault = missing_page();
	const u64 inner = IN_PAGE - 4, inner_length = 0x100, lower = PAGE_AT - FAULT_PAGE / 2;
	struct cxib_odp_range range;

	KUNIT_ASSERT_TRUE(test, cxib_pf_mr_range(&fault, inner, inner_length, true, &range));
	KUNIT_EXPECT_EQ(test, inner, range.address);
	KUNIT_EXPECT_EQ(test, inner_length, range.length);
	KUNIT_ASSERT_TRUE(test, cxib_pf_mr_range(&fault, lower, FAULT_PAGE, true, &range));
	KUNIT_EXPECT_EQ(test, lower, range.address);
	KUNIT_EXPECT_EQ(test, FAULT_PAGE, range.length);
	KUNIT_EXPECT_FALSE(test, cxib_pf_mr_range(&fault, PAGE_AT + FAULT_PAGE, FAULT_PAGE, false,
						  &range));
	KUNIT_EXPECT_FALSE(test, cxib_pf_mr_range(&fault, PAGE_AT - FAULT_PAGE, FAULT_PAGE, false,
						  &range));
	KUNIT_EXPECT_FALSE(test, cxib_pf_mr_range(&fault, PAGE_AT, 0, false, &range));
}

/*
 * The limits apply to whatever the device reports: 4 MiB from the missing page on, 4 MiB before, 4
 * MiB after.
 */
static void mr_range_huge_fault_is_limited(struct kunit *test)
{
	const u64 last_page = round_down(U64_MAX, FAULT_PAGE), low = 5 * FAULT_PAGE;
	struct cxib_page_fault fault = missing_page();
	struct cxib_odp_range range;

	fault.length = MISSING_MAX * FAULT_PAGE;
	fault.before = AHEAD_MAX * FAULT_PAGE;
	fault.after = AHEAD_MAX * FAULT_PAGE;
	fault.address = U64_MAX;
	KUNIT_ASSERT_TRUE(test, cxib_pf_mr_range(&fault, 0, U64_MAX, true, &range));
	KUNIT_EXPECT_EQ(test, last_page - SZ_4M, range.address);
	/* An MR of U64_MAX bytes ends before the last address. */
	KUNIT_EXPECT_EQ(test, SZ_4M + FAULT_PAGE - 1, range.length);
	KUNIT_EXPECT_FALSE(test, cxib_pf_mr_range(&fault, FAULT_PAGE, FAULT_PAGE, true, &range));
	fault.address = low;
	KUNIT_ASSERT_TRUE(test, cxib_pf_mr_range(&fault, 0, U64_MAX, true, &range));
	KUNIT_EXPECT_EQ(test, 0, range.address);
	KUNIT_EXPECT_EQ(test, low + 2 * SZ_4M, range.length);
}

static struct cxib_pf_wqe *make_wqe(struct kunit *test, u32 opcode, u32 ds)
{
	struct cxib_pf_wqe *wqe = kunit_kzalloc(test, sizeof(*wqe), GFP_KERNEL);
	struct hw_wqe_ctrl_seg *control;

	KUNIT_ASSERT_NOT_NULL(test, wqe);
	control = (void *)wqe->bytes;
	hw_wqe_ctrl_seg_set_opcode(control, opcode);
	hw_wqe_ctrl_seg_set_ds(control, ds);
	wqe->length = sizeof(wqe->bytes);
	return wqe;
}

/* Segments of a WQE: mlx5/qp.h, and get_order_base() of mlx5_ib/wr.c. */
#define CTRL	sizeof(struct hw_wqe_ctrl_seg)
#define RADDR	sizeof(struct hw_wqe_raddr_seg)
#define ATOMIC	sizeof(struct hw_wqe_atomic_seg)
#define XRC	sizeof(struct hw_wqe_xrc_seg)
#define AV	sizeof(struct hw_base_av)

static void data_offset_follows_opcode_segs(struct kunit *test)
{
	static const struct {
		enum ib_qp_type type;
		u32 opcode;
		int first;
	} cases[] = {
		{ IB_QPT_RC, HW_WQE_OPCODE_SEND, CTRL },
		{ IB_QPT_RC, HW_WQE_OPCODE_RDMA_WRITE_IMM, CTRL + RADDR },
		{ IB_QPT_RC, HW_WQE_OPCODE_RDMA_READ, CTRL + RADDR },
		{ IB_QPT_RC, HW_WQE_OPCODE_ATOMIC_FA, CTRL + RADDR + ATOMIC },
		{ IB_QPT_XRC_INI, HW_WQE_OPCODE_RDMA_WRITE, CTRL + XRC + RADDR },
		{ IB_QPT_UD, HW_WQE_OPCODE_SEND, CTRL + AV },
		{ IB_QPT_DRIVER, HW_WQE_OPCODE_RDMA_WRITE, CTRL + AV + RADDR },
		{ IB_QPT_RC, HW_WQE_OPCODE_UMR, -EINVAL },
		{ IB_QPT_RC, HW_WQE_OPCODE_NOP, -EINVAL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cxib_pf_wqe *wqe = make_wqe(test, cases[i].opcode, 8);

		KUNIT_EXPECT_EQ(test, cases[i].first,
				cxib_pf_data_offset(cases[i].type, wqe));
	}
}

/* Operands of masked atomics have the size that opmod names, in whole DS. */
static void data_offset_follows_masked_operand_size(struct kunit *test)
{
	static const struct {
		u32 opcode, opmod;
		int first;
	} cases[] = {
		{ HW_WQE_OPCODE_ATOMIC_MASKED_CS, 0x8, CTRL + RADDR + 16 },
		{ HW_WQE_OPCODE_ATOMIC_MASKED_CS, 0x9, CTRL + RADDR + 32 },
		{ HW_WQE_OPCODE_ATOMIC_MASKED_CS, 0xb, CTRL + RADDR + 128 },
		{ HW_WQE_OPCODE_ATOMIC_MASKED_FA, 0x8, CTRL + RADDR + 16 },
		{ HW_WQE_OPCODE_ATOMIC_MASKED_FA, 0x9, CTRL + RADDR + 16 },
		{ HW_WQE_OPCODE_ATOMIC_MASKED_FA, 0xb, CTRL + RADDR + 64 },
		{ HW_WQE_OPCODE_ATOMIC_MASKED_CS, 0x0, -EINVAL },
		{ HW_WQE_OPCODE_ATOMIC_MASKED_FA, 0xff, -EINVAL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cxib_pf_wqe *wqe = make_wqe(test, cases[i].opcode, 12);

		hw_wqe_ctrl_seg_set_opmod((void *)wqe->bytes, cases[i].opmod);
		KUNIT_EXPECT_EQ(test, cases[i].first, cxib_pf_data_offset(IB_QPT_RC, wqe));
	}
}

/* An extended AV fills the rest of the WQEBB. The DS count gives the length of the WQE. */
static void data_offset_extended_av_fills_wqebb(struct kunit *test)
{
	const u32 ds = 8;
	struct cxib_pf_wqe *wqe = make_wqe(test, HW_WQE_OPCODE_SEND, ds);
	struct hw_wqe_datagram_seg *address = (void *)&wqe->bytes[CTRL];

	hw_av_set_extended(hw_wqe_datagram_seg_av(address), 1);
	KUNIT_EXPECT_EQ(test, CXIB_WQEBB_SIZE, cxib_pf_data_offset(IB_QPT_UD, wqe));
	KUNIT_EXPECT_EQ(test, ds * CXIB_DS_SIZE, wqe->length);
}

static void data_offset_bad_ds_returns_einval(struct kunit *test)
{
	struct cxib_pf_wqe *wqe = make_wqe(test, HW_WQE_OPCODE_SEND, 0);

	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_pf_data_offset(IB_QPT_RC, wqe));
	wqe = make_wqe(test, HW_WQE_OPCODE_SEND, CXIB_DS_PER_WQEBB + 1);
	wqe->length = CXIB_WQEBB_SIZE;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_pf_data_offset(IB_QPT_RC, wqe));
}

/* Keys, addresses and lengths of SGEs and KLMs. The walk must not reach the last ones. */
#define KEY		5
#define OTHER_KEY	6
#define LAST_KEY	7
#define AT		0x1000
#define OTHER_AT	0x2000
#define LAST_AT		0x3000
#define BYTES		0x100
#define INLINE_BYTES	20
#define OTHER_BYTES	0x200

struct ranges {
	unsigned int count;
	struct {
		u32 key;
		u64 address;
		u64 length;
	} range[RANGES_MAX];
};

static int record_range(void *context, u32 key, u64 address, u64 length)
{
	struct ranges *ranges = context;

	if (ranges->count == RANGES_MAX)
		return -ENOMEM;
	ranges->range[ranges->count].key = key;
	ranges->range[ranges->count].address = address;
	ranges->range[ranges->count++].length = length;
	return 0;
}

static struct cxib_pf_wqe *make_sges(struct kunit *test)
{
	struct cxib_pf_wqe *wqe = make_wqe(test, HW_WQE_OPCODE_SEND, 0);
	struct hw_wqe_data_seg *sges = (void *)&wqe->bytes[CTRL];

	hw_wqe_data_seg_pack(&sges[0], 0, BYTES, KEY, AT);
	/* The inline data and their header take two DS. */
	hw_wqe_data_seg_pack(&sges[1], 1, INLINE_BYTES, 0, 0);
	hw_wqe_data_seg_pack(&sges[3], 0, OTHER_BYTES, OTHER_KEY, OTHER_AT);
	hw_wqe_data_seg_pack(&sges[4], 0, 0, HW_SPECIAL_LKEY_TERMINATE_SCATTER_LIST, 0);
	hw_wqe_data_seg_pack(&sges[5], 0, BYTES, LAST_KEY, LAST_AT);
	return wqe;
}

static void walk_sges_stops_at_terminator(struct kunit *test)
{
	struct cxib_pf_wqe *wqe = make_sges(test);
	struct ranges ranges = {};

	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_sges(wqe, CTRL, 0, record_range, &ranges));
	KUNIT_ASSERT_EQ(test, 2, ranges.count);
	KUNIT_EXPECT_EQ(test, KEY, ranges.range[0].key);
	KUNIT_EXPECT_EQ(test, BYTES, ranges.range[0].length);
	KUNIT_EXPECT_EQ(test, OTHER_KEY, ranges.range[1].key);
	KUNIT_EXPECT_EQ(test, OTHER_AT, ranges.range[1].address);
}

/* Committed bytes: the first SGE, the inline data, and a part of the second SGE. */
static void walk_sges_skips_committed_bytes(struct kunit *test)
{
	const u64 part = 0x10, committed = BYTES + INLINE_BYTES + part;
	struct cxib_pf_wqe *wqe = make_sges(test);
	struct ranges ranges = {};

	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_sges(wqe, CTRL, committed, record_range, &ranges));
	KUNIT_ASSERT_EQ(test, 1, ranges.count);
	KUNIT_EXPECT_EQ(test, OTHER_AT + part, ranges.range[0].address);
	KUNIT_EXPECT_EQ(test, OTHER_BYTES - part, ranges.range[0].length);
}

static void walk_sges_byte_count_0_is_2_gib(struct kunit *test)
{
	struct cxib_pf_wqe *wqe = make_wqe(test, HW_WQE_OPCODE_SEND, 2);
	struct ranges ranges = {};

	wqe->length = CTRL + sizeof(struct hw_wqe_data_seg);
	hw_wqe_data_seg_pack((void *)&wqe->bytes[CTRL], 0, 0, KEY, AT);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_sges(wqe, CTRL, BYTES, record_range, &ranges));
	KUNIT_ASSERT_EQ(test, 1, ranges.count);
	KUNIT_EXPECT_EQ(test, AT + BYTES, ranges.range[0].address);
	KUNIT_EXPECT_EQ(test, SZ_2G - BYTES, ranges.range[0].length);
}

/*
 * User space can claim more inline bytes than the WQE has. The driver must not read beyond the WQE.
 */
static void walk_sges_beyond_wqe_is_ignored(struct kunit *test)
{
	struct cxib_pf_wqe *wqe = make_wqe(test, HW_WQE_OPCODE_SEND, 2);
	struct ranges ranges = {};

	/* byte_count of an inline segment has 10 bits. */
	hw_wqe_data_seg_pack((void *)&wqe->bytes[CTRL], 1, GENMASK(9, 0), 0, 0);
	hw_wqe_data_seg_pack((void *)&wqe->bytes[2 * CTRL], 0, BYTES, KEY, AT);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_sges(wqe, CTRL, 0, record_range, &ranges));
	KUNIT_EXPECT_EQ(test, 0, ranges.count);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_sges(wqe, 2 * sizeof(wqe->bytes), 0, record_range,
						   &ranges));
	KUNIT_EXPECT_EQ(test, 0, ranges.count);
}

/*
 * The range covers the last bytes of the first KLM, the second KLM, and the first bytes of the
 * third.
 */
static void walk_klms_range_spans_klms(struct kunit *test)
{
	const u64 start = 0x10000, part = 0x10, middle = 0x80;
	struct ranges ranges = {};
	struct hw_mkc context = {};
	struct hw_klm klms[3];

	hw_mkc_set_start_addr(&context, start);
	hw_mkc_set_access_mode_1_0(&context, HW_MKEY_ACCESS_MODE_KLMS);
	hw_klm_pack(&klms[0], BYTES, KEY, AT);
	hw_klm_pack(&klms[1], middle, OTHER_KEY, OTHER_AT);
	hw_klm_pack(&klms[2], BYTES, LAST_KEY, LAST_AT);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_klms(&context, klms, ARRAY_SIZE(klms),
						   start + BYTES - part, part + middle + part,
						   record_range, &ranges));
	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(klms), ranges.count);
	KUNIT_EXPECT_EQ(test, AT + BYTES - part, ranges.range[0].address);
	KUNIT_EXPECT_EQ(test, part, ranges.range[0].length);
	KUNIT_EXPECT_EQ(test, OTHER_KEY, ranges.range[1].key);
	KUNIT_EXPECT_EQ(test, middle, ranges.range[1].length);
	KUNIT_EXPECT_EQ(test, LAST_AT, ranges.range[2].address);
	KUNIT_EXPECT_EQ(test, part, ranges.range[2].length);
}

/*
 * The range starts in the middle of the second KSM and ends after the list. The length of a KSM is
 * the page size.
 */
static void walk_klms_ksm_uses_page_size(struct kunit *test)
{
	const u64 half = SZ_4K / 2;
	struct ranges ranges = {};
	struct hw_mkc context = {};
	struct hw_klm klms[2];

	hw_mkc_set_access_mode_1_0(&context, HW_MKEY_ACCESS_MODE_KSM);
	hw_mkc_set_log_page_size(&context, ilog2(SZ_4K));
	hw_klm_pack(&klms[0], 0, KEY, 0);
	hw_klm_pack(&klms[1], 0, OTHER_KEY, LAST_AT);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_klms(&context, klms, ARRAY_SIZE(klms),
						   SZ_4K + half, 5 * SZ_4K, record_range, &ranges));
	KUNIT_ASSERT_EQ(test, 1, ranges.count);
	KUNIT_EXPECT_EQ(test, OTHER_KEY, ranges.range[0].key);
	KUNIT_EXPECT_EQ(test, LAST_AT + half, ranges.range[0].address);
	KUNIT_EXPECT_EQ(test, half, ranges.range[0].length);
}

/* QUERY_MKEY returns at least two KLMs: mlx5_ifc.h, query_mkey_out. */
#define KLMS_INLINE	2
#define NUM_KLMS	400
#define KLM_BUDGET	20
#define PDN		0x42

/* The KLM with index i covers 4 KiB and has mkey i << 8 and address i << 16. */
static struct scripted_hca *create_klm_mkey(struct kunit *test, enum hw_mkey_access_mode mode)
{
	struct scripted_hca *scripted = scripted_hca_create(test);
	struct hw_mkc *context = hw_query_mkey_out_memory_key_mkey_entry(scripted->out);
	struct hw_klm *klms = (void *)hw_query_mkey_out_get_bsf0_klm0_pas_mtt0_1(scripted->out);
	unsigned int i;

	hw_mkc_set_access_mode_1_0(context, mode);
	hw_mkc_set_access_mode_4_2(context, mode >> 2);
	hw_mkc_set_log_page_size(context, 12);
	hw_mkc_set_translations_octword_size(context, NUM_KLMS);
	for (i = 0; i < NUM_KLMS; i++)
		hw_klm_pack(&klms[i], SZ_4K, i << 8, i << 16);
	return scripted;
}

/* Walks an mkey that the device has named in a fault. */
static int walk_mkey(struct scripted_hca *scripted, u64 address, u64 length, size_t *budget,
		     struct ranges *ranges)
{
	u32 pdn = CXIB_ANY_PD;

	return cxib_pf_walk_mkey(&scripted->queue, KEY, address, length, budget, &pdn,
				 record_range, ranges);
}

/* Length of an output with @count KLMs. */
static size_t klm_output(size_t count)
{
	return sizeof(struct hw_query_mkey_out) + (count - KLMS_INLINE) * sizeof(struct hw_klm);
}

/* The range covers the KLMs 9 and 10. */
static void walk_mkey_ksm_reads_no_klm_behind_range(struct kunit *test)
{
	struct scripted_hca *scripted = create_klm_mkey(test, HW_MKEY_ACCESS_MODE_KSM);
	struct ranges ranges = {};
	size_t budget = 1000;

	KUNIT_EXPECT_EQ(test, 0, walk_mkey(scripted, 0x9800, SZ_4K, &budget, &ranges));
	KUNIT_EXPECT_EQ(test, klm_output(11), scripted->out_length);
	KUNIT_EXPECT_EQ(test, 1000 - KLMS_INLINE - 11, budget);
	KUNIT_ASSERT_EQ(test, 2, ranges.count);
	KUNIT_EXPECT_EQ(test, 9 << 8, ranges.range[0].key);
	KUNIT_EXPECT_EQ(test, 0x90800, ranges.range[0].address);
	KUNIT_EXPECT_EQ(test, 0x800, ranges.range[0].length);
	KUNIT_EXPECT_EQ(test, 10 << 8, ranges.range[1].key);
}

/* The driver must read all preceding KLMs to find the one with the address. */
static void walk_mkey_klms_reads_on_up_to_range(struct kunit *test)
{
	struct scripted_hca *scripted = create_klm_mkey(test, HW_MKEY_ACCESS_MODE_KLMS);
	struct ranges ranges = {};
	size_t budget = 1000;

	KUNIT_EXPECT_EQ(test, 0, walk_mkey(scripted, SZ_4K, SZ_4K, &budget, &ranges));
	KUNIT_EXPECT_EQ(test, 1, scripted->hca->commands);
	KUNIT_EXPECT_EQ(test, klm_output(KLMS_INLINE), scripted->out_length);
	KUNIT_EXPECT_EQ(test, 0, walk_mkey(scripted, (NUM_KLMS - 1) * SZ_4K, SZ_4K, &budget,
					   &ranges));
	KUNIT_EXPECT_EQ(test, klm_output(NUM_KLMS), scripted->out_length);
	KUNIT_ASSERT_EQ(test, 2, ranges.count);
	KUNIT_EXPECT_EQ(test, 1 << 8, ranges.range[0].key);
	KUNIT_EXPECT_EQ(test, (NUM_KLMS - 1) << 8, ranges.range[1].key);
}

static void walk_mkey_ignores_klms_beyond_budget(struct kunit *test)
{
	struct scripted_hca *scripted = create_klm_mkey(test, HW_MKEY_ACCESS_MODE_KSM);
	struct ranges ranges = {};
	size_t budget = KLM_BUDGET;

	KUNIT_EXPECT_EQ(test, 0, walk_mkey(scripted, KLM_BUDGET * SZ_4K, SZ_4K, &budget, &ranges));
	KUNIT_EXPECT_EQ(test, klm_output(KLM_BUDGET - KLMS_INLINE), scripted->out_length);
	KUNIT_EXPECT_EQ(test, 0, budget);
	KUNIT_EXPECT_EQ(test, 2, scripted->hca->commands);
	KUNIT_EXPECT_EQ(test, 0, walk_mkey(scripted, 0, SZ_4K, &budget, &ranges));
	KUNIT_EXPECT_EQ(test, 2, scripted->hca->commands);
	KUNIT_EXPECT_EQ(test, 0, ranges.count);
}

/* KLMs of an mkey must lead to MRs of its PD, and a WQE to mkeys of its QP's PD. */
static void walk_mkey_of_other_pd_is_ignored(struct kunit *test)
{
	struct scripted_hca *scripted = create_klm_mkey(test, HW_MKEY_ACCESS_MODE_KSM);
	struct ranges ranges = {};
	size_t budget = 20;
	u32 pdn = CXIB_ANY_PD;

	hw_mkc_set_pd(hw_query_mkey_out_memory_key_mkey_entry(scripted->out), PDN);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_mkey(&scripted->queue, KEY, 0, SZ_4K, &budget, &pdn,
						   record_range, &ranges));
	KUNIT_EXPECT_EQ(test, PDN, pdn);
	KUNIT_EXPECT_EQ(test, 1, ranges.count);
	pdn = PDN + 1;
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_mkey(&scripted->queue, KEY, 0, SZ_4K, &budget, &pdn,
						   record_range, &ranges));
	KUNIT_EXPECT_EQ(test, 1, ranges.count);
}

/* A WQE may name an mkey that does not exist. NO_RESOURCES has the errno of a failed allocation. */
static void walk_mkey_refused_query_returns_0(struct kunit *test)
{
	struct scripted_hca *scripted = create_klm_mkey(test, HW_MKEY_ACCESS_MODE_KSM);
	struct ranges ranges = {};
	size_t budget = 20;

	scripted->status = HW_COMMAND_STATUS_NO_RESOURCES;
	KUNIT_EXPECT_EQ(test, 0, walk_mkey(scripted, 0, SZ_4K, &budget, &ranges));
	KUNIT_EXPECT_EQ(test, 0, ranges.count);

	scripted->queue.timeout_ms = 20;
	fake_hca_fail(scripted->hca, FAKE_FAULT_NEVER, scripted->hca->commands);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, walk_mkey(scripted, 0, SZ_4K, &budget, &ranges));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(decode_wqe_fault_returns_qpn_and_wqe_index),
	KUNIT_CASE(decode_rdma_fault_returns_rkey_and_address),
	KUNIT_CASE(decode_unknown_subtype_returns_false),
	KUNIT_CASE(decode_memory_fault_returns_mkey_and_pages),
	KUNIT_CASE(decode_memory_fault_without_pages_returns_one_page),
	KUNIT_CASE(page_fault_resume_uses_format_of_subtype),
	KUNIT_CASE(mr_range_ahead_adds_suggested_pages),
	KUNIT_CASE(mr_range_beyond_mr_is_clamped),
	KUNIT_CASE(mr_range_huge_fault_is_limited),
	KUNIT_CASE(data_offset_follows_opcode_segs),
	KUNIT_CASE(data_offset_follows_masked_operand_size),
	KUNIT_CASE(data_offset_extended_av_fills_wqebb),
	KUNIT_CASE(data_offset_bad_ds_returns_einval),
	KUNIT_CASE(walk_sges_stops_at_terminator),
	KUNIT_CASE(walk_sges_skips_committed_bytes),
	KUNIT_CASE(walk_sges_byte_count_0_is_2_gib),
	KUNIT_CASE(walk_sges_beyond_wqe_is_ignored),
	KUNIT_CASE(walk_klms_range_spans_klms),
	KUNIT_CASE(walk_klms_ksm_uses_page_size),
	KUNIT_CASE(walk_mkey_ksm_reads_no_klm_behind_range),
	KUNIT_CASE(walk_mkey_klms_reads_on_up_to_range),
	KUNIT_CASE(walk_mkey_ignores_klms_beyond_budget),
	KUNIT_CASE(walk_mkey_refused_query_returns_0),
	KUNIT_CASE(walk_mkey_of_other_pd_is_ignored),
	{}
};

static struct kunit_suite suite = {
	.name = "odp_fault",
	.test_cases = cases,
};

kunit_test_suite(suite);
