/* SPDX-License-Identifier: GPL-2.0-only */
/* One HCA, from its PCI function to its RDMA device: start, stop, recovery. */
#ifndef CXIB_DEVICE_H
#define CXIB_DEVICE_H

#include <linux/types.h>
#include <linux/workqueue.h>

#include "hw/bus_pci.h"
#include "hw/hw.h"
#include "ulp/poll_policy.h"

struct cxib_ibdev;
struct dentry;
struct devlink_health_reporter;
struct pci_dev;

/* One devlink health reporter for each kind of fault. */
enum cxib_reporter {
	CXIB_REPORTER_DEVICE,
	CXIB_REPORTER_FIRMWARE,
	CXIB_REPORTER_COMMANDS,
	CXIB_REPORTERS,
};

/**
 * struct cxib_device - one HCA, the private part of its devlink instance
 * @pdev: PCI function; its device lock protects the members below except @recovery
 * @is_virtual: the function is a VF
 * @debugfs_root: parent of the debugfs directories of all HCAs
 * @command_timeout_ms: command timeout that the next start uses; 0: the default
 * @reporters: devlink health reporters
 * @reported: non-fatal faults last reported to devlink
 * @reported.syndrome: syndrome of the health buffer; 0: none
 * @reported.timed_out: number of timed-out commands
 * @is_up: the RDMA device is registered
 * @is_unclean: the function may know stale DMA addresses; it is reset before it is started
 * @is_shut_down: the system is shutting down
 * @gone_until: when @recovery stops polling, in jiffies
 * @init_segment: mapping of the start of BAR 0
 * @bus: bus access to the function
 * @hw: hardware layer of the device
 * @ibdev: RDMA device on top of @hw
 * @poll_policy: settings of the polling contexts of CQs, kept while the RDMA device is registered
 *	again
 * @recovery: recovers the device after a fatal error or its removal; reports changes of its
 *	health to devlink
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
	bool is_unclean;
	bool is_shut_down;
	unsigned long gone_until;
	void __iomem *init_segment;
	struct cxib_bus_pci bus;
	struct cxib_hw hw;
	struct cxib_ibdev *ibdev;
	struct cxib_poll_policy poll_policy;
	struct delayed_work recovery;
};

int cxib_device_start(struct cxib_device *device);
void cxib_device_stop(struct cxib_device *device);
void cxib_device_shut_down(struct cxib_device *device);
int cxib_device_restart(struct cxib_device *device);
void cxib_device_recovery_fn(struct work_struct *work);

/* devlink_params.c */
int cxib_device_register_params(struct cxib_device *device);
void cxib_device_unregister_params(struct cxib_device *device);

/* devlink_health.c */
void cxib_device_report_recovered(struct cxib_device *device);
int cxib_device_report_fatal(struct cxib_device *device);
void cxib_device_report_health(struct cxib_device *device);
struct cxib_device *cxib_device_alloc(struct pci_dev *pdev);
int cxib_device_register(struct cxib_device *device);
void cxib_device_unregister(struct cxib_device *device);
void cxib_device_free(struct cxib_device *device);

#endif
