// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Widths and lane speeds of links as bit masks of the PTYS register, and their conversion from and
/// to PortInfo.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cxemu::fabric {

/// Bits of hwtab::ib_link_width.
enum class LinkWidth : std::uint8_t { x1 = 1, x2 = 2, x4 = 4, x8 = 8, x12 = 16 };

/// Bits of hwtab::ib_proto.
enum class LaneSpeed : std::uint8_t {
    sdr = 1,
    ddr = 2,
    qdr = 4,
    fdr10 = 8,
    fdr = 16,
    edr = 32,
    hdr = 64,
    ndr = 128,
};

using WidthMask = std::uint16_t; ///< of LinkWidth bits
using SpeedMask = std::uint16_t; ///< of LaneSpeed bits

constexpr WidthMask mask_of(LinkWidth width) {
    return static_cast<WidthMask>(width);
}
constexpr SpeedMask mask_of(LaneSpeed speed) {
    return static_cast<SpeedMask>(speed);
}

/// All rates up to \p fastest, without FDR10.
constexpr SpeedMask speeds_up_to(LaneSpeed fastest) {
    const auto mask = static_cast<SpeedMask>((mask_of(fastest) << 1U) - 1);
    return static_cast<SpeedMask>(mask & ~mask_of(LaneSpeed::fdr10));
}

/// Width and speed of a trained link.
struct LinkRate {
    LinkWidth width = LinkWidth::x4;
    LaneSpeed speed = LaneSpeed::sdr;

    bool operator==(const LinkRate&) const = default;
};

/// The fastest rate that both masks of each kind allow. \return nothing when they have none in
/// common
std::optional<LinkRate> negotiate(WidthMask widths, SpeedMask speeds);

/// \param name "sdr" to "ndr", in lower case
std::optional<LaneSpeed> find_speed(std::string_view name);
/// \param name "1x", "2x", "4x", "8x" or "12x"
std::optional<LinkWidth> find_width(std::string_view name);
std::string_view name_of(LaneSpeed speed);
std::string_view name_of(LinkWidth width);

/// Data rate of the link, in the units of the PTYS register (100 Mb/s).
std::uint32_t data_rate(LinkRate rate);

// --- Coding of PortInfo --------------------------------------------------------------------------

std::uint8_t port_info_widths(WidthMask widths);
WidthMask widths_from_port_info(std::uint8_t code);

/// LinkSpeed fields: up to QDR.
std::uint8_t port_info_speeds(SpeedMask speeds);
SpeedMask speeds_from_port_info(std::uint8_t code);

/// LinkSpeedExt fields: FDR and faster.
std::uint8_t port_info_extended_speeds(SpeedMask speeds);
SpeedMask speeds_from_port_info_extended(std::uint8_t code);

} // namespace cxemu::fabric
