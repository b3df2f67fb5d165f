// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmap of a user context: UAR pages, MEMIC, device clock.
 *
 * The command in the page offset selects what is mapped, see user/mmap.h.
 */
#include <linux/pci.h>
#include <rdma/mlx5-abi.h>

#include "hw/command_interface.h"
#include "user/bfreg.h"
#include "user/clock.h"
#include "user/mmap.h"

#define DEVICE_BAR	0

static unsigned int mmap_command_of(const struct vm_area_struct *vma)
{
	return vma->vm_pgoff >> CXIB_MMAP_COMMAND_SHIFT & CXIB_MMAP_COMMAND_MASK;
}

static phys_addr_t mmap_address_in_bar(struct ib_device *ib, u64 offset)
{
	struct pci_dev *pdev = to_pci_dev(to_ibdev(ib)->hw->bus->dev);

	return pci_resource_start(pdev, DEVICE_BAR) + offset;
}

/*
 * MEMIC accepts writes in any order. A UAR does so only if user space has allocated it for write
 * combining.
 */
static bool mmap_is_wc(enum cxib_mmap_kind kind)
{
	return kind == CXIB_MMAP_MEMIC || kind == CXIB_MMAP_UAR_WC;
}

static int mmap_map_entry(struct ib_ucontext *ib, struct vm_area_struct *vma,
			  struct rdma_user_mmap_entry *entry)
{
	const struct cxib_mmap_entry *mapping = to_mmap_entry(entry);
	pgprot_t protection;

	protection = mmap_is_wc(mapping->kind) ? pgprot_writecombine(vma->vm_page_prot) :
					    pgprot_noncached(vma->vm_page_prot);
	return rdma_user_mmap_io(ib, vma,
				 PHYS_PFN(mmap_address_in_bar(ib->device, mapping->address)),
				 mapping->length, protection, entry);
}

static int mmap_map_inserted(struct ib_ucontext *ib, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry = rdma_user_mmap_entry_get(ib, vma);
	int err;

	if (!entry)
		return -EINVAL;
	err = mmap_map_entry(ib, vma, entry);
	rdma_user_mmap_entry_put(entry);
	return err;
}

/* Maps a static UAR, which user space names by its index. */
static int mmap_static_uar(struct ib_ucontext *ib, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry =
		cxib_bfregs_uar(to_ucontext(ib)->bfregs, cxib_mmap_index(vma->vm_pgoff));

	return entry ? mmap_map_entry(ib, vma, entry) : -EINVAL;
}

/*
 * MLX5_IB_MMAP_ALLOC_WC is the only way to get a dynamic UAR without a uobject.
 * It is mapped non-cached: bf_reg_size is 0, so libmlx5 writes no WQEs to it.
 */
static int mmap_dyn_uar(struct ib_ucontext *ib, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;

	if (vma->vm_end - vma->vm_start != PAGE_SIZE || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	entry = cxib_bfregs_dyn_uar(to_ucontext(ib), cxib_mmap_index(vma->vm_pgoff));
	return IS_ERR(entry) ? PTR_ERR(entry) : mmap_map_entry(ib, vma, entry);
}

static int mmap_check_clock_vma(struct ib_ucontext *ib, struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start != PAGE_SIZE || !(vma->vm_flags & VM_SHARED)) {
		ibdev_dbg(ib->device, "mmap clock: shared mapping of one page required: %lu bytes\n",
			  vma->vm_end - vma->vm_start);
		return -EINVAL;
	}
	if (vma->vm_flags & (VM_WRITE | VM_EXEC)) {
		ibdev_dbg(ib->device, "mmap clock: not read-only\n");
		return -EPERM;
	}
#ifdef CXIB_LACKS_VMA_FLAGS
	vma->vm_flags &= ~(VM_MAYWRITE | VM_MAYEXEC);
#else
	vm_flags_clear(vma, VM_MAYWRITE | VM_MAYEXEC);
#endif
	return 0;
}

static int mmap_core_clock(struct ib_ucontext *ib, struct vm_area_struct *vma)
{
	phys_addr_t address = mmap_address_in_bar(ib->device, HW_TIMER_OFFSET_INTERNAL_H);
	int err = mmap_check_clock_vma(ib, vma);

	if (!err && !cxib_core_clock_is_mappable(PAGE_SIZE))
		return -EOPNOTSUPP;
	return err ?: rdma_user_mmap_io(ib, vma, PHYS_PFN(address), PAGE_SIZE,
					pgprot_noncached(vma->vm_page_prot), NULL);
}

static int mmap_clock_info(struct ib_ucontext *ib, struct vm_area_struct *vma)
{
	struct page *page = cxib_clock_page(to_ibdev(ib->device));
	int err = mmap_check_clock_vma(ib, vma);

	if (err)
		return err;
	if (!page || vma->vm_pgoff & CXIB_MMAP_COMMAND_MASK)
		return -EOPNOTSUPP;
	return vm_insert_page(vma, vma->vm_start, page);
}

int cxib_mmap(struct ib_ucontext *ib, struct vm_area_struct *vma)
{
	switch (mmap_command_of(vma)) {
	case MLX5_IB_MMAP_REGULAR_PAGE:
	case MLX5_IB_MMAP_NC_PAGE:
		return mmap_static_uar(ib, vma);
	case MLX5_IB_MMAP_ALLOC_WC:
		return mmap_dyn_uar(ib, vma);
	case MLX5_IB_MMAP_CORE_CLOCK:
		return mmap_core_clock(ib, vma);
	case MLX5_IB_MMAP_CLOCK_INFO:
		return mmap_clock_info(ib, vma);
	default:
		return mmap_map_inserted(ib, vma);
	}
}

/* Called after the entry was removed and the last mapping is gone. */
void cxib_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct cxib_mmap_entry *mapping = to_mmap_entry(entry);

	mapping->free(mapping);
}
