// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Differences between models of the device, as data.
#pragma once

#include "hca/origin.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cxemu::hca {

/// A field of a capability page, by its name in the hardware tables.
struct CapabilityValue {
    std::string_view field;
    std::uint64_t maximum;
    std::uint64_t current;          ///< before SET_HCA_CAP
    const Origin* origin = nullptr; ///< nullptr: an option, or another value, decides
};

/// Pages that the firmware requests from the host.
struct PageDemand {
    std::uint32_t boot = 6;
    std::uint32_t init = 512;
    std::uint32_t regular = 0; ///< regular pages in the output of QUERY_PAGES
};

/// One model.
struct DeviceProfile {
    std::string_view name;  ///< "connectx5"
    std::string_view title; ///< "ConnectX-5"
    std::uint16_t physical_function_id;
    std::uint16_t virtual_function_id;
    std::uint16_t firmware_major;
    std::uint16_t firmware_minor;
    std::uint16_t firmware_subminor;
    const Origin* firmware_origin = &origins::assumed;
    std::uint32_t hardware_id;
    std::string_view board_id;      ///< PSID, at most 16 characters
    std::string_view default_speed; ///< name of an InfiniBand speed: "edr"
    std::uint8_t pci_generation;
    PageDemand pages{};
    const Origin* pages_origin = &origins::assumed;
    std::span<const CapabilityValue> general{}; ///< differences from common_general_capabilities()
    std::span<const CapabilityValue> general_2{}; ///< second general page
    std::span<const CapabilityValue> atomic{};    ///< differences from common_atomic_capabilities()
    /// Differences from common_paging_capabilities().
    std::span<const CapabilityValue> on_demand_paging{};
};

/// A value of a capability page of a model.
struct ListedValue {
    std::string_view page; ///< "general", "general_2", "atomic", "odp"
    CapabilityValue value;
};

/// All models.
std::span<const DeviceProfile> device_profiles();
/// \return the model called \p name, or nullptr
const DeviceProfile* find_profile(std::string_view name);
/// \return the model that has PCI device id \p device_id, or nullptr
const DeviceProfile* find_profile(std::uint16_t device_id);

/// All values of a model's capability pages that are not derived from options.
std::vector<ListedValue> values_of(const DeviceProfile& profile);

/// General capabilities of every model, overridden by its profile.
std::span<const CapabilityValue> common_general_capabilities();
std::span<const CapabilityValue> common_atomic_capabilities();
std::span<const CapabilityValue> common_paging_capabilities();

/// Which WQEs a QP with drain_sigerr still starts after a signature error.
enum class SignatureStop : std::uint8_t {
    next,   ///< none
    fence,  ///< the WQEs before the next one that waits for RDMA READs (fence modes 2 and 4)
    random, ///< either, chosen for each error
};

/// Where the CQE of a signature error is.
enum class SignatureReport : std::uint8_t {
    before, ///< before the CQE of the transfer
    behind, ///< behind it
};

/// One emulated function.
struct HcaSettings {
    std::string name = "hca0"; ///< in logs and reports
    const DeviceProfile* profile = nullptr;
    bool virtual_function = false;
    std::uint64_t node_guid = 0;
    std::uint64_t system_image_guid = 0;
    std::uint8_t ports = 1;
    std::uint32_t msix_vectors = 64;
    std::uint64_t bar_size = 32ULL * 1024 * 1024; ///< bytes
    PageDemand pages;               ///< those of the profile, unless an option says otherwise
    bool command_checksums = false; ///< sign and verify mailboxes from the start
    bool write_combining = false;   ///< the processors of the host combine writes
    SignatureStop signature_stop = SignatureStop::next;
    SignatureReport signature_report = SignatureReport::before;
    /// Overrides of the profile: general pages, name = value for both maximum and current.
    std::vector<std::pair<std::string, std::uint64_t>> overrides;

    [[nodiscard]] std::uint16_t device_id() const {
        return virtual_function ? profile->virtual_function_id : profile->physical_function_id;
    }
};

} // namespace cxemu::hca
