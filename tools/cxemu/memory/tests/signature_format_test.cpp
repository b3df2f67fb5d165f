// SPDX-License-Identifier: GPL-2.0-or-later
//
// Decoding of valid and invalid BSFs.
#include "memory/signature_format.hpp"
#include "memory/testing/signature_description.hpp"

#include <array>
#include <gtest/gtest.h>

namespace cxemu::memory {
namespace {

using testing::SignatureDescription;

/// A BSF with a CRC in memory, or T10-DIF on the wire.
struct Description : SignatureDescription {
    void set_memory_crc(std::uint64_t kind) { set_crc(SignaturePlace::memory, kind, 0x17); }
    void set_wire_dif() {
        set_dif(SignaturePlace::wire, 0xabcd, 0x1234'5678, 0x18);
        basic().set<"wire_bs_selector">(3);
    }
    std::expected<Bsf, FormatFault> decode(std::size_t size = hwtab::bsf.size) {
        return decode_bsf(bytes().first(size));
    }
};

constexpr std::uint64_t crc32_repeat = hwtab::value<hwtab::bsf_block_format, "crc32_repeat">;

TEST(Bsf, EmptyBsfHasNoSignatures) {
    const auto format = Description().decode().value();
    EXPECT_FALSE(format.wire || format.memory);
    EXPECT_EQ(format.wire_size(1000), 1000U);
}

TEST(Bsf, CrcKindsDecoded) {
    constexpr std::array kinds{
        std::tuple{hwtab::value<hwtab::bsf_block_format, "crc32_repeat">, GuardKind::crc32, 4U},
        std::tuple{hwtab::value<hwtab::bsf_block_format, "crc32_repeat_seed_zero">,
                   GuardKind::crc32, 4U},
        std::tuple{hwtab::value<hwtab::bsf_block_format, "crc32c_repeat">, GuardKind::crc32c, 4U},
        std::tuple{hwtab::value<hwtab::bsf_block_format, "crc64_xp10_repeat">,
                   GuardKind::crc64_xp10, 8U}};
    for (const auto& [code, guard, size] : kinds) {
        Description description;
        description.set_memory_crc(code);
        const auto format = description.decode().value();
        ASSERT_TRUE(format.memory) << code;
        EXPECT_FALSE(format.wire);
        EXPECT_EQ(format.memory->guard, guard);
        EXPECT_EQ(format.memory->signature_size(), size);
        EXPECT_EQ(format.memory->block_size, 512U);
        EXPECT_EQ(format.memory->variable, 0x17U);
    }
}

TEST(Bsf, T10DifDecodedFromInlinePart) {
    Description description;
    description.set_wire_dif();
    description.all().set<"w_inl.escape">(2);
    const auto wire = description.decode().value().wire.value();
    EXPECT_EQ(wire.guard, GuardKind::t10_crc);
    EXPECT_EQ(wire.block_size, 4096U);
    EXPECT_EQ(wire.stride(), 4104U);
    EXPECT_EQ(wire.sign(0, 0x9ec6), 0x9ec6'abcd'1234'5678U);
    EXPECT_EQ(wire.sign(2, 0x9ec6), 0x9ec6'abcd'1234'567aU);
    EXPECT_EQ(wire.tags->escape, TagEscape::application_and_reference);
}

TEST(Bsf, ReferenceTagWithoutIncrementConstant) {
    Description description;
    description.set_wire_dif();
    description.all().set<"w_inl.inc_reftag">(0);
    EXPECT_EQ(description.decode()->wire->sign(7, 0), 0xabcd'1234'5678U);
}

TEST(Bsf, BlockSizesDecoded) {
    constexpr std::array sizes{std::pair{1U, 512U},  std::pair{2U, 520U},
                               std::pair{3U, 4096U}, std::pair{4U, 4160U},
                               std::pair{6U, 4048U}, std::pair{5U, 1U << 30U}};
    for (const auto& [selector, bytes] : sizes) {
        Description description;
        description.set_memory_crc(crc32_repeat);
        description.basic().set<"mem_bs_selector">(selector);
        EXPECT_EQ(description.decode()->memory->block_size, bytes);
    }
}

/// With sbs, the block size of memory applies to both, and the field of the wire has
/// another meaning.
TEST(Bsf, SameStructureUsesMemoryBlockSize) {
    Description description;
    description.set_memory_crc(crc32_repeat);
    description.basic().set<"w_bfs">(crc32_repeat);
    description.basic().set<"sbs">(1);
    description.basic().set<"wire_copy_byte_mask">(0xf0);
    const auto format = description.decode().value();
    EXPECT_TRUE(format.same_structure);
    EXPECT_EQ(format.copy_mask, 0xf0U);
    EXPECT_EQ(format.wire->block_size, 512U);
}

/// 512 bytes on the wire need a memory block of 516 bytes.
TEST(Bsf, SizesConvertedBetweenWireAndMemory) {
    Description description;
    description.set_memory_crc(crc32_repeat);
    const auto stripped = description.decode().value();
    EXPECT_EQ(stripped.wire_size(516), 512U);
    EXPECT_EQ(stripped.wire_size(3 * 516 + 100), 3U * 512U + 100U);
    EXPECT_EQ(stripped.memory_size(1024), 2U * 516U);
    EXPECT_EQ(stripped.memory_size(1023), 516U + 511U);
    description.set_wire_dif();
    EXPECT_EQ(description.decode()->wire_size(8 * 516), 4104U) << "eight blocks become one";
}

TEST(Bsf, UnsupportedFormatsRefused) {
    Description encrypted;
    encrypted.basic().set<"bsf_size">(3);
    EXPECT_EQ(encrypted.decode().error(), FormatFault::encrypted);
    Description transaction;
    transaction.all().set<"ext.w_tfs_psv">(0x4000'0001);
    EXPECT_EQ(transaction.decode().error(), FormatFault::transaction);
    Description single;
    single.set_memory_crc(hwtab::value<hwtab::bsf_block_format, "crc32c">);
    EXPECT_EQ(single.decode().error(), FormatFault::not_repeated);
}

TEST(Bsf, InvalidFieldsRefused) {
    Description size;
    size.set_memory_crc(crc32_repeat);
    size.basic().set<"mem_bs_selector">(7);
    EXPECT_EQ(size.decode().error(), FormatFault::unknown_block_size);
    Description kind;
    kind.set_memory_crc(0x32);
    EXPECT_EQ(kind.decode().error(), FormatFault::unknown_kind);
    Description invalid;
    invalid.set_wire_dif();
    invalid.all().set<"w_inl.valid">(0);
    EXPECT_EQ(invalid.decode().error(), FormatFault::missing_inline_part);
    Description different;
    different.set_memory_crc(crc32_repeat);
    different.set_wire_dif();
    different.basic().set<"sbs">(1);
    EXPECT_EQ(different.decode().error(), FormatFault::different_structure);
    Description lone;
    lone.basic().set<"sbs">(1);
    EXPECT_EQ(lone.decode().error(), FormatFault::different_structure);
}

TEST(Bsf, TruncatedBsfRefused) {
    Description description;
    EXPECT_EQ(description.decode(8).error(), FormatFault::too_short);
    EXPECT_EQ(description.decode(48).error(), FormatFault::too_short);
    description.basic().set<"bsf_size">(0);
    EXPECT_TRUE(description.decode(16));
    description.basic().set<"mem_bs_selector">(1);
    EXPECT_EQ(description.decode(16).error(), FormatFault::missing_inline_part) << "T10-DIF";
}

// --- Comparison ----------------------------------------------------------------------------------

SignatureDomain dif_with(TagEscape escape = TagEscape::none, std::uint16_t mask = 0xffff) {
    return {.variable = 0,
            .block_size = 512,
            .guard = GuardKind::t10_crc,
            .tags = DifTags{.application = 0x5678, .application_mask = mask, .escape = escape}};
}

constexpr Signature intact = 0x9ec6'5678'f0de'bc9a;

TEST(SignatureComparison, FirstWrongPartNamed) {
    EXPECT_EQ(dif_with().compare(intact, intact, 0xff), std::nullopt);
    EXPECT_EQ(dif_with().compare(intact, ~intact, 0xff), SignaturePart::guard);
    EXPECT_EQ(dif_with().compare(intact, intact ^ 0x0000'0100'0000'0001, 0xff),
              SignaturePart::application_tag);
    EXPECT_EQ(dif_with().compare(intact, intact ^ 1, 0xff), SignaturePart::reference_tag);
}

TEST(SignatureComparison, UnmaskedBytesIgnored) {
    EXPECT_EQ(dif_with().compare(intact, ~intact, 0x3f), SignaturePart::application_tag);
    EXPECT_EQ(dif_with().compare(intact, ~intact, 0x0f), SignaturePart::reference_tag);
    EXPECT_EQ(dif_with().compare(intact, ~intact, 0), std::nullopt);
    constexpr Signature first_byte = 0x0000'ff00'0000'0000;
    EXPECT_EQ(dif_with().compare(intact, intact ^ first_byte, 0x10), std::nullopt);
    EXPECT_EQ(dif_with().compare(intact, intact ^ first_byte, 0x20),
              SignaturePart::application_tag);
}

TEST(SignatureComparison, UnmaskedApplicationTagBitsIgnored) {
    constexpr Signature low_bit = 0x0000'0001'0000'0000;
    EXPECT_EQ(dif_with(TagEscape::none, 0xfffe).compare(intact, intact ^ low_bit, 0xff),
              std::nullopt);
    EXPECT_EQ(dif_with(TagEscape::none, 0x0001).compare(intact, intact ^ low_bit, 0xff),
              SignaturePart::application_tag);
}

TEST(SignatureComparison, EscapedBlocksPass) {
    constexpr Signature application = 0x0000'ffff'0000'0000;
    constexpr Signature both = 0x0000'ffff'ffff'ffff;
    EXPECT_EQ(dif_with().compare(intact, both, 0xff), SignaturePart::guard);
    EXPECT_EQ(dif_with(TagEscape::application).compare(intact, application, 0xff), std::nullopt);
    const SignatureDomain type3 = dif_with(TagEscape::application_and_reference);
    EXPECT_EQ(type3.compare(intact, application, 0xff), SignaturePart::guard);
    EXPECT_EQ(type3.compare(intact, both, 0xff), std::nullopt);
}

} // namespace
} // namespace cxemu::memory
