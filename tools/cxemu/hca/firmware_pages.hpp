// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Host memory pages that the firmware requests and uses.
#pragma once

#include "hca/command.hpp"
#include "hca/device_profile.hpp"

#include <cstdint>
#include <expected>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

namespace cxemu::hca {

class Hca;

/// Each given page is filled with a pattern, which is verified when the page is returned: software
/// must not write to a page owned by the firmware.
class FirmwarePages {
public:
    static constexpr std::uint64_t page_size = 4096;

    explicit FirmwarePages(Hca& hca);

    /// QUERY_PAGES: pages still requested; negative: pages that can be taken back.
    [[nodiscard]] std::int32_t wanted_for_boot() const;
    [[nodiscard]] std::int32_t wanted_for_init() const;
    [[nodiscard]] std::int32_t wanted_regular() const;

    /// MANAGE_PAGES: the host gives pages. On failure none has been accepted.
    struct Refusal {
        CommandStatus status;
        Syndrome syndrome;
        std::string text;
    };
    std::expected<void, Refusal> give(std::span<const std::uint64_t> pages);

    /// MANAGE_PAGES: the host cannot give the requested pages; the firmware uses the pages that it
    /// has.
    void cannot_give();

    /// MANAGE_PAGES: the host takes at most \p max_count pages back. While the function is
    /// initialized only offered pages are returned.
    std::vector<std::uint64_t> take(std::uint32_t max_count);

    /// Posts an event that requests (count > 0) or offers to return (count < 0) pages; at most the
    /// pages held are offered.
    /// \return false when no EQ has subscribed to page requests
    bool request(std::int32_t count);

    /// An EQ has subscribed to page requests: requests the missing regular pages of the settings.
    void ask_for_regular();

    /// Verifies the pattern of all pages, without returning any. \return the number of damaged
    /// pages
    std::size_t verify();

    [[nodiscard]] std::size_t held() const { return pages_.size(); }
    [[nodiscard]] nlohmann::json to_json() const;

    /// The host has reset the function: it owns all pages again.
    void reset();

private:
    struct Page {
        std::uint64_t seed; ///< of its pattern
    };

    [[nodiscard]] std::expected<void, Refusal> check(std::span<const std::uint64_t> pages);
    [[nodiscard]] bool fill(std::uint64_t address, std::uint64_t seed);
    [[nodiscard]] bool intact(std::uint64_t address, std::uint64_t seed);
    void report_damage(std::uint64_t address);
    bool post_request(std::int32_t count);
    [[nodiscard]] std::uint64_t wanted() const;
    [[nodiscard]] std::int64_t demand() const;

    Hca& hca_;
    std::map<std::uint64_t, Page> pages_; ///< by address
    std::int64_t extra_ =
        0; ///< demand of events in addition to that of the settings; may be negative
    std::uint64_t offered_ = 0; ///< offered by events and not taken yet; at most the pages held
    std::uint64_t next_seed_ = 1;
    std::uint64_t given_ = 0;
    std::uint64_t taken_ = 0;
    std::uint64_t damaged_ = 0;
    std::uint64_t requests_ = 0;
    std::uint64_t refused_requests_ = 0;
};

} // namespace cxemu::hca
