// SPDX-License-Identifier: GPL-2.0-only
/*
 * Firmware pages: the driver gives them at bring-up and on request, accounts for them, and reclaims
 * them.
 */
#include <kunit/visibility.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "compat/workqueue.h"
#include "hw/command_queue.h"
#include "hw/commands_device.h"
#include "hw/pages.h"

/* Firmware pages have 4 KiB, independent of the page size of the host. */
#define LOG_DEVICE_PAGE		12
#define DEVICE_PAGE		BIT(LOG_DEVICE_PAGE)

/*
 * Firmware holds at most 1/4 of the memory of the host. The limit is at least LIMIT_MIN, since
 * firmware needs some memory even without users. If all memory of the host is registered in 4 KiB
 * pages, the MTTs need 1/512 of it.
 */
#define LIMIT_SHARE		4
#define LIMIT_MIN		(SZ_256M >> LOG_DEVICE_PAGE)

/*
 * Limit of one page request, 195 MiB: the driver takes a larger one for a fault of firmware and
 * refuses it.
 */
#define REQUEST_MAX		50000

/* Time limit, as in mlx5_core, and poll period while firmware returns no further page. */
#define RECLAIM_LIMIT_MS	5000
#define RECLAIM_PERIOD_MS	20

/**
 * struct cxib_page - a mapped page of the host
 *
 * If the host page is larger than a firmware page, it contains several firmware pages, each in its
 * own state.
 * @page: the page
 * @dma: DMA address
 * @used: bit n: firmware holds the nth firmware page of the host page, or has rejected it
 * @rejected: bit n: firmware has rejected the page; a subset of @used
 * @node: entry in the list of pages that are not full; empty: full
 */
struct cxib_page {
	struct page *page;
	dma_addr_t dma;
	u64 used;
	u64 rejected;
	struct list_head node;
};

static struct device *pages_device_of(struct cxib_pages *pages)
{
	return pages->queue->dev;
}

static void pages_request_work_fn(struct work_struct *work);

/**
 * cxib_pages_limit() - limit of the pages that firmware may hold
 * @memory: memory of the host, bytes
 *
 * Return: number of pages.
 */
u32 cxib_pages_limit(u64 memory)
{
	return clamp_t(u64, memory / LIMIT_SHARE >> LOG_DEVICE_PAGE, LIMIT_MIN, S32_MAX);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pages_limit);

/**
 * cxib_pages_init() - initializes the page accounting
 * @pages: filled, without pages
 * @queue: command queue of the device
 */
void cxib_pages_init(struct cxib_pages *pages, struct cxib_command_queue *queue)
{
	*pages = (struct cxib_pages){
		.queue = queue,
		.log_host_page = PAGE_SHIFT,
		.limit = cxib_pages_limit((u64)totalram_pages() << PAGE_SHIFT),
	};
	mutex_init(&pages->lock);
	xa_init(&pages->held);
	INIT_LIST_HEAD(&pages->partial);
	spin_lock_init(&pages->request_lock);
	INIT_WORK(&pages->work, pages_request_work_fn);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pages_init);

static size_t pages_host_page_size(const struct cxib_pages *pages)
{
	return BIT(pages->log_host_page);
}

static unsigned int pages_host_page_order(const struct cxib_pages *pages)
{
	return pages->log_host_page - PAGE_SHIFT;
}

/* @used of a page all of whose firmware pages are in use. */
static u64 pages_full_mask(const struct cxib_pages *pages)
{
	/* 64 KiB is the largest host page in use, 256 KiB the largest that exists: 64 bits. */
	return GENMASK_ULL(BIT(pages->log_host_page - LOG_DEVICE_PAGE) - 1, 0);
}

static void pages_free_host_page(struct cxib_pages *pages, struct cxib_page *host)
{
	dma_unmap_page(pages_device_of(pages), host->dma, pages_host_page_size(pages),
		       DMA_BIDIRECTIONAL);
	__free_pages(host->page, pages_host_page_order(pages));
	list_del(&host->node);
	kfree(host);
	pages->mapped--;
}

static struct cxib_page *pages_map_host_page(struct cxib_pages *pages)
{
	struct device *dev = pages_device_of(pages);
	struct cxib_page *host = kzalloc(sizeof(*host), GFP_KERNEL);

