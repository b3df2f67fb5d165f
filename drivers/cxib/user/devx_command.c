// SPDX-License-Identifier: GPL-2.0-only
/* DEVX: which commands user space may execute on which objects. */
#include <kunit/visibility.h>
#include <linux/array_size.h>
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/math.h>
#include <linux/minmax.h>

#include "hw/capabilities.h"
#include "hw/command_interface.h"
#include "hw/commands_device.h"
#include "hw/commands_events.h"
#include "hw/commands_memory.h"
#include "hw/commands_objects.h"
#include "hw/commands_port.h"
#include "hw/commands_queue_pairs.h"
#include "hw/commands_receive_queues.h"
#include "user/devx_command.h"

/*
 * General objects that the kernel's uAPI does not name: scheduling elements, QPN ranges reserved
 * for connection managers, and the QP whose congestion control applies to an address.
 */
#define OBJECT_SCHEDULING_ELEMENT	0x26
#define OBJECT_RESERVED_NUMBERS		0x2c
#define OBJECT_ADDRESS_MAPPING		0x3a

/* Word of inputs and outputs that holds an object number. */
#define NUMBER_WORD	2
#define NUMBER_MASK	GENMASK(23, 0)

/* Controlled Q_Keys (e.g. that of the GSI QP) have this bit. */
#define CONTROLLED_Q_KEY	BIT(31)

/* Minimum input length of a QP transition: up to the end of the context. */
#define MIN_TRANSITION	(offsetofend(struct hw_rst2init_qp_in, dw[5]) + \
			 sizeof(struct hw_qpc))

static u32 devx_cmd_word_of(const void *message, unsigned int index)
{
	return be32_to_cpu(((const __be32 *)message)[index]);
}

static u16 devx_cmd_opcode_of(const void *in)
{
	return hw_cmd_in_get_opcode(in);
}

/**
 * cxib_devx_rights() - computes the capabilities of a user context
 * @uctx_cap: HW_UCTX_CAP_… that the device supports
 * @net_raw: the caller has CAP_NET_RAW
 * @sys_rawio: the caller has CAP_SYS_RAWIO
 *
 * Return: HW_UCTX_CAP_…; capabilities unknown to the driver are never granted.
 */
u32 cxib_devx_rights(u32 uctx_cap, bool net_raw, bool sys_rawio)
{
	u32 rights = 0;

	if (net_raw)
		rights |= HW_UCTX_CAP_RAW_TX;
	if (sys_rawio)
		rights |= HW_UCTX_CAP_INTERNAL_DEV_RES;
	return rights & uctx_cap;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_rights);

/**
 * cxib_devx_is_tunnelled() - whether a command requests execution for another function
 * @in: input of the command, 8 bytes at least
 *
 * All commands have the field, not only those of general objects: the capability
 * vhca_tunnel_commands of mlx5_ifc.h has a bit for each kind of commands.
 */
bool cxib_devx_is_tunnelled(const void *in)
{
	return hw_general_obj_in_cmd_hdr_get_vhca_tunnel_id(in);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_is_tunnelled);

/**
 * cxib_devx_num_qpns() - returns the number of QPNs that a create command reserves
 * @in: input of the command, 16 bytes at least
 *
 * Return: the number; 0 if the command creates another object.
 */
u32 cxib_devx_num_qpns(const void *in)
{
	if (devx_cmd_opcode_of(in) != HW_CMD_CREATE_GENERAL_OBJECT ||
	    hw_general_obj_in_cmd_hdr_get_obj_type(in) != OBJECT_RESERVED_NUMBERS)
		return 0;
	return BIT(hw_general_obj_create_param_get_log_obj_range
			(hw_general_obj_in_cmd_hdr_get_op_param_general_obj_create_param(in)));
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_num_qpns);

/**
 * cxib_devx_reserve_qpns() - counts QPNs that a user context reserves
 * @reserved: number of QPNs that the user context has reserved
 * @count: number of QPNs to add
 * @limit: limit of @reserved
 *
 * Return: 0; -ENOSPC when the limit would be exceeded.
 */
int cxib_devx_reserve_qpns(atomic_t *reserved, u32 count, u32 limit)
{
	int before = atomic_read(reserved);

	do {
		if (count > limit - before)
			return -ENOSPC;
	} while (!atomic_try_cmpxchg(reserved, &before, before + count));
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_reserve_qpns);

