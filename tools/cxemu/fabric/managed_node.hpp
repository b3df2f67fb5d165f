// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A node from the view of its subnet management agent.
#pragma once

#include "fabric/identifiers.hpp"
#include "fabric/port.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace cxemu::fabric {

class ForwardingTables;

enum class NodeType : std::uint8_t { channel_adapter = 1, switch_node = 2 };

/// Identity of a node in NodeInfo and NodeDescription.
struct NodeIdentity {
    NodeType type = NodeType::channel_adapter;
    std::string description; ///< at most 64 bytes
    Guid node_guid = 0;
    Guid system_image_guid = 0;
    std::uint8_t ports = 1; ///< port 0 of a switch not counted
    std::uint16_t device_id = 0;
    std::uint32_t vendor_id = 0x00'02c9;
    std::uint32_t revision = 0;
};

/// Changes that trap 144 reports in addition to the capability mask: hwtab::trap_144_changes.
enum class LocalChange : std::uint8_t {
    none = 0x0,
    node_description = 0x1,
    link_width_enabled = 0x2,
    link_speed_enabled = 0x4,
    manager_priority = 0x8,
};

class ManagedNode {
public:
    virtual ~ManagedNode() = default;

    [[nodiscard]] virtual const NodeIdentity& identity() const = 0;

    /// The port that owns the LID and the M_Key: port 0 of a switch, the port of an adapter.
    [[nodiscard]] virtual Port& management_port() = 0;

    /// A port by its number in an attribute modifier. \return nullptr for an invalid number
    [[nodiscard]] virtual Port* find_port(std::uint8_t number) = 0;

    /// GUIDs of the management port; the first one is fixed and not writable by SMPs.
    [[nodiscard]] virtual std::span<Guid> guids() = 0;

    /// nullptr for nodes that are no switch.
    [[nodiscard]] virtual ForwardingTables* forwarding_tables() { return nullptr; }

    // A Set has changed the PortInfo of \p port.
    virtual void port_info_changed(Port& port, const PortInfoChanges& changes) = 0;
    virtual void p_keys_changed(Port& port) = 0;
    virtual void guids_changed() = 0;
    virtual void set_description(std::string text) = 0;
};

} // namespace cxemu::fabric
