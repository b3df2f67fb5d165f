/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mkey and PSV commands. Errors are those of cxib_cmd_exec()
 * unless another is named; all functions sleep.
 */
#ifndef CXIB_HW_MKEY_H
#define CXIB_HW_MKEY_H

#include <linux/types.h>

struct cxib_command_queue;
struct hw_query_mkey_out;

/* The index of an mkey is above its variant. */
#define CXIB_MKEY_INDEX_SHIFT	8

/* A signature mkey has two PSVs: one for the wire domain, one for the memory domain. */
#define CXIB_PSV_COUNT	2

/**
 * struct cxib_mkey_params - attributes of an mkey
 * @pd: PDN
 * @variant: lower 8 bits of the mkey, changed each time the index is reused
 * @local_write: allow local writes
 * @remote_read: allow remote reads
 * @remote_write: allow remote writes
 * @remote_atomic: allow remote atomics
 * @start_addr: first address of the region, as in WQEs
 * @length: length of the region, bytes
 * @log_page_size: log2 of the bytes of each page in @pages
 * @pages: DMA addresses of the pages, beginning with the page of @start_addr
 * @page_count: number of @pages; if it and @xlt_octowords are 0, addresses in WQEs are DMA
 *	addresses and all are allowed
 * @xlt_octowords: length of the translation that UMR WQEs will write; the mkey is in the free state
 *	until then
 * @indirect: the translation will hold KLMs
 * @remote_invalidate: allow remote invalidation
 * @memic: the region is MEMIC at offset @start_addr of BAR 0; addresses in WQEs are zero-based
 * @ksm: @pages, or the translation that UMR will write, are struct hw_ksm of
 *	2^@log_page_size bytes each
 * @odp: pages without the read or write bit in their address are not present
 * @umr_en: UMR may modify the access rights of an mkey with @pages
 * @bsf_en: UMR WQEs will also write a BSF
 * @for_user: as in struct cxib_command
 * @relaxed_ordering_write: allow relaxed ordering of PCI writes
 * @relaxed_ordering_read: allow relaxed ordering of PCI reads
 */
struct cxib_mkey_params {
	u32 pd;
	u8 variant;
	bool local_write;
	bool remote_read;
	bool remote_write;
	bool remote_atomic;
	u64 start_addr;
	u64 length;
	unsigned int log_page_size;
	const __be64 *pages;
	unsigned int page_count;
	unsigned int xlt_octowords;
	bool indirect;
	bool remote_invalidate;
	bool memic;
	bool ksm;
	bool odp;
	bool umr_en;
	bool bsf_en;
	bool for_user;
	bool relaxed_ordering_write;
	bool relaxed_ordering_read;
};

/**
 * struct cxib_special_keys - mkeys of the device itself
 * @resd_lkey: its addresses are DMA addresses; for QPs with rlky
 * @null_mkey: without pages; for devices with null_mkey
 * @dump_fill: discards writes and reads as zeros; for devices with
 *	dump_fill_mkey
 */
struct cxib_special_keys {
	u32 resd_lkey;
	u32 null_mkey;
	u32 dump_fill;
};

int cxib_cmd_create_mkey(struct cxib_command_queue *queue, const struct cxib_mkey_params *params,
			 u32 *key);
int cxib_cmd_query_special_contexts(struct cxib_command_queue *queue, bool optional,
				    struct cxib_special_keys *keys);
int cxib_cmd_query_mkey(struct cxib_command_queue *queue, u32 key, struct hw_query_mkey_out *out,
			size_t length);
int cxib_cmd_destroy_mkey(struct cxib_command_queue *queue, u32 key, bool for_user);
int cxib_cmd_create_psv(struct cxib_command_queue *queue, u32 pd, u32 *numbers);
int cxib_cmd_destroy_psv(struct cxib_command_queue *queue, u32 number);

#endif
