/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which commands a program may have the device carry out (DEVX), and on which
 * objects. What is not listed is refused.
 *
 * A command runs in the name of the program's user context, so the device
 * itself keeps it away from objects of other programs. What is checked here is
 * what would get around that: addresses on the bus, the rights of the kernel's
 * own queue pairs, references to objects of the kernel, which the device may
 * take for everybody's, and what uverbs gives to privileged programs only.
 */
#ifndef CXIB_USER_DEVX_COMMAND_H
#define CXIB_USER_DEVX_COMMAND_H

#include <linux/types.h>

struct hw_general_obj_in_cmd_hdr;

/**
 * enum cxib_devx_kind - what objects programs can make, or have from verbs
 * @CXIB_DEVX_MKEY: memory keys
 * @CXIB_DEVX_PSV: signature values
 * @CXIB_DEVX_CQ: completion queues
 * @CXIB_DEVX_QP: queue pairs
 * @CXIB_DEVX_RMP: receive memory pools, which verbs call shared receive queues
 * @CXIB_DEVX_GENERAL: general objects, of several types
 * @CXIB_DEVX_KINDS: how many kinds there are
 */
enum cxib_devx_kind {
	CXIB_DEVX_MKEY,
	CXIB_DEVX_PSV,
	CXIB_DEVX_CQ,
	CXIB_DEVX_QP,
	CXIB_DEVX_RMP,
	CXIB_DEVX_GENERAL,
	CXIB_DEVX_KINDS,
};

/**
 * struct cxib_devx_obj_id - an object, as commands name it
 * @kind: what it is
 * @type: enum hw_object_type of a general object; 0 for others
 * @number: its number
 * @from_verbs: it was made by a verb: the kernel knows its state, which only
 *	verbs change
 */
struct cxib_devx_obj_id {
	enum cxib_devx_kind kind;
	u16 type;
	u32 number;
	bool from_verbs;
};

/**
 * struct cxib_devx_refs - what a command refers to: it has to be the program's own
 * @has_uar: there is a page of doorbells
 * @uar: its number
 * @has_eqn: there is an event queue, which has to be one of completions
 * @eqn: its number
 * @has_pd: there is a protection domain
 * @pd: its number
 * @cq_count: completion queues
 * @cqs: their numbers
 * @has_srq: there is a shared receive queue
 * @srq: its number
 * @net_raw: the program needs CAP_NET_RAW
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

/* Bytes of an answer that the number of a new object is in. */
#define CXIB_DEVX_CREATE_OUT_SIZE	32

/* From here on the answers of queries list the bus addresses of pages. */
#define CXIB_DEVX_QUERY_MAX		0x110

u32 cxib_devx_rights(u32 uctx_cap, bool net_raw, bool sys_rawio);
bool cxib_devx_is_general_cmd(const void *in);
int cxib_devx_check_create(void *in, size_t length, struct cxib_devx_obj_id *object,
			   struct cxib_devx_refs *needs);
void cxib_devx_get_obj_id(const void *out, size_t length, struct cxib_devx_obj_id *object);
void cxib_devx_build_destroy(const struct cxib_devx_obj_id *object,
			     struct hw_general_obj_in_cmd_hdr *in);
int cxib_devx_check_query(const struct cxib_devx_obj_id *object, const void *in);
size_t cxib_devx_query_outlen(const struct cxib_devx_obj_id *object, size_t room);
void cxib_devx_hide_addresses(const struct cxib_devx_obj_id *object, void *out);
int cxib_devx_check_modify(const struct cxib_devx_obj_id *object, void *in, size_t length,
			   struct cxib_devx_refs *needs);

#endif
