// SPDX-License-Identifier: GPL-2.0-or-later
/// @file
/// The groups of tables and what holds between them.
#pragma once

#include "hwtab/model.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hwtab::emit {

/// How a field is reached from C.
enum class Shape : std::uint8_t {
    bits,      ///< 1 to 32 bits of one word
    word64,    ///< two words that make a number
    numbers,   ///< array of 16, 32 or 64 bit numbers
    bytes,     ///< array of bytes
    structure, ///< one nested structure, or one of several
    sequence,  ///< array of nested structures
    list,      ///< behind the fixed part, as long as the message
};

[[nodiscard]] Shape shape_of(const Field& field);

/// The groups in the given order, with the queries that emitters need.
class Catalogue {
public:
    explicit Catalogue(std::span<const Group* const> groups);

    [[nodiscard]] std::span<const Group* const> groups() const { return groups_; }

    /// The group that lists `layout`; hwtab/verify.hpp ensures that there is one.
    [[nodiscard]] const Group& group_of(const Layout& layout) const;

    /// The enumerations to emit with `group`: those that it lists, and those that no group lists
    /// and that its fields or commands use first.
    [[nodiscard]] const std::vector<const Enumeration*>& enumerations_of(const Group& group) const;

    /// The layouts of `group`, each after the layouts that it contains.
    [[nodiscard]] static std::vector<const Layout*> in_order_of_use(const Group& group);

    /// The other groups whose layouts are contained in those of `group`, in order of name.
    [[nodiscard]] std::vector<const Group*> needed_by(const Group& group) const;

    /// Canonical text of one group: the same tables give the same text everywhere.
    [[nodiscard]] const std::string& dump_of(const Group& group) const;

    /// Canonical text of everything.
    [[nodiscard]] const std::string& dump() const { return dump_; }

private:
    void collect_enumerations();

    std::span<const Group* const> groups_;
    std::map<const Layout*, const Group*> group_of_;
    std::map<const Group*, std::vector<const Enumeration*>> enumerations_;
    std::map<const Group*, std::string> dumps_;
    std::string dump_;
};

/// The structures that `field` can hold.
[[nodiscard]] std::vector<const Layout*> structures_of(const Field& field);

} // namespace hwtab::emit
