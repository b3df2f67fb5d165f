// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Commands for shared receive queues and receive memory pools.
#pragma once

#include "hwtab/model.hpp"
#include "tables/command_header.hpp"
#include "tables/contexts.hpp"
#include "tables/object_values.hpp"

#include <array>

namespace hwtab {

inline constexpr Field create_srq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x8),
    nested("srq_context_entry", 0x10, srqc, "Context of the shared receive queue."),
    reserved_bytes(0x50, 0xc0),
    list("pas", 0x110, 64, "Addresses of the 4 KiB-aligned pages of the buffer."),
};
inline constexpr Layout create_srq_in{"create_srq_in", Kind::command_input, 0x110,
                                      create_srq_in_fields, "Input of CREATE_SRQ."};

inline constexpr Field create_srq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 24),
    bits("srqn", 0x8, 23, 0, "Number of the shared receive queue."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout create_srq_out{"create_srq_out", Kind::command_output, 0x10,
                                       create_srq_out_fields, "Output of CREATE_SRQ."};

inline constexpr Field destroy_srq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("srqn", 0x8, 23, 0, "Number of the shared receive queue."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout destroy_srq_in{"destroy_srq_in", Kind::command_input, 0x10,
                                       destroy_srq_in_fields, "Input of DESTROY_SRQ."};

inline constexpr Field destroy_srq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout destroy_srq_out{"destroy_srq_out", Kind::command_output, 0x10,
                                        destroy_srq_out_fields, "Output of DESTROY_SRQ."};

inline constexpr Field query_srq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("srqn", 0x8, 23, 0, "Number of the shared receive queue."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_srq_in{"query_srq_in", Kind::command_input, 0x10, query_srq_in_fields,
                                     "Input of QUERY_SRQ."};

inline constexpr Field query_srq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested("srq_context_entry", 0x10, srqc, "Context of the shared receive queue."),
    reserved_bytes(0x50, 0xc0),
    list("pas", 0x110, 64, "Addresses of the 4 KiB-aligned pages of the buffer."),
};
inline constexpr Layout query_srq_out{"query_srq_out", Kind::command_output, 0x110,
                                      query_srq_out_fields, "Output of QUERY_SRQ."};

inline constexpr Field arm_rq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("srq_number", 0x8, 23, 0, "Number of the shared receive queue."),
    reserved(0xc, 31, 16),
    bits("lwm", 0xc, 15, 0, "Limit of remaining work requests below which an event is raised."),
};
inline constexpr Layout arm_rq_in{"arm_rq_in", Kind::command_input, 0x10, arm_rq_in_fields,
                                  "Input of ARM_RQ."};

inline constexpr Field arm_rq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout arm_rq_out{"arm_rq_out", Kind::command_output, 0x10, arm_rq_out_fields,
                                   "Output of ARM_RQ."};

inline constexpr Field create_xrc_srq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x8),
    nested("xrc_srq_context_entry", 0x10, xrc_srqc, "Context of the XRC shared receive queue."),
    reserved_bytes(0x50, 0xc),
    flag("xrc_srq_umem_valid", 0x5c, 31, "The buffer lies in a registered user memory object."),
    reserved(0x5c, 30, 0),
    reserved_bytes(0x60, 0xb0),
    list("pas", 0x110, 64, "Addresses of the 4 KiB-aligned pages of the buffer."),
};
inline constexpr Layout create_xrc_srq_in{"create_xrc_srq_in", Kind::command_input, 0x110,
                                          create_xrc_srq_in_fields, "Input of CREATE_XRC_SRQ."};

