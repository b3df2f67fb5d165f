// SPDX-License-Identifier: GPL-2.0-only
/* Port, counter and MAD commands. */
#include <kunit/visibility.h>
#include <linux/device.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "hw/command_queue.h"
#include "hw/port.h"
#include "hw/registers.h"

/* Index that stands for the whole table. */
#define ALL_ENTRIES	0xffff

static void vport_decode(const struct hw_hca_vport_context *context,
			 struct cxib_vport *attributes)
{
	*attributes = (struct cxib_vport){
		.system_image_guid = hw_hca_vport_context_get_system_image_guid(context),
		.port_guid = hw_hca_vport_context_get_port_guid(context),
		.node_guid = hw_hca_vport_context_get_node_guid(context),
		.state = hw_hca_vport_context_get_port_state(context),
		.physical_state = hw_hca_vport_context_get_port_physical_state(context),
		.capabilities = hw_hca_vport_context_get_cap_mask1(context),
		.changeable = hw_hca_vport_context_get_cap_mask1_field_select(context),
		.capabilities2 = hw_hca_vport_context_get_cap_mask2(context),
		.lid = hw_hca_vport_context_get_lid(context),
		.lmc = hw_hca_vport_context_get_lmc(context),
		.sm_lid = hw_hca_vport_context_get_sm_lid(context),
		.sm_sl = hw_hca_vport_context_get_sm_sl(context),
		.subnet_timeout = hw_hca_vport_context_get_subnet_timeout(context),
		.init_type_reply = hw_hca_vport_context_get_init_type_reply(context),
		.q_key_violations = hw_hca_vport_context_get_qkey_violation_counter(context),
		.p_key_violations = hw_hca_vport_context_get_pkey_violation_counter(context),
		.has_smi = hw_hca_vport_context_get_has_smi(context),
		.grh_required = hw_hca_vport_context_get_grh_required(context),
	};
}

/**
 * cxib_cmd_query_hca_vport() - QUERY_HCA_VPORT_CONTEXT: reads the attributes of a port
 * @queue: command queue
 * @vport: vport number
 * @attributes: output
 */
int cxib_cmd_query_hca_vport(struct cxib_command_queue *queue, unsigned int vport,
			     struct cxib_vport *attributes)
{
	struct hw_query_hca_vport_context_in in = {};
	struct hw_query_hca_vport_context_out *out;
	int err;

	out = kzalloc(sizeof(*out), GFP_KERNEL);
	if (!out)
		return -ENOMEM;
	hw_query_hca_vport_context_in_set_opcode(&in, HW_CMD_QUERY_HCA_VPORT_CONTEXT);
	hw_query_hca_vport_context_in_set_port_num(&in, vport);
	err = cxib_cmd_exec_inout(queue, in, *out);
	vport_decode(hw_query_hca_vport_context_out_get_hca_vport_context(out), attributes);
	kfree(out);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_hca_vport);

/**
 * cxib_cmd_modify_hca_vport() - MODIFY_HCA_VPORT_CONTEXT: changes the capability mask
 * @queue: command queue
 * @vport: vport number
 * @select: bits to change, a subset of @changeable of
 *	cxib_cmd_query_hca_vport()
 * @value: values of these bits; firmware ignores the other bits, which public drivers set
 */
int cxib_cmd_modify_hca_vport(struct cxib_command_queue *queue, unsigned int vport,
			      u32 select, u32 value)
{
	struct hw_modify_hca_vport_context_in *in;
	struct hw_modify_hca_vport_context_out out;
	struct hw_hca_vport_context *context;
	int err;

	in = kzalloc(sizeof(*in), GFP_KERNEL);
	if (!in)
		return -ENOMEM;
	hw_modify_hca_vport_context_in_set_opcode(in, HW_CMD_MODIFY_HCA_VPORT_CONTEXT);
	hw_modify_hca_vport_context_in_set_port_num(in, vport);
	context = hw_modify_hca_vport_context_in_hca_vport_context(in);
	hw_hca_vport_context_set_cap_mask1(context, value);
	hw_hca_vport_context_set_cap_mask1_field_select(context, select);
	err = cxib_cmd_exec_inout(queue, *in, out);
	kfree(in);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_modify_hca_vport);

/*
 * If firmware refuses the index of a table, the driver reads each entry by itself, as public
 * drivers do.
 */
static bool vport_is_table(unsigned int index)
{
	return index == ALL_ENTRIES;
}

