// SPDX-License-Identifier: GPL-2.0-only
/* Posting receive WRs. */
#include <kunit/visibility.h>

#include "hw/work_queue.h"
#include "verbs/qp/post.h"
#include "verbs/qp/qp.h"

static struct hw_wqe_data_seg *rq_wqe_at(const struct cxib_qp *qp, u32 index)
{
	const struct cxib_rq *rq = &qp->rq;
	size_t slot = index & (BIT(rq->log_size) - 1);

	return cxib_buffer_at(&qp->buffer, slot << rq->log_stride);
}

/**
 * cxib_build_recv_wqe() - write a receive WR into the RQ
 * @qp: QP; its RQ is locked
 * @wr: receive WR
 *
 * Return: 0, or
 *	-EINVAL if num_sge exceeds max_recv_sge,
 *	-ENOMEM if the RQ is full.
 */
int cxib_build_recv_wqe(struct cxib_qp *qp, const struct ib_recv_wr *wr)
{
	struct cxib_rq *rq = &qp->rq;
	u32 index = rq->prod_index;

	if (wr->num_sge > rq->max_sge)
		return -EINVAL;
	/*
	 * Pairs with cxib_retire_recv_wqe(): poll_cq() has read the entry before it moved
	 * cons_index.
	 */
	if (index - smp_load_acquire(&rq->cons_index) >= BIT(rq->log_size))
		return -ENOMEM;
	rq->entries[index & (BIT(rq->log_size) - 1)] = (struct cxib_rq_entry){
		.wr_id = wr->wr_id,
		.length = cxib_write_scatter_list(rq_wqe_at(qp, index), rq->max_sge, wr),
	};
	/* Pairs with cxib_retire_recv_wqe(). */
	smp_store_release(&rq->prod_index, index + 1);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_build_recv_wqe);

int cxib_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct cxib_qp *qp = to_qp(ib);
	unsigned long flags;
	int err = 0;

	if (READ_ONCE(qp->state) == IB_QPS_RESET || !qp->has_rq) {
		*bad = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&qp->rq.lock, flags);
	for (; wr && !err; wr = wr->next) {
		err = cxib_build_recv_wqe(qp, wr);
		if (err)
			*bad = wr;
	}
	/* The WQEs must be written before the doorbell record. */
	dma_wmb();
	WRITE_ONCE(qp->dbr.words[CXIB_RCV_DBR], cpu_to_be32(qp->rq.prod_index & U16_MAX));
	spin_unlock_irqrestore(&qp->rq.lock, flags);
	if (cxib_verbs_dma_off(to_ibdev(ib->device)))
		cxib_flush_later(to_ibdev(ib->device));
	return err;
}
