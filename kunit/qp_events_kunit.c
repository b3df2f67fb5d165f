// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asynchronous events of QPs, DCTs and SRQs: event and object that the ULP gets. The object must
 * exist until its event handler has returned.
 */
#include <linux/delay.h>

#include "compat/workqueue.h"
#include "fake_queue_pair.h"
#include "fake_udata.h"
#include "hw/commands_queue_pairs.h"
#include "hw/commands_receive_queues.h"
#include "hw/dispatch.h"
#include "hw/events.h"
#include "verbs/qp/dc.h"
#include "verbs/srq/srq.h"

/* Event types and queue types are fields of 8 bits in the EQE: mlx5_ifc.h, mlx5/device.h. */
#define NUM_TYPES	256
#define NUM_KINDS	256

#define XRCDN		0x345

/* Never read. */
#define SOME_CONTEXT	((struct ib_ucontext *)1)

#define WAIT_MS		60000
#define EARLY_MS	50

/**
 * struct fixture - a QP and an SRQ with the same number, and their events
 * @fake: the QP and its device
 * @pd: PD of both
 * @uobject: its uobject, in a user context
 * @srq: the SRQ
 * @dct: state of a DCT, for cases that make the QP one
 * @sink: event sink of the device
 * @client: its client
 * @qp_calls: calls of the event handler of the QP
 * @srq_calls: calls of the event handler of the SRQ
 * @last: last event
 * @references: references of the object during the last call
 * @sq_state: enum cxib_sq_state bits of the QP during the last call
 * @destroy: work item that destroys the QP or the SRQ
 * @destroyed: completed when the object is destroyed
 * @destroy_srq: it is the SRQ
 * @in_handler: the event handler runs
 * @too_early: the object was destroyed, or destroyed in the device, during the event handler
 * @refused: opcode of the commands that are refused; 0: none
 * @last_opcode: opcode of the last command
 */
struct fixture {
	struct fake_queue_pair *fake;
	struct cxib_pd pd;
	struct ib_uobject uobject;
	struct cxib_srq srq;
	struct cxib_dct dct;
	struct cxib_event_sink sink;
	struct cxib_hw_client client;
	unsigned int qp_calls;
	unsigned int srq_calls;
	struct ib_event last;
	unsigned int references;
	u8 sq_state;
	struct work_struct destroy;
	struct completion destroyed;
	bool destroy_srq;
	bool in_handler;
	bool too_early;
	u16 refused;
	u16 last_opcode;
};

static u8 run_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
		      u32 out_length)
{
	struct fixture *fixture = hca->script_context;

	fixture->last_opcode = hw_cmd_in_get_opcode(in);
	if (fixture->last_opcode == HW_CMD_CREATE_QP)
		hw_create_qp_out_set_qpn(out, FAKE_QPN);
	if (fixture->last_opcode == HW_CMD_DESTROY_QP && READ_ONCE(fixture->in_handler))
		fixture->too_early = true;
	return fixture->last_opcode == fixture->refused ? HW_COMMAND_STATUS_RESOURCE_BUSY :
							  HW_COMMAND_STATUS_OK;
}

static void on_qp_event(struct ib_event *event, void *context)
{
	struct fixture *fixture = context;

	fixture->qp_calls++;
	fixture->last = *event;
	fixture->references = refcount_read(&fixture->fake->qp.reference.count);
	fixture->sq_state = fixture->fake->qp.sq.state;
}

static void on_srq_event(struct ib_event *event, void *context)
{
	struct fixture *fixture = context;

	fixture->srq_calls++;
	fixture->last = *event;
	fixture->references = refcount_read(&fixture->srq.reference.count);
}

static void init_qp(struct fixture *fixture)
{
	struct cxib_qp *qp = &fixture->fake->qp;

	/* The memory of a user QP is not freed with it. */
	qp->is_user = true;
	qp->ib.pd = &fixture->pd.ib;
	fixture->pd.ib.uobject = &fixture->uobject;
	qp->ib.event_handler = on_qp_event;
	qp->ib.qp_context = fixture;
	mutex_init(&qp->mutex);
	cxib_qp_set_state(qp, IB_QPS_RESET);
}

