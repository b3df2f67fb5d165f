// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A queue pair: context, state, send and receive queue.
#pragma once

#include "hca/events.hpp"
#include "hca/objects.hpp"
#include "hwtab/view.hpp"
#include "memory/host_buffer.hpp"
#include "memory/memory_keys.hpp"
#include "queues/completion_queue.hpp"
#include "queues/dynamic_connections.hpp"
#include "queues/page_faults.hpp"
#include "queues/qp_values.hpp"
#include "queues/queue_counters.hpp"
#include "queues/receive_queue.hpp"
#include "queues/receive_request.hpp"
#include "queues/send_queue.hpp"
#include "queues/send_request.hpp"
#include "queues/shared_receive_queue.hpp"
#include "tables/contexts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace cxemu::queues {

class WorkQueues;
struct TagOperation;

/// Groups that share out bandwidth among queue pairs; empty: none.
struct SchedulingGroups {
    hca::Reference<hca::SchedulingElement> requester;
    hca::Reference<hca::SchedulingElement> responder;
};

/// What a queue pair refers to. Unused references are empty.
struct QueuePairResources {
    memory::HostBuffer buffer;         ///< receive queue, then send queue
    std::uint64_t doorbell_record = 0; ///< bus address
    hca::Reference<hca::ProtectionDomain> domain;
    hca::Reference<hca::Uar> uar;
    hca::Reference<hca::XrcDomain> xrc_domain;
    hca::Reference<hca::UserMemory> buffer_memory;
    hca::Reference<hca::UserMemory> record_memory;
    hca::Reference<CompletionQueue> send_completions;
    hca::Reference<CompletionQueue> receive_completions;
    hca::Reference<SharedReceiveQueue> shared_receive;
    std::shared_ptr<QueueCounterSet> counters; ///< from RST2INIT on
    SchedulingGroups groups{};
};

/// Bytes of the buffer that a context (layout qpc) describes.
std::uint64_t queue_buffer_size(hwtab::ConstView<hwtab::qpc> context);

class QueuePair final : public hca::Object {
public:
    static constexpr hca::ObjectKind kind = hca::ObjectKind::queue_pair;

    /// \param context of the layout qpc, checked
    QueuePair(hca::ObjectIdentity identity, WorkQueues& queues, std::span<const std::byte> context,
              QueuePairResources resources);

    [[nodiscard]] ServiceType service() const;
    [[nodiscard]] QueuePairState state() const;
    [[nodiscard]] memory::Accessor accessor() const;
    /// Who accesses memory for a packet that names an XRC shared receive queue: its protection
    /// domain counts. Nothing when the queue isn't of the queue pair's XRC domain.
    [[nodiscard]] std::optional<memory::Accessor> accessor(std::uint32_t xrc_srq) const;
    /// Counters of its set; a set that nobody reads when it has none.
    [[nodiscard]] QueueCounts& counts();
    /// Sends are executed and packets are received.
    [[nodiscard]] bool can_send() const { return state() == QueuePairState::ready_to_send; }
    /// Packets are received: RTR, RTS, SQD, SQER.
    [[nodiscard]] bool can_receive() const;

    /// The context as commands wrote it. Fields of the state of the transport (next_send_psn,
    /// next_rcv_psn, last_acked_psn, ssn, rmsn, current retry counters) are the transport's to keep
    /// up to date; queue counters and the state are those of this object.
    [[nodiscard]] hwtab::View<hwtab::qpc> context() { return hwtab::View<hwtab::qpc>{context_}; }
    [[nodiscard]] hwtab::ConstView<hwtab::qpc> context() const {
        return hwtab::ConstView<hwtab::qpc>{context_};
    }

    // --- Sends -----------------------------------------------------------------------------------

    /// The next request to execute. NOP, UMR and SET_PSV are executed here and never handed out,
    /// entries that can't be decoded fail here. The request is under way from now on: it ends with
    /// complete_send() or fail_send(), or by a flush.
    /// \return nothing when nothing is posted, the state isn't RTS, or a fence holds
    std::optional<SendWqe> next_send();

    /// Puts a request back that can't be started yet: next_send() yields it again.
    /// \pre it was the last one that next_send() yielded
    void return_send(const SendWqe& request);

    /// The request has succeeded. Its CQE, if it wants one, appears in the order of the requests.
    /// \param byte_count bytes read by a read or atomic
    /// \param data goes into the CQE (see response_fits_in_completion)
    void complete_send(const SendWqe& request, std::uint32_t byte_count = 0,
                       std::span<const std::byte> data = {});