static int vport_query_gids(struct cxib_command_queue *queue, unsigned int vport,
			    unsigned int index, unsigned int count, struct hw_gid *gids)
{
	struct hw_query_hca_vport_gid_in in = {};
	struct hw_query_hca_vport_gid_out *out;
	struct cxib_command command = {
		.in = &in, .in_length = sizeof(in),
		.optional = vport_is_table(index),
	};
	int err;

	out = cxib_command_alloc_out(&command, struct_size(out, gid, count));
	if (!out)
		return -ENOMEM;
	hw_query_hca_vport_gid_in_set_opcode(&in, HW_CMD_QUERY_HCA_VPORT_GID);
	hw_query_hca_vport_gid_in_set_port_num(&in, vport);
	hw_query_hca_vport_gid_in_set_gid_index(&in, index);
	err = cxib_cmd_exec(queue, &command);
	if (!err && vport_is_table(index) &&
	    hw_query_hca_vport_gid_out_get_gids_num(out) != count)
		err = -EREMOTEIO;
	memcpy(gids, out->gid, count * sizeof(*gids));
	kvfree(out);
	return err;
}

/**
 * cxib_cmd_query_vport_gid() - QUERY_HCA_VPORT_GID: reads the GID table of a port
 * @queue: command queue
 * @vport: vport number
 * @count: length of the table
 * @gids: output: @count GIDs
 *
 * Reads the table with one command. If firmware refuses it or returns another number of GIDs, the
 * function reads each GID with its own command.
 *
 * Context: process context, may sleep.
 * Return: 0, or as cxib_cmd_exec().
 */
int cxib_cmd_query_vport_gid(struct cxib_command_queue *queue, unsigned int vport,
			     unsigned int count, struct hw_gid *gids)
{
	int err = vport_query_gids(queue, vport, ALL_ENTRIES, count, gids);
	unsigned int i;

	if (!cxib_command_is_refusal(err))
		return err;
	err = 0;
	for (i = 0; i < count && !err; i++)
		err = vport_query_gids(queue, vport, i, 1, &gids[i]);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_vport_gid);

static int vport_query_pkey(struct cxib_command_queue *queue, unsigned int vport,
			    unsigned int index, u16 *pkey)
{
	struct hw_query_hca_vport_pkey_in in = {};
	struct hw_query_hca_vport_pkey_out *out;
	struct cxib_command command = { .in = &in, .in_length = sizeof(in) };
	int err;

	out = cxib_command_alloc_out(&command, struct_size(out, pkey, 1));
	if (!out)
		return -ENOMEM;
	hw_query_hca_vport_pkey_in_set_opcode(&in, HW_CMD_QUERY_HCA_VPORT_PKEY);
	hw_query_hca_vport_pkey_in_set_port_num(&in, vport);
	hw_query_hca_vport_pkey_in_set_pkey_index(&in, index);
	err = cxib_cmd_exec(queue, &command);
	*pkey = hw_pkey_get_pkey(&out->pkey[0]);
	kvfree(out);
	return err;
}

/**
 * cxib_cmd_query_vport_pkey() - QUERY_HCA_VPORT_PKEY: reads the P_Key table of a port
 * @queue: command queue
 * @vport: vport number
 * @count: length of the table
 * @pkeys: output: @count P_Keys
 *
 * Reads each P_Key with its own command, as public drivers do. The output for a whole table does
 * not tell its number of P_Keys, so the missing ones of a short output would look like invalid
 * P_Keys.
 *
 * Context: process context, may sleep.
 * Return: 0, or as cxib_cmd_exec().
 */
int cxib_cmd_query_vport_pkey(struct cxib_command_queue *queue, unsigned int vport,
			      unsigned int count, u16 *pkeys)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = vport_query_pkey(queue, vport, i, &pkeys[i]);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_vport_pkey);

enum vport_access {
	ACCESS_READ,
	ACCESS_READ_OPTIONAL,
	ACCESS_WRITE,
};

/* Reads or writes the register with the layout of @data; @no_log: a refusal is not logged. */
static int vport_access_register(struct cxib_command_queue *queue, u32 number,
				 enum vport_access access, bool no_log, void *data, size_t length)
{
	struct hw_access_register_out *out;
	struct hw_access_register_in *in;
	struct cxib_command command = {
		.in_length = sizeof(*in) + length, .out_length = sizeof(*out) + length,
		.optional = access == ACCESS_READ_OPTIONAL,
		.no_log = no_log,
	};
	int err = -ENOMEM;

	in = kzalloc(struct_size(in, register_data, length / sizeof(u32)), GFP_KERNEL);
	out = kzalloc(struct_size(out, register_data, length / sizeof(u32)), GFP_KERNEL);
	if (in && out) {
		hw_access_register_in_set_opcode(in, HW_CMD_ACCESS_REGISTER);
		hw_access_register_in_set_op_mod(in, access == ACCESS_WRITE ?
						     HW_ACCESS_REGISTER_OP_MOD_WRITE :
						     HW_ACCESS_REGISTER_OP_MOD_READ);
		hw_access_register_in_set_register_id(in, number);
		memcpy(in->register_data, data, length);
		command.in = in;
		command.out = out;
		err = cxib_cmd_exec(queue, &command);
		memcpy(data, out->register_data, length);
	}
	kfree(out);
	kfree(in);
	return err;
}

