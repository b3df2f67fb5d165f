// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/write_file.hpp"
#include "check/entry_faults.hpp"
#include "check/fault_plan.hpp"
#include "hwtab/view.hpp"
#include "tables/work_queue.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace cxemu::check {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint16_t create_cq = 0x400;
constexpr std::uint16_t nop = 0x80d;

class FaultPlanTest : public ::testing::Test {
protected:
    FaultPlanTest() {
        plan.set_device_handler([this](std::string_view device, const DeviceFault& fault) {
            faulted.emplace_back(device);
            last = fault;
        });
        plan.set_packet_switch([this](bool wanted) { packets_wanted = wanted; });
    }

    void add(std::string_view line) {
        const auto added = plan.add(line);
        EXPECT_TRUE(added) << added.error();
    }
    std::string error(std::string_view line) {
        const auto added = plan.add(line);
        EXPECT_FALSE(added) << line;
        return added ? std::string() : added.error();
    }
    void advance(EventLoop::Duration time) {
        now += time;
        loop.turn({});
        loop.turn({});
    }
    /// The numbers, out of \p count packets, into which a fault is injected.
    std::vector<int> injected_packets(int count) {
        std::vector<int> numbers;
        for (int i = 0; i < count; ++i) {
            if (plan.on_packet({.device = "hca0"}))
                numbers.push_back(i);
        }
        return numbers;
    }

    EventLoop::TimePoint now{1h};
    EventLoop loop{[this] { return now; }};
    FaultPlan plan{loop, make_silent_log()};
    std::vector<std::string> faulted;
    DeviceFault last;
    bool packets_wanted = false;
};

TEST_F(FaultPlanTest, NthCommandInjectsFault) {
    add("command CREATE_CQ nth=2 status=BAD_PARAMETER");
    EXPECT_FALSE(plan.on_command("hca0", create_cq));
    EXPECT_FALSE(plan.on_command("hca0", nop)) << "another command doesn't count";
    const auto fault = plan.on_command("hca0", create_cq);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->status, 3);
    EXPECT_FALSE(plan.on_command("hca0", create_cq));
}

TEST_F(FaultPlanTest, OtherDeviceInjectsNothing) {
    add("command * hang @hca1");
    EXPECT_FALSE(plan.on_command("hca0", nop));
    EXPECT_TRUE(plan.on_command("hca1", nop));
}

TEST_F(FaultPlanTest, EveryNthPacketInjectsUpToLimit) {
    add("packet drop from=3 every=4 times=3");
    EXPECT_THAT(injected_packets(40), ElementsAre(2, 6, 10));
}

TEST_F(FaultPlanTest, CommandFaultsOfSeveralRulesMerged) {
    add("command * delay=5ms");
    add("command NOP token=9");
    const auto fault = plan.on_command("hca0", nop);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->delay, 5ms);
    EXPECT_EQ(fault->token, 9);
}

TEST_F(FaultPlanTest, SameSeedInjectsSameFaults) {
    const auto run = [this](std::string_view seed) {
        plan.clear();
        add(seed);
        add("packet drop 10%");
        return injected_packets(1000);
    };
    const auto first = run("seed 7");
    EXPECT_EQ(run("seed 7"), first);
    EXPECT_NE(run("seed 8"), first);
    EXPECT_GT(first.size(), 50U);
    EXPECT_LT(first.size(), 200U);
}

TEST_F(FaultPlanTest, SameSeedIndependentOfEarlierRules) {
    const auto run = [this] {
        plan.clear("hca0");
        add("seed 7");
        add("packet drop 10% @hca0");
        return injected_packets(1000);
    };
    const auto first = run();
    add("command * garbage 1% @hca1");
    EXPECT_EQ(run(), first);
}

TEST_F(FaultPlanTest, ClearDeviceRemovesDeviceRules) {
    add("command * hang @hca0");
    add("command * hang @hca1");
    plan.clear("hca0");
    EXPECT_FALSE(plan.on_command("hca0", nop));
    EXPECT_TRUE(plan.on_command("hca1", nop));
}

