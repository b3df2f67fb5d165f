// SPDX-License-Identifier: GPL-2.0-or-later
//
// DCT commands. DCIs are QPs.
#include "commands/resources.hpp"
#include "commands/table.hpp"
#include "hca/hca.hpp"
#include "queues/dynamic_connections.hpp"
#include "queues/queue_pair.hpp"
#include "queues/work_queues.hpp"
#include "tables/commands_queue_pairs.hpp"

#include <array>

namespace cxemu::commands {

namespace {

using namespace hca;
using queues::CompletionQueue;
using queues::QueueCounterSet;
using queues::QueuePair;
using queues::QueuePairResources;
using queues::QueuePairState;
using queues::ServiceType;
using Dctc = hwtab::ConstView<hwtab::dctc>;

CommandResult check_fields(CommandContext& context, Dctc fields) {
    constexpr std::uint64_t largest_mtu = hwtab::value<hwtab::qp_mtu, "4k_bytes">;
    if (context.hca.capabilities().current<"dct">() == 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "the device has no dynamically connected transport");
    const auto mtu = fields.get<"mtu">();
    if (mtu == 0 || mtu > largest_mtu)
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "mtu {} is not between 1 and {}", mtu, largest_mtu);
    const auto port = fields.get<"port">();
    if (port == 0 || port > context.hca.settings().ports)
        return context.fail(CommandStatus::bad_parameter, Syndrome::wrong_port,
                            "port {} is not between 1 and {}", port, context.hca.settings().ports);
    return CommandResult::ok();
}

CommandResult find_resources(CommandContext& context, Dctc fields, QueuePairResources& found) {
    if (const auto result =
            store(refer_to<ProtectionDomain>(context, fields.get<"pd">()), found.domain);
        !result)
        return result;
    if (const auto result = store(refer_to<CompletionQueue>(context, fields.get<"cqn">()),
                                  found.receive_completions);
        !result)
        return result;
    if (const auto result = store(refer_to_shared_receive(context, fields.get<"srqn_xrqn">()),
                                  found.shared_receive);
        !result)
        return result;
    const auto set = static_cast<std::uint32_t>(fields.get<"counter_set_id">());
    if (set == 0)
        return CommandResult::ok();
    const auto counters = context.find_shared<QueueCounterSet>(set);
    if (!counters)
        return counters.error();
    found.counters = std::static_pointer_cast<QueueCounterSet>((*counters)->shared_from_this());
    return CommandResult::ok();
}

CommandResult create_dct(CommandContext& context) {
    const auto fields =
        context.in<hwtab::create_dct_in>().nested<"dct_context_entry", hwtab::dctc>();
    if (const auto checked = check_fields(context, fields); !checked)
        return checked;
    QueuePairResources resources;
    if (const auto found = find_resources(context, fields, resources); !found)
        return found;
    std::array<std::byte, hwtab::qpc.size> queue_pair{};
    const hwtab::View<hwtab::qpc> made{queue_pair};
    queues::to_queue_pair(fields, made);
    made.set<"log_rra_max">(context.hca.capabilities().current<"log_max_ra_res_dc">());
    const auto created = context.objects().of<QueuePair>().create(
        context.uid, context.hca.part<queues::WorkQueues>(), queue_pair, std::move(resources));
    if (!created)
        return context.refuse(created.error(), QueuePair::kind, 0);
    (*created)->change_state(QueuePairState::ready_to_receive);
    context.out<hwtab::create_dct_out>().set<"dctn">((*created)->number());
    return CommandResult::ok();
}

CommandResult wrong_type(CommandContext& context, const QueuePair& queue_pair) {
    return context.fail(CommandStatus::bad_resource, Syndrome::wrong_object_type,
                        "queue pair {:#x} is no dynamically connected target", queue_pair.number());
}

std::expected<QueuePair*, CommandResult> find_target(CommandContext& context,
                                                     std::uint64_t number) {
    auto found = context.find_owned<QueuePair>(static_cast<std::uint32_t>(number));
    if (found && (*found)->service() != ServiceType::dct)
        return std::unexpected(wrong_type(context, **found));
    return found;
}

/// Software waits for the event without a timeout, so all connections are destroyed at once.
CommandResult drain_dct(CommandContext& context) {
    const auto found = find_target(context, context.in<hwtab::drain_dct_in>().get<"dctn">());
    if (!found)
        return found.error();
    (*found)->change_state(QueuePairState::error);
    (*found)->post_target_event(EventType::dct_drained);
    return CommandResult::ok();
}

CommandResult destroy_dct(CommandContext& context) {
    const auto found = find_target(context, context.in<hwtab::destroy_dct_in>().get<"dctn">());
    if (!found)
        return found.error();
    (*found)->enter_error(); // outstanding messages are dropped before the event
    const auto taken = context.take<QueuePair>((*found)->number());
    if (!taken)
        return taken.error();
    context.hca.part<queues::WorkQueues>().forget(**taken);
    return CommandResult::ok();
}

CommandResult query_dct(CommandContext& context) {
    const auto in = context.in<hwtab::query_dct_in>();
    const auto found = context.find<QueuePair>(static_cast<std::uint32_t>(in.get<"dctn">()));
    if (!found)
        return found.error();
    QueuePair& target = **found;
    if (target.service() != ServiceType::dct)
        return wrong_type(context, target);
    const auto fields =
        context.out<hwtab::query_dct_out>().nested<"dct_context_entry", hwtab::dctc>();
    queues::to_target(std::as_const(target).context(), fields);
    fields.set<"state">(target.can_receive() ? hwtab::value<hwtab::dct_state, "active">
                                             : hwtab::value<hwtab::dct_state, "drained">);
    fields.set<"dc_access_key_violation_count">(target.key_violations().count);
    return CommandResult::ok();
}

CommandResult arm_dct(CommandContext& context) {
    const auto found = find_target(context, context.in<hwtab::arm_dct_in>().get<"dct_number">());
    if (!found)
        return found.error();
    (*found)->key_violations().armed = true;
    return CommandResult::ok();
}

constexpr std::array dynamic_target_entries{
    CommandEntry{&hwtab::cmd_create_dct, create_dct},
    CommandEntry{&hwtab::cmd_drain_dct, drain_dct},
    CommandEntry{&hwtab::cmd_destroy_dct, destroy_dct},
    CommandEntry{&hwtab::cmd_query_dct, query_dct},
    CommandEntry{&hwtab::cmd_arm_dct, arm_dct},
};

} // namespace

std::span<const CommandEntry> dynamic_target_commands() {
    return dynamic_target_entries;
}

} // namespace cxemu::commands
