/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random lists of requests in both directions between two ends, and a model of
 * what they have to do.
 *
 * Requests of one end read and write its own local area and the exposed area of
 * the other end, which nobody else touches. So the contents of both areas
 * follow from the order in which requests were posted, if a request that needs
 * what a read or atomic operation brings waits for that (fence).
 */
#ifndef CXIB_ULP_TRAFFIC_H
#define CXIB_ULP_TRAFFIC_H

#include <linux/prandom.h>

#include "ulp.h"

#define ULP_MODEL_SIZE	(2 * ULP_AREA_SIZE)
#define ULP_LIST_MOST	8
#define ULP_SGE_MOST	8
#define ULP_RANGES_MOST	64
#define ULP_EXPECTED	64
#define ULP_GRH		40
#define ULP_INLINE_MOST	400

/**
 * struct ulp_request - a send request of any kind
 * @send: what all have
 * @rdma: reads and writes
 * @atomic: atomic operations
 * @ud: datagrams
 * @reg: registrations
 * @sges: data segments
 * @data: what they are when the request carries them: later requests of a list
 *	change the model before it is posted
 */
struct ulp_request {
	union {
		struct ib_send_wr send;
		struct ib_rdma_wr rdma;
		struct ib_atomic_wr atomic;
		struct ib_ud_wr ud;
		struct ib_reg_wr reg;
	};
	struct ib_sge sges[ULP_SGE_MOST];
	u8 data[ULP_INLINE_MOST];
};

/**
 * struct ulp_message - what a receive request has to get
 * @length: bytes
 * @opcode: of the completion
 * @flags: of the completion: immediate or invalidated key
 * @word: that
 * @has_data: the bytes are in the receive request's memory
 * @data: the bytes
 */
struct ulp_message {
	u32 length;
	enum ib_wc_opcode opcode;
	int flags;
	u32 word;
	bool has_data;
	u8 data[ULP_SLOT_SIZE];
};

/**
 * struct ulp_completion - what a send queue has to report
 * @number: of the request, its wr_id
 * @opcode: of the completion
 */
struct ulp_completion {
	u64 number;
	enum ib_wc_opcode opcode;
};

/**
 * struct ulp_ranges - pieces of an area that requests under way may touch
 * @count: of @pieces
 * @pieces: from, to behind the last byte
 */
struct ulp_ranges {
	unsigned int count;
	struct {
		u32 from, to;
	} pieces[ULP_RANGES_MOST];
};

/**
 * struct ulp_flow - one direction
 * @traffic: both
 * @from: who posts send requests
 * @to: who posts receive requests
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
 * @brought: what reads and atomic operations under way write
 * @fetched: what reads under way read
 */
struct ulp_flow {
	struct ulp_traffic *traffic;
	struct ulp_end *from;
	struct ulp_end *to;
	u8 *own;
	u8 *remote;
	struct ulp_request requests[ULP_LIST_MOST];
	bool has_local_key;
	u64 posted;
	u64 done;
	struct ulp_completion expected[ULP_EXPECTED];
	u64 expected_posted;
	u64 expected_done;
	struct ulp_message *messages;
	u64 sent;
	u64 received;
	u64 receives;
	struct ulp_ranges brought;
	struct ulp_ranges fetched;
};

/**
 * struct ulp_traffic - both directions
 * @pair: two ends
 * @operations: bit for each enum ib_wr_opcode that is posted
 * @random: numbers
 * @flows: from the first end to the second, and back
 */
struct ulp_traffic {
	struct ulp_pair pair;
	u64 operations;
	struct rnd_state random;
	struct ulp_flow flows[2];
};

/* traffic.c */
int ulp_post_list(struct ulp_flow *flow);
int ulp_post_key(struct ulp_flow *flow, enum ib_wr_opcode opcode, struct ib_mr *mr);
int ulp_fill_receives(struct ulp_flow *flow);
u32 ulp_random(struct ulp_traffic *traffic, u32 below);

/* traffic_check.c */
int ulp_poll_flow(struct ulp_flow *flow);
int ulp_drain(struct ulp_traffic *traffic);
int ulp_compare(struct ulp_traffic *traffic);

#endif
