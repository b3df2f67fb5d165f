// SPDX-License-Identifier: GPL-2.0-or-later
//
// Attributes of a function's ports, and MAD_IFC. All outputs are read from the port itself, so a
// change is visible in all of them at once.
#include "commands/port.hpp"

#include "commands/table.hpp"
#include "hca/hca.hpp"
#include "tables/commands_port.hpp"

#include <algorithm>
#include <array>

namespace cxemu::commands {

namespace {

using namespace hca;
using fabric::HcaPort;

/// Index of a query of the whole table.
constexpr std::uint64_t all_entries = 0xffff;

/// The port in the input of an HCA_VPORT command.
template <const hwtab::Layout& layout>
std::expected<HcaPort*, CommandResult> vport(CommandContext& context) {
    const auto in = context.in<layout>();
    if (in.template get<"other_vport">() != 0)
        return std::unexpected(context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                                            "other_vport is set, but the function doesn't manage "
                                            "the ports of others"));
    return find_port(context, in.template get<"port_num">(), true);
}

CommandResult query_hca_vport_context(CommandContext& context) {
    const auto found = vport<hwtab::query_hca_vport_context_in>(context);
    if (!found)
        return found.error();
    const HcaPort& port = **found;
    const auto out = context.out<hwtab::query_hca_vport_context_out>()
                         .nested<"hca_vport_context", hwtab::hca_vport_context>();
    const auto state = static_cast<std::uint64_t>(port.state());
    out.set<"has_smi">(1);
    out.set<"port_physical_state">(static_cast<std::uint64_t>(port.physical_state()));
    out.set<"vport_state_policy">(hwtab::value<hwtab::vport_policy, "follow">);
    out.set<"port_state">(state);
    out.set<"vport_state">(state);
    out.set<"system_image_guid">(port.system_image_guid());
    out.set<"port_guid">(port.port_guid());
    out.set<"node_guid">(port.node_guid());
    out.set<"cap_mask1">(port.capability_mask());
    out.set<"cap_mask1_field_select">(HcaPort::changeable_capabilities());
    out.set<"cap_mask2">(port.capability_mask2());
    out.set<"lid">(port.lid());
    out.set<"init_type_reply">(port.init_type_reply());
    out.set<"lmc">(port.lmc());
    out.set<"subnet_timeout">(port.subnet_timeout());
    out.set<"sm_lid">(port.sm_lid());
    out.set<"sm_sl">(port.sm_sl());
    out.set<"qkey_violation_counter">(port.q_key_violations());
    out.set<"pkey_violation_counter">(port.p_key_violations());
    return CommandResult::ok();
}

using VportContext = hwtab::ConstView<hwtab::hca_vport_context>;

CommandResult check_vport_changes(CommandContext& context, VportContext wanted) {
    constexpr auto known = hwtab::value<hwtab::hca_vport_field_select, "port_guid"> |
                           hwtab::value<hwtab::hca_vport_field_select, "node_guid"> |
                           hwtab::value<hwtab::hca_vport_field_select, "state_policy">;
    const auto fields = wanted.get<"field_select">();
    if ((fields & ~known) != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "field_select {:#x} has bits beyond {:#x}", fields, known);
    const auto policy = wanted.get<"vport_state_policy">();
    constexpr auto follow = hwtab::value<hwtab::vport_policy, "follow">;
    if ((fields & hwtab::value<hwtab::hca_vport_field_select, "state_policy">) != 0 &&
        policy != follow)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "vport_state_policy {}: the function's own port always follows the "
                            "physical port ({})",
                            policy, follow);
    const auto select = wanted.get<"cap_mask1_field_select">();
    if ((select & ~HcaPort::changeable_capabilities()) != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "cap_mask1_field_select {:#x} has bits beyond those that software may "
                            "change, {:#x}",
                            select, HcaPort::changeable_capabilities());
    if (wanted.get<"cap_mask2_field_select">() != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "cap_mask2_field_select {:#x}: no bit of cap_mask2 can be changed",
                            wanted.get<"cap_mask2_field_select">());
    return CommandResult::ok();
}

