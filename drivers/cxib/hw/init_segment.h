/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The init segment: the start of BAR 0, readable before any command works.
 * It tells which firmware runs, whether it is ready, and which revision of
 * the command interface it speaks.
 */
#ifndef CXIB_HW_INIT_SEGMENT_H
#define CXIB_HW_INIT_SEGMENT_H

#include <linux/types.h>

#include "hw/command_interface.h"

/* Bytes at the start of BAR 0 that belong to the init segment. */
#define CXIB_INIT_SEGMENT_SIZE		sizeof(struct hw_initial_seg)

/* The one revision of the command interface that this driver speaks. */
#define CXIB_COMMAND_REVISION		5

/* Firmware that has not come up after this time will not come up. */
#define CXIB_FIRMWARE_READY_LIMIT_MS	120000
#define CXIB_FIRMWARE_POLL_MS		20

/**
 * struct cxib_init_segment_reader - how the init segment is reached
 * @read: copies @count words of the init segment, from word @first on, to the
 *	same place in @copy; all-ones when the device does not answer
 * @wait: sleeps for @milliseconds or longer; @waited is the time already spent
 *	waiting, in milliseconds, for progress messages
 */
struct cxib_init_segment_reader {
	void (*read)(struct cxib_init_segment_reader *reader, struct hw_initial_seg *copy,
		     unsigned int first, unsigned int count);
	void (*wait)(struct cxib_init_segment_reader *reader,
		     unsigned int milliseconds, unsigned int waited);
};

/**
 * struct cxib_init_segment - the facts of an init segment whose firmware is up
 * @firmware_major: firmware version, as in 16.35.4030
 * @firmware_minor: second part of it
 * @firmware_subminor: third part of it
 * @command_revision: revision of the command interface
 */
struct cxib_init_segment {
	u16 firmware_major;
	u16 firmware_minor;
	u16 firmware_subminor;
	u16 command_revision;
};

/**
 * struct cxib_explanation - why something failed, for the kernel log
 * @text: what failed, with values and limits, and what can be done about it
 */
struct cxib_explanation {
	char text[256];
};

int cxib_init_segment_await(struct cxib_init_segment_reader *reader,
			    struct cxib_init_segment *segment,
			    struct cxib_explanation *explanation);

#endif
