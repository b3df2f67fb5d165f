// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs each operation on a QP with signature pipelining at each moment of a stop, and each pair of
 * operations. The driver must never resume the device while the response for bad data is still
 * posted.
 */
#include <cxib/signature_pipelining.h>

#include "fake_queue_pair.h"
#include "hw/commands_queue_pairs.h"
#include "hw/mkey.h"
#include "sample.h"
#include "verbs/cq/cq_poll.h"
#include "verbs/qp/pipelining.h"
#include "verbs/qp/post.h"
#include "verbs/signature/integrity.h"

#define MATRIX_KEY	0x123400

/* wr_ids are addresses of struct ib_cqe. */
#define MATRIX_RESPONSE	((struct ib_cqe *)0x1000)
#define MATRIX_NONE	((struct ib_cqe *)0x2000)

/* WQEBB of the response, which follows the transfer. */
#define MATRIX_RESUME	1

/* Number of QUERY_QP commands until a draining device has stopped. */
#define MATRIX_QUERIES	2

/**
 * struct matrix - an RC QP in RTS whose transfer has failed, with a model of the device
 * @fake: the QP and its device
 * @pd: PD of the QP and of @mr
 * @mr: the failed MR
 * @in_device: enum hw_qp_state
 * @queries: number of QUERY_QP commands until the device has stopped
 * @stops_at: opcode of the command before which the device stops if the QP is in RTS; 0: none
 * @is_busy: the ULP posts another transfer of bad data before each RTS2RTS_QP, and the device stops
 *	then, unless no WQE is announced
 * @executed: number of WQEBBs that a busy device has executed
 * @refuses_error: 2ERR_QP fails
 * @is_noted: the CQE of the error was written since the last reset of the QP
 * @good_sent: the device was resumed with the response as it was posted
 */
struct matrix {
	struct fake_queue_pair *fake;
	struct cxib_pd pd;
	struct cxib_sig_mr mr;
	u32 in_device;
	u32 queries;
	u16 stops_at;
	bool is_busy;
	u32 executed;
	bool refuses_error;
	bool is_noted;
	bool good_sent;
};

static const struct cxib_signature_pipelining *const matrix_functions = &cxib_signature_functions;

static void matrix_write_error(struct matrix *matrix)
{
	struct hw_cqe64 *cqe;

	if (matrix->is_noted)
		return;
	matrix->is_noted = true;
	cqe = fake_completion(matrix->fake, HW_CQE_OPCODE_SIG_ERR);
	hw_sig_err_cqe_set_mkey((struct hw_sig_err_cqe *)cqe, MATRIX_KEY);
}

static void matrix_stop_in_device(struct matrix *matrix)
{
	matrix_write_error(matrix);
	matrix->in_device = HW_QP_STATE_SQD;
}

static bool matrix_is_response_posted(const struct matrix *matrix)
{
	const void *response = fake_block(matrix->fake, matrix->executed + MATRIX_RESUME);

	return hw_wqe_ctrl_seg_get_opcode(response) == HW_WQE_OPCODE_SEND;
}

static void matrix_query(struct matrix *matrix, void *out)
{
	struct hw_qpc *context = hw_query_qp_out_qpc(out);

	if (matrix->in_device == HW_QP_STATE_SQ_DRAINING && !matrix->queries--)
		matrix_stop_in_device(matrix);
	hw_qpc_set_state(context, matrix->in_device);
	hw_qpc_set_hw_sq_wqebb_counter(context, (matrix->executed + MATRIX_RESUME) & U16_MAX);
}

static u8 matrix_change_state(struct matrix *matrix, u32 from, u32 to)
{
	if (matrix->in_device != from)
		return HW_COMMAND_STATUS_BAD_QP_STATE;
	matrix->in_device = to;
	return HW_COMMAND_STATUS_OK;
}

