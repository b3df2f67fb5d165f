// SPDX-License-Identifier: GPL-2.0-only
/* DEVX: which queue receives an event, and what a queue contains. */
#include <linux/completion.h>
#include <linux/string.h>

#include "kernel_kunit.h"
#include "user/devx_event.h"

#define NUMBER		0x321
#define OTHER_NUMBER	0x322
#define COOKIE		0x1122334455667788
#define OTHER_COOKIE	2

/* Bytes of a record with event data: a cookie and an EQE. */
#define RECORD_BYTES	(8 + 64)

/**
 * struct fixture - subscriptions, two targets and two queues
 * @events: subscriptions
 * @targets: QPs NUMBER and OTHER_NUMBER
 * @with_data: queue with event data
 * @omitting: queue without event data
 * @record: last event taken from a queue
 */
struct fixture {
	struct cxib_devx_events events;
	struct cxib_devx_target targets[2];
	struct cxib_devx_queue with_data;
	struct cxib_devx_queue omitting;
	struct cxib_devx_record record;
};

static int devx_event_init(struct kunit *test)
{
	static const struct cxib_devx_obj_id objects[] = {
		{ .kind = CXIB_DEVX_QP, .number = NUMBER },
		{ .kind = CXIB_DEVX_QP, .number = OTHER_NUMBER },
	};
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	test->priv = fixture;
	cxib_devx_events_init(&fixture->events);
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		cxib_devx_target_init(&fixture->targets[i], &objects[i]);
		KUNIT_ASSERT_EQ(test, 0,
				cxib_devx_target_attach(&fixture->events, &fixture->targets[i]));
	}
	KUNIT_ASSERT_EQ(test, 0, cxib_devx_queue_init(&fixture->omitting, true));
	return cxib_devx_queue_init(&fixture->with_data, false);
}

static void devx_event_exit(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fixture->targets); i++) {
		cxib_devx_target_detach(&fixture->events, &fixture->targets[i]);
		cxib_devx_target_end(&fixture->events, &fixture->targets[i]);
	}
	cxib_devx_queue_end(&fixture->events, &fixture->with_data);
	cxib_devx_queue_end(&fixture->events, &fixture->omitting);
	cxib_devx_events_destroy(&fixture->events);
}

static int subscribe_to(struct fixture *fixture, struct cxib_devx_queue *queue,
			struct cxib_devx_target *target, u16 type, u64 cookie)
{
	const struct cxib_devx_subscribe request = {
		.queue = queue, .target = target, .types = &type, .count = 1,
		.cookie = cookie, .eventfd = -1,
	};

	return cxib_devx_subscribe(&fixture->events, &request);
}

static int subscribe(struct fixture *fixture, struct cxib_devx_queue *queue, u64 cookie)
{
	return subscribe_to(fixture, queue, &fixture->targets[0], HW_EVENT_TYPE_SRQ_LAST_WQE,
			    cookie);
}

static void raise(struct fixture *fixture, u16 type, enum hw_event_queue_type kind, u32 number)
{
	struct hw_qp_events *data;
	struct hw_eqe entry = {};

	hw_eqe_set_event_type(&entry, type);
	data = hw_eqe_event_data_qp_events(&entry);
	hw_qp_events_set_type(data, kind);
	hw_qp_events_set_qpn_rqn_sqn(data, number);
	cxib_devx_dispatch(&fixture->events, &entry);
}

static void raise_last_wqe(struct fixture *fixture, u32 number)
{
	raise(fixture, HW_EVENT_TYPE_SRQ_LAST_WQE, HW_EVENT_QUEUE_TYPE_QP, number);
}

static int take(struct fixture *fixture, struct cxib_devx_queue *queue)
{
	return cxib_devx_queue_take(queue, &fixture->record, sizeof(fixture->record));
}

static void devx_event_reaches_subscriber_with_data(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_devx_queue *queue = &fixture->with_data;
	const struct hw_qp_events *data;

	KUNIT_ASSERT_EQ(test, 0, subscribe(fixture, queue, COOKIE));
	KUNIT_EXPECT_EQ(test, -EAGAIN, take(fixture, queue));
	KUNIT_EXPECT_FALSE(test, cxib_devx_queue_is_ready(queue));
	raise_last_wqe(fixture, NUMBER);
	KUNIT_EXPECT_TRUE(test, cxib_devx_queue_is_ready(queue));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			cxib_devx_queue_take(queue, &fixture->record, RECORD_BYTES - 1));
	KUNIT_EXPECT_EQ(test, RECORD_BYTES, take(fixture, queue));
	KUNIT_EXPECT_EQ(test, COOKIE, fixture->record.cookie);
	data = hw_eqe_get_event_data_qp_events(&fixture->record.entry);
	KUNIT_EXPECT_EQ(test, NUMBER, hw_qp_events_get_qpn_rqn_sqn(data));
	KUNIT_EXPECT_EQ(test, -EAGAIN, take(fixture, queue));
}

