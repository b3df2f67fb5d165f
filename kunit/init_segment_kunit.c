// SPDX-License-Identifier: GPL-2.0-only
/* Evaluation of the init segment. The cases provide its memory. */
#include <linux/string.h>

#include "hw/init_segment.h"
#include "kernel_kunit.h"

#define NEVER			UINT_MAX
#define FIRMWARE_MAJOR		16
#define FIRMWARE_MINOR		35
#define FIRMWARE_SUBMINOR	4030
#define WAITS			17
#define GONE_AFTER		3

/* All bits except "initializing" in its word: mlx5_ifc.h, initial_seg. */
#define OTHER_BITS		(~HW_INITIAL_SEG_MASK_INITIALIZING)

/**
 * struct fake_device - a device with firmware 16.35.4030 whose state changes while the driver waits
 * @reader: access to @segment
 * @test: the running case
 * @segment: the init segment
 * @ready_after: number of waits until the firmware is ready
 * @gone_after: number of waits until reads return all-ones
 * @waits: number of waits so far
 * @waited: duration of all waits in milliseconds
 */
struct fake_device {
	struct cxib_init_segment_reader reader;
	struct kunit *test;
	struct hw_initial_seg segment;
	unsigned int ready_after;
	unsigned int gone_after;
	unsigned int waits;
	unsigned int waited;
};

static struct fake_device *to_fake(struct cxib_init_segment_reader *reader)
{
	return container_of(reader, struct fake_device, reader);
}

static void fake_read(struct cxib_init_segment_reader *reader, struct hw_initial_seg *copy,
		      unsigned int first, unsigned int count)
{
	struct fake_device *device = to_fake(reader);

	KUNIT_ASSERT_LE(device->test, first + count, ARRAY_SIZE(copy->dw));
	memcpy(&copy->dw[first], &device->segment.dw[first], count * sizeof(u32));
}

static void fake_wait(struct cxib_init_segment_reader *reader,
		      unsigned int milliseconds, unsigned int waited)
{
	struct fake_device *device = to_fake(reader);

	KUNIT_EXPECT_EQ(device->test, waited, device->waited);
	device->waits++;
	device->waited += milliseconds;
	if (device->waits == device->ready_after)
		hw_initial_seg_set_initializing(&device->segment, 0);
	if (device->waits == device->gone_after)
		memset(&device->segment, 0xff, sizeof(device->segment));
}

static int init_segment_init(struct kunit *test)
{
	struct fake_device *device = kunit_kzalloc(test, sizeof(*device), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, device);
	device->reader.read = fake_read;
	device->reader.wait = fake_wait;
	device->test = test;
	hw_initial_seg_set_fw_rev_major(&device->segment, FIRMWARE_MAJOR);
	hw_initial_seg_set_fw_rev_minor(&device->segment, FIRMWARE_MINOR);
	hw_initial_seg_set_fw_rev_subminor(&device->segment, FIRMWARE_SUBMINOR);
	hw_initial_seg_set_cmd_interface_rev(&device->segment, CXIB_COMMAND_REVISION);
	device->ready_after = NEVER;
	device->gone_after = NEVER;
	test->priv = device;
	return 0;
}

static void expect_text(struct kunit *test, const struct cxib_explanation *explanation,
			const char *words)
{
	KUNIT_EXPECT_TRUE_MSG(test, strstr(explanation->text, words),
			      "\"%s\" is not in \"%s\"", words, explanation->text);
}

static void init_segment_ready_returns_version(struct kunit *test)
{
	struct fake_device *device = test->priv;
	struct cxib_explanation explanation = {};
	struct cxib_init_segment segment = {};
	int err;

	err = cxib_init_segment_await(&device->reader, &segment, &explanation);

	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, segment.firmware_major, FIRMWARE_MAJOR);
	KUNIT_EXPECT_EQ(test, segment.firmware_minor, FIRMWARE_MINOR);
	KUNIT_EXPECT_EQ(test, segment.firmware_subminor, FIRMWARE_SUBMINOR);
	KUNIT_EXPECT_EQ(test, segment.command_revision, CXIB_COMMAND_REVISION);
	KUNIT_EXPECT_EQ(test, device->waits, 0);
	KUNIT_EXPECT_STREQ(test, explanation.text, "");
}

