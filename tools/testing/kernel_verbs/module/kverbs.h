/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ULP that tests kernel verbs with QPs between two HCAs of one machine: interface between the
 * files of this module.
 */
#ifndef CXIB_ULP_H
#define CXIB_ULP_H

#include <cxib/poll_context.h>
#include <linux/sizes.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

/* Areas of an end's memory. */
#define KVERBS_AREA_SIZE	SZ_128K
#define KVERBS_LOCAL	0
#define KVERBS_EXPOSED	KVERBS_AREA_SIZE
#define KVERBS_RECEIVES	(2 * KVERBS_AREA_SIZE)
#define KVERBS_SLOTS	32
#define KVERBS_SLOT_SIZE	SZ_8K
#define KVERBS_MEMORY_SIZE	(KVERBS_RECEIVES + KVERBS_SLOTS * KVERBS_SLOT_SIZE)

#define KVERBS_PORT	1
#define KVERBS_QKEY	0x11111111
/* Ends only a case that has already failed. */
#define KVERBS_PATIENCE	(READ_ONCE(kverbs_patience) * HZ)

/**
 * struct kverbs_report - findings of a case
 * @text: text of the report
 * @size: bytes of @text
 * @length: bytes used
 */
struct kverbs_report {
	char *text;
	size_t size;
	size_t length;
};

/**
 * struct kverbs_settings - settings of a case
 * @seed: seed of its random numbers
 * @rounds: number of repetitions
 */
struct kverbs_settings {
	u64 seed;
	u32 rounds;
};

struct kverbs_pair;

/**
 * struct kverbs_spec - attributes of a pair of ends
 * @type: type of the QPs
 * @shared: the QPs receive from an SRQ
 * @is_signed: the QPs can register MRs with signatures
 * @max_wr: WRs of each queue
 * @max_sge: SGEs of each WR
 * @max_inline: inline bytes of a send WR
 * @mtu: path MTU
 * @depth: maximum number of outstanding READs and atomics
 * @access: access flags for the peer
 * @retries: retry_cnt
 * @rnr_retries: rnr_retry; 7: infinite
 * @core_polls: the RDMA core polls the CQs; WRs have an ib_cqe
 * @context: polling context of the RDMA core
 * @options: polling context of cxib instead of @context; NULL: none
 * @pooled: the CQs of the second end come from the RDMA core's pool, as for most ULPs
 * @prepare: called before the QPs leave RESET for the first time; NULL: none
 */
struct kverbs_spec {
	enum ib_qp_type type;
	bool shared;
	bool is_signed;
	u32 max_wr;
	u32 max_sge;
	u32 max_inline;
	enum ib_mtu mtu;
	u8 depth;
	int access;
	u8 retries;
	u8 rnr_retries;
	bool core_polls;
	enum ib_poll_context context;
	const struct cxib_cq_options *options;
	bool pooled;
	int (*prepare)(struct kverbs_pair *pair);
};

/**
 * struct kverbs_end - one end
 * @device: HCA
 * @lid: LID of its port
 * @pd: PD with a local key for all memory
 * @send_cq: CQ of the send queue
 * @recv_cq: CQ of the receive queue
 * @srq: SRQ; NULL if the QP has its own receive queue
 * @qp: QP
 * @ah: address of the peer, for datagrams
 * @memory: the areas above
 * @dma: DMA address of @memory
 * @local_key: key for the local area, which WRs register
 * @exposed_key: key for the exposed area, which WRs register
 * @cap: capabilities of the QP
 * @completion_events: number of completion events of both CQs
 * @cq_errors: number of CQ errors
 * @last_event: last enum ib_event_type of the QP or the SRQ; -1: none
 * @pooled: both CQs come from the RDMA core's pool
 */
struct kverbs_end {
	struct ib_device *device;
	u16 lid;
	struct ib_pd *pd;
	struct ib_cq *send_cq;
	struct ib_cq *recv_cq;
	struct ib_srq *srq;
	struct ib_qp *qp;
	struct ib_ah *ah;
	u8 *memory;
	u64 dma;
	struct ib_mr *local_key;
	struct ib_mr *exposed_key;
	struct ib_qp_cap cap;
	atomic_t completion_events;
	atomic_t cq_errors;
	int last_event;
	bool pooled;
};

