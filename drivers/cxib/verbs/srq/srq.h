/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared receive queues (SRQs). */
#ifndef CXIB_VERBS_SRQ_SRQ_H
#define CXIB_VERBS_SRQ_SRQ_H

#include "verbs/verbs.h"

/**
 * struct cxib_srq - a shared receive queue
 * @ib: the RDMA core's SRQ
 * @srqn: SRQN
 * @user: memory and UAR that user space passed; user SRQs only
 * @is_user: user space posts to the SRQ; the kernel does not
 * @user_index: user_index of its CQEs; user SRQs only
 * @log_size: log2 of the number of WQEs, including one that is never posted
 * @log_stride: log2 of the bytes of a WQE
 * @max_sge: maximum SGEs of a WR
 * @log_tags: log2 of the size of the tag list; IB_SRQT_TM only
 * @buffer: WQEs
 * @dbr: doorbell record
 * @entries: one for each WQE
 * @outstanding: bit for each WQE that is posted and not retired; protected by
 *	@lock
 * @reference: held while an asynchronous event is delivered
 * @lock: protects the members below, and the links of the free WQEs. Taken in any context, also
 *	with the lock of a CQ held.
 * @head: free WQE to be posted next
 * @tail: last free WQE, which is never posted, because the next WQE to be retired is linked to it
 * @posted: number of WQEs posted
 */
struct cxib_srq {
	struct ib_srq ib;
	u32 srqn;
	struct cxib_user_queue user;
	bool is_user;
	u32 user_index;
	unsigned int log_size;
	unsigned int log_stride;
	unsigned int max_sge;
	unsigned int log_tags;
	struct cxib_buffer buffer;
	struct cxib_dbr dbr;
	struct cxib_rq_entry *entries;
	unsigned long *outstanding;
	struct cxib_reference reference;
	spinlock_t lock; /* free and posted WQEs */
	u16 head;
	u16 tail;
	u16 posted;
};

static inline struct cxib_srq *to_srq(struct ib_srq *ib)
{
	return container_of(ib, struct cxib_srq, ib);
}

int cxib_srq_init(struct cxib_srq *srq, const struct ib_srq_init_attr *init);
int cxib_srq_create_hw(struct cxib_srq *srq);
int cxib_srq_publish(struct cxib_srq *srq);
void cxib_srq_abort(struct cxib_srq *srq, struct ib_udata *udata);
int cxib_create_srq_kernel(struct ib_srq *ib, struct ib_srq_init_attr *init);
int cxib_destroy_srq_kernel(struct ib_srq *ib, struct ib_udata *udata);
int cxib_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		    struct ib_udata *udata);
int cxib_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr);
void cxib_srq_event(struct cxib_ibdev *ibdev, u32 srqn, enum ib_event_type type);

/* post_srq.c */
int cxib_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad);
bool cxib_srq_retire_wqe(struct cxib_srq *srq, u16 index, struct cxib_rq_entry *entry);
void cxib_srq_link_wqes(struct cxib_srq *srq);

#endif
