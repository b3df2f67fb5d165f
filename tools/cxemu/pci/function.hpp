// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// One PCI function: configuration space, MSI-X, resets, and a device model behind BAR 0.
#pragma once

#include "base/log.hpp"
#include "pci/config_space.hpp"
#include "pci/device_model.hpp"
#include "pci/function_config.hpp"
#include "pci/gateway.hpp"
#include "vfio_user/device.hpp"

namespace cxemu::pci {

struct FunctionStatistics {
    std::uint64_t bar_reads = 0;
    std::uint64_t bar_writes = 0;
    std::uint64_t config_reads = 0;
    std::uint64_t config_writes = 0;
    std::uint64_t unsupported_requests = 0; ///< BAR accesses while memory is disabled or not in D0
    std::uint64_t function_level_resets = 0;
    std::uint64_t bus_resets = 0;
};

/// Usage: create a Function, create the device model with references to dma() and interrupts(),
/// attach() it, pass the Function to a vfio_user::Server.
class Function final : public vfio_user::Device {
public:
    Function(const FunctionConfig& config, Log log);

    /// Puts \p model behind BAR 0; it must outlive the function's use by a server. Without one BAR
    /// 0 reads as all ones.
    void attach(DeviceModel& model) { model_ = &model; }

    vfio_user::DmaSpace& dma() override { return dma_; }
    vfio_user::InterruptSet& interrupts() override { return interrupts_; }
    /// A function level reset that the guest has not initiated.
    void reset_function() { reset(ResetCause::function_level); }
    /// Surprise removal: until insert() or until the client disconnects, no access completes and no
    /// DMA is done.
    void remove();
    /// Ends a removal; the device is in the power-on state. \return true if it was removed;
    /// otherwise nothing changes
    bool insert();

    [[nodiscard]] const ConfigSpace& config() const { return config_space_; }
    [[nodiscard]] const FunctionStatistics& statistics() const { return statistics_; }

    [[nodiscard]] std::uint64_t region_size(std::uint32_t index) const override;
    std::expected<void, int> region_read(std::uint32_t index, std::uint64_t offset,
                                         std::span<std::byte> out) override;
    std::expected<void, int> region_write(std::uint32_t index, std::uint64_t offset,
                                          std::span<const std::byte> data) override;
    void reset() override;
    void interrupts_changed(std::uint32_t first, std::uint32_t count) override;
    void dma_unmapping(std::uint64_t iova, std::uint64_t size) override;
    void client_connected() override;
    void client_gone() override;

private:
    bool completes_memory_requests();
    void config_read(std::uint64_t offset, std::span<std::byte> out);
    void bar_read(std::uint64_t offset, std::span<std::byte> out);
    void bar_write(std::uint64_t offset, std::span<const std::byte> data);
    void config_write(std::uint64_t offset, std::span<const std::byte> data);
    void reset(ResetCause cause);
    void apply_enables();

    FunctionConfig settings_;
    Log log_;
    ConfigSpace config_space_;
    Gateway gateway_;
    vfio_user::DmaSpace dma_;
    vfio_user::InterruptSet interrupts_;
    DeviceModel* model_ = nullptr;
    FunctionStatistics statistics_;
    std::uint64_t master_aborts_noted_ = 0; ///< of the DMA statistics
    bool bus_master_ = false;
    bool msix_enabled_ = false;
    bool removed_ = false;
};

} // namespace cxemu::pci
