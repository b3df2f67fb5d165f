// SPDX-License-Identifier: GPL-2.0-only
/* Completions: taken in order, matched with requests, and refused when they cannot be. */
#include <linux/delay.h>
#include <linux/kthread.h>

#include "fake_queue_pair.h"
#include "verbs/cq/cq_poll.h"

/* Of races: as often they are tried. */
#define ROUNDS		2000
#define CORRUPT_CQES		20000
#define FOREIGN_QPN	0x42

/* A queue pair that is gone, but for its completions. */
static struct cxib_qp gone = { .qpn = 0x42 };

static struct fake_queue_pair *with_requests(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	fake_post_sq(test, fake, 4);
	fake_post_recvs(test, fake, 4);
	return fake;
}

static void finds_nothing_in_a_fresh_queue(struct kunit *test)
{
	struct fake_queue_pair *fake = with_requests(test);
	struct ib_wc wc;

	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fake->hw.health));
}

static void poll_cq_signaled_retires_unsignaled(struct kunit *test)
{
	struct fake_queue_pair *fake = with_requests(test);
	struct ib_wc wc[2];

	hw_cqe64_set_wqe_counter(fake_completion(fake, HW_CQE_OPCODE_REQ), 4);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 2, wc));
	KUNIT_EXPECT_EQ(test, 102, wc[0].wr_id);
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, wc[0].status);
	KUNIT_EXPECT_EQ(test, IB_WC_SEND, wc[0].opcode);
	KUNIT_EXPECT_PTR_EQ(test, &fake->qp.ib, wc[0].qp);
	KUNIT_EXPECT_EQ(test, 6, fake->qp.sq.cons_index);
	KUNIT_EXPECT_EQ(test, 1, be32_to_cpu(fake->cq_record[0]));
}

/* The other queue pair is one of general services, for which this one has another P_Key. */
static void a_send_for_another_queue_pair_is_reported_as_its(struct kunit *test)
{
	struct cxib_qp *service = kunit_kzalloc(test, sizeof(*service), GFP_KERNEL);
	struct fake_queue_pair *fake = with_requests(test);
	struct ib_wc wc[2];

	KUNIT_ASSERT_NOT_NULL(test, service);
	fake->qp.wc_qp = &service->ib;
	hw_cqe64_set_wqe_counter(fake_completion(fake, HW_CQE_OPCODE_REQ), 0);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, wc));
	KUNIT_EXPECT_PTR_EQ(test, &service->ib, wc[0].qp);
	KUNIT_EXPECT_EQ(test, 100, wc[0].wr_id);
}

static void a_receive_tells_what_has_arrived(struct kunit *test)
{
	struct fake_queue_pair *fake = with_requests(test);
	struct hw_cqe64 *entry = fake_completion(fake, HW_CQE_OPCODE_RESP_SEND_IMM);
	struct ib_wc wc;

	hw_cqe64_set_byte_cnt(entry, FAKE_RECEIVE_ROOM);
	hw_cqe64_set_rqpn(entry, 0xabcdef);
	hw_cqe64_set_slid(entry, 0x1234);
	hw_cqe64_set_sl(entry, 5);
	hw_cqe64_set_ml_path(entry, 0x83);
	hw_cqe64_set_grh(entry, HW_CQE_GRH_LOCATION_BUFFER);
	hw_cqe64_set_immediate(entry, 0x11223344);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_EQ(test, 200, wc.wr_id);
	KUNIT_EXPECT_EQ(test, IB_WC_RECV, wc.opcode);
	KUNIT_EXPECT_EQ(test, FAKE_RECEIVE_ROOM, wc.byte_len);
	KUNIT_EXPECT_EQ(test, 0xabcdef, wc.src_qp);
	KUNIT_EXPECT_EQ(test, 0x1234, wc.slid);
	KUNIT_EXPECT_EQ(test, 5, wc.sl);
	KUNIT_EXPECT_EQ(test, 3, wc.dlid_path_bits);
	KUNIT_EXPECT_EQ(test, IB_WC_GRH | IB_WC_WITH_IMM, wc.wc_flags);
	KUNIT_EXPECT_EQ(test, 0x11223344, be32_to_cpu(wc.ex.imm_data));
}

