// SPDX-License-Identifier: GPL-2.0-or-later
//
// EQs.
#include "commands/resources.hpp"
#include "commands/table.hpp"
#include "hca/hca.hpp"
#include "queues/event_queues.hpp"
#include "tables/commands_events.hpp"

#include <algorithm>
#include <array>

namespace cxemu::commands {

namespace {

using namespace hca;
using queues::EventMask;
using queues::EventQueue;

EventMask event_mask(hwtab::ConstView<hwtab::create_eq_in> in) {
    constexpr std::size_t bits_per_element = 64;
    EventMask mask;
    for (std::size_t type = 0; type < mask.size(); ++type)
        mask[type] =
            (in.get_at<"event_bitmask">(type / bits_per_element) >> (type % bits_per_element)) & 1U;
    return mask;
}

/// Each asynchronous event type has at most one EQ.
CommandResult check_events(CommandContext& context, const EventMask& wanted) {
    EventMask taken;
    context.objects().of<EventQueue>().for_each(
        [&](const EventQueue& queue) { taken |= queue.events(); });
    for (std::size_t type = 0; type < wanted.size(); ++type) {
        if (wanted[type] && taken[type])
            return context.fail(CommandStatus::bad_parameter, Syndrome::event_already_mapped,
                                "event type {:#x} goes to another queue already", type);
    }
    return CommandResult::ok();
}

CommandResult check_fields(CommandContext& context, hwtab::ConstView<hwtab::eqc> fields) {
    if (const auto checked = check_limit(context, "log_eq_size", fields.get<"log_eq_size">(),
                                         context.hca.capabilities().current<"log_max_eq_sz">());
        !checked)
        return checked;
    if (fields.get<"intr">() >= context.hca.interrupts().size())
        return context.fail(CommandStatus::bad_parameter, Syndrome::bad_vector,
                            "intr {} is not below the {} vectors", fields.get<"intr">(),
                            context.hca.interrupts().size());
    return CommandResult::ok();
}

CommandResult create_eq(CommandContext& context) {
    const auto in = context.in<hwtab::create_eq_in>();
    const auto fields = in.nested<"eq_context_entry", hwtab::eqc>();
    if (const auto checked = check_fields(context, fields); !checked)
        return checked;
    const EventMask events = event_mask(in);
    if (const auto checked = check_events(context, events); !checked)
        return checked;
    auto uar = refer_to<Uar>(context, fields.get<"uar_page">());
    if (!uar)
        return uar.error();
    auto buffer = listed_buffer(context,
                                {.log_page_size = fields.get<"log_page_size">(),
                                 .page_offset = fields.get<"page_offset">(),
                                 .size = hwtab::eqe.size << fields.get<"log_eq_size">()},
                                in.bytes<"pas">());
    if (!buffer)
        return buffer.error();
    const auto created = context.objects().of<EventQueue>().create(
        context.uid, context.hca, fields.memory(), events, *std::move(buffer), *std::move(uar));
    if (!created)
        return context.refuse(created.error(), EventQueue::kind, 0);
    context.out<hwtab::create_eq_out>().set<"eq_number">((*created)->number());
    if (context.output_is_false)
        (*created)->set_eqn_forged();
    if (events[static_cast<std::size_t>(EventType::page_request)])
        context.hca.pages().ask_for_regular();
    return CommandResult::ok();
}

CommandResult destroy_eq(CommandContext& context) {
    const auto in = context.in<hwtab::destroy_eq_in>();
    return context.destroy<EventQueue>(static_cast<std::uint32_t>(in.get<"eq_number">()));
}

CommandResult query_eq(CommandContext& context) {
    const auto in = context.in<hwtab::query_eq_in>();
    const auto found = context.find<EventQueue>(static_cast<std::uint32_t>(in.get<"eq_number">()));
    if (!found)
        return found.error();
    const EventQueue& queue = **found;
    const auto out = context.out<hwtab::query_eq_out>();
    std::ranges::copy(queue.context().memory(), out.bytes<"eq_context_entry">().begin());
    constexpr EventMask low_word(~0ULL);
    out.set<"event_bitmask">((queue.events() & low_word).to_ullong());
    list_pages(out.bytes<"pas">(), queue.buffer());
    return CommandResult::ok();
}

CommandResult gen_eqe(CommandContext& context) {
    const auto in = context.in<hwtab::gen_eqe_in>();
    const auto found = context.find<EventQueue>(static_cast<std::uint32_t>(in.get<"eq_number">()));
    if (!found)
        return found.error();
    if (!(*found)->post_raw(in.bytes<"eqe">()))
        return context.fail(CommandStatus::bad_resource_state, Syndrome::wrong_object_state,
                            "event queue {:#x} has stopped", (*found)->number());
    return CommandResult::ok();
}

constexpr std::array event_entries{
    CommandEntry{&hwtab::cmd_create_eq, create_eq},
    CommandEntry{&hwtab::cmd_destroy_eq, destroy_eq},
    CommandEntry{&hwtab::cmd_query_eq, query_eq},
    CommandEntry{&hwtab::cmd_gen_eqe, gen_eqe},
};

} // namespace

std::span<const CommandEntry> event_commands() {
    return event_entries;
}

} // namespace cxemu::commands
