/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mailboxes: DMA blocks for the part of an input or output that exceeds the inline data of a
 * command queue entry. A chain holds one input or one output.
 */
#ifndef CXIB_HW_MAILBOX_H
#define CXIB_HW_MAILBOX_H

#include <linux/types.h>

struct dma_pool;
struct device;
struct hw_cmd_if_box;

/* Length in bytes of the data of a mailbox. */
#define CXIB_MAILBOX_DATA	512

/**
 * struct cxib_mailbox - one mailbox
 * @box: virtual address
 * @dma: DMA address
 */
struct cxib_mailbox {
	struct hw_cmd_if_box *box;
	dma_addr_t dma;
};

/**
 * struct cxib_mailbox_chain - the mailboxes of one input or output
 * @boxes: mailboxes, in order; NULL if @count is 0
 * @count: number of @boxes
 */
struct cxib_mailbox_chain {
	struct cxib_mailbox *boxes;
	unsigned int count;
};

struct dma_pool *cxib_mailbox_pool_create(struct device *dev);
int cxib_mailbox_chain_create(struct dma_pool *pool, size_t length, u8 token,
			      struct cxib_mailbox_chain *chain);
void cxib_mailbox_chain_destroy(struct dma_pool *pool, struct cxib_mailbox_chain *chain);
void cxib_mailbox_chain_write(struct cxib_mailbox_chain *chain, const void *data,
			      size_t length);
int cxib_mailbox_chain_read(const struct cxib_mailbox_chain *chain, u8 token, void *data,
			    size_t length);
dma_addr_t cxib_mailbox_chain_start(const struct cxib_mailbox_chain *chain);

#endif
