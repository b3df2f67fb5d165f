// SPDX-License-Identifier: GPL-2.0-only
/* Queue buffers: DMA memory of a queue, allocated page by page. */
#include <kunit/visibility.h>
#include <linux/dma-mapping.h>
#include <linux/export.h>
#include <linux/slab.h>

#include "hw/buffer.h"

/**
 * cxib_buffer_create() - allocates a queue buffer
 * @buffer: filled; its memory is zeroed
 * @dev: the device that DMA is mapped for
 * @size: length in bytes, at least 1
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int cxib_buffer_create(struct cxib_buffer *buffer, struct device *dev, size_t size)
{
	unsigned int count = DIV_ROUND_UP(size, PAGE_SIZE);

	buffer->page_count = 0;
	buffer->offset = 0;
	buffer->pages = kvcalloc(count, sizeof(*buffer->pages), GFP_KERNEL);
	if (!buffer->pages)
		return -ENOMEM;
	for (; buffer->page_count < count; buffer->page_count++) {
		struct cxib_buffer_page *page = &buffer->pages[buffer->page_count];

		page->memory = dma_alloc_coherent(dev, PAGE_SIZE, &page->dma, GFP_KERNEL);
		if (!page->memory) {
			cxib_buffer_destroy(buffer, dev);
			return -ENOMEM;
		}
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_buffer_create);

/**
 * cxib_buffer_destroy() - undo cxib_buffer_create()
 * @buffer: a buffer that the device no longer accesses
 * @dev: the device that DMA is mapped for
 *
 * Context: process context, may sleep.
 */
void cxib_buffer_destroy(struct cxib_buffer *buffer, struct device *dev)
{
	while (buffer->page_count) {
		struct cxib_buffer_page *page = &buffer->pages[--buffer->page_count];

		dma_free_coherent(dev, PAGE_SIZE, page->memory, page->dma);
	}
	kvfree(buffer->pages);
	buffer->pages = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_buffer_destroy);

/**
 * cxib_buffer_list() - writes the pas list of a buffer
 * @buffer: the buffer
 * @addresses: filled: the DMA addresses of its @page_count pages, in order
 */
void cxib_buffer_list(const struct cxib_buffer *buffer, __be64 *addresses)
{
	unsigned int i;

	for (i = 0; i < buffer->page_count; i++)
		addresses[i] = cpu_to_be64(buffer->pages[i].dma);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_buffer_list);
