// SPDX-License-Identifier: GPL-2.0-or-later
#include "subnet_manager/routing.hpp"

#include "fabric/forwarding_tables.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>

namespace cxemu::subnet_manager {
namespace {

/// The highest unicast LID that all switches can forward.
Lid last_lid(const Subnet& subnet) {
    Lid last = fabric::last_unicast_lid;
    for (const auto& [guid, node] : subnet.nodes) {
        if (!node.is_switch())
            continue;
        const auto entries = node.switch_view().get<"linear_fdb_cap">();
        const auto highest = entries == 0 ? std::uint64_t{0} : entries - 1;
        last = static_cast<Lid>(std::min<std::uint64_t>(last, highest));
    }
    return last;
}

/// Ports of a switch through which it reaches another switch, with that switch.
std::vector<std::pair<std::uint8_t, Guid>> uplinks(const Subnet& subnet, const SubnetNode& node) {
    std::vector<std::pair<std::uint8_t, Guid>> result;
    for (const auto& [number, port] : node.ports)
        if (port.peer && subnet.nodes.contains(port.peer->node) &&
            subnet.nodes.at(port.peer->node).is_switch())
            result.emplace_back(number, port.peer->node);
    return result;
}

/// Hops from each switch to \p target.
std::map<Guid, std::size_t> distances(const Subnet& subnet, Guid target) {
    std::map<Guid, std::size_t> result{{target, 0}};
    std::deque<Guid> reached{target};
    while (!reached.empty()) {
        const Guid at = reached.front();
        reached.pop_front();
        for (const auto& [port, neighbor] : uplinks(subnet, subnet.nodes.at(at)))
            if (result.emplace(neighbor, result.at(at) + 1).second)
                reached.push_back(neighbor);
    }
    return result;
}

/// LIDs routed through each port of a switch.
using PortLoads = std::map<PortKey, std::size_t>;

/// The least loaded of the ports of switch \p from that are nearest to the target.
std::optional<std::uint8_t> next_hop(const Subnet& subnet, Guid from,
                                     const std::map<Guid, std::size_t>& hops, PortLoads& loads) {
    std::optional<std::uint8_t> best;
    for (const auto& [port, neighbor] : uplinks(subnet, subnet.nodes.at(from))) {
        const auto distance = hops.find(neighbor);
        if (distance == hops.end() || distance->second + 1 != hops.at(from))
            continue;
        if (!best || loads[{from, port}] < loads[{from, *best}])
            best = port;
    }
    if (best)
        ++loads[{from, *best}];
    return best;
}

} // namespace

// --- LIDs ----------------------------------------------------------------------------------------

void LidTable::assign(const Subnet& subnet, Guid first) {
    const auto end_ports = subnet.end_ports();
    const Lid last = last_lid(subnet);
    const auto present = [&](PortKey key) {
        return static_cast<Lid>(subnet.find(key)->view().get<"lid">());
    };
    if (const auto own = end_ports.find(first); own != end_ports.end())
        assign(first, present(own->second), last);
    for (const auto& [guid, key] : end_ports)
        if (present(key) != fabric::unassigned_lid)
            assign(guid, present(key), last);
    for (const auto& [guid, key] : end_ports)
        assign(guid, fabric::unassigned_lid, last);
}

void LidTable::assign(Guid port, Lid present, Lid last) {
    if (lids_.contains(port))
        return;
    const auto is_free = [this](Lid lid) { return port_of(lid) == 0; };
    if (fabric::is_unicast(present) && present <= last && is_free(present)) {
        lids_[port] = present;
        return;
    }
    for (unsigned lid = 1; lid <= last; ++lid) {
        if (!is_free(static_cast<Lid>(lid)))
            continue;
        lids_[port] = static_cast<Lid>(lid);
        return;
    }
}

Lid LidTable::lid_of(Guid port) const {
    const auto found = lids_.find(port);
    return found == lids_.end() ? fabric::unassigned_lid : found->second;
}

Guid LidTable::port_of(Lid lid) const {
    const auto found =
        std::ranges::find_if(lids_, [=](const auto& entry) { return entry.second == lid; });
    return found == lids_.end() ? 0 : found->first;
}

Lid LidTable::highest() const {
    Lid highest = 0;
    for (const auto& [guid, lid] : lids_)
        highest = std::max(highest, lid);
    return highest;
}

// --- Unicast -------------------------------------------------------------------------------------

std::map<Guid, LinearTable> linear_tables(const Subnet& subnet, const LidTable& lids) {
    std::map<Guid, LinearTable> tables;
    for (const auto& [guid, node] : subnet.nodes)
        if (node.is_switch())
            tables[guid].assign(lids.highest() + 1U, fabric::ForwardingTables::no_port);
    PortLoads loads;
    for (const auto& [guid, key] : subnet.end_ports()) {
        const auto at = subnet.switch_port_of(key);
        const Lid lid = lids.lid_of(guid);
        if (!at || lid == fabric::unassigned_lid)
            continue;
        const auto hops = distances(subnet, at->node);
        for (auto& [from, table] : tables) {
            if (from == at->node)
                table[lid] = at->port;
            else if (hops.contains(from))
                table[lid] =
                    next_hop(subnet, from, hops, loads).value_or(fabric::ForwardingTables::no_port);
        }
    }
    return tables;
}

// --- Multicast -----------------------------------------------------------------------------------

namespace {

/// A switch in the spanning tree, with the link to its parent.
struct TreeNode {
    Guid node = 0;
    PortKey parent;          ///< the port of the parent; of node 0 for the root
    std::uint8_t uplink = 0; ///< the own port
};

/// The switches in the order of their distance from the root.
std::vector<TreeNode> spanning_tree(const Subnet& subnet) {
    std::vector<TreeNode> tree;
    std::set<Guid> reached{subnet.root};
    if (subnet.nodes.contains(subnet.root))
        tree.push_back({.node = subnet.root, .parent = {}});
    for (std::size_t i = 0; i < tree.size(); ++i) {
        const Guid at = tree[i].node;
        for (const auto& [port, neighbor] : uplinks(subnet, subnet.nodes.at(at))) {
            if (!reached.insert(neighbor).second)
                continue;
            const std::uint8_t uplink = subnet.nodes.at(at).ports.at(port).peer->port;
            tree.push_back({.node = neighbor, .parent = {at, port}, .uplink = uplink});
        }
    }
    return tree;
}

} // namespace

MulticastPorts multicast_ports(const Subnet& subnet, const GroupMembers& group) {
    MulticastPorts ports;
    std::map<Guid, std::size_t> below; ///< receivers in the subtree of a switch
    std::size_t all = 0;
    for (const PortKey& receiver : group.receivers) {
        const auto at = subnet.switch_port_of(receiver);
        if (!at)
            continue;
        ports[at->node].insert(at->port);
        ++below[at->node];
        ++all;
    }
    const auto tree = spanning_tree(subnet);
    for (auto node = tree.rbegin(); node != tree.rend(); ++node) {
        if (node->parent.node == 0)
            continue;
        below[node->parent.node] += below[node->node];
        if (below[node->node] != 0)
            ports[node->parent.node].insert(node->parent.port);
        if (below[node->node] < all)
            ports[node->node].insert(node->uplink);
    }
    return ports;
}

} // namespace cxemu::subnet_manager
