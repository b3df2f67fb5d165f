// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Helpers for port commands and port registers.
#pragma once

#include "fabric/hca_port.hpp"
#include "hca/command.hpp"

#include <cstdint>
#include <expected>

namespace cxemu::commands {

/// Port \p number of the function, or the result of the failed command.
/// \param number counted from 1; 0 stands for 1 if \p zero_is_first
std::expected<fabric::HcaPort*, hca::CommandResult>
find_port(hca::CommandContext& context, std::uint64_t number, bool zero_is_first);

} // namespace cxemu::commands
