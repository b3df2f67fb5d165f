// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/queue_pair.hpp"

#include "queues/error_counts.hpp"
#include "queues/local_operations.hpp"
#include "queues/rules.hpp"
#include "queues/tag_list.hpp"
#include "queues/tag_operation.hpp"
#include "queues/transitions.hpp"
#include "queues/work_queues.hpp"
#include "queues/wqe_envelope.hpp"
#include "tables/events.hpp"
#include "tables/work_queue.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace cxemu::queues {

namespace {

constexpr std::uint32_t log_ds_size = 4;
constexpr std::uint64_t send_counter_offset =
    hwtab::locate(hwtab::qp_doorbell_record, "send_counter").offset / hwtab::bits_per_word *
    sizeof(std::uint32_t);
constexpr std::size_t small_data = 32; ///< bytes of inline data in a 64-byte CQE
constexpr std::size_t large_data = 64; ///< bytes of inline data in the first half of a 128-byte CQE

ReceiveRing receive_ring(hwtab::ConstView<hwtab::qpc> context, const memory::HostBuffer& buffer) {
    if (context.get<"rq_type">() != static_cast<std::uint8_t>(ReceiveSource::own_queue))
        return {};
    return {.buffer = &buffer,
            .log_stride = static_cast<std::uint32_t>(context.get<"log_rq_stride">()) + log_ds_size,
            .entries = 1U << context.get<"log_rq_size">(),
            .prefix = context.get<"wq_signature">() != 0 ? hwtab::rwqe_sig.size : 0};
}

/// The SQ follows the RQ, aligned to a WQEBB.
std::uint64_t send_start(const ReceiveRing& ring) {
    const std::uint64_t size = std::uint64_t{ring.entries} << ring.log_stride;
    return (size + SendQueue::block_size - 1) / SendQueue::block_size * SendQueue::block_size;
}

SendQueue send_ring(hwtab::ConstView<hwtab::qpc> context, const memory::HostBuffer& buffer) {
    const std::uint32_t blocks =
        context.get<"no_sq">() != 0 ? 0 : 1U << context.get<"log_sq_size">();
    return {buffer, send_start(receive_ring(context, buffer)), blocks};
}

ErroredStreams streams_of(hwtab::ConstView<hwtab::qpc> context) {
    const bool has_streams = context.get<"st">() == hwtab::value<hwtab::qp_service_type, "dci"> &&
                             context.get<"log_num_dci_stream_channels">() != 0;
    if (!has_streams)
        return {};
    return ErroredStreams(std::size_t{1} << context.get<"log_num_dci_errored_streams">());
}

CompletionError error_of(DecodeError error) {
    return error == DecodeError::message_too_long || error == DecodeError::bad_atomic_length
               ? CompletionError::local_length
               : CompletionError::local_operation;
}

/// Scatters data to the CQE, if it fits.
void attach_data(Completion& completion, std::span<const std::byte> data) {
    if (data.empty())
        return;
    const bool small = data.size() <= small_data;
    completion.format =
        small ? CompletionFormat::data_in_entry : CompletionFormat::data_in_first_half;
    std::ranges::copy(data, small ? completion.entry.begin() : completion.first_half.begin());
}

/// For a matched tag the CQE has the tag matching header instead of the fields of the packet.
void attach_tag(Completion& completion, const TagResult& tag) {
    const auto fields = completion.fields();
    fields.set<"app">(hwtab::value<hwtab::cqe_app, "tag_matching">);
    fields.set<"app_op">(static_cast<std::uint8_t>(tag.report));
    fields.set<"app_info">(tag.index);
    std::ranges::copy(tag.header, completion.entry.begin());
}

/// iPXE's golan sets no log_msg_max in datagram QPs, whose messages the MTU limits anyway.
std::uint32_t log_max_message(const QueuePair& queue_pair, const hca::Capabilities& capabilities) {
    const auto log = queue_pair.context().get<"log_msg_max">();
    const bool is_limited = log != 0 || group_of(queue_pair.service()) != ServiceGroup::datagram;
    return static_cast<std::uint32_t>(is_limited ? log : capabilities.current<"log_max_msg">());
}

/// Operand sizes of masked atomics, one bit for each power of two.
std::uint64_t atomic_sizes(ServiceType service, const hca::Capabilities& capabilities) {
    return service == ServiceType::dci ? capabilities.atomic<"atomic_size_dc">()
                                       : capabilities.atomic<"atomic_size_qp">();
}

} // namespace

