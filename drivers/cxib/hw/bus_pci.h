/* SPDX-License-Identifier: GPL-2.0-only */
/* The way to a device that is a PCI function. */
#ifndef CXIB_HW_BUS_PCI_H
#define CXIB_HW_BUS_PCI_H

#include <linux/compiler_types.h>

#include "hw/bus.h"

struct pci_dev;

/**
 * struct cxib_bus_pci - the way to one function
 * @bus: what hw/ uses
 * @pdev: the function
 * @resetting: it is being reset by hw/, which knows what it does; protected by
 *	the lock of the device
 */
struct cxib_bus_pci {
	struct cxib_bus bus;
	struct pci_dev *pdev;
	bool resetting;
};

void cxib_bus_pci_init(struct cxib_bus_pci *bus, struct pci_dev *pdev, void __iomem *registers,
		       bool is_virtual);

#endif
