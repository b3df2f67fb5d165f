// SPDX-License-Identifier: GPL-2.0-only
#include "fake_queue_pair.h"

#include "ulp/functions.h"
#include "verbs/qp/post.h"

static void free_memory(void *data)
{
	struct fake_queue_pair *fake = data;

	cxib_drain_destroy(&fake->qp);
	xa_destroy(&fake->cq.queue_pairs);
	xa_destroy(&fake->ibdev.qps);
	xa_destroy(&fake->ibdev.srqs);
	xa_destroy(&fake->ibdev.cqs);
	cxib_buffer_destroy(&fake->qp.buffer, fake->hca->bus.dev);
	cxib_buffer_destroy(&fake->cq.buffer, fake->hca->bus.dev);
	cxib_command_queue_destroy(&fake->hw.commands);
}

static void init_device(struct kunit *test, struct fake_queue_pair *fake)
{
	static const struct cxib_health_handlers no_handlers = {};

	fake->hca = fake_hca_create(test);
	fake->hw.bus = &fake->hca->bus;
	mutex_init(&fake->hw.dma_lock);
	fake->hw.caps.log_max_qp_sz = FAKE_LOG_MAX_WQES;
	fake->hw.caps.max_wqe_sz_sq = FAKE_MAX_SQ_WQE;
	fake->hw.caps.max_wqe_sz_rq = FAKE_MAX_RQ_WQE;
	KUNIT_ASSERT_EQ(test, 0, cxib_command_queue_create(&fake->hw.commands, &fake->hca->bus));
	fake->hw.health.bus = &fake->hca->bus;
	fake->hw.health.commands = &fake->hw.commands;
	fake->hw.health.handlers = &no_handlers;
	fake->hw.uar = (void __iomem *)fake->doorbells;
	fake->ibdev.hw = &fake->hw;
	fake->ibdev.bus = fake->hw.bus;
	fake->ibdev.ib.phys_port_cnt = 1;
	fake->ibdev.ib.ops.owner = cxib_ulp_ops.owner;
	cxib_orphans_init(&fake->ibdev);
	xa_init_flags(&fake->ibdev.qps, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&fake->ibdev.srqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&fake->ibdev.cqs, XA_FLAGS_LOCK_IRQ);
}

static void init_cq(struct kunit *test, struct fake_queue_pair *fake)
{
	struct cxib_cq *cq = &fake->cq;
	unsigned int i;

	cq->ib.device = &fake->ibdev.ib;
	cq->log_size = FAKE_LOG_CQ;
	cq->ib.cqe = BIT(FAKE_LOG_CQ) - 1;
	cq->dbr.words = fake->cq_record;
	cq->last_qpn = CXIB_NO_QPN;
	mutex_init(&cq->resize_lock);
	spin_lock_init(&cq->lock);
	xa_init_flags(&cq->queue_pairs, XA_FLAGS_LOCK_IRQ);
	INIT_LIST_HEAD(&cq->send_qps);
	INIT_LIST_HEAD(&cq->recv_qps);
	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&cq->buffer, fake->hca->bus.dev,
						    sizeof(struct hw_cqe64) << FAKE_LOG_CQ));
	for (i = 0; i < BIT(FAKE_LOG_CQ); i++)
		hw_cqe64_set_opcode(cxib_buffer_at(&cq->buffer, i * sizeof(struct hw_cqe64)),
				    HW_CQE_OPCODE_INVALID);
}

