// SPDX-License-Identifier: GPL-2.0-or-later
#include "emit/c_accessors.hpp"
#include "emit/c_text.hpp"
#include "emit/catalogue.hpp"
#include "emit/text.hpp"

#include <algorithm>

namespace hwtab::emit {

namespace {

// A sequence of setters is easier to read than a function with more parameters than this.
constexpr std::size_t max_parameters = 8;

bool counts(const Field& field) {
    return !field.is_reserved() && !field.is_alias;
}

std::string packer(const Layout& layout, std::uint32_t word) {
    std::vector<std::string> parameters;
    std::string checks;
    std::string value;
    for (const Field* field : packed_fields(layout, word)) {
        const std::string name = variable(field->name);
        parameters.push_back("u32 " + name);
        if (field->width < bits_per_word) {
            checks += join("\thw_check_value(", name, ", ", field->width, ", ",
                           quoted_name(layout, *field), ");\n");
        }
        value += join(value.empty() ? "" : " | ", name);
        if (low_bit(*field) != 0) {
            value += join(" << ", low_bit(*field));
        }
    }
    return join("\n", inline_function("__be32", packer_name(layout, word), parameters,
                                      join(checks, "\treturn cpu_to_be32(", value, ");\n")));
}

std::string store_of_word(const Layout& layout, std::uint32_t word) {
    std::string arguments;
    for (const Field* field : packed_fields(layout, word)) {
        arguments += join(arguments.empty() ? "" : ", ", variable(field->name));
    }
    return arguments.empty()
               ? join("\ts->dw[", word, "] = 0;\n")
               : join("\ts->dw[", word, "] = ", packer_name(layout, word), '(', arguments, ");\n");
}

const Field* word64_at(const Layout& layout, std::uint32_t word) {
    for (const Field& field : layout.fields) {
        if (counts(field) && shape_of(field) == Shape::word64 &&
            field.offset / bits_per_word == word) {
            return &field;
        }
    }
    return nullptr;
}

std::string full_packer(const Layout& layout) {
    std::vector<std::string> parameters{join("struct ", c_name(layout), " *s")};
    for (const Field& field : layout.fields) {
        if (counts(field)) {
            const std::string_view type = shape_of(field) == Shape::word64 ? "u64 " : "u32 ";
            parameters.push_back(join(type, variable(field.name)));
        }
    }
    std::string body;
    for (std::uint32_t word = 0; word < layout.size * bits_per_byte / bits_per_word; ++word) {
        if (const Field* wide = word64_at(layout, word)) {
            body += join("\thw_set_u64(&s->dw[", word, "], ", variable(wide->name), ");\n");
            ++word; // both words are written
        } else {
            body += store_of_word(layout, word);
        }
    }
    return join("\n/* The whole structure; reserved bits become 0. */\n",
                inline_function("void", c_name(layout) + "_pack", parameters, body));
}

} // namespace

std::string packer_name(const Layout& layout, std::uint32_t word) {
    constexpr std::size_t digits = 2;
    return join(c_name(layout), "_pack_", hex(word * sizeof(std::uint32_t), digits).substr(2));
}

std::vector<const Field*> packed_fields(const Layout& layout, std::uint32_t word) {
    std::vector<const Field*> fields;
    for (const Field& field : layout.fields) {
        if (counts(field) && shape_of(field) == Shape::bits &&
            field.offset / bits_per_word == word) {
            fields.push_back(&field);
        }
    }
    return fields;
}

bool has_full_packer(const Layout& layout) {
    const auto is_number = [](const Field& field) {
        return !counts(field) || shape_of(field) == Shape::bits || shape_of(field) == Shape::word64;
    };
    return layout.kind == Kind::work_queue && layout.size != 0 &&
           std::ranges::all_of(layout.fields, is_number) &&
           std::ranges::count_if(layout.fields, counts) <= std::ptrdiff_t{max_parameters};
}

std::string c_packers(const Layout& layout) {
    if (layout.kind != Kind::work_queue) {
        return {};
    }
    std::string result;
    for (std::uint32_t word = 0; word < layout.size * bits_per_byte / bits_per_word; ++word) {
        if (!packed_fields(layout, word).empty()) {
            result += packer(layout, word);
        }
    }
    return has_full_packer(layout) ? result + full_packer(layout) : result;
}

} // namespace hwtab::emit
