// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/channel.hpp"

#include "transport/ports.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::transport {

namespace {

using Path = hwtab::ConstView<hwtab::ads>;

Path primary_path(const queues::QueuePair& queue_pair) {
    return queue_pair.context().nested<"primary_address_path", hwtab::ads>();
}

Path alternate_path(const queues::QueuePair& queue_pair) {
    return queue_pair.context().nested<"secondary_address_path", hwtab::ads>();
}

fabric::Lid source_lid(Path path, const fabric::HcaPort& port) {
    const auto path_mask = static_cast<fabric::Lid>((1U << port.lmc()) - 1);
    return port.lid() | (static_cast<fabric::Lid>(path.get<"mlid">()) & path_mask);
}

fabric::Grh global_route(Path path, const fabric::HcaPort& port) {
    return {.traffic_class = static_cast<std::uint8_t>(path.get<"tclass">()),
            .flow_label = static_cast<std::uint32_t>(path.get<"flow_label">()),
            .hop_limit = static_cast<std::uint8_t>(path.get<"hop_limit">()),
            .source = port.gid(path.get<"src_addr_index">()),
            .destination = fabric::Gid(path.bytes<"rgid_rip">())};
}

/// LIDs and GIDs match the connection (IBA volume 1, 9.6.1.5).
bool is_on_path(Path path, const fabric::HcaPort& port, const fabric::ParsedPacket& packet) {
    const auto& global = packet.headers.global;
    if (packet.headers.local.slid != path.get<"rlid">() ||
        global.has_value() != (path.get<"grh">() != 0))
        return false;
    return !global || (port.has_gid(global->destination) &&
                       global->source == fabric::Gid(path.bytes<"rgid_rip">()));
}

bool has_p_key(Path path, const fabric::HcaPort& port, std::uint16_t p_key) {
    const auto index = path.get<"pkey_index">();
    return index < port.p_keys().size() && fabric::p_keys_match(port.p_keys()[index], p_key);
}

} // namespace

std::uint32_t Channel::path_mtu() const {
    constexpr std::uint32_t smallest_mtu = 128; // code 1 is 256 bytes
    return smallest_mtu << std::as_const(queue_pair_).context().get<"mtu">();
}

fabric::HcaPort* Channel::port() const {
    return hca_.port(port_number(queue_pair_));
}

std::uint32_t Channel::remote_queue_pair() const {
    if (queues::is_dynamic(queue_pair_.service()))
        return peer_ ? peer_->queue_pair : 0;
    return static_cast<std::uint32_t>(std::as_const(queue_pair_).context().get<"remote_qpn">());
}

std::optional<fabric::PacketHeaders> Channel::headers_to_peer() const {
    const auto index = primary_path(queue_pair_).get<"pkey_index">();
    const fabric::HcaPort* const way = port();
    if (!peer_ || way == nullptr || way->lid() == fabric::unassigned_lid ||
        index >= way->p_keys().size())
        return std::nullopt;
    const auto path_mask = static_cast<fabric::Lid>((1U << way->lmc()) - 1);
    return fabric::PacketHeaders{
        .local = {.sl = peer_->service_level,
                  .dlid = peer_->lid,
                  .slid = static_cast<fabric::Lid>(way->lid() | (peer_->path_bits & path_mask))},
        .global = peer_->global,
        .transport = {.p_key = way->p_keys()[index], .destination_qp = peer_->queue_pair},
        .dynamic = peer_->header};
}

std::optional<fabric::PacketHeaders> Channel::headers() const {
    if (queues::is_dynamic(queue_pair_.service()))
        return headers_to_peer();
    const Path path = primary_path(queue_pair_);
    const fabric::HcaPort* const way = port();
    if (way == nullptr || way->lid() == fabric::unassigned_lid ||
        path.get<"pkey_index">() >= way->p_keys().size() ||
        path.get<"src_addr_index">() >= way->gid_count())
        return std::nullopt;
    fabric::PacketHeaders headers{.local = {.sl = static_cast<std::uint8_t>(path.get<"sl">()),
                                            .dlid = static_cast<fabric::Lid>(path.get<"rlid">()),
                                            .slid = source_lid(path, *way)},
                                  .transport = {.migrated = migration_.migrated(),
                                                .p_key = way->p_keys()[path.get<"pkey_index">()],
                                                .destination_qp = remote_queue_pair()}};
    if (path.get<"grh">() != 0)
        headers.global = global_route(path, *way);
    return headers;
}

void Channel::send(fabric::Packet packet) {
    fabric::HcaPort* const way = port();
    if (way == nullptr)
        return;
    if (peer_ ? peer_->force_loopback : primary_path(queue_pair_).get<"fl">() != 0)
        loopback_.send(*way, queue_pair_.number(), std::move(packet));
    else
        way->send(std::move(packet));
}

bool Channel::is_from_peer(const fabric::HcaPort& arrival,
                           const fabric::ParsedPacket& packet) const {
    const auto& global = packet.headers.global;
    if (!peer_ || &arrival != port() || packet.headers.local.slid != peer_->lid ||
        global.has_value() != peer_->global.has_value())
        return false;
    return !global ||
           (arrival.has_gid(global->destination) && global->source == peer_->global->destination);
}

/// The peer has migrated. If the packet has arrived on the alternate path, this side migrates, too.
bool Channel::follows_peer(fabric::HcaPort& arrival, const fabric::ParsedPacket& packet) {
    const Path path = alternate_path(queue_pair_);
    const auto number = std::max<std::uint64_t>(path.get<"vhca_port_num">(), 1);
    const bool fits = arrival.number() == number && is_on_path(path, arrival, packet) &&
                      has_p_key(path, arrival, packet.headers.transport.p_key);
    if (fits)
        migration_.arrived_on_alternate();
    else
        migration_.refuse();
    return fits;
}

bool Channel::accepts(fabric::HcaPort& arrival, const fabric::ParsedPacket& packet) {
    const bool is_dynamic = queues::is_dynamic(queue_pair_.service());
    if (is_dynamic && !is_from_peer(arrival, packet))
        return false;
    if (!is_dynamic && migration_.expects_alternate(packet))
        return follows_peer(arrival, packet);
    const Path path = primary_path(queue_pair_);
    if (!is_dynamic && (&arrival != port() || !is_on_path(path, arrival, packet)))
        return false;
    if (!has_p_key(path, arrival, packet.headers.transport.p_key)) {
        arrival.report_violation(
            fabric::key_violation(packet.headers, fabric::KeyViolation::Kind::p_key));
        return false;
    }
    if (!is_dynamic)
        migration_.arrived_on_primary(packet);
    return true;
}

} // namespace cxemu::transport
