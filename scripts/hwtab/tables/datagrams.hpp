// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// MADs: headers, attributes of subnet management, performance management
/// and subnet administration, messages of communication management. Names of fields are those of
/// the InfiniBand Architecture Specification. Where a 24-bit number crosses a 32-bit word, its two
/// parts are fields of their own.
#pragma once

#include "hwtab/model.hpp"
#include "tables/contexts.hpp"
#include "tables/datagram_values.hpp"
#include "tables/object_values.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace hwtab {

namespace detail {

/// The fields of `first`, then those of `second`.
template <std::size_t m, std::size_t n>
consteval std::array<Field, m + n> joined(const std::array<Field, m>& first,
                                          const std::array<Field, n>& second) {
    std::array<Field, m + n> all{};
    std::ranges::copy(first, all.begin());
    std::ranges::copy(second, all.begin() + m);
    return all;
}

/// The header of all datagrams except directed-route SMPs.
/// @param attributes names the attributes of the class; nullptr: of any class.
consteval auto mad_header_fields(const Enumeration* attributes) {
    return std::array{
        bits("base_version", 0x0, 31, 24, "Version of this header; 1."),
        bits("mgmt_class", 0x0, 23, 16, "Class; says what follows.", &mgmt_class),
        bits("class_version", 0x0, 15, 8,
             "Version of the class; 1, for administration and "
             "communication management 2."),
        bits("method", 0x0, 7, 0, "What is asked for.", &mad_method),
        bits("status", 0x4, 31, 16, "Status of an answer; bits 15 to 8 depend on the class.",
             &mad_status),
        bits("class_specific", 0x4, 15, 0, "Depends on the class; 0 in most."),
        word64("transaction_id", 0x8, "Number that the answer repeats."),
        bits("attribute_id", 0x10, 31, 16, "Attribute or message that the data holds.", attributes),
        reserved(0x10, 15, 0),
        word32("attribute_modifier", 0x14, "Part of the attribute, for example a port or a block."),
    };
}

} // namespace detail

// Attributes of subnet management (64 bytes of an SMP).

inline constexpr std::array notice_header_fields{
    flag("is_generic", 0x0, 31, "The event is defined by the specification, not by a vendor."),
    bits("type", 0x0, 30, 24, "How grave the event is.", &notice_type),
    bits("producer_type", 0x0, 23, 0, "Kind of node that reports the event.", &notice_producer),
    alias(bits("vendor_id", 0x0, 23, 0, "OUI of the vendor that defined the event.")),
    bits("trap_number", 0x4, 31, 16, "Event.", &trap_number),
    alias(bits("device_id", 0x4, 31, 16, "Device for which the vendor defined the event.")),
    bits("issuer_lid", 0x4, 15, 0, "LID of the port that reports the event."),
    flag("notice_toggle", 0x8, 31, "Turns over with every new notice."),
    bits("notice_count", 0x8, 30, 16, "Notices that wait."),
};

inline constexpr std::array notice_fields = detail::joined(
    notice_header_fields, std::array{
                              bytes("data_details", 0xa, 54, "Details of the event."),
                          });
inline constexpr Layout notice{"notice", Kind::datagram, 0x40, notice_fields,
                               "Notice: an event; the details depend on the event."};

inline constexpr std::array notice_trap_64_67_fields = detail::joined(
    notice_header_fields, std::array{
                              reserved(0x8, 15, 0),
                              reserved_bytes(0xc, 0x4),
                              bytes("gid_addr", 0x10, 16, "GID of the port or of the group."),
                              reserved_bytes(0x20, 0x20),
                          });
inline constexpr Layout notice_trap_64_67{
    "notice_trap_64_67", Kind::datagram, 0x40, notice_trap_64_67_fields,
    "Notice of traps 64 to 67: a port or a multicast group came or went."};

inline constexpr std::array notice_trap_128_fields =
    detail::joined(notice_header_fields, std::array{
                                             bits("lid_addr", 0x8, 15, 0, "LID of the switch."),
                                             reserved_bytes(0xc, 0x34),
                                         });
inline constexpr Layout notice_trap_128{
    "notice_trap_128", Kind::datagram, 0x40, notice_trap_128_fields,
    "Notice of trap 128: the state of a link of a switch changed."};

inline constexpr std::array notice_trap_129_131_fields =
    detail::joined(notice_header_fields, std::array{
                                             reserved(0x8, 15, 0),
                                             bits("lid_addr", 0xc, 31, 16, "LID of the node."),
                                             bits("port_no", 0xc, 15, 8, "Port of the node."),
                                             reserved(0xc, 7, 0),
                                             reserved_bytes(0x10, 0x30),
                                         });
inline constexpr Layout notice_trap_129_131{
    "notice_trap_129_131", Kind::datagram, 0x40, notice_trap_129_131_fields,
    "Notice of traps 129 to 131: a port has too many errors."};

inline constexpr std::array notice_trap_144_fields = detail::joined(
    notice_header_fields,
    std::array{
        reserved(0x8, 15, 0),
        bits("lid_addr", 0xc, 31, 16, "LID of the port."),
        reserved(0xc, 15, 1),
        flag("other_local_changes", 0xc, 0, "One of the changes below happened."),
        word32("capability_mask", 0x10, "CapabilityMask after the change.", &port_capability_mask),
        reserved(0x14, 31, 22),
        bits("changes", 0x14, 21, 16, "What changed beside CapabilityMask.", &trap_144_changes),
        bits("capability_mask2", 0x14, 15, 0, "CapabilityMask2 after the change.",
             &port_capability_mask2),
        reserved_bytes(0x18, 0x28),
    });
inline constexpr Layout notice_trap_144{"notice_trap_144", Kind::datagram, 0x40,
                                        notice_trap_144_fields,
                                        "Notice of trap 144: settings of a port changed."};

inline constexpr std::array notice_trap_145_fields =
    detail::joined(notice_header_fields,
                   std::array{
                       reserved(0x8, 15, 0),
                       bits("lid_addr", 0xc, 31, 16, "LID of the port."),
                       reserved(0xc, 15, 0),
                       word64("system_image_guid", 0x10, "SystemImageGUID after the change."),
                       reserved_bytes(0x18, 0x28),
                   });
inline constexpr Layout notice_trap_145{"notice_trap_145", Kind::datagram, 0x40,
                                        notice_trap_145_fields,
                                        "Notice of trap 145: SystemImageGUID changed."};

inline constexpr std::array notice_trap_256_fields = detail::joined(
    notice_header_fields,
    std::array{
        reserved(0x8, 15, 0),
        bits("lid_addr", 0xc, 31, 16, "LID that sent the datagram."),
        bits("dr_slid", 0xc, 15, 0, "DrSLID of the datagram, if it was directed-route."),
        bits("method", 0x10, 31, 24, "Method of the datagram.", &mad_method),
        reserved(0x10, 23, 16),
        bits("attribute_id", 0x10, 15, 0, "Attribute of the datagram.", &smp_attribute),
        word32("attribute_modifier", 0x14, "Attribute modifier of the datagram."),
        word64("m_key", 0x18, "M_Key of the datagram."),
        reserved(0x20, 31, 24),
        flag("dr_notice", 0x20, 23, "The datagram was directed-route."),
        flag("dr_path_truncated", 0x20, 22, "The path below is incomplete."),
        bits("dr_hop_count", 0x20, 21, 16, "Hops of the path."),
        bytes("dr_notice_return_path", 0x22, 30, "Path on which the datagram came."),
    });
inline constexpr Layout notice_trap_256{"notice_trap_256", Kind::datagram, 0x40,
                                        notice_trap_256_fields,
                                        "Notice of trap 256: a datagram had a wrong M_Key."};

inline constexpr std::array notice_trap_257_258_fields = detail::joined(
    notice_header_fields, std::array{
                              reserved(0x8, 15, 0),
                              bits("lid_addr1", 0xc, 31, 16, "Source LID of the packet."),
                              bits("lid_addr2", 0xc, 15, 0, "Destination LID of the packet."),
                              word32("key", 0x10, "The wrong key."),
                              bits("sl", 0x14, 31, 28, "Service level of the packet."),
                              reserved(0x14, 27, 24),
                              bits("qp1", 0x14, 23, 0, "Queue pair that sent the packet."),
                              reserved(0x18, 31, 24),
                              bits("qp2", 0x18, 23, 0, "Queue pair that received the packet."),
                              bytes("gid_addr1", 0x1c, 16, "Source GID, or 0."),
                              bytes("gid_addr2", 0x2c, 16, "Destination GID, or 0."),
                              reserved_bytes(0x3c, 0x4),
                          });
inline constexpr Layout notice_trap_257_258{
    "notice_trap_257_258", Kind::datagram, 0x40, notice_trap_257_258_fields,
    "Notice of traps 257 and 258: a packet had a wrong P_Key or Q_Key."};

