// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/fault_rule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cxemu::check {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Parses a valid line.
FaultRule rule(std::string_view line) {
    auto parsed = parse_fault(line);
    EXPECT_TRUE(parsed) << line << ": " << parsed.error();
    return parsed ? *std::move(parsed) : FaultRule{};
}
template <class T>
T what(std::string_view line) {
    return std::get<T>(rule(line).what);
}
/// The error text of an invalid line.
std::string error(std::string_view line) {
    const auto parsed = parse_fault(line);
    EXPECT_FALSE(parsed) << line;
    return parsed ? std::string() : parsed.error();
}

TEST(FaultRule, CommandNameNumberOrAnyAccepted) {
    EXPECT_EQ(what<CommandRule>("command CREATE_CQ hang").opcode, 0x400);
    EXPECT_EQ(what<CommandRule>("command create_cq hang").opcode, 0x400);
    EXPECT_EQ(what<CommandRule>("command 0x7ff hang").opcode, 0x7ff);
    EXPECT_EQ(what<CommandRule>("command * hang").opcode, std::nullopt);
    EXPECT_THAT(error("command CREATE_ hang"), HasSubstr("CREATE_CQ"));
    EXPECT_THAT(error("command 0x10000 hang"), HasSubstr("0xffff"));
    EXPECT_THAT(error("command"), HasSubstr("name of a command"));
}

