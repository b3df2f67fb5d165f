// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/responder.hpp"

#include "transport/acknowledgement.hpp"
#include "transport/tagged_message.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::transport {

namespace {

using queues::CompletionError;
using queues::CompletionOpcode;
using queues::QueuePairState;
using queues::ServiceType;

constexpr std::uint64_t longest_message = 1ULL << 31U; ///< bytes

CompletionOpcode completion_opcode(const Operation& operation) {
    if (operation.verb == PacketOp::write)
        return CompletionOpcode::write_immediate;
    if (operation.immediate)
        return CompletionOpcode::send_immediate;
    return operation.invalidate ? CompletionOpcode::send_invalidate : CompletionOpcode::send;
}

} // namespace

Responder::Responder(Channel& channel, std::function<void()> wake, Fetch fetch)
    : channel_(channel), wake_(std::move(wake)), fetch_(std::move(fetch)), responses_(channel) {}

// --- State ---------------------------------------------------------------------------------------

void Responder::start() {
    const auto context = std::as_const(queue_pair()).context();
    reset();
    responses_.reset(std::size_t{1} << context.get<"log_rra_max">());
    expected_ = Psn(context.get<"next_rcv_psn">());
    messages_ = Msn(0);
    established_ = false;
}

void Responder::connect(Psn first) {
    const auto context = std::as_const(queue_pair()).context();
    reset();
    responses_.reset(std::size_t{1} << context.get<"log_rra_max">());
    ended_ = false;
    expected_ = first + 1;
    messages_ = Msn(0);
    established_ = true; // DC connections raise no event
    ++queue_pair().counts().rx_dct_connect;
    responses_.acknowledge(first, messages_);
    wake_();
}

void Responder::repeat_connect() {
    ++queue_pair().counts().duplicate_request;
    responses_.acknowledge(expected_ - 1, messages_);
    wake_();
}

void Responder::stop() {
    const auto unused = std::exchange(receive_, std::nullopt);
    const auto owner = std::exchange(receive_owner_, nullptr);
    reset();
    if (unused)
        queue_pair().flush_receive(*unused);
}

void Responder::reset() {
    responses_.reset(0);
    discard_message();
    receive_.reset();
    receive_owner_.reset();
    stall_.reset();
    failure_.reset();
    refused_ = false;
}

void Responder::refresh() {
    queue_pair().context().set<"next_rcv_psn">(expected_.value());
    queue_pair().context().set<"rmsn">(messages_.value());
}

// --- Packets -------------------------------------------------------------------------------------

void Responder::request_arrived(const fabric::HcaPort& port, const fabric::ParsedPacket& packet,
                                const Operation& operation) {
    if (responses_.is_closing())
        return;
    establish();
    const Arrival arrival{.port = port, .packet = packet, .operation = operation};
    if (is_reliable(queue_pair().service()))
        take_reliable(arrival);
    else
        take_unreliable(arrival);
}

/// Raises the "communication established" event; software may defer its transition to RTS until
/// then.
void Responder::establish() {
    if (!std::exchange(established_, true) &&
        queue_pair().state() == QueuePairState::ready_to_receive)
        queue_pair().post_event(hca::EventType::communication_established);
}

void Responder::take_reliable(const Arrival& arrival) {
    if (arrival.psn() == expected_)
        take_expected(arrival);
    else if (arrival.psn().precedes(expected_))
        repeat(arrival);
    else
        report_gap();
}

void Responder::take_expected(const Arrival& arrival) {
    auto outcome = check_sequence(arrival);
    if (outcome)
        outcome = execute(arrival);
    if (!outcome)
        return refuse(outcome.error());
    refused_ = false;
    const bool is_data =
        arrival.operation.verb == PacketOp::send || arrival.operation.verb == PacketOp::write;
    if (is_data) {
        expected_ += 1;
        messages_ += arrival.operation.last ? 1 : 0;
    }
    if (is_data && arrival.packet.headers.transport.acknowledge_request)
        responses_.acknowledge(arrival.psn(), messages_);
    wake_();
    if (is_data && arrival.operation.last)
        complete_message(arrival);
    else if (is_data && arrival.operation.first)
        report_match();
}

