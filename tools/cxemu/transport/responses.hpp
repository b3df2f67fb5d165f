// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What the receiving half of a connection sends: acknowledgements, answers to reads and atomics,
/// refusals, all of them in the order of the requests.
#pragma once

#include "fabric/packet.hpp"
#include "memory/access.hpp"
#include "transport/atomic_operand.hpp"
#include "transport/channel.hpp"
#include "transport/operation.hpp"
#include "transport/sequence_number.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace cxemu::transport {

/// A read that the peer has asked for.
struct ReadJob {
    Psn first;                   ///< of its answers
    memory::Accessor accessor{}; ///< on whose behalf memory is read
    fabric::Reth memory{};

    /// Answers of \p mtu bytes that it takes.
    [[nodiscard]] std::uint32_t packets(std::uint32_t mtu) const;
};

/// What an atomic operation has found.
struct AtomicAnswer {
    AtomicWords words{};
    std::size_t size = atomic_word_size; ///< bytes
};

/// Answers are remembered as long as the peer may ask for them again: as many as it may have under
/// way at once. Reads are carried out anew then, atomic operations are not.
class Responses {
public:
    explicit Responses(Channel& channel) : channel_(channel) {}

    /// Forgets everything. \param most reads and atomics that are remembered
    void reset(std::size_t most);

    // --- What is to be sent; nothing of it after close() -----------------------------------------

    /// Everything up to \p psn has arrived. Acknowledgements that wait are joined.
    void acknowledge(Psn psn, Msn messages);
    /// The packet \p psn has not been taken. \param syndrome no positive one
    void refuse(Psn psn, Msn messages, std::uint8_t syndrome);
    /// Refuses, and that is the last that the connection sends.
    void close(Psn psn, Msn messages, std::uint8_t syndrome);
    void answer_read(const ReadJob& job, Msn messages);
    /// \param found in memory
    void answer_atomic(Psn psn, Msn messages, const AtomicAnswer& found);

    /// Answers an atomic operation again, if it is remembered.
    void repeat_atomic(Psn psn, Msn messages);
    /// Answers a read again, if \p job is the end of one that is remembered.
    void repeat_read(const ReadJob& job, Msn messages);

    /// Reads and atomics whose answers have not been sent completely, not counting repetitions.
    [[nodiscard]] std::size_t unanswered() const { return unanswered_; }

    // --- Sending ---------------------------------------------------------------------------------

    /// Sends at most \p budget packets, which it takes from the budget. A read whose memory can't
    /// be read any more ends in a refusal, as close() makes it; one that needs a page waits for it.
    /// \return true when there is more to send
    bool send(int& budget);

    /// Software has answered a page fault. See queues::Transport::page_fault_resumed().
    void page_fault_resumed(std::uint32_t token, bool resolved);

    /// Nothing more will be accepted.
    [[nodiscard]] bool is_closing() const { return closing_; }
    /// ... and the refusal has been sent.
    [[nodiscard]] bool is_closed() const { return closing_ && waiting_.empty(); }

private:
    struct Response {
        enum class Kind : std::uint8_t { acknowledgement, refusal, read, atomic };
        Kind kind = Kind::acknowledgement;
        Psn psn;
        Msn messages;
        std::uint8_t syndrome = 0; ///< of a refusal
        ReadJob read{};
        std::uint32_t sent = 0; ///< answers to a read
        AtomicAnswer found{};   ///< by an atomic
        bool repeated = false;  ///< a read or atomic that has been answered before
    };
    /// What may have to be answered again.
    struct Answered {
        ReadJob read;
        std::optional<AtomicAnswer> atomic; ///< what was found; nothing: it is a read
    };

    void add(const Response& response);
    void remember(const Answered& answered);
    void send_next();
    void send_read(Response& response);
    void read_failed(const Response& response, memory::AccessFault fault);
    bool stall(const Response& response);
    void give_up(const Response& response);
    void send_other(const Response& response);
    [[nodiscard]] std::size_t& count_of(const Response& response);
    [[nodiscard]] std::uint8_t positive_syndrome() const;
    void finish_front();

    Channel& channel_;
    std::deque<Response> waiting_;
    std::deque<Answered> answered_; ///< newest last
    std::size_t most_answered_ = 1;
    std::size_t unanswered_ = 0;
    std::size_t repetitions_ = 0; ///< that wait; more than are remembered make no sense
    bool closing_ = false;
    std::optional<std::uint32_t> stalled_; ///< token of a page fault that the front waits for
};

} // namespace cxemu::transport
