// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/requester.hpp"

#include "transport/atomic_operand.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cxemu::transport {

namespace {

using queues::CompletionError;
using queues::SendOpcode;
using queues::SendWqe;
using queues::ServiceType;

/// Bytes that may be on their way without acknowledgement, and the packets that they are at least.
constexpr std::uint32_t window_bytes = 512U << 10U;
constexpr std::uint32_t smallest_window = 128;
/// One packet of so many asks for an acknowledgement, beside the last of each message.
constexpr std::uint32_t acknowledge_interval = smallest_window / 4;
/// Code of a counter that never runs out.
constexpr std::uint32_t retry_for_ever = 7;

PacketOp verb_of(SendOpcode opcode) {
    switch (opcode) {
    case SendOpcode::rdma_write:
    case SendOpcode::rdma_write_immediate:
        return PacketOp::write;
    case SendOpcode::rdma_read:
        return PacketOp::read;
    case SendOpcode::compare_swap:
    case SendOpcode::masked_compare_swap:
        return PacketOp::compare_swap;
    case SendOpcode::fetch_add:
    case SendOpcode::masked_fetch_add:
        return PacketOp::fetch_add;
    default:
        return PacketOp::send;
    }
}

bool has_masks(SendOpcode opcode) {
    return opcode == SendOpcode::masked_compare_swap || opcode == SendOpcode::masked_fetch_add;
}

AtomicRequest word_of(SendOpcode opcode, const queues::AtomicOperands& operands) {
    return {.verb = verb_of(opcode),
            .swap_or_add = operands.swap_or_add,
            .compare = operands.compare,
            .masks = {.swap_or_add = operands.swap_or_add_mask, .compare = operands.compare_mask}};
}

AtomicOperation atomic_of(const SendWqe& request) {
    AtomicOperation operation{.size = request.length};
    operation.words[0] = word_of(request.opcode, *request.atomic);
    for (std::size_t i = 0; i < request.more_words.size(); ++i)
        operation.words[i + 1] = word_of(request.opcode, request.more_words[i]);
    return operation;
}

std::uint32_t packets_of(const SendWqe& request, std::uint32_t mtu) {
    if (queues::is_atomic(request.opcode) || request.length == 0)
        return 1;
    return static_cast<std::uint32_t>((request.length + mtu - 1) / mtu);
}

CompletionError error_of(NakCode code) {
    switch (code) {
    case NakCode::invalid_request:
        return CompletionError::remote_invalid_request;
    case NakCode::remote_access:
        return CompletionError::remote_access;
    default:
        return CompletionError::remote_operation;
    }
}

} // namespace

bool Requester::UnderWay::is_answered() const {
    return request.opcode == SendOpcode::rdma_read || queues::is_atomic(request.opcode);
}

bool Requester::UnderWay::takes_receive() const {
    return (verb_of(request.opcode) == PacketOp::send && !connects) ||
           request.opcode == SendOpcode::rdma_write_immediate;
}

Requester::Requester(Channel& channel, ConnectionNumbers& numbers, std::function<void()> wake)
    : channel_(channel), numbers_(numbers), wake_(std::move(wake)),
      timer_(channel.hca().loop(), [this] { timer_expired(); }) {}

// --- State ---------------------------------------------------------------------------------------

void Requester::start() {
    forget();
    const auto context = std::as_const(queue_pair()).context();
    reliable_ = is_reliable(queue_pair().service());
    next_psn_ = unacknowledged_ = sent_ = Psn(context.get<"next_send_psn">());
    next_ssn_ = Msn(1);
    last_credited_ = Msn(0); // until the peer tells, only one request at a time
    active_ = true;
    made_progress();
}

void Requester::stop() {
    cancel_rendezvous();
    forget();
}

/// All but what waits for RTS.
void Requester::forget() {
    active_ = false;
    disconnect();
    outstanding_.clear();
    cursor_ = 0;
    cursor_packet_ = 0;
    outstanding_rd_atomic_ = 0;
    sent_ = unacknowledged_ = next_psn_;
    going_back_ = false;
    pausing_ = false;
    stall_.reset();
    timer_.stop();
}

