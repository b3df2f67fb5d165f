// SPDX-License-Identifier: GPL-2.0-only
/* Fields of uverbs objects for which the RDMA core has no functions. */
#include <kunit/visibility.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>

#include "user/uobject.h"

#ifndef CXIB_LACKS_UOBJECT_FIELDS

static bool uobject_is_inside(const struct ib_uobject *uobject,
			      const struct ib_event_handler *handler)
{
	const char *start = (const char *)uobject;
	const char *place = (const char *)handler;

	return place >= start &&
	       place + sizeof(*handler) <= start + uobject->uapi_object->type_attrs->obj_size;
}

/**
 * cxib_async_event_handler() - finds the event handler of a file of asynchronous events
 * @events: UVERBS_OBJECT_ASYNC_EVENT, locked for reading
 *
 * The RDMA core registers a handler for unaffiliated events for each such file. The handler is part
 * of the file, so its memory is valid as long as that of @events. It takes events in any context,
 * and discards them after the file is closed.
 *
 * Context: process context, may sleep.
 * Return: the handler; NULL if @events has none.
 */
struct ib_event_handler *cxib_async_event_handler(struct ib_uobject *events)
{
	struct ib_device *ib = events->context->device;
	struct ib_event_handler *handler, *found = NULL;

	down_read(&ib->event_handler_rwsem);
	list_for_each_entry(handler, &ib->event_handler_list, list)
		if (uobject_is_inside(events, handler)) {
			found = handler;
			break;
		}
	up_read(&ib->event_handler_rwsem);
	return found;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_async_event_handler);

/**
 * cxib_uobject_pin() - prevents the destruction of a uobject by user space
 * @uobject: locked for reading
 *
 * User space gets -EBUSY. When a context is closed, the RDMA core destroys its newest uobjects
 * first. So the uobject that pins @uobject must be newer than @uobject.
 */
void cxib_uobject_pin(struct ib_uobject *uobject)
{
	uverbs_uobject_get(uobject);
	atomic_inc(&uobject->usecnt);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_uobject_pin);

/**
 * cxib_uobject_unpin() - undo cxib_uobject_pin()
 * @uobject: pinned
 */
void cxib_uobject_unpin(struct ib_uobject *uobject)
{
	atomic_dec(&uobject->usecnt);
	uverbs_uobject_put(uobject);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_uobject_unpin);

#endif
