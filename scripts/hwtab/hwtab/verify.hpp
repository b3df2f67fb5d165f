// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Compile-time checks of the tables.
///
/// C++20 cannot put a computed text into a static_assert. A finding is therefore carried out of
/// constant evaluation as the template arguments of a class whose static_assert fails, and the
/// compiler prints them. GCC's message contains, for example,
///
///     hwtab::Refused<hwtab::Rule::fields_overlap, hwtab::FixedString<4>{"cqc"},
///                    hwtab::FixedString<7>{"status"}, hwtab::FixedString<3>{"oi"}>
#pragma once

#include "hwtab/fixed_string.hpp"
#include "hwtab/model.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace hwtab {

enum class Rule : std::uint8_t {
    none,
    fields_overlap,
    fields_out_of_order,
    field_outside_structure,
    undeclared_gap,
    field_crosses_words,
    value_does_not_fit,
    duplicate_field_name,
    duplicate_value_name,
    alias_of_nothing,
    meaning_missing,
    nested_size_differs,
    list_not_last, ///< or it does not start at the end of the fixed part
    size_not_in_words,
    duplicate_opcode,
    duplicate_layout_name,
    duplicate_enumeration_name,
    duplicate_register,
    wrong_command_header,
    structure_not_listed,
};

/// Finding of a check: the rule, the table and the two positions concerned.
struct Finding {
    Rule rule = Rule::none;
    std::string_view table;
    std::string_view first;
    std::string_view second;
};

/// The compiler message contains the finding as the name of this type. `rule` is the rule that
/// `table` violates; `first` and `second` are the positions.
template <Rule rule, FixedString table, FixedString first, FixedString second>
struct Refused {
    static_assert(rule == Rule::none, "a hardware table breaks a rule; the rule, the table and the "
                                      "two entries are the arguments of 'Refused' in this message");
};

