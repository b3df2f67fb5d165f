// SPDX-License-Identifier: GPL-2.0-only
/* Event queues: the ring, its owner bits and the decoding of EQEs. */
#include <linux/string.h>

#include "fake_hca.h"
#include "hw/command_queue.h"
#include "hw/dispatch.h"
#include "hw/eq.h"
#include "kernel_kunit.h"

#define LOG_SIZE	6
#define VECTOR		2
#define CQN		0x123456
#define QPN		0xabcdef

/* 5 passes through the ring and a part of another one. */
#define MANY_EVENTS	(5 * BIT(LOG_SIZE) + 3)

/* Consumer indices have 24 bits; this is the last pass before they wrap. */
#define LAST_PASS	(BIT(24) - BIT(LOG_SIZE))

/* type and event_data of an EQE in mlx5_ifc.h. */
#define NUM_TYPES	256
#define DATA_BYTES	28

/* Minimum number of unknown types: enum hw_event_type has about thirty. */
#define UNKNOWN_TYPES	200

/**
 * struct fixture - a completion EQ, and the arguments of its handlers
 * @hca: the device
 * @queue: its command queue
 * @sink: event sink of @eq
 * @client: client of @sink
 * @eq: the EQ
 * @created: @eq exists in the device
 * @calls: calls of event handlers
 * @last: object number or function id of the last call
 * @in_order: each CQN was one more than the one before, and named with its EQ
 * @port: port of the last port event
 * @change: subtype of the last port event
 * @pages: page count of the last page request
 * @kind: queue type of the last queue event
 * @events: events that observers saw
 * @last_type: type of the last of them
 */
struct fixture {
	struct fake_hca *hca;
	struct cxib_command_queue queue;
	struct cxib_event_sink sink;
	struct cxib_hw_client client;
	struct cxib_eq eq;
	bool created;
	unsigned int calls;
	u32 last;
	bool in_order;
	unsigned int port;
	enum hw_port_change_subtype change;
	s32 pages;
	enum hw_event_queue_type kind;
	unsigned int events;
	u32 last_type;
};

static void on_completion(void *context, const struct cxib_eq *eq, u32 cqn)
{
	struct fixture *fixture = context;

	fixture->in_order &= eq == &fixture->eq;
	fixture->in_order &= !fixture->calls || cqn == fixture->last + 1;
	fixture->last = cqn;
	fixture->calls++;
}

static void on_port_change(void *context, unsigned int port, enum hw_port_change_subtype change)
{
	struct fixture *fixture = context;

	fixture->calls++;
	fixture->port = port;
	fixture->change = change;
}

static void on_page_request(void *context, u16 function, s32 count)
{
	struct fixture *fixture = context;

	fixture->calls++;
	fixture->last = function;
	fixture->pages = count;
}

static void on_queue_event(void *context, enum hw_event_type event,
			   enum hw_event_queue_type kind, u32 number)
{
	struct fixture *fixture = context;

	fixture->calls++;
	fixture->kind = kind;
	fixture->last = number;
}

static void on_cq_error(void *context, u32 cqn, u32 syndrome)
{
	struct fixture *fixture = context;

	fixture->calls++;
	fixture->last = cqn;
}

static void on_event(void *context, const struct hw_eqe *entry)
{
	struct fixture *fixture = context;

	fixture->events++;
	fixture->last_type = hw_eqe_get_event_type(entry);
}

static const struct cxib_event_ops handlers = { .page_request = on_page_request };

static const struct cxib_client_ops client_ops = {
	.completion = on_completion,
	.event = on_event,
	.port_change = on_port_change,
	.queue_event = on_queue_event,
	.cq_error = on_cq_error,
};

static int event_queue_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	struct cxib_eq_attr attr = {
		.name = "test",
		.uar = FAKE_FIRST_UAR,
		.vector = VECTOR,
		.log_size = LOG_SIZE,
	};

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->hca = fake_hca_create(test);
	fixture->hca->vectors_given = FAKE_VECTORS;
	fixture->in_order = true;
	fixture->sink.dev = fixture->hca->bus.dev;
	fixture->sink.handlers = &handlers;
	fixture->sink.context = fixture;
	fixture->client = (struct cxib_hw_client){ &client_ops, fixture };
	fixture->sink.client = &fixture->client;
	fake_hca_start_queue(fixture->hca, &fixture->queue);
	test->priv = fixture;
	KUNIT_ASSERT_EQ(test, 0,
			cxib_eq_create(&fixture->eq, &fixture->hca->bus, &fixture->queue,
				       &fixture->sink, &attr));
	fixture->eq.event_mask = U64_MAX;
	fixture->created = true;
	return 0;
}

