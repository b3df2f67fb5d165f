// SPDX-License-Identifier: GPL-2.0-only
/*
 * What programs map: pages of doorbells, memory on the device, its clock.
 *
 * A page offset is a command of the interface in its second byte and an index
 * in the others; from 9 on the commands are numbers of what is allocated.
 */
#include <linux/pci.h>
#include <rdma/mlx5-abi.h>

#include "user/bfreg.h"
#include "user/clock.h"
#include "user/mmap.h"

#define DEVICE_BAR	0

#define COMMAND_SHIFT	8
#define COMMAND_MASK	0xffUL
#define INDEX_HIGH	BIT(16)
#define INDEX_HIGH_MAX	0xffUL

/* Doorbells: the offsets that belong to no command. */
#define FIRST_DOORBELL	(9UL << COMMAND_SHIFT)
#define LAST_DOORBELL	((256UL << COMMAND_SHIFT) - 1)

/* The page of the init segment with the device's clock. */
#define TIMER_OFFSET	0x1000

static unsigned int command_of(const struct vm_area_struct *vma)
{
	return vma->vm_pgoff >> COMMAND_SHIFT & COMMAND_MASK;
}

static unsigned long index_of(unsigned long offset)
{
	return offset / INDEX_HIGH << COMMAND_SHIFT | (offset & COMMAND_MASK);
}

static phys_addr_t address_in_bar(struct ib_device *ib, u64 offset)
{
	struct pci_dev *pdev = to_pci_dev(to_ibdev(ib)->hw->bus->dev);

	return pci_resource_start(pdev, DEVICE_BAR) + offset;
}

/**
 * cxib_mmap_insert() - gives a part of BAR 0 an offset that can be mapped
 * @ib: the program's context
 * @mapping: what is mapped; its offset is filled
 *
 * Return: 0; -ENOMEM; -EBUSY when there is no offset left.
 */
int cxib_mmap_insert(struct ib_ucontext *ib, struct cxib_mmap_entry *mapping)
{
	unsigned long first = (unsigned long)MLX5_IB_MMAP_DEVICE_MEM << COMMAND_SHIFT;
	unsigned long high;
	int err = -EBUSY;

	if (cxib_mmap_is_uar(mapping))
		return rdma_user_mmap_entry_insert_range(ib, &mapping->entry, mapping->length,
							 FIRST_DOORBELL, LAST_DOORBELL);
	for (high = 0; high <= INDEX_HIGH_MAX && err == -EBUSY; high++, first += INDEX_HIGH)
		err = rdma_user_mmap_entry_insert_range(ib, &mapping->entry, mapping->length,
							first, first | COMMAND_MASK);
	return err;
}

/**
 * cxib_mmap_page_index() - the index that a program finds memory on the device under
 * @mapping: mapping of such memory that was offered
 */
u16 cxib_mmap_page_index(const struct cxib_mmap_entry *mapping)
{
	return index_of(mapping->entry.start_pgoff);
}

/*
 * Memory may be written to in any order; doorbells may not, unless the program
 * knows of it.
 */
static bool is_combined(enum cxib_mapping_kind kind)
{
	return kind == CXIB_MMAP_MEMIC || kind == CXIB_MMAP_UAR_WC;
}

static int map_entry(struct ib_ucontext *ib, struct vm_area_struct *vma,
		     struct rdma_user_mmap_entry *entry)
{
	const struct cxib_mmap_entry *mapping = to_mapping(entry);
	pgprot_t protection;

	protection = is_combined(mapping->kind) ? pgprot_writecombine(vma->vm_page_prot) :
						  pgprot_noncached(vma->vm_page_prot);
	return rdma_user_mmap_io(ib, vma,
				 PHYS_PFN(address_in_bar(ib->device, mapping->address)),
				 mapping->length, protection, entry);
}

static int map_offered(struct ib_ucontext *ib, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry = rdma_user_mmap_entry_get(ib, vma);
	int err;

	if (!entry)
		return -EINVAL;
	err = map_entry(ib, vma, entry);
	rdma_user_mmap_entry_put(entry);
	return err;
}

/* A page that came with the context, of which the program knows the place only. */
static int mmap_static_uar(struct ib_ucontext *ib, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry =
		cxib_bfregs_uar(to_ucontext(ib)->registers, index_of(vma->vm_pgoff));

	return entry ? map_entry(ib, vma, entry) : -EINVAL;
}

/*
 * The program wants writes to the page combined, and has no other way to get
 * one. It can do without: it is told that registers take no requests.
 */
static int mmap_dyn_uar(struct ib_ucontext *ib, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;

	if (vma->vm_end - vma->vm_start != PAGE_SIZE || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	entry = cxib_bfregs_dyn_uar(to_ucontext(ib), index_of(vma->vm_pgoff));
	return IS_ERR(entry) ? PTR_ERR(entry) : map_entry(ib, vma, entry);
}

static int check_reader(struct ib_ucontext *ib, struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start != PAGE_SIZE || !(vma->vm_flags & VM_SHARED)) {
		ibdev_dbg(ib->device, "the clock is one shared page, not %lu bytes\n",
			  vma->vm_end - vma->vm_start);
		return -EINVAL;
	}
	if (vma->vm_flags & (VM_WRITE | VM_EXEC)) {
		ibdev_dbg(ib->device, "the clock can only be read\n");
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
	phys_addr_t address = address_in_bar(ib->device, TIMER_OFFSET);
	int err = check_reader(ib, vma);

	return err ?: rdma_user_mmap_io(ib, vma, PHYS_PFN(address), PAGE_SIZE,
					pgprot_noncached(vma->vm_page_prot), NULL);
}

static int mmap_clock_info(struct ib_ucontext *ib, struct vm_area_struct *vma)
{
	struct page *page = cxib_clock_page(to_ibdev(ib->device));
	int err = check_reader(ib, vma);

	if (err)
		return err;
	if (!page || vma->vm_pgoff & COMMAND_MASK)
		return -EOPNOTSUPP;
	return vm_insert_page(vma, vma->vm_start, page);
}

int cxib_mmap(struct ib_ucontext *ib, struct vm_area_struct *vma)
{
	switch (command_of(vma)) {
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
		return map_offered(ib, vma);
	}
}

/* Nobody has it, and nobody maps it any more. */
void cxib_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct cxib_mmap_entry *mapping = to_mapping(entry);

	mapping->free(mapping);
}
