// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/compressed_run.hpp"

#include <algorithm>
#include <span>

namespace cxemu::queues {

namespace {

hwtab::ConstView<hwtab::cqe64> fields_of(const Completion& completion) {
    return hwtab::ConstView<hwtab::cqe64>{completion.entry};
}

bool is_send(const Completion& completion) {
    return completion.opcode == CompletionOpcode::requester;
}

} // namespace

bool CompressedRun::can_hold(const Completion& completion) {
    if (completion.format != CompletionFormat::no_data || completion.forces_event ||
        fields_of(completion).get<"app">() != hwtab::value<hwtab::cqe_app, "none">)
        return false;
    switch (completion.opcode) {
    case CompletionOpcode::requester:
    case CompletionOpcode::write_immediate:
    case CompletionOpcode::send:
    case CompletionOpcode::send_immediate:
        return true;
    default:
        return false;
    }
}

/// The completion without the fields of a mini CQE and without its timestamp, which is that of the
/// title.
Completion CompressedRun::common_part(Completion completion) const {
    const auto fields = completion.fields();
    fields.set<"byte_cnt">(0);
    fields.set<"timestamp">(0);
    fields.set<"wqe_counter">(0);
    if (is_send(completion))
        fields.set<"s_wqe_opcode">(0);
    else if (format_ == MiniFormat::hash)
        fields.set<"rss_hash_result">(0);
    else
        fields.set<"check_sum">(0);
    return completion;
}

bool CompressedRun::continues_with(const Completion& next) const {
    if (empty() || size() == longest)
        return false;
    const Completion& last = completions_.back();
    if (next.opcode != last.opcode || next.solicited != last.solicited ||
        common_part(next).entry != common_part(last).entry)
        return false;
    const auto counter = fields_of(next).get<"wqe_counter">();
    return is_send(next) || counter == fields_of(last).get<"wqe_counter">() + 1;
}

Completion CompressedRun::title() const {
    Completion title = completions_.front();
    title.format = CompletionFormat::compressed;
    title.fields().set<"byte_cnt">(size());
    return title;
}

CompressedRun::Array CompressedRun::array(std::size_t index) const {
    Array array{};
    const std::size_t first = index * minis_in_array;
    const std::size_t count = std::min(minis_in_array, size() - first);
    for (std::size_t i = 0; i < count; ++i)
        fill(hwtab::View<hwtab::mini_cqe8>{std::span(array).subspan(i * hwtab::mini_cqe8.size,
                                                                    hwtab::mini_cqe8.size)},
             completions_.at(first + i));
    return array;
}

void CompressedRun::fill(hwtab::View<hwtab::mini_cqe8> mini, const Completion& completion) const {
    const auto fields = fields_of(completion);
    mini.set<"byte_cnt">(fields.get<"byte_cnt">());
    if (is_send(completion)) {
        mini.set<"wqe_counter">(fields.get<"wqe_counter">());
        mini.set<"s_wqe_opcode">(fields.get<"s_wqe_opcode">());
        return;
    }
    if (format_ == MiniFormat::hash) {
        mini.set<"rx_hash_result">(fields.get<"rss_hash_result">());
        return;
    }
    mini.set<"checksum">(fields.get<"check_sum">());
    if (format_ == MiniFormat::checksum_and_stride)
        mini.set<"stridx">(fields.get<"wqe_counter">());
}

} // namespace cxemu::queues
