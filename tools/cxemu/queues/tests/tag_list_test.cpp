// SPDX-License-Identifier: GPL-2.0-or-later
//
// Matching of messages to tags.
#include "queues/tag_list.hpp"

#include <gtest/gtest.h>
#include <optional>

namespace cxemu::queues {
namespace {

constexpr std::uint64_t all_bits = ~std::uint64_t{0};

class TagListTest : public ::testing::Test {
protected:
    /// Indices are assigned in order.
    std::uint16_t append(std::uint64_t tag, std::uint64_t mask = all_bits) {
        const std::uint16_t index = list.next();
        const auto next = static_cast<std::uint16_t>((index + 1) % entries);
        EXPECT_TRUE(list.append({.tag = tag, .mask = mask, .memory = {}}, next));
        return index;
    }
    std::optional<std::uint16_t> match(std::uint64_t tag) {
        const auto entry = list.match(tag);
        return entry ? std::optional(entry->index) : std::nullopt;
    }

    static constexpr std::uint16_t entries = 4;
    TagList list{2};
};

TEST_F(TagListTest, OldestMatchingTagTaken) {
    const auto other = append(1);
    const auto older = append(2);
    const auto newer = append(2);
    EXPECT_EQ(match(2), older);
    EXPECT_EQ(match(2), newer);
    EXPECT_EQ(match(2), std::nullopt);
    EXPECT_EQ(match(1), other);
}

TEST_F(TagListTest, UnmaskedTagBitsIgnored) {
    append(0x12'34, 0xff'00);
    EXPECT_EQ(match(0x11'34), std::nullopt);
    EXPECT_EQ(match(0x12'99), 0);
    append(0, 0);
    EXPECT_EQ(match(all_bits), 1);
}

TEST_F(TagListTest, IndicesNamedBySoftwareUsed) {
    ASSERT_TRUE(list.append({.tag = 1, .mask = all_bits, .memory = {}}, 3));
    ASSERT_TRUE(list.append({.tag = 2, .mask = all_bits, .memory = {}}, 1));
    EXPECT_EQ(match(1), 0);
    EXPECT_EQ(match(2), 3);
    EXPECT_EQ(list.next(), 1);
}

TEST_F(TagListTest, IndexBeyondListRefused) {
    const auto result = list.append({.tag = 1, .mask = all_bits, .memory = {}}, entries);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error(), TagFault::beyond_list);
    EXPECT_EQ(list.size(), 0U);
}

TEST_F(TagListTest, AppendToUsedIndexRefused) {
    ASSERT_TRUE(list.append({.tag = 1, .mask = all_bits, .memory = {}}, 0));
    const auto result = list.append({.tag = 2, .mask = all_bits, .memory = {}}, 1);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error(), TagFault::in_use);
    EXPECT_EQ(match(2), std::nullopt);
}

TEST_F(TagListTest, UnmatchedTagRemoved) {
    const auto index = append(1);
    EXPECT_TRUE(list.remove(index));
    EXPECT_FALSE(list.remove(index));
    EXPECT_EQ(match(1), std::nullopt);
    const auto taken = append(2);
    EXPECT_EQ(match(2), taken);
    EXPECT_FALSE(list.remove(taken));
}

TEST_F(TagListTest, RestoredTagKeepsPosition) {
    append(7);
    const auto middle = append(7);
    append(7);
    auto first = list.match(7);
    auto second = list.match(7);
    list.restore(*std::move(second));
    list.restore(*std::move(first));
    EXPECT_EQ(match(7), 0);
    EXPECT_EQ(match(7), middle);
    EXPECT_EQ(match(7), 2);
}

TEST_F(TagListTest, NewTagsHeldUntilUnexpectedHandled) {
    const auto older = append(1);
    list.count_unexpected();
    append(2);
    EXPECT_EQ(match(2), std::nullopt);
    EXPECT_EQ(match(1), older);
    list.count_unexpected();
    list.synchronize(1);
    EXPECT_EQ(match(2), std::nullopt);
    list.synchronize(2);
    EXPECT_EQ(match(2), 1);
    EXPECT_EQ(append(3), 2);
    EXPECT_EQ(match(3), 2);
}

TEST_F(TagListTest, UnexpectedCountedModulo16Bits) {
    for (int i = 0; i < 0x1'0000; ++i)
        list.count_unexpected();
    EXPECT_EQ(list.unexpected(), 0);
    append(1);
    EXPECT_EQ(match(1), 0);
}

TEST_F(TagListTest, AbortedUnexpectedMessageIsNotCounted) {
    list.count_unexpected();
    list.forget_unexpected();
    append(1);
    EXPECT_EQ(match(1), 0);
}

} // namespace
} // namespace cxemu::queues
