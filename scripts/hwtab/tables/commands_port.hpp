// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// -
#pragma once

#include "hwtab/model.hpp"
#include "tables/command_header.hpp"
#include "tables/contexts.hpp"
#include "tables/object_values.hpp"

#include <array>

namespace hwtab {

inline constexpr std::array query_hca_vport_context_in_fields{
    opcode_field,
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31, "-"),
    reserved(0x8, 30, 20),
    bits("port_num", 0x8, 19, 16, "-"),
    bits("vport_number", 0x8, 15, 0, "-"),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_hca_vport_context_in{
    "query_hca_vport_context_in", Kind::command_input, 0x10, query_hca_vport_context_in_fields,
    "Input of QUERY_HCA_VPORT_CONTEXT."};

inline constexpr std::array query_hca_vport_context_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested("hca_vport_context", 0x10, hca_vport_context, "-"),
};
inline constexpr Layout query_hca_vport_context_out{
    "query_hca_vport_context_out", Kind::command_output, 0x210, query_hca_vport_context_out_fields,
    "Output of QUERY_HCA_VPORT_CONTEXT."};

inline constexpr std::array modify_hca_vport_context_in_fields{
    opcode_field,
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31, "-"),
    reserved(0x8, 30, 20),
    bits("port_num", 0x8, 19, 16, "-"),
    bits("vport_number", 0x8, 15, 0, "-"),
    reserved_bytes(0xc, 0x4),
    nested("hca_vport_context", 0x10, hca_vport_context, "-"),
};
inline constexpr Layout modify_hca_vport_context_in{
    "modify_hca_vport_context_in", Kind::command_input, 0x210, modify_hca_vport_context_in_fields,
    "Input of MODIFY_HCA_VPORT_CONTEXT."};

inline constexpr std::array modify_hca_vport_context_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout modify_hca_vport_context_out{
    "modify_hca_vport_context_out", Kind::command_output, 0x10, modify_hca_vport_context_out_fields,
    "Output of MODIFY_HCA_VPORT_CONTEXT."};

inline constexpr std::array query_hca_vport_gid_in_fields{
    opcode_field,
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31, "-"),
    reserved(0x8, 30, 20),
    bits("port_num", 0x8, 19, 16, "-"),
    bits("vport_number", 0x8, 15, 0, "-"),
    reserved(0xc, 31, 16),
    bits("gid_index", 0xc, 15, 0, "-"),
};
inline constexpr Layout query_hca_vport_gid_in{"query_hca_vport_gid_in", Kind::command_input, 0x10,
                                               query_hca_vport_gid_in_fields,
                                               "Input of QUERY_HCA_VPORT_GID."};

inline constexpr std::array query_hca_vport_gid_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x4),
    bits("gids_num", 0xc, 31, 16, "-"),
    reserved(0xc, 15, 0),
    nested_list("gid", 0x10, gid, "-"),
};
inline constexpr Layout query_hca_vport_gid_out{"query_hca_vport_gid_out", Kind::command_output,
                                                0x10, query_hca_vport_gid_out_fields,
                                                "Output of QUERY_HCA_VPORT_GID."};

inline constexpr std::array query_hca_vport_pkey_in_fields{
    opcode_field,
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31, "-"),
    reserved(0x8, 30, 20),
    bits("port_num", 0x8, 19, 16, "-"),
    bits("vport_number", 0x8, 15, 0, "-"),
    reserved(0xc, 31, 16),
    bits("pkey_index", 0xc, 15, 0, "-"),
};
inline constexpr Layout query_hca_vport_pkey_in{"query_hca_vport_pkey_in", Kind::command_input,
                                                0x10, query_hca_vport_pkey_in_fields,
                                                "Input of QUERY_HCA_VPORT_PKEY."};

inline constexpr std::array query_hca_vport_pkey_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested_list("pkey", 0x10, pkey, "-"),
};
inline constexpr Layout query_hca_vport_pkey_out{"query_hca_vport_pkey_out", Kind::command_output,
                                                 0x10, query_hca_vport_pkey_out_fields,
                                                 "Output of QUERY_HCA_VPORT_PKEY."};

inline constexpr std::array query_vport_state_in_fields{
    opcode_field,
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31, "-"),
    reserved(0x8, 30, 16),
    bits("vport_number", 0x8, 15, 0, "-"),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_vport_state_in{"query_vport_state_in", Kind::command_input, 0x10,
                                             query_vport_state_in_fields,
                                             "Input of QUERY_VPORT_STATE."};

inline constexpr std::array query_vport_state_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x4),
    reserved(0xc, 31, 8),
    bits("admin_state", 0xc, 7, 4, "-"),
    bits("state", 0xc, 3, 0, "-"),
};
inline constexpr Layout query_vport_state_out{"query_vport_state_out", Kind::command_output, 0x10,
                                              query_vport_state_out_fields,
                                              "Output of QUERY_VPORT_STATE."};

