// SPDX-License-Identifier: GPL-2.0-only
/*
 * BlueFlame registers (bfregs) of user contexts without dynamic UARs.
 *
 * libmlx5 without MLX5_LIB_CAP_DYN_UAR uses three kinds of bfregs:
 * - bfreg 0: QPs share it without a lock, because each doorbell is a single access;
 * - the medium-latency bfregs after it: QPs share them under a lock of libmlx5;
 * - the last num_low_latency bfregs: each has one QP and no lock.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <linux/nospec.h>

#include "user/bfreg.h"
#include "user/mmap.h"

/* In responses, libmlx5 counts 4 bfregs per UAR page, although it uses only the first 2. */
#define USER_BFREGS_PER_UAR	4

static unsigned int bfreg_num_static_uars(const struct cxib_bfregs *bfregs)
{
	return bfregs->count / CXIB_BFREGS_PER_UAR;
}

/**
 * cxib_bfregs_init() - checks the requested numbers and initializes the table
 * @bfregs: output: count, num_low_latency and lock
 * @count: number of bfregs, 1 to %CXIB_BFREGS_MAX; rounded up to whole UAR
 *	pages
 * @num_low_latency: number of bfregs with one QP each, less than the rounded
 *	@count
 *
 * Return: 0; -EINVAL when @count or @num_low_latency is out of range.
 */
int cxib_bfregs_init(struct cxib_bfregs *bfregs, u32 count, u32 num_low_latency)
{
	if (!count || count > CXIB_BFREGS_MAX)
		return -EINVAL;
	count = roundup(count, CXIB_BFREGS_PER_UAR);
	if (num_low_latency >= count)
		return -EINVAL;
	bfregs->count = count;
	bfregs->num_low_latency = num_low_latency;
	mutex_init(&bfregs->lock);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_bfregs_init);

static unsigned int bfreg_min_loaded(const struct cxib_bfregs *bfregs, unsigned int first,
				     unsigned int end)
{
	unsigned int min = first;
	unsigned int i;

	for (i = first; i < end; i++)
		if (bfregs->qp_count[i] < bfregs->qp_count[min])
			min = i;
	return min;
}

static unsigned int bfreg_choose(const struct cxib_bfregs *bfregs)
{
	unsigned int first_low_latency = bfregs->count - bfregs->num_low_latency;
	unsigned int number;

	if (bfregs->num_low_latency) {
		number = bfreg_min_loaded(bfregs, first_low_latency, bfregs->count);
		if (!bfregs->qp_count[number])
			return number;
	}
	/* If there are no medium-latency bfregs, QPs share bfreg 0. */
	return first_low_latency > 1 ? bfreg_min_loaded(bfregs, 1, first_low_latency) : 0;
}

/**
 * cxib_bfreg_alloc() - assigns a bfreg to a QP
 * @bfregs: table of the user context
 *
 * Return: index into the table.
 */
unsigned int cxib_bfreg_alloc(struct cxib_bfregs *bfregs)
{
	unsigned int number;

	guard(mutex)(&bfregs->lock);
	number = bfreg_choose(bfregs);
	bfregs->qp_count[number]++;
	return number;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_bfreg_alloc);

/**
 * cxib_bfreg_free() - undo cxib_bfreg_alloc()
 * @bfregs: table of the user context
 * @number: index that cxib_bfreg_alloc() returned
 */
void cxib_bfreg_free(struct cxib_bfregs *bfregs, unsigned int number)
{
	guard(mutex)(&bfregs->lock);
	bfregs->qp_count[number]--;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_bfreg_free);

/**
 * cxib_bfreg_index() - converts a table index to a bfreg index of libmlx5
 * @number: index into the table
 */
u32 cxib_bfreg_index(unsigned int number)
{
	return number / CXIB_BFREGS_PER_UAR * USER_BFREGS_PER_UAR + number % CXIB_BFREGS_PER_UAR;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_bfreg_index);

static int bfreg_create_static_uars(struct cxib_ucontext *context, struct cxib_bfregs *bfregs)
{
	struct rdma_user_mmap_entry *page;
	unsigned int i;

	for (i = 0; i < bfreg_num_static_uars(bfregs); i++) {
		page = cxib_create_uar(context, CXIB_MMAP_UAR_NC);
		if (IS_ERR(page))
			return PTR_ERR(page);
		bfregs->uars[i] = page;
	}
	return 0;
}

