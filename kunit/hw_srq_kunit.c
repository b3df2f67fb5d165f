// SPDX-License-Identifier: GPL-2.0-only
/* SRQ commands: their input, and the decoding of their output. */
#include <linux/log2.h>

#include "hw/buffer.h"
#include "hw/commands_receive_queues.h"
#include "hw/contexts.h"
#include "hw/srq.h"
#include "scripted_hca.h"

#define NUMBER		0x4321
#define UID		5
#define PDN		0x123
#define XRCDN		0x321
#define CQN		0x777
#define USER_INDEX	0xabcdef
#define DBR		0x1234567f8ULL
#define LIMIT		9
#define OTHER_LIMIT	17
#define LOG_TAGS	4

/* WQEs of 64 bytes, in a ring of two pages of 4 KiB. */
#define LOG_SIZE	7
#define LOG_STRIDE	6
#define BUFFER_BYTES	BIT(LOG_SIZE + LOG_STRIDE)
#define STRIDE_UNIT	16
#define PAGES		(BUFFER_BYTES / SZ_4K)

static int receive_queues_init(struct kunit *test)
{
	test->priv = scripted_hca_create(test);
	return 0;
}

static void create_rmp_sets_context_and_pas(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_create_rmp_in *in = scripted->in;
	struct hw_wq *described = hw_rmpc_wq(hw_create_rmp_in_ctx(in));
	const __be64 *addresses = (const __be64 *)(in + 1);
	struct cxib_buffer buffer;
	struct cxib_srq_params params = {
		.buffer = &buffer, .log_size = LOG_SIZE, .log_stride = LOG_STRIDE,
		.pd = PDN, .dbr = DBR,
	};
	u32 number;
	int err;

	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&buffer, scripted->hca->bus.dev, BUFFER_BYTES));
	hw_create_rmp_out_set_rmpn(scripted->out, NUMBER);
	err = cxib_cmd_create_rmp(&scripted->queue, &params, &number);
	KUNIT_EXPECT_EQ(test, 0, err);
	KUNIT_EXPECT_EQ(test, number, NUMBER);
	KUNIT_EXPECT_EQ(test, scripted->in_length, sizeof(*in) + PAGES * sizeof(u64));
	KUNIT_EXPECT_EQ(test, HW_WQ_TYPE_LINKED_LIST, hw_wq_get_wq_type(described));
	KUNIT_EXPECT_EQ(test, LOG_SIZE, hw_wq_get_log_wq_sz(described));
	KUNIT_EXPECT_EQ(test, LOG_STRIDE, hw_wq_get_log_wq_stride(described));
	KUNIT_EXPECT_EQ(test, PDN, hw_wq_get_pd(described));
	KUNIT_EXPECT_EQ(test, DBR, hw_wq_get_dbr_addr(described));
	KUNIT_EXPECT_EQ(test, buffer.pages[0].dma, be64_to_cpu(addresses[0]));
	KUNIT_EXPECT_EQ(test, buffer.pages[1].dma, be64_to_cpu(addresses[1]));
	cxib_buffer_destroy(&buffer, scripted->hca->bus.dev);
}

static void arm_rmp_sets_lwm(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_modify_rmp_in *in = scripted->in;

	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_arm_rmp(&scripted->queue, 0, NUMBER, LIMIT));
	KUNIT_EXPECT_EQ(test, HW_CMD_MODIFY_RMP, hw_modify_rmp_in_get_opcode(in));
	KUNIT_EXPECT_EQ(test, NUMBER, hw_modify_rmp_in_get_rmpn(in));
	KUNIT_EXPECT_EQ(test, 1, hw_rmp_bitmask_get_lwm(hw_modify_rmp_in_bitmask(in)));
	KUNIT_EXPECT_EQ(test, LIMIT, hw_wq_get_lwm(hw_rmpc_wq(hw_modify_rmp_in_ctx(in))));
}

static void query_rmp_returns_lwm(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	u16 limit;

	hw_wq_set_lwm(hw_rmpc_wq(hw_query_rmp_out_rmp_context(scripted->out)), OTHER_LIMIT);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_rmp(&scripted->queue, 0, NUMBER, &limit));
	KUNIT_EXPECT_EQ(test, NUMBER, hw_query_rmp_in_get_rmpn(scripted->in));
	KUNIT_EXPECT_EQ(test, limit, OTHER_LIMIT);
}