void Requester::hold_back() {
    if (outstanding_.empty() || outstanding_.back().first != sent_ || outstanding_.back().failure)
        return;
    if (outstanding_.back().connects)
        return; // its request hasn't come yet
    const UnderWay& last = outstanding_.back();
    next_psn_ = last.first;
    next_ssn_ = last.number;
    if (last.rendezvous)
        own_.push_front({.request = last.request, .rendezvous = last.rendezvous});
    else
        queue_pair().return_send(last.request);
    outstanding_.pop_back();
}

void Requester::refresh() {
    const auto context = queue_pair().context();
    context.set<"next_send_psn">(next_psn_.value());
    context.set<"last_acked_psn">((unacknowledged_ - 1).value());
    context.set<"ssn">(next_ssn_.value());
    context.set<"cur_retry_count">(retries_left_);
    context.set<"cur_rnr_retry">(rnr_retries_left_);
}

// --- Sending -------------------------------------------------------------------------------------

bool Requester::send(int& budget) {
    while (active_ && !pausing_ && !stall_) {
        if (cursor_ == outstanding_.size() && !start_next())
            return false;
        if (!may_send())
            return false;
        if (budget == 0)
            return true;
        --budget;
        if (!send_packet())
            return false;
    }
    return false;
}

bool Requester::start_next() {
    if (start_own())
        return true;
    auto request = queue_pair().next_send();
    while (request && queue_pair().streams().contain(request->stream)) {
        queue_pair().flush_send(*request);
        request = queue_pair().next_send();
    }
    if (!request)
        return false;
    if (queues::is_dynamic(queue_pair().service()))
        return reach_target(*request);
    add(*std::move(request), std::nullopt);
    return true;
}

/// Puts a request behind those that are under way.
void Requester::add(SendWqe request, std::optional<CompletionError> failure,
                    std::shared_ptr<Rendezvous> rendezvous) {
    const std::uint32_t packets = packets_of(request, channel_.path_mtu());
    outstanding_.push_back({.request = std::move(request),
                          .first = next_psn_,
                          .packets = packets,
                          .arrived = 0,
                          .number = next_ssn_,
                          .failure = failure,
                          .rendezvous = std::move(rendezvous)});
    next_psn_ += packets;
    next_ssn_ += 1;
}

// --- Rendezvous ----------------------------------------------------------------------------------

void Requester::fetch(Rendezvous rendezvous) {
    auto shared = std::make_shared<Rendezvous>(std::move(rendezvous));
    own_.push_back({.request = shared->read(), .rendezvous = shared});
    wake_();
}

bool Requester::start_own() {
    if (own_.empty() || !queue_pair().can_send())
        return false;
    Own next = std::move(own_.front());
    own_.pop_front();
    add(std::move(next.request), std::nullopt, std::move(next.rendezvous));
    return true;
}

/// The data is there, or the peer knows that it is.
void Requester::own_completed(const UnderWay& done) {
    if (done.request.opcode != SendOpcode::rdma_read)
        return;
    const auto rendezvous = done.rendezvous;
    own_.push_back({.request = rendezvous->finish(), .rendezvous = rendezvous});
    queue_pair().complete_receive(rendezvous->receive, rendezvous->completion);
    wake_();
}

void Requester::own_failed(UnderWay failed, CompletionError error) {
    own_.push_front({.request = std::move(failed.request), .rendezvous = failed.rendezvous});
    queue_pair().post_event(error == CompletionError::local_protection
                                ? hca::EventType::work_queue_access_error
                                : hca::EventType::work_queue_invalid_request);
    queue_pair().enter_error();
}

void Requester::cancel_rendezvous() {
    auto canceled = std::exchange(own_, {});
    for (const UnderWay& request : outstanding_) {
        if (request.rendezvous)
            canceled.push_back({.request = request.request, .rendezvous = request.rendezvous});
    }
    for (const Own& own : canceled) {
        if (own.reads())
            queue_pair().cancel_tag(own.rendezvous->receive, own.rendezvous->index);
    }
}

// --- Dynamic connections -------------------------------------------------------------------------

