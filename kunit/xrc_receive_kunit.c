// SPDX-License-Identifier: GPL-2.0-only
/* What receiving XRC queue pairs get: each message is for the shared receive queue named in it. */
#include <linux/kthread.h>

#include "fake_queue_pair.h"
#include "hw/work_queue.h"
#include "verbs/cq/cq_poll.h"
#include "verbs/srq/srq.h"

#define LOG_SIZE	2
#define FIRST_SRQN	0x777
#define QUEUES		2
#define CORRUPT_CQES		20000

struct fake_xrc_queue {
	struct cxib_srq srq;
	__be32 dbr[2];
	struct cxib_rq_entry entries[BIT(LOG_SIZE)];
	unsigned long outstanding;
};

struct fake_xrc {
	struct fake_queue_pair *fake;
	struct fake_xrc_queue queues[QUEUES];
};

static void free_buffers(void *data)
{
	struct fake_xrc *xrc = data;
	int i;

	for (i = 0; i < QUEUES; i++)
		cxib_buffer_destroy(&xrc->queues[i].srq.buffer, xrc->fake->hca->bus.dev);
}

static void make_queue(struct kunit *test, struct fake_xrc *xrc, unsigned int index)
{
	struct fake_xrc_queue *queue = &xrc->queues[index];
	struct cxib_srq *srq = &queue->srq;

	srq->ib.device = &xrc->fake->ibdev.ib;
	srq->ib.srq_type = IB_SRQT_XRC;
	srq->ib.ext.cq = &xrc->fake->cq.ib;
	srq->srqn = FIRST_SRQN + index;
	srq->log_size = LOG_SIZE;
	srq->log_stride = 6;
	srq->max_sge = 3;
	srq->entries = queue->entries;
	srq->outstanding = &queue->outstanding;
	srq->dbr.words = queue->dbr;
	spin_lock_init(&srq->lock);
	cxib_reference_init(&srq->reference);
	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&srq->buffer, xrc->fake->hca->bus.dev,
						    BIT(LOG_SIZE + 6)));
	cxib_srq_link_wqes(srq);
	KUNIT_ASSERT_EQ(test, 0, xa_insert_irq(&xrc->fake->ibdev.srqs, srq->srqn, srq,
					       GFP_KERNEL));
	xrc->fake->cq.shared_queues++;
}

static struct fake_xrc *make_queues(struct kunit *test)
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
	make_queue(test, xrc, 0);
	make_queue(test, xrc, 1);
	return xrc;
}

static void post(struct kunit *test, struct fake_xrc *xrc, unsigned int index, u64 wr_id)
{
	struct ib_sge sge = { .addr = 0x1000, .length = 64, .lkey = 9 };
	struct ib_recv_wr wr = { .wr_id = wr_id, .num_sge = 1, .sg_list = &sge };
	const struct ib_recv_wr *bad;

	KUNIT_ASSERT_EQ(test, 0, cxib_post_srq_recv(&xrc->queues[index].srq.ib, &wr, &bad));
}

static struct hw_cqe64 *arrive(struct fake_xrc *xrc, u32 srqn, u16 request)
{
	struct hw_cqe64 *entry = fake_completion(xrc->fake, HW_CQE_OPCODE_RESP_SEND);

	hw_cqe64_set_srqn(entry, srqn);
	hw_cqe64_set_wqe_counter(entry, request);
	return entry;
}

static int poll(struct fake_xrc *xrc, struct ib_wc *wc)
{
	return cxib_poll_cq(&xrc->fake->cq.ib, 1, wc);
}

static void a_message_finds_its_queue(struct kunit *test)
{
	struct fake_xrc *xrc = make_queues(test);
	struct ib_wc wc;

	post(test, xrc, 0, 100);
	post(test, xrc, 1, 200);
	hw_cqe64_set_byte_cnt(arrive(xrc, FIRST_SRQN + 1, 0), 5);
	hw_cqe64_set_byte_cnt(arrive(xrc, FIRST_SRQN, 0), 6);
	KUNIT_ASSERT_EQ(test, 1, poll(xrc, &wc));
	KUNIT_EXPECT_EQ(test, 200, wc.wr_id);
	KUNIT_EXPECT_EQ(test, 5, wc.byte_len);
	KUNIT_EXPECT_EQ(test, IB_WC_RECV, wc.opcode);
	KUNIT_EXPECT_PTR_EQ(test, &xrc->fake->qp.ib, wc.qp);
	KUNIT_ASSERT_EQ(test, 1, poll(xrc, &wc));
	KUNIT_EXPECT_EQ(test, 100, wc.wr_id);
	KUNIT_EXPECT_EQ(test, 0, poll(xrc, &wc));
	KUNIT_EXPECT_EQ(test, 0, xrc->queues[0].outstanding | xrc->queues[1].outstanding);
}

static void an_error_finds_its_queue(struct kunit *test)
{
	struct fake_xrc *xrc = make_queues(test);
	struct hw_cqe64 *entry;
	struct ib_wc wc;

	post(test, xrc, 0, 100);
	entry = arrive(xrc, FIRST_SRQN, 0);
	hw_cqe64_set_opcode(entry, HW_CQE_OPCODE_RESP_ERR);
	hw_err_cqe_set_syndrome((struct hw_err_cqe *)entry, HW_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	KUNIT_ASSERT_EQ(test, 1, poll(xrc, &wc));
	KUNIT_EXPECT_EQ(test, 100, wc.wr_id);
	KUNIT_EXPECT_EQ(test, IB_WC_LOC_LEN_ERR, wc.status);
}

static void expect_refused(struct kunit *test, struct fake_xrc *xrc)
{
	struct ib_wc wc;

	KUNIT_EXPECT_EQ(test, 0, poll(xrc, &wc));
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&xrc->fake->hw.health));
}

