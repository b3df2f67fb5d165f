/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields of uverbs objects for which the RDMA core has no functions. */
#ifndef CXIB_USER_UOBJECT_H
#define CXIB_USER_UOBJECT_H

#include <rdma/uverbs_types.h>

#ifdef CXIB_LACKS_UOBJECT_FIELDS
static inline bool cxib_has_uobject_fields(void)
{
	return false;
}

static inline struct ib_event_handler *cxib_async_event_handler(struct ib_uobject *events)
{
	return NULL;
}

static inline void cxib_uobject_pin(struct ib_uobject *uobject)
{
}

static inline void cxib_uobject_unpin(struct ib_uobject *uobject)
{
}
#else
static inline bool cxib_has_uobject_fields(void)
{
	return true;
}

struct ib_event_handler *cxib_async_event_handler(struct ib_uobject *events);
void cxib_uobject_pin(struct ib_uobject *uobject);
void cxib_uobject_unpin(struct ib_uobject *uobject);
#endif

#endif
