// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Guards: checksums of data blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cxemu::memory {

enum class GuardKind : std::uint8_t {
    t10_crc,     ///< CRC-16 of T10-DIF (SBC-3, 4.22.4)
    ip_checksum, ///< checksum of the Internet protocol (RFC 1071), in place of the CRC of T10-DIF
    crc32,       ///< CRC-32 of FC-PH: polynomial 0x04c11db7, most significant bit first
    crc32c,      ///< CRC-32C of iSCSI (RFC 3720, 12.1)
    crc64_xp10,  ///< CRC-64 of the XP10 compression format, also known as Rocksoft or NVMe
};

/// Bits that the checksum has.
constexpr unsigned width_of(GuardKind kind) {
    switch (kind) {
    case GuardKind::t10_crc:
    case GuardKind::ip_checksum:
        return 16;
    case GuardKind::crc32:
    case GuardKind::crc32c:
        return 32;
    case GuardKind::crc64_xp10:
        break;
    }
    return 64;
}

/// Running checksum of one block.
class Guard {
public:
    Guard() = default;
    /// \param seed initial value: 0 or all ones, in the width_of(kind) low bits
    Guard(GuardKind kind, std::uint64_t seed);

    void add(std::span<const std::byte> data);

    /// The checksum of the added data: its bytes on the wire as a big-endian number.
    [[nodiscard]] std::uint64_t value() const;

private:
    void add_words(std::span<const std::byte> data);

    GuardKind kind_ = GuardKind::t10_crc;
    std::uint64_t state_ = 0; ///< register of the CRC, or sum
    bool odd_ = false;        ///< an odd number of bytes is in the sum
};

} // namespace cxemu::memory
