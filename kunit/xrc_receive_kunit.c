// SPDX-License-Identifier: GPL-2.0-only
/* Receives of XRC target QPs: the CQE has the SRQN of the WQE that the message has consumed. */
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/ktime.h>

#include "fake_queue_pair.h"
#include "hw/work_queue.h"
#include "verbs/cq/cq_poll.h"
#include "verbs/srq/srq.h"

#define LOG_SIZE	2
#define FIRST_SRQN	0x777

/* A WQE of 64 bytes has a next segment and three SGEs, 16 bytes each. */
#define LOG_STRIDE	6
#define MAX_SGE		3

#define NUM_SRQS	2
#define CORRUPT_CQES	20000
/* Limit after which a thread on another CPU counts as stuck. */
#define PATIENCE_MS	60000

/* wr_id of the first WR of each SRQ, and lengths of the messages. */
#define FIRST_ID	100
#define SECOND_ID	200
#define BYTES		5

struct fake_xrc_srq {
	struct cxib_srq srq;
	__be32 dbr[2];
	struct cxib_rq_entry entries[BIT(LOG_SIZE)];
	unsigned long outstanding;
};

struct fake_xrc {
	struct fake_queue_pair *fake;
	struct fake_xrc_srq srqs[NUM_SRQS];
};

static void free_buffers(void *data)
{
	struct fake_xrc *xrc = data;
	int i;

	for (i = 0; i < NUM_SRQS; i++)
		cxib_buffer_destroy(&xrc->srqs[i].srq.buffer, xrc->fake->hca->bus.dev);
}

static void init_srq(struct kunit *test, struct fake_xrc *xrc, unsigned int index)
{
	struct fake_xrc_srq *queue = &xrc->srqs[index];
	struct cxib_srq *srq = &queue->srq;

	srq->ib.device = &xrc->fake->ibdev.ib;
	srq->ib.srq_type = IB_SRQT_XRC;
	srq->ib.ext.cq = &xrc->fake->cq.ib;
	srq->srqn = FIRST_SRQN + index;
	srq->log_size = LOG_SIZE;
	srq->log_stride = LOG_STRIDE;
	srq->max_sge = MAX_SGE;
	srq->entries = queue->entries;
	srq->outstanding = &queue->outstanding;
	srq->dbr.words = queue->dbr;
	spin_lock_init(&srq->lock);
	cxib_reference_init(&srq->reference);
	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&srq->buffer, xrc->fake->hca->bus.dev,
						    BIT(LOG_SIZE + LOG_STRIDE)));
	cxib_srq_link_wqes(srq);
	KUNIT_ASSERT_EQ(test, 0, xa_insert_irq(&xrc->fake->ibdev.srqs, srq->srqn, srq,
					       GFP_KERNEL));
	xrc->fake->cq.num_xrc_srqs++;
}

static struct fake_xrc *create_srqs(struct kunit *test)
{
	struct fake_xrc *xrc = kunit_kzalloc(test, sizeof(*xrc), GFP_KERNEL);
	struct cxib_qp *qp;

	KUNIT_ASSERT_NOT_NULL(test, xrc);
	xrc->fake = fake_queue_pair_create(test);
	qp = &xrc->fake->qp;
	qp->ib.qp_type = IB_QPT_XRC_TGT;
	qp->ib.send_cq = NULL;
	qp->ib.recv_cq = NULL;
	qp->has_sq = false;
	qp->has_rq = false;
	list_del_init(&qp->send_node);
	list_del_init(&qp->recv_node);
	xa_erase_irq(&xrc->fake->cq.queue_pairs, FAKE_QPN);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_buffers, xrc));
	init_srq(test, xrc, 0);
	init_srq(test, xrc, 1);
	return xrc;
}