inline constexpr std::array notice_trap_259_fields = detail::joined(
    notice_header_fields,
    std::array{
        bits("data_valid", 0x8, 15, 0, "Bit mask of the details that are known."),
        bits("lid_addr1", 0xc, 31, 16, "Source LID of the packet."),
        bits("lid_addr2", 0xc, 15, 0, "Destination LID of the packet."),
        bits("p_key", 0x10, 31, 16, "The wrong key."),
        bits("sl", 0x10, 15, 12, "Service level of the packet."),
        reserved(0x10, 11, 8),
        bits("qp1_high", 0x10, 7, 0, "Queue pair that sent the packet, bits 23 to 16."),
        bits("qp1_low", 0x14, 31, 16, "Queue pair that sent the packet, bits 15 to 0."),
        reserved(0x14, 15, 8),
        bits("qp2_high", 0x14, 7, 0, "Queue pair that should receive the packet, bits 23 to 16."),
        bits("qp2_low", 0x18, 31, 16, "Queue pair that should receive the packet, bits 15 to 0."),
        bytes("gid_addr1", 0x1a, 16, "Source GID, or 0."),
        bytes("gid_addr2", 0x2a, 16, "Destination GID, or 0."),
        bits("sw_lid_addr", 0x38, 15, 0, "LID of the switch."),
        bits("port_no", 0x3c, 31, 24, "Port of the switch."),
        reserved(0x3c, 23, 0),
    });
inline constexpr Layout notice_trap_259{
    "notice_trap_259", Kind::datagram, 0x40, notice_trap_259_fields,
    "Notice of trap 259: a packet at a switch port had a wrong P_Key."};

inline constexpr std::array node_description_fields{
    bytes("node_string", 0x0, 64, "UTF-8 text, padded with zeros."),
};
inline constexpr Layout node_description{"node_description", Kind::datagram, 0x40,
                                         node_description_fields,
                                         "NodeDescription: the name of a node."};

inline constexpr std::array node_info_fields{
    bits("base_version", 0x0, 31, 24, "Version of the MAD base header that the node supports."),
    bits("class_version", 0x0, 23, 16, "Version of subnet management that the node supports."),
    bits("node_type", 0x0, 15, 8, "Kind of node.", &node_type),
    bits("num_ports", 0x0, 7, 0, "Physical ports, port 0 of a switch excluded."),
    word64("system_image_guid", 0x4, "GUID that all parts of one system share."),
    word64("node_guid", 0xc, "GUID of the node."),
    word64("port_guid", 0x14, "GUID of the port that answers."),
    bits("partition_cap", 0x1c, 31, 16, "Entries of the P_Key table."),
    bits("device_id", 0x1c, 15, 0, "Device number that the vendor gave."),
    word32("revision", 0x20, "Revision of the device."),
    bits("local_port_num", 0x24, 31, 24, "Port that received the request."),
    bits("vendor_id", 0x24, 23, 0, "OUI of the vendor."),
};
inline constexpr Layout node_info{"node_info", Kind::datagram, 0x28, node_info_fields,
                                  "NodeInfo: what a node is."};

inline constexpr std::array switch_info_fields{
    bits("linear_fdb_cap", 0x0, 31, 16, "Entries of the linear forwarding table."),
    bits("random_fdb_cap", 0x0, 15, 0, "Entries of the random forwarding table."),
    bits("multicast_fdb_cap", 0x4, 31, 16, "Entries of the multicast forwarding table."),
    bits("linear_fdb_top", 0x4, 15, 0, "Highest LID that the linear table forwards."),
    bits("default_port", 0x8, 31, 24, "Port for LIDs that the random table doesn't have."),
    bits("default_multicast_primary_port", 0x8, 23, 16,
         "Port for unknown multicast packets from other ports."),
    bits("default_multicast_not_primary_port", 0x8, 15, 8,
         "Port for unknown multicast packets from the primary port."),
    bits("life_time_value", 0x8, 7, 3,
         "Time that a packet may spend in the switch: 4.096 us shifted left."),
    flag("port_state_change", 0x8, 2, "The state of a port changed; written 1 to clear."),
    bits("optimized_sl_to_vl_mapping_programming", 0x8, 1, 0,
         "Whether one Set can program several SL to VL tables."),
    bits("lids_per_port", 0xc, 31, 16, "LIDs of each port that the random table distinguishes."),
    bits("partition_enforcement_cap", 0xc, 15, 0,
         "Entries of the partition table of each external port."),
    flag("inbound_enforcement_cap", 0x10, 31, "P_Keys of incoming packets can be checked."),
    flag("outbound_enforcement_cap", 0x10, 30, "P_Keys of outgoing packets can be checked."),
    flag("filter_raw_inbound_cap", 0x10, 29, "Incoming raw packets can be dropped."),
    flag("filter_raw_outbound_cap", 0x10, 28, "Outgoing raw packets can be dropped."),
    flag("enhanced_port0", 0x10, 27, "Port 0 has the abilities of a channel adapter port."),
    reserved(0x10, 26, 24),
    reserved(0x10, 23, 16),
    bits("multicast_fdb_top", 0x10, 15, 0, "Highest multicast LID that is forwarded."),
};
inline constexpr Layout switch_info{"switch_info", Kind::datagram, 0x14, switch_info_fields,
                                    "SwitchInfo: what a switch can do."};

inline constexpr std::array guid_info_fields{
    array("guid_block", 0x0, 64, 8, "GUIDs; the first of block 0 is the port's own."),
};
inline constexpr Layout guid_info{"guid_info", Kind::datagram, 0x40, guid_info_fields,
                                  "GUIDInfo: a block of a port's GUID table."};

inline constexpr std::array port_info_fields{
    word64("m_key", 0x0, "Key that protects the settings."),
    word64("gid_prefix", 0x8, "Subnet prefix of the port's GIDs."),
    bits("lid", 0x10, 31, 16, "Base LID of the port."),
    bits("master_sm_lid", 0x10, 15, 0, "LID of the master subnet manager."),
    word32("capability_mask", 0x14, "What the port supports.", &port_capability_mask),
    bits("diag_code", 0x18, 31, 16, "Result of the self-test; 0 is good."),
    bits("m_key_lease_period", 0x18, 15, 0, "Seconds until the protection lapses; 0 is never."),
    bits("local_port_num", 0x1c, 31, 24, "Port that received the request."),
    bits("link_width_enabled", 0x1c, 23, 16,
         "Widths that the link may use; 255 enables all that are supported."),
    bits("link_width_supported", 0x1c, 15, 8, "Widths that the port supports."),
    bits("link_width_active", 0x1c, 7, 0, "Width of the link.", &link_width),
    bits("link_speed_supported", 0x20, 31, 28,
         "Speeds up to 10 Gb/s per lane that the port supports.", &link_speed),
    bits("port_state", 0x20, 27, 24, "Logical state.", &ib_port_state),
    bits("port_physical_state", 0x20, 23, 20, "Physical state.", &ib_port_physical_state),
    bits("link_down_default_state", 0x20, 19, 16, "Where the port goes after the link went down.",
         &link_down_default_state),
    bits("m_key_protect_bits", 0x20, 15, 14, "Who may read and write without the key.",
         &m_key_protect),
    reserved(0x20, 13, 11),
    bits("lmc", 0x20, 10, 8, "Low bits of the LID that the port ignores."),
    bits("link_speed_active", 0x20, 7, 4, "Speed of the link up to 10 Gb/s per lane.", &link_speed),
    bits("link_speed_enabled", 0x20, 3, 0,
         "Speeds that the link may use; 15 enables all that are supported."),
    bits("neighbor_mtu", 0x24, 31, 28, "Largest payload towards the neighbor.", &mtu_code),
    bits("master_sm_sl", 0x24, 27, 24, "Service level to the master subnet manager."),
    bits("vl_cap", 0x24, 23, 20, "Data virtual lanes that the port supports.", &vl_cap),
    bits("init_type", 0x24, 19, 16, "What the manager shall keep at initialization.", &init_type),
    bits("vl_high_limit", 0x24, 15, 8,
         "How much high-priority data may overtake, in units of 4096 bytes."),
    bits("vl_arbitration_high_cap", 0x24, 7, 0, "Entries of the high-priority arbitration table."),
    bits("vl_arbitration_low_cap", 0x28, 31, 24, "Entries of the low-priority arbitration table."),
    bits("init_type_reply", 0x28, 23, 20, "What the manager has kept.", &init_type),
    bits("mtu_cap", 0x28, 19, 16, "Largest payload that the port supports.", &mtu_code),
    bits("vl_stall_count", 0x28, 15, 13,
         "Packets dropped in a row before a lane counts as stalled."),
    bits("hoq_life", 0x28, 12, 8,
         "Time that a packet may wait at the head of the queue: 4.096 us shifted left."),
    bits("operational_vls", 0x28, 7, 4, "Data virtual lanes in use.", &vl_cap),
    flag("partition_enforcement_inbound", 0x28, 3, "P_Keys of incoming packets are checked."),
    flag("partition_enforcement_outbound", 0x28, 2, "P_Keys of outgoing packets are checked."),
    flag("filter_raw_inbound", 0x28, 1, "Incoming raw packets are dropped."),
    flag("filter_raw_outbound", 0x28, 0, "Outgoing raw packets are dropped."),
    bits("m_key_violations", 0x2c, 31, 16, "Datagrams with a wrong M_Key."),
    bits("p_key_violations", 0x2c, 15, 0, "Packets with a wrong P_Key."),
    bits("q_key_violations", 0x30, 31, 16, "Packets with a wrong Q_Key."),
    bits("guid_cap", 0x30, 15, 8, "Entries of the GUID table."),
    flag("client_reregister", 0x30, 7,
         "Clients shall register with the subnet administration again."),
    bits("multicast_p_key_trap_suppression_enabled", 0x30, 6, 5,
         "Which P_Key traps for multicast are suppressed."),
    bits("subnet_time_out", 0x30, 4, 0,
         "Longest time to any port of the subnet: 4.096 us shifted left."),
    reserved(0x34, 31, 29),
    bits("resp_time_value", 0x34, 28, 24,
         "Longest time to an answer of the port: 4.096 us shifted left."),
    bits("local_phy_errors", 0x34, 23, 20, "Threshold of physical errors that raises trap 129."),
    bits("overrun_errors", 0x34, 19, 16, "Threshold of buffer overruns that raises trap 130."),
    bits("max_credit_hint", 0x34, 15, 0, "Credits that the port can use, in units of 64 bytes."),
    reserved(0x38, 31, 24),
    bits("link_round_trip_latency", 0x38, 23, 0, "Round trip of the link in units of 4 ns."),
    bits("capability_mask2", 0x3c, 31, 16, "What the port supports beyond CapabilityMask.",
         &port_capability_mask2),
    bits("link_speed_ext_active", 0x3c, 15, 12, "Speed of the link above 10 Gb/s per lane.",
         &link_speed_ext),
    bits("link_speed_ext_supported", 0x3c, 11, 8,
         "Speeds above 10 Gb/s per lane that the port supports.", &link_speed_ext),
    reserved(0x3c, 7, 5),
    bits("link_speed_ext_enabled", 0x3c, 4, 0,
         "Speeds above 10 Gb/s that the link may use; 31 enables all, 30 none."),
};
inline constexpr Layout port_info{"port_info", Kind::datagram, 0x40, port_info_fields,
                                  "PortInfo: state and settings of a port."};

