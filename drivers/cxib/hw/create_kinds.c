// SPDX-License-Identifier: GPL-2.0-only
/*
 * The commands that create objects, the commands that destroy these objects, and where the output
 * of a creating command has the object number.
 */
#include <kunit/visibility.h>
#include <linux/array_size.h>
#include <linux/export.h>

#include "hw/commands_device.h"
#include "hw/commands_events.h"
#include "hw/commands_memory.h"
#include "hw/commands_objects.h"
#include "hw/commands_queue_pairs.h"
#include "hw/commands_receive_queues.h"
#include "hw/pending_creates.h"

#define NUMBER_WORD	2

static const struct cxib_create_kind create_kinds[] = {
	{ HW_CMD_CREATE_MKEY, HW_CMD_DESTROY_MKEY, NUMBER_WORD, false },
	{ HW_CMD_CREATE_PSV, HW_CMD_DESTROY_PSV, CXIB_PSV_WORD, false },
	{ HW_CMD_CREATE_CQ, HW_CMD_DESTROY_CQ, NUMBER_WORD, true },
	{ HW_CMD_CREATE_QP, HW_CMD_DESTROY_QP, NUMBER_WORD, false },
	{ HW_CMD_CREATE_DCT, HW_CMD_DESTROY_DCT, NUMBER_WORD, false },
	{ HW_CMD_CREATE_RMP, HW_CMD_DESTROY_RMP, NUMBER_WORD, true },
	{ HW_CMD_CREATE_XRC_SRQ, HW_CMD_DESTROY_XRC_SRQ, NUMBER_WORD, true },
	{ HW_CMD_CREATE_XRQ, HW_CMD_DESTROY_XRQ, NUMBER_WORD, true },
	{ HW_CMD_CREATE_UMEM, HW_CMD_DESTROY_UMEM, NUMBER_WORD, true },
	{ HW_CMD_CREATE_GENERAL_OBJECT, HW_CMD_DESTROY_GENERAL_OBJECT, NUMBER_WORD, false },
	{ HW_CMD_CREATE_UCTX, HW_CMD_DESTROY_UCTX, NUMBER_WORD, true },
	{ HW_CMD_ALLOC_PD, HW_CMD_DEALLOC_PD, NUMBER_WORD, true },
	{ HW_CMD_ALLOC_XRCD, HW_CMD_DEALLOC_XRCD, NUMBER_WORD, true },
	{ HW_CMD_ALLOC_UAR, HW_CMD_DEALLOC_UAR, NUMBER_WORD, true },
};

/**
 * cxib_create_kind_find() - finds the kind of object that a command creates
 * @opcode: any opcode
 *
 * Return: the kind; NULL if the command creates no object that refers to memory or to which others
 * can refer. The driver accounts for EQs and firmware pages separately.
 */
const struct cxib_create_kind *cxib_create_kind_find(u16 opcode)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(create_kinds); i++)
		if (create_kinds[i].create == opcode)
			return &create_kinds[i];
	return NULL;
}

/**
 * cxib_command_destroys_parent() - whether firmware refuses a command while an object has children
 * @opcode: opcode of the command
 */
bool cxib_command_destroys_parent(u16 opcode)
{
	unsigned int i;

	/* An open mkey may refer to the MEMIC; the driver cannot know which. */
	if (opcode == HW_CMD_DEALLOC_MEMIC)
		return true;
	for (i = 0; i < ARRAY_SIZE(create_kinds); i++)
		if (create_kinds[i].destroy == opcode)
			return create_kinds[i].has_children;
	return false;
}
