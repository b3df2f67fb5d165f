/* SPDX-License-Identifier: GPL-2.0-only */
/* Completion queues (CQs). */
#ifndef CXIB_VERBS_CQ_CQ_H
#define CXIB_VERBS_CQ_CQ_H

#include "hw/completion.h"
#include "hw/cq.h"
#include "verbs/cq/arming.h"
#include "verbs/verbs.h"

/* cq_period has 12 bits. */
#define CXIB_MODERATION_US_MAX	4095

struct cxib_eq;
struct cxib_qp;

/* No QPN has this value, since QPNs have 24 bits. */
#define CXIB_NO_QPN		U32_MAX

/**
 * struct cxib_cq - a completion queue
 * @ib: the RDMA core's CQ
 * @cqn: CQN
 * @log_size: log2 of the number of CQEs
 * @user: memory and UAR that user space passed; NULL: kernel CQ
 * @is_user: polled by user space, not by the kernel
 * @uid: owner uid; 0: kernel
 * @user_entry: CQE size of a user CQ
 * @eq: EQ of completion events
 * @arming: decides whether an event is delivered; user CQs use only its counter of events
 * @buffer: ring
 * @dbr: doorbell record: consumer index and arm word
 * @poll: the scheduler's state of a kernel CQ; NULL: the comp_handler gets all events. Set once,
 *	when the scheduler is to poll the CQ for the first time.
 * @poll_node: entry in the scheduler's list of CQs; empty: the scheduler must not poll the CQ.
 *	Protected by the lock of the scheduler's settings.
 * @reference: held while an asynchronous event is delivered
 * @resize_lock: serializes changes of the ring; taken before @lock, in process
 *	context
 * @lock: serializes pollers; protects the members below, and the consumer indices of the QPs
 *	attached to the CQ. Taken in any context.
 * @last_qpn: QPN of the last CQE; %CXIB_NO_QPN if the QP may have been freed
 * @last_qp: QP with @last_qpn
 * @is_stopped: cxib_pre_destroy_cq() has destroyed the CQ in the device, so it is no longer armed
 * @resizing: the old ring may contain the RESIZE_CQ CQE
 * @is_arm_deferred: the CQ is to be armed when @resizing becomes false
 * @arm_command: enum hw_cq_arm_command of the last arming
 * @num_arms: number of armings with the current arm_sn, at most 2; used if the ULP has its own
 *	comp_handler
 * @cons_index: number of CQEs consumed
 * @num_xrc_srqs: number of XRC SRQs attached to the CQ
 * @num_xrc_srqs_unpublished: number of XRC SRQs that were removed from the SRQ table, but whose
 *	CQEs may still be in the ring
 * @queue_pairs: attached struct cxib_qp by QPN; erased with @lock held
 * @send_qps: list of struct cxib_qp that have this CQ as send CQ
 * @recv_qps: list of struct cxib_qp that have this CQ as receive CQ
 */
struct cxib_cq {
	struct ib_cq ib;
	u32 cqn;
	unsigned int log_size;
	struct cxib_user_queue *user;
	bool is_user;
	u16 uid;
	enum hw_cqe_size user_entry;
	struct cxib_eq *eq;
	struct cxib_arming arming;
	struct cxib_buffer buffer;
	struct cxib_dbr dbr;
	struct cxib_poll_cq *poll;
	struct list_head poll_node;
	struct cxib_reference reference;
	struct mutex resize_lock; /* replaced or cleaned ring */
	spinlock_t lock; /* ring, indices, attached QPs */
	bool is_stopped;
	bool resizing;
	bool is_arm_deferred;
	u8 arm_command;
	u8 num_arms;
	u32 last_qpn;
	u32 cons_index;
	struct cxib_qp *last_qp;
	u32 num_xrc_srqs;
	u32 num_xrc_srqs_unpublished;
	struct xarray queue_pairs;
	struct list_head send_qps;
	struct list_head recv_qps;
};

static inline struct cxib_cq *to_cq(struct ib_cq *ib)
{
	return container_of(ib, struct cxib_cq, ib);
}

/*
 * Returns true if the RDMA core, or the scheduler in its place, arms and polls the CQ.
 * ib_alloc_cq() sets wc of such a CQ before it creates the CQ.
 */
static inline bool cxib_cq_is_core_polled(const struct cxib_cq *cq)
{
	return cq->ib.wc;
}

/* cq.c */
int cxib_cq_init(struct ib_cq *ib, const struct ib_cq_init_attr *attr);
int cxib_cq_create_hw(struct cxib_cq *cq, struct cxib_cq_params *params);
int cxib_cq_publish(struct cxib_cq *cq);
void cxib_cq_hand_over(struct cxib_cq *cq);
void cxib_cq_abort(struct cxib_cq *cq, struct ib_udata *udata);
int cxib_create_cq_kernel(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs);
int cxib_pre_destroy_cq(struct ib_cq *ib);
int cxib_destroy_cq_kernel(struct ib_cq *ib, struct ib_udata *udata);
int cxib_modify_cq(struct ib_cq *ib, u16 count, u16 microseconds);
void cxib_cq_synchronize(struct cxib_cq *cq);
void cxib_completion_event(void *context, const struct cxib_eq *eq, u32 cqn);
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
bool cxib_cq_end_resize(struct cxib_cq *cq);
int cxib_poll_cq(struct ib_cq *ib, int count, struct ib_wc *wc);
int cxib_peek_cq(struct ib_cq *ib, int count);
void cxib_cq_flush_mads(struct cxib_cq *cq);
bool cxib_cq_event_due(struct cxib_cq *cq);
void cxib_cq_count_own_event(struct cxib_ibdev *ibdev, struct cxib_cq *cq);
int cxib_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags);
void cxib_cq_clean(struct cxib_cq *cq, struct cxib_qp *qp);
void cxib_cq_clean_srq(struct cxib_cq *cq, u32 srqn);

#endif
