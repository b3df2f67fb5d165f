/* SPDX-License-Identifier: GPL-2.0-only */
/* Completion queues. */
#ifndef CXIB_VERBS_CQ_CQ_H
#define CXIB_VERBS_CQ_CQ_H

#include "hw/completion.h"
#include "hw/qp.h"
#include "verbs/verbs.h"

/* The period of moderation has 12 bits. */
#define CXIB_MODERATION_US_MAX	4095

struct cxib_qp;

/* No queue pair has this number: they have 24 bits. */
#define CXIB_NO_QPN		U32_MAX

/**
 * struct cxib_cq - a completion queue
 * @ib: as the RDMA core sees it
 * @cqn: as the device sees it
 * @user: what the program that it belongs to has brought for it
 * @is_user: a program reads it, not the kernel
 * @uid: the program's user context
 * @user_entry: the entries of a program's
 * @log_size: log2 of its entries
 * @buffer: its memory
 * @dbr: tells the device what was taken, and what is wanted
 * @eq: is told of completions
 * @reference: keeps it while an event is told
 * @arm_sn: counts events that were told of it; written in interrupts
 * @resize_lock: one change of the ring at a time; taken before @lock, in process
 *	context
 * @lock: one reader at a time; protects what follows, and what the queue pairs
 *	that report here have outstanding in their queues. Taken in any context.
 * @last_qpn: number of the queue pair that the last completion was of;
 *	%CXIB_NO_QPN if it may be gone
 * @last_qp: the same
 * @resizing: the last entry of the old ring may be there
 * @cons_index: entries taken so far
 * @shared_queues: XRC shared receive queues that report here
 * @shared_queues_going: those of them that nobody can find any more, and whose
 *	completions may still be here
 * @is_armed: somebody wants to be told of the next completion; of the kernel's queues
 *	no other event makes sense. Read without @lock.
 * @queue_pairs: struct cxib_qp that report here by number; they are taken out with @lock
 * @send_qps: struct cxib_qp whose send queues report here
 * @recv_qps: struct cxib_qp whose receive queues report here
 */
struct cxib_cq {
	struct ib_cq ib;
	u32 cqn;
	struct cxib_user_queue user;
	bool is_user;
	u16 uid;
	enum hw_cqe_size user_entry;
	unsigned int log_size;
	struct cxib_buffer buffer;
	struct cxib_dbr dbr;
	struct cxib_eq *eq;
	struct cxib_reference reference;
	u32 arm_sn;
	struct mutex resize_lock; /* see above */
	spinlock_t lock; /* the reader */
	bool resizing;
	u32 last_qpn;
	struct cxib_qp *last_qp;
	u32 cons_index;
	u32 shared_queues;
	u32 shared_queues_going;
	bool is_armed;
	struct xarray queue_pairs;
	struct list_head send_qps;
	struct list_head recv_qps;
};

static inline struct cxib_cq *to_cq(struct ib_cq *ib)
{
	return container_of(ib, struct cxib_cq, ib);
}

/* cq.c */
int cxib_cq_init(struct ib_cq *ib, const struct ib_cq_init_attr *attr);
int cxib_cq_create_hw(struct cxib_cq *cq, struct cxib_cq_params *params);
int cxib_cq_publish(struct cxib_cq *cq);
void cxib_cq_abort(struct cxib_cq *cq);
int cxib_create_cq_kernel(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs);
int cxib_destroy_cq_kernel(struct ib_cq *ib, struct ib_udata *udata);
int cxib_modify_cq(struct ib_cq *ib, u16 count, u16 microseconds);
void cxib_completion_event(void *context, u32 cqn);
void cxib_flush_cqs(struct work_struct *work);
void cxib_flush_mads(struct work_struct *work);
void cxib_clean_xrc_tgt_cqes(struct cxib_ibdev *ibdev, struct cxib_qp *qp);
void cxib_cq_error_event(void *context, u32 cqn, u32 syndrome);
void cxib_cq_invalidate(const struct cxib_buffer *ring, unsigned int log_size);

/* cq_resize.c */
int cxib_resize_cq_kernel(struct ib_cq *ib, int entries);
void cxib_resize_failed(struct cxib_cq *cq, int err, u8 status);
void cxib_cq_switch_ring(struct cxib_cq *cq, struct cxib_buffer *ring, unsigned int log_size);

/* cq_poll.c */
int cxib_poll_cq(struct ib_cq *ib, int count, struct ib_wc *wc);
int cxib_peek_cq(struct ib_cq *ib, int count);
void cxib_cq_flush_mads(struct cxib_cq *cq);
bool cxib_cq_event_due(struct cxib_cq *cq);
int cxib_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags);
void cxib_cq_clean(struct cxib_cq *cq, struct cxib_qp *qp);
void cxib_cq_clean_srq(struct cxib_cq *cq, u32 srqn);

#endif
