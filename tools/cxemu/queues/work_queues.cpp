// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/work_queues.hpp"

#include "queues/rules.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

namespace cxemu::queues {

namespace {

/// The index of the WQEBB after the WQE whose control segment begins with \p control.
std::uint16_t end_of_entry(std::span<const std::byte, 8> control) {
    std::array<std::byte, hwtab::wqe_ctrl_seg.size> segment{};
    std::ranges::copy(control, segment.begin());
    const CtrlSegment head = decode_head(segment);
    return static_cast<std::uint16_t>(head.index + head.blocks());
}

} // namespace

WorkQueues::WorkQueues(hca::Hca& hca)
    : hca_(hca), memory_(hca.part<memory::MemoryKeys>()),
      run_(hca.loop(), [this] { run_scheduled(); }),
      flush_(hca.loop(), [this] { flush_watched(); }) {
    hca.doorbells().set_handler(this);
    memory_.set_signature_error_handler(
        [this](const memory::SignatureError& error) { report_signature_error(error); });
}

WorkQueues::~WorkQueues() {
    hca_.doorbells().set_handler(nullptr);
    memory_.set_signature_error_handler(nullptr);
}

Transport* WorkQueues::transport_of(const QueuePair& queue_pair) const {
    return queue_pair.service() == ServiceType::reg_umr ? nullptr : transport_;
}

void WorkQueues::notify(QueuePair& queue_pair, QueuePairState from) {
    hca_.log()->debug("queue pair {:#x} ({}): {} to {}", queue_pair.number(),
                      name_of(queue_pair.service()), name_of(from), name_of(queue_pair.state()));
    if (Transport* transport = transport_of(queue_pair))
        transport->state_changed(queue_pair, from);
}

std::uint64_t WorkQueues::timestamp() const {
    return hca_.clock().cycles();
}

// --- Doorbells -----------------------------------------------------------------------------------

void WorkQueues::completion_queue_doorbell(hca::Uar& uar, std::uint32_t command,
                                           std::uint32_t cqn) {
    CompletionQueue* queue = hca_.objects().of<CompletionQueue>().find(cqn);
    if (queue == nullptr || queue->uar() != &uar) {
        ++statistics_.stray_doorbells;
        hca_.violation(rules::completion_queue_doorbell_unknown,
                       "completion queue {:#x} through UAR page {:#x}", cqn, uar.number());
        return;
    }
    queue->arm(command);
}

void WorkQueues::event_queue_doorbell(hca::Uar& uar, std::uint8_t eqn, std::uint32_t consumer_index,
                                      bool arm) {
    EventQueue* queue = hca_.objects().of<EventQueue>().find(eqn);
    if (queue == nullptr || queue->uar() != &uar) {
        ++statistics_.stray_doorbells;
        hca_.violation(rules::event_queue_doorbell_unknown,
                       "event queue {:#x} through UAR page {:#x}", eqn, uar.number());
        return;
    }
    queue->consume(consumer_index, arm);
}

/// \return the QP of a send doorbell, or nullptr
QueuePair* WorkQueues::find_rung(const hca::Uar& uar, std::span<const std::byte, 8> control) {
    ++statistics_.send_doorbells;
    const hwtab::ConstView<hwtab::send_doorbell> doorbell{control};
    const auto number = static_cast<std::uint32_t>(doorbell.get<"qpn">());
    QueuePair* queue_pair = hca_.objects().of<QueuePair>().find(number);
    if (queue_pair == nullptr || queue_pair->uar() != &uar || !queue_pair->send_queue().exists()) {
        ++statistics_.stray_doorbells;
        hca_.violation(rules::send_doorbell_unknown, "queue pair {:#x} through UAR page {:#x}",
                       number, uar.number());
        return nullptr;
    }
    if (queue_pair->state() == QueuePairState::reset ||
        queue_pair->state() == QueuePairState::init ||
        queue_pair->state() == QueuePairState::ready_to_receive) {
        hca_.violation(rules::send_doorbell_in_wrong_state, "queue pair {:#x} is in state {}",
                       number, name_of(queue_pair->state()));
        return nullptr;
    }
    return queue_pair;
}

void WorkQueues::send_doorbell(hca::Uar& uar, std::span<const std::byte, 8> control) {
    QueuePair* queue_pair = find_rung(uar, control);
    if (queue_pair == nullptr)
        return;
    queue_pair->ring_send_doorbell(end_of_entry(control));
    schedule(*queue_pair);
}

void WorkQueues::send_request(hca::Uar& uar, std::span<const std::byte> request) {
    const auto control = request.first<8>();
    QueuePair* queue_pair = find_rung(uar, control);
    if (queue_pair == nullptr)
        return;
    const std::uint16_t first_unknown = queue_pair->send_queue().posted();
    queue_pair->ring_send_doorbell(end_of_entry(control));
    if (queue_pair->state() == QueuePairState::ready_to_send &&
        queue_pair->push_send(first_unknown, request))
        ++statistics_.requests_from_registers;
    schedule(*queue_pair);
}

// --- Work ----------------------------------------------------------------------------------------

void WorkQueues::schedule(QueuePair& queue_pair) {
    scheduled_.insert(queue_pair.number());
    if (!run_.active())
        run_.start(EventLoop::Duration::zero());
}

void WorkQueues::run_scheduled() {
    for (const std::uint32_t number : std::exchange(scheduled_, {})) {
        if (QueuePair* queue_pair = hca_.objects().of<QueuePair>().find(number))
            run(*queue_pair);
    }
}

void WorkQueues::run(QueuePair& queue_pair) {
    switch (queue_pair.state()) {
    case QueuePairState::send_queue_error:
    case QueuePairState::error:
        queue_pair.flush_posted();
        return;
    case QueuePairState::ready_to_send:
    case QueuePairState::send_queue_draining:
    case QueuePairState::send_queue_drained:
        break;
    default:
        return;
    }
    if (queue_pair.service() == ServiceType::reg_umr)
        queue_pair.next_send(); // local operations are executed there
    else if (transport_ != nullptr && queue_pair.can_send())
        transport_->sends_posted(queue_pair);
}

void WorkQueues::report_signature_error(const memory::SignatureError& error) {
    const std::uint32_t number = error.accessor.queue_pair;
    if (QueuePair* queue_pair = hca_.objects().of<QueuePair>().find(number))
        queue_pair->report_signature_error(error);
}

void WorkQueues::watch_for_flushes(QueuePair& queue_pair) {
    watched_.insert(queue_pair.number());
    if (!flush_.active())
        flush_.start_periodic(flush_period);
}

void WorkQueues::flush_watched() {
    for (const std::uint32_t number : std::set(watched_)) {
        QueuePair* queue_pair = hca_.objects().of<QueuePair>().find(number);
        if (queue_pair != nullptr && queue_pair->state() == QueuePairState::error)
            queue_pair->flush_posted();
        else
            watched_.erase(number);
    }
    if (watched_.empty())
        flush_.stop();
}

void WorkQueues::forget(QueuePair& queue_pair) {
    scheduled_.erase(queue_pair.number());
    watched_.erase(queue_pair.number());
    page_faults_.forget(queue_pair);
    queue_pair.publish_completions();
    if (Transport* transport = transport_of(queue_pair))
        transport->destroyed(queue_pair);
}

// --- hca::Part -----------------------------------------------------------------------------------

void WorkQueues::reset(pci::ResetCause /*cause*/) {
    function_torn_down();
}

void WorkQueues::function_torn_down() {
    scheduled_.clear();
    watched_.clear();
    page_faults_.clear();
    run_.stop();
    flush_.stop();
}

bool WorkQueues::stops_at_fence() {
    switch (hca_.settings().signature_stop) {
    case hca::SignatureStop::next:
        break;
    case hca::SignatureStop::fence:
        return true;
    case hca::SignatureStop::random:
        return random_.below(2) != 0;
    }
    return false;
}

nlohmann::json WorkQueues::statistics() const {
    nlohmann::json completions = nlohmann::json::object();
    for (std::size_t opcode = 0; opcode < statistics_.completions.size(); ++opcode) {
        if (statistics_.completions[opcode] != 0)
            completions[hwtab::name_of(hwtab::cqe_opcode, opcode)] =
                statistics_.completions[opcode];
    }
    return {{"completions", completions},
            {"send_doorbells", statistics_.send_doorbells},
            {"requests_from_registers", statistics_.requests_from_registers},
            {"sends_executed", statistics_.sends_executed},
            {"local_operations", statistics_.local_operations},
            {"send_errors", statistics_.send_errors},
            {"sends_flushed", statistics_.sends_flushed},
            {"receives_completed", statistics_.receives_completed},
            {"receive_errors", statistics_.receive_errors},
            {"receives_flushed", statistics_.receives_flushed},
            {"page_faults", page_faults_.raised()},
            {"stray_doorbells", statistics_.stray_doorbells}};
}

} // namespace cxemu::queues
