// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Named values of MADs. The names follow the public interface headers where these have them.
#pragma once

#include "hwtab/model.hpp"

#include <array>

namespace hwtab {

inline constexpr std::array mgmt_class_values{
    Value{"subn_lid_routed", 0x1, "Subnet management, LID routed."},
    Value{"subn_adm", 0x3, "Subnet administration."},
    Value{"perf_mgmt", 0x4, "Performance management."},
    Value{"bm", 0x5, "Baseboard management."},
    Value{"device_mgmt", 0x6, "Device management."},
    Value{"cm", 0x7, "Communication management."},
    Value{"snmp", 0x8, "SNMP tunneling."},
    Value{"device_adm", 0x10, "Device administration."},
    Value{"boot_mgmt", 0x11, "Boot management."},
    Value{"bis", 0x12, "Boot information service."},
    Value{"cong_mgmt", 0x21, "Congestion control."},
    Value{"vendor_range2_start", 0x30, "First class of vendors with an OUI."},
    Value{"vendor_range2_end", 0x4f, "Last class of vendors with an OUI."},
    Value{"subn_directed_route", 0x81, "Subnet management, directed route."},
};
inline constexpr Enumeration mgmt_class{"mgmt_class", mgmt_class_values,
                                        "Management class: whom a datagram is for."};

inline constexpr std::array mad_method_values{
    Value{"get", 0x1, "Read an attribute."},
    Value{"set", 0x2, "Write an attribute."},
    Value{"send", 0x3, "Deliver a message without an answer."},
    Value{"trap", 0x5, "Report an event to the manager."},
    Value{"report", 0x6, "Forward an event to a subscriber."},
    Value{"trap_repress", 0x7, "Stop repeating a trap."},
    Value{"get_table", 0x12, "Read all records that match."},
    Value{"get_trace_table", 0x13, "Read the records of a path."},
    Value{"get_multi", 0x14, "Read the paths between several ports."},
    Value{"delete", 0x15, "Delete a record."},
    Value{"get_resp", 0x81, "Answer to get and set."},
    Value{"report_resp", 0x86, "Answer to report."},
    Value{"get_table_resp", 0x92, "Answer to get_table and get_trace_table."},
    Value{"get_multi_resp", 0x94, "Answer to get_multi."},
    Value{"delete_resp", 0x95, "Answer to delete."},
};
inline constexpr Enumeration mad_method{"mad_method", mad_method_values,
                                        "What a datagram asks for; bit 7 marks the answer."};

inline constexpr std::array mad_status_values{
    Value{"success", 0x0, "The request was carried out."},
    Value{"busy", 0x1, "The agent is busy; try again."},
    Value{"redirect_reqd", 0x2, "Ask the port that ClassPortInfo names."},
    Value{"bad_version", 0x4, "The agent knows no such base or class version."},
    Value{"unsupported_method", 0x8, "The agent knows no such method."},
    Value{"unsupported_method_attrib", 0xc,
          "The agent doesn't support the method for the attribute."},
    Value{"invalid_attrib_value", 0x1c, "A field of the attribute or its modifier is invalid."},
};
inline constexpr Enumeration mad_status{"mad_status", mad_status_values,
                                        "Status of an answer that all classes share, bits 4 to 0."};

inline constexpr std::array sa_status_values{
    Value{"success", 0x0, "The request was carried out."},
    Value{"no_resources", 0x100, "The administration lacks resources."},
    Value{"req_invalid", 0x200, "The request is invalid."},
    Value{"no_records", 0x300, "No record matches."},
    Value{"too_many_records", 0x400, "Several records match, one was asked for."},
    Value{"req_invalid_gid", 0x500, "A GID is invalid."},
    Value{"req_insufficient_components", 0x600, "The component mask lacks required fields."},
    Value{"req_denied", 0x700, "The request isn't permitted."},
    Value{"priority_suggested", 0x800, "Granted with another service level than asked for."},
};
inline constexpr Enumeration sa_status{"sa_status", sa_status_values,
                                       "Status that the subnet administration adds, bits 15 to 8."};

inline constexpr std::array smp_attribute_values{
    Value{"notice", 0x2, "Notice."},
    Value{"node_desc", 0x10, "NodeDescription."},
    Value{"node_info", 0x11, "NodeInfo."},
    Value{"switch_info", 0x12, "SwitchInfo."},
    Value{"guid_info", 0x14, "GUIDInfo."},
    Value{"port_info", 0x15, "PortInfo."},
    Value{"pkey_table", 0x16, "P_KeyTable."},
    Value{"sl_to_vl_table", 0x17, "SLtoVLMappingTable."},
    Value{"vl_arb_table", 0x18, "VLArbitrationTable."},
    Value{"linear_forward_table", 0x19, "LinearForwardingTable."},
    Value{"random_forward_table", 0x1a, "RandomForwardingTable."},
    Value{"mcast_forward_table", 0x1b, "MulticastForwardingTable."},
    Value{"sm_info", 0x20, "SMInfo."},
    Value{"vendor_diag", 0x30, "VendorDiag."},
    Value{"led_info", 0x31, "LedInfo."},
    Value{"mlnx_ext_port_info", 0xff90, "ExtendedPortInfo of Mellanox."},
};
inline constexpr Enumeration smp_attribute{"smp_attribute", smp_attribute_values,
                                           "Attributes of subnet management."};

inline constexpr std::array pma_attribute_values{
    Value{"class_port_info", 0x1, "ClassPortInfo."},
    Value{"port_samples_control", 0x10, "PortSamplesControl."},
    Value{"port_samples_result", 0x11, "PortSamplesResult."},
    Value{"port_counters", 0x12, "PortCounters."},
    Value{"port_rcv_error_details", 0x15, "PortRcvErrorDetails."},
    Value{"port_xmit_discard_details", 0x16, "PortXmitDiscardDetails."},
    Value{"port_counters_ext", 0x1d, "PortCountersExtended."},
    Value{"port_samples_result_ext", 0x1e, "PortSamplesResultExtended."},
};
inline constexpr Enumeration pma_attribute{"pma_attribute", pma_attribute_values,
                                           "Attributes of performance management."};

inline constexpr std::array sa_attribute_values{
    Value{"class_portinfo", 0x1, "ClassPortInfo."},
    Value{"notice", 0x2, "Notice."},
    Value{"inform_info", 0x3, "InformInfo."},
    Value{"node_rec", 0x11, "NodeRecord."},
    Value{"port_info_rec", 0x12, "PortInfoRecord."},
    Value{"sl2vl_rec", 0x13, "SLtoVLMappingTableRecord."},
    Value{"switch_rec", 0x14, "SwitchInfoRecord."},
    Value{"linear_fdb_rec", 0x15, "LinearForwardingTableRecord."},
    Value{"random_fdb_rec", 0x16, "RandomForwardingTableRecord."},
    Value{"mcast_fdb_rec", 0x17, "MulticastForwardingTableRecord."},
    Value{"sm_info_rec", 0x18, "SMInfoRecord."},
    Value{"link_rec", 0x20, "LinkRecord."},
    Value{"guid_info_rec", 0x30, "GUIDInfoRecord."},
    Value{"service_rec", 0x31, "ServiceRecord."},
    Value{"partition_rec", 0x33, "P_KeyTableRecord."},
    Value{"path_rec", 0x35, "PathRecord."},
    Value{"vl_arb_rec", 0x36, "VLArbitrationTableRecord."},
    Value{"mc_member_rec", 0x38, "MCMemberRecord."},
    Value{"trace_rec", 0x39, "TraceRecord."},
    Value{"multi_path_rec", 0x3a, "MultiPathRecord."},
    Value{"service_assoc_rec", 0x3b, "ServiceAssociationRecord."},
    Value{"inform_info_rec", 0xf3, "InformInfoRecord."},
};
inline constexpr Enumeration sa_attribute{"sa_attribute", sa_attribute_values,
                                          "Attributes of subnet administration."};

inline constexpr std::array cm_attribute_values{
    Value{"req", 0x10, "Request for communication."},
    Value{"mra", 0x11, "Message receipt acknowledgement."},
    Value{"rej", 0x12, "Reject."},
    Value{"rep", 0x13, "Reply to a request."},
    Value{"rtu", 0x14, "Ready to use."},
    Value{"dreq", 0x15, "Disconnect request."},
    Value{"drep", 0x16, "Disconnect reply."},
    Value{"sidr_req", 0x17, "Service id resolution request."},
    Value{"sidr_rep", 0x18, "Service id resolution reply."},
    Value{"lap", 0x19, "Load alternate path."},
    Value{"apr", 0x1a, "Alternate path response."},
};
inline constexpr Enumeration cm_attribute{"cm_attribute", cm_attribute_values,
                                          "Messages of communication management."};

inline constexpr std::array node_type_values{
    Value{"ca", 1, "Channel adapter."},
    Value{"switch", 2, "Switch."},
    Value{"router", 3, "Router."},
};
inline constexpr Enumeration node_type{"node_type", node_type_values, "Kind of a node."};

inline constexpr std::array link_down_default_state_values{
    Value{"no_change", 0, "No change, when written."},
    Value{"sleep", 1, "To sleep."},
    Value{"polling", 2, "To polling."},
};
inline constexpr Enumeration link_down_default_state{"link_down_default_state",
                                                     link_down_default_state_values,
                                                     "Where a port goes after the link went down."};

inline constexpr std::array link_width_values{
    Value{"1x", 0x1, "One lane."},    Value{"4x", 0x2, "Four lanes."},
    Value{"8x", 0x4, "Eight lanes."}, Value{"12x", 0x8, "Twelve lanes."},
    Value{"2x", 0x10, "Two lanes."},
};
inline constexpr Enumeration link_width{"link_width", link_width_values,
                                        "Number of lanes of a link.", true};

inline constexpr std::array link_speed_values{
    Value{"sdr", 0x1, "2.5 Gb/s."},
    Value{"ddr", 0x2, "5 Gb/s."},
    Value{"qdr", 0x4, "10 Gb/s."},
};
inline constexpr Enumeration link_speed{
    "link_speed", link_speed_values,
    "Data rate of a lane; 0 in LinkSpeedActive means that the extended field says it.", true};

inline constexpr std::array link_speed_ext_values{
    Value{"fdr", 0x1, "14.0625 Gb/s."},
    Value{"edr", 0x2, "25.78125 Gb/s."},
    Value{"hdr", 0x4, "53.125 Gb/s."},
    Value{"ndr", 0x8, "106.25 Gb/s."},
};
inline constexpr Enumeration link_speed_ext{"link_speed_ext", link_speed_ext_values,
                                            "Data rate of a lane above 10 Gb/s.", true};

inline constexpr std::array mtu_code_values{
    Value{"mtu_256", 1, "256 bytes."},   Value{"mtu_512", 2, "512 bytes."},
    Value{"mtu_1024", 3, "1024 bytes."}, Value{"mtu_2048", 4, "2048 bytes."},
    Value{"mtu_4096", 5, "4096 bytes."},
};
inline constexpr Enumeration mtu_code{"mtu_code", mtu_code_values, "Largest payload of a packet."};

inline constexpr std::array vl_cap_values{
    Value{"vl0", 1, "VL 0."},          Value{"vl0_1", 2, "VL 0 and 1."},
    Value{"vl0_3", 3, "VL 0 to 3."},   Value{"vl0_7", 4, "VL 0 to 7."},
    Value{"vl0_14", 5, "VL 0 to 14."},
};
inline constexpr Enumeration vl_cap{"vl_cap", vl_cap_values, "Data virtual lanes of a port."};

inline constexpr std::array rate_code_values{
    Value{"port_current", 0, "Rate of the port."},
    Value{"gbps_2_5", 2, "2.5 Gb/s."},
    Value{"gbps_10", 3, "10 Gb/s."},
    Value{"gbps_30", 4, "30 Gb/s."},
    Value{"gbps_5", 5, "5 Gb/s."},
    Value{"gbps_20", 6, "20 Gb/s."},
    Value{"gbps_40", 7, "40 Gb/s."},
    Value{"gbps_60", 8, "60 Gb/s."},
    Value{"gbps_80", 9, "80 Gb/s."},
    Value{"gbps_120", 10, "120 Gb/s."},
    Value{"gbps_14", 11, "14 Gb/s."},
    Value{"gbps_56", 12, "56 Gb/s."},
    Value{"gbps_112", 13, "112 Gb/s."},
    Value{"gbps_168", 14, "168 Gb/s."},
    Value{"gbps_25", 15, "25 Gb/s."},
    Value{"gbps_100", 16, "100 Gb/s."},
    Value{"gbps_200", 17, "200 Gb/s."},
    Value{"gbps_300", 18, "300 Gb/s."},
    Value{"gbps_28", 19, "28 Gb/s."},
    Value{"gbps_50", 20, "50 Gb/s."},
    Value{"gbps_400", 21, "400 Gb/s."},
    Value{"gbps_600", 22, "600 Gb/s."},
    Value{"gbps_800", 23, "800 Gb/s."},
};
inline constexpr Enumeration rate_code{"rate_code", rate_code_values, "Data rate of a path."};

inline constexpr std::array port_capability_mask_values{
    Value{"sm", 0x2, "A subnet manager runs at the port."},
    Value{"notice_sup", 0x4, "Notices can be read."},
    Value{"trap_sup", 0x8, "The port sends traps."},
    Value{"opt_ipd_sup", 0x10, "Optional inter-packet delays."},
    Value{"auto_migr_sup", 0x20, "Automatic path migration."},
    Value{"sl_map_sup", 0x40, "SL to VL mapping."},
    Value{"mkey_nvram", 0x80, "The M_Key survives power loss."},
    Value{"pkey_nvram", 0x100, "The P_Keys survive power loss."},
    Value{"led_info_sup", 0x200, "LedInfo."},
    Value{"sm_disabled", 0x400, "The subnet manager at the port is disabled."},
    Value{"sys_image_guid_sup", 0x800, "SystemImageGUID."},
    Value{"pkey_sw_ext_port_trap_sup", 0x1000, "P_Key traps of external switch ports."},
    Value{"cable_info_sup", 0x2000, "CableInfo."},
    Value{"extended_speeds_sup", 0x4000, "Extended link speeds."},
    Value{"cap_mask2_sup", 0x8000, "CapabilityMask2."},
    Value{"cm_sup", 1ULL << 16, "Communication management."},
    Value{"snmp_tunnel_sup", 1ULL << 17, "SNMP tunneling."},
    Value{"reinit_sup", 1ULL << 18, "Reinitialization (InitType)."},
    Value{"device_mgmt_sup", 1ULL << 19, "Device management."},
    Value{"vendor_class_sup", 1ULL << 20, "Classes of the vendor."},
    Value{"dr_notice_sup", 1ULL << 21, "Directed-route notices."},
    Value{"cap_mask_notice_sup", 1ULL << 22, "Trap 144 for changed capabilities."},
    Value{"boot_mgmt_sup", 1ULL << 23, "Boot management."},
    Value{"link_latency_sup", 1ULL << 24, "LinkRoundTripLatency."},
    Value{"client_reg_sup", 1ULL << 25, "ClientReregister."},
    Value{"other_local_changes_sup", 1ULL << 26, "Trap 144 for other local changes."},
    Value{"link_speed_width_table_sup", 1ULL << 27, "LinkSpeedWidthPairsTable."},
    Value{"vendor_specific_mads_table_sup", 1ULL << 28, "VendorSpecificMadsTable."},
    Value{"mcast_pkey_trap_suppression_sup", 1ULL << 29,
          "Suppression of P_Key traps for multicast."},
    Value{"mcast_fdb_top_sup", 1ULL << 30, "MulticastFDBTop."},
    Value{"hierarchy_info_sup", 1ULL << 31, "HierarchyInfo."},
};
inline constexpr Enumeration port_capability_mask{
    "port_capability_mask", port_capability_mask_values,
    "What a port supports (PortInfo CapabilityMask).", true};

inline constexpr std::array port_capability_mask2_values{
    Value{"set_node_desc_sup", 0x1, "NodeDescription can be set."},
    Value{"ex_port_info_ex_sup", 0x2, "PortInfoExtended."},
    Value{"virt_sup", 0x4, "Virtual ports."},
    Value{"switch_port_state_table_sup", 0x8, "SwitchPortStateTable."},
    Value{"link_width_2x_sup", 0x10, "Links of two lanes."},
    Value{"link_speed_hdr_sup", 0x20, "53.125 Gb/s per lane."},
    Value{"link_speed_ndr_sup", 0x400, "106.25 Gb/s per lane."},
    Value{"extended_speeds2_sup", 0x800, "Second set of extended link speeds."},
    Value{"link_speed_xdr_sup", 0x1000, "212.5 Gb/s per lane."},
};
inline constexpr Enumeration port_capability_mask2{
    "port_capability_mask2", port_capability_mask2_values,
    "What a port supports beyond CapabilityMask (PortInfo CapabilityMask2).", true};

inline constexpr std::array init_type_values{
    Value{"no_load", 0x1, "Data is not loaded again."},
    Value{"preserve_content", 0x2, "Keep the content of data that was loaded."},
    Value{"preserve_presence", 0x4, "Keep multicast memberships and subscriptions."},
    Value{"do_not_resuscitate", 0x8, "Don't initialize the port again."},
};
inline constexpr Enumeration init_type{
    "init_type", init_type_values,
    "What the manager shall keep, and has kept, when it initializes a port again.", true};

inline constexpr std::array m_key_protect_values{
    Value{"read_all_with_key", 0, "Get shows everything, the key included; Set needs the key."},
    Value{"read_all_without_key", 1,
          "Get without the key shows the M_Key as 0; Set needs the key."},
    Value{"no_access", 2, "Get and Set need the key."},
    Value{"no_access_lease_never_expires", 3, "Get and Set need the key."},
};
inline constexpr Enumeration m_key_protect{"m_key_protect", m_key_protect_values,
                                           "Who may read and write without the M_Key."};

inline constexpr std::array notice_type_values{
    Value{"fatal", 0, "Fatal."},       Value{"urgent", 1, "Urgent."},
    Value{"security", 2, "Security."}, Value{"sm", 3, "For subnet management."},
    Value{"info", 4, "Information."},  Value{"empty", 0x7f, "No notice."},
};
inline constexpr Enumeration notice_type{"notice_type", notice_type_values,
                                         "How grave an event is."};

inline constexpr std::array notice_producer_values{
    Value{"ca", 1, "Channel adapter."},
    Value{"switch", 2, "Switch."},
    Value{"router", 3, "Router."},
    Value{"class_mgr", 4, "Manager of a class."},
};
inline constexpr Enumeration notice_producer{"notice_producer", notice_producer_values,
                                             "Kind of node that reports an event."};

inline constexpr std::array trap_number_values{
    Value{"gid_in_service", 64, "A port came into service."},
    Value{"gid_out_of_service", 65, "A port went out of service."},
    Value{"multicast_group_created", 66, "A multicast group was created."},
    Value{"multicast_group_deleted", 67, "A multicast group was deleted."},
    Value{"unpath", 68, "A path became invalid."},
    Value{"repath", 69, "A path is to be asked for again."},
    Value{"link_state_change", 128, "The state of a link of a switch changed."},
    Value{"local_link_integrity", 129, "Too many local link integrity errors."},
    Value{"excessive_buffer_overrun", 130, "Too many buffer overruns."},
    Value{"flow_control_update", 131, "Flow control updates stayed away."},
    Value{"local_change", 144, "Capabilities or other settings of a port changed."},
    Value{"system_image_guid_change", 145, "SystemImageGUID changed."},
    Value{"bad_m_key", 256, "A datagram had a wrong M_Key."},
    Value{"bad_p_key", 257, "A packet had a wrong P_Key."},
    Value{"bad_q_key", 258, "A packet had a wrong Q_Key."},
    Value{"switch_bad_p_key", 259, "A packet at a switch port had a wrong P_Key."},
};
inline constexpr Enumeration trap_number{"trap_number", trap_number_values,
                                         "Generic events of subnet management."};

inline constexpr std::array trap_144_changes_values{
    Value{"node_description", 0x1, "NodeDescription."},
    Value{"link_width_enabled", 0x2, "LinkWidthEnabled."},
    Value{"link_speed_enabled", 0x4, "LinkSpeedEnabled."},
    Value{"sm_priority", 0x8, "Priority of the subnet manager."},
    Value{"hierarchy_info", 0x10, "HierarchyInfo."},
    Value{"capability_mask2", 0x20, "CapabilityMask2."},
};
inline constexpr Enumeration trap_144_changes{"trap_144_changes", trap_144_changes_values,
                                              "What changed beside the capabilities (trap 144).",
                                              true};

inline constexpr std::array sm_state_values{
    Value{"not_active", 0, "Not active."},
    Value{"discovering", 1, "Discovering the subnet."},
    Value{"standby", 2, "Standby."},
    Value{"master", 3, "Master of the subnet."},
};
inline constexpr Enumeration sm_state{"sm_state", sm_state_values, "State of a subnet manager."};

inline constexpr std::array sm_info_modifier_values{
    Value{"handover", 1, "Become master."},
    Value{"acknowledge", 2, "The handover is accepted."},
    Value{"disable", 3, "Become not active."},
    Value{"standby", 4, "Become standby."},
    Value{"discover", 5, "Start again with discovery."},
};
inline constexpr Enumeration sm_info_modifier{
    "sm_info_modifier", sm_info_modifier_values,
    "what Set(SMInfo) reports to a subnet manager (attribute modifier)."};

inline constexpr std::array class_port_info_capability_values{
    Value{"trap", 0x1, "The class sends traps."},
    Value{"get_set_notice", 0x2, "Notices can be read and written."},
    Value{"cap_mask2", 0x4, "CapabilityMask2 is valid."},
};
inline constexpr Enumeration class_port_info_capability{
    "class_port_info_capability", class_port_info_capability_values,
    "What every class can announce (ClassPortInfo CapabilityMask).", true};

inline constexpr std::array pma_capability_values{
    Value{"all_port_select", 0x100, "Port 255 selects all ports."},
    Value{"ext_width", 0x200, "PortCountersExtended with all counters."},
    Value{"ext_width_no_ietf", 0x400,
          "PortCountersExtended without unicast and multicast counters."},
    Value{"samples_only", 0x800, "SamplesOnlyOptionMask is valid."},
    Value{"xmit_wait", 0x1000, "PortCounters has port_xmit_wait."},
};
inline constexpr Enumeration pma_capability{
    "pma_capability", pma_capability_values,
    "What performance management announces (ClassPortInfo CapabilityMask).", true};

inline constexpr std::array pma_sample_status_values{
    Value{"done", 0, "Finished, or never started."},
    Value{"started", 1, "Waits for the start interval to pass."},
    Value{"running", 2, "Sampling."},
};
inline constexpr Enumeration pma_sample_status{"pma_sample_status", pma_sample_status_values,
                                               "State of sampling."};

inline constexpr std::array pma_counter_select_values{
    Value{"symbol_error", 0x1, "symbol_error_counter."},
    Value{"link_error_recovery", 0x2, "link_error_recovery_counter."},
    Value{"link_downed", 0x4, "link_downed_counter."},
    Value{"port_rcv_errors", 0x8, "port_rcv_errors."},
    Value{"port_rcv_remphys_errors", 0x10, "port_rcv_remote_physical_errors."},
    Value{"port_rcv_switch_relay_errors", 0x20, "port_rcv_switch_relay_errors."},
    Value{"port_xmit_discards", 0x40, "port_xmit_discards."},
    Value{"port_xmit_constraint_errors", 0x80, "port_xmit_constraint_errors."},
    Value{"port_rcv_constraint_errors", 0x100, "port_rcv_constraint_errors."},
    Value{"local_link_integrity_errors", 0x200, "local_link_integrity_errors."},
    Value{"excessive_buffer_overruns", 0x400, "excessive_buffer_overrun_errors."},
    Value{"port_vl15_dropped", 0x800, "vl15_dropped."},
    Value{"port_xmit_data", 0x1000, "port_xmit_data."},
    Value{"port_rcv_data", 0x2000, "port_rcv_data."},
    Value{"port_xmit_packets", 0x4000, "port_xmit_pkts."},
    Value{"port_rcv_packets", 0x8000, "port_rcv_pkts."},
};
inline constexpr Enumeration pma_counter_select{"pma_counter_select", pma_counter_select_values,
                                                "Counters that Set(PortCounters) concerns.", true};

inline constexpr std::array pma_counter_select2_values{
    Value{"port_xmit_wait", 0x1, "port_xmit_wait."},
};
inline constexpr Enumeration pma_counter_select2{
    "pma_counter_select2", pma_counter_select2_values,
    "Counters that Set(PortCounters) concerns beyond CounterSelect.", true};

inline constexpr std::array pma_counter_select_ext_values{
    Value{"port_xmit_data", 0x1, "port_xmit_data."},
    Value{"port_rcv_data", 0x2, "port_rcv_data."},
    Value{"port_xmit_packets", 0x4, "port_xmit_pkts."},
    Value{"port_rcv_packets", 0x8, "port_rcv_pkts."},
    Value{"port_uni_xmit_packets", 0x10, "port_unicast_xmit_pkts."},
    Value{"port_uni_rcv_packets", 0x20, "port_unicast_rcv_pkts."},
    Value{"port_multi_xmit_packets", 0x40, "port_multicast_xmit_pkts."},
    Value{"port_multi_rcv_packets", 0x80, "port_multicast_rcv_pkts."},
};
inline constexpr Enumeration pma_counter_select_ext{
    "pma_counter_select_ext", pma_counter_select_ext_values,
    "Counters that Set(PortCountersExtended) concerns.", true};

inline constexpr std::array pma_sample_counter_values{
    Value{"none", 0, "Nothing."},
    Value{"port_xmit_data", 1, "Data sent, in units of 4 bytes."},
    Value{"port_rcv_data", 2, "Data received, in units of 4 bytes."},
    Value{"port_xmit_pkts", 3, "Packets sent."},
    Value{"port_rcv_pkts", 4, "Packets received."},
    Value{"port_xmit_wait", 5, "Ticks with data to send and no credit."},
};
inline constexpr Enumeration pma_sample_counter{
    "pma_sample_counter", pma_sample_counter_values,
    "Quantities that sampling can count (CounterSelect of PortSamplesControl)."};

inline constexpr std::array rmpp_type_values{
    Value{"none", 0, "The datagram is no segment."},
    Value{"data", 1, "Data."},
    Value{"ack", 2, "Acknowledgement."},
    Value{"stop", 3, "The receiver lacks resources."},
    Value{"abort", 4, "The transfer ends with an error."},
};
inline constexpr Enumeration rmpp_type{"rmpp_type", rmpp_type_values,
                                       "Kind of a segment of a long message."};

inline constexpr std::array rmpp_flags_values{
    Value{"active", 0x1, "The message has segments."},
    Value{"first", 0x2, "First segment."},
    Value{"last", 0x4, "Last segment."},
};
inline constexpr Enumeration rmpp_flags{"rmpp_flags", rmpp_flags_values,
                                        "Place of a segment in a long message.", true};

inline constexpr std::array rmpp_status_values{
    Value{"success", 0, "It did not end, or it succeeded."},
    Value{"resx", 1, "Resources exhausted."},
    Value{"t2l", 118, "The whole transfer took too long."},
    Value{"bad_len", 119, "Last segment and payload length don't agree."},
    Value{"bad_seg", 120, "First segment and segment number don't agree."},
    Value{"badt", 121, "Unknown type."},
    Value{"w2s", 122, "The window is smaller than the segment number acknowledged."},
    Value{"s2b", 123, "Acknowledgement for a segment that was never sent."},
    Value{"bad_status", 124, "Unknown status."},
    Value{"unv", 125, "Unknown version."},
    Value{"tmr", 126, "Too many retries."},
    Value{"unspec", 127, "Another reason."},
};
inline constexpr Enumeration rmpp_status{"rmpp_status", rmpp_status_values,
                                         "Why a transfer ended."};

inline constexpr std::array sa_selector_values{
    Value{"gt", 0, "Greater than."},
    Value{"lt", 1, "Less than."},
    Value{"eq", 2, "Equal."},
    Value{"best", 3, "The best available."},
};
inline constexpr Enumeration sa_selector{
    "sa_selector", sa_selector_values, "How a value of a record is compared with that of a query."};

inline constexpr std::array mc_join_state_values{
    Value{"full_member", 0x1, "Full member."},
    Value{"non_member", 0x2, "Non-member: receives while others are members."},
    Value{"send_only_non_member", 0x4, "Sends only; doesn't keep the group alive."},
    Value{"send_only_full_member", 0x8, "Sends only; keeps the group alive."},
};
inline constexpr Enumeration mc_join_state{"mc_join_state", mc_join_state_values,
                                           "Kinds of membership in a multicast group.", true};

inline constexpr std::array path_record_component_values{
    Value{"service_id", 0x3, "Field service_id."},
    Value{"dgid", 0x4, "Field dgid."},
    Value{"sgid", 0x8, "Field sgid."},
    Value{"dlid", 0x10, "Field dlid."},
    Value{"slid", 0x20, "Field slid."},
    Value{"raw_traffic", 0x40, "Field raw_traffic."},
    Value{"flow_label", 0x100, "Field flow_label."},
    Value{"hop_limit", 0x200, "Field hop_limit."},
    Value{"tclass", 0x400, "Field tclass."},
    Value{"reversible", 0x800, "Field reversible."},
    Value{"numb_path", 0x1000, "Field numb_path."},
    Value{"p_key", 0x2000, "Field p_key."},
    Value{"qos_class", 0x4000, "Field qos_class."},
    Value{"sl", 0x8000, "Field sl."},
    Value{"mtu_selector", 1ULL << 16, "Field mtu_selector."},
    Value{"mtu", 1ULL << 17, "Field mtu."},
    Value{"rate_selector", 1ULL << 18, "Field rate_selector."},
    Value{"rate", 1ULL << 19, "Field rate."},
    Value{"packet_life_time_selector", 1ULL << 20, "Field packet_life_time_selector."},
    Value{"packet_life_time", 1ULL << 21, "Field packet_life_time."},
    Value{"preference", 1ULL << 22, "Field preference."},
};
inline constexpr Enumeration path_record_component{
    "path_record_component", path_record_component_values,
    "Fields of PathRecord in a component mask.", true};

inline constexpr std::array mc_member_record_component_values{
    Value{"mgid", 0x1, "Field mgid."},
    Value{"port_gid", 0x2, "Field port_gid."},
    Value{"q_key", 0x4, "Field q_key."},
    Value{"mlid", 0x8, "Field mlid."},
    Value{"mtu_selector", 0x10, "Field mtu_selector."},
    Value{"mtu", 0x20, "Field mtu."},
    Value{"tclass", 0x40, "Field tclass."},
    Value{"p_key", 0x80, "Field p_key."},
    Value{"rate_selector", 0x100, "Field rate_selector."},
    Value{"rate", 0x200, "Field rate."},
    Value{"packet_life_time_selector", 0x400, "Field packet_life_time_selector."},
    Value{"packet_life_time", 0x800, "Field packet_life_time."},
    Value{"sl", 0x1000, "Field sl."},
    Value{"flow_label", 0x2000, "Field flow_label."},
    Value{"hop_limit", 0x4000, "Field hop_limit."},
    Value{"scope", 0x8000, "Field scope."},
    Value{"join_state", 1ULL << 16, "Field join_state."},
    Value{"proxy_join", 1ULL << 17, "Field proxy_join."},
};
inline constexpr Enumeration mc_member_record_component{
    "mc_member_record_component", mc_member_record_component_values,
    "Fields of MCMemberRecord in a component mask.", true};

inline constexpr std::array cm_reject_reason_values{
    Value{"no_qp", 1, "No queue pair is free."},
    Value{"no_eec", 2, "No end-to-end context is free."},
    Value{"no_resources", 3, "Other resources are lacking."},
    Value{"timeout", 4, "No answer in time."},
    Value{"unsupported", 5, "The request asks for something unsupported."},
    Value{"invalid_comm_id", 6, "Unknown communication id."},
    Value{"invalid_comm_instance", 7, "The ids don't belong to the same connection."},
    Value{"invalid_service_id", 8, "No process listens at the service id."},
    Value{"invalid_transport_type", 9, "The transport service type doesn't fit."},
    Value{"stale_conn", 10, "The other side thinks that it is connected already."},
    Value{"rdc_not_exist", 11, "The reliable datagram channel doesn't exist."},
    Value{"invalid_gid", 12, "Primary path: GID."},
    Value{"invalid_lid", 13, "Primary path: LID."},
    Value{"invalid_sl", 14, "Primary path: service level."},
    Value{"invalid_traffic_class", 15, "Primary path: traffic class."},
    Value{"invalid_hop_limit", 16, "Primary path: hop limit."},
    Value{"invalid_packet_rate", 17, "Primary path: packet rate."},
    Value{"invalid_alt_gid", 18, "Alternate path: GID."},
    Value{"invalid_alt_lid", 19, "Alternate path: LID."},
    Value{"invalid_alt_sl", 20, "Alternate path: service level."},
    Value{"invalid_alt_traffic_class", 21, "Alternate path: traffic class."},
    Value{"invalid_alt_hop_limit", 22, "Alternate path: hop limit."},
    Value{"invalid_alt_packet_rate", 23, "Alternate path: packet rate."},
    Value{"port_cm_redirect", 24, "Ask the communication manager of another port."},
    Value{"port_redirect", 25, "Connect to another port."},
    Value{"invalid_mtu", 26, "The path MTU is too large."},
    Value{"insufficient_resp_resources", 27, "Too many RDMA reads and atomics were asked for."},
    Value{"consumer_defined", 28, "The consumer rejected; see the private data."},
    Value{"invalid_rnr_retry", 29, "The RNR retry count is unacceptable."},
    Value{"duplicate_local_comm_id", 30, "The communication id is in use already."},
    Value{"invalid_class_version", 31, "Unknown class version."},
    Value{"invalid_flow_label", 32, "Primary path: flow label."},
    Value{"invalid_alt_flow_label", 33, "Alternate path: flow label."},
    Value{"vendor_option_not_supported", 35, "An option of the vendor is unsupported."},
};
inline constexpr Enumeration cm_reject_reason{"cm_reject_reason", cm_reject_reason_values,
                                              "Why communication management rejected."};

inline constexpr std::array cm_mra_message_values{
    Value{"req", 0, "Request for communication."},
    Value{"rep", 1, "Reply to a request."},
    Value{"lap", 2, "Load alternate path."},
};
inline constexpr Enumeration cm_mra_message{"cm_mra_message", cm_mra_message_values,
                                            "Message whose receipt is acknowledged."};

inline constexpr std::array cm_rej_message_values{
    Value{"req", 0, "Request for communication."},
    Value{"rep", 1, "Reply to a request."},
    Value{"other", 2, "No message, or another."},
};
inline constexpr Enumeration cm_rej_message{"cm_rej_message", cm_rej_message_values,
                                            "Message that is rejected."};

inline constexpr std::array cm_transport_service_type_values{
    Value{"rc", 0, "Reliable connected."},
    Value{"uc", 1, "Unreliable connected."},
    Value{"rd", 2, "Reliable datagram."},
    Value{"extended", 3, "See extended_transport_type."},
};
inline constexpr Enumeration cm_transport_service_type{
    "cm_transport_service_type", cm_transport_service_type_values, "Transport of a connection."};

inline constexpr std::array cm_extended_transport_type_values{
    Value{"none", 0, "None."},
    Value{"xrc", 1, "Extended reliable connected."},
};
inline constexpr Enumeration cm_extended_transport_type{
    "cm_extended_transport_type", cm_extended_transport_type_values,
    "Transport of a connection beyond the basic ones."};

inline constexpr std::array cm_failover_values{
    Value{"accepted", 0, "Accepted."},
    Value{"not_supported", 1, "Failover is not supported."},
    Value{"rejected", 2, "Supported, but the path is not acceptable."},
};
inline constexpr Enumeration cm_failover{"cm_failover", cm_failover_values,
                                         "What became of the alternate path of a request."};

inline constexpr std::array cm_apr_status_values{
    Value{"success", 0, "The alternate path is loaded."},
    Value{"invalid_comm_id", 1, "Unknown communication id."},
    Value{"unsupported", 2, "Alternate paths are unsupported."},
    Value{"reject", 3, "The path was rejected."},
    Value{"redirect", 4, "Use another port."},
    Value{"is_current", 5, "The path is loaded already."},
    Value{"invalid_qpn_eecn", 6, "Queue pair or end-to-end context."},
    Value{"invalid_lid", 7, "LID."},
    Value{"invalid_gid", 8, "GID."},
    Value{"invalid_flow_label", 9, "Flow label."},
    Value{"invalid_tclass", 10, "Traffic class."},
    Value{"invalid_hop_limit", 11, "Hop limit."},
    Value{"invalid_packet_rate", 12, "Packet rate."},
    Value{"invalid_sl", 13, "Service level."},
};
inline constexpr Enumeration cm_apr_status{"cm_apr_status", cm_apr_status_values,
                                           "Result of loading an alternate path."};

inline constexpr std::array cm_sidr_status_values{
    Value{"success", 0, "The service is available at the queue pair."},
    Value{"unsupported", 1, "No process offers the service."},
    Value{"reject", 2, "The service provider rejected."},
    Value{"no_qp", 3, "No queue pair is free."},
    Value{"redirect", 4, "Ask another port."},
    Value{"unsupported_version", 5, "Unknown class version."},
};
inline constexpr Enumeration cm_sidr_status{"cm_sidr_status", cm_sidr_status_values,
                                            "Result of a service id resolution."};

} // namespace hwtab
