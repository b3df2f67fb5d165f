// SPDX-License-Identifier: GPL-2.0-only
/* The devlink health reporters of a device: diagnosis, dump, recovery, and reports to them. */
#include <linux/pci.h>
#include <net/devlink.h>

#include "device.h"
#include "hw/command_interface.h"
#include "hw/names.h"

/* Minimum time between two automatic recoveries; an administrator can change it through devlink. */
#define GRACE_MS	60000

static void reporter_show_firmware(struct devlink_fmsg *fmsg,
				   const struct cxib_init_segment *firmware)
{
	char text[32];

	snprintf(text, sizeof(text), "%u.%u.%04u", firmware->firmware_major,
		 firmware->firmware_minor, firmware->firmware_subminor);
	devlink_fmsg_string_pair_put(fmsg, "firmware", text);
}

static const char *reporter_syndrome_name(u8 syndrome)
{
	return syndrome ? hw_health_syndrome_name(syndrome) : "none";
}

static void reporter_show_commands(struct devlink_fmsg *fmsg,
				   const struct cxib_command_queue *commands)
{
	devlink_fmsg_u64_pair_put(fmsg, "commands issued", commands->issued);
	devlink_fmsg_u64_pair_put(fmsg, "late completions", commands->late_completions);
	devlink_fmsg_u64_pair_put(fmsg, "missed events", commands->missed_events);
}

static void reporter_show_slot(struct devlink_fmsg *fmsg, unsigned int number,
			       const struct cxib_slot_description *slot)
{
	devlink_fmsg_obj_nest_start(fmsg);
	devlink_fmsg_u32_pair_put(fmsg, "slot", number);
	devlink_fmsg_string_pair_put(fmsg, "state", slot->state);
	devlink_fmsg_string_pair_put(fmsg, "command", slot->command);
	devlink_fmsg_u32_pair_put(fmsg, "opcode", slot->opcode);
	devlink_fmsg_u32_pair_put(fmsg, "op_mod", slot->op_mod);
	devlink_fmsg_u32_pair_put(fmsg, "token", slot->token);
	devlink_fmsg_u64_pair_put(fmsg, "issued ms ago", slot->age_ms);
	devlink_fmsg_obj_nest_end(fmsg);
}

/* Shows the slots that hold a command. */
static void reporter_show_slots(struct devlink_fmsg *fmsg, struct cxib_command_queue *commands)
{
	struct cxib_slot_description slot;
	unsigned int i;

	devlink_fmsg_arr_pair_nest_start(fmsg, "slots");
	for (i = 0; i < commands->slot_count; i++) {
		cxib_command_queue_describe(commands, i, &slot);
		if (slot.command)
			reporter_show_slot(fmsg, i, &slot);
	}
	devlink_fmsg_arr_pair_nest_end(fmsg);
}

static void reporter_show_health_buffer(struct devlink_fmsg *fmsg, struct cxib_health *health)
{
	const char *severity = "not given";
	struct hw_health_buffer buffer;

	cxib_health_read(health, &buffer);
	devlink_fmsg_string_pair_put(fmsg, "syndrome",
				     reporter_syndrome_name(hw_health_buffer_get_synd(&buffer)));
	devlink_fmsg_u32_pair_put(fmsg, "extended syndrome",
				  hw_health_buffer_get_ext_synd(&buffer));
	devlink_fmsg_bool_pair_put(fmsg, "reset required", hw_health_buffer_get_rfr(&buffer));
	if (hw_health_buffer_get_valid(&buffer))
		severity = hw_health_severity_name(hw_health_buffer_get_severity(&buffer));
	devlink_fmsg_string_pair_put(fmsg, "severity", severity);
	devlink_fmsg_u32_pair_put(fmsg, "irisc index", hw_health_buffer_get_irisc_index(&buffer));
	devlink_fmsg_u32_pair_put(fmsg, "time", hw_health_buffer_get_time(&buffer));
	devlink_fmsg_u32_pair_put(fmsg, "hw id", hw_health_buffer_get_hw_id(&buffer));
	devlink_fmsg_u32_pair_put(fmsg, "assert exit ptr",
				  hw_health_buffer_get_assert_existptr(&buffer));
	devlink_fmsg_u32_pair_put(fmsg, "assert callra",
				  hw_health_buffer_get_assert_callra(&buffer));
}

