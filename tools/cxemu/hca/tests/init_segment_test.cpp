// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/init_segment.hpp"
#include "hca/rules.hpp"
#include "hca/testing/host.hpp"

#include <gtest/gtest.h>

namespace cxemu::hca {
namespace {

using testing::Host;
using namespace std::chrono_literals;

constexpr std::uint64_t queue_low = 0x14;
constexpr std::uint64_t initializing = 0x1fc;
constexpr std::uint64_t health_counter = 0x1010;

class InitSegmentTest : public ::testing::Test {
protected:
    [[nodiscard]] std::uint32_t nic_interface() { return (host.read32(queue_low) >> 8U) & 7U; }

    Host host{CommandTable()};
};

TEST_F(InitSegmentTest, FirmwareVersionReadable) {
    EXPECT_EQ(host.read32(0x0), (35U << 16U) | 16U);
    EXPECT_EQ(host.read32(0x4), (5U << 16U) | 4506U);
}

TEST_F(InitSegmentTest, SegmentReadableByteByByte) {
    std::array<std::byte, 1> byte{};
    host.hca.bar_read(0x1, byte);
    EXPECT_EQ(byte[0], std::byte{35});
    std::array<std::byte, 8> eight{};
    host.hca.bar_read(0x0, eight);
    EXPECT_EQ(load_be<std::uint64_t>(std::span<const std::byte>(eight)), 0x0023'0010'0005'119aU);
}

/// A second has 156,250,000 cycles with the 156,250 kHz of connectx5.
TEST_F(InitSegmentTest, TimerCountsCyclesOfDevice) {
    constexpr std::uint64_t timer_high = hwtab::value<hwtab::timer_offset, "internal_h">;
    constexpr std::uint64_t timer_low = hwtab::value<hwtab::timer_offset, "internal_l">;
    const auto timer = [this] {
        return std::uint64_t{host.read32(timer_high)} << 32U | host.read32(timer_low);
    };
    const auto before = timer();
    host.advance(1s);
    EXPECT_EQ(timer() - before, 156'250'000U);
    host.advance(32ns);
    EXPECT_EQ(timer() - before, 156'250'005U) << "6.4 ns each";
}

TEST_F(InitSegmentTest, InitializingSetAfterReset) {
    EXPECT_NE(host.read32(initializing) >> 31U, 0U);
    host.advance(20ms);
    EXPECT_EQ(host.read32(initializing) >> 31U, 0U);
}

TEST_F(InitSegmentTest, InterfaceDisabledUntilQueueSet) {
    host.advance(20ms);
    EXPECT_EQ(nic_interface(), 1U);
    EXPECT_EQ(host.read32(queue_low) & 0xffU, 0x56U);
    host.write32(0x10, 0x1);
    EXPECT_EQ(nic_interface(), 1U) << "half an address is none";
    host.write32(queue_low, 0x2000);
    EXPECT_EQ(nic_interface(), 0U);
    EXPECT_EQ(host.read32(0x10), 1U);
    EXPECT_EQ(host.read32(queue_low), 0x2056U) << "software reads the address back";
    EXPECT_TRUE(host.hca.command_queue().running());
}

TEST_F(InitSegmentTest, ResetDisablesInterface) {
    host.start_queue();
    host.hca.reset(pci::ResetCause::function_level);
    EXPECT_EQ(nic_interface(), 1U);
    EXPECT_NE(host.read32(initializing) >> 31U, 0U);
    EXPECT_EQ(host.read32(queue_low) & 0xffU, 0x56U) << "the size is needed again";
    EXPECT_EQ(host.read32(0x10), 0U);
}

TEST_F(InitSegmentTest, InterfaceDisableStopsQueue) {
    host.start_queue();
    host.write32(queue_low, (1U << 8U) | static_cast<std::uint32_t>(Host::queue));
    EXPECT_EQ(nic_interface(), 1U);
    EXPECT_FALSE(host.hca.command_queue().running());
}

TEST_F(InitSegmentTest, SoftwareResetClearsFatalState) {
    host.start_queue();
    host.hca.fail_fatally({.syndrome = HealthSyndrome::hardware_fatal, .reset_required = true});
    host.write32(queue_low, 7U << 8U);
    EXPECT_EQ(nic_interface(), 1U);
    EXPECT_FALSE(host.hca.health().fatal());
    EXPECT_NE(host.read32(initializing) >> 31U, 0U);
}

TEST_F(InitSegmentTest, HealthCounterAdvancesWithTime) {
    const std::uint32_t before = host.read32(health_counter);
    EXPECT_EQ(host.read32(health_counter), before);
    host.advance(25ms);
    EXPECT_EQ(host.read32(health_counter), before + 2);
}

TEST_F(InitSegmentTest, StoppedHealthCounterConstant) {
    host.hca.health().stop_counter(true);
    const std::uint32_t before = host.read32(health_counter);
    host.advance(1s);
    EXPECT_EQ(host.read32(health_counter), before);
}

TEST_F(InitSegmentTest, HealthBufferInitiallyClean) {
    EXPECT_EQ(host.read32(0x23c), 0U);
    EXPECT_EQ(host.read32(0x238), 0U);
    EXPECT_NE(host.read32(0x230), 0xffff'ffffU);
}

TEST_F(InitSegmentTest, FatalFailureReportedInHealthBuffer) {
    host.hca.fail_fatally({.syndrome = HealthSyndrome::temperature,
                           .extended_syndrome = 0x1234,
                           .reset_required = true,
                           .severity = HealthSeverity::critical,
                           .processor = 3});
    EXPECT_EQ(host.read32(0x23c), 0x0310'1234U);
    EXPECT_EQ(host.read32(0x238) >> 24U, 0x8aU) << "reset required, severity valid, critical";
}

TEST_F(InitSegmentTest, WriteToNoRegisterReported) {
    host.write32(0x30, 1);
    EXPECT_EQ(host.checker.counted(rules::bar_access_undecoded), 1U);
}

} // namespace
} // namespace cxemu::hca
