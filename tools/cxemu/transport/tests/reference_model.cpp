// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/tests/reference_model.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <spdlog/fmt/fmt.h>
#include <string_view>

namespace cxemu::transport::model {

namespace {

constexpr std::size_t word = 8;

/// Little-endian value in host memory.
std::uint64_t number_in_memory(auto bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = word; i-- > 0;)
        value = value << 8U | std::to_integer<std::uint64_t>(bytes(i));
    return value;
}

/// \param number 0: the least significant byte
std::byte byte_of(std::uint64_t value, std::size_t number) {
    return static_cast<std::byte>(value >> (8U * number));
}

std::optional<std::string> compare(std::string_view what, const std::vector<Completion>& seen,
                                   const std::vector<Completion>& expected) {
    for (std::size_t i = 0; i < std::max(seen.size(), expected.size()); ++i) {
        if (i >= seen.size())
            return fmt::format("{} completion {} is missing: number {}, {}", what, i,
                               expected[i].index, name_of(expected[i].status));
        if (i >= expected.size())
            return fmt::format("{} completion {} is one too many: number {}, {}", what, i,
                               seen[i].index, name_of(seen[i].status));
        if (seen[i] == expected[i])
            continue;
        return fmt::format("{} completion {}: number {}, {}, {} bytes, immediate {:#x} instead of "
                           "number {}, {}, {} bytes, immediate {:#x}",
                           what, i, seen[i].index, name_of(seen[i].status), seen[i].length,
                           seen[i].immediate.value_or(0xdead), expected[i].index,
                           name_of(expected[i].status), expected[i].length,
                           expected[i].immediate.value_or(0xdead));
    }
    return {};
}

std::optional<std::string> compare(const std::string& what, const std::vector<std::byte>& seen,
                                   const auto& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (expected[i].certain && seen.at(i) != expected[i].value)
            return fmt::format("{}: byte {} of {} is {:#x} instead of {:#x}", what, i,
                               expected.size(), std::to_integer<int>(seen[i]),
                               std::to_integer<int>(expected[i].value));
    }
    return {};
}

} // namespace

// --- Names ---------------------------------------------------------------------------------------

std::string_view name_of(Kind kind) {
    constexpr std::array<std::string_view, 7> names{
        "send", "send_immediate", "write", "write_immediate", "read", "compare_swap", "fetch_add"};
    return names.at(static_cast<std::size_t>(kind));
}

std::string_view name_of(Status status) {
    constexpr std::array<std::string_view, 11> names{
        "success",          "flushed",          "local length", "local operation",
        "local protection", "local access",     "window bind",  "remote invalid request",
        "remote access",    "remote operation", "another error"};
    return names.at(static_cast<std::size_t>(status));
}

bool takes_receive(Kind kind) {
    return kind == Kind::send || kind == Kind::send_immediate || kind == Kind::write_immediate;
}

bool is_atomic(Kind kind) {
    return kind == Kind::compare_swap || kind == Kind::fetch_add;
}

std::vector<std::byte> data_of(const Request& request) {
    std::vector<std::byte> data(request.length);
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<std::byte>((request.number * 29) + (i * 7) + (i >> 8U));
    return data;
}

// --- Reliable: requests in order -----------------------------------------------------------------

Direction::Direction(Service service, bool shares_receives)
    : service_(service), shares_receives_(shares_receives) {}

Direction::Expectation Direction::expect() const {
    Expectation result;
    result.memory.resize(memory_size);
    result.responses.resize(requests_.size());
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (!carry_out(result, i)) {
            fail(result, i);
            break;
        }
        if (requests_[i].signaled)
            result.sends.push_back({.index = i});
    }
    if (result.failed)
        flush(result);
    return result;
}

/// \return false when the connection fails there
bool Direction::carry_out(Expectation& result, std::size_t index) const {
    const Request& request = requests_[index];
    if (request.defect != Defect::none)
        return false;
    doubt_reads(result, index);
    switch (request.kind) {
    case Kind::write:
    case Kind::write_immediate:
        write(result, request);
        break;
    case Kind::read:
        result.responses[index].assign(result.memory.begin() + request.offset,
                                       result.memory.begin() + request.offset + request.length);
        break;
    case Kind::compare_swap:
    case Kind::fetch_add:
        change_atomically(result, index);
        break;
    default:
        break;
    }
    if (takes_receive(request.kind))
        take_receive(result, request);
    return true;
}

