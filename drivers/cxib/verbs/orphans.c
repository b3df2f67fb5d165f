// SPDX-License-Identifier: GPL-2.0-only
/* Objects of user space that firmware has refused to destroy. */
#include <kunit/visibility.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "hw/command_interface.h"
#include "hw/commands_events.h"
#include "hw/commands_memory.h"
#include "hw/commands_objects.h"
#include "hw/commands_queue_pairs.h"
#include "hw/commands_receive_queues.h"
#include "hw/names.h"
#include "verbs/orphans.h"
#include "verbs/verbs.h"

/*
 * Maximum number of orphans of closed contexts that are tried again when another context is
 * closed. Each takes one or two commands, for which the process that exits waits.
 */
#define RETRIES_MAX	16

/* Kinds of objects, by the objects to which they refer. */
enum orphan_kind {
	KIND_OTHER,
	KIND_QP,
	KIND_SRQ,
	KIND_CQ,
	KIND_MKEY,
	KIND_PD,
	KIND_XRCD,
	KIND_UAR,
	KIND_UMEM,
	KIND_MEMIC_OP,
	KIND_MEMIC,
	KIND_UCTX,
};

/* Parents of queues, including those that only DEVX objects may have. */
#define PARENTS_OF_QUEUE	(BIT(KIND_PD) | BIT(KIND_UAR) | BIT(KIND_UMEM))
#define PARENTS_OF_SRQ		(PARENTS_OF_QUEUE | BIT(KIND_CQ) | BIT(KIND_XRCD))

/**
 * struct orphan_kind_of_command - what a destroy command destroys
 * @opcode: the command
 * @kind: kind of the object
 * @parents: bit n: the object may refer to objects of kind n. Each object also refers to its user
 *	context.
 */
struct orphan_kind_of_command {
	u16 opcode;
	enum orphan_kind kind;
	u32 parents;
};

static const struct orphan_kind_of_command kinds[] = {
	{ HW_CMD_DESTROY_QP, KIND_QP, PARENTS_OF_SRQ | BIT(KIND_SRQ) },
	{ HW_CMD_DESTROY_DCT, KIND_QP, PARENTS_OF_SRQ | BIT(KIND_SRQ) },
	{ HW_CMD_DESTROY_RMP, KIND_SRQ, PARENTS_OF_SRQ },
	{ HW_CMD_DESTROY_XRC_SRQ, KIND_SRQ, PARENTS_OF_SRQ },
	{ HW_CMD_DESTROY_XRQ, KIND_SRQ, PARENTS_OF_SRQ },
	{ HW_CMD_DESTROY_CQ, KIND_CQ, PARENTS_OF_QUEUE },
	{ HW_CMD_DESTROY_MKEY, KIND_MKEY, BIT(KIND_PD) | BIT(KIND_UMEM) | BIT(KIND_MEMIC) },
	{ HW_CMD_DEALLOC_PD, KIND_PD, 0 },
	{ HW_CMD_DEALLOC_XRCD, KIND_XRCD, 0 },
	{ HW_CMD_DEALLOC_UAR, KIND_UAR, 0 },
	{ HW_CMD_DESTROY_UMEM, KIND_UMEM, 0 },
	{ HW_CMD_MODIFY_MEMIC, KIND_MEMIC_OP, BIT(KIND_MEMIC) },
	{ HW_CMD_DEALLOC_MEMIC, KIND_MEMIC, 0 },
	{ HW_CMD_DESTROY_UCTX, KIND_UCTX, 0 },
};

/* General objects of all types: they may refer to any object. */
static const struct orphan_kind_of_command other = { 0, KIND_OTHER, U32_MAX & ~BIT(KIND_OTHER) };

/**
 * struct cxib_orphan - an object that the device still has
 * @node: entry in the list of the RDMA device
 * @context: its user context, which is only compared; NULL: closed
 * @group: the same for all orphans of a closed context
 * @destroy: the commands that destroy it
 * @status: status of the last command
 * @is_known: firmware has refused the last command, so the object exists. Otherwise the driver does
 *	not repeat the command: the device may have executed it, and another object may have the
 *	number.
 * @pinned: what the device can access through the object
 */
