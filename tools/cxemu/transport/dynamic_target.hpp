// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The receiving end of dynamically connected transport: a target has a connection for each
/// initiator that sends to it at the moment.
///
/// How adapters connect is not published; what they must do for software follows from the verbs.
/// Here an initiator begins with a packet "connect", whose number is the first of the connection,
/// and goes on as on RC without waiting for the answer. When it turns to another target it sends
/// "disconnect", which nobody answers: if it gets lost the connection stays until the initiator
/// comes back. All requests carry number and access key of the connection (DCETH).
#pragma once

#include "fabric/hca_port.hpp"
#include "fabric/packet.hpp"
#include "queues/queue_pair.hpp"
#include "transport/acknowledgement.hpp"
#include "transport/channel.hpp"
#include "transport/loopback.hpp"
#include "transport/operation.hpp"
#include "transport/responder.hpp"
#include "transport/turns.hpp"

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
    /// All must outlive this.
    Dct(hca::Hca& hca, queues::QueuePair& queue_pair, Loopback& loopback, Turns& turns)
        : hca_(hca), queue_pair_(queue_pair), loopback_(loopback), turns_(turns) {}
    Dct(const Dct&) = delete;
    Dct& operator=(const Dct&) = delete;

    void packet_arrived(fabric::HcaPort& port, const fabric::ParsedPacket& packet);
    /// Sends what there is to send, as far as one turn goes.
    void run_slice();
    /// Software has answered a page fault of one of the connections.
    void page_fault_resumed(std::uint32_t token, bool resolved);
    /// The target is drained or has failed: all connections end.
    void stop();

    /// Connections that are open.
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
        bool closed = false;      ///< late packets must not begin it again
    };

    [[nodiscard]] DcPeer peer_of(const fabric::ParsedPacket& packet) const;
    [[nodiscard]] Incoming* find(const Initiator& initiator,
                                 const fabric::DcEth& header) const;
    void connect(fabric::HcaPort& port, const fabric::ParsedPacket& packet);
    void begin(Incoming& connection, fabric::HcaPort& port, const fabric::ParsedPacket& packet);
    void disconnect(const Initiator& initiator, const fabric::DcEth& header);
    void refuse(const fabric::ParsedPacket& packet, NakCode code);
    void ask_for_turn(const Initiator& initiator);

    hca::Hca& hca_;
    queues::QueuePair& queue_pair_;
    Loopback& loopback_;
    Turns& turns_;
    std::map<Initiator, std::unique_ptr<Incoming>> connections_;
    std::set<Initiator> waiting_; ///< for a turn
};

} // namespace cxemu::transport
