// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits until firmware is initialized, and checks that the driver supports its command interface.
 * All access to the init segment uses a reader, so that KUnit suites can run the same code on
 * memory.
 */
#include <kunit/visibility.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>

#include "hw/init_segment.h"

/* MMIO reads are slow, so the driver reads only these words. */
#define IDENTITY_WORD		(HW_INITIAL_SEG_OFFSET_FW_REV_MAJOR / sizeof(u32))
#define IDENTITY_WORDS		2
#define STATE_WORD		(HW_INITIAL_SEG_OFFSET_INITIALIZING / sizeof(u32))

/* Value of each word that is read while the device is absent. */
#define ALL_ONES		cpu_to_be32(U32_MAX)

__printf(2, 3)
static void init_segment_explain(struct cxib_explanation *explanation, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vscnprintf(explanation->text, sizeof(explanation->text), format, args);
	va_end(args);
}

static void init_segment_read_identity_and_state(struct cxib_init_segment_reader *reader,
						 struct hw_initial_seg *copy)
{
	reader->read(reader, copy, IDENTITY_WORD, IDENTITY_WORDS);
	reader->read(reader, copy, STATE_WORD, 1);
}

/* Firmware never sets both words to all-ones. */
static bool init_segment_is_absent(const struct hw_initial_seg *copy)
{
	return copy->dw[IDENTITY_WORD] == ALL_ONES && copy->dw[STATE_WORD] == ALL_ONES;
}

static int init_segment_await_firmware(struct cxib_init_segment_reader *reader,
				       struct hw_initial_seg *copy,
				       struct cxib_explanation *explanation)
{
	unsigned int waited = 0;

	for (;;) {
		init_segment_read_identity_and_state(reader, copy);
		if (init_segment_is_absent(copy)) {
			init_segment_explain(explanation,
					     "init segment reads as all-ones");
			return -EIO;
		}
		if (!hw_initial_seg_get_initializing(copy))
			return 0;
		if (waited >= CXIB_FIRMWARE_READY_LIMIT_MS) {
			init_segment_explain(explanation,
					     "firmware still initializing after %u ms (limit %u ms, init segment word 0x%zx = 0x%08x)",
					     waited, CXIB_FIRMWARE_READY_LIMIT_MS,
					     STATE_WORD * sizeof(u32),
					     be32_to_cpu(copy->dw[STATE_WORD]));
			return -ETIMEDOUT;
		}
		reader->wait(reader, CXIB_FIRMWARE_POLL_MS, waited);
		waited += CXIB_FIRMWARE_POLL_MS;
	}
}

static void init_segment_decode(const struct hw_initial_seg *copy,
				struct cxib_init_segment *segment)
{
	segment->firmware_major = hw_initial_seg_get_fw_rev_major(copy);
	segment->firmware_minor = hw_initial_seg_get_fw_rev_minor(copy);
	segment->firmware_subminor = hw_initial_seg_get_fw_rev_subminor(copy);
	segment->command_revision = hw_initial_seg_get_cmd_interface_rev(copy);
}

static int init_segment_check_command_revision(const struct cxib_init_segment *segment,
					       struct cxib_explanation *explanation)
{
	if (segment->command_revision == CXIB_COMMAND_REVISION)
		return 0;

	init_segment_explain(explanation,
			     "command interface revision %u not supported, expected %u (firmware %u.%u.%u)",
			     segment->command_revision, CXIB_COMMAND_REVISION,
			     segment->firmware_major, segment->firmware_minor,
			     segment->firmware_subminor);
	return -EPROTONOSUPPORT;
}

/**
 * cxib_init_segment_await() - waits until firmware is initialized and reads its version
 * @reader: access to the init segment
 * @segment: filled when firmware is initialized, even if -EPROTONOSUPPORT is returned
 * @explanation: filled when an error is returned
 *
 * Waits at most %CXIB_FIRMWARE_READY_LIMIT_MS, counted as the sum of the requested waits instead of
 * wall time, so that a guest that is suspended meanwhile gets the full time.
 *
 * Context: process context, may sleep.
 * Return: 0, or
 *	-ENOMEM,
 *	-EIO when the device is absent (all-ones),
 *	-ETIMEDOUT when firmware is not initialized in time,
 *	-EPROTONOSUPPORT when it has another command interface revision.
 */
int cxib_init_segment_await(struct cxib_init_segment_reader *reader,
			    struct cxib_init_segment *segment,
			    struct cxib_explanation *explanation)
{
	struct hw_initial_seg *copy;
	int err;

	copy = kvzalloc(sizeof(*copy), GFP_KERNEL);
	if (!copy) {
		init_segment_explain(explanation,
				     "cannot allocate copy of init segment (%zu bytes)",
				     sizeof(*copy));
		return -ENOMEM;
	}

	err = init_segment_await_firmware(reader, copy, explanation);
	if (!err) {
		init_segment_decode(copy, segment);
		err = init_segment_check_command_revision(segment, explanation);
	}
	kvfree(copy);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_init_segment_await);
