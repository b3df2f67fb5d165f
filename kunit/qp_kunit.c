// SPDX-License-Identifier: GPL-2.0-only
/* The QP context of CREATE_QP, and the opcodes of WRs. */
#include "fake_queue_pair.h"
#include "hw/contexts.h"

#define PDN	0x77
#define OWNER	7
#define SRQN	0x99
#define XRCD	0x44
#define CQN	0x55

static struct hw_qpc context_with(struct fake_queue_pair *fake, enum ib_qp_type type, u32 flags)
{
	static struct cxib_pd pd = { .pdn = PDN };
	const struct ib_qp_init_attr init = { .qp_type = type, .create_flags = flags };
	struct hw_qpc context = {};

	fake->qp.ib.qp_type = type;
	fake->qp.ib.pd = &pd.ib;
	cxib_qp_fill_context(&fake->qp, &init, &context);
	return context;
}

static struct hw_qpc context_of(struct fake_queue_pair *fake, enum ib_qp_type type)
{
	return context_with(fake, type, 0);
}

/* Public drivers do this, and repeat it in transitions: gsi_tx_qp_rst2init_sets_deth_sqpn_1(). */
static void gsi_tx_qp_is_created_with_deth_sqpn_1(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct hw_qpc context = context_with(fake, IB_QPT_UD, CXIB_QP_CREATE_GSI_TX);

	KUNIT_EXPECT_EQ(test, 1, hw_qpc_get_deth_sqpn(&context));
	context = context_of(fake, IB_QPT_UD);
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_deth_sqpn(&context));
}

/* IB_WR_REG_MR, IB_WR_LOCAL_INV and updates by the driver are UMR WQEs, which need fre. */
static void kernel_qp_is_created_with_fre(struct kunit *test)
{
	static const enum ib_qp_type types[] = { IB_QPT_RC, IB_QPT_UD, CXIB_QPT_UMR };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct hw_qpc context;
	bool is_umr;
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		context = context_of(fake, types[i]);
		KUNIT_EXPECT_EQ(test, 1, hw_qpc_get_fre(&context));
		is_umr = types[i] == CXIB_QPT_UMR;
		KUNIT_EXPECT_EQ(test, is_umr ? 0 : PDN, hw_qpc_get_pd(&context));
		KUNIT_EXPECT_EQ(test, is_umr, hw_qpc_get_latency_sensitive(&context));
	}
}

/* create_user_qp() in mlx5_ib/qp.c does this also for user space. */
static void xrc_qp_has_uid_of_kernel(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_pd pd = { .uid = OWNER };

	fake->qp.ib.pd = &pd.ib;
	fake->qp.ib.qp_type = IB_QPT_RC;
	KUNIT_EXPECT_EQ(test, OWNER, cxib_qp_uid(&fake->qp));
	fake->qp.ib.qp_type = IB_QPT_XRC_INI;
	KUNIT_EXPECT_EQ(test, 0, cxib_qp_uid(&fake->qp));
}

/* With fre user space could map any DMA address with an mkey. */
static void user_qp_is_created_without_fre(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct hw_qpc context;

	fake->qp.is_user = true;
	context = context_of(fake, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_fre(&context));
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_rlky(&context));
}

/* create_xrc_tgt_qp() in mlx5_ib/qp.c. */
static void xrc_tgt_qp_names_placeholder_cq(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct hw_qpc context;

	fake->ibdev.xrc.cqn = CQN;
	fake->qp.has_sq = false;
	fake->qp.has_rq = false;
	fake->qp.ib.send_cq = NULL;
	fake->qp.ib.recv_cq = NULL;
	context = context_of(fake, IB_QPT_XRC_TGT);
	KUNIT_EXPECT_EQ(test, CQN, hw_qpc_get_cqn_snd(&context));
	KUNIT_EXPECT_EQ(test, CQN, hw_qpc_get_cqn_rcv(&context));
	KUNIT_EXPECT_EQ(test, 1, hw_qpc_get_no_sq(&context));
}

/* mlx5_ib does this; no public record shows a DCI without an SRQ. */
static void dci_names_placeholder_srq_where_xrc_exists(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct hw_qpc context;

	fake->ibdev.xrc.srqn = SRQN;
	fake->ibdev.xrc.xrcd = XRCD;
	fake->qp.has_rq = false;
	fake->hw.caps.xrc = true;
	context = context_of(fake, IB_QPT_DRIVER);
	KUNIT_EXPECT_EQ(test, HW_QP_RQ_TYPE_SRQ_RQ, hw_qpc_get_rq_type(&context));
	KUNIT_EXPECT_EQ(test, SRQN, hw_qpc_get_srqn_rmpn_xrqn(&context));
	KUNIT_EXPECT_EQ(test, XRCD, hw_qpc_get_xrcd(&context));
	KUNIT_EXPECT_EQ(test, cxib_recv_cq(&fake->qp)->cqn, hw_qpc_get_cqn_rcv(&context));

	fake->hw.caps.xrc = false;
	context = context_of(fake, IB_QPT_DRIVER);
	KUNIT_EXPECT_EQ(test, HW_QP_RQ_TYPE_ZERO_LEN_RQ, hw_qpc_get_rq_type(&context));
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_srqn_rmpn_xrqn(&context));
}

/*
 * No public record shows a driver that creates them without an SRQ; RC and UD QPs exist without
 * one.
 */
