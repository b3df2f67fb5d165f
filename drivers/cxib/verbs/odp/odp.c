// SPDX-License-Identifier: GPL-2.0-only
/*
 * ODP: the mkey of an MR is created without pages. A transfer that needs a missing page waits until
 * the driver has faulted in the page and written its MTT. Before the kernel reclaims the page, an
 * MMU notifier invalidates the MTT.
 *
 * Locking: umem_mutex protects the MTTs of the mkey. Memory reclaim takes it, and the driver posts
 * UMR WQEs while it holds it.
 */
#include <kunit/visibility.h>
#include <linux/mmu_notifier.h>
#include <linux/overflow.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_umem_odp.h>

#include "hw/mkey.h"
#include "verbs/mkey.h"
#include "verbs/mr/umr.h"
#include "verbs/odp/odp_mr.h"

#ifdef CXIB_KERNEL_CAN_PAGE

/**
 * cxib_odp_fault_in() - fault in pages and write their MTTs
 * @odp_mr: MR with a reference
 * @range: range of the MR
 *
 * Context: process context, may sleep; without locks that memory reclaim takes.
 * Return: as cxib_odp_fault_in_pages(), cxib_odp_fault_in_implicit().
 */
int cxib_odp_fault_in(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range)
{
	if (cxib_odp_is_implicit(odp_mr))
		return cxib_odp_fault_in_implicit(odp_mr, range, cxib_odp_fault_in_pages, -EFAULT);
	return cxib_odp_fault_in_pages(odp_mr, range);
}

/* Creates the page fault EQ and the workqueues with the first ODP MR. */
static int odp_prepare(struct cxib_ibdev *ibdev)
{
	struct cxib_odp *odp = &ibdev->odp;
	int err;

	err = cxib_umr_prepare(ibdev);
	if (err)
		return err;
	guard(mutex)(&odp->lock);
	if (odp->workqueue)
		return 0;
	odp->workqueue = alloc_workqueue("cxib_odp", WQ_HIGHPRI | WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!odp->workqueue)
		return -ENOMEM;
	err = cxib_odp_init_user(&odp->unknown_user, INVALID_UID);
	if (err)
		goto destroy_workqueue;
	err = cxib_hw_create_pf_eq(ibdev->hw, odp->workqueue);
	if (err)
		goto destroy_user;
	return 0;

destroy_user:
	cxib_odp_destroy_user(&odp->unknown_user);
destroy_workqueue:
	destroy_workqueue(odp->workqueue);
	odp->workqueue = NULL;
	return err;
}

/*
 * If xlt_offset has only 16 bits, a UMR WQE for a page beyond its range would modify the MTT of
 * another page, and an invalidation would not reach its page. Also, kvcalloc() in the RDMA core
 * warns about lists of more than INT_MAX bytes.
 */
static int odp_check_length(struct ib_device *ib, u64 start, u64 length, int access, u64 *count)
{
	const unsigned int shift = access & IB_ACCESS_HUGETLB ? HPAGE_SHIFT : PAGE_SHIFT;
	u64 max = INT_MAX / sizeof(__be64);
	u64 end, pages;

	if (!length || check_add_overflow(start, length, &end))
		return -EINVAL;
	if (!to_ibdev(ib)->hw->caps.umr_extended_translation_offset)
		max = CXIB_ENTRIES_REACHED;
	pages = ((end - 1) >> shift) - (start >> shift) + 1;
	*count = pages;
	if (pages <= max)
		return 0;
	ibdev_dbg(ib, "ODP MR: %llu pages out of range [1, %llu]\n", pages, max);
	return -EINVAL;
}

