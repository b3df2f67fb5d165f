// SPDX-License-Identifier: GPL-2.0-or-later
//
// How many paths a request may ask for.
#include "subnet_manager/path_records.hpp"

#include <gtest/gtest.h>

namespace cxemu::subnet_manager {
namespace {

constexpr Guid first_port = 0x1; // of the switch

/// A switch and adapters that are not connected to it: there are no paths, but pairs to look at.
struct PathPairs : ::testing::Test {
    ManagerSettings settings;
    MulticastGroups groups{settings, [](const fabric::Gid&, bool) {}};
    Subnet subnet;
    LidTable lids;
    const std::array<std::byte, hwtab::sa_mad.find("data")->width / 8> query{};

    SaStatus ask(std::size_t end_ports) {
        subnet.root = first_port;
        for (Guid guid = first_port; guid < first_port + end_ports; ++guid)
            subnet.nodes[guid].ports[0].guid = guid;
        hwtab::View<hwtab::switch_info>(subnet.nodes[first_port].switch_info)
            .set<"linear_fdb_cap">(0xc000);
        lids.assign(subnet, first_port);
        const auto ports = subnet.end_ports();
        const SaRequest request{.method = fabric::MadMethod::get_table, .data = query};
        return path_records({.subnet = subnet,
                             .end_ports = ports,
                             .lids = lids,
                             .tables = {},
                             .groups = groups,
                             .settings = settings},
                            request)
            .status;
    }
};

TEST_F(PathPairs, RequestForAsManyAsAreAllowedIsNotRefused) {
    EXPECT_EQ(ask(256), SaStatus::ok); // 256 squared is max_pairs
}

TEST_F(PathPairs, RequestBeyondMaximumRefused) {
    EXPECT_EQ(ask(257), SaStatus::no_resources);
}

} // namespace
} // namespace cxemu::subnet_manager
