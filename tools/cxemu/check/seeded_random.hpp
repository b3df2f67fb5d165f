// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Seeded random numbers, identical on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cxemu::check {

/// SplitMix64. The distributions of the standard library differ between its implementations, but
/// the faults of a plan must be reproducible.
class SeededRandom {
public:
    explicit SeededRandom(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        state_ += 0x9e37'79b9'7f4a'7c15;
        std::uint64_t value = state_;
        value = (value ^ (value >> 30U)) * 0xbf58'476d'1ce4'e5b9;
        value = (value ^ (value >> 27U)) * 0x94d0'49bb'1331'11eb;
        return value ^ (value >> 31U);
    }

    /// \return 0 to \p count - 1. \pre \p count is not 0
    std::uint64_t below(std::uint64_t count) { return next() % count; }

    void fill(std::span<std::byte> bytes) {
        for (std::byte& byte : bytes)
            byte = static_cast<std::byte>(next());
    }

private:
    std::uint64_t state_;
};

} // namespace cxemu::check
