// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/directed_route.hpp"

namespace cxemu::fabric {
namespace {

using Action = RouteStep::Action;

/// Entries of a path; index 0 is unused.
constexpr std::uint8_t longest_path = 63;

RouteStep to_port(std::byte entry, const RoutingNode& node) {
    const auto port = std::to_integer<std::uint8_t>(entry);
    if (port == 0 || port > node.ports)
        return {};
    return {.action = Action::forward, .port = port};
}

/// The directed part ends at this node.
RouteStep at_end_of_path(Lid onward, const RoutingNode& node) {
    if (onward == permissive_lid)
        return {.action = Action::deliver};
    if (!node.is_switch)
        return {};
    return {.action = Action::route_by_lid, .lid = onward};
}

/// Outbound SMP from the wire.
RouteStep receive_outbound(DirectedSmp smp, const RoutingNode& node) {
    const auto pointer = static_cast<std::uint8_t>(smp.get<"hop_pointer">());
    const auto count = static_cast<std::uint8_t>(smp.get<"hop_count">());
    const auto initial = smp.bytes<"initial_path">();
    if (pointer < count && node.is_switch) {
        if (pointer > 0)
            smp.bytes<"return_path">()[pointer] = static_cast<std::byte>(node.arrival);
        smp.set<"hop_pointer">(pointer + 1U);
        return to_port(initial[pointer + 1U], node);
    }
    if (pointer == count) {
        if (count > 0)
            smp.bytes<"return_path">()[pointer] = static_cast<std::byte>(node.arrival);
        smp.set<"hop_pointer">(pointer + 1U);
        return at_end_of_path(static_cast<Lid>(smp.get<"dr_dlid">()), node);
    }
    if (pointer == count + 1)
        return {.action = Action::deliver}; // returned LID-routed from the end of the directed part
    return {};
}

/// Returning SMP from the wire.
RouteStep receive_returning(DirectedSmp smp, const RoutingNode& node) {
    const auto pointer = static_cast<std::uint8_t>(smp.get<"hop_pointer">());
    const auto count = static_cast<std::uint8_t>(smp.get<"hop_count">());
    const bool on_path = pointer >= 2 && pointer <= count + 1 && node.is_switch;
    if (on_path) {
        smp.set<"hop_pointer">(pointer - 1U);
        return to_port(smp.bytes<"return_path">()[pointer - 1U], node);
    }
    if (pointer == 1) {
        smp.set<"hop_pointer">(0);
        return at_end_of_path(static_cast<Lid>(smp.get<"dr_slid">()), node);
    }
    if (pointer == 0)
        return {.action = Action::deliver};
    return {};
}

} // namespace

RouteStep receive_step(Mad& mad, const RoutingNode& node) {
    const DirectedSmp smp(mad);
    if (smp.get<"hop_count">() > longest_path)
        return {};
    return smp.get<"direction">() == 0 ? receive_outbound(smp, node) : receive_returning(smp, node);
}

RouteStep send_step(Mad& mad, const RoutingNode& node) {
    const DirectedSmp smp(mad);
    const auto pointer = static_cast<std::uint8_t>(smp.get<"hop_pointer">());
    const auto count = static_cast<std::uint8_t>(smp.get<"hop_count">());
    if (count > longest_path)
        return {};
    if (smp.get<"direction">() == 0) {
        if (count == 0)
            return {.action = Action::deliver};
        if (pointer != 0)
            return {};
        smp.set<"hop_pointer">(1);
        return to_port(smp.bytes<"initial_path">()[1], node);
    }
    if (pointer != count + 1)
        return {};
    const bool came_by_lid = smp.get<"dr_dlid">() != permissive_lid;
    if (came_by_lid)
        return {.action = Action::route_by_lid}; // back to the start of the directed part
    smp.set<"hop_pointer">(count);
    if (count == 0)
        return at_end_of_path(static_cast<Lid>(smp.get<"dr_slid">()), node);
    return to_port(smp.bytes<"return_path">()[count], node);
}

} // namespace cxemu::fabric