TEST(FaultRule, TriggerSelectsMatches) {
    const auto nth = rule("command * nth=7 hang").trigger;
    EXPECT_EQ(nth.first, 7U);
    EXPECT_EQ(nth.max_injections, 1U) << "the seventh, and no other";
    EXPECT_EQ(rule("command * nth=7 times=3 hang").trigger.max_injections, 3U);
    EXPECT_EQ(rule("command * from=7 hang").trigger.max_injections, std::nullopt);
    EXPECT_EQ(rule("packet drop every=10").trigger.every, 10U);
    EXPECT_EQ(rule("packet drop 1%").trigger.chance, 10'000U);
    EXPECT_EQ(rule("packet drop 0.5%").trigger.chance, 5'000U);
    EXPECT_EQ(rule("packet drop 100%").trigger.chance, FaultTrigger::certain);
    EXPECT_EQ(rule("packet drop @hca1").device, "hca1");
    EXPECT_THAT(error("packet drop nth=0"), HasSubstr("1 to"));
    EXPECT_THAT(error("packet drop 0%"), HasSubstr("100%"));
    EXPECT_THAT(error("packet drop 101%"), HasSubstr("100%"));
    EXPECT_THAT(error("packet drop 1.x%"), HasSubstr("100%"));
    EXPECT_THAT(error("packet drop 0.00001%"), HasSubstr("100%"));
}

TEST(FaultRule, CommandWordsParsed) {
    const auto failing =
        what<CommandRule>("command NOP status=BAD_PARAM syndrome=0x1234 # why not").fault;
    EXPECT_EQ(failing.status, 3) << "the beginning of a name, if it is of only one";
    EXPECT_EQ(failing.syndrome, 0x1234U);
    EXPECT_EQ(what<CommandRule>("command NOP status=0x42").fault.status, 0x42);
    EXPECT_EQ(what<CommandRule>("command NOP delay=500ms").fault.delay, 500ms);
    EXPECT_EQ(what<CommandRule>("command NOP garbage").fault.garbage,
              CommandFault::Garbage::output);
    EXPECT_EQ(what<CommandRule>("command NOP garbage=all").fault.garbage,
              CommandFault::Garbage::everything);
    EXPECT_EQ(what<CommandRule>("command NOP bad-length").fault.length, 0U);
    EXPECT_EQ(what<CommandRule>("command NOP bad-length=20").fault.length, 20U);
    const auto entry =
        what<CommandRule>("command NOP token=1 mailbox-token=2 signature=3 delivery=token_error")
            .fault;
    EXPECT_EQ(entry.token, 1);
    EXPECT_EQ(entry.mailbox_token, 2);
    EXPECT_EQ(entry.signature, 3);
    EXPECT_EQ(entry.delivery, 2);
    const auto words = what<CommandRule>("command NOP word=8:0xffff word=0x10:1").fault.words;
    EXPECT_THAT(words, ::testing::ElementsAre(std::pair(8U, 0xffffU), std::pair(16U, 1U)));
    EXPECT_TRUE(what<CommandRule>("command NOP drop-completion").fault.drop_completion);
    EXPECT_TRUE(what<CommandRule>("command NOP drop-eqe").fault.drop_eqe);
}

TEST(FaultRule, CommandInvalidWordRefused) {
    EXPECT_THAT(error("command NOP nth=1"), HasSubstr("no fault"));
    EXPECT_THAT(error("command NOP syndrome=1"), HasSubstr("status"));
    EXPECT_THAT(error("command NOP stauts=1"), HasSubstr("stauts=1"));
    EXPECT_THAT(error("command NOP status=BAD"), HasSubstr("bad_parameter"));
    EXPECT_THAT(error("command NOP status=0x100"), HasSubstr("0xff"));
    EXPECT_THAT(error("command NOP token=256"), HasSubstr("0xff"));
    EXPECT_THAT(error("command NOP delay=5"), HasSubstr("unit"));
    EXPECT_THAT(error("command NOP delay=25h"), HasSubstr("unit"));
    EXPECT_THAT(error("command NOP delay=90000s"), HasSubstr("24 hours"));
    EXPECT_THAT(error("command NOP delay=0ms"), HasSubstr("24 hours"));
    EXPECT_THAT(error("command NOP word=3:1"), HasSubstr("multiple of 4"));
    EXPECT_THAT(error("command NOP garbage=some"), HasSubstr("garbage=all"));
    EXPECT_THAT(error("comand NOP"), HasSubstr("comand"));
}

TEST(FaultRule, PacketWordsParsed) {
    const auto packet = what<PacketRule>(
        "packet delay=2ms opcode=rc_acknowledge qp=0x47 port=2 direction=in service=rc data");
    EXPECT_EQ(packet.fault, PacketFault::delay);
    EXPECT_EQ(packet.delay, 2ms);
    EXPECT_EQ(packet.opcode, 0x11);
    EXPECT_EQ(packet.destination_qp, 0x47U);
    EXPECT_EQ(packet.port, 2);
    EXPECT_EQ(packet.direction, PacketDirection::to_hca);
    EXPECT_EQ(packet.service, 0);
    EXPECT_TRUE(packet.spare_management);
    EXPECT_EQ(what<PacketRule>("packet reorder service=xrc").service, 5);
    EXPECT_THAT(error("packet lose"), HasSubstr("drop"));
    EXPECT_THAT(error("packet"), HasSubstr("packet"));
    EXPECT_THAT(error("packet drop service=tcp"), HasSubstr("xrc"));
    EXPECT_THAT(error("packet drop direction=up"), HasSubstr("out"));
    EXPECT_THAT(error("packet drop qp=0x1000000"), HasSubstr("0xffffff"));
}

TEST(FaultRule, EntryWordsParsed) {
    const auto completion = what<EntryRule>("cqe queue=7 qp=3 type=req_err field=qpn:0x77 set=4:1");
    EXPECT_EQ(completion.kind, EntryKind::completion);
    EXPECT_EQ(completion.queue, 7U);
    EXPECT_EQ(completion.queue_pair, 3U);
    EXPECT_EQ(completion.type, 0xd);
    ASSERT_EQ(completion.fault.forged_fields.size(), 2U);
    EXPECT_EQ(completion.fault.forged_fields[0].width, 24U);
    EXPECT_EQ(completion.fault.forged_fields[0].value, 0x77U);
    EXPECT_EQ(completion.fault.forged_fields[1].offset, 32U);
    const auto event = what<EntryRule>("eqe type=port_change unknown");
    EXPECT_EQ(event.type, 9);
    EXPECT_EQ(event.fault.companion, EntryFault::Companion::unknown);
    const auto second = what<EntryRule>("eqe second=0x3b:0x77");
    EXPECT_EQ(second.fault.companion, EntryFault::Companion::same);
    ASSERT_EQ(second.fault.companion_fields.size(), 1U);
    EXPECT_EQ(second.fault.companion_fields[0].offset, 0x3bU * 8);
    EXPECT_TRUE(second.fault.forged_fields.empty());
    EXPECT_TRUE(what<EntryRule>("eqe random").fault.random);
    EXPECT_TRUE(what<EntryRule>("cqe drop").fault.drop);
    EXPECT_THAT(error("cqe"), HasSubstr("no fault"));
    EXPECT_THAT(error("cqe field=nose:1"), HasSubstr("nose"));
    EXPECT_THAT(error("cqe field=qpn:0x1000000"), HasSubstr("24 bits"));
    EXPECT_THAT(error("cqe set=64:1"), HasSubstr("0x3f"));
    EXPECT_THAT(error("eqe second=0x3b"), HasSubstr("second takes"));
    EXPECT_THAT(error("eqe qp=1 drop"), HasSubstr("qp=1"));
    EXPECT_TRUE(what<EntryRule>("cqe data drop").spare_management);
    EXPECT_EQ(what<EntryRule>("cqe wqe=RDMA_READ drop").wqe_opcode, 0x10); // tables/work_queue.hpp
    EXPECT_THAT(error("eqe wqe=RDMA_READ drop"), HasSubstr("wqe"));
    EXPECT_THAT(error("eqe data drop"), HasSubstr("data"));
}

TEST(FaultRule, DeviceWordsParsed) {
    const auto health = what<DeviceRule>("health syndrome=8 after=2s");
    EXPECT_EQ(health.fault.kind, DeviceFault::Kind::health);
    EXPECT_EQ(health.fault.syndrome, 8);
    EXPECT_EQ(health.after, 2s);
    EXPECT_TRUE(what<DeviceRule>("health syndrome=16 warning").fault.warning);
    EXPECT_EQ(what<DeviceRule>("health stuck").fault.kind, DeviceFault::Kind::health_stuck);
    const auto reset = what<DeviceRule>("flr on=INIT_HCA");
    EXPECT_TRUE(reset.on_command);
    EXPECT_EQ(reset.opcode, 0x102);
    EXPECT_EQ(what<DeviceRule>("surprise-removal for=3s").fault.gone_for, 3s);
    EXPECT_EQ(what<DeviceRule>("event unknown period=5ms").fault.event, 0xfe);
    EXPECT_EQ(what<DeviceRule>("event random").fault.event, std::nullopt);
    EXPECT_THAT(error("flr on=INIT_HCA after=1s"), HasSubstr("excludes"));
    EXPECT_THAT(error("health syndrome=0"), HasSubstr("1 to 0xff"));
    EXPECT_THAT(error("flr for=1s"), HasSubstr("for=1s"));
}

} // namespace
} // namespace cxemu::check