std::uint64_t queue_buffer_size(hwtab::ConstView<hwtab::qpc> context) {
    const memory::HostBuffer none;
    const ReceiveRing ring = receive_ring(context, none);
    const SendQueue sends = send_ring(context, none);
    const std::uint64_t receive_size = std::uint64_t{ring.entries} << ring.log_stride;
    return sends.exists()
               ? send_start(ring) + (std::uint64_t{sends.blocks()} * SendQueue::block_size)
           : ring.entries != 0 ? receive_size
                               : 0;
}

QueuePair::QueuePair(hca::ObjectIdentity identity, WorkQueues& queues,
                     std::span<const std::byte> context, QueuePairResources resources)
    : Object(identity), queues_(queues), resources_(std::move(resources)) {
    std::ranges::copy(context.first(context_.size()), context_.begin());
    set_state(QueuePairState::reset);
    const hwtab::ConstView<hwtab::qpc> fields{context_};
    send_queue_ = send_ring(fields, resources_.buffer);
    receive_queue_ =
        ReceiveQueue(receive_ring(fields, resources_.buffer), resources_.doorbell_record);
    streams_ = streams_of(fields);
}

ServiceType QueuePair::service() const {
    return static_cast<ServiceType>(context().get<"st">());
}

QueuePairState QueuePair::state() const {
    return static_cast<QueuePairState>(context().get<"state">());
}

void QueuePair::set_state(QueuePairState to) {
    context().set<"state">(static_cast<std::uint8_t>(to));
}

memory::Accessor QueuePair::accessor() const {
    return {.protection_domain = static_cast<std::uint32_t>(context().get<"pd">()),
            .queue_pair = number(),
            .any_domain = service() == ServiceType::reg_umr,
            .resd_lkey = context().get<"rlky">() != 0};
}

std::optional<memory::Accessor> QueuePair::accessor(std::uint32_t xrc_srq) const {
    const XrcSharedReceiveQueue* queue = find_xrc_queue(xrc_srq);
    if (queue == nullptr)
        return std::nullopt;
    return memory::Accessor{.protection_domain = queue->protection_domain(),
                            .queue_pair = number()};
}

XrcSharedReceiveQueue* QueuePair::find_xrc_queue(std::uint32_t xrc_srq) const {
    auto* queue = queues_.hca().objects().of<XrcSharedReceiveQueue>().find(xrc_srq);
    return queue != nullptr && queue->xrc_domain() == xrc_domain() ? queue : nullptr;
}

QueueCounts& QueuePair::counts() {
    return resources_.counters ? resources_.counters->counts : uncounted_;
}

bool QueuePair::can_receive() const {
    switch (state()) {
    case QueuePairState::ready_to_receive:
    case QueuePairState::ready_to_send:
    case QueuePairState::send_queue_error:
    case QueuePairState::send_queue_draining:
    case QueuePairState::send_queue_drained:
        return true;
    default:
        return false;
    }
}

// --- Completions ---------------------------------------------------------------------------------

/// Sets the user index of the QP or SRQ, or the SRQ number.
void QueuePair::set_number(Completion& completion, const SharedReceiveQueue* shared) const {
    auto index = static_cast<std::uint32_t>(context().get<"user_index">());
    if (shared != nullptr && shared->completions() != nullptr)
        index = shared->user_index();
    const bool has_index = queues_.hca().capabilities().current<"cqe_version">() != 0 &&
                           index != SharedReceiveQueue::no_user_index;
    const std::uint32_t srq = shared != nullptr ? shared->number() : 0;
    completion.fields().set<"user_index">(has_index ? index : srq);
    completion.fields().set<"qpn">(number());
    completion.is_management = is_management(service());
}

Completion QueuePair::send_completion(std::uint16_t index, std::uint8_t opcode) const {
    Completion completion;
    completion.opcode = CompletionOpcode::requester;
    set_number(completion, nullptr);
    completion.fields().set<"s_wqe_opcode">(opcode);
    completion.fields().set<"wqe_counter">(index);
    completion.fields().set<"timestamp">(queues_.timestamp());
    return completion;
}

Completion QueuePair::send_error(std::uint16_t index, std::uint8_t opcode, CompletionError error,
                                 std::uint8_t vendor) {
    count_send_error(counts(), error);
    Completion completion;
    completion.opcode = CompletionOpcode::requester_error;
    set_number(completion, nullptr);
    const auto fields = completion.error_fields();
    fields.set<"s_wqe_opcode">(opcode);
    fields.set<"wqe_counter">(index);
    fields.set<"syndrome">(static_cast<std::uint8_t>(error));
    fields.set<"vendor_err_synd">(vendor);
    return completion;
}