static void post(struct kunit *test, struct fake_xrc *xrc, unsigned int index, u64 wr_id)
{
	struct ib_sge sge = { .addr = 0x1000, .length = 64, .lkey = 9 };
	struct ib_recv_wr wr = { .wr_id = wr_id, .num_sge = 1, .sg_list = &sge };
	const struct ib_recv_wr *bad;

	KUNIT_ASSERT_EQ(test, 0, cxib_post_srq_recv(&xrc->srqs[index].srq.ib, &wr, &bad));
}

static struct hw_cqe64 *complete_recv(struct fake_xrc *xrc, u32 srqn, u16 wqe_index)
{
	struct hw_cqe64 *entry = fake_completion(xrc->fake, HW_CQE_OPCODE_RESP_SEND);

	hw_cqe64_set_srqn(entry, srqn);
	hw_cqe64_set_wqe_counter(entry, wqe_index);
	return entry;
}

static int poll(struct fake_xrc *xrc, struct ib_wc *wc)
{
	return cxib_poll_cq(&xrc->fake->cq.ib, 1, wc);
}

static void poll_cq_xrc_recv_retires_wqe_of_srq(struct kunit *test)
{
	struct fake_xrc *xrc = create_srqs(test);
	struct ib_wc wc;

	post(test, xrc, 0, FIRST_ID);
	post(test, xrc, 1, SECOND_ID);
	hw_cqe64_set_byte_cnt(complete_recv(xrc, FIRST_SRQN + 1, 0), BYTES);
	hw_cqe64_set_byte_cnt(complete_recv(xrc, FIRST_SRQN, 0), BYTES + 1);
	KUNIT_ASSERT_EQ(test, 1, poll(xrc, &wc));
	KUNIT_EXPECT_EQ(test, SECOND_ID, wc.wr_id);
	KUNIT_EXPECT_EQ(test, BYTES, wc.byte_len);
	KUNIT_EXPECT_EQ(test, IB_WC_RECV, wc.opcode);
	KUNIT_EXPECT_PTR_EQ(test, &xrc->fake->qp.ib, wc.qp);
	KUNIT_ASSERT_EQ(test, 1, poll(xrc, &wc));
	KUNIT_EXPECT_EQ(test, FIRST_ID, wc.wr_id);
	KUNIT_EXPECT_EQ(test, 0, poll(xrc, &wc));
	KUNIT_EXPECT_EQ(test, 0, xrc->srqs[0].outstanding | xrc->srqs[1].outstanding);
}

static void poll_cq_xrc_error_retires_wqe_of_srq(struct kunit *test)
{
	struct fake_xrc *xrc = create_srqs(test);
	struct hw_cqe64 *entry;
	struct ib_wc wc;

	post(test, xrc, 0, FIRST_ID);
	entry = complete_recv(xrc, FIRST_SRQN, 0);
	hw_cqe64_set_opcode(entry, HW_CQE_OPCODE_RESP_ERR);
	hw_err_cqe_set_syndrome((struct hw_err_cqe *)entry, HW_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	KUNIT_ASSERT_EQ(test, 1, poll(xrc, &wc));
	KUNIT_EXPECT_EQ(test, FIRST_ID, wc.wr_id);
	KUNIT_EXPECT_EQ(test, IB_WC_LOC_LEN_ERR, wc.status);
}

static void expect_refused(struct kunit *test, struct fake_xrc *xrc)
{
	struct ib_wc wc;

	KUNIT_EXPECT_EQ(test, 0, poll(xrc, &wc));
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&xrc->fake->hw.health));
}

static void poll_cq_xrc_unknown_srqn_sets_fatal(struct kunit *test)
{
	struct fake_xrc *xrc = create_srqs(test);

	complete_recv(xrc, FIRST_SRQN + NUM_SRQS, 0);
	expect_refused(test, xrc);
}

static void poll_cq_xrc_unposted_wqe_sets_fatal(struct kunit *test)
{
	struct fake_xrc *xrc = create_srqs(test);

	post(test, xrc, 0, FIRST_ID);
	complete_recv(xrc, FIRST_SRQN + 1, 0);
	expect_refused(test, xrc);
}

