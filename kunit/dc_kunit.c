// SPDX-License-Identifier: GPL-2.0-only
/* DC transport: transitions of DCIs, and the life cycle of DCTs. */
#include "fake_queue_pair.h"
#include "fake_udata.h"
#include "hw/capabilities.h"
#include "hw/command_queue.h"
#include "hw/commands_queue_pairs.h"
#include "verbs/qp/dc.h"
#include "verbs/srq/srq.h"

#define ACCESS_KEY	0x1122334455667788ULL
#define USER_INDEX	0x55
#define DCTN		0x4321
#define SRQN		0x77
#define PDN		0x88
#define PORT		1
#define PKEY_INDEX	3
#define MIN_RNR_TIMER	12
#define FLOW_LABEL	0x12345
#define SGID_INDEX	2
#define HOP_LIMIT	64
#define TRAFFIC_CLASS	9

#define DCI_INIT_MASK		(IB_QP_PKEY_INDEX | IB_QP_PORT)
#define DCT_INIT_MASK		(DCI_INIT_MASK | IB_QP_ACCESS_FLAGS)
#define DCT_RTR_MASK		(IB_QP_AV | IB_QP_PATH_MTU | IB_QP_MIN_RNR_TIMER)

/**
 * struct fixture - a DCT and its device
 * @fake: the QP and its device
 * @srq: SRQ of the DCT
 * @pd: its PD
 * @fail_opcode: opcode of a command that firmware refuses; 0: none
 * @created: context of the last CREATE_DCT
 * @context: context that QUERY_DCT returns
 * @events: last event that the ULP was notified of; -1: none
 */
struct fixture {
	struct fake_queue_pair *fake;
	struct cxib_srq srq;
	struct cxib_pd pd;
	u16 fail_opcode;
	struct hw_dctc created;
	struct hw_dctc context;
	int events;
};

static u8 run_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
		      u32 out_length)
{
	struct fixture *fixture = hca->script_context;
	u16 opcode = hw_create_dct_in_get_opcode(in);

	if (opcode == fixture->fail_opcode)
		return HW_COMMAND_STATUS_BAD_PARAMETER;
	switch (opcode) {
	case HW_CMD_CREATE_DCT:
		fixture->created = *hw_create_dct_in_get_dct_context_entry(in);
		hw_create_dct_out_set_dctn(out, DCTN);
		break;
	case HW_CMD_QUERY_DCT:
		*hw_query_dct_out_dct_context_entry(out) = fixture->context;
		break;
	case HW_CMD_DRAIN_DCT:
		cxib_queue_event(&fixture->fake->ibdev, HW_EVENT_TYPE_DCT_DRAINED,
				 HW_EVENT_QUEUE_TYPE_DCT, hw_drain_dct_in_get_dctn(in));
		break;
	}
	return 0;
}

static void on_event(struct ib_event *event, void *context)
{
	struct fixture *fixture = context;

	fixture->events = event->event;
}

static void create_dct(struct kunit *test, struct fixture *fixture)
{
	struct cxib_qp *qp = &fixture->fake->qp;

	xa_erase_irq(&fixture->fake->ibdev.qps, FAKE_QPN);
	fixture->srq.srqn = SRQN;
	fixture->pd.pdn = PDN;
	qp->ib.qp_type = IB_QPT_DRIVER;
	qp->ib.srq = &fixture->srq.ib;
	qp->ib.pd = &fixture->pd.ib;
	qp->ib.event_handler = on_event;
	qp->ib.qp_context = fixture;
	qp->is_user = true;
	qp->qpn = 0;
	mutex_init(&qp->mutex);
	cxib_reference_init(&qp->reference);
	KUNIT_ASSERT_EQ(test, 0, cxib_dct_create(qp, ACCESS_KEY, USER_INDEX));
}

static void free_dct(void *data)
{
	struct fixture *fixture = data;

	kfree(fixture->fake->qp.dct);
}

