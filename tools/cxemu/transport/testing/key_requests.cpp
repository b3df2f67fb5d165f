// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/testing/key_requests.hpp"

#include "base/byte_order.hpp"
#include "tables/commands_memory.hpp"
#include "tables/work_queue.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>

namespace cxemu::transport::testing {

namespace {

using queues::testing::Call;

constexpr std::uint32_t log_page = 12;

template <hwtab::FixedString name>
constexpr std::uint64_t flag = hwtab::value<hwtab::umr_flags, name>;
template <hwtab::FixedString name>
constexpr std::uint64_t mask = hwtab::value<hwtab::mkey_mask, name>;

void fill(auto fields, const KeySettings& settings) {
    fields.template set<"free">(settings.is_free ? 1 : 0);
    fields.template set<"mkey_7_0">(settings.variant);
    fields.template set<"start_addr">(settings.start);
    fields.template set<"len">(settings.length);
    fields.template set<"log_page_size">(log_page);
    fields.template set<"lr">(1);
    fields.template set<"lw">(settings.local_write ? 1 : 0);
    fields.template set<"rr">(settings.remote_read ? 1 : 0);
    fields.template set<"rw">(settings.remote_write ? 1 : 0);
    fields.template set<"a">(settings.remote_atomic ? 1 : 0);
    fields.template set<"qpn">(settings.queue_pair);
}

std::uint64_t flags_of(const KeyChange& change) {
    switch (change.demand) {
    case KeyDemand::nothing:
        break;
    case KeyDemand::free:
        return flag<"check_not_free">;
    case KeyDemand::in_use:
        return flag<"check_free">;
    case KeyDemand::own_queue_pair:
        return flag<"check_qpn">;
    }
    return 0;
}

/// Composes the segments of a UMR WQE after the control segment.
class Body {
public:
    Body() : bytes_(hwtab::wqe_umr_ctrl_seg.size + hwtab::mkey_seg.size) {}

    [[nodiscard]] hwtab::View<hwtab::wqe_umr_ctrl_seg> control() {
        return hwtab::View<hwtab::wqe_umr_ctrl_seg>{bytes_};
    }
    [[nodiscard]] hwtab::View<hwtab::mkey_seg> key() {
        return hwtab::View<hwtab::mkey_seg>{
            std::span(bytes_).subspan(hwtab::wqe_umr_ctrl_seg.size)};
    }
    void add(std::span<const std::byte> more) {
        bytes_.insert(bytes_.end(), more.begin(), more.end());
    }
    [[nodiscard]] Send request(std::uint32_t index) const {
        return {.opcode = queues::SendOpcode::reg_umr,
                .immediate = index << memory::MemoryKey::variant_bits,
                .body = bytes_};
    }

private:
    std::vector<std::byte> bytes_;
};

/// Inline, or in memory addressed by a data segment.
void add_entries(Body& body, Peer& peer, const KeyChange& change,
                 const std::vector<TranslationEntry>& entries) {
    std::uint64_t flags = flags_of(change);
    const auto bytes = std::as_bytes(std::span(entries));
    body.control().set<"xlt_octowords">(entries.size());
    if (!change.lists_in_memory) {
        body.control().set<"flags">(flags | flag<"inline">);
        return body.add(bytes);
    }
    body.control().set<"flags">(flags);
    const Data list = peer.space(bytes.size());
    std::ranges::copy(bytes, peer.bench.at(list.address, list.length).begin());
    std::array<std::byte, hwtab::wqe_data_seg.size> pointer{};
    const hwtab::View<hwtab::wqe_data_seg> segment{pointer};
    segment.set<"byte_count">(list.length);
    segment.set<"lkey">(peer.key());
    segment.set<"addr">(list.address);
    body.add(pointer);
}

} // namespace

TranslationEntry range_entry(std::uint32_t key, std::uint64_t address, std::uint32_t length) {
    TranslationEntry entry{};
    const hwtab::View<hwtab::klm> fields{entry};
    fields.set<"bcount">(length);
    fields.set<"key">(key);
    fields.set<"va">(address);
    return entry;
}

std::vector<TranslationEntry> page_entries(const std::vector<std::uint64_t>& addresses) {
    constexpr std::uint64_t readable_and_writable = 3;
    std::vector<TranslationEntry> entries((addresses.size() + 1) / 2);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const std::span<std::byte> entry(entries[i / 2]);
        store_be<std::uint64_t>(entry.subspan(i % 2 * sizeof(std::uint64_t)),
                                addresses[i] | readable_and_writable);
    }
    return entries;
}

