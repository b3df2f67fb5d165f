// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Commands for queue pairs and dynamically connected targets.
#pragma once

#include "hwtab/model.hpp"
#include "tables/command_header.hpp"
#include "tables/contexts.hpp"
#include "tables/object_values.hpp"

#include <array>

namespace hwtab {

inline constexpr Field create_qp_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("qpc_ext", 0x8, 31, "An extension of the context precedes the page addresses."),
    reserved(0x8, 30, 24),
    bits("input_qpn", 0x8, 23, 0, "Number that the queue pair shall have; 0 leaves the choice."),
    reserved_bytes(0xc, 0x4),
    word32("opt_param_mask", 0x10, "Optional fields of the context that count.",
           &qp_optional_parameters),
    word32("ece", 0x14, "Options of enhanced connection establishment."),
    nested("qpc", 0x18, qpc, "Context of the queue pair."),
    word64("wq_umem_offset", 0x100, "Start of the buffer in its memory object, in bytes."),
    word32("wq_umem_id", 0x108, "User memory object that holds the buffer."),
    flag("wq_umem_valid", 0x10c, 31, "The buffer lies in a registered user memory object."),
    reserved(0x10c, 30, 0),
    list("pas", 0x110, 64, "Addresses of the 4 KiB-aligned pages of the buffer."),
};
inline constexpr Layout create_qp_in{"create_qp_in", Kind::command_input, 0x110,
                                     create_qp_in_fields, "Input of CREATE_QP."};

inline constexpr Field create_qp_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 24),
    bits("qpn", 0x8, 23, 0, "Number of the queue pair."),
    word32("ece", 0xc, "Options of enhanced connection establishment."),
};
inline constexpr Layout create_qp_out{"create_qp_out", Kind::command_output, 0x10,
                                      create_qp_out_fields, "Output of CREATE_QP."};

inline constexpr Field destroy_qp_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("qpn", 0x8, 23, 0, "Number of the queue pair."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout destroy_qp_in{"destroy_qp_in", Kind::command_input, 0x10,
                                      destroy_qp_in_fields, "Input of DESTROY_QP."};

inline constexpr Field destroy_qp_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout destroy_qp_out{"destroy_qp_out", Kind::command_output, 0x10,
                                       destroy_qp_out_fields, "Output of DESTROY_QP."};

inline constexpr Field rst2init_qp_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("qpn", 0x8, 23, 0, "Number of the queue pair."),
    reserved_bytes(0xc, 0x4),
    word32("opt_param_mask", 0x10, "Optional fields of the context that the transition takes over.",
           &qp_optional_parameters),
    word32("ece", 0x14, "Options of enhanced connection establishment."),
    nested("qpc", 0x18, qpc, "Context of the queue pair."),
    reserved_bytes(0x100, 0x10),
};
inline constexpr Layout rst2init_qp_in{"rst2init_qp_in", Kind::command_input, 0x110,
                                       rst2init_qp_in_fields, "Input of RST2INIT_QP."};

inline constexpr Field rst2init_qp_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x4),
    word32("ece", 0xc, "Options of enhanced connection establishment."),
};
inline constexpr Layout rst2init_qp_out{"rst2init_qp_out", Kind::command_output, 0x10,
                                        rst2init_qp_out_fields, "Output of RST2INIT_QP."};

inline constexpr Field init2init_qp_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("qpn", 0x8, 23, 0, "Number of the queue pair."),
    reserved_bytes(0xc, 0x4),
    word32("opt_param_mask", 0x10, "Optional fields of the context that the transition takes over.",
           &qp_optional_parameters),
    word32("ece", 0x14, "Options of enhanced connection establishment."),
    nested("qpc", 0x18, qpc, "Context of the queue pair."),
    reserved_bytes(0x100, 0x10),
    nested_list("qpc_data_extension", 0x110, qp_context_extension,
                "Extension of the context: none or one."),
};
inline constexpr Layout init2init_qp_in{"init2init_qp_in", Kind::command_input, 0x110,
                                        init2init_qp_in_fields, "Input of INIT2INIT_QP."};

