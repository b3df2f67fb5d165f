// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks every transition of every service type with every attribute against the InfiniBand
 * Architecture Specification, volume 1, table 91, "QP state transition properties".
 */
#include "fake_queue_pair.h"
#include "hw/command_queue.h"
#include "hw/commands_queue_pairs.h"

#define PLACE		(IB_QP_PKEY_INDEX | IB_QP_PORT)
#define MIGRATION	(IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE)

static const struct {
	enum ib_qp_type type;
	enum ib_qp_state from, to;
	int required, optional;
} transitions[] = {
	{ IB_QPT_RC, IB_QPS_RESET, IB_QPS_INIT, PLACE | IB_QP_ACCESS_FLAGS, 0 },
	{ IB_QPT_RC, IB_QPS_INIT, IB_QPS_INIT, 0, PLACE | IB_QP_ACCESS_FLAGS },
	{ IB_QPT_RC, IB_QPS_INIT, IB_QPS_RTR,
	  IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
	  IB_QP_MIN_RNR_TIMER,
	  IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX },
	{ IB_QPT_RC, IB_QPS_RTR, IB_QPS_RTS,
	  IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC |
	  IB_QP_SQ_PSN,
	  IB_QP_CUR_STATE | MIGRATION | IB_QP_ACCESS_FLAGS | IB_QP_MIN_RNR_TIMER },
	{ IB_QPT_RC, IB_QPS_RTS, IB_QPS_RTS, 0,
	  IB_QP_CUR_STATE | MIGRATION | IB_QP_ACCESS_FLAGS | IB_QP_MIN_RNR_TIMER },
	{ IB_QPT_RC, IB_QPS_RTS, IB_QPS_SQD, 0, IB_QP_EN_SQD_ASYNC_NOTIFY },
	{ IB_QPT_RC, IB_QPS_SQD, IB_QPS_RTS, 0,
	  IB_QP_CUR_STATE | MIGRATION | IB_QP_ACCESS_FLAGS | IB_QP_MIN_RNR_TIMER },

	{ IB_QPT_UC, IB_QPS_RESET, IB_QPS_INIT, PLACE | IB_QP_ACCESS_FLAGS, 0 },
	{ IB_QPT_UC, IB_QPS_INIT, IB_QPS_INIT, 0, PLACE | IB_QP_ACCESS_FLAGS },
	{ IB_QPT_UC, IB_QPS_INIT, IB_QPS_RTR,
	  IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN,
	  IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX },
	{ IB_QPT_UC, IB_QPS_RTR, IB_QPS_RTS, IB_QP_SQ_PSN,
	  IB_QP_CUR_STATE | MIGRATION | IB_QP_ACCESS_FLAGS },
	{ IB_QPT_UC, IB_QPS_RTS, IB_QPS_RTS, 0, IB_QP_CUR_STATE | MIGRATION | IB_QP_ACCESS_FLAGS },
	{ IB_QPT_UC, IB_QPS_SQE, IB_QPS_RTS, 0, IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS },
	{ IB_QPT_UC, IB_QPS_RTS, IB_QPS_SQD, 0, IB_QP_EN_SQD_ASYNC_NOTIFY },
	{ IB_QPT_UC, IB_QPS_SQD, IB_QPS_RTS, 0, IB_QP_CUR_STATE | MIGRATION | IB_QP_ACCESS_FLAGS },

	{ IB_QPT_UD, IB_QPS_RESET, IB_QPS_INIT, PLACE | IB_QP_QKEY, 0 },
	{ IB_QPT_UD, IB_QPS_INIT, IB_QPS_INIT, 0, PLACE | IB_QP_QKEY },
	{ IB_QPT_UD, IB_QPS_INIT, IB_QPS_RTR, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY },
	{ IB_QPT_UD, IB_QPS_RTR, IB_QPS_RTS, IB_QP_SQ_PSN, IB_QP_CUR_STATE | IB_QP_QKEY },
	{ IB_QPT_UD, IB_QPS_RTS, IB_QPS_RTS, 0, IB_QP_CUR_STATE | IB_QP_QKEY },
	{ IB_QPT_UD, IB_QPS_SQE, IB_QPS_RTS, 0, IB_QP_CUR_STATE | IB_QP_QKEY },
	{ IB_QPT_UD, IB_QPS_RTS, IB_QPS_SQD, 0, IB_QP_EN_SQD_ASYNC_NOTIFY },
	{ IB_QPT_UD, IB_QPS_SQD, IB_QPS_RTS, 0, IB_QP_CUR_STATE | IB_QP_QKEY },
};

