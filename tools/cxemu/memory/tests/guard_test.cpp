// SPDX-License-Identifier: GPL-2.0-or-later
//
// Checksums of blocks, against published values and against implementations that go bit by bit.
#include "memory/guard.hpp"
#include "memory/tests/bytes.hpp"

#include <algorithm>
#include <bit>
#include <gtest/gtest.h>
#include <random>
#include <string_view>
#include <vector>

namespace cxemu::memory {
namespace {

using testing::all_ones;
using testing::Bytes;

Bytes to_bytes(std::string_view text) {
    Bytes bytes(text.size());
    std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
    return bytes;
}

std::uint64_t checksum(GuardKind kind, std::uint64_t seed, const Bytes& data) {
    Guard guard(kind, seed & (all_ones >> (64U - width_of(kind))));
    guard.add(data);
    return guard.value();
}

// --- Published values ----------------------------------------------------------------------------

/// The "check" values of the catalogue of parametrised CRC algorithms: of the digits 1 to 9.
TEST(Guard, CatalogueCheckValuesMatch) {
    const Bytes digits = to_bytes("123456789");
    EXPECT_EQ(checksum(GuardKind::t10_crc, 0, digits), 0xd0dbU) << "CRC-16/T10-DIF";
    EXPECT_EQ(checksum(GuardKind::crc32, all_ones, digits), 0xfc89'1918U) << "CRC-32/BZIP2";
    EXPECT_EQ(
        std::byteswap(static_cast<std::uint32_t>(checksum(GuardKind::crc32c, all_ones, digits))),
        0xe306'9283U)
        << "CRC-32/ISCSI";
    EXPECT_EQ(std::byteswap(checksum(GuardKind::crc64_xp10, all_ones, digits)),
              0xae8b'1486'0a79'9888U)
        << "CRC-64/NVME";
}

/// RFC 3720, B.4, lists the bytes in the order of the stream.
TEST(Guard, IscsiExamplesMatch) {
    EXPECT_EQ(checksum(GuardKind::crc32c, all_ones, Bytes(32, std::byte{0})), 0xaa36'918aU);
    EXPECT_EQ(checksum(GuardKind::crc32c, all_ones, Bytes(32, std::byte{0xff})), 0x43ab'a862U);
    Bytes rising(32);
    for (std::size_t i = 0; i < rising.size(); ++i)
        rising[i] = static_cast<std::byte>(i);
    EXPECT_EQ(checksum(GuardKind::crc32c, all_ones, rising), 0x4e79'dd46U);
}

/// RFC 1071, 3: the sum of these words is 0xddf2.
TEST(Guard, InternetChecksumExampleMatches) {
    const Bytes words = to_bytes(std::string_view("\x00\x01\xf2\x03\xf4\xf5\xf6\xf7", 8));
    EXPECT_EQ(checksum(GuardKind::ip_checksum, 0, words), 0xddf2U ^ 0xffffU);
}

/// Signatures that real adapters write after a block of 512 bytes 0xa5, from the tests of the
/// vendor.
TEST(Guard, AdapterSignaturesMatch) {
    Bytes block(512, std::byte{0xa5});
    EXPECT_EQ(checksum(GuardKind::t10_crc, 0, block), 0x9ec6U);
    EXPECT_EQ(checksum(GuardKind::t10_crc, all_ones, block), 0xec7dU);
    EXPECT_EQ(checksum(GuardKind::crc32, 0, block), 0x699a'ca21U);
    EXPECT_EQ(checksum(GuardKind::crc32c, 0, block), 0x4207'e6b4U);
    EXPECT_EQ(checksum(GuardKind::crc64_xp10, 0, block), 0x8c8a'db45'0cce'85aaU);
    block.front() = ~block.front();
    EXPECT_EQ(checksum(GuardKind::t10_crc, 0, block), 0xebadU);
    EXPECT_EQ(checksum(GuardKind::t10_crc, all_ones, block), 0x9916U);
    EXPECT_EQ(checksum(GuardKind::crc32, 0, block), 0xe33c'b35aU);
}

// --- Random data ---------------------------------------------------------------------------------

/// Bit by bit, most significant bit of a byte first.
std::uint64_t forward_crc(std::uint64_t polynomial, unsigned width, std::uint64_t crc,
                          const Bytes& data) {
    const std::uint64_t mask = all_ones >> (64U - width);
    for (const std::byte byte : data) {
        crc ^= std::to_integer<std::uint64_t>(byte) << (width - 8);
        for (int bit = 0; bit < 8; ++bit)
            crc =
                (crc >> (width - 1) & 1U) != 0 ? (crc << 1U ^ polynomial) & mask : crc << 1U & mask;
    }
    return crc;
}

/// The same, least significant bit first. \param polynomial with its bits in reverse order
std::uint64_t reflected_crc(std::uint64_t polynomial, std::uint64_t crc, const Bytes& data) {
    for (const std::byte byte : data) {
        crc ^= std::to_integer<std::uint64_t>(byte);
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc & 1U) != 0 ? crc >> 1U ^ polynomial : crc >> 1U;
    }
    return crc;
}

std::uint64_t ip_checksum(std::uint64_t sum, Bytes data) {
    data.resize((data.size() + 1) / 2 * 2);
    for (std::size_t i = 0; i < data.size(); i += 2)
        sum = (sum + (std::to_integer<std::uint64_t>(data[i]) << 8U |
                      std::to_integer<std::uint64_t>(data[i + 1])));
    return ~(sum % 0xffff == 0 && sum != 0 ? 0xffff : sum % 0xffff) & 0xffffU;
}

std::uint64_t reference(GuardKind kind, bool ones, const Bytes& data) {
    switch (kind) {
    case GuardKind::t10_crc:
        return forward_crc(0x8bb7, 16, ones ? 0xffff : 0, data);
    case GuardKind::ip_checksum:
        return ip_checksum(ones ? 0xffff : 0, data);
    case GuardKind::crc32:
        return ~forward_crc(0x04c1'1db7, 32, ones ? 0xffff'ffff : 0, data) & 0xffff'ffffU;
    case GuardKind::crc32c:
        return std::byteswap(
            static_cast<std::uint32_t>(~reflected_crc(0x82f6'3b78, ones ? 0xffff'ffff : 0, data)));
    case GuardKind::crc64_xp10:
        return std::byteswap(~reflected_crc(0x9a6c'9329'ac4b'c9b5, ones ? all_ones : 0, data));
    }
    return 0;
}

class RandomData : public ::testing::TestWithParam<GuardKind> {};

/// For any split of the data into add() calls.
TEST_P(RandomData, SplitDataMatchesDefinition) {
    std::mt19937 random(7);
    for (const std::size_t size : {0U, 1U, 2U, 7U, 64U, 511U, 512U, 520U, 4048U, 4096U, 4160U}) {
        Bytes data(size);
        std::ranges::generate(data, [&] { return static_cast<std::byte>(random()); });
        for (const bool ones : {false, true}) {
            Guard guard(GetParam(), ones ? all_ones >> (64U - width_of(GetParam())) : 0);
            for (std::span<const std::byte> rest = data; !rest.empty();) {
                const auto piece = std::min<std::size_t>(rest.size(), 1 + random() % 300);
                guard.add(rest.first(piece));
                rest = rest.subspan(piece);
            }
            EXPECT_EQ(guard.value(), reference(GetParam(), ones, data)) << size << " bytes";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(AllKinds, RandomData,
                         ::testing::Values(GuardKind::t10_crc, GuardKind::ip_checksum,
                                           GuardKind::crc32, GuardKind::crc32c,
                                           GuardKind::crc64_xp10));

} // namespace
} // namespace cxemu::memory
