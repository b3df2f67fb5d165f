/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random lists of WRs in both directions between two ends, and a model of their effect.
 *
 * WRs of one end access only its own local area and the exposed area of the peer, and no other WRs
 * access these. So the order in which the WRs were posted determines the contents of both areas, if
 * each WR that uses the result of a READ or atomic operation has a fence.
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
 * struct kverbs_request - a send WR of any kind
 * @send: common part
 * @rdma: RDMA READ and WRITE
 * @atomic: atomic operation
 * @ud: datagram
 * @reg: registration
 * @sges: SGEs
 * @data: inline data at the time of building: later WRs of the list change the model
 *	before the list is posted
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
 * struct kverbs_message - expected result of a receive WR
 * @length: bytes
 * @opcode: opcode of the completion
 * @flags: flags of the completion: immediate or invalidated key
 * @word: immediate or invalidated key
 * @has_data: the receive WR's memory contains the bytes
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
 * struct kverbs_completion - expected completion of a send queue
 * @number: wr_id
 * @opcode: opcode of the completion
 */
struct kverbs_completion {
	u64 number;
	enum ib_wc_opcode opcode;
};

/**
 * struct kverbs_ranges - ranges of an area that outstanding WRs may access
 * @count: number of @pieces
 * @pieces: start and end (exclusive)
 */
struct kverbs_ranges {
	unsigned int count;
	struct {
		u32 from, to;
	} pieces[KVERBS_RANGES_MAX];
};

/**
 * struct kverbs_flow - one direction
 * @traffic: both directions
 * @from: end that posts send WRs
 * @to: end that posts receive WRs
 * @own: model of the areas of @from
 * @remote: model of the areas of @to
 * @requests: list of WRs that is being built
 * @has_local_key: the key for the local area is registered
 * @posted: number of posted send WRs
 * @done: number of send WRs known to be done
 * @expected: ring of expected completions
 * @expected_posted: number of expected completions so far
 * @expected_done: number of completions seen
 * @messages: ring of messages that will arrive
 * @sent: number of messages sent
 * @received: number of messages that have arrived
 * @receives: number of posted receive WRs; slots are used in turn
 * @brought: ranges that outstanding READs and atomic operations write
 * @fetched: ranges that outstanding READs read
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
 * @random: state of the random numbers
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
