// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// -
#pragma once

#include "hwtab/model.hpp"
#include "tables/interface_values.hpp"

#include <array>

namespace hwtab {

inline constexpr std::array health_buffer_fields{
    reserved_bytes(0x0, 0x20),
    word32("assert_existptr", 0x20, "-"),
    word32("assert_callra", 0x24, "-"),
    reserved_bytes(0x28, 0x4),
    word32("time", 0x2c, "-"),
    word32("fw_version", 0x30, "-"),
    word32("hw_id", 0x34, "-"),
    flag("rfr", 0x38, 31, "-"),
    reserved(0x38, 30, 28),
    flag("valid", 0x38, 27, "-"),
    bits("severity", 0x38, 26, 24, "-"),
    reserved(0x38, 23, 0),
    bits("irisc_index", 0x3c, 31, 24, "-"),
    bits("synd", 0x3c, 23, 16, "-"),
    bits("ext_synd", 0x3c, 15, 0, "-"),
};
inline constexpr Layout health_buffer{"health_buffer", Kind::memory, 0x40, health_buffer_fields,
                                      "-"};

inline constexpr std::array initial_seg_fields{
    bits("fw_rev_minor", 0x0, 31, 16, "-"),
    bits("fw_rev_major", 0x0, 15, 0, "-"),
    bits("cmd_interface_rev", 0x4, 31, 16, "-"),
    bits("fw_rev_subminor", 0x4, 15, 0, "-"),
    reserved_bytes(0x8, 0x8),
    word32("cmdq_phy_addr_63_32", 0x10, "-"),
    bits("cmdq_phy_addr_31_12", 0x14, 31, 12, "-"),
    reserved(0x14, 11, 10),
    bits("nic_interface", 0x14, 9, 8, "-"),
    bits("log_cmdq_size", 0x14, 7, 4, "-"),
    bits("log_cmdq_stride", 0x14, 3, 0, "-"),
    word32("command_doorbell_vector", 0x18, "-"),
    reserved_bytes(0x1c, 0x1e0),
    flag("initializing", 0x1fc, 31, "-"),
    reserved(0x1fc, 30, 27),
    bits("nic_interface_supported", 0x1fc, 26, 24, "-"),
    flag("embedded_cpu", 0x1fc, 23, "-"),
    reserved(0x1fc, 22, 0),
    nested("health_buffer", 0x200, health_buffer, "-"),
    word32("no_dram_nic_offset", 0x240, "-"),
    reserved_bytes(0x244, 0xdc8),
    reserved(0x100c, 31, 1),
    flag("clear_int", 0x100c, 0, "-"),
    bits("health_syndrome", 0x1010, 31, 24, "-"),
    bits("health_counter", 0x1010, 23, 0, "-"),
    reserved_bytes(0x1014, 0x2ff8),
};
inline constexpr Layout initial_seg{"initial_seg", Kind::memory, 0x400c, initial_seg_fields, "-"};

inline constexpr std::array cmd_queue_entry_fields{
    bits("type", 0x0, 31, 24, "-"),
    reserved(0x0, 23, 0),
    word32("input_length", 0x4, "-"),
    word32("input_mailbox_pointer_63_32", 0x8, "-"),
    bits("input_mailbox_pointer_31_9", 0xc, 31, 9, "-"),
    reserved(0xc, 8, 0),
    bytes("command_input_inline_data", 0x10, 16, "-"),
    bytes("command_output_inline_data", 0x20, 16, "-"),
    word32("output_mailbox_pointer_63_32", 0x30, "-"),
    bits("output_mailbox_pointer_31_9", 0x34, 31, 9, "-"),
    reserved(0x34, 8, 0),
    word32("output_length", 0x38, "-"),
    bits("token", 0x3c, 31, 24, "-"),
    bits("signature", 0x3c, 23, 16, "-"),
    reserved(0x3c, 15, 8),
    bits("status", 0x3c, 7, 1, "Result of the command; 0 is success."),
    flag("ownership", 0x3c, 0, "-"),
};
inline constexpr Layout cmd_queue_entry{"cmd_queue_entry", Kind::memory, 0x40,
                                        cmd_queue_entry_fields, "-"};

inline constexpr std::array cmd_if_box_fields{
    bytes("mailbox_data", 0x0, 512, "-"),
    reserved_bytes(0x200, 0x30),
    word32("next_pointer_63_32", 0x230, "-"),
    bits("next_pointer_31_10", 0x234, 31, 10, "-"),
    reserved(0x234, 9, 0),
    word32("block_number", 0x238, "-"),
    reserved(0x23c, 31, 24),
    bits("token", 0x23c, 23, 16, "-"),
    bits("ctrl_signature", 0x23c, 15, 8, "-"),
    bits("signature", 0x23c, 7, 0, "-"),
};
inline constexpr Layout cmd_if_box{"cmd_if_box", Kind::memory, 0x240, cmd_if_box_fields, "-"};

inline constexpr std::array cmd_in_fields{
    bits("opcode", 0x0, 31, 16, "Number of the command."),
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    bits("op_mod", 0x4, 15, 0, "Variant of the command."),
    list("command", 0x8, 32, "-"),
};
inline constexpr Layout cmd_in{"cmd_in", Kind::memory, 0x8, cmd_in_fields, "-"};

inline constexpr std::array cmd_out_fields{
    bits("status", 0x0, 31, 24, "Result of the command; 0 is success."),
    reserved(0x0, 23, 0),
    word32("syndrome", 0x4, "Firmware code that narrows down why the command failed."),
    word32("command_output", 0x8, "-"),
};
inline constexpr Layout cmd_out{"cmd_out", Kind::memory, 0xc, cmd_out_fields, "-"};

inline constexpr std::array command_interface_layouts{
    &health_buffer, &initial_seg, &cmd_queue_entry, &cmd_if_box, &cmd_in, &cmd_out};
inline constexpr Group command_interface_group{.name = "command_interface",
                                               .title = "command_interface",
                                               .meaning = "-",
                                               .layouts = command_interface_layouts};

} // namespace hwtab
