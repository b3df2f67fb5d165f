// SPDX-License-Identifier: GPL-2.0-only
/* The commands of QP state transitions. */
#include <linux/log2.h>
#include <rdma/ib_mad.h>

#include "fake_queue_pair.h"
#include "hw/capabilities.h"
#include "hw/commands_queue_pairs.h"

#define QKEY		0x11111111
#define PKEY_INDEX	7
#define SQ_PSN		0x123456
#define RESD_LKEY	0x300
#define FIRST_SET	9
#define SECOND_SET	10
#define REMOTE_QPN	0xabcdef
#define RLID		0x99
#define PDN		0x77
#define CQN		0x55
#define DBR_ADDR	0xfff040ULL

/* A message of a UD QP is one packet, also a MAD, so log_msg_max is the log2 of the MTU. */
#define LOG_UD_MESSAGE	ilog2(4096)
#define LOG_MAD		ilog2(IB_MGMT_MAD_SIZE)

static struct cxib_qp_transition *transit(struct kunit *test, struct fake_queue_pair *fake,
					  enum ib_qp_state to, const struct ib_qp_attr *attr,
					  int mask)
{
	struct cxib_qp_transition *transition =
		kunit_kzalloc(test, sizeof(*transition), GFP_KERNEL);
	struct ib_qp_attr copy = *attr;

	KUNIT_ASSERT_NOT_NULL(test, transition);
	copy.qp_state = to;
	KUNIT_ASSERT_EQ(test, 0, cxib_qp_transition(&fake->qp, &copy, mask | IB_QP_STATE,
						    transition));
	KUNIT_EXPECT_EQ(test, FAKE_QPN, transition->qpn);
	fake->qp.state = to;
	return transition;
}

static void rst2init_sets_counter_set_of_port(struct kunit *test)
{
	const struct ib_qp_attr attr = { .port_num = 2, .qkey = QKEY };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp_transition *transition;

	fake->ibdev.ib.phys_port_cnt = 2;
	fake->ibdev.has_counters = true;
	fake->ibdev.ports[0].counter_set = FIRST_SET;
	fake->ibdev.ports[1].counter_set = SECOND_SET;
	transition = transit(test, fake, IB_QPS_INIT, &attr,
			     IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY);
	KUNIT_EXPECT_EQ(test, SECOND_SET, hw_qpc_get_counter_set_id(&transition->context));
}

static void ud_qp_reset_to_rts_sets_context(struct kunit *test)
{
	const struct ib_qp_attr attr = {
		.pkey_index = PKEY_INDEX, .port_num = 1, .qkey = QKEY, .sq_psn = SQ_PSN,
	};
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp_transition *transition;
	const struct hw_ads *path;

	fake->ibdev.has_counters = true;
	fake->ibdev.ports[0].counter_set = FIRST_SET;
	transition = transit(test, fake, IB_QPS_INIT, &attr,
			     IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY);
	path = hw_qpc_get_primary_address_path(&transition->context);
	KUNIT_EXPECT_EQ(test, HW_CMD_RST2INIT_QP, transition->opcode);
	KUNIT_EXPECT_EQ(test, 0, transition->optional);
	KUNIT_EXPECT_EQ(test, PKEY_INDEX, hw_ads_get_pkey_index(path));
	KUNIT_EXPECT_EQ(test, 1, hw_ads_get_vhca_port_num(path));
	KUNIT_EXPECT_EQ(test, QKEY, hw_qpc_get_q_key(&transition->context));
	KUNIT_EXPECT_EQ(test, FIRST_SET, hw_qpc_get_counter_set_id(&transition->context));

	transition = transit(test, fake, IB_QPS_RTR, &attr, 0);
	KUNIT_EXPECT_EQ(test, HW_CMD_INIT2RTR_QP, transition->opcode);
	KUNIT_EXPECT_EQ(test, HW_QP_MTU_4K_BYTES, hw_qpc_get_mtu(&transition->context));
	KUNIT_EXPECT_EQ(test, LOG_UD_MESSAGE, hw_qpc_get_log_msg_max(&transition->context));

	transition = transit(test, fake, IB_QPS_RTS, &attr, IB_QP_SQ_PSN);
	KUNIT_EXPECT_EQ(test, HW_CMD_RTR2RTS_QP, transition->opcode);
	KUNIT_EXPECT_EQ(test, SQ_PSN, hw_qpc_get_next_send_psn(&transition->context));
}

