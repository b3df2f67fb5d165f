/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptions of the accessors of include/hw by the generated suites: for each field its position
 * in the tables and its functions. hw_accessors_kunit.c checks them.
 */
#ifndef HW_ACCESSORS_H
#define HW_ACCESSORS_H

#include <linux/types.h>

#include "kernel_kunit.h"

#define HW_BITS_OF_WORD		32
#define HW_FAULT_LENGTH		192

/**
 * struct hw_number - a field that is a number, or an array of numbers
 * @name: field name
 * @offset: bits from the start of the structure, the highest bit of word 0 is 0
 * @width: bits of one element
 * @count: elements
 * @access: sets element @index to *@value unless @value is NULL, and returns it
 */
struct hw_number {
	const char *name;
	u32 offset;
	u32 width;
	u32 count;
	u64 (*access)(void *structure, unsigned int index, const u64 *value);
};

/**
 * struct hw_place - a field whose accessors return its address
 * @name: field name
 * @offset: bytes from the start of the structure
 * @stride: bytes from one element to the next
 * @count: elements
 * @writable: address of element @index
 * @readable: the same through a pointer to const
 */
struct hw_place {
	const char *name;
	u32 offset;
	u32 stride;
	u32 count;
	void *(*writable)(void *structure, unsigned int index);
	const void *(*readable)(const void *structure, unsigned int index);
};

/**
 * struct hw_packer - a function that builds a dword
 * @offset: bytes from the start of the structure
 * @pack: returns the dword with the given values of its fields
 * @field_count: number of its fields
 * @fields: the fields, as indices into the numbers of the structure
 */
struct hw_packer {
	u32 offset;
	__be32 (*pack)(const u64 *values);
	u8 field_count;
	u8 fields[HW_BITS_OF_WORD];
};

/**
 * struct hw_layout_case - a structure
 * @name: structure name
 * @size: its bytes, without the list behind it
 * @numbers: its fields that are numbers
 * @number_count: number of @numbers
 * @places: its fields whose accessors return an address
 * @place_count: number of @places
 * @packers: functions that build dwords, in structures of the hot path
 * @packer_count: number of @packers
 * @fill: sets every number of the structure and clears the rest, or NULL; takes the values of those
 *	numbers that do not alias bits of others
 * @fill_count: number of these values
 * @fill_fields: their fields, as indices into @numbers
 */
struct hw_layout_case {
	const char *name;
	u32 size;
	const struct hw_number *numbers;
	u32 number_count;
	const struct hw_place *places;
	u32 place_count;
	const struct hw_packer *packers;
	u32 packer_count;
	void (*fill)(void *structure, const u64 *values);
	u8 fill_count;
	u8 fill_fields[HW_BITS_OF_WORD];
};

/* Wrappers of the accessors, all of one type. */
#define HW_ACCESS_NUMBER(layout, field)							\
static u64 access_##layout##_##field(void *s, unsigned int index, const u64 *value)	\
{											\
	if (value)									\
		hw_##layout##_set_##field(s, *value);					\
	return hw_##layout##_get_##field(s);						\
}

#define HW_ACCESS_NUMBERS(layout, field)						\
static u64 access_##layout##_##field(void *s, unsigned int index, const u64 *value)	\
{											\
	if (value)									\
		hw_##layout##_set_##field(s, index, *value);				\
	return hw_##layout##_get_##field(s, index);					\
}

#define HW_ACCESS_PLACE(layout, field)							\
static void *writable_##layout##_##field(void *s, unsigned int index)			\
{											\
	return hw_##layout##_##field(s);						\
}											\
											\
static const void *readable_##layout##_##field(const void *s, unsigned int index)	\
{											\
	return hw_##layout##_get_##field(s);						\
}

#define HW_ACCESS_PLACES(layout, field)							\
static void *writable_##layout##_##field(void *s, unsigned int index)			\
{											\
	return hw_##layout##_##field(s, index);						\
}											\
											\
static const void *readable_##layout##_##field(const void *s, unsigned int index)	\
{											\
	return hw_##layout##_get_##field(s, index);					\
}

#define HW_NUMBER(layout, field, offset, width, count)					\
	{ #field, offset, width, count, access_##layout##_##field }

#define HW_PLACE(layout, field, offset, stride, count)					\
	{ #field, offset, stride, count, writable_##layout##_##field, readable_##layout##_##field }

/* The suite hw_<group> over the array "layouts" of the file. */
#define HW_ACCESSOR_SUITE(group)							\
KUNIT_ARRAY_PARAM(layout, layouts, hw_describe_layout);					\
											\
static struct kunit_case cases[] = {							\
	KUNIT_CASE_PARAM(hw_set_number_changes_only_its_bits, layout_gen_params),	\
	KUNIT_CASE_PARAM(hw_place_address_matches_offset, layout_gen_params),		\
	KUNIT_CASE_PARAM(hw_pack_matches_setters, layout_gen_params),			\
	{}										\
};											\
											\
static struct kunit_suite suite = {							\
	.name = "hw_" #group,								\
	.test_cases = cases,								\
};											\
											\
kunit_test_suite(suite)

void hw_describe_layout(const struct hw_layout_case *layout, char *description);

void hw_set_number_changes_only_its_bits(struct kunit *test);
void hw_place_address_matches_offset(struct kunit *test);
void hw_pack_matches_setters(struct kunit *test);

#endif /* HW_ACCESSORS_H */
