// SPDX-License-Identifier: GPL-2.0-only
/* DEVX: commands that user space may issue, and how the driver changes them. */
#include <rdma/ib_mad.h>

#include "hw/command_interface.h"
#include "hw/commands_device.h"
#include "hw/commands_events.h"
#include "hw/commands_memory.h"
#include "hw/commands_objects.h"
#include "hw/commands_port.h"
#include "hw/commands_queue_pairs.h"
#include "hw/commands_receive_queues.h"
#include "kernel_kunit.h"
#include "user/devx_command.h"

/* Type of general objects that reserve QPNs, for which mlx5_ifc.h has no name. */
#define RESERVED_NUMBERS	0x2c

#define QPN		0x321
#define CQN		0x321
#define PDN		0x42
#define PSVN		0x123456
#define OBJECT_ID	0xfedcba98

/* Bit 31 marks a controlled Q_Key: IBA 10.2.5. */
#define FREE_QKEY	0x7fffffff

/* Objects to which a QP context refers. */
#define UAR		7
#define REFERRED_PDN	8
#define SEND_CQN	9
#define RECV_CQN	10
#define SRQN		11

/* Outputs of create commands: a PSV number is the fifth word, an object number the third. */
#define PSV_WORD	4
#define OBJECT_WORD	2

/* Union of all inputs below. */
union input {
	struct hw_general_obj_in_cmd_hdr general;
	struct hw_create_mkey_in mkey;
	struct hw_create_psv_in psv;
	struct hw_create_cq_in cq;
	struct hw_create_qp_in qp;
	struct hw_create_rmp_in rmp;
	struct hw_create_dct_in dct;
	struct hw_create_xrq_in xrq;
	struct hw_arm_rq_in arm;
	struct hw_modify_cq_in modify_cq;
	struct hw_rst2init_qp_in transition;
	u8 bytes[0x200];
};

static union input *command(struct kunit *test, u16 opcode)
{
	union input *in = kunit_kzalloc(test, sizeof(*in), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, in);
	hw_general_obj_in_cmd_hdr_set_opcode(&in->general, opcode);
	return in;
}

static int check_create(union input *in, struct cxib_devx_obj_id *object,
			struct cxib_devx_refs *refs)
{
	return cxib_devx_check_create(in, sizeof(*in), object, refs);
}

static void devx_general_cmd_lists_queries(struct kunit *test)
{
	static const u16 queries[] = {
		HW_CMD_QUERY_HCA_CAP, HW_CMD_QUERY_HCA_VPORT_CONTEXT, HW_CMD_QUERY_ISSI, HW_CMD_NOP,
		HW_CMD_QUERY_LAG, HW_CMD_QUERY_VNIC_ENV,
	};
	static const u16 others[] = {
		HW_CMD_SET_HCA_CAP, HW_CMD_TEARDOWN_HCA, HW_CMD_MANAGE_PAGES,
		HW_CMD_ACCESS_REGISTER, HW_CMD_CREATE_UCTX, HW_CMD_CREATE_UMEM, HW_CMD_CREATE_EQ,
		HW_CMD_QUERY_QP,
		HW_CMD_MODIFY_HCA_VPORT_CONTEXT, HW_CMD_MAD_IFC, 0, 0xffff,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(queries); i++)
		KUNIT_EXPECT_TRUE(test, cxib_devx_is_general_cmd(command(test, queries[i])));
	for (i = 0; i < ARRAY_SIZE(others); i++)
		KUNIT_EXPECT_FALSE(test, cxib_devx_is_general_cmd(command(test, others[i])));
}

/*
 * These are the upper 16 bits of the second word of each command; the lower ones are op_mod or the
 * type.
 */
static void devx_command_of_other_function_is_tunnelled(struct kunit *test)
{
	union input *in = command(test, HW_CMD_QUERY_HCA_CAP);

	hw_general_obj_in_cmd_hdr_set_obj_type(&in->general, U16_MAX);
	KUNIT_EXPECT_FALSE(test, cxib_devx_is_tunnelled(in));
	hw_general_obj_in_cmd_hdr_set_vhca_tunnel_id(&in->general, 1);
	KUNIT_EXPECT_TRUE(test, cxib_devx_is_tunnelled(in));
	hw_general_obj_in_cmd_hdr_set_vhca_tunnel_id(&in->general, 0x8000);
	KUNIT_EXPECT_TRUE(test, cxib_devx_is_tunnelled(in));
}