inline constexpr std::array p_key_table_fields{
    array("p_key_block", 0x0, 16, 32, "P_Keys: bit 15 is full membership, the rest the partition."),
};
inline constexpr Layout p_key_table{"p_key_table", Kind::datagram, 0x40, p_key_table_fields,
                                    "P_KeyTable: a block of a port's partition keys."};

inline constexpr std::array sl_to_vl_mapping_table_fields{
    bits("sl0_to_vl", 0x0, 31, 28, "Virtual lane of service level 0; 15 drops."),
    bits("sl1_to_vl", 0x0, 27, 24, "Virtual lane of service level 1; 15 drops."),
    bits("sl2_to_vl", 0x0, 23, 20, "Virtual lane of service level 2; 15 drops."),
    bits("sl3_to_vl", 0x0, 19, 16, "Virtual lane of service level 3; 15 drops."),
    bits("sl4_to_vl", 0x0, 15, 12, "Virtual lane of service level 4; 15 drops."),
    bits("sl5_to_vl", 0x0, 11, 8, "Virtual lane of service level 5; 15 drops."),
    bits("sl6_to_vl", 0x0, 7, 4, "Virtual lane of service level 6; 15 drops."),
    bits("sl7_to_vl", 0x0, 3, 0, "Virtual lane of service level 7; 15 drops."),
    bits("sl8_to_vl", 0x4, 31, 28, "Virtual lane of service level 8; 15 drops."),
    bits("sl9_to_vl", 0x4, 27, 24, "Virtual lane of service level 9; 15 drops."),
    bits("sl10_to_vl", 0x4, 23, 20, "Virtual lane of service level 10; 15 drops."),
    bits("sl11_to_vl", 0x4, 19, 16, "Virtual lane of service level 11; 15 drops."),
    bits("sl12_to_vl", 0x4, 15, 12, "Virtual lane of service level 12; 15 drops."),
    bits("sl13_to_vl", 0x4, 11, 8, "Virtual lane of service level 13; 15 drops."),
    bits("sl14_to_vl", 0x4, 7, 4, "Virtual lane of service level 14; 15 drops."),
    bits("sl15_to_vl", 0x4, 3, 0, "Virtual lane of service level 15; 15 drops."),
};
inline constexpr Layout sl_to_vl_mapping_table{
    "sl_to_vl_mapping_table", Kind::datagram, 0x8, sl_to_vl_mapping_table_fields,
    "SLtoVLMappingTable: virtual lane of every service level."};

inline constexpr std::array vl_arbitration_table_fields{
    array("vl_weight_block", 0x0, 16, 32,
          "Lane in bits 11 to 8, weight in units of 64 bytes in bits 7 to 0."),
};
inline constexpr Layout vl_arbitration_table{"vl_arbitration_table", Kind::datagram, 0x40,
                                             vl_arbitration_table_fields,
                                             "VLArbitrationTable: half of an arbitration table."};

inline constexpr std::array linear_forwarding_table_fields{
    bytes("port_block", 0x0, 64, "Output port of each LID; 255 drops."),
};
inline constexpr Layout linear_forwarding_table{"linear_forwarding_table", Kind::datagram, 0x40,
                                                linear_forwarding_table_fields,
                                                "LinearForwardingTable: output ports of 64 LIDs."};

inline constexpr std::array lid_port_block_fields{
    bits("lid", 0x0, 31, 16, "Base LID of the destination."),
    flag("valid", 0x0, 15, "The entry is in use."),
    bits("lmc", 0x0, 14, 12, "Low bits of the LID that are ignored."),
    reserved(0x0, 11, 8),
    bits("port", 0x0, 7, 0, "Output port."),
};
inline constexpr Layout lid_port_block{"lid_port_block", Kind::datagram, 0x4, lid_port_block_fields,
                                       "Entry of a random forwarding table."};

inline constexpr std::array random_forwarding_table_fields{
    nested("lid_port_block", 0x0, lid_port_block, "Destinations and output ports.", 16),
};
inline constexpr Layout random_forwarding_table{"random_forwarding_table", Kind::datagram, 0x40,
                                                random_forwarding_table_fields,
                                                "RandomForwardingTable: 16 destinations."};

inline constexpr std::array multicast_forwarding_table_fields{
    array("port_mask_block", 0x0, 16, 32, "Output ports as a mask of 16 ports."),
};
inline constexpr Layout multicast_forwarding_table{
    "multicast_forwarding_table", Kind::datagram, 0x40, multicast_forwarding_table_fields,
    "MulticastForwardingTable: output ports of 32 multicast LIDs."};

inline constexpr std::array sm_info_fields{
    word64("guid", 0x0, "GUID of the port at which the manager runs."),
    word64("sm_key", 0x8, "Key that shows the right to be master."),
    word32("act_count", 0x10, "Grows while the manager is active."),
    bits("priority", 0x14, 31, 28, "Priority in the election of the master; 15 is highest."),
    bits("sm_state", 0x14, 27, 24, "State of the manager.", &sm_state),
    reserved(0x14, 23, 0),
};
inline constexpr Layout sm_info{"sm_info", Kind::datagram, 0x18, sm_info_fields,
                                "SMInfo: a subnet manager."};

// Attributes of performance management (192 bytes of its datagrams) and of all classes.

inline constexpr std::array class_port_info_fields{
    bits("base_version", 0x0, 31, 24, "Version of the MAD base header that the agent supports."),
    bits("class_version", 0x0, 23, 16, "Version of the class that the agent supports."),
    bits("capability_mask", 0x0, 15, 0,
         "What the agent supports; the upper 8 bits depend on the class.",
         &class_port_info_capability),
    bits("capability_mask2", 0x4, 31, 5, "What the agent supports beyond capability_mask."),
    bits("resp_time_value", 0x4, 4, 0, "Longest time to an answer: 4.096 us shifted left."),
    bytes("redirect_gid", 0x8, 16, "GID of the agent to ask instead; 0 is none."),
    bits("redirect_tc", 0x18, 31, 24, "Traffic class to the agent to ask instead."),
    bits("redirect_sl", 0x18, 23, 20, "Service level to the agent to ask instead."),
    bits("redirect_fl", 0x18, 19, 0, "Flow label to the agent to ask instead."),
    bits("redirect_lid", 0x1c, 31, 16, "LID of the agent to ask instead."),
    bits("redirect_p_key", 0x1c, 15, 0, "P_Key to the agent to ask instead."),
    reserved(0x20, 31, 24),
    bits("redirect_qp", 0x20, 23, 0, "Queue pair of the agent to ask instead."),
    word32("redirect_q_key", 0x24, "Q_Key of the agent to ask instead."),
    bytes("trap_gid", 0x28, 16, "GID of the manager that receives traps; 0 is none."),
    bits("trap_tc", 0x38, 31, 24, "Traffic class to the manager that receives traps."),
    bits("trap_sl", 0x38, 23, 20, "Service level to the manager that receives traps."),
    bits("trap_fl", 0x38, 19, 0, "Flow label to the manager that receives traps."),
    bits("trap_lid", 0x3c, 31, 16, "LID of the manager that receives traps."),
    bits("trap_p_key", 0x3c, 15, 0, "P_Key to the manager that receives traps."),
    bits("trap_hl", 0x40, 31, 24, "Hop limit to the manager that receives traps."),
    bits("trap_qp", 0x40, 23, 0, "Queue pair of the manager that receives traps."),
    word32("trap_q_key", 0x44, "Q_Key of the manager that receives traps."),
};
inline constexpr Layout class_port_info{
    "class_port_info", Kind::datagram, 0x48, class_port_info_fields,
    "ClassPortInfo: what an agent supports and whom to ask instead."};

