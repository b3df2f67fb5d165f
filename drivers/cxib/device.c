// SPDX-License-Identifier: GPL-2.0-only
/*
 * An HCA from the PCI function to the RDMA device.
 *
 * A device that was given up is stopped and started again. Its users have let
 * go by then: they were told, and their requests were flushed.
 */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <net/devlink.h>

#include "device.h"
#include "user/user.h"
#include "verbs/verbs.h"

#define DEVICE_BAR	0

/* How often to look whether somebody else still binds, resets or removes the device. */
#define RETRY_MS	100

/* How often, and for how long, to look whether a device that is gone has come back. */
#define RETURN_PERIOD_MS	1000
#define RETURN_LIMIT_MS		60000

static int set_dma_limits(struct pci_dev *pdev)
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

static int map_bar(struct cxib_device *device)
{
	struct pci_dev *pdev = device->pdev;
	int err;

	err = pci_enable_device_mem(pdev);
	if (err) {
		dev_err(&pdev->dev, "cannot enable the PCI device: error %d\n", err);
		return err;
	}
	err = set_dma_limits(pdev);
	if (err)
		goto disable_device;

	err = pci_request_region(pdev, DEVICE_BAR, KBUILD_MODNAME);
	if (err) {
		dev_err(&pdev->dev,
			"BAR %d (%pR) is in use by somebody else, error %d; /proc/iomem tells by whom\n",
			DEVICE_BAR, &pdev->resource[DEVICE_BAR], err);
		goto disable_device;
	}

	/* No more: the kernel combines no writes to a page that it maps otherwise, too. */
	device->init_segment = pci_iomap(pdev, DEVICE_BAR, CXIB_INIT_SEGMENT_SIZE);
	if (!device->init_segment) {
		dev_err(&pdev->dev, "cannot map the init segment in BAR %d (%pR)\n", DEVICE_BAR,
			&pdev->resource[DEVICE_BAR]);
		err = -ENOMEM;
		goto release_region;
	}
	/* What the function has to be told again when the bus has reset it. */
	pci_save_state(pdev);
	return 0;

release_region:
	pci_release_region(pdev, DEVICE_BAR);
disable_device:
	pci_disable_device(pdev);
	return err;
}

static void unmap_bar(struct cxib_device *device)
{
	pci_iounmap(device->pdev, device->init_segment);
	pci_release_region(device->pdev, DEVICE_BAR);
	pci_disable_device(device->pdev);
}

/*
 * The device is stopped or restarted in its own time, not in that of the event.
 * Nor can devlink be told at once: it may just wait for what tells it.
 */
static void recover_or_report(struct cxib_hw *hw)
{
	struct cxib_device *device = container_of(hw, struct cxib_device, hw);

	schedule_delayed_work(&device->recovery, 0);
}

static void prepare(struct cxib_device *device)
{
	cxib_bus_pci_init(&device->bus, device->pdev, device->init_segment,
			  device->is_virtual);
	device->hw = (struct cxib_hw){
		.bus = &device->bus.bus,
		.debugfs_root = device->debugfs_root,
		.command_timeout_ms = READ_ONCE(*device->command_timeout_ms),
		.on_fatal = recover_or_report,
		.health_changed = recover_or_report,
		.is_unclean = device->is_unclean,
	};
}

/*
 * Drivers leave a function without bus mastering. One that has it was left
 * running, by a kernel that has crashed or by the firmware of the machine.
 */
static void notice_owner_before(struct cxib_device *device)
{
	u16 command;

	pci_read_config_word(device->pdev, PCI_COMMAND, &command);
	if (PCI_POSSIBLE_ERROR(command) || !(command & PCI_COMMAND_MASTER))
		return;
	pci_clear_master(device->pdev);
	device->is_unclean = true;
}

static void tear_down(struct cxib_device *device)
{
	cxib_hw_tear_down(&device->hw);
	device->is_unclean = device->hw.is_unclean;
}

/**
 * cxib_device_start() - from the PCI function to the RDMA device
 * @device: a device that is not up; its PCI function is locked
 *
 * Context: process context, may sleep, also for minutes.
 * Return: 0, or an error: then the kernel log says what failed.
 */
int cxib_device_start(struct cxib_device *device)
{
	int err;

	notice_owner_before(device);
	err = map_bar(device);
	if (err)
		return err;
	prepare(device);
	err = cxib_hw_bring_up(&device->hw);
	device->is_unclean = device->hw.is_unclean;
	if (err)
		goto unmap;
	device->ibdev = cxib_verbs_register(&device->hw, &cxib_user_interface);
	if (IS_ERR(device->ibdev)) {
		err = PTR_ERR(device->ibdev);
		goto tear_down;
	}
	device->is_up = true;
	device->is_gone = false;
	return 0;

tear_down:
	tear_down(device);
unmap:
	unmap_bar(device);
	return err;
}

