// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Packets that never leave the device: multicast to its own queue pairs, forced loopback, subnet
/// management of the own port.
#pragma once

#include "base/event_loop.hpp"
#include "fabric/hca_port.hpp"
#include "fabric/packet.hpp"
#include "transport/packet_receiver.hpp"

#include <cstdint>
#include <deque>

namespace cxemu::transport {

/// Hands packets to the receiver in order, from the event loop, never from within send().
class Loopback {
public:
    Loopback(EventLoop& loop, PacketReceiver& receiver);

    /// \param sender queue pair that sent the packet
    void send(fabric::HcaPort& port, std::uint32_t sender, fabric::Packet packet);

    /// Drops everything that is under way.
    void clear();

    [[nodiscard]] std::uint64_t packets() const { return packets_; }

private:
    struct UnderWay {
        fabric::HcaPort* port;
        std::uint32_t sender;
        fabric::Packet packet;
    };

    void deliver();

    PacketReceiver& receiver_;
    Timer timer_;
    std::deque<UnderWay> outstanding_;
    std::uint64_t packets_ = 0;
};

} // namespace cxemu::transport
