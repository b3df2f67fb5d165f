// SPDX-License-Identifier: GPL-2.0-only
/* The end of a kernel CQ: ib_free_cq() while the device raises events. */
#include <linux/delay.h>
#include <linux/slab.h>

#include "compat/workqueue.h"
#include "fake_queue_pair.h"
#include "fake_udata.h"
#include "hw/command_interface.h"
#include "hw/commands_events.h"
#include "verbs/cq/cq.h"

#define CQN	0x345

/**
 * struct fixture - a CQ that the RDMA core polls from a workqueue
 * @fake: the device
 * @eq: its completion EQ
 * @cq: the CQ; ib_free_cq() frees it
 * @cq_context: cq_context of CQs that are created
 * @num_events: calls of comp_handler
 * @num_destroyed: DESTROY_CQ commands
 * @num_scheduled: CQs that the scheduler knows
 * @num_synchronized: calls of the scheduler's synchronize
 * @num_modified: MODIFY_CQ commands
 * @num_worked: runs of slow_work_fn() that have ended
 * @status: status of DESTROY_CQ
 */
struct fixture {
	struct fake_queue_pair *fake;
	struct cxib_eq eq;
	struct cxib_cq *cq;
	void *cq_context;
	unsigned int num_events;
	unsigned int num_destroyed;
	unsigned int num_scheduled;
	unsigned int num_synchronized;
	unsigned int num_modified;
	unsigned int num_worked;
	u8 status;
};

static u8 run_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
		      u32 out_length)
{
	struct fixture *fixture = hca->script_context;

	switch (hw_cmd_in_get_opcode(in)) {
	case HW_CMD_CREATE_CQ:
		hw_create_cq_out_set_cqn(out, CQN);
		return HW_COMMAND_STATUS_OK;
	case HW_CMD_MODIFY_CQ:
		fixture->num_modified++;
		return HW_COMMAND_STATUS_OK;
	case HW_CMD_DESTROY_CQ:
		fixture->num_destroyed++;
		return fixture->status;
	default:
		return HW_COMMAND_STATUS_BAD_OPERATION;
	}
}

static struct fixture *fixture_of(struct ib_device *ib)
{
	struct fake_queue_pair *fake = container_of(to_ibdev(ib), struct fake_queue_pair, ibdev);

	return fake->hca->script_context;
}

static void on_event(struct ib_cq *ib, void *context)
{
	fixture_of(ib->device)->num_events++;
}

/* Raises the event that the device raises after ib_free_cq() has cancelled the work of the CQ. */
static int destroy_after_event(struct ib_cq *ib, struct ib_udata *udata)
{
	fake_completion_event(to_ibdev(ib->device), CQN);
	return cxib_destroy_cq_kernel(ib, udata);
}

static void no_work(struct work_struct *work)
{
}

static void create_cq(struct kunit *test, struct fixture *fixture)
{
	const struct ib_cq_init_attr attr = { .cqe = 7 };
	struct cxib_cq *cq = kzalloc(sizeof(*cq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cq);
	cq->ib.device = &fixture->fake->ibdev.ib;
	cq->ib.comp_handler = on_event;
	cq->ib.cq_context = fixture->cq_context;
	cq->ib.poll_ctx = IB_POLL_WORKQUEUE;
	INIT_WORK(&cq->ib.work, no_work);
	fixture->cq = cq;
	KUNIT_ASSERT_EQ(test, 0, cxib_create_cq_kernel(&cq->ib, &attr, NULL));
	KUNIT_ASSERT_EQ(test, CQN, cq->cqn);
}

static int cq_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->fake = fake;
	fixture->eq.bus = &fake->hca->bus;
	fake->hw.comp_eqs = &fixture->eq;
	fake->hw.completion_eq_count = 1;
	fake->ibdev.ib.attrs.max_cqe = 1023;
	fake->ibdev.ib.num_comp_vectors = 1;
	fake_queue_pair_start(fake, run_command, fixture);
	KUNIT_ASSERT_EQ(test, 0, cxib_hw_create_dbr_pool(&fake->hw));
	test->priv = fixture;
	create_cq(test, fixture);
	return 0;
}

static void cq_exit(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	if (fixture)
		cxib_hw_destroy_dbr_pool(&fixture->fake->hw);
}

static void free_cq(struct fixture *fixture)
{
	struct ib_device *ib = &fixture->fake->ibdev.ib;

	ib->ops.destroy_cq = destroy_after_event;
#ifndef CXIB_LACKS_CQ_PRE_DESTROY
	ib->ops.pre_destroy_cq = cxib_pre_destroy_cq;
#endif
	ib_free_cq(&fixture->cq->ib);
}

static void destroy_cq(struct kunit *test, struct fixture *fixture)
{
	KUNIT_EXPECT_EQ(test, 0, cxib_destroy_cq_kernel(&fixture->cq->ib, NULL));
	KUNIT_EXPECT_EQ(test, 1, fixture->num_destroyed);
	kfree(fixture->cq);
}

