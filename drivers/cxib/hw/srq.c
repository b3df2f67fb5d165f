// SPDX-License-Identifier: GPL-2.0-only
/* SRQ commands: RMP, XRC SRQ, XRQ. */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "hw/buffer.h"
#include "hw/command_queue.h"
#include "hw/commands_receive_queues.h"
#include "hw/contexts.h"
#include "hw/srq.h"

static void hwsrq_fill_queue(struct hw_wq *queue, const struct cxib_srq_params *params)
{
	hw_wq_set_wq_type(queue, HW_WQ_TYPE_LINKED_LIST);
	hw_wq_set_page_offset(queue, params->buffer->offset / CXIB_BUFFER_ALIGNMENT);
	hw_wq_set_pd(queue, params->pd);
	hw_wq_set_dbr_addr(queue, params->dbr);
	hw_wq_set_log_wq_stride(queue, params->log_stride);
	hw_wq_set_log_wq_pg_sz(queue, PAGE_SHIFT - CXIB_LOG_DEVICE_PAGE);
	hw_wq_set_log_wq_sz(queue, params->log_size);
}

/**
 * cxib_cmd_create_rmp() - CREATE_RMP: creates a basic SRQ
 * @queue: command queue
 * @params: attributes of the SRQ
 * @number: output: RMPN
 */
int cxib_cmd_create_rmp(struct cxib_command_queue *queue,
			const struct cxib_srq_params *params, u32 *number)
{
	size_t list = params->buffer->page_count * sizeof(__be64);
	struct hw_create_rmp_out out;
	struct cxib_command command = { .out = &out, .out_length = sizeof(out) };
	struct hw_create_rmp_in *in;
	int err;

	in = cxib_command_alloc_in(&command, size_add(sizeof(*in), list));
	if (!in)
		return -ENOMEM;
	hw_create_rmp_in_set_opcode(in, HW_CMD_CREATE_RMP);
	hw_create_rmp_in_set_uid(in, params->uid);
	hw_rmpc_set_state(hw_create_rmp_in_ctx(in), HW_RMP_STATE_RDY);
	hwsrq_fill_queue(hw_rmpc_wq(hw_create_rmp_in_ctx(in)), params);
	/* The PAS list follows the context. */
	cxib_buffer_list(params->buffer, (__be64 *)(in + 1));
	err = cxib_cmd_exec(queue, &command);
	*number = hw_create_rmp_out_get_rmpn(&out);
	kvfree(in);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_create_rmp);

/**
 * cxib_cmd_destroy_rmp() - DESTROY_RMP: destroys a basic SRQ
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @number: RMPN of an SRQ that no QP refers to
 */
int cxib_cmd_destroy_rmp(struct cxib_command_queue *queue, u16 uid, u32 number)
{
	struct hw_destroy_rmp_in in = {};
	struct hw_destroy_rmp_out out;

	hw_destroy_rmp_in_set_opcode(&in, HW_CMD_DESTROY_RMP);
	hw_destroy_rmp_in_set_uid(&in, uid);
	hw_destroy_rmp_in_set_rmpn(&in, number);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_destroy_rmp);

/**
 * cxib_cmd_arm_rmp() - MODIFY_RMP: arms the limit event
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @number: RMPN
 * @limit: the device raises a single event when fewer WQEs than this are left; 0: no event
 */
int cxib_cmd_arm_rmp(struct cxib_command_queue *queue, u16 uid, u32 number, u16 limit)
{
	struct hw_modify_rmp_in in = {};
	struct hw_modify_rmp_out out;
	struct hw_rmpc *context = hw_modify_rmp_in_ctx(&in);

	hw_modify_rmp_in_set_opcode(&in, HW_CMD_MODIFY_RMP);
	hw_modify_rmp_in_set_uid(&in, uid);
	hw_modify_rmp_in_set_rmpn(&in, number);
	hw_modify_rmp_in_set_rmp_state(&in, HW_RMP_STATE_RDY);
	hw_rmp_bitmask_set_lwm(hw_modify_rmp_in_bitmask(&in), 1);
	hw_rmpc_set_state(context, HW_RMP_STATE_RDY);
	hw_wq_set_lwm(hw_rmpc_wq(context), limit);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_arm_rmp);

/**
 * cxib_cmd_query_rmp() - QUERY_RMP: reads the limit
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @number: RMPN
 * @limit: output: as in cxib_cmd_arm_rmp(); 0 after the event
 */
int cxib_cmd_query_rmp(struct cxib_command_queue *queue, u16 uid, u32 number, u16 *limit)
{
	struct hw_query_rmp_in in = {};
	/* The output omits the PAS list that follows the context. */
	struct hw_query_rmp_out out;
	int err;

	hw_query_rmp_in_set_opcode(&in, HW_CMD_QUERY_RMP);
	hw_query_rmp_in_set_uid(&in, uid);
	hw_query_rmp_in_set_rmpn(&in, number);
	err = cxib_cmd_exec_inout(queue, in, out);
	*limit = hw_wq_get_lwm(hw_rmpc_wq(hw_query_rmp_out_rmp_context(&out)));
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_rmp);

