// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Atomic operations on 8 bytes: arithmetic, masks in packets, order of bytes in memory.
///
/// InfiniBand has no packets for the masked kinds. They travel as the plain ones do, with the masks
/// as payload, which a plain request never has.
#pragma once

#include "hca/hca.hpp"
#include "transport/operation.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace cxemu::transport {

struct AtomicMasks {
    std::uint64_t swap_or_add = 0; ///< bits to swap; for additions the upper end of each field
    std::uint64_t compare = 0;     ///< bits to compare

    bool operator==(const AtomicMasks&) const = default;
};

inline constexpr std::size_t masks_size = 16; ///< bytes in a packet

std::array<std::byte, masks_size> encode_masks(const AtomicMasks& masks);

/// The masks of a request; those of the plain operation when there is no payload.
/// \return nothing when the payload has another length than masks
std::optional<AtomicMasks> decode_masks(Verb verb, std::span<const std::byte> payload);

struct AtomicRequest {
    Verb verb = Verb::fetch_add;
    std::uint64_t swap_or_add = 0;
    std::uint64_t compare = 0;
    AtomicMasks masks;
};

/// What the memory that holds \p value holds after the operation. Additions don't carry from one
/// field to the next.
std::uint64_t apply(const AtomicRequest& request, std::uint64_t value);

/// The number that 8 bytes of memory hold for atomic operations, given as a big-endian number: the
/// order that software has chosen for them. Its own inverse.
std::uint64_t reorder_for_memory(hca::Hca& hca, std::uint64_t big_endian);

} // namespace cxemu::transport