#ifndef CXIB_LACKS_CQ_PRE_DESTROY
/* The event would queue work for a CQ whose memory is freed next. */
static void free_cq_event_after_cancel_calls_no_handler(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	cxib_req_notify_cq(&fixture->cq->ib, IB_CQ_NEXT_COMP);
	free_cq(fixture);
	KUNIT_EXPECT_EQ(test, 0, fixture->num_events);
	KUNIT_EXPECT_EQ(test, 1, fixture->num_destroyed);
	KUNIT_EXPECT_TRUE(test, xa_empty(&fixture->fake->ibdev.cqs));
}
#endif

static void armed_cq_event_calls_handler_until_stopped(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	cxib_req_notify_cq(&fixture->cq->ib, IB_CQ_NEXT_COMP);
	fake_completion_event(&fixture->fake->ibdev, CQN);
	KUNIT_EXPECT_EQ(test, 1, fixture->num_events);
	KUNIT_EXPECT_EQ(test, 0, cxib_pre_destroy_cq(&fixture->cq->ib));
	fake_completion_event(&fixture->fake->ibdev, CQN);
	KUNIT_EXPECT_EQ(test, 1, fixture->num_events);
	destroy_cq(test, fixture);
}

/* A poller that is still running must not arm a CQN that the device may use again. */
static void req_notify_stopped_cq_rings_no_doorbell(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	u64 *doorbell = &fixture->fake->doorbells[HW_UAR_OFFSET_CQ_DOORBELL / sizeof(u64)];
	struct ib_cq *ib = &fixture->cq->ib;

	KUNIT_EXPECT_EQ(test, 0, cxib_req_notify_cq(ib, IB_CQ_NEXT_COMP));
	KUNIT_EXPECT_NE(test, 0, *doorbell);
	KUNIT_EXPECT_EQ(test, 0, cxib_pre_destroy_cq(ib));
	*doorbell = 0;
	KUNIT_EXPECT_EQ(test, 0, cxib_req_notify_cq(ib, IB_CQ_NEXT_COMP |
						    IB_CQ_REPORT_MISSED_EVENTS));
	KUNIT_EXPECT_EQ(test, 0, *doorbell);
	destroy_cq(test, fixture);
}

/* ib_free_cq() destroys with two operations, ib_destroy_cq() with one. */
static void destroy_cq_issues_one_command(struct kunit *test)
{
	destroy_cq(test, test->priv);
}

/* The destruction of a kernel CQ must not fail, so the device becomes fatal and DMA is off. */
static void free_cq_refused_turns_dma_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->status = HW_COMMAND_STATUS_BAD_RESOURCE_STATE;
	free_cq(fixture);
	KUNIT_EXPECT_TRUE(test, cxib_hw_is_dma_off(&fixture->fake->hw));
	KUNIT_EXPECT_TRUE(test, xa_empty(&fixture->fake->ibdev.cqs));
}

static void scheduler_create_cq(struct cxib_cq *cq)
{
	struct fixture *fixture = fixture_of(cq->ib.device);

	/* No event can arrive yet. */
	if (!xa_load(&fixture->fake->ibdev.cqs, CQN))
		fixture->num_scheduled++;
}

static void scheduler_destroy_cq(struct cxib_cq *cq)
{
	struct fixture *fixture = fixture_of(cq->ib.device);

	/* No event can arrive any more. */
	if (!xa_load(&fixture->fake->ibdev.cqs, CQN) && fixture->num_destroyed)
		fixture->num_scheduled--;
}

static void scheduler_synchronize(struct cxib_cq *cq)
{
	fixture_of(cq->ib.device)->num_synchronized++;
}

static const struct cxib_poll_interface scheduler = {
	.create_cq = scheduler_create_cq,
	.destroy_cq = scheduler_destroy_cq,
	.synchronize = scheduler_synchronize,
};

/* Replaces the CQ of the fixture by one that the scheduler knows. */
static void recreate_with_scheduler(struct kunit *test, struct fixture *fixture)
{
	destroy_cq(test, fixture);
	fixture->num_destroyed = 0;
	fixture->fake->ibdev.polling = &scheduler;
	create_cq(test, fixture);
	KUNIT_EXPECT_EQ(test, 1, fixture->num_scheduled);
}

static void free_cq_calls_scheduler_once(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	recreate_with_scheduler(test, fixture);
	free_cq(fixture);
	KUNIT_EXPECT_EQ(test, 0, fixture->num_scheduled);
}

static void destroy_cq_calls_scheduler_once(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	recreate_with_scheduler(test, fixture);
	destroy_cq(test, fixture);
	KUNIT_EXPECT_EQ(test, 0, fixture->num_scheduled);
}

/* The scheduler allocates memory with its lock held, and memory reclaim may wait for the CQ. */
static void create_umr_cq_calls_no_scheduler(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	destroy_cq(test, fixture);
	fixture->num_destroyed = 0;
	fixture->fake->ibdev.polling = &scheduler;
	fixture->cq_context = &fixture->fake->ibdev.umr;
	create_cq(test, fixture);
	KUNIT_EXPECT_EQ(test, 0, fixture->num_scheduled);
	destroy_cq(test, fixture);
	KUNIT_EXPECT_EQ(test, 0, fixture->num_scheduled);
}