CommandResult modify_hca_vport_context(CommandContext& context) {
    const auto found = vport<hwtab::modify_hca_vport_context_in>(context);
    if (!found)
        return found.error();
    const auto wanted = context.in<hwtab::modify_hca_vport_context_in>()
                            .nested<"hca_vport_context", hwtab::hca_vport_context>();
    if (const auto result = check_vport_changes(context, wanted); !result)
        return result;
    HcaPort& port = **found;
    const auto fields = wanted.get<"field_select">();
    if ((fields & hwtab::value<hwtab::hca_vport_field_select, "node_guid">) != 0)
        port.set_node_guid(wanted.get<"node_guid">());
    if ((fields & hwtab::value<hwtab::hca_vport_field_select, "port_guid">) != 0)
        port.set_port_guid(wanted.get<"port_guid">());
    port.modify_capability_mask(static_cast<std::uint32_t>(wanted.get<"cap_mask1">()),
                                static_cast<std::uint32_t>(wanted.get<"cap_mask1_field_select">()));
    return CommandResult::ok();
}

/// Range of table entries of a query.
struct Entries {
    std::size_t first = 0;
    std::size_t count = 0;
};

/// \param what "gid", for messages
/// \param room number of entries that fit the output
std::expected<Entries, CommandResult> wanted_entries(CommandContext& context, std::string_view what,
                                                     Syndrome bad_index, std::uint64_t index,
                                                     std::size_t size, std::size_t room) {
    const bool all = index == all_entries;
    if (!all && index >= size)
        return std::unexpected(context.fail(CommandStatus::bad_parameter, bad_index,
                                            "{}_index {} exceeds the limit {}", what, index,
                                            size - 1));
    const Entries entries{.first = all ? 0 : index, .count = all ? size : 1};
    if (entries.count > room)
        return std::unexpected(context.fail(
            CommandStatus::bad_output_length, Syndrome::output_too_short,
            "{} entries were asked for, the output has room for {}", entries.count, room));
    return entries;
}

CommandResult query_hca_vport_gid(CommandContext& context) {
    const auto found = vport<hwtab::query_hca_vport_gid_in>(context);
    if (!found)
        return found.error();
    const HcaPort& port = **found;
    const auto out = context.out<hwtab::query_hca_vport_gid_out>();
    const auto list = out.bytes<"gid">();
    const auto index = context.in<hwtab::query_hca_vport_gid_in>().get<"gid_index">();
    const auto entries = wanted_entries(context, "gid", Syndrome::bad_gid_index, index,
                                        port.gid_count(), list.size() / hwtab::gid.size);
    if (!entries)
        return entries.error();
    out.set<"gids_num">(entries->count);
    for (std::size_t i = 0; i < entries->count; ++i)
        std::ranges::copy(port.gid(entries->first + i).bytes,
                          list.subspan(i * hwtab::gid.size).begin());
    return CommandResult::ok();
}

CommandResult query_hca_vport_pkey(CommandContext& context) {
    const auto found = vport<hwtab::query_hca_vport_pkey_in>(context);
    if (!found)
        return found.error();
    const auto table = (*found)->p_keys();
    const auto out = context.out<hwtab::query_hca_vport_pkey_out>();
    const auto room = out.bytes<"pkey">().size() / hwtab::pkey.size;
    const auto index = context.in<hwtab::query_hca_vport_pkey_in>().get<"pkey_index">();
    const auto entries =
        wanted_entries(context, "pkey", Syndrome::bad_pkey_index, index, table.size(), room);
    if (!entries)
        return entries.error();
    for (std::size_t i = 0; i < entries->count; ++i)
        out.nested<"pkey", hwtab::pkey>(i).set<"pkey">(table[entries->first + i]);
    return CommandResult::ok();
}

