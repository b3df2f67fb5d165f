// SPDX-License-Identifier: GPL-2.0-only
/* CQ and QP commands: their input, and the decoding of their output. */
#include <linux/sizes.h>
#include <linux/string.h>
#include <rdma/ib_mad.h>

#include "hw/buffer.h"
#include "hw/commands_events.h"
#include "hw/commands_port.h"
#include "hw/commands_queue_pairs.h"
#include "hw/cq.h"
#include "hw/qp.h"
#include "scripted_hca.h"

#define CQN		0x777
#define QPN		0x12345
#define PDN		0x99
#define UID		7
#define UAR		0x11
#define EQN		0x22
#define DBR		0x123456780ULL
#define MAX_COUNT	32
#define PERIOD		4095

/* A ring of 2^8 CQEs has four pages of 4 KiB with CQEs of 64 bytes, and eight with 128 bytes. */
#define LOG_SIZE	8
#define PAGES(bytes)	DIV_ROUND_UP(bytes, SZ_4K)
#define CQ_BYTES	BIT(LOG_SIZE + 6)
#define BIG_CQ_BYTES	BIT(LOG_SIZE + 7)
#define QP_BYTES	5000

static int queues_init(struct kunit *test)
{
	test->priv = scripted_hca_create(test);
	return 0;
}

static void expect_pages(struct kunit *test, const struct cxib_buffer *buffer,
			 const __be64 *addresses)
{
	unsigned int i;

	for (i = 0; i < buffer->page_count; i++)
		KUNIT_EXPECT_EQ(test, buffer->pages[i].dma, be64_to_cpu(addresses[i]));
}

static void create_cq_sets_context_and_pas(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_create_cq_in *in = scripted->in;
	struct hw_cqc *context = hw_create_cq_in_cq_context(in);
	struct cxib_buffer buffer;
	struct cxib_cq_params params = {
		.buffer = &buffer, .log_size = LOG_SIZE,
		.uar = UAR, .eqn = EQN, .dbr = DBR,
		.compress = true, .format = HW_MINI_CQE_FORMAT_CSUM_STRIDX,
	};
	u32 cqn;
	int err;

	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&buffer, scripted->hca->bus.dev, CQ_BYTES));
	hw_create_cq_out_set_cqn(scripted->out, CQN);
	err = cxib_cmd_create_cq(&scripted->queue, &params, &cqn);
	KUNIT_EXPECT_EQ(test, 0, err);
	KUNIT_EXPECT_EQ(test, cqn, CQN);
	KUNIT_EXPECT_EQ(test, scripted->in_length, sizeof(*in) + PAGES(CQ_BYTES) * sizeof(u64));
	KUNIT_EXPECT_EQ(test, LOG_SIZE, hw_cqc_get_log_cq_size(context));
	KUNIT_EXPECT_EQ(test, 1, hw_cqc_get_cqe_comp_en(context));
	KUNIT_EXPECT_EQ(test, HW_MINI_CQE_FORMAT_CSUM_STRIDX,
			hw_cqc_get_mini_cqe_res_format(context));
	KUNIT_EXPECT_EQ(test, UAR, hw_cqc_get_uar_page(context));
	KUNIT_EXPECT_EQ(test, EQN, hw_cqc_get_c_eqn_or_apu_element(context));
	KUNIT_EXPECT_EQ(test, DBR, hw_cqc_get_dbr_addr(context));
	expect_pages(test, &buffer, in->pas);
	cxib_buffer_destroy(&buffer, scripted->hca->bus.dev);
}

static void modify_cq_moderation_sets_count_and_period(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_cqc *context = hw_modify_cq_in_cq_context(scripted->in);

	KUNIT_ASSERT_EQ(test, 0,
			cxib_cmd_modify_cq_moderation(&scripted->queue, 0, CQN, MAX_COUNT,
						      PERIOD));
	KUNIT_EXPECT_EQ(test, HW_MODIFY_CQ_OP_MOD_MODIFY_CQ,
			hw_modify_cq_in_get_op_mod(scripted->in));
	KUNIT_EXPECT_EQ(test, CQN, hw_modify_cq_in_get_cqn(scripted->in));
	KUNIT_EXPECT_EQ(test, MAX_COUNT, hw_cqc_get_cq_max_count(context));
	KUNIT_EXPECT_EQ(test, PERIOD, hw_cqc_get_cq_period(context));
	KUNIT_EXPECT_EQ(test, 0, hw_cqc_get_log_cq_size(context));
}

