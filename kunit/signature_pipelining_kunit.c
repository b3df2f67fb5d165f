// SPDX-License-Identifier: GPL-2.0-only
/* Signature pipelining: which WQEs are cancelled, around every wrap, and how a stop is handled. */
#include <cxib/signature_pipelining.h>
#include <linux/delay.h>

#include "fake_queue_pair.h"
#include "hw/commands_queue_pairs.h"
#include "verbs/cq/cq_poll.h"
#include "verbs/qp/pipelining.h"
#include "verbs/qp/post.h"
#include "verbs/signature/integrity.h"

#define KEY		0x123400
#define OTHER_KEY	0x123500
#define VARIANT		7

/* wr_id are addresses of ib_cqe. */
#define RESPONSE	((struct ib_cqe *)0x1000)
#define OTHER_RESPONSE	((struct ib_cqe *)0x2000)

/* Behind a control segment and a remote address they reach the second WQEBB. */
#define LONG_SGES	5

/* WQEBBs of the ring. */
#define RING		BIT(FAKE_LOG_BLOCKS)

/**
 * struct fixture - an RC QP in RTS with integrity, and a failed MR
 * @fake: the QP and its device
 * @pd: PD of both
 * @mr: MR with mkey %KEY
 * @attrs: its sig_attrs
 * @in_device: enum hw_qp_state that QUERY_QP reports
 * @counter: hw_sq_wqebb_counter that it reports
 * @refused: opcode of the command that fails; 0: none
 * @event_during: opcode of the command during which the device raises SQ_DRAINED; 0: none
 * @queries: number of QUERY_QP commands
 * @resumes: number of SQD2RTS_QP commands
 * @inits: number of INIT2INIT_QP commands with drain_sigerr
 * @drained: number of IB_EVENT_SQ_DRAINED
 * @fatal: number of IB_EVENT_QP_FATAL
 */
struct fixture {
	struct fake_queue_pair *fake;
	struct cxib_pd pd;
	struct cxib_sig_mr mr;
	struct ib_sig_attrs attrs;
	u32 in_device;
	u16 counter;
	u16 refused;
	u16 event_during;
	unsigned int queries;
	unsigned int resumes;
	unsigned int inits;
	unsigned int drained;
	unsigned int fatal;
};

static const struct cxib_signature_pipelining *const functions = &cxib_signature_functions;

static void raise_drained(struct fixture *fixture)
{
	cxib_queue_event(&fixture->fake->ibdev, HW_EVENT_TYPE_SQ_DRAINED, HW_EVENT_QUEUE_TYPE_QP,
			 FAKE_QPN);
}

static void fill_query(struct fixture *fixture, void *out)
{
	struct hw_qpc *context = hw_query_qp_out_qpc(out);

	fixture->queries++;
	hw_qpc_set_state(context, fixture->in_device);
	hw_qpc_set_hw_sq_wqebb_counter(context, fixture->counter);
}

static u8 run_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
		      u32 out_length)
{
	struct fixture *fixture = hca->script_context;
	u16 opcode = hw_cmd_in_get_opcode(in);

	if (opcode == fixture->refused)
		return HW_COMMAND_STATUS_BAD_QP_STATE;
	if (opcode == HW_CMD_QUERY_QP)
		fill_query(fixture, out);
	if (opcode == HW_CMD_INIT2INIT_QP &&
	    hw_qpc_get_drain_sigerr(hw_init2init_qp_in_get_qpc(in)))
		fixture->inits++;
	if (opcode == HW_CMD_SQD_RTS_QP) {
		fixture->resumes++;
		fixture->in_device = HW_QP_STATE_RTS;
	}
	if (opcode == fixture->event_during)
		raise_drained(fixture);
	return HW_COMMAND_STATUS_OK;
}

static void on_event(struct ib_event *event, void *context)
{
	struct fixture *fixture = context;

	fixture->drained += event->event == IB_EVENT_SQ_DRAINED;
	fixture->fatal += event->event == IB_EVENT_QP_FATAL;
}

static void clean_up(void *data)
{
	struct fixture *fixture = data;
	struct cxib_qp *qp = &fixture->fake->qp;

	cxib_pipelining_free(qp);
	destroy_workqueue(fixture->fake->ibdev.workqueue);
	xa_destroy(&fixture->fake->ibdev.sig_mrs);
}

static void init_qp(struct fixture *fixture)
{
	struct cxib_qp *qp = &fixture->fake->qp;

	mutex_init(&qp->mutex);
	qp->ib.qp_type = IB_QPT_RC;
	qp->ib.integrity_en = true;
	qp->ib.pd = &fixture->pd.ib;
	qp->ib.event_handler = on_event;
	qp->ib.qp_context = fixture;
	qp->sq.av_ds = 0;
	qp->sq.opcode_mask |= BIT_ULL(IB_WR_RDMA_WRITE) | BIT_ULL(IB_WR_RDMA_READ) |
			      BIT_ULL(IB_WR_LOCAL_INV);
	cxib_qp_set_state(qp, IB_QPS_INIT);
}

static void init_mr(struct kunit *test, struct fixture *fixture)
{
	struct cxib_sig_mr *mr = &fixture->mr;

	mr->mr.ib.device = &fixture->fake->ibdev.ib;
	mr->mr.ib.pd = &fixture->pd.ib;
	mr->mr.ib.type = IB_MR_TYPE_INTEGRITY;
	mr->mr.ib.lkey = KEY;
	mr->mr.ib.sig_attrs = &fixture->attrs;
	INIT_LIST_HEAD(&mr->failed_node);
	spin_lock_init(&mr->lock);
	xa_init_flags(&fixture->fake->ibdev.sig_mrs, XA_FLAGS_LOCK_IRQ);
	/* By the index of the mkey, without its variant of 8 bits. */
	KUNIT_ASSERT_EQ(test, 0, xa_insert_irq(&fixture->fake->ibdev.sig_mrs, KEY >> 8, mr,
					       GFP_KERNEL));
}

static int signature_pipelining_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->fake = fake;
	fixture->in_device = HW_QP_STATE_RTS;
	fake->hw.caps.sho = 1;
	fake->hw.caps.drain_sigerr = 1;
	fake->ibdev.workqueue = alloc_workqueue("signature_pipelining", WQ_UNBOUND, 0);
	KUNIT_ASSERT_NOT_NULL(test, fake->ibdev.workqueue);
	init_qp(fixture);
	init_mr(test, fixture);
	fake_queue_pair_start(fake, run_command, fixture);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, clean_up, fixture));
	test->priv = fixture;
	return 0;
}

static struct cxib_qp *enable(struct kunit *test, enum cxib_signature_policy policy)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;

	KUNIT_ASSERT_EQ(test, 0, functions->enable(&qp->ib, policy));
	cxib_qp_set_state(qp, IB_QPS_RTS);
	return qp;
}

