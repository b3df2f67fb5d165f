// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Traps: notices to the subnet manager, repeated until it asks to stop.
#pragma once

#include "base/event_loop.hpp"
#include "fabric/mad.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>

namespace cxemu::fabric {

/// Notice attribute: header and details, without issuer and count, which the sender fills in.
using Notice = std::array<std::byte, hwtab::notice.size>;

class TrapSender {
public:
    /// Kinds of traps that wait at a time; an older one makes room.
    static constexpr std::size_t capacity = 16;

    /// \param send sends a datagram to the subnet manager; false when there is no way to it now
    TrapSender(EventLoop& loop, std::function<bool(const Mad&)> send);

    /// Sends the notice, now and again, until repress() or clear(). A notice with the same number
    /// as one that waits replaces it.
    /// \param interval between two sendings; at least min_interval is kept
    void raise(const Notice& notice, EventLoop::Duration interval);

    /// TrapRepress has arrived: the trap with this transaction id, or, if there is none, the one
    /// with the same trap number, isn't repeated any more.
    void repress(const Mad& request);

    /// The oldest notice that waits, for Get(Notice).
    [[nodiscard]] std::optional<Notice> oldest() const;
    /// Set(Notice): drops the oldest notice.
    void drop_oldest();

    void clear();
    [[nodiscard]] std::size_t waiting() const { return traps_.size(); }
    [[nodiscard]] std::uint64_t sent() const { return sent_; }

    static constexpr EventLoop::Duration min_interval = std::chrono::milliseconds(500);

private:
    struct Trap {
        std::uint64_t transaction;
        Notice notice;
        EventLoop::Duration interval;
        EventLoop::TimePoint due;
    };

    void transmit(Trap& trap);
    void send_due();
    void schedule();

    EventLoop& loop_;
    std::function<bool(const Mad&)> send_;
    std::list<Trap> traps_;
    Timer timer_;
    std::uint64_t next_transaction_ = 1;
    bool toggle_ = false;
    std::uint64_t sent_ = 0;
};

} // namespace cxemu::fabric
