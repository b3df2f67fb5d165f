/* SPDX-License-Identifier: GPL-2.0-only */
/* QPs and their work queues. */
#ifndef CXIB_VERBS_QP_QP_H
#define CXIB_VERBS_QP_QP_H

#include "hw/contexts.h"
#include "hw/qp.h"
#include "verbs/cq/cq.h"
#include "verbs/verbs.h"

/* Send WQE basic block (WQEBB), the unit of SQ indices. */
#define CXIB_LOG_WQEBB_SIZE	6
#define CXIB_WQEBB_SIZE		BIT(CXIB_LOG_WQEBB_SIZE)
/* Maximum SGEs of a send WR: a WQE of an RDMA READ is at most 512 bytes. */
#define CXIB_SEND_SGE_MAX	30
/* Data segment (DS), the unit of WQE lengths. */
#define CXIB_LOG_DS_SIZE	4
#define CXIB_DS_SIZE		BIT(CXIB_LOG_DS_SIZE)
#define CXIB_DS_PER_WQEBB	(CXIB_WQEBB_SIZE / CXIB_DS_SIZE)

/* QP type of the driver's own UMR QP, which updates mkeys of all PDs. */
#define CXIB_QPT_UMR		IB_QPT_RESERVED1

/* A QP that sends for the GSI QP: its packets name QP 1 as source. */
#define CXIB_QP_CREATE_GSI_TX	IB_QP_CREATE_RESERVED_START

/*
 * The requester requests an ACK for every 2^8 packets; with 0 it would request an ACK for each
 * packet. CREATE_QP, INIT2RTR and RTR2RTS have the field, and each of them overwrites it.
 */
#define CXIB_LOG_ACK_REQ_FREQ	8

struct cxib_dct;
struct cxib_pipelining;
struct cxib_qp;
struct hw_wqe_ctrl_seg;

/*
 * Opcodes of completions that poll_cq() does not report unchanged:
 * - of a NOP WQE;
 * - of a sub-WQE: if a WR needs several WQEs, all but the last are sub-WQEs. A sub-WQE that fails
 *   is reported as the WR;
 * - of a cancelled WR, with the opcode of the WR in the lower bits.
 */
#define CXIB_WC_NOP	U8_MAX
#define CXIB_WC_SUB_WQE	(U8_MAX - 1)
#define CXIB_WC_CANCELLED	GENMASK(7, 6)

/**
 * struct cxib_sq_entry - software state of a WQEBB of the SQ
 * @wr_id: wr_id of the WR
 * @blocks: number of WQEBBs of the WQE; 0: no WQE begins here
 * @opcode: enum ib_wc_opcode or CXIB_WC_… of the completion
 */
struct cxib_sq_entry {
	u64 wr_id;
	u8 blocks;
	u8 opcode;
};

/**
 * enum cxib_sq_state - reasons why an SQ is in SQD: requested by the ULP, stopped by the device, or
 * both
 * @CXIB_SQ_HELD: requested by the ULP: the driver does not ring the doorbell
 * @CXIB_SQ_STOPPED: stopped by the device after a signature error: it starts no WQE until
 *	SQD2RTS_QP
 * @CXIB_SQ_COLLECTED: stopped, and the driver has listed the errors found before the stop, so WQEs
 *	may be cancelled
 * @CXIB_SQ_FETCHED: collected, and the ULP has fetched all of these errors; manual policy only
 * @CXIB_SQ_FAILED: the device has reported that it has moved the QP to ERR; used with signature
 *	pipelining only
 */
enum cxib_sq_state {
	CXIB_SQ_HELD = BIT(0),
	CXIB_SQ_STOPPED = BIT(1),
	CXIB_SQ_COLLECTED = BIT(2),
	CXIB_SQ_FETCHED = BIT(3),
	CXIB_SQ_FAILED = BIT(4),
};

