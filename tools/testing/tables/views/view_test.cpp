// SPDX-License-Identifier: GPL-2.0-or-later
// Tests how hwtab/view.hpp reads and writes memory through a table. ../refusals/misuses.py has the
// uses that must not compile.
#include "hwtab/verify.hpp"
#include "hwtab/view.hpp"
#include "tables/all.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

namespace hwtab {
namespace {

constexpr std::array leaf_fields{
    bits("high", 0x0, 31, 28, "Upper four bits."),
    bits("middle", 0x0, 27, 5, "Crosses bytes."),
    bits("low", 0x0, 4, 0, "Lower five bits."),
};
constexpr Layout leaf{"leaf", Kind::context, 0x4, leaf_fields, "One word."};

constexpr std::array other_leaf_fields{word32("whole", 0x0, "The word.")};
constexpr Layout other_leaf{"other_leaf", Kind::context, 0x4, other_leaf_fields, "The same word."};

constexpr std::array leaf_choices{&leaf, &other_leaf};

constexpr std::array tree_fields{
    word64("number", 0x0, "Two words."),
    array("small", 0x8, 16, 2, "Numbers of two bytes."),
    bytes("text", 0xc, 4, "Bytes."),
    nested("leaf", 0x10, leaf, "A structure."),
    nested("leaves", 0x14, leaf, "Two structures.", 2),
    choice("body", 0x1c, 0x4, leaf_choices, "One of two."),
    list("numbers", 0x20, 64, "As many as there are."),
};
constexpr Layout tree{"tree", Kind::context, 0x20, tree_fields, "All forms of fields."};
static_assert(verified<leaf> && verified<other_leaf> && verified<tree>);

class Memory {
public:
    explicit Memory(std::size_t size, std::uint8_t background = 0)
        : bytes_(size, std::byte{background}) {}