Completion QueuePair::receive_error(const RecvWqe& request, CompletionError error,
                                    std::uint8_t vendor) {
    count_receive_error(counts(), error);
    Completion completion;
    completion.opcode = CompletionOpcode::responder_error;
    set_number(completion, request.shared);
    const auto fields = completion.error_fields();
    fields.set<"wqe_counter">(request.index);
    fields.set<"syndrome">(static_cast<std::uint8_t>(error));
    fields.set<"vendor_err_synd">(vendor);
    return completion;
}

/// A CQE that can't be written is reported by a QP error event.
void QueuePair::report(CompletionQueue* queue, const Completion& completion) {
    if (queue == nullptr)
        return;
    ++queues_.counters().completions.at(static_cast<std::size_t>(completion.opcode));
    if (queue->post(completion))
        return;
    ++counts().cq_overflow;
    if (state() == QueuePairState::error)
        return;
    post_event(hca::EventType::work_queue_catastrophic_error);
    enter_error();
}

CompletionQueue* QueuePair::completions_of(const SharedReceiveQueue* shared) const {
    return shared != nullptr && shared->completions() != nullptr ? shared->completions()
                                                                 : receive_completions();
}

// --- Sends ---------------------------------------------------------------------------------------

std::expected<SendWqe, DecodeError> QueuePair::decode_next() {
    auto& hca = queues_.hca();
    auto bytes = send_queue_.fetch(
        hca.dma(), static_cast<std::uint32_t>(hca.capabilities().current<"max_wqe_sz_sq">()));
    if (!bytes)
        return std::unexpected(bytes.error());
    check_head(*bytes);
    auto request = decode({.service = service(),
                           .log_max_message = log_max_message(*this, hca.capabilities()),
                           .has_signatures = context().get<"wq_signature">() != 0,
                           .atomic_sizes = atomic_sizes(service(), hca.capabilities())},
                          *std::move(bytes));
    if (request)
        request->index = send_queue_.next();
    return request;
}

void QueuePair::check_head(std::span<const std::byte> entry) {
    const CtrlSegment head = decode_head(entry);
    if (head.index != send_queue_.next() || head.queue_pair != number())
        queues_.hca().violation(rules::send_entry_misnumbered,
                                "queue pair {:#x}, entry {:#x}: control segment says {:#x}, {:#x}",
                                number(), send_queue_.next(), head.queue_pair, head.index);
}

std::optional<SendWqe> QueuePair::next_send() {
    held_back_ = false;
    drain_after_signature_error();
    while (can_send() && send_queue_.waiting() != 0) {
        auto request = decode_next();
        if (until_fence_ && !(request && may_start_after_error(*request))) {
            until_fence_ = false;
            drain_sends();
            return std::nullopt;
        }
        const bool needs_order = !request || is_local(request->opcode);
        held_back_ = needs_order ? !send_queue_.idle() : send_queue_.must_wait(request->fence);
        if (held_back_)
            return std::nullopt;
        if (!request) {
            skip_undecodable(request.error());
            return std::nullopt;
        }
        if (context().get<"drain_sigerr">() != 0 && send_queue_.next_changed(queues_.hca().dma()))
            report_change(send_queue_.next());
        ++queues_.counters().sends_executed;
        if (check::Envelope* envelope = queues_.hca().envelope())
            record_send(*envelope, service(), request->bytes);
        send_queue_.start(*request);
        if (!is_local(request->opcode))
            return *std::move(request);
        finish_local(*request);
    }
    if (std::exchange(until_fence_, false))
        drain_sends(); // no fence is posted
    return std::nullopt;
}

void QueuePair::return_send(const SendWqe& request) {
    send_queue_.put_back(request.index);
}

void QueuePair::skip_undecodable(DecodeError error) {
    auto& hca = queues_.hca();
    SendWqe request;
    request.index = send_queue_.next();
    // The host may turn bus mastering off while sends are posted.
    if (error != DecodeError::unreachable || hca.dma().bus_master())
        hca.violation(rules::send_entry_malformed, "queue pair {:#x}, entry {:#x}: {}", number(),
                      request.index, describe(error));
    send_queue_.start_undecodable(hca.dma());
    report_failed_send(request, error_of(error), static_cast<std::uint8_t>(error));
    stop_sends();
}

void QueuePair::finish_local(const SendWqe& request) {
    ++queues_.counters().local_operations;
    const memory::UmrRights rights{.privileged = service() == ServiceType::reg_umr,
                                   .fast_registration = context().get<"fre">() != 0};
    const auto executed = request.opcode == SendOpcode::tag_matching
                              ? change_tags(request)
                              : execute_local(queues_.memory(), accessor(), rights, request);
    if (executed)
        complete_send(request);
    else
        fail_send(request, executed.error());
}