/// Position of the packet in its message, and its length (IBA volume 1, 9.7.4.1.2 and 9.7.4.1.6).
Responder::Outcome Responder::check_sequence(const Arrival& arrival) const {
    const Operation& operation = arrival.operation;
    const std::size_t size = arrival.packet.payload.size();
    const std::uint32_t mtu = channel_.path_mtu();
    const bool begins = operation.first;
    const bool fits = begins ? !message_ : message_ && message_->verb == operation.verb;
    const bool right_size = operation.last ? size <= mtu && (begins || size != 0) : size == mtu;
    if (!fits || !right_size)
        return std::unexpected(Refusal::invalid_request);
    return {};
}

/// Duplicate packet: responds again without executing it again.
void Responder::repeat(const Arrival& arrival) {
    ++queue_pair().counts().duplicate_request;
    switch (arrival.operation.verb) {
    case PacketOp::send:
    case PacketOp::write:
        responses_.acknowledge(expected_ - 1, messages_);
        break;
    case PacketOp::read:
        if (const auto who = accessor(arrival))
            responses_.repeat_read(
                {.first = arrival.psn(), .accessor = *who, .memory = *arrival.packet.headers.rdma},
                messages_);
        break;
    default:
        responses_.repeat_atomic(arrival.psn(), messages_);
        break;
    }
    wake_();
}

/// An earlier packet is missing. One NAK is sent; the following packets are out of sequence as
/// well.
void Responder::report_gap() {
    ++queue_pair().counts().out_of_sequence;
    if (std::exchange(refused_, true))
        return;
    responses_.refuse(expected_, messages_, nak_syndrome(NakCode::sequence_error));
    wake_();
}

// --- UC ------------------------------------------------------------------------------------------

void Responder::take_unreliable(const Arrival& arrival) {
    if (arrival.psn() != expected_) {
        ++queue_pair().counts().out_of_sequence;
        drop_message();
    }
    expected_ = arrival.psn() + 1;
    if (arrival.operation.first)
        drop_message(); // its last packet is missing
    const auto checked = check_sequence(arrival);
    const auto outcome = checked ? execute(arrival) : checked;
    if (!outcome && outcome.error() == Refusal::operation) {
        failure_ = outcome.error();
        return fail();
    }
    if (!outcome)
        return drop_message();
    if (!arrival.operation.last)
        return report_match();
    messages_ += 1;
    complete_message(arrival);
}

/// Drops the message silently. Its receive WQE is reused for the next message.
void Responder::drop_message() {
    discard_message();
}

// --- Execution -----------------------------------------------------------------------------------

Responder::Outcome Responder::execute(const Arrival& arrival) {
    count(arrival.operation);
    switch (arrival.operation.verb) {
    case PacketOp::send:
        return execute_send(arrival);
    case PacketOp::write:
        return execute_write(arrival);
    case PacketOp::read:
        return execute_read(arrival);
    default:
        return execute_atomic(arrival);
    }
}

void Responder::count(const Operation& operation) {
    auto& counts = queue_pair().counts();
    if (operation.verb == PacketOp::write)
        counts.rx_write_requests += operation.first ? 1 : 0;
    else if (operation.verb == PacketOp::read)
        ++counts.rx_read_requests;
    else if (is_atomic(operation.verb))
        ++counts.rx_atomic_requests;
}

/// Fetches a receive WQE for the message, unless it has one.
Responder::Outcome Responder::provide_receive(const Arrival& arrival) {
    if (receive_)
        return {};
    const auto& srq = arrival.packet.headers.xrc_srq;
    auto request = srq ? queue_pair().take_receive(*srq) : queue_pair().take_receive();
    if (request) {
        receive_owner_ = request->shared != nullptr ? request->shared->shared_from_this() : nullptr;
        receive_ = *std::move(request);
        return {};
    }
    switch (request.error()) {
    case queues::ReceiveFault::empty:
        ++queue_pair().counts().out_of_buffer;
        return std::unexpected(Refusal::receiver_not_ready);
    case queues::ReceiveFault::no_queue:
        return std::unexpected(Refusal::invalid_request);
    default:
        return std::unexpected(Refusal::queue_failed);
    }
}

