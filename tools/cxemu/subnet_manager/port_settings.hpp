// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What the manager writes to PortInfo.
#pragma once

#include "subnet_manager/routing.hpp"
#include "subnet_manager/settings.hpp"
#include "subnet_manager/subnet.hpp"

#include <optional>

namespace cxemu::subnet_manager {

/// Whether a port is one of a switch with a channel adapter as its neighbor: there partitions are
/// enforced. \pre the port exists
[[nodiscard]] bool is_at_host(const Subnet& subnet, PortKey key);

/// The data of Set(PortInfo) with the LID of an end port, the manager's LID and the like; for a
/// port of a channel adapter with the settings of its link, too.
/// \param reregister asks the port's host to register with subnet administration again
/// \return nothing when the port has all that already
/// \pre the port exists
std::optional<fabric::PortInfoBytes> end_port_settings(const Subnet& subnet, PortKey key,
                                                       const LidTable& lids,
                                                       const ManagerSettings& settings,
                                                       bool reregister);

/// The data of Set(PortInfo) for an external port of a switch: MTU, virtual lanes, times
/// and the enforcement of partitions.
/// \return nothing when the port has all that already, or no neighbor
/// \pre the port exists
std::optional<fabric::PortInfoBytes> link_settings(const Subnet& subnet, PortKey key,
                                                   const ManagerSettings& settings);

/// The data of Set(PortInfo) that only changes the state.
fabric::PortInfoBytes state_change(const SubnetPort& port, fabric::PortState state);

} // namespace cxemu::subnet_manager