CommandResult query_vport_state(CommandContext& context) {
    const auto in = context.in<hwtab::query_vport_state_in>();
    if (in.get<"other_vport">() != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "other_vport is set, but the function doesn't manage the ports of "
                            "others");
    if (hwtab::name_of(hwtab::vport_state_op_mod, context.op_mod).empty())
        return context.fail(CommandStatus::bad_operation, Syndrome::unknown_op_mod,
                            "op_mod {} of QUERY_VPORT_STATE", context.op_mod);
    const auto found = find_port(context, 0, true);
    if (!found)
        return found.error();
    const auto out = context.out<hwtab::query_vport_state_out>();
    const bool up = (*found)->state() == fabric::PortState::active;
    out.set<"admin_state">(hwtab::value<hwtab::vport_admin_state, "auto">);
    out.set<"state">(up ? hwtab::value<hwtab::vport_state, "up">
                        : hwtab::value<hwtab::vport_state, "down">);
    return CommandResult::ok();
}

/// Zeros mean that the ports are not aggregated. InfiniBand has no link aggregation.
CommandResult query_lag(CommandContext& /*context*/) {
    return CommandResult::ok();
}

std::string_view reason(fabric::MadRefusal refusal) {
    return refusal == fabric::MadRefusal::key_violation ? "the M_Key of the datagram is wrong"
                                                        : "the port has no agent for the datagram";
}

CommandResult mad_ifc(CommandContext& context) {
    const auto in = context.in<hwtab::mad_ifc_in>();
    const auto found = find_port(context, in.get<"port">(), false);
    if (!found)
        return found.error();
    fabric::Mad request{};
    std::ranges::copy(in.bytes<"mad">(), request.begin());
    const fabric::MadIfcFlags flags{
        .ignore_management_key =
            (context.op_mod & hwtab::value<hwtab::mad_ifc_op_mod, "ignore_mkey">) != 0,
        .ignore_baseboard_key =
            (context.op_mod & hwtab::value<hwtab::mad_ifc_op_mod, "ignore_bkey">) != 0};
    const auto response =
        (*found)->process(request, flags, static_cast<fabric::Lid>(in.get<"remote_lid">()));
    if (!response)
        return context.fail(CommandStatus::bad_packet, Syndrome::bad_datagram,
                            "{} (class {:#x}, method {:#x})", reason(response.error()),
                            fabric::class_of(request),
                            static_cast<unsigned>(fabric::method_of(request)));
    if (*response)
        std::ranges::copy(**response,
                          context.out<hwtab::mad_ifc_out>().bytes<"response_mad_packet">().begin());
    return CommandResult::ok();
}

constexpr std::array port_entries{
    CommandEntry{&hwtab::cmd_query_hca_vport_context, query_hca_vport_context},
    CommandEntry{&hwtab::cmd_modify_hca_vport_context, modify_hca_vport_context},
    CommandEntry{&hwtab::cmd_query_hca_vport_gid, query_hca_vport_gid},
    CommandEntry{&hwtab::cmd_query_hca_vport_pkey, query_hca_vport_pkey},
    CommandEntry{&hwtab::cmd_query_vport_state, query_vport_state},
    CommandEntry{&hwtab::cmd_mad_ifc, mad_ifc},
    CommandEntry{&hwtab::cmd_query_lag, query_lag},
};

} // namespace

std::expected<HcaPort*, CommandResult> find_port(CommandContext& context, std::uint64_t number,
                                                 bool zero_is_first) {
    const std::uint64_t wanted = number == 0 && zero_is_first ? 1 : number;
    HcaPort* port = context.hca.port(static_cast<std::uint32_t>(wanted));
    if (port == nullptr)
        return std::unexpected(context.fail(CommandStatus::bad_parameter, Syndrome::wrong_port,
                                            "port {} is not one of 1 to {}", number,
                                            context.hca.port_count()));
    return port;
}

std::span<const CommandEntry> port_commands() {
    return port_entries;
}

} // namespace cxemu::commands
