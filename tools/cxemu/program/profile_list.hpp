// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What --list-profiles prints.
#pragma once

#include <string>

namespace cxemu::program {

/// A line for each profile; with \p verbose the values of its capability pages as well, each with
/// where it comes from, and the sources.
std::string profile_list(bool verbose);

} // namespace cxemu::program
