// SPDX-License-Identifier: GPL-2.0-or-later
#include "emit/banner.hpp"
#include "emit/c_accessors.hpp"
#include "emit/c_text.hpp"
#include "emit/emitters.hpp"
#include "emit/text.hpp"

#include <algorithm>

namespace hwtab::emit {

namespace {

/// How one field is written down: a line that defines functions, a line of a table.
struct Entry {
    std::string functions;
    std::string row;
};

bool is_number(const Field& field) {
    const Shape shape = shape_of(field);
    return shape == Shape::bits || shape == Shape::word64 || shape == Shape::numbers;
}

Entry number_entry(const Layout& layout, const Field& field) {
    const std::string names = join(identifier(layout.name), ", ", identifier(field.name));
    const std::string_view form = field.is_array() ? "NUMBERS(" : "NUMBER(";
    return {.functions = join("HW_ACCESS_", form, names, ")\n"),
            .row = join("\tHW_NUMBER(", names, ", ", field.offset, ", ", field.width, ", ",
                        field.count, "),\n")};
}

Entry place_entry(const Layout& layout, const Field& field, const std::string& suffix) {
    const std::string names = join(identifier(layout.name), ", ", identifier(field.name), suffix);
    const bool indexed = shape_of(field) == Shape::sequence;
    const std::uint32_t stride = field.width / bits_per_byte;
    return {.functions = join("HW_ACCESS_", indexed ? "PLACES(" : "PLACE(", names, ")\n"),
            .row = join("\tHW_PLACE(", names, ", ", field.offset / bits_per_byte, ", ", stride,
                        ", ", indexed ? field.count : 1, "),\n")};
}

std::vector<Entry> number_entries(const Layout& layout) {
    std::vector<Entry> entries;
    for (const Field& field : layout.fields) {
        if (!field.is_reserved() && is_number(field)) {
            entries.push_back(number_entry(layout, field));
        }
    }
    return entries;
}

std::vector<Entry> place_entries(const Layout& layout) {
    std::vector<Entry> entries;
    for (const Field& field : layout.fields) {
        if (field.is_reserved() || field.is_list() || is_number(field)) {
            continue;
        }
        if (field.alternatives.empty()) {
            entries.push_back(place_entry(layout, field, ""));
        }
        for (const Layout* alternative : field.alternatives) {
            entries.push_back(place_entry(layout, field, "_" + identifier(alternative->name)));
        }
    }
    return entries;
}

/// Which of the layout's numbers `wanted` is.
std::size_t number_index(const Layout& layout, const Field* wanted) {
    std::size_t index = 0;
    for (const Field& field : layout.fields) {
        if (&field == wanted) {
            break;
        }
        index += !field.is_reserved() && is_number(field) ? 1 : 0;
    }
    return index;
}

/// `v[0], v[1], v[2]`
std::string values_in_order(std::size_t count) {
    std::string result;
    for (std::size_t i = 0; i < count; ++i) {
        result += join(i == 0 ? "v[" : ", v[", i, ']');
    }
    return result;
}

std::string indices(const Layout& layout, const std::vector<const Field*>& fields) {
    std::string result;
    for (const Field* field : fields) {
        result += join(result.empty() ? "" : ", ", number_index(layout, field));
    }
    return result;
}

std::vector<Entry> packer_entries(const Layout& layout) {
    std::vector<Entry> entries;
    const std::uint32_t words = layout.size * bits_per_byte / bits_per_word;
    for (std::uint32_t word = 0; layout.kind == Kind::work_queue && word < words; ++word) {
        const std::vector<const Field*> fields = packed_fields(layout, word);
        if (fields.empty()) {
            continue;
        }
        const std::string packer = packer_name(layout, word);
        entries.push_back(
            {.functions = join(entries.empty() ? "" : "\n", "static __be32 test_", packer,
                               "(const u64 *v)\n{\n\treturn ", packer, '(',
                               values_in_order(fields.size()), ");\n}\n"),
             .row = join("\t{ ", word * sizeof(std::uint32_t), ", test_", packer, ", ",
                         fields.size(), ", { ", indices(layout, fields), " } },\n")});
    }
    return entries;
}

std::vector<const Field*> filled_fields(const Layout& layout) {
    std::vector<const Field*> fields;
    for (const Field& field : layout.fields) {
        if (!field.is_reserved() && !field.is_alias) {
            fields.push_back(&field);
        }
    }
    return fields;
}

std::string fill_function(const Layout& layout) {
    const std::string arguments = values_in_order(filled_fields(layout).size());
    return join("static void fill_", identifier(layout.name), "(void *s, const u64 *v)\n{\n\t",
                c_name(layout), "_pack(s, ", arguments, ");\n}\n\n");
}

/// The functions and the table of one kind of field.
std::string table(const Layout& layout, const std::vector<Entry>& entries, std::string_view type,
                  std::string_view name) {
    if (entries.empty()) {
        return {};
    }
    std::string result;
    for (const Entry& entry : entries) {
        result += entry.functions;
    }
    result +=
        join("\nstatic const struct ", type, ' ', identifier(layout.name), '_', name, "[] = {\n");
    for (const Entry& entry : entries) {
        result += entry.row;
    }
    return result + "};\n\n";
}

std::string reference(const Layout& layout, std::size_t count, std::string_view member,
                      std::string_view name) {
    if (count == 0) {
        return {};
    }
    return join("\t\t.", member, "s = ", identifier(layout.name), '_', name, ",\n\t\t.", member,
                "_count = ", count, ",\n");
}

std::string layout_row(const Layout& layout) {
    std::string result =
        join("\t{\n\t\t.name = \"", layout.name, "\",\n\t\t.size = ", layout.size, ",\n",
             reference(layout, number_entries(layout).size(), "number", "numbers"),
             reference(layout, place_entries(layout).size(), "place", "places"),
             reference(layout, packer_entries(layout).size(), "packer", "packers"));
    if (has_full_packer(layout)) {
        const auto fields = filled_fields(layout);
        result += join("\t\t.fill = fill_", identifier(layout.name),
                       ",\n\t\t.fill_count = ", fields.size(), ",\n\t\t.fill_fields = { ",
                       indices(layout, fields), " },\n");
    }
    return result + "\t},\n";
}

std::string content(const Catalogue& catalogue, const Group& group) {
    std::string result =
        join(banner(Comment::c_source, catalogue.dump_of(group)), "\n#include \"hw/", group.name,
             ".h\"\n#include \"../hw_accessors.h\"\n\n");
    for (const Layout* layout : group.layouts) {
        result += table(*layout, number_entries(*layout), "hw_number", "numbers") +
                  table(*layout, place_entries(*layout), "hw_place", "places") +
                  table(*layout, packer_entries(*layout), "hw_packer", "packers");
        result += has_full_packer(*layout) ? fill_function(*layout) : std::string{};
    }
    result += "static const struct hw_layout_case layouts[] = {\n";
    for (const Layout* layout : group.layouts) {
        result += layout_row(*layout);
    }
    return result + join("};\n\nHW_ACCESSOR_SUITE(", identifier(group.name), ");\n");
}

} // namespace

std::vector<File> emit_expectations(const Catalogue& catalogue) {
    std::vector<File> files;
    for (const Group* group : catalogue.groups()) {
        if (!group->layouts.empty()) {
            files.push_back({.path = join("kunit/generated/", group->name, "_kunit.c"),
                             .content = content(catalogue, *group)});
        }
    }
    return files;
}

} // namespace hwtab::emit
