// SPDX-License-Identifier: GPL-2.0-only
/* DCT commands: input, and conversion of the output. */
#include "hw/commands_queue_pairs.h"
#include "hw/dct.h"
#include "scripted_hca.h"

#define DCTN		0xabcdef
#define SRQN		0x99
#define UID		7
#define ACCESS_KEY	0x1122334455667788ULL

static int dct_init(struct kunit *test)
{
	test->priv = scripted_hca_create(test);
	return 0;
}

static void create_dct_passes_context(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_dctc context = {};
	u32 dctn;

	hw_dctc_set_dc_access_key(&context, ACCESS_KEY);
	hw_dctc_set_srqn_xrqn(&context, SRQN);
	hw_create_dct_out_set_dctn(scripted->out, DCTN);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_create_dct(&scripted->queue, UID, &context, &dctn));
	KUNIT_EXPECT_EQ(test, DCTN, dctn);
	KUNIT_EXPECT_EQ(test, HW_CMD_CREATE_DCT, hw_create_dct_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, UID, hw_create_dct_in_get_uid(scripted->in));
	KUNIT_EXPECT_MEMEQ(test, &context, hw_create_dct_in_get_dct_context_entry(scripted->in),
			   sizeof(context));
}

static void query_dct_returns_context(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_dctc context;

	hw_dctc_set_state(hw_query_dct_out_dct_context_entry(scripted->out),
			  HW_DCT_STATE_DRAINED);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_dct(&scripted->queue, UID, DCTN, &context));
	KUNIT_EXPECT_EQ(test, HW_CMD_QUERY_DCT, hw_query_dct_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, DCTN, hw_query_dct_in_get_dctn(scripted->in));
	KUNIT_EXPECT_EQ(test, HW_DCT_STATE_DRAINED, hw_dctc_get_state(&context));
}

/* All DCT commands have the DCTN at the same offset. */
static void dct_commands_pass_dctn(struct kunit *test)
{
	static const struct {
		int (*run)(struct cxib_command_queue *queue, u16 uid, u32 number);
		u16 opcode;
	} commands[] = {
		{ cxib_cmd_drain_dct, HW_CMD_DRAIN_DCT },
		{ cxib_cmd_destroy_dct, HW_CMD_DESTROY_DCT },
		{ cxib_cmd_arm_dct, HW_CMD_ARM_DCT },
	};
	struct scripted_hca *scripted = test->priv;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		KUNIT_EXPECT_EQ(test, 0, commands[i].run(&scripted->queue, UID, DCTN));
		KUNIT_EXPECT_EQ(test, commands[i].opcode,
				hw_destroy_dct_in_get_opcode(scripted->in));
		KUNIT_EXPECT_EQ(test, UID, hw_destroy_dct_in_get_uid(scripted->in));
		KUNIT_EXPECT_EQ(test, DCTN, hw_destroy_dct_in_get_dctn(scripted->in));
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(create_dct_passes_context),
	KUNIT_CASE(query_dct_returns_context),
	KUNIT_CASE(dct_commands_pass_dctn),
	{}
};

static struct kunit_suite suite = {
	.name = "dct",
	.init = dct_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
