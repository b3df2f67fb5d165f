// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PCI driver: device ids, probe, remove, resets, bus errors.
 *
 * The in-tree driver serves the same ids, so no device is bound automatically. The PCI core calls
 * probe only when an administrator has written "cxib" to the driver_override of the device, or
 * its id to new_id.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/xarray.h>

#include "device.h"
#include "verbs/odp/odp.h"
#include "verbs/qp/pipelining.h"

#define DEVICE_BAR	0

/* driver_data of the ids of VFs. */
#define IS_VIRTUAL	1

/*
 * Unbound functions whose reset has failed: the next probe must reset them before it sets bus
 * mastering. Probe reserves an entry for each function, so that remove need not allocate an entry.
 */
static DEFINE_XARRAY(unclean_functions);

/* Parent of the debugfs directories of devices; contains the settings for all devices. */
static struct dentry *debugfs_root;

/* Command timeout of devices that the driver starts after a change of this setting. */
static u32 command_timeout_ms = CXIB_COMMAND_TIMEOUT_MS;

/*
 * override_only: an entry matches only a device whose driver_override names this driver. There is
 * no MODULE_DEVICE_TABLE, because aliases of override-only entries begin with "vfio_pci:", and
 * tools that search for the VFIO driver of a device would select this driver.
 */
#define HCA(device_id) \
	{ PCI_DEVICE_DRIVER_OVERRIDE(PCI_VENDOR_ID_MELLANOX, device_id, true) }
/* is_virtfn is not set in a guest, so the driver detects a VF by its id. */
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
 * driver_override matches any device. For a device that is not in the table, the PCI core passes
 * its own wildcard entry; the driver refuses it, because reading the BAR of an unknown device may
 * have side effects. An id that an administrator has written to new_id is an explicit choice, and
 * the PCI core passes that id.
 */
static int cxib_check_id(struct pci_dev *pdev, const struct pci_device_id *id)
{
	if (id->device != PCI_ANY_ID)
		return 0;

	dev_err(&pdev->dev,
		"device id %04x:%04x not supported (ConnectX-4 to ConnectX-7 in InfiniBand mode)\n",
		pdev->vendor, pdev->device);
	return -ENODEV;
}

static int cxib_check_bar(struct pci_dev *pdev)
{
	resource_size_t length = pci_resource_len(pdev, DEVICE_BAR);

	if (!(pci_resource_flags(pdev, DEVICE_BAR) & IORESOURCE_MEM)) {
		dev_err(&pdev->dev, "BAR %d is not memory: resource flags 0x%lx\n", DEVICE_BAR,
			pci_resource_flags(pdev, DEVICE_BAR));
		return -ENODEV;
	}
	if (length < CXIB_INIT_SEGMENT_SIZE) {
		dev_err(&pdev->dev, "BAR %d too small: %pa bytes (init segment 0x%zx)\n",
			DEVICE_BAR, &length, CXIB_INIT_SEGMENT_SIZE);
		return -ENODEV;
	}
	return 0;
}

static unsigned long cxib_function_key(struct pci_dev *pdev)
{
	return (unsigned long)pci_domain_nr(pdev->bus) << 16 | pci_dev_id(pdev);
}

/* The next probe of the function reads the entry. */
static void cxib_save_unclean(const struct cxib_device *device)
{
	unsigned long key = cxib_function_key(device->pdev);

	if (device->is_unclean)
		xa_store(&unclean_functions, key, xa_mk_value(1), GFP_KERNEL);
	else
		xa_erase(&unclean_functions, key);
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
	if (!device || xa_reserve(&unclean_functions, cxib_function_key(pdev), GFP_KERNEL)) {
		dev_err(&pdev->dev, "cannot allocate device\n");
		if (device)
			cxib_device_free(device);
		return -ENOMEM;
	}
	device->is_unclean = xa_load(&unclean_functions, cxib_function_key(pdev));
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
	cxib_save_unclean(device);
	cxib_device_free(device);
	return err;
}

static void cxib_remove(struct pci_dev *pdev)
{
	struct cxib_device *device = pci_get_drvdata(pdev);

	pci_set_drvdata(pdev, NULL);
	cxib_device_unregister(device);
	cxib_device_stop(device);
	/*
	 * This thread holds the device lock, which the work only tries to take, so there is no
	 * deadlock.
	 */
	cancel_delayed_work_sync(&device->recovery);
	cxib_save_unclean(device);
	cxib_device_free(device);
}

/* After kexec the device must not DMA to addresses of this kernel. */
static void cxib_shutdown(struct pci_dev *pdev)
{
	cxib_device_shut_down(pci_get_drvdata(pdev));
}

/* The PCI core holds the device lock here, as for probe, remove and shutdown. */

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
		cxib_health_set_fatal(&device->hw.health, "PCI channel error");
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
	debugfs_create_bool("signature_pipelining", 0600, debugfs_root,
			    &cxib_pipelining_is_offered);
	err = pci_register_driver(&cxib_driver);
	if (err)
		debugfs_remove(debugfs_root);
	return err;
}

static void __exit cxib_exit(void)
{
	pci_unregister_driver(&cxib_driver);
	cxib_odp_exit();
	debugfs_remove(debugfs_root);
	xa_destroy(&unclean_functions);
}

module_init(cxib_init);
module_exit(cxib_exit);

MODULE_DESCRIPTION("ConnectX-4 to ConnectX-7 InfiniBand host channel adapters");
MODULE_LICENSE("GPL");
