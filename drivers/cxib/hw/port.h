/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Port, counter and MAD commands. Errors are those of cxib_cmd_exec() unless
 * another is named; all functions sleep.
 *
 * Ports are counted from 1. A vport number is the number of a port of this function; a function
 * with one port uses 0.
 */
#ifndef CXIB_HW_PORT_H
#define CXIB_HW_PORT_H

#include <linux/types.h>

#include "hw/commands_port.h"
#include "hw/contexts.h"
#include "hw/registers.h"

struct cxib_command_queue;

#define CXIB_MAD_SIZE			256
#define CXIB_NODE_DESCRIPTION_SIZE	64

/**
 * struct cxib_vport - attributes of a port
 * @system_image_guid: system image GUID
 * @port_guid: port GUID
 * @node_guid: node GUID
 * @state: enum hw_ib_port_state
 * @physical_state: enum hw_ib_port_physical_state
 * @capabilities: capability mask of PortInfo
 * @changeable: bits of @capabilities that software may change
 * @capabilities2: second capability mask
 * @lid: LID
 * @lmc: LMC
 * @sm_lid: LID of the subnet manager
 * @sm_sl: SL of the subnet manager
 * @subnet_timeout: subnet timeout code
 * @init_type_reply: InitTypeReply of the subnet manager
 * @q_key_violations: Q_Key violation counter
 * @p_key_violations: P_Key violation counter
 * @has_smi: the function gets SMPs
 * @grh_required: each packet needs a GRH
 */
struct cxib_vport {
	u64 system_image_guid;
	u64 port_guid;
	u64 node_guid;
	u32 state;
	u32 physical_state;
	u32 capabilities;
	u32 changeable;
	u32 capabilities2;
	u16 lid;
	u8 lmc;
	u16 sm_lid;
	u8 sm_sl;
	u8 subnet_timeout;
	u8 init_type_reply;
	u16 q_key_violations;
	u16 p_key_violations;
	bool has_smi;
	bool grh_required;
};

/**
 * struct cxib_link - width and speed of a link
 * @width: HW_IB_LINK_WIDTH_…, one bit
 * @speed: HW_IB_PROTO_…, one bit
 */
struct cxib_link {
	u32 width;
	u32 speed;
};

/**
 * struct cxib_mtu - MTU of a port, bytes
 * @maximum: supported MTU
 * @operational: configured MTU
 */
struct cxib_mtu {
	u32 maximum;
	u32 operational;
};

/**
 * struct cxib_mad - a MAD for the agents of the firmware
 * @port: port that received it
 * @ignore_m_key: skip the M_Key check
 * @ignore_b_key: skip the B_Key check
 * @request: the MAD, %CXIB_MAD_SIZE bytes
 * @response: output: response MAD, %CXIB_MAD_SIZE bytes
 */
struct cxib_mad {
	u8 port;
	bool ignore_m_key;
	bool ignore_b_key;
	const void *request;
	void *response;
};

int cxib_cmd_query_hca_vport(struct cxib_command_queue *queue, unsigned int vport,
			     struct cxib_vport *attributes);
int cxib_cmd_modify_hca_vport(struct cxib_command_queue *queue, unsigned int vport,
			      u32 select, u32 value);
int cxib_cmd_query_vport_gid(struct cxib_command_queue *queue, unsigned int vport,
			     unsigned int count, struct hw_gid *gids);
int cxib_cmd_query_vport_pkey(struct cxib_command_queue *queue, unsigned int vport,
			      unsigned int count, u16 *pkeys);
int cxib_cmd_query_ptys(struct cxib_command_queue *queue, unsigned int port, bool no_log,
			struct cxib_link *link);
int cxib_cmd_query_pmtu(struct cxib_command_queue *queue, unsigned int port, bool no_log,
			struct cxib_mtu *mtu);
int cxib_cmd_query_pvlc(struct cxib_command_queue *queue, unsigned int port, u32 *vls);
int cxib_cmd_query_ppcnt_ib(struct cxib_command_queue *queue, unsigned int port,
			    struct hw_ib_port_cntrs_grp_data_layout *counters);
int cxib_cmd_query_vport_counter(struct cxib_command_queue *queue, unsigned int vport,
				 struct hw_query_vport_counter_out *counters);
int cxib_cmd_query_node_desc(struct cxib_command_queue *queue,
			     char text[CXIB_NODE_DESCRIPTION_SIZE]);
int cxib_cmd_set_node_desc(struct cxib_command_queue *queue,
			   const char text[CXIB_NODE_DESCRIPTION_SIZE]);
int cxib_cmd_mad_ifc(struct cxib_command_queue *queue, const struct cxib_mad *mad);

int cxib_cmd_alloc_q_counter(struct cxib_command_queue *queue, u16 uid, u8 *set);
int cxib_cmd_dealloc_q_counter(struct cxib_command_queue *queue, u8 set);
int cxib_cmd_query_q_counter(struct cxib_command_queue *queue, u8 set,
			     struct hw_query_q_counter_out *counters);

#endif
