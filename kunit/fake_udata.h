/* SPDX-License-Identifier: GPL-2.0-only */
/* Attribute bundles with which the RDMA core destroys user-space objects. */
#ifndef CXIB_KUNIT_FAKE_UDATA_H
#define CXIB_KUNIT_FAKE_UDATA_H

#include <linux/bitops.h>
#include <rdma/uverbs_ioctl.h>

#include "hw/commands_objects.h"
#include "verbs/orphans.h"

/* A process destroys the object: its request has one attribute, the handle. */
static inline struct ib_udata *fake_request(struct uverbs_attr_bundle *attrs,
					    struct ib_ucontext *context)
{
	*attrs = (struct uverbs_attr_bundle){ .context = context };
	__set_bit(0, attrs->attr_present);
	return &attrs->driver_udata;
}

/* A user context ends: uverbs_destroy_ufile_hw(). */
static inline struct ib_udata *fake_cleanup(struct uverbs_attr_bundle *attrs,
					    struct ib_ucontext *context)
{
	*attrs = (struct uverbs_attr_bundle){ .context = context };
	return &attrs->driver_udata;
}

/* All objects refer to their user context. */
static inline bool fake_has_orphans(struct cxib_ibdev *ibdev, struct ib_ucontext *context)
{
	const struct cxib_destroy destroy = cxib_destroy_object(HW_CMD_DESTROY_UCTX, 0, 1);

	return cxib_orphans_check(ibdev, context, &destroy);
}

#endif
