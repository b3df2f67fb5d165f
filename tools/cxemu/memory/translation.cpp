// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/translation.hpp"

#include <algorithm>

namespace cxemu::memory {

namespace {

using Result = std::expected<void, AccessFault>;

Result fault(AccessFault what) {
    return std::unexpected(what);
}

/// One walk: the rest of the range, and the visitor.
struct Walk {
    const MemoryKey& key;
    std::uint64_t left;
    AccessRight right;
    const PieceVisitor& visit;

    Result pass_on(Piece piece) {
        left -= piece.length;
        return visit(piece);
    }
};

/// MTTs and KSMs: entries of equal size.
struct EqualEntries {
    std::uint64_t size;
    std::uint64_t index;
    std::uint64_t offset; ///< in the entry

    EqualEntries(const MemoryKey& key, std::uint64_t position) {
        const auto log_size = key.context().get<"log_page_size">();
        size = 1ULL << log_size;
        index = position >> log_size;
        offset = position & (size - 1);
    }
    void next() {
        ++index;
        offset = 0;
    }
};

/// The first page contains start_addr; the low bits of start_addr are the offset in the page.
EqualEntries pages_from(const MemoryKey& key, std::uint64_t address) {
    const std::uint64_t size = 1ULL << key.context().get<"log_page_size">();
    const std::uint64_t start = key.context().get<"start_addr">();
    return {key, (start & (size - 1)) + (address - start)};
}

/// The first KSM begins at start_addr, which need not be aligned: UCX shifts atomic mkeys with
/// entries of 2 GiB by some bytes.
EqualEntries fixed_ranges_from(const MemoryKey& key, std::uint64_t address) {
    return {key, address - key.context().get<"start_addr">()};
}

Result walk_pages(Walk& walk, std::uint64_t address) {
    for (auto entries = pages_from(walk.key, address); walk.left != 0; entries.next()) {
        const std::uint64_t where = entries.index * hwtab::mtt.size;
        if (where + hwtab::mtt.size > walk.key.translation_capacity())
            return fault(AccessFault::bad_translation);
        const auto bytes = walk.key.translation<hwtab::mtt.size>(where);
        const hwtab::ConstView<hwtab::mtt> page{bytes};
        constexpr unsigned low_bits = 8; ///< of an address that are not in the entry
        const std::uint64_t bus = page.get<"ptag_63_32">() << 32U | page.get<"ptag_31_8">()
                                                                        << low_bits;
        const bool allowed = !walk.key.entries_have_rights() ||
                             (writes(walk.right) ? page.get<"wr_en">() : page.get<"rd_en">()) != 0;
        if (!allowed)
            return fault(AccessFault::page_absent);
        if (bus == 0)
            return fault(AccessFault::bad_translation);
        const Piece piece{.address = bus + entries.offset,
                          .length = std::min(entries.size - entries.offset, walk.left),
                          .on_bus = true};
        if (const Result result = walk.pass_on(piece); !result)
            return result;
    }
    return {};
}

Result walk_fixed_ranges(Walk& walk, std::uint64_t address) {
    for (auto entries = fixed_ranges_from(walk.key, address); walk.left != 0; entries.next()) {
        const std::uint64_t where = entries.index * hwtab::ksm.size;
        if (where + hwtab::ksm.size > walk.key.translation_capacity())
            return fault(AccessFault::bad_translation);
        const auto bytes = walk.key.translation<hwtab::ksm.size>(where);
        const hwtab::ConstView<hwtab::ksm> range{bytes};
        const Piece piece{.key = static_cast<std::uint32_t>(range.get<"key">()),
                          .address = range.get<"va">() + entries.offset,
                          .length = std::min(entries.size - entries.offset, walk.left)};
        if (const Result result = walk.pass_on(piece); !result)
            return result;
    }
    return {};
}

/// A strided block: a header and entries, which are repeated repeat_count times, each time one
/// stride further.
class StridedBlock {
public:
    StridedBlock(const MemoryKey& key, std::uint64_t where) : key_(key), where_(where) {
        const auto bytes = key.translation<hwtab::stride_block_ctrl_seg.size>(where);
        const hwtab::ConstView<hwtab::stride_block_ctrl_seg> header{bytes};
        cycle_ = header.get<"bcount_per_cycle">();
        repeat_ = header.get<"repeat_count">();
        entries_ = header.get<"num_entries">();
    }