/**
 * struct cxib_sq - send queue, a ring of WQEBBs
 * @offset: offset in the buffer of the QP, bytes
 * @log_size: log2 of the number of WQEBBs
 * @mask: number of WQEBBs less one; kernel QPs only
 * @max_sge: maximum SGEs of a WR
 * @max_inline: maximum inline data of a WR, bytes
 * @av_ds: DS of the datagram segment of each WQE; 0: connected QP
 * @flags: IB_SEND_… that are added to each WR
 * @opcode_mask: bit for each supported enum ib_wr_opcode
 * @umr_fence: fence mode of UMR WQEs for WRs
 * @key_mask: HW_MKEY_MASK_… of the mkey fields that IB_WR_REG_MR modifies
 * @entries: one for each WQEBB
 * @doorbell: doorbell register
 * @lock: serializes post_send; protects @prod_index. Taken in any context.
 * @next_fence: fence mode of the next WQE: the last one may be a UMR WQE; protected
 *	by @lock
 * @state: enum cxib_sq_state bits; protected by @lock
 * @is_pipelined: signature errors stop the SQ; constant from RTR on
 * @num_stops: number of SQ_DRAINED events of the device; protected by @lock
 * @can_post: post_send may post to this SQ directly: the QP is in RTS or a later state, is not a
 *	GSI QP with several SQs, and has no signature pipelining; set with the state, read without a
 *	lock
 * @last: control segment of the last WQE that no doorbell has announced; NULL: none; protected by
 *	@lock
 * @prod_limit: upper limit of @prod_index, computed from the @cons_index that was read last;
 *	protected by @lock
 * @prod_index: number of WQEBBs posted
 * @cons_index: number of WQEBBs retired; protected by the lock of the send CQ, read
 *	without it
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
	spinlock_t lock; /* posted WQEs, state */
	u8 next_fence;
	u8 state;
	bool is_pipelined;
	bool can_post;
	const struct hw_wqe_ctrl_seg *last;
	u32 prod_limit;
	u32 prod_index;
	u32 cons_index;
	u32 num_stops;
};

/**
 * struct cxib_rq - receive queue, a ring of WQEs
 * @log_size: log2 of the number of WQEs
 * @log_stride: log2 of the bytes of a WQE
 * @max_sge: maximum SGEs of a WR
 * @entries: one for each WQE
 * @lock: serializes post_recv; protects @prod_index. Taken in any context.
 * @prod_index: number of WQEs posted
 * @cons_index: number of WQEs retired; protected by the lock of the receive CQ, read
 *	without it
 */
struct cxib_rq {
	unsigned int log_size;
	unsigned int log_stride;
	unsigned int max_sge;
	struct cxib_rq_entry *entries;
	spinlock_t lock; /* posted WQEs */
	u32 prod_index;
	u32 cons_index;
};

/**
 * struct cxib_drain - drain state of an SQ
 * @work: polls whether the SQ is drained
 * @qp: QP
 *
 * The lock of the SQ protects the members below.
 *
 * @notify: IB_EVENT_SQ_DRAINED must be raised at the end of the drain
 * @last: index of the first WQEBB of the last announced WQE
 * @end: index of the WQEBB after the last announced WQE
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
 * @ib: the RDMA core's QP
 * @qpn: QPN of the device; ib.qp_num of SMI and GSI QPs is 0 and 1
 * @port: port of an SMI or GSI QP, or of the primary path; 0: not set yet
 * @user: memory and UAR that user space passed; user QPs only
 * @is_user: user space has created the QP and posts to it; the kernel does not
 * @uar: index of its UAR page
 * @user_index: user_index of its CQEs; user QPs only
 * @packet_based_credit: end-to-end credits of the requester count packets, not messages
 * @has_sq: the QP has an SQ
 * @has_rq: the QP has an RQ
 * @buffer: the RQ, followed by the SQ
 * @dbr: doorbell record
 * @sq: send queue
 * @rq: receive queue
 * @reference: held while an asynchronous event is delivered
 * @send_node: entry in send_qps of the send CQ
 * @recv_node: entry in recv_qps of the receive CQ
 * @cap: capabilities as returned to the RDMA core
 * @gsi: per-P_Key send QPs of a GSI QP; NULL for others
 * @wc_qp: QP of its send completions: its own, or the GSI QP
 * @dct: state of a DCT; NULL for others
 * @mad_flush_index: when DMA is off, the driver flushes MADs up to this WQEBB; protected by the
 *	lock of the send CQ
 * @mutex: serializes modify_qp and changes of @groups; protects the members below
 * @groups: multicast groups of the QP
 * @state: enum ib_qp_state; written with the mutex and the lock of the SQ held, read without a lock
 * @access: IB_ACCESS_REMOTE_… of the remote peer
 * @drain: NULL until the SQ is drained for the first time
 * @pipelining: signature pipelining; remains until the QP is destroyed; NULL: not enabled. Read
 *	without the mutex.
 * @max_dest_rd_atomic: maximum outstanding RDMA READs and atomics as responder
 * @max_rd_atomic: maximum outstanding RDMA READs and atomics as initiator
 * @log_dci_streams: log2 of the number of streams of a DCI; constant
 * @log_dci_errored: log2 of the number of errored streams a DCI tolerates; constant
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
	struct mutex mutex; /* state, attributes, groups */
	struct hlist_head groups;
	struct cxib_drain *drain;
	struct cxib_pipelining *pipelining;
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

/* Returns true for a QP that sends for the GSI QP with another P_Key. */
static inline bool cxib_qp_is_gsi_tx(const struct cxib_qp *qp)
{
	return qp->wc_qp != &qp->ib;
}

