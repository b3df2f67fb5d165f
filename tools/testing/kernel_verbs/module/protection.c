// SPDX-License-Identifier: GPL-2.0-or-later
/* T10 protection information (SCSI Block Commands, 4.21). */
#include "protection.h"

#define POLYNOMIAL	0x8bb7

static u16 crc_of(const u8 *data, u32 length)
{
	u16 crc = 0;
	int bit;

	for (; length; length--) {
		crc ^= (u16)*data++ << 8;
		for (bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc & 0x8000 ? POLYNOMIAL : 0);
	}
	return crc;
}

/* IP checksum (RFC 1071). */
static u16 checksum_of(const u8 *data, u32 length)
{
	u32 sum = 0, i;

	for (i = 0; i < length; i += 2)
		sum += get_unaligned_be16(data + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/**
 * kverbs_guard_of() - computes the guard of a block
 * @guard: CRC or checksum
 * @data: block
 * @length: bytes of the block, even
 */
u16 kverbs_guard_of(enum kverbs_guard guard, const u8 *data, u32 length)
{
	return guard == KVERBS_GUARD_CRC ? crc_of(data, length) : checksum_of(data, length);
}

/**
 * kverbs_protect() - computes the protection information of a block
 * @information: KVERBS_DIF_SIZE bytes
 * @guard: CRC or checksum
 * @tags: tags of all blocks
 * @block: number of the block, counted from 0
 * @data: block
 * @length: bytes of the block
 */
void kverbs_protect(u8 *information, enum kverbs_guard guard, const struct kverbs_tags *tags, u32 block,
		 const u8 *data, u32 length)
{
	put_unaligned_be16(kverbs_guard_of(guard, data, length), information);
	put_unaligned_be16(tags->application, information + 2);
	put_unaligned_be32(tags->reference + block, information + 4);
}
