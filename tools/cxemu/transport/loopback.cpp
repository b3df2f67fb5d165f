// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/loopback.hpp"

#include <utility>

namespace cxemu::transport {

Loopback::Loopback(EventLoop& loop, PacketReceiver& receiver)
    : receiver_(receiver), timer_(loop, [this] { deliver(); }) {}

void Loopback::send(fabric::HcaPort& port, std::uint32_t sender, fabric::Packet packet) {
    ++packets_;
    outstanding_.push_back({.port = &port, .sender = sender, .packet = std::move(packet)});
    if (!timer_.active())
        timer_.start({});
}

void Loopback::clear() {
    outstanding_.clear();
    timer_.stop();
}

/// Delivered packets may cause further packets, which are delivered in the next turn.
void Loopback::deliver() {
    for (std::size_t left = outstanding_.size(); left != 0 && !outstanding_.empty(); --left) {
        const Outstanding next = std::move(outstanding_.front());
        outstanding_.pop_front();
        if (const auto parsed = fabric::parse(next.packet))
            receiver_.receive(*next.port, *parsed, next.sender);
    }
    if (!outstanding_.empty() && !timer_.active())
        timer_.start({});
}

} // namespace cxemu::transport
