// SPDX-License-Identifier: GPL-2.0-or-later
//
// NodeDescription and NodeInfo, and the list of all attributes.
#include "fabric/attributes.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace cxemu::fabric {
namespace {

struct AttributeEntry {
    std::uint64_t attribute;
    AttributeHandler handler;
};

template <hwtab::FixedString name>
constexpr std::uint64_t id = hwtab::value<hwtab::smp_attribute, name>;

constexpr std::uint16_t vendor_extended_port_info = 0xff90;

constexpr std::array attributes{
    AttributeEntry{id<"node_desc">, node_description_attribute},
    AttributeEntry{id<"node_info">, node_info_attribute},
    AttributeEntry{id<"switch_info">, switch_info_attribute},
    AttributeEntry{id<"guid_info">, guid_info_attribute},
    AttributeEntry{id<"port_info">, port_info_attribute},
    AttributeEntry{id<"pkey_table">, p_key_table_attribute},
    AttributeEntry{id<"sl_to_vl_table">, sl_to_vl_attribute},
    AttributeEntry{id<"vl_arb_table">, vl_arbitration_attribute},
    AttributeEntry{vendor_extended_port_info, extended_port_info_attribute},
    AttributeEntry{id<"linear_forward_table">, linear_forwarding_attribute},
    AttributeEntry{id<"mcast_forward_table">, multicast_forwarding_attribute},
};

std::string text_of(std::span<const std::byte> data) {
    const auto end = std::ranges::find(data, std::byte{0});
    std::string text;
    for (auto position = data.begin(); position != end; ++position)
        text.push_back(std::to_integer<char>(*position));
    return text;
}

} // namespace

AttributeHandler find_attribute(std::uint16_t attribute) {
    const auto found = std::ranges::find(attributes, attribute, &AttributeEntry::attribute);
    return found == attributes.end() ? nullptr : found->handler;
}

MadStatus node_description_attribute(AttributeAccess& access) {
    if (access.set)
        access.node.set_description(text_of(access.data));
    std::ranges::fill(access.data, std::byte{0});
    const std::string& text = access.node.identity().description;
    std::ranges::transform(text, access.data.begin(), [](char c) { return std::byte(c); });
    return MadStatus::ok;
}

MadStatus node_info_attribute(AttributeAccess& access) {
    if (access.set)
        return MadStatus::unsupported_attribute;
    std::ranges::fill(access.data, std::byte{0});
    const hwtab::View<hwtab::node_info> info(access.data);
    const NodeIdentity& identity = access.node.identity();
    info.set<"base_version">(1);
    info.set<"class_version">(1);
    info.set<"node_type">(static_cast<std::uint64_t>(identity.type));
    info.set<"num_ports">(identity.ports);
    info.set<"system_image_guid">(identity.system_image_guid);
    info.set<"node_guid">(identity.node_guid);
    info.set<"port_guid">(access.node.guids().front());
    info.set<"partition_cap">(access.node.management_port().p_keys().size());
    info.set<"device_id">(identity.device_id);
    info.set<"revision">(identity.revision);
    info.set<"local_port_num">(access.arrival);
    info.set<"vendor_id">(identity.vendor_id);
    return MadStatus::ok;
}

} // namespace cxemu::fabric
