// SPDX-License-Identifier: GPL-2.0-only
/* Reports of faults to devlink, which calls the operations of health_reporter.c. */
#include <net/devlink.h>

#include "device.h"
#include "hw/names.h"

static void set_healthy(struct cxib_device *device, enum cxib_reporter reporter)
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
	set_healthy(device, CXIB_REPORTER_DEVICE);
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

static void report_syndrome(struct cxib_device *device)
{
	u8 syndrome = READ_ONCE(device->hw.health.syndrome);

	if (syndrome && syndrome != device->reported.syndrome)
		devlink_health_report(device->reporters[CXIB_REPORTER_FIRMWARE],
				      hw_health_syndrome_name(syndrome), device);
	else if (!syndrome && device->reported.syndrome)
		set_healthy(device, CXIB_REPORTER_FIRMWARE);
	device->reported.syndrome = syndrome;
}

static void report_timeouts(struct cxib_device *device)
{
	unsigned int timed_out = READ_ONCE(device->hw.health.timed_out);

	if (timed_out > device->reported.timed_out)
		devlink_health_report(device->reporters[CXIB_REPORTER_COMMANDS],
				      "command timed out", device);
	else if (!timed_out && device->reported.timed_out)
		set_healthy(device, CXIB_REPORTER_COMMANDS);
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
	report_syndrome(device);
	report_timeouts(device);
}
