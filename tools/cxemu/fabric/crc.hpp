// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The two checksums of InfiniBand packets (InfiniBand specification, 7.8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cxemu::fabric {

/// CRC-32 of Ethernet over several pieces: call with the result for the piece before.
/// \param seed 0 for the first piece
std::uint32_t crc32(std::uint32_t seed, std::span<const std::byte> data);

/// CRC-16 with polynomial 0x100B, as the variant CRC is built. The checksum goes into the packet
/// least significant byte first.
std::uint16_t variant_crc(std::span<const std::byte> data);

/// Invariant CRC: CRC-32 with the fields as ones that change on the way. The checksum goes into the
/// packet least significant byte first.
/// \param data from the first byte of the LRH to the last one before the invariant CRC; a packet
///             with InfiniBand transport, and all of its BTH
std::uint32_t invariant_crc(std::span<const std::byte> data);

} // namespace cxemu::fabric
