// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the generated accessors against a bit model: bit n of a structure is bit 7 - n % 8 of byte
 * n / 8. The suites that use this are generated; the suite of this file shows that wrong accessors
 * are found.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "hw_accessors.h"

#define GUARD_BYTES	16

/* Two images of one structure: written by the accessors, and by the model. */
struct images {
	u8 *actual;
	u8 *expected;
	u32 length;
};

static const u8 backgrounds[] = { 0x00, 0xff };

static u64 ones(u32 width)
{
	return width == 64 ? ~0ULL : (1ULL << width) - 1;
}

static u64 model_get(const u8 *bytes, u32 offset, u32 width)
{
	u64 value = 0;
	u32 bit;

	for (bit = offset; bit < offset + width; bit++)
		value = value << 1 | (bytes[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

static void model_set(u8 *bytes, u32 offset, u32 width, u64 value)
{
	u32 bit;

	for (bit = offset + width; bit-- > offset; value >>= 1) {
		u8 mask = 1 << (7 - bit % 8);

		bytes[bit / 8] = value & 1 ? bytes[bit / 8] | mask : bytes[bit / 8] & ~mask;
	}
}

static int allocate_images(struct kunit *test, const struct hw_layout_case *layout,
			   struct images *images)
{
	images->length = layout->size + GUARD_BYTES;
	images->actual = kunit_kzalloc(test, images->length, GFP_KERNEL);
	images->expected = kunit_kzalloc(test, images->length, GFP_KERNEL);
	return images->actual && images->expected ? 0 : -ENOMEM;
}

static void fill_images(struct images *images, u8 background)
{
	memset(images->actual, background, images->length);
	memset(images->expected, background, images->length);
}

/* Sets @value; when the result differs from the model, describes it in @fault. */
static bool is_set_wrongly(const struct hw_number *number, unsigned int index, u64 value,
			   u8 background, struct images *images, char *fault)
{
	u32 offset = number->offset + index * number->width;
	u64 got;

	fill_images(images, background);
	got = number->access(images->actual, index, &value);
	model_set(images->expected, offset, number->width, value);
	if (got == value && !memcmp(images->actual, images->expected, images->length))
		return false;
	snprintf(fault, HW_FAULT_LENGTH,
		 "%s[%u] set to %#llx on a background of %#02x: reads %#llx, its bits are %#llx%s",
		 number->name, index, value, background, got,
		 model_get(images->actual, offset, number->width),
		 model_get(images->actual, offset, number->width) == value ?
			", others changed too" : "");
	return true;
}

static bool is_element_wrong(const struct hw_number *number, unsigned int index,
			     struct images *images, char *fault)
{
	const u64 values[] = { 0, 1, ~0ULL, 0xaaaaaaaaaaaaaaaaULL, 0x5555555555555555ULL,
			       0x0123456789abcdefULL, 1ULL << (number->width - 1) };
	unsigned int i, b;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		for (b = 0; b < ARRAY_SIZE(backgrounds); b++)
			if (is_set_wrongly(number, index, values[i] & ones(number->width),
					   backgrounds[b], images, fault))
				return true;
	return false;
}

static bool is_number_wrong(const struct hw_number *number, struct images *images, char *fault)
{
	unsigned int index;

	for (index = 0; index < number->count; index++)
		if (is_element_wrong(number, index, images, fault))
			return true;
	return false;
}

static bool is_place_wrong(const struct hw_place *place, void *structure, char *fault)
{
	unsigned int index;

	for (index = 0; index < place->count; index++) {
		const void *expected = structure + place->offset + index * place->stride;
		const void *writable = place->writable(structure, index);
		const void *readable = place->readable(structure, index);

		if (writable == expected && readable == expected)
			continue;
		snprintf(fault, HW_FAULT_LENGTH, "%s[%u] leads to bytes %td and %td, must be %td",
			 place->name, index, writable - structure, readable - structure,
			 expected - structure);
		return true;
	}
	return false;
}

/* Value of the field @index in round @round: each bit is 1 in some round. */
static u64 value_of_round(const struct hw_number *number, unsigned int index, unsigned int round)
{
	static const u64 patterns[] = { 0x0123456789abcdefULL, 0xfedcba9876543210ULL, ~0ULL, 0 };

	return patterns[(index + round) % ARRAY_SIZE(patterns)] & ones(number->width);
}

#define ROUNDS	4

static bool is_packer_wrong(const struct hw_layout_case *layout, const struct hw_packer *packer,
			    struct images *images, char *fault)
{
	u64 values[HW_BITS_OF_WORD];
	unsigned int round, i;
	__be32 word;

	for (round = 0; round < ROUNDS; round++) {
		fill_images(images, 0);
		for (i = 0; i < packer->field_count; i++) {
			const struct hw_number *number = &layout->numbers[packer->fields[i]];

			values[i] = value_of_round(number, i, round);
			number->access(images->actual, 0, &values[i]);
		}
		word = packer->pack(values);
		if (!memcmp(images->actual + packer->offset, &word, sizeof(word)))
			continue;
		snprintf(fault, HW_FAULT_LENGTH, "word %#x is packed as %*ph, set as %*ph",
			 packer->offset, (int)sizeof(word), &word, (int)sizeof(word),
			 images->actual + packer->offset);
		return true;
	}
	return false;
}

static bool is_filled_wrongly(const struct hw_layout_case *layout, struct images *images,
			      char *fault)
{
	u64 values[HW_BITS_OF_WORD];
	unsigned int round, i;

	for (round = 0; round < ROUNDS; round++) {
		memset(images->actual, 0xff, layout->size);
		memset(images->expected, 0, layout->size);
		for (i = 0; i < layout->fill_count; i++) {
			const struct hw_number *number = &layout->numbers[layout->fill_fields[i]];

			values[i] = value_of_round(number, i, round);
			number->access(images->expected, 0, &values[i]);
		}
		layout->fill(images->actual, values);
		if (!memcmp(images->actual, images->expected, layout->size))
			continue;
		snprintf(fault, HW_FAULT_LENGTH, "is filled as %*ph, set as %*ph",
			 (int)layout->size, images->actual, (int)layout->size, images->expected);
		return true;
	}
	return false;
}

void hw_describe_layout(const struct hw_layout_case *layout, char *description)
{
	strscpy(description, layout->name, KUNIT_PARAM_DESC_SIZE);
}

void hw_set_number_changes_only_its_bits(struct kunit *test)
{
	const struct hw_layout_case *layout = test->param_value;
	char fault[HW_FAULT_LENGTH];
	struct images images;
	u32 i;

	KUNIT_ASSERT_EQ(test, allocate_images(test, layout, &images), 0);
	for (i = 0; i < layout->number_count; i++)
		if (is_number_wrong(&layout->numbers[i], &images, fault))
			KUNIT_FAIL(test, "%s.%s", layout->name, fault);
}

void hw_place_address_matches_offset(struct kunit *test)
{
	const struct hw_layout_case *layout = test->param_value;
	char fault[HW_FAULT_LENGTH];
	struct images images;
	u32 i;

	if (!layout->place_count)
		kunit_skip(test, "%s has numbers only", layout->name);
	KUNIT_ASSERT_EQ(test, allocate_images(test, layout, &images), 0);
	for (i = 0; i < layout->place_count; i++)
		if (is_place_wrong(&layout->places[i], images.actual, fault))
			KUNIT_FAIL(test, "%s.%s", layout->name, fault);
}

void hw_pack_matches_setters(struct kunit *test)
{
	const struct hw_layout_case *layout = test->param_value;
	char fault[HW_FAULT_LENGTH];
	struct images images;
	u32 i;

	KUNIT_ASSERT_EQ(test, allocate_images(test, layout, &images), 0);
	for (i = 0; i < layout->packer_count; i++)
		if (is_packer_wrong(layout, &layout->packers[i], &images, fault))
			KUNIT_FAIL(test, "%s %s", layout->name, fault);
	if (layout->fill && is_filled_wrongly(layout, &images, fault))
		KUNIT_FAIL(test, "%s %s", layout->name, fault);
}

/* A structure of one dword whose field "middle" is bits 23 to 8, and wrong accessors. */

static u64 access_right(void *structure, unsigned int index, const u64 *value)
{
	if (value)
		model_set(structure, 8, 16, *value);
	return model_get(structure, 8, 16);
}

static u64 access_one_bit_off(void *structure, unsigned int index, const u64 *value)
{
	if (value)
		model_set(structure, 9, 16, *value);
	return model_get(structure, 9, 16);
}

static u64 access_and_set_a_neighbour(void *structure, unsigned int index, const u64 *value)
{
	if (value)
		model_set(structure, 7, 17, *value | 0x10000);
	return model_get(structure, 8, 16);
}

static u64 access_and_lose_the_top_bit(void *structure, unsigned int index, const u64 *value)
{
	if (value)
		model_set(structure, 8, 16, *value);
	return model_get(structure, 9, 15);
}

static u64 access_fields(void *structure, unsigned int index, const u64 *value)
{
	return value ? *value : 0;
}

static __be32 pack_right(const u64 *values)
{
	return cpu_to_be32(values[0] << 8);
}

static __be32 pack_into_the_wrong_byte(const u64 *values)
{
	return cpu_to_be32(values[0] << 16);
}

static void *place_of_word_two(void *structure, unsigned int index)
{
	return structure + 8 + 4 * index;
}

static const void *place_of_word_two_to_read(const void *structure, unsigned int index)
{
	return structure + 8 + 4 * index;
}

static const struct hw_layout_case one_word = { .name = "one_word", .size = 4 };

static bool finds_fault_in(struct kunit *test,
			   u64 (*access)(void *structure, unsigned int index, const u64 *value))
{
	const struct hw_number number = { "middle", 8, 16, 1, access };
	char fault[HW_FAULT_LENGTH];
	struct images images;

	KUNIT_ASSERT_EQ(test, allocate_images(test, &one_word, &images), 0);
	return is_number_wrong(&number, &images, fault);
}

static void check_correct_accessor_passes(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, finds_fault_in(test, access_right));
}

static void check_shifted_accessor_fails(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, finds_fault_in(test, access_one_bit_off));
}

static void check_setter_changing_neighbour_fails(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, finds_fault_in(test, access_and_set_a_neighbour));
}

