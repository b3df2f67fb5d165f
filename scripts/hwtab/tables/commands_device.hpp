// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Commands that bring the device up and down.
#pragma once

#include "hwtab/model.hpp"
#include "tables/capabilities.hpp"
#include "tables/command_header.hpp"
#include "tables/contexts.hpp"
#include "tables/object_values.hpp"

#include <array>

namespace hwtab {

inline constexpr Field query_hca_cap_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_function", 0x8, 31, "The command concerns function_id instead of the caller."),
    flag("ec_vf_function", 0x8, 30,
         "The function is a virtual one of the adapter's own processor."),
    reserved(0x8, 29, 16),
    bits("function_id", 0x8, 15, 0, "Function that the command concerns; 0 is the caller."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_hca_cap_in{"query_hca_cap_in", Kind::command_input, 0x10,
                                         query_hca_cap_in_fields, "Input of QUERY_HCA_CAP."};

inline constexpr std::array query_hca_cap_out_capability_choices{
    &cmd_hca_cap, &cmd_hca_cap_2, &odp_cap, &atomic_caps, &device_mem_cap};

inline constexpr Field query_hca_cap_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    choice("capability", 0x10, 0x1000, query_hca_cap_out_capability_choices,
           "Capability page that op_mod selects."),
};
inline constexpr Layout query_hca_cap_out{"query_hca_cap_out", Kind::command_output, 0x1010,
                                          query_hca_cap_out_fields, "Output of QUERY_HCA_CAP."};

inline constexpr Field query_adapter_in_fields[] = {
    opcode_field, uid_field, reserved(0x4, 31, 16), op_mod_field, reserved_bytes(0x8, 0x8),
};
inline constexpr Layout query_adapter_in{"query_adapter_in", Kind::command_input, 0x10,
                                         query_adapter_in_fields, "Input of QUERY_ADAPTER."};

inline constexpr Field query_adapter_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested("query_adapter_struct", 0x10, query_adapter_param_block, "Identity of the adapter."),
};
inline constexpr Layout query_adapter_out{"query_adapter_out", Kind::command_output, 0x110,
                                          query_adapter_out_fields, "Output of QUERY_ADAPTER."};

inline constexpr Field init_hca_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x4),
    reserved(0xc, 31, 30),
    bits("sw_vhca_id", 0xc, 29, 16, "Number that software gives to the virtual HCA."),
    reserved(0xc, 15, 0),
    array("sw_owner_id", 0x10, 32, 4, "Identity of the software that owns the device."),
};
inline constexpr Layout init_hca_in{"init_hca_in", Kind::command_input, 0x20, init_hca_in_fields,
                                    "Input of INIT_HCA."};

inline constexpr Field init_hca_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout init_hca_out{"init_hca_out", Kind::command_output, 0x10,
                                     init_hca_out_fields, "Output of INIT_HCA."};

inline constexpr Field teardown_hca_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 16),
    bits("profile", 0x8, 15, 0, "How thoroughly the device is closed.", &teardown_hca_profile),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout teardown_hca_in{"teardown_hca_in", Kind::command_input, 0x10,
                                        teardown_hca_in_fields, "Input of TEARDOWN_HCA."};

inline constexpr Field teardown_hca_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x4),
    reserved(0xc, 31, 1),
    bits("state", 0xc, 0, 0, "Result of a forced teardown.", &teardown_hca_state),
};
inline constexpr Layout teardown_hca_out{"teardown_hca_out", Kind::command_output, 0x10,
                                         teardown_hca_out_fields, "Output of TEARDOWN_HCA."};

inline constexpr Field enable_hca_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("embedded_cpu_function", 0x8, 31, "The function belongs to the processor on the adapter."),
    reserved(0x8, 30, 16),
    bits("function_id", 0x8, 15, 0, "Function that the command concerns; 0 is the caller."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout enable_hca_in{"enable_hca_in", Kind::command_input, 0x10,
                                      enable_hca_in_fields, "Input of ENABLE_HCA."};

inline constexpr Field enable_hca_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x4),
};
inline constexpr Layout enable_hca_out{"enable_hca_out", Kind::command_output, 0xc,
                                       enable_hca_out_fields, "Output of ENABLE_HCA."};

