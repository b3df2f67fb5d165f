// SPDX-License-Identifier: GPL-2.0-only
/* The state of a device: up, fatal, without DMA, absent. */
#include <kunit/visibility.h>
#include <linux/atomic.h>

#include "hw/state.h"

/**
 * cxib_hw_state_raise() - advances the state of a device
 * @bus: bus access to it
 * @state: minimum state of the device on return; the state never falls before the next bring-up
 *
 * Context: any.
 * Return: true if the state was lower.
 */
bool cxib_hw_state_raise(struct cxib_bus *bus, enum cxib_hw_state state)
{
	enum cxib_hw_state old = READ_ONCE(bus->state);

	/*
	 * A full barrier on success: who sees the new state sees all earlier writes of the caller.
	 */
	while (old < state)
		if (try_cmpxchg(&bus->state, &old, state))
			return true;
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_hw_state_raise);
