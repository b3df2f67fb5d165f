// SPDX-License-Identifier: GPL-2.0-only
/*
 * SQs that the device has stopped after a signature error, also while the ULP drains them. These
 * QPs do not use the driver's signature pipelining: user space has cancelled the response, so
 * ib_modify_qp() resumes them. qp_stop_matrix_kunit.c tests QPs with signature pipelining.
 */
#include <rdma/mlx5-abi.h>

#include "compat/workqueue.h"
#include "fake_queue_pair.h"
#include "hw/commands_queue_pairs.h"
#include "user/user.h"

/**
 * struct fixture - an RC QP in RTS and its device
 * @fake: the QP and its device
 * @in_device: enum hw_qp_state that QUERY_QP reports
 * @event_during: opcode of the command during which the device stops the SQ; 0: none
 * @refused: opcode of the command that fails; 0: none
 * @resumes: number of SQD2RTS_QP commands
 * @events: number of IB_EVENT_SQ_DRAINED
 */
struct fixture {
	struct fake_queue_pair *fake;
	u32 in_device;
	u16 event_during;
	u16 refused;
	unsigned int resumes;
	unsigned int events;
};

static void raise_drained(struct fixture *fixture)
{
	cxib_queue_event(&fixture->fake->ibdev, HW_EVENT_TYPE_SQ_DRAINED, HW_EVENT_QUEUE_TYPE_QP,
			 FAKE_QPN);
}

static void stop(struct fixture *fixture)
{
	fixture->in_device = HW_QP_STATE_SQD;
	raise_drained(fixture);
}

static u8 run_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
		      u32 out_length)
{
	struct fixture *fixture = hca->script_context;
	u16 opcode = hw_cmd_in_get_opcode(in);

	if (opcode == fixture->refused)
		return HW_COMMAND_STATUS_BAD_QP_STATE;
	if (opcode == HW_CMD_QUERY_QP)
		hw_qpc_set_state(hw_query_qp_out_qpc(out), fixture->in_device);
	if (opcode == HW_CMD_SQD_RTS_QP) {
		fixture->resumes++;
		fixture->in_device = HW_QP_STATE_RTS;
	}
	if (opcode == fixture->event_during)
		stop(fixture);
	return HW_COMMAND_STATUS_OK;
}

static void on_event(struct ib_event *event, void *context)
{
	struct fixture *fixture = context;

	if (event->event == IB_EVENT_SQ_DRAINED)
		fixture->events++;
}

static int qp_stop_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->fake = fake;
	fixture->in_device = HW_QP_STATE_RTS;
	fake_queue_pair_start(fake, run_command, fixture);
	mutex_init(&fake->qp.mutex);
	fake->qp.ib.event_handler = on_event;
	fake->qp.ib.qp_context = fixture;
	fake->qp.ib.qp_type = IB_QPT_RC;
	fake->qp.sq.flags = IB_SEND_SIGNALED;
	cxib_qp_set_state(&fake->qp, IB_QPS_RTS);
	test->priv = fixture;
	return 0;
}

static int modify(struct fixture *fixture, enum ib_qp_state state, int mask)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return cxib_modify_qp_kernel(&fixture->fake->qp.ib, &attr, mask, NULL);
}

static enum ib_qp_state query(struct kunit *test, struct fixture *fixture)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	KUNIT_ASSERT_EQ(test, 0, cxib_query_qp(&fixture->fake->qp.ib, &attr, IB_QP_STATE, &init));
	return attr.qp_state;
}

