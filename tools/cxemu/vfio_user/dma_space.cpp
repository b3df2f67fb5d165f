// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/dma_space.hpp"

#include "vfio_user/mapped_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

namespace cxemu::vfio_user {
namespace {

/// True when [start, start + size) has a last address that fits 64 bits. \pre size > 0
bool fits_64_bits(std::uint64_t start, std::uint64_t size) {
    return size - 1 <= std::numeric_limits<std::uint64_t>::max() - start;
}

const char* fault_text(DmaFault fault) {
    switch (fault) {
    case DmaFault::not_mapped:
        return "no DMA map covers it";
    case DmaFault::not_accessible:
        return "its DMA map has no memory behind it";
    case DmaFault::not_permitted:
        return "its DMA map does not permit it";
    case DmaFault::wraps_around:
        return "it exceeds 64 bits";
    case DmaFault::misaligned:
        return "it is not naturally aligned";
    case DmaFault::bus_master_off:
        return "bus mastering is off";
    case DmaFault::memory_lost:
        return "the file behind its DMA map was truncated";
    }
    return "unknown fault";
}

bool is_master_abort(DmaFault fault) {
    return fault == DmaFault::not_mapped || fault == DmaFault::not_accessible ||
           fault == DmaFault::wraps_around;
}

} // namespace

std::string to_string(const DmaError& error) {
    return fmt::format("DMA {} of {} bytes at {:#x} failed: {}",
                       error.access == DmaAccess::read ? "read" : "write", error.size, error.iova,
                       fault_text(error.fault));
}

DmaSpace::DmaSpace(Log log) : log_(std::move(log)) {}

DmaSpace::~DmaSpace() = default;

const DmaSpace::Map* DmaSpace::find(std::uint64_t iova) const {
    auto next = maps_.upper_bound(iova);
    if (next == maps_.begin())
        return nullptr;
    const auto& [start, map] = *std::prev(next);
    return iova - start < map.size ? &map : nullptr;
}

std::expected<std::span<std::byte>, DmaFault>
DmaSpace::piece_at(std::uint64_t iova, std::uint64_t size, DmaAccess access) const {
    if (iova >= local_start && iova - local_start < local_memory_.size()) {
        const auto rest = local_memory_.subspan(iova - local_start);
        return rest.first(std::min<std::uint64_t>(size, rest.size()));
    }
    const auto next = maps_.upper_bound(iova);
    if (next == maps_.begin())
        return std::unexpected(DmaFault::not_mapped);
    const auto& [start, map] = *std::prev(next);
    const std::uint64_t offset = iova - start;
    if (offset >= map.size)
        return std::unexpected(DmaFault::not_mapped);
    if (!map.file)
        return std::unexpected(DmaFault::not_accessible);
    if (map.file->lost())
        return std::unexpected(DmaFault::memory_lost);
    if (!(access == DmaAccess::read ? map.readable : map.writable))
        return std::unexpected(DmaFault::not_permitted);
    return map.file->bytes().subspan(map.file_offset + offset, std::min(size, map.size - offset));
}

template <typename Visit>
std::expected<void, DmaFault> DmaSpace::for_each_piece(std::uint64_t iova, std::uint64_t size,
                                                       DmaAccess access, Visit visit) const {
    if (size == 0)
        return {};
    if (!bus_master_)
        return std::unexpected(DmaFault::bus_master_off);
    if (!fits_64_bits(iova, size))
        return std::unexpected(DmaFault::wraps_around);
    while (size > 0) {
        const auto piece = piece_at(iova, size, access);
        if (!piece)
            return std::unexpected(piece.error());
        visit(*piece);
        iova += piece->size();
        size -= piece->size();
    }
    return {};
}

std::unexpected<DmaError> DmaSpace::fail(DmaFault fault, std::uint64_t iova, std::uint64_t size,
                                         DmaAccess access) {
    const DmaError error{.fault = fault, .access = access, .iova = iova, .size = size};
    (is_master_abort(fault) ? statistics_.master_aborts : statistics_.refused) += 1;
    if (limiter_.allow()) {
        if (const auto suppressed = limiter_.take_suppressed())
            log_->warn("{} more failed DMA accesses were not logged", suppressed);
        log_->warn("{}", to_string(error));
    }
    return std::unexpected(error);
}

void DmaSpace::count(std::uint64_t size, DmaAccess access) {
    const bool reading = access == DmaAccess::read;
    (reading ? statistics_.reads : statistics_.writes) += 1;
    (reading ? statistics_.bytes_read : statistics_.bytes_written) += size;
}

template <typename Copy>
DmaResult<void> DmaSpace::transfer(std::uint64_t iova, std::uint64_t size, DmaAccess access,
                                   Copy copy) {
    // The whole range is checked before the first byte moves.
    const auto valid = for_each_piece(iova, size, access, [](auto) {});
    if (!valid)
        return fail(valid.error(), iova, size, access);
    const std::uint64_t losses = MappedFile::losses();
    std::size_t done = 0;
    static_cast<void>(for_each_piece(iova, size, access, [&](std::span<std::byte> piece) {
        copy(piece, done);
        done += piece.size();
    }));
    std::atomic_signal_fence(std::memory_order_seq_cst); // the handler runs within the copy
    if (MappedFile::losses() != losses)
        return fail(DmaFault::memory_lost, iova, size, access);
    count(size, access);
    return {};
}

DmaResult<void> DmaSpace::read(std::uint64_t iova, std::span<std::byte> out) {
    return transfer(iova, out.size(), DmaAccess::read, [&](auto piece, std::size_t done) {
        std::memcpy(out.subspan(done).data(), piece.data(), piece.size());
    });
}

DmaResult<void> DmaSpace::write(std::uint64_t iova, std::span<const std::byte> data) {
    return transfer(iova, data.size(), DmaAccess::write, [&](auto piece, std::size_t done) {
        std::memcpy(piece.data(), data.subspan(done).data(), piece.size());
    });
}

DmaResult<std::byte*> DmaSpace::word(std::uint64_t iova, std::size_t size, DmaAccess access) {
    if (iova % size != 0)
        return fail(DmaFault::misaligned, iova, size, access);
    if (!bus_master_)
        return fail(DmaFault::bus_master_off, iova, size, access);
    const auto piece = piece_at(iova, size, access);
    if (!piece)
        return fail(piece.error(), iova, size, access);
    losses_seen_ = MappedFile::losses();
    return piece->data(); // maps are made of whole pages: an aligned word lies in one
}

DmaResult<void> DmaSpace::finish_word(std::uint64_t iova, std::size_t size, DmaAccess access) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (MappedFile::losses() != losses_seen_)
        return fail(DmaFault::memory_lost, iova, size, access);
    count(size, access);
    return {};
}

