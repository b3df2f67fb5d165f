// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks one field of each kind that the macros of hw/access.h define against a bit model: bit n of
 * a structure is bit 7 - n % 8 of byte n / 8. A second suite checks that wrong accessors are
 * detected. tools/testing/tables/conformance compares the positions of all fields with the
 * kernel's.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "hw/commands_device.h"
#include "hw/commands_events.h"
#include "hw/completion.h"
#include "hw/contexts.h"
#include "hw/registers.h"
#include "hw/work_queue.h"
#include "kernel_kunit.h"

#define HW_BITS_OF_WORD		32
#define HW_FAULT_LENGTH		192

/**
 * struct hw_number - a field that is a number or an array of numbers
 * @name: field name
 * @offset: bits from the start of the structure; bit 0 is the highest bit of word 0
 * @width: bits of one element
 * @count: number of elements
 * @access: sets element @index to *@value unless @value is NULL, and returns the element
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
 * @size: bytes of the structure without the list after it
 * @numbers: fields that are numbers
 * @number_count: number of @numbers
 * @places: fields whose accessors return an address
 * @place_count: number of @places
 * @packers: functions that build dwords, for structures of the hot path
 * @packer_count: number of @packers
 * @fill: sets every number of the structure and clears the rest; takes the values of those
 *	numbers that do not alias bits of others; NULL: none
 * @fill_count: number of these values
 * @fill_fields: fields of these values, as indices into @numbers
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

/* Wrappers that give all accessors one type. */
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

