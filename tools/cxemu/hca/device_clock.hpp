// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The clock of the internal timer and of timestamps in CQEs.
#pragma once

#include "base/event_loop.hpp"

#include <chrono>
#include <cstdint>

namespace cxemu::hca {

/// Counts cycles of the device's own frequency.
class DeviceClock {
public:
    /// \param frequency kHz
    DeviceClock(const EventLoop& loop, std::uint64_t frequency)
        : loop_(loop), frequency_(frequency) {}

    /// Whole seconds and the rest are converted separately, so that the product with the frequency
    /// does not overflow.
    [[nodiscard]] std::uint64_t cycles() const {
        const auto now = nanoseconds();
        return now / per_second * frequency_ * per_khz + now % per_second * frequency_ / per_ms;
    }

    /// Time of the host, whatever the frequency.
    [[nodiscard]] std::uint64_t nanoseconds() const {
        const auto since = std::chrono::nanoseconds(loop_.now().time_since_epoch());
        return static_cast<std::uint64_t>(since.count());
    }

private:
    static constexpr std::uint64_t per_second = 1'000'000'000;
    static constexpr std::uint64_t per_ms = 1'000'000;
    static constexpr std::uint64_t per_khz = 1'000;

    const EventLoop& loop_;
    std::uint64_t frequency_;
};

} // namespace cxemu::hca
