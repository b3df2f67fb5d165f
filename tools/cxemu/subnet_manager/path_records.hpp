// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// PathRecords: the paths that the forwarding tables make.
#pragma once

#include "subnet_manager/multicast_groups.hpp"
#include "subnet_manager/records.hpp"
#include "subnet_manager/routing.hpp"
#include "subnet_manager/settings.hpp"

#include <map>

namespace cxemu::subnet_manager {

/// What paths depend on.
struct PathEnvironment {
    const Subnet& subnet;
    const std::map<Guid, PortKey>& end_ports; ///< those of the subnet
    const LidTable& lids;
    const std::map<Guid, LinearTable>& tables; ///< of the switches, by node GUID
    const MulticastGroups& groups;
    const ManagerSettings& settings;
};

/// Maximum number of pairs of ports that one request examines: more than a switch with 254 hosts
/// has.
inline constexpr std::size_t max_pairs = 0x10000;

/// All paths that match the query: from each port of its source (without a source, from all ports)
/// to each port of its destination. With more than max_pairs pairs the status is no_resources.
SaReply path_records(const PathEnvironment& environment, const SaRequest& request);

} // namespace cxemu::subnet_manager
