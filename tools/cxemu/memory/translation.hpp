// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Walks through the translation of one memory key.
#pragma once

#include "memory/access.hpp"
#include "memory/memory_key.hpp"

#include <cstdint>
#include <expected>
#include <functional>

namespace cxemu::memory {

/// A piece of the range, as the key's translation sees it.
struct Piece {
    std::uint32_t key = 0;     ///< of the next key, unless the address is a bus address
    std::uint64_t address = 0; ///< in that key, or on the bus
    std::uint64_t length = 0;  ///< bytes
    bool on_bus = false;
};

using PieceVisitor = std::function<std::expected<void, AccessFault>(const Piece&)>;

/// Cuts [address, address + length) up along the translation of \p key, and visits the pieces in
/// order until one of the visits fails. \pre key.contains(address, length)
/// \param right of the access; pages can have rights of their own
std::expected<void, AccessFault> walk_translation(const MemoryKey& key, std::uint64_t address,
                                                  std::uint64_t length, AccessRight right,
                                                  const PieceVisitor& visit);

} // namespace cxemu::memory
