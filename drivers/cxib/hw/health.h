/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Health: polls whether firmware is alive and which faults it reports. A fatal error sets the fatal
 * state, which only a new bring-up ends.
 */
#ifndef CXIB_HW_HEALTH_H
#define CXIB_HW_HEALTH_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct cxib_bus;
struct cxib_command_queue;
struct cxib_health;
struct dentry;
struct hw_health_buffer;

/*
 * When the driver sets the fatal state, it notifies users and starts the recovery. It sets the
 * state after:
 * - a fatal health syndrome, a disabled NIC interface, an absent device: at the next poll;
 * - a stalled health counter: after 8 polls, 16 to 18 s;
 * - a PCI channel error: at once;
 * - timed-out commands that hold all slots of user space: at the poll after the last timeout.
 *
 * The recovery is a reset and a bring-up. If the device is absent, the driver polls for it every
 * second for a minute.
 */

/* Poll period. A poll costs a few MMIO reads; users learn of a dead device at most this late. */
#define CXIB_HEALTH_PERIOD_MS		2000
/* The driver logs a warning after this number of polls without progress of the counter. */
#define CXIB_HEALTH_STALL_WARN	3
/* This number of polls without progress is a fatal error; with fewer, firmware may just be busy. */
#define CXIB_HEALTH_STALL_MAX		8

/**
 * struct cxib_health_handlers - handlers of health changes
 * @fatal: called once, when the fatal state is set; any context; may be NULL
 * @changed: called at the first poll, and when @syndrome or @timed_out have changed without a
 *	fatal error; process context; may be NULL
 */
struct cxib_health_handlers {
	void (*fatal)(struct cxib_health *health);
	void (*changed)(struct cxib_health *health);
};

/**
 * struct cxib_health - health of one device
 * @bus: bus access to the device
 * @commands: its command queue
 * @work: polls every %CXIB_HEALTH_PERIOD_MS
 * @handlers: called on changes
 * @announced: 1 once the fatal error is logged and @fatal was called; never cleared
 * @counter: health counter at the last poll
 * @stalls: number of consecutive polls at which @counter had not changed
 * @syndrome: syndrome of the health buffer at the last poll; 0: none
 * @health_syndrome: health_syndrome of the init segment at the last poll; 0: none
 * @timed_out: number of timed-out commands without a late completion
 * @reported: the @changed handler was called for the current @syndrome and @timed_out
 */
struct cxib_health {
	struct cxib_bus *bus;
	struct cxib_command_queue *commands;
	struct delayed_work work;
	const struct cxib_health_handlers *handlers;
	atomic_t announced;
	u32 counter;
	unsigned int stalls;
	u8 syndrome;
	u8 health_syndrome;
	unsigned int timed_out;
	bool reported;
};

void cxib_health_start(struct cxib_health *health, struct cxib_bus *bus,
		       struct cxib_command_queue *commands,
		       const struct cxib_health_handlers *handlers);
void cxib_health_stop(struct cxib_health *health);
void cxib_health_check(struct cxib_health *health);
void cxib_health_set_fatal(struct cxib_health *health, const char *reason);
void cxib_health_shut_down(struct cxib_health *health);
bool cxib_health_is_fatal(const struct cxib_health *health);
void cxib_health_read(struct cxib_health *health, struct hw_health_buffer *buffer);
void cxib_health_debugfs(struct cxib_health *health, struct dentry *directory);

#endif
