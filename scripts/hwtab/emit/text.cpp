// SPDX-License-Identifier: GPL-2.0-or-later
#include "emit/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace hwtab::emit {

namespace {

constexpr std::size_t comment_width = 100;
constexpr std::size_t tab_width = 8;

// Names that a field may have in the tables, but a parameter in kernel C may not.
constexpr std::array<std::string_view, 20> not_variables{
    "auto",    "break",    "case",  "char",  "const",    "continue", "current",
    "default", "double",   "else",  "enum",  "extern",   "float",    "int",
    "long",    "register", "short", "union", "unsigned", "volatile",
};

} // namespace

std::string hex(std::uint64_t value, std::size_t digits) {
    constexpr std::string_view symbols = "0123456789abcdef";
    std::string reversed;
    do {
        reversed += symbols[value % symbols.size()];
        value /= symbols.size();
    } while (value != 0 || reversed.size() < digits);
    std::ranges::reverse(reversed);
    return "0x" + reversed;
}

std::string upper(std::string_view text) {
    std::string result{text};
    std::ranges::transform(result, result.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return result;
}

std::string identifier(std::string_view name) {
    std::string result{name};
    std::ranges::replace_if(result, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return result;
}

std::string variable(std::string_view name) {
    std::string result = identifier(name);
    if (std::ranges::find(not_variables, result) != not_variables.end()) {
        result += '_';
    }
    return result;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
    std::vector<std::string> lines(1);
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) {
            lines.emplace_back();
        }
        if (!lines.back().empty()) {
            lines.back() += ' ';
        }
        lines.back() += word;
    }
    return lines;
}

std::string comment(std::string_view text, std::string_view indent) {
    const std::size_t column = indent.size() * tab_width;
    if (column + text.size() + 6 <= comment_width) {
        return join(indent, "/* ", text, " */\n");
    }
    std::string block = join(indent, "/*\n");
    for (const std::string& part : wrap(text, comment_width - column - 3)) {
        block += join(indent, " * ", part, '\n');
    }
    return block + join(indent, " */\n");
}

std::string_view without_stop(std::string_view text) {
    if (text.ends_with('.')) {
        text.remove_suffix(1);
    }
    return text;
}

} // namespace hwtab::emit
