/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Firmware pages: memory of the host that the firmware works with. It asks
 * for pages while the device is brought up and while it runs, and gives them
 * back at the end or when it has no use for them.
 */
#ifndef CXIB_HW_PAGES_H
#define CXIB_HW_PAGES_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

struct cxib_command_queue;
struct dentry;

/* More than any firmware is known to ask for: 4 GiB. */
#define CXIB_PAGES_LIMIT	0x100000U
/* Pages that one command gives or takes. */
#define CXIB_PAGES_BATCH	2048

/**
 * struct cxib_pages - the pages of one device
 * @queue: command queue of the device
 * @lock: one exchange of pages at a time; protects what follows
 * @held: struct cxib_page by page number: what the device has, and what it says
 *	that it has refused
 * @count: how many it has
 * @quarantined: how many it has refused: nobody else gets them as long as it can
 *	access memory
 * @peak: the highest @count so far
 * @given: pages given so far
 * @taken: pages taken back so far
 * @failed: requests that could not be fulfilled
 * @work: answers a request of the firmware
 * @request_lock: protects @requested. Taken in interrupts.
 * @requested: pages that it wants beyond those it has; negative: offers back
 * @excess: it has asked for more at once than can be, and has to be told
 */
struct cxib_pages {
	struct cxib_command_queue *queue;
	struct mutex lock; /* books */
	struct xarray held;
	u32 count;
	u32 quarantined;
	u32 peak;
	u64 given;
	u64 taken;
	u64 failed;
	struct work_struct work;
	spinlock_t request_lock; /* requests */
	s64 requested;
	atomic_t excess;
};

/**
 * enum cxib_pages_demand - when the firmware needs pages
 * @CXIB_PAGES_BOOT: before anything else
 * @CXIB_PAGES_INIT: for INIT_HCA
 */
enum cxib_pages_demand {
	CXIB_PAGES_BOOT,
	CXIB_PAGES_INIT,
};

void cxib_pages_init(struct cxib_pages *pages, struct cxib_command_queue *queue);
int cxib_pages_supply(struct cxib_pages *pages, enum cxib_pages_demand demand);
void cxib_pages_request(struct cxib_pages *pages, u16 function, s32 count);
void cxib_pages_stop(struct cxib_pages *pages);
int cxib_pages_reclaim(struct cxib_pages *pages);
u32 cxib_pages_free(struct cxib_pages *pages);
void cxib_pages_debugfs(struct cxib_pages *pages, struct dentry *directory);

#endif
