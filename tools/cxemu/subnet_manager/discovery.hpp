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
    /// Is called once, at the end. \param complete whether every request had a response
    using Done = std::function<void(Subnet found, bool complete)>;

    /// Further ports are ignored: a host with a QP0 of its own can answer for any number of them.
    /// A switch with all its 254 ports in use and its hosts have 509.
    static constexpr std::size_t max_ports = 1024;

    /// \param known the subnet before, which must outlive this: a port behind a link that has been
    /// active since then is the same port, even if its host is too busy to answer now
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
    /// Ports of which an attribute is missing, and switch ports whose neighbor didn't answer.
    std::set<PortKey> silent_;
};

} // namespace cxemu::subnet_manager
