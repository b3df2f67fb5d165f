// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What --list-profiles prints.
#pragma once

#include <string>

namespace cxemu::program {

/// Returns a line for each profile; with \p verbose also the values of its capability pages with
/// their sources, and a list of the sources.
std::string profile_list(bool verbose);

} // namespace cxemu::program
