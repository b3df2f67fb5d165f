// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A QP: context, state, send and receive queue.
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
#include "queues/recv_wqe.hpp"
#include "queues/send_queue.hpp"
#include "queues/send_wqe.hpp"
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

/// Scheduling groups of requester and responder; empty: none.
struct SchedulingGroups {
    hca::Reference<hca::SchedulingElement> requester;
    hca::Reference<hca::SchedulingElement> responder;
};

/// Objects that a QP refers to. Unused references are empty.
struct QueuePairResources {
    memory::HostBuffer buffer;         ///< RQ, then SQ
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

/// Size of the WQ buffer in bytes.
/// \param context of the layout qpc
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
    /// Accessor for a packet to an XRC SRQ, which has the PD of the SRQ. Empty when the SRQ isn't
    /// in the XRC domain of the QP.
    [[nodiscard]] std::optional<memory::Accessor> accessor(std::uint32_t xrc_srq) const;
    /// Counters of its set; a private set when it has none.
    [[nodiscard]] QueueCounts& counts();
    /// RTS: send WQEs are executed and packets are received.
    [[nodiscard]] bool can_send() const { return state() == QueuePairState::ready_to_send; }
    /// Packets are received: RTR, RTS, SQD, SQER.
    [[nodiscard]] bool can_receive() const;

    /// The context as commands wrote it. The transport updates the fields of its state
    /// (next_send_psn, next_rcv_psn, last_acked_psn, ssn, rmsn, current retry counters) in
    /// refresh(); this object updates queue counters and state.
    [[nodiscard]] hwtab::View<hwtab::qpc> context() { return hwtab::View<hwtab::qpc>{context_}; }
    [[nodiscard]] hwtab::ConstView<hwtab::qpc> context() const {
        return hwtab::ConstView<hwtab::qpc>{context_};
    }

    // --- Sends -----------------------------------------------------------------------------------

    /// The next WQE to execute. NOP, UMR and SET_PSV are executed here and never returned;
    /// malformed WQEs fail here. The WQE is outstanding until complete_send(), fail_send() or a
    /// flush.
    /// \return empty when nothing is posted, the state isn't RTS, or a fence holds
    std::optional<SendWqe> next_send();

    /// Puts back a WQE that cannot be started yet, so that next_send() returns it again.
    /// \pre next_send() has returned this WQE last
    void return_send(const SendWqe& request);

    /// The WQE has succeeded. Its CQE, if signaled, is written in WQE order.
    /// \param byte_count length of a read or atomic response
    /// \param data response data for the CQE (see response_fits_scatter_to_cqe)
    void complete_send(const SendWqe& request, std::uint32_t byte_count = 0,
                       std::span<const std::byte> data = {});

    /// The WQE has failed: posts an error CQE, moves the QP to ERR (SQER for datagrams and UC), and
    /// flushes all other WQEs. WQEs before this one must have completed. On a DCI with streams only
    /// the stream enters the error state, up to the limit of errored streams.
    void fail_send(const SendWqe& request, CompletionError error, std::uint8_t vendor = 0);

    /// Flushes a WQE of an errored stream.
    void flush_send(const SendWqe& request);
    [[nodiscard]] ErroredStreams& streams() { return streams_; }

    /// Reads bytes [offset, offset + out.size()) of the message of \p request.
    memory::AccessResult<void> gather(const SendWqe& request, std::uint64_t offset,
                                      std::span<std::byte> out);
    /// Writes \p data to bytes [offset, ...) of the response buffer of \p request.
    memory::AccessResult<void> scatter_response(const SendWqe& request, std::uint64_t offset,
                                                std::span<const std::byte> data);
    /// True when a response of \p length bytes is scattered to the CQE instead of memory.
    [[nodiscard]] bool response_fits_scatter_to_cqe(const SendWqe& request,
                                                    std::uint64_t length) const;

    /// WQEs are outstanding.
    [[nodiscard]] bool has_outstanding_sends() const { return !send_queue_.idle(); }
    [[nodiscard]] const SendQueue& send_queue() const { return send_queue_; }

    /// Starts no further WQE (state SQ draining); enters SQD and posts the event when none is
    /// outstanding.
    void drain_sends();

    // --- Receives --------------------------------------------------------------------------------

    /// Takes the next WQE of the RQ or SRQ. A corrupt RQ or SRQ moves the QP to ERR.
    std::expected<RecvWqe, ReceiveFault> take_receive();

    /// Takes the next WQE of XRC SRQ \p xrc_srq of a packet.
    /// \return no_queue when it doesn't exist or isn't in the XRC domain of the QP
    std::expected<RecvWqe, ReceiveFault> take_receive(std::uint32_t xrc_srq);

    /// Number of posted receive WQEs that are not taken; empty with an SRQ or without RQ.
    [[nodiscard]] std::optional<std::uint32_t> receive_credits();

    /// Writes \p data to bytes [offset, ...) of the WQE's scatter list.
    /// \pre offset + data.size() <= request.length
    memory::AccessResult<void> scatter(const RecvWqe& request, std::uint64_t offset,
                                       std::span<const std::byte> data);

    /// True when a message of \p length bytes is scattered to the CQE instead of memory.
    [[nodiscard]] bool fits_scatter_to_cqe(const RecvWqe& request, std::uint64_t length) const;

    /// Posts the CQE of a message that is complete or whose tag has matched.
    void complete_receive(const RecvWqe& request, const ReceiveCompletion& completion);

