// SPDX-License-Identifier: GPL-2.0-only
/* Event queues: the ring and its owner bits, and what becomes of an entry. */
#include <kunit/test.h>
#include <linux/string.h>

#include "fake_hca.h"
#include "hw/command_queue.h"
#include "hw/dispatch.h"
#include "hw/eq.h"

#define LOG_SIZE	6
#define VECTOR		2

/**
 * struct fixture - a completion event queue, and what it has told
 * @hca: the device
 * @queue: its command queue
 * @sink: where the events go
 * @eq: the event queue
 * @created: it is there
 * @calls: events that were handed over
 * @last: number in the last one
 * @in_order: each number was one more than the one before
 * @port: of the last port event
 * @change: of the last port event
 * @pages: of the last page request
 * @kind: of the last queue event
 */
struct fixture {
	struct fake_hca *hca;
	struct cxib_command_queue queue;
	struct cxib_event_sink sink;
	struct cxib_eq eq;
	bool created;
	unsigned int calls;
	u32 last;
	bool in_order;
	unsigned int port;
	enum hw_port_change_subtype change;
	s32 pages;
	enum hw_event_queue_type kind;
};

static void on_completion(void *context, u32 cqn)
{
	struct fixture *fixture = context;

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

static const struct cxib_event_ops handlers = {
	.completion = on_completion,
	.port_change = on_port_change,
	.page_request = on_page_request,
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
	KUNIT_ASSERT_EQ(test, 0, cxib_command_queue_create(&fixture->queue, &fixture->hca->bus));
	test->priv = fixture;
	KUNIT_ASSERT_EQ(test, 0, cxib_command_queue_start(&fixture->queue));
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
	cxib_command_queue_destroy(&fixture->queue);
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

static void hands_an_event_over(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	report_completion(fixture, 0x123456);
	KUNIT_EXPECT_EQ(test, fixture->calls, 1);
	KUNIT_EXPECT_EQ(test, fixture->last, 0x123456);
	KUNIT_EXPECT_TRUE(test, fixture->hca->eqs[fixture->eq.eqn].armed);
}

static void finds_nothing_in_an_empty_queue(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, 0, cxib_eq_poll(&fixture->eq));
	KUNIT_EXPECT_EQ(test, fixture->calls, 0);
}

static void keeps_the_order_over_many_passes(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	for (i = 0; i < 5 * BIT(LOG_SIZE) + 3; i++)
		report_completion(fixture, i);
	KUNIT_EXPECT_EQ(test, fixture->calls, 5 * BIT(LOG_SIZE) + 3);
	KUNIT_EXPECT_TRUE(test, fixture->in_order);
	KUNIT_EXPECT_EQ(test, 0, cxib_eq_poll(&fixture->eq));
}

static const unsigned int backlogs[] = { 1, 7, 8, 9, 63, 64 };

static void describe_backlog(const unsigned int *backlog, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "%u entries", *backlog);
}

KUNIT_ARRAY_PARAM(backlog, backlogs, describe_backlog);

static void takes_all_that_has_come_meanwhile(struct kunit *test)
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

static void goes_on_when_the_counter_wraps(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	/* Both sides count modulo 2^24, and the passes go on. */
	fixture->eq.cons_index = 0xffffc0;
	fixture->hca->eqs[fixture->eq.eqn].producer = 0xffffc0;
	fixture->hca->eqs[fixture->eq.eqn].cons_index = 0xffffc0;
	for (i = 0; i < BIT(LOG_SIZE); i++)
		hw_eqe_set_owner(&fixture->eq.ring[i], 0);
	for (i = 0; i < 3 * BIT(LOG_SIZE); i++)
		report_completion(fixture, i);
	KUNIT_EXPECT_EQ(test, fixture->calls, 3 * BIT(LOG_SIZE));
	KUNIT_EXPECT_TRUE(test, fixture->in_order);
}

static void survives_events_that_nobody_knows(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int type;
	u8 data[28];

	memset(data, 0xff, sizeof(data));
	for (type = 0; type < 256; type++)
		fake_hca_post_to(fixture->hca, fixture->eq.eqn, type, 0xff, data, sizeof(data));
	KUNIT_EXPECT_GE(test, atomic64_read(&fixture->sink.unknown), 200);
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

static void counts_events_that_nobody_wants(struct kunit *test)
{
	static const struct cxib_event_ops nobody = {};
	const enum hw_event_type *type = test->param_value;
	struct fixture *fixture = test->priv;
	u8 data[28] = {};

	fixture->sink.handlers = &nobody;
	fake_hca_post_to(fixture->hca, fixture->eq.eqn, *type, 0, data, sizeof(data));
	KUNIT_EXPECT_EQ(test, atomic64_read(&fixture->sink.unhandled), 1);
	KUNIT_EXPECT_EQ(test, fixture->calls, 0);
}

/* A device that lies could have it handled in an interrupt, where the handler must not be. */
static void nobody_is_told_of_events_of_another_queue(struct kunit *test)
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

static void decodes_port_events(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_port_state_change_event data = {};

	hw_port_state_change_event_set_port_num(&data, 2);
	fake_hca_post_to(fixture->hca, fixture->eq.eqn, HW_EVENT_TYPE_PORT_CHANGE,
			 HW_PORT_CHANGE_SUBTYPE_LID, &data, sizeof(data));
	KUNIT_EXPECT_EQ(test, fixture->port, 2);
	KUNIT_EXPECT_EQ(test, fixture->change, HW_PORT_CHANGE_SUBTYPE_LID);
}

static void ignores_events_of_ports_that_cannot_be(struct kunit *test)
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
}

