// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Interface of the blocks that other directories add to the HCA.
#pragma once

#include "pci/device_model.hpp"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace cxemu::hca {

/// A block that another directory adds to an HCA: EQs, work queues, mkeys, transport. Hca::add<T>()
/// creates and owns it, Hca::part<T>() finds it.
class Part {
public:
    Part() = default;
    virtual ~Part() = default;
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    /// "event_queues"; the key in statistics
    [[nodiscard]] virtual std::string_view name() const = 0;

    /// Power-on reset: clears all state. Objects are destroyed after all parts have been reset;
    /// guest memory may be unmapped already.
    virtual void reset(pci::ResetCause /*cause*/) {}

    /// INIT_HCA has succeeded.
    virtual void function_initialized() {}

    /// TEARDOWN_HCA, or the interface was disabled: no DMA and no interrupt after this returns.
    /// Objects are destroyed afterwards.
    virtual void function_torn_down() {}

    /// See pci::DeviceModel.
    virtual void vectors_changed(std::uint32_t /*first*/, std::uint32_t /*count*/) {}
    virtual void dma_unmapping(std::uint64_t /*iova*/, std::uint64_t /*size*/) {}

    /// JSON for the control socket.
    [[nodiscard]] virtual nlohmann::json statistics() const;
};

} // namespace cxemu::hca