    [[nodiscard]] std::uint64_t bytes() const { return cycle_ * repeat_; }
    [[nodiscard]] std::uint64_t end() const {
        return where_ + ((entries_ + 1) * MemoryKey::octoword);
    }

    /// Visits the part of the range that is in the block, from byte \p skip of the block on.
    Result walk(Walk& walk, std::uint64_t skip) const {
        for (std::uint64_t cycle = skip / cycle_; cycle < repeat_ && walk.left != 0; ++cycle) {
            if (const Result result = walk_cycle(walk, cycle, skip % cycle_); !result)
                return result;
            skip = 0;
        }
        return {};
    }

private:
    Result walk_cycle(Walk& walk, std::uint64_t cycle, std::uint64_t skip) const {
        std::uint64_t seen = 0;
        for (std::uint64_t i = 1; i <= entries_ && walk.left != 0; ++i) {
            const auto bytes = key_.translation<hwtab::stride_block_entry.size>(
                where_ + (i * MemoryKey::octoword));
            const hwtab::ConstView<hwtab::stride_block_entry> entry{bytes};
            const std::uint64_t size = entry.get<"bcount">();
            seen += size;
            if (skip >= size) {
                skip -= size;
                continue;
            }
            const Piece piece{.key = static_cast<std::uint32_t>(entry.get<"key">()),
                              .address = entry.get<"va">() + (cycle * entry.get<"stride">()) + skip,
                              .length = std::min(size - skip, walk.left)};
            if (const Result result = walk.pass_on(piece); !result)
                return result;
            skip = 0;
        }
        return walk.left == 0 || seen == cycle_ ? Result{} : fault(AccessFault::bad_translation);
    }

    const MemoryKey& key_;
    std::uint64_t where_;
    std::uint64_t cycle_ = 0;
    std::uint64_t repeat_ = 0;
    std::uint64_t entries_ = 0;
};

Result walk_ranges(Walk& walk, std::uint64_t address) {
    std::uint64_t skip = address - walk.key.context().get<"start_addr">();
    std::uint64_t where = 0;
    while (walk.left != 0) {
        if (where + hwtab::klm.size > walk.key.translation_capacity())
            return fault(AccessFault::bad_translation);
        const auto bytes = walk.key.translation<hwtab::klm.size>(where);
        const hwtab::ConstView<hwtab::klm> range{bytes};
        const auto key = static_cast<std::uint32_t>(range.get<"key">());
        std::uint64_t size = range.get<"bcount">();
        if (key == hwtab::value<hwtab::stride_block_op, "repeat">) {
            const StridedBlock block(walk.key, where);
            if (block.bytes() == 0)
                return fault(AccessFault::bad_translation);
            if (skip >= block.bytes())
                skip -= block.bytes();
            else if (const Result result = block.walk(walk, std::exchange(skip, 0)); !result)
                return result;
            where = block.end();
            continue;
        }
        if (size == 0)
            return fault(AccessFault::bad_translation); // behind the end of the list
        where += hwtab::klm.size;
        if (skip >= size) {
            skip -= size;
            continue;
        }
        const Piece piece{.key = key,
                          .address = range.get<"va">() + skip,
                          .length = std::min(size - skip, walk.left)};
        skip = 0;
        if (const Result result = walk.pass_on(piece); !result)
            return result;
    }
    return {};
}

} // namespace

Result walk_translation(const MemoryKey& key, std::uint64_t address, std::uint64_t length,
                        AccessRight right, const PieceVisitor& visit) {
    Walk walk{.key = key, .left = length, .right = right, .visit = visit};
    switch (key.mode()) {
    case AccessMode::pa:
        return length == 0 ? Result{}
                           : visit({.address = address, .length = length, .on_bus = true});
    case AccessMode::mtt:
        return walk_pages(walk, address);
    case AccessMode::klm:
        return walk_ranges(walk, address);
    case AccessMode::ksm:
        return walk_fixed_ranges(walk, address);
    case AccessMode::device_memory:
        break; // has no translation list
    }
    return fault(AccessFault::bad_translation);
}

} // namespace cxemu::memory