static void init_segment_initializing_waits(struct kunit *test)
{
	struct fake_device *device = test->priv;
	struct cxib_explanation explanation;
	struct cxib_init_segment segment;

	hw_initial_seg_set_initializing(&device->segment, 1);
	device->ready_after = WAITS;

	KUNIT_EXPECT_EQ(test, 0,
			cxib_init_segment_await(&device->reader, &segment, &explanation));
	KUNIT_EXPECT_EQ(test, device->waits, WAITS);
}

static void init_segment_ready_at_limit_returns_0(struct kunit *test)
{
	struct fake_device *device = test->priv;
	struct cxib_explanation explanation;
	struct cxib_init_segment segment;

	hw_initial_seg_set_initializing(&device->segment, 1);
	device->ready_after = CXIB_FIRMWARE_READY_LIMIT_MS / CXIB_FIRMWARE_POLL_MS;

	KUNIT_EXPECT_EQ(test, 0,
			cxib_init_segment_await(&device->reader, &segment, &explanation));
	KUNIT_EXPECT_EQ(test, device->waited, CXIB_FIRMWARE_READY_LIMIT_MS);
}

/*
 * The word is at 0x1fc in mlx5_ifc.h: initializing is bit 31, nic_interface_supported is bits 26 to
 * 24. The driver waits two minutes for the device to boot.
 */
static void init_segment_never_ready_returns_etimedout(struct kunit *test)
{
	struct fake_device *device = test->priv;
	struct cxib_explanation explanation;
	struct cxib_init_segment segment;

	hw_initial_seg_set_initializing(&device->segment, 1);
	hw_initial_seg_set_nic_interface_supported(&device->segment, 5);

	KUNIT_EXPECT_EQ(test, -ETIMEDOUT,
			cxib_init_segment_await(&device->reader, &segment, &explanation));
	KUNIT_EXPECT_EQ(test, device->waited, CXIB_FIRMWARE_READY_LIMIT_MS);
	expect_text(test, &explanation, "still initializing after 120000 ms");
	expect_text(test, &explanation, "0x1fc = 0x85000000");
}

static void init_segment_other_bits_are_ignored(struct kunit *test)
{
	struct fake_device *device = test->priv;
	struct cxib_explanation explanation;
	struct cxib_init_segment segment;

	device->segment.dw[HW_INITIAL_SEG_OFFSET_INITIALIZING / sizeof(u32)] =
		cpu_to_be32(OTHER_BITS);

	KUNIT_EXPECT_EQ(test, 0,
			cxib_init_segment_await(&device->reader, &segment, &explanation));
	KUNIT_EXPECT_EQ(test, device->waits, 0);
}

static void init_segment_all_ones_returns_eio(struct kunit *test)
{
	struct fake_device *device = test->priv;
	struct cxib_explanation explanation;
	struct cxib_init_segment segment;

	memset(&device->segment, 0xff, sizeof(device->segment));

	KUNIT_EXPECT_EQ(test, -EIO,
			cxib_init_segment_await(&device->reader, &segment, &explanation));
	KUNIT_EXPECT_EQ(test, device->waits, 0);
	expect_text(test, &explanation, "reads as all-ones");
}

