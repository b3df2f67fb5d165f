/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One request at a time. */
#ifndef CXIB_ULP_SINGLE_H
#define CXIB_ULP_SINGLE_H

#include "kverbs.h"

/**
 * struct kverbs_single - a send WR with one SGE
 * @send: common part
 * @rdma: RDMA READ and WRITE
 * @atomic: atomic operation
 * @reg: registration
 * @ud: datagram
 * @sge: SGE
 */
struct kverbs_single {
	union {
		struct ib_send_wr send;
		struct ib_rdma_wr rdma;
		struct ib_atomic_wr atomic;
		struct ib_reg_wr reg;
		struct ib_ud_wr ud;
	};
	struct ib_sge sge;
};

/* Runs a test between the creation and the destruction of a pair. */
int kverbs_with_pair(struct kverbs_report *report, const struct kverbs_spec *spec,
		  int (*test)(struct kverbs_pair *pair));

void kverbs_single_send(struct kverbs_single *single, struct kverbs_end *end, u64 wr_id, u32 length);
void kverbs_single_write(struct kverbs_single *single, struct kverbs_end *end, u64 wr_id, u64 address,
		      u32 rkey, u32 length);
int kverbs_post_single(struct kverbs_pair *pair, struct kverbs_end *end, struct kverbs_single *single);
int kverbs_try_slot(struct kverbs_end *end, u64 wr_id, u32 length);
int kverbs_post_slot(struct kverbs_pair *pair, struct kverbs_end *end, u64 wr_id, u32 length);
int kverbs_register(struct kverbs_pair *pair, struct kverbs_end *end, struct ib_mr *mr, u64 dma,
		 u32 length, int access);
int kverbs_reconnect(struct kverbs_pair *pair);

#endif
