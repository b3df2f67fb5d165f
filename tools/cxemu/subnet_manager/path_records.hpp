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
    const LidTable& lids;
    const std::map<Guid, LinearTable>& tables; ///< of the switches, by node GUID
    const MulticastGroups& groups;
    const ManagerSettings& settings;
};

/// All paths that match: from each port of the query's source (all ports without one) to each of
/// its destination.
SaReply path_records(const PathEnvironment& environment, const SaRequest& request);

} // namespace cxemu::subnet_manager
