// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The receiving half of a connection: from request packets to memory, completions and answers
/// (IBA volume 1, 9.7.4, 9.7.5 and 9.8.3).
#pragma once

#include "fabric/hca_port.hpp"
#include "fabric/packet.hpp"
#include "hca/events.hpp"
#include "queues/queue_pair.hpp"
#include "queues/tag_list.hpp"
#include "transport/atomic_operand.hpp"
#include "transport/channel.hpp"
#include "transport/operation.hpp"
#include "transport/rendezvous.hpp"
#include "transport/responses.hpp"
#include "transport/sequence_number.hpp"

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>

namespace cxemu::transport {

/// With RC and XRC packets are taken in order; a repeated one is answered again, one that comes too
/// early is refused. With UC a gap costs the message that it is in.
class Responder {
public:
    /// Takes over a rendezvous whose tag has been matched.
    using Fetch = std::function<void(Rendezvous)>;

    /// \param wake asks for a call of send() soon
    /// \param fetch empty: there is no requester that could read the data of a rendezvous
    Responder(Channel& channel, std::function<void()> wake, Fetch fetch = {});

    /// INIT to RTR: the numbers begin as the context says.
    void start();
    /// A dynamic connection begins, with a packet of this number.
    void connect(Psn first);
    /// ... and is asked for again.
    void repeat_connect();
    /// The connection of a target has ended, with the answers that say so sent: it is to be
    /// forgotten.
    [[nodiscard]] bool has_ended() const { return ended_; }
    /// To ERR: forgets everything. A receive request that is in use is flushed.
    void stop();
    /// To RST, or the queue pair is about to go: forgets everything.
    void reset();

    /// A packet of a request. \param port where it came in
    void request_arrived(const fabric::HcaPort& port, const fabric::ParsedPacket& packet,
                         const Operation& operation);

    /// Sends at most \p budget packets, which it takes from the budget.
    /// \return true when there is more to send
    bool send(int& budget);

    /// Software has answered a page fault. See queues::Transport::page_fault_resumed().
    void page_fault_resumed(std::uint32_t token, bool resolved);

    /// Writes numbers of this moment into the context.
    void refresh();

private:
    /// Why a packet isn't taken.
    enum class Refusal : std::uint8_t {
        receiver_not_ready, ///< nothing is posted: may be repeated
        invalid_request,    ///< not allowed, or makes no sense here
        too_long,           ///< longer than the receive request
        access,             ///< key, range or right don't fit
        operation,          ///< the memory of the receive request can't be written
        queue_failed,       ///< the receive queue is in error; its own queue pair then, too
        page_absent,        ///< software has been asked for a page: may be repeated
    };
    using Outcome = std::expected<void, Refusal>;
    using Receive = std::expected<queues::RecvWqe, Refusal>;

    /// A message has matched a tag.
    struct Match {
        queues::TagEntry entry;
        queues::RecvWqe receive;     ///< memory of the tag
        std::shared_ptr<hca::Object> owner; ///< keeps the queue of receive in memory
        TagHeader header;
        std::optional<RendezvousHeader> source; ///< of a rendezvous
        bool reported = false;                  ///< software knows of it, but has no data yet
    };

    /// A request that has arrived in part.
    struct Message {
        PacketOp verb = PacketOp::send;
        std::uint64_t arrived = 0;    ///< bytes
        fabric::Reth memory;    ///< of a write
        std::optional<Match> match{}; ///< of a send
        std::optional<queues::TagReport>
            without_match{}; ///< of a send to a queue that matches tags
    };
    struct Arrival {
        const fabric::HcaPort& port;
        const fabric::ParsedPacket& packet;
        const Operation& operation;

        [[nodiscard]] Psn psn() const { return Psn(packet.headers.transport.psn); }
    };

