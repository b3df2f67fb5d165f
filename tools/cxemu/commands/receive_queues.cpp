// SPDX-License-Identifier: GPL-2.0-or-later
//
// Commands of SRQs: RMP, basic SRQ, XRC SRQ and XRQ.
#include "commands/resources.hpp"
#include "commands/table.hpp"
#include "hca/hca.hpp"
#include "queues/extended_receive_queue.hpp"
#include "queues/shared_receive_queue.hpp"
#include "queues/tag_list.hpp"
#include "tables/commands_receive_queues.hpp"

#include <algorithm>
#include <array>

namespace cxemu::commands {

namespace {

using namespace hca;
using queues::BasicSharedReceiveQueue;
using queues::CompletionQueue;
using queues::ExtendedReceiveQueue;
using queues::ReceiveMemoryPool;
using queues::SharedReceiveAttributes;
using queues::SharedReceiveResources;
using queues::XrcSharedReceiveQueue;

constexpr std::uint32_t log_ds_size = 4;
/// An entry with a next segment also has at least one data segment.
constexpr std::uint32_t smallest_log_stride = 5;

CommandResult check_attributes(CommandContext& context, const SharedReceiveAttributes& attributes,
                               std::uint64_t log_limit) {
    if (const auto checked =
            check_limit(context, "log2 of the size", attributes.log_entries, log_limit);
        !checked)
        return checked;
    const std::uint32_t smallest = attributes.has_next_segments ? smallest_log_stride : log_ds_size;
    const auto max = context.hca.capabilities().current<"max_wqe_sz_rq">();
    if (attributes.log_stride < smallest || (1ULL << attributes.log_stride) > max)
        return context.fail(CommandStatus::bad_parameter, Syndrome::bad_ring_geometry,
                            "entries of 2^{} bytes are not between 2^{} and {}",
                            attributes.log_stride, smallest, max);
    return check_doorbell_record(context, attributes.doorbell_record);
}

std::uint64_t buffer_size(const SharedReceiveAttributes& attributes) {
    return 1ULL << (attributes.log_entries + attributes.log_stride);
}

CommandResult find_domain(CommandContext& context, std::uint64_t number,
                          SharedReceiveResources& resources) {
    auto domain = refer_to<ProtectionDomain>(context, number);
    if (!domain)
        return domain.error();
    resources.domain = *std::move(domain);
    return CommandResult::ok();
}

CommandResult find_completions(CommandContext& context, std::uint64_t cqn,
                               SharedReceiveResources& resources) {
    auto completions = refer_to<CompletionQueue>(context, cqn);
    if (!completions)
        return completions.error();
    resources.completions = *std::move(completions);
    return CommandResult::ok();
}

CommandResult find_xrc(CommandContext& context, std::uint64_t domain, std::uint64_t cqn,
                       SharedReceiveResources& resources) {
    auto xrc_domain = refer_to<XrcDomain>(context, domain);
    if (!xrc_domain)
        return xrc_domain.error();
    resources.xrc_domain = *std::move(xrc_domain);
    return find_completions(context, cqn, resources);
}

CommandResult find_listed_buffer(CommandContext& context, const BufferFields& fields,
                                 std::span<const std::byte> pages,
                                 SharedReceiveResources& resources) {
    auto buffer = listed_buffer(context, fields, pages);
    if (!buffer)
        return buffer.error();
    resources.buffer = *std::move(buffer);
    return CommandResult::ok();
}

/// Creates a queue from validated attributes and resources, and returns its number in the output.
template <class Queue, const hwtab::Layout& output, hwtab::FixedString number>
CommandResult create(CommandContext& context, std::span<const std::byte> fields,
                     const SharedReceiveAttributes& attributes, SharedReceiveResources resources) {
    const auto created = context.objects().of<Queue>().create(context.uid, context.hca, fields,
                                                              attributes, std::move(resources));
    if (!created)
        return context.refuse(created.error(), Queue::kind, 0);
    context.out<output>().template set<number>((*created)->number());
    return CommandResult::ok();
}

template <class Queue>
CommandResult arm(CommandContext& context, std::uint64_t number, std::uint64_t limit) {
    const auto found = context.find_owned<Queue>(static_cast<std::uint32_t>(number));
    if (!found)
        return found.error();
    (*found)->arm(static_cast<std::uint16_t>(limit));
    return CommandResult::ok();
}

// --- Contexts with a work queue ------------------------------------------------------------------

/// \param is_basic entries have no next segment, and form a ring. Entries of all other queues have
///     a next segment: UCX writes it even to the cyclic RMPs that it creates by DEVX.
template <const hwtab::Layout& layout>
std::expected<SharedReceiveAttributes, CommandResult>
attributes_of(CommandContext& context, hwtab::ConstView<layout> fields, bool is_basic) {
    const auto type = fields.template get<"wq.wq_type">();
    const bool linked = type == hwtab::value<hwtab::wq_type, "linked_list">;
    if (!linked && type != hwtab::value<hwtab::wq_type, "cyclic">)
        return std::unexpected(context.fail(CommandStatus::bad_parameter,
                                            Syndrome::field_out_of_range,
                                            "wq_type {} is not supported", type));
    const SharedReceiveAttributes attributes{
        .linked_list = linked && !is_basic,
        .has_next_segments = !is_basic,
        .log_entries = static_cast<std::uint32_t>(fields.template get<"wq.log_wq_sz">()),
        .log_stride = static_cast<std::uint32_t>(fields.template get<"wq.log_wq_stride">()),
        .has_signatures = fields.template get<"wq.wq_signature">() != 0,
        .doorbell_record = fields.template get<"wq.dbr_addr">(),
        .limit = static_cast<std::uint16_t>(fields.template get<"wq.lwm">())};
    if (const auto checked = check_attributes(
            context, attributes, context.hca.capabilities().current<"log_max_wq_sz">());
        !checked)
        return std::unexpected(checked);
    return attributes;
}

template <const hwtab::Layout& layout>
CommandResult find_buffer(CommandContext& context, hwtab::ConstView<layout> fields,
                          std::uint64_t size, SharedReceiveResources& resources) {
    if (fields.template get<"wq.wq_umem_valid">() == 0)
        return find_listed_buffer(context,
                                  {.log_page_size = fields.template get<"wq.log_wq_pg_sz">(),
                                   .page_offset = fields.template get<"wq.page_offset">(),
                                   .size = size},
                                  fields.template bytes<"wq.pas">(), resources);
    auto user_memory = refer_to<UserMemory>(context, fields.template get<"wq.wq_umem_id">());
    if (!user_memory)
        return user_memory.error();
    auto buffer =
        registered_buffer(context, **user_memory, fields.template get<"wq.wq_umem_offset">(), size);
    if (!buffer)
        return buffer.error();
    resources.buffer = *std::move(buffer);
    resources.buffer_memory = *std::move(user_memory);
    return CommandResult::ok();
}

/// Replaces the offset of a doorbell record in a umem by its bus address, and refers to the umem.
template <const hwtab::Layout& layout>
CommandResult find_doorbells(CommandContext& context, hwtab::ConstView<layout> fields,
                             SharedReceiveAttributes& attributes,
                             SharedReceiveResources& resources) {
    auto record =
        find_record(context, {.registered = fields.template get<"wq.dbr_umem_valid">() != 0,
                              .memory = fields.template get<"wq.dbr_umem_id">(),
                              .address = attributes.doorbell_record});
    if (!record)
        return record.error();
    attributes.doorbell_record = record->address;
    resources.record_memory = std::move(record->memory);
    return CommandResult::ok();
}

/// PD, doorbell record and buffer of a queue with validated attributes.
template <const hwtab::Layout& layout>
CommandResult find_resources(CommandContext& context, hwtab::ConstView<layout> fields,
                             SharedReceiveAttributes& attributes,
                             SharedReceiveResources& resources) {
    if (const auto found = find_domain(context, fields.template get<"wq.pd">(), resources); !found)
        return found;
    if (const auto found = find_doorbells(context, fields, attributes, resources); !found)
        return found;
    return find_buffer(context, fields, buffer_size(attributes), resources);
}

/// The context is the last field; its pas list extends to the end of the input.
template <const hwtab::Layout& input, const hwtab::Layout& layout>
hwtab::ConstView<layout> context_at_end(const CommandContext& context, std::string_view field) {
    return hwtab::ConstView<layout>{
        context.input.subspan(hwtab::locate(input, field).offset / hwtab::bits_per_byte)};
}

// --- Receive memory pools ------------------------------------------------------------------------

CommandResult create_rmp(CommandContext& context) {
    const auto fields = context_at_end<hwtab::create_rmp_in, hwtab::rmpc>(context, "ctx");
    auto attributes = attributes_of(context, fields, fields.get<"basic_cyclic_rcv_wqe">() != 0);
    if (!attributes)
        return attributes.error();
    SharedReceiveResources resources;
    if (const auto found = find_resources(context, fields, *attributes, resources); !found)
        return found;
    return create<ReceiveMemoryPool, hwtab::create_rmp_out, "rmpn">(
        context, fields.memory(), *attributes, std::move(resources));
}

CommandResult modify_rmp(CommandContext& context) {
    const auto in = context.in<hwtab::modify_rmp_in>();
    const auto found =
        context.find_owned<ReceiveMemoryPool>(static_cast<std::uint32_t>(in.get<"rmpn">()));
    if (!found)
        return found.error();
    const auto state = in.get<"rmp_state">();
    if (state != hwtab::value<hwtab::rmp_state, "rdy">)
        return context.fail(CommandStatus::bad_resource_state, Syndrome::wrong_object_state,
                            "rmp_state {} is not ready", state);
    if (in.get<"bitmask.lwm">() != 0)
        (*found)->arm(static_cast<std::uint16_t>(in.get<"ctx.wq.lwm">()));
    return CommandResult::ok();
}

CommandResult destroy_rmp(CommandContext& context) {
    const auto in = context.in<hwtab::destroy_rmp_in>();
    return context.destroy<ReceiveMemoryPool>(static_cast<std::uint32_t>(in.get<"rmpn">()));
}

CommandResult query_rmp(CommandContext& context) {
    const auto in = context.in<hwtab::query_rmp_in>();
    const auto found =
        context.find<ReceiveMemoryPool>(static_cast<std::uint32_t>(in.get<"rmpn">()));
    if (!found)
        return found.error();
    (*found)->refresh();
    const auto out = context.out<hwtab::query_rmp_out>();
    std::ranges::copy((*found)->context().memory(), out.bytes<"rmp_context">().begin());
    return CommandResult::ok();
}

// --- XRC SRQs ------------------------------------------------------------------------------------

CommandResult create_xrc_srq(CommandContext& context) {
    const auto in = context.in<hwtab::create_xrc_srq_in>();
    const auto fields = in.nested<"xrc_srq_context_entry", hwtab::xrc_srqc>();
    if (in.get<"xrc_srq_umem_valid">() != 0 || fields.get<"dbr_umem_valid">() != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "XRC shared receive queues in registered user memory are not "
                            "supported");
    constexpr unsigned low_bits = 2; ///< of dbr_addr, not in the context
    const bool is_basic = fields.get<"basic_cyclic_rcv_wqe">() != 0;
    const SharedReceiveAttributes attributes{
        .linked_list = !is_basic,
        .has_next_segments = !is_basic,
        .log_entries = static_cast<std::uint32_t>(fields.get<"log_xrc_srq_size">()),
        .log_stride = static_cast<std::uint32_t>(fields.get<"log_rq_stride">()) + log_ds_size,
        .has_signatures = fields.get<"wq_signature">() != 0,
        .doorbell_record =
            fields.get<"db_record_addr_h">() << 32U | fields.get<"db_record_addr_l">() << low_bits,
        .limit = static_cast<std::uint16_t>(fields.get<"lwm">())};
    if (const auto checked = check_attributes(
            context, attributes, context.hca.capabilities().current<"log_max_srq_sz">());
        !checked)
        return checked;
    SharedReceiveResources resources;
    if (const auto found = find_domain(context, fields.get<"pd">(), resources); !found)
        return found;
    if (const auto found = find_xrc(context, fields.get<"xrcd">(), fields.get<"cqn">(), resources);
        !found)
        return found;
    if (const auto found = find_listed_buffer(context,
                                              {.log_page_size = fields.get<"log_page_size">(),
                                               .page_offset = fields.get<"page_offset">(),
                                               .size = buffer_size(attributes)},
                                              in.bytes<"pas">(), resources);
        !found)
        return found;
    return create<XrcSharedReceiveQueue, hwtab::create_xrc_srq_out, "xrc_srqn">(
        context, fields.memory(), attributes, std::move(resources));
}

CommandResult destroy_xrc_srq(CommandContext& context) {
    const auto in = context.in<hwtab::destroy_xrc_srq_in>();
    const auto taken =
        context.take<XrcSharedReceiveQueue>(static_cast<std::uint32_t>(in.get<"xrc_srqn">()));
    if (!taken)
        return taken.error();
    if ((*taken)->completions() != nullptr)
        (*taken)->completions()->end_run();
    return CommandResult::ok();
}

CommandResult query_xrc_srq(CommandContext& context) {
    const auto in = context.in<hwtab::query_xrc_srq_in>();
    const auto found =
        context.find<XrcSharedReceiveQueue>(static_cast<std::uint32_t>(in.get<"xrc_srqn">()));
    if (!found)
        return found.error();
    (*found)->refresh();
    const auto out = context.out<hwtab::query_xrc_srq_out>();
    std::ranges::copy((*found)->context().memory(), out.bytes<"xrc_srq_context_entry">().begin());
    list_pages(out.bytes<"pas">(), (*found)->buffer());
    return CommandResult::ok();
}

CommandResult arm_xrc_srq(CommandContext& context) {
    const auto in = context.in<hwtab::arm_xrc_srq_in>();
    if (context.op_mod != hwtab::value<hwtab::arm_xrc_srq_op_mod, "xrc_srq">)
        return context.refuse_op_mod();
    return arm<XrcSharedReceiveQueue>(context, in.get<"xrc_srqn">(), in.get<"lwm">());
}

// --- XRQs ----------------------------------------------------------------------------------------

CommandResult check_tag_matching(CommandContext& context, hwtab::ConstView<hwtab::xrqc> fields) {
    const auto& capabilities = context.hca.capabilities();
    const auto topology = fields.get<"topology">();
    if (topology == hwtab::value<hwtab::xrq_topology, "no_special_topology">)
        return CommandResult::ok();
    if (topology != hwtab::value<hwtab::xrq_topology, "tag_matching">)
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "topology {} is not supported", topology);
    if (capabilities.current<"tag_matching">() == 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "the device matches no tags");
    const auto offload = fields.get<"offload">();
    if (offload > hwtab::value<hwtab::xrq_offload, "rndv">)
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "offload {} is not supported", offload);
    return check_limit(context, "log2 of the size of the list of tags",
                       fields.get<"tag_matching_topology_context.log_matching_list_sz">(),
                       capabilities.current<"log_tag_matching_list_sz">());
}

