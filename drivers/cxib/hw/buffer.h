/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queue buffers: host pages that driver and device both access. Their DMA addresses need not be
 * contiguous. A queue entry whose size divides the page size never crosses a page.
 */
#ifndef CXIB_HW_BUFFER_H
#define CXIB_HW_BUFFER_H

#include <linux/mm.h>
#include <linux/types.h>

struct device;

/* Page sizes in commands are log2 in units of 4 KiB. */
#define CXIB_LOG_DEVICE_PAGE	12

/* page_offset of a queue context is in units of 1/64 page. */
#define CXIB_BUFFER_ALIGNMENT	(PAGE_SIZE / 64)

/**
 * struct cxib_buffer_page - one page of a buffer
 * @memory: virtual address
 * @dma: DMA address
 */
struct cxib_buffer_page {
	void *memory;
	dma_addr_t dma;
};

/**
 * struct cxib_buffer - buffer of one queue
 * @pages: its pages, in order
 * @page_count: number of @pages
 * @offset: offset in bytes of the queue on the first page; a multiple of
 *	%CXIB_BUFFER_ALIGNMENT, 0 after cxib_buffer_create()
 */
struct cxib_buffer {
	struct cxib_buffer_page *pages;
	unsigned int page_count;
	unsigned int offset;
};

int cxib_buffer_create(struct cxib_buffer *buffer, struct device *dev, size_t size);
void cxib_buffer_destroy(struct cxib_buffer *buffer, struct device *dev);
void cxib_buffer_list(const struct cxib_buffer *buffer, __be64 *addresses);

/*
 * Returns the address at @offset in a kernel buffer; memory is contiguous to the end of that page.
 */
static inline void *cxib_buffer_at(const struct cxib_buffer *buffer, size_t offset)
{
	return buffer->pages[offset >> PAGE_SHIFT].memory + offset_in_page(offset);
}

#endif