static void decodes_page_requests(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_pages_req_event data = {};

	hw_pages_req_event_set_function_id(&data, 3);
	hw_pages_req_event_set_num_pages(&data, (u32)-7);
	fake_hca_post_to(fixture->hca, fixture->eq.eqn, HW_EVENT_TYPE_PAGE_REQUEST, 0, &data,
			 sizeof(data));
	KUNIT_EXPECT_EQ(test, fixture->pages, -7);
	KUNIT_EXPECT_EQ(test, fixture->last, 3);
}

static void decodes_queue_events(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_qp_events data = {};

	hw_qp_events_set_type(&data, HW_EVENT_QUEUE_TYPE_SQ);
	hw_qp_events_set_qpn_rqn_sqn(&data, 0xabcdef);
	fake_hca_post_to(fixture->hca, fixture->eq.eqn, HW_EVENT_TYPE_SRQ_LAST_WQE, 0, &data,
			 sizeof(data));
	KUNIT_EXPECT_EQ(test, fixture->kind, HW_EVENT_QUEUE_TYPE_SQ);
	KUNIT_EXPECT_EQ(test, fixture->last, 0xabcdef);
}

static void decodes_events_of_targets(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_dct_events data = {};

	hw_dct_events_set_dct_number(&data, 0xabcdef);
	fake_hca_post_to(fixture->hca, fixture->eq.eqn, HW_EVENT_TYPE_DCT_DRAINED, 0, &data,
			 sizeof(data));
	KUNIT_EXPECT_EQ(test, fixture->kind, HW_EVENT_QUEUE_TYPE_DCT);
	KUNIT_EXPECT_EQ(test, fixture->last, 0xabcdef);
}

/* A device without targets may refuse an event queue for their events. */
static void events_of_targets_are_asked_for_where_there_are_some(struct kunit *test)
{
	const u64 events = BIT_ULL(HW_EVENT_TYPE_DCT_DRAINED) |
			   BIT_ULL(HW_EVENT_TYPE_DCT_KEY_VIOLATION);

	KUNIT_EXPECT_EQ(test, events, cxib_asynchronous_events(true) & events);
	KUNIT_EXPECT_EQ(test, cxib_asynchronous_events(true) & ~events,
			cxib_asynchronous_events(false));
}

static void decodes_errors_of_completion_queues(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_cq_error data = {};

	hw_cq_error_set_cqn(&data, 0x42);
	fake_hca_post_to(fixture->hca, fixture->eq.eqn, HW_EVENT_TYPE_CQ_ERROR, 0, &data,
			 sizeof(data));
	KUNIT_EXPECT_EQ(test, fixture->last, 0x42);
}

static void keeps_memory_that_the_device_may_write_to(struct kunit *test)
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
	KUNIT_CASE(hands_an_event_over),
	KUNIT_CASE(finds_nothing_in_an_empty_queue),
	KUNIT_CASE(keeps_the_order_over_many_passes),
	KUNIT_CASE_PARAM(takes_all_that_has_come_meanwhile, backlog_gen_params),
	KUNIT_CASE(goes_on_when_the_counter_wraps),
	KUNIT_CASE(survives_events_that_nobody_knows),
	KUNIT_CASE_PARAM(counts_events_that_nobody_wants, type_gen_params),
	KUNIT_CASE(nobody_is_told_of_events_of_another_queue),
	KUNIT_CASE(decodes_port_events),
	KUNIT_CASE(ignores_events_of_ports_that_cannot_be),
	KUNIT_CASE(decodes_page_requests),
	KUNIT_CASE(decodes_queue_events),
	KUNIT_CASE(decodes_events_of_targets),
	KUNIT_CASE(events_of_targets_are_asked_for_where_there_are_some),
	KUNIT_CASE(decodes_errors_of_completion_queues),
	KUNIT_CASE(keeps_memory_that_the_device_may_write_to),
	{}
};

static struct kunit_suite event_queue_suite = {
	.name = "eq",
	.init = event_queue_init,
	.exit = event_queue_exit,
	.test_cases = event_queue_cases,
};

kunit_test_suite(event_queue_suite);
