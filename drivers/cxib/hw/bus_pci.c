// SPDX-License-Identifier: GPL-2.0-only
/* Bus access to a PCI function: registers, bus mastering, interrupt vectors. */
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/io.h>
#include <linux/pci.h>

#include "hw/bus_pci.h"
#include "hw/device.h"

static struct cxib_bus_pci *to_pci(struct cxib_bus *bus)
{
	return container_of(bus, struct cxib_bus_pci, bus);
}

/* Two parts of BAR 0 are mapped: the init segment and the UAR page of the kernel. */
static void __iomem *bus_address_of(const struct cxib_bus *bus, u32 offset)
{
	const u32 doorbell = offset - bus->uar_offset;

	return bus->uar && doorbell < CXIB_UAR_SIZE ? bus->uar + doorbell :
							    bus->iseg + offset;
}

static u32 bus_read_register(struct cxib_bus *bus, u32 offset)
{
	return ioread32be(bus_address_of(bus, offset));
}

static void bus_write_register(struct cxib_bus *bus, u32 offset, u32 value)
{
	iowrite32be(value, bus_address_of(bus, offset));
}

static void bus_set_dma(struct cxib_bus *bus, bool enabled)
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
 * The caller is in probe or remove, which hold the device lock. The PCI core resets a function
 * whose channel is offline before it brings the channel back.
 */
static int bus_reset_function(struct cxib_bus *bus)
{
	struct cxib_bus_pci *pci = to_pci(bus);
	int err;

	if (pci_channel_offline(pci->pdev))
		return 0;
	/*
	 * The PCI core would hold the device lock while it waits a minute for an absent function.
	 */
	if (!pci_device_is_present(pci->pdev))
		return -ENODEV;
	pci->resetting = true;
	err = pci_reset_function_locked(pci->pdev);
	pci->resetting = false;
	return err;
}

/*
 * Allocates without PCI_IRQ_AFFINITY: the kernel shuts down a managed vector when the last CPU of
 * its mask goes offline, and users that wait for its completions would hang.
 */
static int bus_allocate_vectors(struct cxib_bus *bus, unsigned int minimum, unsigned int maximum)
{
	return pci_alloc_irq_vectors(to_pci(bus)->pdev, minimum, maximum, PCI_IRQ_MSIX);
}

static void bus_free_vectors(struct cxib_bus *bus)
{
	pci_free_irq_vectors(to_pci(bus)->pdev);
}

/*
 * Setting the affinity fails if the CPU is offline by now. The error is ignored because the vector
 * works on any other CPU.
 */
static int bus_request_vector(struct cxib_bus *bus, unsigned int vector, int cpu,
			      irq_handler_t handler, const char *name, void *context)
{
	int irq = pci_irq_vector(to_pci(bus)->pdev, vector);
	int err = request_irq(irq, handler, 0, name, context);

	if (!err && cpu >= 0)
		irq_set_affinity_and_hint(irq, cpumask_of(cpu));
	return err;
}

static void bus_free_vector(struct cxib_bus *bus, unsigned int vector, void *context)
{
	int irq = pci_irq_vector(to_pci(bus)->pdev, vector);

	irq_update_affinity_hint(irq, NULL);
	free_irq(irq, context);
}

static void bus_synchronize_vector(struct cxib_bus *bus, unsigned int vector)
{
	synchronize_irq(pci_irq_vector(to_pci(bus)->pdev, vector));
}

static unsigned int bus_vector_cpu(struct cxib_bus *bus, unsigned int vector)
{
	int irq = pci_irq_vector(to_pci(bus)->pdev, vector);
	const struct cpumask *cpus = irq_get_effective_affinity_mask(irq);

	return cpus && !cpumask_empty(cpus) ? cpumask_first(cpus) : 0;
}

static const struct cxib_bus_ops ops = {
	.read = bus_read_register,
	.write = bus_write_register,
	.set_dma = bus_set_dma,
	.reset = bus_reset_function,
	.allocate_vectors = bus_allocate_vectors,
	.free_vectors = bus_free_vectors,
	.request_irq = bus_request_vector,
	.free_irq = bus_free_vector,
	.synchronize_irq = bus_synchronize_vector,
	.vector_cpu = bus_vector_cpu,
};

/**
 * cxib_bus_pci_init() - initializes bus access to a PCI function
 * @bus: filled
 * @pdev: enabled PCI function; its device lock is held whenever @reset or @allocate_vectors runs
 * @registers: mapping of the init segment at the start of its BAR 0
 * @is_virtual: the function is a VF
 */
void cxib_bus_pci_init(struct cxib_bus_pci *bus, struct pci_dev *pdev, void __iomem *registers,
		       bool is_virtual)
{
	*bus = (struct cxib_bus_pci){
		.bus = {
			.dev = &pdev->dev,
			.ops = &ops,
			.iseg = registers,
			.bar = pci_resource_start(pdev, 0),
			.bar_size = pci_resource_len(pdev, 0),
			.is_virtual = is_virtual,
		},
		.pdev = pdev,
	};
}
