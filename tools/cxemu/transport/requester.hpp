// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The requester of a connection: from send WQEs to packets, and from responses to completions (IBA
/// volume 1, 9.7.2 to 9.7.7).
#pragma once

#include "base/event_loop.hpp"
#include "fabric/packet.hpp"
#include "queues/queue_pair.hpp"
#include "transport/acknowledgement.hpp"
#include "transport/channel.hpp"
#include "transport/connection_numbers.hpp"
#include "transport/operation.hpp"
#include "transport/rendezvous.hpp"
#include "transport/sequence_number.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace cxemu::transport {

/// WQEs are outstanding until the peer has acknowledged or responded to them. After a loss all
/// packets from the first missing one on are retransmitted ("go back N"):
///
/// ```
///   front of outstanding_                                      next_psn_
///   │ acknowledged │ sent, not acknowledged │ to be sent (again) │
///                  unacknowledged_          cursor_
/// ```
///
/// UC WQEs complete when their last packet has been sent.
///
/// A DCI is connected to one DCT at a time. A WQE for another DCT or stream waits until none is
/// outstanding; then a connect packet is sent before it.
class Requester {
public:
    /// \param numbers of DC connections
    /// \param wake requests a call of send() soon
    Requester(Channel& channel, ConnectionNumbers& numbers, std::function<void()> wake);

    /// RTR to RTS: initializes PSNs from the QP context.
    void start();
    /// To RTS from a state without sending.
    void resume() { active_ = true; }
    /// Drops all outstanding WQEs, and closes a DC connection.
    void stop();
    /// The SQ is being drained, so a WQE that was not started returns to it.
    void hold_back();
    [[nodiscard]] bool active() const { return active_; }

    /// Sends at most \p budget packets and reduces the budget.
    /// \return true when there is more to send
    bool send(int& budget);

    /// Reads the data of a rendezvous before the next WQE of the send queue, then sends FIN to the
    /// peer. Waits for RTS. A failed read is reported to software.
    void fetch(Rendezvous rendezvous);

    void response_arrived(const fabric::ParsedPacket& packet, const Operation& operation);

    /// Software has resumed a page fault. See queues::Transport::page_fault_resumed().
    void page_fault_resumed(std::uint32_t token, bool resolved);

    /// Updates PSNs and counters in the QP context.
    void refresh();

private:
    /// A request without WQE in the send queue.
    struct Own {
        queues::SendWqe request;
        std::shared_ptr<Rendezvous> rendezvous;

        [[nodiscard]] bool reads() const { return request.opcode == queues::SendOpcode::rdma_read; }
    };

    struct Outstanding {
        queues::SendWqe request;
        Psn first;
        std::uint32_t packets = 1; ///< number of PSNs: of its packets, for reads of the responses
        std::uint32_t arrived = 0; ///< responses to a read
        Msn number;                ///< SSN
        bool connects = false;     ///< no WQE: the packet that opens a DC connection
        /// Requester error; reported after all WQEs before it have completed.
        std::optional<queues::CompletionError> failure;
        std::shared_ptr<Rendezvous> rendezvous; ///< of a request without WQE in the send queue

        [[nodiscard]] Psn end() const { return first + packets; }
        [[nodiscard]] bool is_read_or_atomic() const;
        [[nodiscard]] bool takes_receive() const;
    };

    /// Sending is stopped until a page fault is resolved.
    struct Stall {
        std::uint32_t token = 0;
        std::uint16_t index = 0; ///< of the WQE
        bool repeats = false;    ///< responses have been dropped and must be retried
    };

    bool start_next();
    bool start_own();
    void add(queues::SendWqe request, std::optional<queues::CompletionError> failure,
             std::shared_ptr<Rendezvous> rendezvous = nullptr);
    void own_completed(const Outstanding& done);
    void own_failed(Outstanding failed, queues::CompletionError error);
    void cancel_rendezvous();
    void forget();
    bool reach_target(const queues::SendWqe& request);
    [[nodiscard]] bool is_connected_for(const queues::SendWqe& request) const;
    void connect(const queues::SendWqe& request);
    void disconnect();
    void send_connect(const Outstanding& next);
    [[nodiscard]] bool may_send() const;
    [[nodiscard]] bool is_credited(const Outstanding& next) const;
    [[nodiscard]] bool may_use_receive(const Outstanding& next) const;
    [[nodiscard]] Psn cursor_psn() const;
    bool send_packet();
    bool send_part(Outstanding& next);
    void send_read(const Outstanding& next);
    void send_atomic(const Outstanding& next);
    [[nodiscard]] Operation part_of(const Outstanding& next) const;
    [[nodiscard]] bool wants_acknowledgement(const Outstanding& next,
                                             const Operation& operation) const;
    void advance();
    void fail_locally(Outstanding& next, queues::CompletionError error);
    bool stall(const Outstanding& request, queues::FaultPlace place, std::uint64_t done,
               std::size_t size);
    bool waits_for_page(memory::AccessFault fault, const Outstanding& response_received,
                        std::size_t size);

    [[nodiscard]] bool is_in_flight(Psn psn) const;
    [[nodiscard]] bool has_packets_in_flight() const { return sent_ != unacknowledged_; }
    bool acknowledge_before(Psn end);
    void acknowledged(const fabric::ParsedPacket& packet);
    void not_ready(Psn psn, std::uint8_t timer);
    void refused(Psn psn, std::uint8_t code);
    void response_received(const fabric::ParsedPacket& packet, const Operation& operation);
    [[nodiscard]] bool is_response_to(const Outstanding& oldest, const Operation& operation,
                                      std::size_t size) const;
    memory::AccessResult<void> store_response(const Outstanding& oldest,
                                              std::span<const std::byte> data);
    void take_credits(const fabric::Aeth& header);
    void made_progress();
    Outstanding take_front();
    void complete_front(std::span<const std::byte> data);
    void fail_front(queues::CompletionError error);
    void fail_stream();
    void report_local_failure();

    void responses_missing();
    void retry();
    void go_back();
    [[nodiscard]] std::optional<EventLoop::Duration> ack_timeout() const;
    void watch();
    void timer_expired();
    [[nodiscard]] queues::QueuePair& queue_pair() const { return channel_.queue_pair(); }

    Channel& channel_;
    ConnectionNumbers& numbers_;
    std::function<void()> wake_;
    std::uint16_t stream_ = 0; ///< stream of the DC connection
    Timer timer_;              ///< ACK timeout or RNR timer
    EventLoop::TimePoint last_progress_;
    bool active_ = false;
    bool reliable_ = true;
    std::deque<Outstanding> outstanding_;
    std::deque<Own> own_;                     ///< to be started
    std::size_t cursor_ = 0;                  ///< WQE whose packets are being sent
    std::uint32_t cursor_packet_ = 0;         ///< its next packet
    std::uint32_t outstanding_rd_atomic_ = 0; ///< reads and atomics before the cursor
    Psn next_psn_;                            ///< of the next WQE
    Psn unacknowledged_;                      ///< oldest unacknowledged packet
    Psn sent_;                                ///< PSN after the newest packet that has been sent
    Msn next_ssn_;                            ///< SSN of the next WQE
    std::optional<Msn> last_credited_; ///< last SSN for which the peer has advertised credits
    std::uint32_t retries_left_ = 0;
    std::uint32_t rnr_retries_left_ = 0;
    bool going_back_ = false; ///< retry in progress; further NAKs for the same loss are ignored
    bool pausing_ = false;    ///< RNR timer is running
    std::optional<Stall> stall_;
};

} // namespace cxemu::transport
