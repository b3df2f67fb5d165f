// SPDX-License-Identifier: GPL-2.0-or-later
//
// Attaches QPs to multicast groups and detaches them.
#include "commands/table.hpp"
#include "fabric/identifiers.hpp"
#include "hca/hca.hpp"
#include "queues/queue_pair.hpp"
#include "tables/commands_port.hpp"
#include "transport/packet_transport.hpp"

#include <array>

namespace cxemu::commands {

namespace {

using namespace hca;
using transport::MembershipFault;

/// Validated input of ATTACH_TO_MCG and DETACH_FROM_MCG.
struct Membership {
    fabric::Gid group;
    std::uint32_t queue_pair = 0;
};

template <const hwtab::Layout& layout>
std::expected<Membership, CommandResult> membership(CommandContext& context) {
    const auto in = context.in<layout>();
    const auto number = static_cast<std::uint32_t>(in.template get<"qpn">());
    const auto queue_pair = context.find_owned<queues::QueuePair>(number);
    if (!queue_pair)
        return std::unexpected(queue_pair.error());
    if ((*queue_pair)->service() != queues::ServiceType::unreliable_datagram)
        return std::unexpected(
            context.fail(CommandStatus::bad_parameter, Syndrome::wrong_object_type,
                         "queue pair {:#x} is of service {}; only ud receives multicast packets",
                         number, queues::name_of((*queue_pair)->service())));
    const fabric::Gid group(in.template bytes<"multicast_gid">());
    if (!group.is_multicast())
        return std::unexpected(context.fail(
            CommandStatus::bad_parameter, Syndrome::field_out_of_range,
            "multicast_gid {:016x}{:016x} is no multicast GID", group.prefix(), group.guid()));
    return Membership{.group = group, .queue_pair = number};
}

transport::MulticastGroups& groups_of(const CommandContext& context) {
    return context.hca.part<transport::PacketTransport>().groups();
}

CommandResult refuse(CommandContext& context, const Membership& wanted, MembershipFault fault) {
    const auto& limits = groups_of(context).limits();
    switch (fault) {
    case MembershipFault::too_many_groups:
        return context.fail(CommandStatus::no_resources, Syndrome::no_number_left,
                            "all {} multicast groups are in use", limits.groups);
    case MembershipFault::too_many_members:
        return context.fail(CommandStatus::exceeds_limit, Syndrome::exceeds_capability,
                            "multicast group {:016x}{:016x} has {} members, the most a group may",
                            wanted.group.prefix(), wanted.group.guid(), limits.members);
    case MembershipFault::not_a_member:
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_a_member,
                            "queue pair {:#x} isn't attached to multicast group {:016x}{:016x}",
                            wanted.queue_pair, wanted.group.prefix(), wanted.group.guid());
    }
    return CommandResult::fail(CommandStatus::internal_error, Syndrome::none);
}

CommandResult attach_to_mcg(CommandContext& context) {
    const auto wanted = membership<hwtab::attach_to_mcg_in>(context);
    if (!wanted)
        return wanted.error();
    const auto attached = groups_of(context).attach(wanted->group, wanted->queue_pair);
    return attached ? CommandResult::ok() : refuse(context, *wanted, attached.error());
}

CommandResult detach_from_mcg(CommandContext& context) {
    const auto wanted = membership<hwtab::detach_from_mcg_in>(context);
    if (!wanted)
        return wanted.error();
    const auto detached = groups_of(context).detach(wanted->group, wanted->queue_pair);
    return detached ? CommandResult::ok() : refuse(context, *wanted, detached.error());
}

constexpr std::array multicast_entries{
    CommandEntry{&hwtab::cmd_attach_to_mcg, attach_to_mcg},
    CommandEntry{&hwtab::cmd_detach_from_mcg, detach_from_mcg},
};

} // namespace

std::span<const CommandEntry> multicast_commands() {
    return multicast_entries;
}

} // namespace cxemu::commands
