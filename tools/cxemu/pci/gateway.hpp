// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The gateway in the vendor-specific capability: configuration accesses reach address spaces
/// inside of the device, one word at a time.
#pragma once

#include "pci/device_model.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cxemu::pci {

/// Registers, as drivers use them (mlx5_core's pci_vsc.c, iPXE's mlx_pci_gw.c):
///
/// | at   | register  |                                                               |
/// |------|-----------|---------------------------------------------------------------|
/// | 0x04 | control   | address space (15:0); status (31:29), 0: there is none        |
/// | 0x08 | counter   | another ticket at each read                                   |
/// | 0x0c | semaphore | 0: free; a ticket is accepted while it is free, 0 frees it    |
/// | 0x10 | address   | (29:0); flag (31), syndrome (30)                              |
/// | 0x14 | data      | the word                                                      |
///
/// An address written with flag 0 reads a word, and the flag is 1 when the word is in the data
/// register; one written with flag 1 writes the word of the data register, and the flag is 0 when
/// that is done.
class Gateway {
public:
    static constexpr std::size_t size = 0x18; ///< bytes of the capability

    /// An access to the configuration space; only what concerns the gateway's registers counts.
    /// \param model the address spaces; nullptr: there are none
    void read(std::size_t offset, std::span<std::byte> out);
    void write(std::size_t offset, std::span<const std::byte> data, DeviceModel* model);

    void reset();

private:
    using Bytes = std::array<std::byte, size>;

    [[nodiscard]] std::uint32_t word(std::size_t at) const;
    void set_word(std::size_t at, std::uint32_t value);
    void select_space(std::uint16_t space, const DeviceModel* model);
    void take_semaphore(std::uint32_t ticket);
    void access(std::uint32_t address, DeviceModel* model);

    Bytes bytes_ = initial();
    static Bytes initial();
};

} // namespace cxemu::pci
