// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Shared by the tests of the subnet manager: a fabric of several switches, hosts that send and
/// receive MADs, and a manager.
#pragma once

#include "fabric/directed_route.hpp"
#include "fabric/tests/fixtures.hpp"
#include "subnet_manager/subnet_manager.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cxemu::subnet_manager::testing {

using namespace fabric::testing;
using fabric::HcaPort;
using fabric::Link;
using fabric::LinkDirection;
using fabric::Mad;
using fabric::MadMethod;
using fabric::Packet;
using fabric::PortEvent;
using fabric::PortState;
using fabric::Switch;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// The software of a host. With QP0 it responds to SMPs as a kernel does, through the agents of its
/// firmware, and to SMInfo as a subnet manager does.
class Host : public fabric::PortClient {
public:
    Host(EventLoop& loop, const fabric::HcaPortSettings& settings) : port(loop, settings) {
        port.set_client(this);
    }
    ~Host() override { port.set_client(nullptr); }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    void packet_arrived(const fabric::ParsedPacket& packet) override {
        const auto mad = fabric::mad_in(packet);
        if (packet.headers.transport.destination_qp == fabric::subnet_management_qp)
            take_smp(*mad);
        else
            arrivals.push_back({packet.headers, {packet.payload.begin(), packet.payload.end()}});
    }
    void port_event(PortEvent event) override { events.push_back(event); }
    [[nodiscard]] bool wants_subnet_management() const override { return has_qp0; }
    [[nodiscard]] bool wants_general_services() const override { return true; }

    /// Runs a subnet manager: PortInfo announces it (IsSM).
    void run_manager(std::uint8_t priority, ManagerState state) {
        has_qp0 = true;
        info = RemoteManager{.guid = port.port_guid(),
                             .priority = priority,
                             .state = static_cast<std::uint8_t>(state),
                             .sm_key = ManagerSettings{}.sm_key,
                             .path = {}};
        constexpr auto is_sm = fabric::capability_mask_of<"sm">;
        port.modify_capability_mask(is_sm, is_sm);
    }

    /// Removes and returns the oldest MAD to QP1.
    std::optional<Mad> take_mad() {
        if (arrivals.empty())
            return std::nullopt;
        Mad mad{};
        std::ranges::copy(arrivals.front().payload, mad.begin());
        arrivals.erase(arrivals.begin());
        return mad;
    }
    [[nodiscard]] bool saw(PortEvent event) const { return std::ranges::contains(events, event); }

    HcaPort port;
    bool has_qp0 = false;
    bool is_silent = false; ///< SMPs have no response
    std::optional<RemoteManager> info;
    bool invents_nodes = false; ///< every SMP reaches another switch, whose ports are all active
    std::function<void(Mad&)> changes_reply; ///< what its software makes of responses to SMPs
    std::vector<std::uint64_t> sm_info_sets; ///< attribute modifiers
    std::vector<RecordingClient::Arrival> arrivals;
    std::vector<PortEvent> events;

private:
    void take_smp(Mad smp) {
        if (invents_nodes) {
            const Mad reply = invent(smp);
            port.send(fabric::subnet_management_packet(reply, fabric::permissive_lid,
                                                       fabric::permissive_lid));
            return;
        }
        const fabric::RoutingNode node{};
        if (is_silent ||
            fabric::receive_step(smp, node).action != fabric::RouteStep::Action::deliver)
            return;
        auto reply = reply_to(smp);
        if (reply && changes_reply)
            changes_reply(*reply);
        if (!reply || fabric::send_step(*reply, node).action != fabric::RouteStep::Action::forward)
            return;
        port.send(fabric::subnet_management_packet(*reply, fabric::permissive_lid,
                                                   fabric::permissive_lid));
    }
    std::optional<Mad> reply_to(const Mad& smp) {
        const fabric::ConstMadHeader header(smp);
        if (header.get<"attribute_id">() != attribute<"sm_info">)
            return port.process(smp, {}, fabric::permissive_lid).value_or(std::nullopt);
        if (!info)
            return std::nullopt;
        if (fabric::method_of(smp) == MadMethod::set)
            sm_info_sets.push_back(header.get<"attribute_modifier">());
        Mad reply = smp;
        const auto view = data_of<hwtab::sm_info>(reply);
        view.set<"guid">(info->guid);
        view.set<"sm_key">(info->sm_key);
        view.set<"priority">(info->priority);
        view.set<"sm_state">(info->state);
        fabric::make_response(reply, fabric::MadStatus::ok);
        return reply;
    }
    /// Values that a host may report if it responds to SMPs arbitrarily.
    static Mad invent(const Mad& smp) {
        Mad reply = smp;
        const fabric::ConstDirectedSmp request(smp);
        std::uint64_t guid = 0xbad;
        for (const std::byte hop : request.bytes<"initial_path">().first<64>())
            guid = (guid * 257) + std::to_integer<unsigned>(hop);
        if (request.get<"attribute_id">() == attribute<"node_info">) {
            const auto info = data_of<hwtab::node_info>(reply);
            info.set<"node_type">(hwtab::value<hwtab::node_type, "switch">);
            info.set<"num_ports">(36);
            info.set<"node_guid">(guid);
            info.set<"port_guid">(guid);
            info.set<"local_port_num">(36);
        } else if (request.get<"attribute_id">() == attribute<"port_info">) {
            const auto info = data_of<hwtab::port_info>(reply);
            info.set<"port_state">(static_cast<std::uint64_t>(PortState::active));
        }
        fabric::make_response(reply, fabric::MadStatus::ok);
        // The route back to the manager, which is in the neighbor switch.
        fabric::DirectedSmp(reply).set<"hop_pointer">(1);
        return reply;
    }
    template <const hwtab::Layout& layout>
    static hwtab::View<layout> data_of(Mad& mad) {
        return fabric::Smp(mad).nested<"data", layout>();
    }
};

