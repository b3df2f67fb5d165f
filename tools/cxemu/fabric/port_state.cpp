// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/port_state.hpp"

namespace cxemu::fabric {

std::string_view name_of(PortState state) {
    switch (state) {
    case PortState::down:
        return "down";
    case PortState::init:
        return "init";
    case PortState::armed:
        return "armed";
    case PortState::active:
        return "active";
    }
    return "unknown";
}

std::string_view name_of(PhysicalState state) {
    switch (state) {
    case PhysicalState::sleep:
        return "sleep";
    case PhysicalState::polling:
        return "polling";
    case PhysicalState::disabled:
        return "disabled";
    case PhysicalState::training:
        return "training";
    case PhysicalState::link_up:
        return "link_up";
    case PhysicalState::error_recovery:
        return "error_recovery";
    }
    return "unknown";
}

PortCounters& PortCounters::operator+=(const PortCounters& other) {
    symbol_errors += other.symbol_errors;
    link_error_recoveries += other.link_error_recoveries;
    link_downed += other.link_downed;
    receive_errors += other.receive_errors;
    receive_remote_physical_errors += other.receive_remote_physical_errors;
    receive_switch_relay_errors += other.receive_switch_relay_errors;
    transmit_discards += other.transmit_discards;
    transmit_constraint_errors += other.transmit_constraint_errors;
    receive_constraint_errors += other.receive_constraint_errors;
    local_link_integrity_errors += other.local_link_integrity_errors;
    excessive_buffer_overruns += other.excessive_buffer_overruns;
    vl15_dropped += other.vl15_dropped;
    transmit_bytes += other.transmit_bytes;
    receive_bytes += other.receive_bytes;
    transmit_packets += other.transmit_packets;
    receive_packets += other.receive_packets;
    transmit_wait += other.transmit_wait;
    unicast_transmit_packets += other.unicast_transmit_packets;
    unicast_receive_packets += other.unicast_receive_packets;
    multicast_transmit_packets += other.multicast_transmit_packets;
    multicast_receive_packets += other.multicast_receive_packets;
    return *this;
}

} // namespace cxemu::fabric
