// SPDX-License-Identifier: GPL-2.0-only
/* Page faults: decoding their events, and the memory of the WQE that they name. */
#include <kunit/test.h>

#include "hw/commands_memory.h"
#include "hw/contexts.h"
#include "hw/page_faults.h"
#include "hw/work_queue.h"
#include "scripted_hca.h"
#include "verbs/odp/odp.h"
#include "verbs/odp/odp_fault.h"

#define TOKEN_BYTE	0xc
#define RANGES_MAX	4

static void decode_wqe_fault_returns_qpn_and_wqe_index(struct kunit *test)
{
	struct hw_eqe entry = {};
	struct hw_wqe_associated_page_fault_event *event =
		hw_eqe_event_data_wqe_associated_page_fault_event(&entry);
	struct cxib_page_fault fault;

	hw_eqe_set_event_sub_type(&entry, HW_PAGE_FAULT_SUBTYPE_WQE);
	hw_wqe_associated_page_fault_event_set_bytes_committed(event, 0x100);
	hw_wqe_associated_page_fault_event_set_wqe_index(event, 0x1234);
	hw_wqe_associated_page_fault_event_set_len(event, 0x80);
	hw_wqe_associated_page_fault_event_set_requestor(event, 1);
	hw_wqe_associated_page_fault_event_set_qpn(event, 0x777777);
	/* The high byte of the word is not part of the token. */
	event->dw[TOKEN_BYTE / sizeof(__be32)] = cpu_to_be32(0xff123456);
	KUNIT_ASSERT_TRUE(test, cxib_page_fault_decode(&entry, &fault));
	KUNIT_EXPECT_EQ(test, HW_PAGE_FAULT_FLAGS_REQUESTOR, fault.operation);
	KUNIT_EXPECT_EQ(test, 0x123456, fault.token);
	KUNIT_EXPECT_EQ(test, 0x777777, fault.queue);
	KUNIT_EXPECT_EQ(test, 0x100, fault.bytes_committed);
	KUNIT_EXPECT_EQ(test, 0x80, fault.packet_size);
	KUNIT_EXPECT_EQ(test, 0x1234, fault.wqe_index);
}

static void decode_rdma_fault_returns_rkey_and_address(struct kunit *test)
{
	struct hw_eqe entry = {};
	struct hw_rdma_page_fault_event *event = hw_eqe_event_data_rdma_page_fault_event(&entry);
	struct cxib_page_fault fault;

	hw_eqe_set_event_sub_type(&entry, HW_PAGE_FAULT_SUBTYPE_RDMA);
	hw_rdma_page_fault_event_set_r_key(event, 0x1207);
	hw_rdma_page_fault_event_set_rdma_op_len(event, 0x2000);
	hw_rdma_page_fault_event_set_rdma_va(event, 0xdeadbeef000ULL);
	hw_rdma_page_fault_event_set_rdma(event, 1);
	hw_rdma_page_fault_event_set_write(event, 1);
	hw_rdma_page_fault_event_set_qp_number(event, 0x42);
	KUNIT_ASSERT_TRUE(test, cxib_page_fault_decode(&entry, &fault));
	KUNIT_EXPECT_EQ(test, HW_PAGE_FAULT_FLAGS_RDMA | HW_PAGE_FAULT_FLAGS_WRITE,
			fault.operation);
	KUNIT_EXPECT_EQ(test, 0x42, fault.token);
	KUNIT_EXPECT_EQ(test, 0x42, fault.queue);
	KUNIT_EXPECT_EQ(test, 0x1207, fault.key);
	KUNIT_EXPECT_EQ(test, 0x2000, fault.length);
	KUNIT_EXPECT_EQ(test, 0xdeadbeef000ULL, fault.address);
}

static void decode_unknown_subtype_returns_false(struct kunit *test)
{
	struct cxib_page_fault fault;
	struct hw_eqe entry = {};

	hw_eqe_set_event_sub_type(&entry, HW_PAGE_FAULT_SUBTYPE_MEMORY + 1);
	KUNIT_EXPECT_FALSE(test, cxib_page_fault_decode(&entry, &fault));
	hw_eqe_set_event_sub_type(&entry, 0xff);
	KUNIT_EXPECT_FALSE(test, cxib_page_fault_decode(&entry, &fault));
}