static void init_srq(struct kunit *test, struct fixture *fixture)
{
	struct cxib_srq *srq = &fixture->srq;

	srq->is_user = true;
	srq->srqn = FAKE_QPN;
	srq->ib.device = &fixture->fake->ibdev.ib;
	srq->ib.pd = &fixture->pd.ib;
	srq->ib.srq_type = IB_SRQT_BASIC;
	srq->ib.event_handler = on_srq_event;
	srq->ib.srq_context = fixture;
	cxib_reference_init(&srq->reference);
	KUNIT_ASSERT_EQ(test, 0, xa_insert_irq(&fixture->fake->ibdev.srqs, FAKE_QPN, srq,
					       GFP_KERNEL));
}

static void destroy_work_fn(struct work_struct *work)
{
	struct fixture *fixture = container_of(work, struct fixture, destroy);

	if (fixture->destroy_srq)
		cxib_destroy_srq_kernel(&fixture->srq.ib, NULL);
	else
		cxib_destroy_qp_kernel(&fixture->fake->qp.ib, NULL);
	complete(&fixture->destroyed);
}

static void on_event(void *context, const struct hw_eqe *entry)
{
}

static const struct cxib_client_ops client_ops = {
	.queue_event = cxib_queue_event,
	.event = on_event,
};

static int qp_events_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->fake = fake;
	fake_queue_pair_start(fake, run_command, fixture);
	fixture->client = (struct cxib_hw_client){ &client_ops, &fake->ibdev };
	fixture->sink.dev = fake->hca->bus.dev;
	fixture->sink.client = &fixture->client;
	INIT_WORK(&fixture->destroy, destroy_work_fn);
	init_completion(&fixture->destroyed);
	init_completion(&fixture->dct.drained);
	init_qp(fixture);
	init_srq(test, fixture);
	test->priv = fixture;
	return 0;
}

static void raise(struct fixture *fixture, unsigned int type, unsigned int kind, u32 number)
{
	cxib_queue_event(&fixture->fake->ibdev, type, kind, number);
}

static void raise_qp(struct fixture *fixture, unsigned int type)
{
	raise(fixture, type, HW_EVENT_QUEUE_TYPE_QP, FAKE_QPN);
}

/* Mapping of mlx5_ib_qp_event() in mlx5_ib; IBA 11.6.3. */
static const struct mapping {
	enum hw_event_type type;
	enum ib_event_type event;
} mappings[] = {
	{ HW_EVENT_TYPE_PATH_MIG, IB_EVENT_PATH_MIG },
	{ HW_EVENT_TYPE_COMM_EST, IB_EVENT_COMM_EST },
	{ HW_EVENT_TYPE_SQ_DRAINED, IB_EVENT_SQ_DRAINED },
	{ HW_EVENT_TYPE_SRQ_LAST_WQE, IB_EVENT_QP_LAST_WQE_REACHED },
	{ HW_EVENT_TYPE_WQ_CATAS_ERROR, IB_EVENT_QP_FATAL },
	{ HW_EVENT_TYPE_PATH_MIG_FAILED, IB_EVENT_PATH_MIG_ERR },
	{ HW_EVENT_TYPE_WQ_INVAL_REQ_ERROR, IB_EVENT_QP_REQ_ERR },
	{ HW_EVENT_TYPE_WQ_ACCESS_ERROR, IB_EVENT_QP_ACCESS_ERR },
	{ HW_EVENT_TYPE_DCT_KEY_VIOLATION, IB_EVENT_QP_ACCESS_ERR },
};

static const struct mapping *find_mapping(unsigned int type)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mappings); i++)
		if (mappings[i].type == type)
			return &mappings[i];
	return NULL;
}

static void qp_event_type_maps_to_ib_event(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mappings); i++) {
		fixture->last = (struct ib_event){};
		raise_qp(fixture, mappings[i].type);
		KUNIT_EXPECT_EQ_MSG(test, i + 1, fixture->qp_calls, "type 0x%x", mappings[i].type);
		KUNIT_EXPECT_EQ_MSG(test, mappings[i].event, fixture->last.event, "type 0x%x",
				    mappings[i].type);
		KUNIT_EXPECT_PTR_EQ(test, &qp->ib, fixture->last.element.qp);
		KUNIT_EXPECT_PTR_EQ(test, qp->ib.device, fixture->last.device);
	}
	KUNIT_EXPECT_EQ(test, 0, fixture->srq_calls);
}

