// SPDX-License-Identifier: GPL-2.0-only
/*
 * One HCA, from its PCI function to its RDMA device.
 *
 * After a fatal error the driver stops and restarts the device. The stop waits until its users have
 * released it: they receive IB_EVENT_DEVICE_FATAL, and their WRs are flushed.
 */
#include <kunit/visibility.h>
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <net/devlink.h>

#include "device.h"
#include "hw/command_interface.h"
#include "ulp/functions.h"
#include "user/user.h"
#include "verbs/verbs.h"

#define DEVICE_BAR	0

/*
 * Retry period while bind, reset or remove holds the device lock, which takes from 100 ms to
 * minutes.
 */
#define RETRY_MS	100

/*
 * Poll period and time limit for the return of a removed function. A reset of a bridge or a restart
 * of firmware may take tens of seconds; an adapter that was pulled out does not return.
 */
#define RETURN_PERIOD_MS	1000
#define RETURN_LIMIT_MS		60000

static int adapter_set_dma_limits(struct pci_dev *pdev)
{
	int err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));

	if (err) {
		dev_err(&pdev->dev, "cannot set 64-bit DMA mask: error %d\n", err);
		return err;
	}
	/* One data segment of a WQE covers at most 2 GiB. */
	dma_set_max_seg_size(&pdev->dev, SZ_2G);
	return 0;
}

static int adapter_map_bar(struct cxib_device *device)
{
	struct pci_dev *pdev = device->pdev;
	int err;

	err = pci_enable_device_mem(pdev);
	if (err) {
		dev_err(&pdev->dev, "cannot enable PCI device: error %d\n", err);
		return err;
	}
	err = adapter_set_dma_limits(pdev);
	if (err)
		goto disable_device;

	err = pci_request_region(pdev, DEVICE_BAR, KBUILD_MODNAME);
	if (err) {
		dev_err(&pdev->dev, "BAR %d (%pR) in use: error %d\n", DEVICE_BAR,
			&pdev->resource[DEVICE_BAR], err);
		goto disable_device;
	}

	/*
	 * Maps the init segment only: a UAR page that is also mapped uncached cannot be mapped
	 * write-combining.
	 */
	device->init_segment = pci_iomap(pdev, DEVICE_BAR, CXIB_INIT_SEGMENT_SIZE);
	if (!device->init_segment) {
		dev_err(&pdev->dev, "cannot map init segment: BAR %d (%pR)\n", DEVICE_BAR,
			&pdev->resource[DEVICE_BAR]);
		err = -ENOMEM;
		goto release_region;
	}
	/* The state is restored after a bus reset, and when a removed function has returned. */
	pci_save_state(pdev);
	return 0;

release_region:
	pci_release_region(pdev, DEVICE_BAR);
disable_device:
	pci_disable_device(pdev);
	return err;
}

static void adapter_unmap_bar(struct cxib_device *device)
{
	pci_iounmap(device->pdev, device->init_segment);
	pci_release_region(device->pdev, DEVICE_BAR);
	pci_disable_device(device->pdev);
}

/*
 * The recovery work stops and restarts the device, because both take the device lock and sleep. It
 * also notifies devlink, because devlink may be waiting for the caller of this handler.
 */
static void adapter_recover_or_report(struct cxib_hw *hw)
{
	struct cxib_device *device = container_of(hw, struct cxib_device, hw);

	schedule_delayed_work(&device->recovery, 0);
}

static void adapter_init_hw(struct cxib_device *device)
{
	cxib_bus_pci_init(&device->bus, device->pdev, device->init_segment,
			  device->is_virtual);
	device->hw = (struct cxib_hw){
		.bus = &device->bus.bus,
		.debugfs_root = device->debugfs_root,
		.command_timeout_ms = READ_ONCE(*device->command_timeout_ms),
		.on_fatal = adapter_recover_or_report,
		.health_changed = adapter_recover_or_report,
		.is_unclean = device->is_unclean,
	};
}

/*
 * A driver clears bus mastering when it releases a function. If bus mastering is set at probe, a
 * crashed kernel or the platform firmware has left the function running.
 */
static void adapter_detect_left_running(struct cxib_device *device)
{
	u16 command;

	pci_read_config_word(device->pdev, PCI_COMMAND, &command);
	if (PCI_POSSIBLE_ERROR(command) || !(command & PCI_COMMAND_MASTER))
		return;
	pci_clear_master(device->pdev);
	device->is_unclean = true;
}

static void adapter_tear_down(struct cxib_device *device)
{
	cxib_hw_tear_down(&device->hw);
	device->is_unclean = device->hw.is_unclean;
}

/**
 * cxib_device_start() - starts an HCA and registers its RDMA device
 * @device: a device that is not up; the caller holds the lock of its PCI function
 *
 * Context: process context, may sleep for minutes.
 * Return: 0, or an error, whose cause is in the kernel log.
 */