/**
 * cxib_bfregs_create() - allocates the static UARs of a user context
 * @context: user context without MLX5_LIB_CAP_DYN_UAR
 * @count: as for cxib_bfregs_init()
 * @num_low_latency: as for cxib_bfregs_init()
 *
 * Return: 0; -ENOMEM; errors of cxib_bfregs_init() and cxib_create_uar().
 */
int cxib_bfregs_create(struct cxib_ucontext *context, u32 count, u32 num_low_latency)
{
	struct cxib_bfregs *bfregs;
	int err;

	bfregs = kvzalloc(sizeof(*bfregs), GFP_KERNEL_ACCOUNT);
	if (!bfregs)
		return -ENOMEM;
	err = cxib_bfregs_init(bfregs, count, num_low_latency);
	if (err) {
		ibdev_dbg(context->ib.device, "bfregs: total %u, low latency %u out of range (max %u)\n",
			  count, num_low_latency, CXIB_BFREGS_MAX);
		kvfree(bfregs);
		return err;
	}
	context->bfregs = bfregs;
	err = bfreg_create_static_uars(context, bfregs);
	if (err)
		cxib_bfregs_destroy(context);
	return err;
}

/**
 * cxib_bfregs_destroy() - undo cxib_bfregs_create(); mapped UARs live until munmap
 * @context: user context without queues; may have no bfregs
 */
void cxib_bfregs_destroy(struct cxib_ucontext *context)
{
	struct cxib_bfregs *bfregs = context->bfregs;
	unsigned int i;

	if (!bfregs)
		return;
	context->bfregs = NULL;
	for (i = 0; i < CXIB_PAGES_MAX; i++)
		if (bfregs->uars[i])
			rdma_user_mmap_entry_remove(bfregs->uars[i]);
	mutex_destroy(&bfregs->lock);
	kvfree(bfregs);
}

/**
 * cxib_bfregs_uar() - looks up a static UAR
 * @bfregs: table of the user context; NULL if the context uses dynamic UARs only
 * @place: index of the UAR page, from 0
 *
 * Return: the entry, owned by @bfregs; NULL if @place is out of range.
 */
struct rdma_user_mmap_entry *cxib_bfregs_uar(const struct cxib_bfregs *bfregs,
					     unsigned long place)
{
	if (!bfregs || place >= bfreg_num_static_uars(bfregs))
		return NULL;
	return bfregs->uars[array_index_nospec(place, bfreg_num_static_uars(bfregs))];
}

/**
 * cxib_bfregs_dyn_uar() - looks up or allocates a dynamic UAR
 * @context: user context
 * @place: index that user space uses for the UAR page, from 0
 *
 * The UAR is allocated on its first use and lives as long as the context.
 *
 * Return: the entry, owned by the context; -EINVAL when @place is out of range
 * or the context has no bfregs; errors of cxib_create_uar().
 */
struct rdma_user_mmap_entry *cxib_bfregs_dyn_uar(struct cxib_ucontext *context,
						 unsigned long place)
{
	struct cxib_bfregs *bfregs = context->bfregs;
	struct rdma_user_mmap_entry *page;

	if (!bfregs || place >= CXIB_PAGES_ADDED)
		return ERR_PTR(-EINVAL);
	place = bfreg_num_static_uars(bfregs) + array_index_nospec(place, CXIB_PAGES_ADDED);
	guard(mutex)(&bfregs->lock);
	page = bfregs->uars[place];
	if (page)
		return page;
	page = cxib_create_uar(context, CXIB_MMAP_UAR_NC);
	if (!IS_ERR(page))
		bfregs->uars[place] = page;
	return page;
}

/**
 * cxib_bfregs_dyn_uar_index() - converts a dynamic bfreg to a UAR index
 * @bfregs: table of the user context; NULL if it has none
 * @added: index of a bfreg on the dynamic UARs
 * @page: output: UAR index for commands
 *
 * Return: 0; -EINVAL when @added is out of range or its UAR is not allocated.
 */
int cxib_bfregs_dyn_uar_index(struct cxib_bfregs *bfregs, u32 added, u32 *page)
{
	struct rdma_user_mmap_entry *entry;

	if (!bfregs || added >= CXIB_BFREGS_DYN)
		return -EINVAL;
	added = array_index_nospec(added, CXIB_BFREGS_DYN);
	guard(mutex)(&bfregs->lock);
	entry = bfregs->uars[bfreg_num_static_uars(bfregs) + added / CXIB_BFREGS_PER_UAR];
	if (!entry)
		return -EINVAL;
	*page = cxib_uar_index(entry);
	return 0;
}