inline constexpr Field create_xrc_srq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 24),
    bits("xrc_srqn", 0x8, 23, 0, "Number of the XRC shared receive queue."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout create_xrc_srq_out{"create_xrc_srq_out", Kind::command_output, 0x10,
                                           create_xrc_srq_out_fields, "Output of CREATE_XRC_SRQ."};

inline constexpr Field destroy_xrc_srq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("xrc_srqn", 0x8, 23, 0, "Number of the XRC shared receive queue."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout destroy_xrc_srq_in{"destroy_xrc_srq_in", Kind::command_input, 0x10,
                                           destroy_xrc_srq_in_fields, "Input of DESTROY_XRC_SRQ."};

inline constexpr Field destroy_xrc_srq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout destroy_xrc_srq_out{"destroy_xrc_srq_out", Kind::command_output, 0x10,
                                            destroy_xrc_srq_out_fields,
                                            "Output of DESTROY_XRC_SRQ."};

inline constexpr Field query_xrc_srq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("xrc_srqn", 0x8, 23, 0, "Number of the XRC shared receive queue."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_xrc_srq_in{"query_xrc_srq_in", Kind::command_input, 0x10,
                                         query_xrc_srq_in_fields, "Input of QUERY_XRC_SRQ."};

inline constexpr Field query_xrc_srq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested("xrc_srq_context_entry", 0x10, xrc_srqc, "Context of the XRC shared receive queue."),
    reserved_bytes(0x50, 0xc0),
    list("pas", 0x110, 64, "Addresses of the 4 KiB-aligned pages of the buffer."),
};
inline constexpr Layout query_xrc_srq_out{"query_xrc_srq_out", Kind::command_output, 0x110,
                                          query_xrc_srq_out_fields, "Output of QUERY_XRC_SRQ."};

inline constexpr Field arm_xrc_srq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("xrc_srqn", 0x8, 23, 0, "Number of the XRC shared receive queue."),
    reserved(0xc, 31, 16),
    bits("lwm", 0xc, 15, 0, "Limit of remaining work requests below which an event is raised."),
};
inline constexpr Layout arm_xrc_srq_in{"arm_xrc_srq_in", Kind::command_input, 0x10,
                                       arm_xrc_srq_in_fields, "Input of ARM_XRC_SRQ."};

inline constexpr Field arm_xrc_srq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout arm_xrc_srq_out{"arm_xrc_srq_out", Kind::command_output, 0x10,
                                        arm_xrc_srq_out_fields, "Output of ARM_XRC_SRQ."};

inline constexpr Field create_xrq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x8),
    nested("xrq_context", 0x10, xrqc, "Context of the extended shared receive queue."),
};
inline constexpr Layout create_xrq_in{"create_xrq_in", Kind::command_input, 0x150,
                                      create_xrq_in_fields, "Input of CREATE_XRQ."};

inline constexpr Field create_xrq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 24),
    bits("xrqn", 0x8, 23, 0, "Number of the extended shared receive queue."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout create_xrq_out{"create_xrq_out", Kind::command_output, 0x10,
                                       create_xrq_out_fields, "Output of CREATE_XRQ."};

inline constexpr Field destroy_xrq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("xrqn", 0x8, 23, 0, "Number of the extended shared receive queue."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout destroy_xrq_in{"destroy_xrq_in", Kind::command_input, 0x10,
                                       destroy_xrq_in_fields, "Input of DESTROY_XRQ."};

inline constexpr Field destroy_xrq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout destroy_xrq_out{"destroy_xrq_out", Kind::command_output, 0x10,
                                        destroy_xrq_out_fields, "Output of DESTROY_XRQ."};

inline constexpr Field query_xrq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("xrqn", 0x8, 23, 0, "Number of the extended shared receive queue."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_xrq_in{"query_xrq_in", Kind::command_input, 0x10, query_xrq_in_fields,
                                     "Input of QUERY_XRQ."};

inline constexpr Field query_xrq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested("xrq_context", 0x10, xrqc, "Context of the extended shared receive queue."),
};
inline constexpr Layout query_xrq_out{"query_xrq_out", Kind::command_output, 0x150,
                                      query_xrq_out_fields, "Output of QUERY_XRQ."};

inline constexpr Field arm_xrq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("xrqn", 0x8, 23, 0, "Number of the extended shared receive queue."),
    reserved(0xc, 31, 16),
    bits("lwm", 0xc, 15, 0, "Limit of remaining work requests below which an event is raised."),
};
inline constexpr Layout arm_xrq_in{"arm_xrq_in", Kind::command_input, 0x10, arm_xrq_in_fields,
                                   "Input of ARM_XRQ."};

inline constexpr Field arm_xrq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout arm_xrq_out{"arm_xrq_out", Kind::command_output, 0x10, arm_xrq_out_fields,
                                    "Output of ARM_XRQ."};

inline constexpr Field create_rmp_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x18),
    nested("ctx", 0x20, rmpc, "Context of the receive memory pool."),
};
inline constexpr Layout create_rmp_in{"create_rmp_in", Kind::command_input, 0x110,
                                      create_rmp_in_fields, "Input of CREATE_RMP."};