static int matrix_post(struct matrix *matrix)
{
	struct ib_sge sges[] = { { 0x1000, 8, MATRIX_KEY }, { 0x1000, 8, FAKE_SEND_LKEY } };
	struct ib_send_wr response = {
		.wr_cqe = MATRIX_RESPONSE, .num_sge = 1, .sg_list = &sges[1],
		.opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED | IB_SEND_FENCE,
	};
	struct ib_rdma_wr transfer = {
		.wr = { .next = &response, .num_sge = 1, .sg_list = &sges[0],
			.opcode = IB_WR_RDMA_WRITE },
	};
	const struct ib_send_wr *bad;

	matrix->mr.has_failed = false; /* as if the MR had been registered */
	return cxib_post_send(&matrix->fake->qp.ib, &transfer.wr, &bad);
}

static u32 matrix_announced(const struct matrix *matrix)
{
	return be32_to_cpu(matrix->fake->dbr[CXIB_SND_DBR]);
}

static u8 matrix_change_attributes(struct matrix *matrix)
{
	if (!matrix->is_busy)
		return matrix_change_state(matrix, HW_QP_STATE_RTS, HW_QP_STATE_RTS);
	KUNIT_EXPECT_EQ(matrix->fake->hca->test, 0, matrix_post(matrix));
	if (matrix_announced(matrix) == (matrix->executed & U16_MAX))
		return HW_COMMAND_STATUS_OK;
	matrix->is_noted = false;
	matrix_stop_in_device(matrix);
	return HW_COMMAND_STATUS_BAD_QP_STATE;
}

/* A busy device executes the response, and the ULP polls its completion. */
static u8 matrix_resume(struct matrix *matrix)
{
	struct ib_wc wc[2];

	matrix->good_sent |= matrix->in_device == HW_QP_STATE_SQD &&
			     matrix_is_response_posted(matrix);
	if (matrix->is_busy) {
		matrix->executed += MATRIX_RESUME + 1;
		hw_cqe64_set_wqe_counter(fake_completion(matrix->fake, HW_CQE_OPCODE_REQ),
					 (matrix->executed - 1) & U16_MAX);
		cxib_poll_cq(&matrix->fake->cq.ib, ARRAY_SIZE(wc), wc);
	}
	return matrix_change_state(matrix, HW_QP_STATE_SQD, HW_QP_STATE_RTS);
}

static u8 matrix_run_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
			     u32 out_length)
{
	struct matrix *matrix = hca->script_context;
	u16 opcode = hw_cmd_in_get_opcode(in);

	if (opcode == matrix->stops_at && matrix->in_device == HW_QP_STATE_RTS) {
		matrix->stops_at = 0;
		matrix_stop_in_device(matrix);
	}
	switch (opcode) {
	case HW_CMD_QUERY_QP:
		matrix_query(matrix, out);
		return HW_COMMAND_STATUS_OK;
	case HW_CMD_RTS2RTS_QP:
		return matrix_change_attributes(matrix);
	case HW_CMD_SQD_RTS_QP:
		return matrix_resume(matrix);
	case HW_CMD_2ERR_QP:
		if (matrix->refuses_error)
			return HW_COMMAND_STATUS_BAD_QP_STATE;
		matrix->in_device = HW_QP_STATE_ERR;
		return HW_COMMAND_STATUS_OK;
	case HW_CMD_2RST_QP:
		matrix->in_device = HW_QP_STATE_RST;
		return HW_COMMAND_STATUS_OK;
	default:
		return HW_COMMAND_STATUS_OK;
	}
}

static void matrix_clean_up(void *data)
{
	struct matrix *matrix = data;

	cxib_drain_destroy(&matrix->fake->qp);
	cxib_pipelining_free(&matrix->fake->qp);
	destroy_workqueue(matrix->fake->ibdev.workqueue);
	xa_destroy(&matrix->fake->ibdev.sig_mrs);
}

