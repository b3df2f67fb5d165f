// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PCI driver: which devices are ours, probe, remove, shutdown.
 *
 * A device is never taken unasked. The in-tree driver serves the same ids, so
 * a device comes here only when an administrator has written "cxib" to its
 * driver_override, or its id to new_id.
 */
#include <linux/debugfs.h>
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "hw/bus_pci.h"
#include "hw/hw.h"
#include "user/user.h"
#include "verbs/verbs.h"

#define DEVICE_BAR	0

/* In the table of ids: a virtual function. */
#define IS_VIRTUAL	1

/**
 * struct cxib_device - one HCA
 * @pdev: the PCI function
 * @is_virtual: it is a virtual one
 * @bar: BAR 0 as a whole: init segment, then pages of doorbells
 * @bus: the way to it
 * @hw: the device behind it
 * @verbs: the RDMA device that is made of it
 */
struct cxib_device {
	struct pci_dev *pdev;
	bool is_virtual;
	void __iomem *bar;
	struct cxib_bus_pci bus;
	struct cxib_hw hw;
	struct cxib_verbs *verbs;
};

/* Has a directory for each device. */
static struct dentry *debugfs_root;

/*
 * override_only: an entry matches only a device whose driver_override names
 * this driver. There is no MODULE_DEVICE_TABLE, on purpose: its aliases for
 * override-only entries say "vfio_pci:", and tools that look for a VFIO driver
 * of a device would pick this one.
 */
#define HCA(device_id) \
	{ PCI_DEVICE_DRIVER_OVERRIDE(PCI_VENDOR_ID_MELLANOX, device_id, true) }
/* A guest that was given one cannot tell it from a physical function otherwise. */
#define VIRTUAL(device_id)							\
	{ PCI_DEVICE_DRIVER_OVERRIDE(PCI_VENDOR_ID_MELLANOX, device_id, true),	\
	  .driver_data = IS_VIRTUAL }

static const struct pci_device_id cxib_ids[] = {
	HCA(0x1013), /* ConnectX-4 */
	VIRTUAL(0x1014), /* ConnectX-4 VF */
	HCA(0x1017), /* ConnectX-5 */
	VIRTUAL(0x1018), /* ConnectX-5 VF */
	HCA(0x1019), /* ConnectX-5 Ex */
	VIRTUAL(0x101a), /* ConnectX-5 Ex VF */
	HCA(0x101b), /* ConnectX-6 */
	VIRTUAL(0x101c), /* ConnectX-6 VF */
	VIRTUAL(0x101e), /* ConnectX-7 VF */
	HCA(0x1021), /* ConnectX-7 */
	{}
};

/*
 * driver_override hands us any device. One that is not in the table arrives
 * with the PCI core's wildcard entry; reading its BAR might have effects that
 * nobody knows. An id written to new_id is a decision and arrives as itself.
 */
static int cxib_check_id(struct pci_dev *pdev, const struct pci_device_id *id)
{
	if (id->device != PCI_ANY_ID)
		return 0;

	dev_err(&pdev->dev,
		"%04x:%04x is no ConnectX-4, -5, -6 or -7 in InfiniBand mode; clear its driver_override, or write its id to this driver's new_id to use it all the same\n",
		pdev->vendor, pdev->device);
	return -ENODEV;
}

static int cxib_check_bar(struct pci_dev *pdev)
{
	resource_size_t length = pci_resource_len(pdev, DEVICE_BAR);

	if (!(pci_resource_flags(pdev, DEVICE_BAR) & IORESOURCE_MEM)) {
		dev_err(&pdev->dev,
			"BAR %d is not memory (resource flags 0x%lx), so it holds no init segment; the device is no ConnectX HCA, or the platform gave it no address space\n",
			DEVICE_BAR, pci_resource_flags(pdev, DEVICE_BAR));
		return -ENODEV;
	}
	if (length < CXIB_INIT_SEGMENT_SIZE) {
		dev_err(&pdev->dev,
			"BAR %d has %pa bytes, the init segment alone needs 0x%zx; the device is no ConnectX HCA\n",
			DEVICE_BAR, &length, CXIB_INIT_SEGMENT_SIZE);
		return -ENODEV;
	}
	return 0;
}

