// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// How directed-route SMPs find their way: from port to port along a path that they carry
/// (InfiniBand specification, 14.2.2).
#pragma once

#include "fabric/identifiers.hpp"
#include "fabric/mad.hpp"

#include <cstdint>

namespace cxemu::fabric {

/// What a node does with a directed-route SMP.
struct RouteStep {
    enum class Action : std::uint8_t {
        discard,      ///< the hop pointer is wrong, or the path leads nowhere
        deliver,      ///< the SMP has arrived: to the agent or manager of this node
        forward,      ///< out of `port`
        route_by_lid, ///< on to `lid` by the forwarding table; an answer with the permissive LID
                      ///< goes back to the LID that the request came from
    };
    Action action = Action::discard;
    std::uint8_t port = 0;
    Lid lid = permissive_lid;
};

/// A node that relays and receives.
struct RoutingNode {
    bool is_switch = false;
    std::uint8_t ports = 1;   ///< external ports, numbered from 1
    std::uint8_t arrival = 1; ///< port at which the SMP arrived
};

/// An SMP has arrived over a link: updates hop pointer and return path.
RouteStep receive_step(Mad& smp, const RoutingNode& node);

/// The node sends an SMP itself (an answer, or a request of its own): updates the hop pointer.
RouteStep send_step(Mad& smp, const RoutingNode& node);

} // namespace cxemu::fabric
