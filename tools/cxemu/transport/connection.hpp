// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What the transport knows of a queue pair of a connected service (RC, UC, XRC), or an
/// initiator of dynamic connections.
#pragma once

#include "fabric/hca_port.hpp"
#include "fabric/packet.hpp"
#include "queues/queue_pair.hpp"
#include "transport/channel.hpp"
#include "transport/loopback.hpp"
#include "transport/requester.hpp"
#include "transport/responder.hpp"
#include "transport/turns.hpp"

namespace cxemu::transport {

class Connection {
public:
    /// Packets that a connection sends before it is the turn of the others.
    static constexpr int packets_per_slice = 64;

    /// All must outlive this.
    Connection(hca::Hca& hca, queues::QueuePair& queue_pair, Loopback& loopback, Turns& turns,
               ConnectionNumbers& numbers);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    [[nodiscard]] queues::QueuePair& queue_pair() const { return channel_.queue_pair(); }

    void state_changed(queues::QueuePairState from);
    void packet_arrived(fabric::HcaPort& port, const fabric::ParsedPacket& packet);
    /// Software has changed attributes without a change of the state.
    void attributes_changed() { channel_.migration().attributes_changed(); }
    /// See queues::Transport::page_fault_resumed().
    void page_fault_resumed(std::uint32_t token, bool resolved);
    /// There may be new requests.
    void sends_posted();
    /// Sends what there is to send, as far as one turn goes.
    void run_slice();
    /// The queue pair is about to go.
    void close() {
        requester_.stop();
        responder_.reset();
    }
    /// Writes numbers and counters of this moment into the context.
    void refresh();

private:
    void ask_for_turn();

    Channel channel_;
    Turns& turns_;
    bool has_asked_ = false;
    Requester requester_;
    Responder responder_;
};

} // namespace cxemu::transport
