// SPDX-License-Identifier: GPL-2.0-or-later
//
// Completion queues.
#include "commands/resources.hpp"
#include "commands/table.hpp"
#include "hca/hca.hpp"
#include "queues/completion_queue.hpp"
#include "tables/commands_events.hpp"

#include <algorithm>
#include <array>

namespace cxemu::commands {

namespace {

using namespace hca;
using queues::CompletionQueue;
using queues::EventQueue;
using Fields = hwtab::ConstView<hwtab::cqc>;

constexpr std::uint64_t small_entry = hwtab::cqe64.size;
constexpr std::uint64_t large_entry = hwtab::cqe128.size;

std::uint64_t buffer_size(std::uint64_t entry_size_code, std::uint64_t log_size) {
    const bool small = entry_size_code == hwtab::value<hwtab::cqe_size, "64_bytes">;
    return (small ? small_entry : large_entry) << log_size;
}

CommandResult check_fields(CommandContext& context, Fields fields, bool in_user_memory) {
    if (const auto checked = check_limit(context, "log_cq_size", fields.get<"log_cq_size">(),
                                         context.hca.capabilities().current<"log_max_cq_sz">());
        !checked)
        return checked;
    if (fields.get<"cqe_sz">() > hwtab::value<hwtab::cqe_size, "128_bytes_pad">)
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "cqe_sz {} names no size", fields.get<"cqe_sz">());
    if (fields.get<"cqe_comp_en">() != 0 || fields.get<"apu_cq">() != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "compressed completions and APU queues are not supported");
    if (in_user_memory || fields.get<"dbr_umem_valid">() != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "completion queues in registered user memory are not supported");
    return check_doorbell_record(context, fields.get<"dbr_addr">());
}

CommandResult create_cq(CommandContext& context) {
    const auto in = context.in<hwtab::create_cq_in>();
    const auto fields = in.nested<"cq_context", hwtab::cqc>();
    if (const auto checked = check_fields(context, fields, in.get<"cq_umem_valid">() != 0);
        !checked)
        return checked;
    auto uar = refer_to<Uar>(context, fields.get<"uar_page">());
    if (!uar)
        return uar.error();
    auto events = refer_to<EventQueue>(context, fields.get<"c_eqn_or_apu_element">());
    if (!events)
        return events.error();
    auto buffer =
        listed_buffer(context,
                      {.log_page_size = fields.get<"log_page_size">(),
                       .page_offset = fields.get<"page_offset">(),
                       .size = buffer_size(fields.get<"cqe_sz">(), fields.get<"log_cq_size">())},
                      in.bytes<"pas">());
    if (!buffer)
        return buffer.error();
    const auto created = context.objects().of<CompletionQueue>().create(
        context.uid, context.hca, fields.memory(), *std::move(buffer), *std::move(events),
        *std::move(uar));
    if (!created)
        return context.refuse(created.error(), CompletionQueue::kind, 0);
    context.out<hwtab::create_cq_out>().set<"cqn">((*created)->number());
    return CommandResult::ok();
}

CommandResult destroy_cq(CommandContext& context) {
    const auto in = context.in<hwtab::destroy_cq_in>();
    return context.destroy<CompletionQueue>(static_cast<std::uint32_t>(in.get<"cqn">()));
}

CommandResult query_cq(CommandContext& context) {
    const auto in = context.in<hwtab::query_cq_in>();
    const auto found = context.find<CompletionQueue>(static_cast<std::uint32_t>(in.get<"cqn">()));
    if (!found)
        return found.error();
    (*found)->refresh();
    const auto out = context.out<hwtab::query_cq_out>();
    std::ranges::copy((*found)->context().memory(), out.bytes<"cq_context">().begin());
    list_pages(out.bytes<"pas">(), (*found)->buffer());
    return CommandResult::ok();
}

CommandResult resize(CommandContext& context, CompletionQueue& queue) {
    const auto in = context.in<hwtab::modify_cq_in>();
    const auto fields = in.nested<"cq_context", hwtab::cqc>();
    const auto log_size = fields.get<"log_cq_size">();
    if (const auto checked = check_limit(context, "log_cq_size", log_size,
                                         context.hca.capabilities().current<"log_max_cq_sz">());
        !checked)
        return checked;
    if (in.get<"cq_umem_valid">() != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "completion queues in registered user memory are not supported");
    const auto entry_size_code = queue.context().get<"cqe_sz">();
    auto buffer = listed_buffer(context,
                                {.log_page_size = fields.get<"log_page_size">(),
                                 .page_offset = fields.get<"page_offset">(),
                                 .size = buffer_size(entry_size_code, log_size)},
                                in.bytes<"pas">());
    if (!buffer)
        return buffer.error();
    const auto resized =
        queue.resize(static_cast<std::uint32_t>(log_size),
                     static_cast<std::uint32_t>(fields.get<"log_page_size">()),
                     static_cast<std::uint32_t>(fields.get<"page_offset">()), *std::move(buffer));
    if (resized)
        return CommandResult::ok();
    if (resized.error() == queues::ResizeFault::stopped)
        return context.fail(CommandStatus::bad_resource_state, Syndrome::wrong_object_state,
                            "completion queue {:#x} has stopped", queue.number());
    return context.fail(CommandStatus::bad_size_with_outstanding_cqes, Syndrome::bad_ring_geometry,
                        "{} entries are outstanding", queue.outstanding());
}

CommandResult modify(CommandContext& context, CompletionQueue& queue) {
    const auto in = context.in<hwtab::modify_cq_in>();
    const auto fields = in.nested<"cq_context", hwtab::cqc>();
    constexpr std::uint64_t known = [] {
        std::uint64_t mask = 0;
        for (const auto& value : hwtab::cq_modify_field_select.values)
            mask |= value.value;
        return mask;
    }();
    const auto selection =
        in.get<"modify_field_select_resize_field_select.modify_field_select.modify_field_select">();
    if ((selection & ~known) != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::bad_optional_mask,
                            "modify_field_select {:#x} has bits beyond {:#x}", selection, known);
    Reference<EventQueue> events;
    if ((selection & hwtab::value<hwtab::cq_modify_field_select, "c_eqn">) != 0) {
        auto found = refer_to<EventQueue>(context, fields.get<"c_eqn_or_apu_element">());
        if (!found)
            return found.error();
        events = *std::move(found);
    }
    queue.modify(fields, static_cast<std::uint32_t>(selection), std::move(events));
    return CommandResult::ok();
}

CommandResult modify_cq(CommandContext& context) {
    const auto in = context.in<hwtab::modify_cq_in>();
    const auto found =
        context.find_owned<CompletionQueue>(static_cast<std::uint32_t>(in.get<"cqn">()));
    if (!found)
        return found.error();
    switch (context.op_mod) {
    case hwtab::value<hwtab::modify_cq_op_mod, "modify_cq">:
        return modify(context, **found);
    case hwtab::value<hwtab::modify_cq_op_mod, "resize_cq">:
        return resize(context, **found);
    default:
        return context.fail(CommandStatus::bad_operation, Syndrome::unknown_op_mod, "op_mod {:#x}",
                            context.op_mod);
    }
}

constexpr std::array entries{
    CommandEntry{&hwtab::cmd_create_cq, create_cq},
    CommandEntry{&hwtab::cmd_destroy_cq, destroy_cq},
    CommandEntry{&hwtab::cmd_query_cq, query_cq},
    CommandEntry{&hwtab::cmd_modify_cq, modify_cq},
};

} // namespace

std::span<const CommandEntry> completion_queue_commands() {
    return entries;
}

} // namespace cxemu::commands
