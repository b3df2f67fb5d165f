// SPDX-License-Identifier: GPL-2.0-only
/* Memory of queues: allocated, listed for the device, freed. */
#include <kunit/visibility.h>
#include <linux/dma-mapping.h>
#include <linux/export.h>
#include <linux/slab.h>

#include "hw/buffer.h"

/**
 * cxib_buffer_create() - allocates memory for a queue
 * @buffer: filled; all zeros in memory
 * @dev: device that uses it too
 * @size: bytes, not 0
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
 * cxib_buffer_destroy() - frees it
 * @buffer: memory that the device does not use any more
 * @dev: the device
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
 * cxib_buffer_list() - tells the device where the pages are
 * @buffer: the memory
 * @addresses: filled: one bus address for each of @buffer->page_count pages
 */
void cxib_buffer_list(const struct cxib_buffer *buffer, __be64 *addresses)
{
	unsigned int i;

	for (i = 0; i < buffer->page_count; i++)
		addresses[i] = cpu_to_be64(buffer->pages[i].dma);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_buffer_list);
