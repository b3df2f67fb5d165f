// SPDX-License-Identifier: GPL-2.0-or-later
/* The contexts that are compared. */
#include <linux/string.h>

#include "polling.h"

static struct ib_cq *alloc_core(const struct polling_context *context, struct ib_device *device,
				void *private, int nr_cqe)
{
	return ib_alloc_cq(device, private, nr_cqe, POLLING_VECTOR, context->core);
}

/* Ends with an entry without name. */
const struct polling_context polling_contexts[] = {
	{ "core-softirq", alloc_core, IB_POLL_SOFTIRQ },
	{ "core-workqueue", alloc_core, IB_POLL_WORKQUEUE },
	{ "core-unbound", alloc_core, IB_POLL_UNBOUND_WORKQUEUE },
	{}
};

/**
 * polling_context_find() - the context of a name
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