#define LOG_RANGE	6

static void devx_reserved_qpns_are_counted(struct kunit *test)
{
	union input *in = command(test, HW_CMD_CREATE_GENERAL_OBJECT);
	struct hw_general_obj_create_param *param =
		hw_general_obj_in_cmd_hdr_op_param_general_obj_create_param(&in->general);

	hw_general_obj_in_cmd_hdr_set_obj_type(&in->general, RESERVED_NUMBERS);
	hw_general_obj_create_param_set_log_obj_range(param, LOG_RANGE);
	KUNIT_EXPECT_EQ(test, BIT(LOG_RANGE), cxib_devx_num_qpns(in));
	hw_general_obj_in_cmd_hdr_set_obj_type(&in->general, RESERVED_NUMBERS + 1);
	KUNIT_EXPECT_EQ(test, 0, cxib_devx_num_qpns(in));
}

/* The limit applies before the device checks the size. */
static void devx_reserve_qpns_beyond_limit_returns_enospc(struct kunit *test)
{
	const u32 limit = 2 * BIT(LOG_RANGE);
	atomic_t reserved = ATOMIC_INIT(0);

	KUNIT_EXPECT_EQ(test, -ENOSPC, cxib_devx_reserve_qpns(&reserved, BIT(31), limit));
	KUNIT_EXPECT_EQ(test, 0, cxib_devx_reserve_qpns(&reserved, BIT(LOG_RANGE), limit));
	KUNIT_EXPECT_EQ(test, 0, cxib_devx_reserve_qpns(&reserved, BIT(LOG_RANGE), limit));
	KUNIT_EXPECT_EQ(test, -ENOSPC, cxib_devx_reserve_qpns(&reserved, 1, limit));
	KUNIT_EXPECT_EQ(test, 0, cxib_devx_reserve_qpns(&reserved, 0, limit));
	KUNIT_EXPECT_EQ(test, limit, atomic_read(&reserved));
}

static void devx_create_unlisted_returns_einval(struct kunit *test)
{
	static const u16 others[] = {
		HW_CMD_CREATE_EQ, HW_CMD_CREATE_UCTX, HW_CMD_CREATE_UMEM, HW_CMD_CREATE_XRC_SRQ,
		HW_CMD_ALLOC_PD, HW_CMD_ALLOC_UAR, HW_CMD_ALLOC_MEMIC, HW_CMD_DESTROY_QP, 0,
	};
	struct cxib_devx_obj_id object;
	struct cxib_devx_refs refs;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		KUNIT_EXPECT_EQ(test, -EINVAL,
				check_create(command(test, others[i]), &object, &refs));
}

static void devx_create_short_input_returns_einval(struct kunit *test)
{
	union input *in = command(test, HW_CMD_CREATE_QP);
	struct cxib_devx_obj_id object;
	struct cxib_devx_refs refs;
	size_t length;

	for (length = 16; length < sizeof(in->qp); length++)
		KUNIT_EXPECT_EQ(test, -EINVAL,
				cxib_devx_check_create(in, length, &object, &refs));
	KUNIT_EXPECT_EQ(test, 0, cxib_devx_check_create(in, sizeof(in->qp), &object, &refs));
}

static int check_create_mkey(struct kunit *test, u32 mode, bool umr_en, bool *is_registered)
{
	union input *in = command(test, HW_CMD_CREATE_MKEY);
	struct hw_mkc *context = hw_create_mkey_in_memory_key_mkey_entry(&in->mkey);
	struct cxib_devx_obj_id object;
	struct cxib_devx_refs refs;
	int err;

	hw_mkc_set_access_mode_1_0(context, mode & 3);
	hw_mkc_set_access_mode_4_2(context, mode >> 2);
	hw_mkc_set_umr_en(context, umr_en);
	hw_mkc_set_pd(context, PDN);
	err = check_create(in, &object, &refs);
	KUNIT_EXPECT_TRUE(test, refs.has_pd);
	KUNIT_EXPECT_EQ(test, PDN, refs.pd);
	*is_registered = hw_create_mkey_in_get_mkey_umem_valid(&in->mkey);
	return err;
}

