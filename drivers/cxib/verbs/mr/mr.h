/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory regions (MRs) and memory windows (MWs). */
#ifndef CXIB_VERBS_MR_MR_H
#define CXIB_VERBS_MR_MR_H

#include <linux/bits.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>

/* Maximum number of entries of a fast registration MR: 64 KiB if they are KLMs. */
#define CXIB_FAST_REG_MAX	4096

/* Access bits of an MTT, in the low bits of the page address. */
#define CXIB_MTT_READ	BIT(0)
#define CXIB_MTT_WRITE	BIT(1)

/**
 * struct cxib_mr - a memory region
 * @ib: the RDMA core's MR
 * @umem: user memory; NULL for kernel memory or MEMIC. Reregistration replaces it, so only verbs
 *	that own the MR may use it; readers such as restrack may not.
 * @umem_users: number of mkeys that map @umem; NULL: only the mkey of this MR
 * @umem_in_doubt: memory that the mkey may still map after a failed UMR; NULL: none
 * @is_odp: the MR is the first member of struct cxib_odp_mr; never changes
 * @is_replaced: user space has got a new MR instead and no longer knows this MR
 * @access: IB_ACCESS_… of a user MR
 * @descs: entries of a fast registration MR; NULL for others
 * @desc_map: DMA address of @descs
 * @list_size: size of @descs, bytes
 * @desc_size: size of an entry, bytes
 * @max_descs: maximum number of entries
 * @ndescs: number of filled entries
 * @xlt_octowords: octowords of @descs that the device reads
 * @log_page_size: log2 of the page size of the filled entries
 * @is_indirect: entries are KLMs, not pages
 */
struct cxib_mr {
	struct ib_mr ib;
	struct ib_umem *umem;
	refcount_t *umem_users;
	struct ib_umem *umem_in_doubt;
	bool is_odp;
	bool is_replaced;
	u32 access;
	void *descs;
	dma_addr_t desc_map;
	size_t list_size;
	unsigned int desc_size;
	unsigned int max_descs;
	unsigned int ndescs;
	u32 xlt_octowords;
	u8 log_page_size;
	bool is_indirect;
};

/**
 * struct cxib_mw - a memory window
 * @ib: MW of the RDMA core, with its mkey
 */
struct cxib_mw {
	struct ib_mw ib;
};

static inline struct cxib_mr *to_mr(struct ib_mr *ib)
{
	return container_of(ib, struct cxib_mr, ib);
}

struct ib_mr *cxib_get_dma_mr(struct ib_pd *ib, int access);
struct ib_mr *cxib_reg_user_mr(struct ib_pd *ib, u64 start, u64 length, u64 address, int access);
struct ib_mr *cxib_reg_user_mr_dmabuf(struct ib_pd *ib, u64 offset, u64 length, u64 address,
				      int fd, int access);
struct ib_mr *cxib_rereg_user_mr(struct ib_mr *ib, int flags, u64 start, u64 length,
				 u64 address, int access, struct ib_pd *pd,
				 struct ib_udata *udata);
struct ib_mr *cxib_reg_memic_mr(struct ib_pd *ib, u64 start, u64 length, int access);
int cxib_dereg_mr(struct ib_mr *ib, struct ib_udata *udata);

/* fast_reg.c */
struct ib_mr *cxib_alloc_mr(struct ib_pd *ib, enum ib_mr_type type, u32 max);
int cxib_map_mr_sg(struct ib_mr *ib, struct scatterlist *list, int count, unsigned int *offset);
int cxib_mr_alloc_descs(struct ib_device *ib, struct cxib_mr *mr);
void cxib_mr_free_descs(struct ib_device *ib, struct cxib_mr *mr);
void cxib_mr_set_ndescs(struct cxib_mr *mr, unsigned int count);

/* mr_ops.c */
extern const struct ib_device_ops cxib_mr_ops;

/* mw.c */
int cxib_alloc_mw(struct ib_mw *ib, struct ib_udata *udata);
int cxib_dealloc_mw(struct ib_mw *ib);

#endif