namespace {

/// Where \p address leads, for a connection that has no number yet.
DcPeer peer_at(const queues::AddressVector& address, const fabric::HcaPort& port) {
    DcPeer peer{.queue_pair = address.destination_qp,
                     .lid = address.remote_lid,
                     .path_bits = address.path_bits,
                     .service_level = address.service_level,
                     .force_loopback = address.force_loopback,
                     .global = std::nullopt,
                     .header = {.access_key = address.access_key}};
    if (address.has_grh)
        peer.global = fabric::Grh{.traffic_class = address.traffic_class,
                                          .flow_label = address.flow_label,
                                          .hop_limit = address.hop_limit,
                                          .source = port.gid(address.source_gid_index),
                                          .destination = fabric::Gid(address.remote_gid)};
    return peer;
}

bool is_possible(const queues::AddressVector& address, const fabric::HcaPort* port) {
    return port != nullptr && fabric::is_unicast(address.remote_lid) &&
           (!address.has_grh || address.source_gid_index < port->gid_count());
}

} // namespace

bool Requester::is_connected_for(const SendWqe& request) const {
    if (!channel_.peer() || stream_ != request.stream)
        return false;
    DcPeer wanted = peer_at(*request.address, *channel_.port());
    wanted.header = channel_.peer()->header;
    return wanted == *channel_.peer() && wanted.header.access_key == request.address->access_key;
}

/// \return false when the request has to wait, or can't go anywhere
bool Requester::reach_target(const SendWqe& request) {
    const bool possible = is_possible(*request.address, channel_.port());
    if (possible && is_connected_for(request)) {
        add(request, std::nullopt);
        return true;
    }
    if (!outstanding_.empty()) {
        queue_pair().return_send(request);
        return false;
    }
    disconnect();
    if (possible)
        connect(request);
    add(request, possible ? std::nullopt : std::optional(CompletionError::local_operation));
    report_local_failure();
    return active_ && possible;
}

/// Begins a connection. Targets take receive requests from queues that they share, so there are no
/// credits to wait for.
void Requester::connect(const SendWqe& request) {
    DcPeer peer = peer_at(*request.address, *channel_.port());
    peer.header.connection = numbers_.next();
    peer.header.source_qp = queue_pair().number();
    channel_.set_peer(peer);
    stream_ = request.stream;
    next_ssn_ = Msn(1);
    last_credited_ = std::nullopt;
    outstanding_.push_back({.request = {},
                          .first = next_psn_,
                          .number = {},
                          .connects = true,
                          .failure = std::nullopt,
                          .rendezvous = nullptr});
    next_psn_ += 1;
    made_progress();
}

/// Nobody answers: should it get lost, the target keeps the connection until the next one.
void Requester::disconnect() {
    auto headers = channel_.peer() ? channel_.headers() : std::nullopt;
    if (headers) {
        headers->transport.opcode = opcode_of(queue_pair().service(), {.verb = PacketOp::disconnect});
        headers->transport.psn = next_psn_.value();
        channel_.send(fabric::build(*headers, {}));
    }
    channel_.set_peer(std::nullopt);
}

void Requester::send_connect(const UnderWay& next) {
    auto headers = channel_.headers();
    if (!headers)
        return;
    headers->transport.opcode = opcode_of(queue_pair().service(), {.verb = PacketOp::connect});
    headers->transport.acknowledge_request = true;
    headers->transport.psn = next.first.value();
    channel_.send(fabric::build(*headers, {}));
}

// --- Packets -------------------------------------------------------------------------------------

Psn Requester::cursor_psn() const {
    return cursor_ == outstanding_.size() ? next_psn_ : outstanding_[cursor_].first + cursor_packet_;
}

/// Whether the packet at the cursor may go out now. If not, something that is on its way will
/// change that.
bool Requester::may_send() const {
    const UnderWay& next = outstanding_[cursor_];
    if (next.failure)
        return false;
    if (!reliable_)
        return true;
    if (next.end().after(unacknowledged_) > Psn::half)
        return false;
    if (next.is_answered()) {
        const auto most = 1U << std::as_const(queue_pair()).context().get<"log_sra_max">();
        return outstanding_rd_atomic_ < most;
    }
    const std::uint32_t window = std::max(smallest_window, window_bytes / channel_.path_mtu());
    return cursor_psn().after(unacknowledged_) < window && may_use_receive(next);
}

bool Requester::is_credited(const UnderWay& next) const {
    return !last_credited_ || !next.takes_receive() || !last_credited_->precedes(next.number);
}

/// Without credit the first packet goes out alone, and the rest of the message once that has been
/// acknowledged (IBA volume 1, 9.7.7.2).
bool Requester::may_use_receive(const UnderWay& next) const {
    const bool is_oldest = cursor_ == 0;
    const bool has_begun = cursor_packet_ != 0;
    return is_credited(next) || (is_oldest && (!has_begun || unacknowledged_ != next.first));
}

