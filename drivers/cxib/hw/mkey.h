/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands about protection domains, XRC domains and memory keys: one function
 * for each, parameters in, results out. Errors are those of cxib_cmd_exec() unless
 * another is named; all of them sleep.
 */
#ifndef CXIB_HW_MKEY_H
#define CXIB_HW_MKEY_H

#include <linux/types.h>

struct cxib_command_queue;
struct hw_query_mkey_out;

/* Signatures that CREATE_PSV makes room for: one on the wire, one in memory. */
#define CXIB_PSV_COUNT	2

/**
 * struct cxib_mkey_params - what a memory key shall allow
 * @pd: protection domain that it belongs to
 * @variant: lower 8 bits of the key, so that the next user of its index has
 *	another key
 * @local_write: the device may write what arrives
 * @remote_read: the other end may read
 * @remote_write: the other end may write
 * @remote_atomic: the other end may do atomic operations
 * @start_addr: first address of the region, as in requests
 * @length: its length in bytes
 * @log_page_size: log2 of the bytes of each page in @pages
 * @pages: bus addresses of its pages, the first one that of @start_addr's page
 * @page_count: their number; 0: addresses are bus addresses, all are allowed,
 *	unless @xlt_octowords says otherwise
 * @xlt_octowords: room for translations that requests will write; the key is free
 *	until then
 * @indirect: these will be pieces of memory, each with its key
 * @remote_invalidate: the other end may invalidate the key
 * @memic: the region is memory on the device, @start_addr bytes from the
 *	beginning of BAR 0; addresses in requests begin with 0
 * @ksm: @pages, or the translations to come, are struct hw_ksm, pieces of
 *	2^@log_page_size bytes of other keys
 * @odp: pages whose address does not say that the device may read or write
 *	them are not there
 * @umr_en: requests may change what the key of @pages allows
 * @bsf_en: requests will say how the data is signed, too
 * @relaxed_ordering_write: writes may pass each other on the bus
 * @relaxed_ordering_read: reads may
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
	bool relaxed_ordering_write;
	bool relaxed_ordering_read;
};

/**
 * struct cxib_special_keys - memory keys of the device itself
 * @resd_lkey: addresses are bus addresses; for queue pairs that were given it (rlky)
 * @null_mkey: of memory that is not there; for devices with null_mkey
 * @dump_fill: discards writes and reads as zeros; for devices with dump_fill_mkey
 */
struct cxib_special_keys {
	u32 resd_lkey;
	u32 null_mkey;
	u32 dump_fill;
};

int cxib_cmd_alloc_pd(struct cxib_command_queue *queue, u16 uid, u32 *pd);
int cxib_cmd_dealloc_pd(struct cxib_command_queue *queue, u16 uid, u32 pd);
int cxib_cmd_alloc_xrcd(struct cxib_command_queue *queue, u32 *xrcd);
int cxib_cmd_dealloc_xrcd(struct cxib_command_queue *queue, u32 xrcd);
int cxib_cmd_create_mkey(struct cxib_command_queue *queue, const struct cxib_mkey_params *params,
			 u32 *key);
int cxib_cmd_query_special_contexts(struct cxib_command_queue *queue,
				    struct cxib_special_keys *keys);
int cxib_cmd_query_mkey(struct cxib_command_queue *queue, u32 key, struct hw_query_mkey_out *out,
			size_t length);
int cxib_cmd_destroy_mkey(struct cxib_command_queue *queue, u32 key);
int cxib_cmd_create_psv(struct cxib_command_queue *queue, u32 pd, u32 *numbers);
int cxib_cmd_destroy_psv(struct cxib_command_queue *queue, u32 number);

#endif
