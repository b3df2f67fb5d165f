/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory regions whose data the device signs and checks: T10 protection
 * information is inserted, stripped or passed while it is transferred.
 */
#ifndef CXIB_VERBS_SIGNATURE_INTEGRITY_H
#define CXIB_VERBS_SIGNATURE_INTEGRITY_H

#include "verbs/verbs.h"

/* Bytes of the protection information of a block. */
#define CXIB_DIF_SIZE	8

/* Pieces of data that a region with signatures can have, and of metadata. */
#define CXIB_SIG_KLMS_MAX	(CXIB_FAST_REG_MAX / 2)

struct hw_bsf;
struct hw_sig_err_cqe;

/**
 * struct cxib_sig_range - memory that is one for the device
 * @key: of it; 0: there is none
 * @address: as requests with this key have it
 * @length: its bytes
 */
struct cxib_sig_range {
	u32 key;
	u64 address;
	u32 length;
};

/**
 * struct cxib_sig_mr - a memory region with signatures
 * @mr: region; its list is that of the pieces of data, then those of metadata
 * @klm_mkey: key of these pieces, for the region only; requests register it too
 * @wire_psv: where the device keeps the signature of the form on the wire
 * @memory_psv: where it keeps that of the form in memory
 * @data: blocks, without metadata between them
 * @metadata: what belongs to them
 * @lock: protects what follows. Taken in any context.
 * @sigerr_count: lowest bit of the number that the next error will have: the
 *	device tells of an error only if it is told which one is expected
 * @is_unchecked: nobody has asked what became of the last transfer: its error may
 *	still be in a completion queue
 * @sig_err_exists: @sig_err was not asked for yet
 * @sig_err: the last one
 */
struct cxib_sig_mr {
	struct cxib_mr mr;
	u32 klm_mkey;
	u32 wire_psv;
	u32 memory_psv;
	struct cxib_sig_range data;
	struct cxib_sig_range metadata;
	spinlock_t lock; /* see above */
	u8 sigerr_count;
	bool is_unchecked;
	bool sig_err_exists;
	struct ib_sig_err sig_err;
};

static inline struct cxib_sig_mr *to_sig_mr(struct ib_mr *ib)
{
	return container_of(to_mr(ib), struct cxib_sig_mr, mr);
}

/* integrity.c */
struct ib_mr *cxib_alloc_mr_integrity(struct ib_pd *ib, u32 max_data, u32 max_metadata);
int cxib_map_mr_sg_pi(struct ib_mr *ib, struct scatterlist *data, int data_count,
		      unsigned int *data_offset, struct scatterlist *metadata,
		      int metadata_count, unsigned int *metadata_offset);
int cxib_check_mr_status(struct ib_mr *ib, u32 mask, struct ib_mr_status *status);
void cxib_free_sig_mr(struct cxib_sig_mr *mr);
void cxib_note_signature_error(struct cxib_ibdev *ibdev, const struct hw_sig_err_cqe *entry);

/* signature_format.c */
int cxib_fill_bsf(struct hw_bsf *format, const struct cxib_sig_mr *mr);

#endif
