// SPDX-License-Identifier: GPL-2.0-only
/* What devlink shows of a device's health, and how it has the device recovered. */
#include <linux/pci.h>
#include <net/devlink.h>

#include "device.h"
#include "hw/names.h"

/* A device that fails again so soon is not recovered by itself; devlink can change it. */
#define GRACE_MS	60000

static void show_firmware(struct devlink_fmsg *fmsg, const struct cxib_init_segment *firmware)
{
	char text[32];

	snprintf(text, sizeof(text), "%u.%u.%04u", firmware->firmware_major,
		 firmware->firmware_minor, firmware->firmware_subminor);
	devlink_fmsg_string_pair_put(fmsg, "firmware", text);
}

static int diagnose(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg,
		    struct netlink_ext_ack *extack)
{
	struct cxib_device *device = devlink_health_reporter_priv(reporter);
	const struct cxib_health *health = &device->hw.health;

	devlink_fmsg_bool_pair_put(fmsg, "up", device->is_up);
	devlink_fmsg_bool_pair_put(fmsg, "given up", cxib_health_is_broken(health));
	show_firmware(fmsg, &device->hw.firmware);
	devlink_fmsg_string_pair_put(fmsg, "syndrome", health->syndrome ?
				     hw_health_syndrome_name(health->syndrome) : "none");
	devlink_fmsg_u32_pair_put(fmsg, "health counter", health->counter);
	devlink_fmsg_u32_pair_put(fmsg, "counter stood still", health->still);
	return 0;
}

static int dump(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg,
		void *context, struct netlink_ext_ack *extack)
{
	struct cxib_device *device = devlink_health_reporter_priv(reporter);
	const struct cxib_hw *hw = &device->hw;

	devlink_fmsg_u32_pair_put(fmsg, "commands issued", hw->commands.issued);
	devlink_fmsg_u32_pair_put(fmsg, "late answers", hw->commands.late_answers);
	devlink_fmsg_u32_pair_put(fmsg, "firmware pages", hw->pages.count);
	devlink_fmsg_u32_pair_put(fmsg, "unknown events", atomic64_read(&hw->sink.unknown));
	return diagnose(reporter, fmsg, extack);
}

/* With a context the device is locked already, and the driver itself wants it. */
static int recover(struct devlink_health_reporter *reporter, void *context,
		   struct netlink_ext_ack *extack)
{
	struct cxib_device *device = devlink_health_reporter_priv(reporter);
	int err;

	if (context)
		return cxib_device_restart(device);
	if (!device_trylock(&device->pdev->dev)) {
		NL_SET_ERR_MSG(extack, "the device is being bound, reset or removed; try again");
		return -EBUSY;
	}
	err = cxib_device_restart(device);
	device_unlock(&device->pdev->dev);
	return err;
}

static const struct devlink_health_reporter_ops reporter_ops = {
	.name = "device",
	.recover = recover,
	.diagnose = diagnose,
	.dump = dump,
};

/**
 * cxib_device_tell_recovered() - devlink is told what it has not done itself
 * @device: a device that has recovered after recovery had failed
 */
void cxib_device_tell_recovered(struct cxib_device *device)
{
	devlink_health_reporter_state_update(device->reporter,
					     DEVLINK_HEALTH_REPORTER_STATE_HEALTHY);
}

static const struct devlink_ops devlink_ops = {};

/**
 * cxib_device_alloc() - makes the books of an HCA
 * @pdev: its PCI function
 *
 * Return: a device with nothing but @pdev, to be given to cxib_device_free();
 * NULL without memory.
 */
struct cxib_device *cxib_device_alloc(struct pci_dev *pdev)
{
	struct devlink *devlink = devlink_alloc(&devlink_ops, sizeof(struct cxib_device),
						&pdev->dev);
	struct cxib_device *device;

	if (!devlink)
		return NULL;
	device = devlink_priv(devlink);
	device->pdev = pdev;
	return device;
}

/**
 * cxib_device_free() - the reverse
 * @device: device that is not up, and not registered
 */
void cxib_device_free(struct cxib_device *device)
{
	devlink_free(priv_to_devlink(device));
}

/**
 * cxib_device_register() - shows a device in devlink
 * @device: device that is up
 *
 * Return: 0 or an error.
 */
int cxib_device_register(struct cxib_device *device)
{
	struct devlink *devlink = priv_to_devlink(device);

	device->reporter = devlink_health_reporter_create(devlink, &reporter_ops, GRACE_MS, device);
	if (IS_ERR(device->reporter)) {
		dev_err(&device->pdev->dev, "cannot make a health reporter: error %ld\n",
			PTR_ERR(device->reporter));
		return PTR_ERR(device->reporter);
	}
	devlink_register(devlink);
	return 0;
}

/**
 * cxib_device_unregister() - the reverse
 * @device: device that was registered
 *
 * Context: process context, may sleep; waits for a recovery that was asked for
 * through devlink.
 */
void cxib_device_unregister(struct cxib_device *device)
{
	devlink_unregister(priv_to_devlink(device));
	devlink_health_reporter_destroy(device->reporter);
}