static const enum ib_qp_type types[] = { IB_QPT_RC, IB_QPT_UC, IB_QPT_UD };

/* All attributes of ib_modify_qp() except IB_QP_STATE. */
static const int attributes[] = {
	IB_QP_CUR_STATE, IB_QP_EN_SQD_ASYNC_NOTIFY, IB_QP_ACCESS_FLAGS, IB_QP_PKEY_INDEX,
	IB_QP_PORT, IB_QP_QKEY, IB_QP_AV, IB_QP_PATH_MTU, IB_QP_TIMEOUT, IB_QP_RETRY_CNT,
	IB_QP_RNR_RETRY, IB_QP_RQ_PSN, IB_QP_MAX_QP_RD_ATOMIC, IB_QP_ALT_PATH,
	IB_QP_MIN_RNR_TIMER, IB_QP_SQ_PSN, IB_QP_MAX_DEST_RD_ATOMIC, IB_QP_PATH_MIG_STATE,
	IB_QP_CAP, IB_QP_DEST_QPN,
};

static u8 accept(struct fake_hca *hca, const void *in, u32 in_length, void *out, u32 out_length)
{
	return 0;
}

static int transitions_init(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	fake_queue_pair_start(fake, accept, NULL);
	fake->hw.caps.apm = 1;
	fake->ibdev.ib.attrs.max_pkeys = 128;
	fake->ibdev.ib.attrs.max_qp_rd_atom = 16;
	fake->ibdev.ib.attrs.max_qp_init_rd_atom = 16;
	mutex_init(&fake->qp.mutex);
	test->priv = fake;
	return 0;
}

/* All values are valid; the fake device accepts every command. */
static int transit(struct fake_queue_pair *fake, enum ib_qp_type type, enum ib_qp_state from,
		   enum ib_qp_state to, int mask)
{
	struct ib_qp_attr attr = {
		.qp_state = to,
		.cur_qp_state = from,
		.path_mtu = IB_MTU_2048,
		.path_mig_state = IB_MIG_REARM,
		.port_num = 1,
		.alt_port_num = 1,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
		.alt_ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
	};

	fake->qp.ib.qp_type = type;
	fake->qp.state = from;
	fake->qp.sq.state = 0;
	return cxib_modify_qp_kernel(&fake->qp.ib, &attr, mask | IB_QP_STATE, NULL);
}

static void modify_qp_required_attrs_returns_0(struct kunit *test)
{
	struct fake_queue_pair *fake = test->priv;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(transitions); i++)
		KUNIT_EXPECT_EQ_MSG(test, 0,
				    transit(fake, transitions[i].type, transitions[i].from,
					    transitions[i].to, transitions[i].required),
				    "transition %zu", i);
}

static void modify_qp_single_attr_follows_table(struct kunit *test)
{
	struct fake_queue_pair *fake = test->priv;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(transitions); i++)
		for (k = 0; k < ARRAY_SIZE(attributes); k++) {
			int required = transitions[i].required;
			int allowed = required | transitions[i].optional;
			int err = transit(fake, transitions[i].type, transitions[i].from,
					  transitions[i].to, required ^ attributes[k]);
			bool expected = attributes[k] & allowed && !(attributes[k] & required);

			KUNIT_EXPECT_EQ_MSG(test, expected ? 0 : -EINVAL, err,
					    "transition %zu, attribute 0x%x", i, attributes[k]);
		}
}

static void modify_qp_all_attrs_returns_0(struct kunit *test)
{
	struct fake_queue_pair *fake = test->priv;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(transitions); i++)
		KUNIT_EXPECT_EQ_MSG(test, 0,
				    transit(fake, transitions[i].type, transitions[i].from,
					    transitions[i].to,
					    transitions[i].required | transitions[i].optional),
				    "transition %zu", i);
}

/* User space may pass access flags of MRs, or flags of a newer rdma-core, which are no error. */
static void modify_qp_access_flags_of_user_space_return_0(struct kunit *test)
{
	const u32 local_write = BIT(0), remote = BIT(1) | BIT(2) | BIT(3);
	const u32 of_mrs = GENMASK(7, 4), flush = BIT(8) | BIT(9), optional = GENMASK(29, 20);
	const u32 known = local_write | remote | of_mrs | flush | optional;
	struct fake_queue_pair *fake = test->priv;
	unsigned int i;

	fake->qp.ib.qp_type = IB_QPT_RC;
	for (i = 0; i < 31; i++) {
		struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS, .qp_access_flags = BIT(i) };

		fake->qp.state = IB_QPS_RTS;
		KUNIT_EXPECT_EQ_MSG(test, known & BIT(i) ? 0 : -EOPNOTSUPP,
				    cxib_modify_qp_kernel(&fake->qp.ib, &attr,
							  IB_QP_STATE | IB_QP_ACCESS_FLAGS, NULL),
				    "flag %u", i);
	}
}

