/* SPDX-License-Identifier: GPL-2.0-only */
/* Doorbell records: two words of memory with which a queue tells the device how far it is. */
#ifndef CXIB_HW_DBR_H
#define CXIB_HW_DBR_H

#include <linux/types.h>

struct cxib_hw;

/**
 * struct cxib_record - a doorbell record
 * @words: as the driver sees it
 * @dma: as the device sees it
 */
struct cxib_record {
	__be32 *words;
	dma_addr_t dma;
};

int cxib_record_create(struct cxib_hw *hw, struct cxib_record *record);
void cxib_record_destroy(struct cxib_hw *hw, struct cxib_record *record);

/* As steps of a device's bring-up. */
int cxib_hw_create_record_pool(struct cxib_hw *hw);
void cxib_hw_destroy_record_pool(struct cxib_hw *hw);

#endif
