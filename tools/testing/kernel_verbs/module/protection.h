/* SPDX-License-Identifier: GPL-2.0-or-later */
/* T10 protection information as the specification has it, computed bit by bit. */
#ifndef CXIB_ULP_PROTECTION_H
#define CXIB_ULP_PROTECTION_H

#include <linux/types.h>

#define ULP_DIF_SIZE	8

/* What guards a block. */
enum ulp_guard {
	ULP_GUARD_NONE,
	ULP_GUARD_CRC,
	ULP_GUARD_CHECKSUM,
};

/**
 * struct ulp_tags - what all blocks have
 * @application: application tag
 * @reference: reference tag of the first block; each further one has the next
 */
struct ulp_tags {
	u16 application;
	u32 reference;
};

u16 ulp_guard_of(enum ulp_guard guard, const u8 *data, u32 length);
void ulp_protect(u8 *information, enum ulp_guard guard, const struct ulp_tags *tags, u32 block,
		 const u8 *data, u32 length);

#endif
