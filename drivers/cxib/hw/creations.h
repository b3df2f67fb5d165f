/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Creating commands with an unknown result: they timed out, or had a bad output.
 * Each of them is "open" until the object that the device has created after all is
 * destroyed, or the late output says that there is none. As long as any is open,
 * memory of failed creations is kept.
 */
#ifndef CXIB_HW_CREATIONS_H
#define CXIB_HW_CREATIONS_H

#include <linux/list.h>
#include <linux/types.h>

struct cxib_command_queue;
struct work_struct;

/**
 * struct cxib_kept - memory that the device may use although nothing is known to do so
 * @node: in the list of the command queue
 * @free: lets go of it; in process context, may sleep
 */
struct cxib_kept {
	struct list_head node;
	void (*free)(struct cxib_kept *kept);
};

/**
 * struct cxib_creation - a kind of command that makes something
 * @create: its opcode
 * @destroy: opcode of the command that undoes it
 * @word: of the answer, where the numbers of the objects begin
 * @has_children: the device does not destroy it before what refers to it
 */
struct cxib_creation {
	u16 create;
	u16 destroy;
	u8 word;
	bool has_children;
};

const struct cxib_creation *cxib_creation_find(u16 opcode);
void cxib_creations_await(struct cxib_command_queue *queue, u16 opcode);
void cxib_creations_settle(struct work_struct *work);
void cxib_creations_keep(struct cxib_command_queue *queue, struct cxib_kept *kept);
bool cxib_creations_are_open(struct cxib_command_queue *queue);
void cxib_creations_free(struct cxib_command_queue *queue);

#endif
