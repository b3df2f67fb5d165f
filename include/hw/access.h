/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Macros that define the accessors in this directory. This file is written by hand; `make tables`
 * generates the others.
 *
 * Structures that software shares with the device are arrays of big-endian 32-bit words. A field is
 * some bits of one word, or two words that make a 64-bit number. If the compiler knows that a value
 * does not fit a field, compilation stops. Otherwise a setter truncates the value to the width of
 * the field, so that the neighbour fields do not change. A packer does not truncate, because it is
 * for the hot path. In debug builds (CXIB_HW_DEBUG) both warn and name the field.
 */
#ifndef HW_ACCESS_H
#define HW_ACCESS_H

#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <asm/byteorder.h>

/* A 64-bit number that begins at any word. */
struct hw_be64 {
	__be64 value;
} __packed __aligned(4);

#define HW_ONES(width)	(~0ULL >> (64 - (width)))

#ifdef CXIB_HW_DEBUG
#define HW_DEBUG	true
#else
#define HW_DEBUG	false
#endif

/* In debug builds, warns once for each caller. */
#define hw_warn_unless(condition, field, what, value, limit)				\
	WARN_ONCE(HW_DEBUG && !(condition), "%s: " what " %#llx exceeds %#llx\n", field,	\
		  (unsigned long long)(value), (unsigned long long)(limit))

/* @value must fit into @width bits; @field is a string. */
#define hw_check_value(value, width, field)						\
do {											\
	BUILD_BUG_ON_MSG(__builtin_constant_p(value) && (value) > HW_ONES(width),	\
			 "value is too large for " field);				\
	hw_warn_unless((value) <= HW_ONES(width), field, "value", value, HW_ONES(width)); \
} while (0)

/* @index must be below @count, the number of elements of array @field. */
#define hw_check_index(index, count, field)						\
do {											\
	BUILD_BUG_ON_MSG(__builtin_constant_p(index) && (index) >= (count),		\
			 "index is too large for " field);				\
	hw_warn_unless((index) < (count), field, "index", index, (count) - 1);		\
} while (0)

/* The @width bits of @word that begin at bit @low. */
static __always_inline u32 hw_get_bits(__be32 word, unsigned int low, unsigned int width)
{
	return be32_to_cpu(word) >> low & (u32)HW_ONES(width);
}

/* Sets the @width bits of @word that begin at bit @low; ignores the higher bits of @value. */
static __always_inline void hw_set_bits(__be32 *word, unsigned int low, unsigned int width,
					u64 value)
{
	const u32 mask = (u32)HW_ONES(width) << low;

	*word = cpu_to_be32((be32_to_cpu(*word) & ~mask) | ((u32)value << low & mask));
}

/* The body of most setters. */
#define hw_set_field(word, low, width, value, field)					\
do {											\
	hw_check_value(value, width, field);						\
	hw_set_bits(&(word), low, width, value);					\
} while (0)

static __always_inline u64 hw_get_u64(const __be32 *words)
{
	return be64_to_cpu(((const struct hw_be64 *)words)->value);
}

static __always_inline void hw_set_u64(__be32 *words, u64 value)
{
	((struct hw_be64 *)words)->value = cpu_to_be64(value);
}

/* Element @index of an array of 16-bit numbers that begins at @words. */
static __always_inline u32 hw_get_u16_at(const __be32 *words, unsigned int index)
{
	return be16_to_cpu(((const __be16 *)words)[index]);
}

static __always_inline void hw_set_u16_at(__be32 *words, unsigned int index, u64 value)
{
	((__be16 *)words)[index] = cpu_to_be16((u16)value);
}

/*
 * In the macros below, @layout is the name of a structure without hw_, @field is the name of a
 * field, and @offset is the byte offset of the field or of the word that contains it. Each macro
 * defines two functions.
 */

/* Bits @high to @low of a word: hw_LAYOUT_get_FIELD(s), hw_LAYOUT_set_FIELD(s, value). */
#define HW_BITS(layout, field, offset, high, low)						\
static __always_inline u32 hw_##layout##_get_##field(const struct hw_##layout *s)		\
{												\
	return hw_get_bits(s->dw[(offset) / 4], low, (high) - (low) + 1);			\
}												\
												\
