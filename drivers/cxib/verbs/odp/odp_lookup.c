// SPDX-License-Identifier: GPL-2.0-only
/* Finds ODP MRs by their mkeys. */
#include <kunit/visibility.h>

#include "verbs/odp/odp_mr.h"

#define KEY_SHIFT	8

#ifdef CXIB_KERNEL_CAN_PAGE

/**
 * cxib_odp_insert_mkey() - let page faults that name an mkey find its MR
 * @odp_mr: the MR or child MR
 * @key: mkey of it
 *
 * Replaces the entry of an MR that is being destroyed and whose mkey had the same index.
 *
 * Return: 0 or -ENOMEM.
 */
int cxib_odp_insert_mkey(struct cxib_odp_mr *odp_mr, u32 key)
{
	struct cxib_ibdev *ibdev = to_ibdev(odp_mr->mr.ib.device);

	return xa_err(xa_store(&ibdev->odp.regions, key >> KEY_SHIFT, odp_mr, GFP_KERNEL));
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_insert_mkey);

/**
 * cxib_odp_erase_mkey() - undo cxib_odp_insert_mkey()
 * @odp_mr: the MR or child MR
 * @key: mkey of it
 */
void cxib_odp_erase_mkey(struct cxib_odp_mr *odp_mr, u32 key)
{
	struct cxib_ibdev *ibdev = to_ibdev(odp_mr->mr.ib.device);

	xa_cmpxchg(&ibdev->odp.regions, key >> KEY_SHIFT, odp_mr, NULL, GFP_KERNEL);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_erase_mkey);

/* Returns the MR of an mkey, or the parent of the child MR; NULL if the MR is being destroyed. */
static struct cxib_odp_mr *odp_find_region(struct xarray *regions, u32 key)
{
	struct cxib_odp_mr *odp_mr = xa_load(regions, key >> KEY_SHIFT);

	lockdep_assert_held(&regions->xa_lock);

	if (!odp_mr || (odp_mr->mr.ib.lkey != key &&
			!(odp_mr->has_null_key && odp_mr->null_mkey == key)))
		return NULL;
	/* The lookup of a child MR takes no reference to its parent. */
	odp_mr = odp_mr->parent ?: odp_mr;
	return xa_load(regions, odp_mr->mr.ib.lkey >> KEY_SHIFT) == odp_mr ? odp_mr : NULL;
}

/**
 * cxib_odp_get_fault_mr() - get the MR of a page fault
 * @ibdev: RDMA device
 * @key: mkey of the fault; untrusted, and possibly the mkey of a child MR
 *
 * Return: the MR, never a child MR, with a reference that the caller puts with
 * cxib_reference_put(); NULL if there is none.
 */
struct cxib_odp_mr *cxib_odp_get_fault_mr(struct cxib_ibdev *ibdev, u32 key)
{
	struct xarray *regions = &ibdev->odp.regions;
	struct cxib_odp_mr *odp_mr;

	xa_lock(regions);
	odp_mr = odp_find_region(regions, key);
	if (odp_mr)
		refcount_inc(&odp_mr->reference.count);
	xa_unlock(regions);
	return odp_mr;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_get_fault_mr);

/**
 * cxib_odp_get_mr() - get the ODP MR of an mkey
 * @ibdev: RDMA device
 * @key: mkey; untrusted
 *
 * Return: the MR, with a reference that the caller puts with cxib_reference_put(); NULL
 * if @key is not the mkey of an ODP MR.
 */
struct cxib_odp_mr *cxib_odp_get_mr(struct cxib_ibdev *ibdev, u32 key)
{
	struct cxib_odp_mr *odp_mr = cxib_odp_get_fault_mr(ibdev, key);

	if (!odp_mr || odp_mr->mr.ib.lkey == key)
		return odp_mr;
	/* @key is the mkey of a child MR, which user space must not use. */
	cxib_reference_put(&odp_mr->reference);
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_get_mr);

#endif
