/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Health: watches whether the firmware still runs and what it reports about
 * itself. When the device is beyond hope, it is marked as broken, once.
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
 * How soon a device that has failed is given up, its users are told and its
 * recovery begins: at the next look when it reports a fatal fault, when its
 * interface was taken away and when it is gone; after 8 looks without a step
 * of its counter, 16 to 18 s, when its firmware has stopped; at once when the
 * bus reports an error; and when every slot of the command queue holds a
 * command whose time limit is over, at the next look. Recovery is a reset and
 * a bring-up. A device that is gone is looked for every second, for a minute.
 */

/* Time between two looks at the device. */
#define CXIB_HEALTH_PERIOD_MS		2000
/* The counter may stand still this many times before it is mentioned. */
#define CXIB_HEALTH_STALL_WARN	3
/* And this many times before the device is given up. */
#define CXIB_HEALTH_STALL_MAX		8

/**
 * struct cxib_health_handlers - who is told
 * @fatal: once, that the device is beyond hope; in any context; may be NULL
 * @changed: at the first look, and whenever @syndrome or @timed_out of a
 *	device that is not beyond hope has changed; in process context; may be NULL
 */
struct cxib_health_handlers {
	void (*fatal)(struct cxib_health *health);
	void (*changed)(struct cxib_health *health);
};

/**
 * struct cxib_health - health of one device
 * @bus: the way to the device
 * @commands: its command queue
 * @work: looks at the device every %CXIB_HEALTH_PERIOD_MS
 * @handlers: who is told
 * @fatal: the device is beyond hope; never cleared
 * @counter: counter of the firmware when last looked at
 * @stalls: how often it has not moved
 * @syndrome: what the health buffer said then
 * @health_syndrome: the other syndrome, beside the counter
 * @timed_out: commands that were not answered in time, nor later
 * @reported: @changed was told of what is in @syndrome and @timed_out
 */
struct cxib_health {
	struct cxib_bus *bus;
	struct cxib_command_queue *commands;
	struct delayed_work work;
	const struct cxib_health_handlers *handlers;
	atomic_t fatal;
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
