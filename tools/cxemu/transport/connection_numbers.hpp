// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Numbers of the DC connections of an adapter.
#pragma once

#include "base/event_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace cxemu::transport {

/// Each number is greater than all earlier ones, even those of an earlier process or before a
/// function reset, because it is derived from the clock.
class ConnectionNumbers {
public:
    explicit ConnectionNumbers(const EventLoop& loop) : loop_(loop) {}

    std::uint64_t next() {
        const auto now = std::chrono::nanoseconds(loop_.now().time_since_epoch()).count();
        last_ = std::max(last_ + 1, static_cast<std::uint64_t>(now));
        return last_;
    }

private:
    const EventLoop& loop_;
    std::uint64_t last_ = 0;
};

} // namespace cxemu::transport
