/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signature offload: the device inserts, strips or passes T10 protection information
 * while it transfers the data of an MR.
 */
#ifndef CXIB_VERBS_SIGNATURE_INTEGRITY_H
#define CXIB_VERBS_SIGNATURE_INTEGRITY_H

#include "verbs/verbs.h"

/* Bytes of protection information per block. */
#define CXIB_DIF_SIZE	8

/* Limit of the data KLMs of an integrity MR, and of its metadata KLMs. */
#define CXIB_SIG_KLMS_MAX	(CXIB_FAST_REG_MAX / 2)

struct cxib_pipelining;
struct cxib_qp;
struct hw_bsf;
struct hw_sig_err_cqe;

/**
 * struct cxib_sig_range - range of contiguous memory behind an mkey
 * @key: the mkey; 0: none
 * @address: first byte
 * @length: bytes
 */
struct cxib_sig_range {
	u32 key;
	u64 address;
	u32 length;
};

/**
 * struct cxib_sig_mr - an integrity MR
 * @mr: the MR; its descs are the KLMs of the data, then those of the metadata
 * @klm_mkey: mkey of these KLMs, used by this MR only; registered by WQEs
 * @wire_psv: PSV of the wire domain
 * @memory_psv: PSV of the memory domain
 * @data: data blocks, without protection information between them if it is in @metadata
 * @metadata: protection information of the blocks
 * @lock: protects the fields below. Taken in any context.
 * @sigerr_count: lowest bit of the number of the next error: the device reports an error
 *	only if the mkey has the expected number
 * @is_unchecked: the ULP has not checked the status after the last registration: a
 *	signature error may still be in a CQ
 * @has_failed: an error was reported after the last registration: the device checks no other
 *	transfer of the MR
 * @had_failed: @has_failed before the last registration
 * @is_unreliable: an error may have been lost, or was reported twice: @sigerr_count may be
 *	wrong, so that the device would report no error after a registration
 * @cqn: number of the send CQ of the QP of the last registration
 * @qpn: number of this QP
 * @sig_err_exists: @sig_err was not reported yet
 * @sig_err: the last error
 * @failed_node: in the list of failed MRs of a QP with signature pipelining; protected by the
 *	xa_lock of sig_mrs
 * @failed_in: the signature pipelining that lists the MR; valid while @failed_node is in a list
 */
struct cxib_sig_mr {
	struct cxib_mr mr;
	u32 klm_mkey;
	u32 wire_psv;
	u32 memory_psv;
	struct cxib_sig_range data;
	struct cxib_sig_range metadata;
	spinlock_t lock; /* last error, its number */
	u8 sigerr_count;
	bool is_unchecked;
	bool has_failed;
	bool had_failed;
	bool is_unreliable;
	u32 cqn;
	u32 qpn;
	bool sig_err_exists;
	struct ib_sig_err sig_err;
	struct list_head failed_node;
	struct cxib_pipelining *failed_in;
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
void cxib_note_signature_error(struct cxib_ibdev *ibdev, const struct cxib_qp *qp,
			       const struct hw_sig_err_cqe *entry);
struct ib_mr *cxib_take_failed_mr(struct cxib_pipelining *pipelining, struct ib_sig_err *error);
bool cxib_failures_are_known(struct cxib_pipelining *pipelining);
int cxib_end_failures(struct cxib_pipelining *pipelining);
bool cxib_is_sig_mkey(struct cxib_ibdev *ibdev, u32 key);
bool cxib_sig_mkey_has_failed(struct cxib_ibdev *ibdev, u32 key);
void cxib_distrust_sig_mrs(struct cxib_ibdev *ibdev, u32 cqn, u32 qpn);
void cxib_clear_failed_mrs(struct cxib_pipelining *pipelining);

/* bsf.c */
int cxib_fill_bsf(struct hw_bsf *bsf, const struct cxib_sig_mr *mr);

#endif