inline constexpr std::array query_vport_counter_in_fields{
    opcode_field,
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31, "-"),
    reserved(0x8, 30, 20),
    bits("port_num", 0x8, 19, 16, "-"),
    bits("vport_number", 0x8, 15, 0, "-"),
    reserved_bytes(0xc, 0xc),
    flag("clear", 0x18, 31, "-"),
    reserved(0x18, 30, 0),
    reserved_bytes(0x1c, 0x4),
};
inline constexpr Layout query_vport_counter_in{"query_vport_counter_in", Kind::command_input, 0x20,
                                               query_vport_counter_in_fields,
                                               "Input of QUERY_VPORT_COUNTER."};

inline constexpr std::array query_vport_counter_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested("received_errors", 0x10, traffic_counter, "-"),
    nested("transmit_errors", 0x20, traffic_counter, "-"),
    nested("received_ib_unicast", 0x30, traffic_counter, "-"),
    nested("transmitted_ib_unicast", 0x40, traffic_counter, "-"),
    nested("received_ib_multicast", 0x50, traffic_counter, "-"),
    nested("transmitted_ib_multicast", 0x60, traffic_counter, "-"),
    nested("received_eth_broadcast", 0x70, traffic_counter, "-"),
    nested("transmitted_eth_broadcast", 0x80, traffic_counter, "-"),
    nested("received_eth_unicast", 0x90, traffic_counter, "-"),
    nested("transmitted_eth_unicast", 0xa0, traffic_counter, "-"),
    nested("received_eth_multicast", 0xb0, traffic_counter, "-"),
    nested("transmitted_eth_multicast", 0xc0, traffic_counter, "-"),
    nested("local_loopback", 0xd0, traffic_counter, "-"),
    reserved_bytes(0xe0, 0x130),
};
inline constexpr Layout query_vport_counter_out{"query_vport_counter_out", Kind::command_output,
                                                0x210, query_vport_counter_out_fields,
                                                "Output of QUERY_VPORT_COUNTER."};

inline constexpr std::array query_vnic_env_in_fields{
    opcode_field,
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31, "-"),
    reserved(0x8, 30, 16),
    bits("vport_number", 0x8, 15, 0, "-"),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_vnic_env_in{"query_vnic_env_in", Kind::command_input, 0x10,
                                          query_vnic_env_in_fields, "Input of QUERY_VNIC_ENV."};

inline constexpr std::array query_vnic_env_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested("vport_env", 0x10, vnic_diagnostic_statistics, "-"),
};
inline constexpr Layout query_vnic_env_out{"query_vnic_env_out", Kind::command_output, 0x210,
                                           query_vnic_env_out_fields, "Output of QUERY_VNIC_ENV."};

inline constexpr std::array mad_ifc_in_fields{
    opcode_field,
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    op_mod_field,
    bits("remote_lid", 0x8, 31, 16, "-"),
    bits("plane_index", 0x8, 15, 8, "-"),
    bits("port", 0x8, 7, 0, "-"),
    reserved_bytes(0xc, 0x4),
    bytes("mad", 0x10, 256, "-"),
};
inline constexpr Layout mad_ifc_in{"mad_ifc_in", Kind::command_input, 0x110, mad_ifc_in_fields,
                                   "Input of MAD_IFC."};

inline constexpr std::array mad_ifc_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    bytes("response_mad_packet", 0x10, 256, "-"),
};
inline constexpr Layout mad_ifc_out{"mad_ifc_out", Kind::command_output, 0x110, mad_ifc_out_fields,
                                    "Output of MAD_IFC."};

inline constexpr std::array access_register_in_fields{
    opcode_field,
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 16),
    bits("register_id", 0x8, 15, 0, "-"),
    word32("argument", 0xc, "-"),
    list("register_data", 0x10, 32, "-"),
};
inline constexpr Layout access_register_in{"access_register_in", Kind::command_input, 0x10,
                                           access_register_in_fields, "Input of ACCESS_REGISTER."};

inline constexpr std::array access_register_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    list("register_data", 0x10, 32, "-"),
};
inline constexpr Layout access_register_out{"access_register_out", Kind::command_output, 0x10,
                                            access_register_out_fields,
                                            "Output of ACCESS_REGISTER."};

inline constexpr std::array attach_to_mcg_in_fields{
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("qpn", 0x8, 23, 0, "-"),
    reserved_bytes(0xc, 0x4),
    bytes("multicast_gid", 0x10, 16, "-"),
};
inline constexpr Layout attach_to_mcg_in{"attach_to_mcg_in", Kind::command_input, 0x20,
                                         attach_to_mcg_in_fields, "Input of ATTACH_TO_MCG."};

