/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fake HCA that answers each command with what the case has prepared, and
 * keeps the command for the case to look at.
 */
#ifndef CXIB_KUNIT_SCRIPTED_HCA_H
#define CXIB_KUNIT_SCRIPTED_HCA_H

#include <kunit/test.h>

#include "fake_hca.h"
#include "hw/command_queue.h"

#define SCRIPTED_BYTES	8192

/**
 * struct scripted_hca - the device and what it was sent
 * @hca: the device
 * @queue: its command queue
 * @in: the last command
 * @in_length: its bytes
 * @out: what every command is answered with; its status is @status
 * @out_length: room that the last command had for an answer
 * @status: of every answer
 */
struct scripted_hca {
	struct fake_hca *hca;
	struct cxib_command_queue queue;
	void *in;
	u32 in_length;
	void *out;
	u32 out_length;
	u8 status;
};

/* Gone with the case. */
struct scripted_hca *scripted_hca_create(struct kunit *test);

#endif
