// SPDX-License-Identifier: GPL-2.0-only
/* Page faults: what their events say, and which memory belongs to a work request. */
#include <kunit/test.h>

#include "hw/commands_memory.h"
#include "hw/contexts.h"
#include "hw/page_faults.h"
#include "hw/work_queue.h"
#include "scripted_hca.h"
#include "verbs/odp/odp.h"
#include "verbs/odp/odp_fault.h"

#define TOKEN_OFFSET	0xc
#define RANGES_MAX	4

static void a_fault_of_a_request_names_the_request(struct kunit *test)
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
	/* The rest of the word is not the token's. */
	event->dw[TOKEN_OFFSET / sizeof(__be32)] = cpu_to_be32(0xff123456);
	KUNIT_ASSERT_TRUE(test, cxib_page_fault_decode(&entry, &fault));
	KUNIT_EXPECT_EQ(test, HW_PAGE_FAULT_FLAGS_REQUESTOR, fault.operation);
	KUNIT_EXPECT_EQ(test, 0x123456, fault.token);
	KUNIT_EXPECT_EQ(test, 0x777777, fault.queue);
	KUNIT_EXPECT_EQ(test, 0x100, fault.bytes_committed);
	KUNIT_EXPECT_EQ(test, 0x80, fault.packet_size);
	KUNIT_EXPECT_EQ(test, 0x1234, fault.wqe_index);
}

static void a_fault_of_the_peer_names_the_memory(struct kunit *test)
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

static void a_fault_of_another_form_is_none(struct kunit *test)
{
	struct cxib_page_fault fault;
	struct hw_eqe entry = {};

	hw_eqe_set_event_sub_type(&entry, HW_PAGE_FAULT_SUBTYPE_MEMORY + 1);
	KUNIT_EXPECT_FALSE(test, cxib_page_fault_decode(&entry, &fault));
	hw_eqe_set_event_sub_type(&entry, 0xff);
	KUNIT_EXPECT_FALSE(test, cxib_page_fault_decode(&entry, &fault));
}

static void a_fault_of_memory_names_the_key_and_its_pages(struct kunit *test)
{
	struct hw_eqe entry = {};
	struct hw_memory_page_fault_event *event =
		hw_eqe_event_data_memory_page_fault_event(&entry);
	struct cxib_page_fault fault;

	hw_eqe_set_event_sub_type(&entry, HW_PAGE_FAULT_SUBTYPE_MEMORY);
	event->dw[0] = cpu_to_be32(0x80000003);
	event->dw[1] = cpu_to_be32(0x00021234);
	event->dw[2] = cpu_to_be32(0xcafe5678);
	/* What is below a page is of no account. */
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

static void a_fault_of_memory_lacks_a_page_at_least(struct kunit *test)
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

static void faults_are_answered_in_their_form(struct kunit *test)
{
	struct scripted_hca *scripted = scripted_hca_create(test);
	const struct cxib_page_fault of_request = {
		.subtype = HW_PAGE_FAULT_SUBTYPE_WQE, .operation = HW_PAGE_FAULT_FLAGS_WRITE,
		.token = 0x123456, .queue = 0x777777,
	};
	const struct cxib_page_fault of_memory = {
		.subtype = HW_PAGE_FAULT_SUBTYPE_MEMORY, .token = 0x1234cafe5678ULL,
	};
	const __be32 *in = scripted->in;

	KUNIT_EXPECT_EQ(test, 0, cxib_cmd_page_fault_resume(&scripted->queue, &of_request, true));
	KUNIT_EXPECT_EQ(test, 0x82777777, be32_to_cpu(in[2]));
	KUNIT_EXPECT_EQ(test, 0x00123456, be32_to_cpu(in[3]));
	KUNIT_EXPECT_EQ(test, 0, cxib_cmd_page_fault_resume(&scripted->queue, &of_memory, false));
	KUNIT_EXPECT_EQ(test, 0x00001234, be32_to_cpu(in[2]));
	KUNIT_EXPECT_EQ(test, 0xcafe5678, be32_to_cpu(in[3]));
	KUNIT_EXPECT_EQ(test, 0, cxib_cmd_page_fault_resume(&scripted->queue, &of_memory, true));
	KUNIT_EXPECT_EQ(test, 0x80001234, be32_to_cpu(in[2]));
}

/* Of one page at 0x11000, with one more around it on either side. */
static struct cxib_page_fault missing_page(void)
{
	return (struct cxib_page_fault){
		.subtype = HW_PAGE_FAULT_SUBTYPE_MEMORY, .address = 0x11234, .length = 0x1000,
		.before = 0x1000, .after = 0x1000,
	};
}

static void pages_come_in_with_their_neighbours(struct kunit *test)
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

static void pages_come_in_as_far_as_the_region_goes(struct kunit *test)
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

/* Whatever a device says, a fault brings in some megabytes, the missing page among them. */
static void lies_about_pages_end_with_the_address_space(struct kunit *test)
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

static struct cxib_pf_wqe *make_request(struct kunit *test, u32 opcode, u32 ds)
{
	struct cxib_pf_wqe *request = kunit_kzalloc(test, sizeof(*request), GFP_KERNEL);
	struct hw_wqe_ctrl_seg *control;

	KUNIT_ASSERT_NOT_NULL(test, request);
	control = (void *)request->bytes;
	hw_wqe_ctrl_seg_set_opcode(control, opcode);
	hw_wqe_ctrl_seg_set_ds(control, ds);
	request->length = sizeof(request->bytes);
	return request;
}

static void data_begins_behind_what_the_operation_needs(struct kunit *test)
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
		struct cxib_pf_wqe *request = make_request(test, cases[i].opcode, 8);

		KUNIT_EXPECT_EQ(test, cases[i].first,
				cxib_pf_data_offset(cases[i].type, request));
	}
}

