/* SPDX-License-Identifier: GPL-2.0-only */
/* State of the UMR QP. */
#ifndef CXIB_VERBS_MR_UMR_TYPES_H
#define CXIB_VERBS_MR_UMR_TYPES_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct cxib_qp;

/* State of the driver's UMR QP. */
enum cxib_umr_state {
	CXIB_UMR_DOWN,
	CXIB_UMR_UP,
	CXIB_UMR_RECOVERING,
};

/**
 * struct cxib_umr - updates of mkeys in use, by the driver's UMR QP
 * @making: held while @qp is created or destroyed. Taken before @lock, but not in memory reclaim.
 * @pd: PD of @qp
 * @cq: CQ of @qp
 * @qp: QP of the service type REG_UMR; NULL: none
 * @recovery: makes @qp usable after an error
 * @changed: woken when @state changes
 * @lock: serializes UMR WQEs; protects the members below, and posting to @qp. Taken in memory
 *	reclaim.
 * @state: written with @lock, read without it
 * @has_timed_out: a WQE has timed out since @qp was created; @recovery reads it, too
 * @list: XLT entries that the device reads; NULL until @qp is created for the first time
 * @list_dma: DMA address of @list
 * @cqe: done callback of the UMR WQE
 * @done: completed with the UMR WQE
 * @status: status of the UMR WQE; written before @done
 */
struct cxib_umr {
	struct mutex making; /* pd, cq, qp */
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct cxib_qp *qp;
	struct work_struct recovery;
	wait_queue_head_t changed;
	struct mutex lock; /* state; one WQE at a time */
	enum cxib_umr_state state;
	bool has_timed_out;
	__be64 *list;
	dma_addr_t list_dma;
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

#endif
