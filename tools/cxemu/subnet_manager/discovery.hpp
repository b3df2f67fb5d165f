// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Discovery of the subnet: directed-route SMPs from port to port (InfiniBand
/// specification, 14.4.4).
#pragma once

#include "subnet_manager/smp_exchange.hpp"
#include "subnet_manager/subnet.hpp"

#include <cstddef>
#include <functional>
#include <set>

namespace cxemu::subnet_manager {

class Discovery {
public:
    /// Called once, at the end. \param complete every request had a response
    using Done = std::function<void(Subnet found, bool complete)>;

    /// Further ports are ignored, because a host with its own QP0 can respond for any number of
    /// ports. A switch that uses all its 254 ports has 509 ports together with its hosts.
    static constexpr std::size_t max_ports = 1024;

    /// \param known the previous subnet, which must outlive this. A port at a link that has been
    /// active since then is the same port, even if its host is too busy to respond now
    Discovery(SmpExchange& exchange, const Subnet& known, Done done);

    void start();

private:
    using Take = std::function<void(const fabric::Mad& response)>;

    void ask(std::uint64_t attribute, const Path& path, std::uint32_t modifier, PortKey about,
             Take take);
    void send(const fabric::Mad& smp, PortKey about, Take take);
    void finish_if_idle();
    void visit(const Path& path, PortKey from);
    void take_node(const fabric::Mad& response, const Path& path, PortKey from);
    void add_node(Guid guid, const fabric::Mad& response, const Path& path);
    void ask_switch(Guid guid, const Path& path);
    void ask_switch_ports(Guid guid);
    void ask_port(Guid guid, std::uint8_t number, const Path& path, Guid port_guid);
    void ask_manager(const SubnetPort& port);
    void restore_silent();
    void restore(PortKey key);
    void remove_unknown_ports();

    SmpExchange& exchange_;
    const Subnet& known_;
    Done done_;
    Subnet found_;
    std::size_t pending_ = 0;
    std::size_t ports_ = 0; ///< that have been asked
    /// Ports of which an attribute is missing, and switch ports whose neighbor did not respond.
    std::set<PortKey> silent_;
};

} // namespace cxemu::subnet_manager
