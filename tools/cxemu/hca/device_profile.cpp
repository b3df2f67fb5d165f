// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/device_profile.hpp"

#include <algorithm>
#include <array>

namespace cxemu::hca {

namespace {

/// A read-only capability.
constexpr CapabilityValue fixed(std::string_view field, std::uint64_t value) {
    return {field, value, value};
}

/// IBTA static rates 2 to 10 (2.5 to 120 Gbit/s), each at bit rate + 5.
constexpr std::uint64_t static_rates = 0xff80;

constexpr std::array general{
    // Sizes and numbers of objects, log2 unless the name says otherwise.
    CapabilityValue{"log_max_qp", 23, 17},
    fixed("log_max_qp_sz", 15),
    fixed("log_max_srq", 23),
    fixed("log_max_srq_sz", 15),
    fixed("log_max_cq", 24),
    fixed("log_max_cq_sz", 22),
    fixed("log_max_eq", 8),
    fixed("log_max_eq_sz", 22),
    fixed("log_max_mkey", 24),
    fixed("log_max_pd", 24),
    fixed("log_max_xrcd", 24),
    fixed("log_max_rmp", 23),
    fixed("log_max_wq_sz", 15),
    fixed("log_max_transport_domain", 16),
    fixed("log_max_mcg", 21),
    fixed("max_qp_mcg", 48),
    fixed("max_qp_cnt", 255),
    fixed("rts2rts_qp_counters_set_id", 1),
    fixed("out_of_seq_cnt", 1),
    fixed("retransmission_q_counters", 1),
    fixed("enhanced_error_q_counters", 1),
    fixed("log_max_uctx", 10),
    fixed("log_max_umem", 20),
    fixed("uctx_cap", 0),

    // Mkeys.
    fixed("max_indirection", 4),
    fixed("log_max_mrw_sz", 64),
    fixed("log_max_bsf_list_size", 16),
    fixed("log_max_klm_list_size", 18), // an mkey for the address space of a process: 2^17 KLMs
    fixed("imaicl", 1),
    fixed("umr_ptr_rlky", 1),
    fixed("umr_fence", 2),
    fixed("umr_extended_translation_offset", 1),
    fixed("fixed_buffer_size", 1),
    fixed("null_mkey", 1),
    fixed("dump_fill_mkey", 1),
    fixed("pg", 1),

    // QPs.
    fixed("log_max_ra_req_qp", 4),
    fixed("log_max_ra_res_qp", 4),
    fixed("end_pad", 1),
    fixed("go_back_n", 1),
    fixed("log_max_msg", 31),
    fixed("max_wqe_sz_sq", 1024),
    fixed("max_wqe_sz_rq", 512),
    fixed("compact_address_vector", 1),
    fixed("rc", 1),
    fixed("uc", 1),
    fixed("ud", 1),
    fixed("xrc", 1),
    fixed("dct", 1),
    fixed("dc_req_scat_data_cqe", 1),
    fixed("log_max_ra_req_dc", 4),
    fixed("log_max_ra_res_dc", 4),
    fixed("apm", 1),
    fixed("atomic", 1),
    fixed("block_lb_mc", 1),
    fixed("set_deth_sqpn", 1),
    fixed("stat_rate_support", static_rates),
    fixed("local_ca_ack_delay", 16),

    // Signatures.
    fixed("sho", 1),
    fixed("sigerr_cqe", 1),
    fixed("sigerr_domain_and_sig_type", 1),
    fixed("sig_block_4048", 1),
    fixed("sig_crc32c", 1),
    fixed("sig_crc64_xp10", 1),
    fixed("drain_sigerr", 1),

    // CQs.
    fixed("cq_oi", 1),
    fixed("cq_resize", 1),
    fixed("cq_moderation", 1),
    fixed("cq_eq_remap", 1),
    fixed("cqe_version", 1),
    fixed("cqe_compression", 1),
    fixed("cqe_compression_max_num", 64),

    // Ports.
    fixed("port_type", 0),
    fixed("ib_virt", 1),
    fixed("vport_counters", 1),
    fixed("gid_table_size", 0),  // code for 8
    fixed("pkey_table_size", 0), // code for 128
    fixed("pkv", 1),
    fixed("qkv", 1),

    // Interface.
    fixed("device_frequency_mhz", 1'000), // the internal timer counts nanoseconds
    fixed("device_frequency_khz", 1'000'000),
    fixed("log_pg_sz", 12),
    fixed("bf", 1),
    fixed("log_bf_reg_size", 9),
    CapabilityValue{"num_of_uars_per_page", 1U << 16U, 1}, // follows from the next one
    CapabilityValue{"log_uar_page_sz", 16, 0},
    CapabilityValue{"cmdif_checksum", 3, 0},
    fixed("driver_version", 1),
    fixed("fast_teardown", 1),
    fixed("force_teardown", 1),
};

constexpr std::array atomic{
    CapabilityValue{"atomic_req_8B_endianness_mode", 1, 0},
    fixed("supported_atomic_req_8B_endianness_mode_1", 1),
    fixed("atomic_operations", 0xf),
    fixed("atomic_size_qp", 0x3c),
};

/// Features of later firmware, which software must enable.
constexpr std::array paging{
    fixed("transport_page_fault_scheme_cap.sig", 1),
    fixed("transport_page_fault_scheme_cap.ud_odp_caps.send", 1),
    fixed("transport_page_fault_scheme_cap.rc_odp_caps.send", 1),
    fixed("transport_page_fault_scheme_cap.rc_odp_caps.receive", 1),
    fixed("transport_page_fault_scheme_cap.rc_odp_caps.write", 1),
    fixed("transport_page_fault_scheme_cap.rc_odp_caps.read", 1),
    fixed("transport_page_fault_scheme_cap.rc_odp_caps.atomic", 1),
    CapabilityValue{"transport_page_fault_scheme_cap.rc_odp_caps.srq_receive", 1, 0},
    CapabilityValue{"transport_page_fault_scheme_cap.xrc_odp_caps.send", 1, 0},
    CapabilityValue{"transport_page_fault_scheme_cap.xrc_odp_caps.write", 1, 0},
    CapabilityValue{"transport_page_fault_scheme_cap.xrc_odp_caps.read", 1, 0},
    CapabilityValue{"transport_page_fault_scheme_cap.xrc_odp_caps.atomic", 1, 0},
    CapabilityValue{"transport_page_fault_scheme_cap.xrc_odp_caps.srq_receive", 1, 0},
    CapabilityValue{"transport_page_fault_scheme_cap.dc_odp_caps.send", 1, 0},
    CapabilityValue{"transport_page_fault_scheme_cap.dc_odp_caps.write", 1, 0},
    CapabilityValue{"transport_page_fault_scheme_cap.dc_odp_caps.read", 1, 0},
    CapabilityValue{"transport_page_fault_scheme_cap.dc_odp_caps.atomic", 1, 0},
    CapabilityValue{"transport_page_fault_scheme_cap.dc_odp_caps.srq_receive", 1, 0},
};

/// Page faults by memory, if software enables them. Linux does, because the device supports
/// prefetch suggestions. DC capabilities are read-only with page faults by request: libmlx5 looks
/// there only, and Linux doesn't enable them when it has chosen faults by memory.
constexpr std::array paging_by_memory{
    fixed("transport_page_fault_scheme_cap.dc_odp_caps.send", 1),
    fixed("transport_page_fault_scheme_cap.dc_odp_caps.write", 1),
    fixed("transport_page_fault_scheme_cap.dc_odp_caps.read", 1),
    fixed("transport_page_fault_scheme_cap.dc_odp_caps.atomic", 1),
    fixed("transport_page_fault_scheme_cap.dc_odp_caps.srq_receive", 1),
    CapabilityValue{"mem_page_fault", 1, 0},
    fixed("memory_page_fault_scheme_cap.sig", 1),
    fixed("memory_page_fault_scheme_cap.page_prefetch", 1),
    fixed("memory_page_fault_scheme_cap.ud_odp_caps.send", 1),
    fixed("memory_page_fault_scheme_cap.rc_odp_caps.send", 1),
    fixed("memory_page_fault_scheme_cap.rc_odp_caps.receive", 1),
    fixed("memory_page_fault_scheme_cap.rc_odp_caps.write", 1),
    fixed("memory_page_fault_scheme_cap.rc_odp_caps.read", 1),
    fixed("memory_page_fault_scheme_cap.rc_odp_caps.atomic", 1),
    fixed("memory_page_fault_scheme_cap.rc_odp_caps.srq_receive", 1),
    fixed("memory_page_fault_scheme_cap.xrc_odp_caps.send", 1),
    fixed("memory_page_fault_scheme_cap.xrc_odp_caps.write", 1),
    fixed("memory_page_fault_scheme_cap.xrc_odp_caps.read", 1),
    fixed("memory_page_fault_scheme_cap.xrc_odp_caps.atomic", 1),
    fixed("memory_page_fault_scheme_cap.xrc_odp_caps.srq_receive", 1),
    fixed("memory_page_fault_scheme_cap.dc_odp_caps.send", 1),
    fixed("memory_page_fault_scheme_cap.dc_odp_caps.write", 1),
    fixed("memory_page_fault_scheme_cap.dc_odp_caps.read", 1),
    fixed("memory_page_fault_scheme_cap.dc_odp_caps.atomic", 1),
    fixed("memory_page_fault_scheme_cap.dc_odp_caps.srq_receive", 1),
};

constexpr std::array since_connectx5{
    CapabilityValue{"uar_4k", 1, 0},
    fixed("tag_matching", 1),
    fixed("rndv_offload_rc", 1),
    fixed("log_tag_matching_list_sz", 7),
    fixed("log_max_xrq", 22),
    fixed("device_memory", 1),
    fixed("cqe_128_always", 1),
    fixed("cqe_compression_128", 1),
    fixed("mini_cqe_resp_stride_index", 1),
};

constexpr std::array since_connectx7{
    CapabilityValue{"uar_4k", 1, 0},
    fixed("tag_matching", 1),
    fixed("rndv_offload_rc", 1),
    fixed("log_tag_matching_list_sz", 7),
    fixed("log_max_xrq", 22),
    fixed("device_memory", 1),
    fixed("cqe_128_always", 1),
    fixed("cqe_compression_128", 1),
    fixed("mini_cqe_resp_stride_index", 1),
    fixed("hca_cap_2", 1),
    fixed("qpc_extension", 1),
    fixed("log_max_dci_stream_channels", 4),
    fixed("log_max_dci_errored_streams", 4),
    fixed("qos", 1),
    // Address mappings, reserved QPNs, and scheduling elements.
    fixed("general_obj_types",
          std::uint64_t{1} << 0x3aU | std::uint64_t{1} << 0x2cU | std::uint64_t{1} << 0x26U),
};

/// The second page.
constexpr std::array second_page{
    fixed("send_dbr_mode_no_dbr_ext", 1),
    fixed("log_max_send_dbr_less_qp_sq", 15),
};

constexpr std::array profiles{
    DeviceProfile{.name = "connectx4",
                  .title = "ConnectX-4",
                  .physical_function_id = 0x1013,
                  .virtual_function_id = 0x1014,
                  .firmware_major = 12,
                  .firmware_minor = 28,
                  .firmware_subminor = 2006,
                  .hardware_id = 0x209,
                  .board_id = "CXE_0000000004",
                  .default_speed = "edr",
                  .pci_generation = 3,
                  .general = {}},
    DeviceProfile{.name = "connectx5",
                  .title = "ConnectX-5",
                  .physical_function_id = 0x1017,
                  .virtual_function_id = 0x1018,
                  .firmware_major = 16,
                  .firmware_minor = 35,
                  .firmware_subminor = 4030,
                  .hardware_id = 0x20d,
                  .board_id = "CXE_0000000005",
                  .default_speed = "edr",
                  .pci_generation = 3,
                  .general = since_connectx5},
    DeviceProfile{.name = "connectx6",
                  .title = "ConnectX-6",
                  .physical_function_id = 0x101b,
                  .virtual_function_id = 0x101c,
                  .firmware_major = 20,
                  .firmware_minor = 43,
                  .firmware_subminor = 2026,
                  .hardware_id = 0x20f,
                  .board_id = "CXE_0000000006",
                  .default_speed = "hdr",
                  .pci_generation = 4,
                  .general = since_connectx5},
    DeviceProfile{.name = "connectx7",
                  .title = "ConnectX-7",
                  .physical_function_id = 0x1021,
                  .virtual_function_id = 0x101e,
                  .firmware_major = 28,
                  .firmware_minor = 43,
                  .firmware_subminor = 2026,
                  .hardware_id = 0x218,
                  .board_id = "CXE_0000000007",
                  .default_speed = "ndr",
                  .pci_generation = 5,
                  .general = since_connectx7,
                  .general_2 = second_page,
                  .on_demand_paging = paging_by_memory},
};

} // namespace

std::span<const DeviceProfile> device_profiles() {
    return profiles;
}

const DeviceProfile* find_profile(std::string_view name) {
    const auto found = std::ranges::find(profiles, name, &DeviceProfile::name);
    return found == profiles.end() ? nullptr : &*found;
}

const DeviceProfile* find_profile(std::uint16_t device_id) {
    const auto found = std::ranges::find_if(profiles, [device_id](const DeviceProfile& profile) {
        return profile.physical_function_id == device_id ||
               profile.virtual_function_id == device_id;
    });
    return found == profiles.end() ? nullptr : &*found;
}

std::span<const CapabilityValue> common_general_capabilities() {
    return general;
}

std::span<const CapabilityValue> common_atomic_capabilities() {
    return atomic;
}

std::span<const CapabilityValue> common_paging_capabilities() {
    return paging;
}

} // namespace cxemu::hca