inline constexpr std::array port_samples_control_fields{
    bits("op_code", 0x0, 31, 24, "Operation codes to count; 0xff counts all."),
    bits("port_select", 0x0, 23, 16, "Port to sample."),
    bits("tick", 0x0, 15, 8, "Duration of a tick, coded."),
    reserved(0x0, 7, 3),
    bits("counter_width", 0x0, 2, 0, "Width of the counters, coded."),
    reserved(0x4, 31, 30),
    bits("counter_mask0", 0x4, 29, 27, "What counter 0 can count."),
    bits("counter_mask1", 0x4, 26, 24, "What counter 1 can count."),
    bits("counter_mask2", 0x4, 23, 21, "What counter 2 can count."),
    bits("counter_mask3", 0x4, 20, 18, "What counter 3 can count."),
    bits("counter_mask4", 0x4, 17, 15, "What counter 4 can count."),
    bits("counter_mask5", 0x4, 14, 12, "What counter 5 can count."),
    bits("counter_mask6", 0x4, 11, 9, "What counter 6 can count."),
    bits("counter_mask7", 0x4, 8, 6, "What counter 7 can count."),
    bits("counter_mask8", 0x4, 5, 3, "What counter 8 can count."),
    bits("counter_mask9", 0x4, 2, 0, "What counter 9 can count."),
    reserved(0x8, 31, 31),
    bits("counter_mask10", 0x8, 30, 28, "What counter 10 can count."),
    bits("counter_mask11", 0x8, 27, 25, "What counter 11 can count."),
    bits("counter_mask12", 0x8, 24, 22, "What counter 12 can count."),
    bits("counter_mask13", 0x8, 21, 19, "What counter 13 can count."),
    bits("counter_mask14", 0x8, 18, 16, "What counter 14 can count."),
    bits("sample_mechanisms", 0x8, 15, 8, "Sampling mechanisms beyond the first."),
    reserved(0x8, 7, 2),
    bits("sample_status", 0x8, 1, 0, "State of sampling.", &pma_sample_status),
    word64("option_mask", 0xc, "Optional quantities that can be counted."),
    word64("vendor_mask", 0x14, "Quantities of the vendor that can be counted."),
    word32("sample_start", 0x1c, "Ticks until sampling starts."),
    word32("sample_interval", 0x20, "Ticks that sampling lasts."),
    bits("tag", 0x24, 31, 16, "Number that the results repeat."),
    array("counter_select", 0x26, 16, 15, "Quantity that each counter counts."),
    reserved_bytes(0x44, 0x4),
    word64("samples_only_option_mask", 0x48, "Optional quantities that only sampling can count."),
    reserved_bytes(0x50, 0x70),
};
inline constexpr Layout port_samples_control{
    "port_samples_control", Kind::datagram, 0xc0, port_samples_control_fields,
    "PortSamplesControl: starts sampling and chooses the counters."};

inline constexpr std::array port_samples_result_fields{
    bits("tag", 0x0, 31, 16, "Number of the request that started sampling."),
    reserved(0x0, 15, 2),
    bits("sample_status", 0x0, 1, 0, "State of sampling.", &pma_sample_status),
    array("counter", 0x4, 32, 15, "Values of the counters."),
};
inline constexpr Layout port_samples_result{"port_samples_result", Kind::datagram, 0x40,
                                            port_samples_result_fields,
                                            "PortSamplesResult: what was sampled."};

inline constexpr std::array port_samples_result_extended_fields{
    bits("tag", 0x0, 31, 16, "Number of the request that started sampling."),
    reserved(0x0, 15, 2),
    bits("sample_status", 0x0, 1, 0, "State of sampling.", &pma_sample_status),
    bits("extended_width", 0x4, 31, 30, "1: counters have 48 bits; 2: 64 bits."),
    reserved(0x4, 29, 0),
    array("counter", 0x8, 64, 15, "Values of the counters."),
};
inline constexpr Layout port_samples_result_extended{
    "port_samples_result_extended", Kind::datagram, 0x80, port_samples_result_extended_fields,
    "PortSamplesResultExtended: what was sampled, with wide counters."};

inline constexpr std::array port_counters_fields{
    reserved(0x0, 31, 24),
    bits("port_select", 0x0, 23, 16, "Port; 255 is all."),
    bits("counter_select", 0x0, 15, 0, "Counters to set.", &pma_counter_select),
    bits("symbol_error_counter", 0x4, 31, 16, "Symbol errors."),
    bits("link_error_recovery_counter", 0x4, 15, 8, "Retrainings of the link that succeeded."),
    bits("link_downed_counter", 0x4, 7, 0, "Retrainings of the link that failed."),
    bits("port_rcv_errors", 0x8, 31, 16, "Packets received with an error."),
    bits("port_rcv_remote_physical_errors", 0x8, 15, 0,
         "Packets received that a node before had marked bad."),
    bits("port_rcv_switch_relay_errors", 0xc, 31, 16,
         "Packets received that could not be forwarded."),
    bits("port_xmit_discards", 0xc, 15, 0,
         "Packets that were not sent because the port was down or busy."),
    bits("port_xmit_constraint_errors", 0x10, 31, 24,
         "Packets that were not sent because of a constraint."),
    bits("port_rcv_constraint_errors", 0x10, 23, 16,
         "Packets dropped after receipt because of a constraint."),
    bits("counter_select2", 0x10, 15, 8, "Further counters to set.", &pma_counter_select2),
    bits("local_link_integrity_errors", 0x10, 7, 4,
         "Times that local errors passed the threshold."),
    bits("excessive_buffer_overrun_errors", 0x10, 3, 0,
         "Times that buffer overruns passed the threshold."),
    bits("qp1_dropped", 0x14, 31, 16,
         "Datagrams for queue pair 1 that were dropped for lack of buffers."),
    bits("vl15_dropped", 0x14, 15, 0,
         "Subnet management packets that were dropped for lack of buffers."),
    word32("port_xmit_data", 0x18, "Data sent, in units of 4 bytes."),
    word32("port_rcv_data", 0x1c, "Data received, in units of 4 bytes."),
    word32("port_xmit_pkts", 0x20, "Packets sent."),
    word32("port_rcv_pkts", 0x24, "Packets received."),
    word32("port_xmit_wait", 0x28, "Ticks with data to send and no credit."),
};
inline constexpr Layout port_counters{
    "port_counters", Kind::datagram, 0x2c, port_counters_fields,
    "PortCounters: errors and traffic of a port; the counters stop at their highest value."};

inline constexpr std::array port_counters_extended_fields{
    reserved(0x0, 31, 24),
    bits("port_select", 0x0, 23, 16, "Port; 255 is all."),
    bits("counter_select", 0x0, 15, 0, "Counters to set.", &pma_counter_select_ext),
    reserved_bytes(0x4, 0x4),
    word64("port_xmit_data", 0x8, "Data sent, in units of 4 bytes."),
    word64("port_rcv_data", 0x10, "Data received, in units of 4 bytes."),
    word64("port_xmit_pkts", 0x18, "Packets sent."),
    word64("port_rcv_pkts", 0x20, "Packets received."),
    word64("port_unicast_xmit_pkts", 0x28, "Unicast packets sent."),
    word64("port_unicast_rcv_pkts", 0x30, "Unicast packets received."),
    word64("port_multicast_xmit_pkts", 0x38, "Multicast packets sent."),
    word64("port_multicast_rcv_pkts", 0x40, "Multicast packets received."),
};
inline constexpr Layout port_counters_extended{"port_counters_extended", Kind::datagram, 0x48,
                                               port_counters_extended_fields,
                                               "PortCountersExtended: traffic of a port."};

// Attributes of subnet administration (200 bytes of its datagrams).

