// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/write_file.hpp"
#include "check/envelope.hpp"
#include "hwtab/view.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace cxemu::check {
namespace {

using namespace hwtab;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::array shade_values{Value{"dark", 0, "-"}, Value{"light", 7, "-"}};
constexpr Enumeration shade{"shade", shade_values, "-"};
constexpr std::array right_values{Value{"read", 1, "-"}, Value{"write", 2, "-"}};
constexpr Enumeration right{"right", right_values, "-", true};

constexpr std::array thing_fields{
    bits("kind", 0x0, 31, 24, "-", &shade),
    bits("log_size", 0x0, 23, 19, "-"),
    reserved(0x0, 18, 8),
    bits("rights", 0x0, 7, 0, "-", &right),
    word32("number", 0x4, "-"),
    bytes("gid", 0x8, 16, "-"),
    word32("key", 0x18, "-", &shade),
    list("pas", 0x1c, 64, "-"),
};
constexpr Layout thing{"thing", Kind::context, 0x1c, thing_fields, "-"};

std::vector<std::byte> make_thing(std::size_t pages = 0) {
    return std::vector<std::byte>(thing.size + (pages * 8));
}

EnvelopeFields fields_of(const Envelope& envelope) {
    return envelope.text().at("make");
}

TEST(Envelope, ZeroFieldsLeftOut) {
    Envelope envelope;
    envelope.record("make", thing, make_thing(2));
    EXPECT_EQ(fields_of(envelope), EnvelopeFields{});
}

TEST(Envelope, EnumerationRecordedByName) {
    Envelope envelope;
    auto bytes = make_thing();
    for (const std::uint8_t value : {7, 7, 0, 9}) {
        View<thing>{std::span(bytes)}.set<"kind">(value);
        envelope.record("make", thing, bytes);
    }
    EXPECT_EQ(fields_of(envelope), (EnvelopeFields{{"kind", {"0", "9", "light"}}}));
}

TEST(Envelope, NarrowNumberRecordedByValue) {
    Envelope envelope;
    auto bytes = make_thing();
    View<thing>{std::span(bytes)}.set<"log_size">(0x1f);
    envelope.record("make", thing, bytes);
    EXPECT_EQ(fields_of(envelope), (EnvelopeFields{{"log_size", {"0x1f"}}}));
}

TEST(Envelope, WideNumberRecordedByClass) {
    Envelope envelope;
    auto bytes = make_thing();
    for (const std::uint32_t value : {5U, 0xffff'ffffU}) {
        View<thing>{std::span(bytes)}.set<"number">(value);
        envelope.record("make", thing, bytes);
    }
    EXPECT_EQ(fields_of(envelope), (EnvelopeFields{{"number", {"nonzero", "ones"}}}));
}

TEST(Envelope, MaskBitsAlwaysAndSometimesSetRecorded) {
    Envelope envelope;
    auto bytes = make_thing();
    for (const std::uint8_t value : {0x11, 0x13}) {
        View<thing>{std::span(bytes)}.set<"rights">(value);
        envelope.record("make", thing, bytes);
    }
    EXPECT_EQ(fields_of(envelope), (EnvelopeFields{{"rights", {"+read", "+write?", "+0x10"}}}));
}

TEST(Envelope, BytesOfStringAreOneValue) {
    Envelope envelope;
    auto bytes = make_thing();
    bytes[thing.size - 5] = std::byte{1};
    envelope.record("make", thing, bytes);
    EXPECT_EQ(fields_of(envelope), (EnvelopeFields{{"gid[]", {"nonzero"}}}));
}

TEST(Envelope, ElementsOfListAreOneField) {
    Envelope envelope;
    auto bytes = make_thing(3);
    bytes[thing.size + 8] = std::byte{1};
    envelope.record("make", thing, bytes);
    EXPECT_EQ(fields_of(envelope), (EnvelopeFields{{"pas[]", {"0", "nonzero"}}}));
}

TEST(Envelope, ReservedBitsNamedByPlace) {
    Envelope envelope;
    auto bytes = make_thing();
    bytes[2] = std::byte{1};
    envelope.record("make", thing, bytes);
    EXPECT_EQ(fields_of(envelope), (EnvelopeFields{{"reserved 0x0 18:8", {"nonzero"}}}));
}

TEST(Envelope, TruncatedBytesEndRecord) {
    Envelope envelope;
    const std::vector<std::byte> bytes(6, std::byte{0xff});
    envelope.record("make", thing, bytes);
    EXPECT_FALSE(fields_of(envelope).contains("number"));
    EXPECT_TRUE(fields_of(envelope).contains("kind"));
}

TEST(Envelope, WideEnumerationKeepsNamedValuesOnly) {
    Envelope envelope;
    auto bytes = make_thing();
    for (const std::uint32_t value : {0x10U, 0x11U, 7U}) {
        View<thing>{std::span(bytes)}.set<"key">(value);
        envelope.record("make", thing, bytes);
    }
    EXPECT_EQ(fields_of(envelope), (EnvelopeFields{{"key", {"light", "nonzero"}}}));
}

// --- Text ----------------------------------------------------------------------------------------

TEST(EnvelopeText, PrintedInOrderOneLineForField) {
    const EnvelopeText envelope{{"b", {{"y", {"2", "1"}}, {"x", {"ones"}}}}, {"a", {}}};
    EXPECT_EQ(print(envelope), "[\"a\"]\n\n[\"b\"]\n\"x\" = [\"ones\"]\n\"y\" = [\"1\", \"2\"]\n");
}

TEST(EnvelopeText, MergeKeepsSubjectsOfBoth) {
    const EnvelopeText one{{"a", {{"x", {"1"}}}}};
    const EnvelopeText other{{"b", {{"x", {"1"}}}}};
    EXPECT_EQ(merge(one, other), (EnvelopeText{{"a", {{"x", {"1"}}}}, {"b", {{"x", {"1"}}}}}));
}

TEST(EnvelopeText, MergeAddsZeroOfFieldOnOneSide) {
    const EnvelopeText one{{"a", {{"x", {"1"}}, {"z", {"2"}}}}};
    const EnvelopeText other{{"a", {{"y", {"ones"}}, {"z", {"3"}}}}};
    const EnvelopeText merged{{"a", {{"x", {"0", "1"}}, {"y", {"0", "ones"}}, {"z", {"2", "3"}}}}};
    EXPECT_EQ(merge(one, other), merged);
    EXPECT_EQ(merge(other, one), merged);
}

TEST(EnvelopeText, MergeKeepsBitsThatBothAlwaysSet) {
    const EnvelopeText one{{"a", {{"m", {"+p", "+q", "+r?"}}, {"n", {"+s"}}}}};
    const EnvelopeText other{{"a", {{"m", {"+p", "+q?", "+r"}}}}};
    const EnvelopeText merged{{"a", {{"m", {"+p", "+q?", "+r?"}}, {"n", {"+s?"}}}}};
    EXPECT_EQ(merge(one, other), merged);
    EXPECT_EQ(merge(other, one), merged);
}

class EnvelopeFile : public ::testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(file_); }

    const std::filesystem::path file_ =
        std::filesystem::temp_directory_path() / ("cxemu-envelope-" + std::to_string(::getpid()));
};

TEST_F(EnvelopeFile, SecondRunMerged) {
    for (const std::uint8_t value : {7, 0}) {
        Envelope envelope;
        auto bytes = make_thing();
        View<thing>{std::span(bytes)}.set<"kind">(value);
        envelope.record("make", thing, bytes);
        ASSERT_TRUE(envelope.write(file_));
    }
    const auto read = read_envelope(file_);
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(*read, (EnvelopeText{{"make", {{"kind", {"0", "light"}}}}}));
}

TEST_F(EnvelopeFile, OtherFileNotOverwritten) {
    ASSERT_TRUE(write_file(file_, "kind = 3\n"));
    Envelope envelope;
    envelope.record("make", thing, make_thing());
    const auto written = envelope.write(file_);
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error(), HasSubstr("line 1: \"kind\" is no table of lists of strings"));
}

} // namespace
} // namespace cxemu::check
