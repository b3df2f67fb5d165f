// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Rules of the interface that the strict checker watches.
#pragma once

#include <string_view>

namespace cxemu::check {

/// One rule that software has to keep. Each room declares its own as constants with static
/// lifetime; the name is what a report and an allow-list use, so it stays the same for ever.
struct Rule {
    std::string_view name;    ///< lower case, words joined by underscores; unique
    std::string_view meaning; ///< what software did wrong, one sentence
};

} // namespace cxemu::check