static int dc_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->fake = fake;
	fixture->events = -1;
	fake_queue_pair_start(fake, run_command, fixture);
	fake->hw.caps.atomic = 1;
	fake->hw.caps.atomic_operations = HW_ATOMIC_OPERATIONS_EXTENDED_FETCH_ADD;
	fake->hw.caps.atomic_size_qp = HW_ATOMIC_SIZE_BYTES_32;
	fake->hw.caps.atomic_size_dc = HW_ATOMIC_SIZE_BYTES_16;
	fake->ibdev.ib.attrs.max_pkeys = 128;
	create_dct(test, fixture);
	test->priv = fixture;
	return kunit_add_action_or_reset(test, free_dct, fixture);
}

static int modify(struct fixture *fixture, enum ib_qp_state to, int mask)
{
	struct ib_qp_attr attr = {
		.qp_state = to,
		.port_num = PORT,
		.pkey_index = PKEY_INDEX,
		.path_mtu = IB_MTU_2048,
		.min_rnr_timer = MIN_RNR_TIMER,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
	};

	rdma_ah_set_grh(&attr.ah_attr, NULL, FLOW_LABEL, SGID_INDEX, HOP_LIMIT, TRAFFIC_CLASS);
	return cxib_modify_qp_kernel(&fixture->fake->qp.ib, &attr, mask | IB_QP_STATE, NULL);
}

static void modify_to_rtr(struct kunit *test, struct fixture *fixture)
{
	KUNIT_ASSERT_EQ(test, 0, modify(fixture, IB_QPS_INIT, DCT_INIT_MASK));
	KUNIT_ASSERT_EQ(test, 0, modify(fixture, IB_QPS_RTR, DCT_RTR_MASK));
}

/*
 * Transitions of modify_dci_qp_is_ok() and mlx5_ib_modify_dct() in mlx5_ib: a DCI is like an RC QP
 * without a peer, and a DCT has the states RESET, INIT, RTR and ERR.
 */
static const struct {
	bool is_dct;
	enum ib_qp_state from, to;
	int required, optional;
} transitions[] = {
	{ false, IB_QPS_RESET, IB_QPS_INIT, DCI_INIT_MASK, 0 },
	{ false, IB_QPS_INIT, IB_QPS_INIT, 0, DCI_INIT_MASK },
	{ false, IB_QPS_INIT, IB_QPS_RTR, IB_QP_PATH_MTU, IB_QP_AV | IB_QP_PKEY_INDEX },
	{ false, IB_QPS_RTR, IB_QPS_RTS,
	  IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
	  IB_QP_MAX_QP_RD_ATOMIC,
	  IB_QP_MIN_RNR_TIMER | IB_QP_CUR_STATE },
	{ false, IB_QPS_RTS, IB_QPS_RTS, 0, IB_QP_MIN_RNR_TIMER | IB_QP_CUR_STATE },
	{ true, IB_QPS_RESET, IB_QPS_INIT, DCT_INIT_MASK, 0 },
	{ true, IB_QPS_INIT, IB_QPS_INIT, 0, DCT_INIT_MASK },
	{ true, IB_QPS_INIT, IB_QPS_RTR, DCT_RTR_MASK, 0 },
	{ true, IB_QPS_RTR, IB_QPS_ERR, 0, 0 },
	{ true, IB_QPS_ERR, IB_QPS_ERR, 0, 0 },
};

static bool is_ok(struct fixture *fixture, bool is_dct, enum ib_qp_state from,
		  enum ib_qp_state to, int mask)
{
	struct cxib_qp *qp = &fixture->fake->qp;
	struct cxib_dct *dct = qp->dct;
	bool ok;

	if (!is_dct)
		qp->dct = NULL;
	ok = cxib_dc_modify_is_ok(qp, from, to, mask | IB_QP_STATE);
	qp->dct = dct;
	return ok;
}