static void poll_cq_xrc_srq_of_other_cq_sets_fatal(struct kunit *test)
{
	struct fake_xrc *xrc = create_srqs(test);
	struct cxib_cq *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, other);
	post(test, xrc, 0, FIRST_ID);
	xrc->srqs[0].srq.ib.ext.cq = &other->ib;
	complete_recv(xrc, FIRST_SRQN, 0);
	expect_refused(test, xrc);
}

static int create_and_destroy_srqs(void *data)
{
	struct fake_xrc *xrc = data;
	struct xarray *srqs = &xrc->fake->ibdev.srqs;
	const u32 number = FIRST_SRQN + NUM_SRQS;

	while (!kthread_should_stop()) {
		struct cxib_srq *srq = kzalloc(sizeof(*srq), GFP_KERNEL);

		if (!srq)
			continue;
		srq->is_user = true;
		cxib_reference_init(&srq->reference);
		if (!xa_insert_irq(srqs, number, srq, GFP_KERNEL))
			xa_erase_irq(srqs, number);
		cxib_reference_end(&srq->reference);
		kfree(srq);
		cond_resched();
	}
	return 0;
}

/* KASAN reports a use after free of the SRQ. */
static void poll_cq_xrc_destroyed_user_srq_is_refused(struct kunit *test)
{
	struct fake_xrc *xrc = create_srqs(test);
	struct task_struct *owner = kthread_run(create_and_destroy_srqs, xrc, "owner");
	struct ib_wc wc;
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(owner));
	for (i = 0; i < CORRUPT_CQES; i++) {
		complete_recv(xrc, FIRST_SRQN + NUM_SRQS, 0);
		KUNIT_EXPECT_EQ(test, 0, poll(xrc, &wc));
	}
	kthread_stop(owner);
}

static int poll_fn(void *data)
{
	struct fake_xrc *xrc = data;
	struct ib_wc wc;
	int polled = poll(xrc, &wc);

	while (!kthread_should_stop())
		cond_resched();
	return polled;
}

/*
 * Waits until the poller is between look-up and use. It needs the lock of the SRQ, which the caller
 * holds.
 */
static bool await_references(struct fake_xrc *xrc)
{
	const struct cxib_qp *qp = &xrc->fake->qp;
	const struct cxib_srq *srq = &xrc->srqs[0].srq;
	const ktime_t end = ktime_add_ms(ktime_get(), PATIENCE_MS);

	lockdep_assert_held(&srq->lock);

	while (refcount_read(&qp->reference.count) != 2 ||
	       refcount_read(&srq->reference.count) != 2) {
		if (ktime_after(ktime_get(), end))
			return false;
		cpu_relax();
	}
	return true;
}

/* The thread that destroys them does not take the lock of this CQ, but waits for the references. */
static void poll_cq_xrc_recv_holds_qp_and_srq(struct kunit *test)
{
	struct fake_xrc *xrc = create_srqs(test);
	struct task_struct *poller;
	bool is_held;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs a CPU for the poller");
	post(test, xrc, 0, 100);
	complete_recv(xrc, FIRST_SRQN, 0);
	migrate_disable();
	poller = kthread_create(poll_fn, xrc, "poller");
	if (!IS_ERR(poller)) {
		kthread_bind(poller, cpumask_any_but(cpu_online_mask, smp_processor_id()));
		spin_lock_irq(&xrc->srqs[0].srq.lock);
		wake_up_process(poller);
		is_held = await_references(xrc);
		spin_unlock_irq(&xrc->srqs[0].srq.lock);
	}
	migrate_enable();
	KUNIT_ASSERT_FALSE(test, IS_ERR(poller));
	KUNIT_EXPECT_TRUE(test, is_held);
	KUNIT_EXPECT_EQ(test, 1, kthread_stop(poller));
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&xrc->fake->qp.reference.count));
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&xrc->srqs[0].srq.reference.count));
}