inline constexpr std::array path_record_fields{
    word64("service_id", 0x0, "Service for which the path is meant."),
    bytes("dgid", 0x8, 16, "GID of the destination."),
    bytes("sgid", 0x18, 16, "GID of the source."),
    bits("dlid", 0x28, 31, 16, "LID of the destination."),
    bits("slid", 0x28, 15, 0, "LID of the source."),
    flag("raw_traffic", 0x2c, 31, "The path is for raw packets."),
    reserved(0x2c, 30, 28),
    bits("flow_label", 0x2c, 27, 8, "Flow label for the GRH."),
    bits("hop_limit", 0x2c, 7, 0, "Hop limit for the GRH."),
    bits("tclass", 0x30, 31, 24, "Traffic class for the GRH."),
    flag("reversible", 0x30, 23, "The path can be used in both directions."),
    bits("numb_path", 0x30, 22, 16, "Most paths that the answer shall have."),
    bits("p_key", 0x30, 15, 0, "Partition key."),
    bits("qos_class", 0x34, 31, 20, "Quality of service class."),
    bits("sl", 0x34, 19, 16, "Service level."),
    bits("mtu_selector", 0x34, 15, 14, "How mtu is compared.", &sa_selector),
    bits("mtu", 0x34, 13, 8, "Largest payload of the path.", &mtu_code),
    bits("rate_selector", 0x34, 7, 6, "How rate is compared.", &sa_selector),
    bits("rate", 0x34, 5, 0, "Data rate of the path.", &rate_code),
    bits("packet_life_time_selector", 0x38, 31, 30, "How packet_life_time is compared.",
         &sa_selector),
    bits("packet_life_time", 0x38, 29, 24, "Longest time on the path: 4.096 us shifted left."),
    bits("preference", 0x38, 23, 16, "Rank among several paths; 0 is best."),
    bits("reverse_path_p_key_member_bit", 0x38, 15, 14,
         "Membership that the P_Key of the path back needs."),
    reserved(0x38, 13, 0),
    reserved_bytes(0x3c, 0x4),
};
inline constexpr Layout path_record{"path_record", Kind::datagram, 0x40, path_record_fields,
                                    "PathRecord: a path between two ports."};

inline constexpr std::array mc_member_record_fields{
    bytes("mgid", 0x0, 16, "GID of the group."),
    bytes("port_gid", 0x10, 16, "GID of the member."),
    word32("q_key", 0x20, "Q_Key of the group."),
    bits("mlid", 0x24, 31, 16, "LID of the group."),
    bits("mtu_selector", 0x24, 15, 14, "How mtu is compared.", &sa_selector),
    bits("mtu", 0x24, 13, 8, "Largest payload in the group.", &mtu_code),
    bits("tclass", 0x24, 7, 0, "Traffic class for the GRH."),
    bits("p_key", 0x28, 31, 16, "Partition key of the group."),
    bits("rate_selector", 0x28, 15, 14, "How rate is compared.", &sa_selector),
    bits("rate", 0x28, 13, 8, "Data rate of the path.", &rate_code),
    bits("packet_life_time_selector", 0x28, 7, 6, "How packet_life_time is compared.",
         &sa_selector),
    bits("packet_life_time", 0x28, 5, 0, "Longest time on the path: 4.096 us shifted left."),
    bits("sl", 0x2c, 31, 28, "Service level."),
    bits("flow_label", 0x2c, 27, 8, "Flow label for the GRH."),
    bits("hop_limit", 0x2c, 7, 0, "Hop limit for the GRH."),
    bits("scope", 0x30, 31, 28, "Scope of the group, as in the GID."),
    bits("join_state", 0x30, 27, 24, "Memberships of the port.", &mc_join_state),
    flag("proxy_join", 0x30, 23, "Another port of the partition joined for this one."),
    reserved(0x30, 22, 0),
};
inline constexpr Layout mc_member_record{
    "mc_member_record", Kind::datagram, 0x34, mc_member_record_fields,
    "MCMemberRecord: a member of a multicast group, and the group."};

inline constexpr std::array service_record_fields{
    word64("service_id", 0x0, "Service."),
    bytes("service_gid", 0x8, 16, "GID of the port that offers it."),
    bits("service_p_key", 0x18, 31, 16, "P_Key with which it can be reached."),
    reserved(0x18, 15, 0),
    word32("service_lease", 0x1c, "Seconds until the record lapses; 0xffffffff is never."),
    bytes("service_key", 0x20, 16, "Key that protects the record."),
    bytes("service_name", 0x30, 64, "Name of the service, UTF-8."),
    array("service_data8", 0x70, 8, 16, "Data of the service, in bytes."),
    array("service_data16", 0x80, 16, 8, "Data of the service, in units of 2 bytes."),
    array("service_data32", 0x90, 32, 4, "Data of the service, in units of 4 bytes."),
    array("service_data64", 0xa0, 64, 2, "Data of the service, in units of 8 bytes."),
};
inline constexpr Layout service_record{"service_record", Kind::datagram, 0xb0,
                                       service_record_fields,
                                       "ServiceRecord: a service that a port offers."};

inline constexpr std::array node_record_fields{
    bits("lid", 0x0, 31, 16, "LID of the port."),
    reserved(0x0, 15, 0),
    nested("node_info", 0x4, node_info, "The node."),
    nested("node_description", 0x2c, node_description, "Its name."),
};
inline constexpr Layout node_record{"node_record", Kind::datagram, 0x6c, node_record_fields,
                                    "NodeRecord: a node of the subnet."};

inline constexpr std::array port_info_record_fields{
    bits("endport_lid", 0x0, 31, 16, "LID of the node."),
    bits("port_num", 0x0, 15, 8, "Port of the node."),
    bits("options", 0x0, 7, 0, "Bit 7: get an attribute of the next version, if supported."),
    nested("port_info", 0x4, port_info, "The port."),
};
inline constexpr Layout port_info_record{"port_info_record", Kind::datagram, 0x44,
                                         port_info_record_fields,
                                         "PortInfoRecord: a port of the subnet."};

inline constexpr std::array guid_info_record_fields{
    bits("lid", 0x0, 31, 16, "LID of the port."),
    bits("block_num", 0x0, 15, 8, "Block of the table."),
    reserved(0x0, 7, 0),
    reserved_bytes(0x4, 0x4),
    nested("guid_info", 0x8, guid_info, "The block."),
};
inline constexpr Layout guid_info_record{"guid_info_record", Kind::datagram, 0x48,
                                         guid_info_record_fields,
                                         "GUIDInfoRecord: a block of a port's GUID table."};

inline constexpr std::array inform_info_fields{
    bytes("gid", 0x0, 16, "GID of the port that is watched; 0 chooses by LID."),
    bits("lid_range_begin", 0x10, 31, 16, "First LID that is watched; 0xffff is all."),
    bits("lid_range_end", 0x10, 15, 0, "Last LID that is watched."),
    reserved(0x14, 31, 16),
    bits("is_generic", 0x14, 15, 8, "1: events of the specification; 0: events of a vendor."),
    bits("subscribe", 0x14, 7, 0, "1 subscribes, 0 ends the subscription."),
    bits("type", 0x18, 31, 16, "Gravity of the events; 0xffff is all."),
    bits("trap_number", 0x18, 15, 0, "Event; 0xffff is all."),
    alias(bits("device_id", 0x18, 15, 0, "Device for which the vendor defined the event.")),
    bits("qpn", 0x1c, 31, 8, "Queue pair that gets the reports, when the subscription ends."),
    reserved(0x1c, 7, 5),
    bits("resp_time_value", 0x1c, 4, 0,
         "Longest time to the subscriber's answer: 4.096 us shifted left."),
    reserved(0x20, 31, 24),
    bits("producer_type", 0x20, 23, 0, "Kind of nodes that are watched; 0xffffff is all."),
    alias(bits("vendor_id", 0x20, 23, 0, "OUI of the vendor that defined the event.")),
};
inline constexpr Layout inform_info{"inform_info", Kind::datagram, 0x24, inform_info_fields,
                                    "InformInfo: subscribes to events."};

inline constexpr std::array inform_info_record_fields{
    bytes("subscriber_gid", 0x0, 16, "GID of the subscriber."),
    bits("enumeration", 0x10, 31, 16, "Number of the subscription."),
    reserved(0x10, 15, 0),
    reserved_bytes(0x14, 0x4),
    nested("inform_info", 0x18, inform_info, "The subscription."),
    reserved_bytes(0x3c, 0x14),
};
inline constexpr Layout inform_info_record{"inform_info_record", Kind::datagram, 0x50,
                                           inform_info_record_fields,
                                           "InformInfoRecord: a subscription."};

