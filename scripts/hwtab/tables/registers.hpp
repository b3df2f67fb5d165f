// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// -
#pragma once

#include "hwtab/model.hpp"
#include "tables/interface_values.hpp"

#include <array>

namespace hwtab {

inline constexpr std::array ptys_reg_fields{
    reserved(0x0, 31, 31),
    flag("an_disable_admin", 0x0, 30, "-"),
    flag("an_disable_cap", 0x0, 29, "-"),
    reserved(0x0, 28, 24),
    bits("local_port", 0x0, 23, 16, "-"),
    reserved(0x0, 15, 8),
    bits("plane_ind", 0x0, 7, 4, "-"),
    reserved(0x0, 3, 3),
    bits("proto_mask", 0x0, 2, 0, "-"),
    bits("an_status", 0x4, 31, 28, "-"),
    reserved(0x4, 27, 16),
    bits("data_rate_oper", 0x4, 15, 0, "-"),
    word32("ext_eth_proto_capability", 0x8, "-"),
    word32("eth_proto_capability", 0xc, "-"),
    bits("ib_link_width_capability", 0x10, 31, 16, "-"),
    bits("ib_proto_capability", 0x10, 15, 0, "-"),
    word32("ext_eth_proto_admin", 0x14, "-"),
    word32("eth_proto_admin", 0x18, "-"),
    bits("ib_link_width_admin", 0x1c, 31, 16, "-"),
    bits("ib_proto_admin", 0x1c, 15, 0, "-"),
    word32("ext_eth_proto_oper", 0x20, "-"),
    word32("eth_proto_oper", 0x24, "-"),
    bits("ib_link_width_oper", 0x28, 31, 16, "-"),
    bits("ib_proto_oper", 0x28, 15, 0, "-"),
    reserved(0x2c, 31, 4),
    bits("connector_type", 0x2c, 3, 0, "-"),
    word32("eth_proto_lp_advertise", 0x30, "-"),
    reserved_bytes(0x34, 0xc),
};
inline constexpr Layout ptys_reg{"ptys_reg", Kind::access_register, 0x40, ptys_reg_fields, "-"};

inline constexpr std::array pmtu_reg_fields{
    reserved(0x0, 31, 24), bits("local_port", 0x0, 23, 16, "-"),
    reserved(0x0, 15, 0),  bits("max_mtu", 0x4, 31, 16, "-"),
    reserved(0x4, 15, 0),  bits("admin_mtu", 0x8, 31, 16, "-"),
    reserved(0x8, 15, 0),  bits("oper_mtu", 0xc, 31, 16, "-"),
    reserved(0xc, 15, 0),
};
inline constexpr Layout pmtu_reg{"pmtu_reg", Kind::access_register, 0x10, pmtu_reg_fields, "-"};

inline constexpr std::array pvlc_reg_fields{
    reserved(0x0, 31, 24),
    bits("local_port", 0x0, 23, 16, "-"),
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 4),
    bits("vl_hw_cap", 0x4, 3, 0, "-"),
    reserved(0x8, 31, 4),
    bits("vl_admin", 0x8, 3, 0, "-"),
    reserved(0xc, 31, 4),
    bits("vl_operational", 0xc, 3, 0, "-"),
};
inline constexpr Layout pvlc_reg{"pvlc_reg", Kind::access_register, 0x10, pvlc_reg_fields, "-"};