static void an_error_says_why(struct kunit *test)
{
	struct fake_queue_pair *fake = with_requests(test);
	struct hw_err_cqe *error = (void *)fake_completion(fake, HW_CQE_OPCODE_RESP_ERR);
	struct ib_wc wc;

	hw_err_cqe_set_syndrome(error, HW_CQE_SYNDROME_LOCAL_PROT_ERR);
	hw_err_cqe_set_vendor_err_synd(error, 0x77);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_EQ(test, IB_WC_LOC_PROT_ERR, wc.status);
	KUNIT_EXPECT_EQ(test, 0x77, wc.vendor_err);
	KUNIT_EXPECT_EQ(test, 200, wc.wr_id);
}

static void every_syndrome_has_a_status(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR,
			cxib_completion_status(HW_CQE_SYNDROME_WR_FLUSH_ERR));
	KUNIT_EXPECT_EQ(test, IB_WC_RETRY_EXC_ERR,
			cxib_completion_status(HW_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR));
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ABORT_ERR,
			cxib_completion_status(HW_CQE_SYNDROME_REMOTE_ABORTED_ERR));
	KUNIT_EXPECT_EQ(test, IB_WC_GENERAL_ERR, cxib_completion_status(0x99));
}

/* Entries of the pass before do not count. */
static void counts_what_waits(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_wc wc;
	unsigned int i;

	for (i = 0; i < 3 * BIT(FAKE_LOG_CQ); i++) {
		fake_post_recvs(test, fake, 2);
		KUNIT_ASSERT_EQ(test, 0, cxib_peek_cq(&fake->cq.ib, 9));
		fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
		fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
		KUNIT_EXPECT_EQ(test, 2, cxib_peek_cq(&fake->cq.ib, 9));
		KUNIT_EXPECT_EQ(test, 1, cxib_peek_cq(&fake->cq.ib, 1));
		KUNIT_EXPECT_EQ(test, 0, cxib_peek_cq(&fake->cq.ib, 0));
		KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
		KUNIT_EXPECT_EQ(test, 1, cxib_peek_cq(&fake->cq.ib, 9));
		KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	}
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_peek_cq(&fake->cq.ib, -1));
}

static void a_full_ring_is_counted_once(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	unsigned int i;

	for (i = 0; i < BIT(FAKE_LOG_CQ); i++)
		fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
	KUNIT_EXPECT_EQ(test, BIT(FAKE_LOG_CQ), cxib_peek_cq(&fake->cq.ib, INT_MAX));
}

static void goes_on_behind_the_end_of_the_ring(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_wc wc;
	unsigned int i;

	for (i = 0; i < 5 * BIT(FAKE_LOG_CQ); i++) {
		fake_post_recvs(test, fake, 1);
		KUNIT_ASSERT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, 1, &wc));
		fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
		KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
		KUNIT_ASSERT_EQ(test, 200, wc.wr_id);
	}
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fake->hw.health));
}

static void expect_refused(struct kunit *test, struct fake_queue_pair *fake)
{
	struct ib_wc wc[8];

	/* Nothing is flushed as long as the device can access memory. */
	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, 8, wc));
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fake->hw.health));
	KUNIT_EXPECT_EQ(test, 1, be32_to_cpu(fake->cq_record[0]));
}

static void refuses_a_completion_for_a_queue_pair_that_there_is_not(struct kunit *test)
{
	struct fake_queue_pair *fake = with_requests(test);

	hw_cqe64_set_qpn(fake_completion(fake, HW_CQE_OPCODE_REQ), 0x42);
	expect_refused(test, fake);
}

static void poll_cq_unposted_wqe_sets_fatal(struct kunit *test)
{
	struct fake_queue_pair *fake = with_requests(test);

	hw_cqe64_set_wqe_counter(fake_completion(fake, HW_CQE_OPCODE_REQ), 8);
	expect_refused(test, fake);
}

static void refuses_a_completion_in_the_middle_of_a_request(struct kunit *test)
{
	struct fake_queue_pair *fake = with_requests(test);

	hw_cqe64_set_wqe_counter(fake_completion(fake, HW_CQE_OPCODE_REQ), 3);
	expect_refused(test, fake);
}

static void refuses_a_receive_when_none_is_outstanding(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
	expect_refused(test, fake);
}

