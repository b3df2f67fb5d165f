// SPDX-License-Identifier: GPL-2.0-only
/* Polling: CQEs are consumed in order and matched with WQEs; a CQE without a WQE is fatal. */
#include <linux/delay.h>
#include <linux/kthread.h>

#include "fake_queue_pair.h"
#include "verbs/cq/cq_poll.h"

/* Iterations of race tests. */
#define ROUNDS		2000
#define CORRUPT_CQES	20000
#define FOREIGN_QPN	0x42
#define WRS_MAX		64

/* WRs that with_wqes() posts to each of the SQ and the RQ. */
#define POSTED		4

/* A destroyed QP that has CQEs in the ring. */
static struct cxib_qp destroyed_qp = { .qpn = FOREIGN_QPN };

static struct fake_queue_pair *with_wqes(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	fake_post_sq(test, fake, POSTED);
	fake_post_recvs(test, fake, POSTED);
	return fake;
}

static void poll_cq_empty_returns_0(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);
	struct ib_wc wc;

	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fake->hw.health));
}

/* The CQE is of the third send; those before it are complete, too. */
static void poll_cq_signaled_retires_unsignaled(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);
	struct ib_wc wc[2];

	hw_cqe64_set_wqe_counter(fake_completion(fake, HW_CQE_OPCODE_REQ),
				 2 * FAKE_SEND_WQEBBS);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 2, wc));
	KUNIT_EXPECT_EQ(test, FAKE_SEND_ID + 2, wc[0].wr_id);
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, wc[0].status);
	KUNIT_EXPECT_EQ(test, IB_WC_SEND, wc[0].opcode);
	KUNIT_EXPECT_PTR_EQ(test, &fake->qp.ib, wc[0].qp);
	KUNIT_EXPECT_EQ(test, 3 * FAKE_SEND_WQEBBS, fake->qp.sq.cons_index);
	KUNIT_EXPECT_EQ(test, 1, be32_to_cpu(fake->cq_record[0]));
}

/* The QP is a GSI send QP for another P_Key. */
static void poll_cq_gsi_tx_send_reports_gsi_qp(struct kunit *test)
{
	struct cxib_qp *gsi = kunit_kzalloc(test, sizeof(*gsi), GFP_KERNEL);
	struct fake_queue_pair *fake = with_wqes(test);
	struct ib_wc wc[2];

	KUNIT_ASSERT_NOT_NULL(test, gsi);
	fake->qp.wc_qp = &gsi->ib;
	hw_cqe64_set_wqe_counter(fake_completion(fake, HW_CQE_OPCODE_REQ), 0);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, wc));
	KUNIT_EXPECT_PTR_EQ(test, &gsi->ib, wc[0].qp);
	KUNIT_EXPECT_EQ(test, FAKE_SEND_ID, wc[0].wr_id);
}

/* Bit 7 of ml_path is not one of the path bits of the DLID, of which there are 7 (LMC). */
static void poll_cq_recv_fills_wc(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);
	struct hw_cqe64 *entry = fake_completion(fake, HW_CQE_OPCODE_RESP_SEND_IMM);
	const u32 src_qp = 0xabcdef, immediate = 0x11223344;
	const u8 sl = 5, path_bits = 3;
	const u16 slid = 0x1234;
	struct ib_wc wc;

	hw_cqe64_set_byte_cnt(entry, FAKE_RECV_SIZE);
	hw_cqe64_set_rqpn(entry, src_qp);
	hw_cqe64_set_slid(entry, slid);
	hw_cqe64_set_sl(entry, sl);
	hw_cqe64_set_ml_path(entry, BIT(7) | path_bits);
	hw_cqe64_set_grh(entry, HW_CQE_GRH_LOCATION_BUFFER);
	hw_cqe64_set_immediate(entry, immediate);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_EQ(test, FAKE_RECV_ID, wc.wr_id);
	KUNIT_EXPECT_EQ(test, IB_WC_RECV, wc.opcode);
	KUNIT_EXPECT_EQ(test, FAKE_RECV_SIZE, wc.byte_len);
	KUNIT_EXPECT_EQ(test, src_qp, wc.src_qp);
	KUNIT_EXPECT_EQ(test, slid, wc.slid);
	KUNIT_EXPECT_EQ(test, sl, wc.sl);
	KUNIT_EXPECT_EQ(test, path_bits, wc.dlid_path_bits);
	KUNIT_EXPECT_EQ(test, IB_WC_GRH | IB_WC_WITH_IMM, wc.wc_flags);
	KUNIT_EXPECT_EQ(test, immediate, be32_to_cpu(wc.ex.imm_data));
}

