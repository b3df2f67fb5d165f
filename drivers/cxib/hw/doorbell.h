/* SPDX-License-Identifier: GPL-2.0-only */
/* Doorbells of the data path: two words, written at once. */
#ifndef CXIB_HW_DOORBELL_H
#define CXIB_HW_DOORBELL_H

#include <linux/io.h>
#include <linux/types.h>

#ifndef CONFIG_64BIT
#error "cxib needs a 64-bit kernel: a doorbell is one write of 64 bits"
#endif

/**
 * union cxib_doorbell - a doorbell
 * @words: the words, big endian
 * @val: both words, for a single write
 */
union cxib_doorbell {
	__be32 words[2];
	u64 val;
};

static inline void cxib_doorbell_ring(void __iomem *place, union cxib_doorbell doorbell)
{
	/* WQEs and doorbell records must be visible before the device gets the doorbell. */
	wmb();
	__raw_writeq(doorbell.val, place);
}

#endif