static void dc_modify_extra_attr_is_rejected(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	size_t i;
	int bit;

	for (i = 0; i < ARRAY_SIZE(transitions); i++) {
		int required = transitions[i].required;
		bool is_dct = transitions[i].is_dct;
		enum ib_qp_state from = transitions[i].from, to = transitions[i].to;

		KUNIT_EXPECT_TRUE_MSG(test, is_ok(fixture, is_dct, from, to, required),
				      "transition %zu", i);
		for (bit = IB_QP_CUR_STATE; bit <= IB_QP_DEST_QPN; bit <<= 1) {
			bool expected = bit & transitions[i].optional;

			KUNIT_EXPECT_EQ_MSG(test, expected,
					    is_ok(fixture, is_dct, from, to, required ^ bit),
					    "transition %zu, attribute 0x%x", i, bit);
		}
	}
}

static bool is_in_table(bool is_dct, enum ib_qp_state from, enum ib_qp_state to)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(transitions); i++)
		if (transitions[i].is_dct == is_dct && transitions[i].from == from &&
		    transitions[i].to == to)
			return true;
	return false;
}

/* Any state can go to RESET; a DCI can go to ERR from any state except RESET. */
static void dc_modify_unlisted_transition_is_rejected(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	enum ib_qp_state from, to;
	int is_dct;

	for (is_dct = 0; is_dct <= 1; is_dct++)
		for (from = IB_QPS_RESET; from <= IB_QPS_ERR; from++)
			for (to = IB_QPS_RESET; to <= IB_QPS_ERR; to++) {
				bool always = to == IB_QPS_RESET ||
					      (to == IB_QPS_ERR && !is_dct &&
					       from != IB_QPS_RESET);

				if (!is_in_table(is_dct, from, to))
					KUNIT_EXPECT_EQ_MSG(test, always,
							    is_ok(fixture, is_dct, from, to, 0),
							    "target %d, from %d to %d", is_dct,
							    from, to);
			}
}

/* atomic_size_dc has 16 bytes. atomic_size_qp has 32 bytes and does not apply. */
static void dct_rtr_creates_and_arms(struct kunit *test)
{
	static const u16 expected[] = { HW_CMD_CREATE_DCT, HW_CMD_ARM_DCT };
	struct fixture *fixture = test->priv;
	const struct hw_dctc *created = &fixture->created;

	KUNIT_ASSERT_EQ(test, 0, modify(fixture, IB_QPS_INIT, DCT_INIT_MASK));
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->hca->commands);
	KUNIT_ASSERT_EQ(test, 0, modify(fixture, IB_QPS_RTR, DCT_RTR_MASK));
	fake_hca_expect_commands(fixture->fake->hca, expected, ARRAY_SIZE(expected));
	KUNIT_EXPECT_EQ(test, DCTN, fixture->fake->qp.ib.qp_num);

	KUNIT_EXPECT_EQ(test, ACCESS_KEY, hw_dctc_get_dc_access_key(created));
	KUNIT_EXPECT_EQ(test, USER_INDEX, hw_dctc_get_user_index(created));
	KUNIT_EXPECT_EQ(test, SRQN, hw_dctc_get_srqn_xrqn(created));
	KUNIT_EXPECT_EQ(test, PDN, hw_dctc_get_pd(created));
	KUNIT_EXPECT_EQ(test, PORT, hw_dctc_get_port(created));
	KUNIT_EXPECT_EQ(test, PKEY_INDEX, hw_dctc_get_pkey_index(created));
	KUNIT_EXPECT_EQ(test, HW_QP_MTU_2K_BYTES, hw_dctc_get_mtu(created));
	KUNIT_EXPECT_EQ(test, MIN_RNR_TIMER, hw_dctc_get_min_rnr_nak(created));
	KUNIT_EXPECT_EQ(test, 0, hw_dctc_get_rre(created));
	KUNIT_EXPECT_EQ(test, 1, hw_dctc_get_rwe(created));
	KUNIT_EXPECT_EQ(test, 1, hw_dctc_get_rae(created));
	KUNIT_EXPECT_EQ(test, HW_ATOMIC_MODE_UP_TO_16B, hw_dctc_get_atomic_mode(created));
	KUNIT_EXPECT_EQ(test, FLOW_LABEL, hw_dctc_get_flow_label(created));
	KUNIT_EXPECT_EQ(test, SGID_INDEX, hw_dctc_get_my_addr_index(created));
	KUNIT_EXPECT_EQ(test, HOP_LIMIT, hw_dctc_get_hop_limit(created));
	KUNIT_EXPECT_EQ(test, TRAFFIC_CLASS, hw_dctc_get_tclass(created));
}

