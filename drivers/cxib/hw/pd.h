/* SPDX-License-Identifier: GPL-2.0-only */
/* PD and XRC domain commands. Errors are those of cxib_cmd_exec(); all functions sleep. */
#ifndef CXIB_HW_PD_H
#define CXIB_HW_PD_H

#include <linux/types.h>

struct cxib_command_queue;

int cxib_cmd_alloc_pd(struct cxib_command_queue *queue, u16 uid, u32 *pd);
int cxib_cmd_dealloc_pd(struct cxib_command_queue *queue, u16 uid, u32 pd);
int cxib_cmd_alloc_xrcd(struct cxib_command_queue *queue, u32 *xrcd);
int cxib_cmd_dealloc_xrcd(struct cxib_command_queue *queue, u32 xrcd);

#endif
