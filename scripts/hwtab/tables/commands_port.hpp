// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Commands for ports, MADs, multicast and counters.
#pragma once

#include "hwtab/model.hpp"
#include "tables/command_header.hpp"
#include "tables/contexts.hpp"
#include "tables/object_values.hpp"

#include <array>

namespace hwtab {

inline constexpr Field query_hca_vport_context_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31,
         "The command concerns vport_number instead of the caller's own port."),
    reserved(0x8, 30, 20),
    bits("port_num", 0x8, 19, 16, "Physical port of the function, counted from 1."),
    bits("vport_number", 0x8, 15, 0, "Number of the virtual port, if other_vport is set."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_hca_vport_context_in{
    "query_hca_vport_context_in", Kind::command_input, 0x10, query_hca_vport_context_in_fields,
    "Input of QUERY_HCA_VPORT_CONTEXT."};

inline constexpr Field query_hca_vport_context_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested("hca_vport_context", 0x10, hca_vport_context, "Attributes of the virtual port."),
};
inline constexpr Layout query_hca_vport_context_out{
    "query_hca_vport_context_out", Kind::command_output, 0x210, query_hca_vport_context_out_fields,
    "Output of QUERY_HCA_VPORT_CONTEXT."};

inline constexpr Field modify_hca_vport_context_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31,
         "The command concerns vport_number instead of the caller's own port."),
    reserved(0x8, 30, 20),
    bits("port_num", 0x8, 19, 16, "Physical port of the function, counted from 1."),
    bits("vport_number", 0x8, 15, 0, "Number of the virtual port, if other_vport is set."),
    reserved_bytes(0xc, 0x4),
    nested("hca_vport_context", 0x10, hca_vport_context, "Attributes of the virtual port."),
};
inline constexpr Layout modify_hca_vport_context_in{
    "modify_hca_vport_context_in", Kind::command_input, 0x210, modify_hca_vport_context_in_fields,
    "Input of MODIFY_HCA_VPORT_CONTEXT."};

inline constexpr Field modify_hca_vport_context_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout modify_hca_vport_context_out{
    "modify_hca_vport_context_out", Kind::command_output, 0x10, modify_hca_vport_context_out_fields,
    "Output of MODIFY_HCA_VPORT_CONTEXT."};

inline constexpr Field query_hca_vport_gid_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31,
         "The command concerns vport_number instead of the caller's own port."),
    reserved(0x8, 30, 20),
    bits("port_num", 0x8, 19, 16, "Physical port of the function, counted from 1."),
    bits("vport_number", 0x8, 15, 0, "Number of the virtual port, if other_vport is set."),
    reserved(0xc, 31, 16),
    bits("gid_index", 0xc, 15, 0, "Index of a GID; 0xffff asks for all."),
};
inline constexpr Layout query_hca_vport_gid_in{"query_hca_vport_gid_in", Kind::command_input, 0x10,
                                               query_hca_vport_gid_in_fields,
                                               "Input of QUERY_HCA_VPORT_GID."};

inline constexpr Field query_hca_vport_gid_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x4),
    bits("gids_num", 0xc, 31, 16, "Number of GIDs that follow."),
    reserved(0xc, 15, 0),
    nested_list("gid", 0x10, gid, "GIDs from the given index on."),
};
inline constexpr Layout query_hca_vport_gid_out{"query_hca_vport_gid_out", Kind::command_output,
                                                0x10, query_hca_vport_gid_out_fields,
                                                "Output of QUERY_HCA_VPORT_GID."};

inline constexpr Field query_hca_vport_pkey_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31,
         "The command concerns vport_number instead of the caller's own port."),
    reserved(0x8, 30, 20),
    bits("port_num", 0x8, 19, 16, "Physical port of the function, counted from 1."),
    bits("vport_number", 0x8, 15, 0, "Number of the virtual port, if other_vport is set."),
    reserved(0xc, 31, 16),
    bits("pkey_index", 0xc, 15, 0, "Index of a partition key; 0xffff asks for all."),
};
inline constexpr Layout query_hca_vport_pkey_in{"query_hca_vport_pkey_in", Kind::command_input,
                                                0x10, query_hca_vport_pkey_in_fields,
                                                "Input of QUERY_HCA_VPORT_PKEY."};

