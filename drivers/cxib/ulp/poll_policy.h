/* SPDX-License-Identifier: GPL-2.0-only */
/* Settings of the polling contexts, for the CQs of ULPs that have not chosen a context. */
#ifndef CXIB_ULP_POLL_POLICY_H
#define CXIB_ULP_POLL_POLICY_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

/*
 * A quantum below the minimum is used up by a single done() of a target. One above the maximum
 * exceeds the 2 ms that the kernel gives to softirqs in a row. With the default, ten CQs have their
 * turns within half a millisecond.
 */
#define CXIB_POLL_QUANTUM_US_MIN	10
#define CXIB_POLL_QUANTUM_US_MAX	2000
#define CXIB_POLL_QUANTUM_US_DEFAULT	50

struct cxib_poll_device;
struct cxib_poll_interface;

/**
 * enum cxib_poll_target - what polls a CQ after an event
 * @CXIB_POLL_CORE: the RDMA core
 * @CXIB_POLL_SOFTIRQ: softirq of the completion vector
 * @CXIB_POLL_THREAD: thread of the completion vector
 * @CXIB_POLL_OWN_THREAD: thread of the CQ
 * @CXIB_POLL_WORKQUEUE: work item of the CQ on the CPU of the interrupt
 * @CXIB_POLL_UNBOUND: work item of the CQ on any CPU
 * @CXIB_POLL_NUM_TARGETS: number of targets
 */
enum cxib_poll_target {
	CXIB_POLL_CORE,
	CXIB_POLL_SOFTIRQ,
	CXIB_POLL_THREAD,
	CXIB_POLL_OWN_THREAD,
	CXIB_POLL_WORKQUEUE,
	CXIB_POLL_UNBOUND,
	CXIB_POLL_NUM_TARGETS,
};

/**
 * struct cxib_poll_settings - settings of an HCA
 * @softirq: target of CQs allocated for softirq context: core, softirq or thread
 * @process: target of CQs allocated for a workqueue: core, workqueue, unbound or own thread
 * @quantum_us: time that a CQ of weight 1 gets in a turn, in microseconds
 * @busy_poll_us: how long threads poll an empty CQ before they arm it, in microseconds
 */
struct cxib_poll_settings {
	enum cxib_poll_target softirq;
	enum cxib_poll_target process;
	u32 quantum_us;
	u32 busy_poll_us;
};

/**
 * struct cxib_poll_policy - settings of an HCA and the RDMA device that they apply to
 * @lock: protects the members below and what struct cxib_poll_device says; process context
 * @settings: settings; kept when the RDMA device is registered anew. Written with the lock of
 *	devlink held, too.
 * @device: registered RDMA device; NULL: none
 */
struct cxib_poll_policy {
	struct mutex lock; /* settings; CQs and threads of device */
	struct cxib_poll_settings settings;
	struct cxib_poll_device *device;
};

/* poll_device.c */
extern const struct cxib_poll_interface cxib_poll_interface;
void cxib_poll_policy_init(struct cxib_poll_policy *policy);
int cxib_poll_policy_set(struct cxib_poll_policy *policy,
			 const struct cxib_poll_settings *settings);

#endif
