/* SPDX-License-Identifier: GPL-2.0-only */
/* UMR: the driver's own WQEs that modify mkeys in use. */
#ifndef CXIB_VERBS_MR_UMR_H
#define CXIB_VERBS_MR_UMR_H

#include <linux/bits.h>

#include "hw/work_queue.h"
#include "verbs/verbs.h"

struct cxib_mkey_params;
struct cxib_qp;

/* UMR WQEs replace MTTs in aligned units of this number. */
#define CXIB_UMR_MTT_ALIGN	8

/*
 * Maximum number of MTTs that a UMR WQE replaces. Each RDMA device has one list of this length,
 * with 16 KiB of DMA memory.
 */
#define CXIB_UMR_MTT_MAX	2048

/* Number of MTTs that xlt_offset can address without umr_extended_translation_offset. */
#define CXIB_ENTRIES_REACHED	(2 * BIT(16))

/**
 * struct cxib_umr_change - change of an mkey
 * @key: the mkey; of the kernel or of a user context, in any PD
 * @mask: HW_MKEY_MASK_…: fields of the mkey context that change
 * @params: new values of the fields in @mask
 * @set_free: new value of the free bit, if @mask contains it; no transfer can use a free mkey
 * @is_free: the WQE fails if the mkey is not free. No flag makes a WQE fail because the mkey is
 *	free, since a process can free the mkeys of its MRs.
 * @xlt_offset: first MTT that changes; a multiple of %CXIB_UMR_MTT_ALIGN
 * @xlt_count: number of MTTs that change, up to %CXIB_UMR_MTT_MAX; 0: none
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

/* Fills in the MTTs of a change, before the device reads them. */
typedef void (*cxib_fill_entries)(void *context, __be64 *entries,
				  const struct cxib_umr_change *change);

void cxib_umr_init(struct cxib_ibdev *ibdev);
int cxib_umr_prepare(struct cxib_ibdev *ibdev);
void cxib_umr_destroy(struct cxib_ibdev *ibdev);
int cxib_umr_execute(struct cxib_ibdev *ibdev, const struct cxib_umr_change *change,
		     cxib_fill_entries fill, void *context);
int cxib_umr_revoke(struct cxib_ibdev *ibdev, u32 key);
bool cxib_umr_has_revoked(struct cxib_ibdev *ibdev, u32 key);
int cxib_umr_enable(struct cxib_ibdev *ibdev, u32 key, u64 entry_count, cxib_fill_entries fill,
		    void *context);
int cxib_umr_clear_free(struct cxib_ibdev *ibdev, u32 key);
const struct hw_wqe_ctrl_seg *cxib_umr_write(struct cxib_qp *qp, u64 wr_id,
					     const struct cxib_umr_change *change,
					     dma_addr_t entries);

#endif