static int qp_stop_matrix_init(struct kunit *test)
{
	struct matrix *matrix = kunit_kzalloc(test, sizeof(*matrix), GFP_KERNEL);
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct cxib_qp *qp = &fake->qp;

	KUNIT_ASSERT_NOT_NULL(test, matrix);
	matrix->fake = fake;
	fake->hw.caps.sho = 1;
	fake->hw.caps.drain_sigerr = 1;
	fake->ibdev.workqueue = alloc_workqueue("qp_stop_matrix", WQ_UNBOUND, 0);
	KUNIT_ASSERT_NOT_NULL(test, fake->ibdev.workqueue);
	mutex_init(&qp->mutex);
	qp->ib.qp_type = IB_QPT_RC;
	qp->ib.integrity_en = true;
	qp->ib.pd = &matrix->pd.ib;
	qp->sq.av_ds = 0;
	qp->sq.opcode_mask |= BIT_ULL(IB_WR_RDMA_WRITE);
	matrix->mr.mr.ib.device = &fake->ibdev.ib;
	matrix->mr.mr.ib.pd = &matrix->pd.ib;
	matrix->mr.mr.ib.type = IB_MR_TYPE_INTEGRITY;
	matrix->mr.mr.ib.lkey = MATRIX_KEY;
	INIT_LIST_HEAD(&matrix->mr.failed_node);
	spin_lock_init(&matrix->mr.lock);
	xa_init_flags(&fake->ibdev.sig_mrs, XA_FLAGS_LOCK_IRQ);
	KUNIT_ASSERT_EQ(test, 0, xa_insert_irq(&fake->ibdev.sig_mrs,
					       MATRIX_KEY >> CXIB_MKEY_INDEX_SHIFT, &matrix->mr,
					       GFP_KERNEL));
	fake_queue_pair_start(fake, matrix_run_command, matrix);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, matrix_clean_up, matrix));
	test->priv = matrix;
	return 0;
}

static int matrix_modify(struct matrix *matrix, struct ib_qp_attr attr, int mask)
{
	return cxib_modify_qp_kernel(&matrix->fake->qp.ib, &attr, mask | IB_QP_STATE, NULL);
}

static int matrix_to_state(struct matrix *matrix, enum ib_qp_state state)
{
	return matrix_modify(matrix, (struct ib_qp_attr){ .qp_state = state }, 0);
}

/* Prepares a QP in RTS with a posted transfer and its response. */
static void matrix_begin(struct kunit *test, bool is_manual)
{
	struct matrix *matrix = test->priv;
	struct cxib_qp *qp = &matrix->fake->qp;

	matrix->is_busy = false;
	matrix->executed = 0;
	KUNIT_ASSERT_EQ(test, 0, matrix_to_state(matrix, IB_QPS_RESET));
	cxib_pipelining_free(qp);
	KUNIT_ASSERT_EQ(test, 0, matrix_functions->enable(&qp->ib, is_manual ?
							  CXIB_SIGNATURE_MANUAL :
							  CXIB_SIGNATURE_AUTOMATIC));
	cxib_qp_set_state(qp, IB_QPS_RTS);
	matrix->in_device = HW_QP_STATE_RTS;
	matrix->stops_at = 0;
	matrix->refuses_error = false;
	matrix->is_noted = false;
	matrix->good_sent = false;
	KUNIT_ASSERT_EQ(test, 0, matrix_post(matrix));
}

static void matrix_raise(struct matrix *matrix, enum hw_event_type type)
{
	cxib_queue_event(&matrix->fake->ibdev, type, HW_EVENT_QUEUE_TYPE_QP, FAKE_QPN);
}

/* Moments: each brings a QP of matrix_begin() to a moment of the stop. */

static void moment_running(struct matrix *matrix)
{
}

static void moment_draining(struct matrix *matrix)
{
	matrix->in_device = HW_QP_STATE_SQ_DRAINING;
	matrix->queries = MATRIX_QUERIES;
}

static void moment_stopped(struct matrix *matrix)
{
	matrix_stop_in_device(matrix);
}

/* The work item has not run yet. */
static void moment_event_seen(struct matrix *matrix)
{
	matrix_stop_in_device(matrix);
	cxib_sq_stop(&matrix->fake->qp);
}

static void moment_error_polled(struct matrix *matrix)
{
	struct ib_wc wc;

	matrix_stop_in_device(matrix);
	cxib_poll_cq(&matrix->fake->cq.ib, 1, &wc);
}

static void moment_handled(struct matrix *matrix)
{
	matrix_stop_in_device(matrix);
	matrix_raise(matrix, HW_EVENT_TYPE_SQ_DRAINED);
	flush_delayed_work(&matrix->fake->qp.pipelining->work);
}

static void moment_held_then_stopped(struct matrix *matrix)
{
	matrix_to_state(matrix, IB_QPS_SQD);
	matrix_stop_in_device(matrix);
}

