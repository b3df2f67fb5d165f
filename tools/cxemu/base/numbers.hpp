// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Numbers in user input.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cxemu {

/// Parses a complete decimal number, or a hexadecimal one with prefix 0x.
/// \return nothing for other texts, or beyond 64 bits
std::optional<std::uint64_t> parse_number(std::string_view text);

/// 1 to \p digits hexadecimal digits, with optional prefix 0x. \return nothing for other texts
std::optional<std::uint64_t> parse_hexadecimal(std::string_view text, std::size_t digits);

} // namespace cxemu