inline constexpr Field init2init_qp_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x4),
    word32("ece", 0xc, "Options of enhanced connection establishment."),
};
inline constexpr Layout init2init_qp_out{"init2init_qp_out", Kind::command_output, 0x10,
                                         init2init_qp_out_fields, "Output of INIT2INIT_QP."};

inline constexpr Field init2rtr_qp_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("qpn", 0x8, 23, 0, "Number of the queue pair."),
    reserved_bytes(0xc, 0x4),
    word32("opt_param_mask", 0x10, "Optional fields of the context that the transition takes over.",
           &qp_optional_parameters),
    word32("ece", 0x14, "Options of enhanced connection establishment."),
    nested("qpc", 0x18, qpc, "Context of the queue pair."),
    reserved_bytes(0x100, 0x10),
};
inline constexpr Layout init2rtr_qp_in{"init2rtr_qp_in", Kind::command_input, 0x110,
                                       init2rtr_qp_in_fields, "Input of INIT2RTR_QP."};

inline constexpr Field init2rtr_qp_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x4),
    word32("ece", 0xc, "Options of enhanced connection establishment."),
};
inline constexpr Layout init2rtr_qp_out{"init2rtr_qp_out", Kind::command_output, 0x10,
                                        init2rtr_qp_out_fields, "Output of INIT2RTR_QP."};

inline constexpr Field rtr2rts_qp_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("qpn", 0x8, 23, 0, "Number of the queue pair."),
    reserved_bytes(0xc, 0x4),
    word32("opt_param_mask", 0x10, "Optional fields of the context that the transition takes over.",
           &qp_optional_parameters),
    word32("ece", 0x14, "Options of enhanced connection establishment."),
    nested("qpc", 0x18, qpc, "Context of the queue pair."),
    reserved_bytes(0x100, 0x10),
};
inline constexpr Layout rtr2rts_qp_in{"rtr2rts_qp_in", Kind::command_input, 0x110,
                                      rtr2rts_qp_in_fields, "Input of RTR2RTS_QP."};

inline constexpr Field rtr2rts_qp_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x4),
    word32("ece", 0xc, "Options of enhanced connection establishment."),
};
inline constexpr Layout rtr2rts_qp_out{"rtr2rts_qp_out", Kind::command_output, 0x10,
                                       rtr2rts_qp_out_fields, "Output of RTR2RTS_QP."};

inline constexpr Field rts2rts_qp_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("qpn", 0x8, 23, 0, "Number of the queue pair."),
    reserved_bytes(0xc, 0x4),
    word32("opt_param_mask", 0x10, "Optional fields of the context that the transition takes over.",
           &qp_optional_parameters),
    word32("ece", 0x14, "Options of enhanced connection establishment."),
    nested("qpc", 0x18, qpc, "Context of the queue pair."),
    reserved_bytes(0x100, 0x10),
};
inline constexpr Layout rts2rts_qp_in{"rts2rts_qp_in", Kind::command_input, 0x110,
                                      rts2rts_qp_in_fields, "Input of RTS2RTS_QP."};

inline constexpr Field rts2rts_qp_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x4),
    word32("ece", 0xc, "Options of enhanced connection establishment."),
};
inline constexpr Layout rts2rts_qp_out{"rts2rts_qp_out", Kind::command_output, 0x10,
                                       rts2rts_qp_out_fields, "Output of RTS2RTS_QP."};

inline constexpr Field sqerr2rts_qp_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("qpn", 0x8, 23, 0, "Number of the queue pair."),
    reserved_bytes(0xc, 0x4),
    word32("opt_param_mask", 0x10, "Optional fields of the context that the transition takes over.",
           &qp_optional_parameters),
    reserved_bytes(0x14, 0x4),
    nested("qpc", 0x18, qpc, "Context of the queue pair."),
    reserved_bytes(0x100, 0x10),
};
inline constexpr Layout sqerr2rts_qp_in{"sqerr2rts_qp_in", Kind::command_input, 0x110,
                                        sqerr2rts_qp_in_fields, "Input of SQERR2RTS_QP."};

