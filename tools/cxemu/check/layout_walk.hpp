// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Walks through bytes along a hardware table, for checks and logs that know no structure by name.
#pragma once

#include "hwtab/model.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace cxemu::check {

/// One field of a structure in memory, found by the walk.
struct FoundField {
    std::string path;          ///< names joined by dots, elements as "name[3]"
    const hwtab::Field* field; ///< its description
    std::uint32_t offset;      ///< bits from the start of the outermost structure
    std::uint32_t width;       ///< bits
};

using FieldVisitor = std::function<void(const FoundField&)>;

/// Chooses the structure of a field that may hold one of several; nullptr: its bytes are skipped.
using Chooser = std::function<const hwtab::Layout*(const hwtab::Field&)>;

/// Which parts of a structure a walk visits.
struct WalkOptions {
    Chooser choose;                 ///< empty: fields with alternatives are skipped
    std::uint32_t max_elements = 0; ///< of each array and list; 0: all
};

/// Calls \p visit for every field and every declared gap of \p layout that lies within \p size
/// bytes, nested structures included. Lists go on to the end of \p size.
void walk_layout(const hwtab::Layout& layout, std::size_t size, const WalkOptions& options,
                 const FieldVisitor& visit);

/// Calls \p complain for every declared gap of \p layout that is not zero in \p bytes: position as
/// "word 0x8 bits 31:24" and value.
void find_reserved_bits(
    const hwtab::Layout& layout, std::span<const std::byte> bytes, const Chooser& choose,
    const std::function<void(std::string_view where, std::uint64_t value)>& complain);

/// One line: every field of \p layout that is not zero, as "name=value"; values that the tables
/// name are printed by name. Of arrays and lists the first eight elements are printed.
std::string decode(const hwtab::Layout& layout, std::span<const std::byte> bytes,
                   const Chooser& choose = {});

} // namespace cxemu::check
