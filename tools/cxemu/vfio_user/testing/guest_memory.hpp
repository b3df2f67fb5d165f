// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Guest memory for unit tests, without a virtual machine.
#pragma once

#include "vfio_user/dma_space.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace cxemu::vfio_user::testing {

/// A memfd that this process maps as a guest would, and that can be mapped into a DmaSpace.
class GuestMemory {
public:
    /// \param size bytes, multiple of 4096
    explicit GuestMemory(std::size_t size)
        : size_(size), file_(::memfd_create("guest", MFD_CLOEXEC)) {
        if (!file_ || ::ftruncate(file_.get(), static_cast<off_t>(size)) != 0)
            throw std::runtime_error("cannot create a memfd");
        void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
        if (address == MAP_FAILED)
            throw std::runtime_error("cannot map a memfd");
        bytes_ = static_cast<std::byte*>(address);
    }
    ~GuestMemory() { ::munmap(bytes_, size_); }
    GuestMemory(const GuestMemory&) = delete;
    GuestMemory& operator=(const GuestMemory&) = delete;

    /// Guest memory; element 0 is the first byte of the file.
    [[nodiscard]] std::span<std::byte> bytes() { return {bytes_, size_}; }

    /// Another descriptor of the file, as a client sends it.
    [[nodiscard]] UniqueFd file() const { return UniqueFd(::dup(file_.get())); }

    /// Maps the whole file at \p iova.
    void map_into(DmaSpace& dma, std::uint64_t iova, bool writable = true) const {
        const DmaMapRequest request{
            .iova = iova, .size = size_, .file_offset = 0, .readable = true, .writable = writable};
        if (!dma.map(request, file()))
            throw std::runtime_error("the DMA space refuses the map");
    }

private:
    std::size_t size_;
    UniqueFd file_;
    std::byte* bytes_ = nullptr;
};

} // namespace cxemu::vfio_user::testing
