// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/port_binding.hpp"
#include "transport/testing/peers.hpp"

#include <gtest/gtest.h>

namespace cxemu::transport {
namespace {

using queues::ServiceType;

struct NoReceiver : PacketReceiver {
    void receive(fabric::HcaPort& /*port*/, const fabric::ParsedPacket& /*packet*/,
                 std::optional<std::uint32_t> /*sender*/) override {}
};

/// A port whose QP0 and QP1 receive.
struct PortBindingTest : ::testing::Test {
    PortBindingTest() {
        peers.connect();
        for (const ServiceType service :
             {ServiceType::subnet_management, ServiceType::general_services})
            special.set(side.port.number(), service, side.queue_pair().number());
    }

    testing::Peers peers;
    testing::Peer& side{peers.first};
    NoReceiver receiver;
    SpecialQueuePairs special;
    PortBinding binding{side.bench.hca(), side.port, receiver, special};
};

TEST_F(PortBindingTest, SubnetManagementPassedOnOnceIssiChosen) {
    EXPECT_FALSE(binding.wants_subnet_management());
    EXPECT_TRUE(binding.wants_general_services()) << "no command answers these";
    side.bench.hca().set_issi(1);
    EXPECT_TRUE(binding.wants_subnet_management());
}

TEST_F(PortBindingTest, MadsWithoutSpecialQueuePairLeftToAgents) {
    side.bench.hca().set_issi(1);
    special.clear();
    EXPECT_FALSE(binding.wants_subnet_management());
    EXPECT_FALSE(binding.wants_general_services());
}

TEST_F(PortBindingTest, MadsForClosedQueuePairLeftToAgents) {
    side.bench.hca().set_issi(1);
    side.reset_queue_pair();
    EXPECT_FALSE(binding.wants_subnet_management());
    EXPECT_FALSE(binding.wants_general_services());
}

} // namespace
} // namespace cxemu::transport
