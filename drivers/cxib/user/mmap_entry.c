// SPDX-License-Identifier: GPL-2.0-only
/* Ranges of BAR 0 in the mmap offsets of a user context. */
#include <rdma/mlx5-abi.h>

#include "user/mmap.h"

#define INDEX_HIGH_MAX	0xffUL

/* UAR mmap entries have offsets that are no command of mlx5-abi.h. */
#define FIRST_UAR	(9UL << CXIB_MMAP_COMMAND_SHIFT)
#define LAST_UAR	((256UL << CXIB_MMAP_COMMAND_SHIFT) - 1)

/**
 * cxib_mmap_insert() - inserts a range of BAR 0 into the mmap offsets of a context
 * @ib: user context
 * @mapping: range; its entry is initialized. The mmap core frees it through
 *	@free.
 *
 * Return: 0; -ENOMEM; -EBUSY when no offset is free.
 */
int cxib_mmap_insert(struct ib_ucontext *ib, struct cxib_mmap_entry *mapping)
{
	unsigned long first = (unsigned long)MLX5_IB_MMAP_DEVICE_MEM << CXIB_MMAP_COMMAND_SHIFT;
	unsigned long high;
	int err = -EBUSY;

	if (cxib_mmap_is_uar(mapping))
		return rdma_user_mmap_entry_insert_range(ib, &mapping->entry, mapping->length,
							 FIRST_UAR, LAST_UAR);
	for (high = 0; high <= INDEX_HIGH_MAX && err == -EBUSY; high++) {
		err = rdma_user_mmap_entry_insert_range(ib, &mapping->entry, mapping->length,
							first, first | CXIB_MMAP_COMMAND_MASK);
		first += CXIB_MMAP_INDEX_HIGH;
	}
	return err;
}

/**
 * cxib_mmap_page_index() - returns the page index of an inserted MEMIC range
 * @mapping: inserted mapping of kind CXIB_MMAP_MEMIC or CXIB_MMAP_MEMIC_OP
 */
u16 cxib_mmap_page_index(const struct cxib_mmap_entry *mapping)
{
	return cxib_mmap_index(mapping->entry.start_pgoff);
}
