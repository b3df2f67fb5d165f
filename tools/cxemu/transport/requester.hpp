// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The sending half of a connection: from send requests to packets, and from what comes back to
/// completions (IBA volume 1, 9.7.2 to 9.7.7).
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

/// Requests stay under way until the peer has acknowledged or answered them. What is lost is sent
/// again from the first packet that is missing on ("go back N"):
///
/// ```
///   front of under_way_                                        next_psn_
///   │ acknowledged │ sent, not acknowledged │ to be sent (again) │
///                  unacknowledged_          cursor_
/// ```
///
/// Requests of UC end with their last packet.
///
/// A dynamic initiator has a connection to one target at a time. A request to another one, or of
/// another stream, waits until nothing is under way; then a packet that connects goes ahead of it.
class Requester {
public:
    /// \param numbers for dynamic connections
    /// \param wake asks for a call of send() soon
    Requester(Channel& channel, ConnectionNumbers& numbers, std::function<void()> wake);

    /// RTR to RTS: the numbers begin as the context says.
    void start();
    /// To RTS from a state in which sends had stopped.
    void resume() { active_ = true; }
    /// Forgets everything that is under way, and ends a dynamic connection.
    void stop();
    /// The send queue drains: a request that has not been started goes back to its queue.
    void hold_back();
    [[nodiscard]] bool active() const { return active_; }

    /// Sends at most \p budget packets, which it takes from the budget.
    /// \return true when there is more to send
    bool send(int& budget);

    /// Reads the data of a rendezvous, before the next request of the send queue, and tells the
    /// peer. Until RTS it waits. Should the data not come, software is told.
    void fetch(Rendezvous rendezvous);

    void response_arrived(const fabric::ParsedPacket& packet, const Operation& operation);

    /// Software has answered a page fault. See queues::Transport::page_fault_resumed().
    void page_fault_resumed(std::uint32_t token, bool resolved);

    /// Writes numbers and counters of this moment into the context.
    void refresh();

private:
    /// A request that isn't in the send queue.
    struct Own {
        queues::SendWqe request;
        std::shared_ptr<Rendezvous> rendezvous;

        [[nodiscard]] bool reads() const { return request.opcode == queues::SendOpcode::rdma_read; }
    };

    struct UnderWay {
        queues::SendWqe request;
        Psn first;
        std::uint32_t packets = 1; ///< PSNs: of its packets, for reads of the responses
        std::uint32_t arrived = 0; ///< responses to a read
        Msn number;                ///< SSN
        bool connects = false;     ///< no request: the packet that begins a dynamic connection
        /// Found out here; reported when all requests before it have ended.
        std::optional<queues::CompletionError> failure;
        std::shared_ptr<Rendezvous> rendezvous; ///< of a request that isn't in the send queue

        [[nodiscard]] Psn end() const { return first + packets; }
        [[nodiscard]] bool is_answered() const;
        [[nodiscard]] bool takes_receive() const;
    };

    /// Nothing is sent until software has brought in a page.
    struct Stall {
        std::uint32_t token = 0;
        std::uint16_t index = 0; ///< of the request
        bool repeats = false;    ///< answers have been dropped: they are asked for again
    };

    bool start_next();
    bool start_own();
    void add(queues::SendWqe request, std::optional<queues::CompletionError> failure,
             std::shared_ptr<Rendezvous> rendezvous = nullptr);
    void own_completed(const UnderWay& done);
    void own_failed(UnderWay failed, queues::CompletionError error);
    void cancel_rendezvous();
    void forget();
    bool reach_target(const queues::SendWqe& request);
    [[nodiscard]] bool is_connected_for(const queues::SendWqe& request) const;
    void connect(const queues::SendWqe& request);
    void disconnect();
    void send_connect(const UnderWay& next);
    [[nodiscard]] bool may_send() const;
    [[nodiscard]] bool is_credited(const UnderWay& next) const;
    [[nodiscard]] bool may_use_receive(const UnderWay& next) const;
    [[nodiscard]] Psn cursor_psn() const;
    bool send_packet();
    bool send_part(UnderWay& next);
    void send_read(const UnderWay& next);
    void send_atomic(const UnderWay& next);
    [[nodiscard]] Operation part_of(const UnderWay& next) const;
    [[nodiscard]] bool wants_acknowledgement(const UnderWay& next,
                                             const Operation& operation) const;
    void advance();
    void fail_locally(UnderWay& next, queues::CompletionError error);
    bool stall(const UnderWay& request, queues::FaultPlace place, std::uint64_t done,
               std::size_t size);
    bool waits_for_page(memory::AccessFault fault, const UnderWay& answered, std::size_t size);

    [[nodiscard]] bool is_in_flight(Psn psn) const;
    [[nodiscard]] bool has_packets_in_flight() const { return sent_ != unacknowledged_; }
    bool acknowledge_before(Psn end);
    void acknowledged(const fabric::ParsedPacket& packet);
    void not_ready(Psn psn, std::uint8_t timer);
    void refused(Psn psn, std::uint8_t code);
    void answered(const fabric::ParsedPacket& packet, const Operation& operation);
    [[nodiscard]] bool is_answer_to(const UnderWay& oldest, const Operation& operation,
                                    std::size_t size) const;
    memory::AccessResult<void> store_answer(const UnderWay& oldest,
                                            std::span<const std::byte> data);
    void take_credits(const fabric::Aeth& header);
    void made_progress();
    UnderWay take_front();
    void complete_front(std::span<const std::byte> data);
    void fail_front(queues::CompletionError error);
    void give_up_stream();
    void report_local_failure();

    void responses_missing();
    void retry();
    void go_back();
    [[nodiscard]] std::optional<EventLoop::Duration> answer_timeout() const;
    void watch();
    void timer_expired();
    [[nodiscard]] queues::QueuePair& queue_pair() const { return channel_.queue_pair(); }

    Channel& channel_;
    ConnectionNumbers& numbers_;
    std::function<void()> wake_;
    std::uint16_t stream_ = 0; ///< that the dynamic connection serves
    Timer timer_;              ///< for acknowledgements, or the end of the pause
    EventLoop::TimePoint last_progress_;
    bool active_ = false;
    bool reliable_ = true;
    std::deque<UnderWay> outstanding_;
    std::deque<Own> own_;              ///< to be started
    std::size_t cursor_ = 0;           ///< request whose packets are being sent
    std::uint32_t cursor_packet_ = 0;  ///< the next of them
    std::uint32_t outstanding_rd_atomic_ = 0; ///< reads and atomics before the cursor
    Psn next_psn_;                     ///< of the next request
    Psn unacknowledged_;               ///< oldest packet that isn't
    Psn sent_;                         ///< behind the newest packet that has been sent
    Msn next_ssn_;                  ///< SSN of the next request
    std::optional<Msn> last_credited_; ///< requests up to this one find a receive request
    std::uint32_t retries_left_ = 0;
    std::uint32_t rnr_retries_left_ = 0;
    bool going_back_ = false; ///< packets are being repeated; later signs of the same loss are none
    bool pausing_ = false;    ///< the peer asked for a pause
    std::optional<Stall> stall_;
};

} // namespace cxemu::transport
