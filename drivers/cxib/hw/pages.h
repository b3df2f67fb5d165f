/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Firmware pages: host memory that firmware uses. It requests pages during bring-up and while it
 * runs, and returns them at tear-down or when it no longer needs them.
 */
#ifndef CXIB_HW_PAGES_H
#define CXIB_HW_PAGES_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

struct cxib_command_queue;
struct dentry;

/* Maximum number of pages that one command gives or reclaims: 16 KiB of addresses. */
#define CXIB_PAGES_BATCH	2048

/**
 * struct cxib_pages - the pages of one device
 * @queue: command queue of the device
 * @lock: serializes MANAGE_PAGES commands; protects the members below up to @failed
 * @log_host_page: log2 of the size of the host's pages; at most 18
 * @limit: maximum of @count and @rejected together
 * @held: struct cxib_page by number of each firmware page that firmware holds or has rejected
 * @partial: list of struct cxib_page that are not full
 * @mapped: number of pages of the host
 * @count: number of pages that firmware holds
 * @rejected: number of pages that firmware has rejected; freed after bus mastering is cleared
 * @peak: maximum of @count
 * @given: total number of pages given
 * @taken: total number of pages reclaimed
 * @failed: number of requests that failed
 * @work: handles page requests
 * @request_lock: protects @requested; taken in interrupts
 * @requested: number of pages that firmware has requested and not yet got; negative: offered back
 * @excess: 1 after a request above the limit, which @work reports as failed
 */
struct cxib_pages {
	struct cxib_command_queue *queue;
	struct mutex lock; /* accounting, MANAGE_PAGES */
	unsigned int log_host_page;
	u32 limit;
	struct xarray held;
	struct list_head partial;
	u32 mapped;
	u32 count;
	u32 rejected;
	u32 peak;
	u64 given;
	u64 taken;
	u64 failed;
	struct work_struct work;
	spinlock_t request_lock; /* requested */
	s64 requested;
	atomic_t excess;
};

/**
 * enum cxib_pages_demand - phase of the bring-up that needs pages
 * @CXIB_PAGES_BOOT: after ENABLE_HCA
 * @CXIB_PAGES_INIT: for INIT_HCA
 */
enum cxib_pages_demand {
	CXIB_PAGES_BOOT,
	CXIB_PAGES_INIT,
};

u32 cxib_pages_limit(u64 memory);
void cxib_pages_init(struct cxib_pages *pages, struct cxib_command_queue *queue);
int cxib_pages_supply(struct cxib_pages *pages, enum cxib_pages_demand demand);
void cxib_pages_request(struct cxib_pages *pages, u16 function, s32 count);
void cxib_pages_stop(struct cxib_pages *pages);
int cxib_pages_reclaim(struct cxib_pages *pages);
u32 cxib_pages_free(struct cxib_pages *pages);
void cxib_pages_debugfs(struct cxib_pages *pages, struct dentry *directory);

#endif