static void decode_memory_fault_returns_mkey_and_pages(struct kunit *test)
{
	struct hw_eqe entry = {};
	struct hw_memory_page_fault_event *event =
		hw_eqe_event_data_memory_page_fault_event(&entry);
	struct cxib_page_fault fault;

	hw_eqe_set_event_sub_type(&entry, HW_PAGE_FAULT_SUBTYPE_MEMORY);
	event->dw[0] = cpu_to_be32(0x80000003);
	event->dw[1] = cpu_to_be32(0x00021234);
	event->dw[2] = cpu_to_be32(0xcafe5678);
	/* Bits below the page size are ignored. */
	event->dw[3] = cpu_to_be32(0x00005fff);
	event->dw[4] = cpu_to_be32(0x1207);
	event->dw[5] = cpu_to_be32(0x00007f12);
	event->dw[6] = cpu_to_be32(0x34567890);
	KUNIT_ASSERT_TRUE(test, cxib_page_fault_decode(&entry, &fault));
	KUNIT_EXPECT_TRUE(test, fault.last);
	KUNIT_EXPECT_EQ(test, 0x1234cafe5678ULL, fault.token);
	KUNIT_EXPECT_EQ(test, 0x1207, fault.key);
	KUNIT_EXPECT_EQ(test, 0x7f1234567890ULL, fault.address);
	KUNIT_EXPECT_EQ(test, 0x5000, fault.length);
	KUNIT_EXPECT_EQ(test, 0x2000, fault.before);
	KUNIT_EXPECT_EQ(test, 0x3000, fault.after);
}

static void decode_memory_fault_without_pages_returns_one_page(struct kunit *test)
{
	struct hw_eqe entry = {};
	struct cxib_page_fault fault;

	hw_eqe_set_event_sub_type(&entry, HW_PAGE_FAULT_SUBTYPE_MEMORY);
	KUNIT_ASSERT_TRUE(test, cxib_page_fault_decode(&entry, &fault));
	KUNIT_EXPECT_FALSE(test, fault.last);
	KUNIT_EXPECT_EQ(test, 0x1000, fault.length);
	memset(hw_eqe_event_data_memory_page_fault_event(&entry), 0xff,
	       sizeof(struct hw_memory_page_fault_event));
	KUNIT_ASSERT_TRUE(test, cxib_page_fault_decode(&entry, &fault));
	KUNIT_EXPECT_EQ(test, 0xfffff000, fault.length);
	KUNIT_EXPECT_EQ(test, 0x0ffff000, fault.before);
	KUNIT_EXPECT_EQ(test, 0x0ffff000, fault.after);
}

static void page_fault_resume_uses_format_of_subtype(struct kunit *test)
{
	struct scripted_hca *scripted = scripted_hca_create(test);
	const struct cxib_page_fault wqe_fault = {
		.subtype = HW_PAGE_FAULT_SUBTYPE_WQE, .operation = HW_PAGE_FAULT_FLAGS_WRITE,
		.token = 0x123456, .queue = 0x777777,
	};
	const struct cxib_page_fault mem_fault = {
		.subtype = HW_PAGE_FAULT_SUBTYPE_MEMORY, .token = 0x1234cafe5678ULL,
	};
	const __be32 *in = scripted->in;

	KUNIT_EXPECT_EQ(test, 0, cxib_cmd_page_fault_resume(&scripted->queue, &wqe_fault, true));
	KUNIT_EXPECT_EQ(test, 0x82777777, be32_to_cpu(in[2]));
	KUNIT_EXPECT_EQ(test, 0x00123456, be32_to_cpu(in[3]));
	KUNIT_EXPECT_EQ(test, 0, cxib_cmd_page_fault_resume(&scripted->queue, &mem_fault, false));
	KUNIT_EXPECT_EQ(test, 0x00001234, be32_to_cpu(in[2]));
	KUNIT_EXPECT_EQ(test, 0xcafe5678, be32_to_cpu(in[3]));
	KUNIT_EXPECT_EQ(test, 0, cxib_cmd_page_fault_resume(&scripted->queue, &mem_fault, true));
	KUNIT_EXPECT_EQ(test, 0x80001234, be32_to_cpu(in[2]));
}