Responder::Outcome Responder::execute_send(const Arrival& arrival) {
    if (arrival.operation.first) {
        if (const auto begun = begin_send(arrival); !begun)
            return begun;
    }
    auto stored = check_length(arrival);
    if (stored)
        stored = store_send(arrival);
    if (!stored) {
        if (arrival.operation.first)
            discard_message(); // if the packet is retried, the message restarts
        return stored;
    }
    message_->arrived += arrival.packet.payload.size();
    if (const auto key = arrival.packet.headers.invalidate) {
        const auto who = accessor(arrival);
        if (!who || !channel_.keys().invalidate(*who, *key))
            return std::unexpected(Refusal::access);
    }
    return {};
}

/// Finds the receive buffer of the message: that of its tag, or the next receive WQE.
Responder::Outcome Responder::begin_send(const Arrival& arrival) {
    queues::SharedReceiveQueue* queue = queue_pair().tag_matching_queue();
    Message message = queue != nullptr ? look_for_tag(*queue, arrival) : Message{};
    if (!message.match) {
        if (const auto provided = provide_receive(arrival); !provided)
            return provided;
        if (message.without_match == queues::TagReport::unexpected)
            queue->tags()->count_unexpected();
    }
    message_ = std::move(message);
    return {};
}

Responder::Outcome Responder::check_length(const Arrival& arrival) const {
    const std::uint64_t end = message_->arrived + arrival.packet.payload.size();
    const auto& match = message_->match;
    if (match && match->source)
        return {}; // the stored part fits
    if (end > (match ? match->receive.length + TagHeader::size : receive_->length))
        return std::unexpected(Refusal::too_long);
    return {};
}

Responder::Outcome Responder::store_send(const Arrival& arrival) {
    if (message_->match)
        return store_matched(arrival);
    const auto payload = arrival.packet.payload;
    const std::uint64_t done = message_->arrived;
    if (arrival.operation.first && arrival.operation.last &&
        queue_pair().fits_scatter_to_cqe(*receive_, payload.size()))
        return {};
    const auto stored = queue_pair().scatter(*receive_, done, payload);
    if (stored)
        return {};
    queues::PageFault fault{.place = queues::FaultPlace::receive,
                            .committed = static_cast<std::uint32_t>(done),
                            .packet = static_cast<std::uint32_t>(payload.size()),
                            .index = receive_->index};
    if (receive_->shared != nullptr)
        fault.shared_receive = receive_->shared->number();
    return std::unexpected(refusal_of(stored.error(), Refusal::operation, fault));
}

Responder::Outcome Responder::begin_write(const Arrival& arrival) {
    const fabric::Reth& memory = *arrival.packet.headers.rdma;
    if (std::as_const(queue_pair()).context().get<"rwe">() == 0)
        return std::unexpected(Refusal::invalid_request);
    if (const auto checked = check_memory(arrival, memory, memory::AccessRight::remote_write);
        !checked)
        return checked;
    message_ = Message{.verb = PacketOp::write, .arrived = 0, .memory = memory};
    return {};
}

Responder::Outcome Responder::execute_write(const Arrival& arrival) {
    const Operation& operation = arrival.operation;
    const auto payload = arrival.packet.payload;
    if (operation.first) {
        if (const auto begun = begin_write(arrival); !begun)
            return begun;
    }
    const Message& message = *message_;
    const std::uint64_t end = message.arrived + payload.size();
    if (operation.last ? end != message.memory.length : end >= message.memory.length)
        return std::unexpected(Refusal::invalid_request);
    if (operation.immediate) {
        if (const auto provided = provide_receive(arrival); !provided) {
            if (operation.first)
                message_.reset(); // the message restarts
            return provided;
        }
    }
    if (const auto stored = store_write(arrival); !stored) {
        if (operation.first)
            message_.reset();
        return stored;
    }
    message_->arrived = end;
    return {};
}

