/* SPDX-License-Identifier: GPL-2.0-only */
/* What each device offers to kernel modules. */
#ifndef CXIB_ULP_FUNCTIONS_H
#define CXIB_ULP_FUNCTIONS_H

#include <linux/module.h>
#include <rdma/ib_verbs.h>

extern const struct ib_device_ops cxib_ulp_ops;

/* A ULP may call the functions of one device with objects of devices of other drivers. */
static inline bool cxib_owns_device(const struct ib_device *device)
{
	return device->ops.owner == THIS_MODULE;
}

#endif
