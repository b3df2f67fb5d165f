// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Packets that never leave the device: multicast to its own QPs, forced loopback, SMPs to the own
/// port.
#pragma once

#include "base/event_loop.hpp"
#include "fabric/hca_port.hpp"
#include "fabric/packet.hpp"
#include "transport/packet_receiver.hpp"

#include <cstdint>
#include <deque>

namespace cxemu::transport {

/// Delivers packets to the receiver in order, from the event loop, never from within send().
class Loopback {
public:
    Loopback(EventLoop& loop, PacketReceiver& receiver);

    /// \param sender QP that sent the packet
    void send(fabric::HcaPort& port, std::uint32_t sender, fabric::Packet packet);

    /// Drops all outstanding packets.
    void clear();

    [[nodiscard]] std::uint64_t packets() const { return packets_; }

private:
    struct Outstanding {
        fabric::HcaPort* port;
        std::uint32_t sender;
        fabric::Packet packet;
    };

    void deliver();

    PacketReceiver& receiver_;
    Timer timer_;
    std::deque<Outstanding> outstanding_;
    std::uint64_t packets_ = 0;
};

} // namespace cxemu::transport