Responder::Outcome Responder::store_write(const Arrival& arrival) {
    const auto payload = arrival.packet.payload;
    const fabric::Reth& memory = message_->memory;
    if (payload.empty())
        return {};
    const auto who = accessor(arrival);
    if (!who)
        return std::unexpected(Refusal::access);
    const auto stored = channel_.keys().write(*who,
                                              {.key = memory.r_key,
                                               .address = memory.address + message_->arrived,
                                               .length = payload.size(),
                                               .right = memory::AccessRight::remote_write},
                                              payload);
    if (!stored)
        return std::unexpected(refusal_of(stored.error(), arrival, memory));
    return {};
}

/// A zero length needs no check. A missing page raises a page fault when a write reaches it; a read
/// faults in all its pages first.
Responder::Outcome Responder::check_memory(const Arrival& arrival, const fabric::Reth& memory,
                                           memory::AccessRight right) {
    if (memory.length > longest_message)
        return std::unexpected(Refusal::invalid_request);
    if (memory.length == 0)
        return {};
    const auto who = accessor(arrival);
    if (!who)
        return std::unexpected(Refusal::invalid_request);
    const auto found = channel_.keys().translate(
        *who,
        {.key = memory.r_key, .address = memory.address, .length = memory.length, .right = right});
    if (found || (found.error() == memory::AccessFault::page_absent &&
                  right == memory::AccessRight::remote_write))
        return {};
    return std::unexpected(refusal_of(found.error(), arrival, memory));
}

/// With XRC the PD is that of the SRQ that the packet names (IBA volume 1, annex A14). \return
/// nothing if the packet names none
std::optional<memory::Accessor> Responder::accessor(const Arrival& arrival) const {
    const auto& srq = arrival.packet.headers.xrc_srq;
    return srq ? queue_pair().accessor(*srq) : queue_pair().accessor();
}

bool Responder::has_responder_resources() const {
    return responses_.outstanding() <
           1U << std::as_const(queue_pair()).context().get<"log_rra_max">();
}

Responder::Outcome Responder::execute_read(const Arrival& arrival) {
    const fabric::Reth& memory = *arrival.packet.headers.rdma;
    if (std::as_const(queue_pair()).context().get<"rre">() == 0 || !has_responder_resources() ||
        !arrival.packet.payload.empty())
        return std::unexpected(Refusal::invalid_request);
    if (const auto checked = check_memory(arrival, memory, memory::AccessRight::remote_read);
        !checked)
        return checked;
    const ReadJob job{.first = expected_,
                      .accessor = accessor(arrival).value_or(memory::Accessor{}),
                      .memory = memory};
    expected_ += job.packets(channel_.path_mtu());
    messages_ += 1;
    responses_.respond_to_read(job, messages_);
    return {};
}

/// Atomics of the specification are always allowed. Masked atomics have a payload, and the QP
/// limits their size.
bool Responder::accepts_operand(std::size_t size, bool plain) const {
    const auto mode = std::as_const(queue_pair()).context().get<"atomic_mode">();
    if (plain)
        return true;
    if (mode == hwtab::value<hwtab::atomic_mode, "only_8b">)
        return size == atomic_word_size;
    return mode >= hwtab::value<hwtab::atomic_mode, "up_to_8b"> && size <= std::size_t{1} << mode;
}

memory::AccessResult<AtomicWords> Responder::change_memory(memory::Accessor who,
                                                           const fabric::AtomicEth& header,
                                                           const AtomicOperation& operation) {
    AtomicWords before{};
    if (operation.size == atomic_word_size) {
        const auto found =
            channel_.keys().modify(who, header.r_key, header.address, [&](std::uint64_t value) {
                return apply(operation.words[0], value);
            });
        if (!found)
            return std::unexpected(found.error());
        before[0] = *found;
        return before;
    }
    const auto changed = channel_.keys().modify(who, header.r_key, header.address, operation.size,
                                                [&](std::span<std::byte> memory) {
                                                    before = load_words(memory);
                                                    store_words(memory, apply(operation, before));
                                                });
    if (!changed)
        return std::unexpected(changed.error());
    return before;
}

