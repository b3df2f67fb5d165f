// SPDX-License-Identifier: GPL-2.0-or-later
#include "emit/json.hpp"

#include "emit/catalogue.hpp"
#include "emit/text.hpp"

#include <array>

namespace hwtab::emit {

namespace {

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
        }
        result += c;
    }
    return result + '"';
}

template <typename Range, typename Text>
std::string list_of(const Range& range, std::string_view separator, Text text) {
    std::string result = "[";
    bool first = true;
    for (const auto& item : range) {
        result += first ? "" : separator;
        result += text(item);
        first = false;
    }
    return result + ']';
}

std::string_view name_of_kind(Kind kind) {
    constexpr std::array<std::string_view, 11> names{
        "context",    "command_input", "command_output", "capability", "access_register", "memory",
        "work_queue", "completion",    "event",          "datagram",   "packet_header"};
    return names.at(static_cast<std::size_t>(kind));
}

std::string_view name_of_access(Access access) {
    constexpr std::array<std::string_view, 3> names{"read_write", "read_only", "reserved"};
    return names.at(static_cast<std::size_t>(access));
}

std::string json_of(const Field& field) {
    std::string result = join("{\"name\": ", quoted(field.name), ", \"offset\": ", field.offset,
                              ", \"width\": ", field.width, ", \"count\": ", field.count,
                              ", \"access\": ", quoted(name_of_access(field.access)));
    if (field.is_alias) {
        result += ", \"alias\": true";
    }
    if (field.values != nullptr) {
        result += join(", \"values\": ", quoted(field.values->name));
    }
    const auto name = [](const Layout* layout) { return quoted(layout->name); };
    if (field.layout != nullptr) {
        result += join(", \"layout\": ", name(field.layout));
    }
    if (!field.alternatives.empty()) {
        result += join(", \"alternatives\": ", list_of(field.alternatives, ", ", name));
    }
    return result + join(", \"meaning\": ", quoted(field.meaning), "}");
}

std::string json_of(const Layout* layout) {
    const auto field = [](const Field& one) { return json_of(one); };
    return join("{\"name\": ", quoted(layout->name),
                ", \"kind\": ", quoted(name_of_kind(layout->kind)), ", \"size\": ", layout->size,
                ", \"meaning\": ", quoted(layout->meaning),
                ",\n \"fields\": ", list_of(layout->fields, ",\n  ", field), "}");
}

std::string json_of(const Enumeration* enumeration) {
    const auto value = [](const Value& one) {
        return join("{\"name\": ", quoted(one.name), ", \"value\": ", one.value,
                    ", \"meaning\": ", quoted(one.meaning), "}");
    };
    return join("{\"name\": ", quoted(enumeration->name),
                ", \"mask\": ", enumeration->is_mask ? "true" : "false",
                ", \"meaning\": ", quoted(enumeration->meaning),
                ",\n \"values\": ", list_of(enumeration->values, ",\n  ", value), "}");
}

std::string json_of(const Command* command) {
    std::string result =
        join("{\"name\": ", quoted(command->name), ", \"opcode\": ", command->opcode,
             ", \"input\": ", quoted(command->input->name),
             ", \"output\": ", quoted(command->output->name));
    if (command->op_mods != nullptr) {
        result += join(", \"op_mods\": ", quoted(command->op_mods->name));
    }
    return result + join(", \"meaning\": ", quoted(command->meaning), "}");
}

std::string json_of(const Register* entry) {
    return join("{\"name\": ", quoted(entry->name), ", \"id\": ", entry->id,
                ", \"layout\": ", quoted(entry->layout->name),
                ", \"meaning\": ", quoted(entry->meaning), "}");
}

} // namespace

std::string json_of(const Group& group, std::span<const Enumeration* const> enumerations) {
    const auto text = [](const auto* item) { return json_of(item); };
    return join("{\"name\": ", quoted(group.name), ", \"title\": ", quoted(group.title),
                ", \"meaning\": ", quoted(group.meaning), ", \"source\": ", quoted(group.source),
                ",\n\"layouts\": ", list_of(group.layouts, ",\n", text),
                ",\n\"enumerations\": ", list_of(enumerations, ",\n", text),
                ",\n\"commands\": ", list_of(group.commands, ",\n", text),
                ",\n\"registers\": ", list_of(group.registers, ",\n", text), "}");
}

std::string json_of(const Catalogue& catalogue) {
    const auto text = [&](const Group* group) { return catalogue.dump_of(*group); };
    return join("{\"groups\": ", list_of(catalogue.groups(), ",\n\n", text), "}\n");
}

} // namespace hwtab::emit
