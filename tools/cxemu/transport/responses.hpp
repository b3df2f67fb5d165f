// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Packets of the responder: ACKs, read and atomic responses, NAKs, all in the order of the
/// requests.
#pragma once

#include "fabric/packet.hpp"
#include "memory/access.hpp"
#include "transport/atomic_operation.hpp"
#include "transport/channel.hpp"
#include "transport/operation.hpp"
#include "transport/sequence_number.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace cxemu::transport {

/// A read request of the peer.
struct ReadJob {
    Psn first;                   ///< of its responses
    memory::Accessor accessor{}; ///< memory access context
    fabric::Reth memory{};

    /// Number of responses of \p mtu bytes.
    [[nodiscard]] std::uint32_t packets(std::uint32_t mtu) const;
};

/// The original value read by an atomic operation.
struct AtomicResponse {
    AtomicWords words{};
    std::size_t size = atomic_word_size; ///< bytes
};

/// Responses are kept as long as the peer may retry the request, so as many as the peer may have
/// outstanding. A retried read is executed again; a retried atomic is not.
class Responses {
public:
    explicit Responses(Channel& channel) : channel_(channel) {}

    /// Clears all state. \param max_count maximum number of remembered reads and atomics
    void reset(std::size_t max_count);

    // --- Queueing responses; no effect after close() ---------------------------------------------

    /// Acknowledges everything up to \p psn. Pending ACKs are coalesced.
    void acknowledge(Psn psn, Msn messages);
    /// Refuses the packet \p psn. \param syndrome NAK or RNR NAK
    void refuse(Psn psn, Msn messages, std::uint8_t syndrome);
    /// Refuses the packet; this is the last response of the connection.
    void close(Psn psn, Msn messages, std::uint8_t syndrome);
    void respond_to_read(const ReadJob& job, Msn messages);
    /// \param found original value in memory
    void respond_to_atomic(Psn psn, Msn messages, const AtomicResponse& found);

    /// Repeats the response to an atomic, if it is remembered.
    void repeat_atomic(Psn psn, Msn messages);
    /// Repeats the responses to a read, if \p job is the end of a remembered one.
    void repeat_read(const ReadJob& job, Msn messages);

    /// Reads and atomics whose responses have not been sent completely, excluding repeated ones.
    [[nodiscard]] std::size_t outstanding() const { return outstanding_; }

    // --- Sending ---------------------------------------------------------------------------------

    /// Sends at most \p budget packets and reduces the budget. A read whose memory has become
    /// inaccessible ends in a NAK, as with close(); a page fault stalls it.
    /// \return true when there is more to send
    bool send(int& budget);

    /// Software has resumed a page fault. See queues::Transport::page_fault_resumed().
    void page_fault_resumed(std::uint32_t token, bool resolved);

    /// No further response is accepted.
    [[nodiscard]] bool is_closing() const { return closing_; }
    /// The final NAK has been sent.
    [[nodiscard]] bool is_closed() const { return closing_ && waiting_.empty(); }

private:
    struct Response {
        enum class Kind : std::uint8_t { acknowledgement, refusal, read, atomic };
        Kind kind = Kind::acknowledgement;
        Psn psn;
        Msn messages;
        std::uint8_t syndrome = 0; ///< of a NAK
        ReadJob read{};
        std::uint32_t sent = 0; ///< responses to a read
        AtomicResponse found{}; ///< by an atomic
        bool repeated = false;  ///< a duplicate read or atomic
    };
    /// A response that may have to be repeated.
    struct RememberedResponse {
        ReadJob read;
        std::optional<AtomicResponse> atomic; ///< original value; nothing: it is a read
    };

    void add(const Response& response);
    void remember(const RememberedResponse& remembered);
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
    std::deque<RememberedResponse> remembered_; ///< newest last
    std::size_t max_remembered_ = 1;
    std::size_t outstanding_ = 0;
    std::size_t repetitions_ = 0; ///< pending ones, limited to the number of remembered requests
    bool closing_ = false;
    std::optional<std::uint32_t> stalled_; ///< token of the page fault that stalls the front
};

} // namespace cxemu::transport