static void devx_create_mkey_pa_returns_eperm(struct kunit *test)
{
	bool is_registered;

	KUNIT_EXPECT_EQ(test, 0,
			check_create_mkey(test, HW_MKEY_ACCESS_MODE_KLMS, true, &is_registered));
	KUNIT_EXPECT_EQ(test, 0,
			check_create_mkey(test, HW_MKEY_ACCESS_MODE_KSM, true, &is_registered));
	KUNIT_EXPECT_EQ(test, 0,
			check_create_mkey(test, HW_MKEY_ACCESS_MODE_MTT, false, &is_registered));
	KUNIT_EXPECT_TRUE(test, is_registered);
	KUNIT_EXPECT_EQ(test, -EPERM,
			check_create_mkey(test, HW_MKEY_ACCESS_MODE_MTT, true, &is_registered));
	KUNIT_EXPECT_EQ(test, -EPERM,
			check_create_mkey(test, HW_MKEY_ACCESS_MODE_PA, false, &is_registered));
	KUNIT_EXPECT_EQ(test, -EPERM,
			check_create_mkey(test, HW_MKEY_ACCESS_MODE_MEMIC, false, &is_registered));
}

/* DESTROY_PSV names a single PSV. */
static void devx_create_psv_two_returns_einval(struct kunit *test)
{
	union input *in = command(test, HW_CMD_CREATE_PSV);
	struct cxib_devx_obj_id object;
	struct cxib_devx_refs refs;
	__be32 out[8] = {};

	hw_create_psv_in_set_num_psv(&in->psv, 2);
	KUNIT_EXPECT_EQ(test, -EINVAL, check_create(in, &object, &refs));
	hw_create_psv_in_set_num_psv(&in->psv, 1);
	KUNIT_ASSERT_EQ(test, 0, check_create(in, &object, &refs));
	out[PSV_WORD] = cpu_to_be32(PSVN);
	cxib_devx_get_obj_id(out, sizeof(out), &object);
	KUNIT_EXPECT_EQ(test, PSVN, object.number);
	cxib_devx_build_destroy(&object, &in->general);
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_PSV,
			hw_general_obj_in_cmd_hdr_get_opcode(&in->general));
	KUNIT_EXPECT_EQ(test, PSVN, hw_general_obj_in_cmd_hdr_get_obj_id(&in->general));
}

static void devx_obj_id_beyond_output_is_0(struct kunit *test)
{
	struct cxib_devx_obj_id object = { .kind = CXIB_DEVX_PSV };
	__be32 out[8] = { [PSV_WORD] = cpu_to_be32(PSVN) };

	cxib_devx_get_obj_id(out, PSV_WORD * sizeof(*out), &object);
	KUNIT_EXPECT_EQ(test, 0, object.number);
}

static void devx_create_queue_sets_umem_valid(struct kunit *test)
{
	union input *cq = command(test, HW_CMD_CREATE_CQ);
	union input *qp = command(test, HW_CMD_CREATE_QP);
	union input *rmp = command(test, HW_CMD_CREATE_RMP);
	struct cxib_devx_obj_id object;
	struct cxib_devx_refs refs;
	const struct hw_wq *queue;

	KUNIT_ASSERT_EQ(test, 0, check_create(cq, &object, &refs));
	KUNIT_EXPECT_EQ(test, 1, hw_create_cq_in_get_cq_umem_valid(&cq->cq));
	KUNIT_EXPECT_EQ(test, 1, hw_cqc_get_dbr_umem_valid(hw_create_cq_in_cq_context(&cq->cq)));
	KUNIT_ASSERT_EQ(test, 0, check_create(qp, &object, &refs));
	KUNIT_EXPECT_EQ(test, 1, hw_create_qp_in_get_wq_umem_valid(&qp->qp));
	KUNIT_EXPECT_EQ(test, 1, hw_qpc_get_dbr_umem_valid(hw_create_qp_in_qpc(&qp->qp)));
	KUNIT_ASSERT_EQ(test, 0, check_create(rmp, &object, &refs));
	queue = hw_rmpc_wq(hw_create_rmp_in_ctx(&rmp->rmp));
	KUNIT_EXPECT_EQ(test, 1, hw_wq_get_wq_umem_valid(queue));
	KUNIT_EXPECT_EQ(test, 1, hw_wq_get_dbr_umem_valid(queue));
}

