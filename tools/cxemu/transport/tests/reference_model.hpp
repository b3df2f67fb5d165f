// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What a connection does according to the InfiniBand Architecture Specification, volume 1,
/// chapters 9 and 10, as software sees it: completions and memory. It knows nothing of packets,
/// numbers, timers or of how cxemu does it.
///
/// One direction of a connection: requests of one side, receive requests and memory of the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cxemu::transport::model {

enum class Kind : std::uint8_t {
    send,
    send_immediate,
    write,
    write_immediate,
    read,
    compare_swap,
    fetch_add,
};

std::string_view name_of(Kind kind);
bool takes_receive(Kind kind);
bool is_atomic(Kind kind);

/// What is wrong with a request.
enum class Defect : std::uint8_t {
    none,
    local_key,  ///< a key for its own memory that doesn't exist
    remote_key, ///< a key for the peer's memory that doesn't exist
    too_long,   ///< for the receive request that it meets
};

struct Request {
    Kind kind = Kind::send;
    std::uint32_t length = 0; ///< bytes; 8 for atomics
    std::uint32_t offset = 0; ///< in the memory of the peer
    std::uint32_t number = 0; ///< its immediate data, and what its data begin with
    std::uint64_t operand = 0;
    std::uint64_t compare = 0;
    bool fence = false;
    bool signaled = true;
    Defect defect = Defect::none;
};

/// The data of a send or write: they depend on its number only.
std::vector<std::byte> data_of(const Request& request);

/// How a work request ends.
enum class Status : std::uint8_t {
    success,
    flushed,
    local_length,
    local_operation,
    local_protection,
    local_access,
    window_bind,
    remote_invalid_request,
    remote_access,
    remote_operation,
    other,
};

std::string_view name_of(Status status);

/// What was seen of a request, or of a receive request.
struct Completion {
    std::size_t index = 0; ///< which one, in the order of posting
    Status status = Status::success;
    std::uint32_t length = 0;                 ///< of what was received
    std::optional<std::uint32_t> immediate{}; ///< that was received
    bool operator==(const Completion&) const = default;
};

struct Observation {
    std::vector<Completion> sends;
    std::vector<Completion> receives;
    std::vector<std::vector<std::byte>> buffers; ///< of receive requests
    std::vector<std::vector<std::byte>> answers; ///< to reads and atomics; empty for others
    std::vector<std::byte> memory;               ///< of the peer
};

enum class Service : std::uint8_t { reliable, unreliable };

class Direction {
public:
    static constexpr std::size_t memory_size = 1U << 14U;

    /// \param shares_receives receive requests belong to a shared queue, which outlives a failure
    Direction(Service service, bool shares_receives);

    void post_send(const Request& request) { requests_.push_back(request); }
    /// The link may lose what the peer says of a failure: then the sender finds out by itself, at
    /// a request whose success it hasn't heard of either.
    void may_lose_answers() { loses_answers_ = true; }
    /// \param length of its buffer
    void post_receive(std::uint32_t length) { receives_.push_back(length); }

    [[nodiscard]] const std::vector<Request>& requests() const { return requests_; }
    [[nodiscard]] const std::vector<std::uint32_t>& receives() const { return receives_; }

    /// Compares what was seen after everything has come to rest with what must be.
    /// \return what differs first; nothing if all is as it must be
    [[nodiscard]] std::optional<std::string> check(const Observation& seen) const;

private:
    /// A byte of memory that may have one of two values is not certain.
    struct Byte {
        std::byte value{};
        bool certain = true;
    };
    struct Expectation {
        std::vector<Completion> sends;
        std::vector<Completion> receives;
        std::vector<Byte> memory;
        std::vector<std::vector<Byte>> answers;
        std::optional<std::size_t> failed; ///< the request at which the connection ended
        bool peer_failed = false;
    };

    [[nodiscard]] Expectation expect() const;
    bool carry_out(Expectation& result, std::size_t index) const;
    void fail(Expectation& result, std::size_t index) const;
    void flush(Expectation& result) const;
    void take_receive(Expectation& result, const Request& request) const;
    void write(Expectation& result, const Request& request) const;
    void fail_unheard(Expectation& result, const Observation& seen) const;
    void spoil_reads(Expectation& result, std::size_t index) const;
    void change_atomically(Expectation& result, std::size_t index) const;

    [[nodiscard]] std::optional<std::string> check_reliable(const Observation& seen) const;
    [[nodiscard]] std::optional<std::string> check_received(const Observation& seen,
                                                            const Expectation& expected) const;
    [[nodiscard]] std::optional<std::string> check_unreliable(const Observation& seen) const;
    [[nodiscard]] std::optional<std::string> check_messages(const Observation& seen) const;
    [[nodiscard]] std::optional<std::string> check_written(const Observation& seen) const;

    Service service_;
    bool shares_receives_;
    bool loses_answers_ = false;
    std::vector<Request> requests_;
    std::vector<std::uint32_t> receives_;
};

} // namespace cxemu::transport::model
