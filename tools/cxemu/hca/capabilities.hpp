// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The capability pages: maximum (device) and current (chosen by software).
#pragma once

#include "hca/device_profile.hpp"
#include "hca/syndrome.hpp"
#include "hwtab/view.hpp"
#include "tables/capabilities.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

namespace cxemu::hca {

/// Pages of QUERY_HCA_CAP and SET_HCA_CAP; the number is op_mod / 2.
enum class CapabilityPage : std::uint8_t {
    general = 0x00,
    on_demand_paging = 0x02,
    atomic = 0x03,
    quality_of_service = 0x0c,
    device_memory = 0x0f,
    general_2 = 0x20,
};

/// Reason why SET_HCA_CAP was refused.
struct CapabilityError {
    Syndrome syndrome;
    std::string text;
};

/// The smallest value of a field of the general page that leaves the function an object of each
/// kind that every driver needs; 0 for most fields.
std::uint64_t smallest_capability(std::string_view field);

class Capabilities {
public:
    static constexpr std::size_t page_size = 0x1000; ///< bytes of the block in the commands

    explicit Capabilities(const HcaSettings& settings);

    /// The current value of a field of the general page: `current<"log_max_qp">()`.
    template <hwtab::FixedString path>
    [[nodiscard]] std::uint64_t current() const {
        return hwtab::ConstView<hwtab::cmd_hca_cap>{general_.current}.get<path>();
    }
    template <hwtab::FixedString path>
    [[nodiscard]] std::uint64_t maximum() const {
        return hwtab::ConstView<hwtab::cmd_hca_cap>{general_.maximum}.get<path>();
    }
    /// The current value of a field of the atomic page.
    template <hwtab::FixedString path>
    [[nodiscard]] std::uint64_t atomic() const {
        return hwtab::ConstView<hwtab::atomic_caps>{atomic_.current}.get<path>();
    }

    /// The current value of a field of the on-demand paging page.
    template <hwtab::FixedString path>
    [[nodiscard]] std::uint64_t on_demand_paging() const {
        return hwtab::ConstView<hwtab::odp_cap>{on_demand_paging_.current}.get<path>();
    }

    /// The value of a field of the second general page, which is read-only.
    template <hwtab::FixedString path>
    [[nodiscard]] std::uint64_t general_2() const {
        return hwtab::ConstView<hwtab::cmd_hca_cap_2>{general_2_.current}.get<path>();
    }

    /// Frequency of the internal timer and of timestamps in CQEs, kHz. Old firmware reports it in
    /// MHz only.
    [[nodiscard]] std::uint64_t clock_frequency() const;

    /// Distance of UAR pages in BAR 0, bytes: the page size of the host, unless software has chosen
    /// 4 KiB. Doorbells are in the first 4 KiB of each UAR page.
    [[nodiscard]] std::uint64_t uar_size() const;
    /// Number of UAR pages in BAR 0, including those with other contents.
    [[nodiscard]] std::uint64_t uar_pages() const { return uar_end_ / uar_size(); }
    /// UAR pages that ALLOC_UAR allocates at a time: those in a page of the host.
    [[nodiscard]] std::uint32_t uars_in_host_page() const;

    /// The bytes of a page; the rest of the block in a command is zero.
    /// \return empty for an unsupported page
    [[nodiscard]] std::span<const std::byte> bytes(CapabilityPage page, bool maximum) const;

    /// SET_HCA_CAP: takes over all writable fields of \p block, or none if one of them exceeds its
    /// maximum.
    std::expected<void, CapabilityError> set(CapabilityPage page, std::span<const std::byte> block);

    /// Restores the power-on values.
    void reset();

private:
    struct Page {
        std::array<std::byte, hwtab::cmd_hca_cap.size> maximum{};
        std::array<std::byte, hwtab::cmd_hca_cap.size> current{};
        std::array<std::byte, hwtab::cmd_hca_cap.size> initial{};
    };

    [[nodiscard]] const Page* find(CapabilityPage page) const;
    [[nodiscard]] Page* settable(CapabilityPage page);
    static void store(Page& page, const hwtab::Layout& layout, const CapabilityValue& value);
    void describe_on_demand_paging(const DeviceProfile& profile);
    void apply_settings(const HcaSettings& settings);
    void describe_device_memory(std::uint64_t bar_size);

    Page general_;
    Page atomic_;
    Page on_demand_paging_;
    Page device_memory_;
    Page quality_of_service_;
    Page general_2_;
    std::uint64_t uar_end_; ///< offset in BAR 0 of the end of the UAR pages
};

} // namespace cxemu::hca