/* Attaches a range of the user address space. */
static int odp_attach_memory(struct cxib_odp_mr *odp_mr, struct ib_device *ib, u64 start,
			     u64 length)
{
	struct ib_umem_odp *memory;
	u64 count;
	int err;

	err = odp_check_length(ib, start, length, odp_mr->mr.access, &count) ?:
	      cxib_odp_charge(odp_mr, count);
	if (err)
		return err;
	memory = ib_umem_odp_get(ib, start, length, odp_mr->mr.access, &cxib_odp_notifier_ops);
	if (IS_ERR(memory)) {
		err = PTR_ERR(memory);
		goto uncharge;
	}
	memory->private = odp_mr;
	odp_mr->mr.umem = &memory->umem;
	if (!((start ^ odp_mr->mr.ib.iova) & (BIT_ULL(memory->page_shift) - 1)))
		return 0;
	ibdev_dbg(ib, "ODP MR: address 0x%llx and iova 0x%llx differ within a page\n",
		  start, odp_mr->mr.ib.iova);
	ib_umem_odp_release(memory);
	err = -EINVAL;
uncharge:
	cxib_odp_uncharge(odp_mr);
	return err;
}

/*
 * Attaches the whole user address space; child MRs are created on demand. The RDMA core keeps a
 * reference to the mm only for child MRs. But a child MR may be needed after the process has
 * exited, while a forked process still has the file open, so the driver takes a reference.
 */
static int odp_attach_implicit(struct cxib_odp_mr *odp_mr, struct ib_device *ib)
{
	struct ib_umem_odp *memory = ib_umem_odp_alloc_implicit(ib, odp_mr->mr.access);

	if (IS_ERR(memory))
		return PTR_ERR(memory);
	mmgrab(memory->umem.owning_mm);
	odp_mr->mr.umem = &memory->umem;
	cxib_odp_init_reap(odp_mr);
	return 0;
}

/* Undo odp_attach_memory() or odp_attach_implicit(). */
static void odp_detach_memory(struct cxib_odp_mr *odp_mr)
{
	struct ib_umem_odp *memory = to_ib_umem_odp(odp_mr->mr.umem);
	struct mm_struct *parent = memory->is_implicit_odp ? memory->umem.owning_mm : NULL;

	ib_umem_odp_release(memory);
	cxib_odp_uncharge(odp_mr);
	if (parent)
		mmdrop(parent);
}

/*
 * The first interval notifier of an address space takes the write lock of the address space. A
 * process can keep that lock from others for any time, so a thread that waits for it must be
 * killable, and a page fault, which creates child MRs, must not wait for it at all.
 */
static int odp_prepare_address_space(struct cxib_odp_context *context)
{
	struct mm_struct *mm = current->mm;
	int err;

	if (READ_ONCE(context->mm) == mm)
		return 0;
	if (mmap_write_lock_killable(mm))
		return -EINTR;
	err = __mmu_notifier_register(NULL, mm);
	mmap_write_unlock(mm);
	if (!err)
		WRITE_ONCE(context->mm, mm);
	return err;
}

static int odp_register_in(struct cxib_odp_mr *odp_mr, struct ib_pd *pd, u64 start, u64 length)
{
	bool parent = length == U64_MAX;
	int err;

	err = parent ? odp_attach_implicit(odp_mr, pd->device) :
		      odp_attach_memory(odp_mr, pd->device, start, length);
	if (err)
		return err;
	err = parent ? cxib_odp_create_implicit_mkey(odp_mr, pd) : cxib_odp_create_mkey(odp_mr, pd);
	if (err)
		goto detach;
	err = cxib_odp_publish(odp_mr);
	if (err)
		goto destroy_key;
	return 0;

destroy_key:
	cxib_odp_destroy_mkey(odp_mr);
	cxib_odp_destroy_children(odp_mr);
detach:
	odp_detach_memory(odp_mr);
	return err;
}

/**
 * cxib_reg_odp_mr() - register an ODP MR
 * @ib: protection domain
 * @start: user address of the first byte
 * @length: bytes; U64_MAX: implicit ODP MR
 * @address: iova
 * @access: IB_ACCESS_…, checked
 *
 * Return: the MR, or an ERR_PTR(): -EOPNOTSUPP if the device lacks the capability, -ENOMEM also if
 * the lists of the user context would become too long.
 */
