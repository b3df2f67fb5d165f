// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posting to shared receive queues.
 *
 * Requests get free in any order, so each names the one after it. The device
 * goes along these links as well: the free requests are the rest of its list.
 */
#include <kunit/visibility.h>
#include <linux/bitops.h>

#include "hw/work_queue.h"
#include "verbs/qp/post.h"
#include "verbs/srq/srq.h"

#define RCV_DBR	0

static struct hw_wqe_srq_next_seg *request_at(const struct cxib_srq *srq, u16 index)
{
	return cxib_buffer_at(&srq->buffer, (size_t)index << srq->log_stride);
}

/**
 * cxib_srq_link_wqes() - all requests of a new queue are free
 * @srq: shared receive queue with memory
 */
void cxib_srq_link_wqes(struct cxib_srq *srq)
{
	const u32 mask = BIT(srq->log_size) - 1;
	u32 i;

	for (i = 0; i <= mask; i++)
		hw_wqe_srq_next_seg_set_next_wqe_index(request_at(srq, i), (i + 1) & mask);
	srq->head = 0;
	srq->tail = mask;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_srq_link_wqes);

/* The reserved key serves requests of queue pairs only. */
static void replace_reserved_key(const struct cxib_srq *srq, struct hw_wqe_data_seg *segments,
				 int count)
{
	const u32 reserved = srq->ib.device->local_dma_lkey;
	int i;

	if (!reserved)
		return;
	for (i = 0; i < count; i++)
		if (hw_wqe_data_seg_get_lkey(&segments[i]) == reserved)
			hw_wqe_data_seg_set_lkey(&segments[i], to_pd(srq->ib.pd)->key);
}

static int build(struct cxib_srq *srq, const struct ib_recv_wr *wr)
{
	struct hw_wqe_srq_next_seg *request = request_at(srq, srq->head);
	struct hw_wqe_data_seg *segments = (struct hw_wqe_data_seg *)(request + 1);

	lockdep_assert_held(&srq->lock);

	if (wr->num_sge > srq->max_sge)
		return -EINVAL;
	if (srq->head == srq->tail)
		return -ENOMEM;
	srq->entries[srq->head] = (struct cxib_rq_entry){
		.wr_id = wr->wr_id,
		.length = cxib_write_scatter_list(segments, srq->max_sge, wr),
	};
	replace_reserved_key(srq, segments, wr->num_sge);
	__set_bit(srq->head, srq->outstanding);
	srq->head = hw_wqe_srq_next_seg_get_next_wqe_index(request);
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
		err = build(srq, wr);
		if (err)
			*bad = wr;
	}
	/* The requests are there when the device sees how many there are. */
	dma_wmb();
	WRITE_ONCE(srq->dbr.words[RCV_DBR], cpu_to_be32(srq->posted));
	spin_unlock_irqrestore(&srq->lock, flags);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_post_srq_recv);

/**
 * cxib_srq_retire_wqe() - a request is done, and free again
 * @srq: shared receive queue
 * @index: the request, as in the completion
 * @entry: filled: what the driver knows of it
 *
 * Return: false when no such request is outstanding.
 */
bool cxib_srq_retire_wqe(struct cxib_srq *srq, u16 index, struct cxib_rq_entry *entry)
{
	unsigned long flags;
	bool outstanding;

	if (index >= BIT(srq->log_size))
		return false;
	spin_lock_irqsave(&srq->lock, flags);
	/* A request that is free must not get into the list of the free ones again. */
	outstanding = __test_and_clear_bit(index, srq->outstanding);
	if (outstanding) {
		*entry = srq->entries[index];
		hw_wqe_srq_next_seg_set_next_wqe_index(request_at(srq, srq->tail), index);
		srq->tail = index;
	}
	spin_unlock_irqrestore(&srq->lock, flags);
	return outstanding;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_srq_retire_wqe);
