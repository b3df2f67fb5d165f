// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// SMP attributes: one handler each, for Get and Set.
#pragma once

#include "fabric/mad.hpp"
#include "fabric/managed_node.hpp"

#include <cstdint>
#include <span>

namespace cxemu::fabric {

/// An access to an attribute.
struct AttributeAccess {
    ManagedNode& node;
    std::span<std::byte> data; ///< 64 bytes: input of Set, output of Get and Set
    std::uint32_t modifier = 0;
    std::uint8_t arrival = 1; ///< port at which the request arrived
    bool set = false;
    bool show_key = true; ///< PortInfo contains the M_Key
};

/// Handles Get or Set and leaves the current attribute in AttributeAccess::data.
using AttributeHandler = MadStatus (*)(AttributeAccess&);

/// \param attribute hwtab::smp_attribute. \return nullptr for an unsupported one
AttributeHandler find_attribute(std::uint16_t attribute);

// attributes_node.cpp
MadStatus node_description_attribute(AttributeAccess& access);
MadStatus node_info_attribute(AttributeAccess& access);

// attributes_port.cpp
MadStatus port_info_attribute(AttributeAccess& access);
MadStatus guid_info_attribute(AttributeAccess& access);
MadStatus p_key_table_attribute(AttributeAccess& access);
MadStatus sl_to_vl_attribute(AttributeAccess& access);
MadStatus vl_arbitration_attribute(AttributeAccess& access);

/// The vendor's ExtendedPortInfo, which reports FDR10 and which infiniband-diags queries from
/// adapters of this vendor. It is read-only, because PortInfo enables speeds.
MadStatus extended_port_info_attribute(AttributeAccess& access);

// attributes_switch.cpp
MadStatus switch_info_attribute(AttributeAccess& access);
MadStatus linear_forwarding_attribute(AttributeAccess& access);
MadStatus multicast_forwarding_attribute(AttributeAccess& access);

} // namespace cxemu::fabric
