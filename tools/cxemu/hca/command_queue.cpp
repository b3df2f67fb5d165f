// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/command_queue.hpp"

#include "base/byte_order.hpp"
#include "check/fault_plan.hpp"
#include "check/layout_walk.hpp"
#include "hca/command_dispatcher.hpp"
#include "hca/hca.hpp"
#include "hca/rules.hpp"
#include "hwtab/view.hpp"
#include "tables/command_header.hpp"
#include "tables/command_interface.hpp"
#include "tables/events.hpp"

#include <algorithm>
#include <bit>

namespace cxemu::hca {

namespace {

using hwtab::cmd_queue_entry;
using Entry = std::array<std::byte, cmd_queue_entry.size>;
using EntryView = hwtab::ConstView<cmd_queue_entry>;

static_assert(cmd_queue_entry.size == CommandQueue::entry_size);

constexpr std::uint32_t inline_size = 16;
constexpr std::uint8_t pcie_transport = 7;
/// The last word of an entry: token, signature, delivery status, ownership. The queue writes it as
/// a whole, because the ownership must not change before the rest.
constexpr std::size_t last_word = 0x3c;
constexpr std::size_t output_length_at =
    hwtab::locate(cmd_queue_entry, "output_length").offset / hwtab::bits_per_byte;
constexpr std::size_t inline_output_at =
    hwtab::locate(cmd_queue_entry, "command_output_inline_data").offset / hwtab::bits_per_byte;

std::uint64_t input_pointer(const EntryView& entry) {
    return (entry.get<"input_mailbox_pointer_63_32">() << 32) |
           (entry.get<"input_mailbox_pointer_31_9">() << 9);
}

std::uint64_t output_pointer(const EntryView& entry) {
    return (entry.get<"output_mailbox_pointer_63_32">() << 32) |
           (entry.get<"output_mailbox_pointer_31_9">() << 9);
}

std::uint32_t beyond_inline(std::uint64_t length) {
    return length > inline_size ? static_cast<std::uint32_t>(length - inline_size) : 0;
}

} // namespace

/// One command, from its doorbell to its completion.
class CommandQueue::Execution final : public DeferredCommand,
                                      public std::enable_shared_from_this<Execution> {
public:
    Execution(CommandQueue& owner, std::uint32_t slot_number) : queue(&owner), slot(slot_number) {}

    std::span<std::byte> output() override {
        return queue == nullptr ? std::span<std::byte>{} : std::span<std::byte>{output_data};
    }

    void complete(CommandResult result, std::string text) override {
        if (queue == nullptr || completed)
            return;
        completed = true;
        explanation = std::move(text);
        queue->finish(*this, result);
    }

    CommandQueue* queue; ///< nullptr once the command has completed or was dropped
    std::uint32_t slot;
    Entry entry{};
    std::vector<std::byte> input;
    std::vector<std::byte> output_data; ///< the output written by handlers
    std::uint32_t output_length = 0;
    MailboxChain output_chain;
    std::vector<std::uint64_t> output_mailboxes;
    bool event_mode =
        false; ///< an EQ had subscribed to completion events when the command was fetched
    std::string explanation;
    bool completed = false;    ///< the result is known; completion may be delayed
    check::CommandFault fault; ///< injected fault
    std::unique_ptr<Timer> delay;
};

namespace {

bool falsifies_output(const check::CommandFault& fault) {
    return fault.garbage != check::CommandFault::Garbage::none || !fault.words.empty();
}

void corrupt_output(const check::CommandFault& fault, std::span<std::byte> output) {
    using Garbage = check::CommandFault::Garbage;
    constexpr std::size_t header_size = 8;
    if (fault.garbage != Garbage::none)
        check::SeededRandom(fault.garbage_seed)
            .fill(output.subspan(fault.garbage == Garbage::everything ? 0 : header_size));
    for (const auto& [offset, value] : fault.words) {
        if (offset + sizeof(value) <= output.size())
            store_be(output.subspan(offset), value);
    }
}

} // namespace

CommandQueue::CommandQueue(Hca& hca, CommandDispatcher& dispatcher)
    : hca_(hca), dispatcher_(dispatcher), alive_(std::make_shared<bool>(true)) {}

CommandQueue::~CommandQueue() {
    stop();
}

void CommandQueue::start(std::uint64_t address) {
    stop();
    address_ = address;
}

void CommandQueue::stop() {
    address_.reset();
    rung_ = 0;
    completed_ = 0;
    zero_entry_reported_ = false;
    for (auto& execution : executions_) {
        if (execution) {
            execution->queue = nullptr;
            execution->delay.reset();
        }
        execution.reset();
    }
}

std::uint32_t CommandQueue::outstanding() const {
    return static_cast<std::uint32_t>(std::ranges::count_if(
        executions_, [](const auto& execution) { return execution != nullptr; }));
}

std::uint64_t CommandQueue::entry_address(std::uint32_t slot) const {
    return *address_ + (std::uint64_t{slot} * entry_size);
}

void CommandQueue::ring(std::uint32_t vector) {
    ++statistics_.doorbells;
    if (!address_) {
        ++statistics_.doorbells_ignored;
        return;
    }
    rung_ |= vector;
    if (scheduled_)
        return;
    scheduled_ = true;
    hca_.loop().defer([this, alive = std::weak_ptr(alive_)] {
        if (alive.expired())
            return;
        scheduled_ = false;
        process();
    });
}

void CommandQueue::process() {
    processing_ = true;
    while (rung_ != 0 && address_) {
        const auto slot = static_cast<std::uint32_t>(std::countr_zero(rung_));
        rung_ &= rung_ - 1;
        take(slot);
    }
    processing_ = false;
    post_completions();
}

void CommandQueue::take(std::uint32_t slot) {
    if (executions_[slot]) {
        hca_.violation(rules::doorbell_of_busy_slot, "slot {}", slot);
        return;
    }
    auto execution = std::make_shared<Execution>(*this, slot);
    if (const auto read = hca_.firmware_dma().read(entry_address(slot), execution->entry); !read) {
        ++statistics_.delivery_errors;
        hca_.log()->error("command slot {}: {}", slot, to_string(read.error()));
        hca_.fail_fatally({.syndrome = HealthSyndrome::icm_fetch_pci, .reset_required = true});
        return;
    }
    if (std::ranges::all_of(execution->entry, [](std::byte byte) { return byte == std::byte{0}; }))
        return report_zero_entry(slot);
    if (EntryView{execution->entry}.get<"ownership">() == 0) {
        hca_.violation(rules::doorbell_without_ownership, "slot {}", slot);
        return;
    }
    executions_[slot] = execution;
    statistics_.max_outstanding =
        std::max<std::uint64_t>(statistics_.max_outstanding, outstanding());
    const EventSink* sink = hca_.event_sink();
    execution->event_mode = sink != nullptr && sink->subscribed(EventType::command_completion);
    if (const auto error = fetch(*execution))
        return fail_delivery(*execution, *error);
    execute(execution);
}

void CommandQueue::report_zero_entry(std::uint32_t slot) {
    ++statistics_.delivery_errors;
    if (zero_entry_reported_)
        return;
    zero_entry_reported_ = true;
    if (hca_.firmware_dma().looks_private(entry_address(slot)))
        hca_.log()->error(
            "command slot {} reads as zeros and the file behind guest memory has never "
            "been written: the memory backend of QEMU needs share=on",
            slot);
    else
        hca_.log()->error(
            "command slot {} reads as zeros: the doorbell arrived before the entry, or "
            "the memory backend of QEMU lacks share=on",
            slot);
}

std::optional<DeliveryError> CommandQueue::check_entry(const Execution& execution) const {
    const EntryView entry{execution.entry};
    if (entry.get<"type">() != pcie_transport)
        return DeliveryError(DeliveryStatus::bad_command_type,
                             fmt::format("the type is {:#x}", entry.get<"type">()));
    const bool checksums = hca_.capabilities().current<"cmdif_checksum">() != 0;
    if (checksums && xor_of(execution.entry) != signed_xor)
        return DeliveryError(DeliveryStatus::signature_error,
                             fmt::format("the XOR of the entry is {:#x}", xor_of(execution.entry)));
    if (const auto length = entry.get<"input_length">();
        length < inline_size || length > max_length)
        return DeliveryError(
            DeliveryStatus::input_length_error,
            fmt::format("input length {} out of range [{}, {}]", length, inline_size, max_length));
    if (const auto length = entry.get<"output_length">(); length > max_length)
        return DeliveryError(DeliveryStatus::output_length_error,
                             fmt::format("output length {} exceeds {}", length, max_length));
    std::optional<DeliveryError> reserved;
    check::find_reserved_bits(
        cmd_queue_entry, execution.entry, {}, [&](std::string_view where, std::uint64_t value) {
            reserved = DeliveryError(DeliveryStatus::reserved_not_zero,
                                     fmt::format("{} is {:#x}", where, value));
        });
    return reserved;
}

/// Reads the input and finds the output mailboxes.
std::optional<DeliveryError> CommandQueue::fetch(Execution& execution) {
    if (auto error = check_entry(execution))
        return error;
    const EntryView entry{execution.entry};
    const auto token = static_cast<std::uint8_t>(entry.get<"token">());
    const bool checksums = hca_.capabilities().current<"cmdif_checksum">() != 0;
    const auto head = entry.bytes<"command_input_inline_data">();
    execution.input.assign(head.begin(), head.end());

    const MailboxChain input{.first = input_pointer(entry),
                             .length = beyond_inline(entry.get<"input_length">()),
                             .token = token,
                             .output = false,
                             .checksums = checksums};
    const auto rest = read_mailboxes(hca_.firmware_dma(), input);
    if (!rest)
        return rest.error();
    execution.input.insert(execution.input.end(), rest->begin(), rest->end());

    execution.output_length = static_cast<std::uint32_t>(entry.get<"output_length">());
    execution.output_chain = {.first = output_pointer(entry),
                              .length = beyond_inline(execution.output_length),
                              .token = token,
                              .output = true,
                              .checksums = checksums};
    auto mailboxes = find_mailboxes(hca_.firmware_dma(), execution.output_chain);
    if (!mailboxes)
        return mailboxes.error();
    execution.output_mailboxes = *std::move(mailboxes);
    return {};
}

void CommandQueue::execute(const std::shared_ptr<Execution>& execution) {
    ++statistics_.commands;
    const bool faulted = choose_fault(*execution);
    if (faulted && execution->fault.hang)
        return;
    dispatcher_.complete_input(execution->input);
    execution->output_data.resize(
        dispatcher_.output_size(execution->input, execution->output_length));
    if (const auto status = execution->fault.status)
        return execution->complete(
            CommandResult::fail(static_cast<CommandStatus>(*status),
                                static_cast<Syndrome>(execution->fault.syndrome)),
            "injected by the fault plan");
    CommandContext context{.hca = hca_,
                           .input = execution->input,
                           .output = execution->output_data,
                           .output_length = execution->output_length,
                           .output_is_false = falsifies_output(execution->fault),
                           .explanation = {},
                           .defer_hook = [execution] { return execution; }};
    const CommandResult result = dispatcher_.run(context);
    if (result.deferred)
        return;
    execution->complete(result, std::move(context.explanation));
}

/// \return whether a fault plan injects a fault into the command
bool CommandQueue::choose_fault(Execution& execution) {
    if (hca_.faults() == nullptr)
        return false;
    const auto opcode = hwtab::read_bits(execution.input.data(), hwtab::opcode_field.offset,
                                         hwtab::opcode_field.width);
    auto fault = hca_.faults()->on_command(hca_.name(), static_cast<std::uint16_t>(opcode));
    if (!fault)
        return false;
    ++statistics_.faults;
    execution.fault = *std::move(fault);
    hca_.log()->debug("fault injected into {} in slot {}",
                      dispatcher_.name_of(static_cast<std::uint16_t>(opcode)), execution.slot);
    return true;
}

void CommandQueue::fail_delivery(Execution& execution, const DeliveryError& error) {
    ++statistics_.delivery_errors;
    hca_.violation(rules::command_delivery, "slot {}: {}: {}", execution.slot,
                   name_of(error.status), error.text);
    execution.output_mailboxes.clear();
    execution.output_data.assign(inline_size, std::byte{0});
    if (!write_output(execution, error.status))
        ++statistics_.outputs_lost;
    announce(execution.slot);
}

void CommandQueue::finish(Execution& execution, CommandResult result) {
    if (!result)
        std::ranges::fill(execution.output_data, std::byte{0});
    hwtab::write_bits(execution.output_data.data(), hwtab::status_field.offset,
                      hwtab::status_field.width, static_cast<std::uint8_t>(result.status));
    hwtab::write_bits(execution.output_data.data(), hwtab::syndrome_field.offset,
                      hwtab::syndrome_field.width, static_cast<std::uint32_t>(result.syndrome));
    dispatcher_.finished(execution.input, execution.output_data, execution.output_length, result,
                         execution.explanation);
    corrupt_output(execution.fault, execution.output_data);
    if (execution.fault.drop_completion)
        return;
    if (execution.fault.delay == EventLoop::Duration::zero())
        return deliver(execution);
    execution.delay =
        std::make_unique<Timer>(hca_.loop(), [this, &execution] { deliver(execution); });
    execution.delay->start(execution.fault.delay);
}

void CommandQueue::deliver(Execution& execution) {
    const auto status = static_cast<DeliveryStatus>(execution.fault.delivery.value_or(0));
    if (!write_output(execution, status))
        ++statistics_.outputs_lost;
    execution.event_mode = execution.event_mode && !execution.fault.drop_eqe;
    announce(execution.slot);
}

std::uint32_t CommandQueue::complete_dropped() {
    std::uint32_t count = 0;
    for (const auto& execution : executions_) {
        if (!execution || !execution->completed || !execution->fault.drop_completion)
            continue;
        deliver(*execution); // empties the slot
        ++count;
    }
    return count;
}

/// Writes the mailboxes first, then the inline part, then the word with the ownership bit, which
/// publishes the rest.
bool CommandQueue::write_output(Execution& execution, DeliveryStatus status) {
    vfio_user::DmaSpace& dma = hca_.firmware_dma();
    const check::CommandFault& fault = execution.fault;
    execution.output_chain.token = fault.mailbox_token.value_or(execution.output_chain.token);
    const auto output_data = std::span<const std::byte>(execution.output_data);
    const auto head = output_data.first(inline_size);
    if (!write_mailboxes(dma, execution.output_chain, execution.output_mailboxes,
                         output_data.subspan(inline_size)))
        return false;
    const std::uint64_t address = entry_address(execution.slot);
    if (!dma.write(address + inline_output_at, head))
        return false;

    const hwtab::View<cmd_queue_entry> entry{std::span<std::byte>(execution.entry)};
    std::ranges::copy(head, entry.bytes<"command_output_inline_data">().begin());
    entry.set<"status">(static_cast<std::uint8_t>(status));
    entry.set<"ownership">(0);
    entry.set<"signature">(0);
    entry.set<"token">(fault.token.value_or(static_cast<std::uint8_t>(entry.get<"token">())));
    if (fault.length) {
        entry.set<"output_length">(*fault.length);
        if (!dma.store_be<std::uint32_t>(address + output_length_at, *fault.length))
            return false;
    }
    if (hca_.capabilities().current<"cmdif_checksum">() != 0)
        entry.set<"signature">(signed_xor ^ xor_of(execution.entry));
    if (fault.signature)
        entry.set<"signature">(*fault.signature);
    const auto word = load_be<std::uint32_t>(std::span(execution.entry).subspan(last_word));
    return dma.store_be<std::uint32_t>(address + last_word, word).has_value();
}

/// Software owns the slot again; its completion event is coalesced with those of other slots.
void CommandQueue::announce(std::uint32_t slot) {
    const auto execution = std::move(executions_[slot]);
    executions_[slot].reset();
    execution->queue = nullptr;
    if (execution->event_mode)
        completed_ |= 1U << slot;
    if (!processing_)
        post_completions();
}

void CommandQueue::post_completions() {
    if (completed_ == 0)
        return;
    EventData data{};
    const hwtab::View<hwtab::cmd_inter_comp_event> event{std::span(data)};
    event.set<"command_completion_vector">(completed_);
    completed_ = 0;
    if (hca_.post_event(EventType::command_completion, 0, data))
        ++statistics_.events;
}

} // namespace cxemu::hca