static void dct_destroy_drains_first(struct kunit *test)
{
	static const u16 expected[] = {
		HW_CMD_CREATE_DCT, HW_CMD_ARM_DCT, HW_CMD_DRAIN_DCT, HW_CMD_DESTROY_DCT,
	};
	struct fixture *fixture = test->priv;

	modify_to_rtr(test, fixture);
	KUNIT_EXPECT_EQ(test, 0, cxib_dct_destroy(&fixture->fake->qp, NULL));
	fake_hca_expect_commands(fixture->fake->hca, expected, ARRAY_SIZE(expected));
	KUNIT_EXPECT_TRUE(test, xa_empty(&fixture->fake->ibdev.qps));
}

static void dct_destroy_in_err_drains_once(struct kunit *test)
{
	static const u16 expected[] = {
		HW_CMD_CREATE_DCT, HW_CMD_ARM_DCT, HW_CMD_DRAIN_DCT, HW_CMD_DESTROY_DCT,
	};
	struct fixture *fixture = test->priv;

	modify_to_rtr(test, fixture);
	KUNIT_EXPECT_EQ(test, 0, modify(fixture, IB_QPS_ERR, 0));
	KUNIT_EXPECT_EQ(test, 0, modify(fixture, IB_QPS_ERR, 0));
	KUNIT_EXPECT_EQ(test, 0, cxib_dct_destroy(&fixture->fake->qp, NULL));
	fake_hca_expect_commands(fixture->fake->hca, expected, ARRAY_SIZE(expected));
}

static void dct_destroy_before_rtr_issues_nothing(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_ASSERT_EQ(test, 0, modify(fixture, IB_QPS_INIT, DCT_INIT_MASK));
	KUNIT_EXPECT_EQ(test, 0, cxib_dct_destroy(&fixture->fake->qp, NULL));
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->hca->commands);
}

static void dct_reset_allows_new_rtr(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	modify_to_rtr(test, fixture);
	KUNIT_EXPECT_EQ(test, 0, modify(fixture, IB_QPS_RESET, 0));
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->qp.ib.qp_num);
	KUNIT_EXPECT_TRUE(test, xa_empty(&fixture->fake->ibdev.qps));
	modify_to_rtr(test, fixture);
	KUNIT_EXPECT_EQ(test, DCTN, fixture->fake->qp.ib.qp_num);
	KUNIT_EXPECT_EQ(test, ACCESS_KEY, hw_dctc_get_dc_access_key(&fixture->created));
}

/* Without ARM_DCT only the events of access violations are missing. */
static void dct_works_where_arm_dct_is_refused(struct kunit *test)
{
	static const u16 expected[] = { HW_CMD_CREATE_DCT, HW_CMD_ARM_DCT };
	struct fixture *fixture = test->priv;

	fixture->fail_opcode = HW_CMD_ARM_DCT;
	modify_to_rtr(test, fixture);
	fake_hca_expect_commands(fixture->fake->hca, expected, ARRAY_SIZE(expected));
	KUNIT_EXPECT_EQ(test, DCTN, fixture->fake->qp.ib.qp_num);
	KUNIT_EXPECT_EQ(test, 0, cxib_dct_destroy(&fixture->fake->qp, NULL));
}

