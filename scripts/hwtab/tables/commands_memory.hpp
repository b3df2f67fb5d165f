// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Commands for memory keys, signature holders and page faults.
#pragma once

#include "hwtab/model.hpp"
#include "tables/command_header.hpp"
#include "tables/contexts.hpp"
#include "tables/object_values.hpp"

#include <array>

namespace hwtab {

inline constexpr Field create_mkey_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x4),
    flag("pg_access", 0xc, 31, "The translation entries carry access rights."),
    flag("mkey_umem_valid", 0xc, 30, "The translation lies in a registered user memory object."),
    flag("data_direct", 0xc, 29, "Data go through the device's Data Direct function."),
    reserved(0xc, 28, 0),
    nested("memory_key_mkey_entry", 0x10, mkc, "Context of the memory key."),
    reserved_bytes(0x50, 0x10),
    word32("translations_octword_actual_size", 0x60,
           "Translation entries that follow, in 16-byte units."),
    reserved_bytes(0x64, 0xac),
    list("klm_pas_mtt", 0x110, 32, "Translation entries of the kind that the access mode demands."),
};
inline constexpr Layout create_mkey_in{"create_mkey_in", Kind::command_input, 0x110,
                                       create_mkey_in_fields, "Input of CREATE_MKEY."};

inline constexpr Field create_mkey_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 24),
    bits("mkey_index", 0x8, 23, 0, "Index of the memory key: the key without its low byte."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout create_mkey_out{"create_mkey_out", Kind::command_output, 0x10,
                                        create_mkey_out_fields, "Output of CREATE_MKEY."};

inline constexpr Field query_mkey_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("mkey_index", 0x8, 23, 0, "Index of the memory key: the key without its low byte."),
    flag("pg_access", 0xc, 31, "The translation entries shall show access rights."),
    reserved(0xc, 30, 0),
};
inline constexpr Layout query_mkey_in{"query_mkey_in", Kind::command_input, 0x10,
                                      query_mkey_in_fields, "Input of QUERY_MKEY."};

inline constexpr Field query_mkey_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested("memory_key_mkey_entry", 0x10, mkc, "Context of the memory key."),
    reserved_bytes(0x50, 0xc0),
    bytes("bsf0_klm0_pas_mtt0_1", 0x110, 16,
          "First 16 bytes of the signature description or translation."),
    bytes("bsf1_klm1_pas_mtt2_3", 0x120, 16,
          "Second 16 bytes of the signature description or translation."),
};
inline constexpr Layout query_mkey_out{"query_mkey_out", Kind::command_output, 0x130,
                                       query_mkey_out_fields, "Output of QUERY_MKEY."};

inline constexpr Field destroy_mkey_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("mkey_index", 0x8, 23, 0, "Index of the memory key: the key without its low byte."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout destroy_mkey_in{"destroy_mkey_in", Kind::command_input, 0x10,
                                        destroy_mkey_in_fields, "Input of DESTROY_MKEY."};

inline constexpr Field destroy_mkey_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout destroy_mkey_out{"destroy_mkey_out", Kind::command_output, 0x10,
                                         destroy_mkey_out_fields, "Output of DESTROY_MKEY."};

inline constexpr Field create_psv_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    bits("num_psv", 0x8, 31, 28, "Number of signature values to create, 1 to 4."),
    reserved(0x8, 27, 24),
    bits("pd", 0x8, 23, 0, "Number of the protection domain."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout create_psv_in{"create_psv_in", Kind::command_input, 0x10,
                                      create_psv_in_fields, "Input of CREATE_PSV."};

inline constexpr Field create_psv_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    reserved(0x10, 31, 24),
    bits("psv0_index", 0x10, 23, 0, "Number of the first signature value."),
    reserved(0x14, 31, 24),
    bits("psv1_index", 0x14, 23, 0, "Number of the second signature value."),
    reserved(0x18, 31, 24),
    bits("psv2_index", 0x18, 23, 0, "Number of the third signature value."),
    reserved(0x1c, 31, 24),
    bits("psv3_index", 0x1c, 23, 0, "Number of the fourth signature value."),
};
inline constexpr Layout create_psv_out{"create_psv_out", Kind::command_output, 0x20,
                                       create_psv_out_fields, "Output of CREATE_PSV."};

inline constexpr Field destroy_psv_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("psvn", 0x8, 23, 0, "Number of the signature value."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout destroy_psv_in{"destroy_psv_in", Kind::command_input, 0x10,
                                       destroy_psv_in_fields, "Input of DESTROY_PSV."};

inline constexpr Field destroy_psv_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout destroy_psv_out{"destroy_psv_out", Kind::command_output, 0x10,
                                        destroy_psv_out_fields, "Output of DESTROY_PSV."};

inline constexpr std::array page_fault_resume_in_page_fault_info_choices{&trans_page_fault_info,
                                                                         &mem_page_fault_info};

inline constexpr Field page_fault_resume_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    choice("page_fault_info", 0x8, 0x8, page_fault_resume_in_page_fault_info_choices,
           "Which fault is answered, and how."),
};
inline constexpr Layout page_fault_resume_in{"page_fault_resume_in", Kind::command_input, 0x10,
                                             page_fault_resume_in_fields,
                                             "Input of PAGE_FAULT_RESUME."};

inline constexpr Field page_fault_resume_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout page_fault_resume_out{"page_fault_resume_out", Kind::command_output, 0x10,
                                              page_fault_resume_out_fields,
                                              "Output of PAGE_FAULT_RESUME."};

inline constexpr Field alloc_memic_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x4),
    reserved(0xc, 31, 8),
    bits("log_memic_addr_alignment", 0xc, 7, 0, "Alignment of the address in 64 bytes, log2."),
    word64("range_start_addr", 0x10, "Where to look for room: address in the BAR."),
    word32("range_size", 0x18, "Where to look for room: bytes."),
    word32("memic_size", 0x1c, "Memory that is wanted, bytes."),
};
inline constexpr Layout alloc_memic_in{"alloc_memic_in", Kind::command_input, 0x20,
                                       alloc_memic_in_fields, "Input of ALLOC_MEMIC."};

