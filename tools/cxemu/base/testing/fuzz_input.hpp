// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Interprets the input bytes of a fuzzer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cxemu::testing {

/// Takes integers from the input; returns zero at its end.
class FuzzInput {
public:
    /// @param bytes the input, which outlives this
    explicit FuzzInput(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    [[nodiscard]] bool empty() const { return bytes_.empty(); }
    std::uint8_t byte() {
        if (bytes_.empty())
            return 0;
        const std::uint8_t value = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return value;
    }
    /// @param bytes its size, 1 to 8; the most significant byte comes first
    std::uint64_t number(int bytes) {
        std::uint64_t value = 0;
        for (int i = 0; i < bytes; ++i)
            value = (value << 8U) | byte();
        return value;
    }
    template <typename T, std::size_t count>
    T one_of(const std::array<T, count>& values) {
        return values[byte() % count];
    }

private:
    std::span<const std::uint8_t> bytes_;
};

} // namespace cxemu::testing
