// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Identifiers of the subnet: LIDs, GUIDs, GIDs, well-known QPs and keys.
#pragma once

#include "base/byte_order.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cxemu::fabric {

using Lid = std::uint16_t;
using Guid = std::uint64_t;

inline constexpr Lid unassigned_lid = 0x0000;
inline constexpr Lid last_unicast_lid = 0xbfff;
inline constexpr Lid first_multicast_lid = 0xc000;
inline constexpr Lid permissive_lid = 0xffff;

[[nodiscard]] constexpr bool is_unicast(Lid lid) {
    return lid != unassigned_lid && lid <= last_unicast_lid;
}
[[nodiscard]] constexpr bool is_multicast(Lid lid) {
    return lid >= first_multicast_lid && lid != permissive_lid;
}

inline constexpr std::uint32_t subnet_management_qp = 0;
inline constexpr std::uint32_t general_services_qp = 1;
inline constexpr std::uint32_t multicast_qp = 0xff'ffff;
inline constexpr std::uint32_t general_services_q_key = 0x8001'0000;

/// The partition of management traffic, full member.
inline constexpr std::uint16_t default_p_key = 0xffff;
inline constexpr std::uint16_t full_member_bit = 0x8000;

/// True when a packet with P_Key \p a is accepted by a member with P_Key \p b: same partition, and
/// not both limited members. The P_Keys 0x0000 and 0x8000 are invalid and match nothing.
[[nodiscard]] constexpr bool p_keys_match(std::uint16_t a, std::uint16_t b) {
    const bool same_partition = ((a ^ b) & ~full_member_bit & 0xffffU) == 0;
    const bool valid = (a & ~full_member_bit & 0xffffU) != 0;
    return valid && same_partition && ((a | b) & full_member_bit) != 0;
}

/// The VL of subnet management: without flow control, usable in every port state but Down.
inline constexpr std::uint8_t management_vl = 15;

inline constexpr std::uint64_t default_gid_prefix = 0xfe80'0000'0000'0000;

/// A 128-bit global identifier, in network byte order.
struct Gid {
    std::array<std::byte, 16> bytes{};

    Gid() = default;
    Gid(std::uint64_t prefix, Guid guid) {
        store_be(std::span{bytes}.first<8>(), prefix);
        store_be(std::span{bytes}.last<8>(), guid);
    }
    /// \pre source holds at least 16 bytes
    explicit Gid(std::span<const std::byte> source) {
        std::ranges::copy(source.first(bytes.size()), bytes.begin());
    }

    [[nodiscard]] std::uint64_t prefix() const {
        return load_be<std::uint64_t>(std::span{bytes}.first<8>());
    }
    [[nodiscard]] Guid guid() const { return load_be<std::uint64_t>(std::span{bytes}.last<8>()); }
    [[nodiscard]] bool is_multicast() const { return bytes[0] == std::byte{0xff}; }

    auto operator<=>(const Gid&) const = default;
};

} // namespace cxemu::fabric
