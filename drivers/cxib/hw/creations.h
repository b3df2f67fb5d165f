/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Creating commands with an unknown result, because they timed out or had a malformed output. Such
 * a creation is "open" until a late output arrives and either reports that there is no object, or
 * names an object, which the driver then destroys. The driver keeps the memory of failed creations
 * while any creation is open.
 */
#ifndef CXIB_HW_CREATIONS_H
#define CXIB_HW_CREATIONS_H

#include <linux/list.h>
#include <linux/types.h>

struct cxib_command_queue;
struct work_struct;

/* Word of the output of CREATE_PSV where the PSV numbers start. */
#define CXIB_PSV_WORD	4

/**
 * struct cxib_kept - memory of a failed creation, which the device may still access
 * @node: entry in @kept of the command queue
 * @free: frees the memory; process context, may sleep
 */
struct cxib_kept {
	struct list_head node;
	void (*free)(struct cxib_kept *kept);
};

/**
 * struct cxib_creation - a kind of object and its commands
 * @create: opcode that creates it
 * @destroy: opcode that destroys it
 * @word: index of the word in the output where the object numbers start
 * @has_children: firmware refuses to destroy the object while other objects refer to it
 */
struct cxib_creation {
	u16 create;
	u16 destroy;
	u8 word;
	bool has_children;
};

/* creation_kinds.c */
const struct cxib_creation *cxib_creation_find(u16 opcode);
bool cxib_creation_destroys_parent(u16 opcode);

/* creations.c */
void cxib_creations_settle(struct work_struct *work);
void cxib_creations_keep(struct cxib_command_queue *queue, struct cxib_kept *kept);
bool cxib_creations_are_open(struct cxib_command_queue *queue);
void cxib_creations_free(struct cxib_command_queue *queue);

#endif
