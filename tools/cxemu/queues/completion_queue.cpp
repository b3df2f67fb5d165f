// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/completion_queue.hpp"

#include "check/entry_faults.hpp"
#include "check/fault_plan.hpp"
#include "hca/hca.hpp"
#include "queues/rules.hpp"
#include "tables/events.hpp"
#include "tables/work_queue.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace cxemu::queues {

namespace {

constexpr std::size_t half_entry = hwtab::cqe64.size;
constexpr std::size_t cqe_owner_offset = half_entry - 1;

/// The CQE in memory, except for the owner bit.
auto entry_of(const Completion& completion) {
    auto entry = completion.entry;
    const hwtab::View<hwtab::cqe64> view{entry};
    view.set<"opcode">(static_cast<std::uint8_t>(completion.opcode));
    view.set<"format">(static_cast<std::uint8_t>(completion.format));
    view.set<"se">(completion.solicited ? 1 : 0);
    return entry;
}

/// \return nothing for completions that are not of requests, because this byte has another meaning
/// there
std::optional<std::uint8_t> wqe_opcode_of(const Completion& completion) {
    if (completion.opcode != CompletionOpcode::requester &&
        completion.opcode != CompletionOpcode::requester_error)
        return {};
    return hwtab::ConstView<hwtab::cqe64>{completion.entry}.get<"s_wqe_opcode">();
}

} // namespace

CompletionQueue::CompletionQueue(hca::ObjectIdentity identity, hca::Hca& hca,
                                 std::span<const std::byte> context,
                                 CompletionQueueResources resources)
    : Object(identity), hca_(hca), resources_(std::move(resources)),
      run_(static_cast<MiniFormat>(
          hwtab::ConstView<hwtab::cqc>{context}.get<"mini_cqe_res_format">())),
      end_of_run_(hca.loop(), [this] { end_run(); }),
      moderation_(hca.loop(), [this] { report_event(); }) {
    std::ranges::copy(context.first(context_.size()), context_.begin());
    fields().set<"status">(hwtab::value<hwtab::cq_status, "ok">);
    fields().set<"last_notified_index">(0);
    fields().set<"last_solicit_index">(0);
    fields().set<"consumer_counter">(0);
    fields().set<"producer_counter">(0);
    if (state() != NotificationState::armed && state() != NotificationState::solicited_armed &&
        state() != NotificationState::always_armed)
        fields().set<"st">(static_cast<std::uint8_t>(NotificationState::fired));
}

std::uint32_t CompletionQueue::entry_size() const {
    return context().get<"cqe_sz">() == hwtab::value<hwtab::cqe_size, "64_bytes"> ? half_entry
                                                                                  : 2 * half_entry;
}

bool CompletionQueue::has_first_half() const {
    return context().get<"cqe_sz">() == hwtab::value<hwtab::cqe_size, "128_bytes">;
}

NotificationState CompletionQueue::state() const {
    return static_cast<NotificationState>(context().get<"st">());
}

// --- Entries -------------------------------------------------------------------------------------

bool CompletionQueue::post(const Completion& completion) {
    const auto entry = entry_of(completion);
    if (hca_.faults() == nullptr)
        return hold_back(completion);
    const hwtab::ConstView<hwtab::cqe64> view{entry};
    const auto fault = hca_.faults()->on_entry(
        hca_.name(), {.kind = check::EntryKind::completion,
                      .queue = number(),
                      .type = static_cast<std::uint8_t>(completion.opcode),
                      .queue_pair = static_cast<std::uint32_t>(view.get<"qpn">()),
                      .wqe_opcode = wqe_opcode_of(completion),
                      .is_management = completion.is_management});
    if (!fault)
        return hold_back(completion);
    return end_run() && append_corrupted(completion, entry, *fault);
}

/// CQEs that a fault plan adds must not overrun the CQ.
bool CompletionQueue::append_corrupted(const Completion& completion, const Entry& entry,
                                       const check::EntryFault& fault) {
    const auto entries = check::corrupt_entry(check::EntryKind::completion, entry, fault);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const bool is_added = i != 0;
        if ((!is_added || outstanding() < size() / 2) && !append(completion, entries[i]))
            return false;
    }
    return true; // the caller must not notice that the CQE was dropped
}

