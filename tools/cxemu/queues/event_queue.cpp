// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/event_queue.hpp"

#include "check/entry_faults.hpp"
#include "check/fault_plan.hpp"
#include "hca/hca.hpp"
#include "queues/rules.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace cxemu::queues {

namespace {

constexpr std::uint32_t counter_mask = 0xffffff;
constexpr std::size_t eqe_owner_offset = hwtab::eqe.size - 1;
using StateOfQueue = hwtab::View<hwtab::eqc>;

} // namespace

EventQueue::EventQueue(hca::ObjectIdentity identity, hca::Hca& hca,
                       std::span<const std::byte> context, const EventMask& events,
                       memory::HostBuffer buffer, hca::Reference<hca::Uar> uar)
    : Object(identity), hca_(hca), events_(events), buffer_(std::move(buffer)),
      uar_(std::move(uar)) {
    std::ranges::copy(context.first(context_.size()), context_.begin());
    const StateOfQueue fields{context_};
    fields.set<"status">(hwtab::value<hwtab::eq_status, "ok">);
    fields.set<"consumer_counter">(0);
    fields.set<"producer_counter">(0);
    if (state() != EventQueueState::armed && state() != EventQueueState::always_armed)
        fields.set<"st">(static_cast<std::uint8_t>(EventQueueState::fired));
}

std::uint32_t EventQueue::vector() const {
    return static_cast<std::uint32_t>(context().get<"intr">());
}

EventQueueState EventQueue::state() const {
    return static_cast<EventQueueState>(context().get<"st">());
}

std::uint32_t EventQueue::unconsumed() const {
    const auto fields = context();
    return static_cast<std::uint32_t>(fields.get<"producer_counter">() -
                                      fields.get<"consumer_counter">()) &
           counter_mask;
}

bool EventQueue::post(hca::EventType type, std::uint8_t sub_type, std::span<const std::byte> data) {
    Entry entry{};
    const hwtab::View<hwtab::eqe> fields{entry};
    fields.set<"event_type">(static_cast<std::uint8_t>(type));
    fields.set<"event_sub_type">(sub_type);
    const auto room = fields.bytes<"event_data">();
    assert(data.size() <= room.size());
    std::ranges::copy(data, room.begin());
    return append(entry);
}

bool EventQueue::post_raw(std::span<const std::byte> entry) {
    Entry copy{};
    std::ranges::copy(entry.first(copy.size()), copy.begin());
    return append(copy);
}

/// EQEs that a fault plan adds must not overrun the EQ.
bool EventQueue::append(const Entry& entry) {
    check::FaultPlan* plan = hca_.faults();
    const auto type =
        static_cast<std::uint8_t>(hwtab::ConstView<hwtab::eqe>{entry}.get<"event_type">());
    const auto fault =
        plan == nullptr
            ? std::nullopt
            : plan->on_entry(hca_.name(),
                             {.kind = check::EntryKind::event, .queue = number(), .type = type});
    if (!fault)
        return append_as_it_is(entry);
    const auto entries = check::corrupt_entry(check::EntryKind::event, entry, *fault);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const bool is_added = i != 0;
        if ((!is_added || unconsumed() < size() / 2) && !append_as_it_is(entries[i]))
            return false;
    }
    return true; // the caller must not notice that the EQE was dropped
}

bool EventQueue::append_as_it_is(Entry entry) {
    if (stopped_)
        return false;
    const bool overrun_allowed = context().get<"oi">() != 0;
    if (unconsumed() >= size() && !overrun_allowed) {
        report_overrun();
        stop(hwtab::value<hwtab::eq_status, "eq_write_failure">);
        return false;
    }
    if (!write(entry)) {
        stop(hwtab::value<hwtab::eq_status, "eq_write_failure">);
        return false;
    }
    const StateOfQueue fields{context_};
    fields.set<"producer_counter">((fields.get<"producer_counter">() + 1) & counter_mask);
    if (state() != EventQueueState::fired)
        fire();
    return true;
}

/// If doorbells of this EQ arrive although its EQN was forged, software knows the real number.
void EventQueue::report_overrun() {
    const bool unknown = eqn_forged_ && !consumed_;
    hca_.violation(unknown ? rules::event_queue_named_falsely : rules::event_queue_overrun,
                   "event queue {:#x}: {} entries", number(), size());
}

/// The owner byte is written last: software may consume the EQE as soon as it sees it.
bool EventQueue::write(Entry& entry) {
    const auto producer = static_cast<std::uint32_t>(context().get<"producer_counter">());
    const std::uint32_t slot = context().get<"ec">() != 0 ? 0 : producer & (size() - 1);
    hwtab::View<hwtab::eqe>{entry}.set<"owner">((producer / size()) & 1);
    const std::uint64_t offset = std::uint64_t{slot} * hwtab::eqe.size;
    auto& dma = hca_.dma();
    return buffer_.write(dma, offset, std::span(entry).first(eqe_owner_offset)) &&
           dma.store_be<std::uint8_t>(buffer_.address(offset + eqe_owner_offset),
                                      std::to_integer<std::uint8_t>(entry[eqe_owner_offset]));
}

/// The failure is reported in a deferred call, because the caller still uses this object.
void EventQueue::stop(std::uint8_t status) {
    stopped_ = true;
    StateOfQueue{context_}.set<"status">(status);
    hca_.log()->error("event queue {:#x} stopped: overrun or memory failure", number());
    const bool asynchronous = events_.any();
    const std::weak_ptr<Object> self = weak_from_this();
    hca_.loop().defer([&hca = hca_, self, asynchronous] {
        if (!self.expired())
            hca.fail_fatally({.syndrome = asynchronous ? hca::HealthSyndrome::async_eq_overrun
                                                       : hca::HealthSyndrome::eq_in_error,
                              .reset_required = true,
                              .severity = hca::HealthSeverity::critical});
    });
}

void EventQueue::fire() {
    if (state() != EventQueueState::always_armed)
        StateOfQueue{context_}.set<"st">(static_cast<std::uint8_t>(EventQueueState::fired));
    hca_.interrupts().raise(vector());
}

void EventQueue::consume(std::uint32_t consumer_index, bool arm) {
    const StateOfQueue fields{context_};
    const auto producer = static_cast<std::uint32_t>(fields.get<"producer_counter">());
    const auto consumer = static_cast<std::uint32_t>(fields.get<"consumer_counter">());
    if (((consumer_index - consumer) & counter_mask) > ((producer - consumer) & counter_mask)) {
        report_consumer(consumer_index);
        return;
    }
    consumed_ = true;
    fields.set<"consumer_counter">(consumer_index & counter_mask);
    if (!arm || state() == EventQueueState::always_armed)
        return;
    fields.set<"st">(static_cast<std::uint8_t>(EventQueueState::armed));
    if (unconsumed() != 0)
        fire();
}

/// The doorbell may be for another EQ with a forged EQN.
void EventQueue::report_consumer(std::uint32_t consumer_index) {
    bool strayed = false;
    hca_.objects().of<EventQueue>().for_each(
        [&](const EventQueue& queue) { strayed |= &queue != this && queue.eqn_forged(); });
    hca_.violation(
        strayed ? rules::event_queue_named_falsely : rules::event_queue_consumer_beyond_producer,
        "event queue {:#x}: consumer {:#x}, was {:#x}, producer {:#x}", number(), consumer_index,
        context().get<"consumer_counter">(), context().get<"producer_counter">());
}

void EventQueue::vector_changed() {
    if (state() == EventQueueState::fired && unconsumed() != 0)
        hca_.interrupts().raise(vector());
}

} // namespace cxemu::queues
