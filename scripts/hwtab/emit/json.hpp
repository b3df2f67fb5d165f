// SPDX-License-Identifier: GPL-2.0-or-later
/// @file
/// The tables as JSON: input of the conformance test, and the text that is hashed.
#pragma once

#include "hwtab/model.hpp"

#include <span>
#include <string>

namespace hwtab::emit {

class Catalogue;

/// One group. Nested structures and enumerations are referred to by name.
[[nodiscard]] std::string json_of(const Group& group,
                                  std::span<const Enumeration* const> enumerations);

/// All groups: `{"groups": [...]}`, offsets and widths in bits.
[[nodiscard]] std::string json_of(const Catalogue& catalogue);

} // namespace hwtab::emit
