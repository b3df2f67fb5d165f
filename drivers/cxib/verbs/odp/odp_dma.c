// SPDX-License-Identifier: GPL-2.0-only
/* DMA mappings of the pages of an ODP MR, on kernels whose RDMA core leaves them to the driver. */
#include <linux/dma-mapping.h>

#include "verbs/odp/odp_dma.h"

#if defined(CXIB_KERNEL_CAN_PAGE) && !defined(CXIB_LACKS_ODP_DMA_MAP)

#include <linux/hmm.h>
#include <linux/hmm-dma.h>
#include <linux/pci-p2pdma.h>

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

/* The driver counts each page that it maps; ib_umem_odp_unmap_dma_pages() decrements the count. */
static int odp_dma_map_page(struct ib_umem_odp *memory, u64 page,
			    struct pci_p2pdma_map_state *p2pdma)
{
	struct device *dev = memory->umem.ibdev->dma_device;

	if (cxib_odp_is_mapped(memory, page))
		return 0;
	if (dma_mapping_error(dev, hmm_dma_map_pfn(dev, &memory->map, page, p2pdma)))
		return -EFAULT;
	memory->npages++;
	return 0;
}

/**
 * cxib_odp_map() - map pages for DMA after they were faulted in
 * @memory: memory of the MR
 * @first: number of the first page
 * @count: number of pages
 *
 * Pages that are already mapped remain mapped. On error some of the pages may be mapped; their
 * invalidation unmaps them.
 *
 * Context: process context; umem_mutex is held since the pages were faulted in.
 * Return: 0; -EFAULT if a page cannot be mapped.
 */
int cxib_odp_map(struct ib_umem_odp *memory, u64 first, unsigned int count)
{
	struct pci_p2pdma_map_state p2pdma = {};
	unsigned int i;
	int err = 0;

	lockdep_assert_held(&memory->umem_mutex);

	for (i = 0; i < count && !err; i++)
		if (memory->map.pfn_list[first + i] & HMM_PFN_VALID)
			err = odp_dma_map_page(memory, first + i, &p2pdma);
	return err;
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