inline constexpr Field alloc_memic_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    word64("memic_start_addr", 0x8, "Address of the memory in the BAR."),
};
inline constexpr Layout alloc_memic_out{"alloc_memic_out", Kind::command_output, 0x10,
                                        alloc_memic_out_fields, "Output of ALLOC_MEMIC."};

inline constexpr Field dealloc_memic_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x8),
    word64("memic_start_addr", 0x10, "Address of the memory in the BAR."),
    word32("memic_size", 0x18, "Its size, bytes."),
    reserved_bytes(0x1c, 0x4),
};
inline constexpr Layout dealloc_memic_in{"dealloc_memic_in", Kind::command_input, 0x20,
                                         dealloc_memic_in_fields, "Input of DEALLOC_MEMIC."};

inline constexpr Field dealloc_memic_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout dealloc_memic_out{"dealloc_memic_out", Kind::command_output, 0x10,
                                          dealloc_memic_out_fields, "Output of DEALLOC_MEMIC."};

inline constexpr Field modify_memic_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x4),
    reserved(0xc, 31, 8),
    bits("memic_operation_type", 0xc, 7, 0, "Operation that gets or loses an address.",
         &memic_operation_type),
    word64("memic_start_addr", 0x10, "Address of the memory in the BAR."),
    reserved_bytes(0x18, 0x28),
};
inline constexpr Layout modify_memic_in{"modify_memic_in", Kind::command_input, 0x40,
                                        modify_memic_in_fields, "Input of MODIFY_MEMIC."};

inline constexpr Field modify_memic_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    word64("memic_operation_addr", 0x10, "Address in the BAR whose access is the operation."),
    reserved_bytes(0x18, 0x28),
};
inline constexpr Layout modify_memic_out{"modify_memic_out", Kind::command_output, 0x40,
                                         modify_memic_out_fields, "Output of MODIFY_MEMIC."};

inline constexpr Command cmd_create_mkey{"create_mkey", 0x200, &create_mkey_in, &create_mkey_out,
                                         "Creates a memory key."};
inline constexpr Command cmd_query_mkey{"query_mkey", 0x201, &query_mkey_in, &query_mkey_out,
                                        "Reads the context of a memory key."};
inline constexpr Command cmd_destroy_mkey{"destroy_mkey", 0x202, &destroy_mkey_in,
                                          &destroy_mkey_out, "Destroys a memory key."};
inline constexpr Command cmd_create_psv{"create_psv", 0x600, &create_psv_in, &create_psv_out,
                                        "Creates signature values."};
inline constexpr Command cmd_destroy_psv{"destroy_psv", 0x601, &destroy_psv_in, &destroy_psv_out,
                                         "Destroys a signature value."};
inline constexpr Command cmd_page_fault_resume{"page_fault_resume", 0x204, &page_fault_resume_in,
                                               &page_fault_resume_out,
                                               "Lets the device go on after a page fault."};
inline constexpr Command cmd_alloc_memic{"alloc_memic", 0x205, &alloc_memic_in, &alloc_memic_out,
                                         "Allocates MEMIC."};
inline constexpr Command cmd_dealloc_memic{"dealloc_memic", 0x206, &dealloc_memic_in,
                                           &dealloc_memic_out, "Frees MEMIC."};
inline constexpr Command cmd_modify_memic{
    "modify_memic",
    0x207,
    &modify_memic_in,
    &modify_memic_out,
    "Gives operations on memory of the device an address, or takes it.",
    &modify_memic_op_mod};

inline constexpr std::array commands_memory_layouts{
    &create_mkey_in,       &create_mkey_out,       &query_mkey_in,   &query_mkey_out,
    &destroy_mkey_in,      &destroy_mkey_out,      &create_psv_in,   &create_psv_out,
    &destroy_psv_in,       &destroy_psv_out,       &alloc_memic_in,  &alloc_memic_out,
    &dealloc_memic_in,     &dealloc_memic_out,     &modify_memic_in, &modify_memic_out,
    &page_fault_resume_in, &page_fault_resume_out,
};
inline constexpr std::array commands_memory_commands{
    &cmd_create_mkey, &cmd_query_mkey,    &cmd_destroy_mkey,
    &cmd_create_psv,  &cmd_destroy_psv,   &cmd_page_fault_resume,
    &cmd_alloc_memic, &cmd_dealloc_memic, &cmd_modify_memic,
};
inline constexpr std::array commands_memory_enumerations{&modify_memic_op_mod,
                                                         &memic_operation_type};
inline constexpr Group commands_memory_group{
    .name = "commands_memory",
    .title = "Commands: memory",
    .meaning = "Commands for memory keys, signature holders and page faults.",
    .layouts = commands_memory_layouts,
    .enumerations = commands_memory_enumerations,
    .commands = commands_memory_commands};

} // namespace hwtab
