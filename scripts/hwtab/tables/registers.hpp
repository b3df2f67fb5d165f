// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// The registers that ACCESS_REGISTER reads and writes.
#pragma once

#include "hwtab/model.hpp"
#include "tables/interface_values.hpp"

#include <array>

namespace hwtab {

inline constexpr Field ptys_reg_fields[] = {
    reserved(0x0, 31, 31),
    flag("an_disable_admin", 0x0, 30, "Software wants no negotiation of the speed."),
    flag("an_disable_cap", 0x0, 29, "Negotiation of the speed can be disabled."),
    reserved(0x0, 28, 24),
    bits("local_port", 0x0, 23, 16, "Number of the port within the device, from 1 on."),
    reserved(0x0, 15, 8),
    bits("plane_ind", 0x0, 7, 4, "Plane of a multiplane port; 0 is all of them."),
    reserved(0x0, 3, 3),
    bits("proto_mask", 0x0, 2, 0, "Link layer that the access concerns.", &ptys_proto_mask),
    bits("an_status", 0x4, 31, 28, "How the negotiation of the link stands.", &an_status),
    reserved(0x4, 27, 16),
    bits("data_rate_oper", 0x4, 15, 0, "Data rate of the link, units of 100 Mb/s."),
    word32("ext_eth_proto_capability", 0x8,
           "Extended Ethernet modes that the port can use, bit mask."),
    word32("eth_proto_capability", 0xc, "Ethernet modes that the port can use, bit mask."),
    bits("ib_link_width_capability", 0x10, 31, 16, "InfiniBand widths that the port can use.",
         &ib_link_width),
    bits("ib_proto_capability", 0x10, 15, 0, "InfiniBand lane rates that the port can use.",
         &ib_proto),
    word32("ext_eth_proto_admin", 0x14, "Extended Ethernet modes that software enables, bit mask."),
    word32("eth_proto_admin", 0x18, "Ethernet modes that software enables, bit mask."),
    bits("ib_link_width_admin", 0x1c, 31, 16, "InfiniBand widths that software enables.",
         &ib_link_width),
    bits("ib_proto_admin", 0x1c, 15, 0, "InfiniBand lane rates that software enables.", &ib_proto),
    word32("ext_eth_proto_oper", 0x20, "Extended Ethernet mode that the link uses, bit mask."),
    word32("eth_proto_oper", 0x24, "Ethernet mode that the link uses, bit mask."),
    bits("ib_link_width_oper", 0x28, 31, 16, "InfiniBand width that the link uses.",
         &ib_link_width),
    bits("ib_proto_oper", 0x28, 15, 0, "InfiniBand lane rate that the link uses.", &ib_proto),
    reserved(0x2c, 31, 4),
    bits("connector_type", 0x2c, 3, 0, "Connector of the port.", &connector_type),
    word32("eth_proto_lp_advertise", 0x30,
           "Ethernet modes that the link partner offers, bit mask."),
    reserved_bytes(0x34, 0xc),
};
inline constexpr Layout ptys_reg{"ptys_reg", Kind::access_register, 0x40, ptys_reg_fields,
                                 "Link layer, speed and width of a port."};

inline constexpr Field pmtu_reg_fields[] = {
    reserved(0x0, 31, 24),
    bits("local_port", 0x0, 23, 16, "Number of the port within the device, from 1 on."),
    reserved(0x0, 15, 0),
    bits("max_mtu", 0x4, 31, 16, "Largest MTU that the port can use, bytes."),
    reserved(0x4, 15, 0),
    bits("admin_mtu", 0x8, 31, 16, "MTU that software wants, bytes."),
    reserved(0x8, 15, 0),
    bits("oper_mtu", 0xc, 31, 16, "MTU that the port uses, bytes."),
    reserved(0xc, 15, 0),
};
inline constexpr Layout pmtu_reg{"pmtu_reg", Kind::access_register, 0x10, pmtu_reg_fields,
                                 "Largest packets of a port."};

inline constexpr Field pvlc_reg_fields[] = {
    reserved(0x0, 31, 24),
    bits("local_port", 0x0, 23, 16, "Number of the port within the device, from 1 on."),
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 4),
    bits("vl_hw_cap", 0x4, 3, 0, "Virtual lanes for data that the port has.", &vl_count),
    reserved(0x8, 31, 4),
    bits("vl_admin", 0x8, 3, 0, "Virtual lanes for data that software wants.", &vl_count),
    reserved(0xc, 31, 4),
    bits("vl_operational", 0xc, 3, 0, "Virtual lanes for data that the port uses.", &vl_count),
};
inline constexpr Layout pvlc_reg{"pvlc_reg", Kind::access_register, 0x10, pvlc_reg_fields,
                                 "Virtual lanes of an InfiniBand port."};

