// SPDX-License-Identifier: GPL-2.0-or-later
#include "subnet_manager/port_settings.hpp"

#include <algorithm>

namespace cxemu::subnet_manager {
namespace {

using PortInfoView = hwtab::View<hwtab::port_info>;

/// PortInfo that changes nothing when it is written: in these fields 0 means "no change".
fabric::PortInfoBytes unchanged(const SubnetPort& port) {
    fabric::PortInfoBytes bytes = port.info;
    const PortInfoView info(bytes);
    info.set<"port_state">(0);
    info.set<"port_physical_state">(0);
    info.set<"link_down_default_state">(0);
    info.set<"link_width_enabled">(0);
    info.set<"link_speed_enabled">(0);
    info.set<"link_speed_ext_enabled">(0);
    info.set<"client_reregister">(0);
    return bytes;
}

/// The values that both ends of a link support.
void set_link(PortInfoView info, const SubnetPort& neighbor, const ManagerSettings& settings) {
    const auto other = neighbor.view();
    info.set<"neighbor_mtu">(std::min(info.get<"mtu_cap">(), other.get<"mtu_cap">()));
    info.set<"operational_vls">(std::min(info.get<"vl_cap">(), other.get<"vl_cap">()));
    info.set<"local_phy_errors">(settings.error_threshold);
    info.set<"overrun_errors">(settings.error_threshold);
}

const SubnetPort* neighbor_of(const Subnet& subnet, const SubnetPort& port) {
    return port.peer ? subnet.find(*port.peer) : nullptr;
}

} // namespace

bool is_at_host(const Subnet& subnet, PortKey key) {
    const SubnetPort& port = *subnet.find(key);
    return subnet.nodes.at(key.node).is_switch() && port.peer &&
           subnet.nodes.contains(port.peer->node) && !subnet.nodes.at(port.peer->node).is_switch();
}

std::optional<fabric::PortInfoBytes> end_port_settings(const Subnet& subnet, PortKey key,
                                                       const LidTable& lids,
                                                       const ManagerSettings& settings,
                                                       bool reregister) {
    const SubnetPort& port = *subnet.find(key);
    const fabric::PortInfoBytes before = unchanged(port);
    fabric::PortInfoBytes wanted = before;
    const PortInfoView info(wanted);
    info.set<"m_key">(0);
    info.set<"m_key_lease_period">(0);
    info.set<"m_key_protect_bits">(0);
    info.set<"gid_prefix">(settings.gid_prefix);
    info.set<"lid">(lids.lid_of(port.guid));
    info.set<"lmc">(0);
    info.set<"master_sm_lid">(lids.lid_of(settings.guid));
    info.set<"master_sm_sl">(0);
    info.set<"subnet_time_out">(settings.subnet_timeout);
    const SubnetPort* neighbor = neighbor_of(subnet, port);
    if (neighbor != nullptr && !subnet.nodes.at(key.node).is_switch())
        set_link(info, *neighbor, settings);
    const bool can_reregister =
        (info.get<"capability_mask">() & fabric::capability_mask_of<"client_reg_sup">) != 0;
    info.set<"client_reregister">(reregister && can_reregister ? 1 : 0);
    return wanted == before ? std::nullopt : std::optional(wanted);
}

std::optional<fabric::PortInfoBytes> link_settings(const Subnet& subnet, PortKey key,
                                                   const ManagerSettings& settings) {
    const SubnetPort& port = *subnet.find(key);
    const SubnetPort* neighbor = neighbor_of(subnet, port);
    if (neighbor == nullptr)
        return std::nullopt;
    const fabric::PortInfoBytes before = unchanged(port);
    fabric::PortInfoBytes wanted = before;
    const PortInfoView info(wanted);
    set_link(info, *neighbor, settings);
    const bool is_leaf = is_at_host(subnet, key);
    info.set<"hoq_life">(is_leaf ? settings.leaf_head_of_queue_life : settings.head_of_queue_life);
    info.set<"vl_stall_count">(settings.vl_stall_count);
    const auto abilities = subnet.nodes.at(key.node).switch_view();
    info.set<"partition_enforcement_inbound">(is_leaf ? abilities.get<"inbound_enforcement_cap">()
                                                      : 0);
    info.set<"partition_enforcement_outbound">(is_leaf ? abilities.get<"outbound_enforcement_cap">()
                                                       : 0);
    return wanted == before ? std::nullopt : std::optional(wanted);
}

fabric::PortInfoBytes state_change(const SubnetPort& port, fabric::PortState state) {
    fabric::PortInfoBytes bytes = unchanged(port);
    PortInfoView(bytes).set<"port_state">(static_cast<std::uint64_t>(state));
    return bytes;
}

} // namespace cxemu::subnet_manager
