// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Entries of event queues.
#pragma once

#include "hwtab/model.hpp"
#include "tables/object_values.hpp"

#include <array>

namespace hwtab {

inline constexpr Field comp_event_fields[] = {
    reserved_bytes(0x0, 0x18),
    reserved(0x18, 31, 24),
    bits("cq_number", 0x18, 23, 0, "Completion queue that has new entries."),
};
inline constexpr Layout comp_event{"comp_event", Kind::event, 0x1c, comp_event_fields,
                                   "Data of a completion event."};

inline constexpr Field dct_events_fields[] = {
    reserved_bytes(0x0, 0x18),
    reserved(0x18, 31, 24),
    bits("dct_number", 0x18, 23, 0, "Number of the target."),
};
inline constexpr Layout dct_events{"dct_events", Kind::event, 0x1c, dct_events_fields,
                                   "Data of events about dynamically connected targets."};

inline constexpr Field qp_events_fields[] = {
    reserved_bytes(0x0, 0x14),
    bits("type", 0x14, 31, 24, "Kind of the queue.", &event_queue_type),
    reserved(0x14, 23, 0),
    reserved(0x18, 31, 24),
    bits("qpn_rqn_sqn", 0x18, 23, 0, "Number of the queue pair, receive queue or send queue."),
};
inline constexpr Layout qp_events{"qp_events", Kind::event, 0x1c, qp_events_fields,
                                  "Data of events about work queues."};

inline constexpr Field wqe_associated_page_fault_event_fields[] = {
    word32("bytes_committed", 0x0, "Bytes of the operation that were transferred before."),
    reserved(0x4, 31, 16),
    bits("wqe_index", 0x4, 15, 0, "Index of the work request in its queue."),
    reserved(0x8, 31, 16),
    bits("len", 0x8, 15, 0, "Length of the packet in bytes."),
    reserved_bytes(0xc, 0xc),
    reserved(0x18, 31, 27),
    flag("rdma", 0x18, 26, "An RDMA operation met the fault, otherwise a work request."),
    flag("write_read", 0x18, 25, "The memory was to be written, otherwise read."),
    flag("requestor", 0x18, 24, "The requester met the fault, otherwise the responder."),
    bits("qpn", 0x18, 23, 0, "Number of the work queue."),
};
inline constexpr Layout wqe_associated_page_fault_event{
    "wqe_associated_page_fault_event", Kind::event, 0x1c, wqe_associated_page_fault_event_fields,
    "Data of a page fault that a work request met."};

inline constexpr Field rdma_page_fault_event_fields[] = {
    word32("bytes_committed", 0x0, "Bytes of the operation that were transferred before."),
    word32("r_key", 0x4, "Remote key of the operation."),
    reserved(0x8, 31, 16),
    bits("packet_len", 0x8, 15, 0, "Length of the packet in bytes."),
    word32("rdma_op_len", 0xc, "Length of the whole operation in bytes."),
    word64("rdma_va", 0x10, "First virtual address of the operation."),
    reserved(0x18, 31, 27),
    flag("rdma", 0x18, 26, "An RDMA operation met the fault, otherwise a work request."),
    flag("write", 0x18, 25, "The memory was to be written, otherwise read."),
    flag("requestor", 0x18, 24, "The requester met the fault, otherwise the responder."),
    bits("qp_number", 0x18, 23, 0, "Number of the queue pair, or the fault's token."),
};
inline constexpr Layout rdma_page_fault_event{
    "rdma_page_fault_event", Kind::event, 0x1c, rdma_page_fault_event_fields,
    "Data of a page fault that an RDMA operation of the peer met."};

inline constexpr Field memory_page_fault_event_fields[] = {
    flag("last", 0x0, 31, "The fault is answered when this event is, not by a later one."),
    reserved(0x0, 30, 16),
    bits("post_demand_fault_pages", 0x0, 15, 0,
         "Pages of 4 KiB behind the missing ones that can be fetched ahead."),
    bits("pre_demand_fault_pages", 0x4, 31, 16,
         "Pages of 4 KiB before the missing ones that can be fetched ahead."),
    bits("fault_token_47_32", 0x4, 15, 0, "Upper 16 bits of the fault's token."),
    word32("fault_token_31_0", 0x8, "Lower 32 bits of the fault's token."),
    bits("demand_fault_pages", 0xc, 31, 12,
         "Missing pages of 4 KiB, from the page of the address on."),
    reserved(0xc, 11, 0),
    word32("mkey", 0x10, "Memory key whose translation lacks the pages."),
    word64("va", 0x14, "First virtual address that is missing."),
};
inline constexpr Layout memory_page_fault_event{"memory_page_fault_event", Kind::event, 0x1c,
                                                memory_page_fault_event_fields,
                                                "Data of a page fault that names the memory."};

inline constexpr Field cq_error_fields[] = {
    reserved(0x0, 31, 24),
    bits("cqn", 0x0, 23, 0, "Number of the completion queue."),
    reserved_bytes(0x4, 0x4),
    reserved(0x8, 31, 8),
    bits("syndrome", 0x8, 7, 0, "Why the queue stopped.", &cq_error_syndrome),
    reserved_bytes(0xc, 0x10),
};
inline constexpr Layout cq_error{"cq_error", Kind::event, 0x1c, cq_error_fields,
                                 "Data of an error of a completion queue."};

inline constexpr Field dropped_packet_logged_fields[] = {
    reserved_bytes(0x0, 0x1c),
};
inline constexpr Layout dropped_packet_logged{"dropped_packet_logged", Kind::event, 0x1c,
                                              dropped_packet_logged_fields,
                                              "Data of an event about a recorded packet."};

inline constexpr Field port_state_change_event_fields[] = {
    reserved_bytes(0x0, 0x8),
    bits("port_num", 0x8, 31, 28, "Port of the function, counted from 1."),
    reserved(0x8, 27, 0),
    reserved_bytes(0xc, 0x10),
};
inline constexpr Layout port_state_change_event{"port_state_change_event", Kind::event, 0x1c,
                                                port_state_change_event_fields,
                                                "Data of a port event."};

inline constexpr Field gpio_event_fields[] = {
    reserved_bytes(0x0, 0xc),
    word32("gpio_event_hi", 0xc, "Bits of the upper 32 pins."),
    word32("gpio_event_lo", 0x10, "Bits of the lower 32 pins."),
    reserved_bytes(0x14, 0x8),
};
inline constexpr Layout gpio_event{"gpio_event", Kind::event, 0x1c, gpio_event_fields,
                                   "Data of an event about input pins."};

inline constexpr Field db_bf_congestion_event_fields[] = {
    bits("event_subtype", 0x0, 31, 24, "What changed about the congestion."),
    reserved(0x0, 23, 16),
    bits("congestion_level", 0x0, 15, 8, "Level of the congestion."),
    reserved(0x0, 7, 0),
    reserved_bytes(0x4, 0x14),
};
inline constexpr Layout db_bf_congestion_event{"db_bf_congestion_event", Kind::event, 0x18,
                                               db_bf_congestion_event_fields,
                                               "Data of an event about congested doorbells."};

inline constexpr Field stall_vl_event_fields[] = {
    reserved(0x0, 31, 8),      flag("port_num", 0x0, 7, "Port of the lane."),
    reserved(0x0, 6, 4),       bits("vl", 0x0, 3, 0, "Number of the virtual lane."),
    reserved_bytes(0x4, 0x14),
};
inline constexpr Layout stall_vl_event{"stall_vl_event", Kind::event, 0x18, stall_vl_event_fields,
                                       "Data of an event about a stalled virtual lane."};

inline constexpr Field cmd_inter_comp_event_fields[] = {
    word32("command_completion_vector", 0x0, "Bit n: the command in slot n is complete."),
    reserved_bytes(0x4, 0x18),
};
inline constexpr Layout cmd_inter_comp_event{"cmd_inter_comp_event", Kind::event, 0x1c,
                                             cmd_inter_comp_event_fields,
                                             "Data of an event about completed commands."};

inline constexpr Field pages_req_event_fields[] = {
    bits("flags", 0x0, 31, 16, "Modifiers of the request.", &page_request_flags),
    bits("function_id", 0x0, 15, 0, "Function whose pages are meant."),
    word32("num_pages", 0x4, "Pages of 4 KiB wanted; negative: pages given back."),
    reserved_bytes(0x8, 0x14),
};
inline constexpr Layout pages_req_event{"pages_req_event", Kind::event, 0x1c,
                                        pages_req_event_fields,
                                        "Data of a page request of the firmware."};

inline constexpr std::array eqe_event_data_choices{&comp_event,
                                                   &dct_events,
                                                   &qp_events,
                                                   &wqe_associated_page_fault_event,
                                                   &rdma_page_fault_event,
                                                   &memory_page_fault_event,
                                                   &cq_error,
                                                   &dropped_packet_logged,
                                                   &port_state_change_event,
                                                   &gpio_event,
                                                   &db_bf_congestion_event,
                                                   &stall_vl_event,
                                                   &cmd_inter_comp_event,
                                                   &pages_req_event};

inline constexpr Field eqe_fields[] = {
    reserved(0x0, 31, 24),
    bits("event_type", 0x0, 23, 16, "What the event reports.", &event_type),
    reserved(0x0, 15, 8),
    bits("event_sub_type", 0x0, 7, 0, "Detail of the event; its values depend on the type."),
    reserved_bytes(0x4, 0x1c),
    choice("event_data", 0x20, 0x1c, eqe_event_data_choices,
           "Data that depend on the event's type."),
    reserved(0x3c, 31, 16),
    bits("signature", 0x3c, 15, 8, "Checksum of the entry, if signatures are enabled."),
    reserved(0x3c, 7, 1),
    flag("owner", 0x3c, 0, "Parity of the passes over the queue: it marks new entries."),
};
inline constexpr Layout eqe{"eqe", Kind::event, 0x40, eqe_fields, "Entry of an event queue.", true};

inline constexpr Field affiliated_event_header_fields[] = {
    reserved(0x0, 31, 16),
    bits("obj_type", 0x0, 15, 0, "Kind of the object.", &object_type),
    word32("obj_id", 0x4, "Number of the object."),
};
inline constexpr Layout affiliated_event_header{"affiliated_event_header", Kind::event, 0x8,
                                                affiliated_event_header_fields,
                                                "Head of events that belong to an object."};

inline constexpr std::array events_layouts{&comp_event,
                                           &dct_events,
                                           &qp_events,
                                           &wqe_associated_page_fault_event,
                                           &rdma_page_fault_event,
                                           &memory_page_fault_event,
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
inline constexpr std::array events_enumerations{&event_type,         &port_change_subtype,
                                                &page_fault_subtype, &cq_error_syndrome,
                                                &event_queue_type,   &page_request_flags};
inline constexpr Group events_group{.name = "events",
                                    .title = "Events",
                                    .meaning = "Entries of event queues.",
                                    .layouts = events_layouts,
                                    .enumerations = events_enumerations};

} // namespace hwtab