void QueuePair::complete_send(const SendWqe& request, std::uint32_t byte_count,
                              std::span<const std::byte> data) {
    std::optional<Completion> completion;
    if (request.signaled()) {
        completion = send_completion(request.index, static_cast<std::uint8_t>(request.opcode));
        completion->fields().set<"byte_cnt">(byte_count);
        completion->forces_event = request.completion == CompletionMode::always_with_event;
        attach_data(*completion, data);
    }
    finish_send(request.index, std::move(completion));
    drain_after_signature_error();
    finish_draining();
    if (held_back_)
        queues_.schedule(*this);
}

void QueuePair::finish_send(std::uint16_t index, std::optional<Completion> completion) {
    for (const Completion& ready : send_queue_.finish(index, std::move(completion)))
        report(send_completions(), ready);
    post_signature_errors();
}

bool QueuePair::reports_error(CompletionMode mode) {
    const bool is_first = !std::exchange(send_has_failed_, true);
    return is_first || mode != CompletionMode::only_first_error;
}

void QueuePair::finish_with_error(const SendWqe& request, CompletionError error,
                                  std::uint8_t vendor) {
    std::optional<Completion> completion;
    if (reports_error(request.completion))
        completion =
            send_error(request.index, static_cast<std::uint8_t>(request.opcode), error, vendor);
    finish_send(request.index, std::move(completion));
}

void QueuePair::report_failed_send(const SendWqe& request, CompletionError error,
                                   std::uint8_t vendor) {
    ++queues_.counters().send_errors;
    queues_.hca().log()->debug(
        "queue pair {:#x}, send {:#x} failed: {}", number(), request.index,
        hwtab::name_of(hwtab::cqe_syndrome, static_cast<std::uint8_t>(error)));
    finish_with_error(request, error, vendor);
}

void QueuePair::fail_send(const SendWqe& request, CompletionError error, std::uint8_t vendor) {
    report_failed_send(request, error, vendor);
    if (!can_receive() || !streams_.exist() || !streams_.add(request.stream))
        return stop_sends();
    finish_draining();
    queues_.schedule(*this);
}

void QueuePair::flush_send(const SendWqe& request) {
    ++queues_.counters().sends_flushed;
    finish_with_error(request, CompletionError::flushed, 0);
    finish_draining();
}

/// A send WQE has failed: flushes all others.
void QueuePair::stop_sends() {
    if (!can_receive())
        return;
    const bool receives_go_on =
        is_datagram(service()) || service() == ServiceType::unreliable_connection;
    stop(receives_go_on ? QueuePairState::send_queue_error : QueuePairState::error);
}

memory::AccessResult<void> QueuePair::gather(const SendWqe& request, std::uint64_t offset,
                                             std::span<std::byte> out) {
    for (const DataPiece& piece : request.data) {
        if (out.empty())
            break;
        const auto length = std::visit([](const auto& part) { return part.length; }, piece);
        if (offset >= length) {
            offset -= length;
            continue;
        }
        const auto size = std::min<std::uint64_t>(length - offset, out.size());
        if (const auto* data = std::get_if<InlineData>(&piece)) {
            const auto bytes = std::span(request.bytes).subspan(data->offset + offset, size);
            std::ranges::copy(bytes, out.begin());
        } else {
            const std::span list(&std::get<memory::DataSegment>(piece), 1);
            const auto result = queues_.memory().gather(accessor(), list, offset, out.first(size));
            if (!result)
                return result;
        }
        out = out.subspan(size);
        offset = 0;
    }
    return {};
}

memory::AccessResult<void> QueuePair::scatter_response(const SendWqe& request, std::uint64_t offset,
                                                       std::span<const std::byte> data) {
    std::vector<memory::DataSegment> list;
    for (const DataPiece& piece : request.data)
        list.push_back(std::get<memory::DataSegment>(piece));
    return queues_.memory().scatter(accessor(), list, offset, data);
}

bool QueuePair::response_fits_scatter_to_cqe(const SendWqe& request, std::uint64_t length) const {
    const auto mode = context().get<"cs_req">();
    if (!request.signaled() || length == 0 || mode == hwtab::value<hwtab::qp_cs_req, "disable">)
        return false;
    return length <= small_data || (mode == hwtab::value<hwtab::qp_cs_req, "up_to_64b"> &&
                                    length <= large_data && send_completions()->has_first_half());
}