static void devx_event_of_other_object_type_or_kind_is_not_delivered(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_devx_queue *queue = &fixture->with_data;

	KUNIT_ASSERT_EQ(test, 0, subscribe(fixture, queue, COOKIE));
	raise_last_wqe(fixture, OTHER_NUMBER);
	raise(fixture, HW_EVENT_TYPE_COMM_EST, HW_EVENT_QUEUE_TYPE_QP, NUMBER);
	raise(fixture, HW_EVENT_TYPE_SRQ_LAST_WQE, HW_EVENT_QUEUE_TYPE_SQ, NUMBER);
	raise(fixture, HW_EVENT_TYPE_SRQ_RQ_LIMIT, HW_EVENT_QUEUE_TYPE_QP, NUMBER);
	raise(fixture, HW_EVENT_TYPE_CQ_ERROR, 0, NUMBER);
	KUNIT_EXPECT_EQ(test, -EAGAIN, take(fixture, queue));
	KUNIT_EXPECT_FALSE(test, cxib_devx_dispatch_completion(&fixture->events, NUMBER));
}

static void devx_completion_event_reaches_cq(struct kunit *test)
{
	static const struct cxib_devx_obj_id cq = { .kind = CXIB_DEVX_CQ, .number = NUMBER };
	struct fixture *fixture = test->priv;
	const struct hw_comp_event *data;
	struct cxib_devx_target target;

	cxib_devx_target_init(&target, &cq);
	KUNIT_ASSERT_EQ(test, 0, cxib_devx_target_attach(&fixture->events, &target));
	KUNIT_EXPECT_TRUE(test, cxib_devx_dispatch_completion(&fixture->events, NUMBER));
	KUNIT_ASSERT_EQ(test, 0, subscribe_to(fixture, &fixture->with_data, &target,
					      HW_EVENT_TYPE_COMP, COOKIE));
	KUNIT_EXPECT_TRUE(test, cxib_devx_dispatch_completion(&fixture->events, NUMBER));
	KUNIT_EXPECT_EQ(test, RECORD_BYTES, take(fixture, &fixture->with_data));
	data = hw_eqe_get_event_data_comp_event(&fixture->record.entry);
	KUNIT_EXPECT_EQ(test, NUMBER, hw_comp_event_get_cq_number(data));
	KUNIT_EXPECT_EQ(test, -EAGAIN, take(fixture, &fixture->with_data));
	cxib_devx_target_detach(&fixture->events, &target);
	KUNIT_EXPECT_FALSE(test, cxib_devx_dispatch_completion(&fixture->events, NUMBER));
	cxib_devx_target_end(&fixture->events, &target);
}

static void devx_port_event_reaches_subscribers_of_device(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_devx_queue *queue = &fixture->omitting;

	KUNIT_ASSERT_EQ(test, 0, subscribe_to(fixture, queue, NULL, HW_EVENT_TYPE_PORT_CHANGE,
					      COOKIE));
	raise(fixture, HW_EVENT_TYPE_PORT_CHANGE, 0, 0);
	KUNIT_EXPECT_EQ(test, sizeof(u64), take(fixture, queue));
	KUNIT_EXPECT_EQ(test, COOKIE, fixture->record.cookie);
}

static void devx_dct_drained_completes(struct kunit *test)
{
	static const struct cxib_devx_obj_id dct = { .kind = CXIB_DEVX_DCT, .number = NUMBER };
	DECLARE_COMPLETION_ONSTACK(drained);
	struct fixture *fixture = test->priv;
	struct cxib_devx_target target;
	struct hw_eqe entry = {};

	cxib_devx_target_init(&target, &dct);
	target.drained = &drained;
	KUNIT_ASSERT_EQ(test, 0, cxib_devx_target_attach(&fixture->events, &target));
	hw_eqe_set_event_type(&entry, HW_EVENT_TYPE_DCT_KEY_VIOLATION);
	hw_dct_events_set_dct_number(hw_eqe_event_data_dct_events(&entry), NUMBER);
	cxib_devx_dispatch(&fixture->events, &entry);
	KUNIT_EXPECT_FALSE(test, completion_done(&drained));
	hw_eqe_set_event_type(&entry, HW_EVENT_TYPE_DCT_DRAINED);
	cxib_devx_dispatch(&fixture->events, &entry);
	KUNIT_EXPECT_TRUE(test, completion_done(&drained));
	cxib_devx_target_detach(&fixture->events, &target);
}