Responder::Outcome Responder::execute_atomic(const Arrival& arrival) {
    const fabric::AtomicEth& header = *arrival.packet.headers.atomic;
    const auto operation = decode_operation(arrival.operation.verb, header, arrival.packet.payload);
    const auto who = accessor(arrival);
    if (std::as_const(queue_pair()).context().get<"rae">() == 0 || !has_responder_resources() ||
        !operation || !accepts_operand(operation->size, arrival.packet.payload.empty()) || !who ||
        header.address % operation->size != 0)
        return std::unexpected(Refusal::invalid_request);
    const auto before = change_memory(*who, header, *operation);
    if (!before)
        return std::unexpected(refusal_of(before.error(), arrival,
                                          {.address = header.address,
                                           .r_key = header.r_key,
                                           .length = static_cast<std::uint32_t>(operation->size)}));
    expected_ += 1;
    messages_ += 1;
    responses_.respond_to_atomic(arrival.psn(), messages_,
                                 {.words = *before, .size = operation->size});
    return {};
}

/// The last packet of a send or write has been executed.
void Responder::complete_message(const Arrival& arrival) {
    const Message message = *std::exchange(message_, std::nullopt);
    const Operation& operation = arrival.operation;
    if (operation.verb == PacketOp::write && !operation.immediate)
        return;
    if (message.match)
        return complete_match(arrival, message);
    const auto receive = *std::exchange(receive_, std::nullopt);
    const auto owner = std::exchange(receive_owner_, nullptr);
    auto completion = completion_of(arrival, message.arrived);
    if (message.without_match)
        completion.tag = queues::TagResult{.report = *message.without_match};
    if (operation.verb == PacketOp::send && operation.first &&
        queue_pair().fits_scatter_to_cqe(receive, message.arrived))
        completion.data = arrival.packet.payload;
    queue_pair().complete_receive(receive, completion);
}

/// \param length of the message, in bytes
queues::ReceiveCompletion Responder::completion_of(const Arrival& arrival,
                                                   std::uint64_t length) const {
    const auto& headers = arrival.packet.headers;
    return {.opcode = completion_opcode(arrival.operation),
            .byte_count = static_cast<std::uint32_t>(length),
            .immediate = headers.immediate.value_or(headers.invalidate.value_or(0)),
            .solicited = headers.transport.solicited_event,
            .source_qp = channel_.remote_queue_pair(),
            .source_lid = headers.local.slid,
            .path_bits = arrival.port.path_bits(headers.local.dlid),
            .service_level = headers.local.sl};
}

/// The message will not be complete. Its tag may match another message, unless the match was
/// reported to software.
void Responder::discard_message() {
    auto message = std::exchange(message_, std::nullopt);
    if (!message)
        return;
    if (message->match && message->match->reported)
        queue_pair().cancel_tag(message->match->receive, message->match->entry.index);
    else if (message->match)
        message->match->receive.shared->tags()->restore(std::move(message->match->entry));
    else if (message->without_match == queues::TagReport::unexpected)
        queue_pair().tag_matching_queue()->tags()->forget_unexpected();
}

// --- Tag matching --------------------------------------------------------------------------------

/// A rendezvous that spans several packets is left to software.
Responder::Message Responder::look_for_tag(queues::SharedReceiveQueue& queue,
                                           const Arrival& arrival) {
    const auto payload = arrival.packet.payload;
    Message message;
    message.without_match = queues::TagReport::no_tag;
    const auto header = parse_tag_header(payload);
    if (!header || !header->wants_match())
        return message;
    message.without_match = queues::TagReport::unexpected;
    const bool is_rendezvous = header->message == TaggedMessage::rendezvous;
    const auto source = is_rendezvous ? parse_rendezvous(payload) : std::nullopt;
    if (is_rendezvous && (!source || !arrival.operation.last))
        return message;
    auto entry = queue.tags()->match(header->tag);
    if (!entry)
        return message;
    message.without_match.reset();
    queues::RecvWqe receive{.index = entry->index,
                            .segments = entry->memory,
                            .length = queues::total_length(entry->memory),
                            .shared = &queue};
    message.match = Match{.entry = *std::move(entry),
                          .receive = std::move(receive),
                          .owner = queue.shared_from_this(),
                          .header = *header,
                          .source = source};
    return message;
}

