/* SPDX-License-Identifier: GPL-2.0-only */
/* Doorbells of the data path: two words that the device takes in one write. */
#ifndef CXIB_HW_DOORBELL_H
#define CXIB_HW_DOORBELL_H

#include <linux/io.h>
#include <linux/types.h>

#ifndef CONFIG_64BIT
#error "cxib needs a 64-bit kernel: a doorbell is one write of 64 bits"
#endif

/**
 * union cxib_doorbell - a doorbell
 * @words: as the device wants them
 * @val: to be written at once
 */
union cxib_doorbell {
	__be32 words[2];
	u64 val;
};

static inline void cxib_doorbell_ring(void __iomem *place, union cxib_doorbell doorbell)
{
	/* What was written to memory before is there when the device sees the doorbell. */
	wmb();
	__raw_writeq(doorbell.val, place);
}

#endif
