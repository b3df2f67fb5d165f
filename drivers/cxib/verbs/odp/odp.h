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
#define CXIB_PAGED_ACCESS	(IB_ACCESS_ON_DEMAND | IB_ACCESS_HUGETLB)

/**
 * struct cxib_paged_mr - a region whose pages come in on demand
 * @mr: the region; its memory is a struct ib_umem_odp, whose lock protects the
 *	pages that the key has, and @has_key
 * @whole: the region of a whole address space that this is a part of; may be NULL
 * @parts: the parts of such a region, struct cxib_paged_mr by number; they stay as
 *	long as the region
 * @null_key: what its key has instead of parts that it does not have
 * @has_null_key: that key is its own: page faults that name it name the region
 * @reference: keeps it while pages come in
 * @seeking: one look for pages at a time: two would write what they have seen to the
 *	same place, and take it for their own. Of a whole address space: one new part
 *	at a time. Taken before the lock of the umem, not where memory is reclaimed.
 * @has_key: the device may know pages of it
 * @faults: pages that came in because transfers waited, with those that the device
 *	wanted along with them
 * @invalidations: pages that were taken away
 * @prefetches: pages that came in ahead of their use
 */
struct cxib_paged_mr {
	struct cxib_mr mr;
	struct cxib_paged_mr *whole;
	struct xarray parts;
	u32 null_key;
	bool has_null_key;
	struct cxib_reference reference;
	struct mutex seeking; /* see above */
	bool has_key;
	atomic64_t faults;
	atomic64_t invalidations;
	atomic64_t prefetches;
};

static inline struct cxib_paged_mr *to_paged_mr(struct ib_mr *ib)
{
	return container_of(to_mr(ib), struct cxib_paged_mr, mr);
}

/**
 * struct cxib_paged_range - memory that shall come in
 * @address: where it begins, as in requests
 * @length: its bytes
 * @for_writing: the pages are going to be written, if the region allows that
 */
struct cxib_paged_range {
	u64 address;
	u64 length;
	bool for_writing;
};

typedef int (*cxib_bring_in_pages)(struct cxib_paged_mr *paged,
				   const struct cxib_paged_range *range);

/* odp.c, odp_present.c */
void cxib_paging_init(struct cxib_verbs *verbs);
void cxib_paging_destroy(struct cxib_verbs *verbs);
void cxib_describe_paging(const struct cxib_verbs *verbs, struct ib_device_attr *attr);
struct ib_mr *cxib_register_paged_mr(struct ib_pd *ib, u64 start, u64 length, u64 address,
				     int access);
int cxib_deregister_paged_mr(struct ib_mr *ib, struct ib_udata *udata);
int cxib_publish_key(struct cxib_paged_mr *paged, u32 key);
void cxib_withdraw_key(struct cxib_paged_mr *paged, u32 key);
struct cxib_paged_mr *cxib_get_paged_mr(struct cxib_verbs *verbs, u32 key);
struct cxib_paged_mr *cxib_get_faulting_mr(struct cxib_verbs *verbs, u32 key);
int cxib_find_paged(const struct cxib_paged_mr *paged, const struct cxib_paged_range *range,
		    u64 *start);
int cxib_bring_in(struct cxib_paged_mr *paged, const struct cxib_paged_range *range);
int cxib_bring_in_present(struct cxib_paged_mr *paged, const struct cxib_paged_range *range);

bool cxib_is_whole(const struct cxib_paged_mr *paged);
int cxib_create_empty_key(struct cxib_paged_mr *paged, struct ib_pd *pd,
			  struct cxib_mkey_params *params, u64 entry_count, cxib_fill_entries fill);
struct cxib_paged_mr *cxib_create_part(struct cxib_paged_mr *whole, u64 start, u64 length);
void cxib_destroy_part(struct cxib_paged_mr *part);

/* odp_whole.c */
bool cxib_can_page_whole(const struct cxib_verbs *verbs);
int cxib_create_whole_key(struct cxib_paged_mr *whole, struct ib_pd *pd);
void cxib_destroy_parts(struct cxib_paged_mr *whole);
int cxib_bring_in_parts(struct cxib_paged_mr *whole, const struct cxib_paged_range *range,
			cxib_bring_in_pages bring_in);

/* odp_fault.c */
void cxib_page_fault_event(void *context, const struct cxib_page_fault *fault);

/* odp_prefetch.c */
int cxib_advise_mr(struct ib_pd *ib, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		   struct ib_sge *list, u32 count, struct uverbs_attr_bundle *attrs);

#endif
