// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// LIDs and forwarding tables, computed from the subnet.
#pragma once

#include "subnet_manager/subnet.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace cxemu::subnet_manager {

/// The LIDs of end ports, by port GUID. A port that returns gets its former LID, unless all LIDs
/// are in use meanwhile.
class LidTable {
public:
    /// Assigns a LID to every end port without one: its present LID if no other port has it,
    /// otherwise the lowest free LID.
    /// \param first GUID of the port that gets its LID first
    void assign(const Subnet& subnet, Guid first);

    /// fabric::unassigned_lid for an unknown port, and when all LIDs are in use.
    [[nodiscard]] Lid lid_of(Guid port) const;
    /// The port GUID of a LID; 0 for none.
    [[nodiscard]] Guid port_of(Lid lid) const;
    [[nodiscard]] Lid highest() const;

    /// Forgets all LIDs: another manager may have assigned others meanwhile.
    void clear();

private:
    [[nodiscard]] bool assign(Guid port, Lid present, Lid last);
    void keep_only(const std::map<Guid, PortKey>& end_ports);

    std::map<Guid, Lid> lids_;
    std::map<Lid, Guid> ports_;
};

/// Output ports by LID; fabric::ForwardingTables::no_port where there is none.
using LinearTable = std::vector<std::uint8_t>;

/// Linear forwarding tables of all switches, by node GUID: shortest paths, the loads of equal ones
/// balanced.
std::map<Guid, LinearTable> linear_tables(const Subnet& subnet, const LidTable& lids);

/// Members of a multicast group.
struct GroupMembers {
    Lid lid = 0;
    std::set<PortKey> receivers; ///< end ports
};

/// Output ports of a multicast LID, by node GUID of the switch.
using MulticastPorts = std::map<Guid, std::set<std::uint8_t>>;

/// The spanning tree of the switches without branches that have no receiver: for each switch, the
/// ports that lead to receivers.
MulticastPorts multicast_ports(const Subnet& subnet, const GroupMembers& group);

} // namespace cxemu::subnet_manager