static void a_whole_address_is_longer(struct kunit *test)
{
	struct cxib_pf_wqe *request = make_request(test, HW_WQE_OPCODE_SEND, 8);
	struct hw_wqe_datagram_seg *address = (void *)&request->bytes[16];

	hw_av_set_extended(hw_wqe_datagram_seg_av(address), 1);
	KUNIT_EXPECT_EQ(test, 64, cxib_pf_data_offset(IB_QPT_UD, request));
	KUNIT_EXPECT_EQ(test, 128, request->length);
}

static void a_request_has_the_length_of_one(struct kunit *test)
{
	struct cxib_pf_wqe *request = make_request(test, HW_WQE_OPCODE_SEND, 0);

	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_pf_data_offset(IB_QPT_RC, request));
	request = make_request(test, HW_WQE_OPCODE_SEND, 5);
	request->length = 64;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_pf_data_offset(IB_QPT_RC, request));
}

struct ranges {
	unsigned int count;
	struct {
		u32 key;
		u64 address;
		u64 length;
	} range[RANGES_MAX];
};

static int note(void *context, u32 key, u64 address, u64 length)
{
	struct ranges *ranges = context;

	if (ranges->count == RANGES_MAX)
		return -ENOMEM;
	ranges->range[ranges->count].key = key;
	ranges->range[ranges->count].address = address;
	ranges->range[ranges->count++].length = length;
	return 0;
}

static struct cxib_pf_wqe *make_segments(struct kunit *test)
{
	struct cxib_pf_wqe *request = make_request(test, HW_WQE_OPCODE_SEND, 0);
	struct hw_wqe_data_seg *segments = (void *)&request->bytes[16];

	hw_wqe_data_seg_pack(&segments[0], 0, 0x100, 5, 0x1000);
	/* 20 bytes and the word before them take two octwords. */
	hw_wqe_data_seg_pack(&segments[1], 1, 20, 0, 0);
	hw_wqe_data_seg_pack(&segments[3], 0, 0x200, 6, 0x2000);
	hw_wqe_data_seg_pack(&segments[4], 0, 0, HW_SPECIAL_LKEY_TERMINATE_SCATTER_LIST, 0);
	hw_wqe_data_seg_pack(&segments[5], 0, 0x300, 7, 0x3000);
	return request;
}

static void memory_ends_with_the_list(struct kunit *test)
{
	struct cxib_pf_wqe *request = make_segments(test);
	struct ranges ranges = {};

	KUNIT_EXPECT_EQ(test, 0, cxib_pf_for_each_sge(request, 16, 0, note, &ranges));
	KUNIT_ASSERT_EQ(test, 2, ranges.count);
	KUNIT_EXPECT_EQ(test, 5, ranges.range[0].key);
	KUNIT_EXPECT_EQ(test, 0x100, ranges.range[0].length);
	KUNIT_EXPECT_EQ(test, 6, ranges.range[1].key);
	KUNIT_EXPECT_EQ(test, 0x2000, ranges.range[1].address);
}

/* Of 0x100 + 20 + 0x200 bytes the first 0x100 + 20 + 0x10 are done. */
static void what_is_done_is_passed_over(struct kunit *test)
{
	struct cxib_pf_wqe *request = make_segments(test);
	struct ranges ranges = {};

	KUNIT_EXPECT_EQ(test, 0, cxib_pf_for_each_sge(request, 16, 0x100 + 20 + 0x10, note,
						      &ranges));
	KUNIT_ASSERT_EQ(test, 1, ranges.count);
	KUNIT_EXPECT_EQ(test, 0x2010, ranges.range[0].address);
	KUNIT_EXPECT_EQ(test, 0x1f0, ranges.range[0].length);
}

