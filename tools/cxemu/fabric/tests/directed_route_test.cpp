// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/directed_route.hpp"
#include "fabric/tests/fixtures.hpp"

#include <gtest/gtest.h>

namespace cxemu::fabric {
namespace {

using Action = RouteStep::Action;

constexpr RoutingNode adapter{.is_switch = false, .ports = 1, .arrival = 1};

RoutingNode switch_node(std::uint8_t arrival) {
    return {.is_switch = true, .ports = 8, .arrival = arrival};
}

Mad request(const std::vector<std::uint8_t>& path) {
    return testing::make_directed(MadMethod::get, testing::attribute<"node_info">, path);
}

std::uint64_t pointer(const Mad& mad) {
    return ConstDirectedSmp(mad).get<"hop_pointer">();
}

TEST(DirectedRoute, RequestAndResponseFollowPath) {
    // adapter port 1 -> switch (in 3, out 5) -> switch (in 2, out 7) -> adapter
    Mad mad = request({1, 5, 7});
    RouteStep step = send_step(mad, adapter);
    EXPECT_EQ(step.action, Action::forward);
    EXPECT_EQ(step.port, 1);
    EXPECT_EQ(pointer(mad), 1U);

    step = receive_step(mad, switch_node(3));
    EXPECT_EQ(step.action, Action::forward);
    EXPECT_EQ(step.port, 5);
    step = receive_step(mad, switch_node(2));
    EXPECT_EQ(step.action, Action::forward);
    EXPECT_EQ(step.port, 7);
    EXPECT_EQ(receive_step(mad, adapter).action, Action::deliver);
    EXPECT_EQ(pointer(mad), 4U);

    make_response(mad, MadStatus::ok);
    step = send_step(mad, adapter);
    EXPECT_EQ(step.action, Action::forward);
    EXPECT_EQ(step.port, 1);
    step = receive_step(mad, switch_node(7));
    EXPECT_EQ(step.port, 2);
    step = receive_step(mad, switch_node(5));
    EXPECT_EQ(step.port, 3);
    EXPECT_EQ(receive_step(mad, adapter).action, Action::deliver);
    EXPECT_EQ(pointer(mad), 0U);
}

TEST(DirectedRoute, AdapterDoesNotRelay) {
    Mad mad = request({1, 1});
    send_step(mad, adapter);
    EXPECT_EQ(receive_step(mad, adapter).action, Action::discard);
}

TEST(DirectedRoute, PathThroughInvalidPortDiscarded) {
    for (const std::uint8_t port : {0, 9, 255}) {
        Mad mad = request({1, port});
        send_step(mad, adapter);
        EXPECT_EQ(receive_step(mad, switch_node(1)).action, Action::discard) << int{port};
    }
}

TEST(DirectedRoute, HopPointerBeyondPathDiscarded) {
    Mad mad = request({1, 2});
    DirectedSmp(mad).set<"hop_pointer">(4);
    EXPECT_EQ(receive_step(mad, switch_node(1)).action, Action::discard);
    make_response(mad, MadStatus::ok);
    EXPECT_EQ(receive_step(mad, switch_node(1)).action, Action::discard);
    DirectedSmp(mad).set<"hop_pointer">(2);
    EXPECT_EQ(send_step(mad, adapter).action, Action::discard);
}

TEST(DirectedRoute, PathLongerThanMadDiscarded) {
    Mad mad = request({1});
    for (const int count : {64, 255}) {
        DirectedSmp(mad).set<"hop_count">(static_cast<std::uint64_t>(count));
        DirectedSmp(mad).set<"hop_pointer">(63);
        EXPECT_EQ(receive_step(mad, switch_node(1)).action, Action::discard) << count;
        EXPECT_EQ(send_step(mad, adapter).action, Action::discard) << count;
    }
}

TEST(DirectedRoute, LidRoutedPartRequiresSwitch) {
    Mad mad = request({1});
    DirectedSmp(mad).set<"dr_dlid">(42);
    send_step(mad, adapter);
    Mad copy = mad;
    const RouteStep step = receive_step(mad, switch_node(1));
    EXPECT_EQ(step.action, Action::route_by_lid);
    EXPECT_EQ(step.lid, 42);
    EXPECT_EQ(receive_step(copy, adapter).action, Action::discard);
    EXPECT_EQ(receive_step(mad, adapter).action, Action::deliver) << "at its end it is delivered";
}

TEST(DirectedRoute, ReturnPathMayEndLidRouted) {
    Mad mad = request({2});
    DirectedSmp(mad).set<"dr_slid">(17);
    DirectedSmp(mad).set<"hop_pointer">(1);
    make_response(mad, MadStatus::ok);
    const RouteStep step = receive_step(mad, switch_node(2));
    EXPECT_EQ(step.action, Action::route_by_lid);
    EXPECT_EQ(step.lid, 17);
}

TEST(DirectedRoute, PathWithoutHopsDelivered) {
    Mad mad = request({});
    EXPECT_EQ(send_step(mad, adapter).action, Action::deliver);
}

} // namespace
} // namespace cxemu::fabric