DmaResult<std::vector<std::span<std::byte>>> DmaSpace::spans(std::uint64_t iova, std::uint64_t size,
                                                             DmaAccess access) {
    std::vector<std::span<std::byte>> list;
    const auto valid = for_each_piece(iova, size, access,
                                      [&](std::span<std::byte> piece) { list.push_back(piece); });
    if (!valid)
        return fail(valid.error(), iova, size, access);
    return list;
}

bool DmaSpace::looks_private(std::uint64_t iova) const {
    const Map* map = find(iova);
    return map != nullptr && map->file && map->file->looks_untouched();
}

bool DmaSpace::overlaps(std::uint64_t iova, std::uint64_t size) const {
    if (find(iova) != nullptr)
        return true;
    const auto next = maps_.lower_bound(iova);
    return next != maps_.end() && next->first - iova < size;
}

std::expected<std::shared_ptr<MappedFile>, int> DmaSpace::mapped_file(UniqueFd file,
                                                                      std::uint64_t end) {
    std::erase_if(files_, [](const auto& known) { return known.expired(); });
    for (const auto& known : files_) {
        auto candidate = known.lock();
        if (candidate && candidate->serves(file, end))
            return candidate;
    }
    auto opened = MappedFile::open(std::move(file));
    if (!opened)
        return opened;
    if (end > (*opened)->bytes().size())
        return std::unexpected(EINVAL);
    files_.push_back(*opened);
    return opened;
}

std::expected<void, int> DmaSpace::map(const DmaMapRequest& request, UniqueFd file) {
    const bool aligned = (request.iova | request.size | request.file_offset) % page_size == 0;
    // The end of the range in the file must not wrap around to 0 either.
    const bool has_end =
        request.size <= std::numeric_limits<std::uint64_t>::max() - request.file_offset;
    if (!aligned || request.size == 0 || !fits_64_bits(request.iova, request.size) || !has_end)
        return std::unexpected(EINVAL);
    if (overlaps(request.iova, request.size))
        return std::unexpected(EEXIST);
    if (maps_.size() >= max_maps)
        return std::unexpected(ENOSPC);
    Map map{.size = request.size,
            .file_offset = request.file_offset,
            .readable = request.readable,
            .writable = request.writable,
            .file = nullptr};
    if (file) {
        auto opened = mapped_file(std::move(file), request.file_offset + request.size);
        if (!opened)
            return std::unexpected(opened.error());
        map.file = *std::move(opened);
        map.writable = map.writable && map.file->writable();
    } else {
        ++statistics_.maps_without_file;
    }
    maps_.emplace(request.iova, std::move(map));
    ++statistics_.maps;
    return {};
}

std::expected<std::uint64_t, int> DmaSpace::unmap(std::uint64_t iova, std::uint64_t size) {
    if (size == 0 || !fits_64_bits(iova, size))
        return std::unexpected(EINVAL);
    const std::uint64_t last = iova + (size - 1);
    const auto cut_by = [&](std::uint64_t first_kept, std::uint64_t last_dropped) {
        const Map* map = find(first_kept);
        return map != nullptr && map == find(last_dropped);
    };
    if ((iova > 0 && cut_by(iova - 1, iova)) ||
        (last < std::numeric_limits<std::uint64_t>::max() && cut_by(last + 1, last)))
        return std::unexpected(EINVAL);
    const auto begin = maps_.lower_bound(iova);
    const auto end = maps_.upper_bound(last);
    std::uint64_t unmapped = 0;
    for (auto map = begin; map != end; ++map)
        unmapped += map->second.size;
    maps_.erase(begin, end);
    ++statistics_.unmaps;
    return unmapped;
}

void DmaSpace::clear() {
    maps_.clear();
    files_.clear();
}

} // namespace cxemu::vfio_user
