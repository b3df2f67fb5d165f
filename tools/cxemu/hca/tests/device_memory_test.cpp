// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/device_memory.hpp"

#include <array>
#include <gtest/gtest.h>

namespace cxemu::hca {
namespace {

constexpr std::uint64_t bar_size = 4ULL * 1024 * 1024;
constexpr std::uint64_t page = 4096;

std::array<std::byte, 1> byte_of(unsigned value) {
    return {static_cast<std::byte>(value)};
}

class DeviceMemoryTest : public ::testing::Test {
protected:
    std::uint64_t allocate(std::uint64_t size, std::uint64_t log_alignment = 0) {
        const auto address = memory.allocate(start, DeviceMemory::size, size, log_alignment);
        EXPECT_TRUE(address);
        return address.value_or(0);
    }
    unsigned read_byte(std::uint64_t offset) {
        std::array<std::byte, 1> out{};
        EXPECT_TRUE(memory.read(offset, out));
        return std::to_integer<unsigned>(out[0]);
    }

    DeviceMemory memory{bar_size, true};
    const std::uint64_t start = memory.start();
};

TEST_F(DeviceMemoryTest, MemoryLocatedAtBarEnd) {
    EXPECT_FALSE(memory.decodes(start - 1));
    EXPECT_TRUE(memory.decodes(start));
    EXPECT_TRUE(memory.decodes(bar_size - 1));
    EXPECT_FALSE(DeviceMemory(bar_size, false).decodes(bar_size - 1));
}

TEST_F(DeviceMemoryTest, AllocationStaysWithinRange) {
    EXPECT_EQ(memory.allocate(start + page, page, 256, 0), start + page);
    EXPECT_EQ(memory.allocate(start + page, page, 256, 0), start + page + 256);
    EXPECT_EQ(memory.allocate(start + page, page, page, 0).error(), DeviceMemoryError::no_room);
    EXPECT_EQ(memory.allocate(start, 2 * page, page, 0), start);
}

TEST_F(DeviceMemoryTest, AllocationAligned) {
    allocate(64);
    EXPECT_EQ(allocate(64, 6) % page, 0U);
    EXPECT_EQ(memory.allocate(start, page, 64, 7).error(), DeviceMemoryError::bad_alignment);
}

TEST_F(DeviceMemoryTest, InvalidSizeOrRangeRefused) {
    EXPECT_EQ(memory.allocate(start, page, 0, 0).error(), DeviceMemoryError::bad_size);
    EXPECT_EQ(memory.allocate(start, page, 65, 0).error(), DeviceMemoryError::bad_size);
    EXPECT_EQ(memory.allocate(start - page, page, 64, 0).error(), DeviceMemoryError::bad_range);
    EXPECT_EQ(memory.allocate(start, DeviceMemory::size + 1, 64, 0).error(),
              DeviceMemoryError::bad_range);
    EXPECT_EQ(memory.allocate(start + 64, ~0ULL, 64, 0).error(), DeviceMemoryError::bad_range);
}

TEST_F(DeviceMemoryTest, ReleasedMemoryAllocatedAgain) {
    const auto address = allocate(DeviceMemory::size);
    EXPECT_EQ(memory.release(address + 64, 64).error(), DeviceMemoryError::unknown);
    EXPECT_EQ(memory.release(address, 64).error(), DeviceMemoryError::bad_size);
    EXPECT_TRUE(memory.release(address, DeviceMemory::size));
    EXPECT_EQ(memory.release(address, DeviceMemory::size).error(), DeviceMemoryError::unknown);
    EXPECT_EQ(allocate(DeviceMemory::size), address);
}

TEST_F(DeviceMemoryTest, HoldsRequiresSingleAllocation) {
    const auto first = allocate(128);
    const auto second = allocate(64);
    ASSERT_EQ(second, first + 128);
    EXPECT_TRUE(memory.holds(first, 128));
    EXPECT_TRUE(memory.holds(first + 100, 28));
    EXPECT_FALSE(memory.holds(first, 129)) << "it would reach into the next one";
    EXPECT_FALSE(memory.holds(second + 64, 1));
    EXPECT_FALSE(memory.holds(first, ~0ULL));
}

TEST_F(DeviceMemoryTest, BarAccessReadsAndWrites) {
    const auto address = allocate(64);
    const std::array data{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
    EXPECT_TRUE(memory.write(address + 8, data));
    std::array<std::byte, 4> out{};
    EXPECT_TRUE(memory.read(address + 8, out));
    EXPECT_EQ(out, data);
    EXPECT_EQ(memory.bytes()[address - start + 9], std::byte{2});
}

TEST_F(DeviceMemoryTest, UnallocatedAccessReadsZeros) {
    std::array<std::byte, 4> out{std::byte{7}};
    EXPECT_FALSE(memory.read(start, out));
    EXPECT_EQ(out[0], std::byte{0});
    EXPECT_FALSE(memory.write(start, out));
}

TEST_F(DeviceMemoryTest, IncrementAddressAddsWrittenByte) {
    const auto address = allocate(64);
    const auto increment = memory.give_address(address, 0);
    ASSERT_TRUE(increment);
    EXPECT_TRUE(memory.write(*increment + 3, byte_of(1)));
    EXPECT_TRUE(memory.write(*increment + 3, byte_of(4)));
    EXPECT_EQ(read_byte(address + 3), 5U);
    EXPECT_TRUE(memory.write(*increment + 3, byte_of(255)));
    EXPECT_EQ(read_byte(address + 3), 4U) << "it wraps around";
}

TEST_F(DeviceMemoryTest, TestAndSetAddressReadSetsOne) {
    const auto address = allocate(64);
    const auto test_and_set = memory.give_address(address, 1);
    ASSERT_TRUE(test_and_set);
    EXPECT_TRUE(memory.write(address, byte_of(9)));
    EXPECT_EQ(read_byte(*test_and_set), 9U);
    EXPECT_EQ(read_byte(*test_and_set), 1U);
}

TEST_F(DeviceMemoryTest, OperationAddressTakesSingleBytesInOneDirection) {
    const auto address = allocate(64);
    const auto increment = memory.give_address(address, 0);
    const auto test_and_set = memory.give_address(address, 1);
    std::array<std::byte, 4> word{};
    EXPECT_FALSE(memory.write(*increment, word));
    EXPECT_FALSE(memory.read(*increment, std::span(word).first(1)));
    EXPECT_FALSE(memory.write(*test_and_set, std::span(word).first(1)));
}

TEST_F(DeviceMemoryTest, OperationAddressRequiresMapping) {
    const auto address = allocate(64);
    EXPECT_FALSE(memory.write(address + DeviceMemory::size, byte_of(1)));
    EXPECT_TRUE(memory.give_address(address, 0));
    EXPECT_EQ(memory.give_address(address, 0).error(), DeviceMemoryError::has_address);
    EXPECT_TRUE(memory.take_address(address, 0));
    EXPECT_EQ(memory.take_address(address, 0).error(), DeviceMemoryError::has_no_address);
    EXPECT_FALSE(memory.write(address + DeviceMemory::size, byte_of(1)));
    EXPECT_EQ(memory.give_address(address, 2).error(), DeviceMemoryError::unknown_operation);
    EXPECT_EQ(memory.give_address(address + 64, 0).error(), DeviceMemoryError::unknown);
}

TEST_F(DeviceMemoryTest, ResetClearsAllState) {
    const auto address = allocate(64);
    EXPECT_TRUE(memory.write(address, byte_of(9)));
    memory.reset();
    EXPECT_EQ(memory.allocations(), 0U);
    EXPECT_EQ(allocate(64), address);
    EXPECT_EQ(read_byte(address), 0U);
}

} // namespace
} // namespace cxemu::hca
