/* SPDX-License-Identifier: GPL-2.0-only */
/* What programs map. */
#ifndef CXIB_USER_MMAP_H
#define CXIB_USER_MMAP_H

#include "user/user.h"

/* Into combined doorbells whole requests are written. */
enum cxib_mapping_kind {
	CXIB_MAPPING_DOORBELLS,
	CXIB_MAPPING_COMBINED_DOORBELLS,
	CXIB_MAPPING_MEMORY,
	CXIB_MAPPING_OPERATION,
};

/**
 * struct cxib_mapping - a part of BAR 0 that a program can map
 * @entry: its place in the offsets that can be mapped
 * @kind: what it is
 * @address: where it begins in BAR 0, a multiple of a page
 * @length: its bytes, whole pages
 * @free: called when nobody has it and nobody maps it any more
 */
struct cxib_mapping {
	struct rdma_user_mmap_entry entry;
	enum cxib_mapping_kind kind;
	u64 address;
	size_t length;
	void (*free)(struct cxib_mapping *mapping);
};

static inline struct cxib_mapping *to_mapping(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct cxib_mapping, entry);
}

static inline bool cxib_mapping_is_doorbells(const struct cxib_mapping *mapping)
{
	return mapping->kind == CXIB_MAPPING_DOORBELLS ||
	       mapping->kind == CXIB_MAPPING_COMBINED_DOORBELLS;
}

int cxib_mapping_offer(struct ib_ucontext *ib, struct cxib_mapping *mapping);
u16 cxib_mapping_index(const struct cxib_mapping *mapping);

/* uar.c */
struct rdma_user_mmap_entry *cxib_create_uar(struct cxib_context *context,
					     enum cxib_mapping_kind kind);

#endif
