// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The responder of a connection: from request packets to memory, completions and responses (IBA
/// volume 1, 9.7.4, 9.7.5 and 9.8.3).
#pragma once

#include "fabric/hca_port.hpp"
#include "fabric/packet.hpp"
#include "hca/events.hpp"
#include "queues/queue_pair.hpp"
#include "queues/tag_list.hpp"
#include "transport/atomic_operation.hpp"
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

/// RC and XRC accept packets only in order: a duplicate gets its response again, a later packet
/// gets a NAK. On UC a gap drops the message in which it occurs.
class Responder {
public:
    /// Takes over the rendezvous of a matched tag.
    using Fetch = std::function<void(Rendezvous)>;

    /// \param wake requests a call of send() soon
    /// \param fetch empty: there is no requester for the read of a rendezvous
    Responder(Channel& channel, std::function<void()> wake, Fetch fetch = {});

    /// INIT to RTR: initializes PSNs from the QP context.
    void start();
    /// Opens a DC connection with a packet of this PSN.
    void connect(Psn first);
    /// Duplicate connect packet.
    void repeat_connect();
    /// The DC connection is closed and its last response is sent, so it can be destroyed.
    [[nodiscard]] bool has_ended() const { return ended_; }
    /// The QP enters ERR: clears all state and flushes the current receive WQE.
    void stop();
    /// The QP enters RST or is being destroyed: clears all state.
    void reset();

    /// A request packet. \param port where it arrived
    void request_arrived(const fabric::HcaPort& port, const fabric::ParsedPacket& packet,
                         const Operation& operation);

    /// Sends at most \p budget packets and reduces the budget.
    /// \return true when there is more to send
    bool send(int& budget);

    /// Software has resumed a page fault. See queues::Transport::page_fault_resumed().
    void page_fault_resumed(std::uint32_t token, bool resolved);

    /// Updates PSN and MSN in the QP context.
    void refresh();

private:
    /// Reason why a packet is refused.
    enum class Refusal : std::uint8_t {
        receiver_not_ready, ///< no receive WQE: RNR NAK, may be retried
        invalid_request,    ///< operation not allowed, or invalid
        too_long,           ///< exceeds the receive WQE
        access,             ///< key, range or access rights violation
        operation,          ///< the receive buffer can't be written
        queue_failed,       ///< the receive queue is in error, so the QP fails as well
        page_absent,        ///< page fault reported: may be retried
    };
    using Outcome = std::expected<void, Refusal>;
    using Receive = std::expected<queues::RecvWqe, Refusal>;

    /// A message has matched a tag.
    struct Match {
        queues::TagEntry entry;
        queues::RecvWqe receive;            ///< receive buffer of the tag
        std::shared_ptr<hca::Object> owner; ///< keeps the queue of receive alive
        TagHeader header;
        std::optional<RendezvousHeader> source; ///< of a rendezvous
        bool reported = false;                  ///< reported to software, without data so far
    };

    /// A partially received message.
    struct Message {
        PacketOp verb = PacketOp::send;
        std::uint64_t arrived = 0;    ///< bytes
        fabric::Reth memory;          ///< of a write
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

    /// Packets get RNR NAKs until a page fault is resolved.
    struct Stall {
        std::uint32_t token = 0;
        Psn psn;                             ///< of the packet with the page fault
        Refusal otherwise = Refusal::access; ///< if there is no fault to report
        std::uint8_t refusals = 0;           ///< number of RNR NAKs sent
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
    [[nodiscard]] bool has_responder_resources() const;
    void complete_message(const Arrival& arrival);
    [[nodiscard]] queues::ReceiveCompletion completion_of(const Arrival& arrival,
                                                          std::uint64_t length) const;
    void discard_message();

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
    Msn messages_; ///< number of completed messages
    std::optional<Message> message_;
    std::optional<queues::RecvWqe> receive_;     ///< current one, or kept from a lost message
    std::shared_ptr<hca::Object> receive_owner_; ///< keeps the queue of receive_ alive
    std::optional<Stall> stall_;
    std::optional<Refusal> failure_; ///< final error of the QP
    bool refused_ = false;           ///< packets after a refused one get no further NAK
    bool established_ = false;       ///< the first packet has arrived
    bool ended_ = false;             ///< a DC connection has failed
};

} // namespace cxemu::transport
