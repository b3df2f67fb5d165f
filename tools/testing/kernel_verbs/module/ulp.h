/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A user of kernel verbs that tests them: two HCAs of one machine, queue pairs
 * between them, and what the files of this module share.
 */
#ifndef CXIB_ULP_H
#define CXIB_ULP_H

#include <linux/sizes.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

/* What an end's memory consists of. */
#define ULP_AREA_SIZE	SZ_128K
#define ULP_LOCAL	0
#define ULP_EXPOSED	ULP_AREA_SIZE
#define ULP_RECEIVES	(2 * ULP_AREA_SIZE)
#define ULP_SLOTS	32
#define ULP_SLOT_SIZE	SZ_8K
#define ULP_MEMORY_SIZE	(ULP_RECEIVES + ULP_SLOTS * ULP_SLOT_SIZE)

#define ULP_PORT	1
#define ULP_QKEY	0x11111111
/* Only ends a case that has failed anyway. */
#define ULP_PATIENCE	(READ_ONCE(ulp_patience) * HZ)

/**
 * struct ulp_report - what a case has found
 * @text: of @size bytes
 * @size: of @text
 * @length: used of it
 */
struct ulp_report {
	char *text;
	size_t size;
	size_t length;
};

/**
 * struct ulp_settings - what a case can be told
 * @seed: of its random numbers
 * @rounds: how often it repeats what it does
 */
struct ulp_settings {
	u64 seed;
	u32 rounds;
};

/**
 * struct ulp_spec - what a pair of ends shall be like
 * @type: of the queue pairs
 * @shared: they receive from a shared receive queue
 * @is_signed: they register regions with signatures
 * @max_wr: requests of each queue
 * @max_sge: data segments of each request
 * @max_inline: bytes that a send request can carry
 * @mtu: of the path
 * @depth: reads and atomics that can be outstanding
 * @access: what the peer may do
 * @retries: retry_cnt
 * @rnr_retries: rnr_retry; 7: for ever
 * @core_polls: the RDMA core polls the completion queues; requests have ib_cqe
 * @context: where it does
 */
struct ulp_spec {
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
};

/**
 * struct ulp_end - one end
 * @device: HCA
 * @lid: of its port
 * @pd: with a key of all memory
 * @send_cq: completions of sends
 * @recv_cq: completions of receives
 * @srq: NULL unless receives are shared
 * @qp: queue pair
 * @ah: address of the other end, for datagrams
 * @memory: the areas above
 * @dma: the same for the device
 * @local_key: a key for the local area, which requests register
 * @exposed_key: the same for the exposed area
 * @cap: what the queue pair can do
 * @completion_events: told of either completion queue
 * @cq_errors: how often a completion queue has stopped
 * @last_event: enum ib_event_type of the queue pair or the shared receive queue; -1: none
 */
struct ulp_end {
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
};

/**
 * struct ulp_pair - two ends that talk to each other
 * @spec: what they are like
 * @ends: on the first HCA and on the second
 * @report: where to say what is wrong
 */
struct ulp_pair {
	struct ulp_spec spec;
	struct ulp_end ends[2];
	struct ulp_report *report;
};

static inline struct ulp_end *ulp_peer(struct ulp_pair *pair, const struct ulp_end *end)
{
	return &pair->ends[end == &pair->ends[0]];
}

/**
 * struct ulp_case - a test
 * @name: of the test
 * @run: does it; returns 0, or an error after ulp_fail()
 */
struct ulp_case {
	const char *name;
	int (*run)(struct ulp_report *report, const struct ulp_settings *settings);
};

/* Each ends with an entry without name. */
extern const struct ulp_case ulp_traffic_cases[];
extern const struct ulp_case ulp_key_cases[];
extern const struct ulp_case ulp_address_cases[];
extern const struct ulp_case ulp_error_cases[];
extern const struct ulp_case ulp_arming_cases[];
extern const struct ulp_case ulp_drain_cases[];
extern const struct ulp_case ulp_resize_cases[];
extern const struct ulp_case ulp_xrc_cases[];
extern const struct ulp_case ulp_cq_cases[];
extern const struct ulp_case ulp_cost_cases[];
extern const struct ulp_case ulp_signature_cases[];
extern const struct ulp_case ulp_moderation_cases[];

/* main.c */
__printf(2, 3) int ulp_fail(struct ulp_report *report, const char *format, ...);
__printf(2, 3) void ulp_say(struct ulp_report *report, const char *format, ...);
extern unsigned int ulp_patience;
struct ib_device *ulp_device(unsigned int index);

/* pair.c */
extern const struct ulp_spec ulp_usual;
int ulp_pair_create(struct ulp_pair *pair, const struct ulp_spec *spec, struct ulp_report *report);
void ulp_pair_destroy(struct ulp_pair *pair);
int ulp_connect(struct ulp_pair *pair);
int ulp_to_state(struct ulp_end *end, enum ib_qp_state state);
int ulp_map_key(struct ib_mr *mr, u64 dma, u32 length);
void ulp_to_device(struct ulp_end *end);
void ulp_to_cpu(struct ulp_end *end);
int ulp_post_receive(struct ulp_end *end, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad);

/* completions.c */
int ulp_await(struct ulp_pair *pair, struct ib_cq *cq, struct ib_wc *wc);
int ulp_await_status(struct ulp_pair *pair, struct ib_cq *cq, u64 wr_id,
		     enum ib_wc_status status);
int ulp_await_nothing(struct ulp_pair *pair);

#endif
