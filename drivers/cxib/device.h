/* SPDX-License-Identifier: GPL-2.0-only */
/* An HCA from the PCI function to the RDMA device: started, stopped, recovered. */
#ifndef CXIB_DEVICE_H
#define CXIB_DEVICE_H

#include <linux/types.h>
#include <linux/workqueue.h>

#include "hw/bus_pci.h"
#include "hw/hw.h"

struct cxib_ibdev;
struct dentry;
struct devlink_health_reporter;
struct pci_dev;

/* Each tells devlink of faults of its own kind. */
enum cxib_reporter {
	CXIB_REPORTER_DEVICE,
	CXIB_REPORTER_FIRMWARE,
	CXIB_REPORTER_COMMANDS,
	CXIB_REPORTERS,
};

/**
 * struct cxib_device - one HCA, the private part of its devlink instance
 * @pdev: the PCI function; its lock protects what follows but @recovery
 * @is_virtual: it is a virtual one
 * @debugfs_root: has a directory for each HCA
 * @command_timeout_ms: time limit of commands, for the next start; 0 stands for
 *	the usual one
 * @reporters: tell of its health, and have it recovered
 * @reported: what devlink was told last of faults that the device lives with
 * @reported.syndrome: what the firmware has reported, 0: nothing
 * @reported.timed_out: commands that were not answered in time
 * @is_up: the RDMA device is there
 * @is_gone: the function does not answer, @recovery looks whether it comes back
 * @is_unclean: it may know memory from before, and is reset before it is started
 * @is_shut_down: the kernel ends
 * @gone_until: when @recovery ceases to look, in jiffies
 * @init_segment: the beginning of BAR 0
 * @bus: the way to it
 * @hw: the device behind it
 * @ibdev: the RDMA device that is made of it
 * @recovery: has a device that was given up recovered, and one that was gone;
 *	passes changes of its health on to devlink
 */
struct cxib_device {
	struct pci_dev *pdev;
	bool is_virtual;
	struct dentry *debugfs_root;
	const u32 *command_timeout_ms;
	struct devlink_health_reporter *reporters[CXIB_REPORTERS];
	struct {
		u8 syndrome;
		unsigned int timed_out;
	} reported;
	bool is_up;
	bool is_gone;
	bool is_unclean;
	bool is_shut_down;
	unsigned long gone_until;
	void __iomem *init_segment;
	struct cxib_bus_pci bus;
	struct cxib_hw hw;
	struct cxib_ibdev *ibdev;
	struct delayed_work recovery;
};

int cxib_device_start(struct cxib_device *device);
void cxib_device_stop(struct cxib_device *device);
void cxib_device_shut_down(struct cxib_device *device);
int cxib_device_restart(struct cxib_device *device);
void cxib_device_recovery_fn(struct work_struct *work);

/* health_reporter.c */
void cxib_device_report_recovered(struct cxib_device *device);
int cxib_device_report_fatal(struct cxib_device *device);
void cxib_device_report_health(struct cxib_device *device);
struct cxib_device *cxib_device_alloc(struct pci_dev *pdev);
int cxib_device_register(struct cxib_device *device);
void cxib_device_unregister(struct cxib_device *device);
void cxib_device_free(struct cxib_device *device);

#endif
