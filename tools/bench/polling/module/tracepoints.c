// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds tracepoints of the kernel and of its modules by name. */
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "polling.h"

/**
 * struct search - search for a tracepoint
 * @name: its name
 * @found: the tracepoint; NULL: not found yet
 * @modules: called for each module with tracepoints
 */
struct search {
	const char *name;
	struct tracepoint *found;
	struct notifier_block modules;
};

static void compare(struct tracepoint *tracepoint, void *data)
{
	struct search *search = data;

	if (!strcmp(tracepoint->name, search->name))
		search->found = tracepoint;
}

static int look_into_module(struct notifier_block *modules, unsigned long state, void *data)
{
	struct search *search = container_of(modules, struct search, modules);
	const struct tp_module *traced = data;
	unsigned int i;

	for (i = 0; i < traced->mod->num_tracepoints; i++)
		compare(tracepoint_ptr_deref(&traced->mod->tracepoints_ptrs[i]), search);
	return NOTIFY_OK;
}

static struct tracepoint *find(const char *name)
{
	struct search search = { .name = name, .modules.notifier_call = look_into_module };

	for_each_kernel_tracepoint(compare, &search);
	if (!search.found && !register_tracepoint_module_notifier(&search.modules))
		unregister_tracepoint_module_notifier(&search.modules);
	return search.found;
}

/**
 * polling_watch() - calls a function at each hit of a tracepoint
 * @name: tracepoint of the kernel or of a module that stays loaded
 * @probe: function with the arguments @data and those of the tracepoint
 * @data: first argument
 *
 * Return: 0 or an error
 */
int polling_watch(const char *name, void *probe, void *data)
{
	struct tracepoint *tracepoint = find(name);

	return tracepoint ? tracepoint_probe_register(tracepoint, probe, data) : -ENOENT;
}

/**
 * polling_ignore() - ends what polling_watch() has begun
 * @name: as passed to polling_watch()
 * @probe: as passed to polling_watch()
 * @data: as passed to polling_watch()
 */
void polling_ignore(const char *name, void *probe, void *data)
{
	struct tracepoint *tracepoint = find(name);

	if (tracepoint)
		tracepoint_probe_unregister(tracepoint, probe, data);
	tracepoint_synchronize_unregister();
}
