// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The responder of DC: a DCT has one connection per DCI that currently sends to it.
///
/// The connection protocol of adapters is not published; the verbs determine its requirements. In
/// cxemu a DCI starts with a packet "connect", whose PSN is the first of the connection, and
/// continues as on RC without waiting for the ACK. Before it changes to another DCT it sends
/// "disconnect", which is not acknowledged. If that packet is lost, the connection remains until
/// the DCI connects again. All requests carry the connection number and access key (DCETH).
#pragma once

#include "fabric/hca_port.hpp"
#include "fabric/packet.hpp"
#include "queues/queue_pair.hpp"
#include "transport/acknowledgement.hpp"
#include "transport/channel.hpp"
#include "transport/loopback.hpp"
#include "transport/operation.hpp"
#include "transport/responder.hpp"
#include "transport/send_scheduler.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace cxemu::transport {

class Dct {
public:
    /// All arguments must outlive the object.
    Dct(hca::Hca& hca, queues::QueuePair& queue_pair, Loopback& loopback, SendScheduler& turns)
        : hca_(hca), queue_pair_(queue_pair), loopback_(loopback), turns_(turns) {}
    Dct(const Dct&) = delete;
    Dct& operator=(const Dct&) = delete;

    void packet_arrived(fabric::HcaPort& port, const fabric::ParsedPacket& packet);
    /// Sends what is pending, at most one slice.
    void run_slice();
    /// Software has resumed a page fault of one of the connections.
    void page_fault_resumed(std::uint32_t token, bool resolved);
    /// The DCT is drained or in error: closes all connections.
    void stop();

    /// Number of open connections.
    [[nodiscard]] std::size_t connections() const;

private:
    struct Initiator {
        fabric::Lid lid = fabric::unassigned_lid;
        std::uint32_t queue_pair = 0;
        auto operator<=>(const Initiator&) const = default;
    };
    struct Incoming {
        Incoming(hca::Hca& hca, queues::QueuePair& queue_pair, Loopback& loopback,
                 std::function<void()> wake)
            : channel(hca, queue_pair, loopback), responder(channel, std::move(wake)) {}

        Channel channel;
        Responder responder;
        std::uint64_t number = 0; ///< of the connection
        bool closed = false;      ///< delayed packets must not reopen it
    };

    [[nodiscard]] DcPeer peer_of(const fabric::ParsedPacket& packet) const;
    [[nodiscard]] Incoming* find(const Initiator& initiator, const fabric::DcEth& header) const;
    void connect(fabric::HcaPort& port, const fabric::ParsedPacket& packet);
    void begin(Incoming& connection, fabric::HcaPort& port, const fabric::ParsedPacket& packet);
    void disconnect(const Initiator& initiator, const fabric::DcEth& header);
    void refuse(const fabric::ParsedPacket& packet, NakCode code);
    void ask_for_turn(const Initiator& initiator);

    hca::Hca& hca_;
    queues::QueuePair& queue_pair_;
    Loopback& loopback_;
    SendScheduler& turns_;
    std::map<Initiator, std::unique_ptr<Incoming>> connections_;
    std::set<Initiator> waiting_; ///< for the send scheduler
};

} // namespace cxemu::transport