/* Posts a WR that cxib_post_send() may refuse; @lkey, of one SGE. */
static void post(struct kunit *test, enum ib_wr_opcode opcode, struct ib_cqe *cqe, int flags,
		 u32 lkey)
{
	struct fixture *fixture = test->priv;
	struct ib_sge sge = { .addr = 0x1000, .length = 8, .lkey = lkey };
	const struct ib_send_wr *bad;
	struct ib_rdma_wr rdma = {
		.wr = { .wr_cqe = cqe, .num_sge = opcode == IB_WR_LOCAL_INV ? 0 : 1,
			.sg_list = &sge, .opcode = opcode, .send_flags = flags },
	};

	KUNIT_ASSERT_EQ(test, 0, cxib_qp_post_send(&fixture->fake->qp, &rdma.wr, &bad));
}

static void post_transfer(struct kunit *test, u32 lkey)
{
	post(test, IB_WR_RDMA_WRITE, NULL, 0, lkey);
}

static void post_response(struct kunit *test, struct ib_cqe *cqe)
{
	post(test, IB_WR_SEND, cqe, IB_SEND_SIGNALED | IB_SEND_FENCE, FAKE_SEND_LKEY);
}

/* Posts a WR of two WQEBBs: only the last of its five SGEs has @lkey. */
static void post_long(struct kunit *test, enum ib_wr_opcode opcode, struct ib_cqe *cqe, int flags,
		      u32 lkey)
{
	struct fixture *fixture = test->priv;
	struct ib_sge sges[LONG_SGES];
	const struct ib_send_wr *bad;
	struct ib_rdma_wr rdma = {
		.wr = { .wr_cqe = cqe, .num_sge = LONG_SGES, .sg_list = sges, .opcode = opcode,
			.send_flags = flags },
	};
	size_t i;

	for (i = 0; i < LONG_SGES; i++)
		sges[i] = (struct ib_sge){ 0x1000, 8, i < LONG_SGES - 1 ? FAKE_SEND_LKEY : lkey };
	KUNIT_ASSERT_EQ(test, 0, cxib_qp_post_send(&fixture->fake->qp, &rdma.wr, &bad));
}

static u32 opcode_at(struct fixture *fixture, u32 block)
{
	return hw_wqe_ctrl_seg_get_opcode(fake_block(fixture->fake, block));
}

/* Begins with @index WQEBBs posted and completed. */
static void start_at(struct fixture *fixture, u32 index)
{
	struct cxib_sq *sq = &fixture->fake->qp.sq;

	sq->prod_index = index;
	sq->cons_index = index;
	sq->prod_limit = index;
}

static void report_error(struct fixture *fixture)
{
	struct hw_cqe64 *cqe = fake_completion(fixture->fake, HW_CQE_OPCODE_SIG_ERR);

	hw_sig_err_cqe_set_mkey((struct hw_sig_err_cqe *)cqe, KEY + VARIANT);
}

/* As if the MR had been registered before. */
static void fail_mr(struct fixture *fixture)
{
	fixture->mr.has_failed = false;
	report_error(fixture);
}

/* The device stops in front of the WQE that begins at @index. */
static void stop_at(struct fixture *fixture, u32 index)
{
	fixture->in_device = HW_QP_STATE_SQD;
	fixture->counter = index;
	raise_drained(fixture);
	flush_delayed_work(&fixture->fake->qp.pipelining->work);
}

static int find_resume(struct fixture *fixture, u16 counter, u32 *resume)
{
	int err = 0;

	scoped_guard(spinlock_irqsave, &fixture->fake->qp.sq.lock)
		err = cxib_sq_find_resume(&fixture->fake->qp, counter,
					  fixture->fake->qp.sq.cons_index, resume);
	return err;
}

/* A stop needs a signature error that explains it: here one of a transfer that the ULP checks. */
static void stop_explained_at(struct fixture *fixture, u32 index)
{
	fail_mr(fixture);
	stop_at(fixture, index);
}

/* Indices around the wraps of the ring, of the device's counter of 16 bits, and of u32. */
static const u32 starts[] = {
	0, RING - 1, RING, 0xfffe, 0xffff, 0x10000, 0x1ffff, 0xfffffffe, 0xffffffff,
};

static void sq_find_resume_follows_every_wrap(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	u32 resume, i, waiting;
	size_t start;

	enable(test, CXIB_SIGNATURE_MANUAL);
	for (start = 0; start < ARRAY_SIZE(starts); start++) {
		start_at(fixture, starts[start]);
		for (i = 0; i < RING; i++)
			post_transfer(test, KEY);
		for (waiting = 0; waiting <= RING; waiting++) {
			u32 expected = starts[start] + RING - waiting;

			KUNIT_ASSERT_EQ(test, 0, find_resume(fixture, expected, &resume));
			KUNIT_ASSERT_EQ(test, expected, resume);
		}
		KUNIT_EXPECT_EQ(test, -EIO, find_resume(fixture, starts[start] - 1, &resume));
		KUNIT_EXPECT_EQ(test, -EIO,
				find_resume(fixture, starts[start] + RING + 1, &resume));
	}
}

/* LOCAL_INV: 8 DS, two WQEBBs. */
static void sq_find_resume_within_wqe_returns_eio(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	u32 resume;

	enable(test, CXIB_SIGNATURE_MANUAL);
	post(test, IB_WR_LOCAL_INV, NULL, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, find_resume(fixture, 0, &resume));
	KUNIT_EXPECT_EQ(test, -EIO, find_resume(fixture, 1, &resume));
	KUNIT_EXPECT_EQ(test, 0, find_resume(fixture, 2, &resume));
}

static void stop_cancels_response_at_every_wrap(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_AUTOMATIC);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		u32 start = starts[i];
		struct ib_wc wc;

		start_at(fixture, start);
		post_transfer(test, KEY);
		post_response(test, RESPONSE);
		post_transfer(test, OTHER_KEY);
		post_response(test, OTHER_RESPONSE);
		fail_mr(fixture);
		stop_at(fixture, start + 1);
		KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_RDMA_WRITE, opcode_at(fixture, start));
		KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_NOP, opcode_at(fixture, start + 1));
		KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_SEND, opcode_at(fixture, start + 3));
		KUNIT_EXPECT_EQ(test, i + 1, qp->pipelining->stops);
		KUNIT_EXPECT_EQ(test, i + 1, qp->pipelining->cancelled);
		KUNIT_EXPECT_EQ(test, IB_QPS_RTS, qp->state);
		hw_cqe64_set_wqe_counter(fake_completion(fixture->fake, HW_CQE_OPCODE_REQ),
					 (start + 1) & U16_MAX);
		KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fixture->fake->cq.ib, 1, &wc));
		KUNIT_EXPECT_PTR_EQ(test, RESPONSE, wc.wr_cqe);
		KUNIT_EXPECT_TRUE(test, cxib_wc_is_cancelled(&wc));
		KUNIT_EXPECT_EQ(test, IB_WC_SEND, wc.opcode);
		hw_cqe64_set_wqe_counter(fake_completion(fixture->fake, HW_CQE_OPCODE_REQ),
					 (start + 3) & U16_MAX);
		KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fixture->fake->cq.ib, 1, &wc));
		KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, wc.status);
	}
	/* QUERY_QP and SQD2RTS_QP, whatever is cancelled. */
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(starts), fixture->queries);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(starts), fixture->resumes);
	KUNIT_EXPECT_EQ(test, 0, fixture->drained);
}

