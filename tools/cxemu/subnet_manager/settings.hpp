// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Settings of the subnet manager. The defaults are those of OpenSM.
#pragma once

#include "base/event_loop.hpp"
#include "fabric/identifiers.hpp"

#include <chrono>
#include <cstdint>

namespace cxemu::subnet_manager {

struct ManagerSettings {
    fabric::Guid guid = 0;     ///< of port 0 of the switch
    std::uint8_t priority = 0; ///< the lowest
    std::uint64_t sm_key = 1;  ///< shows the right to be master, and to see all multicast members
    std::uint64_t gid_prefix = fabric::default_gid_prefix;
    std::uint8_t subnet_timeout = 18;          ///< 4.096 us << 18, 1.1 s
    std::uint8_t packet_life_time = 18;        ///< of paths and of switches
    std::uint8_t head_of_queue_life = 18;      ///< of switch ports to switches
    std::uint8_t leaf_head_of_queue_life = 16; ///< of switch ports to channel adapters
    std::uint8_t vl_stall_count = 7;
    std::uint8_t error_threshold = 8;
    /// Between two looks at PortStateChange of the switches, and at other managers.
    EventLoop::Duration sweep_interval = std::chrono::seconds(10);
    /// From a trap about changed capabilities to the sweep. A host changes them when its software
    /// comes or goes; Linux 6.12 uses memory that it has freed when an SMP arrives in the moment in
    /// which it removes a port (agent_send_response() after ib_agent_port_close()).
    EventLoop::Duration trap_delay = std::chrono::seconds(1);
    /// Until a sweep is repeated in which a node didn't answer.
    EventLoop::Duration retry_interval = std::chrono::seconds(1);
    /// Standby: between two requests to the master.
    EventLoop::Duration polling_interval = std::chrono::seconds(10);
    /// Standby: requests in a row without a response, after which the master counts as lost.
    unsigned polling_attempts = 4;
};

} // namespace cxemu::subnet_manager