static void moment_held_and_handled(struct matrix *matrix)
{
	matrix_to_state(matrix, IB_QPS_SQD);
	moment_handled(matrix);
}

static void moment_stopping_at_modify(struct matrix *matrix)
{
	matrix->stops_at = HW_CMD_RTS2RTS_QP;
}

static void moment_stopping_at_query(struct matrix *matrix)
{
	matrix->stops_at = HW_CMD_QUERY_QP;
}

/* The CQE of the error is lost. */
static void moment_unexplained(struct matrix *matrix)
{
	matrix->is_noted = true;
	matrix_stop_in_device(matrix);
}

static void moment_unexplained_and_refused(struct matrix *matrix)
{
	moment_unexplained(matrix);
	matrix->refuses_error = true;
}

static void moment_error_in_device(struct matrix *matrix)
{
	moment_handled(matrix);
	matrix->in_device = HW_QP_STATE_ERR;
}

static const struct {
	const char *name;
	void (*prepare)(struct matrix *matrix);
} moments[] = {
	{ "running", moment_running },
	{ "draining", moment_draining },
	{ "stopped", moment_stopped },
	{ "event seen", moment_event_seen },
	{ "error polled", moment_error_polled },
	{ "handled", moment_handled },
	{ "held, then stopped", moment_held_then_stopped },
	{ "held, handled", moment_held_and_handled },
	{ "stopping at modify", moment_stopping_at_modify },
	{ "stopping at query", moment_stopping_at_query },
	{ "unexplained", moment_unexplained },
	{ "unexplained, ERR refused", moment_unexplained_and_refused },
	{ "ERR in device", moment_error_in_device },
};

/* Operations of a ULP, the RDMA core, the peer or the device. */

static int operation_nothing(struct matrix *matrix)
{
	return 0;
}

static int operation_to_rts(struct matrix *matrix)
{
	return matrix_to_state(matrix, IB_QPS_RTS);
}

static int operation_rts_attributes(struct matrix *matrix)
{
	const struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS, .min_rnr_timer = 1 };

	return matrix_modify(matrix, attr, IB_QP_MIN_RNR_TIMER);
}

static int operation_from_sqd(struct matrix *matrix)
{
	const struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS, .cur_qp_state = IB_QPS_SQD };

	return matrix_modify(matrix, attr, IB_QP_CUR_STATE);
}

static int operation_from_rts(struct matrix *matrix)
{
	const struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS, .cur_qp_state = IB_QPS_RTS, .min_rnr_timer = 1,
	};

	return matrix_modify(matrix, attr, IB_QP_CUR_STATE | IB_QP_MIN_RNR_TIMER);
}

static int operation_to_sqd(struct matrix *matrix)
{
	return matrix_to_state(matrix, IB_QPS_SQD);
}

static int operation_to_sqd_notify(struct matrix *matrix)
{
	const struct ib_qp_attr attr = { .qp_state = IB_QPS_SQD, .en_sqd_async_notify = 1 };

	return matrix_modify(matrix, attr, IB_QP_EN_SQD_ASYNC_NOTIFY);
}

static int operation_to_error(struct matrix *matrix)
{
	return matrix_to_state(matrix, IB_QPS_ERR);
}

static int operation_to_reset(struct matrix *matrix)
{
	return matrix_to_state(matrix, IB_QPS_RESET);
}

static int operation_query(struct matrix *matrix)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	return cxib_query_qp(&matrix->fake->qp.ib, &attr, IB_QP_STATE, &init);
}

static int operation_cancel_nothing(struct matrix *matrix)
{
	return matrix_functions->cancel(&matrix->fake->qp.ib, MATRIX_NONE);
}

static int operation_resume(struct matrix *matrix)
{
	return matrix_functions->resume(&matrix->fake->qp.ib);
}

static int operation_poll(struct matrix *matrix)
{
	struct ib_wc wc;

	return cxib_poll_cq(&matrix->fake->cq.ib, 1, &wc);
}

