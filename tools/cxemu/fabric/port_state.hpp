// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// States and counters of a port.
#pragma once

#include <cstdint>
#include <string_view>

namespace cxemu::fabric {

/// PortState of PortInfo.
enum class PortState : std::uint8_t { down = 1, init = 2, armed = 3, active = 4 };

/// PortPhysicalState of PortInfo.
enum class PhysicalState : std::uint8_t {
    sleep = 1,
    polling = 2,
    disabled = 3,
    training = 4,
    link_up = 5,
    error_recovery = 6,
};

std::string_view name_of(PortState state);
std::string_view name_of(PhysicalState state);

/// Counters of a port since they were cleared. They do not saturate; the performance management
/// agent limits them to the widths of its attributes. Data counts are in bytes.
struct PortCounters {
    std::uint64_t symbol_errors = 0;
    std::uint64_t link_error_recoveries = 0;
    std::uint64_t link_downed = 0;
    std::uint64_t receive_errors = 0;
    std::uint64_t receive_remote_physical_errors = 0;
    std::uint64_t receive_switch_relay_errors = 0;
    std::uint64_t transmit_discards = 0;
    std::uint64_t transmit_constraint_errors = 0;
    std::uint64_t receive_constraint_errors = 0;
    std::uint64_t local_link_integrity_errors = 0;
    std::uint64_t excessive_buffer_overruns = 0;
    std::uint64_t vl15_dropped = 0;
    std::uint64_t transmit_bytes = 0;
    std::uint64_t receive_bytes = 0;
    std::uint64_t transmit_packets = 0;
    std::uint64_t receive_packets = 0;
    std::uint64_t transmit_wait = 0;
    std::uint64_t unicast_transmit_packets = 0;
    std::uint64_t unicast_receive_packets = 0;
    std::uint64_t multicast_transmit_packets = 0;
    std::uint64_t multicast_receive_packets = 0;

    PortCounters& operator+=(const PortCounters& other);
};

/// Packets, and bytes in them.
struct Traffic {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;

    void count(std::uint64_t size) {
        ++packets;
        bytes += size;
    }
};

/// Traffic of an HCA port for the host. Separate from PortCounters because the two are cleared
/// independently.
struct TrafficCounters {
    std::uint64_t received_errors = 0;
    std::uint64_t transmit_errors = 0;
    Traffic unicast_received;
    Traffic unicast_transmitted;
    Traffic multicast_received;
    Traffic multicast_transmitted;
    Traffic loopback;
};

} // namespace cxemu::fabric
