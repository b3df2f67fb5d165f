/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mailboxes: the blocks of memory that carry what does not fit into an entry
 * of the command queue. A chain of them holds one input or one output.
 */
#ifndef CXIB_HW_MAILBOX_H
#define CXIB_HW_MAILBOX_H

#include <linux/types.h>

struct dma_pool;
struct device;
struct hw_cmd_if_box;

/* Bytes of the input or output that one mailbox holds. */
#define CXIB_MAILBOX_DATA	512

/**
 * struct cxib_mailbox - one block
 * @box: as the driver sees it
 * @dma: as the device sees it
 */
struct cxib_mailbox {
	struct hw_cmd_if_box *box;
	dma_addr_t dma;
};

/**
 * struct cxib_mailbox_chain - the mailboxes of one input or output
 * @boxes: in order; NULL if there are none
 * @count: their number
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