/* resd_lkey grants access to all memory that the device can reach. */
static void rst2init_kernel_qp_sets_rlky(struct kunit *test)
{
	static const struct {
		u32 key;
		bool is_user;
		u32 expected;
	} cases[] = { { RESD_LKEY, false, 1 }, { RESD_LKEY, true, 0 }, { 0, false, 0 } };
	const struct ib_qp_attr attr = { .port_num = 1 };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp_transition *transition;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		fake->ibdev.ib.local_dma_lkey = cases[i].key;
		fake->qp.is_user = cases[i].is_user;
		fake->qp.state = IB_QPS_RESET;
		transition = transit(test, fake, IB_QPS_INIT, &attr, IB_QP_PORT);
		KUNIT_EXPECT_EQ(test, cases[i].expected,
				hw_qpc_get_rlky(&transition->context));
	}
}

/* mlx5_ib repeats these fields in each transition. */
static void transitions_repeat_st_pd_and_cqns(struct kunit *test)
{
	static const enum ib_qp_state states[] = { IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS };
	const struct ib_qp_attr attr = { .port_num = 1 };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_pd pd = { .pdn = PDN };
	int i;

	fake->qp.ib.pd = &pd.ib;
	fake->cq.cqn = CQN;
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		struct cxib_qp_transition *transition =
			transit(test, fake, states[i], &attr, IB_QP_PORT);

		KUNIT_EXPECT_EQ(test, HW_QP_SERVICE_TYPE_UD,
				hw_qpc_get_st(&transition->context));
		KUNIT_EXPECT_EQ(test, PDN, hw_qpc_get_pd(&transition->context));
		KUNIT_EXPECT_EQ(test, CQN, hw_qpc_get_cqn_snd(&transition->context));
		KUNIT_EXPECT_EQ(test, CQN, hw_qpc_get_cqn_rcv(&transition->context));
	}
}

/* get_cqs() in mlx5_ib/qp.c. */
static void transitions_repeat_cqns_by_qp_type(struct kunit *test)
{
	static const struct {
		enum ib_qp_type type;
		u32 cqn_snd, cqn_rcv;
	} types[] = {
		{ IB_QPT_RC, CQN, CQN }, { IB_QPT_UC, CQN, CQN }, { IB_QPT_GSI, CQN, CQN },
		{ IB_QPT_XRC_INI, CQN, 0 }, { CXIB_QPT_UMR, CQN, 0 },
		{ IB_QPT_XRC_TGT, 0, 0 }, { IB_QPT_DRIVER, 0, 0 },
	};
	const struct ib_qp_attr attr = { .port_num = 1 };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp_transition *transition;
	int i;

	fake->cq.cqn = CQN;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		fake->qp.ib.qp_type = types[i].type;
		fake->qp.state = IB_QPS_INIT;
		transition = transit(test, fake, IB_QPS_RTR, &attr, 0);
		KUNIT_EXPECT_EQ_MSG(test, types[i].cqn_snd,
				    hw_qpc_get_cqn_snd(&transition->context), "type %d",
				    types[i].type);
		KUNIT_EXPECT_EQ_MSG(test, types[i].cqn_rcv,
				    hw_qpc_get_cqn_rcv(&transition->context), "type %d",
				    types[i].type);
	}
}

/* Public drivers set them in RST2INIT only. */
static void only_rst2init_sets_rlky_dbr_addr_and_counter_set(struct kunit *test)
{
	const struct ib_qp_attr attr = { .port_num = 1 };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp_transition *transition;

	fake->ibdev.ib.local_dma_lkey = RESD_LKEY;
	fake->ibdev.has_counters = true;
	fake->ibdev.ports[0].counter_set = FIRST_SET;
	fake->qp.dbr.dma = DBR_ADDR;
	fake->qp.has_rq = true;
	transition = transit(test, fake, IB_QPS_INIT, &attr, IB_QP_PORT);
	KUNIT_EXPECT_EQ(test, DBR_ADDR, hw_qpc_get_dbr_addr(&transition->context));
	transition = transit(test, fake, IB_QPS_RTR, &attr, 0);
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_rlky(&transition->context));
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_dbr_addr(&transition->context));
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_counter_set_id(&transition->context));
}