/* Neither the QP nor the SRQ with this number gets the event. DCT_DRAINED is for the driver. */
static void queue_event_other_type_is_not_reported(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int type;

	for (type = 0; type < NUM_TYPES; type++) {
		if (find_mapping(type) || type == HW_EVENT_TYPE_SRQ_RQ_LIMIT ||
		    type == HW_EVENT_TYPE_SRQ_CATAS_ERROR)
			continue;
		raise_qp(fixture, type);
		KUNIT_ASSERT_EQ_MSG(test, 0, fixture->qp_calls + fixture->srq_calls, "type 0x%x",
				    type);
	}
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&fixture->fake->qp.reference.count));
}

/* RQs and SQs of other transports have separate numbers: qp_events.type in the PRM. */
static void queue_event_of_other_kind_is_not_reported(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int kind;
	size_t i;

	for (kind = 0; kind < NUM_KINDS; kind++) {
		if (kind == HW_EVENT_QUEUE_TYPE_QP || kind == HW_EVENT_QUEUE_TYPE_DCT)
			continue;
		for (i = 0; i < ARRAY_SIZE(mappings); i++)
			raise(fixture, mappings[i].type, kind, FAKE_QPN);
		KUNIT_ASSERT_EQ_MSG(test, 0, fixture->qp_calls + fixture->srq_calls, "kind %u",
				    kind);
	}
}

static void qp_event_of_unknown_qpn_is_ignored(struct kunit *test)
{
	static const u32 unknown[] = { 0, 1, FAKE_QPN - 1, FAKE_QPN + 1, 0xffffff };
	struct fixture *fixture = test->priv;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(unknown); i++)
		for (j = 0; j < ARRAY_SIZE(mappings); j++)
			raise(fixture, mappings[j].type, HW_EVENT_QUEUE_TYPE_QP, unknown[i]);
	KUNIT_EXPECT_EQ(test, 0, fixture->qp_calls + fixture->srq_calls);
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&fixture->fake->qp.reference.count));
}

static void qp_event_without_handler_returns_reference(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->fake->qp.ib.event_handler = NULL;
	fixture->srq.ib.event_handler = NULL;
	raise_qp(fixture, HW_EVENT_TYPE_COMM_EST);
	raise_qp(fixture, HW_EVENT_TYPE_SRQ_RQ_LIMIT);
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&fixture->fake->qp.reference.count));
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&fixture->srq.reference.count));
}

/*
 * The state changes only with the mutex held. SQ_DRAINED of a QP in RTS or SQD is a signature
 * error.
 */
static void event_leaves_state_and_marks_stop(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;
	enum ib_qp_state state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mappings); i++)
		for (state = IB_QPS_RESET; state <= IB_QPS_ERR; state++) {
			bool stops = mappings[i].type == HW_EVENT_TYPE_SQ_DRAINED &&
				     (state == IB_QPS_RTS || state == IB_QPS_SQD);

			cxib_qp_set_state(qp, state);
			qp->sq.state = 0;
			raise_qp(fixture, mappings[i].type);
			KUNIT_EXPECT_EQ_MSG(test, state, qp->state, "type 0x%x, state %d",
					    mappings[i].type, state);
			KUNIT_EXPECT_EQ_MSG(test, stops ? CXIB_SQ_STOPPED : 0, qp->sq.state,
					    "type 0x%x, state %d", mappings[i].type, state);
		}
}

/* The ULP may move the QP to RTS in its handler. */
static void sq_drained_event_sees_stop(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	cxib_qp_set_state(&fixture->fake->qp, IB_QPS_RTS);
	raise_qp(fixture, HW_EVENT_TYPE_SQ_DRAINED);
	KUNIT_EXPECT_EQ(test, 1, fixture->qp_calls);
	KUNIT_EXPECT_EQ(test, CXIB_SQ_STOPPED, fixture->sq_state);
}