/* What nobody sees need not be waited for. */
static void notice_absence(struct cxib_device *device)
{
	if (cxib_bus_read(device->hw.bus, 0) == CXIB_ALL_ONES)
		cxib_health_check(&device->hw.health);
}

/**
 * cxib_device_stop() - the reverse
 * @device: a device; nothing happens if it is not up. Its PCI function is locked.
 *
 * Context: process context, may sleep.
 */
void cxib_device_stop(struct cxib_device *device)
{
	if (!device->is_up)
		return;
	notice_absence(device);
	cxib_verbs_unregister(device->ibdev);
	tear_down(device);
	unmap_bar(device);
	device->is_up = false;
}

/**
 * cxib_device_shut_down() - stops a device before the kernel ends
 * @device: a device; its PCI function is locked
 *
 * Its users are not waited for: an upper layer may keep its connections for as
 * long as it likes. It is not recovered any more.
 *
 * Context: process context, may sleep.
 */
void cxib_device_shut_down(struct cxib_device *device)
{
	device->is_shut_down = true;
	if (device->is_up)
		cxib_hw_shut_down(&device->hw);
}

/* Looked for now and then, so that it can be removed meanwhile. */
static int wait_for_return(struct cxib_device *device)
{
	dev_err(&device->pdev->dev,
		"the device is gone; it is started if it comes back within %u s\n",
		RETURN_LIMIT_MS / 1000);
	device->is_gone = true;
	device->gone_until = jiffies + msecs_to_jiffies(RETURN_LIMIT_MS);
	schedule_delayed_work(&device->recovery, msecs_to_jiffies(RETURN_PERIOD_MS));
	return -ENODEV;
}

static int start_again(struct cxib_device *device)
{
	int err = cxib_device_start(device);

	if (err)
		dev_err(&device->pdev->dev,
			"the device is out of order: error %d; unbind it, repair it, bind it again\n",
			err);
	else
		dev_info(&device->pdev->dev, "the device has recovered\n");
	return err;
}

/**
 * cxib_device_restart() - stops a device and starts it again
 * @device: a device; its PCI function is locked
 *
 * Context: process context, may sleep, also for minutes.
 * Return: 0, -ENODEV when the function does not answer: then it is started if
 * it comes back soon, or the error of cxib_device_start(). It is not up then.
 * -ESHUTDOWN when the kernel ends: what was shut down stays as it is.
 */
int cxib_device_restart(struct cxib_device *device)
{
	if (device->is_shut_down)
		return -ESHUTDOWN;
	cxib_device_stop(device);
	if (!pci_device_is_present(device->pdev))
		return wait_for_return(device);
	return start_again(device);
}

/* It was not reset when it was stopped, and may know addresses from before. */
static void restart_returned(struct cxib_device *device)
{
	device->is_gone = false;
	device->is_unclean = true;
	pci_restore_state(device->pdev);
	if (!start_again(device))
		cxib_device_report_recovered(device);
}

static void poll_return(struct cxib_device *device)
{
	if (pci_device_is_present(device->pdev)) {
		restart_returned(device);
	} else if (time_before(jiffies, device->gone_until)) {
		schedule_delayed_work(&device->recovery, msecs_to_jiffies(RETURN_PERIOD_MS));
	} else {
		device->is_gone = false;
		dev_err(&device->pdev->dev,
			"the device has not come back; unbind it, or have devlink recover it when it is there\n");
	}
}

static void recover(struct cxib_device *device)
{
	if (cxib_device_report_fatal(device))
		dev_err(&device->pdev->dev,
			"the device is not recovered by itself; see devlink-health(8)\n");
}

/**
 * cxib_device_recovery_fn() - has a device that was given up recovered
 * @work: @recovery of the device
 *
 * Whoever removes the device waits for this, and has it locked.
 */
void cxib_device_recovery_fn(struct work_struct *work)
{
	struct cxib_device *device =
		container_of(to_delayed_work(work), struct cxib_device, recovery);
	struct device *dev = &device->pdev->dev;

	if (!device_trylock(dev)) {
		schedule_delayed_work(&device->recovery, msecs_to_jiffies(RETRY_MS));
		return;
	}
	if (device->is_shut_down)
		dev_dbg(dev, "not recovered, the machine shuts down\n");
	else if (device->is_gone)
		poll_return(device);
	else if (device->is_up && cxib_health_is_fatal(&device->hw.health))
		recover(device);
	else if (device->is_up)
		cxib_device_report_health(device);
	device_unlock(dev);
}
