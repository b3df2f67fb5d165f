// SPDX-License-Identifier: GPL-2.0-only
/* Chains of mailboxes: made, filled, read, freed. */
#include <kunit/visibility.h>
#include <linux/dmapool.h>
#include <linux/errno.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "hw/command_interface.h"
#include "hw/mailbox.h"

/* The device takes only pointers whose lower ten bits are zero. */
#define MAILBOX_ALIGNMENT	1024

/**
 * cxib_mailbox_pool_create() - a pool of mailboxes
 * @dev: device that reads and writes them
 *
 * Context: process context, may sleep.
 * Return: the pool, to be given to dma_pool_destroy(); NULL without memory.
 */
struct dma_pool *cxib_mailbox_pool_create(struct device *dev)
{
	return dma_pool_create("cxib_mailbox", dev, sizeof(struct hw_cmd_if_box),
			       MAILBOX_ALIGNMENT, 0);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mailbox_pool_create);

static void link_boxes(struct cxib_mailbox_chain *chain, u8 token)
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
 * cxib_mailbox_chain_create() - the mailboxes for an input or output
 * @pool: where they come from
 * @length: bytes to be held; 0 makes an empty chain
 * @token: token of the command, not 0
 * @chain: filled; empty when an error is returned
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
	link_boxes(chain, token);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mailbox_chain_create);

/**
 * cxib_mailbox_chain_destroy() - gives the mailboxes of a chain back
 * @pool: where they came from
 * @chain: empty afterwards; the device must not use it any more
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
 * cxib_mailbox_chain_write() - fills a chain
 * @chain: that was created for at least @length bytes
 * @data: what to put there
 * @length: its length in bytes
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
 * cxib_mailbox_chain_read() - reads what the device has put into a chain
 * @chain: that was created for at least @length bytes
 * @token: token that every mailbox has to carry
 * @data: where to put it
 * @length: its length in bytes
 *
 * Return: 0, or -EBADMSG when a mailbox carries another token: then it was
 * written for another command, or not at all, and @data is incomplete.
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
 * cxib_mailbox_chain_start() - what the entry of the command queue points to
 * @chain: any chain
 *
 * Return: the bus address of the first mailbox, 0 for an empty chain.
 */
dma_addr_t cxib_mailbox_chain_start(const struct cxib_mailbox_chain *chain)
{
	return chain->count ? chain->boxes[0].dma : 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mailbox_chain_start);
