/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The init segment: the start of BAR 0, readable before the command queue is started. It has the
 * firmware version, the initializing flag, and the command interface revision.
 */
#ifndef CXIB_HW_INIT_SEGMENT_H
#define CXIB_HW_INIT_SEGMENT_H

#include <linux/types.h>

#include "hw/command_interface.h"

/* Length of the init segment in bytes. */
#define CXIB_INIT_SEGMENT_SIZE		sizeof(struct hw_initial_seg)

/*
 * All bits of the field nic_interface; the hardware tables have its third bit as a separate field.
 */
#define CXIB_NIC_INTERFACE_MASK		(HW_INITIAL_SEG_MASK_NIC_INTERFACE_2 | \
					 HW_INITIAL_SEG_MASK_NIC_INTERFACE)

/* The only supported command interface revision. */
#define CXIB_COMMAND_REVISION		5

/* Time limit and poll period of firmware initialization. */
#define CXIB_FIRMWARE_READY_LIMIT_MS	120000
#define CXIB_FIRMWARE_POLL_MS		20

/**
 * struct cxib_init_segment_reader - access to the init segment
 * @read: copies @count words of the init segment, starting at word @first, to the same index in
 *	@copy; all-ones when the device is absent
 * @wait: sleeps at least @milliseconds; @waited, in milliseconds, is the time waited so far, for
 *	progress messages
 */
struct cxib_init_segment_reader {
	void (*read)(struct cxib_init_segment_reader *reader, struct hw_initial_seg *copy,
		     unsigned int first, unsigned int count);
	void (*wait)(struct cxib_init_segment_reader *reader,
		     unsigned int milliseconds, unsigned int waited);
};

/**
 * struct cxib_init_segment - decoded init segment of initialized firmware
 * @firmware_major: major firmware version, as 16 in 16.35.4030
 * @firmware_minor: minor firmware version
 * @firmware_subminor: subminor firmware version
 * @command_revision: command interface revision
 */
struct cxib_init_segment {
	u16 firmware_major;
	u16 firmware_minor;
	u16 firmware_subminor;
	u16 command_revision;
};

/**
 * struct cxib_explanation - why something failed, for the kernel log
 * @text: what failed, with values and limits
 */
struct cxib_explanation {
	char text[256];
};

int cxib_init_segment_await(struct cxib_init_segment_reader *reader,
			    struct cxib_init_segment *segment,
			    struct cxib_explanation *explanation);

#endif
