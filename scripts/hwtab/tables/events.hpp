// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// -
#pragma once

#include "hwtab/model.hpp"
#include "tables/object_values.hpp"

#include <array>

namespace hwtab {

inline constexpr std::array comp_event_fields{
    reserved_bytes(0x0, 0x18),
    reserved(0x18, 31, 24),
    bits("cq_number", 0x18, 23, 0, "-"),
};
inline constexpr Layout comp_event{"comp_event", Kind::event, 0x1c, comp_event_fields, "-"};

inline constexpr std::array dct_events_fields{
    reserved_bytes(0x0, 0x18),
    reserved(0x18, 31, 24),
    bits("dct_number", 0x18, 23, 0, "-"),
};
inline constexpr Layout dct_events{"dct_events", Kind::event, 0x1c, dct_events_fields, "-"};

inline constexpr std::array qp_events_fields{
    reserved_bytes(0x0, 0x14), bits("type", 0x14, 31, 24, "-"),       reserved(0x14, 23, 0),
    reserved(0x18, 31, 24),    bits("qpn_rqn_sqn", 0x18, 23, 0, "-"),
};
inline constexpr Layout qp_events{"qp_events", Kind::event, 0x1c, qp_events_fields, "-"};

inline constexpr std::array wqe_associated_page_fault_event_fields{
    word32("bytes_committed", 0x0, "-"),
    reserved(0x4, 31, 16),
    bits("wqe_index", 0x4, 15, 0, "-"),
    reserved(0x8, 31, 16),
    bits("len", 0x8, 15, 0, "-"),
    reserved_bytes(0xc, 0xc),
    reserved(0x18, 31, 27),
    flag("rdma", 0x18, 26, "-"),
    flag("write_read", 0x18, 25, "-"),
    flag("requestor", 0x18, 24, "-"),
    bits("qpn", 0x18, 23, 0, "-"),
};
inline constexpr Layout wqe_associated_page_fault_event{
    "wqe_associated_page_fault_event", Kind::event, 0x1c, wqe_associated_page_fault_event_fields,
    "-"};

inline constexpr std::array rdma_page_fault_event_fields{
    word32("bytes_committed", 0x0, "-"),
    word32("r_key", 0x4, "-"),
    reserved(0x8, 31, 16),
    bits("packet_len", 0x8, 15, 0, "-"),
    word32("rdma_op_len", 0xc, "-"),
    word64("rdma_va", 0x10, "-"),
    reserved(0x18, 31, 27),
    flag("rdma", 0x18, 26, "-"),
    flag("write", 0x18, 25, "-"),
    flag("requestor", 0x18, 24, "-"),
    bits("qp_number", 0x18, 23, 0, "-"),
};
inline constexpr Layout rdma_page_fault_event{"rdma_page_fault_event", Kind::event, 0x1c,
                                              rdma_page_fault_event_fields, "-"};

inline constexpr std::array cq_error_fields{
    reserved(0x0, 31, 24),
    bits("cqn", 0x0, 23, 0, "-"),
    reserved_bytes(0x4, 0x4),
    reserved(0x8, 31, 8),
    bits("syndrome", 0x8, 7, 0, "Firmware code that narrows down why the command failed."),
    reserved_bytes(0xc, 0x10),
};
inline constexpr Layout cq_error{"cq_error", Kind::event, 0x1c, cq_error_fields, "-"};

inline constexpr std::array dropped_packet_logged_fields{
    reserved_bytes(0x0, 0x1c),
};
inline constexpr Layout dropped_packet_logged{"dropped_packet_logged", Kind::event, 0x1c,
                                              dropped_packet_logged_fields, "-"};

inline constexpr std::array port_state_change_event_fields{
    reserved_bytes(0x0, 0x8),
    bits("port_num", 0x8, 31, 28, "-"),
    reserved(0x8, 27, 0),
    reserved_bytes(0xc, 0x10),
};
inline constexpr Layout port_state_change_event{"port_state_change_event", Kind::event, 0x1c,
                                                port_state_change_event_fields, "-"};

inline constexpr std::array gpio_event_fields{
    reserved_bytes(0x0, 0xc),
    word32("gpio_event_hi", 0xc, "-"),
    word32("gpio_event_lo", 0x10, "-"),
    reserved_bytes(0x14, 0x8),
};
inline constexpr Layout gpio_event{"gpio_event", Kind::event, 0x1c, gpio_event_fields, "-"};

inline constexpr std::array db_bf_congestion_event_fields{
    bits("event_subtype", 0x0, 31, 24, "-"),
    reserved(0x0, 23, 16),
    bits("congestion_level", 0x0, 15, 8, "-"),
    reserved(0x0, 7, 0),
    reserved_bytes(0x4, 0x14),
};
inline constexpr Layout db_bf_congestion_event{"db_bf_congestion_event", Kind::event, 0x18,
                                               db_bf_congestion_event_fields, "-"};

inline constexpr std::array stall_vl_event_fields{
    reserved(0x0, 31, 8),       flag("port_num", 0x0, 7, "-"), reserved(0x0, 6, 4),
    bits("vl", 0x0, 3, 0, "-"), reserved_bytes(0x4, 0x14),
};
inline constexpr Layout stall_vl_event{"stall_vl_event", Kind::event, 0x18, stall_vl_event_fields,
                                       "-"};

inline constexpr std::array cmd_inter_comp_event_fields{
    word32("command_completion_vector", 0x0, "-"),
    reserved_bytes(0x4, 0x18),
};
inline constexpr Layout cmd_inter_comp_event{"cmd_inter_comp_event", Kind::event, 0x1c,
                                             cmd_inter_comp_event_fields, "-"};

inline constexpr std::array eqe_event_data_choices{&comp_event,
                                                   &dct_events,
                                                   &qp_events,
                                                   &wqe_associated_page_fault_event,
                                                   &rdma_page_fault_event,
                                                   &cq_error,
                                                   &dropped_packet_logged,
                                                   &port_state_change_event,
                                                   &gpio_event,
                                                   &db_bf_congestion_event,
                                                   &stall_vl_event,
                                                   &cmd_inter_comp_event};

inline constexpr std::array eqe_fields{
    reserved(0x0, 31, 24),     bits("event_type", 0x0, 23, 16, "-"),
    reserved(0x0, 15, 8),      bits("event_sub_type", 0x0, 7, 0, "-"),
    reserved_bytes(0x4, 0x1c), choice("event_data", 0x20, 0x1c, eqe_event_data_choices, "-"),
    reserved(0x3c, 31, 16),    bits("signature", 0x3c, 15, 8, "-"),
    reserved(0x3c, 7, 1),      flag("owner", 0x3c, 0, "-"),
};
inline constexpr Layout eqe{"eqe", Kind::event, 0x40, eqe_fields, "-"};

inline constexpr std::array pages_req_event_fields{
    reserved(0x0, 31, 16),
    bits("function_id", 0x0, 15, 0, "-"),
    word32("num_pages", 0x4, "-"),
    reserved_bytes(0x8, 0x14),
};
inline constexpr Layout pages_req_event{"pages_req_event", Kind::event, 0x1c,
                                        pages_req_event_fields, "-"};

inline constexpr std::array affiliated_event_header_fields{
    reserved(0x0, 31, 16),
    bits("obj_type", 0x0, 15, 0, "-"),
    word32("obj_id", 0x4, "-"),
};
inline constexpr Layout affiliated_event_header{"affiliated_event_header", Kind::event, 0x8,
                                                affiliated_event_header_fields, "-"};

inline constexpr std::array events_layouts{&comp_event,
                                           &dct_events,
                                           &qp_events,
                                           &wqe_associated_page_fault_event,
                                           &rdma_page_fault_event,
                                           &cq_error,
                                           &dropped_packet_logged,
                                           &port_state_change_event,
                                           &gpio_event,
                                           &db_bf_congestion_event,
                                           &stall_vl_event,
                                           &cmd_inter_comp_event,
                                           &eqe,
                                           &pages_req_event,
                                           &affiliated_event_header};
inline constexpr Group events_group{
    .name = "events", .title = "events", .meaning = "-", .layouts = events_layouts};

} // namespace hwtab