	if (!host)
		return NULL;
	host->page = alloc_pages_node(dev_to_node(dev), GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN,
				      pages_host_page_order(pages));
	if (!host->page)
		goto free_host;
	host->dma =
		dma_map_page(dev, host->page, 0, pages_host_page_size(pages), DMA_BIDIRECTIONAL);
	if (dma_mapping_error(dev, host->dma))
		goto free_page;
	INIT_LIST_HEAD(&host->node);
	pages->mapped++;
	return host;

free_page:
	__free_pages(host->page, pages_host_page_order(pages));
free_host:
	kfree(host);
	return NULL;
}

/*
 * DMA address 0 is invalid for firmware. If the first page gets that address, it stays mapped until
 * another page is mapped, so that the second page gets another address.
 */
static struct cxib_page *pages_map_nonzero_page(struct cxib_pages *pages)
{
	struct cxib_page *host = pages_map_host_page(pages);
	struct cxib_page *at_zero;

	if (!host || host->dma)
		return host;
	at_zero = host;
	host = pages_map_host_page(pages);
	pages_free_host_page(pages, at_zero);
	return host;
}

/* Returns a host page that is not full: a page in partial use, or else a new one. */
static struct cxib_page *pages_get_partial_page(struct cxib_pages *pages)
{
	struct cxib_page *host;

	lockdep_assert_held(&pages->lock);

	host = list_first_entry_or_null(&pages->partial, struct cxib_page, node);
	if (host)
		return host;
	host = pages_map_nonzero_page(pages);
	if (host)
		list_add(&host->node, &pages->partial);
	return host;
}

/* Ends the use of the nth firmware page, and frees the host page after the last one. */
static void pages_release(struct cxib_pages *pages, struct cxib_page *host, unsigned int n)
{
	host->used &= ~BIT_ULL(n);
	host->rejected &= ~BIT_ULL(n);
	if (!host->used)
		pages_free_host_page(pages, host);
	else if (list_empty(&host->node))
		list_add(&host->node, &pages->partial);
}

static int pages_add_page(struct cxib_pages *pages, __be64 *address)
{
	struct cxib_page *host = pages_get_partial_page(pages);
	dma_addr_t dma;
	unsigned int n;
	int err;

	lockdep_assert_held(&pages->lock);

	if (!host)
		return -ENOMEM;
	n = __ffs64(~host->used);
	dma = host->dma + n * DEVICE_PAGE;
	err = xa_insert(&pages->held, dma >> LOG_DEVICE_PAGE, host, GFP_KERNEL);
	if (err) {
		pages_release(pages, host, n);
		return err;
	}
	host->used |= BIT_ULL(n);
	if (host->used == pages_full_mask(pages))
		list_del_init(&host->node);
	*address = cpu_to_be64(dma);
	pages->count++;
	return 0;
}

static unsigned int pages_index_of(const struct cxib_page *host, u64 address)
{
	return (address - host->dma) >> LOG_DEVICE_PAGE;
}

/*
 * Returns the host page that contains the firmware page at @address; NULL if firmware holds none
 * there.
 */
static struct cxib_page *pages_find_page(struct cxib_pages *pages, u64 address)
{
	struct cxib_page *host = NULL;

	lockdep_assert_held(&pages->lock);

	if (!(address & (DEVICE_PAGE - 1)))
		host = xa_load(&pages->held, address >> LOG_DEVICE_PAGE);
	return host && !(host->rejected & BIT_ULL(pages_index_of(host, address))) ? host : NULL;
}

/* Returns false if firmware holds no page at @address. */
static bool pages_remove_page(struct cxib_pages *pages, u64 address)
{
	struct cxib_page *host = pages_find_page(pages, address);

	if (!host)
		return false;
	xa_erase(&pages->held, address >> LOG_DEVICE_PAGE);
	pages_release(pages, host, pages_index_of(host, address));
	pages->count--;
	return true;
}

static void pages_remove_list(struct cxib_pages *pages, const __be64 *addresses, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		pages_remove_page(pages, be64_to_cpu(addresses[i]));
}

/*
 * Firmware has rejected these pages, so it does not return them. But it knows their addresses and
 * might use them, so the driver frees them only after it has cleared bus mastering.
 */
static void pages_reject_list(struct cxib_pages *pages, const __be64 *addresses, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		u64 address = be64_to_cpu(addresses[i]);
		struct cxib_page *host = pages_find_page(pages, address);

		host->rejected |= BIT_ULL(pages_index_of(host, address));
		pages->count--;
		pages->rejected++;
	}
}