/* The key of the transfer lies behind the end of the ring, and so does half of the response. */
static void stop_at_ring_end_cancels_behind_and_of_two_wqebbs(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_AUTOMATIC);
	const u32 end = 2 * RING;
	struct ib_wc wc;

	start_at(fixture, RING - 1);
	post_long(test, IB_WR_RDMA_WRITE, NULL, 0, KEY);
	post_response(test, RESPONSE);
	fail_mr(fixture);
	stop_at(fixture, RING + 1);
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_RDMA_WRITE, opcode_at(fixture, RING - 1));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_NOP, opcode_at(fixture, RING + 1));

	start_at(fixture, end - 2);
	post_transfer(test, KEY);
	post_long(test, IB_WR_SEND, OTHER_RESPONSE, IB_SEND_SIGNALED | IB_SEND_FENCE,
		  FAKE_SEND_LKEY);
	post_transfer(test, OTHER_KEY);
	fail_mr(fixture);
	stop_at(fixture, end - 1);
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_NOP, opcode_at(fixture, end - 1));
	/* The control segment and the SGEs: the device finds the next WQE by them. */
	KUNIT_EXPECT_EQ(test, 1 + LONG_SGES,
			hw_wqe_ctrl_seg_get_ds(fake_block(fixture->fake, end - 1)));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_RDMA_WRITE, opcode_at(fixture, end + 1));
	hw_cqe64_set_wqe_counter(fake_completion(fixture->fake, HW_CQE_OPCODE_REQ), end - 1);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fixture->fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_PTR_EQ(test, OTHER_RESPONSE, wc.wr_cqe);
	KUNIT_EXPECT_TRUE(test, cxib_wc_is_cancelled(&wc));
	KUNIT_EXPECT_EQ(test, end + 1, qp->sq.cons_index);
}

/* Each of several transfers of a response may fail; the ULP polled the error before the event. */
static void stop_after_polled_error_cancels_response(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_wc wc;

	enable(test, CXIB_SIGNATURE_AUTOMATIC);
	post_transfer(test, KEY);
	post_transfer(test, OTHER_KEY);
	post_response(test, RESPONSE);
	fail_mr(fixture);
	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fixture->fake->cq.ib, 1, &wc));
	stop_at(fixture, 2);
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_NOP, opcode_at(fixture, 2));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_RDMA_WRITE, opcode_at(fixture, 1));
}

/*
 * The error is in the ring that the CQ moves to. A work item that did not wait for the resize would
 * find none, and let the response go.
 */
static void stop_during_cq_resize_cancels_response(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_AUTOMATIC);
	struct device *dev = fixture->fake->hca->bus.dev;
	struct cxib_cq *cq = &fixture->fake->cq;
	unsigned int log_size = FAKE_LOG_CQ + 1;
	struct cxib_buffer ring;

	post_transfer(test, KEY);
	post_response(test, RESPONSE);
	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&ring, dev,
						    sizeof(struct hw_cqe64) << log_size));
	cxib_cq_invalidate(&ring, log_size);
	mutex_lock(&cq->resize_lock);
	cq->resizing = true;
	fake_completion(fixture->fake, HW_CQE_OPCODE_RESIZE_CQ);
	fixture->in_device = HW_QP_STATE_SQD;
	fixture->counter = 1;
	raise_drained(fixture);
	while (!READ_ONCE(fixture->queries))
		usleep_range(100, 1000);
	/* Only a work item that does not wait makes use of this time. */
	msleep(20);
	cxib_cq_switch_ring(cq, &ring, log_size);
	fail_mr(fixture);
	mutex_unlock(&cq->resize_lock);
	flush_delayed_work(&qp->pipelining->work);
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_NOP, opcode_at(fixture, 1));
	KUNIT_EXPECT_EQ(test, 1, qp->pipelining->cancelled);
	KUNIT_EXPECT_EQ(test, IB_QPS_RTS, qp->state);
	cxib_buffer_destroy(&ring, dev);
}

/* The ULP checks the status of a signaled transfer itself. */
static void stop_after_signaled_transfer_cancels_nothing(struct kunit *test)
{
	static const enum ib_wr_opcode opcodes[] = { IB_WR_RDMA_READ, IB_WR_RDMA_WRITE };
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_AUTOMATIC);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		post(test, opcodes[i], OTHER_RESPONSE, IB_SEND_SIGNALED, KEY);
		post_response(test, RESPONSE);
		fail_mr(fixture);
		stop_at(fixture, 2 * i + 1);
		KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_SEND, opcode_at(fixture, 2 * i + 1));
	}
	KUNIT_EXPECT_EQ(test, 2, fixture->resumes);
	KUNIT_EXPECT_EQ(test, 0, qp->pipelining->cancelled);
}

/* The ULP cannot check an unsignaled READ before its response is sent. */
static void stop_after_unsignaled_read_cancels_response(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_AUTOMATIC);

	post(test, IB_WR_RDMA_READ, NULL, 0, KEY);
	post_response(test, RESPONSE);
	fail_mr(fixture);
	stop_at(fixture, 1);
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_NOP, opcode_at(fixture, 1));
	KUNIT_EXPECT_EQ(test, 1, qp->pipelining->cancelled);
	KUNIT_EXPECT_EQ(test, 1, fixture->resumes);
}

/* The ULP knows of the error, but not whether the response was sent. */
static void stop_after_mr_was_checked_cancels_response(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr_status status;
	struct ib_wc wc;

	enable(test, CXIB_SIGNATURE_AUTOMATIC);
	post_transfer(test, KEY);
	post_response(test, RESPONSE);
	fail_mr(fixture);
	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fixture->fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_EQ(test, 0, cxib_check_mr_status(&fixture->mr.mr.ib, IB_MR_CHECK_SIG_STATUS,
						      &status));
	stop_at(fixture, 1);
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_NOP, opcode_at(fixture, 1));
	KUNIT_EXPECT_EQ(test, 1, fixture->resumes);
}

static void expect_closed(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, IB_QPS_ERR, fixture->fake->qp.state);
	KUNIT_EXPECT_EQ(test, 1, fixture->fatal);
	KUNIT_EXPECT_EQ(test, 0, fixture->resumes);
}

/* The CQE with the error is lost. */
static void stop_without_error_closes_connection(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	enable(test, CXIB_SIGNATURE_AUTOMATIC);
	post_transfer(test, KEY);
	post_response(test, RESPONSE);
	stop_at(fixture, 1);
	expect_closed(test);
}

