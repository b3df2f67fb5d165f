/* SPDX-License-Identifier: GPL-2.0-only */
/* Queue pairs and their work queues. */
#ifndef CXIB_VERBS_QP_QP_H
#define CXIB_VERBS_QP_QP_H

#include "hw/contexts.h"
#include "hw/qp.h"
#include "verbs/cq/cq.h"
#include "verbs/verbs.h"

/* The unit of the send queue. */
#define CXIB_LOG_WQEBB_SIZE	6
#define CXIB_WQEBB_SIZE		BIT(CXIB_LOG_WQEBB_SIZE)
/* Data segments of a send request: read requests are no longer than 512 bytes. */
#define CXIB_SEND_SGE_MAX	30
/* The unit of requests. */
#define CXIB_LOG_DS_SIZE	4
#define CXIB_DS_SIZE		BIT(CXIB_LOG_DS_SIZE)
#define CXIB_DS_PER_WQEBB	(CXIB_WQEBB_SIZE / CXIB_DS_SIZE)

/* A queue pair that changes memory keys of all protection domains. Only the driver has one. */
#define CXIB_QPT_UMR		IB_QPT_RESERVED1

/*
 * The requester asks for an ACK every 2^8 packets; with 0 it would for each. CREATE_QP,
 * INIT2RTR and RTR2RTS take the field, and each overwrites it.
 */
#define CXIB_LOG_ACK_REQ_FREQ	8

struct cxib_dct;
struct cxib_qp;
struct hw_wqe_ctrl_seg;

/*
 * What completions that nobody sees would say: that of a mark, and that of a part
 * of a request which is several for the device, but for the last one. A part that
 * fails is seen.
 */
#define CXIB_WC_NOP	U8_MAX
#define CXIB_WC_SUB_WQE	(U8_MAX - 1)

/**
 * struct cxib_sq_entry - what was posted at a block of the send queue
 * @wr_id: what the poster calls it
 * @blocks: blocks that it takes; 0: no request begins here
 * @opcode: what its completion will say
 */
struct cxib_sq_entry {
	u64 wr_id;
	u8 blocks;
	u8 opcode;
};

/**
 * struct cxib_sq - a ring of blocks
 * @offset: where it begins in the buffer of the queue pair
 * @log_size: log2 of its blocks
 * @mask: their number less one; for the kernel only
 * @max_sge: data segments that a request can have
 * @max_inline: bytes that a request can carry itself
 * @av_ds: what each request takes for the address of a datagram; 0:
 *	there are connections only
 * @flags: IB_SEND_…: what all requests have
 * @opcode_mask: bit for each enum ib_wr_opcode that it can do
 * @umr_fence: how requests that change memory keys wait for earlier ones
 * @key_mask: HW_MKEY_MASK_…: what IB_WR_REG_MR changes of an mkey
 * @entries: one for each block
 * @doorbell: to ring
 * @lock: one poster at a time; protects @prod_index. Taken in any context.
 * @next_fence: how the next request waits for earlier ones: the last one may have
 *	changed a memory key; protected by @lock
 * @sqd_hold: the device is not told of what is posted; protected by @lock
 * @can_post: the core's posters may post here: the queue pair is in a state for it, and has
 *	not several queues for what they post; changed with the state, read without a lock
 * @last: control segment of the last request that the device was not told of; NULL:
 *	it was told of all; protected by @lock
 * @prod_limit: blocks can be posted up to here for all that the poster knows; protected
 *	by @lock
 * @prod_index: blocks posted so far
 * @cons_index: blocks whose requests are done; protected by the lock of the
 *	completion queue, read without it
 */
struct cxib_sq {
	size_t offset;
	unsigned int log_size;
	u32 mask;
	unsigned int max_sge;
	unsigned int max_inline;
	unsigned int av_ds;
	u32 flags;
	u64 opcode_mask;
	enum hw_fence_mode umr_fence;
	u64 key_mask;
	struct cxib_sq_entry *entries;
	void __iomem *doorbell;
	spinlock_t lock; /* posters */
	u8 next_fence;
	bool sqd_hold;
	bool can_post;
	const struct hw_wqe_ctrl_seg *last;
	u32 prod_limit;
	u32 prod_index;
	u32 cons_index;
};