struct ib_mr *cxib_reg_odp_mr(struct ib_pd *ib, u64 start, u64 length, u64 address,
			      int access)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_odp_mr *odp_mr;
	int err;

	if (!cxib_hw_has_odp(ibdev->hw))
		return ERR_PTR(-EOPNOTSUPP);
	if (length == U64_MAX && (start || address || !cxib_odp_can_implicit(ibdev)))
		return ERR_PTR(-EOPNOTSUPP);
	err = odp_prepare(ibdev);
	if (err)
		return ERR_PTR(err);
	odp_mr = cxib_odp_alloc_mr(ib->device, address, length, access);
	if (!odp_mr)
		return ERR_PTR(-ENOMEM);
	/* The RDMA core sets the PD later, but a page fault may arrive before. */
	odp_mr->mr.ib.pd = ib;
	err = -ENOMEM;
	odp_mr->context = cxib_odp_get_context(ibdev, cxib_pd_context(ib));
	if (!odp_mr->context)
		goto free_mr;
	err = odp_prepare_address_space(odp_mr->context) ?:
	      odp_register_in(odp_mr, ib, start, length);
	if (err)
		goto put_context;
	return &odp_mr->mr.ib;

put_context:
	cxib_odp_put_context(ibdev, odp_mr->context);
free_mr:
	kfree(odp_mr);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_reg_odp_mr);

/**
 * cxib_dereg_odp_mr() - undo cxib_reg_odp_mr()
 * @ib: the MR; freed
 * @udata: as for cxib_mr_destroy_mkey()
 *
 * Transfers that wait for its pages fail.
 *
 * Return: as cxib_mr_destroy_mkey(). After an error the MR still exists, but its mkey is unusable.
 */
int cxib_dereg_odp_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct cxib_odp_mr *odp_mr = to_odp_mr(ib);
	int err;

	cxib_odp_revoke(odp_mr);
	/* From here on, the device can access no memory through the mkey. */
	err = cxib_mr_destroy_mkey(&odp_mr->mr, udata, NULL);
	if (err)
		return err;
	cxib_odp_erase_mkey(odp_mr, ib->lkey);
	cxib_odp_end_populates(odp_mr);
	cxib_reference_end(&odp_mr->reference);
	cxib_odp_destroy_children(odp_mr);
	odp_detach_memory(odp_mr);
	cxib_odp_put_context(to_ibdev(ib->device), odp_mr->context);
	kfree(odp_mr);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_dereg_odp_mr);

/**
 * cxib_odp_end_faults() - let page faults and prefetches no longer wait for user space
 * @ibdev: RDMA device that is about to be unregistered
 *
 * A synchronous prefetch is a system call, which the unregistration waits for before it destroys
 * the MRs.
 */
void cxib_odp_end_faults(struct cxib_ibdev *ibdev)
{
	struct xarray *regions = &ibdev->odp.regions;
	struct cxib_odp_mr *odp_mr;
	unsigned long index;

	WRITE_ONCE(ibdev->odp.is_ending, true);
	xa_lock(regions);
	xa_for_each(regions, index, odp_mr)
		if (!odp_mr->parent)
			cxib_odp_end_populates(odp_mr);
	xa_unlock(regions);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_end_faults);

static u32 odp_operations(const struct hw_odp_per_transport_service_cap *caps)
{
	u32 able = 0;

	if (hw_odp_per_transport_service_cap_get_send(caps))
		able |= IB_ODP_SUPPORT_SEND;
	if (hw_odp_per_transport_service_cap_get_receive(caps))
		able |= IB_ODP_SUPPORT_RECV;
	if (hw_odp_per_transport_service_cap_get_write(caps))
		able |= IB_ODP_SUPPORT_WRITE;
	if (hw_odp_per_transport_service_cap_get_read(caps))
		able |= IB_ODP_SUPPORT_READ;
	if (hw_odp_per_transport_service_cap_get_atomic(caps))
		able |= IB_ODP_SUPPORT_ATOMIC;
	if (hw_odp_per_transport_service_cap_get_srq_receive(caps))
		able |= IB_ODP_SUPPORT_SRQ_RECV;
	return able;
}