inline constexpr Field disable_hca_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("embedded_cpu_function", 0x8, 31, "The function belongs to the processor on the adapter."),
    reserved(0x8, 30, 16),
    bits("function_id", 0x8, 15, 0, "Function that the command concerns; 0 is the caller."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout disable_hca_in{"disable_hca_in", Kind::command_input, 0x10,
                                       disable_hca_in_fields, "Input of DISABLE_HCA."};

inline constexpr Field disable_hca_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x4),
};
inline constexpr Layout disable_hca_out{"disable_hca_out", Kind::command_output, 0xc,
                                        disable_hca_out_fields, "Output of DISABLE_HCA."};

inline constexpr Field query_pages_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("embedded_cpu_function", 0x8, 31, "The function belongs to the processor on the adapter."),
    reserved(0x8, 30, 16),
    bits("function_id", 0x8, 15, 0, "Function that the command concerns; 0 is the caller."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_pages_in{"query_pages_in", Kind::command_input, 0x10,
                                       query_pages_in_fields, "Input of QUERY_PAGES."};

inline constexpr Field query_pages_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    flag("embedded_cpu_function", 0x8, 31, "The function belongs to the processor on the adapter."),
    reserved(0x8, 30, 16),
    bits("function_id", 0x8, 15, 0, "Function that the pages are for."),
    word32("num_pages", 0xc, "Pages of 4 KiB wanted; negative: pages to take back."),
};
inline constexpr Layout query_pages_out{"query_pages_out", Kind::command_output, 0x10,
                                        query_pages_out_fields, "Output of QUERY_PAGES."};

inline constexpr Field manage_pages_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("embedded_cpu_function", 0x8, 31, "The function belongs to the processor on the adapter."),
    reserved(0x8, 30, 16),
    bits("function_id", 0x8, 15, 0, "Function that the command concerns; 0 is the caller."),
    word32("input_num_entries", 0xc, "Number of pages that are given or asked back."),
    list("pas", 0x10, 64, "Addresses of the 4 KiB pages that are given."),
};
inline constexpr Layout manage_pages_in{"manage_pages_in", Kind::command_input, 0x10,
                                        manage_pages_in_fields, "Input of MANAGE_PAGES."};

inline constexpr Field manage_pages_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    word32("output_num_entries", 0x8, "Number of pages that were given back."),
    reserved_bytes(0xc, 0x4),
    list("pas", 0x10, 64, "Addresses of the 4 KiB pages that were given back."),
};
inline constexpr Layout manage_pages_out{"manage_pages_out", Kind::command_output, 0x10,
                                         manage_pages_out_fields, "Output of MANAGE_PAGES."};

inline constexpr std::array set_hca_cap_in_capability_choices{
    &cmd_hca_cap, &cmd_hca_cap_2, &odp_cap, &atomic_caps, &device_mem_cap};

inline constexpr Field set_hca_cap_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("other_function", 0x8, 31, "The command concerns function_id instead of the caller."),
    flag("ec_vf_function", 0x8, 30,
         "The function is a virtual one of the adapter's own processor."),
    reserved(0x8, 29, 16),
    bits("function_id", 0x8, 15, 0, "Function that the command concerns; 0 is the caller."),
    reserved_bytes(0xc, 0x4),
    choice("capability", 0x10, 0x1000, set_hca_cap_in_capability_choices,
           "Capability page that op_mod selects."),
};
inline constexpr Layout set_hca_cap_in{"set_hca_cap_in", Kind::command_input, 0x1010,
                                       set_hca_cap_in_fields, "Input of SET_HCA_CAP."};

inline constexpr Field set_hca_cap_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout set_hca_cap_out{"set_hca_cap_out", Kind::command_output, 0x10,
                                        set_hca_cap_out_fields, "Output of SET_HCA_CAP."};

