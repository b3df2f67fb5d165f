// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// A string as a template argument, which the compiler can look up and print in a message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace hwtab {

template <std::size_t N>
struct FixedString {
    char text[N]{};

    constexpr FixedString() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): get<"name"> needs the conversion
    consteval FixedString(const char (&literal)[N]) { std::copy_n(literal, N, text); }

    /// A copy of a string whose length the caller passes as template argument.
    static consteval FixedString copy_of(std::string_view from) {
        FixedString result;
        std::copy_n(from.begin(), std::min(from.size(), N - 1), result.text);
        return result;
    }

    [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }
};

} // namespace hwtab
