/* SPDX-License-Identifier: GPL-2.0-only */
/* Protection domains (PDs). */
#ifndef CXIB_VERBS_PD_H
#define CXIB_VERBS_PD_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

/**
 * struct cxib_pd - a protection domain
 * @ib: the RDMA core's PD
 * @pdn: PDN
 * @uid: owner uid; 0: kernel
 * @key_lock: protects @key and @has_key while the mkey is created
 * @key: DMA MR mkey, see cxib_pd_create_dma_mkey()
 * @has_key: @key was created by the driver
 */
struct cxib_pd {
	struct ib_pd ib;
	u32 pdn;
	u16 uid;
	struct mutex key_lock; /* key, has_key */
	u32 key;
	bool has_key;
};

static inline struct cxib_pd *to_pd(struct ib_pd *ib)
{
	return container_of(ib, struct cxib_pd, ib);
}

/*
 * Returns the user context of the objects in a PD; NULL for kernel objects, and for XRC_TGT QPs of
 * user space, which have no PD.
 */
static inline struct ib_ucontext *cxib_pd_context(const struct ib_pd *ib)
{
	return ib && ib->uobject ? ib->uobject->context : NULL;
}

void cxib_abort_pd(struct cxib_pd *pd, struct ib_udata *udata);
int cxib_alloc_pd_kernel(struct ib_pd *ib, struct ib_udata *udata);
int cxib_dealloc_pd_kernel(struct ib_pd *ib, struct ib_udata *udata);
int cxib_pd_create_dma_mkey(struct ib_pd *ib);

#endif
