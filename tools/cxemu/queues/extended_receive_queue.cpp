// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/extended_receive_queue.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::queues {

ExtendedReceiveQueue::ExtendedReceiveQueue(hca::ObjectIdentity identity, hca::Hca& hca,
                                           std::span<const std::byte> context,
                                           const SharedReceiveAttributes& attributes,
                                           SharedReceiveResources resources)
    : SharedReceiveQueue(identity, hca, attributes, std::move(resources)) {
    std::ranges::copy(context.first(context_.size()), context_.begin());
    const auto fields = std::as_const(*this).context();
    if (fields.get<"topology">() == hwtab::value<hwtab::xrq_topology, "tag_matching">)
        tags_.emplace(static_cast<std::uint32_t>(
            fields.get<"tag_matching_topology_context.log_matching_list_sz">()));
}

bool ExtendedReceiveQueue::fetches_rendezvous() const {
    return context().get<"offload">() == hwtab::value<hwtab::xrq_offload, "rndv">;
}

void ExtendedReceiveQueue::refresh() {
    available();
    const hwtab::View<hwtab::xrqc> fields{context_};
    fields.set<"state">(stopped() ? hwtab::value<hwtab::srq_state, "error">
                                  : hwtab::value<hwtab::srq_state, "good">);
    fields.set<"wq.lwm">(limit());
    fields.set<"wq.hw_counter">(taken());
    fields.set<"wq.sw_counter">(posted());
    if (!tags_)
        return;
    fields.set<"tag_matching_topology_context.append_next_index">(tags_->next());
    fields.set<"tag_matching_topology_context.hw_phase_cnt">(tags_->unexpected());
    fields.set<"tag_matching_topology_context.sw_phase_cnt">(tags_->handled());
}

} // namespace cxemu::queues
