/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of queues: pages that driver and device both use, in any order on the
 * bus. What lies on a page is contiguous, so entries that divide a page are.
 */
#ifndef CXIB_HW_BUFFER_H
#define CXIB_HW_BUFFER_H

#include <linux/mm.h>
#include <linux/types.h>

struct device;

/* The device's unit for the size of pages. */
#define CXIB_LOG_DEVICE_PAGE	12

/* A queue begins at one of the 64 places of its first page. */
#define CXIB_BUFFER_ALIGNMENT	(PAGE_SIZE / 64)

/**
 * struct cxib_buffer_page - one page
 * @memory: as the driver sees it
 * @dma: as the device sees it
 */
struct cxib_buffer_page {
	void *memory;
	dma_addr_t dma;
};

/**
 * struct cxib_buffer - memory of one queue
 * @pages: in order
 * @page_count: their number
 * @offset: bytes on the first page before the queue; a multiple of
 *	%CXIB_BUFFER_ALIGNMENT, 0 for what cxib_buffer_create() makes
 */
struct cxib_buffer {
	struct cxib_buffer_page *pages;
	unsigned int page_count;
	unsigned int offset;
};

int cxib_buffer_create(struct cxib_buffer *buffer, struct device *dev, size_t size);
void cxib_buffer_destroy(struct cxib_buffer *buffer, struct device *dev);
void cxib_buffer_list(const struct cxib_buffer *buffer, __be64 *addresses);

/* What lies at @offset of a buffer of the driver's; contiguous up to the end of the page. */
static inline void *cxib_buffer_at(const struct cxib_buffer *buffer, size_t offset)
{
	return buffer->pages[offset >> PAGE_SHIFT].memory + offset_in_page(offset);
}

#endif