static void devx_number_of_srq_is_shared_by_rmp_and_xrq(struct kunit *test)
{
	static const struct cxib_devx_obj_id rmp = { .kind = CXIB_DEVX_RMP, .number = NUMBER };
	static const struct cxib_devx_obj_id xrq = { .kind = CXIB_DEVX_XRQ, .number = NUMBER };
	struct fixture *fixture = test->priv;
	struct cxib_devx_target first, second;

	cxib_devx_target_init(&first, &xrq);
	cxib_devx_target_init(&second, &rmp);
	KUNIT_ASSERT_EQ(test, 0, cxib_devx_target_attach(&fixture->events, &first));
	KUNIT_EXPECT_EQ(test, -EEXIST, cxib_devx_target_attach(&fixture->events, &second));
	KUNIT_ASSERT_EQ(test, 0, subscribe_to(fixture, &fixture->omitting, &first,
					      HW_EVENT_TYPE_SRQ_RQ_LIMIT, COOKIE));
	raise(fixture, HW_EVENT_TYPE_SRQ_RQ_LIMIT, HW_EVENT_QUEUE_TYPE_QP, NUMBER);
	KUNIT_EXPECT_EQ(test, sizeof(u64), take(fixture, &fixture->omitting));
	cxib_devx_target_detach(&fixture->events, &first);
	cxib_devx_target_end(&fixture->events, &first);
}

static void devx_full_queue_reports_overflow_once(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_devx_queue *queue = &fixture->with_data;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, subscribe(fixture, queue, COOKIE));
	for (i = 0; i < CXIB_DEVX_EVENTS_MAX; i++)
		raise_last_wqe(fixture, NUMBER);
	KUNIT_EXPECT_EQ(test, RECORD_BYTES, take(fixture, queue));
	raise_last_wqe(fixture, NUMBER);
	raise_last_wqe(fixture, NUMBER);
	KUNIT_EXPECT_EQ(test, -EOVERFLOW, take(fixture, queue));
	for (i = 0; i < CXIB_DEVX_EVENTS_MAX; i++)
		KUNIT_EXPECT_EQ(test, RECORD_BYTES, take(fixture, queue));
	KUNIT_EXPECT_EQ(test, -EAGAIN, take(fixture, queue));
	raise_last_wqe(fixture, NUMBER);
	KUNIT_EXPECT_EQ(test, RECORD_BYTES, take(fixture, queue));
}

static void devx_event_without_data_is_pending_once(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_devx_queue *queue = &fixture->omitting;

	KUNIT_ASSERT_EQ(test, 0, subscribe(fixture, queue, COOKIE));
	KUNIT_ASSERT_EQ(test, 0, subscribe(fixture, queue, OTHER_COOKIE));
	raise_last_wqe(fixture, NUMBER);
	raise_last_wqe(fixture, NUMBER);
	KUNIT_EXPECT_EQ(test, sizeof(u64), take(fixture, queue));
	KUNIT_EXPECT_EQ(test, COOKIE, fixture->record.cookie);
	KUNIT_EXPECT_EQ(test, sizeof(u64), take(fixture, queue));
	KUNIT_EXPECT_EQ(test, OTHER_COOKIE, fixture->record.cookie);
	KUNIT_EXPECT_EQ(test, -EAGAIN, take(fixture, queue));
	raise_last_wqe(fixture, NUMBER);
	KUNIT_EXPECT_EQ(test, sizeof(u64), take(fixture, queue));
}

static void devx_pending_event_survives_its_object(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_devx_queue *queue = &fixture->omitting;

	KUNIT_ASSERT_EQ(test, 0, subscribe(fixture, queue, COOKIE));
	raise_last_wqe(fixture, NUMBER);
	cxib_devx_target_detach(&fixture->events, &fixture->targets[0]);
	cxib_devx_target_end(&fixture->events, &fixture->targets[0]);
	raise_last_wqe(fixture, NUMBER);
	KUNIT_EXPECT_EQ(test, sizeof(u64), take(fixture, queue));
	KUNIT_EXPECT_EQ(test, COOKIE, fixture->record.cookie);
	KUNIT_EXPECT_EQ(test, -EAGAIN, take(fixture, queue));
}

static void devx_detached_target_gets_no_events(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_devx_queue *queue = &fixture->with_data;

	KUNIT_ASSERT_EQ(test, 0, subscribe(fixture, queue, COOKIE));
	cxib_devx_target_detach(&fixture->events, &fixture->targets[0]);
	raise_last_wqe(fixture, NUMBER);
	KUNIT_EXPECT_EQ(test, -EAGAIN, take(fixture, queue));
	cxib_devx_target_resume(&fixture->events, &fixture->targets[0]);
	KUNIT_EXPECT_EQ(test, -EOVERFLOW, take(fixture, queue));
	raise_last_wqe(fixture, NUMBER);
	KUNIT_EXPECT_EQ(test, RECORD_BYTES, take(fixture, queue));
}

