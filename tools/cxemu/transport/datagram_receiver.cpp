// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/datagram_receiver.hpp"

#include "hwtab/view.hpp"
#include "tables/packet_headers.hpp"
#include "transport/ports.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace cxemu::transport {

namespace {

using fabric::ParsedPacket;
using queues::QueuePair;
using queues::ServiceType;

constexpr auto ud_send_only = hwtab::value<hwtab::transport_opcode, "ud_send_only">;
constexpr auto ud_send_only_with_immediate =
    hwtab::value<hwtab::transport_opcode, "ud_send_only_with_immediate">;

constexpr std::array<std::string_view, drop_reasons> drop_names{
    "unsupported_opcode",   "wrong_virtual_lane", "foreign_gid",       "no_global_route",
    "no_group_members",     "no_queue_pair",      "wrong_service",     "not_receiving",
    "own_multicast",        "partition_key",      "queue_key",         "no_receive_request",
    "receive_queue_failed", "too_long",           "unwritable_memory",
};

bool is_datagram(const ParsedPacket& packet) {
    const auto opcode = packet.headers.transport.opcode;
    return opcode == ud_send_only || opcode == ud_send_only_with_immediate;
}

bool is_on_right_lane(const ParsedPacket& packet) {
    const bool management_lane = packet.headers.local.vl == fabric::management_vl;
    const bool management_queue =
        packet.headers.transport.destination_qp == fabric::subnet_management_qp;
    return management_lane == management_queue;
}

/// The checks that don't depend on the receiving QP.
std::optional<DropReason> check_packet(const fabric::HcaPort& port, const ParsedPacket& packet) {
    if (!is_datagram(packet))
        return DropReason::unsupported_opcode;
    if (!is_on_right_lane(packet))
        return DropReason::wrong_virtual_lane;
    const auto& global = packet.headers.global;
    const bool multicast = packet.headers.transport.destination_qp == fabric::multicast_qp;
    if (multicast && !global)
        return DropReason::no_global_route;
    if (global &&
        (multicast ? !global->destination.is_multicast() : !port.has_gid(global->destination)))
        return DropReason::foreign_gid;
    return std::nullopt;
}

queues::ReceiveCompletion completion_of(const fabric::HcaPort& port, const QueuePair& queue_pair,
                                        const ParsedPacket& packet) {
    const auto& headers = packet.headers;
    return {
        .opcode = headers.immediate ? queues::CompletionOpcode::send_immediate
                                    : queues::CompletionOpcode::send,
        .byte_count = static_cast<std::uint32_t>(fabric::grh_size + packet.payload.size()),
        .immediate = headers.immediate.value_or(0),
        .solicited = headers.transport.solicited_event,
        .source_qp = headers.datagram->source_qp,
        .source_lid = headers.local.slid,
        .path_bits = port.path_bits(headers.local.dlid),
        .multicast = fabric::is_multicast(headers.local.dlid),
        .service_level = headers.local.sl,
        .partition_key = queue_pair.service() == ServiceType::general_services
                             ? std::optional(headers.transport.p_key)
                             : std::nullopt,
        .grh = headers.global ? queues::GrhLocation::buffer : queues::GrhLocation::none,
    };
}

} // namespace

std::string_view name_of(DropReason reason) {
    return drop_names[static_cast<std::size_t>(reason)];
}

nlohmann::json ReceiveStatistics::to_json() const {
    nlohmann::json json{{"delivered", delivered}};
    for (std::size_t i = 0; i < drop_reasons; ++i)
        json["dropped"][std::string(drop_names[i])] = dropped[i];
    return json;
}

void DatagramReceiver::receive(fabric::HcaPort& port, const ParsedPacket& packet,
                               std::optional<std::uint32_t> sender) {
    const Arrival arrival{.port = port, .packet = packet, .sender = sender};
    if (const auto drop = check_packet(port, packet))
        finish(drop);
    else if (arrival.is_multicast())
        receive_multicast(arrival);
    else
        receive_unicast(arrival);
}

void DatagramReceiver::receive_unicast(const Arrival& arrival) {
    QueuePair* queue_pair = find(arrival);
    if (queue_pair == nullptr)
        return finish(DropReason::no_queue_pair);
    if (const auto drop = check(arrival, *queue_pair)) {
        report_violation(arrival, *drop);
        return finish(drop);
    }
    finish(deliver(arrival, *queue_pair));
}