CommandResult create_xrq(CommandContext& context) {
    if (context.hca.capabilities().current<"log_max_xrq">() == 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "the device has no extended shared receive queues");
    const auto fields = context_at_end<hwtab::create_xrq_in, hwtab::xrqc>(context, "xrq_context");
    if (const auto checked = check_tag_matching(context, fields); !checked)
        return checked;
    auto attributes = attributes_of(context, fields, false);
    if (!attributes)
        return attributes.error();
    SharedReceiveResources resources;
    if (const auto found = find_completions(context, fields.get<"cqn">(), resources); !found)
        return found;
    if (const auto found = find_resources(context, fields, *attributes, resources); !found)
        return found;
    return create<ExtendedReceiveQueue, hwtab::create_xrq_out, "xrqn">(
        context, fields.memory(), *attributes, std::move(resources));
}

CommandResult destroy_xrq(CommandContext& context) {
    const auto in = context.in<hwtab::destroy_xrq_in>();
    const auto taken =
        context.take<ExtendedReceiveQueue>(static_cast<std::uint32_t>(in.get<"xrqn">()));
    if (!taken)
        return taken.error();
    (*taken)->completions()->end_run();
    return CommandResult::ok();
}

CommandResult query_xrq(CommandContext& context) {
    const auto in = context.in<hwtab::query_xrq_in>();
    const auto found =
        context.find<ExtendedReceiveQueue>(static_cast<std::uint32_t>(in.get<"xrqn">()));
    if (!found)
        return found.error();
    (*found)->refresh();
    const auto out = context.out<hwtab::query_xrq_out>();
    std::ranges::copy((*found)->context().memory(), out.bytes<"xrq_context">().begin());
    return CommandResult::ok();
}