std::vector<TranslationEntry> strided_entries(const std::vector<StridedRange>& ranges,
                                              std::uint32_t repeats) {
    std::vector<TranslationEntry> entries(1 + ranges.size());
    std::uint32_t cycle = 0;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const hwtab::View<hwtab::stride_block_entry> entry{entries[i + 1]};
        entry.set<"stride">(ranges[i].stride);
        entry.set<"bcount">(ranges[i].length);
        entry.set<"key">(ranges[i].key);
        entry.set<"va">(ranges[i].address);
        cycle += ranges[i].length;
    }
    const hwtab::View<hwtab::stride_block_ctrl_seg> header{entries[0]};
    header.set<"bcount_per_cycle">(cycle);
    header.set<"op">(hwtab::value<hwtab::stride_block_op, "repeat">);
    header.set<"repeat_count">(repeats);
    header.set<"num_entries">(ranges.size());
    return entries;
}

std::uint32_t make_key(Peer& peer, const KeySettings& settings, std::size_t capacity) {
    Call<hwtab::cmd_create_mkey> call(settings.entries.size() * sizeof(TranslationEntry));
    const auto fields = call.in().nested<"memory_key_mkey_entry", hwtab::mkc>();
    fill(fields, settings);
    fields.set<"access_mode_1_0">(static_cast<std::uint8_t>(settings.mode));
    fields.set<"umr_en">(1);
    fields.set<"en_rinval">(settings.peer_may_invalidate ? 1 : 0);
    fields.set<"pd">(settings.domain);
    fields.set<"translations_octword_size">(capacity);
    call.in().set<"translations_octword_actual_size">(settings.entries.size());
    std::ranges::copy(std::as_bytes(std::span(settings.entries)),
                      call.in().bytes<"klm_pas_mtt">().begin());
    if (!peer.bench.run(call))
        throw std::runtime_error("the key can't be made");
    return static_cast<std::uint32_t>(call.out().get<"mkey_index">());
}

Send registration(Peer& peer, const KeyChange& change, const KeySettings& settings) {
    Body body;
    body.control().set<"mkey_mask">(mask<"len"> | mask<"start_addr"> | mask<"page_size"> |
                                    mask<"key"> | mask<"lr"> | mask<"lw"> | mask<"rr"> |
                                    mask<"rw"> | mask<"a"> | mask<"free"> |
                                    (change.sets_queue_pair ? mask<"qpn"> : 0));
    fill(body.key(), settings);
    add_entries(body, peer, change, settings.entries);
    return body.request(change.index);
}

Send invalidation(const KeyChange& change) {
    Body body;
    body.control().set<"flags">(flags_of(change) | flag<"inline">);
    body.control().set<"mkey_mask">(mask<"free">);
    body.key().set<"free">(1);
    return body.request(change.index);
}

Send translation_change(Peer& peer, const KeyChange& change, std::size_t first,
                        const std::vector<TranslationEntry>& entries) {
    Body body;
    add_entries(body, peer, change, entries);
    body.control().set<"flags">(body.control().get<"flags">() | flag<"translation_offset_en">);
    body.control().set<"xlt_offset">(first);
    return body.request(change.index);
}

} // namespace cxemu::transport::testing
