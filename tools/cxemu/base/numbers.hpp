// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Numbers as users write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cxemu {

/// A whole text that is a decimal number, or a hexadecimal one with 0x in front.
/// \return nothing when it is something else, or beyond 64 bits
std::optional<std::uint64_t> parse_number(std::string_view text);

/// 1 to \p digits hexadecimal digits, with or without 0x in front. \return nothing for other texts
std::optional<std::uint64_t> parse_hexadecimal(std::string_view text, std::size_t digits);

} // namespace cxemu