static void devx_create_qp_returns_refs(struct kunit *test)
{
	union input *in = command(test, HW_CMD_CREATE_QP);
	struct hw_qpc *context = hw_create_qp_in_qpc(&in->qp);
	struct cxib_devx_obj_id object;
	struct cxib_devx_refs refs;

	hw_qpc_set_uar_page(context, UAR);
	hw_qpc_set_pd(context, REFERRED_PDN);
	hw_qpc_set_cqn_snd(context, SEND_CQN);
	hw_qpc_set_cqn_rcv(context, RECV_CQN);
	KUNIT_ASSERT_EQ(test, 0, check_create(in, &object, &refs));
	KUNIT_EXPECT_TRUE(test, refs.has_uar && refs.uar == UAR);
	KUNIT_EXPECT_TRUE(test, refs.has_pd && refs.pd == REFERRED_PDN);
	KUNIT_ASSERT_EQ(test, 2, refs.cq_count);
	KUNIT_EXPECT_EQ(test, SEND_CQN, refs.cqs[0]);
	KUNIT_EXPECT_EQ(test, RECV_CQN, refs.cqs[1]);
	KUNIT_EXPECT_FALSE(test, refs.has_srq);
	hw_qpc_set_rq_type(context, HW_QP_RQ_TYPE_SRQ_RQ);
	hw_qpc_set_srqn_rmpn_xrqn(context, SRQN);
	KUNIT_ASSERT_EQ(test, 0, check_create(in, &object, &refs));
	KUNIT_EXPECT_TRUE(test, refs.has_srq && refs.srq == SRQN);
}

static int check_create_qp(struct kunit *test, u32 type, bool rlky, bool fre)
{
	union input *in = command(test, HW_CMD_CREATE_QP);
	struct hw_qpc *context = hw_create_qp_in_qpc(&in->qp);
	struct cxib_devx_obj_id object;
	struct cxib_devx_refs refs;

	hw_qpc_set_st(context, type);
	hw_qpc_set_rlky(context, rlky);
	hw_qpc_set_fre(context, fre);
	return check_create(in, &object, &refs);
}

static void devx_create_qp_kernel_rights_return_eperm(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, check_create_qp(test, HW_QP_SERVICE_TYPE_RC, false, false));
	KUNIT_EXPECT_EQ(test, 0, check_create_qp(test, HW_QP_SERVICE_TYPE_UD, false, false));
	KUNIT_EXPECT_EQ(test, -EPERM, check_create_qp(test, HW_QP_SERVICE_TYPE_RC, true, false));
	KUNIT_EXPECT_EQ(test, -EPERM, check_create_qp(test, HW_QP_SERVICE_TYPE_RC, false, true));
	KUNIT_EXPECT_EQ(test, -EPERM, check_create_qp(test, HW_QP_SERVICE_TYPE_QP0, false, false));
	KUNIT_EXPECT_EQ(test, -EPERM, check_create_qp(test, HW_QP_SERVICE_TYPE_QP1, false, false));
	KUNIT_EXPECT_EQ(test, -EPERM,
			check_create_qp(test, HW_QP_SERVICE_TYPE_REG_UMR, false, false));
	KUNIT_EXPECT_EQ(test, -EPERM, check_create_qp(test, HW_QP_SERVICE_TYPE_XRC, false, false));
}

static bool created_needs_net_raw(struct kunit *test, u32 q_key, u32 source)
{
	union input *in = command(test, HW_CMD_CREATE_QP);
	struct hw_qpc *context = hw_create_qp_in_qpc(&in->qp);
	struct cxib_devx_obj_id object;
	struct cxib_devx_refs refs;

	hw_qpc_set_st(context, HW_QP_SERVICE_TYPE_UD);
	hw_qpc_set_q_key(context, q_key);
	hw_qpc_set_deth_sqpn(context, source);
	KUNIT_EXPECT_EQ(test, 0, check_create(in, &object, &refs));
	return refs.net_raw;
}

static bool changed_needs_net_raw(struct kunit *test, u16 opcode, u32 q_key, u32 source)
{
	const struct cxib_devx_obj_id queue = { .kind = CXIB_DEVX_QP, .number = QPN };
	union input *in = command(test, opcode);
	struct hw_qpc *context = hw_rst2init_qp_in_qpc(&in->transition);
	struct cxib_devx_refs refs;

	hw_rst2init_qp_in_set_qpn(&in->transition, QPN);
	hw_qpc_set_q_key(context, q_key);
	hw_qpc_set_deth_sqpn(context, source);
	KUNIT_EXPECT_EQ(test, 0, cxib_devx_check_modify(&queue, in, sizeof(*in), &refs));
	return refs.net_raw;
}

