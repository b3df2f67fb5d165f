// SPDX-License-Identifier: GPL-2.0-or-later
//
// CQs.
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
using Cqc = hwtab::ConstView<hwtab::cqc>;

constexpr std::uint64_t small_entry = hwtab::cqe64.size;
constexpr std::uint64_t large_entry = hwtab::cqe128.size;

std::uint64_t buffer_size(std::uint64_t entry_size_code, std::uint64_t log_size) {
    const bool small = entry_size_code == hwtab::value<hwtab::cqe_size, "64_bytes">;
    return (small ? small_entry : large_entry) << log_size;
}

/// Formats of mini entries that the device has, one bit each.
std::uint64_t mini_formats(const Capabilities& capabilities) {
    const std::uint64_t with_stride = capabilities.current<"mini_cqe_resp_stride_index">();
    return 1U << hwtab::value<hwtab::mini_cqe_format, "hash"> |
           1U << hwtab::value<hwtab::mini_cqe_format, "csum"> |
           with_stride << hwtab::value<hwtab::mini_cqe_format, "csum_stridx">;
}

CommandResult check_compression(CommandContext& context, Cqc fields) {
    const Capabilities& capabilities = context.hca.capabilities();
    const bool small = fields.get<"cqe_sz">() == hwtab::value<hwtab::cqe_size, "64_bytes">;
    if ((small ? capabilities.current<"cqe_compression">()
               : capabilities.current<"cqe_compression_128">()) == 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "the device does not compress completions of {} bytes",
                            small ? small_entry : large_entry);
    if (fields.get<"cqe_compression_layout">() !=
        hwtab::value<hwtab::cqe_compression_layout, "basic">)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "cqe_compression_layout {} is not supported",
                            fields.get<"cqe_compression_layout">());
    const auto format = fields.get<"mini_cqe_res_format">();
    if ((mini_formats(capabilities) >> format & 1U) == 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "mini_cqe_res_format {} is not supported", format);
    return CommandResult::ok();
}

CommandResult check_fields(CommandContext& context, Cqc fields) {
    if (const auto checked = check_limit(context, "log_cq_size", fields.get<"log_cq_size">(),
                                         context.hca.capabilities().current<"log_max_cq_sz">());
        !checked)
        return checked;
    if (fields.get<"cqe_sz">() > hwtab::value<hwtab::cqe_size, "128_bytes_pad">)
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "cqe_sz {} names no size", fields.get<"cqe_sz">());
    if (fields.get<"apu_cq">() != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "APU queues are not supported");
    return fields.get<"cqe_comp_en">() == 0 ? CommandResult::ok()
                                            : check_compression(context, fields);
}

/// Pages of a ring, and the umem that holds it, if any.
struct RingMemory {
    memory::HostBuffer buffer;
    Reference<UserMemory> object;
};

/// \param in input of CREATE_CQ or MODIFY_CQ
std::expected<RingMemory, CommandResult> find_ring(CommandContext& context, auto in,
                                                   const BufferFields& fields) {
    if (in.template get<"cq_umem_valid">() == 0) {
        auto buffer = listed_buffer(context, fields, in.template bytes<"pas">());
        if (!buffer)
            return std::unexpected(buffer.error());
        return RingMemory{.buffer = *std::move(buffer), .object = {}};
    }
    auto object = refer_to<UserMemory>(context, in.template get<"cq_umem_id">());
    if (!object)
        return std::unexpected(object.error());
    auto buffer =
        registered_buffer(context, **object, in.template get<"cq_umem_offset">(), fields.size);
    if (!buffer)
        return std::unexpected(buffer.error());
    return RingMemory{.buffer = *std::move(buffer), .object = *std::move(object)};
}

CommandResult create_cq(CommandContext& context) {
    const auto in = context.in<hwtab::create_cq_in>();
    const auto fields = in.nested<"cq_context", hwtab::cqc>();
    if (const auto checked = check_fields(context, fields); !checked)
        return checked;
    auto record = find_record(context, {.registered = fields.get<"dbr_umem_valid">() != 0,
                                        .memory = fields.get<"dbr_umem_id">(),
                                        .address = fields.get<"dbr_addr">()});
    if (!record)
        return record.error();
    auto uar = refer_to<Uar>(context, fields.get<"uar_page">());
    if (!uar)
        return uar.error();
    auto events = refer_to_shared<EventQueue>(context, fields.get<"c_eqn_or_apu_element">());
    if (!events)
        return events.error();
    auto ring =
        find_ring(context, in,
                  {.log_page_size = fields.get<"log_page_size">(),
                   .page_offset = fields.get<"page_offset">(),
                   .size = buffer_size(fields.get<"cqe_sz">(), fields.get<"log_cq_size">())});
    if (!ring)
        return ring.error();
    const auto created = context.objects().of<CompletionQueue>().create(
        context.uid, context.hca, fields.memory(),
        queues::CompletionQueueResources{.buffer = std::move(ring->buffer),
                                         .doorbell_record = record->address,
                                         .events = *std::move(events),
                                         .uar = *std::move(uar),
                                         .buffer_memory = std::move(ring->object),
                                         .record_memory = std::move(record->memory)});
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
    (*found)->end_run();
    (*found)->refresh();
    const auto out = context.out<hwtab::query_cq_out>();
    std::ranges::copy((*found)->context().memory(), out.bytes<"cq_context">().begin());
    list_pages(out.bytes<"pas">(), (*found)->buffer());
    return CommandResult::ok();
}

