// SPDX-License-Identifier: GPL-2.0-or-later
#include "subnet_manager/routing.hpp"

#include "fabric/forwarding_tables.hpp"

#include <algorithm>
#include <deque>
#include <optional>

namespace cxemu::subnet_manager {
namespace {

/// The highest unicast LID that the manager's switch can forward. Another switch that can forward
/// fewer LIDs is not used as a path, so its limit cannot take LIDs from other nodes.
Lid last_lid(const Subnet& subnet) {
    const auto root = subnet.nodes.find(subnet.root);
    const auto entries =
        root == subnet.nodes.end() ? 0 : root->second.switch_view().get<"linear_fdb_cap">();
    const auto highest = entries == 0 ? std::uint64_t{0} : entries - 1;
    return static_cast<Lid>(std::min<std::uint64_t>(fabric::last_unicast_lid, highest));
}

/// Ports of a switch that lead to another switch, with that switch.
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

/// The entries of a switch's linear forwarding table up to the highest LID in use.
std::size_t entries_of(const SubnetNode& node, const LidTable& lids) {
    return std::min<std::size_t>(lids.highest() + 1U, node.switch_view().get<"linear_fdb_cap">());
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
        static_cast<void>(assign(first, present(own->second), last));
    for (const auto& [guid, key] : end_ports)
        if (present(key) != fabric::unassigned_lid)
            static_cast<void>(assign(guid, present(key), last));
    for (const auto& [guid, key] : end_ports) {
        if (assign(guid, fabric::unassigned_lid, last))
            continue;
        keep_only(end_ports);
        static_cast<void>(assign(guid, fabric::unassigned_lid, last));
    }
}

/// \return false when no LID is free
bool LidTable::assign(Guid port, Lid present, Lid last) {
    if (lids_.contains(port))
        return true;
    unsigned lid = present;
    if (!fabric::is_unicast(present) || present > last || ports_.contains(present))
        for (lid = 1; lid <= last && ports_.contains(static_cast<Lid>(lid));)
            ++lid;
    if (lid > last)
        return false;
    lids_[port] = static_cast<Lid>(lid);
    ports_[static_cast<Lid>(lid)] = port;
    return true;
}

void LidTable::keep_only(const std::map<Guid, PortKey>& end_ports) {
    std::erase_if(lids_, [&](const auto& entry) { return !end_ports.contains(entry.first); });
    std::erase_if(ports_, [&](const auto& entry) { return !end_ports.contains(entry.second); });
}

void LidTable::clear() {
    lids_.clear();
    ports_.clear();
}

Lid LidTable::lid_of(Guid port) const {
    const auto found = lids_.find(port);
    return found == lids_.end() ? fabric::unassigned_lid : found->second;
}

Guid LidTable::port_of(Lid lid) const {
    const auto found = ports_.find(lid);
    return found == ports_.end() ? 0 : found->second;
}

Lid LidTable::highest() const {
    return ports_.empty() ? fabric::unassigned_lid : ports_.rbegin()->first;
}

// --- Unicast -------------------------------------------------------------------------------------

std::map<Guid, LinearTable> linear_tables(const Subnet& subnet, const LidTable& lids) {
    std::map<Guid, LinearTable> tables;
    for (const auto& [guid, node] : subnet.nodes)
        if (node.is_switch())
            tables[guid].assign(entries_of(node, lids), fabric::ForwardingTables::no_port);
    PortLoads loads;
    for (const auto& [guid, key] : subnet.end_ports()) {
        const auto at = subnet.switch_port_of(key);
        const Lid lid = lids.lid_of(guid);
        if (!at || lid == fabric::unassigned_lid)
            continue;
        const auto hops = distances(subnet, at->node);
        for (auto& [from, table] : tables) {
            if (lid >= table.size())
                continue;
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