static void qp_stopped_by_device_resumes(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;

	stop(fixture);
	KUNIT_EXPECT_EQ(test, CXIB_SQ_STOPPED, qp->sq.state);
	KUNIT_EXPECT_EQ(test, IB_QPS_SQD, query(test, fixture));
	KUNIT_EXPECT_EQ(test, 0, modify(fixture, IB_QPS_RTS, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, 1, fixture->resumes);
	KUNIT_EXPECT_EQ(test, 0, qp->sq.state);
	KUNIT_EXPECT_EQ(test, IB_QPS_RTS, qp->state);
}

static int modify_from(struct fixture *fixture, enum ib_qp_state from, enum ib_qp_state to)
{
	struct ib_qp_attr attr = { .cur_qp_state = from, .qp_state = to };

	return cxib_modify_qp_kernel(&fixture->fake->qp.ib, &attr, IB_QP_STATE | IB_QP_CUR_STATE,
				     NULL);
}

/* A thread that only changes attributes must not release the response that waits in the SQ. */
static void user_qp_stopped_unknown_to_program_is_not_resumed(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;

	qp->is_user = true;
	stop(fixture);
	KUNIT_EXPECT_EQ(test, -EINVAL, modify(fixture, IB_QPS_RTS, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			modify(fixture, IB_QPS_RTS, IB_QP_STATE | IB_QP_MIN_RNR_TIMER));
	KUNIT_EXPECT_EQ(test, -EINVAL, modify(fixture, IB_QPS_RTS, IB_QP_ACCESS_FLAGS));
	KUNIT_EXPECT_EQ(test, -EINVAL, modify_from(fixture, IB_QPS_RTS, IB_QPS_RTS));
	KUNIT_EXPECT_EQ(test, 0, fixture->resumes);
	KUNIT_EXPECT_EQ(test, CXIB_SQ_STOPPED, qp->sq.state);
	KUNIT_EXPECT_EQ(test, 0, modify_from(fixture, IB_QPS_SQD, IB_QPS_RTS));
	KUNIT_EXPECT_EQ(test, 1, fixture->resumes);
	KUNIT_EXPECT_EQ(test, 0, qp->sq.state);
}

static void user_qp_stopped_is_resumed_after_query(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->fake->qp.is_user = true;
	stop(fixture);
	KUNIT_EXPECT_EQ(test, IB_QPS_SQD, query(test, fixture));
	KUNIT_EXPECT_EQ(test, 0, modify(fixture, IB_QPS_RTS, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, 1, fixture->resumes);
	stop(fixture);
	KUNIT_EXPECT_EQ(test, -EINVAL, modify(fixture, IB_QPS_RTS, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, 0, modify(fixture, IB_QPS_ERR, IB_QP_STATE));
}

/* Anybody may list QPs; the RDMA core passes no mask then. */
static void user_qp_stopped_and_listed_is_not_resumed(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	qp->is_user = true;
	stop(fixture);
	KUNIT_EXPECT_EQ(test, 0, cxib_query_qp(&qp->ib, &attr, 0, &init));
	KUNIT_EXPECT_EQ(test, IB_QPS_SQD, attr.qp_state);
	KUNIT_EXPECT_EQ(test, -EINVAL, modify(fixture, IB_QPS_RTS, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, 0, fixture->resumes);
}

/* WQEs after the stop do not complete, and the ULP would wait for them without end. */
static void qp_stopped_while_held_is_drained(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;

	fake_post_sq(test, fixture->fake, 1);
	KUNIT_ASSERT_EQ(test, 0, modify(fixture, IB_QPS_SQD, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, -EBUSY, modify(fixture, IB_QPS_RTS, IB_QP_STATE));
	stop(fixture);
	KUNIT_EXPECT_TRUE(test, cxib_sq_is_drained(qp));
	KUNIT_EXPECT_EQ(test, 0, modify(fixture, IB_QPS_RTS, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, 1, fixture->resumes);
	KUNIT_EXPECT_EQ(test, 0, qp->sq.state);
	KUNIT_EXPECT_EQ(test, IB_QPS_RTS, qp->state);
}

static void qp_held_while_stopped_stands_for_both(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;

	fake_post_sq(test, fixture->fake, 1);
	stop(fixture);
	KUNIT_ASSERT_EQ(test, 0, modify(fixture, IB_QPS_SQD, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, CXIB_SQ_HELD | CXIB_SQ_STOPPED, qp->sq.state);
	KUNIT_EXPECT_TRUE(test, cxib_sq_is_drained(qp));
	KUNIT_EXPECT_EQ(test, 0, modify(fixture, IB_QPS_RTS, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, 1, fixture->resumes);
	KUNIT_EXPECT_EQ(test, 0, qp->sq.state);
	KUNIT_EXPECT_EQ(test, IB_QPS_RTS, qp->state);
}

/* The event is still in the EQ. */
static void qp_stopped_while_held_resumes_before_event(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fake_post_sq(test, fixture->fake, 1);
	KUNIT_ASSERT_EQ(test, 0, modify(fixture, IB_QPS_SQD, IB_QP_STATE));
	fixture->in_device = HW_QP_STATE_SQD;
	KUNIT_EXPECT_EQ(test, 0, modify(fixture, IB_QPS_RTS, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, 1, fixture->resumes);
}

/* The ULP gets one event for its request and one for the stop. */
static void qp_stopped_while_held_raises_event_of_each(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;
	struct ib_qp_attr attr = { .qp_state = IB_QPS_SQD, .en_sqd_async_notify = 1 };

	fake_post_sq(test, fixture->fake, 1);
	KUNIT_ASSERT_EQ(test, 0,
			cxib_modify_qp_kernel(&qp->ib, &attr,
					      IB_QP_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY, NULL));
	stop(fixture);
	mod_delayed_work(system_percpu_wq, &qp->drain->work, 0);
	flush_delayed_work(&qp->drain->work);
	KUNIT_EXPECT_EQ(test, 2, fixture->events);
}

/* The only command that changes attributes in SQD also starts the WQEs. */
static void qp_stopped_while_held_keeps_attributes(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_ASSERT_EQ(test, 0, modify(fixture, IB_QPS_SQD, IB_QP_STATE));
	stop(fixture);
	KUNIT_EXPECT_EQ(test, -EBUSY,
			modify(fixture, IB_QPS_SQD, IB_QP_STATE | IB_QP_ACCESS_FLAGS));
	KUNIT_EXPECT_EQ(test, 0, fixture->resumes);
}

static void qp_stopped_again_during_resume_stays_in_sqd(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;

	stop(fixture);
	fixture->event_during = HW_CMD_SQD_RTS_QP;
	KUNIT_EXPECT_EQ(test, 0, modify(fixture, IB_QPS_RTS, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, IB_QPS_SQD, qp->state);
	KUNIT_EXPECT_EQ(test, CXIB_SQ_STOPPED, qp->sq.state);
	fixture->event_during = 0;
	KUNIT_EXPECT_EQ(test, 0, modify(fixture, IB_QPS_RTS, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, IB_QPS_RTS, qp->state);
	KUNIT_EXPECT_EQ(test, 2, fixture->resumes);
}

static void qp_resume_refused_stays_stopped(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	stop(fixture);
	fixture->refused = HW_CMD_SQD_RTS_QP;
	KUNIT_EXPECT_NE(test, 0, modify(fixture, IB_QPS_RTS, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, CXIB_SQ_STOPPED, fixture->fake->qp.sq.state);
	KUNIT_EXPECT_EQ(test, IB_QPS_SQD, fixture->fake->qp.state);
}

/* A held QP can leave SQD only from SQD, also to ERR. */
static void qp_stopped_while_held_refused_migration_stays_in_sqd(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS, .path_mig_state = IB_MIG_REARM };
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;

	fixture->fake->hw.caps.apm = 1;
	KUNIT_ASSERT_EQ(test, 0, modify(fixture, IB_QPS_SQD, IB_QP_STATE));
	stop(fixture);
	fixture->refused = HW_CMD_RTS2RTS_QP;
	KUNIT_EXPECT_NE(test, 0,
			cxib_modify_qp_kernel(&qp->ib, &attr,
					      IB_QP_STATE | IB_QP_PATH_MIG_STATE, NULL));
	KUNIT_EXPECT_EQ(test, 1, fixture->resumes);
	KUNIT_EXPECT_EQ(test, IB_QPS_SQD, qp->state);
	KUNIT_EXPECT_EQ(test, CXIB_SQ_HELD, qp->sq.state);
	KUNIT_EXPECT_EQ(test, 0, modify(fixture, IB_QPS_ERR, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, 0, qp->sq.state);
}

/* The event is forged or duplicated: the device reports that it executes WQEs. */
static void query_qp_running_in_device_clears_stop(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	raise_drained(fixture);
	KUNIT_EXPECT_EQ(test, IB_QPS_RTS, query(test, fixture));
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->qp.sq.state);
}

/* The event arrives after the device has reported the state to QUERY_QP. */
static void query_qp_stopped_meanwhile_keeps_stop(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->event_during = HW_CMD_QUERY_QP;
	KUNIT_EXPECT_EQ(test, IB_QPS_SQD, query(test, fixture));
	KUNIT_EXPECT_EQ(test, CXIB_SQ_STOPPED, fixture->fake->qp.sq.state);
}

/* An event from before a reset of the QP must not stop the QP. */
static void qp_stop_in_other_states_is_ignored(struct kunit *test)
{
	static const enum ib_qp_state states[] = {
		IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_SQE, IB_QPS_ERR,
	};
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		cxib_qp_set_state(qp, states[i]);
		raise_drained(fixture);
		KUNIT_EXPECT_EQ(test, states[i], qp->state);
		KUNIT_EXPECT_EQ(test, 0, qp->sq.state);
	}
}

static void qp_stopped_to_error_clears_stop(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	stop(fixture);
	KUNIT_EXPECT_EQ(test, 0, modify(fixture, IB_QPS_ERR, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->qp.sq.state);
}

/* libmlx5 takes the bit as permission to create QPs with signature pipelining. */
static void ucontext_without_drain_sigerr_offers_no_sqd2rts(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ucontext *context = kunit_kzalloc(test, sizeof(*context), GFP_KERNEL);
	struct mlx5_ib_alloc_ucontext_resp response;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	u32 drains;

	KUNIT_ASSERT_NOT_NULL(test, context);
	context->ib.device = &ibdev->ib;
	mutex_init(&ibdev->wc_lock);
	ibdev->wc_state = CXIB_WC_UNSUPPORTED;
	for (drains = 0; drains < 2; drains++) {
		fixture->fake->hw.caps.drain_sigerr = drains;
		cxib_fill_ucontext_resp(context, &response);
		KUNIT_EXPECT_EQ(test, drains, !!(response.comp_mask &
						 MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS));
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(qp_stopped_by_device_resumes),
	KUNIT_CASE(user_qp_stopped_unknown_to_program_is_not_resumed),
	KUNIT_CASE(user_qp_stopped_is_resumed_after_query),
	KUNIT_CASE(user_qp_stopped_and_listed_is_not_resumed),
	KUNIT_CASE(qp_stopped_while_held_is_drained),
	KUNIT_CASE(qp_held_while_stopped_stands_for_both),
	KUNIT_CASE(qp_stopped_while_held_resumes_before_event),
	KUNIT_CASE(qp_stopped_while_held_raises_event_of_each),
	KUNIT_CASE(qp_stopped_while_held_keeps_attributes),
	KUNIT_CASE(qp_stopped_again_during_resume_stays_in_sqd),
	KUNIT_CASE(qp_resume_refused_stays_stopped),
	KUNIT_CASE(qp_stopped_while_held_refused_migration_stays_in_sqd),
	KUNIT_CASE(query_qp_running_in_device_clears_stop),
	KUNIT_CASE(query_qp_stopped_meanwhile_keeps_stop),
	KUNIT_CASE(qp_stop_in_other_states_is_ignored),
	KUNIT_CASE(qp_stopped_to_error_clears_stop),
	KUNIT_CASE(ucontext_without_drain_sigerr_offers_no_sqd2rts),
	{}
};

static struct kunit_suite suite = {
	.name = "qp_stop",
	.init = qp_stop_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
