// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Operation of packets of connected services, and its opcodes.
#pragma once

#include "queues/qp_values.hpp"

#include <cstdint>
#include <optional>

namespace cxemu::transport {

enum class PacketOp : std::uint8_t {
    send,
    write,
    read, ///< request
    compare_swap,
    fetch_add,
    connect,    ///< dynamic connections only
    disconnect, ///< dynamic connections only
    read_response,
    acknowledge,
    atomic_acknowledge,
};

constexpr bool is_atomic(PacketOp verb) {
    return verb == PacketOp::compare_swap || verb == PacketOp::fetch_add;
}
/// Packets from responder to requester.
constexpr bool is_response(PacketOp verb) {
    return verb >= PacketOp::read_response;
}

/// Operation, and position of the packet in its message. A single-packet message is both first and
/// last.
struct Operation {
    PacketOp verb = PacketOp::send;
    bool first = true;
    bool last = true;
    bool immediate = false;  ///< carries immediate data
    bool invalidate = false; ///< carries an R_Key to invalidate

    constexpr bool operator==(const Operation&) const = default;
};

/// The operation of \p opcode (of any connected service); nothing for one that RC doesn't have.
std::optional<Operation> operation_of(std::uint8_t opcode);

/// Whether \p opcode is of a connected service: RC, UC, XRC or DC.
bool is_of_connection(std::uint8_t opcode);
/// Whether \p opcode is of \p service. \pre the service is connected
bool belongs_to(queues::ServiceType service, std::uint8_t opcode);

/// \pre the service is connected and supports the operation
std::uint8_t opcode_of(queues::ServiceType service, const Operation& operation);

/// RC, UC, XRC and DC.
constexpr bool is_connected(queues::ServiceType service) {
    return service == queues::ServiceType::reliable_connection ||
           service == queues::ServiceType::unreliable_connection ||
           service == queues::ServiceType::extended_reliable_connection ||
           queues::is_dynamic(service);
}
/// RC, XRC and DC.
constexpr bool is_reliable(queues::ServiceType service) {
    return is_connected(service) && service != queues::ServiceType::unreliable_connection;
}

} // namespace cxemu::transport