void QueuePair::drain_sends() {
    if (state() != QueuePairState::ready_to_send)
        return;
    check_changes(false); // of WQEs that wait; those that start are checked one by one
    const QueuePairState from = state();
    set_state(QueuePairState::send_queue_draining);
    queues_.notify(*this, from);
    finish_draining();
}

void QueuePair::finish_draining() {
    if (state() != QueuePairState::send_queue_draining || !send_queue_.idle())
        return;
    set_state(QueuePairState::send_queue_drained);
    queues_.notify(*this, QueuePairState::send_queue_draining);
    post_event(hca::EventType::send_queue_drained);
}

// --- Tag matching --------------------------------------------------------------------------------

SharedReceiveQueue* QueuePair::tag_matching_queue() const {
    SharedReceiveQueue* queue = shared_receive();
    return queue != nullptr && queue->tags() != nullptr ? queue : nullptr;
}

bool QueuePair::fetches_rendezvous() const {
    return context().get<"offload_type">() == hwtab::value<hwtab::qp_offload_type, "rndv"> &&
           shared_receive() != nullptr && shared_receive()->fetches_rendezvous();
}

/// A tag list operation on the XRQ of this QP.
std::expected<void, CompletionError> QueuePair::change_tags(const SendWqe& request) {
    SharedReceiveQueue* queue = tag_matching_queue();
    auto operation = decode_tag_operation(request);
    if (queue == nullptr || !operation)
        return std::unexpected(CompletionError::local_operation);
    TagList& tags = *queue->tags();
    if (operation->handled)
        tags.synchronize(*operation->handled);
    std::uint16_t index = operation->index;
    bool success = true;
    if (operation->kind == TagOperation::Kind::append) {
        index = tags.next();
        TagEntry entry{
            .tag = operation->tag, .mask = operation->mask, .memory = std::move(operation->memory)};
        if (!tags.append(std::move(entry), operation->index))
            return std::unexpected(CompletionError::local_operation);
    } else if (operation->kind == TagOperation::Kind::remove) {
        success = tags.remove(index);
    }
    if (operation->reported)
        report_tag_operation(*queue, *operation, index, success);
    return {};
}

void QueuePair::report_tag_operation(SharedReceiveQueue& queue, const TagOperation& operation,
                                     std::uint16_t index, bool success) {
    auto done = TagReport::synchronized;
    if (operation.kind == TagOperation::Kind::append)
        done = TagReport::appended;
    else if (operation.kind == TagOperation::Kind::remove)
        done = TagReport::removed;
    Completion completion;
    completion.opcode = CompletionOpcode::no_packet;
    set_number(completion, &queue);
    const auto fields = completion.tag_fields();
    fields.set<"success">(success ? 1 : 0);
    fields.set<"hw_phase_cnt">(queue.tags()->unexpected());
    fields.set<"app">(hwtab::value<hwtab::cqe_app, "tag_matching">);
    fields.set<"app_op">(static_cast<std::uint8_t>(done));
    fields.set<"app_info">(index);
    fields.set<"timestamp">(queues_.timestamp());
    report(completions_of(&queue), completion);
}

void QueuePair::cancel_tag(const RecvWqe& request, std::uint16_t index) {
    complete_receive(request, {.opcode = CompletionOpcode::no_packet,
                               .tag = TagResult{.report = TagReport::canceled, .index = index}});
}

// --- Signatures ----------------------------------------------------------------------------------

namespace {

std::uint64_t syndrome_of(memory::SignaturePart part) {
    switch (part) {
    case memory::SignaturePart::application_tag:
        return hwtab::value<hwtab::cqe_sig_syndrome, "apptag">;
    case memory::SignaturePart::reference_tag:
        return hwtab::value<hwtab::cqe_sig_syndrome, "reftag">;
    case memory::SignaturePart::guard:
        break;
    }
    return hwtab::value<hwtab::cqe_sig_syndrome, "guard">;
}

Completion signature_completion(const memory::SignatureError& error, std::uint32_t queue_pair) {
    constexpr unsigned half = 32;
    const memory::SignatureFailure& failure = error.failure;
    Completion completion;
    completion.opcode = CompletionOpcode::signature_error;
    const auto fields = completion.signature_fields();
    fields.set<"expected_trans_sig">(failure.expected >> half);
    fields.set<"expected_reftag">(static_cast<std::uint32_t>(failure.expected));
    fields.set<"actual_trans_sig">(failure.found >> half);
    fields.set<"actual_reftag">(static_cast<std::uint32_t>(failure.found));
    fields.set<"syndrome">(syndrome_of(failure.part));
    fields.set<"sig_type">(hwtab::value<hwtab::cqe_sig_type, "block">);
    fields.set<"domain">(failure.place == memory::SignaturePlace::wire
                             ? hwtab::value<hwtab::cqe_sig_domain, "wire">
                             : hwtab::value<hwtab::cqe_sig_domain, "memory">);
    fields.set<"mkey">(error.key);
    fields.set<"err_offset">(failure.offset);
    fields.set<"qpn">(queue_pair);
    return completion;
}

} // namespace

