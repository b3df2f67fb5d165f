// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/combined_writes.hpp"

#include "hwtab/view.hpp"
#include "tables/work_queue.hpp"

#include <utility>

namespace cxemu::hca {

namespace {

/// Bytes of the WQE whose control segment is at the start of \p bytes, in full WQEBBs.
std::size_t request_size(std::span<const std::byte> bytes) {
    constexpr std::size_t ds_size = 16;
    const auto ds =
        hwtab::ConstView<hwtab::send_doorbell>{bytes.first<CombinedWrites::piece_size>()}
            .get<"ds">();
    const std::size_t blocks =
        (ds * ds_size + CombinedWrites::block_size - 1) / CombinedWrites::block_size;
    return std::max<std::size_t>(blocks, 1) * CombinedWrites::block_size;
}

} // namespace

CombinedWrites::CombinedWrites(EventLoop& loop, std::function<void(const CombinedWrite&)> sink)
    : loop_(loop), sink_(std::move(sink)), timer_(loop, [this] { flush_old(); }) {}

bool CombinedWrites::goes_on(const Kept& kept, const Place& place) {
    return place.buffer_offset != 0 && place.offset == kept.write.offset + kept.write.bytes.size();
}

bool CombinedWrites::take(const Place& place, std::span<const std::byte, piece_size> piece) {
    auto found = kept_.find(place.page);
    if (found != kept_.end() && !goes_on(found->second, place)) {
        flush(place.page);
        found = kept_.end();
    }
    if (found == kept_.end()) {
        if (place.buffer_offset != 0)
            return false;
        found = kept_
                    .emplace(place.page, Kept{.write = {.page = place.page,
                                                        .offset = place.offset,
                                                        .whole = false,
                                                        .bytes = {}},
                                              .since = loop_.now()})
                    .first;
    }
    CombinedWrite& write = found->second.write;
    write.bytes.insert(write.bytes.end(), piece.begin(), piece.end());
    write.whole = write.bytes.size() == request_size(write.bytes);
    if (write.whole || write.bytes.size() == place.buffer_size)
        flush(place.page);
    else if (!timer_.active())
        timer_.start(patience);
    return true;
}

void CombinedWrites::flush(std::uint32_t page) {
    if (const auto kept = kept_.extract(page))
        sink_(kept.mapped().write);
}

void CombinedWrites::flush() {
    for (const auto& [page, kept] : std::exchange(kept_, {}))
        sink_(kept.write);
}

void CombinedWrites::flush_old() {
    const EventLoop::TimePoint limit = loop_.now() - patience;
    std::vector<std::uint32_t> old;
    for (const auto& [page, kept] : kept_) {
        if (kept.since <= limit)
            old.push_back(page);
    }
    for (const std::uint32_t page : old)
        flush(page);
    if (!kept_.empty())
        timer_.start(patience);
}

void CombinedWrites::drop() {
    kept_.clear();
    timer_.stop();
}

} // namespace cxemu::hca