static void init_qp(struct kunit *test, struct fake_queue_pair *fake)
{
	struct cxib_qp *qp = &fake->qp;

	qp->ib.device = &fake->ibdev.ib;
	qp->ib.qp_type = IB_QPT_UD;
	qp->ib.send_cq = &fake->cq.ib;
	qp->ib.recv_cq = &fake->cq.ib;
	qp->qpn = FAKE_QPN;
	qp->wc_qp = &qp->ib;
	qp->has_sq = true;
	qp->has_rq = true;
	qp->rq.log_size = FAKE_LOG_RQ_SIZE;
	qp->rq.log_stride = FAKE_LOG_RQ_STRIDE;
	qp->rq.max_sge = FAKE_RQ_SGE;
	qp->sq.offset = BIT(FAKE_LOG_RQ_SIZE + FAKE_LOG_RQ_STRIDE);
	qp->sq.log_size = FAKE_LOG_BLOCKS;
	qp->sq.doorbell = fake->hw.uar + HW_UAR_OFFSET_BLUE_FLAME;
	qp->sq.mask = BIT(FAKE_LOG_BLOCKS) - 1;
	qp->sq.max_sge = 8;
	qp->sq.av_ds = 3;
	qp->sq.opcode_mask = BIT_ULL(IB_WR_SEND) | BIT_ULL(IB_WR_SEND_WITH_IMM);
	qp->dbr.words = fake->dbr;
	cxib_reference_init(&qp->reference);
	spin_lock_init(&qp->sq.lock);
	spin_lock_init(&qp->rq.lock);
	qp->sq.entries = kunit_kcalloc(test, BIT(FAKE_LOG_BLOCKS), sizeof(*qp->sq.entries),
				       GFP_KERNEL);
	qp->rq.entries = kunit_kcalloc(test, BIT(FAKE_LOG_RQ_SIZE),
				       sizeof(*qp->rq.entries), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp->sq.entries);
	KUNIT_ASSERT_NOT_NULL(test, qp->rq.entries);
	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&qp->buffer, fake->hca->bus.dev,
						    cxib_qp_buffer_size(qp)));
	list_add_tail(&qp->send_node, &fake->cq.send_qps);
	list_add_tail(&qp->recv_node, &fake->cq.recv_qps);
	KUNIT_ASSERT_EQ(test, 0, xa_insert_irq(&fake->cq.queue_pairs, FAKE_QPN, qp, GFP_KERNEL));
	KUNIT_ASSERT_EQ(test, 0, xa_insert_irq(&fake->ibdev.qps, FAKE_QPN, qp, GFP_KERNEL));
}

/* KUnit frees the QP with the case. */
struct fake_queue_pair *fake_queue_pair_create(struct kunit *test)
{
	struct fake_queue_pair *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	init_device(test, fake);
	init_cq(test, fake);
	init_qp(test, fake);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_memory, fake));
	return fake;
}

/* Starts the command queue. @script executes its commands. */
void fake_queue_pair_start(struct fake_queue_pair *fake, fake_script script, void *context)
{
	fake->hca->script = script;
	fake->hca->script_context = context;
	KUNIT_ASSERT_EQ(fake->hca->test, 0, cxib_command_queue_start(&fake->hw.commands));
}

/* Writes the next CQE; the case sets further fields. */
struct hw_cqe64 *fake_completion(struct fake_queue_pair *fake, enum hw_cqe_opcode opcode)
{
	u32 index = fake->written++;
	u32 slot = index & (BIT(fake->cq.log_size) - 1);
	struct hw_cqe64 *entry = cxib_buffer_at(&fake->cq.buffer, slot * sizeof(*entry));

	*entry = (struct hw_cqe64){};
	hw_cqe64_set_qpn(entry, FAKE_QPN);
	hw_cqe64_set_opcode(entry, opcode);
	hw_cqe64_set_owner(entry, index >> fake->cq.log_size & 1);
	return entry;
}

/* Returns WQEBB @block of the SQ. */
void *fake_block(struct fake_queue_pair *fake, u32 block)
{
	size_t slot = block & (BIT(FAKE_LOG_BLOCKS) - 1);

	return cxib_buffer_at(&fake->qp.buffer, fake->qp.sq.offset + slot * CXIB_WQEBB_SIZE);
}

/* Posts send WRs of one SGE, with wr_id FAKE_SEND_ID, FAKE_SEND_ID + 1, … */
void fake_post_sq(struct kunit *test, struct fake_queue_pair *fake, unsigned int count)
{
	struct ib_sge sge = { .addr = 0x1000, .length = 8, .lkey = FAKE_SEND_LKEY };
	struct cxib_ah ah = {};
	struct ib_ud_wr ud = {
		.wr = { .num_sge = 1, .sg_list = &sge, .opcode = IB_WR_SEND },
		.ah = &ah.ib,
	};
	unsigned int i;

	for (i = 0; i < count; i++) {
		ud.wr.wr_id = FAKE_SEND_ID + i;
		KUNIT_ASSERT_EQ(test, 0, cxib_build_send_wqe(&fake->qp, &ud.wr));
	}
}

/* Posts receive WRs of one SGE, with wr_id FAKE_RECV_ID, FAKE_RECV_ID + 1, … */
void fake_post_recvs(struct kunit *test, struct fake_queue_pair *fake, unsigned int count)
{
	struct ib_sge sge = { .addr = 0x2000, .length = FAKE_RECV_SIZE, .lkey = FAKE_RECV_LKEY };
	struct ib_recv_wr wr = { .num_sge = 1, .sg_list = &sge };
	unsigned int i;

	for (i = 0; i < count; i++) {
		wr.wr_id = FAKE_RECV_ID + i;
		KUNIT_ASSERT_EQ(test, 0, cxib_build_recv_wqe(&fake->qp, &wr));
	}
}