struct cxib_orphan {
	struct list_head node;
	const struct ib_ucontext *context;
	unsigned int group;
	struct cxib_destroy destroy;
	u8 status;
	bool is_known;
	struct cxib_pinned pinned;
};

/**
 * cxib_destroy_object() - returns the command that destroys an object
 * @opcode: opcode of the command
 * @uid: owner uid; 0: kernel
 * @number: number of the object
 *
 * Context: any.
 * Return: the command; its input and output have the layouts of general objects.
 */
struct cxib_destroy cxib_destroy_object(u16 opcode, u16 uid, u32 number)
{
	struct hw_general_obj_in_cmd_hdr in = {};
	struct cxib_destroy destroy = {
		.in_length = sizeof(in),
		.out_length = sizeof(struct hw_general_obj_out_cmd_hdr),
	};

	static_assert(sizeof(in) <= sizeof(destroy.in));
	hw_general_obj_in_cmd_hdr_set_opcode(&in, opcode);
	hw_general_obj_in_cmd_hdr_set_uid(&in, uid);
	hw_general_obj_in_cmd_hdr_set_obj_id(&in, number);
	memcpy(destroy.in, &in, sizeof(in));
	return destroy;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_destroy_object);

/**
 * cxib_orphans_init() - initialise the orphans of an RDMA device: none
 * @ibdev: RDMA device
 *
 * Context: process context.
 */
void cxib_orphans_init(struct cxib_ibdev *ibdev)
{
	mutex_init(&ibdev->orphans.lock);
	INIT_LIST_HEAD(&ibdev->orphans.list);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_orphans_init);

static u16 orphan_opcode_of(const struct cxib_destroy *destroy)
{
	return hw_cmd_in_get_opcode((const void *)destroy->in);
}

static const struct orphan_kind_of_command *orphan_kind_of(const struct cxib_destroy *destroy)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].opcode == orphan_opcode_of(destroy))
			return &kinds[i];
	return &other;
}

static bool orphan_may_refer(const struct cxib_orphan *orphan, enum orphan_kind kind)
{
	const struct orphan_kind_of_command *child = orphan_kind_of(&orphan->destroy);

	return kind == KIND_UCTX ? child->kind != KIND_UCTX : child->parents & BIT(kind);
}

static bool orphan_is_xrc_tgt_of(const struct cxib_destroy *child,
				 const struct cxib_destroy *parent)
{
	return child->is_xrc_tgt && orphan_kind_of(parent)->kind == KIND_XRCD &&
	       child->xrcdn == hw_general_obj_in_cmd_hdr_get_obj_id((const void *)parent->in);
}

static bool orphan_is_other(const struct cxib_orphan *orphan)
{
	return orphan_kind_of(&orphan->destroy) == &other;
}

/*
 * Returns true if any kind of object may refer to an object of this kind. Only general objects
 * refer to mkeys. A process can leave many mkeys, so the list is searched for children of an mkey
 * only if it contains general objects.
 */
static bool orphan_is_parent(const struct cxib_orphans *orphans, enum orphan_kind kind)
{
	unsigned int i;

	if (orphans->others || kind == KIND_UCTX)
		return true;
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].parents & BIT(kind))
			return true;
	return false;
}

/*
 * Returns true if an orphan may refer to an object. Orphans refer to objects of their own user
 * context only, except for XRC_TGT QPs.
 */
