// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/shared_receive_queue.hpp"

#include "hca/hca.hpp"
#include "queues/rules.hpp"
#include "queues/wqe_envelope.hpp"
#include "tables/events.hpp"
#include "tables/work_queue.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::queues {

namespace {

/// Bytes before the data segments of a WQE.
std::uint32_t prefix_of(const SharedReceiveAttributes& attributes) {
    if (attributes.has_next_segments)
        return hwtab::wqe_srq_next_seg.size;
    return attributes.has_signatures ? hwtab::rwqe_sig.size : 0;
}

} // namespace

SharedReceiveQueue::SharedReceiveQueue(hca::ObjectIdentity identity, hca::Hca& hca,
                                       const SharedReceiveAttributes& attributes,
                                       SharedReceiveResources resources)
    : Object(identity), hca_(hca), attributes_(attributes), resources_(std::move(resources)),
      ring_{.buffer = &resources_.buffer,
            .log_stride = attributes.log_stride,
            .entries = 1U << attributes.log_entries,
            .prefix = prefix_of(attributes)} {}

std::expected<void, ReceiveFault> SharedReceiveQueue::poll() {
    if (stopped_)
        return std::unexpected(ReceiveFault::stopped);
    const auto record = hca_.dma().load_be<std::uint32_t>(attributes_.doorbell_record);
    if (!record)
        return stop(ReceiveFault::unreachable, "the doorbell record can't be read");
    const auto counter = static_cast<std::uint16_t>(*record);
    if (static_cast<std::uint16_t>(counter - taken_) > ring_.entries) {
        hca_.violation(rules::receive_doorbell_beyond_ring,
                       "shared receive queue {:#x}: {} entries posted, {} taken, room for {}",
                       number(), counter, taken_, ring_.entries);
        return stop(ReceiveFault::corrupt, "more entries are posted than there is room for");
    }
    posted_ = counter;
    return {};
}

std::uint16_t SharedReceiveQueue::available() {
    return poll() ? static_cast<std::uint16_t>(posted_ - taken_) : std::uint16_t{0};
}

std::expected<RecvWqe, ReceiveFault> SharedReceiveQueue::take() {
    if (const auto polled = poll(); !polled)
        return std::unexpected(polled.error());
    if (posted_ == taken_)
        return std::unexpected(ReceiveFault::empty);
    const std::uint16_t slot =
        attributes_.linked_list ? head_ : static_cast<std::uint16_t>(taken_ & (ring_.entries - 1));
    const auto entry = ring_.read(hca_.dma(), slot);
    if (!entry)
        return stop(ReceiveFault::unreachable, "an entry can't be read");
    if (attributes_.linked_list) {
        const auto next = next_slot(*entry, slot);
        if (!next)
            return std::unexpected(next.error());
        head_ = *next;
    }
    ++taken_;
    const auto segments = std::span<const std::byte>(*entry).subspan(ring_.prefix);
    if (check::Envelope* envelope = hca_.envelope())
        record_receive(*envelope, "shared", segments);
    RecvWqe request;
    request.index = slot;
    request.segments = decode_scatter_list(segments);
    request.length = total_length(request.segments);
    request.shared = this;
    check_limit();
    return request;
}

/// Returns the slot that follows \p slot in the chain. It must be another slot if more WQEs are
/// posted.
std::expected<std::uint16_t, ReceiveFault>
SharedReceiveQueue::next_slot(std::span<const std::byte> entry, std::uint16_t slot) {
    const hwtab::ConstView<hwtab::wqe_srq_next_seg> link{entry};
    const auto next = static_cast<std::uint16_t>(link.get<"next_wqe_index">());
    const bool is_last = static_cast<std::uint16_t>(posted_ - taken_) == 1;
    if (next < ring_.entries && (next != slot || is_last))
        return next;
    hca_.violation(rules::shared_receive_chain_corrupt,
                   "shared receive queue {:#x}: entry {} leads to {} of {}", number(), slot, next,
                   ring_.entries);
    return stop(ReceiveFault::corrupt, "the chain of entries is broken");
}

