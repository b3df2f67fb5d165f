// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Memory keys of a side as its software makes and changes them: by command, and by UMR.
#pragma once

#include "transport/testing/peers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cxemu::transport::testing {

/// 16 bytes of a translation: two pages, or a range of another key.
using TranslationEntry = std::array<std::byte, 16>;

TranslationEntry range_entry(std::uint32_t key, std::uint64_t address, std::uint32_t length);
/// Pages of 4 KiB, two in each entry.
std::vector<TranslationEntry> page_entries(const std::vector<std::uint64_t>& addresses);

/// Pieces of another key, at equal distances.
struct StridedRange {
    std::uint32_t key = 0;
    std::uint64_t address = 0; ///< of the first one
    std::uint32_t length = 0;  ///< of each, bytes
    std::uint32_t stride = 0;
};
/// Ranges that take turns, a piece of each at a time.
std::vector<TranslationEntry> strided_entries(const std::vector<StridedRange>& ranges,
                                              std::uint32_t repeats);

struct KeySettings {
    memory::AccessMode mode = memory::AccessMode::pages; ///< for ever
    bool is_free = false;
    bool peer_may_invalidate = false;
    std::uint8_t variant = 0;
    std::uint64_t start = 0;
    std::uint64_t length = 0;
    bool local_write = false; ///< rights; local reads are always allowed
    bool remote_read = false;
    bool remote_write = false;
    bool remote_atomic = false;
    std::uint32_t domain = 0;
    std::uint32_t queue_pair = 0;
    std::vector<TranslationEntry> entries{};
};

/// Makes a key with room for \p capacity entries. \return its index
std::uint32_t make_key(Peer& peer, const KeySettings& settings, std::size_t capacity);

/// What a UMR demands of the key.
enum class KeyDemand : std::uint8_t { nothing, free, in_use, own_queue_pair };

/// How a UMR changes a key.
struct KeyChange {
    std::uint32_t index = 0;
    KeyDemand demand = KeyDemand::nothing;
    bool sets_queue_pair = false; ///< binds the key to the queue pair of the settings
    bool lists_in_memory = false; ///< the entries lie in memory
};

/// Start, length, rights and variant become those of the settings; the key is in use then.
Send registration(Peer& peer, const KeyChange& change, const KeySettings& settings);
/// The key gets free.
Send invalidation(const KeyChange& change);
/// Entries from \p first on become others.
Send translation_change(Peer& peer, const KeyChange& change, std::size_t first,
                        const std::vector<TranslationEntry>& entries);

} // namespace cxemu::transport::testing