/**
 * cxib_devx_is_general_cmd() - whether a command has no object and changes nothing
 * @in: input of the command
 */
bool cxib_devx_is_general_cmd(const void *in)
{
	switch (devx_cmd_opcode_of(in)) {
	case HW_CMD_NOP:
	case HW_CMD_QUERY_ADAPTER:
	case HW_CMD_QUERY_HCA_CAP:
	case HW_CMD_QUERY_HCA_VPORT_CONTEXT:
	case HW_CMD_QUERY_HCA_VPORT_GID:
	case HW_CMD_QUERY_HCA_VPORT_PKEY:
	case HW_CMD_QUERY_ISSI:
	case HW_CMD_QUERY_LAG:
	case HW_CMD_QUERY_VNIC_ENV:
	case HW_CMD_QUERY_VPORT_STATE:
		return true;
	default:
		return false;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_is_general_cmd);

/*
 * A PA mkey would grant access to all memory of the host. MTTs must come from a umem, and UMR must
 * not replace them.
 */
static int devx_cmd_check_mkey(void *in, struct cxib_devx_refs *refs)
{
	const struct hw_mkc *context = hw_create_mkey_in_get_memory_key_mkey_entry(in);
	u32 mode = hw_mkc_get_access_mode_1_0(context) |
		   hw_mkc_get_access_mode_4_2(context) << 2;

	refs->has_pd = true;
	refs->pd = hw_mkc_get_pd(context);
	switch (mode) {
	case HW_MKEY_ACCESS_MODE_KLMS:
	case HW_MKEY_ACCESS_MODE_KSM:
		return 0;
	case HW_MKEY_ACCESS_MODE_MTT:
		if (hw_mkc_get_umr_en(context))
			return -EPERM;
		hw_create_mkey_in_set_mkey_umem_valid(in, 1);
		return 0;
	default:
		return -EPERM;
	}
}

/* DESTROY_PSV destroys a single PSV, so a command may create only one. */
static int devx_cmd_check_psv(void *in, struct cxib_devx_refs *refs)
{
	refs->has_pd = true;
	refs->pd = hw_create_psv_in_get_pd(in);
	return hw_create_psv_in_get_num_psv(in) == 1 ? 0 : -EINVAL;
}

static int devx_cmd_check_cq(void *in, struct cxib_devx_refs *refs)
{
	struct hw_cqc *context = hw_create_cq_in_cq_context(in);

	if (hw_cqc_get_apu_cq(context))
		return -EPERM;
	hw_create_cq_in_set_cq_umem_valid(in, 1);
	hw_cqc_set_dbr_umem_valid(context, 1);
	refs->has_uar = true;
	refs->uar = hw_cqc_get_uar_page(context);
	refs->has_eqn = true;
	refs->eqn = hw_cqc_get_c_eqn_or_apu_element(context);
	return 0;
}

/*
 * The resd_lkey grants access to all memory of the host, and a fast registration writes DMA
 * addresses.
 */
static bool devx_cmd_has_rights_of_kernel(const struct hw_qpc *context)
{
	return hw_qpc_get_rlky(context) || hw_qpc_get_fre(context);
}

/*
 * uverbs requires CAP_NET_RAW for two attributes: a controlled Q_Key, which the GSI QPs of the
 * fabric accept, and the QPN of another QP as source in the DETH.
 */
static bool devx_cmd_needs_net_raw(const struct hw_qpc *context)
{
	return hw_qpc_get_q_key(context) & CONTROLLED_Q_KEY || hw_qpc_get_deth_sqpn(context);
}

static int devx_cmd_check_qp(void *in, struct cxib_devx_refs *refs)
{
	struct hw_qpc *context = hw_create_qp_in_qpc(in);

	switch (hw_qpc_get_st(context)) {
	case HW_QP_SERVICE_TYPE_RC:
	case HW_QP_SERVICE_TYPE_UC:
	case HW_QP_SERVICE_TYPE_UD:
	case HW_QP_SERVICE_TYPE_DCI:
		break;
	default:
		return -EPERM;
	}
	if (devx_cmd_has_rights_of_kernel(context))
		return -EPERM;
	hw_create_qp_in_set_wq_umem_valid(in, 1);
	hw_qpc_set_dbr_umem_valid(context, 1);
	*refs = (struct cxib_devx_refs){
		.has_uar = true,
		.uar = hw_qpc_get_uar_page(context),
		.has_pd = true,
		.pd = hw_qpc_get_pd(context),
		.cq_count = 2,
		.cqs = { hw_qpc_get_cqn_snd(context), hw_qpc_get_cqn_rcv(context) },
		.has_srq = hw_qpc_get_rq_type(context) == HW_QP_RQ_TYPE_SRQ_RQ,
		.srq = hw_qpc_get_srqn_rmpn_xrqn(context),
		.net_raw = devx_cmd_needs_net_raw(context),
	};
	return 0;
}

static int devx_cmd_check_dct(void *in, struct cxib_devx_refs *refs)
{
	const struct hw_dctc *context = hw_create_dct_in_get_dct_context_entry(in);

	if (hw_dctc_get_rlky(context))
		return -EPERM;
	*refs = (struct cxib_devx_refs){
		.has_pd = true,
		.pd = hw_dctc_get_pd(context),
		.cq_count = 1,
		.cqs = { hw_dctc_get_cqn(context) },
		.has_srq = true,
		.srq = hw_dctc_get_srqn_xrqn(context),
	};
	return 0;
}

static void devx_cmd_check_wq(struct hw_wq *queue, struct cxib_devx_refs *refs)
{
	refs->has_pd = true;
	refs->pd = hw_wq_get_pd(queue);
	hw_wq_set_wq_umem_valid(queue, 1);
	hw_wq_set_dbr_umem_valid(queue, 1);
}

static int devx_cmd_check_rmp(void *in, struct cxib_devx_refs *refs)
{
	devx_cmd_check_wq(hw_rmpc_wq(hw_create_rmp_in_ctx(in)), refs);
	return 0;
}

static int devx_cmd_check_xrq(void *in, struct cxib_devx_refs *refs)
{
	struct hw_xrqc *context = hw_create_xrq_in_xrq_context(in);

	if (hw_xrqc_get_rlkey(context))
		return -EPERM;
	devx_cmd_check_wq(hw_xrqc_wq(context), refs);
	refs->cqs[refs->cq_count++] = hw_xrqc_get_cqn(context);
	return 0;
}

static int devx_cmd_check_general(void *in, struct cxib_devx_refs *refs)
{
	switch (hw_general_obj_in_cmd_hdr_get_obj_type(in)) {
	case OBJECT_SCHEDULING_ELEMENT:
	case OBJECT_RESERVED_NUMBERS:
	case OBJECT_ADDRESS_MAPPING:
		return 0;
	default:
		return -EPERM;
	}
}

/**
 * struct devx_cmd_kind - commands for objects of one kind
 * @create: create opcode
 * @destroy: destroy opcode
 * @query: query opcode; 0: none
 * @min_size: minimum input length of @create, bytes
 * @number_word: word of the output of @create that holds the number
 * @check: checks and completes the input of @create
 */
struct devx_cmd_kind {
	u16 create;
	u16 destroy;
	u16 query;
	u16 min_size;
	u16 number_word;
	int (*check)(void *in, struct cxib_devx_refs *refs);
};

static const struct devx_cmd_kind kinds[] = {
	[CXIB_DEVX_MKEY] = {
		HW_CMD_CREATE_MKEY, HW_CMD_DESTROY_MKEY, HW_CMD_QUERY_MKEY,
		sizeof(struct hw_create_mkey_in), NUMBER_WORD, devx_cmd_check_mkey,
	},
	[CXIB_DEVX_PSV] = {
		HW_CMD_CREATE_PSV, HW_CMD_DESTROY_PSV, 0,
		sizeof(struct hw_create_psv_in), 4, devx_cmd_check_psv,
	},
	[CXIB_DEVX_CQ] = {
		HW_CMD_CREATE_CQ, HW_CMD_DESTROY_CQ, HW_CMD_QUERY_CQ,
		sizeof(struct hw_create_cq_in), NUMBER_WORD, devx_cmd_check_cq,
	},
	[CXIB_DEVX_QP] = {
		HW_CMD_CREATE_QP, HW_CMD_DESTROY_QP, HW_CMD_QUERY_QP,
		sizeof(struct hw_create_qp_in), NUMBER_WORD, devx_cmd_check_qp,
	},
	[CXIB_DEVX_DCT] = {
		HW_CMD_CREATE_DCT, HW_CMD_DESTROY_DCT, HW_CMD_QUERY_DCT,
		sizeof(struct hw_create_dct_in), NUMBER_WORD, devx_cmd_check_dct,
	},
	[CXIB_DEVX_RMP] = {
		HW_CMD_CREATE_RMP, HW_CMD_DESTROY_RMP, HW_CMD_QUERY_RMP,
		sizeof(struct hw_create_rmp_in), NUMBER_WORD, devx_cmd_check_rmp,
	},
	[CXIB_DEVX_XRQ] = {
		HW_CMD_CREATE_XRQ, HW_CMD_DESTROY_XRQ, HW_CMD_QUERY_XRQ,
		sizeof(struct hw_create_xrq_in), NUMBER_WORD, devx_cmd_check_xrq,
	},
	[CXIB_DEVX_GENERAL] = {
		HW_CMD_CREATE_GENERAL_OBJECT, HW_CMD_DESTROY_GENERAL_OBJECT,
		HW_CMD_QUERY_GENERAL_OBJECT,
		sizeof(struct hw_general_obj_in_cmd_hdr), NUMBER_WORD, devx_cmd_check_general,
	},
};

static_assert(ARRAY_SIZE(kinds) == CXIB_DEVX_KINDS);

/**
 * cxib_devx_check_create() - checks a create command of user space
 * @in: input of the command; flags that make the device use umems are set
 * @length: length of @in, bytes; 16 at least
 * @object: output, except the number
 * @refs: output: objects that the user context must own
 *
 * Return: 0, or
 *	-EINVAL when the opcode creates no known object or @in is too short,
 *	-EPERM when the command is reserved for the kernel.
 */
int cxib_devx_check_create(void *in, size_t length, struct cxib_devx_obj_id *object,
			   struct cxib_devx_refs *refs)
{
	const u16 opcode = devx_cmd_opcode_of(in);
	unsigned int i;

	*refs = (struct cxib_devx_refs){};
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].create != opcode)
			continue;
		if (length < kinds[i].min_size)
			return -EINVAL;
		*object = (struct cxib_devx_obj_id){ .kind = i };
		if (i == CXIB_DEVX_GENERAL)
			object->type = hw_general_obj_in_cmd_hdr_get_obj_type(in);
		return kinds[i].check(in, refs);
	}
	return -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_check_create);

