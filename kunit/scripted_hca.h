/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fake HCA that completes each command with the output that the case has prepared, and keeps the
 * input for the case.
 */
#ifndef CXIB_KUNIT_SCRIPTED_HCA_H
#define CXIB_KUNIT_SCRIPTED_HCA_H

#include "fake_hca.h"
#include "hw/command_queue.h"
#include "kernel_kunit.h"

#define SCRIPTED_BYTES	8192

/**
 * struct scripted_hca - the device and the last command
 * @hca: the device
 * @queue: its command queue
 * @in: input of the last command
 * @in_length: bytes of @in
 * @out: output of every command; its status is @status
 * @out_length: output length of the last command
 * @status: status of every command
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

/* KUnit frees the device with the case. */
struct scripted_hca *scripted_hca_create(struct kunit *test);

#endif