static void devx_qp_controlled_q_key_needs_net_raw(struct kunit *test)
{
	static const u16 transitions[] = {
		HW_CMD_RST2INIT_QP, HW_CMD_INIT2INIT_QP, HW_CMD_INIT2RTR_QP, HW_CMD_RTR2RTS_QP,
		HW_CMD_RTS2RTS_QP, HW_CMD_SQERR2RTS_QP, HW_CMD_SQD_RTS_QP,
	};
	unsigned int i;

	KUNIT_EXPECT_TRUE(test, created_needs_net_raw(test, IB_QP1_QKEY, 0));
	KUNIT_EXPECT_TRUE(test, created_needs_net_raw(test, 0, 1));
	KUNIT_EXPECT_FALSE(test, created_needs_net_raw(test, FREE_QKEY, 0));
	for (i = 0; i < ARRAY_SIZE(transitions); i++) {
		const u16 opcode = transitions[i];

		KUNIT_EXPECT_TRUE(test, changed_needs_net_raw(test, opcode, IB_QP1_QKEY, 0));
		KUNIT_EXPECT_TRUE(test, changed_needs_net_raw(test, opcode, 0, 1));
		KUNIT_EXPECT_FALSE(test, changed_needs_net_raw(test, opcode, FREE_QKEY, 0));
	}
}

/* RAW_TX and INTERNAL_DEV_RES of the capability uctx_cap: mlx5_ifc.h. */
static void devx_context_rights_follow_capabilities(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, cxib_devx_rights(U32_MAX, false, false));
	KUNIT_EXPECT_EQ(test, BIT(0), cxib_devx_rights(U32_MAX, true, false));
	KUNIT_EXPECT_EQ(test, BIT(1), cxib_devx_rights(U32_MAX, false, true));
	KUNIT_EXPECT_EQ(test, BIT(1), cxib_devx_rights(BIT(1), true, true));
	KUNIT_EXPECT_EQ(test, 0, cxib_devx_rights(BIT(2), true, true));
}

static void devx_destroy_general_object_passes_type(struct kunit *test)
{
	union input *in = command(test, HW_CMD_CREATE_GENERAL_OBJECT);
	struct cxib_devx_obj_id object;
	struct cxib_devx_refs refs;
	__be32 out[4] = { [OBJECT_WORD] = cpu_to_be32(OBJECT_ID) };

	hw_general_obj_in_cmd_hdr_set_obj_type(&in->general, HW_OBJECT_TYPE_SW_ICM);
	KUNIT_EXPECT_EQ(test, -EPERM, check_create(in, &object, &refs));
	hw_general_obj_in_cmd_hdr_set_obj_type(&in->general, RESERVED_NUMBERS);
	KUNIT_ASSERT_EQ(test, 0, check_create(in, &object, &refs));
	cxib_devx_get_obj_id(out, sizeof(out), &object);
	cxib_devx_build_destroy(&object, &in->general);
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_GENERAL_OBJECT,
			hw_general_obj_in_cmd_hdr_get_opcode(&in->general));
	KUNIT_EXPECT_EQ(test, RESERVED_NUMBERS,
			hw_general_obj_in_cmd_hdr_get_obj_type(&in->general));
	KUNIT_EXPECT_EQ(test, OBJECT_ID, hw_general_obj_in_cmd_hdr_get_obj_id(&in->general));
}

static void devx_query_other_object_returns_einval(struct kunit *test)
{
	const struct cxib_devx_obj_id queue = { .kind = CXIB_DEVX_QP, .number = QPN };
	const struct cxib_devx_obj_id value = { .kind = CXIB_DEVX_PSV, .number = QPN };
	union input *in = command(test, HW_CMD_QUERY_QP);

	hw_general_obj_in_cmd_hdr_set_obj_id(&in->general, QPN);
	KUNIT_EXPECT_EQ(test, 0, cxib_devx_check_query(&queue, in));
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_devx_check_query(&value, in));
	hw_general_obj_in_cmd_hdr_set_obj_id(&in->general, QPN + 1);
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_devx_check_query(&queue, in));
	in = command(test, HW_CMD_QUERY_CQ);
	hw_general_obj_in_cmd_hdr_set_obj_id(&in->general, QPN);
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_devx_check_query(&queue, in));
}

