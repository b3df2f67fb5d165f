// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/requester.hpp"

#include "transport/atomic_operation.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cxemu::transport {

namespace {

using queues::CompletionError;
using queues::SendOpcode;
using queues::SendWqe;
using queues::ServiceType;

/// Maximum number of unacknowledged bytes, and number of packets that may be unacknowledged
/// whatever their size.
constexpr std::uint32_t window_bytes = 512U << 10U;
constexpr std::uint32_t smallest_window = 128;
/// One out of this number of packets requests an ACK, and so does the last packet of each message.
constexpr std::uint32_t acknowledge_interval = smallest_window / 4;
/// Code of an infinite retry counter.
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

bool Requester::Outstanding::is_read_or_atomic() const {
    return request.opcode == SendOpcode::rdma_read || queues::is_atomic(request.opcode);
}

bool Requester::Outstanding::takes_receive() const {
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
    last_credited_ = Msn(0); // one request at a time until the peer advertises credits
    active_ = true;
    made_progress();
}

void Requester::stop() {
    cancel_rendezvous();
    forget();
}

/// Clears everything but pending rendezvous reads.
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
        return; // the request hasn't arrived yet
    const Outstanding& last = outstanding_.back();
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

/// Appends a WQE to the outstanding ones.
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

/// The data has been read, or the peer has been notified.
void Requester::own_completed(const Outstanding& done) {
    if (done.request.opcode != SendOpcode::rdma_read)
        return;
    const auto rendezvous = done.rendezvous;
    own_.push_back({.request = rendezvous->finish(), .rendezvous = rendezvous});
    queue_pair().complete_receive(rendezvous->receive, rendezvous->completion);
    wake_();
}

void Requester::own_failed(Outstanding failed, CompletionError error) {
    own_.push_front({.request = std::move(failed.request), .rendezvous = failed.rendezvous});
    queue_pair().post_event(error == CompletionError::local_protection
                                ? hca::EventType::work_queue_access_error
                                : hca::EventType::work_queue_invalid_request);
    queue_pair().enter_error();
}

void Requester::cancel_rendezvous() {
    auto canceled = std::exchange(own_, {});
    for (const Outstanding& request : outstanding_) {
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

/// The peer of \p address, for a connection without number.
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

/// \return false when the WQE must wait, or its address is invalid
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

/// Starts a connection. DCTs take receive WQEs from SRQs, so there are no credits.
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

/// The packet is not acknowledged. If it is lost, the DCT keeps the connection until the DCI
/// connects again.
void Requester::disconnect() {
    auto headers = channel_.peer() ? channel_.headers() : std::nullopt;
    if (headers) {
        headers->transport.opcode =
            opcode_of(queue_pair().service(), {.verb = PacketOp::disconnect});
        headers->transport.psn = next_psn_.value();
        channel_.send(fabric::build(*headers, {}));
    }
    channel_.set_peer(std::nullopt);
}

void Requester::send_connect(const Outstanding& next) {
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
    return cursor_ == outstanding_.size() ? next_psn_
                                          : outstanding_[cursor_].first + cursor_packet_;
}

/// Returns true if the packet at the cursor may be sent now. If not, an outstanding response will
/// trigger it.
bool Requester::may_send() const {
    const Outstanding& next = outstanding_[cursor_];
    if (next.failure)
        return false;
    if (!reliable_)
        return true;
    if (next.end().after(unacknowledged_) > Psn::half)
        return false;
    if (next.is_read_or_atomic()) {
        const auto max = 1U << std::as_const(queue_pair()).context().get<"log_sra_max">();
        return outstanding_rd_atomic_ < max;
    }
    const std::uint32_t window = std::max(smallest_window, window_bytes / channel_.path_mtu());
    return cursor_psn().after(unacknowledged_) < window && may_use_receive(next);
}

bool Requester::is_credited(const Outstanding& next) const {
    return !last_credited_ || !next.takes_receive() || !last_credited_->precedes(next.number);
}

/// Without credits the first packet is sent alone, and the rest of the message after its ACK (IBA
/// volume 1, 9.7.7.2).
bool Requester::may_use_receive(const Outstanding& next) const {
    const bool is_oldest = cursor_ == 0;
    const bool has_begun = cursor_packet_ != 0;
    return is_credited(next) || (is_oldest && (!has_begun || unacknowledged_ != next.first));
}

/// \return false when nothing more can be sent
bool Requester::send_packet() {
    Outstanding& next = outstanding_[cursor_];
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

/// Operation and position of the data packet at the cursor.
Operation Requester::part_of(const Outstanding& next) const {
    Operation operation{.verb = verb_of(next.request.opcode),
                        .first = cursor_packet_ == 0,
                        .last = cursor_packet_ + 1 == next.packets};
    operation.immediate =
        operation.last && (next.request.opcode == SendOpcode::send_immediate ||
                           next.request.opcode == SendOpcode::rdma_write_immediate);
    operation.invalidate = operation.last && next.request.opcode == SendOpcode::send_invalidate;
    return operation;
}

bool Requester::wants_acknowledgement(const Outstanding& next, const Operation& operation) const {
    const bool is_probe = operation.first && !is_credited(next);
    return reliable_ &&
           (operation.last || is_probe || (cursor_packet_ + 1) % acknowledge_interval == 0);
}

bool Requester::send_part(Outstanding& next) {
    const std::uint32_t mtu = channel_.path_mtu();
    const std::uint64_t offset = std::uint64_t{cursor_packet_} * mtu;
    const auto size = std::min<std::uint64_t>(mtu, next.request.length - offset);
    const Operation operation = part_of(next);
    auto headers = channel_.headers();
    if (!headers)
        return true; // dropped, as if it were lost
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

/// A retried read requests only the missing part.
void Requester::send_read(const Outstanding& next) {
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

void Requester::send_atomic(const Outstanding& next) {
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
    const Outstanding& sent = outstanding_[cursor_];
    if (sent.is_read_or_atomic()) {
        cursor_packet_ = sent.packets;
        ++outstanding_rd_atomic_;
    } else {
        ++cursor_packet_;
    }
    if (!has_packets_in_flight())
        last_progress_ = channel_.hca().loop().now(); // start of the timeout
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

/// A WQE fails at the requester. It completes in error after all earlier WQEs.
void Requester::fail_locally(Outstanding& next, CompletionError error) {
    next.failure = error;
    report_local_failure();
}

void Requester::report_local_failure() {
    if (!active_ || outstanding_.empty())
        return;
    const bool behind_connect = outstanding_.front().connects && outstanding_.size() > 1;
    const Outstanding& oldest = outstanding_[behind_connect ? 1 : 0];
    if (oldest.failure)
        fail_front(*oldest.failure);
}

// --- Page faults ---------------------------------------------------------------------------------

/// \param done bytes of the WQE before the packet of \p size bytes that needs the page
/// \return false when software can't be notified of the fault
bool Requester::stall(const Outstanding& request, queues::FaultPlace place, std::uint64_t done,
                      std::size_t size) {
    const auto token = queue_pair().raise_page_fault({.place = place,
                                                      .committed = static_cast<std::uint32_t>(done),
                                                      .packet = static_cast<std::uint32_t>(size),
                                                      .index = request.request.index});
    if (token)
        stall_ = Stall{.token = *token, .index = request.request.index};
    return token.has_value();
}

/// Page fault while a response is stored. This response and all following ones are dropped and
/// requested again after the fault is resolved. If another fault is outstanding, this one is raised
/// after the retry.
bool Requester::waits_for_page(memory::AccessFault fault, const Outstanding& response_received,
                               std::size_t size) {
    const std::uint64_t done = std::uint64_t{response_received.arrived} * channel_.path_mtu();
    if (fault != memory::AccessFault::page_absent || response_received.rendezvous ||
        (!stall_ && !stall(response_received, queues::FaultPlace::read_or_atomic, done, size)))
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
    last_progress_ = channel_.hca().loop().now(); // start of the timeout
    if (stall.repeats && !outstanding_.empty())
        go_back();
    const auto waiting = std::ranges::find_if(outstanding_, [&](const Outstanding& request) {
        return !request.rendezvous && request.request.index == stall.index;
    });
    if (!resolved && waiting != outstanding_.end())
        fail_locally(*waiting, CompletionError::local_protection);
    if (active_)
        wake_();
}

// --- Responses -----------------------------------------------------------------------------------

bool Requester::is_in_flight(Psn psn) const {
    return psn.after(unacknowledged_) < sent_.after(unacknowledged_);
}

void Requester::response_arrived(const fabric::ParsedPacket& packet, const Operation& operation) {
    if (!active_ || !reliable_ || !is_in_flight(Psn(packet.headers.transport.psn)))
        return; // late or forged
    if (operation.verb == PacketOp::acknowledge)
        acknowledged(packet);
    else
        response_received(packet, operation);
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

/// The peer has acknowledged all packets before \p end.
/// \return false when the QP has stopped, or responses before this one are missing
bool Requester::acknowledge_before(Psn end) {
    while (end != unacknowledged_) {
        const Outstanding& front = outstanding_.front();
        if (front.is_read_or_atomic()) {
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

void Requester::response_received(const fabric::ParsedPacket& packet, const Operation& operation) {
    const Psn psn(packet.headers.transport.psn);
    if (!acknowledge_before(psn))
        return;
    if (packet.headers.ack)
        take_credits(*packet.headers.ack);
    Outstanding& front = outstanding_.front();
    std::vector<std::byte> value;
    std::span<const std::byte> data = packet.payload;
    if (packet.headers.atomic_ack) {
        value = value_for_memory(channel_.hca(), *packet.headers.atomic_ack, packet.payload,
                                 front.request.length);
        data = value;
    }
    if (!is_response_to(front, operation, data.size()))
        return fail_front(CompletionError::bad_response);
    if (const auto stored = store_response(front, data); !stored) {
        if (waits_for_page(stored.error(), front, data.size()))
            return;
        return fail_front(CompletionError::local_protection);
    }
    made_progress();
    unacknowledged_ = psn + 1;
    ++front.arrived;
    if (cursor_ == 0)
        cursor_packet_ = front.arrived; // a retry was pending, but the response has arrived
    if (front.arrived == front.packets)
        complete_front(data);
}

/// Whether \p size bytes of \p operation are the next response to the oldest request.
bool Requester::is_response_to(const Outstanding& oldest, const Operation& operation,
                               std::size_t size) const {
    const SendWqe& request = oldest.request;
    const PacketOp wanted =
        queues::is_atomic(request.opcode) ? PacketOp::atomic_acknowledge : PacketOp::read_response;
    const std::uint32_t mtu = channel_.path_mtu();
    const std::uint64_t offset = std::uint64_t{oldest.arrived} * mtu;
    const bool is_last = oldest.arrived + 1 == oldest.packets;
    return oldest.is_read_or_atomic() && operation.verb == wanted && operation.last == is_last &&
           size == std::min<std::uint64_t>(request.length - offset, mtu);
}

memory::AccessResult<void> Requester::store_response(const Outstanding& oldest,
                                                     std::span<const std::byte> data) {
    const SendWqe& request = oldest.request;
    if (oldest.rendezvous)
        return queue_pair().scatter(oldest.rendezvous->receive,
                                    std::uint64_t{oldest.arrived} * channel_.path_mtu(), data);
    if (queue_pair().response_fits_scatter_to_cqe(request, request.length))
        return {};
    return queue_pair().scatter_response(request,
                                         std::uint64_t{oldest.arrived} * channel_.path_mtu(), data);
}

Requester::Outstanding Requester::take_front() {
    Outstanding front = std::move(outstanding_.front());
    outstanding_.pop_front();
    if (cursor_ == 0) {
        cursor_packet_ = 0; // acknowledged before the retry was sent
    } else {
        --cursor_;
        outstanding_rd_atomic_ -= front.is_read_or_atomic() ? 1 : 0;
    }
    return front;
}

/// \param data of the response, if scattered to the CQE
void Requester::complete_front(std::span<const std::byte> data) {
    const Outstanding done = take_front();
    if (done.connects)
        return;
    if (done.rendezvous)
        return own_completed(done);
    const auto length =
        static_cast<std::uint32_t>(done.is_read_or_atomic() ? done.request.length : 0);
    const bool attached =
        done.is_read_or_atomic() && queue_pair().response_fits_scatter_to_cqe(done.request, length);
    queue_pair().complete_send(done.request, length,
                               attached ? data : std::span<const std::byte>());
}

void Requester::fail_front(CompletionError error) {
    Outstanding failed = take_front();
    if (failed.connects) {
        if (outstanding_.empty())
            return disconnect(); // the WQE has been deferred: try again
        failed = take_front();
    }
    if (failed.rendezvous)
        return own_failed(std::move(failed), error);
    queue_pair().fail_send(failed.request, error);
    if (active_)
        fail_stream();
}

/// A DCI stream has failed. All outstanding WQEs are of this stream.
void Requester::fail_stream() {
    const auto rest = std::exchange(outstanding_, {});
    stop();
    active_ = true;
    for (const Outstanding& behind : rest)
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

/// A later packet has arrived before outstanding responses.
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

/// RNR NAK for the packet \p psn.
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
    } else if (channel_.migration().leave_primary()) {
        made_progress(); // the retry counters restart on the alternate path
    } else {
        ++queue_pair().counts().req_transport_retries_exceeded;
        return fail_front(CompletionError::transport_retries);
    }
    go_back();
    wake_();
}

/// Restarts with the oldest unacknowledged packet.
void Requester::go_back() {
    cursor_ = 0;
    cursor_packet_ = unacknowledged_.after(outstanding_.front().first);
    outstanding_rd_atomic_ = 0;
    going_back_ = true;
    last_progress_ = channel_.hca().loop().now();
}

std::optional<EventLoop::Duration> Requester::ack_timeout() const {
    return acknowledge_timeout(static_cast<std::uint8_t>(
        std::as_const(queue_pair()).context().get<"primary_address_path.ack_timeout">()));
}

/// Starts loss detection. The timer isn't restarted at each packet: on expiry it compares the time
/// of the last progress.
void Requester::watch() {
    const auto timeout = ack_timeout();
    if (timeout && !timer_.active())
        timer_.start(*timeout);
}

void Requester::timer_expired() {
    if (std::exchange(pausing_, false))
        return wake_();
    const auto timeout = ack_timeout();
    if (!has_packets_in_flight() || !timeout)
        return;
    if (stall_)
        return timer_.start(*timeout); // the peer owes no response
    const auto waited = channel_.hca().loop().now() - last_progress_;
    if (waited < *timeout)
        return timer_.start(*timeout - waited);
    ++queue_pair().counts().local_ack_timeout_err;
    retry();
    if (active_)
        timer_.start(*timeout);
}

} // namespace cxemu::transport
