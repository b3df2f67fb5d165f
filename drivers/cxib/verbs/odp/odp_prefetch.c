// SPDX-License-Identifier: GPL-2.0-only
/* Prefetching pages of ODP MRs. */
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "verbs/odp/odp_mr.h"

/* Maximum number of queued prefetches of a user. */
#define QUEUED_MAX	64

/**
 * struct prefetch_entry - range to prefetch
 * @key: mkey of the MR
 * @serial: number of the MR. A queued prefetch must not keep the MR, because it may wait behind
 *	prefetches of other MRs that user space delays.
 * @range: range of the MR
 */
struct prefetch_entry {
	u32 key;
	u64 serial;
	struct cxib_odp_range range;
};

/**
 * struct odp_prefetch - a prefetch
 * @work: faults in the pages if the prefetch is asynchronous
 * @ibdev: RDMA device
 * @context: user context, with a reference; all MRs have the same PD
 * @present_only: fault in only pages that are present in user space
 * @count: number of @entries
 * @entries: the ranges
 */
struct odp_prefetch {
	struct work_struct work;
	struct cxib_ibdev *ibdev;
	struct cxib_odp_context *context;
	bool present_only;
	u32 count;
	struct prefetch_entry entries[];
};

static void prefetch_free(struct odp_prefetch *prefetch)
{
	if (prefetch->context)
		cxib_odp_put_context(prefetch->ibdev, prefetch->context);
	kvfree(prefetch);
}

static int prefetch_fault_in_entry(const struct odp_prefetch *prefetch,
				   const struct prefetch_entry *entry)
{
	struct cxib_odp_mr *odp_mr = cxib_odp_get_mr(prefetch->ibdev, entry->key);
	int pages = -ENOENT;

	if (!odp_mr)
		return pages;
	if (odp_mr->serial == entry->serial)
		pages = prefetch->present_only ? cxib_odp_fault_in_present(odp_mr, &entry->range) :
						 cxib_odp_fault_in(odp_mr, &entry->range);
	if (pages > 0)
		atomic64_add(pages, &odp_mr->prefetches);
	cxib_reference_put(&odp_mr->reference);
	return min(pages, 0);
}

static int prefetch_fault_in(const struct odp_prefetch *prefetch)
{
	int err = 0;
	u32 i;

	for (i = 0; i < prefetch->count && !err; i++)
		err = prefetch_fault_in_entry(prefetch, &prefetch->entries[i]);
	return err;
}

static void prefetch_work_fn(struct work_struct *work)
{
	struct odp_prefetch *prefetch = container_of(work, struct odp_prefetch, work);

	/* A prefetch is only advice, so errors are ignored. */
	prefetch_fault_in(prefetch);
	atomic_dec(&prefetch->context->user->prefetches);
	prefetch_free(prefetch);
}

/* User space may only prefetch ODP MRs of its PD. */
static int prefetch_add_entry(struct odp_prefetch *prefetch, struct ib_pd *ib,
			      const struct ib_sge *sge, enum ib_uverbs_advise_mr_advice advice)
{
	struct cxib_odp_mr *odp_mr = cxib_odp_get_mr(to_ibdev(ib->device), sge->lkey);
	bool for_writing = advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	int err = 0;

	if (!odp_mr)
		return -ENOENT;
	prefetch->entries[prefetch->count++] = (struct prefetch_entry){
		.key = sge->lkey,
		.serial = odp_mr->serial,
		.range = {
			.address = sge->addr,
			.length = sge->length,
			.for_writing = for_writing,
		},
	};
	if (odp_mr->mr.ib.pd != ib || (for_writing && !(odp_mr->mr.access & IB_ACCESS_LOCAL_WRITE)))
		err = -EPERM;
	if (!prefetch->context) {
		prefetch->context = odp_mr->context;
		refcount_inc(&prefetch->context->users);
	}
	cxib_reference_put(&odp_mr->reference);
	return err;
}

static struct odp_prefetch *prefetch_create(struct ib_pd *ib, const struct ib_sge *list,
					    u32 count, enum ib_uverbs_advise_mr_advice advice)
{
	struct odp_prefetch *prefetch = kvzalloc(struct_size(prefetch, entries, count),
						 GFP_KERNEL_ACCOUNT);
	int err = 0;
	u32 i;

	if (!prefetch)
		return ERR_PTR(-ENOMEM);
	INIT_WORK(&prefetch->work, prefetch_work_fn);
	prefetch->ibdev = to_ibdev(ib->device);
	prefetch->present_only = advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
	for (i = 0; i < count && !err; i++)
		err = prefetch_add_entry(prefetch, ib, &list[i], advice);
	if (!err)
		return prefetch;
	prefetch_free(prefetch);
	return ERR_PTR(err);
}

/* Returns false if too many prefetches are queued. Then the caller must prefetch synchronously. */
static bool prefetch_queue(struct odp_prefetch *prefetch)
{
	struct cxib_odp_user *user = prefetch->context->user;

	if (!atomic_add_unless(&user->prefetches, 1, QUEUED_MAX))
		return false;
	queue_work(user->workqueue, &prefetch->work);
	return true;
}

/* The RDMA core has checked the flags. */
int cxib_advise_mr(struct ib_pd *ib, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		   struct ib_sge *list, u32 count, struct uverbs_attr_bundle *attrs)
{
	struct odp_prefetch *prefetch;
	int err;

	if (advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH &&
	    advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE &&
	    advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return -EOPNOTSUPP;
	if (!count)
		return 0;
	prefetch = prefetch_create(ib, list, count, advice);
	if (IS_ERR(prefetch))
		return PTR_ERR(prefetch);
	if (!(flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH) && prefetch_queue(prefetch))
		return 0;
	err = prefetch_fault_in(prefetch);
	prefetch_free(prefetch);
	return flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH ? err : 0;
}