/* After an output of another command the driver cannot rely on the device. */
static void dct_invalid_output_of_arm_dct_discards_dct(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_ASSERT_EQ(test, 0, modify(fixture, IB_QPS_INIT, DCT_INIT_MASK));
	fixture->fake->hca->fault_opcode = HW_CMD_ARM_DCT;
	fixture->fake->hca->always = true;
	fixture->fake->hca->fault = FAKE_FAULT_TOKEN;
	KUNIT_EXPECT_EQ(test, -EBADMSG, modify(fixture, IB_QPS_RTR, DCT_RTR_MASK));
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->qp.qpn);
	KUNIT_EXPECT_EQ(test, IB_QPS_INIT, fixture->fake->qp.state);
}

static void dct_take_back_allows_retry(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	modify_to_rtr(test, fixture);
	cxib_dct_take_back(&fixture->fake->qp);
	KUNIT_EXPECT_EQ(test, IB_QPS_INIT, fixture->fake->qp.state);
	KUNIT_EXPECT_EQ(test, 0, modify(fixture, IB_QPS_RTR, DCT_RTR_MASK));
}

static void dct_destroy_failure_allows_retry(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct uverbs_attr_bundle attrs;
	struct ib_udata *udata = fake_request(&attrs, NULL);

	modify_to_rtr(test, fixture);
	fixture->fail_opcode = HW_CMD_DRAIN_DCT;
	KUNIT_EXPECT_NE(test, 0, cxib_dct_destroy(&fixture->fake->qp, udata));
	KUNIT_EXPECT_EQ(test, DCTN, fixture->fake->qp.qpn);
	fixture->fail_opcode = 0;
	KUNIT_EXPECT_EQ(test, 0, cxib_dct_destroy(&fixture->fake->qp, udata));
}

/* The driver drains the orphaned DCT again before it destroys it. */
static void dct_destroy_refused_at_end_of_context_is_left(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	struct ib_ucontext context;
	struct uverbs_attr_bundle attrs;
	unsigned int first;

	modify_to_rtr(test, fixture);
	fixture->fail_opcode = HW_CMD_DRAIN_DCT;
	KUNIT_EXPECT_EQ(test, 0, cxib_dct_destroy(&fixture->fake->qp,
						  fake_cleanup(&attrs, &context)));
	KUNIT_EXPECT_NULL(test, fixture->fake->qp.dct);
	KUNIT_EXPECT_NULL(test, xa_load(&ibdev->qps, DCTN));
	KUNIT_EXPECT_TRUE(test, fake_has_orphans(ibdev, &context));
	first = fixture->fake->hca->commands;
	fixture->fail_opcode = 0;
	cxib_orphans_close(ibdev, &context);
	cxib_orphans_end(ibdev);
	KUNIT_ASSERT_EQ(test, first + 2, fixture->fake->hca->commands);
	KUNIT_EXPECT_EQ(test, HW_CMD_DRAIN_DCT, fixture->fake->hca->log[first]);
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_DCT, fixture->fake->hca->log[first + 1]);
}

/* When DESTROY_DCT fails, the DCT is drained and its number is no longer looked up. */
static void dct_destroy_failed_late_is_left(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	struct ib_ucontext context;
	struct uverbs_attr_bundle attrs;

	modify_to_rtr(test, fixture);
	fixture->fail_opcode = HW_CMD_DESTROY_DCT;
	KUNIT_EXPECT_EQ(test, 0, cxib_dct_destroy(&fixture->fake->qp,
						  fake_request(&attrs, &context)));
	KUNIT_EXPECT_NULL(test, xa_load(&ibdev->qps, DCTN));
	KUNIT_EXPECT_EQ(test, 1, ibdev->orphans.closed);
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_fatal(commands_of(ibdev)));
	fixture->fail_opcode = 0;
	cxib_orphans_close(ibdev, &context);
	cxib_orphans_end(ibdev);
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_fatal(commands_of(ibdev)));
}