inline constexpr Field create_rmp_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 24),
    bits("rmpn", 0x8, 23, 0, "Number of the receive memory pool."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout create_rmp_out{"create_rmp_out", Kind::command_output, 0x10,
                                       create_rmp_out_fields, "Output of CREATE_RMP."};

inline constexpr Field modify_rmp_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    bits("rmp_state", 0x8, 31, 28, "State that the pool is in now.", &rmp_state),
    reserved(0x8, 27, 24),
    bits("rmpn", 0x8, 23, 0, "Number of the receive memory pool."),
    reserved_bytes(0xc, 0x4),
    nested("bitmask", 0x10, rmp_bitmask, "Fields of the context to change."),
    reserved_bytes(0x18, 0x8),
    nested("ctx", 0x20, rmpc, "Context of the receive memory pool."),
};
inline constexpr Layout modify_rmp_in{"modify_rmp_in", Kind::command_input, 0x110,
                                      modify_rmp_in_fields, "Input of MODIFY_RMP."};

inline constexpr Field modify_rmp_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout modify_rmp_out{"modify_rmp_out", Kind::command_output, 0x10,
                                       modify_rmp_out_fields, "Output of MODIFY_RMP."};

inline constexpr Field destroy_rmp_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("rmpn", 0x8, 23, 0, "Number of the receive memory pool."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout destroy_rmp_in{"destroy_rmp_in", Kind::command_input, 0x10,
                                       destroy_rmp_in_fields, "Input of DESTROY_RMP."};

inline constexpr Field destroy_rmp_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout destroy_rmp_out{"destroy_rmp_out", Kind::command_output, 0x10,
                                        destroy_rmp_out_fields, "Output of DESTROY_RMP."};

inline constexpr Field query_rmp_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("rmpn", 0x8, 23, 0, "Number of the receive memory pool."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_rmp_in{"query_rmp_in", Kind::command_input, 0x10, query_rmp_in_fields,
                                     "Input of QUERY_RMP."};

inline constexpr Field query_rmp_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x18),
    nested("rmp_context", 0x20, rmpc, "Context of the receive memory pool."),
};
inline constexpr Layout query_rmp_out{"query_rmp_out", Kind::command_output, 0x110,
                                      query_rmp_out_fields, "Output of QUERY_RMP."};

inline constexpr Command cmd_create_srq{"create_srq", 0x700, &create_srq_in, &create_srq_out,
                                        "Creates a shared receive queue; for ISSI 0."};
inline constexpr Command cmd_destroy_srq{"destroy_srq", 0x701, &destroy_srq_in, &destroy_srq_out,
                                         "Destroys a shared receive queue."};
inline constexpr Command cmd_query_srq{"query_srq", 0x702, &query_srq_in, &query_srq_out,
                                       "Reads the context of a shared receive queue."};
inline constexpr Command cmd_arm_rq{"arm_rq",
                                    0x703,
                                    &arm_rq_in,
                                    &arm_rq_out,
                                    "Sets the limit at which a queue raises an event.",
                                    &arm_rq_op_mod};
inline constexpr Command cmd_create_xrc_srq{"create_xrc_srq", 0x705, &create_xrc_srq_in,
                                            &create_xrc_srq_out,
                                            "Creates a shared receive queue of an XRC domain."};
inline constexpr Command cmd_destroy_xrc_srq{"destroy_xrc_srq", 0x706, &destroy_xrc_srq_in,
                                             &destroy_xrc_srq_out,
                                             "Destroys a shared receive queue of an XRC domain."};