static void poll_cq_error_cqe_reports_syndrome(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);
	struct hw_err_cqe *error = (void *)fake_completion(fake, HW_CQE_OPCODE_RESP_ERR);
	const u8 vendor = 0x77;
	struct ib_wc wc;

	hw_err_cqe_set_syndrome(error, HW_CQE_SYNDROME_LOCAL_PROT_ERR);
	hw_err_cqe_set_vendor_err_synd(error, vendor);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_EQ(test, IB_WC_LOC_PROT_ERR, wc.status);
	KUNIT_EXPECT_EQ(test, vendor, wc.vendor_err);
	KUNIT_EXPECT_EQ(test, FAKE_RECV_ID, wc.wr_id);
}

/* 0x99 is no syndrome of mlx5_ifc.h. */
static void cqe_syndrome_maps_to_wc_status(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR,
			cxib_completion_status(HW_CQE_SYNDROME_WR_FLUSH_ERR));
	KUNIT_EXPECT_EQ(test, IB_WC_RETRY_EXC_ERR,
			cxib_completion_status(HW_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR));
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ABORT_ERR,
			cxib_completion_status(HW_CQE_SYNDROME_REMOTE_ABORTED_ERR));
	KUNIT_EXPECT_EQ(test, IB_WC_GENERAL_ERR, cxib_completion_status(0x99));
}

/* CQEs of the previous pass through the ring are not counted. */
static void peek_cq_counts_unpolled_cqes(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_wc wc;
	unsigned int i;

	for (i = 0; i < 3 * BIT(FAKE_LOG_CQ); i++) {
		fake_post_recvs(test, fake, 2);
		KUNIT_ASSERT_EQ(test, 0, cxib_peek_cq(&fake->cq.ib, INT_MAX));
		fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
		fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
		KUNIT_EXPECT_EQ(test, 2, cxib_peek_cq(&fake->cq.ib, INT_MAX));
		KUNIT_EXPECT_EQ(test, 1, cxib_peek_cq(&fake->cq.ib, 1));
		KUNIT_EXPECT_EQ(test, 0, cxib_peek_cq(&fake->cq.ib, 0));
		KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
		KUNIT_EXPECT_EQ(test, 1, cxib_peek_cq(&fake->cq.ib, INT_MAX));
		KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	}
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_peek_cq(&fake->cq.ib, -1));
}

static void peek_cq_full_ring_returns_ring_size(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	unsigned int i;

	for (i = 0; i < BIT(FAKE_LOG_CQ); i++)
		fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
	KUNIT_EXPECT_EQ(test, BIT(FAKE_LOG_CQ), cxib_peek_cq(&fake->cq.ib, INT_MAX));
}

static void poll_cq_ring_wraparound_continues(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_wc wc;
	unsigned int i;

	for (i = 0; i < 5 * BIT(FAKE_LOG_CQ); i++) {
		fake_post_recvs(test, fake, 1);
		KUNIT_ASSERT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, 1, &wc));
		fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
		KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
		KUNIT_ASSERT_EQ(test, FAKE_RECV_ID, wc.wr_id);
	}
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fake->hw.health));
}

static void expect_refused(struct kunit *test, struct fake_queue_pair *fake)
{
	struct ib_wc wc[8];

	/* WRs are flushed only after DMA is off. */
	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, ARRAY_SIZE(wc), wc));
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fake->hw.health));
	KUNIT_EXPECT_EQ(test, 1, be32_to_cpu(fake->cq_record[0]));
}

static void poll_cq_unknown_qpn_sets_fatal(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);

	hw_cqe64_set_qpn(fake_completion(fake, HW_CQE_OPCODE_REQ), FOREIGN_QPN);
	expect_refused(test, fake);
}

static void poll_cq_unposted_wqe_sets_fatal(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);

	hw_cqe64_set_wqe_counter(fake_completion(fake, HW_CQE_OPCODE_REQ),
				 POSTED * FAKE_SEND_WQEBBS);
	expect_refused(test, fake);
}

static void poll_cq_mid_wqe_counter_sets_fatal(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);

	hw_cqe64_set_wqe_counter(fake_completion(fake, HW_CQE_OPCODE_REQ),
				 FAKE_SEND_WQEBBS + 1);
	expect_refused(test, fake);
}