static u16 issued[4];
static u32 optional_of_last;
static unsigned int num_issued;
static u16 refused;

static u8 record(struct fake_hca *hca, const void *in, u32 in_length, void *out, u32 out_length)
{
	const u16 opcode = hw_cmd_in_get_opcode(in);

	if (num_issued < ARRAY_SIZE(issued))
		issued[num_issued] = opcode;
	num_issued++;
	optional_of_last = hw_rts2rts_qp_in_get_opt_param_mask(in);
	return opcode == refused ? HW_COMMAND_STATUS_BAD_PARAMETER : HW_COMMAND_STATUS_OK;
}

/* SQD2RTS_QP takes no alternate path, so RTS2RTS_QP sets it. */
static void modify_qp_sqd_to_rts_sets_alternate_path_in_rts(struct kunit *test)
{
	struct fake_queue_pair *fake = test->priv;

	num_issued = 0;
	refused = 0;
	fake->hca->script = record;
	KUNIT_EXPECT_EQ(test, 0, transit(fake, IB_QPT_RC, IB_QPS_SQD, IB_QPS_RTS, MIGRATION));
	KUNIT_EXPECT_EQ(test, 2, num_issued);
	KUNIT_EXPECT_EQ(test, HW_CMD_SQD_RTS_QP, issued[0]);
	KUNIT_EXPECT_EQ(test, HW_CMD_RTS2RTS_QP, issued[1]);
	KUNIT_EXPECT_EQ(test, HW_QP_OPTIONAL_PARAMETERS_ALT_ADDR_PATH |
			      HW_QP_OPTIONAL_PARAMETERS_PM_STATE, optional_of_last);
	num_issued = 0;
	KUNIT_EXPECT_EQ(test, 0, transit(fake, IB_QPT_RC, IB_QPS_SQD, IB_QPS_RTS, 0));
	KUNIT_EXPECT_EQ(test, 1, num_issued);
}

/* For XRC it takes no other attribute either. */
static void modify_qp_xrc_sqd_to_rts_sets_access_in_rts(struct kunit *test)
{
	struct fake_queue_pair *fake = test->priv;

	num_issued = 0;
	refused = 0;
	fake->hca->script = record;
	KUNIT_EXPECT_EQ(test, 0, transit(fake, IB_QPT_XRC_TGT, IB_QPS_SQD, IB_QPS_RTS,
					 IB_QP_ACCESS_FLAGS | IB_QP_MIN_RNR_TIMER));
	KUNIT_EXPECT_EQ(test, 2, num_issued);
	KUNIT_EXPECT_EQ(test, HW_CMD_SQD_RTS_QP, issued[0]);
	KUNIT_EXPECT_EQ(test, HW_CMD_RTS2RTS_QP, issued[1]);
	KUNIT_EXPECT_EQ(test, HW_QP_OPTIONAL_PARAMETERS_RRE | HW_QP_OPTIONAL_PARAMETERS_RAE |
			      HW_QP_OPTIONAL_PARAMETERS_RWE |
			      HW_QP_OPTIONAL_PARAMETERS_RNR_TIMEOUT, optional_of_last);
}

static void modify_qp_refused_alternate_path_leaves_rts(struct kunit *test)
{
	struct fake_queue_pair *fake = test->priv;

	refused = HW_CMD_RTS2RTS_QP;
	fake->hca->script = record;
	KUNIT_EXPECT_EQ(test, -EINVAL,
			transit(fake, IB_QPT_RC, IB_QPS_SQD, IB_QPS_RTS, MIGRATION));
	KUNIT_EXPECT_EQ(test, IB_QPS_RTS, fake->qp.state);
	refused = HW_CMD_SQD_RTS_QP;
	KUNIT_EXPECT_EQ(test, -EINVAL,
			transit(fake, IB_QPT_RC, IB_QPS_SQD, IB_QPS_RTS, MIGRATION));
	KUNIT_EXPECT_EQ(test, IB_QPS_SQD, fake->qp.state);
}

