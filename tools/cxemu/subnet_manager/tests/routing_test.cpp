// SPDX-License-Identifier: GPL-2.0-or-later
//
// LIDs of end ports.
#include "subnet_manager/routing.hpp"

#include <gtest/gtest.h>
#include <set>

namespace cxemu::subnet_manager {
namespace {

constexpr Guid switch_guid = 0x100;

/// A switch that forwards to the LIDs 1 to 3, and adapters that it need not be connected to.
struct LidTableTest : ::testing::Test {
    Subnet subnet;
    LidTable lids;

    LidTableTest() {
        subnet.root = switch_guid;
        SubnetNode& node = add(switch_guid);
        hwtab::View<hwtab::node_info>(node.info).set<"node_type">(
            hwtab::value<hwtab::node_type, "switch">);
        hwtab::View<hwtab::switch_info>(node.switch_info).set<"linear_fdb_cap">(4);
    }
    SubnetNode& add(Guid guid, Lid present = fabric::unassigned_lid) {
        SubnetNode& node = subnet.nodes[guid];
        SubnetPort& port = node.ports[0];
        port.guid = guid;
        hwtab::View<hwtab::port_info>(port.info).set<"lid">(present);
        return node;
    }
    void assign() { lids.assign(subnet, switch_guid); }
};

TEST_F(LidTableTest, FirstPortGetsLowestLid) {
    add(0x50);
    assign();
    EXPECT_EQ(lids.lid_of(switch_guid), 1U);
    EXPECT_EQ(lids.lid_of(0x50), 2U);
    EXPECT_EQ(lids.port_of(2), 0x50U);
    EXPECT_EQ(lids.highest(), 2U);
}

TEST_F(LidTableTest, PortLidBeyondForwardingTableReplaced) {
    add(0x50, 3);
    add(0x51, 4);
    assign();
    EXPECT_EQ(lids.lid_of(0x50), 3U);
    EXPECT_EQ(lids.lid_of(0x51), 2U);
}

TEST_F(LidTableTest, ReturnedPortGetsFormerLid) {
    add(0x50);
    add(0x51);
    assign();
    const Lid before = lids.lid_of(0x50);
    subnet.nodes.erase(0x50);
    assign();
    add(0x50);
    assign();
    EXPECT_EQ(lids.lid_of(0x50), before);
    EXPECT_NE(lids.lid_of(0x51), before);
}

TEST_F(LidTableTest, LidOfMissingPortReusedWhenNoneFree) {
    add(0x50);
    add(0x51);
    assign();
    const Lid before = lids.lid_of(0x50);
    subnet.nodes.erase(0x50);
    add(0x52, before + 10);
    assign();
    EXPECT_EQ(lids.lid_of(0x52), before);
    EXPECT_EQ(lids.port_of(before), 0x52U);
    add(0x50, before); // it still has the LID that is another's now
    assign();
    EXPECT_EQ(lids.lid_of(0x50), fabric::unassigned_lid);
}

TEST_F(LidTableTest, ClearedTableTakesPortLids) {
    add(0x50);
    assign();
    add(0x50, 3);
    assign();
    EXPECT_EQ(lids.lid_of(0x50), 2U);
    lids.clear();
    EXPECT_EQ(lids.highest(), 0U);
    assign();
    EXPECT_EQ(lids.lid_of(0x50), 3U);
}

} // namespace
} // namespace cxemu::subnet_manager
