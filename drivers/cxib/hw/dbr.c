// SPDX-License-Identifier: GPL-2.0-only
/* Doorbell records: allocation. */
#include <kunit/visibility.h>
#include <linux/cache.h>
#include <linux/device.h>
#include <linux/dmapool.h>

#include "hw/bus.h"
#include "hw/dbr.h"
#include "hw/hw.h"

#define RECORD_SIZE	(2 * sizeof(__be32))

/* Each record has its own cache line, because CPUs write them concurrently. */
int cxib_hw_create_dbr_pool(struct cxib_hw *hw)
{
	hw->dbr_pool = dma_pool_create("cxib_dbr", hw->bus->dev,
				       max_t(size_t, RECORD_SIZE, SMP_CACHE_BYTES),
				       SMP_CACHE_BYTES, 0);
	return hw->dbr_pool ? 0 : -ENOMEM;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_hw_create_dbr_pool);

void cxib_hw_destroy_dbr_pool(struct cxib_hw *hw)
{
	dma_pool_destroy(hw->dbr_pool);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_hw_destroy_dbr_pool);

/**
 * cxib_dbr_alloc() - allocates a doorbell record
 * @hw: device with a doorbell record pool
 * @record: output; its words are zero
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int cxib_dbr_alloc(struct cxib_hw *hw, struct cxib_dbr *record)
{
	record->words = dma_pool_zalloc(hw->dbr_pool, GFP_KERNEL, &record->dma);
	return record->words ? 0 : -ENOMEM;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_dbr_alloc);

/**
 * cxib_dbr_free() - undo cxib_dbr_alloc()
 * @hw: device
 * @record: record of a queue that the device no longer accesses
 */
void cxib_dbr_free(struct cxib_hw *hw, struct cxib_dbr *record)
{
	dma_pool_free(hw->dbr_pool, record->words, record->dma);
}
