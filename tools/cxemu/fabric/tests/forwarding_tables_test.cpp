// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/forwarding_tables.hpp"

#include <array>
#include <gtest/gtest.h>
#include <vector>

namespace cxemu::fabric {
namespace {

constexpr std::uint8_t ports = 20;

struct ForwardingTest : ::testing::Test {
    ForwardingTables tables{ports, {.linear_entries = 0x200, .multicast_entries = 0x40}};

    std::vector<std::uint8_t> multicast(Lid lid, std::uint8_t arrival) {
        const PortSet set = tables.multicast(lid, arrival);
        std::vector<std::uint8_t> found;
        for (unsigned port = 0; port < 256; ++port)
            if (set.contains(static_cast<std::uint8_t>(port)))
                found.push_back(static_cast<std::uint8_t>(port));
        return found;
    }
    bool set_info(auto change) {
        std::array<std::byte, hwtab::switch_info.size> wanted{};
        std::ranges::copy(tables.info().memory(), wanted.begin());
        change(hwtab::View<hwtab::switch_info>(wanted));
        return tables.set_info(hwtab::ConstView<hwtab::switch_info>(wanted));
    }
    void write_mask(std::size_t entry, std::size_t position, std::uint16_t mask) {
        std::array<std::byte, 64> block{};
        ASSERT_TRUE(tables.read_multicast(entry / 32, position, block));
        hwtab::View<hwtab::multicast_forwarding_table>(block).set_at<"port_mask_block">(entry % 32,
                                                                                        mask);
        tables.write_multicast(entry / 32, position, block);
    }
};

using Ports = std::vector<std::uint8_t>;

TEST_F(ForwardingTest, UnicastWithoutEntryDropped) {
    EXPECT_FALSE(tables.linear(1));
}

TEST_F(ForwardingTest, UnicastAboveTopDropped) {
    tables.linear_entries(0)[5] = std::byte{3};
    tables.linear_entries(0)[6] = std::byte{4};
    EXPECT_TRUE(set_info([](auto info) { info.template set<"linear_fdb_top">(5); }));
    EXPECT_EQ(tables.linear(5), 3);
    EXPECT_FALSE(tables.linear(6)) << "above LinearFDBTop";
}

TEST_F(ForwardingTest, UnicastToInvalidPortDropped) {
    tables.linear_entries(0)[5] = std::byte{ports + 1};
    EXPECT_TRUE(set_info([](auto info) { info.template set<"linear_fdb_top">(100); }));
    EXPECT_FALSE(tables.linear(5));
    EXPECT_FALSE(tables.linear(7)) << "255";
    EXPECT_FALSE(tables.linear(0x4000)) << "beyond the table";
}

TEST_F(ForwardingTest, BlockBeyondTableRefused) {
    EXPECT_EQ(tables.linear_entries(7).size(), 64U);
    EXPECT_TRUE(tables.linear_entries(8).empty());
    std::array<std::byte, 64> block{};
    EXPECT_TRUE(tables.read_multicast(1, 1, block));
    EXPECT_FALSE(tables.read_multicast(2, 0, block)) << "block";
    EXPECT_FALSE(tables.write_multicast(0, 2, block)) << "position: ports 32 to 47";
}

TEST_F(ForwardingTest, MulticastSentToAllMembersButArrival) {
    write_mask(0x21, 0, 0b10'0110);
    write_mask(0x21, 1, 0b1);
    EXPECT_EQ(multicast(0xc021, 2), (Ports{1, 5, 16}));
    EXPECT_EQ(multicast(0xc021, 3), (Ports{1, 2, 5, 16}));
}

TEST_F(ForwardingTest, MaskBitsOfInvalidPortsIgnored) {
    write_mask(0, 1, 0xffff);
    EXPECT_EQ(multicast(0xc000, 1), (Ports{16, 17, 18, 19, 20}));
    std::array<std::byte, 64> block{};
    ASSERT_TRUE(tables.read_multicast(0, 1, block));
    EXPECT_EQ(hwtab::View<hwtab::multicast_forwarding_table>(block).get_at<"port_mask_block">(0),
              0x1fU);
}

TEST_F(ForwardingTest, UnknownMulticastDropped) {
    EXPECT_EQ(multicast(0xc001, 1), Ports{});
    EXPECT_EQ(multicast(0xfff0, 1), Ports{}) << "beyond the table";
}

TEST_F(ForwardingTest, UnknownMulticastSentToDefaultPorts) {
    EXPECT_TRUE(set_info([](auto info) {
        info.template set<"default_multicast_primary_port">(4);
        info.template set<"default_multicast_not_primary_port">(6);
    }));
    EXPECT_EQ(multicast(0xc001, 1), Ports{4});
    EXPECT_EQ(multicast(0xc001, 4), Ports{6}) << "from the primary port";
}

TEST_F(ForwardingTest, MulticastAboveTopIsUnknown) {
    write_mask(0, 0, 0b10);
    write_mask(1, 0, 0b10);
    EXPECT_TRUE(set_info([](auto info) { info.template set<"multicast_fdb_top">(0xc000); }));
    EXPECT_EQ(multicast(0xc000, 3), Ports{1});
    EXPECT_EQ(multicast(0xc001, 3), Ports{});
    EXPECT_TRUE(set_info([](auto info) { info.template set<"multicast_fdb_top">(0xbfff); }));
    EXPECT_EQ(multicast(0xc000, 3), Ports{}) << "no group at all";
}

TEST_F(ForwardingTest, SetSwitchInfoInvalidFieldRefused) {
    EXPECT_FALSE(set_info([](auto info) { info.template set<"linear_fdb_top">(0x200); }));
    EXPECT_FALSE(set_info([](auto info) { info.template set<"multicast_fdb_top">(0xc040); }));
    EXPECT_FALSE(set_info([](auto info) { info.template set<"multicast_fdb_top">(5); }));
    EXPECT_FALSE(set_info(
        [](auto info) { info.template set<"default_multicast_primary_port">(ports + 1); }));
    EXPECT_FALSE(tables.linear(1));
}

TEST_F(ForwardingTest, ResetClearsAllState) {
    tables.linear_entries(0)[1] = std::byte{1};
    set_info([](auto info) { info.template set<"linear_fdb_top">(1); });
    tables.reset();
    EXPECT_FALSE(tables.linear(1));
    EXPECT_EQ(tables.info().get<"linear_fdb_top">(), 0U);
}

} // namespace
} // namespace cxemu::fabric
