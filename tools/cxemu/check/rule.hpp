// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Interface rules that the strict checker enforces.
#pragma once

#include <string_view>

namespace cxemu::check {

/// One rule that software must follow. Each directory declares its own as constants with static
/// lifetime. Reports and allow-lists refer to a rule by its name, so the name never changes.
struct Rule {
    std::string_view name;    ///< lower case, words joined by underscores; unique
    std::string_view meaning; ///< the violation, one sentence
};

} // namespace cxemu::check