TEST_F(FaultPlanTest, RulesHaveSeparateRandomNumbers) {
    add("packet drop 10%");
    const auto alone = injected_packets(1000);
    plan.clear();
    add("packet drop 10%");
    add("packet delay=1ms 10% @hca9");
    EXPECT_EQ(injected_packets(1000), alone);
}

TEST_F(FaultPlanTest, PacketRuleMatchesFields) {
    add("packet drop service=uc direction=out qp=5");
    const PacketFacts hit{.device = "hca0", .opcode = 0x24, .destination_qp = 5};
    EXPECT_TRUE(plan.on_packet(hit));
    EXPECT_FALSE(plan.on_packet({.device = "hca0", .opcode = 0x04, .destination_qp = 5}));
    EXPECT_FALSE(plan.on_packet({.device = "hca0", .opcode = 0x24, .destination_qp = 6}));
    EXPECT_FALSE(plan.on_packet({.device = "hca0",
                                 .direction = PacketDirection::to_hca,
                                 .opcode = 0x24,
                                 .destination_qp = 5}));
}

TEST_F(FaultPlanTest, DataWordExcludesManagementPackets) {
    add("packet drop data");
    EXPECT_FALSE(plan.on_packet({.device = "hca0", .destination_qp = 0}));
    EXPECT_FALSE(plan.on_packet({.device = "hca0", .destination_qp = 1}));
    EXPECT_TRUE(plan.on_packet({.device = "hca0", .destination_qp = 2}));
}

TEST_F(FaultPlanTest, PacketSwitchFollowsPacketRules) {
    EXPECT_FALSE(packets_wanted);
    add("command * hang");
    EXPECT_FALSE(packets_wanted);
    add("packet drop 1%");
    EXPECT_TRUE(packets_wanted);
    plan.clear();
    EXPECT_FALSE(packets_wanted);
}

TEST_F(FaultPlanTest, DeviceFaultReplacesCommand) {
    add("flr on=CREATE_CQ nth=2");
    EXPECT_FALSE(plan.on_command("hca1", create_cq));
    const auto fault = plan.on_command("hca1", create_cq);
    ASSERT_TRUE(fault);
    EXPECT_TRUE(fault->hang);
    EXPECT_TRUE(faulted.empty()) << "not from within the command queue";
    loop.turn({});
    EXPECT_THAT(faulted, ElementsAre("hca1"));
    EXPECT_EQ(last.kind, DeviceFault::Kind::function_reset);
}

TEST_F(FaultPlanTest, DeviceFaultInjectedAfterDelay) {
    add("health syndrome=8 after=2s @hca0");
    advance(1999ms);
    EXPECT_TRUE(faulted.empty());
    advance(1ms);
    EXPECT_THAT(faulted, ElementsAre("hca0"));
    EXPECT_EQ(last.syndrome, 8);
    advance(10s);
    EXPECT_EQ(faulted.size(), 1U);
}

TEST_F(FaultPlanTest, DeviceFaultInjectedPeriodically) {
    add("event random period=5ms times=3");
    for (int i = 0; i < 10; ++i)
        advance(5ms);
    EXPECT_EQ(faulted.size(), 3U);
}

TEST_F(FaultPlanTest, RandomDeviceAddsCommandAndEventRules) {
    add("random-device 50% @hca0");
    int commands = 0;
    int events = 0;
    for (int i = 0; i < 100; ++i) {
        commands += plan.on_command("hca0", nop) ? 1 : 0;
        events += plan.on_entry("hca0", {.kind = EntryKind::event}) ? 1 : 0;
    }
    EXPECT_GT(commands, 50);
    EXPECT_GT(events, 50);
    EXPECT_FALSE(plan.on_command("hca1", nop));
    EXPECT_THAT(error("random-device often"), HasSubstr("often"));
}

TEST_F(FaultPlanTest, DataWordExcludesManagementCompletions) {
    add("cqe data drop");
    EXPECT_FALSE(plan.on_entry("hca0", {.kind = EntryKind::completion, .is_management = true}));
    EXPECT_TRUE(plan.on_entry("hca0", {.kind = EntryKind::completion}));
}