/* Reports ALLOCATION_FAIL, so that firmware does not wait for the pages that it has requested. */
static void pages_fail_request(struct cxib_pages *pages)
{
	struct hw_manage_pages_in in = {};
	struct hw_manage_pages_out out;

	pages->failed++;
	hw_manage_pages_in_set_opcode(&in, HW_CMD_MANAGE_PAGES);
	hw_manage_pages_in_set_op_mod(&in, HW_MANAGE_PAGES_OP_MOD_ALLOCATION_FAIL);
	cxib_cmd_exec_inout(pages->queue, in, out);
}

/*
 * After a timeout or a malformed output, firmware may hold the pages. They remain accounted for,
 * and are freed after bus mastering is cleared. A bad status means that firmware has rejected them.
 */
static int pages_send(struct cxib_pages *pages, struct hw_manage_pages_in *in, u32 count,
		      bool *rejected)
{
	struct hw_manage_pages_out out;
	struct cxib_command command = {
		.in = in, .in_length = struct_size(in, pas, count),
		.out = &out, .out_length = sizeof(out),
	};
	int err;

	hw_manage_pages_in_set_opcode(in, HW_CMD_MANAGE_PAGES);
	hw_manage_pages_in_set_op_mod(in, HW_MANAGE_PAGES_OP_MOD_ALLOCATION_SUCCESS);
	hw_manage_pages_in_set_input_num_entries(in, count);
	err = cxib_cmd_exec(pages->queue, &command);
	*rejected = command.status && command.status != HW_COMMAND_STATUS_INTERNAL_ERROR;
	return err;
}

static u32 pages_add_list(struct cxib_pages *pages, struct hw_manage_pages_in *in, u32 count)
{
	u32 added = 0;

	while (added < count && !pages_add_page(pages, &in->pas[added]))
		added++;
	pages->peak = max(pages->peak, pages->count);
	return added;
}

static int pages_give_some(struct cxib_pages *pages, u32 count)
{
	struct hw_manage_pages_in *in = kvzalloc(struct_size(in, pas, count), GFP_KERNEL);
	bool rejected = false;
	int err = -ENOMEM;
	u32 added;

	if (!in)
		return -ENOMEM;
	added = pages_add_list(pages, in, count);
	if (added < count)
		pages_remove_list(pages, in->pas, added);
	else
		err = pages_send(pages, in, count, &rejected);
	if (!err)
		pages->given += count;
	else if (rejected)
		pages_reject_list(pages, in->pas, count);
	kvfree(in);
	return err;
}

static int pages_give(struct cxib_pages *pages, u32 count)
{
	int err = 0;

	lockdep_assert_held(&pages->lock);

	if (count > pages->limit - pages->count - pages->rejected) {
		dev_err_ratelimited(pages_device_of(pages),
				    "firmware pages: request of %u with %u held and %u rejected exceeds limit %u\n",
				    count, pages->count, pages->rejected, pages->limit);
		return -ENOSPC;
	}
	while (!err && count) {
		u32 here = min(count, CXIB_PAGES_BATCH);

		err = pages_give_some(pages, here);
		count -= here;
	}
	return err;
}

static int pages_query_demand(struct cxib_pages *pages, enum cxib_pages_demand demand, s32 *count)
{
	struct hw_query_pages_in in = {};
	struct hw_query_pages_out out;
	int err;

	hw_query_pages_in_set_opcode(&in, HW_CMD_QUERY_PAGES);
	hw_query_pages_in_set_op_mod(&in, demand == CXIB_PAGES_BOOT ?
					  HW_QUERY_PAGES_OP_MOD_BOOT_PAGES :
					  HW_QUERY_PAGES_OP_MOD_INIT_PAGES);
	err = cxib_cmd_exec_inout(pages->queue, in, out);
	*count = (s32)hw_query_pages_out_get_num_pages(&out);
	return err;
}

/**
 * cxib_pages_supply() - gives firmware the pages that it needs for a phase of the bring-up
 * @pages: pages of the device
 * @demand: the phase
 *
 * Context: process context, may sleep.
 * Return: 0, an error of cxib_cmd_exec(), -ENOMEM, or -ENOSPC when firmware would hold more than
 * cxib_pages_limit() pages.
 */