inline constexpr Field sqerr2rts_qp_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout sqerr2rts_qp_out{"sqerr2rts_qp_out", Kind::command_output, 0x10,
                                         sqerr2rts_qp_out_fields, "Output of SQERR2RTS_QP."};

inline constexpr Field sqd2rts_qp_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("qpn", 0x8, 23, 0, "Number of the queue pair."),
    reserved_bytes(0xc, 0x4),
    word32("opt_param_mask", 0x10, "Optional fields of the context that the transition takes over.",
           &qp_optional_parameters),
    reserved_bytes(0x14, 0x4),
    nested("qpc", 0x18, qpc, "Context of the queue pair."),
    reserved_bytes(0x100, 0x10),
};
inline constexpr Layout sqd2rts_qp_in{"sqd2rts_qp_in", Kind::command_input, 0x110,
                                      sqd2rts_qp_in_fields, "Input of SQD2RTS_QP."};

inline constexpr Field sqd2rts_qp_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout sqd2rts_qp_out{"sqd2rts_qp_out", Kind::command_output, 0x10,
                                       sqd2rts_qp_out_fields, "Output of SQD2RTS_QP."};

inline constexpr Field qp_2err_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("qpn", 0x8, 23, 0, "Number of the queue pair."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout qp_2err_in{"qp_2err_in", Kind::command_input, 0x10, qp_2err_in_fields,
                                   "Input of QP_2ERR."};

inline constexpr Field qp_2err_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout qp_2err_out{"qp_2err_out", Kind::command_output, 0x10, qp_2err_out_fields,
                                    "Output of QP_2ERR."};

inline constexpr Field qp_2rst_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("qpn", 0x8, 23, 0, "Number of the queue pair."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout qp_2rst_in{"qp_2rst_in", Kind::command_input, 0x10, qp_2rst_in_fields,
                                   "Input of QP_2RST."};

inline constexpr Field qp_2rst_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout qp_2rst_out{"qp_2rst_out", Kind::command_output, 0x10, qp_2rst_out_fields,
                                    "Output of QP_2RST."};

inline constexpr Field query_qp_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    flag("qpc_ext", 0x8, 31, "The extension of the context is wanted too."),
    reserved(0x8, 30, 24),
    bits("qpn", 0x8, 23, 0, "Number of the queue pair."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_qp_in{"query_qp_in", Kind::command_input, 0x10, query_qp_in_fields,
                                    "Input of QUERY_QP."};

inline constexpr std::array query_qp_out_qp_pas_or_qpc_ext_and_pas_choices{
    &qp_pas_list_in, &qpc_extension_and_pas_list_in};

inline constexpr Field query_qp_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    word32("opt_param_mask", 0x10, "Optional fields of the context that count.",
           &qp_optional_parameters),
    word32("ece", 0x14, "Options of enhanced connection establishment."),
    nested("qpc", 0x18, qpc, "Context of the queue pair."),
    reserved_bytes(0x100, 0x10),
    choice("qp_pas_or_qpc_ext_and_pas", 0x110, 0xc0, query_qp_out_qp_pas_or_qpc_ext_and_pas_choices,
           "Page addresses, behind the extension if it was wanted."),
};
inline constexpr Layout query_qp_out{"query_qp_out", Kind::command_output, 0x1d0,
                                     query_qp_out_fields, "Output of QUERY_QP."};

inline constexpr Field create_dct_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved_bytes(0x8, 0x8),
    nested("dct_context_entry", 0x10, dctc, "Context of the dynamically connected target."),
    reserved_bytes(0x50, 0x30),
};
inline constexpr Layout create_dct_in{"create_dct_in", Kind::command_input, 0x80,
                                      create_dct_in_fields, "Input of CREATE_DCT."};

inline constexpr Field create_dct_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved(0x8, 31, 24),
    bits("dctn", 0x8, 23, 0, "Number of the dynamically connected target."),
    word32("ece", 0xc, "Options of enhanced connection establishment."),
};
inline constexpr Layout create_dct_out{"create_dct_out", Kind::command_output, 0x10,
                                       create_dct_out_fields, "Output of CREATE_DCT."};