/* Stands for the work of the RDMA core, whose done() handlers take some time. */
static void slow_work_fn(struct work_struct *work)
{
	struct ib_cq *ib = container_of(work, struct ib_cq, work);

	msleep(50);
	WRITE_ONCE(fixture_of(ib->device)->num_worked, 1);
}

static void synchronize_cq_waits_for_core_and_scheduler(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_cq *ib = &fixture->cq->ib;
	struct ib_wc wc;

	fixture->fake->ibdev.polling = &scheduler;
	ib->wc = &wc;
	INIT_WORK(&ib->work, slow_work_fn);
	queue_work(system_percpu_wq, &ib->work);
	cxib_cq_synchronize(fixture->cq);
	KUNIT_EXPECT_EQ(test, 1, READ_ONCE(fixture->num_worked));
	KUNIT_EXPECT_EQ(test, 1, fixture->num_synchronized);
	ib->wc = NULL;
	destroy_cq(test, fixture);
}

/* Another CQ may have this CQN by then. DIM requests moderation until ib_free_cq() stops it. */
static void modify_stopped_cq_issues_no_command(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_cq *ib = &fixture->cq->ib;

	fixture->fake->hw.caps.cq_moderation = 1;
	KUNIT_EXPECT_EQ(test, 0, cxib_modify_cq(ib, 1, 1));
	KUNIT_EXPECT_EQ(test, 1, fixture->num_modified);
	KUNIT_EXPECT_EQ(test, 0, cxib_pre_destroy_cq(ib));
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_modify_cq(ib, 1, 1));
	KUNIT_EXPECT_EQ(test, 1, fixture->num_modified);
	destroy_cq(test, fixture);
}

/* As after xa_insert() without memory for the entry of a QP. */
static void create_empty_nodes(struct xarray *table)
{
	XA_STATE(xas, table, FAKE_QPN);

	do {
		xas_lock_irq(&xas);
		xas_create_range(&xas);
		xas_unlock_irq(&xas);
	} while (xas_nomem(&xas, GFP_KERNEL));
}

static void destroy_cq_frees_empty_nodes(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct xarray *table = &fixture->cq->queue_pairs;

	create_empty_nodes(table);
	KUNIT_ASSERT_NOT_NULL(test, rcu_access_pointer(table->xa_head));
	KUNIT_EXPECT_EQ(test, 0, cxib_destroy_cq_kernel(&fixture->cq->ib, NULL));
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(table->xa_head));
	kfree(fixture->cq);
}

/* Events no longer look up the CQN. The ring stays, because the device may still write it. */
static void destroy_user_cq_refused_at_end_of_context_keeps_ring(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	struct cxib_cq *cq = fixture->cq;
	struct ib_ucontext context;
	struct uverbs_attr_bundle attrs;

	cq->is_user = true;
	fixture->status = HW_COMMAND_STATUS_BAD_RESOURCE_STATE;
	KUNIT_EXPECT_EQ(test, 0,
			cxib_destroy_cq_kernel(&cq->ib, fake_cleanup(&attrs, &context)));
	KUNIT_EXPECT_TRUE(test, xa_empty(&ibdev->cqs));
	KUNIT_EXPECT_TRUE(test, fake_has_orphans(ibdev, &context));
	fake_completion_event(ibdev, CQN);
	KUNIT_EXPECT_EQ(test, 0, fixture->num_events);
	fixture->status = HW_COMMAND_STATUS_OK;
	cxib_orphans_close(ibdev, &context);
	cxib_orphans_end(ibdev);
	KUNIT_EXPECT_EQ(test, 2, fixture->num_destroyed);
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_fatal(commands_of(ibdev)));
	cxib_free_queue_memory(ibdev, &cq->buffer, &cq->dbr, 0);
	kfree(cq);
}

static struct kunit_case cases[] = {
#ifndef CXIB_LACKS_CQ_PRE_DESTROY
	KUNIT_CASE(free_cq_event_after_cancel_calls_no_handler),
#endif
	KUNIT_CASE(armed_cq_event_calls_handler_until_stopped),
	KUNIT_CASE(req_notify_stopped_cq_rings_no_doorbell),
	KUNIT_CASE(destroy_cq_issues_one_command),
	KUNIT_CASE(destroy_user_cq_refused_at_end_of_context_keeps_ring),
	KUNIT_CASE(free_cq_refused_turns_dma_off),
	KUNIT_CASE(destroy_cq_frees_empty_nodes),
	KUNIT_CASE(free_cq_calls_scheduler_once),
	KUNIT_CASE(destroy_cq_calls_scheduler_once),
	KUNIT_CASE(create_umr_cq_calls_no_scheduler),
	KUNIT_CASE(synchronize_cq_waits_for_core_and_scheduler),
	KUNIT_CASE(modify_stopped_cq_issues_no_command),
	{}
};

static struct kunit_suite suite = {
	.name = "cq",
	.init = cq_init,
	.exit = cq_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