static void dct_drained_event_completes_drain(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;

	qp->dct = &fixture->dct;
	raise(fixture, HW_EVENT_TYPE_DCT_DRAINED, HW_EVENT_QUEUE_TYPE_DCT, FAKE_QPN + 1);
	KUNIT_EXPECT_FALSE(test, completion_done(&fixture->dct.drained));
	raise(fixture, HW_EVENT_TYPE_DCT_KEY_VIOLATION, HW_EVENT_QUEUE_TYPE_DCT, FAKE_QPN);
	KUNIT_EXPECT_FALSE(test, completion_done(&fixture->dct.drained));
	KUNIT_EXPECT_EQ(test, 1, fixture->qp_calls);
	KUNIT_EXPECT_EQ(test, IB_EVENT_QP_ACCESS_ERR, fixture->last.event);
	KUNIT_EXPECT_PTR_EQ(test, &qp->ib, fixture->last.element.qp);
	raise(fixture, HW_EVENT_TYPE_DCT_DRAINED, HW_EVENT_QUEUE_TYPE_DCT, FAKE_QPN);
	KUNIT_EXPECT_TRUE(test, completion_done(&fixture->dct.drained));
	KUNIT_EXPECT_EQ(test, 1, fixture->qp_calls);
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&qp->reference.count));
	qp->dct = NULL;
}

/* The number is untrusted and may be that of a QP. */
static void dct_drained_event_of_qp_is_ignored(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	raise(fixture, HW_EVENT_TYPE_DCT_DRAINED, HW_EVENT_QUEUE_TYPE_DCT, FAKE_QPN);
	KUNIT_EXPECT_EQ(test, 0, fixture->qp_calls);
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&fixture->fake->qp.reference.count));
}

/* These events have no defined queue type. A QP with the number of the SRQ gets no event. */
static void srq_event_reaches_srq_of_number(struct kunit *test)
{
	static const struct mapping srq_mappings[] = {
		{ HW_EVENT_TYPE_SRQ_RQ_LIMIT, IB_EVENT_SRQ_LIMIT_REACHED },
		{ HW_EVENT_TYPE_SRQ_CATAS_ERROR, IB_EVENT_SRQ_ERR },
	};
	struct fixture *fixture = test->priv;
	unsigned int kind;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(srq_mappings); i++) {
		fixture->srq_calls = 0;
		for (kind = 0; kind < NUM_KINDS; kind++)
			raise(fixture, srq_mappings[i].type, kind, FAKE_QPN);
		KUNIT_EXPECT_EQ(test, NUM_KINDS, fixture->srq_calls);
		KUNIT_EXPECT_EQ(test, srq_mappings[i].event, fixture->last.event);
		KUNIT_EXPECT_PTR_EQ(test, &fixture->srq.ib, fixture->last.element.srq);
		KUNIT_EXPECT_PTR_EQ(test, fixture->srq.ib.device, fixture->last.device);
		raise(fixture, srq_mappings[i].type, 0, FAKE_QPN + 1);
		raise(fixture, srq_mappings[i].type, 0, 0);
		KUNIT_EXPECT_EQ(test, NUM_KINDS, fixture->srq_calls);
	}
	KUNIT_EXPECT_EQ(test, 0, fixture->qp_calls);
}

/* The creator holds one reference, the event another one. */
static void event_handler_holds_reference(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	raise_qp(fixture, HW_EVENT_TYPE_COMM_EST);
	KUNIT_EXPECT_EQ(test, 1, fixture->qp_calls);
	KUNIT_EXPECT_EQ(test, 2, fixture->references);
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&fixture->fake->qp.reference.count));
	fixture->references = 0;
	raise_qp(fixture, HW_EVENT_TYPE_SRQ_CATAS_ERROR);
	KUNIT_EXPECT_EQ(test, 1, fixture->srq_calls);
	KUNIT_EXPECT_EQ(test, 2, fixture->references);
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&fixture->srq.reference.count));
}