static void poll_cq_unposted_recv_sets_fatal(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
	expect_refused(test, fake);
}

/* The WR completes with byte_len 0, so that the ULP reads nothing behind its buffer. */
static void poll_cq_recv_exceeding_wqe_returns_loc_len_err(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);
	struct hw_cqe64 *entry = fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
	struct ib_wc wc[2];

	hw_cqe64_set_byte_cnt(entry, FAKE_RECV_SIZE + 1);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 2, wc));
	KUNIT_EXPECT_EQ(test, FAKE_RECV_ID, wc[0].wr_id);
	KUNIT_EXPECT_EQ(test, IB_WC_LOC_LEN_ERR, wc[0].status);
	KUNIT_EXPECT_EQ(test, 0, wc[0].byte_len);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fake->hw.health));
}

/* RDMA write data goes to the address of the RETH, not to the scatter list of the WQE. */
static void poll_cq_write_imm_exceeding_wqe_succeeds(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);
	struct hw_cqe64 *entry = fake_completion(fake, HW_CQE_OPCODE_RESP_WR_IMM);
	struct ib_wc wc;

	hw_cqe64_set_byte_cnt(entry, 2 * FAKE_RECV_SIZE);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, wc.status);
	KUNIT_EXPECT_EQ(test, 2 * FAKE_RECV_SIZE, wc.byte_len);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fake->hw.health));
}

/* 9 is no CQE opcode of mlx5_ifc.h. */
static void poll_cq_unknown_opcode_sets_fatal(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);

	fake_completion(fake, 9);
	expect_refused(test, fake);
}

static void poll_cq_dma_off_flushes_wrs(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);
	struct ib_wc wc[16];
	unsigned int i;

	cxib_hw_state_raise(fake->hw.bus, CXIB_HW_DMA_OFF);
	KUNIT_ASSERT_EQ(test, 2 * POSTED, cxib_poll_cq(&fake->cq.ib, ARRAY_SIZE(wc), wc));
	for (i = 0; i < POSTED; i++) {
		KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, wc[i].status);
		KUNIT_EXPECT_EQ(test, FAKE_SEND_ID + i, wc[i].wr_id);
		KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, wc[POSTED + i].status);
		KUNIT_EXPECT_EQ(test, FAKE_RECV_ID + i, wc[POSTED + i].wr_id);
	}
	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, ARRAY_SIZE(wc), wc));
}

/* A ULP may have freed the wr_cqe of an invalidation that is not signaled. */
static void poll_cq_dma_off_unsignaled_key_changes_are_silent(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);
	struct ib_wc wc[16];

	fake->qp.sq.entries[0].opcode = IB_WC_REG_MR;
	fake->qp.sq.entries[2 * FAKE_SEND_WQEBBS].opcode = IB_WC_LOCAL_INV;
	fake->qp.sq.entries[3 * FAKE_SEND_WQEBBS].opcode = IB_WC_LOCAL_INV;
	hw_wqe_ctrl_seg_set_ce(fake_block(fake, 2 * FAKE_SEND_WQEBBS),
			       HW_COMPLETION_MODE_CQ_UPDATE);
	cxib_hw_state_raise(fake->hw.bus, CXIB_HW_DMA_OFF);
	KUNIT_ASSERT_EQ(test, 2 + POSTED, cxib_poll_cq(&fake->cq.ib, ARRAY_SIZE(wc), wc));
	KUNIT_EXPECT_EQ(test, FAKE_SEND_ID + 1, wc[0].wr_id);
	KUNIT_EXPECT_EQ(test, FAKE_SEND_ID + 2, wc[1].wr_id);
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, wc[1].status);
	KUNIT_EXPECT_EQ(test, FAKE_RECV_ID, wc[2].wr_id);
	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, ARRAY_SIZE(wc), wc));
}

static void expect_mads_fail_later(struct kunit *test, struct fake_queue_pair *fake)
{
	struct ib_wc wc[16];
	unsigned int i;

	cxib_hw_state_raise(fake->hw.bus, CXIB_HW_DMA_OFF);
	KUNIT_ASSERT_EQ(test, POSTED, cxib_poll_cq(&fake->cq.ib, ARRAY_SIZE(wc), wc));
	for (i = 0; i < POSTED; i++)
		KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, wc[i].status);
	cxib_arming_add(&fake->cq.arming);
	KUNIT_EXPECT_FALSE(test, cxib_cq_event_due(&fake->cq));

	cxib_cq_flush_mads(&fake->cq);
	KUNIT_EXPECT_TRUE(test, cxib_cq_event_due(&fake->cq));
	KUNIT_ASSERT_EQ(test, POSTED, cxib_poll_cq(&fake->cq.ib, ARRAY_SIZE(wc), wc));
	for (i = 0; i < POSTED; i++) {
		KUNIT_EXPECT_EQ(test, IB_WC_FATAL_ERR, wc[i].status);
		KUNIT_EXPECT_EQ(test, FAKE_SEND_ID + i, wc[i].wr_id);
	}
}

