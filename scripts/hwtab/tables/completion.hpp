// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Completion queue entries (CQEs), by which the device reports completed work.
#pragma once

#include "hwtab/model.hpp"
#include "tables/packet_headers.hpp"
#include "tables/work_queue.hpp"

#include <array>

namespace hwtab {

inline constexpr std::array cqe_opcode_values{
    Value{"req", 0, "A send queue entry is done."},
    Value{"resp_wr_imm", 1, "An RDMA write with immediate data arrived."},
    Value{"resp_send", 2, "A send arrived."},
    Value{"resp_send_imm", 3, "A send with immediate data arrived."},
    Value{"resp_send_inv", 4, "A send arrived that invalidated an R_Key."},
    Value{"resize_cq", 5, "Last entry in the old buffer of a queue that was resized."},
    Value{"no_packet", 6, "A tag-matching operation is done that took no packet."},
    Value{"sig_err", 12, "A signature was wrong."},
    Value{"req_err", 13, "A send queue entry failed."},
    Value{"resp_err", 14, "A receive queue entry failed."},
    Value{"invalid", 15, "The device has not written the entry yet."},
};
inline constexpr Enumeration cqe_opcode{.name = "cqe_opcode",
                                        .values = cqe_opcode_values,
                                        .meaning = "What a CQE reports; decides its layout.",
                                        .has_names = true};

inline constexpr std::array cqe_format_values{
    Value{"no_inline_data", 0, "The data is in memory."},
    Value{"inline_data32_seg", 1, "Up to 32 bytes of data are in the first half of the entry."},
    Value{"inline_data64_seg", 2, "Up to 64 bytes of data are in the half before the entry."},
    Value{"compressed", 3, "Mini CQEs follow."},
};
inline constexpr Enumeration cqe_format{"cqe_format", cqe_format_values,
                                        "Where the data of a completion is."};

inline constexpr std::array cqe_syndrome_values{
    Value{"local_length_err", 0x01, "The message is longer than the posted memory."},
    Value{"local_qp_op_err", 0x02, "The queue pair can't do the operation."},
    Value{"local_prot_err", 0x04, "A local key, its range or its rights don't fit."},
    Value{"wr_flush_err", 0x05, "The queue was in error before the entry started."},
    Value{"mw_bind_err", 0x06, "A memory window or key could not be changed."},
    Value{"bad_resp_err", 0x10, "The responder sent a response that doesn't fit."},
    Value{"local_access_err", 0x11, "Received data could not be written to local memory."},
    Value{"remote_inval_req_err", 0x12, "The responder refused the request as invalid."},
    Value{"remote_access_err", 0x13, "The responder refused the access."},
    Value{"remote_op_err", 0x14, "The responder failed while it carried out the request."},
    Value{"transport_retry_exc_err", 0x15, "No acknowledgement after all retries."},
    Value{"rnr_retry_exc_err", 0x16, "Receiver not ready after all retries."},
    Value{"remote_aborted_err", 0x22, "The responder aborted the operation."},
};
inline constexpr Enumeration cqe_syndrome{"cqe_syndrome", cqe_syndrome_values,
                                          "Why a work queue entry failed."};

inline constexpr std::array cqe_app_values{
    Value{"none", 0, "None."},
    Value{"tag_matching", 1, "Tag matching."},
};
inline constexpr Enumeration cqe_app{"cqe_app", cqe_app_values,
                                     "What a receive queue does beyond receiving."};

inline constexpr std::array cqe_app_op_values{
    Value{"none", 0x0, "None: the queue does not match tags."},
    Value{"tm_consumed", 0x1, "A tag was matched; the data comes later."},
    Value{"tm_expected", 0x2, "The data of a tag that was matched has come."},
    Value{"tm_unexpected", 0x3, "No tag fits; the message is in an entry of the queue."},
    Value{"tm_no_tag", 0x4, "The message has no tag; it is in an entry of the queue."},
    Value{"tm_append", 0x5, "A tag has been put into the list."},
    Value{"tm_remove", 0x6, "A tag has been removed from the list, or could not be."},
    Value{"tm_noop", 0x7, "Counters have been synchronised."},
    Value{"tm_consumed_sw_rndv", 0x9, "A tag was matched; software is to do the rendezvous."},
    Value{"tm_consumed_msg", 0xa, "A tag was matched and the data has come."},
    Value{"tm_consumed_msg_sw_rndv", 0xb,
          "A tag was matched; what software needs for the rendezvous is in its memory."},
    Value{"tm_msg_completion_canceled", 0xc, "The data of a tag that was matched will not come."},
};
inline constexpr Enumeration cqe_app_op{"cqe_app_op", cqe_app_op_values,
                                        "What tag matching reports."};

inline constexpr std::array cqe_grh_location_values{
    Value{"none", 0, "The packet had no GRH."},
    Value{"buffer", 1, "First 40 bytes of the received data."},
    Value{"cqe", 2, "First half of a CQE of 128 bytes."},
};
inline constexpr Enumeration cqe_grh_location{"cqe_grh_location", cqe_grh_location_values,
                                              "Where the GRH of a received packet is."};

inline constexpr std::array cqe_l4_hdr_type_values{
    Value{"none", 0, "Neither TCP nor UDP."},
    Value{"tcp_no_ack", 1, "TCP without acknowledgement."},
    Value{"udp", 2, "UDP."},
    Value{"tcp_ack_no_data", 3, "TCP with acknowledgement and without data."},
    Value{"tcp_ack_and_data", 4, "TCP with acknowledgement and data."},
};
inline constexpr Enumeration cqe_l4_hdr_type{"cqe_l4_hdr_type", cqe_l4_hdr_type_values,
                                             "Transport header in a received IPoIB packet."};

inline constexpr std::array cqe_sig_syndrome_values{
    Value{"reftag", 1U << 11, "The reference tag was wrong."},
    Value{"apptag", 1U << 12, "The application tag was wrong."},
    Value{"guard", 1U << 13, "The guard was wrong."},
};
inline constexpr Enumeration cqe_sig_syndrome{"cqe_sig_syndrome", cqe_sig_syndrome_values,
                                              "Which part of a signature was wrong.", true};

inline constexpr std::array cqe_sig_type_values{
    Value{"block", 0, "Signature of a block."},
    Value{"transaction", 1, "Signature of the whole transaction."},
};
inline constexpr Enumeration cqe_sig_type{"cqe_sig_type", cqe_sig_type_values,
                                          "Kind of the signature that was wrong."};

inline constexpr std::array cqe_sig_domain_values{
    Value{"wire", 0, "On the wire."},
    Value{"memory", 1, "In memory."},
};
inline constexpr Enumeration cqe_sig_domain{"cqe_sig_domain", cqe_sig_domain_values,
                                            "Where the signature was wrong."};

// Fields that every CQE has in its last 8 bytes.

inline constexpr Field cqe_wqe_opcode_field =
    bits("s_wqe_opcode", 0x38, 31, 24, "Opcode of the send queue entry.", &wqe_opcode);
inline constexpr Field cqe_qpn_field = bits("qpn", 0x38, 23, 0, "Queue pair of the entry.");
inline constexpr Field cqe_wqe_counter_field =
    bits("wqe_counter", 0x3c, 31, 16,
         "Index of the work queue entry: wqe_index of a send, slot of a receive.");
inline constexpr Field cqe_signature_field =
    bits("signature", 0x3c, 15, 8, "Complement of the XOR of all bytes, if the CQ has signatures.");
inline constexpr Field cqe_opcode_field =
    bits("opcode", 0x3c, 7, 4, "What the entry reports.", &cqe_opcode);
inline constexpr Field cqe_format_field =
    bits("format", 0x3c, 3, 2, "Where the data is.", &cqe_format);
inline constexpr Field cqe_se_field = flag("se", 0x3c, 1, "The sender asked for an event.");
inline constexpr Field cqe_owner_field =
    flag("owner", 0x3c, 0, "Turns over every time the device goes through the ring; starts at 0.");
inline constexpr Field cqe_srqn_field =
    bits("srqn", 0x20, 23, 0, "Shared receive queue of the entry.");
inline constexpr Field cqe_user_index_field =
    alias(bits("user_index", 0x20, 23, 0, "Index that the user gave the object, in version 1."));

inline constexpr std::array cqe64_fields{
    reserved(0x0, 31, 29),
    bits("tls_offload", 0x0, 28, 27, "State of TLS decryption, on Ethernet."),
    reserved(0x0, 26, 25),
    flag("outer_l3_tunneled", 0x0, 24, "The packet is tunneled, on Ethernet."),
    reserved(0x0, 23, 16),
    bits("wqe_id", 0x0, 15, 0, "Identifies the entry of a striding or DC receive queue."),
    reserved_bytes(0x4, 0x8),
    word32("rss_hash_result", 0xc, "Hash of the packet, for IPoIB and Ethernet."),
    bits("rss_hash_type", 0x10, 31, 24, "Which headers went into the hash."),
    bits("ml_path", 0x10, 23, 16, "Path bits of the LID at which the packet arrived."),
    alias(bits("dlid_path_bits", 0x10, 22, 16, "The path bits alone.")),
    reserved(0x10, 15, 0),
    bits("check_sum", 0x14, 31, 16, "Checksum of the packet, for IPoIB and Ethernet."),
    bits("slid", 0x14, 15, 0, "Source LID."),
    reserved(0x18, 31, 30),
    bits("grh", 0x18, 29, 28, "Where the GRH is.", &cqe_grh_location),
    bits("sl", 0x18, 27, 24, "Service level at which the packet arrived."),
    bits("rqpn", 0x18, 23, 0, "Queue pair that sent the packet."),
    reserved(0x1c, 31, 27),
    flag("l4_ok", 0x1c, 26, "The checksum of the transport header is right."),
    flag("l3_ok", 0x1c, 25, "The checksum of the IP header is right."),
    flag("l2_ok", 0x1c, 24, "The link layer header is right."),
    reserved(0x1c, 23, 23),
    bits("l4_hdr_type", 0x1c, 22, 20, "Transport header of the packet.", &cqe_l4_hdr_type),
    bits("l3_hdr_type", 0x1c, 19, 18, "IP header of the packet: 0 none, 1 IPv6, 2 IPv4."),
    reserved(0x1c, 17, 17),
    flag("cv", 0x1c, 16, "The packet had a VLAN header, on Ethernet."),
    bits("vlan_info", 0x1c, 15, 0, "VLAN header, on Ethernet."),
    bits("lro_num_seg", 0x20, 31, 24, "Packets that were merged, on Ethernet."),
    cqe_srqn_field,
    cqe_user_index_field,
    word32("immediate", 0x24, "Immediate data."),
    alias(word32("inval_rkey", 0x24, "R_Key that was invalidated.")),
    alias(bits("pkey", 0x24, 15, 0, "P_Key of the packet, on queue pair 1.")),
    bits("app", 0x28, 31, 24, "Application that the entry is for.", &cqe_app),
    bits("app_op", 0x28, 23, 16, "What the application reports.", &cqe_app_op),
    bits("app_info", 0x28, 15, 0, "Entry of the list of tags, with tag matching."),
    word32("byte_cnt", 0x2c, "Bytes received, or bytes read by an RDMA read or atomic."),
    word32("timestamp_h", 0x30, "Time of the completion in ticks of the device, bits 63 to 32."),
    alias(word64("timestamp", 0x30, "Time of the completion in ticks of the device.")),
    word32("timestamp_l", 0x34, "Time of the completion in ticks of the device, bits 31 to 0."),
    cqe_wqe_opcode_field,
    cqe_qpn_field,
    cqe_wqe_counter_field,
    cqe_signature_field,
    alias(bits("validity_iteration_count", 0x3c, 15, 8,
               "Counts the passes through the ring, with enhanced compression.")),
    cqe_opcode_field,
    cqe_format_field,
    cqe_se_field,
    cqe_owner_field,
};
inline constexpr Layout cqe64{"cqe64", Kind::completion, 0x40, cqe64_fields,
                              "Entry of an operation that succeeded."};

inline constexpr std::array tm_cqe_fields{
    flag("success", 0x0, 31, "The operation has been carried out."),
    reserved(0x0, 30, 0),
    bits("hw_phase_cnt", 0x4, 31, 16, "Unexpected messages that have arrived."),
    reserved(0x4, 15, 0),
    reserved_bytes(0x8, 0x18),
    reserved(0x20, 31, 24),
    cqe_srqn_field,
    cqe_user_index_field,
    reserved_bytes(0x24, 0x4),
    bits("app", 0x28, 31, 24, "Application that the entry is for.", &cqe_app),
    bits("app_op", 0x28, 23, 16, "What the application reports.", &cqe_app_op),
    bits("app_info", 0x28, 15, 0, "Entry of the list of tags."),
    reserved_bytes(0x2c, 0x4),
    word64("timestamp", 0x30, "Time of the completion in ticks of the device."),
    reserved(0x38, 31, 24),
    cqe_qpn_field,
    cqe_wqe_counter_field,
    cqe_signature_field,
    cqe_opcode_field,
    cqe_format_field,
    cqe_se_field,
    cqe_owner_field,
};
inline constexpr Layout tm_cqe{"tm_cqe", Kind::completion, 0x40, tm_cqe_fields,
                               "Entry of an operation on a list of tags."};

inline constexpr std::array err_cqe_fields{
    reserved_bytes(0x0, 0x20),
    reserved(0x20, 31, 24),
    cqe_srqn_field,
    cqe_user_index_field,
    reserved_bytes(0x24, 0x10),
    reserved(0x34, 31, 16),
    bits("vendor_err_synd", 0x34, 15, 8, "Firmware code that narrows down the failure."),
    bits("syndrome", 0x34, 7, 0, "Why the operation failed.", &cqe_syndrome),
    cqe_wqe_opcode_field,
    cqe_qpn_field,
    cqe_wqe_counter_field,
    cqe_signature_field,
    cqe_opcode_field,
    cqe_format_field,
    cqe_se_field,
    cqe_owner_field,
};
inline constexpr Layout err_cqe{"err_cqe", Kind::completion, 0x40, err_cqe_fields,
                                "Entry of an operation that failed."};

inline constexpr std::array sig_err_cqe_fields{
    reserved_bytes(0x0, 0x10),
    word32("expected_trans_sig", 0x10,
           "Expected signature; T10-DIF: guard in bits 31 to 16, application tag below."),
    word32("actual_trans_sig", 0x14,
           "Signature found; T10-DIF: guard in bits 31 to 16, application tag below."),
    word32("expected_reftag", 0x18, "Expected reference tag, or lower half of a CRC-64."),
    word32("actual_reftag", 0x1c, "Reference tag found, or lower half of a CRC-64."),
    bits("syndrome", 0x20, 31, 16, "Which part was wrong.", &cqe_sig_syndrome),
    reserved(0x20, 15, 11),
    bits("sig_type", 0x20, 10, 8, "Kind of signature.", &cqe_sig_type),
    reserved(0x20, 7, 3),
    bits("domain", 0x20, 2, 0, "Where the signature was wrong.", &cqe_sig_domain),
    word32("mkey", 0x24, "Memory key that has the signature."),
    word64("err_offset", 0x28, "Where in the data the error is, in bytes."),
    reserved_bytes(0x30, 0x8),
    reserved(0x38, 31, 24),
    cqe_qpn_field,
    reserved(0x3c, 31, 16),
    cqe_signature_field,
    cqe_opcode_field,
    cqe_format_field,
    cqe_se_field,
    cqe_owner_field,
};
inline constexpr Layout sig_err_cqe{"sig_err_cqe", Kind::completion, 0x40, sig_err_cqe_fields,
                                    "Entry that reports a wrong signature; ends no operation."};

inline constexpr std::array resize_cqe_fields{
    reserved_bytes(0x0, 0x3c), reserved(0x3c, 31, 16), cqe_signature_field, cqe_opcode_field,
    cqe_format_field,          cqe_se_field,           cqe_owner_field,
};
inline constexpr Layout resize_cqe{"resize_cqe", Kind::completion, 0x40, resize_cqe_fields,
                                   "Last entry in the old buffer of a queue that was resized."};

inline constexpr std::array mini_cqe8_fields{
    word32("rx_hash_result", 0x0, "Hash of a received packet."),
    alias(bits("checksum", 0x0, 31, 16, "Checksum of a received packet.")),
    alias(bits("stridx", 0x0, 15, 0, "Stride of a received packet.")),
    alias(bits("wqe_counter", 0x0, 31, 16, "wqe_index of a send queue entry.")),
    alias(bits("s_wqe_opcode", 0x0, 15, 8, "Opcode of a send queue entry.", &wqe_opcode)),
    word32("byte_cnt", 0x4, "Bytes received, or bytes read."),
};
inline constexpr Layout mini_cqe8{"mini_cqe8", Kind::completion, 0x8, mini_cqe8_fields,
                                  "What a compressed entry says beyond its title entry."};

inline constexpr std::array mini_cqe_array_fields{
    nested("mini_cqes", 0x0, mini_cqe8, "Compressed entries, in order.", 8),
};
inline constexpr Layout mini_cqe_array{"mini_cqe_array", Kind::completion, 0x40,
                                       mini_cqe_array_fields,
                                       "Slot with up to 8 compressed entries."};

inline constexpr std::array cqe_inline_data_fields{
    bytes("data", 0x0, 64, "Received data, or data that was read."),
};
inline constexpr Layout cqe_inline_data{"cqe_inline_data", Kind::completion, 0x40,
                                        cqe_inline_data_fields,
                                        "Data in the first half of an entry of 128 bytes."};

inline constexpr std::array<const Layout*, 2> cqe128_first_half{&grh, &cqe_inline_data};
inline constexpr std::array<const Layout*, 5> cqe128_second_half{&cqe64, &tm_cqe, &err_cqe,
                                                                 &sig_err_cqe, &resize_cqe};

inline constexpr std::array cqe128_fields{
    choice("inl_grh", 0x0, 0x40, cqe128_first_half, "GRH or data of the message."),
    choice("cqe", 0x40, 0x40, cqe128_second_half, "The entry proper."),
};
inline constexpr Layout cqe128{"cqe128", Kind::completion, 0x80, cqe128_fields,
                               "Entry of 128 bytes."};

inline constexpr std::array completion_layouts{&cqe64,          &tm_cqe,          &err_cqe,
                                               &sig_err_cqe,    &resize_cqe,      &mini_cqe8,
                                               &mini_cqe_array, &cqe_inline_data, &cqe128};
inline constexpr std::array completion_enumerations{
    &cqe_opcode,       &cqe_format,   &cqe_syndrome,   &cqe_grh_location, &cqe_l4_hdr_type,
    &cqe_sig_syndrome, &cqe_sig_type, &cqe_sig_domain, &cqe_app,          &cqe_app_op};
inline constexpr Group completion_group{
    .name = "completion",
    .title = "Completion queue entries",
    .meaning = "What the device writes into a completion queue. The opcode in the last byte says "
               "which of the layouts an entry has.",
    .layouts = completion_layouts,
    .enumerations = completion_enumerations,
    .source = "public drivers for Linux (mlx5) and rdma-core, and the layouts of the same group "
              "that the entries are made of",
};

} // namespace hwtab