    /// The request has failed: error CQE; the queue pair goes to ERR (SQER for datagrams and UC),
    /// everything else is flushed. Requests before this one must have ended. Of a dynamic initiator
    /// with streams only the stream fails, unless too many have.
    void fail_send(const SendWqe& request, CompletionError error, std::uint8_t vendor = 0);

    /// Ends a request without executing it: its stream has failed.
    void flush_send(const SendWqe& request);
    [[nodiscard]] ErroredStreams& streams() { return streams_; }

    /// Copies bytes [offset, offset + out.size()) of the message that \p request sends.
    memory::AccessResult<void> gather(const SendWqe& request, std::uint64_t offset,
                                      std::span<std::byte> out);
    /// Copies \p data to bytes [offset, ...) of where the response to \p request goes.
    memory::AccessResult<void> scatter_response(const SendWqe& request, std::uint64_t offset,
                                                std::span<const std::byte> data);
    /// True when a response of \p length bytes goes into the CQE instead of memory.
    [[nodiscard]] bool response_fits_in_completion(const SendWqe& request,
                                                   std::uint64_t length) const;

    /// Requests are under way.
    [[nodiscard]] bool has_sends_under_way() const { return !send_queue_.idle(); }
    [[nodiscard]] const SendQueue& send_queue() const { return send_queue_; }

    /// Starts no further request (state SQ draining), and is drained (SQD, event) as soon as none
    /// is under way.
    void drain_sends();

    // --- Receives --------------------------------------------------------------------------------

    /// Takes the next entry of the own or shared queue. A queue that turns out to be corrupt sends
    /// the queue pair to ERR.
    std::expected<RecvWqe, ReceiveFault> take_receive();

    /// Takes the next entry of the XRC shared receive queue that a packet names.
    /// \return no_queue when it doesn't exist or isn't of the queue pair's XRC domain
    std::expected<RecvWqe, ReceiveFault> take_receive(std::uint32_t xrc_srq);

    /// Receive requests that are posted and not taken; nothing for a shared queue, and when it has
    /// none.
    [[nodiscard]] std::optional<std::uint32_t> receive_credits();

    /// Copies \p data to bytes [offset, ...) of the request's memory.
    /// \pre offset + data.size() <= request.length
    memory::AccessResult<void> scatter(const RecvWqe& request, std::uint64_t offset,
                                       std::span<const std::byte> data);

    /// True when a message of \p length bytes goes into the CQE instead of memory.
    [[nodiscard]] bool fits_scatter_to_cqe(const RecvWqe& request,
                                          std::uint64_t length) const;

    /// Posts the CQE of a message that has arrived completely, or that a tag has been found for.
    void complete_receive(const RecvWqe& request, const ReceiveCompletion& completion);

    /// The shared receive queue, if it matches tags; otherwise nullptr.
    [[nodiscard]] SharedReceiveQueue* tag_matching_queue() const;
    /// The device itself fetches the data of a rendezvous that a tag fits.
    [[nodiscard]] bool fetches_rendezvous() const;
    /// The data of a message that a tag was found for will not come: posts the CQE that says so.
    void cancel_tag(const RecvWqe& request, std::uint16_t index);

    /// The message could not be received: error CQE, the queue pair goes to ERR.
    void fail_receive(const RecvWqe& request, CompletionError error,
                      std::uint8_t vendor = 0);

    /// The same, but the queue pair goes on: a target has lost one of its connections.
    void report_failed_receive(const RecvWqe& request, CompletionError error,
                               std::uint8_t vendor = 0);

    /// The queue pair is in ERR, or a target has lost a connection, and a request that was taken is
    /// not used any more.
    void flush_receive(const RecvWqe& request);

    /// A packet presented a wrong access key to this target.
    void count_key_violation();
    [[nodiscard]] KeyViolations& key_violations() { return key_violations_; }

    [[nodiscard]] const ReceiveQueue& receive_queue() const { return receive_queue_; }
    [[nodiscard]] SharedReceiveQueue* shared_receive() const {
        return resources_.shared_receive.get();
    }
    [[nodiscard]] const hca::XrcDomain* xrc_domain() const { return resources_.xrc_domain.get(); }
    [[nodiscard]] CompletionQueue* send_completions() const {
        return resources_.send_completions.get();
    }
    [[nodiscard]] CompletionQueue* receive_completions() const {
        return resources_.receive_completions.get();
    }

    // --- State -----------------------------------------------------------------------------------

    /// To ERR, if it isn't there, and flushes all work requests.
    void enter_error();

    /// A signature was wrong while the queue pair accessed memory: CQE; and if it is one of the
    /// sends, and the queue pair was made so, the send queue stops behind it (SQD).
    void report_signature_error(const memory::SignatureError& error);

