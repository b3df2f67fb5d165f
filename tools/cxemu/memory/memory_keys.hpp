// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Access to host memory through memory keys, with every check of the interface.
#pragma once

#include "hca/hca.hpp"
#include "hca/part.hpp"
#include "memory/access.hpp"
#include "memory/memory_key.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

namespace cxemu::memory {

/// Keys with a fixed meaning; QUERY_SPECIAL_CONTEXTS reports them. No memory key has their index.
struct SpecialKeys {
    static constexpr std::uint32_t terminate_scatter_list =
        hwtab::value<hwtab::special_lkey, "terminate_scatter_list">;
};

/// A range behind a key, and what shall be done with it.
struct Access {
    std::uint32_t key = 0;
    std::uint64_t address = 0; ///< in the key's address space
    std::uint64_t length = 0;  ///< bytes; 0 is checked like any other
    AccessRight right = AccessRight::local_read;
};

template <typename T>
using AccessResult = std::expected<T, AccessFault>;

struct AccessStatistics {
    std::uint64_t translations = 0;
    std::uint64_t faults = 0;
    std::uint64_t umr_executed = 0;
    std::uint64_t umr_refused = 0;
};

class MemoryKeys final : public hca::Part {
public:
    explicit MemoryKeys(hca::Hca& hca) : hca_(hca) {}

    /// The bus addresses of a range, in order, neighbours joined. An access of length 0 yields no
    /// range.
    AccessResult<std::vector<BusRange>> translate(Accessor accessor, const Access& access);

    /// Copies the range into \p out. \pre out.size() == access.length
    AccessResult<void> read(Accessor accessor, const Access& access, std::span<std::byte> out);

    /// Copies \p data into the range. Nothing is written when the keys refuse any byte.
    /// \pre data.size() == access.length
    AccessResult<void> write(Accessor accessor, const Access& access,
                             std::span<const std::byte> data);

    /// Takes bytes [offset, offset + out.size()) of what \p list describes (local read).
    /// \pre the list is long enough
    AccessResult<void> gather(Accessor accessor, std::span<const DataSegment> list,
                              std::uint64_t offset, std::span<std::byte> out);

    /// Writes \p data to bytes [offset, offset + data.size()) of what \p list describes (local
    /// write). Segments before the faulty one have been written when this fails.
    /// \pre the list is long enough
    AccessResult<void> scatter(Accessor accessor, std::span<const DataSegment> list,
                               std::uint64_t offset, std::span<const std::byte> data);

    /// Replaces the 8 bytes at \p address by \p change of them, for the peer (remote atomic), in
    /// one step as the processors of the host see it.
    /// \param change gets and gives the big-endian value of the memory
    /// \return the value before; bad_translation when \p address isn't a multiple of 8
    AccessResult<std::uint64_t> modify(Accessor accessor, std::uint32_t key, std::uint64_t address,
                                       const std::function<std::uint64_t(std::uint64_t)>& change);

    /// Invalidates \p key for the peer (send with invalidate): it becomes free.
    /// \return no_right when the key doesn't allow it; foreign_queue_pair for a window that is
    ///         bound to another queue pair
    AccessResult<void> invalidate(Accessor accessor, std::uint32_t key);

    /// The memory key that \p key means. \return unknown_key or stale_key
    AccessResult<MemoryKey*> find(std::uint32_t key) const;

    [[nodiscard]] hca::Hca& hca() const { return hca_; }
    AccessStatistics& counters() { return statistics_; }

    // --- hca::Part
    [[nodiscard]] std::string_view name() const override { return "memory_keys"; }
    [[nodiscard]] nlohmann::json statistics() const override;

private:
    AccessResult<void> resolve(Accessor accessor, const Access& access, std::uint32_t depth,
                               std::vector<BusRange>& ranges);
    hca::Hca& hca_;
    AccessStatistics statistics_;
};

} // namespace cxemu::memory
