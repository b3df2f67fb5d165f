// SPDX-License-Identifier: GPL-2.0-or-later
#include "subnet_manager/records.hpp"

#include "fabric/link_rate.hpp"

#include <algorithm>
#include <array>

namespace cxemu::subnet_manager {
namespace {

constexpr std::array node_components{
    component<hwtab::node_record, "lid">(0),
    component<hwtab::node_record, "node_info.base_version">(2),
    component<hwtab::node_record, "node_info.class_version">(3),
    component<hwtab::node_record, "node_info.node_type">(4),
    component<hwtab::node_record, "node_info.num_ports">(5),
    component<hwtab::node_record, "node_info.system_image_guid">(6),
    component<hwtab::node_record, "node_info.node_guid">(7),
    component<hwtab::node_record, "node_info.port_guid">(8),
    component<hwtab::node_record, "node_info.partition_cap">(9),
    component<hwtab::node_record, "node_info.device_id">(10),
    component<hwtab::node_record, "node_info.revision">(11),
    component<hwtab::node_record, "node_info.local_port_num">(12),
    component<hwtab::node_record, "node_info.vendor_id">(13),
    component<hwtab::node_record, "node_description">(14),
};

constexpr unsigned capability_mask_bit = 7;

constexpr std::array port_components{
    component<hwtab::port_info_record, "endport_lid">(0),
    component<hwtab::port_info_record, "port_num">(1),
    component<hwtab::port_info_record, "port_info.gid_prefix">(4),
    component<hwtab::port_info_record, "port_info.lid">(5),
    component<hwtab::port_info_record, "port_info.master_sm_lid">(6),
    component<hwtab::port_info_record, "port_info.capability_mask">(capability_mask_bit),
    component<hwtab::port_info_record, "port_info.diag_code">(8),
    component<hwtab::port_info_record, "port_info.m_key_lease_period">(9),
    component<hwtab::port_info_record, "port_info.local_port_num">(10),
    component<hwtab::port_info_record, "port_info.link_width_enabled">(11),
    component<hwtab::port_info_record, "port_info.link_width_supported">(12),
    component<hwtab::port_info_record, "port_info.link_width_active">(13),
    component<hwtab::port_info_record, "port_info.link_speed_supported">(14),
    component<hwtab::port_info_record, "port_info.port_state">(15),
    component<hwtab::port_info_record, "port_info.port_physical_state">(16),
    component<hwtab::port_info_record, "port_info.link_down_default_state">(17),
    component<hwtab::port_info_record, "port_info.m_key_protect_bits">(18),
    component<hwtab::port_info_record, "port_info.lmc">(20),
    component<hwtab::port_info_record, "port_info.link_speed_active">(21),
    component<hwtab::port_info_record, "port_info.link_speed_enabled">(22),
    component<hwtab::port_info_record, "port_info.neighbor_mtu">(23),
    component<hwtab::port_info_record, "port_info.master_sm_sl">(24),
    component<hwtab::port_info_record, "port_info.vl_cap">(25),
    component<hwtab::port_info_record, "port_info.init_type">(26),
    component<hwtab::port_info_record, "port_info.vl_high_limit">(27),
    component<hwtab::port_info_record, "port_info.vl_arbitration_high_cap">(28),
    component<hwtab::port_info_record, "port_info.vl_arbitration_low_cap">(29),
    component<hwtab::port_info_record, "port_info.init_type_reply">(30),
    component<hwtab::port_info_record, "port_info.mtu_cap">(31),
    component<hwtab::port_info_record, "port_info.vl_stall_count">(32),
    component<hwtab::port_info_record, "port_info.hoq_life">(33),
    component<hwtab::port_info_record, "port_info.operational_vls">(34),
    component<hwtab::port_info_record, "port_info.partition_enforcement_inbound">(35),
    component<hwtab::port_info_record, "port_info.partition_enforcement_outbound">(36),
    component<hwtab::port_info_record, "port_info.filter_raw_inbound">(37),
    component<hwtab::port_info_record, "port_info.filter_raw_outbound">(38),
    component<hwtab::port_info_record, "port_info.m_key_violations">(39),
    component<hwtab::port_info_record, "port_info.p_key_violations">(40),
    component<hwtab::port_info_record, "port_info.q_key_violations">(41),
    component<hwtab::port_info_record, "port_info.guid_cap">(42),
    component<hwtab::port_info_record, "port_info.client_reregister">(43),
    component<hwtab::port_info_record, "port_info.subnet_time_out">(45),
    component<hwtab::port_info_record, "port_info.resp_time_value">(47),
    component<hwtab::port_info_record, "port_info.local_phy_errors">(48),
    component<hwtab::port_info_record, "port_info.overrun_errors">(49),
    component<hwtab::port_info_record, "port_info.max_credit_hint">(50),
    component<hwtab::port_info_record, "port_info.link_round_trip_latency">(52),
    component<hwtab::port_info_record, "port_info.capability_mask2">(53),
    component<hwtab::port_info_record, "port_info.link_speed_ext_active">(54),
    component<hwtab::port_info_record, "port_info.link_speed_ext_supported">(55),
    component<hwtab::port_info_record, "port_info.link_speed_ext_enabled">(57),
};

/// Data rates by code, in 100 Mb/s; 0 for an undefined code.
constexpr std::array<std::uint32_t, 25> data_rates{
    0,    0,    25,  100,  300,  50,   200, 400, 600,  800,  1200, 140,  560,
    1120, 1680, 250, 1000, 2000, 3000, 280, 500, 4000, 6000, 8000, 12000};

/// Data rate of a lane, in 100 Mb/s, as the rate codes count it.
std::uint32_t nominal_rate(fabric::SpeedMask speed) {
    using fabric::LaneSpeed;
    struct Nominal {
        LaneSpeed speed;
        std::uint32_t rate;
    };
    constexpr std::array rates{Nominal{LaneSpeed::ndr, 1000}, Nominal{LaneSpeed::hdr, 500},
                               Nominal{LaneSpeed::edr, 250},  Nominal{LaneSpeed::fdr, 140},
                               Nominal{LaneSpeed::qdr, 100},  Nominal{LaneSpeed::ddr, 50}};
    const auto found = std::ranges::find_if(
        rates, [=](const Nominal& each) { return (speed & fabric::mask_of(each.speed)) != 0; });
    constexpr std::uint32_t sdr = 25;
    return found == rates.end() ? sdr : found->rate;
}

std::uint32_t lanes_of(fabric::WidthMask width) {
    using fabric::LinkWidth;
    struct Lanes {
        LinkWidth width;
        std::uint32_t count;
    };
    constexpr std::array lanes{Lanes{LinkWidth::x12, 12}, Lanes{LinkWidth::x8, 8},
                               Lanes{LinkWidth::x4, 4}, Lanes{LinkWidth::x2, 2}};
    const auto found = std::ranges::find_if(
        lanes, [=](const Lanes& each) { return (width & fabric::mask_of(each.width)) != 0; });
    return found == lanes.end() ? 1 : found->count;
}

/// The LID of a node: that of port 0 of a switch, of the port itself otherwise.
Lid base_lid(const SubnetNode& node, const SubnetPort& port, const LidTable& lids) {
    const auto port0 = node.ports.find(0);
    return lids.lid_of(node.is_switch() && port0 != node.ports.end() ? port0->second.guid
                                                                     : port.guid);
}

} // namespace

bool matches(std::span<const Component> components, std::uint64_t mask,
             std::span<const std::byte> record, std::span<const std::byte> query) {
    return std::ranges::all_of(components, [&](const Component& component) {
        if ((mask & component.bit) == 0)
            return true;
        constexpr std::uint32_t widest = 64;
        if (component.width <= widest)
            return hwtab::read_bits(record.data(), component.offset, component.width) ==
                   hwtab::read_bits(query.data(), component.offset, component.width);
        const std::size_t first = component.offset / hwtab::bits_per_byte;
        const std::size_t size = component.width / hwtab::bits_per_byte;
        return std::ranges::equal(record.subspan(first, size), query.subspan(first, size));
    });
}

bool is_selected(std::uint64_t selector, std::uint64_t value, std::uint64_t wanted) {
    switch (selector) {
    case hwtab::value<hwtab::sa_selector, "gt">:
        return value > wanted;
    case hwtab::value<hwtab::sa_selector, "lt">:
        return value < wanted;
    case hwtab::value<hwtab::sa_selector, "eq">:
        return value == wanted;
    default:
        return true; // the best there is
    }
}

std::vector<Record> node_records(const Subnet& subnet, const LidTable& lids,
                                 const SaRequest& request) {
    std::vector<Record> records;
    for (const auto& [guid, key] : subnet.end_ports()) {
        const SubnetNode& node = subnet.nodes.at(key.node);
        Record record(hwtab::node_record.size);
        const hwtab::View<hwtab::node_record> view(record);
        std::ranges::copy(node.info, view.bytes<"node_info">().begin());
        std::ranges::copy(node.description, view.bytes<"node_description">().begin());
        view.set<"lid">(lids.lid_of(guid));
        view.set<"node_info.port_guid">(guid);
        view.set<"node_info.local_port_num">(node.is_switch() ? node.view().get<"local_port_num">()
                                                              : key.port);
        if (matches(node_components, request.mask, record, request.data))
            records.push_back(std::move(record));
    }
    return records;
}

std::vector<Record> port_info_records(const Subnet& subnet, const LidTable& lids,
                                      const SaRequest& request) {
    constexpr std::uint32_t by_capabilities = 1U << 31U;
    constexpr std::uint64_t capability_component = std::uint64_t{1} << capability_mask_bit;
    const bool has_subset =
        (request.modifier & by_capabilities) != 0 && (request.mask & capability_component) != 0;
    const std::uint64_t mask = has_subset ? request.mask & ~capability_component : request.mask;
    const auto wanted =
        hwtab::ConstView<hwtab::port_info_record>(request.data).get<"port_info.capability_mask">();
    std::vector<Record> records;
    for (const auto& [guid, node] : subnet.nodes) {
        for (const auto& [number, port] : node.ports) {
            Record record(hwtab::port_info_record.size);
            const hwtab::View<hwtab::port_info_record> view(record);
            std::ranges::copy(port.info, view.bytes<"port_info">().begin());
            view.set<"endport_lid">(base_lid(node, port, lids));
            view.set<"port_num">(number);
            view.set<"port_info.m_key">(0); // only for trusted requests, and there is none
            const bool has_capabilities =
                !has_subset || (port.view().get<"capability_mask">() & wanted) == wanted;
            if (has_capabilities && matches(port_components, mask, record, request.data))
                records.push_back(std::move(record));
        }
    }
    return records;
}

std::uint32_t data_rate_of(std::uint64_t rate_code) {
    return rate_code < data_rates.size() ? data_rates[rate_code] : 0;
}

std::uint8_t rate_code_of(const SubnetPort& port) {
    const auto info = port.view();
    const auto extended = static_cast<std::uint8_t>(info.get<"link_speed_ext_active">());
    const auto basic = static_cast<std::uint8_t>(info.get<"link_speed_active">());
    const auto width = static_cast<std::uint8_t>(info.get<"link_width_active">());
    const auto speeds = extended != 0 ? fabric::speeds_from_port_info_extended(extended)
                                      : fabric::speeds_from_port_info(basic);
    const std::uint32_t rate =
        lanes_of(fabric::widths_from_port_info(width)) * nominal_rate(speeds);
    const auto found = std::ranges::find(data_rates, rate);
    return static_cast<std::uint8_t>(found == data_rates.end() ? 0 : found - data_rates.begin());
}

} // namespace cxemu::subnet_manager