static void dct_query_before_rtr_returns_init(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;
	struct ib_qp_attr attr;

	KUNIT_ASSERT_EQ(test, 0, modify(fixture, IB_QPS_INIT, DCT_INIT_MASK));
	guard(mutex)(&qp->mutex);
	KUNIT_EXPECT_EQ(test, 0, cxib_dct_query(qp, &attr));
	KUNIT_EXPECT_EQ(test, IB_QPS_INIT, attr.qp_state);
	KUNIT_EXPECT_EQ(test, PKEY_INDEX, attr.pkey_index);
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->hca->commands);
}

static void dct_query_drained_returns_err(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;
	struct ib_qp_attr attr;

	modify_to_rtr(test, fixture);
	fixture->context = fixture->created;
	guard(mutex)(&qp->mutex);
	KUNIT_EXPECT_EQ(test, 0, cxib_dct_query(qp, &attr));
	KUNIT_EXPECT_EQ(test, IB_QPS_RTR, attr.qp_state);
	KUNIT_EXPECT_EQ(test, IB_MTU_2048, attr.path_mtu);
	KUNIT_EXPECT_EQ(test, MIN_RNR_TIMER, attr.min_rnr_timer);
	KUNIT_EXPECT_EQ(test, SGID_INDEX, rdma_ah_read_grh(&attr.ah_attr)->sgid_index);
	hw_dctc_set_state(&fixture->context, HW_DCT_STATE_DRAINED);
	KUNIT_EXPECT_EQ(test, 0, cxib_dct_query(qp, &attr));
	KUNIT_EXPECT_EQ(test, IB_QPS_ERR, attr.qp_state);
}

static void dct_key_violation_raises_access_err(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	modify_to_rtr(test, fixture);
	cxib_queue_event(&fixture->fake->ibdev, HW_EVENT_TYPE_DCT_KEY_VIOLATION,
			 HW_EVENT_QUEUE_TYPE_DCT, DCTN + 1);
	KUNIT_EXPECT_EQ(test, -1, fixture->events);
	cxib_queue_event(&fixture->fake->ibdev, HW_EVENT_TYPE_DCT_KEY_VIOLATION,
			 HW_EVENT_QUEUE_TYPE_DCT, DCTN);
	KUNIT_EXPECT_EQ(test, IB_EVENT_QP_ACCESS_ERR, fixture->events);
}

static void dct_drained_event_is_not_reported(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	modify_to_rtr(test, fixture);
	KUNIT_EXPECT_EQ(test, 0, modify(fixture, IB_QPS_ERR, 0));
	KUNIT_EXPECT_EQ(test, -1, fixture->events);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(dc_modify_extra_attr_is_rejected),
	KUNIT_CASE(dc_modify_unlisted_transition_is_rejected),
	KUNIT_CASE(dct_rtr_creates_and_arms),
	KUNIT_CASE(dct_destroy_drains_first),
	KUNIT_CASE(dct_destroy_in_err_drains_once),
	KUNIT_CASE(dct_destroy_before_rtr_issues_nothing),
	KUNIT_CASE(dct_reset_allows_new_rtr),
	KUNIT_CASE(dct_works_where_arm_dct_is_refused),
	KUNIT_CASE(dct_invalid_output_of_arm_dct_discards_dct),
	KUNIT_CASE(dct_take_back_allows_retry),
	KUNIT_CASE(dct_destroy_failure_allows_retry),
	KUNIT_CASE(dct_destroy_refused_at_end_of_context_is_left),
	KUNIT_CASE(dct_destroy_failed_late_is_left),
	KUNIT_CASE(dct_query_before_rtr_returns_init),
	KUNIT_CASE(dct_query_drained_returns_err),
	KUNIT_CASE(dct_key_violation_raises_access_err),
	KUNIT_CASE(dct_drained_event_is_not_reported),
	{}
};

static struct kunit_suite suite = {
	.name = "dc",
	.init = dc_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
