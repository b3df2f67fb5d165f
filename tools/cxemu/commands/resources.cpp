// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/resources.hpp"

#include "base/byte_order.hpp"
#include "queues/extended_receive_queue.hpp"

#include <algorithm>

namespace cxemu::commands {

namespace {

using namespace hca;

constexpr std::uint32_t log_adapter_page = 12;
constexpr std::uint32_t log_offset_units = 6; ///< a page offset counts 64ths of a page
constexpr std::uint64_t record_alignment = 4;

CommandResult refuse_buffer(CommandContext& context, const memory::HostBuffer::Fault& fault) {
    using Kind = memory::HostBuffer::Fault::Kind;
    switch (fault.kind) {
    case Kind::bad_geometry:
        return context.fail(CommandStatus::bad_parameter, Syndrome::bad_ring_geometry, "{}",
                            fault.text);
    case Kind::list_too_short:
        return context.fail(CommandStatus::bad_parameter, Syndrome::page_list_too_short, "{}",
                            fault.text);
    case Kind::bad_address:
        break;
    }
    return context.fail(CommandStatus::bad_parameter, Syndrome::bad_page_address, "{}", fault.text);
}

} // namespace

std::expected<memory::HostBuffer, CommandResult> listed_buffer(CommandContext& context,
                                                               const BufferFields& fields,
                                                               std::span<const std::byte> pages) {
    std::vector<std::uint64_t> addresses(pages.size() / sizeof(std::uint64_t));
    for (std::size_t i = 0; i < addresses.size(); ++i)
        addresses[i] = load_be<std::uint64_t>(pages.subspan(i * sizeof(std::uint64_t)));
    const auto log_page = static_cast<std::uint32_t>(log_adapter_page + fields.log_page_size);
    auto buffer =
        memory::HostBuffer::create({.log_page_size = log_page,
                                    .offset = fields.page_offset << (log_page - log_offset_units),
                                    .size = fields.size},
                                   std::move(addresses));
    if (!buffer)
        return std::unexpected(refuse_buffer(context, buffer.error()));
    return *std::move(buffer);
}

std::expected<memory::HostBuffer, CommandResult> registered_buffer(CommandContext& context,
                                                                   const UserMemory& memory,
                                                                   std::uint64_t offset,
                                                                   std::uint64_t size) {
    if (offset > memory.size() || size > memory.size() - offset)
        return std::unexpected(
            context.fail(CommandStatus::bad_parameter, Syndrome::umem_out_of_range,
                         "{} bytes at {:#x} exceed the {} bytes of user memory {}", size, offset,
                         memory.size(), memory.number()));
    auto buffer = memory::HostBuffer::create({.log_page_size = memory.log_page_size(),
                                              .offset = memory.page_offset() + offset,
                                              .size = size},
                                             memory.pages());
    if (!buffer)
        return std::unexpected(refuse_buffer(context, buffer.error()));
    return *std::move(buffer);
}

CommandResult check_doorbell_record(CommandContext& context, std::uint64_t address) {
    if (address % record_alignment != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::bad_doorbell_record,
                            "doorbell record {:#x} is no multiple of {}", address,
                            record_alignment);
    return CommandResult::ok();
}

std::expected<DoorbellRecord, CommandResult> find_record(CommandContext& context,
                                                         const RecordFields& fields) {
    constexpr std::uint64_t record_size = 8;
    if (const auto checked = check_doorbell_record(context, fields.address); !checked)
        return std::unexpected(checked);
    if (!fields.registered)
        return DoorbellRecord{.address = fields.address, .memory = {}};
    auto memory = refer_to<UserMemory>(context, fields.memory);
    if (!memory)
        return std::unexpected(memory.error());
    const auto record = registered_buffer(context, **memory, fields.address, record_size);
    if (!record)
        return std::unexpected(record.error());
    return DoorbellRecord{.address = record->address(0), .memory = *std::move(memory)};
}

CommandResult check_limit(CommandContext& context, std::string_view field, std::uint64_t value,
                          std::uint64_t limit) {
    if (value > limit)
        return context.fail(CommandStatus::exceeds_limit, Syndrome::exceeds_capability,
                            "{} {} exceeds the limit {}", field, value, limit);
    return CommandResult::ok();
}

void list_pages(std::span<std::byte> list, const memory::HostBuffer& buffer) {
    const std::size_t room = list.size() / sizeof(std::uint64_t);
    const std::size_t count = std::min(room, buffer.pages().size());
    for (std::size_t i = 0; i < count; ++i)
        store_be<std::uint64_t>(list.subspan(i * sizeof(std::uint64_t)), buffer.pages()[i]);
}

std::expected<hca::Reference<queues::SharedReceiveQueue>, hca::CommandResult>
refer_to_shared_receive(hca::CommandContext& context, std::uint64_t number) {
    const auto wanted = static_cast<std::uint32_t>(number);
    auto& objects = context.objects();
    if (const auto pool = objects.of<queues::ReceiveMemoryPool>().find(wanted, context.uid))
        return hca::Reference<queues::SharedReceiveQueue>(**pool);
    if (const auto xrc = objects.of<queues::XrcSharedReceiveQueue>().find(wanted, context.uid))
        return hca::Reference<queues::SharedReceiveQueue>(**xrc);
    if (const auto extended = objects.of<queues::ExtendedReceiveQueue>().find(wanted, context.uid))
        return hca::Reference<queues::SharedReceiveQueue>(**extended);
    const auto basic = context.find<queues::BasicSharedReceiveQueue>(wanted);
    if (!basic)
        return std::unexpected(basic.error());
    return hca::Reference<queues::SharedReceiveQueue>(**basic);
}

} // namespace cxemu::commands