static void init_segment_removed_while_waiting_returns_eio(struct kunit *test)
{
	struct fake_device *device = test->priv;
	struct cxib_explanation explanation;
	struct cxib_init_segment segment;

	hw_initial_seg_set_initializing(&device->segment, 1);
	device->gone_after = GONE_AFTER;

	KUNIT_EXPECT_EQ(test, -EIO,
			cxib_init_segment_await(&device->reader, &segment, &explanation));
	KUNIT_EXPECT_EQ(test, device->waits, GONE_AFTER);
	expect_text(test, &explanation, "reads as all-ones");
}

static void init_segment_all_zeros_returns_eprotonosupport(struct kunit *test)
{
	struct fake_device *device = test->priv;
	struct cxib_explanation explanation;
	struct cxib_init_segment segment;

	memset(&device->segment, 0, sizeof(device->segment));

	KUNIT_EXPECT_EQ(test, -EPROTONOSUPPORT,
			cxib_init_segment_await(&device->reader, &segment, &explanation));
	expect_text(test, &explanation, "command interface revision 0");
	expect_text(test, &explanation, "firmware 0.0.0");
}

static const u16 foreign_revisions[] = { 1, 4, 6, 0x500, 0xffff };

static void describe_revision(const u16 *revision, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "revision %u", *revision);
}

KUNIT_ARRAY_PARAM(foreign_revision, foreign_revisions, describe_revision);

static void init_segment_other_revision_returns_eprotonosupport(struct kunit *test)
{
	const u16 *revision = test->param_value;
	struct fake_device *device = test->priv;
	struct cxib_explanation explanation;
	struct cxib_init_segment segment;
	char words[48];

	hw_initial_seg_set_cmd_interface_rev(&device->segment, *revision);
	snprintf(words, sizeof(words), "revision %u not supported, expected 5", *revision);

	KUNIT_EXPECT_EQ(test, -EPROTONOSUPPORT,
			cxib_init_segment_await(&device->reader, &segment, &explanation));
	KUNIT_EXPECT_EQ(test, segment.command_revision, *revision);
	expect_text(test, &explanation, words);
	expect_text(test, &explanation, "firmware 16.35.4030");
}

static void init_segment_longest_explanation_fits_buffer(struct kunit *test)
{
	struct fake_device *device = test->priv;
	struct cxib_explanation explanation;
	struct cxib_init_segment segment;

	memset(&device->segment, 0xff, sizeof(device->segment));
	hw_initial_seg_set_initializing(&device->segment, 0);
	KUNIT_EXPECT_EQ(test, -EPROTONOSUPPORT,
			cxib_init_segment_await(&device->reader, &segment, &explanation));
	KUNIT_EXPECT_LT(test, strlen(explanation.text), sizeof(explanation.text) - 1);

	hw_initial_seg_set_initializing(&device->segment, 1);
	hw_initial_seg_set_fw_rev_major(&device->segment, 0);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT,
			cxib_init_segment_await(&device->reader, &segment, &explanation));
	KUNIT_EXPECT_LT(test, strlen(explanation.text), sizeof(explanation.text) - 1);
}

static struct kunit_case init_segment_cases[] = {
	KUNIT_CASE(init_segment_ready_returns_version),
	KUNIT_CASE(init_segment_initializing_waits),
	KUNIT_CASE(init_segment_ready_at_limit_returns_0),
	KUNIT_CASE(init_segment_never_ready_returns_etimedout),
	KUNIT_CASE(init_segment_other_bits_are_ignored),
	KUNIT_CASE(init_segment_all_ones_returns_eio),
	KUNIT_CASE(init_segment_removed_while_waiting_returns_eio),
	KUNIT_CASE(init_segment_all_zeros_returns_eprotonosupport),
	KUNIT_CASE_PARAM(init_segment_other_revision_returns_eprotonosupport,
			 foreign_revision_gen_params),
	KUNIT_CASE(init_segment_longest_explanation_fits_buffer),
	{}
};

static struct kunit_suite init_segment_suite = {
	.name = "init_segment",
	.init = init_segment_init,
	.test_cases = init_segment_cases,
};

kunit_test_suite(init_segment_suite);
