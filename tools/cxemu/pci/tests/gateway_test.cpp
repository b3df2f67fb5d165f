// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/byte_order.hpp"
#include "pci/config_space.hpp"
#include "pci/gateway.hpp"

#include <array>
#include <gtest/gtest.h>
#include <map>

namespace cxemu::pci {
namespace {

constexpr std::uint16_t known_space = 3;
constexpr std::uint32_t last_address = 0x100;

/// One address space of words; addresses beyond the last one do not exist.
class Words final : public DeviceModel {
public:
    void bar_read(std::uint64_t /*offset*/, std::span<std::byte> /*out*/) override {}
    void bar_write(std::uint64_t /*offset*/, std::span<const std::byte> /*data*/) override {}
    void reset(ResetCause /*cause*/) override {}
    void vectors_changed(std::uint32_t /*first*/, std::uint32_t /*count*/) override {}

    [[nodiscard]] bool has_space(std::uint16_t space) const override {
        return space == known_space;
    }
    std::optional<std::uint32_t> space_read(std::uint16_t /*space*/,
                                            std::uint32_t address) override {
        if (address > last_address)
            return {};
        return words[address];
    }
    bool space_write(std::uint16_t /*space*/, std::uint32_t address, std::uint32_t value) override {
        if (address > last_address)
            return false;
        words[address] = value;
        return true;
    }

    std::map<std::uint32_t, std::uint32_t> words;
};

class GatewayTest : public ::testing::Test {
protected:
    template <std::unsigned_integral T>
    T read(std::size_t at) {
        std::array<std::byte, sizeof(T)> bytes{};
        gateway_.read(reg::vendor_specific + at, bytes);
        return load_le<T>(bytes);
    }
    template <std::unsigned_integral T>
    void write(std::size_t at, T value) {
        std::array<std::byte, sizeof(T)> bytes{};
        store_le<T>(bytes, value);
        gateway_.write(reg::vendor_specific + at, bytes, &words_);
    }

    Words words_;
    Gateway gateway_;
};

TEST_F(GatewayTest, SemaphoreHeldUntilReleased) {
    EXPECT_EQ(read<std::uint32_t>(0x0c), 0U); // free
    const auto ticket = read<std::uint32_t>(0x08);
    const auto other = read<std::uint32_t>(0x08);
    EXPECT_NE(ticket, other);
    write<std::uint32_t>(0x0c, ticket);
    write<std::uint32_t>(0x0c, other);
    EXPECT_EQ(read<std::uint32_t>(0x0c), ticket);
    write<std::uint32_t>(0x0c, 0);
    write<std::uint32_t>(0x0c, other);
    EXPECT_EQ(read<std::uint32_t>(0x0c), other);
}

TEST_F(GatewayTest, StatusOfUnknownSpaceIsZero) {
    write<std::uint16_t>(0x04, known_space);
    EXPECT_EQ(read<std::uint32_t>(0x04), (1U << 29U) | known_space);
    write<std::uint32_t>(0x04, 0xffff0007); // crdump of mlx5_core
    EXPECT_EQ(read<std::uint32_t>(0x04), 7U);
}

TEST_F(GatewayTest, WordWrittenAndReadBack) {
    write<std::uint16_t>(0x04, known_space);
    write<std::uint32_t>(0x14, 0x12345678);
    write<std::uint32_t>(0x10, 0x80000040);
    EXPECT_EQ(read<std::uint32_t>(0x10), 0x40U) << "the flag is not cleared";
    EXPECT_EQ(words_.words[0x40], 0x12345678U);
    write<std::uint32_t>(0x14, 0);
    write<std::uint32_t>(0x10, 0x40);
    EXPECT_EQ(read<std::uint32_t>(0x10), 0x80000040U) << "the flag is not set";
    EXPECT_EQ(read<std::uint32_t>(0x14), 0x12345678U);
}

TEST_F(GatewayTest, AccessWithoutAddressSetsSyndrome) {
    write<std::uint32_t>(0x10, 0x40); // no space is selected
    EXPECT_EQ(read<std::uint32_t>(0x10), 0xc0000040U);
    write<std::uint16_t>(0x04, known_space);
    write<std::uint32_t>(0x10, last_address + 4);
    EXPECT_EQ(read<std::uint32_t>(0x10), 0xc0000000U | (last_address + 4));
    write<std::uint32_t>(0x10, 0x80000000U | (last_address + 4));
    EXPECT_EQ(read<std::uint32_t>(0x10), 0x40000000U | (last_address + 4));
}

TEST_F(GatewayTest, AccessBesideRegistersIgnored) {
    std::array<std::byte, 8> bytes{};
    bytes.fill(std::byte{0xff});
    gateway_.write(reg::vendor_specific - 4, bytes, &words_); // up to the header
    gateway_.write(reg::vendor_specific + Gateway::size, bytes, &words_);
    EXPECT_EQ(read<std::uint32_t>(0x04), 0U);
    EXPECT_EQ(read<std::uint32_t>(0x0c), 0U);
    std::array<std::byte, 4> out{};
    gateway_.read(reg::vendor_specific, out);
    EXPECT_EQ(load_le<std::uint32_t>(out), 0U);
}

TEST_F(GatewayTest, ResetFreesSemaphore) {
    write<std::uint32_t>(0x0c, 5);
    write<std::uint16_t>(0x04, known_space);
    gateway_.reset();
    EXPECT_EQ(read<std::uint32_t>(0x0c), 0U);
    EXPECT_EQ(read<std::uint32_t>(0x04), 0U);
}

} // namespace
} // namespace cxemu::pci
