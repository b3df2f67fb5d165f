// SPDX-License-Identifier: GPL-2.0-or-later
#include "emit/c_accessors.hpp"

#include "emit/c_text.hpp"
#include "emit/catalogue.hpp"
#include "emit/text.hpp"

namespace hwtab::emit {

namespace {

/// One field of one structure, and the names that its functions are made from.
struct Member {
    const Layout& layout;
    const Field& field;

    [[nodiscard]] std::string function(std::string_view verb) const {
        return join(c_name(layout), verb, identifier(field.name));
    }
    [[nodiscard]] std::string writable() const { return join("struct ", c_name(layout), " *s"); }
    [[nodiscard]] std::string readable() const { return "const " + writable(); }
    [[nodiscard]] std::string name() const { return quoted_name(layout, field); }
};

/// `[0x0c 31:24] meaning`
std::string place_and_meaning(const Field& field) {
    constexpr std::size_t digits = 2;
    const std::string offset =
        hex(std::uint64_t{field.offset} / bits_per_word * sizeof(std::uint32_t), digits);
    if (shape_of(field) == Shape::bits) {
        const std::uint32_t low = low_bit(field);
        const std::string high =
            field.width == 1 ? std::string{} : join(low + field.width - 1, ':');
        return join('[', offset, ' ', high, low, "] ", field.meaning);
    }
    return join('[', offset, "] ", field.meaning);
}

std::string bits_accessors(const Member& m) {
    const std::string position = join(low_bit(m.field), ", ", m.field.width);
    return join(
        inline_function("u32", m.function("_get_"), {m.readable()},
                        join("\treturn hw_get_bits(", word_of(m.field), ", ", position, ");\n")),
        '\n',
        inline_function("void", m.function("_set_"), {m.writable(), "u64 value"},
                        join("\thw_set_field(", word_of(m.field), ", ", position, ", value, ",
                             m.name(), ");\n")));
}

std::string word64_accessors(const Member& m) {
    const std::string place = "&" + word_of(m.field);
    return join(inline_function("u64", m.function("_get_"), {m.readable()},
                                join("\treturn hw_get_u64(", place, ");\n")),
                '\n',
                inline_function("void", m.function("_set_"), {m.writable(), "u64 value"},
                                join("\thw_set_u64(", place, ", value);\n")));
}

/// Calls that read and write element `index`.
struct ElementCalls {
    std::string_view type;
    std::string get;
    std::string set;
};

ElementCalls calls_for(const Field& field) {
    const std::uint32_t word = field.offset / bits_per_word;
    const std::string place = join("&s->dw[", word);
    if (field.width == 2 * bits_per_word) {
        return {.type = "u64",
                .get = join("hw_get_u64(", place, " + 2 * index])"),
                .set = join("hw_set_u64(", place, " + 2 * index], value)")};
    }
    if (field.width == bits_per_word) {
        return {.type = "u32",
                .get = join("hw_get_bits(s->dw[", word, " + index], 0, 32)"),
                .set = join("hw_set_bits(", place, " + index], 0, 32, value)")};
    }
    const std::string_view index = field.offset % bits_per_word == 0 ? "index" : "index + 1";
    return {.type = "u32",
            .get = join("hw_get_u16_at(", place, "], ", index, ')'),
            .set = join("hw_set_u16_at(", place, "], ", index, ", value)")};
}

std::string index_check(const Member& m) {
    return join("\thw_check_index(index, ", m.field.count, ", ", m.name(), ");\n");
}

std::string numbers_accessors(const Member& m) {
    const ElementCalls calls = calls_for(m.field);
    const std::string value_check =
        m.field.width == 2 * bits_per_word
            ? std::string{}
            : join("\thw_check_value(value, ", m.field.width, ", ", m.name(), ");\n");
    return join(inline_function(calls.type, m.function("_get_"),
                                {m.readable(), "unsigned int index"},
                                join(index_check(m), "\treturn ", calls.get, ";\n")),
                '\n',
                inline_function("void", m.function("_set_"),
                                {m.writable(), "unsigned int index", "u64 value"},
                                join(index_check(m), value_check, '\t', calls.set, ";\n")));
}

/// Two functions that give the address of what lies at the field, for writing and for reading.
/// @param suffix behind the name of the field, to tell alternatives apart.
std::string pointer_accessors(const Member& m, std::string_view type,
                              std::string_view suffix = "") {
    const bool indexed = m.field.is_array() && m.field.is_structured();
    const auto parameters = [&](std::string structure) {
        std::vector<std::string> result{std::move(structure)};
        if (indexed) {
            result.emplace_back("unsigned int index");
        }
        return result;
    };
    const auto body = [&](std::string_view pointer) {
        return join(indexed ? index_check(m) : std::string{}, "\treturn ",
                    byte_of(m.field, pointer), indexed ? " + index" : "", ";\n");
    };
    const std::string writable = join(type, " *");
    const std::string readable = join("const ", type, " *");
    return join(inline_function(writable, m.function("_") + std::string{suffix},
                                parameters(m.writable()), body(writable)),
                '\n',
                inline_function(readable, m.function("_get_") + std::string{suffix},
                                parameters(m.readable()), body(readable)));
}

std::string structure_accessors(const Member& m) {
    if (m.field.layout != nullptr) {
        return pointer_accessors(m, join("struct ", c_name(*m.field.layout)));
    }
    std::string result;
    for (const Layout* alternative : m.field.alternatives) {
        result += join(result.empty() ? "" : "\n",
                       pointer_accessors(m, join("struct ", c_name(*alternative)),
                                         "_" + identifier(alternative->name)));
    }
    return result;
}

std::string accessors(const Member& m) {
    switch (shape_of(m.field)) {
    case Shape::bits:
        return bits_accessors(m);
    case Shape::word64:
        return word64_accessors(m);
    case Shape::numbers:
        return numbers_accessors(m);
    case Shape::bytes:
        return pointer_accessors(m, "u8");
    case Shape::structure:
    case Shape::sequence:
        return structure_accessors(m);
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
            result += join('\n', comment(place_and_meaning(field)),
                           accessors(Member{.layout = layout, .field = field}));
        }
    }
    return result;
}

} // namespace hwtab::emit