static void manual_stop_without_error_closes_connection(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	enable(test, CXIB_SIGNATURE_MANUAL);
	post_transfer(test, KEY);
	post_response(test, RESPONSE);
	stop_at(fixture, 1);
	KUNIT_EXPECT_EQ(test, 0, fixture->drained);
	expect_closed(test);
}

/* The driver cannot tell which transfer has failed. */
static void stop_by_error_of_unknown_mr_closes_connection(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_cqe64 *cqe;

	enable(test, CXIB_SIGNATURE_AUTOMATIC);
	post_transfer(test, KEY);
	post_response(test, RESPONSE);
	fail_mr(fixture);
	cqe = fake_completion(fixture->fake, HW_CQE_OPCODE_SIG_ERR);
	hw_sig_err_cqe_set_mkey((struct hw_sig_err_cqe *)cqe, OTHER_KEY);
	stop_at(fixture, 1);
	expect_closed(test);
}

/* The device refuses ERR: the QP stays stopped, whatever comes later. */
static void stop_closed_is_never_resumed(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_AUTOMATIC);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS, .min_rnr_timer = 1 };

	post_transfer(test, KEY);
	post_response(test, RESPONSE);
	fixture->refused = HW_CMD_2ERR_QP;
	stop_at(fixture, 1);
	fail_mr(fixture);
	stop_at(fixture, 1);
	KUNIT_EXPECT_NE(test, 0, cxib_modify_qp_kernel(&qp->ib, &attr,
						       IB_QP_STATE | IB_QP_MIN_RNR_TIMER, NULL));
	KUNIT_EXPECT_EQ(test, 0, fixture->resumes);
	KUNIT_EXPECT_EQ(test, 1, fixture->fatal);
	fixture->refused = 0;
	stop_at(fixture, 1);
	expect_closed(test);
}

/* The peer moves the QP to ERR after QUERY_QP: the device flushes, and the ULP polls. */
static void stop_then_flush_closes_connection_only(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_sq *sq = &fixture->fake->qp.sq;
	u32 resume;
	int err = 0;

	enable(test, CXIB_SIGNATURE_AUTOMATIC);
	post_transfer(test, KEY);
	post_response(test, RESPONSE);
	sq->cons_index = 2;
	scoped_guard(spinlock_irqsave, &sq->lock)
		err = cxib_sq_find_resume(&fixture->fake->qp, 1, 0, &resume);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, err);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fixture->fake->hw.health));
}

static void stop_behind_response_closes_connection(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	enable(test, CXIB_SIGNATURE_AUTOMATIC);
	post_transfer(test, KEY);
	post_response(test, RESPONSE);
	fail_mr(fixture);
	stop_at(fixture, 2);
	expect_closed(test);
}

static void stop_with_unsignaled_response_closes_connection(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	enable(test, CXIB_SIGNATURE_AUTOMATIC);
	post_transfer(test, KEY);
	post(test, IB_WR_SEND, RESPONSE, IB_SEND_FENCE, FAKE_SEND_LKEY);
	fail_mr(fixture);
	stop_at(fixture, 1);
	expect_closed(test);
}

static void stop_without_response_closes_connection(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	enable(test, CXIB_SIGNATURE_AUTOMATIC);
	post_transfer(test, KEY);
	post(test, IB_WR_SEND, RESPONSE, IB_SEND_SIGNALED, FAKE_SEND_LKEY);
	fail_mr(fixture);
	stop_at(fixture, 1);
	expect_closed(test);
}

static void stop_query_refused_closes_connection(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	enable(test, CXIB_SIGNATURE_AUTOMATIC);
	fixture->refused = HW_CMD_QUERY_QP;
	stop_at(fixture, 0);
	expect_closed(test);
}

static void stop_resume_refused_closes_connection(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	enable(test, CXIB_SIGNATURE_AUTOMATIC);
	fixture->refused = HW_CMD_SQD_RTS_QP;
	stop_explained_at(fixture, 0);
	expect_closed(test);
}

static void stop_at_false_counter_makes_device_fatal(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	enable(test, CXIB_SIGNATURE_AUTOMATIC);
	post_transfer(test, KEY);
	stop_at(fixture, 2);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fixture->fake->hw.health));
	KUNIT_EXPECT_EQ(test, 0, fixture->resumes);
}

static void drained_event_of_running_qp_is_spurious(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_AUTOMATIC);

	raise_drained(fixture);
	flush_delayed_work(&qp->pipelining->work);
	KUNIT_EXPECT_EQ(test, 1, qp->pipelining->spurious);
	KUNIT_EXPECT_EQ(test, IB_QPS_RTS, qp->state);
	KUNIT_EXPECT_EQ(test, 0, qp->sq.state);
	KUNIT_EXPECT_EQ(test, 0, fixture->resumes);
}

/* The device stops the SQ again as soon as it may. */
static void stop_during_resume_is_handled(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_AUTOMATIC);

	fixture->event_during = HW_CMD_SQD_RTS_QP;
	stop_explained_at(fixture, 0);
	fixture->event_during = 0;
	flush_delayed_work(&qp->pipelining->work);
	KUNIT_EXPECT_EQ(test, 2, fixture->queries);
}

static void signature_error_without_event_schedules_query(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_AUTOMATIC);
	struct ib_wc wc;

	post_transfer(test, KEY);
	post_response(test, RESPONSE);
	fixture->in_device = HW_QP_STATE_SQD;
	fixture->counter = 1;
	fail_mr(fixture);
	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fixture->fake->cq.ib, 1, &wc));
	KUNIT_ASSERT_TRUE(test, delayed_work_pending(&qp->pipelining->work));
	flush_delayed_work(&qp->pipelining->work);
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_NOP, opcode_at(fixture, 1));
	KUNIT_EXPECT_EQ(test, 1, fixture->resumes);
}

static void manual_stop_lets_ulp_cancel(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_MANUAL);
	struct ib_mr_status status;
	struct ib_sig_err error;

	post_transfer(test, KEY);
	post_response(test, RESPONSE);
	fail_mr(fixture);
	stop_at(fixture, 1);
	KUNIT_EXPECT_EQ(test, 1, fixture->drained);
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_SEND, opcode_at(fixture, 1));
	KUNIT_EXPECT_EQ(test, -EBUSY, functions->resume(&qp->ib));
	KUNIT_EXPECT_PTR_EQ(test, &fixture->mr.mr.ib, functions->next_failed(&qp->ib, &error));
	KUNIT_EXPECT_EQ(test, KEY + VARIANT, error.key);
	/* Another thread may have fetched the MR, and is about to cancel the response. */
	KUNIT_EXPECT_EQ(test, -EBUSY, functions->resume(&qp->ib));
	KUNIT_EXPECT_NULL(test, functions->next_failed(&qp->ib, &error));
	KUNIT_EXPECT_EQ(test, 0, functions->cancel(&qp->ib, OTHER_RESPONSE));
	KUNIT_EXPECT_EQ(test, -EINVAL, functions->cancel(&qp->ib, NULL));
	KUNIT_EXPECT_EQ(test, 1, functions->cancel(&qp->ib, RESPONSE));
	KUNIT_EXPECT_EQ(test, 0, functions->cancel(&qp->ib, RESPONSE));
	KUNIT_EXPECT_EQ(test, 0, functions->resume(&qp->ib));
	KUNIT_EXPECT_EQ(test, 1, fixture->resumes);
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_NOP, opcode_at(fixture, 1));
	KUNIT_ASSERT_EQ(test, 0, cxib_check_mr_status(&fixture->mr.mr.ib, IB_MR_CHECK_SIG_STATUS,
						      &status));
	KUNIT_EXPECT_EQ(test, IB_MR_CHECK_SIG_STATUS, status.fail_status);
}