/// Fails when a field select has undefined bits.
CommandResult check_selection(CommandContext& context, const hwtab::Enumeration& fields,
                              std::uint64_t selection) {
    std::uint64_t known = 0;
    for (const auto& value : fields.values)
        known |= value.value;
    if ((selection & ~known) != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::bad_optional_mask,
                            "{} {:#x} has bits beyond {:#x}", fields.name, selection, known);
    return CommandResult::ok();
}

/// Geometry of the new ring.
struct Ring {
    std::uint32_t log_size = 0;
    std::uint32_t log_page_size = 0; ///< log2 of 4 KiB units
    std::uint32_t page_offset = 0;   ///< in 1/64 of a page
};

/// The present geometry with the fields that MODIFY_CQ selects replaced.
Ring wanted_ring(Cqc present, Cqc wanted, std::uint64_t selection) {
    const auto choose = [&](std::uint64_t bit, std::uint64_t old_value, std::uint64_t new_value) {
        return static_cast<std::uint32_t>((selection & bit) != 0 ? new_value : old_value);
    };
    using hwtab::cq_resize_field_select;
    return {.log_size = choose(hwtab::value<cq_resize_field_select, "log_cq_size">,
                               present.get<"log_cq_size">(), wanted.get<"log_cq_size">()),
            .log_page_size = choose(hwtab::value<cq_resize_field_select, "log_page_size">,
                                    present.get<"log_page_size">(), wanted.get<"log_page_size">()),
            .page_offset = choose(hwtab::value<cq_resize_field_select, "page_offset">,
                                  present.get<"page_offset">(), wanted.get<"page_offset">())};
}

CommandResult refuse_resize(CommandContext& context, CompletionQueue& queue,
                            queues::ResizeFault fault) {
    if (fault == queues::ResizeFault::stopped)
        return context.fail(CommandStatus::bad_resource_state, Syndrome::wrong_object_state,
                            "completion queue {:#x} has stopped", queue.number());
    return context.fail(CommandStatus::bad_size_with_outstanding_cqes, Syndrome::bad_ring_geometry,
                        "{} entries are outstanding", queue.outstanding());
}

CommandResult resize(CommandContext& context, CompletionQueue& queue) {
    const auto in = context.in<hwtab::modify_cq_in>();
    const auto selection =
        in.get<"modify_field_select_resize_field_select.resize_field_select.resize_field_select">();
    if (const auto checked = check_selection(context, hwtab::cq_resize_field_select, selection);
        !checked)
        return checked;
    const Ring ring =
        wanted_ring(queue.context(), in.nested<"cq_context", hwtab::cqc>(), selection);
    if (const auto checked = check_limit(context, "log_cq_size", ring.log_size,
                                         context.hca.capabilities().current<"log_max_cq_sz">());
        !checked)
        return checked;
    auto where = find_ring(context, in,
                           {.log_page_size = ring.log_page_size,
                            .page_offset = ring.page_offset,
                            .size = buffer_size(queue.context().get<"cqe_sz">(), ring.log_size)});
    if (!where)
        return where.error();
    const auto resized = queue.resize(ring.log_size, ring.log_page_size, ring.page_offset,
                                      std::move(where->buffer), std::move(where->object));
    return resized ? CommandResult::ok() : refuse_resize(context, queue, resized.error());
}

CommandResult modify(CommandContext& context, CompletionQueue& queue) {
    const auto in = context.in<hwtab::modify_cq_in>();
    const auto fields = in.nested<"cq_context", hwtab::cqc>();
    const auto selection =
        in.get<"modify_field_select_resize_field_select.modify_field_select.modify_field_select">();
    if (const auto checked = check_selection(context, hwtab::cq_modify_field_select, selection);
        !checked)
        return checked;
    Reference<EventQueue> events;
    if ((selection & hwtab::value<hwtab::cq_modify_field_select, "c_eqn">) != 0) {
        auto found = refer_to_shared<EventQueue>(context, fields.get<"c_eqn_or_apu_element">());
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
        return context.refuse_op_mod();
    }
}

constexpr std::array completion_queue_entries{
    CommandEntry{&hwtab::cmd_create_cq, create_cq},
    CommandEntry{&hwtab::cmd_destroy_cq, destroy_cq},
    CommandEntry{&hwtab::cmd_query_cq, query_cq},
    CommandEntry{&hwtab::cmd_modify_cq, modify_cq},
};

} // namespace

std::span<const CommandEntry> completion_queue_commands() {
    return completion_queue_entries;
}

} // namespace cxemu::commands