inline constexpr Field query_issi_in_fields[] = {
    opcode_field, uid_field, reserved(0x4, 31, 16), op_mod_field, reserved_bytes(0x8, 0x8),
};
inline constexpr Layout query_issi_in{"query_issi_in", Kind::command_input, 0x10,
                                      query_issi_in_fields, "Input of QUERY_ISSI."};

inline constexpr Field query_issi_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 16),
    bits("current_issi", 0x8, 15, 0, "ISSI in use."),
    reserved_bytes(0xc, 0x60),
    word32("supported_issi_dw0", 0x6c, "Bit n: ISSI n is supported."),
};
inline constexpr Layout query_issi_out{"query_issi_out", Kind::command_output, 0x70,
                                       query_issi_out_fields, "Output of QUERY_ISSI."};

inline constexpr Field set_issi_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 16),
    bits("current_issi", 0x8, 15, 0, "ISSI to use from now on."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout set_issi_in{"set_issi_in", Kind::command_input, 0x10, set_issi_in_fields,
                                    "Input of SET_ISSI."};

inline constexpr Field set_issi_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout set_issi_out{"set_issi_out", Kind::command_output, 0x10,
                                     set_issi_out_fields, "Output of SET_ISSI."};

inline constexpr Field set_driver_version_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x8),
    bytes("driver_version", 0x10, 64, "Text with the driver's name and version."),
};
inline constexpr Layout set_driver_version_in{"set_driver_version_in", Kind::command_input, 0x50,
                                              set_driver_version_in_fields,
                                              "Input of SET_DRIVER_VERSION."};

inline constexpr Field set_driver_version_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout set_driver_version_out{"set_driver_version_out", Kind::command_output, 0x10,
                                               set_driver_version_out_fields,
                                               "Output of SET_DRIVER_VERSION."};

inline constexpr Field query_special_contexts_in_fields[] = {
    opcode_field, uid_field, reserved(0x4, 31, 16), op_mod_field, reserved_bytes(0x8, 0x8),
};
inline constexpr Layout query_special_contexts_in{"query_special_contexts_in", Kind::command_input,
                                                  0x10, query_special_contexts_in_fields,
                                                  "Input of QUERY_SPECIAL_CONTEXTS."};

inline constexpr Field query_special_contexts_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    word32("dump_fill_mkey", 0x8, "Memory key that drops what is written and fills reads."),
    word32("resd_lkey", 0xc, "Reserved local key: bus addresses without translation."),
    word32("null_mkey", 0x10, "Memory key for absent parts of on-demand paged regions."),
    word32("terminate_scatter_list_mkey", 0x14, "Memory key that ends a scatter list early."),
    word32("repeated_mkey", 0x18, "Memory key for repeated blocks, by its name."),
    reserved_bytes(0x1c, 0x4),
};
inline constexpr Layout query_special_contexts_out{
    "query_special_contexts_out", Kind::command_output, 0x20, query_special_contexts_out_fields,
    "Output of QUERY_SPECIAL_CONTEXTS."};

inline constexpr Field nop_in_fields[] = {
    opcode_field, uid_field, reserved(0x4, 31, 16), op_mod_field, reserved_bytes(0x8, 0x8),
};
inline constexpr Layout nop_in{"nop_in", Kind::command_input, 0x10, nop_in_fields, "Input of NOP."};

inline constexpr Field nop_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout nop_out{"nop_out", Kind::command_output, 0x10, nop_out_fields,
                                "Output of NOP."};

inline constexpr Command cmd_query_hca_cap{"query_hca_cap",
                                           0x100,
                                           &query_hca_cap_in,
                                           &query_hca_cap_out,
                                           "Reads a page of capabilities.",
                                           &query_hca_cap_op_mod};
inline constexpr Command cmd_query_adapter{"query_adapter", 0x101, &query_adapter_in,
                                           &query_adapter_out,
                                           "Reads the identity of the adapter."};
inline constexpr Command cmd_init_hca{
    "init_hca", 0x102, &init_hca_in, &init_hca_out,
    "Starts the device's operation after the capabilities are set."};