/* A WR that the ULP relies on stays, and so do the others of its wr_cqe. */
static void cancel_key_change_returns_eopnotsupp(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_MANUAL);

	post_response(test, RESPONSE);
	post(test, IB_WR_LOCAL_INV, RESPONSE, 0, 0);
	stop_explained_at(fixture, 0);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, functions->cancel(&qp->ib, RESPONSE));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_SEND, opcode_at(fixture, 0));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_UMR, opcode_at(fixture, 1));
}

static void cancel_started_wr_returns_0(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_MANUAL);

	post_response(test, RESPONSE);
	stop_explained_at(fixture, 1);
	KUNIT_EXPECT_EQ(test, 0, functions->cancel(&qp->ib, RESPONSE));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_SEND, opcode_at(fixture, 0));
}

/* The device flushes, and the ring has new WQEs where the stop was. */
static void cancel_behind_flushed_wqe_returns_enotconn(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_MANUAL);
	u32 i;

	post_response(test, RESPONSE);
	stop_explained_at(fixture, 0);
	qp->sq.cons_index = qp->sq.prod_index;
	for (i = 0; i < RING / 2; i++)
		post_long(test, IB_WR_SEND, OTHER_RESPONSE, IB_SEND_SIGNALED, FAKE_SEND_LKEY);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, functions->cancel(&qp->ib, RESPONSE));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, functions->cancel(&qp->ib, OTHER_RESPONSE));
}

/* The event says that the device has moved the QP to ERR. */
static void error_event_ends_stop(struct kunit *test)
{
	static const enum hw_event_type types[] = {
		HW_EVENT_TYPE_WQ_CATAS_ERROR, HW_EVENT_TYPE_WQ_INVAL_REQ_ERROR,
		HW_EVENT_TYPE_WQ_ACCESS_ERROR,
	};
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_MANUAL);
	struct ib_sig_err error;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		qp->sq.state = 0;
		stop_explained_at(fixture, 0);
		cxib_queue_event(&fixture->fake->ibdev, types[i], HW_EVENT_QUEUE_TYPE_QP,
				 FAKE_QPN);
		KUNIT_EXPECT_NULL(test, functions->next_failed(&qp->ib, &error));
		KUNIT_EXPECT_EQ(test, -ENOTCONN, functions->cancel(&qp->ib, RESPONSE));
		KUNIT_EXPECT_EQ(test, -ENOTCONN, functions->resume(&qp->ib));
		stop_at(fixture, 0);
		KUNIT_EXPECT_EQ(test, 0, fixture->resumes);
		KUNIT_EXPECT_EQ(test, i + 1, fixture->drained);
	}
}

static void manual_functions_of_running_qp_are_refused(struct kunit *test)
{
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_MANUAL);
	struct ib_sig_err error;

	KUNIT_EXPECT_EQ(test, -EBUSY, functions->cancel(&qp->ib, RESPONSE));
	KUNIT_EXPECT_EQ(test, -EINVAL, functions->resume(&qp->ib));
	KUNIT_EXPECT_NULL(test, functions->next_failed(&qp->ib, &error));
}

static void manual_functions_of_failed_qp_return_enotconn(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_MANUAL);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	stop_explained_at(fixture, 0);
	KUNIT_ASSERT_EQ(test, 0, cxib_modify_qp_kernel(&qp->ib, &attr, IB_QP_STATE, NULL));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, functions->cancel(&qp->ib, RESPONSE));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, functions->resume(&qp->ib));
}

static void manual_functions_of_automatic_qp_return_einval(struct kunit *test)
{
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_AUTOMATIC);

	KUNIT_EXPECT_EQ(test, -EINVAL, functions->cancel(&qp->ib, RESPONSE));
	KUNIT_EXPECT_EQ(test, -EINVAL, functions->resume(&qp->ib));
}

/* A ULP may have QPs of several drivers, and call the functions of one device for all of them. */
static void functions_for_qp_of_other_driver_are_refused(struct kunit *test)
{
	struct ib_qp *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	struct ib_sig_err error;

	KUNIT_ASSERT_NOT_NULL(test, other);
	other->device = kunit_kzalloc(test, sizeof(*other->device), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, other->device);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, functions->enable(other, CXIB_SIGNATURE_MANUAL));
	KUNIT_EXPECT_EQ(test, -EINVAL, functions->cancel(other, RESPONSE));
	KUNIT_EXPECT_EQ(test, -EINVAL, functions->resume(other));
	KUNIT_EXPECT_NULL(test, functions->next_failed(other, &error));
}

/* The device or the driver flushes a cancelled WR: the QP does not work, so there is no mark. */
static void cancelled_wr_flushed_is_plain_flush(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_MANUAL);
	struct hw_cqe64 *cqe;
	struct ib_wc wc;

	post_response(test, RESPONSE);
	stop_explained_at(fixture, 0);
	KUNIT_ASSERT_EQ(test, 1, functions->cancel(&qp->ib, RESPONSE));
	cqe = fake_completion(fixture->fake, HW_CQE_OPCODE_REQ_ERR);
	hw_err_cqe_set_syndrome((struct hw_err_cqe *)cqe, HW_CQE_SYNDROME_WR_FLUSH_ERR);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fixture->fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, wc.status);
	KUNIT_EXPECT_EQ(test, IB_WC_SEND, wc.opcode);
	KUNIT_EXPECT_FALSE(test, cxib_wc_is_cancelled(&wc));
}

/* WRs of a list: what they transfer, and their send_flags. */
struct wr_kind {
	bool has_integrity;
	int flags;
};

#define RESPONSE_FLAGS	(IB_SEND_SIGNALED | IB_SEND_FENCE)

static int check_list(struct kunit *test, const struct wr_kind *kinds, u32 count)
{
	struct fixture *fixture = test->priv;
	struct ib_send_wr wrs[3] = {};
	struct ib_sge sges[3];
	u32 i;

	for (i = 0; i < count; i++) {
		sges[i] = (struct ib_sge){ 0x1000, 8, OTHER_KEY };
		if (kinds[i].has_integrity)
			sges[i].lkey = KEY + i;
		wrs[i].sg_list = &sges[i];
		wrs[i].num_sge = 1;
		wrs[i].opcode = IB_WR_RDMA_WRITE;
		wrs[i].send_flags = kinds[i].flags;
		wrs[i].next = i + 1 < count ? &wrs[i + 1] : NULL;
	}
	return cxib_qp_check_send_wrs(&fixture->fake->qp, wrs);
}

