// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/byte_order.hpp"
#include "pci/function.hpp"
#include "vfio_user/testing/guest_memory.hpp"
#include "vfio_user/testing/wire.hpp"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace cxemu::pci {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using vfio_user::testing::drain;
using vfio_user::testing::GuestMemory;
using vfio_user::testing::make_eventfd;
namespace region = vfio_user::region;

/// Records accesses as (offset, size).
class RecordingModel final : public DeviceModel {
public:
    using Accesses = std::vector<std::pair<std::uint64_t, std::size_t>>;

    void bar_read(std::uint64_t offset, std::span<std::byte> out) override {
        reads.emplace_back(offset, out.size());
        std::ranges::fill(out, static_cast<std::byte>(offset));
    }
    void bar_write(std::uint64_t offset, std::span<const std::byte> data) override {
        writes.emplace_back(offset, data.size());
    }
    void reset(ResetCause cause) override {
        resets.push_back(cause);
        if (function != nullptr) // state of the function when the model is reset
            dma_was_off = !function->dma().write(0, std::array<std::byte, 1>{}).has_value();
    }
    void vectors_changed(std::uint32_t first, std::uint32_t count) override {
        vectors.emplace_back(first, count);
    }
    void bus_master_changed(bool enabled) override { bus_master.push_back(enabled); }

    Accesses reads;
    Accesses writes;
    std::vector<ResetCause> resets;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> vectors;
    std::vector<bool> bus_master;
    Function* function = nullptr;
    bool dma_was_off = false;
};

class FunctionTest : public ::testing::Test {
protected:
    FunctionTest() {
        function_.attach(model_);
        model_.function = &function_;
    }

    template <std::unsigned_integral T>
    void write_config(std::uint64_t offset, T value) {
        std::array<std::byte, sizeof(T)> bytes{};
        store_le<T>(bytes, value);
        EXPECT_TRUE(function_.region_write(region::config, offset, bytes));
    }
    std::uint16_t read_config16(std::uint64_t offset) {
        std::array<std::byte, 2> bytes{};
        EXPECT_TRUE(function_.region_read(region::config, offset, bytes));
        return load_le<std::uint16_t>(bytes);
    }
    void enable_memory_and_bus_master() { write_config<std::uint16_t>(reg::command, 0x0006); }
    void enable_msix() { write_config<std::uint16_t>(reg::msix_control, 0x8000); }
    std::vector<std::byte> read_bar(std::uint64_t offset, std::size_t size) {
        std::vector<std::byte> out(size);
        EXPECT_TRUE(function_.region_read(region::bar0, offset, out));
        return out;
    }
    void write_bar(std::uint64_t offset, std::size_t size) {
        EXPECT_TRUE(function_.region_write(region::bar0, offset, std::vector<std::byte>(size)));
    }
    /// Assigns an eventfd to vector 0.
    /// \return the guest's descriptor
    UniqueFd take_vector_0() {
        UniqueFd guest = make_eventfd();
        std::vector<UniqueFd> fds;
        fds.emplace_back(::dup(guest.get()));
        EXPECT_TRUE(function_.interrupts().assign(0, std::move(fds)));
        return guest;
    }
    bool dma_works() { return function_.dma().write(0, std::array<std::byte, 1>{}).has_value(); }

    RecordingModel model_;
    Function function_{FunctionConfig{}, make_silent_log()};
    GuestMemory memory_{4096};
};

using Bar = FunctionTest;
using BusMaster = FunctionTest;
using Msix = FunctionTest;
using Reset = FunctionTest;

TEST_F(Bar, AccessReachesModel) {
    enable_memory_and_bus_master();
    EXPECT_THAT(read_bar(0x1010, 4), Each(std::byte{0x10}));
    write_bar(0x100020, 8);
    EXPECT_THAT(model_.reads, ElementsAre(Pair(0x1010, 4)));
    EXPECT_THAT(model_.writes, ElementsAre(Pair(0x100020, 8)));
}

TEST_F(Bar, AccessSplitIntoAlignedPieces) {
    enable_memory_and_bus_master();
    write_bar(0x8003, 14);
    EXPECT_THAT(model_.writes,
                ElementsAre(Pair(0x8003, 1), Pair(0x8004, 4), Pair(0x8008, 8), Pair(0x8010, 1)));
    read_bar(0, 24);
    EXPECT_THAT(model_.reads, ElementsAre(Pair(0, 8), Pair(8, 8), Pair(16, 8)));
}

