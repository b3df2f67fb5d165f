// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// -
#pragma once

#include "hwtab/model.hpp"
#include "tables/object_values.hpp"

#include <array>

namespace hwtab {

inline constexpr std::array gid_fields{
    bytes("gid", 0x0, 16,
          "Global identifier in wire order: subnet prefix, then interface identifier."),
};
inline constexpr Layout gid{"gid", Kind::context, 0x10, gid_fields, "A 128-bit global identifier."};

inline constexpr std::array eqc_fields{
    bits("status", 0x0, 31, 28, "Result of the command; 0 is success."),
    reserved(0x0, 27, 19),
    flag("ec", 0x0, 18, "-"),
    flag("oi", 0x0, 17, "-"),
    reserved(0x0, 16, 12),
    bits("st", 0x0, 11, 8, "-"),
    reserved(0x0, 7, 0),
    reserved_bytes(0x4, 0x4),
    reserved(0x8, 31, 12),
    bits("page_offset", 0x8, 11, 6, "-"),
    reserved(0x8, 5, 0),
    reserved(0xc, 31, 29),
    bits("log_eq_size", 0xc, 28, 24, "-"),
    bits("uar_page", 0xc, 23, 0, "-"),
    reserved_bytes(0x10, 0x4),
    reserved(0x14, 31, 12),
    bits("intr", 0x14, 11, 0, "-"),
    reserved(0x18, 31, 29),
    bits("log_page_size", 0x18, 28, 24, "-"),
    reserved(0x18, 23, 0),
    reserved_bytes(0x1c, 0xc),
    reserved(0x28, 31, 24),
    bits("consumer_counter", 0x28, 23, 0, "-"),
    reserved(0x2c, 31, 24),
    bits("producer_counter", 0x2c, 23, 0, "-"),
    reserved_bytes(0x30, 0x10),
};
inline constexpr Layout eqc{"eqc", Kind::context, 0x40, eqc_fields, "-"};

inline constexpr std::array cqc_fields{
    bits("status", 0x0, 31, 28, "Result of the command; 0 is success."),
    reserved(0x0, 27, 26),
    flag("dbr_umem_valid", 0x0, 25, "-"),
    flag("apu_cq", 0x0, 24, "-"),
    bits("cqe_sz", 0x0, 23, 21, "-"),
    flag("cc", 0x0, 20, "-"),
    reserved(0x0, 19, 19),
    flag("scqe_break_moderation_en", 0x0, 18, "-"),
    flag("oi", 0x0, 17, "-"),
    bits("cq_period_mode", 0x0, 16, 15, "-"),
    flag("cqe_comp_en", 0x0, 14, "-"),
    bits("mini_cqe_res_format", 0x0, 13, 12, "-"),
    bits("st", 0x0, 11, 8, "-"),
    reserved(0x0, 7, 2),
    bits("cqe_compression_layout", 0x0, 1, 0, "-"),
    reserved_bytes(0x4, 0x4),
    reserved(0x8, 31, 12),
    bits("page_offset", 0x8, 11, 6, "-"),
    reserved(0x8, 5, 0),
    reserved(0xc, 31, 29),
    bits("log_cq_size", 0xc, 28, 24, "-"),
    bits("uar_page", 0xc, 23, 0, "-"),
    reserved(0x10, 31, 28),
    bits("cq_period", 0x10, 27, 16, "-"),
    bits("cq_max_count", 0x10, 15, 0, "-"),
    word32("c_eqn_or_apu_element", 0x14, "-"),
    reserved(0x18, 31, 29),
    bits("log_page_size", 0x18, 28, 24, "-"),
    reserved(0x18, 23, 0),
    reserved_bytes(0x1c, 0x4),
    reserved(0x20, 31, 24),
    bits("last_notified_index", 0x20, 23, 0, "-"),
    reserved(0x24, 31, 24),
    bits("last_solicit_index", 0x24, 23, 0, "-"),
    reserved(0x28, 31, 24),
    bits("consumer_counter", 0x28, 23, 0, "-"),
    reserved(0x2c, 31, 24),
    bits("producer_counter", 0x2c, 23, 0, "-"),
    reserved_bytes(0x30, 0x8),
    word64("dbr_addr", 0x38, "-"),
};
inline constexpr Layout cqc{"cqc", Kind::context, 0x40, cqc_fields, "-"};

inline constexpr std::array ads_fields{
    flag("fl", 0x0, 31, "-"),
    flag("free_ar", 0x0, 30, "-"),
    reserved(0x0, 29, 16),
    bits("pkey_index", 0x0, 15, 0, "-"),
    bits("plane_index", 0x4, 31, 24, "-"),
    flag("grh", 0x4, 23, "-"),
    bits("mlid", 0x4, 22, 16, "-"),
    bits("rlid", 0x4, 15, 0, "-"),
    bits("ack_timeout", 0x8, 31, 27, "-"),
    reserved(0x8, 26, 24),
    bits("src_addr_index", 0x8, 23, 16, "-"),
    reserved(0x8, 15, 12),
    bits("stat_rate", 0x8, 11, 8, "-"),
    bits("hop_limit", 0x8, 7, 0, "-"),
    reserved(0xc, 31, 28),
    bits("tclass", 0xc, 27, 20, "-"),
    bits("flow_label", 0xc, 19, 0, "-"),
    bytes("rgid_rip", 0x10, 16, "-"),
    reserved(0x20, 31, 28),
    flag("f_dscp", 0x20, 27, "-"),
    flag("f_ecn", 0x20, 26, "-"),
    reserved(0x20, 25, 25),
    flag("f_eth_prio", 0x20, 24, "-"),
    bits("ecn", 0x20, 23, 22, "-"),
    bits("dscp", 0x20, 21, 16, "-"),
    bits("udp_sport", 0x20, 15, 0, "-"),
    flag("dei_cfi", 0x24, 31, "-"),
    bits("eth_prio", 0x24, 30, 28, "-"),
    bits("sl", 0x24, 27, 24, "-"),
    bits("vhca_port_num", 0x24, 23, 16, "-"),
    bits("rmac_47_32", 0x24, 15, 0, "-"),
    word32("rmac_31_0", 0x28, "-"),
};
inline constexpr Layout ads{"ads", Kind::context, 0x2c, ads_fields, "-"};

inline constexpr std::array qpc_fields{
    bits("state", 0x0, 31, 28, "-"),
    bits("lag_tx_port_affinity", 0x0, 27, 24, "-"),
    bits("st", 0x0, 23, 16, "-"),
    reserved(0x0, 15, 14),
    flag("isolate_vl_tc", 0x0, 13, "-"),
    bits("pm_state", 0x0, 12, 11, "-"),
    reserved(0x0, 10, 10),
    bits("req_e2e_credit_mode", 0x0, 9, 8, "-"),
    bits("offload_type", 0x0, 7, 4, "-"),
    bits("end_padding_mode", 0x0, 3, 2, "-"),
    reserved(0x0, 1, 0),
    flag("wq_signature", 0x4, 31, "-"),
    flag("block_lb_mc", 0x4, 30, "-"),
    flag("atomic_like_write_en", 0x4, 29, "-"),
    flag("latency_sensitive", 0x4, 28, "-"),
    reserved(0x4, 27, 27),
    flag("drain_sigerr", 0x4, 26, "-"),
    reserved(0x4, 25, 24),
    bits("pd", 0x4, 23, 0, "-"),
    bits("mtu", 0x8, 31, 29, "-"),
    bits("log_msg_max", 0x8, 28, 24, "-"),
    reserved(0x8, 23, 23),
    bits("log_rq_size", 0x8, 22, 19, "-"),
    bits("log_rq_stride", 0x8, 18, 16, "-"),
    flag("no_sq", 0x8, 15, "-"),
    bits("log_sq_size", 0x8, 14, 11, "-"),
    reserved(0x8, 10, 10),
    bits("retry_mode", 0x8, 9, 8, "-"),
    bits("ts_format", 0x8, 7, 6, "-"),
    reserved(0x8, 5, 5),
    flag("rlky", 0x8, 4, "-"),
    bits("ulp_stateless_offload_mode", 0x8, 3, 0, "-"),
    bits("counter_set_id", 0xc, 31, 24, "-"),
    bits("uar_page", 0xc, 23, 0, "-"),
    reserved(0x10, 31, 24),
    bits("user_index", 0x10, 23, 0, "-"),
    reserved(0x14, 31, 29),
    bits("log_page_size", 0x14, 28, 24, "-"),
    bits("remote_qpn", 0x14, 23, 0, "-"),
    nested("primary_address_path", 0x18, ads, "-"),
    nested("secondary_address_path", 0x44, ads, "-"),
    bits("log_ack_req_freq", 0x70, 31, 28, "-"),
    reserved(0x70, 27, 24),
    bits("log_sra_max", 0x70, 23, 21, "-"),
    reserved(0x70, 20, 19),
    bits("retry_count", 0x70, 18, 16, "-"),
    bits("rnr_retry", 0x70, 15, 13, "-"),
    reserved(0x70, 12, 12),
    flag("fre", 0x70, 11, "-"),
    bits("cur_rnr_retry", 0x70, 10, 8, "-"),
    bits("cur_retry_count", 0x70, 7, 5, "-"),
    reserved(0x70, 4, 0),
    reserved_bytes(0x74, 0x4),
    reserved(0x78, 31, 24),
    bits("next_send_psn", 0x78, 23, 0, "-"),
    reserved(0x7c, 31, 29),
    bits("log_num_dci_stream_channels", 0x7c, 28, 24, "-"),
    bits("cqn_snd", 0x7c, 23, 0, "-"),
    reserved(0x80, 31, 29),
    bits("log_num_dci_errored_streams", 0x80, 28, 24, "-"),
    bits("deth_sqpn", 0x80, 23, 0, "-"),
    reserved_bytes(0x84, 0x4),
    reserved(0x88, 31, 24),
    bits("last_acked_psn", 0x88, 23, 0, "-"),
    reserved(0x8c, 31, 24),
    bits("ssn", 0x8c, 23, 0, "-"),
    reserved(0x90, 31, 24),
    bits("log_rra_max", 0x90, 23, 21, "-"),
    reserved(0x90, 20, 20),
    bits("atomic_mode", 0x90, 19, 16, "-"),
    flag("rre", 0x90, 15, "-"),
    flag("rwe", 0x90, 14, "-"),
    flag("rae", 0x90, 13, "-"),
    reserved(0x90, 12, 12),
    bits("page_offset", 0x90, 11, 6, "-"),
    reserved(0x90, 5, 3),
    flag("cd_slave_receive", 0x90, 2, "-"),
    flag("cd_slave_send", 0x90, 1, "-"),
    flag("cd_master", 0x90, 0, "-"),
    reserved(0x94, 31, 29),
    bits("min_rnr_nak", 0x94, 28, 24, "-"),
    bits("next_rcv_psn", 0x94, 23, 0, "-"),
    reserved(0x98, 31, 24),
    bits("xrcd", 0x98, 23, 0, "-"),
    reserved(0x9c, 31, 24),
    bits("cqn_rcv", 0x9c, 23, 0, "-"),
    word64("dbr_addr", 0xa0, "-"),
    word32("q_key", 0xa8, "-"),
    reserved(0xac, 31, 27),
    bits("rq_type", 0xac, 26, 24, "-"),
    bits("srqn_rmpn_xrqn", 0xac, 23, 0, "-"),
    reserved(0xb0, 31, 24),
    bits("rmsn", 0xb0, 23, 0, "-"),
    bits("hw_sq_wqebb_counter", 0xb4, 31, 16, "-"),
    bits("sw_sq_wqebb_counter", 0xb4, 15, 0, "-"),
    word32("hw_rq_counter", 0xb8, "-"),
    word32("sw_rq_counter", 0xbc, "-"),
    reserved_bytes(0xc0, 0x4),
    reserved(0xc4, 31, 17),
    flag("cgs", 0xc4, 16, "-"),
    bits("cs_req", 0xc4, 15, 8, "-"),
    bits("cs_res", 0xc4, 7, 0, "-"),
    word64("dc_access_key", 0xc8, "-"),
    reserved(0xd0, 31, 29),
    flag("dbr_umem_valid", 0xd0, 28, "-"),
    reserved(0xd0, 27, 0),
    reserved_bytes(0xd4, 0x14),
};
inline constexpr Layout qpc{"qpc", Kind::context, 0xe8, qpc_fields, "-"};

inline constexpr std::array cqe_error_syndrome_fields{
    bits("hw_error_syndrome", 0x0, 31, 24, "-"),
    bits("hw_syndrome_type", 0x0, 23, 20, "-"),
    reserved(0x0, 19, 16),
    bits("vendor_error_syndrome", 0x0, 15, 8, "-"),
    bits("syndrome", 0x0, 7, 0, "Firmware code that narrows down why the command failed."),
};
inline constexpr Layout cqe_error_syndrome{"cqe_error_syndrome", Kind::context, 0x4,
                                           cqe_error_syndrome_fields, "-"};

inline constexpr std::array qp_context_extension_fields{
    reserved_bytes(0x0, 0xc),
    nested("error_syndrome", 0xc, cqe_error_syndrome, "-"),
    reserved_bytes(0x10, 0xb0),
};
inline constexpr Layout qp_context_extension{"qp_context_extension", Kind::context, 0xc0,
                                             qp_context_extension_fields, "-"};

inline constexpr std::array trans_page_fault_info_fields{
    flag("error", 0x0, 31, "-"),
    reserved(0x0, 30, 27),
    bits("page_fault_type", 0x0, 26, 24, "-"),
    bits("wq_number", 0x0, 23, 0, "-"),
    reserved(0x4, 31, 24),
    bits("fault_token", 0x4, 23, 0, "-"),
};
inline constexpr Layout trans_page_fault_info{"trans_page_fault_info", Kind::context, 0x8,
                                              trans_page_fault_info_fields, "-"};

inline constexpr std::array mem_page_fault_info_fields{
    flag("error", 0x0, 31, "-"),
    reserved(0x0, 30, 16),
    bits("fault_token_47_32", 0x0, 15, 0, "-"),
    word32("fault_token_31_0", 0x4, "-"),
};
inline constexpr Layout mem_page_fault_info{"mem_page_fault_info", Kind::context, 0x8,
                                            mem_page_fault_info_fields, "-"};

inline constexpr std::array cmd_pas_fields{
    word32("pa_h", 0x0, "-"),
    bits("pa_l", 0x4, 31, 12, "-"),
    reserved(0x4, 11, 0),
};
inline constexpr Layout cmd_pas{"cmd_pas", Kind::context, 0x8, cmd_pas_fields, "-"};

inline constexpr std::array qp_pas_list_in_fields{
    nested_list("pas", 0x0, cmd_pas, "-"),
};
inline constexpr Layout qp_pas_list_in{"qp_pas_list_in", Kind::context, 0x0, qp_pas_list_in_fields,
                                       "-"};

inline constexpr std::array qpc_extension_and_pas_list_in_fields{
    nested("qpc_data_extension", 0x0, qp_context_extension, "-"),
    list("pas", 0xc0, 64, "-"),
};
inline constexpr Layout qpc_extension_and_pas_list_in{"qpc_extension_and_pas_list_in",
                                                      Kind::context, 0xc0,
                                                      qpc_extension_and_pas_list_in_fields, "-"};

inline constexpr std::array wq_fields{
    bits("wq_type", 0x0, 31, 28, "-"),
    flag("wq_signature", 0x0, 27, "-"),
    bits("end_padding_mode", 0x0, 26, 25, "-"),
    flag("cd_slave", 0x0, 24, "-"),
    reserved(0x0, 23, 0),
    flag("hds_skip_first_sge", 0x4, 31, "-"),
    bits("log2_hds_buf_size", 0x4, 30, 28, "-"),
    reserved(0x4, 27, 21),
    bits("page_offset", 0x4, 20, 16, "-"),
    bits("lwm", 0x4, 15, 0, "-"),
    reserved(0x8, 31, 24),
    bits("pd", 0x8, 23, 0, "-"),
    reserved(0xc, 31, 24),
    bits("uar_page", 0xc, 23, 0, "-"),
    word64("dbr_addr", 0x10, "-"),
    word32("hw_counter", 0x18, "-"),
    word32("sw_counter", 0x1c, "-"),
    reserved(0x20, 31, 20),
    bits("log_wq_stride", 0x20, 19, 16, "-"),
    reserved(0x20, 15, 13),
    bits("log_wq_pg_sz", 0x20, 12, 8, "-"),
    reserved(0x20, 7, 5),
    bits("log_wq_sz", 0x20, 4, 0, "-"),
    flag("dbr_umem_valid", 0x24, 31, "-"),
    flag("wq_umem_valid", 0x24, 30, "-"),
    reserved(0x24, 29, 29),
    bits("log_hairpin_num_packets", 0x24, 28, 24, "-"),
    reserved(0x24, 23, 21),
    bits("log_hairpin_data_sz", 0x24, 20, 16, "-"),
    reserved(0x24, 15, 12),
    bits("log_wqe_num_of_strides", 0x24, 11, 8, "-"),
    flag("two_byte_shift_en", 0x24, 7, "-"),
    reserved(0x24, 6, 3),
    bits("log_wqe_stride_size", 0x24, 2, 0, "-"),
    word32("dbr_umem_id", 0x28, "-"),
    word32("wq_umem_id", 0x2c, "-"),
    word64("wq_umem_offset", 0x30, "-"),
    word32("headers_mkey", 0x38, "-"),
    flag("shampo_enable", 0x3c, 31, "-"),
    reserved(0x3c, 30, 27),
    bits("log_reservation_size", 0x3c, 26, 24, "-"),
    reserved(0x3c, 23, 19),
    bits("log_max_num_of_packets_per_reservation", 0x3c, 18, 16, "-"),
    reserved(0x3c, 15, 10),
    bits("log_headers_entry_size", 0x3c, 9, 8, "-"),
    reserved(0x3c, 7, 4),
    bits("log_headers_buffer_entry_num", 0x3c, 3, 0, "-"),
    reserved_bytes(0x40, 0x80),
    nested_list("pas", 0xc0, cmd_pas, "-"),
};
inline constexpr Layout wq{"wq", Kind::context, 0xc0, wq_fields, "-"};

inline constexpr std::array rmpc_fields{
    reserved(0x0, 31, 24),       bits("state", 0x0, 23, 20, "-"),
    reserved(0x0, 19, 0),        flag("basic_cyclic_rcv_wqe", 0x4, 31, "-"),
    reserved(0x4, 30, 0),        reserved_bytes(0x8, 0x28),
    nested("wq", 0x30, wq, "-"),
};
inline constexpr Layout rmpc{"rmpc", Kind::context, 0xf0, rmpc_fields, "-"};

inline constexpr std::array srqc_fields{
    bits("state", 0x0, 31, 28, "-"),
    bits("log_srq_size", 0x0, 27, 24, "-"),
    reserved(0x0, 23, 0),
    flag("wq_signature", 0x4, 31, "-"),
    flag("cont_srq", 0x4, 30, "-"),
    reserved(0x4, 29, 29),
    flag("rlky", 0x4, 28, "-"),
    reserved(0x4, 27, 27),
    bits("log_rq_stride", 0x4, 26, 24, "-"),
    bits("xrcd", 0x4, 23, 0, "-"),
    bits("page_offset", 0x8, 31, 26, "-"),
    reserved(0x8, 25, 24),
    bits("cqn", 0x8, 23, 0, "-"),
    reserved_bytes(0xc, 0x4),
    reserved(0x10, 31, 30),
    bits("log_page_size", 0x10, 29, 24, "-"),
    reserved(0x10, 23, 0),
    reserved_bytes(0x14, 0x4),
    reserved(0x18, 31, 24),
    bits("pd", 0x18, 23, 0, "-"),
    bits("lwm", 0x1c, 31, 16, "-"),
    bits("wqe_cnt", 0x1c, 15, 0, "-"),
    reserved_bytes(0x20, 0x8),
    word64("dbr_addr", 0x28, "-"),
    reserved_bytes(0x30, 0x10),
};
inline constexpr Layout srqc{"srqc", Kind::context, 0x40, srqc_fields, "-"};

inline constexpr std::array xrc_srqc_fields{
    bits("state", 0x0, 31, 28, "-"),
    bits("log_xrc_srq_size", 0x0, 27, 24, "-"),
    reserved(0x0, 23, 0),
    flag("wq_signature", 0x4, 31, "-"),
    flag("cont_srq", 0x4, 30, "-"),
    reserved(0x4, 29, 29),
    flag("rlky", 0x4, 28, "-"),
    flag("basic_cyclic_rcv_wqe", 0x4, 27, "-"),
    bits("log_rq_stride", 0x4, 26, 24, "-"),
    bits("xrcd", 0x4, 23, 0, "-"),
    bits("page_offset", 0x8, 31, 26, "-"),
    reserved(0x8, 25, 25),
    flag("dbr_umem_valid", 0x8, 24, "-"),
    bits("cqn", 0x8, 23, 0, "-"),
    reserved_bytes(0xc, 0x4),
    flag("user_index_equal_xrc_srqn", 0x10, 31, "-"),
    reserved(0x10, 30, 30),
    bits("log_page_size", 0x10, 29, 24, "-"),
    bits("user_index", 0x10, 23, 0, "-"),
    reserved_bytes(0x14, 0x4),
    reserved(0x18, 31, 24),
    bits("pd", 0x18, 23, 0, "-"),
    bits("lwm", 0x1c, 31, 16, "-"),
    bits("wqe_cnt", 0x1c, 15, 0, "-"),
    reserved_bytes(0x20, 0x8),
    word32("db_record_addr_h", 0x28, "-"),
    bits("db_record_addr_l", 0x2c, 31, 2, "-"),
    reserved(0x2c, 1, 0),
    reserved_bytes(0x30, 0x10),
};
inline constexpr Layout xrc_srqc{"xrc_srqc", Kind::context, 0x40, xrc_srqc_fields, "-"};

inline constexpr std::array mkc_fields{
    reserved(0x0, 31, 31),
    flag("free", 0x0, 30, "-"),
    reserved(0x0, 29, 29),
    bits("access_mode_4_2", 0x0, 28, 26, "-"),
    reserved(0x0, 25, 19),
    flag("relaxed_ordering_write", 0x0, 18, "-"),
    reserved(0x0, 17, 17),
    flag("small_fence_on_rdma_read_response", 0x0, 16, "-"),
    flag("umr_en", 0x0, 15, "-"),
    flag("a", 0x0, 14, "-"),
    flag("rw", 0x0, 13, "-"),
    flag("rr", 0x0, 12, "-"),
    flag("lw", 0x0, 11, "-"),
    flag("lr", 0x0, 10, "-"),
    bits("access_mode_1_0", 0x0, 9, 8, "-"),
    reserved(0x0, 7, 6),
    bits("ma_translation_mode", 0x0, 5, 4, "-"),
    reserved(0x0, 3, 0),
    bits("qpn", 0x4, 31, 8, "-"),
    bits("mkey_7_0", 0x4, 7, 0, "-"),
    reserved_bytes(0x8, 0x4),
    flag("length64", 0xc, 31, "-"),
    flag("bsf_en", 0xc, 30, "-"),
    flag("sync_umr", 0xc, 29, "-"),
    reserved(0xc, 28, 27),
    flag("expected_sigerr_count", 0xc, 26, "-"),
    reserved(0xc, 25, 25),
    flag("en_rinval", 0xc, 24, "-"),
    bits("pd", 0xc, 23, 0, "-"),
    word64("start_addr", 0x10, "-"),
    word64("len", 0x18, "-"),
    word32("bsf_octword_size", 0x20, "-"),
    reserved_bytes(0x24, 0xc),
    bits("crossing_target_vhca_id", 0x30, 31, 16, "-"),
    reserved(0x30, 15, 0),
    word32("translations_octword_size", 0x34, "-"),
    reserved(0x38, 31, 7),
    flag("relaxed_ordering_read", 0x38, 6, "-"),
    bits("log_page_size", 0x38, 5, 0, "-"),
    reserved_bytes(0x3c, 0x4),
};
inline constexpr Layout mkc{"mkc", Kind::context, 0x40, mkc_fields, "-"};

inline constexpr std::array mtt_fields{
    word32("ptag_63_32", 0x0, "-"), bits("ptag_31_8", 0x4, 31, 8, "-"), reserved(0x4, 7, 2),
    flag("wr_en", 0x4, 1, "-"),     flag("rd_en", 0x4, 0, "-"),
};
inline constexpr Layout mtt{"mtt", Kind::context, 0x8, mtt_fields, "-"};

inline constexpr std::array dctc_fields{
    reserved(0x0, 31, 28),
    bits("state", 0x0, 27, 24, "-"),
    reserved(0x0, 23, 0),
    reserved(0x4, 31, 24),
    bits("user_index", 0x4, 23, 0, "-"),
    reserved(0x8, 31, 24),
    bits("cqn", 0x8, 23, 0, "-"),
    bits("counter_set_id", 0xc, 31, 24, "-"),
    bits("atomic_mode", 0xc, 23, 20, "-"),
    flag("rre", 0xc, 19, "-"),
    flag("rwe", 0xc, 18, "-"),
    flag("rae", 0xc, 17, "-"),
    flag("atomic_like_write_en", 0xc, 16, "-"),
    flag("latency_sensitive", 0xc, 15, "-"),
    flag("rlky", 0xc, 14, "-"),
    flag("free_ar", 0xc, 13, "-"),
    reserved(0xc, 12, 0),
    reserved(0x10, 31, 24),
    bits("cs_res", 0x10, 23, 16, "-"),
    reserved(0x10, 15, 13),
    bits("min_rnr_nak", 0x10, 12, 8, "-"),
    reserved(0x10, 7, 0),
    reserved(0x14, 31, 24),
    bits("srqn_xrqn", 0x14, 23, 0, "-"),
    reserved(0x18, 31, 24),
    bits("pd", 0x18, 23, 0, "-"),
    bits("tclass", 0x1c, 31, 24, "-"),
    reserved(0x1c, 23, 20),
    bits("flow_label", 0x1c, 19, 0, "-"),
    word64("dc_access_key", 0x20, "-"),
    reserved(0x28, 31, 27),
    bits("mtu", 0x28, 26, 24, "-"),
    bits("port", 0x28, 23, 16, "-"),
    bits("pkey_index", 0x28, 15, 0, "-"),
    reserved(0x2c, 31, 24),
    bits("my_addr_index", 0x2c, 23, 16, "-"),
    reserved(0x2c, 15, 8),
    bits("hop_limit", 0x2c, 7, 0, "-"),
    word32("dc_access_key_violation_count", 0x30, "-"),
    reserved(0x34, 31, 12),
    flag("dei_cfi", 0x34, 11, "-"),
    bits("eth_prio", 0x34, 10, 8, "-"),
    bits("ecn", 0x34, 7, 6, "-"),
    bits("dscp", 0x34, 5, 0, "-"),
    reserved_bytes(0x38, 0x4),
    word32("ece", 0x3c, "-"),
};
inline constexpr Layout dctc{"dctc", Kind::context, 0x40, dctc_fields, "-"};

inline constexpr std::array hca_vport_context_fields{
    word32("field_select", 0x0, "-"),
    reserved_bytes(0x4, 0x1c),
    flag("sm_virt_aware", 0x20, 31, "-"),
    flag("has_smi", 0x20, 30, "-"),
    flag("has_raw", 0x20, 29, "-"),
    flag("grh_required", 0x20, 28, "-"),
    reserved(0x20, 27, 24),
    bits("num_port_plane", 0x20, 23, 16, "-"),
    bits("port_physical_state", 0x20, 15, 12, "-"),
    bits("vport_state_policy", 0x20, 11, 8, "-"),
    bits("port_state", 0x20, 7, 4, "-"),
    bits("vport_state", 0x20, 3, 0, "-"),
    reserved_bytes(0x24, 0x4),
    word64("system_image_guid", 0x28, "-"),
    word64("port_guid", 0x30, "-"),
    word64("node_guid", 0x38, "-"),
    word32("cap_mask1", 0x40, "-"),
    word32("cap_mask1_field_select", 0x44, "-"),
    word32("cap_mask2", 0x48, "-"),
    word32("cap_mask2_field_select", 0x4c, "-"),
    reserved_bytes(0x50, 0x10),
    bits("lid", 0x60, 31, 16, "-"),
    reserved(0x60, 15, 12),
    bits("init_type_reply", 0x60, 11, 8, "-"),
    bits("lmc", 0x60, 7, 5, "-"),
    bits("subnet_timeout", 0x60, 4, 0, "-"),
    bits("sm_lid", 0x64, 31, 16, "-"),
    bits("sm_sl", 0x64, 15, 12, "-"),
    reserved(0x64, 11, 0),
    bits("qkey_violation_counter", 0x68, 31, 16, "-"),
    bits("pkey_violation_counter", 0x68, 15, 0, "-"),
    reserved_bytes(0x6c, 0x194),
};
inline constexpr Layout hca_vport_context{"hca_vport_context", Kind::context, 0x200,
                                          hca_vport_context_fields, "-"};

inline constexpr std::array uctx_fields{
    word32("cap", 0x0, "-"),
    reserved_bytes(0x4, 0x2c),
};
inline constexpr Layout uctx{"uctx", Kind::context, 0x30, uctx_fields, "-"};

inline constexpr std::array umem_fields{
    reserved_bytes(0x0, 0x10),
    flag("ats", 0x10, 31, "-"),
    reserved(0x10, 30, 5),
    bits("log_page_size", 0x10, 4, 0, "-"),
    word32("page_offset", 0x14, "-"),
    word64("num_of_mtt", 0x18, "-"),
    nested_list("mtt", 0x20, mtt, "-"),
};
inline constexpr Layout umem{"umem", Kind::context, 0x20, umem_fields, "-"};

inline constexpr std::array pkey_fields{
    reserved(0x0, 31, 16),
    bits("pkey", 0x0, 15, 0, "-"),
};
inline constexpr Layout pkey{"pkey", Kind::context, 0x4, pkey_fields, "-"};

inline constexpr std::array query_adapter_param_block_fields{
    reserved_bytes(0x0, 0x18),
    reserved(0x18, 31, 24),
    bits("ieee_vendor_id", 0x18, 23, 0, "-"),
    reserved(0x1c, 31, 16),
    bits("vsd_vendor_id", 0x1c, 15, 0, "-"),
    bytes("vsd", 0x20, 208, "-"),
    bytes("vsd_contd_psid", 0xf0, 16, "-"),
};
inline constexpr Layout query_adapter_param_block{"query_adapter_param_block", Kind::context, 0x100,
                                                  query_adapter_param_block_fields, "-"};

inline constexpr std::array resize_field_select_fields{
    word32("resize_field_select", 0x0, "-"),
};
inline constexpr Layout resize_field_select{"resize_field_select", Kind::context, 0x4,
                                            resize_field_select_fields, "-"};

inline constexpr std::array modify_field_select_fields{
    word32("modify_field_select", 0x0, "-"),
};
inline constexpr Layout modify_field_select{"modify_field_select", Kind::context, 0x4,
                                            modify_field_select_fields, "-"};

inline constexpr std::array rmp_bitmask_fields{
    reserved_bytes(0x0, 0x4),
    reserved(0x4, 31, 1),
    flag("lwm", 0x4, 0, "-"),
};
inline constexpr Layout rmp_bitmask{"rmp_bitmask", Kind::context, 0x8, rmp_bitmask_fields, "-"};

inline constexpr std::array traffic_counter_fields{
    word64("packets", 0x0, "-"),
    word64("octets", 0x8, "-"),
};
inline constexpr Layout traffic_counter{"traffic_counter", Kind::context, 0x10,
                                        traffic_counter_fields, "-"};

inline constexpr std::array vnic_diagnostic_statistics_fields{
    word32("counter_error_queues", 0x0, "-"),
    word32("total_error_queues", 0x4, "-"),
    word32("send_queue_priority_update_flow", 0x8, "-"),
    reserved_bytes(0xc, 0x4),
    word64("nic_receive_steering_discard", 0x10, "-"),
    word64("receive_discard_vport_down", 0x18, "-"),
    word64("transmit_discard_vport_down", 0x20, "-"),
    word32("async_eq_overrun", 0x28, "-"),
    word32("comp_eq_overrun", 0x2c, "-"),
    reserved_bytes(0x30, 0x4),
    word32("invalid_command", 0x34, "-"),
    word32("quota_exceeded_command", 0x38, "-"),
    word32("internal_rq_out_of_buffer", 0x3c, "-"),
    word32("cq_overrun", 0x40, "-"),
    word32("eth_wqe_too_small", 0x44, "-"),
    reserved_bytes(0x48, 0x18),
    word64("generated_pkt_steering_fail", 0x60, "-"),
    word64("handled_pkt_steering_fail", 0x68, "-"),
    reserved_bytes(0x70, 0x190),
};
inline constexpr Layout vnic_diagnostic_statistics{"vnic_diagnostic_statistics", Kind::context,
                                                   0x200, vnic_diagnostic_statistics_fields, "-"};

inline constexpr std::array general_obj_create_param_fields{
    flag("alias_object", 0x0, 31, "-"),
    reserved(0x0, 30, 29),
    bits("log_obj_range", 0x0, 28, 24, "-"),
    reserved(0x0, 23, 0),
};
inline constexpr Layout general_obj_create_param{"general_obj_create_param", Kind::context, 0x4,
                                                 general_obj_create_param_fields, "-"};

inline constexpr std::array general_obj_query_param_fields{
    flag("alias_object", 0x0, 31, "-"),
    bits("obj_offset", 0x0, 30, 0, "-"),
};
inline constexpr Layout general_obj_query_param{"general_obj_query_param", Kind::context, 0x4,
                                                general_obj_query_param_fields, "-"};

inline constexpr std::array contexts_layouts{&gid,
                                             &eqc,
                                             &cqc,
                                             &ads,
                                             &qpc,
                                             &cqe_error_syndrome,
                                             &qp_context_extension,
                                             &trans_page_fault_info,
                                             &mem_page_fault_info,
                                             &cmd_pas,
                                             &qp_pas_list_in,
                                             &qpc_extension_and_pas_list_in,
                                             &wq,
                                             &rmpc,
                                             &srqc,
                                             &xrc_srqc,
                                             &mkc,
                                             &mtt,
                                             &dctc,
                                             &hca_vport_context,
                                             &uctx,
                                             &umem,
                                             &pkey,
                                             &query_adapter_param_block,
                                             &resize_field_select,
                                             &modify_field_select,
                                             &rmp_bitmask,
                                             &traffic_counter,
                                             &vnic_diagnostic_statistics,
                                             &general_obj_create_param,
                                             &general_obj_query_param};
inline constexpr Group contexts_group{
    .name = "contexts", .title = "contexts", .meaning = "-", .layouts = contexts_layouts};

} // namespace hwtab
