// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/responses.hpp"

#include "transport/acknowledgement.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::transport {

namespace {

template <class Kind>
bool is_read_or_atomic(Kind kind) {
    return kind == Kind::read || kind == Kind::atomic;
}

} // namespace

std::uint32_t ReadJob::packets(std::uint32_t mtu) const {
    return memory.length == 0
               ? 1
               : static_cast<std::uint32_t>((std::uint64_t{memory.length} + mtu - 1) / mtu);
}

void Responses::reset(std::size_t max_count) {
    waiting_.clear();
    remembered_.clear();
    max_remembered_ = max_count;
    outstanding_ = 0;
    repetitions_ = 0;
    closing_ = false;
    stalled_.reset();
}

// --- Queueing responses --------------------------------------------------------------------------

std::size_t& Responses::count_of(const Response& response) {
    return response.repeated ? repetitions_ : outstanding_;
}

void Responses::add(const Response& response) {
    if (closing_)
        return;
    if (is_read_or_atomic(response.kind))
        ++count_of(response);
    waiting_.push_back(response);
}

void Responses::acknowledge(Psn psn, Msn messages) {
    if (!closing_ && !waiting_.empty() && waiting_.back().kind == Response::Kind::acknowledgement) {
        waiting_.back().psn = psn;
        waiting_.back().messages = messages;
        return;
    }
    add({.kind = Response::Kind::acknowledgement, .psn = psn, .messages = messages});
}

void Responses::refuse(Psn psn, Msn messages, std::uint8_t syndrome) {
    add({.kind = Response::Kind::refusal, .psn = psn, .messages = messages, .syndrome = syndrome});
}

void Responses::close(Psn psn, Msn messages, std::uint8_t syndrome) {
    refuse(psn, messages, syndrome);
    closing_ = true;
}

void Responses::respond_to_read(const ReadJob& job, Msn messages) {
    remember({.read = job, .atomic = std::nullopt});
    add({.kind = Response::Kind::read, .psn = job.first, .messages = messages, .read = job});
}

void Responses::respond_to_atomic(Psn psn, Msn messages, const AtomicResponse& found) {
    remember({.read = {.first = psn}, .atomic = found});
    add({.kind = Response::Kind::atomic, .psn = psn, .messages = messages, .found = found});
}

void Responses::remember(const RememberedResponse& remembered) {
    remembered_.push_back(remembered);
    if (remembered_.size() > max_remembered_)
        remembered_.pop_front();
}

void Responses::repeat_atomic(Psn psn, Msn messages) {
    const auto found =
        std::ranges::find_if(remembered_, [psn](const RememberedResponse& remembered) {
            return remembered.atomic && remembered.read.first == psn;
        });
    if (found == remembered_.end() || repetitions_ >= max_remembered_)
        return;
    add({.kind = Response::Kind::atomic,
         .psn = psn,
         .messages = messages,
         .found = *found->atomic,
         .repeated = true});
}

void Responses::repeat_read(const ReadJob& job, Msn messages) {
    const std::uint32_t mtu = channel_.path_mtu();
    const auto is_end_of = [&](const RememberedResponse& remembered) {
        const ReadJob& read = remembered.read;
        const std::uint32_t skipped = job.first.after(read.first);
        if (remembered.atomic || skipped >= read.packets(mtu))
            return false;
        const std::uint64_t offset = std::uint64_t{skipped} * mtu;
        return job.memory.r_key == read.memory.r_key &&
               job.memory.address == read.memory.address + offset &&
               job.memory.length + offset == read.memory.length;
    };
    if (repetitions_ < max_remembered_ && std::ranges::any_of(remembered_, is_end_of))
        add({.kind = Response::Kind::read,
             .psn = job.first,
             .messages = messages,
             .read = job,
             .repeated = true});
}

// --- Sending -------------------------------------------------------------------------------------

bool Responses::send(int& budget) {
    while (!waiting_.empty() && !stalled_) {
        if (budget == 0)
            return true;
        --budget;
        send_next();
    }
    return false;
}