std::unexpected<ReceiveFault> SharedReceiveQueue::stop(ReceiveFault fault, std::string_view why) {
    stopped_ = true;
    hca_.log()->warn("shared receive queue {:#x} stopped: {}", number(), why);
    post_event(hca::EventType::srq_catastrophic_error);
    return std::unexpected(fault);
}

void SharedReceiveQueue::arm(std::uint16_t limit) {
    attributes_.limit = limit;
    if (limit != 0 && poll())
        check_limit();
}

void SharedReceiveQueue::check_limit() {
    if (attributes_.limit == 0 || static_cast<std::uint16_t>(posted_ - taken_) >= attributes_.limit)
        return;
    attributes_.limit = 0;
    post_event(hca::EventType::srq_limit_reached);
}

void SharedReceiveQueue::post_event(hca::EventType type) {
    hca::EventData data{};
    hwtab::View<hwtab::qp_events>{data}.set<"qpn_rqn_sqn">(number());
    hca_.post_event(type, 0, data);
}

// --- Receive memory pools ------------------------------------------------------------------------

ReceiveMemoryPool::ReceiveMemoryPool(hca::ObjectIdentity identity, hca::Hca& hca,
                                     std::span<const std::byte> context,
                                     const SharedReceiveAttributes& attributes,
                                     SharedReceiveResources resources)
    : SharedReceiveQueue(identity, hca, attributes, std::move(resources)) {
    std::ranges::copy(context.first(context_.size()), context_.begin());
}

void ReceiveMemoryPool::refresh() {
    available();
    const hwtab::View<hwtab::rmpc> fields{context_};
    fields.set<"state">(stopped() ? hwtab::value<hwtab::rmp_state, "err">
                                  : hwtab::value<hwtab::rmp_state, "rdy">);
    fields.set<"wq.lwm">(limit());
    fields.set<"wq.hw_counter">(taken());
    fields.set<"wq.sw_counter">(posted());
}

// --- Basic SRQs ----------------------------------------------------------------------------------

BasicSharedReceiveQueue::BasicSharedReceiveQueue(hca::ObjectIdentity identity, hca::Hca& hca,
                                                 std::span<const std::byte> context,
                                                 const SharedReceiveAttributes& attributes,
                                                 SharedReceiveResources resources)
    : SharedReceiveQueue(identity, hca, attributes, std::move(resources)) {
    std::ranges::copy(context.first(context_.size()), context_.begin());
}

void BasicSharedReceiveQueue::refresh() {
    const hwtab::View<hwtab::srqc> fields{context_};
    fields.set<"wqe_cnt">(available());
    fields.set<"lwm">(limit());
    fields.set<"state">(stopped() ? hwtab::value<hwtab::srq_state, "error">
                                  : hwtab::value<hwtab::srq_state, "good">);
}

// --- XRC SRQs ------------------------------------------------------------------------------------

XrcSharedReceiveQueue::XrcSharedReceiveQueue(hca::ObjectIdentity identity, hca::Hca& hca,
                                             std::span<const std::byte> context,
                                             const SharedReceiveAttributes& attributes,
                                             SharedReceiveResources resources)
    : SharedReceiveQueue(identity, hca, attributes, std::move(resources)) {
    std::ranges::copy(context.first(context_.size()), context_.begin());
}

std::uint32_t XrcSharedReceiveQueue::user_index() const {
    return context().get<"user_index_equal_xrc_srqn">() != 0
               ? no_user_index
               : static_cast<std::uint32_t>(context().get<"user_index">());
}

void XrcSharedReceiveQueue::refresh() {
    const hwtab::View<hwtab::xrc_srqc> fields{context_};
    fields.set<"wqe_cnt">(available());
    fields.set<"lwm">(limit());
    fields.set<"state">(stopped() ? hwtab::value<hwtab::srq_state, "error">
                                  : hwtab::value<hwtab::srq_state, "good">);
}

} // namespace cxemu::queues