static int reporter_diagnose_device(struct devlink_health_reporter *reporter,
				    struct devlink_fmsg *fmsg, struct netlink_ext_ack *extack)
{
	struct cxib_device *device = devlink_health_reporter_priv(reporter);
	const struct cxib_health *health = &device->hw.health;

	devlink_fmsg_bool_pair_put(fmsg, "up", device->is_up);
	devlink_fmsg_bool_pair_put(fmsg, "fatal", cxib_health_is_fatal(health));
	reporter_show_firmware(fmsg, &device->hw.firmware);
	devlink_fmsg_string_pair_put(fmsg, "syndrome", reporter_syndrome_name(health->syndrome));
	devlink_fmsg_u32_pair_put(fmsg, "health counter", health->counter);
	devlink_fmsg_u32_pair_put(fmsg, "health counter stalls", health->stalls);
	return 0;
}

static int reporter_diagnose_firmware(struct devlink_health_reporter *reporter,
				      struct devlink_fmsg *fmsg, struct netlink_ext_ack *extack)
{
	struct cxib_device *device = devlink_health_reporter_priv(reporter);
	const struct cxib_health *health = &device->hw.health;

	reporter_show_firmware(fmsg, &device->hw.firmware);
	devlink_fmsg_string_pair_put(fmsg, "syndrome", reporter_syndrome_name(health->syndrome));
	devlink_fmsg_string_pair_put(fmsg, "health syndrome",
				     reporter_syndrome_name(health->health_syndrome));
	return 0;
}

static int reporter_diagnose_commands(struct devlink_health_reporter *reporter,
				      struct devlink_fmsg *fmsg, struct netlink_ext_ack *extack)
{
	struct cxib_device *device = devlink_health_reporter_priv(reporter);

	reporter_show_commands(fmsg, &device->hw.commands);
	devlink_fmsg_u32_pair_put(fmsg, "timed out", device->hw.health.timed_out);
	return 0;
}

/*
 * If @context is not NULL, the caller is the driver itself and holds the device lock. A device that
 * is not up has nothing to dump, because its registers are not mapped.
 */
static int reporter_dump_locked(struct cxib_device *device, struct devlink_fmsg *fmsg,
				void *context, struct netlink_ext_ack *extack,
				void (*show)(struct devlink_fmsg *fmsg, struct cxib_hw *hw))
{
	if (!context && !device_trylock(&device->pdev->dev)) {
		NL_SET_ERR_MSG(extack, "device is being bound, reset or removed");
		return -EBUSY;
	}
	if (device->is_up)
		show(fmsg, &device->hw);
	if (!context)
		device_unlock(&device->pdev->dev);
	return 0;
}

static void reporter_show_all(struct devlink_fmsg *fmsg, struct cxib_hw *hw)
{
	devlink_fmsg_bool_pair_put(fmsg, "fatal", cxib_health_is_fatal(&hw->health));
	reporter_show_firmware(fmsg, &hw->firmware);
	devlink_fmsg_u32_pair_put(fmsg, "health counter", hw->health.counter);
	devlink_fmsg_u32_pair_put(fmsg, "health counter stalls", hw->health.stalls);
	reporter_show_health_buffer(fmsg, &hw->health);
	devlink_fmsg_u32_pair_put(fmsg, "firmware pages", hw->pages.count);
	devlink_fmsg_u64_pair_put(fmsg, "unknown events", atomic64_read(&hw->sink.unknown));
	reporter_show_commands(fmsg, &hw->commands);
	reporter_show_slots(fmsg, &hw->commands);
}

static int reporter_dump_device(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg,
				void *context, struct netlink_ext_ack *extack)
{
	return reporter_dump_locked(devlink_health_reporter_priv(reporter), fmsg, context, extack,
				    reporter_show_all);
}