    [[nodiscard]] View<tree> view() { return View<tree>{bytes_}; }
    [[nodiscard]] std::uint8_t at(std::size_t index) const {
        return std::to_integer<std::uint8_t>(bytes_.at(index));
    }
    /// The bytes [from, from + count) as one hexadecimal number.
    [[nodiscard]] std::uint64_t number(std::size_t from, std::size_t count) const {
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < count; ++i) {
            result = (result << 8) | at(from + i);
        }
        return result;
    }

private:
    std::vector<std::byte> bytes_;
};

TEST(View, NumberStoredBigEndian) {
    Memory memory(0x20);
    memory.view().set<"number">(0x0123456789abcdef);
    EXPECT_EQ(memory.number(0, 8), 0x0123456789abcdefU);
    EXPECT_EQ(memory.view().get<"number">(), 0x0123456789abcdefU);
}

TEST(View, BitsBesideFieldUnchanged) {
    Memory ones(0x20, 0xff);
    ones.view().set<"leaf.middle">(0);
    EXPECT_EQ(ones.number(0x10, 4), 0xf000001fU);

    Memory zeros(0x20);
    zeros.view().set<"leaf.middle">(0x7fffff);
    EXPECT_EQ(zeros.number(0x10, 4), 0x0fffffe0U);
    EXPECT_EQ(zeros.number(0x0c, 4), 0U);
    EXPECT_EQ(zeros.number(0x14, 4), 0U);
}

TEST(View, FieldAcrossBytesRoundTrips) {
    Memory memory(0x20);
    for (std::uint32_t bit = 0; bit < 23; ++bit) {
        memory.view().set<"leaf.middle">(1U << bit);
        EXPECT_EQ(memory.view().get<"leaf.middle">(), 1U << bit);
        EXPECT_EQ(memory.number(0x10, 4), 1U << (bit + 5));
    }
}

TEST(View, ArrayElementsAccessible) {
    Memory memory(0x20);
    memory.view().set_at<"small">(0, 0x1234);
    memory.view().set_at<"small">(1, 0xabcd);
    EXPECT_EQ(memory.number(0x8, 4), 0x1234abcdU);
    EXPECT_EQ(memory.view().get_at<"small">(1), 0xabcdU);
}

TEST(View, ByteFieldReturnsBytes) {
    Memory memory(0x20);
    std::ranges::fill(memory.view().bytes<"text">(), std::byte{0x5a});
    EXPECT_EQ(memory.number(0x8, 0xc), 0x5a5a5a5aULL << 32);
    EXPECT_EQ(memory.view().bytes<"text">().size(), 4U);
}

TEST(View, NestedStructureAccessibleByPathAndView) {
    Memory memory(0x20);
    memory.view().set<"leaf.high">(0xa);
    EXPECT_EQ((memory.view().nested<"leaf", leaf>().get<"high">()), 0xaU);
    EXPECT_EQ(memory.at(0x10), 0xa0);
}

TEST(View, StructureArrayElementsAccessible) {
    Memory memory(0x20);
    memory.view().nested<"leaves", leaf>(1).set<"low">(0x1f);
    EXPECT_EQ(memory.number(0x14, 8), 0x1fU);
}

TEST(View, UnionAlternativesShareBits) {
    Memory memory(0x20);
    memory.view().set<"body.other_leaf.whole">(0xf0000001);
    EXPECT_EQ(memory.view().get<"body.leaf.high">(), 0xfU);
    EXPECT_EQ(memory.view().get<"body.leaf.low">(), 1U);
}

TEST(View, TrailingListAccessible) {
    Memory memory(0x20 + 3 * 8);
    memory.view().set_at<"numbers">(2, 0x1122334455667788);
    EXPECT_EQ(memory.number(0x30, 8), 0x1122334455667788U);
    EXPECT_EQ(memory.view().get_at<"numbers">(1), 0U);
    EXPECT_EQ(memory.view().bytes<"numbers">().size(), 3U * 8);
}

TEST(View, ConstMemoryReadable) {
    const std::array<std::byte, 4> memory{std::byte{0xa0}, std::byte{0}, std::byte{0},
                                          std::byte{0x11}};
    const ConstView<leaf> view{memory};
    EXPECT_EQ(view.get<"high">(), 0xaU);
    EXPECT_EQ(view.get<"low">(), 0x11U);
}

TEST(View, AccessWorksAtCompileTime) {
    constexpr std::uint64_t read = [] {
        std::array<std::byte, 4> memory{};
        const View<leaf> view{memory};
        view.set<"middle">(0x123);
        return view.get<"middle">();
    }();
    static_assert(read == 0x123);
    SUCCEED();
}

TEST(ViewDeathTest, OversizedValueAborts) {
    Memory memory(0x20);
    EXPECT_DEATH(memory.view().set<"leaf.high">(0x10), "value <=");
}

TEST(ViewDeathTest, IndexBeyondArrayAborts) {
    Memory memory(0x20);
    EXPECT_DEATH(memory.view().set_at<"small">(2, 0), "index <");
}

TEST(ViewDeathTest, ElementBeyondMemoryAborts) {
    Memory memory(0x20 + 8);
    EXPECT_DEATH((void)memory.view().get_at<"numbers">(1), "memory_.size");
}

TEST(ViewDeathTest, MemoryTooSmallAborts) {
    Memory memory(0x1c);
    EXPECT_DEATH((void)memory.view(), "memory.size");
}

TEST(Names, NameFoundForValue) {
    EXPECT_EQ(name_of(command_status, 0x3), "bad_parameter");
    EXPECT_EQ(name_of(command_status, 0xee), "");
    EXPECT_EQ((value<command_status, "bad_parameter">), 0x3U);
}

TEST(Tables, NestedContextFieldAtInterfaceOffset) {
    std::array<std::byte, create_qp_in.size> memory{};
    const View<create_qp_in> view{memory};
    view.set<"qpc.primary_address_path.rlid">(0xbeef);
    constexpr std::size_t word = 0x18 + 0x18 + 0x4; // input, context, address path
    EXPECT_EQ(std::to_integer<int>(memory.at(word + 2)), 0xbe);
    EXPECT_EQ(std::to_integer<int>(memory.at(word + 3)), 0xef);
}

} // namespace
} // namespace hwtab
