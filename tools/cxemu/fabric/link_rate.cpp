// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/link_rate.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace cxemu::fabric {
namespace {

struct WidthEntry {
    LinkWidth width;
    std::string_view name;
    std::uint8_t port_info; ///< hwtab::link_width
    std::uint32_t lanes;
};

constexpr std::array widths_by_lanes{
    WidthEntry{LinkWidth::x1, "1x", 0x01, 1},    WidthEntry{LinkWidth::x2, "2x", 0x10, 2},
    WidthEntry{LinkWidth::x4, "4x", 0x02, 4},    WidthEntry{LinkWidth::x8, "8x", 0x04, 8},
    WidthEntry{LinkWidth::x12, "12x", 0x08, 12},
};

struct SpeedEntry {
    LaneSpeed speed;
    std::string_view name;
    std::uint8_t port_info;          ///< hwtab::link_speed; 0: none
    std::uint8_t port_info_extended; ///< hwtab::link_speed_ext; 0: none
    std::uint32_t megabits;          ///< data rate of a lane, Mb/s
};

constexpr std::array speeds_by_rate{
    SpeedEntry{LaneSpeed::sdr, "sdr", 1, 0, 2'000},
    SpeedEntry{LaneSpeed::ddr, "ddr", 2, 0, 4'000},
    SpeedEntry{LaneSpeed::qdr, "qdr", 4, 0, 8'000},
    SpeedEntry{LaneSpeed::fdr10, "fdr10", 0, 0, 10'000},
    SpeedEntry{LaneSpeed::fdr, "fdr", 0, 1, 13'636},
    SpeedEntry{LaneSpeed::edr, "edr", 0, 2, 25'000},
    SpeedEntry{LaneSpeed::hdr, "hdr", 0, 4, 50'000},
    SpeedEntry{LaneSpeed::ndr, "ndr", 0, 8, 100'000},
};

const WidthEntry& entry_of(LinkWidth width) {
    return *std::ranges::find(widths_by_lanes, width, &WidthEntry::width);
}

const SpeedEntry& entry_of(LaneSpeed speed) {
    return *std::ranges::find(speeds_by_rate, speed, &SpeedEntry::speed);
}

} // namespace

std::optional<LinkRate> negotiate(WidthMask widths, SpeedMask speeds) {
    const auto width = std::ranges::find_if(
        widths_by_lanes.rbegin(), widths_by_lanes.rend(),
        [=](const WidthEntry& entry) { return (widths & mask_of(entry.width)) != 0; });
    const auto speed = std::ranges::find_if(
        speeds_by_rate.rbegin(), speeds_by_rate.rend(),
        [=](const SpeedEntry& entry) { return (speeds & mask_of(entry.speed)) != 0; });
    if (width == widths_by_lanes.rend() || speed == speeds_by_rate.rend())
        return std::nullopt;
    return LinkRate{.width = width->width, .speed = speed->speed};
}

std::optional<LaneSpeed> find_speed(std::string_view name) {
    const auto found = std::ranges::find(speeds_by_rate, name, &SpeedEntry::name);
    return found == speeds_by_rate.end() ? std::nullopt : std::optional(found->speed);
}

std::optional<LinkWidth> find_width(std::string_view name) {
    const auto found = std::ranges::find(widths_by_lanes, name, &WidthEntry::name);
    return found == widths_by_lanes.end() ? std::nullopt : std::optional(found->width);
}

std::string_view name_of(LaneSpeed speed) {
    return entry_of(speed).name;
}

std::string_view name_of(LinkWidth width) {
    return entry_of(width).name;
}

std::uint32_t data_rate(LinkRate rate) {
    constexpr std::uint32_t megabits_per_unit = 100;
    return entry_of(rate.width).lanes * entry_of(rate.speed).megabits / megabits_per_unit;
}

std::uint8_t port_info_widths(WidthMask widths) {
    std::uint8_t code = 0;
    for (const WidthEntry& entry : widths_by_lanes)
        code |= (widths & mask_of(entry.width)) != 0 ? entry.port_info : std::uint8_t{0};
    return code;
}

WidthMask widths_from_port_info(std::uint8_t code) {
    WidthMask widths = 0;
    for (const WidthEntry& entry : widths_by_lanes)
        widths |= (code & entry.port_info) != 0 ? mask_of(entry.width) : WidthMask{0};
    return widths;
}

std::uint8_t port_info_speeds(SpeedMask speeds) {
    std::uint8_t code = 0;
    for (const SpeedEntry& entry : speeds_by_rate)
        code |= (speeds & mask_of(entry.speed)) != 0 ? entry.port_info : std::uint8_t{0};
    return code;
}

SpeedMask speeds_from_port_info(std::uint8_t code) {
    SpeedMask speeds = 0;
    for (const SpeedEntry& entry : speeds_by_rate)
        speeds |= (code & entry.port_info) != 0 ? mask_of(entry.speed) : SpeedMask{0};
    return speeds;
}

std::uint8_t port_info_extended_speeds(SpeedMask speeds) {
    std::uint8_t code = 0;
    for (const SpeedEntry& entry : speeds_by_rate)
        code |= (speeds & mask_of(entry.speed)) != 0 ? entry.port_info_extended : std::uint8_t{0};
    return code;
}

SpeedMask speeds_from_port_info_extended(std::uint8_t code) {
    SpeedMask speeds = 0;
    for (const SpeedEntry& entry : speeds_by_rate)
        speeds |= (code & entry.port_info_extended) != 0 ? mask_of(entry.speed) : SpeedMask{0};
    return speeds;
}

} // namespace cxemu::fabric