static bool orphan_has_child(const struct cxib_orphans *orphans, const struct ib_ucontext *context,
			     unsigned int group, const struct cxib_destroy *destroy)
{
	const enum orphan_kind kind = orphan_kind_of(destroy)->kind;
	const struct cxib_orphan *orphan;

	lockdep_assert_held(&orphans->lock);

	if (!orphan_is_parent(orphans, kind))
		return false;
	list_for_each_entry(orphan, &orphans->list, node) {
		if (orphan->context == context && orphan->group == group &&
		    orphan_may_refer(orphan, kind))
			return true;
		if (orphan_is_xrc_tgt_of(&orphan->destroy, destroy))
			return true;
	}
	return false;
}

/**
 * cxib_orphans_check() - check that no orphan can refer to an object
 * @ibdev: RDMA device
 * @context: user context of the object; NULL: kernel object
 * @destroy: the command that is about to destroy it
 *
 * If an orphan can refer to the object, the caller does not execute the command. Firmware might
 * free a UAR that a queue still uses, and it would refuse to destroy an object of another kind.
 *
 * Context: process context, may sleep.
 * Return: 0; -EBUSY if an orphan may refer to the object.
 */
int cxib_orphans_check(struct cxib_ibdev *ibdev, const struct ib_ucontext *context,
		       const struct cxib_destroy *destroy)
{
	if (!context)
		return 0;
	guard(mutex)(&ibdev->orphans.lock);
	return orphan_has_child(&ibdev->orphans, context, 0, destroy) ? -EBUSY : 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_orphans_check);

static u16 orphan_next_opcode(const struct cxib_orphan *orphan)
{
	return orphan->destroy.before ?: orphan_opcode_of(&orphan->destroy);
}

static const char *orphan_result_of(const struct cxib_orphan *orphan)
{
	if (!orphan->is_known)
		return "unknown result";
	return orphan->status ? hw_command_status_name(orphan->status) : "not tried again";
}

/* Called for the first orphans of closed contexts of an RDMA device. */
static void orphan_log_closed(struct cxib_ibdev *ibdev, const struct cxib_orphan *first,
			      unsigned int count)
{
	ibdev_warn_ratelimited(&ibdev->ib,
			       "orphans: %u objects of closed user contexts not destroyed, memory kept until reset: %s failed: %s (status 0x%x)\n",
			       count, hw_cmd_name(orphan_next_opcode(first)),
			       orphan_result_of(first), first->status);
}

/* Makes the device the owner of the orphans of a context. */
static void orphan_disown(struct cxib_ibdev *ibdev, const struct ib_ucontext *context)
{
	struct cxib_orphans *orphans = &ibdev->orphans;
	struct cxib_orphan *orphan, *first = NULL;
	unsigned int count = 0;

	lockdep_assert_held(&orphans->lock);

	list_for_each_entry(orphan, &orphans->list, node) {
		if (orphan->context != context || orphan->group)
			continue;
		first = first ?: orphan;
		orphan->context = NULL;
		orphan->group = orphans->groups + 1;
		count++;
	}
	if (!first)
		return;
	if (!orphans->closed)
		orphan_log_closed(ibdev, first, count);
	orphans->closed += count;
	orphans->groups++;
}

/**
 * cxib_orphans_keep() - keep an object that was not destroyed, and what it can access
 * @ibdev: RDMA device
 * @context: user context of the object; NULL: unknown, so the object belongs to the device
 * @destroy: the commands that destroy the object
 * @pinned: what the device can access through the object, zeroed; NULL: nothing. If the device is
 *	fatal, the function turns DMA off and leaves @pinned to the caller.
 * @err: error of the command
 *
 * Context: process context, may sleep.
 */
void cxib_orphans_keep(struct cxib_ibdev *ibdev, const struct ib_ucontext *context,
		       const struct cxib_destroy *destroy, struct cxib_pinned *pinned, int err)
{
	struct cxib_orphans *orphans = &ibdev->orphans;
	struct cxib_orphan *orphan;

	might_lock(&orphans->lock);
	if (cxib_command_queue_is_fatal(commands_of(ibdev))) {
		cxib_hw_dma_off(ibdev->hw);
		return;
	}
	orphan = kzalloc(sizeof(*orphan), GFP_KERNEL_ACCOUNT | __GFP_NOFAIL);
	orphan->context = context;
	orphan->destroy = *destroy;
	orphan->is_known = !cxib_command_is_unknown(err);
	if (pinned) {
		orphan->pinned = *pinned;
		*pinned = (struct cxib_pinned){};
	}
	guard(mutex)(&orphans->lock);
	list_add_tail(&orphan->node, &orphans->list);
	orphans->others += orphan_is_other(orphan);
	if (!context)
		orphan_disown(ibdev, NULL);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_orphans_keep);

