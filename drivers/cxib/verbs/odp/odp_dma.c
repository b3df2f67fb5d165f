// SPDX-License-Identifier: GPL-2.0-only
/* DMA mappings of the pages of an ODP MR. */
#include <linux/dma-mapping.h>
#include <rdma/ib_verbs.h>

#include "verbs/odp/odp_dma.h"

#ifdef CXIB_KERNEL_CAN_PAGE

#ifdef CXIB_LACKS_ODP_DMA_MAP

/* The RDMA core finds the page in @pfn_list when it unmaps the page and marks it dirty. */
static int odp_dma_map_new(struct ib_umem_odp *memory, u64 page, unsigned long pfn)
{
	struct ib_device *ib = memory->umem.ibdev;
	dma_addr_t dma = ib_dma_map_page(ib, hmm_pfn_to_page(pfn), 0, BIT(memory->page_shift),
					 DMA_BIDIRECTIONAL);

	if (ib_dma_mapping_error(ib, dma))
		return -EFAULT;
	memory->pfn_list[page << (memory->page_shift - PAGE_SHIFT)] = pfn;
	memory->dma_list[page] = dma;
	memory->npages++;
	return 0;
}

/**
 * cxib_odp_map() - map a page for DMA, or update the rights of a mapped page
 * @memory: memory of the MR
 * @page: number of the page
 * @pfn: page and its rights, as hmm_range_fault() returns them
 *
 * Context: process context; umem_mutex is held, and the page has not been invalidated since
 * hmm_range_fault().
 * Return: 0; -EFAULT if the page cannot be mapped.
 */
int cxib_odp_map(struct ib_umem_odp *memory, u64 page, unsigned long pfn)
{
	int err = 0;

	lockdep_assert_held(&memory->umem_mutex);

	if (!memory->dma_list[page])
		err = odp_dma_map_new(memory, page, pfn);
	if (err)
		return err;
	memory->dma_list[page] &= ODP_DMA_ADDR_MASK;
	memory->dma_list[page] |= ODP_READ_ALLOWED_BIT;
	if (pfn & HMM_PFN_WRITE)
		memory->dma_list[page] |= ODP_WRITE_ALLOWED_BIT;
	return 0;
}

#else

#include <linux/hmm.h>
#include <linux/hmm-dma.h>
#include <linux/pci-p2pdma.h>

/* Flags that an entry of the list of pages has while the page is mapped. */
#define FLAGS_OF_MAPPING	(HMM_PFN_DMA_MAPPED | HMM_PFN_P2PDMA | HMM_PFN_P2PDMA_BUS)

/**
 * cxib_odp_is_mapped() - is a page mapped for DMA
 * @memory: memory of the MR
 * @page: number of the page
 *
 * Context: umem_mutex is held.
 * Return: true if the device may know the address of the page.
 */
bool cxib_odp_is_mapped(const struct ib_umem_odp *memory, u64 page)
{
	return memory->map.pfn_list[page] & HMM_PFN_DMA_MAPPED;
}

/**
 * cxib_odp_map() - map a page for DMA, or update the rights of a mapped page
 * @memory: memory of the MR
 * @page: number of the page
 * @pfn: page and its rights, as hmm_range_fault() returns them
 *
 * The driver counts each page that it maps; ib_umem_odp_unmap_dma_pages() decrements the count.
 *
 * Context: process context; umem_mutex is held, and the page has not been invalidated since
 * hmm_range_fault().
 * Return: 0; -EFAULT if the page cannot be mapped.
 */
int cxib_odp_map(struct ib_umem_odp *memory, u64 page, unsigned long pfn)
{
	struct device *dev = memory->umem.ibdev->dma_device;
	unsigned long *entry = &memory->map.pfn_list[page];
	struct pci_p2pdma_map_state p2pdma = {};

	lockdep_assert_held(&memory->umem_mutex);

	*entry = (*entry & FLAGS_OF_MAPPING) | pfn;
	if (cxib_odp_is_mapped(memory, page))
		return 0;
	if (dma_mapping_error(dev, hmm_dma_map_pfn(dev, &memory->map, page, &p2pdma)))
		return -EFAULT;
	memory->npages++;
	return 0;
}

/**
 * cxib_odp_mtt() - returns the MTT of a page
 * @memory: memory of the MR
 * @page: number of the page
 *
 * Context: umem_mutex is held.
 * Return: DMA address and rights; 0 if the page is not mapped.
 */
u64 cxib_odp_mtt(struct ib_umem_odp *memory, u64 page)
{
	struct pci_p2pdma_map_state p2pdma = {};
	u64 mtt;

	if (!cxib_odp_is_mapped(memory, page))
		return 0;
	/* The page is mapped, so this only looks up its address. */
	mtt = hmm_dma_map_pfn(memory->umem.ibdev->dma_device, &memory->map, page, &p2pdma) |
	      CXIB_MTT_READ;
	if (memory->map.pfn_list[page] & HMM_PFN_WRITE)
		mtt |= CXIB_MTT_WRITE;
	return mtt;
}

#endif

#endif