static void devx_create_outlen_contains_number(struct kunit *test)
{
	struct hw_create_mkey_in mkey = {};
	const size_t usual = sizeof(struct hw_create_mkey_out);
	const size_t longer = usual + sizeof(u64);
	struct hw_create_psv_in psv = {};

	hw_create_mkey_in_set_opcode(&mkey, HW_CMD_CREATE_MKEY);
	hw_create_psv_in_set_opcode(&psv, HW_CMD_CREATE_PSV);
	KUNIT_EXPECT_EQ(test, usual, cxib_devx_create_outlen(&mkey, sizeof(u64)));
	KUNIT_EXPECT_EQ(test, usual, cxib_devx_create_outlen(&mkey, usual));
	KUNIT_EXPECT_EQ(test, longer, cxib_devx_create_outlen(&mkey, longer));
	KUNIT_EXPECT_EQ(test, sizeof(struct hw_create_psv_out),
			cxib_devx_create_outlen(&psv, usual));
}

static void devx_query_qp_outlen_excludes_pas(struct kunit *test)
{
	const struct cxib_devx_obj_id queue = { .kind = CXIB_DEVX_QP };
	const struct hw_query_qp_out *out = kunit_kzalloc(test, sizeof(*out), GFP_KERNEL);
	const void *pas = hw_query_qp_out_get_qp_pas_or_qpc_ext_and_pas_qp_pas_list_in(out);

	KUNIT_ASSERT_NOT_NULL(test, out);
	KUNIT_EXPECT_EQ(test, sizeof(struct hw_cmd_out),
			cxib_devx_query_outlen(&queue, sizeof(struct hw_cmd_out)));
	KUNIT_EXPECT_EQ(test, pas - (const void *)out, cxib_devx_query_outlen(&queue, U16_MAX));
}

static void devx_query_dbr_addr_reads_0(struct kunit *test)
{
	static const enum cxib_devx_kind kinds[] = { CXIB_DEVX_CQ, CXIB_DEVX_QP, CXIB_DEVX_RMP };
	void *out = kunit_kzalloc(test, CXIB_DEVX_QUERY_MAX, GFP_KERNEL);
	struct hw_cqc *cq = hw_query_cq_out_cq_context(out);
	struct hw_qpc *qp = hw_query_qp_out_qpc(out);
	struct hw_wq *wq = hw_rmpc_wq(hw_query_rmp_out_rmp_context(out));
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, out);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct cxib_devx_obj_id object = { .kind = kinds[i] };

		memset(out, 0xff, CXIB_DEVX_QUERY_MAX);
		cxib_devx_hide_addresses(&object, out);
		KUNIT_EXPECT_EQ(test, kinds[i] == CXIB_DEVX_CQ, !hw_cqc_get_dbr_addr(cq));
		KUNIT_EXPECT_EQ(test, kinds[i] == CXIB_DEVX_QP, !hw_qpc_get_dbr_addr(qp));
		KUNIT_EXPECT_EQ(test, kinds[i] == CXIB_DEVX_RMP, !hw_wq_get_dbr_addr(wq));
	}
}

static int modify(struct kunit *test, bool from_verbs, u16 opcode, struct cxib_devx_refs *refs)
{
	const struct cxib_devx_obj_id queue = {
		.kind = CXIB_DEVX_QP, .number = QPN, .from_verbs = from_verbs,
	};
	union input *in = command(test, opcode);

	hw_rst2init_qp_in_set_qpn(&in->transition, QPN);
	hw_qpc_set_pd(hw_rst2init_qp_in_qpc(&in->transition), REFERRED_PDN);
	return cxib_devx_check_modify(&queue, in, sizeof(*in), refs);
}

static void devx_modify_verbs_qp_state_returns_eperm(struct kunit *test)
{
	static const u16 changes_of_state[] = {
		HW_CMD_RST2INIT_QP, HW_CMD_INIT2RTR_QP, HW_CMD_RTR2RTS_QP, HW_CMD_SQERR2RTS_QP,
		HW_CMD_SQD_RTS_QP, HW_CMD_2ERR_QP, HW_CMD_2RST_QP,
	};
	struct cxib_devx_refs refs;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(changes_of_state); i++) {
		KUNIT_EXPECT_EQ(test, -EPERM, modify(test, true, changes_of_state[i], &refs));
		KUNIT_EXPECT_EQ(test, 0, modify(test, false, changes_of_state[i], &refs));
	}
	KUNIT_EXPECT_EQ(test, 0, modify(test, true, HW_CMD_INIT2INIT_QP, &refs));
	KUNIT_EXPECT_EQ(test, 0, modify(test, true, HW_CMD_RTS2RTS_QP, &refs));
	KUNIT_EXPECT_EQ(test, -EINVAL, modify(test, true, HW_CMD_DESTROY_QP, &refs));
}

