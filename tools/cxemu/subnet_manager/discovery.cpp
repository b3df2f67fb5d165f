// SPDX-License-Identifier: GPL-2.0-or-later
#include "subnet_manager/discovery.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::subnet_manager {
namespace {

using fabric::Mad;
using fabric::MadMethod;

template <hwtab::FixedString name>
constexpr std::uint64_t smp_id = hwtab::value<hwtab::smp_attribute, name>;

/// Hops that fit into an SMP.
constexpr std::size_t longest_path = 63;

/// Copies the front of a response's attribute.
template <std::size_t size>
void copy_data(const Mad& response, std::array<std::byte, size>& to) {
    std::ranges::copy(data_of(response).first(size), to.begin());
}

/// A port that didn't answer has no state.
bool has_info(const SubnetPort& port) {
    return port.view().get<"port_state">() != 0;
}

bool is_active(const SubnetPort& port) {
    return port.state() == fabric::PortState::active;
}

Path extended(const Path& path, std::uint8_t port) {
    Path result = path;
    result.push_back(port);
    return result;
}

} // namespace

Discovery::Discovery(SmpExchange& exchange, const Subnet& known, Done done)
    : exchange_(exchange), known_(known), done_(std::move(done)) {}

void Discovery::start() {
    visit({}, {});
}

void Discovery::ask(std::uint64_t attribute, const Path& path, std::uint32_t modifier,
                    PortKey about, Take take) {
    send(directed_smp(MadMethod::get, attribute, path, modifier), about, std::move(take));
}

void Discovery::send(const Mad& smp, PortKey about, Take take) {
    ++pending_;
    exchange_.request(smp, [this, about, take = std::move(take)](const Mad* response) {
        if (response != nullptr && status_of(*response) == 0)
            take(*response);
        else
            silent_.insert(about);
        --pending_;
        finish_if_idle();
    });
}

void Discovery::finish_if_idle() {
    if (pending_ != 0)
        return;
    const bool complete = silent_.empty();
    restore_silent();
    // The owner may destroy this object from within the call.
    const Done done = std::move(done_);
    done(std::move(found_), complete);
}

// --- Nodes ---------------------------------------------------------------------------------------

/// \param from the switch port that leads to the node; a port of node 0 for the manager's own
/// switch
void Discovery::visit(const Path& path, PortKey from) {
    ask(smp_id<"node_info">, path, 0, from,
        [this, path, from](const Mad& response) { take_node(response, path, from); });
}

void Discovery::take_node(const Mad& response, const Path& path, PortKey from) {
    const hwtab::ConstView<hwtab::node_info> info(data_of(response));
    const Guid guid = info.get<"node_guid">();
    const auto arrival = static_cast<std::uint8_t>(info.get<"local_port_num">());
    if (ports_ == max_ports)
        return;
    if (!found_.nodes.contains(guid))
        add_node(guid, response, path);
    if (path.empty())
        found_.root = guid;
    SubnetNode& node = found_.nodes.at(guid);
    if (!node.is_switch() && !node.ports.contains(arrival))
        ask_port(guid, arrival, path, info.get<"port_guid">());
    if (path.empty())
        return;
    node.ports[arrival].peer = from;
    found_.nodes.at(from.node).ports[from.port].peer = PortKey{guid, arrival};
}

void Discovery::add_node(Guid guid, const Mad& response, const Path& path) {
    SubnetNode& node = found_.nodes[guid];
    copy_data(response, node.info);
    node.path = path;
    ask(smp_id<"node_desc">, path, 0, {guid, 0},
        [this, guid](const Mad& reply) { copy_data(reply, found_.nodes.at(guid).description); });
    if (node.is_switch())
        ask_switch(guid, path);
}

/// PortStateChange is cleared before the states are read, so that a later change sets it again.
void Discovery::ask_switch(Guid guid, const Path& path) {
    ask(smp_id<"switch_info">, path, 0, {guid, 0}, [this, guid, path](const Mad& response) {
        SubnetNode& node = found_.nodes.at(guid);
        copy_data(response, node.switch_info);
        if (node.switch_view().get<"port_state_change">() == 0)
            return ask_switch_ports(guid);
        send(directed_smp(MadMethod::set, smp_id<"switch_info">, path, 0, node.switch_info),
             {guid, 0}, [this, guid](const Mad&) { ask_switch_ports(guid); });
    });
}

