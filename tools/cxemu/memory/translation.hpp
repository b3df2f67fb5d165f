// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Walks the translation of one mkey.
#pragma once

#include "memory/access.hpp"
#include "memory/memory_key.hpp"

#include <cstdint>
#include <expected>
#include <functional>

namespace cxemu::memory {

/// Part of a range that one translation entry covers.
struct Piece {
    std::uint32_t key = 0; ///< mkey that the entry refers to, unless the address is a bus address
    std::uint64_t address = 0; ///< in that mkey, or on the bus
    std::uint64_t length = 0;  ///< bytes
    bool on_bus = false;
};

using PieceVisitor = std::function<std::expected<void, AccessFault>(const Piece&)>;

/// Splits [address, address + length) at the translation entries of \p key, and visits the pieces
/// in order until a visit fails. \pre key.contains(address, length)
/// \param right of the access; MTTs can have permission bits
std::expected<void, AccessFault> walk_translation(const MemoryKey& key, std::uint64_t address,
                                                  std::uint64_t length, AccessRight right,
                                                  const PieceVisitor& visit);

} // namespace cxemu::memory