static void event_queue_exit(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	if (!fixture)
		return;
	if (fixture->created)
		KUNIT_EXPECT_EQ(test, 0,
				cxib_eq_destroy(&fixture->eq, &fixture->queue));
	KUNIT_EXPECT_EQ(test, fixture->hca->complaints, 0);
}

static void report_completion(struct fixture *fixture, u32 cqn)
{
	struct hw_comp_event data = {};

	hw_comp_event_set_cq_number(&data, cqn);
	fake_hca_post_to(fixture->hca, fixture->eq.eqn, HW_EVENT_TYPE_COMP, 0, &data,
			 sizeof(data));
}

static void disarm(struct fixture *fixture)
{
	fixture->hca->eqs[fixture->eq.eqn].armed = false;
}

static void eq_comp_event_calls_handler(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	report_completion(fixture, CQN);
	KUNIT_EXPECT_EQ(test, fixture->calls, 1);
	KUNIT_EXPECT_EQ(test, fixture->last, CQN);
	KUNIT_EXPECT_TRUE(test, fixture->in_order);
	KUNIT_EXPECT_TRUE(test, fixture->hca->eqs[fixture->eq.eqn].armed);
}

static void eq_poll_empty_returns_0(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, 0, cxib_eq_poll(&fixture->eq));
	KUNIT_EXPECT_EQ(test, fixture->calls, 0);
}

static void eq_ring_wraparound_keeps_order(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	for (i = 0; i < MANY_EVENTS; i++)
		report_completion(fixture, i);
	KUNIT_EXPECT_EQ(test, fixture->calls, MANY_EVENTS);
	KUNIT_EXPECT_TRUE(test, fixture->in_order);
	KUNIT_EXPECT_EQ(test, 0, cxib_eq_poll(&fixture->eq));
}

static const unsigned int backlogs[] = { 1, 7, 8, 9, BIT(LOG_SIZE) - 1, BIT(LOG_SIZE) };

static void describe_backlog(const unsigned int *backlog, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "%u entries", *backlog);
}

KUNIT_ARRAY_PARAM(backlog, backlogs, describe_backlog);

static void eq_poll_backlog_consumes_all_eqes(struct kunit *test)
{
	const unsigned int *backlog = test->param_value;
	struct fixture *fixture = test->priv;
	unsigned int i, round;

	for (round = 0; round < 3; round++) {
		disarm(fixture);
		for (i = 0; i < *backlog; i++)
			report_completion(fixture, round * *backlog + i);
		KUNIT_EXPECT_EQ(test, fixture->calls, round * *backlog);
		KUNIT_EXPECT_EQ(test, *backlog, cxib_eq_poll(&fixture->eq));
		KUNIT_EXPECT_TRUE(test, fixture->hca->eqs[fixture->eq.eqn].armed);
	}
	KUNIT_EXPECT_TRUE(test, fixture->in_order);
}

static void eq_cons_index_wrap_continues(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const unsigned int events = 3 * BIT(LOG_SIZE);
	unsigned int i;

	/*
	 * Driver and device count modulo 2^24, and the owner bit still alternates with each pass.
	 */
	fixture->eq.cons_index = LAST_PASS;
	fixture->hca->eqs[fixture->eq.eqn].producer = LAST_PASS;
	fixture->hca->eqs[fixture->eq.eqn].cons_index = LAST_PASS;
	for (i = 0; i < BIT(LOG_SIZE); i++)
		hw_eqe_set_owner(&fixture->eq.ring[i], 0);
	for (i = 0; i < events; i++)
		report_completion(fixture, i);
	KUNIT_EXPECT_EQ(test, fixture->calls, events);
	KUNIT_EXPECT_TRUE(test, fixture->in_order);
}

static void eq_unknown_event_type_is_counted(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int type;
	u8 data[DATA_BYTES];

	memset(data, 0xff, sizeof(data));
	for (type = 0; type < NUM_TYPES; type++)
		fake_hca_post_to(fixture->hca, fixture->eq.eqn, type, 0xff, data, sizeof(data));
	KUNIT_EXPECT_GE(test, atomic64_read(&fixture->sink.unknown), UNKNOWN_TYPES);
	fixture->calls = 0;
	report_completion(fixture, 5);
	KUNIT_EXPECT_EQ(test, fixture->calls, 1);
}

