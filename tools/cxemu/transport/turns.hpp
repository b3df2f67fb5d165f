// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Connections that have something to send, one after the other.
#pragma once

#include "base/event_loop.hpp"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace cxemu::transport {

/// Each that asks gets one turn in the next round of the event loop. What it sends then is under
/// way while the others have theirs.
class Turns {
public:
    /// \param give gives a turn to the connection of a queue pair, if it is still there
    Turns(EventLoop& loop, std::function<void(std::uint32_t)> give)
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