static void reporter_show_report(struct devlink_fmsg *fmsg, struct cxib_hw *hw)
{
	reporter_show_firmware(fmsg, &hw->firmware);
	reporter_show_health_buffer(fmsg, &hw->health);
}

static int reporter_dump_firmware(struct devlink_health_reporter *reporter,
				  struct devlink_fmsg *fmsg, void *context,
				  struct netlink_ext_ack *extack)
{
	return reporter_dump_locked(devlink_health_reporter_priv(reporter), fmsg, context, extack,
				    reporter_show_report);
}

static void reporter_show_queue(struct devlink_fmsg *fmsg, struct cxib_hw *hw)
{
	reporter_show_commands(fmsg, &hw->commands);
	reporter_show_slots(fmsg, &hw->commands);
}

static int reporter_dump_commands(struct devlink_health_reporter *reporter,
				  struct devlink_fmsg *fmsg, void *context,
				  struct netlink_ext_ack *extack)
{
	return reporter_dump_locked(devlink_health_reporter_priv(reporter), fmsg, context, extack,
				    reporter_show_queue);
}

/* If @context is not NULL, the caller is the driver itself and holds the device lock. */
static int reporter_recover(struct devlink_health_reporter *reporter, void *context,
			    struct netlink_ext_ack *extack)
{
	struct cxib_device *device = devlink_health_reporter_priv(reporter);
	int err;

	if (context)
		return cxib_device_restart(device);
	if (!device_trylock(&device->pdev->dev)) {
		NL_SET_ERR_MSG(extack, "device is being bound, reset or removed");
		return -EBUSY;
	}
	err = cxib_device_restart(device);
	device_unlock(&device->pdev->dev);
	return err;
}

/* Fatal errors, recovered by a restart. */
static const struct devlink_health_reporter_ops device_reporter = {
	.name = "device",
	.recover = reporter_recover,
	.diagnose = reporter_diagnose_device,
	.dump = reporter_dump_device,
#ifndef CXIB_LACKS_DEFAULT_GRACEFUL_PERIOD
	.default_graceful_period = GRACE_MS,
#endif
};

/* Non-fatal faults that firmware reports. */
static const struct devlink_health_reporter_ops firmware_reporter = {
	.name = "firmware",
	.diagnose = reporter_diagnose_firmware,
	.dump = reporter_dump_firmware,
};

/* Commands that time out while other commands complete. */
static const struct devlink_health_reporter_ops commands_reporter = {
	.name = "commands",
	.diagnose = reporter_diagnose_commands,
	.dump = reporter_dump_commands,
};

static const struct devlink_health_reporter_ops *const reporters[] = {
	[CXIB_REPORTER_DEVICE] = &device_reporter,
	[CXIB_REPORTER_FIRMWARE] = &firmware_reporter,
	[CXIB_REPORTER_COMMANDS] = &commands_reporter,
};

static const struct devlink_ops devlink_ops = {};

/**
 * cxib_device_alloc() - allocates an HCA and its devlink instance
 * @pdev: its PCI function
 *
 * Return: a zeroed device with @pdev set, freed by cxib_device_free(); NULL without memory.
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
	cxib_poll_policy_init(&device->poll_policy);
	return device;
}

/**
 * cxib_device_free() - undo cxib_device_alloc()
 * @device: a device that is neither up nor registered
 */
void cxib_device_free(struct cxib_device *device)
{
	mutex_destroy(&device->poll_policy.lock);
	devlink_free(priv_to_devlink(device));
}

static void reporter_destroy(struct cxib_device *device)
{
	unsigned int i;

	for (i = 0; i < CXIB_REPORTERS && device->reporters[i]; i++)
		devlink_health_reporter_destroy(device->reporters[i]);
}

static struct devlink_health_reporter *
reporter_create(struct devlink *devlink, const struct devlink_health_reporter_ops *ops,
		struct cxib_device *device)
{
#ifdef CXIB_LACKS_DEFAULT_GRACEFUL_PERIOD
	/* Only reporters that recover have a grace period. */
	return devlink_health_reporter_create(devlink, ops, ops->recover ? GRACE_MS : 0, device);
#else
	return devlink_health_reporter_create(devlink, ops, device);
#endif
}

