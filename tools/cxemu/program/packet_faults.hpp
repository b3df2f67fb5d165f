// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Packet faults of a fault plan.
#pragma once

#include "base/event_loop.hpp"
#include "check/fault_plan.hpp"
#include "fabric/fabric.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace cxemu::program {

/// Filters the packets of all links while the plan has packet rules.
class PacketFaults {
public:
    /// Maximum delay of a packet that is to be reordered.
    static constexpr auto longest_hold = std::chrono::milliseconds(5);

    /// All of them must outlive this, and links must not be added afterwards.
    PacketFaults(EventLoop& loop, check::FaultPlan& plan, fabric::Fabric& fabric);
    ~PacketFaults();
    PacketFaults(const PacketFaults&) = delete;
    PacketFaults& operator=(const PacketFaults&) = delete;

private:
    /// A delayed packet.
    struct Waiting {
        Waiting(EventLoop& loop, fabric::Packet waiting, std::function<void()> end)
            : packet(std::move(waiting)), timer(loop, std::move(end)) {}
        fabric::Packet packet;
        Timer timer;
    };
    using Place = std::pair<fabric::Link*, fabric::LinkDirection>;

    void set_active(bool active);
    void take(fabric::Link& link, fabric::LinkDirection direction, fabric::Packet packet);
    void carry_out(const check::FaultPlan::PacketVerdict& verdict, const Place& place,
                   fabric::Packet packet);
    void pass(const Place& place, fabric::Packet packet);
    void hold(const Place& place, fabric::Packet packet);
    void release(Place place);
    void delay(const Place& place, fabric::Packet packet, EventLoop::Duration time);

    EventLoop& loop_;
    check::FaultPlan& plan_;
    fabric::Fabric& fabric_;
    std::map<Place, std::vector<std::unique_ptr<Waiting>>> held_; ///< until another one has passed
    std::map<std::uint64_t, std::unique_ptr<Waiting>> delayed_;
    std::uint64_t next_delayed_ = 0;
};

} // namespace cxemu::program
