// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Configuration of a PCI function.
#pragma once

#include <cstdint>

namespace cxemu::pci {

struct FunctionConfig {
    std::uint16_t vendor_id = 0x15b3;
    std::uint16_t device_id = 0x1017; ///< ConnectX-5; an odd id is a PF, most even ones a VF
    std::uint16_t subsystem_vendor_id = 0x15b3;
    std::uint16_t subsystem_id = 0x0008;
    std::uint8_t revision = 0;
    std::uint32_t class_code = 0x020700;           ///< InfiniBand controller
    std::uint64_t bar0_size = 32ULL * 1024 * 1024; ///< bytes; a power of two, at least 16 KiB
    std::uint32_t msix_vectors = 64;               ///< 1..256, the table has one page
    std::uint8_t link_speed = 3;                   ///< PCIe generation: 3 is 8 GT/s
    std::uint8_t link_width = 16;                  ///< lanes
    std::uint64_t serial_number = 0;               ///< EUI-64; for an HCA its node GUID
};

/// Offsets of the MSI-X structures in BAR 0; each structure has its own 4 KiB page.
inline constexpr std::uint64_t msix_table_offset = 0x2000;
inline constexpr std::uint64_t msix_pending_offset = 0x3000;

} // namespace cxemu::pci