int cxib_pages_supply(struct cxib_pages *pages, enum cxib_pages_demand demand)
{
	s32 count;
	int err;

	err = pages_query_demand(pages, demand, &count);
	if (err || count <= 0)
		return err;
	mutex_lock(&pages->lock);
	err = pages_give(pages, count);
	mutex_unlock(&pages->lock);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pages_supply);

static int pages_check_reclaimed(struct cxib_pages *pages, const struct hw_manage_pages_out *out,
				 u32 asked)
{
	u32 count = hw_manage_pages_out_get_output_num_entries(out);

	if (count <= asked)
		return 0;
	dev_err_ratelimited(pages_device_of(pages),
			    "firmware pages: %u returned, requested at most %u\n", count, asked);
	return -EBADMSG;
}

static int pages_receive(struct cxib_pages *pages, const struct hw_manage_pages_out *out)
{
	u32 count = hw_manage_pages_out_get_output_num_entries(out);
	int err = 0;
	u32 i;

	for (i = 0; i < count; i++) {
		u64 address = be64_to_cpu(out->pas[i]);

		if (pages_remove_page(pages, address)) {
			pages->taken++;
			continue;
		}
		dev_err_ratelimited(pages_device_of(pages),
				    "firmware page 0x%llx: returned but not held\n",
				    address);
		err = -EBADMSG;
	}
	return err;
}

/* Reclaims at most @asked pages with one command; @got: number of pages returned. */
static int pages_reclaim_some(struct cxib_pages *pages, u32 asked, u32 *got)
{
	struct hw_manage_pages_out *out;
	struct hw_manage_pages_in in = {};
	struct cxib_command command = { .in = &in, .in_length = sizeof(in) };
	u32 before = pages->count;
	int err;

	out = cxib_command_alloc_out(&command, struct_size(out, pas, asked));
	if (!out)
		return -ENOMEM;
	hw_manage_pages_in_set_opcode(&in, HW_CMD_MANAGE_PAGES);
	hw_manage_pages_in_set_op_mod(&in, HW_MANAGE_PAGES_OP_MOD_HCA_RETURN_PAGES);
	hw_manage_pages_in_set_input_num_entries(&in, asked);
	err = cxib_cmd_exec(pages->queue, &command);
	if (!err)
		err = pages_check_reclaimed(pages, out, asked);
	if (!err)
		err = pages_receive(pages, out);
	*got = before - pages->count;
	kvfree(out);
	return err;
}

/* Reclaims up to @count pages; stops when firmware returns none. */
static int pages_reclaim(struct cxib_pages *pages, u32 count)
{
	u32 got;
	int err;

	lockdep_assert_held(&pages->lock);

	while (count && pages->count) {
		err = pages_reclaim_some(pages, min3(count, pages->count, (u32)CXIB_PAGES_BATCH),
					 &got);
		if (err)
			return err;
		if (!got)
			break;
		count -= min(got, count);
	}
	return 0;
}

static int pages_reclaim_all(struct cxib_pages *pages)
{
	unsigned long end = jiffies + msecs_to_jiffies(RECLAIM_LIMIT_MS);
	u32 before;
	int err;

	lockdep_assert_held(&pages->lock);

	for (;;) {
		before = pages->count;
		err = pages_reclaim(pages, before);
		if (err || !pages->count)
			return err;
		if (pages->count < before)
			end = jiffies + msecs_to_jiffies(RECLAIM_LIMIT_MS);
		else if (time_after(jiffies, end))
			return -EBUSY;
		msleep(RECLAIM_PERIOD_MS);
	}
}

/*
 * The sum of several requests may exceed REQUEST_MAX; the next run of the work item handles the
 * rest.
 */
static s32 pages_next_request(struct cxib_pages *pages)
{
	unsigned long flags;
	s64 count;

	spin_lock_irqsave(&pages->request_lock, flags);
	count = clamp_t(s64, pages->requested, -REQUEST_MAX, REQUEST_MAX);
	pages->requested -= count;
	if (pages->requested)
		queue_work(system_dfl_wq, &pages->work);
	spin_unlock_irqrestore(&pages->request_lock, flags);
	return count;
}

/* If firmware has requested too many pages, it must not wait for them. */
static void pages_fail_excess(struct cxib_pages *pages)
{
	if (atomic_xchg(&pages->excess, 0) && !cxib_command_queue_is_fatal(pages->queue))
		pages_fail_request(pages);
}