static void check_getter_losing_bit_fails(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, finds_fault_in(test, access_and_lose_the_top_bit));
}

static void check_setter_without_effect_fails(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, finds_fault_in(test, access_fields));
}

static bool finds_fault_in_packer(struct kunit *test, __be32 (*pack)(const u64 *values))
{
	const struct hw_number number = { "middle", 8, 16, 1, access_right };
	const struct hw_layout_case layout = { .name = "one_word", .size = 4, .numbers = &number };
	const struct hw_packer packer = { 0, pack, 1, { 0 } };
	char fault[HW_FAULT_LENGTH];
	struct images images;

	KUNIT_ASSERT_EQ(test, allocate_images(test, &layout, &images), 0);
	return is_packer_wrong(&layout, &packer, &images, fault);
}

static void check_packer_unlike_setters_fails(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, finds_fault_in_packer(test, pack_right));
	KUNIT_EXPECT_TRUE(test, finds_fault_in_packer(test, pack_into_the_wrong_byte));
}

static bool finds_fault_in_place(struct kunit *test, u32 offset, u32 stride)
{
	const struct hw_place place = { "part", offset, stride, 2, place_of_word_two,
					place_of_word_two_to_read };
	u8 structure[16] = {};
	char fault[HW_FAULT_LENGTH];

	return is_place_wrong(&place, structure, fault);
}

/* Words of 4 bytes, of which place_of_word_two() returns the third. */
static void check_wrong_address_fails(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, finds_fault_in_place(test, 8, 4));
	KUNIT_EXPECT_TRUE(test, finds_fault_in_place(test, 4, 4));
	KUNIT_EXPECT_TRUE(test, finds_fault_in_place(test, 8, 2));
}

static struct kunit_case check_cases[] = {
	KUNIT_CASE(check_correct_accessor_passes),
	KUNIT_CASE(check_shifted_accessor_fails),
	KUNIT_CASE(check_setter_changing_neighbour_fails),
	KUNIT_CASE(check_getter_losing_bit_fails),
	KUNIT_CASE(check_setter_without_effect_fails),
	KUNIT_CASE(check_packer_unlike_setters_fails),
	KUNIT_CASE(check_wrong_address_fails),
	{}
};

static struct kunit_suite check_suite = {
	.name = "hw_accessors",
	.test_cases = check_cases,
};

kunit_test_suite(check_suite);