inline constexpr Field destroy_dct_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("dctn", 0x8, 23, 0, "Number of the dynamically connected target."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout destroy_dct_in{"destroy_dct_in", Kind::command_input, 0x10,
                                       destroy_dct_in_fields, "Input of DESTROY_DCT."};

inline constexpr Field destroy_dct_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout destroy_dct_out{"destroy_dct_out", Kind::command_output, 0x10,
                                        destroy_dct_out_fields, "Output of DESTROY_DCT."};

inline constexpr Field drain_dct_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("dctn", 0x8, 23, 0, "Number of the dynamically connected target."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout drain_dct_in{"drain_dct_in", Kind::command_input, 0x10, drain_dct_in_fields,
                                     "Input of DRAIN_DCT."};

inline constexpr Field drain_dct_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout drain_dct_out{"drain_dct_out", Kind::command_output, 0x10,
                                      drain_dct_out_fields, "Output of DRAIN_DCT."};

inline constexpr Field query_dct_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("dctn", 0x8, 23, 0, "Number of the dynamically connected target."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout query_dct_in{"query_dct_in", Kind::command_input, 0x10, query_dct_in_fields,
                                     "Input of QUERY_DCT."};

inline constexpr Field query_dct_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
    nested("dct_context_entry", 0x10, dctc, "Context of the dynamically connected target."),
    reserved_bytes(0x50, 0x30),
};
inline constexpr Layout query_dct_out{"query_dct_out", Kind::command_output, 0x80,
                                      query_dct_out_fields, "Output of QUERY_DCT."};

inline constexpr Field arm_dct_in_fields[] = {
    opcode_field,
    uid_field,
    reserved(0x4, 31, 16),
    op_mod_field,
    reserved(0x8, 31, 24),
    bits("dct_number", 0x8, 23, 0, "Target whose key violations shall raise an event."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout arm_dct_in{"arm_dct_in", Kind::command_input, 0x10, arm_dct_in_fields,
                                   "Input of ARM_DCT."};

inline constexpr Field arm_dct_out_fields[] = {
    status_field,
    reserved(0x0, 23, 0),
    syndrome_field,
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout arm_dct_out{"arm_dct_out", Kind::command_output, 0x10, arm_dct_out_fields,
                                    "Output of ARM_DCT."};

inline constexpr Command cmd_create_qp{"create_qp", 0x500, &create_qp_in, &create_qp_out,
                                       "Creates a queue pair in the reset state."};
inline constexpr Command cmd_destroy_qp{"destroy_qp", 0x501, &destroy_qp_in, &destroy_qp_out,
                                        "Destroys a queue pair."};
inline constexpr Command cmd_rst2init_qp{"rst2init_qp", 0x502, &rst2init_qp_in, &rst2init_qp_out,
                                         "Takes a queue pair from RST to INIT."};
inline constexpr Command cmd_init2init_qp{"init2init_qp", 0x50e, &init2init_qp_in,
                                          &init2init_qp_out,
                                          "Changes a queue pair in the state INIT."};
inline constexpr Command cmd_init2rtr_qp{"init2rtr_qp", 0x503, &init2rtr_qp_in, &init2rtr_qp_out,
                                         "Takes a queue pair from INIT to RTR."};
inline constexpr Command cmd_rtr2rts_qp{"rtr2rts_qp", 0x504, &rtr2rts_qp_in, &rtr2rts_qp_out,
                                        "Takes a queue pair from RTR to RTS."};
inline constexpr Command cmd_rts2rts_qp{"rts2rts_qp", 0x505, &rts2rts_qp_in, &rts2rts_qp_out,
                                        "Changes a queue pair in the state RTS."};
inline constexpr Command cmd_sqerr2rts_qp{
    "sqerr2rts_qp", 0x506, &sqerr2rts_qp_in, &sqerr2rts_qp_out,
    "Takes a queue pair from a send queue error back to RTS."};
inline constexpr Command cmd_sqd2rts_qp{
    "sqd_rts_qp", 0x50c, &sqd2rts_qp_in, &sqd2rts_qp_out,
    "Takes a queue pair with a drained send queue back to RTS."};
inline constexpr Command cmd_qp_2err{"2err_qp", 0x507, &qp_2err_in, &qp_2err_out,
                                     "Takes a queue pair from any state to ERR."};
inline constexpr Command cmd_qp_2rst{"2rst_qp", 0x50a, &qp_2rst_in, &qp_2rst_out,
                                     "Takes a queue pair from any state to RST."};
inline constexpr Command cmd_query_qp{"query_qp", 0x50b, &query_qp_in, &query_qp_out,
                                      "Reads the context of a queue pair."};
inline constexpr Command cmd_create_dct{"create_dct", 0x710, &create_dct_in, &create_dct_out,
                                        "Creates a dynamically connected target."};
inline constexpr Command cmd_destroy_dct{
    "destroy_dct", 0x711, &destroy_dct_in, &destroy_dct_out,
    "Destroys a dynamically connected target that is drained."};
inline constexpr Command cmd_drain_dct{"drain_dct", 0x712, &drain_dct_in, &drain_dct_out,
                                       "Closes the connections of a dynamically connected target."};
inline constexpr Command cmd_query_dct{"query_dct", 0x713, &query_dct_in, &query_dct_out,
                                       "Reads the context of a dynamically connected target."};
inline constexpr Command cmd_arm_dct{"arm_dct", 0x714, &arm_dct_in, &arm_dct_out,
                                     "Asks for an event at the next key violation."};

inline constexpr std::array commands_queue_pairs_layouts{
    &create_qp_in,     &create_qp_out,   &destroy_qp_in,    &destroy_qp_out, &rst2init_qp_in,
    &rst2init_qp_out,  &init2init_qp_in, &init2init_qp_out, &init2rtr_qp_in, &init2rtr_qp_out,
    &rtr2rts_qp_in,    &rtr2rts_qp_out,  &rts2rts_qp_in,    &rts2rts_qp_out, &sqerr2rts_qp_in,
    &sqerr2rts_qp_out, &sqd2rts_qp_in,   &sqd2rts_qp_out,   &qp_2err_in,     &qp_2err_out,
    &qp_2rst_in,       &qp_2rst_out,     &query_qp_in,      &query_qp_out,   &create_dct_in,
    &create_dct_out,   &destroy_dct_in,  &destroy_dct_out,  &drain_dct_in,   &drain_dct_out,
    &query_dct_in,     &query_dct_out,   &arm_dct_in,       &arm_dct_out};
inline constexpr std::array commands_queue_pairs_enumerations{&qp_optional_parameters};
inline constexpr std::array commands_queue_pairs_commands{
    &cmd_create_qp,  &cmd_destroy_qp, &cmd_rst2init_qp,  &cmd_init2init_qp, &cmd_init2rtr_qp,
    &cmd_rtr2rts_qp, &cmd_rts2rts_qp, &cmd_sqerr2rts_qp, &cmd_sqd2rts_qp,   &cmd_qp_2err,
    &cmd_qp_2rst,    &cmd_query_qp,   &cmd_create_dct,   &cmd_destroy_dct,  &cmd_drain_dct,
    &cmd_query_dct,  &cmd_arm_dct};
inline constexpr Group commands_queue_pairs_group{
    .name = "commands_queue_pairs",
    .title = "Commands: queue pairs",
    .meaning = "Commands for queue pairs and dynamically connected targets.",
    .layouts = commands_queue_pairs_layouts,
    .enumerations = commands_queue_pairs_enumerations,
    .commands = commands_queue_pairs_commands};

} // namespace hwtab
