// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The device behind BAR 0 of a PCI function. The HCA implements it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace cxemu::pci {

enum class ResetCause : std::uint8_t {
    function_level, ///< Initiate Function Level Reset in Device Control
    bus,            ///< the client's DEVICE_RESET: bus reset, guest reboot
    client_gone,    ///< the client has disconnected; the next client finds a cold device
};

class DeviceModel {
public:
    virtual ~DeviceModel() = default;

    /// The guest reads BAR 0. The access is naturally aligned: out.size() is 1, 2, 4 or 8, and \p
    /// offset is a multiple of it. The caller has split other accesses. The callee fills all of \p
    /// out, in the byte order of guest memory. Not called for the pages of the MSI-X table and
    /// pending bits, nor while the guest has memory accesses disabled.
    virtual void bar_read(std::uint64_t offset, std::span<std::byte> out) = 0;

    /// The guest writes BAR 0; as above.
    virtual void bar_write(std::uint64_t offset, std::span<const std::byte> data) = 0;

    /// Returns to the power-on state. Bus mastering and MSI-X are off and no interrupt is pending
    /// when this is called; DMA fails until the guest enables it again.
    virtual void reset(ResetCause cause) = 0;

    /// The client has changed eventfds or masks of vectors [first, first + count). A signal that
    /// was raised while a vector was out of service is already delivered. The model can signal
    /// again for EQs that are fired and not empty.
    virtual void vectors_changed(std::uint32_t first, std::uint32_t count) = 0;

    /// The guest has switched bus mastering on or off (Command register, power state).
    virtual void bus_master_changed(bool /*enabled*/) {}

    /// Maps within [iova, iova + size) are about to be removed, so the model must drop cached
    /// addresses.
    virtual void dma_unmapping(std::uint64_t /*iova*/, std::uint64_t /*size*/) {}

    /// Whether the gateway of the vendor-specific capability reaches address space \p space.
    [[nodiscard]] virtual bool has_space(std::uint16_t /*space*/) const { return false; }

    /// The guest reads a word of an address space that is there. \return nothing where the space
    /// has no such address
    virtual std::optional<std::uint32_t> space_read(std::uint16_t /*space*/,
                                                    std::uint32_t /*address*/) {
        return {};
    }

    /// The guest writes a word of an address space that is there. \return false where the space
    /// has no such address
    virtual bool space_write(std::uint16_t /*space*/, std::uint32_t /*address*/,
                             std::uint32_t /*value*/) {
        return false;
    }

    /// A virtual machine has connected.
    virtual void client_connected() {}
};

} // namespace cxemu::pci
