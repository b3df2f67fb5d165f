// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The capability pages: what the device can do (maximum) and what software has chosen (current).
#pragma once

#include "hca/profile.hpp"
#include "hca/syndrome.hpp"
#include "hwtab/view.hpp"
#include "tables/capabilities.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>

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

/// Why SET_HCA_CAP was refused.
struct CapabilityError {
    Syndrome syndrome;
    std::string text;
};

class Capabilities {
public:
    static constexpr std::size_t page_size = 0x1000; ///< bytes of the block in the commands

    explicit Capabilities(const HcaSettings& settings);

    /// A field of the general page as it is in force: `current<"log_max_qp">()`.
    template <hwtab::FixedString path>
    [[nodiscard]] std::uint64_t current() const {
        return hwtab::ConstView<hwtab::cmd_hca_cap>{general_.current}.get<path>();
    }
    template <hwtab::FixedString path>
    [[nodiscard]] std::uint64_t maximum() const {
        return hwtab::ConstView<hwtab::cmd_hca_cap>{general_.maximum}.get<path>();
    }
    /// A field of the atomic page as it is in force.
    template <hwtab::FixedString path>
    [[nodiscard]] std::uint64_t atomic() const {
        return hwtab::ConstView<hwtab::atomic_caps>{atomic_.current}.get<path>();
    }

    /// A field of the page for on-demand paging as it is in force.
    template <hwtab::FixedString path>
    [[nodiscard]] std::uint64_t on_demand_paging() const {
        return hwtab::ConstView<hwtab::odp_cap>{on_demand_paging_.current}.get<path>();
    }

    /// A field of the second general page; it can't be chosen.
    template <hwtab::FixedString path>
    [[nodiscard]] std::uint64_t general_2() const {
        return hwtab::ConstView<hwtab::cmd_hca_cap_2>{general_2_.current}.get<path>();
    }

    /// Distance of UAR pages in BAR 0, bytes: that of the host's pages, unless software has chosen
    /// 4 KiB. Doorbells are in the first 4 KiB of each.
    [[nodiscard]] std::uint64_t uar_size() const;
    /// UAR pages in BAR 0, the ones that hold other things included.
    [[nodiscard]] std::uint64_t uar_pages() const { return uar_end_ / uar_size(); }

    /// The bytes of a page; the rest of the block in a command is zero.
    /// \return empty for a page that the device doesn't have
    [[nodiscard]] std::span<const std::byte> bytes(CapabilityPage page, bool maximum) const;

    /// SET_HCA_CAP: takes over every field of \p block that software may choose, if all of them are
    /// within the maximum; otherwise nothing changes.
    std::expected<void, CapabilityError> set(CapabilityPage page, std::span<const std::byte> block);

    /// Back to what it was at power-on.
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
    void apply_settings(const HcaSettings& settings);
    void describe_device_memory(std::uint64_t bar_size);

    Page general_;
    Page atomic_;
    Page on_demand_paging_;
    Page device_memory_;
    Page quality_of_service_;
    Page general_2_;
    std::uint64_t uar_end_; ///< offset in BAR 0 of what lies behind the UAR pages
};

} // namespace cxemu::hca
