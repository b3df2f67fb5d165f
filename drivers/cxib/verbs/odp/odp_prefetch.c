// SPDX-License-Identifier: GPL-2.0-only
/* Prefetching pages of ODP MRs. */
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "verbs/odp/odp.h"

/* Maximum number of queued prefetches of a user. */
#define QUEUED_MAX	64

/**
 * struct prefetch_entry - range to prefetch
 * @odp_mr: the MR, with a reference
 * @range: range of it
 */
struct prefetch_entry {
	struct cxib_odp_mr *odp_mr;
	struct cxib_odp_range range;
};

/**
 * struct odp_prefetch - a prefetch
 * @work: faults in the pages if the prefetch is asynchronous
 * @present_only: fault in only pages that are present in user space
 * @count: number of @entries
 * @entries: the ranges
 */
struct odp_prefetch {
	struct work_struct work;
	bool present_only;
	u32 count;
	struct prefetch_entry entries[];
};

static void prefetch_free(struct odp_prefetch *prefetch)
{
	while (prefetch->count)
		cxib_reference_put(&prefetch->entries[--prefetch->count].odp_mr->reference);
	kvfree(prefetch);
}

static int prefetch_fault_in(const struct odp_prefetch *prefetch)
{
	u32 i;

	for (i = 0; i < prefetch->count; i++) {
		const struct prefetch_entry *entry = &prefetch->entries[i];
		int pages = prefetch->present_only ?
				    cxib_odp_fault_in_present(entry->odp_mr, &entry->range) :
				    cxib_odp_fault_in(entry->odp_mr, &entry->range);

		if (pages < 0)
			return pages;
		atomic64_add(pages, &entry->odp_mr->prefetches);
	}
	return 0;
}

/* All MRs have the same PD, so they are of the same user. */
static struct cxib_odp_user *prefetch_user(const struct odp_prefetch *prefetch)
{
	return prefetch->entries[0].odp_mr->context->user;
}

static void prefetch_work_fn(struct work_struct *work)
{
	struct odp_prefetch *prefetch = container_of(work, struct odp_prefetch, work);

	/* A prefetch is only advice, so errors are ignored. */
	prefetch_fault_in(prefetch);
	atomic_dec(&prefetch_user(prefetch)->prefetches);
	prefetch_free(prefetch);
}

/* User space may only prefetch ODP MRs of its PD. */
static int prefetch_add_entry(struct odp_prefetch *prefetch, struct ib_pd *ib,
			      const struct ib_sge *sge, enum ib_uverbs_advise_mr_advice advice)
{
	struct cxib_odp_mr *odp_mr = cxib_odp_get_mr(to_ibdev(ib->device), sge->lkey);
	bool for_writing = advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE;

	if (!odp_mr)
		return -ENOENT;
	prefetch->entries[prefetch->count++] = (struct prefetch_entry){
		.odp_mr = odp_mr,
		.range = {
			.address = sge->addr,
			.length = sge->length,
			.for_writing = for_writing,
		},
	};
	if (odp_mr->mr.ib.pd != ib || (for_writing && !(odp_mr->mr.access & IB_ACCESS_LOCAL_WRITE)))
		return -EPERM;
	return 0;
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
	struct cxib_odp_user *user = prefetch_user(prefetch);

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