static void destroy_rmp_sets_rmpn(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;

	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_destroy_rmp(&scripted->queue, 0, NUMBER));
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_RMP, hw_destroy_rmp_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, NUMBER, hw_destroy_rmp_in_get_rmpn(scripted->in));
}

/*
 * In mlx5_ifc.h db_record_addr_h has bits 63 to 32 of the DBR address and db_record_addr_l bits 31
 * to 2, log_rq_stride counts units of 16 bytes.
 */
static void create_xrc_srq_sets_context_and_pas(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_create_xrc_srq_in *in = scripted->in;
	struct hw_xrc_srqc *described = hw_create_xrc_srq_in_xrc_srq_context_entry(in);
	struct cxib_buffer buffer;
	struct cxib_srq_params params = {
		.buffer = &buffer, .log_size = LOG_SIZE, .log_stride = LOG_STRIDE,
		.pd = PDN, .xrcd = XRCDN,
		.cqn = CQN, .user_index = USER_INDEX, .dbr = DBR,
	};
	u32 number;
	int err;

	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&buffer, scripted->hca->bus.dev, BUFFER_BYTES));
	hw_create_xrc_srq_out_set_xrc_srqn(scripted->out, NUMBER);
	err = cxib_cmd_create_xrc_srq(&scripted->queue, &params, &number);
	KUNIT_EXPECT_EQ(test, 0, err);
	KUNIT_EXPECT_EQ(test, number, NUMBER);
	KUNIT_EXPECT_EQ(test, HW_CMD_CREATE_XRC_SRQ, hw_create_xrc_srq_in_get_opcode(in));
	KUNIT_EXPECT_EQ(test, scripted->in_length, sizeof(*in) + PAGES * sizeof(u64));
	KUNIT_EXPECT_EQ(test, LOG_SIZE, hw_xrc_srqc_get_log_xrc_srq_size(described));
	KUNIT_EXPECT_EQ(test, LOG_STRIDE - ilog2(STRIDE_UNIT),
			hw_xrc_srqc_get_log_rq_stride(described));
	KUNIT_EXPECT_EQ(test, PDN, hw_xrc_srqc_get_pd(described));
	KUNIT_EXPECT_EQ(test, XRCDN, hw_xrc_srqc_get_xrcd(described));
	KUNIT_EXPECT_EQ(test, CQN, hw_xrc_srqc_get_cqn(described));
	KUNIT_EXPECT_EQ(test, USER_INDEX, hw_xrc_srqc_get_user_index(described));
	KUNIT_EXPECT_EQ(test, upper_32_bits(DBR), hw_xrc_srqc_get_db_record_addr_h(described));
	KUNIT_EXPECT_EQ(test, lower_32_bits(DBR) >> 2, hw_xrc_srqc_get_db_record_addr_l(described));
	KUNIT_EXPECT_EQ(test, buffer.pages[0].dma, be64_to_cpu(in->pas[0]));
	KUNIT_EXPECT_EQ(test, buffer.pages[1].dma, be64_to_cpu(in->pas[1]));
	cxib_buffer_destroy(&buffer, scripted->hca->bus.dev);
}

static void xrc_srq_arm_and_query_carry_lwm(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	u16 limit;

	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_arm_xrc_srq(&scripted->queue, 0, NUMBER, LIMIT));
	KUNIT_EXPECT_EQ(test, HW_CMD_ARM_XRC_SRQ, hw_arm_xrc_srq_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, HW_ARM_XRC_SRQ_OP_MOD_XRC_SRQ,
			hw_arm_xrc_srq_in_get_op_mod(scripted->in));
	KUNIT_EXPECT_EQ(test, NUMBER, hw_arm_xrc_srq_in_get_xrc_srqn(scripted->in));
	KUNIT_EXPECT_EQ(test, LIMIT, hw_arm_xrc_srq_in_get_lwm(scripted->in));

	hw_xrc_srqc_set_lwm(hw_query_xrc_srq_out_xrc_srq_context_entry(scripted->out), OTHER_LIMIT);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_xrc_srq(&scripted->queue, 0, NUMBER, &limit));
	KUNIT_EXPECT_EQ(test, HW_CMD_QUERY_XRC_SRQ, hw_query_xrc_srq_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, NUMBER, hw_query_xrc_srq_in_get_xrc_srqn(scripted->in));
	KUNIT_EXPECT_EQ(test, limit, OTHER_LIMIT);
}