/// The CQE waits only for the end of this turn of the event loop, never for the next message.
bool CompletionQueue::hold_back(const Completion& completion) {
    const bool compresses = context().get<"cqe_comp_en">() != 0 && context().get<"cc">() == 0;
    if (!compresses)
        return append(completion, entry_of(completion));
    if (stopped_)
        return false;
    if (!CompressedRun::can_hold(completion) || (!has_room(run_.size() + 1) && !ignores_overrun()))
        return end_run() && append(completion, entry_of(completion));
    if (!run_.empty() && !run_.continues_with(completion) && !end_run())
        return false;
    run_.add(completion);
    if (!end_of_run_.active())
        end_of_run_.start(EventLoop::Duration::zero());
    return true;
}

bool CompletionQueue::end_run() {
    end_of_run_.stop();
    const auto run = std::exchange(run_, CompressedRun(run_.format()));
    if (stopped_ || run.empty())
        return !stopped_;
    if (run.size() > 1)
        return append_run(run);
    const Completion& single = run.completions().front();
    return append(single, entry_of(single));
}

/// \pre there is room
bool CompletionQueue::append_run(const CompressedRun& run) {
    const Completion title = run.title();
    if (!write_arrays(run) || !write(title, entry_of(title))) {
        stop_unwritable();
        return false;
    }
    for (const Completion& completion : run.completions())
        account_for(completion);
    return true;
}

bool CompletionQueue::append(const Completion& completion, const Entry& entry) {
    if (stopped_)
        return false;
    if (!has_room() && !ignores_overrun()) {
        hca_.violation(rules::completion_queue_overrun, "completion queue {:#x}: {} entries",
                       number(), size());
        stop(hwtab::value<hwtab::cq_status, "cq_overflow">,
             hwtab::value<hwtab::cq_error_syndrome, "cq_overrun">);
        return false;
    }
    if (!write(completion, entry)) {
        stop_unwritable();
        return false;
    }
    account_for(completion);
    return true;
}

/// Counts a written CQE, and reports it if the CQ is armed.
void CompletionQueue::account_for(const Completion& completion) {
    const auto producer = fields().get<"producer_counter">();
    if (completion.solicited || completion.is_error()) {
        fields().set<"last_solicit_index">(producer);
        saw_solicited_ = true;
    }
    fields().set<"producer_counter">((producer + 1) & counter_mask);
    consider_event(completion);
}

/// The consumer index in host memory is only read when the cached one leaves no free entry.
bool CompletionQueue::has_room(std::size_t entries) {
    const auto used = [this] {
        return (fields().get<"producer_counter">() - fields().get<"consumer_counter">()) &
               counter_mask;
    };
    if (used() + entries <= size())
        return true;
    refresh();
    return used() + entries <= size();
}

void CompletionQueue::refresh() {
    const auto record = hca_.dma().load_be<std::uint32_t>(resources_.doorbell_record);
    if (!record)
        return;
    const std::uint32_t consumer = *record & counter_mask;
    const auto producer = static_cast<std::uint32_t>(context().get<"producer_counter">());
    const auto known = static_cast<std::uint32_t>(context().get<"consumer_counter">());
    if (((consumer - known) & counter_mask) <= ((producer - known) & counter_mask)) {
        fields().set<"consumer_counter">(consumer);
        return;
    }
    hca_.violation(rules::completion_queue_consumer_beyond_producer,
                   "completion queue {:#x}: consumer {:#x}, was {:#x}, producer {:#x}", number(),
                   consumer, known, producer);
}

std::uint32_t CompletionQueue::outstanding() {
    refresh();
    return static_cast<std::uint32_t>(context().get<"producer_counter">() -
                                      context().get<"consumer_counter">()) &
           counter_mask;
}

/// Offset in the ring of the slot for CQE number \p position.
std::uint64_t CompletionQueue::offset_of(std::uint32_t position) const {
    const std::uint32_t slot = context().get<"cc">() != 0 ? 0 : position & (size() - 1);
    return std::uint64_t{slot} * entry_size();
}

