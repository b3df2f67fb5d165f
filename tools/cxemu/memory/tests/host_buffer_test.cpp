// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/host_buffer.hpp"
#include "vfio_user/testing/guest_memory.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <numeric>

namespace cxemu::memory {
namespace {

using Kind = HostBuffer::Fault::Kind;

class HostBufferTest : public ::testing::Test {
protected:
    HostBufferTest() { guest.map_into(dma, base); }

    /// Bytes 1, 2, 3, ...
    static std::array<std::byte, 256> counted() {
        std::array<std::byte, 256> bytes{};
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::byte>(i + 1);
        return bytes;
    }

    static constexpr std::uint64_t base = 0x10'0000;
    vfio_user::testing::GuestMemory guest{16 * 4096};
    vfio_user::DmaSpace dma{make_silent_log()};
};

TEST_F(HostBufferTest, AccessCrossesPages) {
    const auto buffer = HostBuffer::create({.log_page_size = 12, .offset = 4000, .size = 256},
                                           {base + 0x3000, base + 0x1000});
    ASSERT_TRUE(buffer);
    const auto bytes = counted();
    ASSERT_TRUE(buffer->write(dma, 0, bytes));
    EXPECT_EQ(guest.bytes()[0x3000 + 4000], bytes[0]);
    EXPECT_EQ(guest.bytes()[0x3000 + 4095], bytes[95]);
    EXPECT_EQ(guest.bytes()[0x1000], bytes[96]) << "the second page lies in front of the first";
    std::array<std::byte, 256> read{};
    ASSERT_TRUE(buffer->read(dma, 0, read));
    EXPECT_EQ(read, bytes);
}

TEST_F(HostBufferTest, AddressOfByteFollowsPages) {
    const auto buffer = HostBuffer::create({.log_page_size = 13, .offset = 0x1ff0, .size = 32},
                                           {base + 0x2000, base + 0x6000});
    ASSERT_TRUE(buffer);
    EXPECT_EQ(buffer->address(0), base + 0x3ff0);
    EXPECT_EQ(buffer->address(15), base + 0x3fff);
    EXPECT_EQ(buffer->address(16), base + 0x6000);
}

TEST_F(HostBufferTest, UnneededPagesDropped) {
    const auto buffer = HostBuffer::create({.log_page_size = 12, .offset = 0, .size = 4097},
                                           {base, base + 0x1000, 0x7});
    ASSERT_TRUE(buffer) << "the third entry is none of its pages";
    EXPECT_EQ(buffer->pages().size(), 2U);
}

TEST_F(HostBufferTest, PageListTooShortRefused) {
    const auto buffer =
        HostBuffer::create({.log_page_size = 12, .offset = 1, .size = 4096}, {base});
    ASSERT_FALSE(buffer);
    EXPECT_EQ(buffer.error().kind, Kind::list_too_short);
    EXPECT_EQ(buffer.error().text, "1 pages of 4096 bytes listed, 4096 bytes at offset 1 need 2");
}

TEST_F(HostBufferTest, InvalidPageAddressRefused) {
    const auto kind_at = [](std::uint64_t address, std::uint32_t log_page_size) {
        const auto buffer =
            HostBuffer::create({.log_page_size = log_page_size, .offset = 0, .size = 1}, {address});
        return buffer ? std::optional<Kind>() : buffer.error().kind;
    };
    EXPECT_EQ(kind_at(0x1001, 12), Kind::bad_address);
    EXPECT_EQ(kind_at(~0xfffULL, 12), Kind::bad_address) << "its end is beyond 64 bits";
    EXPECT_EQ(kind_at(0x1000, 16), std::nullopt) << "4 KiB are enough for larger pages, too";
    EXPECT_EQ(kind_at(0x1000, 44), Kind::bad_geometry);
}

TEST_F(HostBufferTest, UnmappedPageFailsAccess) {
    const auto buffer = HostBuffer::create({.log_page_size = 12, .offset = 0, .size = 8192},
                                           {base, 0xdead'0000'0000});
    ASSERT_TRUE(buffer);
    std::array<std::byte, 16> bytes{};
    EXPECT_TRUE(buffer->read(dma, 0, bytes));
    EXPECT_FALSE(buffer->read(dma, 4090, bytes));
    EXPECT_FALSE(buffer->write(dma, 8000, bytes));
}

} // namespace
} // namespace cxemu::memory