inline constexpr Command cmd_query_xrc_srq{
    "query_xrc_srq", 0x707, &query_xrc_srq_in, &query_xrc_srq_out,
    "Reads the context of a shared receive queue of an XRC domain."};
inline constexpr Command cmd_arm_xrc_srq{"arm_xrc_srq",
                                         0x708,
                                         &arm_xrc_srq_in,
                                         &arm_xrc_srq_out,
                                         "Sets the limit at which an XRC queue raises an event.",
                                         &arm_xrc_srq_op_mod};
inline constexpr Command cmd_create_xrq{"create_xrq", 0x717, &create_xrq_in, &create_xrq_out,
                                        "Creates an extended shared receive queue."};
inline constexpr Command cmd_destroy_xrq{"destroy_xrq", 0x718, &destroy_xrq_in, &destroy_xrq_out,
                                         "Destroys an extended shared receive queue."};
inline constexpr Command cmd_query_xrq{"query_xrq", 0x719, &query_xrq_in, &query_xrq_out,
                                       "Reads the context of an extended shared receive queue."};
inline constexpr Command cmd_arm_xrq{
    "arm_xrq", 0x71a, &arm_xrq_in, &arm_xrq_out,
    "Sets the limit at which an extended shared receive queue raises an event."};
inline constexpr Command cmd_create_rmp{"create_rmp", 0x90c, &create_rmp_in, &create_rmp_out,
                                        "Creates a receive memory pool."};
inline constexpr Command cmd_modify_rmp{"modify_rmp", 0x90d, &modify_rmp_in, &modify_rmp_out,
                                        "Changes a receive memory pool."};
inline constexpr Command cmd_destroy_rmp{"destroy_rmp", 0x90e, &destroy_rmp_in, &destroy_rmp_out,
                                         "Destroys a receive memory pool."};
inline constexpr Command cmd_query_rmp{"query_rmp", 0x90f, &query_rmp_in, &query_rmp_out,
                                       "Reads the context of a receive memory pool."};

inline constexpr std::array commands_receive_queues_layouts{
    &create_srq_in,     &create_srq_out,     &destroy_srq_in,     &destroy_srq_out,
    &query_srq_in,      &query_srq_out,      &arm_rq_in,          &arm_rq_out,
    &create_xrc_srq_in, &create_xrc_srq_out, &destroy_xrc_srq_in, &destroy_xrc_srq_out,
    &query_xrc_srq_in,  &query_xrc_srq_out,  &arm_xrc_srq_in,     &arm_xrc_srq_out,
    &create_xrq_in,     &create_xrq_out,     &destroy_xrq_in,     &destroy_xrq_out,
    &query_xrq_in,      &query_xrq_out,      &arm_xrq_in,         &arm_xrq_out,
    &create_rmp_in,     &create_rmp_out,     &modify_rmp_in,      &modify_rmp_out,
    &destroy_rmp_in,    &destroy_rmp_out,    &query_rmp_in,       &query_rmp_out};
inline constexpr std::array commands_receive_queues_enumerations{&arm_rq_op_mod,
                                                                 &arm_xrc_srq_op_mod};
inline constexpr std::array commands_receive_queues_commands{
    &cmd_create_srq,     &cmd_destroy_srq,     &cmd_query_srq,     &cmd_arm_rq,
    &cmd_create_xrc_srq, &cmd_destroy_xrc_srq, &cmd_query_xrc_srq, &cmd_arm_xrc_srq,
    &cmd_create_xrq,     &cmd_destroy_xrq,     &cmd_query_xrq,     &cmd_arm_xrq,
    &cmd_create_rmp,     &cmd_modify_rmp,      &cmd_destroy_rmp,   &cmd_query_rmp};
inline constexpr Group commands_receive_queues_group{
    .name = "commands_receive_queues",
    .title = "Commands: receive queues",
    .meaning = "Commands for shared receive queues and receive memory pools.",
    .layouts = commands_receive_queues_layouts,
    .enumerations = commands_receive_queues_enumerations,
    .commands = commands_receive_queues_commands};

} // namespace hwtab