/// \return false when nothing more can be sent
bool Requester::send_packet() {
    UnderWay& next = outstanding_[cursor_];
    if (next.connects) {
        send_connect(next);
        advance();
        return true;
    }
    switch (verb_of(next.request.opcode)) {
    case PacketOp::read:
        send_read(next);
        break;
    case PacketOp::compare_swap:
    case PacketOp::fetch_add:
        send_atomic(next);
        break;
    default:
        if (!send_part(next))
            return false;
    }
    advance();
    return true;
}

/// Verb and place of the packet at the cursor, which carries data.
Operation Requester::part_of(const UnderWay& next) const {
    Operation operation{.verb = verb_of(next.request.opcode),
                        .first = cursor_packet_ == 0,
                        .last = cursor_packet_ + 1 == next.packets};
    operation.immediate =
        operation.last && (next.request.opcode == SendOpcode::send_immediate ||
                           next.request.opcode == SendOpcode::rdma_write_immediate);
    operation.invalidate = operation.last && next.request.opcode == SendOpcode::send_invalidate;
    return operation;
}

bool Requester::wants_acknowledgement(const UnderWay& next, const Operation& operation) const {
    const bool is_probe = operation.first && !is_credited(next);
    return reliable_ &&
           (operation.last || is_probe || (cursor_packet_ + 1) % acknowledge_interval == 0);
}

bool Requester::send_part(UnderWay& next) {
    const std::uint32_t mtu = channel_.path_mtu();
    const std::uint64_t offset = std::uint64_t{cursor_packet_} * mtu;
    const auto size = std::min<std::uint64_t>(mtu, next.request.length - offset);
    const Operation operation = part_of(next);
    auto headers = channel_.headers();
    if (!headers)
        return true; // as if it were lost
    headers->transport.opcode = opcode_of(queue_pair().service(), operation);
    headers->transport.solicited_event = operation.last && next.request.solicited;
    headers->transport.acknowledge_request = wants_acknowledgement(next, operation);
    headers->transport.psn = cursor_psn().value();
    headers->xrc_srq = next.request.xrc_srq;
    if (operation.verb == PacketOp::write && operation.first)
        headers->rdma = {.address = next.request.remote->address,
                         .r_key = next.request.remote->key,
                         .length = static_cast<std::uint32_t>(next.request.length)};
    if (operation.immediate)
        headers->immediate = next.request.immediate;
    if (operation.invalidate)
        headers->invalidate = next.request.immediate;
    fabric::PacketDraft draft(*headers, size);
    if (const auto data = queue_pair().gather(next.request, offset, draft.payload()); !data) {
        if (data.error() != memory::AccessFault::page_absent ||
            !stall(next, queues::FaultPlace::send_or_write, offset, size))
            fail_locally(next, CompletionError::local_protection);
        return false;
    }
    channel_.send(std::move(draft).finish());
    return true;
}

/// A read that is repeated asks for what is missing only.
void Requester::send_read(const UnderWay& next) {
    auto headers = channel_.headers();
    if (!headers)
        return;
    const std::uint64_t offset = std::uint64_t{next.arrived} * channel_.path_mtu();
    headers->transport.opcode = opcode_of(queue_pair().service(), {.verb = PacketOp::read});
    headers->transport.acknowledge_request = true;
    headers->transport.psn = (next.first + next.arrived).value();
    headers->xrc_srq = next.request.xrc_srq;
    headers->rdma = {.address = next.request.remote->address + offset,
                     .r_key = next.request.remote->key,
                     .length = static_cast<std::uint32_t>(next.request.length - offset)};
    channel_.send(fabric::build(*headers, {}));
}

void Requester::send_atomic(const UnderWay& next) {
    auto headers = channel_.headers();
    if (!headers)
        return;
    const SendWqe& request = next.request;
    headers->transport.opcode =
        opcode_of(queue_pair().service(), {.verb = verb_of(request.opcode)});
    headers->transport.acknowledge_request = true;
    headers->transport.psn = next.first.value();
    headers->xrc_srq = request.xrc_srq;
    headers->atomic = {.address = request.remote->address,
                       .r_key = request.remote->key,
                       .swap_or_add = request.atomic->swap_or_add,
                       .compare = request.atomic->compare};
    if (!has_masks(request.opcode))
        return channel_.send(fabric::build(*headers, {}));
    channel_.send(fabric::build(*headers, encode_payload(atomic_of(request))));
}