static void a_queue_that_is_not_there_breaks_the_device(struct kunit *test)
{
	struct fake_xrc *xrc = make_queues(test);

	arrive(xrc, FIRST_SRQN + QUEUES, 0);
	expect_refused(test, xrc);
}

static void a_request_that_is_not_posted_breaks_the_device(struct kunit *test)
{
	struct fake_xrc *xrc = make_queues(test);

	post(test, xrc, 0, 100);
	arrive(xrc, FIRST_SRQN + 1, 0);
	expect_refused(test, xrc);
}

static void a_queue_that_reports_elsewhere_breaks_the_device(struct kunit *test)
{
	struct fake_xrc *xrc = make_queues(test);
	struct cxib_cq *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, other);
	post(test, xrc, 0, 100);
	xrc->queues[0].srq.ib.ext.cq = &other->ib;
	arrive(xrc, FIRST_SRQN, 0);
	expect_refused(test, xrc);
}

static int make_and_end_queues(void *data)
{
	struct fake_xrc *xrc = data;
	struct xarray *queues = &xrc->fake->ibdev.srqs;
	const u32 number = FIRST_SRQN + QUEUES;

	while (!kthread_should_stop()) {
		struct cxib_srq *srq = kzalloc(sizeof(*srq), GFP_KERNEL);

		if (!srq)
			continue;
		srq->is_user = true;
		cxib_reference_init(&srq->reference);
		if (!xa_insert_irq(queues, number, srq, GFP_KERNEL))
			xa_erase_irq(queues, number);
		cxib_reference_end(&srq->reference);
		kfree(srq);
		cond_resched();
	}
	return 0;
}

/* KASAN sees who uses a queue that has ended. */
static void xrc_completion_of_foreign_ending_srq_is_refused(struct kunit *test)
{
	struct fake_xrc *xrc = make_queues(test);
	struct task_struct *owner = kthread_run(make_and_end_queues, xrc, "owner");
	struct ib_wc wc;
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(owner));
	for (i = 0; i < CORRUPT_CQES; i++) {
		arrive(xrc, FIRST_SRQN + QUEUES, 0);
		KUNIT_EXPECT_EQ(test, 0, poll(xrc, &wc));
	}
	kthread_stop(owner);
}

static void a_queue_of_a_program_breaks_the_device(struct kunit *test)
{
	struct fake_xrc *xrc = make_queues(test);

	post(test, xrc, 0, 100);
	xrc->queues[0].srq.is_user = true;
	arrive(xrc, FIRST_SRQN, 0);
	expect_refused(test, xrc);
}

/* Between its withdrawal and its end its completions are nobody's. */
static void a_queue_goes_with_its_completions(struct kunit *test)
{
	struct fake_xrc *xrc = make_queues(test);
	struct cxib_cq *cq = &xrc->fake->cq;
	struct ib_wc wc;

	post(test, xrc, 0, 100);
	post(test, xrc, 0, 101);
	post(test, xrc, 1, 200);
	post(test, xrc, 1, 201);
	arrive(xrc, FIRST_SRQN, 0);
	arrive(xrc, FIRST_SRQN + 1, 0);
	arrive(xrc, FIRST_SRQN, 1);
	arrive(xrc, FIRST_SRQN + 1, 1);
	cq->shared_queues_going++;
	xa_erase_irq(&xrc->fake->ibdev.srqs, FIRST_SRQN);
	KUNIT_ASSERT_EQ(test, 1, poll(xrc, &wc));
	KUNIT_EXPECT_EQ(test, 200, wc.wr_id);
	cxib_cq_clean_srq(cq, FIRST_SRQN);
	KUNIT_ASSERT_EQ(test, 1, poll(xrc, &wc));
	KUNIT_EXPECT_EQ(test, 201, wc.wr_id);
	KUNIT_EXPECT_EQ(test, 0, poll(xrc, &wc));
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&xrc->fake->hw.health));
	arrive(xrc, FIRST_SRQN, 2);
	expect_refused(test, xrc);
}

/* Other queue pairs can use the requests that nobody will poll. */
static void a_queue_pair_goes_with_its_completions(struct kunit *test)
{
	struct fake_xrc *xrc = make_queues(test);
	struct ib_wc wc;

	post(test, xrc, 0, 100);
	post(test, xrc, 1, 200);
	arrive(xrc, FIRST_SRQN, 0);
	arrive(xrc, FIRST_SRQN + 1, 0);
	cxib_cq_clean(&xrc->fake->cq, &xrc->fake->qp);
	KUNIT_EXPECT_EQ(test, 0, poll(xrc, &wc));
	KUNIT_EXPECT_EQ(test, 0, xrc->queues[0].outstanding | xrc->queues[1].outstanding);
	KUNIT_EXPECT_EQ(test, 2, be32_to_cpu(xrc->fake->cq_record[0]));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_message_finds_its_queue),
	KUNIT_CASE(an_error_finds_its_queue),
	KUNIT_CASE(a_queue_that_is_not_there_breaks_the_device),
	KUNIT_CASE(a_request_that_is_not_posted_breaks_the_device),
	KUNIT_CASE(a_queue_that_reports_elsewhere_breaks_the_device),
	KUNIT_CASE(a_queue_of_a_program_breaks_the_device),
	KUNIT_CASE_SLOW(xrc_completion_of_foreign_ending_srq_is_refused),
	KUNIT_CASE(a_queue_goes_with_its_completions),
	KUNIT_CASE(a_queue_pair_goes_with_its_completions),
	{}
};

static struct kunit_suite suite = {
	.name = "xrc_receive",
	.test_cases = cases,
};

kunit_test_suite(suite);