/**
 * struct cxib_rq - a ring of requests
 * @log_size: log2 of its requests
 * @log_stride: log2 of the bytes of one
 * @max_sge: data segments that a request can have
 * @entries: what the driver knows of each
 * @lock: one poster at a time; protects @prod_index. Taken in any context.
 * @prod_index: requests posted so far
 * @cons_index: requests that are done; protected by the lock of the completion
 *	queue, read without it
 */
struct cxib_rq {
	unsigned int log_size;
	unsigned int log_stride;
	unsigned int max_sge;
	struct cxib_rq_entry *entries;
	spinlock_t lock; /* posters */
	u32 prod_index;
	u32 cons_index;
};

/**
 * struct cxib_drain - of a send queue that has been drained by the driver
 * @work: looks whether it is drained
 * @qp: queue pair
 *
 * What follows is protected by the lock of the send queue.
 *
 * @notify: its user waits for an event
 * @last: block that the last request begins at that the device knows of
 * @end: the block behind it
 */
struct cxib_drain {
	struct delayed_work work;
	struct cxib_qp *qp;
	bool notify;
	u16 last;
	u32 end;
};

/**
 * struct cxib_qp - a queue pair
 * @ib: as the RDMA core sees it
 * @qpn: as the device sees it; the core calls special ones 0 and 1
 * @port: port of a special one, or of the path; 0: none yet
 * @user: what the program that it belongs to has brought for it
 * @is_user: a program posts to it, not the kernel
 * @uar: number of the page of doorbells that it uses
 * @user_index: what its completions call it, for a program
 * @packet_based_credit: credits of the other end are packets, not messages
 * @has_sq: there is a send queue
 * @has_rq: there is a receive queue
 * @buffer: memory of its queues: the receive queue, then the send queue
 * @dbr: tells the device what was posted
 * @sq: send queue
 * @rq: receive queue
 * @reference: keeps it while an event is told
 * @send_node: in the list of the completion queue for sends
 * @recv_node: in the list of the completion queue for receives
 * @cap: sizes of its queues, as the core has been told
 * @gsi: what one of general services sends with other P_Keys by; NULL for others
 * @wc_qp: whose requests it sends: its own, or those of the queue pair of general services
 * @dct: what a target of dynamic connections has; NULL for others
 * @mad_flush_index: datagrams of the management fail up to this block although a quiet device
 *	says nothing; protected by the lock of the completion queue
 * @mutex: one change at a time; protects what follows
 * @state: enum ib_qp_state; read without the mutex
 * @access: IB_ACCESS_REMOTE_…: what the other end may do
 * @drain: NULL until the send queue is drained for the first time
 * @max_dest_rd_atomic: reads and atomics of the other end that can be outstanding
 * @max_rd_atomic: the same for this end
 * @log_dci_streams: log2 of the streams of an initiator of dynamic connections; does not change
 * @log_dci_errored: log2 of those that may fail before it does; does not change
 */
struct cxib_qp {
	struct ib_qp ib;
	u32 qpn;
	u32 port;
	struct cxib_user_queue user;
	bool is_user;
	u32 uar;
	u32 user_index;
	bool packet_based_credit;
	bool has_sq;
	bool has_rq;
	struct cxib_buffer buffer;
	struct cxib_dbr dbr;
	struct cxib_sq sq;
	struct cxib_rq rq;
	struct cxib_reference reference;
	struct list_head send_node;
	struct list_head recv_node;
	struct ib_qp_cap cap;
	struct cxib_gsi *gsi;
	struct ib_qp *wc_qp;
	struct cxib_dct *dct;
	u32 mad_flush_index;
	struct mutex mutex; /* changes */
	struct cxib_drain *drain;
	u8 state;
	u8 access;
	u8 max_dest_rd_atomic;
	u8 max_rd_atomic;
	u8 log_dci_streams;
	u8 log_dci_errored;
};

static inline struct cxib_qp *to_qp(struct ib_qp *ib)
{
	return container_of(ib, struct cxib_qp, ib);
}

static inline bool cxib_qp_is_special(const struct cxib_qp *qp)
{
	return qp->ib.qp_type == IB_QPT_SMI || qp->ib.qp_type == IB_QPT_GSI;
}

/* It sends for the queue pair of general services. */
static inline bool cxib_qp_is_gsi_tx(const struct cxib_qp *qp)
{
	return qp->wc_qp != &qp->ib;
}

/* Its requests may name memory by bus address: only the kernel knows those. */
static inline bool cxib_qp_uses_resd_lkey(const struct cxib_qp *qp)
{
	return !qp->is_user && qp->ib.device->local_dma_lkey;
}