/// The packet at the cursor has been sent.
void Requester::advance() {
    const UnderWay& sent = outstanding_[cursor_];
    if (sent.is_answered()) {
        cursor_packet_ = sent.packets;
        ++outstanding_rd_atomic_;
    } else {
        ++cursor_packet_;
    }
    if (!has_packets_in_flight())
        last_progress_ = channel_.hca().loop().now(); // the time before doesn't count
    const Psn end = sent.first + cursor_packet_;
    if (end.after(unacknowledged_) > sent_.after(unacknowledged_))
        sent_ = end;
    if (cursor_packet_ == sent.packets) {
        ++cursor_;
        cursor_packet_ = 0;
    }
    if (reliable_) {
        watch();
    } else if (cursor_ != 0) {
        unacknowledged_ = sent_;
        complete_front({});
    }
}

/// A request can't go on for a reason on this side. Those before it end first.
void Requester::fail_locally(UnderWay& next, CompletionError error) {
    next.failure = error;
    report_local_failure();
}

void Requester::report_local_failure() {
    if (!active_ || outstanding_.empty())
        return;
    const bool behind_connect = outstanding_.front().connects && outstanding_.size() > 1;
    const UnderWay& oldest = outstanding_[behind_connect ? 1 : 0];
    if (oldest.failure)
        fail_front(*oldest.failure);
}

// --- Page faults ---------------------------------------------------------------------------------

/// \param done bytes of the request before the packet of \p size bytes that needs the page
/// \return false when software can't be told
bool Requester::stall(const UnderWay& request, queues::FaultPlace place, std::uint64_t done,
                      std::size_t size) {
    const auto token = queue_pair().raise_page_fault({.place = place,
                                                      .committed = static_cast<std::uint32_t>(done),
                                                      .packet = static_cast<std::uint32_t>(size),
                                                      .index = request.request.index});
    if (token)
        stall_ = Stall{.token = *token, .index = request.request.index};
    return token.has_value();
}

/// An answer can't be stored. It is dropped, with all that follow, and asked for again once the
/// page is there. If a page is waited for already, this one is found missing then.
bool Requester::waits_for_page(memory::AccessFault fault, const UnderWay& answered,
                               std::size_t size) {
    const std::uint64_t done = std::uint64_t{answered.arrived} * channel_.path_mtu();
    if (fault != memory::AccessFault::page_absent || answered.rendezvous ||
        (!stall_ && !stall(answered, queues::FaultPlace::read_or_atomic, done, size)))
        return false;
    stall_->repeats = true;
    going_back_ = true;
    return true;
}

void Requester::page_fault_resumed(std::uint32_t token, bool resolved) {
    if (!stall_ || stall_->token != token)
        return;
    const Stall stall = *std::exchange(stall_, std::nullopt);
    if (!active_)
        return;
    last_progress_ = channel_.hca().loop().now(); // the time before doesn't count
    if (stall.repeats && !outstanding_.empty())
        go_back();
    const auto waiting = std::ranges::find_if(outstanding_, [&](const UnderWay& request) {
        return !request.rendezvous && request.request.index == stall.index;
    });
    if (!resolved && waiting != outstanding_.end())
        fail_locally(*waiting, CompletionError::local_protection);
    if (active_)
        wake_();
}

// --- Answers -------------------------------------------------------------------------------------

bool Requester::is_in_flight(Psn psn) const {
    return psn.after(unacknowledged_) < sent_.after(unacknowledged_);
}

void Requester::response_arrived(const fabric::ParsedPacket& packet, const Operation& operation) {
    if (!active_ || !reliable_ || !is_in_flight(Psn(packet.headers.transport.psn)))
        return; // late, or made up
    if (operation.verb == PacketOp::acknowledge)
        acknowledged(packet);
    else
        answered(packet, operation);
    if (!active_)
        return;
    report_local_failure();
    if (active_)
        wake_();
}

