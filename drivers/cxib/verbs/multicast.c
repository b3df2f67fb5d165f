// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast groups of QPs.
 *
 * The RDMA core cannot repeat a detach that fails: ib_uverbs_detach_mcast() has forgotten the group
 * by then, and nobody can destroy the QP, because its reference remains. So a detach does not fail.
 * If the device does not execute it, the QP stays a member until it is destroyed, which detaches
 * it again.
 *
 * An attach that fails must leave no member, because nobody detaches the QP then. So the driver
 * detaches it if the result of the attach is unknown.
 */
#include <kunit/visibility.h>
#include <linux/delay.h>
#include <linux/slab.h>

#include "hw/qp.h"
#include "verbs/qp/qp.h"

/**
 * struct mcast_group - a group of a QP
 * @node: entry in the list of the QP
 * @gid: MGID
 * @users: number of LIDs with which the RDMA core has attached the QP. The device knows only the
 *	GID. 0: the device may still have the QP as a member
 */
struct mcast_group {
	struct hlist_node node;
	union ib_gid gid;
	u32 users;
};

static struct mcast_group *mcast_find(const struct cxib_qp *qp, const union ib_gid *gid)
{
	struct mcast_group *group;

	lockdep_assert_held(&qp->mutex);

	hlist_for_each_entry(group, &qp->groups, node)
		if (!memcmp(&group->gid, gid, sizeof(*gid)))
			return group;
	return NULL;
}

static struct mcast_group *mcast_add(struct cxib_qp *qp, const union ib_gid *gid)
{
	struct mcast_group *group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);

	lockdep_assert_held(&qp->mutex);

	if (!group)
		return NULL;
	group->gid = *gid;
	hlist_add_head(&group->node, &qp->groups);
	return group;
}

static void mcast_remove(struct mcast_group *group)
{
	hlist_del(&group->node);
	kfree(group);
}

static int mcast_leave(const struct cxib_qp *qp, const struct mcast_group *group)
{
	return cxib_cmd_detach_from_mcg(commands_of(to_ibdev(qp->ib.device)), cxib_qp_uid(qp),
					qp->qpn, group->gid.raw);
}

/*
 * Ends an attach that has failed. If its result is unknown, the QP may be a member, and its owner
 * would get datagrams of a group that it cannot leave. If the device does not execute the detach,
 * it may execute the attach later, so the destruction of the QP repeats the detach.
 */
static void mcast_undo_attach(struct cxib_qp *qp, struct mcast_group *group, bool was_known,
			      int err)
{
	bool is_unknown = cxib_command_is_unknown(err);

	lockdep_assert_held(&qp->mutex);

	if (is_unknown && mcast_leave(qp, group))
		return;
	if (!was_known)
		mcast_remove(group);
}

int cxib_attach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct cxib_qp *qp = to_qp(ib);
	struct mcast_group *group, *known;
	int err = 0;

	guard(mutex)(&qp->mutex);
	known = mcast_find(qp, gid);
	group = known ?: mcast_add(qp, gid);
	if (!group)
		return -ENOMEM;
	if (!group->users)
		err = cxib_cmd_attach_to_mcg(commands_of(to_ibdev(ib->device)), cxib_qp_uid(qp),
					     qp->qpn, gid->raw);
	if (!err)
		group->users++;
	else
		mcast_undo_attach(qp, group, known, err);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_attach_mcast);

int cxib_detach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct cxib_qp *qp = to_qp(ib);
	struct mcast_group *group;

	guard(mutex)(&qp->mutex);
	group = mcast_find(qp, gid);
	if (!group || !group->users)
		return -EINVAL;
	if (!--group->users && !mcast_leave(qp, group))
		mcast_remove(group);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_detach_mcast);

/**
 * cxib_leave_mcast_groups() - detach a QP from the groups whose member it may still be
 * @qp: QP that is being destroyed, which the RDMA core has detached from all groups
 *
 * The command needs memory, which the commands that destroy objects do not, so the function waits
 * for it. Other errors are ignored: the device may have executed an earlier command whose result is
 * unknown. If the QP is still a member, firmware refuses to destroy it.
 *
 * Context: process context, may sleep.
 */
void cxib_leave_mcast_groups(struct cxib_qp *qp)
{
	struct cxib_command_queue *commands = commands_of(to_ibdev(qp->ib.device));
	struct mcast_group *group;
	struct hlist_node *next;
	int err;

	hlist_for_each_entry_safe(group, next, &qp->groups, node) {
		for (;;) {
			err = mcast_leave(qp, group);
			if (err != -ENOMEM || cxib_command_queue_is_fatal(commands))
				break;
			msleep(20);
		}
		if (!err)
			mcast_remove(group);
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_leave_mcast_groups);

/**
 * cxib_forget_mcast_groups() - free what the driver knows of the groups of a QP
 * @qp: QP that is gone for the RDMA core
 */
void cxib_forget_mcast_groups(struct cxib_qp *qp)
{
	struct mcast_group *group;
	struct hlist_node *next;

	hlist_for_each_entry_safe(group, next, &qp->groups, node)
		mcast_remove(group);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_forget_mcast_groups);
