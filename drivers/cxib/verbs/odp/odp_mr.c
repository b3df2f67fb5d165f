// SPDX-License-Identifier: GPL-2.0-only
/* Objects and mkeys of ODP MRs, and of the child MRs of implicit ODP MRs. */
#include <linux/slab.h>
#include <rdma/ib_umem_odp.h>

#include "hw/mkey.h"
#include "verbs/mkey.h"
#include "verbs/odp/odp_mr.h"
#include "verbs/qp/qp.h"

#ifdef CXIB_KERNEL_CAN_PAGE

/**
 * cxib_odp_destroy_mkey() - destroy the mkey of an MR that user space cannot destroy
 * @odp_mr: the MR
 */
void cxib_odp_destroy_mkey(struct cxib_odp_mr *odp_mr)
{
	cxib_discard_mkey(odp_mr->mr.ib.pd, odp_mr->mr.ib.lkey);
}

/**
 * cxib_odp_create_empty_mkey() - create an mkey and write its translations by UMR
 * @odp_mr: the MR
 * @pd: protection domain
 * @params: attributes of the mkey, without xlt_octowords
 * @entry_count: length of the translation list; a multiple of %CXIB_UMR_MTT_ALIGN
 * @fill: as for cxib_umr_enable()
 *
 * User space can choose a large @entry_count without owning that much memory. The list is not part
 * of CREATE_MKEY, because the mailboxes would need several times the memory of the list.
 *
 * Return: as cxib_mr_create_mkey(), cxib_umr_enable().
 */
int cxib_odp_create_empty_mkey(struct cxib_odp_mr *odp_mr, struct ib_pd *pd,
			       struct cxib_mkey_params *params, u64 entry_count,
			       cxib_fill_entries fill)
{
	int err;

	params->xlt_octowords = entry_count * sizeof(__be64) / CXIB_DS_SIZE;
	err = cxib_mr_create_mkey(&odp_mr->mr, pd, params);
	if (err)
		return err;
	err = cxib_umr_enable(to_ibdev(pd->device), odp_mr->mr.ib.lkey, entry_count, fill, odp_mr);
	if (err)
		cxib_odp_destroy_mkey(odp_mr);
	return err;
}

/**
 * cxib_odp_create_mkey() - create the mkey of an MR that is not an implicit ODP MR
 * @odp_mr: the MR, with memory
 * @pd: protection domain
 *
 * Return: as cxib_odp_create_empty_mkey().
 */
int cxib_odp_create_mkey(struct cxib_odp_mr *odp_mr, struct ib_pd *pd)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(odp_mr->mr.umem);
	const u64 entry_count = ALIGN(ib_umem_odp_num_pages(memory), CXIB_UMR_MTT_ALIGN);
	struct cxib_mkey_params params = {
		.start_addr = odp_mr->mr.ib.iova,
		.length = odp_mr->mr.ib.length,
		.log_page_size = memory->page_shift,
		.odp = true,
	};

	return cxib_odp_create_empty_mkey(odp_mr, pd, &params, entry_count, NULL);
}

static void odp_mr_set_has_key(struct cxib_odp_mr *odp_mr)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(odp_mr->mr.umem);

	mutex_lock(&memory->umem_mutex);
	odp_mr->live = true;
	mutex_unlock(&memory->umem_mutex);
}

/**
 * cxib_odp_publish() - let page faults find an MR from here on
 * @odp_mr: the MR, with an mkey
 *
 * Return: as cxib_odp_insert_mkey().
 */
int cxib_odp_publish(struct cxib_odp_mr *odp_mr)
{
	odp_mr_set_has_key(odp_mr);
	return cxib_odp_insert_mkey(odp_mr, odp_mr->mr.ib.lkey);
}

/**
 * cxib_odp_alloc_mr() - allocate an MR without memory and mkey
 * @ib: RDMA device
 * @address: iova
 * @length: bytes
 * @access: IB_ACCESS_…, checked
 *
 * Return: the MR, to be freed with kfree(); NULL.
 */
struct cxib_odp_mr *cxib_odp_alloc_mr(struct ib_device *ib, u64 address, u64 length, int access)
{
	static atomic64_t serial;
	struct cxib_odp_mr *odp_mr = kzalloc(sizeof(*odp_mr), GFP_KERNEL_ACCOUNT);

	if (!odp_mr)
		return NULL;
	cxib_reference_init(&odp_mr->reference);
	mutex_init(&odp_mr->fault_mutex);
	spin_lock_init(&odp_mr->populate_lock);
	INIT_LIST_HEAD(&odp_mr->populates);
	xa_init(&odp_mr->implicit_children);
	INIT_LIST_HEAD(&odp_mr->condemned);
	odp_mr->serial = atomic64_inc_return(&serial);
	odp_mr->mr.is_odp = true;
	odp_mr->mr.access = access;
	odp_mr->mr.ib.iova = address;
	odp_mr->mr.ib.length = length;
	odp_mr->mr.ib.device = ib;
	return odp_mr;
}

/**
 * cxib_odp_create_child() - create a child MR of an implicit ODP MR
 * @parent: the implicit ODP MR
 * @start: first byte, as a user address
 * @length: bytes
 *
 * Return: the child MR, or an ERR_PTR(): -EFAULT if the address space is being destroyed, -ENOMEM
 * also if the lists of the user context would become too long.
 */
struct cxib_odp_mr *cxib_odp_create_child(struct cxib_odp_mr *parent, u64 start, u64 length)
{
	struct cxib_odp_mr *child;
	struct ib_umem_odp *memory;
	int err;

	child = cxib_odp_alloc_mr(parent->mr.ib.device, start, length, parent->mr.access);
	if (!child)
		return ERR_PTR(-ENOMEM);
	child->parent = parent;
	child->context = parent->context;
	child->mr.ib.pd = parent->mr.ib.pd;
	err = cxib_odp_charge(child, length >> PAGE_SHIFT);
	if (err)
		goto free_child;
	memory = ib_umem_odp_alloc_child(to_ib_umem_odp(parent->mr.umem), start, length,
					 &cxib_odp_notifier_ops);
	if (IS_ERR(memory)) {
		err = PTR_ERR(memory);
		goto uncharge;
	}
	memory->private = child;
	child->mr.umem = &memory->umem;
	err = cxib_odp_create_mkey(child, parent->mr.ib.pd);
	if (err)
		goto release;
	err = cxib_odp_publish(child);
	if (err)
		goto destroy_key;
	return child;

destroy_key:
	cxib_odp_destroy_mkey(child);
release:
	ib_umem_odp_release(memory);
uncharge:
	cxib_odp_uncharge(child);
free_child:
	kfree(child);
	return ERR_PTR(err);
}

/**
 * cxib_odp_destroy_child() - undo cxib_odp_create_child()
 * @child: child MR without users; no KSM of its parent names it, or the mkey of its parent is
 *	destroyed
 */
void cxib_odp_destroy_child(struct cxib_odp_mr *child)
{
	cxib_odp_revoke(child);
	cxib_odp_erase_mkey(child, child->mr.ib.lkey);
	cxib_odp_destroy_mkey(child);
	ib_umem_odp_release(to_ib_umem_odp(child->mr.umem));
	cxib_odp_uncharge(child);
	kfree(child);
}

#endif
