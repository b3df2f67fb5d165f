/* SPDX-License-Identifier: GPL-2.0-only */
/* A device as the hardware layer sees it: everything between the bus and ib_verbs. */
#ifndef CXIB_HW_HW_H
#define CXIB_HW_HW_H

#include <linux/mutex.h>
#include <linux/types.h>

#include "hw/command_queue.h"
#include "hw/device.h"
#include "hw/device_caps.h"
#include "hw/dispatch.h"
#include "hw/eq.h"
#include "hw/health.h"
#include "hw/init_segment.h"
#include "hw/pages.h"

struct cxib_bus;
struct dentry;
struct dma_pool;
struct workqueue_struct;

/**
 * struct cxib_hw_client - who works with a device that is up
 * @handlers: what it wants to know: @completion, @cq_error, @queue_event,
 *	@port_change, @page_fault, and as @internal_error that the device was given
 *	up; the others have no effect
 * @context: what its handlers are called with
 */
struct cxib_hw_client {
	const struct cxib_event_ops *handlers;
	void *context;
};

/**
 * struct cxib_hw - one device
 * @bus: the way to it
 * @debugfs_root: where its directory in debugfs is made; may be NULL
 * @command_timeout_ms: time limit of commands; 0 stands for the usual one
 * @on_fatal: told once that the device was given up, in process context; may
 *	be NULL
 * @health_changed: told as the handler @changed of its health; may be NULL
 * @is_unclean: the device may know memory that is not its own any more, as after
 *	a reset that failed; it is reset before it gets access to memory, or refused
 * @firmware: which firmware it runs
 * @commands: its command queue
 * @health: whether it is well
 * @pages: memory that its firmware has
 * @caps: what it can do
 * @adapter: what it is
 * @uar_index: page of doorbells for its event queues and those of the kernel
 * @uar: the page itself
 * @workqueue: where asynchronous events are dispatched, one at a time
 * @fatal_work: tells that the device was given up
 * @sink: where its events go
 * @client: who is told of those that hw/ does not serve; may be NULL
 * @vectors: interrupt vectors that it has
 * @cmd_eq: event queue for answered commands
 * @async_eq: event queue for what happens by itself
 * @comp_eqs: event queues for completions, one for each further vector
 * @completion_eq_count: their number
 * @pf_eq: event queue for page faults; without memory when there is none
 * @dbr_pool: doorbell records of queues
 * @dma_lock: one change of @state at a time
 * @state: the device cannot access memory any more; read in any context
 * @debugfs: its directory
 */
struct cxib_hw {
	struct cxib_bus *bus;
	struct dentry *debugfs_root;
	unsigned int command_timeout_ms;
	void (*on_fatal)(struct cxib_hw *hw);
	void (*health_changed)(struct cxib_hw *hw);
	bool is_unclean;
	struct cxib_init_segment firmware;
	struct cxib_command_queue commands;
	struct cxib_health health;
	struct cxib_pages pages;
	struct cxib_device_caps caps;
	struct cxib_adapter adapter;
	u32 uar_index;
	void __iomem *uar;
	struct workqueue_struct *workqueue;
	struct work_struct fatal_work;
	struct cxib_event_sink sink;
	const struct cxib_hw_client *client;
	unsigned int vectors;
	struct cxib_eq cmd_eq;
	struct cxib_eq async_eq;
	struct cxib_eq *comp_eqs;
	unsigned int completion_eq_count;
	struct cxib_eq pf_eq;
	struct dma_pool *dbr_pool;
	struct mutex dma_lock; /* see above */
	bool state;
	struct dentry *debugfs;
};

int cxib_hw_bring_up(struct cxib_hw *hw);
void cxib_hw_tear_down(struct cxib_hw *hw);
void cxib_hw_set_fatal(struct cxib_hw *hw);
void cxib_hw_dma_off(struct cxib_hw *hw);
void cxib_hw_shut_down(struct cxib_hw *hw);
void cxib_hw_set_client(struct cxib_hw *hw, const struct cxib_hw_client *client);

/* The device cannot access memory any more. What it has written before can be read. */
static inline bool cxib_hw_is_dma_off(const struct cxib_hw *hw)
{
	/* Pairs with the release in cxib_hw_dma_off(). */
	return smp_load_acquire(&hw->state);
}

/* event_queues.c: the event queues of a device, as steps of its bring-up */
int cxib_hw_allocate_vectors(struct cxib_hw *hw);
void cxib_hw_free_vectors(struct cxib_hw *hw);
int cxib_hw_create_cmd_eq(struct cxib_hw *hw);
void cxib_hw_destroy_cmd_eq(struct cxib_hw *hw);
int cxib_hw_create_async_eq(struct cxib_hw *hw);
void cxib_hw_destroy_async_eq(struct cxib_hw *hw);
int cxib_hw_create_comp_eqs(struct cxib_hw *hw);
void cxib_hw_destroy_comp_eqs(struct cxib_hw *hw);
bool cxib_hw_has_odp(const struct cxib_hw *hw);
int cxib_hw_create_pf_eq(struct cxib_hw *hw, struct workqueue_struct *workqueue);
void cxib_hw_destroy_pf_eq(struct cxib_hw *hw);
unsigned int cxib_hw_free_eq_memory(struct cxib_hw *hw);
void cxib_hw_fatal_work_fn(struct work_struct *work);

#endif
