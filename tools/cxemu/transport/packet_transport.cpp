// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/packet_transport.hpp"

#include "fabric/mad.hpp"
#include "transport/ports.hpp"
#include "transport/rules.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace cxemu::transport {

namespace {

using queues::QueuePair;
using queues::QueuePairState;
using queues::SendWqe;
using queues::ServiceType;

MulticastLimits multicast_limits(hca::Hca& hca) {
    return {.groups = std::size_t{1} << hca.capabilities().maximum<"log_max_mcg">(),
            .members = hca.capabilities().maximum<"max_qp_mcg">()};
}

bool is_special(ServiceType service) {
    return service == ServiceType::subnet_management || service == ServiceType::general_services;
}

/// An SMP to the own port: its directed route has no hop.
bool is_for_own_port(const Datagram& datagram, const fabric::Mad& mad) {
    const auto smp = hwtab::ConstView<hwtab::smp_directed_route>{mad};
    return datagram.headers.local.dlid == fabric::permissive_lid &&
           fabric::is_directed_route(mad) && smp.get<"hop_count">() == 0;
}

} // namespace

PacketTransport::PacketTransport(hca::Hca& hca)
    : hca_(hca), queues_(hca.part<queues::WorkQueues>()), groups_(multicast_limits(hca)),
      receiver_(hca, special_, groups_), loopback_(hca.loop(), *this),
      turns_(hca.loop(), [this](std::uint32_t number) { give_turn(number); }),
      numbers_(hca.loop()) {
    for (std::uint32_t number = 1; number <= hca.port_count(); ++number)
        bindings_.push_back(std::make_unique<PortBinding>(hca, *hca.port(number), *this, special_));
    queues_.set_transport(this);
}

PacketTransport::~PacketTransport() {
    queues_.set_transport(nullptr);
}

void PacketTransport::give_turn(std::uint32_t queue_pair) {
    if (Connection* connection = find_connection(queue_pair))
        connection->run_slice();
    else if (const auto target = targets_.find(queue_pair); target != targets_.end())
        target->second->run_slice();
}

// --- Sends ---------------------------------------------------------------------------------------

Connection* PacketTransport::find_connection(std::uint32_t queue_pair) const {
    const auto found = connections_.find(queue_pair);
    return found == connections_.end() ? nullptr : found->second.get();
}

void PacketTransport::sends_posted(QueuePair& queue_pair) {
    if (Connection* connection = find_connection(queue_pair.number()))
        connection->sends_posted();
    else
        send_datagrams(queue_pair);
}

void PacketTransport::send_datagrams(QueuePair& queue_pair) {
    if (stalled_.contains(queue_pair.number()))
        return;
    for (int i = 0; i < sends_per_turn; ++i) {
        const auto request = queue_pair.next_send();
        if (!request)
            return;
        if (const auto sent = send(queue_pair, *request); !sent) {
            if (sent.error() != SendFault::absent_data || !stall(queue_pair, *request))
                fail(queue_pair, *request, sent.error());
            return;
        }
        queue_pair.complete_send(*request);
    }
    queues_.schedule(queue_pair);
}

std::expected<void, SendFault> PacketTransport::send(QueuePair& queue_pair,
                                                     const SendWqe& request) {
    fabric::HcaPort* port = hca_.port(port_number(queue_pair));
    if (port == nullptr)
        return std::unexpected(SendFault::no_such_port);
    const auto datagram = make_datagram(queue_pair, request, *port);
    if (!datagram)
        return std::unexpected(datagram.error());
    ++sends_.packets;
    sends_.bytes += datagram->payload.size();
    dispatch(*port, queue_pair, *datagram, request.address->force_loopback);
    return {};
}

void PacketTransport::dispatch(fabric::HcaPort& port, const QueuePair& queue_pair,
                               const Datagram& datagram, bool force_loopback) {
    if (ask_own_agent(port, queue_pair, datagram))
        return;
    if (datagram.headers.local.slid == fabric::unassigned_lid) {
        ++sends_.discarded; // the port isn't up
        return;
    }
    fabric::Packet packet = datagram.packet();
    if (force_loopback)
        return loopback_.send(port, queue_pair.number(), std::move(packet));
    const auto& global = datagram.headers.global;
    const bool has_local_members = fabric::is_multicast(datagram.headers.local.dlid) && global &&
                                   groups_.has(global->destination);
    const fabric::Packet copy = has_local_members ? packet : fabric::Packet();
    if (!port.send(std::move(packet)))
        ++sends_.discarded;
    else if (has_local_members)
        loopback_.send(port, queue_pair.number(), copy);
}

/// \return true when the datagram was to the own port
bool PacketTransport::ask_own_agent(fabric::HcaPort& port, const QueuePair& queue_pair,
                                    const Datagram& datagram) {
    fabric::Mad request{};
    if (queue_pair.service() != ServiceType::subnet_management ||
        datagram.payload.size() != request.size())
        return false;
    std::ranges::copy(datagram.payload, request.begin());
    if (!is_for_own_port(datagram, request))
        return false;
    ++sends_.own_agent;
    if (fabric::receiver_of(request) == fabric::SmpReceiver::manager) {
        loopback_.send(port, queue_pair.number(), datagram.packet());
        return true;
    }
    const auto response = port.process(request, {}, fabric::permissive_lid);
    if (response && *response)
        loopback_.send(port, queue_pair.number(),
                       fabric::subnet_management_packet(**response, fabric::permissive_lid,
                                                        fabric::permissive_lid));
    return true;
}

