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
    /// Interval in which PortStateChange of the switches and the states of other managers are read.
    EventLoop::Duration sweep_interval = std::chrono::seconds(10);
    /// Delay from a trap about changed capabilities to the sweep. The capabilities of a host change
    /// when its software starts or stops. If an SMP arrives while Linux 6.12 removes a port, Linux
    /// uses freed memory (agent_send_response() after ib_agent_port_close()).
    EventLoop::Duration trap_delay = std::chrono::seconds(1);
    /// Delay until a sweep is repeated in which a node did not respond.
    EventLoop::Duration retry_interval = std::chrono::seconds(1);
    /// Standby: between two requests to the master.
    EventLoop::Duration polling_interval = std::chrono::seconds(10);
    /// Standby: number of consecutive requests without a response after which the master counts as
    /// lost.
    unsigned polling_attempts = 4;
};

} // namespace cxemu::subnet_manager
