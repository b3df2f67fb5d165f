// SPDX-License-Identifier: GPL-2.0-only
/* Handles of XRC_TGT QPs for registrations, and the events of these QPs. */
#include <kunit/visibility.h>
#include <rdma/cxib_user_ioctl_cmds.h>

#include "verbs/xrc/opener.h"

/*
 * The RDMA core passes the same event to all handles of the QP, and uses its element to iterate
 * over them. So the function modifies a copy. Interrupts are off, and qp_open_list_lock is held.
 */
static void opener_deliver_event(struct ib_event *event, void *context)
{
	const struct cxib_xrc_opener *opener = context;
	struct ib_event copy = {
		.device = event->device,
		.element.port_num = opener->qpn,
		.event = event->event | CXIB_XRC_QP_EVENT_FLAG,
	};

	opener->events->handler(opener->events, &copy);
}

/**
 * cxib_xrc_open() - open an XRC_TGT QP for a registration
 * @opener: the handle. The caller has set @qpn, which is not checked, and @events. Both must remain
 *	valid until cxib_xrc_close(). Events may be delivered before this returns.
 * @xrcd: XRC domain
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL if @xrcd has no XRC_TGT QP of this number; -ENOMEM; an error of the security
 * module.
 */
int cxib_xrc_open(struct cxib_xrc_opener *opener, struct ib_xrcd *xrcd)
{
	struct ib_qp_open_attr attr = {
		.event_handler = opener_deliver_event,
		.qp_context = opener,
		.qp_num = opener->qpn,
		.qp_type = IB_QPT_XRC_TGT,
	};
	struct ib_qp *qp = ib_open_qp(xrcd, &attr);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	opener->qp = qp;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_xrc_open);

/**
 * cxib_xrc_set_events() - deliver the events of the QP to another receiver
 * @opener: the handle; the caller excludes its cxib_xrc_close()
 * @events: the receiver; the former one gets no events afterwards
 *
 * Context: process context.
 */
void cxib_xrc_set_events(struct cxib_xrc_opener *opener, struct ib_event_handler *events)
{
	scoped_guard(spinlock_irqsave, &opener->qp->device->qp_open_list_lock)
		opener->events = events;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_xrc_set_events);

/**
 * cxib_xrc_close() - undo cxib_xrc_open(), and destroy the QP if it has no other handle
 * @opener: the handle; receives no events afterwards
 *
 * The function does not use ib_close_qp(), which would leak the QP if it closed the last handle.
 * The destruction does not fail, because a QP that firmware refuses to destroy becomes an orphan.
 *
 * Context: process context, may sleep.
 */
void cxib_xrc_close(struct cxib_xrc_opener *opener)
{
	ib_destroy_qp_user(opener->qp, NULL);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_xrc_close);

/**
 * cxib_xrc_count_handles() - count the handles of an XRC_TGT QP
 * @qp: the QP itself, not a handle
 *
 * 'rdma resource' may list a QP before the RDMA core has initialized its list of handles.
 *
 * Context: process context.
 * Return: the numbers of handles at one point in time.
 */
struct cxib_xrc_handles cxib_xrc_count_handles(struct ib_qp *qp)
{
	struct cxib_xrc_handles handles = {};
	const struct ib_qp *handle;
	unsigned long flags;

	if (!READ_ONCE(qp->open_list.next))
		return handles;
	spin_lock_irqsave(&qp->device->qp_open_list_lock, flags);
	list_for_each_entry(handle, &qp->open_list, open_list)
		if (handle->event_handler == opener_deliver_event)
			handles.num_registrations++;
		else
			handles.num_openers++;
	spin_unlock_irqrestore(&qp->device->qp_open_list_lock, flags);
	return handles;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_xrc_count_handles);