/**
 * struct kverbs_pair - two connected ends
 * @spec: their attributes
 * @ends: end on the first HCA and end on the second
 * @report: report of the case
 * @user: data of the case
 */
struct kverbs_pair {
	struct kverbs_spec spec;
	struct kverbs_end ends[2];
	struct kverbs_report *report;
	void *user;
};

static inline struct kverbs_end *kverbs_peer(struct kverbs_pair *pair, const struct kverbs_end *end)
{
	return &pair->ends[end == &pair->ends[0]];
}

/**
 * struct kverbs_case - a test
 * @name: name of the test
 * @run: runs it; returns 0, or an error after kverbs_fail()
 */
struct kverbs_case {
	const char *name;
	int (*run)(struct kverbs_report *report, const struct kverbs_settings *settings);
};

/* Each array ends with an entry without a name. */
extern const struct kverbs_case kverbs_traffic_cases[];
extern const struct kverbs_case kverbs_key_cases[];
extern const struct kverbs_case kverbs_address_cases[];
extern const struct kverbs_case kverbs_error_cases[];
extern const struct kverbs_case kverbs_arming_cases[];
extern const struct kverbs_case kverbs_concurrent_cases[];
extern const struct kverbs_case kverbs_drain_cases[];
extern const struct kverbs_case kverbs_resize_cases[];
extern const struct kverbs_case kverbs_xrc_cases[];
extern const struct kverbs_case kverbs_cq_cases[];
extern const struct kverbs_case kverbs_cost_cases[];
extern const struct kverbs_case kverbs_signature_cases[];
extern const struct kverbs_case kverbs_moderation_cases[];
extern const struct kverbs_case kverbs_context_cases[];
extern const struct kverbs_case kverbs_pipelining_cases[];
extern const struct kverbs_case kverbs_pipelining_stop_cases[];
extern const struct kverbs_case kverbs_pipelining_thread_cases[];
extern const struct kverbs_case kverbs_pipelining_error_cases[];

/* main.c */
__printf(2, 3) int kverbs_fail(struct kverbs_report *report, const char *format, ...);
__printf(2, 3) void kverbs_say(struct kverbs_report *report, const char *format, ...);
extern unsigned int kverbs_patience;
struct ib_device *kverbs_device(unsigned int index);

/* pair.c */
extern const struct kverbs_spec kverbs_usual;
int kverbs_pair_create(struct kverbs_pair *pair, const struct kverbs_spec *spec, struct kverbs_report *report);
void kverbs_pair_destroy(struct kverbs_pair *pair);
int kverbs_connect(struct kverbs_pair *pair);
int kverbs_to_state(struct kverbs_end *end, enum ib_qp_state state);
int kverbs_map_key(struct ib_mr *mr, u64 dma, u32 length);
void kverbs_to_device(struct kverbs_end *end);
void kverbs_to_cpu(struct kverbs_end *end);
int kverbs_post_receive(struct kverbs_end *end, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad);

/* cases_contexts.c */
bool kverbs_is_in_context(const struct cxib_cq_options *options);

/* cases_context_full.c */
int kverbs_context_full_softirq(struct kverbs_report *report, const struct kverbs_settings *settings);
int kverbs_context_full_sleeping(struct kverbs_report *report, const struct kverbs_settings *settings);

/* cases_context_input.c */
int kverbs_context_input(struct kverbs_report *report, const struct kverbs_settings *settings);
int kverbs_context_killed(struct kverbs_report *report, const struct kverbs_settings *settings);
int kverbs_context_no_options(struct kverbs_report *report,
			      const struct kverbs_settings *settings);

/* completions.c */
int kverbs_await(struct kverbs_pair *pair, struct ib_cq *cq, struct ib_wc *wc);
int kverbs_await_status(struct kverbs_pair *pair, struct ib_cq *cq, u64 wr_id,
		     enum ib_wc_status status);
int kverbs_await_nothing(struct kverbs_pair *pair);

#endif