/**
 * struct race - a device that writes a last CQE before its DMA is off, and a poller thread
 * @fake: the queues
 * @wc: the last work completion
 * @polled: CQEs polled
 * @calls: calls of cxib_poll_cq() that have returned
 */
struct race {
	struct fake_queue_pair *fake;
	struct ib_wc wc;
	atomic_t polled;
	atomic_t calls;
};

static int poll_fn(void *data)
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

/* Writes a CQE as the device does: the owner bit last. */
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
	/* Pairs with the barrier after cxib_poll_cq() reads the owner bit. */
	smp_store_release(&place->dw[last], entry.dw[last]);
}

/* A call that has seen DMA off must return before the next round posts a WR. */
static void turn_dma_on(struct race *race)
{
	int calls;

	WRITE_ONCE(race->fake->hw.bus->state, CXIB_HW_UP);
	calls = atomic_read(&race->calls);
	while (atomic_read_acquire(&race->calls) < calls + 2)
		cond_resched();
}

static void poll_cq_cqe_before_dma_off_is_not_flushed(struct kunit *test)
{
	struct race race = { .fake = fake_queue_pair_create(test) };
	struct fake_queue_pair *fake = race.fake;
	struct task_struct *poller = kthread_run(poll_fn, &race, "poller");
	int round;

	KUNIT_ASSERT_FALSE(test, IS_ERR(poller));
	for (round = 0; round < ROUNDS && race.wc.status == IB_WC_SUCCESS; round++) {
		fake_post_recvs(test, fake, 1);
		udelay(round % 16);
		complete_receive(fake);
		cxib_hw_state_raise(fake->hw.bus, CXIB_HW_DMA_OFF);
		while (atomic_read_acquire(&race.polled) == round)
			cond_resched();
		turn_dma_on(&race);
	}
	kthread_stop(poller);
	KUNIT_EXPECT_EQ_MSG(test, IB_WC_SUCCESS, race.wc.status, "round %d", round);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fake->hw.health));
}

/* The CQE of a QP that is attached to no CQ is refused, and the QP is not cached. */
static void poll_cq_cqe_of_foreign_qp_is_not_cached(struct kunit *test)
{
	const enum hw_cqe_opcode opcodes[] = { HW_CQE_OPCODE_REQ, HW_CQE_OPCODE_RESP_SEND,
					       HW_CQE_OPCODE_REQ_ERR, HW_CQE_OPCODE_RESP_ERR };
	struct fake_queue_pair *fake = with_wqes(test);
	struct ib_wc wc;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct cxib_qp *qp = kzalloc(sizeof(*qp), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, qp);
		cxib_reference_init(&qp->reference);
		KUNIT_ASSERT_EQ(test, 0, xa_insert_irq(&fake->ibdev.qps, FOREIGN_QPN, qp,
						       GFP_KERNEL));
		hw_cqe64_set_qpn(fake_completion(fake, opcodes[i]), FOREIGN_QPN);
		KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, 1, &wc));
		KUNIT_EXPECT_NE(test, FOREIGN_QPN, fake->cq.last_qpn);
		xa_erase_irq(&fake->ibdev.qps, FOREIGN_QPN);
		cxib_reference_end(&qp->reference);
		kfree(qp);
		/* KASAN reports an access to the QP. */
		hw_cqe64_set_qpn(fake_completion(fake, opcodes[i]), FOREIGN_QPN);
		KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	}
}

static int create_and_destroy_qps(void *data)
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

