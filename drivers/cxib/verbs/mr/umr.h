/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests of the driver's own that change memory keys while they are in use. */
#ifndef CXIB_VERBS_MR_UMR_H
#define CXIB_VERBS_MR_UMR_H

#include <linux/bits.h>

#include "hw/work_queue.h"
#include "verbs/verbs.h"

struct cxib_mkey_params;
struct cxib_qp;

/* Entries of a list are replaced in such units, and it begins and ends with one. */
#define CXIB_UMR_MTT_ALIGN	8

/* Entries that a request replaces at most: 16 KiB of them. */
#define CXIB_UMR_MTT_MAX	2048

/* Entries that requests reach on a device without umr_extended_translation_offset. */
#define CXIB_ENTRIES_REACHED	(2 * BIT(16))

/**
 * struct cxib_umr_change - what becomes of a memory key
 * @key: the key; it belongs to the kernel or to a program, in any protection
 *	domain
 * @mask: HW_MKEY_MASK_…: what changes of its context
 * @params: to what, as far as @mask says
 * @set_free: nobody can use it any more, if @mask says that this changes
 * @is_free: nobody can use it yet; otherwise the request fails if that is so
 * @xlt_offset: of the pages that change; a multiple of %CXIB_UMR_MTT_ALIGN
 * @xlt_count: their number, up to %CXIB_UMR_MTT_MAX; 0: none changes
 */
struct cxib_umr_change {
	u32 key;
	u64 mask;
	const struct cxib_mkey_params *params;
	bool set_free;
	bool is_free;
	u64 xlt_offset;
	unsigned int xlt_count;
};

/* Fills the list of pages of a change. The device does not read it yet. */
typedef void (*cxib_fill_entries)(void *context, __be64 *entries,
				  const struct cxib_umr_change *change);

void cxib_umr_init(struct cxib_ibdev *ibdev);
int cxib_umr_prepare(struct cxib_ibdev *ibdev);
void cxib_umr_destroy(struct cxib_ibdev *ibdev);
int cxib_umr_execute(struct cxib_ibdev *ibdev, const struct cxib_umr_change *change,
		     cxib_fill_entries fill, void *context);
int cxib_umr_enable(struct cxib_ibdev *ibdev, u32 key, u64 entry_count, cxib_fill_entries fill,
		    void *context);
int cxib_umr_clear_free(struct cxib_ibdev *ibdev, u32 key);
const struct hw_wqe_ctrl_seg *cxib_umr_write(struct cxib_qp *qp, u64 wr_id,
					     const struct cxib_umr_change *change,
					     dma_addr_t entries);

#endif
