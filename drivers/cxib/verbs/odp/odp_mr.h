/* SPDX-License-Identifier: GPL-2.0-only */
/* ODP MRs: declarations that the files of odp/ share. */
#ifndef CXIB_VERBS_ODP_ODP_MR_H
#define CXIB_VERBS_ODP_ODP_MR_H

#include <rdma/ib_umem_odp.h>

#include "compat/workqueue.h"
#include "verbs/odp/odp.h"

/*
 * Maximum number of workers of a user. A process can delay the page faults of its own memory for
 * any time, for example by a FUSE file.
 */
#define CXIB_ODP_WORKERS_MAX	32

typedef int (*cxib_odp_fault_in_fn)(struct cxib_odp_mr *odp_mr,
				    const struct cxib_odp_range *range);

/* odp_context.c */
struct cxib_odp_context *cxib_odp_get_context(struct cxib_ibdev *ibdev,
					      const struct ib_ucontext *owner);
void cxib_odp_init_context(struct cxib_odp_context *context, const struct ib_ucontext *owner,
			   struct cxib_odp_user *user);
kuid_t cxib_odp_uid(struct user_namespace *ns, kuid_t uid);
int cxib_odp_init_user(struct cxib_odp_user *user, kuid_t uid);
void cxib_odp_destroy_user(struct cxib_odp_user *user);
struct cxib_odp_context *cxib_odp_find_context(struct cxib_ibdev *ibdev,
					       const struct ib_ucontext *owner);
void cxib_odp_wait_for_users(struct cxib_odp *odp);
void cxib_odp_put_context(struct cxib_ibdev *ibdev, struct cxib_odp_context *context);
u64 cxib_odp_pages_max(u64 memory);
int cxib_odp_charge(struct cxib_odp_mr *odp_mr, u64 pages);
void cxib_odp_uncharge(struct cxib_odp_mr *odp_mr);

/* odp_lookup.c */
int cxib_odp_insert_mkey(struct cxib_odp_mr *odp_mr, u32 key);
void cxib_odp_erase_mkey(struct cxib_odp_mr *odp_mr, u32 key);

/* odp_mr.c */
struct cxib_odp_mr *cxib_odp_alloc_mr(struct ib_device *ib, u64 address, u64 length, int access);
int cxib_odp_create_empty_mkey(struct cxib_odp_mr *odp_mr, struct ib_pd *pd,
			       struct cxib_mkey_params *params, u64 entry_count,
			       cxib_fill_entries fill);
int cxib_odp_create_mkey(struct cxib_odp_mr *odp_mr, struct ib_pd *pd);
void cxib_odp_destroy_mkey(struct cxib_odp_mr *odp_mr);
int cxib_odp_publish(struct cxib_odp_mr *odp_mr);
struct cxib_odp_mr *cxib_odp_create_child(struct cxib_odp_mr *parent, u64 start, u64 length);
void cxib_odp_destroy_child(struct cxib_odp_mr *child);

/* odp_pages.c */
extern const struct mmu_interval_notifier_ops cxib_odp_notifier_ops;
int cxib_odp_find_range(const struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range,
			u64 *start);
int cxib_odp_write_mtts(struct cxib_odp_mr *odp_mr, u64 first, u64 end);
int cxib_odp_umr(struct cxib_odp_mr *odp_mr, const struct cxib_umr_change *change,
		 cxib_fill_entries fill, void *context);
void cxib_odp_revoke(struct cxib_odp_mr *odp_mr);

/* odp_present.c */
int cxib_odp_fault_in_pages(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range);

/* odp_populate.c */
struct cxib_odp_pager *cxib_odp_get_pager(kuid_t uid);
void cxib_odp_put_pager(struct cxib_odp_pager *pager);
typedef int (*cxib_odp_map_fn)(void *context, u64 *absent);
int cxib_odp_populate(struct cxib_odp_mr *odp_mr, u64 end, bool for_writing, cxib_odp_map_fn map,
		      void *context);
void cxib_odp_end_populates(struct cxib_odp_mr *odp_mr);

/* odp_implicit.c */
bool cxib_odp_can_implicit(const struct cxib_ibdev *ibdev);
int cxib_odp_create_implicit_mkey(struct cxib_odp_mr *parent, struct ib_pd *pd);
void cxib_odp_init_reap(struct cxib_odp_mr *parent);
void cxib_odp_reap(struct cxib_odp_mr *parent);
void cxib_odp_destroy_children(struct cxib_odp_mr *parent);
int cxib_odp_fault_in_implicit(struct cxib_odp_mr *parent, const struct cxib_odp_range *range,
			       cxib_odp_fault_in_fn fault_in, int absent);

/* Delay before child MRs without pages are condemned, because memory is often mapped again soon. */
#define CXIB_ODP_REAP_DELAY	HZ

/* Schedules the destruction of child MRs without pages. Context: any. */
static inline void cxib_odp_reap_later(struct cxib_odp_mr *parent)
{
	queue_delayed_work(system_dfl_wq, &parent->reap_work, CXIB_ODP_REAP_DELAY);
}

#ifdef CXIB_KERNEL_CAN_PAGE
static inline bool cxib_odp_is_implicit(const struct cxib_odp_mr *odp_mr)
{
	return to_ib_umem_odp(odp_mr->mr.umem)->is_implicit_odp;
}
#else
static inline bool cxib_odp_is_implicit(const struct cxib_odp_mr *odp_mr)
{
	return false;
}
#endif

#endif
