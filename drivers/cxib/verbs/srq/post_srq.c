// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posting to SRQs.
 *
 * WQEs are retired in any order, so all WQEs of an SRQ form a linked list, which the device also
 * follows. The free WQEs are the tail of that list.
 */
#include <kunit/visibility.h>
#include <linux/bitops.h>

#include "hw/work_queue.h"
#include "verbs/qp/post.h"
#include "verbs/srq/srq.h"

static struct hw_wqe_srq_next_seg *srq_wqe_at(const struct cxib_srq *srq, u16 index)
{
	return cxib_buffer_at(&srq->buffer, (size_t)index << srq->log_stride);
}

/**
 * cxib_srq_link_wqes() - link all WQEs of a new SRQ as free
 * @srq: SRQ with memory
 */
void cxib_srq_link_wqes(struct cxib_srq *srq)
{
	const u32 mask = BIT(srq->log_size) - 1;
	u32 i;

	for (i = 0; i <= mask; i++)
		hw_wqe_srq_next_seg_set_next_wqe_index(srq_wqe_at(srq, i), (i + 1) & mask);
	srq->head = 0;
	srq->tail = mask;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_srq_link_wqes);

/* Replaces resd_lkey, which is valid only in WQEs of QPs. */
static void srq_wqe_replace_resd_lkey(const struct cxib_srq *srq, struct hw_wqe_data_seg *segments,
				      int count)
{
	const u32 resd_lkey = srq->ib.device->local_dma_lkey;
	int i;

	if (!resd_lkey)
		return;
	for (i = 0; i < count; i++)
		if (hw_wqe_data_seg_get_lkey(&segments[i]) == resd_lkey)
			hw_wqe_data_seg_set_lkey(&segments[i], to_pd(srq->ib.pd)->key);
}

static int srq_wqe_build(struct cxib_srq *srq, const struct ib_recv_wr *wr)
{
	struct hw_wqe_srq_next_seg *wqe = srq_wqe_at(srq, srq->head);
	struct hw_wqe_data_seg *segments = (struct hw_wqe_data_seg *)(wqe + 1);

	lockdep_assert_held(&srq->lock);

	if (wr->num_sge > srq->max_sge)
		return -EINVAL;
	if (srq->head == srq->tail)
		return -ENOMEM;
	srq->entries[srq->head] = (struct cxib_rq_entry){
		.wr_id = wr->wr_id,
		.length = cxib_write_scatter_list(segments, srq->max_sge, wr),
	};
	srq_wqe_replace_resd_lkey(srq, segments, wr->num_sge);
	__set_bit(srq->head, srq->outstanding);
	srq->head = hw_wqe_srq_next_seg_get_next_wqe_index(wqe);
	srq->posted++;
	return 0;
}

int cxib_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad)
{
	struct cxib_srq *srq = to_srq(ib);
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&srq->lock, flags);
	for (; wr && !err; wr = wr->next) {
		err = srq_wqe_build(srq, wr);
		if (err)
			*bad = wr;
	}
	/* The WQEs must be written before the doorbell record. */
	dma_wmb();
	WRITE_ONCE(srq->dbr.words[CXIB_SRQ_DBR], cpu_to_be32(srq->posted));
	spin_unlock_irqrestore(&srq->lock, flags);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_post_srq_recv);

/**
 * cxib_srq_retire_wqe() - retire a WQE of an SRQ
 * @srq: SRQ
 * @index: wqe_counter of the CQE, unchecked
 * @entry: filled with the entry of the WQE
 *
 * Return: false if the WQE is not outstanding.
 */
bool cxib_srq_retire_wqe(struct cxib_srq *srq, u16 index, struct cxib_rq_entry *entry)
{
	unsigned long flags;
	bool outstanding;

	if (index >= BIT(srq->log_size))
		return false;
	spin_lock_irqsave(&srq->lock, flags);
	/* A free WQE must not be linked a second time. */
	outstanding = __test_and_clear_bit(index, srq->outstanding);
	if (outstanding) {
		*entry = srq->entries[index];
		hw_wqe_srq_next_seg_set_next_wqe_index(srq_wqe_at(srq, srq->tail), index);
		srq->tail = index;
	}
	spin_unlock_irqrestore(&srq->lock, flags);
	return outstanding;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_srq_retire_wqe);
