/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a kernel module finds what a device of cxib offers beyond the verbs. The module does not
 * depend on cxib.ko: each device refers to its functions, so no symbol is looked up. A look-up
 * would fail while cxib.ko is initialised, which is when the devices that it binds are added.
 */
#ifndef CXIB_FUNCTIONS_H
#define CXIB_FUNCTIONS_H

#include <linux/container_of.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <rdma/ib_verbs.h>

struct cxib_poll_contexts;
struct cxib_signature_pipelining;

/* Increased with each change of struct cxib_functions. */
#define CXIB_FUNCTIONS_ABI	2

/**
 * struct cxib_functions - what a device of cxib offers
 * @abi: %CXIB_FUNCTIONS_ABI of the driver
 * @poll_contexts: functions for CQs
 * @signature_pipelining: as cxib_signature_pipelining()
 * @group: attributes of the device: ops.device_group of struct ib_device
 */
struct cxib_functions {
	u32 abi;
	const struct cxib_poll_contexts *poll_contexts;
	const struct cxib_signature_pipelining *(*signature_pipelining)(struct ib_device *device);
	struct attribute_group group;
};

/**
 * cxib_functions() - find what a device offers
 * @device: RDMA device, registered by any driver
 *
 * Context: any.
 * Return: the functions, valid as long as @device; NULL if @device is one of another driver, or if
 * cxib has another version of this header.
 */
static inline const struct cxib_functions *cxib_functions(const struct ib_device *device)
{
	const struct cxib_functions *functions;

	if (strcmp(module_name(device->ops.owner), "cxib"))
		return NULL;
	functions = container_of_const(device->ops.device_group, struct cxib_functions, group);
	return functions->abi == CXIB_FUNCTIONS_ABI ? functions : NULL;
}

#endif
