// SPDX-License-Identifier: GPL-2.0-or-later
#include "emit/c_accessors.hpp"

#include "emit/c_text.hpp"
#include "emit/catalogue.hpp"
#include "emit/text.hpp"

namespace hwtab::emit {

namespace {

/// Byte offset of the field, or of its word.
std::string place_of(const Field& field) {
    constexpr std::size_t digits = 2;
    const std::uint32_t unit = shape_of(field) == Shape::bits ? bits_per_word : bits_per_byte;
    return hex(std::uint64_t{field.offset} / unit * unit / bits_per_byte, digits);
}

/// `MACRO(layout, field, place, more)` with the meaning after it, or above it.
std::string line(const Layout& layout, const Field& field, std::string_view macro,
                 std::string_view suffix, const std::string& more) {
    constexpr std::size_t width = 100;
    const std::string call = join(macro, '(', identifier(layout.name), ", ", identifier(field.name),
                                  suffix, ", ", place_of(field), more, ')');
    const std::string behind = join(call, " /* ", field.meaning, " */\n");
    return behind.size() <= width + 1 ? behind : join(comment(field.meaning), call, '\n');
}

std::string numbers_line(const Layout& layout, const Field& field) {
    return line(layout, field, join("HW_U", field.width, 'S'), "", join(", ", field.count));
}

/// @param suffix appended to the name of the field, to distinguish alternatives.
std::string place_line(const Layout& layout, const Field& field, const std::string& type,
                       const std::string& suffix = "") {
    return field.is_array() && field.is_structured()
               ? line(layout, field, "HW_PLACES", suffix, join(", ", type, ", ", field.count))
               : line(layout, field, "HW_PLACE", suffix, ", " + type);
}

std::string structure_lines(const Layout& layout, const Field& field) {
    if (field.layout != nullptr) {
        return place_line(layout, field, join("struct ", c_name(*field.layout)));
    }
    std::string result;
    for (const Layout* alternative : field.alternatives) {
        result += place_line(layout, field, join("struct ", c_name(*alternative)),
                             "_" + identifier(alternative->name));
    }
    return result;
}

std::string lines(const Layout& layout, const Field& field) {
    switch (shape_of(field)) {
    case Shape::bits:
        return line(layout, field, "HW_BITS", "",
                    join(", ", low_bit(field) + field.width - 1, ", ", low_bit(field)));
    case Shape::word64:
        return line(layout, field, "HW_U64", "", "");
    case Shape::numbers:
        return numbers_line(layout, field);
    case Shape::bytes:
        return place_line(layout, field, "u8");
    case Shape::structure:
    case Shape::sequence:
        return structure_lines(layout, field);
    case Shape::list:
        return {}; // a member of the structure
    }
    return {};
}

} // namespace

std::string c_accessors(const Layout& layout) {
    std::string result;
    for (const Field& field : layout.fields) {
        if (!field.is_reserved() && !field.is_list()) {
            result += lines(layout, field);
        }
    }
    return result;
}

} // namespace hwtab::emit