/**
 * cxib_odp_fill_attr() - fill in the ODP capabilities
 * @ibdev: RDMA device
 * @attr: filled
 */
void cxib_odp_fill_attr(const struct cxib_ibdev *ibdev, struct ib_device_attr *attr)
{
	const struct cxib_device_caps *caps = &ibdev->hw->caps;

	if (!cxib_hw_has_odp(ibdev->hw))
		return;
	attr->kernel_cap_flags |= IBK_ON_DEMAND_PAGING;
	attr->odp_caps.general_caps = IB_ODP_SUPPORT;
	if (cxib_odp_can_implicit(ibdev))
		attr->odp_caps.general_caps |= IB_ODP_SUPPORT_IMPLICIT;
	attr->odp_caps.per_transport_caps.rc_odp_caps =
		odp_operations(hw_odp_scheme_cap_get_rc_odp_caps(&caps->odp));
	attr->odp_caps.per_transport_caps.ud_odp_caps =
		odp_operations(hw_odp_scheme_cap_get_ud_odp_caps(&caps->odp));
	attr->odp_caps.per_transport_caps.xrc_odp_caps =
		odp_operations(hw_odp_scheme_cap_get_xrc_odp_caps(&caps->odp));
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_fill_attr);

#else

void cxib_odp_end_faults(struct cxib_ibdev *ibdev)
{
}

void cxib_odp_exit(void)
{
}

void cxib_odp_destroy_user(struct cxib_odp_user *user)
{
}

void cxib_odp_wait_for_users(struct cxib_odp *odp)
{
}

struct cxib_odp_mr *cxib_odp_get_mr(struct cxib_ibdev *ibdev, u32 key)
{
	return NULL;
}

struct cxib_odp_mr *cxib_odp_get_fault_mr(struct cxib_ibdev *ibdev, u32 key)
{
	return NULL;
}

int cxib_odp_fault_in(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range)
{
	return -EFAULT;
}

int cxib_odp_fault_in_present(struct cxib_odp_mr *odp_mr, const struct cxib_odp_range *range)
{
	return -EFAULT;
}

void cxib_odp_init_context(struct cxib_odp_context *context, const struct ib_ucontext *owner,
			   struct cxib_odp_user *user)
{
}

struct cxib_odp_context *cxib_odp_find_context(struct cxib_ibdev *ibdev,
					       const struct ib_ucontext *owner)
{
	return &ibdev->odp.others;
}

void cxib_odp_put_context(struct cxib_ibdev *ibdev, struct cxib_odp_context *context)
{
}

struct ib_mr *cxib_reg_odp_mr(struct ib_pd *ib, u64 start, u64 length, u64 address,
			      int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

int cxib_dereg_odp_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	return -EOPNOTSUPP;
}

void cxib_odp_fill_attr(const struct cxib_ibdev *ibdev, struct ib_device_attr *attr)
{
}

#endif

/**
 * cxib_odp_init() - initialize ODP; its EQ is created with the first MR
 * @ibdev: RDMA device
 */
void cxib_odp_init(struct cxib_ibdev *ibdev)
{
	mutex_init(&ibdev->odp.lock);
	xa_init(&ibdev->odp.regions);
	INIT_LIST_HEAD(&ibdev->odp.contexts);
	INIT_LIST_HEAD(&ibdev->odp.users);
	cxib_odp_init_context(&ibdev->odp.others, NULL, &ibdev->odp.unknown_user);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_odp_init);

/**
 * cxib_odp_destroy() - destroy the page fault EQ
 * @ibdev: RDMA device without users
 */
void cxib_odp_destroy(struct cxib_ibdev *ibdev)
{
	struct cxib_odp *odp = &ibdev->odp;

	if (odp->workqueue) {
		cxib_hw_destroy_pf_eq(ibdev->hw);
		cxib_odp_wait_for_users(odp);
		cxib_odp_destroy_user(&odp->unknown_user);
		destroy_workqueue(odp->workqueue);
	}
	WARN_ON(!xa_empty(&odp->regions));
	xa_destroy(&odp->regions);
}