/* __mlx5_ib_modify_qp() in mlx5_ib/qp.c. */
static void rst2init_user_qp_sets_dbr_addr_but_no_rlky(struct kunit *test)
{
	const struct ib_qp_attr attr = { .port_num = 1 };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp_transition *transition;

	fake->ibdev.ib.local_dma_lkey = RESD_LKEY;
	fake->qp.is_user = true;
	fake->qp.has_rq = true;
	fake->qp.dbr.dma = DBR_ADDR;
	transition = transit(test, fake, IB_QPS_INIT, &attr, IB_QP_PORT);
	KUNIT_EXPECT_EQ(test, DBR_ADDR, hw_qpc_get_dbr_addr(&transition->context));
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_rlky(&transition->context));
}

/* dbr_addr is for the RQ only: __mlx5_ib_modify_qp() in mlx5_ib/qp.c. */
static void rst2init_without_rq_leaves_dbr_addr(struct kunit *test)
{
	const struct ib_qp_attr attr = { .port_num = 1 };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp_transition *transition;

	fake->qp.has_rq = false;
	fake->qp.dbr.dma = DBR_ADDR;
	transition = transit(test, fake, IB_QPS_INIT, &attr, IB_QP_PORT);
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_dbr_addr(&transition->context));
}

/* A later transition must neither change nor repeat the access rights of RST2INIT. */
static void rtr2rts_without_access_flags_leaves_access(struct kunit *test)
{
	const struct ib_qp_attr attr = { .sq_psn = SQ_PSN };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp_transition *transition;

	fake->qp.ib.qp_type = IB_QPT_RC;
	fake->qp.state = IB_QPS_RTR;
	fake->qp.access = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;
	fake->qp.max_dest_rd_atomic = 1;
	transition = transit(test, fake, IB_QPS_RTS, &attr, IB_QP_SQ_PSN);
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_rwe(&transition->context));
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_rre(&transition->context));
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_log_msg_max(&transition->context));
}

/*
 * Each of the two commands overwrites the field; with 0 the device requests an ACK for each packet.
 */
static void rc_qp_rtr_and_rts_set_log_ack_req_freq(struct kunit *test)
{
	const struct ib_qp_attr attr = { .port_num = 2 };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp_transition *transition;

	fake->qp.ib.qp_type = IB_QPT_RC;
	fake->qp.state = IB_QPS_INIT;
	transition = transit(test, fake, IB_QPS_RTR, &attr, IB_QP_AV);
	KUNIT_EXPECT_EQ(test, CXIB_LOG_ACK_REQ_FREQ,
			hw_qpc_get_log_ack_req_freq(&transition->context));
	transition = transit(test, fake, IB_QPS_RTS, &attr, IB_QP_SQ_PSN);
	KUNIT_EXPECT_EQ(test, CXIB_LOG_ACK_REQ_FREQ,
			hw_qpc_get_log_ack_req_freq(&transition->context));
}

static void init2rtr_sets_port_of_qp(struct kunit *test)
{
	const struct ib_qp_attr attr = { .port_num = 1 };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp_transition *transition;
	const struct hw_ads *path;

	fake->qp.ib.qp_type = IB_QPT_RC;
	fake->qp.state = IB_QPS_INIT;
	fake->qp.port = 2;
	transition = transit(test, fake, IB_QPS_RTR, &attr, IB_QP_AV);
	path = hw_qpc_get_primary_address_path(&transition->context);
	KUNIT_EXPECT_EQ(test, 2, hw_ads_get_vhca_port_num(path));
}

static void gsi_qp_rst2init_sets_port_and_mtu(struct kunit *test)
{
	const struct ib_qp_attr attr = { .qkey = IB_QP1_QKEY };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp_transition *transition;
	const struct hw_ads *path;

	fake->qp.ib.qp_type = IB_QPT_GSI;
	fake->qp.port = 2;
	transition = transit(test, fake, IB_QPS_INIT, &attr, IB_QP_PKEY_INDEX | IB_QP_QKEY);
	path = hw_qpc_get_primary_address_path(&transition->context);
	KUNIT_EXPECT_EQ(test, 2, hw_ads_get_vhca_port_num(path));
	KUNIT_EXPECT_EQ(test, HW_QP_MTU_256_BYTES, hw_qpc_get_mtu(&transition->context));
	KUNIT_EXPECT_EQ(test, LOG_MAD, hw_qpc_get_log_msg_max(&transition->context));
}

