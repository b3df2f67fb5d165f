// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/host_buffer.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <spdlog/fmt/fmt.h>
#include <utility>

namespace cxemu::memory {

namespace {

constexpr std::uint32_t max_log_page_size = 12 + 31; ///< 5 bits in contexts, relative to 4 KiB
constexpr std::uint64_t address_alignment = 4096;

} // namespace

std::expected<HostBuffer, HostBuffer::Fault> HostBuffer::create(const Geometry& geometry,
                                                                std::vector<std::uint64_t> pages) {
    if (geometry.log_page_size > max_log_page_size)
        return std::unexpected(Fault{
            Fault::Kind::bad_geometry,
            fmt::format("page size 2^{} exceeds 2^{}", geometry.log_page_size, max_log_page_size)});
    const std::uint64_t page_size = 1ULL << geometry.log_page_size;
    const std::uint64_t end = geometry.offset + geometry.size;
    const std::uint64_t needed = (end + page_size - 1) >> geometry.log_page_size;
    if (pages.size() < needed)
        return std::unexpected(
            Fault{Fault::Kind::list_too_short,
                  fmt::format("{} pages of {} bytes listed, {} bytes at offset {} need {}",
                              pages.size(), page_size, geometry.size, geometry.offset, needed)});
    pages.resize(needed);
    for (const std::uint64_t page : pages) {
        if (page % address_alignment != 0 ||
            page > std::numeric_limits<std::uint64_t>::max() - page_size)
            return std::unexpected(
                Fault{Fault::Kind::bad_address,
                      fmt::format("page address {:#x} is no multiple of {} or too large", page,
                                  address_alignment)});
    }
    HostBuffer buffer;
    buffer.geometry_ = geometry;
    buffer.pages_ = std::move(pages);
    return buffer;
}

std::uint64_t HostBuffer::address(std::uint64_t offset) const {
    assert(offset < size());
    const std::uint64_t position = geometry_.offset + offset;
    return pages_[position >> geometry_.log_page_size] +
           (position & ((1ULL << geometry_.log_page_size) - 1));
}

std::uint64_t HostBuffer::left_in_page(std::uint64_t offset) const {
    const std::uint64_t page_size = 1ULL << geometry_.log_page_size;
    return page_size - ((geometry_.offset + offset) & (page_size - 1));
}

vfio_user::DmaResult<void> HostBuffer::read(vfio_user::DmaSpace& dma, std::uint64_t offset,
                                            std::span<std::byte> out) const {
    assert(offset + out.size() <= size());
    while (!out.empty()) {
        const auto piece = std::min<std::uint64_t>(out.size(), left_in_page(offset));
        if (const auto result = dma.read(address(offset), out.first(piece)); !result)
            return result;
        out = out.subspan(piece);
        offset += piece;
    }
    return {};
}

vfio_user::DmaResult<void> HostBuffer::write(vfio_user::DmaSpace& dma, std::uint64_t offset,
                                             std::span<const std::byte> data) const {
    assert(offset + data.size() <= size());
    while (!data.empty()) {
        const auto piece = std::min<std::uint64_t>(data.size(), left_in_page(offset));
        if (const auto result = dma.write(address(offset), data.first(piece)); !result)
            return result;
        data = data.subspan(piece);
        offset += piece;
    }
    return {};
}

} // namespace cxemu::memory