/// In a slot of 128 bytes, an array is in the same half as a CQE.
bool CompletionQueue::write_arrays(const CompressedRun& run) {
    const auto title = static_cast<std::uint32_t>(context().get<"producer_counter">());
    for (std::size_t i = 0; i < run.arrays(); ++i) {
        const auto offset = offset_of(title + CompressedRun::slot_of_array(i));
        if (!buffer().write(hca_.dma(), offset + entry_size() - half_entry, run.array(i)))
            return false;
    }
    return true;
}

/// The byte with the owner bit is written last: software may consume the CQE as soon as it sees it.
bool CompletionQueue::write(const Completion& completion, Entry entry) {
    const auto producer = static_cast<std::uint32_t>(context().get<"producer_counter">());
    hwtab::View<hwtab::cqe64>{entry}.set<"owner">((producer / size()) & 1);
    auto& dma = hca_.dma();
    std::uint64_t offset = offset_of(producer);
    if (has_first_half() && !buffer().write(dma, offset, completion.first_half))
        return false;
    offset += entry_size() - half_entry;
    return buffer().write(dma, offset, std::span(entry).first(cqe_owner_offset)) &&
           dma.store_be<std::uint8_t>(buffer().address(offset + cqe_owner_offset),
                                      std::to_integer<std::uint8_t>(entry[cqe_owner_offset]));
}

void CompletionQueue::stop_unwritable() {
    stop(hwtab::value<hwtab::cq_status, "cq_write_fail">,
         hwtab::value<hwtab::cq_error_syndrome, "cq_access_violation_error">);
}

void CompletionQueue::stop(std::uint8_t status, std::uint8_t syndrome) {
    stopped_ = true;
    end_of_run_.stop();
    moderation_.stop();
    fields().set<"status">(status);
    hca_.log()->warn("completion queue {:#x} stopped, syndrome {}", number(), syndrome);
    hca::EventData data{};
    const hwtab::View<hwtab::cq_error> event{data};
    event.set<"cqn">(number());
    event.set<"syndrome">(syndrome);
    hca_.post_event(hca::EventType::cq_error, 0, data);
}

// --- Events --------------------------------------------------------------------------------------

/// Returns true if there are unconsumed CQEs that were written after the last event. Older CQEs
/// need no event, because software polls after an event.
bool CompletionQueue::has_unreported(std::uint32_t consumer_index, bool solicited_only) const {
    const auto producer = static_cast<std::uint32_t>(context().get<"producer_counter">());
    const std::uint32_t unseen = (producer - consumer_index) & counter_mask;
    if (unseen > size())
        return false; // invalid consumer index
    const std::uint32_t unreported = std::min(unseen, (producer - reported_) & counter_mask);
    if (!solicited_only)
        return unreported != 0;
    const auto last = static_cast<std::uint32_t>(context().get<"last_solicit_index">());
    return saw_solicited_ && ((producer - 1 - last) & counter_mask) < unreported;
}

void CompletionQueue::arm(std::uint32_t command) {
    std::array<std::byte, hwtab::cq_doorbell.size> bytes{};
    store_be<std::uint32_t>(bytes, command);
    const hwtab::ConstView<hwtab::cq_doorbell> doorbell{bytes};
    const auto sequence = static_cast<std::uint32_t>(doorbell.get<"arm_sn">());
    const bool solicited_only =
        doorbell.get<"arm_command">() == hwtab::value<hwtab::cq_arm_command, "req_not_sol">;
    if (stopped_ || state() == NotificationState::always_armed || reported_sequence_ == sequence)
        return;
    arm_sequence_ = sequence;
    fields().set<"st">(static_cast<std::uint8_t>(solicited_only ? NotificationState::solicited_armed
                                                                : NotificationState::armed));
    const auto consumer = static_cast<std::uint32_t>(doorbell.get<"arm_consumer_index">());
    if (has_unreported(consumer, solicited_only))
        request_event(false);
}

