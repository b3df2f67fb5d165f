// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for the firmware behind an init segment and decides whether this
 * driver can talk to it. All access goes through a reader, so that the same
 * code runs on a BAR and on the memory of a test.
 */
#include <kunit/visibility.h>
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/kernel.h>

#include "hw/init_segment.h"

#define FIRMWARE_REVISION	0x000
#define FIRMWARE_MINOR		GENMASK(31, 16)
#define FIRMWARE_MAJOR		GENMASK(15, 0)
#define COMMAND_INTERFACE	0x004
#define COMMAND_REVISION	GENMASK(31, 16)
#define FIRMWARE_SUBMINOR	GENMASK(15, 0)
#define INITIALIZING		0x1fc
#define FIRMWARE_NOT_READY	BIT(31)

/* What a read returns when nobody on the bus answers it. */
#define ALL_ONES		0xffffffffU

__printf(2, 3)
static void explain(struct cxib_explanation *explanation, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vscnprintf(explanation->text, sizeof(explanation->text), format, args);
	va_end(args);
}

static u32 read_word(struct cxib_init_segment_reader *reader, u32 offset)
{
	return reader->read(reader, offset);
}

/* No firmware version and no state of initialization is made of ones only. */
static bool is_absent(struct cxib_init_segment_reader *reader)
{
	return read_word(reader, FIRMWARE_REVISION) == ALL_ONES &&
	       read_word(reader, INITIALIZING) == ALL_ONES;
}

static int await_firmware(struct cxib_init_segment_reader *reader,
			  struct cxib_explanation *explanation)
{
	unsigned int waited = 0;

	while (!is_absent(reader)) {
		u32 state = read_word(reader, INITIALIZING);

		if (!(state & FIRMWARE_NOT_READY))
			return 0;
		if (waited >= CXIB_FIRMWARE_READY_LIMIT_MS) {
			explain(explanation,
				"firmware still initializing after %u ms, the limit is %u ms (init segment word 0x%x = 0x%08x); power-cycle the device, then look at its firmware with mstflint",
				waited, CXIB_FIRMWARE_READY_LIMIT_MS, INITIALIZING, state);
			return -ETIMEDOUT;
		}
		if (reader->wait(reader, CXIB_FIRMWARE_POLL_MS, waited)) {
			explain(explanation,
				"interrupted after waiting %u ms of at most %u ms for the firmware",
				waited, CXIB_FIRMWARE_READY_LIMIT_MS);
			return -EINTR;
		}
		waited += CXIB_FIRMWARE_POLL_MS;
	}

	explain(explanation,
		"device does not answer: its init segment reads as ones only; it was removed, has no power or its PCIe link is down. Check the slot, the link with lspci -vv, and the log for PCIe errors");
	return -EIO;
}

static void decode(struct cxib_init_segment_reader *reader,
		   struct cxib_init_segment *segment)
{
	u32 firmware = read_word(reader, FIRMWARE_REVISION);
	u32 command = read_word(reader, COMMAND_INTERFACE);

	segment->firmware_major = FIELD_GET(FIRMWARE_MAJOR, firmware);
	segment->firmware_minor = FIELD_GET(FIRMWARE_MINOR, firmware);
	segment->firmware_subminor = FIELD_GET(FIRMWARE_SUBMINOR, command);
	segment->command_revision = FIELD_GET(COMMAND_REVISION, command);
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
 *	-EIO when the device does not answer (all-ones),
 *	-ETIMEDOUT when the firmware does not get ready in time,
 *	-EINTR when a signal ended the waiting,
 *	-EPROTONOSUPPORT when it speaks another command interface.
 */
int cxib_init_segment_await(struct cxib_init_segment_reader *reader,
			    struct cxib_init_segment *segment,
			    struct cxib_explanation *explanation)
{
	int err;

	err = await_firmware(reader, explanation);
	if (err)
		return err;

	decode(reader, segment);
	return check_command_revision(segment, explanation);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_init_segment_await);
