// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Named values of contexts, events and commands.
#pragma once

#include "hwtab/model.hpp"

#include <array>

namespace hwtab {

inline constexpr std::array eq_status_values{
    Value{"ok", 0x0, "The queue works."},
    Value{"eq_write_failure", 0xa, "An entry could not be written to host memory."},
};
inline constexpr Enumeration eq_status{"eq_status", eq_status_values,
                                       "Condition of an event queue."};

inline constexpr std::array eq_state_values{
    Value{"armed", 0x9, "The next entry raises an interrupt."},
    Value{"fired", 0xa, "The interrupt was raised; no further one until the queue is armed."},
    Value{"always_armed", 0xb, "Every entry raises an interrupt."},
};
inline constexpr Enumeration eq_state{
    "eq_state", eq_state_values, "Whether an event queue raises an interrupt for its next entry."};

inline constexpr std::array cq_status_values{
    Value{"ok", 0x0, "The queue works."},
    Value{"cq_overflow", 0x9, "An entry was due while the queue was full."},
    Value{"cq_write_fail", 0xa, "An entry could not be written to host memory."},
};
inline constexpr Enumeration cq_status{"cq_status", cq_status_values,
                                       "Condition of a completion queue."};

inline constexpr std::array cq_state_values{
    Value{"solicited_notification_request_armed", 0x6,
          "A solicited or erroneous completion reports an event."},
    Value{"notification_request_armed", 0x9, "The next completion reports an event."},
    Value{"fired", 0xa, "The event was reported; no further one until the queue is armed."},
};
inline constexpr Enumeration cq_state{"cq_state", cq_state_values,
                                      "What makes a completion queue report its next event."};

inline constexpr std::array cqe_size_values{
    Value{"64_bytes", 0x0, "Entries of 64 bytes."},
    Value{"128_bytes", 0x1, "Entries of 128 bytes, the upper half of which is the completion."},
    Value{"128_bytes_pad", 0x2, "Completions of 64 bytes, each in 128 bytes."},
};
inline constexpr Enumeration cqe_size{"cqe_size", cqe_size_values,
                                      "Size and spacing of the entries of a completion queue."};

inline constexpr std::array cq_period_mode_values{
    Value{"start_from_eqe", 0x0, "The period begins with the last event."},
    Value{"start_from_cqe", 0x1, "Each new completion restarts the period."},
};
inline constexpr Enumeration cq_period_mode{
    "cq_period_mode", cq_period_mode_values,
    "From which moment the moderation period of a completion queue runs."};

inline constexpr std::array mini_cqe_format_values{
    Value{"hash", 0x0, "The hash of the packet."},
    Value{"csum", 0x1, "The checksum of the packet."},
    Value{"csum_stridx", 0x3, "The checksum and the index of the stride."},
};
inline constexpr Enumeration mini_cqe_format{
    "mini_cqe_format", mini_cqe_format_values,
    "What a compressed receive completion carries beside the byte count."};

inline constexpr std::array cqe_compression_layout_values{
    Value{"basic", 0x0, "A title entry, followed by arrays of mini entries."},
    Value{"enhanced", 0x1, "The newer arrangement, which has its own capability."},
};
inline constexpr Enumeration cqe_compression_layout{"cqe_compression_layout",
                                                    cqe_compression_layout_values,
                                                    "Arrangement of compressed completions."};

inline constexpr std::array qp_state_values{
    Value{"rst", 0x0, "Reset: nothing is accepted, nothing is sent."},
    Value{"init", 0x1, "Initialised: receive work requests may be posted, none is executed."},
    Value{"rtr", 0x2, "Ready to receive."},
    Value{"rts", 0x3, "Ready to send and to receive."},
    Value{"sqer", 0x4, "The send queue stopped with an error, the receive queue works."},
    Value{"sqd", 0x5, "The send queue is drained, and no WQE is started."},
    Value{"err", 0x6, "Error: outstanding and new work requests are flushed."},
    Value{"sq_draining", 0x7, "The send queue finishes what it has begun, then it is drained."},
    Value{"suspended", 0x9, "The queue pair is suspended by the device."},
};
inline constexpr Enumeration qp_state{"qp_state", qp_state_values, "State of a queue pair."};

inline constexpr std::array qp_service_type_values{
    Value{"rc", 0x0, "Reliable connection."},
    Value{"uc", 0x1, "Unreliable connection."},
    Value{"ud", 0x2, "Unreliable datagram."},
    Value{"xrc", 0x3, "Extended reliable connection."},
    Value{"mlx", 0x4, "Packets whose headers software builds."},
    Value{"dci", 0x5, "Initiator of dynamically connected transport."},
    Value{"dct", 0x6, "Target of dynamically connected transport."},
    Value{"qp0", 0x7, "Queue pair 0, for subnet management."},
    Value{"qp1", 0x8, "QP 1, for GSI."},
    Value{"raw_ethertype", 0x9, "Raw Ethernet frames."},
    Value{"raw_ipv6", 0xa, "Raw IPv6 datagrams."},
    Value{"sniffer", 0xb, "Copies of the port's traffic."},
    Value{"reg_umr", 0xc, "Memory registration by work requests."},
    Value{"ptp_1588", 0xd, "Time synchronisation by IEEE 1588."},
    Value{"sync_umr", 0xe, "Memory registration that is synchronised with its users."},
};
inline constexpr Enumeration qp_service_type{"qp_service_type", qp_service_type_values,
                                             "Transport service of a queue pair."};

inline constexpr std::array qp_migration_state_values{
    Value{"armed", 0x0, "The alternate path is taken as soon as the primary path fails."},
    Value{"rearm", 0x1, "Software asks the device to arm migration again."},
    Value{"migrated", 0x3, "The queue pair runs on its primary path; nothing is armed."},
};
inline constexpr Enumeration qp_migration_state{"qp_migration_state", qp_migration_state_values,
                                                "State of automatic path migration."};

inline constexpr std::array qp_offload_type_values{
    Value{"rndv", 0x1, "Rendezvous of tag-matched messages."},
};
inline constexpr Enumeration qp_offload_type{
    "qp_offload_type", qp_offload_type_values,
    "Protocol that the device carries out for a queue pair."};

inline constexpr std::array qp_retry_mode_values{
    Value{"go_back_n", 0x1, "Everything from the lost packet on is sent again."},
};
inline constexpr Enumeration qp_retry_mode{"qp_retry_mode", qp_retry_mode_values,
                                           "How a requester repeats after a loss."};

inline constexpr std::array qp_end_padding_values{
    Value{"scatter_as_is", 0x0, "Exactly the bytes of the message are written."},
    Value{"pad_to_cache_line_alignment", 0x1, "The last write is filled up to a whole cache line."},
};
inline constexpr Enumeration qp_end_padding{
    "qp_end_padding", qp_end_padding_values,
    "How the end of scattered data is written to host memory."};

inline constexpr std::array qp_mtu_values{
    Value{"256_bytes", 0x1, "256 bytes."},
    Value{"512_bytes", 0x2, "512 bytes."},
    Value{"1k_bytes", 0x3, "1024 bytes."},
    Value{"2k_bytes", 0x4, "2048 bytes."},
    Value{"4k_bytes", 0x5, "4096 bytes."},
    Value{"raw_ethernet_qp", 0x7,
          "No limit of InfiniBand: the queue pair carries Ethernet frames."},
};
inline constexpr Enumeration qp_mtu{"qp_mtu", qp_mtu_values, "Largest payload of a packet."};

inline constexpr std::array qp_rq_type_values{
    Value{"non_zero_rq", 0x0, "From its own receive queue."},
    Value{"srq_rq", 0x1, "From a shared receive queue, an RMP or an XRQ."},
    Value{"crq_rq", 0x2, "From what the interface calls a CRQ."},
    Value{"zero_len_rq", 0x3, "It has no receive queue."},
};
inline constexpr Enumeration qp_rq_type{"qp_rq_type", qp_rq_type_values,
                                        "Where a queue pair takes its receive work requests from."};

inline constexpr std::array timestamp_format_values{
    Value{"free_running", 0x0, "The free-running cycle counter."},
    Value{"default", 0x1, "What the device uses if nothing is chosen."},
    Value{"real_time", 0x2, "Real time in seconds and nanoseconds."},
};
inline constexpr Enumeration timestamp_format{"timestamp_format", timestamp_format_values,
                                              "Clock behind the time stamps of completions."};

inline constexpr std::array atomic_mode_values{
    Value{"ib_spec", 0x1, "Operations of 8 bytes as in the InfiniBand specification."},
    Value{"only_8b", 0x2, "Operations of 8 bytes only."},
    Value{"up_to_8b", 0x3, "Operations of up to 8 bytes."},
    Value{"up_to_16b", 0x4, "Operations of up to 16 bytes."},
    Value{"up_to_32b", 0x5, "Operations of up to 32 bytes."},
    Value{"up_to_64b", 0x6, "Operations of up to 64 bytes."},
    Value{"up_to_128b", 0x7, "Operations of up to 128 bytes."},
    Value{"up_to_256b", 0x8, "Operations of up to 256 bytes."},
};
inline constexpr Enumeration atomic_mode{
    "atomic_mode", atomic_mode_values,
    "Which atomic operations the responder of a queue pair accepts."};

inline constexpr std::array qp_cs_req_values{
    Value{"disable", 0x0, "Data never goes into the completion."},
    Value{"up_to_32b", 0x11, "Up to 32 bytes."},
    Value{"up_to_64b", 0x22, "Up to 64 bytes, in a completion of 128 bytes."},
};
inline constexpr Enumeration qp_cs_req{
    "qp_cs_req", qp_cs_req_values,
    "Up to which size the data of a response is put into the requester's completion."};

inline constexpr std::array qp_cs_res_values{
    Value{"disable", 0x0, "Data never goes into the completion."},
    Value{"up_to_32b", 0x1, "Up to 32 bytes."},
    Value{"up_to_64b", 0x2, "Up to 64 bytes, in a completion of 128 bytes."},
};
inline constexpr Enumeration qp_cs_res{
    "qp_cs_res", qp_cs_res_values, "Up to which size received data is put into the completion."};

inline constexpr std::array wq_type_values{
    Value{"linked_list", 0x0, "Each entry names the next one."},
    Value{"cyclic", 0x1, "The entries form a ring."},
    Value{"linked_list_striding_rq", 0x2, "A linked list whose buffers are divided into strides."},
    Value{"cyclic_striding_rq", 0x3, "A ring whose buffers are divided into strides."},
};
inline constexpr Enumeration wq_type{"wq_type", wq_type_values,
                                     "Arrangement of the entries of a work queue."};

inline constexpr std::array wq_end_padding_values{
    Value{"end_pad_none", 0x0, "Exactly the bytes of the message are written."},
    Value{"end_pad_align", 0x1, "The last write is filled up to a whole cache line."},
};
inline constexpr Enumeration wq_end_padding{
    "wq_end_padding", wq_end_padding_values,
    "How the end of scattered data is written to host memory."};

inline constexpr std::array rmp_state_values{
    Value{"rdy", 0x1, "Receive work requests are taken from it."},
    Value{"err", 0x3, "The pool stopped with an error."},
};
inline constexpr Enumeration rmp_state{"rmp_state", rmp_state_values,
                                       "State of a receive memory pool."};

inline constexpr std::array srq_state_values{
    Value{"good", 0x0, "The queue works."},
    Value{"error", 0x1, "The queue stopped with an error."},
};
inline constexpr Enumeration srq_state{"srq_state", srq_state_values,
                                       "State of a shared receive queue, of any kind."};

inline constexpr std::array xrq_topology_values{
    Value{"no_special_topology", 0x0, "Entries are taken in order, whatever arrives."},
    Value{"tag_matching", 0x1, "The tag of a message selects the memory it goes to."},
};
inline constexpr Enumeration xrq_topology{
    "xrq_topology", xrq_topology_values,
    "How an extended shared receive queue finds memory for a message."};

inline constexpr std::array xrq_offload_values{
    Value{"rndv", 0x1, "The device fetches the data of a matched rendezvous by itself."},
};
inline constexpr Enumeration xrq_offload{"xrq_offload", xrq_offload_values,
                                         "What the device does for matched messages."};

inline constexpr std::array mkey_access_mode_values{
    Value{"pa", 0x0, "Addresses are bus addresses; there is no translation."},
    Value{"mtt", 0x1, "A list of pages of one size."},
    Value{"klms", 0x2, "A list of ranges of other memory keys, each with its own length."},
    Value{"ksm", 0x3, "A list of ranges of other memory keys, all of one length."},
    Value{"sw_icm", 0x4, "Device memory for tables that software manages."},
    Value{"memic", 0x5, "MEMIC for user space."},
    Value{"crossing", 0x6, "A memory key of another virtual HCA."},
};
inline constexpr Enumeration mkey_access_mode{
    "mkey_access_mode", mkey_access_mode_values,
    "How a memory key finds the memory: access_mode_4_2 holds the upper three bits, "
    "access_mode_1_0 the lower two."};

inline constexpr std::array wqe_page_fault_type_values{
    Value{"rmp", 0x0, "A receive work request of a receive memory pool."},
    Value{"req_send_or_write", 0x1, "The requester, at a send or an RDMA write."},
    Value{"resp", 0x2, "The responder."},
    Value{"req_read_or_atomic", 0x3, "The requester, at an RDMA read or an atomic operation."},
};
inline constexpr Enumeration wqe_page_fault_type{"wqe_page_fault_type", wqe_page_fault_type_values,
                                                 "Place of a page fault that a work request met."};

inline constexpr std::array page_fault_flags_values{
    Value{"requestor", 0x1, "The requester met it, otherwise the responder."},
    Value{"write", 0x2, "The memory was to be written, otherwise read."},
    Value{"rdma", 0x4, "It was an RDMA operation, otherwise a work request."},
};
inline constexpr Enumeration page_fault_flags{"page_fault_flags", page_fault_flags_values,
                                              "Operation that met a page fault.", true};

inline constexpr std::array dct_state_values{
    Value{"active", 0x0, "The target accepts connections."},
    Value{"draining", 0x1, "The target finishes what it has begun."},
    Value{"drained", 0x2, "Nothing is outstanding; the target can be destroyed."},
};
inline constexpr Enumeration dct_state{"dct_state", dct_state_values,
                                       "State of a dynamically connected target."};

inline constexpr std::array dct_cs_res_values{
    Value{"disable", 0x0, "Data never goes into the completion."},
    Value{"na", 0x1, "Not available for this object."},
    Value{"up_to_64b", 0x2, "Up to 64 bytes, in a completion of 128 bytes."},
};
inline constexpr Enumeration dct_cs_res{
    "dct_cs_res", dct_cs_res_values, "Up to which size received data is put into the completion."};

inline constexpr std::array ib_port_state_values{
    Value{"nop", 0x0, "No change, when written."},
    Value{"down", 0x1, "The link is down."},
    Value{"initialize", 0x2, "The link is up; the subnet manager has not configured the port."},
    Value{"armed", 0x3, "The port is configured and waits for its activation."},
    Value{"active", 0x4, "The port carries data."},
};
inline constexpr Enumeration ib_port_state{"ib_port_state", ib_port_state_values,
                                           "Logical state of an InfiniBand port."};

inline constexpr std::array ib_port_physical_state_values{
    Value{"nop", 0x0, "No change, when written."},
    Value{"sleep", 0x1, "The link is idle to save power."},
    Value{"polling", 0x2, "The port looks for a partner."},
    Value{"disabled", 0x3, "The port neither sends nor receives."},
    Value{"port_configuration_training", 0x4, "Both ends negotiate width and speed."},
    Value{"link_up", 0x5, "The link can carry packets."},
    Value{"link_error_recovery", 0x6, "The link retrains after errors."},
    Value{"phy_test", 0x7, "The transmitter is under test."},
};
inline constexpr Enumeration ib_port_physical_state{
    "ib_port_physical_state", ib_port_physical_state_values,
    "State of the link training of an InfiniBand port."};

inline constexpr std::array vport_policy_values{
    Value{"down", 0x0, "It is always down."},
    Value{"up", 0x1, "It is always up."},
    Value{"follow", 0x2, "It follows the physical port."},
};
inline constexpr Enumeration vport_policy{"vport_policy", vport_policy_values,
                                          "How the link state of a virtual port is determined."};

inline constexpr std::array vport_state_values{
    Value{"down", 0x0, "The virtual port is down."},
    Value{"up", 0x1, "The virtual port is up."},
};
inline constexpr Enumeration vport_state{"vport_state", vport_state_values,
                                         "Link state of a virtual port."};

inline constexpr std::array hca_vport_field_select_values{
    Value{"port_guid", 0x1, "The GUID of the port."},
    Value{"node_guid", 0x2, "The GUID of the node."},
    Value{"state_policy", 0x4, "The policy of the link state."},
};
inline constexpr Enumeration hca_vport_field_select{
    "hca_vport_field_select", hca_vport_field_select_values,
    "Fields that MODIFY_HCA_VPORT_CONTEXT shall change.", true};

inline constexpr std::array cq_modify_field_select_values{
    Value{"cq_period", 0x1, "The moderation period."},
    Value{"cq_max_count", 0x2, "The number of completions per event."},
    Value{"oi", 0x4, "Whether an overrun is ignored."},
    Value{"c_eqn", 0x8, "The event queue."},
    Value{"cq_period_mode", 0x10, "The start of the moderation period."},
};
inline constexpr Enumeration cq_modify_field_select{"cq_modify_field_select",
                                                    cq_modify_field_select_values,
                                                    "Fields that MODIFY_CQ shall change.", true};

inline constexpr std::array cq_resize_field_select_values{
    Value{"log_cq_size", 0x1, "The number of entries."},
    Value{"page_offset", 0x2, "The offset in the first page."},
    Value{"log_page_size", 0x4, "The size of the pages."},
};
inline constexpr Enumeration cq_resize_field_select{
    "cq_resize_field_select", cq_resize_field_select_values,
    "Fields that change when MODIFY_CQ resizes a completion queue.", true};

inline constexpr std::array object_type_values{
    Value{"sw_icm", 0x8, "Device memory for tables that software manages."},
    Value{"geneve_tlv_opt", 0xb, "An option that the GENEVE parser recognises."},
    Value{"virtio_net_q", 0xd, "A queue of an emulated virtio network device."},
    Value{"match_definer", 0x18, "A choice of header fields for flow rules."},
    Value{"virtio_q_counters", 0x1c, "Counters of a virtio queue."},
    Value{"header_modify_argument", 0x23, "Arguments of a header change."},
    Value{"stc", 0x40, "An STC of flow steering."},
    Value{"rtc", 0x41, "An RTC of flow steering."},
    Value{"ste", 0x42, "Entries of flow steering."},
    Value{"modify_hdr_pattern", 0x43, "A pattern of header changes."},
    Value{"page_track", 0x46, "A tracker of the pages that the device writes."},
    Value{"mkey", 0xff01, "A memory key."},
    Value{"qp", 0xff02, "A queue pair."},
    Value{"psv", 0xff03, "A signature value."},
    Value{"rmp", 0xff04, "A receive memory pool."},
    Value{"xrc_srq", 0xff05, "A shared receive queue of an XRC domain."},
    Value{"rq", 0xff06, "A receive queue."},
    Value{"sq", 0xff07, "A send queue."},
    Value{"tir", 0xff08, "A transport interface for receiving."},
    Value{"tis", 0xff09, "A transport interface for sending."},
    Value{"dct", 0xff0a, "A dynamically connected target."},
    Value{"xrq", 0xff0b, "An extended shared receive queue."},
    Value{"rqt", 0xff0e, "A table of receive queues."},
    Value{"flow_counter", 0xff0f, "A counter of flow rules."},
    Value{"cq", 0xff10, "A completion queue."},
    Value{"ft_alias", 0xff15, "A flow table of another virtual HCA."},
};
inline constexpr Enumeration object_type{"object_type", object_type_values,
                                         "Kind of an object, in general commands and in events."};

inline constexpr std::array event_type_values{
    Value{"comp", 0x0, "A completion queue has new entries."},
    Value{"path_mig", 0x1, "A queue pair moved to its alternate path."},
    Value{"comm_est", 0x2, "The first packet arrived at a queue pair that is ready to receive."},
    Value{"sq_drained", 0x3, "The send queue of a queue pair is drained."},
    Value{"cq_error", 0x4, "A completion queue stopped with an error."},
    Value{"wq_catas_error", 0x5, "A work queue stopped because of a local error."},
    Value{"path_mig_failed", 0x7, "The alternate path was refused."},
    Value{"internal_error", 0x8, "The device failed."},
    Value{"port_change", 0x9, "A property of a port changed; the sub-type says which."},
    Value{"cmd", 0xa, "Commands are complete."},
    Value{"page_request", 0xb, "The firmware wants pages or returns pages."},
    Value{"page_fault", 0xc, "An access met a page that is not present."},
    Value{"nic_vport_change", 0xd, "The context of an Ethernet virtual port changed."},
    Value{"esw_functions_changed", 0xe, "The number of functions behind the switch changed."},
    Value{"vhca_state_change", 0xf, "A virtual HCA changed its state."},
    Value{"wq_inval_req_error", 0x10, "A work queue received an invalid request."},
    Value{"wq_access_error", 0x11,
          "A request violated the access rights of a work queue's memory."},
    Value{"srq_catas_error", 0x12, "A shared receive queue stopped with an error."},
    Value{"srq_last_wqe", 0x13, "A queue pair in error took its last shared receive work request."},
    Value{"srq_rq_limit", 0x14, "Fewer receive work requests are left than the limit."},
    Value{"gpio_event", 0x15, "An input pin changed."},
    Value{"port_module_event", 0x16, "A cable or transceiver was plugged, unplugged or failed."},
    Value{"temp_warn_event", 0x17, "A sensor measures too high a temperature."},
    Value{"xrq_error", 0x18, "An extended shared receive queue stopped with an error."},
    Value{"remote_config", 0x19, "The configuration was changed from outside the host."},
    Value{"db_bf_congestion", 0x1a, "Doorbells and BlueFlame writes are congested."},
    Value{"stall_event", 0x1b, "A virtual lane stalls."},
    Value{"dct_drained", 0x1c, "A dynamically connected target is drained."},
    Value{"dct_key_violation", 0x1d, "A packet with a wrong access key reached a target."},
    Value{"dropped_packet_logged", 0x1f, "A dropped packet was recorded."},
    Value{"fpga_error", 0x20, "The FPGA of the adapter failed."},
    Value{"fpga_qp_error", 0x21, "A queue pair of the FPGA failed."},
    Value{"general_event", 0x22, "A notification that the sub-type explains."},
    Value{"monitor_counter", 0x24, "A watched counter changed."},
    Value{"pps_event", 0x25, "A pulse-per-second signal occurred."},
    Value{"device_tracer", 0x26, "The trace of the firmware needs attention."},
    Value{"object_change", 0x27, "An object of a user context changed."},
};
inline constexpr Enumeration event_type{.name = "event_type",
                                        .values = event_type_values,
                                        .meaning = "What an event reports.",
                                        .has_names = true};

inline constexpr std::array port_change_subtype_values{
    Value{"down", 0x1, "The port went down."},
    Value{"active", 0x4, "The port became active."},
    Value{"initialized", 0x5, "The link came up; the port waits for the subnet manager."},
    Value{"lid", 0x6, "The local identifier changed."},
    Value{"pkey", 0x7, "The partition table changed."},
    Value{"guid", 0x8, "The GUID table changed."},
    Value{"client_rereg", 0x9, "The subnet manager asks clients to register again."},
};
inline constexpr Enumeration port_change_subtype{
    .name = "port_change_subtype",
    .values = port_change_subtype_values,
    .meaning = "Property of the port that changed, in the sub-type of a port event.",
    .has_names = true};

inline constexpr std::array page_fault_subtype_values{
    Value{"wqe", 0x0, "A work request or its data met the fault."},
    Value{"rdma", 0x1, "An RDMA operation from the peer met the fault."},
    Value{"memory", 0x2, "The fault is reported by mkey and address."},
};
inline constexpr Enumeration page_fault_subtype{
    "page_fault_subtype", page_fault_subtype_values,
    "Kind of a page fault, in the sub-type of its event."};

inline constexpr std::array cq_error_syndrome_values{
    Value{"cq_overrun", 0x1, "A completion was due while the queue was full."},
    Value{"cq_access_violation_error", 0x2, "The memory of the queue could not be accessed."},
};
inline constexpr Enumeration cq_error_syndrome{.name = "cq_error_syndrome",
                                               .values = cq_error_syndrome_values,
                                               .meaning = "Why a completion queue stopped.",
                                               .has_names = true};

inline constexpr std::array event_queue_type_values{
    Value{"qp", 0x0, "A queue pair."},
    Value{"rq", 0x1, "A receive queue."},
    Value{"sq", 0x2, "A send queue."},
    Value{"dct", 0x6, "A dynamically connected target."},
};
inline constexpr Enumeration event_queue_type{
    "event_queue_type", event_queue_type_values,
    "Which kind of queue the number in an event belongs to."};

inline constexpr std::array page_request_flags_values{
    Value{"release_all_pages", 0x4000, "The firmware wants to return every page of the function."},
    Value{"embedded_cpu_function", 0x8000, "The function belongs to the processor on the adapter."},
};
inline constexpr Enumeration page_request_flags{"page_request_flags", page_request_flags_values,
                                                "Upper half of the first word of a page request.",
                                                true};

inline constexpr std::array modify_cq_op_mod_values{
    Value{"modify_cq", 0x0, "The fields that are selected."},
    Value{"resize_cq", 0x1, "The buffer and its size."},
};
inline constexpr Enumeration modify_cq_op_mod{"modify_cq_op_mod", modify_cq_op_mod_values,
                                              "What MODIFY_CQ changes."};

inline constexpr std::array modify_memic_op_mod_values{
    Value{"alloc", 0x0, "Gives an operation an address."},
    Value{"dealloc", 0x1, "Takes its address."},
};
inline constexpr Enumeration modify_memic_op_mod{"modify_memic_op_mod", modify_memic_op_mod_values,
                                                 "What MODIFY_MEMIC does."};

inline constexpr std::array memic_operation_type_values{
    Value{"increment", 0x0, "A write adds what it carries."},
    Value{"test_and_set", 0x1, "A read sets the memory to one and yields what it was."},
};
inline constexpr Enumeration memic_operation_type{
    "memic_operation_type", memic_operation_type_values,
    "Operation of the device on its memory that an access of an address triggers."};

inline constexpr std::array qp_send_dbr_mode_values{
    Value{"dbr_valid", 0x0, "The doorbell record has the counter."},
    Value{"no_dbr_ext", 0x1, "There is none; a doorbell in the UAR page carries the index."},
    Value{"no_dbr_int", 0x2, "There is none; a doorbell of the device carries the index."},
};
inline constexpr Enumeration qp_send_dbr_mode{"qp_send_dbr_mode", qp_send_dbr_mode_values,
                                              "How a send queue learns how far it is filled."};

inline constexpr std::array qp_optional_parameters_values{
    Value{"alt_addr_path", 0x1, "The alternate path."},
    Value{"rre", 0x2, "Permission for RDMA reads by the peer."},
    Value{"rae", 0x4, "Permission for atomic operations by the peer."},
    Value{"rwe", 0x8, "Permission for RDMA writes by the peer."},
    Value{"pkey_index", 0x10, "The index of the partition key."},
    Value{"q_key", 0x20, "The queue key."},
    Value{"rnr_timeout", 0x40, "The delay that RNR NAKs demand."},
    Value{"primary_addr_path", 0x80, "The primary path."},
    Value{"sra_max", 0x100, "Outstanding RDMA reads and atomics of the requester."},
    Value{"rra_max", 0x200, "Outstanding RDMA reads and atomics of the responder."},
    Value{"pm_state", 0x400, "The state of path migration."},
    Value{"init2init_drain_sigerr", 0x800, "Draining at signature errors; from INIT to INIT."},
    Value{"retry_count", 0x1000, "The number of transport retries."},
    Value{"rnr_retry", 0x2000, "The number of retries after RNR NAKs."},
    Value{"ack_timeout", 0x4000, "The time to wait for an acknowledge."},
    Value{"lag_tx_aff", 0x8000, "The port of a link aggregation group."},
    Value{"pri_port", 0x10000, "The port of the primary path."},
    Value{"srqn", 0x40000, "The shared receive queue."},
    Value{"cqn_rcv", 0x80000, "The completion queue of the receive queue."},
    Value{"dc_hs", 0x100000,
          "A parameter of dynamically connected transport that the interface calls DC_HS."},
    Value{"dc_key", 0x200000, "The access key of dynamically connected transport."},
    Value{"counter_set_id", 0x2000000, "The set of counters."},
};
inline constexpr Enumeration qp_optional_parameters{
    "qp_optional_parameters", qp_optional_parameters_values,
    "Fields of the context that a state transition shall take over although it need not.", true};

inline constexpr std::array arm_rq_op_mod_values{
    Value{"srq", 0x1, "A shared receive queue."},
    Value{"xrq", 0x2, "An extended shared receive queue."},
};
inline constexpr Enumeration arm_rq_op_mod{"arm_rq_op_mod", arm_rq_op_mod_values,
                                           "Which kind of queue ARM_RQ arms."};

inline constexpr std::array arm_xrc_srq_op_mod_values{
    Value{"xrc_srq", 0x1, "A shared receive queue of an XRC domain."},
};
inline constexpr Enumeration arm_xrc_srq_op_mod{"arm_xrc_srq_op_mod", arm_xrc_srq_op_mod_values,
                                                "Which kind of queue ARM_XRC_SRQ arms."};

inline constexpr std::array vport_state_op_mod_values{
    Value{"vnic_vport", 0x0, "The end at the function."},
    Value{"esw_vport", 0x1, "The end at the switch."},
    Value{"uplink", 0x2, "The physical port behind the switch."},
};
inline constexpr Enumeration vport_state_op_mod{
    "vport_state_op_mod", vport_state_op_mod_values,
    "Which end of a virtual port a command about its state means."};

inline constexpr std::array vport_admin_state_values{
    Value{"down", 0x0, "It shall be down."},
    Value{"up", 0x1, "It shall be up."},
    Value{"auto", 0x2, "It shall follow the physical port."},
};
inline constexpr Enumeration vport_admin_state{
    "vport_admin_state", vport_admin_state_values,
    "Link state that the administrator demands of a virtual port."};

} // namespace hwtab
