/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bus access of hw/: registers of BAR 0, bus mastering, interrupt vectors. bus_pci.c implements
 * it for PCI; KUnit suites implement it in memory.
 */
#ifndef CXIB_HW_BUS_H
#define CXIB_HW_BUS_H

#include <linux/interrupt.h>
#include <linux/types.h>

struct cxib_bus;

/**
 * enum cxib_hw_state - life of a device
 * @CXIB_HW_UP: firmware takes commands, or will
 * @CXIB_HW_FATAL: the driver issues no command and waits for none; the device may continue DMA
 * @CXIB_HW_DMA_OFF: bus mastering is cleared: the driver may free memory whose address the device
 *	knows, and read what the device has written
 * @CXIB_HW_GONE: the function is absent; the recovery work polls for its return
 */
enum cxib_hw_state {
	CXIB_HW_UP,
	CXIB_HW_FATAL,
	CXIB_HW_DMA_OFF,
	CXIB_HW_GONE,
};

/* Vectors of the command EQ and the async EQ. */
#define CXIB_SHARED_VECTORS	2

/**
 * struct cxib_bus_ops - bus operations
 * @read: returns the register at @offset, in host order; all-ones when the device is absent.
 *	Any context.
 * @write: writes @value, in host order, to the register at @offset after all earlier writes to
 *	memory. Any context.
 * @set_dma: sets or clears bus mastering; after clearing, no DMA is outstanding on return
 * @reset: resets the function, which then knows no DMA address. Returns 0, or the error of the
 *	platform.
 * @allocate_vectors: allocates between @minimum and @maximum interrupt vectors; returns their
 *	number or an error. Their affinity is not managed: the kernel moves a vector whose CPU goes
 *	offline, and an administrator may move any vector.
 * @free_vectors: undo @allocate_vectors
 * @request_irq: calls @handler with @context when @vector fires, initially on @cpu; on any CPU if
 *	@cpu is negative
 * @free_irq: undo @request_irq; @handler is not running on return
 * @synchronize_irq: waits for handlers of @vector that are running. May sleep.
 * @vector_cpu: returns the CPU that handles @vector at present
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
	unsigned int (*vector_cpu)(struct cxib_bus *bus, unsigned int vector);
};

/**
 * struct cxib_bus - bus access to one device
 * @dev: device for log messages and DMA mappings
 * @ops: bus operations
 * @iseg: mapping of the init segment at the start of BAR 0; NULL for a bus without a BAR
 * @uar: mapping of the UAR page of the kernel, for the data path; NULL until it is allocated
 * @uar_offset: offset of @uar in BAR 0
 * @log_uar_distance: log2 of the distance of UAR pages in BAR 0; valid once capabilities are
 *	configured
 * @bar: physical address of BAR 0, for mapping UAR pages; 0 for a bus without a BAR
 * @bar_size: length of BAR 0 in bytes
 * @is_virtual: the device is a VF
 * @state: only rises, see hw/state.h; a bring-up begins with %CXIB_HW_UP
 */
struct cxib_bus {
	struct device *dev;
	const struct cxib_bus_ops *ops;
	void __iomem *iseg;
	void __iomem *uar;
	u32 uar_offset;
	unsigned int log_uar_distance;
	phys_addr_t bar;
	resource_size_t bar_size;
	bool is_virtual;
	enum cxib_hw_state state;
};

/* Value of each register that is read while the device is absent. */
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
