// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Commands for event queues and completion queues.
#pragma once

#include "hwtab/model.hpp"
#include "tables/command_header.hpp"
#include "tables/contexts.hpp"
#include "tables/events.hpp"
#include "tables/object_values.hpp"

#include <array>

namespace hwtab {

inline constexpr Field create_eq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x8),
    nested("eq_context_entry", 0x10, eqc, "Context of the event queue."),
    reserved_bytes(0x50, 0x8),
    array("event_bitmask", 0x58, 64, 4, "Event types for this queue: bit n is type n."),
    reserved_bytes(0x78, 0x98),
    list("pas", 0x110, 64, "Addresses of the 4 KiB-aligned pages of the queue."),
};
inline constexpr Layout create_eq_in{"create_eq_in", Kind::command_input, 0x110,
                                     create_eq_in_fields, "Input of CREATE_EQ."};

inline constexpr Field create_eq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 8),
    bits("eq_number", 0x8, 7, 0, "Number of the event queue."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout create_eq_out{"create_eq_out", Kind::command_output, 0x10,
                                      create_eq_out_fields, "Output of CREATE_EQ."};

inline constexpr Field destroy_eq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 8),
    bits("eq_number", 0x8, 7, 0, "Number of the event queue."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout destroy_eq_in{"destroy_eq_in", Kind::command_input, 0x10,
                                      destroy_eq_in_fields, "Input of DESTROY_EQ."};

inline constexpr Field destroy_eq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout destroy_eq_out{"destroy_eq_out", Kind::command_output, 0x10,
                                       destroy_eq_out_fields, "Output of DESTROY_EQ."};

inline constexpr Field query_eq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 8),
    bits("eq_number", 0x8, 7, 0, "Number of the event queue."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_eq_in{"query_eq_in", Kind::command_input, 0x10, query_eq_in_fields,
                                    "Input of QUERY_EQ."};

inline constexpr Field query_eq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested("eq_context_entry", 0x10, eqc, "Context of the event queue."),
    reserved_bytes(0x50, 0x8),
    word64("event_bitmask", 0x58, "Event types of this queue: bit n is type n."),
    reserved_bytes(0x60, 0xb0),
    list("pas", 0x110, 64, "Addresses of the 4 KiB-aligned pages of the buffer."),
};
inline constexpr Layout query_eq_out{"query_eq_out", Kind::command_output, 0x110,
                                     query_eq_out_fields, "Output of QUERY_EQ."};

inline constexpr Field create_cq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x8),
    nested("cq_context", 0x10, cqc, "Context of the completion queue."),
    word64("cq_umem_offset", 0x50, "Start of the buffer in the user memory object, in bytes."),
    word32("cq_umem_id", 0x58, "User memory object that holds the buffer."),
    flag("cq_umem_valid", 0x5c, 31, "The buffer lies in a registered user memory object."),
    reserved(0x5c, 30, 0),
    reserved_bytes(0x60, 0xb0),
    list("pas", 0x110, 64, "Addresses of the 4 KiB-aligned pages of the buffer."),
};
inline constexpr Layout create_cq_in{"create_cq_in", Kind::command_input, 0x110,
                                     create_cq_in_fields, "Input of CREATE_CQ."};