/**
 * cxib_cmd_query_ptys() - register PTYS: reads width and speed of a link
 * @queue: command queue
 * @port: port number
 * @no_log: do not log that firmware refuses it
 * @link: output
 *
 * Return: as cxib_cmd_exec() of an optional command.
 */
int cxib_cmd_query_ptys(struct cxib_command_queue *queue, unsigned int port, bool no_log,
			struct cxib_link *link)
{
	struct hw_ptys_reg data = {};
	int err;

	hw_ptys_reg_set_local_port(&data, port);
	hw_ptys_reg_set_proto_mask(&data, HW_PTYS_PROTO_MASK_IB);
	err = vport_access_register(queue, HW_REGISTER_PTYS, ACCESS_READ_OPTIONAL, no_log, &data,
				    sizeof(data));
	link->width = hw_ptys_reg_get_ib_link_width_oper(&data);
	link->speed = hw_ptys_reg_get_ib_proto_oper(&data);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_ptys);

/**
 * cxib_cmd_query_pmtu() - register PMTU: reads the MTU of a port
 * @queue: command queue
 * @port: port number
 * @no_log: do not log that firmware refuses it
 * @mtu: output
 *
 * Return: as cxib_cmd_exec() of an optional command.
 */
int cxib_cmd_query_pmtu(struct cxib_command_queue *queue, unsigned int port, bool no_log,
			struct cxib_mtu *mtu)
{
	struct hw_pmtu_reg data = {};
	int err;

	hw_pmtu_reg_set_local_port(&data, port);
	err = vport_access_register(queue, HW_REGISTER_PMTU, ACCESS_READ_OPTIONAL, no_log, &data,
				    sizeof(data));
	mtu->maximum = hw_pmtu_reg_get_max_mtu(&data);
	mtu->operational = hw_pmtu_reg_get_oper_mtu(&data);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_pmtu);

/**
 * cxib_cmd_query_pvlc() - register PVLC: reads the VL capability of a port
 * @queue: command queue
 * @port: port number
 * @vls: output: enum hw_vl_count
 *
 * Return: as cxib_cmd_exec() of an optional command.
 */
int cxib_cmd_query_pvlc(struct cxib_command_queue *queue, unsigned int port, u32 *vls)
{
	struct hw_pvlc_reg data = {};
	int err;

	hw_pvlc_reg_set_local_port(&data, port);
	err = vport_access_register(queue, HW_REGISTER_PVLC, ACCESS_READ_OPTIONAL, false, &data,
				    sizeof(data));
	*vls = hw_pvlc_reg_get_vl_hw_cap(&data);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_pvlc);

/**
 * cxib_cmd_query_ppcnt_ib() - register PPCNT: reads the InfiniBand counters of a port
 * @queue: command queue
 * @port: port number
 * @counters: output
 */
int cxib_cmd_query_ppcnt_ib(struct cxib_command_queue *queue, unsigned int port,
			    struct hw_ib_port_cntrs_grp_data_layout *counters)
{
	struct hw_ppcnt_reg data = {};
	int err;

	hw_ppcnt_reg_set_local_port(&data, port);
	hw_ppcnt_reg_set_grp(&data, HW_PPCNT_GROUP_INFINIBAND_PORT);
	err = vport_access_register(queue, HW_REGISTER_PPCNT, ACCESS_READ, false, &data,
				    sizeof(data));
	*counters = *hw_ppcnt_reg_get_counter_set_ib_port_cntrs_grp_data_layout(&data);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_ppcnt_ib);

/**
 * cxib_cmd_query_vport_counter() - QUERY_VPORT_COUNTER: reads the traffic counters of a port
 * @queue: command queue
 * @vport: vport number
 * @counters: output
 */
int cxib_cmd_query_vport_counter(struct cxib_command_queue *queue, unsigned int vport,
				 struct hw_query_vport_counter_out *counters)
{
	struct hw_query_vport_counter_in in = {};

	hw_query_vport_counter_in_set_opcode(&in, HW_CMD_QUERY_VPORT_COUNTER);
	hw_query_vport_counter_in_set_port_num(&in, vport);
	return cxib_cmd_exec_inout(queue, in, *counters);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_vport_counter);

/**
 * cxib_cmd_query_node_desc() - register NODE_DESC: reads the node description
 * @queue: command queue
 * @text: output; not NUL-terminated at full length
 *
 * Return: as cxib_cmd_exec() of an optional command.
 */