static int cxib_set_dma_limits(struct pci_dev *pdev)
{
	int err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));

	if (err) {
		dev_err(&pdev->dev, "the platform offers no 64-bit DMA: error %d\n", err);
		return err;
	}
	/* One data segment of a work request covers at most 2 GiB. */
	dma_set_max_seg_size(&pdev->dev, SZ_2G);
	return 0;
}

static int cxib_map(struct cxib_device *device)
{
	struct pci_dev *pdev = device->pdev;
	int err;

	err = pci_enable_device_mem(pdev);
	if (err) {
		dev_err(&pdev->dev, "cannot enable the PCI device: error %d\n", err);
		return err;
	}
	err = cxib_set_dma_limits(pdev);
	if (err)
		goto disable_device;

	err = pci_request_region(pdev, DEVICE_BAR, KBUILD_MODNAME);
	if (err) {
		dev_err(&pdev->dev,
			"BAR %d (%pR) is in use by somebody else, error %d; /proc/iomem tells by whom\n",
			DEVICE_BAR, &pdev->resource[DEVICE_BAR], err);
		goto disable_device;
	}

	device->bar = pci_iomap(pdev, DEVICE_BAR, 0);
	if (!device->bar) {
		dev_err(&pdev->dev, "cannot map BAR %d (%pR)\n", DEVICE_BAR,
			&pdev->resource[DEVICE_BAR]);
		err = -ENOMEM;
		goto release_region;
	}
	return 0;

release_region:
	pci_release_region(pdev, DEVICE_BAR);
disable_device:
	pci_disable_device(pdev);
	return err;
}

static void cxib_unmap(struct cxib_device *device)
{
	pci_iounmap(device->pdev, device->bar);
	pci_release_region(device->pdev, DEVICE_BAR);
	pci_disable_device(device->pdev);
}

static int cxib_start(struct cxib_device *device)
{
	int err = cxib_map(device);

	if (err)
		return err;
	cxib_bus_pci_init(&device->bus, device->pdev, device->bar, device->is_virtual);
	device->hw.bus = &device->bus.bus;
	device->hw.debugfs_root = debugfs_root;
	err = cxib_hw_bring_up(&device->hw);
	if (err)
		goto unmap;
	device->verbs = cxib_verbs_register(&device->hw, &cxib_user_ops, cxib_user_definitions);
	if (IS_ERR(device->verbs)) {
		err = PTR_ERR(device->verbs);
		goto tear_down;
	}
	return 0;

tear_down:
	cxib_hw_tear_down(&device->hw);
unmap:
	cxib_unmap(device);
	return err;
}

static void cxib_stop(struct cxib_device *device)
{
	cxib_verbs_unregister(device->verbs);
	cxib_hw_tear_down(&device->hw);
	cxib_unmap(device);
}

static int cxib_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct cxib_device *device;
	int err;

	err = cxib_check_id(pdev, id);
	if (err)
		return err;
	err = cxib_check_bar(pdev);
	if (err)
		return err;

	device = kzalloc(sizeof(*device), GFP_KERNEL);
	if (!device)
		return -ENOMEM;
	device->pdev = pdev;
	device->is_virtual = pdev->is_virtfn || id->driver_data == IS_VIRTUAL;

	err = cxib_start(device);
	if (err) {
		kfree(device);
		return err;
	}
	pci_set_drvdata(pdev, device);
	return 0;
}

/* After a shutdown nothing is left to remove. */
static void cxib_remove(struct pci_dev *pdev)
{
	struct cxib_device *device = pci_get_drvdata(pdev);

	if (!device)
		return;
	cxib_stop(device);
	pci_set_drvdata(pdev, NULL);
	kfree(device);
}

static struct pci_driver cxib_driver = {
	.name = KBUILD_MODNAME,
	.id_table = cxib_ids,
	.probe = cxib_probe,
	.remove = cxib_remove,
	/* The next kernel must not find a device that writes to the memory of this one. */
	.shutdown = cxib_remove,
};

static int __init cxib_init(void)
{
	int err;

	debugfs_root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	err = pci_register_driver(&cxib_driver);
	if (err)
		debugfs_remove(debugfs_root);
	return err;
}

static void __exit cxib_exit(void)
{
	pci_unregister_driver(&cxib_driver);
	debugfs_remove(debugfs_root);
}

module_init(cxib_init);
module_exit(cxib_exit);

MODULE_DESCRIPTION("ConnectX-4 to ConnectX-7 InfiniBand host channel adapters");
MODULE_LICENSE("GPL");