static void dispatch(struct fixture *fixture, enum hw_event_type type, u8 kind, u32 number)
{
	const struct cxib_eq eq = { .sink = &fixture->sink, .event_mask = U64_MAX };
	struct hw_eqe eqe = {};
	struct hw_qp_events *data = hw_eqe_event_data_qp_events(&eqe);

	hw_eqe_set_event_type(&eqe, type);
	/* Reserved bits are ones, so that a case fails if the driver uses them. */
	memset(data, 0xff, sizeof(*data));
	hw_qp_events_set_type(data, kind);
	hw_qp_events_set_qpn_rqn_sqn(data, number);
	cxib_dispatch_event(&eq, &eqe);
}

static void eqe_of_queue_reaches_object(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mappings); i++) {
		dispatch(fixture, mappings[i].type, HW_EVENT_QUEUE_TYPE_QP, FAKE_QPN);
		KUNIT_EXPECT_EQ_MSG(test, i + 1, fixture->qp_calls, "type 0x%x", mappings[i].type);
		KUNIT_EXPECT_EQ(test, mappings[i].event, fixture->last.event);
	}
	/* Events of RQs have the same layout; the DCT event has no queue type. */
	dispatch(fixture, HW_EVENT_TYPE_COMM_EST, HW_EVENT_QUEUE_TYPE_RQ, FAKE_QPN);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(mappings), fixture->qp_calls);
	dispatch(fixture, HW_EVENT_TYPE_DCT_KEY_VIOLATION, HW_EVENT_QUEUE_TYPE_RQ, FAKE_QPN);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(mappings) + 1, fixture->qp_calls);
	dispatch(fixture, HW_EVENT_TYPE_SRQ_RQ_LIMIT, 0, FAKE_QPN);
	KUNIT_EXPECT_EQ(test, 1, fixture->srq_calls);
	KUNIT_EXPECT_EQ(test, IB_EVENT_SRQ_LIMIT_REACHED, fixture->last.event);
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&fixture->sink.unhandled));
}

/* Lets another thread destroy the object. Returns when that thread waits for this handler. */
static void destroy_in_handler(struct fixture *fixture, struct xarray *objects)
{
	unsigned int ms;

	WRITE_ONCE(fixture->in_handler, true);
	queue_work(system_dfl_wq, &fixture->destroy);
	for (ms = 0; ms < WAIT_MS && xa_load(objects, FAKE_QPN); ms++)
		usleep_range(1000, 2000);
	if (wait_for_completion_timeout(&fixture->destroyed, msecs_to_jiffies(EARLY_MS))) {
		fixture->too_early = true;
		complete(&fixture->destroyed);
	}
	WRITE_ONCE(fixture->in_handler, false);
}

static void destroy_qp_in_handler(struct ib_event *event, void *context)
{
	struct fixture *fixture = context;

	fixture->qp_calls++;
	destroy_in_handler(fixture, &fixture->fake->ibdev.qps);
}

static void destroy_srq_in_handler(struct ib_event *event, void *context)
{
	struct fixture *fixture = context;

	fixture->srq_calls++;
	destroy_in_handler(fixture, &fixture->fake->ibdev.srqs);
}

static void expect_destroyed_later(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&fixture->destroyed,
							     msecs_to_jiffies(WAIT_MS)));
	flush_work(&fixture->destroy);
	KUNIT_EXPECT_FALSE(test, fixture->too_early);
}

static void destroy_qp_waits_for_event_handler(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->fake->qp.ib.event_handler = destroy_qp_in_handler;
	raise_qp(fixture, HW_EVENT_TYPE_WQ_CATAS_ERROR);
	expect_destroyed_later(test);
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_QP, fixture->last_opcode);
	raise_qp(fixture, HW_EVENT_TYPE_WQ_CATAS_ERROR);
	KUNIT_EXPECT_EQ(test, 1, fixture->qp_calls);
}

static void destroy_srq_waits_for_event_handler(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->destroy_srq = true;
	fixture->srq.ib.event_handler = destroy_srq_in_handler;
	raise_qp(fixture, HW_EVENT_TYPE_SRQ_CATAS_ERROR);
	expect_destroyed_later(test);
	raise_qp(fixture, HW_EVENT_TYPE_SRQ_CATAS_ERROR);
	KUNIT_EXPECT_EQ(test, 1, fixture->srq_calls);
}