CommandResult arm_xrq(CommandContext& context) {
    const auto in = context.in<hwtab::arm_xrq_in>();
    return arm<ExtendedReceiveQueue>(context, in.get<"xrqn">(), in.get<"lwm">());
}

// --- Basic SRQs ----------------------------------------------------------------------------------

CommandResult create_srq(CommandContext& context) {
    const auto in = context.in<hwtab::create_srq_in>();
    const auto fields = in.nested<"srq_context_entry", hwtab::srqc>();
    const SharedReceiveAttributes attributes{
        .log_entries = static_cast<std::uint32_t>(fields.get<"log_srq_size">()),
        .log_stride = static_cast<std::uint32_t>(fields.get<"log_rq_stride">()) + log_ds_size,
        .has_signatures = fields.get<"wq_signature">() != 0,
        .doorbell_record = fields.get<"dbr_addr">(),
        .limit = static_cast<std::uint16_t>(fields.get<"lwm">())};
    if (const auto checked = check_attributes(
            context, attributes, context.hca.capabilities().current<"log_max_srq_sz">());
        !checked)
        return checked;
    SharedReceiveResources resources;
    if (const auto found = find_domain(context, fields.get<"pd">(), resources); !found)
        return found;
    if (fields.get<"cqn">() != 0) {
        if (const auto found =
                find_xrc(context, fields.get<"xrcd">(), fields.get<"cqn">(), resources);
            !found)
            return found;
    }
    if (const auto found = find_listed_buffer(context,
                                              {.log_page_size = fields.get<"log_page_size">(),
                                               .page_offset = fields.get<"page_offset">(),
                                               .size = buffer_size(attributes)},
                                              in.bytes<"pas">(), resources);
        !found)
        return found;
    return create<BasicSharedReceiveQueue, hwtab::create_srq_out, "srqn">(
        context, fields.memory(), attributes, std::move(resources));
}

