// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Interface of a device to the protocol: regions, interrupts, DMA. pci::Function implements it; an
/// HCA implements pci::DeviceModel.
#pragma once

#include "vfio_user/dma_space.hpp"
#include "vfio_user/interrupt_set.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

namespace cxemu::vfio_user {

/// VFIO region indices of a PCI device.
namespace region {
inline constexpr std::uint32_t bar0 = 0;
inline constexpr std::uint32_t config = 7;
inline constexpr std::uint32_t count = 9;
} // namespace region

/// VFIO interrupt indices of a PCI device.
namespace irq {
inline constexpr std::uint32_t msix = 2;
inline constexpr std::uint32_t count = 5;
} // namespace irq

class Device {
public:
    virtual ~Device() = default;

    /// Size of a region in bytes; 0 for one that the device does not have.
    [[nodiscard]] virtual std::uint64_t region_size(std::uint32_t index) const = 0;

    /// Reads or writes a region. The range is not empty and lies within region_size().
    /// \return an errno for the client
    virtual std::expected<void, int> region_read(std::uint32_t index, std::uint64_t offset,
                                                 std::span<std::byte> out) = 0;
    virtual std::expected<void, int> region_write(std::uint32_t index, std::uint64_t offset,
                                                  std::span<const std::byte> data) = 0;

    virtual DmaSpace& dma() = 0;
    virtual InterruptSet& interrupts() = 0;

    /// DEVICE_RESET. DMA maps and eventfds stay: the client owns them.
    virtual void reset() = 0;

    /// SET_IRQS has changed vectors [first, first + count).
    virtual void interrupts_changed(std::uint32_t first, std::uint32_t count) = 0;

    /// DMA_UNMAP is about to remove the maps in [iova, iova + size).
    virtual void dma_unmapping(std::uint64_t iova, std::uint64_t size) = 0;

    /// A client has connected or disconnected; after that its maps and eventfds have been dropped.
    virtual void client_connected() = 0;
    virtual void client_gone() = 0;
};

} // namespace cxemu::vfio_user