/* The request completes all the same, and nobody reads behind its memory. */
static void a_message_longer_than_its_request_fails(struct kunit *test)
{
	struct fake_queue_pair *fake = with_requests(test);
	struct hw_cqe64 *entry = fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
	struct ib_wc wc[2];

	hw_cqe64_set_byte_cnt(entry, FAKE_RECEIVE_ROOM + 1);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 2, wc));
	KUNIT_EXPECT_EQ(test, 200, wc[0].wr_id);
	KUNIT_EXPECT_EQ(test, IB_WC_LOC_LEN_ERR, wc[0].status);
	KUNIT_EXPECT_EQ(test, 0, wc[0].byte_len);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fake->hw.health));
}

/* Its bytes are where the other end has said. */
static void a_write_may_be_longer_than_the_request_that_it_ends(struct kunit *test)
{
	struct fake_queue_pair *fake = with_requests(test);
	struct hw_cqe64 *entry = fake_completion(fake, HW_CQE_OPCODE_RESP_WR_IMM);
	struct ib_wc wc;

	hw_cqe64_set_byte_cnt(entry, 2 * FAKE_RECEIVE_ROOM);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, wc.status);
	KUNIT_EXPECT_EQ(test, 2 * FAKE_RECEIVE_ROOM, wc.byte_len);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fake->hw.health));
}

static void refuses_an_entry_of_an_unknown_kind(struct kunit *test)
{
	struct fake_queue_pair *fake = with_requests(test);

	fake_completion(fake, 9);
	expect_refused(test, fake);
}

static void flushes_all_requests_of_a_device_that_is_quiet(struct kunit *test)
{
	struct fake_queue_pair *fake = with_requests(test);
	struct ib_wc wc[16];
	unsigned int i;

	fake->hw.state = true;
	KUNIT_ASSERT_EQ(test, 8, cxib_poll_cq(&fake->cq.ib, 16, wc));
	for (i = 0; i < 8; i++) {
		KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, wc[i].status);
		KUNIT_EXPECT_EQ(test, i < 4 ? 100 + i : 200 + i - 4, wc[i].wr_id);
	}
	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, 16, wc));
}

static void expect_datagrams_fail_later(struct kunit *test, struct fake_queue_pair *fake)
{
	struct ib_wc wc[16];
	unsigned int i;

	fake->hw.state = true;
	KUNIT_ASSERT_EQ(test, 4, cxib_poll_cq(&fake->cq.ib, 16, wc));
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, wc[i].status);
	fake->cq.is_armed = true;
	KUNIT_EXPECT_FALSE(test, cxib_cq_event_due(&fake->cq));

	cxib_cq_flush_mads(&fake->cq);
	KUNIT_EXPECT_TRUE(test, cxib_cq_event_due(&fake->cq));
	KUNIT_ASSERT_EQ(test, 4, cxib_poll_cq(&fake->cq.ib, 16, wc));
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, IB_WC_FATAL_ERR, wc[i].status);
		KUNIT_EXPECT_EQ(test, 100 + i, wc[i].wr_id);
	}
}

/**
 * struct race - a device that writes a last completion and dies, and somebody who polls
 * @fake: the queues
 * @wc: what was polled last
 * @polled: completions that were polled
 * @calls: of cxib_poll_cq() that have returned
 */
struct race {
	struct fake_queue_pair *fake;
	struct ib_wc wc;
	atomic_t polled;
	atomic_t calls;
};

static int poll_all_the_time(void *data)
{
	struct race *race = data;

	while (!kthread_should_stop()) {
		if (cxib_poll_cq(&race->fake->cq.ib, 1, &race->wc))
			atomic_inc_return_release(&race->polled);
		atomic_inc_return_release(&race->calls);
		cond_resched();
	}
	return 0;
}

/* As the device does: who sees the owner bit sees all of the entry. */
static void complete_receive(struct fake_queue_pair *fake)
{
	const u32 index = fake->written++;
	struct hw_cqe64 *place = cxib_cq_cqe(&fake->cq, index);
	const size_t last = ARRAY_SIZE(place->dw) - 1;
	struct hw_cqe64 entry = {};

	hw_cqe64_set_qpn(&entry, FAKE_QPN);
	hw_cqe64_set_opcode(&entry, HW_CQE_OPCODE_RESP_SEND);
	hw_cqe64_set_owner(&entry, index >> fake->cq.log_size & 1);
	memcpy(place, &entry, last * sizeof(entry.dw[0]));
	/* Pairs with the barrier of the poller behind the owner bit. */
	smp_store_release(&place->dw[last], entry.dw[last]);
}

