/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a device: one word that all users of its bus read. */
#ifndef CXIB_HW_STATE_H
#define CXIB_HW_STATE_H

#include <linux/types.h>
#include <asm/barrier.h>

#include "hw/bus.h"

bool cxib_hw_state_raise(struct cxib_bus *bus, enum cxib_hw_state state);

static inline enum cxib_hw_state cxib_hw_state(const struct cxib_bus *bus)
{
	/* Pairs with cxib_hw_state_raise(). */
	return smp_load_acquire(&bus->state);
}

#endif