/* One missing page at 0x11000, with one suggested page before and one after. */
static struct cxib_page_fault missing_page(void)
{
	return (struct cxib_page_fault){
		.subtype = HW_PAGE_FAULT_SUBTYPE_MEMORY, .address = 0x11234, .length = 0x1000,
		.before = 0x1000, .after = 0x1000,
	};
}

static void mr_range_ahead_adds_suggested_pages(struct kunit *test)
{
	const struct cxib_page_fault fault = missing_page();
	struct cxib_odp_range range;

	KUNIT_ASSERT_TRUE(test, cxib_pf_mr_range(&fault, 0, U64_MAX, false, &range));
	KUNIT_EXPECT_EQ(test, 0x11000, range.address);
	KUNIT_EXPECT_EQ(test, 0x1000, range.length);
	KUNIT_EXPECT_TRUE(test, range.for_writing);
	KUNIT_ASSERT_TRUE(test, cxib_pf_mr_range(&fault, 0, U64_MAX, true, &range));
	KUNIT_EXPECT_EQ(test, 0x10000, range.address);
	KUNIT_EXPECT_EQ(test, 0x3000, range.length);
}

static void mr_range_beyond_mr_is_clamped(struct kunit *test)
{
	const struct cxib_page_fault fault = missing_page();
	struct cxib_odp_range range;

	KUNIT_ASSERT_TRUE(test, cxib_pf_mr_range(&fault, 0x11230, 0x100, true, &range));
	KUNIT_EXPECT_EQ(test, 0x11230, range.address);
	KUNIT_EXPECT_EQ(test, 0x100, range.length);
	KUNIT_ASSERT_TRUE(test, cxib_pf_mr_range(&fault, 0x10800, 0x1000, true, &range));
	KUNIT_EXPECT_EQ(test, 0x10800, range.address);
	KUNIT_EXPECT_EQ(test, 0x1000, range.length);
	KUNIT_EXPECT_FALSE(test, cxib_pf_mr_range(&fault, 0x12000, 0x1000, false, &range));
	KUNIT_EXPECT_FALSE(test, cxib_pf_mr_range(&fault, 0x10000, 0x1000, false, &range));
	KUNIT_EXPECT_FALSE(test, cxib_pf_mr_range(&fault, 0x11000, 0, false, &range));
}

