// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Commands on scheduling elements, which are general objects.
#pragma once

#include "hca/command.hpp"

#include <cstdint>

namespace cxemu::commands {

/// Type of scheduling elements among general objects.
inline constexpr std::uint64_t scheduling_element_type = 0x26;

hca::CommandResult create_scheduling_element(hca::CommandContext& context);

/// Changes the share or the limit of an element; its place in the tree stays.
hca::CommandResult modify_scheduling_element(hca::CommandContext& context);

/// A node must have no nodes below it. A group may still have queue pairs, which share with all
/// others then: programs destroy groups first, and nobody tells the queue pairs.
hca::CommandResult destroy_scheduling_element(hca::CommandContext& context, std::uint32_t number);

} // namespace cxemu::commands