static void a_segment_without_bytes_carries_the_most(struct kunit *test)
{
	struct cxib_pf_wqe *request = make_request(test, HW_WQE_OPCODE_SEND, 2);
	struct ranges ranges = {};

	request->length = 32;
	hw_wqe_data_seg_pack((void *)&request->bytes[16], 0, 0, 5, 0x1000);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_for_each_sge(request, 16, 0x100, note, &ranges));
	KUNIT_ASSERT_EQ(test, 1, ranges.count);
	KUNIT_EXPECT_EQ(test, 0x1100, ranges.range[0].address);
	KUNIT_EXPECT_EQ(test, 0x7fffff00, ranges.range[0].length);
}

/* A program that says that a segment carries more than there is reads nothing of others. */
static void segments_beyond_the_request_are_none(struct kunit *test)
{
	struct cxib_pf_wqe *request = make_request(test, HW_WQE_OPCODE_SEND, 2);
	struct ranges ranges = {};

	hw_wqe_data_seg_pack((void *)&request->bytes[16], 1, 0x3ff, 0, 0);
	hw_wqe_data_seg_pack((void *)&request->bytes[32], 0, 0x100, 5, 0x1000);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_for_each_sge(request, 16, 0, note, &ranges));
	KUNIT_EXPECT_EQ(test, 0, ranges.count);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_for_each_sge(request, 5000, 0, note, &ranges));
	KUNIT_EXPECT_EQ(test, 0, ranges.count);
}

static void pieces_of_a_key_are_found(struct kunit *test)
{
	struct ranges ranges = {};
	struct hw_mkc context = {};
	struct hw_klm klms[3];

	hw_mkc_set_start_addr(&context, 0x10000);
	hw_mkc_set_access_mode_1_0(&context, HW_MKEY_ACCESS_MODE_KLMS);
	hw_klm_pack(&klms[0], 0x100, 5, 0x1000);
	hw_klm_pack(&klms[1], 0x80, 6, 0x2000);
	hw_klm_pack(&klms[2], 0x100, 7, 0x3000);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_for_each_klm(&context, klms, ARRAY_SIZE(klms),
						      0x100f0, 0xa0, note, &ranges));
	KUNIT_ASSERT_EQ(test, 3, ranges.count);
	KUNIT_EXPECT_EQ(test, 0x10f0, ranges.range[0].address);
	KUNIT_EXPECT_EQ(test, 0x10, ranges.range[0].length);
	KUNIT_EXPECT_EQ(test, 6, ranges.range[1].key);
	KUNIT_EXPECT_EQ(test, 0x80, ranges.range[1].length);
	KUNIT_EXPECT_EQ(test, 0x3000, ranges.range[2].address);
	KUNIT_EXPECT_EQ(test, 0x10, ranges.range[2].length);
}

static void pieces_of_one_length_are_found(struct kunit *test)
{
	struct ranges ranges = {};
	struct hw_mkc context = {};
	struct hw_klm klms[2];

	hw_mkc_set_access_mode_1_0(&context, HW_MKEY_ACCESS_MODE_KSM);
	hw_mkc_set_log_page_size(&context, 12);
	hw_klm_pack(&klms[0], 0, 5, 0);
	hw_klm_pack(&klms[1], 0, 6, 0x7000);
	KUNIT_EXPECT_EQ(test, 0, cxib_pf_for_each_klm(&context, klms, ARRAY_SIZE(klms),
						      0x1800, 0x5000, note, &ranges));
	KUNIT_ASSERT_EQ(test, 1, ranges.count);
	KUNIT_EXPECT_EQ(test, 6, ranges.range[0].key);
	KUNIT_EXPECT_EQ(test, 0x7800, ranges.range[0].address);
	KUNIT_EXPECT_EQ(test, 0x800, ranges.range[0].length);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_fault_of_a_request_names_the_request),
	KUNIT_CASE(a_fault_of_the_peer_names_the_memory),
	KUNIT_CASE(a_fault_of_another_form_is_none),
	KUNIT_CASE(a_fault_of_memory_names_the_key_and_its_pages),
	KUNIT_CASE(a_fault_of_memory_lacks_a_page_at_least),
	KUNIT_CASE(faults_are_answered_in_their_form),
	KUNIT_CASE(pages_come_in_with_their_neighbours),
	KUNIT_CASE(pages_come_in_as_far_as_the_region_goes),
	KUNIT_CASE(lies_about_pages_end_with_the_address_space),
	KUNIT_CASE(data_begins_behind_what_the_operation_needs),
	KUNIT_CASE(a_whole_address_is_longer),
	KUNIT_CASE(a_request_has_the_length_of_one),
	KUNIT_CASE(memory_ends_with_the_list),
	KUNIT_CASE(what_is_done_is_passed_over),
	KUNIT_CASE(a_segment_without_bytes_carries_the_most),
	KUNIT_CASE(segments_beyond_the_request_are_none),
	KUNIT_CASE(pieces_of_a_key_are_found),
	KUNIT_CASE(pieces_of_one_length_are_found),
	{}
};

static struct kunit_suite suite = {
	.name = "odp_fault",
	.test_cases = cases,
};

kunit_test_suite(suite);
