// SPDX-License-Identifier: GPL-2.0-only
/* QP handles of registrations, created by ib_open_qp() of the RDMA core, and their events. */
#include <linux/slab.h>
#include <rdma/cxib_user_ioctl_cmds.h>
#include <rdma/ib_verbs.h>

#include "kernel_kunit.h"
#include "verbs/xrc/opener.h"

#define QPN		0x123456
#define OTHER_QPN	0x123457
#define RECEIVERS	2

/**
 * struct receiver - file of asynchronous events
 * @handler: its event handler
 * @events: events so far
 * @num_events: number of @events
 */
struct receiver {
	struct ib_event_handler handler;
	struct ib_event events[4];
	unsigned int num_events;
};

/**
 * struct fixture - an XRC domain with one XRC_TGT QP
 * @ib: its device; not registered
 * @xrcd: XRC domain
 * @qp: the QP
 * @receivers: files of asynchronous events
 * @openers: handles of registrations, one for each of @receivers
 */
struct fixture {
	struct ib_device ib;
	struct ib_xrcd xrcd;
	struct ib_qp qp;
	struct receiver receivers[RECEIVERS];
	struct cxib_xrc_opener openers[RECEIVERS];
};

static void receive(struct ib_event_handler *handler, struct ib_event *event)
{
	struct receiver *receiver = container_of(handler, struct receiver, handler);

	if (receiver->num_events < ARRAY_SIZE(receiver->events))
		receiver->events[receiver->num_events] = *event;
	receiver->num_events++;
}

static int xrc_opener_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	spin_lock_init(&fixture->ib.qp_open_list_lock);
	init_rwsem(&fixture->xrcd.tgt_qps_rwsem);
	xa_init(&fixture->xrcd.tgt_qps);
	fixture->xrcd.device = &fixture->ib;
	fixture->qp.device = &fixture->ib;
	fixture->qp.real_qp = &fixture->qp;
	fixture->qp.qp_num = QPN;
	fixture->qp.qp_type = IB_QPT_XRC_TGT;
	fixture->qp.xrcd = &fixture->xrcd;
	INIT_LIST_HEAD(&fixture->qp.open_list);
	/* The RDMA core has a handle of the QP, so that no device is needed to destroy it. */
	atomic_set(&fixture->qp.usecnt, 1);
	for (i = 0; i < RECEIVERS; i++) {
		fixture->receivers[i].handler.handler = receive;
		fixture->openers[i] = (struct cxib_xrc_opener){
			.qpn = QPN, .events = &fixture->receivers[i].handler,
		};
	}
	test->priv = fixture;
	return xa_err(xa_store(&fixture->xrcd.tgt_qps, QPN, &fixture->qp, GFP_KERNEL));
}

static void xrc_opener_exit(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	xa_destroy(&fixture->xrcd.tgt_qps);
}

/*
 * Does what the RDMA core does for an XRC_TGT QP: calls each handle, and the list element is the
 * iterator.
 */
static void raise_event(struct fixture *fixture, enum ib_event_type type)
{
	struct ib_event event = { .device = &fixture->ib, .event = type };

	list_for_each_entry(event.element.qp, &fixture->qp.open_list, open_list)
		if (event.element.qp->event_handler)
			event.element.qp->event_handler(&event, event.element.qp->qp_context);
}

static void open_all(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	for (i = 0; i < RECEIVERS; i++)
		KUNIT_ASSERT_EQ(test, 0, cxib_xrc_open(&fixture->openers[i], &fixture->xrcd));
}

static void close_all(struct fixture *fixture)
{
	unsigned int i;

	for (i = 0; i < RECEIVERS; i++)
		cxib_xrc_close(&fixture->openers[i]);
}

static void opener_unknown_number_is_refused(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->openers[0].qpn = OTHER_QPN;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_xrc_open(&fixture->openers[0], &fixture->xrcd));
	KUNIT_EXPECT_TRUE(test, list_empty(&fixture->qp.open_list));
}

static void opener_of_registration_counts_as_such(struct kunit *test)
{
	struct ib_qp foreign = { .device = NULL };
	struct fixture *fixture = test->priv;
	struct cxib_xrc_handles handles;

	list_add(&foreign.open_list, &fixture->qp.open_list);
	open_all(test);
	handles = cxib_xrc_count_handles(&fixture->qp);
	close_all(fixture);
	KUNIT_EXPECT_EQ(test, RECEIVERS, handles.num_registrations);
	KUNIT_EXPECT_EQ(test, 1, handles.num_openers);
	handles = cxib_xrc_count_handles(&fixture->qp);
	KUNIT_EXPECT_EQ(test, 0, handles.num_registrations);
	KUNIT_EXPECT_EQ(test, 1, handles.num_openers);
}

/* The RDMA core publishes a QP before it initializes the list. */
static void handles_of_qp_without_list_are_none(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_xrc_handles handles;

	fixture->qp.open_list = (struct list_head){};
	handles = cxib_xrc_count_handles(&fixture->qp);
	KUNIT_EXPECT_EQ(test, 0, handles.num_registrations);
	KUNIT_EXPECT_EQ(test, 0, handles.num_openers);
}

static void event_of_qp_reaches_each_opener_once(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	open_all(test);
	raise_event(fixture, IB_EVENT_COMM_EST);
	close_all(fixture);
	for (i = 0; i < RECEIVERS; i++) {
		const struct receiver *receiver = &fixture->receivers[i];

		KUNIT_EXPECT_EQ(test, 1, receiver->num_events);
		KUNIT_EXPECT_EQ(test, CXIB_XRC_QP_EVENT_FLAG | IB_EVENT_COMM_EST,
				(u32)receiver->events[0].event);
		KUNIT_EXPECT_EQ(test, QPN, receiver->events[0].element.port_num);
		KUNIT_EXPECT_PTR_EQ(test, &fixture->ib, receiver->events[0].device);
	}
}

static void event_after_close_reaches_others_only(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	open_all(test);
	cxib_xrc_close(&fixture->openers[0]);
	raise_event(fixture, IB_EVENT_QP_ACCESS_ERR);
	cxib_xrc_close(&fixture->openers[1]);
	KUNIT_EXPECT_EQ(test, 0, fixture->receivers[0].num_events);
	KUNIT_EXPECT_EQ(test, 1, fixture->receivers[1].num_events);
}

static void event_after_change_of_receiver_reaches_new_one(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_ASSERT_EQ(test, 0, cxib_xrc_open(&fixture->openers[0], &fixture->xrcd));
	cxib_xrc_set_events(&fixture->openers[0], &fixture->receivers[1].handler);
	raise_event(fixture, IB_EVENT_COMM_EST);
	cxib_xrc_close(&fixture->openers[0]);
	KUNIT_EXPECT_EQ(test, 0, fixture->receivers[0].num_events);
	KUNIT_EXPECT_EQ(test, 1, fixture->receivers[1].num_events);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(opener_unknown_number_is_refused),
	KUNIT_CASE(opener_of_registration_counts_as_such),
	KUNIT_CASE(handles_of_qp_without_list_are_none),
	KUNIT_CASE(event_of_qp_reaches_each_opener_once),
	KUNIT_CASE(event_after_close_reaches_others_only),
	KUNIT_CASE(event_after_change_of_receiver_reaches_new_one),
	{},
};

static struct kunit_suite xrc_opener_suite = {
	.name = "xrc_opener",
	.init = xrc_opener_init,
	.exit = xrc_opener_exit,
	.test_cases = cases,
};

kunit_test_suite(xrc_opener_suite);