    /// Packets are put off until software has brought in a page.
    struct Stall {
        std::uint32_t token = 0;
        Psn psn;                             ///< of the packet that needs the page
        Refusal otherwise = Refusal::access; ///< if there is none
        std::uint8_t refusals = 0;           ///< how often the peer was put off
    };

    void take_reliable(const Arrival& arrival);
    void take_expected(const Arrival& arrival);
    void repeat(const Arrival& arrival);
    void report_gap();
    void take_unreliable(const Arrival& arrival);
    void drop_message();

    [[nodiscard]] Outcome check_sequence(const Arrival& arrival) const;
    [[nodiscard]] Outcome execute(const Arrival& arrival);
    [[nodiscard]] Outcome execute_send(const Arrival& arrival);
    [[nodiscard]] Outcome begin_send(const Arrival& arrival);
    [[nodiscard]] Outcome check_length(const Arrival& arrival) const;
    [[nodiscard]] Outcome store_send(const Arrival& arrival);
    [[nodiscard]] Outcome store_matched(const Arrival& arrival);
    [[nodiscard]] Outcome execute_write(const Arrival& arrival);
    [[nodiscard]] Outcome begin_write(const Arrival& arrival);
    [[nodiscard]] Outcome store_write(const Arrival& arrival);
    [[nodiscard]] Outcome execute_read(const Arrival& arrival);
    [[nodiscard]] Outcome execute_atomic(const Arrival& arrival);
    [[nodiscard]] bool accepts_operand(std::size_t size, bool plain) const;
    memory::AccessResult<AtomicWords> change_memory(memory::Accessor who,
                                                    const fabric::AtomicEth& header,
                                                    const AtomicOperation& operation);
    [[nodiscard]] Outcome provide_receive(const Arrival& arrival);
    [[nodiscard]] Outcome check_memory(const Arrival& arrival, const fabric::Reth& memory,
                                       memory::AccessRight right);
    [[nodiscard]] std::optional<memory::Accessor> accessor(const Arrival& arrival) const;
    [[nodiscard]] bool has_room_for_answer() const;
    void complete_message(const Arrival& arrival);
    [[nodiscard]] queues::ReceiveCompletion completion_of(const Arrival& arrival,
                                                          std::uint64_t length) const;
    void abandon_message();

    [[nodiscard]] static Message look_for_tag(queues::SharedReceiveQueue& queue,
                                              const Arrival& arrival);
    [[nodiscard]] bool is_fetched(const Match& match) const;
    void report_match();
    void complete_match(const Arrival& arrival, const Message& message);
    void begin_rendezvous(const Arrival& arrival, const Match& match);

    [[nodiscard]] Refusal refusal_of(memory::AccessFault fault, Refusal otherwise,
                                     const queues::PageFault& page_fault);
    [[nodiscard]] Refusal refusal_of(memory::AccessFault fault, const Arrival& arrival,
                                     const fabric::Reth& memory);
    void put_off();
    void refuse(Refusal refusal);
    void fail();
    void end_connection(const std::optional<queues::RecvWqe>& receive,
                        queues::CompletionError error);
    void count(const Operation& operation);
    void establish();
    [[nodiscard]] queues::QueuePair& queue_pair() const { return channel_.queue_pair(); }

    Channel& channel_;
    std::function<void()> wake_;
    Fetch fetch_;
    Responses responses_;
    Psn expected_;
    Msn messages_; ///< completed so far
    std::optional<Message> message_;
    std::optional<queues::RecvWqe>
        receive_;                                ///< in use, or spared by a message that was lost
    std::shared_ptr<hca::Object> receive_owner_; ///< keeps the queue of receive_ in memory
    std::optional<Stall> stall_;
    std::optional<Refusal> failure_; ///< what the queue pair ends with
    bool refused_ = false;     ///< what comes behind a packet that was refused isn't refused again
    bool established_ = false; ///< the first packet has arrived
    bool ended_ = false;       ///< a dynamic connection has failed
};

} // namespace cxemu::transport