inline constexpr std::array paos_reg_fields{
    bits("swid", 0x0, 31, 24, "-"),
    bits("local_port", 0x0, 23, 16, "-"),
    reserved(0x0, 15, 12),
    bits("admin_status", 0x0, 11, 8, "-"),
    reserved(0x0, 7, 4),
    bits("oper_status", 0x0, 3, 0, "-"),
    flag("ase", 0x4, 31, "-"),
    flag("ee", 0x4, 30, "-"),
    reserved(0x4, 29, 2),
    bits("e", 0x4, 1, 0, "-"),
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout paos_reg{"paos_reg", Kind::access_register, 0x10, paos_reg_fields, "-"};

inline constexpr std::array pcap_reg_fields{
    reserved(0x0, 31, 24),
    bits("local_port", 0x0, 23, 16, "-"),
    reserved(0x0, 15, 0),
    array("port_capability_mask", 0x4, 32, 4, "-"),
};
inline constexpr Layout pcap_reg{"pcap_reg", Kind::access_register, 0x14, pcap_reg_fields, "-"};

inline constexpr std::array ib_port_cntrs_grp_data_layout_fields{
    bits("symbol_error_counter", 0x0, 31, 16, "-"),
    bits("link_error_recovery_counter", 0x0, 15, 8, "-"),
    bits("link_downed_counter", 0x0, 7, 0, "-"),
    bits("port_rcv_errors", 0x4, 31, 16, "-"),
    bits("port_rcv_remote_physical_errors", 0x4, 15, 0, "-"),
    bits("port_rcv_switch_relay_errors", 0x8, 31, 16, "-"),
    bits("port_xmit_discards", 0x8, 15, 0, "-"),
    bits("port_xmit_constraint_errors", 0xc, 31, 24, "-"),
    bits("port_rcv_constraint_errors", 0xc, 23, 16, "-"),
    reserved(0xc, 15, 8),
    bits("link_overrun_errors", 0xc, 7, 0, "-"),
    reserved(0x10, 31, 16),
    bits("vl_15_dropped", 0x10, 15, 0, "-"),
    reserved_bytes(0x14, 0x10),
    word32("port_xmit_wait", 0x24, "-"),
};
inline constexpr Layout ib_port_cntrs_grp_data_layout{"ib_port_cntrs_grp_data_layout",
                                                      Kind::access_register, 0x28,
                                                      ib_port_cntrs_grp_data_layout_fields, "-"};

inline constexpr std::array ib_ext_port_cntrs_grp_data_layout_fields{
    reserved_bytes(0x0, 0x60),
    word32("port_xmit_data_high", 0x60, "-"),
    word32("port_xmit_data_low", 0x64, "-"),
    word32("port_rcv_data_high", 0x68, "-"),
    word32("port_rcv_data_low", 0x6c, "-"),
    word32("port_xmit_pkts_high", 0x70, "-"),
    word32("port_xmit_pkts_low", 0x74, "-"),
    word32("port_rcv_pkts_high", 0x78, "-"),
    word32("port_rcv_pkts_low", 0x7c, "-"),
    reserved_bytes(0x80, 0x10),
    word32("port_unicast_xmit_pkts_high", 0x90, "-"),
    word32("port_unicast_xmit_pkts_low", 0x94, "-"),
    word32("port_multicast_xmit_pkts_high", 0x98, "-"),
    word32("port_multicast_xmit_pkts_low", 0x9c, "-"),
    word32("port_unicast_rcv_pkts_high", 0xa0, "-"),
    word32("port_unicast_rcv_pkts_low", 0xa4, "-"),
    word32("port_multicast_rcv_pkts_high", 0xa8, "-"),
    word32("port_multicast_rcv_pkts_low", 0xac, "-"),
    reserved_bytes(0xb0, 0x48),
};
inline constexpr Layout ib_ext_port_cntrs_grp_data_layout{
    "ib_ext_port_cntrs_grp_data_layout", Kind::access_register, 0xf8,
    ib_ext_port_cntrs_grp_data_layout_fields, "-"};

inline constexpr std::array phys_layer_cntrs_fields{
    word32("time_since_last_clear_high", 0x0, "-"),
    word32("time_since_last_clear_low", 0x4, "-"),
    word32("symbol_errors_high", 0x8, "-"),
    word32("symbol_errors_low", 0xc, "-"),
    word32("sync_headers_errors_high", 0x10, "-"),
    word32("sync_headers_errors_low", 0x14, "-"),
    word32("edpl_bip_errors_lane0_high", 0x18, "-"),
    word32("edpl_bip_errors_lane0_low", 0x1c, "-"),
    word32("edpl_bip_errors_lane1_high", 0x20, "-"),
    word32("edpl_bip_errors_lane1_low", 0x24, "-"),
    word32("edpl_bip_errors_lane2_high", 0x28, "-"),
    word32("edpl_bip_errors_lane2_low", 0x2c, "-"),
    word32("edpl_bip_errors_lane3_high", 0x30, "-"),
    word32("edpl_bip_errors_lane3_low", 0x34, "-"),
    word32("fc_fec_corrected_blocks_lane0_high", 0x38, "-"),
    word32("fc_fec_corrected_blocks_lane0_low", 0x3c, "-"),
    word32("fc_fec_corrected_blocks_lane1_high", 0x40, "-"),
    word32("fc_fec_corrected_blocks_lane1_low", 0x44, "-"),
    word32("fc_fec_corrected_blocks_lane2_high", 0x48, "-"),
    word32("fc_fec_corrected_blocks_lane2_low", 0x4c, "-"),
    word32("fc_fec_corrected_blocks_lane3_high", 0x50, "-"),
    word32("fc_fec_corrected_blocks_lane3_low", 0x54, "-"),
    word32("fc_fec_uncorrectable_blocks_lane0_high", 0x58, "-"),
    word32("fc_fec_uncorrectable_blocks_lane0_low", 0x5c, "-"),
    word32("fc_fec_uncorrectable_blocks_lane1_high", 0x60, "-"),
    word32("fc_fec_uncorrectable_blocks_lane1_low", 0x64, "-"),
    word32("fc_fec_uncorrectable_blocks_lane2_high", 0x68, "-"),
    word32("fc_fec_uncorrectable_blocks_lane2_low", 0x6c, "-"),
    word32("fc_fec_uncorrectable_blocks_lane3_high", 0x70, "-"),
    word32("fc_fec_uncorrectable_blocks_lane3_low", 0x74, "-"),
    word32("rs_fec_corrected_blocks_high", 0x78, "-"),
    word32("rs_fec_corrected_blocks_low", 0x7c, "-"),
    word32("rs_fec_uncorrectable_blocks_high", 0x80, "-"),
    word32("rs_fec_uncorrectable_blocks_low", 0x84, "-"),
    word32("rs_fec_no_errors_blocks_high", 0x88, "-"),
    word32("rs_fec_no_errors_blocks_low", 0x8c, "-"),
    word32("rs_fec_single_error_blocks_high", 0x90, "-"),
    word32("rs_fec_single_error_blocks_low", 0x94, "-"),
    word32("rs_fec_corrected_symbols_total_high", 0x98, "-"),
    word32("rs_fec_corrected_symbols_total_low", 0x9c, "-"),
    word32("rs_fec_corrected_symbols_lane0_high", 0xa0, "-"),
    word32("rs_fec_corrected_symbols_lane0_low", 0xa4, "-"),
    word32("rs_fec_corrected_symbols_lane1_high", 0xa8, "-"),
    word32("rs_fec_corrected_symbols_lane1_low", 0xac, "-"),
    word32("rs_fec_corrected_symbols_lane2_high", 0xb0, "-"),
    word32("rs_fec_corrected_symbols_lane2_low", 0xb4, "-"),
    word32("rs_fec_corrected_symbols_lane3_high", 0xb8, "-"),
    word32("rs_fec_corrected_symbols_lane3_low", 0xbc, "-"),
    word32("link_down_events", 0xc0, "-"),
    word32("successful_recovery_events", 0xc4, "-"),
    reserved_bytes(0xc8, 0x30),
};
inline constexpr Layout phys_layer_cntrs{"phys_layer_cntrs", Kind::access_register, 0xf8,
                                         phys_layer_cntrs_fields, "-"};

inline constexpr std::array phys_layer_statistical_cntrs_fields{
    word32("time_since_last_clear_high", 0x0, "-"),
    word32("time_since_last_clear_low", 0x4, "-"),
    word32("phy_received_bits_high", 0x8, "-"),
    word32("phy_received_bits_low", 0xc, "-"),
    word32("phy_symbol_errors_high", 0x10, "-"),
    word32("phy_symbol_errors_low", 0x14, "-"),
    word32("phy_corrected_bits_high", 0x18, "-"),
    word32("phy_corrected_bits_low", 0x1c, "-"),
    word32("phy_corrected_bits_lane0_high", 0x20, "-"),
    word32("phy_corrected_bits_lane0_low", 0x24, "-"),
    word32("phy_corrected_bits_lane1_high", 0x28, "-"),
    word32("phy_corrected_bits_lane1_low", 0x2c, "-"),
    word32("phy_corrected_bits_lane2_high", 0x30, "-"),
    word32("phy_corrected_bits_lane2_low", 0x34, "-"),
    word32("phy_corrected_bits_lane3_high", 0x38, "-"),
    word32("phy_corrected_bits_lane3_low", 0x3c, "-"),
    reserved_bytes(0x40, 0xb8),
};
inline constexpr Layout phys_layer_statistical_cntrs{"phys_layer_statistical_cntrs",
                                                     Kind::access_register, 0xf8,
                                                     phys_layer_statistical_cntrs_fields, "-"};

inline constexpr std::array ppcnt_reg_counter_set_choices{
    &ib_port_cntrs_grp_data_layout, &ib_ext_port_cntrs_grp_data_layout, &phys_layer_cntrs,
    &phys_layer_statistical_cntrs};

inline constexpr std::array ppcnt_reg_fields{
    bits("swid", 0x0, 31, 24, "-"),
    bits("local_port", 0x0, 23, 16, "-"),
    bits("pnat", 0x0, 15, 14, "-"),
    reserved(0x0, 13, 6),
    bits("grp", 0x0, 5, 0, "-"),
    flag("clr", 0x4, 31, "-"),
    reserved(0x4, 30, 12),
    bits("plane_ind", 0x4, 11, 8, "-"),
    reserved(0x4, 7, 5),
    bits("prio_tc", 0x4, 4, 0, "-"),
    choice("counter_set", 0x8, 0xf8, ppcnt_reg_counter_set_choices, "-"),
};
inline constexpr Layout ppcnt_reg{"ppcnt_reg", Kind::access_register, 0x100, ppcnt_reg_fields, "-"};

inline constexpr std::array register_host_endianness_fields{
    flag("he", 0x0, 31, "-"),
    reserved(0x0, 30, 0),
    reserved_bytes(0x4, 0xc),
};
inline constexpr Layout register_host_endianness{"register_host_endianness", Kind::access_register,
                                                 0x10, register_host_endianness_fields, "-"};

inline constexpr std::array set_node_in_fields{
    bytes("node_description", 0x0, 64, "-"),
};
inline constexpr Layout set_node_in{"set_node_in", Kind::access_register, 0x40, set_node_in_fields,
                                    "-"};

inline constexpr std::array default_timeout_fields{
    bits("to_multiplier", 0x0, 31, 29, "-"),
    reserved(0x0, 28, 20),
    bits("to_value", 0x0, 19, 0, "-"),
};
inline constexpr Layout default_timeout{"default_timeout", Kind::access_register, 0x4,
                                        default_timeout_fields, "-"};

inline constexpr std::array dtor_reg_fields{
    reserved_bytes(0x0, 0x4),
    nested("pcie_toggle_to", 0x4, default_timeout, "-"),
    reserved_bytes(0x8, 0xc),
    nested("health_poll_to", 0x14, default_timeout, "-"),
    nested("full_crdump_to", 0x18, default_timeout, "-"),
    nested("fw_reset_to", 0x1c, default_timeout, "-"),
    nested("flush_on_err_to", 0x20, default_timeout, "-"),
    nested("pci_sync_update_to", 0x24, default_timeout, "-"),
    nested("tear_down_to", 0x28, default_timeout, "-"),
    nested("fsm_reactivate_to", 0x2c, default_timeout, "-"),
    nested("reclaim_pages_to", 0x30, default_timeout, "-"),
    nested("reclaim_vfs_pages_to", 0x34, default_timeout, "-"),
    nested("reset_unload_to", 0x38, default_timeout, "-"),
    reserved_bytes(0x3c, 0x4),
};
inline constexpr Layout dtor_reg{"dtor_reg", Kind::access_register, 0x40, dtor_reg_fields, "-"};

inline constexpr std::array plib_reg_fields{
    reserved(0x0, 31, 24),    bits("local_port", 0x0, 23, 16, "-"),
    reserved(0x0, 15, 8),     bits("ib_port", 0x0, 7, 0, "-"),
    reserved_bytes(0x4, 0xc),
};
inline constexpr Layout plib_reg{"plib_reg", Kind::access_register, 0x10, plib_reg_fields, "-"};

inline constexpr std::array pmlp_reg_fields{
    flag("rxtx", 0x0, 31, "-"),
    reserved(0x0, 30, 24),
    bits("local_port", 0x0, 23, 16, "-"),
    reserved(0x0, 15, 8),
    bits("width", 0x0, 7, 0, "-"),
    word32("lane0_module_mapping", 0x4, "-"),
    word32("lane1_module_mapping", 0x8, "-"),
    word32("lane2_module_mapping", 0xc, "-"),
    word32("lane3_module_mapping", 0x10, "-"),
    reserved_bytes(0x14, 0x2c),
};
inline constexpr Layout pmlp_reg{"pmlp_reg", Kind::access_register, 0x40, pmlp_reg_fields, "-"};

inline constexpr std::array lane_2_module_mapping_fields{
    reserved(0x0, 31, 28), bits("rx_lane", 0x0, 27, 24, "-"),
    reserved(0x0, 23, 20), bits("tx_lane", 0x0, 19, 16, "-"),
    reserved(0x0, 15, 8),  bits("module", 0x0, 7, 0, "-"),
};
inline constexpr Layout lane_2_module_mapping{"lane_2_module_mapping", Kind::access_register, 0x4,
                                              lane_2_module_mapping_fields, "-"};

inline constexpr std::array pamp_reg_fields{
    reserved(0x0, 31, 24),
    bits("opamp_group", 0x0, 23, 16, "-"),
    reserved(0x0, 15, 4),
    bits("opamp_group_type", 0x0, 3, 0, "-"),
    bits("start_index", 0x4, 31, 16, "-"),
    reserved(0x4, 15, 12),
    bits("num_of_indices", 0x4, 11, 0, "-"),
    array("index_data", 0x8, 16, 18, "-"),
};
inline constexpr Layout pamp_reg{"pamp_reg", Kind::access_register, 0x2c, pamp_reg_fields, "-"};

inline constexpr std::array mtmp_reg_fields{
    reserved(0x0, 31, 12),
    bits("sensor_index", 0x0, 11, 0, "-"),
    reserved(0x4, 31, 16),
    bits("temperature", 0x4, 15, 0, "-"),
    flag("mte", 0x8, 31, "-"),
    flag("mtr", 0x8, 30, "-"),
    reserved(0x8, 29, 16),
    bits("max_temperature", 0x8, 15, 0, "-"),
    bits("tee", 0xc, 31, 30, "-"),
    reserved(0xc, 29, 16),
    bits("temp_threshold_hi", 0xc, 15, 0, "-"),
    reserved(0x10, 31, 16),
    bits("temp_threshold_lo", 0x10, 15, 0, "-"),
    reserved_bytes(0x14, 0x4),
    word32("sensor_name_hi", 0x18, "-"),
    word32("sensor_name_lo", 0x1c, "-"),
};
inline constexpr Layout mtmp_reg{"mtmp_reg", Kind::access_register, 0x20, mtmp_reg_fields, "-"};

inline constexpr Register access_ptys{"ptys", 0x5004, &ptys_reg, "-"};
inline constexpr Register access_pmtu{"pmtu", 0x5003, &pmtu_reg, "-"};
inline constexpr Register access_pvlc{"pvlc", 0x500f, &pvlc_reg, "-"};
inline constexpr Register access_paos{"paos", 0x5006, &paos_reg, "-"};
inline constexpr Register access_pcap{"pcap", 0x5001, &pcap_reg, "-"};
inline constexpr Register access_ppcnt{"ppcnt", 0x5008, &ppcnt_reg, "-"};
inline constexpr Register access_host_endianness{"host_endianness", 0x7004,
                                                 &register_host_endianness, "-"};
inline constexpr Register access_node_desc{"node_desc", 0x6001, &set_node_in, "-"};
inline constexpr Register access_dtor{"dtor", 0xc00e, &dtor_reg, "-"};
inline constexpr Register access_plib{"plib", 0x500a, &plib_reg, "-"};
inline constexpr Register access_pmlp{"pmlp", 0x5002, &pmlp_reg, "-"};
inline constexpr Register access_mtmp{"mtmp", 0x900a, &mtmp_reg, "-"};

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
                                       .title = "registers",
                                       .meaning = "-",
                                       .layouts = registers_layouts,
                                       .registers = registers_registers};

} // namespace hwtab