CommandResult destroy_srq(CommandContext& context) {
    const auto in = context.in<hwtab::destroy_srq_in>();
    return context.destroy<BasicSharedReceiveQueue>(static_cast<std::uint32_t>(in.get<"srqn">()));
}

CommandResult query_srq(CommandContext& context) {
    const auto in = context.in<hwtab::query_srq_in>();
    const auto found =
        context.find<BasicSharedReceiveQueue>(static_cast<std::uint32_t>(in.get<"srqn">()));
    if (!found)
        return found.error();
    (*found)->refresh();
    const auto out = context.out<hwtab::query_srq_out>();
    std::ranges::copy((*found)->context().memory(), out.bytes<"srq_context_entry">().begin());
    list_pages(out.bytes<"pas">(), (*found)->buffer());
    return CommandResult::ok();
}

CommandResult arm_rq(CommandContext& context) {
    const auto in = context.in<hwtab::arm_rq_in>();
    if (context.op_mod == hwtab::value<hwtab::arm_rq_op_mod, "xrq">)
        return arm<ExtendedReceiveQueue>(context, in.get<"srq_number">(), in.get<"lwm">());
    if (context.op_mod != hwtab::value<hwtab::arm_rq_op_mod, "srq">)
        return context.refuse_op_mod();
    return arm<BasicSharedReceiveQueue>(context, in.get<"srq_number">(), in.get<"lwm">());
}