/* The context omits the low bits of the doorbell record address, and counts strides in DS. */
#define RECORD_LOW_BITS	2
#define LOG_DS_SIZE	4

static void hwsrq_fill_xrc_context(struct hw_xrc_srqc *context,
				   const struct cxib_srq_params *params)
{
	hw_xrc_srqc_set_log_xrc_srq_size(context, params->log_size);
	hw_xrc_srqc_set_log_rq_stride(context, params->log_stride - LOG_DS_SIZE);
	hw_xrc_srqc_set_log_page_size(context, PAGE_SHIFT - CXIB_LOG_DEVICE_PAGE);
	hw_xrc_srqc_set_page_offset(context, params->buffer->offset / CXIB_BUFFER_ALIGNMENT);
	hw_xrc_srqc_set_pd(context, params->pd);
	hw_xrc_srqc_set_xrcd(context, params->xrcd);
	hw_xrc_srqc_set_cqn(context, params->cqn);
	hw_xrc_srqc_set_user_index(context, params->user_index);
	hw_xrc_srqc_set_db_record_addr_h(context, upper_32_bits(params->dbr));
	hw_xrc_srqc_set_db_record_addr_l(context,
					 lower_32_bits(params->dbr) >> RECORD_LOW_BITS);
}

/**
 * cxib_cmd_create_xrc_srq() - CREATE_XRC_SRQ: creates an XRC SRQ
 * @queue: command queue
 * @params: attributes of the SRQ
 * @number: output: XRC SRQN
 */
int cxib_cmd_create_xrc_srq(struct cxib_command_queue *queue,
			    const struct cxib_srq_params *params, u32 *number)
{
	struct hw_create_xrc_srq_out out;
	struct hw_create_xrc_srq_in *in;
	struct cxib_command command = { .out = &out, .out_length = sizeof(out) };
	int err;

	in = cxib_command_alloc_in(&command, struct_size(in, pas, params->buffer->page_count));
	if (!in)
		return -ENOMEM;
	hw_create_xrc_srq_in_set_opcode(in, HW_CMD_CREATE_XRC_SRQ);
	hw_create_xrc_srq_in_set_uid(in, params->uid);
	hwsrq_fill_xrc_context(hw_create_xrc_srq_in_xrc_srq_context_entry(in), params);
	cxib_buffer_list(params->buffer, in->pas);
	err = cxib_cmd_exec(queue, &command);
	*number = hw_create_xrc_srq_out_get_xrc_srqn(&out);
	kvfree(in);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_create_xrc_srq);

/**
 * cxib_cmd_destroy_xrc_srq() - DESTROY_XRC_SRQ: destroys an XRC SRQ
 * @queue: command queue
 * @uid: owner uid; 0: shared by user contexts
 * @number: XRC SRQN
 */
int cxib_cmd_destroy_xrc_srq(struct cxib_command_queue *queue, u16 uid, u32 number)
{
	struct hw_destroy_xrc_srq_in in = {};
	struct hw_destroy_xrc_srq_out out;

	hw_destroy_xrc_srq_in_set_opcode(&in, HW_CMD_DESTROY_XRC_SRQ);
	hw_destroy_xrc_srq_in_set_uid(&in, uid);
	hw_destroy_xrc_srq_in_set_xrc_srqn(&in, number);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_destroy_xrc_srq);

/**
 * cxib_cmd_arm_xrc_srq() - ARM_XRC_SRQ: arms the limit event
 * @queue: command queue
 * @uid: owner uid; 0: shared by user contexts
 * @number: XRC SRQN
 * @limit: as for cxib_cmd_arm_rmp()
 */
int cxib_cmd_arm_xrc_srq(struct cxib_command_queue *queue, u16 uid, u32 number, u16 limit)
{
	struct hw_arm_xrc_srq_in in = {};
	struct hw_arm_xrc_srq_out out;

	hw_arm_xrc_srq_in_set_opcode(&in, HW_CMD_ARM_XRC_SRQ);
	hw_arm_xrc_srq_in_set_uid(&in, uid);
	hw_arm_xrc_srq_in_set_op_mod(&in, HW_ARM_XRC_SRQ_OP_MOD_XRC_SRQ);
	hw_arm_xrc_srq_in_set_xrc_srqn(&in, number);
	hw_arm_xrc_srq_in_set_lwm(&in, limit);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_arm_xrc_srq);

/**
 * cxib_cmd_query_xrc_srq() - QUERY_XRC_SRQ: reads the limit
 * @queue: command queue
 * @uid: owner uid; 0: shared by user contexts
 * @number: XRC SRQN
 * @limit: output: as for cxib_cmd_query_rmp()
 */
