/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DMA addresses of the pages of an ODP MR. In some kernels the RDMA core maps the pages that it
 * faults in. In others the driver maps them, and the list of pages of struct hmm_dma_map shows
 * which pages are mapped.
 */
#ifndef CXIB_VERBS_ODP_ODP_DMA_H
#define CXIB_VERBS_ODP_ODP_DMA_H

#include <linux/hmm.h>
#include <rdma/ib_umem_odp.h>

#include "verbs/odp/odp.h"

#ifdef CXIB_LACKS_ODP_DMA_MAP

#define CXIB_ODP_FAULT_READ	ODP_READ_ALLOWED_BIT
#define CXIB_ODP_FAULT_WRITE	ODP_WRITE_ALLOWED_BIT

static inline bool cxib_odp_is_mapped(const struct ib_umem_odp *memory, u64 page)
{
	return memory->dma_list[page];
}

static inline int cxib_odp_map(struct ib_umem_odp *memory, u64 first, unsigned int count)
{
	return 0;
}

/* Bits 0 and 1 of the entries of the list have the same meaning as in an MTT. */
static inline u64 cxib_odp_mtt(struct ib_umem_odp *memory, u64 page)
{
	return memory->dma_list[page];
}

#else

/* A page that is faulted in can always be read. */
#define CXIB_ODP_FAULT_READ	0
#define CXIB_ODP_FAULT_WRITE	HMM_PFN_WRITE

bool cxib_odp_is_mapped(const struct ib_umem_odp *memory, u64 page);
int cxib_odp_map(struct ib_umem_odp *memory, u64 first, unsigned int count);
u64 cxib_odp_mtt(struct ib_umem_odp *memory, u64 page);

#endif

#endif