static void orphan_free(struct cxib_ibdev *ibdev, struct cxib_orphan *orphan)
{
	const struct cxib_pinned *pinned = &orphan->pinned;

	lockdep_assert_held(&ibdev->orphans.lock);

	ibdev->orphans.closed -= !!orphan->group;
	ibdev->orphans.others -= orphan_is_other(orphan);
	list_del(&orphan->node);
	cxib_release_shared_umem(ibdev, pinned->umem, pinned->umem_users, 0);
	ib_umem_release(pinned->umem_in_doubt);
	if (pinned->dbr_page)
		ibdev->user->unpin_record(pinned->dbr_page);
	if (pinned->dm)
		ibdev->user->free_dm(pinned->dm);
	kfree(orphan);
}

static int orphan_execute(struct cxib_ibdev *ibdev, struct cxib_orphan *orphan, u16 opcode)
{
	__be32 in[CXIB_DESTROY_WORDS];
	__be32 out[CXIB_DESTROY_WORDS];
	struct cxib_command command = {
		.in = in, .in_length = orphan->destroy.in_length,
		.out = out, .out_length = orphan->destroy.out_length,
		/* The first refusal is already in the log. */
		.no_log = true,
	};
	int err;

	memcpy(in, orphan->destroy.in, sizeof(in));
	hw_cmd_in_set_opcode((void *)in, opcode);
	err = cxib_cmd_exec(commands_of(ibdev), &command);
	orphan->status = command.status;
	orphan->is_known = !cxib_command_is_unknown(err);
	return err;
}

/* Returns true if the device no longer has the object, or cannot use it because DMA is off. */
static bool orphan_destroy_in_device(struct cxib_ibdev *ibdev, struct cxib_orphan *orphan)
{
	int err = 0;

	if (orphan->destroy.before)
		err = orphan_execute(ibdev, orphan, orphan->destroy.before);
	if (!err) {
		orphan->destroy.before = 0;
		err = orphan_execute(ibdev, orphan, orphan_opcode_of(&orphan->destroy));
	}
	if (!err)
		return true;
	if (!cxib_command_queue_is_fatal(commands_of(ibdev)))
		return false;
	cxib_hw_dma_off(ibdev->hw);
	return true;
}

enum orphan_result { RESULT_SKIPPED, RESULT_DESTROYED, RESULT_REFUSED, RESULT_UNKNOWN };

static enum orphan_result orphan_try_to_destroy(struct cxib_ibdev *ibdev,
						struct cxib_orphan *orphan)
{
	lockdep_assert_held(&ibdev->orphans.lock);

	if (!orphan->is_known || orphan_has_child(&ibdev->orphans, orphan->context,
						  orphan->group, &orphan->destroy))
		return RESULT_SKIPPED;
	if (orphan_destroy_in_device(ibdev, orphan)) {
		orphan_free(ibdev, orphan);
		return RESULT_DESTROYED;
	}
	return orphan->is_known ? RESULT_REFUSED : RESULT_UNKNOWN;
}

/*
 * Tries to destroy each orphan of a context once; with @context NULL, each orphan of a closed
 * context. Returns true if one was destroyed, so that its parents may be tried next. Returns false
 * if the device does not complete a command.
 */
