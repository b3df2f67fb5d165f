/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One request at a time. */
#ifndef CXIB_ULP_SINGLE_H
#define CXIB_ULP_SINGLE_H

#include "ulp.h"

/**
 * struct ulp_single - a send request with one data segment
 * @send: what all have
 * @rdma: reads and writes
 * @atomic: atomic operations
 * @reg: registrations
 * @ud: datagrams
 * @sge: data segment
 */
struct ulp_single {
	union {
		struct ib_send_wr send;
		struct ib_rdma_wr rdma;
		struct ib_atomic_wr atomic;
		struct ib_reg_wr reg;
		struct ib_ud_wr ud;
	};
	struct ib_sge sge;
};

/* How a case begins and ends: with a pair of ends. */
int ulp_with_pair(struct ulp_report *report, const struct ulp_spec *spec,
		  int (*test)(struct ulp_pair *pair));

void ulp_single_send(struct ulp_single *single, struct ulp_end *end, u64 wr_id, u32 length);
void ulp_single_write(struct ulp_single *single, struct ulp_end *end, u64 wr_id, u64 address,
		      u32 rkey, u32 length);
int ulp_post_single(struct ulp_pair *pair, struct ulp_end *end, struct ulp_single *single);
int ulp_post_slot(struct ulp_pair *pair, struct ulp_end *end, u64 wr_id, u32 length);
int ulp_register(struct ulp_pair *pair, struct ulp_end *end, struct ib_mr *mr, u64 dma,
		 u32 length, int access);
int ulp_reconnect(struct ulp_pair *pair);

#endif
