/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of the WQE that a page fault names. */
#ifndef CXIB_VERBS_ODP_ODP_FAULT_H
#define CXIB_VERBS_ODP_ODP_FAULT_H

#include <linux/limits.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

/* Maximum length in bytes of a WQE. */
#define CXIB_REQUEST_MAX	1024

/* No PDN has this value, since PDNs have 24 bits. */
#define CXIB_ANY_PD		U32_MAX

/**
 * struct cxib_pf_wqe - copy of a WQE
 * @length: bytes
 * @bytes: the WQE, as user space or the kernel has written it; untrusted
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

int cxib_pf_data_offset(enum ib_qp_type type, struct cxib_pf_wqe *wqe);
bool cxib_pf_mr_range(const struct cxib_page_fault *event, u64 start, u64 length, bool ahead,
		      struct cxib_odp_range *range);
int cxib_pf_walk_sges(const struct cxib_pf_wqe *wqe, size_t first,
		      u64 committed, cxib_pf_sge_fn fn, void *data);

/* odp_klm.c */
int cxib_pf_walk_klms(const struct hw_mkc *context, const struct hw_klm *klms, size_t count,
		      u64 address, u64 length, cxib_pf_sge_fn fn, void *data);
int cxib_pf_walk_mkey(struct cxib_command_queue *commands, u32 key, u64 address, u64 length,
		      size_t *budget, u32 *pdn, cxib_pf_sge_fn fn, void *data);

#endif