int cxib_cmd_query_node_desc(struct cxib_command_queue *queue,
			     char text[CXIB_NODE_DESCRIPTION_SIZE])
{
	struct hw_set_node_in data = {};
	int err = vport_access_register(queue, HW_REGISTER_NODE_DESC, ACCESS_READ_OPTIONAL, false,
					&data, sizeof(data));

	memcpy(text, hw_set_node_in_get_node_description(&data), CXIB_NODE_DESCRIPTION_SIZE);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_node_desc);

/**
 * cxib_cmd_set_node_desc() - register NODE_DESC: sets the node description
 * @queue: command queue
 * @text: node description
 */
int cxib_cmd_set_node_desc(struct cxib_command_queue *queue,
			   const char text[CXIB_NODE_DESCRIPTION_SIZE])
{
	struct hw_set_node_in data = {};

	memcpy(hw_set_node_in_node_description(&data), text, CXIB_NODE_DESCRIPTION_SIZE);
	return vport_access_register(queue, HW_REGISTER_NODE_DESC, ACCESS_WRITE, false, &data,
				     sizeof(data));
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_set_node_desc);

/**
 * cxib_cmd_mad_ifc() - MAD_IFC: passes a MAD to the agents of the firmware
 * @queue: command queue
 * @mad: MAD; @response is output
 *
 * remote_lid is zero, as in public drivers.
 *
 * Return: -EINVAL, not logged, when no agent responds.
 */
int cxib_cmd_mad_ifc(struct cxib_command_queue *queue, const struct cxib_mad *mad)
{
	struct hw_mad_ifc_out *out;
	struct hw_mad_ifc_in *in;
	struct cxib_command command = {
		.in_length = sizeof(*in), .out_length = sizeof(*out), .no_log = true,
	};
	int err = -ENOMEM;

	in = kzalloc(sizeof(*in), GFP_KERNEL);
	out = kzalloc(sizeof(*out), GFP_KERNEL);
	if (in && out) {
		hw_mad_ifc_in_set_opcode(in, HW_CMD_MAD_IFC);
		hw_mad_ifc_in_set_op_mod(in,
					 (mad->ignore_m_key ? HW_MAD_IFC_OP_MOD_IGNORE_MKEY : 0) |
					 (mad->ignore_b_key ? HW_MAD_IFC_OP_MOD_IGNORE_BKEY : 0));
		hw_mad_ifc_in_set_port(in, mad->port);
		memcpy(hw_mad_ifc_in_mad(in), mad->request, CXIB_MAD_SIZE);
		command.in = in;
		command.out = out;
		err = cxib_cmd_exec(queue, &command);
		memcpy(mad->response, hw_mad_ifc_out_get_response_mad_packet(out), CXIB_MAD_SIZE);
	}
	kfree(out);
	kfree(in);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_mad_ifc);

/**
 * cxib_cmd_alloc_q_counter() - ALLOC_Q_COUNTER: allocates a Q counter set
 * @queue: command queue
 * @uid: owner uid
 * @set: output: counter set id
 *
 * Return: as cxib_cmd_exec() of an optional command.
 */
int cxib_cmd_alloc_q_counter(struct cxib_command_queue *queue, u16 uid, u8 *set)
{
	struct hw_alloc_q_counter_in in = {};
	struct hw_alloc_q_counter_out out;
	int err;

	hw_alloc_q_counter_in_set_opcode(&in, HW_CMD_ALLOC_Q_COUNTER);
	hw_alloc_q_counter_in_set_uid(&in, uid);
	err = cxib_cmd_exec_optional(queue, in, out);
	*set = hw_alloc_q_counter_out_get_counter_set_id(&out);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_alloc_q_counter);

/**
 * cxib_cmd_dealloc_q_counter() - DEALLOC_Q_COUNTER: undo cxib_cmd_alloc_q_counter()
 * @queue: command queue
 * @set: counter set id, which no QP uses
 */
int cxib_cmd_dealloc_q_counter(struct cxib_command_queue *queue, u8 set)
{
	struct hw_dealloc_q_counter_in in = {};
	struct hw_dealloc_q_counter_out out;

	hw_dealloc_q_counter_in_set_opcode(&in, HW_CMD_DEALLOC_Q_COUNTER);
	hw_dealloc_q_counter_in_set_counter_set_id(&in, set);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_dealloc_q_counter);

/**
 * cxib_cmd_query_q_counter() - QUERY_Q_COUNTER: reads a Q counter set
 * @queue: command queue
 * @set: counter set id
 * @counters: output
 */
int cxib_cmd_query_q_counter(struct cxib_command_queue *queue, u8 set,
			     struct hw_query_q_counter_out *counters)
{
	struct hw_query_q_counter_in in = {};

	hw_query_q_counter_in_set_opcode(&in, HW_CMD_QUERY_Q_COUNTER);
	hw_query_q_counter_in_set_counter_set_id(&in, set);
	return cxib_cmd_exec_inout(queue, in, *counters);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_q_counter);
