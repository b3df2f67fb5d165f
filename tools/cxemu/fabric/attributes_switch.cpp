// SPDX-License-Identifier: GPL-2.0-or-later
//
// SwitchInfo and the forwarding tables.
#include "fabric/attributes.hpp"
#include "fabric/forwarding_tables.hpp"

#include <algorithm>

namespace cxemu::fabric {

MadStatus switch_info_attribute(AttributeAccess& access) {
    ForwardingTables* tables = access.node.forwarding_tables();
    if (tables == nullptr)
        return MadStatus::unsupported_attribute;
    if (access.set) {
        const hwtab::ConstView<hwtab::switch_info> wanted(access.data);
        if (access.modifier != 0 || !tables->set_info(wanted))
            return MadStatus::invalid_field;
        if (wanted.get<"port_state_change">() != 0)
            tables->info().set<"port_state_change">(0); // written 1 to clear
    }
    std::ranges::fill(access.data, std::byte{0});
    std::ranges::copy(tables->info().memory(), access.data.begin());
    return MadStatus::ok;
}

MadStatus linear_forwarding_attribute(AttributeAccess& access) {
    ForwardingTables* tables = access.node.forwarding_tables();
    if (tables == nullptr)
        return MadStatus::unsupported_attribute;
    const auto block = tables->linear_entries(access.modifier);
    if (block.empty())
        return MadStatus::invalid_field;
    if (access.set)
        std::ranges::copy(access.data, block.begin());
    std::ranges::copy(block, access.data.begin());
    return MadStatus::ok;
}

MadStatus multicast_forwarding_attribute(AttributeAccess& access) {
    ForwardingTables* tables = access.node.forwarding_tables();
    if (tables == nullptr)
        return MadStatus::unsupported_attribute;
    const std::size_t block = access.modifier & 0x1ffU;
    const std::size_t position = access.modifier >> 28U;
    if (access.set && !tables->write_multicast(block, position, access.data))
        return MadStatus::invalid_field;
    return tables->read_multicast(block, position, access.data) ? MadStatus::ok
                                                                : MadStatus::invalid_field;
}

} // namespace cxemu::fabric