static void pages_request_work_fn(struct work_struct *work)
{
	struct cxib_pages *pages = container_of(work, struct cxib_pages, work);
	s32 count = pages_next_request(pages);
	int err = 0;

	mutex_lock(&pages->lock);
	pages_fail_excess(pages);
	if (count > 0) {
		err = pages_give(pages, count);
		if (err && !cxib_command_queue_is_fatal(pages->queue))
			pages_fail_request(pages);
	} else if (count < 0) {
		err = pages_reclaim(pages, -count);
	}
	mutex_unlock(&pages->lock);
	if (err)
		dev_err_ratelimited(pages_device_of(pages),
				    "firmware pages: cannot %s %d pages %s by firmware: error %d\n",
				    count > 0 ? "give" : "reclaim", abs(count),
				    count > 0 ? "requested" : "offered", err);
}

/**
 * cxib_pages_request() - handles a page request event
 * @pages: pages of the device
 * @function: function id; only 0, the function itself, is supported
 * @count: number of pages requested; negative: number of pages offered back
 *
 * A work item gives or reclaims the pages.
 *
 * Context: any, also interrupts.
 */
void cxib_pages_request(struct cxib_pages *pages, u16 function, s32 count)
{
	unsigned long flags;

	if (function || count > REQUEST_MAX || count < -REQUEST_MAX)
		dev_err_ratelimited(pages_device_of(pages),
				    "page request: %d pages for function %u ignored (range [-%u, %u], function 0)\n",
				    count, function, REQUEST_MAX, REQUEST_MAX);
	if (function || count < -REQUEST_MAX)
		return;
	if (count > REQUEST_MAX) {
		atomic_set(&pages->excess, 1);
	} else {
		spin_lock_irqsave(&pages->request_lock, flags);
		pages->requested += count;
		spin_unlock_irqrestore(&pages->request_lock, flags);
	}
	queue_work(system_dfl_wq, &pages->work);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pages_request);

/**
 * cxib_pages_stop() - cancels the work item for page requests
 * @pages: pages of the device; no further request arrives
 *
 * Context: process context, may sleep.
 */
void cxib_pages_stop(struct cxib_pages *pages)
{
	cancel_work_sync(&pages->work);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pages_stop);

/**
 * cxib_pages_reclaim() - reclaims all pages
 * @pages: pages of a device after TEARDOWN_HCA
 *
 * Context: process context, may sleep.
 * Return: 0 when firmware holds no page; -EBUSY when it does not return all; or an error of
 * cxib_cmd_exec(). After an error, firmware may still use the remaining pages.
 */
int cxib_pages_reclaim(struct cxib_pages *pages)
{
	int err;

	mutex_lock(&pages->lock);
	err = pages_reclaim_all(pages);
	mutex_unlock(&pages->lock);
	if (err)
		dev_err(pages_device_of(pages),
			"firmware pages: %u not returned: error %d\n",
			pages->count, err);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pages_reclaim);

/**
 * cxib_pages_free() - frees the pages that firmware has not returned, or has rejected
 * @pages: pages of a device whose bus mastering is cleared
 *
 * Context: process context, may sleep.
 * Return: number of pages that firmware has not returned.
 */
u32 cxib_pages_free(struct cxib_pages *pages)
{
	struct cxib_page *host;
	unsigned long number;
	u32 count = pages->count;

	xa_for_each(&pages->held, number, host)
		pages_release(pages, host, pages_index_of(host, (u64)number << LOG_DEVICE_PAGE));
	xa_destroy(&pages->held);
	pages->count = 0;
	pages->rejected = 0;
	return count;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pages_free);

static int pages_show(struct seq_file *file, void *unused)
{
	struct cxib_pages *pages = file->private;

	mutex_lock(&pages->lock);
	seq_printf(file,
		   "held: %u\nrejected: %u\npeak: %u\nlimit: %u\ngiven: %llu\nreclaimed: %llu\nrequests failed: %llu\nhost pages: %u\n",
		   pages->count, pages->rejected, pages->peak, pages->limit, pages->given,
		   pages->taken, pages->failed, pages->mapped);
	mutex_unlock(&pages->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(pages);

/**
 * cxib_pages_debugfs() - creates the debugfs file "pages"
 * @pages: pages of a device, which outlive the file
 * @directory: debugfs directory of the device
 */
void cxib_pages_debugfs(struct cxib_pages *pages, struct dentry *directory)
{
	debugfs_create_file("pages", 0400, directory, pages, &pages_fops);
}