inline constexpr Command cmd_teardown_hca{"teardown_hca", 0x103, &teardown_hca_in,
                                          &teardown_hca_out, "Ends the device's operation."};
inline constexpr Command cmd_enable_hca{"enable_hca", 0x104, &enable_hca_in, &enable_hca_out,
                                        "Makes a function usable."};
inline constexpr Command cmd_disable_hca{"disable_hca", 0x105, &disable_hca_in, &disable_hca_out,
                                         "Makes a function unusable again."};
inline constexpr Command cmd_query_pages{"query_pages",
                                         0x107,
                                         &query_pages_in,
                                         &query_pages_out,
                                         "Asks how many pages the firmware wants.",
                                         &query_pages_op_mod};
inline constexpr Command cmd_manage_pages{"manage_pages",
                                          0x108,
                                          &manage_pages_in,
                                          &manage_pages_out,
                                          "Gives pages to the firmware or takes them back.",
                                          &manage_pages_op_mod};
inline constexpr Command cmd_set_hca_cap{
    "set_hca_cap",
    0x109,
    &set_hca_cap_in,
    &set_hca_cap_out,
    "Chooses values of capabilities within what the device offers.",
    &set_hca_cap_op_mod};
inline constexpr Command cmd_query_issi{"query_issi", 0x10a, &query_issi_in, &query_issi_out,
                                        "Reads the ISSIs that the device supports."};
inline constexpr Command cmd_set_issi{"set_issi", 0x10b, &set_issi_in, &set_issi_out,
                                      "Chooses the ISSI."};
inline constexpr Command cmd_set_driver_version{
    "set_driver_version", 0x10d, &set_driver_version_in, &set_driver_version_out,
    "Reports name and version of the driver to firmware."};
inline constexpr Command cmd_query_special_contexts{
    "query_special_contexts", 0x203, &query_special_contexts_in, &query_special_contexts_out,
    "Reads the memory keys with a special function."};
inline constexpr Command cmd_nop{"nop", 0x80d, &nop_in, &nop_out, "Does nothing."};

inline constexpr std::array commands_device_layouts{&query_hca_cap_in,
                                                    &query_hca_cap_out,
                                                    &query_adapter_in,
                                                    &query_adapter_out,
                                                    &init_hca_in,
                                                    &init_hca_out,
                                                    &teardown_hca_in,
                                                    &teardown_hca_out,
                                                    &enable_hca_in,
                                                    &enable_hca_out,
                                                    &disable_hca_in,
                                                    &disable_hca_out,
                                                    &query_pages_in,
                                                    &query_pages_out,
                                                    &manage_pages_in,
                                                    &manage_pages_out,
                                                    &set_hca_cap_in,
                                                    &set_hca_cap_out,
                                                    &query_issi_in,
                                                    &query_issi_out,
                                                    &set_issi_in,
                                                    &set_issi_out,
                                                    &set_driver_version_in,
                                                    &set_driver_version_out,
                                                    &query_special_contexts_in,
                                                    &query_special_contexts_out,
                                                    &nop_in,
                                                    &nop_out};
inline constexpr std::array commands_device_commands{&cmd_query_hca_cap,
                                                     &cmd_query_adapter,
                                                     &cmd_init_hca,
                                                     &cmd_teardown_hca,
                                                     &cmd_enable_hca,
                                                     &cmd_disable_hca,
                                                     &cmd_query_pages,
                                                     &cmd_manage_pages,
                                                     &cmd_set_hca_cap,
                                                     &cmd_query_issi,
                                                     &cmd_set_issi,
                                                     &cmd_set_driver_version,
                                                     &cmd_query_special_contexts,
                                                     &cmd_nop};
inline constexpr Group commands_device_group{.name = "commands_device",
                                             .title = "Commands: device",
                                             .meaning =
                                                 "Commands that bring the device up and down.",
                                             .layouts = commands_device_layouts,
                                             .commands = commands_device_commands};

} // namespace hwtab