/* Whatever the device reports, a fault is limited to megabytes around the missing page. */
static void mr_range_huge_fault_is_limited(struct kunit *test)
{
	struct cxib_page_fault fault = missing_page();
	struct cxib_odp_range range;

	fault.length = 0xfffff000;
	fault.before = 0x0ffff000;
	fault.after = 0x0ffff000;
	fault.address = U64_MAX;
	KUNIT_ASSERT_TRUE(test, cxib_pf_mr_range(&fault, 0, U64_MAX, true, &range));
	KUNIT_EXPECT_EQ(test, U64_MAX - 0xfff - SZ_4M, range.address);
	KUNIT_EXPECT_EQ(test, SZ_4M + 0xfff, range.length);
	KUNIT_EXPECT_FALSE(test, cxib_pf_mr_range(&fault, 0x1000, 0x1000, true, &range));
	fault.address = 0x5000;
	KUNIT_ASSERT_TRUE(test, cxib_pf_mr_range(&fault, 0, U64_MAX, true, &range));
	KUNIT_EXPECT_EQ(test, 0, range.address);
	KUNIT_EXPECT_EQ(test, 0x5000 + 2 * SZ_4M, range.length);
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

static void data_offset_follows_opcode_segs(struct kunit *test)
{
	static const struct {
		enum ib_qp_type type;
		u32 opcode;
		int first;
	} cases[] = {
		{ IB_QPT_RC, HW_WQE_OPCODE_SEND, 16 },
		{ IB_QPT_RC, HW_WQE_OPCODE_RDMA_WRITE_IMM, 32 },
		{ IB_QPT_RC, HW_WQE_OPCODE_RDMA_READ, 32 },
		{ IB_QPT_RC, HW_WQE_OPCODE_ATOMIC_FA, 48 },
		{ IB_QPT_RC, HW_WQE_OPCODE_ATOMIC_MASKED_CS, 64 },
		{ IB_QPT_XRC_INI, HW_WQE_OPCODE_RDMA_WRITE, 48 },
		{ IB_QPT_UD, HW_WQE_OPCODE_SEND, 32 },
		{ IB_QPT_DRIVER, HW_WQE_OPCODE_RDMA_WRITE, 48 },
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

static void data_offset_extended_av_is_64(struct kunit *test)
{
	struct cxib_pf_wqe *wqe = make_wqe(test, HW_WQE_OPCODE_SEND, 8);
	struct hw_wqe_datagram_seg *address = (void *)&wqe->bytes[16];

	hw_av_set_extended(hw_wqe_datagram_seg_av(address), 1);
	KUNIT_EXPECT_EQ(test, 64, cxib_pf_data_offset(IB_QPT_UD, wqe));
	KUNIT_EXPECT_EQ(test, 128, wqe->length);
}

static void data_offset_bad_ds_returns_einval(struct kunit *test)
{
	struct cxib_pf_wqe *wqe = make_wqe(test, HW_WQE_OPCODE_SEND, 0);

	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_pf_data_offset(IB_QPT_RC, wqe));
	wqe = make_wqe(test, HW_WQE_OPCODE_SEND, 5);
	wqe->length = 64;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_pf_data_offset(IB_QPT_RC, wqe));
}

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
	struct hw_wqe_data_seg *sges = (void *)&wqe->bytes[16];

	hw_wqe_data_seg_pack(&sges[0], 0, 0x100, 5, 0x1000);
	/* 20 bytes and the inline header take two DS. */
	hw_wqe_data_seg_pack(&sges[1], 1, 20, 0, 0);
	hw_wqe_data_seg_pack(&sges[3], 0, 0x200, 6, 0x2000);
	hw_wqe_data_seg_pack(&sges[4], 0, 0, HW_SPECIAL_LKEY_TERMINATE_SCATTER_LIST, 0);
	hw_wqe_data_seg_pack(&sges[5], 0, 0x300, 7, 0x3000);
	return wqe;
}

static void walk_sges_stops_at_terminator(struct kunit *test)
{
	struct cxib_pf_wqe *wqe = make_sges(test);
	struct ranges ranges = {};

	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_sges(wqe, 16, 0, record_range, &ranges));
	KUNIT_ASSERT_EQ(test, 2, ranges.count);
	KUNIT_EXPECT_EQ(test, 5, ranges.range[0].key);
	KUNIT_EXPECT_EQ(test, 0x100, ranges.range[0].length);
	KUNIT_EXPECT_EQ(test, 6, ranges.range[1].key);
	KUNIT_EXPECT_EQ(test, 0x2000, ranges.range[1].address);
}

/* Of 0x100 + 20 + 0x200 bytes the first 0x100 + 20 + 0x10 are committed. */
static void walk_sges_skips_committed_bytes(struct kunit *test)
{
	struct cxib_pf_wqe *wqe = make_sges(test);
	struct ranges ranges = {};

	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_sges(wqe, 16, 0x100 + 20 + 0x10, record_range,
						   &ranges));
	KUNIT_ASSERT_EQ(test, 1, ranges.count);
	KUNIT_EXPECT_EQ(test, 0x2010, ranges.range[0].address);
	KUNIT_EXPECT_EQ(test, 0x1f0, ranges.range[0].length);
}

static void walk_sges_byte_count_0_is_2_gib(struct kunit *test)
{
	struct cxib_pf_wqe *wqe = make_wqe(test, HW_WQE_OPCODE_SEND, 2);
	struct ranges ranges = {};

	wqe->length = 32;
	hw_wqe_data_seg_pack((void *)&wqe->bytes[16], 0, 0, 5, 0x1000);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_sges(wqe, 16, 0x100, record_range, &ranges));
	KUNIT_ASSERT_EQ(test, 1, ranges.count);
	KUNIT_EXPECT_EQ(test, 0x1100, ranges.range[0].address);
	KUNIT_EXPECT_EQ(test, 0x7fffff00, ranges.range[0].length);
}

