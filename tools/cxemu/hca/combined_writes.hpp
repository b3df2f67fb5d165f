// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Write-combining processors of a host: 8-byte writes to a BlueFlame register leave them in blocks
/// of 64 bytes, so a WQE arrives in one write.
///
/// Processors of a virtual machine do not combine writes, because QEMU forwards each write. This
/// class models the combining between the processors and the device.
#pragma once

#include "base/event_loop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace cxemu::hca {

/// A write that leaves the processor.
struct CombinedWrite {
    std::uint32_t page = 0;
    std::uint32_t offset = 0; ///< in the page; start of a BlueFlame register
    bool whole = false;       ///< a complete WQE, in full WQEBBs
    std::vector<std::byte> bytes;
};

class CombinedWrites {
public:
    static constexpr std::size_t piece_size = 8;
    static constexpr std::size_t block_size = 64;
    /// How long a processor holds back an incomplete WQE.
    static constexpr auto patience = std::chrono::milliseconds(1);

    /// Destination of a write.
    struct Place {
        std::uint32_t page = 0;
        std::uint32_t offset = 0;        ///< in the page
        std::uint32_t buffer_offset = 0; ///< in its BlueFlame register
        std::uint32_t buffer_size = 0;   ///< bytes
    };

    /// \param sink receives the combined writes
    CombinedWrites(EventLoop& loop, std::function<void(const CombinedWrite&)> sink);

    /// An 8-byte write. If it does not continue the held back data of its page, that data is
    /// flushed first.
    /// \return false if it neither starts nor continues a WQE
    bool take(const Place& place, std::span<const std::byte, piece_size> piece);

    /// Flushes the held back data of a page, or of all pages.
    void flush(std::uint32_t page);
    void flush();
    /// Discards all held back data.
    void drop();

private:
    struct Kept {
        CombinedWrite write;
        EventLoop::TimePoint since;
    };

    static bool goes_on(const Kept& kept, const Place& place);
    void flush_old();

    EventLoop& loop_;
    std::function<void(const CombinedWrite&)> sink_;
    std::map<std::uint32_t, Kept> kept_; ///< by page
    Timer timer_;
};

} // namespace cxemu::hca
