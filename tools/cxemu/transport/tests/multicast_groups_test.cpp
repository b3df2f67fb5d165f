// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/multicast_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cxemu::transport {
namespace {

using fabric::Gid;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t multicast_prefix = 0xff12'401b'ffff'0000;
const Gid first_group(multicast_prefix, 1);
const Gid second_group(multicast_prefix, 2);

MembershipFault fault_of(const std::expected<void, MembershipFault>& result) {
    EXPECT_FALSE(result);
    return result.error();
}

TEST(MulticastGroups, AttachAddsMemberToGroup) {
    MulticastGroups groups({.groups = 8, .members = 8});
    EXPECT_TRUE(groups.attach(first_group, 5));
    EXPECT_TRUE(groups.attach(first_group, 3));
    EXPECT_TRUE(groups.attach(second_group, 5));
    EXPECT_THAT(groups.members(first_group), ElementsAre(5, 3));
    EXPECT_THAT(groups.members(second_group), ElementsAre(5));
}

TEST(MulticastGroups, UnknownGroupHasNoMembers) {
    const MulticastGroups groups({.groups = 8, .members = 8});
    EXPECT_THAT(groups.members(first_group), IsEmpty());
    EXPECT_FALSE(groups.has(first_group));
}

TEST(MulticastGroups, DuplicateAttachCountedOnce) {
    MulticastGroups groups({.groups = 8, .members = 8});
    EXPECT_TRUE(groups.attach(first_group, 5));
    EXPECT_TRUE(groups.attach(first_group, 5));
    EXPECT_THAT(groups.members(first_group), ElementsAre(5));
    EXPECT_TRUE(groups.detach(first_group, 5));
    EXPECT_THAT(groups.members(first_group), IsEmpty());
}

TEST(MulticastGroups, DetachNonMemberRefused) {
    MulticastGroups groups({.groups = 8, .members = 8});
    ASSERT_TRUE(groups.attach(first_group, 5));
    EXPECT_EQ(fault_of(groups.detach(first_group, 6)), MembershipFault::not_a_member);
    EXPECT_EQ(fault_of(groups.detach(second_group, 5)), MembershipFault::not_a_member);
}

TEST(MulticastGroups, GroupsBeyondLimitRefused) {
    MulticastGroups groups({.groups = 1, .members = 8});
    ASSERT_TRUE(groups.attach(first_group, 5));
    EXPECT_EQ(fault_of(groups.attach(second_group, 5)), MembershipFault::too_many_groups);
    EXPECT_TRUE(groups.attach(first_group, 6));
}

TEST(MulticastGroups, DetachLastMemberFreesGroup) {
    MulticastGroups groups({.groups = 1, .members = 8});
    ASSERT_TRUE(groups.attach(first_group, 5));
    ASSERT_TRUE(groups.detach(first_group, 5));
    EXPECT_TRUE(groups.attach(second_group, 5));
}

TEST(MulticastGroups, MembersBeyondLimitRefused) {
    MulticastGroups groups({.groups = 8, .members = 2});
    ASSERT_TRUE(groups.attach(first_group, 5));
    ASSERT_TRUE(groups.attach(first_group, 6));
    EXPECT_EQ(fault_of(groups.attach(first_group, 7)), MembershipFault::too_many_members);
    EXPECT_TRUE(groups.attach(first_group, 6)) << "is a member already";
}

TEST(MulticastGroups, ForgetDetachesFromAllGroups) {
    MulticastGroups groups({.groups = 8, .members = 8});
    ASSERT_TRUE(groups.attach(first_group, 5));
    ASSERT_TRUE(groups.attach(first_group, 6));
    ASSERT_TRUE(groups.attach(second_group, 5));
    EXPECT_EQ(groups.forget(5), 2U);
    EXPECT_THAT(groups.members(first_group), ElementsAre(6));
    EXPECT_FALSE(groups.has(second_group));
    EXPECT_EQ(groups.forget(5), 0U);
}

} // namespace
} // namespace cxemu::transport
