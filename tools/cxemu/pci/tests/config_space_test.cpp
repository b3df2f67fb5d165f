// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/byte_order.hpp"
#include "pci/config_space.hpp"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace cxemu::pci {
namespace {

class ConfigSpaceTest : public ::testing::Test {
protected:
    template <std::unsigned_integral T>
    bool write(std::size_t offset, T value) {
        std::array<std::byte, sizeof(T)> bytes{};
        store_le<T>(bytes, value);
        return space_.write(offset, bytes);
    }

    FunctionConfig config_{.serial_number = 0x0002c90300001234};
    ConfigSpace space_{config_};
};

/// Capability id -> offset, from a walk of the list.
std::map<unsigned, unsigned> capabilities_of(const ConfigSpace& space) {
    std::map<unsigned, unsigned> found;
    for (unsigned at = space.read16(reg::capabilities) & 0xffU; at != 0;
         at = space.read16(at) >> 8U) {
        if (!found.emplace(space.read16(at) & 0xffU, at).second)
            break;
    }
    return found;
}

std::map<unsigned, unsigned> extended_capabilities_of(const ConfigSpace& space) {
    std::map<unsigned, unsigned> found;
    for (unsigned at = 0x100; at != 0; at = space.read32(at) >> 20U) {
        if (!found.emplace(space.read16(at), at).second)
            break;
    }
    return found;
}

TEST_F(ConfigSpaceTest, IdentityIsInfiniBandController) {
    EXPECT_EQ(space_.read32(0), 0x101715b3U);
    EXPECT_EQ(space_.read32(8) >> 8U, 0x020700U);
}

TEST_F(ConfigSpaceTest, IdsTakenFromProfile) {
    const ConfigSpace vf(FunctionConfig{.device_id = 0x1018, .subsystem_id = 0x0055});
    EXPECT_EQ(vf.read16(2), 0x1018);
    EXPECT_EQ(vf.read16(0x2e), 0x0055);
}

TEST_F(ConfigSpaceTest, CapabilitiesListed) {
    EXPECT_NE(space_.read16(reg::status) & 0x10, 0);
    const std::map<unsigned, unsigned> expected{
        {0x01, 0x40}, {0x09, 0xc0}, {0x10, 0x60}, {0x11, 0x9c}};
    EXPECT_EQ(capabilities_of(space_), expected);
    const std::map<unsigned, unsigned> extended{{0x0001, 0x100}, {0x0003, 0x150}};
    EXPECT_EQ(extended_capabilities_of(space_), extended);
}

TEST_F(ConfigSpaceTest, Bar0SizeReadable) {
    write<std::uint32_t>(0x10, 0xffffffff);
    write<std::uint32_t>(0x14, 0xffffffff);
    EXPECT_EQ(space_.read32(0x10), 0xfe00000cU); // 32 MiB, 64 bit, prefetchable
    EXPECT_EQ(space_.read32(0x14), 0xffffffffU);
    write<std::uint32_t>(0x18, 0xffffffff);
    EXPECT_EQ(space_.read32(0x18), 0U);
}

TEST_F(ConfigSpaceTest, MsixLocatedInBar0) {
    EXPECT_EQ(space_.read16(reg::msix_control), 63);
    EXPECT_EQ(space_.read32(reg::msix + 4), 0x2000U);
    EXPECT_EQ(space_.read32(reg::msix + 8), 0x3000U);
}

TEST_F(ConfigSpaceTest, IntxPinAbsent) {
    EXPECT_EQ(space_.read16(0x3c) >> 8U, 0);
}

TEST_F(ConfigSpaceTest, SerialNumberReadable) {
    EXPECT_EQ(space_.read32(reg::serial_number + 4), 0x00001234U);
    EXPECT_EQ(space_.read32(reg::serial_number + 8), 0x0002c903U);
}

TEST_F(ConfigSpaceTest, ReadOnlyBitsUnchangedByWrites) {
    write<std::uint32_t>(0x00, 0xffffffff);
    write<std::uint32_t>(0x08, 0);
    write<std::uint16_t>(reg::msix_control, 0xffff);
    write<std::uint16_t>(reg::command, 0xffff);
    EXPECT_EQ(space_.read32(0x00), 0x101715b3U);
    EXPECT_EQ(space_.read32(0x08) >> 8U, 0x020700U);
    EXPECT_EQ(space_.read16(reg::msix_control), 0xc03f);
    EXPECT_EQ(space_.read16(reg::command), 0x0546);
}

TEST_F(ConfigSpaceTest, WritesOfAnySizeAndAlignmentAccepted) {
    write<std::uint8_t>(reg::command, 0x06);
    EXPECT_TRUE(space_.memory_enabled());
    EXPECT_TRUE(space_.bus_master_enabled());
    write<std::uint8_t>(reg::msix_control + 1, 0x80);
    EXPECT_TRUE(space_.msix_enabled());
    const std::array<std::byte, 3> crooked{std::byte{0x44}, std::byte{0x33}, std::byte{0x22}};
    EXPECT_FALSE(space_.write(0x13, crooked));
    EXPECT_EQ(space_.read32(0x10) >> 24U, 0x44U);
    EXPECT_EQ(space_.read16(0x14), 0x2233);
}

TEST_F(ConfigSpaceTest, WholeSpaceReadable) {
    std::vector<std::byte> all(4096);
    space_.read(0, all);
    EXPECT_EQ(load_le<std::uint32_t>(all), 0x101715b3U);
    std::array<std::byte, 1> last{std::byte{0xff}};
    space_.read(4095, last);
    EXPECT_EQ(last[0], std::byte{0});
}

TEST_F(ConfigSpaceTest, FlrRequestedAndBitReadsZero) {
    EXPECT_NE(space_.read32(reg::express + 4) & (1U << 28U), 0U); // FLR is offered
    EXPECT_FALSE(write<std::uint16_t>(reg::device_control, 0x2910));
    EXPECT_TRUE(write<std::uint16_t>(reg::device_control, 0xa910));
    EXPECT_EQ(space_.read16(reg::device_control), 0x2910);
    EXPECT_TRUE(write<std::uint8_t>(reg::device_control + 1, 0xa9));
    EXPECT_TRUE(write<std::uint32_t>(reg::device_control, 0x0000a910));
    EXPECT_FALSE(write<std::uint8_t>(reg::device_control, 0x80));
}

TEST_F(ConfigSpaceTest, D3hotKeepsRegisters) {
    write<std::uint16_t>(reg::command, 0x0006);
    write<std::uint16_t>(reg::power_control, 0x0003);
    EXPECT_FALSE(space_.powered());
    write<std::uint16_t>(reg::power_control, 0x0000);
    EXPECT_TRUE(space_.powered());
    EXPECT_EQ(space_.read16(reg::power_control) & 0x8, 0x8); // NoSoftRst
    EXPECT_EQ(space_.read16(reg::command), 0x0006);
}

TEST_F(ConfigSpaceTest, UnknownPowerStateIgnored) {
    write<std::uint16_t>(reg::power_control, 0x0001);
    EXPECT_EQ(space_.read16(reg::power_control) & 3, 0);
    write<std::uint16_t>(reg::power_control, 0x0003);
    write<std::uint16_t>(reg::power_control, 0x0002);
    EXPECT_EQ(space_.read16(reg::power_control) & 3, 3);
}

TEST_F(ConfigSpaceTest, ResetKeepsStickyRegistersOnly) {
    write<std::uint16_t>(reg::command, 0x0006);
    write<std::uint16_t>(reg::msix_control, 0x8000);
    write<std::uint32_t>(0x10, 0xfe000000);
    write<std::uint32_t>(reg::error_reporting + 8, 0x00100000); // uncorrectable error mask
    space_.reset(ConfigSpace::ResetScope::keep_sticky);
    EXPECT_EQ(space_.read16(reg::command), 0);
    EXPECT_FALSE(space_.msix_enabled());
    EXPECT_EQ(space_.read32(0x10), 0x0cU);
    EXPECT_EQ(space_.read32(reg::error_reporting + 8), 0x00100000U);
    space_.reset(ConfigSpace::ResetScope::everything);
    EXPECT_EQ(space_.read32(reg::error_reporting + 8), 0U);
}

TEST_F(ConfigSpaceTest, ErrorBitsClearedByWritingOne) {
    space_.note_master_abort();
    space_.note_unsupported_request();
    EXPECT_EQ(space_.read16(reg::status), 0x2010);
    EXPECT_EQ(space_.read16(reg::device_status), 0x0008);
    EXPECT_EQ(space_.read32(reg::error_reporting + 4), 0x00100000U);
    write<std::uint16_t>(reg::status, 0x0100);
    EXPECT_EQ(space_.read16(reg::status), 0x2010);
    write<std::uint16_t>(reg::status, 0xffff);
    write<std::uint16_t>(reg::device_status, 0xffff);
    write<std::uint32_t>(reg::error_reporting + 4, 0xffffffff);
    EXPECT_EQ(space_.read16(reg::status), 0x0010);
    EXPECT_EQ(space_.read16(reg::device_status), 0);
    EXPECT_EQ(space_.read32(reg::error_reporting + 4), 0U);
}

TEST_F(ConfigSpaceTest, FlrKeepsReportedErrors) {
    space_.note_master_abort();
    space_.note_unsupported_request();
    space_.reset(ConfigSpace::ResetScope::keep_sticky);
    EXPECT_EQ(space_.read16(reg::status), 0x0010);
    EXPECT_EQ(space_.read32(reg::error_reporting + 4), 0x00100000U);
}

TEST_F(ConfigSpaceTest, LinkOfProfileReported) {
    const ConfigSpace space(FunctionConfig{.link_speed = 5, .link_width = 8});
    EXPECT_EQ(space.read32(reg::express + 0x0c) & 0x3ffU, 0x085U);
    EXPECT_EQ(space.read16(reg::express + 0x12) & 0x3ffU, 0x085U);
    EXPECT_EQ(space.read32(reg::express + 0x2c), 0x3eU); // 2.5 to 32 GT/s
}

} // namespace
} // namespace cxemu::pci
