/* SPDX-License-Identifier: GPL-2.0-only */
/* Which memory belongs to a work request that waits for pages. */
#ifndef CXIB_VERBS_ODP_ODP_FAULT_H
#define CXIB_VERBS_ODP_ODP_FAULT_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

/* The longest request that the device takes. */
#define CXIB_REQUEST_MAX	1024

/**
 * struct cxib_faulting_request - a copy of a work request
 * @length: its bytes
 * @bytes: what the program, or the kernel, has written
 */
struct cxib_faulting_request {
	size_t length;
	u8 bytes[CXIB_REQUEST_MAX] __aligned(16);
};

typedef int (*cxib_tell_segment)(void *context, u32 key, u64 address, u64 length);

struct cxib_command_queue;
struct cxib_page_fault;
struct cxib_paged_range;
struct hw_klm;
struct hw_mkc;

int cxib_faulting_send_data(enum ib_qp_type type, struct cxib_faulting_request *request);
bool cxib_faulting_range(const struct cxib_page_fault *event, u64 start, u64 length, bool ahead,
			 struct cxib_paged_range *range);
int cxib_faulting_segments(const struct cxib_faulting_request *request, size_t first,
			   u64 committed, cxib_tell_segment tell, void *context);

/* odp_pieces.c */
int cxib_faulting_pieces(const struct hw_mkc *context, const struct hw_klm *pieces, size_t count,
			 u64 address, u64 length, cxib_tell_segment tell, void *told);
int cxib_faulting_key(struct cxib_command_queue *commands, u32 key, u64 address, u64 length,
		      cxib_tell_segment tell, void *told);

#endif