/* KASAN reports a use after free of the QP, which uses another CQ. */
static void poll_cq_cqe_of_destroyed_foreign_qp_sets_fatal(struct kunit *test)
{
	const enum hw_cqe_opcode opcodes[] = { HW_CQE_OPCODE_REQ, HW_CQE_OPCODE_RESP_SEND };
	struct fake_queue_pair *fake = with_wqes(test);
	struct task_struct *owner = kthread_run(create_and_destroy_qps, fake, "owner");
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

/**
 * struct flusher - a thread that flushes the WRs of a QP that another one cleans
 * @fake: the queues
 * @wc: room for all its WRs
 */
struct flusher {
	struct fake_queue_pair *fake;
	struct ib_wc wc[WRS_MAX];
};

static int flush_fn(void *data)
{
	struct flusher *flusher = data;

	while (!kthread_should_stop()) {
		cxib_poll_cq(&flusher->fake->cq.ib, WRS_MAX, flusher->wc);
		cond_resched();
	}
	return 0;
}

static bool has_indices(const struct cxib_qp *qp)
{
	return READ_ONCE(qp->sq.prod_index) || READ_ONCE(qp->sq.cons_index) ||
	       READ_ONCE(qp->rq.prod_index) || READ_ONCE(qp->rq.cons_index);
}

/* A poller that retires a WR of a QP while its indices are reset would set one of them again. */
static void qp_clean_flushing_poller_leaves_queues_empty(struct kunit *test)
{
	struct flusher *flusher = kunit_kzalloc(test, sizeof(*flusher), GFP_KERNEL);
	struct task_struct *poller;
	bool has_left = false;
	int round;

	KUNIT_ASSERT_NOT_NULL(test, flusher);
	flusher->fake = fake_queue_pair_create(test);
	cxib_hw_state_raise(flusher->fake->hw.bus, CXIB_HW_DMA_OFF);
	poller = kthread_run(flush_fn, flusher, "flusher");
	KUNIT_ASSERT_FALSE(test, IS_ERR(poller));
	for (round = 0; round < ROUNDS && !has_left; round++) {
		/* The SQ has 128 WQEBBs, a send WQE two; the RQ has four WQEs. */
		fake_post_sq(test, flusher->fake, WRS_MAX - 4);
		fake_post_recvs(test, flusher->fake, 4);
		udelay(round % 16);
		cxib_qp_clean(&flusher->fake->qp);
		has_left = has_indices(&flusher->fake->qp);
	}
	kthread_stop(poller);
	KUNIT_EXPECT_FALSE_MSG(test, has_left, "round %d", round);
}

/* ib_cm ignores flush errors: callers that wait for a CM event would hang. */
static void poll_cq_dma_off_gsi_wrs_fail_after_delay(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);

	fake->qp.ib.qp_type = IB_QPT_GSI;
	expect_mads_fail_later(test, fake);
}

static void poll_cq_dma_off_gsi_tx_wrs_fail_after_delay(struct kunit *test)
{
	struct cxib_qp *gsi = kunit_kzalloc(test, sizeof(*gsi), GFP_KERNEL);
	struct fake_queue_pair *fake = with_wqes(test);

	KUNIT_ASSERT_NOT_NULL(test, gsi);
	fake->qp.ib.qp_type = IB_QPT_UD;
	fake->qp.wc_qp = &gsi->ib;
	expect_mads_fail_later(test, fake);
}

static void dma_off_cq_event_once_per_arm(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);
	struct ib_wc wc[16];

	cxib_hw_state_raise(fake->hw.bus, CXIB_HW_DMA_OFF);
	KUNIT_EXPECT_FALSE(test, cxib_cq_event_due(&fake->cq));
	cxib_arming_add(&fake->cq.arming);
	KUNIT_EXPECT_TRUE(test, cxib_cq_event_due(&fake->cq));
	KUNIT_EXPECT_FALSE(test, cxib_cq_event_due(&fake->cq));
	KUNIT_ASSERT_EQ(test, 2 * POSTED, cxib_poll_cq(&fake->cq.ib, ARRAY_SIZE(wc), wc));
	cxib_arming_add(&fake->cq.arming);
	KUNIT_EXPECT_FALSE(test, cxib_cq_event_due(&fake->cq));
	fake_post_recvs(test, fake, 1);
	KUNIT_EXPECT_TRUE(test, cxib_cq_event_due(&fake->cq));
}

static void dma_off_user_cq_has_no_event(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);

	cxib_hw_state_raise(fake->hw.bus, CXIB_HW_DMA_OFF);
	cxib_arming_add(&fake->cq.arming);
	fake->cq.is_user = true;
	KUNIT_EXPECT_FALSE(test, cxib_cq_event_due(&fake->cq));
	fake->cq.is_user = false;
}