/**
 * cxib_devx_create_outlen() - output length of a create command
 * @in: input of the command; 16 bytes at least
 * @length: output length that user space has requested, bytes
 *
 * User space may omit the number of the object, but the driver needs it to destroy the object.
 *
 * Return: @length, or more: the output contains the number. Outputs are multiples of 16 bytes.
 */
size_t cxib_devx_create_outlen(const void *in, size_t length)
{
	const u16 opcode = devx_cmd_opcode_of(in);
	size_t needed = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].create == opcode)
			needed = (kinds[i].number_word + 1) * sizeof(__be32);
	return max(length, round_up(needed, sizeof(struct hw_general_obj_out_cmd_hdr)));
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_create_outlen);

/**
 * cxib_devx_get_obj_id() - reads the number of a created object
 * @out: output of the create command
 * @length: length of @out, bytes; a number beyond it reads as 0
 * @object: its number is set
 */
void cxib_devx_get_obj_id(const void *out, size_t length, struct cxib_devx_obj_id *object)
{
	const unsigned int word = kinds[object->kind].number_word;

	object->number = length < (word + 1) * sizeof(__be32) ? 0 : devx_cmd_word_of(out, word);
	if (object->kind != CXIB_DEVX_GENERAL)
		object->number &= NUMBER_MASK;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_get_obj_id);