/* A call that has found the device dead must not meet what is posted in the next round. */
static void revive(struct race *race)
{
	int calls;

	WRITE_ONCE(race->fake->hw.state, false);
	calls = atomic_read(&race->calls);
	while (atomic_read_acquire(&race->calls) < calls + 2)
		cond_resched();
}

static void poll_cq_completion_before_death_is_not_flushed(struct kunit *test)
{
	struct race race = { .fake = fake_queue_pair_create(test) };
	struct fake_queue_pair *fake = race.fake;
	struct task_struct *poller = kthread_run(poll_all_the_time, &race, "poller");
	int round;

	KUNIT_ASSERT_FALSE(test, IS_ERR(poller));
	for (round = 0; round < ROUNDS && race.wc.status == IB_WC_SUCCESS; round++) {
		fake_post_recvs(test, fake, 1);
		udelay(round % 16);
		complete_receive(fake);
		/* Pairs with cxib_hw_is_dma_off(). */
		smp_store_release(&fake->hw.state, true);
		while (atomic_read_acquire(&race.polled) == round)
			cond_resched();
		revive(&race);
	}
	kthread_stop(poller);
	KUNIT_EXPECT_EQ_MSG(test, IB_WC_SUCCESS, race.wc.status, "round %d", round);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fake->hw.health));
}

static int make_and_end_queue_pairs(void *data)
{
	struct fake_queue_pair *fake = data;
	struct xarray *queue_pairs = &fake->ibdev.qps;

	while (!kthread_should_stop()) {
		struct cxib_qp *qp = kzalloc(sizeof(*qp), GFP_KERNEL);

		if (!qp)
			continue;
		cxib_reference_init(&qp->reference);
		if (!xa_insert_irq(queue_pairs, FOREIGN_QPN, qp, GFP_KERNEL))
			xa_erase_irq(queue_pairs, FOREIGN_QPN);
		cxib_reference_end(&qp->reference);
		kfree(qp);
		cond_resched();
	}
	return 0;
}

/* KASAN sees who uses a queue pair that has ended; it reports to another completion queue. */
static void poll_cq_completion_of_foreign_ending_qp_is_refused(struct kunit *test)
{
	const enum hw_cqe_opcode opcodes[] = { HW_CQE_OPCODE_REQ, HW_CQE_OPCODE_RESP_SEND };
	struct fake_queue_pair *fake = with_requests(test);
	struct task_struct *owner = kthread_run(make_and_end_queue_pairs, fake, "owner");
	struct ib_wc wc;
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(owner));
	for (i = 0; i < CORRUPT_CQES; i++) {
		hw_cqe64_set_qpn(fake_completion(fake, opcodes[i % 2]), FOREIGN_QPN);
		KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	}
	kthread_stop(owner);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fake->hw.health));
}

/* ib_cm would say nothing about a flush error, and who waits for an event would do so for ever. */
static void fails_management_datagrams_of_a_device_that_is_quiet(struct kunit *test)
{
	struct fake_queue_pair *fake = with_requests(test);

	fake->qp.ib.qp_type = IB_QPT_GSI;
	expect_datagrams_fail_later(test, fake);
}

static void fails_datagrams_of_further_partitions_too(struct kunit *test)
{
	struct cxib_qp *service = kunit_kzalloc(test, sizeof(*service), GFP_KERNEL);
	struct fake_queue_pair *fake = with_requests(test);

	KUNIT_ASSERT_NOT_NULL(test, service);
	fake->qp.ib.qp_type = IB_QPT_UD;
	fake->qp.wc_qp = &service->ib;
	expect_datagrams_fail_later(test, fake);
}

static void dma_off_cq_event_once_per_arm(struct kunit *test)
{
	struct fake_queue_pair *fake = with_requests(test);
	struct ib_wc wc[16];

	fake->hw.state = true;
	KUNIT_EXPECT_FALSE(test, cxib_cq_event_due(&fake->cq));
	fake->cq.is_armed = true;
	KUNIT_EXPECT_TRUE(test, cxib_cq_event_due(&fake->cq));
	KUNIT_EXPECT_FALSE(test, cxib_cq_event_due(&fake->cq));
	KUNIT_ASSERT_EQ(test, 8, cxib_poll_cq(&fake->cq.ib, 16, wc));
	fake->cq.is_armed = true;
	KUNIT_EXPECT_FALSE(test, cxib_cq_event_due(&fake->cq));
	fake_post_recvs(test, fake, 1);
	KUNIT_EXPECT_TRUE(test, cxib_cq_event_due(&fake->cq));
}

