// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Round-robin scheduling of connections with pending packets.
#pragma once

#include "base/event_loop.hpp"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace cxemu::transport {

/// Each connection that has requested a turn gets one in the next round of the event loop. Its
/// packets are outstanding during the turns of the others.
class SendScheduler {
public:
    /// \param give runs a turn of the connection of a QP, if it still exists
    SendScheduler(EventLoop& loop, std::function<void(std::uint32_t)> give)
        : give_(std::move(give)), timer_(loop, [this] { run(); }) {}

    /// \pre the connection hasn't asked since its last turn
    void ask(std::uint32_t queue_pair) {
        waiting_.push_back(queue_pair);
        if (!timer_.active())
            timer_.start(EventLoop::Duration::zero());
    }

    void clear() {
        waiting_.clear();
        timer_.stop();
    }

private:
    void run() {
        std::swap(waiting_, running_);
        for (const std::uint32_t queue_pair : running_)
            give_(queue_pair);
        running_.clear();
    }

    std::function<void(std::uint32_t)> give_;
    Timer timer_;
    std::vector<std::uint32_t> waiting_;
    std::vector<std::uint32_t> running_;
};

} // namespace cxemu::transport