/* Each list of up to three WRs: the one that is accepted protects the response of each transfer. */
static void send_wrs_without_protection_are_refused(struct kunit *test)
{
	static const int flags[] = { 0, IB_SEND_SIGNALED, IB_SEND_FENCE, RESPONSE_FLAGS };
	struct wr_kind kinds[3];
	u32 code, i, k;

	enable(test, CXIB_SIGNATURE_AUTOMATIC);
	for (code = 0; code < 8 * 8 * 8; code++) {
		bool is_safe = true;

		for (i = 0; i < 3; i++)
			kinds[i] = (struct wr_kind){ code >> (3 * i) & 4,
						     flags[code >> (3 * i) & 3] };
		/* The first WR behind an unsignaled transfer with any flag has to be a response. */
		for (i = 0; i < 3; i++) {
			if (!kinds[i].has_integrity)
				continue;
			for (k = i + 1; k < 3; k++)
				if (kinds[i].flags & IB_SEND_SIGNALED ?
				    kinds[k].flags & IB_SEND_FENCE : kinds[k].flags)
					break;
			if (kinds[i].flags & IB_SEND_SIGNALED)
				is_safe &= k == 3;
			else
				is_safe &= k < 3 && kinds[k].flags == RESPONSE_FLAGS;
		}
		KUNIT_EXPECT_EQ_MSG(test, is_safe ? 0 : -EINVAL, check_list(test, kinds, 3),
				    "list 0x%x", code);
	}
}

static void post_unprotected_response_posts_nothing(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_AUTOMATIC);
	struct ib_sge sge = { .addr = 0x1000, .length = 8, .lkey = KEY };
	struct ib_rdma_wr transfer = {
		.wr = { .num_sge = 1, .sg_list = &sge, .opcode = IB_WR_RDMA_WRITE },
	};
	const struct ib_send_wr *bad = NULL;

	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_post_send(&qp->ib, &transfer.wr, &bad));
	KUNIT_EXPECT_PTR_EQ(test, &transfer.wr, bad);
	KUNIT_EXPECT_EQ(test, 0, qp->sq.prod_index);
	transfer.wr.send_flags = IB_SEND_SIGNALED;
	KUNIT_EXPECT_EQ(test, 0, cxib_post_send(&qp->ib, &transfer.wr, &bad));
	KUNIT_EXPECT_EQ(test, 1, qp->sq.prod_index);
	KUNIT_EXPECT_EQ(test, 0, fixture->resumes);
}

static void send_of_integrity_mr_is_refused(struct kunit *test)
{
	static const enum ib_wr_opcode opcodes[] = {
		IB_WR_SEND, IB_WR_SEND_WITH_IMM, IB_WR_SEND_WITH_INV, IB_WR_RDMA_WRITE_WITH_IMM,
	};
	struct ib_sge sge = { 0x1000, 8, KEY };
	struct ib_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .send_flags = IB_SEND_SIGNALED,
	};
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_AUTOMATIC);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		wr.opcode = opcodes[i];
		KUNIT_EXPECT_EQ(test, -EINVAL, cxib_qp_check_send_wrs(qp, &wr));
	}
	wr.opcode = IB_WR_RDMA_READ;
	KUNIT_EXPECT_EQ(test, 0, cxib_qp_check_send_wrs(qp, &wr));
}

/* WRs of a list that is posted as a whole or not at all. */
enum list_wr {
	LIST_END,
	LIST_INV,
	LIST_REG,
	LIST_TRANSFER,
	LIST_RESPONSE,
	LIST_RESPONSE_TOO_LONG,
	LIST_UNSUPPORTED,
};

#define LIST_MAX	5
#define LIST_SGES	(LIST_MAX + 8) /* the last WR may have too many */

static void fill_list_wr(struct fixture *fixture, enum list_wr kind, struct ib_reg_wr *reg,
			 struct ib_sge *sge)
{
	struct ib_send_wr *wr = &reg->wr;

	*sge = (struct ib_sge){ 0x1000, 8, kind == LIST_TRANSFER ? KEY : FAKE_SEND_LKEY };
	*reg = (struct ib_reg_wr){ .mr = &fixture->mr.mr.ib, .key = KEY };
	wr->opcode = kind == LIST_INV ? IB_WR_LOCAL_INV :
		     kind == LIST_REG ? IB_WR_REG_MR_INTEGRITY :
		     kind == LIST_UNSUPPORTED ? IB_WR_ATOMIC_CMP_AND_SWP : IB_WR_SEND;
	if (kind == LIST_INV || kind == LIST_REG)
		return;
	wr->sg_list = sge;
	wr->num_sge = kind == LIST_RESPONSE_TOO_LONG ? fixture->fake->qp.sq.max_sge + 1 : 1;
	wr->send_flags = IB_SEND_SIGNALED | IB_SEND_FENCE;
	if (kind != LIST_TRANSFER)
		return;
	/* The remote address is where the MR of a registration is: it does not matter. */
	wr->opcode = IB_WR_RDMA_WRITE;
	wr->send_flags = 0;
}

/* Posts a list, and returns what cxib_post_send() does; a refused list leaves nothing behind. */
static int post_list(struct kunit *test, const enum list_wr *kinds)
{
	struct fixture *fixture = test->priv;
	const struct cxib_sig_mr *mr = &fixture->mr;
	const bool was_unchecked = mr->is_unchecked, had_failed = mr->has_failed;
	const u32 prod_index = fixture->fake->qp.sq.prod_index;
	struct ib_sge sges[LIST_SGES] = {};
	struct ib_reg_wr wrs[LIST_MAX];
	const struct ib_send_wr *bad = NULL;
	u32 i;
	int err;

	for (i = 0; kinds[i]; i++) {
		fill_list_wr(fixture, kinds[i], &wrs[i], &sges[i]);
		if (i)
			wrs[i - 1].wr.next = &wrs[i].wr;
	}
	err = cxib_post_send(&fixture->fake->qp.ib, &wrs[0].wr, &bad);
	if (!err)
		return 0;
	KUNIT_EXPECT_PTR_EQ(test, &wrs[0].wr, bad);
	KUNIT_EXPECT_EQ(test, prod_index, fixture->fake->qp.sq.prod_index);
	KUNIT_EXPECT_EQ(test, was_unchecked, mr->is_unchecked);
	KUNIT_EXPECT_EQ(test, had_failed, mr->has_failed);
	return err;
}

static const enum list_wr good_list[] = {
	LIST_INV, LIST_REG, LIST_TRANSFER, LIST_RESPONSE, LIST_END,
};