void Requester::acknowledged(const fabric::ParsedPacket& packet) {
    const Psn psn(packet.headers.transport.psn);
    const Syndrome syndrome = decode_syndrome(packet.headers.ack->syndrome);
    switch (syndrome.kind) {
    case Syndrome::Kind::acknowledge:
        take_credits(*packet.headers.ack);
        acknowledge_before(psn + 1);
        break;
    case Syndrome::Kind::receiver_not_ready:
        not_ready(psn, syndrome.value);
        break;
    case Syndrome::Kind::refusal:
        refused(psn, syndrome.value);
        break;
    case Syndrome::Kind::reserved:
        break;
    }
}

/// The peer has taken all packets before \p end.
/// \return false when the queue pair has stopped, or answers are missing that should have come
///         before this one
bool Requester::acknowledge_before(Psn end) {
    while (end != unacknowledged_) {
        const UnderWay& front = outstanding_.front();
        if (front.is_answered()) {
            responses_missing();
            return false;
        }
        made_progress();
        if (end.after(unacknowledged_) < front.end().after(unacknowledged_)) {
            unacknowledged_ = end;
            if (cursor_ == 0)
                cursor_packet_ = std::max(cursor_packet_, end.after(front.first));
            break;
        }
        unacknowledged_ = front.end();
        complete_front({});
        if (!active_)
            return false;
    }
    return true;
}

void Requester::take_credits(const fabric::Aeth& header) {
    const auto credits = credits_of(decode_syndrome(header.syndrome).value);
    last_credited_ = credits ? std::optional(Msn(header.msn) + *credits) : std::nullopt;
}

void Requester::answered(const fabric::ParsedPacket& packet, const Operation& operation) {
    const Psn psn(packet.headers.transport.psn);
    if (!acknowledge_before(psn))
        return;
    if (packet.headers.ack)
        take_credits(*packet.headers.ack);
    UnderWay& front = outstanding_.front();
    std::vector<std::byte> value;
    std::span<const std::byte> data = packet.payload;
    if (packet.headers.atomic_ack) {
        value = value_for_memory(channel_.hca(), *packet.headers.atomic_ack, packet.payload,
                                 front.request.length);
        data = value;
    }
    if (!is_answer_to(front, operation, data.size()))
        return fail_front(CompletionError::bad_response);
    if (const auto stored = store_answer(front, data); !stored) {
        if (waits_for_page(stored.error(), front, data.size()))
            return;
        return fail_front(CompletionError::local_protection);
    }
    made_progress();
    unacknowledged_ = psn + 1;
    ++front.arrived;
    if (cursor_ == 0)
        cursor_packet_ = front.arrived; // it was to be repeated, but the answer has come
    if (front.arrived == front.packets)
        complete_front(data);
}

/// Whether \p size bytes that came with \p operation are the next answer to the oldest request.
bool Requester::is_answer_to(const UnderWay& oldest, const Operation& operation,
                             std::size_t size) const {
    const SendWqe& request = oldest.request;
    const PacketOp wanted =
        queues::is_atomic(request.opcode) ? PacketOp::atomic_acknowledge : PacketOp::read_response;
    const std::uint32_t mtu = channel_.path_mtu();
    const std::uint64_t offset = std::uint64_t{oldest.arrived} * mtu;
    const bool is_last = oldest.arrived + 1 == oldest.packets;
    return oldest.is_answered() && operation.verb == wanted && operation.last == is_last &&
           size == std::min<std::uint64_t>(request.length - offset, mtu);
}

memory::AccessResult<void> Requester::store_answer(const UnderWay& oldest,
                                                   std::span<const std::byte> data) {
    const SendWqe& request = oldest.request;
    if (oldest.rendezvous)
        return queue_pair().scatter(oldest.rendezvous->receive,
                                    std::uint64_t{oldest.arrived} * channel_.path_mtu(), data);
    if (queue_pair().response_fits_in_completion(request, request.length))
        return {};
    return queue_pair().scatter_response(request,
                                         std::uint64_t{oldest.arrived} * channel_.path_mtu(), data);
}

Requester::UnderWay Requester::take_front() {
    UnderWay front = std::move(outstanding_.front());
    outstanding_.pop_front();
    if (cursor_ == 0) {
        cursor_packet_ = 0; // acknowledged before it was repeated
    } else {
        --cursor_;
        outstanding_rd_atomic_ -= front.is_answered() ? 1 : 0;
    }
    return front;
}

