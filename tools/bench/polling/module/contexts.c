// SPDX-License-Identifier: GPL-2.0-or-later
/* The polling contexts that are compared. */
#include <linux/string.h>

#include "polling.h"

static struct ib_cq *alloc_core(const struct polling_context *context, struct ib_device *device,
				void *private, int nr_cqe)
{
	return ib_alloc_cq(device, private, nr_cqe, POLLING_VECTOR, context->core);
}

static struct ib_cq *alloc_cxib(const struct polling_context *context, struct ib_device *device,
				void *private, int nr_cqe)
{
	return cxib_alloc_cq(device, private, nr_cqe, POLLING_VECTOR, &context->options);
}

#define CXIB(...)	alloc_cxib, .options = { __VA_ARGS__ }

/* Ends with an entry without a name. */
const struct polling_context polling_contexts[] = {
	{ "core-softirq", alloc_core, IB_POLL_SOFTIRQ },
	{ "core-workqueue", alloc_core, IB_POLL_WORKQUEUE },
	{ "core-unbound", alloc_core, IB_POLL_UNBOUND_WORKQUEUE },
	{ "cxib-softirq", CXIB(.context = CXIB_CQ_SOFTIRQ) },
	{ "cxib-thread", CXIB(.context = CXIB_CQ_THREAD) },
	{ "cxib-own-thread", CXIB(.context = CXIB_CQ_THREAD, .flags = CXIB_CQ_OWN_THREAD) },
	{ "cxib-workqueue", CXIB(.context = CXIB_CQ_WORKQUEUE) },
	{ "cxib-unbound", CXIB(.context = CXIB_CQ_UNBOUND_WORKQUEUE) },
	{}
};

/**
 * polling_context_find() - finds a context by name
 * @name: the name
 *
 * Return: the context, NULL if there is none
 */
const struct polling_context *polling_context_find(const char *name)
{
	const struct polling_context *context;

	for (context = polling_contexts; context->name; context++)
		if (!strcmp(context->name, name))
			return context;
	return NULL;
}