/// Whether the device performs the rendezvous; otherwise software does.
bool Responder::is_fetched(const Match& match) const {
    return match.source && fetch_ && queue_pair().fetches_rendezvous() &&
           match.source->length <= match.receive.length;
}

/// The header is scattered to the CQE, the rest to the buffer of the tag. If software handles the
/// rendezvous, only as much as fits is scattered.
Responder::Outcome Responder::store_matched(const Arrival& arrival) {
    const Match& match = *message_->match;
    if (is_fetched(match))
        return {};
    auto data = arrival.packet.payload;
    std::uint64_t offset = 0;
    if (arrival.operation.first)
        data = data.subspan(TagHeader::size);
    else
        offset = message_->arrived - TagHeader::size;
    if (match.source)
        data = data.first(std::min<std::uint64_t>(data.size(), match.receive.length));
    if (!queue_pair().scatter(match.receive, offset, data))
        return std::unexpected(Refusal::operation);
    return {};
}

/// The first packet of a multi-packet message is stored. If it has matched a tag, software is
/// notified, because it can no longer remove the tag.
void Responder::report_match() {
    if (!message_ || !message_->match || std::exchange(message_->match->reported, true))
        return;
    const Match match = *message_->match;
    queue_pair().complete_receive(match.receive,
                                  {.opcode = CompletionOpcode::no_packet,
                                   .tag = queues::TagResult{.report = queues::TagReport::matched,
                                                            .index = match.entry.index,
                                                            .header = match.header.bytes}});
}

void Responder::complete_match(const Arrival& arrival, const Message& message) {
    using queues::TagReport;
    const Match& match = *message.match;
    if (is_fetched(match))
        return begin_rendezvous(arrival, match);
    std::uint64_t length = message.arrived - TagHeader::size;
    auto report = match.reported ? TagReport::data_complete : TagReport::matched_with_data;
    if (match.source) {
        report = TagReport::matched_for_software;
        length = std::min(length, match.receive.length);
    }
    auto completion = completion_of(arrival, length);
    completion.tag = queues::TagResult{.report = report, .index = match.entry.index};
    if (!match.reported)
        completion.tag->header = match.header.bytes;
    queue_pair().complete_receive(match.receive, completion);
}

void Responder::begin_rendezvous(const Arrival& arrival, const Match& match) {
    auto end = completion_of(arrival, match.source->length);
    end.tag =
        queues::TagResult{.report = queues::TagReport::data_complete, .index = match.entry.index};
    fetch_({.index = match.entry.index,
            .receive = match.receive,
            .owner = match.owner,
            .header = match.header,
            .source = *match.source,
            .completion = end});
    queue_pair().complete_receive(match.receive,
                                  {.opcode = CompletionOpcode::no_packet,
                                   .tag = queues::TagResult{.report = queues::TagReport::matched,
                                                            .index = match.entry.index,
                                                            .header = match.header.bytes}});
}

// --- Page faults ---------------------------------------------------------------------------------

/// Result of a failed memory access. Software gets one report of a page fault, even if the packet
/// is retried several times before the fault is resolved.
Responder::Refusal Responder::refusal_of(memory::AccessFault fault, Refusal otherwise,
                                         const queues::PageFault& page_fault) {
    if (fault != memory::AccessFault::page_absent || !is_reliable(queue_pair().service()))
        return otherwise;
    if (!stall_) {
        const auto token = queue_pair().raise_page_fault(page_fault);
        if (!token)
            return otherwise;
        stall_ = Stall{.token = *token, .psn = expected_, .otherwise = otherwise};
    }
    return Refusal::page_absent;
}

/// The same for remote memory access.
Responder::Refusal Responder::refusal_of(memory::AccessFault fault, const Arrival& arrival,
                                         const fabric::Reth& memory) {
    const bool is_read = arrival.operation.verb == PacketOp::read;
    const std::uint64_t done = message_ ? message_->arrived : 0;
    return refusal_of(
        fault, Refusal::access,
        {.place = is_read ? queues::FaultPlace::remote_read : queues::FaultPlace::remote_write,
         .committed = static_cast<std::uint32_t>(done),
         .packet = static_cast<std::uint32_t>(arrival.packet.payload.size()),
         .key = memory.r_key,
         .address = memory.address,
         .length = memory.length});
}