inline constexpr std::array attach_to_mcg_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout attach_to_mcg_out{"attach_to_mcg_out", Kind::command_output, 0x10,
                                          attach_to_mcg_out_fields, "Output of ATTACH_TO_MCG."};

inline constexpr std::array detach_from_mcg_in_fields{
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("qpn", 0x8, 23, 0, "-"),
    reserved_bytes(0xc, 0x4),
    bytes("multicast_gid", 0x10, 16, "-"),
};
inline constexpr Layout detach_from_mcg_in{"detach_from_mcg_in", Kind::command_input, 0x20,
                                           detach_from_mcg_in_fields, "Input of DETACH_FROM_MCG."};

inline constexpr std::array detach_from_mcg_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout detach_from_mcg_out{"detach_from_mcg_out", Kind::command_output, 0x10,
                                            detach_from_mcg_out_fields,
                                            "Output of DETACH_FROM_MCG."};

inline constexpr std::array alloc_q_counter_in_fields{
    opcode_field, uid_field, reserved(0x4, 31, 16), op_mod_field, reserved_bytes(0x8, 0x8),
};
inline constexpr Layout alloc_q_counter_in{"alloc_q_counter_in", Kind::command_input, 0x10,
                                           alloc_q_counter_in_fields, "Input of ALLOC_Q_COUNTER."};

inline constexpr std::array alloc_q_counter_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 8),
    bits("counter_set_id", 0x8, 7, 0, "-"),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout alloc_q_counter_out{"alloc_q_counter_out", Kind::command_output, 0x10,
                                            alloc_q_counter_out_fields,
                                            "Output of ALLOC_Q_COUNTER."};

inline constexpr std::array dealloc_q_counter_in_fields{
    opcode_field,
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 8),
    bits("counter_set_id", 0x8, 7, 0, "-"),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout dealloc_q_counter_in{"dealloc_q_counter_in", Kind::command_input, 0x10,
                                             dealloc_q_counter_in_fields,
                                             "Input of DEALLOC_Q_COUNTER."};

inline constexpr std::array dealloc_q_counter_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout dealloc_q_counter_out{"dealloc_q_counter_out", Kind::command_output, 0x10,
                                              dealloc_q_counter_out_fields,
                                              "Output of DEALLOC_Q_COUNTER."};

inline constexpr std::array query_q_counter_in_fields{
    opcode_field,
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_vport", 0x8, 31, "-"),
    reserved(0x8, 30, 16),
    bits("vport_number", 0x8, 15, 0, "-"),
    reserved_bytes(0xc, 0xc),
    flag("clear", 0x18, 31, "-"),
    flag("aggregate", 0x18, 30, "-"),
    reserved(0x18, 29, 0),
    reserved(0x1c, 31, 8),
    bits("counter_set_id", 0x1c, 7, 0, "-"),
};
inline constexpr Layout query_q_counter_in{"query_q_counter_in", Kind::command_input, 0x20,
                                           query_q_counter_in_fields, "Input of QUERY_Q_COUNTER."};

inline constexpr std::array query_q_counter_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    word32("rx_write_requests", 0x10, "-"),
    reserved_bytes(0x14, 0x4),
    word32("rx_read_requests", 0x18, "-"),
    reserved_bytes(0x1c, 0x4),
    word32("rx_atomic_requests", 0x20, "-"),
    reserved_bytes(0x24, 0x4),
    word32("rx_dct_connect", 0x28, "-"),
    reserved_bytes(0x2c, 0x4),
    word32("out_of_buffer", 0x30, "-"),
    reserved_bytes(0x34, 0x4),
    word32("out_of_sequence", 0x38, "-"),
    reserved_bytes(0x3c, 0x4),
    word32("duplicate_request", 0x40, "-"),
    reserved_bytes(0x44, 0x4),
    word32("rnr_nak_retry_err", 0x48, "-"),
    reserved_bytes(0x4c, 0x4),
    word32("packet_seq_err", 0x50, "-"),
    reserved_bytes(0x54, 0x4),
    word32("implied_nak_seq_err", 0x58, "-"),
    reserved_bytes(0x5c, 0x4),
    word32("local_ack_timeout_err", 0x60, "-"),
    reserved_bytes(0x64, 0xc),
    word32("req_rnr_retries_exceeded", 0x70, "-"),
    reserved_bytes(0x74, 0x4),
    word32("resp_local_length_error", 0x78, "-"),
    word32("req_local_length_error", 0x7c, "-"),
    word32("resp_local_qp_error", 0x80, "-"),
    word32("local_operation_error", 0x84, "-"),
    word32("resp_local_protection", 0x88, "-"),
    word32("req_local_protection", 0x8c, "-"),
    word32("resp_cqe_error", 0x90, "-"),
    word32("req_cqe_error", 0x94, "-"),
    word32("req_mw_binding", 0x98, "-"),
    word32("req_bad_response", 0x9c, "-"),
    word32("req_remote_invalid_request", 0xa0, "-"),
    word32("resp_remote_invalid_request", 0xa4, "-"),
    word32("req_remote_access_errors", 0xa8, "-"),
    word32("resp_remote_access_errors", 0xac, "-"),
    word32("req_remote_operation_errors", 0xb0, "-"),
    word32("req_transport_retries_exceeded", 0xb4, "-"),
    word32("cq_overflow", 0xb8, "-"),
    word32("resp_cqe_flush_error", 0xbc, "-"),
    word32("req_cqe_flush_error", 0xc0, "-"),
    reserved_bytes(0xc4, 0x4),
    word32("roce_adp_retrans", 0xc8, "-"),
    word32("roce_adp_retrans_to", 0xcc, "-"),
    word32("roce_slow_restart", 0xd0, "-"),
    word32("roce_slow_restart_cnps", 0xd4, "-"),
    word32("roce_slow_restart_trans", 0xd8, "-"),
    reserved_bytes(0xdc, 0x24),
};
inline constexpr Layout query_q_counter_out{"query_q_counter_out", Kind::command_output, 0x100,
                                            query_q_counter_out_fields,
                                            "Output of QUERY_Q_COUNTER."};

