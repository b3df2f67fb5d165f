/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of programs that the device gets page by page, when it needs it. */
#ifndef CXIB_VERBS_ODP_ODP_H
#define CXIB_VERBS_ODP_ODP_H

#include "verbs/mr/umr.h"
#include "verbs/verbs.h"

struct cxib_page_fault;

/* Where the kernel has no paging on demand, or keeps its pages another way, no device has it. */
#if defined(CONFIG_INFINIBAND_ON_DEMAND_PAGING) && !defined(CXIB_LACKS_PAGE_RIGHTS)
#define CXIB_KERNEL_CAN_PAGE
#endif

/* Access that says that a region is one of these. */
#define CXIB_ODP_ACCESS	(IB_ACCESS_ON_DEMAND | IB_ACCESS_HUGETLB)

/**
 * struct cxib_odp_mr - a region whose pages come in on demand
 * @mr: the region; its memory is a struct ib_umem_odp, whose lock protects the
 *	pages that the key has, and @live
 * @parent: the region of a whole address space that this is a part of; may be NULL
 * @implicit_children: the parts of such a region, struct cxib_odp_mr by number; they stay as
 *	long as the region
 * @null_mkey: what its key has instead of parts that it does not have
 * @has_null_key: that key is its own: page faults that name it name the region
 * @reference: keeps it while pages come in
 * @fault_mutex: one look for pages at a time: two would write what they have seen to the
 *	same place, and take it for their own. Of a whole address space: one new part
 *	at a time. Taken before the lock of the umem, not where memory is reclaimed.
 * @live: the device may know pages of it
 * @faults: pages that came in because transfers waited, with those that the device
 *	wanted along with them
 * @invalidations: pages that were taken away
 * @prefetches: pages that came in ahead of their use
 */
struct cxib_odp_mr {
	struct cxib_mr mr;
	struct cxib_odp_mr *parent;
	struct xarray implicit_children;
	u32 null_mkey;
	bool has_null_key;
	struct cxib_reference reference;
	struct mutex fault_mutex; /* see above */
	bool live;
	atomic64_t faults;
	atomic64_t invalidations;
	atomic64_t prefetches;
};

static inline struct cxib_odp_mr *to_odp_mr(struct ib_mr *ib)
{
	return container_of(to_mr(ib), struct cxib_odp_mr, mr);
}

/**
 * struct cxib_odp_range - memory that shall come in
 * @address: where it begins, as in requests
 * @length: its bytes
 * @for_writing: the pages are going to be written, if the region allows that
 */
struct cxib_odp_range {
	u64 address;
	u64 length;
	bool for_writing;
};

typedef int (*cxib_odp_fault_in_fn)(struct cxib_odp_mr *odp_mr,
				    const struct cxib_odp_range *range);

/* odp.c, odp_present.c */
void cxib_odp_init(struct cxib_ibdev *ibdev);
void cxib_odp_destroy(struct cxib_ibdev *ibdev);
void cxib_describe_paging(const struct cxib_ibdev *ibdev, struct ib_device_attr *attr);
struct ib_mr *cxib_reg_odp_mr(struct ib_pd *ib, u64 start, u64 length, u64 address,
			      int access);
int cxib_dereg_odp_mr(struct ib_mr *ib, struct ib_udata *udata);
int cxib_odp_insert_mkey(struct cxib_odp_mr *odp_mr, u32 key);
void cxib_odp_erase_mkey(struct cxib_odp_mr *odp_mr, u32 key);
struct cxib_odp_mr *cxib_odp_get_mr(struct cxib_ibdev *ibdev, u32 key);
struct cxib_odp_mr *cxib_odp_get_fault_mr(struct cxib_ibdev *ibdev, u32 key);
int cxib_odp_find_range(const struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range,
			u64 *start);
int cxib_odp_fault_in(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range);
int cxib_odp_fault_in_present(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range);

bool cxib_odp_is_implicit(const struct cxib_odp_mr *odp_mr);
int cxib_create_empty_key(struct cxib_odp_mr *odp_mr, struct ib_pd *pd,
			  struct cxib_mkey_params *params, u64 entry_count, cxib_fill_entries fill);
struct cxib_odp_mr *cxib_odp_create_child(struct cxib_odp_mr *parent, u64 start, u64 length);
void cxib_odp_destroy_child(struct cxib_odp_mr *part);

/* odp_whole.c */
bool cxib_odp_can_implicit(const struct cxib_ibdev *ibdev);
int cxib_odp_create_implicit_mkey(struct cxib_odp_mr *parent, struct ib_pd *pd);
void cxib_odp_destroy_children(struct cxib_odp_mr *parent);
int cxib_odp_fault_in_implicit(struct cxib_odp_mr *parent, const struct cxib_odp_range *range,
			       cxib_odp_fault_in_fn bring_in);

/* odp_fault.c */
void cxib_page_fault_event(void *context, const struct cxib_page_fault *fault);

/* odp_prefetch.c */
int cxib_advise_mr(struct ib_pd *ib, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		   struct ib_sge *list, u32 count, struct uverbs_attr_bundle *attrs);

#endif