/* User space can claim more inline bytes than the WQE has: nothing beyond is read. */
static void walk_sges_beyond_wqe_is_ignored(struct kunit *test)
{
	struct cxib_pf_wqe *wqe = make_wqe(test, HW_WQE_OPCODE_SEND, 2);
	struct ranges ranges = {};

	hw_wqe_data_seg_pack((void *)&wqe->bytes[16], 1, 0x3ff, 0, 0);
	hw_wqe_data_seg_pack((void *)&wqe->bytes[32], 0, 0x100, 5, 0x1000);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_sges(wqe, 16, 0, record_range, &ranges));
	KUNIT_EXPECT_EQ(test, 0, ranges.count);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_sges(wqe, 5000, 0, record_range, &ranges));
	KUNIT_EXPECT_EQ(test, 0, ranges.count);
}

static void walk_klms_range_spans_klms(struct kunit *test)
{
	struct ranges ranges = {};
	struct hw_mkc context = {};
	struct hw_klm klms[3];

	hw_mkc_set_start_addr(&context, 0x10000);
	hw_mkc_set_access_mode_1_0(&context, HW_MKEY_ACCESS_MODE_KLMS);
	hw_klm_pack(&klms[0], 0x100, 5, 0x1000);
	hw_klm_pack(&klms[1], 0x80, 6, 0x2000);
	hw_klm_pack(&klms[2], 0x100, 7, 0x3000);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_klms(&context, klms, ARRAY_SIZE(klms),
						   0x100f0, 0xa0, record_range, &ranges));
	KUNIT_ASSERT_EQ(test, 3, ranges.count);
	KUNIT_EXPECT_EQ(test, 0x10f0, ranges.range[0].address);
	KUNIT_EXPECT_EQ(test, 0x10, ranges.range[0].length);
	KUNIT_EXPECT_EQ(test, 6, ranges.range[1].key);
	KUNIT_EXPECT_EQ(test, 0x80, ranges.range[1].length);
	KUNIT_EXPECT_EQ(test, 0x3000, ranges.range[2].address);
	KUNIT_EXPECT_EQ(test, 0x10, ranges.range[2].length);
}

static void walk_klms_ksm_uses_page_size(struct kunit *test)
{
	struct ranges ranges = {};
	struct hw_mkc context = {};
	struct hw_klm klms[2];

	hw_mkc_set_access_mode_1_0(&context, HW_MKEY_ACCESS_MODE_KSM);
	hw_mkc_set_log_page_size(&context, 12);
	hw_klm_pack(&klms[0], 0, 5, 0);
	hw_klm_pack(&klms[1], 0, 6, 0x7000);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_walk_klms(&context, klms, ARRAY_SIZE(klms),
						   0x1800, 0x5000, record_range, &ranges));
	KUNIT_ASSERT_EQ(test, 1, ranges.count);
	KUNIT_EXPECT_EQ(test, 6, ranges.range[0].key);
	KUNIT_EXPECT_EQ(test, 0x7800, ranges.range[0].address);
	KUNIT_EXPECT_EQ(test, 0x800, ranges.range[0].length);
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
	KUNIT_CASE(data_offset_extended_av_is_64),
	KUNIT_CASE(data_offset_bad_ds_returns_einval),
	KUNIT_CASE(walk_sges_stops_at_terminator),
	KUNIT_CASE(walk_sges_skips_committed_bytes),
	KUNIT_CASE(walk_sges_byte_count_0_is_2_gib),
	KUNIT_CASE(walk_sges_beyond_wqe_is_ignored),
	KUNIT_CASE(walk_klms_range_spans_klms),
	KUNIT_CASE(walk_klms_ksm_uses_page_size),
	{}
};

static struct kunit_suite suite = {
	.name = "odp_fault",
	.test_cases = cases,
};

kunit_test_suite(suite);
