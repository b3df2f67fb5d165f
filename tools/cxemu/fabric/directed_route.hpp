// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Routing of directed-route SMPs: from port to port along the path in the SMP (InfiniBand
/// specification, 14.2.2).
#pragma once

#include "fabric/identifiers.hpp"
#include "fabric/mad.hpp"

#include <cstdint>

namespace cxemu::fabric {

/// The action of a node for a directed-route SMP.
struct RouteStep {
    enum class Action : std::uint8_t {
        discard,      ///< invalid hop pointer, or no port at the next hop
        deliver,      ///< to the agent or manager of this node
        forward,      ///< out of `port`
        route_by_lid, ///< to `lid` by the forwarding table; a response with the permissive LID
                      ///< returns to the LID of the requester
    };
    Action action = Action::discard;
    std::uint8_t port = 0;
    Lid lid = permissive_lid;
};

/// A node that relays or receives SMPs.
struct RoutingNode {
    bool is_switch = false;
    std::uint8_t ports = 1;   ///< external ports, numbered from 1
    std::uint8_t arrival = 1; ///< port at which the SMP arrived
};

/// Processes an SMP received from a link: updates hop pointer and return path.
RouteStep receive_step(Mad& smp, const RoutingNode& node);

/// Processes an SMP sent by the node itself (request or response): updates the hop pointer.
RouteStep send_step(Mad& smp, const RoutingNode& node);

} // namespace cxemu::fabric