/// \param data of the answer, if it goes into the completion
void Requester::complete_front(std::span<const std::byte> data) {
    const UnderWay done = take_front();
    if (done.connects)
        return;
    if (done.rendezvous)
        return own_completed(done);
    const auto length = static_cast<std::uint32_t>(done.is_answered() ? done.request.length : 0);
    const bool attached =
        done.is_answered() && queue_pair().response_fits_in_completion(done.request, length);
    queue_pair().complete_send(done.request, length,
                               attached ? data : std::span<const std::byte>());
}

void Requester::fail_front(CompletionError error) {
    UnderWay failed = take_front();
    if (failed.connects) {
        if (outstanding_.empty())
            return disconnect(); // the request has been held back: it tries again
        failed = take_front();
    }
    if (failed.rendezvous)
        return own_failed(std::move(failed), error);
    queue_pair().fail_send(failed.request, error);
    if (active_)
        give_up_stream();
}

/// A stream of a dynamic initiator has failed. All that is under way is of this stream.
void Requester::give_up_stream() {
    const auto rest = std::exchange(outstanding_, {});
    stop();
    active_ = true;
    for (const UnderWay& behind : rest)
        queue_pair().flush_send(behind.request);
    wake_();
}

void Requester::made_progress() {
    const auto context = std::as_const(queue_pair()).context();
    retries_left_ = static_cast<std::uint32_t>(context.get<"retry_count">());
    rnr_retries_left_ = static_cast<std::uint32_t>(context.get<"rnr_retry">());
    going_back_ = false;
    last_progress_ = channel_.hca().loop().now();
}

// --- Repetition ----------------------------------------------------------------------------------

/// Something arrived that the peer sends after answers which have not arrived.
void Requester::responses_missing() {
    if (going_back_)
        return;
    ++queue_pair().counts().implied_nak_seq_err;
    retry();
}

void Requester::refused(Psn psn, std::uint8_t code) {
    if (!acknowledge_before(psn))
        return;
    if (code != static_cast<std::uint8_t>(NakCode::sequence_error))
        return fail_front(error_of(static_cast<NakCode>(code)));
    ++queue_pair().counts().packet_seq_err;
    retry();
}

/// The peer has nothing posted for the packet \p psn.
void Requester::not_ready(Psn psn, std::uint8_t timer) {
    if (!acknowledge_before(psn))
        return;
    ++queue_pair().counts().rnr_nak_retry_err;
    if (rnr_retries_left_ == 0) {
        ++queue_pair().counts().req_rnr_retries_exceeded;
        return fail_front(CompletionError::rnr_retry_exceeded);
    }
    if (rnr_retries_left_ != retry_for_ever)
        --rnr_retries_left_;
    go_back();
    pausing_ = true;
    timer_.start(not_ready_delay(timer));
}

void Requester::retry() {
    if (retries_left_ != 0) {
        --retries_left_;
    } else if (channel_.migration().give_up_primary()) {
        made_progress(); // all retries again, on the alternate path
    } else {
        ++queue_pair().counts().req_transport_retries_exceeded;
        return fail_front(CompletionError::transport_retries);
    }
    go_back();
    wake_();
}

/// The oldest packet that isn't acknowledged is the next to be sent.
void Requester::go_back() {
    cursor_ = 0;
    cursor_packet_ = unacknowledged_.after(outstanding_.front().first);
    outstanding_rd_atomic_ = 0;
    going_back_ = true;
    last_progress_ = channel_.hca().loop().now();
}

std::optional<EventLoop::Duration> Requester::answer_timeout() const {
    return acknowledge_timeout(static_cast<std::uint8_t>(
        std::as_const(queue_pair()).context().get<"primary_address_path.ack_timeout">()));
}

/// Sees to it that a loss is noticed. The timer isn't started anew at each packet: when it expires
/// it looks at when the last progress was made.
void Requester::watch() {
    const auto timeout = answer_timeout();
    if (timeout && !timer_.active())
        timer_.start(*timeout);
}

void Requester::timer_expired() {
    if (std::exchange(pausing_, false))
        return wake_();
    const auto timeout = answer_timeout();
    if (!has_packets_in_flight() || !timeout)
        return;
    if (stall_)
        return timer_.start(*timeout); // not the peer is waited for
    const auto waited = channel_.hca().loop().now() - last_progress_;
    if (waited < *timeout)
        return timer_.start(*timeout - waited);
    ++queue_pair().counts().local_ack_timeout_err;
    retry();
    if (active_)
        timer_.start(*timeout);
}

} // namespace cxemu::transport