/* The remote peer must see QP 1, not the QPN of the GSI send QP for the P_Key. */
static void gsi_tx_qp_rst2init_sets_deth_sqpn_1(struct kunit *test)
{
	const struct ib_qp_attr attr = { .pkey_index = 3, .port_num = 1, .qkey = IB_QP1_QKEY };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp *gsi = kunit_kzalloc(test, sizeof(*gsi), GFP_KERNEL);
	struct cxib_qp_transition *transition;

	KUNIT_ASSERT_NOT_NULL(test, gsi);
	fake->qp.wc_qp = &gsi->ib;
	transition = transit(test, fake, IB_QPS_INIT, &attr,
			     IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY);
	KUNIT_EXPECT_EQ(test, 1, hw_qpc_get_deth_sqpn(&transition->context));
	fake->qp.wc_qp = &fake->qp.ib;
	fake->qp.state = IB_QPS_RESET;
	transition = transit(test, fake, IB_QPS_INIT, &attr,
			     IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY);
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_deth_sqpn(&transition->context));
}

static void modify_qp_optional_attr_sets_opt_param_mask(struct kunit *test)
{
	const struct ib_qp_attr attr = { .pkey_index = 3, .qkey = 5 };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp_transition *transition;

	fake->qp.state = IB_QPS_INIT;
	transition = transit(test, fake, IB_QPS_RTR, &attr, IB_QP_PKEY_INDEX | IB_QP_QKEY);
	KUNIT_EXPECT_EQ(test, HW_QP_OPTIONAL_PARAMETERS_PKEY_INDEX |
			      HW_QP_OPTIONAL_PARAMETERS_Q_KEY, transition->optional);
	fake->qp.state = IB_QPS_RTS;
	transition = transit(test, fake, IB_QPS_RTS, &attr, IB_QP_QKEY);
	KUNIT_EXPECT_EQ(test, HW_CMD_RTS2RTS_QP, transition->opcode);
	KUNIT_EXPECT_EQ(test, HW_QP_OPTIONAL_PARAMETERS_Q_KEY, transition->optional);
}

/* opt_mask in mlx5_ib/qp.c has no entries for QP0, QP1, REG_UMR and DCI. */
static void special_qp_optional_attr_leaves_opt_param_mask(struct kunit *test)
{
	static const enum ib_qp_type types[] = {
		IB_QPT_SMI, IB_QPT_GSI, CXIB_QPT_UMR, IB_QPT_DRIVER,
	};
	const struct ib_qp_attr attr = { .qkey = IB_QP1_QKEY, .port_num = 1 };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		fake->qp.ib.qp_type = types[i];
		fake->qp.state = IB_QPS_INIT;
		KUNIT_EXPECT_EQ(test, 0, transit(test, fake, IB_QPS_INIT, &attr,
						 IB_QP_PKEY_INDEX | IB_QP_QKEY)->optional);
		KUNIT_EXPECT_EQ(test, 0, transit(test, fake, IB_QPS_RTR, &attr,
						 IB_QP_PKEY_INDEX | IB_QP_QKEY)->optional);
	}
}

/* opt_mask in mlx5_ib/qp.c. */
static void sqd2rts_takes_access_but_no_alternate_path(struct kunit *test)
{
	const struct ib_qp_attr attr = {
		.path_mig_state = IB_MIG_REARM, .alt_port_num = 1,
		.alt_ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
	};
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	fake->qp.ib.qp_type = IB_QPT_RC;
	fake->qp.state = IB_QPS_SQD;
	KUNIT_EXPECT_EQ(test, HW_QP_OPTIONAL_PARAMETERS_RNR_TIMEOUT |
			      HW_QP_OPTIONAL_PARAMETERS_RRE | HW_QP_OPTIONAL_PARAMETERS_RAE |
			      HW_QP_OPTIONAL_PARAMETERS_RWE,
			transit(test, fake, IB_QPS_RTS, &attr,
				IB_QP_ACCESS_FLAGS | IB_QP_MIN_RNR_TIMER | IB_QP_ALT_PATH |
				IB_QP_PATH_MIG_STATE)->optional);
}

