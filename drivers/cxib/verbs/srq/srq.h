/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared receive queues. */
#ifndef CXIB_VERBS_SRQ_SRQ_H
#define CXIB_VERBS_SRQ_SRQ_H

#include "verbs/verbs.h"

/**
 * struct cxib_srq - a shared receive queue
 * @ib: as the RDMA core sees it
 * @srqn: as the device sees it
 * @user: what the program that it belongs to has brought for it
 * @is_user: a program posts to it, not the kernel
 * @user_index: what completions call it, for a program
 * @log_size: log2 of its requests; one is never posted
 * @log_stride: log2 of the bytes of one
 * @max_sge: data segments that a request can have
 * @log_tags: log2 of the tags of one that matches them
 * @buffer: its memory
 * @dbr: tells the device what was posted
 * @entries: what the driver knows of each request
 * @outstanding: bit for each request that is posted and not done; protected by
 *	@lock
 * @reference: keeps it while an event is told
 * @lock: protects what follows, and the links of the free requests. Taken in
 *	any context, also with the lock of a completion queue held.
 * @head: free request that is posted next
 * @tail: last free request, which is never posted: the next one that gets free
 *	is linked to it
 * @posted: requests posted so far
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
	spinlock_t lock; /* posters, and who frees requests */
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
void cxib_srq_abort(struct cxib_srq *srq);
int cxib_create_srq_kernel(struct ib_srq *ib, struct ib_srq_init_attr *init);
int cxib_destroy_srq_kernel(struct ib_srq *ib, struct ib_udata *udata);
int cxib_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		    struct ib_udata *udata);
int cxib_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr);
struct cxib_srq *cxib_get_srq(struct cxib_ibdev *ibdev, u32 number);
void cxib_srq_event(struct cxib_ibdev *ibdev, u32 number, enum ib_event_type type);

/* post_srq.c */
int cxib_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad);
bool cxib_srq_retire_wqe(struct cxib_srq *srq, u16 index, struct cxib_rq_entry *entry);
void cxib_srq_link_wqes(struct cxib_srq *srq);

#endif
