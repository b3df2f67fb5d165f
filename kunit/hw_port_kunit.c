// SPDX-License-Identifier: GPL-2.0-only
/* Port commands: input, and conversion of the output. */
#include <linux/sizes.h>
#include <linux/string.h>

#include "hw/commands_port.h"
#include "hw/contexts.h"
#include "hw/port.h"
#include "hw/registers.h"
#include "scripted_hca.h"

#define PORT		2

/* gid_index and pkey_index of mlx5_ifc.h: value for the whole table. */
#define ALL_ENTRIES	0xffff

#define GIDS		8
#define PKEYS		128
#define FIRST_GID_BYTE	0x10
#define FULL_MEMBER	0x8000
#define SELECTED	0x30000
#define CAPABILITIES	0x10000
#define SET_ID		0x17
#define DROPPED		99
#define UID		0xffff
#define REQUEST_BYTE	0x11
#define RESPONSE_BYTE	0x22

static int hw_port_init(struct kunit *test)
{
	test->priv = scripted_hca_create(test);
	return 0;
}

static const struct cxib_vport vport = {
	.system_image_guid = 0x1111222233334444ULL,
	.port_guid = 0x5555666677778888ULL,
	.node_guid = 0x9999aaaabbbbccccULL,
	.state = HW_IB_PORT_STATE_ACTIVE,
	.physical_state = HW_IB_PORT_PHYSICAL_STATE_LINK_UP,
	.capabilities = 0x12345678,
	.changeable = 0x10000,
	.capabilities2 = 0x77,
	.lid = 0xbeef,
	.lmc = 3,
	.sm_lid = 0xcafe,
	.sm_sl = 5,
	.subnet_timeout = 18,
	.init_type_reply = 9,
	.q_key_violations = 0xffff,
	.p_key_violations = 0x1234,
	.has_smi = true,
};

static void fill_vport(struct hw_hca_vport_context *context)
{
	hw_hca_vport_context_set_system_image_guid(context, vport.system_image_guid);
	hw_hca_vport_context_set_port_guid(context, vport.port_guid);
	hw_hca_vport_context_set_node_guid(context, vport.node_guid);
	hw_hca_vport_context_set_port_state(context, vport.state);
	hw_hca_vport_context_set_port_physical_state(context, vport.physical_state);
	hw_hca_vport_context_set_cap_mask1(context, vport.capabilities);
	hw_hca_vport_context_set_cap_mask1_field_select(context, vport.changeable);
	hw_hca_vport_context_set_cap_mask2(context, vport.capabilities2);
	hw_hca_vport_context_set_lid(context, vport.lid);
	hw_hca_vport_context_set_lmc(context, vport.lmc);
	hw_hca_vport_context_set_sm_lid(context, vport.sm_lid);
	hw_hca_vport_context_set_sm_sl(context, vport.sm_sl);
	hw_hca_vport_context_set_subnet_timeout(context, vport.subnet_timeout);
	hw_hca_vport_context_set_init_type_reply(context, vport.init_type_reply);
	hw_hca_vport_context_set_qkey_violation_counter(context, vport.q_key_violations);
	hw_hca_vport_context_set_pkey_violation_counter(context, vport.p_key_violations);
	hw_hca_vport_context_set_has_smi(context, vport.has_smi);
}

static void query_hca_vport_returns_attributes(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct cxib_vport port;

	fill_vport(hw_query_hca_vport_context_out_hca_vport_context(scripted->out));
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_hca_vport(&scripted->queue, PORT, &port));
	KUNIT_EXPECT_EQ(test, HW_CMD_QUERY_HCA_VPORT_CONTEXT,
			hw_query_hca_vport_context_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, PORT, hw_query_hca_vport_context_in_get_port_num(scripted->in));
	KUNIT_EXPECT_EQ(test, port.system_image_guid, vport.system_image_guid);
	KUNIT_EXPECT_EQ(test, port.port_guid, vport.port_guid);
	KUNIT_EXPECT_EQ(test, port.node_guid, vport.node_guid);
	KUNIT_EXPECT_EQ(test, port.state, vport.state);
	KUNIT_EXPECT_EQ(test, port.physical_state, vport.physical_state);
	KUNIT_EXPECT_EQ(test, port.capabilities, vport.capabilities);
	KUNIT_EXPECT_EQ(test, port.changeable, vport.changeable);
	KUNIT_EXPECT_EQ(test, port.capabilities2, vport.capabilities2);
	KUNIT_EXPECT_EQ(test, port.lid, vport.lid);
	KUNIT_EXPECT_EQ(test, port.lmc, vport.lmc);
	KUNIT_EXPECT_EQ(test, port.sm_lid, vport.sm_lid);
	KUNIT_EXPECT_EQ(test, port.sm_sl, vport.sm_sl);
	KUNIT_EXPECT_EQ(test, port.subnet_timeout, vport.subnet_timeout);
	KUNIT_EXPECT_EQ(test, port.init_type_reply, vport.init_type_reply);
	KUNIT_EXPECT_EQ(test, port.q_key_violations, vport.q_key_violations);
	KUNIT_EXPECT_EQ(test, port.p_key_violations, vport.p_key_violations);
	KUNIT_EXPECT_TRUE(test, port.has_smi);
	KUNIT_EXPECT_FALSE(test, port.grh_required);
}

