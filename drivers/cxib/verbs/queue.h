/* SPDX-License-Identifier: GPL-2.0-only */
/* State that queues of several kinds share. */
#ifndef CXIB_VERBS_QUEUE_H
#define CXIB_VERBS_QUEUE_H

#include <linux/types.h>

#include "verbs/orphans.h"

struct cxib_bfregs;
struct rdma_user_mmap_entry;

/**
 * struct cxib_rq_entry - software state of a receive WQE
 * @wr_id: wr_id of the WR
 * @length: total length of the SGEs, bytes
 */
struct cxib_rq_entry {
	u64 wr_id;
	u64 length;
};

/**
 * struct cxib_user_queue - memory and UAR that user space passed for a queue
 * @pinned: memory of the queue, and page with its doorbell record; none for a kernel queue. The
 *	handlers of page faults read it while the queue has references.
 * @uar: mmap entry of the UAR page; NULL: kernel queue
 * @bfregs: bfregs of the user context if the driver has allocated one of them; NULL: user space has
 *	passed a UAR page
 * @bfreg_index: index of the allocated bfreg
 */
struct cxib_user_queue {
	struct cxib_pinned pinned;
	struct rdma_user_mmap_entry *uar;
	struct cxib_bfregs *bfregs;
	unsigned int bfreg_index;
};

#endif