void PacketTransport::fail(QueuePair& queue_pair, const SendWqe& request, SendFault fault) {
    ++sends_.failed;
    hca_.log()->info("QP {:#x} ({}): send {} failed: {}", queue_pair.number(),
                     queues::name_of(queue_pair.service()), request.index, describe(fault));
    queue_pair.fail_send(request, completion_error(fault), static_cast<std::uint8_t>(fault));
}

/// Returns the WQE to its queue until the page fault is resolved. \return false when software can't
/// be notified of the fault
bool PacketTransport::stall(QueuePair& queue_pair, const SendWqe& request) {
    const auto token =
        queue_pair.raise_page_fault({.place = queues::FaultPlace::send_or_write,
                                     .packet = static_cast<std::uint32_t>(request.length),
                                     .index = request.index});
    if (!token)
        return false;
    queue_pair.return_send(request);
    stalled_[queue_pair.number()] = *token;
    return true;
}

void PacketTransport::page_fault_resumed(QueuePair& queue_pair, std::uint32_t token,
                                         bool resolved) {
    if (Connection* connection = find_connection(queue_pair.number()))
        return connection->page_fault_resumed(token, resolved);
    if (const auto target = targets_.find(queue_pair.number()); target != targets_.end())
        return target->second->page_fault_resumed(token, resolved);
    const auto found = stalled_.find(queue_pair.number());
    if (found == stalled_.end() || found->second != token)
        return;
    stalled_.erase(found);
    if (resolved)
        queues_.schedule(queue_pair);
    else if (const auto request = queue_pair.next_send())
        fail(queue_pair, *request, SendFault::absent_data);
}

// --- Packets that arrive -------------------------------------------------------------------------

void PacketTransport::receive(fabric::HcaPort& port, const fabric::ParsedPacket& packet,
                              std::optional<std::uint32_t> sender) {
    const auto& transport = packet.headers.transport;
    if (!is_of_connection(transport.opcode))
        return receiver_.receive(port, packet, sender);
    if (Connection* connection = find_connection(transport.destination_qp))
        return connection->packet_arrived(port, packet);
    const auto target = targets_.find(transport.destination_qp);
    if (target != targets_.end() && packet.headers.dynamic)
        target->second->packet_arrived(port, packet);
}

// --- Queue pairs ---------------------------------------------------------------------------------

void PacketTransport::target_changed(QueuePair& queue_pair) {
    if (queue_pair.state() == QueuePairState::ready_to_receive)
        targets_[queue_pair.number()] = std::make_unique<Dct>(hca_, queue_pair, loopback_, turns_);
    else if (const auto target = targets_.find(queue_pair.number()); target != targets_.end())
        target->second->stop();
}

void PacketTransport::state_changed(QueuePair& queue_pair, QueuePairState from) {
    if (queue_pair.service() == ServiceType::dct)
        return target_changed(queue_pair);
    if (is_connected(queue_pair.service())) {
        if (queue_pair.state() == QueuePairState::ready_to_receive)
            connections_[queue_pair.number()] =
                std::make_unique<Connection>(hca_, queue_pair, loopback_, turns_, numbers_);
        if (Connection* connection = find_connection(queue_pair.number()))
            connection->state_changed(from);
        if (queue_pair.state() == QueuePairState::reset)
            connections_.erase(queue_pair.number());
        return;
    }
    if (!queue_pair.can_receive())
        stalled_.erase(queue_pair.number());
    if (!is_special(queue_pair.service()))
        return;
    if (queue_pair.state() == QueuePairState::init)
        special_.set(port_number(queue_pair), queue_pair.service(), queue_pair.number());
    else if (queue_pair.state() == QueuePairState::reset)
        special_.forget(queue_pair.number());
}

void PacketTransport::attributes_changed(QueuePair& queue_pair) {
    if (Connection* connection = find_connection(queue_pair.number()))
        connection->attributes_changed();
}

void PacketTransport::refresh(QueuePair& queue_pair) {
    if (Connection* connection = find_connection(queue_pair.number()))
        connection->refresh();
}

void PacketTransport::destroyed(QueuePair& queue_pair) {
    special_.forget(queue_pair.number());
    stalled_.erase(queue_pair.number());
    if (Connection* connection = find_connection(queue_pair.number()))
        connection->close();
    connections_.erase(queue_pair.number());
    targets_.erase(queue_pair.number());
    if (const std::size_t left = groups_.forget(queue_pair.number()); left != 0)
        hca_.violation(rules::destroyed_while_attached,
                       "QP {:#x} is attached to {} multicast groups", queue_pair.number(), left);
}

// --- The function --------------------------------------------------------------------------------

void PacketTransport::reset(pci::ResetCause /*cause*/) {
    forget_everything();
}

void PacketTransport::function_torn_down() {
    forget_everything();
}

void PacketTransport::forget_everything() {
    loopback_.clear();
    turns_.clear();
    connections_.clear();
    stalled_.clear();
    targets_.clear();
    special_.clear();
    groups_.clear();
}

nlohmann::json PacketTransport::statistics() const {
    return {{"sent",
             {{"packets", sends_.packets},
              {"bytes", sends_.bytes},
              {"discarded", sends_.discarded},
              {"failed", sends_.failed},
              {"own_agent", sends_.own_agent}}},
            {"looped_back", loopback_.packets()},
            {"received", receiver_.statistics().to_json()},
            {"connections", connections_.size()},
            {"dynamic_targets", targets_.size()},
            {"multicast_groups", groups_.size()}};
}

} // namespace cxemu::transport
