// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The two checksums of InfiniBand packets (InfiniBand specification, 7.8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cxemu::fabric {

/// CRC-32 of Ethernet over several buffers.
/// \param seed 0 for the first buffer, then the result for the previous one
std::uint32_t crc32(std::uint32_t seed, std::span<const std::byte> data);

/// VCRC: CRC-16 with polynomial 0x100B. It is stored least significant byte first.
std::uint16_t variant_crc(std::span<const std::byte> data);

/// ICRC: CRC-32 with all fields masked that may change on the path. It is stored least significant
/// byte first.
/// \param data from the first byte of the LRH to the last byte before the ICRC, of an IBA transport
/// packet with a complete BTH
std::uint32_t invariant_crc(std::span<const std::byte> data);

} // namespace cxemu::fabric
