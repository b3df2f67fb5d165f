// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The buffer of a queue: pages of host memory from the pas list of its CREATE command.
#pragma once

#include "vfio_user/dma_space.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

namespace cxemu::memory {

class HostBuffer {
public:
    HostBuffer() = default;

    /// Geometry of a buffer, from the context.
    struct Geometry {
        std::uint32_t log_page_size = 12; ///< log2 of bytes
        std::uint64_t offset = 0;         ///< of the buffer's first byte in the first page, bytes
        std::uint64_t size = 0;           ///< bytes
    };

    /// Why a pas list is invalid.
    struct Fault {
        enum class Kind : std::uint8_t { bad_geometry, list_too_short, bad_address };
        Kind kind;
        std::string text;
    };

    /// \return the buffer, or why \p pages is invalid: too few entries, an address that is not a
    ///         multiple of 4096, or an end beyond 64 bits
    static std::expected<HostBuffer, Fault> create(const Geometry& geometry,
                                                   std::vector<std::uint64_t> pages);

    [[nodiscard]] std::uint64_t size() const { return geometry_.size; }
    [[nodiscard]] const std::vector<std::uint64_t>& pages() const { return pages_; }
    /// Bus address of byte \p offset. \pre offset < size()
    [[nodiscard]] std::uint64_t address(std::uint64_t offset) const;

    /// Copies from byte \p offset on, across pages. \pre offset + out.size() <= size()
    vfio_user::DmaResult<void> read(vfio_user::DmaSpace& dma, std::uint64_t offset,
                                    std::span<std::byte> out) const;
    vfio_user::DmaResult<void> write(vfio_user::DmaSpace& dma, std::uint64_t offset,
                                     std::span<const std::byte> data) const;

private:
    [[nodiscard]] std::uint64_t left_in_page(std::uint64_t offset) const;

    Geometry geometry_;
    std::vector<std::uint64_t> pages_;
};

} // namespace cxemu::memory
