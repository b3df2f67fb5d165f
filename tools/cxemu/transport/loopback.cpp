// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/loopback.hpp"

#include <utility>

namespace cxemu::transport {

Loopback::Loopback(EventLoop& loop, PacketReceiver& receiver)
    : receiver_(receiver), timer_(loop, [this] { deliver(); }) {}

void Loopback::send(fabric::HcaPort& port, std::uint32_t sender, fabric::Packet packet) {
    ++packets_;
    under_way_.push_back({.port = &port, .sender = sender, .packet = std::move(packet)});
    if (!timer_.active())
        timer_.start({});
}

void Loopback::clear() {
    under_way_.clear();
    timer_.stop();
}

/// What arrives may cause further packets: they wait for the next turn.
void Loopback::deliver() {
    for (std::size_t left = under_way_.size(); left != 0 && !under_way_.empty(); --left) {
        const UnderWay next = std::move(under_way_.front());
        under_way_.pop_front();
        if (const auto parsed = fabric::parse(next.packet))
            receiver_.receive(*next.port, *parsed, next.sender);
    }
    if (!under_way_.empty() && !timer_.active())
        timer_.start({});
}

} // namespace cxemu::transport