static void poll_cq_xrc_user_srq_sets_fatal(struct kunit *test)
{
	struct fake_xrc *xrc = create_srqs(test);

	post(test, xrc, 0, FIRST_ID);
	xrc->srqs[0].srq.is_user = true;
	complete_recv(xrc, FIRST_SRQN, 0);
	expect_refused(test, xrc);
}

/* CQEs of an SRQ that is being destroyed are dropped. */
static void cq_clean_srq_removes_cqes_of_srq(struct kunit *test)
{
	struct fake_xrc *xrc = create_srqs(test);
	struct cxib_cq *cq = &xrc->fake->cq;
	struct ib_wc wc;

	post(test, xrc, 0, FIRST_ID);
	post(test, xrc, 0, FIRST_ID + 1);
	post(test, xrc, 1, SECOND_ID);
	post(test, xrc, 1, SECOND_ID + 1);
	complete_recv(xrc, FIRST_SRQN, 0);
	complete_recv(xrc, FIRST_SRQN + 1, 0);
	complete_recv(xrc, FIRST_SRQN, 1);
	complete_recv(xrc, FIRST_SRQN + 1, 1);
	cq->num_xrc_srqs_unpublished++;
	xa_erase_irq(&xrc->fake->ibdev.srqs, FIRST_SRQN);
	KUNIT_ASSERT_EQ(test, 1, poll(xrc, &wc));
	KUNIT_EXPECT_EQ(test, SECOND_ID, wc.wr_id);
	cxib_cq_clean_srq(cq, FIRST_SRQN);
	KUNIT_ASSERT_EQ(test, 1, poll(xrc, &wc));
	KUNIT_EXPECT_EQ(test, SECOND_ID + 1, wc.wr_id);
	KUNIT_EXPECT_EQ(test, 0, poll(xrc, &wc));
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&xrc->fake->hw.health));
	complete_recv(xrc, FIRST_SRQN, 2);
	expect_refused(test, xrc);
}

/* The WQEs of dropped CQEs return to the SRQ for other QPs. */
static void cq_clean_xrc_tgt_qp_retires_wqes(struct kunit *test)
{
	struct fake_xrc *xrc = create_srqs(test);
	struct ib_wc wc;

	post(test, xrc, 0, FIRST_ID);
	post(test, xrc, 1, SECOND_ID);
	complete_recv(xrc, FIRST_SRQN, 0);
	complete_recv(xrc, FIRST_SRQN + 1, 0);
	cxib_cq_clean(&xrc->fake->cq, &xrc->fake->qp);
	KUNIT_EXPECT_EQ(test, 0, poll(xrc, &wc));
	KUNIT_EXPECT_EQ(test, 0, xrc->srqs[0].outstanding | xrc->srqs[1].outstanding);
	KUNIT_EXPECT_EQ(test, 2, be32_to_cpu(xrc->fake->cq_record[0]));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(poll_cq_xrc_recv_retires_wqe_of_srq),
	KUNIT_CASE(poll_cq_xrc_error_retires_wqe_of_srq),
	KUNIT_CASE(poll_cq_xrc_unknown_srqn_sets_fatal),
	KUNIT_CASE(poll_cq_xrc_unposted_wqe_sets_fatal),
	KUNIT_CASE(poll_cq_xrc_srq_of_other_cq_sets_fatal),
	KUNIT_CASE(poll_cq_xrc_user_srq_sets_fatal),
	KUNIT_CASE(poll_cq_xrc_recv_holds_qp_and_srq),
	KUNIT_CASE_SLOW(poll_cq_xrc_destroyed_user_srq_is_refused),
	KUNIT_CASE(cq_clean_srq_removes_cqes_of_srq),
	KUNIT_CASE(cq_clean_xrc_tgt_qp_retires_wqes),
	{}
};

static struct kunit_suite suite = {
	.name = "xrc_receive",
	.test_cases = cases,
};

kunit_test_suite(suite);