static void destroy_xrc_srq_sets_xrc_srqn(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;

	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_destroy_xrc_srq(&scripted->queue, 0, NUMBER));
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_XRC_SRQ,
			hw_destroy_xrc_srq_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, NUMBER, hw_destroy_xrc_srq_in_get_xrc_srqn(scripted->in));
}

static void create_xrq_sets_context_and_pas(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_create_xrq_in *in = scripted->in;
	struct hw_xrqc *described = hw_create_xrq_in_xrq_context(in);
	const struct hw_tag_matching_topology_context *tags =
		hw_xrqc_get_tag_matching_topology_context(described);
	const __be64 *addresses = (const __be64 *)(in + 1);
	struct cxib_buffer buffer;
	struct cxib_srq_params params = {
		.uid = UID, .buffer = &buffer, .log_size = LOG_SIZE, .log_stride = LOG_STRIDE,
		.pd = PDN,
		.cqn = CQN, .user_index = USER_INDEX, .dbr = DBR, .log_tm_list_size = LOG_TAGS,
		.rndv_offload = true,
	};
	u32 number;
	int err;

	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&buffer, scripted->hca->bus.dev, BUFFER_BYTES));
	hw_create_xrq_out_set_xrqn(scripted->out, NUMBER);
	err = cxib_cmd_create_xrq(&scripted->queue, &params, &number);
	KUNIT_EXPECT_EQ(test, 0, err);
	KUNIT_EXPECT_EQ(test, number, NUMBER);
	KUNIT_EXPECT_EQ(test, HW_CMD_CREATE_XRQ, hw_create_xrq_in_get_opcode(in));
	KUNIT_EXPECT_EQ(test, UID, hw_create_xrq_in_get_uid(in));
	KUNIT_EXPECT_EQ(test, scripted->in_length, sizeof(*in) + PAGES * sizeof(u64));
	KUNIT_EXPECT_EQ(test, HW_XRQ_TOPOLOGY_TAG_MATCHING, hw_xrqc_get_topology(described));
	KUNIT_EXPECT_EQ(test, HW_XRQ_OFFLOAD_RNDV, hw_xrqc_get_offload(described));
	KUNIT_EXPECT_EQ(test, LOG_TAGS,
			hw_tag_matching_topology_context_get_log_matching_list_sz(tags));
	KUNIT_EXPECT_EQ(test, CQN, hw_xrqc_get_cqn(described));
	KUNIT_EXPECT_EQ(test, USER_INDEX, hw_xrqc_get_user_index(described));
	KUNIT_EXPECT_EQ(test, HW_WQ_TYPE_LINKED_LIST,
			hw_wq_get_wq_type(hw_xrqc_get_wq(described)));
	KUNIT_EXPECT_EQ(test, LOG_SIZE, hw_wq_get_log_wq_sz(hw_xrqc_get_wq(described)));
	KUNIT_EXPECT_EQ(test, LOG_STRIDE, hw_wq_get_log_wq_stride(hw_xrqc_get_wq(described)));
	KUNIT_EXPECT_EQ(test, PDN, hw_wq_get_pd(hw_xrqc_get_wq(described)));
	KUNIT_EXPECT_EQ(test, DBR, hw_wq_get_dbr_addr(hw_xrqc_get_wq(described)));
	KUNIT_EXPECT_EQ(test, buffer.pages[0].dma, be64_to_cpu(addresses[0]));
	KUNIT_EXPECT_EQ(test, buffer.pages[1].dma, be64_to_cpu(addresses[1]));
	cxib_buffer_destroy(&buffer, scripted->hca->bus.dev);
}