static void cq_clean_removes_cqes_of_one_qp(struct kunit *test)
{
	struct fake_queue_pair *fake = with_wqes(test);
	struct ib_wc wc[8];

	hw_cqe64_set_qpn(fake_completion(fake, HW_CQE_OPCODE_RESP_SEND), FOREIGN_QPN);
	hw_cqe64_set_byte_cnt(fake_completion(fake, HW_CQE_OPCODE_RESP_SEND), 1);
	hw_cqe64_set_qpn(fake_completion(fake, HW_CQE_OPCODE_RESP_SEND), FOREIGN_QPN);
	hw_cqe64_set_byte_cnt(fake_completion(fake, HW_CQE_OPCODE_RESP_SEND), 2);
	cxib_cq_clean(&fake->cq, &destroyed_qp);
	KUNIT_EXPECT_EQ(test, 2, be32_to_cpu(fake->cq_record[0]));
	KUNIT_ASSERT_EQ(test, 2, cxib_poll_cq(&fake->cq.ib, ARRAY_SIZE(wc), wc));
	KUNIT_EXPECT_EQ(test, 1, wc[0].byte_len);
	KUNIT_EXPECT_EQ(test, 2, wc[1].byte_len);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fake->hw.health));
}

static void cq_clean_ring_wraparound_keeps_other_cqes(struct kunit *test)
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
	hw_cqe64_set_qpn(fake_completion(fake, HW_CQE_OPCODE_RESP_SEND), FOREIGN_QPN);
	hw_cqe64_set_byte_cnt(fake_completion(fake, HW_CQE_OPCODE_RESP_SEND), 2);
	cxib_cq_clean(&fake->cq, &destroyed_qp);
	KUNIT_ASSERT_EQ(test, 2, cxib_poll_cq(&fake->cq.ib, ARRAY_SIZE(wc), wc));
	KUNIT_EXPECT_EQ(test, 1, wc[0].byte_len);
	KUNIT_EXPECT_EQ(test, 2, wc[1].byte_len);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(poll_cq_empty_returns_0),
	KUNIT_CASE(poll_cq_signaled_retires_unsignaled),
	KUNIT_CASE(poll_cq_gsi_tx_send_reports_gsi_qp),
	KUNIT_CASE(poll_cq_recv_fills_wc),
	KUNIT_CASE(poll_cq_error_cqe_reports_syndrome),
	KUNIT_CASE(cqe_syndrome_maps_to_wc_status),
	KUNIT_CASE(peek_cq_counts_unpolled_cqes),
	KUNIT_CASE(peek_cq_full_ring_returns_ring_size),
	KUNIT_CASE(poll_cq_ring_wraparound_continues),
	KUNIT_CASE(poll_cq_unknown_qpn_sets_fatal),
	KUNIT_CASE(poll_cq_unposted_wqe_sets_fatal),
	KUNIT_CASE(poll_cq_mid_wqe_counter_sets_fatal),
	KUNIT_CASE(poll_cq_unposted_recv_sets_fatal),
	KUNIT_CASE(poll_cq_recv_exceeding_wqe_returns_loc_len_err),
	KUNIT_CASE(poll_cq_write_imm_exceeding_wqe_succeeds),
	KUNIT_CASE(poll_cq_unknown_opcode_sets_fatal),
	KUNIT_CASE(poll_cq_dma_off_flushes_wrs),
	KUNIT_CASE(poll_cq_dma_off_unsignaled_key_changes_are_silent),
	KUNIT_CASE_SLOW(poll_cq_cqe_before_dma_off_is_not_flushed),
	KUNIT_CASE(poll_cq_cqe_of_foreign_qp_is_not_cached),
	KUNIT_CASE_SLOW(poll_cq_cqe_of_destroyed_foreign_qp_sets_fatal),
	KUNIT_CASE_SLOW(qp_clean_flushing_poller_leaves_queues_empty),
	KUNIT_CASE(poll_cq_dma_off_gsi_wrs_fail_after_delay),
	KUNIT_CASE(poll_cq_dma_off_gsi_tx_wrs_fail_after_delay),
	KUNIT_CASE(dma_off_cq_event_once_per_arm),
	KUNIT_CASE(dma_off_user_cq_has_no_event),
	KUNIT_CASE(cq_clean_removes_cqes_of_one_qp),
	KUNIT_CASE(cq_clean_ring_wraparound_keeps_other_cqes),
	{}
};

static struct kunit_suite suite = {
	.name = "cq_poll",
	.test_cases = cases,
};

kunit_test_suite(suite);
