// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// The initialization segment, the health buffer, and the entries and mailboxes of the command
/// queue.
#pragma once

#include "hwtab/model.hpp"
#include "tables/interface_values.hpp"

#include <array>

namespace hwtab {

inline constexpr Field health_buffer_fields[] = {
    reserved_bytes(0x0, 0x20),
    word32("assert_existptr", 0x20, "Code address from which the failing check was left."),
    word32("assert_callra", 0x24, "Return address of the caller of the failing check."),
    reserved_bytes(0x28, 0x4),
    word32("time", 0x2c, "Firmware's time at which the fault was recorded."),
    word32("fw_version", 0x30, "Version of the firmware that reports the fault."),
    word32("hw_id", 0x34, "Identification of the hardware."),
    flag("rfr", 0x38, 31, "The device has to be reset to recover."),
    reserved(0x38, 30, 28),
    flag("valid", 0x38, 27, "The field severity is valid."),
    bits("severity", 0x38, 26, 24, "Severity of the fault.", &health_severity),
    reserved(0x38, 23, 0),
    bits("irisc_index", 0x3c, 31, 24, "Number of the internal processor that failed."),
    bits("synd", 0x3c, 23, 16, "Kind of fault.", &health_syndrome),
    bits("ext_synd", 0x3c, 15, 0, "Firmware code that narrows down the fault."),
};
inline constexpr Layout health_buffer{"health_buffer",
                                      Kind::memory,
                                      0x40,
                                      health_buffer_fields,
                                      "What the device reports about its own faults.",
                                      true};

inline constexpr Field initial_seg_fields[] = {
    bits("fw_rev_minor", 0x0, 31, 16, "Minor number of the firmware version."),
    bits("fw_rev_major", 0x0, 15, 0, "Major number of the firmware version."),
    bits("cmd_interface_rev", 0x4, 31, 16, "Revision of the command interface."),
    bits("fw_rev_subminor", 0x4, 15, 0, "Subminor number of the firmware version."),
    reserved_bytes(0x8, 0x8),
    word32("cmdq_phy_addr_63_32", 0x10, "Bus address of the command queue, bits 63 to 32."),
    bits("cmdq_phy_addr_31_12", 0x14, 31, 12, "Bus address of the command queue, bits 31 to 12."),
    reserved(0x14, 11, 11),
    flag("nic_interface_2", 0x14, 10,
         "Mode of the interface, highest of its three bits; all three ask for a software reset."),
    bits("nic_interface", 0x14, 9, 8, "Mode of the interface, lower two of its three bits.",
         &nic_interface),
    bits("log_cmdq_size", 0x14, 7, 4, "Entries of the command queue, log2."),
    bits("log_cmdq_stride", 0x14, 3, 0, "Bytes from one command queue entry to the next, log2."),
    word32("command_doorbell_vector", 0x18,
           "Doorbell: bit n says that entry n holds a new command."),
    reserved_bytes(0x1c, 0x1e0),
    flag("initializing", 0x1fc, 31, "The firmware is starting and takes no commands."),
    reserved(0x1fc, 30, 27),
    bits("nic_interface_supported", 0x1fc, 26, 24, "Interface modes that the device can enter.",
         &nic_interface_supported),
    flag("embedded_cpu", 0x1fc, 23, "The function belongs to the processor on the adapter."),
    reserved(0x1fc, 22, 0),
    nested("health_buffer", 0x200, health_buffer, "Report about a fault of the device."),
    word32("no_dram_nic_offset", 0x240,
           "Offset of the registers for the mode without memory pages, bytes."),
    reserved_bytes(0x244, 0xdc8),
    reserved(0x100c, 31, 1),
    flag("clear_int", 0x100c, 0, "Writing 1 clears the legacy interrupt."),
    bits("health_syndrome", 0x1010, 31, 24, "Kind of fault that the device has detected.",
         &health_syndrome),
    bits("health_counter", 0x1010, 23, 0, "Counter that keeps changing while the firmware runs."),
    reserved_bytes(0x1014, 0x2ff8),
};
inline constexpr Layout initial_seg{"initial_seg",
                                    Kind::memory,
                                    0x400c,
                                    initial_seg_fields,
                                    "Initialization segment at the start of BAR 0.",
                                    true};

inline constexpr Field cmd_queue_entry_fields[] = {
    bits("type", 0x0, 31, 24, "Transport of the command.", &command_queue_entry_type),
    reserved(0x0, 23, 0),
    word32("input_length", 0x4, "Length of the input, the inline part included, in bytes."),
    word32("input_mailbox_pointer_63_32", 0x8,
           "Bus address of the first input mailbox, bits 63 to 32."),
    bits("input_mailbox_pointer_31_9", 0xc, 31, 9,
         "Bus address of the first input mailbox, bits 31 to 9."),
    reserved(0xc, 8, 0),
    bytes("command_input_inline_data", 0x10, 16, "First 16 bytes of the input."),
    bytes("command_output_inline_data", 0x20, 16, "First 16 bytes of the output."),
    word32("output_mailbox_pointer_63_32", 0x30,
           "Bus address of the first output mailbox, bits 63 to 32."),
    bits("output_mailbox_pointer_31_9", 0x34, 31, 9,
         "Bus address of the first output mailbox, bits 31 to 9."),
    reserved(0x34, 8, 0),
    word32("output_length", 0x38, "Room for the output, the inline part included, in bytes."),
    bits("token", 0x3c, 31, 24, "Number that ties the mailboxes to the entry; not zero."),
    bits("signature", 0x3c, 23, 16, "Makes the exclusive or of all bytes of the entry 0xff."),
    reserved(0x3c, 15, 8),
    bits("status", 0x3c, 7, 1, "Whether the entry itself was acceptable; 0 is success.",
         &command_delivery_status),
    bits("ownership", 0x3c, 0, 0, "Who may touch the entry.", &command_owner),
};
inline constexpr Layout cmd_queue_entry{"cmd_queue_entry", Kind::memory, 0x40,
                                        cmd_queue_entry_fields,
                                        "Entry of the command queue: one command, and its answer."};

inline constexpr Field cmd_if_box_fields[] = {
    bytes("mailbox_data", 0x0, 512, "512 bytes of the input or output."),
    reserved_bytes(0x200, 0x30),
    word32("next_pointer_63_32", 0x230, "Bus address of the next mailbox, bits 63 to 32."),
    bits("next_pointer_31_10", 0x234, 31, 10, "Bus address of the next mailbox, bits 31 to 10."),
    reserved(0x234, 9, 0),
    word32("block_number", 0x238, "Place of the mailbox in its chain, from 0 on."),
    reserved(0x23c, 31, 24),
    bits("token", 0x23c, 23, 16, "Token of the command queue entry that the mailbox belongs to."),
    bits("ctrl_signature", 0x23c, 15, 8,
         "Checksum over the control part, from the reserved bytes on."),
    bits("signature", 0x23c, 7, 0, "Checksum over the whole mailbox."),
};
inline constexpr Layout cmd_if_box{"cmd_if_box", Kind::memory, 0x240, cmd_if_box_fields,
                                   "Mailbox: a block of a command's input or output."};

inline constexpr Field cmd_in_fields[] = {
    bits("opcode", 0x0, 31, 16, "Number of the command."),
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    bits("op_mod", 0x4, 15, 0, "Variant of the command."),
    list("command", 0x8, 32, "Input of the command itself."),
};
inline constexpr Layout cmd_in{"cmd_in", Kind::memory, 0x8, cmd_in_fields,
                               "What the input of every command starts with."};

inline constexpr Field cmd_out_fields[] = {
    bits("status", 0x0, 31, 24, "Result of the command; 0 is success."),
    reserved(0x0, 23, 0),
    word32("syndrome", 0x4, "Firmware code that narrows down why the command failed."),
    word32("command_output", 0x8, "Output of the command itself."),
};
inline constexpr Layout cmd_out{"cmd_out", Kind::memory, 0xc, cmd_out_fields,
                                "What the output of every command starts with."};

inline constexpr std::array command_interface_layouts{
    &health_buffer, &initial_seg, &cmd_queue_entry, &cmd_if_box, &cmd_in, &cmd_out};
inline constexpr std::array command_interface_enumerations{
    &command_status,     &command_delivery_status, &command_queue_entry_type, &command_owner,
    &nic_interface,      &nic_interface_request,   &nic_interface_supported,  &health_syndrome,
    &health_severity,    &query_pages_op_mod,      &manage_pages_op_mod,      &teardown_hca_profile,
    &teardown_hca_state, &access_register_op_mod,  &mad_ifc_op_mod,           &timer_offset};
inline constexpr Group command_interface_group{
    .name = "command_interface",
    .title = "Command interface",
    .meaning = "The initialization segment, the health buffer, and the entries and mailboxes of "
               "the command queue.",
    .layouts = command_interface_layouts,
    .enumerations = command_interface_enumerations};

} // namespace hwtab
