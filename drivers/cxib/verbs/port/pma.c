// SPDX-License-Identifier: GPL-2.0-only
/*
 * Returns the counters of the vport and of the port as attributes of the performance management
 * class (IBA 16.1.4).
 */
#include <kunit/visibility.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "hw/commands_port.h"
#include "hw/registers.h"
#include "verbs/port/pma.h"
#include "verbs/port/port.h"
#include "verbs/verbs.h"

/* PortXmitData and PortRcvData count in units of four octets. */
#define OCTETS_PER_UNIT	4

/* 4.096 us * 2^18 is a second. */
#define LOG_RESPONSE_TIME	18

static u64 pma_sum_packets(const struct hw_traffic_counter *unicast,
			   const struct hw_traffic_counter *multicast)
{
	return hw_traffic_counter_get_packets(unicast) + hw_traffic_counter_get_packets(multicast);
}

static u64 pma_sum_data(const struct hw_traffic_counter *unicast,
			const struct hw_traffic_counter *multicast)
{
	return (hw_traffic_counter_get_octets(unicast) +
		hw_traffic_counter_get_octets(multicast)) / OCTETS_PER_UNIT;
}

/**
 * cxib_pma_fill_ext() - fill PortCountersExtended
 * @vport: counters of the vport
 * @counters: filled, but for its selectors
 */
void cxib_pma_fill_ext(const struct hw_query_vport_counter_out *vport,
		       struct ib_pma_portcounters_ext *counters)
{
	const struct hw_traffic_counter *sent =
		hw_query_vport_counter_out_get_transmitted_ib_unicast(vport);
	const struct hw_traffic_counter *received =
		hw_query_vport_counter_out_get_received_ib_unicast(vport);
	const struct hw_traffic_counter *sent_multicast =
		hw_query_vport_counter_out_get_transmitted_ib_multicast(vport);
	const struct hw_traffic_counter *received_multicast =
		hw_query_vport_counter_out_get_received_ib_multicast(vport);

	counters->port_xmit_data = cpu_to_be64(pma_sum_data(sent, sent_multicast));
	counters->port_rcv_data = cpu_to_be64(pma_sum_data(received, received_multicast));
	counters->port_xmit_packets = cpu_to_be64(pma_sum_packets(sent, sent_multicast));
	counters->port_rcv_packets = cpu_to_be64(pma_sum_packets(received, received_multicast));
	counters->port_unicast_xmit_packets =
		cpu_to_be64(hw_traffic_counter_get_packets(sent));
	counters->port_unicast_rcv_packets =
		cpu_to_be64(hw_traffic_counter_get_packets(received));
	counters->port_multicast_xmit_packets =
		cpu_to_be64(hw_traffic_counter_get_packets(sent_multicast));
	counters->port_multicast_rcv_packets =
		cpu_to_be64(hw_traffic_counter_get_packets(received_multicast));
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pma_fill_ext);

/* Counters of PortCounters stop at their maximum (IBA 16.1.3.5). */
static __be32 pma_stop_at_max(__be64 counter)
{
	return cpu_to_be32(min_t(u64, be64_to_cpu(counter), U32_MAX));
}

/**
 * cxib_pma_fill() - fill PortCounters
 * @port: counters of the port
 * @traffic: PortCountersExtended of the port
 * @counters: filled, but for its selectors
 */
void cxib_pma_fill(const struct hw_ib_port_cntrs_grp_data_layout *port,
		   const struct ib_pma_portcounters_ext *traffic,
		   struct ib_pma_portcounters *counters)
{
#define TAKE(field)	hw_ib_port_cntrs_grp_data_layout_get_##field(port)
	counters->symbol_error_counter = cpu_to_be16(TAKE(symbol_error_counter));
	counters->link_error_recovery_counter = TAKE(link_error_recovery_counter);
	counters->link_downed_counter = TAKE(link_downed_counter);
	counters->port_rcv_errors = cpu_to_be16(TAKE(port_rcv_errors));
	counters->port_rcv_remphys_errors = cpu_to_be16(TAKE(port_rcv_remote_physical_errors));
	counters->port_rcv_switch_relay_errors = cpu_to_be16(TAKE(port_rcv_switch_relay_errors));
	counters->port_xmit_discards = cpu_to_be16(TAKE(port_xmit_discards));
	counters->port_xmit_constraint_errors = TAKE(port_xmit_constraint_errors);
	counters->port_rcv_constraint_errors = TAKE(port_rcv_constraint_errors);
	counters->link_overrun_errors = TAKE(link_overrun_errors);
	counters->vl15_dropped = cpu_to_be16(TAKE(vl_15_dropped));
	counters->port_xmit_wait = cpu_to_be32(TAKE(port_xmit_wait));
#undef TAKE
	counters->port_xmit_data = pma_stop_at_max(traffic->port_xmit_data);
	counters->port_rcv_data = pma_stop_at_max(traffic->port_rcv_data);
	counters->port_xmit_packets = pma_stop_at_max(traffic->port_xmit_packets);
	counters->port_rcv_packets = pma_stop_at_max(traffic->port_rcv_packets);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pma_fill);