inline constexpr Field query_hca_vport_pkey_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested_list("pkey", 0x10, pkey, "Partition keys from the given index on."),
};
inline constexpr Layout query_hca_vport_pkey_out{"query_hca_vport_pkey_out", Kind::command_output,
                                                 0x10, query_hca_vport_pkey_out_fields,
                                                 "Output of QUERY_HCA_VPORT_PKEY."};

inline constexpr Field query_vport_state_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31,
         "The command concerns vport_number instead of the caller's own port."),
    reserved(0x8, 30, 16),
    bits("vport_number", 0x8, 15, 0, "Number of the virtual port, if other_vport is set."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_vport_state_in{"query_vport_state_in", Kind::command_input, 0x10,
                                             query_vport_state_in_fields,
                                             "Input of QUERY_VPORT_STATE."};

inline constexpr Field query_vport_state_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x4),
    reserved(0xc, 31, 8),
    bits("admin_state", 0xc, 7, 4, "Link state that the administrator demands.",
         &vport_admin_state),
    bits("state", 0xc, 3, 0, "Link state of the virtual port.", &vport_state),
};
inline constexpr Layout query_vport_state_out{"query_vport_state_out", Kind::command_output, 0x10,
                                              query_vport_state_out_fields,
                                              "Output of QUERY_VPORT_STATE."};

inline constexpr Field query_vport_counter_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31,
         "The command concerns vport_number instead of the caller's own port."),
    reserved(0x8, 30, 20),
    bits("port_num", 0x8, 19, 16, "Physical port of the function, counted from 1."),
    bits("vport_number", 0x8, 15, 0, "Number of the virtual port, if other_vport is set."),
    reserved_bytes(0xc, 0xc),
    flag("clear", 0x18, 31, "The counters are set to zero after reading."),
    reserved(0x18, 30, 0),
    reserved_bytes(0x1c, 0x4),
};
inline constexpr Layout query_vport_counter_in{"query_vport_counter_in", Kind::command_input, 0x20,
                                               query_vport_counter_in_fields,
                                               "Input of QUERY_VPORT_COUNTER."};

inline constexpr Field query_vport_counter_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested("received_errors", 0x10, traffic_counter, "Received packets with errors."),
    nested("transmit_errors", 0x20, traffic_counter, "Packets that failed while being sent."),
    nested("received_ib_unicast", 0x30, traffic_counter, "Received InfiniBand unicast packets."),
    nested("transmitted_ib_unicast", 0x40, traffic_counter, "Sent InfiniBand unicast packets."),
    nested("received_ib_multicast", 0x50, traffic_counter,
           "Received InfiniBand multicast packets."),
    nested("transmitted_ib_multicast", 0x60, traffic_counter, "Sent InfiniBand multicast packets."),
    nested("received_eth_broadcast", 0x70, traffic_counter, "Received Ethernet broadcast frames."),
    nested("transmitted_eth_broadcast", 0x80, traffic_counter, "Sent Ethernet broadcast frames."),
    nested("received_eth_unicast", 0x90, traffic_counter, "Received Ethernet unicast frames."),
    nested("transmitted_eth_unicast", 0xa0, traffic_counter, "Sent Ethernet unicast frames."),
    nested("received_eth_multicast", 0xb0, traffic_counter, "Received Ethernet multicast frames."),
    nested("transmitted_eth_multicast", 0xc0, traffic_counter, "Sent Ethernet multicast frames."),
    nested("local_loopback", 0xd0, traffic_counter,
           "Packets that were looped back inside the device."),
    reserved_bytes(0xe0, 0x130),
};
inline constexpr Layout query_vport_counter_out{"query_vport_counter_out", Kind::command_output,
                                                0x210, query_vport_counter_out_fields,
                                                "Output of QUERY_VPORT_COUNTER."};

