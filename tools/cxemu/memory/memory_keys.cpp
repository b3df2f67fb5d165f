// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/memory_keys.hpp"

#include "base/byte_order.hpp"
#include "memory/translation.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <nlohmann/json.hpp>

namespace cxemu::memory {

namespace {

constexpr std::uint64_t atomic_size = sizeof(std::uint64_t);

void append(std::vector<BusRange>& ranges, const Piece& piece) {
    if (!ranges.empty() && ranges.back().address + ranges.back().length == piece.address)
        ranges.back().length += piece.length;
    else
        ranges.push_back({.address = piece.address, .length = piece.length});
}

/// The right that the target of an indirect mkey must have.
AccessRight nested_right(AccessRight right) {
    return writes(right) ? AccessRight::local_write : AccessRight::local_read;
}

std::expected<void, AccessFault> check(const MemoryKey& key, Accessor accessor,
                                       const Access& access) {
    const auto fields = key.context();
    if (fields.get<"free">() != 0)
        return std::unexpected(AccessFault::free_key);
    if (!accessor.is_in(fields.get<"pd">()))
        return std::unexpected(AccessFault::foreign_domain);
    if (fields.get<"qpn">() != MemoryKey::any_queue_pair &&
        fields.get<"qpn">() != accessor.queue_pair)
        return std::unexpected(AccessFault::foreign_queue_pair);
    if (!key.allows(access.right))
        return std::unexpected(AccessFault::no_right);
    if (!key.contains(access.address, access.length))
        return std::unexpected(AccessFault::out_of_range);
    return {};
}

} // namespace

AccessResult<MemoryKey*> MemoryKeys::find(std::uint32_t key) const {
    MemoryKey* found = hca_.objects().of<MemoryKey>().find(key >> MemoryKey::variant_bits);
    if (found == nullptr)
        return std::unexpected(AccessFault::unknown_key);
    if (found->key() != key)
        return std::unexpected(AccessFault::stale_key);
    return found;
}

AccessResult<void> MemoryKeys::resolve(Accessor accessor, const Access& access, std::uint32_t depth,
                                       std::vector<BusRange>& ranges) {
    if (depth > hca_.capabilities().current<"max_indirection">())
        return std::unexpected(AccessFault::nested_too_deep);
    if (access.key == SpecialKeys::absent_memory && depth != 0) {
        absent_ = {{.key = access.key, .address = access.address, .length = access.length}};
        return std::unexpected(AccessFault::page_absent);
    }
    if (access.key == SpecialKeys::resd_lkey && depth == 0)
        return resolve_on_bus(accessor, access, ranges);
    const auto key = find(access.key);
    if (!key)
        return std::unexpected(key.error());
    if (depth != 0 && (*key)->signatures() != nullptr)
        return std::unexpected(AccessFault::signed_data);
    if (const auto allowed = check(**key, accessor, access); !allowed)
        return allowed;
    if ((*key)->mode() == AccessMode::device_memory)
        return resolve_on_device(**key, access, ranges);
    return walk(**key, accessor, access, depth, ranges);
}

AccessResult<void> MemoryKeys::walk(const MemoryKey& key, Accessor accessor, const Access& access,
                                    std::uint32_t depth, std::vector<BusRange>& ranges) {
    std::uint64_t found = 0; ///< bytes
    const auto visit_nested = [&](const Piece& piece) {
        const auto resolved = resolve(accessor,
                                      {.key = piece.key,
                                       .address = piece.address,
                                       .length = piece.length,
                                       .right = nested_right(access.right)},
                                      depth + 1, ranges);
        if (!resolved && resolved.error() == AccessFault::page_absent)
            found += absent_.back().address - piece.address;
        return resolved;
    };
    const auto visit = [&](const Piece& piece) -> AccessResult<void> {
        if (piece.on_bus && piece.address >= vfio_user::DmaSpace::local_start)
            return std::unexpected(AccessFault::dma_failed);
        if (piece.on_bus)
            append(ranges, piece);
        else if (const auto nested = visit_nested(piece); !nested)
            return nested;
        found += piece.length;
        return {};
    };
    const auto walked = walk_translation(key, access.address, access.length, access.right, visit);
    if (!walked && walked.error() == AccessFault::page_absent) {
        if (key.mode() == AccessMode::mtt)
            absent_.clear(); // of an earlier access
        absent_.push_back({.key = access.key,
                           .address = access.address + found,
                           .length = access.length - found});
    }
    return walked;
}

/// resd_lkey has no PD and no range, but is local only.
AccessResult<void> MemoryKeys::resolve_on_bus(Accessor accessor, const Access& access,
                                              std::vector<BusRange>& ranges) {
    if (!accessor.resd_lkey || is_remote(access.right))
        return std::unexpected(AccessFault::no_right);
    if (access.length > vfio_user::DmaSpace::local_start ||
        access.address > vfio_user::DmaSpace::local_start - access.length)
        return std::unexpected(AccessFault::dma_failed);
    if (access.length != 0)
        append(ranges, {.address = access.address, .length = access.length, .on_bus = true});
    return {};
}

/// MEMIC: start_addr is the address of the memory in the BAR.
AccessResult<void> MemoryKeys::resolve_on_device(const MemoryKey& key, const Access& access,
                                                 std::vector<BusRange>& ranges) {
    const hca::DeviceMemory& memory = hca_.device_memory();
    const std::uint64_t address = key.context().get<"start_addr">() + access.address;
    if (!memory.holds(address, access.length))
        return std::unexpected(AccessFault::bad_translation);
    if (access.length != 0)
        append(ranges, {.address = vfio_user::DmaSpace::local_start + address - memory.start(),
                        .length = access.length,
                        .on_bus = true});
    return {};
}

AccessResult<std::vector<BusRange>> MemoryKeys::locate(Accessor accessor, const Access& access) {
    ++statistics_.translations;
    std::vector<BusRange> ranges;
    if (const auto resolved = resolve(accessor, access, 0, ranges); !resolved) {
        ++statistics_.faults;
        hca_.log()->debug("memory key {:#x}, {} bytes at {:#x}: {}", access.key, access.length,
                          access.address, describe(resolved.error()));
        return std::unexpected(resolved.error());
    }
    return ranges;
}

AccessResult<std::vector<BusRange>> MemoryKeys::translate(Accessor accessor, const Access& access) {
    const MemoryKey* key = find_signed(access.key);
    return key != nullptr ? locate_signed(*key, accessor, access) : locate(accessor, access);
}

AccessResult<void> MemoryKeys::read(Accessor accessor, const Access& access,
                                    std::span<std::byte> out) {
    assert(out.size() == access.length);
    MemoryKey* key = find_signed(access.key);
    return key != nullptr ? read_signed(*key, accessor, access, out)
                          : copy_out(accessor, access, out);
}

AccessResult<void> MemoryKeys::write(Accessor accessor, const Access& access,
                                     std::span<const std::byte> data) {
    assert(data.size() == access.length);
    MemoryKey* key = find_signed(access.key);
    return key != nullptr ? write_signed(*key, accessor, access, data)
                          : copy_in(accessor, access, data);
}

bool MemoryKeys::dumps_and_fills(const Access& access) const {
    return access.key == SpecialKeys::dump_fill && !is_remote(access.right) &&
           hca_.capabilities().current<"dump_fill_mkey">() != 0;
}

AccessResult<void> MemoryKeys::copy_out(Accessor accessor, const Access& access,
                                        std::span<std::byte> out) {
    if (dumps_and_fills(access)) {
        std::ranges::fill(out, std::byte{0});
        return {};
    }
    const auto ranges = locate(accessor, access);
    if (!ranges)
        return std::unexpected(ranges.error());
    for (const BusRange& range : *ranges) {
        if (!hca_.dma().read(range.address, out.first(range.length)))
            return std::unexpected(AccessFault::dma_failed);
        out = out.subspan(range.length);
    }
    return {};
}

AccessResult<void> MemoryKeys::copy_in(Accessor accessor, const Access& access,
                                       std::span<const std::byte> data) {
    if (dumps_and_fills(access))
        return {};
    const auto ranges = locate(accessor, access);
    if (!ranges)
        return std::unexpected(ranges.error());
    for (const BusRange& range : *ranges) {
        if (!hca_.dma().write(range.address, data.first(range.length)))
            return std::unexpected(AccessFault::dma_failed);
        data = data.subspan(range.length);
    }
    return {};
}

AccessResult<void> MemoryKeys::gather(Accessor accessor, std::span<const DataSegment> list,
                                      std::uint64_t offset, std::span<std::byte> out) {
    for (const DataSegment& segment : list) {
        if (out.empty())
            break;
        if (offset >= segment.length) {
            offset -= segment.length;
            continue;
        }
        const auto size = std::min<std::uint64_t>(segment.length - offset, out.size());
        const Access access{.key = segment.key,
                            .address = segment.address + offset,
                            .length = size,
                            .right = AccessRight::local_read};
        if (const auto result = read(accessor, access, out.first(size)); !result)
            return result;
        out = out.subspan(size);
        offset = 0;
    }
    return {};
}

AccessResult<void> MemoryKeys::scatter(Accessor accessor, std::span<const DataSegment> list,
                                       std::uint64_t offset, std::span<const std::byte> data) {
    for (const DataSegment& segment : list) {
        if (data.empty())
            break;
        if (offset >= segment.length) {
            offset -= segment.length;
            continue;
        }
        const auto size = std::min<std::uint64_t>(segment.length - offset, data.size());
        const Access access{.key = segment.key,
                            .address = segment.address + offset,
                            .length = size,
                            .right = AccessRight::local_write};
        if (const auto result = write(accessor, access, data.first(size)); !result)
            return result;
        data = data.subspan(size);
        offset = 0;
    }
    return {};
}

/// The operand of an atomic operation, contiguous in memory.
AccessResult<std::span<std::byte>> MemoryKeys::locate_operand(Accessor accessor, std::uint32_t key,
                                                              std::uint64_t address,
                                                              std::size_t size) {
    if (find_signed(key) != nullptr)
        return std::unexpected(AccessFault::signed_data);
    const auto ranges = locate(
        accessor,
        {.key = key, .address = address, .length = size, .right = AccessRight::remote_atomic});
    if (!ranges)
        return std::unexpected(ranges.error());
    if (ranges->size() != 1 || ranges->front().address % size != 0)
        return std::unexpected(AccessFault::bad_translation);
    const auto memory =
        hca_.dma().spans(ranges->front().address, size, vfio_user::DmaAccess::write);
    if (!memory || memory->size() != 1)
        return std::unexpected(AccessFault::dma_failed);
    return memory->front();
}

AccessResult<void> MemoryKeys::modify(Accessor accessor, std::uint32_t key, std::uint64_t address,
                                      std::size_t size,
                                      const std::function<void(std::span<std::byte>)>& change) {
    const auto memory = locate_operand(accessor, key, address, size);
    if (!memory)
        return std::unexpected(memory.error());
    change(*memory);
    return {};
}

AccessResult<std::uint64_t>
MemoryKeys::modify(Accessor accessor, std::uint32_t key, std::uint64_t address,
                   const std::function<std::uint64_t(std::uint64_t)>& change) {
    const auto memory = locate_operand(accessor, key, address, atomic_size);
    if (!memory)
        return std::unexpected(memory.error());
    const std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(memory->data()));
    std::uint64_t before = word.load();
    while (!word.compare_exchange_weak(before, swap_if_big(change(swap_if_big(before))))) {
    }
    return swap_if_big(before);
}

AccessResult<void> MemoryKeys::invalidate(Accessor accessor, std::uint32_t key) {
    const auto found = find(key);
    if (!found)
        return std::unexpected(found.error());
    const auto fields = (*found)->mutable_context();
    if (fields.get<"free">() != 0)
        return std::unexpected(AccessFault::free_key);
    if (!accessor.is_in(fields.get<"pd">()))
        return std::unexpected(AccessFault::foreign_domain);
    if (fields.get<"qpn">() != MemoryKey::any_queue_pair &&
        fields.get<"qpn">() != accessor.queue_pair)
        return std::unexpected(AccessFault::foreign_queue_pair);
    if (fields.get<"en_rinval">() == 0)
        return std::unexpected(AccessFault::no_right);
    fields.set<"free">(1);
    return {};
}

nlohmann::json MemoryKeys::statistics() const {
    return {{"translations", statistics_.translations},
            {"faults", statistics_.faults},
            {"umr_executed", statistics_.umr_executed},
            {"umr_refused", statistics_.umr_refused},
            {"signature_errors", statistics_.signature_errors}};
}

} // namespace cxemu::memory