/* RESOURCE_BUSY is -EBUSY: the QP still exists, and so do its events. */
static void destroy_qp_refused_keeps_events(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;
	struct uverbs_attr_bundle attrs;
	struct ib_udata *udata = fake_request(&attrs, NULL);

	cxib_qp_set_state(qp, IB_QPS_RTS);
	fixture->refused = HW_CMD_2RST_QP;
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_destroy_qp_kernel(&qp->ib, udata));
	KUNIT_EXPECT_EQ(test, HW_CMD_2RST_QP, fixture->last_opcode);
	raise_qp(fixture, HW_EVENT_TYPE_COMM_EST);
	KUNIT_EXPECT_EQ(test, 1, fixture->qp_calls);
	fixture->refused = 0;
	KUNIT_EXPECT_EQ(test, 0, cxib_destroy_qp_kernel(&qp->ib, udata));
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_QP, fixture->last_opcode);
	raise_qp(fixture, HW_EVENT_TYPE_COMM_EST);
	KUNIT_EXPECT_EQ(test, 1, fixture->qp_calls);
}

/* Never read. */
#define SOME_PAGE	((struct cxib_dbr_page *)1)

static void release_page(struct cxib_dbr_page *page)
{
}

static const struct cxib_user_interface user = { .unpin_record = release_page };

/* The object is gone for the RDMA core, but exists in the device until its destruction succeeds. */
static void expect_left_until_destroyed(struct kunit *test, struct ib_ucontext *context,
					u16 destroyed_by)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;

	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_fatal(commands_of(ibdev)));
	KUNIT_EXPECT_TRUE(test, fake_has_orphans(ibdev, context));
	ibdev->user = &user;
	fixture->refused = 0;
	cxib_orphans_close(ibdev, context);
	cxib_orphans_end(ibdev);
	KUNIT_EXPECT_EQ(test, destroyed_by, fixture->last_opcode);
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_fatal(commands_of(ibdev)));
}

/* The QP is unpublished when DESTROY_QP fails, so no event is delivered. */
static void destroy_qp_failed_late_keeps_memory(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;
	struct ib_ucontext context;
	struct uverbs_attr_bundle attrs;

	fixture->uobject.context = &context;
	qp->user.pinned.dbr_page = SOME_PAGE;
	fixture->refused = HW_CMD_DESTROY_QP;
	KUNIT_EXPECT_EQ(test, 0,
			cxib_destroy_qp_kernel(&qp->ib, fake_request(&attrs, &context)));
	KUNIT_EXPECT_NULL(test, qp->user.pinned.dbr_page);
	raise_qp(fixture, HW_EVENT_TYPE_COMM_EST);
	KUNIT_EXPECT_EQ(test, 0, fixture->qp_calls);
	expect_left_until_destroyed(test, &context, HW_CMD_DESTROY_QP);
}

/* 2RST_QP fails, so the device may still use the queues. DESTROY_QP follows later. */
static void destroy_qp_refused_at_end_of_context_keeps_memory(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;
	struct ib_ucontext context;
	struct uverbs_attr_bundle attrs;

	cxib_qp_set_state(qp, IB_QPS_RTS);
	qp->user.pinned.dbr_page = SOME_PAGE;
	fixture->refused = HW_CMD_2RST_QP;
	KUNIT_EXPECT_EQ(test, 0,
			cxib_destroy_qp_kernel(&qp->ib, fake_cleanup(&attrs, &context)));
	KUNIT_EXPECT_EQ(test, HW_CMD_2RST_QP, fixture->last_opcode);
	KUNIT_EXPECT_NULL(test, qp->user.pinned.dbr_page);
	raise_qp(fixture, HW_EVENT_TYPE_COMM_EST);
	KUNIT_EXPECT_EQ(test, 0, fixture->qp_calls);
	expect_left_until_destroyed(test, &context, HW_CMD_DESTROY_QP);
}

/*
 * If the security module refuses a QP, create_qp() of the RDMA core destroys it with an empty udata
 * that is in no bundle. Here the memory in the bundle's place belongs to another context.
 */
