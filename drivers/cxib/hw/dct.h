/* SPDX-License-Identifier: GPL-2.0-only */
/* DCT commands. Errors are those of cxib_cmd_exec(); all functions sleep. */
#ifndef CXIB_HW_DCT_H
#define CXIB_HW_DCT_H

#include <linux/types.h>

#include "hw/contexts.h"

struct cxib_command_queue;

int cxib_cmd_create_dct(struct cxib_command_queue *queue, u16 uid, const struct hw_dctc *context,
			u32 *dctn);
int cxib_cmd_drain_dct(struct cxib_command_queue *queue, u16 uid, u32 dctn);
int cxib_cmd_destroy_dct(struct cxib_command_queue *queue, u16 uid, u32 dctn);
int cxib_cmd_query_dct(struct cxib_command_queue *queue, u16 uid, u32 dctn,
		       struct hw_dctc *context);
int cxib_cmd_arm_dct(struct cxib_command_queue *queue, u16 uid, u32 dctn);

#endif
