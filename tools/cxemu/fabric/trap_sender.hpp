// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Traps: notices to the subnet manager, repeated until TrapRepress.
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

/// Notice attribute: header and details; the sender fills in issuer and count.
using Notice = std::array<std::byte, hwtab::notice.size>;

class TrapSender {
public:
    /// Maximum number of pending traps; a new one replaces the oldest.
    static constexpr std::size_t capacity = 16;

    /// \param send sends a MAD to the subnet manager; false when it is unreachable
    TrapSender(EventLoop& loop, std::function<bool(const Mad&)> send);

    /// Sends the notice repeatedly until repress() or clear(). It replaces a pending notice with
    /// the same number.
    /// \param interval between repetitions; at least min_interval
    void raise(const Notice& notice, EventLoop::Duration interval);

    /// Handles TrapRepress: stops the trap with this transaction id or, if there is none, the trap
    /// with the same number.
    void repress(const Mad& request);

    /// The oldest pending notice, for Get(Notice).
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
