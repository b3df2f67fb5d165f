// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/dynamic_connections.hpp"

#include "tables/object_values.hpp"

#include <array>

namespace cxemu::queues {

namespace {

/// Fields of both contexts with the same meaning.
struct Pair {
    hwtab::Target target;
    hwtab::Target queue_pair;
};

template <hwtab::FixedString target, hwtab::FixedString queue_pair>
consteval Pair pair() {
    constexpr hwtab::Target from = hwtab::locate(hwtab::dctc, target.view());
    constexpr hwtab::Target to = hwtab::locate(hwtab::qpc, queue_pair.view());
    static_assert(from.field != nullptr && to.field != nullptr, "a context has no such field");
    static_assert(from.field->width == to.field->width);
    return {from, to};
}

template <hwtab::FixedString name>
consteval Pair same() {
    return pair<name, name>();
}

constexpr std::array pairs{
    same<"user_index">(),
    pair<"cqn", "cqn_rcv">(),
    same<"counter_set_id">(),
    same<"atomic_mode">(),
    same<"rre">(),
    same<"rwe">(),
    same<"rae">(),
    same<"rlky">(),
    pair<"cs_res", "cs_res">(),
    same<"min_rnr_nak">(),
    pair<"srqn_xrqn", "srqn_rmpn_xrqn">(),
    same<"pd">(),
    pair<"tclass", "primary_address_path.tclass">(),
    pair<"flow_label", "primary_address_path.flow_label">(),
    same<"mtu">(),
    pair<"port", "primary_address_path.vhca_port_num">(),
    pair<"pkey_index", "primary_address_path.pkey_index">(),
    pair<"my_addr_index", "primary_address_path.src_addr_index">(),
    pair<"hop_limit", "primary_address_path.hop_limit">(),
};

} // namespace

bool ErroredStreams::add(std::uint16_t stream) {
    failed_.insert(stream);
    return failed_.size() < max_streams_;
}

void to_queue_pair(hwtab::ConstView<hwtab::dctc> target, hwtab::View<hwtab::qpc> queue_pair) {
    for (const Pair& pair : pairs)
        hwtab::write_bits(
            queue_pair.memory().data(), pair.queue_pair.offset, pair.queue_pair.field->width,
            hwtab::read_bits(target.memory().data(), pair.target.offset, pair.target.field->width));
    queue_pair.set<"dc_access_key">(target.get<"dc_access_key">());
    queue_pair.set<"st">(hwtab::value<hwtab::qp_service_type, "dct">);
    queue_pair.set<"rq_type">(hwtab::value<hwtab::qp_rq_type, "srq_rq">);
    queue_pair.set<"no_sq">(1);
}

void to_target(hwtab::ConstView<hwtab::qpc> queue_pair, hwtab::View<hwtab::dctc> target) {
    for (const Pair& pair : pairs)
        hwtab::write_bits(target.memory().data(), pair.target.offset, pair.target.field->width,
                          hwtab::read_bits(queue_pair.memory().data(), pair.queue_pair.offset,
                                           pair.queue_pair.field->width));
    target.set<"dc_access_key">(queue_pair.get<"dc_access_key">());
}

} // namespace cxemu::queues