void Discovery::ask_switch_ports(Guid guid) {
    const SubnetNode& node = found_.nodes.at(guid);
    const Path path = node.path;
    const auto last = static_cast<unsigned>(node.view().get<"num_ports">());
    ask_port(guid, 0, path, node.view().get<"port_guid">());
    for (unsigned number = 1; number <= last; ++number)
        ask_port(guid, static_cast<std::uint8_t>(number), path, 0);
}

// --- Ports ---------------------------------------------------------------------------------------

/// \param port_guid 0 for an external port of a switch
void Discovery::ask_port(Guid guid, std::uint8_t number, const Path& path, Guid port_guid) {
    if (ports_ == max_ports)
        return;
    ++ports_;
    found_.nodes.at(guid).ports[number].path = path;
    ask(smp_id<"port_info">, path, number, {guid, number},
        [this, guid, number, port_guid](const Mad& response) {
            SubnetNode& node = found_.nodes.at(guid);
            SubnetPort& port = node.ports[number];
            copy_data(response, port.info);
            port.guid = port_guid;
            const bool is_sm =
                (port.view().get<"capability_mask">() & fabric::capability_mask_of<"sm">) != 0;
            if (port_guid != 0 && is_sm && !port.path.empty())
                ask_manager(port);
            const bool has_neighbor = node.is_switch() && number != 0 &&
                                      port.state() != fabric::PortState::down && !port.peer;
            if (has_neighbor && port.path.size() < longest_path)
                visit(extended(port.path, number), {guid, number});
        });
}

/// A port may announce a manager (IsSM) that does not respond yet. Such a manager counts as not
/// active.
void Discovery::ask_manager(const SubnetPort& port) {
    ++pending_;
    exchange_.request(directed_smp(MadMethod::get, smp_id<"sm_info">, port.path),
                      [this, path = port.path, guid = port.guid](const Mad* response) {
                          RemoteManager manager{.guid = guid, .path = path};
                          if (response != nullptr && status_of(*response) == 0) {
                              const hwtab::ConstView<hwtab::sm_info> info(data_of(*response));
                              manager.guid = info.get<"guid">();
                              manager.priority = static_cast<std::uint8_t>(info.get<"priority">());
                              manager.state = static_cast<std::uint8_t>(info.get<"sm_state">());
                              manager.sm_key = info.get<"sm_key">();
                          }
                          found_.managers.push_back(std::move(manager));
                          --pending_;
                          finish_if_idle();
                      });
}

// --- Missing responses ---------------------------------------------------------------------------

/// A link that goes down and comes back is in state Init until a manager activates it. So a port
/// that was active before and is active now still has the same neighbor.
void Discovery::restore_silent() {
    for (const PortKey& key : silent_) {
        const SubnetPort* before = known_.find(key);
        SubnetPort* now = found_.find(key);
        if (before == nullptr)
            continue;
        if (now == nullptr || !has_info(*now)) {
            restore(key);
        } else if (is_active(*before) && is_active(*now) && before->peer && !now->peer) {
            now->peer = before->peer;
            restore(*before->peer);
        }
    }
    remove_unknown_ports();
}

/// Copies a port from the previous subnet, with everything that it leads to; for a switch that did
/// not respond, all its ports.
void Discovery::restore(PortKey key) {
    if (known_.find(key) == nullptr)
        return;
    const SubnetNode& old = known_.nodes.at(key.node);
    const auto [position, is_new] = found_.nodes.try_emplace(key.node, old);
    SubnetNode& node = position->second;
    if (is_new)
        node.ports.clear();
    const bool whole = old.is_switch() && !(node.ports.contains(0) && has_info(node.ports.at(0)));
    for (const auto& [number, port] : old.ports) {
        const bool is_wanted = whole || number == key.port;
        if (!is_wanted || has_info(node.ports[number]))
            continue;
        node.ports[number] = port;
        if (port.peer && !found_.nodes.contains(port.peer->node))
            restore(*port.peer);
    }
}

void Discovery::remove_unknown_ports() {
    for (auto& [guid, node] : found_.nodes)
        std::erase_if(node.ports, [](const auto& entry) { return !has_info(entry.second); });
    for (auto& [guid, node] : found_.nodes)
        for (auto& [number, port] : node.ports)
            if (port.peer && found_.find(*port.peer) == nullptr)
                port.peer.reset();
}

} // namespace cxemu::subnet_manager
