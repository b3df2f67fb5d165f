// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Structures that software writes on the data path: segments of work queue entries (WQEs),
/// translation entries, signature descriptors, doorbell records and doorbells.
#pragma once

#include "hwtab/model.hpp"
#include "tables/contexts.hpp"

#include <array>

namespace hwtab {

// Values of the control segment.

inline constexpr std::array wqe_opcode_values{
    Value{"nop", 0x00, "Does nothing but complete."},
    Value{"send_inval", 0x01, "Send; the receiver invalidates an R_Key."},
    Value{"rdma_write", 0x08, "RDMA write."},
    Value{"rdma_write_imm", 0x09, "RDMA write with immediate data."},
    Value{"send", 0x0a, "Send."},
    Value{"send_imm", 0x0b, "Send with immediate data."},
    Value{"lso", 0x0e, "Send that the device cuts into packets (large send offload)."},
    Value{"rdma_read", 0x10, "RDMA read."},
    Value{"atomic_cs", 0x11, "Compare and swap of 8 bytes."},
    Value{"atomic_fa", 0x12, "Fetch and add of 8 bytes."},
    Value{"atomic_masked_cs", 0x14, "Compare and swap under masks."},
    Value{"atomic_masked_fa", 0x15, "Fetch and add of fields that a mask divides."},
    Value{"bind_mw", 0x18, "Reserved for binding a memory window; UMR is used instead."},
    Value{"local_inval", 0x1b, "Reserved for invalidating a key; UMR is used instead."},
    Value{"config_cmd", 0x1f, "Configuration command."},
    Value{"set_psv", 0x20, "Sets the state of a signature."},
    Value{"get_psv", 0x21, "Reads the state of signatures."},
    Value{"check_psv", 0x22, "Checks the state of signatures."},
    Value{"dump", 0x23, "Reads local data and sends nothing."},
    Value{"umr", 0x25, "Changes a memory key (user-mode memory registration)."},
    Value{"rget_psv", 0x26, "Reads the state of signatures at the responder."},
    Value{"rcheck_psv", 0x27, "Checks the state of signatures at the responder."},
    Value{"tag_matching", 0x28, "Changes the list of a tag-matching receive queue."},
    Value{"enhanced_mpsw", 0x29, "Several Ethernet packets in one entry."},
    Value{"flow_tbl_access", 0x2c, "Changes a flow table."},
    Value{"access_aso", 0x2d, "Accesses an advanced steering object."},
    Value{"mmo", 0x2f, "Memory-to-memory operation."},
};
inline constexpr Enumeration wqe_opcode{"wqe_opcode", wqe_opcode_values,
                                        "Operation of a send queue entry."};

inline constexpr std::array masked_atomic_opmod_values{
    Value{"bytes_4", 0x8, "Operands of 4 bytes."},
    Value{"bytes_8", 0x9, "Operands of 8 bytes."},
    Value{"bytes_16", 0xa, "Operands of 16 bytes."},
    Value{"bytes_32", 0xb, "Operands of 32 bytes."},
};
inline constexpr Enumeration masked_atomic_opmod{
    "masked_atomic_opmod", masked_atomic_opmod_values,
    "opmod of a masked atomic: 8, plus log2 of the operand size in units of 4 bytes."};

inline constexpr std::array fence_mode_values{
    Value{"none", 0, "Starts as soon as the device gets to it."},
    Value{"initiator_small", 1, "Waits for earlier local operations (UMR, SET_PSV)."},
    Value{"fence", 2, "Waits for earlier RDMA reads and atomics."},
    Value{"strong_ordering", 3, "Waits for everything that was posted earlier."},
    Value{"small_and_fence", 4, "Waits for earlier local operations, RDMA reads and atomics."},
};
inline constexpr Enumeration fence_mode{"fence_mode", fence_mode_values,
                                        "For what an entry waits before it starts."};

inline constexpr std::array completion_mode_values{
    Value{"only_error", 0, "A CQE only if the operation fails."},
    Value{"only_first_error", 1, "A CQE only for the first failure of the queue."},
    Value{"cq_update", 2, "Always a CQE."},
    Value{"cq_update_and_eqe", 3, "Always a CQE, and an EQE even if the CQ isn't armed."},
};
inline constexpr Enumeration completion_mode{"completion_mode", completion_mode_values,
                                             "What an entry reports when it is done."};

// Values of tag matching.

inline constexpr std::array tag_operation_values{
    Value{"nop", 0x0, "The list stays as it is; counters may be synchronised."},
    Value{"append", 0x1, "A tag goes to the end of the list, with the memory behind it."},
    Value{"remove", 0x2, "A tag leaves the list, unless it has been matched."},
};
inline constexpr Enumeration tag_operation{"tag_operation", tag_operation_values,
                                           "What becomes of the list of tags."};

inline constexpr std::array tag_header_opcode_values{
    Value{"no_tag", 0x0, "The message takes no part in tag matching."},
    Value{"rndv", 0x1, "Rendezvous: the receiver is to read the data from the sender's memory."},
    Value{"fin", 0x2, "The data of a rendezvous has been read."},
    Value{"eager", 0x3, "The data follows."},
};
inline constexpr Enumeration tag_header_opcode{"tag_header_opcode", tag_header_opcode_values,
                                               "What a message with a tag matching header is."};

// Values of memory keys and data pointers.

inline constexpr std::array special_lkey_values{
    Value{"terminate_scatter_list", 0x100, "Ends a list of data pointers; no memory."},
};
inline constexpr Enumeration special_lkey{
    "special_lkey", special_lkey_values,
    "Keys with a fixed meaning; QUERY_SPECIAL_CONTEXTS may report others."};

inline constexpr std::array umr_flags_values{
    Value{"check_qpn", 0x08, "Fail unless the QPN of the key is that of the queue pair."},
    Value{"translation_offset_en", 0x10, "xlt_offset says where in the translation to start."},
    Value{"check_not_free", 0x20, "Fail unless the key is free."},
    Value{"check_free", 0x40, "Fail if the key is free."},
    Value{"inline", 0x80, "The translation entries are in the WQE itself."},
};
inline constexpr Enumeration umr_flags{"umr_flags", umr_flags_values,
                                       "How a UMR finds the translation and what it checks first.",
                                       true};

inline constexpr std::array mkey_mask_values{
    Value{"len", 1ULL << 0, "Field len."},
    Value{"page_size", 1ULL << 1, "Field log_page_size, bits 4 to 0."},
    Value{"start_addr", 1ULL << 6, "Field start_addr."},
    Value{"pd", 1ULL << 7, "Field pd."},
    Value{"en_rinval", 1ULL << 8, "Field en_rinval."},
    Value{"en_sigerr", 1ULL << 9, "Field expected_sigerr_count."},
    Value{"bsf_en", 1ULL << 12, "Field bsf_en."},
    Value{"key", 1ULL << 13, "Field mkey_7_0."},
    Value{"qpn", 1ULL << 14, "Field qpn."},
    Value{"lr", 1ULL << 17, "Field lr, local read."},
    Value{"lw", 1ULL << 18, "Field lw, local write."},
    Value{"rr", 1ULL << 19, "Field rr, remote read."},
    Value{"rw", 1ULL << 20, "Field rw, remote write."},
    Value{"a", 1ULL << 21, "Field a, remote atomics."},
    Value{"small_fence", 1ULL << 23, "Field small_fence_on_rdma_read_response."},
    Value{"relaxed_ordering_write", 1ULL << 25, "Field relaxed_ordering_write."},
    Value{"free", 1ULL << 29, "Field free."},
    Value{"page_size_5", 1ULL << 42, "Field log_page_size, bit 5."},
    Value{"relaxed_ordering_read", 1ULL << 47, "Field relaxed_ordering_read."},
};
inline constexpr Enumeration mkey_mask{"mkey_mask", mkey_mask_values,
                                       "Fields of a memory key that a UMR changes.", true};

inline constexpr std::array stride_block_op_values{
    Value{"repeat", 0x400, "The list of entries repeats."},
};
inline constexpr Enumeration stride_block_op{"stride_block_op", stride_block_op_values,
                                             "Marks a strided block in a list of KLMs."};

// Values of signature descriptors.

inline constexpr std::array bsf_size_values{
    Value{"basic", 0, "The basic part only, 16 bytes."},
    Value{"extended", 1, "The basic and the extended part, 32 bytes."},
    Value{"with_inline", 2, "All parts, 64 bytes."},
    Value{"sig_and_crypto", 3, "All parts, and a descriptor for encryption behind them."},
};
inline constexpr Enumeration bsf_size{"bsf_size", bsf_size_values,
                                      "Which parts a byte stream format has."};

inline constexpr std::array bsf_block_size_values{
    Value{"block_512", 1, "512 bytes."},    Value{"block_520", 2, "520 bytes."},
    Value{"block_4096", 3, "4096 bytes."},  Value{"block_4160", 4, "4160 bytes."},
    Value{"block_1_gib", 5, "2^30 bytes."}, Value{"block_4048", 6, "4048 bytes."},
};
inline constexpr Enumeration bsf_block_size{"bsf_block_size", bsf_block_size_values,
                                            "Data between two signatures."};

inline constexpr std::array bsf_block_format_values{
    Value{"t10_dif", 0x00, "T10-DIF, or none: the inline part describes it."},
    Value{"crc32", 0x20, "CRC-32."},
    Value{"crc32_seed_zero", 0x21, "CRC-32 that starts with 0."},
    Value{"crc32_repeat", 0x22, "CRC-32 of every block."},
    Value{"crc32_repeat_seed_zero", 0x23, "CRC-32 of every block that starts with 0."},
    Value{"crc32c", 0x40, "CRC-32C."},
    Value{"crc32c_seed_zero", 0x41, "CRC-32C that starts with 0."},
    Value{"crc32c_repeat", 0x42, "CRC-32C of every block."},
    Value{"crc32c_repeat_seed_zero", 0x43, "CRC-32C of every block that starts with 0."},
    Value{"crc64_xp10", 0x50, "CRC-64 XP10."},
    Value{"crc64_xp10_seed_zero", 0x51, "CRC-64 XP10 that starts with 0."},
    Value{"crc64_xp10_repeat", 0x52, "CRC-64 XP10 of every block."},
    Value{"crc64_xp10_repeat_seed_zero", 0x53, "CRC-64 XP10 of every block that starts with 0."},
};
inline constexpr Enumeration bsf_block_format{
    "bsf_block_format", bsf_block_format_values,
    "Kind of signature of a domain: kind in bits 7 to 4, 2 for every block, 1 for a zero seed."};

inline constexpr std::array bsf_dif_bytes_values{
    Value{"ref", 0x0f, "Reference tag."},
    Value{"app", 0x30, "Application tag."},
    Value{"guard", 0xc0, "Guard."},
};
inline constexpr Enumeration bsf_dif_bytes{
    "bsf_dif_bytes", bsf_dif_bytes_values,
    "Which of the 8 bytes of protection information, for T10-DIF; CRC-32 has 0xf0, CRC-64 0xff.",
    true};

inline constexpr std::array bsf_sig_type_values{
    Value{"dif_crc", 0x1, "CRC-16 of T10-DIF."},
    Value{"dif_ipcs", 0x2, "Checksum of the Internet protocol."},
};
inline constexpr Enumeration bsf_sig_type{"bsf_sig_type", bsf_sig_type_values,
                                          "How the guard is computed."};

inline constexpr std::array bsf_escape_values{
    Value{"none", 0x0, "Every block is checked."},
    Value{"apptag", 0x1, "A block whose application tag is 0xffff isn't checked."},
    Value{"appref", 0x2, "A block whose application and reference tag are all ones isn't checked."},
};
inline constexpr Enumeration bsf_escape{"bsf_escape", bsf_escape_values,
                                        "Which blocks aren't checked."};

// Values of doorbells.

inline constexpr std::array cq_arm_command_values{
    Value{"req_not", 0, "An event for the next CQE."},
    Value{"req_not_sol", 1, "An event for the next solicited CQE or the next error."},
};
inline constexpr Enumeration cq_arm_command{"cq_arm_command", cq_arm_command_values,
                                            "Which CQE raises the event of an armed CQ."};

inline constexpr std::array uar_offset_values{
    Value{"cq_doorbell", 0x20, "CQ doorbell, 8 bytes."},
    Value{"eq_doorbell_arm", 0x40, "EQ doorbell that also arms the EQ, 4 bytes."},
    Value{"eq_doorbell", 0x48, "EQ doorbell that doesn't arm the EQ, 4 bytes."},
    Value{"blue_flame", 0x800, "First of the BlueFlame registers, which take send doorbells."},
};
inline constexpr Enumeration uar_offset{"uar_offset", uar_offset_values,
                                        "Where in a UAR page the doorbells are, in bytes."};

// Segments of send queue entries.

inline constexpr Field wqe_opmod_field = bits("opmod", 0x0, 31, 24, "Variant of the operation.");
inline constexpr Field wqe_index_field =
    bits("wqe_index", 0x0, 23, 8, "Number of the entry, counted in units of 64 bytes.");
inline constexpr Field wqe_opcode_field = bits("opcode", 0x0, 7, 0, "Operation.", &wqe_opcode);
inline constexpr Field wqe_qpn_field = bits("qpn", 0x4, 31, 8, "Number of the queue pair.");
inline constexpr Field wqe_ds_field =
    bits("ds", 0x4, 5, 0, "Length of the entry with this segment, in units of 16 bytes.");

inline constexpr std::array wqe_ctrl_seg_fields{
    wqe_opmod_field,
    wqe_index_field,
    wqe_opcode_field,
    wqe_qpn_field,
    reserved(0x4, 7, 6),
    wqe_ds_field,
    bits("signature", 0x8, 31, 24,
         "Complement of the XOR of all bytes of the entry, if the queue pair has signatures."),
    reserved(0x8, 23, 8),
    bits("fm", 0x8, 7, 5, "For what the entry waits before it starts.", &fence_mode),
    reserved(0x8, 4, 4),
    bits("ce", 0x8, 3, 2, "What the entry reports when it is done.", &completion_mode),
    flag("se", 0x8, 1, "The receiver shall raise a solicited event."),
    reserved(0x8, 0, 0),
    word32("imm", 0xc, "Immediate data, or the R_Key that the receiver invalidates."),
    alias(word32("general_id", 0xc, "Object that the operation concerns.")),
    alias(word32("umr_mkey", 0xc, "Memory key that a UMR changes.")),
    alias(word32("tis_tir_num", 0xc, "Number of the TIS or TIR that the operation concerns.")),
};
inline constexpr Layout wqe_ctrl_seg{"wqe_ctrl_seg", Kind::work_queue, 0x10, wqe_ctrl_seg_fields,
                                     "Control segment: first of every send queue entry."};

inline constexpr std::array wqe_raddr_seg_fields{
    word64("raddr", 0x0, "Address in the responder's region."),
    word32("rkey", 0x8, "Remote key of the responder's region."),
    reserved_bytes(0xc, 0x4),
};
inline constexpr Layout wqe_raddr_seg{"wqe_raddr_seg", Kind::work_queue, 0x10, wqe_raddr_seg_fields,
                                      "Remote address segment of RDMA and atomic operations."};

inline constexpr std::array wqe_atomic_seg_fields{
    word64("swap_add", 0x0, "Value to store or to add."),
    alias(word64("swap", 0x0, "Value to store if the comparison holds.")),
    alias(word64("add", 0x0, "Value to add.")),
    word64("compare", 0x8, "Value to compare with; 0 for fetch and add."),
};
inline constexpr Layout wqe_atomic_seg{"wqe_atomic_seg", Kind::work_queue, 0x10,
                                       wqe_atomic_seg_fields, "Operands of an atomic operation."};

inline constexpr std::array wqe_masked_atomic_seg_fields{
    word64("swap_add", 0x0, "Value to store."),
    word64("compare", 0x8, "Value to compare with."),
    word64("swap_add_mask", 0x10, "Bits that are stored."),
    word64("compare_mask", 0x18, "Bits that are compared."),
};
inline constexpr Layout wqe_masked_atomic_seg{"wqe_masked_atomic_seg", Kind::work_queue, 0x20,
                                              wqe_masked_atomic_seg_fields,
                                              "Operands of a masked compare and swap of 8 bytes."};

inline constexpr std::array wqe_masked_fetch_add_seg_fields{
    word64("add", 0x0, "Value to add."),
    word64("field_boundary", 0x8, "Highest bit of each field: no carry goes beyond it."),
};
inline constexpr Layout wqe_masked_fetch_add_seg{"wqe_masked_fetch_add_seg", Kind::work_queue, 0x10,
                                                 wqe_masked_fetch_add_seg_fields,
                                                 "Operands of a masked fetch and add of 8 bytes."};

inline constexpr std::array wqe_data_seg_fields{
    flag("inline_seg", 0x0, 31, "The segment is an inline segment instead."),
    bits("byte_count", 0x0, 30, 0, "Length in bytes; 0 means 2^31."),
    word32("lkey", 0x4, "Local key of the region.", &special_lkey),
    word64("addr", 0x8, "Address in the region."),
};
inline constexpr Layout wqe_data_seg{"wqe_data_seg", Kind::work_queue, 0x10, wqe_data_seg_fields,
                                     "Data pointer: one piece of local memory."};

inline constexpr std::array wqe_inline_seg_fields{
    flag("inline_seg", 0x0, 31, "1: the segment holds data instead of a pointer."),
    reserved(0x0, 30, 10),
    bits("byte_count", 0x0, 9, 0, "Length of the data in bytes."),
    list("data", 0x4, 8, "Data, padded to 16 bytes with this header."),
};
inline constexpr Layout wqe_inline_seg{"wqe_inline_seg", Kind::work_queue, 0x4,
                                       wqe_inline_seg_fields, "Inline segment: data in the entry."};

inline constexpr std::array wqe_xrc_seg_fields{
    reserved(0x0, 31, 24),
    bits("xrc_srqn", 0x0, 23, 0, "Shared receive queue at the responder."),
    reserved_bytes(0x4, 0xc),
};
inline constexpr Layout wqe_xrc_seg{"wqe_xrc_seg", Kind::work_queue, 0x10, wqe_xrc_seg_fields,
                                    "XRC segment: follows the control segment of an XRC send."};

inline constexpr Field av_qkey_field = word32("qkey", 0x0, "Queue key that goes into the packet.");
inline constexpr Field av_dc_key_low_field =
    word32("dc_key_31_0", 0x4, "Lower half of the access key for a DC target; else 0.");
inline constexpr Field av_dc_key_field =
    alias(word64("dc_key", 0x0, "Access key, if the destination is a DC target."));
inline constexpr Field av_extended_field =
    flag("extended", 0x8, 31, "The address vector has all 48 bytes.");
inline constexpr Field av_dqp_dct_field =
    bits("dqp_dct", 0x8, 23, 0, "Destination queue pair or DC target.");
inline constexpr Field av_stat_rate_field =
    bits("stat_rate", 0xc, 31, 28, "Static rate: 0 is none, else the code of InfiniBand plus 5.");
inline constexpr Field av_sl_field = bits("sl", 0xc, 27, 24, "Service level.");
inline constexpr Field av_fl_field = flag("fl", 0xc, 23, "Loopback is forced.");
inline constexpr Field av_mlid_field =
    bits("mlid", 0xc, 22, 16, "Path bits that are added to the LID of the port.");
inline constexpr Field av_rlid_field = bits("rlid", 0xc, 15, 0, "Destination LID.");
inline constexpr Field av_udp_sport_field =
    alias(bits("udp_sport", 0xc, 15, 0, "UDP source port, on Ethernet."));

inline constexpr std::array base_av_fields{
    av_qkey_field,         av_dc_key_low_field, av_dc_key_field,    av_extended_field,
    reserved(0x8, 30, 24), av_dqp_dct_field,    av_stat_rate_field, av_sl_field,
    av_fl_field,           av_mlid_field,       av_rlid_field,      av_udp_sport_field,
};
inline constexpr Layout base_av{"base_av", Kind::work_queue, 0x10, base_av_fields,
                                "Short address vector, for destinations without a GRH."};

inline constexpr std::array av_fields{
    av_qkey_field,
    av_dc_key_low_field,
    av_dc_key_field,
    av_extended_field,
    reserved(0x8, 30, 24),
    av_dqp_dct_field,
    av_stat_rate_field,
    av_sl_field,
    av_fl_field,
    av_mlid_field,
    av_rlid_field,
    av_udp_sport_field,
    reserved_bytes(0x10, 0x4),
    bytes("rmac", 0x14, 6, "MAC address of the destination, on Ethernet."),
    bits("tclass", 0x18, 15, 8, "Traffic class of the GRH."),
    bits("hop_limit", 0x18, 7, 0, "Hop limit of the GRH."),
    reserved(0x1c, 31, 31),
    flag("grh", 0x1c, 30, "The packet gets a GRH."),
    reserved(0x1c, 29, 28),
    bits("src_addr_index", 0x1c, 27, 20, "Index of the source GID in the port's table."),
    bits("flow_label", 0x1c, 19, 0, "Flow label of the GRH."),
    bytes("rgid", 0x20, 16, "GID of the destination."),
};
inline constexpr Layout av{"av", Kind::work_queue, 0x30, av_fields,
                           "Full address vector of a datagram."};

inline constexpr std::array wqe_datagram_seg_fields{
    nested("av", 0x0, av, "Where the datagram goes."),
};
inline constexpr Layout wqe_datagram_seg{"wqe_datagram_seg", Kind::work_queue, 0x30,
                                         wqe_datagram_seg_fields,
                                         "Datagram segment: follows the control segment of a UD "
                                         "send."};

inline constexpr std::array wqe_eth_seg_fields{
    bits("swp_outer_l4_offset", 0x0, 31, 24, "Start of the outer transport header, in 2 bytes."),
    bits("swp_outer_l3_offset", 0x0, 23, 16, "Start of the outer IP header, in 2 bytes."),
    bits("swp_inner_l4_offset", 0x0, 15, 8, "Start of the inner transport header, in 2 bytes."),
    bits("swp_inner_l3_offset", 0x0, 7, 0, "Start of the inner IP header, in 2 bytes."),
    flag("l4_csum", 0x4, 31, "Compute the checksum of the transport header."),
    flag("l3_csum", 0x4, 30, "Compute the checksum of the IP header."),
    flag("l4_inner_csum", 0x4, 29, "Compute the checksum of the inner transport header."),
    flag("l3_inner_csum", 0x4, 28, "Compute the checksum of the inner IP header."),
    reserved(0x4, 27, 24),
    bits("swp_flags", 0x4, 23, 16, "Which kinds of headers the offsets point to."),
    bits("mss", 0x4, 15, 0, "Largest payload of a packet in bytes, for large send offload."),
    word32("flow_table_metadata", 0x8, "Value that flow tables can match."),
    bits("inline_hdr_sz", 0xc, 31, 16, "Length of the headers that are in the entry, in bytes."),
    bits("inline_hdr_start", 0xc, 15, 0, "First 2 bytes of the headers."),
};
inline constexpr Layout wqe_eth_seg{"wqe_eth_seg", Kind::work_queue, 0x10, wqe_eth_seg_fields,
                                    "Offload segment of IPoIB sends: checksums and large sends."};

// UMR.

inline constexpr std::array wqe_umr_ctrl_seg_fields{
    bits("flags", 0x0, 31, 24, "Where the translation is and what is checked.", &umr_flags),
    reserved(0x0, 23, 0),
    bits("xlt_octowords", 0x4, 31, 16, "Length of the translation in units of 16 bytes."),
    bits("xlt_offset", 0x4, 15, 0,
         "First translation entry to change, in units of 16 bytes, bits 15 to 0."),
    alias(bits("bsf_octowords", 0x4, 15, 0, "Length of the BSF in units of 16 bytes.")),
    word64("mkey_mask", 0x8, "Fields of the memory key that change.", &mkey_mask),
    word32("xlt_offset_47_16", 0x10,
           "First translation entry to change, in units of 16 bytes, bits 47 to 16."),
    reserved_bytes(0x14, 0x1c),
};
inline constexpr Layout wqe_umr_ctrl_seg{"wqe_umr_ctrl_seg", Kind::work_queue, 0x30,
                                         wqe_umr_ctrl_seg_fields,
                                         "UMR control segment: follows the control segment."};

inline constexpr Layout mkey_seg{"mkey_seg", Kind::work_queue, 0x40, mkc_fields,
                                 "Memory key segment of a UMR; has the layout of the context."};

inline constexpr std::array klm_fields{
    word32("bcount", 0x0, "Length in bytes; at most 2^31."),
    word32("key", 0x4, "Memory key of the piece."),
    word64("va", 0x8, "Address of the piece in that key."),
};
inline constexpr Layout klm{"klm", Kind::work_queue, 0x10, klm_fields,
                            "Translation entry: a piece of any length of another key."};

inline constexpr std::array ksm_fields{
    reserved_bytes(0x0, 0x4),
    word32("key", 0x4, "Memory key of the piece."),
    word64("va", 0x8, "Address of the piece in that key."),
};
inline constexpr Layout ksm{"ksm", Kind::work_queue, 0x10, ksm_fields,
                            "Translation entry: a piece of fixed length of another key."};

inline constexpr std::array stride_block_ctrl_seg_fields{
    word32("bcount_per_cycle", 0x0, "Sum of the lengths of all entries in bytes."),
    word32("op", 0x4, "Marks the strided block.", &stride_block_op),
    word32("repeat_count", 0x8, "How often the list of entries is gone through."),
    reserved(0xc, 31, 16),
    bits("num_entries", 0xc, 15, 0, "Entries that follow."),
};
inline constexpr Layout stride_block_ctrl_seg{
    "stride_block_ctrl_seg", Kind::work_queue, 0x10, stride_block_ctrl_seg_fields,
    "Header of a strided block, which interleaves pieces of several keys."};

inline constexpr std::array stride_block_entry_fields{
    bits("stride", 0x0, 31, 16, "Distance between two pieces in bytes."),
    bits("bcount", 0x0, 15, 0, "Length of a piece in bytes."),
    word32("key", 0x4, "Memory key of the pieces."),
    word64("va", 0x8, "Address of the first piece in that key."),
};
inline constexpr Layout stride_block_entry{"stride_block_entry", Kind::work_queue, 0x10,
                                           stride_block_entry_fields,
                                           "Entry of a strided block: pieces at equal distances."};

// Signatures.

inline constexpr std::array bsf_basic_fields{
    bits("bsf_size", 0x0, 31, 30, "Parts that the format has.", &bsf_size),
    reserved(0x0, 29, 29),
    flag("sbs", 0x0, 28, "Both domains have the same block structure."),
    reserved(0x0, 27, 24),
    bits("check_byte_mask", 0x0, 23, 16, "Bytes of the protection information to check.",
         &bsf_dif_bytes),
    bits("wire_bs_selector", 0x0, 15, 8, "Block size on the wire; only without sbs.",
         &bsf_block_size),
    alias(bits("wire_copy_byte_mask", 0x0, 15, 8,
               "Bytes of the protection information to copy; only with sbs.", &bsf_dif_bytes)),
    bits("mem_bs_selector", 0x0, 7, 0, "Block size in memory.", &bsf_block_size),
    word32("raw_data_size", 0x4, "Length of the data without signatures, in bytes."),
    bits("w_bfs", 0x8, 31, 24, "Kind of signature on the wire.", &bsf_block_format),
    bits("w_psv", 0x8, 23, 0, "PSV that holds the state of the signature on the wire."),
    bits("m_bfs", 0xc, 31, 24, "Kind of signature in memory.", &bsf_block_format),
    bits("m_psv", 0xc, 23, 0, "PSV that holds the state of the signature in memory."),
};
inline constexpr Layout bsf_basic{"bsf_basic", Kind::work_queue, 0x10, bsf_basic_fields,
                                  "Basic part of a byte stream format."};

inline constexpr std::array bsf_ext_fields{
    word32("t_init_gen_pro_size", 0x0,
           "Start and prologue of a transaction signature; 0 without one."),
    word32("rsvd_epi_size", 0x4, "Length of the epilogue in bytes; 0 without one."),
    word32("w_tfs_psv", 0x8, "Kind and PSV of the transaction signature on the wire."),
    word32("m_tfs_psv", 0xc, "Kind and PSV of the transaction signature in memory."),
};
inline constexpr Layout bsf_ext{"bsf_ext", Kind::work_queue, 0x10, bsf_ext_fields,
                                "Extended part of a byte stream format: transaction signatures."};

inline constexpr std::array bsf_inl_fields{
    flag("valid", 0x0, 31, "The part is in use."),
    flag("refresh_dif", 0x0, 30, "The fields may be changed while the key is in use."),
    reserved(0x0, 29, 16),
    bits("dif_apptag", 0x0, 15, 0, "Expected application tag."),
    word32("dif_reftag", 0x4, "Expected reference tag of the first block."),
    bits("sig_type", 0x8, 31, 24, "How the guard is computed.", &bsf_sig_type),
    flag("repeat_block", 0x8, 23, "Every block has protection information."),
    reserved(0x8, 22, 20),
    flag("seed_ones", 0x8, 19, "The guard starts with all ones instead of 0."),
    reserved(0x8, 18, 0),
    reserved(0xc, 31, 23),
    flag("inc_reftag", 0xc, 22, "The reference tag grows by 1 with every block."),
    reserved(0xc, 21, 18),
    bits("escape", 0xc, 17, 16, "Blocks that aren't checked.", &bsf_escape),
    bits("dif_app_bitmask_check", 0xc, 15, 0, "Bits of the application tag to check."),
};
inline constexpr Layout bsf_inl{"bsf_inl", Kind::work_queue, 0x10, bsf_inl_fields,
                                "Inline part of a byte stream format: T10-DIF of one domain."};

inline constexpr std::array bsf_fields{
    nested("basic", 0x0, bsf_basic, "Block structure and state of both domains."),
    nested("ext", 0x10, bsf_ext, "Transaction signatures."),
    nested("w_inl", 0x20, bsf_inl, "T10-DIF on the wire."),
    nested("m_inl", 0x30, bsf_inl, "T10-DIF in memory."),
};
inline constexpr Layout bsf{"bsf", Kind::work_queue, 0x40, bsf_fields,
                            "Byte stream format: how the data of a key is signed and checked."};

inline constexpr std::array seg_set_psv_fields{
    reserved(0x0, 31, 24),
    bits("psv_num", 0x0, 23, 0, "PSV to set."),
    bits("syndrome", 0x4, 31, 16, "Error to record; 0 is none."),
    bits("status", 0x4, 15, 0, "State to record; 0 is good."),
    word32("transient_sig", 0x8,
           "Initial signature: guard and application tag of T10-DIF, upper half of a CRC-64, or "
           "CRC-32."),
    word32("ref_tag", 0xc, "Initial reference tag of T10-DIF, or lower half of a CRC-64."),
    alias(word64("transient_signature", 0x8, "Initial signature, all 64 bits.")),
};
inline constexpr Layout seg_set_psv{"seg_set_psv", Kind::work_queue, 0x10, seg_set_psv_fields,
                                    "Segment of SET_PSV: sets the state of a signature."};

inline constexpr std::array seg_get_psv_fields{
    reserved_bytes(0x0, 0x10),
    reserved(0x10, 31, 8),
    bits("num_psv", 0x10, 7, 0, "PSVs to read."),
    word32("l_key", 0x14, "Local key of the region that receives them."),
    word64("va", 0x18, "Address in the region."),
    array("psv_index", 0x20, 32, 4, "Numbers of the PSVs."),
};
inline constexpr Layout seg_get_psv{"seg_get_psv", Kind::work_queue, 0x30, seg_get_psv_fields,
                                    "Segment of GET_PSV: reads the state of signatures."};

inline constexpr std::array seg_check_psv_fields{
    reserved(0x0, 31, 16),
    bits("err_coalescing_op", 0x0, 15, 0, "How errors of several PSVs are combined."),
    reserved(0x4, 31, 16),
    bits("xport_err_op", 0x4, 15, 0, "How errors turn into an error of the transport."),
    reserved(0x8, 31, 16),
    bits("xport_err_mask", 0x8, 15, 0, "Errors that turn into an error of the transport."),
    reserved(0xc, 31, 0),
    reserved(0x10, 31, 8),
    bits("num_psv", 0x10, 7, 0, "PSVs to check."),
    word32("l_key", 0x14, "Local key of the region that receives them."),
    word64("va", 0x18, "Address in the region."),
    array("psv_index", 0x20, 32, 4, "Numbers of the PSVs."),
};
inline constexpr Layout seg_check_psv{"seg_check_psv", Kind::work_queue, 0x30, seg_check_psv_fields,
                                      "Segment of CHECK_PSV: checks the state of signatures."};

// Receive queues.

inline constexpr std::array wqe_srq_next_seg_fields{
    reserved(0x0, 31, 16),
    bits("next_wqe_index", 0x0, 15, 0, "Slot of the entry that follows."),
    bits("signature", 0x4, 31, 24,
         "Complement of the XOR of all bytes of the entry, if the queue has signatures."),
    reserved(0x4, 23, 0),
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout wqe_srq_next_seg{
    "wqe_srq_next_seg", Kind::work_queue, 0x10, wqe_srq_next_seg_fields,
    "First segment of a shared receive queue entry: links it to the next."};

// Tag matching.

inline constexpr std::array wqe_tm_seg_fields{
    bits("opcode", 0x0, 31, 28, "What becomes of the list.", &tag_operation),
    reserved(0x0, 27, 24),
    flag("cqe_req", 0x0, 23, "The completion queue of the receive queue gets an entry."),
    flag("sw_cnt_valid", 0x0, 22, "sw_cnt says how many unexpected messages have been handled."),
    reserved(0x0, 21, 16),
    bits("index", 0x0, 15, 0, "Append: entry for the tag after this one. Remove: the entry."),
    reserved(0x4, 31, 16),
    bits("sw_cnt", 0x4, 15, 0, "Unexpected messages that software has handled."),
    reserved_bytes(0x8, 0x8),
    word64("append_tag", 0x10, "Tag of messages that the memory is for."),
    word64("append_mask", 0x18, "Bits of the tag that must be equal."),
};
inline constexpr Layout wqe_tm_seg{"wqe_tm_seg", Kind::work_queue, 0x20, wqe_tm_seg_fields,
                                   "Operation on the list of tags of a receive queue."};

inline constexpr std::array tmh_fields{
    bits("opcode", 0x0, 31, 24, "What the message is.", &tag_header_opcode),
    reserved(0x0, 23, 0),
    word32("app_ctx", 0x4, "For the application; a rendezvous that is done says it again."),
    word64("tag", 0x8, "Tag that is looked for."),
};
inline constexpr Layout tmh{
    "tmh", Kind::work_queue, 0x10, tmh_fields,
    "Tag matching header: first bytes of a message, and of the CQE that says it was matched."};

inline constexpr std::array rvh_fields{
    word64("va", 0x0, "Address of the data in the sender's region."),
    word32("rkey", 0x8, "Remote key of the sender's region."),
    word32("len", 0xc, "Length of the data in bytes."),
};
inline constexpr Layout rvh{"rvh", Kind::work_queue, 0x10, rvh_fields,
                            "Rendezvous header: follows the tag matching header."};

inline constexpr std::array rwqe_sig_fields{
    reserved_bytes(0x0, 0x4),
    bits("signature", 0x4, 31, 24,
         "Complement of the XOR of all bytes of the entry, its index and the QPN."),
    reserved(0x4, 23, 0),
    reserved_bytes(0x8, 0x8),
};
inline constexpr Layout rwqe_sig{
    "rwqe_sig", Kind::work_queue, 0x10, rwqe_sig_fields,
    "First segment of a receive queue entry, if the queue pair has signatures."};

// Doorbell records, in host memory.

inline constexpr std::array qp_doorbell_record_fields{
    reserved(0x0, 31, 16),
    bits("receive_counter", 0x0, 15, 0, "Receive entries posted so far."),
    reserved(0x4, 31, 16),
    bits("send_counter", 0x4, 15, 0, "Send entries posted so far, in units of 64 bytes."),
};
inline constexpr Layout qp_doorbell_record{"qp_doorbell_record",
                                           Kind::work_queue,
                                           0x8,
                                           qp_doorbell_record_fields,
                                           "Doorbell record of a queue pair.",
                                           true};

inline constexpr std::array srq_doorbell_record_fields{
    reserved(0x0, 31, 16),
    bits("receive_counter", 0x0, 15, 0, "Receive entries posted so far."),
    reserved_bytes(0x4, 0x4),
};
inline constexpr Layout srq_doorbell_record{"srq_doorbell_record",
                                            Kind::work_queue,
                                            0x8,
                                            srq_doorbell_record_fields,
                                            "Doorbell record of a shared receive queue or RMP.",
                                            true};

inline constexpr std::array cq_doorbell_record_fields{
    reserved(0x0, 31, 24),
    bits("consumer_index", 0x0, 23, 0, "CQEs consumed so far."),
    reserved(0x4, 31, 30),
    bits("arm_sn", 0x4, 29, 28, "Number of the arming; grows with every event consumed."),
    reserved(0x4, 27, 25),
    bits("arm_command", 0x4, 24, 24, "Which CQE raises the event.", &cq_arm_command),
    bits("arm_consumer_index", 0x4, 23, 0, "CQEs consumed when the CQ was armed."),
};
inline constexpr Layout cq_doorbell_record{"cq_doorbell_record",
                                           Kind::work_queue,
                                           0x8,
                                           cq_doorbell_record_fields,
                                           "Doorbell record of a completion queue.",
                                           true};

// Doorbells, in a UAR page.

inline constexpr std::array send_doorbell_fields{
    wqe_opmod_field, wqe_index_field,     wqe_opcode_field,
    wqe_qpn_field,   reserved(0x4, 7, 6), wqe_ds_field,
};
inline constexpr Layout send_doorbell{
    "send_doorbell", Kind::work_queue, 0x8, send_doorbell_fields,
    "Send doorbell: the first 8 bytes of the entry that was posted last."};

inline constexpr std::array cq_doorbell_fields{
    reserved(0x0, 31, 30),
    bits("arm_sn", 0x0, 29, 28, "Number of the arming, as in the doorbell record."),
    reserved(0x0, 27, 25),
    bits("arm_command", 0x0, 24, 24, "Which CQE raises the event.", &cq_arm_command),
    bits("arm_consumer_index", 0x0, 23, 0, "CQEs consumed when the CQ was armed."),
    reserved(0x4, 31, 24),
    bits("cqn", 0x4, 23, 0, "Completion queue to arm."),
};
inline constexpr Layout cq_doorbell{"cq_doorbell", Kind::work_queue, 0x8, cq_doorbell_fields,
                                    "CQ doorbell: arms a completion queue."};

inline constexpr std::array eq_doorbell_fields{
    bits("eqn", 0x0, 31, 24, "Event queue."),
    bits("consumer_index", 0x0, 23, 0, "EQEs consumed so far."),
};
inline constexpr Layout eq_doorbell{"eq_doorbell", Kind::work_queue, 0x4, eq_doorbell_fields,
                                    "EQ doorbell: reports consumed EQEs, and can arm the EQ."};

inline constexpr std::array work_queue_layouts{&wqe_ctrl_seg,
                                               &wqe_raddr_seg,
                                               &wqe_atomic_seg,
                                               &wqe_masked_atomic_seg,
                                               &wqe_masked_fetch_add_seg,
                                               &wqe_data_seg,
                                               &wqe_inline_seg,
                                               &wqe_xrc_seg,
                                               &base_av,
                                               &av,
                                               &wqe_datagram_seg,
                                               &wqe_eth_seg,
                                               &wqe_umr_ctrl_seg,
                                               &mkey_seg,
                                               &klm,
                                               &ksm,
                                               &stride_block_ctrl_seg,
                                               &stride_block_entry,
                                               &bsf_basic,
                                               &bsf_ext,
                                               &bsf_inl,
                                               &bsf,
                                               &seg_set_psv,
                                               &seg_get_psv,
                                               &seg_check_psv,
                                               &wqe_srq_next_seg,
                                               &wqe_tm_seg,
                                               &tmh,
                                               &rvh,
                                               &rwqe_sig,
                                               &qp_doorbell_record,
                                               &srq_doorbell_record,
                                               &cq_doorbell_record,
                                               &send_doorbell,
                                               &cq_doorbell,
                                               &eq_doorbell};
inline constexpr std::array work_queue_enumerations{
    &wqe_opcode,       &masked_atomic_opmod, &fence_mode,       &completion_mode, &special_lkey,
    &umr_flags,        &mkey_mask,           &stride_block_op,  &bsf_size,        &bsf_block_size,
    &bsf_block_format, &bsf_dif_bytes,       &bsf_sig_type,     &bsf_escape,      &cq_arm_command,
    &uar_offset,       &tag_operation,       &tag_header_opcode};
inline constexpr Group work_queue_group{
    .name = "work_queue",
    .title = "Work queues and doorbells",
    .meaning = "Segments of send and receive queue entries, translation entries, signature "
               "descriptors, doorbell records and doorbells.",
    .layouts = work_queue_layouts,
    .enumerations = work_queue_enumerations,
    .source = "public drivers for Linux (mlx5) and rdma-core, whose code writes the doorbell "
              "records and doorbells word by word",
};

} // namespace hwtab