TEST_F(Bar, MemoryDisabledReadsAllOnes) {
    EXPECT_THAT(read_bar(0, 8), Each(std::byte{0xff}));
    write_bar(0, 8);
    EXPECT_THAT(model_.reads, IsEmpty());
    EXPECT_THAT(model_.writes, IsEmpty());
    EXPECT_EQ(function_.statistics().unsupported_requests, 2U);
    EXPECT_EQ(read_config16(reg::device_status), 0x0008);
}

TEST_F(Bar, D3hotReadsAllOnes) {
    enable_memory_and_bus_master();
    write_config<std::uint16_t>(reg::power_control, 3);
    EXPECT_THAT(read_bar(0, 4), Each(std::byte{0xff}));
    EXPECT_THAT(model_.reads, IsEmpty());
}

TEST_F(Bar, MissingModelReadsAllOnes) {
    Function empty(FunctionConfig{}, make_silent_log());
    std::array<std::byte, 2> command{std::byte{6}, std::byte{0}};
    ASSERT_TRUE(empty.region_write(region::config, reg::command, command));
    std::array<std::byte, 4> out{};
    ASSERT_TRUE(empty.region_read(region::bar0, 0, out));
    EXPECT_THAT(out, Each(std::byte{0xff}));
}

TEST_F(Bar, PendingBitsReadable) {
    enable_memory_and_bus_master();
    function_.interrupts().raise(2);
    const auto bits = read_bar(msix_pending_offset, 8);
    EXPECT_EQ(bits[0], std::byte{0x04});
    EXPECT_THAT(model_.reads, IsEmpty());
}

TEST_F(Bar, MsixPagesKeptFromModel) {
    enable_memory_and_bus_master();
    write_bar(msix_table_offset, 16);
    write_bar(msix_pending_offset, 8);
    EXPECT_THAT(read_bar(msix_table_offset, 8), Each(std::byte{0}));
    EXPECT_THAT(model_.writes, IsEmpty());
    write_bar(msix_pending_offset + 4096, 8);
    EXPECT_THAT(model_.writes, ElementsAre(Pair(0x4000, 8)));
}

TEST_F(Bar, Bar0AndConfigAreOnlyRegions) {
    EXPECT_EQ(function_.region_size(region::bar0), 32U << 20);
    EXPECT_EQ(function_.region_size(region::config), 4096U);
    for (const std::uint32_t other : {1U, 2U, 6U, 8U, 9U, UINT32_MAX})
        EXPECT_EQ(function_.region_size(other), 0U);
}

TEST_F(BusMaster, DmaWorksOnlyWhileEnabled) {
    memory_.map_into(function_.dma(), 0);
    EXPECT_FALSE(dma_works());
    enable_memory_and_bus_master();
    EXPECT_TRUE(dma_works());
    write_config<std::uint16_t>(reg::command, 0x0002);
    EXPECT_FALSE(dma_works());
    EXPECT_THAT(model_.bus_master, ElementsAre(true, false));
}

TEST_F(BusMaster, D3hotDisablesDma) {
    memory_.map_into(function_.dma(), 0);
    enable_memory_and_bus_master();
    write_config<std::uint16_t>(reg::power_control, 3);
    EXPECT_FALSE(dma_works());
    write_config<std::uint16_t>(reg::power_control, 0);
    EXPECT_TRUE(dma_works());
}

TEST_F(BusMaster, UnmappedDmaSetsReceivedMasterAbort) {
    enable_memory_and_bus_master();
    EXPECT_EQ(read_config16(reg::status) & 0x2000, 0);
    EXPECT_FALSE(dma_works());
    EXPECT_EQ(read_config16(reg::status) & 0x2000, 0x2000);
    write_config<std::uint16_t>(reg::status, 0x2000);
    EXPECT_EQ(read_config16(reg::status) & 0x2000, 0);
}

TEST_F(BusMaster, DisabledDmaSetsNoMasterAbort) {
    EXPECT_FALSE(dma_works());
    EXPECT_EQ(read_config16(reg::status) & 0x2000, 0);
}

TEST_F(Msix, EnabledWithBusMasterSends) {
    const UniqueFd guest = take_vector_0();
    function_.interrupts().raise(0);
    EXPECT_EQ(drain(guest), 0U);
    enable_msix();
    EXPECT_EQ(drain(guest), 0U);
    enable_memory_and_bus_master();
    EXPECT_EQ(drain(guest), 1U);
}