/*
 * Returns true for kernel QPs. Only their WQEs may use resd_lkey, which addresses memory by DMA
 * address.
 */
static inline bool cxib_qp_uses_resd_lkey(const struct cxib_qp *qp)
{
	return !qp->is_user && qp->ib.device->local_dma_lkey;
}

/* Returns true if the QP sends MADs: it is an SMI or GSI QP, or sends for the GSI QP. */
static inline bool cxib_qp_is_mad(const struct cxib_qp *qp)
{
	return cxib_qp_is_special(qp) || cxib_qp_is_gsi_tx(qp);
}

/* @state: enum ib_qp_state. The caller holds the mutex, or the QP is not published yet. */
static inline void cxib_qp_set_state(struct cxib_qp *qp, u8 state)
{
	WRITE_ONCE(qp->state, state);
	WRITE_ONCE(qp->sq.can_post, state >= IB_QPS_RTS && !qp->gsi && !qp->sq.is_pipelined);
}

static inline bool cxib_qp_is_xrc(const struct cxib_qp *qp)
{
	return qp->ib.qp_type == IB_QPT_XRC_INI || qp->ib.qp_type == IB_QPT_XRC_TGT;
}

/* DCIs are user QPs only. */
static inline bool cxib_qp_is_dci(const struct cxib_qp *qp)
{
	return qp->ib.qp_type == IB_QPT_DRIVER && !qp->dct;
}

/*
 * Returns the owner uid; 0 is that of the kernel. XRC_TGT QPs have no PD, and processes share them,
 * so they belong to the kernel. So do XRC_INI QPs, because no public driver creates XRC QPs of
 * another uid.
 */
static inline u16 cxib_qp_uid(const struct cxib_qp *qp)
{
	return qp->ib.pd && !cxib_qp_is_xrc(qp) ? to_pd(qp->ib.pd)->uid : 0;
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

/* QPN of the GSI QP on the fabric. */
#define CXIB_GSI_NUMBER		1

/* Default value of user_index. */
#define CXIB_NO_USER_INDEX	0xffffff

/* qp.c */
int cxib_qp_service_type(enum ib_qp_type type);
u32 cxib_qp_pdn(const struct cxib_qp *qp);
int cxib_qp_init(struct cxib_qp *qp, const struct ib_qp_init_attr *init);
void cxib_qp_fill_context(const struct cxib_qp *qp, const struct ib_qp_init_attr *init,
			  struct hw_qpc *context);
void cxib_qp_set_opcode_mask(struct cxib_qp *qp);
int cxib_qp_create_hw(struct cxib_qp *qp, const struct ib_qp_init_attr *init);
int cxib_create_qp_kernel(struct ib_qp *ib, struct ib_qp_init_attr *init,
			  struct ib_udata *udata);
int cxib_destroy_qp_kernel(struct ib_qp *ib, struct ib_udata *udata);
int cxib_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init);
void cxib_queue_event(void *context, enum hw_event_type type, enum hw_event_queue_type kind,
		      u32 number);
void cxib_qp_clean(struct cxib_qp *qp);

/* qp_size.c */
int cxib_qp_size(const struct cxib_ibdev *ibdev, struct cxib_qp *qp, struct ib_qp_init_attr *init);
size_t cxib_qp_buffer_size(const struct cxib_qp *qp);

/* qp_state.c */
int cxib_modify_qp_kernel(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata);
int cxib_qp_enable_drain_sigerr(struct cxib_qp *qp);

/* qp_transition.c */
int cxib_qp_transition(const struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask,
		       struct cxib_qp_transition *transition);

/* qp_drain.c */
int cxib_sq_drain(struct cxib_qp *qp, bool notify);
void cxib_sq_resume(struct cxib_qp *qp);
bool cxib_sq_is_drained(struct cxib_qp *qp);
void cxib_sq_stop(struct cxib_qp *qp);
void cxib_qp_adopt_stop(struct cxib_qp *qp);
void cxib_sq_fail(struct cxib_qp *qp);
u8 cxib_sq_clear_stop(struct cxib_qp *qp);
void cxib_sq_restore_stop(struct cxib_qp *qp, u8 stop);
void cxib_qp_discard_stop(struct cxib_qp *qp);
void cxib_qp_enter_state(struct cxib_qp *qp, enum ib_qp_state state);
void cxib_drain_destroy(struct cxib_qp *qp);

/* multicast.c */
int cxib_attach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid);
int cxib_detach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid);
void cxib_leave_mcast_groups(struct cxib_qp *qp);
void cxib_forget_mcast_groups(struct cxib_qp *qp);

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