static void port_query_failed_zeroes_output(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct cxib_vport port;
	struct cxib_link link;
	u16 pkeys[PKEYS];

	memset(scripted->out, 0xa5, SCRIPTED_BYTES);
	scripted->status = HW_COMMAND_STATUS_BAD_PARAMETER;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_cmd_query_hca_vport(&scripted->queue, PORT, &port));
	KUNIT_EXPECT_EQ(test, port.lid, 0);
	KUNIT_EXPECT_EQ(test, port.node_guid, 0);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO,
			cxib_cmd_query_ptys(&scripted->queue, PORT, false, &link));
	KUNIT_EXPECT_EQ(test, link.width, 0);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			cxib_cmd_query_vport_pkey(&scripted->queue, PORT, PKEYS, pkeys));
	KUNIT_EXPECT_EQ(test, pkeys[PKEYS - 1], 0);
}

static void modify_hca_vport_passes_field_select(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_hca_vport_context *context;

	KUNIT_ASSERT_EQ(test, 0,
			cxib_cmd_modify_hca_vport(&scripted->queue, PORT, SELECTED, CAPABILITIES));
	context = hw_modify_hca_vport_context_in_hca_vport_context(scripted->in);
	KUNIT_EXPECT_EQ(test, HW_CMD_MODIFY_HCA_VPORT_CONTEXT,
			hw_modify_hca_vport_context_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, PORT, hw_modify_hca_vport_context_in_get_port_num(scripted->in));
	KUNIT_EXPECT_EQ(test, CAPABILITIES, hw_hca_vport_context_get_cap_mask1(context));
	KUNIT_EXPECT_EQ(test, SELECTED, hw_hca_vport_context_get_cap_mask1_field_select(context));
}

static void query_vport_gid_table_takes_one_command(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_query_hca_vport_gid_out *out = scripted->out;
	struct hw_gid gids[GIDS];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gids); i++)
		memset(hw_gid_gid(&out->gid[i]), FIRST_GID_BYTE + i, sizeof(gids[i]));
	hw_query_hca_vport_gid_out_set_gids_num(out, ARRAY_SIZE(gids));
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_vport_gid(&scripted->queue, PORT, GIDS, gids));
	KUNIT_EXPECT_EQ(test, scripted->hca->commands, 1);
	KUNIT_EXPECT_EQ(test, ALL_ENTRIES,
			hw_query_hca_vport_gid_in_get_gid_index(scripted->in));
	KUNIT_EXPECT_EQ(test, PORT, hw_query_hca_vport_gid_in_get_port_num(scripted->in));
	for (i = 0; i < ARRAY_SIZE(gids); i++)
		KUNIT_EXPECT_EQ(test, FIRST_GID_BYTE + i,
				hw_gid_get_gid(&gids[i])[sizeof(gids[i]) - 1]);
}

/*
 * Completes queries for one entry, as public drivers send them, and counts queries for a whole
 * table.
 */
struct single_entries {
	unsigned int refused;
	u8 status;
	u32 gids_num;
};

static u8 script_gid(struct single_entries *entries, const struct hw_query_hca_vport_gid_in *in,
		     struct hw_query_hca_vport_gid_out *out)
{
	u32 index = hw_query_hca_vport_gid_in_get_gid_index(in);

	if (index == ALL_ENTRIES) {
		hw_query_hca_vport_gid_out_set_gids_num(out, entries->gids_num);
		entries->refused++;
		return entries->status;
	}
	memset(hw_gid_gid(&out->gid[0]), FIRST_GID_BYTE + index, sizeof(out->gid[0]));
	return HW_COMMAND_STATUS_OK;
}

static u8 script_pkey(struct single_entries *entries, const struct hw_query_hca_vport_pkey_in *in,
		      struct hw_query_hca_vport_pkey_out *out)
{
	u32 index = hw_query_hca_vport_pkey_in_get_pkey_index(in);

