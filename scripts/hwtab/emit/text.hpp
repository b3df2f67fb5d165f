// SPDX-License-Identifier: GPL-2.0-or-later
/// @file
/// Building the text of generated files.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hwtab::emit {

inline void append(std::string& to, std::string_view part) {
    to += part;
}

inline void append(std::string& to, char part) {
    to += part;
}

template <std::integral Number>
void append(std::string& to, Number part) {
    to += std::to_string(part);
}

/// The parts one behind the other; numbers in decimal.
template <typename... Parts>
[[nodiscard]] std::string join(const Parts&... parts) {
    std::string result;
    (append(result, parts), ...);
    return result;
}

/// `0x` and at least `digits` hexadecimal digits, lower case.
[[nodiscard]] std::string hex(std::uint64_t value, std::size_t digits = 1);

[[nodiscard]] std::string upper(std::string_view text);

/// `name` as part of a C identifier: an underscore replaces each character that is not allowed.
[[nodiscard]] std::string identifier(std::string_view name);

/// `name` as the name of a C variable: an underscore is appended to keywords and macros of the
/// kernel.
[[nodiscard]] std::string variable(std::string_view name);

/// Lines of at most `width` characters, broken at blanks.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// A C comment of one line at `indent`, or a block if that line would be too long.
[[nodiscard]] std::string comment(std::string_view text, std::string_view indent = "");

/// `text` without a full stop at its end, so that more text can follow.
[[nodiscard]] std::string_view without_stop(std::string_view text);

} // namespace hwtab::emit