inline constexpr Field paos_reg_fields[] = {
    bits("swid", 0x0, 31, 24, "Switch partition of the port; 0 on an adapter."),
    bits("local_port", 0x0, 23, 16, "Number of the port within the device, from 1 on."),
    reserved(0x0, 15, 12),
    bits("admin_status", 0x0, 11, 8, "State in which software wants the port.", &port_admin_status),
    reserved(0x0, 7, 4),
    bits("oper_status", 0x0, 3, 0, "State in which the port is.", &port_oper_status),
    flag("ase", 0x4, 31, "A write changes admin_status."),
    flag("ee", 0x4, 30, "A write changes the field e."),
    reserved(0x4, 29, 2),
    bits("e", 0x4, 1, 0, "Whether a change of oper_status generates an event.", &event_generation),
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout paos_reg{"paos_reg", Kind::access_register, 0x10, paos_reg_fields,
                                 "Administrative and operational status of a port."};

inline constexpr Field pcap_reg_fields[] = {
    reserved(0x0, 31, 24),
    bits("local_port", 0x0, 23, 16, "Number of the port within the device, from 1 on."),
    reserved(0x0, 15, 0),
    array("port_capability_mask", 0x4, 32, 4,
          "Capabilities that an InfiniBand port states, 128 bits."),
};
inline constexpr Layout pcap_reg{"pcap_reg", Kind::access_register, 0x14, pcap_reg_fields,
                                 "Capability mask of a port."};

inline constexpr Field ib_port_cntrs_grp_data_layout_fields[] = {
    bits("symbol_error_counter", 0x0, 31, 16, "Symbol errors on the lanes."),
    bits("link_error_recovery_counter", 0x0, 15, 8, "Link error recoveries that succeeded."),
    bits("link_downed_counter", 0x0, 7, 0, "Times that the link went down after failed recovery."),
    bits("port_rcv_errors", 0x4, 31, 16, "Packets received with an error."),
    bits("port_rcv_remote_physical_errors", 0x4, 15, 0,
         "Packets received that a sender marked as bad."),
    bits("port_rcv_switch_relay_errors", 0x8, 31, 16,
         "Packets received that a switch couldn't relay."),
    bits("port_xmit_discards", 0x8, 15, 0,
         "Packets to send discarded as the port was down or congested."),
    bits("port_xmit_constraint_errors", 0xc, 31, 24,
         "Packets not sent because of constraints on the port."),
    bits("port_rcv_constraint_errors", 0xc, 23, 16,
         "Packets received and discarded because of constraints on the port."),
    reserved(0xc, 15, 8),
    bits("link_overrun_errors", 0xc, 7, 0, "Overruns of the port's receive buffer."),
    reserved(0x10, 31, 16),
    bits("vl_15_dropped", 0x10, 15, 0, "Management packets on VL 15 dropped for lack of buffers."),
    reserved_bytes(0x14, 0x10),
    word32("port_xmit_wait", 0x24, "Ticks in which data waited for credits or arbitration."),
};
inline constexpr Layout ib_port_cntrs_grp_data_layout{
    "ib_port_cntrs_grp_data_layout", Kind::access_register, 0x28,
    ib_port_cntrs_grp_data_layout_fields, "Counters of the InfiniBand attribute PortCounters."};

inline constexpr Field ib_ext_port_cntrs_grp_data_layout_fields[] = {
    reserved_bytes(0x0, 0x60),
    word32("port_xmit_data_high", 0x60, "Data sent on all lanes, units of 4 bytes, high word."),
    word32("port_xmit_data_low", 0x64, "Data sent on all lanes, units of 4 bytes, low word."),
    word32("port_rcv_data_high", 0x68, "Data received on all lanes, units of 4 bytes, high word."),
    word32("port_rcv_data_low", 0x6c, "Data received on all lanes, units of 4 bytes, low word."),
    word32("port_xmit_pkts_high", 0x70, "Packets sent, high word."),
    word32("port_xmit_pkts_low", 0x74, "Packets sent, low word."),
    word32("port_rcv_pkts_high", 0x78, "Packets received, high word."),
    word32("port_rcv_pkts_low", 0x7c, "Packets received, low word."),
    reserved_bytes(0x80, 0x10),
    word32("port_unicast_xmit_pkts_high", 0x90, "Unicast packets sent, high word."),
    word32("port_unicast_xmit_pkts_low", 0x94, "Unicast packets sent, low word."),
    word32("port_multicast_xmit_pkts_high", 0x98, "Multicast packets sent, high word."),
    word32("port_multicast_xmit_pkts_low", 0x9c, "Multicast packets sent, low word."),
    word32("port_unicast_rcv_pkts_high", 0xa0, "Unicast packets received, high word."),
    word32("port_unicast_rcv_pkts_low", 0xa4, "Unicast packets received, low word."),
    word32("port_multicast_rcv_pkts_high", 0xa8, "Multicast packets received, high word."),
    word32("port_multicast_rcv_pkts_low", 0xac, "Multicast packets received, low word."),
    reserved_bytes(0xb0, 0x48),
};
inline constexpr Layout ib_ext_port_cntrs_grp_data_layout{
    "ib_ext_port_cntrs_grp_data_layout", Kind::access_register, 0xf8,
    ib_ext_port_cntrs_grp_data_layout_fields,
    "Counters of the InfiniBand attribute PortCountersExtended."};

inline constexpr Field phys_layer_cntrs_fields[] = {
    word32("time_since_last_clear_high", 0x0,
           "Milliseconds since the counters were cleared, high word."),
    word32("time_since_last_clear_low", 0x4,
           "Milliseconds since the counters were cleared, low word."),
    word32("symbol_errors_high", 0x8, "Symbol errors, high word."),
    word32("symbol_errors_low", 0xc, "Symbol errors, low word."),
    word32("sync_headers_errors_high", 0x10, "Errors of synchronization headers, high word."),
    word32("sync_headers_errors_low", 0x14, "Errors of synchronization headers, low word."),
    word32("edpl_bip_errors_lane0_high", 0x18,
           "Parity errors of interleaved blocks on lane 0, high word."),
    word32("edpl_bip_errors_lane0_low", 0x1c,
           "Parity errors of interleaved blocks on lane 0, low word."),
    word32("edpl_bip_errors_lane1_high", 0x20,
           "Parity errors of interleaved blocks on lane 1, high word."),
    word32("edpl_bip_errors_lane1_low", 0x24,
           "Parity errors of interleaved blocks on lane 1, low word."),
    word32("edpl_bip_errors_lane2_high", 0x28,
           "Parity errors of interleaved blocks on lane 2, high word."),
    word32("edpl_bip_errors_lane2_low", 0x2c,
           "Parity errors of interleaved blocks on lane 2, low word."),
    word32("edpl_bip_errors_lane3_high", 0x30,
           "Parity errors of interleaved blocks on lane 3, high word."),
    word32("edpl_bip_errors_lane3_low", 0x34,
           "Parity errors of interleaved blocks on lane 3, low word."),
    word32("fc_fec_corrected_blocks_lane0_high", 0x38,
           "Blocks corrected by Fire code FEC on lane 0, high word."),
    word32("fc_fec_corrected_blocks_lane0_low", 0x3c,
           "Blocks corrected by Fire code FEC on lane 0, low word."),
    word32("fc_fec_corrected_blocks_lane1_high", 0x40,
           "Blocks corrected by Fire code FEC on lane 1, high word."),
    word32("fc_fec_corrected_blocks_lane1_low", 0x44,
           "Blocks corrected by Fire code FEC on lane 1, low word."),
    word32("fc_fec_corrected_blocks_lane2_high", 0x48,
           "Blocks corrected by Fire code FEC on lane 2, high word."),
    word32("fc_fec_corrected_blocks_lane2_low", 0x4c,
           "Blocks corrected by Fire code FEC on lane 2, low word."),
    word32("fc_fec_corrected_blocks_lane3_high", 0x50,
           "Blocks corrected by Fire code FEC on lane 3, high word."),
    word32("fc_fec_corrected_blocks_lane3_low", 0x54,
           "Blocks corrected by Fire code FEC on lane 3, low word."),
    word32("fc_fec_uncorrectable_blocks_lane0_high", 0x58,
           "Blocks beyond correction by Fire code FEC on lane 0, high word."),
    word32("fc_fec_uncorrectable_blocks_lane0_low", 0x5c,
           "Blocks beyond correction by Fire code FEC on lane 0, low word."),
    word32("fc_fec_uncorrectable_blocks_lane1_high", 0x60,
           "Blocks beyond correction by Fire code FEC on lane 1, high word."),
    word32("fc_fec_uncorrectable_blocks_lane1_low", 0x64,
           "Blocks beyond correction by Fire code FEC on lane 1, low word."),
    word32("fc_fec_uncorrectable_blocks_lane2_high", 0x68,
           "Blocks beyond correction by Fire code FEC on lane 2, high word."),
    word32("fc_fec_uncorrectable_blocks_lane2_low", 0x6c,
           "Blocks beyond correction by Fire code FEC on lane 2, low word."),
    word32("fc_fec_uncorrectable_blocks_lane3_high", 0x70,
           "Blocks beyond correction by Fire code FEC on lane 3, high word."),
    word32("fc_fec_uncorrectable_blocks_lane3_low", 0x74,
           "Blocks beyond correction by Fire code FEC on lane 3, low word."),
    word32("rs_fec_corrected_blocks_high", 0x78,
           "Blocks corrected by Reed-Solomon FEC, high word."),
    word32("rs_fec_corrected_blocks_low", 0x7c, "Blocks corrected by Reed-Solomon FEC, low word."),
    word32("rs_fec_uncorrectable_blocks_high", 0x80,
           "Blocks beyond correction by Reed-Solomon FEC, high word."),
    word32("rs_fec_uncorrectable_blocks_low", 0x84,
           "Blocks beyond correction by Reed-Solomon FEC, low word."),
    word32("rs_fec_no_errors_blocks_high", 0x88,
           "Blocks that Reed-Solomon FEC found without error, high word."),
    word32("rs_fec_no_errors_blocks_low", 0x8c,
           "Blocks that Reed-Solomon FEC found without error, low word."),
    word32("rs_fec_single_error_blocks_high", 0x90,
           "Blocks with one symbol corrected by Reed-Solomon FEC, high word."),
    word32("rs_fec_single_error_blocks_low", 0x94,
           "Blocks with one symbol corrected by Reed-Solomon FEC, low word."),
    word32("rs_fec_corrected_symbols_total_high", 0x98,
           "Symbols corrected by Reed-Solomon FEC on all lanes, high word."),
    word32("rs_fec_corrected_symbols_total_low", 0x9c,
           "Symbols corrected by Reed-Solomon FEC on all lanes, low word."),
    word32("rs_fec_corrected_symbols_lane0_high", 0xa0,
           "Symbols corrected by Reed-Solomon FEC on lane 0, high word."),
    word32("rs_fec_corrected_symbols_lane0_low", 0xa4,
           "Symbols corrected by Reed-Solomon FEC on lane 0, low word."),
    word32("rs_fec_corrected_symbols_lane1_high", 0xa8,
           "Symbols corrected by Reed-Solomon FEC on lane 1, high word."),
    word32("rs_fec_corrected_symbols_lane1_low", 0xac,
           "Symbols corrected by Reed-Solomon FEC on lane 1, low word."),
    word32("rs_fec_corrected_symbols_lane2_high", 0xb0,
           "Symbols corrected by Reed-Solomon FEC on lane 2, high word."),
    word32("rs_fec_corrected_symbols_lane2_low", 0xb4,
           "Symbols corrected by Reed-Solomon FEC on lane 2, low word."),
    word32("rs_fec_corrected_symbols_lane3_high", 0xb8,
           "Symbols corrected by Reed-Solomon FEC on lane 3, high word."),
    word32("rs_fec_corrected_symbols_lane3_low", 0xbc,
           "Symbols corrected by Reed-Solomon FEC on lane 3, low word."),
    word32("link_down_events", 0xc0, "Times that the link went down."),
    word32("successful_recovery_events", 0xc4, "Link recoveries that succeeded."),
    reserved_bytes(0xc8, 0x30),
};
inline constexpr Layout phys_layer_cntrs{"phys_layer_cntrs", Kind::access_register, 0xf8,
                                         phys_layer_cntrs_fields,
                                         "Errors of the physical layer of a port."};

inline constexpr Field phys_layer_statistical_cntrs_fields[] = {
    word32("time_since_last_clear_high", 0x0,
           "Milliseconds since the counters were cleared, high word."),
    word32("time_since_last_clear_low", 0x4,
           "Milliseconds since the counters were cleared, low word."),
    word32("phy_received_bits_high", 0x8, "Bits received, high word."),
    word32("phy_received_bits_low", 0xc, "Bits received, low word."),
    word32("phy_symbol_errors_high", 0x10, "Symbol errors that were not corrected, high word."),
    word32("phy_symbol_errors_low", 0x14, "Symbol errors that were not corrected, low word."),
    word32("phy_corrected_bits_high", 0x18, "Bits corrected by the error correction, high word."),
    word32("phy_corrected_bits_low", 0x1c, "Bits corrected by the error correction, low word."),
    word32("phy_corrected_bits_lane0_high", 0x20,
           "Bits corrected by the error correction on lane 0, high word."),
    word32("phy_corrected_bits_lane0_low", 0x24,
           "Bits corrected by the error correction on lane 0, low word."),
    word32("phy_corrected_bits_lane1_high", 0x28,
           "Bits corrected by the error correction on lane 1, high word."),
    word32("phy_corrected_bits_lane1_low", 0x2c,
           "Bits corrected by the error correction on lane 1, low word."),
    word32("phy_corrected_bits_lane2_high", 0x30,
           "Bits corrected by the error correction on lane 2, high word."),
    word32("phy_corrected_bits_lane2_low", 0x34,
           "Bits corrected by the error correction on lane 2, low word."),
    word32("phy_corrected_bits_lane3_high", 0x38,
           "Bits corrected by the error correction on lane 3, high word."),
    word32("phy_corrected_bits_lane3_low", 0x3c,
           "Bits corrected by the error correction on lane 3, low word."),
    reserved_bytes(0x40, 0xb8),
};
inline constexpr Layout phys_layer_statistical_cntrs{
    "phys_layer_statistical_cntrs", Kind::access_register, 0xf8,
    phys_layer_statistical_cntrs_fields, "Bits and bit errors of the physical layer of a port."};

inline constexpr std::array ppcnt_reg_counter_set_choices{
    &ib_port_cntrs_grp_data_layout, &ib_ext_port_cntrs_grp_data_layout, &phys_layer_cntrs,
    &phys_layer_statistical_cntrs};

inline constexpr Field ppcnt_reg_fields[] = {
    bits("swid", 0x0, 31, 24, "Switch partition of the port; 0 on an adapter."),
    bits("local_port", 0x0, 23, 16, "Number of the port within the device, from 1 on."),
    bits("pnat", 0x0, 15, 14, "Meaning of local_port.", &port_number_access),
    reserved(0x0, 13, 6),
    bits("grp", 0x0, 5, 0, "Group of counters.", &ppcnt_group),
    flag("clr", 0x4, 31, "Clears the counters of the group after reading."),
    reserved(0x4, 30, 12),
    bits("plane_ind", 0x4, 11, 8, "Plane of a multiplane port; 0 is all of them."),
    reserved(0x4, 7, 5),
    bits("prio_tc", 0x4, 4, 0, "Priority or traffic class, in the groups that have one."),
    choice("counter_set", 0x8, 0xf8, ppcnt_reg_counter_set_choices, "Counters of the group."),
};
inline constexpr Layout ppcnt_reg{"ppcnt_reg", Kind::access_register, 0x100, ppcnt_reg_fields,
                                  "Counters of a port, one group at a time."};

inline constexpr Field register_host_endianness_fields[] = {
    bits("he", 0x0, 31, 31, "Byte order of the host.", &register_host_endian),
    reserved(0x0, 30, 0),
    reserved_bytes(0x4, 0xc),
};
inline constexpr Layout register_host_endianness{"register_host_endianness", Kind::access_register,
                                                 0x10, register_host_endianness_fields,
                                                 "Byte order of the host."};

inline constexpr Field set_node_in_fields[] = {
    bytes("node_description", 0x0, 64,
          "Text that describes the InfiniBand node, 64 bytes, filled with zeros."),
};
inline constexpr Layout set_node_in{"set_node_in", Kind::access_register, 0x40, set_node_in_fields,
                                    "Description of the node."};

inline constexpr Field default_timeout_fields[] = {
    bits("to_multiplier", 0x0, 31, 29, "Unit of the timeout.", &timeout_unit),
    reserved(0x0, 28, 20),
    bits("to_value", 0x0, 19, 0, "Number of units."),
};
inline constexpr Layout default_timeout{"default_timeout", Kind::access_register, 0x4,
                                        default_timeout_fields, "A timeout: a number of units."};

inline constexpr Field dtor_reg_fields[] = {
    reserved_bytes(0x0, 0x4),
    nested("pcie_toggle_to", 0x4, default_timeout, "Time limit for the PCIe link to be toggled."),
    reserved_bytes(0x8, 0xc),
    nested("health_poll_to", 0x14, default_timeout,
           "Time between two looks at the health counter."),
    nested("full_crdump_to", 0x18, default_timeout,
           "Time limit for a full dump of the device's state."),
    nested("fw_reset_to", 0x1c, default_timeout, "Time limit for a reset of the firmware."),
    nested("flush_on_err_to", 0x20, default_timeout,
           "Time limit for queues to be flushed after a fault."),
    nested("pci_sync_update_to", 0x24, default_timeout,
           "Time limit for functions to synchronize for a firmware update."),
    nested("tear_down_to", 0x28, default_timeout, "Time limit for a fast teardown."),
    nested("fsm_reactivate_to", 0x2c, default_timeout,
           "Time limit for a new firmware image to be activated."),
    nested("reclaim_pages_to", 0x30, default_timeout,
           "Time limit for the device to return its pages."),
    nested("reclaim_vfs_pages_to", 0x34, default_timeout,
           "Time limit for virtual functions' pages to be returned."),
    nested("reset_unload_to", 0x38, default_timeout,
           "Time limit for drivers to unload before a reset."),
    reserved_bytes(0x3c, 0x4),
};
inline constexpr Layout dtor_reg{"dtor_reg", Kind::access_register, 0x40, dtor_reg_fields,
                                 "Timeouts that the device recommends."};

inline constexpr Field plib_reg_fields[] = {
    reserved(0x0, 31, 24),
    bits("local_port", 0x0, 23, 16, "Number of the port within the device, from 1 on."),
    reserved(0x0, 15, 8),
    bits("ib_port", 0x0, 7, 0, "InfiniBand number of the port."),
    reserved_bytes(0x4, 0xc),
};
inline constexpr Layout plib_reg{"plib_reg", Kind::access_register, 0x10, plib_reg_fields,
                                 "InfiniBand port number of a port."};

inline constexpr Field pmlp_reg_fields[] = {
    flag("rxtx", 0x0, 31, "Receive and transmit lanes are mapped separately."),
    reserved(0x0, 30, 24),
    bits("local_port", 0x0, 23, 16, "Number of the port within the device, from 1 on."),
    reserved(0x0, 15, 8),
    bits("width", 0x0, 7, 0, "Number of lanes; 0 is a port without module."),
    word32("lane0_module_mapping", 0x4, "Module and lanes behind lane 0."),
    word32("lane1_module_mapping", 0x8, "Module and lanes behind lane 1."),
    word32("lane2_module_mapping", 0xc, "Module and lanes behind lane 2."),
    word32("lane3_module_mapping", 0x10, "Module and lanes behind lane 3."),
    reserved_bytes(0x14, 0x2c),
};
inline constexpr Layout pmlp_reg{"pmlp_reg", Kind::access_register, 0x40, pmlp_reg_fields,
                                 "Lanes of a port and the cable module they lead to."};

inline constexpr Field lane_2_module_mapping_fields[] = {
    reserved(0x0, 31, 28),
    bits("rx_lane", 0x0, 27, 24, "Lane of the module that receives; used if rxtx is set."),
    reserved(0x0, 23, 20),
    bits("tx_lane", 0x0, 19, 16, "Lane of the module that sends, or does both."),
    reserved(0x0, 15, 8),
    bits("module", 0x0, 7, 0, "Number of the module."),
};
inline constexpr Layout lane_2_module_mapping{"lane_2_module_mapping", Kind::access_register, 0x4,
                                              lane_2_module_mapping_fields,
                                              "Module and lanes behind a lane of a port."};

inline constexpr Field pamp_reg_fields[] = {
    reserved(0x0, 31, 24),
    bits("opamp_group", 0x0, 23, 16, "Number of the amplifier group."),
    reserved(0x0, 15, 4),
    bits("opamp_group_type", 0x0, 3, 0, "Kind of the amplifier group."),
    bits("start_index", 0x4, 31, 16, "Number of the first amplifier that the access concerns."),
    reserved(0x4, 15, 12),
    bits("num_of_indices", 0x4, 11, 0, "Number of amplifiers that the access concerns."),
    array("index_data", 0x8, 16, 18, "Settings of the amplifiers, from start_index on."),
};
inline constexpr Layout pamp_reg{"pamp_reg", Kind::access_register, 0x2c, pamp_reg_fields,
                                 "Settings of a group of amplifiers."};

inline constexpr Field mtmp_reg_fields[] = {
    reserved(0x0, 31, 12),
    bits("sensor_index", 0x0, 11, 0, "Number of the sensor."),
    reserved(0x4, 31, 16),
    bits("temperature", 0x4, 15, 0, "Temperature, signed, units of 0.125 degrees Celsius."),
    flag("mte", 0x8, 31, "The highest temperature is recorded."),
    flag("mtr", 0x8, 30, "Writing 1 starts the recording of the highest temperature anew."),
    reserved(0x8, 29, 16),
    bits("max_temperature", 0x8, 15, 0,
         "Highest recorded temperature, units of 0.125 degrees Celsius."),
    bits("tee", 0xc, 31, 30, "Whether crossing a threshold generates an event.", &event_generation),
    reserved(0xc, 29, 16),
    bits("temp_threshold_hi", 0xc, 15, 0,
         "Temperature that warns, units of 0.125 degrees Celsius."),
    reserved(0x10, 31, 16),
    bits("temp_threshold_lo", 0x10, 15, 0,
         "Temperature that ends the warning, units of 0.125 degrees Celsius."),
    reserved_bytes(0x14, 0x4),
    word32("sensor_name_hi", 0x18, "First four characters of the sensor's name."),
    word32("sensor_name_lo", 0x1c, "Last four characters of the sensor's name."),
};
inline constexpr Layout mtmp_reg{"mtmp_reg", Kind::access_register, 0x20, mtmp_reg_fields,
                                 "Temperature of a sensor."};

inline constexpr Register access_ptys{"ptys", 0x5004, &ptys_reg,
                                      "Link layer, speed and width of a port."};
inline constexpr Register access_pmtu{"pmtu", 0x5003, &pmtu_reg, "Largest packets of a port."};
inline constexpr Register access_pvlc{"pvlc", 0x500f, &pvlc_reg,
                                      "Virtual lanes of an InfiniBand port."};
inline constexpr Register access_paos{"paos", 0x5006, &paos_reg,
                                      "Administrative and operational status of a port."};
inline constexpr Register access_pcap{"pcap", 0x5001, &pcap_reg,
                                      "Capability mask of an InfiniBand port."};
inline constexpr Register access_ppcnt{"ppcnt", 0x5008, &ppcnt_reg,
                                       "Counters of a port, by groups."};
inline constexpr Register access_host_endianness{
    "host_endianness", 0x7004, &register_host_endianness,
    "Byte order of the host; software writes it before INIT_HCA."};
inline constexpr Register access_node_desc{"node_desc", 0x6001, &set_node_in,
                                           "Description of the InfiniBand node."};
inline constexpr Register access_dtor{"dtor", 0xc00e, &dtor_reg,
                                      "Timeouts that the device recommends."};
inline constexpr Register access_plib{"plib", 0x500a, &plib_reg,
                                      "InfiniBand port number of a port."};
inline constexpr Register access_pmlp{"pmlp", 0x5002, &pmlp_reg,
                                      "Lanes of a port and the cable module they lead to."};
inline constexpr Register access_mtmp{"mtmp", 0x900a, &mtmp_reg, "Temperature of a sensor."};

inline constexpr std::array registers_layouts{&ptys_reg,
                                              &pmtu_reg,
                                              &pvlc_reg,
                                              &paos_reg,
                                              &pcap_reg,
                                              &ib_port_cntrs_grp_data_layout,
                                              &ib_ext_port_cntrs_grp_data_layout,
                                              &phys_layer_cntrs,
                                              &phys_layer_statistical_cntrs,
                                              &ppcnt_reg,
                                              &register_host_endianness,
                                              &set_node_in,
                                              &default_timeout,
                                              &dtor_reg,
                                              &plib_reg,
                                              &pmlp_reg,
                                              &lane_2_module_mapping,
                                              &pamp_reg,
                                              &mtmp_reg};
inline constexpr std::array registers_enumerations{
    &ptys_proto_mask,      &ib_link_width,    &ib_proto,           &an_status,
    &connector_type,       &ib_mtu,           &vl_count,           &port_admin_status,
    &port_oper_status,     &event_generation, &port_number_access, &ppcnt_group,
    &register_host_endian, &timeout_unit};
inline constexpr std::array registers_registers{&access_ptys,
                                                &access_pmtu,
                                                &access_pvlc,
                                                &access_paos,
                                                &access_pcap,
                                                &access_ppcnt,
                                                &access_host_endianness,
                                                &access_node_desc,
                                                &access_dtor,
                                                &access_plib,
                                                &access_pmlp,
                                                &access_mtmp};
inline constexpr Group registers_group{.name = "registers",
                                       .title = "Access registers",
                                       .meaning =
                                           "The registers that ACCESS_REGISTER reads and writes.",
                                       .layouts = registers_layouts,
                                       .enumerations = registers_enumerations,
                                       .registers = registers_registers};

} // namespace hwtab