void CompletionQueue::consider_event(const Completion& completion) {
    ++held_back_;
    const bool solicited = completion.solicited || completion.is_error();
    const bool wanted = state() == NotificationState::armed ||
                        state() == NotificationState::always_armed ||
                        (state() == NotificationState::solicited_armed && solicited);
    const bool breaks_moderation =
        completion.forces_event || (solicited && context().get<"scqe_break_moderation_en">() != 0);
    if (wanted || event_due_)
        request_event(breaks_moderation);
    else if (completion.forces_event)
        report_event();
}

/// Posts the event now, or at the end of the moderation period. Without a period no event is
/// delayed: cq_max_count alone might never be reached.
void CompletionQueue::request_event(bool at_once) {
    const auto period = context().get<"cq_period">();
    const auto max = context().get<"cq_max_count">();
    if (at_once || period == 0 || (max != 0 && held_back_ >= max)) {
        report_event();
        return;
    }
    const bool restarts =
        context().get<"cq_period_mode">() == hwtab::value<hwtab::cq_period_mode, "start_from_cqe">;
    if (event_due_ && !restarts)
        return;
    event_due_ = true;
    const auto now = hca_.loop().now();
    const auto start = restarts ? now : last_event_;
    const auto end = start + std::chrono::microseconds(period);
    if (end <= now)
        report_event();
    else
        moderation_.start(end - now);
}

void CompletionQueue::report_event() {
    moderation_.stop();
    event_due_ = false;
    held_back_ = 0;
    last_event_ = hca_.loop().now();
    reported_sequence_ = arm_sequence_;
    if (state() != NotificationState::always_armed)
        fields().set<"st">(static_cast<std::uint8_t>(NotificationState::fired));
    reported_ = static_cast<std::uint32_t>(context().get<"producer_counter">());
    fields().set<"last_notified_index">((reported_ - 1) & counter_mask);
    hca::EventData data{};
    hwtab::View<hwtab::comp_event>{data}.set<"cq_number">(number());
    resources_.events->post(hca::EventType::completion, 0, data);
}

// --- MODIFY_CQ -----------------------------------------------------------------------------------

void CompletionQueue::modify(hwtab::ConstView<hwtab::cqc> context, std::uint32_t selection,
                             hca::Reference<EventQueue> events) {
    const auto selects = [selection](std::uint64_t field) { return (selection & field) != 0; };
    if (selects(hwtab::value<hwtab::cq_modify_field_select, "cq_period">))
        fields().set<"cq_period">(context.get<"cq_period">());
    if (selects(hwtab::value<hwtab::cq_modify_field_select, "cq_max_count">))
        fields().set<"cq_max_count">(context.get<"cq_max_count">());
    if (selects(hwtab::value<hwtab::cq_modify_field_select, "oi">))
        fields().set<"oi">(context.get<"oi">());
    if (selects(hwtab::value<hwtab::cq_modify_field_select, "cq_period_mode">))
        fields().set<"cq_period_mode">(context.get<"cq_period_mode">());
    if (events) {
        fields().set<"c_eqn_or_apu_element">(events->number());
        resources_.events = std::move(events);
    }
    if (event_due_)
        request_event(false);
}

std::expected<void, ResizeFault>
CompletionQueue::resize(std::uint32_t log_size, std::uint32_t log_page_size,
                        std::uint32_t page_offset, memory::HostBuffer buffer,
                        hca::Reference<hca::UserMemory> buffer_memory) {
    if (!end_run())
        return std::unexpected(ResizeFault::stopped);
    if (outstanding() > (1U << log_size))
        return std::unexpected(ResizeFault::too_small);
    if (!has_room())
        return std::unexpected(ResizeFault::no_room);
    const Completion last{.opcode = CompletionOpcode::resize};
    if (!write(last, entry_of(last))) {
        stop_unwritable();
        return std::unexpected(ResizeFault::stopped);
    }
    fields().set<"producer_counter">((context().get<"producer_counter">() + 1) & counter_mask);
    fields().set<"log_cq_size">(log_size);
    fields().set<"log_page_size">(log_page_size);
    fields().set<"page_offset">(page_offset);
    resources_.buffer = std::move(buffer);
    resources_.buffer_memory = std::move(buffer_memory);
    return {};
}

} // namespace cxemu::queues
