// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What the manager writes to PortInfo.
#pragma once

#include "subnet_manager/routing.hpp"
#include "subnet_manager/settings.hpp"
#include "subnet_manager/subnet.hpp"

#include <optional>

namespace cxemu::subnet_manager {

/// Returns true for a switch port whose neighbor is a channel adapter; such ports enforce
/// partitions. \pre the port exists
[[nodiscard]] bool is_at_host(const Subnet& subnet, PortKey key);

/// The data of Set(PortInfo) for an end port: its LID, the LID of the manager and similar fields;
/// for a port of a channel adapter also the settings of its link.
/// \param reregister requests the host of the port to register with subnet administration again
/// \return nothing if the port already has these settings
/// \pre the port exists
std::optional<fabric::PortInfoBytes> end_port_settings(const Subnet& subnet, PortKey key,
                                                       const LidTable& lids,
                                                       const ManagerSettings& settings,
                                                       bool reregister);

/// The data of Set(PortInfo) for an external port of a switch: MTU, virtual lanes, times
/// and the enforcement of partitions.
/// \return nothing if the port already has these settings, or has no neighbor
/// \pre the port exists
std::optional<fabric::PortInfoBytes> link_settings(const Subnet& subnet, PortKey key,
                                                   const ManagerSettings& settings);

/// The data of Set(PortInfo) that only changes the state.
fabric::PortInfoBytes state_change(const SubnetPort& port, fabric::PortState state);

} // namespace cxemu::subnet_manager
