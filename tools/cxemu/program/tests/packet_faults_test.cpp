// SPDX-License-Identifier: GPL-2.0-or-later
//
// Faults of the packets from an adapter's port to the switch.
#include "fabric/tests/fixtures.hpp"
#include "program/packet_faults.hpp"

#include <array>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

namespace cxemu::program {
namespace {

using fabric::Packet;
using fabric::testing::ManualLoop;
using fabric::testing::port_settings;
using fabric::testing::switch_settings;
using std::chrono::milliseconds;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr auto rc_send_only =
    static_cast<std::uint8_t>(hwtab::value<hwtab::transport_opcode, "rc_send_only">);
constexpr auto uc_send_only =
    static_cast<std::uint8_t>(hwtab::value<hwtab::transport_opcode, "uc_send_only">);

Packet numbered(std::uint32_t number, std::uint8_t opcode = rc_send_only, std::uint32_t qp = 9) {
    const std::array<std::byte, 64> payload{};
    return fabric::build({.local = {.dlid = 2, .slid = 1},
                          .transport = {.opcode = opcode, .destination_qp = qp, .psn = number}},
                         payload);
}

class PacketFaultsTest : public ::testing::Test {
protected:
    PacketFaultsTest() {
        time.settle();
        fabric.add_tap(
            [this](const fabric::Link& link, fabric::LinkDirection, const Packet& packet) {
                if (link.name().starts_with("hca0/1"))
                    seen.emplace_back(packet.bytes().begin(), packet.bytes().end());
            });
    }

    void add(std::string_view line) {
        const auto added = plan.add(line);
        EXPECT_TRUE(added) << added.error();
    }
    void send(Packet packet) { fabric.links().front()->send(port->port(), std::move(packet)); }
    void send_numbers(std::uint32_t last) {
        for (std::uint32_t number = 1; number <= last; ++number)
            send(numbered(number));
        time.settle();
    }
    /// Numbers of the packets that have arrived at the switch; 0 for a corrupted one.
    [[nodiscard]] std::vector<std::uint32_t> numbers() const {
        std::vector<std::uint32_t> result;
        for (const auto& bytes : seen) {
            const auto parsed = fabric::parse(bytes);
            result.push_back(parsed ? parsed->headers.transport.psn : 0);
        }
        return result;
    }

    ManualLoop time;
    fabric::Fabric fabric{time.loop, switch_settings()};
    fabric::HcaPort* port = *fabric.add(port_settings(0));
    check::FaultPlan plan{time.loop, make_silent_log()};
    PacketFaults faults{time.loop, plan, fabric};
    std::vector<std::vector<std::byte>> seen;
};

TEST_F(PacketFaultsTest, NoRuleInjectsNothing) {
    send_numbers(3);
    EXPECT_THAT(numbers(), ElementsAre(1U, 2U, 3U));
}

TEST_F(PacketFaultsTest, DroppedPacketLost) {
    add("packet drop nth=2 @hca0");
    send_numbers(3);
    EXPECT_THAT(numbers(), ElementsAre(1U, 3U));
}

TEST_F(PacketFaultsTest, DuplicateFollowsPacket) {
    add("packet duplicate nth=2 @hca0");
    send_numbers(3);
    EXPECT_THAT(numbers(), ElementsAre(1U, 2U, 2U, 3U));
    EXPECT_EQ(seen[1], seen[2]);
}

TEST_F(PacketFaultsTest, ReorderedPacketFollowsNext) {
    add("packet reorder nth=2 @hca0");
    send_numbers(4);
    EXPECT_THAT(numbers(), ElementsAre(1U, 3U, 2U, 4U));
}

TEST_F(PacketFaultsTest, LastReorderedPacketDeliveredAfterHold) {
    add("packet reorder nth=3 @hca0");
    send_numbers(3);
    EXPECT_THAT(numbers(), ElementsAre(1U, 2U));
    time.advance(PacketFaults::longest_hold);
    EXPECT_THAT(numbers(), ElementsAre(1U, 2U, 3U));
}

TEST_F(PacketFaultsTest, DelayedPacketDeliveredAfterDelay) {
    add("packet delay=40ms nth=1 @hca0");
    send_numbers(3);
    time.advance(milliseconds(39));
    EXPECT_THAT(numbers(), ElementsAre(2U, 3U));
    time.advance(milliseconds(1));
    EXPECT_THAT(numbers(), ElementsAre(2U, 3U, 1U));
}

TEST_F(PacketFaultsTest, CorruptPacketFailsChecksum) {
    add("packet corrupt nth=2 @hca0");
    send_numbers(3);
    EXPECT_THAT(numbers(), ElementsAre(1U, 0U, 3U));
}

TEST_F(PacketFaultsTest, ForgedPacketHasValidChecksums) {
    add("packet corrupt-valid-crc @hca0");
    for (int i = 0; i < 200; ++i)
        send(numbered(7));
    time.settle();
    ASSERT_THAT(seen, SizeIs(200));
    const Packet original = numbered(7);
    const std::vector<std::byte> sent(original.bytes().begin(), original.bytes().end());
    EXPECT_THAT(seen, Each(Not(sent)));
    for (const auto& bytes : seen) {
        const auto parsed = fabric::parse(bytes);
        const auto error = parsed ? fabric::ParseError::unknown_opcode : parsed.error();
        EXPECT_NE(error, fabric::ParseError::bad_variant_crc);
        EXPECT_NE(error, fabric::ParseError::bad_invariant_crc);
    }
}

TEST_F(PacketFaultsTest, SameSeedCorruptsSameBits) {
    const auto damaged = [this](std::string_view seed) {
        plan.clear();
        seen.clear();
        add(seed);
        add("packet corrupt 50% @hca0");
        send_numbers(50);
        return seen;
    };
    const auto first = damaged("seed 3");
    EXPECT_EQ(damaged("seed 3"), first);
    EXPECT_NE(damaged("seed 4"), first);
}

TEST_F(PacketFaultsTest, RuleAppliesToMatchingPacketsOnly) {
    add("packet drop service=uc @hca0");
    add("packet drop qp=5 @hca0");
    add("packet drop direction=in @hca0");
    add("packet drop @hca1");
    send(numbered(1));
    send(numbered(2, uc_send_only));
    send(numbered(3, rc_send_only, 5));
    send(numbered(4));
    time.settle();
    EXPECT_THAT(numbers(), ElementsAre(1U, 4U));
}

TEST_F(PacketFaultsTest, ClearedPlanDeliversHeldPacket) {
    add("packet reorder nth=1 @hca0");
    send_numbers(1);
    EXPECT_THAT(numbers(), IsEmpty());
    plan.clear();
    time.settle();
    EXPECT_THAT(numbers(), ElementsAre(1U));
}

} // namespace
} // namespace cxemu::program