	if (index == ALL_ENTRIES) {
		entries->refused++;
		return entries->status;
	}
	hw_pkey_set_pkey(&out->pkey[0], FULL_MEMBER | index);
	return HW_COMMAND_STATUS_OK;
}

static u8 script_single_entries(struct fake_hca *hca, const void *in, u32 in_length, void *out,
				u32 out_length)
{
	if (hw_cmd_in_get_opcode(in) == HW_CMD_QUERY_HCA_VPORT_GID)
		return script_gid(hca->script_context, in, out);
	return script_pkey(hca->script_context, in, out);
}

static void expect_gids_one_by_one(struct kunit *test, struct single_entries *entries)
{
	struct scripted_hca *scripted = test->priv;
	const unsigned int before = scripted->hca->commands;
	struct hw_gid gids[GIDS];
	unsigned int i;

	scripted->hca->script = script_single_entries;
	scripted->hca->script_context = entries;
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_vport_gid(&scripted->queue, PORT, GIDS, gids));
	KUNIT_EXPECT_EQ(test, 1, entries->refused);
	KUNIT_EXPECT_EQ(test, 1 + GIDS, scripted->hca->commands - before);
	for (i = 0; i < ARRAY_SIZE(gids); i++)
		KUNIT_EXPECT_EQ(test, FIRST_GID_BYTE + i,
				hw_gid_get_gid(&gids[i])[sizeof(gids[i]) - 1]);
}

static void query_vport_gid_table_refused_reads_one_by_one(struct kunit *test)
{
	struct single_entries entries = { .status = HW_COMMAND_STATUS_BAD_PARAMETER };

	expect_gids_one_by_one(test, &entries);
}

static void query_vport_gid_table_of_other_length_reads_one_by_one(struct kunit *test)
{
	static const u32 lengths[] = { 0, 1, GIDS - 1, GIDS + 1 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct single_entries entries = { .gids_num = lengths[i] };

		expect_gids_one_by_one(test, &entries);
	}
}

/* Two P_Keys share a dword, so each output has room for two P_Keys. */
static void query_vport_pkey_reads_one_by_one(struct kunit *test)
{
	struct single_entries entries = {};
	struct scripted_hca *scripted = test->priv;
	u16 pkeys[PKEYS];
	unsigned int i;

	scripted->hca->script = script_single_entries;
	scripted->hca->script_context = &entries;
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_vport_pkey(&scripted->queue, PORT, PKEYS, pkeys));
	KUNIT_EXPECT_EQ(test, 0, entries.refused);
	KUNIT_EXPECT_EQ(test, PKEYS, scripted->hca->commands);
	for (i = 0; i < ARRAY_SIZE(pkeys); i++)
		KUNIT_EXPECT_EQ(test, FULL_MEMBER | i, pkeys[i]);
}

/* The first refused entry ends the query of a table. */
static void query_vport_tables_refused_entry_returns_error(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_gid gids[GIDS];
	u16 pkeys[PKEYS];

	scripted->status = HW_COMMAND_STATUS_BAD_PARAMETER;
	KUNIT_EXPECT_EQ(test, -EINVAL,
			cxib_cmd_query_vport_gid(&scripted->queue, PORT, GIDS, gids));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			cxib_cmd_query_vport_pkey(&scripted->queue, PORT, PKEYS, pkeys));
	/* Commands: the GID table, one GID, one P_Key. */
	KUNIT_EXPECT_EQ(test, scripted->hca->commands, 3);
}

static void expect_register(struct kunit *test, u32 number, u32 op_mod)
{
	struct scripted_hca *scripted = test->priv;

	KUNIT_EXPECT_EQ(test, HW_CMD_ACCESS_REGISTER,
			hw_access_register_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, op_mod, hw_access_register_in_get_op_mod(scripted->in));
	KUNIT_EXPECT_EQ(test, number, hw_access_register_in_get_register_id(scripted->in));
}

static void query_ptys_returns_width_and_speed(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_access_register_in *in = scripted->in;
	struct hw_access_register_out *out = scripted->out;
	struct hw_ptys_reg *data = (void *)out->register_data;
	struct cxib_link link;

	hw_ptys_reg_set_ib_link_width_oper(data, HW_IB_LINK_WIDTH_4X);
	hw_ptys_reg_set_ib_proto_oper(data, HW_IB_PROTO_EDR);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_ptys(&scripted->queue, PORT, false, &link));
	expect_register(test, HW_REGISTER_PTYS, HW_ACCESS_REGISTER_OP_MOD_READ);
	KUNIT_EXPECT_EQ(test, PORT, hw_ptys_reg_get_local_port((void *)in->register_data));
	KUNIT_EXPECT_EQ(test, link.width, HW_IB_LINK_WIDTH_4X);
	KUNIT_EXPECT_EQ(test, link.speed, HW_IB_PROTO_EDR);
}