/// A read retried after a loss may return data of later writes, unless those are fenced (10.8.3.3).
void Direction::doubt_reads(Expectation& result, std::size_t index) const {
    const Request& later = requests_[index];
    const bool changes =
        later.kind == Kind::write || later.kind == Kind::write_immediate || is_atomic(later.kind);
    for (std::size_t i = index; changes && i-- > 0;) {
        if (requests_[i + 1].fence)
            return;
        if (requests_[i].kind != Kind::read)
            continue;
        const Request& read = requests_[i];
        const std::uint32_t begin = std::max(read.offset, later.offset);
        const std::uint32_t end = std::min(read.offset + read.length, later.offset + later.length);
        for (std::uint32_t at = begin; at < end; ++at)
            result.responses[i][at - read.offset].certain = false;
    }
}

void Direction::write(Expectation& result, const Request& request) const {
    const auto data = data_of(request);
    for (std::size_t i = 0; i < data.size(); ++i)
        result.memory[request.offset + i] = {.value = data[i]};
}

void Direction::change_atomically(Expectation& result, std::size_t index) const {
    const Request& request = requests_[index];
    const auto place = result.memory.begin() + request.offset;
    const std::uint64_t before = number_in_memory(
        [place](std::size_t i) { return place[static_cast<std::ptrdiff_t>(i)].value; });
    const std::uint64_t swapped = before == request.compare ? request.operand : before;
    const std::uint64_t after =
        request.kind == Kind::fetch_add ? before + request.operand : swapped;
    for (std::size_t i = 0; i < word; ++i) {
        place[static_cast<std::ptrdiff_t>(i)].value = byte_of(after, i);
        // Software hasn't chosen the byte order of responses: network order.
        result.responses[index].push_back({.value = byte_of(before, word - 1 - i)});
    }
}

void Direction::take_receive(Expectation& result, const Request& request) const {
    Completion completion{.index = result.receives.size(), .length = request.length};
    if (request.kind != Kind::send)
        completion.immediate = request.number;
    result.receives.push_back(completion);
}

/// Both sides of a failure (9.9.2, 9.9.3).
void Direction::fail(Expectation& result, std::size_t index) const {
    const Request& request = requests_[index];
    result.failed = index;
    Completion send{.index = index, .status = Status::local_protection};
    if (request.defect == Defect::remote_key) {
        send.status = Status::remote_access;
        result.peer_failed = true;
    } else if (request.defect == Defect::too_long) {
        send.status = Status::remote_invalid_request;
        result.peer_failed = true;
        result.receives.push_back(
            {.index = result.receives.size(), .status = Status::local_length});
    }
    result.sends.push_back(send);
}

/// WQEs that are still posted when a QP enters the error state.
void Direction::flush(Expectation& result) const {
    for (std::size_t i = *result.failed + 1; i < requests_.size(); ++i)
        result.sends.push_back({.index = i, .status = Status::flushed});
    if (!result.peer_failed || shares_receives_)
        return;
    for (std::size_t i = result.receives.size(); i < receives_.size(); ++i)
        result.receives.push_back({.index = i, .status = Status::flushed});
}

/// The sender's retries were exhausted at a request that the peer may have executed.
void Direction::fail_unheard(Expectation& result, const Observation& seen) const {
    const auto first = std::ranges::find_if(seen.sends, [](const Completion& completion) {
        return completion.status != Status::success;
    });
    if (!loses_responses_ || !result.peer_failed || first == seen.sends.end() ||
        first->status != Status::other || first->index > *result.failed)
        return;
    const std::size_t given_up = first->index;
    result.sends.clear();
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (i >= given_up)
            result.sends.push_back(
                {.index = i, .status = i == given_up ? Status::other : Status::flushed});
        else if (requests_[i].signaled)
            result.sends.push_back({.index = i});
        if (i >= given_up)
            result.responses[i].clear(); // it may have arrived partially
    }
}

