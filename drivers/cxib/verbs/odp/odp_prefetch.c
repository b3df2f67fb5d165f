// SPDX-License-Identifier: GPL-2.0-only
/* Pages of regions on demand that come in before a transfer needs them. */
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "verbs/odp/odp.h"

/* Prefetches of all programs that are queued at most: what they take is nobody's memory. */
#define QUEUED_MAX	64

/**
 * struct part - memory of a region
 * @odp_mr: the region, kept
 * @range: which of its memory
 */
struct part {
	struct cxib_odp_mr *odp_mr;
	struct cxib_odp_range range;
};

/**
 * struct prefetch - memory that shall come in
 * @work: brings it in later
 * @ibdev: RDMA device
 * @present_only: as far as the program has it already
 * @count: of @parts
 * @parts: the memory
 */
struct prefetch {
	struct work_struct work;
	struct cxib_ibdev *ibdev;
	bool present_only;
	u32 count;
	struct part parts[];
};

static void free_prefetch(struct prefetch *prefetch)
{
	while (prefetch->count)
		cxib_reference_put(&prefetch->parts[--prefetch->count].odp_mr->reference);
	kvfree(prefetch);
}

static int bring_in(const struct prefetch *prefetch)
{
	u32 i;

	for (i = 0; i < prefetch->count; i++) {
		const struct part *part = &prefetch->parts[i];
		int pages = prefetch->present_only ?
				    cxib_odp_fault_in_present(part->odp_mr, &part->range) :
				    cxib_odp_fault_in(part->odp_mr, &part->range);

		if (pages < 0)
			return pages;
		atomic64_add(pages, &part->odp_mr->prefetches);
	}
	return 0;
}

static void bring_in_later(struct work_struct *work)
{
	struct prefetch *prefetch = container_of(work, struct prefetch, work);
	struct cxib_ibdev *ibdev = prefetch->ibdev;

	/* It was advice. */
	bring_in(prefetch);
	free_prefetch(prefetch);
	atomic_dec(&ibdev->paging.prefetches);
}

/* Keys of other domains, and of regions that are not paged, are not the program's to name. */
static int add_part(struct prefetch *prefetch, struct ib_pd *ib, const struct ib_sge *sge,
		    enum ib_uverbs_advise_mr_advice advice)
{
	struct cxib_odp_mr *odp_mr = cxib_odp_get_mr(to_ibdev(ib->device), sge->lkey);
	bool for_writing = advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE;

	if (!odp_mr)
		return -ENOENT;
	prefetch->parts[prefetch->count++] = (struct part){
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

static struct prefetch *make_prefetch(struct ib_pd *ib, const struct ib_sge *list, u32 count,
				      enum ib_uverbs_advise_mr_advice advice)
{
	struct prefetch *prefetch = kvzalloc(struct_size(prefetch, parts, count),
					     GFP_KERNEL_ACCOUNT);
	int err = 0;
	u32 i;

	if (!prefetch)
		return ERR_PTR(-ENOMEM);
	INIT_WORK(&prefetch->work, bring_in_later);
	prefetch->ibdev = to_ibdev(ib->device);
	prefetch->present_only = advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
	for (i = 0; i < count && !err; i++)
		err = add_part(prefetch, ib, &list[i], advice);
	if (!err)
		return prefetch;
	free_prefetch(prefetch);
	return ERR_PTR(err);
}

/* Returns false when there are too many already: then the program has to do it itself. */
static bool queue_prefetch(struct prefetch *prefetch)
{
	struct cxib_odp *paging = &prefetch->ibdev->paging;

	if (!atomic_add_unless(&paging->prefetches, 1, QUEUED_MAX))
		return false;
	queue_work(paging->workqueue, &prefetch->work);
	return true;
}

/* The core knows no other advice, and has checked the flags. */
int cxib_advise_mr(struct ib_pd *ib, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		   struct ib_sge *list, u32 count, struct uverbs_attr_bundle *attrs)
{
	struct prefetch *prefetch;
	int err;

	if (advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH &&
	    advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE &&
	    advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return -EOPNOTSUPP;
	/* With a region there is a workqueue. */
	if (!count)
		return 0;
	prefetch = make_prefetch(ib, list, count, advice);
	if (IS_ERR(prefetch))
		return PTR_ERR(prefetch);
	if (!(flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH) && queue_prefetch(prefetch))
		return 0;
	err = bring_in(prefetch);
	free_prefetch(prefetch);
	return flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH ? err : 0;
}
