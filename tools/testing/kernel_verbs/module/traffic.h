/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random lists of WRs in both directions between two ends, and a model of what
 * they have to do.
 *
 * WRs of one end read and write its own local area and the exposed area of the
 * peer, and nothing else accesses these. So the contents of both areas follow
 * from the order in which the WRs were posted, if a WR that uses the result of
 * a read or atomic operation waits for it (fence).
 */
#ifndef CXIB_ULP_TRAFFIC_H
#define CXIB_ULP_TRAFFIC_H

#include <linux/prandom.h>

#include "kverbs.h"

#define KVERBS_MODEL_SIZE	(2 * KVERBS_AREA_SIZE)
#define KVERBS_LIST_MAX	8
#define KVERBS_SGE_MAX	8
#define KVERBS_RANGES_MAX	64
#define KVERBS_EXPECTED	64
#define KVERBS_GRH		40
#define KVERBS_INLINE_MAX	400
#define KVERBS_OPCODES		(IB_WR_REG_MR + 1)

/**
 * struct kverbs_request - a send request of any kind
 * @send: what all have
 * @rdma: reads and writes
 * @atomic: atomic operations
 * @ud: datagrams
 * @reg: registrations
 * @sges: data segments
 * @data: what they are when the request carries them: later requests of a list
 *	change the model before it is posted
 */
struct kverbs_request {
	union {
		struct ib_send_wr send;
		struct ib_rdma_wr rdma;
		struct ib_atomic_wr atomic;
		struct ib_ud_wr ud;
		struct ib_reg_wr reg;
	};
	struct ib_sge sges[KVERBS_SGE_MAX];
	u8 data[KVERBS_INLINE_MAX];
};

/**
 * struct kverbs_message - what a receive request has to get
 * @length: bytes
 * @opcode: of the completion
 * @flags: of the completion: immediate or invalidated key
 * @word: that
 * @has_data: the bytes are in the receive request's memory
 * @data: the bytes
 */
struct kverbs_message {
	u32 length;
	enum ib_wc_opcode opcode;
	int flags;
	u32 word;
	bool has_data;
	u8 data[KVERBS_SLOT_SIZE];
};

/**
 * struct kverbs_completion - what a send queue has to report
 * @number: of the request, its wr_id
 * @opcode: of the completion
 */
struct kverbs_completion {
	u64 number;
	enum ib_wc_opcode opcode;
};

/**
 * struct kverbs_ranges - pieces of an area that outstanding WRs may access
 * @count: of @pieces
 * @pieces: from, to behind the last byte
 */
struct kverbs_ranges {
	unsigned int count;
	struct {
		u32 from, to;
	} pieces[KVERBS_RANGES_MAX];
};

/**
 * struct kverbs_flow - one direction
 * @traffic: both
 * @from: end that posts send WRs
 * @to: end that posts receive WRs
 * @own: model of the areas of @from
 * @remote: model of the areas of @to
 * @requests: the list that is made now
 * @has_local_key: the key for the local area is registered
 * @posted: send requests so far
 * @done: of these, known to be done
 * @expected: completions to come; a ring
 * @expected_posted: completions expected so far
 * @expected_done: completions seen
 * @messages: to arrive; a ring
 * @sent: messages so far
 * @received: messages that have arrived
 * @receives: receive requests posted so far; slots are used in turn
 * @brought: what outstanding reads and atomic operations write
 * @fetched: what outstanding reads read
 */
struct kverbs_flow {
	struct kverbs_traffic *traffic;
	struct kverbs_end *from;
	struct kverbs_end *to;
	u8 *own;
	u8 *remote;
	struct kverbs_request requests[KVERBS_LIST_MAX];
	bool has_local_key;
	u64 posted;
	u64 done;
	struct kverbs_completion expected[KVERBS_EXPECTED];
	u64 expected_posted;
	u64 expected_done;
	struct kverbs_message *messages;
	u64 sent;
	u64 received;
	u64 receives;
	struct kverbs_ranges brought;
	struct kverbs_ranges fetched;
};

/**
 * struct kverbs_traffic - both directions
 * @pair: two ends
 * @operations: bit for each enum ib_wr_opcode that is posted
 * @random: numbers
 * @flows: from the first end to the second, and back
 */
struct kverbs_traffic {
	struct kverbs_pair pair;
	u64 operations;
	struct rnd_state random;
	struct kverbs_flow flows[2];
};

/* traffic.c */
extern const enum ib_wc_opcode kverbs_completions[KVERBS_OPCODES];
int kverbs_post_list(struct kverbs_flow *flow);
int kverbs_post_key(struct kverbs_flow *flow, enum ib_wr_opcode opcode, struct ib_mr *mr);
int kverbs_fill_receives(struct kverbs_flow *flow);
u32 kverbs_random(struct kverbs_traffic *traffic, u32 below);

/* traffic_check.c */
int kverbs_poll_flow(struct kverbs_flow *flow);
int kverbs_drain(struct kverbs_traffic *traffic);
int kverbs_compare(struct kverbs_traffic *traffic);

#endif