inline constexpr Field create_cq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 24),
    bits("cqn", 0x8, 23, 0, "Number of the completion queue."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout create_cq_out{"create_cq_out", Kind::command_output, 0x10,
                                      create_cq_out_fields, "Output of CREATE_CQ."};

inline constexpr Field destroy_cq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("cqn", 0x8, 23, 0, "Number of the completion queue."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout destroy_cq_in{"destroy_cq_in", Kind::command_input, 0x10,
                                      destroy_cq_in_fields, "Input of DESTROY_CQ."};

inline constexpr Field destroy_cq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout destroy_cq_out{"destroy_cq_out", Kind::command_output, 0x10,
                                       destroy_cq_out_fields, "Output of DESTROY_CQ."};

inline constexpr Field query_cq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("cqn", 0x8, 23, 0, "Number of the completion queue."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_cq_in{"query_cq_in", Kind::command_input, 0x10, query_cq_in_fields,
                                    "Input of QUERY_CQ."};

inline constexpr Field query_cq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested("cq_context", 0x10, cqc, "Context of the completion queue."),
    reserved_bytes(0x50, 0xc0),
    list("pas", 0x110, 64, "Addresses of the 4 KiB-aligned pages of the buffer."),
};
inline constexpr Layout query_cq_out{"query_cq_out", Kind::command_output, 0x110,
                                     query_cq_out_fields, "Output of QUERY_CQ."};

inline constexpr std::array modify_cq_in_modify_field_select_resize_field_select_choices{
    &modify_field_select, &resize_field_select};

inline constexpr Field modify_cq_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("cqn", 0x8, 23, 0, "Number of the completion queue."),
    choice("modify_field_select_resize_field_select", 0xc, 0x4,
           modify_cq_in_modify_field_select_resize_field_select_choices,
           "Fields of the context to change, as op_mod says."),
    nested("cq_context", 0x10, cqc, "Context of the completion queue."),
    word64("cq_umem_offset", 0x50, "Start of the buffer in the user memory object, in bytes."),
    word32("cq_umem_id", 0x58, "User memory object that holds the buffer."),
    flag("cq_umem_valid", 0x5c, 31, "The buffer lies in a registered user memory object."),
    reserved(0x5c, 30, 0),
    reserved_bytes(0x60, 0xb0),
    list("pas", 0x110, 64, "Addresses of the pages of the new buffer."),
};
inline constexpr Layout modify_cq_in{"modify_cq_in", Kind::command_input, 0x110,
                                     modify_cq_in_fields, "Input of MODIFY_CQ."};

inline constexpr Field modify_cq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout modify_cq_out{"modify_cq_out", Kind::command_output, 0x10,
                                      modify_cq_out_fields, "Output of MODIFY_CQ."};

inline constexpr Field gen_eqe_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 8),
    bits("eq_number", 0x8, 7, 0, "Event queue that receives the entry."),
    reserved_bytes(0xc, 0x4),
    bytes("eqe", 0x10, 64, "Entry to write."),
};
inline constexpr Layout gen_eqe_in{"gen_eqe_in", Kind::command_input, 0x50, gen_eqe_in_fields,
                                   "Input of GEN_EQE."};

inline constexpr Field gen_eq_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout gen_eq_out{"gen_eq_out", Kind::command_output, 0x10, gen_eq_out_fields,
                                   "Output of GEN_EQ."};

inline constexpr Command cmd_create_eq{"create_eq", 0x301, &create_eq_in, &create_eq_out,
                                       "Creates an event queue."};
inline constexpr Command cmd_destroy_eq{"destroy_eq", 0x302, &destroy_eq_in, &destroy_eq_out,
                                        "Destroys an event queue."};
inline constexpr Command cmd_query_eq{"query_eq", 0x303, &query_eq_in, &query_eq_out,
                                      "Reads the context of an event queue."};
inline constexpr Command cmd_create_cq{"create_cq", 0x400, &create_cq_in, &create_cq_out,
                                       "Creates a completion queue."};
inline constexpr Command cmd_destroy_cq{"destroy_cq", 0x401, &destroy_cq_in, &destroy_cq_out,
                                        "Destroys a completion queue."};
inline constexpr Command cmd_query_cq{"query_cq", 0x402, &query_cq_in, &query_cq_out,
                                      "Reads the context of a completion queue."};
inline constexpr Command cmd_modify_cq{"modify_cq",
                                       0x403,
                                       &modify_cq_in,
                                       &modify_cq_out,
                                       "Changes or resizes a completion queue.",
                                       &modify_cq_op_mod};
inline constexpr Command cmd_gen_eqe{"gen_eqe", 0x304, &gen_eqe_in, &gen_eq_out,
                                     "Writes an entry that software composed into an event queue."};

inline constexpr std::array commands_events_layouts{
    &create_eq_in, &create_eq_out, &destroy_eq_in, &destroy_eq_out, &query_eq_in, &query_eq_out,
    &create_cq_in, &create_cq_out, &destroy_cq_in, &destroy_cq_out, &query_cq_in, &query_cq_out,
    &modify_cq_in, &modify_cq_out, &gen_eqe_in,    &gen_eq_out};
inline constexpr std::array commands_events_enumerations{&modify_cq_op_mod};
inline constexpr std::array commands_events_commands{&cmd_create_eq, &cmd_destroy_eq, &cmd_query_eq,
                                                     &cmd_create_cq, &cmd_destroy_cq, &cmd_query_cq,
                                                     &cmd_modify_cq, &cmd_gen_eqe};
inline constexpr Group commands_events_group{.name = "commands_events",
                                             .title = "Commands: event and completion queues",
                                             .meaning =
                                                 "Commands for event queues and completion queues.",
                                             .layouts = commands_events_layouts,
                                             .enumerations = commands_events_enumerations,
                                             .commands = commands_events_commands};

} // namespace hwtab