static void destroy_qp_udata_of_no_request_uses_context_of_pd(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	struct cxib_qp *qp = &fixture->fake->qp;
	struct ib_ucontext context, other;
	struct uverbs_attr_bundle attrs;

	fixture->uobject.context = &context;
	fixture->refused = HW_CMD_DESTROY_QP;
	KUNIT_EXPECT_EQ(test, 0, cxib_destroy_qp_kernel(&qp->ib, fake_cleanup(&attrs, &other)));
	KUNIT_EXPECT_FALSE(test, fake_has_orphans(ibdev, &other));
	expect_left_until_destroyed(test, &context, HW_CMD_DESTROY_QP);
}

static unsigned int num_synchronized;

/* The device still has the QP, so it cannot reuse the QPN. */
static void note_synchronize(struct cxib_cq *cq)
{
	struct fake_queue_pair *fake = container_of(cq, struct fake_queue_pair, cq);
	struct fixture *fixture = fake->hca->script_context;

	num_synchronized++;
	fixture->too_early |= fixture->last_opcode != HW_CMD_2RST_QP;
}

/* ib_mad destroys its QPs while the handler of their CQ may still post to them. */
static void destroy_mad_qp_waits_for_pollers_of_cq(struct kunit *test)
{
	static const struct cxib_poll_interface polling = { .synchronize = note_synchronize };
	static const enum ib_qp_type types[] = { IB_QPT_SMI, IB_QPT_GSI, IB_QPT_UD };
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;
	struct ib_wc wc;
	int i;

	num_synchronized = 0;
	fixture->fake->ibdev.polling = &polling;
	fixture->fake->cq.ib.wc = &wc;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		qp->ib.qp_type = types[i];
		cxib_qp_set_state(qp, IB_QPS_RTS);
		cxib_reference_init(&qp->reference);
		KUNIT_EXPECT_EQ(test, 0, cxib_destroy_qp_kernel(&qp->ib, NULL));
	}
	KUNIT_EXPECT_EQ(test, 2, num_synchronized);
	KUNIT_EXPECT_FALSE(test, fixture->too_early);
	fixture->fake->cq.ib.wc = NULL;
}

/* The RDMA core clears the PD and destroys the QP without udata. */
static void destroy_qp_refused_for_xrc_tgt_of_user_is_left(struct kunit *test)
{
	static const u16 refused[] = { HW_CMD_2RST_QP, HW_CMD_DESTROY_QP };
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	struct cxib_qp *qp = &fixture->fake->qp;
	struct cxib_xrcd xrcd = { .xrcdn = XRCDN };
	int i;

	qp->ib.qp_type = IB_QPT_XRC_TGT;
	qp->ib.pd = NULL;
	qp->ib.xrcd = &xrcd.ib;
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		const struct cxib_destroy dealloc =
			cxib_destroy_object(HW_CMD_DEALLOC_XRCD, 0, XRCDN);

		cxib_qp_set_state(qp, IB_QPS_RTR);
		cxib_reference_init(&qp->reference);
		fixture->refused = refused[i];
		KUNIT_EXPECT_EQ(test, 0, cxib_destroy_qp_kernel(&qp->ib, NULL));
		KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_fatal(commands_of(ibdev)));
		KUNIT_EXPECT_EQ(test, 1, ibdev->orphans.closed);
		KUNIT_EXPECT_EQ(test, -EBUSY, cxib_orphans_check(ibdev, SOME_CONTEXT, &dealloc));
		fixture->refused = 0;
		cxib_orphans_end(ibdev);
		KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_QP, fixture->last_opcode);
		KUNIT_EXPECT_EQ(test, 0, ibdev->orphans.closed);
	}
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_fatal(commands_of(ibdev)));
}

/* The device returns the number of another QP. */
static void create_qp_unpublished_for_xrc_tgt_of_user_is_left(struct kunit *test)
{
	const struct cxib_destroy dealloc = cxib_destroy_object(HW_CMD_DEALLOC_XRCD, 0, XRCDN);
	struct cxib_xrcd xrcd = { .xrcdn = XRCDN };
	const struct ib_qp_init_attr init = { .qp_type = IB_QPT_XRC_TGT, .xrcd = &xrcd.ib };
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	struct cxib_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	ibdev->hw->caps.xrc = 1;
	mutex_init(&ibdev->xrc.lock);
	ibdev->xrc.ready = true;
	qp->ib.device = &ibdev->ib;
	qp->ib.qp_type = IB_QPT_XRC_TGT;
	qp->is_user = true;
	KUNIT_ASSERT_EQ(test, 0, cxib_qp_init(qp, &init));
	fixture->refused = HW_CMD_DESTROY_QP;
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_qp_create_hw(qp, &init));
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_orphans_check(ibdev, SOME_CONTEXT, &dealloc));
	fixture->refused = 0;
	cxib_orphans_end(ibdev);
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_QP, fixture->last_opcode);
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_fatal(commands_of(ibdev)));
}