static void query_pmtu_returns_mtus(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_access_register_out *out = scripted->out;
	struct cxib_mtu mtu;

	hw_pmtu_reg_set_max_mtu((void *)out->register_data, SZ_4K);
	hw_pmtu_reg_set_oper_mtu((void *)out->register_data, SZ_2K);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_pmtu(&scripted->queue, PORT, false, &mtu));
	expect_register(test, HW_REGISTER_PMTU, HW_ACCESS_REGISTER_OP_MOD_READ);
	KUNIT_EXPECT_EQ(test, mtu.maximum, SZ_4K);
	KUNIT_EXPECT_EQ(test, mtu.operational, SZ_2K);
}

static void query_pvlc_returns_vls(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_access_register_out *out = scripted->out;
	u32 vls;

	hw_pvlc_reg_set_vl_hw_cap((void *)out->register_data, HW_VL_COUNT_VL0_3);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_pvlc(&scripted->queue, PORT, &vls));
	expect_register(test, HW_REGISTER_PVLC, HW_ACCESS_REGISTER_OP_MOD_READ);
	KUNIT_EXPECT_EQ(test, vls, HW_VL_COUNT_VL0_3);
}

static void node_desc_max_length_is_kept(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_access_register_in *in = scripted->in;
	struct hw_access_register_out *out = scripted->out;
	char text[CXIB_NODE_DESCRIPTION_SIZE];

	memset(text, 'x', sizeof(text));
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_set_node_desc(&scripted->queue, text));
	expect_register(test, HW_REGISTER_NODE_DESC, HW_ACCESS_REGISTER_OP_MOD_WRITE);
	KUNIT_EXPECT_MEMEQ(test, text,
			   hw_set_node_in_get_node_description((void *)in->register_data),
			   sizeof(text));

	memset(hw_set_node_in_node_description((void *)out->register_data), 'y', sizeof(text));
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_node_desc(&scripted->queue, text));
	expect_register(test, HW_REGISTER_NODE_DESC, HW_ACCESS_REGISTER_OP_MOD_READ);
	KUNIT_EXPECT_EQ(test, text[0], 'y');
	KUNIT_EXPECT_EQ(test, text[CXIB_NODE_DESCRIPTION_SIZE - 1], 'y');
}

static void query_vport_counter_names_vport(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_query_vport_counter_out counters;
	struct hw_traffic_counter *sent =
		hw_query_vport_counter_out_transmitted_ib_unicast(scripted->out);

	hw_traffic_counter_set_packets(sent, DROPPED);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_vport_counter(&scripted->queue, PORT, &counters));
	KUNIT_EXPECT_EQ(test, HW_CMD_QUERY_VPORT_COUNTER,
			hw_query_vport_counter_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, PORT, hw_query_vport_counter_in_get_port_num(scripted->in));
	KUNIT_EXPECT_EQ(test, 0, hw_query_vport_counter_in_get_other_vport(scripted->in));
	KUNIT_EXPECT_EQ(test, 0, hw_query_vport_counter_in_get_clear(scripted->in));
	sent = hw_query_vport_counter_out_transmitted_ib_unicast(&counters);
	KUNIT_EXPECT_EQ(test, DROPPED, hw_traffic_counter_get_packets(sent));
}

static void query_ppcnt_ib_reads_infiniband_group(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	const struct hw_access_register_in *in = scripted->in;
	struct hw_access_register_out *out = scripted->out;
	struct hw_ib_port_cntrs_grp_data_layout *given, counters;

	given = hw_ppcnt_reg_counter_set_ib_port_cntrs_grp_data_layout((void *)out->register_data);
	hw_ib_port_cntrs_grp_data_layout_set_vl_15_dropped(given, DROPPED);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_ppcnt_ib(&scripted->queue, PORT, &counters));
	KUNIT_EXPECT_EQ(test, HW_REGISTER_PPCNT, hw_access_register_in_get_register_id(in));
	KUNIT_EXPECT_EQ(test, PORT, hw_ppcnt_reg_get_local_port((const void *)in->register_data));
	KUNIT_EXPECT_EQ(test, HW_PPCNT_GROUP_INFINIBAND_PORT,
			hw_ppcnt_reg_get_grp((const void *)in->register_data));
	KUNIT_EXPECT_EQ(test, DROPPED,
			hw_ib_port_cntrs_grp_data_layout_get_vl_15_dropped(&counters));
}

