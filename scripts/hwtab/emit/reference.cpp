// SPDX-License-Identifier: GPL-2.0-or-later
#include "emit/c_text.hpp"
#include "emit/emitters.hpp"
#include "emit/text.hpp"

#include <algorithm>

namespace hwtab::emit {

namespace {

/// Plain text for reStructuredText.
std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (std::string_view{"\\*`|_"}.contains(c)) {
            result += '\\';
        }
        result += c;
    }
    return result;
}

std::string code(std::string_view text) {
    return text.empty() ? std::string{} : join("``", text, "``");
}

std::string heading(std::string_view text, char line) {
    return join(text, '\n', std::string(text.size(), line), "\n\n");
}

std::string label(std::string_view kind, std::string_view name) {
    return join(".. _hw-", kind, '-', name, ":\n\n");
}

std::string link(std::string_view kind, std::string_view name) {
    return join(":ref:`", name, " <hw-", kind, '-', name, ">`");
}

/// A table; the first row is its heading.
class Table {
public:
    Table(std::string_view widths, const std::vector<std::string>& heading)
        : text_(join(".. list-table::\n   :header-rows: 1\n   :widths: ", widths, "\n\n")) {
        row(heading);
    }

    void row(const std::vector<std::string>& cells) {
        std::string_view lead = "   * - ";
        for (const std::string& cell : cells) {
            text_ += join(cell.empty() ? without_blank(lead) : lead, cell, '\n');
            lead = "     - ";
        }
    }

    [[nodiscard]] std::string text() const { return text_ + '\n'; }

private:
    static std::string_view without_blank(std::string_view lead) {
        return lead.substr(0, lead.size() - 1);
    }

    std::string text_;
};

std::string bits_of(const Field& field) {
    if (shape_of(field) == Shape::bits) {
        const std::uint32_t low = low_bit(field);
        return field.width == 1 ? join(low) : join(low + field.width - 1, ':', low);
    }
    if (field.is_structured()) {
        const std::string size = join(field.width / bits_per_byte, " bytes");
        return field.is_array() ? join(field.count, " × ", size) : size;
    }
    if (field.is_list() || field.is_array()) {
        const std::string count = field.is_list() ? "n" : join(field.count);
        return join(count, " × ", field.width);
    }
    return join(field.width);
}

std::string_view access_of(const Field& field) {
    return field.access == Access::read_only ? "device" : "";
}

/// The meaning of the values of a field: links to its structures and its enumeration.
std::string contents_of(const Field& field) {
    std::string result;
    for (const Layout* layout : structures_of(field)) {
        result += join(result.empty() ? "" : ", ", link("layout", layout->name));
    }
    if (field.values != nullptr) {
        result += link("values", field.values->name);
    }
    return result;
}

std::string page_of(const Layout& layout) {
    const std::string result =
        join(label("layout", layout.name), heading(layout.name, '-'), escaped(layout.meaning),
             layout.meaning.empty() ? "" : "\n\n", "Size: ", hex(layout.size),
             " bytes. In C: ", code(join("struct ", c_name(layout))), ".\n\n");
    Table table("10 10 25 10 15 50",
                {"Offset", "Bits", "Field", "Written by", "Values", "Meaning"});
    bool any = false;
    for (const Field& field : layout.fields) {
        if (field.is_reserved()) {
            continue;
        }
        any = true;
        table.row({hex(field.offset / bits_per_word * sizeof(std::uint32_t), 2), bits_of(field),
                   code(field.name), std::string{access_of(field)}, contents_of(field),
                   escaped(field.meaning)});
    }
    return result + (any ? table.text() : "All of it is reserved.\n\n");
}

std::string page_of(const Enumeration& enumeration) {
    Table table("20 30 50", {"Value", "Name", "Meaning"});
    for (const Value& value : enumeration.values) {
        table.row({hex(value.value), code(value.name), escaped(value.meaning)});
    }
    return join(label("values", enumeration.name), heading(enumeration.name, '-'),
                escaped(enumeration.meaning),
                enumeration.is_mask ? " The values are bits that can be combined." : "", "\n\n",
                table.text());
}

std::string commands_of(const Group& group) {
    if (group.commands.empty()) {
        return {};
    }
    Table table("10 25 20 20 50", {"Opcode", "Command", "Input", "Output", "Meaning"});
    for (const Command* command : group.commands) {
        std::string meaning = escaped(command->meaning);
        if (command->op_mods != nullptr) {
            meaning += join(" Variants: ", link("values", command->op_mods->name), '.');
        }
        table.row({hex(command->opcode), code(command->name), link("layout", command->input->name),
                   link("layout", command->output->name), meaning});
    }
    return heading("Commands", '=') + table.text();
}

std::string registers_of(const Group& group) {
    if (group.registers.empty()) {
        return {};
    }
    Table table("10 25 20 50", {"Number", "Register", "Content", "Meaning"});
    for (const Register* entry : group.registers) {
        table.row({hex(entry->id), code(entry->name), link("layout", entry->layout->name),
                   escaped(entry->meaning)});
    }
    return heading("Registers", '=') + table.text();
}

std::string content(const Catalogue& catalogue, const Group& group) {
    std::string result = join(heading(group.title, '#'), escaped(group.meaning), "\n\n");
    if (!group.source.empty()) {
        result += join("Source: ", escaped(group.source), "\n\n");
    }
    result += commands_of(group) + registers_of(group);
    if (!group.layouts.empty()) {
        result += heading("Structures", '=');
    }
    for (const Layout* layout : group.layouts) {
        result += page_of(*layout);
    }
    if (!catalogue.enumerations_of(group).empty()) {
        result += heading("Values", '=');
    }
    for (const Enumeration* enumeration : catalogue.enumerations_of(group)) {
        result += page_of(*enumeration);
    }
    result.pop_back(); // one end of line is enough
    return result;
}

std::string index(const Catalogue& catalogue) {
    std::string result =
        join(heading("Hardware reference", '#'),
             "Everything that the device shares with software is big endian and is described in "
             "32-bit words.\nAn offset is the byte at which a word begins, counted from the start "
             "of the structure, and bit 31 of\na word is its highest. Bits that no table names are "
             "reserved: zero, for both sides.\n\n"
             ".. toctree::\n   :maxdepth: 1\n\n");
    for (const Group* group : catalogue.groups()) {
        result += join("   ", group->name, '\n');
    }
    return result;
}

} // namespace

std::vector<File> emit_reference(const Catalogue& catalogue) {
    std::vector<File> files{{.path = "index.rst", .content = index(catalogue)}};
    for (const Group* group : catalogue.groups()) {
        files.push_back({.path = join(group->name, ".rst"), .content = content(catalogue, *group)});
    }
    return files;
}

} // namespace hwtab::emit