/* The MR is checked early, which a ULP must not do. */
static int operation_check_mr(struct matrix *matrix)
{
	struct ib_mr_status status;

	/* With the manual policy the ULP checks the MR only after its response. */
	if (cxib_qp_is_manual(&matrix->fake->qp))
		return 0;
	return cxib_check_mr_status(&matrix->mr.mr.ib, IB_MR_CHECK_SIG_STATUS, &status);
}

static int operation_work(struct matrix *matrix)
{
	matrix_raise(matrix, HW_EVENT_TYPE_SQ_DRAINED);
	flush_delayed_work(&matrix->fake->qp.pipelining->work);
	return 0;
}

static int operation_error_event(struct matrix *matrix)
{
	matrix_raise(matrix, HW_EVENT_TYPE_WQ_ACCESS_ERROR);
	return 0;
}

static int operation_post(struct matrix *matrix)
{
	struct ib_sge sge = { 0x1000, 8, FAKE_SEND_LKEY };
	const struct ib_send_wr wr = {
		.wr_cqe = MATRIX_NONE, .num_sge = 1, .sg_list = &sge, .opcode = IB_WR_SEND,
	};
	const struct ib_send_wr *bad;

	return cxib_post_send(&matrix->fake->qp.ib, &wr, &bad);
}

static const struct {
	const char *name;
	int (*run)(struct matrix *matrix);
} operations[] = {
	{ "nothing", operation_nothing },
	{ "to RTS", operation_to_rts },
	{ "RTS attributes", operation_rts_attributes },
	{ "from SQD to RTS", operation_from_sqd },
	{ "from RTS to RTS", operation_from_rts },
	{ "to SQD", operation_to_sqd },
	{ "to SQD with event", operation_to_sqd_notify },
	{ "to ERR", operation_to_error },
	{ "to RESET", operation_to_reset },
	{ "query", operation_query },
	{ "cancel nothing", operation_cancel_nothing },
	{ "resume", operation_resume },
	{ "poll", operation_poll },
	{ "check MR", operation_check_mr },
	{ "work item", operation_work },
	{ "error event", operation_error_event },
	{ "post", operation_post },
};

/* Completes the stop: the event arrives and the work item runs. */
static void matrix_finish(struct matrix *matrix)
{
	struct cxib_qp *qp = &matrix->fake->qp;

	if (matrix->in_device == HW_QP_STATE_SQ_DRAINING)
		matrix_stop_in_device(matrix);
	operation_work(matrix);
	cancel_delayed_work_sync(&qp->pipelining->work);
	if (qp->drain)
		cancel_delayed_work_sync(&qp->drain->work);
}

/*
 * In addition: a completed stop has cancelled the response, or the QP is in ERR, in RESET or
 * stopped. An unexplained stop ends in ERR or stays stopped.
 */
static void matrix_expect_safe(struct kunit *test, const char *moment, const char *first,
			       const char *second)
{
	struct matrix *matrix = test->priv;
	bool runs = matrix->in_device == HW_QP_STATE_RTS && matrix->is_noted;

	KUNIT_EXPECT_FALSE_MSG(test, matrix->good_sent, "%s: %s, %s: good response for bad data",
			       moment, first, second);
	KUNIT_EXPECT_FALSE_MSG(test, runs && matrix_is_response_posted(matrix),
			       "%s: %s, %s: runs with the response posted", moment, first, second);
	KUNIT_EXPECT_FALSE_MSG(test, cxib_command_queue_is_fatal(&matrix->fake->hw.commands),
			       "%s: %s, %s: the device is fatal", moment, first, second);
}

static void matrix_try_pairs(struct kunit *test, bool is_manual, size_t moment)
{
	struct matrix *matrix = test->priv;
	size_t first, second;

	for (first = 0; first < ARRAY_SIZE(operations); first++)
		for (second = (moment + first) % kunit_sample; second < ARRAY_SIZE(operations);
		     second += kunit_sample) {
			matrix_begin(test, is_manual);
			moments[moment].prepare(matrix);
			operations[first].run(matrix);
			operations[second].run(matrix);
			matrix_finish(matrix);
			matrix_expect_safe(test, moments[moment].name, operations[first].name,
					   operations[second].name);
		}
}