inline constexpr std::array multi_path_record_fields{
    flag("raw_traffic", 0x0, 31, "The paths are for raw packets."),
    reserved(0x0, 30, 28),
    bits("flow_label", 0x0, 27, 8, "Flow label for the GRH."),
    bits("hop_limit", 0x0, 7, 0, "Hop limit for the GRH."),
    bits("tclass", 0x4, 31, 24, "Traffic class for the GRH."),
    flag("reversible", 0x4, 23, "The paths can be used in both directions."),
    bits("numb_path", 0x4, 22, 16, "Most paths that the answer shall have."),
    bits("p_key", 0x4, 15, 0, "Partition key."),
    bits("qos_class", 0x8, 31, 20, "Quality of service class."),
    bits("sl", 0x8, 19, 16, "Service level."),
    bits("mtu_selector", 0x8, 15, 14, "How mtu is compared.", &sa_selector),
    bits("mtu", 0x8, 13, 8, "Largest payload of the path.", &mtu_code),
    bits("rate_selector", 0x8, 7, 6, "How rate is compared.", &sa_selector),
    bits("rate", 0x8, 5, 0, "Data rate of the path.", &rate_code),
    bits("packet_life_time_selector", 0xc, 31, 30, "How packet_life_time is compared.",
         &sa_selector),
    bits("packet_life_time", 0xc, 29, 24, "Longest time on the path: 4.096 us shifted left."),
    bits("service_id_8msb", 0xc, 23, 16, "Service for which the paths are meant, bits 63 to 56."),
    bits("independence_selector", 0xc, 15, 14,
         "1 asks for paths that have as little in common as possible."),
    reserved(0xc, 13, 8),
    bits("sgid_count", 0xc, 7, 0, "Source GIDs in the list."),
    bits("dgid_count", 0x10, 31, 24, "Destination GIDs in the list."),
    bytes("service_id_56lsb", 0x11, 7, "Service for which the paths are meant, bits 55 to 0."),
    nested_list("sdgid", 0x18, gid, "Source GIDs, then destination GIDs."),
};
inline constexpr Layout multi_path_record{"multi_path_record", Kind::datagram, 0x18,
                                          multi_path_record_fields,
                                          "MultiPathRecord: asks for paths between several ports."};

inline constexpr std::array reported_notice_fields{
    nested("notice", 0x0, notice, "The event."),
    bytes("issuer_gid", 0x40, 16, "GID of the port that reported the event."),
};
inline constexpr Layout reported_notice{"reported_notice", Kind::datagram, 0x50,
                                        reported_notice_fields,
                                        "Notice in a report to a subscriber."};

// Messages of communication management (232 bytes of its datagrams).

inline constexpr std::array cm_req_fields{
    word32("local_comm_id", 0x0, "Communication id of the sender."),
    reserved(0x4, 31, 24),
    bits("vendor_id", 0x4, 23, 0, "OUI of the sender's vendor."),
    word64("service_id", 0x8, "Service to connect to."),
    word64("local_ca_guid", 0x10, "GUID of the sender's channel adapter."),
    reserved_bytes(0x18, 0x4),
    word32("local_q_key", 0x1c, "Q_Key of the sender (RD only)."),
    bits("local_qpn", 0x20, 31, 8, "Queue pair of the sender."),
    bits("responder_resources", 0x20, 7, 0,
         "RDMA reads and atomics that the sender can answer at once."),
    bits("local_eecn", 0x24, 31, 8, "End-to-end context of the sender (RD only)."),
    bits("initiator_depth", 0x24, 7, 0,
         "RDMA reads and atomics that the sender will post at once."),
    bits("remote_eecn", 0x28, 31, 8, "End-to-end context of the receiver (RD only)."),
    bits("remote_cm_response_timeout", 0x28, 7, 3,
         "Longest time to the receiver's answer: 4.096 us shifted left."),
    bits("transport_service_type", 0x28, 2, 1, "Transport.", &cm_transport_service_type),
    flag("end_to_end_flow_control", 0x28, 0, "The sender implements end-to-end credits."),
    bits("starting_psn", 0x2c, 31, 8, "First PSN that the receiver shall send."),
    bits("local_cm_response_timeout", 0x2c, 7, 3,
         "Longest time to the sender's next message: 4.096 us shifted left."),
    bits("retry_count", 0x2c, 2, 0, "Retries after a timeout or a sequence error."),
    bits("partition_key", 0x30, 31, 16, "Partition key of the connection."),
    bits("path_packet_payload_mtu", 0x30, 15, 12, "Largest payload of the connection.", &mtu_code),
    flag("rdc_exists", 0x30, 11, "The reliable datagram channel exists already."),
    bits("rnr_retry_count", 0x30, 10, 8, "Retries after receiver not ready; 7 is without end."),
    bits("max_cm_retries", 0x30, 7, 4, "Times that the sender repeats a message."),
    flag("srq", 0x30, 3, "The sender uses a shared receive queue."),
    bits("extended_transport_type", 0x30, 2, 0, "Transport, if transport_service_type is extended.",
         &cm_extended_transport_type),
    bits("primary_local_port_lid", 0x34, 31, 16, "LID of the sender on the primary path."),
    bits("primary_remote_port_lid", 0x34, 15, 0, "LID of the receiver on the primary path."),
    bytes("primary_local_port_gid", 0x38, 16, "GID of the sender on the primary path."),
    bytes("primary_remote_port_gid", 0x48, 16, "GID of the receiver on the primary path."),
    bits("primary_flow_label", 0x58, 31, 12, "Flow label of the primary path."),
    reserved(0x58, 11, 6),
    bits("primary_packet_rate", 0x58, 5, 0, "Data rate of the primary path.", &rate_code),
    bits("primary_traffic_class", 0x5c, 31, 24, "Traffic class of the primary path."),
    bits("primary_hop_limit", 0x5c, 23, 16, "Hop limit of the primary path."),
    bits("primary_sl", 0x5c, 15, 12, "Service level of the primary path."),
    flag("primary_subnet_local", 0x5c, 11, "The primary path stays in the subnet."),
    reserved(0x5c, 10, 8),
    bits("primary_local_ack_timeout", 0x5c, 7, 3,
         "Acknowledgement timeout on the primary path: 4.096 us shifted left."),
    reserved(0x5c, 2, 0),
    bits("alternate_local_port_lid", 0x60, 31, 16, "LID of the sender on the alternate path."),
    bits("alternate_remote_port_lid", 0x60, 15, 0, "LID of the receiver on the alternate path."),
    bytes("alternate_local_port_gid", 0x64, 16, "GID of the sender on the alternate path."),
    bytes("alternate_remote_port_gid", 0x74, 16, "GID of the receiver on the alternate path."),
    bits("alternate_flow_label", 0x84, 31, 12, "Flow label of the alternate path."),
    reserved(0x84, 11, 6),
    bits("alternate_packet_rate", 0x84, 5, 0, "Data rate of the alternate path.", &rate_code),
    bits("alternate_traffic_class", 0x88, 31, 24, "Traffic class of the alternate path."),
    bits("alternate_hop_limit", 0x88, 23, 16, "Hop limit of the alternate path."),
    bits("alternate_sl", 0x88, 15, 12, "Service level of the alternate path."),
    flag("alternate_subnet_local", 0x88, 11, "The alternate path stays in the subnet."),
    reserved(0x88, 10, 8),
    bits("alternate_local_ack_timeout", 0x88, 7, 3,
         "Acknowledgement timeout on the alternate path: 4.096 us shifted left."),
    flag("sap_supported", 0x88, 2, "The sender supports alternate path messages of its own."),
    reserved(0x88, 1, 0),
    bytes("private_data", 0x8c, 92, "Data of the consumer."),
};
inline constexpr Layout cm_req{"cm_req", Kind::datagram, 0xe8, cm_req_fields,
                               "REQ: asks for a connection."};

inline constexpr std::array cm_mra_fields{
    word32("local_comm_id", 0x0, "Communication id of the sender."),
    word32("remote_comm_id", 0x4, "Communication id of the receiver; 0 if unknown."),
    bits("message_mraed", 0x8, 31, 30, "Message that was received.", &cm_mra_message),
    reserved(0x8, 29, 24),
    bits("service_timeout", 0x8, 23, 19, "Time that is still needed: 4.096 us shifted left."),
    reserved(0x8, 18, 16),
    bytes("private_data", 0xa, 222, "Data of the consumer."),
};
inline constexpr Layout cm_mra{"cm_mra", Kind::datagram, 0xe8, cm_mra_fields,
                               "MRA: the receiver needs more time."};

inline constexpr std::array cm_rej_fields{
    word32("local_comm_id", 0x0, "Communication id of the sender."),
    word32("remote_comm_id", 0x4, "Communication id of the receiver; 0 if unknown."),
    bits("message_rejected", 0x8, 31, 30, "Message that is refused.", &cm_rej_message),
    reserved(0x8, 29, 24),
    bits("rejected_info_length", 0x8, 23, 17, "Bytes of additional information."),
    reserved(0x8, 16, 16),
    bits("reason", 0x8, 15, 0, "Why.", &cm_reject_reason),
    bytes("ari", 0xc, 72, "Additional information about the reason."),
    bytes("private_data", 0x54, 148, "Data of the consumer."),
};
inline constexpr Layout cm_rej{"cm_rej", Kind::datagram, 0xe8, cm_rej_fields,
                               "REJ: refuses a connection."};

