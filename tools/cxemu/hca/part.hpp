// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// How the rooms plug their blocks into the chip without the chip knowing them.
#pragma once

#include "pci/device_model.hpp"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace cxemu::hca {

/// A block that another room adds to an HCA: event queues, work queues, memory keys, transport.
/// Hca::add<T>() makes and owns it, Hca::part<T>() finds it.
class Part {
public:
    Part() = default;
    virtual ~Part() = default;
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    /// "event_queues"; the key in statistics
    [[nodiscard]] virtual std::string_view name() const = 0;

    /// Back to power-on: forget everything about the host. The objects go after all parts have been
    /// reset; guest memory may be gone already.
    virtual void reset(pci::ResetCause /*cause*/) {}

    /// INIT_HCA has succeeded.
    virtual void function_initialized() {}

    /// TEARDOWN_HCA, or the interface was disabled: no DMA and no interrupt after this returns.
    /// Objects go afterwards.
    virtual void function_torn_down() {}

    /// See pci::DeviceModel.
    virtual void vectors_changed(std::uint32_t /*first*/, std::uint32_t /*count*/) {}
    virtual void dma_unmapping(std::uint64_t /*iova*/, std::uint64_t /*size*/) {}

    /// What the control socket prints.
    [[nodiscard]] virtual nlohmann::json statistics() const;
};

} // namespace cxemu::hca
