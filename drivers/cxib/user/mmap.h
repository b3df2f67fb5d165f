/* SPDX-License-Identifier: GPL-2.0-only */
/* What programs map. */
#ifndef CXIB_USER_MMAP_H
#define CXIB_USER_MMAP_H

#include "user/user.h"

/* Into combined doorbells whole requests are written. */
enum cxib_mapping_kind {
	CXIB_MMAP_UAR_NC,
	CXIB_MMAP_UAR_WC,
	CXIB_MMAP_MEMIC,
	CXIB_MMAP_MEMIC_OP,
};

/**
 * struct cxib_mmap_entry - a part of BAR 0 that a program can map
 * @entry: its place in the offsets that can be mapped
 * @kind: what it is
 * @address: where it begins in BAR 0, a multiple of a page
 * @length: its bytes, whole pages
 * @free: called when nobody has it and nobody maps it any more
 */
struct cxib_mmap_entry {
	struct rdma_user_mmap_entry entry;
	enum cxib_mapping_kind kind;
	u64 address;
	size_t length;
	void (*free)(struct cxib_mmap_entry *mapping);
};

static inline struct cxib_mmap_entry *to_mapping(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct cxib_mmap_entry, entry);
}

static inline bool cxib_mmap_is_uar(const struct cxib_mmap_entry *mapping)
{
	return mapping->kind == CXIB_MMAP_UAR_NC ||
	       mapping->kind == CXIB_MMAP_UAR_WC;
}

int cxib_mmap_insert(struct ib_ucontext *ib, struct cxib_mmap_entry *mapping);
u16 cxib_mmap_page_index(const struct cxib_mmap_entry *mapping);

/* uar.c */
struct rdma_user_mmap_entry *cxib_create_uar(struct cxib_ucontext *context,
					     enum cxib_mapping_kind kind);

#endif