static void forgets_the_completions_of_one_queue_pair_only(struct kunit *test)
{
	struct fake_queue_pair *fake = with_requests(test);
	struct ib_wc wc[8];

	hw_cqe64_set_qpn(fake_completion(fake, HW_CQE_OPCODE_RESP_SEND), 0x42);
	hw_cqe64_set_byte_cnt(fake_completion(fake, HW_CQE_OPCODE_RESP_SEND), 1);
	hw_cqe64_set_qpn(fake_completion(fake, HW_CQE_OPCODE_RESP_SEND), 0x42);
	hw_cqe64_set_byte_cnt(fake_completion(fake, HW_CQE_OPCODE_RESP_SEND), 2);
	cxib_cq_clean(&fake->cq, &gone);
	KUNIT_EXPECT_EQ(test, 2, be32_to_cpu(fake->cq_record[0]));
	KUNIT_ASSERT_EQ(test, 2, cxib_poll_cq(&fake->cq.ib, 8, wc));
	KUNIT_EXPECT_EQ(test, 1, wc[0].byte_len);
	KUNIT_EXPECT_EQ(test, 2, wc[1].byte_len);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fake->hw.health));
}

static void forgets_across_the_end_of_the_ring(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_wc wc[8];
	unsigned int i;

	for (i = 0; i < 6; i++) {
		fake_post_recvs(test, fake, 1);
		fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
		KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, wc));
	}
	fake_post_recvs(test, fake, 2);
	hw_cqe64_set_byte_cnt(fake_completion(fake, HW_CQE_OPCODE_RESP_SEND), 1);
	hw_cqe64_set_qpn(fake_completion(fake, HW_CQE_OPCODE_RESP_SEND), 0x42);
	hw_cqe64_set_byte_cnt(fake_completion(fake, HW_CQE_OPCODE_RESP_SEND), 2);
	cxib_cq_clean(&fake->cq, &gone);
	KUNIT_ASSERT_EQ(test, 2, cxib_poll_cq(&fake->cq.ib, 8, wc));
	KUNIT_EXPECT_EQ(test, 1, wc[0].byte_len);
	KUNIT_EXPECT_EQ(test, 2, wc[1].byte_len);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(finds_nothing_in_a_fresh_queue),
	KUNIT_CASE(poll_cq_signaled_retires_unsignaled),
	KUNIT_CASE(a_send_for_another_queue_pair_is_reported_as_its),
	KUNIT_CASE(a_receive_tells_what_has_arrived),
	KUNIT_CASE(an_error_says_why),
	KUNIT_CASE(every_syndrome_has_a_status),
	KUNIT_CASE(counts_what_waits),
	KUNIT_CASE(a_full_ring_is_counted_once),
	KUNIT_CASE(goes_on_behind_the_end_of_the_ring),
	KUNIT_CASE(refuses_a_completion_for_a_queue_pair_that_there_is_not),
	KUNIT_CASE(poll_cq_unposted_wqe_sets_fatal),
	KUNIT_CASE(refuses_a_completion_in_the_middle_of_a_request),
	KUNIT_CASE(refuses_a_receive_when_none_is_outstanding),
	KUNIT_CASE(a_message_longer_than_its_request_fails),
	KUNIT_CASE(a_write_may_be_longer_than_the_request_that_it_ends),
	KUNIT_CASE(refuses_an_entry_of_an_unknown_kind),
	KUNIT_CASE(flushes_all_requests_of_a_device_that_is_quiet),
	KUNIT_CASE_SLOW(poll_cq_completion_before_death_is_not_flushed),
	KUNIT_CASE_SLOW(poll_cq_completion_of_foreign_ending_qp_is_refused),
	KUNIT_CASE(fails_management_datagrams_of_a_device_that_is_quiet),
	KUNIT_CASE(fails_datagrams_of_further_partitions_too),
	KUNIT_CASE(dma_off_cq_event_once_per_arm),
	KUNIT_CASE(forgets_the_completions_of_one_queue_pair_only),
	KUNIT_CASE(forgets_across_the_end_of_the_ring),
	{}
};

static struct kunit_suite suite = {
	.name = "cq_poll",
	.test_cases = cases,
};

kunit_test_suite(suite);
