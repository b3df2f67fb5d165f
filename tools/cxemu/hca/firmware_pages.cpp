// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/firmware_pages.hpp"

#include "hca/hca.hpp"
#include "hca/rules.hpp"
#include "hwtab/view.hpp"
#include "tables/events.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace cxemu::hca {

namespace {

/// Number of pages beyond the demand that the firmware accepts before MANAGE_PAGES fails.
constexpr std::uint64_t spare_pages = 65536;
constexpr std::uint64_t max_per_query = 0x7fff'ffff;
constexpr std::uint64_t odd_multiplier = 0x9e37'79b9'7f4a'7c15;

using PageBytes = std::array<std::uint64_t, FirmwarePages::page_size / sizeof(std::uint64_t)>;

PageBytes pattern(std::uint64_t seed) {
    PageBytes words{};
    std::uint64_t value = seed * odd_multiplier;
    for (std::uint64_t& word : words) {
        word = value;
        value += odd_multiplier;
    }
    return words;
}

std::int32_t limited(std::uint64_t count) {
    return static_cast<std::int32_t>(std::min(count, max_per_query));
}

std::uint64_t missing(std::uint64_t wanted, std::uint64_t held) {
    return wanted > held ? wanted - held : 0;
}

} // namespace

FirmwarePages::FirmwarePages(Hca& hca) : hca_(hca) {}

std::int32_t FirmwarePages::wanted_for_boot() const {
    return limited(missing(hca_.settings().pages.boot, pages_.size()));
}

std::int32_t FirmwarePages::wanted_for_init() const {
    const PageDemand& demand = hca_.settings().pages;
    return limited(missing(std::uint64_t{demand.boot} + demand.init, pages_.size()));
}

std::int32_t FirmwarePages::wanted_regular() const {
    return offered_ > 0 ? -limited(offered_) : limited(missing(wanted(), pages_.size()));
}

/// The demand of the firmware, without page request events.
std::int64_t FirmwarePages::demand() const {
    const PageDemand& pages = hca_.settings().pages;
    return std::int64_t{pages.boot} + pages.init + pages.regular;
}

std::uint64_t FirmwarePages::wanted() const {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(demand() + extra_, 0));
}

std::expected<void, FirmwarePages::Refusal>
FirmwarePages::check(std::span<const std::uint64_t> pages) {
    if (pages_.size() + pages.size() > wanted() + spare_pages)
        return std::unexpected(Refusal{CommandStatus::exceeds_limit, Syndrome::too_many_pages,
                                       fmt::format("{} pages given, {} requested", pages.size(),
                                                   missing(wanted(), pages_.size()))});
    std::unordered_set<std::uint64_t> seen;
    for (const std::uint64_t address : pages) {
        if (address % page_size != 0) {
            hca_.violation(rules::page_address_invalid, "{:#x}", address);
            return std::unexpected(Refusal{CommandStatus::bad_parameter, Syndrome::bad_page_address,
                                           fmt::format("page address {:#x}", address)});
        }
        if (pages_.contains(address) || !seen.insert(address).second) {
            hca_.violation(rules::page_given_twice, "{:#x}", address);
            return std::unexpected(Refusal{CommandStatus::bad_parameter, Syndrome::page_given_twice,
                                           fmt::format("page {:#x}", address)});
        }
    }
    return {};
}

std::expected<void, FirmwarePages::Refusal>
FirmwarePages::give(std::span<const std::uint64_t> pages) {
    if (auto checked = check(pages); !checked)
        return checked;
    const std::uint64_t first_seed = next_seed_;
    for (const std::uint64_t address : pages) {
        if (!fill(address, next_seed_++)) {
            hca_.violation(rules::page_address_invalid, "{:#x} can't be written", address);
            return std::unexpected(Refusal{CommandStatus::bad_parameter, Syndrome::bad_page_address,
                                           fmt::format("page {:#x} can't be written", address)});
        }
    }
    if (pages_.size() + pages.size() > wanted())
        hca_.violation(rules::pages_not_asked_for, "{} pages, {} requested", pages.size(),
                       missing(wanted(), pages_.size()));
    std::uint64_t seed = first_seed;
    for (const std::uint64_t address : pages)
        pages_.emplace(address, Page{seed++});
    given_ += pages.size();
    return {};
}

void FirmwarePages::cannot_give() {
    if (pages_.size() < wanted())
        extra_ = static_cast<std::int64_t>(pages_.size()) - demand();
    ++refused_requests_;
}

std::vector<std::uint64_t> FirmwarePages::take(std::uint32_t max_count) {
    const bool in_use = hca_.state() == FunctionState::initialized;
    const std::uint64_t available = in_use ? offered_ : pages_.size();
    const auto count = std::min<std::uint64_t>(max_count, available);
    std::vector<std::uint64_t> taken;
    while (taken.size() < count) {
        const auto last = std::prev(pages_.end());
        if (!intact(last->first, last->second.seed))
            report_damage(last->first);
        taken.push_back(last->first);
        pages_.erase(last);
    }
    // Demand and offers of page request events expire with the teardown.
    offered_ = in_use ? offered_ - count : 0;
    extra_ = in_use ? extra_ - static_cast<std::int64_t>(count) : 0;
    taken_ += count;
    return taken;
}

bool FirmwarePages::post_request(std::int32_t count) {
    EventData data{};
    const hwtab::View<hwtab::pages_req_event> event{std::span(data)};
    event.set<"num_pages">(static_cast<std::uint32_t>(count));
    if (!hca_.post_event(EventType::page_request, 0, data))
        return false;
    ++requests_;
    return true;
}

void FirmwarePages::ask_for_regular() {
    const std::uint64_t regular = hca_.settings().pages.regular;
    const std::uint64_t count = std::min(regular, missing(wanted(), pages_.size()));
    if (count != 0)
        post_request(limited(count));
}

bool FirmwarePages::request(std::int32_t count) {
    const auto left = static_cast<std::int64_t>(pages_.size() - offered_);
    count = static_cast<std::int32_t>(std::max<std::int64_t>(count, -left));
    if (count == 0)
        return true;
    if (!post_request(count))
        return false;
    if (count > 0)
        extra_ += count;
    else
        offered_ += static_cast<std::uint64_t>(-std::int64_t{count});
    return true;
}

std::size_t FirmwarePages::verify() {
    std::size_t count = 0;
    for (const auto& [address, page] : pages_) {
        if (intact(address, page.seed))
            continue;
        report_damage(address);
        ++count;
    }
    return count;
}

void FirmwarePages::report_damage(std::uint64_t address) {
    ++damaged_;
    hca_.violation(rules::page_changed_by_host, "page {:#x}", address);
}

bool FirmwarePages::fill(std::uint64_t address, std::uint64_t seed) {
    const PageBytes words = pattern(seed);
    return hca_.firmware_dma().write(address, std::as_bytes(std::span(words))).has_value();
}

bool FirmwarePages::intact(std::uint64_t address, std::uint64_t seed) {
    PageBytes words{};
    if (!hca_.firmware_dma().read(address, std::as_writable_bytes(std::span(words))))
        return false;
    return words == pattern(seed);
}

nlohmann::json FirmwarePages::to_json() const {
    return {{"held", pages_.size()},
            {"wanted", wanted()},
            {"given", given_},
            {"taken", taken_},
            {"damaged", damaged_},
            {"outstanding", missing(wanted(), pages_.size())},
            {"offered", offered_},
            {"requests", requests_},
            {"refused", refused_requests_}};
}

void FirmwarePages::reset() {
    pages_.clear();
    extra_ = 0;
    offered_ = 0;
}

} // namespace cxemu::hca