/**
 * cxib_devx_build_destroy() - builds the destroy command of an object
 * @object: object
 * @in: output, except the uid
 */
void cxib_devx_build_destroy(const struct cxib_devx_obj_id *object,
			     struct hw_general_obj_in_cmd_hdr *in)
{
	*in = (struct hw_general_obj_in_cmd_hdr){};
	hw_general_obj_in_cmd_hdr_set_opcode(in, kinds[object->kind].destroy);
	hw_general_obj_in_cmd_hdr_set_obj_type(in, object->type);
	hw_general_obj_in_cmd_hdr_set_obj_id(in, object->number);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_build_destroy);

/* The upper bits are options of some commands. */
static bool devx_cmd_is_about(const struct cxib_devx_obj_id *object, const void *in)
{
	const u32 number = devx_cmd_word_of(in, NUMBER_WORD);

	if (object->kind == CXIB_DEVX_GENERAL)
		return number == object->number &&
		       hw_general_obj_in_cmd_hdr_get_obj_type(in) == object->type;
	return (number & NUMBER_MASK) == object->number;
}

/**
 * cxib_devx_check_query() - checks a query command of user space
 * @object: object of the user context
 * @in: input of the command, 16 bytes at least
 *
 * Return: 0; -EINVAL when @in names another object or is no query.
 */