inline constexpr Field query_vnic_env_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31,
         "The command concerns vport_number instead of the caller's own port."),
    reserved(0x8, 30, 16),
    bits("vport_number", 0x8, 15, 0, "Number of the virtual port, if other_vport is set."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_vnic_env_in{"query_vnic_env_in", Kind::command_input, 0x10,
                                          query_vnic_env_in_fields, "Input of QUERY_VNIC_ENV."};

inline constexpr Field query_vnic_env_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested("vport_env", 0x10, vnic_diagnostic_statistics, "Counters of trouble of the function."),
};
inline constexpr Layout query_vnic_env_out{"query_vnic_env_out", Kind::command_output, 0x210,
                                           query_vnic_env_out_fields, "Output of QUERY_VNIC_ENV."};

inline constexpr Field mad_ifc_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    bits("remote_lid", 0x8, 31, 16, "LID of the node that sent the datagram."),
    bits("plane_index", 0x8, 15, 8, "Plane of a port with several planes."),
    bits("port", 0x8, 7, 0, "Port that the datagram is for, counted from 1."),
    reserved_bytes(0xc, 0x4),
    bytes("mad", 0x10, 256, "The MAD."),
};
inline constexpr Layout mad_ifc_in{"mad_ifc_in", Kind::command_input, 0x110, mad_ifc_in_fields,
                                   "Input of MAD_IFC."};

inline constexpr Field mad_ifc_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    bytes("response_mad_packet", 0x10, 256, "The response MAD."),
};
inline constexpr Layout mad_ifc_out{"mad_ifc_out", Kind::command_output, 0x110, mad_ifc_out_fields,
                                    "Output of MAD_IFC."};

inline constexpr Field access_register_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 16),
    bits("register_id", 0x8, 15, 0, "Number of the register."),
    word32("argument", 0xc, "Argument of the access; its use depends on the register."),
    list("register_data", 0x10, 32, "Contents of the register."),
};
inline constexpr Layout access_register_in{"access_register_in", Kind::command_input, 0x10,
                                           access_register_in_fields, "Input of ACCESS_REGISTER."};

inline constexpr Field access_register_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    list("register_data", 0x10, 32, "Contents of the register."),
};
inline constexpr Layout access_register_out{"access_register_out", Kind::command_output, 0x10,
                                            access_register_out_fields,
                                            "Output of ACCESS_REGISTER."};

inline constexpr Field attach_to_mcg_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("qpn", 0x8, 23, 0, "Number of the queue pair."),
    reserved_bytes(0xc, 0x4),
    bytes("multicast_gid", 0x10, 16, "Multicast GID of the group."),
};
inline constexpr Layout attach_to_mcg_in{"attach_to_mcg_in", Kind::command_input, 0x20,
                                         attach_to_mcg_in_fields, "Input of ATTACH_TO_MCG."};

inline constexpr Field attach_to_mcg_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout attach_to_mcg_out{"attach_to_mcg_out", Kind::command_output, 0x10,
                                          attach_to_mcg_out_fields, "Output of ATTACH_TO_MCG."};

inline constexpr Field detach_from_mcg_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("qpn", 0x8, 23, 0, "Number of the queue pair."),
    reserved_bytes(0xc, 0x4),
    bytes("multicast_gid", 0x10, 16, "Multicast GID of the group."),
};
inline constexpr Layout detach_from_mcg_in{"detach_from_mcg_in", Kind::command_input, 0x20,
                                           detach_from_mcg_in_fields, "Input of DETACH_FROM_MCG."};

inline constexpr Field detach_from_mcg_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout detach_from_mcg_out{"detach_from_mcg_out", Kind::command_output, 0x10,
                                            detach_from_mcg_out_fields,
                                            "Output of DETACH_FROM_MCG."};

inline constexpr Field alloc_q_counter_in_fields[] = {
    opcode_field, uid_field, reserved(0x4, 31, 16), op_mod_field, reserved_bytes(0x8, 0x8),
};
inline constexpr Layout alloc_q_counter_in{"alloc_q_counter_in", Kind::command_input, 0x10,
                                           alloc_q_counter_in_fields, "Input of ALLOC_Q_COUNTER."};

