/* SPDX-License-Identifier: GPL-2.0-only */
/* CQE access and decoding. */
#ifndef CXIB_VERBS_CQ_CQ_POLL_H
#define CXIB_VERBS_CQ_CQ_POLL_H

#include <rdma/ib_verbs.h>

#include "verbs/cq/cq.h"

#define CXIB_CQ_COUNTER_MASK	GENMASK(23, 0)

static inline struct hw_cqe64 *cxib_cq_cqe(const struct cxib_cq *cq, u32 index)
{
	/* ib.cqe is the number of CQEs, a power of two, less one. */
	size_t place = index & (u32)cq->ib.cqe;

	return cxib_buffer_at(&cq->buffer, place * sizeof(struct hw_cqe64));
}

/* Returns true if the device has written the CQE at @index in the current pass over the ring. */
static inline bool cxib_cqe_is_sw_owned(const struct cxib_cq *cq, u32 index)
{
	const struct hw_cqe64 *entry = cxib_cq_cqe(cq, index);
	const size_t last = ARRAY_SIZE(entry->dw) - 1;
	struct hw_cqe64 copy;

	copy.dw[last] = READ_ONCE(entry->dw[last]);
	/* The owner bit must be read before the rest of the CQE. */
	dma_rmb();
	return hw_cqe64_get_opcode(&copy) != HW_CQE_OPCODE_INVALID &&
	       hw_cqe64_get_owner(&copy) == (index >> cq->log_size & 1);
}

static inline void cxib_cq_update_ci(struct cxib_cq *cq)
{
	/* The CQEs must be read before the device may overwrite them. */
	dma_mb();
	WRITE_ONCE(cq->dbr.words[CXIB_CQ_DBR_CI],
		   cpu_to_be32(cq->cons_index & CXIB_CQ_COUNTER_MASK));
}

enum ib_wc_status cxib_completion_status(u32 syndrome);
bool cxib_retire_send_wqe(struct cxib_qp *qp, u16 index, struct ib_wc *wc);
bool cxib_retire_recv_wqe(struct cxib_qp *qp, struct cxib_rq_entry *entry);
void cxib_cq_note_signature_errors(struct cxib_cq *cq, struct cxib_qp *qp);
bool cxib_cq_has_send_cqe(const struct cxib_cq *cq, u32 qpn, u16 index);
void cxib_decode_receive(const struct hw_cqe64 *entry, struct ib_wc *wc);

#endif