int cxib_device_start(struct cxib_device *device)
{
	int err;

	adapter_detect_left_running(device);
	err = adapter_map_bar(device);
	if (err)
		return err;
	adapter_init_hw(device);
	err = cxib_hw_bring_up(&device->hw);
	device->is_unclean = device->hw.is_unclean;
	if (err)
		goto unmap;
	device->ibdev = cxib_verbs_register(&device->hw, &cxib_user_interface, &cxib_ulp_ops,
					    &cxib_poll_interface, &device->poll_policy);
	if (IS_ERR(device->ibdev)) {
		err = PTR_ERR(device->ibdev);
		goto tear_down;
	}
	device->is_up = true;
	return 0;

tear_down:
	adapter_tear_down(device);
unmap:
	adapter_unmap_bar(device);
	return err;
}

/*
 * A command to an absent function would wait for its timeout, so the device becomes fatal, and no
 * command is issued.
 */
static void adapter_check_presence(struct cxib_device *device)
{
	if (cxib_bus_read(device->hw.bus, HW_INITIAL_SEG_OFFSET_FW_REV_MAJOR) == CXIB_ALL_ONES)
		cxib_health_check(&device->hw.health);
}

/**
 * cxib_device_stop() - undo cxib_device_start()
 * @device: any device; no effect if it is not up; the caller holds the lock of its PCI function
 *
 * Context: process context, may sleep.
 */
void cxib_device_stop(struct cxib_device *device)
{
	if (!device->is_up)
		return;
	adapter_check_presence(device);
	cxib_verbs_unregister(device->ibdev);
	adapter_tear_down(device);
	adapter_unmap_bar(device);
	device->is_up = false;
}

/**
 * cxib_device_shut_down() - stops a device at system shutdown
 * @device: any device; the caller holds the lock of its PCI function
 *
 * Does not wait for users, because a ULP may keep its connections open indefinitely. The driver
 * does not recover the device afterwards.
 *
 * Context: process context, may sleep.
 */
void cxib_device_shut_down(struct cxib_device *device)
{
	device->is_shut_down = true;
	if (device->is_up)
		cxib_hw_shut_down(&device->hw);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_device_shut_down);

/*
 * The recovery work polls for the function, so that an administrator can unbind the device
 * meanwhile.
 */
static int adapter_wait_for_return(struct cxib_device *device)
{
	dev_err(&device->pdev->dev,
		"device lost: waiting up to %u s for its return\n",
		RETURN_LIMIT_MS / 1000);
	cxib_hw_state_raise(&device->bus.bus, CXIB_HW_GONE);
	device->gone_until = jiffies + msecs_to_jiffies(RETURN_LIMIT_MS);
	schedule_delayed_work(&device->recovery, msecs_to_jiffies(RETURN_PERIOD_MS));
	return -ENODEV;
}

static int adapter_start_and_log(struct cxib_device *device)
{
	int err = cxib_device_start(device);

	if (err)
		dev_err(&device->pdev->dev, "restart failed: error %d\n", err);
	else
		dev_info(&device->pdev->dev, "the device has recovered\n");
	return err;
}

/**
 * cxib_device_restart() - stops a device and starts it again
 * @device: any device; the caller holds the lock of its PCI function
 *
 * Context: process context, may sleep for minutes.
 * Return: 0, or
 *	-ESHUTDOWN after cxib_device_shut_down(): the device is left as it is,
 *	-ENODEV when the function is absent: the device is stopped, and the recovery work
 *	starts it if the function returns in time,
 *	the error of cxib_device_start(): the device is stopped.
 */
int cxib_device_restart(struct cxib_device *device)
{
	if (device->is_shut_down)
		return -ESHUTDOWN;
	cxib_device_stop(device);
	if (!pci_device_is_present(device->pdev))
		return adapter_wait_for_return(device);
	return adapter_start_and_log(device);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_device_restart);

/* The stop could not reset the absent function, which may still know stale DMA addresses. */
static void adapter_restart_returned(struct cxib_device *device)
{
	device->is_unclean = true;
	pci_restore_state(device->pdev);
	if (!adapter_start_and_log(device))
		cxib_device_report_recovered(device);
}

static void adapter_poll_return(struct cxib_device *device)
{
	if (pci_device_is_present(device->pdev)) {
		adapter_restart_returned(device);
	} else if (time_before(jiffies, device->gone_until)) {
		schedule_delayed_work(&device->recovery, msecs_to_jiffies(RETURN_PERIOD_MS));
	} else {
		WRITE_ONCE(device->bus.bus.state, CXIB_HW_DMA_OFF);
		dev_err(&device->pdev->dev, "device lost: did not return\n");
	}
}

static void adapter_recover(struct cxib_device *device)
{
	if (cxib_device_report_fatal(device))
		dev_err(&device->pdev->dev, "automatic recovery skipped or failed\n");
}

/**
 * cxib_device_recovery_fn() - recovers a device, or reports changes of its health
 * @work: @recovery of the device
 *
 * The work only tries to take the device lock, because remove holds the lock while it waits for the
 * work.
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
		dev_dbg(dev, "recovery skipped: system is shutting down\n");
	else if (cxib_hw_state(&device->bus.bus) == CXIB_HW_GONE)
		adapter_poll_return(device);
	else if (device->is_up && cxib_health_is_fatal(&device->hw.health))
		adapter_recover(device);
	else if (device->is_up)
		cxib_device_report_health(device);
	device_unlock(dev);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_device_recovery_fn);