/* opt_mask in mlx5_ib/qp.c has XRC in RTS2RTS, but not in SQD2RTS. */
static void xrc_qp_optional_attr_only_outside_sqd2rts(struct kunit *test)
{
	static const enum ib_qp_type types[] = { IB_QPT_XRC_INI, IB_QPT_XRC_TGT };
	const int mask = IB_QP_ACCESS_FLAGS | IB_QP_MIN_RNR_TIMER;
	const struct ib_qp_attr attr = {};
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		fake->qp.ib.qp_type = types[i];
		fake->qp.state = IB_QPS_SQD;
		KUNIT_EXPECT_EQ(test, 0, transit(test, fake, IB_QPS_RTS, &attr, mask)->optional);
		fake->qp.state = IB_QPS_RTS;
		KUNIT_EXPECT_EQ(test, HW_QP_OPTIONAL_PARAMETERS_RNR_TIMEOUT |
				      HW_QP_OPTIONAL_PARAMETERS_RRE |
				      HW_QP_OPTIONAL_PARAMETERS_RAE |
				      HW_QP_OPTIONAL_PARAMETERS_RWE,
				transit(test, fake, IB_QPS_RTS, &attr, mask)->optional);
	}
}

static void rc_qp_reset_to_rts_sets_context(struct kunit *test)
{
	const struct ib_qp_attr attr = {
		.port_num = 1, .path_mtu = IB_MTU_2048, .dest_qp_num = REMOTE_QPN, .rq_psn = 5,
		.sq_psn = 6, .max_dest_rd_atomic = 5, .max_rd_atomic = 1, .min_rnr_timer = 12,
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 6,
		.qp_access_flags = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_ATOMIC,
		.ah_attr = { .type = RDMA_AH_ATTR_TYPE_IB, .sl = 3, .ib = { .dlid = RLID } },
	};
	const u32 access = HW_QP_OPTIONAL_PARAMETERS_RRE | HW_QP_OPTIONAL_PARAMETERS_RAE |
			   HW_QP_OPTIONAL_PARAMETERS_RWE;
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp_transition *transition;
	const struct hw_ads *path;

	fake->hw.caps.atomic = 1;
	fake->hw.caps.atomic_operations = HW_ATOMIC_OPERATIONS_EXTENDED_FETCH_ADD;
	fake->hw.caps.atomic_size_qp = HW_ATOMIC_SIZE_BYTES_32;
	fake->qp.ib.qp_type = IB_QPT_RC;
	transition = transit(test, fake, IB_QPS_INIT, &attr,
			     IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	KUNIT_EXPECT_EQ(test, 1, hw_qpc_get_rwe(&transition->context));
	/* Responder resources exist only after max_dest_rd_atomic is set. */
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_rre(&transition->context));
	fake->qp.access = attr.qp_access_flags;

	transition = transit(test, fake, IB_QPS_RTR, &attr,
			     IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			     IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	KUNIT_EXPECT_EQ(test, access, transition->optional);
	KUNIT_EXPECT_EQ(test, 1, hw_qpc_get_rre(&transition->context));
	KUNIT_EXPECT_EQ(test, order_base_2(attr.max_dest_rd_atomic),
			hw_qpc_get_log_rra_max(&transition->context));
	KUNIT_EXPECT_EQ(test, 1, hw_qpc_get_rae(&transition->context));
	KUNIT_EXPECT_EQ(test, HW_ATOMIC_MODE_UP_TO_32B,
			hw_qpc_get_atomic_mode(&transition->context));
	KUNIT_EXPECT_EQ(test, HW_QP_MTU_2K_BYTES, hw_qpc_get_mtu(&transition->context));
	KUNIT_EXPECT_EQ(test, attr.dest_qp_num, hw_qpc_get_remote_qpn(&transition->context));
	path = hw_qpc_get_primary_address_path(&transition->context);
	KUNIT_EXPECT_EQ(test, RLID, hw_ads_get_rlid(path));

	transition = transit(test, fake, IB_QPS_RTS, &attr,
			     IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			     IB_QP_MAX_QP_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	KUNIT_EXPECT_EQ(test, HW_QP_OPTIONAL_PARAMETERS_RNR_TIMEOUT, transition->optional);
	KUNIT_EXPECT_EQ(test, attr.retry_cnt, hw_qpc_get_retry_count(&transition->context));
	path = hw_qpc_get_primary_address_path(&transition->context);
	KUNIT_EXPECT_EQ(test, attr.timeout, hw_ads_get_ack_timeout(path));
}

static void uc_qp_access_flags_set_rwe_only(struct kunit *test)
{
	const struct ib_qp_attr attr = { .qp_access_flags = IB_ACCESS_REMOTE_WRITE };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	fake->qp.ib.qp_type = IB_QPT_UC;
	fake->qp.state = IB_QPS_RTS;
	KUNIT_EXPECT_EQ(test, HW_QP_OPTIONAL_PARAMETERS_RWE,
			transit(test, fake, IB_QPS_RTS, &attr, IB_QP_ACCESS_FLAGS)->optional);
}

static void sqe_to_rts_uses_sqerr2rts(struct kunit *test)
{
	const struct ib_qp_attr attr = {};
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	fake->qp.state = IB_QPS_SQE;
	KUNIT_EXPECT_EQ(test, HW_CMD_SQERR2RTS_QP,
			transit(test, fake, IB_QPS_RTS, &attr, 0)->opcode);
}

static void cur_qp_state_selects_command(struct kunit *test)
{
	const struct ib_qp_attr attr = { .cur_qp_state = IB_QPS_SQD };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	fake->qp.state = IB_QPS_RTS;
	KUNIT_EXPECT_EQ(test, HW_CMD_SQD_RTS_QP,
			transit(test, fake, IB_QPS_RTS, &attr, IB_QP_CUR_STATE)->opcode);
}

static void rts_to_sqd_returns_eopnotsupp(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_SQD };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp_transition transition;

	fake->qp.state = IB_QPS_RTS;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			cxib_qp_transition(&fake->qp, &attr, IB_QP_STATE, &transition));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(rst2init_sets_counter_set_of_port),
	KUNIT_CASE(ud_qp_reset_to_rts_sets_context),
	KUNIT_CASE(rst2init_kernel_qp_sets_rlky),
	KUNIT_CASE(transitions_repeat_st_pd_and_cqns),
	KUNIT_CASE(transitions_repeat_cqns_by_qp_type),
	KUNIT_CASE(only_rst2init_sets_rlky_dbr_addr_and_counter_set),
	KUNIT_CASE(rst2init_user_qp_sets_dbr_addr_but_no_rlky),
	KUNIT_CASE(rst2init_without_rq_leaves_dbr_addr),
	KUNIT_CASE(rtr2rts_without_access_flags_leaves_access),
	KUNIT_CASE(rc_qp_rtr_and_rts_set_log_ack_req_freq),
	KUNIT_CASE(init2rtr_sets_port_of_qp),
	KUNIT_CASE(gsi_qp_rst2init_sets_port_and_mtu),
	KUNIT_CASE(gsi_tx_qp_rst2init_sets_deth_sqpn_1),
	KUNIT_CASE(modify_qp_optional_attr_sets_opt_param_mask),
	KUNIT_CASE(special_qp_optional_attr_leaves_opt_param_mask),
	KUNIT_CASE(sqd2rts_takes_access_but_no_alternate_path),
	KUNIT_CASE(xrc_qp_optional_attr_only_outside_sqd2rts),
	KUNIT_CASE(rc_qp_reset_to_rts_sets_context),
	KUNIT_CASE(uc_qp_access_flags_set_rwe_only),
	KUNIT_CASE(sqe_to_rts_uses_sqerr2rts),
	KUNIT_CASE(cur_qp_state_selects_command),
	KUNIT_CASE(rts_to_sqd_returns_eopnotsupp),
	{}
};

static struct kunit_suite suite = {
	.name = "qp_state",
	.test_cases = cases,
};

kunit_test_suite(suite);