static void devx_modify_qp_returns_refs(struct kunit *test)
{
	struct cxib_devx_refs refs;

	KUNIT_ASSERT_EQ(test, 0, modify(test, false, HW_CMD_RST2INIT_QP, &refs));
	KUNIT_EXPECT_TRUE(test, refs.has_pd && refs.pd == REFERRED_PDN);
	KUNIT_EXPECT_EQ(test, 0, refs.cq_count);
	KUNIT_EXPECT_FALSE(test, refs.has_srq);
}

static void devx_modify_qp_rights_return_eperm(struct kunit *test)
{
	const struct cxib_devx_obj_id queue = { .kind = CXIB_DEVX_QP, .number = QPN };
	union input *in = command(test, HW_CMD_RST2INIT_QP);
	struct hw_qpc *context = hw_rst2init_qp_in_qpc(&in->transition);
	const size_t length = (void *)(context + 1) - (void *)in;
	struct cxib_devx_refs refs;

	hw_rst2init_qp_in_set_qpn(&in->transition, QPN);
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_devx_check_modify(&queue, in, length - 1, &refs));
	KUNIT_EXPECT_EQ(test, 0, cxib_devx_check_modify(&queue, in, length, &refs));
	hw_qpc_set_rlky(context, 1);
	KUNIT_EXPECT_EQ(test, -EPERM, cxib_devx_check_modify(&queue, in, sizeof(*in), &refs));
	hw_qpc_set_rlky(context, 0);
	hw_qpc_set_dbr_addr(context, 0x1000);
	KUNIT_EXPECT_EQ(test, -EPERM, cxib_devx_check_modify(&queue, in, sizeof(*in), &refs));
}

static void devx_modify_cq_eqn_returns_eperm(struct kunit *test)
{
	const struct cxib_devx_obj_id queue = { .kind = CXIB_DEVX_CQ, .number = CQN };
	union input *in = command(test, HW_CMD_MODIFY_CQ);
	struct cxib_devx_refs refs;

	hw_modify_cq_in_set_cqn(&in->modify_cq, CQN);
	in->modify_cq.dw[3] = cpu_to_be32(HW_CQ_MODIFY_FIELD_SELECT_CQ_PERIOD);
	KUNIT_EXPECT_EQ(test, 0, cxib_devx_check_modify(&queue, in, sizeof(*in), &refs));
	in->modify_cq.dw[3] = cpu_to_be32(HW_CQ_MODIFY_FIELD_SELECT_C_EQN);
	KUNIT_EXPECT_EQ(test, -EPERM, cxib_devx_check_modify(&queue, in, sizeof(*in), &refs));
	in->modify_cq.dw[3] = 0;
	hw_modify_cq_in_set_op_mod(&in->modify_cq, HW_MODIFY_CQ_OP_MOD_RESIZE_CQ);
	KUNIT_EXPECT_EQ(test, -EPERM, cxib_devx_check_modify(&queue, in, sizeof(*in), &refs));
}

static void devx_create_dct_returns_refs(struct kunit *test)
{
	union input *in = command(test, HW_CMD_CREATE_DCT);
	struct hw_dctc *context = hw_create_dct_in_dct_context_entry(&in->dct);
	struct cxib_devx_obj_id object;
	struct cxib_devx_refs refs;

	hw_dctc_set_pd(context, PDN);
	hw_dctc_set_cqn(context, CQN);
	hw_dctc_set_srqn_xrqn(context, SRQN);
	KUNIT_EXPECT_EQ(test, 0, check_create(in, &object, &refs));
	KUNIT_EXPECT_EQ(test, CXIB_DEVX_DCT, object.kind);
	KUNIT_EXPECT_TRUE(test, refs.has_pd && refs.pd == PDN);
	KUNIT_EXPECT_TRUE(test, refs.cq_count == 1 && refs.cqs[0] == CQN);
	KUNIT_EXPECT_TRUE(test, refs.has_srq && refs.srq == SRQN);
	hw_dctc_set_rlky(context, 1);
	KUNIT_EXPECT_EQ(test, -EPERM, check_create(in, &object, &refs));
}