namespace detail {

constexpr bool share_bits(const Field& a, const Field& b) {
    return a.offset < b.end() && b.offset < a.end();
}

constexpr std::string_view name_in_message(const Field* field, std::string_view otherwise) {
    if (field == nullptr) {
        return otherwise;
    }
    return field->is_reserved() ? std::string_view{"(reserved)"} : field->name;
}

/// Compares each field with the previous one. Two neighbours that share bits overlap, in either
/// order; any other field that begins before the previous one is out of order.
constexpr Finding find_overlap(const Layout& layout) {
    const Field* before = nullptr;
    for (const Field& field : layout.fields) {
        if (field.is_alias) {
            continue;
        }
        if (before != nullptr && field.offset < before->end()) {
            const Rule rule =
                share_bits(*before, field) ? Rule::fields_overlap : Rule::fields_out_of_order;
            return {rule, layout.name, name_in_message(before, {}), name_in_message(&field, {})};
        }
        before = &field;
    }
    return {};
}

constexpr Finding find_outside(const Layout& layout) {
    for (const Field& field : layout.fields) {
        if (field.end() > layout.size * bits_per_byte) {
            return {Rule::field_outside_structure, layout.name, field.name, "end of the structure"};
        }
    }
    return {};
}

/// Runs after find_overlap: the fields are in order.
constexpr Finding find_gap(const Layout& layout) {
    const Field* before = nullptr;
    for (const Field& field : layout.fields) {
        if (field.is_alias) {
            continue;
        }
        if (field.offset != (before == nullptr ? 0 : before->end())) {
            return {Rule::undeclared_gap, layout.name,
                    name_in_message(before, "start of the structure"), name_in_message(&field, {})};
        }
        before = &field;
    }
    if (before != nullptr && !before->is_list() && before->end() != layout.size * bits_per_byte) {
        return {Rule::undeclared_gap, layout.name, name_in_message(before, {}),
                "end of the structure"};
    }
    return {};
}

constexpr bool is_inside_one_word(const Field& field) {
    return field.offset / bits_per_word == (field.end() - 1) / bits_per_word;
}

constexpr bool has_allowed_shape(const Field& field) {
    if (field.is_structured()) {
        return field.offset % bits_per_word == 0 && field.width % bits_per_word == 0;
    }
    if (field.is_array() || field.is_list()) {
        const bool element =
            field.width == 8 || field.width == 16 || field.width == 32 || field.width == 64;
        return element && field.offset % (field.width == 64 ? 32 : field.width) == 0;
    }
    return is_inside_one_word(field) ||
           (field.width == 2 * bits_per_word && field.offset % bits_per_word == 0);
}

constexpr Finding find_bad_shape(const Layout& layout) {
    for (const Field& field : layout.fields) {
        if (!field.is_reserved() && !has_allowed_shape(field)) {
            return {Rule::field_crosses_words, layout.name, field.name, "next word"};
        }
    }
    return {};
}

constexpr std::uint64_t largest_value(std::uint32_t width) {
    return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

constexpr Finding find_unfit_value(const Layout& layout) {
    for (const Field& field : layout.fields) {
        if (field.values == nullptr) {
            continue;
        }
        for (const Value& value : field.values->values) {
            if (value.value > largest_value(field.width)) {
                return {Rule::value_does_not_fit, layout.name, field.name, value.name};
            }
        }
    }
    return {};
}

constexpr Finding find_duplicate_field(const Layout& layout) {
    for (std::size_t i = 0; i < layout.fields.size(); ++i) {
        for (std::size_t j = i + 1; j < layout.fields.size(); ++j) {
            if (!layout.fields[i].name.empty() && layout.fields[i].name == layout.fields[j].name) {
                return {Rule::duplicate_field_name, layout.name, layout.fields[i].name,
                        layout.fields[j].name};
            }
        }
    }
    return {};
}

/// Every bit of an alias must be a bit of a field, so the check walks the fields that cover the
/// alias.
constexpr Finding find_alias_of_nothing(const Layout& layout) {
    for (const Field& alias : layout.fields) {
        if (!alias.is_alias) {
            continue;
        }
        std::uint32_t covered = 0;
        for (const Field& field : layout.fields) {
            if (!field.is_alias && !field.is_reserved() && share_bits(alias, field)) {
                covered +=
                    std::min(alias.end(), field.end()) - std::max(alias.offset, field.offset);
            }
        }
        if (covered != alias.width * alias.count) {
            return {Rule::alias_of_nothing, layout.name, alias.name, "(reserved)"};
        }
    }
    return {};
}

constexpr Finding find_missing_meaning(const Layout& layout) {
    if (layout.meaning.empty()) {
        return {Rule::meaning_missing, layout.name, "the structure", "meaning"};
    }
    for (const Field& field : layout.fields) {
        if (!field.is_reserved() && field.meaning.empty()) {
            return {Rule::meaning_missing, layout.name, field.name, "meaning"};
        }
    }
    return {};
}

constexpr Finding find_nested_size(const Layout& layout) {
    for (const Field& field : layout.fields) {
        for (const Layout* alternative : field.alternatives) {
            if (alternative->size * bits_per_byte > field.width) {
                return {Rule::nested_size_differs, layout.name, field.name, alternative->name};
            }
        }
    }
    return {};
}

constexpr Finding find_misplaced_list(const Layout& layout) {
    for (const Field& field : layout.fields) {
        if (field.is_list() &&
            (&field != &layout.fields.back() || field.offset != layout.size * bits_per_byte)) {
            return {Rule::list_not_last, layout.name, field.name, layout.fields.back().name};
        }
    }
    return {};
}

constexpr Finding find_bad_size(const Layout& layout) {
    if (layout.size % 4 != 0) {
        return {Rule::size_not_in_words, layout.name, "size", "multiple of 4"};
    }
    return {};
}

constexpr Finding examine(const Layout& layout) {
    constexpr std::array checks{
        find_bad_size,         find_outside,         find_overlap,         find_gap,
        find_misplaced_list,   find_bad_shape,       find_duplicate_field, find_unfit_value,
        find_alias_of_nothing, find_missing_meaning, find_nested_size};
    for (auto* check : checks) {
        if (const Finding finding = check(layout); finding.rule != Rule::none) {
            return finding;
        }
    }
    return {};
}

constexpr Finding find_duplicate_value(const Enumeration& enumeration) {
    for (std::size_t i = 0; i < enumeration.values.size(); ++i) {
        for (std::size_t j = i + 1; j < enumeration.values.size(); ++j) {
            if (enumeration.values[i].name == enumeration.values[j].name) {
                return {Rule::duplicate_value_name, enumeration.name, enumeration.values[i].name,
                        enumeration.values[j].name};
            }
        }
    }
    return {};
}

constexpr bool has_header(const Layout& layout, std::string_view first, std::uint32_t first_width) {
    const Field& field = layout.fields.front();
    return field.name == first && field.offset == 0 && field.width == first_width;
}

/// An input begins with a 16-bit opcode, an output with an 8-bit status.
constexpr Finding find_wrong_header(const Command& command) {
    if (!has_header(*command.input, "opcode", 16)) {
        return {Rule::wrong_command_header, command.name, command.input->name, "opcode"};
    }
    if (!has_header(*command.output, "status", 8)) {
        return {Rule::wrong_command_header, command.name, command.output->name, "status"};
    }
    return {};
}

/// Structures to which fields refer must also be in a group; otherwise nothing would check and emit
/// them.
constexpr Finding find_unlisted(std::span<const Group* const> groups, const Layout& user,
                                const Layout& wanted) {
    for (const Group* group : groups) {
        if (std::ranges::find(group->layouts, &wanted) != group->layouts.end()) {
            return {};
        }
    }
    return {Rule::structure_not_listed, user.name, wanted.name, "in no group"};
}

constexpr Finding find_unlisted_member(std::span<const Group* const> groups, const Layout& layout) {
    for (const Field& field : layout.fields) {
        if (field.layout != nullptr) {
            if (const Finding f = find_unlisted(groups, layout, *field.layout);
                f.rule != Rule::none) {
                return f;
            }
        }
        for (const Layout* alternative : field.alternatives) {
            if (const Finding f = find_unlisted(groups, layout, *alternative);
                f.rule != Rule::none) {
                return f;
            }
        }
    }
    return {};
}

/// Names of layouts and enumerations are unique over all groups.
constexpr Finding find_duplicate_names(const Group& a, const Group& b) {
    for (const Layout* x : a.layouts) {
        for (const Layout* y : b.layouts) {
            if ((&a != &b || x != y) && x->name == y->name) {
                return {Rule::duplicate_layout_name, a.name, x->name, b.name};
            }
        }
    }
    for (const Enumeration* x : a.enumerations) {
        for (const Enumeration* y : b.enumerations) {
            if (x != y && x->name == y->name) {
                return {Rule::duplicate_enumeration_name, a.name, x->name, b.name};
            }
        }
    }
    return {};
}

/// Opcodes of commands and numbers of registers are unique over all groups.
constexpr Finding find_duplicate_numbers(const Group& a, const Group& b) {
    for (const Command* x : a.commands) {
        for (const Command* y : b.commands) {
            if ((&a != &b || x != y) && x->opcode == y->opcode) {
                return {Rule::duplicate_opcode, a.name, x->name, y->name};
            }
        }
    }
    for (const Register* x : a.registers) {
        for (const Register* y : b.registers) {
            if ((&a != &b || x != y) && x->id == y->id) {
                return {Rule::duplicate_register, a.name, x->name, y->name};
            }
        }
    }
    return {};
}

constexpr Finding examine_group(std::span<const Group* const> groups, const Group& group) {
    for (const Layout* layout : group.layouts) {
        if (const Finding f = examine(*layout); f.rule != Rule::none) {
            return f;
        }
        if (const Finding f = find_unlisted_member(groups, *layout); f.rule != Rule::none) {
            return f;
        }
    }
    for (const Enumeration* enumeration : group.enumerations) {
        if (const Finding f = find_duplicate_value(*enumeration); f.rule != Rule::none) {
            return f;
        }
    }
    for (const Command* command : group.commands) {
        if (const Finding f = find_wrong_header(*command); f.rule != Rule::none) {
            return f;
        }
    }
    return {};
}

/// Finds rules that a group violates by itself, or together with a group of the list.
constexpr Finding examine_in_company(std::span<const Group* const> groups, const Group& group) {
    if (const Finding f = examine_group(groups, group); f.rule != Rule::none) {
        return f;
    }
    for (const Group* other : groups) {
        if (const Finding f = find_duplicate_names(group, *other); f.rule != Rule::none) {
            return f;
        }
        if (const Finding f = find_duplicate_numbers(group, *other); f.rule != Rule::none) {
            return f;
        }
    }
    return {};
}

/// Turns a finding into a type, so that the compiler prints its names.
template <const Finding& finding>
consteval bool report() {
    constexpr auto table = FixedString<finding.table.size() + 1>::copy_of(finding.table);
    constexpr auto first = FixedString<finding.first.size() + 1>::copy_of(finding.first);
    constexpr auto second = FixedString<finding.second.size() + 1>::copy_of(finding.second);
    return sizeof(Refused<finding.rule, table, first, second>) != 0;
}

} // namespace detail

template <const Layout& layout>
inline constexpr Finding layout_finding = detail::examine(layout);

/// Each group has its own constant, so that none exceeds the compilers' limit of operations.
template <const auto& groups, std::size_t index>
inline constexpr Finding group_finding = detail::examine_in_company(groups, *groups[index]);

/// True if `layout` violates no rule; otherwise compilation stops with the names of rule, table and
/// fields.
template <const Layout& layout>
inline constexpr bool verified = detail::report<layout_finding<layout>>();

/// True if `groups` (an array of `const Group*`) violate no rule, including rules between groups;
/// otherwise compilation stops in the same way.
template <const auto& groups>
inline constexpr bool all_verified = []<std::size_t... index>(std::index_sequence<index...>) {
    return (detail::report<group_finding<groups, index>>() && ...);
}(std::make_index_sequence<std::size(groups)>{});

} // namespace hwtab
