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
/// To read a word, software writes its address with flag 0; the flag becomes 1 when the word is in
/// the data register. To write a word, software writes its address with flag 1; the flag becomes 0
/// when the word of the data register is written.
class Gateway {
public:
    static constexpr std::size_t size = 0x18; ///< bytes of the capability

    /// Handles the part of an access to the configuration space that concerns the registers of the
    /// gateway.
    /// \param model the address spaces; nullptr: none
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