    /// Writes completions that are held back to be compressed: software may look for them now.
    void publish_completions();

    /// An event about this queue pair: communication established, access error, ...
    void post_event(hca::EventType type);
    /// An event about this target: drained, key violation.
    void post_target_event(hca::EventType type);

    /// An access has met a page that isn't present: tells software. See PageFaults::raise().
    std::optional<std::uint32_t> raise_page_fault(const PageFault& fault);

    // --- For commands and doorbells --------------------------------------------------------------

    /// A transition by command; the context has been taken over already.
    void change_state(QueuePairState to);
    /// Replaces the context, except for its state. \pre context has the layout qpc
    void take_context(std::span<const std::byte> context);
    /// Fields of the context have changed, the state hasn't.
    void apply_context();
    /// Another completion queue or shared receive queue (RTS2RTS).
    void replace_receive_completions(hca::Reference<CompletionQueue> completions);
    void replace_shared_receive(hca::Reference<SharedReceiveQueue> queue);
    /// Counts in this set from now on; empty: nowhere.
    void replace_counters(std::shared_ptr<QueueCounterSet> counters);

    /// Belongs to these groups until it is reset.
    void replace_groups(SchedulingGroups groups) { resources_.groups = std::move(groups); }

    /// Looks into the doorbell record for new sends.
    void poll_send_doorbell();

    /// Whether the doorbell record says what is posted to the send queue; otherwise doorbells do.
    [[nodiscard]] bool has_send_record() const {
        return context().get<"send_dbr_mode">() ==
               hwtab::value<hwtab::qp_send_dbr_mode, "dbr_valid">;
    }
    /// Everything up to block \p counter is posted. The queue pair fails where the ring has no room
    /// for that.
    void post_sends(std::uint16_t counter);
    /// Takes the entry at \p index of the send queue from the doorbell register that it came to,
    /// as SendQueue::push().
    bool push_send(std::uint16_t index, std::span<const std::byte> request) {
        return send_queue_.push(index, request);
    }
    /// In ERR: flushes what has been posted since.
    void flush_posted();

    [[nodiscard]] const hca::Uar* uar() const { return resources_.uar.get(); }
    [[nodiscard]] const memory::HostBuffer& buffer() const { return resources_.buffer; }
    /// Writes state and counters of this moment into the context, for QUERY_QP.
    void refresh();

private:
    void fail_send_queue();
    std::expected<SendWqe, DecodeError> decode_next();
    void check_head(std::span<const std::byte> entry);
    void skip_undecodable(DecodeError error);
    void finish_local(const SendWqe& request);
    std::expected<void, CompletionError> change_tags(const SendWqe& request);
    void report_tag_operation(SharedReceiveQueue& queue, const TagOperation& operation,
                              std::uint16_t index, bool success);
    void finish_send(std::uint16_t index, std::optional<Completion> completion);
    bool tells_of_error(CompletionMode mode);
    void finish_with_error(const SendWqe& request, CompletionError error, std::uint8_t vendor);
    void report_failed_send(const SendWqe& request, CompletionError error, std::uint8_t vendor);
    void stop_sends();
    void report(CompletionQueue* queue, const Completion& completion);
    [[nodiscard]] CompletionQueue* completions_of(const SharedReceiveQueue* shared) const;
    [[nodiscard]] Completion send_completion(std::uint16_t index, std::uint8_t opcode) const;
    /// These two count what they say.
    [[nodiscard]] Completion send_error(std::uint16_t index, std::uint8_t opcode,
                                        CompletionError error, std::uint8_t vendor);
    [[nodiscard]] Completion receive_error(const RecvWqe& request, CompletionError error,
                                           std::uint8_t vendor);
    [[nodiscard]] XrcSharedReceiveQueue* find_xrc_queue(std::uint32_t number) const;
    void set_number(Completion& completion, const SharedReceiveQueue* shared) const;
    void set_state(QueuePairState to);
    void stop(QueuePairState to);
    void flush_sends();
    void flush_receives();
    void finish_draining();
    void drain_after_signature_error();

    WorkQueues& queues_;
    std::array<std::byte, hwtab::qpc.size> context_{};
    QueuePairResources resources_;
    SendQueue send_queue_;
    ReceiveQueue receive_queue_;
    QueueCounts uncounted_;
    bool held_back_ = false;       ///< the next send waits for one that is under way
    bool send_has_failed_ = false; ///< since the send queue began to work
    bool must_drain_ = false;      ///< a signature was wrong
    ErroredStreams streams_;        ///< of a dynamic initiator
    KeyViolations key_violations_; ///< of a dynamic target
};

} // namespace cxemu::queues