static const enum hw_event_type known_types[] = {
	HW_EVENT_TYPE_COMP, HW_EVENT_TYPE_CMD, HW_EVENT_TYPE_PAGE_REQUEST,
	HW_EVENT_TYPE_PORT_CHANGE, HW_EVENT_TYPE_CQ_ERROR, HW_EVENT_TYPE_SRQ_LAST_WQE,
};

static void describe_type(const enum hw_event_type *type, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "type 0x%02x", *type);
}

KUNIT_ARRAY_PARAM(type, known_types, describe_type);

static void eq_event_without_handler_is_counted(struct kunit *test)
{
	static const struct cxib_event_ops no_handlers = {};
	const enum hw_event_type *type = test->param_value;
	struct fixture *fixture = test->priv;
	u8 data[DATA_BYTES] = {};

	fixture->sink.handlers = &no_handlers;
	fixture->sink.client = NULL;
	fake_hca_post_to(fixture->hca, fixture->eq.eqn, *type, 0, data, sizeof(data));
	KUNIT_EXPECT_EQ(test, atomic64_read(&fixture->sink.unhandled), 1);
	KUNIT_EXPECT_EQ(test, fixture->calls, 0);
}

/* A faulty device must not cause a handler that may sleep to run in interrupt context. */
static void eq_event_outside_mask_calls_no_handler(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_port_state_change_event data = {};

	fixture->eq.event_mask = BIT_ULL(HW_EVENT_TYPE_COMP);
	hw_port_state_change_event_set_port_num(&data, 1);
	fake_hca_post_to(fixture->hca, fixture->eq.eqn, HW_EVENT_TYPE_PORT_CHANGE,
			 HW_PORT_CHANGE_SUBTYPE_LID, &data, sizeof(data));
	KUNIT_EXPECT_EQ(test, fixture->calls, 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&fixture->sink.unhandled), 1);
	report_completion(fixture, 5);
	KUNIT_EXPECT_EQ(test, fixture->calls, 1);
}

static void eq_port_change_reports_port_and_subtype(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_port_state_change_event data = {};

	hw_port_state_change_event_set_port_num(&data, 2);
	fake_hca_post_to(fixture->hca, fixture->eq.eqn, HW_EVENT_TYPE_PORT_CHANGE,
			 HW_PORT_CHANGE_SUBTYPE_LID, &data, sizeof(data));
	KUNIT_EXPECT_EQ(test, fixture->port, 2);
	KUNIT_EXPECT_EQ(test, fixture->change, HW_PORT_CHANGE_SUBTYPE_LID);
}

static void eq_port_change_invalid_port_is_ignored(struct kunit *test)
{
	static const u32 ports[] = { 0, 3, 15 };
	struct fixture *fixture = test->priv;
	struct hw_port_state_change_event data = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ports); i++) {
		hw_port_state_change_event_set_port_num(&data, ports[i]);
		fake_hca_post_to(fixture->hca, fixture->eq.eqn, HW_EVENT_TYPE_PORT_CHANGE,
				 HW_PORT_CHANGE_SUBTYPE_ACTIVE, &data, sizeof(data));
	}
	KUNIT_EXPECT_EQ(test, fixture->calls, 0);
	KUNIT_EXPECT_EQ(test, fixture->events, 0);
}

static void eq_page_request_reports_function_and_count(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_pages_req_event data = {};
	const s32 pages = -7;
	const u16 function = 3;

	hw_pages_req_event_set_function_id(&data, function);
	hw_pages_req_event_set_num_pages(&data, (u32)pages);
	fake_hca_post_to(fixture->hca, fixture->eq.eqn, HW_EVENT_TYPE_PAGE_REQUEST, 0, &data,
			 sizeof(data));
	KUNIT_EXPECT_EQ(test, fixture->pages, pages);
	KUNIT_EXPECT_EQ(test, fixture->last, function);
}