/// Called during a transfer, which must not see another QP state. So the SQ is drained later, and a
/// failure to write this CQE is handled at the next CQE.
void QueuePair::report_signature_error(const memory::SignatureError& error) {
    const bool responds = error.accessor.responds || memory::is_remote(error.right);
    CompletionQueue* queue = responds ? receive_completions() : send_completions();
    if (queue != nullptr) {
        ++queues_.counters().completions.at(
            static_cast<std::size_t>(CompletionOpcode::signature_error));
        if (!responds &&
            queues_.hca().settings().signature_report == hca::SignatureReport::behind &&
            !send_queue_.idle())
            signature_errors_.push_back({.index = send_queue_.last_started(),
                                         .completion = signature_completion(error, number())});
        else
            queue->post(signature_completion(error, number()));
    }
    if (!responds && context().get<"drain_sigerr">() != 0)
        must_drain_ = true;
}

/// The transfer with the error is the last WQE that was started, or an earlier one.
void QueuePair::post_signature_errors() {
    std::erase_if(signature_errors_, [this](const LateCompletion& late) {
        if (send_queue_.is_outstanding(late.index))
            return false;
        send_completions()->post(late.completion);
        return true;
    });
}

/// Outstanding WQEs complete, because they were started before the signature was checked. Further
/// WQEs are started only up to the next fence, or not at all.
void QueuePair::drain_after_signature_error() {
    if (!std::exchange(must_drain_, false) || until_fence_)
        return;
    until_fence_ = queues_.stops_at_fence();
    if (until_fence_)
        queues_.schedule(*this);
    else
        drain_sends();
}

/// A response that waits for RDMA READs is not sent after a signature error.
bool QueuePair::may_start_after_error(const SendWqe& request) const {
    return request.fence != Fence::reads_and_atomics &&
           request.fence != Fence::local_reads_and_atomics;
}

/// Software may cancel WQEs only of a QP that signature errors stop.
void QueuePair::check_changes(bool may_cancel) {
    if (context().get<"drain_sigerr">() == 0 || !send_queue_.exists())
        return;
    if (const auto index = send_queue_.changed(queues_.hca().dma(), may_cancel))
        report_change(*index);
}

void QueuePair::report_change(std::uint16_t index) {
    queues_.hca().violation(rules::send_entry_changed, "queue pair {:#x}, entry {:#x}", number(),
                            index);
}

// --- Receives ------------------------------------------------------------------------------------

std::expected<RecvWqe, ReceiveFault> QueuePair::take_receive() {
    auto request = resources_.shared_receive
                       ? resources_.shared_receive->take()
                       : receive_queue_.take(queues_.hca().dma(), queues_.hca().envelope());
    if (request || request.error() == ReceiveFault::empty ||
        request.error() == ReceiveFault::no_queue)
        return request;
    if (!resources_.shared_receive && request.error() == ReceiveFault::corrupt)
        queues_.hca().violation(rules::receive_doorbell_beyond_ring,
                                "queue pair {:#x}: more entries posted than the {} there are",
                                number(), receive_queue_.entries());
    post_event(hca::EventType::work_queue_catastrophic_error);
    enter_error();
    return request;
}

std::expected<RecvWqe, ReceiveFault> QueuePair::take_receive(std::uint32_t xrc_srq) {
    XrcSharedReceiveQueue* queue = find_xrc_queue(xrc_srq);
    if (queue == nullptr)
        return std::unexpected(ReceiveFault::no_queue);
    return queue->take();
}

std::optional<std::uint32_t> QueuePair::receive_credits() {
    if (!receive_queue_.exists())
        return std::nullopt;
    return receive_queue_.available(queues_.hca().dma());
}

memory::AccessResult<void> QueuePair::scatter(const RecvWqe& request, std::uint64_t offset,
                                              std::span<const std::byte> data) {
    memory::Accessor who = accessor();
    who.responds = true;
    if (request.shared != nullptr) {
        who.protection_domain = request.shared->protection_domain();
        who.resd_lkey = false;
    }
    return queues_.memory().scatter(who, request.segments, offset, data);
}

