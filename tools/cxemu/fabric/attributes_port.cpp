// SPDX-License-Identifier: GPL-2.0-or-later
//
// PortInfo, GUIDInfo, P_KeyTable, SLtoVLMappingTable, VLArbitrationTable.
#include "fabric/attributes.hpp"

#include <algorithm>

namespace cxemu::fabric {
namespace {

bool is_switch(const ManagedNode& node) {
    return node.identity().type == NodeType::switch_node;
}

/// The port of an attribute modifier: any port of a switch, the own port of an adapter (also by
/// number 0).
Port* port_by_number(ManagedNode& node, std::uint32_t number) {
    if (!is_switch(node) && number == 0)
        return &node.management_port();
    return number <= 0xff ? node.find_port(static_cast<std::uint8_t>(number)) : nullptr;
}

/// The port of attributes whose modifier names a port only on switches.
Port* port_if_switch(ManagedNode& node, std::uint32_t number) {
    return is_switch(node) ? port_by_number(node, number) : &node.management_port();
}

void hide_key(std::span<std::byte> data) {
    hwtab::View<hwtab::port_info>(data).set<"m_key">(0);
}

} // namespace

MadStatus port_info_attribute(AttributeAccess& access) {
    // The subnet manager sets this bit if it supports extended speeds.
    constexpr std::uint32_t supports_extended_speeds = 1U << 31U;
    Port* port = port_by_number(access.node, access.modifier & ~supports_extended_speeds);
    if (port == nullptr)
        return MadStatus::invalid_field;
    bool reregister = false;
    if (access.set) {
        const auto changes = port->set_port_info(access.data);
        if (!changes)
            return MadStatus::invalid_field;
        reregister = changes->client_reregister;
        access.node.port_info_changed(*port, *changes);
    }
    std::ranges::copy(port->port_info(access.arrival), access.data.begin());
    if (!access.show_key)
        hide_key(access.data);
    hwtab::View<hwtab::port_info>(access.data).set<"client_reregister">(reregister ? 1 : 0);
    return MadStatus::ok;
}

MadStatus extended_port_info_attribute(AttributeAccess& access) {
    // Byte offset in the attribute; each speed field has one bit, for FDR10.
    constexpr std::size_t speed_supported = 7;
    constexpr std::size_t speed_enabled = 11;
    constexpr std::size_t speed_active = 15;
    const Port* port = port_by_number(access.node, access.modifier);
    if (is_switch(access.node) || access.set)
        return MadStatus::unsupported_attribute;
    if (port == nullptr)
        return MadStatus::invalid_field;
    const auto has_fdr10 = [](SpeedMask speeds) {
        return (speeds & mask_of(LaneSpeed::fdr10)) != 0 ? std::byte{1} : std::byte{0};
    };
    std::ranges::fill(access.data, std::byte{0});
    access.data[speed_supported] = has_fdr10(port->capabilities().speeds);
    access.data[speed_enabled] = has_fdr10(port->enabled_speeds());
    access.data[speed_active] = has_fdr10(port->rate() ? mask_of(port->rate()->speed) : 0);
    return MadStatus::ok;
}

MadStatus guid_info_attribute(AttributeAccess& access) {
    using View = hwtab::View<hwtab::guid_info>;
    constexpr std::size_t per_block = hwtab::guid_info.fields[0].count;
    const auto guids = access.node.guids();
    if (access.modifier * std::size_t{per_block} >= guids.size())
        return MadStatus::invalid_field;
    const auto block = guids.subspan(access.modifier * per_block);
    const std::size_t count = std::min(block.size(), per_block);
    const View view(access.data);
    bool changed = false;
    for (std::size_t i = 0; access.set && i < count; ++i) {
        const bool is_own = access.modifier == 0 && i == 0;
        const Guid wanted = view.get_at<"guid_block">(i);
        changed |= !is_own && block[i] != wanted;
        block[i] = is_own ? block[i] : wanted;
    }
    for (std::size_t i = 0; i < per_block; ++i)
        view.set_at<"guid_block">(i, i < count ? block[i] : 0);
    if (changed)
        access.node.guids_changed();
    return MadStatus::ok;
}

MadStatus p_key_table_attribute(AttributeAccess& access) {
    using View = hwtab::View<hwtab::p_key_table>;
    constexpr std::size_t per_block = hwtab::p_key_table.fields[0].count;
    const std::size_t number = access.modifier & 0xffffU;
    Port* port = port_if_switch(access.node, access.modifier >> 16U);
    if (port == nullptr || number * per_block >= port->p_keys().size())
        return MadStatus::invalid_field;
    const auto block = port->p_keys().subspan(number * per_block);
    const std::size_t count = std::min(block.size(), per_block);
    const View view(access.data);
    bool changed = false;
    for (std::size_t i = 0; access.set && i < count; ++i) {
        const auto wanted = static_cast<std::uint16_t>(view.get_at<"p_key_block">(i));
        changed |= block[i] != wanted;
        block[i] = wanted;
    }
    for (std::size_t i = 0; i < per_block; ++i)
        view.set_at<"p_key_block">(i, i < count ? block[i] : 0);
    if (changed)
        access.node.p_keys_changed(*port);
    return MadStatus::ok;
}

MadStatus sl_to_vl_attribute(AttributeAccess& access) {
    const std::uint32_t output = access.modifier & 0xffU;
    const std::uint32_t input = (access.modifier >> 8U) & 0xffU;
    Port* port = port_if_switch(access.node, output);
    const std::size_t index = is_switch(access.node) ? input : 0;
    if (port == nullptr || index >= port->capabilities().inputs)
        return MadStatus::invalid_field;
    SlToVlTable& table = port->sl_to_vl(index);
    if (access.set)
        std::ranges::copy(access.data.first(table.size()), table.begin());
    std::ranges::fill(access.data, std::byte{0});
    std::ranges::copy(table, access.data.begin());
    return MadStatus::ok;
}

MadStatus vl_arbitration_attribute(AttributeAccess& access) {
    constexpr std::uint32_t blocks = 4;
    const std::uint32_t block = access.modifier >> 16U;
    Port* port = port_if_switch(access.node, access.modifier & 0xffffU);
    if (port == nullptr || block == 0 || block > blocks)
        return MadStatus::invalid_field;
    VlArbitrationBlock& table = port->vl_arbitration(block);
    if (access.set)
        std::ranges::copy(access.data, table.begin());
    std::ranges::copy(table, access.data.begin());
    return MadStatus::ok;
}

} // namespace cxemu::fabric
