// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/command_log.hpp"
#include "check/layout_walk.hpp"
#include "hwtab/view.hpp"
#include "tables/commands_device.hpp"

#include <array>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace cxemu::check {
namespace {

using namespace hwtab;

constexpr std::array colour_values{Value{"red", 1, "-"}, Value{"green", 2, "-"}};
constexpr Enumeration colour{"colour", colour_values, "-"};

constexpr std::array inner_fields{
    bits("kind", 0x0, 31, 24, "-", &colour),
    reserved(0x0, 23, 0),
    word32("size", 0x4, "-"),
};
constexpr Layout inner{"inner", Kind::context, 0x8, inner_fields, "-"};

constexpr std::array outer_fields{
    word32("first", 0x0, "-"),    reserved_bytes(0x4, 0x4),   nested("part", 0x8, inner, "-"),
    bytes("text", 0x10, 16, "-"), list("pas", 0x20, 64, "-"),
};
constexpr Layout outer{"outer", Kind::context, 0x20, outer_fields, "-"};

std::vector<std::string> reserved_of(const std::vector<std::byte>& bytes) {
    std::vector<std::string> found;
    find_reserved_bits(outer, bytes, {}, [&](std::string_view where, std::uint64_t value) {
        found.push_back(fmt::format("{} = {:#x}", where, value));
    });
    return found;
}

TEST(LayoutWalk, ReservedBitsFoundByPosition) {
    std::vector<std::byte> bytes(outer.size);
    EXPECT_TRUE(reserved_of(bytes).empty());
    bytes[6] = std::byte{0x40};
    EXPECT_EQ(reserved_of(bytes), std::vector<std::string>{"word 0x4 bits 15:8 = 0x40"});
}

TEST(LayoutWalk, NestedReservedBitsFound) {
    std::vector<std::byte> bytes(outer.size);
    bytes[11] = std::byte{0x02};
    EXPECT_EQ(reserved_of(bytes), std::vector<std::string>{"part word 0x8 bits 23:0 = 0x2"});
}

TEST(LayoutWalk, TruncatedBytesEndWalk) {
    std::vector<std::byte> bytes(6, std::byte{0xff});
    EXPECT_EQ(reserved_of(bytes).size(), 2U) << "two bytes of the gap are there";
}

TEST(LayoutWalk, FieldsDecodedByName) {
    std::vector<std::byte> bytes(outer.size + 16);
    const View<outer> view{std::span<std::byte>(bytes)};
    view.set<"first">(5);
    view.set<"part.kind">(2);
    view.set<"part.size">(0x1000);
    view.bytes<"text">()[0] = std::byte{'h'};
    view.bytes<"text">()[1] = std::byte{'i'};
    view.set_at<"pas">(1, 0xabc000);
    EXPECT_EQ(decode(outer, bytes),
              "first=5 part.kind=green part.size=0x1000 text=\"hi\" pas[1]=0xabc000");
}

TEST(LayoutWalk, LongListDecodesFirstElements) {
    std::vector<std::byte> bytes(outer.size + (8 * 1000), std::byte{0x11});
    const std::string text = decode(outer, bytes);
    EXPECT_NE(text.find("pas[7]"), std::string::npos);
    EXPECT_EQ(text.find("pas[8]"), std::string::npos);
}

TEST(CommandLog, FailureLineHasNamesValuesReason) {
    std::vector<std::byte> input(manage_pages_in.size + 8);
    const View<manage_pages_in> in{std::span<std::byte>(input)};
    in.set<"opcode">(cmd_manage_pages.opcode);
    in.set<"op_mod">(1);
    in.set<"input_num_entries">(1);
    in.set_at<"pas">(0, 0x7000);
    const std::vector<std::byte> output(manage_pages_out.size);
    const std::string line = format_command({.device = "hca0",
                                             .command = &cmd_manage_pages,
                                             .opcode = cmd_manage_pages.opcode,
                                             .input = input,
                                             .output = output,
                                             .status = "BAD_PARAMETER",
                                             .syndrome = 0x99,
                                             .explanation = "page 0x7000"});
    EXPECT_TRUE(line.starts_with("hca0 MANAGE_PAGES: ")) << line;
    EXPECT_NE(line.find("input_num_entries=1"), std::string::npos) << line;
    EXPECT_NE(line.find("pas[0]=0x7000"), std::string::npos) << line;
    EXPECT_TRUE(line.ends_with("[BAD_PARAMETER: page 0x7000]")) << line;
}

TEST(CommandLog, OpModSelectsCapabilityPage) {
    std::vector<std::byte> input(query_hca_cap_in.size);
    const View<query_hca_cap_in> in{std::span<std::byte>(input)};
    in.set<"opcode">(cmd_query_hca_cap.opcode);
    in.set<"op_mod">(7);
    std::vector<std::byte> output(query_hca_cap_out.size);
    const View<query_hca_cap_out> out{std::span<std::byte>(output)};
    out.set<"capability.atomic_caps.atomic_operations">(0xf);
    const std::string line = format_command({.device = "hca0",
                                             .command = &cmd_query_hca_cap,
                                             .opcode = cmd_query_hca_cap.opcode,
                                             .input = input,
                                             .output = output,
                                             .status = "OK",
                                             .syndrome = 0,
                                             .explanation = {}});
    EXPECT_NE(line.find("capability.atomic_operations="), std::string::npos) << line;
}

} // namespace
} // namespace cxemu::check
