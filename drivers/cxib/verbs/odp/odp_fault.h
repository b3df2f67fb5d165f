/* SPDX-License-Identifier: GPL-2.0-only */
/* Which memory belongs to a work request that waits for pages. */
#ifndef CXIB_VERBS_ODP_ODP_FAULT_H
#define CXIB_VERBS_ODP_ODP_FAULT_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

/* The longest request that the device takes. */
#define CXIB_REQUEST_MAX	1024

/**
 * struct cxib_pf_wqe - a copy of a work request
 * @length: its bytes
 * @bytes: what the program, or the kernel, has written
 */
struct cxib_pf_wqe {
	size_t length;
	u8 bytes[CXIB_REQUEST_MAX] __aligned(16);
};

typedef int (*cxib_pf_sge_fn)(void *context, u32 key, u64 address, u64 length);

struct cxib_command_queue;
struct cxib_page_fault;
struct cxib_odp_range;
struct hw_klm;
struct hw_mkc;

int cxib_pf_data_offset(enum ib_qp_type type, struct cxib_pf_wqe *request);
bool cxib_pf_mr_range(const struct cxib_page_fault *event, u64 start, u64 length, bool ahead,
		      struct cxib_odp_range *range);
int cxib_pf_for_each_sge(const struct cxib_pf_wqe *request, size_t first,
			 u64 committed, cxib_pf_sge_fn fn, void *data);

/* odp_pieces.c */
int cxib_pf_for_each_klm(const struct hw_mkc *context, const struct hw_klm *klms, size_t count,
			 u64 address, u64 length, cxib_pf_sge_fn fn, void *data);
int cxib_pf_walk_mkey(struct cxib_command_queue *commands, u32 key, u64 address, u64 length,
		      cxib_pf_sge_fn fn, void *data);

#endif
