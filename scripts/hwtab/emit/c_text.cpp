// SPDX-License-Identifier: GPL-2.0-or-later
#include "emit/c_text.hpp"

#include "emit/text.hpp"

#include <algorithm>
#include <limits>

namespace hwtab::emit {

namespace {

constexpr std::size_t line_width = 100;
constexpr std::size_t tab_width = 8;

std::string joined(const std::vector<std::string>& parameters) {
    std::string result;
    for (const std::string& parameter : parameters) {
        result += join(result.empty() ? "" : ", ", parameter);
    }
    return result;
}

/// The parameters after `head`, continued below the opening parenthesis.
std::string broken(const std::string& head, const std::vector<std::string>& parameters) {
    const std::string margin =
        std::string(head.size() / tab_width, '\t') + std::string(head.size() % tab_width, ' ');
    std::string result = head;
    std::size_t column = head.size();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const std::string part = parameters[i] + (i + 1 < parameters.size() ? "," : ")");
        if (i > 0 && column + 1 + part.size() > line_width) {
            result += "\n" + margin;
            column = head.size();
        } else if (i > 0) {
            result += ' ';
            ++column;
        }
        result += part;
        column += part.size();
    }
    return result;
}

} // namespace

std::string c_name(const Layout& layout) {
    return join("hw_", identifier(layout.name));
}

std::string c_name(const Enumeration& enumeration, const Value& value) {
    return upper(join("hw_", identifier(enumeration.name), '_', identifier(value.name)));
}

std::string c_name(const Command& command) {
    return upper(join("hw_cmd_", identifier(command.name)));
}

std::string c_name(const Register& entry) {
    return upper(join("hw_register_", identifier(entry.name)));
}

bool is_wide(const Enumeration& enumeration) {
    return std::ranges::any_of(enumeration.values, [](const Value& value) {
        return value.value > std::numeric_limits<std::uint32_t>::max();
    });
}

std::string declarator(std::string_view type, const std::string& name,
                       const std::vector<std::string>& parameters) {
    const std::string_view space = type.ends_with('*') ? "" : " ";
    std::string line = join(type, space, name, '(', joined(parameters), ')');
    if (line.size() <= line_width) {
        return line;
    }
    const std::string two_lines = join(name, '(', joined(parameters), ')');
    return join(type, '\n',
                two_lines.size() <= line_width ? two_lines : broken(name + "(", parameters));
}

std::string inline_function(std::string_view type, const std::string& name,
                            const std::vector<std::string>& parameters, std::string_view body) {
    return join(declarator(join("static __always_inline ", type), name, parameters), "\n{\n", body,
                "}\n");
}

std::string quoted_name(const Layout& layout, const Field& field) {
    return join('"', layout.name, '.', field.name, '"');
}

std::uint32_t low_bit(const Field& field) {
    return bits_per_word - (field.offset % bits_per_word) - field.width;
}

} // namespace hwtab::emit