static void eq_qp_event_reports_type_and_number(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_qp_events data = {};

	hw_qp_events_set_type(&data, HW_EVENT_QUEUE_TYPE_SQ);
	hw_qp_events_set_qpn_rqn_sqn(&data, QPN);
	fake_hca_post_to(fixture->hca, fixture->eq.eqn, HW_EVENT_TYPE_SRQ_LAST_WQE, 0, &data,
			 sizeof(data));
	KUNIT_EXPECT_EQ(test, 1, fixture->events);
	KUNIT_EXPECT_EQ(test, HW_EVENT_TYPE_SRQ_LAST_WQE, fixture->last_type);
	KUNIT_EXPECT_EQ(test, fixture->kind, HW_EVENT_QUEUE_TYPE_SQ);
	KUNIT_EXPECT_EQ(test, fixture->last, QPN);
}

static void eq_dct_drained_reports_dctn(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_dct_events data = {};

	hw_dct_events_set_dct_number(&data, QPN);
	fake_hca_post_to(fixture->hca, fixture->eq.eqn, HW_EVENT_TYPE_DCT_DRAINED, 0, &data,
			 sizeof(data));
	KUNIT_EXPECT_EQ(test, HW_EVENT_TYPE_DCT_DRAINED, fixture->last_type);
	KUNIT_EXPECT_EQ(test, fixture->kind, HW_EVENT_QUEUE_TYPE_DCT);
	KUNIT_EXPECT_EQ(test, fixture->last, QPN);
}

/* A device without DC may refuse CREATE_EQ with DCT events in the mask. */
static void async_event_mask_has_dct_events_where_supported(struct kunit *test)
{
	const u64 events = BIT_ULL(HW_EVENT_TYPE_DCT_DRAINED) |
			   BIT_ULL(HW_EVENT_TYPE_DCT_KEY_VIOLATION);

	KUNIT_EXPECT_EQ(test, events, cxib_asynchronous_events(true) & events);
	KUNIT_EXPECT_EQ(test, cxib_asynchronous_events(true) & ~events,
			cxib_asynchronous_events(false));
}

static void eq_cq_error_reports_cqn(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_cq_error data = {};

	hw_cq_error_set_cqn(&data, CQN);
	fake_hca_post_to(fixture->hca, fixture->eq.eqn, HW_EVENT_TYPE_CQ_ERROR, 0, &data,
			 sizeof(data));
	KUNIT_EXPECT_EQ(test, HW_EVENT_TYPE_CQ_ERROR, fixture->last_type);
	KUNIT_EXPECT_EQ(test, fixture->last, CQN);
}

static void destroy_eq_refused_keeps_ring(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fake_hca_fail(fixture->hca, FAKE_FAULT_STATUS, fixture->hca->commands);
	KUNIT_EXPECT_NE(test, 0, cxib_eq_destroy(&fixture->eq, &fixture->queue));
	fixture->created = false;
	KUNIT_EXPECT_NOT_NULL(test, fixture->eq.ring);
	KUNIT_EXPECT_TRUE(test, cxib_eq_free(&fixture->eq));
	KUNIT_EXPECT_FALSE(test, cxib_eq_free(&fixture->eq));
}

static struct kunit_case event_queue_cases[] = {
	KUNIT_CASE(eq_comp_event_calls_handler),
	KUNIT_CASE(eq_poll_empty_returns_0),
	KUNIT_CASE(eq_ring_wraparound_keeps_order),
	KUNIT_CASE_PARAM(eq_poll_backlog_consumes_all_eqes, backlog_gen_params),
	KUNIT_CASE(eq_cons_index_wrap_continues),
	KUNIT_CASE(eq_unknown_event_type_is_counted),
	KUNIT_CASE_PARAM(eq_event_without_handler_is_counted, type_gen_params),
	KUNIT_CASE(eq_event_outside_mask_calls_no_handler),
	KUNIT_CASE(eq_port_change_reports_port_and_subtype),
	KUNIT_CASE(eq_port_change_invalid_port_is_ignored),
	KUNIT_CASE(eq_page_request_reports_function_and_count),
	KUNIT_CASE(eq_qp_event_reports_type_and_number),
	KUNIT_CASE(eq_dct_drained_reports_dctn),
	KUNIT_CASE(async_event_mask_has_dct_events_where_supported),
	KUNIT_CASE(eq_cq_error_reports_cqn),
	KUNIT_CASE(destroy_eq_refused_keeps_ring),
	{}
};

static struct kunit_suite event_queue_suite = {
	.name = "eq",
	.init = event_queue_init,
	.exit = event_queue_exit,
	.test_cases = event_queue_cases,
};

kunit_test_suite(event_queue_suite);