static void devx_ended_queue_returns_eio(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_ASSERT_EQ(test, 0, subscribe(fixture, &fixture->with_data, COOKIE));
	KUNIT_ASSERT_EQ(test, 0, subscribe(fixture, &fixture->omitting, COOKIE));
	raise_last_wqe(fixture, NUMBER);
	cxib_devx_queue_end(&fixture->events, &fixture->with_data);
	cxib_devx_queue_end(&fixture->events, &fixture->omitting);
	raise_last_wqe(fixture, NUMBER);
	KUNIT_EXPECT_TRUE(test, cxib_devx_queue_is_ready(&fixture->with_data));
	KUNIT_EXPECT_EQ(test, -EIO, take(fixture, &fixture->with_data));
	KUNIT_EXPECT_EQ(test, -EIO, take(fixture, &fixture->omitting));
	KUNIT_EXPECT_EQ(test, 0, fixture->targets[0].count);
}

static void devx_subscription_to_wrong_type_returns_einval(struct kunit *test)
{
	static const u16 types[] = { HW_EVENT_TYPE_SRQ_LAST_WQE, HW_EVENT_TYPE_CMD };
	struct fixture *fixture = test->priv;
	struct cxib_devx_subscribe request = {
		.queue = &fixture->with_data, .target = &fixture->targets[0], .types = types,
		.count = ARRAY_SIZE(types), .eventfd = -1,
	};
	u16 type;

	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_devx_subscribe(&fixture->events, &request));
	request.count = 0;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_devx_subscribe(&fixture->events, &request));
	request.count = CXIB_DEVX_TYPES_MAX + 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_devx_subscribe(&fixture->events, &request));
	KUNIT_EXPECT_EQ(test, 0, fixture->targets[0].count);
	for (type = 0; type < 0x100; type++)
		if (type != HW_EVENT_TYPE_PORT_CHANGE)
			KUNIT_EXPECT_EQ(test, -EINVAL,
					subscribe_to(fixture, &fixture->with_data, NULL, type, 0));
}

static void devx_subscriptions_of_target_are_limited(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_devx_queue *queue = &fixture->with_data;
	unsigned int i;

	for (i = 0; i < CXIB_DEVX_SUBSCRIPTIONS_MAX; i++) {
		KUNIT_ASSERT_EQ(test, 0, subscribe(fixture, queue, i));
		KUNIT_ASSERT_EQ(test, 0, subscribe_to(fixture, queue, NULL,
						      HW_EVENT_TYPE_PORT_CHANGE, i));
	}
	KUNIT_EXPECT_EQ(test, -ENOSPC, subscribe(fixture, queue, i));
	KUNIT_EXPECT_EQ(test, -ENOSPC,
			subscribe_to(fixture, queue, NULL, HW_EVENT_TYPE_PORT_CHANGE, i));
	KUNIT_EXPECT_EQ(test, 0, subscribe_to(fixture, queue, &fixture->targets[1],
					      HW_EVENT_TYPE_SRQ_LAST_WQE, i));
	KUNIT_EXPECT_EQ(test, 0, subscribe_to(fixture, &fixture->omitting, NULL,
					      HW_EVENT_TYPE_PORT_CHANGE, i));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(devx_event_reaches_subscriber_with_data),
	KUNIT_CASE(devx_event_of_other_object_type_or_kind_is_not_delivered),
	KUNIT_CASE(devx_completion_event_reaches_cq),
	KUNIT_CASE(devx_port_event_reaches_subscribers_of_device),
	KUNIT_CASE(devx_dct_drained_completes),
	KUNIT_CASE(devx_number_of_srq_is_shared_by_rmp_and_xrq),
	KUNIT_CASE(devx_full_queue_reports_overflow_once),
	KUNIT_CASE(devx_event_without_data_is_pending_once),
	KUNIT_CASE(devx_pending_event_survives_its_object),
	KUNIT_CASE(devx_detached_target_gets_no_events),
	KUNIT_CASE(devx_ended_queue_returns_eio),
	KUNIT_CASE(devx_subscription_to_wrong_type_returns_einval),
	KUNIT_CASE(devx_subscriptions_of_target_are_limited),
	{}
};

static struct kunit_suite suite = {
	.name = "devx_event",
	.init = devx_event_init,
	.exit = devx_event_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