static void uc_and_umr_qps_name_placeholder_srq(struct kunit *test)
{
	static const enum ib_qp_type types[] = { IB_QPT_UC, CXIB_QPT_UMR, IB_QPT_RC, IB_QPT_UD };
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct hw_qpc context;
	bool names;
	int i;

	fake->ibdev.xrc.srqn = SRQN;
	fake->ibdev.xrc.xrcd = XRCD;
	fake->hw.caps.xrc = true;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		context = context_of(fake, types[i]);
		names = types[i] == IB_QPT_UC || types[i] == CXIB_QPT_UMR;
		KUNIT_EXPECT_EQ(test, names ? SRQN : 0, hw_qpc_get_srqn_rmpn_xrqn(&context));
		KUNIT_EXPECT_EQ(test, names ? XRCD : 0, hw_qpc_get_xrcd(&context));
		KUNIT_EXPECT_NE(test, HW_QP_RQ_TYPE_SRQ_RQ, hw_qpc_get_rq_type(&context));
	}
	fake->hw.caps.xrc = false;
	context = context_of(fake, IB_QPT_UC);
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_srqn_rmpn_xrqn(&context));
}

static void integrity_qp_sets_go_back_n_where_supported(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct hw_qpc context;

	context = context_with(fake, IB_QPT_RC, IB_QP_CREATE_INTEGRITY_EN);
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_retry_mode(&context));
	fake->hw.caps.go_back_n = 1;
	context = context_with(fake, IB_QPT_RC, IB_QP_CREATE_INTEGRITY_EN);
	KUNIT_EXPECT_EQ(test, HW_QP_RETRY_MODE_GO_BACK_N, hw_qpc_get_retry_mode(&context));
	context = context_of(fake, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, 0, hw_qpc_get_retry_mode(&context));
}

static u64 opcodes_of(struct fake_queue_pair *fake)
{
	fake->qp.ib.qp_type = IB_QPT_RC;
	cxib_qp_set_opcode_mask(&fake->qp);
	return fake->qp.sq.opcode_mask;
}

/* NVMe, iSER, SRP and RDS register memory with WQEs on any device: mlx5_ib_query_device(). */
static void rc_qp_has_fast_registration_with_or_without_imaicl(struct kunit *test)
{
	const u64 registration = BIT_ULL(IB_WR_REG_MR) | BIT_ULL(IB_WR_LOCAL_INV) |
				 BIT_ULL(IB_WR_SEND_WITH_INV);
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	fake->hw.caps.imaicl = 0;
	KUNIT_EXPECT_EQ(test, registration, opcodes_of(fake) & registration);
	fake->hw.caps.imaicl = 1;
	KUNIT_EXPECT_EQ(test, registration, opcodes_of(fake) & registration);
}

/*
 * If the device returns the old value in big-endian order, callers would get wrong values. Masked
 * atomics also need an operand size of 8 bytes.
 */
static void rc_qp_has_atomics_in_host_byte_order_only(struct kunit *test)
{
	const u64 plain = BIT_ULL(IB_WR_ATOMIC_CMP_AND_SWP) | BIT_ULL(IB_WR_ATOMIC_FETCH_AND_ADD);
	const u64 masked = BIT_ULL(IB_WR_MASKED_ATOMIC_CMP_AND_SWP) |
			   BIT_ULL(IB_WR_MASKED_ATOMIC_FETCH_AND_ADD);
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_device_caps *caps = &fake->hw.caps;

	caps->atomic = 1;
	caps->atomic_operations = HW_ATOMIC_OPERATIONS_CMP_SWAP | HW_ATOMIC_OPERATIONS_FETCH_ADD |
				  HW_ATOMIC_OPERATIONS_EXTENDED_CMP_SWAP |
				  HW_ATOMIC_OPERATIONS_EXTENDED_FETCH_ADD;
	caps->atomic_size_qp = HW_ATOMIC_SIZE_BYTES_8;
	caps->atomic_host_endian = 0;
	KUNIT_EXPECT_EQ(test, 0, opcodes_of(fake) & (plain | masked));
	caps->atomic_host_endian = 1;
	KUNIT_EXPECT_EQ(test, plain | masked, opcodes_of(fake) & (plain | masked));
	caps->atomic_size_qp = HW_ATOMIC_SIZE_BYTES_4;
	KUNIT_EXPECT_EQ(test, plain, opcodes_of(fake) & (plain | masked));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(gsi_tx_qp_is_created_with_deth_sqpn_1),
	KUNIT_CASE(kernel_qp_is_created_with_fre),
	KUNIT_CASE(xrc_qp_has_uid_of_kernel),
	KUNIT_CASE(user_qp_is_created_without_fre),
	KUNIT_CASE(xrc_tgt_qp_names_placeholder_cq),
	KUNIT_CASE(dci_names_placeholder_srq_where_xrc_exists),
	KUNIT_CASE(uc_and_umr_qps_name_placeholder_srq),
	KUNIT_CASE(integrity_qp_sets_go_back_n_where_supported),
	KUNIT_CASE(rc_qp_has_fast_registration_with_or_without_imaicl),
	KUNIT_CASE(rc_qp_has_atomics_in_host_byte_order_only),
	{}
};

static struct kunit_suite suite = {
	.name = "qp",
	.test_cases = cases,
};

kunit_test_suite(suite);
