/* SPDX-License-Identifier: GPL-2.0-only */
/* Doorbell records: two words of host memory that report queue indices to the device. */
#ifndef CXIB_HW_DBR_H
#define CXIB_HW_DBR_H

#include <linux/types.h>

#include "hw/work_queue.h"

struct cxib_hw;

/* Words of the doorbell records of QPs, SRQs and CQs. */
enum {
	CXIB_RCV_DBR = HW_QP_DOORBELL_RECORD_OFFSET_RECEIVE_COUNTER / sizeof(__be32),
	CXIB_SND_DBR = HW_QP_DOORBELL_RECORD_OFFSET_SEND_COUNTER / sizeof(__be32),
	CXIB_SRQ_DBR = HW_SRQ_DOORBELL_RECORD_OFFSET_RECEIVE_COUNTER / sizeof(__be32),
	CXIB_CQ_DBR_CI = HW_CQ_DOORBELL_RECORD_OFFSET_CONSUMER_INDEX / sizeof(__be32),
	CXIB_CQ_DBR_ARM = HW_CQ_DOORBELL_RECORD_OFFSET_ARM_SN / sizeof(__be32),
};

/**
 * struct cxib_dbr - a doorbell record
 * @words: virtual address
 * @dma: DMA address
 */
struct cxib_dbr {
	__be32 *words;
	dma_addr_t dma;
};

int cxib_dbr_alloc(struct cxib_hw *hw, struct cxib_dbr *record);
void cxib_dbr_free(struct cxib_hw *hw, struct cxib_dbr *record);

/* Bring-up steps. */
int cxib_hw_create_dbr_pool(struct cxib_hw *hw);
void cxib_hw_destroy_dbr_pool(struct cxib_hw *hw);

#endif