void Responder::page_fault_resumed(std::uint32_t token, bool resolved) {
    responses_.page_fault_resumed(token, resolved);
    if (stall_ && stall_->token == token) {
        const Stall stall = *std::exchange(stall_, std::nullopt);
        if (!resolved && stall.psn == expected_ && queue_pair().can_receive())
            refuse(stall.otherwise);
    }
    wake_();
}

/// Sends an RNR NAK. Each one has a timer four times as long, so that the peer doesn't exhaust its
/// retries.
void Responder::put_off() {
    constexpr unsigned four_times = 4;
    constexpr unsigned longest = 28; ///< 164 ms
    auto timer = static_cast<unsigned>(std::as_const(queue_pair()).context().get<"min_rnr_nak">());
    if (timer != 0 && timer < longest) // code 0 is the longest timer
        timer = std::min(timer + four_times * stall_->refusals, longest);
    if (timer < longest)
        ++stall_->refusals;
    responses_.refuse(expected_, messages_, rnr_nak_syndrome(static_cast<std::uint8_t>(timer)));
    wake_();
}

// --- Refusals ------------------------------------------------------------------------------------

/// All NAKs except RNR NAK close the connection, after the earlier responses and the NAK have been
/// sent.
void Responder::refuse(Refusal refusal) {
    refused_ = true;
    const auto timer =
        static_cast<std::uint8_t>(std::as_const(queue_pair()).context().get<"min_rnr_nak">());
    switch (refusal) {
    case Refusal::page_absent:
        return put_off();
    case Refusal::receiver_not_ready:
        responses_.refuse(expected_, messages_, rnr_nak_syndrome(timer));
        return wake_();
    case Refusal::invalid_request:
        ++queue_pair().counts().resp_remote_invalid_request;
        [[fallthrough]];
    case Refusal::too_long:
        responses_.close(expected_, messages_, nak_syndrome(NakCode::invalid_request));
        break;
    case Refusal::access:
        ++queue_pair().counts().resp_remote_access_errors;
        responses_.close(expected_, messages_, nak_syndrome(NakCode::remote_access));
        break;
    case Refusal::queue_failed:
        if (!queue_pair().can_receive())
            return; // the QP has stopped and reset this object
        [[fallthrough]];
    case Refusal::operation:
        responses_.close(expected_, messages_, nak_syndrome(NakCode::remote_operation));
        break;
    }
    failure_ = refusal;
    wake_();
}

/// Moves the QP to ERR: with an error completion of the current receive WQE, or with an event if
/// there is none.
void Responder::fail() {
    const Refusal failure = std::exchange(failure_, std::nullopt).value_or(Refusal::access);
    const auto receive = std::exchange(receive_, std::nullopt);
    const auto owner = std::exchange(receive_owner_, nullptr);
    auto error = CompletionError::local_operation;
    auto event = hca::EventType::work_queue_invalid_request;
    switch (failure) {
    case Refusal::too_long:
        error = CompletionError::local_length;
        break;
    case Refusal::operation:
        error = CompletionError::local_protection;
        break;
    case Refusal::access:
        error = CompletionError::local_access;
        event = hca::EventType::work_queue_access_error;
        break;
    default:
        error = CompletionError::remote_invalid_request;
    }
    if (queues::is_dynamic(queue_pair().service()))
        return end_connection(receive, error);
    if (receive)
        return queue_pair().fail_receive(*receive, error);
    queue_pair().post_event(event);
    queue_pair().enter_error();
}

/// The DCT outlives its connections.
void Responder::end_connection(const std::optional<queues::RecvWqe>& receive,
                               CompletionError error) {
    ended_ = true;
    discard_message();
    if (receive)
        queue_pair().report_failed_receive(*receive, error);
}

bool Responder::send(int& budget) {
    const bool more = responses_.send(budget);
    if (responses_.is_closed())
        fail();
    return more;
}

} // namespace cxemu::transport
