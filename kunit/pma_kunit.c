// SPDX-License-Identifier: GPL-2.0-only
/* Port counters of the performance management class. */
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "fake_queue_pair.h"
#include "hw/commands_port.h"
#include "hw/registers.h"
#include "verbs/port/mad.h"

#define PORT		1
#define PORTS		2
#define TID		0x1234

/* PortXmitData and PortRcvData count units of four octets (IBA 16.1.3.5). */
#define UNIT		4

#define SENT		100
#define SENT_MULTICAST	20
#define RECEIVED	3000
#define SYMBOL_ERRORS	7
/* A number that exceeds the range of PortCounters. */
#define MANY		BIT_ULL(40)

/**
 * struct fixture - a device
 * @fake: the device
 * @in: a Get of PortCountersExtended of @PORT
 * @out: the response
 * @sent: octets that port 1 has sent
 * @num_mad_ifc: MADs that were passed to the firmware
 * @vport: vport that the last QUERY_VPORT_COUNTER named
 */
struct fixture {
	struct fake_queue_pair *fake;
	struct ib_mad in;
	struct ib_mad out;
	u64 sent;
	unsigned int num_mad_ifc;
	u32 vport;
};

static void set(struct hw_traffic_counter *counter, u64 packets, u64 octets)
{
	hw_traffic_counter_set_packets(counter, packets);
	hw_traffic_counter_set_octets(counter, octets);
}

static u8 count_vport(struct fixture *fixture, const void *in, void *out)
{
	fixture->vport = hw_query_vport_counter_in_get_port_num(in);
	set(hw_query_vport_counter_out_transmitted_ib_unicast(out), SENT, fixture->sent);
	set(hw_query_vport_counter_out_transmitted_ib_multicast(out), SENT_MULTICAST, UNIT);
	set(hw_query_vport_counter_out_received_ib_unicast(out), RECEIVED, RECEIVED * UNIT);
	return HW_COMMAND_STATUS_OK;
}

static u8 run_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
		      u32 out_length)
{
	struct fixture *fixture = hca->script_context;
	struct hw_access_register_out *port = out;

	switch (hw_cmd_in_get_opcode(in)) {
	case HW_CMD_QUERY_VPORT_COUNTER:
		return count_vport(fixture, in, out);
	case HW_CMD_ACCESS_REGISTER:
		hw_ib_port_cntrs_grp_data_layout_set_symbol_error_counter
			(hw_ppcnt_reg_counter_set_ib_port_cntrs_grp_data_layout
				((void *)port->register_data), SYMBOL_ERRORS);
		return HW_COMMAND_STATUS_OK;
	case HW_CMD_MAD_IFC:
		fixture->num_mad_ifc++;
		return HW_COMMAND_STATUS_OK;
	default:
		return HW_COMMAND_STATUS_BAD_OPERATION;
	}
}

static struct ib_pma_portcounters_ext *attribute_of(struct ib_mad *mad)
{
	return (void *)((struct ib_pma_mad *)mad)->data;
}

static int pma_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->fake = fake_queue_pair_create(test);
	fake_queue_pair_start(fixture->fake, run_command, fixture);
	fixture->fake->hw.caps.vport_counters = 1;
	fixture->fake->hw.caps.num_ports = PORTS;
	fixture->fake->ibdev.ports[PORT - 1].number = PORT;
	fixture->fake->ibdev.ports[PORTS - 1].number = PORTS;
	fixture->sent = SENT * UNIT;
	fixture->in.mad_hdr = (struct ib_mad_hdr){
		.mgmt_class = IB_MGMT_CLASS_PERF_MGMT, .method = IB_MGMT_METHOD_GET,
		.attr_id = IB_PMA_PORT_COUNTERS_EXT, .tid = cpu_to_be64(TID),
	};
	attribute_of(&fixture->in)->port_select = PORT;
	test->priv = fixture;
	return 0;
}

static int process(struct fixture *fixture)
{
	size_t size = sizeof(fixture->out);
	u16 pkey_index = 0;

	return cxib_process_mad(&fixture->fake->ibdev.ib, 0, PORT, NULL, NULL, &fixture->in,
				&fixture->out, &size, &pkey_index);
}