static int pma_query_ext(struct cxib_ibdev *ibdev, u32 number,
			 struct ib_pma_portcounters_ext *counters)
{
	struct hw_query_vport_counter_out *vport = kzalloc(sizeof(*vport), GFP_KERNEL);
	const unsigned int vport_number = cxib_port_vport(ibdev, &ibdev->ports[number - 1]);
	int err;

	if (!vport)
		return -ENOMEM;
	err = cxib_cmd_query_vport_counter(commands_of(ibdev), vport_number, vport);
	if (!err)
		cxib_pma_fill_ext(vport, counters);
	kfree(vport);
	return err;
}

static int pma_query(struct cxib_ibdev *ibdev, u32 number, struct ib_pma_portcounters *counters)
{
	struct hw_ib_port_cntrs_grp_data_layout port;
	struct ib_pma_portcounters_ext traffic = {};
	int err = cxib_cmd_query_ppcnt_ib(commands_of(ibdev), number, &port) ?:
		  pma_query_ext(ibdev, number, &traffic);

	if (!err)
		cxib_pma_fill(&port, &traffic, counters);
	return err;
}

static void pma_fill_class_port_info(struct ib_class_port_info *info)
{
	*info = (struct ib_class_port_info){
		.base_version = IB_MGMT_BASE_VERSION,
		.class_version = 1,
		.capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH,
	};
	ib_set_cpi_resp_time(info, LOG_RESPONSE_TIME);
}

static void pma_respond(const struct ib_mad *in, struct ib_mad *out)
{
	const struct ib_pma_mad *request = (const struct ib_pma_mad *)in;
	struct ib_pma_mad *response = (struct ib_pma_mad *)out;
	/* Attributes of counters begin with PortSelect and CounterSelect. */
	const size_t selectors = offsetofend(struct ib_pma_portcounters, counter_select);

	memset(out, 0, sizeof(*out));
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = 0;
	memcpy(response->data, request->data, selectors);
}

static int pma_get_counters(struct cxib_ibdev *ibdev, const struct ib_mad *in, struct ib_mad *out)
{
	const struct ib_pma_portcounters *request =
		(const void *)((const struct ib_pma_mad *)in)->data;
	void *attribute = ((struct ib_pma_mad *)out)->data;
	const u32 number = request->port_select;

	if (number < 1 || number > ibdev->hw->caps.num_ports)
		return -EOPNOTSUPP;
	pma_respond(in, out);
	if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS)
		return pma_query(ibdev, number, attribute);
	return pma_query_ext(ibdev, number, attribute);
}

/**
 * cxib_pma_get() - respond to a Get of port counters or of ClassPortInfo
 * @ibdev: RDMA device
 * @in: MAD of the performance management class with the method Get
 * @out: the response, if this returns 0
 *
 * Context: process context, may sleep.
 * Return: 0; -EOPNOTSUPP if the agent of the firmware must respond, because the device has no
 * counters of vports, or the MAD has another attribute or names no port; otherwise as
 * cxib_cmd_exec().
 */
int cxib_pma_get(struct cxib_ibdev *ibdev, const struct ib_mad *in, struct ib_mad *out)
{
	if (!ibdev->hw->caps.vport_counters)
		return -EOPNOTSUPP;
	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		pma_respond(in, out);
		pma_fill_class_port_info((void *)((struct ib_pma_mad *)out)->data);
		return 0;
	case IB_PMA_PORT_COUNTERS:
	case IB_PMA_PORT_COUNTERS_EXT:
		return pma_get_counters(ibdev, in, out);
	default:
		return -EOPNOTSUPP;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pma_get);
