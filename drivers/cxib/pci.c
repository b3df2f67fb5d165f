// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PCI driver: which devices are ours, probe, remove, resets, errors of the bus.
 *
 * A device is never taken unasked. The in-tree driver serves the same ids, so
 * a device comes here only when an administrator has written "cxib" to its
 * driver_override, or its id to new_id.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/xarray.h>

#include "device.h"

#define DEVICE_BAR	0

/* In the table of ids: a virtual function. */
#define IS_VIRTUAL	1

/*
 * Functions that have no driver now and must be reset before they get access to
 * memory again. There is a place for each that is bound, so that nothing can
 * fail when its reset does.
 */
static DEFINE_XARRAY(unclean_functions);

/* Has a directory for each device, and what holds for all of them. */
static struct dentry *debugfs_root;

/* The time that firmware may take for a command, of devices that are started from now on. */
static u32 command_timeout_ms = CXIB_COMMAND_TIMEOUT_MS;

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

static unsigned long cxib_name_of(struct pci_dev *pdev)
{
	return (unsigned long)pci_domain_nr(pdev->bus) << 16 | pci_dev_id(pdev);
}

/* For the next probe of the function. */
static void cxib_remember(const struct cxib_device *device)
{
	unsigned long name = cxib_name_of(device->pdev);

	if (device->is_unclean)
		xa_store(&unclean_functions, name, xa_mk_value(1), GFP_KERNEL);
	else
		xa_erase(&unclean_functions, name);
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

	device = cxib_device_alloc(pdev);
	if (!device || xa_reserve(&unclean_functions, cxib_name_of(pdev), GFP_KERNEL)) {
		dev_err(&pdev->dev, "no memory for the books of the device\n");
		if (device)
			cxib_device_free(device);
		return -ENOMEM;
	}
	device->is_unclean = xa_load(&unclean_functions, cxib_name_of(pdev));
	device->is_virtual = pdev->is_virtfn || id->driver_data == IS_VIRTUAL;
	device->debugfs_root = debugfs_root;
	device->command_timeout_ms = &command_timeout_ms;
	INIT_DELAYED_WORK(&device->recovery, cxib_device_recovery_fn);

	err = cxib_device_start(device);
	if (err)
		goto free_device;
	err = cxib_device_register(device);
	if (err)
		goto stop_device;
	pci_set_drvdata(pdev, device);
	return 0;

stop_device:
	cxib_device_stop(device);
free_device:
	cancel_delayed_work_sync(&device->recovery);
	cxib_remember(device);
	cxib_device_free(device);
	return err;
}

static void cxib_remove(struct pci_dev *pdev)
{
	struct cxib_device *device = pci_get_drvdata(pdev);

	pci_set_drvdata(pdev, NULL);
	cxib_device_unregister(device);
	cxib_device_stop(device);
	/* It finds nothing to recover; and it never waits for this thread's lock. */
	cancel_delayed_work_sync(&device->recovery);
	cxib_remember(device);
	cxib_device_free(device);
}

/* The next kernel must not find a device that writes to the memory of this one. */
static void cxib_shutdown(struct pci_dev *pdev)
{
	cxib_device_shut_down(pci_get_drvdata(pdev));
}

/* The functions below are called with the device locked, as probe, remove and shutdown are. */

static void cxib_reset_prepare(struct pci_dev *pdev)
{
	struct cxib_device *device = pci_get_drvdata(pdev);

	if (device && !device->bus.resetting)
		cxib_device_stop(device);
}

static void cxib_reset_done(struct pci_dev *pdev)
{
	struct cxib_device *device = pci_get_drvdata(pdev);

	if (device && !device->bus.resetting)
		cxib_device_restart(device);
}

static pci_ers_result_t cxib_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct cxib_device *device = pci_get_drvdata(pdev);

	if (!device)
		return PCI_ERS_RESULT_DISCONNECT;
	if (device->is_up)
		cxib_health_set_fatal(&device->hw.health, "the PCI bus reports an error");
	cxib_device_stop(device);
	return state == pci_channel_io_perm_failure ? PCI_ERS_RESULT_DISCONNECT :
						      PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t cxib_slot_reset(struct pci_dev *pdev)
{
	pci_restore_state(pdev);
	pci_save_state(pdev);
	return PCI_ERS_RESULT_RECOVERED;
}

static void cxib_resume(struct pci_dev *pdev)
{
	struct cxib_device *device = pci_get_drvdata(pdev);

	if (device)
		cxib_device_restart(device);
}

static const struct pci_error_handlers cxib_error_handlers = {
	.error_detected = cxib_error_detected,
	.slot_reset = cxib_slot_reset,
	.resume = cxib_resume,
	.reset_prepare = cxib_reset_prepare,
	.reset_done = cxib_reset_done,
};

static struct pci_driver cxib_driver = {
	.name = KBUILD_MODNAME,
	.id_table = cxib_ids,
	.probe = cxib_probe,
	.remove = cxib_remove,
	.shutdown = cxib_shutdown,
	.err_handler = &cxib_error_handlers,
};

static int __init cxib_init(void)
{
	int err;

	debugfs_root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_u32("command_timeout_ms", 0600, debugfs_root, &command_timeout_ms);
	err = pci_register_driver(&cxib_driver);
	if (err)
		debugfs_remove(debugfs_root);
	return err;
}

static void __exit cxib_exit(void)
{
	pci_unregister_driver(&cxib_driver);
	debugfs_remove(debugfs_root);
	xa_destroy(&unclean_functions);
}

module_init(cxib_init);
module_exit(cxib_exit);

MODULE_DESCRIPTION("ConnectX-4 to ConnectX-7 InfiniBand host channel adapters");
MODULE_LICENSE("GPL");
