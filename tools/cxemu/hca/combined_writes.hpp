// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The processors of a host that combine writes: what is written to a BlueFlame buffer in pieces of
/// 8 bytes leaves them in blocks of 64, so a request arrives at once.
///
/// The processors of a virtual machine don't: QEMU passes on each write as it is. This stands
/// between them and the device.
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

/// What leaves the processor.
struct CombinedWrite {
    std::uint32_t page = 0;
    std::uint32_t offset = 0; ///< in the page; a BlueFlame buffer begins there
    bool whole = false;       ///< the request whose control segment begins it, in whole blocks
    std::vector<std::byte> bytes;
};

class CombinedWrites {
public:
    static constexpr std::size_t piece_size = 8;
    static constexpr std::size_t block_size = 64;
    /// How long a processor keeps back what is no whole request.
    static constexpr auto patience = std::chrono::milliseconds(1);

    /// Where a piece goes.
    struct Place {
        std::uint32_t page = 0;
        std::uint32_t offset = 0;        ///< in the page
        std::uint32_t buffer_offset = 0; ///< in its BlueFlame buffer
        std::uint32_t buffer_size = 0;   ///< bytes
    };

    /// \param sink takes what leaves the processors
    CombinedWrites(EventLoop& loop, std::function<void(const CombinedWrite&)> sink);

    /// A piece is written. What was kept back of its page, and doesn't go with it, leaves first.
    /// \return false if it is nothing that a request begins with, or goes on with
    bool take(const Place& place, std::span<const std::byte, piece_size> piece);

    /// What is kept back leaves: of a page, or everything.
    void flush(std::uint32_t page);
    void flush();
    /// What is kept back never leaves.
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