int cxib_cmd_query_xrc_srq(struct cxib_command_queue *queue, u16 uid, u32 number, u16 *limit)
{
	struct hw_query_xrc_srq_in in = {};
	/* The output omits the PAS list that follows the context. */
	struct hw_query_xrc_srq_out out;
	int err;

	hw_query_xrc_srq_in_set_opcode(&in, HW_CMD_QUERY_XRC_SRQ);
	hw_query_xrc_srq_in_set_uid(&in, uid);
	hw_query_xrc_srq_in_set_xrc_srqn(&in, number);
	err = cxib_cmd_exec_inout(queue, in, out);
	*limit = hw_xrc_srqc_get_lwm(hw_query_xrc_srq_out_xrc_srq_context_entry(&out));
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_xrc_srq);

static void hwsrq_fill_xrqc(struct hw_xrqc *context,
			    const struct cxib_srq_params *params)
{
	struct hw_tag_matching_topology_context *tags =
		hw_xrqc_tag_matching_topology_context(context);

	hw_xrqc_set_topology(context, HW_XRQ_TOPOLOGY_TAG_MATCHING);
	if (params->rndv_offload)
		hw_xrqc_set_offload(context, HW_XRQ_OFFLOAD_RNDV);
	hw_tag_matching_topology_context_set_log_matching_list_sz(tags, params->log_tm_list_size);
	hw_xrqc_set_user_index(context, params->user_index);
	hw_xrqc_set_cqn(context, params->cqn);
	hwsrq_fill_queue(hw_xrqc_wq(context), params);
}

/**
 * cxib_cmd_create_xrq() - CREATE_XRQ: creates an SRQ with tag matching
 * @queue: command queue
 * @params: attributes of the SRQ
 * @number: output: XRQN
 */
int cxib_cmd_create_xrq(struct cxib_command_queue *queue,
			const struct cxib_srq_params *params, u32 *number)
{
	size_t list = params->buffer->page_count * sizeof(__be64);
	struct hw_create_xrq_out out;
	struct cxib_command command = { .out = &out, .out_length = sizeof(out) };
	struct hw_create_xrq_in *in;
	int err;

	in = cxib_command_alloc_in(&command, size_add(sizeof(*in), list));
	if (!in)
		return -ENOMEM;
	hw_create_xrq_in_set_opcode(in, HW_CMD_CREATE_XRQ);
	hw_create_xrq_in_set_uid(in, params->uid);
	hwsrq_fill_xrqc(hw_create_xrq_in_xrq_context(in), params);
	/* The PAS list follows the context. */
	cxib_buffer_list(params->buffer, (__be64 *)(in + 1));
	err = cxib_cmd_exec(queue, &command);
	*number = hw_create_xrq_out_get_xrqn(&out);
	kvfree(in);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_create_xrq);

/**
 * cxib_cmd_destroy_xrq() - DESTROY_XRQ: destroys an SRQ with tag matching
 * @queue: command queue
 * @uid: owner uid
 * @number: XRQN of an SRQ that no QP refers to
 */
int cxib_cmd_destroy_xrq(struct cxib_command_queue *queue, u16 uid, u32 number)
{
	struct hw_destroy_xrq_in in = {};
	struct hw_destroy_xrq_out out;

	hw_destroy_xrq_in_set_opcode(&in, HW_CMD_DESTROY_XRQ);
	hw_destroy_xrq_in_set_uid(&in, uid);
	hw_destroy_xrq_in_set_xrqn(&in, number);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_destroy_xrq);

/**
 * cxib_cmd_arm_xrq() - ARM_RQ: arms the limit event
 * @queue: command queue
 * @uid: owner uid
 * @number: XRQN
 * @limit: as for cxib_cmd_arm_rmp()
 */
int cxib_cmd_arm_xrq(struct cxib_command_queue *queue, u16 uid, u32 number, u16 limit)
{
	struct hw_arm_rq_in in = {};
	struct hw_arm_rq_out out;

	hw_arm_rq_in_set_opcode(&in, HW_CMD_ARM_RQ);
	hw_arm_rq_in_set_uid(&in, uid);
	hw_arm_rq_in_set_op_mod(&in, HW_ARM_RQ_OP_MOD_XRQ);
	hw_arm_rq_in_set_srq_number(&in, number);
	hw_arm_rq_in_set_lwm(&in, limit);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_arm_xrq);

/**
 * cxib_cmd_query_xrq() - QUERY_XRQ: reads the limit
 * @queue: command queue
 * @uid: owner uid
 * @number: XRQN
 * @limit: output: as for cxib_cmd_query_rmp()
 */
int cxib_cmd_query_xrq(struct cxib_command_queue *queue, u16 uid, u32 number, u16 *limit)
{
	struct hw_query_xrq_in in = {};
	/* The output omits the PAS list that follows the context. */
	struct hw_query_xrq_out out;
	const struct hw_xrqc *context = hw_query_xrq_out_get_xrq_context(&out);
	int err;

	hw_query_xrq_in_set_opcode(&in, HW_CMD_QUERY_XRQ);
	hw_query_xrq_in_set_uid(&in, uid);
	hw_query_xrq_in_set_xrqn(&in, number);
	err = cxib_cmd_exec_inout(queue, in, out);
	*limit = hw_wq_get_lwm(hw_xrqc_get_wq(context));
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_xrq);
