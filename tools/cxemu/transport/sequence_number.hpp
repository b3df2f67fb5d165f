// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// 24-bit sequence numbers with wrap-around: of packets (PSN) and of messages (MSN, SSN).
#pragma once

#include <cstdint>

namespace cxemu::transport {

class SequenceNumber {
public:
    static constexpr std::uint32_t mask = 0xff'ffff;
    /// Half of the number space: numbers in the half before the expected one are duplicates, those
    /// in the half after it are early (IBA volume 1, 9.7.1).
    static constexpr std::uint32_t half = 0x80'0000;

    constexpr SequenceNumber() = default;
    /// Takes the low 24 bits.
    constexpr explicit SequenceNumber(std::uint64_t value)
        : value_(static_cast<std::uint32_t>(value) & mask) {}

    [[nodiscard]] constexpr std::uint32_t value() const { return value_; }

    constexpr SequenceNumber operator+(std::uint32_t steps) const {
        return SequenceNumber(value_ + steps);
    }
    constexpr SequenceNumber operator-(std::uint32_t steps) const {
        return SequenceNumber(value_ - steps);
    }
    constexpr SequenceNumber& operator+=(std::uint32_t steps) { return *this = *this + steps; }

    /// Distance from \p start to this number, 0 to 2^24 - 1.
    [[nodiscard]] constexpr std::uint32_t after(SequenceNumber start) const {
        return (value_ - start.value_) & mask;
    }
    /// True if this number is one of the 2^23 before \p other.
    [[nodiscard]] constexpr bool precedes(SequenceNumber other) const {
        return after(other) >= half;
    }

    constexpr bool operator==(const SequenceNumber&) const = default;

private:
    std::uint32_t value_ = 0;
};

using Psn = SequenceNumber;
using Msn = SequenceNumber;

} // namespace cxemu::transport