inline constexpr Field alloc_q_counter_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 8),
    bits("counter_set_id", 0x8, 7, 0, "Number of the new set of counters."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout alloc_q_counter_out{"alloc_q_counter_out", Kind::command_output, 0x10,
                                            alloc_q_counter_out_fields,
                                            "Output of ALLOC_Q_COUNTER."};

inline constexpr Field dealloc_q_counter_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 8),
    bits("counter_set_id", 0x8, 7, 0, "Number of the set of counters."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout dealloc_q_counter_in{"dealloc_q_counter_in", Kind::command_input, 0x10,
                                             dealloc_q_counter_in_fields,
                                             "Input of DEALLOC_Q_COUNTER."};

inline constexpr Field dealloc_q_counter_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout dealloc_q_counter_out{"dealloc_q_counter_out", Kind::command_output, 0x10,
                                              dealloc_q_counter_out_fields,
                                              "Output of DEALLOC_Q_COUNTER."};

inline constexpr Field query_q_counter_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31,
         "The command concerns vport_number instead of the caller's own port."),
    reserved(0x8, 30, 16),
    bits("vport_number", 0x8, 15, 0, "Number of the virtual port, if other_vport is set."),
    reserved_bytes(0xc, 0xc),
    flag("clear", 0x18, 31, "The counters are set to zero after reading."),
    flag("aggregate", 0x18, 30, "The sum over several sets of counters is wanted."),
    reserved(0x18, 29, 0),
    reserved(0x1c, 31, 8),
    bits("counter_set_id", 0x1c, 7, 0, "Set of counters to read."),
};
inline constexpr Layout query_q_counter_in{"query_q_counter_in", Kind::command_input, 0x20,
                                           query_q_counter_in_fields, "Input of QUERY_Q_COUNTER."};

inline constexpr Field query_q_counter_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    word32("rx_write_requests", 0x10, "Received RDMA write requests."),
    reserved_bytes(0x14, 0x4),
    word32("rx_read_requests", 0x18, "Received RDMA read requests."),
    reserved_bytes(0x1c, 0x4),
    word32("rx_atomic_requests", 0x20, "Received atomic requests."),
    reserved_bytes(0x24, 0x4),
    word32("rx_dct_connect", 0x28,
           "Received connection requests of dynamically connected transport."),
    reserved_bytes(0x2c, 0x4),
    word32("out_of_buffer", 0x30, "Packets dropped because no receive work request was there."),
    reserved_bytes(0x34, 0x4),
    word32("out_of_sequence", 0x38, "Packets that arrived out of order."),
    reserved_bytes(0x3c, 0x4),
    word32("duplicate_request", 0x40, "Requests that arrived again."),
    reserved_bytes(0x44, 0x4),
    word32("rnr_nak_retry_err", 0x48, "Times that RNR NAKs used up the retries."),
    reserved_bytes(0x4c, 0x4),
    word32("packet_seq_err", 0x50, "Received NAKs that report a sequence error."),
    reserved_bytes(0x54, 0x4),
    word32("implied_nak_seq_err", 0x58, "Responses that implied the loss of earlier ones."),
    reserved_bytes(0x5c, 0x4),
    word32("local_ack_timeout_err", 0x60, "Times that an acknowledge did not arrive in time."),
    reserved_bytes(0x64, 0xc),
    word32("req_rnr_retries_exceeded", 0x70, "Requester errors: retries after RNR NAKs used up."),
    reserved_bytes(0x74, 0x4),
    word32("resp_local_length_error", 0x78,
           "Responder errors: message longer than the receive buffers."),
    word32("req_local_length_error", 0x7c, "Requester errors: wrong length of a local buffer."),
    word32("resp_local_qp_error", 0x80, "Responder errors: local inconsistency of a queue pair."),
    word32("local_operation_error", 0x84, "Local operation errors."),
    word32("resp_local_protection", 0x88, "Responder errors: local memory protection."),
    word32("req_local_protection", 0x8c, "Requester errors: local memory protection."),
    word32("resp_cqe_error", 0x90, "Responder completions with an error."),
    word32("req_cqe_error", 0x94, "Requester completions with an error."),
    word32("req_mw_binding", 0x98, "Requester errors: binding of a memory window."),
    word32("req_bad_response", 0x9c, "Requester errors: unexpected response."),
    word32("req_remote_invalid_request", 0xa0,
           "Requester errors: the peer found a request invalid."),
    word32("resp_remote_invalid_request", 0xa4,
           "Responder errors: the peer's request was invalid."),
    word32("req_remote_access_errors", 0xa8, "Requester errors: the peer denied access to memory."),
    word32("resp_remote_access_errors", 0xac,
           "Responder errors: the peer's request lacked access rights."),
    word32("req_remote_operation_errors", 0xb0,
           "Requester errors: the peer could not carry out a request."),
    word32("req_transport_retries_exceeded", 0xb4, "Requester errors: transport retries used up."),
    word32("cq_overflow", 0xb8, "Overflows of completion queues."),
    word32("resp_cqe_flush_error", 0xbc, "Receive work requests that were flushed."),
    word32("req_cqe_flush_error", 0xc0, "Send work requests that were flushed."),
    reserved_bytes(0xc4, 0x4),
    word32("roce_adp_retrans", 0xc8, "Adaptive retransmissions (RoCE)."),
    word32("roce_adp_retrans_to", 0xcc, "Timeouts of adaptive retransmission (RoCE)."),
    word32("roce_slow_restart", 0xd0, "Uses of slow restart (RoCE)."),
    word32("roce_slow_restart_cnps", 0xd4,
           "Congestion notifications created by slow restart (RoCE)."),
    word32("roce_slow_restart_trans", 0xd8, "Transitions to slow restart (RoCE)."),
    reserved_bytes(0xdc, 0x24),
};
inline constexpr Layout query_q_counter_out{"query_q_counter_out", Kind::command_output, 0x100,
                                            query_q_counter_out_fields,
                                            "Output of QUERY_Q_COUNTER."};

