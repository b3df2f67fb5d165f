// SPDX-License-Identifier: GPL-2.0-only
/* Mailbox chains of command inputs and outputs. */
#include <kunit/visibility.h>
#include <linux/dmapool.h>
#include <linux/errno.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "hw/command_interface.h"
#include "hw/mailbox.h"

/* The lower ten bits of a mailbox pointer are reserved. */
#define MAILBOX_ALIGNMENT	1024

/**
 * cxib_mailbox_pool_create() - creates the DMA pool of mailboxes
 * @dev: device that DMA is mapped for
 *
 * Context: process context, may sleep.
 * Return: the pool, destroyed by dma_pool_destroy(); NULL when out of memory.
 */
struct dma_pool *cxib_mailbox_pool_create(struct device *dev)
{
	return dma_pool_create("cxib_mailbox", dev, sizeof(struct hw_cmd_if_box),
			       MAILBOX_ALIGNMENT, 0);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mailbox_pool_create);

static void mailbox_link_boxes(struct cxib_mailbox_chain *chain, u8 token)
{
	unsigned int i;

	for (i = 0; i < chain->count; i++) {
		struct hw_cmd_if_box *box = chain->boxes[i].box;

		hw_cmd_if_box_set_block_number(box, i);
		hw_cmd_if_box_set_token(box, token);
		if (i + 1 < chain->count) {
			u64 next = chain->boxes[i + 1].dma;

			hw_cmd_if_box_set_next_pointer_63_32(box, upper_32_bits(next));
			hw_cmd_if_box_set_next_pointer_31_10(box, lower_32_bits(next) >> 10);
		}
	}
}

/**
 * cxib_mailbox_chain_create() - allocates the mailboxes of an input or output
 * @pool: pool of mailboxes
 * @length: length of the data in bytes; 0: empty chain
 * @token: token of the command, not 0
 * @chain: filled; empty on error
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int cxib_mailbox_chain_create(struct dma_pool *pool, size_t length, u8 token,
			      struct cxib_mailbox_chain *chain)
{
	unsigned int count = DIV_ROUND_UP(length, CXIB_MAILBOX_DATA);

	*chain = (struct cxib_mailbox_chain){};
	if (!count)
		return 0;
	chain->boxes = kvcalloc(count, sizeof(*chain->boxes), GFP_KERNEL);
	if (!chain->boxes)
		return -ENOMEM;

	while (chain->count < count) {
		struct cxib_mailbox *mailbox = &chain->boxes[chain->count];

		mailbox->box = dma_pool_zalloc(pool, GFP_KERNEL, &mailbox->dma);
		if (!mailbox->box) {
			cxib_mailbox_chain_destroy(pool, chain);
			return -ENOMEM;
		}
		chain->count++;
	}
	mailbox_link_boxes(chain, token);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mailbox_chain_create);

/**
 * cxib_mailbox_chain_destroy() - undo cxib_mailbox_chain_create()
 * @pool: pool of mailboxes
 * @chain: chain that the device no longer accesses; empty on return
 *
 * Context: process context.
 */
void cxib_mailbox_chain_destroy(struct dma_pool *pool, struct cxib_mailbox_chain *chain)
{
	while (chain->count) {
		struct cxib_mailbox *mailbox = &chain->boxes[--chain->count];

		dma_pool_free(pool, mailbox->box, mailbox->dma);
	}
	kvfree(chain->boxes);
	chain->boxes = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mailbox_chain_destroy);

/**
 * cxib_mailbox_chain_write() - copies data to a chain
 * @chain: chain created for at least @length bytes
 * @data: data to copy
 * @length: length of @data in bytes
 */
void cxib_mailbox_chain_write(struct cxib_mailbox_chain *chain, const void *data, size_t length)
{
	unsigned int i;

	for (i = 0; length && i < chain->count; i++) {
		size_t here = min_t(size_t, length, CXIB_MAILBOX_DATA);

		memcpy(hw_cmd_if_box_mailbox_data(chain->boxes[i].box), data, here);
		data += here;
		length -= here;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mailbox_chain_write);

/**
 * cxib_mailbox_chain_read() - copies data that the device has written to a chain
 * @chain: chain created for at least @length bytes
 * @token: expected token of every mailbox
 * @data: filled
 * @length: length of @data in bytes
 *
 * Return: 0, or -EBADMSG when a mailbox has another token: the device has written it for another
 * command, or not at all, and @data is incomplete.
 */
int cxib_mailbox_chain_read(const struct cxib_mailbox_chain *chain, u8 token, void *data,
			    size_t length)
{
	unsigned int i;

	for (i = 0; length && i < chain->count; i++) {
		const struct hw_cmd_if_box *box = chain->boxes[i].box;
		size_t here = min_t(size_t, length, CXIB_MAILBOX_DATA);

		if (hw_cmd_if_box_get_token(box) != token)
			return -EBADMSG;
		memcpy(data, hw_cmd_if_box_get_mailbox_data(box), here);
		data += here;
		length -= here;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mailbox_chain_read);

/**
 * cxib_mailbox_chain_start() - returns the mailbox pointer for the command queue entry
 * @chain: any chain
 *
 * Return: the DMA address of the first mailbox, 0 for an empty chain.
 */
dma_addr_t cxib_mailbox_chain_start(const struct cxib_mailbox_chain *chain)
{
	return chain->count ? chain->boxes[0].dma : 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mailbox_chain_start);