/* It sends datagrams of the management, if need be for the queue pair that the kernel knows. */
static inline bool cxib_qp_is_mad(const struct cxib_qp *qp)
{
	return cxib_qp_is_special(qp) || cxib_qp_is_gsi_tx(qp);
}

/* @state: enum ib_qp_state. With the mutex of the queue pair, or before others know it. */
static inline void cxib_qp_set_state(struct cxib_qp *qp, u8 state)
{
	WRITE_ONCE(qp->state, state);
	WRITE_ONCE(qp->sq.can_post, state >= IB_QPS_RTS && !qp->gsi);
}

static inline bool cxib_qp_is_xrc(const struct cxib_qp *qp)
{
	return qp->ib.qp_type == IB_QPT_XRC_INI || qp->ib.qp_type == IB_QPT_XRC_TGT;
}

/* It sends by dynamic connections; the kernel has none of these. */
static inline bool cxib_qp_is_dci(const struct cxib_qp *qp)
{
	return qp->ib.qp_type == IB_QPT_DRIVER && !qp->dct;
}

/* The user context that it belongs to. Any program can have a receiving XRC queue pair. */
static inline u16 cxib_qp_uid(const struct cxib_qp *qp)
{
	return qp->ib.pd ? to_pd(qp->ib.pd)->uid : 0;
}

static inline bool cxib_qp_is_connection(const struct cxib_qp *qp)
{
	return qp->ib.qp_type == IB_QPT_RC || qp->ib.qp_type == IB_QPT_UC || cxib_qp_is_xrc(qp) ||
	       cxib_qp_is_dci(qp);
}

static inline struct cxib_cq *cxib_send_cq(const struct cxib_qp *qp)
{
	return to_cq(qp->ib.send_cq);
}

static inline struct cxib_cq *cxib_recv_cq(const struct cxib_qp *qp)
{
	return to_cq(qp->ib.recv_cq);
}

/* What the fabric calls the queue pair of general services. */
#define CXIB_GSI_NUMBER		1

/* No user has given the queue pair an index of its own. */
#define CXIB_NO_USER_INDEX	0xffffff

/* qp.c */
int cxib_qp_init(struct cxib_qp *qp, const struct ib_qp_init_attr *init);
void cxib_qp_fill_context(const struct cxib_qp *qp, const struct ib_qp_init_attr *init,
			  struct hw_qpc *context);
int cxib_qp_create_hw(struct cxib_qp *qp, const struct ib_qp_init_attr *init);
int cxib_create_qp_kernel(struct ib_qp *ib, struct ib_qp_init_attr *init,
			  struct ib_udata *udata);
int cxib_destroy_qp_kernel(struct ib_qp *ib, struct ib_udata *udata);
int cxib_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init);
struct cxib_qp *cxib_get_qp(struct cxib_ibdev *ibdev, u32 qpn);
void cxib_queue_event(void *context, enum hw_event_type type, enum hw_event_queue_type kind,
		      u32 number);
void cxib_qp_clean(struct cxib_qp *qp);

/* qp_size.c */
int cxib_qp_size(const struct cxib_ibdev *ibdev, struct cxib_qp *qp, struct ib_qp_init_attr *init);
size_t cxib_qp_buffer_size(const struct cxib_qp *qp);

/* qp_state.c */
int cxib_modify_qp_kernel(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata);
int cxib_qp_transition(const struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask,
		       struct cxib_qp_transition *transition);

/* qp_drain.c */
int cxib_sq_drain(struct cxib_qp *qp, bool notify);
void cxib_sq_resume(struct cxib_qp *qp);
bool cxib_sq_is_drained(struct cxib_qp *qp);
void cxib_drain_destroy(struct cxib_qp *qp);

/* multicast.c */
int cxib_attach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid);
int cxib_detach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid);

/* restrack.c */
int cxib_fill_res_cq_entry(struct sk_buff *message, struct ib_cq *ib);
int cxib_fill_res_qp_entry(struct sk_buff *message, struct ib_qp *ib);
int cxib_fill_stat_mr_entry(struct sk_buff *message, struct ib_mr *ib);

/* post_send.c, post_recv.c */
int cxib_qp_post_send(struct cxib_qp *qp, const struct ib_send_wr *wr,
		      const struct ib_send_wr **bad);
int cxib_post_send(struct ib_qp *ib, const struct ib_send_wr *wr, const struct ib_send_wr **bad);
int cxib_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);

#endif