inline constexpr Field query_lag_in_fields[] = {
    opcode_field, uid_field, reserved(0x4, 31, 16), op_mod_field, reserved_bytes(0x8, 0x8),
};
inline constexpr Layout query_lag_in{"query_lag_in", Kind::command_input, 0x10, query_lag_in_fields,
                                     "Input of QUERY_LAG."};

inline constexpr Field query_lag_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    nested("ctx", 0x8, lagc, "Link aggregation of the device's ports."),
};
inline constexpr Layout query_lag_out{"query_lag_out", Kind::command_output, 0x10,
                                      query_lag_out_fields, "Output of QUERY_LAG."};

inline constexpr Command cmd_query_hca_vport_context{
    "query_hca_vport_context", 0x762, &query_hca_vport_context_in, &query_hca_vport_context_out,
    "Reads the InfiniBand attributes of a virtual port."};
inline constexpr Command cmd_modify_hca_vport_context{
    "modify_hca_vport_context", 0x763, &modify_hca_vport_context_in, &modify_hca_vport_context_out,
    "Changes InfiniBand attributes of a virtual port."};
inline constexpr Command cmd_query_hca_vport_gid{"query_hca_vport_gid", 0x764,
                                                 &query_hca_vport_gid_in, &query_hca_vport_gid_out,
                                                 "Reads the GID table of a virtual port."};
inline constexpr Command cmd_query_hca_vport_pkey{
    "query_hca_vport_pkey", 0x765, &query_hca_vport_pkey_in, &query_hca_vport_pkey_out,
    "Reads the partition key table of a virtual port."};
inline constexpr Command cmd_query_vport_state{"query_vport_state",
                                               0x750,
                                               &query_vport_state_in,
                                               &query_vport_state_out,
                                               "Reads the link state of a virtual port.",
                                               &vport_state_op_mod};
inline constexpr Command cmd_query_vport_counter{"query_vport_counter", 0x770,
                                                 &query_vport_counter_in, &query_vport_counter_out,
                                                 "Reads the traffic counters of a virtual port."};
inline constexpr Command cmd_query_vnic_env{"query_vnic_env", 0x76f, &query_vnic_env_in,
                                            &query_vnic_env_out,
                                            "Reads the counters of trouble of a function."};