static void xrq_arm_and_query_carry_lwm(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_xrqc *context = hw_query_xrq_out_xrq_context(scripted->out);
	u16 limit;

	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_arm_xrq(&scripted->queue, UID, NUMBER, LIMIT));
	KUNIT_EXPECT_EQ(test, HW_CMD_ARM_RQ, hw_arm_rq_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, HW_ARM_RQ_OP_MOD_XRQ, hw_arm_rq_in_get_op_mod(scripted->in));
	KUNIT_EXPECT_EQ(test, UID, hw_arm_rq_in_get_uid(scripted->in));
	KUNIT_EXPECT_EQ(test, NUMBER, hw_arm_rq_in_get_srq_number(scripted->in));
	KUNIT_EXPECT_EQ(test, LIMIT, hw_arm_rq_in_get_lwm(scripted->in));

	hw_wq_set_lwm(hw_xrqc_wq(context), OTHER_LIMIT);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_xrq(&scripted->queue, UID, NUMBER, &limit));
	KUNIT_EXPECT_EQ(test, HW_CMD_QUERY_XRQ, hw_query_xrq_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, UID, hw_query_xrq_in_get_uid(scripted->in));
	KUNIT_EXPECT_EQ(test, NUMBER, hw_query_xrq_in_get_xrqn(scripted->in));
	KUNIT_EXPECT_EQ(test, limit, OTHER_LIMIT);
}

static void destroy_xrq_sets_xrqn(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;

	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_destroy_xrq(&scripted->queue, UID, NUMBER));
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_XRQ, hw_destroy_xrq_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, UID, hw_destroy_xrq_in_get_uid(scripted->in));
	KUNIT_EXPECT_EQ(test, NUMBER, hw_destroy_xrq_in_get_xrqn(scripted->in));
}

static void srq_cmd_refused_returns_errno(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct cxib_srq_params params = { .log_size = LOG_SIZE, .log_stride = LOG_STRIDE };
	struct cxib_buffer buffer;
	u32 number;
	u16 limit;

	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&buffer, scripted->hca->bus.dev, BUFFER_BYTES));
	params.buffer = &buffer;
	scripted->status = HW_COMMAND_STATUS_EXCEEDS_LIMIT;
	KUNIT_EXPECT_EQ(test, -ENOMEM,
			cxib_cmd_create_rmp(&scripted->queue, &params, &number));
	KUNIT_EXPECT_EQ(test, -ENOMEM, cxib_cmd_create_xrc_srq(&scripted->queue, &params, &number));
	KUNIT_EXPECT_EQ(test, -ENOMEM,
			cxib_cmd_create_xrq(&scripted->queue, &params, &number));
	scripted->status = HW_COMMAND_STATUS_RESOURCE_BUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_cmd_destroy_rmp(&scripted->queue, 0, 1));
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_cmd_destroy_xrc_srq(&scripted->queue, 0, 1));
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_cmd_destroy_xrq(&scripted->queue, 0, 1));
	scripted->status = HW_COMMAND_STATUS_BAD_RESOURCE;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_cmd_query_rmp(&scripted->queue, 0, 1, &limit));
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_cmd_arm_xrc_srq(&scripted->queue, 0, 1, 2));
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_cmd_query_xrc_srq(&scripted->queue, 0, 1, &limit));
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_cmd_arm_xrq(&scripted->queue, 0, 1, 2));
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_cmd_query_xrq(&scripted->queue, 0, 1, &limit));
	cxib_buffer_destroy(&buffer, scripted->hca->bus.dev);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(create_rmp_sets_context_and_pas),
	KUNIT_CASE(arm_rmp_sets_lwm),
	KUNIT_CASE(query_rmp_returns_lwm),
	KUNIT_CASE(destroy_rmp_sets_rmpn),
	KUNIT_CASE(create_xrc_srq_sets_context_and_pas),
	KUNIT_CASE(xrc_srq_arm_and_query_carry_lwm),
	KUNIT_CASE(destroy_xrc_srq_sets_xrc_srqn),
	KUNIT_CASE(create_xrq_sets_context_and_pas),
	KUNIT_CASE(xrq_arm_and_query_carry_lwm),
	KUNIT_CASE(destroy_xrq_sets_xrqn),
	KUNIT_CASE(srq_cmd_refused_returns_errno),
	{}
};

static struct kunit_suite suite = {
	.name = "hw_srq",
	.init = receive_queues_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