static void create_qp_sets_context_and_pas(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_create_qp_in *in = scripted->in;
	struct cxib_buffer buffer;
	struct hw_qpc context = {};
	u32 qpn;
	int err;

	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&buffer, scripted->hca->bus.dev, QP_BYTES));
	hw_qpc_set_pd(&context, PDN);
	hw_qpc_set_st(&context, HW_QP_SERVICE_TYPE_UD);
	hw_create_qp_out_set_qpn(scripted->out, QPN);
	err = cxib_cmd_create_qp(&scripted->queue, 0, &context, &buffer, &qpn);
	KUNIT_EXPECT_EQ(test, 0, err);
	KUNIT_EXPECT_EQ(test, qpn, QPN);
	KUNIT_EXPECT_EQ(test, scripted->in_length, sizeof(*in) + PAGES(QP_BYTES) * sizeof(u64));
	KUNIT_EXPECT_EQ(test, PDN, hw_qpc_get_pd(hw_create_qp_in_qpc(in)));
	KUNIT_EXPECT_EQ(test, HW_QP_SERVICE_TYPE_UD, hw_qpc_get_st(hw_create_qp_in_qpc(in)));
	expect_pages(test, &buffer, in->pas);
	cxib_buffer_destroy(&buffer, scripted->hca->bus.dev);
}

static void modify_qp_sets_context_and_opt_param_mask(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct cxib_qp_transition transition = {
		.opcode = HW_CMD_RTR2RTS_QP, .qpn = QPN,
		.optional = HW_QP_OPTIONAL_PARAMETERS_Q_KEY,
	};
	struct hw_qpc *sent = hw_rst2init_qp_in_qpc(scripted->in);

	hw_qpc_set_q_key(&transition.context, IB_QP1_QKEY);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_modify_qp(&scripted->queue, &transition));
	KUNIT_EXPECT_EQ(test, HW_CMD_RTR2RTS_QP, hw_rst2init_qp_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, QPN, hw_rst2init_qp_in_get_qpn(scripted->in));
	KUNIT_EXPECT_EQ(test, HW_QP_OPTIONAL_PARAMETERS_Q_KEY,
			hw_rst2init_qp_in_get_opt_param_mask(scripted->in));
	KUNIT_EXPECT_EQ(test, IB_QP1_QKEY, hw_qpc_get_q_key(sent));
}

static void query_qp_returns_context(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_qpc context;

	hw_qpc_set_state(hw_query_qp_out_qpc(scripted->out), HW_QP_STATE_SQD);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_qp(&scripted->queue, 0, QPN, &context));
	KUNIT_EXPECT_EQ(test, QPN, hw_query_qp_in_get_qpn(scripted->in));
	KUNIT_EXPECT_EQ(test, HW_QP_STATE_SQD, hw_qpc_get_state(&context));
}

/* All these commands have uid and object number at the same offsets. */
static void destroy_cmd_sets_opcode_and_number(struct kunit *test)
{
	static const struct {
		int (*run)(struct cxib_command_queue *queue, u16 uid, u32 number);
		u16 opcode;
	} commands[] = {
		{ cxib_cmd_destroy_cq, HW_CMD_DESTROY_CQ },
		{ cxib_cmd_destroy_qp, HW_CMD_DESTROY_QP },
		{ cxib_cmd_2err_qp, HW_CMD_2ERR_QP },
		{ cxib_cmd_2rst_qp, HW_CMD_2RST_QP },
	};
	struct scripted_hca *scripted = test->priv;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		KUNIT_EXPECT_EQ(test, 0, commands[i].run(&scripted->queue, UID, QPN));
		KUNIT_EXPECT_EQ(test, UID, hw_destroy_qp_in_get_uid(scripted->in));
		KUNIT_EXPECT_EQ(test, commands[i].opcode, hw_cmd_in_get_opcode(scripted->in));
		KUNIT_EXPECT_EQ(test, QPN, hw_destroy_qp_in_get_qpn(scripted->in));
	}
}

static void mcg_attach_and_detach_set_gid(struct kunit *test)
{
	static const u8 gid[16] = { 0xff, 0x12, 0x40, 0x1b, [15] = 0x77 };
	struct scripted_hca *scripted = test->priv;

	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_attach_to_mcg(&scripted->queue, 0, QPN, gid));
	KUNIT_EXPECT_EQ(test, HW_CMD_ATTACH_TO_MCG, hw_attach_to_mcg_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, QPN, hw_attach_to_mcg_in_get_qpn(scripted->in));
	KUNIT_EXPECT_MEMEQ(test, gid, hw_attach_to_mcg_in_get_multicast_gid(scripted->in),
			   sizeof(gid));
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_detach_from_mcg(&scripted->queue, 0, QPN, gid));
	KUNIT_EXPECT_EQ(test, HW_CMD_DETACH_FROM_MCG,
			hw_detach_from_mcg_in_get_opcode(scripted->in));
	KUNIT_EXPECT_MEMEQ(test, gid, hw_detach_from_mcg_in_get_multicast_gid(scripted->in),
			   sizeof(gid));
}