std::optional<std::string> Direction::check_reliable(const Observation& seen) const {
    Expectation expected = expect();
    if (expected.failed)
        fail_unheard(expected, seen);
    if (auto wrong = compare("send", seen.sends, expected.sends))
        return wrong;
    if (auto wrong = check_received(seen, expected))
        return wrong;
    if (auto wrong = compare("memory of the peer", seen.memory, expected.memory))
        return wrong;
    for (std::size_t i = 0; i < expected.responses.size(); ++i) {
        const std::string what = fmt::format("response to request {}", i);
        if (auto wrong = compare(what, seen.responses[i], expected.responses[i]))
            return wrong;
    }
    return {};
}

std::optional<std::string> Direction::check_received(const Observation& seen,
                                                     const Expectation& expected) const {
    if (auto wrong = compare("receive", seen.receives, expected.receives))
        return wrong;
    std::size_t receive = 0;
    for (std::size_t i = 0; i < expected.failed.value_or(requests_.size()); ++i) {
        const Request& request = requests_[i];
        if (!takes_receive(request.kind))
            continue;
        const auto& buffer = seen.buffers[receive++];
        const auto data = data_of(request);
        if (request.kind != Kind::write_immediate &&
            !std::equal(data.begin(), data.end(), buffer.begin()))
            return fmt::format("receive {} holds other data than send {} had", receive - 1, i);
    }
    return {};
}

// --- Unreliable: messages may be lost, but only completely ---------------------------------------

std::optional<std::string> Direction::check_unreliable(const Observation& seen) const {
    std::vector<Completion> expected;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (requests_[i].signaled)
            expected.push_back({.index = i});
    }
    if (auto wrong = compare("send", seen.sends, expected))
        return wrong;
    if (auto wrong = check_messages(seen))
        return wrong;
    return check_written(seen);
}

/// Each number identifies one message. If the fabric duplicates or reorders packets, single-packet
/// messages are duplicated or reordered, too, because the responder of UC accepts the first packet
/// of a message with any PSN (9.8.2.2).
std::optional<std::string> Direction::check_messages(const Observation& seen) const {
    for (std::size_t i = 0; i < seen.receives.size(); ++i) {
        const Completion& completion = seen.receives[i];
        if (completion.status != Status::success || completion.index != i)
            return fmt::format("receive {}: number {}, {}", i, completion.index,
                               name_of(completion.status));
        const auto sent = std::ranges::find_if(requests_, [&completion](const Request& request) {
            return takes_receive(request.kind) && request.number == completion.immediate;
        });
        if (sent == requests_.end())
            return fmt::format("receive {}: immediate {:#x} was never sent", i,
                               completion.immediate.value_or(0xdead));
        const auto data = data_of(*sent);
        if (completion.length != sent->length)
            return fmt::format("receive {} has {} bytes, message {} had {}", i, completion.length,
                               sent->number, sent->length);
        if (sent->kind != Kind::write_immediate &&
            !std::equal(data.begin(), data.end(), seen.buffers[i].begin()))
            return fmt::format("receive {} holds other data than message {} had", i, sent->number);
    }
    return {};
}

/// Some packets of a lost write may have arrived.
std::optional<std::string> Direction::check_written(const Observation& seen) const {
    std::vector<std::set<std::byte>> possible(memory_size, {std::byte{0}});
    for (const Request& request : requests_) {
        if (request.kind != Kind::write && request.kind != Kind::write_immediate)
            continue;
        const auto data = data_of(request);
        for (std::size_t i = 0; i < data.size(); ++i)
            possible[request.offset + i].insert(data[i]);
    }
    for (std::size_t i = 0; i < possible.size(); ++i) {
        if (!possible[i].contains(seen.memory[i]))
            return fmt::format("byte {} of the peer's memory is {:#x}, which was never written", i,
                               std::to_integer<int>(seen.memory[i]));
    }
    return {};
}

std::optional<std::string> Direction::check(const Observation& seen) const {
    return service_ == Service::reliable ? check_reliable(seen) : check_unreliable(seen);
}

} // namespace cxemu::transport::model