static void qp_stop_pairs_of_operations_are_safe(struct kunit *test)
{
	size_t moment;

	for (moment = 0; moment < ARRAY_SIZE(moments); moment++) {
		matrix_try_pairs(test, false, moment);
		matrix_try_pairs(test, true, moment);
	}
}

/**
 * struct outcome - result of an operation at a moment, and the state of the QP afterwards
 * @is_manual: the policy
 * @prepare: the moment
 * @run: the operation
 * @result: result of the operation
 * @state: enum ib_qp_state
 */
struct outcome {
	bool is_manual;
	void (*prepare)(struct matrix *matrix);
	int (*run)(struct matrix *matrix);
	int result;
	enum ib_qp_state state;
};

static const struct outcome outcomes[] = {
	/* The driver handles the stop first. */
	{ false, moment_draining, operation_rts_attributes, 0, IB_QPS_RTS },
	{ false, moment_stopped, operation_rts_attributes, 0, IB_QPS_RTS },
	{ false, moment_event_seen, operation_rts_attributes, 0, IB_QPS_RTS },
	{ false, moment_stopping_at_modify, operation_rts_attributes, 0, IB_QPS_RTS },
	{ false, moment_stopping_at_query, operation_rts_attributes, 0, IB_QPS_RTS },
	{ false, moment_handled, operation_rts_attributes, 0, IB_QPS_RTS },
	{ false, moment_stopped, operation_from_rts, 0, IB_QPS_RTS },
	/* A transition to SQD by the ULP waits for the announced WQEs. */
	{ false, moment_stopped, operation_to_sqd, 0, IB_QPS_SQD },
	{ false, moment_event_seen, operation_to_sqd_notify, 0, IB_QPS_SQD },
	{ false, moment_draining, operation_to_sqd_notify, 0, IB_QPS_SQD },
	{ false, moment_held_then_stopped, operation_to_rts, -EBUSY, IB_QPS_SQD },
	{ false, moment_held_then_stopped, operation_query, 0, IB_QPS_SQD },
	{ false, moment_stopped, operation_query, 0, IB_QPS_RTS },
	{ false, moment_event_seen, operation_to_error, 0, IB_QPS_ERR },
	{ false, moment_draining, operation_to_error, 0, IB_QPS_ERR },
	{ false, moment_draining, operation_to_reset, 0, IB_QPS_RESET },
	{ false, moment_stopped, operation_resume, -EINVAL, IB_QPS_RTS },
	{ false, moment_stopped, operation_cancel_nothing, -EINVAL, IB_QPS_RTS },
	{ false, moment_unexplained, operation_rts_attributes, -ENOTCONN, IB_QPS_ERR },
	{ false, moment_unexplained, operation_work, 0, IB_QPS_ERR },
	{ false, moment_unexplained_and_refused, operation_rts_attributes, -ENOTCONN, IB_QPS_RTS },
	/* The ULP handles the stop. */
	{ true, moment_draining, operation_rts_attributes, -EBUSY, IB_QPS_SQD },
	{ true, moment_stopped, operation_rts_attributes, -EBUSY, IB_QPS_SQD },
	{ true, moment_event_seen, operation_to_rts, -EBUSY, IB_QPS_SQD },
	{ true, moment_event_seen, operation_from_sqd, -EBUSY, IB_QPS_SQD },
	{ true, moment_stopping_at_modify, operation_rts_attributes, -EBUSY, IB_QPS_SQD },
	{ true, moment_handled, operation_to_rts, -EBUSY, IB_QPS_SQD },
	{ true, moment_handled, operation_from_sqd, -EBUSY, IB_QPS_SQD },
	{ true, moment_handled, operation_to_sqd_notify, 0, IB_QPS_SQD },
	{ true, moment_held_and_handled, operation_to_rts, -EBUSY, IB_QPS_SQD },
	{ true, moment_handled, operation_resume, -EBUSY, IB_QPS_SQD },
	{ true, moment_event_seen, operation_resume, -EINVAL, IB_QPS_RTS },
	{ true, moment_handled, operation_cancel_nothing, 0, IB_QPS_SQD },
	{ true, moment_event_seen, operation_cancel_nothing, -EBUSY, IB_QPS_RTS },
	{ true, moment_handled, operation_to_error, 0, IB_QPS_ERR },
	{ true, moment_error_in_device, operation_query, 0, IB_QPS_ERR },
	{ true, moment_unexplained, operation_work, 0, IB_QPS_ERR },
	{ true, moment_unexplained, operation_to_rts, -ENOTCONN, IB_QPS_ERR },
};