static int reporter_create_reporters(struct cxib_device *device)
{
	struct devlink *devlink = priv_to_devlink(device);
	struct devlink_health_reporter *reporter;
	unsigned int i;

	for (i = 0; i < CXIB_REPORTERS; i++) {
		reporter = reporter_create(devlink, reporters[i], device);
		if (IS_ERR(reporter)) {
			dev_err(&device->pdev->dev, "cannot create health reporter: error %ld\n",
				PTR_ERR(reporter));
			reporter_destroy(device);
			return PTR_ERR(reporter);
		}
		device->reporters[i] = reporter;
	}
	return 0;
}

/**
 * cxib_device_register() - registers a device, its parameters and health reporters with devlink
 * @device: a device that is up
 *
 * Return: 0, or the error of devlink_params_register() or devlink_health_reporter_create().
 */
int cxib_device_register(struct cxib_device *device)
{
	int err = cxib_device_register_params(device);

	if (err) {
		dev_err(&device->pdev->dev, "cannot register devlink parameters: error %d\n", err);
		return err;
	}
	err = reporter_create_reporters(device);
	if (err) {
		cxib_device_unregister_params(device);
		return err;
	}
	devlink_register(priv_to_devlink(device));
	return 0;
}

/**
 * cxib_device_unregister() - undo cxib_device_register()
 * @device: a registered device
 *
 * Context: process context, may sleep; waits for a recovery requested through devlink.
 */
void cxib_device_unregister(struct cxib_device *device)
{
	devlink_unregister(priv_to_devlink(device));
	reporter_destroy(device);
	cxib_device_unregister_params(device);
}

static void reporter_set_healthy(struct cxib_device *device, enum cxib_reporter reporter)
{
	devlink_health_reporter_state_update(device->reporters[reporter],
					     DEVLINK_HEALTH_REPORTER_STATE_HEALTHY);
}

/**
 * cxib_device_report_recovered() - sets the device reporter healthy
 * @device: a device that the driver has restarted after the recovery by devlink had failed
 *
 * Context: process context, may sleep.
 */
void cxib_device_report_recovered(struct cxib_device *device)
{
	reporter_set_healthy(device, CXIB_REPORTER_DEVICE);
}

/**
 * cxib_device_report_fatal() - reports a fatal error to devlink, which recovers the device
 * @device: the device; the caller holds the lock of its PCI function
 *
 * Context: process context, may sleep.
 * Return: 0 when the device has recovered, or the error of devlink_health_report().
 */
int cxib_device_report_fatal(struct cxib_device *device)
{
	return devlink_health_report(device->reporters[CXIB_REPORTER_DEVICE],
				     "fatal error", device);
}

static void reporter_report_syndrome(struct cxib_device *device)
{
	u8 syndrome = READ_ONCE(device->hw.health.syndrome);

	if (syndrome && syndrome != device->reported.syndrome)
		devlink_health_report(device->reporters[CXIB_REPORTER_FIRMWARE],
				      hw_health_syndrome_name(syndrome), device);
	else if (!syndrome && device->reported.syndrome)
		reporter_set_healthy(device, CXIB_REPORTER_FIRMWARE);
	device->reported.syndrome = syndrome;
}

static void reporter_report_timeouts(struct cxib_device *device)
{
	unsigned int timed_out = READ_ONCE(device->hw.health.timed_out);

	if (timed_out > device->reported.timed_out)
		devlink_health_report(device->reporters[CXIB_REPORTER_COMMANDS],
				      "command timed out", device);
	else if (!timed_out && device->reported.timed_out)
		reporter_set_healthy(device, CXIB_REPORTER_COMMANDS);
	device->reported.timed_out = timed_out;
}

/**
 * cxib_device_report_health() - reports non-fatal faults to devlink
 * @device: a device that is up; the caller holds the lock of its PCI function
 *
 * Context: process context, may sleep.
 */
void cxib_device_report_health(struct cxib_device *device)
{
	reporter_report_syndrome(device);
	reporter_report_timeouts(device);
}
