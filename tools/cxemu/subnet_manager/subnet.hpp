// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The subnet as a sweep has found it: nodes, ports, links, and other subnet managers.
#pragma once

#include "fabric/identifiers.hpp"
#include "fabric/port.hpp"
#include "hwtab/view.hpp"
#include "tables/datagrams.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cxemu::subnet_manager {

using fabric::Guid;
using fabric::Lid;

/// Output ports of a directed route, from port 0 of the manager's switch on.
using Path = std::vector<std::uint8_t>;

/// A port by its node.
struct PortKey {
    Guid node = 0;
    std::uint8_t port = 0;

    auto operator<=>(const PortKey&) const = default;
};

/// A port as its PortInfo describes it.
struct SubnetPort {
    Path path; ///< to the node, through this port if it is one of a channel adapter
    fabric::PortInfoBytes info{};
    Guid guid = 0;               ///< 0 for an external port of a switch
    std::optional<PortKey> peer; ///< the neighbor's port

    [[nodiscard]] hwtab::ConstView<hwtab::port_info> view() const {
        return hwtab::ConstView<hwtab::port_info>(info);
    }
    [[nodiscard]] fabric::PortState state() const {
        return static_cast<fabric::PortState>(view().get<"port_state">());
    }
};

struct SubnetNode {
    std::array<std::byte, hwtab::node_info.size> info{}; ///< as the first of its ports answered
    std::array<std::byte, hwtab::node_description.size> description{};
    std::array<std::byte, hwtab::switch_info.size> switch_info{}; ///< zeros for other nodes
    Path path;
    std::map<std::uint8_t, SubnetPort> ports;

    [[nodiscard]] hwtab::ConstView<hwtab::node_info> view() const {
        return hwtab::ConstView<hwtab::node_info>(info);
    }
    [[nodiscard]] hwtab::ConstView<hwtab::switch_info> switch_view() const {
        return hwtab::ConstView<hwtab::switch_info>(switch_info);
    }
    [[nodiscard]] bool is_switch() const {
        return view().get<"node_type">() == hwtab::value<hwtab::node_type, "switch">;
    }
    /// The text of the description, without its padding.
    [[nodiscard]] std::string text() const;
};

/// Another subnet manager, as it answered SMInfo.
struct RemoteManager {
    Guid guid = 0;
    std::uint8_t priority = 0;
    std::uint8_t state = 0; ///< hwtab::sm_state
    std::uint64_t sm_key = 0;
    Path path;
};

struct Subnet {
    std::map<Guid, SubnetNode> nodes;
    std::vector<RemoteManager> managers;
    Guid root = 0; ///< the manager's switch

    [[nodiscard]] const SubnetPort* find(PortKey key) const;
    [[nodiscard]] SubnetPort* find(PortKey key);

    /// The ports that have a LID: those of channel adapters and port 0 of switches, by port GUID.
    [[nodiscard]] std::map<Guid, PortKey> end_ports() const;

    /// The key of the switch port of an end port: that of its neighbor, or port 0 itself.
    /// \return nothing for a port without a link to a switch
    [[nodiscard]] std::optional<PortKey> switch_port_of(PortKey end_port) const;
};

} // namespace cxemu::subnet_manager