static void pma_get_ext_sums_unicast_and_multicast(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const struct ib_pma_portcounters_ext *counters = attribute_of(&fixture->out);

	KUNIT_ASSERT_EQ(test, IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY, process(fixture));
	KUNIT_EXPECT_EQ(test, IB_MGMT_METHOD_GET_RESP, fixture->out.mad_hdr.method);
	KUNIT_EXPECT_EQ(test, TID, be64_to_cpu(fixture->out.mad_hdr.tid));
	KUNIT_EXPECT_EQ(test, PORT, counters->port_select);
	KUNIT_EXPECT_EQ(test, SENT + SENT_MULTICAST, be64_to_cpu(counters->port_xmit_packets));
	KUNIT_EXPECT_EQ(test, SENT + 1, be64_to_cpu(counters->port_xmit_data));
	KUNIT_EXPECT_EQ(test, SENT, be64_to_cpu(counters->port_unicast_xmit_packets));
	KUNIT_EXPECT_EQ(test, SENT_MULTICAST, be64_to_cpu(counters->port_multicast_xmit_packets));
	KUNIT_EXPECT_EQ(test, RECEIVED, be64_to_cpu(counters->port_rcv_data));
	KUNIT_EXPECT_EQ(test, RECEIVED, be64_to_cpu(counters->port_unicast_rcv_packets));
	KUNIT_EXPECT_EQ(test, 0, be64_to_cpu(counters->port_multicast_rcv_packets));
	KUNIT_EXPECT_EQ(test, 0, fixture->num_mad_ifc);
}

static void pma_get_counters_stop_at_maximum(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const struct ib_pma_portcounters *counters = (void *)attribute_of(&fixture->out);

	fixture->in.mad_hdr.attr_id = IB_PMA_PORT_COUNTERS;
	fixture->sent = MANY;
	KUNIT_ASSERT_EQ(test, IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY, process(fixture));
	KUNIT_EXPECT_EQ(test, SYMBOL_ERRORS, be16_to_cpu(counters->symbol_error_counter));
	KUNIT_EXPECT_EQ(test, U32_MAX, be32_to_cpu(counters->port_xmit_data));
	KUNIT_EXPECT_EQ(test, RECEIVED, be32_to_cpu(counters->port_rcv_packets));
	KUNIT_EXPECT_EQ(test, 0, fixture->num_mad_ifc);
}

/* PortSelect names the port, not the port at which the MAD arrives. */
static void pma_get_names_selected_port(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	attribute_of(&fixture->in)->port_select = PORTS;
	KUNIT_ASSERT_EQ(test, IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY, process(fixture));
	KUNIT_EXPECT_EQ(test, PORTS, fixture->vport);
}

/* The RDMA core reads PortCountersExtended only if the class says that it has them. */
static void pma_get_class_port_info_has_extended_counters(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const struct ib_class_port_info *info = (void *)attribute_of(&fixture->out);

	fixture->in.mad_hdr.attr_id = IB_PMA_CLASS_PORT_INFO;
	attribute_of(&fixture->in)->port_select = 0;
	KUNIT_ASSERT_EQ(test, IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY, process(fixture));
	KUNIT_EXPECT_EQ(test, be16_to_cpu(IB_PMA_CLASS_CAP_EXT_WIDTH),
			be16_to_cpu(info->capability_mask));
	KUNIT_EXPECT_EQ(test, IB_MGMT_BASE_VERSION, info->base_version);
	KUNIT_EXPECT_EQ(test, 0, fixture->num_mad_ifc);
}

static void expect_agent_of_firmware(struct kunit *test, struct fixture *fixture)
{
	const unsigned int before = fixture->num_mad_ifc;

	KUNIT_EXPECT_EQ(test, IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY, process(fixture));
	KUNIT_EXPECT_EQ(test, before + 1, fixture->num_mad_ifc);
}

static void pma_other_mads_are_for_agent_of_firmware(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	attribute_of(&fixture->in)->port_select = 0;
	expect_agent_of_firmware(test, fixture);
	attribute_of(&fixture->in)->port_select = PORTS + 1;
	expect_agent_of_firmware(test, fixture);
	attribute_of(&fixture->in)->port_select = PORT;
	fixture->in.mad_hdr.attr_id = IB_PMA_PORT_SAMPLES_CONTROL;
	expect_agent_of_firmware(test, fixture);
	fixture->in.mad_hdr.attr_id = IB_PMA_PORT_COUNTERS;
	fixture->in.mad_hdr.method = IB_MGMT_METHOD_SET;
	expect_agent_of_firmware(test, fixture);
	fixture->in.mad_hdr.method = IB_MGMT_METHOD_GET;
	fixture->fake->hw.caps.vport_counters = 0;
	expect_agent_of_firmware(test, fixture);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(pma_get_ext_sums_unicast_and_multicast),
	KUNIT_CASE(pma_get_counters_stop_at_maximum),
	KUNIT_CASE(pma_get_names_selected_port),
	KUNIT_CASE(pma_get_class_port_info_has_extended_counters),
	KUNIT_CASE(pma_other_mads_are_for_agent_of_firmware),
	{}
};

static struct kunit_suite suite = {
	.name = "pma",
	.init = pma_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
