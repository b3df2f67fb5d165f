// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/dct.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::transport {

namespace {

constexpr int packets_per_slice = 64;

} // namespace

/// Responses use the reversed path of the request.
DcPeer Dct::peer_of(const fabric::ParsedPacket& packet) const {
    const auto& headers = packet.headers;
    const auto context = std::as_const(queue_pair_).context();
    DcPeer peer{.queue_pair = headers.dynamic->source_qp,
                .lid = headers.local.slid,
                .path_bits = static_cast<std::uint8_t>(headers.local.dlid & 0x7fU),
                .service_level = headers.local.sl,
                .force_loopback = headers.local.slid == headers.local.dlid,
                .global = std::nullopt,
                .header = {}};
    if (headers.global)
        peer.global = fabric::Grh{
            .traffic_class =
                static_cast<std::uint8_t>(context.get<"primary_address_path.tclass">()),
            .flow_label =
                static_cast<std::uint32_t>(context.get<"primary_address_path.flow_label">()),
            .hop_limit = static_cast<std::uint8_t>(context.get<"primary_address_path.hop_limit">()),
            .source = headers.global->destination,
            .destination = headers.global->source};
    return peer;
}

/// The connection named by \p header, not an earlier or later one of the same DCI.
Dct::Incoming* Dct::find(const Initiator& initiator, const fabric::DcEth& header) const {
    const auto found = connections_.find(initiator);
    return found != connections_.end() && found->second->number == header.connection &&
                   !found->second->closed
               ? found->second.get()
               : nullptr;
}

void Dct::packet_arrived(fabric::HcaPort& port, const fabric::ParsedPacket& packet) {
    const auto operation = operation_of(packet.headers.transport.opcode);
    if (!operation || is_response(operation->verb) || !queue_pair_.can_receive())
        return;
    const auto& header = *packet.headers.dynamic;
    const Initiator initiator{packet.headers.local.slid, header.source_qp};
    if (operation->verb == PacketOp::connect)
        return connect(port, packet);
    Incoming* connection = find(initiator, header);
    if (connection == nullptr || !connection->channel.accepts(port, packet))
        return;
    if (operation->verb == PacketOp::disconnect)
        disconnect(initiator, header);
    else
        connection->responder.request_arrived(port, packet, *operation);
}

void Dct::connect(fabric::HcaPort& port, const fabric::ParsedPacket& packet) {
    const auto& header = *packet.headers.dynamic;
    if (header.access_key != std::as_const(queue_pair_).context().get<"dc_access_key">()) {
        queue_pair_.count_key_violation();
        return refuse(packet, NakCode::remote_access);
    }
    const Initiator initiator{packet.headers.local.slid, header.source_qp};
    auto& connection = connections_[initiator];
    if (!connection)
        connection = std::make_unique<Incoming>(hca_, queue_pair_, loopback_,
                                                [this, initiator] { ask_for_turn(initiator); });
    if (header.connection > connection->number)
        return begin(*connection, port, packet);
    if (header.connection == connection->number && !connection->closed)
        connection->responder.repeat_connect();
}

void Dct::begin(Incoming& connection, fabric::HcaPort& port, const fabric::ParsedPacket& packet) {
    connection.responder.stop();
    connection.number = packet.headers.dynamic->connection;
    connection.channel.set_peer(peer_of(packet));
    connection.closed = !connection.channel.accepts(port, packet);
    if (!connection.closed)
        connection.responder.connect(Psn(packet.headers.transport.psn));
}

void Dct::disconnect(const Initiator& initiator, const fabric::DcEth& header) {
    if (Incoming* connection = find(initiator, header)) {
        connection->responder.stop();
        connection->closed = true;
    }
}

/// Rejects a connection that isn't established.
void Dct::refuse(const fabric::ParsedPacket& packet, NakCode code) {
    Channel channel(hca_, queue_pair_, loopback_);
    channel.set_peer(peer_of(packet));
    auto headers = channel.headers();
    if (!headers)
        return;
    headers->transport.opcode = opcode_of(queue_pair_.service(), {.verb = PacketOp::acknowledge});
    headers->transport.psn = packet.headers.transport.psn;
    headers->ack = {.syndrome = nak_syndrome(code), .msn = 0};
    channel.send(fabric::build(*headers, {}));
}

void Dct::ask_for_turn(const Initiator& initiator) {
    if (waiting_.empty())
        turns_.ask(queue_pair_.number());
    waiting_.insert(initiator);
}

void Dct::run_slice() {
    for (const Initiator& initiator : std::exchange(waiting_, {})) {
        const auto found = connections_.find(initiator);
        if (found == connections_.end())
            continue;
        int budget = packets_per_slice;
        if (found->second->responder.send(budget))
            ask_for_turn(initiator);
        if (found->second->responder.has_ended())
            found->second->closed = true;
    }
}

void Dct::page_fault_resumed(std::uint32_t token, bool resolved) {
    for (auto& [initiator, connection] : connections_)
        connection->responder.page_fault_resumed(token, resolved);
}

std::size_t Dct::connections() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        connections_, [](const auto& entry) { return !entry.second->closed; }));
}

void Dct::stop() {
    for (auto& [initiator, connection] : connections_)
        connection->responder.stop();
}

} // namespace cxemu::transport