inline constexpr Command cmd_query_hca_vport_context{"query_hca_vport_context", 0x762,
                                                     &query_hca_vport_context_in,
                                                     &query_hca_vport_context_out, "-"};
inline constexpr Command cmd_modify_hca_vport_context{"modify_hca_vport_context", 0x763,
                                                      &modify_hca_vport_context_in,
                                                      &modify_hca_vport_context_out, "-"};
inline constexpr Command cmd_query_hca_vport_gid{
    "query_hca_vport_gid", 0x764, &query_hca_vport_gid_in, &query_hca_vport_gid_out, "-"};
inline constexpr Command cmd_query_hca_vport_pkey{
    "query_hca_vport_pkey", 0x765, &query_hca_vport_pkey_in, &query_hca_vport_pkey_out, "-"};
inline constexpr Command cmd_query_vport_state{"query_vport_state", 0x750, &query_vport_state_in,
                                               &query_vport_state_out, "-"};
inline constexpr Command cmd_query_vport_counter{
    "query_vport_counter", 0x770, &query_vport_counter_in, &query_vport_counter_out, "-"};
inline constexpr Command cmd_query_vnic_env{"query_vnic_env", 0x76f, &query_vnic_env_in,
                                            &query_vnic_env_out, "-"};
inline constexpr Command cmd_mad_ifc{"mad_ifc", 0x50d, &mad_ifc_in, &mad_ifc_out, "-"};
inline constexpr Command cmd_access_register{"access_register", 0x805, &access_register_in,
                                             &access_register_out, "-"};
inline constexpr Command cmd_attach_to_mcg{"attach_to_mcg", 0x806, &attach_to_mcg_in,
                                           &attach_to_mcg_out, "-"};
inline constexpr Command cmd_detach_from_mcg{"detach_from_mcg", 0x807, &detach_from_mcg_in,
                                             &detach_from_mcg_out, "-"};
inline constexpr Command cmd_alloc_q_counter{"alloc_q_counter", 0x771, &alloc_q_counter_in,
                                             &alloc_q_counter_out, "-"};
inline constexpr Command cmd_dealloc_q_counter{"dealloc_q_counter", 0x772, &dealloc_q_counter_in,
                                               &dealloc_q_counter_out, "-"};
inline constexpr Command cmd_query_q_counter{"query_q_counter", 0x773, &query_q_counter_in,
                                             &query_q_counter_out, "-"};

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
                                                  &query_q_counter_out};
inline constexpr std::array commands_port_commands{
    &cmd_query_hca_vport_context, &cmd_modify_hca_vport_context,
    &cmd_query_hca_vport_gid,     &cmd_query_hca_vport_pkey,
    &cmd_query_vport_state,       &cmd_query_vport_counter,
    &cmd_query_vnic_env,          &cmd_mad_ifc,
    &cmd_access_register,         &cmd_attach_to_mcg,
    &cmd_detach_from_mcg,         &cmd_alloc_q_counter,
    &cmd_dealloc_q_counter,       &cmd_query_q_counter};
inline constexpr Group commands_port_group{.name = "commands_port",
                                           .title = "commands_port",
                                           .meaning = "-",
                                           .layouts = commands_port_layouts,
                                           .commands = commands_port_commands};

} // namespace hwtab