static bool is_in_table(enum ib_qp_type type, enum ib_qp_state from, enum ib_qp_state to)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(transitions); i++)
		if (transitions[i].type == type && transitions[i].from == from &&
		    transitions[i].to == to)
			return true;
	return false;
}

static void try_without_attributes(struct kunit *test, enum ib_qp_type type,
				   enum ib_qp_state from, enum ib_qp_state to)
{
	int err = transit(test->priv, type, from, to, 0);

	/* The RDMA core has no transition from RESET to ERR. */
	if (to == IB_QPS_RESET || (to == IB_QPS_ERR && from != IB_QPS_RESET))
		KUNIT_EXPECT_EQ_MSG(test, 0, err, "type %d, from %d to %d", type, from, to);
	else if (!is_in_table(type, from, to))
		KUNIT_EXPECT_NE_MSG(test, 0, err, "type %d, from %d to %d", type, from, to);
}

/* Any state can go to RESET and ERR; other transitions must be in the table. */
static void modify_qp_unlisted_transition_returns_error(struct kunit *test)
{
	enum ib_qp_state from, to;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		for (from = IB_QPS_RESET; from <= IB_QPS_ERR; from++)
			for (to = IB_QPS_RESET; to <= IB_QPS_ERR; to++)
				try_without_attributes(test, types[i], from, to);
}

/* SQE to RTS succeeds for the GSI QP only: ib_mad recovers its QP after each failed MAD. */
static void modify_qp_fatal_to_err_or_reset_returns_0(struct kunit *test)
{
	struct fake_queue_pair *fake = test->priv;

	cxib_hw_state_raise(fake->hw.bus, CXIB_HW_DMA_OFF);
	cxib_command_queue_set_fatal(&fake->hw.commands);
	KUNIT_EXPECT_EQ(test, 0, transit(fake, IB_QPT_RC, IB_QPS_RTS, IB_QPS_ERR, 0));
	KUNIT_EXPECT_EQ(test, IB_QPS_ERR, fake->qp.state);
	KUNIT_EXPECT_EQ(test, 0, transit(fake, IB_QPT_RC, IB_QPS_RTS, IB_QPS_RESET, 0));
	KUNIT_EXPECT_EQ(test, 0,
			transit(fake, IB_QPT_GSI, IB_QPS_SQE, IB_QPS_RTS, IB_QP_CUR_STATE));
	KUNIT_EXPECT_NE(test, 0,
			transit(fake, IB_QPT_UD, IB_QPS_SQE, IB_QPS_RTS, IB_QP_CUR_STATE));
	KUNIT_EXPECT_NE(test, 0, transit(fake, IB_QPT_GSI, IB_QPS_RTR, IB_QPS_RTS, IB_QP_SQ_PSN));
}

static struct cxib_command_queue *failing_queue;

static u8 fail_queue(struct fake_hca *hca, const void *in, u32 in_length, void *out, u32 out_length)
{
	cxib_command_queue_set_fatal(failing_queue);
	return HW_COMMAND_STATUS_INTERNAL_ERROR;
}

static void modify_qp_fatal_during_2err_returns_0(struct kunit *test)
{
	struct fake_queue_pair *fake = test->priv;

	cxib_hw_state_raise(fake->hw.bus, CXIB_HW_DMA_OFF);
	failing_queue = &fake->hw.commands;
	fake->hca->script = fail_queue;
	KUNIT_EXPECT_EQ(test, 0, transit(fake, IB_QPT_RC, IB_QPS_RTS, IB_QPS_ERR, 0));
	KUNIT_EXPECT_EQ(test, IB_QPS_ERR, fake->qp.state);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(modify_qp_required_attrs_returns_0),
	KUNIT_CASE(modify_qp_single_attr_follows_table),
	KUNIT_CASE(modify_qp_all_attrs_returns_0),
	KUNIT_CASE(modify_qp_access_flags_of_user_space_return_0),
	KUNIT_CASE(modify_qp_sqd_to_rts_sets_alternate_path_in_rts),
	KUNIT_CASE(modify_qp_xrc_sqd_to_rts_sets_access_in_rts),
	KUNIT_CASE(modify_qp_refused_alternate_path_leaves_rts),
	KUNIT_CASE(modify_qp_unlisted_transition_returns_error),
	KUNIT_CASE(modify_qp_fatal_to_err_or_reset_returns_0),
	KUNIT_CASE(modify_qp_fatal_during_2err_returns_0),
	{}
};

static struct kunit_suite suite = {
	.name = "qp_transitions",
	.init = transitions_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
