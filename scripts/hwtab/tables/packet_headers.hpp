// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Headers of InfiniBand packets with the values of their fields: routing headers, BTH and all
/// extended transport headers. The names are those of the InfiniBand Architecture Specification.
#pragma once

#include "hwtab/model.hpp"

#include <array>

namespace hwtab {

inline constexpr std::array link_next_header_values{
    Value{"raw", 0, "Raw packet with an EtherType header."},
    Value{"ip", 1, "Raw packet with an IPv6 header."},
    Value{"iba_local", 2, "InfiniBand transport without a GRH: the packet stays in the subnet."},
    Value{"iba_global", 3, "InfiniBand transport behind a GRH."},
};
inline constexpr Enumeration link_next_header{"link_next_header", link_next_header_values,
                                              "What follows the local route header (LNH)."};

inline constexpr std::array grh_next_header_values{
    Value{"iba_transport", 0x1b, "A base transport header."},
};
inline constexpr Enumeration grh_next_header{"grh_next_header", grh_next_header_values,
                                             "What follows the global route header."};

inline constexpr std::array transport_opcode_values{
    Value{"rc_send_first", 0x00, "RC: first packet of a send."},
    Value{"rc_send_middle", 0x01, "RC: middle packet of a send."},
    Value{"rc_send_last", 0x02, "RC: last packet of a send."},
    Value{"rc_send_last_with_immediate", 0x03, "RC: last packet of a send with immediate data."},
    Value{"rc_send_only", 0x04, "RC: whole send in one packet."},
    Value{"rc_send_only_with_immediate", 0x05, "RC: whole send with immediate data in one packet."},
    Value{"rc_rdma_write_first", 0x06, "RC: first packet of an RDMA write."},
    Value{"rc_rdma_write_middle", 0x07, "RC: middle packet of an RDMA write."},
    Value{"rc_rdma_write_last", 0x08, "RC: last packet of an RDMA write."},
    Value{"rc_rdma_write_last_with_immediate", 0x09,
          "RC: last packet of an RDMA write with immediate data."},
    Value{"rc_rdma_write_only", 0x0a, "RC: whole RDMA write in one packet."},
    Value{"rc_rdma_write_only_with_immediate", 0x0b,
          "RC: whole RDMA write with immediate data in one packet."},
    Value{"rc_rdma_read_request", 0x0c, "RC: request of an RDMA read."},
    Value{"rc_rdma_read_response_first", 0x0d, "RC: first packet of the data that was read."},
    Value{"rc_rdma_read_response_middle", 0x0e, "RC: middle packet of the data that was read."},
    Value{"rc_rdma_read_response_last", 0x0f, "RC: last packet of the data that was read."},
    Value{"rc_rdma_read_response_only", 0x10, "RC: all data that was read, in one packet."},
    Value{"rc_acknowledge", 0x11, "RC: positive or negative acknowledgement."},
    Value{"rc_atomic_acknowledge", 0x12, "RC: acknowledgement of an atomic with the value found."},
    Value{"rc_compare_swap", 0x13, "RC: request of a compare and swap."},
    Value{"rc_fetch_add", 0x14, "RC: request of a fetch and add."},
    Value{"rc_send_last_with_invalidate", 0x16,
          "RC: last packet of a send that invalidates an R_Key."},
    Value{"rc_send_only_with_invalidate", 0x17,
          "RC: whole send in one packet that invalidates an R_Key."},
    Value{"rc_flush", 0x1c, "RC: request to flush earlier writes to memory or persistence."},
    Value{"rc_atomic_write", 0x1d, "RC: request of an atomic write of 8 bytes."},
    Value{"uc_send_first", 0x20, "UC: first packet of a send."},
    Value{"uc_send_middle", 0x21, "UC: middle packet of a send."},
    Value{"uc_send_last", 0x22, "UC: last packet of a send."},
    Value{"uc_send_last_with_immediate", 0x23, "UC: last packet of a send with immediate data."},
    Value{"uc_send_only", 0x24, "UC: whole send in one packet."},
    Value{"uc_send_only_with_immediate", 0x25, "UC: whole send with immediate data in one packet."},
    Value{"uc_rdma_write_first", 0x26, "UC: first packet of an RDMA write."},
    Value{"uc_rdma_write_middle", 0x27, "UC: middle packet of an RDMA write."},
    Value{"uc_rdma_write_last", 0x28, "UC: last packet of an RDMA write."},
    Value{"uc_rdma_write_last_with_immediate", 0x29,
          "UC: last packet of an RDMA write with immediate data."},
    Value{"uc_rdma_write_only", 0x2a, "UC: whole RDMA write in one packet."},
    Value{"uc_rdma_write_only_with_immediate", 0x2b,
          "UC: whole RDMA write with immediate data in one packet."},
    Value{"rd_send_first", 0x40, "RD: first packet of a send."},
    Value{"rd_send_middle", 0x41, "RD: middle packet of a send."},
    Value{"rd_send_last", 0x42, "RD: last packet of a send."},
    Value{"rd_send_last_with_immediate", 0x43, "RD: last packet of a send with immediate data."},
    Value{"rd_send_only", 0x44, "RD: whole send in one packet."},
    Value{"rd_send_only_with_immediate", 0x45, "RD: whole send with immediate data in one packet."},
    Value{"rd_rdma_write_first", 0x46, "RD: first packet of an RDMA write."},
    Value{"rd_rdma_write_middle", 0x47, "RD: middle packet of an RDMA write."},
    Value{"rd_rdma_write_last", 0x48, "RD: last packet of an RDMA write."},
    Value{"rd_rdma_write_last_with_immediate", 0x49,
          "RD: last packet of an RDMA write with immediate data."},
    Value{"rd_rdma_write_only", 0x4a, "RD: whole RDMA write in one packet."},
    Value{"rd_rdma_write_only_with_immediate", 0x4b,
          "RD: whole RDMA write with immediate data in one packet."},
    Value{"rd_rdma_read_request", 0x4c, "RD: request of an RDMA read."},
    Value{"rd_rdma_read_response_first", 0x4d, "RD: first packet of the data that was read."},
    Value{"rd_rdma_read_response_middle", 0x4e, "RD: middle packet of the data that was read."},
    Value{"rd_rdma_read_response_last", 0x4f, "RD: last packet of the data that was read."},
    Value{"rd_rdma_read_response_only", 0x50, "RD: all data that was read, in one packet."},
    Value{"rd_acknowledge", 0x51, "RD: positive or negative acknowledgement."},
    Value{"rd_atomic_acknowledge", 0x52, "RD: acknowledgement of an atomic with the value found."},
    Value{"rd_compare_swap", 0x53, "RD: request of a compare and swap."},
    Value{"rd_fetch_add", 0x54, "RD: request of a fetch and add."},
    Value{"rd_flush", 0x5c, "RD: request to flush earlier writes to memory or persistence."},
    Value{"ud_send_only", 0x64, "UD: whole send in one packet."},
    Value{"ud_send_only_with_immediate", 0x65, "UD: whole send with immediate data in one packet."},
    Value{"xrc_send_first", 0xa0, "XRC: first packet of a send."},
    Value{"xrc_send_middle", 0xa1, "XRC: middle packet of a send."},
    Value{"xrc_send_last", 0xa2, "XRC: last packet of a send."},
    Value{"xrc_send_last_with_immediate", 0xa3, "XRC: last packet of a send with immediate data."},
    Value{"xrc_send_only", 0xa4, "XRC: whole send in one packet."},
    Value{"xrc_send_only_with_immediate", 0xa5,
          "XRC: whole send with immediate data in one packet."},
    Value{"xrc_rdma_write_first", 0xa6, "XRC: first packet of an RDMA write."},
    Value{"xrc_rdma_write_middle", 0xa7, "XRC: middle packet of an RDMA write."},
    Value{"xrc_rdma_write_last", 0xa8, "XRC: last packet of an RDMA write."},
    Value{"xrc_rdma_write_last_with_immediate", 0xa9,
          "XRC: last packet of an RDMA write with immediate data."},
    Value{"xrc_rdma_write_only", 0xaa, "XRC: whole RDMA write in one packet."},
    Value{"xrc_rdma_write_only_with_immediate", 0xab,
          "XRC: whole RDMA write with immediate data in one packet."},
    Value{"xrc_rdma_read_request", 0xac, "XRC: request of an RDMA read."},
    Value{"xrc_rdma_read_response_first", 0xad, "XRC: first packet of the data that was read."},
    Value{"xrc_rdma_read_response_middle", 0xae, "XRC: middle packet of the data that was read."},
    Value{"xrc_rdma_read_response_last", 0xaf, "XRC: last packet of the data that was read."},
    Value{"xrc_rdma_read_response_only", 0xb0, "XRC: all data that was read, in one packet."},
    Value{"xrc_acknowledge", 0xb1, "XRC: positive or negative acknowledgement."},
    Value{"xrc_atomic_acknowledge", 0xb2,
          "XRC: acknowledgement of an atomic with the value found."},
    Value{"xrc_compare_swap", 0xb3, "XRC: request of a compare and swap."},
    Value{"xrc_fetch_add", 0xb4, "XRC: request of a fetch and add."},
    Value{"xrc_send_last_with_invalidate", 0xb6,
          "XRC: last packet of a send that invalidates an R_Key."},
    Value{"xrc_send_only_with_invalidate", 0xb7,
          "XRC: whole send in one packet that invalidates an R_Key."},
};
inline constexpr Enumeration transport_opcode{
    "transport_opcode", transport_opcode_values,
    "Opcode of the base transport header: transport in bits 7 to 5, operation in bits 4 to 0."};

inline constexpr std::array aeth_type_values{
    Value{"ack", 0, "Acknowledgement; the value is the credit count."},
    Value{"rnr_nak", 1, "Receiver not ready; the value is the timer code."},
    Value{"nak", 3, "Negative acknowledgement; the value is the NAK code."},
};
inline constexpr Enumeration aeth_type{"aeth_type", aeth_type_values,
                                       "Kind of acknowledgement, bits 6 and 5 of the syndrome."};

inline constexpr std::array nak_code_values{
    Value{"psn_sequence_error", 0, "The responder expected an earlier PSN."},
    Value{"invalid_request", 1, "The responder can't carry out such a request."},
    Value{"remote_access_error", 2, "R_Key, address range or access right didn't fit."},
    Value{"remote_operational_error", 3, "The responder failed while it carried out the request."},
    Value{"invalid_rd_request", 4, "The Q_Key or the RD domain didn't fit (RD only)."},
};
inline constexpr Enumeration nak_code{"nak_code", nak_code_values,
                                      "Reason of a negative acknowledgement, bits 4 to 0 of the "
                                      "syndrome."};

inline constexpr std::array aeth_syndrome_values{
    Value{"ack", 0x00, "Acknowledgement; bits 4 to 0 are the credit count."},
    Value{"ack_without_credits", 0x1f, "Acknowledgement without end-to-end credits."},
    Value{"rnr_nak", 0x20, "Receiver not ready; bits 4 to 0 are the timer code."},
    Value{"nak_psn_sequence_error", 0x60, "The responder expected an earlier PSN."},
    Value{"nak_invalid_request", 0x61, "The responder can't carry out such a request."},
    Value{"nak_remote_access_error", 0x62, "R_Key, address range or access right didn't fit."},
    Value{"nak_remote_operational_error", 0x63,
          "The responder failed while it carried out the request."},
    Value{"nak_invalid_rd_request", 0x64, "The Q_Key or the RD domain didn't fit (RD only)."},
};
inline constexpr Enumeration aeth_syndrome{"aeth_syndrome", aeth_syndrome_values,
                                           "Syndrome of the acknowledge header, all 8 bits."};

inline constexpr std::array rnr_timer_values{
    Value{"us_655360", 0, "655360 microseconds."},  Value{"us_10", 1, "10 microseconds."},
    Value{"us_20", 2, "20 microseconds."},          Value{"us_30", 3, "30 microseconds."},
    Value{"us_40", 4, "40 microseconds."},          Value{"us_60", 5, "60 microseconds."},
    Value{"us_80", 6, "80 microseconds."},          Value{"us_120", 7, "120 microseconds."},
    Value{"us_160", 8, "160 microseconds."},        Value{"us_240", 9, "240 microseconds."},
    Value{"us_320", 10, "320 microseconds."},       Value{"us_480", 11, "480 microseconds."},
    Value{"us_640", 12, "640 microseconds."},       Value{"us_960", 13, "960 microseconds."},
    Value{"us_1280", 14, "1280 microseconds."},     Value{"us_1920", 15, "1920 microseconds."},
    Value{"us_2560", 16, "2560 microseconds."},     Value{"us_3840", 17, "3840 microseconds."},
    Value{"us_5120", 18, "5120 microseconds."},     Value{"us_7680", 19, "7680 microseconds."},
    Value{"us_10240", 20, "10240 microseconds."},   Value{"us_15360", 21, "15360 microseconds."},
    Value{"us_20480", 22, "20480 microseconds."},   Value{"us_30720", 23, "30720 microseconds."},
    Value{"us_40960", 24, "40960 microseconds."},   Value{"us_61440", 25, "61440 microseconds."},
    Value{"us_81920", 26, "81920 microseconds."},   Value{"us_122880", 27, "122880 microseconds."},
    Value{"us_163840", 28, "163840 microseconds."}, Value{"us_245760", 29, "245760 microseconds."},
    Value{"us_327680", 30, "327680 microseconds."}, Value{"us_491520", 31, "491520 microseconds."},
};
inline constexpr Enumeration rnr_timer{
    "rnr_timer", rnr_timer_values,
    "How long the requester waits after a receiver-not-ready NAK, at least."};

inline constexpr std::array lrh_fields{
    bits("vl", 0x0, 31, 28, "Virtual lane on which the packet travels."),
    bits("lver", 0x0, 27, 24, "Version of the link layer; 0."),
    bits("sl", 0x0, 23, 20, "Service level of the path."),
    reserved(0x0, 19, 18),
    bits("lnh", 0x0, 17, 16, "Kind of header that follows.", &link_next_header),
    bits("dlid", 0x0, 15, 0, "Destination LID."),
    reserved(0x4, 31, 27),
    bits("pkt_len", 0x4, 26, 16,
         "Length in 4-byte words from the first byte of this header to the last before the "
         "variant CRC."),
    bits("slid", 0x4, 15, 0, "Source LID."),
};
inline constexpr Layout lrh{"lrh", Kind::packet_header, 0x8, lrh_fields,
                            "Local route header: first of every packet."};

inline constexpr std::array grh_fields{
    bits("ip_ver", 0x0, 31, 28, "Version of the header; 6."),
    bits("tclass", 0x0, 27, 20, "Traffic class."),
    bits("flow_label", 0x0, 19, 0, "Flow to which the packet belongs."),
    bits("pay_len", 0x4, 31, 16,
         "Length in bytes from the end of this header to the last byte before the variant CRC."),
    bits("nxt_hdr", 0x4, 15, 8, "Kind of header that follows.", &grh_next_header),
    bits("hop_lmt", 0x4, 7, 0, "Routers that the packet may still pass."),
    bytes("sgid", 0x8, 16, "Source GID."),
    bytes("dgid", 0x18, 16, "Destination GID."),
};
inline constexpr Layout grh{"grh", Kind::packet_header, 0x28, grh_fields,
                            "Global route header: between subnets and for multicast."};

inline constexpr std::array bth_fields{
    bits("opcode", 0x0, 31, 24, "Transport and operation; says which headers follow.",
         &transport_opcode),
    flag("se", 0x0, 23, "The responder shall raise a solicited event."),
    flag("mig_req", 0x0, 22, "State of path migration at the sender: 1 is migrated."),
    bits("pad_cnt", 0x0, 21, 20, "Bytes of padding behind the payload."),
    bits("t_ver", 0x0, 19, 16, "Version of the transport headers; 0."),
    bits("p_key", 0x0, 15, 0, "Partition key."),
    flag("fecn", 0x4, 31, "The packet met congestion on its way."),
    flag("becn", 0x4, 30, "A packet in the other direction met congestion."),
    reserved(0x4, 29, 24),
    bits("dest_qp", 0x4, 23, 0, "Destination queue pair; 0xffffff is multicast."),
    flag("ack_req", 0x8, 31, "The responder shall send an acknowledgement."),
    reserved(0x8, 30, 24),
    bits("psn", 0x8, 23, 0, "Packet sequence number."),
};
inline constexpr Layout bth{"bth", Kind::packet_header, 0xc, bth_fields, "Base transport header."};

inline constexpr std::array rdeth_fields{
    reserved(0x0, 31, 24),
    bits("ee_context", 0x0, 23, 0, "End-to-end context at the destination."),
};
inline constexpr Layout rdeth{"rdeth", Kind::packet_header, 0x4, rdeth_fields,
                              "Reliable datagram extended transport header."};

inline constexpr std::array deth_fields{
    word32("q_key", 0x0, "Queue key that the destination checks."),
    reserved(0x4, 31, 24),
    bits("src_qp", 0x4, 23, 0, "Queue pair that sent the packet."),
};
inline constexpr Layout deth{"deth", Kind::packet_header, 0x8, deth_fields,
                             "Datagram extended transport header (UD and RD)."};

inline constexpr std::array xrceth_fields{
    reserved(0x0, 31, 24),
    bits("xrcsrq", 0x0, 23, 0, "Shared receive queue at the destination."),
};
inline constexpr Layout xrceth{"xrceth", Kind::packet_header, 0x4, xrceth_fields,
                               "Extended reliable connected extended transport header."};

inline constexpr std::array reth_fields{
    word64("va", 0x0, "Address in the responder's region."),
    word32("r_key", 0x8, "Remote key of the responder's region."),
    word32("dma_len", 0xc, "Length of the whole transfer in bytes; at most 2^31."),
};
inline constexpr Layout reth{"reth", Kind::packet_header, 0x10, reth_fields,
                             "RDMA extended transport header."};

inline constexpr std::array atomiceth_fields{
    word64("va", 0x0, "Address of the 8 bytes in the responder's region."),
    word32("r_key", 0x8, "Remote key of the responder's region."),
    word64("swap_dt", 0xc, "Value to add, or to store if the comparison holds."),
    word64("cmp_dt", 0x14, "Value to compare with (compare and swap only)."),
};
inline constexpr Layout atomiceth{"atomiceth", Kind::packet_header, 0x1c, atomiceth_fields,
                                  "Atomic extended transport header."};

inline constexpr std::array aeth_fields{
    bits("syndrome", 0x0, 31, 24, "Kind of acknowledgement with its credits, timer or reason.",
         &aeth_syndrome),
    alias(bits("type", 0x0, 30, 29, "Kind of acknowledgement.", &aeth_type)),
    alias(bits("credit_count", 0x0, 28, 24, "Coded count of receive credits, for an ACK.")),
    alias(bits("rnr_timer", 0x0, 28, 24, "Code of the waiting time, for an RNR NAK.", &rnr_timer)),
    alias(bits("nak_code", 0x0, 28, 24, "Reason, for a NAK.", &nak_code)),
    bits("msn", 0x0, 23, 0, "Messages that the responder has completed."),
};
inline constexpr Layout aeth{"aeth", Kind::packet_header, 0x4, aeth_fields,
                             "ACK extended transport header."};

inline constexpr std::array atomicacketh_fields{
    word64("orig_rem_dt", 0x0, "Value found at the address before the operation."),
};
inline constexpr Layout atomicacketh{"atomicacketh", Kind::packet_header, 0x8, atomicacketh_fields,
                                     "Atomic ACK extended transport header."};

inline constexpr std::array immdt_fields{
    word32("imm_dt", 0x0, "Immediate data for the receiver's completion."),
};
inline constexpr Layout immdt{"immdt", Kind::packet_header, 0x4, immdt_fields,
                              "Immediate data extended transport header."};

inline constexpr std::array ieth_fields{
    word32("r_key", 0x0, "Remote key that the receiver shall invalidate."),
};
inline constexpr Layout ieth{"ieth", Kind::packet_header, 0x4, ieth_fields,
                             "Invalidate extended transport header."};

inline constexpr std::array packet_headers_layouts{&lrh,  &grh,          &bth,   &rdeth,
                                                   &deth, &xrceth,       &reth,  &atomiceth,
                                                   &aeth, &atomicacketh, &immdt, &ieth};
inline constexpr std::array packet_headers_enumerations{
    &link_next_header, &grh_next_header, &transport_opcode, &aeth_type,
    &nak_code,         &aeth_syndrome,   &rnr_timer};
inline constexpr Group packet_headers_group{
    .name = "packet_headers",
    .title = "Packet headers",
    .meaning = "Headers of InfiniBand packets, in the order in which they follow one another: "
               "local route, global route, base transport, extended transport.",
    .layouts = packet_headers_layouts,
    .enumerations = packet_headers_enumerations,
    .source = "InfiniBand Architecture Specification volume 1, release 1.5, chapters 7 to 9 and "
              "annex A14 (XRC)"};

} // namespace hwtab
