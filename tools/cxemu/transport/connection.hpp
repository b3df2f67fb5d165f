// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Transport state of a connected QP (RC, UC, XRC) or a DCI.
#pragma once

#include "fabric/hca_port.hpp"
#include "fabric/packet.hpp"
#include "queues/queue_pair.hpp"
#include "transport/channel.hpp"
#include "transport/loopback.hpp"
#include "transport/requester.hpp"
#include "transport/responder.hpp"
#include "transport/send_scheduler.hpp"

namespace cxemu::transport {

class Connection {
public:
    /// Maximum number of packets per slice of the send scheduler.
    static constexpr int packets_per_slice = 64;

    /// All arguments must outlive the object.
    Connection(hca::Hca& hca, queues::QueuePair& queue_pair, Loopback& loopback,
               SendScheduler& turns, ConnectionNumbers& numbers);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    [[nodiscard]] queues::QueuePair& queue_pair() const { return channel_.queue_pair(); }

    void state_changed(queues::QueuePairState from);
    void packet_arrived(fabric::HcaPort& port, const fabric::ParsedPacket& packet);
    /// Software has modified QP attributes without a state transition.
    void attributes_changed() { channel_.migration().attributes_changed(); }
    /// See queues::Transport::page_fault_resumed().
    void page_fault_resumed(std::uint32_t token, bool resolved);
    /// New WQEs may have been posted.
    void sends_posted();
    /// Sends what is pending, at most one slice.
    void run_slice();
    /// Called before the QP is destroyed.
    void close() {
        requester_.stop();
        responder_.reset();
    }
    /// Updates PSNs and counters in the QP context.
    void refresh();

private:
    void ask_for_turn();

    Channel channel_;
    SendScheduler& turns_;
    bool has_asked_ = false;
    Requester requester_;
    Responder responder_;
};

} // namespace cxemu::transport