TEST_F(FaultPlanTest, WqeWordExcludesOtherCompletions) {
    constexpr std::uint8_t send = hwtab::value<hwtab::wqe_opcode, "send">;
    constexpr std::uint8_t umr = hwtab::value<hwtab::wqe_opcode, "umr">;
    add("cqe nth=1 wqe=umr drop");
    EXPECT_FALSE(plan.on_entry("hca0", {.kind = EntryKind::completion, .wqe_opcode = send}));
    EXPECT_FALSE(plan.on_entry("hca0", {.kind = EntryKind::completion})) << "of a received message";
    EXPECT_TRUE(plan.on_entry("hca0", {.kind = EntryKind::completion, .wqe_opcode = umr}));
}

TEST_F(FaultPlanTest, ReadInvalidFileNamesLine) {
    const auto file =
        std::filesystem::temp_directory_path() / fmt::format("fault_plan_test.{}", ::getpid());
    ASSERT_TRUE(write_file(file, "# a plan\n\nseed 5\ncommand NOP hang # now\n"));
    EXPECT_TRUE(plan.read(file));
    EXPECT_EQ(plan.to_json()["rules"].size(), 1U);
    EXPECT_EQ(plan.to_json()["seed"], 5);
    ASSERT_TRUE(write_file(file, "seed 5\npacket lose\n"));
    const auto read = plan.read(file);
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error(), HasSubstr("line 2"));
    EXPECT_THAT(read.error(), HasSubstr("lose"));
    std::filesystem::remove(file);
    EXPECT_FALSE(plan.read(file));
}

TEST_F(FaultPlanTest, BadSeedAndTooManyRulesRefused) {
    EXPECT_THAT(error("seed x"), HasSubstr("64 bits"));
    for (std::size_t i = 0; i < FaultPlan::max_rules; ++i)
        add("packet drop 1%");
    EXPECT_THAT(error("packet drop 1%"), HasSubstr("1000"));
}

// --- Entries -------------------------------------------------------------------------------------

EntryFault entry_fault(std::string_view line) {
    return std::get<EntryRule>(parse_fault(line)->what).fault;
}

TEST(CorruptEntry, FieldOverwritten) {
    const auto entries =
        corrupt_entry(EntryKind::completion, {}, entry_fault("cqe field=qpn:0x123456"));
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(entries[0][0x39], std::byte{0x12});
    EXPECT_EQ(entries[0][0x3b], std::byte{0x56});
}

TEST(CorruptEntry, DropAndDuplicateChangeEntryCount) {
    EXPECT_TRUE(corrupt_entry(EntryKind::event, {}, entry_fault("eqe drop")).empty());
    const auto twice = corrupt_entry(EntryKind::event, {}, entry_fault("eqe duplicate set=0:5"));
    ASSERT_EQ(twice.size(), 2U);
    EXPECT_EQ(twice[0], twice[1]);
    EXPECT_EQ(twice[0][0], std::byte{5});
}

TEST(CorruptEntry, SecondIsDuplicateWithOtherBytes) {
    const auto entries = corrupt_entry(EntryKind::event, {},
                                       entry_fault("eqe set=0:5 second=0x3a:1 second=0x3b:0x77"));
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0][0], std::byte{5});
    EXPECT_EQ(entries[0][0x3b], std::byte{0});
    EXPECT_EQ(entries[1][0], std::byte{5});
    EXPECT_EQ(entries[1][0x3a], std::byte{1});
    EXPECT_EQ(entries[1][0x3b], std::byte{0x77});
}

TEST(CorruptEntry, UnknownAppendsUndefinedType) {
    const QueueEntry entry{};
    const auto entries = corrupt_entry(EntryKind::event, entry, entry_fault("eqe unknown"));
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0], entry);
    EXPECT_EQ(entries[1][1], std::byte{0xfe});
}

TEST(CorruptEntry, RandomDependsOnSeed) {
    EntryFault fault = entry_fault("eqe random");
    fault.seed = 1;
    const auto first = corrupt_entry(EntryKind::event, {}, fault);
    EXPECT_EQ(corrupt_entry(EntryKind::event, {}, fault), first);
    fault.seed = 2;
    EXPECT_NE(corrupt_entry(EntryKind::event, {}, fault), first);
}

} // namespace
} // namespace cxemu::check