static void devx_create_xrq_returns_refs(struct kunit *test)
{
	union input *in = command(test, HW_CMD_CREATE_XRQ);
	struct hw_xrqc *context = hw_create_xrq_in_xrq_context(&in->xrq);
	struct cxib_devx_obj_id object;
	struct cxib_devx_refs refs;

	hw_wq_set_pd(hw_xrqc_wq(context), PDN);
	hw_xrqc_set_cqn(context, CQN);
	KUNIT_EXPECT_EQ(test, 0, check_create(in, &object, &refs));
	KUNIT_EXPECT_EQ(test, CXIB_DEVX_XRQ, object.kind);
	KUNIT_EXPECT_TRUE(test, refs.has_pd && refs.pd == PDN);
	KUNIT_EXPECT_TRUE(test, refs.cq_count == 1 && refs.cqs[0] == CQN);
	KUNIT_EXPECT_TRUE(test, hw_wq_get_wq_umem_valid(hw_xrqc_wq(context)));
	KUNIT_EXPECT_TRUE(test, hw_wq_get_dbr_umem_valid(hw_xrqc_wq(context)));
	hw_xrqc_set_rlkey(context, 1);
	KUNIT_EXPECT_EQ(test, -EPERM, check_create(in, &object, &refs));
}

static void devx_arm_xrq_of_other_kind_returns_eperm(struct kunit *test)
{
	const struct cxib_devx_obj_id queue = { .kind = CXIB_DEVX_XRQ, .number = SRQN };
	union input *in = command(test, HW_CMD_ARM_RQ);
	struct cxib_devx_refs refs;

	hw_arm_rq_in_set_srq_number(&in->arm, SRQN);
	KUNIT_EXPECT_EQ(test, -EPERM, cxib_devx_check_modify(&queue, in, sizeof(*in), &refs));
	hw_arm_rq_in_set_op_mod(&in->arm, HW_ARM_RQ_OP_MOD_XRQ);
	KUNIT_EXPECT_EQ(test, 0, cxib_devx_check_modify(&queue, in, sizeof(*in), &refs));
	hw_arm_rq_in_set_srq_number(&in->arm, SRQN + 1);
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_devx_check_modify(&queue, in, sizeof(*in), &refs));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(devx_general_cmd_lists_queries),
	KUNIT_CASE(devx_command_of_other_function_is_tunnelled),
	KUNIT_CASE(devx_reserved_qpns_are_counted),
	KUNIT_CASE(devx_reserve_qpns_beyond_limit_returns_enospc),
	KUNIT_CASE(devx_create_unlisted_returns_einval),
	KUNIT_CASE(devx_create_short_input_returns_einval),
	KUNIT_CASE(devx_create_mkey_pa_returns_eperm),
	KUNIT_CASE(devx_create_psv_two_returns_einval),
	KUNIT_CASE(devx_obj_id_beyond_output_is_0),
	KUNIT_CASE(devx_create_queue_sets_umem_valid),
	KUNIT_CASE(devx_create_qp_returns_refs),
	KUNIT_CASE(devx_create_qp_kernel_rights_return_eperm),
	KUNIT_CASE(devx_qp_controlled_q_key_needs_net_raw),
	KUNIT_CASE(devx_context_rights_follow_capabilities),
	KUNIT_CASE(devx_destroy_general_object_passes_type),
	KUNIT_CASE(devx_query_other_object_returns_einval),
	KUNIT_CASE(devx_create_outlen_contains_number),
	KUNIT_CASE(devx_query_qp_outlen_excludes_pas),
	KUNIT_CASE(devx_query_dbr_addr_reads_0),
	KUNIT_CASE(devx_modify_verbs_qp_state_returns_eperm),
	KUNIT_CASE(devx_modify_qp_returns_refs),
	KUNIT_CASE(devx_modify_qp_rights_return_eperm),
	KUNIT_CASE(devx_modify_cq_eqn_returns_eperm),
	KUNIT_CASE(devx_create_dct_returns_refs),
	KUNIT_CASE(devx_create_xrq_returns_refs),
	KUNIT_CASE(devx_arm_xrq_of_other_kind_returns_eperm),
	{}
};

static struct kunit_suite suite = {
	.name = "devx_command",
	.test_cases = cases,
};

kunit_test_suite(suite);