static void mad_ifc_returns_response(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	u8 request[CXIB_MAD_SIZE], response[CXIB_MAD_SIZE];
	struct cxib_mad mad = {
		.port = PORT, .ignore_m_key = true,
		.request = request, .response = response,
	};

	memset(request, REQUEST_BYTE, sizeof(request));
	memset(hw_mad_ifc_out_response_mad_packet(scripted->out), RESPONSE_BYTE, CXIB_MAD_SIZE);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_mad_ifc(&scripted->queue, &mad));
	KUNIT_EXPECT_EQ(test, HW_MAD_IFC_OP_MOD_IGNORE_MKEY,
			hw_mad_ifc_in_get_op_mod(scripted->in));
	KUNIT_EXPECT_EQ(test, 0, hw_mad_ifc_in_get_remote_lid(scripted->in));
	KUNIT_EXPECT_EQ(test, PORT, hw_mad_ifc_in_get_port(scripted->in));
	KUNIT_EXPECT_MEMEQ(test, request, hw_mad_ifc_in_get_mad(scripted->in), sizeof(request));
	KUNIT_EXPECT_EQ(test, response[0], RESPONSE_BYTE);
	KUNIT_EXPECT_EQ(test, response[CXIB_MAD_SIZE - 1], RESPONSE_BYTE);

	mad.ignore_m_key = false;
	mad.ignore_b_key = true;
	scripted->status = HW_COMMAND_STATUS_BAD_PARAMETER;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_cmd_mad_ifc(&scripted->queue, &mad));
	KUNIT_EXPECT_EQ(test, HW_MAD_IFC_OP_MOD_IGNORE_BKEY,
			hw_mad_ifc_in_get_op_mod(scripted->in));
}

static void q_counter_query_returns_counters(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_query_q_counter_out counters;
	u8 set;

	hw_alloc_q_counter_out_set_counter_set_id(scripted->out, SET_ID);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_alloc_q_counter(&scripted->queue, UID, &set));
	KUNIT_EXPECT_EQ(test, set, SET_ID);
	KUNIT_EXPECT_EQ(test, UID, hw_alloc_q_counter_in_get_uid(scripted->in));

	memset(scripted->out, 0, SCRIPTED_BYTES);
	hw_query_q_counter_out_set_out_of_buffer(scripted->out, DROPPED);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_q_counter(&scripted->queue, set, &counters));
	KUNIT_EXPECT_EQ(test, SET_ID, hw_query_q_counter_in_get_counter_set_id(scripted->in));
	KUNIT_EXPECT_EQ(test, 0, hw_query_q_counter_in_get_clear(scripted->in));
	KUNIT_EXPECT_EQ(test, DROPPED, hw_query_q_counter_out_get_out_of_buffer(&counters));

	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_dealloc_q_counter(&scripted->queue, set));
	KUNIT_EXPECT_EQ(test, HW_CMD_DEALLOC_Q_COUNTER,
			hw_dealloc_q_counter_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, SET_ID, hw_dealloc_q_counter_in_get_counter_set_id(scripted->in));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(query_hca_vport_returns_attributes),
	KUNIT_CASE(port_query_failed_zeroes_output),
	KUNIT_CASE(modify_hca_vport_passes_field_select),
	KUNIT_CASE(query_vport_gid_table_takes_one_command),
	KUNIT_CASE(query_vport_gid_table_refused_reads_one_by_one),
	KUNIT_CASE(query_vport_gid_table_of_other_length_reads_one_by_one),
	KUNIT_CASE(query_vport_pkey_reads_one_by_one),
	KUNIT_CASE(query_vport_tables_refused_entry_returns_error),
	KUNIT_CASE(query_ptys_returns_width_and_speed),
	KUNIT_CASE(query_pmtu_returns_mtus),
	KUNIT_CASE(query_pvlc_returns_vls),
	KUNIT_CASE(node_desc_max_length_is_kept),
	KUNIT_CASE(query_vport_counter_names_vport),
	KUNIT_CASE(query_ppcnt_ib_reads_infiniband_group),
	KUNIT_CASE(mad_ifc_returns_response),
	KUNIT_CASE(q_counter_query_returns_counters),
	{}
};

static struct kunit_suite suite = {
	.name = "hw_port",
	.init = hw_port_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
