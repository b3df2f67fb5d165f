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

inline constexpr std::array create_mkey_in_fields{
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x4),
    flag("pg_access", 0xc, 31, "-"),
    flag("mkey_umem_valid", 0xc, 30, "-"),
    flag("data_direct", 0xc, 29, "-"),
    reserved(0xc, 28, 0),
    nested("memory_key_mkey_entry", 0x10, mkc, "-"),
    reserved_bytes(0x50, 0x10),
    word32("translations_octword_actual_size", 0x60, "-"),
    reserved_bytes(0x64, 0xac),
    list("klm_pas_mtt", 0x110, 32, "-"),
};
inline constexpr Layout create_mkey_in{"create_mkey_in", Kind::command_input, 0x110,
                                       create_mkey_in_fields, "Input of CREATE_MKEY."};

inline constexpr std::array create_mkey_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 24),
    bits("mkey_index", 0x8, 23, 0, "-"),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout create_mkey_out{"create_mkey_out", Kind::command_output, 0x10,
                                        create_mkey_out_fields, "Output of CREATE_MKEY."};

inline constexpr std::array query_mkey_in_fields{
    opcode_field,
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("mkey_index", 0x8, 23, 0, "-"),
    flag("pg_access", 0xc, 31, "-"),
    reserved(0xc, 30, 0),
};
inline constexpr Layout query_mkey_in{"query_mkey_in", Kind::command_input, 0x10,
                                      query_mkey_in_fields, "Input of QUERY_MKEY."};

inline constexpr std::array query_mkey_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested("memory_key_mkey_entry", 0x10, mkc, "-"),
    reserved_bytes(0x50, 0xc0),
    bytes("bsf0_klm0_pas_mtt0_1", 0x110, 16, "-"),
    bytes("bsf1_klm1_pas_mtt2_3", 0x120, 16, "-"),
};
inline constexpr Layout query_mkey_out{"query_mkey_out", Kind::command_output, 0x130,
                                       query_mkey_out_fields, "Output of QUERY_MKEY."};

inline constexpr std::array destroy_mkey_in_fields{
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("mkey_index", 0x8, 23, 0, "-"),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout destroy_mkey_in{"destroy_mkey_in", Kind::command_input, 0x10,
                                        destroy_mkey_in_fields, "Input of DESTROY_MKEY."};

inline constexpr std::array destroy_mkey_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout destroy_mkey_out{"destroy_mkey_out", Kind::command_output, 0x10,
                                         destroy_mkey_out_fields, "Output of DESTROY_MKEY."};

inline constexpr std::array create_psv_in_fields{
    opcode_field,
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    op_mod_field,
    bits("num_psv", 0x8, 31, 28, "-"),
    reserved(0x8, 27, 24),
    bits("pd", 0x8, 23, 0, "-"),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout create_psv_in{"create_psv_in", Kind::command_input, 0x10,
                                      create_psv_in_fields, "Input of CREATE_PSV."};

inline constexpr std::array create_psv_out_fields{
    status_field,           reserved(0x0, 23, 0),
    syndrome_field,         reserved_bytes(0x8, 0x8),
    reserved(0x10, 31, 24), bits("psv0_index", 0x10, 23, 0, "-"),
    reserved(0x14, 31, 24), bits("psv1_index", 0x14, 23, 0, "-"),
    reserved(0x18, 31, 24), bits("psv2_index", 0x18, 23, 0, "-"),
    reserved(0x1c, 31, 24), bits("psv3_index", 0x1c, 23, 0, "-"),
};
inline constexpr Layout create_psv_out{"create_psv_out", Kind::command_output, 0x20,
                                       create_psv_out_fields, "Output of CREATE_PSV."};

inline constexpr std::array destroy_psv_in_fields{
    opcode_field,          reserved(0x0, 15, 0),          reserved(0x4, 31, 16),    op_mod_field,
    reserved(0x8, 31, 24), bits("psvn", 0x8, 23, 0, "-"), reserved_bytes(0xc, 0x4),
};
inline constexpr Layout destroy_psv_in{"destroy_psv_in", Kind::command_input, 0x10,
                                       destroy_psv_in_fields, "Input of DESTROY_PSV."};

inline constexpr std::array destroy_psv_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout destroy_psv_out{"destroy_psv_out", Kind::command_output, 0x10,
                                        destroy_psv_out_fields, "Output of DESTROY_PSV."};

inline constexpr std::array page_fault_resume_in_page_fault_info_choices{&trans_page_fault_info,
                                                                         &mem_page_fault_info};

inline constexpr std::array page_fault_resume_in_fields{
    opcode_field,
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    op_mod_field,
    choice("page_fault_info", 0x8, 0x8, page_fault_resume_in_page_fault_info_choices, "-"),
};
inline constexpr Layout page_fault_resume_in{"page_fault_resume_in", Kind::command_input, 0x10,
                                             page_fault_resume_in_fields,
                                             "Input of PAGE_FAULT_RESUME."};

inline constexpr std::array page_fault_resume_out_fields{
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout page_fault_resume_out{"page_fault_resume_out", Kind::command_output, 0x10,
                                              page_fault_resume_out_fields,
                                              "Output of PAGE_FAULT_RESUME."};

inline constexpr Command cmd_create_mkey{"create_mkey", 0x200, &create_mkey_in, &create_mkey_out,
                                         "-"};
inline constexpr Command cmd_query_mkey{"query_mkey", 0x201, &query_mkey_in, &query_mkey_out, "-"};
inline constexpr Command cmd_destroy_mkey{"destroy_mkey", 0x202, &destroy_mkey_in,
                                          &destroy_mkey_out, "-"};
inline constexpr Command cmd_create_psv{"create_psv", 0x600, &create_psv_in, &create_psv_out, "-"};
inline constexpr Command cmd_destroy_psv{"destroy_psv", 0x601, &destroy_psv_in, &destroy_psv_out,
                                         "-"};
inline constexpr Command cmd_page_fault_resume{"page_fault_resume", 0x204, &page_fault_resume_in,
                                               &page_fault_resume_out, "-"};

inline constexpr std::array commands_memory_layouts{
    &create_mkey_in,  &create_mkey_out,  &query_mkey_in,        &query_mkey_out,
    &destroy_mkey_in, &destroy_mkey_out, &create_psv_in,        &create_psv_out,
    &destroy_psv_in,  &destroy_psv_out,  &page_fault_resume_in, &page_fault_resume_out};
inline constexpr std::array commands_memory_commands{&cmd_create_mkey,  &cmd_query_mkey,
                                                     &cmd_destroy_mkey, &cmd_create_psv,
                                                     &cmd_destroy_psv,  &cmd_page_fault_resume};
inline constexpr Group commands_memory_group{.name = "commands_memory",
                                             .title = "commands_memory",
                                             .meaning = "-",
                                             .layouts = commands_memory_layouts,
                                             .commands = commands_memory_commands};

} // namespace hwtab
