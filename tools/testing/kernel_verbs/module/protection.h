/* SPDX-License-Identifier: GPL-2.0-or-later */
/* T10 protection information according to the specification, computed bit by bit. */
#ifndef CXIB_ULP_PROTECTION_H
#define CXIB_ULP_PROTECTION_H

#include <linux/types.h>
/* Until Linux 6.12 the header was in asm/. */
#if __has_include(<linux/unaligned.h>)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#define KVERBS_DIF_SIZE	8

/* Kind of guard. */
enum kverbs_guard {
	KVERBS_GUARD_NONE,
	KVERBS_GUARD_CRC,
	KVERBS_GUARD_CHECKSUM,
};

/**
 * struct kverbs_tags - tags of all blocks
 * @application: application tag
 * @reference: reference tag of the first block; it grows by 1 with each block
 */
struct kverbs_tags {
	u16 application;
	u32 reference;
};

u16 kverbs_guard_of(enum kverbs_guard guard, const u8 *data, u32 length);
void kverbs_protect(u8 *information, enum kverbs_guard guard, const struct kverbs_tags *tags, u32 block,
		 const u8 *data, u32 length);

#endif