static bool orphan_try_all(struct cxib_ibdev *ibdev, const struct ib_ucontext *context)
{
	struct cxib_orphan *orphan, *next;
	enum orphan_result result;
	bool progress = false;

	list_for_each_entry_safe(orphan, next, &ibdev->orphans.list, node) {
		if (orphan->context != context)
			continue;
		result = orphan_try_to_destroy(ibdev, orphan);
		if (result == RESULT_UNKNOWN)
			return false;
		progress |= result == RESULT_DESTROYED;
	}
	return progress;
}

/* Orphans that remain move to the end of the list, so that the next call tries others. */
static void orphan_try_some_closed(struct cxib_ibdev *ibdev)
{
	unsigned int left = ibdev->orphans.closed;
	struct cxib_orphan *orphan, *next;
	unsigned int tried = 0;
	enum orphan_result result;

	list_for_each_entry_safe(orphan, next, &ibdev->orphans.list, node) {
		if (!orphan->group)
			continue;
		if (!left-- || tried == RETRIES_MAX)
			return;
		result = orphan_try_to_destroy(ibdev, orphan);
		if (result == RESULT_UNKNOWN)
			return;
		tried += result != RESULT_SKIPPED;
		if (result != RESULT_DESTROYED)
			list_move_tail(&orphan->node, &ibdev->orphans.list);
	}
}

/**
 * cxib_orphans_close() - try to destroy the orphans of a user context that is being closed
 * @ibdev: RDMA device
 * @context: user context without any other object
 *
 * Orphans that firmware still refuses to destroy then belong to the device. The function also
 * tries some of the orphans of contexts that were closed earlier.
 *
 * Context: process context, may sleep.
 */
void cxib_orphans_close(struct cxib_ibdev *ibdev, const struct ib_ucontext *context)
{
	guard(mutex)(&ibdev->orphans.lock);
	while (orphan_try_all(ibdev, context))
		;
	orphan_try_some_closed(ibdev);
	orphan_disown(ibdev, context);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_orphans_close);

/**
 * cxib_orphans_end() - free all orphans
 * @ibdev: RDMA device without user contexts
 *
 * If firmware still refuses to destroy an orphan, the device becomes fatal and DMA is turned off
 * before the memory is freed. Tear-down then resets the device.
 *
 * Context: process context, may sleep.
 */
void cxib_orphans_end(struct cxib_ibdev *ibdev)
{
	struct list_head *list = &ibdev->orphans.list;
	struct cxib_orphan *orphan, *next;

	debugfs_remove(ibdev->orphans.file);
	guard(mutex)(&ibdev->orphans.lock);
	while (orphan_try_all(ibdev, NULL))
		;
	if (list_empty(list))
		return;
	cxib_hw_set_fatal(ibdev->hw);
	cxib_hw_dma_off(ibdev->hw);
	list_for_each_entry_safe(orphan, next, list, node)
		orphan_free(ibdev, orphan);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_orphans_end);

static int orphans_show(struct seq_file *file, void *unused)
{
	struct cxib_ibdev *ibdev = file->private;
	const struct cxib_orphan *orphan;

	guard(mutex)(&ibdev->orphans.lock);
	seq_printf(file, "objects of closed contexts: %u\n", ibdev->orphans.closed);
	list_for_each_entry(orphan, &ibdev->orphans.list, node)
		seq_printf(file, "%s uid %u number 0x%x: %s\n",
			   hw_cmd_name(orphan_next_opcode(orphan)),
			   hw_general_obj_in_cmd_hdr_get_uid((const void *)orphan->destroy.in),
			   hw_general_obj_in_cmd_hdr_get_obj_id((const void *)orphan->destroy.in),
			   orphan_result_of(orphan));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(orphans);

/**
 * cxib_orphans_debugfs() - create the debugfs file "orphans"
 * @ibdev: RDMA device; cxib_orphans_end() removes the file
 */
void cxib_orphans_debugfs(struct cxib_ibdev *ibdev)
{
	ibdev->orphans.file = debugfs_create_file("orphans", 0400, ibdev->hw->debugfs, ibdev,
						  &orphans_fops);
}