void Responses::send_next() {
    if (waiting_.front().kind == Response::Kind::read)
        return send_read(waiting_.front());
    send_other(waiting_.front());
    finish_front();
}

void Responses::finish_front() {
    if (is_read_or_atomic(waiting_.front().kind))
        --count_of(waiting_.front());
    waiting_.pop_front();
}

/// Credits at the time of sending. An SRQ has no credits.
std::uint8_t Responses::positive_syndrome() const {
    return ack_syndrome(channel_.queue_pair().receive_credits());
}

void Responses::send_read(Response& response) {
    const ReadJob& job = response.read;
    const std::uint32_t mtu = channel_.path_mtu();
    const std::uint32_t packets = job.packets(mtu);
    const std::uint64_t offset = std::uint64_t{response.sent} * mtu;
    const auto size = std::min<std::uint64_t>(mtu, job.memory.length - offset);
    const Operation operation{.verb = PacketOp::read_response,
                              .first = response.sent == 0,
                              .last = response.sent + 1 == packets};
    auto headers = channel_.headers();
    if (headers) {
        headers->transport.opcode = opcode_of(channel_.queue_pair().service(), operation);
        headers->transport.psn = (job.first + response.sent).value();
        headers->ack = {.syndrome = positive_syndrome(), .msn = response.messages.value()};
        fabric::PacketDraft draft(*headers, size);
        const auto data = channel_.keys().read(job.accessor,
                                               {.key = job.memory.r_key,
                                                .address = job.memory.address + offset,
                                                .length = size,
                                                .right = memory::AccessRight::remote_read},
                                               draft.payload());
        if (!data)
            return read_failed(response, data.error());
        channel_.send(std::move(draft).finish());
    }
    if (++response.sent == packets)
        finish_front();
}

void Responses::read_failed(const Response& response, memory::AccessFault fault) {
    if (fault != memory::AccessFault::page_absent || !stall(response))
        give_up(response);
}

/// \return false when software can't be notified of the fault
bool Responses::stall(const Response& response) {
    const ReadJob& job = response.read;
    const std::uint32_t mtu = channel_.path_mtu();
    const std::uint32_t offset = response.sent * mtu;
    stalled_ =
        channel_.queue_pair().raise_page_fault({.place = queues::FaultPlace::remote_read,
                                                .committed = offset,
                                                .packet = std::min(mtu, job.memory.length - offset),
                                                .key = job.memory.r_key,
                                                .address = job.memory.address,
                                                .length = job.memory.length});
    return stalled_.has_value();
}

void Responses::give_up(const Response& response) {
    const Psn psn = response.read.first + response.sent;
    const Msn messages = response.messages;
    waiting_.clear();
    closing_ = false;
    ++channel_.queue_pair().counts().resp_remote_access_errors;
    close(psn, messages, nak_syndrome(NakCode::remote_access));
}

void Responses::page_fault_resumed(std::uint32_t token, bool resolved) {
    if (stalled_ != token)
        return;
    stalled_.reset();
    if (!resolved)
        give_up(waiting_.front());
}

void Responses::send_other(const Response& response) {
    auto headers = channel_.headers();
    if (!headers)
        return; // dropped, as if it were lost
    const bool is_atomic = response.kind == Response::Kind::atomic;
    const bool is_refusal = response.kind == Response::Kind::refusal;
    headers->transport.opcode =
        opcode_of(channel_.queue_pair().service(),
                  {.verb = is_atomic ? PacketOp::atomic_acknowledge : PacketOp::acknowledge});
    headers->transport.psn = response.psn.value();
    headers->ack = {.syndrome = is_refusal ? response.syndrome : positive_syndrome(),
                    .msn = response.messages.value()};
    std::vector<std::byte> payload;
    if (is_atomic) {
        headers->atomic_ack = response.found.words[0];
        payload = encode_response(response.found.words, response.found.size);
    }
    channel_.send(fabric::build(*headers, payload));
}

} // namespace cxemu::transport
