/* SPDX-License-Identifier: GPL-2.0-only */
/* The hardware layer of a device: everything between bus access and verbs/. */
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
#include "hw/state.h"

struct cxib_bus;
struct dentry;
struct dma_pool;
struct workqueue_struct;

/**
 * struct cxib_hw - one device
 * @bus: bus access to the device
 * @debugfs_root: parent of its debugfs directory; may be NULL
 * @command_timeout_ms: command timeout; 0: %CXIB_COMMAND_TIMEOUT_MS
 * @on_fatal: called once after a fatal error, in process context; may be NULL
 * @health_changed: called by the handler @changed of @health; may be NULL
 * @is_unclean: the device may know stale DMA addresses, for example after a failed reset; bring-up
 *	resets the device before it sets bus mastering, or fails
 * @firmware: firmware version, from the init segment
 * @commands: command queue
 * @health: health poll
 * @pages: firmware pages
 * @caps: HCA capabilities
 * @adapter: output of QUERY_ADAPTER
 * @uar_index: index of the UAR page for EQs and for queues of the kernel
 * @uar: mapping of that page
 * @workqueue: ordered workqueue for asynchronous events
 * @fatal_work: notifies the client and @on_fatal of a fatal error
 * @sink: dispatches events
 * @vectors: number of interrupt vectors
 * @cmd_eq: EQ of command completions
 * @async_eq: EQ of asynchronous events
 * @comp_eqs: EQs of CQ completions, one for each further vector
 * @completion_eq_count: number of @comp_eqs
 * @pf_eq: EQ of page faults; has no ring if it was not created
 * @dbr_pool: DMA pool of doorbell records
 * @dma_lock: serializes cxib_hw_dma_off()
 * @debugfs: debugfs directory of the device
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
	unsigned int vectors;
	struct cxib_eq cmd_eq;
	struct cxib_eq async_eq;
	struct cxib_eq *comp_eqs;
	unsigned int completion_eq_count;
	struct cxib_eq pf_eq;
	struct dma_pool *dbr_pool;
	struct mutex dma_lock; /* transition to CXIB_HW_DMA_OFF */
	struct dentry *debugfs;
};

int cxib_hw_bring_up(struct cxib_hw *hw);
void cxib_hw_tear_down(struct cxib_hw *hw);
void cxib_hw_shut_down(struct cxib_hw *hw);
void cxib_hw_set_client(struct cxib_hw *hw, const struct cxib_hw_client *client);

/* DMA is off: memory that the device knows may be freed. */
static inline bool cxib_hw_is_dma_off(const struct cxib_hw *hw)
{
	return cxib_hw_state(hw->bus) >= CXIB_HW_DMA_OFF;
}

/* fatal.c */
void cxib_hw_set_fatal(struct cxib_hw *hw);
void cxib_hw_dma_off(struct cxib_hw *hw);
void cxib_hw_fatal_work_fn(struct work_struct *work);

/* eqs.c: the EQs of a device, created by steps of the bring-up */
int cxib_hw_allocate_vectors(struct cxib_hw *hw);
void cxib_hw_free_vectors(struct cxib_hw *hw);
int cxib_hw_create_cmd_eq(struct cxib_hw *hw);
void cxib_hw_destroy_cmd_eq(struct cxib_hw *hw);
int cxib_hw_create_async_eq(struct cxib_hw *hw);
void cxib_hw_destroy_async_eq(struct cxib_hw *hw);
int cxib_hw_create_comp_eqs(struct cxib_hw *hw);
void cxib_hw_destroy_comp_eqs(struct cxib_hw *hw);
void cxib_hw_synchronize_comp_eqs(struct cxib_hw *hw);
bool cxib_hw_has_odp(const struct cxib_hw *hw);
int cxib_hw_create_pf_eq(struct cxib_hw *hw, struct workqueue_struct *workqueue);
void cxib_hw_destroy_pf_eq(struct cxib_hw *hw);
unsigned int cxib_hw_free_eq_memory(struct cxib_hw *hw);

#endif
