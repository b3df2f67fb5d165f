/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Creating commands with an unknown result, because they timed out or had a malformed output. Such
 * a create is "pending" until a late output arrives and either reports that there is no object, or
 * names an object, which the driver then destroys. The driver keeps the memory of failed creations
 * while any create is pending.
 */
#ifndef CXIB_HW_PENDING_CREATES_H
#define CXIB_HW_PENDING_CREATES_H

#include <linux/list.h>
#include <linux/types.h>

struct cxib_command_queue;
struct work_struct;

/* Word of the output of CREATE_PSV where the PSV numbers start. */
#define CXIB_PSV_WORD	4

/**
 * struct cxib_pending_memory - memory of a failed creation, which the device may still access
 * @node: entry in @pending_memory of the command queue
 * @free: frees the memory; process context, may sleep
 */
struct cxib_pending_memory {
	struct list_head node;
	void (*free)(struct cxib_pending_memory *memory);
};

/**
 * struct cxib_create_kind - a kind of object and its commands
 * @create: opcode that creates it
 * @destroy: opcode that destroys it
 * @word: index of the word in the output where the object numbers start
 * @has_children: firmware refuses to destroy the object while other objects refer to it
 */
struct cxib_create_kind {
	u16 create;
	u16 destroy;
	u8 word;
	bool has_children;
};

/* create_kinds.c */
const struct cxib_create_kind *cxib_create_kind_find(u16 opcode);
bool cxib_command_destroys_parent(u16 opcode);

/* pending_creates.c */
void cxib_pending_creates_work_fn(struct work_struct *work);
void cxib_pending_creates_keep(struct cxib_command_queue *queue,
			       struct cxib_pending_memory *memory);
bool cxib_has_pending_creates(struct cxib_command_queue *queue);
void cxib_pending_creates_free(struct cxib_command_queue *queue);

#endif
