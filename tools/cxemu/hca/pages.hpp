// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Pages of host memory that the firmware asks for and works in.
#pragma once

#include "hca/command.hpp"
#include "hca/profile.hpp"

#include <cstdint>
#include <expected>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

namespace cxemu::hca {

class Hca;

/// Each given page is filled with a pattern, which is verified when the page goes back: software
/// must not touch a page while it is the firmware's.
class FirmwarePages {
public:
    static constexpr std::uint64_t page_size = 4096;

    explicit FirmwarePages(Hca& hca);

    /// QUERY_PAGES: what is asked for and not given yet; negative: pages that can be taken back.
    [[nodiscard]] std::int32_t wanted_for_boot() const;
    [[nodiscard]] std::int32_t wanted_for_init() const;
    [[nodiscard]] std::int32_t wanted_regular() const;

    /// MANAGE_PAGES: the host gives pages. On failure none has been taken.
    struct Refusal {
        CommandStatus status;
        Syndrome syndrome;
        std::string text;
    };
    std::expected<void, Refusal> give(std::span<const std::uint64_t> pages);

    /// MANAGE_PAGES: the host can't give what was asked for; the firmware makes do with what it
    /// has.
    void cannot_give();

    /// MANAGE_PAGES: the host takes at most \p most pages back. While the function is initialized
    /// only pages that have been offered go.
    std::vector<std::uint64_t> take(std::uint32_t most);

    /// Asks for (count > 0) or offers to return (count < 0) pages by an event; no more pages are
    /// offered than there are.
    /// \return false when no event queue takes page requests
    bool request(std::int32_t count);

    /// An event queue takes page requests from now on: asks for the regular pages of the settings
    /// that are missing.
    void ask_for_regular();

    /// Checks the pattern of all pages, without returning any. \return how many are damaged
    std::size_t verify();

    [[nodiscard]] std::size_t held() const { return pages_.size(); }
    [[nodiscard]] nlohmann::json to_json() const;

    /// The host has reset the function: all pages are its own again.
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
    std::int64_t extra_ = 0;    ///< what events have made of the settings' demand: more, or less
    std::uint64_t offered_ = 0; ///< offered by events and not taken yet; at most those held
    std::uint64_t next_seed_ = 1;
    std::uint64_t given_ = 0;
    std::uint64_t taken_ = 0;
    std::uint64_t damaged_ = 0;
    std::uint64_t requests_ = 0;
    std::uint64_t refused_requests_ = 0;
};

} // namespace cxemu::hca
