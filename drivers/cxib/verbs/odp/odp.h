/* SPDX-License-Identifier: GPL-2.0-only */
/* ODP: user memory whose pages are faulted in when the device needs them. */
#ifndef CXIB_VERBS_ODP_ODP_H
#define CXIB_VERBS_ODP_ODP_H

#include <linux/list.h>
#include <linux/workqueue.h>

#include "verbs/mr/umr.h"
#include "verbs/verbs.h"

struct cxib_page_fault;

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
#define CXIB_KERNEL_CAN_PAGE
#endif

/* Access flags that only ODP MRs have. */
#define CXIB_ODP_ACCESS	(IB_ACCESS_ON_DEMAND | IB_ACCESS_HUGETLB)

/**
 * struct cxib_odp_mr - an ODP MR
 * @mr: the MR; its umem is a struct ib_umem_odp, whose umem_mutex protects the MTTs of
 *	the mkey and @live
 * @context: state that all ODP MRs of the user context share
 * @charged: pages that are charged to @context
 * @serial: number of the MR; no other one has it
 * @parent: the implicit ODP MR of a child MR; otherwise NULL
 * @implicit_children: child MRs of an implicit ODP MR: struct cxib_odp_mr by number. Protected by
 *	@fault_mutex, like @condemned.
 * @condemned: list of child MRs that have no pages and that no KSM names
 * @reap_work: condemns and destroys child MRs
 * @condemned_node: entry of a child MR in the @condemned of its parent
 * @condemned_at: when it was condemned, jiffies
 * @users: faults and prefetches in progress in a child MR; protected by the @fault_mutex of its
 *	parent
 * @null_mkey: mkey in the KSM entries without a child MR
 * @has_null_key: this MR owns @null_mkey, so a page fault that names @null_mkey is a fault of the
 *	MR
 * @reference: keeps the MR while pages are faulted in
 * @fault_mutex: serializes the creation and destruction of child MRs of an implicit ODP MR. Taken
 *	before umem_mutex; not taken in memory reclaim.
 * @populate_lock: protects @populates and @is_ending. Innermost lock.
 * @populates: struct cxib_odp_populate for which page faults of the MR or of a child MR wait
 * @is_ending: page faults no longer wait for pages
 * @live: the device may use pages of the MR
 * @is_unusable: UMR WQEs for the mkey fail, so the driver posts no further ones. Protected like
 *	@live.
 * @faults: number of pages faulted in by page fault events, including those that the device has
 *	requested before and after the missing pages
 * @invalidations: pages that were invalidated
 * @prefetches: pages that were prefetched
 */
struct cxib_odp_mr {
	struct cxib_mr mr;
	struct cxib_odp_context *context;
	u64 charged;
	u64 serial;
	struct cxib_odp_mr *parent;
	struct xarray implicit_children;
	struct list_head condemned;
	struct delayed_work reap_work;
	struct list_head condemned_node;
	unsigned long condemned_at;
	unsigned int users;
	u32 null_mkey;
	bool has_null_key;
	struct cxib_reference reference;
	struct mutex fault_mutex; /* children */
	spinlock_t populate_lock; /* populates, is_ending */
	struct list_head populates;
	bool is_ending;
	bool live;
	bool is_unusable;
	atomic64_t faults;
	atomic64_t invalidations;
	atomic64_t prefetches;
};

static inline struct cxib_odp_mr *to_odp_mr(struct ib_mr *ib)
{
	return container_of(to_mr(ib), struct cxib_odp_mr, mr);
}

/**
 * struct cxib_odp_range - range of memory to fault in
 * @address: first byte, as in WQEs
 * @length: bytes
 * @for_writing: fault in for writing if the MR allows it
 */
struct cxib_odp_range {
	u64 address;
	u64 length;
	bool for_writing;
};

/* odp.c, odp_present.c */
void cxib_odp_init(struct cxib_ibdev *ibdev);
void cxib_odp_end_faults(struct cxib_ibdev *ibdev);
void cxib_odp_destroy(struct cxib_ibdev *ibdev);
void cxib_odp_fill_attr(const struct cxib_ibdev *ibdev, struct ib_device_attr *attr);
struct ib_mr *cxib_reg_odp_mr(struct ib_pd *ib, u64 start, u64 length, u64 address,
			      int access);
int cxib_dereg_odp_mr(struct ib_mr *ib, struct ib_udata *udata);
struct cxib_odp_mr *cxib_odp_get_mr(struct cxib_ibdev *ibdev, u32 key);
struct cxib_odp_mr *cxib_odp_get_fault_mr(struct cxib_ibdev *ibdev, u32 key);
int cxib_odp_fault_in(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range);
int cxib_odp_fault_in_present(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range);

/* odp_populate.c */
void cxib_odp_exit(void);

/* odp_fault.c */
void cxib_page_fault_event(void *context, const struct cxib_page_fault *fault);

/* odp_prefetch.c */
int cxib_advise_mr(struct ib_pd *ib, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		   struct ib_sge *list, u32 count, struct uverbs_attr_bundle *attrs);

#endif