bool QueuePair::fits_scatter_to_cqe(const RecvWqe& request, std::uint64_t length) const {
    const auto mode = context().get<"cs_res">();
    const CompletionQueue* queue = completions_of(request.shared);
    if (queue == nullptr || length == 0 || mode == hwtab::value<hwtab::qp_cs_res, "disable">)
        return false;
    return length <= small_data || (mode == hwtab::value<hwtab::qp_cs_res, "up_to_64b"> &&
                                    length <= large_data && queue->has_first_half());
}

void QueuePair::complete_receive(const RecvWqe& request, const ReceiveCompletion& received) {
    constexpr unsigned multicast_flag = 0x80;
    ++queues_.counters().receives_completed;
    Completion completion;
    completion.opcode = received.opcode;
    completion.solicited = received.solicited;
    set_number(completion, request.shared);
    const auto fields = completion.fields();
    fields.set<"wqe_counter">(request.index);
    fields.set<"byte_cnt">(received.byte_count);
    fields.set<"immediate">(received.immediate);
    if (received.partition_key)
        fields.set<"pkey">(*received.partition_key);
    fields.set<"rqpn">(received.source_qp);
    fields.set<"slid">(received.source_lid);
    fields.set<"sl">(received.service_level);
    fields.set<"ml_path">(received.path_bits | (received.multicast ? multicast_flag : 0U));
    fields.set<"grh">(static_cast<std::uint8_t>(received.grh));
    fields.set<"timestamp">(queues_.timestamp());
    attach_data(completion, received.data);
    if (received.tag)
        attach_tag(completion, *received.tag);
    report(completions_of(request.shared), completion);
}

void QueuePair::flush_receive(const RecvWqe& request) {
    ++queues_.counters().receives_flushed;
    report(completions_of(request.shared), receive_error(request, CompletionError::flushed, 0));
}

void QueuePair::report_failed_receive(const RecvWqe& request, CompletionError error,
                                      std::uint8_t vendor) {
    ++queues_.counters().receive_errors;
    queues_.hca().log()->debug(
        "queue pair {:#x}, receive {:#x} failed: {}", number(), request.index,
        hwtab::name_of(hwtab::cqe_syndrome, static_cast<std::uint8_t>(error)));
    report(completions_of(request.shared), receive_error(request, error, vendor));
}

void QueuePair::fail_receive(const RecvWqe& request, CompletionError error, std::uint8_t vendor) {
    report_failed_receive(request, error, vendor);
    enter_error();
}

void QueuePair::count_key_violation() {
    ++key_violations_.count;
    if (std::exchange(key_violations_.armed, false))
        post_target_event(hca::EventType::dct_key_violation);
}

// --- State ---------------------------------------------------------------------------------------

void QueuePair::enter_error() {
    if (state() != QueuePairState::error && state() != QueuePairState::reset)
        stop(QueuePairState::error);
}

/// To ERR or SQER. The transport drops outstanding WQEs before they are flushed.
void QueuePair::stop(QueuePairState to) {
    const QueuePairState from = state();
    set_state(to);
    queues_.notify(*this, from);
    flush_sends();
    if (to != QueuePairState::error)
        return;
    flush_receives();
    if (resources_.shared_receive && !is_dynamic(service()) &&
        service() != ServiceType::extended_reliable_connection)
        post_event(hca::EventType::srq_last_wqe_reached);
    queues_.watch_for_flushes(*this);
}

void QueuePair::flush_sends() {
    held_back_ = false;
    if (!send_queue_.exists())
        return;
    for (const SendQueue::Flushed& entry : send_queue_.flush(queues_.hca().dma())) {
        ++queues_.counters().sends_flushed;
        if (reports_error(entry.mode))
            report(send_completions(),
                   send_error(entry.index, entry.opcode, CompletionError::flushed, 0));
    }
    post_signature_errors();
}

void QueuePair::flush_receives() {
    if (!receive_queue_.exists())
        return;
    while (const auto index = receive_queue_.skip(queues_.hca().dma())) {
        RecvWqe request;
        request.index = *index;
        flush_receive(request);
    }
}

void QueuePair::flush_posted() {
    if (state() == QueuePairState::error)
        flush_receives();
    if (state() == QueuePairState::error || state() == QueuePairState::send_queue_error)
        flush_sends();
}

