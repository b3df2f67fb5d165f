// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/device_profile.hpp"

#include <algorithm>
#include <array>

namespace cxemu::hca {

namespace {

using namespace origins;

/// A read-only capability.
constexpr CapabilityValue fixed(std::string_view field, std::uint64_t value, const Origin& origin) {
    return {field, value, value, &origin};
}

/// A capability that software sets.
constexpr CapabilityValue settable(std::string_view field, std::uint64_t maximum,
                                   std::uint64_t current, const Origin& origin) {
    return {field, maximum, current, &origin};
}

/// IBTA static rates 2 to 10 (2.5 to 120 Gbit/s), each at bit rate + 5.
constexpr std::uint64_t static_rates = 0xff80;

constexpr std::array general{
    // Sizes and numbers of objects, log2 unless the name says otherwise.
    settable("log_max_qp", 23, 14, trace_2016),
    fixed("log_max_qp_sz", 15, trace_2016),
    fixed("log_max_srq", 23, trace_2016),
    fixed("log_max_srq_sz", 15, trace_2016),
    fixed("log_max_cq", 24, trace_2016),
    fixed("log_max_cq_sz", 22, trace_2016),
    fixed("log_max_eq", 8, trace_2016),
    fixed("log_max_eq_sz", 22, trace_2016),
    fixed("log_max_mkey", 24, trace_2016),
    fixed("log_max_pd", 24, trace_2016),
    fixed("log_max_xrcd", 24, trace_2016),
    fixed("log_max_rmp", 23, trace_2016),
    fixed("log_max_wq_sz", 15, trace_2016),
    fixed("log_max_transport_domain", 16, trace_2016),
    fixed("log_max_mcg", 21, trace_2016),
    fixed("max_qp_mcg", 240, connectx4_12_20),
    fixed("max_qp_cnt", 255, trace_2016),
    fixed("rts2rts_qp_counters_set_id", 1, mlx5ctl),
    fixed("out_of_seq_cnt", 1, mlx5ctl),
    fixed("retransmission_q_counters", 1, mlx5ctl),
    fixed("enhanced_error_q_counters", 1, mlx5ctl),
    fixed("log_max_uctx", 10, assumed),
    fixed("log_max_umem", 20, assumed),
    fixed("uctx_cap", 0, assumed),

    // Mkeys.
    fixed("max_indirection", 4, trace_2016),
    fixed("log_max_mrw_sz", 64, trace_2016),
    fixed("log_max_bsf_list_size", 16, trace_2016),
    fixed("log_max_klm_list_size", 16, trace_2016),
    fixed("imaicl", 1, connectx4_12_18),
    fixed("umr_ptr_rlky", 1, mlx5ctl),
    fixed("umr_fence", 2, assumed),
    fixed("umr_extended_translation_offset", 1, connectx5_16_31),
    fixed("fixed_buffer_size", 1, connectx5_16_31),
    fixed("null_mkey", 1, connectx5_16_31),
    fixed("dump_fill_mkey", 1, mlx5ctl),
    fixed("pg", 1, connectx5_16_31),

    // QPs.
    fixed("log_max_ra_req_qp", 4, trace_2016),
    fixed("log_max_ra_res_qp", 4, trace_2016),
    fixed("end_pad", 1, trace_2016),
    fixed("go_back_n", 1, assumed),
    fixed("log_max_msg", 30, trace_2016),
    fixed("max_wqe_sz_sq", 1024, trace_2016),
    fixed("max_wqe_sz_rq", 512, trace_2016),
    fixed("max_wqe_sz_sq_dc", 256, trace_2016),
    fixed("compact_address_vector", 1, trace_2016),
    fixed("rc", 1, trace_2016),
    fixed("uc", 1, trace_2016),
    fixed("ud", 1, trace_2016),
    fixed("xrc", 1, trace_2016),
    settable("dct", 1, 0, connectx5_16_23), // mlx5_core sets it, so it may be off until then
    fixed("dc_req_scat_data_cqe", 1, mlx5ctl),
    fixed("log_max_ra_req_dc", 4, trace_2016),
    fixed("log_max_ra_res_dc", 4, trace_2016),
    fixed("apm", 1, trace_2016),
    fixed("atomic", 1, trace_2016),
    fixed("block_lb_mc", 1, trace_2016),
    fixed("set_deth_sqpn", 1, mlx5ctl),
    fixed("stat_rate_support", static_rates, interface_header),
    fixed("local_ca_ack_delay", 16, trace_2016),

    // Signatures.
    fixed("sho", 1, connectx4_12_18),
    fixed("sigerr_cqe", 1, mlx5ctl),
    fixed("sigerr_domain_and_sig_type", 1, assumed),
    fixed("sig_block_4048", 1, assumed),
    fixed("sig_crc32c", 1, assumed),
    fixed("sig_crc64_xp10", 1, assumed),
    fixed("drain_sigerr", 1, mlx5ctl),

    // CQs.
    fixed("cq_oi", 1, trace_2016),
    fixed("cq_resize", 1, trace_2016),
    fixed("cq_moderation", 1, trace_2016),
    fixed("cq_eq_remap", 1, trace_2016),
    fixed("cqe_version", 1, trace_2016),
    fixed("cqe_compression", 1, trace_2016),
    fixed("cqe_compression_max_num", 64, mlx5ctl),

    // Ports.
    fixed("port_type", 0, interface_header),
    fixed("ib_virt", 1, interface_header),
    fixed("vport_counters", 1, trace_2016),
    fixed("gid_table_size", 0, connectx6_20_37),  // code for 8
    fixed("pkey_table_size", 0, connectx6_20_37), // code for 128
    fixed("pkv", 1, trace_2016),
    fixed("qkv", 1, trace_2016),

    // Interface.
    fixed("device_frequency_mhz", 156, connectx5_16_31),
    fixed("device_frequency_khz", 156'250, connectx5_16_31),
    fixed("log_pg_sz", 12, trace_2016),
    fixed("bf", 1, trace_2016),
    fixed("log_bf_reg_size", 9, trace_2016),
    settable("num_of_uars_per_page", 1U << 8U, 1, assumed), // follows from the next one
    settable("log_uar_page_sz", 8, 0, trace_2016),
    settable("cmdif_checksum", 3, 0, trace_2016),
    fixed("driver_version", 1, mlx5ctl),
    fixed("fast_teardown", 1, mlx5ctl),
    fixed("force_teardown", 1, mlx5ctl),
};

constexpr std::array atomic{
    settable("atomic_req_8B_endianness_mode", 1, 0, connectx4lx_14_27),
    fixed("supported_atomic_req_8B_endianness_mode_1", 1, connectx4lx_14_27),
    fixed("atomic_operations", 0xf, trace_2016),
    fixed("atomic_size_qp", 0x3c, trace_2016),
    fixed("atomic_size_dc", 0x3c, trace_2016),
};

/// Features of later firmware, which software must enable.
constexpr std::array paging{
    fixed("transport_page_fault_scheme_cap.sig", 1, assumed),
    fixed("transport_page_fault_scheme_cap.ud_odp_caps.send", 1, connectx5_16_31),
    fixed("transport_page_fault_scheme_cap.rc_odp_caps.send", 1, connectx5_16_31),
    fixed("transport_page_fault_scheme_cap.rc_odp_caps.receive", 1, connectx5_16_31),
    fixed("transport_page_fault_scheme_cap.rc_odp_caps.write", 1, connectx5_16_31),
    fixed("transport_page_fault_scheme_cap.rc_odp_caps.read", 1, connectx5_16_31),
    settable("transport_page_fault_scheme_cap.rc_odp_caps.srq_receive", 1, 0, connectx5_16_31),
    settable("transport_page_fault_scheme_cap.xrc_odp_caps.send", 1, 0, connectx5_16_31),
    settable("transport_page_fault_scheme_cap.xrc_odp_caps.write", 1, 0, connectx5_16_31),
    settable("transport_page_fault_scheme_cap.xrc_odp_caps.read", 1, 0, connectx5_16_31),
    settable("transport_page_fault_scheme_cap.xrc_odp_caps.srq_receive", 1, 0, connectx5_16_31),
    settable("transport_page_fault_scheme_cap.dc_odp_caps.send", 1, 0, connectx5_16_27),
    settable("transport_page_fault_scheme_cap.dc_odp_caps.write", 1, 0, connectx5_16_27),
    settable("transport_page_fault_scheme_cap.dc_odp_caps.read", 1, 0, connectx5_16_27),
    settable("transport_page_fault_scheme_cap.dc_odp_caps.srq_receive", 1, 0, connectx5_16_27),
};

constexpr std::array paging_since_connectx6{
    fixed("transport_page_fault_scheme_cap.rc_odp_caps.atomic", 1, connectx6_20_37),
    settable("transport_page_fault_scheme_cap.xrc_odp_caps.atomic", 1, 0, connectx6_20_37),
    settable("transport_page_fault_scheme_cap.dc_odp_caps.atomic", 1, 0, assumed),
};

/// Memory page faults, if software enables them. Linux enables them, because the device supports
/// prefetch suggestions. The DC capabilities of the transport scheme are read-only: libmlx5 reads
/// them only there, and Linux does not enable them after it has chosen the memory scheme.
constexpr std::array paging_by_memory{
    fixed("transport_page_fault_scheme_cap.rc_odp_caps.atomic", 1, connectx6_20_37),
    settable("transport_page_fault_scheme_cap.xrc_odp_caps.atomic", 1, 0, connectx6_20_37),
    fixed("transport_page_fault_scheme_cap.dc_odp_caps.send", 1, connectx5_16_27),
    fixed("transport_page_fault_scheme_cap.dc_odp_caps.write", 1, connectx5_16_27),
    fixed("transport_page_fault_scheme_cap.dc_odp_caps.read", 1, connectx5_16_27),
    fixed("transport_page_fault_scheme_cap.dc_odp_caps.atomic", 1, assumed),
    fixed("transport_page_fault_scheme_cap.dc_odp_caps.srq_receive", 1, connectx5_16_27),
    settable("mem_page_fault", 1, 0, assumed),
    fixed("memory_page_fault_scheme_cap.sig", 1, assumed),
    fixed("memory_page_fault_scheme_cap.page_prefetch", 1, assumed),
    fixed("memory_page_fault_scheme_cap.ud_odp_caps.send", 1, assumed),
    fixed("memory_page_fault_scheme_cap.rc_odp_caps.send", 1, assumed),
    fixed("memory_page_fault_scheme_cap.rc_odp_caps.receive", 1, assumed),
    fixed("memory_page_fault_scheme_cap.rc_odp_caps.write", 1, assumed),
    fixed("memory_page_fault_scheme_cap.rc_odp_caps.read", 1, assumed),
    fixed("memory_page_fault_scheme_cap.rc_odp_caps.atomic", 1, assumed),
    fixed("memory_page_fault_scheme_cap.rc_odp_caps.srq_receive", 1, assumed),
    fixed("memory_page_fault_scheme_cap.xrc_odp_caps.send", 1, assumed),
    fixed("memory_page_fault_scheme_cap.xrc_odp_caps.write", 1, assumed),
    fixed("memory_page_fault_scheme_cap.xrc_odp_caps.read", 1, assumed),
    fixed("memory_page_fault_scheme_cap.xrc_odp_caps.atomic", 1, assumed),
    fixed("memory_page_fault_scheme_cap.xrc_odp_caps.srq_receive", 1, assumed),
    fixed("memory_page_fault_scheme_cap.dc_odp_caps.send", 1, assumed),
    fixed("memory_page_fault_scheme_cap.dc_odp_caps.write", 1, assumed),
    fixed("memory_page_fault_scheme_cap.dc_odp_caps.read", 1, assumed),
    fixed("memory_page_fault_scheme_cap.dc_odp_caps.atomic", 1, assumed),
    fixed("memory_page_fault_scheme_cap.dc_odp_caps.srq_receive", 1, assumed),
};

/// Capabilities that the adapter of the trace lacks, or of which it has less. The list omits its
/// other values that concern Ethernet or features that are not emulated.
constexpr std::array general_2016{
    fixed("max_qp_mcg", 48, trace_2016),
    fixed("rts2rts_qp_counters_set_id", 0, trace_2016),
    fixed("out_of_seq_cnt", 0, trace_2016),
    fixed("retransmission_q_counters", 0, trace_2016),
    fixed("enhanced_error_q_counters", 0, trace_2016),
    fixed("log_max_uctx", 0, trace_2016),
    fixed("log_max_umem", 0, trace_2016),
    fixed("uctx_cap", 0, trace_2016),
    fixed("imaicl", 0, trace_2016),
    fixed("umr_ptr_rlky", 0, trace_2016),
    fixed("umr_fence", 0, trace_2016),
    fixed("umr_extended_translation_offset", 0, trace_2016),
    fixed("fixed_buffer_size", 0, trace_2016),
    fixed("null_mkey", 0, trace_2016),
    fixed("dump_fill_mkey", 0, trace_2016),
    fixed("pg", 0, trace_2016),
    fixed("go_back_n", 0, trace_2016),
    fixed("dct", 0, trace_2016),
    fixed("dc_req_scat_data_cqe", 0, trace_2016),
    fixed("set_deth_sqpn", 0, trace_2016),
    fixed("sho", 0, trace_2016),
    fixed("sigerr_cqe", 0, trace_2016),
    fixed("sigerr_domain_and_sig_type", 0, trace_2016),
    fixed("sig_block_4048", 0, trace_2016),
    fixed("sig_crc32c", 0, trace_2016),
    fixed("sig_crc64_xp10", 0, trace_2016),
    fixed("drain_sigerr", 0, trace_2016),
    fixed("cqe_compression_timeout", 8, trace_2016),
    fixed("cqe_compression_max_num", 16, trace_2016),
    fixed("scqe_break_moderation", 1, trace_2016),
    fixed("cq_period_start_from_cqe", 1, trace_2016),
    fixed("device_frequency_mhz", 275, trace_2016),
    fixed("device_frequency_khz", 0, trace_2016),
    fixed("num_of_uars_per_page", 0, trace_2016),
    fixed("driver_version", 0, trace_2016),
    fixed("fast_teardown", 0, trace_2016),
    fixed("force_teardown", 0, trace_2016),
};

constexpr std::array atomic_2016{
    fixed("atomic_req_8B_endianness_mode", 0, trace_2016),
    fixed("supported_atomic_req_8B_endianness_mode_1", 0, trace_2016),
};

constexpr std::array since_connectx5{
    settable("log_max_qp", 17, 14, connectx5_16_35),
    fixed("umem_uid_0", 1, library),
    settable("uar_4k", 1, 0, assumed),
    fixed("max_sgl_for_optimized_performance", 3, mlx5ctl),
    fixed("tag_matching", 1, connectx6_20_37),
    fixed("rndv_offload_rc", 1, connectx6_20_37),
    fixed("log_tag_matching_list_sz", 7, connectx6_20_37),
    fixed("log_max_xrq", 22, assumed),
    fixed("device_memory", 1, connectx5_16_31),
    fixed("log_max_pd", 23, connectx5_16_31),
    fixed("cqe_128_always", 1, mlx5ctl),
    fixed("cqe_compression_128", 1, mlx5ctl),
    fixed("mini_cqe_resp_stride_index", 1, mlx5ctl),
};

/// ConnectX-6 has all capabilities of ConnectX-5.
constexpr std::array since_connectx6{
    settable("log_max_qp", 17, 14, connectx5_16_35),
    fixed("uctx_cap", 3, mlx5ctl), // raw_tx, internal_dev_res
    fixed("relaxed_ordering_write", 1, mlx5ctl),
    fixed("relaxed_ordering_read", 1, mlx5ctl),
    fixed("log_max_eq", 7, mlx5ctl),
    fixed("max_qp_cnt", 127, mlx5ctl),
    fixed("umr_fence", 1, mlx5ctl), // small
    fixed("umem_uid_0", 1, library),
    settable("uar_4k", 1, 0, assumed),
    fixed("max_sgl_for_optimized_performance", 3, mlx5ctl),
    fixed("tag_matching", 1, connectx6_20_37),
    fixed("rndv_offload_rc", 1, connectx6_20_37),
    fixed("log_tag_matching_list_sz", 7, connectx6_20_37),
    fixed("log_max_xrq", 22, assumed),
    fixed("device_memory", 1, connectx6_20_37),
    fixed("log_max_pd", 23, connectx6_20_37),
    fixed("cqe_128_always", 1, mlx5ctl),
    fixed("cqe_compression_128", 1, mlx5ctl),
    fixed("mini_cqe_resp_stride_index", 1, mlx5ctl),
    fixed("imaicl", 1, connectx6_20_29),
    fixed("sho", 1, connectx6_20_29),
    fixed("device_frequency_mhz", 156, connectx6_20_37),
    fixed("device_frequency_khz", 156'250, connectx6_20_37),
};

constexpr std::array since_connectx7{
    settable("log_max_qp", 17, 14, connectx5_16_35),
    fixed("uctx_cap", 3, mlx5ctl), // raw_tx, internal_dev_res
    fixed("relaxed_ordering_write", 1, mlx5ctl),
    fixed("relaxed_ordering_read", 1, mlx5ctl),
    fixed("relaxed_ordering_write_umr", 1, linux_042dd05b),
    fixed("relaxed_ordering_read_umr", 1, linux_042dd05b),
    fixed("log_max_eq", 7, mlx5ctl),
    fixed("max_qp_cnt", 127, mlx5ctl),
    fixed("umr_fence", 1, mlx5ctl), // small
    fixed("umem_uid_0", 1, library),
    settable("uar_4k", 1, 0, assumed),
    fixed("max_sgl_for_optimized_performance", 3, mlx5ctl),
    fixed("tag_matching", 1, connectx6_20_37),
    fixed("rndv_offload_rc", 1, connectx6_20_37),
    fixed("log_tag_matching_list_sz", 7, connectx6_20_37),
    fixed("log_max_xrq", 22, assumed),
    fixed("device_memory", 1, connectx5_16_31),
    fixed("log_max_pd", 23, connectx5_16_31),
    fixed("cqe_128_always", 1, mlx5ctl),
    fixed("cqe_compression_128", 1, mlx5ctl),
    fixed("mini_cqe_resp_stride_index", 1, mlx5ctl),
    fixed("device_frequency_mhz", 1'000, connectx6dx_22_36),
    fixed("device_frequency_khz", 1'000'000, connectx6dx_22_36),
    fixed("hca_cap_2", 1, mlx5ctl),
    fixed("qpc_extension", 1, assumed),
    fixed("log_max_dci_stream_channels", 4, assumed),
    fixed("log_max_dci_errored_streams", 4, assumed),
    fixed("qos", 1, library),
    // Address mappings, reserved QPNs, and scheduling elements.
    fixed("general_obj_types",
          std::uint64_t{1} << 0x3aU | std::uint64_t{1} << 0x2cU | std::uint64_t{1} << 0x26U,
          library),
};

/// The second page.
constexpr std::array second_page{
    fixed("send_dbr_mode_no_dbr_ext", 1, assumed),
    fixed("log_max_send_dbr_less_qp_sq", 15, assumed),
};

constexpr std::array profiles{
    DeviceProfile{.name = "connectx4",
                  .title = "ConnectX-4",
                  .physical_function_id = 0x1013,
                  .virtual_function_id = 0x1014,
                  .firmware_major = 12,
                  .firmware_minor = 28,
                  .firmware_subminor = 2006,
                  .firmware_origin = &connectx4_12_28,
                  .hardware_id = 0x209,
                  .board_id = "CXE_0000000004",
                  .default_speed = "edr",
                  .pci_generation = 3},
    DeviceProfile{.name = "connectx4-2016",
                  .title = "ConnectX-4 with firmware of 2016",
                  .physical_function_id = 0x1013,
                  .virtual_function_id = 0x1014,
                  .firmware_major = 12,
                  .firmware_minor = 12,
                  .firmware_subminor = 1220,
                  .firmware_origin = &trace_2016,
                  .hardware_id = 0x209,
                  .board_id = "CXE_0000000004",
                  .default_speed = "edr",
                  .pci_generation = 3,
                  .pages = {.boot = 6, .init = 12'868, .regular = 0},
                  .pages_origin = &trace_2016,
                  .general = general_2016,
                  .atomic = atomic_2016},
    DeviceProfile{.name = "connectx5",
                  .title = "ConnectX-5",
                  .physical_function_id = 0x1017,
                  .virtual_function_id = 0x1018,
                  .firmware_major = 16,
                  .firmware_minor = 35,
                  .firmware_subminor = 4506,
                  .firmware_origin = &connectx5_16_35,
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
                  .firmware_minor = 37,
                  .firmware_subminor = 1700,
                  .firmware_origin = &connectx6_20_37,
                  .hardware_id = 0x20f,
                  .board_id = "CXE_0000000006",
                  .default_speed = "hdr",
                  .pci_generation = 4,
                  .general = since_connectx6,
                  .on_demand_paging = paging_since_connectx6},
    DeviceProfile{.name = "connectx7",
                  .title = "ConnectX-7",
                  .physical_function_id = 0x1021,
                  .virtual_function_id = 0x101e,
                  .firmware_major = 28,
                  .firmware_minor = 40,
                  .firmware_subminor = 1000,
                  .firmware_origin = &connectx7_28_40,
                  .hardware_id = 0x218,
                  .board_id = "CXE_0000000007",
                  .default_speed = "ndr",
                  .pci_generation = 5,
                  .general = since_connectx7,
                  .general_2 = second_page,
                  .on_demand_paging = paging_by_memory},
};

/// Lists the values of one page; those of the profile replace the common values.
void list_page(std::string_view page, std::span<const CapabilityValue> common,
               std::span<const CapabilityValue> own, std::vector<ListedValue>& listed) {
    const auto first = static_cast<std::ptrdiff_t>(listed.size());
    for (const auto values : {common, own}) {
        for (const CapabilityValue& value : values) {
            const auto known =
                std::find_if(listed.begin() + first, listed.end(), [&](const ListedValue& other) {
                    return other.value.field == value.field;
                });
            if (known == listed.end())
                listed.push_back({page, value});
            else
                known->value = value;
        }
    }
}

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

std::vector<ListedValue> values_of(const DeviceProfile& profile) {
    std::vector<ListedValue> listed;
    list_page("general", general, profile.general, listed);
    list_page("general_2", {}, profile.general_2, listed);
    list_page("atomic", atomic, profile.atomic, listed);
    const auto pg = std::ranges::find_if(
        listed, [](const ListedValue& one) { return one.value.field == "pg"; });
    if (pg != listed.end() && pg->value.maximum != 0)
        list_page("odp", paging, profile.on_demand_paging, listed);
    return listed;
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
