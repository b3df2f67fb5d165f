// SPDX-License-Identifier: GPL-2.0-or-later
#include "program/packet_faults.hpp"

#include "check/seeded_random.hpp"
#include "hwtab/view.hpp"
#include "tables/packet_headers.hpp"

#include <functional>
#include <optional>
#include <span>

namespace cxemu::program {

namespace {

using check::PacketFault;
using fabric::Link;
using fabric::LinkDirection;
using fabric::Packet;

constexpr std::size_t local_route_size = hwtab::lrh.size;

/// Offset of the BTH; empty for raw and short packets.
std::optional<std::size_t> base_transport_at(std::span<const std::byte> bytes) {
    if (bytes.size() < local_route_size)
        return {};
    const auto next = hwtab::ConstView<hwtab::lrh>{bytes}.get<"lnh">();
    std::size_t at = local_route_size;
    if (next == hwtab::value<hwtab::link_next_header, "iba_global">)
        at += fabric::grh_size;
    else if (next != hwtab::value<hwtab::link_next_header, "iba_local">)
        return {};
    return bytes.size() < at + hwtab::bth.size ? std::nullopt : std::optional(at);
}

/// "hca0/1 - switch0/3": the HCA's port is the first end.
struct PortAtLink {
    std::string_view device;
    std::uint8_t number;
};

PortAtLink port_at(const Link& link) {
    const std::string_view name = link.name();
    const auto slash = name.find('/');
    const bool named = slash != std::string_view::npos && slash + 1 < name.size();
    return {.device = name.substr(0, slash),
            .number = static_cast<std::uint8_t>(named ? name[slash + 1] - '0' : 1)};
}

check::PacketFacts facts_of(const Link& link, LinkDirection direction, const Packet& packet) {
    const PortAtLink port = port_at(link);
    check::PacketFacts facts{.device = port.device,
                             .port = port.number,
                             .direction = direction == LinkDirection::from_first
                                              ? check::PacketDirection::from_hca
                                              : check::PacketDirection::to_hca};
    if (const auto at = base_transport_at(packet.content())) {
        const hwtab::ConstView<hwtab::bth> header{packet.content().subspan(*at)};
        facts.opcode = static_cast<std::uint8_t>(header.get<"opcode">());
        facts.destination_qp = static_cast<std::uint32_t>(header.get<"dest_qp">());
    }
    return facts;
}

void flip_bit(Packet& packet, std::size_t first, std::size_t end, check::SeededRandom& random) {
    if (end <= first)
        return;
    const auto bytes = packet.bytes();
    const std::size_t at = first + random.below(end - first);
    bytes[at] ^= std::byte{1} << static_cast<int>(random.below(8));
}

/// Flips a bit that a checksum covers.
void corrupt(Packet& packet, std::uint64_t seed) {
    check::SeededRandom random(seed);
    flip_bit(packet, 0, packet.size(), random);
}

/// Flips a bit after the LRH and recomputes the checksums, as a faulty sender would.
void forge(Packet& packet, std::uint64_t seed) {
    constexpr std::size_t checksums = fabric::icrc_size + fabric::vcrc_size;
    if (!base_transport_at(packet.content()) || packet.size() < local_route_size + checksums)
        return;
    check::SeededRandom random(seed);
    flip_bit(packet, local_route_size, packet.size() - checksums, random);
    fabric::renew_crcs(packet);
}

} // namespace

PacketFaults::PacketFaults(EventLoop& loop, check::FaultPlan& plan, fabric::Fabric& fabric)
    : loop_(loop), plan_(plan), fabric_(fabric) {
    plan_.set_packet_switch([this](bool wanted) { set_active(wanted); });
}

PacketFaults::~PacketFaults() {
    plan_.set_packet_switch({});
    set_active(false);
}

/// Sends the held packets when the plan has no packet rule left.
void PacketFaults::set_active(bool active) {
    for (const auto& link : fabric_.links()) {
        if (active)
            link->set_filter([this](Link& at, LinkDirection direction, Packet packet) {
                take(at, direction, std::move(packet));
            });
        else
            link->set_filter({});
    }
    if (active)
        return;
    while (!held_.empty())
        release(held_.begin()->first);
}

void PacketFaults::take(Link& link, LinkDirection direction, Packet packet) {
    const Place place{&link, direction};
    const auto verdict = plan_.on_packet(facts_of(link, direction, packet));
    if (verdict)
        return carry_out(*verdict, place, std::move(packet));
    pass(place, std::move(packet));
}

void PacketFaults::carry_out(const check::FaultPlan::PacketVerdict& verdict, const Place& place,
                             Packet packet) {
    switch (verdict.fault) {
    case PacketFault::drop:
        return;
    case PacketFault::duplicate:
        pass(place, packet);
        return pass(place, std::move(packet));
    case PacketFault::reorder:
        return hold(place, std::move(packet));
    case PacketFault::corrupt:
        corrupt(packet, verdict.seed);
        return pass(place, std::move(packet));
    case PacketFault::corrupt_valid_crc:
        forge(packet, verdict.seed);
        return pass(place, std::move(packet));
    case PacketFault::delay:
        return delay(place, std::move(packet), verdict.delay);
    }
}

/// Held packets of the same place follow.
void PacketFaults::pass(const Place& place, Packet packet) {
    place.first->deliver(place.second, std::move(packet));
    release(place);
}

void PacketFaults::hold(const Place& place, Packet packet) {
    auto waiting =
        std::make_unique<Waiting>(loop_, std::move(packet), [this, place] { release(place); });
    waiting->timer.start(longest_hold);
    held_[place].push_back(std::move(waiting));
}

/// This may run in the timer of a held packet, and the timer must outlive its handler.
void PacketFaults::release(Place place) {
    const auto found = held_.find(place);
    if (found == held_.end())
        return;
    const auto waiting = std::move(found->second);
    held_.erase(found);
    for (const auto& held : waiting)
        place.first->deliver(place.second, std::move(held->packet));
}

void PacketFaults::delay(const Place& place, Packet packet, EventLoop::Duration time) {
    const std::uint64_t number = next_delayed_++;
    auto& waiting = delayed_[number];
    waiting = std::make_unique<Waiting>(loop_, std::move(packet), [this, place, number] {
        const auto due = delayed_.extract(number);
        place.first->deliver(place.second, std::move(due.mapped()->packet));
    });
    waiting->timer.start(time);
}

} // namespace cxemu::program
