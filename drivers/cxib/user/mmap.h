/* SPDX-License-Identifier: GPL-2.0-only */
/* mmap of a user context. */
#ifndef CXIB_USER_MMAP_H
#define CXIB_USER_MMAP_H

#include "user/user.h"

/*
 * The second byte of a page offset is a command of mlx5-abi.h, the other bytes are an index.
 * Commands from 9 on are the offsets of mmap entries.
 */
#define CXIB_MMAP_COMMAND_SHIFT	8
#define CXIB_MMAP_COMMAND_MASK	0xffUL
#define CXIB_MMAP_INDEX_HIGH	BIT(16)

static inline unsigned long cxib_mmap_index(unsigned long offset)
{
	return offset / CXIB_MMAP_INDEX_HIGH << CXIB_MMAP_COMMAND_SHIFT |
	       (offset & CXIB_MMAP_COMMAND_MASK);
}

/* User space writes whole WQEs to WC UARs (BlueFlame). */
enum cxib_mmap_kind {
	CXIB_MMAP_UAR_NC,
	CXIB_MMAP_UAR_WC,
	CXIB_MMAP_MEMIC,
	CXIB_MMAP_MEMIC_OP,
};

/**
 * struct cxib_mmap_entry - a range of BAR 0 that user space can map
 * @entry: mmap entry of the RDMA core
 * @kind: kind of the range
 * @address: offset in BAR 0, page-aligned
 * @length: bytes, a multiple of PAGE_SIZE
 * @free: called after the entry was removed and the last mapping is gone
 */
struct cxib_mmap_entry {
	struct rdma_user_mmap_entry entry;
	enum cxib_mmap_kind kind;
	u64 address;
	size_t length;
	void (*free)(struct cxib_mmap_entry *mapping);
};

static inline struct cxib_mmap_entry *to_mmap_entry(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct cxib_mmap_entry, entry);
}

static inline bool cxib_mmap_is_uar(const struct cxib_mmap_entry *mapping)
{
	return mapping->kind == CXIB_MMAP_UAR_NC ||
	       mapping->kind == CXIB_MMAP_UAR_WC;
}

/* mmap_entry.c */
int cxib_mmap_insert(struct ib_ucontext *ib, struct cxib_mmap_entry *mapping);
u16 cxib_mmap_page_index(const struct cxib_mmap_entry *mapping);

/* uar.c */
struct rdma_user_mmap_entry *cxib_create_uar(struct cxib_ucontext *context,
					     enum cxib_mmap_kind kind);

#endif
