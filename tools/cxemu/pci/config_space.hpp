// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// PCI Express configuration space: 4096 bytes of registers with write masks.
#pragma once

#include "pci/function_config.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cxemu::pci {

/// Offsets of registers that other files access.
namespace reg {
inline constexpr std::uint16_t vendor_id = 0x00;
inline constexpr std::uint16_t command = 0x04;
inline constexpr std::uint16_t status = 0x06;
inline constexpr std::uint16_t bar0 = 0x10;
inline constexpr std::uint16_t capabilities = 0x34;
inline constexpr std::uint16_t power_management = 0x40;
inline constexpr std::uint16_t power_control = power_management + 4;
inline constexpr std::uint16_t express = 0x60;
inline constexpr std::uint16_t device_control = express + 0x08;
inline constexpr std::uint16_t device_status = express + 0x0a;
inline constexpr std::uint16_t msix = 0x9c;
inline constexpr std::uint16_t msix_control = msix + 2;
inline constexpr std::uint16_t vendor_specific = 0xc0;
inline constexpr std::uint16_t error_reporting = 0x100;
inline constexpr std::uint16_t serial_number = 0x150;
} // namespace reg

class ConfigSpace {
public:
    static constexpr std::size_t size = 4096;

    explicit ConfigSpace(const FunctionConfig& config);

    /// Reads or writes any number of bytes at any alignment. Read-only bits keep their value, bits
    /// of the write-one-to-clear kind are cleared by a one. \pre offset + size of the span <= 4096
    void read(std::size_t offset, std::span<std::byte> out) const;

    /// \return true when the guest asked for a function level reset; the bit itself always reads 0
    [[nodiscard]] bool write(std::size_t offset, std::span<const std::byte> data);

    /// Function level and bus resets do not change sticky registers (error status and masks).
    enum class ResetScope : std::uint8_t { keep_sticky, everything };

    /// Back to power-on values.
    void reset(ResetScope scope);

    /// Sets Received Master Abort in the Status register: a DMA access of the function had no
    /// completer.
    void note_master_abort();

    /// Records that the function has terminated a request as Unsupported Request (Device Status,
    /// AER).
    void note_unsupported_request();

    [[nodiscard]] bool memory_enabled() const;
    [[nodiscard]] bool bus_master_enabled() const;
    [[nodiscard]] bool msix_enabled() const;
    [[nodiscard]] bool msix_function_masked() const;
    /// False in D3hot: the function completes configuration accesses only.
    [[nodiscard]] bool powered() const;

    [[nodiscard]] std::uint16_t read16(std::size_t offset) const;
    [[nodiscard]] std::uint32_t read32(std::size_t offset) const;

private:
    void set_bits32(std::size_t offset, std::uint32_t bits);

    class Layout; ///< fills the arrays below

    using Bytes = std::array<std::byte, size>;

    Bytes value_{};
    Bytes initial_{};
    Bytes writable_{};      ///< a 1 bit: plain read/write
    Bytes write_1_clear_{}; ///< a 1 bit: writing 1 clears it
    Bytes sticky_{};        ///< a 1 bit: survives all but loss of power
};

} // namespace cxemu::pci
