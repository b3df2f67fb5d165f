/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DMA addresses of the pages of an ODP MR. The driver maps them, and the RDMA core unmaps them. In
 * some kernels a list of DMA addresses shows which pages are mapped, in others the list of pages of
 * struct hmm_dma_map.
 */
#ifndef CXIB_VERBS_ODP_ODP_DMA_H
#define CXIB_VERBS_ODP_ODP_DMA_H

#include <linux/hmm.h>
#include <rdma/ib_umem_odp.h>

#include "verbs/odp/odp.h"

#ifdef CXIB_LACKS_ODP_DMA_MAP

static inline bool cxib_odp_is_mapped(const struct ib_umem_odp *memory, u64 page)
{
	return memory->dma_list[page];
}

/* Bits 0 and 1 of the entries of the list have the same meaning as in an MTT. */
static inline u64 cxib_odp_mtt(struct ib_umem_odp *memory, u64 page)
{
	return memory->dma_list[page];
}

#else

bool cxib_odp_is_mapped(const struct ib_umem_odp *memory, u64 page);
u64 cxib_odp_mtt(struct ib_umem_odp *memory, u64 page);

#endif

int cxib_odp_map(struct ib_umem_odp *memory, u64 page, unsigned long pfn);

#endif
