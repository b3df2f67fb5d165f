/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the generated suites say about the accessors of include/hw: for each field, where the tables
 * put it and how its functions are called. hw_accessors_kunit.c judges them.
 */
#ifndef HW_ACCESSORS_H
#define HW_ACCESSORS_H

#include <kunit/test.h>
#include <linux/types.h>

#define HW_BITS_OF_WORD		32
#define HW_FAULT_LENGTH		192

/**
 * struct hw_number - a field that is a number, or an array of them
 * @name: its name
 * @offset: bits from the start of the structure, the highest bit of word 0 is 0
 * @width: bits of one element
 * @count: elements
 * @access: sets element @index to *@value unless @value is NULL, and gets it
 */
struct hw_number {
	const char *name;
	u32 offset;
	u32 width;
	u32 count;
	u64 (*access)(void *structure, unsigned int index, const u64 *value);
};

/**
 * struct hw_place - a field that is reached by its address
 * @name: its name
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
 * struct hw_packer - a function that makes a whole word
 * @offset: bytes from the start of the structure
 * @pack: the word made of the values of its fields
 * @field_count: how many fields it has
 * @fields: which, as indices into the numbers of the structure
 */
struct hw_packer {
	u32 offset;
	__be32 (*pack)(const u64 *values);
	u8 field_count;
	u8 fields[HW_BITS_OF_WORD];
};

/**
 * struct hw_layout_case - a structure
 * @name: its name
 * @size: its bytes, without the list behind it
 * @numbers: its fields that are numbers
 * @number_count: how many
 * @places: its fields that are reached by address
 * @place_count: how many
 * @packers: makers of words, in structures of the hot path
 * @packer_count: how many
 * @fill: sets every number of the structure and clears the rest, or NULL; takes the values of those
 *	numbers that are not another name for bits of others
 * @fill_count: how many these are
 * @fill_fields: which, as indices into @numbers
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

/* Functions around accessors, all of one type. */
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
	KUNIT_CASE_PARAM(hw_keeps_every_value_and_every_neighbour, layout_gen_params),	\
	KUNIT_CASE_PARAM(hw_leads_to_every_nested_part, layout_gen_params),		\
	KUNIT_CASE_PARAM(hw_packs_words_as_setters_do, layout_gen_params),		\
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

void hw_keeps_every_value_and_every_neighbour(struct kunit *test);
void hw_leads_to_every_nested_part(struct kunit *test);
void hw_packs_words_as_setters_do(struct kunit *test);

#endif /* HW_ACCESSORS_H */