static void resize_cq_sets_size_and_pas(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_modify_cq_in *in = scripted->in;
	struct hw_cqc *context = hw_modify_cq_in_cq_context(in);
	struct hw_resize_field_select *select =
		hw_modify_cq_in_modify_field_select_resize_field_select_resize_field_select(in);
	struct cxib_buffer buffer;
	struct cxib_cq_params params = {
		.buffer = &buffer, .log_size = LOG_SIZE, .entry_size = HW_CQE_SIZE_128_BYTES,
	};
	u8 status;
	int err;

	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&buffer, scripted->hca->bus.dev, BIG_CQ_BYTES));
	err = cxib_cmd_resize_cq(&scripted->queue, CQN, &params, &status);
	KUNIT_EXPECT_EQ(test, 0, err);
	KUNIT_EXPECT_EQ(test, scripted->in_length, sizeof(*in) + PAGES(BIG_CQ_BYTES) * sizeof(u64));
	KUNIT_EXPECT_EQ(test, HW_CMD_MODIFY_CQ, hw_modify_cq_in_get_opcode(in));
	KUNIT_EXPECT_EQ(test, HW_MODIFY_CQ_OP_MOD_RESIZE_CQ, hw_modify_cq_in_get_op_mod(in));
	KUNIT_EXPECT_EQ(test, CQN, hw_modify_cq_in_get_cqn(in));
	KUNIT_EXPECT_EQ(test, LOG_SIZE, hw_cqc_get_log_cq_size(context));
	KUNIT_EXPECT_EQ(test, HW_CQE_SIZE_128_BYTES, hw_cqc_get_cqe_sz(context));
	KUNIT_EXPECT_TRUE(test, hw_resize_field_select_get_resize_field_select(select) &
				HW_CQ_RESIZE_FIELD_SELECT_LOG_CQ_SIZE);
	expect_pages(test, &buffer, in->pas);
	cxib_buffer_destroy(&buffer, scripted->hca->bus.dev);
}

static void cmd_refused_returns_errno(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct cxib_qp_transition transition = { .opcode = HW_CMD_RST2INIT_QP };
	struct cxib_cq_params params = { .log_size = LOG_SIZE };
	struct cxib_buffer buffer;
	struct hw_qpc context = {};
	u32 number;
	u8 status;

	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&buffer, scripted->hca->bus.dev, CQ_BYTES));
	params.buffer = &buffer;
	scripted->status = HW_COMMAND_STATUS_EXCEEDS_LIMIT;
	KUNIT_EXPECT_EQ(test, -ENOMEM, cxib_cmd_create_cq(&scripted->queue, &params, &number));
	KUNIT_EXPECT_EQ(test, -ENOMEM,
			cxib_cmd_create_qp(&scripted->queue, 0, &context, &buffer, &number));
	KUNIT_EXPECT_EQ(test, -ENOMEM,
			cxib_cmd_resize_cq(&scripted->queue, 1, &params, &status));
	KUNIT_EXPECT_EQ(test, HW_COMMAND_STATUS_EXCEEDS_LIMIT, status);
	scripted->status = HW_COMMAND_STATUS_RESOURCE_BUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_cmd_destroy_cq(&scripted->queue, 0, 1));
	scripted->status = HW_COMMAND_STATUS_BAD_RESOURCE;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_cmd_modify_cq_moderation(&scripted->queue, 0, 1, 1, 1));
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_cmd_modify_qp(&scripted->queue, &transition));
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_cmd_query_qp(&scripted->queue, 0, 1, &context));
	cxib_buffer_destroy(&buffer, scripted->hca->bus.dev);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(create_cq_sets_context_and_pas),
	KUNIT_CASE(modify_cq_moderation_sets_count_and_period),
	KUNIT_CASE(resize_cq_sets_size_and_pas),
	KUNIT_CASE(create_qp_sets_context_and_pas),
	KUNIT_CASE(modify_qp_sets_context_and_opt_param_mask),
	KUNIT_CASE(query_qp_returns_context),
	KUNIT_CASE(destroy_cmd_sets_opcode_and_number),
	KUNIT_CASE(mcg_attach_and_detach_set_gid),
	KUNIT_CASE(cmd_refused_returns_errno),
	{}
};

static struct kunit_suite suite = {
	.name = "queues",
	.init = queues_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
