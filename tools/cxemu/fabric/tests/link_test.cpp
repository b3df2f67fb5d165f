// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/link.hpp"
#include "fabric/tests/fixtures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

namespace cxemu::fabric {
namespace {

using testing::ManualLoop;

class FakeEnd : public Endpoint {
public:
    void receive(Packet packet) override {
        received.push_back(packet.size());
        if (on_receive)
            on_receive();
    }
    void link_changed(std::optional<LinkRate> rate) override { outcomes.push_back(rate); }
    [[nodiscard]] LinkOffer link_offer() const override { return offer; }

    LinkOffer offer;
    std::vector<std::size_t> received;
    std::vector<std::optional<LinkRate>> outcomes;
    std::function<void()> on_receive;
};

Packet packet_of(std::size_t size) {
    return Packet(std::vector<std::byte>(size));
}

struct LinkTest : ::testing::Test {
    ManualLoop time;
    FakeEnd first;
    FakeEnd second;
    std::unique_ptr<Link> link = std::make_unique<Link>(time.loop, "a - b", first, second);
};

TEST_F(LinkTest, TrainingSelectsBestCommonRate) {
    first.offer.widths = mask_of(LinkWidth::x1) | mask_of(LinkWidth::x4);
    first.offer.speeds = speeds_up_to(LaneSpeed::hdr);
    second.offer.widths = mask_of(LinkWidth::x1) | mask_of(LinkWidth::x4) | mask_of(LinkWidth::x8);
    second.offer.speeds = speeds_up_to(LaneSpeed::edr);
    time.settle();
    const LinkRate expected{.width = LinkWidth::x4, .speed = LaneSpeed::edr};
    EXPECT_EQ(link->rate(), expected);
    EXPECT_THAT(first.outcomes, ::testing::ElementsAre(expected));
    EXPECT_THAT(second.outcomes, ::testing::ElementsAre(expected));
}

TEST_F(LinkTest, TrainingWithoutCommonRateStaysDown) {
    first.offer.speeds = mask_of(LaneSpeed::sdr);
    second.offer.speeds = mask_of(LaneSpeed::ddr);
    time.settle();
    EXPECT_FALSE(link->rate());
    EXPECT_FALSE(link->send(first, packet_of(10)));
}

TEST_F(LinkTest, TrainingRequiresPollingAndNoDisabledEndpoint) {
    using Training = LinkOffer::Training;
    const auto comes_up = [&](Training a, Training b) {
        first.offer.training = a;
        second.offer.training = b;
        link->renegotiate(true);
        time.settle();
        return link->rate().has_value();
    };
    EXPECT_TRUE(comes_up(Training::polling, Training::listening));
    EXPECT_FALSE(comes_up(Training::listening, Training::listening));
    EXPECT_TRUE(comes_up(Training::listening, Training::polling));
    EXPECT_FALSE(comes_up(Training::off, Training::polling));
}

TEST_F(LinkTest, DeliveryInOrderAfterSendReturns) {
    time.settle();
    EXPECT_TRUE(link->send(first, packet_of(1)));
    EXPECT_TRUE(link->send(first, packet_of(2)));
    EXPECT_TRUE(second.received.empty());
    time.settle();
    EXPECT_THAT(second.received, ::testing::ElementsAre(1U, 2U));
    EXPECT_TRUE(first.received.empty());
}

TEST_F(LinkTest, SendFromReceiveDelivered) {
    time.settle();
    second.on_receive = [&] { link->send(second, packet_of(7)); };
    link->send(first, packet_of(1));
    time.settle();
    EXPECT_THAT(first.received, ::testing::ElementsAre(7U));
}

TEST_F(LinkTest, SetPluggedNotifiesBothEndpoints) {
    time.settle();
    link->set_plugged(false);
    time.settle();
    EXPECT_EQ(first.outcomes.back(), std::nullopt);
    EXPECT_EQ(second.outcomes.back(), std::nullopt);
    EXPECT_FALSE(link->send(first, packet_of(1)));
    link->set_plugged(true);
    time.settle();
    EXPECT_NE(first.outcomes.back(), std::nullopt);
}

TEST_F(LinkTest, RetrainDeliversEarlierPackets) {
    time.settle();
    link->renegotiate(true);
    link->send(first, packet_of(3));
    time.settle();
    EXPECT_THAT(second.received, ::testing::ElementsAre(3U));
    EXPECT_EQ(first.outcomes.size(), 3U); // up, down, up
}

TEST_F(LinkTest, TapGetsDeliveredPackets) {
    time.settle();
    std::vector<LinkDirection> seen;
    link->add_tap([&](const Link& tapped, LinkDirection direction, const Packet&) {
        EXPECT_EQ(tapped.name(), "a - b");
        seen.push_back(direction);
    });
    link->send(second, packet_of(1));
    time.settle();
    EXPECT_THAT(seen, ::testing::ElementsAre(LinkDirection::from_second));
}

TEST_F(LinkTest, FilterSelectsDeliveredPackets) {
    time.settle();
    link->set_filter([](Link& filtered, LinkDirection direction, Packet packet) {
        if (packet.size() == 1)
            return; // dropped
        filtered.deliver(direction, packet);
        filtered.deliver(direction, std::move(packet)); // duplicated
    });
    link->send(first, packet_of(1));
    link->send(first, packet_of(2));
    time.settle();
    EXPECT_THAT(second.received, ::testing::ElementsAre(2U, 2U));
}

TEST_F(LinkTest, DestroyDropsOutstandingPackets) {
    time.settle();
    link->send(first, packet_of(1));
    link.reset();
    time.settle();
    EXPECT_TRUE(second.received.empty());
    EXPECT_EQ(first.outcomes.back(), std::nullopt);
}

TEST(LinkRate, PortInfoAndRegisterCodingsAreConverted) {
    EXPECT_EQ(port_info_widths(mask_of(LinkWidth::x1) | mask_of(LinkWidth::x2)), 0x11);
    EXPECT_EQ(widths_from_port_info(0x0a), mask_of(LinkWidth::x4) | mask_of(LinkWidth::x12));
    EXPECT_EQ(port_info_speeds(speeds_up_to(LaneSpeed::edr)), 0x7);
    EXPECT_EQ(port_info_extended_speeds(speeds_up_to(LaneSpeed::edr)), 0x3);
    EXPECT_EQ(speeds_from_port_info_extended(0x8), mask_of(LaneSpeed::ndr));
}

TEST(LinkRate, DataRatesMatchSpecification) {
    EXPECT_EQ(data_rate({.width = LinkWidth::x4, .speed = LaneSpeed::sdr}), 80U);
    EXPECT_EQ(data_rate({.width = LinkWidth::x4, .speed = LaneSpeed::edr}), 1000U);
    EXPECT_EQ(data_rate({.width = LinkWidth::x4, .speed = LaneSpeed::ndr}), 4000U);
}

TEST(LinkRate, NameRoundTripsThroughFind) {
    for (const auto speed : {LaneSpeed::sdr, LaneSpeed::fdr10, LaneSpeed::ndr})
        EXPECT_EQ(find_speed(name_of(speed)), speed);
    EXPECT_EQ(find_width("12x"), LinkWidth::x12);
    EXPECT_FALSE(find_speed("warp"));
}

} // namespace
} // namespace cxemu::fabric