inline constexpr std::array cm_rep_fields{
    word32("local_comm_id", 0x0, "Communication id of the sender."),
    word32("remote_comm_id", 0x4, "Communication id of the receiver; 0 if unknown."),
    word32("local_q_key", 0x8, "Q_Key of the sender (RD only)."),
    bits("local_qpn", 0xc, 31, 8, "Queue pair of the sender."),
    bits("vendor_id_h", 0xc, 7, 0, "OUI of the sender's vendor, bits 23 to 16."),
    bits("local_ee_context_number", 0x10, 31, 8, "End-to-end context of the sender (RD only)."),
    bits("vendor_id_m", 0x10, 7, 0, "OUI of the sender's vendor, bits 15 to 8."),
    bits("starting_psn", 0x14, 31, 8, "First PSN that the receiver shall send."),
    bits("vendor_id_l", 0x14, 7, 0, "OUI of the sender's vendor, bits 7 to 0."),
    bits("responder_resources", 0x18, 31, 24,
         "RDMA reads and atomics that the sender can answer at once."),
    bits("initiator_depth", 0x18, 23, 16,
         "RDMA reads and atomics that the sender will post at once."),
    bits("target_ack_delay", 0x18, 15, 11,
         "Longest time to an acknowledgement: 4.096 us shifted left."),
    bits("failover_accepted", 0x18, 10, 9, "What became of the alternate path.", &cm_failover),
    flag("end_to_end_flow_control", 0x18, 8, "The sender implements end-to-end credits."),
    bits("rnr_retry_count", 0x18, 7, 5, "Retries after receiver not ready; 7 is without end."),
    flag("srq", 0x18, 4, "The sender uses a shared receive queue."),
    reserved(0x18, 3, 0),
    word64("local_ca_guid", 0x1c, "GUID of the sender's channel adapter."),
    bytes("private_data", 0x24, 196, "Data of the consumer."),
};
inline constexpr Layout cm_rep{"cm_rep", Kind::datagram, 0xe8, cm_rep_fields,
                               "REP: accepts a connection."};

inline constexpr std::array cm_rtu_fields{
    word32("local_comm_id", 0x0, "Communication id of the sender."),
    word32("remote_comm_id", 0x4, "Communication id of the receiver; 0 if unknown."),
    bytes("private_data", 0x8, 224, "Data of the consumer."),
};
inline constexpr Layout cm_rtu{"cm_rtu", Kind::datagram, 0xe8, cm_rtu_fields,
                               "RTU: the connection is ready."};

inline constexpr std::array cm_dreq_fields{
    word32("local_comm_id", 0x0, "Communication id of the sender."),
    word32("remote_comm_id", 0x4, "Communication id of the receiver; 0 if unknown."),
    bits("remote_qpn_eecn", 0x8, 31, 8, "Queue pair or end-to-end context of the receiver."),
    reserved(0x8, 7, 0),
    bytes("private_data", 0xc, 220, "Data of the consumer."),
};
inline constexpr Layout cm_dreq{"cm_dreq", Kind::datagram, 0xe8, cm_dreq_fields,
                                "DREQ: ends a connection."};

inline constexpr std::array cm_drep_fields{
    word32("local_comm_id", 0x0, "Communication id of the sender."),
    word32("remote_comm_id", 0x4, "Communication id of the receiver; 0 if unknown."),
    bytes("private_data", 0x8, 224, "Data of the consumer."),
};
inline constexpr Layout cm_drep{"cm_drep", Kind::datagram, 0xe8, cm_drep_fields,
                                "DREP: confirms the end of a connection."};

inline constexpr std::array cm_lap_fields{
    word32("local_comm_id", 0x0, "Communication id of the sender."),
    word32("remote_comm_id", 0x4, "Communication id of the receiver; 0 if unknown."),
    reserved_bytes(0x8, 0x4),
    bits("remote_qpn_eecn", 0xc, 31, 8, "Queue pair or end-to-end context of the receiver."),
    bits("remote_cm_response_timeout", 0xc, 7, 3,
         "Longest time to the receiver's answer: 4.096 us shifted left."),
    reserved(0xc, 2, 0),
    reserved_bytes(0x10, 0x4),
    bits("alternate_local_port_lid", 0x14, 31, 16, "LID of the sender on the alternate path."),
    bits("alternate_remote_port_lid", 0x14, 15, 0, "LID of the receiver on the alternate path."),
    bytes("alternate_local_port_gid", 0x18, 16, "GID of the sender on the alternate path."),
    bytes("alternate_remote_port_gid", 0x28, 16, "GID of the receiver on the alternate path."),
    bits("alternate_flow_label", 0x38, 31, 12, "Flow label of the alternate path."),
    reserved(0x38, 11, 8),
    bits("alternate_traffic_class", 0x38, 7, 0, "Traffic class of the alternate path."),
    bits("alternate_hop_limit", 0x3c, 31, 24, "Hop limit of the alternate path."),
    reserved(0x3c, 23, 22),
    bits("alternate_packet_rate", 0x3c, 21, 16, "Data rate of the alternate path.", &rate_code),
    bits("alternate_sl", 0x3c, 15, 12, "Service level of the alternate path."),
    flag("alternate_subnet_local", 0x3c, 11, "The alternate path stays in the subnet."),
    reserved(0x3c, 10, 8),
    bits("alternate_local_ack_timeout", 0x3c, 7, 3,
         "Acknowledgement timeout on the alternate path: 4.096 us shifted left."),
    reserved(0x3c, 2, 0),
    bytes("private_data", 0x40, 168, "Data of the consumer."),
};
inline constexpr Layout cm_lap{"cm_lap", Kind::datagram, 0xe8, cm_lap_fields,
                               "LAP: loads an alternate path."};

inline constexpr std::array cm_apr_fields{
    word32("local_comm_id", 0x0, "Communication id of the sender."),
    word32("remote_comm_id", 0x4, "Communication id of the receiver; 0 if unknown."),
    bits("additional_information_length", 0x8, 31, 24, "Bytes of additional information."),
    bits("ar_status", 0x8, 23, 16, "Result.", &cm_apr_status),
    reserved(0x8, 15, 0),
    bytes("additional_information", 0xc, 72, "Details of the result."),
    bytes("private_data", 0x54, 148, "Data of the consumer."),
};
inline constexpr Layout cm_apr{"cm_apr", Kind::datagram, 0xe8, cm_apr_fields,
                               "APR: answers to LAP."};

inline constexpr std::array cm_sidr_req_fields{
    word32("requestid", 0x0, "Number of the request."),
    bits("partition_key", 0x4, 31, 16, "P_Key with which the service will be used."),
    reserved(0x4, 15, 0),
    word64("serviceid", 0x8, "Service."),
    bytes("private_data", 0x10, 216, "Data of the consumer."),
};
inline constexpr Layout cm_sidr_req{"cm_sidr_req", Kind::datagram, 0xe8, cm_sidr_req_fields,
                                    "SIDR_REQ: asks for the queue pair of a datagram service."};

inline constexpr std::array cm_sidr_rep_fields{
    word32("requestid", 0x0, "Number of the request."),
    bits("status", 0x4, 31, 24, "Result.", &cm_sidr_status),
    bits("additional_information_length", 0x4, 23, 16, "Bytes of additional information."),
    bits("vendor_id_h", 0x4, 15, 0, "OUI of the sender's vendor, bits 23 to 8."),
    bits("qpn", 0x8, 31, 8, "Queue pair of the service."),
    bits("vendor_id_l", 0x8, 7, 0, "OUI of the sender's vendor, bits 7 to 0."),
    word64("serviceid", 0xc, "Service."),
    word32("q_key", 0x14, "Q_Key of the service."),
    bytes("additional_information", 0x18, 72, "Details of the result."),
    bytes("private_data", 0x60, 136, "Data of the consumer."),
};
inline constexpr Layout cm_sidr_rep{"cm_sidr_rep", Kind::datagram, 0xe8, cm_sidr_rep_fields,
                                    "SIDR_REP: names the queue pair of a datagram service."};

// Datagrams. All have 256 bytes and begin with the same 24 bytes, except that a directed-route SMP
// has other fields in bytes 4 to 7.

inline constexpr std::array mad_header_fields = detail::mad_header_fields(nullptr);
inline constexpr Layout mad_header{"mad_header", Kind::datagram, 0x18, mad_header_fields,
                                   "Header that all MADs have."};

inline constexpr std::array rmpp_header_fields{
    bits("rmpp_version", 0x0, 31, 24, "Version of the protocol; 1, or 0 without it."),
    bits("rmpp_type", 0x0, 23, 16, "Kind of segment.", &rmpp_type),
    bits("r_resp_time", 0x0, 15, 11,
         "Time until the next answer: 4.096 us shifted left; 31 is none."),
    bits("rmpp_flags", 0x0, 10, 8, "Place of the segment.", &rmpp_flags),
    bits("rmpp_status", 0x0, 7, 0, "Why the transfer ended.", &rmpp_status),
    word32("segment_number", 0x4, "Number of the segment, counted from 1."),
    word32("payload_length", 0x8,
           "Bytes of payload: of all segments in the first, of the segment in the last."),
    alias(word32("new_window_last", 0x8, "Last segment that may be sent, in an acknowledgement.")),
};
inline constexpr Layout rmpp_header{
    "rmpp_header", Kind::datagram, 0xc, rmpp_header_fields,
    "Header of a segment of a long message (reliable multi-packet protocol)."};