/// Each member checks its own keys. A mismatch is not a violation, because members of a group may
/// be in different partitions.
void DatagramReceiver::receive_multicast(const Arrival& arrival) {
    const auto members = groups_.members(arrival.packet.headers.global->destination);
    if (members.empty())
        return finish(DropReason::no_group_members);
    for (const std::uint32_t number : members) {
        QueuePair* queue_pair = hca_.objects().of<QueuePair>().find(number);
        if (queue_pair == nullptr || port_number(*queue_pair) != arrival.port.number())
            continue;
        const auto drop = check(arrival, *queue_pair);
        finish(drop ? drop : deliver(arrival, *queue_pair));
    }
}

QueuePair* DatagramReceiver::find(const Arrival& arrival) const {
    std::uint32_t number = arrival.packet.headers.transport.destination_qp;
    if (number <= fabric::general_services_qp) {
        const auto service = number == fabric::subnet_management_qp ? ServiceType::subnet_management
                                                                    : ServiceType::general_services;
        const auto special = special_.find(arrival.port.number(), service);
        if (!special)
            return nullptr;
        number = *special;
    }
    QueuePair* queue_pair = hca_.objects().of<QueuePair>().find(number);
    if (queue_pair == nullptr || port_number(*queue_pair) != arrival.port.number())
        return nullptr;
    return queue_pair;
}

std::optional<DropReason> DatagramReceiver::check(const Arrival& arrival,
                                                  const QueuePair& queue_pair) const {
    const std::uint32_t destination = arrival.packet.headers.transport.destination_qp;
    if (destination > fabric::general_services_qp &&
        queue_pair.service() != ServiceType::unreliable_datagram)
        return DropReason::wrong_service;
    if (!queue_pair.can_receive())
        return DropReason::not_receiving;
    if (arrival.is_multicast() && arrival.sender == queue_pair.number() &&
        queue_pair.context().get<"block_lb_mc">() != 0)
        return DropReason::own_multicast;
    return check_keys(arrival, queue_pair);
}

std::optional<DropReason> DatagramReceiver::check_keys(const Arrival& arrival,
                                                       const QueuePair& queue_pair) const {
    const fabric::HcaPort& port = arrival.port;
    const std::uint16_t p_key = arrival.packet.headers.transport.p_key;
    const std::uint32_t q_key = arrival.packet.headers.datagram->q_key;
    switch (queue_pair.service()) {
    case ServiceType::subnet_management:
        return std::nullopt;
    case ServiceType::general_services:
        if (!port.find_p_key(p_key))
            return DropReason::partition_key;
        if (q_key != fabric::general_services_q_key)
            return DropReason::queue_key;
        return std::nullopt;
    default:
        break;
    }
    const auto index = queue_pair.context().get<"primary_address_path.pkey_index">();
    if (index >= port.p_keys().size() || !fabric::p_keys_match(port.p_keys()[index], p_key))
        return DropReason::partition_key;
    if (q_key != queue_pair.context().get<"q_key">())
        return DropReason::queue_key;
    return std::nullopt;
}

std::optional<DropReason> DatagramReceiver::deliver(const Arrival& arrival, QueuePair& queue_pair) {
    const auto request = queue_pair.take_receive();
    if (!request && request.error() != queues::ReceiveFault::empty)
        return DropReason::receive_queue_failed;
    if (!request) {
        ++queue_pair.counts().out_of_buffer;
        return DropReason::no_receive_request;
    }
    const ParsedPacket& packet = arrival.packet;
    if (fabric::grh_size + packet.payload.size() > request->length) {
        queue_pair.fail_receive(*request, queues::CompletionError::local_length);
        return DropReason::too_long;
    }
    // Without a GRH the first 40 bytes are left unwritten: their content is undefined.
    if (!queue_pair.scatter(*request, 0, packet.grh) ||
        !queue_pair.scatter(*request, fabric::grh_size, packet.payload)) {
        queue_pair.fail_receive(*request, queues::CompletionError::local_protection);
        return DropReason::unwritable_memory;
    }
    queue_pair.complete_receive(*request, completion_of(arrival.port, queue_pair, packet));
    return std::nullopt;
}

void DatagramReceiver::finish(std::optional<DropReason> drop) {
    if (drop)
        ++statistics_.dropped[static_cast<std::size_t>(*drop)];
    else
        ++statistics_.delivered;
}

void DatagramReceiver::report_violation(const Arrival& arrival, DropReason reason) {
    using Kind = fabric::KeyViolation::Kind;
    if (reason != DropReason::partition_key && reason != DropReason::queue_key)
        return;
    const Kind kind = reason == DropReason::partition_key ? Kind::p_key : Kind::q_key;
    arrival.port.report_violation(fabric::key_violation(arrival.packet.headers, kind));
}

} // namespace cxemu::transport
