/* SPDX-License-Identifier: GPL-2.0-only */
/* Devices whose DMA the kernel copies. */
#ifndef CXIB_HW_BOUNCE_H
#define CXIB_HW_BOUNCE_H

#include <linux/iommu.h>
#include <linux/swiotlb.h>

/**
 * cxib_bounces_dma() - whether the kernel copies all data that a device reads and writes
 * @dev: device
 *
 * The kernel does not copy between memory and its bounce buffer while the memory is registered, so
 * the device and the process would see different data. The kernel bounces no DMA that an IOMMU
 * translates.
 *
 * Context: process context.
 */
static inline bool cxib_bounces_dma(struct device *dev)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	return is_swiotlb_force_bounce(dev) && !(domain && iommu_is_dma_domain(domain));
}

#endif
