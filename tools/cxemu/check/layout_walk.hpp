// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Walks through bytes along a hardware table, for generic checks and logs.
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

/// Chooses the structure of a field with alternatives; nullptr: its bytes are skipped.
using Chooser = std::function<const hwtab::Layout*(const hwtab::Field&)>;

/// Which parts of a structure a walk visits.
struct WalkOptions {
    Chooser choose;                 ///< empty: fields with alternatives are skipped
    std::uint32_t max_elements = 0; ///< of each array and list; 0: all
};

/// Calls \p visit for every field and every declared gap of \p layout within \p size bytes, nested
/// structures included. Lists extend to the end of \p size.
void walk_layout(const hwtab::Layout& layout, std::size_t size, const WalkOptions& options,
                 const FieldVisitor& visit);

/// Calls \p complain for every declared gap of \p layout with set bits in \p bytes: position as
/// "word 0x8 bits 31:24" and value.
void find_reserved_bits(
    const hwtab::Layout& layout, std::span<const std::byte> bytes, const Chooser& choose,
    const std::function<void(std::string_view where, std::uint64_t value)>& complain);

/// Prints every non-zero field of \p layout as "name=value" on one line; values named in the tables
/// are printed by name. Only the first eight elements of arrays and lists are printed.
std::string decode(const hwtab::Layout& layout, std::span<const std::byte> bytes,
                   const Chooser& choose = {});

} // namespace cxemu::check
