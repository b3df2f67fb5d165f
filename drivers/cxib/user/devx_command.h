/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DEVX: which commands user space may execute on which objects. The driver rejects all others.
 *
 * A command carries the uid of the user context, so the device itself denies access to objects of
 * other uids. The driver checks what this protection does not cover:
 * - DMA addresses;
 * - rights of kernel QPs;
 * - references to kernel objects, which the device may accept from each uid;
 * - attributes for which uverbs requires capabilities of the process.
 */
#ifndef CXIB_USER_DEVX_COMMAND_H
#define CXIB_USER_DEVX_COMMAND_H

#include <linux/types.h>

struct hw_general_obj_in_cmd_hdr;

/**
 * enum cxib_devx_kind - kinds of objects that user space can create
 * @CXIB_DEVX_MKEY: mkeys
 * @CXIB_DEVX_PSV: PSVs
 * @CXIB_DEVX_CQ: CQs
 * @CXIB_DEVX_QP: QPs
 * @CXIB_DEVX_DCT: DCTs
 * @CXIB_DEVX_RMP: RMPs (basic SRQs of verbs)
 * @CXIB_DEVX_XRQ: XRQs (SRQs with tag matching)
 * @CXIB_DEVX_GENERAL: general objects, of several types
 * @CXIB_DEVX_KINDS: number of kinds
 */
enum cxib_devx_kind {
	CXIB_DEVX_MKEY,
	CXIB_DEVX_PSV,
	CXIB_DEVX_CQ,
	CXIB_DEVX_QP,
	CXIB_DEVX_DCT,
	CXIB_DEVX_RMP,
	CXIB_DEVX_XRQ,
	CXIB_DEVX_GENERAL,
	CXIB_DEVX_KINDS,
};

/**
 * struct cxib_devx_obj_id - an object, as commands name it
 * @kind: kind
 * @type: enum hw_object_type of a general object; 0 for others
 * @number: number
 * @from_verbs: created by a verb: the kernel keeps the state of the object, which only verbs may
 *	change
 */
struct cxib_devx_obj_id {
	enum cxib_devx_kind kind;
	u16 type;
	u32 number;
	bool from_verbs;
};

/**
 * struct cxib_devx_refs - objects in a command that the user context must own
 * @has_uar: @uar is valid
 * @uar: UAR index
 * @has_eqn: @eqn is valid
 * @eqn: EQN, which must be that of a completion EQ
 * @has_pd: @pd is valid
 * @pd: PDN
 * @cq_count: number of valid @cqs
 * @cqs: CQNs
 * @has_srq: @srq is valid
 * @srq: RMPN or XRQN
 * @net_raw: the caller needs CAP_NET_RAW
 */
struct cxib_devx_refs {
	bool has_uar;
	u32 uar;
	bool has_eqn;
	u32 eqn;
	bool has_pd;
	u32 pd;
	unsigned int cq_count;
	u32 cqs[2];
	bool has_srq;
	u32 srq;
	bool net_raw;
};

/* Outputs of queries contain the DMA addresses of pages from this offset on. */
#define CXIB_DEVX_QUERY_MAX		0x110

u32 cxib_devx_rights(u32 uctx_cap, bool net_raw, bool sys_rawio);
bool cxib_devx_is_general_cmd(const void *in);
bool cxib_devx_is_tunnelled(const void *in);
u32 cxib_devx_num_qpns(const void *in);
int cxib_devx_reserve_qpns(atomic_t *reserved, u32 count, u32 limit);
int cxib_devx_check_create(void *in, size_t length, struct cxib_devx_obj_id *object,
			   struct cxib_devx_refs *refs);
void cxib_devx_get_obj_id(const void *out, size_t length, struct cxib_devx_obj_id *object);
void cxib_devx_build_destroy(const struct cxib_devx_obj_id *object,
			     struct hw_general_obj_in_cmd_hdr *in);
int cxib_devx_check_query(const struct cxib_devx_obj_id *object, const void *in);
size_t cxib_devx_create_outlen(const void *in, size_t length);
size_t cxib_devx_query_outlen(const struct cxib_devx_obj_id *object, size_t length);
void cxib_devx_hide_addresses(const struct cxib_devx_obj_id *object, void *out);
int cxib_devx_check_modify(const struct cxib_devx_obj_id *object, void *in, size_t length,
			   struct cxib_devx_refs *refs);

#endif
