/* SPDX-License-Identifier: GPL-2.0-only */
/* What the entries of completion queues mean. */
#ifndef CXIB_VERBS_CQ_CQ_POLL_H
#define CXIB_VERBS_CQ_CQ_POLL_H

#include <rdma/ib_verbs.h>

#include "verbs/cq/cq.h"

#define CXIB_CQ_COUNTER_MASK	GENMASK(23, 0)

/* Words of a completion queue's doorbell record. */
#define CXIB_CQ_DBR_CI	0
#define CXIB_CQ_DBR_ARM	1

static inline struct hw_cqe64 *cxib_cq_cqe(const struct cxib_cq *cq, u32 index)
{
	/* The RDMA core's cqe is one less than the entries, whose number is a power of two. */
	size_t place = index & (u32)cq->ib.cqe;

	return cxib_buffer_at(&cq->buffer, place * sizeof(struct hw_cqe64));
}

/* Whether the device has written the entry in the pass of the ring that @index belongs to. */
static inline bool cxib_cqe_is_sw_owned(const struct cxib_cq *cq, u32 index)
{
	const struct hw_cqe64 *entry = cxib_cq_cqe(cq, index);
	const size_t last = ARRAY_SIZE(entry->dw) - 1;
	struct hw_cqe64 copy;

	copy.dw[last] = READ_ONCE(entry->dw[last]);
	/* The rest of the entry may be read only after its owner bit. */
	dma_rmb();
	return hw_cqe64_get_opcode(&copy) != HW_CQE_OPCODE_INVALID &&
	       hw_cqe64_get_owner(&copy) == (index >> cq->log_size & 1);
}

static inline void cxib_cq_update_ci(struct cxib_cq *cq)
{
	/* The entries were read before the device may write there again. */
	dma_mb();
	WRITE_ONCE(cq->dbr.words[CXIB_CQ_DBR_CI],
		   cpu_to_be32(cq->cons_index & CXIB_CQ_COUNTER_MASK));
}

enum ib_wc_status cxib_completion_status(u32 syndrome);
bool cxib_retire_send_wqe(struct cxib_qp *qp, u16 index, struct ib_wc *wc);
bool cxib_retire_recv_wqe(struct cxib_qp *qp, struct cxib_rq_entry *entry);
bool cxib_cq_has_send_cqe(const struct cxib_cq *cq, u32 qpn, u16 index);
void cxib_decode_receive(const struct hw_cqe64 *entry, struct ib_wc *wc);

#endif