static __always_inline void hw_##layout##_set_##field(struct hw_##layout *s, u64 value)		\
{												\
	hw_set_field(s->dw[(offset) / 4], low, (high) - (low) + 1, value,			\
		     #layout "." #field);							\
}

/* A number of 64 bits: hw_LAYOUT_get_FIELD(s), hw_LAYOUT_set_FIELD(s, value). */
#define HW_U64(layout, field, offset)								\
static __always_inline u64 hw_##layout##_get_##field(const struct hw_##layout *s)		\
{												\
	return hw_get_u64(&s->dw[(offset) / 4]);						\
}												\
												\
static __always_inline void hw_##layout##_set_##field(struct hw_##layout *s, u64 value)		\
{												\
	hw_set_u64(&s->dw[(offset) / 4], value);						\
}

/* An array of @count numbers: hw_LAYOUT_get_FIELD(s, index), hw_LAYOUT_set_FIELD(s, index, value). */
#define HW_U16S(layout, field, offset, count)							\
static __always_inline u32									\
hw_##layout##_get_##field(const struct hw_##layout *s, unsigned int index)			\
{												\
	static_assert((offset) % 4 == 0);							\
	hw_check_index(index, count, #layout "." #field);					\
	return hw_get_u16_at(&s->dw[(offset) / 4], index);					\
}												\
												\
static __always_inline void									\
hw_##layout##_set_##field(struct hw_##layout *s, unsigned int index, u64 value)			\
{												\
	hw_check_index(index, count, #layout "." #field);					\
	hw_check_value(value, 16, #layout "." #field);						\
	hw_set_u16_at(&s->dw[(offset) / 4], index, value);					\
}

#define HW_U32S(layout, field, offset, count)							\
static __always_inline u32									\
hw_##layout##_get_##field(const struct hw_##layout *s, unsigned int index)			\
{												\
	hw_check_index(index, count, #layout "." #field);					\
	return hw_get_bits(s->dw[(offset) / 4 + index], 0, 32);					\
}												\
												\
static __always_inline void									\
hw_##layout##_set_##field(struct hw_##layout *s, unsigned int index, u64 value)			\
{												\
	hw_check_index(index, count, #layout "." #field);					\
	hw_check_value(value, 32, #layout "." #field);						\
	hw_set_bits(&s->dw[(offset) / 4 + index], 0, 32, value);				\
}

#define HW_U64S(layout, field, offset, count)							\
static __always_inline u64									\
hw_##layout##_get_##field(const struct hw_##layout *s, unsigned int index)			\
{												\
	hw_check_index(index, count, #layout "." #field);					\
	return hw_get_u64(&s->dw[(offset) / 4 + 2 * index]);					\
}												\
												\
static __always_inline void									\
hw_##layout##_set_##field(struct hw_##layout *s, unsigned int index, u64 value)			\
{												\
	hw_check_index(index, count, #layout "." #field);					\
	hw_set_u64(&s->dw[(offset) / 4 + 2 * index], value);					\
}

/* A nested @type: hw_LAYOUT_FIELD(s) returns its address, hw_LAYOUT_get_FIELD(s) a const one. */
#define HW_PLACE(layout, field, offset, type)							\
static __always_inline type *hw_##layout##_##field(struct hw_##layout *s)			\
{												\
	return (type *)((u8 *)s->dw + (offset));						\
}												\
												\
static __always_inline const type *hw_##layout##_get_##field(const struct hw_##layout *s)	\
{												\
	return (const type *)((const u8 *)s->dw + (offset));					\
}

/* An array of @count nested @type; both functions have a further argument, the index. */
#define HW_PLACES(layout, field, offset, type, count)						\
static __always_inline type *									\
hw_##layout##_##field(struct hw_##layout *s, unsigned int index)				\
{												\
	hw_check_index(index, count, #layout "." #field);					\
	return (type *)((u8 *)s->dw + (offset)) + index;					\
}												\
												\
static __always_inline const type *								\
hw_##layout##_get_##field(const struct hw_##layout *s, unsigned int index)			\
{												\
	hw_check_index(index, count, #layout "." #field);					\
	return (const type *)((const u8 *)s->dw + (offset)) + index;				\
}

#endif /* HW_ACCESS_H */
