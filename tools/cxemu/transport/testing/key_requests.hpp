// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Mkeys of a side as its software creates and changes them: by command, and by UMR.
#pragma once

#include "transport/testing/peers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cxemu::transport::testing {

/// 16 bytes of a translation: two pages, or a KLM.
using TranslationEntry = std::array<std::byte, 16>;

TranslationEntry range_entry(std::uint32_t key, std::uint64_t address, std::uint32_t length);
/// Pages of 4 KiB, two in each entry.
std::vector<TranslationEntry> page_entries(const std::vector<std::uint64_t>& addresses);

/// Equidistant ranges of another mkey.
struct StridedRange {
    std::uint32_t key = 0;
    std::uint64_t address = 0; ///< of the first one
    std::uint32_t length = 0;  ///< of each, bytes
    std::uint32_t stride = 0;
};
/// Interleaved strided ranges.
std::vector<TranslationEntry> strided_entries(const std::vector<StridedRange>& ranges,
                                              std::uint32_t repeats);

struct KeySettings {
    memory::AccessMode mode = memory::AccessMode::mtt; ///< never expires
    bool is_free = false;
    bool peer_may_invalidate = false;
    std::uint8_t variant = 0;
    std::uint64_t start = 0;
    std::uint64_t length = 0;
    bool local_write = false; ///< access rights; local read is always allowed
    bool remote_read = false;
    bool remote_write = false;
    bool remote_atomic = false;
    std::uint32_t domain = 0;
    std::uint32_t queue_pair = 0;
    std::vector<TranslationEntry> entries{};
};

/// Creates an mkey with \p capacity translation entries. \return its index
std::uint32_t make_key(Peer& peer, const KeySettings& settings, std::size_t capacity);

/// Mkey state that a UMR requires.
enum class KeyDemand : std::uint8_t { nothing, free, in_use, own_queue_pair };

/// A change of an mkey by UMR.
struct KeyChange {
    std::uint32_t index = 0;
    KeyDemand demand = KeyDemand::nothing;
    bool sets_queue_pair = false; ///< binds the mkey to the QP of the settings
    bool lists_in_memory = false; ///< the entries lie in memory
};

/// Start, length, rights and variant become those of the settings; the mkey becomes valid.
Send registration(Peer& peer, const KeyChange& change, const KeySettings& settings);
/// The mkey becomes free.
Send invalidation(const KeyChange& change);
/// Replaces the entries from \p first on.
Send translation_change(Peer& peer, const KeyChange& change, std::size_t first,
                        const std::vector<TranslationEntry>& entries);

} // namespace cxemu::transport::testing