/* A transfer whose response is refused, too, must not be posted. */
static void post_refused_list(struct kunit *test, enum cxib_signature_policy policy)
{
	static const struct {
		enum list_wr kinds[LIST_MAX + 1];
		int err;
	} lists[] = {
		{ { LIST_REG, LIST_TRANSFER, LIST_RESPONSE_TOO_LONG }, -EINVAL },
		{ { LIST_REG, LIST_TRANSFER, LIST_RESPONSE, LIST_UNSUPPORTED }, -EOPNOTSUPP },
		{ { LIST_INV, LIST_REG, LIST_REG, LIST_TRANSFER, LIST_RESPONSE }, -EINVAL },
	};
	static const enum list_wr failed_list[] = {
		LIST_RESPONSE, LIST_TRANSFER, LIST_RESPONSE, LIST_END,
	};
	struct fixture *fixture = test->priv;
	u32 i;

	enable(test, policy);
	for (i = 0; i < 2 * ARRAY_SIZE(lists); i++) {
		fixture->mr.has_failed = i % 2;
		KUNIT_EXPECT_EQ_MSG(test, lists[i / 2].err, post_list(test, lists[i / 2].kinds),
				    "list %u", i);
	}
	KUNIT_EXPECT_EQ(test, -EINVAL, post_list(test, failed_list));
	KUNIT_EXPECT_EQ(test, 0, post_list(test, good_list));
	KUNIT_EXPECT_TRUE(test, fixture->mr.is_unchecked);
	KUNIT_EXPECT_FALSE(test, fixture->mr.has_failed);
	/* The ULP has not checked the MR. */
	KUNIT_EXPECT_EQ(test, -EINVAL, post_list(test, good_list));
	fixture->mr.is_unreliable = true;
	fixture->mr.is_unchecked = false;
	KUNIT_EXPECT_EQ(test, -EIO, post_list(test, good_list));
}

static void post_list_without_space_posts_nothing(struct kunit *test)
{
	static const enum list_wr list[] = { LIST_TRANSFER, LIST_RESPONSE, LIST_END };
	u32 i;

	enable(test, CXIB_SIGNATURE_AUTOMATIC);
	for (i = 0; i < RING - 1; i++)
		post_response(test, OTHER_RESPONSE);
	KUNIT_EXPECT_EQ(test, -ENOMEM, post_list(test, list));
	KUNIT_EXPECT_EQ(test, 0, post_list(test, &list[1]));
}

static void post_refused_list_posts_nothing(struct kunit *test)
{
	post_refused_list(test, CXIB_SIGNATURE_AUTOMATIC);
}

static void manual_post_refused_list_posts_nothing(struct kunit *test)
{
	post_refused_list(test, CXIB_SIGNATURE_MANUAL);
}

static void post_transfer_of_failed_mr(struct kunit *test, enum cxib_signature_policy policy)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, policy);
	struct ib_sge sge = { 0x1000, 8, KEY };
	struct ib_rdma_wr transfer = {
		.wr = { .num_sge = 1, .sg_list = &sge, .opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED },
	};
	const struct ib_send_wr *bad = NULL;
	struct ib_mr_status status;

	fixture->mr.has_failed = true;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_post_send(&qp->ib, &transfer.wr, &bad));
	KUNIT_EXPECT_PTR_EQ(test, &transfer.wr, bad);
	/* Only a registration makes the device check the MR again. */
	cxib_check_mr_status(&fixture->mr.mr.ib, IB_MR_CHECK_SIG_STATUS, &status);
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_post_send(&qp->ib, &transfer.wr, &bad));
	fixture->mr.has_failed = false;
	KUNIT_EXPECT_EQ(test, 0, cxib_post_send(&qp->ib, &transfer.wr, &bad));
}

static void post_transfer_of_failed_mr_is_refused(struct kunit *test)
{
	post_transfer_of_failed_mr(test, CXIB_SIGNATURE_AUTOMATIC);
}

static void manual_post_transfer_of_failed_mr_is_refused(struct kunit *test)
{
	post_transfer_of_failed_mr(test, CXIB_SIGNATURE_MANUAL);
}

/* The device reports only the first error of a registration. */
static void stop_cancels_later_transfers_of_mr(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_AUTOMATIC);

	post_transfer(test, KEY);
	post_response(test, RESPONSE);
	post_transfer(test, KEY);
	post_response(test, OTHER_RESPONSE);
	post(test, IB_WR_RDMA_READ, OTHER_RESPONSE, IB_SEND_SIGNALED, KEY);
	post_transfer(test, OTHER_KEY);
	post_response(test, OTHER_RESPONSE);
	fail_mr(fixture);
	stop_at(fixture, 1);
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_NOP, opcode_at(fixture, 1));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_RDMA_WRITE, opcode_at(fixture, 2));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_NOP, opcode_at(fixture, 3));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_NOP, opcode_at(fixture, 4));
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_SEND, opcode_at(fixture, 6));
	KUNIT_EXPECT_EQ(test, 3, qp->pipelining->cancelled);
	KUNIT_EXPECT_EQ(test, IB_QPS_RTS, qp->state);
}

/* The ULP has checked the MR, and registered it, before the stop is handled. */
static void stop_keeps_transfers_of_mr_registered_again(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_wc wc;

	enable(test, CXIB_SIGNATURE_AUTOMATIC);
	post(test, IB_WR_RDMA_WRITE, OTHER_RESPONSE, IB_SEND_SIGNALED, KEY);
	fail_mr(fixture);
	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fixture->fake->cq.ib, 1, &wc));
	fixture->mr.has_failed = false;
	post_transfer(test, KEY);
	post_response(test, RESPONSE);
	stop_at(fixture, 1);
	KUNIT_EXPECT_EQ(test, HW_WQE_OPCODE_SEND, opcode_at(fixture, 2));
}

static void second_error_of_registration_closes_connection(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_AUTOMATIC);

	post_transfer(test, KEY);
	post_response(test, RESPONSE);
	fail_mr(fixture);
	report_error(fixture);
	stop_at(fixture, 1);
	KUNIT_EXPECT_EQ(test, IB_QPS_ERR, qp->state);
	KUNIT_EXPECT_EQ(test, 0, fixture->resumes);
	KUNIT_EXPECT_TRUE(test, fixture->mr.is_unreliable);
}

static void stop_without_error_distrusts_mrs_in_use(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = enable(test, CXIB_SIGNATURE_AUTOMATIC);
	struct ib_mr_status status;

	fixture->mr.is_unchecked = true;
	fixture->mr.cqn = fixture->fake->cq.cqn;
	fixture->mr.qpn = qp->qpn;
	stop_at(fixture, 0);
	KUNIT_EXPECT_EQ(test, IB_QPS_ERR, qp->state);
	KUNIT_EXPECT_EQ(test, -EIO, cxib_check_mr_status(&fixture->mr.mr.ib,
							 IB_MR_CHECK_SIG_STATUS, &status));
}