inline constexpr std::array<const Layout*, 21> smp_data_choices{&notice,
                                                                &notice_trap_64_67,
                                                                &notice_trap_128,
                                                                &notice_trap_129_131,
                                                                &notice_trap_144,
                                                                &notice_trap_145,
                                                                &notice_trap_256,
                                                                &notice_trap_257_258,
                                                                &notice_trap_259,
                                                                &node_description,
                                                                &node_info,
                                                                &switch_info,
                                                                &guid_info,
                                                                &port_info,
                                                                &p_key_table,
                                                                &sl_to_vl_mapping_table,
                                                                &vl_arbitration_table,
                                                                &linear_forwarding_table,
                                                                &random_forwarding_table,
                                                                &multicast_forwarding_table,
                                                                &sm_info};

inline constexpr std::array smp_lid_routed_fields =
    detail::joined(detail::mad_header_fields(&smp_attribute),
                   std::array{
                       word64("m_key", 0x18, "Key that the receiver checks."),
                       reserved_bytes(0x20, 0x20),
                       choice("data", 0x40, 0x40, smp_data_choices, "Attribute."),
                       reserved_bytes(0x80, 0x80),
                   });
inline constexpr Layout smp_lid_routed{"smp_lid_routed", Kind::datagram, 0x100,
                                       smp_lid_routed_fields,
                                       "Subnet management packet that travels by LID."};

inline constexpr std::array smp_directed_route_fields{
    bits("base_version", 0x0, 31, 24, "Version of this header; 1."),
    bits("mgmt_class", 0x0, 23, 16, "Class; says what follows.", &mgmt_class),
    bits("class_version", 0x0, 15, 8, "Version of the class; 1."),
    bits("method", 0x0, 7, 0, "What is asked for.", &mad_method),
    flag("direction", 0x4, 31, "The packet is on its way back."),
    bits("status", 0x4, 30, 16, "Status of an answer.", &mad_status),
    bits("hop_pointer", 0x4, 15, 8, "Hop at which the packet is."),
    bits("hop_count", 0x4, 7, 0, "Hops of the path."),
    word64("transaction_id", 0x8, "Number that the answer repeats."),
    bits("attribute_id", 0x10, 31, 16, "Attribute that is read or written.", &smp_attribute),
    reserved(0x10, 15, 0),
    word32("attribute_modifier", 0x14, "Part of the attribute, for example a port or a block."),
    word64("m_key", 0x18, "Key that the receiver checks."),
    bits("dr_slid", 0x20, 31, 16,
         "LID at which the directed part of the path begins; 0xffff is none."),
    bits("dr_dlid", 0x20, 15, 0,
         "LID at which the directed part of the path ends; 0xffff is none."),
    reserved_bytes(0x24, 0x1c),
    choice("data", 0x40, 0x40, smp_data_choices, "Attribute."),
    bytes("initial_path", 0x80, 64, "Output port of every hop, the first at index 1."),
    bytes("return_path", 0xc0, 64, "Output port of every hop of the way back."),
};
inline constexpr Layout smp_directed_route{
    "smp_directed_route", Kind::datagram, 0x100, smp_directed_route_fields,
    "Subnet management packet that travels from port to port."};

inline constexpr std::array<const Layout*, 6> pma_data_choices{
    &class_port_info, &port_samples_control,  &port_samples_result, &port_samples_result_extended,
    &port_counters,   &port_counters_extended};

inline constexpr std::array pma_mad_fields =
    detail::joined(detail::mad_header_fields(&pma_attribute),
                   std::array{
                       reserved_bytes(0x18, 0x28),
                       choice("data", 0x40, 0xc0, pma_data_choices, "Attribute."),
                   });
inline constexpr Layout pma_mad{"pma_mad", Kind::datagram, 0x100, pma_mad_fields,
                                "Datagram of performance management."};

inline constexpr std::array<const Layout*, 11> sa_data_choices{
    &class_port_info,    &path_record,       &mc_member_record, &service_record,
    &node_record,        &port_info_record,  &guid_info_record, &inform_info,
    &inform_info_record, &multi_path_record, &reported_notice};

inline constexpr std::array sa_mad_fields = detail::joined(
    detail::mad_header_fields(&sa_attribute),
    std::array{
        nested("rmpp_header", 0x18, rmpp_header, "Segment of a long message."),
        word64("sm_key", 0x24, "Key that the administration checks; 0 for ordinary requests."),
        bits("attribute_offset", 0x2c, 31, 16,
             "Distance of two records in the data, in units of 8 bytes."),
        reserved(0x2c, 15, 0),
        word64("component_mask", 0x30, "Fields of the record that the query compares."),
        choice("data", 0x38, 0xc8, sa_data_choices, "Record, or the first of several."),
    });
inline constexpr Layout sa_mad{"sa_mad", Kind::datagram, 0x100, sa_mad_fields,
                               "Datagram of subnet administration."};

inline constexpr std::array<const Layout*, 11> cm_data_choices{
    &cm_req,  &cm_mra, &cm_rej, &cm_rep,      &cm_rtu,     &cm_dreq,
    &cm_drep, &cm_lap, &cm_apr, &cm_sidr_req, &cm_sidr_rep};

inline constexpr std::array cm_mad_fields =
    detail::joined(detail::mad_header_fields(&cm_attribute),
                   std::array{
                       choice("data", 0x18, 0xe8, cm_data_choices, "Message."),
                   });
inline constexpr Layout cm_mad{"cm_mad", Kind::datagram, 0x100, cm_mad_fields,
                               "Datagram of communication management."};

inline constexpr std::array datagrams_layouts{&mad_header,
                                              &rmpp_header,
                                              &smp_lid_routed,
                                              &smp_directed_route,
                                              &pma_mad,
                                              &sa_mad,
                                              &cm_mad,
                                              &notice,
                                              &notice_trap_64_67,
                                              &notice_trap_128,
                                              &notice_trap_129_131,
                                              &notice_trap_144,
                                              &notice_trap_145,
                                              &notice_trap_256,
                                              &notice_trap_257_258,
                                              &notice_trap_259,
                                              &node_description,
                                              &node_info,
                                              &switch_info,
                                              &guid_info,
                                              &port_info,
                                              &p_key_table,
                                              &sl_to_vl_mapping_table,
                                              &vl_arbitration_table,
                                              &linear_forwarding_table,
                                              &lid_port_block,
                                              &random_forwarding_table,
                                              &multicast_forwarding_table,
                                              &sm_info,
                                              &class_port_info,
                                              &port_samples_control,
                                              &port_samples_result,
                                              &port_samples_result_extended,
                                              &port_counters,
                                              &port_counters_extended,
                                              &path_record,
                                              &mc_member_record,
                                              &service_record,
                                              &node_record,
                                              &port_info_record,
                                              &guid_info_record,
                                              &inform_info,
                                              &inform_info_record,
                                              &multi_path_record,
                                              &reported_notice,
                                              &cm_req,
                                              &cm_mra,
                                              &cm_rej,
                                              &cm_rep,
                                              &cm_rtu,
                                              &cm_dreq,
                                              &cm_drep,
                                              &cm_lap,
                                              &cm_apr,
                                              &cm_sidr_req,
                                              &cm_sidr_rep};
inline constexpr std::array datagrams_enumerations{&mgmt_class,
                                                   &mad_method,
                                                   &mad_status,
                                                   &sa_status,
                                                   &smp_attribute,
                                                   &pma_attribute,
                                                   &sa_attribute,
                                                   &cm_attribute,
                                                   &node_type,
                                                   &link_down_default_state,
                                                   &link_width,
                                                   &link_speed,
                                                   &link_speed_ext,
                                                   &mtu_code,
                                                   &vl_cap,
                                                   &rate_code,
                                                   &port_capability_mask,
                                                   &port_capability_mask2,
                                                   &init_type,
                                                   &m_key_protect,
                                                   &notice_type,
                                                   &notice_producer,
                                                   &trap_number,
                                                   &trap_144_changes,
                                                   &sm_state,
                                                   &sm_info_modifier,
                                                   &class_port_info_capability,
                                                   &pma_capability,
                                                   &pma_sample_status,
                                                   &pma_counter_select,
                                                   &pma_counter_select2,
                                                   &pma_counter_select_ext,
                                                   &pma_sample_counter,
                                                   &rmpp_type,
                                                   &rmpp_flags,
                                                   &rmpp_status,
                                                   &sa_selector,
                                                   &mc_join_state,
                                                   &path_record_component,
                                                   &mc_member_record_component,
                                                   &cm_reject_reason,
                                                   &cm_mra_message,
                                                   &cm_rej_message,
                                                   &cm_transport_service_type,
                                                   &cm_extended_transport_type,
                                                   &cm_failover,
                                                   &cm_apr_status,
                                                   &cm_sidr_status};
inline constexpr Group datagrams_group{
    .name = "datagrams",
    .title = "MADs",
    .meaning = "Datagrams of subnet management, performance management, subnet administration and "
               "communication management, their attributes and messages.",
    .layouts = datagrams_layouts,
    .enumerations = datagrams_enumerations,
    .source = "InfiniBand Architecture Specification volume 1, release 1.5, chapters 12 "
              "(communication management), 13 (management model), 14 (subnet management), 15 "
              "(subnet administration) and 16 (performance management)",
    .is_for_device_only = true};

} // namespace hwtab
