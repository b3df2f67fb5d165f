/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How hw/ reaches the device: registers of BAR 0, DMA, interrupt vectors.
 * PCI in production (bus_pci.c), memory of a test in the KUnit suites.
 */
#ifndef CXIB_HW_BUS_H
#define CXIB_HW_BUS_H

#include <linux/interrupt.h>
#include <linux/types.h>

struct cxib_bus;

/* Vectors for answered commands and for asynchronous events. */
#define CXIB_SHARED_VECTORS	2

/**
 * struct cxib_bus_ops - what a bus can do
 * @read: the register at @offset, in host order; all-ones when the device does
 *	not answer. Any context.
 * @write: writes the register at @offset after all earlier writes to memory.
 *	Any context.
 * @set_dma: lets the device access memory, or stops it; when it returns from
 *	stopping, no access is under way any more
 * @reset: resets the function, so that it forgets every address it was given.
 *	Returns 0 or why the platform cannot reset it.
 * @allocate_vectors: between @minimum and @maximum interrupt vectors; returns
 *	their number, or an error. The kernel does not manage them: each moves to
 *	another processor when its own goes offline, or when an administrator moves it.
 * @free_vectors: the reverse
 * @request_irq: has @handler called with @context when @vector fires, on @cpu
 *	until the vector is moved; negative: on any
 * @free_irq: the reverse; when it returns, @handler does not run any more
 * @synchronize_irq: waits until no @handler that runs now runs any more. May
 *	sleep.
 */
struct cxib_bus_ops {
	u32 (*read)(struct cxib_bus *bus, u32 offset);
	void (*write)(struct cxib_bus *bus, u32 offset, u32 value);
	void (*set_dma)(struct cxib_bus *bus, bool enabled);
	int (*reset)(struct cxib_bus *bus);
	int (*allocate_vectors)(struct cxib_bus *bus, unsigned int minimum,
				unsigned int maximum);
	void (*free_vectors)(struct cxib_bus *bus);
	int (*request_irq)(struct cxib_bus *bus, unsigned int vector, int cpu,
			   irq_handler_t handler, const char *name, void *context);
	void (*free_irq)(struct cxib_bus *bus, unsigned int vector, void *context);
	void (*synchronize_irq)(struct cxib_bus *bus, unsigned int vector);
};

/**
 * struct cxib_bus - the way to one device
 * @dev: whose name stands in messages, and which memory is mapped for
 * @ops: what the bus can do
 * @iseg: the init segment at the beginning of BAR 0; NULL where there is only @ops
 * @uar: the driver's page of doorbells, NULL until it has one; for the data path
 * @uar_offset: where in BAR 0 it is
 * @bar: where BAR 0 is, for pages of doorbells; 0 where there is only @ops
 * @bar_size: bytes of BAR 0
 * @is_virtual: the device is a virtual function
 */
struct cxib_bus {
	struct device *dev;
	const struct cxib_bus_ops *ops;
	void __iomem *iseg;
	void __iomem *uar;
	u32 uar_offset;
	phys_addr_t bar;
	resource_size_t bar_size;
	bool is_virtual;
};

/* What a read returns when nobody on the bus answers it. */
#define CXIB_ALL_ONES		0xffffffffU

static inline u32 cxib_bus_read(struct cxib_bus *bus, u32 offset)
{
	return bus->ops->read(bus, offset);
}

static inline void cxib_bus_write(struct cxib_bus *bus, u32 offset, u32 value)
{
	bus->ops->write(bus, offset, value);
}

#endif
