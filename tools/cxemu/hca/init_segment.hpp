// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The initialization segment: the first pages of BAR 0.
#pragma once

#include "hca/device_clock.hpp"
#include "hca/device_profile.hpp"
#include "hca/health.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace cxemu::hca {

/// Interface mode (nic_interface).
enum class NicInterface : std::uint8_t {
    full_driver = 0,
    disabled = 1,
    no_dram_nic = 2,
    software_reset = 7,
};

/// The requests that a write to the segment contains.
struct InitSegmentRequest {
    std::optional<std::uint64_t> queue_address; ///< of the command queue; full driver mode
    std::optional<NicInterface> interface;      ///< a mode other than full driver
    std::uint32_t doorbells = 0;                ///< bit n: slot n of the command queue
    bool unexpected = false;                    ///< no register accepts this write
};

class InitSegment {
public:
    static constexpr std::uint64_t size = 0x4000; ///< bytes
    static constexpr std::uint32_t log_queue_size = 5;
    static constexpr std::uint32_t log_queue_stride = 6;

    InitSegment(const DeviceClock& clock, const HcaSettings& settings, const Health& health);

    /// Any number of bytes at any alignment. \pre offset + out.size() <= size
    void read(std::uint64_t offset, std::span<std::byte> out) const;

    /// A naturally aligned write of 1, 2, 4 or 8 bytes.
    InitSegmentRequest write(std::uint64_t offset, std::span<const std::byte> data);

    void set_initializing(bool initializing) { initializing_ = initializing; }
    void set_interface(NicInterface mode) { interface_ = mode; }
    [[nodiscard]] NicInterface interface() const { return interface_; }
    [[nodiscard]] bool initializing() const { return initializing_; }

    void reset();

private:
    [[nodiscard]] std::uint32_t word(std::uint64_t offset) const;
    [[nodiscard]] std::uint32_t health_word(std::uint64_t offset) const;
    void write_word(std::uint64_t offset, std::uint32_t value, InitSegmentRequest& request);
    void write_queue_address(std::uint32_t value, InitSegmentRequest& request);

    const DeviceClock& clock_;
    const HcaSettings& settings_;
    const Health& health_;
    std::uint32_t address_high_ = 0;
    std::uint32_t address_low_ = 0; ///< bits 31 to 12
    NicInterface interface_ = NicInterface::disabled;
    bool initializing_ = false;
};

} // namespace cxemu::hca