constexpr std::array receive_queue_entries{
    CommandEntry{&hwtab::cmd_create_rmp, create_rmp},
    CommandEntry{&hwtab::cmd_modify_rmp, modify_rmp},
    CommandEntry{&hwtab::cmd_destroy_rmp, destroy_rmp},
    CommandEntry{&hwtab::cmd_query_rmp, query_rmp},
    CommandEntry{&hwtab::cmd_create_xrc_srq, create_xrc_srq},
    CommandEntry{&hwtab::cmd_destroy_xrc_srq, destroy_xrc_srq},
    CommandEntry{&hwtab::cmd_query_xrc_srq, query_xrc_srq},
    CommandEntry{&hwtab::cmd_arm_xrc_srq, arm_xrc_srq},
    CommandEntry{&hwtab::cmd_create_xrq, create_xrq},
    CommandEntry{&hwtab::cmd_destroy_xrq, destroy_xrq},
    CommandEntry{&hwtab::cmd_query_xrq, query_xrq},
    CommandEntry{&hwtab::cmd_arm_xrq, arm_xrq},
    CommandEntry{&hwtab::cmd_create_srq, create_srq},
    CommandEntry{&hwtab::cmd_destroy_srq, destroy_srq},
    CommandEntry{&hwtab::cmd_query_srq, query_srq},
    CommandEntry{&hwtab::cmd_arm_rq, arm_rq},
};

} // namespace

std::span<const CommandEntry> receive_queue_commands() {
    return receive_queue_entries;
}

} // namespace cxemu::commands
