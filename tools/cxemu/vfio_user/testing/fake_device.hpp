// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A device that records the calls of the protocol.
#pragma once

#include "vfio_user/device.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

namespace cxemu::vfio_user::testing {

class FakeDevice final : public Device {
public:
    static constexpr std::uint64_t bar_size = 2U << 20;
    static constexpr std::uint32_t vectors = 16;

    [[nodiscard]] std::uint64_t region_size(std::uint32_t index) const override {
        if (index == region::bar0)
            return bar_size;
        return index == region::config ? 4096 : 0;
    }
    std::expected<void, int> region_read(std::uint32_t /*index*/, std::uint64_t offset,
                                         std::span<std::byte> out) override {
        if (failure != 0)
            return std::unexpected(failure);
        std::ranges::copy(std::span(bar).subspan(offset, out.size()), out.begin());
        return {};
    }
    std::expected<void, int> region_write(std::uint32_t /*index*/, std::uint64_t offset,
                                          std::span<const std::byte> data) override {
        if (failure != 0)
            return std::unexpected(failure);
        std::ranges::copy(data, bar.begin() + static_cast<std::ptrdiff_t>(offset));
        ++writes;
        return {};
    }
    DmaSpace& dma() override { return dma_space; }
    InterruptSet& interrupts() override { return interrupt_set; }
    void reset() override { ++resets; }
    void interrupts_changed(std::uint32_t first, std::uint32_t count) override {
        irq_changes.emplace_back(first, count);
    }
    void dma_unmapping(std::uint64_t iova, std::uint64_t size) override {
        unmappings.emplace_back(iova, size);
    }
    void client_connected() override { ++clients; }
    void client_gone() override { --clients; }

    DmaSpace dma_space{make_silent_log()};
    InterruptSet interrupt_set{vectors, make_silent_log()};
    std::vector<std::byte> bar = std::vector<std::byte>(bar_size);
    int failure = 0; ///< errno of region accesses
    int writes = 0;
    int resets = 0;
    int clients = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> irq_changes;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> unmappings;
};

} // namespace cxemu::vfio_user::testing
