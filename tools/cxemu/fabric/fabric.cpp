// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/fabric.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cxemu::fabric {
namespace {

nlohmann::json counters_of(const PortCounters& counters) {
    return {{"transmit_packets", counters.transmit_packets},
            {"transmit_bytes", counters.transmit_bytes},
            {"transmit_discards", counters.transmit_discards},
            {"transmit_constraint_errors", counters.transmit_constraint_errors},
            {"receive_packets", counters.receive_packets},
            {"receive_bytes", counters.receive_bytes},
            {"receive_errors", counters.receive_errors},
            {"receive_constraint_errors", counters.receive_constraint_errors},
            {"receive_switch_relay_errors", counters.receive_switch_relay_errors},
            {"link_downed", counters.link_downed}};
}

nlohmann::json describe(const Port& port) {
    nlohmann::json result{{"state", name_of(port.state())},
                          {"physical_state", name_of(port.physical_state())},
                          {"counters", counters_of(port.counters())}};
    if (const auto rate = port.rate())
        result["rate"] = fmt::format("{} {}", name_of(rate->width), name_of(rate->speed));
    return result;
}

nlohmann::json describe(const HcaPort& port) {
    nlohmann::json result = describe(port.port());
    const HcaPort::Statistics& own = port.statistics();
    result["lid"] = port.lid();
    result["subnet_manager_lid"] = port.sm_lid();
    result["port_guid"] = fmt::format("{:016x}", port.port_guid());
    result["dropped_smps"] = own.dropped_smps;
    result["dropped_other_lid"] = own.dropped_other_lid;
    result["dropped_malformed"] = own.dropped_malformed;
    result["dropped_no_client"] = own.dropped_no_client;
    result["loopback_packets"] = port.traffic().loopback.packets;
    result["agent_responses"] = own.agent_responses;
    return result;
}

nlohmann::json describe(const Switch::Statistics& own) {
    return {{"forwarded", own.forwarded},
            {"relayed_smps", own.relayed_smps},
            {"agent_responses", own.agent_responses},
            {"dropped_smps", own.dropped_smps},
            {"dropped_routing", own.dropped_routing},
            {"dropped_filter", own.dropped_filter},
            {"dropped_local", own.dropped_local}};
}

} // namespace

Fabric::Fabric(EventLoop& loop, const SwitchSettings& settings)
    : loop_(loop), switch_(loop, settings) {}

Fabric::~Fabric() {
    for (const auto& port : ports_)
        port->set_client(
            nullptr); // destroying the links calls back; clients may be destroyed already
}

std::expected<HcaPort*, std::string> Fabric::add(const HcaPortSettings& settings) {
    const std::size_t number = links_.size() + 1;
    const SwitchSettings& central = switch_.settings();
    if (number > central.ports)
        return std::unexpected(fmt::format("{} cannot be connected: all {} ports of {} are in use",
                                           settings.name, central.ports, central.name));
    Port& other_end = switch_.port(static_cast<std::uint8_t>(number));
    ports_.push_back(std::make_unique<HcaPort>(loop_, settings));
    Port& port = ports_.back()->port();
    const std::string name = fmt::format("{} - {}/{}", settings.name, central.name, number);
    links_.push_back(std::make_unique<Link>(loop_, name, port, other_end));
    port.connect(links_.back().get());
    other_end.connect(links_.back().get());
    return ports_.back().get();
}

Link* Fabric::find_link(std::string_view name) const {
    for (std::size_t i = 0; i < links_.size(); ++i)
        if (links_[i]->name() == name || ports_[i]->settings().name == name)
            return links_[i].get();
    return nullptr;
}

void Fabric::add_tap(const Link::Tap& tap) {
    for (const auto& link : links_)
        link->add_tap(tap);
}

nlohmann::json Fabric::statistics() {
    nlohmann::json result;
    const SwitchSettings& central = switch_.settings();
    nlohmann::json& own = result[central.name] = describe(switch_.statistics());
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        result[ports_[i]->settings().name] = describe(*ports_[i]);
        own["ports"][std::to_string(i + 1)] =
            describe(switch_.port(static_cast<std::uint8_t>(i + 1)));
    }
    return result;
}

} // namespace cxemu::fabric
