// SPDX-License-Identifier: GPL-2.0-or-later
//
// Port registers of ACCESS_REGISTER.
#include "commands/port.hpp"
#include "commands/registers.hpp"
#include "hca/hca.hpp"
#include "tables/registers.hpp"

#include <algorithm>
#include <array>

namespace cxemu::commands {

namespace {

using namespace hca;
using fabric::HcaPort;

template <const hwtab::Layout& layout>
using In = hwtab::ConstView<layout>;
template <const hwtab::Layout& layout>
using Out = hwtab::View<layout>;

/// The port in field local_port of a register; copies the field to the output.
template <const hwtab::Layout& layout>
std::expected<HcaPort*, CommandResult> local_port(RegisterAccess& access) {
    const auto number = In<layout>(access.in).template get<"local_port">();
    Out<layout>(access.out).template set<"local_port">(number);
    return find_port(access.command, number, false);
}

CommandResult refuse_write(RegisterAccess& access, std::string_view name) {
    return access.command.fail(CommandStatus::bad_parameter, Syndrome::bad_register_value,
                               "register {} can only be read", name);
}

// --- PTYS ----------------------------------------------------------------------------------------

CommandResult write_ptys(RegisterAccess& access, HcaPort& port) {
    const In<hwtab::ptys_reg> in(access.in);
    const auto widths = static_cast<fabric::WidthMask>(in.get<"ib_link_width_admin">());
    const auto speeds = static_cast<fabric::SpeedMask>(in.get<"ib_proto_admin">());
    const auto& supported = port.port().capabilities();
    if ((widths & ~supported.widths) != 0 || (speeds & ~supported.speeds) != 0)
        return access.command.fail(CommandStatus::bad_parameter, Syndrome::bad_register_value,
                                   "ib_link_width_admin {:#x} or ib_proto_admin {:#x} has bits "
                                   "beyond the capabilities {:#x} and {:#x}",
                                   widths, speeds, supported.widths, supported.speeds);
    port.enable_rates(widths, speeds);
    return CommandResult::ok();
}

CommandResult ptys(RegisterAccess& access) {
    const auto found = local_port<hwtab::ptys_reg>(access);
    if (!found)
        return found.error();
    HcaPort& port = **found;
    constexpr auto infiniband = hwtab::value<hwtab::ptys_proto_mask, "ib">;
    const auto protocol = In<hwtab::ptys_reg>(access.in).get<"proto_mask">();
    if (protocol != infiniband)
        return access.command.fail(CommandStatus::bad_parameter, Syndrome::bad_register_value,
                                   "proto_mask {:#x}: the port knows InfiniBand ({:#x}) only",
                                   protocol, infiniband);
    if (access.write)
        if (const auto result = write_ptys(access, port); !result)
            return result;
    const Out<hwtab::ptys_reg> out(access.out);
    const auto& supported = port.port().capabilities();
    const auto rate = port.rate().value_or(fabric::LinkRate{}); // down: the slowest
    out.set<"proto_mask">(infiniband);
    out.set<"data_rate_oper">(port.rate() ? fabric::data_rate(rate) : 0);
    out.set<"ib_link_width_capability">(supported.widths);
    out.set<"ib_proto_capability">(supported.speeds);
    out.set<"ib_link_width_admin">(port.port().enabled_widths());
    out.set<"ib_proto_admin">(port.port().enabled_speeds());
    out.set<"ib_link_width_oper">(fabric::mask_of(rate.width));
    out.set<"ib_proto_oper">(fabric::mask_of(rate.speed));
    return CommandResult::ok();
}

// --- PMTU, PVLC, PAOS, PCAP, PLIB ----------------------------------------------------------------

CommandResult pmtu(RegisterAccess& access) {
    const auto found = local_port<hwtab::pmtu_reg>(access);
    if (!found)
        return found.error();
    if (access.write)
        return refuse_write(access, "pmtu"); // the subnet manager chooses the MTU
    const Out<hwtab::pmtu_reg> out(access.out);
    out.set<"max_mtu">((*found)->port().largest_mtu());
    out.set<"admin_mtu">((*found)->port().largest_mtu());
    out.set<"oper_mtu">((*found)->mtu());
    return CommandResult::ok();
}

CommandResult pvlc(RegisterAccess& access) {
    const auto found = local_port<hwtab::pvlc_reg>(access);
    if (!found)
        return found.error();
    if (access.write)
        return refuse_write(access, "pvlc"); // the subnet manager chooses the number of lanes
    const Out<hwtab::pvlc_reg> out(access.out);
    out.set<"vl_hw_cap">((*found)->port().supported_data_lanes());
    out.set<"vl_admin">((*found)->port().supported_data_lanes());
    out.set<"vl_operational">((*found)->port().data_lanes());
    return CommandResult::ok();
}

CommandResult write_paos(RegisterAccess& access, HcaPort& port) {
    const In<hwtab::paos_reg> in(access.in);
    if (in.get<"ase">() == 0)
        return CommandResult::ok();
    const auto wanted = in.get<"admin_status">();
    constexpr auto up = hwtab::value<hwtab::port_admin_status, "up">;
    constexpr auto down = hwtab::value<hwtab::port_admin_status, "down">;
    if (wanted != up && wanted != down)
        return access.command.fail(CommandStatus::bad_parameter, Syndrome::bad_register_value,
                                   "admin_status {}: neither up ({}) nor down ({})", wanted, up,
                                   down);
    port.set_enabled(wanted == up);
    return CommandResult::ok();
}

CommandResult paos(RegisterAccess& access) {
    const auto found = local_port<hwtab::paos_reg>(access);
    if (!found)
        return found.error();
    HcaPort& port = **found;
    if (access.write)
        if (const auto result = write_paos(access, port); !result)
            return result;
    const Out<hwtab::paos_reg> out(access.out);
    out.set<"admin_status">(port.port().enabled() ? hwtab::value<hwtab::port_admin_status, "up">
                                                  : hwtab::value<hwtab::port_admin_status, "down">);
    out.set<"oper_status">(port.rate() ? hwtab::value<hwtab::port_oper_status, "up">
                                       : hwtab::value<hwtab::port_oper_status, "down">);
    return CommandResult::ok();
}

CommandResult pcap(RegisterAccess& access) {
    // The capability mask of PortInfo is in the first word of the four.
    constexpr std::size_t mask_word = 0;
    const auto found = local_port<hwtab::pcap_reg>(access);
    if (!found)
        return found.error();
    if (access.write) {
        const auto mask = static_cast<std::uint32_t>(
            In<hwtab::pcap_reg>(access.in).get_at<"port_capability_mask">(mask_word));
        (*found)->modify_capability_mask(mask, HcaPort::changeable_capabilities());
    }
    Out<hwtab::pcap_reg>(access.out)
        .set_at<"port_capability_mask">(mask_word, (*found)->capability_mask());
    return CommandResult::ok();
}

CommandResult plib(RegisterAccess& access) {
    const auto found = local_port<hwtab::plib_reg>(access);
    if (!found)
        return found.error();
    if (access.write)
        return refuse_write(access, "plib");
    Out<hwtab::plib_reg>(access.out).set<"ib_port">((*found)->number());
    return CommandResult::ok();
}

// --- PPCNT ---------------------------------------------------------------------------------------

/// Saturates \p value at the highest value of a field of \p width bits.
constexpr std::uint64_t saturated(std::uint64_t value, std::uint32_t width) {
    return std::min(value, (std::uint64_t{1} << width) - 1);
}

template <hwtab::FixedString field, const hwtab::Layout& layout>
void set_saturated(Out<layout> out, std::uint64_t value) {
    constexpr std::uint32_t width = hwtab::locate(layout, field.view()).field->width;
    out.template set<field>(saturated(value, width));
}

using PortGroup = Out<hwtab::ib_port_cntrs_grp_data_layout>;
using ExtendedGroup = Out<hwtab::ib_ext_port_cntrs_grp_data_layout>;

void write_group(PortGroup out, const fabric::PortCounters& in) {
    set_saturated<"symbol_error_counter">(out, in.symbol_errors);
    set_saturated<"link_error_recovery_counter">(out, in.link_error_recoveries);
    set_saturated<"link_downed_counter">(out, in.link_downed);
    set_saturated<"port_rcv_errors">(out, in.receive_errors);
    set_saturated<"port_rcv_remote_physical_errors">(out, in.receive_remote_physical_errors);
    set_saturated<"port_rcv_switch_relay_errors">(out, in.receive_switch_relay_errors);
    set_saturated<"port_xmit_discards">(out, in.transmit_discards);
    set_saturated<"port_xmit_constraint_errors">(out, in.transmit_constraint_errors);
    set_saturated<"port_rcv_constraint_errors">(out, in.receive_constraint_errors);
    set_saturated<"link_overrun_errors">(out, in.excessive_buffer_overruns);
    set_saturated<"vl_15_dropped">(out, in.vl15_dropped);
    set_saturated<"port_xmit_wait">(out, in.transmit_wait);
}

template <hwtab::FixedString high, hwtab::FixedString low>
void set_halves(ExtendedGroup out, std::uint64_t value) {
    constexpr std::uint32_t word = 32;
    out.set<high>(value >> word);
    out.set<low>(value & 0xffff'ffffU);
}

void write_group(ExtendedGroup out, const fabric::PortCounters& in) {
    constexpr std::uint64_t unit = 4; // bytes, as in the attribute PortCountersExtended
    set_halves<"port_xmit_data_high", "port_xmit_data_low">(out, in.transmit_bytes / unit);
    set_halves<"port_rcv_data_high", "port_rcv_data_low">(out, in.receive_bytes / unit);
    set_halves<"port_xmit_pkts_high", "port_xmit_pkts_low">(out, in.transmit_packets);
    set_halves<"port_rcv_pkts_high", "port_rcv_pkts_low">(out, in.receive_packets);
    set_halves<"port_unicast_xmit_pkts_high", "port_unicast_xmit_pkts_low">(
        out, in.unicast_transmit_packets);
    set_halves<"port_unicast_rcv_pkts_high", "port_unicast_rcv_pkts_low">(
        out, in.unicast_receive_packets);
    set_halves<"port_multicast_xmit_pkts_high", "port_multicast_xmit_pkts_low">(
        out, in.multicast_transmit_packets);
    set_halves<"port_multicast_rcv_pkts_high", "port_multicast_rcv_pkts_low">(
        out, in.multicast_receive_packets);
}

CommandResult ppcnt(RegisterAccess& access) {
    const auto found = local_port<hwtab::ppcnt_reg>(access);
    if (!found)
        return found.error();
    const In<hwtab::ppcnt_reg> in(access.in);
    const Out<hwtab::ppcnt_reg> out(access.out);
    fabric::PortCounters& counters = (*found)->port().counters();
    const auto group = in.get<"grp">();
    out.set<"grp">(group);
    switch (group) {
    case hwtab::value<hwtab::ppcnt_group, "infiniband_port">:
        write_group(PortGroup(out.bytes<"counter_set">()), counters);
        break;
    case hwtab::value<hwtab::ppcnt_group, "infiniband_extended_port">:
        write_group(ExtendedGroup(out.bytes<"counter_set">()), counters);
        break;
    case hwtab::value<hwtab::ppcnt_group, "physical_layer">:
        out.set<"counter_set.phys_layer_cntrs.link_down_events">(
            saturated(counters.link_downed, 32));
        break;
    default:
        return access.command.fail(CommandStatus::bad_parameter, Syndrome::bad_register_value,
                                   "grp {:#x}: an InfiniBand port has no such counters", group);
    }
    if (in.get<"clr">() != 0)
        counters = {};
    return CommandResult::ok();
}

// --- NODE_DESC -----------------------------------------------------------------------------------

CommandResult node_description(RegisterAccess& access) {
    const auto found = find_port(access.command, 0, true);
    if (!found)
        return found.error();
    if (access.write) {
        const auto text = In<hwtab::set_node_in>(access.in).bytes<"node_description">();
        const auto end = std::ranges::find(text, std::byte{0});
        std::string description;
        for (auto position = text.begin(); position != end; ++position)
            description.push_back(std::to_integer<char>(*position));
        for (std::uint32_t number = 1; number <= access.command.hca.port_count(); ++number)
            access.command.hca.port(number)->set_node_description(description);
    }
    const auto out = Out<hwtab::set_node_in>(access.out).bytes<"node_description">();
    std::ranges::transform((*found)->node_description(), out.begin(),
                           [](char c) { return std::byte(c); });
    return CommandResult::ok();
}

constexpr std::array port_register_entries{
    RegisterEntry{&hwtab::access_ptys, ptys},
    RegisterEntry{&hwtab::access_pmtu, pmtu},
    RegisterEntry{&hwtab::access_pvlc, pvlc},
    RegisterEntry{&hwtab::access_paos, paos},
    RegisterEntry{&hwtab::access_pcap, pcap},
    RegisterEntry{&hwtab::access_plib, plib},
    RegisterEntry{&hwtab::access_ppcnt, ppcnt},
    RegisterEntry{&hwtab::access_node_desc, node_description},
};

} // namespace

std::span<const RegisterEntry> port_registers() {
    return port_register_entries;
}

} // namespace cxemu::commands