static void destroy_srq_refused_at_end_of_context_keeps_memory(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_srq *srq = &fixture->srq;
	struct ib_ucontext context;
	struct uverbs_attr_bundle attrs;

	srq->user.pinned.dbr_page = SOME_PAGE;
	fixture->refused = HW_CMD_DESTROY_RMP;
	KUNIT_EXPECT_EQ(test, 0,
			cxib_destroy_srq_kernel(&srq->ib, fake_cleanup(&attrs, &context)));
	KUNIT_EXPECT_NULL(test, srq->user.pinned.dbr_page);
	raise_qp(fixture, HW_EVENT_TYPE_SRQ_RQ_LIMIT);
	KUNIT_EXPECT_EQ(test, 0, fixture->srq_calls);
	expect_left_until_destroyed(test, &context, HW_CMD_DESTROY_RMP);
}

/* A DEVX object still refers to the SRQ. */
static void destroy_srq_refused_keeps_events(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct uverbs_attr_bundle attrs;
	struct ib_udata *udata = fake_request(&attrs, NULL);

	fixture->refused = HW_CMD_DESTROY_RMP;
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_destroy_srq_kernel(&fixture->srq.ib, udata));
	raise_qp(fixture, HW_EVENT_TYPE_SRQ_RQ_LIMIT);
	KUNIT_EXPECT_EQ(test, 1, fixture->srq_calls);
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&fixture->srq.reference.count));
	fixture->refused = 0;
	KUNIT_EXPECT_EQ(test, 0, cxib_destroy_srq_kernel(&fixture->srq.ib, udata));
	raise_qp(fixture, HW_EVENT_TYPE_SRQ_RQ_LIMIT);
	KUNIT_EXPECT_EQ(test, 1, fixture->srq_calls);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(qp_event_type_maps_to_ib_event),
	KUNIT_CASE(queue_event_other_type_is_not_reported),
	KUNIT_CASE(queue_event_of_other_kind_is_not_reported),
	KUNIT_CASE(qp_event_of_unknown_qpn_is_ignored),
	KUNIT_CASE(qp_event_without_handler_returns_reference),
	KUNIT_CASE(event_leaves_state_and_marks_stop),
	KUNIT_CASE(sq_drained_event_sees_stop),
	KUNIT_CASE(dct_drained_event_completes_drain),
	KUNIT_CASE(dct_drained_event_of_qp_is_ignored),
	KUNIT_CASE(srq_event_reaches_srq_of_number),
	KUNIT_CASE(event_handler_holds_reference),
	KUNIT_CASE(eqe_of_queue_reaches_object),
	KUNIT_CASE(destroy_qp_waits_for_event_handler),
	KUNIT_CASE(destroy_srq_waits_for_event_handler),
	KUNIT_CASE(destroy_qp_refused_keeps_events),
	KUNIT_CASE(destroy_qp_failed_late_keeps_memory),
	KUNIT_CASE(destroy_qp_refused_at_end_of_context_keeps_memory),
	KUNIT_CASE(destroy_qp_udata_of_no_request_uses_context_of_pd),
	KUNIT_CASE(destroy_mad_qp_waits_for_pollers_of_cq),
	KUNIT_CASE(destroy_qp_refused_for_xrc_tgt_of_user_is_left),
	KUNIT_CASE(create_qp_unpublished_for_xrc_tgt_of_user_is_left),
	KUNIT_CASE(destroy_srq_refused_at_end_of_context_keeps_memory),
	KUNIT_CASE(destroy_srq_refused_keeps_events),
	{}
};

static struct kunit_suite suite = {
	.name = "qp_events",
	.init = qp_events_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