TEST_F(Msix, FunctionMaskedWaits) {
    const UniqueFd guest = take_vector_0();
    enable_memory_and_bus_master();
    write_config<std::uint16_t>(reg::msix_control, 0xc000);
    function_.interrupts().raise(0);
    EXPECT_EQ(drain(guest), 0U);
    enable_msix();
    EXPECT_EQ(drain(guest), 1U);
}

TEST_F(Msix, MsixDisableDropsPending) {
    enable_memory_and_bus_master();
    enable_msix();
    function_.interrupts().raise(0);
    write_config<std::uint16_t>(reg::msix_control, 0);
    enable_msix();
    EXPECT_EQ(drain(take_vector_0()), 0U);
}

TEST_F(Msix, VectorChangesReachModel) {
    function_.interrupts_changed(3, 1);
    EXPECT_THAT(model_.vectors, ElementsAre(Pair(3, 1)));
}

TEST_F(Reset, FlrClearsFunctionAndResetsModel) {
    memory_.map_into(function_.dma(), 0);
    enable_memory_and_bus_master();
    enable_msix();
    function_.interrupts().raise(1);
    write_config<std::uint16_t>(reg::device_control, 0xa910);
    EXPECT_THAT(model_.resets, ElementsAre(ResetCause::function_level));
    EXPECT_TRUE(model_.dma_was_off);
    EXPECT_FALSE(function_.interrupts().pending(1));
    EXPECT_FALSE(function_.config().memory_enabled());
    EXPECT_FALSE(function_.config().msix_enabled());
    EXPECT_THAT(model_.bus_master, ElementsAre(true, false));
    EXPECT_EQ(function_.statistics().function_level_resets, 1U);
}

TEST_F(Reset, FlrDropsPendingInterrupts) {
    function_.interrupts().raise(1);
    write_config<std::uint16_t>(reg::device_control, 0xa910);
    EXPECT_FALSE(function_.interrupts().pending(1));
}

TEST_F(Reset, ResetKeepsMapsAndEventfds) {
    memory_.map_into(function_.dma(), 0);
    const UniqueFd guest = take_vector_0();
    write_config<std::uint16_t>(reg::device_control, 0xa910);
    function_.reset();
    EXPECT_THAT(model_.resets, ElementsAre(ResetCause::function_level, ResetCause::bus));
    enable_memory_and_bus_master();
    enable_msix();
    EXPECT_TRUE(dma_works());
    function_.interrupts().raise(0);
    EXPECT_EQ(drain(guest), 1U);
}

TEST_F(Reset, ClientGoneResetsFunction) {
    enable_memory_and_bus_master();
    write_config<std::uint32_t>(reg::error_reporting + 8, 0x00100000);
    function_.client_gone();
    EXPECT_THAT(model_.resets, ElementsAre(ResetCause::client_gone));
    EXPECT_EQ(function_.config().read32(reg::error_reporting + 8), 0U);
    EXPECT_FALSE(function_.config().memory_enabled());
}

TEST_F(Reset, UnrequestedResetClearsFunction) {
    enable_memory_and_bus_master();
    function_.reset_function();
    EXPECT_THAT(model_.resets, ElementsAre(ResetCause::function_level));
    EXPECT_EQ(read_config16(reg::command), 0U);
}

using Removal = FunctionTest;

TEST_F(Removal, RemovedFunctionReadsAsOnes) {
    memory_.map_into(function_.dma(), 0);
    enable_memory_and_bus_master();
    EXPECT_TRUE(dma_works());
    function_.remove();
    EXPECT_EQ(read_config16(0), 0xffffU);
    EXPECT_THAT(read_bar(0x1010, 4), Each(std::byte{0xff}));
    write_bar(0x100020, 8);
    EXPECT_THAT(model_.writes, IsEmpty());
    EXPECT_FALSE(dma_works());
    enable_memory_and_bus_master();
    EXPECT_FALSE(dma_works()) << "a write to the configuration of nothing";
}

TEST_F(Removal, InsertedFunctionStartsCold) {
    enable_memory_and_bus_master();
    function_.remove();
    function_.insert();
    EXPECT_EQ(read_config16(0), 0x15b3U);
    EXPECT_EQ(read_config16(reg::command), 0U);
    function_.remove();
    function_.client_gone();
    EXPECT_EQ(read_config16(0), 0x15b3U) << "the next virtual machine finds it";
}

} // namespace
} // namespace cxemu::pci