int cxib_devx_check_query(const struct cxib_devx_obj_id *object, const void *in)
{
	const u16 query = kinds[object->kind].query;

	return query && devx_cmd_opcode_of(in) == query && devx_cmd_is_about(object, in) ? 0 :
											   -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_check_query);

/**
 * cxib_devx_query_outlen() - limits the output length of a query
 * @object: object that is queried
 * @length: output length that user space has requested, bytes
 *
 * Return: @length, or less: the output must not contain the PAS list.
 */
size_t cxib_devx_query_outlen(const struct cxib_devx_obj_id *object, size_t length)
{
	return object->kind == CXIB_DEVX_GENERAL ? length :
						   min_t(size_t, length, CXIB_DEVX_QUERY_MAX);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_query_outlen);

/**
 * cxib_devx_hide_addresses() - clears DMA addresses in the output of a query
 * @object: object that was queried
 * @out: output, at least %CXIB_DEVX_QUERY_MAX bytes
 */
void cxib_devx_hide_addresses(const struct cxib_devx_obj_id *object, void *out)
{
	switch (object->kind) {
	case CXIB_DEVX_CQ:
		return hw_cqc_set_dbr_addr(hw_query_cq_out_cq_context(out), 0);
	case CXIB_DEVX_QP:
		return hw_qpc_set_dbr_addr(hw_query_qp_out_qpc(out), 0);
	case CXIB_DEVX_RMP:
		return hw_wq_set_dbr_addr(hw_rmpc_wq(hw_query_rmp_out_rmp_context(out)), 0);
	case CXIB_DEVX_XRQ:
		return hw_wq_set_dbr_addr(hw_xrqc_wq(hw_query_xrq_out_xrq_context(out)), 0);
	default:
		break;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_hide_addresses);

/* A transition cannot change the references of a QP, but its input has fields for them. */
static void devx_cmd_get_refs(const struct hw_qpc *context, struct cxib_devx_refs *refs)
{
	const u32 cqs[] = { hw_qpc_get_cqn_snd(context), hw_qpc_get_cqn_rcv(context) };
	unsigned int i;

	refs->net_raw = devx_cmd_needs_net_raw(context);
	refs->pd = hw_qpc_get_pd(context);
	refs->has_pd = refs->pd;
	refs->srq = hw_qpc_get_srqn_rmpn_xrqn(context);
	refs->has_srq = refs->srq;
	for (i = 0; i < ARRAY_SIZE(cqs); i++)
		if (cqs[i])
			refs->cqs[refs->cq_count++] = cqs[i];
}

/* The kernel keeps a copy of the state of verbs QPs. */
static int devx_cmd_check_transition(const struct cxib_devx_obj_id *object, const void *in,
				     size_t length, struct cxib_devx_refs *refs)
{
	const struct hw_qpc *context = hw_rst2init_qp_in_get_qpc(in);

	if (object->from_verbs && devx_cmd_opcode_of(in) != HW_CMD_INIT2INIT_QP &&
	    devx_cmd_opcode_of(in) != HW_CMD_RTS2RTS_QP)
		return -EPERM;
	if (length < MIN_TRANSITION)
		return -EINVAL;
	if (devx_cmd_has_rights_of_kernel(context) || hw_qpc_get_dbr_addr(context))
		return -EPERM;
	devx_cmd_get_refs(context, refs);
	return 0;
}

static int devx_cmd_check_qp_modify(const struct cxib_devx_obj_id *object, const void *in,
				    size_t length, struct cxib_devx_refs *refs)
{
	switch (devx_cmd_opcode_of(in)) {
	case HW_CMD_RST2INIT_QP:
	case HW_CMD_INIT2INIT_QP:
	case HW_CMD_INIT2RTR_QP:
	case HW_CMD_RTR2RTS_QP:
	case HW_CMD_RTS2RTS_QP:
	case HW_CMD_SQERR2RTS_QP:
	case HW_CMD_SQD_RTS_QP:
		return devx_cmd_check_transition(object, in, length, refs);
	case HW_CMD_2ERR_QP:
	case HW_CMD_2RST_QP:
		return object->from_verbs ? -EPERM : 0;
	default:
		return -EINVAL;
	}
}

/* Moderation of completion events only, not the location of the ring nor the EQ. */
static int devx_cmd_check_cq_modify(const struct cxib_devx_obj_id *object, const void *in,
				    size_t length)
{
	const u32 allowed = HW_CQ_MODIFY_FIELD_SELECT_CQ_PERIOD |
			     HW_CQ_MODIFY_FIELD_SELECT_CQ_MAX_COUNT |
			     HW_CQ_MODIFY_FIELD_SELECT_OI |
			     HW_CQ_MODIFY_FIELD_SELECT_CQ_PERIOD_MODE;

	if (devx_cmd_opcode_of(in) != HW_CMD_MODIFY_CQ || length < sizeof(struct hw_modify_cq_in))
		return -EINVAL;
	if (object->from_verbs || hw_modify_cq_in_get_op_mod(in) != HW_MODIFY_CQ_OP_MOD_MODIFY_CQ ||
	    devx_cmd_word_of(in, 3) & ~allowed)
		return -EPERM;
	return 0;
}

static int devx_cmd_check_rmp_modify(const struct cxib_devx_obj_id *object, void *in, size_t length,
				     struct cxib_devx_refs *refs)
{
	if (devx_cmd_opcode_of(in) != HW_CMD_MODIFY_RMP || length < sizeof(struct hw_modify_rmp_in))
		return -EINVAL;
	static_assert(sizeof(struct hw_modify_rmp_in) == sizeof(struct hw_create_rmp_in));
	return object->from_verbs ? -EPERM : devx_cmd_check_rmp(in, refs);
}

/* ARM_RQ arms the limit event of SRQs of several kinds, whose numbers must not be confused. */
static int devx_cmd_check_xrq_modify(const void *in)
{
	if (devx_cmd_opcode_of(in) != HW_CMD_ARM_RQ)
		return -EINVAL;
	return hw_arm_rq_in_get_op_mod(in) == HW_ARM_RQ_OP_MOD_XRQ ? 0 : -EPERM;
}

/**
 * cxib_devx_check_modify() - checks a modify command of user space
 * @object: object of the user context
 * @in: input of the command; flags that make the device use umems are set
 * @length: length of @in, bytes; 16 at least
 * @refs: output: objects that the user context must own
 *
 * Return: 0, or
 *	-EINVAL when @in names another object, is no modify command or too
 *	short,
 *	-EPERM when the command is reserved for the kernel.
 */
int cxib_devx_check_modify(const struct cxib_devx_obj_id *object, void *in, size_t length,
			   struct cxib_devx_refs *refs)
{
	*refs = (struct cxib_devx_refs){};
	if (!devx_cmd_is_about(object, in))
		return -EINVAL;
	switch (object->kind) {
	case CXIB_DEVX_CQ:
		return devx_cmd_check_cq_modify(object, in, length);
	case CXIB_DEVX_QP:
		return devx_cmd_check_qp_modify(object, in, length, refs);
	case CXIB_DEVX_RMP:
		return devx_cmd_check_rmp_modify(object, in, length, refs);
	case CXIB_DEVX_DCT:
		return devx_cmd_opcode_of(in) == HW_CMD_ARM_DCT ? 0 : -EINVAL;
	case CXIB_DEVX_XRQ:
		return devx_cmd_check_xrq_modify(in);
	case CXIB_DEVX_GENERAL:
		return devx_cmd_opcode_of(in) == HW_CMD_MODIFY_GENERAL_OBJECT ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_check_modify);