static void qp_stop_operations_return_as_documented(struct kunit *test)
{
	struct matrix *matrix = test->priv;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(outcomes); i++) {
		const struct outcome *outcome = &outcomes[i];

		matrix_begin(test, outcome->is_manual);
		outcome->prepare(matrix);
		KUNIT_EXPECT_EQ_MSG(test, outcome->result, outcome->run(matrix), "outcome %zu", i);
		KUNIT_EXPECT_EQ_MSG(test, outcome->state, matrix->fake->qp.state, "outcome %zu", i);
		matrix_finish(matrix);
		KUNIT_EXPECT_FALSE_MSG(test, matrix->good_sent, "outcome %zu", i);
	}
}

/* The device could stop again before each RTS2RTS_QP. */
static void modify_qp_ends_while_ulp_posts_bad_data(struct kunit *test)
{
	struct matrix *matrix = test->priv;
	struct cxib_qp *qp = &matrix->fake->qp;

	matrix_begin(test, false);
	matrix->is_busy = true;
	KUNIT_EXPECT_EQ(test, 0, operation_rts_attributes(matrix));
	KUNIT_EXPECT_FALSE(test, matrix->good_sent);
	/* What was posted meanwhile waits no longer. */
	KUNIT_EXPECT_GT(test, qp->sq.prod_index, matrix->executed);
	KUNIT_EXPECT_EQ(test, qp->sq.prod_index & U16_MAX, matrix_announced(matrix));
	KUNIT_EXPECT_EQ(test, 0, qp->pipelining->num_pauses);
}

/* The ULP gets IB_EVENT_SQ_DRAINED when all WRs posted before are complete. */
static void sqd_announces_wrs_of_paused_sq(struct kunit *test)
{
	struct matrix *matrix = test->priv;
	struct cxib_qp *qp = &matrix->fake->qp;

	matrix_begin(test, false);
	cxib_sq_pause(qp);
	KUNIT_ASSERT_EQ(test, 0, operation_post(matrix));
	KUNIT_EXPECT_EQ(test, qp->sq.prod_index - 1, matrix_announced(matrix));
	KUNIT_ASSERT_EQ(test, 0, matrix_to_state(matrix, IB_QPS_SQD));
	KUNIT_EXPECT_EQ(test, qp->sq.prod_index, matrix_announced(matrix));
	KUNIT_EXPECT_EQ(test, qp->sq.prod_index, qp->drain->end);
	KUNIT_ASSERT_EQ(test, 0, operation_post(matrix));
	cxib_sq_unpause(qp);
	KUNIT_EXPECT_EQ(test, qp->drain->end, matrix_announced(matrix));
}

static void sq_paused_twice_waits_for_both(struct kunit *test)
{
	struct matrix *matrix = test->priv;
	struct cxib_qp *qp = &matrix->fake->qp;

	matrix_begin(test, false);
	cxib_sq_pause(qp);
	cxib_sq_pause(qp);
	KUNIT_ASSERT_EQ(test, 0, operation_post(matrix));
	cxib_sq_unpause(qp);
	KUNIT_EXPECT_EQ(test, qp->sq.prod_index - 1, matrix_announced(matrix));
	cxib_sq_unpause(qp);
	KUNIT_EXPECT_EQ(test, qp->sq.prod_index, matrix_announced(matrix));
}

static struct kunit_case cases[] = {
	KUNIT_CASE_SLOW(qp_stop_pairs_of_operations_are_safe),
	KUNIT_CASE(qp_stop_operations_return_as_documented),
	KUNIT_CASE(modify_qp_ends_while_ulp_posts_bad_data),
	KUNIT_CASE(sqd_announces_wrs_of_paused_sq),
	KUNIT_CASE(sq_paused_twice_waits_for_both),
	{}
};

static struct kunit_suite suite = {
	.name = "qp_stop_matrix",
	.init = qp_stop_matrix_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
