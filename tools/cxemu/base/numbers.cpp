// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/numbers.hpp"

#include <charconv>
#include <system_error>

namespace cxemu {
namespace {

constexpr std::string_view hexadecimal_prefix = "0x";

std::optional<std::uint64_t> parse(std::string_view digits, int base) {
    std::uint64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, value, base);
    if (parsed.ec != std::errc() || parsed.ptr != end)
        return {};
    return value;
}

} // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) {
    if (text.starts_with(hexadecimal_prefix))
        return parse(text.substr(hexadecimal_prefix.size()), 16);
    return parse(text, 10);
}

std::optional<std::uint64_t> parse_hexadecimal(std::string_view text, std::size_t digits) {
    if (text.starts_with(hexadecimal_prefix))
        text.remove_prefix(hexadecimal_prefix.size());
    if (text.size() > digits)
        return {};
    return parse(text, 16);
}

} // namespace cxemu
