/* SPDX-License-Identifier: GPL-2.0-only */
/* Bus access to a PCI function. */
#ifndef CXIB_HW_BUS_PCI_H
#define CXIB_HW_BUS_PCI_H

#include <linux/compiler_types.h>

#include "hw/bus.h"

struct pci_dev;

/**
 * struct cxib_bus_pci - bus access to one PCI function
 * @bus: the interface of hw/
 * @pdev: the function
 * @resetting: hw/ is resetting the function, so reset_prepare() and reset_done() do nothing;
 *	protected by the device lock
 */
struct cxib_bus_pci {
	struct cxib_bus bus;
	struct pci_dev *pdev;
	bool resetting;
};

void cxib_bus_pci_init(struct cxib_bus_pci *bus, struct pci_dev *pdev, void __iomem *registers,
		       bool is_virtual);

#endif
