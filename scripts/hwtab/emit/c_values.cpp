// SPDX-License-Identifier: GPL-2.0-or-later
#include "emit/c_values.hpp"

#include "emit/c_text.hpp"
#include "emit/text.hpp"

#include <algorithm>
#include <limits>

namespace hwtab::emit {

namespace {

/// `NAME = number,` with its meaning after it, or above it if the line would be too long.
std::string enumerator(const std::string& name, std::uint64_t number, std::string_view meaning) {
    constexpr std::size_t width = 100;
    constexpr std::size_t tab_width = 8;
    const std::string line = join('\t', name, " = ", hex(number), ',');
    if (meaning.empty()) {
        return line + '\n';
    }
    if (line.size() + tab_width + meaning.size() + 7 <= width) {
        return join(line, " /* ", meaning, " */\n");
    }
    return join(comment(meaning, "\t"), line, '\n');
}

bool needs_constants(const Enumeration& enumeration) {
    return enumeration.is_mask || std::ranges::any_of(enumeration.values, [](const Value& value) {
               return value.value > std::uint64_t{std::numeric_limits<std::int32_t>::max()};
           });
}

std::string constants(const Enumeration& enumeration) {
    const std::string_view suffix = is_wide(enumeration) ? "ULL" : "U";
    std::string result = comment(join(enumeration.name, ": ", enumeration.meaning));
    for (const Value& value : enumeration.values) {
        result += join(comment(value.meaning), "#define ", c_name(enumeration, value), '\t',
                       hex(value.value), suffix, '\n');
    }
    return result;
}

} // namespace

std::string c_values(const Enumeration& enumeration) {
    if (needs_constants(enumeration)) {
        return '\n' + constants(enumeration);
    }
    std::string result =
        join('\n', comment(enumeration.meaning), "enum hw_", identifier(enumeration.name), " {\n");
    for (const Value& value : enumeration.values) {
        result += enumerator(c_name(enumeration, value), value.value, value.meaning);
    }
    return result + "};\n";
}

std::string c_opcodes(const Group& group) {
    if (group.commands.empty()) {
        return {};
    }
    std::string result = "\n/* Opcodes of the commands below. */\nenum {\n";
    for (const Command* command : group.commands) {
        result += enumerator(c_name(*command), command->opcode, command->meaning);
    }
    return result + "};\n";
}

std::string c_registers(const Group& group) {
    if (group.registers.empty()) {
        return {};
    }
    std::string result = "\n/* Numbers of the access registers below. */\nenum {\n";
    for (const Register* entry : group.registers) {
        result += enumerator(c_name(*entry), entry->id, entry->meaning);
    }
    return result + "};\n";
}

std::string c_offsets(const Layout& layout) {
    if (!layout.in_place) {
        return {};
    }
    const std::string prefix = join("hw_", identifier(layout.name));
    std::string offsets =
        join("\n/* Offsets in ", layout.name,
             " of the words that hold its fields, in bytes. */\nenum ", prefix, "_offset {\n");
    std::string masks = join("\n/* Bits of the fields of ", layout.name, " in their words. */\n");
    for (const Field& field : layout.fields) {
        if (field.is_reserved()) {
            continue;
        }
        const std::uint32_t word = field.offset / bits_per_word * (bits_per_word / bits_per_byte);
        const std::string name = identifier(field.name);
        offsets += enumerator(upper(join(prefix, "_offset_", name)), word, {});
        if (field.width < bits_per_word && !field.is_array()) {
            masks += join("#define ", upper(join(prefix, "_mask_", name)), '\t',
                          hex(((std::uint64_t{1} << field.width) - 1) << low_bit(field)), "U\n");
        }
    }
    return join(offsets, "};\n", masks);
}

} // namespace hwtab::emit
