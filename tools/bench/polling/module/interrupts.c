// SPDX-License-Identifier: GPL-2.0-or-later
/* Interrupts of all devices, before their handlers run: the kernel's tracepoint irq_handler_entry. */
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "polling.h"

static struct tracepoint *irq_handler_entry;

static void find_irq_handler_entry(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "irq_handler_entry"))
		irq_handler_entry = tracepoint;
}

/**
 * polling_watch_interrupts() - calls a function at each interrupt of a device
 * @probe: function
 * @data: its first argument
 *
 * Return: 0 or an error
 */
int polling_watch_interrupts(polling_interrupt_probe *probe, void *data)
{
	for_each_kernel_tracepoint(find_irq_handler_entry, NULL);
	if (!irq_handler_entry)
		return -ENOENT;
	return tracepoint_probe_register(irq_handler_entry, probe, data);
}

/**
 * polling_ignore_interrupts() - ends what polling_watch_interrupts() has begun
 * @probe: as there
 * @data: as there
 */
void polling_ignore_interrupts(polling_interrupt_probe *probe, void *data)
{
	tracepoint_probe_unregister(irq_handler_entry, probe, data);
	tracepoint_synchronize_unregister();
}
