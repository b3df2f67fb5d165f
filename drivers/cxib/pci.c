// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PCI driver: which devices are ours, probe and remove.
 *
 * A device is never taken unasked. The in-tree driver serves the same ids, so
 * a device comes here only when an administrator has written "cxib" to its
 * driver_override, or its id to new_id.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "hw/init_segment.h"

#define INIT_SEGMENT_BAR	0

/* How often a slow firmware start is mentioned in the log. */
#define PROGRESS_MS		20000

/**
 * struct cxib_device - one HCA
 * @pdev: the PCI function
 * @init_segment: start of BAR 0, %CXIB_INIT_SEGMENT_SIZE bytes
 */
struct cxib_device {
	struct pci_dev *pdev;
	void __iomem *init_segment;
};

struct bar_reader {
	struct cxib_init_segment_reader reader;
	struct cxib_device *device;
};

/*
 * override_only: an entry matches only a device whose driver_override names
 * this driver. There is no MODULE_DEVICE_TABLE, on purpose: its aliases for
 * override-only entries say "vfio_pci:", and tools that look for a VFIO driver
 * of a device would pick this one.
 */
#define HCA(device_id) \
	{ PCI_DEVICE_DRIVER_OVERRIDE(PCI_VENDOR_ID_MELLANOX, device_id, true) }

static const struct pci_device_id cxib_ids[] = {
	HCA(0x1013), /* ConnectX-4 */
	HCA(0x1014), /* ConnectX-4 VF */
	HCA(0x1017), /* ConnectX-5 */
	HCA(0x1018), /* ConnectX-5 VF */
	HCA(0x1019), /* ConnectX-5 Ex */
	HCA(0x101a), /* ConnectX-5 Ex VF */
	HCA(0x101b), /* ConnectX-6 */
	HCA(0x101c), /* ConnectX-6 VF */
	HCA(0x101e), /* ConnectX-7 VF */
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
	resource_size_t length = pci_resource_len(pdev, INIT_SEGMENT_BAR);

	if (!(pci_resource_flags(pdev, INIT_SEGMENT_BAR) & IORESOURCE_MEM)) {
		dev_err(&pdev->dev,
			"BAR %d is not memory (resource flags 0x%lx), so it holds no init segment; the device is no ConnectX HCA, or the platform gave it no address space\n",
			INIT_SEGMENT_BAR, pci_resource_flags(pdev, INIT_SEGMENT_BAR));
		return -ENODEV;
	}
	if (length < CXIB_INIT_SEGMENT_SIZE) {
		dev_err(&pdev->dev,
			"BAR %d has %pa bytes, the init segment alone needs 0x%zx; the device is no ConnectX HCA\n",
			INIT_SEGMENT_BAR, &length, CXIB_INIT_SEGMENT_SIZE);
		return -ENODEV;
	}
	return 0;
}

static void bar_read(struct cxib_init_segment_reader *reader, struct hw_initial_seg *copy,
		     unsigned int first, unsigned int count)
{
	struct bar_reader *bar = container_of(reader, struct bar_reader, reader);
	void __iomem *words = bar->device->init_segment;
	unsigned int i;

	for (i = first; i < first + count; i++)
		copy->dw[i] = cpu_to_be32(ioread32be(words + i * sizeof(u32)));
}

static void bar_wait(struct cxib_init_segment_reader *reader,
		     unsigned int milliseconds, unsigned int waited)
{
	struct bar_reader *bar = container_of(reader, struct bar_reader, reader);

	if (waited && waited % PROGRESS_MS == 0)
		dev_info(&bar->device->pdev->dev,
			 "firmware is initializing, waited %u s of at most %u s\n",
			 waited / 1000, CXIB_FIRMWARE_READY_LIMIT_MS / 1000);
	msleep(milliseconds);
}

static int cxib_meet_firmware(struct cxib_device *device)
{
	struct bar_reader bar = {
		.reader = { .read = bar_read, .wait = bar_wait },
		.device = device,
	};
	struct device *dev = &device->pdev->dev;
	struct cxib_explanation explanation;
	struct cxib_init_segment segment;
	int err;

	err = cxib_init_segment_await(&bar.reader, &segment, &explanation);
	if (err) {
		dev_err(dev, "%s\n", explanation.text);
		return err;
	}

	dev_info(dev,
		 "firmware %u.%u.%u, command interface revision %u; holding the PCI resources only, this version registers no RDMA device\n",
		 segment.firmware_major, segment.firmware_minor, segment.firmware_subminor,
		 segment.command_revision);
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

	err = pci_request_region(pdev, INIT_SEGMENT_BAR, KBUILD_MODNAME);
	if (err) {
		dev_err(&pdev->dev,
			"BAR %d (%pR) is in use by somebody else, error %d; /proc/iomem tells by whom\n",
			INIT_SEGMENT_BAR, &pdev->resource[INIT_SEGMENT_BAR], err);
		goto disable_device;
	}

	device->init_segment = pci_iomap(pdev, INIT_SEGMENT_BAR, CXIB_INIT_SEGMENT_SIZE);
	if (!device->init_segment) {
		dev_err(&pdev->dev, "cannot map 0x%zx bytes of BAR %d (%pR)\n",
			CXIB_INIT_SEGMENT_SIZE, INIT_SEGMENT_BAR,
			&pdev->resource[INIT_SEGMENT_BAR]);
		err = -ENOMEM;
		goto release_region;
	}
	return 0;

release_region:
	pci_release_region(pdev, INIT_SEGMENT_BAR);
disable_device:
	pci_disable_device(pdev);
	return err;
}

static void cxib_unmap(struct cxib_device *device)
{
	pci_iounmap(device->pdev, device->init_segment);
	pci_release_region(device->pdev, INIT_SEGMENT_BAR);
	pci_disable_device(device->pdev);
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

	err = cxib_map(device);
	if (err)
		goto free_device;
	err = cxib_meet_firmware(device);
	if (err)
		goto unmap;

	pci_set_drvdata(pdev, device);
	return 0;

unmap:
	cxib_unmap(device);
free_device:
	kfree(device);
	return err;
}

static void cxib_remove(struct pci_dev *pdev)
{
	struct cxib_device *device = pci_get_drvdata(pdev);

	cxib_unmap(device);
	kfree(device);
}

static struct pci_driver cxib_driver = {
	.name = KBUILD_MODNAME,
	.id_table = cxib_ids,
	.probe = cxib_probe,
	.remove = cxib_remove,
};
module_pci_driver(cxib_driver);

MODULE_DESCRIPTION("ConnectX-4 to ConnectX-7 InfiniBand host channel adapters");
MODULE_LICENSE("GPL");