    /// The SRQ, if it matches tags; otherwise nullptr.
    [[nodiscard]] SharedReceiveQueue* tag_matching_queue() const;
    /// Rendezvous offload: the device fetches the data of a matching rendezvous.
    [[nodiscard]] bool fetches_rendezvous() const;
    /// The data of a matched message will not arrive: posts a CQE with TagReport::canceled.
    void cancel_tag(const RecvWqe& request, std::uint16_t index);

    /// The message could not be received: posts an error CQE, and moves the QP to ERR.
    void fail_receive(const RecvWqe& request, CompletionError error, std::uint8_t vendor = 0);

    /// A DCT has lost one of its connections: posts an error CQE, but the QP continues.
    void report_failed_receive(const RecvWqe& request, CompletionError error,
                               std::uint8_t vendor = 0);

    /// Flushes a taken receive WQE: the QP is in ERR, or a DCT has lost a connection.
    void flush_receive(const RecvWqe& request);

    /// A packet to this DCT had a wrong access key.
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

    /// Enters ERR, if not there, and flushes all WQEs.
    void enter_error();

    /// A signature error during an access by the QP: posts a CQE. If a send WQE caused it and the
    /// QP was created with drain_sigerr, the SQ is drained (SQD).
    void report_signature_error(const memory::SignatureError& error);

    /// Writes CQEs that were delayed for compression, before software polls for them.
    void publish_completions();

    /// Posts an event of this QP: communication established, access error, ...
    void post_event(hca::EventType type);
    /// Posts an event of this DCT: drained, key violation.
    void post_target_event(hca::EventType type);

    /// An access has met an absent page: see PageFaults::raise().
    std::optional<std::uint32_t> raise_page_fault(const PageFault& fault);

    // --- For commands and doorbells --------------------------------------------------------------

    /// Transition by command; take_context() has been called already.
    void change_state(QueuePairState to);
    /// Replaces the context, except for its state. \pre context has the layout qpc
    void take_context(std::span<const std::byte> context);
    /// Fields of the context have changed, the state hasn't.
    void apply_context();
    /// New receive CQ or SRQ (RTS2RTS).
    void replace_receive_completions(hca::Reference<CompletionQueue> completions);
    void replace_shared_receive(hca::Reference<SharedReceiveQueue> queue);
    /// Uses this counter set from now on; empty: none.
    void replace_counters(std::shared_ptr<QueueCounterSet> counters);

    /// Joins these scheduling groups until reset.
    void replace_groups(SchedulingGroups groups) { resources_.groups = std::move(groups); }

    /// Posts the WQEs that both the doorbell and the doorbell record announce. What only the record
    /// announces waits for its doorbell, without limit: its payload may still be on its way to
    /// device memory.
    /// \param end first WQEBB after the WQE whose control segment was written to the doorbell
    void ring_send_doorbell(std::uint16_t end);

    /// Whether posted WQEs are announced in the doorbell record; otherwise only by doorbells.
    [[nodiscard]] bool has_send_record() const {
        return context().get<"send_dbr_mode">() ==
               hwtab::value<hwtab::qp_send_dbr_mode, "dbr_valid">;
    }
    /// All WQEBBs before \p counter are posted. Moves the QP to ERR if that exceeds the ring.
    void post_sends(std::uint16_t counter);
    /// Takes the WQE at \p index from a BlueFlame write, as SendQueue::push().
    bool push_send(std::uint16_t index, std::span<const std::byte> request) {
        return send_queue_.push(index, request);
    }
    /// In ERR: flushes WQEs posted since.
    void flush_posted();

    [[nodiscard]] const hca::Uar* uar() const { return resources_.uar.get(); }
    [[nodiscard]] const memory::HostBuffer& buffer() const { return resources_.buffer; }
    /// Writes current state and counters to the context, for QUERY_QP.
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
    bool reports_error(CompletionMode mode);
    void finish_with_error(const SendWqe& request, CompletionError error, std::uint8_t vendor);
    void report_failed_send(const SendWqe& request, CompletionError error, std::uint8_t vendor);
    void stop_sends();
    void report(CompletionQueue* queue, const Completion& completion);
    [[nodiscard]] CompletionQueue* completions_of(const SharedReceiveQueue* shared) const;
    [[nodiscard]] Completion send_completion(std::uint16_t index, std::uint8_t opcode) const;
    /// Both also increment the error counters.
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
    [[nodiscard]] bool may_start_after_error(const SendWqe& request) const;
    void post_signature_errors();
    void check_changes(bool may_cancel);
    void report_change(std::uint16_t index);

    WorkQueues& queues_;
    std::array<std::byte, hwtab::qpc.size> context_{};
    QueuePairResources resources_;
    SendQueue send_queue_;
    ReceiveQueue receive_queue_;
    QueueCounts uncounted_;
    bool held_back_ = false;       ///< the next WQE waits for an outstanding one
    bool send_has_failed_ = false; ///< since the SQ left reset or SQER
    bool must_drain_ = false;      ///< after a signature error
    bool until_fence_ = false;     ///< the drain begins at the next fence, or when no WQE waits
    /// A CQE that follows those of all WQEs up to this one.
    struct LateCompletion {
        std::uint16_t index;
        Completion completion;
    };
    std::vector<LateCompletion> signature_errors_;
    ErroredStreams streams_;       ///< of a DCI
    KeyViolations key_violations_; ///< of a DCT
};

} // namespace cxemu::queues