/// Switches and hosts that a test connects.
struct Network {
    ManualLoop time;
    std::vector<std::unique_ptr<Switch>> switches;
    std::vector<std::unique_ptr<Host>> hosts;
    std::vector<std::unique_ptr<Link>> links;

    Network() = default;
    ~Network() { links.clear(); }
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    /// \param number orders the GUIDs of switches
    Switch& add_switch(unsigned number, std::uint8_t ports = 8) {
        fabric::SwitchSettings settings = switch_settings(ports);
        settings.name = "switch" + std::to_string(number);
        settings.node_guid += 0x100ULL * number;
        switches.push_back(std::make_unique<Switch>(time.loop, settings));
        return *switches.back();
    }
    Link& connect(fabric::Port& one, fabric::Port& other) {
        links.push_back(
            std::make_unique<Link>(time.loop, "link" + std::to_string(links.size()), one, other));
        one.connect(links.back().get());
        other.connect(links.back().get());
        return *links.back();
    }
    /// A host at a port of a switch.
    Host& add_host(Switch& at, std::uint8_t port) {
        hosts.push_back(
            std::make_unique<Host>(time.loop, port_settings(static_cast<unsigned>(hosts.size()))));
        connect(hosts.back()->port.port(), at.port(port));
        return *hosts.back();
    }
    [[nodiscard]] bool all_hosts_are_active() const {
        return std::ranges::all_of(
            hosts, [](const auto& host) { return host->port.state() == PortState::active; });
    }
    /// Runs all due events; a sweep takes thousands of turns.
    void settle() {
        for (int times = 0; times < 10; ++times)
            time.settle();
    }
    /// In steps that are shorter than the time until an SMP is repeated.
    void advance(EventLoop::Duration duration) {
        constexpr EventLoop::Duration step = milliseconds(100);
        for (EventLoop::Duration done{}; done < duration; done += step)
            time.advance(step);
        settle();
    }
    /// Whether a datagram from one host arrives at another.
    bool reaches(Host& from, Host& to, fabric::Lid destination) {
        to.arrivals.clear();
        from.port.send(make_datagram(from.port.lid(), destination, 0x123));
        time.settle();
        return !to.arrivals.empty();
    }
};

/// A manager in the first switch.
struct ManagedNetwork : Network {
    std::unique_ptr<SubnetManager> manager;

    void start(ManagerSettings settings = {}) {
        manager = std::make_unique<SubnetManager>(time.loop, *switches.front(), settings,
                                                  make_silent_log());
        manager->start();
        settle();
    }
};

} // namespace cxemu::subnet_manager::testing