inline constexpr Command cmd_mad_ifc{
    "mad_ifc",      0x50d, &mad_ifc_in, &mad_ifc_out, "Hands a MAD to the agents of firmware.",
    &mad_ifc_op_mod};
inline constexpr Command cmd_access_register{"access_register",
                                             0x805,
                                             &access_register_in,
                                             &access_register_out,
                                             "Reads or writes a register.",
                                             &access_register_op_mod};
inline constexpr Command cmd_attach_to_mcg{"attach_to_mcg", 0x806, &attach_to_mcg_in,
                                           &attach_to_mcg_out,
                                           "Attaches a queue pair to a multicast group."};
inline constexpr Command cmd_detach_from_mcg{"detach_from_mcg", 0x807, &detach_from_mcg_in,
                                             &detach_from_mcg_out,
                                             "Detaches a queue pair from a multicast group."};
inline constexpr Command cmd_alloc_q_counter{"alloc_q_counter", 0x771, &alloc_q_counter_in,
                                             &alloc_q_counter_out,
                                             "Allocates a set of counters for queue pairs."};
inline constexpr Command cmd_dealloc_q_counter{"dealloc_q_counter", 0x772, &dealloc_q_counter_in,
                                               &dealloc_q_counter_out, "Frees a set of counters."};
inline constexpr Command cmd_query_q_counter{"query_q_counter", 0x773, &query_q_counter_in,
                                             &query_q_counter_out, "Reads a set of counters."};
inline constexpr Command cmd_query_lag{"query_lag", 0x842, &query_lag_in, &query_lag_out,
                                       "Tells whether the ports of the device are aggregated."};

inline constexpr std::array commands_port_layouts{&query_hca_vport_context_in,
                                                  &query_hca_vport_context_out,
                                                  &modify_hca_vport_context_in,
                                                  &modify_hca_vport_context_out,
                                                  &query_hca_vport_gid_in,
                                                  &query_hca_vport_gid_out,
                                                  &query_hca_vport_pkey_in,
                                                  &query_hca_vport_pkey_out,
                                                  &query_vport_state_in,
                                                  &query_vport_state_out,
                                                  &query_vport_counter_in,
                                                  &query_vport_counter_out,
                                                  &query_vnic_env_in,
                                                  &query_vnic_env_out,
                                                  &mad_ifc_in,
                                                  &mad_ifc_out,
                                                  &access_register_in,
                                                  &access_register_out,
                                                  &attach_to_mcg_in,
                                                  &attach_to_mcg_out,
                                                  &detach_from_mcg_in,
                                                  &detach_from_mcg_out,
                                                  &alloc_q_counter_in,
                                                  &alloc_q_counter_out,
                                                  &dealloc_q_counter_in,
                                                  &dealloc_q_counter_out,
                                                  &query_q_counter_in,
                                                  &query_q_counter_out,
                                                  &query_lag_in,
                                                  &query_lag_out};
inline constexpr std::array commands_port_enumerations{&vport_state, &vport_state_op_mod,
                                                       &vport_admin_state};
inline constexpr std::array commands_port_commands{&cmd_query_hca_vport_context,
                                                   &cmd_modify_hca_vport_context,
                                                   &cmd_query_hca_vport_gid,
                                                   &cmd_query_hca_vport_pkey,
                                                   &cmd_query_vport_state,
                                                   &cmd_query_vport_counter,
                                                   &cmd_query_vnic_env,
                                                   &cmd_mad_ifc,
                                                   &cmd_access_register,
                                                   &cmd_attach_to_mcg,
                                                   &cmd_detach_from_mcg,
                                                   &cmd_alloc_q_counter,
                                                   &cmd_dealloc_q_counter,
                                                   &cmd_query_q_counter,
                                                   &cmd_query_lag};
inline constexpr Group commands_port_group{.name = "commands_port",
                                           .title = "Commands: ports",
                                           .meaning =
                                               "Commands for ports, MADs, multicast and counters.",
                                           .layouts = commands_port_layouts,
                                           .enumerations = commands_port_enumerations,
                                           .commands = commands_port_commands};

} // namespace hwtab
