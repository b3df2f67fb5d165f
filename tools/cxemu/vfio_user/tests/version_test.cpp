// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/testing/wire.hpp"
#include "vfio_user/version.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace cxemu::vfio_user {
namespace {

using testing::bytes_of;
using ::testing::HasSubstr;
using testing::version_body;

std::string complaint(const std::vector<std::byte>& body) {
    const auto result = check_client_version(body);
    return result ? "" : result.error();
}

std::string reply_text(std::size_t limit) {
    const auto reply = make_version_reply(limit);
    return {reinterpret_cast<const char*>(reply.data()) + 4, reply.size() - 4};
}

TEST(ClientVersion, QemuVersionAccepted) {
    EXPECT_EQ(complaint(version_body(
                  R"({"capabilities":{"pgsizes":4096,"max_msg_fds":16,"max_dma_maps":65535,)"
                  R"("max_data_xfer_size":1048576,"migration":{"max_bitmap_size":268435456,)"
                  R"("pgsize":4096},"write_multiple":true}})")),
              "");
}

TEST(ClientVersion, MissingCapabilitiesAccepted) {
    EXPECT_EQ(complaint({4, std::byte{0}}), "");
    EXPECT_EQ(complaint(version_body("{}")), "");
}

TEST(ClientVersion, AnyMinorNumberAccepted) {
    EXPECT_EQ(complaint(WireWriter().put(std::uint16_t{0}).put(std::uint16_t{9}).take()), "");
}

TEST(ClientVersion, ForeignMajorNumberRefused) {
    EXPECT_THAT(complaint(WireWriter().put(std::uint16_t{7}).put(std::uint16_t{0}).take()),
                HasSubstr("major version 7"));
}

TEST(ClientVersion, TruncatedMessageRefused) {
    EXPECT_THAT(complaint({}), HasSubstr("too short"));
    EXPECT_THAT(complaint({3, std::byte{0}}), HasSubstr("3 bytes is too short"));
}

TEST(ClientVersion, InvalidCapabilitiesRefused) {
    EXPECT_THAT(complaint(version_body("{\"capabilities\":")), HasSubstr("not JSON"));
    EXPECT_THAT(complaint(version_body("\xff\xfe\x80")), HasSubstr("not JSON"));
    EXPECT_THAT(complaint(version_body("")), HasSubstr("not JSON"));
    EXPECT_THAT(complaint(version_body("[1,2]")), HasSubstr("not a JSON object"));
    EXPECT_THAT(complaint(version_body(R"({"capabilities":7})")), HasSubstr("\"capabilities\""));
    EXPECT_THAT(complaint(version_body(R"({"capabilities":{"max_msg_fds":-1}})")),
                HasSubstr("max_msg_fds"));
    EXPECT_THAT(complaint(version_body(R"({"capabilities":{"pgsizes":"4096"}})")),
                HasSubstr("pgsizes"));
}

TEST(ClientVersion, MissingNulRefused) {
    auto body = version_body("{}");
    body.pop_back();
    EXPECT_THAT(complaint(body), HasSubstr("NUL"));
}

TEST(ClientVersion, TruncatedDeepNestingRefused) {
    EXPECT_THAT(complaint(version_body(std::string(60000, '['))), HasSubstr("not JSON"));
    EXPECT_THAT(complaint(version_body(std::string(70000, ' '))), HasSubstr("limit"));
}

TEST(ClientVersion, DeepNestingAccepted) {
    const std::string deep = std::string(30000, '[') + std::string(30000, ']');
    EXPECT_EQ(complaint(version_body(R"({"x":)" + deep + "}")), "");
}

TEST(VersionReply, CapabilitiesSerialized) {
    const auto text = reply_text(200);
    EXPECT_THAT(text, HasSubstr("\"max_msg_fds\":8"));
    EXPECT_THAT(text, HasSubstr("\"max_data_xfer_size\":1048576"));
    EXPECT_EQ(text.back(), '\0');
}

TEST(VersionReply, WriteMultiNotOffered) {
    EXPECT_THAT(reply_text(1000), ::testing::Not(HasSubstr("write_multiple")));
}

TEST(VersionReply, ReplyNeverLongerThanLimit) {
    for (std::size_t limit = 4; limit < 200; ++limit)
        EXPECT_LE(make_version_reply(limit).size(), limit);
}

} // namespace
} // namespace cxemu::vfio_user
