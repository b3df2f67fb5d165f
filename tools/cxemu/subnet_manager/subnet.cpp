// SPDX-License-Identifier: GPL-2.0-or-later
#include "subnet_manager/subnet.hpp"

#include <utility>

namespace cxemu::subnet_manager {

std::string SubnetNode::text() const {
    std::string text;
    for (const std::byte byte : description) {
        if (byte == std::byte{0})
            break;
        text.push_back(std::to_integer<char>(byte));
    }
    return text;
}

const SubnetPort* Subnet::find(PortKey key) const {
    const auto node = nodes.find(key.node);
    if (node == nodes.end())
        return nullptr;
    const auto port = node->second.ports.find(key.port);
    return port == node->second.ports.end() ? nullptr : &port->second;
}

SubnetPort* Subnet::find(PortKey key) {
    return const_cast<SubnetPort*>(std::as_const(*this).find(key));
}

std::map<Guid, PortKey> Subnet::end_ports() const {
    std::map<Guid, PortKey> result;
    for (const auto& [guid, node] : nodes)
        for (const auto& [number, port] : node.ports)
            if (port.guid != 0)
                result.emplace(port.guid, PortKey{guid, number});
    return result;
}

std::optional<PortKey> Subnet::switch_port_of(PortKey end_port) const {
    const auto node = nodes.find(end_port.node);
    if (node != nodes.end() && node->second.is_switch())
        return end_port;
    const SubnetPort* port = find(end_port);
    const bool has_switch = port != nullptr && port->peer && nodes.contains(port->peer->node) &&
                            nodes.at(port->peer->node).is_switch();
    return has_switch ? port->peer : std::nullopt;
}

} // namespace cxemu::subnet_manager
