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

/// Changes the share or the limit of an element, but not its position in the tree.
hca::CommandResult modify_scheduling_element(hca::CommandContext& context);

/// Fails if a node has child nodes. A group may still have QPs, because user space destroys the
/// group before it modifies the QPs. Then they compete with all QPs without a group.
hca::CommandResult destroy_scheduling_element(hca::CommandContext& context, std::uint32_t number);

} // namespace cxemu::commands