void QueuePair::change_state(QueuePairState to) {
    if (to == QueuePairState::error) {
        if (state() != QueuePairState::error)
            stop(to);
        return;
    }
    const QueuePairState from = state();
    if (from == QueuePairState::send_queue_drained && to == QueuePairState::ready_to_send) {
        send_queue_.drop_pushed();
        check_changes(true);
    }
    set_state(to);
    queues_.notify(*this, from);
    if (to == QueuePairState::reset) {
        publish_completions();
        send_queue_.reset();
        receive_queue_.reset();
        held_back_ = false;
        send_has_failed_ = false;
        resources_.counters.reset();
        resources_.groups = {};
        must_drain_ = false;
        until_fence_ = false;
        signature_errors_.clear();
        streams_.clear();
    }
    if (to == QueuePairState::ready_to_send) {
        send_has_failed_ = false; // it leaves SQER
        queues_.schedule(*this);
    }
}

void QueuePair::take_context(std::span<const std::byte> context) {
    const QueuePairState present = state();
    std::ranges::copy(context.first(context_.size()), context_.begin());
    set_state(present);
}

void QueuePair::apply_context() {
    if (Transport* transport = queues_.transport_of(*this))
        transport->attributes_changed(*this);
}

void QueuePair::replace_receive_completions(hca::Reference<CompletionQueue> completions) {
    context().set<"cqn_rcv">(completions->number());
    resources_.receive_completions = std::move(completions);
}

void QueuePair::replace_shared_receive(hca::Reference<SharedReceiveQueue> queue) {
    context().set<"srqn_rmpn_xrqn">(queue->number());
    resources_.shared_receive = std::move(queue);
}

void QueuePair::replace_counters(std::shared_ptr<QueueCounterSet> counters) {
    resources_.counters = std::move(counters);
}

void QueuePair::publish_completions() {
    for (CompletionQueue* queue : {send_completions(), receive_completions()}) {
        if (queue != nullptr)
            queue->end_run();
    }
}

void QueuePair::post_event(hca::EventType type) {
    publish_completions(); // software may poll for them after the event
    hca::EventData data{};
    hwtab::View<hwtab::qp_events>{data}.set<"qpn_rqn_sqn">(number());
    queues_.hca().post_event(type, 0, data);
}

std::optional<std::uint32_t> QueuePair::raise_page_fault(const PageFault& fault) {
    return queues_.page_faults().raise(*this, fault);
}

void QueuePair::post_target_event(hca::EventType type) {
    hca::EventData data{};
    hwtab::View<hwtab::dct_events>{data}.set<"dct_number">(number());
    queues_.hca().post_event(type, 0, data);
}

/// A doorbell posts up to its own WQE, and the record only confirms it: adapters take the index
/// from the doorbell, and need the record to recover. The record alone must not post WQEs. On a
/// bus, a read of the record does not pass earlier writes to the BAR. Here it does: the payload of
/// the WQEs in device memory may still be a message of QEMU.
void QueuePair::ring_send_doorbell(std::uint16_t end) {
    if (!has_send_record())
        return post_sends(end);
    const auto record = queues_.hca().dma().load_be<std::uint32_t>(resources_.doorbell_record +
                                                                   send_counter_offset);
    if (!record) {
        if (state() != QueuePairState::error)
            fail_send_queue();
        return;
    }
    const auto announced = static_cast<std::uint16_t>(*record);
    if (!send_queue_.has_room_for(announced))
        return post_sends(announced);
    const auto posted = send_queue_.posted();
    const auto waiting = [&](std::uint16_t counter) {
        const auto blocks = static_cast<std::uint16_t>(counter - posted);
        return blocks <= send_queue_.blocks() ? blocks : std::uint16_t{0};
    };
    post_sends(static_cast<std::uint16_t>(posted + std::min(waiting(end), waiting(announced))));
}

void QueuePair::post_sends(std::uint16_t counter) {
    if (send_queue_.post(counter)) {
        if (context().get<"drain_sigerr">() != 0)
            send_queue_.record(queues_.hca().dma());
        return;
    }
    if (state() == QueuePairState::error)
        return;
    queues_.hca().violation(rules::send_doorbell_beyond_ring,
                            "queue pair {:#x}: posted up to {:#x}, next is {:#x}, room for {:#x} "
                            "blocks",
                            number(), counter, send_queue_.next(), send_queue_.blocks());
    fail_send_queue();
}

void QueuePair::fail_send_queue() {
    post_event(hca::EventType::work_queue_catastrophic_error);
    enter_error();
}

void QueuePair::refresh() {
    if (Transport* transport = queues_.transport_of(*this))
        transport->refresh(*this);
    context().set<"hw_sq_wqebb_counter">(send_queue_.next());
    context().set<"sw_sq_wqebb_counter">(send_queue_.posted());
    context().set<"hw_rq_counter">(receive_queue_.taken());
    context().set<"sw_rq_counter">(receive_queue_.posted());
}

} // namespace cxemu::queues
