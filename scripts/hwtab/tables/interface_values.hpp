// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Named values of the command interface, the capabilities and the access registers.
#pragma once

#include "hwtab/model.hpp"

#include <array>

namespace hwtab {

inline constexpr std::array command_status_values{
    Value{"ok", 0x0, "The command was carried out."},
    Value{"internal_error", 0x1, "The firmware failed; the command may have had no effect."},
    Value{"bad_operation", 0x2, "The firmware doesn't know the opcode or the op_mod."},
    Value{"bad_parameter", 0x3, "A field of the input has a value that isn't allowed."},
    Value{"bad_system_state", 0x4, "The function is in no state in which the command is allowed."},
    Value{"bad_resource", 0x5, "A number in the input names no object, or one of another owner."},
    Value{"resource_busy", 0x6, "Other objects still refer to the object."},
    Value{"not_ready", 0x7, "The device can't carry out commands yet."},
    Value{"exceeds_limit", 0x8, "A limit of the capabilities would be exceeded."},
    Value{"bad_resource_state", 0x9, "The object is in no state in which the command is allowed."},
    Value{"bad_index", 0xa, "An index is outside its table."},
    Value{"no_resources", 0xf, "The device has no object of this kind left."},
    Value{"bad_qp_state", 0x10, "The queue pair is in no state that allows the transition."},
    Value{"bad_packet", 0x30, "A MAD is malformed."},
    Value{"bad_size_with_outstanding_cqes", 0x40,
          "The new completion queue is too small for the entries that are outstanding."},
    Value{"bad_input_length", 0x50, "The input is too short or too long for the command."},
    Value{"bad_output_length", 0x51, "The room for the output is too small."},
};
inline constexpr Enumeration command_status{
    .name = "command_status",
    .values = command_status_values,
    .meaning = "Result of a command, in the first byte of its output.",
    .has_names = true};

inline constexpr std::array command_delivery_status_values{
    Value{"ok", 0x0, "The command reached the firmware."},
    Value{"signature_error", 0x1, "The signature of the entry or of a mailbox is wrong."},
    Value{"token_error", 0x2, "A mailbox carries another token than the entry."},
    Value{"bad_block_number", 0x3, "The mailboxes of a chain are not numbered in order."},
    Value{"bad_output_pointer", 0x4, "The output mailbox is not aligned."},
    Value{"bad_input_pointer", 0x5, "The input mailbox is not aligned."},
    Value{"internal_error", 0x6, "The firmware failed while it took the command."},
    Value{"input_length_error", 0x7, "The input length does not fit the mailboxes or the command."},
    Value{"output_length_error", 0x8,
          "The output length does not fit the mailboxes or the command."},
    Value{"reserved_not_zero", 0x9, "A reserved field of the entry is not zero."},
    Value{"bad_command_descriptor", 0x10, "The device cannot make sense of the entry."},
};
inline constexpr Enumeration command_delivery_status{
    .name = "command_delivery_status",
    .values = command_delivery_status_values,
    .meaning = "Whether the device could take a command from its queue entry, bits 7 to 1 of the "
               "entry's last "
               "byte.",
    .has_names = true};

inline constexpr std::array command_queue_entry_type_values{
    Value{"pcie_cmd_if_transport", 0x7, "The command is handed over through memory, across PCIe."},
};
inline constexpr Enumeration command_queue_entry_type{"command_queue_entry_type",
                                                      command_queue_entry_type_values,
                                                      "Transport of a command queue entry."};

inline constexpr std::array command_owner_values{
    Value{"software", 0, "Software may fill the entry or read the result."},
    Value{"hardware", 1, "The device works on the command."},
};
inline constexpr Enumeration command_owner{"command_owner", command_owner_values,
                                           "Who may touch a command queue entry."};

inline constexpr std::array nic_interface_values{
    Value{"full_driver", 0x0, "Every command and object is there."},
    Value{"disabled", 0x1, "The interface is shut; the device does no DMA."},
    Value{"no_dram_nic", 0x2, "A boot agent can send and receive without memory pages."},
};
inline constexpr Enumeration nic_interface{
    "nic_interface", nic_interface_values,
    "Mode in which the device runs its interface to software."};

inline constexpr std::array nic_interface_request_values{
    Value{"disabled", 0x1, "Shut the interface and stop all DMA."},
    Value{"sw_reset", 0x7, "Reset the device, for recovery from a fatal fault."},
};
inline constexpr Enumeration nic_interface_request{
    "nic_interface_request", nic_interface_request_values,
    "Mode that software asks for in bits 10 to 8 of the word at 0x14 of the initialization "
    "segment; one bit wider than the field nic_interface."};

inline constexpr std::array nic_interface_supported_values{
    Value{"full_driver", 0x1, "The full interface is there."},
    Value{"disabled", 0x2, "Software can shut the interface."},
    Value{"no_dram_nic", 0x4, "The interface without memory pages is there."},
};
inline constexpr Enumeration nic_interface_supported{
    "nic_interface_supported", nic_interface_supported_values,
    "Interface modes that the device can enter.", true};

inline constexpr std::array timer_offset_values{
    Value{"internal_h", 0x1000, "Free-running timer in ticks of the device, bits 63 to 32."},
    Value{"internal_l", 0x1004, "Free-running timer, bits 31 to 0."},
    Value{"real_time_h", 0x1040, "Clock of the device, seconds."},
    Value{"real_time_l", 0x1044, "Clock of the device, nanoseconds."},
};
inline constexpr Enumeration timer_offset{
    "timer_offset", timer_offset_values,
    "Where in the initialization segment the timers are, in bytes; its layout has no names there."};

inline constexpr std::array health_syndrome_values{
    Value{"fw_internal_err", 0x1, "The firmware ran into a fault of its own."},
    Value{"dead_irisc", 0x7, "An internal processor no longer responds."},
    Value{"hw_fatal_err", 0x8, "The hardware failed for good."},
    Value{"fw_crc_err", 0x9, "The firmware image or its memory fails its checksum."},
    Value{"icm_fetch_pci_err", 0xa, "PCIe failed while the device fetched its context memory."},
    Value{"icm_page_err", 0xb, "A page of context memory in the host could not be used."},
    Value{"asynchronous_eq_buf_overrun", 0xc, "An event queue for asynchronous events ran over."},
    Value{"eq_in_err", 0xd, "An event queue is in the error state."},
    Value{"eq_inv", 0xe, "An event was due for an event queue that is not valid."},
    Value{"ffser_err", 0xf, "An error that firmware cannot recover from was detected."},
    Value{"high_temp_err", 0x10, "The device is too hot."},
    Value{"icm_pci_poisoned_err", 0x12, "PCIe delivered context memory marked as poisoned."},
};
inline constexpr Enumeration health_syndrome{
    .name = "health_syndrome",
    .values = health_syndrome_values,
    .meaning = "Kind of fault that the device reports about itself.",
    .has_names = true};

inline constexpr std::array health_severity_values{
    Value{"emergency", 0, "The system cannot be used."},
    Value{"alert", 1, "Action is needed at once."},
    Value{"critical", 2, "The fault is critical."},
    Value{"error", 3, "An operation failed."},
    Value{"warning", 4, "Something may go wrong."},
    Value{"notice", 5, "The condition is normal but noteworthy."},
    Value{"info", 6, "The report is for information."},
    Value{"debug", 7, "The report helps in finding faults."},
};
inline constexpr Enumeration health_severity{
    .name = "health_severity",
    .values = health_severity_values,
    .meaning = "Severity of a reported fault, in the order of system logs.",
    .has_names = true};

inline constexpr std::array query_pages_op_mod_values{
    Value{"boot_pages", 0x1, "Pages that the firmware needs before anything else."},
    Value{"init_pages", 0x2, "Pages that INIT_HCA needs."},
    Value{"regular_pages", 0x3,
          "Pages wanted during operation; negative means pages to give back."},
};
inline constexpr Enumeration query_pages_op_mod{"query_pages_op_mod", query_pages_op_mod_values,
                                                "Which demand for pages QUERY_PAGES asks about."};

inline constexpr std::array manage_pages_op_mod_values{
    Value{"allocation_fail", 0x0, "Software has no pages to give."},
    Value{"allocation_success", 0x1, "Software gives the pages in the list to the device."},
    Value{"hca_return_pages", 0x2, "The device gives pages back and lists them in the output."},
};
inline constexpr Enumeration manage_pages_op_mod{"manage_pages_op_mod", manage_pages_op_mod_values,
                                                 "What MANAGE_PAGES does with pages."};

inline constexpr std::array teardown_hca_profile_values{
    Value{"graceful_close", 0x0,
          "Software has destroyed its objects; pages can be taken back after it."},
    Value{"force_close", 0x1, "The device stops at once, whatever objects there are."},
    Value{"prepare_fast_teardown", 0x2,
          "The device prepares to stop as soon as the interface is disabled."},
};
inline constexpr Enumeration teardown_hca_profile{"teardown_hca_profile",
                                                  teardown_hca_profile_values,
                                                  "Way in which TEARDOWN_HCA stops the device."};

inline constexpr std::array teardown_hca_state_values{
    Value{"success", 0x0, "The device has stopped, or is prepared to."},
    Value{"fail", 0x1, "The device could not do it; the graceful way is left."},
};
inline constexpr Enumeration teardown_hca_state{"teardown_hca_state", teardown_hca_state_values,
                                                "Outcome of a forced or fast TEARDOWN_HCA."};

inline constexpr std::array access_register_op_mod_values{
    Value{"write", 0x0, "Change the register."},
    Value{"read", 0x1, "Read the register."},
};
inline constexpr Enumeration access_register_op_mod{
    "access_register_op_mod", access_register_op_mod_values, "Direction of ACCESS_REGISTER."};

inline constexpr std::array mad_ifc_op_mod_values{
    Value{"ignore_mkey", 0x1, "The M_Key of the datagram is not checked."},
    Value{"ignore_bkey", 0x2, "The B_Key of the datagram is not checked."},
};
inline constexpr Enumeration mad_ifc_op_mod{"mad_ifc_op_mod", mad_ifc_op_mod_values,
                                            "Checks that MAD_IFC leaves out.", true};

inline constexpr std::array hca_cap_type_values{
    Value{"general", 0x0, "General capabilities."},
    Value{"ethernet_offloads", 0x1, "Ethernet offloads."},
    Value{"odp", 0x2, "On-demand paging."},
    Value{"atomic", 0x3, "Atomic operations."},
    Value{"roce", 0x4, "RoCE."},
    Value{"ipoib_offloads", 0x5, "IPoIB offloads."},
    Value{"ipoib_enhanced_offloads", 0x6, "Enhanced IPoIB offloads."},
    Value{"flow_table", 0x7, "Flow tables of the NIC."},
    Value{"eswitch_flow_table", 0x8, "Flow tables of the E-switch."},
    Value{"eswitch", 0x9, "E-switch."},
    Value{"qos", 0xc, "Quality of service."},
    Value{"debug", 0xd, "Debugging."},
    Value{"device_memory", 0xf, "MEMIC."},
    Value{"tls", 0x11, "TLS offload."},
    Value{"vdpa_emulation", 0x13, "Emulation of virtio devices."},
    Value{"device_event", 0x14, "Event types open to user contexts."},
    Value{"ipsec", 0x15, "IPsec offload."},
    Value{"crypto", 0x1a, "Cryptography."},
    Value{"macsec", 0x1f, "MACsec offload."},
    Value{"general_2", 0x20, "General capabilities, second page."},
    Value{"port_selection", 0x25, "Port selection."},
    Value{"adv_virtualization", 0x26, "Advanced virtualization."},
};
inline constexpr Enumeration hca_cap_type{
    "hca_cap_type", hca_cap_type_values,
    "Capability page of QUERY_HCA_CAP and SET_HCA_CAP: op_mod shifted right by one bit."};

inline constexpr std::array hca_cap_mode_values{
    Value{"maximum", 0, "What the device can do."},
    Value{"current", 1, "What is configured."},
};
inline constexpr Enumeration hca_cap_mode{"hca_cap_mode", hca_cap_mode_values,
                                          "Which values QUERY_HCA_CAP reads, bit 0 of op_mod."};

inline constexpr std::array query_hca_cap_op_mod_values{
    Value{"general_maximum", 0x0, "General capabilities: what the device can do."},
    Value{"general_current", 0x1, "General capabilities: what is configured."},
    Value{"odp_maximum", 0x4, "On-demand paging: what the device can do."},
    Value{"odp_current", 0x5, "On-demand paging: what is configured."},
    Value{"atomic_maximum", 0x6, "Atomic operations: what the device can do."},
    Value{"atomic_current", 0x7, "Atomic operations: what is configured."},
    Value{"roce_maximum", 0x8, "RoCE: what the device can do."},
    Value{"roce_current", 0x9, "RoCE: what is configured."},
    Value{"device_memory_maximum", 0x1e, "MEMIC: what the device can do."},
    Value{"device_memory_current", 0x1f, "MEMIC: what is configured."},
    Value{"device_event_maximum", 0x28,
          "Event types open to user contexts: what the device can do."},
    Value{"device_event_current", 0x29, "Event types open to user contexts: what is configured."},
    Value{"general_2_maximum", 0x40, "General capabilities, second page: what the device can do."},
    Value{"general_2_current", 0x41, "General capabilities, second page: what is configured."},
    Value{"port_selection_maximum", 0x4a, "Port selection: what the device can do."},
    Value{"port_selection_current", 0x4b, "Port selection: what is configured."},
};
inline constexpr Enumeration query_hca_cap_op_mod{
    "query_hca_cap_op_mod", query_hca_cap_op_mod_values,
    "Page and kind of value that QUERY_HCA_CAP reads."};

inline constexpr std::array set_hca_cap_op_mod_values{
    Value{"general", 0x0, "General capabilities."},
    Value{"ethernet_offloads", 0x2, "Ethernet offloads."},
    Value{"odp", 0x4, "On-demand paging."},
    Value{"atomic", 0x6, "Atomic operations."},
    Value{"roce", 0x8, "RoCE."},
    Value{"ipsec", 0x2a, "IPsec offload."},
    Value{"general_2", 0x40, "General capabilities, second page."},
    Value{"port_selection", 0x4a, "Port selection."},
};
inline constexpr Enumeration set_hca_cap_op_mod{"set_hca_cap_op_mod", set_hca_cap_op_mod_values,
                                                "Page that SET_HCA_CAP configures."};

inline constexpr std::array gid_table_size_values{
    Value{"entries_8", 0x0, "8 entries."},     Value{"entries_16", 0x1, "16 entries."},
    Value{"entries_32", 0x2, "32 entries."},   Value{"entries_64", 0x3, "64 entries."},
    Value{"entries_128", 0x4, "128 entries."},
};
inline constexpr Enumeration gid_table_size{
    "gid_table_size", gid_table_size_values,
    "Length of the GID table: eight entries shifted left by the code."};

inline constexpr std::array pkey_table_size_values{
    Value{"entries_128", 0x0, "128 entries."},   Value{"entries_256", 0x1, "256 entries."},
    Value{"entries_512", 0x2, "512 entries."},   Value{"entries_1024", 0x3, "1024 entries."},
    Value{"entries_2048", 0x4, "2048 entries."}, Value{"entries_4096", 0x5, "4096 entries."},
};
inline constexpr Enumeration pkey_table_size{
    "pkey_table_size", pkey_table_size_values,
    "Length of the P_Key table: 128 entries shifted left by the code."};

inline constexpr std::array port_type_values{
    Value{"ib", 0x0, "InfiniBand."},
    Value{"ethernet", 0x1, "Ethernet."},
};
inline constexpr Enumeration port_type{"port_type", port_type_values, "Link layer of the ports."};

inline constexpr std::array cqe_version_values{
    Value{"version_0", 0x0, "Completions name the queue by its number."},
    Value{"version_1", 0x1, "Completions carry the user index of the queue."},
};
inline constexpr Enumeration cqe_version{"cqe_version", cqe_version_values,
                                         "Layout of completion queue entries."};

inline constexpr std::array cmdif_checksum_values{
    Value{"disabled", 0x0, "The device neither checks nor writes them."},
    Value{"initial_state", 0x1, "Signatures are as they were at start-up."},
    Value{"enabled", 0x3, "The device checks and writes them."},
};
inline constexpr Enumeration cmdif_checksum{"cmdif_checksum", cmdif_checksum_values,
                                            "Signatures of command mailboxes."};

inline constexpr std::array umr_fence_values{
    Value{"strong", 0x0, "Strong ordering."},
    Value{"small", 0x1, "A fence of the initiator side."},
    Value{"none", 0x2, "None."},
};
inline constexpr Enumeration umr_fence{"umr_fence", umr_fence_values,
                                       "Fence that a work request needs after a UMR."};

inline constexpr std::array timestamp_format_cap_values{
    Value{"free_running", 0x0, "The free-running timer."},
    Value{"real_time", 0x1, "The real-time clock."},
    Value{"free_running_and_real_time", 0x2, "Either of them."},
};
inline constexpr Enumeration timestamp_format_cap{"timestamp_format_cap",
                                                  timestamp_format_cap_values,
                                                  "Clocks whose time completions can carry."};

inline constexpr std::array steering_format_version_values{
    Value{"connectx_5", 0x0, "ConnectX-5."},
    Value{"connectx_6dx", 0x1, "ConnectX-6 Dx."},
    Value{"connectx_7", 0x2, "ConnectX-7."},
};
inline constexpr Enumeration steering_format_version{
    "steering_format_version", steering_format_version_values,
    "Generation whose format flow steering entries have."};

inline constexpr std::array general_obj_types_values{
    Value{"sw_icm", 0x100, "Context memory that software manages."},
    Value{"geneve_tlv_opt", 0x800, "Option of a GENEVE header."},
    Value{"encryption_key", 0x1000, "Key for cryptography."},
    Value{"virtio_net_q", 0x2000, "Queue of an emulated virtio network device."},
    Value{"ipsec", 0x80000, "IPsec security association."},
    Value{"match_definer", 0x1000000, "Definition of what a flow rule compares."},
    Value{"sampler", 0x100000000, "Sampler of a flow."},
    Value{"header_modify_argument", 0x800000000, "Argument of a header change."},
    Value{"flow_meter_aso", 0x1000000000, "Meter of a flow."},
    Value{"macsec_offload", 0x8000000000, "MACsec security association."},
};
inline constexpr Enumeration general_obj_types{"general_obj_types", general_obj_types_values,
                                               "Kinds of general object that can be created.",
                                               true};

inline constexpr std::array flex_parser_protocols_values{
    Value{"geneve", 0x8, "GENEVE options."},
    Value{"cw_mpls_gre", 0x10, "MPLS over GRE."},
    Value{"cw_mpls_udp", 0x20, "MPLS over UDP."},
    Value{"icmp", 0x100, "ICMP."},
    Value{"icmpv6", 0x200, "ICMPv6."},
};
inline constexpr Enumeration flex_parser_protocols{
    "flex_parser_protocols", flex_parser_protocols_values,
    "Protocols that the flexible parser recognizes.", true};

inline constexpr std::array uctx_cap_values{
    Value{"raw_tx", 0x1, "It may send raw packets."},
    Value{"internal_dev_res", 0x2, "It may use resources internal to the device."},
};
inline constexpr Enumeration uctx_cap{"uctx_cap", uctx_cap_values,
                                      "Rights that a user context can be given.", true};

inline constexpr std::array atomic_req_8b_endianness_mode_values{
    Value{"big_endian", 0x0, "Big endian."},
    Value{"host_endianness", 0x1, "The byte order of the host."},
};
inline constexpr Enumeration atomic_req_8b_endianness_mode{
    "atomic_req_8b_endianness_mode", atomic_req_8b_endianness_mode_values,
    "Byte order in which 8-byte atomic operations treat memory."};

inline constexpr std::array atomic_operations_values{
    Value{"cmp_swap", 0x1, "Compare and swap."},
    Value{"fetch_add", 0x2, "Fetch and add."},
    Value{"extended_cmp_swap", 0x4, "Compare and swap with masks and wider operands."},
    Value{"extended_fetch_add", 0x8, "Fetch and add with masks and wider operands."},
};
inline constexpr Enumeration atomic_operations{"atomic_operations", atomic_operations_values,
                                               "Atomic operations.", true};

inline constexpr std::array atomic_size_values{
    Value{"byte_1", 0x1, "1 byte."},         Value{"bytes_2", 0x2, "2 bytes."},
    Value{"bytes_4", 0x4, "4 bytes."},       Value{"bytes_8", 0x8, "8 bytes."},
    Value{"bytes_16", 0x10, "16 bytes."},    Value{"bytes_32", 0x20, "32 bytes."},
    Value{"bytes_64", 0x40, "64 bytes."},    Value{"bytes_128", 0x80, "128 bytes."},
    Value{"bytes_256", 0x100, "256 bytes."},
};
inline constexpr Enumeration atomic_size{"atomic_size", atomic_size_values,
                                         "Operand sizes of extended atomic operations.", true};

inline constexpr std::array ptys_proto_mask_values{
    Value{"ib", 0x1, "InfiniBand."},
    Value{"en", 0x4, "Ethernet."},
};
inline constexpr Enumeration ptys_proto_mask{"ptys_proto_mask", ptys_proto_mask_values,
                                             "Link layer that an access to PTYS concerns.", true};

inline constexpr std::array ib_link_width_values{
    Value{"1x", 0x1, "One lane."},       Value{"2x", 0x2, "Two lanes."},
    Value{"4x", 0x4, "Four lanes."},     Value{"8x", 0x8, "Eight lanes."},
    Value{"12x", 0x10, "Twelve lanes."},
};
inline constexpr Enumeration ib_link_width{"ib_link_width", ib_link_width_values,
                                           "Width of an InfiniBand link.", true};

inline constexpr std::array ib_proto_values{
    Value{"sdr", 0x1, "2.5 Gb/s, 8b/10b."},       Value{"ddr", 0x2, "5 Gb/s, 8b/10b."},
    Value{"qdr", 0x4, "10 Gb/s, 8b/10b."},        Value{"fdr10", 0x8, "10.3125 Gb/s, 64b/66b."},
    Value{"fdr", 0x10, "14.0625 Gb/s, 64b/66b."}, Value{"edr", 0x20, "25.78125 Gb/s, 64b/66b."},
    Value{"hdr", 0x40, "53.125 Gb/s, PAM4."},     Value{"ndr", 0x80, "106.25 Gb/s, PAM4."},
};
inline constexpr Enumeration ib_proto{"ib_proto", ib_proto_values,
                                      "Data rate of an InfiniBand lane.", true};

inline constexpr std::array an_status_values{
    Value{"unavailable", 0x0, "The port does not negotiate."},
    Value{"complete", 0x1, "The negotiation succeeded."},
    Value{"failed", 0x2, "The negotiation failed."},
    Value{"link_up", 0x3, "The link is up without negotiation."},
    Value{"link_down", 0x4, "The link is down; nothing was negotiated."},
};
inline constexpr Enumeration an_status{
    "an_status", an_status_values,
    "State of the negotiation between the ends of an Ethernet link."};

inline constexpr std::array connector_type_values{
    Value{"unknown", 0x0, "Not known."},
    Value{"none", 0x1, "No connector."},
    Value{"tp", 0x2, "Twisted pair."},
    Value{"aui", 0x3, "AUI."},
    Value{"bnc", 0x4, "BNC."},
    Value{"mii", 0x5, "MII."},
    Value{"fibre", 0x6, "Optical fibre."},
    Value{"da", 0x7, "Direct-attach copper."},
    Value{"other", 0x8, "Another one."},
};
inline constexpr Enumeration connector_type{"connector_type", connector_type_values,
                                            "Connector of a port."};

inline constexpr std::array ib_mtu_values{
    Value{"mtu_256", 0x1, "256 bytes."},   Value{"mtu_512", 0x2, "512 bytes."},
    Value{"mtu_1024", 0x3, "1024 bytes."}, Value{"mtu_2048", 0x4, "2048 bytes."},
    Value{"mtu_4096", 0x5, "4096 bytes."},
};
inline constexpr Enumeration ib_mtu{"ib_mtu", ib_mtu_values,
                                    "Largest payload of an InfiniBand packet."};

inline constexpr std::array vl_count_values{
    Value{"vl0", 0x1, "VL 0 only."},     Value{"vl0_1", 0x2, "VL 0 and 1."},
    Value{"vl0_2", 0x3, "VL 0 to 2."},   Value{"vl0_3", 0x4, "VL 0 to 3."},
    Value{"vl0_4", 0x5, "VL 0 to 4."},   Value{"vl0_5", 0x6, "VL 0 to 5."},
    Value{"vl0_6", 0x7, "VL 0 to 6."},   Value{"vl0_7", 0x8, "VL 0 to 7."},
    Value{"vl0_14", 0xf, "VL 0 to 14."},
};
inline constexpr Enumeration vl_count{"vl_count", vl_count_values,
                                      "Virtual lanes for data of an InfiniBand port."};

inline constexpr std::array port_admin_status_values{
    Value{"up", 0x1, "The port brings its link up."},
    Value{"down", 0x2, "The port keeps its link down."},
    Value{"up_once", 0x3, "Up until the link is lost, then down."},
    Value{"disabled", 0x4, "The system has disabled the port."},
};
inline constexpr Enumeration port_admin_status{"port_admin_status", port_admin_status_values,
                                               "State in which software wants a port."};

inline constexpr std::array port_oper_status_values{
    Value{"up", 0x1, "The link is up."},
    Value{"down", 0x2, "The link is down."},
    Value{"failure", 0x4, "The link is down because the port failed."},
};
inline constexpr Enumeration port_oper_status{"port_oper_status", port_oper_status_values,
                                              "State in which a port is."};

inline constexpr std::array event_generation_values{
    Value{"none", 0x0, "No event."},
    Value{"always", 0x1, "An event at every change."},
    Value{"once", 0x2, "An event at the next change only."},
};
inline constexpr Enumeration event_generation{"event_generation", event_generation_values,
                                              "Whether a change generates an event."};

inline constexpr std::array port_number_access_values{
    Value{"local_port", 0x0, "Number of the port within the device."},
    Value{"ib_port", 0x1, "InfiniBand port number."},
};
inline constexpr Enumeration port_number_access{"port_number_access", port_number_access_values,
                                                "Meaning of a local port number in PPCNT."};

inline constexpr std::array ppcnt_group_values{
    Value{"ieee_802_3", 0x0, "Counters of IEEE 802.3."},
    Value{"rfc_2863", 0x1, "Interface counters of RFC 2863."},
    Value{"rfc_2819", 0x2, "Remote monitoring counters of RFC 2819."},
    Value{"rfc_3635", 0x3, "Ethernet counters of RFC 3635."},
    Value{"ethernet_extended", 0x5, "Further Ethernet counters."},
    Value{"per_priority", 0x10, "Counters of one priority."},
    Value{"per_traffic_class", 0x11, "Counters of one traffic class."},
    Value{"physical_layer", 0x12, "Errors of the physical layer."},
    Value{"per_traffic_class_congestion", 0x13, "Congestion of one traffic class."},
    Value{"physical_layer_statistical", 0x16, "Bits and bit errors of the physical layer."},
    Value{"infiniband_port", 0x20, "Attribute PortCounters of InfiniBand."},
    Value{"infiniband_extended_port", 0x21, "Attribute PortCountersExtended of InfiniBand."},
};
inline constexpr Enumeration ppcnt_group{"ppcnt_group", ppcnt_group_values,
                                         "Groups of port counters."};

inline constexpr std::array register_host_endian_values{
    Value{"little", 0x0, "Little endian."},
    Value{"big", 0x1, "Big endian."},
};
inline constexpr Enumeration register_host_endian{
    "register_host_endian", register_host_endian_values, "Byte order of the host."};

inline constexpr std::array timeout_unit_values{
    Value{"milliseconds", 0x0, "Milliseconds."},
    Value{"seconds", 0x1, "Seconds."},
    Value{"minutes", 0x2, "Minutes."},
    Value{"hours", 0x3, "Hours."},
};
inline constexpr Enumeration timeout_unit{"timeout_unit", timeout_unit_values,
                                          "Unit of a timeout."};

} // namespace hwtab
