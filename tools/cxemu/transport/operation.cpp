// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/operation.hpp"

#include "fabric/packet.hpp"
#include "hwtab/view.hpp"
#include "tables/packet_headers.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace cxemu::transport {

namespace {

using queues::ServiceType;

constexpr std::uint8_t service_bits = 0xe0;
constexpr std::uint8_t operation_bits = 0x1f;
constexpr std::uint8_t rc_opcodes = 0x00;
constexpr std::uint8_t uc_opcodes = 0x20;
constexpr std::uint8_t xrc_opcodes = 0xa0;

struct Entry {
    std::uint64_t opcode;
    Operation operation;
};

template <hwtab::FixedString name>
constexpr auto code = hwtab::value<hwtab::transport_opcode, name>;

constexpr Operation packet(PacketOp verb, bool first, bool last) {
    return {.verb = verb, .first = first, .last = last};
}
constexpr Operation with_immediate(PacketOp verb, bool first) {
    return {.verb = verb, .first = first, .immediate = true};
}
constexpr Operation with_invalidate(bool first) {
    return {.first = first, .invalidate = true};
}

constexpr std::array entries{
    Entry{code<"rc_send_first">, packet(PacketOp::send, true, false)},
    Entry{code<"rc_send_middle">, packet(PacketOp::send, false, false)},
    Entry{code<"rc_send_last">, packet(PacketOp::send, false, true)},
    Entry{code<"rc_send_last_with_immediate">, with_immediate(PacketOp::send, false)},
    Entry{code<"rc_send_only">, packet(PacketOp::send, true, true)},
    Entry{code<"rc_send_only_with_immediate">, with_immediate(PacketOp::send, true)},
    Entry{code<"rc_rdma_write_first">, packet(PacketOp::write, true, false)},
    Entry{code<"rc_rdma_write_middle">, packet(PacketOp::write, false, false)},
    Entry{code<"rc_rdma_write_last">, packet(PacketOp::write, false, true)},
    Entry{code<"rc_rdma_write_last_with_immediate">, with_immediate(PacketOp::write, false)},
    Entry{code<"rc_rdma_write_only">, packet(PacketOp::write, true, true)},
    Entry{code<"rc_rdma_write_only_with_immediate">, with_immediate(PacketOp::write, true)},
    Entry{code<"rc_rdma_read_request">, packet(PacketOp::read, true, true)},
    Entry{code<"rc_rdma_read_response_first">, packet(PacketOp::read_response, true, false)},
    Entry{code<"rc_rdma_read_response_middle">, packet(PacketOp::read_response, false, false)},
    Entry{code<"rc_rdma_read_response_last">, packet(PacketOp::read_response, false, true)},
    Entry{code<"rc_rdma_read_response_only">, packet(PacketOp::read_response, true, true)},
    Entry{code<"rc_acknowledge">, packet(PacketOp::acknowledge, true, true)},
    Entry{code<"rc_atomic_acknowledge">, packet(PacketOp::atomic_acknowledge, true, true)},
    Entry{code<"rc_compare_swap">, packet(PacketOp::compare_swap, true, true)},
    Entry{code<"rc_fetch_add">, packet(PacketOp::fetch_add, true, true)},
    Entry{fabric::dynamic_connect_opcode & operation_bits, packet(PacketOp::connect, true, true)},
    Entry{fabric::dynamic_disconnect_opcode & operation_bits,
          packet(PacketOp::disconnect, true, true)},
    Entry{code<"rc_send_last_with_invalidate">, with_invalidate(false)},
    Entry{code<"rc_send_only_with_invalidate">, with_invalidate(true)},
};

using OperationTable = std::array<std::optional<Operation>, operation_bits + 1>;

constexpr OperationTable operations = [] {
    OperationTable table{};
    for (const Entry& entry : entries)
        table[entry.opcode] = entry.operation;
    return table;
}();

std::uint8_t opcodes_of(ServiceType service) {
    assert(is_connected(service));
    switch (service) {
    case ServiceType::unreliable_connection:
        return uc_opcodes;
    case ServiceType::extended_reliable_connection:
        return xrc_opcodes;
    case ServiceType::dci:
    case ServiceType::dct:
        return fabric::dynamic_opcodes;
    default:
        return rc_opcodes;
    }
}

} // namespace

std::optional<Operation> operation_of(std::uint8_t opcode) {
    return operations[opcode & operation_bits];
}

bool is_of_connection(std::uint8_t opcode) {
    const std::uint8_t service = opcode & service_bits;
    return service == rc_opcodes || service == uc_opcodes || service == xrc_opcodes ||
           service == fabric::dynamic_opcodes;
}

bool belongs_to(ServiceType service, std::uint8_t opcode) {
    return (opcode & service_bits) == opcodes_of(service);
}

std::uint8_t opcode_of(ServiceType service, const Operation& operation) {
    const auto* const found = std::ranges::find(operations, std::optional(operation));
    assert(found != operations.end());
    return static_cast<std::uint8_t>(opcodes_of(service) | (found - operations.begin()));
}

} // namespace cxemu::transport
