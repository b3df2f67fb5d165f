// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Reference model of a connection according to the InfiniBand Architecture Specification, volume
/// 1, chapters 9 and 10, as visible to software: completions and memory. It depends neither on
/// packets, PSNs and timers nor on the implementation in cxemu.
///
/// One direction of a connection: WRs of one side, receive WRs and memory of the other.
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

/// Fault of a request.
enum class Defect : std::uint8_t {
    none,
    local_key,  ///< invalid local mkey
    remote_key, ///< invalid remote mkey
    too_long,   ///< exceeds the receive WR
};

struct Request {
    Kind kind = Kind::send;
    std::uint32_t length = 0; ///< bytes; 8 for atomics
    std::uint32_t offset = 0; ///< in the remote memory
    std::uint32_t number = 0; ///< its immediate data, and the first bytes of its data
    std::uint64_t operand = 0;
    std::uint64_t compare = 0;
    bool fence = false;
    bool signaled = true;
    Defect defect = Defect::none;
};

/// The data of a send or write: determined by its number.
std::vector<std::byte> data_of(const Request& request);

/// Completion status of a WR.
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

/// A completion of a send or receive WR.
struct Completion {
    std::size_t index = 0; ///< WR number, in the order of posting
    Status status = Status::success;
    std::uint32_t length = 0;                 ///< of what was received
    std::optional<std::uint32_t> immediate{}; ///< that was received
    bool operator==(const Completion&) const = default;
};

struct Observation {
    std::vector<Completion> sends;
    std::vector<Completion> receives;
    std::vector<std::vector<std::byte>> buffers;   ///< of receive WRs
    std::vector<std::vector<std::byte>> responses; ///< to reads and atomics; empty for others
    std::vector<std::byte> memory;                 ///< remote memory
};

enum class Service : std::uint8_t { reliable, unreliable };

class Direction {
public:
    static constexpr std::size_t memory_size = 1U << 14U;

    /// \param shares_receives receives from an SRQ, which outlives a failure
    Direction(Service service, bool shares_receives);

    void post_send(const Request& request) { requests_.push_back(request); }
    /// The link may lose NAKs: then the sender exhausts its retries, at a request that may have
    /// succeeded.
    void may_lose_responses() { loses_responses_ = true; }
    /// \param length of its buffer
    void post_receive(std::uint32_t length) { receives_.push_back(length); }

    [[nodiscard]] const std::vector<Request>& requests() const { return requests_; }
    [[nodiscard]] const std::vector<std::uint32_t>& receives() const { return receives_; }

    /// Compares the results, after everything has completed, with the expected ones.
    /// \return the first difference; nothing if there is none
    [[nodiscard]] std::optional<std::string> check(const Observation& seen) const;

private:
    /// A byte of memory is uncertain if it may have one of two values.
    struct Byte {
        std::byte value{};
        bool certain = true;
    };
    struct Expectation {
        std::vector<Completion> sends;
        std::vector<Completion> receives;
        std::vector<Byte> memory;
        std::vector<std::vector<Byte>> responses;
        std::optional<std::size_t> failed; ///< the request that failed the connection
        bool peer_failed = false;
    };

    [[nodiscard]] Expectation expect() const;
    bool carry_out(Expectation& result, std::size_t index) const;
    void fail(Expectation& result, std::size_t index) const;
    void flush(Expectation& result) const;
    void take_receive(Expectation& result, const Request& request) const;
    void write(Expectation& result, const Request& request) const;
    void fail_unheard(Expectation& result, const Observation& seen) const;
    void doubt_reads(Expectation& result, std::size_t index) const;
    void change_atomically(Expectation& result, std::size_t index) const;

    [[nodiscard]] std::optional<std::string> check_reliable(const Observation& seen) const;
    [[nodiscard]] std::optional<std::string> check_received(const Observation& seen,
                                                            const Expectation& expected) const;
    [[nodiscard]] std::optional<std::string> check_unreliable(const Observation& seen) const;
    [[nodiscard]] std::optional<std::string> check_messages(const Observation& seen) const;
    [[nodiscard]] std::optional<std::string> check_written(const Observation& seen) const;

    Service service_;
    bool shares_receives_;
    bool loses_responses_ = false;
    std::vector<Request> requests_;
    std::vector<std::uint32_t> receives_;
};

} // namespace cxemu::transport::model