static void enable_wrong_qp_is_refused(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;

	qp->ib.qp_type = IB_QPT_UC;
	KUNIT_EXPECT_EQ(test, -EINVAL, functions->enable(&qp->ib, CXIB_SIGNATURE_MANUAL));
	qp->ib.qp_type = IB_QPT_RC;
	qp->ib.integrity_en = false;
	KUNIT_EXPECT_EQ(test, -EINVAL, functions->enable(&qp->ib, CXIB_SIGNATURE_MANUAL));
	qp->ib.integrity_en = true;
	cxib_qp_set_state(qp, IB_QPS_RTR);
	KUNIT_EXPECT_EQ(test, -EINVAL, functions->enable(&qp->ib, CXIB_SIGNATURE_MANUAL));
	cxib_qp_set_state(qp, IB_QPS_INIT);
	qp->sq.flags = IB_SEND_SIGNALED;
	KUNIT_EXPECT_EQ(test, -EINVAL, functions->enable(&qp->ib, CXIB_SIGNATURE_AUTOMATIC));
	qp->sq.flags = 0;
	KUNIT_EXPECT_EQ(test, -EINVAL, functions->enable(&qp->ib, CXIB_SIGNATURE_MANUAL + 1));
	fixture->fake->hw.caps.drain_sigerr = 0;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, functions->enable(&qp->ib, CXIB_SIGNATURE_MANUAL));
	fixture->fake->hw.caps.drain_sigerr = 1;
	fixture->refused = HW_CMD_INIT2INIT_QP;
	KUNIT_EXPECT_GT(test, 0, functions->enable(&qp->ib, CXIB_SIGNATURE_MANUAL));
	KUNIT_EXPECT_NULL(test, qp->pipelining);
	fixture->refused = 0;
	KUNIT_EXPECT_EQ(test, 0, functions->enable(&qp->ib, CXIB_SIGNATURE_AUTOMATIC));
	KUNIT_EXPECT_EQ(test, -EALREADY, functions->enable(&qp->ib, CXIB_SIGNATURE_MANUAL));
	KUNIT_EXPECT_EQ(test, 1, fixture->inits);
}

static void enable_in_reset_takes_effect_at_each_init(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	const int mask = IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX | IB_QP_ACCESS_FLAGS;

	fixture->fake->ibdev.ib.attrs.max_pkeys = 128;
	cxib_qp_set_state(qp, IB_QPS_RESET);
	KUNIT_ASSERT_EQ(test, 0, functions->enable(&qp->ib, CXIB_SIGNATURE_AUTOMATIC));
	KUNIT_EXPECT_EQ(test, 0, fixture->inits);
	KUNIT_EXPECT_EQ(test, 0, cxib_modify_qp_kernel(&qp->ib, &attr, mask, NULL));
	KUNIT_EXPECT_EQ(test, 1, fixture->inits);
	/* rdma_accept() does it again; the device keeps drain_sigerr. */
	KUNIT_EXPECT_EQ(test, 0, cxib_modify_qp_kernel(&qp->ib, &attr, mask, NULL));
	KUNIT_EXPECT_EQ(test, 1, fixture->inits);
}

/* mlx5dv_wr_mr… of libmlx5 posts responses with this mode: providers/mlx5/qp.c. */
static void response_waits_for_local_operations_and_reads(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	enable(test, CXIB_SIGNATURE_AUTOMATIC);
	post_response(test, RESPONSE);
	KUNIT_EXPECT_EQ(test, HW_FENCE_MODE_SMALL_AND_FENCE,
			hw_wqe_ctrl_seg_get_fm(fake_block(fixture->fake, 0)));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(sq_find_resume_follows_every_wrap),
	KUNIT_CASE(sq_find_resume_within_wqe_returns_eio),
	KUNIT_CASE(stop_cancels_response_at_every_wrap),
	KUNIT_CASE(stop_at_ring_end_cancels_behind_and_of_two_wqebbs),
	KUNIT_CASE(stop_after_polled_error_cancels_response),
	KUNIT_CASE(stop_during_cq_resize_cancels_response),
	KUNIT_CASE(stop_after_signaled_transfer_cancels_nothing),
	KUNIT_CASE(stop_after_unsignaled_read_cancels_response),
	KUNIT_CASE(stop_after_mr_was_checked_cancels_response),
	KUNIT_CASE(stop_without_error_closes_connection),
	KUNIT_CASE(manual_stop_without_error_closes_connection),
	KUNIT_CASE(stop_by_error_of_unknown_mr_closes_connection),
	KUNIT_CASE(stop_closed_is_never_resumed),
	KUNIT_CASE(stop_then_flush_closes_connection_only),
	KUNIT_CASE(stop_behind_response_closes_connection),
	KUNIT_CASE(stop_with_unsignaled_response_closes_connection),
	KUNIT_CASE(stop_without_response_closes_connection),
	KUNIT_CASE(stop_query_refused_closes_connection),
	KUNIT_CASE(stop_resume_refused_closes_connection),
	KUNIT_CASE(stop_at_false_counter_makes_device_fatal),
	KUNIT_CASE(drained_event_of_running_qp_is_spurious),
	KUNIT_CASE(stop_during_resume_is_handled),
	KUNIT_CASE(signature_error_without_event_schedules_query),
	KUNIT_CASE(manual_stop_lets_ulp_cancel),
	KUNIT_CASE(cancel_key_change_returns_eopnotsupp),
	KUNIT_CASE(cancel_started_wr_returns_0),
	KUNIT_CASE(cancel_behind_flushed_wqe_returns_enotconn),
	KUNIT_CASE(error_event_ends_stop),
	KUNIT_CASE(manual_functions_of_running_qp_are_refused),
	KUNIT_CASE(manual_functions_of_failed_qp_return_enotconn),
	KUNIT_CASE(manual_functions_of_automatic_qp_return_einval),
	KUNIT_CASE(cancelled_wr_flushed_is_plain_flush),
	KUNIT_CASE(send_wrs_without_protection_are_refused),
	KUNIT_CASE(post_unprotected_response_posts_nothing),
	KUNIT_CASE(send_of_integrity_mr_is_refused),
	KUNIT_CASE(post_refused_list_posts_nothing),
	KUNIT_CASE(manual_post_refused_list_posts_nothing),
	KUNIT_CASE(post_list_without_space_posts_nothing),
	KUNIT_CASE(post_transfer_of_failed_mr_is_refused),
	KUNIT_CASE(manual_post_transfer_of_failed_mr_is_refused),
	KUNIT_CASE(stop_cancels_later_transfers_of_mr),
	KUNIT_CASE(stop_keeps_transfers_of_mr_registered_again),
	KUNIT_CASE(second_error_of_registration_closes_connection),
	KUNIT_CASE(stop_without_error_distrusts_mrs_in_use),
	KUNIT_CASE(functions_for_qp_of_other_driver_are_refused),
	KUNIT_CASE(enable_wrong_qp_is_refused),
	KUNIT_CASE(enable_in_reset_takes_effect_at_each_init),
	KUNIT_CASE(response_waits_for_local_operations_and_reads),
	{}
};

static struct kunit_suite suite = {
	.name = "signature_pipelining",
	.init = signature_pipelining_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