#define HW_PLACE_AT(layout, field, offset, stride, count)					\
	{ #field, offset, stride, count, writable_##layout##_##field, readable_##layout##_##field }

#define GUARD_BYTES	16

/* Two images of one structure, one written by the accessors and one by the model. */
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

/* Sets @value. If the result differs from the model, describes the difference in @fault. */
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

static void hw_describe_layout(const struct hw_layout_case *layout, char *description)
{
	strscpy(description, layout->name, KUNIT_PARAM_DESC_SIZE);
}

static void hw_set_number_changes_only_its_bits(struct kunit *test)
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

static void hw_place_address_matches_offset(struct kunit *test)
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

static void hw_pack_matches_setters(struct kunit *test)
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

HW_ACCESS_NUMBER(cqc, status)
HW_ACCESS_NUMBER(cqc, oi)
HW_ACCESS_NUMBER(cqc, log_cq_size)
HW_ACCESS_NUMBER(cqc, dbr_umem_id)
HW_ACCESS_NUMBER(cqc, producer_counter)
HW_ACCESS_NUMBER(cqc, dbr_addr)

static const struct hw_number cqc_numbers[] = {
	HW_NUMBER(cqc, status, 0, 4, 1),
	HW_NUMBER(cqc, oi, 14, 1, 1),
	HW_NUMBER(cqc, dbr_umem_id, 32, 32, 1),
	HW_NUMBER(cqc, log_cq_size, 99, 5, 1),
	HW_NUMBER(cqc, producer_counter, 360, 24, 1),
	HW_NUMBER(cqc, dbr_addr, 448, 64, 1),
};

HW_ACCESS_NUMBERS(pamp_reg, index_data)

static const struct hw_number pamp_reg_numbers[] = {
	HW_NUMBER(pamp_reg, index_data, 64, 16, 18),
};

HW_ACCESS_NUMBERS(init_hca_in, sw_owner_id)

static const struct hw_number init_hca_in_numbers[] = {
	HW_NUMBER(init_hca_in, sw_owner_id, 128, 32, 4),
};

HW_ACCESS_NUMBERS(create_eq_in, event_bitmask)
HW_ACCESS_PLACE(create_eq_in, eq_context_entry)

static const struct hw_number create_eq_in_numbers[] = {
	HW_NUMBER(create_eq_in, event_bitmask, 704, 64, 4),
};

static const struct hw_place create_eq_in_places[] = {
	HW_PLACE_AT(create_eq_in, eq_context_entry, 16, 64, 1),
};

HW_ACCESS_PLACE(ads, rgid_rip)

static const struct hw_place ads_places[] = {
	HW_PLACE_AT(ads, rgid_rip, 16, 1, 1),
};

HW_ACCESS_PLACES(mini_cqe_array, mini_cqes)

static const struct hw_place mini_cqe_array_places[] = {
	HW_PLACE_AT(mini_cqe_array, mini_cqes, 0, 8, 8),
};

HW_ACCESS_NUMBER(wqe_data_seg, inline_seg)
HW_ACCESS_NUMBER(wqe_data_seg, byte_count)
HW_ACCESS_NUMBER(wqe_data_seg, lkey)
HW_ACCESS_NUMBER(wqe_data_seg, addr)

static const struct hw_number wqe_data_seg_numbers[] = {
	HW_NUMBER(wqe_data_seg, inline_seg, 0, 1, 1),
	HW_NUMBER(wqe_data_seg, byte_count, 1, 31, 1),
	HW_NUMBER(wqe_data_seg, lkey, 32, 32, 1),
	HW_NUMBER(wqe_data_seg, addr, 64, 64, 1),
};

static __be32 pack_inline_seg(const u64 *values)
{
	return hw_wqe_data_seg_pack_00(values[0], values[1]);
}

static const struct hw_packer wqe_data_seg_packers[] = {
	{ 0, pack_inline_seg, 2, { 0, 1 } },
};

static void fill_wqe_data_seg(void *s, const u64 *values)
{
	hw_wqe_data_seg_pack(s, values[0], values[1], values[2], values[3]);
}

static const struct hw_layout_case layouts[] = {
	{
		.name = "cqc", .size = 64,
		.numbers = cqc_numbers, .number_count = ARRAY_SIZE(cqc_numbers),
	},
	{
		.name = "pamp_reg", .size = 44,
		.numbers = pamp_reg_numbers, .number_count = ARRAY_SIZE(pamp_reg_numbers),
	},
	{
		.name = "init_hca_in", .size = 32,
		.numbers = init_hca_in_numbers, .number_count = ARRAY_SIZE(init_hca_in_numbers),
	},
	{
		.name = "create_eq_in", .size = 272,
		.numbers = create_eq_in_numbers, .number_count = ARRAY_SIZE(create_eq_in_numbers),
		.places = create_eq_in_places, .place_count = ARRAY_SIZE(create_eq_in_places),
	},
	{
		.name = "ads", .size = 44,
		.places = ads_places, .place_count = ARRAY_SIZE(ads_places),
	},
	{
		.name = "mini_cqe_array", .size = 64,
		.places = mini_cqe_array_places, .place_count = ARRAY_SIZE(mini_cqe_array_places),
	},
	{
		.name = "wqe_data_seg", .size = 16,
		.numbers = wqe_data_seg_numbers, .number_count = ARRAY_SIZE(wqe_data_seg_numbers),
		.packers = wqe_data_seg_packers, .packer_count = ARRAY_SIZE(wqe_data_seg_packers),
		.fill = fill_wqe_data_seg, .fill_count = 4, .fill_fields = { 0, 1, 2, 3 },
	},
};

KUNIT_ARRAY_PARAM(layout, layouts, hw_describe_layout);

static struct kunit_case field_cases[] = {
	KUNIT_CASE_PARAM(hw_set_number_changes_only_its_bits, layout_gen_params),
	KUNIT_CASE_PARAM(hw_place_address_matches_offset, layout_gen_params),
	KUNIT_CASE_PARAM(hw_pack_matches_setters, layout_gen_params),
	{}
};

static struct kunit_suite field_suite = {
	.name = "hw_fields",
	.test_cases = field_cases,
};

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

kunit_test_suites(&field_suite, &check_suite);
