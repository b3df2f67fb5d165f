// SPDX-License-Identifier: GPL-2.0-only
/* Registers, DMA and interrupt vectors of a PCI function. */
#include <linux/io.h>
#include <linux/pci.h>

#include "hw/bus_pci.h"
#include "hw/device.h"

static struct cxib_bus_pci *to_pci(struct cxib_bus *bus)
{
	return container_of(bus, struct cxib_bus_pci, bus);
}

/* Two parts of BAR 0 are mapped: its beginning and the driver's doorbells. */
static void __iomem *address_of(const struct cxib_bus *bus, u32 offset)
{
	const u32 doorbell = offset - bus->doorbells_offset;

	return bus->doorbells && doorbell < CXIB_UAR_SIZE ? bus->doorbells + doorbell :
							    bus->registers + offset;
}

static u32 read_register(struct cxib_bus *bus, u32 offset)
{
	return ioread32be(address_of(bus, offset));
}

static void write_register(struct cxib_bus *bus, u32 offset, u32 value)
{
	iowrite32be(value, address_of(bus, offset));
}

static void set_dma(struct cxib_bus *bus, bool enabled)
{
	struct pci_dev *pdev = to_pci(bus)->pdev;

	if (enabled) {
		pci_set_master(pdev);
		return;
	}
	pci_clear_master(pdev);
	pci_wait_for_pending_transaction(pdev);
}

/*
 * Probe and remove hold the lock of the device. A function that the bus has
 * cut off is reset by the bus before it comes back, if it does.
 */
static int reset_function(struct cxib_bus *bus)
{
	struct cxib_bus_pci *pci = to_pci(bus);
	int err;

	if (pci_channel_offline(pci->pdev))
		return 0;
	/* The PCI core would wait a minute for it, with the device locked. */
	if (!pci_device_is_present(pci->pdev))
		return -ENODEV;
	pci->resetting = true;
	err = pci_reset_function_locked(pci->pdev);
	pci->resetting = false;
	return err;
}

static int allocate_vectors(struct cxib_bus *bus, unsigned int minimum, unsigned int maximum,
			    unsigned int trailing)
{
	struct irq_affinity affinity = {
		.pre_vectors = CXIB_SHARED_VECTORS,
		.post_vectors = trailing,
	};

	return pci_alloc_irq_vectors_affinity(to_pci(bus)->pdev, minimum, maximum,
					      PCI_IRQ_MSIX | PCI_IRQ_AFFINITY, &affinity);
}

static void free_vectors(struct cxib_bus *bus)
{
	pci_free_irq_vectors(to_pci(bus)->pdev);
}

static int request_vector(struct cxib_bus *bus, unsigned int vector, irq_handler_t handler,
			  const char *name, void *context)
{
	return request_irq(pci_irq_vector(to_pci(bus)->pdev, vector), handler, 0, name, context);
}

static void free_vector(struct cxib_bus *bus, unsigned int vector, void *context)
{
	free_irq(pci_irq_vector(to_pci(bus)->pdev, vector), context);
}

static void synchronize_vector(struct cxib_bus *bus, unsigned int vector)
{
	synchronize_irq(pci_irq_vector(to_pci(bus)->pdev, vector));
}

static const struct cxib_bus_ops ops = {
	.read = read_register,
	.write = write_register,
	.set_dma = set_dma,
	.reset = reset_function,
	.allocate_vectors = allocate_vectors,
	.free_vectors = free_vectors,
	.request_irq = request_vector,
	.free_irq = free_vector,
	.synchronize_irq = synchronize_vector,
};

/**
 * cxib_bus_pci_init() - the way to a PCI function
 * @bus: filled
 * @pdev: the function; it is enabled, and its driver's probe or remove runs
 *	whenever the device is reset or its vectors are allocated
 * @registers: the beginning of its BAR 0, with the init segment
 * @is_virtual: it is a virtual function
 */
void cxib_bus_pci_init(struct cxib_bus_pci *bus, struct pci_dev *pdev, void __iomem *registers,
		       bool is_virtual)
{
	*bus = (struct cxib_bus_pci){
		.bus = {
			.dev = &pdev->dev,
			.ops = &ops,
			.registers = registers,
			.bar = pci_resource_start(pdev, 0),
			.bar_size = pci_resource_len(pdev, 0),
			.is_virtual = is_virtual,
		},
		.pdev = pdev,
	};
}
