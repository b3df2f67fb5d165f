// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for the firmware behind an init segment and decides whether this
 * driver can talk to it. All access goes through a reader, so that the same
 * code runs on a BAR and on the memory of a test.
 */
#include <kunit/visibility.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>

#include "hw/init_segment.h"

/* Reads from a device are slow, so only these words are read. */
#define IDENTITY_WORD		0x00
#define IDENTITY_WORDS		2
#define STATE_WORD		(0x1fc / sizeof(u32))

/* What a read returns when nobody on the bus answers it. */
#define ALL_ONES		cpu_to_be32(0xffffffff)

__printf(2, 3)
static void explain(struct cxib_explanation *explanation, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vscnprintf(explanation->text, sizeof(explanation->text), format, args);
	va_end(args);
}

static void read_identity_and_state(struct cxib_init_segment_reader *reader,
				    struct hw_initial_seg *copy)
{
	reader->read(reader, copy, IDENTITY_WORD, IDENTITY_WORDS);
	reader->read(reader, copy, STATE_WORD, 1);
}

/* No firmware version and no state of initialization is made of ones only. */
static bool is_absent(const struct hw_initial_seg *copy)
{
	return copy->dw[IDENTITY_WORD] == ALL_ONES && copy->dw[STATE_WORD] == ALL_ONES;
}

static int await_firmware(struct cxib_init_segment_reader *reader,
			  struct hw_initial_seg *copy, struct cxib_explanation *explanation)
{
	unsigned int waited = 0;

	for (;;) {
		read_identity_and_state(reader, copy);
		if (is_absent(copy)) {
			explain(explanation,
				"device does not answer: its init segment reads as ones only; it was removed, has no power or its PCIe link is down. Check the slot, the link with lspci -vv, and the log for PCIe errors");
			return -EIO;
		}
		if (!hw_initial_seg_get_initializing(copy))
			return 0;
		if (waited >= CXIB_FIRMWARE_READY_LIMIT_MS) {
			explain(explanation,
				"firmware still initializing after %u ms, the limit is %u ms (init segment word 0x%zx = 0x%08x); power-cycle the device, then look at its firmware with mstflint",
				waited, CXIB_FIRMWARE_READY_LIMIT_MS, STATE_WORD * sizeof(u32),
				be32_to_cpu(copy->dw[STATE_WORD]));
			return -ETIMEDOUT;
		}
		reader->wait(reader, CXIB_FIRMWARE_POLL_MS, waited);
		waited += CXIB_FIRMWARE_POLL_MS;
	}
}

static void decode(const struct hw_initial_seg *copy, struct cxib_init_segment *segment)
{
	segment->firmware_major = hw_initial_seg_get_fw_rev_major(copy);
	segment->firmware_minor = hw_initial_seg_get_fw_rev_minor(copy);
	segment->firmware_subminor = hw_initial_seg_get_fw_rev_subminor(copy);
	segment->command_revision = hw_initial_seg_get_cmd_interface_rev(copy);
}

static int check_command_revision(const struct cxib_init_segment *segment,
				  struct cxib_explanation *explanation)
{
	if (segment->command_revision == CXIB_COMMAND_REVISION)
		return 0;

	explain(explanation,
		"command interface revision is %u, this driver speaks revision %u only (firmware %u.%u.%u); the device is no ConnectX HCA or needs other firmware",
		segment->command_revision, CXIB_COMMAND_REVISION, segment->firmware_major,
		segment->firmware_minor, segment->firmware_subminor);
	return -EPROTONOSUPPORT;
}

/**
 * cxib_init_segment_await() - wait for the firmware and read what it is
 * @reader: access to the init segment
 * @segment: filled when the firmware has answered, thus also with
 *	-EPROTONOSUPPORT
 * @explanation: filled when an error is returned
 *
 * Waits at most %CXIB_FIRMWARE_READY_LIMIT_MS, counted in the waits asked for:
 * a guest that is suspended meanwhile does not lose its time.
 *
 * Context: process context, may sleep.
 * Return: 0, or
 *	-ENOMEM,
 *	-EIO when the device does not answer (all-ones),
 *	-ETIMEDOUT when the firmware does not get ready in time,
 *	-EPROTONOSUPPORT when it speaks another command interface.
 */
int cxib_init_segment_await(struct cxib_init_segment_reader *reader,
			    struct cxib_init_segment *segment,
			    struct cxib_explanation *explanation)
{
	struct hw_initial_seg *copy;
	int err;

	copy = kvzalloc(sizeof(*copy), GFP_KERNEL);
	if (!copy) {
		explain(explanation, "no memory for a copy of the init segment (%zu bytes)",
			sizeof(*copy));
		return -ENOMEM;
	}

	err = await_firmware(reader, copy, explanation);
	if (!err) {
		decode(copy, segment);
		err = check_command_revision(segment, explanation);
	}
	kvfree(copy);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_init_segment_await);
