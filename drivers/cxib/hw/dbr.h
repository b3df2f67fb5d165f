/* SPDX-License-Identifier: GPL-2.0-only */
/* Doorbell records: two words of memory with which a queue tells the device how far it is. */
#ifndef CXIB_HW_DBR_H
#define CXIB_HW_DBR_H

#include <linux/types.h>

struct cxib_hw;

/**
 * struct cxib_dbr - a doorbell record
 * @words: as the driver sees it
 * @dma: as the device sees it
 */
struct cxib_dbr {
	__be32 *words;
	dma_addr_t dma;
};

int cxib_dbr_alloc(struct cxib_hw *hw, struct cxib_dbr *record);
void cxib_dbr_free(struct cxib_hw *hw, struct cxib_dbr *record);

/* As steps of a device's bring-up. */
int cxib_hw_create_dbr_pool(struct cxib_hw *hw);
void cxib_hw_destroy_dbr_pool(struct cxib_hw *hw);

#endif
