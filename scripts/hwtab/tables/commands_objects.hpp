// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Commands for protection domains, UAR pages, XRC domains, user contexts and user memory.
#pragma once

#include "hwtab/model.hpp"
#include "tables/command_header.hpp"
#include "tables/contexts.hpp"
#include "tables/object_values.hpp"

#include <array>

namespace hwtab {

inline constexpr Field alloc_pd_in_fields[] = {
    opcode_field, uid_field, reserved(0x4, 31, 16), op_mod_field, reserved_bytes(0x8, 0x8),
};
inline constexpr Layout alloc_pd_in{"alloc_pd_in", Kind::command_input, 0x10, alloc_pd_in_fields,
                                    "Input of ALLOC_PD."};

inline constexpr Field alloc_pd_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 24),
    bits("pd", 0x8, 23, 0, "Number of the protection domain."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout alloc_pd_out{"alloc_pd_out", Kind::command_output, 0x10,
                                     alloc_pd_out_fields, "Output of ALLOC_PD."};

inline constexpr Field dealloc_pd_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("pd", 0x8, 23, 0, "Number of the protection domain."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout dealloc_pd_in{"dealloc_pd_in", Kind::command_input, 0x10,
                                      dealloc_pd_in_fields, "Input of DEALLOC_PD."};

inline constexpr Field dealloc_pd_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout dealloc_pd_out{"dealloc_pd_out", Kind::command_output, 0x10,
                                       dealloc_pd_out_fields, "Output of DEALLOC_PD."};

inline constexpr Field alloc_uar_in_fields[] = {
    opcode_field, uid_field, reserved(0x4, 31, 16), op_mod_field, reserved_bytes(0x8, 0x8),
};
inline constexpr Layout alloc_uar_in{"alloc_uar_in", Kind::command_input, 0x10, alloc_uar_in_fields,
                                     "Input of ALLOC_UAR."};

inline constexpr Field alloc_uar_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 24),
    bits("uar", 0x8, 23, 0, "Number of the UAR page."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout alloc_uar_out{"alloc_uar_out", Kind::command_output, 0x10,
                                      alloc_uar_out_fields, "Output of ALLOC_UAR."};

inline constexpr Field dealloc_uar_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("uar", 0x8, 23, 0, "Number of the UAR page."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout dealloc_uar_in{"dealloc_uar_in", Kind::command_input, 0x10,
                                       dealloc_uar_in_fields, "Input of DEALLOC_UAR."};

inline constexpr Field dealloc_uar_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout dealloc_uar_out{"dealloc_uar_out", Kind::command_output, 0x10,
                                        dealloc_uar_out_fields, "Output of DEALLOC_UAR."};

inline constexpr Field alloc_xrcd_in_fields[] = {
    opcode_field, uid_field, reserved(0x4, 31, 16), op_mod_field, reserved_bytes(0x8, 0x8),
};
inline constexpr Layout alloc_xrcd_in{"alloc_xrcd_in", Kind::command_input, 0x10,
                                      alloc_xrcd_in_fields, "Input of ALLOC_XRCD."};

inline constexpr Field alloc_xrcd_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 24),
    bits("xrcd", 0x8, 23, 0, "Number of the XRC domain."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout alloc_xrcd_out{"alloc_xrcd_out", Kind::command_output, 0x10,
                                       alloc_xrcd_out_fields, "Output of ALLOC_XRCD."};

inline constexpr Field dealloc_xrcd_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("xrcd", 0x8, 23, 0, "Number of the XRC domain."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout dealloc_xrcd_in{"dealloc_xrcd_in", Kind::command_input, 0x10,
                                        dealloc_xrcd_in_fields, "Input of DEALLOC_XRCD."};

inline constexpr Field dealloc_xrcd_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout dealloc_xrcd_out{"dealloc_xrcd_out", Kind::command_output, 0x10,
                                         dealloc_xrcd_out_fields, "Output of DEALLOC_XRCD."};

inline constexpr Field alloc_transport_domain_in_fields[] = {
    opcode_field, uid_field, reserved(0x4, 31, 16), op_mod_field, reserved_bytes(0x8, 0x8),
};
inline constexpr Layout alloc_transport_domain_in{"alloc_transport_domain_in", Kind::command_input,
                                                  0x10, alloc_transport_domain_in_fields,
                                                  "Input of ALLOC_TRANSPORT_DOMAIN."};

inline constexpr Field alloc_transport_domain_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 24),
    bits("transport_domain", 0x8, 23, 0, "Number of the transport domain."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout alloc_transport_domain_out{
    "alloc_transport_domain_out", Kind::command_output, 0x10, alloc_transport_domain_out_fields,
    "Output of ALLOC_TRANSPORT_DOMAIN."};

inline constexpr Field dealloc_transport_domain_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("transport_domain", 0x8, 23, 0, "Number of the transport domain."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout dealloc_transport_domain_in{
    "dealloc_transport_domain_in", Kind::command_input, 0x10, dealloc_transport_domain_in_fields,
    "Input of DEALLOC_TRANSPORT_DOMAIN."};

inline constexpr Field dealloc_transport_domain_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout dealloc_transport_domain_out{
    "dealloc_transport_domain_out", Kind::command_output, 0x10, dealloc_transport_domain_out_fields,
    "Output of DEALLOC_TRANSPORT_DOMAIN."};

inline constexpr Field create_uctx_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x8),
    nested("uctx", 0x10, uctx, "Properties of the user context."),
};
inline constexpr Layout create_uctx_in{"create_uctx_in", Kind::command_input, 0x40,
                                       create_uctx_in_fields, "Input of CREATE_UCTX."};

inline constexpr Field create_uctx_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 16),
    bits("uid", 0x8, 15, 0, "User context on whose behalf the command runs; 0 is the kernel."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout create_uctx_out{"create_uctx_out", Kind::command_output, 0x10,
                                        create_uctx_out_fields, "Output of CREATE_UCTX."};

inline constexpr Field destroy_uctx_in_fields[] = {
    opcode_field,
    reserved(0x0, 15, 0),
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 16),
    bits("uid", 0x8, 15, 0, "User context on whose behalf the command runs; 0 is the kernel."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout destroy_uctx_in{"destroy_uctx_in", Kind::command_input, 0x10,
                                        destroy_uctx_in_fields, "Input of DESTROY_UCTX."};

inline constexpr Field destroy_uctx_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout destroy_uctx_out{"destroy_uctx_out", Kind::command_output, 0x10,
                                         destroy_uctx_out_fields, "Output of DESTROY_UCTX."};

inline constexpr Field create_umem_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x8),
    nested("umem", 0x10, umem, "Description of the memory."),
};
inline constexpr Layout create_umem_in{"create_umem_in", Kind::command_input, 0x30,
                                       create_umem_in_fields, "Input of CREATE_UMEM."};

inline constexpr Field create_umem_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 24),
    bits("umem_id", 0x8, 23, 0, "Number of the registered user memory object."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout create_umem_out{"create_umem_out", Kind::command_output, 0x10,
                                        create_umem_out_fields, "Output of CREATE_UMEM."};

inline constexpr Field destroy_umem_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("umem_id", 0x8, 23, 0, "Number of the registered user memory object."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout destroy_umem_in{"destroy_umem_in", Kind::command_input, 0x10,
                                        destroy_umem_in_fields, "Input of DESTROY_UMEM."};

inline constexpr Field destroy_umem_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout destroy_umem_out{"destroy_umem_out", Kind::command_output, 0x10,
                                         destroy_umem_out_fields, "Output of DESTROY_UMEM."};

inline constexpr std::array general_obj_in_cmd_hdr_op_param_choices{&general_obj_create_param,
                                                                    &general_obj_query_param};

inline constexpr Field general_obj_in_cmd_hdr_fields[] = {
    opcode_field,
    uid_field,
    bits("vhca_tunnel_id", 0x4, 31, 16, "Virtual HCA on whose behalf the command runs."),
    bits("obj_type", 0x4, 15, 0, "Kind of the object.", &object_type),
    word32("obj_id", 0x8, "Number of the object."),
    choice("op_param", 0xc, 0x4, general_obj_in_cmd_hdr_op_param_choices,
           "Parameter that depends on the command."),
};
inline constexpr Layout general_obj_in_cmd_hdr{"general_obj_in_cmd_hdr", Kind::context, 0x10,
                                               general_obj_in_cmd_hdr_fields,
                                               "Input header of commands on general objects."};

inline constexpr Field general_obj_out_cmd_hdr_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    word32("obj_id", 0x8, "Number of the object."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout general_obj_out_cmd_hdr{"general_obj_out_cmd_hdr", Kind::context, 0x10,
                                                general_obj_out_cmd_hdr_fields,
                                                "Output header of commands on general objects."};

inline constexpr Command cmd_alloc_pd{"alloc_pd", 0x800, &alloc_pd_in, &alloc_pd_out,
                                      "Allocates a protection domain."};
inline constexpr Command cmd_dealloc_pd{"dealloc_pd", 0x801, &dealloc_pd_in, &dealloc_pd_out,
                                        "Frees a protection domain."};
inline constexpr Command cmd_alloc_uar{"alloc_uar", 0x802, &alloc_uar_in, &alloc_uar_out,
                                       "Allocates a UAR page."};
inline constexpr Command cmd_dealloc_uar{"dealloc_uar", 0x803, &dealloc_uar_in, &dealloc_uar_out,
                                         "Frees a UAR page."};
inline constexpr Command cmd_alloc_xrcd{"alloc_xrcd", 0x80e, &alloc_xrcd_in, &alloc_xrcd_out,
                                        "Allocates an XRC domain."};
inline constexpr Command cmd_dealloc_xrcd{"dealloc_xrcd", 0x80f, &dealloc_xrcd_in,
                                          &dealloc_xrcd_out, "Frees an XRC domain."};
inline constexpr Command cmd_alloc_transport_domain{
    "alloc_transport_domain", 0x816, &alloc_transport_domain_in, &alloc_transport_domain_out,
    "Allocates a transport domain."};
inline constexpr Command cmd_dealloc_transport_domain{
    "dealloc_transport_domain", 0x817, &dealloc_transport_domain_in, &dealloc_transport_domain_out,
    "Frees a transport domain."};
inline constexpr Command cmd_create_uctx{"create_uctx", 0xa04, &create_uctx_in, &create_uctx_out,
                                         "Creates a user context."};
inline constexpr Command cmd_destroy_uctx{"destroy_uctx", 0xa06, &destroy_uctx_in,
                                          &destroy_uctx_out, "Destroys a user context."};
inline constexpr Command cmd_create_umem{"create_umem", 0xa08, &create_umem_in, &create_umem_out,
                                         "Registers user memory as an object."};
inline constexpr Command cmd_destroy_umem{"destroy_umem", 0xa0a, &destroy_umem_in,
                                          &destroy_umem_out,
                                          "Removes a registered user memory object."};
inline constexpr Command cmd_create_general_object{
    "create_general_object", 0xa00, &general_obj_in_cmd_hdr, &general_obj_out_cmd_hdr,
    "Creates a general object."};
inline constexpr Command cmd_modify_general_object{
    "modify_general_object", 0xa01, &general_obj_in_cmd_hdr, &general_obj_out_cmd_hdr,
    "Changes a general object."};
inline constexpr Command cmd_query_general_object{"query_general_object", 0xa02,
                                                  &general_obj_in_cmd_hdr, &general_obj_out_cmd_hdr,
                                                  "Reads a general object."};
inline constexpr Command cmd_destroy_general_object{
    "destroy_general_object", 0xa03, &general_obj_in_cmd_hdr, &general_obj_out_cmd_hdr,
    "Destroys a general object."};

inline constexpr std::array commands_objects_layouts{&alloc_pd_in,
                                                     &alloc_pd_out,
                                                     &dealloc_pd_in,
                                                     &dealloc_pd_out,
                                                     &alloc_uar_in,
                                                     &alloc_uar_out,
                                                     &dealloc_uar_in,
                                                     &dealloc_uar_out,
                                                     &alloc_xrcd_in,
                                                     &alloc_xrcd_out,
                                                     &dealloc_xrcd_in,
                                                     &dealloc_xrcd_out,
                                                     &alloc_transport_domain_in,
                                                     &alloc_transport_domain_out,
                                                     &dealloc_transport_domain_in,
                                                     &dealloc_transport_domain_out,
                                                     &create_uctx_in,
                                                     &create_uctx_out,
                                                     &destroy_uctx_in,
                                                     &destroy_uctx_out,
                                                     &create_umem_in,
                                                     &create_umem_out,
                                                     &destroy_umem_in,
                                                     &destroy_umem_out,
                                                     &general_obj_in_cmd_hdr,
                                                     &general_obj_out_cmd_hdr};
inline constexpr std::array commands_objects_commands{&cmd_alloc_pd,
                                                      &cmd_dealloc_pd,
                                                      &cmd_alloc_uar,
                                                      &cmd_dealloc_uar,
                                                      &cmd_alloc_xrcd,
                                                      &cmd_dealloc_xrcd,
                                                      &cmd_alloc_transport_domain,
                                                      &cmd_dealloc_transport_domain,
                                                      &cmd_create_uctx,
                                                      &cmd_destroy_uctx,
                                                      &cmd_create_umem,
                                                      &cmd_destroy_umem,
                                                      &cmd_create_general_object,
                                                      &cmd_modify_general_object,
                                                      &cmd_query_general_object,
                                                      &cmd_destroy_general_object};
inline constexpr Group commands_objects_group{
    .name = "commands_objects",
    .title = "Commands: domains and user objects",
    .meaning =
        "Commands for protection domains, UAR pages, XRC domains, user contexts and user memory.",
    .layouts = commands_objects_layouts,
    .commands = commands_objects_commands};

} // namespace hwtab
